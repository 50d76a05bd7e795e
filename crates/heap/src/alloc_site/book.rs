//! The runtime's sites: where counts of all workers meet and strategies are decided, anew when a site changes or
//! its time for another trial comes.
//!
//! Invariant: the book's lock is innermost, taken only at safepoints, and only when a site has
//! something to decide. A site whose strategy is [`Strategy::Out`] stays so until its time for
//! another trial comes; each trial that fails doubles that time.

use super::policy::ENOUGH_IN_TRIAL;
use super::{AllocSiteKey, AllocSiteMode, AllocSitePolicy, AllocSiteTable, Fates, Strategy};
use rustc_hash::FxHashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::*};

/// A node collection counts as so many ticks: where nothing is born in nurseries, those stand still.
pub const NODE_TICKS: u64 = 64;

/// One site in a report.
#[derive(Clone, Copy, Debug)]
pub struct AllocSiteReport {
    /// Which site.
    pub key: AllocSiteKey,
    /// What became of its cells since the runtime began.
    pub fates: Fates,
    /// Born outside, cells and bytes: known when a profile was made.
    pub out: u64,
    /// See `out`.
    pub out_bytes: u64,
    /// `None`: too little is known of it.
    pub strategy: Option<Strategy>,
}

#[derive(Default)]
pub(super) struct Entry {
    /// Since the runtime began.
    pub(super) total: Fates,
    /// Since it was decided last: older counts weigh half at each decision.
    pub(super) recent: Fates,
    pub(super) out: u64,
    pub(super) out_bytes: u64,
    strategy: Option<Strategy>,
    /// When it is to get another trial, and how long after the next failure.
    again: u64,
    patience: u64,
    /// Is it being tried again?
    trial: bool,
}

#[derive(Default)]
pub(super) struct Inner {
    sites: FxHashMap<AllocSiteKey, Entry>,
    /// Those that went out, for the search for new trials.
    out: Vec<AllocSiteKey>,
    nursery: usize,
}

impl Inner {
    pub(super) fn entry(&mut self, key: AllocSiteKey) -> &mut Entry {
        self.sites.entry(key).or_default()
    }
    /// New counts of a site; its strategy when that changes by them.
    pub(super) fn tell(&mut self, key: AllocSiteKey, fresh: &Fates, policy: AllocSitePolicy, now: u64) -> Option<Strategy> {
        let e = self.sites.entry(key).or_default();
        e.total.add(fresh);
        e.recent.add(fresh);
        let all = e.recent.all();
        if policy.mode != AllocSiteMode::History || all < if e.trial { ENOUGH_IN_TRIAL.min(policy.enough) } else { policy.enough } as u64 {
            return None;
        }
        let to = if e.recent.failed() * policy.ratio >= all { Strategy::Out } else { Strategy::Nursery };
        let r = &mut e.recent;
        (r.freed, r.published, r.retired) = (r.freed / 2, r.published / 2, r.retired / 2);
        let was = e.strategy.replace(to);
        if e.trial {
            e.trial = false;
            e.patience = if to == Strategy::Out { e.patience.saturating_mul(2) } else { policy.first_trial };
        }
        if was == Some(to) {
            return None;
        }
        if was == Some(Strategy::Nursery) {
            self.nursery -= 1;
        }
        if to == Strategy::Out {
            e.patience = e.patience.max(policy.first_trial);
            e.again = now.saturating_add(e.patience);
            self.out.push(key);
            Some(to)
        } else {
            self.nursery += 1;
            // Where it was undecided before, its cells are born there already.
            None
        }
    }
}

/// The sites of a runtime.
pub struct AllocSiteBook {
    pub(super) inner: Mutex<Inner>,
    /// By what rules it decides.
    pub policy: AllocSitePolicy,
    /// Nursery collections so far, and node collections weighed.
    pub(super) clock: AtomicU64,
    /// Clock at which somebody looks for sites to try again.
    next_look: AtomicU64,
    nursery: AtomicUsize,
    out: AtomicUsize,
    /// Counts the changes of strategies: who has a copy of some of them looks here.
    epoch: AtomicU64,
}

impl Default for AllocSiteBook {
    fn default() -> Self {
        AllocSiteBook::new(AllocSitePolicy::from_env())
    }
}

impl AllocSiteBook {
    /// A book without sites.
    pub(crate) fn new(policy: AllocSitePolicy) -> AllocSiteBook {
        AllocSiteBook {
            inner: Mutex::default(),
            policy,
            clock: AtomicU64::new(0),
            next_look: AtomicU64::new(policy.first_trial),
            nursery: AtomicUsize::new(0),
            out: AtomicUsize::new(0),
            epoch: AtomicU64::new(0),
        }
    }
    pub(super) fn count(&self, b: &Inner, changed: bool) {
        self.nursery.store(b.nursery, Relaxed);
        self.out.store(b.out.len(), Relaxed);
        if changed {
            self.epoch.fetch_add(1, Release);
        }
    }
    /// A nursery collection ended (1), or a node collection ([`NODE_TICKS`]).
    #[inline]
    pub fn tick(&self, n: u64) {
        self.clock.fetch_add(n, Relaxed);
    }
    /// Sites decided to make their cells in nurseries, and outside.
    pub(crate) fn counts(&self) -> (usize, usize) {
        (self.nursery.load(Relaxed), self.out.load(Relaxed))
    }
    /// Grows when a site goes out, or gets another trial.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch.load(Acquire)
    }
    /// The sites that are out now.
    pub(crate) fn sites_out(&self) -> Vec<AllocSiteKey> {
        crate::shared::lock(&self.inner).out.clone()
    }
    /// Sites whose time for another trial has come: they are no longer out. Mostly none, for the price of two loads.
    #[inline]
    pub(crate) fn trials(&self, t: &mut AllocSiteTable) -> Vec<AllocSiteKey> {
        let now = self.clock.load(Relaxed);
        if now < self.next_look.load(Relaxed) { Vec::new() } else { self.take_trials(t, now) }
    }
    #[cold]
    fn take_trials(&self, t: &mut AllocSiteTable, now: u64) -> Vec<AllocSiteKey> {
        let mut b = crate::shared::lock(&self.inner);
        self.next_look.store(now.saturating_add(self.policy.first_trial / 4), Relaxed);
        let mut due = Vec::new();
        let Inner { sites, out, .. } = &mut *b;
        out.retain(|k| match sites.get_mut(k) {
            Some(e) if e.again <= now => {
                e.trial = true;
                e.strategy = None;
                e.recent = Fates::default();
                due.push(*k);
                false
            }
            _ => true,
        });
        if !due.is_empty() {
            self.count(&b, true);
        }
        drop(b);
        for k in &due {
            t.try_again(*k);
        }
        due
    }
    /// Forgets the sites that are `dead`: their code was freed.
    pub fn forget(&self, dead: &dyn Fn(&AllocSiteKey) -> bool) {
        let mut b = crate::shared::lock(&self.inner);
        let Inner { sites, out, nursery } = &mut *b;
        let mut gone = 0;
        sites.retain(|k, e| {
            let dead = dead(k);
            gone += (dead && e.strategy == Some(Strategy::Nursery)) as usize;
            !dead
        });
        *nursery -= gone;
        let before = out.len();
        out.retain(|k| sites.contains_key(k));
        let changed = out.len() != before;
        self.count(&b, changed);
    }
    /// Sites it knows.
    pub fn len(&self) -> usize {
        crate::shared::lock(&self.inner).sites.len()
    }
    /// All sites, for a report; the workers' tables have been flushed.
    pub fn report(&self) -> Vec<AllocSiteReport> {
        let b = crate::shared::lock(&self.inner);
        b.sites
            .iter()
            .map(|(k, e)| AllocSiteReport { key: *k, fates: e.total, out: e.out, out_bytes: e.out_bytes, strategy: e.strategy })
            .collect()
    }
}
