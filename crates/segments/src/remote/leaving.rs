//! An owner that goes, or whose keys go: who waits is told, and nothing new is begun.
//!
//! **Invariant.** A call that is refused here has changed nothing: whoever made it may make it elsewhere.

use super::message::{Call, Done, Refusal, Watch};
use super::owner::{Both, Node, Send, State, Woken, answered, drop_call, index, refused, reply};
use crate::manager::{RequestId, Time};

impl<V: Clone, W> Node<V, W> {
    /// The node is about to go: calls that wait end with [`Refusal::Leaving`], and so does from now on each that is not about
    /// segments its client has already.
    pub fn drain(&mut self, now: Time, mut wake: impl FnMut(&W), send: Send<V>) {
        self.draining = true;
        self.flush(now, send);
        self.end_waits(now, Refusal::Leaving, &mut |_, _| true, &mut wake, send);
        self.flush(now, send);
    }
    /// Was [`drain`](Self::drain) called?
    pub fn is_draining(&self) -> bool {
        self.draining
    }
    /// Calls that wait for a key of which `mine` says no end with [`Refusal::Moved`].
    pub fn turn_away(&mut self, now: Time, mut mine: impl FnMut(&[u8]) -> bool, mut wake: impl FnMut(&W), send: Send<V>) {
        self.flush(now, send);
        let mut others = |node: &Node<V, W>, id| node.manager().waits_for(id, |name| !mine(name));
        self.end_waits(now, Refusal::Moved, &mut others, &mut wake, send);
        self.flush(now, send);
    }
    /// What clients hold comes back, and their runs will hear so: how many segments that were.
    pub fn end_leases(&mut self, now: Time, wake: impl FnMut(&W), send: Send<V>) -> usize {
        let ended = self.with(wake, |m, w| m.end_held(now, w));
        self.flush(now, send);
        ended
    }
    fn end_waits(&mut self, now: Time, why: Refusal, which: &mut dyn FnMut(&Self, RequestId) -> bool, wake: Woken<W>, send: Send<V>) {
        let mut waits: Vec<(Box<[u8]>, u64)> = Vec::new();
        for (name, s) in &self.sessions {
            let of = s.calls.iter().filter(|(_, state)| match state {
                State::Waiting(id, _) => which(self, *id),
                // A watch stays with its node.
                State::Watching(_) => why == Refusal::Leaving,
                State::Answered(..) => false,
            });
            waits.extend(of.map(|(n, _)| (name.clone(), *n)));
        }
        for (client, call) in waits {
            let Some(s) = self.sessions.get_mut(&client) else { continue };
            let Some(state) = s.end(&call) else { continue };
            // A put that has found room meanwhile is done.
            let state = match drop_call(&mut self.manager, now, state, &mut Both(&mut *wake, &mut self.answered)) {
                Some(stored) => answered(Done::Stored(index(stored))),
                None => refused(why),
            };
            if let Some(s) = self.sessions.get_mut(&client) {
                reply(self.incarnation, now, &client, s, call, &state, send);
                s.set(call, state);
            }
        }
    }
    /// Is a call not begun any more?
    pub(super) fn turns_down(&self, call: &Call<V>) -> bool {
        let ends = match call {
            Call::Leave(_) | Call::GiveBack { .. } | Call::Extend { .. } | Call::Names { .. } | Call::Stats(_) => true,
            Call::Commit { leases, .. } => !leases.is_empty(),
            Call::Watch(w) => matches!(w, Watch::End(_)),
            Call::Put(_) | Call::Get(_) | Call::Limit(..) => false,
        };
        self.draining && !ends
    }
}
