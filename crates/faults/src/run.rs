//! What became of runs.

use crate::cluster::Cluster;
use crate::fault::Fault;
use kumi_history::{Options, Reader, check};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;

const SECOND: f64 = 1e9;

/// A run, judged.
pub struct Judged {
    /// What is wrong, in words.
    wrong: String,
    figures: Figures,
}

/// What of it goes to the table.
#[derive(Clone, Copy, Default)]
struct Figures {
    calls: usize,
    unknown: usize,
    /// Takes that were seen twice, or references that came.
    third: usize,
    /// Seconds until calls succeeded again, or garbage was gone.
    longest: f64,
    stalls: usize,
}

/// Reads and checks a history.
pub fn judge(files: &[PathBuf], complaints: Vec<String>, lease: u64, slack: f64) -> Result<Judged, String> {
    let mut reader = Reader::default();
    for path in files {
        let f = File::open(path).map_err(|e| format!("{}: {e}", path.display()))?;
        reader.read(BufReader::new(f)).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    let history = reader.finish().map_err(|e| e.to_string())?;
    let lease = lease * SECOND as u64;
    let options = Options { lease, recovery: lease + (slack * SECOND) as u64, ..Options::default() };
    let report = check(&history, &options);
    let n = &report.figures;
    let longest = n.recoveries.iter().map(|r| r.1).max().unwrap_or(0) as f64 / SECOND;
    let figures = Figures { calls: n.ops, unknown: n.unknown, third: n.doubles, longest, stalls: n.stalls };
    let clean = report.wrong.is_empty() && complaints.is_empty();
    Ok(Judged { wrong: if clean { String::new() } else { format!("{}\n{report}", complaints.join("\n")) }, figures })
}

/// What nodes told of their objects.
pub fn judge_remote(cluster: &mut Cluster, mut complaints: Vec<String>) -> Judged {
    let told = std::mem::take(&mut *cluster.told.lock().unwrap_or_else(|e| e.into_inner()));
    let mut done = std::mem::take(&mut cluster.done);
    let stalls = told.stalls();
    let n = told.figures();
    let get = |name: &str| n.get(name).copied().unwrap_or(0) as usize;
    let longest = get("gone") as f64 / 1000.0;
    let figures = Figures { calls: get("calls"), unknown: get("unknown"), third: get("taken"), longest, stalls: stalls.len() };
    done.extend(stalls);
    complaints.extend(told.wrong(&done, cluster.setting.lease * SECOND as u64));
    Judged { wrong: complaints.join("\n"), figures }
}

impl Judged {
    pub fn is_clean(&self) -> bool {
        self.wrong.is_empty()
    }
    pub fn text(&self) -> &str {
        &self.wrong
    }
    pub fn line(&self, remote: bool) -> String {
        let n = &self.figures;
        let verdict = if self.is_clean() { "nothing wrong" } else { "WRONG" };
        let stalls = if n.stalls > 0 { format!(", {} stalls of the machine", n.stalls) } else { String::new() };
        let Figures { calls, unknown, third, longest, .. } = n;
        let (what, end) = if remote { ("references handed on", "garbage gone") } else { ("seen twice", "recovered") };
        format!("{verdict}; {calls} calls, {unknown} unknown, {third} {what}, {end} in {longest:.2} s{stalls}")
    }
}

/// Results by faults.
#[derive(Default)]
pub struct Table {
    rows: BTreeMap<Fault, Row>,
    wrong: usize,
    /// Judged together, by epochs: runs, wrong ones, operations.
    epochs: (usize, usize, usize),
    /// The objects of nodes were called.
    remote: bool,
}

#[derive(Default)]
struct Row {
    runs: usize,
    right: usize,
    calls: usize,
    unknown: usize,
    third: usize,
    longest: f64,
}

impl Table {
    pub fn of(remote: bool) -> Table {
        Table { remote, ..Table::default() }
    }
    pub fn is_clean(&self) -> bool {
        self.wrong == 0
    }
    pub fn add(&mut self, fault: Fault, judged: Judged) {
        let row = self.rows.entry(fault).or_default();
        let n = &judged.figures;
        row.runs += 1;
        row.right += usize::from(judged.is_clean());
        row.calls += n.calls;
        row.unknown += n.unknown;
        row.third += n.third;
        row.longest = row.longest.max(n.longest);
        self.wrong += usize::from(!judged.is_clean());
    }
    /// Several faults whose history is one. A row of each counts how often it was made.
    pub fn add_epoch(&mut self, faults: &[Fault], judged: Judged) {
        let clean = judged.is_clean();
        for f in faults {
            let row = self.rows.entry(*f).or_default();
            row.runs += 1;
            row.right += usize::from(clean);
            row.longest = row.longest.max(judged.figures.longest);
        }
        self.epochs.0 += 1;
        self.epochs.1 += usize::from(!clean);
        self.epochs.2 += judged.figures.calls;
        self.wrong += usize::from(!clean);
    }
    pub fn text(&self) -> String {
        let mut text = String::new();
        if self.rows.is_empty() {
            return text;
        }
        // Of faults that share histories the calls of each are not known.
        let shared = self.epochs.0 > 0;
        text.push_str("| fault | | nothing wrong |");
        text.push_str(if shared {
            " longest recovery |\n|---|---|--:|--:|\n"
        } else if self.remote {
            " calls | of unknown outcome | references handed on | garbage gone at the latest after |\n|---|---|--:|--:|--:|--:|--:|\n"
        } else {
            " calls | of unknown outcome | seen twice | longest recovery |\n|---|---|--:|--:|--:|--:|--:|\n"
        });
        for (f, r) in &self.rows {
            text.push_str(&format!("| {} | {} | {} of {} |", f.name(), f.what(), r.right, r.runs));
            if !shared {
                text.push_str(&format!(" {} | {} | {} |", r.calls, r.unknown, r.third));
            }
            text.push_str(&format!(" {:.2} s |\n", r.longest));
        }
        if shared {
            let (n, wrong, ops) = self.epochs;
            text.push_str(&format!("\n{n} histories of {ops} calls in all; {wrong} of them wrong\n"));
        }
        text
    }
}
