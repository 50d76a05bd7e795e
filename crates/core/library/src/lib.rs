//! Leaf natives of the standard library: what lib/*.rb needs from Rust.
#![deny(missing_docs)]

mod digest_state;
mod yaml;
mod yaml_emit;
mod zlib;

use kumi_vm::Cx;

/// Registers this floor's natives.
pub fn register(cx: &mut Cx) {
    cx.natives(digest_state::TABLE);
    cx.natives(yaml::TABLE);
    cx.natives(yaml_emit::TABLE);
    cx.natives(zlib::TABLE);
}
