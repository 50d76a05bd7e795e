//! What the command line sets, and `$VERBOSE` and its kin change.

use std::sync::atomic::{AtomicBool, AtomicU8};

/// What the command line set, and `$VERBOSE` and its kin change.
#[derive(Debug)]
pub struct Options {
    /// -w: nil, false, true as 0, 1, 2.
    pub verbose: AtomicU8,
    /// `$DEBUG`
    pub debug: AtomicBool,
    /// The real folder that stands for the library in the binary; empty: none does.
    pub library: String,
    /// String literals are frozen unless a magic comment says otherwise (`--enable=frozen-string-literal`).
    pub frozen_strings: bool,
    /// `--backtrace-limit`: lines that an uncaught error shows below its first; -1: all.
    pub backtrace_limit: i64,
    /// `Warning[:deprecated]`
    pub warn_deprecated: AtomicBool,
    /// `Warning[:experimental]`
    pub warn_experimental: AtomicBool,
    /// `Warning[:performance]`
    pub warn_performance: AtomicBool,
    /// A block that is ignored is told of also where a method of the same name uses one, and without `-w`.
    pub warn_unused_block: AtomicBool,
}

impl Options {
    /// Is the file one of the runtime's own, in the binary or in the folder that stands for it?
    pub(crate) fn is_own(&self, path: &str) -> bool {
        path.starts_with("<internal:")
            || !self.library.is_empty() && path.strip_prefix(&*self.library).is_some_and(|rest| rest.starts_with('/'))
    }
}

impl Default for Options {
    fn default() -> Self {
        Options {
            verbose: AtomicU8::new(1),
            debug: AtomicBool::new(false),
            library: String::new(),
            frozen_strings: false,
            backtrace_limit: -1,
            warn_deprecated: AtomicBool::new(false),
            warn_experimental: AtomicBool::new(true),
            warn_performance: AtomicBool::new(false),
            warn_unused_block: AtomicBool::new(false),
        }
    }
}
