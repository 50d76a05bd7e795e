//! Those who watch a key of a store.

use crate::handle::Shared;
use bytes::Bytes;
use kumi_segments::Event;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::{Arc, Weak};

/// Hears of everything that happens under a key, once it is in the file. Dropped, it ends.
pub struct Watch {
    pub(crate) number: u64,
    pub(crate) news: Arc<News>,
    pub(crate) store: Weak<Shared>,
}

/// Events that were not read yet.
pub struct News {
    pub most: usize,
    ring: Box<dyn Fn() + Send + Sync>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    events: VecDeque<Event<Bytes>>,
    over: bool,
}

impl News {
    pub fn new(most: usize, ring: Box<dyn Fn() + Send + Sync>) -> News {
        News { most, ring, state: Mutex::default() }
    }
    pub fn add(&self, events: Vec<Event<Bytes>>) {
        {
            let mut s = self.state.lock();
            s.events.extend(events);
            // What is dropped is counted by the event that comes first then.
            while s.events.len() > self.most {
                let missed = 1 + s.events.pop_front().map_or(0, |e| e.missed);
                s.events.front_mut().into_iter().for_each(|e| e.missed += missed);
            }
        }
        (self.ring)();
    }
    pub fn end(&self) {
        self.state.lock().over = true;
        (self.ring)();
    }
}

impl Watch {
    /// The next event, if there is one.
    pub fn next(&self) -> Option<Event<Bytes>> {
        self.news.state.lock().events.pop_front()
    }
    /// Will there be no more?
    pub fn is_over(&self) -> bool {
        let s = self.news.state.lock();
        s.over && s.events.is_empty()
    }
    /// Ends it.
    pub fn close(&self) {
        if let Some(store) = self.store.upgrade() {
            store.unwatch(self.number);
        }
        self.news.end();
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(store) = self.store.upgrade() {
            store.unwatch(self.number);
        }
    }
}
