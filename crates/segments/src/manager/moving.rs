//! What a node does that gives its segments to another: it looks what stands here, takes it out with its times, and puts it back where
//! the other did not take it.

use super::journal::Journal;
use super::request::Want;
use super::{KeyId, LeaseId, Manager, New, RequestId, Time, Wake};

impl<V: Clone, W, J: Journal<V>> Manager<V, W, J> {
    /// The names of keys under which something stands, or will.
    pub fn standing(&self) -> Vec<&[u8]> {
        let later = |b: &super::keys::Beside<V>| !b.delayed.is_empty();
        let there = self.keys.values().filter(|k| !k.queue.is_empty() || k.beside.as_deref().is_some_and(later));
        let mut all: Vec<&[u8]> = there.map(|k| &*k.name).collect();
        all.sort_unstable();
        all
    }
    /// Takes out what is to enter a key's queue next, and when.
    pub fn pull_delayed(&mut self, key: KeyId) -> Option<(Time, New<V>)> {
        let b = self.keys.get_mut(key)?.beside.as_mut()?;
        let (place, (timer, new)) = b.delayed.pop_first()?;
        self.journal.gone(key, place);
        self.timers.cancel(timer);
        self.unsettled.push(key);
        Some((timer.at(), new))
    }
    /// Leases that somebody holds who was named by [`set_holder`](Self::set_holder): they end, and the segments come back.
    pub fn end_held(&mut self, now: Time, wake: &mut impl Wake<W>) -> usize {
        self.catch_up(now, wake);
        let held: Vec<LeaseId> = self.leases.iter().filter(|(_, l)| l.holder != 0).map(|x| x.0).collect();
        // The last first, so that takes that wait see the queue as it was.
        held.iter().rev().for_each(|l| self.put_back(now, *l));
        self.settle(now, wake);
        held.len()
    }
    /// Is one of the keys that a waiting request is about such a key?
    pub(crate) fn waits_for(&self, id: RequestId, mut such: impl FnMut(&[u8]) -> bool) -> bool {
        let Some(r) = self.requests.get(id) else { return false };
        let mut is = |key: KeyId| self.keys.get(key).is_some_and(|k| such(&k.name));
        match &r.want {
            Want::Inputs(inputs, _) => inputs.iter().any(|i| is(i.key)),
            Want::Room(_) => is(r.at),
            Want::Answers(_) | Want::Stored(_) | Want::HasRoom => false,
        }
    }
}
