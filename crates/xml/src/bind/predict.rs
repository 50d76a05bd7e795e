//! The schema-predictive fast path: rows that look like rows seen before are read without the tokeniser.
//!
//! What was learnt of rows is a small automaton. Its states are the *holes* of a row, the texts and attribute values
//! that differ from row to row; its edges are the *literals* between them, end tags, white space and start tags, byte
//! for byte as the tokeniser accepted them before. A row is matched by finding the end of each hole and comparing
//! the literal that is expected after it. Text ends at the first `<`, `&` or `]`, and no literal after text begins
//! with another than `<`, so text with anything special in it doesn't match. The bytes are known to be allowed
//! characters in UTF-8 with line ends normalised. So a row that matches is well-formed, its names are bound to the
//! namespaces they had before (an automaton belongs to one scope of declarations, and no tag with a declaration is
//! learnt), and no attribute stands twice (the hole of an attribute knows all attributes before it).
//!
//! A row that does not match, or lacks a field, or is too large, is left to the tokeniser from its start.

use super::batch::{Batch, Item, Limit, RowRef};
use super::count::Count;
use super::learn::{Learning, RawTag};
use super::state::State;
use crate::row;
use crate::schema::{Card, Class, ClassId, Kind, Schema};
use crate::tokenizer::Lookahead;
use rustc_hash::FxHashMap;

const MOST_STATES: usize = 1024;
const MOST_EDGES: usize = 8;
const MOST_STARTS: usize = 64;
const MOST_LITERALS: usize = 256 << 10;

/// No field wants it.
const UNWANTED: u16 = u16::MAX;
/// The state after the row's last byte.
const END: u32 = u32::MAX;

/// A hole: where it ends and what it is.
#[derive(Debug)]
struct Hole {
    /// The literal of the first edge, so that a row as usual needs to look nowhere else; `length` is 0 when that edge
    /// isn't as simple.
    literal: [u8; BLOCK],
    length: u8,
    /// 0 for text, else the quote that ends an attribute's value.
    quote: u8,
    slot: u16,
    /// Where the first edge leads.
    next: u32,
    /// The last taken first; or, when one begins with another, the longest first.
    edges: Vec<Edge>,
    sorted: bool,
}

impl Hole {
    /// The first edge has changed.
    fn refresh(&mut self) {
        self.length = 0;
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
struct Edge {
    literal: Box<[u8]>,
    next: u32,
    /// Fields whose elements stand empty in the literal.
    empty: Box<[u16]>,
}

/// How rows of one kind begin.
#[derive(Debug)]
struct Begin {
    edge: Edge,
    slot: u16,
    class: ClassId,
}

/// What decides what the children of an element are taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Context {
    pub parent: Parent,
    /// The namespace declarations in scope.
    pub scope: u32,
    /// The paths to outer values that may go on in a child.
    pub outers: u64,
}

/// Where elements stand: below a node of a class, or at some steps of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parent {
    Node(u32),
    Path(u64),
}

/// What was learnt of the children of one kind of element.
#[derive(Debug)]
pub(super) struct Predictor {
    context: Context,
    begins: Vec<Begin>,
    holes: Vec<Hole>,
    /// Holes by what leads to them: the row's name, and the tag with a NUL for each value.
    known: FxHashMap<Vec<u8>, u32>,
    literals: usize,
    /// Rows to let pass before learning is tried again, and how many after the next vain try.
    pause: u32,
    patience: u32,
}

/// Why a run of rows ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The batch is full.
    Full,
    /// Something that no row learnt so far has, at this offset: worth learning from.
    Unknown(usize),
    /// No row, one that isn't there as a whole, or one that only the tokeniser can read.
    Other,
}

/// A field's place in the bytes read.
#[derive(Clone, Copy, Debug)]
struct Span {
    start: u32,
    end: u32,
}

const ABSENT: Span = Span { start: u32::MAX, end: 0 };

/// Buffers of a run, used again.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    spans: Vec<Span>,
    /// Outer values, the same for all rows of a run.
    outer: Vec<(u16, Vec<u8>)>,
    outer_size: usize,
}

enum Found {
    Row { end: usize, begin: usize },
    Stop(Stop),
}

impl Predictor {
    pub fn new(context: Context) -> Predictor {
        Predictor { context, begins: Vec::new(), holes: Vec::new(), known: FxHashMap::default(), literals: 0, pause: 0, patience: 1 }
    }

    pub fn is_for(&self, context: &Context) -> bool {
        self.context == *context
    }

    /// Whether a row that isn't known is to be learnt from. Every vain try makes the next one come later.
    pub fn wants_to_learn(&mut self) -> bool {
        if self.pause > 0 {
            self.pause -= 1;
            return false;
        }
        self.pause = self.patience;
        self.patience = (self.patience * 2).min(1024);
        true
    }

    /// Binds rows for as long as they are known. How many bytes were read, and why not more.
    pub fn run(
        &mut self,
        look: Lookahead<'_>,
        schema: &Schema,
        state: &mut State,
        count: &mut Count,
        scratch: &mut Scratch,
        out: &mut Batch,
        limit: Limit,
    ) -> (usize, Stop) {
        kernel::run(self, look, schema, state, count, scratch, out, limit)
    }

    /// [`run`](Predictor::run) with a way to compare blocks; made for each kind of processor.
    #[inline(always)]
    fn run_with<S: Same>(
        &mut self,
        look: Lookahead<'_>,
        schema: &Schema,
        state: &mut State,
        count: &mut Count,
        scratch: &mut Scratch,
        out: &mut Batch,
        limit: Limit,
    ) -> (usize, Stop) {
        let bytes = look.padded;
        let mut done = look.pos;
        let mut outer_of = None;
        let mut filled = out.bytes.len();
        let stop = loop {
            if out.items.len() >= limit.rows || filled >= limit.bytes {
                break Stop::Full;
            }
            let mut at = done;
            while at < look.end && matches!(bytes[at], b' ' | b'\n' | b'\t') {
                at += 1;
            }
            let (end, begin) = match self.find::<S>(&look, at, schema, scratch, state.limits.field) {
                Found::Row { end, begin } => (end, &self.begins[begin]),
                Found::Stop(stop) => break stop,
            };
            let class = schema.class(begin.class);
            if outer_of != Some(begin.class) {
                outer_of = Some(begin.class);
                scratch.outers(state, class);
            }
            let most = end - at + scratch.outer_size;
            if most + 4 * class.fields.len() > state.limits.row {
                break Stop::Other;
            }
            let start = filled;
            let Some(end_of_row) = write(bytes, class, scratch, start, most, state.lenient, &mut out.bytes) else { break Stop::Other };
            count.advance(bytes, at);
            let ordinal = state.next_ordinal(begin.slot);
            let header = row::header(count.line(), count.column(), ordinal, class.fields.len(), 0);
            out.bytes[start..start + row::HEADER].copy_from_slice(&header);
            filled = end_of_row;
            let row = RowRef { start: start as u32, len: (end_of_row - start) as u32 };
            out.items.push(Item::Row { class: begin.class, slot: begin.slot, row });
            done = end;
        };
        out.bytes.truncate(filled);
        (done - look.pos, stop)
    }

    /// Matches one row whose `<` is at `at`, and fills the spans.
    #[inline(always)]
    fn find<S: Same>(&mut self, look: &Lookahead<'_>, at: usize, schema: &Schema, scratch: &mut Scratch, largest: usize) -> Found {
        let bytes = &look.padded[..look.end];
        let Some((begin, edge)) = self.begins.iter().enumerate().find(|(_, b)| same(bytes, at, &b.edge.literal)) else {
            // An end tag or something else that is no row begins no learning, nor does a row that has only begun to come.
            let row = bytes.get(at) == Some(&b'<') && bytes.get(at + 1).is_some_and(|b| !matches!(b, b'/' | b'!' | b'?'));
            let row = row && !self.begins.iter().any(|b| b.edge.literal.starts_with(&bytes[at..]));
            return Found::Stop(if row { Stop::Unknown(at - look.pos) } else { Stop::Other });
        };
        scratch.spans.clear();
        scratch.spans.resize(schema.class(edge.class).fields.len(), ABSENT);
        let spans = &mut scratch.spans[..];
        let edge = &edge.edge;
        for &slot in &edge.empty {
            spans[slot as usize] = Span { start: at as u32, end: at as u32 };
        }
        let mut from = at + edge.literal.len();
        let mut next = edge.next;
        let mut most = 0;
        while let Some(hole) = self.holes.get(next as usize) {
            let mut to = if hole.quote == 0 { crate::input::next(look.stops, from) } else { value_end(bytes, from, hole.quote) };
            let length = hole.length as usize;
            let usual = match look.padded.get(to..).and_then(|b| b.first_chunk::<BLOCK>()) {
                Some(block) => length != 0 && S::same(block, &hole.literal, length) && to + length <= look.end,
                None => false,
            };
            let slot = hole.slot;
            let (after, then) = if usual {
                (to + length, hole.next)
            } else {
                match self.unusual(look, at, &mut to, next, spans) {
                    Ok(found) => found,
                    Err(stop) => return Found::Stop(stop),
                }
            };
            most = most.max(to - from);
            if slot != UNWANTED {
                let span = &mut spans[slot as usize];
                if span.start != ABSENT.start {
                    return Found::Stop(Stop::Other);
                }
                *span = Span { start: from as u32, end: to as u32 };
            }
            (from, next) = (after, then);
        }
        if most > largest { Found::Stop(Stop::Other) } else { Found::Row { end: from, begin } }
    }

    /// What follows a hole isn't what followed it last. Where the literal that it is ends, and the next hole.
    #[cold]
    #[inline(never)]
    fn unusual(&mut self, look: &Lookahead<'_>, row: usize, to: &mut usize, hole: u32, spans: &mut [Span]) -> Result<(usize, u32), Stop> {
        let bytes = &look.padded[..look.end];
        let hole = &mut self.holes[hole as usize];
        if hole.quote == 0 {
            *to = past_brackets(look, *to);
        }
        let Some(mut found) = hole.edges.iter().position(|e| same(bytes, *to, &e.literal)) else {
            let expected = if hole.quote == 0 { b'<' } else { hole.quote };
            let cut = || hole.edges.iter().any(|e| e.literal.starts_with(&bytes[*to..]));
            return Err(if bytes.get(*to) == Some(&expected) && !cut() { Stop::Unknown(row - look.pos) } else { Stop::Other });
        };
        if !hole.sorted && found > 0 {
            hole.edges[..=found].rotate_right(1);
            found = 0;
            hole.refresh();
        }
        let edge = &hole.edges[found];
        for &slot in &edge.empty {
            let span = &mut spans[slot as usize];
            if span.start != ABSENT.start {
                return Err(Stop::Other);
            }
            *span = Span { start: *to as u32, end: *to as u32 };
        }
        Ok((*to + edge.literal.len(), edge.next))
    }

    /// Adds what a row showed, if it is new and there is room.
    ///
    /// `declared`: the document may declare attributes, whose values would have to be normalised by their types.
    pub fn learn(&mut self, mut learning: Learning, schema: &Schema, declared: bool) {
        if !learning.agrees() || (declared && learning.attributes.iter().any(|a| a.is_some())) {
            return;
        }
        let Some((slot, id)) = learning.row else { return };
        if let Parent::Node(class) = self.context.parent {
            // Outside a list a second one is an error.
            if schema.classes()[class as usize].fields.get(slot as usize).is_none_or(|f| f.card != Card::Many) {
                return;
            }
        }
        let class = schema.class(id);
        if !class.whole || self.holes.len() + 2 * (learning.raw.children.len() + learning.raw.tag.attributes.len()) > MOST_STATES {
            return;
        }
        if class.fields.iter().any(|f| matches!(f.kind, Kind::Class(_)) && f.card == Card::One)
            || (class.text.is_some() && class.content.is_some())
        {
            return;
        }
        let text = class.text.or(class.content);
        let raw = &learning.raw;
        if text.is_some() && !raw.children.is_empty() {
            return;
        }
        let bytes = &raw.bytes[..];
        let row_name = &bytes[raw.tag.name.0..raw.tag.name.1];
        let mut path = Path { predictor: self, at: None, begin: (slot, id), literal: Vec::new(), empty: Vec::new(), new: false };
        let mut key = row_name.to_vec();
        key.push(0);
        let mut skeleton = path.tag(bytes, &raw.tag, &learning.attributes, key.clone());
        if !raw.tag.empty && raw.children.is_empty() {
            skeleton.push(1);
            path.hole(skeleton, 0, text.unwrap_or(UNWANTED));
            path.literal.extend_from_slice(&bytes[raw.close..raw.end]);
        } else if !raw.tag.empty {
            let mut at = raw.tag.end;
            for (child, slot) in raw.children.iter().zip(&learning.children) {
                path.literal.extend_from_slice(&bytes[at..child.tag.start]);
                let none = vec![None; child.tag.attributes.len()];
                let mut skeleton = path.tag(bytes, &child.tag, &none, key.clone());
                if child.tag.empty {
                    path.empty.extend(*slot);
                } else {
                    skeleton.push(1);
                    path.hole(skeleton, 0, slot.unwrap_or(UNWANTED));
                    path.literal.extend_from_slice(&bytes[child.close..child.end]);
                }
                at = child.end;
            }
            path.literal.extend_from_slice(&bytes[at..raw.end]);
        }
        path.edge(END);
        let new = path.new;
        for hole in &mut self.holes {
            hole.refresh();
        }
        if new {
            self.pause = 0;
            self.patience = 1;
        }
    }
}

/// A way through the automaton, made as it is gone.
struct Path<'a> {
    predictor: &'a mut Predictor,
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

    fn hole(&mut self, key: Vec<u8>, quote: u8, slot: u16) {
        let next = match self.predictor.known.get(&key) {
            Some(&known) => known,
            None => {
                let id = self.predictor.holes.len() as u32;
                self.predictor.literals += key.len();
                self.predictor.holes.push(Hole {
                    literal: [0; BLOCK],
                    length: 0,
                    quote,
                    slot,
                    next: END,
                    edges: Vec::new(),
                    sorted: false,
                });
                self.predictor.known.insert(key, id);
                id
            }
        };
        self.edge(next);
    }

    /// Ends the literal at the next hole.
    fn edge(&mut self, next: u32) {
        let literal = std::mem::take(&mut self.literal).into_boxed_slice();
        let empty = std::mem::take(&mut self.empty).into_boxed_slice();
        let predictor = &mut *self.predictor;
        let size = literal.len();
        let fits = predictor.literals + size <= MOST_LITERALS;
        match self.at {
            None => {
                let known = predictor.begins.iter().any(|b| b.edge.literal == literal);
                if !known && fits && predictor.begins.len() < MOST_STARTS {
                    predictor.literals += size;
                    let (slot, class) = self.begin;
                    predictor.begins.push(Begin { edge: Edge { literal, next, empty }, slot, class });
                    predictor.begins.sort_by_key(|b| std::cmp::Reverse(b.edge.literal.len()));
                    self.new = true;
                }
            }
            Some(at) => {
                let Hole { edges, sorted, .. } = &mut predictor.holes[at as usize];
                if !edges.iter().any(|e| e.literal == literal) && fits && edges.len() < MOST_EDGES {
                    predictor.literals += size;
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

/// Whether `literal` stands at `at`.
#[inline(always)]
fn same(bytes: &[u8], at: usize, literal: &[u8]) -> bool {
    let n = literal.len();
    let Some(here) = bytes.get(at..).and_then(|b| b.get(..n)) else { return false };
    // Blocks of a fixed size, the last overlapping the one before: no call, no loop over bytes.
    fn block<const N: usize>(a: &[u8], b: &[u8], at: usize) -> bool {
        match (a[at..].first_chunk::<N>(), b[at..].first_chunk::<N>()) {
            (Some(a), Some(b)) => a == b,
            _ => false,
        }
    }
    if n >= 16 {
        let mut i = 0;
        while i + 16 < n {
            if !block::<16>(here, literal, i) {
                return false;
            }
            i += 16;
        }
        block::<16>(here, literal, n - 16)
    } else if n >= 8 {
        block::<8>(here, literal, 0) && block::<8>(here, literal, n - 8)
    } else if n >= 4 {
        block::<4>(here, literal, 0) && block::<4>(here, literal, n - 4)
    } else {
        here == literal
    }
}

/// From a `]` that doesn't end `]]>` on to the next stop.
#[cold]
fn past_brackets(look: &Lookahead<'_>, mut at: usize) -> usize {
    let bytes = &look.padded[..look.end];
    while bytes.get(at) == Some(&b']') {
        match bytes.get(at..at + 3) {
            Some(b"]]>") | None => return at,
            Some(_) => at = crate::input::next(look.stops, at + 1),
        }
    }
    at
}

/// Where an attribute's value ends: at its quote, or at something that only the tokeniser can read.
#[inline]
fn value_end(bytes: &[u8], mut at: usize, quote: u8) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let zero = |w: u64| w.wrapping_sub(ONES) & !w;
    while let Some(block) = bytes.get(at..).and_then(|b| b.first_chunk::<8>()) {
        let w = u64::from_le_bytes(*block);
        let control = w.wrapping_sub(ONES * 0x20) & !w;
        let hits = (zero(w ^ (ONES * quote as u64)) | zero(w ^ (ONES * b'<' as u64)) | zero(w ^ (ONES * b'&' as u64)) | control) & HIGH;
        if hits != 0 {
            return at + hits.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    while bytes.get(at).is_some_and(|&b| b != quote && b != b'<' && b != b'&' && b >= 0x20) {
        at += 1;
    }
    at
}

/// Writes a row at `start`, all but its header; `most` is at least what its fields hold. Where it ends; `None` when a
/// field is missing.
#[inline(always)]
fn write(bytes: &[u8], class: &Class, scratch: &Scratch, start: usize, most: usize, lenient: bool, out: &mut Vec<u8>) -> Option<usize> {
    let table = start + row::HEADER;
    let data = table + 4 * class.fields.len();
    let need = data + most + 16;
    if out.len() < need {
        out.resize(need + (need / 2).min(64 << 10), 0);
    }
    let (head, body) = out.split_at_mut(data);
    let mut at = 0;
    for (slot, (end, span)) in head[table..].chunks_exact_mut(4).zip(&scratch.spans).enumerate() {
        let mut word = at as u32;
        if span.start < span.end {
            let (from, n) = (span.start as usize, (span.end - span.start) as usize);
            // Short ones as one block of 16 bytes, of which those behind the text mean nothing.
            match (bytes.get(from..).and_then(|b| b.first_chunk::<16>()), body.get_mut(at..).and_then(|b| b.first_chunk_mut::<16>())) {
                (Some(from), Some(to)) if n <= 16 => *to = *from,
                _ => body.get_mut(at..at + n)?.copy_from_slice(bytes.get(from..from + n)?),
            }
            at += n;
            word = at as u32;
        } else if let Some(value) = scratch.without_text(class, slot, span, lenient)? {
            body.get_mut(at..at + value.len())?.copy_from_slice(value);
            at += value.len();
            word = at as u32;
        } else {
            word |= row::ABSENT;
        }
        end.copy_from_slice(&word.to_le_bytes());
    }
    Some(data + at)
}

impl Scratch {
    /// The outer values of rows of a class.
    fn outers(&mut self, state: &State, class: &Class) {
        self.outer.clear();
        self.outer_size = 0;
        let depth = state.frames.len() as u32 + 1;
        for &(slot, number) in &class.outers {
            if let Some(value) = state.outers.value(number, depth) {
                self.outer_size += value.len();
                self.outer.push((slot, value.to_vec()));
            }
        }
    }

    /// The value of a field for which the row has no text: `Some(None)` when it is absent, `None` when it is missing.
    #[inline(never)]
    fn without_text(&self, class: &Class, slot: usize, span: &Span, lenient: bool) -> Option<Option<&[u8]>> {
        if let Some((_, value)) = self.outer.iter().find(|(s, _)| *s as usize == slot) {
            return Some(Some(value));
        }
        let one = class.fields[slot].card == Card::One;
        if class.text.or(class.content) == Some(slot as u16) {
            return Some(one.then_some(b""));
        }
        if span.start != ABSENT.start {
            return Some(Some(b""));
        }
        if one && !lenient { None } else { Some(None) }
    }
}

/// The size of the blocks that literals are compared in.
const BLOCK: usize = crate::input::PADDING;

/// A way to compare the first bytes (1 to 64) of two blocks.
trait Same {
    fn same(a: &[u8; BLOCK], b: &[u8; BLOCK], n: usize) -> bool;
}

/// For any processor.
struct Portable;

impl Same for Portable {
    #[inline(always)]
    fn same(a: &[u8; BLOCK], b: &[u8; BLOCK], n: usize) -> bool {
        let mut i = 0;
        while i < n {
            let (Some(x), Some(y)) = (a[i..].first_chunk::<8>(), b[i..].first_chunk::<8>()) else { return false };
            let differ = u64::from_le_bytes(*x) ^ u64::from_le_bytes(*y);
            let rest = n - i;
            if if rest >= 8 { differ != 0 } else { differ << (64 - 8 * rest) != 0 } {
                return false;
            }
            i += 8;
        }
        true
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod kernel {
    use super::*;

    pub fn run(
        predictor: &mut Predictor,
        look: Lookahead<'_>,
        schema: &Schema,
        state: &mut State,
        count: &mut Count,
        scratch: &mut Scratch,
        out: &mut Batch,
        limit: Limit,
    ) -> (usize, Stop) {
        predictor.run_with::<Portable>(look, schema, state, count, scratch, out, limit)
    }
}

/// The same code made for each kind of processor.
#[cfg(target_arch = "x86_64")]
mod kernel {
    use super::*;
    use std::arch::x86_64::*;

    pub fn run(
        predictor: &mut Predictor,
        look: Lookahead<'_>,
        schema: &Schema,
        state: &mut State,
        count: &mut Count,
        scratch: &mut Scratch,
        out: &mut Batch,
        limit: Limit,
    ) -> (usize, Stop) {
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi1") && is_x86_feature_detected!("bmi2") {
            if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw") {
                // SAFETY: the processor has all the features.
                return unsafe { run_avx512(predictor, look, schema, state, count, scratch, out, limit) };
            }
            // SAFETY: the processor has all the features.
            return unsafe { run_avx2(predictor, look, schema, state, count, scratch, out, limit) };
        }
        predictor.run_with::<Portable>(look, schema, state, count, scratch, out, limit)
    }

    /// # Safety
    /// The processor has AVX-512F and BW, BMI1 and BMI2.
    #[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2")]
    unsafe fn run_avx512(
        predictor: &mut Predictor,
        look: Lookahead<'_>,
        schema: &Schema,
        state: &mut State,
        count: &mut Count,
        scratch: &mut Scratch,
        out: &mut Batch,
        limit: Limit,
    ) -> (usize, Stop) {
        predictor.run_with::<Avx512>(look, schema, state, count, scratch, out, limit)
    }

    /// # Safety
    /// The processor has AVX2, BMI1 and BMI2.
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    unsafe fn run_avx2(
        predictor: &mut Predictor,
        look: Lookahead<'_>,
        schema: &Schema,
        state: &mut State,
        count: &mut Count,
        scratch: &mut Scratch,
        out: &mut Batch,
        limit: Limit,
    ) -> (usize, Stop) {
        predictor.run_with::<Avx2>(look, schema, state, count, scratch, out, limit)
    }

    /// Those that this processor can make.
    #[cfg(test)]
    pub fn comparisons() -> Vec<fn(&[u8; BLOCK], &[u8; BLOCK], usize) -> bool> {
        let mut all: Vec<fn(&[u8; BLOCK], &[u8; BLOCK], usize) -> bool> = Vec::new();
        if is_x86_feature_detected!("avx2") {
            all.push(Avx2::same);
        }
        if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw") {
            all.push(Avx512::same);
        }
        all
    }

    /// Used in `run_avx512` only.
    struct Avx512;

    impl Same for Avx512 {
        #[inline(always)]
        fn same(a: &[u8; BLOCK], b: &[u8; BLOCK], n: usize) -> bool {
            // SAFETY: the only caller runs where the features are there; both blocks have 64 bytes.
            unsafe {
                let (x, y) = (_mm512_loadu_si512(a.as_ptr().cast()), _mm512_loadu_si512(b.as_ptr().cast()));
                _mm512_mask_cmpneq_epi8_mask(u64::MAX >> (BLOCK - n), x, y) == 0
            }
        }
    }

    /// Used in `run_avx2` only.
    struct Avx2;

    impl Same for Avx2 {
        #[inline(always)]
        fn same(a: &[u8; BLOCK], b: &[u8; BLOCK], n: usize) -> bool {
            // SAFETY: the only caller runs where the feature is there; both blocks have 64 bytes.
            unsafe {
                let equal = |i: usize| {
                    let (x, y) = (_mm256_loadu_si256(a.as_ptr().add(i).cast()), _mm256_loadu_si256(b.as_ptr().add(i).cast()));
                    _mm256_movemask_epi8(_mm256_cmpeq_epi8(x, y)) as u32
                };
                let low = !equal(0) & (u32::MAX >> (32 - n.min(32)));
                low == 0 && (n <= 32 || !equal(32) & (u32::MAX >> (BLOCK - n)) == 0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_agree() {
        type Comparison = fn(&[u8; BLOCK], &[u8; BLOCK], usize) -> bool;
        let mut all: Vec<Comparison> = vec![Portable::same];
        #[cfg(target_arch = "x86_64")]
        all.extend(kernel::comparisons());
        let a: [u8; BLOCK] = std::array::from_fn(|i| i as u8);
        for same in all {
            for n in 1..=BLOCK {
                for changed in 0..BLOCK {
                    let mut b = a;
                    b[changed] ^= 0x80;
                    assert_eq!(same(&a, &b, n), changed >= n, "{n} bytes, the one at {changed} differs");
                }
                assert!(same(&a, &a, n));
            }
        }
    }

    #[test]
    fn values_end_at_quotes_and_at_what_is_special() {
        for special in [b'"', b'<', b'&', b'\t', b'\n'] {
            for at in 0..20 {
                let mut bytes = "\u{e4}>]'abcdefghijklmnopqrstuvwxyz".as_bytes().to_vec();
                bytes[at] = special;
                assert_eq!(value_end(&bytes, 0, b'"'), at);
            }
        }
        assert_eq!(value_end(b"abc", 1, b'\''), 3);
    }
}
