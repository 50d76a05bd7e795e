//! Values, written one token after another.

use super::ext::{self, Big, Time, Zone};
use super::names::{Builder, Names, Shape};
use super::scan::{Item, Scan, Tag};
use crate::error::WireError;
use rmp::encode as to;
use std::collections::BTreeMap;

/// Writes one value at the end of a buffer. It does not count: who begins an array of n writes n values.
///
/// Names of records are collected meanwhile; [`Writer::finish`] puts them before the value. A value without records needs no move.
///
/// ```
/// use kumi_wire::{Reader, Token, Writer, value::{Kind, shape}};
/// let mut bytes = Vec::new();
/// let mut out = Writer::new(&mut bytes);
/// out.array(2);
/// for id in [7, 8] {
///     out.record(shape(Kind::Data, "Item", &["id"]));
///     out.int(id);
/// }
/// out.finish();
///
/// let limits = Default::default();
/// let mut reader = Reader::new(&bytes, &limits)?;
/// assert_eq!(reader.next()?, Some(Token::Array(2)));
/// assert_eq!(reader.next()?, Some(Token::Record(0)));
/// assert_eq!(reader.names().get(0).unwrap().members, ["id"]);
/// # Ok::<(), kumi_wire::WireError>(())
/// ```
#[must_use = "a value is whole once it is finished"]
pub struct Writer<'a> {
    out: &'a mut Vec<u8>,
    start: usize,
    names: Builder,
}

/// A shape, spelled shortly.
pub fn shape<'s, 'a>(kind: super::Kind, class: &'a str, members: &'s [&'a str]) -> Shape<'s, 'a> {
    Shape { kind, class, members }
}

/// Writing to a vector does not fail.
fn sure<T, E: std::fmt::Debug>(written: Result<T, E>) {
    written.expect("a vector takes all bytes");
}

/// # Panics
/// Lengths and counts are of 32 bits; a larger one panics. A message is shorter than that.
fn len(n: usize) -> u32 {
    u32::try_from(n).expect("a length of 32 bits")
}

impl<'a> Writer<'a> {
    /// Appends to what stands in `out`.
    pub fn new(out: &'a mut Vec<u8>) -> Self {
        let start = out.len();
        Writer { out, start, names: Builder::default() }
    }

    /// Bytes written so far, without names.
    #[inline]
    pub fn written(&self) -> usize {
        self.out.len() - self.start
    }
    /// Where it writes: for who makes room before something large.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        self.out
    }

    /// nil.
    #[inline]
    pub fn nil(&mut self) {
        sure(to::write_nil(self.out));
    }
    /// true or false.
    #[inline]
    pub fn bool(&mut self, b: bool) {
        sure(to::write_bool(self.out, b));
    }
    /// An integer, in its shortest form.
    #[inline]
    pub fn int(&mut self, n: i64) {
        sure(to::write_sint(self.out, n));
    }
    /// An integer without a sign, in its shortest form.
    pub fn uint(&mut self, n: u64) {
        sure(to::write_uint(self.out, n));
    }
    /// A float of 64 bits.
    #[inline]
    pub fn float(&mut self, f: f64) {
        sure(to::write_f64(self.out, f));
    }
    /// A string in UTF-8. One whose bytes are no UTF-8 is [`encoded`](Writer::encoded) in `UTF-8`.
    #[inline]
    pub fn str(&mut self, s: &str) {
        sure(to::write_str(self.out, s));
    }
    /// A binary string.
    #[inline]
    pub fn bin(&mut self, bytes: &[u8]) {
        sure(to::write_bin(self.out, bytes));
    }
    /// A string in another encoding, or one whose bytes are broken.
    ///
    /// # Panics
    /// If the encoding's name is not 1 to 255 bytes of ASCII.
    pub fn encoded(&mut self, encoding: &str, bytes: &[u8]) {
        self.in_encoding(ext::STRING_IN, encoding, bytes);
    }
    /// A symbol.
    #[inline]
    pub fn symbol(&mut self, name: &str) {
        self.ext(ext::SYMBOL, &[name.as_bytes()]);
    }
    /// A symbol in another encoding.
    ///
    /// # Panics
    /// As [`encoded`](Writer::encoded).
    pub fn symbol_in(&mut self, encoding: &str, name: &[u8]) {
        self.in_encoding(ext::SYMBOL_IN, encoding, name);
    }
    /// An integer beyond 64 bits: its magnitude, highest byte first. Leading zeros are left out.
    pub fn big(&mut self, big: Big) {
        let zeros = big.magnitude.iter().take_while(|&&b| b == 0).count();
        match &big.magnitude[zeros..] {
            [] => self.int(0),
            magnitude => self.ext(ext::BIG, &[&[big.negative.into()], magnitude]),
        }
    }
    /// A time.
    pub fn time(&mut self, time: Time) {
        let (seconds, nanoseconds) = (time.seconds.to_be_bytes(), time.nanoseconds.to_be_bytes());
        match time.zone {
            Zone::Utc => self.ext(ext::TIME, &[&seconds, &nanoseconds, &[0]]),
            Zone::Offset(offset) => self.ext(ext::TIME, &[&seconds, &nanoseconds, &[1], &offset.to_be_bytes()]),
            Zone::Named { name, offset } => {
                self.ext(ext::TIME, &[&seconds, &nanoseconds, &[2], &offset.to_be_bytes(), name.as_bytes()]);
            }
        }
    }
    /// An array of `n`: that many values follow.
    #[inline]
    pub fn array(&mut self, n: usize) {
        sure(to::write_array_len(self.out, len(n)));
    }
    /// A hash of `n` pairs: key, value, key, value follow.
    #[inline]
    pub fn map(&mut self, n: usize) {
        sure(to::write_map_len(self.out, len(n)));
    }
    /// A set of `n`: that many values follow.
    pub fn set(&mut self, n: usize) {
        self.tagged(n, ext::TAG_SET);
    }
    /// A range: its first and its last follow, nil where there is none.
    pub fn range(&mut self, exclusive: bool) {
        self.tagged(2, if exclusive { ext::TAG_RANGE_EXCLUSIVE } else { ext::TAG_RANGE });
    }
    /// A rational number: numerator and denominator follow.
    pub fn rational(&mut self) {
        self.tagged(2, ext::TAG_RATIONAL);
    }
    /// A complex number: real and imaginary part follow.
    pub fn complex(&mut self) {
        self.tagged(2, ext::TAG_COMPLEX);
    }
    /// A hash with a default value: the value and the hash follow.
    pub fn default(&mut self) {
        self.tagged(2, ext::TAG_DEFAULT);
    }
    /// A hash or a set that compares keys by identity: it follows.
    pub fn by_identity(&mut self) {
        self.tagged(1, ext::TAG_IDENTITY);
    }
    /// A time that is finer than nanoseconds: the time follows, and the part of a nanosecond beyond it.
    pub fn fine_time(&mut self) {
        self.tagged(2, ext::TAG_FINE_TIME);
    }
    /// A record: as many values follow as it has members.
    pub fn record(&mut self, shape: Shape) {
        let n = self.shape(shape);
        self.record_of(n, shape.members.len());
    }
    /// The number of a shape, for [`record_of`](Writer::record_of): who writes many records of it asks once.
    pub fn shape(&mut self, shape: Shape) -> u32 {
        self.names.number(shape)
    }
    /// A record by the number of its shape and its count of members.
    #[inline]
    pub fn record_of(&mut self, shape: u32, members: usize) {
        self.array(members + 1);
        self.record_tag(shape);
    }
    /// An extension of a type that is not known here: as [`Token::Ext`](super::Token::Ext) gave it.
    ///
    /// # Panics
    /// If the type is known.
    pub fn unknown(&mut self, kind: i8, bytes: &[u8]) {
        assert!(
            !(ext::SYMBOL..=ext::TIME).contains(&kind) && !(ext::TAG..=ext::NAMES).contains(&kind),
            "type {kind} has a method of its own"
        );
        self.ext(kind, &[bytes]);
    }

    /// One value of another document, as [`Reader::skip`](super::Reader::skip) found it there, whose names are `names`. The bytes are
    /// copied as they are, but for the numbers of the records' names. After an error the value that is written is of no use.
    pub fn copy(&mut self, bytes: &[u8], names: &Names) -> Result<(), WireError> {
        let mut scan = Scan { bytes, at: 0 };
        let (mut pending, mut copied) = (1usize, 0);
        // Many records of one shape, which may be large: its names are written once.
        let mut numbers = BTreeMap::new();
        while pending > 0 {
            let item = scan.next()?;
            pending = pending - 1 + item.children();
            if pending > scan.left() {
                return Err(WireError::malformed("a count that the bytes can't hold", scan.at));
            }
            if !matches!(item, Item::Array(1..)) {
                continue;
            }
            let before = scan.at;
            let Some(tag) = scan.tag()? else { continue };
            pending -= 1;
            if let Tag::Record(n) = tag {
                let n = match numbers.get(&n) {
                    Some(&n) => n,
                    None => {
                        let shape = names.get(n as usize).ok_or(WireError::malformed("a record without names", before))?;
                        *numbers.entry(n).or_insert(self.names.number(shape))
                    }
                };
                self.out.extend_from_slice(&bytes[copied..before]);
                self.record_tag(n);
                copied = scan.at;
            }
        }
        if scan.left() > 0 {
            return Err(WireError::malformed("bytes after the value", scan.at));
        }
        self.out.extend_from_slice(&bytes[copied..]);
        Ok(())
    }

    /// The value is whole: puts the names before it.
    pub fn finish(self) {
        if let Some(names) = self.names.encode() {
            let mut head = Vec::with_capacity(names.len() + 6);
            sure(to::write_ext_meta(&mut head, len(names.len()), ext::NAMES));
            head.extend_from_slice(&names);
            self.out.splice(self.start..self.start, head);
        }
    }

    fn in_encoding(&mut self, kind: i8, encoding: &str, bytes: &[u8]) {
        let n = u8::try_from(encoding.len()).ok().filter(|&n| n > 0 && encoding.is_ascii());
        self.ext(kind, &[&[n.expect("an encoding's name of 1 to 255 ASCII bytes")], encoding.as_bytes(), bytes]);
    }

    #[inline]
    fn ext(&mut self, kind: i8, parts: &[&[u8]]) {
        sure(to::write_ext_meta(self.out, len(parts.iter().map(|p| p.len()).sum()), kind));
        for part in parts {
            self.out.extend_from_slice(part);
        }
    }

    fn tagged(&mut self, n: usize, tag: u8) {
        self.array(n + 1);
        self.ext(ext::TAG, &[&[tag]]);
    }

    fn record_tag(&mut self, n: u32) {
        let bytes = n.to_be_bytes();
        self.ext(
            ext::RECORD,
            &[match n {
                0..=0xFF => &bytes[3..],
                0x100..=0xFFFF => &bytes[2..],
                _ => &bytes,
            }],
        );
    }
}
