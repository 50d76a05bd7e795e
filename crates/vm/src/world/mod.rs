//! Classes, method lookup, constants and globals of one runtime.
//!
//! **Invariant.** A class's `serial` changes whenever the answer of any method lookup that starts there may change; inline
//! caches and the method cache compare it. Class tables change under the class lock, and what they refer to is published.

mod classes;
mod constants;
mod globals;
mod known;
mod methods;
mod order;

pub use globals::Global;
pub use known::Known;
pub(crate) use methods::{CacheEntry, empty_cache};

/// No such method.
pub const NO_METHOD: u32 = u32::MAX;
