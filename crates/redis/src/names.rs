//! What keys are called in the store, and which of a cluster's slots they are in.
//!
//! **Invariant.** All that belongs to one key of segments is in one slot: the name stands in braces, unless it has a `{tag}` of its
//! own. Two names never become one, nor do those of two namespaces. `script/names.lua` does the same.

use bytes::Bytes;
use std::fmt::Write;
use std::sync::OnceLock;

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
    /// The registry of names: of all, or of those in a slot of a cluster.
    pub fn registry(&self, slot: Option<u16>) -> String {
        in_slot(format!("{}keys", self.0), slot)
    }
    /// What registries of slots are called, as a pattern of the server's.
    pub fn registries(&self) -> String {
        format!("{}keys:{{*}}", self.0)
    }
    /// The slot whose registry is called so.
    pub fn slot_of_registry(&self, name: &[u8]) -> Option<u16> {
        let slot = slot(name);
        (self.registry(Some(slot)).as_bytes() == name).then_some(slot)
    }
    /// A client's table: where one server has all, or in a slot of a cluster.
    pub fn table(&self, client: &str, slot: Option<u16>) -> String {
        in_slot(format!("{}d:{client}", self.0), slot)
    }
    /// What nobody ever stores, in a slot. A server that hands the slot to another refuses commands that name it.
    pub fn guard(&self, slot: u16) -> String {
        in_slot(format!("{}g", self.0), Some(slot))
    }
    /// The slot of all that belongs to a key.
    pub fn slot(&self, key: &[u8]) -> u16 {
        slot(&self.base(key))
    }
}

/// Puts a name into a slot.
fn in_slot(mut name: String, slot: Option<u16>) -> String {
    if let Some(s) = slot {
        let _ = write!(name, ":{{{}}}", tags()[usize::from(s)]);
    }
    name
}

/// For each slot the lowest number whose digits are in it. All clients of a store have to agree on them.
fn tags() -> &'static [u32] {
    static TAGS: OnceLock<Vec<u32>> = OnceLock::new();
    TAGS.get_or_init(|| {
        let mut found: Vec<Option<u32>> = vec![None; usize::from(SLOTS)];
        let mut left = found.len();
        let numbers = (0..u32::MAX).take_while(|n| {
            let at = &mut found[usize::from(slot(n.to_string().as_bytes()))];
            left -= usize::from(at.is_none());
            at.get_or_insert(*n);
            left > 0
        });
        numbers.for_each(drop);
        found.into_iter().flatten().collect()
    })
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
    bytes.iter().fold(0, |crc, b| crc << 8 ^ CRC[usize::from((crc >> 8) as u8 ^ b)])
}

const CRC: [u16; 256] = {
    let mut table = [0; 256];
    let mut n = 0;
    while n < 256 {
        let (mut crc, mut bit) = ((n as u16) << 8, 0);
        while bit < 8 {
            crc = if crc & 0x8000 != 0 { crc << 1 ^ 0x1021 } else { crc << 1 };
            bit += 1;
        }
        table[n] = crc;
        n += 1;
    }
    table
};

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
    fn each_slot_has_names_of_its_own() {
        let ns = Namespace::new("kumi").unwrap();
        assert_eq!((tags().len(), tags()[12182], slot(b"123456")), (16384, 43681, 8420));
        for s in 0..SLOTS {
            let names = [ns.registry(Some(s)), ns.table("c", Some(s)), ns.guard(s)];
            assert!(names.iter().all(|n| slot(n.as_bytes()) == s), "{names:?}");
            assert_eq!(ns.slot_of_registry(names[0].as_bytes()), Some(s));
        }
        let other = Namespace::new("other").unwrap();
        for no in ["kumi:keys", "kumi:keys:{x}", "other:keys:{0}", "kumi:keys:{0}x"] {
            assert_eq!(ns.slot_of_registry(no.as_bytes()), None, "{no}");
        }
        assert_eq!((ns.registries(), other.registry(None)), ("kumi:keys:{*}".into(), "other:keys".into()));
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
            assert_eq!(slots, HashSet::from([ns.slot(n)]), "{:?}", String::from_utf8_lossy(n));
            assert!(found.insert(base), "{:?}", String::from_utf8_lossy(n));
        }
        assert_eq!(slot(&ns.main(b"user.{42}.in")), slot(&ns.main(b"user.{42}.out")));
        assert_eq!(slot(&ns.main(b"user.{42}.in")), slot(b"42"));
        for bad in ["", "a b", "a{b}", "a:b", &"x".repeat(65)] {
            assert!(Namespace::new(bad).is_none(), "{bad}");
        }
    }
}
