//! A set of numbers that are mostly next to each other.
//!
//! **Invariant.** Spans are not empty, do not touch each other, and stand by their first number. So the set is as large as the
//! number of gaps in it.

use std::collections::BTreeMap;

/// First number, one past the last.
#[derive(Default)]
pub(super) struct Spans(BTreeMap<u64, u64>);

impl Spans {
    pub fn has(&self, n: u64) -> bool {
        self.0.range(..=n).next_back().is_some_and(|(_, end)| n < *end)
    }
    /// Adds `from..to`.
    pub fn add(&mut self, from: u64, to: u64) {
        let (mut from, mut to) = (from, to);
        if from >= to {
            return;
        }
        if let Some((a, b)) = self.0.range(..=from).next_back().map(|(a, b)| (*a, *b)) {
            if b >= from {
                (from, to) = (a, to.max(b));
            }
        }
        while let Some((a, b)) = self.0.range(from..=to).next().map(|(a, b)| (*a, *b)) {
            self.0.remove(&a);
            to = to.max(b);
        }
        self.0.insert(from, to);
    }
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::Spans;

    #[test]
    fn spans_join_where_they_touch() {
        let mut s = Spans::default();
        let mut model = [false; 64];
        let mut x = 7u64;
        for _ in 0..2000 {
            x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let (a, n) = ((x >> 33) % 60, (x >> 40) % 4);
            if x.is_multiple_of(97) {
                (s, model) = (Spans::default(), [false; 64]);
            }
            s.add(a, a + n);
            model[a as usize..(a + n) as usize].fill(true);
            for (i, m) in model.iter().enumerate() {
                assert_eq!(s.has(i as u64), *m, "{i}");
            }
            let gaps = model.iter().zip(model.iter().skip(1)).filter(|(a, b)| !**a && **b).count() + usize::from(model[0]);
            assert_eq!(s.len(), gaps);
        }
    }
}
