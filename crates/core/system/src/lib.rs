//! Leaf natives of the classes that meet the operating system.
//!
//! One file a concept. Every file has a `TABLE` of leaf natives; their twins and all
//! methods with blocks are Ruby, in `prelude/`.

mod clock;
pub mod io;
mod file;
mod fnmatch;
mod glob;
mod io_open;
mod path;
mod process;
mod signal;
mod spawn;
mod stat;
mod io_read;
mod io_state;
mod io_write;
pub mod stdio;
pub mod time;
mod time_fields;

pub use stdio::flush_all;

use kumi_vm::Cx;

/// Registers this floor's natives.
pub fn register(cx: &mut Cx) {
    clock::constants(cx);
    for table in [clock::TABLE, time::TABLE, time_fields::TABLE, file::TABLE, glob::TABLE, path::TABLE, process::TABLE, signal::TABLE, spawn::TABLE, stat::TABLE, stat::QUESTIONS, io_open::TABLE, io_read::TABLE, io_state::TABLE, io_write::TABLE, stdio::TABLE] {
        cx.natives(table);
    }
    stdio::boot(cx);
    process::boot(cx);
    signal::boot(cx);
}
