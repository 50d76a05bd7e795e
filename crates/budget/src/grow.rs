//! Vectors that natives fill as the program likes.
//!
//! **Invariant.** A vector that is refused room is as it was: whoever has it may go on with it after the refusal was caught.

use crate::{LARGE, ask, asking, refuse};

/// Growth that may be refused: from [`LARGE`] bytes on every method unwinds ([`refuse`]) when there is no room, and has changed
/// nothing then.
///
/// ```
/// use kumi_budget::Grow;
///
/// let mut out = Vec::room(3);
/// out.put(1);
/// out.put_all(&[2, 3]);
/// assert_eq!(out, [1, 2, 3]);
/// ```
pub trait Grow<T>: Sized {
    /// An empty one with room for `n` elements.
    fn room(n: usize) -> Self;
    /// Makes room for `more` elements beside those that are there.
    fn want(&mut self, more: usize);
    /// Adds an element at the end.
    fn put(&mut self, x: T);
    /// Adds copies of all elements at the end.
    fn put_all(&mut self, x: &[T])
    where
        T: Clone;
    /// A vector of all that comes.
    fn gather(all: impl IntoIterator<Item = T>) -> Self;
    /// A vector with copies of all elements.
    fn copy(x: &[T]) -> Self
    where
        T: Clone,
    {
        let mut v = Self::room(x.len());
        v.put_all(x);
        v
    }
}

impl<T> Grow<T> for Vec<T> {
    #[inline]
    fn room(n: usize) -> Vec<T> {
        if n < LARGE / size_of::<T>().max(1) {
            return Vec::with_capacity(n);
        }
        let mut v = Vec::new();
        grow(&mut v, n, n);
        v
    }
    #[inline]
    fn want(&mut self, more: usize) {
        if self.capacity() - self.len() < more {
            let n = self.len().saturating_add(more).max(self.capacity().saturating_mul(2));
            grow(self, more, n);
        }
    }
    #[inline]
    fn put(&mut self, x: T) {
        let n = self.len();
        if n == self.capacity() {
            self.want(1);
        }
        // SAFETY: `want` made `n` less than the capacity, and element `n` is written before it is counted.
        unsafe {
            self.as_mut_ptr().add(n).write(x);
            self.set_len(n + 1);
        }
    }
    #[inline]
    fn put_all(&mut self, x: &[T])
    where
        T: Clone,
    {
        self.want(x.len());
        self.extend_from_slice(x);
    }
    #[inline]
    fn gather(all: impl IntoIterator<Item = T>) -> Vec<T> {
        let all = all.into_iter();
        match all.size_hint() {
            (n, Some(most)) if n == most && n < LARGE / size_of::<T>().max(1) => all.collect(),
            (n, _) => {
                let mut v = Vec::room(n);
                all.for_each(|x| v.put(x));
                v
            }
        }
    }
}

/// Makes room for `more`, where the vector is going to have room for `n`.
#[inline(never)]
fn grow<T>(v: &mut Vec<T>, more: usize, n: usize) {
    let bytes = n.saturating_mul(size_of::<T>());
    if bytes < LARGE {
        v.reserve(more);
        return;
    }
    ask(bytes);
    if asking(|| v.try_reserve(more)).is_err() {
        refuse();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Catcher, NoRoom};
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn what_is_refused_is_as_it_was() {
        let mut v = Vec::copy(&[1, 2, 3]);
        v.put(4);
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let _c = Catcher::new();
            v.want(usize::MAX / 4);
        }));
        assert!(caught.is_err_and(|e| e.is::<NoRoom>()));
        assert_eq!(v, [1, 2, 3, 4]);
        assert_eq!((Vec::gather(0..3), Vec::gather((0..100_000).filter(|i| i % 50_000 == 1))), (vec![0, 1, 2], vec![1, 50_001]));
        let caught = catch_unwind(|| {
            let _c = Catcher::new();
            Vec::gather(0..usize::MAX)
        });
        assert!(caught.is_err_and(|e| e.is::<NoRoom>()));
        assert!(Vec::<u8>::room(0).capacity() == 0 && Vec::<u8>::room(100_000).capacity() >= 100_000);
    }
}
