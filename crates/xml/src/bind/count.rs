//! Lines and columns of rows that are read without the tokeniser: counted from one row's start to the next.

use crate::error::Position;

/// A place, and the offset up to which was counted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Count {
    line: u64,
    column: u64,
    counted: usize,
    counter: fn(&[u8]) -> (usize, usize),
}

/// The counter for this processor: line feeds, and bytes that begin no character.
pub(super) fn counter() -> fn(&[u8]) -> (usize, usize) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("popcnt") {
        return |bytes| {
            // SAFETY: the processor has AVX-512F and BW, and POPCNT.
            unsafe { avx512(bytes) }
        };
    }
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt") {
        return |bytes| {
            // SAFETY: the processor has AVX2 and POPCNT.
            unsafe { avx2(bytes) }
        };
    }
    portable
}

impl Count {
    /// The place of the byte at `at`.
    pub fn new(position: Position, at: usize, counter: fn(&[u8]) -> (usize, usize)) -> Count {
        Count { line: position.line, column: position.column, counted: at, counter }
    }

    /// On to the byte at `to`, which isn't before the last.
    #[inline(always)]
    pub fn advance(&mut self, bytes: &[u8], to: usize) {
        let passed = &bytes[self.counted..to];
        self.counted = to;
        let (lines, inner) = (self.counter)(passed);
        if lines == 0 {
            self.column += (passed.len() - inner) as u64;
            return;
        }
        self.line += lines as u64;
        let last = passed.iter().rposition(|&b| b == b'\n').map_or(0, |i| i + 1);
        let tail = &passed[last..];
        self.column = 1 + tail.iter().filter(|&&b| b as i8 >= -0x40).count() as u64;
    }

    /// Line and column of the place that was counted up to.
    pub fn place(&self) -> (u64, u64) {
        (self.line, self.column)
    }
}

fn portable(bytes: &[u8]) -> (usize, usize) {
    let (mut lines, mut inner) = (0, 0);
    // Sums of bytes don't overflow in blocks of 128.
    for block in bytes.chunks(128) {
        lines += block.iter().map(|&b| (b == b'\n') as u8).sum::<u8>() as usize;
        inner += block.iter().map(|&b| ((b as i8) < -0x40) as u8).sum::<u8>() as usize;
    }
    (lines, inner)
}

/// # Safety
/// The processor has AVX2 and POPCNT.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt")]
unsafe fn avx2(bytes: &[u8]) -> (usize, usize) {
    use std::arch::x86_64::*;
    let (mut lines, mut inner) = (0, 0);
    let blocks = bytes.chunks_exact(32);
    let rest = blocks.remainder();
    let (line_feed, least) = (_mm256_set1_epi8(b'\n' as i8), _mm256_set1_epi8(-0x40));
    for block in blocks {
        // SAFETY: a block has 32 bytes; the load needs no alignment.
        let block = unsafe { _mm256_loadu_si256(block.as_ptr().cast()) };
        lines += (_mm256_movemask_epi8(_mm256_cmpeq_epi8(block, line_feed)) as u32).count_ones();
        inner += (_mm256_movemask_epi8(_mm256_cmpgt_epi8(least, block)) as u32).count_ones();
    }
    let (more_lines, more_inner) = portable(rest);
    (lines as usize + more_lines, inner as usize + more_inner)
}

/// # Safety
/// The processor has AVX-512F and BW, and POPCNT.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,popcnt")]
unsafe fn avx512(bytes: &[u8]) -> (usize, usize) {
    use std::arch::x86_64::*;
    let (mut lines, mut inner) = (0, 0);
    let (line_feed, least) = (_mm512_set1_epi8(b'\n' as i8), _mm512_set1_epi8(-0x40));
    let mut rest = bytes;
    loop {
        let n = rest.len().min(64);
        if n == 0 {
            return (lines as usize, inner as usize);
        }
        // SAFETY: only the `n` bytes that are there are loaded.
        let block = unsafe { _mm512_maskz_loadu_epi8(u64::MAX >> (64 - n), rest.as_ptr().cast()) };
        lines += _mm512_cmpeq_epi8_mask(block, line_feed).count_ones();
        inner += _mm512_cmplt_epi8_mask(block, least).count_ones();
        rest = &rest[n..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_agree() {
        let text = "abc\nd\u{e4}\u{20ac}\u{1f600}\n".repeat(40);
        for from in 0..70 {
            for to in [from, from + 1, from + 31, from + 100, text.len()] {
                let bytes = &text.as_bytes()[from..to];
                assert_eq!(portable(bytes), counter()(bytes));
                #[cfg(target_arch = "x86_64")]
                if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt") {
                    // SAFETY: the processor has AVX2 and POPCNT.
                    assert_eq!(portable(bytes), unsafe { avx2(bytes) });
                }
            }
        }
    }
}
