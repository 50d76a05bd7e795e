//! What a node has given out, and what it has been given.

mod exports;
mod imports;

pub(crate) use exports::Exports;
pub use imports::Import;
pub(crate) use imports::{Imports, State};

/// Keys come from outside: the hash has a seed that nobody outside knows.
pub(crate) type Map<K, V> = std::collections::HashMap<K, V, foldhash::quality::FixedState>;

pub(crate) fn map<K, V>(seed: u64) -> Map<K, V> {
    Map::with_hasher(foldhash::quality::FixedState::with_seed(seed))
}
