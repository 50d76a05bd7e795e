//! Memory: roots, what is done where it is short, giving it back, finalizers, shared frozen strings, profiles, the verifier.

pub(crate) mod apart;
mod finalize;
mod fstring;
pub(crate) mod give_back;
pub mod machine;
pub mod profile;
pub(crate) mod roots;
pub mod schedule;
mod short;
pub(crate) mod verify;

pub(crate) use finalize::TABLE;
