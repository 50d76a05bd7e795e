//! Natives that are called away: long work that is dropped when somebody waits for the worker, to begin anew afterwards.
//!
//! For work that can neither be done elsewhere (`detach.rs`), since it needs the [`Cx`], nor in pieces, since what it has so far
//! names cells. A native that loops over much takes a [`Patience`] and asks it at each step. When an interrupt, a signal or a
//! stop waits, the native returns with what it had dropped; the loop does what is asked for, and calls the native again.
//!
//! **Invariant.** A native that is called away has changed nothing. What ends it for good (an interrupt, a time limit) calls at once; what it
//! begins anew after (a signal's handler, a stop) leaves it twice as long as the last time, so that no call is called away for
//! ever, and all its attempts take no more than twice the time of the last. A worker that nobody wants anything of pays a count and, each
//! 1024 steps, a look at its poll flag.

use crate::Cx;
use crate::doors::Exit;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// How long the first attempt may keep others waiting.
pub(crate) const FIRST: Duration = Duration::from_millis(100);
/// Steps between two looks.
const LOOK_AFTER: u32 = 1024;

/// What a long native asks at each step.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    steps: u32,
    began: Option<Instant>,
    /// Attempts that were called away.
    attempts: u8,
    over: bool,
}

impl Patience {
    /// One step more.
    ///
    /// # Errors
    /// The native is called away: it returns this, having changed nothing.
    #[inline(always)]
    pub fn step(&mut self, cx: &mut Cx) -> Result<(), Exit> {
        self.steps += 1;
        if self.steps < LOOK_AFTER { Ok(()) } else { self.look(cx) }
    }
    /// As many steps as something long needs.
    #[inline]
    pub fn steps(&mut self, cx: &mut Cx, n: usize) -> Result<(), Exit> {
        self.steps = self.steps.saturating_add(u32::try_from(n).unwrap_or(LOOK_AFTER));
        if self.steps < LOOK_AFTER { Ok(()) } else { self.look(cx) }
    }
    #[cold]
    #[inline(never)]
    fn look(&mut self, cx: &mut Cx) -> Result<(), Exit> {
        self.steps = 0;
        cx.look_for_room()?;
        if self.is_over(cx) { Err(self.leave(cx)) } else { Ok(()) }
    }
    /// Is the native called away?
    pub(crate) fn is_over(&mut self, cx: &Cx) -> bool {
        let began = *self.began.get_or_insert_with(Instant::now);
        if cx.heap.poll.load(Relaxed) {
            let waited = began.elapsed() >= FIRST * (1 << self.attempts.min(10));
            self.over = cx.is_called_away(waited, self.attempts == 0);
        }
        self.over
    }
    pub(crate) fn was_over(&self) -> bool {
        self.over
    }
    /// What the native returns then.
    pub(crate) fn leave(self, cx: &mut Cx) -> Exit {
        cx.task.attempts = self.attempts.saturating_add(1);
        Exit::Again
    }
}

impl Cx {
    /// One step of a walk through plain values (`plain.rs` and its like). `None`: somebody waits, so that the answer needs Ruby, whose loops let
    /// him come in between.
    #[inline(always)]
    pub fn walk(&mut self) -> Option<()> {
        self.walked = self.walked.wrapping_add(1);
        if self.walked & (4 * LOOK_AFTER - 1) != 0 { Some(()) } else { self.look_around() }
    }
    /// As many steps at once as something short needs.
    #[inline(always)]
    pub fn walk_by(&mut self, n: usize) -> Option<()> {
        let before = self.walked;
        self.walked = before.wrapping_add(n as u32);
        if (before ^ self.walked) & !(4 * LOOK_AFTER - 1) == 0 { Some(()) } else { self.look_around() }
    }
    #[cold]
    #[inline(never)]
    fn look_around(&mut self) -> Option<()> {
        if !self.heap.poll.load(Relaxed) {
            self.walks_since = None;
            return Some(());
        }
        // A native that walks looks around more often than this; the last look of another one does not count.
        let now = Instant::now();
        let since = match self.walks_since {
            Some((since, last)) if now - last < FIRST / 5 => since,
            _ => now,
        };
        self.walks_since = Some((since, now));
        if !self.is_called_away(now - since >= FIRST, true) {
            return Some(());
        }
        self.walks_since = None;
        None
    }
    /// For a native that may be called away.
    #[inline]
    pub fn patience(&mut self) -> Patience {
        let attempts = std::mem::take(&mut self.task.attempts);
        Patience { steps: 0, began: None, attempts, over: false }
    }
    /// Does anybody wait for the running thread, or (`waited`: for long enough) for its worker?
    #[cold]
    pub(crate) fn is_called_away(&self, waited: bool, first: bool) -> bool {
        if self.has_due_interrupt(false) || self.limits.are_due(self.root.thread) {
            return true;
        }
        if self.worker == 0 && (waited || first) && self.signal_waits.is_some_and(|f| f()) {
            return true;
        }
        // The main thread runs on worker 0 only, and where there is one worker all do.
        let alone = self.worker == 0 || self.workers.len() == 1;
        waited && (self.others_wait() || alone && self.sched_cell().get().is_some_and(|s| s.has_ready(self.worker)))
    }
}
