
//!
//! One file a class. Every file has a `TABLE` of leaf natives; their twins and all
//! methods with blocks are Ruby, in `prelude/`.

mod hash;
mod hash_walk;
pub mod key;
pub mod array;
mod array_compare;
mod array_edit;
mod array_text;

use kumi_vm::Cx;

/// Registers this floor's natives.
pub fn register(cx: &mut Cx) {
    cx.natives(hash::TABLE);
    cx.natives(hash_walk::TABLE);
    cx.natives(array::TABLE);
    cx.natives(array_edit::TABLE);
    cx.natives(array_compare::TABLE);
    cx.natives(array_text::TABLE);
}
