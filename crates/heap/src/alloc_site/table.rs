//! One worker's sites: their ids, the fates of their cells that the book has not heard of, and which nurseries record.
//!
//! Invariant: only the worker itself touches its table. A count is in the table or in the book, never in both: it moves
//! when the site is due ([`AllocSiteTable::settle`]) or a report is made ([`AllocSiteTable::flush`]).

use super::policy::ENOUGH_IN_TRIAL;
use super::{AllocSiteBook, AllocSiteKey, AllocSiteMode, AllocSitePolicy, Fate, Fates, Strategy};
use crate::alloc_site::series::HELD;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::atomic::Ordering::*;

/// One nursery in so many records when nearly all cells are of decided sites: recording a cell costs some 200
/// instructions, and this way 0.5 % in a program that does nothing but allocate.
const SELDOM: u32 = 64;
/// Slots of the table's front: a power of two.
const FRONT: usize = 256;

/// One site as its worker knows it.
#[derive(Clone, Copy, Debug, Default)]
struct Local {
    key: AllocSiteKey,
    /// Not yet told the book.
    fresh: Fates,
    known: u32,
    /// Fates until the book is told.
    enough: u32,
    /// Born outside, counted while a profile is made.
    out: u64,
    out_bytes: u64,
    settled: bool,
}

/// One worker's sites. Id 0 stands for no site.
pub struct AllocSiteTable {
    ids: FxHashMap<AllocSiteKey, u32>,
    front: Box<[(AllocSiteKey, u32)]>,
    sites: Vec<Local>,
    due: Vec<u32>,
    /// Cells recorded in the present nursery, and those of sites still undecided among them.
    cells: u32,
    unsettled: u32,
    /// Nurseries until the next one that records.
    skip: u32,
    policy: AllocSitePolicy,
    /// Every nursery records and every birth outside is counted: a profile is being made.
    profile: bool,
}

impl AllocSiteTable {
    /// A table without sites.
    pub(crate) fn new(policy: AllocSitePolicy) -> AllocSiteTable {
        AllocSiteTable {
            ids: FxHashMap::default(),
            front: vec![(AllocSiteKey::default(), 0); FRONT].into(),
            sites: vec![Local::default()],
            due: Vec::new(),
            cells: 0,
            unsettled: 0,
            skip: 0,
            policy,
            profile: false,
        }
    }
    /// From now on every nursery records.
    pub(crate) fn set_profile(&mut self, on: bool) {
        self.profile = on;
    }
    /// Is a profile being made?
    pub fn profiles(&self) -> bool {
        self.profile
    }

    /// A nursery begins (fresh, or swept and used again): is it to record the sites of its cells?
    pub(crate) fn begin_nursery(&mut self) -> bool {
        if self.profile {
            return true;
        }
        if self.policy.mode != AllocSiteMode::History {
            return false;
        }
        // What the last recording nursery saw says whether there is much to learn.
        if self.cells > 0 {
            let (cells, unsettled) = (self.cells as u64, self.unsettled as u64);
            self.skip = match () {
                _ if unsettled * 8 >= cells => 0,
                _ if unsettled * 32 >= cells => SELDOM / 16 - 1,
                _ if unsettled * 128 >= cells => SELDOM / 4 - 1,
                _ => SELDOM - 1,
            };
            self.cells = 0;
            self.unsettled = 0;
        } else if self.skip > 0 {
            self.skip -= 1;
        }
        self.skip == 0
    }
    /// The id of a site, for the record of a cell that it makes now in a recording nursery.
    #[inline]
    pub(crate) fn id(&mut self, key: AllocSiteKey) -> u32 {
        self.cells += 1;
        let h = (key.at >> 3 ^ key.caller >> 2 ^ (key.of as u64).wrapping_mul(0x9E37_79B9) >> 24) as usize % FRONT;
        let f = self.front[h];
        let id = if f.0 == key && f.1 != 0 { f.1 } else { self.find(key, h) };
        self.unsettled += !self.sites[id as usize].settled as u32;
        id
    }
    #[inline(never)]
    fn find(&mut self, key: AllocSiteKey, h: usize) -> u32 {
        let id = match self.ids.get(&key) {
            Some(&id) => id,
            None => {
                let id = self.sites.len() as u32;
                self.sites.push(Local { key, enough: self.policy.enough, settled: key.of == HELD, ..Local::default() });
                self.ids.insert(key, id);
                id
            }
        };
        self.front[h] = (key, id);
        id
    }
    /// What became of a cell of a recording nursery, as far as it is known by now: once for each cell.
    #[inline]
    pub(crate) fn fate(&mut self, site: u32, fate: Fate, bytes: u32) {
        let Some(s) = self.sites.get_mut(site as usize).filter(|_| site != 0) else { return };
        s.fresh.bytes += bytes as u64;
        match fate {
            Fate::Freed => s.fresh.freed += 1,
            Fate::Published => s.fresh.published += 1,
            Fate::Retired => s.fresh.retired += 1,
        }
        if fate != Fate::Freed {
            s.fresh.failed_bytes += bytes as u64;
        }
        s.known = s.known.wrapping_add(1);
        if s.known == s.enough && s.key.of != HELD {
            self.due.push(site);
        }
    }
    /// A cell was born outside by the strategy of its site (counted while a profile is made).
    pub(crate) fn born_out(&mut self, key: AllocSiteKey, bytes: u32) {
        let id = self.id(key) as usize;
        self.sites[id].out += 1;
        self.sites[id].out_bytes += bytes as u64;
    }
    /// Has a site enough to be decided on?
    #[cfg(test)]
    pub(crate) fn is_due(&self) -> bool {
        !self.due.is_empty()
    }
    /// Tells the book what is due and gives what that decided anew.
    pub(crate) fn settle(&mut self, book: &AllocSiteBook) -> Vec<(AllocSiteKey, Strategy)> {
        let mut out = Vec::new();
        if self.due.is_empty() {
            return out;
        }
        let mut b = crate::shared::lock(&book.inner);
        for id in std::mem::take(&mut self.due) {
            let s = &mut self.sites[id as usize];
            let fresh = std::mem::take(&mut s.fresh);
            s.known = 0;
            s.settled = true;
            if let Some(to) = b.tell(s.key, &fresh, book.policy, book.clock.load(Relaxed)) {
                out.push((s.key, to));
            }
            s.enough = self.policy.enough;
        }
        book.count(&b, !out.is_empty());
        out
    }
    /// A site gets another trial: it is undecided again for this worker.
    pub(super) fn try_again(&mut self, key: AllocSiteKey) {
        if let Some(&id) = self.ids.get(&key) {
            let s = &mut self.sites[id as usize];
            s.settled = false;
            s.known = 0;
            s.enough = ENOUGH_IN_TRIAL.min(self.policy.enough);
        }
    }
    /// Forgets the sites that are `dead`. After a node collection, when no record names a site.
    pub fn forget(&mut self, dead: &dyn Fn(&AllocSiteKey) -> bool) {
        if self.profile || !self.sites.iter().any(|s| dead(&s.key)) {
            return;
        }
        let due: FxHashSet<u32> = std::mem::take(&mut self.due).into_iter().collect();
        self.ids = FxHashMap::default();
        self.front.fill((AllocSiteKey::default(), 0));
        for (id, s) in std::mem::take(&mut self.sites).into_iter().enumerate() {
            if id != 0 && dead(&s.key) {
                continue;
            }
            let new = self.sites.len() as u32;
            if id != 0 {
                self.ids.insert(s.key, new);
            }
            if due.contains(&(id as u32)) {
                self.due.push(new);
            }
            self.sites.push(s);
        }
    }
    /// Tells the book everything, decided or not: for reports.
    pub fn flush(&mut self, book: &AllocSiteBook) {
        let mut b = crate::shared::lock(&book.inner);
        for s in self.sites.iter_mut().skip(1) {
            let e = b.entry(s.key);
            e.total.add(&s.fresh);
            e.recent.add(&s.fresh);
            e.out += std::mem::take(&mut s.out);
            e.out_bytes += std::mem::take(&mut s.out_bytes);
            s.fresh = Fates::default();
        }
    }
}
