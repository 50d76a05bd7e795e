//! A model check of what is done to arrays without a lock: stores beside movers, publishing, giving buffers back. Every
//! interleaving, up to a bound on preemptions, and every reordering the memory model allows.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p kumi-heap --test loom_arrays --release --target-dir target/loom`
//!
//! `gate.rs`, `readers.rs` and `racevec/order.rs` are the heap's own files, compiled over the checker's locks and atomics. Each is
//! compiled once more with something taken out of it (`without_*`): those models must fail, and `should_panic` says so.
#![cfg(loom)]
#![allow(dead_code)]

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering::*};
use loom::thread;

/// What the heap's files use, over the checker's.
#[path = "../src/lockfree"]
mod whole {
    pub mod sync {
        pub use loom::sync::atomic::{AtomicU64, AtomicUsize, Ordering, fence};
        pub use loom::sync::{Arc, Mutex, MutexGuard};

        pub fn lock<T>(m: &Mutex<T>) -> MutexGuard<'_, T> {
            m.lock().unwrap()
        }
        pub fn spin_until(mut taken: impl FnMut() -> bool) {
            while !taken() {
                loom::thread::yield_now();
            }
        }
    }
    #[path = "gate.rs"]
    pub mod gate;
    #[path = "readers.rs"]
    pub mod readers;
}

/// Without the fences between a gate and the lock.
#[path = "../src/lockfree"]
mod without_fence {
    pub mod sync {
        pub use crate::whole::sync::{Arc, AtomicU64, AtomicUsize, Ordering, spin_until};
        pub fn fence(_: Ordering) {}
    }
    #[path = "gate.rs"]
    pub mod gate;
}

/// Without the wait at a gate.
#[path = "../src/lockfree"]
mod without_wait {
    pub mod sync {
        pub use crate::whole::sync::{Arc, AtomicU64, AtomicUsize, Ordering, fence};
        pub fn spin_until(_: impl FnMut() -> bool) {}
    }
    #[path = "gate.rs"]
    pub mod gate;
}

/// Without Release and Acquire at a gate.
#[path = "../src/lockfree"]
mod without_release {
    pub mod sync {
        pub use crate::whole::sync::{Arc, AtomicU64, Ordering, fence, spin_until};

        pub struct AtomicUsize(loom::sync::atomic::AtomicUsize);
        impl AtomicUsize {
            pub fn new(v: usize) -> Self {
                AtomicUsize(loom::sync::atomic::AtomicUsize::new(v))
            }
            pub fn load(&self, _: Ordering) -> usize {
                self.0.load(Ordering::Relaxed)
            }
            pub fn store(&self, v: usize, _: Ordering) {
                self.0.store(v, Ordering::Relaxed);
            }
        }
    }
    #[path = "gate.rs"]
    pub mod gate;
}

#[path = "../src/lockfree/racevec/order.rs"]
mod order;

fn check(preemptions: usize, f: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(preemptions));
    builder.check(f);
}

/// What one look at a vector gives.
struct Buffer {
    len: AtomicUsize,
    slots: [AtomicUsize; 2],
}

/// An array of two elements: its lock, the word that names its buffer, and the buffers it may have. A slot is a cell that the
/// checker watches besides, so that a mover which reads while somebody stores is found.
struct Array {
    lock: AtomicUsize,
    queue: loom::sync::Mutex<()>,
    word: AtomicUsize,
    buffers: [Buffer; 2],
    watch: UnsafeCell<()>,
}
// SAFETY: the model checker watches.
unsafe impl Sync for Array {}

const PLACE: usize = 64;

impl Array {
    fn new() -> Array {
        let buffer = |a, b, len| Buffer { len: AtomicUsize::new(len), slots: [AtomicUsize::new(a), AtomicUsize::new(b)] };
        Array {
            lock: AtomicUsize::new(0),
            queue: loom::sync::Mutex::new(()),
            word: AtomicUsize::new(0),
            buffers: [buffer(1, 2, 2), buffer(0, 0, 0)],
            watch: UnsafeCell::new(()),
        }
    }
    fn now(&self) -> &Buffer {
        &self.buffers[self.word.load(order::LOOK)]
    }
    /// The checker waits by `queue`, not by looking again and again; it orders no more than the lock's own word does.
    fn locked<T>(&self, f: impl FnOnce() -> T) -> T {
        let _turn = self.queue.lock().unwrap();
        assert_eq!(self.lock.swap(1, Acquire), 0);
        let r = f();
        self.lock.store(0, Release);
        r
    }
    /// False: there is no such element.
    fn store(&self, i: usize, v: usize) -> bool {
        let b = self.now();
        let there = i < b.len.load(order::LOOK);
        if there {
            self.watch.with(|_| b.slots[i].store(v, order::PUBLISH));
        }
        there
    }
    /// Reads what it moves: nobody may be storing.
    fn elements(&self) -> Vec<usize> {
        let b = self.now();
        self.watch.with_mut(|_| (0..b.len.load(Relaxed)).map(|i| b.slots[i].load(Relaxed)).collect())
    }
    /// Moves the elements into another buffer.
    fn reverse(&self) {
        let all = self.elements();
        let to = 1 - self.word.load(Relaxed);
        for (slot, v) in self.buffers[to].slots.iter().zip(all.iter().rev()) {
            slot.store(*v, Relaxed);
        }
        self.buffers[to].len.store(all.len(), Relaxed);
        self.word.store(to, order::PUBLISH);
    }
    fn pop(&self) -> usize {
        let all = self.elements();
        self.now().len.store(all.len() - 1, order::PUBLISH);
        all[all.len() - 1]
    }
}

/// The same models over each variant of the gate.
macro_rules! models {
    ($variant:ident) => {
        fn meet(mover: impl FnOnce(&Array) -> usize, at: usize) -> (Vec<usize>, usize, bool) {
            let (a, gates) = (Arc::new(Array::new()), Arc::new($variant::gate::Gates::default()));
            let (mine, other) = ($variant::gate::Gates::take(&gates).unwrap(), $variant::gate::Gates::take(&gates).unwrap());
            assert!($variant::gate::Gates::take(&gates).is_none());
            let b = a.clone();
            let storer = thread::spawn(move || {
                let done = other.pass(PLACE, || b.lock.load(Acquire) != 0, || b.store(at, 9));
                done.unwrap_or_else(|| b.locked(|| b.store(at, 9)))
            });
            let got = a.locked(|| {
                mine.wait_out(PLACE);
                mover(&a)
            });
            let there = storer.join().unwrap();
            let all = a.locked(|| a.elements());
            (all, got, there)
        }
        pub fn store_beside_a_move() {
            let (all, _, there) = meet(
                |a| {
                    a.reverse();
                    0
                },
                0,
            );
            // First the store, or first the move.
            assert!(there && (all == [2, 9] || all == [9, 1]), "{all:?}");
        }
        pub fn store_beside_a_pop() {
            let end = meet(|a| a.pop(), 1);
            assert!(end == (vec![1], 9, true) || end == (vec![1], 2, false), "{end:?}");
        }
    };
}

mod over_whole {
    use super::*;
    models!(whole);
}
mod over_without_fence {
    use super::*;
    models!(without_fence);
}
mod over_without_wait {
    use super::*;
    models!(without_wait);
}
mod over_without_release {
    use super::*;
    models!(without_release);
}

#[test]
fn a_store_beside_a_move_is_made_once() {
    check(3, over_whole::store_beside_a_move);
}
#[test]
fn a_store_beside_a_pop_comes_before_or_after_it() {
    check(3, over_whole::store_beside_a_pop);
}
#[test]
#[should_panic]
fn without_fences_a_store_is_lost() {
    check(3, over_without_fence::store_beside_a_move);
}
#[test]
#[should_panic]
fn without_the_wait_a_store_is_lost() {
    check(3, over_without_wait::store_beside_a_move);
}
#[test]
#[should_panic]
fn without_the_wait_an_element_is_popped_and_stored() {
    check(3, over_without_wait::store_beside_a_pop);
}
#[test]
#[should_panic]
fn without_release_at_the_gate_a_mover_reads_what_is_being_stored() {
    check(3, over_without_release::store_beside_a_move);
}

// --- publishing ----------------------------------------------------------------------------------

/// A cell that is made and then stored into an array.
struct Cell(UnsafeCell<usize>);
// SAFETY: the model checker watches.
unsafe impl Sync for Cell {}
impl Cell {
    fn make(&self, v: usize) {
        // SAFETY: the model checker watches.
        self.0.with_mut(|p| unsafe { *p = v });
    }
    fn read(&self) -> usize {
        // SAFETY: the model checker watches.
        self.0.with(|p| unsafe { *p })
    }
}

/// How a new value comes into an array.
#[derive(Clone, Copy)]
enum By {
    /// A store into a slot.
    Slot,
    /// Behind the last element, in the same buffer.
    Span,
    /// In a new buffer.
    Word,
}

/// One thread makes a cell and publishes it, another looks and follows what it finds.
fn publishing(by: By, publish: std::sync::atomic::Ordering, look: std::sync::atomic::Ordering) {
    let (a, cell) = (Arc::new(Array::new()), Arc::new(Cell(UnsafeCell::new(0))));
    a.buffers[0].len.store(1, Relaxed);
    let (b, made) = (a.clone(), cell.clone());
    let writer = thread::spawn(move || {
        made.make(7);
        let old = &b.buffers[0];
        match by {
            By::Slot => old.slots[0].store(9, publish),
            By::Span => {
                old.slots[1].store(9, Relaxed);
                old.len.store(2, publish);
            }
            By::Word => {
                let new = &b.buffers[1];
                new.slots[0].store(1, Relaxed);
                new.slots[1].store(9, Relaxed);
                new.len.store(2, Relaxed);
                b.word.store(1, publish);
            }
        }
    });
    let seen = &a.buffers[a.word.load(look)];
    let n = seen.len.load(look);
    assert!(n > 0);
    for slot in &seen.slots[..n] {
        match slot.load(look) {
            9 => assert_eq!(cell.read(), 7),
            v => assert_eq!(v, 1, "a slot below the length that nobody stored into"),
        }
    }
    writer.join().unwrap();
}

#[test]
fn what_is_found_without_a_lock_is_whole() {
    for by in [By::Slot, By::Span, By::Word] {
        check(3, move || publishing(by, order::PUBLISH, order::LOOK));
    }
}
macro_rules! torn {
    ($($name:ident $by:ident $publish:expr, $look:expr;)*) => { $(
        #[test]
        #[should_panic]
        fn $name() {
            check(3, || publishing(By::$by, $publish, $look));
        }
    )* };
}
torn! {
    a_slot_stored_without_release_shows_a_cell_unmade Slot Relaxed, order::LOOK;
    a_slot_loaded_without_acquire_shows_a_cell_unmade Slot order::PUBLISH, Relaxed;
    a_length_stored_without_release_shows_a_slot_unwritten Span Relaxed, order::LOOK;
    a_length_loaded_without_acquire_shows_a_slot_unwritten Span order::PUBLISH, Relaxed;
    a_buffer_named_without_release_is_not_filled Word Relaxed, order::LOOK;
    a_buffer_followed_without_acquire_is_not_filled Word order::PUBLISH, Relaxed;
}

// --- giving back ---------------------------------------------------------------------------------

/// How a reader that no stop waits for goes about it.
#[derive(Clone, Copy, PartialEq)]
enum Reader {
    Registered,
    /// It tells nobody.
    Unknown,
    /// It looks before it has told.
    Late,
}

/// A reader beside a worker that replaces a buffer, stops and frees what nobody looks at any more, twice.
fn giving_back(how: Reader) {
    let readers = Arc::new(whole::readers::Readers::default());
    let word = Arc::new(AtomicUsize::new(0));
    let buffers = Arc::new([Cell(UnsafeCell::new(1)), Cell(UnsafeCell::new(1)), Cell(UnsafeCell::new(1))]);
    let other = (readers.clone(), word.clone(), buffers.clone());
    let reader = thread::spawn(move || {
        let (readers, word, buffers) = other;
        let early = (how == Reader::Late).then(|| word.load(order::LOOK));
        let seen = (how != Reader::Unknown).then(|| readers.begins());
        let at = early.unwrap_or_else(|| word.load(order::LOOK));
        assert_eq!(buffers[at].read(), 1);
        if let Some(s) = seen {
            readers.ends(s);
        }
    });
    let mut kept: Vec<(u64, usize)> = Vec::new();
    for new in 1..3 {
        word.store(new, order::PUBLISH);
        let (stop, oldest) = readers.stop();
        kept.push((stop, new - 1));
        kept.retain(|(at, old)| {
            let stays = whole::readers::looked_at(*at, oldest);
            if !stays {
                buffers[*old].make(0);
            }
            stays
        });
    }
    reader.join().unwrap();
    let (_, oldest) = readers.stop();
    assert!(oldest.is_none() && kept.iter().all(|k| !whole::readers::looked_at(k.0, oldest)));
}

#[test]
fn no_buffer_is_freed_under_a_reader() {
    check(3, || giving_back(Reader::Registered));
}
#[test]
#[should_panic]
fn a_reader_that_told_nobody_reads_what_is_freed() {
    check(3, || giving_back(Reader::Unknown));
}
#[test]
#[should_panic]
fn a_reader_that_looks_before_it_tells_reads_what_is_freed() {
    check(3, || giving_back(Reader::Late));
}
