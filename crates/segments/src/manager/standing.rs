//! Requests of those who hold on to them, whether they are answered at once or later.

use super::journal::Journal;
use super::queue::Entry;
use super::request::Want;
use super::{Hold, Input, KeyId, Kind, Manager, New, RequestId, Segment, Stale, Time, Wake};
use smallvec::SmallVec;

/// What touches nothing but a key's queue. `None`: something waits, watches or counts time; the general calls do it then.
impl<V: Clone, W, J: Journal<V>> Manager<V, W, J> {
    /// The segment at the head of a key's queue.
    pub fn head(&self, key: KeyId) -> Option<&Segment<V>> {
        Some(&self.keys.get(key)?.queue.head()?.segment)
    }
    /// A put of a value that stands until it is taken: its index.
    #[inline]
    pub fn quick_put(&mut self, key: KeyId, value: V, owned: bool) -> Option<u64> {
        let k = self.keys.get_mut(key)?;
        if k.beside.is_some() || k.is_waited_for() || self.timers.next().is_some() {
            return None;
        }
        self.counts.entered += 1;
        let (place, index) = (k.place(), k.index());
        let segment = Segment { index, value, owned, changed: false, deliveries: 0 };
        self.journal.stands(key, place, &segment, None);
        k.queue.push(Entry { place, ends: None, segment });
        Some(index)
    }
    /// The head, for good.
    #[inline]
    pub fn quick_take(&mut self, key: KeyId) -> Option<Segment<V>> {
        let k = self.keys.get_mut(key)?;
        if k.beside.is_some() || self.timers.next().is_some() {
            return None;
        }
        let Entry { place, segment: mut s, .. } = k.queue.pop()?;
        self.journal.gone(key, place);
        self.counts.taken += 1;
        s.deliveries = s.deliveries.saturating_add(1);
        Some(s)
    }
    /// The head, as it stands.
    #[inline]
    pub fn quick_peek(&self, key: KeyId) -> Option<&Segment<V>> {
        if self.timers.next().is_some() {
            return None;
        }
        Some(&self.keys.get(key)?.queue.head()?.segment)
    }
}

impl<V: Clone, W, J: Journal<V>> Manager<V, W, J> {
    /// As [`get`](Self::get), but the answer stands until it is claimed even when everything is there at once: `wake` may hear of
    /// the waiter before this returns.
    ///
    /// # Errors
    /// An index to look behind that was not given out yet.
    pub fn stand(&mut self, now: Time, inputs: &[Input], hold: Hold, waiter: W, wake: &mut impl Wake<W>) -> Result<RequestId, Stale> {
        self.catch_up(now, wake);
        self.check(inputs)?;
        match self.choose(inputs) {
            Ok(at) => {
                let got = self.grab(now, inputs, &at, hold);
                let id = self.wait(waiter, hold, Want::Answers(SmallVec::new()), KeyId::default());
                self.note_asker(id, &got, hold);
                self.answer(id, Want::Answers(got), wake);
                self.settle(now, wake);
                Ok(id)
            }
            Err(missing) => {
                let takes = inputs.iter().any(|i| i.kind == Kind::Take);
                Ok(self.wait(waiter, hold, Want::Inputs(inputs.into(), takes), missing))
            }
        }
    }
    /// The segments that stand under a key, with their indexes, in their order.
    pub fn each_segment(&self, key: KeyId, mut f: impl FnMut(u64, &V)) {
        if let Some(k) = self.keys.get(key) {
            k.queue.iter().for_each(|e| f(e.segment.index, &e.segment.value));
        }
    }
    /// Puts another form of the same value in its place, if the segment with that index still stands there.
    pub fn exchange(&mut self, key: KeyId, index: u64, value: V) -> bool {
        let Some(k) = self.keys.get_mut(key) else { return false };
        let place = index.checked_sub(1).and_then(|below| k.queue.find_after(below, &[]));
        match place.and_then(|at| k.queue.at_mut(at)).filter(|e| e.segment.index == index) {
            Some(e) => {
                e.segment.value = value;
                true
            }
            None => false,
        }
    }
    /// The key of a leased segment.
    pub fn key_of(&self, lease: super::LeaseId) -> Option<KeyId> {
        self.leases.get(lease).map(|l| l.key)
    }
    /// A put that waits for room, or has it at once. `None`: it only waits for room.
    pub fn stand_for_room(&mut self, now: Time, key: KeyId, new: Option<New<V>>, waiter: W, wake: &mut impl Wake<W>) -> RequestId {
        self.catch_up(now, wake);
        let id = self.wait_for_room(key, new, waiter);
        self.unsettled.push(key);
        self.settle(now, wake);
        id
    }
}
