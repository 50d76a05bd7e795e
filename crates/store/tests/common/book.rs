//! What is known of a store from outside, and whether it is so.

use super::*;
use std::collections::{BTreeMap, BTreeSet};

/// What the driver knows of the values under one key. Values are numbers that rise.
#[derive(Default, Debug)]
pub struct Key {
    /// Acknowledged, with its index, and not taken.
    pub there: BTreeMap<u64, u64>,
    /// Put, and not answered.
    pub perhaps: BTreeSet<u64>,
    /// Taken, and answered.
    pub gone: BTreeSet<u64>,
    /// Takes without an answer.
    pub lost_takes: usize,
    pub last: u64,
}

#[derive(Default, Debug)]
pub struct Book {
    pub keys: [Key; 3],
    pub next: u64,
    /// Runs that were committed, and those of whom nobody knows.
    pub committed: BTreeSet<u64>,
    pub open: BTreeSet<u64>,
    /// How often an input was delivered at least.
    pub deliveries: BTreeMap<u64, u32>,
}

pub const KEYS: [&str; 3] = ["a", "b", "in"];

pub fn text(n: u64) -> String {
    // Some are large, some take a page.
    let long = if n.is_multiple_of(7) { 3000 } else { n as usize % 40 };
    format!("{n}:{}", "x".repeat(long))
}
pub fn number(s: &str) -> Result<u64, String> {
    let n = s.split(':').next().and_then(|n| n.parse().ok()).ok_or(format!("a value of nobody: {s:.30}"))?;
    if text(n) == s { Ok(n) } else { Err(format!("a value that is torn: {s:.30}")) }
}

/// What stands under a key: its values with indexes and deliveries.
pub fn standing(s: &Store, key: &str) -> Result<Vec<(u64, u64, u32)>, String> {
    let mut all = Vec::new();
    let mut after = Some(0);
    while let Some(index) = after {
        let found = s.ask(get(key, kumi_segments::Kind::Peek, Some(index), false, false)).map_err(|e| format!("{e:?}"));
        let found = match found {
            Err(e) if e.contains("Stale") => None,
            other => segment(Ok(other?)),
        };
        after = found.as_ref().map(|f| f.index);
        if let Some(f) = found {
            all.push((number(&String::from_utf8_lossy(&f.value))?, f.index, f.deliveries));
        }
    }
    Ok(all)
}

/// Is everything there that must be, and nothing that must not?
pub fn check(s: &Store, book: &mut Book) -> Result<(), String> {
    let outputs: Vec<BTreeSet<u64>> =
        ["x", "y"].iter().map(|k| Ok(standing(s, k)?.into_iter().map(|v| v.0).collect())).collect::<Result<_, String>>()?;
    if outputs[0] != outputs[1] {
        return Err("a commit was done in part".into());
    }
    if let Some(v) = book.committed.iter().find(|v| !outputs[0].contains(v)) {
        return Err(format!("the outputs of {v} are lost"));
    }
    for v in std::mem::take(&mut book.open) {
        if outputs[0].contains(&v) {
            book.committed.insert(v);
            let key = &mut book.keys[2];
            key.there.remove(&v);
            key.perhaps.remove(&v);
        }
    }
    for (k, key) in book.keys.iter_mut().enumerate() {
        let found = standing(s, KEYS[k])?;
        let values: BTreeSet<u64> = found.iter().map(|f| f.0).collect();
        if values.len() != found.len() {
            return Err(format!("a segment stands twice under {}", KEYS[k]));
        }
        let missing: Vec<u64> = key.there.keys().copied().filter(|v| !values.contains(v)).collect();
        if missing.len() > key.lost_takes {
            return Err(format!("{missing:?} of {} are lost, and {} takes had no answer", KEYS[k], key.lost_takes));
        }
        for (v, index, deliveries) in &found {
            if key.gone.contains(v) || k == 2 && book.committed.contains(v) {
                return Err(format!("{v} was taken and stands there"));
            }
            match key.there.get(v) {
                Some(i) if i != index => return Err(format!("{v} has another index: {index}, not {i}")),
                None if !key.perhaps.contains(v) => return Err(format!("{v} was refused and stands there")),
                _ => {}
            }
            if k == 2 && *deliveries < book.deliveries.get(v).copied().unwrap_or(0) {
                return Err(format!("{v} was delivered more often than {deliveries} times"));
            }
        }
        let Ok(kumi_segments::Done::Stats(st)) = s.ask(Call::Stats(KEYS[k].into())) else { return Err("no stats".into()) };
        if st.last_index < key.last {
            return Err(format!("the index has gone back: {}, not {}", st.last_index, key.last));
        }
        key.last = st.last_index;
        // What is there now is known.
        key.lost_takes = 0;
        key.gone.extend(missing);
        key.perhaps.clear();
        key.there = found.iter().map(|f| (f.0, f.1)).collect();
    }
    Ok(())
}
