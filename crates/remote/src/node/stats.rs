//! What a node counts.

/// Figures of one node since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Objects that others hold.
    pub exports: usize,
    /// Objects of others that are held.
    pub imports: usize,
    /// Messages with references that are not settled.
    pub parcels: usize,
    /// Operations that wait, or are on their way.
    pub waiting: usize,
    /// Imports that only exports reach: what a round might free.
    pub suspects: usize,
    /// Packets sent.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Operations in them.
    pub ops: u64,
    /// Packets received.
    pub received: u64,
    /// References sent in messages.
    pub lent: u64,
    /// Exports that nobody held any more, by counts.
    pub released: u64,
    /// Exports that rounds found to be garbage.
    pub swept: u64,
    /// Rounds that this node took part in, and those among them that ended.
    pub rounds: u64,
    /// See `rounds`.
    pub rounds_ended: u64,
    /// Marks that this node sent.
    pub marks: u64,
    /// Peers that were lost.
    pub lost: u64,
    /// What peers said that can't be.
    pub nonsense: u64,
}
