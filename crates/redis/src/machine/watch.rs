//! Keys that are watched.
//!
//! **Invariant.** A key's scripts tell what happens as long as the key says that somebody watches, which it does once the channel is heard, and
//! is renewed while anybody does. The same call brings the key up to date, so that what ends by itself is told within a second.

use super::{How, MS, Machine};
use bytes::Bytes;
use kumi_segments::{Call, Event, Time, What};
use std::collections::BTreeSet;

/// A key that is watched.
pub(super) struct Watched {
    channel: Bytes,
    /// The line on which the channel was asked for, and whether it is heard there.
    on: Option<usize>,
    heard: bool,
    /// It was heard before, or could not be: what happened until it is is not known.
    missed: bool,
    /// So many watches.
    count: usize,
    /// When it is looked at next.
    at: Time,
}

impl Watched {
    /// Its channel is heard no more on the line that it gives.
    fn is_cut(&mut self) -> Option<usize> {
        self.heard = false;
        self.on.take()
    }
}

/// What a watch hears of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happened {
    /// This.
    Event(Event<Bytes>),
    /// Something, it may be: the connection was lost.
    Missed,
    /// Nothing. What happens from now on is told, or that it was missed.
    Heard,
}

/// How often a key is looked at.
const OFTEN: Time = 1000 * MS;
/// How long a key that nobody watches any more is told about, in milliseconds.
pub(super) const LONG: u64 = 60_000;

impl<T> Machine<T> {
    /// Somebody watches a key, once more; from when [`is_watched`](Self::is_watched).
    pub fn watch(&mut self, now: Time, key: &Bytes) {
        if let Some(w) = self.watched.get_mut(key) {
            w.count += 1;
            return;
        }
        let channel = self.options.namespace.watch_channel(key);
        self.watch_channels.insert(channel.clone(), key.clone());
        let on = self.line_of_key(key).filter(|l| self.lines[*l].is_ready());
        self.watched.insert(key.clone(), Watched { channel: channel.clone(), on, heard: false, missed: false, count: 1, at: now });
        if let Some(line) = on {
            self.write_subscribe(line, now, &[channel]);
        }
    }
    /// Is what happens under a key from now on told? If there is no connection, that it was missed is.
    pub fn is_watched(&self, key: &[u8]) -> bool {
        self.watched.get(key).is_none_or(|w| w.heard || w.on.is_none())
    }
    /// The store says that this channel is heard on the line from now on.
    pub(super) fn hears_watched(&mut self, line: usize, now: Time, channel: &Bytes) {
        let Some(key) = self.watch_channels.get(channel) else { return };
        let Some(w) = self.watched.get_mut(key).filter(|w| w.on == Some(line)) else { return };
        (w.heard, w.at) = (true, now);
        self.happened.push((key.clone(), if std::mem::take(&mut w.missed) { Happened::Missed } else { Happened::Heard }));
        self.look_at_watched(now);
    }
    /// Somebody watches it no more.
    pub fn unwatch(&mut self, now: Time, key: &Bytes) {
        let Some(w) = self.watched.get_mut(key) else { return };
        w.count -= 1;
        if w.count > 0 {
            return;
        }
        if let Some(w) = self.watched.remove(key) {
            self.watch_channels.remove(&w.channel);
            if let Some(line) = w.on {
                self.write_unsubscribe(line, now, &[w.channel]);
            }
        }
    }
    /// What has happened since this was asked last, by keys.
    pub fn take_happened(&mut self) -> Vec<(Bytes, Happened)> {
        std::mem::take(&mut self.happened)
    }
    pub(super) fn next_look(&self) -> Option<Time> {
        self.watched.values().filter(|w| w.heard).map(|w| w.at).min()
    }
    pub(super) fn look_at_watched(&mut self, now: Time) {
        if !self.serves() {
            return;
        }
        let due: Vec<Bytes> = self.watched.iter().filter(|(_, w)| w.heard && w.at <= now).map(|(k, _)| k.clone()).collect();
        for key in due {
            if let Some(w) = self.watched.get_mut(&key) {
                w.at = now.saturating_add(OFTEN);
            }
            self.make(now, Call::Stats(key.to_vec()), None, Some(now.saturating_add(OFTEN)), Vec::new(), How::Watch);
        }
    }
    /// There is a connection again, or keys have come to it: what happened meanwhile is not known.
    pub(super) fn watch_again(&mut self, line: usize, now: Time) {
        let mut channels = Vec::new();
        let keys: Vec<Bytes> = self.watched.keys().filter(|k| self.line_of_key(k) == Some(line)).cloned().collect();
        for key in keys {
            let Some(w) = self.watched.get_mut(&key).filter(|w| w.on != Some(line)) else { continue };
            (w.on, w.heard, w.missed) = (Some(line), false, true);
            channels.push(w.channel.clone());
        }
        self.write_subscribe(line, now, &channels);
    }
    /// The same of what is watched.
    pub(super) fn unwatch_moved(&mut self, slots: &BTreeSet<u16>) -> Vec<(usize, Bytes)> {
        let ns = &self.options.namespace;
        let moved = self.watched.iter_mut().filter(|(n, _)| slots.contains(&ns.slot(n)));
        moved.filter_map(|(_, w)| Some((w.is_cut()?, w.channel.clone()))).collect()
    }
    /// Nothing is heard on this line any more.
    pub(super) fn watches_are_cut(&mut self, line: usize) {
        for (key, w) in self.watched.iter_mut().filter(|(_, w)| w.on == Some(line)) {
            w.is_cut();
            // Who waits for it to be heard does so no more.
            self.happened.push((key.clone(), Happened::Heard));
        }
    }
    /// False: it is no channel of a watched key.
    pub(super) fn heard_event(&mut self, channel: &Bytes, payload: &Bytes) -> bool {
        let Some(key) = self.watch_channels.get(channel) else { return false };
        if let Some(e) = read(payload) {
            self.happened.push((key.clone(), Happened::Event(e)));
        }
        true
    }
}

/// What, index, flags, value.
fn read(payload: &Bytes) -> Option<Event<Bytes>> {
    let what = match payload.first()? {
        1 => What::Put,
        2 => What::Update,
        3 => What::Taken,
        4 => What::Back,
        5 => What::Ended,
        _ => return None,
    };
    let index = u64::from_be_bytes(payload.get(1..9)?.try_into().ok()?);
    let shared = payload.get(9)? & 1 == 0;
    let value = (shared && matches!(what, What::Put | What::Update)).then(|| payload.slice(10..));
    Some(Event { what, index, value, missed: 0 })
}
