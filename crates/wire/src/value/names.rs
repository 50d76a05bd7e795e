//! The names that stand before a value: of its records' classes and members.

use super::Limits;
use crate::error::WireError;
use crate::message::{Decoder, Encoder};

/// What kind of class a record is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// `Struct.new(..)`: members may be changed.
    Struct,
    /// `Struct.new(.., keyword_init: true)`.
    KeywordStruct,
    /// `Data.define(..)`.
    Data,
    /// A record of a stream.
    Record,
    /// Any other object: its members are instance variables.
    Object,
}

const KINDS: [Kind; 5] = [Kind::Struct, Kind::KeywordStruct, Kind::Data, Kind::Record, Kind::Object];

/// The class and the members of some of a value's records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape<'s, 'a> {
    /// What kind of class.
    pub kind: Kind,
    /// The class's name, as `Shop::Item`; empty where it has none.
    pub class: &'a str,
    /// Names of the members, in order.
    pub members: &'s [&'a str],
}

/// All names of a value. Their number is bounded by [`Limits`] and by the bytes they stand in.
#[derive(Clone, Debug, Default)]
pub struct Names<'a> {
    /// Kind, class, and where its members end in `members`.
    shapes: Vec<(Kind, &'a str, usize)>,
    members: Vec<&'a str>,
}

impl<'a> Names<'a> {
    /// How many shapes there are.
    pub fn len(&self) -> usize {
        self.shapes.len()
    }

    /// One of them, by its number. `None` where there is none.
    pub fn get(&self, n: usize) -> Option<Shape<'_, 'a>> {
        let &(kind, class, end) = self.shapes.get(n)?;
        let start = n.checked_sub(1).map_or(0, |before| self.shapes[before].2);
        Some(Shape { kind, class, members: &self.members[start..end] })
    }

    pub(super) fn decode(bytes: &'a [u8], start: usize, limits: &Limits) -> Result<Self, WireError> {
        let mut names = Names::default();
        let mut fields = Decoder::new(bytes);
        names.fill(&mut fields, limits).map_err(|e| match e {
            WireError::Malformed { what, at } => WireError::Malformed { what, at: at + start },
            e => e,
        })?;
        Ok(names)
    }

    fn fill(&mut self, fields: &mut Decoder<'a>, limits: &Limits) -> Result<(), WireError> {
        let shapes = fields.number_to(limits.shapes as u64)?;
        for _ in 0..shapes {
            let at = fields.at();
            let kind = *KINDS.get(usize::from(fields.byte()?)).ok_or(WireError::malformed("a record of an unknown kind", at))?;
            let class = fields.text(limits.string)?;
            let left = limits.members - self.members.len();
            for _ in 0..fields.number_to(left as u64)? {
                self.members.push(fields.text(limits.string)?);
            }
            self.shapes.push((kind, class, self.members.len()));
        }
        fields.finish()
    }
}

/// Names while a value is written: each shape in its encoding, in the order of first use.
#[derive(Default)]
pub(super) struct Builder {
    /// Encoded shapes, one after another; ends of each.
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// Numbers of shapes, sorted by their bytes.
    sorted: Vec<u32>,
    spare: Vec<u8>,
}

impl Builder {
    pub fn number(&mut self, shape: Shape) -> u32 {
        let mut spare = std::mem::take(&mut self.spare);
        spare.clear();
        let mut out = Encoder::new(&mut spare);
        out.byte(shape.kind as u8).text(shape.class).number(shape.members.len() as u64);
        for member in shape.members {
            out.text(member);
        }
        let found = self.sorted.binary_search_by(|&n| self.shape(n).cmp(&spare));
        let n = match found {
            Ok(at) => self.sorted[at],
            Err(at) => {
                let n = self.ends.len() as u32;
                self.bytes.extend_from_slice(&spare);
                self.ends.push(self.bytes.len());
                self.sorted.insert(at, n);
                n
            }
        };
        self.spare = spare;
        n
    }

    fn shape(&self, n: u32) -> &[u8] {
        let n = n as usize;
        let start = n.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[n]]
    }

    /// All names, as the bytes of their extension; nothing where there are none.
    pub fn encode(&self) -> Option<Vec<u8>> {
        if self.ends.is_empty() {
            return None;
        }
        let mut out = Vec::with_capacity(self.bytes.len() + 4);
        Encoder::new(&mut out).number(self.ends.len() as u64).rest(&self.bytes);
        Some(out)
    }
}
