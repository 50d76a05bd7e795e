//! SipHash-2-4 of one word pair, as published: <https://www.aumasson.jp/siphash/siphash.pdf>. It seals references.

/// Of the sixteen bytes of `a` and `b`, the lowest byte of each first, under a key.
pub(crate) fn seal(key: [u64; 2], a: u64, b: u64) -> u64 {
    let mut v =
        [key[0] ^ 0x736f_6d65_7073_6575, key[1] ^ 0x646f_7261_6e64_6f6d, key[0] ^ 0x6c79_6765_6e65_7261, key[1] ^ 0x7465_6462_7974_6573];
    // The last word has the length in its highest byte.
    for word in [a, b, 16 << 56] {
        v[3] ^= word;
        round(&mut v);
        round(&mut v);
        v[0] ^= word;
    }
    v[2] ^= 0xff;
    (0..4).for_each(|_| round(&mut v));
    v[0] ^ v[1] ^ v[2] ^ v[3]
}

fn round(v: &mut [u64; 4]) {
    v[0] = v[0].wrapping_add(v[1]);
    v[1] = v[1].rotate_left(13) ^ v[0];
    v[0] = v[0].rotate_left(32);
    v[2] = v[2].wrapping_add(v[3]);
    v[3] = v[3].rotate_left(16) ^ v[2];
    v[0] = v[0].wrapping_add(v[3]);
    v[3] = v[3].rotate_left(21) ^ v[0];
    v[2] = v[2].wrapping_add(v[1]);
    v[1] = v[1].rotate_left(17) ^ v[2];
    v[2] = v[2].rotate_left(32);
}

#[cfg(test)]
mod tests {
    /// As the standard library's.
    #[test]
    #[allow(deprecated)]
    fn is_siphash() {
        use std::hash::{Hasher, SipHasher};
        for (key, a, b) in [([0, 0], 0, 0), ([1, 2], 3, 4), ([u64::MAX, 7], 1 << 63, 0x0102_0304_0506_0708)] {
            let mut known = SipHasher::new_with_keys(key[0], key[1]);
            known.write_u64(a);
            known.write_u64(b);
            assert_eq!(super::seal(key, a, b), known.finish());
        }
    }
}
