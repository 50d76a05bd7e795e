//! Results as tables.

use crate::FileResult;
use crate::child::Plan;
use std::collections::BTreeMap;
use std::fmt::Write as _;

#[derive(Default, Clone)]
struct Sum {
    files: usize,
    passed: usize,
    failed: usize,
    errors: usize,
    skipped: usize,
    lost: usize,
    total: usize,
}

impl Sum {
    fn add(&mut self, r: &FileResult) {
        self.files += 1;
        self.passed += r.outcome.passed;
        self.failed += r.outcome.failed;
        self.errors += r.outcome.errors;
        self.skipped += r.outcome.skipped;
        self.lost += r.lost();
        self.total += r.total;
    }
    fn row(&self, name: &str, out: &mut String) {
        let of = self.total - self.skipped.min(self.total);
        let rate = if of == 0 { 100.0 } else { self.passed as f64 * 100.0 / of as f64 };
        let _ = writeln!(
            out,
            "| {name} | {} | {} | {} | {} | {} | {} | {rate:.1} % |",
            self.files, of, self.passed, self.failed, self.errors, self.lost
        );
    }
}

/// The folder a file is counted under: `core/array`, `language`.
fn folder(name: &str) -> String {
    let mut parts = name.split('/');
    let (a, b) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
    if b.ends_with(".rb") || a == "language" { a.to_string() } else { format!("{a}/{b}") }
}

/// The table of a run.
pub fn table(all: &[FileResult], plan: &Plan) -> String {
    let mut by: BTreeMap<String, Sum> = BTreeMap::new();
    let mut areas: BTreeMap<String, Sum> = BTreeMap::new();
    let mut sum = Sum::default();
    for r in all {
        by.entry(folder(&r.name)).or_default().add(r);
        areas.entry(r.name.split('/').next().unwrap_or("").to_string()).or_default().add(r);
        sum.add(r);
    }
    let mut out = String::new();
    let how = if plan.mspec.is_some() { "mspec" } else { "spec/harness.rb" };
    let _ = writeln!(out, "Run with {how}; *lost* examples were never reached: their file does not load, crashes or hangs.\n");
    out.push_str("| folder | files | examples | passed | failed | errors | lost | passed |\n|---|--:|--:|--:|--:|--:|--:|--:|\n");
    for (name, s) in &by {
        s.row(name, &mut out);
    }
    if by.len() > 1 {
        for (name, s) in areas.iter().filter(|a| !by.contains_key(a.0)) {
            s.row(&format!("**{name}**"), &mut out);
        }
        sum.row("**all**", &mut out);
    }
    out
}

/// The page for docs/.
pub fn page(table: &str) -> String {
    format!(
        "# ruby/spec on kumi\n\nMade by `spec/run PATH` (see `spec/README.md`); examples are those that ruby/spec has for Ruby 4.0 on Linux.\n\n{table}"
    )
}

/// The failures of one file as text.
pub fn failures(r: &FileResult, verbose: bool) -> String {
    let mut out = String::new();
    let o = &r.outcome;
    if o.failures.is_empty() && o.trouble.is_none() {
        return out;
    }
    let _ = writeln!(out, "== {}: {} passed, {} failed, {} errors, {} lost", r.name, o.passed, o.failed, o.errors, r.lost());
    if let Some(t) = &o.trouble {
        let _ = writeln!(out, "   !! {}", t.replace('\n', "\n      "));
    }
    if verbose {
        for (example, message) in &o.failures {
            let _ = writeln!(out, " - {example}\n     {}", message.replace('\n', "\n     "));
        }
    }
    out
}

/// One line a file: name, examples, passed, failed, errors, lost, seconds.
pub fn tsv(all: &[FileResult]) -> String {
    let mut out = String::new();
    for r in all {
        let o = &r.outcome;
        let _ = writeln!(out, "{}\t{}\t{}\t{}\t{}\t{}\t{:.2}", r.name, r.total, o.passed, o.failed, o.errors, r.lost(), o.seconds);
    }
    out
}
