//! Leaf natives of the classes that meet the operating system.
//!
//! One file a concept. Every file has a `TABLE` of leaf natives; their twins and all
//! methods with blocks are Ruby, in `prelude/`.
//!
//! - `io`: the stream with its buffers, and what is done to it; the standard three; waiting for one of several.
//! - `file`: changing and asking; paths and patterns.
//! - `process`: children, commands, traps, the environment.
//! - `time`: moments.
//! - `memory_region`: bytes outside the heap, for `IO::Buffer`.

mod file;
pub mod io;
mod memory_region;
mod process;
pub mod time;

pub use io::fill::wait;
pub use io::open::retry_after_gc;
pub use io::stdio::flush_all;
pub use process::signal::{Held, OnInterrupt, hold, let_go};

use kumi_vm::Cx;

/// Registers this floor's natives.
pub fn register(cx: &mut Cx) {
    time::clock::constants(cx);
    for table in [
        time::clock::TABLE,
        process::env::TABLE,
        time::TABLE,
        time::fields::TABLE,
        file::TABLE,
        file::glob::TABLE,
        file::path::TABLE,
        process::TABLE,
        process::signal::TABLE,
        process::spawn::TABLE,
        file::stat::TABLE,
        file::stat::QUESTIONS,
        io::open::TABLE,
        io::lines::TABLE,
        io::read::TABLE,
        io::state::TABLE,
        io::write::TABLE,
        memory_region::TABLE,
        io::select::TABLE,
        io::stdio::TABLE,
    ] {
        cx.natives(table);
    }
    io::stdio::boot(cx);
    process::boot(cx);
    process::signal::boot(cx);
}
