//! The segments that stand under one key.
//!
//! **Invariant.** Entries stand in the order of their places, which never repeat. Indexes rise with the places too, but for the
//! first `bent` entries: `update` gives the head a fresh index at its old place, and a segment that comes back regains its place.
//! So a search by index looks at the bent ones and halves the rest.

use super::Segment;
use super::timers::Timer;
use crate::planted::{Bug, planted};
use std::collections::VecDeque;

/// A segment at its place.
#[derive(Clone)]
pub(super) struct Entry<V> {
    /// Where it stands among the others; given at its first `put`, kept for life.
    pub place: u64,
    /// Its end by itself (`ttl`); the timer runs while it stands in the queue.
    pub ends: Option<Box<Timer>>,
    pub segment: Segment<V>,
}

pub(super) struct Queue<V> {
    entries: VecDeque<Entry<V>>,
    bent: usize,
}

impl<V> Default for Queue<V> {
    fn default() -> Queue<V> {
        Queue { entries: VecDeque::new(), bent: 0 }
    }
}

impl<V> Queue<V> {
    #[inline]
    pub fn len(&self) -> usize {
        self.entries.len()
    }
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
    pub fn iter(&self) -> impl Iterator<Item = &Entry<V>> {
        self.entries.iter()
    }
    pub fn get(&self, at: usize) -> Option<&Entry<V>> {
        self.entries.get(at)
    }
    /// A new segment, behind all others; its index is the highest.
    #[inline]
    pub fn push(&mut self, e: Entry<V>) {
        self.entries.push_back(e);
    }
    /// The head with a fresh highest index.
    pub fn head_mut(&mut self) -> Option<&mut Entry<V>> {
        let e = self.entries.front_mut()?;
        self.bent = self.bent.max(1);
        Some(e)
    }
    /// A segment that comes back to its place: where it stands now.
    pub fn restore(&mut self, e: Entry<V>) -> usize {
        let at = self.entries.partition_point(|x| x.place < e.place);
        let in_order = at >= self.bent
            && self.entries.get(at).is_none_or(|x| x.segment.index > e.segment.index)
            && (at == 0 || self.entries.get(at - 1).is_some_and(|x| x.segment.index < e.segment.index));
        if at < self.bent {
            self.bent += 1;
        } else if !in_order {
            self.bent = at + 1;
        }
        self.entries.insert(at, e);
        at
    }
    #[inline]
    pub fn remove(&mut self, at: usize) -> Option<Entry<V>> {
        let e = if at == 0 { self.entries.pop_front() } else { self.entries.remove(at) }?;
        if at < self.bent {
            self.bent -= 1;
        }
        if self.entries.capacity() > 1024 && self.entries.len() * 8 < self.entries.capacity() {
            self.entries.shrink_to(self.entries.len() * 2);
        }
        Some(e)
    }
    /// The place in the queue of the segment with the lowest index above `after` that is not among `but`.
    pub fn find_after(&self, after: u64, but: &[usize]) -> Option<usize> {
        let after = after + u64::from(planted(Bug::AfterByOne));
        let bent = self.entries.iter().take(self.bent).enumerate();
        let bent = bent
            .filter(|(i, e)| e.segment.index > after && !but.contains(i))
            .min_by_key(|(_, e)| e.segment.index)
            .map(|(i, e)| (e.segment.index, i));
        let (mut low, mut high) = (self.bent, self.entries.len());
        while low < high {
            let mid = low + (high - low) / 2;
            if self.entries.get(mid).is_some_and(|e| e.segment.index > after) { high = mid } else { low = mid + 1 }
        }
        while but.contains(&low) {
            low += 1;
        }
        let rest = self.entries.get(low).map(|e| (e.segment.index, low));
        match (bent, rest) {
            (Some(a), Some(b)) => Some(a.min(b).1),
            (a, b) => a.or(b).map(|x| x.1),
        }
    }
    /// Where the segment with this place stands.
    pub fn at_place(&self, place: u64) -> Option<usize> {
        let at = self.entries.partition_point(|x| x.place < place);
        (self.entries.get(at)?.place == place).then_some(at)
    }
    /// What the queue itself takes, without its values.
    pub fn bytes(&self) -> usize {
        self.entries.capacity() * size_of::<Entry<V>>()
    }
}
