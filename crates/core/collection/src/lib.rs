
//!
//! One file a class. Every file has a `TABLE` of leaf natives; their twins and all
//! methods with blocks are Ruby, in `prelude/`.

mod hash;
mod hash_walk;
pub mod key;

use kumi_vm::Cx;

/// Registers this floor's natives.
pub fn register(cx: &mut Cx) {
    cx.natives(hash::TABLE);
    cx.natives(hash_walk::TABLE);
}
