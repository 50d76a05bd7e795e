//! A call that somebody waits for.
//!
//! **Invariant.** Whoever ends it puts the end there before he rings; whoever waits sets his bell before he looks.

use crate::host::arrivals::Arrivals;
use crate::host::{After, Incoming};
use crate::talk::message::How;
use kumi_core_segments::encode::Symbols;
use kumi_vm::*;
use kumi_wire::Bytes;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;

/// What a call has come to.
pub enum Ended {
    /// An answer, what its references are here, and the symbols that its node has made.
    Answer(How, Bytes, Arrivals, Arc<Symbols>),
    /// There was none.
    Lost(Outcome, String),
}

/// What is known of a call that had no answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    NotSent,
    PerhapsDone,
    Done,
}

/// See the module.
pub struct Pending {
    state: Mutex<State>,
    /// The block that it was given: the call's object keeps it alive.
    block: Option<Value>,
    /// No thread waits for it from the beginning on.
    future: bool,
}

#[derive(Default)]
struct State {
    bell: Option<Waker>,
    ended: Option<Ended>,
    /// It has ended, though somebody may have taken that.
    over: bool,
    /// Of its end, in a recording.
    mark: u64,
    /// Calls of its block.
    back: VecDeque<Incoming>,
}

impl State {
    /// Whoever has this goes on with its end, once.
    fn needed(&mut self, is: bool) {
        if is {
            kumi_record::needs(std::mem::take(&mut self.mark));
        }
    }
}

// SAFETY: the block is published, and handed out by workers only.
unsafe impl Send for Pending {}
// SAFETY: as above.
unsafe impl Sync for Pending {}

impl Pending {
    pub fn new(block: Option<Value>, future: bool) -> Arc<Pending> {
        Arc::new(Pending { state: Mutex::default(), block, future })
    }
    pub fn block(&self) -> Option<Value> {
        self.block
    }
    pub fn is_future(&self) -> bool {
        self.future
    }
    pub fn set_bell(&self, w: Waker) {
        self.state.lock().bell = Some(w);
    }
    /// It is over. Not under the host's lock.
    pub fn end(&self, e: Ended) {
        let bell = {
            let mut s = self.state.lock();
            s.ended = Some(e);
            s.over = true;
            s.mark = kumi_record::mark();
            s.bell.take()
        };
        if let Some(w) = bell {
            w.wake();
        }
    }
    /// What it has come to, once.
    pub fn take(&self) -> Option<Ended> {
        let mut s = self.state.lock();
        let ended = s.ended.take();
        s.needed(ended.is_some());
        ended
    }
    /// It is not wanted any more, nor what it has come to. Who waits for it.
    pub fn leave(&self) -> Option<Waker> {
        let mut s = self.state.lock();
        let ended = s.ended.take();
        s.needed(ended.is_some());
        let bell = s.bell.take();
        drop(s);
        drop(ended);
        bell
    }
    /// A value without references that it has come to, once.
    pub fn take_plain(&self) -> Option<(Bytes, Arc<Symbols>)> {
        let mut s = self.state.lock();
        let plain = matches!(&s.ended, Some(Ended::Answer(How::Value, _, arrivals, _)) if arrivals.all().is_empty());
        s.needed(plain);
        match s.ended.take_if(|_| plain) {
            Some(Ended::Answer(_, bytes, _, symbols)) => Some((bytes, symbols)),
            _ => None,
        }
    }
    /// It stays so once it is.
    pub fn has_ended(&self) -> bool {
        self.state.lock().over
    }
    /// Its block is called.
    pub fn called_back(&self, i: Incoming, after: &mut After) {
        let mut s = self.state.lock();
        s.back.push_back(i);
        after.wake(s.bell.take());
    }
    /// Is its block called?
    pub fn is_called_back(&self) -> bool {
        !self.state.lock().back.is_empty()
    }
    /// The next call of its block.
    pub fn take_back(&self) -> Option<Incoming> {
        self.state.lock().back.pop_front()
    }
}
