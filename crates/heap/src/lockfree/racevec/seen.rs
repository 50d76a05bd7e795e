//! What one look at a buffer of values saw.
//!
//! Invariant: a [`Seen`] is a place and a length that were read together, so that every index below its length is a stored
//! element for as long as no safepoint is passed, whatever others do to the vector meanwhile. Each element is one atomic
//! load: an old value or a new one, whole, and what it refers to can be read. There is no slice of such memory: an element
//! is copied out, a part is cut to what is there, and nothing here panics.

use super::{Plain, fetch};
use kumi_budget::Grow;
use std::marker::PhantomData;
use std::ops::Range;

/// Elements that others may be storing into.
///
/// ```
/// let mut v: kumi_heap::RaceVec<u64, 3> = [1, 2].into_iter().collect();
/// assert_eq!(v.seen().get(1), Some(2));
/// v.push(3);
/// ```
/// There is no place to be asked for again, only what one look has found:
/// ```compile_fail,E0608
/// let v: kumi_heap::RaceVec<u64, 3> = [1, 2].into_iter().collect();
/// let n = v.len();
/// v[n - 1];
/// ```
/// ```compile_fail,E0608
/// let v: kumi_heap::RaceVec<u64, 3> = [1, 2].into_iter().collect();
/// v.seen()[0];
/// ```
/// ```compile_fail,E0308
/// let v: kumi_heap::RaceVec<u64, 3> = [1, 2].into_iter().collect();
/// let s: &[u64] = &v;
/// ```
/// ```compile_fail,E0624
/// let v: kumi_heap::RaceVec<u64, 3> = [1, 2].into_iter().collect();
/// unsafe { v.unraced() };
/// ```
/// And who changes a vector has to look again:
/// ```compile_fail,E0502
/// let mut v: kumi_heap::RaceVec<u64, 3> = [1, 2].into_iter().collect();
/// let s = v.seen();
/// v.push(3);
/// s.first();
/// ```
pub struct Seen<'a, T: Plain> {
    p: *const T,
    n: usize,
    of: PhantomData<&'a T>,
}

impl<T: Plain> Clone for Seen<'_, T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<T: Plain> Copy for Seen<'_, T> {}

impl<'a, T: Plain> Seen<'a, T> {
    /// # Safety
    /// `n` elements at `p`, stored by `Plain::store` or by nobody, live for `'a`.
    #[inline(always)]
    pub(crate) unsafe fn new(p: *const T, n: usize) -> Self {
        Seen { p, n, of: PhantomData }
    }
    /// Number of elements that were seen.
    #[inline(always)]
    pub fn len(self) -> usize {
        self.n
    }
    /// Was no element seen?
    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.n == 0
    }
    /// Element `i` as it is now.
    #[inline(always)]
    pub fn get(self, i: usize) -> Option<T> {
        // SAFETY: below the length.
        (i < self.n).then(|| unsafe { T::load(self.p.add(i)) })
    }
    /// The first element as it is now.
    pub fn first(self) -> Option<T> {
        self.get(0)
    }
    /// The last element that was seen, as it is now.
    pub fn last(self) -> Option<T> {
        self.get(self.n.wrapping_sub(1))
    }
    /// The elements of a range, as far as they are there.
    #[inline]
    pub fn part(self, r: Range<usize>) -> Seen<'a, T> {
        let to = r.end.min(self.n);
        let from = r.start.min(to);
        // SAFETY: `from <= to <= n`.
        Seen { p: unsafe { self.p.add(from) }, n: to - from, of: PhantomData }
    }
    /// The elements from `i` on.
    #[inline]
    pub fn from(self, i: usize) -> Seen<'a, T> {
        self.part(i..self.n)
    }
    /// Where the first one is.
    pub(crate) fn place(self) -> *const T {
        self.p
    }
    /// The elements one by one.
    #[inline(always)]
    pub fn iter(self) -> Iter<'a, T> {
        Iter { s: self, at: 0..self.n }
    }
    /// A copy of the elements.
    #[inline]
    pub fn to_vec(self) -> Vec<T> {
        let mut v = Vec::new();
        self.append_to(&mut v);
        v
    }
    /// Appends copies of the elements to `v`.
    #[inline]
    pub fn append_to(self, v: &mut Vec<T>) {
        v.want(self.n);
        // SAFETY: room was made, and `copy_to` writes that many.
        unsafe {
            self.copy_to(v.as_mut_ptr().add(v.len()));
            v.set_len(v.len() + self.n);
        }
    }
    /// The elements, `K` at a time, and what is left: for loops over many, since no compiler merges or unrolls atomic loads.
    #[inline(always)]
    pub fn arrays<const K: usize>(self) -> (impl Iterator<Item = [T; K]> + 'a, Seen<'a, T>)
    where
        T: 'a,
    {
        let whole = self.n / K;
        // SAFETY: `whole` times `K` elements there are.
        ((0..whole).map(move |i| std::array::from_fn(|k| unsafe { T::load(self.p.add(i * K + k)) })), self.from(whole * K))
    }
    /// # Safety
    /// Room for all elements at `to`, which is nobody else's.
    #[inline]
    pub(crate) unsafe fn copy_to(self, to: *mut T) {
        let (lines, rest) = self.arrays::<8>();
        let mut to = to;
        let (mut from, far) = (self.p, fetch::is_far(self.n));
        // SAFETY: the caller's promise.
        unsafe {
            for line in lines {
                if far {
                    fetch::reads_up(from);
                    fetch::writes_up(to);
                    from = from.add(8);
                }
                to.cast::<[T; 8]>().write(line);
                to = to.add(8);
            }
            for one in rest.iter() {
                to.write(one);
                to = to.add(1);
            }
        }
    }
}

impl<T: Plain + PartialEq> Seen<'_, T> {
    /// Are these the same elements?
    pub fn same(self, o: Seen<'_, T>) -> bool {
        self.n == o.n && self.iter().eq(o)
    }
}

impl<'a, T: Plain> IntoIterator for Seen<'a, T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;
    #[inline(always)]
    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

/// The elements one by one, each loaded when it is asked for.
pub struct Iter<'a, T: Plain> {
    s: Seen<'a, T>,
    at: Range<usize>,
}

impl<T: Plain> Iterator for Iter<'_, T> {
    type Item = T;
    #[inline(always)]
    fn next(&mut self) -> Option<T> {
        // SAFETY: the range stays inside the elements.
        self.at.next().map(|i| unsafe { T::load(self.s.p.add(i)) })
    }
    #[inline(always)]
    fn nth(&mut self, n: usize) -> Option<T> {
        // SAFETY: as in `next`.
        self.at.nth(n).map(|i| unsafe { T::load(self.s.p.add(i)) })
    }
    #[inline(always)]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.at.size_hint()
    }
}
impl<T: Plain> DoubleEndedIterator for Iter<'_, T> {
    #[inline(always)]
    fn next_back(&mut self) -> Option<T> {
        // SAFETY: as in `next`.
        self.at.next_back().map(|i| unsafe { T::load(self.s.p.add(i)) })
    }
}
impl<T: Plain> ExactSizeIterator for Iter<'_, T> {}
