//! Replies as ends of calls, or as their next step.

use super::ask::lease_name;
use super::{Ended, Entry, How, Machine, Pending, Step};
use crate::resp::Reply;
use bytes::Bytes;
use kumi_segments::{Ask, Back, Call, Done, Failure, KeyStats, Kind, Refusal, Time, Trouble};
use std::num::NonZeroUsize;

/// What a reply comes to.
enum Next {
    Ends(Ended),
    /// It is sent once more, anew.
    Again,
    /// Nothing is there under this input's key, and something is due in so many milliseconds.
    Waits(usize, Option<u64>),
    /// The put before it is not done.
    Behind,
    Got(Vec<Entry>),
    /// Names that were found, and where to go on.
    Found(Vec<Vec<u8>>, Option<Vec<u8>>),
    /// The store has forgotten its scripts.
    Load,
}

fn nonsense() -> Next {
    Next::Ends(Err(Trouble::Lost("its reply makes no sense".into())))
}
fn refused(r: Refusal) -> Next {
    Next::Ends(Err(Failure::Refused(r).into()))
}

impl<T> Machine<T> {
    pub(super) fn answered(&mut self, now: Time, name: u64, reply: Reply) {
        let Some(p) = self.calls.get(&name) else { return };
        let next = match &reply {
            Reply::Error(e) => error(e),
            _ => read(p, &reply),
        };
        let looked = self.has_looked(name);
        let found = !matches!(next, Next::Waits(..) | Next::Behind);
        match next {
            Next::Ends(Ok(done)) if self.is_copied(name) => self.await_copies(now, name, done),
            next => self.go_on(now, name, next),
        }
        if let Some(looked) = looked {
            self.tried(now, &looked, found);
        }
    }
    fn go_on(&mut self, now: Time, name: u64, next: Next) {
        let Some(p) = self.calls.get_mut(&name) else { return };
        if let Next::Again | Next::Waits(..) | Next::Behind | Next::Got(_) = next {
            // What it asks for next is another question.
            (p.first_sent, p.again) = (None, false);
        }
        match next {
            Next::Load => {
                if let Some(line) = p.line.map(usize::from) {
                    self.load_scripts(line, now);
                }
                self.send(now, name);
            }
            Next::Again => {
                (p.step, p.number) = (Step::Queued, 0);
                p.late += 1;
                p.earlier.clear();
                if p.token.is_none() {
                    self.remove(name);
                    return;
                }
                self.send(now, name);
            }
            Next::Waits(..) | Next::Behind if p.token.is_none() => {
                self.remove(name);
            }
            Next::Waits(input, due) => {
                p.earlier.clear();
                let (wait, key) = match &p.call {
                    Call::Get(ask) => (ask.wait, ask.inputs.get(input).map(|i| Bytes::copy_from_slice(&i.0))),
                    Call::Put(put) => (put.wait, Some(Bytes::copy_from_slice(&put.store.key))),
                    _ => (false, None),
                };
                match (wait, key, &p.call) {
                    (true, Some(key), _) => self.missing(now, &key, name, due),
                    (_, _, Call::Put(_)) => self.end(name, Err(Failure::Refused(Refusal::Full).into())),
                    _ => self.end(name, Ok(Done::Nothing)),
                }
            }
            // That one waits, or has ended meanwhile.
            Next::Behind => self.send(now, name),
            Next::Got(entries) => self.got(now, name, entries),
            Next::Found(names, more) => self.found(now, name, names, more),
            Next::Ends(result) => self.ends(now, name, result),
        }
    }
    pub(super) fn ends(&mut self, now: Time, name: u64, result: Ended) {
        let Some(p) = self.calls.get(&name) else { return };
        match (&p.call, &p.step, &result) {
            (Call::Extend { leases, long }, _, Err(Trouble::Failure(Failure::Refused(Refusal::LeaseOver)))) => {
                let (leases, long) = (leases.clone(), *long);
                self.not_renewed(now, &leases, long);
            }
            // What it has taken is its own.
            (Call::Get(_), Step::Confirms(entries, _, _), Ok(_)) => {
                let entries = entries.clone();
                return self.confirmed_get(now, name, entries);
            }
            (Call::Commit { .. }, _, Ok(_)) => p.held.iter().for_each(|(key, lease)| self.tidy.add(now, key.clone(), lease.clone())),
            (Call::Stats(key), _, Ok(Done::Stats(s))) => {
                let mut s = *s;
                self.count_waiting(key, &mut s);
                return self.end(name, Ok(Done::Stats(s)));
            }
            _ => {}
        }
        self.end(name, result);
    }
    /// The store has given segments, under leases if they were taken.
    fn got(&mut self, now: Time, name: u64, entries: Vec<Entry>) {
        let name = self.oldest(now, name);
        let Some(p) = self.calls.get_mut(&name) else { return };
        let Call::Get(ask) = &p.call else { return };
        let takes: Vec<usize> = (0..ask.inputs.len()).filter(|n| ask.inputs[*n].1 == Kind::Take).collect();
        let id = lease_name(&self.options.client, p.number);
        let lease = |ask: &Ask, n: usize| (Bytes::copy_from_slice(&ask.inputs[n].0), format!("{id}.{}", n + 1));
        if p.token.is_none() {
            let held: Vec<_> = takes.iter().map(|n| lease(ask, *n)).collect();
            self.remove(name);
            for h in held {
                self.make(now, Call::GiveBack { lease: 0, left: Back::Same }, None, None, vec![h], How::Unseen);
            }
            return;
        }
        match ask.lease {
            _ if takes.is_empty() => {
                let segments = entries.iter().map(|e| e.segment(None)).collect();
                self.end(name, Ok(Done::Segments(segments)));
            }
            Some(long) => {
                let mut held: Vec<Option<(Bytes, String)>> = vec![None; entries.len()];
                takes.iter().for_each(|n| held[*n] = Some(lease(ask, *n)));
                let mut segments = Vec::with_capacity(entries.len());
                for (e, h) in entries.iter().zip(held) {
                    let lease = h.map(|(key, lease)| self.hold(now, key, lease, long));
                    segments.push(e.segment(lease));
                }
                self.end(name, Ok(Done::Segments(segments)));
            }
            None => {
                let number = self.next_number();
                if let Some(p) = self.calls.get_mut(&name) {
                    p.step = Step::Confirms(entries, number, false);
                }
                self.send(now, name);
            }
        }
    }
    /// A plain take is over. If nobody wants its value any more, it stands again.
    fn confirmed_get(&mut self, now: Time, name: u64, entries: Vec<Entry>) {
        let Some(Pending { call: Call::Get(ask), token, number, .. }) = self.calls.get(&name) else { return };
        let id = lease_name(&self.options.client, *number);
        let takes = ask.inputs.iter().zip(&entries).filter(|(i, _)| i.1 == Kind::Take);
        for (n, input) in ask.inputs.iter().enumerate().filter(|(_, i)| i.1 == Kind::Take) {
            self.tidy.add(now, Bytes::copy_from_slice(&input.0), format!("{id}.{}", n + 1));
        }
        let taken: Vec<(Bytes, Bytes)> = takes.map(|(i, e)| (Bytes::copy_from_slice(&i.0), e.whole.clone())).collect();
        if token.is_some() {
            self.given.insert(name, taken);
            let segments = entries.iter().map(|e| e.segment(None)).collect();
            return self.end(name, Ok(Done::Segments(segments)));
        }
        self.remove(name);
        taken.into_iter().for_each(|(key, whole)| self.stand_again(now, key, whole));
    }
    /// What was taken for good stands again, as if nobody had seen it.
    pub(super) fn stand_again(&mut self, now: Time, key: Bytes, whole: Bytes) {
        self.make(now, Call::GiveBack { lease: 0, left: Back::Changed(whole) }, None, None, vec![(key, String::new())], How::Entry);
    }
    fn found(&mut self, now: Time, name: u64, names: Vec<Vec<u8>>, more: Option<Vec<u8>>) {
        let Some(p) = self.calls.get_mut(&name) else { return };
        match p.how {
            How::Sweep(_) => {
                let slot = p.slot;
                self.swept(slot, more.unwrap_or_default());
                self.remove(name);
                return;
            }
            How::Scan(..) => return self.scanned(now, name, names, more),
            _ => {}
        }
        let Call::Names { after, most, .. } = &mut p.call else { return };
        let room = (*most as usize).saturating_sub(p.names.len());
        p.names.extend(names.into_iter().take(room));
        match more {
            Some(last) if p.names.len() < *most as usize && (p.token.is_some() || p.how != How::Asked) => {
                *after = Some(last);
                self.send(now, name);
            }
            _ => {
                let names = std::mem::take(&mut p.names);
                if let How::Part(of, _) = p.how {
                    self.remove(name);
                    return self.listed(now, of, names);
                }
                self.end(name, Ok(Done::Names(names)));
            }
        }
    }
}

fn error(e: &[u8]) -> Next {
    let text = || -> Box<str> { String::from_utf8_lossy(e).into() };
    match e.split(|b| *b == b' ').next().unwrap_or_default() {
        b"NOSCRIPT" => Next::Load,
        b"TRYAGAIN" => Next::Behind,
        b"LATE" => Next::Ends(Err(Trouble::Lost(text()))),
        b"MOVED" | b"ASK" => Next::Ends(Err(Trouble::Store(format!("{}: a cluster is named by redis+cluster://", text()).into()))),
        _ => Next::Ends(Err(Trouble::Store(text()))),
    }
}

fn read<T>(p: &Pending<T>, reply: &Reply) -> Next {
    let yes = match reply.number() {
        Some(1) => Some(true),
        Some(0) => Some(false),
        _ => None,
    };
    match (&p.call, yes) {
        (Call::Put(_), _) => match reply.number() {
            Some(-1) => Next::Waits(0, None),
            Some(-2) => Next::Behind,
            Some(n) if n < 0 => Next::Waits(0, u64::try_from(n.saturating_neg() - 3).ok()),
            Some(0) => Next::Ends(Ok(Done::Stored(None))),
            Some(i) if i > 0 => Next::Ends(Ok(Done::Stored(Some(i as u64)))),
            _ => nonsense(),
        },
        // A lease that was over before it was confirmed: its segment may be another's.
        (Call::Get(_), Some(false)) if matches!(p.step, Step::Confirms(..)) => Next::Again,
        (Call::Get(_), Some(true)) if matches!(p.step, Step::Confirms(..)) => Next::Ends(Ok(Done::Ok)),
        (Call::Get(ask), _) => read_get(ask, reply),
        (Call::Commit { .. } | Call::GiveBack { .. } | Call::Extend { .. } | Call::Limit(..), Some(true)) => Next::Ends(Ok(Done::Ok)),
        (Call::Commit { .. } | Call::GiveBack { .. } | Call::Extend { .. }, Some(false)) => refused(Refusal::LeaseOver),
        (Call::Stats(_), _) if p.how == How::Watch => Next::Ends(Ok(Done::Ok)),
        (Call::Stats(_), _) => read_stats(reply).map_or_else(nonsense, |s| Next::Ends(Ok(Done::Stats(s)))),
        (Call::Names { .. }, _) if matches!(p.how, How::Scan(..)) => {
            let [cursor, found] = reply.list() else { return nonsense() };
            let Some(cursor) = cursor.bytes() else { return nonsense() };
            let more = (**cursor != *b"0").then(|| cursor.to_vec());
            if cursor.is_empty() || !cursor.iter().all(u8::is_ascii_digit) {
                return nonsense();
            }
            Next::Found(found.list().iter().filter_map(Reply::bytes).map(|n| n.to_vec()).collect(), more)
        }
        (Call::Names { .. }, _) => {
            let mut names = reply.list().iter().filter_map(Reply::bytes);
            let Some(more) = names.next() else { return nonsense() };
            let more = (!more.is_empty()).then(|| more.to_vec());
            Next::Found(names.map(|n| n.to_vec()).collect(), more)
        }
        _ => nonsense(),
    }
}

fn read_get(ask: &Ask, reply: &Reply) -> Next {
    match reply.list() {
        [Reply::Number(0), entries @ ..] if entries.len() == ask.inputs.len() => {
            let entries: Option<Vec<Entry>> = entries.iter().map(|e| Entry::read(e.bytes()?)).collect();
            entries.map_or_else(nonsense, Next::Got)
        }
        [Reply::Number(1), Reply::Number(input), Reply::Number(due)] => {
            let input = usize::try_from(*input).unwrap_or(0).saturating_sub(1);
            if input >= ask.inputs.len() { nonsense() } else { Next::Waits(input, u64::try_from(*due).ok()) }
        }
        [Reply::Number(2), _, Reply::Number(last)] => refused(Refusal::Stale { last: u64::try_from(*last).unwrap_or(0) }),
        _ => nonsense(),
    }
}

fn read_stats(reply: &Reply) -> Option<KeyStats> {
    let n = |at: usize| reply.list().get(at)?.number().and_then(|n| u64::try_from(n).ok());
    Some(KeyStats {
        segments: n(0)? as usize,
        delayed: n(1)? as usize,
        leased: n(2)? as usize,
        waiting: 0,
        waiting_puts: 0,
        last_index: n(3)?,
        limit: NonZeroUsize::new(n(4)? as usize),
    })
}
