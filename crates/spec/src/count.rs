//! How many examples files have.

use crate::child::{Plan, kill_group, limited};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Examples by file: a dry run under `host`, file texts where that gives nothing.
pub fn examples(plan: &Plan, files: &[PathBuf], host: Option<&str>) -> BTreeMap<PathBuf, usize> {
    let cache = plan.harness.parent().and_then(Path::parent).map(|h| h.join("target/spec/counts.tsv"));
    let mut known = cache.as_deref().map(read).unwrap_or_default();
    let missing: Vec<PathBuf> = files.iter().filter(|f| !known.contains_key(*f)).cloned().collect();
    if !missing.is_empty() {
        if let Some(h) = host {
            known.extend(dry_run(plan, &missing, h));
        }
        for f in &missing {
            known.entry(f.clone()).or_insert_with(|| from_text(f));
        }
        if let Some(c) = &cache {
            let _ = c.parent().map(std::fs::create_dir_all);
            let text: String = known.iter().map(|(f, n)| format!("{}\t{n}\n", f.display())).collect();
            let _ = std::fs::write(c, text);
        }
    }
    known
}

fn read(p: &Path) -> BTreeMap<PathBuf, usize> {
    let text = std::fs::read_to_string(p).unwrap_or_default();
    text.lines().filter_map(|l| l.split_once('\t')).filter_map(|(f, n)| Some((f.into(), n.parse().ok()?))).collect()
}

/// Examples written in the file itself; shared ones are not seen.
fn from_text(f: &Path) -> usize {
    let text = std::fs::read(f).unwrap_or_default();
    String::from_utf8_lossy(&text)
        .lines()
        .filter(|l| {
            let l = l.trim_start();
            // Without a block there is nothing to run, and mspec does not count it.
            let block = l.contains(" do") || l.contains('{');
            block && (l.starts_with("it \"") || l.starts_with("it '") || l.starts_with("specify ")) || l.starts_with("it_behaves_like")
        })
        .count()
}

/// Loads files without running their examples; a file that ends the process or hangs is left out.
fn dry_run(plan: &Plan, files: &[PathBuf], host: &str) -> BTreeMap<PathBuf, usize> {
    let mut out = BTreeMap::new();
    let mut at = 0;
    while at < files.len() {
        let part = &files[at..files.len().min(at + 150)];
        let mut c = Command::new(host);
        c.arg("-W0").arg(&plan.harness).args(part);
        c.env("KUMI_SPEC_DRY", "1").env("KUMI_SPEC_VERSION", "4.0.0").env_remove("RUBYOPT").env("RUBY_EXE", host);
        c.current_dir(&plan.root).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let Ok(mut child) = limited(c, 8 << 30).spawn() else { return out };
        let Some(stdout) = child.stdout.take() else { return out };
        let (tx, rx) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let mut r = BufReader::new(stdout);
            let mut line = Vec::new();
            while matches!(r.read_until(b'\n', &mut line), Ok(n) if n > 0) {
                if tx.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                    return;
                }
                line.clear();
            }
        });
        let mut current = None;
        let mut loaded = true;
        let mut begun = 0;
        let mut last = Instant::now();
        loop {
            match rx.recv_timeout(Duration::from_millis(200)) {
                Ok(l) => {
                    last = Instant::now();
                    if let Some(f) = l.strip_prefix("\x01B ") {
                        current = Some(PathBuf::from(f.trim()));
                        loaded = true;
                        begun += 1;
                    } else if l.starts_with("\x01L") {
                        loaded = false;
                    } else if let Some(n) = l.strip_prefix("\x01D ") {
                        if let (Some(f), Ok(n)) = (current.take(), n.trim().parse::<usize>()) {
                            // What this Ruby cannot load is counted from its text.
                            let n = if loaded { n } else { n.max(from_text(&f)) };
                            out.insert(f, n);
                        }
                    }
                }
                Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => break,
                Err(_) if last.elapsed() > Duration::from_secs(10) => break,
                Err(_) => {}
            }
        }
        kill_group(child.id());
        let _ = child.wait();
        at += begun.max(1);
    }
    out
}
