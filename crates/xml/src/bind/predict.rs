//! The schema-predictive fast path: rows that look like rows seen before are read without the tokeniser.
//!
//! What was learnt of rows is a small [automaton](super::automaton). A row is matched by finding the end of each hole
//! and comparing the literal that is expected after it. Text ends at the first `<`, `&` or `]`, and no literal after text
//! begins with another than `<`, so text with anything special in it doesn't match (and is looked at once more, for
//! references that are easy). The bytes are known to be allowed characters in UTF-8 with line ends normalised. So a
//! row that matches is well-formed, and its names are bound to the namespaces they had before: a predictor belongs to
//! one scope of declarations.
//!
//! A row that does not match, or lacks a field, or is too large, is left to the tokeniser from its start.

use super::automaton::{Automaton, UNWANTED};
use super::batch::{Batch, Item, Limit, RowRef};
use super::block::{BLOCK, Portable, Same, same, value_end};
use super::count::Count;
use super::learn::Learning;
use super::reference::resolve;
use super::span::{Scratch, Span, write};
use super::state::State;
use crate::schema::row;
use crate::schema::{Card, Schema};
use crate::tokenizer::Lookahead;

/// What decides what the children of an element are taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Context {
    pub parent: Parent,
    /// The namespace declarations in scope.
    pub scope: u64,
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
    automaton: Automaton,
    /// Rows to let pass before learning is tried again, and how many after the next vain try.
    pause: u32,
    backoff: u32,
}

/// A run of rows: what is read and by which schema, and where what comes of it goes.
pub(super) struct Run<'a> {
    pub look: Lookahead<'a>,
    pub schema: &'a Schema,
    pub state: &'a mut State,
    pub count: &'a mut Count,
    pub scratch: &'a mut Scratch,
    pub out: &'a mut Batch,
    pub limit: Limit,
}

/// Why a run of rows ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The batch is full.
    Full,
    /// Something that no row learnt so far has, at this offset: worth learning from.
    Unknown(usize),
    /// A row as known, as far as it has come.
    Cut,
    /// No row, or one that only the tokeniser can read.
    Other,
}

/// A row with more than this in attributes is the tokeniser's, which knows how long a tag may be.
const LARGEST_TAGS: usize = 64 << 10;
/// Tags with attributes are only learnt when more than that is allowed for them and what stands between their values.
pub(super) const ROOM_FOR_TAGS: usize = 256 << 10;

enum Found {
    Row { end: usize, begin: usize },
    Stop(Stop),
}

impl Predictor {
    /// It learns from the second row on: many contexts have only one.
    pub fn new(context: Context) -> Predictor {
        Predictor { context, automaton: Automaton::default(), pause: 1, backoff: 1 }
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
        self.pause = self.backoff;
        self.backoff = (self.backoff * 2).min(1024);
        true
    }

    /// What a row showed is kept, if it is new and there is room. `attributes`: whether tags with attributes may be.
    pub fn learn(&mut self, learning: Learning, schema: &Schema, attributes: bool) {
        if let (Parent::Node(class), Some((slot, _))) = (self.context.parent, learning.row) {
            // Outside a list a second one is an error.
            if schema.classes()[class as usize].fields.get(slot as usize).is_none_or(|f| f.card != Card::Many) {
                return;
            }
        }
        if self.automaton.learn(learning, schema, attributes) {
            self.pause = 0;
            self.backoff = 1;
        }
    }

    /// Binds rows for as long as they are known. How many bytes were read, and why not more.
    pub fn run(&mut self, run: Run<'_>) -> (usize, Stop) {
        kernel::run(self, run)
    }

    /// [`run`](Predictor::run) with a way to compare blocks; made for each kind of processor.
    ///
    /// # Safety
    /// The processor has what `S` needs.
    #[inline(always)]
    unsafe fn run_with<S: Same>(&mut self, run: Run<'_>) -> (usize, Stop) {
        let Run { look, schema, state, count, scratch, out, limit } = run;
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
            // SAFETY: the caller's promise.
            let (end, begin) = match unsafe { self.find::<S>(&look, at, schema, scratch, state.limits.field) } {
                Found::Row { end, begin } => (end, &self.automaton.begins[begin]),
                Found::Stop(stop) => break stop,
            };
            let class = schema.class(begin.class);
            if outer_of != Some(begin.class) {
                outer_of = Some(begin.class);
                scratch.outers(state, class);
            }
            let most = end - at + scratch.outer_size();
            if most + 4 * class.fields.len() > state.limits.row {
                break Stop::Other;
            }
            let start = filled;
            let Some(end_of_row) = write(bytes, class, scratch, start, most, (state.limits.field, state.lenient), &mut out.bytes) else {
                break Stop::Other;
            };
            count.advance(bytes, at);
            let ordinal = state.next_ordinal(begin.slot);
            let (line, column) = count.place();
            let header = row::header(row::place(line), row::place(column), ordinal, class.fields.len(), 0);
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
    ///
    /// # Safety
    /// The processor has what `S` needs.
    #[inline(always)]
    unsafe fn find<S: Same>(&mut self, look: &Lookahead<'_>, at: usize, schema: &Schema, scratch: &mut Scratch, largest: usize) -> Found {
        let bytes = &look.padded[..look.end];
        let Some((begin, edge)) = self.automaton.begins.iter().enumerate().find(|(_, b)| same(bytes, at, &b.edge.literal)) else {
            // An end tag or something else that is no row begins no learning.
            let row = bytes.get(at) == Some(&b'<') && bytes.get(at + 1).is_none_or(|b| !matches!(b, b'/' | b'!' | b'?'));
            let cut = row && self.automaton.begins.iter().any(|b| b.edge.literal.starts_with(&bytes[at..]));
            return Found::Stop(match (row, cut) {
                (true, true) => Stop::Cut,
                (true, false) => Stop::Unknown(at - look.pos),
                _ => Stop::Other,
            });
        };
        scratch.begin(schema.class(edge.class).fields.len());
        let edge = &edge.edge;
        for &slot in &edge.empty {
            scratch.spans[slot as usize] = Span { start: at as u32, end: at as u32 };
        }
        let mut from = at + edge.literal.len();
        let mut next = edge.next;
        let mut in_tags = 0;
        let mut odd = false;
        while let Some(hole) = self.automaton.holes.get(next as usize) {
            let to = if hole.quote == 0 {
                crate::input::next(look.stops, from)
            } else {
                let to = value_end(bytes, from, hole.quote);
                in_tags += to - from;
                to
            };
            let length = hole.length as usize;
            let usual = match look.padded.get(to..).and_then(|b| b.first_chunk::<BLOCK>()) {
                // SAFETY: the caller's promise.
                Some(block) => to + length <= look.end && unsafe { S::same(block, &hole.literal, length) },
                None => false,
            };
            let slot = hole.slot;
            let mut span = Span { start: from as u32, end: to as u32 };
            (from, next) = if usual {
                (to + length, hole.next)
            } else {
                match self.unusual(look, at, (from, to), next, scratch) {
                    Ok((after, then, found)) => {
                        odd = true;
                        span = found;
                        (after, then)
                    }
                    Err(stop) => return Found::Stop(stop),
                }
            };
            if slot != UNWANTED {
                let place = &mut scratch.spans[slot as usize];
                if !place.is_absent() {
                    return Found::Stop(Stop::Other);
                }
                *place = span;
            }
        }
        // Texts put together are at most as long as the row.
        if in_tags > LARGEST_TAGS || (odd && from - at > largest) {
            return Found::Stop(Stop::Other);
        }
        Found::Row { end: from, begin }
    }

    /// What follows the text that was found isn't what followed it last. Where the literal that it is ends, the next hole,
    /// and the text, which may be longer than it seemed.
    #[cold]
    #[inline(never)]
    fn unusual(
        &mut self,
        look: &Lookahead<'_>,
        row: usize,
        (from, mut to): (usize, usize),
        hole: u32,
        scratch: &mut Scratch,
    ) -> Result<(usize, u32, Span), Stop> {
        let bytes = &look.padded[..look.end];
        let hole = &mut self.automaton.holes[hole as usize];
        let mut span = None;
        match bytes.get(to) {
            Some(b']') if hole.quote == 0 => to = past_brackets(look, to),
            _ => {}
        }
        if bytes.get(to) == Some(&b'&') {
            (to, span) =
                scratch.resolve(|out| resolve(look, from, hole.quote, out)).map(|(to, span)| (to, Some(span))).ok_or(Stop::Other)?;
        }
        let span = span.unwrap_or(Span { start: from as u32, end: to as u32 });
        let Some(mut found) = hole.edges.iter().position(|e| same(bytes, to, &e.literal)) else {
            if hole.edges.iter().any(|e| e.literal.starts_with(&bytes[to..])) {
                return Err(Stop::Cut);
            }
            let expected = if hole.quote == 0 { b'<' } else { hole.quote };
            return Err(if bytes.get(to) == Some(&expected) { Stop::Unknown(row - look.pos) } else { Stop::Other });
        };
        if !hole.sorted && found > 0 {
            hole.edges[..=found].rotate_right(1);
            found = 0;
            hole.refresh();
        }
        let edge = &hole.edges[found];
        for &slot in &edge.empty {
            let place = &mut scratch.spans[slot as usize];
            if !place.is_absent() {
                return Err(Stop::Other);
            }
            *place = Span { start: to as u32, end: to as u32 };
        }
        Ok((to + edge.literal.len(), edge.next, span))
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

#[cfg(not(target_arch = "x86_64"))]
mod kernel {
    use super::*;

    pub fn run(predictor: &mut Predictor, run: Run<'_>) -> (usize, Stop) {
        // SAFETY: `Portable` needs nothing of the processor.
        unsafe { predictor.run_with::<Portable>(run) }
    }
}

/// The same code made for each kind of processor.
#[cfg(target_arch = "x86_64")]
mod kernel {
    use super::*;
    use crate::bind::block::x86::{Avx2, Avx512};

    pub fn run(predictor: &mut Predictor, run: Run<'_>) -> (usize, Stop) {
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi1") && is_x86_feature_detected!("bmi2") {
            if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw") {
                // SAFETY: the processor has AVX-512F and BW, BMI1 and BMI2.
                return unsafe { run_avx512(predictor, run) };
            }
            // SAFETY: the processor has AVX2, BMI1 and BMI2.
            return unsafe { run_avx2(predictor, run) };
        }
        // SAFETY: `Portable` needs nothing of the processor.
        unsafe { predictor.run_with::<Portable>(run) }
    }

    /// # Safety
    /// The processor has AVX-512F and BW, BMI1 and BMI2.
    #[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2")]
    unsafe fn run_avx512(predictor: &mut Predictor, run: Run<'_>) -> (usize, Stop) {
        // SAFETY: the caller's promise.
        unsafe { predictor.run_with::<Avx512>(run) }
    }

    /// # Safety
    /// The processor has AVX2, BMI1 and BMI2.
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    unsafe fn run_avx2(predictor: &mut Predictor, run: Run<'_>) -> (usize, Stop) {
        // SAFETY: the caller's promise.
        unsafe { predictor.run_with::<Avx2>(run) }
    }
}
