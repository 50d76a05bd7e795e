//! A model check of the vector itself (`racevec.rs`) with the gates (`gate.rs`): appended to, changed and moved by who has the
//! lock, beside looks without it and stores without it. Every interleaving, up to a bound on preemptions, and every reordering
//! the memory model allows.
//!
//! `tests/models` runs it, with the other models.
//!
//! The files are compiled here over the checker's atomics. An element is a [`Word`]: what is stored in its slot is kept once more,
//! by the slot's address, in an atomic of the checker's; who lays elements where nobody may be looking writes that without
//! order, and the checker sees it. `BROKEN` takes one thing out, and then a model must fail.
#![cfg(loom)]
#![allow(dead_code)]

#[path = "../../sched/tests/checker/mod.rs"]
mod checker;

#[path = "../src/lockfree"]
mod heap {
    pub mod sync {
        pub use loom::sync::atomic::{AtomicUsize, Ordering, fence};
        pub use std::sync::Arc;

        pub use super::super::checker::{BROKEN, kept};
        /// The ordering that is asked for, or none.
        pub fn kept_order(o: Ordering) -> Ordering {
            match o {
                Ordering::Release if !kept("release") => Ordering::Relaxed,
                Ordering::Acquire if !kept("acquire") => Ordering::Relaxed,
                o => o,
            }
        }
        pub fn spin_until(mut taken: impl FnMut() -> bool) {
            while kept("who moves waits") && !taken() {
                loom::thread::yield_now();
            }
        }

        pub struct AtomicPtr<T>(loom::sync::atomic::AtomicPtr<T>);
        impl<T> AtomicPtr<T> {
            pub fn new(p: *mut T) -> Self {
                AtomicPtr(loom::sync::atomic::AtomicPtr::new(p))
            }
            pub fn load(&self, o: Ordering) -> *mut T {
                self.0.load(kept_order(o))
            }
            pub fn store(&self, p: *mut T, o: Ordering) {
                self.0.store(p, kept_order(o));
            }
        }
        pub struct AtomicU64(loom::sync::atomic::AtomicU64);
        impl AtomicU64 {
            pub fn new(v: u64) -> Self {
                AtomicU64(loom::sync::atomic::AtomicU64::new(v))
            }
            pub fn load(&self, o: Ordering) -> u64 {
                self.0.load(kept_order(o))
            }
            pub fn store(&self, v: u64, o: Ordering) {
                self.0.store(v, kept_order(o));
            }
            pub fn compare_exchange(&self, a: u64, b: u64, s: Ordering, f: Ordering) -> Result<u64, u64> {
                self.0.compare_exchange(a, b, s, f)
            }
            pub fn fetch_and(&self, v: u64, o: Ordering) -> u64 {
                self.0.fetch_and(v, o)
            }
        }
    }

    /// A thread in parallel mode; what is replaced lives as long as the model.
    pub mod deferred {
        use super::gate::Gate;
        use super::sync::kept;
        use std::alloc::Layout;

        // The gate of the thread that runs, if it has one. Gates live for ever: a model that fails gives nothing back.
        loom::thread_local! {
            pub static GATE: std::cell::Cell<Option<&'static Gate>> = std::cell::Cell::new(None);
        }
        pub fn parallel() -> bool {
            true
        }
        pub unsafe fn free_later(p: *mut u8, l: Layout) {
            if !kept("what is replaced lives on") {
                crate::spoil(p as usize..p as usize + l.size());
            }
        }
        pub unsafe fn free_now(p: *mut u8, l: Layout) {
            // SAFETY: the caller's promise.
            unsafe { std::alloc::dealloc(p, l) };
        }
        /// Nothing is kept for later here.
        pub fn reuse(_: Layout) -> Option<*mut u8> {
            None
        }
        pub fn has_spares() -> bool {
            false
        }
        pub fn free_spares() {}
        pub fn settle(place: usize) {
            if let Some(g) = GATE.with(std::cell::Cell::get) {
                g.wait_out(place);
            }
        }
        pub fn unlocked<T>(place: usize, locked: impl FnOnce() -> bool, store: impl FnOnce() -> T) -> Option<T> {
            GATE.with(std::cell::Cell::get)?.pass(place, locked, store)
        }
    }

    pub mod gate;
    pub mod racevec;
    /// No buffer is marked half way here.
    pub mod halves {
        pub fn moved(_: usize, _: usize) {}
    }
}

use heap::deferred::GATE;
use heap::gate::Gates;
use heap::racevec::{Plain, RaceVec};
use heap::sync::{BROKEN, kept_order};
use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicU64, AtomicUsize, Ordering::*};
use loom::thread;
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

std::thread_local! {
    /// The checker's side of each slot, by its address.
    static SLOTS: RefCell<HashMap<usize, *mut Slot>> = RefCell::default();
}

/// An element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
struct Word(u64);

/// Until something is stored into it, a slot holds what lies there.
struct Slot {
    word: AtomicU64,
    stored: bool,
}

fn known(p: *const Word) -> Option<*mut Slot> {
    SLOTS.with_borrow(|s| s.get(&(p as usize)).copied())
}
fn slot(p: *const Word, first: u64) -> *mut Slot {
    known(p).unwrap_or_else(|| {
        let new = Box::into_raw(Box::new(Slot { word: AtomicU64::new(first), stored: false }));
        SLOTS.with_borrow_mut(|s| s.insert(p as usize, new));
        new
    })
}

/// Writes over slots as who frees them may.
fn spoil(at: Range<usize>) {
    let slots: Vec<_> = SLOTS.with_borrow(|s| s.iter().filter(|(p, _)| at.contains(p)).map(|(_, a)| *a).collect());
    // SAFETY: slots live as long as the model; the checker watches.
    slots.into_iter().for_each(|a| unsafe { (*a).word.with_mut(|v| *v = 0) });
}

// SAFETY: 8 bytes; loads and stores are the checker's atomic ones.
unsafe impl Plain for Word {
    const WORDS: bool = true;
    unsafe fn load(p: *const Word) -> Word {
        // SAFETY: slots live as long as the model.
        unsafe {
            let s = slot(p, p.read().0);
            let w = (*s).word.load(kept_order(Acquire));
            if (*s).stored { Word(w) } else { p.read() }
        }
    }
    unsafe fn store(p: *mut Word, v: Word) {
        // SAFETY: a live slot; the model's threads take turns.
        unsafe {
            let s = slot(p, v.0);
            (*s).stored = true;
            (*s).word.store(v.0, kept_order(Release));
            p.write(v);
        }
    }
    unsafe fn lay(to: *mut Word, from: *const Word, n: usize) {
        for i in 0..n {
            // SAFETY: as above; the checker watches both sides.
            unsafe {
                let (from, to) = (from.add(i), to.add(i));
                if let Some(s) = known(from) {
                    // Nobody may be storing there.
                    (*s).word.unsync_load();
                }
                to.write(from.read());
                let s = slot(to, 0);
                (*s).word.with_mut(|w| *w = from.read().0);
                (*s).stored = false;
            }
        }
    }
}

type Words = RaceVec<Word, 2>;

/// A vector with its lock.
struct Array {
    lock: AtomicUsize,
    queue: loom::sync::Mutex<()>,
    v: std::cell::UnsafeCell<Words>,
    /// What the element 9 refers to.
    cell: UnsafeCell<usize>,
}
// SAFETY: the model checker watches.
unsafe impl Sync for Array {}
// SAFETY: as above.
unsafe impl Send for Array {}

impl Array {
    fn look(&self) -> Vec<u64> {
        // SAFETY: the vector's protocol, which is what is modelled.
        unsafe { (*self.v.get()).seen() }.iter().map(|w| w.0).collect()
    }
    /// The checker waits by `queue`, not by looking again and again; it orders no more than the lock's own word does.
    fn locked<T>(&self, f: impl FnOnce(&mut Words) -> T) -> T {
        let _turn = self.queue.lock().unwrap();
        assert_eq!(self.lock.swap(1, Acquire), 0);
        // SAFETY: as above; the lock is held.
        let r = f(unsafe { &mut *self.v.get() });
        self.lock.store(0, Release);
        r
    }
    fn store(&self, i: usize, v: u64) -> bool {
        // SAFETY: as in `look`.
        let done = unsafe { (*self.v.get()).store_unlocked(i, Word(v), || self.lock.load(Acquire) != 0) };
        done.unwrap_or_else(|| self.locked(|w| w.set(i, Word(v))))
    }
}

fn words(n: &[u64]) -> Vec<Word> {
    n.iter().map(|v| Word(*v)).collect()
}

fn check(broken: &'static str, first: &'static [u64], f: impl Fn(&Arc<Array>) + Send + Sync + 'static) {
    BROKEN.set(broken);
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(3));
    builder.check(move || {
        SLOTS.with_borrow_mut(HashMap::clear);
        let a = Arc::new(Array {
            lock: AtomicUsize::new(0),
            queue: loom::sync::Mutex::new(()),
            v: std::cell::UnsafeCell::new(Words::from_slice(&words(first))),
            cell: UnsafeCell::new(0),
        });
        // Its slots are known before anybody begins.
        a.look();
        f(&a);
    });
}

/// One look, while another thread changes the vector in one step or more: it finds what was there before or after one of them.
fn beside_a_look(a: &Arc<Array>, change: fn(&mut Words), states: &'static [&[u64]]) {
    let b = a.clone();
    // The checker meets a load with the stores before it, not a store with all loads before it: who looks comes second.
    let reader = thread::spawn(move || {
        let seen = b.look();
        assert!(states.contains(&&seen[..]), "{seen:?}");
        if seen.contains(&9) {
            // SAFETY: the model checker watches.
            assert_eq!(b.cell.with(|p| unsafe { *p }), 7);
        }
    });
    // SAFETY: the model checker watches.
    a.cell.with_mut(|p| unsafe { *p = 7 });
    a.locked(change);
    reader.join().unwrap();
    assert_eq!(&a.look()[..], states[states.len() - 1]);
}

fn appending(a: &Arc<Array>) {
    let push = |v: &mut Words| [2, 9, 4].into_iter().for_each(|n| v.push(Word(n)));
    beside_a_look(a, push, &[&[1], &[1, 2], &[1, 2, 9], &[1, 2, 9, 4]]);
}
fn extending(a: &Arc<Array>) {
    beside_a_look(a, |v| v.extend_from_slice(&[Word(2), Word(3), Word(9)]), &[&[1], &[1, 2, 3, 9]]);
}
fn reversing(a: &Arc<Array>) {
    beside_a_look(a, |v| v.edit(|s| s.reverse()), &[&[1, 2, 3], &[3, 2, 1]]);
}
fn replacing(a: &Arc<Array>) {
    beside_a_look(a, |v| v.assign(&[Word(9), Word(8)]), &[&[1, 2, 3], &[9, 8]]);
}
fn both_ends(a: &Arc<Array>) {
    let change = |v: &mut Words| {
        assert_eq!(v.shift(), Some(Word(1)));
        v.unshift(&[Word(9)]);
        assert_eq!(v.pop(), Some(Word(3)));
    };
    // A place in front that is used again: who looked before sees the new element there, whole.
    beside_a_look(a, change, &[&[1, 2, 3], &[9, 2, 3], &[2, 3], &[9, 2]]);
}
fn inside(a: &Arc<Array>) {
    // (Of constants: whether a slice is the vector's own is asked by its address, which a model must have always the same.)
    beside_a_look(a, |v| v.splice(1, 1, &[Word(9), Word(9)]), &[&[1, 2, 3], &[1, 9, 9, 3]]);
}

/// A store without the lock, while who has it changes the vector: it is there at the end.
fn beside_a_store(a: &Arc<Array>, change: fn(&mut Words), ends: &[&[u64]]) {
    let gates = Arc::new(Gates::default());
    let [mine, other] = [(); 2].map(|_| Gates::take(&gates).map(|g| &*Box::leak(Box::new(g))));
    GATE.with(|g| g.set(mine));
    let b = a.clone();
    let storer = thread::spawn(move || {
        GATE.with(|g| g.set(other));
        assert!(b.store(0, 9));
    });
    a.locked(change);
    storer.join().unwrap();
    let end = a.locked(|v| {
        v.settle();
        v.seen().iter().map(|w| w.0).collect::<Vec<_>>()
    });
    assert!(ends.contains(&&end[..]), "{end:?}");
}
fn growing(a: &Arc<Array>) {
    beside_a_store(a, |v| [3, 4].into_iter().for_each(|n| v.push(Word(n))), &[&[9, 2, 3, 4]]);
}
fn moving(a: &Arc<Array>) {
    let reverse = |v: &mut Words| {
        v.settle();
        v.edit(|s| s.reverse());
    };
    // First the store, or first the move.
    beside_a_store(a, reverse, &[&[2, 9], &[9, 1]]);
}

#[test]
fn a_look_beside_who_appends_finds_what_was_appended_so_far() {
    check("", &[1], appending);
}
#[test]
fn a_look_beside_who_extends_finds_all_of_it_or_nothing() {
    check("", &[1], extending);
}
#[test]
fn a_look_beside_who_reverses_finds_one_order() {
    check("", &[1, 2, 3], reversing);
}
#[test]
fn a_look_beside_who_replaces_finds_old_or_new_elements() {
    check("", &[1, 2, 3], replacing);
}
#[test]
fn a_look_beside_changes_at_both_ends_finds_stored_elements() {
    check("", &[1, 2, 3], both_ends);
}
#[test]
fn a_look_beside_a_change_inside_finds_old_or_new_elements() {
    check("", &[1, 2, 3], inside);
}
#[test]
fn a_store_beside_who_appends_is_not_lost() {
    check("", &[1, 2], growing);
}
#[test]
fn a_store_beside_who_moves_is_not_lost() {
    check("", &[1, 2], moving);
}
macro_rules! fail {
    ($($name:ident: $model:ident $first:expr, $rule:expr;)*) => { $(
        #[test]
        #[should_panic]
        fn $name() {
            check($rule, $first, $model);
        }
    )* };
}
fail! {
    appended_without_release_an_element_is_not_there: appending &[1], "release";
    followed_without_acquire_an_appended_element_is_not_there: appending &[1], "acquire";
    replaced_without_release_elements_are_not_there: replacing &[1, 2, 3], "release";
    followed_without_acquire_replaced_elements_are_not_there: replacing &[1, 2, 3], "acquire";
    without_release_a_new_order_is_not_there: reversing &[1, 2, 3], "release";
    without_acquire_what_is_put_inside_is_not_there: inside &[1, 2, 3], "acquire";
    freed_at_once_old_elements_are_spoilt_under_a_look: replacing &[1, 2, 3], "what is replaced lives on";
    without_the_wait_who_appends_loses_a_store: growing &[1, 2], "who moves waits";
    without_the_wait_who_moves_loses_a_store: moving &[1, 2], "who moves waits";
}
