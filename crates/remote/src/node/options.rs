//! How patient a node is, and what one peer may have of it.

use crate::Time;

/// Times in nanoseconds, and quotas. All nodes of a cluster should have the same times.
#[derive(Clone, Debug)]
pub struct Options {
    /// So long after a peer was last heard, what it holds is released and what it exported is lost.
    pub lease: Time,
    /// How long operations are gathered before they are sent.
    pub gather: Time,
    /// How long an acknowledgement may take before operations are sent again. It doubles, up to a sixth of the lease.
    pub retry: Time,
    /// The shortest time between two rounds, and how long a round that could not be ended is left alone.
    pub round_every: Time,
    /// The time between two waves of questions of a round.
    pub wave: Time,
    /// Does the host trace from exports between collections ([`Remote::grey`](crate::Remote::grey))? Otherwise each step of a
    /// round that crosses nodes costs a full collection.
    pub incremental: bool,
    /// Nodes that are known at a time, 2999 at most.
    pub peers: usize,
    /// Exports that one peer may hold, and references on their way to it.
    pub exports: usize,
    /// Imports of one peer's, and references that it handed over and that wait for their owners' word.
    pub imports: usize,
    /// Messages with references to one peer, and from it, that are not settled.
    pub parcels: usize,
    /// References in one message.
    pub refs: usize,
}

impl Default for Options {
    fn default() -> Options {
        const MS: Time = 1_000_000;
        Options {
            lease: 30_000 * MS,
            gather: 5 * MS,
            retry: 200 * MS,
            round_every: 30_000 * MS,
            wave: 10 * MS,
            incremental: true,
            peers: 1024,
            exports: 1 << 20,
            imports: 1 << 20,
            parcels: 1 << 16,
            refs: 1 << 16,
        }
    }
}
