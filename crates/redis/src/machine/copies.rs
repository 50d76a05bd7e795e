//! What is acknowledged only when replicas have it.
//!
//! **Invariant.** A connection has one `WAIT` under way, which is for all that it had done before: what is done meanwhile is asked after by the
//! next one. A server waits for what *this* connection has written. What another one had, that was lost, is asked after behind a write.

use super::line::Tag;
use super::{KEEP, Machine, Step, may_change};
use crate::resp::{Reply, command};
use bytes::Bytes;
use kumi_segments::{Call, Done, Kind, Time, Trouble};

impl<T> Machine<T> {
    /// Is a call that has been done acknowledged only when replicas have it? A take is when its segment is removed.
    pub(super) fn is_copied(&self, name: u64) -> bool {
        let removes = |step: &Step| matches!(step, Step::Confirms(..));
        self.options.replicas > 0 && self.calls.get(&name).is_some_and(|p| p.token.is_some() && (may_change(&p.call) || removes(&p.step)))
    }
    pub(super) fn await_copies(&mut self, now: Time, name: u64, done: Done<Bytes>) {
        let Some(p) = self.calls.get_mut(&name) else { return };
        p.done = Some(Box::new(done));
        if let Some(line) = p.line.map(usize::from) {
            self.lines[line].done.push(name);
            self.write_wait(line, now);
        }
    }
    fn write_wait(&mut self, line: usize, now: Time) {
        let l = &mut self.lines[line];
        if l.waits || l.done.is_empty() {
            return;
        }
        let names = std::mem::take(&mut l.done);
        l.waits = true;
        let again = names.iter().filter_map(|n| self.calls.get(n)).find(|p| p.again);
        if let Some(p) = again {
            let mark = format!("{}w", self.options.namespace.table(&self.options.client, p.slot));
            command(&mut l.calls.out, &[b"SET", mark.as_bytes(), b"", b"PX", KEEP.to_string().as_bytes()]);
            l.expect(now, Tag::Mark);
        }
        let (replicas, ms) = (self.options.replicas.to_string(), self.options.copied_within.to_string());
        command(&mut l.calls.out, &[b"WAIT", replicas.as_bytes(), ms.as_bytes()]);
        l.expect(now, Tag::Wait(names));
    }
    /// So many replicas have what these calls have done.
    pub(super) fn copied(&mut self, line: usize, now: Time, names: &[u64], reply: &Reply) {
        self.lines[line].waits = false;
        let replicas = self.options.replicas;
        let why = match reply {
            Reply::Number(n) if *n >= i64::from(replicas) => None,
            Reply::Number(n) => {
                Some(format!("it was done, but {n} of {replicas} replicas had it within {} ms", self.options.copied_within))
            }
            Reply::Error(e) => Some(format!("it was done, but no replica is known to have it: {}", String::from_utf8_lossy(e))),
            _ => Some("it was done, but no replica is known to have it".into()),
        };
        for name in names {
            let Some(done) = self.calls.get_mut(name).and_then(|p| p.done.take()) else { continue };
            match &why {
                None => self.ends(now, *name, Ok(*done)),
                Some(why) => self.not_copied(now, *name, why),
            }
        }
        self.write_wait(line, now);
    }
    /// What was put stays. What was taken stands again: who hears of an error has not got it.
    fn not_copied(&mut self, now: Time, name: u64, why: &str) {
        let mut back: Vec<(Bytes, Bytes)> = Vec::new();
        if let Some((Call::Get(ask), Step::Confirms(entries, ..))) = self.calls.get(&name).map(|p| (&p.call, &p.step)) {
            let takes = ask.inputs.iter().zip(entries).filter(|(i, _)| i.1 == Kind::Take);
            back.extend(takes.map(|(i, e)| (Bytes::copy_from_slice(&i.0), e.whole.clone())));
        }
        self.end(name, Err(Trouble::Lost(why.into())));
        back.into_iter().for_each(|(key, whole)| self.stand_again(now, key, whole));
    }
}
