//! A value in memory, for tests and tools.

use super::Limits;
use super::ext::{Big, Time, Zone};
use super::names::{Kind, Shape};
use super::reader::{Reader, Token};
use super::writer::Writer;
use crate::error::WireError;

/// Deeper values are refused: a tree is dropped and compared by recursion.
const DEPTH: usize = 1000;

/// A value that owns its parts. It takes some fifty times the memory of its bytes at worst: nothing for what is large and foreign.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    /// nil.
    Nil,
    /// true or false.
    Bool(bool),
    /// An integer that fits.
    Int(i64),
    /// An integer above `i64::MAX`.
    UInt(u64),
    /// An integer beyond 64 bits: whether it is below zero, and its magnitude, highest byte first.
    Big(bool, Vec<u8>),
    /// A float.
    Float(f64),
    /// A string in UTF-8.
    Str(String),
    /// A binary string.
    Bin(Vec<u8>),
    /// A string in another encoding: its name, the bytes.
    Encoded(String, Vec<u8>),
    /// A symbol.
    Symbol(String),
    /// A symbol in another encoding.
    SymbolIn(String, Vec<u8>),
    /// Seconds since 1970, nanoseconds, seconds east of Greenwich, and the zone's name; neither is UTC.
    Time(i64, u32, Option<i32>, Option<String>),
    /// An array.
    Array(Vec<Tree>),
    /// A hash, in its order.
    Map(Vec<(Tree, Tree)>),
    /// A set, in its order.
    Set(Vec<Tree>),
    /// First and last, and whether it leaves out its last.
    Range(Box<(Tree, Tree)>, bool),
    /// Numerator and denominator.
    Rational(Box<(Tree, Tree)>),
    /// Real and imaginary part.
    Complex(Box<(Tree, Tree)>),
    /// A hash's default value, and the hash.
    Default(Box<(Tree, Tree)>),
    /// A hash or a set that compares keys by identity.
    ByIdentity(Box<Tree>),
    /// A time, and the part of a nanosecond beyond it.
    FineTime(Box<(Tree, Tree)>),
    /// Kind, class, members.
    Record(Kind, String, Vec<(String, Tree)>),
    /// An extension that is not known here.
    Ext(i8, Vec<u8>),
}

/// What an open container becomes.
enum What {
    Array,
    Map,
    Set,
    Range(bool),
    Rational,
    Complex,
    Default,
    ByIdentity,
    FineTime,
    Record(usize),
}

impl Tree {
    /// Its bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut out = Writer::new(&mut bytes);
        let mut left = vec![self];
        while let Some(tree) = left.pop() {
            tree.write_one(&mut out);
            match tree {
                Tree::Array(all) | Tree::Set(all) => left.extend(all.iter().rev()),
                Tree::Map(pairs) => left.extend(pairs.iter().rev().flat_map(|(k, v)| [v, k])),
                Tree::Range(two, _) | Tree::Rational(two) | Tree::Complex(two) | Tree::Default(two) | Tree::FineTime(two) => {
                    left.extend([&two.1, &two.0]);
                }
                Tree::ByIdentity(one) => left.push(one),
                Tree::Record(_, _, members) => left.extend(members.iter().rev().map(|m| &m.1)),
                _ => {}
            }
        }
        out.finish();
        bytes
    }

    /// The value that all of `bytes` are. At most a thousand containers in one another, whatever `limits` says.
    pub fn decode(bytes: &[u8], limits: &Limits) -> Result<Tree, WireError> {
        let limits = Limits { depth: limits.depth.min(DEPTH), ..limits.clone() };
        let mut reader = Reader::new(bytes, &limits)?;
        let mut open: Vec<(What, usize, Vec<Tree>)> = Vec::new();
        while let Some(token) = reader.next()? {
            let members = |n| reader.names().get(n).map_or(0, |shape| shape.members.len());
            let mut tree = match Tree::leaf(token, members) {
                Ok(tree) => tree,
                Err((what, 0)) => what.build(Vec::new(), &reader),
                Err((what, n)) => {
                    open.push((what, n, Vec::new()));
                    continue;
                }
            };
            loop {
                let Some((_, n, parts)) = open.last_mut() else {
                    // The value is whole; what follows it, the reader refuses.
                    return reader.next().map(|_| tree);
                };
                parts.push(tree);
                *n -= 1;
                if *n > 0 {
                    break;
                }
                let Some((what, _, parts)) = open.pop() else { break };
                tree = what.build(parts, &reader);
            }
        }
        Err(WireError::malformed("no value where one was expected", bytes.len()))
    }

    fn write_one(&self, out: &mut Writer) {
        match self {
            Tree::Nil => out.nil(),
            Tree::Bool(b) => out.bool(*b),
            Tree::Int(n) => out.int(*n),
            Tree::UInt(n) => out.uint(*n),
            Tree::Big(negative, magnitude) => out.big(Big { negative: *negative, magnitude }),
            Tree::Float(f) => out.float(*f),
            Tree::Str(s) => out.str(s),
            Tree::Bin(bytes) => out.bin(bytes),
            Tree::Encoded(encoding, bytes) => out.encoded(encoding, bytes),
            Tree::Symbol(name) => out.symbol(name),
            Tree::SymbolIn(encoding, name) => out.symbol_in(encoding, name),
            Tree::Time(seconds, nanoseconds, offset, name) => {
                let zone = match (offset, name) {
                    (offset, Some(name)) => Zone::Named { name, offset: offset.unwrap_or(0) },
                    (Some(offset), None) => Zone::Offset(*offset),
                    (None, None) => Zone::Utc,
                };
                out.time(Time { seconds: *seconds, nanoseconds: *nanoseconds, zone });
            }
            Tree::Array(all) => out.array(all.len()),
            Tree::Map(pairs) => out.map(pairs.len()),
            Tree::Set(all) => out.set(all.len()),
            Tree::Range(_, exclusive) => out.range(*exclusive),
            Tree::Rational(_) => out.rational(),
            Tree::Complex(_) => out.complex(),
            Tree::Default(_) => out.default(),
            Tree::ByIdentity(_) => out.by_identity(),
            Tree::FineTime(_) => out.fine_time(),
            Tree::Record(kind, class, members) => {
                let members: Vec<&str> = members.iter().map(|m| &*m.0).collect();
                out.record(Shape { kind: *kind, class, members: &members });
            }
            Tree::Ext(kind, bytes) => out.unknown(*kind, bytes),
        }
    }

    /// A value without parts, or what it becomes and how many parts it has.
    fn leaf(token: Token, members: impl Fn(usize) -> usize) -> Result<Tree, (What, usize)> {
        Ok(match token {
            Token::Nil => Tree::Nil,
            Token::Bool(b) => Tree::Bool(b),
            Token::Int(n) => Tree::Int(n),
            Token::UInt(n) => Tree::UInt(n),
            Token::Big(big) => Tree::Big(big.negative, big.magnitude.to_vec()),
            Token::Float(f) => Tree::Float(f),
            Token::Str(s) => Tree::Str(s.into()),
            Token::Bin(bytes) => Tree::Bin(bytes.into()),
            Token::Encoded(encoding, bytes) => Tree::Encoded(encoding.into(), bytes.into()),
            Token::Symbol(name) => Tree::Symbol(name.into()),
            Token::SymbolIn(encoding, name) => Tree::SymbolIn(encoding.into(), name.into()),
            Token::Time(time) => {
                let (offset, name) = match time.zone {
                    Zone::Utc => (None, None),
                    Zone::Offset(offset) => (Some(offset), None),
                    Zone::Named { name, offset } => (Some(offset), Some(name.into())),
                };
                Tree::Time(time.seconds, time.nanoseconds, offset, name)
            }
            Token::Ext(kind, bytes) => Tree::Ext(kind, bytes.into()),
            Token::Array(n) => return Err((What::Array, n)),
            Token::Map(n) => return Err((What::Map, 2 * n)),
            Token::Set(n) => return Err((What::Set, n)),
            Token::Range { exclusive } => return Err((What::Range(exclusive), 2)),
            Token::Rational => return Err((What::Rational, 2)),
            Token::Complex => return Err((What::Complex, 2)),
            Token::Default => return Err((What::Default, 2)),
            Token::ByIdentity => return Err((What::ByIdentity, 1)),
            Token::FineTime => return Err((What::FineTime, 2)),
            Token::Record(n) => return Err((What::Record(n), members(n))),
        })
    }
}

impl What {
    fn build(self, parts: Vec<Tree>, reader: &Reader) -> Tree {
        let mut parts = parts.into_iter();
        let mut two = || Box::new((parts.next().unwrap_or(Tree::Nil), parts.next().unwrap_or(Tree::Nil)));
        match self {
            What::Range(exclusive) => Tree::Range(two(), exclusive),
            What::Rational => Tree::Rational(two()),
            What::Complex => Tree::Complex(two()),
            What::Default => Tree::Default(two()),
            What::FineTime => Tree::FineTime(two()),
            What::ByIdentity => Tree::ByIdentity(Box::new(parts.next().unwrap_or(Tree::Nil))),
            What::Array => Tree::Array(parts.collect()),
            What::Set => Tree::Set(parts.collect()),
            What::Map => {
                let mut pairs = Vec::with_capacity(parts.len() / 2);
                while let (Some(k), Some(v)) = (parts.next(), parts.next()) {
                    pairs.push((k, v));
                }
                Tree::Map(pairs)
            }
            What::Record(n) => match reader.names().get(n) {
                Some(shape) => {
                    Tree::Record(shape.kind, shape.class.into(), shape.members.iter().map(|m| (*m).to_owned()).zip(parts).collect())
                }
                None => Tree::Nil,
            },
        }
    }
}
