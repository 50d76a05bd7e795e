//! Sorting by integer keys: elements are spread over buckets by the leading bits in which their keys differ, and each bucket is sorted by itself.
//!
//! Bucket sort (Knuth 5.2.5) with one pass: what a general sort spends on its first ten levels are two passes here. It pays where keys lie
//! about evenly between the least and the greatest, and says so before anything is written; equal keys never share a bucket with others when
//! there are as many buckets as values.
//!
//! Invariant: [`Spread::write`] has written each place of what it is given when it returns, whatever elements and keys those are.

use kumi_budget::Grow;
use std::mem::MaybeUninit;

/// Shorter lists are sorted as they are.
const SHORT: usize = 256;
/// Elements that a bucket is to have: a sort by insertion takes these.
const FEW: usize = 16;
/// Buckets there are at most.
const MOST: usize = 1024;

/// How some elements are spread: made from all of them.
pub struct Spread {
    least: i64,
    shift: u32,
    /// Where each bucket begins.
    starts: [u32; MOST],
    buckets: usize,
}

impl Spread {
    /// `None` where a general sort is as quick: few elements, those that begin in order or in the opposite one, and keys of which many
    /// share a bucket.
    pub fn of<T: Copy>(from: &[T], key: impl Fn(T) -> i64) -> Option<Spread> {
        let n = from.len();
        if n < SHORT || u32::try_from(n).is_err() {
            return None;
        }
        let some = &from[..SHORT];
        if some.is_sorted_by_key(|v| key(*v)) || some.is_sorted_by(|a, b| key(*a) >= key(*b)) || !are_even(from, &key) {
            return None;
        }
        let first = key(from[0]);
        let (least, greatest) = from.iter().fold((first, first), |(l, g), v| (l.min(key(*v)), g.max(key(*v))));
        let range = greatest.wrapping_sub(least) as u64;
        let buckets = (n / FEW).next_power_of_two().min(MOST);
        let shift = (64 - range.leading_zeros()).saturating_sub(buckets.trailing_zeros());
        let mut s = Spread { least, shift, starts: [0; MOST], buckets: (range >> shift) as usize + 1 };
        for &v in from {
            s.starts[s.bucket(key(v))] += 1;
        }
        let (mut at, mut most) = (0, 0);
        for start in &mut s.starts[..s.buckets] {
            most = most.max(*start);
            at += std::mem::replace(start, at);
        }
        (shift == 0 || most as usize <= n / 8).then_some(s)
    }
    #[inline(always)]
    fn bucket(&self, key: i64) -> usize {
        // Keys that have changed since stay inside the table.
        ((key.wrapping_sub(self.least) as u64 >> self.shift) as usize).min(MOST - 1)
    }
    /// Writes those elements in the order of their keys: every place of `to`.
    ///
    /// # Panics
    /// When there are not as many places as elements, or not as many elements for each bucket as those had from which it was made.
    pub fn write<T: Copy>(self, from: &[T], to: &mut [MaybeUninit<T>], key: impl Fn(T) -> i64) {
        let starts = &self.starts[..self.buckets];
        let mut ends = self.starts;
        for &v in from {
            let end = &mut ends[self.bucket(key(v))];
            to[*end as usize].write(v);
            *end += 1;
        }
        let ends = &ends[..self.buckets];
        let are_full = starts.iter().skip(1).eq(&ends[..ends.len() - 1]) && ends.last().is_some_and(|e| *e as usize == to.len());
        assert!(are_full && from.len() == to.len(), "the same elements, and a place for each");
        // SAFETY: each bucket was written from its start to where the next one begins.
        let to = unsafe { to.assume_init_mut() };
        if self.shift > 0 {
            for (&start, &end) in starts.iter().zip(ends) {
                to[start as usize..end as usize].sort_unstable_by_key(|v| key(*v));
            }
        }
    }
    /// The same as a list of its own. Unwinds where that much memory is refused.
    pub fn to_vec<T: Copy>(self, from: &[T], key: impl Fn(T) -> i64) -> Vec<T> {
        let mut to = Vec::room(from.len());
        self.write(from, &mut to.spare_capacity_mut()[..from.len()], key);
        // SAFETY: `write` has written all of them.
        unsafe { to.set_len(from.len()) };
        to
    }
}

/// Do the keys of some elements lie about evenly? What that misses, the buckets' sizes tell: it costs less than these.
fn are_even<T: Copy>(from: &[T], key: &impl Fn(T) -> i64) -> bool {
    const SOME: usize = 64;
    const PARTS: usize = 8;
    let some: [i64; SOME] = std::array::from_fn(|i| key(from[i * (from.len() / SOME)]));
    let (least, greatest) = some.iter().fold((some[0], some[0]), |(l, g), k| (l.min(*k), g.max(*k)));
    let part = (greatest.wrapping_sub(least) as u64) / PARTS as u64;
    let mut parts = [0; PARTS + 1];
    for k in some {
        parts[(k.wrapping_sub(least) as u64).checked_div(part).map_or(0, |p| (p as usize).min(PARTS))] += 1;
    }
    // Few values need no even spread.
    part == 0 || parts.iter().all(|n| *n <= SOME / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lists that are spread, and what comes out is what a general sort gives.
    #[test]
    fn what_is_spread_is_in_order() {
        let mut x = 88_172_645_463_325_252u64;
        let mut next = move || {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            x
        };
        let mut spread = 0;
        for n in [0, 1, 255, 256, 257, 1000, 4095, 4096, 20_000, 100_000] {
            for width in [1, 2, 5, 8, 9, 16, 33, 40, 62, 63, 64] {
                let least = if width == 64 { 0 } else { (next() >> 1) as i64 >> width.min(40) };
                let all: Vec<i64> = (0..n).map(|_| ((next() >> (64 - width)) as i64).wrapping_add(least)).collect();
                let Some(s) = Spread::of(&all, |v| v) else { continue };
                spread += 1;
                let got = s.to_vec(&all, |v| v);
                let mut want = all;
                want.sort();
                assert!(got == want, "{n} of {width} bits");
            }
        }
        assert!(spread >= 60, "{spread}");
    }
    #[test]
    fn keys_from_end_to_end() {
        let all: Vec<i64> = (0..512).map(|i| [i64::MIN, i64::MAX, -1, 0, i][i as usize % 5]).collect();
        let mut want = all.clone();
        want.sort();
        // Four fifths share four values: a general sort.
        assert!(Spread::of(&all, |v| v).is_none());
        let all: Vec<i64> = (0..512i64).map(|i| (i * 37 % 512 - 256) << 55).collect();
        let mut want = all.clone();
        want.sort();
        assert_eq!(Spread::of(&all, |v| v).map(|s| s.to_vec(&all, |v| v)), Some(want));
    }
    #[test]
    fn a_general_sort_is_as_quick() {
        let up: Vec<i64> = (0..10_000).collect();
        let down: Vec<i64> = (0..10_000).rev().collect();
        let same = vec![7i64; 10_000];
        let few_high: Vec<i64> = (0..10_000).map(|i| 1 << (i * 7919 % 61)).collect();
        let one_far: Vec<i64> = (0..10_000).map(|i| if i == 5000 { i64::MAX } else { i * 7919 % 10_007 }).collect();
        for all in [up, down, same, few_high, one_far] {
            assert!(Spread::of(&all, |v| v).is_none());
        }
    }
    #[test]
    fn few_values_are_counted() {
        let all: Vec<i64> = (0..10_000).map(|i| i * 7919 % 10 % 3).collect();
        let mut want = all.clone();
        want.sort();
        assert_eq!(Spread::of(&all, |v| v).map(|s| s.to_vec(&all, |v| v)), Some(want));
    }
    #[test]
    #[should_panic]
    fn other_elements_panic() {
        let all: Vec<i64> = (0..1000).map(|i| i * 7919 % 1009).collect();
        let s = Spread::of(&all, |v| v).expect("an even spread");
        s.to_vec(&vec![5i64; 1000], |v| v);
    }
}
