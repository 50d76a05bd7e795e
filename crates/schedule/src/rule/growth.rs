//! Section 3.2: at overflow, does the heap grow or does the node collect?

use super::Thresholds;

/// *Ours*: the least by which a heap grows is this part of its size, so that few overflows are asked about.
pub const GROWTH_STEP: u64 = 16;

/// A node's heap at a moment, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heap {
    /// `H`: its size.
    pub size: u64,
    /// `A`: what was allocated since the last collection.
    pub allocated: u64,
    /// It may not grow beyond this. 0: there is no limit.
    pub limit: u64,
    /// What is asked for and has no room.
    pub wanted: u64,
}

/// What to do about a heap that overflows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// Its size is to be this, which is more than it is.
    Grow(u64),
    /// Collect.
    Collect,
    /// *Ours*: it may not grow, and nothing was allocated since the last collection, so another would free nothing.
    Full,
}

/// `H/f`: a node that has allocated more since its last collection collects.
pub fn threshold(size: u64, t: &Thresholds) -> u64 {
    (size as f64 / t.f.max(1.0)) as u64
}

/// The rule of section 3.2. `largest` is `H_max`, as it was last published; 0 where it was not.
///
/// A heap of at most `c H_max` grows to `H_max`. Otherwise, where `A > H/f`, it collects, and else it grows; by how much is *ours*: until
/// `A` would exceed `H/f`, but by no less than a sixteenth ([`GROWTH_STEP`]) and what is asked for. *Ours* too: a heap at its limit
/// collects.
pub fn overflow(heap: &Heap, largest: u64, t: &Thresholds) -> Growth {
    let limit = if heap.limit == 0 { u64::MAX } else { heap.limit };
    let least = heap.size.saturating_add(heap.wanted);
    if heap.size as f64 <= t.c * largest as f64 && largest > heap.size && least <= limit {
        return Growth::Grow(largest.max(least).min(limit));
    }
    let at = threshold(heap.size, t);
    if heap.allocated > at {
        return Growth::Collect;
    }
    if least > limit || heap.size >= limit {
        return if heap.allocated == 0 { Growth::Full } else { Growth::Collect };
    }
    // A + g > (H + g) / f, where g = (H - f A) / (f - 1).
    let missing = (heap.size as f64 - t.f * heap.allocated as f64) / (t.f - 1.0).max(0.01);
    let more = (missing as u64).max(heap.size / GROWTH_STEP).max(heap.wanted).max(1);
    Growth::Grow(heap.size.saturating_add(more).min(limit))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: u64 = 1 << 20;
    fn ask(size: u64, allocated: u64, largest: u64, limit: u64) -> Growth {
        overflow(&Heap { size, allocated, limit, wanted: 100 }, largest, &Thresholds::default())
    }

    #[test]
    fn a_heap_of_eight_tenths_grows_to_the_largest() {
        // The paper's example: 10 MB somewhere, so 8 MB grow to 10 without a collection.
        assert_eq!(ask(8 * MB, 5 * MB, 10 * MB, 0), Growth::Grow(10 * MB));
        assert_eq!(ask(8 * MB + MB / 10, 5 * MB, 10 * MB, 0), Growth::Collect);
        assert_eq!(ask(8 * MB, 5 * MB, 10 * MB, 9 * MB), Growth::Grow(9 * MB));
        assert_eq!(ask(9 * MB, 5 * MB, 10 * MB, 9 * MB), Growth::Collect);
    }
    #[test]
    fn what_was_allocated_decides() {
        assert_eq!(ask(9 * MB, 3 * MB + 1, 0, 0), Growth::Collect);
        let Growth::Grow(to) = ask(9 * MB, 3 * MB, 0, 0) else { panic!() };
        assert!(to > 9 * MB);
        // It grows as far as lets A reach a third.
        assert_eq!(ask(9 * MB, 0, 0, 0), Growth::Grow(9 * MB + 9 * MB / 2));
    }
    #[test]
    fn a_heap_of_old_objects_settles_at_one_and_a_half_of_them() {
        let (live, t) = (20 * MB, Thresholds::default());
        let mut heap = Heap { size: MB, allocated: 0, limit: 0, wanted: 0 };
        let mut collections = 0;
        while collections < 10 {
            heap.allocated += 1000;
            if live + heap.allocated > heap.size {
                match overflow(&heap, 0, &t) {
                    Growth::Grow(to) => heap.size = to,
                    _ => (heap.allocated, collections) = (0, collections + 1),
                }
            }
        }
        let ratio = heap.size as f64 / live as f64;
        assert!((1.49..1.6).contains(&ratio), "{ratio}");
    }
    #[test]
    fn at_its_limit_it_collects_while_that_frees_anything() {
        assert_eq!(ask(9 * MB, 1, 0, 9 * MB), Growth::Collect);
        assert_eq!(ask(9 * MB, 0, 0, 9 * MB), Growth::Full);
        assert_eq!(ask(u64::MAX, 0, u64::MAX, 0), Growth::Full);
    }
}
