//! Calls as commands.

use super::line::Tag;
use super::{How, KEEP, MS, Machine, Pending, Step};
use crate::resp::{Command, command};
use crate::script::Script;
use bytes::Bytes;
use kumi_segments::{Back, Call, Kind, Put, Store, Time};

/// Names that one command looks at.
pub(super) const PAGE: u32 = 500;
/// Keys that a sweep looks at.
pub(super) const SWEEP: u32 = 100;

/// Of so many askings that were not answered it is looked after what they have taken; that of others comes back when its lease is over.
const EARLIER: usize = 64;

/// A take's lease is doubled up to this.
const LONG: Time = 600_000 * MS;

fn ms(ns: Option<Time>) -> u64 {
    ns.map_or(0, |ns| ns.div_ceil(MS))
}

/// How long it lasts, in milliseconds; 0: for ever.
fn ttl(s: &Store<Bytes>) -> u64 {
    s.ttl.map_or(0, |t| t.div_ceil(MS).max(1))
}

fn bits(s: &Store<Bytes>) -> u64 {
    u64::from(s.owned) | if s.update { 2 } else { 0 }
}

/// What a put is but for its value: nothing, where it is just put.
fn how(s: &Store<Bytes>) -> String {
    match (s.update, s.delay, s.ttl) {
        (false, None, None) => String::new(),
        _ => format!("{} {} {}", bits(s), ms(s.delay), ttl(s)),
    }
}

/// Its entry behind the index, but for the value: its end, its deliveries, its flags.
fn tail(s: &Store<Bytes>) -> [u8; 13] {
    let mut t = [0; 13];
    t[12] = s.owned.into();
    t
}

/// The name of a get's lease in the store, without its input's number.
pub(super) fn lease_name(client: &str, number: u64) -> String {
    format!("{client}.{number}")
}

impl<T> Machine<T> {
    /// Sends a call, or its next step; without a connection it is sent when there is one.
    pub(super) fn send(&mut self, now: Time, name: u64) {
        if self.follows_one_that_waits(name) || self.waits_for_window(name) {
            return;
        }
        self.send_past(now, name);
    }
    /// The same of one that the window has room for.
    pub(super) fn send_past(&mut self, now: Time, name: u64) {
        if let Some(line) = self.way(now, name) {
            self.send_on(line, now, name);
        }
    }
    pub(super) fn send_on(&mut self, line: usize, now: Time, name: u64) {
        let Some(mut p) = self.calls.remove(&name) else { return };
        self.tidy_along(now);
        let l = &mut self.lines[line];
        l.wrote();
        p.first_sent.get_or_insert(now);
        (p.line, p.sent_at) = (u16::try_from(line).ok(), l.written());
        self.write(line, now, name, &mut p);
        match &mut p.step {
            Step::Confirms(_, _, sent) => *sent = true,
            step => *step = Step::Sent,
        }
        let slot = p.slot;
        let asks = p.asks();
        self.calls.insert(name, p);
        if asks {
            self.looks(name);
        }
        let l = &mut self.lines[line];
        if asks {
            l.window.goes();
        }
        l.expect(now, Tag::Call(name, slot, asks));
    }
    fn take_row(&mut self, p: &mut Pending<T>) -> u32 {
        let row = p.row.or_else(|| self.rows.pop_first()).unwrap_or_else(|| {
            self.row_count += 1;
            self.row_count - 1
        });
        p.row = Some(row);
        row
    }
    /// How long the client's table is kept from now on, said now and then; 0: as it is.
    fn keep(&mut self, now: Time, slot: Option<u16>) -> u64 {
        let often = KEEP * MS / 6;
        let kept = self.table_kept(slot);
        if kept.is_some_and(|at| now < at.saturating_add(often)) {
            return 0;
        }
        *kept = Some(now);
        KEEP
    }
    fn write(&mut self, line: usize, now: Time, name: u64, p: &mut Pending<T>) {
        if let How::Scan(..) = p.how {
            return self.write_scan(line, p);
        }
        let ns = self.options.namespace.clone();
        let slot = p.slot;
        let table = ns.table(&self.options.client, slot);
        let registry = ns.registry(slot);
        let guard = slot.map(|s| ns.guard(s));
        let guard = guard.as_deref();
        let main = |key: &[u8]| ns.main(key);
        if p.number == 0 {
            p.number = self.next_number();
        }
        let number = p.number;
        if let Step::Confirms(_, number, _) = p.step {
            let Call::Get(ask) = &p.call else { return };
            let id = lease_name(&self.options.client, p.number);
            let takes = ask.inputs.iter().enumerate().filter(|(_, i)| i.1 == Kind::Take);
            let held: Vec<(Bytes, String)> = takes.map(|(n, i)| (Bytes::copy_from_slice(&i.0), format!("{id}.{}", n + 1))).collect();
            if let ([(key, lease)], false) = (&held[..], p.again) {
                command(&mut self.lines[line].calls.out, &[b"HDEL", &ns.part(key, b'h'), lease.as_bytes()]);
                return;
            }
            return self.commit(line, p, [0, number, 0], &held, &[]);
        }
        match &p.call {
            Call::Put(put) => {
                let how = how(&put.store);
                let row = self.take_row(p);
                let keep = self.keep(now, slot);
                let Call::Put(Put { store, .. }) = &p.call else { return };
                let before = self.put_before(&store.key, name);
                let mut c = self.lines[line].eval(Script::Put, guard, 4, if before.is_some() { 8 } else { 6 });
                c.part(&ns.part(&store.key, b'i')).part(&ns.part(&store.key, b'q')).part(table.as_bytes()).part(registry.as_bytes());
                c.number(row.into()).number(number).number(keep).part(how.as_bytes());
                c.part(&store.key).joined(&[&tail(store), &store.value]);
                if let Some((row, number)) = before {
                    c.number(row.into()).number(number);
                }
            }
            Call::Get(_) => {
                if p.again {
                    // What that one may have taken stands under its name, and so does what it takes if it comes late.
                    p.earlier.push(number);
                    (p.number, p.again) = (self.next_number(), false);
                }
                let id = lease_name(&self.options.client, p.number);
                let last = p.earlier.len().saturating_sub(EARLIER);
                let earlier: Vec<String> = p.earlier[last..].iter().map(|n| lease_name(&self.options.client, *n)).collect();
                let Call::Get(ask) = &p.call else { return };
                let usual = self.options.lease;
                let doubled = || usual.saturating_mul(1 << p.late.min(30)).min(LONG.max(usual));
                let long = ask.lease.unwrap_or_else(doubled).div_ceil(MS).max(1);
                let mut c = self.lines[line].eval(Script::Get, guard, ask.inputs.len() + 1, 4 + 3 * ask.inputs.len());
                ask.inputs.iter().for_each(|i| {
                    c.part(&ns.part(&i.0, b'i'));
                });
                c.part(registry.as_bytes());
                c.number(long).part(id.as_bytes()).number(ask.wait.into()).part(earlier.join(" ").as_bytes());
                for (key, kind, after) in &ask.inputs {
                    c.part(if *kind == Kind::Take { b"t" } else { b"p" });
                    match after {
                        Some(i) => c.number(*i),
                        None => c.part(b""),
                    };
                    c.part(key);
                }
            }
            Call::Commit { outputs, .. } => {
                let (held, outputs) = (p.held.clone(), outputs.clone());
                let (row, keep) = if held.is_empty() { (self.take_row(p), self.keep(now, slot)) } else { (0, 0) };
                self.commit(line, p, [row.into(), number, keep], &held, &outputs);
            }
            Call::GiveBack { left, .. } => {
                let left = left.clone();
                let row = self.take_row(p);
                let keep = self.keep(now, slot);
                let none = (Bytes::new(), String::new());
                let (key, lease) = p.held.first().unwrap_or(&none);
                let how: &[u8] = match (p.how, &left) {
                    (How::Unseen, _) => b"unseen",
                    (How::Entry, _) => b"entry",
                    (_, Back::Unseen) => b"unseen",
                    (_, Back::Changed(_)) => b"left",
                    (_, Back::Same) => b"as",
                };
                let mut c = self.lines[line].eval(Script::GiveBack, guard, 2, 6);
                c.part(table.as_bytes()).part(&main(key));
                c.number(row.into())
                    .number(number)
                    .number(keep)
                    .part(lease.as_bytes())
                    .part(how)
                    .part(left.value().map_or(b"", |v| &v[..]));
            }
            Call::Extend { long, .. } => {
                let mut c = self.lines[line].eval(Script::Extend, guard, p.held.len(), 1 + p.held.len());
                p.held.iter().for_each(|(key, _)| {
                    c.part(&main(key));
                });
                c.number(long.div_ceil(MS));
                p.held.iter().for_each(|(_, lease)| {
                    c.part(lease.as_bytes());
                });
            }
            Call::Limit(key, most) => {
                self.lines[line].eval(Script::Limit, guard, 1, 1).part(&main(key)).number(*most);
            }
            Call::Stats(key) if p.how == How::Watch => {
                let mut c = self.lines[line].eval(Script::Watch, guard, 2, 2);
                c.part(&main(key)).part(registry.as_bytes()).number(super::watch::LONG).part(key);
            }
            Call::Stats(key) => {
                self.lines[line].eval(Script::Stats, guard, 1, 0).part(&main(key));
            }
            Call::Names { prefix, after, most } => {
                let from = match after {
                    Some(a) if a >= prefix => [b"(", &a[..]].concat(),
                    _ => [b"[", &prefix[..]].concat(),
                };
                let page = u64::from((*most).min(if matches!(p.how, How::Sweep(_)) { SWEEP } else { PAGE }));
                let mut c = self.lines[line].eval(Script::Names, guard, 1, 4);
                c.part(registry.as_bytes()).part(ns.prefix().as_bytes()).part(prefix).part(&from).number(page);
            }
            Call::Leave(_) | Call::Watch(_) => {}
        }
    }
    /// `row`: its row, its number there, and how long the client's table is kept.
    fn commit(&mut self, line: usize, p: &Pending<T>, row: [u64; 3], held: &[(Bytes, String)], outputs: &[Store<Bytes>]) {
        let ns = &self.options.namespace;
        let guard = p.slot.map(|s| ns.guard(s));
        let keys = held.len() + 2 * outputs.len() + 2;
        let args = 6 + held.len() + 3 * outputs.len();
        let mut c: Command<'_> = self.lines[line].eval(Script::Commit, guard.as_deref(), keys, args);
        held.iter().for_each(|(key, _)| {
            c.part(&ns.part(key, b'h'));
        });
        outputs.iter().for_each(|o| {
            c.part(&ns.part(&o.key, b'i')).part(&ns.part(&o.key, b'q'));
        });
        c.part(ns.table(&self.options.client, p.slot).as_bytes()).part(ns.registry(p.slot).as_bytes());
        c.number(held.len() as u64).number(outputs.len() as u64).number(p.again.into());
        row.into_iter().for_each(|n| {
            c.number(n);
        });
        held.iter().for_each(|(_, lease)| {
            c.part(lease.as_bytes());
        });
        for o in outputs {
            c.part(how(o).as_bytes()).part(&o.key).joined(&[&tail(o), &o.value]);
        }
    }
}
