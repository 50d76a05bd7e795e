//! Where trace events come from, how their blocks are called, and what a TracePoint may ask. See `trace`.

mod ask;
mod fire;
mod point;

pub(crate) use ask::TABLE;
