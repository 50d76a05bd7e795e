//! Values, object layouts, blocks, barriers, marking and sweeping.
//!
//! A [`Heap`] is one worker's; the heaps of a runtime's workers share a
//! [`HeapShared`]. Nothing here is global. Cells never move. Collections happen
//! only when the owner calls them with exact roots, between two safepoints of its
//! own: [`Heap::collect_nursery`] for one worker's private cells, beside running
//! workers, [`Heap::collect_all`] for all heaps while every worker is stopped. So
//! code between two safepoints may hold raw [`Value`]s freely. The heap never asks
//! for a collection by itself: it raises [`Heap::wants_nursery`] or
//! [`Heap::wants_gc`] and the loop polls them.
//!
//! Before a store into a cell that is not new: [`Heap::before_store`] (`nursery.rs`).
//!
//! The rooms, from below: `lockfree` (what is read beside who changes it, and where replaced memory goes), `cells` (values and
//! layouts, their locks), `watch` (what is told), `space` (blocks, sweeping, budgets), `mark`, `alloc_site` (where cells are born and
//! what becomes of them), `verify`. `heap` is one worker's heap and `shared` what all of a runtime have, which the rooms extend.
//!
//! Floors below: `kumi-num` (big integers are a cell kind). Nothing here knows of
//! bytecode, tasks or methods.
#![deny(missing_docs)]

mod alloc_site;
mod cells;
mod collect;
mod cycle;
mod heap;
mod lockfree;
mod mark;
mod nursery;
mod shared;
mod space;
mod verify;
mod watch;

pub use alloc_site::sample::{Birth, Sampled};
pub use alloc_site::series::{Placed, Series};
pub use alloc_site::{
    AllocSiteBook, AllocSiteKey, AllocSiteMode, AllocSiteNews, AllocSitePolicy, AllocSiteProbe, AllocSiteReport, AllocSiteTable,
    BirthPlace, CalledBy, Fate, Fates, NODE_TICKS, Strategy,
};
pub use cells::census::{SLOT_SIZES, each_child, memory_of, slot_size};
pub use cells::class::{ClassData, ClassObj, Const, Instance, Role};
pub use cells::hash::{Busy, Entry, HashData, HashObj, Missing};
pub use cells::header::{Gc, Half, Header, Kind, Layout, Word, flag};
pub use cells::layout::*;
pub use cells::lock::{LockSet, Locked};
pub use cells::record::RecordObj;
pub use cells::rows::{Bits, Rows, SymMarks};
pub use cells::shape::{ROOT_SHAPE, ShapeId, Shapes};
pub use cells::trace::{Marker, Visitor};
pub use cells::value::{FIXNUM_MAX, FIXNUM_MIN, Sym, Value};
pub use collect::Sizes;
pub use cycle::{SLICE_EVERY_NS, Showing};
pub use heap::share::{Met, Sharing, Way};
pub use heap::trail::Trail;
pub use heap::{Heap, HeapConfig, Rule};
pub use lockfree::deferred;
pub use lockfree::latch::Latch;
pub use lockfree::racevec::spread::Spread;
pub use lockfree::racevec::{Plain, RaceVec, Seen, SeenIter};
pub use mark::marked_before;
pub use shared::HeapShared;
pub use space::young::process_ns;
pub use verify::{Look, Moment, verify};
pub use watch::gclog::{Cause, Collected, Collection, Level, Log, bytes as show_bytes};
pub use watch::histogram::Histogram;
pub use watch::stat::{GcStat, Pauses, Stats, WorkerStat};
