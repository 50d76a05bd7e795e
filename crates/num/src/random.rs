//! Random numbers: the Mersenne Twister (MT19937) drawn from exactly as CRuby does.
//!
//! Invariant: a seed gives the same sequence as in CRuby, for every method. Each draw takes as many
//! 32-bit words from the generator as CRuby's would, rejected ones included.

use crate::big::BigInt;
use crate::int::Int;

const N: usize = 624;
const M: usize = 397;

/// A generator: Matsumoto and Nishimura's MT19937.
#[derive(Clone, PartialEq, Eq)]
pub struct Mt {
    state: Box<[u32; N]>,
    /// The next word to hand out; `N` when the state is used up.
    at: usize,
}

impl std::fmt::Debug for Mt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mt").field("at", &self.at).finish_non_exhaustive()
    }
}

impl Mt {
    /// Seeds with the magnitude of `seed`.
    pub fn new(seed: &BigInt) -> Mt {
        let mut key = seed.magnitude_u32s();
        // A top word of 1 is the guard that keeps leading zeros of a random seed alive.
        if key.len() > 1 && key.last() == Some(&1) {
            key.pop();
        }
        match key.as_slice() {
            [] => Mt::from_word(0),
            [word] => Mt::from_word(*word),
            key => Mt::from_key(key),
        }
    }

    fn from_word(seed: u32) -> Mt {
        let mut state = Box::new([0u32; N]);
        state[0] = seed;
        for i in 1..N {
            let prev = state[i - 1];
            state[i] = 1_812_433_253u32.wrapping_mul(prev ^ prev >> 30).wrapping_add(i as u32);
        }
        Mt { state, at: N }
    }

    fn from_key(key: &[u32]) -> Mt {
        let mut mt = Mt::from_word(19_650_218);
        let s = &mut mt.state;
        let (mut i, mut j) = (1, 0);
        let wrap = |i: &mut usize, s: &mut [u32; N]| {
            *i += 1;
            if *i >= N {
                s[0] = s[N - 1];
                *i = 1;
            }
        };
        for _ in 0..N.max(key.len()) {
            let prev = s[i - 1];
            s[i] = (s[i] ^ (prev ^ prev >> 30).wrapping_mul(1_664_525)).wrapping_add(key[j]).wrapping_add(j as u32);
            wrap(&mut i, s);
            j = (j + 1) % key.len();
        }
        for _ in 0..N - 1 {
            let prev = s[i - 1];
            s[i] = (s[i] ^ (prev ^ prev >> 30).wrapping_mul(1_566_083_941)).wrapping_sub(i as u32);
            wrap(&mut i, s);
        }
        s[0] = 0x8000_0000;
        mt
    }

    fn refill(&mut self) {
        let s = &mut self.state;
        for i in 0..N {
            let y = (s[i] & 0x8000_0000) | (s[(i + 1) % N] & 0x7fff_ffff);
            s[i] = s[(i + M) % N] ^ y >> 1 ^ if y & 1 == 1 { 0x9908_b0df } else { 0 };
        }
        self.at = 0;
    }

    /// The next 32 random bits.
    pub fn next_u32(&mut self) -> u32 {
        if self.at >= N {
            self.refill();
        }
        let mut y = self.state[self.at];
        self.at += 1;
        y ^= y >> 11;
        y ^= y << 7 & 0x9d2c_5680;
        y ^= y << 15 & 0xefc6_0000;
        y ^ y >> 18
    }

    /// A float in `0.0...1.0` with 53 bits.
    pub fn real(&mut self) -> f64 {
        let (a, b) = (self.next_u32() >> 5, self.next_u32() >> 6);
        (a as f64 * 67_108_864.0 + b as f64) * (1.0 / 9_007_199_254_740_992.0)
    }

    /// A float in `0.0..1.0`, one included.
    pub fn real_inclusive(&mut self) -> f64 {
        let (a, b) = (self.next_u32(), self.next_u32());
        let x = (a as u128) << 32 | b as u128;
        let r = (x * ((1u128 << 53) | 1)) >> 64;
        r as u64 as f64 * (1.0 / 9_007_199_254_740_992.0)
    }

    /// An integer in `0..=limit`.
    pub fn limited(&mut self, limit: u64) -> u64 {
        if limit == 0 {
            return 0;
        }
        let mask = u64::MAX >> limit.leading_zeros();
        'retry: loop {
            let mut val = 0u64;
            for shift in [32, 0] {
                if mask >> shift & 0xffff_ffff != 0 {
                    val |= (self.next_u32() as u64) << shift;
                    val &= mask;
                    if val > limit {
                        continue 'retry;
                    }
                }
            }
            return val;
        }
    }

    /// An integer in `0..=limit` of any size (0 for a negative limit).
    pub fn limited_big(&mut self, limit: &BigInt) -> BigInt {
        if limit.is_negative() {
            return BigInt::ZERO;
        }
        let words = limit.magnitude_u32s();
        let mut out = vec![0u32; words.len()];
        'retry: loop {
            let (mut mask, mut boundary) = (0u32, true);
            for i in (0..words.len()).rev() {
                let lim = words[i];
                if mask != 0 {
                    mask = u32::MAX;
                } else if lim != 0 {
                    mask = u32::MAX >> lim.leading_zeros();
                }
                let mut r = 0;
                if mask != 0 {
                    r = self.next_u32() & mask;
                    if boundary {
                        if r > lim {
                            continue 'retry;
                        }
                        boundary = r == lim;
                    }
                }
                out[i] = r;
            }
            return BigInt::from_u32s(false, &out);
        }
    }

    /// `rand(n)` for an integer `n > 0`: a number in `0...n`; `None` for others.
    pub fn below(&mut self, n: &Int) -> Option<Int> {
        match n {
            Int::Small(n) if *n > 0 => Some(Int::Small(self.limited(*n as u64 - 1) as i64)),
            Int::Big(n) if !n.is_negative() => Some(self.up_to(&n.add_i64(-1).into())),
            _ => None,
        }
    }

    /// A number in `0..=limit`, by the word algorithm if the limit fits a word (0 for negatives).
    pub fn up_to(&mut self, limit: &Int) -> Int {
        match limit {
            Int::Small(n) => Int::Small(self.limited((*n).max(0) as u64) as i64),
            Int::Big(n) => self.limited_big(n).into(),
        }
    }

    /// `rand(a..b)` for integers; `None` if the range is empty.
    pub fn in_range(&mut self, first: &Int, last: &Int, exclude_end: bool) -> Option<Int> {
        let span = last.to_big().sub(&first.to_big()).add_i64(-(exclude_end as i64));
        if span.is_negative() {
            return None;
        }
        let offset = self.up_to(&span.into());
        Some(first.to_big().add(&offset.to_big()).into())
    }

    /// `rand(a..b)` for floats; `None` if the range is empty or an end is not finite.
    pub fn in_float_range(&mut self, first: f64, last: f64, exclude_end: bool) -> Option<f64> {
        if !first.is_finite() || !last.is_finite() {
            return None;
        }
        let (mut max, mut mid, mut scale) = (last - first, 0.5, 1.0);
        if max.is_infinite() {
            // The span overflows: draw around the middle and double.
            let (lo, hi) = (first / 2.0, last / 2.0);
            (max, mid, scale) = (hi - lo, hi + lo, 2.0);
        }
        if max > 0.0 {
            let r = if exclude_end { self.real() } else { self.real_inclusive() };
            if scale > 1.0 {
                return Some((r - 0.5) * max * scale + mid);
            }
            return Some(r * max + first);
        }
        (max == 0.0 && !exclude_end).then_some(first)
    }

    /// Fills with random bytes.
    pub fn fill_bytes(&mut self, out: &mut [u8]) {
        for chunk in out.chunks_mut(4) {
            let word = self.next_u32().to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
    }

    /// The state as one integer and the words left in it (`Random#marshal_dump`).
    pub fn dump(&self) -> (BigInt, usize) {
        (BigInt::from_u32s(false, &self.state[..]), N + 1 - self.at.min(N))
    }

    /// The inverse of [`Mt::dump`]; `None` if the parts can't belong to a generator.
    pub fn load(state: &BigInt, left: usize) -> Option<Mt> {
        let words = state.magnitude_u32s();
        if words.len() > N || !(1..=N + 1).contains(&left) || state.is_negative() {
            return None;
        }
        let mut full = Box::new([0u32; N]);
        full[..words.len()].copy_from_slice(&words);
        Some(Mt { state: full, at: N + 1 - left })
    }
}

/// Fills with bytes from the operating system; false if it has none to give.
pub fn os_bytes(out: &mut [u8]) -> bool {
    getrandom::fill(out).is_ok()
}

/// A fresh seed of 128 bits (`Random.new_seed`); from the clock if the system gives no bytes.
pub fn new_seed() -> BigInt {
    let mut bytes = [0u8; 16];
    if !os_bytes(&mut bytes) {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        bytes = now.map_or(1, |d| d.as_nanos()).to_le_bytes();
    }
    let seed = BigInt::from_le_bytes(&bytes, false);
    // The guard word: see `Mt::new`.
    if bytes[12] <= 1 && bytes[13..] == [0, 0, 0] {
        return seed.add(&BigInt::ONE.shl(128).unwrap_or(BigInt::ZERO));
    }
    seed
}
