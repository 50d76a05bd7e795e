//! What a thread does just now.

use crate::{By, Recorder};
use std::cell::RefCell;
use std::sync::Arc;

/// Whose steps are written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Actor {
    /// A thread of the program: the number of its first task.
    Task(u64),
    /// The handling of a message.
    Handler(u64),
}

/// A thread.
#[derive(Clone, Debug)]
pub struct Here {
    /// Whose work it does.
    pub actor: Option<Actor>,
    /// Its processor time when that was last written down.
    pub cpu: u64,
    /// What ends waits.
    pub by: By,
    /// Where it is written down.
    pub recorder: Option<Arc<Recorder>>,
}

impl Here {
    const NONE: Here = Here { actor: None, cpu: 0, by: By::Actor, recorder: None };
}

impl Default for Here {
    fn default() -> Here {
        Here::NONE
    }
}

thread_local! {
    pub static HERE: RefCell<Here> = const { RefCell::new(Here::NONE) };
}
