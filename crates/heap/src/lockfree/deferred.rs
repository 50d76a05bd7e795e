//! Buffers that were replaced while other workers may still read them.
//!
//! Invariant: memory given to `free_later` by a thread that is bound to a
//! [`Deferred`] list stays readable until a collection releases it
//! (`Deferred::release_old`), which happens only while the world is stopped; no
//! reader keeps a borrow of a buffer across a safepoint, so nobody reads it then or afterwards,
//! but for readers that a stop does not wait for: what was replaced before the last
//! stop that such a reader has seen is nothing to it, later things stay.
//! *Large* buffers need not wait for a stop: a grace period of the active workers (`stop.rs` of the crate `sched`) will do, which
//! stops nobody. Where arrays of megabytes are changed, what was replaced is at hand again some safepoints later, and not as many megabytes of
//! fresh pages later: its worker keeps some for its next ones (`spare.rs`), as it does those of cells that are swept.
//! What is released is freed by its worker bit by bit, as blocks are swept; what is left at the next collection, by the
//! worker that collects.
//! A thread that is bound to no list runs alone (or owns what it frees): there
//! the memory goes back at once.
//!
//! `tests/loom_deferred.rs` runs this file in every interleaving.

use super::gate::{Gate, Gates};
use super::readers::looked_at;
use super::spare::Spares;
use super::sync::{Arc, RefCell, dealloc, thread_local};
use std::alloc::Layout;
use std::cell::Cell;
use std::ptr::null;

/// Buffers that are freed at once: about as long as a block takes to sweep.
const BATCH: usize = 64;

/// Buffers of that size are large.
const LARGE: usize = 64 << 10;
/// So many bytes of large buffers are worth a grace period.
const MUCH: usize = 256 << 10;

/// At most `BATCH` buffers. They change lists as they are, at stops too.
type Batch = Vec<(*mut u8, Layout)>;

/// What one worker has replaced.
#[derive(Default)]
pub struct Deferred {
    list: RefCell<Vec<Batch>>,
    /// What was replaced before a stop, by the stop's number, that a reader may still look at.
    old: RefCell<Vec<(u64, Vec<Batch>)>>,
    /// Large buffers that were replaced since the last grace period of this list began.
    large: RefCell<Batch>,
    large_bytes: Cell<usize>,
    /// Those that were replaced before a grace period, by its number.
    graces: RefCell<Vec<(u64, Batch)>>,
    /// What nobody reads any more, to be freed.
    due: RefCell<Vec<Batch>>,
    /// Large ones that were freed, for its worker's next ones.
    spares: Spares,
    /// Bytes not yet counted towards the next collection.
    fresh: Cell<usize>,
    /// Through which its worker stores without a lock.
    gate: Option<Gate>,
}

// SAFETY: the list owns its memory, and is used by the thread it is bound to, or by the collecting one while that is stopped.
unsafe impl Send for Deferred {}

thread_local! {
    static LIST: Cell<*const Deferred> = const { Cell::new(null()) };
}

#[inline(always)]
fn bound() -> *const Deferred {
    LIST.with(Cell::get)
}

/// Does this thread run beside others (is it bound to a list)?
#[inline(always)]
pub(crate) fn parallel() -> bool {
    !bound().is_null()
}

/// Frees `p` when no racing reader can look at it any more: at once when this thread runs alone.
///
/// # Safety
/// `p` was allocated with `layout`, new readers can't reach it, and nobody frees it again.
#[inline]
pub(crate) unsafe fn free_later(p: *mut u8, layout: Layout) {
    let list = bound();
    if list.is_null() {
        // SAFETY: the caller's promise; nobody else runs.
        unsafe { dealloc(p, layout) };
    } else {
        // SAFETY: a bound list outlives its binding (`bind`'s contract).
        unsafe { (*list).put(p, layout) };
    }
}

/// Frees `p`, which nobody can look at: in parallel mode a large one may be kept for [`reuse`].
///
/// # Safety
/// `p` was allocated with `layout`, nobody reads it, and nobody frees it again.
#[inline]
pub(crate) unsafe fn free_now(p: *mut u8, layout: Layout) {
    let list = if layout.size() >= LARGE { bound() } else { null() };
    // SAFETY: the caller's promise; a bound list outlives its binding.
    unsafe {
        match list.as_ref() {
            Some(list) => list.spares.put(p, layout),
            None => dealloc(p, layout),
        }
    }
}

/// A buffer of just this layout that this worker has freed lately; only in parallel mode, and of large ones. To be written anew.
#[inline]
pub(crate) fn reuse(layout: Layout) -> Option<*mut u8> {
    // SAFETY: as in `free_later`.
    unsafe { bound().as_ref() }?.spares.take(layout)
}

/// Does this worker keep some for that?
pub(crate) fn has_spares() -> bool {
    // SAFETY: as in `free_later`.
    unsafe { bound().as_ref() }.is_some_and(|l| l.spares.is_open() && l.spare_bytes() > 0)
}

/// Frees what it keeps.
#[cold]
pub(crate) fn free_spares() {
    // SAFETY: as in `free_later`.
    if let Some(l) = unsafe { bound().as_ref() } {
        l.free_spares();
    }
}

/// Waits until no store into `place` that was begun without its lock is under way. The caller has the lock.
#[inline]
pub(crate) fn settle(place: usize) {
    let list = bound();
    if !list.is_null() {
        // SAFETY: as in `free_later`.
        if let Some(g) = unsafe { &(*list).gate } {
            g.wait_out(place);
        }
    }
}

/// Stores into `place` without its lock. `None`: somebody holds that, or this thread has no gate.
#[inline(always)]
pub(crate) fn unlocked<T>(place: usize, locked: impl FnOnce() -> bool, store: impl FnOnce() -> T) -> Option<T> {
    let list = bound();
    if list.is_null() {
        return None;
    }
    // SAFETY: as in `free_later`.
    unsafe { (*list).gate.as_ref() }?.pass(place, locked, store)
}

/// Binds this thread to `list`: it runs in parallel mode. `None`: it runs alone again.
///
/// # Safety
/// The list must stay where it is, and be used by this thread only, until the thread is bound otherwise.
pub unsafe fn bind(list: Option<&Deferred>) {
    LIST.with(|l| l.set(list.map_or(null(), |l| l as *const Deferred)));
}

/// Runs `f` as if this thread ran alone: what it replaces is freed at once. For changes of cells that no other
/// thread can reach, while others run.
///
/// What `f` changes must be such cells only.
#[inline]
pub fn alone<T>(f: impl FnOnce() -> T) -> T {
    /// Binds the list again, whatever way `f` ends.
    struct Back(*const Deferred);
    impl Drop for Back {
        #[inline]
        fn drop(&mut self) {
            // `LocalKey::set` is no inlined one, nor a model checker's.
            LIST.with(|l| l.set(self.0));
        }
    }
    let _back = Back(LIST.with(|l| l.replace(null())));
    f()
}

impl Deferred {
    /// The list of a worker that stores beside those which have gates of `gates`.
    pub(crate) fn with_gate(gates: &Arc<Gates>) -> Deferred {
        let mut list = Deferred::default();
        list.gate = Gates::take(gates);
        list
    }
    fn put(&self, p: *mut u8, layout: Layout) {
        if layout.size() >= LARGE {
            self.large_bytes.set(self.large_bytes.get() + layout.size());
            return self.large.borrow_mut().push((p, layout));
        }
        self.fresh.set(self.fresh.get() + layout.size());
        let mut list = self.list.borrow_mut();
        match list.last_mut() {
            Some(b) if b.len() < BATCH => b.push((p, layout)),
            _ => {
                let mut b = Vec::with_capacity(BATCH);
                b.push((p, layout));
                list.push(b);
            }
        }
    }
    /// Bytes held.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        let size = |b: &Batch| b.iter().map(|(_, l)| l.size()).sum::<usize>();
        let lists = self.list.borrow().iter().chain(self.due.borrow().iter()).map(size).sum::<usize>();
        let old = self.old.borrow().iter().flat_map(|o| &o.1).map(size).sum::<usize>();
        lists + old + size(&self.large.borrow()) + self.graces.borrow().iter().map(|g| size(&g.1)).sum::<usize>()
    }
    /// Bytes that came since this was last asked.
    #[inline]
    pub(crate) fn take_fresh(&self) -> usize {
        self.fresh.replace(0)
    }
    /// Is this the list the calling thread is bound to?
    pub(crate) fn is_bound(&self) -> bool {
        std::ptr::eq(bound(), self)
    }
    /// Are there large buffers that nobody has freed yet?
    #[inline]
    pub(crate) fn has_large(&self) -> bool {
        self.large_bytes.get() > 0 || !self.graces.borrow().is_empty()
    }
    /// Are there so many that were replaced lately that a grace period is worth it?
    #[inline]
    pub(crate) fn has_much_large(&self) -> bool {
        self.large_bytes.get() >= MUCH
    }
    /// Grace period `n` has begun.
    pub(crate) fn begin_grace(&self, n: u64) {
        self.large_bytes.set(0);
        let large = std::mem::take(&mut *self.large.borrow_mut());
        if !large.is_empty() {
            self.graces.borrow_mut().push((n, large));
        }
    }
    /// Frees what was replaced before a grace period that `is_over`, `oldest` being the last stop or period that every reader beside the
    /// stops has seen.
    ///
    /// # Safety
    /// A period is over when each thread that may read cells of this heap, and is no such reader, has been at a safepoint since it began, or
    /// did not look at what others replace when it began nor since, until its next safepoint or the end of that.
    pub(crate) unsafe fn end_grace(&self, is_over: impl Fn(u64) -> bool, oldest: Option<u64>) {
        let mut free = Vec::new();
        self.graces.borrow_mut().retain_mut(|(n, large)| {
            let stays = looked_at(*n, oldest) || !is_over(*n);
            if !stays {
                free.append(large);
            }
            stays
        });
        // SAFETY: the caller's promise, and no reader began before.
        unsafe { self.free(free) };
    }
    /// At stop number `stop`: what nobody reads may be freed from now on, `oldest` being the last stop that every reader
    /// beside the stops has seen (`None`: there is none).
    ///
    /// # Safety
    /// Every other thread that may read cells of this heap is stopped at a safepoint.
    pub(crate) unsafe fn release_old(&self, stop: u64, oldest: Option<u64>) {
        let (mut old, mut due) = (self.old.borrow_mut(), self.due.borrow_mut());
        let mut fresh = std::mem::take(&mut *self.list.borrow_mut());
        self.begin_grace(stop);
        // All workers stand still: grace periods are over.
        for (n, large) in std::mem::take(&mut *self.graces.borrow_mut()) {
            if n == stop { fresh.push(large) } else { old.push((n, vec![large])) }
        }
        if !fresh.is_empty() {
            old.push((stop, fresh));
        }
        old.retain_mut(|(at, list)| {
            let stays = looked_at(*at, oldest);
            if !stays {
                due.append(list);
            }
            stays
        });
        self.fresh.set(0);
    }
    /// Takes over what the list of a worker that is gone holds, on the same terms.
    pub(crate) fn take_over(&self, other: &Deferred) {
        self.list.borrow_mut().append(&mut other.list.borrow_mut());
        self.old.borrow_mut().append(&mut other.old.borrow_mut());
        self.due.borrow_mut().append(&mut other.due.borrow_mut());
        other.free_spares();
        self.large.borrow_mut().append(&mut other.large.borrow_mut());
        self.graces.borrow_mut().append(&mut other.graces.borrow_mut());
        self.large_bytes.set(self.large_bytes.get() + other.large_bytes.take());
        self.fresh.set(self.fresh.get() + other.fresh.take());
    }
    /// At a stop: what its worker did not come to free since the last one, for it may be idle for ever, goes to the list of
    /// the thread that collects; at once when that runs alone.
    pub(crate) fn hand_on(&self, to: Option<&Deferred>) {
        let Some(to) = to else {
            while self.free_some() {}
            return;
        };
        if !std::ptr::eq(self, to) {
            to.due.borrow_mut().append(&mut self.due.borrow_mut());
        }
    }
    /// Frees some of what is due. False: there was none.
    #[inline]
    pub(crate) fn free_some(&self) -> bool {
        let b = self.due.borrow_mut().pop();
        b.is_some_and(|b| {
            // SAFETY: nobody reads it (`release_old`).
            unsafe { self.free(b) };
            true
        })
    }
    /// After a node collection, at its stop: what nobody has wanted since the one before goes, after a full one all that is kept.
    pub(crate) fn spares_grow_old(&self, full: bool) {
        self.spares.grow_old(full);
    }
    /// The worker detaches, or is back: between, a stop may change what is kept.
    pub(crate) fn close_spares(&self, closed: bool) {
        self.spares.close(closed);
    }
    /// Bytes that are kept for the worker's next buffers.
    pub(crate) fn spare_bytes(&self) -> usize {
        self.spares.bytes()
    }
    /// Frees those.
    pub(crate) fn free_spares(&self) {
        self.spares.clear();
    }
    /// # Safety
    /// Nobody reads those.
    unsafe fn free(&self, b: Batch) {
        let keeps = self.is_bound();
        for (p, l) in b {
            // SAFETY: `free_later`'s promise, and the caller's.
            unsafe {
                if keeps && l.size() >= LARGE {
                    self.spares.put(p, l);
                } else {
                    dealloc(p, l);
                }
            }
        }
    }
    /// How often [`free_some`](Self::free_some) must be called to free all that is due.
    pub(crate) fn batches(&self) -> usize {
        self.due.borrow().len()
    }
    /// Frees everything.
    ///
    /// # Safety
    /// Every thread that may read cells of this heap is stopped at a safepoint.
    pub(crate) unsafe fn free_all(&self) {
        let (list, due) = (std::mem::take(&mut *self.list.borrow_mut()), std::mem::take(&mut *self.due.borrow_mut()));
        let old = std::mem::take(&mut *self.old.borrow_mut());
        self.begin_grace(0);
        let large = std::mem::take(&mut *self.graces.borrow_mut());
        for b in list.into_iter().chain(due).chain(old.into_iter().flat_map(|o| o.1)).chain(large.into_iter().map(|l| l.1)) {
            // SAFETY: no reader by this function's promise.
            unsafe { self.free(b) };
        }
        self.free_spares();
        self.fresh.set(0);
    }
}

impl Drop for Deferred {
    fn drop(&mut self) {
        // SAFETY: whoever drops the list has seen to it that nobody reads (a heap hands its list on instead).
        unsafe { self.free_all() }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn what_a_reader_may_have_seen_outlasts_stops() {
        let list = Deferred::default();
        let l = Layout::new::<[u64; 4]>();
        // SAFETY: a size that is not zero, of the layout it is freed with.
        let more = || list.put(unsafe { std::alloc::alloc(l) }, l);
        more();
        let release = |stop, oldest| {
            // SAFETY: nobody reads.
            unsafe { list.release_old(stop, oldest) };
            while list.free_some() {}
        };
        release(6, Some(5));
        assert_eq!(list.bytes(), l.size());
        more();
        release(7, Some(6));
        assert_eq!(list.bytes(), l.size());
        more();
        release(8, None);
        assert_eq!(list.bytes(), 0);
    }

    #[test]
    fn a_large_buffer_goes_after_a_grace_period_or_a_stop() {
        let list = Deferred::default();
        let l = Layout::array::<u8>(MUCH).expect("a layout");
        // SAFETY: a size that is not zero, of the layout it is freed with.
        let more = || list.put(unsafe { std::alloc::alloc(l) }, l);
        let held = || list.bytes() / MUCH;
        more();
        assert!(list.has_much_large() && list.take_fresh() == 0, "it is no collection's affair");
        list.begin_grace(3);
        more();
        // SAFETY: nobody reads.
        let end = |over: u64, oldest| unsafe { list.end_grace(|n| n <= over, oldest) };
        end(2, None);
        assert_eq!(held(), 2, "it lasts");
        end(3, Some(2));
        assert_eq!(held(), 2, "a reader began before");
        end(3, Some(3));
        assert!(held() == 1 && list.has_large());
        list.begin_grace(4);
        more();
        let stop = |stop, oldest| {
            // SAFETY: nobody reads.
            unsafe { list.release_old(stop, oldest) };
            while list.free_some() {}
        };
        stop(5, Some(3));
        assert!(held() == 2 && !list.has_large());
        stop(6, Some(4));
        assert_eq!(held(), 1, "of the one that came later a reader may know");
        stop(7, Some(6));
        assert_eq!(held(), 0);
    }

    #[test]
    fn what_is_due_goes_bit_by_bit() {
        let list = Deferred::default();
        let l = Layout::new::<[u64; 4]>();
        for _ in 0..BATCH * 2 + 1 {
            // SAFETY: as above.
            list.put(unsafe { std::alloc::alloc(l) }, l);
        }
        assert!(list.batches() == 0 && !list.free_some());
        // SAFETY: nobody reads.
        unsafe { list.release_old(1, None) };
        assert_eq!(list.batches(), 3);
        assert!(list.free_some());
        assert_eq!(list.bytes(), l.size() * 2 * BATCH);
        assert!(list.free_some() && list.free_some() && !list.free_some());
        assert_eq!((list.bytes(), list.batches()), (0, 0));
    }

    #[test]
    fn alone_frees_at_once_and_binds_again_after_a_panic() {
        let list = Deferred::default();
        // SAFETY: the list outlives its binding.
        unsafe { bind(Some(&list)) };
        assert!(parallel());
        assert_eq!(alone(|| parallel() as u8 + 1), 1);
        let caught = std::panic::catch_unwind(|| alone(|| panic!("on purpose")));
        assert!(caught.is_err() && list.is_bound());
        // SAFETY: as above.
        unsafe { bind(None) };
    }
}
