//! Leaf natives of collections.
//!
//! One file a class. Every file has a `TABLE` of leaf natives; their twins and all
//! methods with blocks are Ruby, in `prelude/`.
#![deny(missing_docs)]

mod array;
mod hash;
mod json;
mod marshal;
mod range;

mod join;
mod rest;
mod set;
mod structs;

use kumi_vm::Cx;

/// Tables of keyed collections and of what reads and writes them.
static KEYED: &[&[kumi_vm::NativeDef]] = &[
    hash::TABLE,
    hash::walk::TABLE,
    join::TABLE,
    structs::TABLE,
    set::TABLE,
    json::parse::TABLE,
    json::write::TABLE,
    marshal::TABLE,
    marshal::fast::TABLE,
];

/// Registers this floor's natives.
pub fn register(cx: &mut Cx) {
    cx.natives(array::TABLE);
    cx.natives(array::edit::TABLE);
    cx.natives(array::compare::TABLE);
    cx.natives(array::order::TABLE);
    cx.natives(array::combine::TABLE);
    cx.natives(array::text::TABLE);
    for table in KEYED {
        cx.natives(table);
    }
    cx.natives(range::TABLE);
    cx.natives(rest::TABLE);
}
