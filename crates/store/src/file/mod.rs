//! The file: its bytes, its rows, its database, and what a group of calls changes in it.

pub mod base;
pub mod disk;
pub mod ledger;
mod row;
pub mod value;
