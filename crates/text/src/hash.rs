//! A hash of bytes for tables that input may fill: `String#hash`, Hashes with String keys, sets of texts.
//!
//! foldhash's shared seed is random as well as ours. With a fixed one, eight bytes of a text could cancel all that came before,
//! whatever our seed is, and a program could be given keys that all collide.

use foldhash::SharedSeed;
use foldhash::fast::FoldHasher;
use std::hash::Hasher;

/// A hash of bytes under a seed; equal in one process for equal seed and bytes.
#[inline]
pub fn hash_bytes(seed: u64, bytes: &[u8]) -> u64 {
    let mut hasher = FoldHasher::with_seed(seed, SharedSeed::global_random());
    hasher.write(bytes);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::hash_bytes;

    #[test]
    fn bytes_length_and_seed_count() {
        assert_eq!(hash_bytes(7, b"abc"), hash_bytes(7, b"abc"));
        assert_ne!(hash_bytes(7, b"abc"), hash_bytes(8, b"abc"));
        assert_ne!(hash_bytes(7, b"abc"), hash_bytes(7, b"abc\0"));
        assert_ne!(hash_bytes(7, b""), hash_bytes(7, b"\0"));
    }
}
