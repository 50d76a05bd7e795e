//! Who waits under which key.
//!
//! **Invariant.** A call waits under one key, of whose segments it lacks one, or room. It was asked for after the store had said that
//! the key's channel is heard, and after the last message on it. When something comes under the key, what was due there is due, or the channel
//! is heard anew, those who wait look again: all who only peek, and of the others, in the order of their age, as many at a time as
//! segments stand there. Puts under a key are done in the order in which they were made: each names the one before it to the store, and
//! waits behind one that waits.
//!
//! Of takes that any segment does for, with leases of one length, the oldest that waits is served first, as soon as the channel is heard.
//! Several may look at a time, and what comes between two of them is given to the younger: the older, which waits again by then, has it
//! instead ([`Machine::oldest`]). For that none looks behind a younger one that is alike.

use super::{How, MS, Machine, Step};
use bytes::Bytes;
use kumi_segments::{Ask, Call, KeyStats, Kind, Time};
use std::collections::BTreeSet;

#[derive(Default)]
pub(super) struct Key {
    channel: Bytes,
    /// The line on which the channel was asked for; `None`: it was not, on these connections.
    on: Option<usize>,
    /// How many commands that had written when the channel was heard of last; `None`: it is not heard yet.
    heard: Option<u64>,
    takers: BTreeSet<u64>,
    /// Those of them that any segment does for, by the lengths of their leases.
    simple: BTreeSet<(Lease, u64)>,
    peekers: BTreeSet<u64>,
    putters: BTreeSet<u64>,
    /// Takers that look now because of what has come, and how many may.
    trying: BTreeSet<u64>,
    may: usize,
    /// All looks that are under way that any segment does for. None begins to look while a younger one with a lease as long does.
    looking: BTreeSet<(Lease, u64)>,
    /// A putter looks again; there may be room for another meanwhile.
    putting: bool,
    room: bool,
    round: u64,
    pub due: Option<Time>,
    idle: Option<Time>,
}

/// A call that was answered, and looks no more.
pub(super) struct Looked {
    key: Bytes,
    /// It was to look because of what had come.
    poked: bool,
    of_put: bool,
}

/// So long after nobody waits under it a key's channel is heard no more.
const IDLE: Time = 10_000 * MS;

/// Where a call waits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum As {
    Taker,
    Peeker,
    Putter,
}

fn kind_of(call: &Call<Bytes>) -> As {
    match call {
        Call::Put(_) => As::Putter,
        Call::Get(ask) if ask.inputs.iter().any(|i| i.1 == Kind::Take) => As::Taker,
        _ => As::Peeker,
    }
}

/// The key under which it is done after those that were made before it.
fn ordered(call: &Call<Bytes>) -> Option<&[u8]> {
    match call {
        Call::Put(put) if put.wait && !put.store.update => Some(&put.store.key),
        _ => None,
    }
}

/// How long what is taken is leased; `None`: it is taken for good.
type Lease = Option<Time>;

/// A take of the head of one key: it can be served when any can.
struct Simple<'a> {
    key: &'a [u8],
    lease: Lease,
    waits: bool,
}

fn simple(call: &Call<Bytes>) -> Option<Simple<'_>> {
    let Call::Get(Ask { inputs, lease, wait }) = call else { return None };
    let [(key, Kind::Take, None)] = &inputs[..] else { return None };
    Some(Simple { key, lease: *lease, waits: *wait })
}

impl Key {
    fn line(&mut self, of: As) -> &mut BTreeSet<u64> {
        match of {
            As::Taker => &mut self.takers,
            As::Peeker => &mut self.peekers,
            As::Putter => &mut self.putters,
        }
    }
    fn add(&mut self, name: u64, call: &Call<Bytes>) {
        self.line(kind_of(call)).insert(name);
        self.simple.extend(simple(call).map(|s| (s.lease, name)));
    }
    fn remove(&mut self, name: u64, call: &Call<Bytes>) {
        self.line(kind_of(call)).remove(&name);
        if let Some(s) = simple(call) {
            self.simple.remove(&(s.lease, name));
        }
    }
    /// Its channel is heard no more.
    fn is_cut(&mut self) {
        (self.on, self.heard, self.putting, self.room, self.may) = (None, None, false, false, 0);
        self.trying.clear();
    }
    fn is_idle(&self) -> bool {
        self.takers.is_empty()
            && self.peekers.is_empty()
            && self.putters.is_empty()
            && self.trying.is_empty()
            && self.looking.is_empty()
            && !self.putting
    }
    /// The oldest taker that may look. `lease`: of one that has not looked in this round, how long its lease is, if any segment does for it.
    fn next_taker(&self, lease: impl Fn(u64) -> Option<Option<Lease>>) -> Option<u64> {
        let behind = |l: Lease, n: u64| self.looking.range((l, n)..=(l, u64::MAX)).next().is_some();
        // Where they are all alike nobody is older than who has to wait.
        let alike = self.simple.len() == self.takers.len() && self.simple.first().map(|s| s.0) == self.simple.last().map(|s| s.0);
        for n in self.takers.iter().copied() {
            match lease(n) {
                None => {}
                Some(Some(l)) if behind(l, n) => {
                    if alike {
                        return None;
                    }
                }
                Some(_) => return Some(n),
            }
        }
        None
    }
}

impl<T> Machine<T> {
    /// Where others wait before it for the same, a new call does not try before them. What others wait for may be missing while there
    /// is something for this one.
    pub(super) fn joins_line(&mut self, name: u64) -> bool {
        let Some(p) = self.calls.get(&name) else { return false };
        let (key, waits, takes) = match (&p.call, simple(&p.call)) {
            (_, Some(s)) => (s.key, s.waits, true),
            (Call::Put(put), _) if !put.store.update => (&put.store.key[..], put.wait, false),
            _ => return false,
        };
        let Some((key, k)) = self.keys.get_key_value(key).filter(|(_, k)| k.on.is_some()) else { return false };
        let others = if takes { !k.simple.is_empty() } else { !k.putters.is_empty() };
        if !waits || !others {
            return false;
        }
        let key = key.clone();
        self.stands(&key, name);
        true
    }
    /// A call is made. Puts that wait for room are done in the order in which they were made: each names the one before it to the store.
    pub(super) fn stands_in_order(&mut self, name: u64) {
        let Some(key) = self.calls.get(&name).and_then(|p| ordered(&p.call)) else { return };
        let key = Bytes::copy_from_slice(key);
        self.puts.entry(key).or_default().insert(name);
    }
    /// A call is over. Who waits behind it may try.
    pub(super) fn leaves_order(&mut self, name: u64, call: &Call<Bytes>) {
        let Some(key) = ordered(call) else { return };
        if let Some(all) = self.puts.get_mut(key) {
            all.remove(&name);
            if all.is_empty() {
                self.puts.remove(key);
            }
        }
        let waits = |k: &Key| !k.putters.is_empty() && k.heard.is_some();
        let Some((key, k)) = self.keys.get_key_value(key).filter(|(_, k)| waits(k)) else { return };
        let (key, putting) = (key.clone(), k.putting);
        match self.keys.get_mut(&key).filter(|_| putting) {
            Some(k) => k.room = true,
            None => self.looks_soon(&key),
        }
    }
    fn put_made_before(&self, key: &[u8], name: u64) -> Option<&super::Pending<T>> {
        let before = self.puts.get(key)?.range(..name).next_back()?;
        self.calls.get(before)
    }
    /// Row and number of the put before it that is under way.
    pub(super) fn put_before(&self, key: &[u8], name: u64) -> Option<(u32, u64)> {
        let p = self.put_made_before(key, name).filter(|_| self.puts.get(key).is_some_and(|all| all.contains(&name)))?;
        Some((p.row?, p.number))
    }
    /// Where a put before it waits for room, it does so too.
    pub(super) fn follows_one_that_waits(&mut self, name: u64) -> bool {
        let Some(key) = self.calls.get(&name).and_then(|p| ordered(&p.call)) else { return false };
        let Some(Step::Waits(key)) = self.put_made_before(key, name).map(|p| &p.step) else { return false };
        let key = key.clone();
        self.stands(&key, name);
        true
    }
    fn stands(&mut self, key: &Bytes, name: u64) {
        let (Some(p), Some(k)) = (self.calls.get_mut(&name), self.keys.get_mut(key)) else { return };
        p.step = Step::Waits(key.clone());
        k.add(name, &p.call);
        if let Some(at) = k.idle.take() {
            self.idle.remove(&(at, key.clone()));
        }
    }
    /// A call is sent that asks for segments.
    pub(super) fn looks(&mut self, name: u64) {
        let Some(Simple { key, lease, .. }) = self.calls.get(&name).and_then(|p| simple(&p.call)) else { return };
        if let Some(k) = self.keys.get_mut(key) {
            k.looking.insert((lease, name));
        }
    }
    /// Whose the segment is that the store has given this take: its own, unless an older one waits for the same. That one goes on
    /// with what this one has asked for, and this one waits or asks anew.
    pub(super) fn oldest(&mut self, now: Time, name: u64) -> u64 {
        let Some(p) = self.calls.get(&name).filter(|p| p.token.is_some()) else { return name };
        let Some(Simple { key, lease, waits }) = simple(&p.call) else { return name };
        let Some((key, k)) = self.keys.get_key_value(key) else { return name };
        let Some((_, older)) = k.simple.range((lease, 0)..(lease, name)).next().copied() else { return name };
        let key = key.clone();
        self.stops_waiting(now, &key, older);
        let Some(mut p) = self.calls.remove(&name) else { return name };
        if let Some(o) = self.calls.get_mut(&older) {
            std::mem::swap(&mut p.number, &mut o.number);
            (o.step, o.line, o.sent_at) = (Step::Sent, p.line, p.sent_at);
        }
        p.step = Step::Queued;
        p.earlier.clear();
        self.calls.insert(name, p);
        if waits {
            // There may be more.
            self.stands(&key, name);
            self.takers_look(now, &key);
        } else {
            self.send(now, name);
        }
        older
    }
    /// A call waits under a key no more.
    pub(super) fn stops_waiting(&mut self, now: Time, key: &Bytes, name: u64) {
        let (Some(p), Some(k)) = (self.calls.get(&name), self.keys.get_mut(key)) else { return };
        k.remove(name, &p.call);
        self.may_be_idle(now, key);
    }
    fn may_be_idle(&mut self, now: Time, key: &Bytes) {
        let Some(k) = self.keys.get_mut(key) else { return };
        if k.is_idle() && k.idle.is_none() {
            let at = now.saturating_add(IDLE);
            k.idle = Some(at);
            self.idle.insert((at, key.clone()));
        }
    }
    /// Channels are heard no more under whose keys nobody has waited for a while.
    pub(super) fn close_idle(&mut self, now: Time) {
        let mut closed = Vec::new();
        while let Some((_, key)) = self.idle.first().filter(|(at, _)| *at <= now).cloned() {
            self.idle.pop_first();
            // Somebody may be looking by now.
            if let Some(k) = self.keys.get_mut(&key).filter(|k| !k.is_idle()) {
                k.idle = None;
                continue;
            }
            let Some(k) = self.keys.remove(&key) else { continue };
            self.channels.remove(&k.channel);
            if let Some(at) = k.due {
                self.dues.remove(&(at, key));
            }
            closed.extend(k.on.map(|line| (line, k.channel)));
        }
        for line in 0..if closed.is_empty() { 0 } else { self.lines.len() } {
            let its: Vec<Bytes> = closed.iter().filter(|c| c.0 == line).map(|c| c.1.clone()).collect();
            self.write_unsubscribe(line, now, &its);
        }
    }

    /// The store has not, under this key, what the call wants. In so many milliseconds something is due there.
    pub(super) fn missing(&mut self, now: Time, key: &Bytes, name: u64, due: Option<u64>) {
        if !self.keys.contains_key(key) {
            let channel = self.options.namespace.channel(key);
            self.channels.insert(channel.clone(), key.clone());
            self.keys.insert(key.clone(), Key { channel, ..Key::default() });
        }
        let line = self.line_of_key(key);
        let (Some(p), Some(k)) = (self.calls.get(&name), self.keys.get_mut(key)) else { return };
        let (simple, hears) = (simple(&p.call).is_some(), k.heard.is_some());
        let of_put = kind_of(&p.call) == As::Putter;
        let again = match (k.heard, line) {
            // It was asked for before the channel was heard of, or elsewhere.
            (Some(from), _) => p.line.map(usize::from) != k.on || p.sent_at <= from,
            (None, Some(line)) if self.lines[line].is_ready() => {
                // It looks again once the channel is heard.
                if k.on.replace(line) != Some(line) {
                    let channel = k.channel.clone();
                    self.write_subscribe(line, now, &[channel]);
                }
                false
            }
            (None, _) => true,
        };
        match again {
            // As others may that have stood for longer.
            true if simple && hears => {
                self.stands(key, name);
                self.takers_look(now, key);
            }
            true if of_put && hears => {
                self.stands(key, name);
                self.try_putters(now, key);
            }
            true => self.send(now, name),
            false => {
                // There is nothing at all.
                if let Some(k) = self.keys.get_mut(key).filter(|_| simple) {
                    k.may = 0;
                }
                self.stands(key, name);
                self.set_due(now, key, due);
            }
        }
        self.may_be_idle(now, key);
    }
    fn set_due(&mut self, now: Time, key: &Bytes, due: Option<u64>) {
        let Some(k) = self.keys.get_mut(key) else { return };
        let Some(at) = due.map(|ms| now.saturating_add(ms.saturating_add(1).saturating_mul(MS))) else { return };
        if k.due.is_some_and(|d| d <= at) {
            return;
        }
        if let Some(d) = k.due.replace(at) {
            self.dues.remove(&(d, key.clone()));
        }
        self.dues.insert((at, key.clone()));
    }
    /// Under this key something was due.
    pub(super) fn something_due(&mut self, now: Time, key: &Bytes) {
        if self.keys.get(key).is_some_and(|k| k.heard.is_some()) {
            self.try_again(now, key, 1);
            self.try_putters(now, key);
        }
    }
    pub(super) fn heard_message(&mut self, now: Time, channel: &Bytes, payload: &[u8]) {
        let Some(key) = self.channels.get(channel).cloned() else { return };
        // Whoever waits looks once it is said to be heard.
        if self.keys.get(&key).is_none_or(|k| k.heard.is_none()) {
            return;
        }
        self.heard_of(&key);
        if payload == b"r" {
            return self.try_putters(now, &key);
        }
        let standing = std::str::from_utf8(payload).ok().and_then(|t| t.parse().ok()).unwrap_or(1);
        self.try_again(now, &key, standing);
    }
    /// What was asked for before may have been answered before.
    fn heard_of(&mut self, key: &Bytes) {
        if let Some(k) = self.keys.get_mut(key) {
            k.heard = k.heard.and(k.on).map(|line| self.lines[line].written());
        }
    }
    /// The store says that this channel is heard on the line from now on.
    pub(super) fn hears_key(&mut self, line: usize, now: Time, channel: &Bytes) {
        let Some(key) = self.channels.get(channel).cloned() else { return };
        let Some(k) = self.keys.get_mut(&key).filter(|k| k.on == Some(line)) else { return };
        k.heard = Some(self.lines[line].written());
        self.try_again(now, &key, 1);
        self.try_putters(now, &key);
    }
    /// Those who wait for segments look again; so many of the takers at a time.
    fn try_again(&mut self, now: Time, key: &Bytes, may: usize) {
        let Some(k) = self.keys.get_mut(key) else { return };
        k.may = may;
        for name in std::mem::take(&mut k.peekers) {
            self.send(now, name);
        }
        self.takers_look(now, key);
        self.may_be_idle(now, key);
    }
    /// A round in which the takers look, one at least.
    fn takers_look(&mut self, now: Time, key: &Bytes) {
        self.rounds += 1;
        let Some(k) = self.keys.get_mut(key) else { return };
        (k.round, k.may) = (self.rounds, k.may.max(1));
        self.try_takers(now, key);
    }
    fn try_takers(&mut self, now: Time, key: &Bytes) {
        while let Some(k) = self.keys.get_mut(key).filter(|k| k.trying.len() < k.may) {
            let round = k.round;
            let calls = &self.calls;
            let untried = |n| calls.get(&n).filter(|p| p.round != round).map(|p| simple(&p.call).map(|s| s.lease));
            let Some(name) = k.next_taker(untried) else { break };
            k.trying.insert(name);
            if let Some(p) = self.calls.get_mut(&name) {
                k.remove(name, &p.call);
                (p.round, p.poked) = (round, Some(key.clone()));
            }
            self.send(now, name);
        }
    }
    /// The oldest put that waits for room tries again.
    fn try_putters(&mut self, now: Time, key: &Bytes) {
        let Some(k) = self.keys.get_mut(key) else { return };
        k.room = k.putting;
        if k.putting {
            return;
        }
        let Some(name) = k.putters.pop_first() else { return };
        k.putting = true;
        if let Some(p) = self.calls.get_mut(&name) {
            p.poked = Some(key.clone());
        }
        self.send(now, name);
    }
    /// What came of a call that looked ([`has_looked`](Self::has_looked)); it may have ended by it. `found`: what it looked for was
    /// there.
    pub(super) fn tried(&mut self, now: Time, looked: &Looked, found: bool) {
        let Looked { key, poked, of_put } = looked;
        let Some(k) = self.keys.get_mut(key) else { return };
        if *of_put {
            k.putting = false;
            if found || k.room {
                self.try_putters(now, key);
            }
        } else {
            if found && *poked {
                // There may be more.
                k.may = k.may.saturating_sub(1).max(1);
            }
            self.try_takers(now, key);
        }
        self.may_be_idle(now, key);
    }
    /// A call looks no more, for it was answered. `None`: nobody waits for that.
    pub(super) fn has_looked(&mut self, name: u64) -> Option<Looked> {
        let p = self.calls.get_mut(&name)?;
        let poked = p.poked.take();
        let simple = simple(&p.call).filter(|_| p.asks());
        let key = match (&poked, &simple) {
            (Some(key), _) => key.clone(),
            (None, Some(s)) => self.keys.get_key_value(s.key)?.0.clone(),
            (None, None) => return None,
        };
        let of_put = matches!(p.call, Call::Put(_));
        if let Some(k) = self.keys.get_mut(&key) {
            k.trying.remove(&name);
            if let Some(s) = simple {
                k.looking.remove(&(s.lease, name));
            }
        }
        Some(Looked { key, poked: poked.is_some(), of_put })
    }

    /// Nothing is heard on this line any more.
    pub(super) fn subscriptions_are_cut(&mut self, line: usize) {
        let mut cut = BTreeSet::new();
        for (key, k) in self.keys.iter_mut().filter(|(_, k)| k.on == Some(line)) {
            k.is_cut();
            cut.insert(key.clone());
        }
        self.are_poked_no_more(&cut);
        self.watches_are_cut(line);
    }
    /// Under these keys nobody looks because of what has come: their channels are cut.
    fn are_poked_no_more(&mut self, cut: &BTreeSet<Bytes>) {
        for p in self.calls.values_mut().filter(|p| p.poked.as_ref().is_some_and(|k| cut.contains(k))) {
            p.poked = None;
        }
    }
    /// A call is over, answered or not. If it was to look, others may.
    pub(super) fn looks_no_more(&mut self, name: u64, p: &super::Pending<T>) {
        let simple = simple(&p.call);
        let key = p.poked.as_ref().or_else(|| self.keys.get_key_value(simple.as_ref()?.key).map(|(key, _)| key)).cloned();
        let Some((key, k)) = key.and_then(|key| Some((key.clone(), self.keys.get_mut(&key)?))) else { return };
        let looked = simple.is_some_and(|s| k.looking.remove(&(s.lease, name)));
        if p.poked.is_some() {
            match kind_of(&p.call) {
                As::Putter => k.putting = false,
                _ => {
                    k.trying.remove(&name);
                }
            }
        }
        if looked || p.poked.is_some() {
            self.looks_soon(&key);
        }
    }
    fn looks_soon(&mut self, key: &Bytes) {
        if let Some(at) = self.keys.get_mut(key).and_then(|k| k.due.replace(0)) {
            self.dues.remove(&(at, key.clone()));
        }
        self.dues.insert((0, key.clone()));
    }
    /// Keys in these slots are heard of no more where they were: their channels, by lines.
    pub(super) fn unhear(&mut self, slots: &BTreeSet<u16>) -> Vec<(usize, Bytes)> {
        let ns = &self.options.namespace;
        let mut cut = Vec::new();
        let mut moved = BTreeSet::new();
        for (key, k) in self.keys.iter_mut().filter(|(n, _)| slots.contains(&ns.slot(n))) {
            cut.extend(k.on.map(|line| (line, k.channel.clone())));
            k.is_cut();
            moved.insert(key.clone());
        }
        self.are_poked_no_more(&moved);
        cut
    }
    /// There is a connection, or keys have come to it: everybody who waits there looks again as soon as its channel is heard.
    pub(super) fn look_again(&mut self, line: usize, now: Time) {
        let cut = self.keys.iter().filter(|(n, k)| k.on.is_none() && self.line_of_key(n) == Some(line));
        let (keys, channels): (Vec<Bytes>, Vec<Bytes>) = cut.map(|(n, k)| (n.clone(), k.channel.clone())).unzip();
        self.write_subscribe(line, now, &channels);
        for key in &keys {
            if let Some(k) = self.keys.get_mut(key) {
                k.on = Some(line);
            }
        }
    }
    /// How many wait here.
    pub(super) fn count_waiting(&self, key: &[u8], stats: &mut KeyStats) {
        if let Some(k) = self.keys.get(key) {
            stats.waiting = k.takers.len() + k.peekers.len() + k.trying.len();
            stats.waiting_puts = k.putters.len() + usize::from(k.putting);
        }
    }
    /// Brings some keys up to date that nobody asks for, so that what has ended takes no room.
    pub(super) fn sweep(&mut self, now: Time) {
        self.sweep_at = now.saturating_add(2000 * MS);
        if self.cluster.is_some() {
            return self.sweep_nodes(now);
        }
        let after = (!self.sweep_from.is_empty()).then(|| self.sweep_from.clone());
        let call = Call::Names { prefix: Vec::new(), after, most: super::ask::SWEEP };
        self.make(now, call, None, Some(self.sweep_at), Vec::new(), How::Sweep(None));
    }
}
