//! The segments that stand under one key.
//!
//! **Invariant.** Entries stand in the order of their places, which never repeat. Indexes rise with the places too, but for entries
//! up to the place `bent`: `update` gives the head a fresh index at its old place, and a segment that comes back regains its place.
//! So a search by index looks at the bent ones and halves the rest.
//!
//! The first ones stand in one run, and where there are many the others in runs of limited length: whoever takes from the midst
//! moves one run. No run but the first is empty.

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

type Run<V> = VecDeque<Entry<V>>;

/// Runs are cut in two when they are longer.
const LONGEST: usize = 512;

pub(super) struct Queue<V> {
    first: Run<V>,
    rest: VecDeque<Run<V>>,
    len: usize,
    bent: u64,
}

impl<V> Default for Queue<V> {
    fn default() -> Queue<V> {
        Queue { first: Run::new(), rest: VecDeque::new(), len: 0, bent: 0 }
    }
}

impl<V> Queue<V> {
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    pub fn iter(&self) -> impl Iterator<Item = &Entry<V>> {
        self.first.iter().chain(self.rest.iter().flatten())
    }
    #[inline]
    pub fn head(&self) -> Option<&Entry<V>> {
        self.first.front()
    }
    /// A new segment, behind all others; its index is the highest.
    #[inline]
    pub fn push(&mut self, e: Entry<V>) {
        self.len += 1;
        if self.rest.is_empty() && self.first.len() < LONGEST {
            self.first.push_back(e);
        } else {
            self.push_far(e);
        }
    }
    #[cold]
    fn push_far(&mut self, e: Entry<V>) {
        match self.rest.back_mut() {
            Some(run) if run.len() < LONGEST / 2 => run.push_back(e),
            _ => {
                let mut run = Run::with_capacity(LONGEST / 2);
                run.push_back(e);
                self.rest.push_back(run);
            }
        }
    }
    /// The head with a fresh highest index.
    pub fn head_mut(&mut self) -> Option<&mut Entry<V>> {
        let e = self.first.front_mut()?;
        self.bent = self.bent.max(e.place);
        Some(e)
    }
    /// The head, taken out.
    #[inline]
    pub fn pop(&mut self) -> Option<Entry<V>> {
        let e = self.first.pop_front()?;
        self.len -= 1;
        self.shrink();
        Some(e)
    }
    #[inline]
    fn shrink(&mut self) {
        if self.first.is_empty() {
            if let Some(run) = self.rest.pop_front() {
                self.first = run;
                if self.rest.is_empty() {
                    self.rest = VecDeque::new();
                }
            } else if self.first.capacity() > LONGEST / 4 {
                self.first.shrink_to(LONGEST / 8);
            }
        }
    }
    fn run(&self, at: usize) -> Option<&Run<V>> {
        if at == 0 { Some(&self.first) } else { self.rest.get(at - 1) }
    }
    fn run_mut(&mut self, at: usize) -> Option<&mut Run<V>> {
        if at == 0 { Some(&mut self.first) } else { self.rest.get_mut(at - 1) }
    }
    /// The number of the first run whose last entry does not satisfy this, which those before it do.
    fn run_where(&self, before: impl Fn(&Entry<V>) -> bool) -> usize {
        let is = |run: &Run<V>| run.back().is_none_or(&before);
        if is(&self.first) { 1 + self.rest.partition_point(is) } else { 0 }
    }
    fn seek(&self, place: u64) -> Option<(usize, usize)> {
        let at = self.run_where(|e| e.place < place);
        let run = self.run(at)?;
        let i = run.partition_point(|e| e.place < place);
        (run.get(i)?.place == place).then_some((at, i))
    }
    /// The segment with this place.
    pub fn at(&self, place: u64) -> Option<&Entry<V>> {
        let (run, i) = self.seek(place)?;
        self.run(run)?.get(i)
    }
    /// The same, to be changed; its place and index must stay.
    pub fn at_mut(&mut self, place: u64) -> Option<&mut Entry<V>> {
        let (run, i) = self.seek(place)?;
        self.run_mut(run)?.get_mut(i)
    }
    /// Takes out the segment with this place.
    #[inline]
    pub fn remove(&mut self, place: u64) -> Option<Entry<V>> {
        if self.first.front()?.place == place { self.pop() } else { self.remove_far(place) }
    }
    fn remove_far(&mut self, place: u64) -> Option<Entry<V>> {
        let (at, i) = self.seek(place)?;
        let run = self.run_mut(at)?;
        let e = run.remove(i)?;
        if at > 0 && run.is_empty() {
            self.rest.remove(at - 1);
        }
        self.len -= 1;
        self.shrink();
        Some(e)
    }
    /// A segment that comes back to its place.
    pub fn restore(&mut self, e: Entry<V>) {
        let (place, index) = (e.place, e.segment.index);
        let mut at = self.run_where(|x| x.place < place);
        if at > self.rest.len() {
            // Behind all: the last run has room, or another begins.
            at = self.rest.len();
            if self.run(at).is_some_and(|r| r.len() >= LONGEST) {
                self.rest.push_back(Run::new());
                at += 1;
            }
        }
        let before = at.checked_sub(1).and_then(|n| self.run(n)?.back());
        let before = before.map(|x| (x.place, x.segment.index));
        let bent = self.bent;
        let Some(run) = self.run_mut(at) else { return };
        let i = run.partition_point(|x| x.place < place);
        let before = i.checked_sub(1).and_then(|i| run.get(i)).map(|x| (x.place, x.segment.index)).or(before);
        let follows = before.is_none_or(|(p, x)| p <= bent || x < index);
        let in_order = follows && run.get(i).is_none_or(|x| x.segment.index > index);
        run.insert(i, e);
        let half = (run.len() > LONGEST).then(|| run.split_off(LONGEST / 2));
        if let Some(half) = half {
            self.rest.insert(at, half);
        }
        self.len += 1;
        if place > bent && !in_order {
            self.bent = place;
        }
    }
    /// The place of the segment with the lowest index above `after` that is not at one of `but`.
    pub fn find_after(&self, after: u64, but: &[u64]) -> Option<u64> {
        let after = after + u64::from(planted(Bug::AfterByOne));
        let fits = |e: &&Entry<V>| e.segment.index > after && !but.contains(&e.place);
        let bent = self.iter().take_while(|e| e.place <= self.bent).filter(fits).min_by_key(|e| e.segment.index);
        // Of the others those that are not above come first.
        let before = |e: &Entry<V>| e.place <= self.bent || e.segment.index <= after;
        let at = self.run_where(before);
        let in_run = self.run(at).map_or(0, |run| run.partition_point(before));
        let runs = (at..=self.rest.len()).filter_map(|n| self.run(n)).enumerate();
        let rest = runs.flat_map(|(n, run)| run.iter().skip(if n == 0 { in_run } else { 0 })).find(|e| !but.contains(&e.place));
        bent.into_iter().chain(rest).min_by_key(|e| e.segment.index).map(|e| e.place)
    }
    /// What the queue itself takes, without its values.
    pub fn bytes(&self) -> usize {
        let rest: usize = self.rest.iter().map(|r| r.capacity()).sum();
        (self.first.capacity() + rest) * size_of::<Entry<V>>() + self.rest.capacity() * size_of::<Run<V>>()
    }
}
