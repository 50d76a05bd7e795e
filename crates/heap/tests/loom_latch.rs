//! A model check of the locks of cells and queues (`latch.rs`), and of what makes a cell shared before others find it. Every
//! interleaving, up to a bound on preemptions, and every reordering the memory model allows.
//!
//! `tests/models` runs it, with the other models.
//!
//! `latch.rs` is compiled here over the checker's atomics, whose orderings can be taken out: each model must fail without the
//! Acquire and without the Release that it is there for.
#![cfg(loom)]
#![allow(dead_code)]

mod sync {
    pub use loom::sync::atomic::Ordering;
    use std::cell::Cell;

    std::thread_local! {
        /// The ordering that is taken out. The checker runs all threads of a model on the test's own.
        pub static WITHOUT: Cell<Option<Ordering>> = const { Cell::new(None) };
    }
    fn kept(o: Ordering) -> Ordering {
        if WITHOUT.get() == Some(o) { Ordering::Relaxed } else { o }
    }
    macro_rules! weak {
        ($($name:ident $of:ty;)*) => { $(
            #[derive(Default)]
            pub struct $name(loom::sync::atomic::$name);
            impl $name {
                pub fn new(v: $of) -> Self {
                    $name(loom::sync::atomic::$name::new(v))
                }
                /// This and `store` read and write at once: beside read-modify-writes the checker knows no order of
                /// those that do not, and would let a spinning thread see its own old store for ever.
                pub fn load(&self, o: Ordering) -> $of {
                    self.0.fetch_or(<$of>::default(), kept(o))
                }
                pub fn store(&self, v: $of, o: Ordering) {
                    self.0.swap(v, kept(o));
                }
                pub fn swap(&self, v: $of, o: Ordering) -> $of {
                    self.0.swap(v, kept(o))
                }
                pub fn fetch_or(&self, v: $of, o: Ordering) -> $of {
                    self.0.fetch_or(v, kept(o))
                }
                pub fn fetch_and(&self, v: $of, o: Ordering) -> $of {
                    self.0.fetch_and(v, kept(o))
                }
            }
        )* };
    }
    weak! {
        AtomicBool bool;
        AtomicU8 u8;
    }
    pub fn spin_until(mut taken: impl FnMut() -> bool) {
        while !taken() {
            loom::thread::yield_now();
        }
    }
}
#[path = "../src/lockfree/latch.rs"]
mod latch;
#[path = "../src/lockfree/racevec/order.rs"]
mod order;

use latch::{Latch, drop_bit, try_bit};
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering, Ordering::*};
use loom::thread;
use sync::{AtomicU8, WITHOUT, spin_until};

const LOCK: u8 = 16;
const SHARED: u8 = 2;

fn check(without: Option<Ordering>, f: impl Fn() + Send + Sync + 'static) {
    WITHOUT.set(without);
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(3));
    builder.check(f);
}

/// What a lock guards, before the checker's eyes.
#[derive(Default)]
struct Words(UnsafeCell<[usize; 2]>);
// SAFETY: the model checker watches.
unsafe impl Sync for Words {}
impl Words {
    fn new() -> Words {
        Words(UnsafeCell::new([0; 2]))
    }
    fn set(&self, i: usize, v: usize) {
        // SAFETY: the model checker watches.
        self.0.with_mut(|p| unsafe { (*p)[i] = v });
    }
    fn get(&self, i: usize) -> usize {
        // SAFETY: the model checker watches.
        self.0.with(|p| unsafe { (*p)[i] })
    }
    fn add(&self) {
        self.set(0, self.get(0) + 1);
    }
}

/// A cell, and the slot of a shared one that comes to name it.
struct Cell {
    flags: AtomicU8,
    words: Words,
    named: AtomicUsize,
}

impl Cell {
    fn new(flags: u8) -> Arc<Cell> {
        Arc::new(Cell { flags: AtomicU8::new(flags), words: Words::new(), named: AtomicUsize::new(0) })
    }
    fn locked(&self, f: impl FnOnce(&Words)) {
        spin_until(|| try_bit(&self.flags, LOCK));
        f(&self.words);
        drop_bit(&self.flags, LOCK);
    }
}

/// Two change a cell under its bit while a third sets a flag beside it.
fn a_bit() {
    let c = Cell::new(0);
    let (a, b) = (c.clone(), c.clone());
    let a = thread::spawn(move || a.locked(Words::add));
    let b = thread::spawn(move || b.flags.fetch_or(SHARED, Relaxed));
    c.locked(Words::add);
    a.join().unwrap();
    b.join().unwrap();
    assert_eq!((c.words.get(0), c.flags.load(Relaxed)), (2, SHARED));
}

/// A queue of one place: who takes finds what was put.
fn a_latch() {
    let q = Arc::new((Latch::default(), Words::new()));
    let other = q.clone();
    let other = thread::spawn(move || {
        other.0.take();
        other.1.set(1, 7);
        other.1.add();
        other.0.let_go();
    });
    for _ in 0..2 {
        q.0.take();
        if q.1.get(0) > 0 {
            assert_eq!(q.1.get(1), 7);
            q.1.set(0, 0);
        }
        q.0.let_go();
    }
    other.join().unwrap();
}

/// When a private cell is stored into a shared one, and when its flag says so.
#[derive(Clone, Copy)]
enum Flag {
    Before,
    /// Others find it while it still says that it is one thread's.
    After,
}

/// A cell becomes shared, and both threads change it. Who finds it in the slot goes by its flag, as natives do.
fn publishing(flag: Flag, publish: Ordering, look: Ordering) {
    let c = Cell::new(0);
    c.words.set(1, 7);
    let other = c.clone();
    let maker = thread::spawn(move || {
        other.words.set(1, 8);
        if let Flag::Before = flag {
            other.flags.fetch_or(SHARED, Relaxed);
        }
        other.named.store(1, publish);
        if let Flag::After = flag {
            other.flags.fetch_or(SHARED, Relaxed);
        }
        other.locked(Words::add);
    });
    if c.named.load(look) == 1 {
        assert!(c.flags.load(Relaxed) & SHARED != 0, "shared, and changed without a lock");
        c.locked(|w| {
            w.add();
            assert_eq!(w.get(1), 8);
        });
    }
    maker.join().unwrap();
}

#[test]
fn the_holder_of_a_bit_is_alone_and_loses_no_flag() {
    check(None, a_bit);
}
#[test]
#[should_panic]
fn a_bit_taken_without_acquire_shows_what_was_before() {
    check(Some(Acquire), a_bit);
}
#[test]
#[should_panic]
fn a_bit_dropped_without_release_shows_what_was_before() {
    check(Some(Release), a_bit);
}
#[test]
fn the_holder_of_a_latch_is_alone() {
    check(None, a_latch);
}
#[test]
#[should_panic]
fn a_latch_taken_without_acquire_shows_what_was_before() {
    check(Some(Acquire), a_latch);
}
#[test]
#[should_panic]
fn a_latch_let_go_without_release_shows_what_was_before() {
    check(Some(Release), a_latch);
}
#[test]
fn who_finds_a_published_cell_finds_it_shared() {
    check(None, || publishing(Flag::Before, order::PUBLISH, order::LOOK));
}
#[test]
#[should_panic]
fn a_cell_that_is_found_before_it_is_shared_is_changed_by_two() {
    check(None, || publishing(Flag::After, order::PUBLISH, order::LOOK));
}
#[test]
#[should_panic]
fn a_cell_stored_without_release_is_found_unshared() {
    check(None, || publishing(Flag::Before, Relaxed, order::LOOK));
}
#[test]
#[should_panic]
fn a_cell_loaded_without_acquire_is_found_unshared() {
    check(None, || publishing(Flag::Before, order::PUBLISH, Relaxed));
}
