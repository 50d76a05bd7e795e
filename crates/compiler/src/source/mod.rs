//! The text as Prism reads it, and what is wrong with it.

pub(crate) mod diagnostic;
pub(crate) mod prism;
