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
//! Who may change a cell while others run: `lock.rs` over `latch.rs`. What may be read without a
//! lock: `racevec.rs` and `table.rs`. Where replaced memory goes: `retire.rs`.
//!
//! Floors below: `kumi-num` (big integers are a cell kind). Nothing here knows of
//! bytecode, tasks or methods.

mod array;
mod block;
mod census;
mod class;
mod collect;
mod gate;
mod gclog;
mod hash;
mod header;
mod heap;
mod histogram;
mod latch;
mod layout;
mod lock;
mod mark;
mod nursery;
mod published;
mod racevec;
mod readers;
mod record;
pub mod retire;
mod rows;
mod sample;
mod series;
mod shape;
mod shared;
mod site;
mod space;
mod stat;
mod sync;
mod table;
mod trace;
mod value;
mod verify;
mod young;

pub use census::{SLOT_SIZES, each_child, memory_of, slot_size};
pub use class::{ClassData, ClassObj, Const, Instance, Role};
pub use gclog::{Cause, Collected, Collection, Level, Log, bytes as show_bytes};
pub use hash::{Busy, Entry, HashData, HashObj, Missing};
pub use header::{Gc, Half, Header, Kind, Layout, Word, flag};
pub use heap::{Heap, HeapConfig, Rule};
pub use histogram::Histogram;
pub use latch::Latch;
pub use layout::*;
pub use lock::{LockSet, Locked};
pub use racevec::{Plain, RaceVec, Seen, SeenIter};
pub use record::RecordObj;
pub use rows::{Bits, Rows, SymMarks};
pub use sample::{Birth, Sampled};
pub use series::{Aside, Series};
pub use shape::{ROOT_SHAPE, ShapeId, Shapes};
pub use shared::HeapShared;
pub use site::{
    CalledBy, Fate, Fates, NODE_TICKS, Place, SiteBook, SiteKey, SiteMode, SiteNews, SitePolicy, SiteProbe, SiteReport, SiteTable, Strategy,
};
pub use stat::{GcStat, Pauses, Stats, WorkerStat};
pub use trace::{Marker, Visitor};
pub use value::{FIXNUM_MAX, FIXNUM_MIN, Sym, Value};
pub use verify::{Look, Moment, verify};
