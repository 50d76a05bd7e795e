//! Values as the manager of a store has them.
//!
//! **Invariant.** A large value whose bytes are not in memory is in the file, under the key and place that it names, until the group
//! of calls is written that removes it from there.

use bytes::Bytes;
use parking_lot::Mutex;
use std::sync::Arc;

/// Longer values stay on disk, and are read when somebody asks for them.
pub const LARGE: usize = 1024;

/// Bytes, or where they are.
#[derive(Clone, Debug)]
pub enum Value {
    Small(Bytes),
    Large(Arc<Large>),
}

#[derive(Debug)]
pub struct Large {
    pub len: usize,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    bytes: Option<Bytes>,
    /// Where it is in the file.
    at: Option<At>,
}

/// The number of a key in the file, and a place.
pub type At = (u64, u64);

impl Value {
    pub fn new(bytes: Bytes) -> Value {
        if bytes.len() <= LARGE {
            return Value::Small(bytes);
        }
        Value::Large(Arc::new(Large { len: bytes.len(), state: Mutex::new(State { bytes: Some(bytes), at: None }) }))
    }
    pub fn on_disk(len: usize, at: At) -> Value {
        Value::Large(Arc::new(Large { len, state: Mutex::new(State { bytes: None, at: Some(at) }) }))
    }
}

impl Large {
    pub fn held(&self) -> Option<Bytes> {
        self.state.lock().bytes.clone()
    }
    pub fn at(&self) -> Option<At> {
        self.state.lock().at
    }
    /// Keeps them in memory.
    pub fn hold(&self, bytes: Bytes) {
        self.state.lock().bytes = Some(bytes);
    }
    /// It is in the file there, and need not be in memory.
    pub fn stored(&self, at: At) {
        *self.state.lock() = State { bytes: None, at: Some(at) };
    }
    /// Whoever asked has it; where it is in the file, it need not be in memory.
    pub fn release(&self) {
        let mut s = self.state.lock();
        if s.at.is_some() {
            s.bytes = None;
        }
    }
    /// It is in the file no more.
    pub fn removed(&self) {
        self.state.lock().at = None;
    }
}
