//! `kill -9` at any instant: a child serves four threads on a file, and says what it was answered; the file then has it.
//!
//! `KUMI_KILLS` says how often; without it a short run.

mod common;

use common::book::*;
use common::*;
use kumi_segments::{Back, Call, Trouble};
use kumi_store::{Store, store};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Says what is begun, does it, says what came of it.
fn say(line: &str) {
    let line = format!("{line}\n");
    std::io::stdout().write_all(line.as_bytes()).and_then(|()| std::io::stdout().flush()).unwrap();
}

/// The child. It ends by being killed.
#[test]
fn child() {
    let Some(path) = std::env::var_os("KUMI_STORE_CHILD") else { return };
    let number = |name: &str| std::env::var(name).unwrap().parse::<u64>().unwrap();
    let next = AtomicU64::new(number("KUMI_STORE_NEXT"));
    let seed = number("KUMI_STORE_SEED");
    // The test runner has begun a line.
    say("");
    let s = match Store::open(Path::new(&path)) {
        Ok(s) => s,
        Err(e) => return say(&format!("error {e}")),
    };
    std::thread::scope(|scope| {
        for t in 0..4u64 {
            let (s, next) = (&s, &next);
            scope.spawn(move || {
                let mut chance = Chance(seed * 4 + t);
                loop {
                    let k = chance.below(3) as usize;
                    match chance.below(10) {
                        0..5 => {
                            let v = next.fetch_add(1, Ordering::Relaxed);
                            say(&format!("P {k} {v}"));
                            let index = stored(s.ask(put(KEYS[k], text(v))));
                            say(&format!("p {k} {v} {index}"));
                        }
                        5..7 => {
                            let k = k % 2;
                            say(&format!("T {k}"));
                            match value(s.ask(take(KEYS[k]))) {
                                Some(v) => say(&format!("t {k} {}", v.split(':').next().unwrap())),
                                None => say(&format!("n {k}")),
                            }
                        }
                        _ => {
                            let Some(l) = segment(s.ask(lease("in"))) else { continue };
                            let v = String::from_utf8_lossy(&l.value).into_owned();
                            let n = v.split(':').next().unwrap().to_owned();
                            say(&format!("L {n} {}", l.deliveries));
                            let lease = l.lease.unwrap();
                            if chance.below(5) == 0 {
                                s.ask(Call::GiveBack { lease, left: Back::Same }).unwrap();
                                continue;
                            }
                            say(&format!("C {n}"));
                            s.ask(Call::Commit { leases: vec![lease], outputs: vec![store("x", v.clone()), store("y", v)] }).unwrap();
                            say(&format!("c {n}"));
                        }
                    }
                }
            });
        }
    });
}

/// Runs a child until it ends, for so long at most; what it has said.
fn run(path: &Path, seed: u64, next: u64, long: Duration) -> String {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["child", "--exact", "--nocapture", "--test-threads=1"])
        .env("KUMI_STORE_CHILD", path)
        .env("KUMI_STORE_NEXT", next.to_string())
        .env("KUMI_STORE_SEED", seed.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut out = child.stdout.take().unwrap();
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        let _ = out.read_to_string(&mut text);
        text
    });
    let until = Instant::now() + long;
    while !reader.is_finished() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(1).min(until.saturating_duration_since(Instant::now())));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    reader.join().unwrap()
}

fn hear(book: &mut Book, said: &str) -> Result<(), String> {
    // The last line may be cut off.
    let whole = said.rfind('\n').map_or("", |at| &said[..at]);
    for line in whole.lines() {
        let mut words = line.split(' ');
        let Some(what) = words.next().filter(|w| w.len() == 1) else {
            if line.starts_with("error") {
                return Err(line.into());
            }
            continue;
        };
        let numbers: Vec<u64> = words.filter_map(|w| w.parse().ok()).collect();
        match (what, &numbers[..]) {
            ("P", [k, v]) => {
                book.next = book.next.max(v + 1);
                book.keys[*k as usize].perhaps.insert(*v);
            }
            ("p", [k, v, index]) => {
                let key = &mut book.keys[*k as usize];
                key.last = key.last.max(*index);
                // Another may have said already that it took it.
                if key.perhaps.remove(v) {
                    key.there.insert(*v, *index);
                }
            }
            ("T", [k]) => book.keys[*k as usize].lost_takes += 1,
            ("n", [k]) => book.keys[*k as usize].lost_takes -= 1,
            ("t", [k, v]) => {
                let key = &mut book.keys[*k as usize];
                key.lost_takes -= 1;
                key.there.remove(v);
                key.perhaps.remove(v);
                if !key.gone.insert(*v) {
                    return Err(format!("{v} was taken twice"));
                }
            }
            ("L", [v, deliveries]) => {
                let known = book.deliveries.entry(*v).or_default();
                let deliveries = *deliveries as u32;
                if deliveries <= *known {
                    return Err(format!("{v} was delivered {known} times, and now {deliveries}"));
                }
                *known = deliveries;
            }
            ("C", [v]) => drop(book.open.insert(*v)),
            ("c", [v]) => {
                book.open.remove(v);
                let key = &mut book.keys[2];
                key.there.remove(v);
                key.perhaps.remove(v);
                if !book.committed.insert(*v) {
                    return Err(format!("{v} was committed twice"));
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn kills() -> u64 {
    std::env::var("KUMI_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(25)
}

#[test]
fn nothing_acknowledged_is_lost_by_a_kill() {
    if std::env::var_os("KUMI_STORE_CHILD").is_some() {
        return;
    }
    let dir = folder("kill");
    let path: PathBuf = dir.join("jobs.db");
    let mut chance = Chance(std::process::id().into());
    let mut book = Book { next: 1, ..Book::default() };
    let (mut acknowledged, mut said_nothing) = (0, 0);
    for n in 0..kills() {
        // Some are killed while they open the file, or make it.
        if n % 50 == 49 {
            let _ = std::fs::remove_file(&path);
            book = Book { next: book.next, ..Book::default() };
        }
        let long = if n % 10 == 9 { chance.below(6_000) } else { 4_000 + chance.below(150_000) };
        let said = run(&path, n, book.next, Duration::from_micros(long));
        acknowledged += said.lines().filter(|l| l.starts_with("p ")).count();
        said_nothing += usize::from(!said.contains("P "));
        hear(&mut book, &said).unwrap_or_else(|e| panic!("kill {n}: {e}"));
        let s = Store::open(&path).unwrap_or_else(|e| panic!("kill {n}: {e}"));
        check(&s, &mut book).unwrap_or_else(|e| panic!("kill {n}: {e}"));
        // What runs put is not needed any more.
        for v in all(&s, "x") {
            book.committed.remove(&number(&v).unwrap());
            book.keys[2].gone.insert(number(&v).unwrap());
        }
        all(&s, "y");
    }
    println!("{} kills, {acknowledged} puts acknowledged, {said_nothing} before the first call", kills());
    assert!(acknowledged > 0);
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn one_process_has_a_file() {
    if std::env::var_os("KUMI_STORE_CHILD").is_some() {
        return;
    }
    let dir = folder("lock");
    let path = dir.join("jobs.db");
    let s = Store::open(&path).unwrap();
    s.ask(put("k", "1")).unwrap();
    // This child ends by itself.
    let said = run(&path, 1, 1, Duration::from_secs(60));
    assert!(said.contains("jobs.db is open already"), "{said}");
    let here = Store::open(&path).err().unwrap().to_string();
    assert!(here.contains("jobs.db is open already"), "{here}");
    assert!(!matches!(s.ask(put("k", "2")), Err(Trouble::Lost(_))));
    std::fs::remove_dir_all(&dir).unwrap();
}
