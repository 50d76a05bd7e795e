//! What lies in the heap: values, headers, and the layout of every kind of cell.
//!
//! - `value`: a tagged word; `header`: the first word of a cell, and `Gc`, a reference to one.
//! - `layout`: the kinds and their fields; `array`, `hash` over `table`, `class`, `record`: those with rules of their own.
//! - `shape`: where instance variables lie; `rows`: numbers that cells name, such as symbols'.
//! - `trace`: which values a cell holds; `census`: what cells take; `lock`: who may change a cell while others run.

pub(crate) mod array;
pub(crate) mod census;
pub(crate) mod class;
pub(crate) mod hash;
pub(crate) mod header;
pub(crate) mod layout;
pub(crate) mod lock;
pub(crate) mod record;
pub(crate) mod rows;
pub(crate) mod shape;
pub(crate) mod table;
pub(crate) mod trace;
pub(crate) mod value;
