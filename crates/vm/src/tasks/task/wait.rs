//! What a task that waits, or gave its worker up, has for when it goes on.

use crate::doors::{Call, Target};
use crate::tasks::aside::Wanted;
use kumi_heap::Marker;
use smallvec::SmallVec;
use std::any::Any;

/// Which native waits, and what it must know when it is called again. It is set by the native before it parks and taken by the
/// native that is called again; an interrupt that ends the wait clears it. So it also stands while the task is ready, and says
/// nothing of whether the wait is over. Times are monotonic nanoseconds; `u64::MAX`: none.
#[derive(Debug, Default)]
pub enum Wait {
    #[default]
    Nothing,
    /// `sleep`.
    Sleep { since: u64, until: u64 },
    /// `Thread#join`.
    Join { until: u64 },
    /// `__park`, until somebody wakes it.
    Park,
    /// A signal of a condition variable or a mutex.
    Signal,
    /// `Thread.pass`.
    Pass,
    /// A job of the pool, and what that gave once it is done: whoever hears of it puts it here, under the table's lock, while the
    /// task waits.
    Job(Option<Box<dyn Any + Send>>),
    /// A child process.
    Child { since: u64 },
    /// The collection it asked for.
    Collect,
    /// A descriptor, but not for ever.
    Io { until: u64 },
    /// Very long work that goes on aside.
    Aside(Wanted),
}

/// What comes first when a task that gave its worker up, or waited, runs again.
#[derive(Default)]
pub(crate) enum Next {
    /// It goes on where it stands.
    #[default]
    Here,
    /// The instruction of so many words, before which `pc` stands, is executed again.
    Instruction(u8),
    /// A native that parked is called again, or a call comes before all else.
    Call(Box<Again>),
}

/// A call that comes first.
pub(crate) struct Again {
    pub call: Call,
    /// Result register and frame flags.
    pub dst: usize,
    pub flags: u64,
    /// It comes before an instruction of so many words that is executed again (a signal's handler); 0: before none.
    pub words: u8,
}

impl Next {
    pub fn call(call: Call, dst: usize, flags: u64) -> Next {
        Next::Call(Box::new(Again { call, dst, flags, words: 0 }))
    }
    /// How far `pc` stands before the place in which the task waits.
    pub fn words(&self) -> u8 {
        match self {
            Next::Here => 0,
            Next::Instruction(words) => *words,
            Next::Call(again) => again.words,
        }
    }
    /// The native that is called again.
    pub fn native(&self) -> Option<u32> {
        match self {
            Next::Call(again) => match again.call.target {
                Target::Method(m) => Some(m),
                _ => None,
            },
            Next::Here | Next::Instruction(_) => None,
        }
    }
    pub fn trace(&self, m: &mut Marker) {
        if let Next::Call(again) = self {
            crate::doors::trace_call(&again.call, m);
        }
    }
}

/// Where the value goes that a task which does not run is resumed with.
#[derive(Clone, Copy)]
pub(crate) enum Takes {
    Nothing,
    /// A slot of its stack.
    Slot(usize),
    /// It decides the fused jump before `pc`.
    Jump,
}

/// A wait that a signal handler interrupts.
pub(crate) struct Interrupted {
    /// The native that waited; `None`: its instruction is executed again.
    pub call: Option<Call>,
    pub wait: Wait,
}

/// Descriptors that are watched for a wait which something else may end, and that wait's number.
pub(crate) struct Watched {
    pub seq: u64,
    pub fds: SmallVec<[i32; 4]>,
}
