//! What was learnt of rows: an automaton whose states are the *holes* of a row, the texts and attribute values that differ
//! from row to row, and whose edges are the *literals* between them, end tags, white space and start tags, byte for byte
//! as the tokeniser accepted them.
//!
//! No tag with a namespace declaration is in it, so names mean in a row what they meant in the rows learnt from. The
//! hole of an attribute knows all attributes before it, so no attribute stands twice on any way through. A hole in an
//! element knows the names of the elements around it and the element's tag, so every end tag is the right one, and
//! nothing else: elements may follow each other in ways that no row had, as long as each step was in some row.

use super::block::BLOCK;
use super::learn::{Learning, RawChild, RawTag};
use crate::schema::{Card, ClassId, Kind, Schema};
use rustc_hash::FxHashMap;

const MOST_STATES: usize = 1024;
const MOST_EDGES: usize = 8;
const MOST_STARTS: usize = 64;
const MOST_LITERALS: usize = 256 << 10;

/// No field wants it.
pub(super) const UNWANTED: u16 = u16::MAX;
/// The state after the row's last byte.
pub(super) const END: u32 = u32::MAX;

/// A hole: where it ends and what it is.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Hole {
    /// The literal of the first edge, so that a row as usual needs to look nowhere else. When that edge isn't as simple,
    /// something that stands in no text.
    pub literal: [u8; BLOCK],
    pub length: u8,
    /// 0 for text, else the quote that ends an attribute's value.
    pub quote: u8,
    pub slot: u16,
    /// Where the first edge leads.
    pub next: u32,
    /// The last taken first; or, when one begins with another, the longest first.
    pub edges: Vec<Edge>,
    pub sorted: bool,
}

/// A literal of one byte that is not in UTF-8.
const NOTHING: ([u8; BLOCK], u8) = ([0xFF; BLOCK], 1);

impl Hole {
    /// The first edge has changed.
    pub fn refresh(&mut self) {
        (self.literal, self.length) = NOTHING;
        let Some(first) = self.edges.first() else { return };
        self.next = first.next;
        let size = first.literal.len();
        if size <= BLOCK && first.empty.is_empty() {
            self.literal = [0; BLOCK];
            self.literal[..size].copy_from_slice(&first.literal);
            self.length = size as u8;
        }
    }
}

#[derive(Debug)]
pub(super) struct Edge {
    pub literal: Box<[u8]>,
    pub next: u32,
    /// Fields whose elements stand empty in the literal.
    pub empty: Box<[u16]>,
}

/// How rows of one kind begin.
#[derive(Debug)]
pub(super) struct Begin {
    pub edge: Edge,
    pub slot: u16,
    pub class: ClassId,
}

#[derive(Debug, Default)]
pub(super) struct Automaton {
    /// How rows begin, the longest literals first.
    pub begins: Vec<Begin>,
    pub holes: Vec<Hole>,
    /// Holes by what leads to them: the names of the elements around, and the tag with a NUL for each value.
    known: FxHashMap<Vec<u8>, u32>,
    /// Bytes of all literals and names of holes.
    literals: usize,
}

impl Automaton {
    /// Adds what a row showed. False: there was nothing new, or no room.
    pub fn learn(&mut self, mut learning: Learning, schema: &Schema, attributes: bool) -> bool {
        let (mut tags, mut any) = (1 + learning.raw.tag.attributes.len(), !learning.raw.tag.attributes.is_empty());
        for child in &learning.raw.children {
            let (more, attributes) = child.size();
            (tags, any) = (tags + more, any | attributes);
        }
        if (any && !attributes) || self.holes.len() + tags > MOST_STATES {
            return false;
        }
        if !learning.agrees() {
            return false;
        }
        let Some((slot, id)) = learning.row else { return false };
        let class = schema.class(id);
        // The text of a field with elements in it is put together from pieces.
        let pieces = learning.raw.children.iter().zip(&learning.children).any(|(c, slot)| slot.is_some() && !c.children.is_empty());
        if !class.whole || pieces {
            return false;
        }
        if class.fields.iter().any(|f| matches!(f.kind, Kind::Class(_)) && f.card == Card::One)
            || (class.text.is_some() && class.content.is_some())
        {
            return false;
        }
        let text = class.text.or(class.content);
        let raw = &learning.raw;
        if text.is_some() && !raw.children.is_empty() {
            return false;
        }
        let bytes = &raw.bytes[..];
        let row_name = &bytes[raw.tag.name.0..raw.tag.name.1];
        let mut path = Path { automaton: self, at: None, begin: (slot, id), literal: Vec::new(), empty: Vec::new(), new: false };
        let mut key = row_name.to_vec();
        key.push(0);
        let mut skeleton = path.tag(bytes, &raw.tag, &learning.attributes, key.clone());
        if !raw.tag.empty && raw.children.is_empty() {
            skeleton.push(1);
            path.hole(skeleton, 0, text.unwrap_or(UNWANTED));
            path.literal.extend_from_slice(&bytes[raw.close..raw.end]);
        } else if !raw.tag.empty {
            // An element in the row may have the row's name.
            key.push(b'/');
            let mut at = raw.tag.end;
            for (child, slot) in raw.children.iter().zip(&learning.children) {
                path.literal.extend_from_slice(&bytes[at..child.tag.start]);
                path.child(bytes, child, *slot, &key);
                at = child.end;
            }
            path.literal.extend_from_slice(&bytes[at..raw.end]);
        }
        path.edge(END);
        let new = path.new;
        for hole in &mut self.holes {
            hole.refresh();
        }
        new
    }
}

/// A way through the automaton, made as it is gone.
struct Path<'a> {
    automaton: &'a mut Automaton,
    at: Option<u32>,
    begin: (u16, ClassId),
    /// What has come since the last hole.
    literal: Vec<u8>,
    empty: Vec<u16>,
    new: bool,
}

impl Path<'_> {
    /// A start tag with its values as holes; what it looks like without them.
    fn tag(&mut self, bytes: &[u8], tag: &RawTag, slots: &[Option<u16>], mut skeleton: Vec<u8>) -> Vec<u8> {
        let mut at = tag.start;
        for (&(start, end), slot) in tag.attributes.iter().zip(slots) {
            self.literal.extend_from_slice(&bytes[at..start]);
            skeleton.extend_from_slice(&bytes[at..start]);
            skeleton.push(0);
            self.hole(skeleton.clone(), bytes[end], slot.unwrap_or(UNWANTED));
            at = end;
        }
        self.literal.extend_from_slice(&bytes[at..tag.end]);
        skeleton.extend_from_slice(&bytes[at..tag.end]);
        skeleton
    }

    /// An element in the row; `key` tells those around it.
    fn child(&mut self, bytes: &[u8], child: &RawChild, slot: Option<u16>, key: &[u8]) {
        let none = vec![None; child.tag.attributes.len()];
        let mut skeleton = self.tag(bytes, &child.tag, &none, key.to_vec());
        if child.tag.empty {
            self.empty.extend(slot);
        } else if child.children.is_empty() {
            skeleton.push(1);
            self.hole(skeleton, 0, slot.unwrap_or(UNWANTED));
            self.literal.extend_from_slice(&bytes[child.close..child.end]);
        } else {
            let key = [key, &bytes[child.tag.name.0..child.tag.name.1], b"/"].concat();
            let mut at = child.tag.end;
            for inner in &child.children {
                self.literal.extend_from_slice(&bytes[at..inner.tag.start]);
                self.child(bytes, inner, None, &key);
                at = inner.end;
            }
            self.literal.extend_from_slice(&bytes[at..child.end]);
        }
    }

    fn hole(&mut self, key: Vec<u8>, quote: u8, slot: u16) {
        let next = match self.automaton.known.get(&key) {
            Some(&known) => known,
            None => {
                let id = self.automaton.holes.len() as u32;
                self.automaton.literals += key.len();
                self.automaton.holes.push(Hole {
                    literal: [0; BLOCK],
                    length: 0,
                    quote,
                    slot,
                    next: END,
                    edges: Vec::new(),
                    sorted: false,
                });
                self.automaton.known.insert(key, id);
                id
            }
        };
        self.edge(next);
    }

    /// Ends the literal at the next hole.
    fn edge(&mut self, next: u32) {
        let literal = std::mem::take(&mut self.literal).into_boxed_slice();
        let empty = std::mem::take(&mut self.empty).into_boxed_slice();
        let automaton = &mut *self.automaton;
        let size = literal.len();
        let fits = automaton.literals + size <= MOST_LITERALS;
        match self.at {
            None => {
                let known = automaton.begins.iter().any(|b| b.edge.literal == literal);
                if !known && fits && automaton.begins.len() < MOST_STARTS {
                    automaton.literals += size;
                    let (slot, class) = self.begin;
                    automaton.begins.push(Begin { edge: Edge { literal, next, empty }, slot, class });
                    automaton.begins.sort_by_key(|b| std::cmp::Reverse(b.edge.literal.len()));
                    self.new = true;
                }
            }
            Some(at) => {
                let Hole { edges, sorted, .. } = &mut automaton.holes[at as usize];
                if !edges.iter().any(|e| e.literal == literal) && fits && edges.len() < MOST_EDGES {
                    automaton.literals += size;
                    *sorted |= edges.iter().any(|e| e.literal.starts_with(&literal) || literal.starts_with(&e.literal));
                    edges.push(Edge { literal, next, empty });
                    if *sorted {
                        edges.sort_by_key(|e| std::cmp::Reverse(e.literal.len()));
                    }
                    self.new = true;
                }
            }
        }
        self.at = Some(next);
    }
}
