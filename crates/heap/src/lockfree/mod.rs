//! What may be read and changed beside other threads without a lock, and where replaced memory goes.
//!
//! - `racevec`: a vector that is looked at once and read while others change it; `rcu`: a value that is replaced as a whole.
//! - `gate`: a store names what it stores into, and who moves elements waits for it; `latch`: a word that is a lock.
//! - `halves`: whether the elements of a long buffer still stand where a slice of marking left them.
//! - `deferred` and `readers`: memory that was replaced is freed when nobody can read it any more; `spare`: some of it serves
//!   its worker again.
//!
//! Nothing here knows of cells. `tests/loom_*.rs` runs these files over a model checker's atomics.

pub mod deferred;
pub(crate) mod gate;
pub(crate) mod halves;
pub(crate) mod latch;
pub(crate) mod racevec;
pub(crate) mod rcu;
pub(crate) mod readers;
pub(crate) mod spare;
pub(crate) mod sync;
