//! Lines of memory that are fetched before they are needed: hints, which touch nothing.
//!
//! Who copies many elements waits for each line that another core wrote last, or that is in no cache: the processor itself looks ahead
//! within a page, and for the lines that it reads. Measured in `docs/decisions/0011`.

/// How far ahead: sixteen lines.
const AHEAD: usize = 1 << 10;

/// Are so many words worth it? Few of what is fetched lies behind their end then.
#[inline(always)]
pub(super) fn is_far(words: usize) -> bool {
    words >= 8 * AHEAD / size_of::<u64>()
}

#[inline(always)]
fn fetch<T, const TO_WRITE: bool>(p: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint; any address will do.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_ET0, _MM_HINT_T0, _mm_prefetch};
        match TO_WRITE {
            true => _mm_prefetch(p as *const i8, _MM_HINT_ET0),
            false => _mm_prefetch(p as *const i8, _MM_HINT_T0),
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = p;
}

/// The line is about to be read.
#[inline(always)]
pub(crate) fn prefetch<T>(p: *const T) {
    fetch::<T, false>(p);
}

/// For a loop that reads upwards and is at `p`.
#[inline(always)]
pub(super) fn reads_up<T>(p: *const T) {
    prefetch(p.wrapping_byte_add(AHEAD));
}
/// Downwards.
#[inline(always)]
pub(super) fn reads_down<T>(p: *const T) {
    prefetch(p.wrapping_byte_sub(AHEAD));
}
/// For one that writes upwards.
#[inline(always)]
pub(super) fn writes_up<T>(p: *const T) {
    fetch::<T, true>(p.wrapping_byte_add(AHEAD));
}
/// Downwards.
#[inline(always)]
pub(super) fn writes_down<T>(p: *const T) {
    fetch::<T, true>(p.wrapping_byte_sub(AHEAD));
}
