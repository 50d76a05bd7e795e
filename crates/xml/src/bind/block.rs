//! Comparing literals, and finding the ends of attribute values: what the predictor does most.

/// The size of the blocks that literals are compared in: the padding behind the tokeniser's text.
pub(super) const BLOCK: usize = crate::input::PADDING;

/// A way to compare the first bytes (1 to 64) of two blocks.
pub(super) trait Same {
    /// Whether the first `n` bytes are the same.
    ///
    /// # Safety
    /// The processor has what the implementing type says.
    unsafe fn same(a: &[u8; BLOCK], b: &[u8; BLOCK], n: usize) -> bool;
}

/// Needs nothing of the processor.
pub(super) struct Portable;

impl Same for Portable {
    #[inline(always)]
    unsafe fn same(a: &[u8; BLOCK], b: &[u8; BLOCK], n: usize) -> bool {
        let mut i = 0;
        while i < n {
            let (Some(x), Some(y)) = (a[i..].first_chunk::<8>(), b[i..].first_chunk::<8>()) else { return false };
            let differ = u64::from_le_bytes(*x) ^ u64::from_le_bytes(*y);
            let rest = n - i;
            if if rest >= 8 { differ != 0 } else { differ << (64 - 8 * rest) != 0 } {
                return false;
            }
            i += 8;
        }
        true
    }
}

/// Comparisons for processors of the x86-64 kind that have more than all of them have.
#[cfg(target_arch = "x86_64")]
pub(super) mod x86 {
    use super::*;
    use std::arch::x86_64::*;

    /// Those that this processor can make.
    #[cfg(test)]
    pub fn comparisons() -> Vec<fn(&[u8; BLOCK], &[u8; BLOCK], usize) -> bool> {
        let mut all: Vec<fn(&[u8; BLOCK], &[u8; BLOCK], usize) -> bool> = Vec::new();
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2.
            all.push(|a, b, n| unsafe { Avx2::same(a, b, n) });
        }
        if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw") {
            // SAFETY: the processor has AVX-512F and BW.
            all.push(|a, b, n| unsafe { Avx512::same(a, b, n) });
        }
        all
    }

    /// Needs AVX-512F and BW.
    pub struct Avx512;

    impl Same for Avx512 {
        #[inline(always)]
        unsafe fn same(a: &[u8; BLOCK], b: &[u8; BLOCK], n: usize) -> bool {
            // SAFETY: the caller's promise; both blocks have the 64 bytes that are loaded, which needs no alignment.
            unsafe {
                let (x, y) = (_mm512_loadu_si512(a.as_ptr().cast()), _mm512_loadu_si512(b.as_ptr().cast()));
                _mm512_mask_cmpneq_epi8_mask(u64::MAX >> (BLOCK - n), x, y) == 0
            }
        }
    }

    /// Needs AVX2.
    pub struct Avx2;

    impl Same for Avx2 {
        #[inline(always)]
        unsafe fn same(a: &[u8; BLOCK], b: &[u8; BLOCK], n: usize) -> bool {
            // SAFETY: the caller's promise; both blocks have 64 bytes, and the loads of 32 begin at 0 and 32 and need no alignment.
            unsafe {
                let equal = |i: usize| {
                    let (x, y) = (_mm256_loadu_si256(a.as_ptr().add(i).cast()), _mm256_loadu_si256(b.as_ptr().add(i).cast()));
                    _mm256_movemask_epi8(_mm256_cmpeq_epi8(x, y)) as u32
                };
                let low = !equal(0) & (u32::MAX >> (32 - n.min(32)));
                low == 0 && (n <= 32 || !equal(32) & (u32::MAX >> (BLOCK - n)) == 0)
            }
        }
    }
}

/// Whether `literal` stands at `at`.
#[inline(always)]
pub(super) fn same(bytes: &[u8], at: usize, literal: &[u8]) -> bool {
    let n = literal.len();
    let Some(here) = bytes.get(at..).and_then(|b| b.get(..n)) else { return false };
    // Blocks of a fixed size, the last overlapping the one before: no call, no loop over bytes.
    fn block<const N: usize>(a: &[u8], b: &[u8], at: usize) -> bool {
        match (a[at..].first_chunk::<N>(), b[at..].first_chunk::<N>()) {
            (Some(a), Some(b)) => a == b,
            _ => false,
        }
    }
    if n >= 16 {
        let mut i = 0;
        while i + 16 < n {
            if !block::<16>(here, literal, i) {
                return false;
            }
            i += 16;
        }
        block::<16>(here, literal, n - 16)
    } else if n >= 8 {
        block::<8>(here, literal, 0) && block::<8>(here, literal, n - 8)
    } else if n >= 4 {
        block::<4>(here, literal, 0) && block::<4>(here, literal, n - 4)
    } else {
        here == literal
    }
}

/// Where an attribute's value ends: at its quote, or at something that only the tokeniser can read.
#[inline]
pub(super) fn value_end(bytes: &[u8], mut at: usize, quote: u8) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let zero = |w: u64| w.wrapping_sub(ONES) & !w;
    while let Some(block) = bytes.get(at..).and_then(|b| b.first_chunk::<8>()) {
        let w = u64::from_le_bytes(*block);
        let control = w.wrapping_sub(ONES * 0x20) & !w;
        let hits = (zero(w ^ (ONES * quote as u64)) | zero(w ^ (ONES * b'<' as u64)) | zero(w ^ (ONES * b'&' as u64)) | control) & HIGH;
        if hits != 0 {
            return at + hits.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    while bytes.get(at).is_some_and(|&b| b != quote && b != b'<' && b != b'&' && b >= 0x20) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_agree() {
        type Comparison = fn(&[u8; BLOCK], &[u8; BLOCK], usize) -> bool;
        #[allow(unused_mut)]
        // SAFETY: it needs nothing of the processor.
        let mut all: Vec<Comparison> = vec![|a, b, n| unsafe { Portable::same(a, b, n) }];
        #[cfg(target_arch = "x86_64")]
        all.extend(x86::comparisons());
        let a: [u8; BLOCK] = std::array::from_fn(|i| i as u8);
        for same in all {
            for n in 1..=BLOCK {
                for changed in 0..BLOCK {
                    let mut b = a;
                    b[changed] ^= 0x80;
                    assert_eq!(same(&a, &b, n), changed >= n, "{n} bytes, the one at {changed} differs");
                }
                assert!(same(&a, &a, n));
            }
        }
    }

    #[test]
    fn values_end_at_quotes_and_at_what_is_special() {
        for special in [b'"', b'<', b'&', b'\t', b'\n'] {
            for at in 0..20 {
                let mut bytes = "\u{e4}>]'abcdefghijklmnopqrstuvwxyz".as_bytes().to_vec();
                bytes[at] = special;
                assert_eq!(value_end(&bytes, 0, b'"'), at);
            }
        }
        assert_eq!(value_end(b"abc", 1, b'\''), 3);
    }
}
