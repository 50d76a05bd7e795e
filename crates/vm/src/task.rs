//! Tasks: a stack and the little a suspended computation needs besides.
//!
//! **Invariant.** Frames, registers, blocks and handlers of a task live in its
//! stack and nowhere else, and every slot below the top of the running frame is a
//! valid [`Value`] (frame-header words that are addresses or offsets carry the
//! fixnum tag), so that the roots of a task are one slice. Nothing outside the
//! stack holds an address into it: frames, blocks and Home cells use slot numbers.

use crate::native::Call;
use crate::stack::Stack;
use kumi_heap::{Gc, HomeObj, Marker, Value};
use rustc_hash::FxHashMap;

/// What a task is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// Made, `start` not yet called.
    New,
    /// May run (threads), or is the running one.
    Ready,
    /// Fiber that yielded or was never resumed; runs only when resumed.
    Suspended,
    /// Fiber that resumed another one and waits for it.
    Resuming,
    /// Waits for `deadline`, `io` or a wake-up.
    Waiting,
    Done,
}

/// Names one wait of one task, for the wait lists of locks and queues.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ticket {
    pub task: u64,
    pub seq: u64,
}

/// One Thread or Fiber.
pub struct Task {
    pub id: u64,
    pub stack: Stack,
    /// Slot of the running frame's base.
    pub base: usize,
    /// Address of the next instruction word.
    pub pc: usize,
    /// Slot that receives the value a suspended task is resumed with.
    pub dst: usize,
    /// `$!`
    pub err: Value,
    /// Running `catch` calls, outermost first: tag, the frame it returns from, `$!` when it began.
    pub catches: Vec<(Value, usize, Value)>,
    /// Home cells of frames whose closures escaped, by frame, outermost first.
    pub homes: Vec<(usize, Gc<HomeObj>)>,
    pub state: State,
    /// The Thread it belongs to and the Fiber it is (values of their objects; nil: none made yet).
    pub thread: Value,
    pub fiber: Value,
    /// The task that resumed this fiber.
    pub resumer: Option<u64>,
    /// The fiber this one resumed and waits for.
    pub child: Option<u64>,
    /// Belongs to a Ractor that is not the main one.
    pub isolated: bool,
    /// Fiber: to be ended when control comes back to it.
    pub killed: bool,
    /// What it runs first.
    pub start: Option<Call>,
    /// Result of a finished task, or the exception that ended it.
    pub result: Value,
    pub failed: Value,
    /// Exceptions other threads sent, oldest first; `true` stands for kill.
    pub interrupts: Vec<Value>,
    /// Monotonic nanoseconds; `u64::MAX`: no time limit.
    pub deadline: u64,
    pub io: Option<(i32, bool, bool)>,
    /// Set by whoever ended the wait.
    pub woken: bool,
    /// Number of the present wait: a [`Ticket`] is good for the wait it was made for.
    pub wait_seq: u64,
    /// Is it a thread's first task (not a fiber)?
    pub root: bool,
    /// Fiber storage (inherited), and fiber-locals (`Thread#[]`).
    pub storage: Value,
    pub locals: Value,
    /// A resumed value decides the fused jump before `pc`.
    pub jump: bool,
    /// The native that parked, to be called again: call, result register, frame flags.
    pub again: Option<(Call, usize, u64)>,
    /// The park native has parked and is being called again.
    pub parked: bool,
    /// Waits for a thread's end.
    pub joining: bool,
    /// Waits without time limit for something outside (signals).
    pub forever: bool,
    /// A wake-up that came before the wait.
    pub wake_token: bool,
    /// Fiber: left by `Fiber.yield`.
    pub yielding: bool,
    /// What `Thread.handle_interrupt` holds back, innermost first: `[outer, class, how, class, how, ...]`, where
    /// how is 0 at once, 1 at a wait, 2 never; nil: nothing.
    pub masks: Value,
    /// Interrupts wait until a lock is taken back.
    pub held: bool,
    /// Parked calls that run again when the signal handler above them is done, innermost last.
    pub after_signal: Vec<Call>,
}

impl Task {
    pub fn new(id: u64) -> Task {
        Task {
            id,
            stack: Stack::new(),
            base: 0,
            pc: 0,
            dst: 0,
            err: Value::NIL,
            catches: Vec::new(),
            homes: Vec::new(),
            state: State::New,
            thread: Value::NIL,
            fiber: Value::NIL,
            resumer: None,
            child: None,
            killed: false,
            isolated: false,
            start: None,
            result: Value::NIL,
            failed: Value::NIL,
            interrupts: Vec::new(),
            deadline: u64::MAX,
            io: None,
            woken: false,
            wait_seq: 0,
            root: true,
            storage: Value::NIL,
            locals: Value::NIL,
            jump: false,
            again: None,
            parked: false,
            joining: false,
            forever: false,
            wake_token: false,
            yielding: false,
            masks: Value::NIL,
            held: false,
            after_signal: Vec::new(),
        }
    }
    /// Marks everything but the stack.
    pub fn trace(&self, m: &mut Marker) {
        for v in [self.err, self.thread, self.fiber, self.result, self.failed, self.storage, self.locals, self.masks] {
            m.mark(v);
        }
        m.mark_all(&self.interrupts);
        for (t, _, e) in &self.catches {
            m.mark(*t);
            m.mark(*e);
        }
        for (_, h) in &self.homes {
            m.mark(h.val());
        }
        for c in self.start.iter().chain(&self.after_signal).chain(self.again.iter().map(|a| &a.0)) {
            crate::gc::trace_call(c, m);
        }
    }
}

/// All tasks but the running one.
#[derive(Default)]
pub struct Tasks {
    pub all: FxHashMap<u64, Box<Task>>,
    pub next: u64,
    /// Ready threads in turn.
    pub ready: std::collections::VecDeque<u64>,
    /// The main thread's first task.
    pub main_id: u64,
    pub main_thread: Value,
    /// Threads that were started and have not been seen dead.
    pub threads: Vec<Value>,
    pub turn_ends: u64,
    /// When parked tasks are looked at for what their stacks do not use.
    pub next_trim: u64,
    /// `Thread.ignore_deadlock`
    pub ignore_deadlock: bool,
    ticker: bool,
}

impl Tasks {
    /// In a forked child only the thread that forked lives: `id`, of `thread`.
    pub fn after_fork(&mut self, id: u64, thread: Value) {
        self.all.retain(|_, t| t.thread == thread && !t.root);
        self.ready.clear();
        self.main_id = id;
        self.main_thread = thread;
        self.threads.retain(|t| *t == thread);
        self.ticker = false;
    }
    /// Do turns end by time (a second thread was started)?
    pub fn ticking(&self) -> bool {
        self.ticker
    }
    /// Starts the ticker that ends turns. It lives as long as the process: `poll` is a runtime's own
    /// flag, whose runtime is never dropped once threads were used.
    pub fn arm_timer(&mut self, poll: *const std::sync::atomic::AtomicBool) {
        if self.ticker {
            return;
        }
        self.ticker = true;
        let addr = poll as usize;
        std::thread::spawn(move || {
            loop {
                std::thread::sleep(std::time::Duration::from_millis(10));
                // SAFETY: see above.
                unsafe { (*(addr as *const std::sync::atomic::AtomicBool)).store(true, std::sync::atomic::Ordering::Relaxed) };
            }
        });
    }
}
