//! How long operations on big integers take, roughly.
//!
//! Estimates in nanoseconds from sizes in words of 64 bits, for who would rather give
//! long work away. They are of the right order on present machines; what counts is on
//! which side of some 100 microseconds an operation lies.

/// A product.
pub fn product(a: u64, b: u64) -> u64 {
    let (small, large) = (a.min(b), a.max(b));
    if small < 48 {
        return small.saturating_mul(large) / 2;
    }
    let square = ((small as f64).powf(1.5) * 6.0) as u64;
    square.saturating_mul(large.div_ceil(small))
}

/// A quotient and its rest.
pub fn quotient(a: u64, b: u64) -> u64 {
    product(a.saturating_sub(b).max(1), b).saturating_mul(3)
}

/// Greatest common divisor.
pub fn gcd(a: u64, b: u64) -> u64 {
    a.saturating_mul(b).saturating_mul(4)
}

/// To or from text in a radix.
pub fn text(words: u64, radix: u32) -> u64 {
    if radix.is_power_of_two() { words.saturating_mul(16) } else { product(words, words).saturating_mul(3) }
}

/// All digits, each a number.
pub fn digits(words: u64) -> u64 {
    words.saturating_mul(words).saturating_mul(8)
}

/// Reading an integer of so many characters.
pub fn reading(chars: usize) -> u64 {
    text(chars as u64 / 16, 10)
}
