//! What is written down of each collection, and the log that shows it.
//!
//! Invariant: nothing is written while the world is stopped: lines are queued, and written by whoever
//! finds the writer free afterwards. Who queues never waits for a slow reader of the log.
//!
//! A line, fields in this order, names and units fixed:
//! `kumi gc 1.234567s full #12 cause=budget worker=0 live=42.1M->20.3M freed=21.8M cells=213000 pause=12.345ms safepoint=0.120ms mark=11.020ms`
//! For a nursery collection: `kumi gc 1.234567s window cause=full worker=1 live=32.0K->4.1K freed=27.9K cells=812 pause=0.021ms`,
//! and `window-retired` when the nursery was given up afterwards. Others may add lines of theirs ([`Log::say`]).
//! A full collection that went in slices has, behind the others, their number, the longest and the sum:
//! ` slices=62 longest=1.312ms stopped=61.207ms`. Its pause is its last slice, its marking that of all.

use crate::shared::lock;
use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// What was collected.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub enum Collected {
    /// What was born since the last node collection.
    Young,
    /// The whole shared heap.
    #[default]
    Full,
    /// One worker's nursery.
    Nursery,
    /// One worker's nursery, which retired in place afterwards.
    Retired,
}

impl Collected {
    /// Its name in log lines.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Collected::Young => "young",
            Collected::Full => "full",
            Collected::Nursery => "window",
            Collected::Retired => "window-retired",
        }
    }
}

/// Why it was collected. A greater one hides a lesser one that was given for the same collection.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Cause {
    /// The budget of bytes until the next node collection was spent; of a nursery: it was full.
    #[default]
    Budget,
    /// The last young one left too much.
    Promoted,
    /// Another node of the cluster ordered it, or it was due to be done with theirs.
    Order,
    /// Things outside the heap hang on cells that may have died, or somebody outside asks.
    Outside,
    /// The heap comes near its limit.
    Limit,
    /// The program asked (`GC.start`).
    Request,
    /// `KUMI_GC_STRESS` or a kindred setting.
    Stress,
}

impl Cause {
    pub(crate) fn from_u8(n: u8) -> Cause {
        [Cause::Budget, Cause::Promoted, Cause::Order, Cause::Outside, Cause::Limit, Cause::Request, Cause::Stress]
            .get(n as usize)
            .copied()
            .unwrap_or_default()
    }
    /// Its name in log lines.
    pub fn name(self) -> &'static str {
        match self {
            Cause::Budget => "budget",
            Cause::Promoted => "promoted",
            Cause::Order => "order",
            Cause::Outside => "outside",
            Cause::Limit => "limit",
            Cause::Request => "request",
            Cause::Stress => "stress",
        }
    }
}

/// One collection. Times in nanoseconds, `start_ns` since the runtime began.
#[derive(Clone, Copy, Default, Debug)]
pub struct Collection {
    /// What was collected.
    pub what: Collected,
    /// Why.
    pub cause: Cause,
    /// The worker that did it.
    pub worker: u32,
    /// Running number among node collections; 0 for those of nurseries.
    pub number: u64,
    /// When it was asked for.
    pub start_ns: u64,
    /// Bytes live before, as far as known without marking: live after the last one and allocated since.
    pub before_bytes: u64,
    /// Bytes live afterwards.
    pub after_bytes: u64,
    /// Cells live afterwards; 0 for collections of nurseries.
    pub live_cells: u64,
    /// Cells it freed; what nursery collections had freed before does not count.
    pub freed_cells: u64,
    /// From request to resume.
    pub pause_ns: u64,
    /// From request until all workers were stopped.
    pub to_safepoint_ns: u64,
    /// Of the pause, marking; 0 for collections of nurseries. Of one in slices, that of all of them.
    pub mark_ns: u64,
    /// Its slices.
    pub cycle: Cycled,
}

/// The stops of a full collection that went in slices; all 0 for others.
#[derive(Clone, Copy, Default, Debug)]
pub struct Cycled {
    /// How many.
    pub slices: u32,
    /// The longest, from request to resume.
    pub longest_ns: u64,
    /// All of them.
    pub stopped_ns: u64,
}

impl Collection {
    /// Bytes it freed, as far as `before_bytes` is known.
    pub fn freed_bytes(&self) -> u64 {
        self.before_bytes.saturating_sub(self.after_bytes)
    }
    /// The log's line, as the module says.
    pub(crate) fn line(&self) -> String {
        let mut s = format!("kumi gc {:.6}s {}", self.start_ns as f64 / 1e9, self.what.name());
        let node = matches!(self.what, Collected::Young | Collected::Full);
        if node {
            let _ = write!(s, " #{}", self.number);
        }
        let cause = if !node && self.cause == Cause::Budget { "full" } else { self.cause.name() };
        let (before, after, freed) = (bytes(self.before_bytes), bytes(self.after_bytes), bytes(self.freed_bytes()));
        let _ = write!(s, " cause={cause} worker={} live={before}->{after} freed={freed} cells={}", self.worker, self.freed_cells);
        let _ = write!(s, " pause={:.3}ms", self.pause_ns as f64 / 1e6);
        if node {
            let _ = write!(s, " safepoint={:.3}ms mark={:.3}ms", self.to_safepoint_ns as f64 / 1e6, self.mark_ns as f64 / 1e6);
        }
        if let Cycled { slices: 1.., longest_ns, stopped_ns } = self.cycle {
            let (longest, stopped) = (longest_ns as f64 / 1e6, stopped_ns as f64 / 1e6);
            let _ = write!(s, " slices={} longest={longest:.3}ms stopped={stopped:.3}ms", self.cycle.slices);
        }
        s
    }
}

/// A size with one decimal in K, M or G (powers of 1024).
pub fn bytes(n: u64) -> String {
    let x = n as f64;
    match n {
        0..1024 => format!("{n}B"),
        1024..0x10_0000 => format!("{:.1}K", x / 1024.0),
        0x10_0000..0x4000_0000 => format!("{:.1}M", x / 1_048_576.0),
        _ => format!("{:.1}G", x / 1_073_741_824.0),
    }
}

/// How much is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Level {
    /// No line.
    Nothing,
    /// Node collections.
    Nodes,
    /// Nursery collections too.
    All,
}

/// Lines that wait at most for a writer; what is beyond is dropped, and the log says how many.
const WAITING: usize = 1 << 16;

#[derive(Default)]
struct Waiting {
    lines: Vec<String>,
    dropped: u64,
}

/// The log of a runtime.
#[derive(Default)]
pub struct Log {
    level: AtomicU8,
    waiting: Mutex<Waiting>,
    /// Where lines go; `None`: standard error.
    out: Mutex<Option<std::fs::File>>,
}

impl Log {
    /// Turns it on: into a file, or to standard error.
    pub fn open(&self, level: Level, file: Option<std::fs::File>) {
        *lock(&self.out) = file;
        self.level.store(level as u8, Relaxed);
    }
    /// Is there one?
    pub fn is_on(&self) -> bool {
        self.nodes()
    }
    #[inline]
    pub(crate) fn nodes(&self) -> bool {
        self.level.load(Relaxed) >= Level::Nodes as u8
    }
    #[inline]
    pub(crate) fn nurseries(&self) -> bool {
        self.level.load(Relaxed) >= Level::All as u8
    }
    pub(crate) fn queue(&self, c: &Collection) {
        self.queue_line(c.line());
    }
    fn queue_line(&self, line: String) {
        let mut w = lock(&self.waiting);
        if w.lines.len() < WAITING {
            w.lines.push(line);
        } else {
            w.dropped += 1;
        }
    }
    /// Has a line of somebody else's about collections wait for [`write`](Self::write), if there is a log.
    pub fn say(&self, line: impl FnOnce() -> String) {
        if self.nodes() {
            self.queue_line(line());
        }
    }
    /// Writes what waits, unless somebody else does already.
    pub fn write(&self) {
        loop {
            let Ok(mut out) = self.out.try_lock() else { return };
            self.write_to(&mut out);
            drop(out);
            // Who queued between our last look and the release found the writer busy.
            if lock(&self.waiting).lines.is_empty() {
                return;
            }
        }
    }
    /// Writes what waits, at the end of a program.
    pub fn flush(&self) {
        self.write_to(&mut lock(&self.out));
    }
    fn write_to(&self, out: &mut Option<std::fs::File>) {
        loop {
            let w = std::mem::take(&mut *lock(&self.waiting));
            if w.lines.is_empty() {
                return;
            }
            let mut text = w.lines.join("\n");
            text.push('\n');
            if w.dropped > 0 {
                let _ = writeln!(text, "kumi gc: {} lines were dropped: the log is read too slowly", w.dropped);
            }
            // A log that cannot be written is no reason to stop the program.
            let _ = match out {
                Some(f) => f.write_all(text.as_bytes()),
                None => std::io::stderr().lock().write_all(text.as_bytes()),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_as_documented() {
        let c = Collection {
            what: Collected::Full,
            cause: Cause::Request,
            number: 12,
            start_ns: 1_234_567_000,
            before_bytes: 44_144_000,
            after_bytes: 21_286_000,
            freed_cells: 213_000,
            pause_ns: 12_345_000,
            to_safepoint_ns: 120_000,
            mark_ns: 11_020_000,
            ..Collection::default()
        };
        let want = "kumi gc 1.234567s full #12 cause=request worker=0 live=42.1M->20.3M freed=21.8M cells=213000 pause=12.345ms safepoint=0.120ms mark=11.020ms";
        assert_eq!(c.line(), want);
        let w = Collection { what: Collected::Nursery, before_bytes: 32768, after_bytes: 500, pause_ns: 21_000, ..Collection::default() };
        assert_eq!(w.line(), "kumi gc 0.000000s window cause=full worker=0 live=32.0K->500B freed=31.5K cells=0 pause=0.021ms");
    }
}
