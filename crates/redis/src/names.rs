//! What keys are called in the store, and which of a cluster's slots they are in.
//!
//! **Invariant.** All that belongs to one key of segments is in one slot: the name stands in braces, unless it has a `{tag}` of its
//! own. Two names never become one, nor do those of two namespaces. `script/names.lua` does the same.

use bytes::Bytes;

/// What separates clusters that use one store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Namespace(String);

/// Slots of a cluster.
pub const SLOTS: u16 = 16384;

impl Namespace {
    /// `None`: no such name may be. It has letters, digits, `-`, `_` and `.`, at most 64.
    pub fn new(name: &str) -> Option<Namespace> {
        let fits = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
        (!name.is_empty() && name.len() <= 64 && name.bytes().all(fits)).then(|| Namespace(format!("{name}:")))
    }
    /// What all names in the store begin with.
    pub fn prefix(&self) -> &str {
        &self.0
    }
    /// What the names of all that belongs to a key begin with; they are one letter longer.
    pub fn base(&self, key: &[u8]) -> Vec<u8> {
        let mut b = Vec::with_capacity(self.0.len() + key.len() + 8);
        b.extend_from_slice(self.0.as_bytes());
        if tag(key).is_some() {
            b.extend_from_slice(b"t:");
            b.extend_from_slice(key);
        } else if key.first().is_none_or(|c| *c == b'}') {
            b.extend_from_slice(b"b:{b}");
            b.extend_from_slice(key);
        } else {
            b.extend_from_slice(b"n:{");
            b.extend_from_slice(key);
            b.push(b'}');
        }
        b.push(b':');
        b
    }
    /// What has this letter of a key's parts (`script/common.lua`).
    pub fn part(&self, key: &[u8], letter: u8) -> Vec<u8> {
        let mut b = self.base(key);
        b.push(letter);
        b
    }
    /// A key's main part.
    pub fn main(&self, key: &[u8]) -> Vec<u8> {
        self.part(key, b'm')
    }
    /// Where those hear that wait under a key.
    pub fn channel(&self, key: &[u8]) -> Bytes {
        self.part(key, b'c').into()
    }
    /// Where those hear that watch a key.
    pub fn watch_channel(&self, key: &[u8]) -> Bytes {
        self.part(key, b'w').into()
    }
    /// The registry of names.
    pub fn registry(&self) -> String {
        format!("{}keys", self.0)
    }
    /// A client's table, where one server has all.
    pub fn table(&self, client: &str) -> String {
        format!("{}d:{client}", self.0)
    }
}

/// The part in braces that alone decides on the slot.
fn tag(name: &[u8]) -> Option<&[u8]> {
    let open = name.iter().position(|b| *b == b'{')?;
    let rest = &name[open + 1..];
    let close = rest.iter().position(|b| *b == b'}')?;
    (close > 0).then(|| &rest[..close])
}

/// The slot of a name in the store.
pub fn slot(name: &[u8]) -> u16 {
    crc16(tag(name).unwrap_or(name)) % SLOTS
}

/// CRC-16/XMODEM.
fn crc16(bytes: &[u8]) -> u16 {
    let mut crc = 0u16;
    for b in bytes {
        crc ^= u16::from(*b) << 8;
        for _ in 0..8 {
            crc = if crc & 0x8000 != 0 { crc << 1 ^ 0x1021 } else { crc << 1 };
        }
    }
    crc
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn slots_are_those_of_redis() {
        assert_eq!(crc16(b"123456789"), 0x31C3);
        assert_eq!(slot(b"foo"), 12182);
        assert_eq!(slot(b"{user1000}.following"), slot(b"{user1000}.followers"));
        assert_eq!(slot(b"foo{}{bar}"), crc16(b"foo{}{bar}") % SLOTS);
    }

    #[test]
    fn what_belongs_to_a_key_is_in_one_slot_and_no_two_names_become_one() {
        let ns = Namespace::new("kumi").unwrap();
        let names: Vec<&[u8]> = vec![
            b"",
            b"job",
            b"{job}",
            b"user.{42}.in",
            b"user.{42}.out",
            b"}",
            b"}x",
            b"a}b",
            b"a{b",
            b"{}",
            b"x{}y",
            b"{b}}",
            b"b",
            b"{b}",
            b"{{a}}",
            b"\xff\x00",
        ];
        let mut found = HashSet::new();
        for n in &names {
            let base = ns.base(n);
            let slots: HashSet<u16> = b"imqhoxtcw".iter().map(|c| slot(&[base.as_slice(), &[*c]].concat())).collect();
            assert_eq!(slots.len(), 1, "{:?}", String::from_utf8_lossy(n));
            assert!(found.insert(base), "{:?}", String::from_utf8_lossy(n));
        }
        assert_eq!(slot(&ns.main(b"user.{42}.in")), slot(&ns.main(b"user.{42}.out")));
        assert_eq!(slot(&ns.main(b"user.{42}.in")), slot(b"42"));
        for bad in ["", "a b", "a{b}", "a:b", &"x".repeat(65)] {
            assert!(Namespace::new(bad).is_none(), "{bad}");
        }
    }
}
