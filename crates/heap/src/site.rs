//! Allocation sites: what became of the cells each one made, and where it is to make its next ones.
//!
//! A site is an allocating instruction; in code of the runtime's own library it is told apart by the
//! user's call that led there, and where one instruction makes several series of cells, by the series (`series`). A worker counts the fates of its cells in a [`SiteTable`] of its own,
//! without a lock: ids of sites stand beside the cells of *recording* windows only, so that a window
//! that does not record costs nothing. Whenever enough fates of one site are known, its counts go to the
//! runtime's [`SiteBook`], where counts of all workers meet and the site's [`Strategy`] is decided.
//!
//! Invariant: the book's lock is innermost, taken only at safepoints, and only when a site has
//! something to decide. A site whose strategy is [`Strategy::Out`] stays so until its time for
//! another trial comes; each trial that fails doubles that time.

use crate::series::{HELD, Subject};
use crate::{Heap, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::*};

/// Where the next cell is born.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum Place {
    /// In the worker's window.
    #[default]
    Window,
    /// Outside of it, still one thread's.
    Out,
    /// Outside, and known to be shared at once.
    Shared,
}

/// What became of a cell that was born in a window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// A window collection freed it.
    Freed,
    /// It was stored where it had to leave the window.
    Published,
    /// Its window retired while it was in use.
    Retired,
}

/// Where a site's cells are born.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Strategy {
    #[default]
    Window,
    Out,
}

/// An allocating instruction: the address that the loop saved when it came there, and for code of the
/// runtime's own library the one of the call in the user's code that led there (else 0).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct SiteKey {
    pub at: u64,
    pub caller: u64,
    /// Which of several series of cells that it makes ([`Series`](crate::Series)); else 0.
    pub of: u32,
}

/// Which of the two optimizations are on (`KUMI_TLH_SITES`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SiteMode {
    None,
    /// Only what the compiler is certain of.
    Static,
    /// That, and what the history of each site tells.
    History,
}

/// How sites are decided on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SitePolicy {
    pub mode: SiteMode,
    /// A site goes out when one in so many of its cells fails (`KUMI_TLH_RATIO`, 4 to 16).
    pub ratio: u64,
    /// The rule that a store into any field marks what is stored (`KUMI_TLH=paper`): then the compiler is
    /// certain of more.
    pub fields: bool,
    /// `KUMI_TLH_STRESS`: instructions are rewritten by chance, and decisions come soon. 0: off.
    pub stress: u64,
    /// Fates known before a site is decided on.
    enough: u32,
    /// Ticks of the book (window collections) until a site that went out gets its first new trial.
    first_trial: u64,
}

impl Default for SitePolicy {
    fn default() -> Self {
        SitePolicy { mode: SiteMode::History, ratio: 4, fields: false, stress: 0, enough: ENOUGH, first_trial: FIRST_TRIAL }
    }
}

impl SitePolicy {
    /// As the environment says.
    pub fn from_env() -> SitePolicy {
        let mode = match std::env::var("KUMI_TLH_SITES").as_deref().map(str::trim) {
            Ok("none") => SiteMode::None,
            Ok("static") => SiteMode::Static,
            _ => SiteMode::History,
        };
        let rule = std::env::var("KUMI_TLH").unwrap_or_default();
        let mode = if rule.trim() == "off" { SiteMode::None } else { mode };
        // Under stress sites move often.
        let seed = std::env::var("KUMI_TLH_STRESS").ok().map_or(0, |v| v.trim().parse::<u64>().unwrap_or(1).max(1));
        let stress = seed != 0;
        let ratio = std::env::var("KUMI_TLH_RATIO").ok().and_then(|v| v.trim().parse::<u64>().ok());
        let usual = SitePolicy::default();
        SitePolicy {
            mode,
            ratio: ratio.unwrap_or(usual.ratio).clamp(2, 64),
            fields: rule.trim() == "paper",
            stress: seed,
            enough: if stress { 4 } else { ENOUGH },
            first_trial: if stress { 8 } else { FIRST_TRIAL },
        }
    }
}

/// Fates known before a site is decided on.
const ENOUGH: u32 = 128;
/// ... in a new trial of a site that had gone out.
const ENOUGH_IN_TRIAL: u32 = 32;
/// Ticks of the book (window collections) until a site that went out gets its first new trial.
const FIRST_TRIAL: u64 = 1024;
/// A node collection counts as so many ticks: where nothing is born in windows, those stand still.
pub const NODE_TICKS: u64 = 64;
/// One window in so many records when nearly all cells are of decided sites: recording a cell costs some 200
/// instructions, and this way 0.5 % in a program that does nothing but allocate.
const SELDOM: u32 = 64;
/// Slots of the table's front: a power of two.
const FRONT: usize = 256;

/// Counts of one site by fate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Fates {
    pub freed: u64,
    pub published: u64,
    pub retired: u64,
    /// Bytes of all of these.
    pub bytes: u64,
    /// Bytes of the published and retired ones.
    pub failed_bytes: u64,
}

impl Fates {
    pub fn all(&self) -> u64 {
        self.freed + self.published + self.retired
    }
    pub fn failed(&self) -> u64 {
        self.published + self.retired
    }
    pub fn add(&mut self, o: &Fates) {
        self.freed += o.freed;
        self.published += o.published;
        self.retired += o.retired;
        self.bytes += o.bytes;
        self.failed_bytes += o.failed_bytes;
    }
}

/// One site as its worker knows it.
#[derive(Clone, Copy, Debug, Default)]
struct Local {
    key: SiteKey,
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
pub struct SiteTable {
    ids: FxHashMap<SiteKey, u32>,
    front: Box<[(SiteKey, u32)]>,
    sites: Vec<Local>,
    due: Vec<u32>,
    /// Cells recorded in the present window, and those of sites still undecided among them.
    cells: u32,
    unsettled: u32,
    /// Windows until the next one that records.
    skip: u32,
    policy: SitePolicy,
    /// Every window records and every birth outside is counted: a profile is being made.
    profile: bool,
}

impl SiteTable {
    pub fn new(policy: SitePolicy) -> SiteTable {
        SiteTable {
            ids: FxHashMap::default(),
            front: vec![(SiteKey::default(), 0); FRONT].into(),
            sites: vec![Local::default()],
            due: Vec::new(),
            cells: 0,
            unsettled: 0,
            skip: 0,
            policy,
            profile: false,
        }
    }
    /// From now on every window records.
    pub fn set_profile(&mut self, on: bool) {
        self.profile = on;
    }
    pub fn profiles(&self) -> bool {
        self.profile
    }

    /// A window begins (fresh, or swept and used again): is it to record the sites of its cells?
    pub fn begin_window(&mut self) -> bool {
        if self.profile {
            return true;
        }
        if self.policy.mode != SiteMode::History {
            return false;
        }
        // What the last recording window saw says whether there is much to learn.
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
    /// The id of a site, for the record of a cell that it makes now in a recording window.
    #[inline]
    pub fn id(&mut self, key: SiteKey) -> u32 {
        self.cells += 1;
        let h = (key.at >> 3 ^ key.caller >> 2 ^ (key.of as u64).wrapping_mul(0x9E37_79B9) >> 24) as usize % FRONT;
        let f = self.front[h];
        let id = if f.0 == key && f.1 != 0 { f.1 } else { self.find(key, h) };
        self.unsettled += !self.sites[id as usize].settled as u32;
        id
    }
    #[inline(never)]
    fn find(&mut self, key: SiteKey, h: usize) -> u32 {
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
    /// What became of a cell of a recording window, as far as it is known by now: once for each cell.
    #[inline]
    pub fn fate(&mut self, site: u32, fate: Fate, bytes: u32) {
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
    pub fn born_out(&mut self, key: SiteKey, bytes: u32) {
        let id = self.id(key) as usize;
        self.sites[id].out += 1;
        self.sites[id].out_bytes += bytes as u64;
    }
    /// Has a site enough to be decided on?
    #[inline]
    pub fn is_due(&self) -> bool {
        !self.due.is_empty()
    }
    /// Tells the book what is due and gives what that decided anew.
    pub fn settle(&mut self, book: &SiteBook) -> Vec<(SiteKey, Strategy)> {
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
    fn try_again(&mut self, key: SiteKey) {
        if let Some(&id) = self.ids.get(&key) {
            let s = &mut self.sites[id as usize];
            s.settled = false;
            s.known = 0;
            s.enough = ENOUGH_IN_TRIAL.min(self.policy.enough);
        }
    }
    /// Tells the book everything, decided or not: for reports.
    pub fn flush(&mut self, book: &SiteBook) {
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

/// One site in a report.
#[derive(Clone, Copy, Debug)]
pub struct SiteReport {
    pub key: SiteKey,
    pub fates: Fates,
    /// Born outside, cells and bytes: known when a profile was made.
    pub out: u64,
    pub out_bytes: u64,
    /// `None`: too little is known of it.
    pub strategy: Option<Strategy>,
}

#[derive(Default)]
struct Entry {
    /// Since the runtime began.
    total: Fates,
    /// Since it was decided last: older counts weigh half at each decision.
    recent: Fates,
    out: u64,
    out_bytes: u64,
    strategy: Option<Strategy>,
    /// When it is to get another trial, and how long after the next failure.
    again: u64,
    patience: u64,
    /// Is it being tried again?
    trial: bool,
}

#[derive(Default)]
struct Inner {
    sites: FxHashMap<SiteKey, Entry>,
    /// Those that went out, for the search for new trials.
    out: Vec<SiteKey>,
    window: usize,
}

impl Inner {
    fn entry(&mut self, key: SiteKey) -> &mut Entry {
        self.sites.entry(key).or_default()
    }
    /// New counts of a site; its strategy when that changes by them.
    fn tell(&mut self, key: SiteKey, fresh: &Fates, policy: SitePolicy, now: u64) -> Option<Strategy> {
        let e = self.sites.entry(key).or_default();
        e.total.add(fresh);
        e.recent.add(fresh);
        let all = e.recent.all();
        if policy.mode != SiteMode::History || all < if e.trial { ENOUGH_IN_TRIAL.min(policy.enough) } else { policy.enough } as u64 {
            return None;
        }
        let to = if e.recent.failed() * policy.ratio >= all { Strategy::Out } else { Strategy::Window };
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
        if was == Some(Strategy::Window) {
            self.window -= 1;
        }
        if to == Strategy::Out {
            e.patience = e.patience.max(policy.first_trial);
            e.again = now.saturating_add(e.patience);
            self.out.push(key);
            Some(to)
        } else {
            self.window += 1;
            // Where it was undecided before, its cells are born there already.
            None
        }
    }
}

/// The sites of a runtime.
pub struct SiteBook {
    inner: Mutex<Inner>,
    pub policy: SitePolicy,
    /// Window collections so far, and node collections weighed.
    clock: AtomicU64,
    /// Clock at which somebody looks for sites to try again.
    next_look: AtomicU64,
    window: AtomicUsize,
    out: AtomicUsize,
    /// Counts the changes of strategies: who has a copy of some of them looks here.
    epoch: AtomicU64,
}

impl Default for SiteBook {
    fn default() -> Self {
        SiteBook::new(SitePolicy::from_env())
    }
}

impl SiteBook {
    pub fn new(policy: SitePolicy) -> SiteBook {
        SiteBook {
            inner: Mutex::default(),
            policy,
            clock: AtomicU64::new(0),
            next_look: AtomicU64::new(policy.first_trial),
            window: AtomicUsize::new(0),
            out: AtomicUsize::new(0),
            epoch: AtomicU64::new(0),
        }
    }
    fn count(&self, b: &Inner, changed: bool) {
        self.window.store(b.window, Relaxed);
        self.out.store(b.out.len(), Relaxed);
        if changed {
            self.epoch.fetch_add(1, Release);
        }
    }
    /// A window collection ended (1), or a node collection ([`NODE_TICKS`]).
    #[inline]
    pub fn tick(&self, n: u64) {
        self.clock.fetch_add(n, Relaxed);
    }
    /// Sites decided to make their cells in windows, and outside.
    pub fn counts(&self) -> (usize, usize) {
        (self.window.load(Relaxed), self.out.load(Relaxed))
    }
    /// Grows when a site goes out, or gets another trial.
    pub fn epoch(&self) -> u64 {
        self.epoch.load(Acquire)
    }
    /// The sites that are out now.
    pub fn sites_out(&self) -> Vec<SiteKey> {
        crate::shared::lock(&self.inner).out.clone()
    }
    /// Sites whose time for another trial has come: they are no longer out. Mostly none, for the price of two loads.
    #[inline]
    pub fn trials(&self, t: &mut SiteTable) -> Vec<SiteKey> {
        let now = self.clock.load(Relaxed);
        if now < self.next_look.load(Relaxed) { Vec::new() } else { self.take_trials(t, now) }
    }
    #[cold]
    fn take_trials(&self, t: &mut SiteTable, now: u64) -> Vec<SiteKey> {
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
    /// All sites, for a report; the workers' tables have been flushed.
    pub fn report(&self) -> Vec<SiteReport> {
        let b = crate::shared::lock(&self.inner);
        b.sites
            .iter()
            .map(|(k, e)| SiteReport { key: *k, fates: e.total, out: e.out, out_bytes: e.out_bytes, strategy: e.strategy })
            .collect()
    }
}

/// Whose call tells apart what library code allocates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CalledBy {
    /// Whatever called the prelude.
    Anyone,
    /// What called into the runtime's own files, those of its standard library included.
    User,
}

/// Tells the heap where the loop is: a function of the loop's and what it is called with.
#[derive(Clone, Copy)]
pub struct SiteProbe {
    at: unsafe fn(*const (), CalledBy) -> SiteKey,
    with: *const (),
}

impl Default for SiteProbe {
    fn default() -> Self {
        SiteProbe { at: nowhere, with: std::ptr::null() }
    }
}

/// # Safety
/// None: it looks at nothing.
unsafe fn nowhere(_: *const (), _: CalledBy) -> SiteKey {
    SiteKey::default()
}

impl SiteProbe {
    /// # Safety
    /// `at(with, _)` must be sound to call whenever the heap that gets this probe allocates, for as long as it has it.
    pub unsafe fn new(at: unsafe fn(*const (), CalledBy) -> SiteKey, with: *const ()) -> SiteProbe {
        SiteProbe { at, with }
    }
    /// The site of the running instruction.
    #[inline]
    pub fn key(&self) -> SiteKey {
        // SAFETY: promised when the probe was made.
        unsafe { (self.at)(self.with, CalledBy::Anyone) }
    }
    /// The same, told apart by the call of the user's own code: asked seldom, for the way there may be longer.
    pub(crate) fn users_key(&self) -> SiteKey {
        // SAFETY: as above.
        unsafe { (self.at)(self.with, CalledBy::User) }
    }
}

/// What a heap knows of sites: its worker's table, where its loop is, and where the next cell goes.
pub(crate) struct Sites {
    pub table: SiteTable,
    pub probe: SiteProbe,
    /// Who is born now, and the key of the series if it is one's next.
    pub subject: Subject,
    pub series: SiteKey,
    /// Sites that are out and whose instruction does not tell: they are of series, or several callers'. As the
    /// book had it at that epoch.
    asked: (u64, FxHashSet<SiteKey>),
    /// Not [`Place::Window`]: allocation looks at it on its slow path, which it has to take then.
    pub place: Place,
    /// Cells born elsewhere since `place` was set. They may yet hold what has fewer flags than they have.
    pub born: Vec<Value>,
}

impl Sites {
    pub fn new(policy: SitePolicy) -> Sites {
        Sites {
            table: SiteTable::new(policy),
            probe: SiteProbe::default(),
            subject: Subject::Instruction,
            series: SiteKey::default(),
            asked: Default::default(),
            place: Place::Window,
            born: Vec::new(),
        }
    }
    /// The site of what is born now.
    fn key(&self) -> SiteKey {
        match self.subject {
            Subject::Instruction => self.probe.key(),
            Subject::Series => self.series,
            Subject::Held => SiteKey { of: HELD, ..self.probe.key() },
        }
    }
}

/// What the loop is to do about its instructions.
#[derive(Default, Debug)]
pub struct SiteNews {
    /// These sites went out.
    pub out: Vec<SiteKey>,
    /// These get another trial in the window.
    pub back: Vec<SiteKey>,
}

impl Heap {
    /// From now on `p` tells where the loop is.
    pub fn set_probe(&mut self, p: SiteProbe) {
        self.sites.probe = p;
    }
    /// The id of its site, for the record of a cell that is born now in a recording window. 0: it has none.
    #[inline(never)]
    pub fn site_now(&mut self) -> u32 {
        if self.sites.subject == Subject::Held && !self.sites.table.profiles() {
            return 0;
        }
        let k = self.sites.key();
        self.sites.table.id(k)
    }
    /// The site of what is born now: the running instruction's, or a series'.
    pub fn running_site(&self) -> SiteKey {
        self.sites.key()
    }
    /// Is a site out that is not its instruction's alone?
    #[inline]
    pub fn site_is_out(&mut self, key: &SiteKey) -> bool {
        let now = self.shared.book.epoch();
        if now != self.sites.asked.0 {
            let out = self.shared.book.sites_out().into_iter().filter(|k| k.caller != 0 || k.of != 0).collect();
            self.sites.asked = (now, out);
        }
        self.sites.asked.1.contains(key)
    }
    /// The worker's table of sites.
    pub fn site_table(&mut self) -> &mut SiteTable {
        &mut self.sites.table
    }
    /// The runtime's sites.
    pub fn site_book(&self) -> &SiteBook {
        &self.shared.book
    }
    /// What the fates that are known by now have decided. At safepoints, after a window collection.
    #[inline]
    pub fn settle_sites(&mut self) -> SiteNews {
        if self.shared.book.policy.mode != SiteMode::History {
            return SiteNews::default();
        }
        // A series asks by itself: its instruction stays as it is.
        let mut back = self.shared.book.trials(&mut self.sites.table);
        back.retain(|k| k.of == 0);
        let out = self.sites.table.settle(&self.shared.book).into_iter().map(|s| s.0).filter(|k| k.of == 0).collect();
        SiteNews { out, back }
    }
    /// What cells that were born outside hold by now gets their flags.
    #[inline(never)]
    pub(crate) fn raise_born(&mut self, shared: bool) {
        let mut born = std::mem::take(&mut self.sites.born);
        self.raise_held(&born, shared);
        if self.sites.table.profiles() {
            let key = self.sites.key();
            for h in born.iter().filter_map(|c| c.header()) {
                self.sites.table.born_out(key, crate::trace::cell_bytes(h) as u32);
            }
        }
        if !shared && !born.is_empty() {
            self.confined_born();
        }
        born.clear();
        self.sites.born = born;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(at: u64) -> SiteKey {
        SiteKey { at, ..SiteKey::default() }
    }
    fn policy(ratio: u64) -> SitePolicy {
        SitePolicy { ratio, ..SitePolicy::default() }
    }
    /// `n` cells of a site, of which one in `fails` is published (0: none).
    fn live(t: &mut SiteTable, k: SiteKey, n: u32, fails: u32) {
        for i in 0..n {
            let id = t.id(k);
            let f = if fails > 0 && i % fails == 0 { Fate::Published } else { Fate::Freed };
            t.fate(id, f, 48);
        }
    }

    #[test]
    fn a_site_is_decided_after_128_known_fates_by_its_ratio() {
        let book = SiteBook::new(policy(8));
        let mut t = SiteTable::new(book.policy);
        live(&mut t, key(8), 127, 4);
        assert!(!t.is_due() && t.settle(&book).is_empty());
        live(&mut t, key(8), 1, 4);
        assert!(t.is_due());
        assert_eq!(t.settle(&book), [(key(8), Strategy::Out)]);
        live(&mut t, key(16), 128, 16);
        assert_eq!(t.settle(&book), []);
        assert_eq!(book.counts(), (1, 1));
        // A site of the window kind stays watched, and goes out when it changes.
        for _ in 0..4 {
            live(&mut t, key(16), 128, 1);
        }
        assert_eq!(t.settle(&book), [(key(16), Strategy::Out)]);
        assert_eq!(book.counts(), (0, 2));
        assert_eq!(book.sites_out(), [key(8), key(16)]);
    }

    #[test]
    fn thresholds_from_a_quarter_to_a_sixteenth() {
        for (ratio, out) in [(4, false), (8, true), (16, true)] {
            let book = SiteBook::new(policy(ratio));
            let mut t = SiteTable::new(book.policy);
            live(&mut t, key(8), 128, 8);
            assert_eq!(t.settle(&book).len(), out as usize, "1/{ratio}");
        }
    }

    #[test]
    fn a_site_that_went_out_is_tried_again_and_waits_longer_after_each_failure() {
        let book = SiteBook::new(policy(8));
        let mut t = SiteTable::new(book.policy);
        live(&mut t, key(8), 128, 1);
        assert_eq!(t.settle(&book).len(), 1);
        assert!(book.trials(&mut t).is_empty());
        book.tick(FIRST_TRIAL);
        assert_eq!(book.trials(&mut t), [key(8)]);
        assert_eq!(book.counts(), (0, 0));
        live(&mut t, key(8), ENOUGH_IN_TRIAL, 1);
        assert_eq!(t.settle(&book), [(key(8), Strategy::Out)]);
        book.tick(FIRST_TRIAL);
        assert!(book.trials(&mut t).is_empty());
        book.tick(FIRST_TRIAL);
        assert_eq!(book.trials(&mut t), [key(8)]);
        // This time it does well.
        live(&mut t, key(8), ENOUGH_IN_TRIAL, 0);
        assert!(t.settle(&book).is_empty());
        assert_eq!(book.counts(), (1, 0));
    }

    #[test]
    fn workers_add_up_in_the_book() {
        let book = SiteBook::new(policy(8));
        let (mut a, mut b) = (SiteTable::new(book.policy), SiteTable::new(book.policy));
        live(&mut a, key(8), 128, 2);
        live(&mut b, key(8), 128, 2);
        assert_eq!(a.settle(&book).len(), 1);
        assert_eq!(b.settle(&book), []);
        live(&mut b, key(16), 5, 1);
        b.flush(&book);
        let r = book.report();
        let of = |k: u64| r.iter().find(|s| s.key == key(k)).unwrap();
        assert_eq!((of(8).fates.all(), of(8).fates.failed(), of(8).strategy), (256, 128, Some(Strategy::Out)));
        assert_eq!((of(16).fates.all(), of(16).fates.bytes, of(16).strategy), (5, 240, None));
    }

    #[test]
    fn windows_record_while_there_is_something_to_learn() {
        let mut t = SiteTable::new(policy(8));
        let book = SiteBook::new(policy(8));
        assert!(t.begin_window());
        live(&mut t, key(8), 100, 0);
        assert!(t.begin_window());
        live(&mut t, key(8), 100, 0);
        t.settle(&book);
        // Undecided at its birth, decided by now: once more.
        assert!(t.begin_window());
        live(&mut t, key(8), 100, 0);
        let records = (0..64).filter(|_| {
            let r = t.begin_window();
            if r {
                live(&mut t, key(8), 100, 0);
            }
            r
        });
        assert_eq!(records.count(), 1);
        let mut none = SiteTable::new(SitePolicy { mode: SiteMode::Static, ..SitePolicy::default() });
        assert!(!none.begin_window());
        none.set_profile(true);
        assert!(none.begin_window());
    }

    #[test]
    fn callers_tell_sites_of_the_library_apart() {
        let mut t = SiteTable::new(policy(8));
        let (a, b) = (SiteKey { at: 8, caller: 80, of: 0 }, SiteKey { at: 8, caller: 88, of: 0 });
        assert_ne!(t.id(a), t.id(b));
        assert_eq!(t.id(a), t.id(a));
        t.fate(0, Fate::Freed, 16);
        t.fate(99, Fate::Freed, 16);
    }
}
