//! Leases that a client holds: they are renewed at a third of their length until they are ended.

use super::{How, MS, Machine};
use bytes::Bytes;
use kumi_segments::{Call, Time};
use std::collections::BTreeMap;

pub(super) struct Held {
    pub key: Bytes,
    /// Its name in the store.
    pub name: String,
    /// As it was asked for.
    long: Time,
    /// When it is renewed next; `None`: it is being ended.
    renew: Option<Time>,
}

impl<T> Machine<T> {
    /// What was given under a lease is held from now on.
    pub(super) fn hold(&mut self, now: Time, key: Bytes, name: String, long: Time) -> u64 {
        self.last_lease += 1;
        let renew = now.saturating_add((long / 3).max(1));
        self.renewals.insert((renew, self.last_lease));
        self.leases.insert(self.last_lease, Held { key, name, long, renew: Some(renew) });
        self.last_lease
    }
    pub(super) fn names_of_leases(&self, call: &Call<Bytes>) -> Vec<(Bytes, String)> {
        let leases = match call {
            Call::Commit { leases, .. } | Call::Extend { leases, .. } => &leases[..],
            Call::GiveBack { lease, .. } => std::slice::from_ref(lease),
            _ => &[],
        };
        leases.iter().filter_map(|l| self.leases.get(l)).map(|h| (h.key.clone(), h.name.clone())).collect()
    }
    pub(super) fn stop_renewing(&mut self, lease: u64) {
        if let Some(at) = self.leases.get_mut(&lease).and_then(|h| h.renew.take()) {
            self.renewals.remove(&(at, lease));
        }
    }
    pub(super) fn forget_lease(&mut self, lease: u64) {
        self.stop_renewing(lease);
        self.leases.remove(&lease);
    }
    /// How many leases are renewed.
    pub fn leases(&self) -> usize {
        self.renewals.len()
    }
    pub(super) fn renew_due(&mut self, now: Time) {
        let ready = self.serves();
        let mut due: BTreeMap<(Time, Option<u16>), Vec<u64>> = BTreeMap::new();
        while let Some((_, l)) = self.renewals.first().copied().filter(|(at, _)| *at <= now) {
            self.renewals.pop_first();
            let Some(h) = self.leases.get_mut(&l) else { continue };
            // As soon as there is a connection.
            let wait = if ready { (h.long / 3).max(1) } else { (h.long / 3).clamp(1, 100 * MS) };
            let at = now.saturating_add(wait);
            h.renew = Some(at);
            self.renewals.insert((at, l));
            let of = (h.long, self.cluster.as_ref().map(|_| self.options.namespace.slot(&h.key)));
            due.entry(of).or_default().push(l);
        }
        for ((long, _), leases) in due.into_iter().filter(|_| ready) {
            leases.chunks(128).for_each(|some| self.renew(now, some, long));
        }
    }
    fn renew(&mut self, now: Time, leases: &[u64], long: Time) {
        let call = Call::Extend { leases: leases.to_vec(), long };
        let held = self.names_of_leases(&call);
        self.make(now, call, None, Some(now.saturating_add(long)), held, How::Asked);
    }
    /// One of these leases at least is over.
    pub(super) fn not_renewed(&mut self, now: Time, leases: &[u64], long: Time) {
        match leases {
            [l] => self.forget_lease(*l),
            // Some are over, and the others go on: each is asked about by itself.
            _ => {
                let known: Vec<u64> = leases.iter().copied().filter(|l| self.leases.contains_key(l)).collect();
                known.into_iter().for_each(|l| self.renew(now, &[l], long));
            }
        }
    }
}
