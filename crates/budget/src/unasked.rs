//! Large pieces that nobody asked for. In builds with debug assertions `KUMI_UNASKED=BYTES` tells of each from so many bytes on that a
//! thread takes which could have been refused it: a program is killed for these where a control group bounds it.
//!
//! **Invariant.** Who asks has a credit of so many bytes until the next question. In other builds nothing is counted.

#[cfg(debug_assertions)]
mod told {
    use crate::{ASKING, is_caught};
    use std::backtrace::Backtrace;
    use std::cell::Cell;
    use std::sync::OnceLock;

    thread_local! {
        static CREDIT: Cell<usize> = const { Cell::new(0) };
        /// Telling takes memory.
        static TELLING: Cell<bool> = const { Cell::new(false) };
    }

    fn least() -> usize {
        static LEAST: OnceLock<usize> = OnceLock::new();
        *LEAST.get_or_init(|| std::env::var("KUMI_UNASKED").ok().and_then(|v| v.parse().ok()).unwrap_or(usize::MAX))
    }
    pub fn asked(bytes: usize) {
        CREDIT.set(bytes);
    }
    /// Could it have been refused, and did nobody ask?
    pub(super) fn is_unasked(bytes: usize) -> bool {
        let credit = CREDIT.get();
        CREDIT.set(credit.saturating_sub(bytes));
        bytes > credit && !ASKING.get() && is_caught()
    }
    /// The process's allocator gives a large piece.
    pub fn taken(bytes: usize) {
        if !is_unasked(bytes) || TELLING.replace(true) {
            return;
        }
        if bytes >= least() {
            let all = Backtrace::force_capture().to_string();
            // Files of ours, without where the checkout lies.
            let ours = |l: &str| l.trim_start().strip_prefix("at ").and_then(|l| Some(l.split_once("/crates/")?.1.to_string()));
            let doors = ["budget/", "kumi/src/"];
            let by: Vec<_> = all.lines().filter_map(ours).filter(|l| !doors.iter().any(|d| l.starts_with(d))).take(4).collect();
            eprintln!("unasked: {bytes} bytes at {}", by.join(" from "));
        }
        TELLING.set(false);
    }
}

#[cfg(debug_assertions)]
pub(crate) use told::asked;
#[cfg(debug_assertions)]
pub use told::taken;

#[cfg(not(debug_assertions))]
pub(crate) fn asked(_: usize) {}
/// The process's allocator gives a large piece.
#[cfg(not(debug_assertions))]
#[inline(always)]
pub fn taken(_: usize) {}

#[cfg(all(test, debug_assertions))]
mod tests {
    use super::told::is_unasked;
    use crate::{Catcher, ask, asking};

    #[test]
    fn who_asks_has_a_credit_until_it_is_used_up() {
        // Who is refused nothing need not ask.
        assert!(!is_unasked(1 << 20));
        let _catcher = Catcher::new();
        ask(3 << 20);
        assert!(!is_unasked(2 << 20) && !is_unasked(1 << 20) && is_unasked(1 << 20));
        assert!(!asking(|| is_unasked(1 << 20)));
    }
}
