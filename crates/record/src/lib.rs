//! Writes down what a node's worker does: processor time between events, bytes allocated, messages, waits, collections.
//!
//! A recording is one file for each node. `kumi_simulate` joins the files of a cluster and replays them; its `Recording` has the form of a
//! file. Here is what the runtime and the link call while it goes on. A runtime that records has one worker.
//!
//! **Invariant.** Times are the calling thread's processor time, so it does not matter what else runs on the machine; waits alone are told by
//! the clock. Whatever a thread does belongs to an *actor*: the task that it runs, or the handling of a message that it serves. An actor's
//! lines stand in the order in which it did what they say. Nothing here waits but for the file, and where that can't be written the
//! recording ends and the program goes on.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod here;
mod log;

use here::{Actor, HERE, Here};
use log::{Log, Wait};
use parking_lot::Mutex;
use rustix::time::{ClockId, clock_gettime};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::*};

/// The first line of a recording.
pub const HEAD: &str = "kumi-recording 1";
/// How names of recordings end.
pub const ENDING: &str = "recording";
/// A recording is no longer; what comes later is not in it, and its last line says so.
pub const LONGEST: u64 = 1 << 30;

/// What was allocated since a program began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allocated {
    /// All bytes.
    pub bytes: u64,
    /// Those of them that nurseries have freed again.
    pub freed: u64,
}

/// What was collected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collected {
    /// What was born since the last collection.
    Young,
    /// Everything.
    Full,
}

/// What ends waits on this thread just now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// What the thread does.
    Actor,
    /// Somebody rang before ([`Recorder::rings`]).
    Bell,
    /// The clock.
    Time,
    /// A descriptor, or a call that blocked.
    Outside,
}

/// A node's recording. Any thread may call it.
#[derive(Debug)]
pub struct Recorder {
    on: AtomicBool,
    log: Mutex<Log>,
    messages: AtomicU64,
    handlers: AtomicU64,
    marks: AtomicU64,
    path: PathBuf,
}

fn clock(id: ClockId) -> u64 {
    let t = clock_gettime(id);
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}
fn processor() -> u64 {
    clock(ClockId::ThreadCPUTime)
}
fn wall() -> u64 {
    clock(ClockId::Monotonic)
}

impl Recorder {
    /// A recording of this node in a folder, which is made where it is not there. Nothing is written down before [`begin`](Self::begin).
    ///
    /// # Errors
    /// The system's; or the name can't be a file's.
    pub fn create(folder: &Path, node: &str) -> std::io::Result<Recorder> {
        if node.is_empty() || node.contains(['/', '\0', ' ', '\n']) || node.starts_with('.') {
            return Err(std::io::Error::other(format!("{node:?} can't be the name of a file")));
        }
        std::fs::create_dir_all(folder)?;
        let path = folder.join(format!("{node}.{ENDING}"));
        let mut log = Log::new(std::fs::File::create(&path)?);
        log.line(format_args!("{HEAD}\nnode {node}"));
        Ok(Recorder { on: AtomicBool::new(false), log: Mutex::new(log), messages: 1.into(), handlers: 0.into(), marks: 1.into(), path })
    }
    /// Where it is written.
    pub fn path(&self) -> &Path {
        &self.path
    }
    /// The program begins, on this thread, as this task.
    pub fn begin(self: &Arc<Self>, task: u64, allocated: Allocated) {
        let recorder = Some(self.clone());
        HERE.with_borrow_mut(|h| *h = Here { actor: Some(Actor::Task(task)), cpu: processor(), recorder, ..Here::default() });
        let mut log = self.log.lock();
        (log.began, log.allocated, log.last) = (wall(), allocated, Some(Actor::Task(task)));
        log.processor = clock(ClockId::ProcessCPUTime);
        let at = clock(ClockId::Realtime);
        log.line(format_args!("begin {at}"));
        self.on.store(true, Release);
    }
    /// This is the child of a fork: the recording is its parent's. Takes no lock, which nobody might hold any more.
    pub fn forked(&self) {
        self.on.store(false, Release);
    }
    /// Does it go on?
    fn is_on(&self) -> bool {
        self.on.load(Acquire)
    }
    /// The end of the program: the rest is written. Nothing is written down afterwards.
    pub fn end(&self, allocated: Allocated) {
        if !self.on.swap(false, AcqRel) {
            return;
        }
        let mut log = self.log.lock();
        HERE.with_borrow_mut(|h| {
            charge(&mut log, h, Some(allocated));
            *h = Here::default();
        });
        let (wall, cpu) = (wall().saturating_sub(log.began), clock(ClockId::ProcessCPUTime).saturating_sub(log.processor));
        let idle = log.idle;
        log.line(format_args!("end {wall} {cpu} {idle}"));
        log.flush();
    }

    // --- the worker ---------------------------------------------------------------

    /// The thread runs this task from here on.
    pub fn takes_up(&self, task: u64, allocated: Allocated) {
        if !self.is_on() {
            return;
        }
        HERE.with_borrow_mut(|h| {
            let mut log = self.log.lock();
            log.allocated_by_nobody(allocated);
            let now = processor();
            // What it took to come to it.
            let over = if h.actor.is_none() { now.saturating_sub(h.cpu) } else { 0 };
            (h.actor, h.cpu) = (Some(Actor::Task(task)), now);
            if over > 0 {
                log.of(Actor::Task(task)).step(format_args!(" o{over}"));
            }
        });
    }
    /// The thread runs no task from here on.
    pub fn leaves(&self, allocated: Allocated) {
        if !self.is_on() {
            return;
        }
        HERE.with_borrow_mut(|h| {
            charge(&mut self.log.lock(), h, Some(allocated));
            h.actor = None;
        });
    }
    /// Looks at what was used and allocated so far, where one task goes on for long.
    pub fn looks(&self, allocated: Allocated) {
        if self.is_on() {
            HERE.with_borrow_mut(|h| charge(&mut self.log.lock(), h, Some(allocated)));
        }
    }
    /// The running task makes a thread, which is to begin as this one.
    pub fn born(&self, child: u64) {
        self.says(format_args!(" b{child}"));
    }
    /// The running thread, whose first task this is, ends.
    pub fn over(&self, root: u64) {
        self.says(format_args!(" d{root}"));
    }
    /// The running thread needs what one that has ended has done.
    pub fn joins(&self, root: u64) {
        self.says(format_args!(" j{root}"));
    }
    /// The running thread, whose first task this is, waits from here on: by this task, in its wait of this number. `for_others`: it waits for
    /// somebody, if perhaps not for ever; else it sleeps.
    pub fn waits(&self, root: u64, task: u64, number: u64, for_others: bool) {
        if self.is_on() {
            self.log.lock().waits.insert(task, Wait { root, number, since: wall(), for_others });
        }
    }
    /// What the running thread was about to wait for has come already.
    pub fn need_not_wait(&self, task: u64, number: u64) {
        self.says(format_args!(" w{task}.{number}"));
    }
    /// A wait is over.
    pub fn ended(&self, task: u64, number: u64) {
        if !self.is_on() {
            return;
        }
        HERE.with_borrow_mut(|h| {
            let mut log = self.log.lock();
            if h.by == By::Actor {
                charge(&mut log, h, None);
                log.by(h).step(format_args!(" v{task}.{number}"));
            }
            let Some(w) = log.waits.remove(&task).filter(|w| w.number == number) else { return };
            let lasted = wall().saturating_sub(w.since);
            log.of(Actor::Task(w.root));
            match h.by {
                By::Actor | By::Bell => log.step(format_args!(" w{task}.{number}")),
                By::Time if w.for_others => log.step(format_args!(" y{lasted}")),
                By::Time => log.step(format_args!(" z{lasted}")),
                By::Outside => log.step(format_args!(" x{lasted}")),
            }
        });
    }
    /// What ends waits on this thread from here on.
    pub fn ends_by(&self, by: By) {
        HERE.with_borrow_mut(|h| h.by = by);
    }
    /// From any thread: the wait of this number is to end. Who runs its task notices later.
    pub fn rings(&self, task: u64, number: u64) {
        self.says(format_args!(" v{task}.{number}"));
    }
    /// The worker had nothing to run for so long, by the clock; it begins to look for something.
    pub fn was_idle(&self, lasted: u64) {
        if self.is_on() {
            self.log.lock().idle += lasted;
            HERE.with_borrow_mut(|h| h.cpu = processor());
        }
    }
    /// A collection begins on this thread.
    pub fn collection(&self, allocated: Allocated) {
        if self.is_on() {
            HERE.with_borrow_mut(|h| {
                charge(&mut self.log.lock(), h, Some(allocated));
                h.cpu = processor();
            });
        }
    }
    /// It has ended; so many bytes were there before, and so many live.
    pub fn collected(&self, what: Collected, before: u64, live: u64, allocated: Allocated) {
        if !self.is_on() {
            return;
        }
        HERE.with_borrow_mut(|h| {
            let now = processor();
            let took = now.saturating_sub(std::mem::replace(&mut h.cpu, now));
            let mut log = self.log.lock();
            log.allocated = allocated;
            let letter = if what == Collected::Full { 'F' } else { 'Y' };
            log.by(h).step(format_args!(" {letter}{took}/{before}/{live}"));
        });
    }

    // --- the link -----------------------------------------------------------------

    /// A message of so many bytes goes to a node. Its number among this node's, by which the other one names it. 0: it is not written down.
    pub fn sends(&self, to: &str, bytes: usize) -> u64 {
        if !self.is_on() {
            return 0;
        }
        let number = self.messages.fetch_add(1, Relaxed);
        self.says(format_args!(" s{number}>{to}:{bytes}"));
        number
    }
    /// A message that a node has so numbered is handled on this thread, while `handle` runs.
    pub fn receives<T>(self: &Arc<Self>, from: &str, number: u64, handle: impl FnOnce() -> T) -> T {
        if !self.is_on() || number == 0 {
            return handle();
        }
        let me = Actor::Handler(self.handlers.fetch_add(1, Relaxed));
        let before = HERE.with_borrow_mut(|h| {
            let mut log = self.log.lock();
            charge(&mut log, h, None);
            log.of(me).step(format_args!(" w{from}/{number}"));
            std::mem::replace(h, Here { actor: Some(me), cpu: processor(), recorder: Some(self.clone()), ..Here::default() })
        });
        let done = handle();
        HERE.with_borrow_mut(|h| {
            charge(&mut self.log.lock(), h, None);
            *h = before;
            h.cpu = processor();
        });
        done
    }

    /// A step of whoever this thread is.
    fn says(&self, step: std::fmt::Arguments) {
        if !self.is_on() {
            return;
        }
        HERE.with_borrow_mut(|h| {
            let mut log = self.log.lock();
            charge(&mut log, h, None);
            log.by(h).step(step);
        });
    }
}

/// Something that the calling thread does is needed by what another one does later: a number for that; 0 where nothing is written down.
pub fn mark() -> u64 {
    let Some(r) = HERE.with_borrow(|h| h.recorder.clone()) else { return 0 };
    let number = r.marks.fetch_add(1, Relaxed);
    r.says(format_args!(" m{number}"));
    number
}
/// The calling thread goes on with what was marked so.
pub fn needs(mark: u64) {
    if mark != 0
        && let Some(r) = HERE.with_borrow(|h| h.recorder.clone())
    {
        r.says(format_args!(" q{mark}"));
    }
}

/// What the thread used since it was last asked is its actor's.
fn charge(log: &mut Log, h: &mut Here, allocated: Option<Allocated>) {
    let Some(actor) = h.actor else { return };
    let now = processor();
    let used = now.saturating_sub(std::mem::replace(&mut h.cpu, now));
    log.of(actor);
    if used > 0 {
        let letter = if matches!(actor, Actor::Task(_)) { 'c' } else { 'o' };
        log.step(format_args!(" {letter}{used}"));
    }
    if let Some(a) = allocated {
        let bytes = a.bytes.saturating_sub(log.allocated.bytes);
        let freed = a.freed.saturating_sub(log.allocated.freed).min(bytes);
        log.allocated = a;
        if bytes > 0 {
            log.step(format_args!(" a{bytes}"));
        }
        if freed > 0 {
            log.step(format_args!(" n{freed}"));
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        if *self.on.get_mut() {
            self.log.get_mut().flush();
        }
    }
}

impl std::fmt::Display for Actor {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Actor::Task(n) => write!(f, "t{n}"),
            Actor::Handler(n) => write!(f, "h{n}"),
        }
    }
}

impl Log {
    /// Lines are of this thread's actor from here on; where it has none, of whoever did something last.
    fn by(&mut self, h: &Here) -> &mut Log {
        match h.actor.or(self.last) {
            Some(actor) => self.of(actor),
            None => self,
        }
    }
    /// Steps are this actor's from here on.
    fn of(&mut self, actor: Actor) -> &mut Log {
        if self.writes != Some(actor) {
            let _ = write!(self.text, "{}{actor}", if self.writes.is_some() { "\n" } else { "" });
            self.writes = Some(actor);
        }
        self.last = Some(actor);
        self
    }
    fn step(&mut self, step: std::fmt::Arguments) {
        let _ = self.text.write_fmt(step);
        if self.text.len() >= log::PIECE {
            self.flush_some();
        }
    }
    /// What the worker allocated while it ran no task is nobody's.
    fn allocated_by_nobody(&mut self, a: Allocated) {
        self.allocated = a;
    }
}
