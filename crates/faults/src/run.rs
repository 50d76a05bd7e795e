//! What became of runs.

use crate::fault::Fault;
use kumi_history::{Options, Reader, Report, check};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;

const SECOND: f64 = 1e9;

/// A run's history, judged.
pub struct Judged {
    report: Report,
    complaints: Vec<String>,
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
    Ok(Judged { report: check(&history, &options), complaints })
}

impl Judged {
    pub fn is_clean(&self) -> bool {
        self.report.wrong.is_empty() && self.complaints.is_empty()
    }
    pub fn text(&self) -> String {
        let complaints: String = self.complaints.iter().map(|c| format!("{c}\n")).collect();
        format!("{complaints}{}", self.report)
    }
    fn longest(&self) -> f64 {
        self.report.figures.recoveries.iter().map(|r| r.1).max().unwrap_or(0) as f64 / SECOND
    }
    pub fn line(&self) -> String {
        let n = &self.report.figures;
        let verdict = if self.is_clean() { "nothing wrong" } else { "WRONG" };
        let stalls = if n.stalls > 0 { format!(", {} stalls of the machine", n.stalls) } else { String::new() };
        let (ops, unknown, twice, longest) = (n.ops, n.unknown, n.doubles, self.longest());
        format!("{verdict}; {ops} operations, {unknown} unknown, {twice} seen twice, recovered in {longest:.2} s{stalls}")
    }
}

/// Results by faults.
#[derive(Default)]
pub struct Table {
    rows: BTreeMap<Fault, Row>,
    wrong: usize,
    /// Judged together, by epochs: runs, wrong ones, operations.
    epochs: (usize, usize, usize),
}

#[derive(Default)]
struct Row {
    runs: usize,
    right: usize,
    ops: usize,
    unknown: usize,
    doubles: usize,
    longest: f64,
}

impl Table {
    pub fn is_clean(&self) -> bool {
        self.wrong == 0
    }
    pub fn add(&mut self, fault: Fault, judged: Judged) {
        let row = self.rows.entry(fault).or_default();
        let n = &judged.report.figures;
        row.runs += 1;
        row.right += usize::from(judged.is_clean());
        row.ops += n.ops;
        row.unknown += n.unknown;
        row.doubles += n.doubles;
        row.longest = row.longest.max(judged.longest());
        self.wrong += usize::from(!judged.is_clean());
    }
    /// Several faults whose history is one. A row of each counts how often it was made.
    pub fn add_epoch(&mut self, faults: &[Fault], judged: Judged) {
        let clean = judged.is_clean();
        for f in faults {
            let row = self.rows.entry(*f).or_default();
            row.runs += 1;
            row.right += usize::from(clean);
            row.longest = row.longest.max(judged.longest());
        }
        self.epochs.0 += 1;
        self.epochs.1 += usize::from(!clean);
        self.epochs.2 += judged.report.figures.ops;
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
        } else {
            " calls | of unknown outcome | seen twice | longest recovery |\n|---|---|--:|--:|--:|--:|--:|\n"
        });
        for (f, r) in &self.rows {
            text.push_str(&format!("| {} | {} | {} of {} |", f.name(), f.what(), r.right, r.runs));
            if !shared {
                text.push_str(&format!(" {} | {} | {} |", r.ops, r.unknown, r.doubles));
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
