//! A registry: what all producers of one runtime have in common. Their clock, the pool that parses ahead, the
//! admission of the paper's policy, and counts of what is alive and what was done.
//!
//! Nothing here is global: a process may hold several registries, and a test its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use crate::fork::Gate;
use crate::policy::admission::Admission;

/// Where producers get the time from. Tests inject their own.
pub type Clock = Arc<dyn Fn() -> Instant + Send + Sync>;
/// Work for a pool thread.
pub type Job = Box<dyn FnOnce() + Send>;
/// Runs a job on a thread of its own if a core is idle, and says whether it will (a refused job is dropped).
pub type Pool = Arc<dyn Fn(Job) -> bool + Send + Sync>;

/// Counts of chain cells: what the trees of a registry keep.
#[derive(Default)]
pub struct Meter {
    cells: AtomicI64,
    bytes: AtomicI64,
}

impl Meter {
    pub(crate) fn made(&self, bytes: usize) {
        self.cells.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes as i64, Ordering::Relaxed);
    }

    pub(crate) fn freed(&self, bytes: usize) {
        self.cells.fetch_sub(1, Ordering::Relaxed);
        self.bytes.fetch_sub(bytes as i64, Ordering::Relaxed);
    }

    /// Chain cells alive.
    pub fn cells(&self) -> i64 {
        self.cells.load(Ordering::Relaxed)
    }

    /// Bytes of their packed rows.
    pub fn bytes(&self) -> i64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

#[derive(Default)]
pub(crate) struct Counters {
    pub opened: AtomicU64,
    pub open: AtomicUsize,
    pub documents: AtomicUsize,
    pub rows: AtomicU64,
    pub direct: AtomicU64,
    pub batches: AtomicU64,
    pub ahead: AtomicU64,
    pub fill_ns: AtomicU64,
    pub bytes: AtomicU64,
    pub to_slow: AtomicU64,
    pub to_fast: AtomicU64,
    pub waits: AtomicU64,
}

/// What was done and what is alive, at one moment. Counts of different things may be read an instant apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Documents opened since the beginning.
    pub opened: u64,
    /// Sources (connections, files) open now.
    pub open: usize,
    /// Documents some part of which can still be reached.
    pub documents: usize,
    /// Items that were bound: elements of lists, and fields of nodes.
    pub rows: u64,
    /// Elements of lists that were handed from the batch to their only reader without being kept.
    pub direct: u64,
    /// Batches filled.
    pub batches: u64,
    /// Of those, by a pool thread ahead of the demand.
    pub ahead: u64,
    /// Time spent in filling them, in nanoseconds.
    pub fill_ns: u64,
    /// Bytes of documents (after decompression).
    pub bytes: u64,
    /// Inputs taken for slow.
    pub to_slow: u64,
    /// Slow inputs taken for fast again.
    pub to_fast: u64,
    /// Times a source had nothing.
    pub waits: u64,
    /// Elements kept in lists now.
    pub cells: i64,
    /// Bytes of their packed rows.
    pub cell_bytes: i64,
}

/// What is alive: all zero when every document was dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Live {
    /// Sources open.
    pub open: usize,
    /// Documents some part of which can still be reached.
    pub documents: usize,
    /// Elements kept in lists.
    pub cells: i64,
}

pub(crate) struct Shared {
    pub clock: Clock,
    pub pool: Option<Pool>,
    pub admission: Admission,
    pub counters: Counters,
    pub meter: Arc<Meter>,
    pub gate: Gate,
}

impl Shared {
    pub fn now(&self) -> Instant {
        (self.clock)()
    }
}

/// Where producers are opened. A clone is the same registry.
#[derive(Clone)]
pub struct Registry {
    pub(crate) shared: Arc<Shared>,
}

impl Registry {
    /// A registry with the system's clock; `pool` runs what parses ahead (none: nothing is parsed ahead).
    pub fn new(pool: Option<Pool>) -> Registry {
        Registry::with_clock(pool, Arc::new(Instant::now))
    }

    /// A registry with its own clock.
    pub fn with_clock(pool: Option<Pool>, clock: Clock) -> Registry {
        Registry {
            shared: Arc::new(Shared {
                clock,
                pool,
                admission: Admission::new(),
                counters: Counters::default(),
                meter: Arc::new(Meter::default()),
                gate: Gate::default(),
            }),
        }
    }

    /// The process is about to fork: waits until no pool thread is inside a document of this registry; none begins until
    /// [`after_fork`](Self::after_fork), or [`in_child`](Self::in_child) in the child. Without this a child may use no document.
    pub fn before_fork(&self) {
        self.shared.gate.before_fork();
    }
    /// In the parent: the process has forked, or could not.
    pub fn after_fork(&self) {
        self.shared.gate.after_fork();
    }
    /// In the child: it has no pool thread, and documents are as they were.
    pub fn in_child(&self) {
        self.shared.gate.in_child();
    }

    /// What was done and what is alive.
    pub fn stats(&self) -> Stats {
        let c = &self.shared.counters;
        Stats {
            opened: c.opened.load(Ordering::Relaxed),
            open: c.open.load(Ordering::Relaxed),
            documents: c.documents.load(Ordering::Relaxed),
            rows: c.rows.load(Ordering::Relaxed),
            direct: c.direct.load(Ordering::Relaxed),
            batches: c.batches.load(Ordering::Relaxed),
            ahead: c.ahead.load(Ordering::Relaxed),
            fill_ns: c.fill_ns.load(Ordering::Relaxed),
            bytes: c.bytes.load(Ordering::Relaxed),
            to_slow: c.to_slow.load(Ordering::Relaxed),
            to_fast: c.to_fast.load(Ordering::Relaxed),
            waits: c.waits.load(Ordering::Relaxed),
            cells: self.shared.meter.cells(),
            cell_bytes: self.shared.meter.bytes(),
        }
    }

    /// What is alive, for tests that nothing is left behind.
    pub fn live(&self) -> Live {
        let stats = self.stats();
        Live { open: stats.open, documents: stats.documents, cells: stats.cells }
    }
}
