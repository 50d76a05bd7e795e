//! How many calls that ask for segments are under way on a line.
//!
//! **Invariant.** There is always room for one. For more there is as long as what they bring together, if each brings what the last ones
//! did, is no more than [`MOST`]. A server does what it has read of a connection before it answers any of it: many large values would
//! keep it busy for longer than a lease lasts, or than a server may be silent. Whoever has no room stands in line, the oldest first.

use super::{Machine, Step};
use kumi_segments::Time;
use std::collections::BTreeSet;

/// Bytes under way, as far as is known.
const MOST: usize = 16 << 20;
/// What one brings, as long as nothing has come.
const UNKNOWN: usize = MOST / 2;
/// The same where some were answered that there is nothing.
const NOTHING: usize = MOST / 8;
/// It brings no less, for the server's sake.
const LEAST: usize = 256;

pub(super) struct Window {
    under_way: usize,
    /// What the next one may bring: no less than the last, and half of what was thought before it.
    brings: usize,
    line: BTreeSet<u64>,
}

impl Default for Window {
    fn default() -> Window {
        Window { under_way: 0, brings: UNKNOWN, line: BTreeSet::new() }
    }
}

impl Window {
    fn has_room(&self) -> bool {
        self.under_way == 0 || (self.under_way + 1).saturating_mul(self.brings) <= MOST
    }
    /// One more is under way.
    pub fn goes(&mut self) {
        self.under_way += 1;
    }
}

impl<T> Machine<T> {
    /// There is no room for a call, which waits for it.
    pub(super) fn waits_for_window(&mut self, name: u64) -> bool {
        let Some(p) = self.calls.get(&name).filter(|p| p.asks()) else { return false };
        let Some(line) = self.line_of(p.slot).filter(|l| self.lines[*l].is_ready()) else { return false };
        let w = &mut self.lines[line].window;
        if w.line.is_empty() && w.has_room() {
            return false;
        }
        w.line.insert(name);
        if let Some(p) = self.calls.get_mut(&name) {
            p.step = Step::Queued;
        }
        true
    }
    /// One was answered, with so many bytes: others go.
    pub(super) fn got_reply(&mut self, line: usize, now: Time, bytes: usize) {
        let w = &mut self.lines[line].window;
        w.under_way = w.under_way.saturating_sub(1);
        w.brings = match bytes {
            0 => w.brings.min(NOTHING.max(w.brings / 2)),
            _ => bytes.max(w.brings / 2).max(LEAST),
        };
        while let Some(name) = Some(&mut self.lines[line].window).filter(|w| w.has_room()).and_then(|w| w.line.pop_first()) {
            // It may have ended meanwhile.
            if self.calls.get(&name).is_some_and(|p| matches!(p.step, Step::Queued)) {
                self.send_past(now, name);
            }
        }
    }
    /// The line's connections are gone: who stands there goes another way, or waits for new ones.
    pub(super) fn window_is_shut(&mut self, line: usize, now: Time) {
        let w = &mut self.lines[line].window;
        (w.under_way, w.brings) = (0, UNKNOWN);
        for name in std::mem::take(&mut w.line) {
            self.send(now, name);
        }
    }
}
