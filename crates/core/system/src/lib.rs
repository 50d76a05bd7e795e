//! Leaf natives of the classes that meet the operating system.
//!
//! One file a concept. Every file has a `TABLE` of leaf natives; their twins and all
//! methods with blocks are Ruby, in `prelude/`.
//!
//! - `io` is the stream with its buffers; `io_open`, `io_fill`, `io_lines`, `io_read`,
//!   `io_write`, `io_state` are what is done to it; `stdio` the standard three.
//! - `memory_region`: bytes outside the heap, for `IO::Buffer`.
//! - `select`: waiting for one of several streams.
//! - `path`, `fnmatch`, `glob`: paths and patterns. `file`, `stat`: changing and asking.
//! - `process`, `spawn`, `signal`: children, commands, traps.
//! - `env`: the environment.
//! - `clock`, `time`, `time_fields`: moments.

mod clock;
mod env;
mod file;
mod fnmatch;
mod glob;
pub mod io;
mod io_fill;
mod io_lines;
mod io_open;
mod io_read;
mod io_state;
mod io_write;
mod memory_region;
mod path;
mod process;
mod select;
mod signal;
mod spawn;
mod stat;
pub mod stdio;
pub mod time;
mod time_fields;

pub use io_fill::wait;
pub use io_open::retry_after_gc;
pub use io_state::monotonic;
pub use signal::{Held, OnInterrupt, hold, let_go};
pub use stdio::flush_all;

use kumi_vm::Cx;

/// Registers this floor's natives.
pub fn register(cx: &mut Cx) {
    clock::constants(cx);
    for table in [
        clock::TABLE,
        env::TABLE,
        time::TABLE,
        time_fields::TABLE,
        file::TABLE,
        glob::TABLE,
        path::TABLE,
        process::TABLE,
        signal::TABLE,
        spawn::TABLE,
        stat::TABLE,
        stat::QUESTIONS,
        io_open::TABLE,
        io_lines::TABLE,
        io_read::TABLE,
        io_state::TABLE,
        io_write::TABLE,
        memory_region::TABLE,
        select::TABLE,
        stdio::TABLE,
    ] {
        cx.natives(table);
    }
    stdio::boot(cx);
    process::boot(cx);
    signal::boot(cx);
}
