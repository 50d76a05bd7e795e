//! Values, pulled token by token.

use super::Limits;
use super::ext::{self, Big, Time};
use super::names::Names;
use super::scan::{Item, Scan, Tag};
use crate::error::WireError;
use smallvec::{SmallVec, smallvec};
use std::ops::Range;

/// One step of a value. A container's values follow it, and no token ends it: it says how many they are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Token<'a> {
    /// nil.
    Nil,
    /// true or false.
    Bool(bool),
    /// An integer that fits.
    Int(i64),
    /// An integer above `i64::MAX`.
    UInt(u64),
    /// An integer beyond 64 bits.
    Big(Big<'a>),
    /// A float.
    Float(f64),
    /// A string in UTF-8.
    Str(&'a str),
    /// A binary string.
    Bin(&'a [u8]),
    /// A string in another encoding, or one in UTF-8 whose bytes are broken: the encoding's name, the bytes.
    Encoded(&'a str, &'a [u8]),
    /// A symbol.
    Symbol(&'a str),
    /// A symbol in another encoding: the encoding's name, the symbol's.
    SymbolIn(&'a str, &'a [u8]),
    /// A time.
    Time(Time<'a>),
    /// An array: so many values follow.
    Array(usize),
    /// A hash: so many pairs follow, twice as many values.
    Map(usize),
    /// A set: so many values follow.
    Set(usize),
    /// A range: first and last follow.
    Range {
        /// Whether it leaves out its last.
        exclusive: bool,
    },
    /// A rational number: numerator and denominator follow.
    Rational,
    /// A complex number: real and imaginary part follow.
    Complex,
    /// A hash with a default value: the value and the hash follow.
    Default,
    /// A hash or a set that compares keys by identity: it follows.
    ByIdentity,
    /// A time that is finer than nanoseconds: the time follows, and the part of a nanosecond beyond it.
    FineTime,
    /// A record, by the number of its names ([`Reader::names`]): as many values follow as it has members.
    Record(usize),
    /// An extension that is not known here: its type and its bytes.
    Ext(i8, &'a [u8]),
}

/// What a whole value holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Values in all, containers included.
    pub items: usize,
    /// Containers in one another, at the deepest place.
    pub depth: usize,
    /// Symbols, each as often as it stands there.
    pub symbols: usize,
    /// Records.
    pub records: usize,
    /// Extensions that are not known here.
    pub unknown: usize,
}

/// Checks a whole value in one pass, and that nothing follows it.
pub fn validate(bytes: &[u8], limits: &Limits) -> Result<Summary, WireError> {
    let mut reader = Reader::new(bytes, limits)?;
    let mut summary = Summary::default();
    while let Some(token) = reader.next()? {
        match token {
            Token::Symbol(_) | Token::SymbolIn(..) => summary.symbols += 1,
            Token::Record(_) => summary.records += 1,
            Token::Ext(..) => summary.unknown += 1,
            _ => {}
        }
        summary.depth = summary.depth.max(reader.depth());
    }
    summary.items = reader.items;
    Ok(summary)
}

/// Pulls the tokens of one value out of bytes that may be anything.
///
/// What it gives is borrowed from the bytes. It holds a word for each open container, and the names of records.
pub struct Reader<'a> {
    scan: Scan<'a>,
    limits: Limits,
    names: Names<'a>,
    /// How many values are still to come in each open container; the first is the document, with its one value. A container whose last
    /// value is open, or was the last token, has none, and is closed by the next one.
    open: SmallVec<[usize; 8]>,
    /// Their sum, which the bytes that remain must be able to hold.
    pending: usize,
    items: usize,
}

impl<'a> Reader<'a> {
    /// Begins with the names, where there are any.
    pub fn new(bytes: &'a [u8], limits: &Limits) -> Result<Self, WireError> {
        let mut scan = Scan { bytes, at: 0 };
        let mut names = Names::default();
        let mut first = scan;
        // 0xC7 and above: all extension types stand close together, and most values begin otherwise.
        if bytes.first().is_some_and(|&b| (0xC7..=0xD8).contains(&b)) {
            if let Item::Ext(ext::NAMES, inner) = first.next()? {
                names = Names::decode(inner, first.at - inner.len(), limits)?;
                scan = first;
            }
        }
        Ok(Reader { scan, limits: limits.clone(), names, open: smallvec![1], pending: 1, items: 0 })
    }

    /// The names of the value's records.
    pub fn names(&self) -> &Names<'a> {
        &self.names
    }

    /// The offset of the next token.
    pub fn at(&self) -> usize {
        self.scan.at
    }

    /// How many containers the last token stands in, itself included.
    pub fn depth(&self) -> usize {
        self.open.len() - 1
    }

    /// The next token; `None` after the last one, when nothing follows the value.
    #[inline]
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Option<Token<'a>>, WireError> {
        if self.pending == 0 {
            let end = if self.scan.left() == 0 { Ok(None) } else { Err(WireError::malformed("bytes after the value", self.scan.at)) };
            return end;
        }
        let at = self.scan.at;
        let item = self.scan.next()?;
        self.count(at)?;
        let token = match item {
            Item::Nil => Token::Nil,
            Item::Bool(b) => Token::Bool(b),
            Item::Int(n) => Token::Int(n),
            Item::UInt(n) => Token::UInt(n),
            Item::Float(f) => Token::Float(f),
            Item::Str(s) => Token::Str(self.text(s, at)?),
            Item::Bin(bytes) => Token::Bin(self.short(bytes, at)?),
            Item::Ext(kind, bytes) => self.ext(kind, self.short(bytes, at)?, at)?,
            Item::Map(n) => {
                self.open(2 * n, at)?;
                Token::Map(n)
            }
            Item::Array(0) => Token::Array(0),
            Item::Array(n) => match self.scan.tag()? {
                None => {
                    self.open(n, at)?;
                    Token::Array(n)
                }
                Some(tag) => {
                    self.open(n - 1, at)?;
                    self.tagged(tag, n - 1, at)?
                }
            },
        };
        Ok(Some(token))
    }

    /// Passes the next value over, whatever it is, and says where it stands: [`Writer::copy`](super::Writer::copy) puts those bytes
    /// into another value. What is inside was not checked.
    pub fn skip(&mut self) -> Result<Range<usize>, WireError> {
        let start = self.scan.at;
        if self.pending == 0 {
            return Err(WireError::malformed("no value where one was expected", start));
        }
        self.scan.skip()?;
        self.count(start)?;
        if self.pending > self.scan.left() {
            return Err(WireError::malformed("a value that is cut off", start));
        }
        Ok(start..self.scan.at)
    }

    /// Bytes of the document.
    ///
    /// # Panics
    /// If the range is not within it.
    pub fn bytes(&self, range: Range<usize>) -> &'a [u8] {
        &self.scan.bytes[range]
    }

    /// One value came.
    #[inline]
    fn count(&mut self, at: usize) -> Result<(), WireError> {
        self.items += 1;
        if self.items > self.limits.items {
            return Err(WireError::malformed("more values than are allowed", at));
        }
        self.pending -= 1;
        while self.open.len() > 1 && self.open.last() == Some(&0) {
            self.open.pop();
        }
        if let Some(left) = self.open.last_mut() {
            *left -= 1;
        }
        Ok(())
    }

    #[inline]
    fn open(&mut self, n: usize, at: usize) -> Result<(), WireError> {
        self.pending += n;
        if self.pending > self.scan.left() {
            return Err(WireError::malformed("a count that the bytes can't hold", at));
        }
        if n > 0 {
            if self.open.len() > self.limits.depth {
                return Err(WireError::malformed("a value that is nested too deep", at));
            }
            self.open.push(n);
        }
        Ok(())
    }

    #[inline]
    fn short(&self, bytes: &'a [u8], at: usize) -> Result<&'a [u8], WireError> {
        if bytes.len() > self.limits.string {
            return Err(WireError::TooLong { what: "a string", length: bytes.len() as u64, most: self.limits.string as u64 });
        }
        debug_assert!(at <= self.scan.at);
        Ok(bytes)
    }

    #[inline]
    fn text(&self, bytes: &'a [u8], at: usize) -> Result<&'a str, WireError> {
        simdutf8::basic::from_utf8(self.short(bytes, at)?).map_err(|_| WireError::malformed("a text that is no UTF-8", at))
    }

    fn ext(&self, kind: i8, bytes: &'a [u8], at: usize) -> Result<Token<'a>, WireError> {
        Ok(match kind {
            ext::SYMBOL => Token::Symbol(self.text(bytes, at)?),
            ext::SYMBOL_IN => ext::decode_encoded(bytes, at).map(|(encoding, name)| Token::SymbolIn(encoding, name))?,
            ext::STRING_IN => ext::decode_encoded(bytes, at).map(|(encoding, bytes)| Token::Encoded(encoding, bytes))?,
            ext::BIG => Token::Big(Big::decode(bytes, at)?),
            ext::TIME => Token::Time(Time::decode(bytes, at)?),
            ext::TAG | ext::RECORD | ext::NAMES => return Err(WireError::malformed("a tag where a value was expected", at)),
            _ => Token::Ext(kind, bytes),
        })
    }

    #[inline]
    fn tagged(&self, tag: Tag, n: usize, at: usize) -> Result<Token<'a>, WireError> {
        let token = match tag {
            Tag::Plain(ext::TAG_SET) => return Ok(Token::Set(n)),
            Tag::Plain(ext::TAG_RANGE) => Token::Range { exclusive: false },
            Tag::Plain(ext::TAG_RANGE_EXCLUSIVE) => Token::Range { exclusive: true },
            Tag::Plain(ext::TAG_RATIONAL) => Token::Rational,
            Tag::Plain(ext::TAG_COMPLEX) => Token::Complex,
            Tag::Plain(ext::TAG_DEFAULT) => Token::Default,
            Tag::Plain(ext::TAG_IDENTITY) => Token::ByIdentity,
            Tag::Plain(ext::TAG_FINE_TIME) => Token::FineTime,
            Tag::Plain(_) => return Err(WireError::malformed("an unknown tag", at)),
            Tag::Record(number) => {
                let shape = self.names.get(number as usize).ok_or(WireError::malformed("a record without names", at))?;
                if shape.members.len() != n {
                    return Err(WireError::malformed("a record with more or fewer values than names", at));
                }
                return Ok(Token::Record(number as usize));
            }
        };
        let parts = if token == Token::ByIdentity { 1 } else { 2 };
        if n == parts { Ok(token) } else { Err(WireError::malformed("a tag with more or fewer values than it has parts", at)) }
    }
}
