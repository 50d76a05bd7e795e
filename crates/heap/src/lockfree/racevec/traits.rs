//! The standard library's traits, so that a vector reads like a slice and is made like a Vec.
//!
//! Invariant: all go through the public operations: nothing here knows the storage.

use super::{Plain, RaceVec};
use std::ops::Deref;

impl<T: Plain, const N: usize> Default for RaceVec<T, N> {
    #[inline(always)]
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> Deref for RaceVec<u8, N> {
    type Target = [u8];
    #[inline(always)]
    fn deref(&self) -> &[u8] {
        self.as_slice()
    }
}
impl<T: Plain, const N: usize> Clone for RaceVec<T, N> {
    fn clone(&self) -> Self {
        let mut v = std::mem::MaybeUninit::uninit();
        // SAFETY: room for a vector, which is then made.
        unsafe {
            Self::write_seen(v.as_mut_ptr(), self.seen());
            v.assume_init()
        }
    }
}
impl<T: Plain, const N: usize> From<&[T]> for RaceVec<T, N> {
    fn from(s: &[T]) -> Self {
        Self::from_slice(s)
    }
}
impl<T: Plain, const N: usize> From<Vec<T>> for RaceVec<T, N> {
    fn from(s: Vec<T>) -> Self {
        Self::from_vec(s)
    }
}
impl<T: Plain, const N: usize> Extend<T> for RaceVec<T, N> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, it: I) {
        let it = it.into_iter();
        self.reserve(it.size_hint().0.min(1 << 20));
        for v in it {
            self.push(v);
        }
    }
}
impl<T: Plain, const N: usize> FromIterator<T> for RaceVec<T, N> {
    fn from_iter<I: IntoIterator<Item = T>>(it: I) -> Self {
        let mut v = Self::new();
        v.extend(it);
        v
    }
}
impl<T: Plain + std::fmt::Debug, const N: usize> std::fmt::Debug for RaceVec<T, N> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.seen()).finish()
    }
}
