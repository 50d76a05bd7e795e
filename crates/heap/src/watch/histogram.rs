//! How long pauses were: counts in buckets of about a tenth of their size.
//!
//! Invariant: buckets only grow. Bucket 0 takes what is below 1024 ns; from there each power of two is
//! cut into eight equal buckets up to 17 s, and the last takes whatever is longer.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The first bucket ends at 2^10 ns, about a microsecond.
const FIRST: u32 = 10;
/// Powers of two that are cut: 1 us to 17 s.
const OCTAVES: usize = 24;
/// Buckets of a power of two, as a shift.
const CUT: u32 = 3;
/// Number of buckets.
pub const BUCKETS: usize = (OCTAVES << CUT) + 2;

/// Counts of durations; readers see each count, not one moment of all of them.
pub struct Histogram {
    counts: [AtomicU64; BUCKETS],
    total_ns: AtomicU64,
    longest_ns: AtomicU64,
}

impl Default for Histogram {
    fn default() -> Self {
        Histogram { counts: std::array::from_fn(|_| AtomicU64::new(0)), total_ns: AtomicU64::new(0), longest_ns: AtomicU64::new(0) }
    }
}

/// Which bucket a duration falls into.
pub(crate) fn bucket(ns: u64) -> usize {
    if ns < 1 << FIRST {
        return 0;
    }
    let e = 63 - ns.leading_zeros();
    let part = (ns >> (e - CUT)) as usize & ((1 << CUT) - 1);
    (1 + (((e - FIRST) as usize) << CUT) + part).min(BUCKETS - 1)
}

/// The least duration in nanoseconds that is beyond a bucket.
pub fn upper_ns(bucket: usize) -> u64 {
    let Some(b) = bucket.checked_sub(1) else { return 1 << FIRST };
    let b = b.min(OCTAVES << CUT);
    let (octave, part) = ((b >> CUT) as u32, (b & ((1 << CUT) - 1)) as u64);
    ((1 << CUT) + part + 1) << (octave + FIRST - CUT)
}

impl Histogram {
    /// Counts a duration; any thread may.
    pub(crate) fn add(&self, ns: u64) {
        self.counts[bucket(ns)].fetch_add(1, Relaxed);
        self.total_ns.fetch_add(ns, Relaxed);
        self.longest_ns.fetch_max(ns, Relaxed);
    }
    /// Counts a duration where only one thread ever counts.
    pub(crate) fn add_own(&self, ns: u64) {
        let b = &self.counts[bucket(ns)];
        b.store(b.load(Relaxed).wrapping_add(1), Relaxed);
        self.total_ns.store(self.total_ns.load(Relaxed).wrapping_add(ns), Relaxed);
        if self.longest_ns.load(Relaxed) < ns {
            self.longest_ns.store(ns, Relaxed);
        }
    }
    /// Sum of all durations.
    pub fn total_ns(&self) -> u64 {
        self.total_ns.load(Relaxed)
    }
    /// The longest duration, exactly.
    pub fn longest_ns(&self) -> u64 {
        self.longest_ns.load(Relaxed)
    }
    /// How many there were.
    pub(crate) fn count(&self) -> u64 {
        self.counts.iter().map(|c| c.load(Relaxed)).sum()
    }
    /// Adds the counts of `other`.
    pub fn merge(&self, other: &Histogram) {
        for (a, b) in self.counts.iter().zip(&other.counts) {
            a.fetch_add(b.load(Relaxed), Relaxed);
        }
        self.total_ns.fetch_add(other.total_ns(), Relaxed);
        self.longest_ns.fetch_max(other.longest_ns(), Relaxed);
    }
    /// The buckets that are not empty: (upper bound in ns, count), shortest first.
    pub fn filled(&self) -> Vec<(u64, u64)> {
        let all = self.counts.iter().enumerate().map(|(i, c)| (upper_ns(i), c.load(Relaxed)));
        all.filter(|c| c.1 > 0).collect()
    }
    /// A duration that at least `share` (0 to 1) of all do not reach beyond, as its bucket's upper bound, and never
    /// more than the longest; 0 when there are none.
    pub fn percentile(&self, share: f64) -> u64 {
        let filled = self.filled();
        let all: u64 = filled.iter().map(|c| c.1).sum();
        let want = ((all as f64 * share.clamp(0.0, 1.0)).ceil() as u64).max(1);
        let mut seen = 0;
        for (upper, n) in filled {
            seen += n;
            if seen >= want {
                return upper.min(self.longest_ns());
            }
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_duration_lies_below_its_buckets_bound_and_above_the_one_before() {
        for e in 0..64 {
            for ns in [1u64 << e, (1u64 << e) + (1u64 << e) / 3, (1u64 << e) - 1, u64::MAX] {
                let b = bucket(ns);
                assert!(b < BUCKETS);
                if b + 1 < BUCKETS {
                    assert!(ns < upper_ns(b), "{ns} in {b}");
                }
                if b > 0 {
                    assert!(ns >= upper_ns(b - 1), "{ns} in {b}");
                }
            }
        }
        assert!((1..BUCKETS).all(|b| upper_ns(b) > upper_ns(b - 1)));
    }

    #[test]
    fn percentiles_are_near() {
        let h = Histogram::default();
        for i in 1..=1000u64 {
            h.add(i * 1000);
        }
        let near = |p: f64, ns: u64| (h.percentile(p) as f64 / ns as f64 - 1.0).abs() < 0.13;
        assert!(near(0.5, 500_000) && near(0.99, 990_000) && h.percentile(1.0) == 1_000_000);
        assert_eq!((h.count(), h.total_ns(), Histogram::default().percentile(0.5)), (1000, 500_500_000, 0));
    }
}
