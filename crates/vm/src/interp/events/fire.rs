//! Blocks are called for events, and what waited goes on.

use crate::Cx;
use crate::doors::*;
use crate::tasks::frame::ff;
use crate::tasks::outcome::Outcome;
use crate::tasks::task::Stage;
use crate::trace::{After, Due, Entry, Events};
use kumi_bytecode::HEADER;
use kumi_heap::Value;

/// Slots for the helper's frame and a block's.
const ROOM: usize = 128;

impl Cx {
    /// Calls the blocks for `events`; then comes `after`.
    pub(super) fn fire(&mut self, events: Events, after: After) -> Outcome {
        let due = std::mem::take(&mut self.trace.due);
        // Where the stack is at its end nothing is told.
        let up = self.fp().iseq().nregs as usize + HEADER as usize + ROOM;
        if !self.has_room(self.fp(), up) && !self.grow_stack(up) {
            return self.go_on(after, due);
        }
        let hooks = self.trace.hooks.clone();
        let err = std::mem::replace(&mut self.task.err, Value::NIL);
        let t = self.task.tracing.get_or_insert_default();
        t.entries.push(Entry { hooks, events, event: 0, hook: 0, current: 0, after, due, err, open: false });
        let name = self.intern("trace");
        self.do_call(Call::new(Target::Helper(name), Value::NIL, Args::new()), 0, ff::DISCARD | ff::TRACE)
    }
    /// The helper's frame was left: what waited for it is done.
    #[cold]
    #[inline(never)]
    pub(crate) fn after_trace(&mut self) -> Outcome {
        let Some(e) = self.task.tracing.as_mut().and_then(|t| t.entries.pop()) else { return Outcome::Go };
        self.task.err = e.err;
        self.go_on(e.after, e.due)
    }
    fn go_on(&mut self, after: After, due: Due) -> Outcome {
        self.trace.due = due;
        match after {
            After::Nothing => Outcome::Go,
            After::Instruction => {
                // In the plain loop nobody asks.
                if self.trace.on {
                    self.task.tracing.get_or_insert_default().skip = true;
                }
                // SAFETY: the event came when the instruction's first word had been fetched.
                self.pc = unsafe { self.pc.sub(1) };
                Outcome::Go
            }
            After::Dispatch(m, r) => {
                self.trace.told = self.trace.on;
                self.dispatch(m, *r)
            }
            After::Call(c) => self.do_call(c.0, c.1, c.2),
            After::Value(v, dst, flags) => self.deliver(v, dst, flags),
            After::Unwind(what, left) => {
                self.trace.due.clear();
                if left.is_some() && self.trace.on {
                    self.task.tracing.get_or_insert_default().left = left;
                }
                self.unwind(what)
            }
            After::Finish(left) => {
                self.task.stage = Stage::Left(left);
                self.finish_task()
            }
        }
    }
    /// The helper's frame is left by unwinding: what waited for it is forgotten.
    #[cold]
    #[inline(never)]
    pub(crate) fn abandon_trace(&mut self) {
        let on = self.trace.on;
        if let Some(t) = self.task.tracing.as_mut()
            && let Some(e) = t.entries.pop()
        {
            t.skip = false;
            // The frame below has told of its leaving, and is left now by something else.
            t.left = match e.after {
                After::Unwind(_, left) if on => left,
                _ => None,
            };
        }
    }
}
