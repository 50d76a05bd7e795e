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
        assert!(Vec::<u8>::room(0).capacity() == 0 && Vec::<u8>::room(100_000).capacity() >= 100_000);
    }
}
