//! What outlives a manager, and how one is made again from it.
//!
//! **Invariant.** A [`Journal`] that keeps, of each place of each key, the last thing it was told, and the counters of each key that it was
//! told of, has all that a manager is made from again. A segment under a lease stands at its place, with the deliveries
//! that it has then: who has it dies with the manager.

use super::keys::Key;
use super::queue::Entry;
use super::timers::Due;
use super::{KeyId, Manager, New, Segment, Time};
use std::num::NonZeroUsize;

/// Where a segment stands among those of its key: rises with each that comes, stays for life, never repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place(pub u64);

/// Hears of each change that is to outlive the manager. It is called in the midst of a change.
pub trait Journal<V> {
    /// A segment stands at this place now, or is another than it was: it has entered, replaced the head, was taken under a lease or came
    /// back. `ends`: when its time is over.
    #[inline]
    fn stands(&mut self, _key: KeyId, _place: u64, _segment: &Segment<V>, _ends: Option<Time>) {}
    /// A segment enters later; it has this place until then.
    #[inline]
    fn later(&mut self, _key: KeyId, _place: u64, _new: &New<V>) {}
    /// Nothing stands at this place any more.
    #[inline]
    fn gone(&mut self, _key: KeyId, _place: u64) {}
    /// The key's limit is another.
    #[inline]
    fn limited(&mut self, _key: KeyId) {}
    /// The key is forgotten; indexes of new keys begin above `floor`.
    #[inline]
    fn forgotten(&mut self, _key: KeyId, _floor: u64) {}
}

/// Nothing outlives the manager.
impl<V> Journal<V> for () {}

/// What a key's future depends on, beside what stands there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeyCounts {
    /// The last index given out.
    pub last_index: u64,
    /// The last place given out.
    pub last_place: u64,
    /// The limit of its queue.
    pub limit: Option<NonZeroUsize>,
}

impl<V: Clone, W, J: Journal<V>> Manager<V, W, J> {
    /// The journal.
    pub fn journal(&mut self) -> &mut J {
        &mut self.journal
    }
    /// Counters and limit of a key.
    pub fn counts_of(&self, key: KeyId) -> Option<KeyCounts> {
        let k = self.keys.get(key)?;
        let limit = k.beside.as_ref().and_then(|b| b.limit);
        Some(KeyCounts { last_index: k.last, last_place: k.last_place(), limit })
    }
    /// Indexes of new keys begin above.
    pub fn restore_floor(&mut self, floor: u64) {
        self.names.raise_floor(floor);
    }
    /// A key as it was. The journal is told of nothing that is restored.
    pub fn restore_key(&mut self, name: &[u8], counts: KeyCounts) -> KeyId {
        let id = self.key(name);
        if let Some(k) = self.keys.get_mut(id) {
            k.restore(&counts);
        }
        id
    }
    /// A segment comes to its place again. Nobody waits yet. False: it can not have been there, by the key's counters or
    /// what stands there already.
    pub fn restore(&mut self, key: KeyId, place: Place, segment: Segment<V>, ends: Option<Time>) -> bool {
        let Some(k) = self.keys.get_mut(key).filter(|k| k.may_restore(place.0) && segment.index <= k.last && segment.index > 0) else {
            return false;
        };
        let ends = ends.map(|at| Box::new(self.timers.set(at, Due::Ends(key, place.0))));
        k.queue.restore(Entry { place: place.0, ends, segment });
        true
    }
    /// A segment that enters later, as [`restore`](Self::restore).
    pub fn restore_later(&mut self, key: KeyId, place: Place, new: New<V>) -> bool {
        let Some(k) = self.keys.get_mut(key).filter(|k| k.may_restore(place.0)) else { return false };
        let timer = self.timers.set(new.not_before.unwrap_or(0), Due::Enters(key, place.0));
        k.beside().delayed.insert(place.0, (timer, new));
        true
    }
}

impl<V> Key<V> {
    fn may_restore(&self, place: u64) -> bool {
        let delayed = self.beside.as_ref().is_some_and(|b| b.delayed.contains_key(&place));
        place > 0 && place <= self.last_place() && !delayed && self.queue.at(place).is_none()
    }
}
