//! Leases that are over are taken off the lists of what is due, many at a time.
//!
//! **Invariant.** Nothing depends on it: the store passes over what is due of a lease that is not there any more.

use super::line::Tag;
use super::{MS, Machine};
use crate::resp::Command;
use bytes::Bytes;
use kumi_segments::Time;
use std::collections::HashMap;

/// So many are told of with the next command.
const MANY: usize = 64;
/// And any number after so long.
const LONG: Time = 200 * MS;

#[derive(Default)]
pub(super) struct Tidy {
    leases: HashMap<Bytes, Vec<String>>,
    count: usize,
    at: Option<Time>,
}

impl Tidy {
    pub fn due(&self) -> Option<Time> {
        self.at
    }
    /// A lease under this key has ended.
    pub fn add(&mut self, now: Time, key: Bytes, lease: String) {
        self.leases.entry(key).or_default().push(lease);
        self.count += 1;
        self.at.get_or_insert(now.saturating_add(LONG));
    }
    /// They are due by themselves.
    pub fn forget(&mut self) {
        *self = Tidy::default();
    }
}

impl<T> Machine<T> {
    pub(super) fn tidy_up(&mut self, now: Time) {
        for (key, leases) in std::mem::take(&mut self.tidy).leases {
            let line = self.line_of_key(&key).and_then(|l| self.lines.get_mut(l));
            let Some(line) = line.filter(|l| l.is_ready()) else { continue };
            let mut c = Command::new(&mut line.calls.out, 2 + leases.len());
            c.part(b"ZREM").part(&self.options.namespace.part(&key, b't'));
            leases.iter().for_each(|l| {
                c.joined(&[b"l", l.as_bytes()]);
            });
            line.expect(now, Tag::Tidy);
        }
    }
    /// Where the next command is written anyway.
    pub(super) fn tidy_along(&mut self, now: Time) {
        if self.tidy.count >= MANY {
            self.tidy_up(now);
        }
    }
}
