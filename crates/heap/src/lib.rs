//! Values, object layouts, blocks, barriers, marking and sweeping.
//!
//! A [`Heap`] is a value; nothing here is global. Cells never move. Collections
//! happen only when the owner calls [`Heap::collect`] with exact roots, so code
//! between two safepoints may hold raw [`Value`]s freely. The heap never asks for
//! a collection by itself: it raises [`Heap::wants_gc`] and the loop polls it.
//!
//! Floors below: `kumi-num` (big integers are a cell kind). Nothing here knows of
//! bytecode, tasks or methods.

mod block;
mod class;
mod gc;
mod hash;
mod header;
mod heap;
mod layout;
mod shape;
mod value;

pub use class::{ClassData, ClassObj, Const, Instance, Role};
pub use gc::Marker;
pub use hash::{Entry, HashData, HashObj, hash_bytes};
pub use header::{Gc, Header, Kind, Layout, flag};
pub use heap::{GcStat, Heap};
pub use layout::*;
pub use shape::{ROOT_SHAPE, ShapeId, Shapes};
pub use value::{FIXNUM_MAX, FIXNUM_MIN, Sym, Value};
