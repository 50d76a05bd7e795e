//! One item of MessagePack: what it is, where its bytes are, how many values follow in it.

use super::ext;
use crate::error::WireError;
use rmp::Marker;

/// An item as it stands there.
#[derive(Clone, Copy)]
pub enum Item<'a> {
    Nil,
    Bool(bool),
    Int(i64),
    /// Above `i64::MAX`.
    UInt(u64),
    Float(f64),
    Str(&'a [u8]),
    Bin(&'a [u8]),
    Ext(i8, &'a [u8]),
    Array(usize),
    /// So many pairs.
    Map(usize),
}

impl Item<'_> {
    /// How many values follow in it.
    pub fn children(&self) -> usize {
        match *self {
            Item::Array(n) => n,
            Item::Map(n) => n.saturating_mul(2),
            _ => 0,
        }
    }
}

/// Bytes and a place in them.
#[derive(Clone, Copy)]
pub struct Scan<'a> {
    pub bytes: &'a [u8],
    pub at: usize,
}

impl<'a> Scan<'a> {
    #[inline(always)]
    pub fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    #[inline]
    fn take(&mut self, n: usize) -> Result<&'a [u8], WireError> {
        if n > self.left() {
            return Err(WireError::malformed("a value that is cut off", self.at));
        }
        let taken = &self.bytes[self.at..self.at + n];
        self.at += n;
        Ok(taken)
    }

    #[inline(always)]
    fn array<const N: usize>(&mut self) -> Result<[u8; N], WireError> {
        match self.bytes[self.at..].first_chunk() {
            Some(all) => {
                self.at += N;
                Ok(*all)
            }
            None => Err(WireError::malformed("a value that is cut off", self.at)),
        }
    }

    #[inline(always)]
    fn byte(&mut self) -> Result<u8, WireError> {
        Ok(self.array::<1>()?[0])
    }
    fn len16(&mut self) -> Result<usize, WireError> {
        Ok(usize::from(u16::from_be_bytes(self.array()?)))
    }
    fn len32(&mut self) -> Result<usize, WireError> {
        Ok(u32::from_be_bytes(self.array()?) as usize)
    }
    #[inline]
    fn ext(&mut self, n: usize) -> Result<Item<'a>, WireError> {
        let kind = self.byte()? as i8;
        Ok(Item::Ext(kind, self.take(n)?))
    }

    /// The next item. Whether the bytes that remain can hold a container's values, the caller checks, for all that are open.
    #[inline]
    pub fn next(&mut self) -> Result<Item<'a>, WireError> {
        let start = self.at;
        let unsigned = |n: u64| i64::try_from(n).map_or(Item::UInt(n), Item::Int);
        let item = match Marker::from_u8(self.byte()?) {
            Marker::FixPos(n) => Item::Int(n.into()),
            Marker::FixNeg(n) => Item::Int(n.into()),
            Marker::Null => Item::Nil,
            Marker::True => Item::Bool(true),
            Marker::False => Item::Bool(false),
            Marker::U8 => Item::Int(self.byte()?.into()),
            Marker::U16 => Item::Int(u16::from_be_bytes(self.array()?).into()),
            Marker::U32 => Item::Int(u32::from_be_bytes(self.array()?).into()),
            Marker::U64 => unsigned(u64::from_be_bytes(self.array()?)),
            Marker::I8 => Item::Int(i8::from_be_bytes(self.array()?).into()),
            Marker::I16 => Item::Int(i16::from_be_bytes(self.array()?).into()),
            Marker::I32 => Item::Int(i32::from_be_bytes(self.array()?).into()),
            Marker::I64 => Item::Int(i64::from_be_bytes(self.array()?)),
            Marker::F32 => Item::Float(f32::from_be_bytes(self.array()?).into()),
            Marker::F64 => Item::Float(f64::from_be_bytes(self.array()?)),
            Marker::FixStr(n) => Item::Str(self.take(n.into())?),
            Marker::Str8 => self.byte().and_then(|n| self.take(n.into())).map(Item::Str)?,
            Marker::Str16 => self.len16().and_then(|n| self.take(n)).map(Item::Str)?,
            Marker::Str32 => self.len32().and_then(|n| self.take(n)).map(Item::Str)?,
            Marker::Bin8 => self.byte().and_then(|n| self.take(n.into())).map(Item::Bin)?,
            Marker::Bin16 => self.len16().and_then(|n| self.take(n)).map(Item::Bin)?,
            Marker::Bin32 => self.len32().and_then(|n| self.take(n)).map(Item::Bin)?,
            Marker::FixExt1 => self.ext(1)?,
            Marker::FixExt2 => self.ext(2)?,
            Marker::FixExt4 => self.ext(4)?,
            Marker::FixExt8 => self.ext(8)?,
            Marker::FixExt16 => self.ext(16)?,
            Marker::Ext8 => self.byte().and_then(|n| self.ext(n.into()))?,
            Marker::Ext16 => self.len16().and_then(|n| self.ext(n))?,
            Marker::Ext32 => self.len32().and_then(|n| self.ext(n))?,
            Marker::FixArray(n) => Item::Array(n.into()),
            Marker::Array16 => Item::Array(self.len16()?),
            Marker::Array32 => Item::Array(self.len32()?),
            Marker::FixMap(n) => Item::Map(n.into()),
            Marker::Map16 => Item::Map(self.len16()?),
            Marker::Map32 => Item::Map(self.len32()?),
            Marker::Reserved => return Err(WireError::malformed("a byte that begins no value", start)),
        };
        Ok(item)
    }

    /// Passes one value over. What is in strings, names and tags is not looked at.
    pub fn skip(&mut self) -> Result<(), WireError> {
        let mut pending = 1usize;
        while pending > 0 {
            let start = self.at;
            pending = pending - 1 + self.next()?.children();
            if pending > self.left() {
                return Err(WireError::malformed("a count that the bytes can't hold", start));
            }
        }
        Ok(())
    }

    /// The tag of an array whose first element is next, if it has one.
    #[inline]
    pub fn tag(&mut self) -> Result<Option<Tag>, WireError> {
        let start = self.at;
        let marker = self.bytes.get(start).map(|&b| Marker::from_u8(b));
        let kind = self.bytes.get(start + 1).map(|&b| b as i8);
        if !matches!((marker, kind), (Some(Marker::FixExt1 | Marker::FixExt2 | Marker::FixExt4), Some(ext::TAG | ext::RECORD))) {
            return Ok(None);
        }
        match self.next()? {
            Item::Ext(ext::TAG, &[tag]) => Ok(Some(Tag::Plain(tag))),
            Item::Ext(ext::RECORD, bytes) => Ok(Some(Tag::Record(bytes.iter().fold(0, |n, &b| n << 8 | u32::from(b))))),
            _ => Err(WireError::malformed("an unknown tag", start)),
        }
    }
}

/// What the first element of an array says of it.
#[derive(Clone, Copy)]
pub enum Tag {
    Plain(u8),
    /// By the number of its shape.
    Record(u32),
}
