//! Exceptions and their messages: what was meant by a misspelt name, warnings, errno.

pub(crate) mod errno;
pub(crate) mod exception;
pub(crate) mod spell;
pub(crate) mod warning;
