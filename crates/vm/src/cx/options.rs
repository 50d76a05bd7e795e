//! What is asked of a runtime by who makes it, and what `$VERBOSE` and its kin change.

use kumi_record::Recorder;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8};

/// What is asked of a runtime by who makes it: the command by its switches, or a program that has several. `$VERBOSE` and its kin change
/// some of it.
///
/// Runtimes of one process share no wake-up, limit or gate. What is the process's, and so common to all: the working directory, `ENV`, the
/// umask, resource limits, the standard streams' descriptors; the allocator and what the machine, the control group and `ulimit -v`
/// grant (that bounds all of them together, each may have a `heap_max` below it); the panic hook; children and their statuses;
/// signals, which are one runtime's at a time (`signals`). A fork's child has the forking runtime alone. The others are not stopped for it:
/// where they are at work the child had better exec or exit soon.
#[derive(Debug)]
pub struct Options {
    /// Workers, which run threads in parallel; `None`: `KUMI_WORKERS`, else the cores.
    pub workers: Option<usize>,
    /// Threads that mark; `None`: `KUMI_GC_THREADS`, else the cores.
    pub gc_threads: Option<usize>,
    /// Full collections go in slices, between which the program goes on; `None`: as `KUMI_GC` says.
    pub interruptible: Option<bool>,
    /// What may live, in bytes, before NoMemoryError; `None`: `KUMI_HEAP_MAX`, else what the machine gives.
    pub heap_max: Option<usize>,
    /// It gets the process's signals, until it ends; at most one runtime at a time. Without it signals do what the system does, and `trap`
    /// raises, but for EXIT.
    pub signals: bool,
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
    /// What its one worker does is written down there.
    pub recorder: Option<Arc<Recorder>>,
    /// How many times longer than usual everything may last that others do for this runtime, such as other nodes; from 1 on. So many
    /// processes may share each core.
    pub patience: u32,
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
            workers: None,
            gc_threads: None,
            interruptible: None,
            heap_max: None,
            signals: false,
            verbose: AtomicU8::new(1),
            debug: AtomicBool::new(false),
            library: String::new(),
            frozen_strings: false,
            backtrace_limit: -1,
            warn_deprecated: AtomicBool::new(false),
            warn_experimental: AtomicBool::new(true),
            warn_performance: AtomicBool::new(false),
            warn_unused_block: AtomicBool::new(false),
            recorder: None,
            patience: 1,
        }
    }
}
