//! Leaf natives of the classes that meet the operating system.
//!
//! One file a class. Every file has a `TABLE` of leaf natives; their twins and all
//! methods with blocks are Ruby, in `prelude/`.

mod clock;
pub mod time;
mod time_fields;

use kumi_vm::Cx;

/// Registers this floor's natives.
pub fn register(cx: &mut Cx) {
    clock::constants(cx);
    cx.natives(clock::TABLE);
    cx.natives(time::TABLE);
    cx.natives(time_fields::TABLE);
}
