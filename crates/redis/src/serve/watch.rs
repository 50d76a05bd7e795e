//! Watches: what has happened under a key and was not asked for yet.
//!
//! **Invariant.** A watch keeps so many events as it was made for, and says how many it has missed; one at least where the connection was
//! lost meanwhile.

use super::{State, Store};
use crate::machine::Happened;
use bytes::Bytes;
use kumi_segments::Event;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// Is called when there is news. It takes no lock of the store's.
pub type Ring = Arc<dyn Fn() + Send + Sync>;

struct Watch {
    key: Bytes,
    most: usize,
    events: VecDeque<Event<Bytes>>,
    missed: u64,
    ring: Ring,
}

#[derive(Default)]
pub(super) struct Watches {
    all: HashMap<u64, Watch>,
    last: u64,
    closed: bool,
}

impl Watches {
    /// They hear no more.
    pub fn close(&mut self) {
        self.closed = true;
    }
}

impl State {
    /// Gives watches what has happened; who is to be rung.
    pub(super) fn hand_out(&mut self) -> Vec<Ring> {
        let happened = self.machine.take_happened();
        if happened.is_empty() && !self.watches.closed {
            return Vec::new();
        }
        let mut rings = Vec::new();
        for w in self.watches.all.values_mut() {
            let before = w.events.len();
            for (_, event) in happened.iter().filter(|(key, _)| *key == w.key) {
                let e = match event {
                    Happened::Event(e) => e,
                    Happened::Missed => {
                        w.missed += 1;
                        continue;
                    }
                    Happened::Heard => continue,
                };
                if w.events.len() >= w.most {
                    w.events.pop_front();
                    w.missed += 1;
                }
                w.events.push_back(e.clone());
            }
            if w.events.len() != before || !happened.is_empty() || self.watches.closed {
                rings.push(w.ring.clone());
            }
        }
        rings
    }
}

impl Store {
    /// What happens under a key: so many events are kept. The result names the watch. It [has begun](Self::has_begun) soon: who rings says so.
    pub fn watch(&self, key: &[u8], most: usize, ring: Ring) -> u64 {
        let key = Bytes::copy_from_slice(key);
        self.shared.with(|s, now| {
            s.watches.last += 1;
            let w = Watch { key: key.clone(), most: most.max(1), events: VecDeque::new(), missed: 0, ring };
            s.watches.all.insert(s.watches.last, w);
            s.machine.watch(now, &key);
            s.watches.last
        })
    }
    /// Is what happens from now on told, or that it was missed?
    pub fn has_begun(&self, watch: u64) -> bool {
        let s = self.shared.state.lock();
        s.watches.closed || s.watches.all.get(&watch).is_none_or(|w| s.machine.is_watched(&w.key))
    }
    /// The next event, if there is one; `Err`: the watch is over.
    ///
    /// # Errors
    /// The watch is over, or the store was closed.
    pub fn next_event(&self, watch: u64) -> Result<Option<Event<Bytes>>, ()> {
        let mut s = self.shared.state.lock();
        let closed = s.watches.closed;
        let Some(w) = s.watches.all.get_mut(&watch) else { return Err(()) };
        match w.events.pop_front() {
            Some(mut e) => {
                e.missed += std::mem::take(&mut w.missed);
                Ok(Some(e))
            }
            None if closed => Err(()),
            None => Ok(None),
        }
    }
    /// The watch is over.
    pub fn unwatch(&self, watch: u64) {
        self.shared.with(|s, now| {
            if let Some(w) = s.watches.all.remove(&watch) {
                s.machine.unwatch(now, &w.key);
            }
        });
    }
}
