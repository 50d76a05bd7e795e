//! What natives may use: how they are told of a call and how they answer, what is locked around them, and relations on
//! plain values.
//!
//! **Invariant.** Nothing here runs Ruby or knows of tasks.

pub mod guard;
pub mod hash_key;
mod native;
pub mod plain;

pub use native::*;
