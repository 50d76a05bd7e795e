//! The command's parts: a runtime put together, the command line, running, the REPL, `kumi xml`,
//! nodes and their certificates, replays of clusters.

pub mod allocator;
pub mod cert;
pub mod environment;
pub mod help;
pub mod node;
pub mod options;
pub mod repl;
pub mod run;
pub mod say;
mod setup;
pub mod simulate;
pub mod watch;
pub mod xml;

pub use setup::{Identity, assemble};

/// The packed prelude (see `kumi_prelude`).
pub static PRELUDE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/prelude.bin"));
/// The packed standard library: paths below `lib/`, and texts (see `kumi_prelude`).
pub static LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/library.bin"));
