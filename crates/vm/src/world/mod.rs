//! What programs define: classes, methods and their lookup, constants and globals; the prelude and the library that are
//! there from the start; the tables that all of it fills.
//!
//! **Invariant.** A class's `serial` changes whenever the answer of any method lookup that starts there may change; inline
//! caches and the method cache compare it. Class tables change under the class lock, and what they refer to is published.

mod allocate;
mod classes;
mod constants;
mod globals;
pub(crate) mod hot;
mod known;
pub mod library;
pub mod method;
pub mod method_obj;
mod methods;
mod order;
pub mod prelude;
pub(crate) mod tables;

pub use globals::Global;
pub use known::Known;
pub(crate) use methods::{CacheEntry, empty_cache};
