//! Leaf natives of collections.
//!
//! One file a class. Every file has a `TABLE` of leaf natives; their twins and all
//! methods with blocks are Ruby, in `prelude/`.

pub mod array;
mod array_combine;
mod array_compare;
mod array_edit;
mod array_order;
mod array_text;
mod range;

mod hash;
mod hash_walk;
mod join;
mod json_parse;
mod json_tape;
mod json_write;
pub mod key;
mod marshal;
mod marshal_fast;
mod rest;
mod set;
mod structs;

use kumi_vm::Cx;

/// Tables of keyed collections and of what reads and writes them.
static KEYED: &[&[kumi_vm::NativeDef]] = &[
    hash::TABLE,
    hash_walk::TABLE,
    join::TABLE,
    structs::TABLE,
    set::TABLE,
    json_parse::TABLE,
    json_write::TABLE,
    marshal::TABLE,
    marshal_fast::TABLE,
];

/// Registers this floor's natives.
pub fn register(cx: &mut Cx) {
    cx.natives(array::TABLE);
    cx.natives(array_edit::TABLE);
    cx.natives(array_compare::TABLE);
    cx.natives(array_order::TABLE);
    cx.natives(array_combine::TABLE);
    cx.natives(array_text::TABLE);
    for table in KEYED {
        cx.natives(table);
    }
    cx.natives(range::TABLE);
    cx.natives(rest::TABLE);
}
