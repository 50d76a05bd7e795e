//! Allocation sites: what became of the cells each one made, and where it is to make its next ones.
//!
//! A site is an allocating instruction; in code of the runtime's own library it is told apart by the
//! user's call that led there, and where one instruction makes several series of cells, by the series (`series`). A worker counts the fates of its cells in a [`AllocSiteTable`] of its own,
//! without a lock: ids of sites stand beside the cells of *recording* nurseries only, so that a nursery
//! that does not record costs nothing. Whenever enough fates of one site are known, its counts go to the
//! runtime's [`AllocSiteBook`], where counts of all workers meet and the site's [`Strategy`] is decided.
//!
//! Here are the words for it, and what a heap does at its loop's sites. The worker's counts: `alloc_site/table.rs`; history and
//! decisions: `alloc_site/book.rs`; by what rules: `alloc_site/policy.rs`; where the loop is: `alloc_site/probe.rs`.
//!
//! Invariant: while the present place is not [`BirthPlace::Nursery`], every birth takes the slow path, and what was born
//! there and may yet be filled is in [`Sites::born`] until its flags have reached what it holds.

pub(crate) mod sample;
pub(crate) mod series;

mod book;
mod policy;
mod probe;
mod table;
#[cfg(test)]
mod tests;

pub use book::{AllocSiteBook, AllocSiteReport, NODE_TICKS};
pub use policy::{AllocSiteMode, AllocSitePolicy};
pub use probe::{AllocSiteProbe, CalledBy};
pub use table::AllocSiteTable;

use crate::alloc_site::series::{HELD, Subject};
use crate::{Heap, Value};
use rustc_hash::FxHashSet;

/// Where the next cell is born.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum BirthPlace {
    /// In the worker's nursery.
    #[default]
    Nursery,
    /// Outside of it, still one thread's.
    Out,
    /// Outside, and known to be shared at once.
    Shared,
}

/// What became of a cell that was born in a nursery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// A nursery collection freed it.
    Freed,
    /// It was stored where it had to leave the nursery.
    Published,
    /// Its nursery retired while it was in use.
    Retired,
}

/// Where a site's cells are born.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Strategy {
    /// In the worker's nursery.
    #[default]
    Nursery,
    /// Outside, still one thread's.
    Out,
}

/// An allocating instruction: the address that the loop saved when it came there, and for code of the
/// runtime's own library the one of the call in the user's code that led there (else 0).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct AllocSiteKey {
    /// The program counter that the loop had saved, behind the instruction's word.
    pub at: u64,
    /// The call in the user's code; 0 where `at` is the user's own.
    pub caller: u64,
    /// Which of several series of cells that it makes ([`Series`](crate::Series)); else 0.
    pub of: u32,
}

/// Counts of one site by fate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Fates {
    /// Cells that a nursery collection freed.
    pub freed: u64,
    /// Cells that were stored where they had to leave the nursery.
    pub published: u64,
    /// Cells whose nursery retired while they were in use.
    pub retired: u64,
    /// Bytes of all of these.
    pub bytes: u64,
    /// Bytes of the published and retired ones.
    pub failed_bytes: u64,
}

impl Fates {
    /// Cells of any fate.
    pub fn all(&self) -> u64 {
        self.freed + self.published + self.retired
    }
    /// Misspeculated cells: published or retired.
    pub(crate) fn failed(&self) -> u64 {
        self.published + self.retired
    }
    /// Adds another's counts.
    pub fn add(&mut self, o: &Fates) {
        self.freed += o.freed;
        self.published += o.published;
        self.retired += o.retired;
        self.bytes += o.bytes;
        self.failed_bytes += o.failed_bytes;
    }
}

/// What a heap knows of sites: its worker's table, where its loop is, and where the next cell goes.
pub(crate) struct Sites {
    pub table: AllocSiteTable,
    pub probe: AllocSiteProbe,
    /// Who is born now, and the key of the series if it is one's next.
    pub subject: Subject,
    pub series: AllocSiteKey,
    /// Sites that are out and whose instruction does not tell: they are of series, or several callers'. As the
    /// book had it at that epoch.
    asked: (u64, FxHashSet<AllocSiteKey>),
    /// Not [`BirthPlace::Nursery`]: allocation looks at it on its slow path, which it has to take then.
    pub place: BirthPlace,
    /// Cells born elsewhere since `place` was set. They may yet hold what has fewer flags than they have.
    pub born: Vec<Value>,
}

impl Sites {
    pub fn new(policy: AllocSitePolicy) -> Sites {
        Sites {
            table: AllocSiteTable::new(policy),
            probe: AllocSiteProbe::default(),
            subject: Subject::Instruction,
            series: AllocSiteKey::default(),
            asked: Default::default(),
            place: BirthPlace::Nursery,
            born: Vec::new(),
        }
    }
    /// The site of what is born now.
    fn key(&self) -> AllocSiteKey {
        match self.subject {
            Subject::Instruction => self.probe.key(),
            Subject::Series => self.series,
            Subject::Held => AllocSiteKey { of: HELD, ..self.probe.key() },
        }
    }
}

/// What the loop is to do about its instructions.
#[derive(Default, Debug)]
pub struct AllocSiteNews {
    /// These sites went out.
    pub out: Vec<AllocSiteKey>,
    /// These get another trial in the nursery.
    pub back: Vec<AllocSiteKey>,
}

impl Heap {
    /// From now on `p` tells where the loop is.
    pub fn set_probe(&mut self, p: AllocSiteProbe) {
        self.sites.probe = p;
    }
    /// The id of its site, for the record of a cell that is born now in a recording nursery. 0: it has none.
    #[inline(never)]
    pub(crate) fn site_now(&mut self) -> u32 {
        if self.sites.subject == Subject::Held && !self.sites.table.profiles() {
            return 0;
        }
        let k = self.sites.key();
        self.sites.table.id(k)
    }
    /// The site of what is born now: the running instruction's, or a series'.
    pub(crate) fn running_site(&self) -> AllocSiteKey {
        self.sites.key()
    }
    /// Is a site out that is not its instruction's alone?
    #[inline]
    pub fn site_is_out(&mut self, key: &AllocSiteKey) -> bool {
        let now = self.shared.book.epoch();
        if now != self.sites.asked.0 {
            let out = self.shared.book.sites_out().into_iter().filter(|k| k.caller != 0 || k.of != 0).collect();
            self.sites.asked = (now, out);
        }
        self.sites.asked.1.contains(key)
    }
    /// The worker's table of sites.
    pub fn site_table(&mut self) -> &mut AllocSiteTable {
        &mut self.sites.table
    }
    /// The runtime's sites.
    pub fn site_book(&self) -> &AllocSiteBook {
        &self.shared.book
    }
    /// What the fates that are known by now have decided. At safepoints, after a nursery collection.
    #[inline]
    pub fn settle_sites(&mut self) -> AllocSiteNews {
        if self.shared.book.policy.mode != AllocSiteMode::History {
            return AllocSiteNews::default();
        }
        // A series asks by itself: its instruction stays as it is.
        let mut back = self.shared.book.trials(&mut self.sites.table);
        back.retain(|k| k.of == 0);
        let out = self.sites.table.settle(&self.shared.book).into_iter().map(|s| s.0).filter(|k| k.of == 0).collect();
        AllocSiteNews { out, back }
    }
    /// What cells that were born outside hold by now gets their flags.
    #[inline(never)]
    pub(crate) fn raise_born(&mut self, shared: bool) {
        let mut born = std::mem::take(&mut self.sites.born);
        self.raise_held(&born, shared);
        if self.sites.table.profiles() {
            let key = self.sites.key();
            for h in born.iter().filter_map(|c| c.header()) {
                self.sites.table.born_out(key, crate::cells::trace::cell_bytes(h) as u32);
            }
        }
        if !shared && !born.is_empty() {
            self.confined_born();
        }
        born.clear();
        self.sites.born = born;
    }
}
