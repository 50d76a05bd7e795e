//! Those who watch a key.
//!
//! **Invariant.** A watch hears of everything that happens under its key after it began, in order, or is told how much it has
//! missed: it keeps so many events as it was made for.

use super::journal::Journal;
use super::keys::Key;
use super::{KeyId, Manager, Segment, Wake, WatchId};
use slotmap::SlotMap;
use std::collections::VecDeque;

/// What happened to a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// It entered.
    Put,
    /// It replaced the head.
    Update,
    /// Somebody took it.
    Taken,
    /// It came back to its place.
    Back,
    /// Its time was over.
    Ended,
}

/// Something that happened under a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event<V> {
    /// What.
    pub what: What,
    /// The segment's index.
    pub index: u64,
    /// What was put, where it is shared.
    pub value: Option<V>,
    /// So many events before this one were missed.
    pub missed: u64,
}

pub(super) struct Watch<V, W> {
    key: KeyId,
    waiter: Option<W>,
    events: VecDeque<Event<V>>,
    most: usize,
    missed: u64,
    /// It has events that nobody has been woken for.
    news: bool,
}

impl<V, W> Watch<V, W> {
    pub fn each_value(&self, f: &mut impl FnMut(&V)) {
        self.events.iter().filter_map(|e| e.value.as_ref()).for_each(f);
    }
}

/// Keeps an event for each watch of the key. Whoever waits for one is woken when the change is complete.
pub(super) fn tell<V: Clone, W>(watches: &mut SlotMap<WatchId, Watch<V, W>>, k: &Key<V>, what: What, s: &Segment<V>) {
    for id in k.beside.iter().flat_map(|b| &b.watches) {
        let Some(w) = watches.get_mut(*id) else { continue };
        if w.events.len() >= w.most {
            w.events.pop_front();
            w.missed += 1;
        }
        let value = (matches!(what, What::Put | What::Update) && !s.owned).then(|| s.value.clone());
        w.events.push_back(Event { what, index: s.index, value, missed: 0 });
        w.news = true;
    }
}

impl<V: Clone, W, J: Journal<V>> Manager<V, W, J> {
    /// Begins to watch a key; at most `most` events are kept for it.
    pub fn watch(&mut self, key: KeyId, most: usize) -> Option<WatchId> {
        let k = self.keys.get_mut(key)?;
        let w = Watch { key, waiter: None, events: VecDeque::new(), most: most.max(1), missed: 0, news: false };
        let id = self.watches.insert(w);
        k.beside().watches.push(id);
        Some(id)
    }
    /// The next event; with none the waiter is woken when there is one.
    pub fn next_event(&mut self, watch: WatchId, waiter: Option<W>) -> Option<Event<V>> {
        let w = self.watches.get_mut(watch)?;
        match w.events.pop_front() {
            Some(e) => {
                w.waiter = None;
                Some(Event { missed: std::mem::take(&mut w.missed), ..e })
            }
            None => {
                w.waiter = waiter;
                w.news = false;
                None
            }
        }
    }
    /// Ends a watch.
    pub fn unwatch(&mut self, watch: WatchId) {
        if let Some(w) = self.watches.remove(watch) {
            if let Some(b) = self.keys.get_mut(w.key).and_then(|k| k.beside.as_mut()) {
                b.watches.retain(|x| *x != watch);
            }
        }
    }
    /// Wakes those who watch a key and wait for an event.
    pub(super) fn wake_watchers(&mut self, key: KeyId, wake: &mut impl Wake<W>) {
        for id in self.keys.get(key).and_then(|k| k.beside.as_ref()).iter().flat_map(|b| &b.watches) {
            if let Some(w) = self.watches.get_mut(*id) {
                if std::mem::take(&mut w.news) {
                    if let Some(waiter) = w.waiter.take() {
                        wake.wake(&waiter);
                    }
                }
            }
        }
    }
}
