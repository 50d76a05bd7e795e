//! A model check of what is freed beside those who read it: replaced buffers (`deferred.rs` with `readers.rs`) and values that are
//! replaced as a whole (`rcu.rs`). Every interleaving, up to a bound on preemptions, and every reordering the memory
//! model allows.
//!
//! `tests/models` runs it, with the other models.
//!
//! The heap's files are compiled here over the checker's locks, atomics and thread-local variables; freeing a buffer writes to it
//! before the checker's eyes. What a model is there for can be taken out, and then it must fail.
#![cfg(loom)]
#![allow(dead_code)]

mod sync {
    pub use loom::sync::atomic::{AtomicU64, AtomicUsize, Ordering, fence};
    pub use loom::sync::{Mutex, MutexGuard};
    use std::alloc::Layout;
    pub use std::sync::Arc;

    /// The checker's knows no `const`.
    macro_rules! of_a_model {
        (static $name:ident: $of:ty = const { $v:expr };) => {
            loom::thread_local! { static $name: $of = $v; }
        };
    }
    pub(crate) use of_a_model as thread_local;

    pub fn lock<T>(m: &Mutex<T>) -> MutexGuard<'_, T> {
        m.lock().unwrap()
    }
    pub fn spin_until(mut taken: impl FnMut() -> bool) {
        while !taken() {
            loom::thread::yield_now();
        }
    }
    /// The models' buffers are [`Buffer`](super::Buffer)s.
    pub unsafe fn dealloc(p: *mut u8, _: Layout) {
        // SAFETY: buffers live as long as the model.
        unsafe { (*(p as *const super::Buffer)).set(0) };
    }

    /// As the standard one; the checker sees who has it when.
    #[derive(Default)]
    pub struct RefCell<T>(loom::cell::UnsafeCell<T>);
    impl<T> RefCell<T> {
        pub fn borrow(&self) -> &T {
            // SAFETY: the model checker watches; borrows are short.
            self.0.with(|p| unsafe { &*p })
        }
        #[allow(clippy::mut_from_ref)]
        pub fn borrow_mut(&self) -> &mut T {
            // SAFETY: as above.
            self.0.with_mut(|p| unsafe { &mut *p })
        }
    }

    /// Orders a reader's look after a writer's store, or with `WEAK` does not.
    pub struct AtomicPtr<T>(loom::sync::atomic::AtomicPtr<T>);
    std::thread_local! {
        pub static WEAK: std::cell::Cell<Option<Ordering>> = const { std::cell::Cell::new(None) };
    }
    fn kept(o: Ordering) -> Ordering {
        match (WEAK.get(), o) {
            (Some(w), o) if w == o => Ordering::Relaxed,
            (Some(Ordering::Release), Ordering::AcqRel) => Ordering::Acquire,
            _ => o,
        }
    }
    impl<T> AtomicPtr<T> {
        pub fn new(p: *mut T) -> Self {
            AtomicPtr(loom::sync::atomic::AtomicPtr::new(p))
        }
        pub fn load(&self, o: Ordering) -> *mut T {
            self.0.load(kept(o))
        }
        pub fn swap(&self, p: *mut T, o: Ordering) -> *mut T {
            self.0.swap(p, kept(o))
        }
    }
}
#[path = "../src/lockfree/deferred.rs"]
mod deferred;
#[path = "../src/lockfree/gate.rs"]
mod gate;
#[path = "../src/lockfree/rcu.rs"]
mod rcu;
#[path = "../src/lockfree/readers.rs"]
mod readers;
#[path = "../src/lockfree/spare.rs"]
mod spare;

use deferred::Deferred;
use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicUsize, Ordering, Ordering::*};
use loom::thread;
use rcu::RcuCell;
use readers::Readers;
use std::alloc::Layout;
use std::sync::Arc;
use sync::WEAK;

/// Holds 1 until it is freed.
pub struct Buffer(UnsafeCell<usize>);
// SAFETY: the model checker watches.
unsafe impl Sync for Buffer {}
impl Buffer {
    fn new() -> Buffer {
        Buffer(UnsafeCell::new(1))
    }
    fn set(&self, v: usize) {
        // SAFETY: the model checker watches.
        self.0.with_mut(|p| unsafe { *p = v });
    }
    fn get(&self) -> usize {
        // SAFETY: the model checker watches.
        self.0.with(|p| unsafe { *p })
    }
}

fn check(weak: Option<Ordering>, f: impl Fn() + Send + Sync + 'static) {
    WEAK.set(weak);
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(3));
    builder.check(f);
}

// --- replaced buffers -----------------------------------------------------------------------------

struct World {
    readers: Readers,
    word: AtomicUsize,
    buffers: [Buffer; 3],
    /// One worker's list; it is stopped while the other has it.
    list: Deferred,
    /// 1: the worker is stopped, 2: it may go on.
    stands: AtomicUsize,
}
// SAFETY: the model checker watches the list.
unsafe impl Sync for World {}

impl World {
    fn new() -> Arc<World> {
        Arc::new(World {
            readers: Readers::default(),
            word: AtomicUsize::new(0),
            buffers: [Buffer::new(), Buffer::new(), Buffer::new()],
            list: Deferred::default(),
            stands: AtomicUsize::new(0),
        })
    }
    fn read(&self) {
        assert_eq!(self.buffers[self.word.load(Acquire)].get(), 1, "freed");
    }
    fn replace(&self, new: usize) {
        let old = self.word.swap(new, AcqRel);
        // SAFETY: a buffer of the model, which `dealloc` knows.
        unsafe { deferred::free_later(&raw const self.buffers[old] as *mut u8, Layout::new::<u64>()) };
    }
    /// The collection at a stop, and what a worker sweeps after it.
    fn collect(&self) {
        let (stop, oldest) = self.readers.stop();
        // SAFETY: the model's other threads are stopped, or are readers.
        unsafe { self.list.release_old(stop, oldest) };
        while self.list.free_some() {}
    }
    fn bound<T>(&self, f: impl FnOnce() -> T) -> T {
        // SAFETY: the list is in the world, which outlives the thread.
        unsafe { deferred::bind(Some(&self.list)) };
        let r = f();
        // SAFETY: as above.
        unsafe { deferred::bind(None) };
        r
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Reader {
    Registered,
    Unknown,
    /// It looks once more when it has said that it does not.
    Late,
}

/// A reader that no stop waits for, beside a worker that replaces what it reads, in parallel mode or as if it were alone.
fn beside_a_reader(how: Reader, parallel: bool) {
    let w = World::new();
    let other = w.clone();
    let reader = thread::spawn(move || {
        let seen = (how != Reader::Unknown).then(|| other.readers.begins());
        let at = other.word.load(Acquire);
        assert_eq!(other.buffers[at].get(), 1, "freed");
        if let Some(s) = seen {
            other.readers.ends(s);
        }
        if how == Reader::Late {
            assert_eq!(other.buffers[at].get(), 1, "freed");
        }
    });
    let work = || {
        w.replace(1);
        w.collect();
        w.replace(2);
        w.collect();
    };
    if parallel {
        w.bound(work)
    } else {
        work()
    }
    reader.join().unwrap();
    w.collect();
    assert_eq!(w.list.bytes(), 0);
}

/// A worker replaces what another active one reads between its safepoints, and that one collects when the worker is stopped.
fn beside_an_active_worker(parallel: bool, waits: bool) {
    let w = World::new();
    let other = w.clone();
    let worker = thread::spawn(move || {
        let work = || {
            other.replace(1);
            other.stands.store(1, Release);
            sync::spin_until(|| other.stands.load(Acquire) == 2);
            other.replace(2);
        };
        if parallel { other.bound(work) } else { work() }
    });
    w.read();
    if waits {
        sync::spin_until(|| w.stands.load(Acquire) == 1);
    }
    w.collect();
    w.stands.store(2, Release);
    worker.join().unwrap();
    w.collect();
}

/// A worker replaces a large buffer that another active one reads between its safepoints, and writes it anew when it `waited` for that one's
/// safepoint.
fn written_anew(waited: bool) {
    let w = World::new();
    let other = w.clone();
    let worker = thread::spawn(move || {
        other.read();
        // Its safepoint, at which it is asked for.
        sync::spin_until(|| other.stands.load(Acquire) == 1);
        other.stands.store(2, Release);
        other.read();
    });
    w.bound(|| {
        // Large by what is said of it; `dealloc` looks at the buffer only.
        let large = Layout::new::<[u64; 8192]>();
        let old = w.word.swap(1, AcqRel);
        // SAFETY: as in `replace`.
        unsafe { deferred::free_later(&raw const w.buffers[old] as *mut u8, large) };
        w.list.begin_grace(1);
        w.stands.store(1, Release);
        assert!(deferred::reuse(large).is_none());
        if waited {
            sync::spin_until(|| w.stands.load(Acquire) == 2);
        }
        // SAFETY: the other worker has been at a safepoint, or the model is to fail.
        unsafe { w.list.end_grace(|_| true, None) };
        let again = deferred::reuse(large).expect("what was freed last");
        assert!(std::ptr::eq(again as *const Buffer, &w.buffers[old]) && deferred::reuse(large).is_none());
        w.buffers[old].set(2);
        w.buffers[old].set(1);
        w.word.swap(old, AcqRel);
    });
    worker.join().unwrap();
}

#[test]
fn a_large_buffer_is_written_anew_when_nobody_looks_at_it() {
    check(None, || written_anew(true));
}
#[test]
#[should_panic]
fn a_large_buffer_that_is_written_anew_too_soon_is_looked_at() {
    check(None, || written_anew(false));
}
#[test]
fn no_buffer_is_freed_under_a_reader() {
    check(None, || beside_a_reader(Reader::Registered, true));
}
#[test]
#[should_panic]
fn who_replaces_as_if_alone_frees_what_is_read() {
    check(None, || beside_a_reader(Reader::Registered, false));
}
#[test]
#[should_panic]
fn a_reader_nobody_knows_reads_what_is_freed() {
    check(None, || beside_a_reader(Reader::Unknown, true));
}
#[test]
#[should_panic]
fn a_reader_that_looks_after_its_end_reads_what_is_freed() {
    check(None, || beside_a_reader(Reader::Late, true));
}
#[test]
fn what_is_replaced_outlasts_the_looks_of_active_workers() {
    check(None, || beside_an_active_worker(true, true));
}
#[test]
#[should_panic]
fn who_replaces_as_if_alone_frees_under_an_active_worker() {
    check(None, || beside_an_active_worker(false, true));
}
#[test]
#[should_panic]
fn a_collection_that_waits_for_nobody_takes_a_list_in_use() {
    check(None, || beside_an_active_worker(true, false));
}

// --- values replaced as a whole -------------------------------------------------------------------

/// A reader looks at the value while its owner replaces it; old ones are forgotten when the reader is stopped.
fn published(early: bool) {
    let p = Arc::new((RcuCell::new(Buffer::new()), AtomicUsize::new(0)));
    let other = p.clone();
    let reader = thread::spawn(move || {
        assert_eq!(other.0.get(), 1);
        other.1.store(1, Release);
    });
    let new = Buffer::new();
    new.set(1);
    p.0.set(new);
    if !early {
        sync::spin_until(|| p.1.load(Acquire) == 1);
    }
    // What `forget_old` frees is the allocator's: the checker sees a write to it instead.
    p.0.each_old(|b| b.set(0));
    reader.join().unwrap();
}

#[test]
fn a_value_is_found_whole_and_lives_until_its_readers_stand_still() {
    check(None, || published(false));
}
#[test]
#[should_panic]
fn a_value_forgotten_before_its_readers_stand_still_is_read() {
    check(None, || published(true));
}
#[test]
#[should_panic]
fn a_value_set_without_release_is_not_whole() {
    check(Some(Release), || published(false));
}
#[test]
#[should_panic]
fn a_value_followed_without_acquire_is_not_whole() {
    check(Some(Acquire), || published(false));
}
