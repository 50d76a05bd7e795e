//! How large stacks are: what the environment says, with silly values put right.

use kumi_budget::parse_bytes;
use std::str::FromStr;

/// Slots (words) in a byte count's terms.
const WORD: usize = 8;
/// Slots a thread's or fiber's stack may have at most by default: 4 MiB, some 58,000 levels of a plain
/// method or 18,700 of an iterator's block, where CRuby has 10,000 and 7,000.
const DEFAULT_MAX: usize = 1 << 19;
/// The least maximum: below it not even an exception could be reported (16 KiB).
const LEAST_MAX: usize = 2048;
/// Slots of a new stack by default (256 bytes).
const DEFAULT_FIRST: usize = 32;
/// The least first size: the frame that every task starts with.
const LEAST_FIRST: usize = 16;
/// Most slots any stack may have: slot numbers have 32 bits.
const MOST: usize = u32::MAX as usize / 2;

/// Sizes of one runtime's stacks, in slots; read from the environment once.
#[derive(Clone, Copy, Debug)]
pub struct StackSizes {
    /// `RUBY_THREAD_VM_STACK_INITIAL_SIZE`: what a stack begins with.
    pub first: usize,
    /// `RUBY_THREAD_VM_STACK_SIZE`: what a thread's stack may grow to.
    pub thread_max: usize,
    /// `RUBY_FIBER_VM_STACK_SIZE`
    pub fiber_max: usize,
    /// Bytes that all large stacks together may have: beyond it deep recursion ends early, instead of
    /// taking all memory when thousands of threads run away at once.
    pub budget: usize,
    /// `KUMI_STACK_STRESS`: a stack moves at every k-th point where it could; 0: only when it must.
    pub stress: u32,
    /// Seed of the rhythm that is.
    pub seed: u32,
}

impl StackSizes {
    /// What the environment says.
    pub fn from_env() -> StackSizes {
        StackSizes::from(|name| std::env::var(name).ok())
    }
    fn from(get: impl Fn(&str) -> Option<String>) -> StackSizes {
        let bytes = |name: &str, default: usize, least: usize| match get(name).and_then(|v| size(&v)) {
            None | Some(0) => default,
            Some(n) => n.div_ceil(WORD).clamp(least, MOST),
        };
        let thread_max = bytes("RUBY_THREAD_VM_STACK_SIZE", DEFAULT_MAX, LEAST_MAX);
        let fiber_max = bytes("RUBY_FIBER_VM_STACK_SIZE", DEFAULT_MAX, LEAST_MAX);
        let first = bytes("RUBY_THREAD_VM_STACK_INITIAL_SIZE", DEFAULT_FIRST, LEAST_FIRST);
        let k = get("KUMI_STACK_STRESS").and_then(|v| number::<u32>(&v)).unwrap_or(0);
        StackSizes {
            first: first.next_multiple_of(8).min(thread_max).min(fiber_max),
            thread_max: thread_max.next_multiple_of(8),
            fiber_max: fiber_max.next_multiple_of(8),
            budget: 1 << 30,
            stress: if k <= 256 { k } else { 1 + k % 256 },
            seed: k,
        }
    }
    /// A limit of the whole runtime's memory limits that of all stacks: to a quarter, but to no less than one stack may have by default.
    pub fn limit_memory(&mut self, bytes: usize) {
        self.budget = (bytes / 4).max(DEFAULT_MAX * WORD);
    }
    /// Most slots of a thread's first task, or of a fiber.
    #[inline]
    pub fn max(&self, fiber: bool) -> usize {
        if fiber { self.fiber_max } else { self.thread_max }
    }
}

/// Bytes that a text names. More than there can be are as many as there can be.
fn size(s: &str) -> Option<usize> {
    let s = s.trim();
    parse_bytes(s).or_else(|| (!s.is_empty() && s.bytes().all(|b| b.is_ascii_digit())).then_some(usize::MAX))
}
/// The number that a text is.
fn number<T: FromStr>(s: &str) -> Option<T> {
    s.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(pairs: &[(&str, &str)]) -> StackSizes {
        StackSizes::from(|n| pairs.iter().find(|p| p.0 == n).map(|p| p.1.to_string()))
    }

    #[test]
    fn defaults_and_clamps() {
        let s = sizes(&[]);
        assert_eq!((s.first, s.thread_max, s.fiber_max, s.stress), (DEFAULT_FIRST, DEFAULT_MAX, DEFAULT_MAX, 0));
        let s =
            sizes(&[("RUBY_THREAD_VM_STACK_INITIAL_SIZE", "1"), ("RUBY_THREAD_VM_STACK_SIZE", "1"), ("RUBY_FIBER_VM_STACK_SIZE", "20001")]);
        assert_eq!((s.first, s.thread_max, s.fiber_max), (LEAST_FIRST, LEAST_MAX, 2504));
        for silly in ["", "-5", "0", "x", "many", "8Q", "8 MB", "1e6", "M", "é"] {
            assert_eq!(sizes(&[("RUBY_THREAD_VM_STACK_SIZE", silly)]).thread_max, DEFAULT_MAX, "{silly}");
        }
        let s = sizes(&[("RUBY_THREAD_VM_STACK_SIZE", "8M"), ("RUBY_FIBER_VM_STACK_SIZE", " 64k ")]);
        assert_eq!((s.thread_max, s.fiber_max), (1 << 20, 1 << 13));
        let s = sizes(&[("RUBY_THREAD_VM_STACK_SIZE", "999999999G"), ("RUBY_THREAD_VM_STACK_INITIAL_SIZE", "9999999999999999999")]);
        assert!(s.thread_max >= MOST && s.thread_max < u32::MAX as usize);
        assert_eq!(s.first, DEFAULT_MAX, "never more than a fiber may have");
    }

    #[test]
    fn stress_has_a_period() {
        assert_eq!(sizes(&[("KUMI_STACK_STRESS", "1")]).stress, 1);
        assert_eq!(sizes(&[("KUMI_STACK_STRESS", "97")]).stress, 97);
        assert!(sizes(&[("KUMI_STACK_STRESS", "123456")]).stress <= 256);
    }
}
