//! Stores into single slots that take no lock, beside whoever moves or removes elements under it.
//!
//! Invariant: a worker that stores without the lock names the vector at its gate, and only then looks whether somebody holds
//! the vector's lock; who holds the lock looks at all gates before it moves or removes an element, and waits at one that
//! names the vector. A `SeqCst` fence stands between the two steps on either side, so that of two who meet at least one sees
//! the other: the store is whole before elements move, or it waits for the lock. Leaving a gate is a Release and seeing it
//! empty an Acquire, so what was stored is what is moved. A gate is passed in some ten instructions and never across a
//! safepoint; nothing is waited for inside it.
//!
//! `tests/loom_arrays.rs` runs this file in every interleaving.

use super::sync::{Arc, AtomicU64, AtomicUsize, Ordering::*, fence, spin_until};

/// Workers beyond as many take the lock for each store.
#[cfg(not(loom))]
const GATES: usize = 64;
#[cfg(loom)]
const GATES: usize = 2;

/// One worker's, in cache lines of its own.
#[cfg_attr(not(loom), repr(align(128)))]
struct Post(AtomicUsize);

/// All gates of a runtime.
pub struct Gates {
    posts: [Post; GATES],
    /// A bit for each that is somebody's.
    taken: AtomicU64,
}

impl Default for Gates {
    fn default() -> Self {
        Gates { posts: std::array::from_fn(|_| Post(AtomicUsize::new(0))), taken: AtomicU64::new(0) }
    }
}

impl Gates {
    /// A gate for a worker; `None`: there are no more.
    pub fn take(all: &Arc<Gates>) -> Option<Gate> {
        let mut taken = all.taken.load(Relaxed);
        loop {
            let me = (!taken).trailing_zeros() as usize;
            if me >= GATES {
                return None;
            }
            match all.taken.compare_exchange(taken, taken | 1 << me, AcqRel, Relaxed) {
                Ok(_) => return Some(Gate { all: all.clone(), me }),
                Err(now) => taken = now,
            }
        }
    }
}

/// A worker's own gate.
pub struct Gate {
    all: Arc<Gates>,
    me: usize,
}

impl Gate {
    /// Stores into `place` unless it is locked. `locked` loads with Acquire, so that what the holder before has done is seen.
    #[inline(always)]
    pub fn pass<T>(&self, place: usize, locked: impl FnOnce() -> bool, store: impl FnOnce() -> T) -> Option<T> {
        let post = &self.all.posts[self.me].0;
        post.store(place, Relaxed);
        fence(SeqCst);
        let done = (!locked()).then(store);
        post.store(0, Release);
        done
    }
    /// Waits until nobody stores into `place` without the lock, which the caller has taken.
    #[inline]
    pub fn wait_out(&self, place: usize) {
        fence(SeqCst);
        // Acquire: whoever has given its gate back has stored before.
        let mut others = self.all.taken.load(Acquire) & !(1 << self.me);
        while others != 0 {
            let post = &self.all.posts[others.trailing_zeros() as usize].0;
            if post.load(Acquire) == place {
                spin_until(|| post.load(Acquire) != place);
            }
            others &= others - 1;
        }
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.all.taken.fetch_and(!(1 << self.me), AcqRel);
    }
}
