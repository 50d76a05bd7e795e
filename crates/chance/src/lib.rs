//! Numbers that look like chance and follow from a seed (splitmix64), and what those do who draw them: simulators look for a run that
//! fails ([`simulate`]), show that they find faults that are planted ([`bugs`]), and count the memory that a peer makes them hold ([`held`]).
//!
//! **Invariant.** Equal seeds and equal questions have equal answers, on every machine and in every version: a seed that a failure
//! reports stays good.
#![deny(unsafe_code)]
#![deny(missing_docs)]

pub mod held;
mod planted;
pub mod simulate;

/// A series of numbers.
#[derive(Clone, Debug)]
pub struct Chance(u64);

impl Chance {
    /// The series of this seed.
    pub fn new(seed: u64) -> Chance {
        Chance(seed ^ 0x5DEE_CE66_D1CE_4E5B)
    }
    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
    /// A number below `n`; 0 where that is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        if n == 0 { 0 } else { self.next() % n }
    }
    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high.saturating_sub(low) + 1)
    }
    /// True in so many cases of a hundred.
    pub fn percent(&mut self, p: u64) -> bool {
        self.below(100) < p
    }
    /// One of these, which are not none.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
    /// Changes bytes in one place: cuts them there, puts one in, or changes one. At least one is to be there, and stays.
    pub fn spoil(&mut self, bytes: &mut Vec<u8>) {
        let at = self.below(bytes.len() as u64) as usize;
        match self.below(4) {
            0 => bytes.truncate(at.max(1)),
            1 => bytes.insert(at, self.next() as u8),
            2 => bytes[at] = self.pick(&[0, 1, 0x7f, 0x80, 0xff]),
            _ => bytes[at] ^= 1 << self.below(8),
        }
    }
    /// Numbers of its own that depend on nothing but this state.
    pub fn fork(&mut self) -> Chance {
        Chance::new(self.next())
    }
}

#[cfg(test)]
mod tests {
    use super::Chance;

    #[test]
    fn a_seed_is_a_series() {
        let mut c = Chance::new(7);
        assert_eq!([c.next(), c.below(10), c.between(3, 3), c.below(0)], {
            let mut d = Chance::new(7);
            [d.next(), d.next() % 10, 3, 0]
        });
        assert!((0..100).all(|_| c.below(3) < 3));
    }
}
