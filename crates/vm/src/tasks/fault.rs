//! A panic inside the runtime: an error of the runtime's own, and no reason to end the process.
//!
//! The loop runs inside one `catch_unwind` for each time it is entered (`Cx::run`), which costs nothing until somebody
//! panics. What the panic unwinds through lets go of its locks by their guards' drop. The thread it happened in then gets a
//! `fatal`, raised at the running instruction, whose message names the place in the runtime; the process's panic hook
//! has told the same by then. Where no task runs (a timer, an event), the main thread gets it.
//!
//! **Invariant.** Whatever must not be seen half done has an `Whole` around it: a panic in there ends the process, because
//! nothing could go on after it. That is the heap while it is collected, and nothing else.

use crate::Cx;
use crate::doors::NO_METHOD;
use crate::doors::Pending;
use crate::tasks::outcome::Onward;
use crate::tasks::outcome::Outcome;
use crate::tasks::task::State;
use kumi_budget::Catcher;
use kumi_heap::*;
use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::atomic::Ordering::Relaxed;

/// Exit status of a process whose runtime is past help.
pub const STATUS: i32 = 70;

thread_local! {
    /// What the last panic of this OS thread said, and where.
    static LAST: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// For the process's panic hook: what happened and where. It is noted for the `fatal` that comes of it.
pub fn note(info: &PanicHookInfo) -> String {
    let place = info.location().map_or(String::new(), |l| format!(" at {}:{}", l.file(), l.line()));
    let text = format!("internal error: {}{place}", said(info.payload()));
    LAST.with(|l| {
        if let Ok(mut l) = l.try_borrow_mut() {
            *l = Some(text.clone());
        }
    });
    text
}

fn said(what: &(dyn Any + Send)) -> String {
    let text = what.downcast_ref::<&str>().map(|s| s.to_string()).or_else(|| what.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "panic".into())
}

/// What a panic of this OS thread, which was caught just now, said.
fn last(what: &(dyn Any + Send)) -> String {
    LAST.with(|l| l.borrow_mut().take()).unwrap_or_else(|| format!("internal error: {}", said(what)))
}

/// What ended work that a native gave away.
pub(crate) enum Fault {
    /// A panic, and what it said.
    Panic(String),
    /// It was refused memory.
    NoRoom,
}

/// Does such work: what it gives, or what ended it.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, Fault> {
    let _catcher = Catcher::new();
    let of = |e: Box<dyn Any + Send>| if kumi_budget::is_refusal(&*e) { Fault::NoRoom } else { Fault::Panic(last(&*e)) };
    catch_unwind(AssertUnwindSafe(work)).map_err(of)
}

impl Cx {
    /// Runs the current task until its first frame is left. The result or the exception is in the task.
    pub(crate) fn run(&mut self) {
        self.run_from(Outcome::Go);
    }
    /// As above, when `first` was done.
    pub(crate) fn run_from(&mut self, first: Outcome) {
        let (mut first, mut panic) = (Some(first), None);
        let mut again = false;
        let (_catcher, _charged) = (Catcher::new(), self.account.charge());
        loop {
            let done = catch_unwind(AssertUnwindSafe(|| {
                let f = match panic.take() {
                    Some(p) => self.panicked(p),
                    None => first.take().unwrap_or(Outcome::Go),
                };
                again = false;
                if self.settle(f) || std::mem::take(&mut self.trace.swap) {
                    self.run_loop();
                }
            }));
            match done {
                Ok(()) => return,
                // Telling of a panic panicked.
                Err(_) if again => end(),
                Err(p) => (panic, again) = (Some(p), true),
            }
        }
    }
    /// After a panic: what was under way in this worker is forgotten, and the thread gets a `fatal`.
    #[cold]
    #[inline(never)]
    fn panicked(&mut self, what: Box<dyn Any + Send>) -> Outcome {
        // Telling of it needs some memory.
        let _told = kumi_budget::Whole::new();
        let fault = if kumi_budget::is_refusal(&*what) { Fault::NoRoom } else { Fault::Panic(last(&*what)) };
        drop(what);
        self.heap.end_placed(Placed::Nothing);
        self.heap.end_place();
        self.nested = 0;
        self.onward = Onward::default();
        self.pending = Pending::default();
        self.detour = Default::default();
        self.switch_to = None;
        self.raising_native = NO_METHOD;
        let e = self.of_fault(fault);
        let t = self.task;
        let at = self.fp as *const Value;
        if t.id != 0 && t.state() == State::Ready && t.stack.start_ptr() < at as *mut _ && at < t.stack.end_ptr() as *const _ {
            return self.raise_exc(e);
        }
        if let Some(main) = self.tasks.get(self.tasks.main.load(Relaxed)) {
            self.send_interrupt(main, e);
        }
        self.then(Onward::Run)
    }
    /// What a piece of work that a native gave away came to.
    ///
    /// # Errors
    /// It panicked.
    pub(crate) fn of_work<T>(&mut self, r: Result<T, Fault>) -> Result<T, crate::Exit> {
        r.map_err(|f| {
            let e = self.of_fault(f);
            self.raise(e)
        })
    }
    /// The exception that stands for it. Where memory was refused, the next safepoint looks for more.
    pub(crate) fn of_fault(&mut self, f: Fault) -> Value {
        match f {
            Fault::Panic(text) => self.fatal(&text),
            Fault::NoRoom => {
                self.heap.request_full();
                self.make_exc(self.k.no_memory_error, "failed to allocate memory")
            }
        }
    }
    /// An exception that no program names.
    pub(crate) fn fatal(&mut self, text: &str) -> Value {
        let c = self.fatal_class();
        self.make_exc(c, text)
    }
    /// Its class.
    pub(crate) fn fatal_class(&mut self) -> Gc<ClassObj> {
        match self.own_path("KumiSys::Fatal").and_then(|v| v.as_class()) {
            Some(c) => {
                self.heap.edit(c).data.name = Some(b"fatal".as_slice().into());
                c
            }
            None => self.k.exception,
        }
    }
}

/// While it lives a panic ends the process: what is half done must not be seen. Nothing is refused meanwhile.
pub(crate) struct Whole(kumi_budget::Whole);

impl Whole {
    #[inline]
    pub(crate) fn begin() -> Whole {
        Whole(kumi_budget::Whole::new())
    }
}

impl Drop for Whole {
    #[inline]
    fn drop(&mut self) {
        if std::thread::panicking() {
            end();
        }
    }
}

/// The hook has told of it.
fn end() -> ! {
    // SAFETY: ends the process; nothing of it is looked at any more.
    unsafe { libc::_exit(STATUS) }
}
