//! Long work of natives: done while the worker is detached, so that a stop need not
//! wait for it.
//!
//! A native that finds that it would compute for long gives the work away
//! ([`Cx::detach`]) and returns; once its guard is dropped the worker detaches (see
//! `worker.rs`), does the work, becomes active again and calls the native anew,
//! from its start, which then finds what came out ([`Cx::detached`]). So long work
//! holds no lock, its native's receiver and arguments are roots like those of any
//! call that waits, and interrupts are taken before the native goes on.
//!
//! **Invariant.** Work gets no [`Cx`]: it makes and changes no cell, and drops no buffer of one. It computes with
//! what it owns, and may read cells that the call or `keep` holds; others may change
//! these meanwhile, so it reads a buffer by one look and believes nothing that a
//! second look would have to confirm. What came out belongs to the native that is
//! called next, or to nobody: a native knows its own by the type, and looks whether
//! it was computed from what stands there now. If not, it computes by itself, so
//! that no call detaches for ever.

use crate::Cx;
use crate::doors::Exit;
use crate::doors::Work;
use crate::tasks::task::Wait;
use kumi_budget::Grow;
use kumi_heap::Value;
use std::any::{Any, TypeId};
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// What a worker has to do, or has done, while it is detached.
#[derive(Default)]
pub(crate) struct Detour {
    work: Option<Work>,
    /// Whose native gets `done`: task, frame, next instruction.
    asker: (u64, usize, usize),
    done: Option<Box<dyn Any>>,
    /// Since when that native goes from detour to detour.
    since: Option<((u64, usize, usize), Instant)>,
}

impl Detour {
    pub(crate) fn is_waiting(&self) -> bool {
        self.work.is_some()
    }
}

/// What work of the kind `F` made of cells that never change, or of bytes.
struct Made<F, I, T> {
    of: I,
    out: T,
    kind: PhantomData<F>,
}

/// Tells a native that makes many things when to [`pause`](Cx::pause).
pub struct Pace {
    began: Instant,
    steps: u32,
}

impl Pace {
    /// Some 150 microseconds from now.
    pub fn new() -> Pace {
        Pace { began: Instant::now(), steps: 0 }
    }
    /// A step is done: was it one too many?
    #[inline]
    pub fn is_over(&mut self) -> bool {
        self.steps += 1;
        self.steps.is_multiple_of(128) && self.began.elapsed() > PAUSE_AFTER
    }
}

impl Default for Pace {
    fn default() -> Self {
        Pace::new()
    }
}

const PAUSE_AFTER: Duration = Duration::from_micros(150);
/// Shorter work stays where it is, in nanoseconds.
const LONG: u64 = 100_000;
/// Work of which somebody may want to be rid before it ends.
pub const VERY_LONG: u64 = 50_000_000;
static WANTED: AtomicBool = AtomicBool::new(false);
/// As `LONG` when stress is on, so that small programs detach.
const LONG_UNDER_STRESS: u64 = 500;

impl Cx {
    /// Should work of about `ns` nanoseconds be detached? While there is one worker nobody waits for it, but who wants it
    /// to end.
    #[inline]
    pub fn worth_detaching(&self, ns: u64) -> bool {
        ns >= LONG_UNDER_STRESS && (ns >= VERY_LONG || self.are_others_waiting() && self.long_enough(ns))
    }
    /// May others wait for this worker?
    #[inline]
    pub fn are_others_waiting(&self) -> bool {
        self.started.load(Relaxed) && self.workers.len() > 1
    }
    #[cold]
    fn long_enough(&self, ns: u64) -> bool {
        ns >= LONG || self.stress != 0 || self.gc_stress != 0
    }
    /// Ends the native: it is called again, from its start, when `work`, of about `ns` nanoseconds, is done. It has changed
    /// nothing so far. `keep` holds the cells that the work reads. Very long work is done aside (`aside.rs`); what it takes is
    /// told when nobody wants it any more.
    pub fn detach<T: 'static>(&mut self, ns: u64, keep: Value, work: impl FnOnce(&AtomicBool) -> T + 'static) -> Exit {
        self.detach_with::<T>(ns, &[keep], work)
    }
    /// The same for work that reads several cells, which the call holds too.
    pub fn detach_keeping<T: 'static>(&mut self, ns: u64, keep: &[Value], work: impl FnOnce(&AtomicBool) -> T + 'static) -> Exit {
        self.detach_with::<T>(ns, keep, work)
    }
    fn detach_with<T: 'static>(&mut self, ns: u64, keep: &[Value], work: impl FnOnce(&AtomicBool) -> T + 'static) -> Exit {
        let work: Work = Box::new(move |stop| Box::new(work(stop)) as Box<dyn Any>);
        if ns >= VERY_LONG {
            return self.go_aside(TypeId::of::<T>(), keep, work);
        }
        let asker = self.asker();
        let since = self.detour.since.filter(|s| s.0 == asker).or_else(|| {
            self.task.attempts = 0;
            Some((asker, Instant::now()))
        });
        self.detour = Detour { work: Some(work), asker, done: None, since };
        self.pending.keep = keep.first().copied().unwrap_or(Value::NIL);
        Exit::Again
    }
    /// Nobody wants what comes out.
    fn forget_detour(&mut self) {
        self.detour = Detour { since: self.detour.since, ..Detour::default() };
        self.pending.keep = Value::NIL;
    }
    fn asker(&self) -> (u64, usize, usize) {
        (self.task.id, self.fp.addr(), self.pc.addr())
    }
    /// Ends the native for a moment in which others may stop: called again at once, it gets `state` from
    /// [`detached`](Cx::detached) and goes on. Its guard was dropped in between. `keep` is for cells that the state names.
    pub fn pause<T: 'static>(&mut self, keep: Value, state: T) -> Exit {
        self.detach(0, keep, move |_| state)
    }
    /// What this native's work gave, when it is called again. A native that gives away several kinds of work names
    /// each by a type of its own.
    #[inline]
    pub fn detached<T: 'static>(&mut self) -> Option<T> {
        if self.detour.done.is_none() && !matches!(self.task.wait, Wait::Aside(_)) { None } else { self.take_detached() }
    }
    #[cold]
    fn take_detached<T: 'static>(&mut self) -> Option<T> {
        if let Some(v) = self.from_aside(TypeId::of::<T>()) {
            return v.downcast::<T>().ok().map(|v| *v);
        }
        self.detour.done.as_ref()?;
        if self.detour.asker != self.asker() {
            self.forget_detour();
            return None;
        }
        match self.detour.done.take()?.downcast::<T>() {
            Ok(v) => {
                self.forget_detour();
                Some(*v)
            }
            Err(other) => {
                self.detour.done = Some(other);
                None
            }
        }
    }
    /// `f()`, detached when it takes about `ns` nanoseconds or more and that is long. It reads the immutable cells `of`, which
    /// the native's arguments hold, and nothing else of the heap; a native may so do one piece of work of a kind.
    pub fn detach_on_cells<T, F, const N: usize>(&mut self, of: [Value; N], ns: u64, f: F) -> Result<T, Exit>
    where
        T: 'static,
        F: FnOnce() -> T + 'static,
    {
        if !self.worth_detaching(ns) {
            return Ok(f());
        }
        match self.detached::<Made<F, [Value; N], T>>() {
            Some(m) if m.of == of => Ok(m.out),
            Some(_) => Ok(f()),
            None => Err(self.detach_with(ns, &of, move |_| Made { of, out: f(), kind: PhantomData::<F> })),
        }
    }
    /// `f(bytes)`, as above: it gets a copy, and what it made counts if the bytes are the same afterwards.
    pub fn detach_on_bytes<T: 'static, F: FnOnce(&[u8]) -> T + 'static>(&mut self, bytes: &[u8], ns: u64, f: F) -> Result<T, Exit> {
        if !self.worth_detaching(ns) {
            return Ok(f(bytes));
        }
        match self.detached::<Made<F, Vec<u8>, T>>() {
            Some(m) if m.of == bytes => Ok(m.out),
            Some(_) => Ok(f(bytes)),
            None => {
                let of = Vec::copy(bytes);
                Err(self.detach_with(ns, &[], move |_| Made { out: f(&of), of, kind: PhantomData::<F> }))
            }
        }
    }
    /// Between two pieces of a native's work: does somebody wait for the running thread? A handler that returns may cost it what it has so
    /// far, and so gets its slice later each time.
    pub(crate) fn is_called_away_between(&mut self) -> bool {
        if !self.heap.poll.load(Relaxed) {
            return false;
        }
        let attempts = self.task.attempts;
        let since = self.detour.since.map_or(Duration::ZERO, |s| s.1.elapsed());
        let away = self.is_called_away(false, attempts == 0 || since >= crate::tasks::patience::FIRST * (1 << attempts.min(10)));
        if away {
            self.task.attempts = attempts.saturating_add(1);
        }
        away
    }
    /// Does the work that a native left behind. False when an interrupt came meanwhile or the work panicked, so that the native is not
    /// called again. The native's call is a root: it stands in `pending.call`, or in registers before the next instruction.
    pub(crate) fn work_detached(&mut self) -> bool {
        self.heap.end_place();
        self.answer_room();
        if let Some(work) = self.detour.work.take() {
            match self.while_detached(|| work(&WANTED)) {
                Ok(done) => self.detour.done = Some(done),
                Err(fault) => {
                    self.forget_detour();
                    self.fault = Some(fault);
                    return false;
                }
            }
        }
        if self.has_due_interrupt(false) {
            self.forget_detour();
            return false;
        }
        true
    }
}
