//! Interned names, and the vector that never moves, which they and all rows of the runtime stand in.

pub(crate) mod outside;
pub(crate) mod stable;
pub(crate) mod symbols;
