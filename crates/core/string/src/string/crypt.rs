//! The traditional `crypt`: DES, 25 times, its expansion changed by a salt of two letters.
//!
//! Invariant: bits are arrays of 0 and 1 in the order of FIPS 46, so that the tables stand as
//! printed there. It is slow on purpose and good for old password files only.

use crate::text::*;
use kumi_text::encoding::EncIndex;
use kumi_vm::*;

pub static TABLE: &[NativeDef] = &[n("String", "crypt", 1, 1, crypt)];

fn crypt(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let s = me(cx, recv)?;
    let salt = cx.arg_str(args, 0)?;
    for x in [s, salt] {
        if !enc(x).is_ascii_compatible() {
            let m = format!("ASCII incompatible encoding: {}", enc(x).name());
            return Err(cx.raise_msg(cx.k.compatibility_error, &m));
        }
    }
    if salt.bytes().len() < 2 {
        return Err(cx.arg_error("salt too short (need >=2 bytes)"));
    }
    if s.bytes().contains(&0) || salt.bytes().contains(&0) {
        return Err(cx.arg_error("string contains null byte"));
    }
    match des_crypt(s.bytes(), salt.bytes()) {
        Some(out) => Ok(cx.str_enc(&out, EncIndex::BINARY)),
        None => Err(cx.errno_error(libc::EINVAL, "crypt")),
    }
}

const IP: [u8; 64] = [
    58, 50, 42, 34, 26, 18, 10, 2, 60, 52, 44, 36, 28, 20, 12, 4, 62, 54, 46, 38, 30, 22, 14, 6, 64, 56, 48, 40, 32, 24, 16, 8, 57, 49, 41,
    33, 25, 17, 9, 1, 59, 51, 43, 35, 27, 19, 11, 3, 61, 53, 45, 37, 29, 21, 13, 5, 63, 55, 47, 39, 31, 23, 15, 7,
];
const FP: [u8; 64] = [
    40, 8, 48, 16, 56, 24, 64, 32, 39, 7, 47, 15, 55, 23, 63, 31, 38, 6, 46, 14, 54, 22, 62, 30, 37, 5, 45, 13, 53, 21, 61, 29, 36, 4, 44,
    12, 52, 20, 60, 28, 35, 3, 43, 11, 51, 19, 59, 27, 34, 2, 42, 10, 50, 18, 58, 26, 33, 1, 41, 9, 49, 17, 57, 25,
];
const E: [u8; 48] = [
    32, 1, 2, 3, 4, 5, 4, 5, 6, 7, 8, 9, 8, 9, 10, 11, 12, 13, 12, 13, 14, 15, 16, 17, 16, 17, 18, 19, 20, 21, 20, 21, 22, 23, 24, 25, 24,
    25, 26, 27, 28, 29, 28, 29, 30, 31, 32, 1,
];
const P: [u8; 32] = [16, 7, 20, 21, 29, 12, 28, 17, 1, 15, 23, 26, 5, 18, 31, 10, 2, 8, 24, 14, 32, 27, 3, 9, 19, 13, 30, 6, 22, 11, 4, 25];
const PC1: [u8; 56] = [
    57, 49, 41, 33, 25, 17, 9, 1, 58, 50, 42, 34, 26, 18, 10, 2, 59, 51, 43, 35, 27, 19, 11, 3, 60, 52, 44, 36, 63, 55, 47, 39, 31, 23, 15,
    7, 62, 54, 46, 38, 30, 22, 14, 6, 61, 53, 45, 37, 29, 21, 13, 5, 28, 20, 12, 4,
];
const PC2: [u8; 48] = [
    14, 17, 11, 24, 1, 5, 3, 28, 15, 6, 21, 10, 23, 19, 12, 4, 26, 8, 16, 7, 27, 20, 13, 2, 41, 52, 31, 37, 47, 55, 30, 40, 51, 45, 33, 48,
    44, 49, 39, 56, 34, 53, 46, 42, 50, 36, 29, 32,
];
const SHIFTS: [u8; 16] = [1, 1, 2, 2, 2, 2, 2, 2, 1, 2, 2, 2, 2, 2, 2, 1];
const S: [[u8; 64]; 8] = [
    [
        14, 4, 13, 1, 2, 15, 11, 8, 3, 10, 6, 12, 5, 9, 0, 7, 0, 15, 7, 4, 14, 2, 13, 1, 10, 6, 12, 11, 9, 5, 3, 8, 4, 1, 14, 8, 13, 6, 2,
        11, 15, 12, 9, 7, 3, 10, 5, 0, 15, 12, 8, 2, 4, 9, 1, 7, 5, 11, 3, 14, 10, 0, 6, 13,
    ],
    [
        15, 1, 8, 14, 6, 11, 3, 4, 9, 7, 2, 13, 12, 0, 5, 10, 3, 13, 4, 7, 15, 2, 8, 14, 12, 0, 1, 10, 6, 9, 11, 5, 0, 14, 7, 11, 10, 4,
        13, 1, 5, 8, 12, 6, 9, 3, 2, 15, 13, 8, 10, 1, 3, 15, 4, 2, 11, 6, 7, 12, 0, 5, 14, 9,
    ],
    [
        10, 0, 9, 14, 6, 3, 15, 5, 1, 13, 12, 7, 11, 4, 2, 8, 13, 7, 0, 9, 3, 4, 6, 10, 2, 8, 5, 14, 12, 11, 15, 1, 13, 6, 4, 9, 8, 15, 3,
        0, 11, 1, 2, 12, 5, 10, 14, 7, 1, 10, 13, 0, 6, 9, 8, 7, 4, 15, 14, 3, 11, 5, 2, 12,
    ],
    [
        7, 13, 14, 3, 0, 6, 9, 10, 1, 2, 8, 5, 11, 12, 4, 15, 13, 8, 11, 5, 6, 15, 0, 3, 4, 7, 2, 12, 1, 10, 14, 9, 10, 6, 9, 0, 12, 11, 7,
        13, 15, 1, 3, 14, 5, 2, 8, 4, 3, 15, 0, 6, 10, 1, 13, 8, 9, 4, 5, 11, 12, 7, 2, 14,
    ],
    [
        2, 12, 4, 1, 7, 10, 11, 6, 8, 5, 3, 15, 13, 0, 14, 9, 14, 11, 2, 12, 4, 7, 13, 1, 5, 0, 15, 10, 3, 9, 8, 6, 4, 2, 1, 11, 10, 13, 7,
        8, 15, 9, 12, 5, 6, 3, 0, 14, 11, 8, 12, 7, 1, 14, 2, 13, 6, 15, 0, 9, 10, 4, 5, 3,
    ],
    [
        12, 1, 10, 15, 9, 2, 6, 8, 0, 13, 3, 4, 14, 7, 5, 11, 10, 15, 4, 2, 7, 12, 9, 5, 6, 1, 13, 14, 0, 11, 3, 8, 9, 14, 15, 5, 2, 8, 12,
        3, 7, 0, 4, 10, 1, 13, 11, 6, 4, 3, 2, 12, 9, 5, 15, 10, 11, 14, 1, 7, 6, 0, 8, 13,
    ],
    [
        4, 11, 2, 14, 15, 0, 8, 13, 3, 12, 9, 7, 5, 10, 6, 1, 13, 0, 11, 7, 4, 9, 1, 10, 14, 3, 5, 12, 2, 15, 8, 6, 1, 4, 11, 13, 12, 3, 7,
        14, 10, 15, 6, 8, 0, 5, 9, 2, 6, 11, 13, 8, 1, 4, 10, 7, 9, 5, 0, 15, 14, 2, 3, 12,
    ],
    [
        13, 2, 8, 4, 6, 15, 11, 1, 10, 9, 3, 14, 5, 0, 12, 7, 1, 15, 13, 8, 10, 3, 7, 4, 12, 5, 6, 11, 0, 14, 9, 2, 7, 11, 4, 1, 9, 12, 14,
        2, 0, 6, 10, 13, 15, 3, 5, 8, 2, 1, 14, 7, 4, 10, 8, 13, 15, 12, 9, 0, 3, 5, 6, 11,
    ],
];

fn pick<const N: usize>(table: &[u8; N], bits: &[u8]) -> [u8; N] {
    std::array::from_fn(|i| bits[table[i] as usize - 1])
}
fn letter_value(c: u8) -> Option<u8> {
    Some(match c {
        b'.' => 0,
        b'/' => 1,
        b'0'..=b'9' => c - b'0' + 2,
        b'A'..=b'Z' => c - b'A' + 12,
        b'a'..=b'z' => c - b'a' + 38,
        _ => return None,
    })
}

/// The hash of `word` (its first eight bytes) under the first two letters of `salt`; `None` for
/// letters that are none of `./0-9A-Za-z`.
pub fn des_crypt(word: &[u8], salt: &[u8]) -> Option<Vec<u8>> {
    let (&[first, second], _) = salt.split_first_chunk::<2>()?;
    let (a, b) = (letter_value(first)?, letter_value(second)?);
    let mut expansion = E;
    for i in 0..12 {
        let bit = if i < 6 { a >> i & 1 } else { b >> (i - 6) & 1 };
        if bit == 1 {
            expansion.swap(i, i + 24);
        }
    }
    let mut key = [0u8; 64];
    for (i, c) in word.iter().take(8).enumerate() {
        for j in 0..7 {
            key[i * 8 + j] = c >> (6 - j) & 1;
        }
    }
    let mut halves = pick(&PC1, &key);
    let mut keys = [[0u8; 48]; 16];
    for (round, shift) in SHIFTS.iter().enumerate() {
        halves[..28].rotate_left(*shift as usize);
        halves[28..].rotate_left(*shift as usize);
        keys[round] = pick(&PC2, &halves);
    }
    let mut block = [0u8; 64];
    for _ in 0..25 {
        let x = pick(&IP, &block);
        let (mut l, mut r) = ([0u8; 32], [0u8; 32]);
        l.copy_from_slice(&x[..32]);
        r.copy_from_slice(&x[32..]);
        for k in &keys {
            let e = pick(&expansion, &r);
            let mut out = [0u8; 32];
            for (i, s) in S.iter().enumerate() {
                let six: [u8; 6] = std::array::from_fn(|j| e[i * 6 + j] ^ k[i * 6 + j]);
                let row = six[0] << 1 | six[5];
                let column = six[1] << 3 | six[2] << 2 | six[3] << 1 | six[4];
                let v = s[(row * 16 + column) as usize];
                for j in 0..4 {
                    out[i * 4 + j] = v >> (3 - j) & 1;
                }
            }
            let f = pick(&P, &out);
            let next: [u8; 32] = std::array::from_fn(|i| l[i] ^ f[i]);
            l = r;
            r = next;
        }
        let mut joined = [0u8; 64];
        joined[..32].copy_from_slice(&r);
        joined[32..].copy_from_slice(&l);
        block = pick(&FP, &joined);
    }
    const LETTERS: &[u8; 64] = b"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut out = vec![first, second];
    for i in 0..11 {
        let six = (0..6).fold(0u8, |n, j| n << 1 | block.get(i * 6 + j).copied().unwrap_or(0));
        out.push(LETTERS[six as usize]);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_hashes() {
        for (word, salt, hash) in [("secret", "ab", "abNANd1rDfiNc"), ("mypassword", "ab", "abeTm2pJKypwA"), ("", "aa", "aaQSqAReePlq6")] {
            assert_eq!(des_crypt(word.as_bytes(), salt.as_bytes()).as_deref(), Some(hash.as_bytes()));
        }
        assert!(des_crypt(b"x", b"a").is_none());
        assert!(des_crypt(b"x", b"a!").is_none());
    }
}
