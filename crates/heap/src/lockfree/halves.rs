//! Long buffers, of Arrays and of Hashes, that are marked half way while the program goes on.
//!
//! Invariant: as long as a [`Half`] lives and says nothing else, every element of its buffer stands in the slot in which it stood when
//! that was made, or was stored since behind the barrier, or is gone. Whoever moves elements inside a long buffer, or gives its
//! memory back, says so here: what comes to the same address later is another buffer.
//!
//! Moving and freeing take as long as the buffer is, or are rare. While there is no `Half` in the process they cost one look.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

/// Shorter buffers are marked whole.
pub(crate) const LEAST: usize = if cfg!(test) { 400 } else { 8192 };

/// How many buffers are watched.
static COUNT: AtomicUsize = AtomicUsize::new(0);
/// Those, by address.
static ALL: LazyLock<Mutex<HashMap<usize, Watched>>> = LazyLock::new(Mutex::default);

#[derive(Default)]
struct Watched {
    halves: usize,
    moved: bool,
}

fn all() -> MutexGuard<'static, HashMap<usize, Watched>> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Elements of the buffer at `place`, which has room for `capacity`, are about to move, or its memory goes.
#[inline]
pub(crate) fn moved(place: usize, capacity: usize) {
    if capacity >= LEAST && COUNT.load(Relaxed) != 0 {
        note(place);
    }
}

#[cold]
#[inline(never)]
fn note(place: usize) {
    if let Some(w) = all().get_mut(&place) {
        w.moved = true;
    }
}

/// A buffer that is watched. Made and asked at stops, by the runtime that the buffer belongs to.
#[derive(Debug)]
pub(crate) struct Half(usize);

impl Half {
    /// Watches the buffer at `place` from now on.
    pub(crate) fn of(place: usize) -> Half {
        let mut all = all();
        all.entry(place).or_default().halves += 1;
        COUNT.store(all.len(), Relaxed);
        Half(place)
    }
    /// Where the buffer is, if its elements are where they were.
    pub(crate) fn place(&self) -> Option<usize> {
        all().get(&self.0).is_some_and(|w| !w.moved).then_some(self.0)
    }
}

impl Drop for Half {
    fn drop(&mut self) {
        let mut all = all();
        if let Some(w) = all.get_mut(&self.0) {
            w.halves -= 1;
            if w.halves == 0 {
                all.remove(&self.0);
            }
        }
        COUNT.store(all.len(), Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_watched_as_long_as_somebody_wants_to_go_on_in_it() {
        let (a, b) = (Half::of(1 << 40), Half::of(1 << 40));
        let other = Half::of(3 << 40);
        moved(1 << 40, LEAST - 1);
        assert_eq!(a.place(), Some(1 << 40));
        drop(a);
        moved(1 << 40, LEAST);
        assert_eq!((b.place(), other.place()), (None, Some(3 << 40)));
        drop(b);
        assert_eq!(Half::of(1 << 40).place(), Some(1 << 40));
    }
}
