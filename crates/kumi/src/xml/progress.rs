//! One line on the terminal that tells how far reading is.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// The line; nothing is written where standard error is no terminal.
pub(crate) struct Progress {
    on: bool,
    began: Instant,
    next: Instant,
    shown: bool,
}

/// Time between two updates.
const EVERY: Duration = Duration::from_millis(100);

impl Progress {
    pub fn new(quiet: bool) -> Progress {
        let now = Instant::now();
        Progress { on: !quiet && std::io::stderr().is_terminal(), began: now, next: now + 3 * EVERY, shown: false }
    }
    /// Tells of bytes received, of how many (if that is known) and of elements found.
    pub fn tell(&mut self, name: &str, received: u64, total: Option<u64>, found: u64) {
        if !self.on {
            return;
        }
        let now = Instant::now();
        if now < self.next {
            return;
        }
        self.next = now + EVERY;
        self.shown = true;
        let rate = received as f64 / (now - self.began).as_secs_f64().max(1e-3);
        let share = total.filter(|t| *t > 0).map_or(String::new(), |t| format!(" of {}, {} %", size(t), received * 100 / t));
        let name: String = if name.chars().count() > 40 { name.chars().take(39).chain(['…']).collect() } else { name.to_string() };
        let mut to = std::io::stderr().lock();
        let line = format!("\r{name}: {}{share}, {}/s, {} found\x1b[K", size(received), size(rate as u64), grouped(found));
        let _ = to.write_all(line.as_bytes()).and_then(|()| to.flush());
    }
    /// Takes the line away: something else is printed, or reading is over.
    pub fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            let _ = std::io::stderr().write_all(b"\r\x1b[K");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Bytes as a person reads them.
pub(crate) fn size(n: u64) -> String {
    match n {
        0..1_000 => format!("{n} B"),
        1_000..1_000_000 => format!("{:.1} kB", n as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", n as f64 / 1e6),
        _ => format!("{:.2} GB", n as f64 / 1e9),
    }
}

/// A number with its thousands apart.
pub(crate) fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_people() {
        assert_eq!([grouped(0), grouped(999), grouped(1000), grouped(1234567)], ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([size(12), size(32_240_000), size(5_000_000_000)], ["12 B", "32.2 MB", "5.00 GB"]);
    }
}
