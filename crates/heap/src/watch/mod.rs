//! What the collectors tell: counters, the log's lines, and distributions of pauses.

pub(crate) mod gclog;
pub(crate) mod histogram;
pub(crate) mod stat;
