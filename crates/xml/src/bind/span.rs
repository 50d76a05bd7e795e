//! Writing the packed row of a row that was matched: where its fields stand in the text, and their bytes.

use super::state::State;
use crate::schema::row;
use crate::schema::{Card, Class};

/// A field's place in the bytes read. The end is before the start for a field without text there: one that is absent,
/// or whose text had references and was put together in [`Scratch`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub start: u32,
    pub end: u32,
}

pub(super) const ABSENT: Span = Span { start: u32::MAX, end: 0 };
/// The start of a span whose end is an index into [`Scratch::texts`].
const RESOLVED: u32 = u32::MAX - 1;

impl Span {
    #[inline(always)]
    pub fn is_absent(&self) -> bool {
        self.start == ABSENT.start
    }
}

/// Buffers of a run, used again.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// One for each field of the row.
    pub spans: Vec<Span>,
    /// Outer values, the same for all rows of a run.
    outer: Vec<(u16, Vec<u8>)>,
    outer_size: usize,
    /// The row's texts with references, which are resolved here.
    texts: Vec<Vec<u8>>,
    /// How many of them the row has.
    resolved: usize,
}

/// Writes a row at `start`, all but its header; `most` is at least what its fields hold. Where it ends; `None` when a
/// field is missing or too large.
#[inline(always)]
pub(super) fn write(
    bytes: &[u8],
    class: &Class,
    scratch: &Scratch,
    start: usize,
    most: usize,
    (largest, lenient): (usize, bool),
    out: &mut Vec<u8>,
) -> Option<usize> {
    let table = start + row::HEADER;
    let data = table + 4 * class.fields.len();
    let need = data + most + 16;
    if out.len() < need {
        out.resize(need + (need / 2).min(64 << 10), 0);
    }
    let (head, body) = out.split_at_mut(data);
    let ends = &mut head[table..];
    let mut at = 0;
    for (end, span) in ends.chunks_exact_mut(4).zip(&scratch.spans) {
        if span.start >= span.end {
            return write_any(bytes, class, scratch, (largest, lenient), ends, body).map(|end| data + end);
        }
        let (from, n) = (span.start as usize, (span.end - span.start) as usize);
        // Short ones as one block of 16 bytes, of which those behind the text mean nothing.
        match (bytes.get(from..from + 16), body.get_mut(at..at + 16)) {
            (Some(from), Some(to)) if n <= 16 && n <= largest => to.copy_from_slice(from),
            _ => copy(bytes, span, body, at, largest)?,
        }
        at += n;
        end.copy_from_slice(&(at as u32).to_le_bytes());
    }
    Some(data + at)
}

#[inline(never)]
fn copy(bytes: &[u8], span: &Span, body: &mut [u8], at: usize, largest: usize) -> Option<()> {
    let text = bytes.get(span.start as usize..span.end as usize).filter(|t| t.len() <= largest)?;
    body.get_mut(at..at + text.len())?.copy_from_slice(text);
    Some(())
}

/// The same for rows in which some field has no text of its own: none at all, or an outer value, or one put together.
#[inline(never)]
fn write_any(
    bytes: &[u8],
    class: &Class,
    scratch: &Scratch,
    (largest, lenient): (usize, bool),
    ends: &mut [u8],
    body: &mut [u8],
) -> Option<usize> {
    let mut at = 0;
    for (slot, (end, span)) in ends.chunks_exact_mut(4).zip(&scratch.spans).enumerate() {
        let mut word = at as u32;
        if span.start < span.end {
            copy(bytes, span, body, at, largest)?;
            at += (span.end - span.start) as usize;
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
    Some(at)
}

impl Scratch {
    /// A row with so many fields.
    #[inline(always)]
    pub fn begin(&mut self, fields: usize) {
        if self.spans.len() != fields {
            self.spans.resize(fields, ABSENT);
        }
        self.spans.fill(ABSENT);
        self.resolved = 0;
    }

    pub fn outer_size(&self) -> usize {
        self.outer_size
    }

    /// Puts a text together. What `put` gives, and the span that stands for the text.
    pub fn resolve(&mut self, put: impl FnOnce(&mut Vec<u8>) -> Option<usize>) -> Option<(usize, Span)> {
        if self.resolved == self.texts.len() {
            self.texts.push(Vec::new());
        }
        let text = &mut self.texts[self.resolved];
        text.clear();
        let to = put(text)?;
        let span = Span { start: RESOLVED, end: self.resolved as u32 };
        self.resolved += 1;
        Some((to, span))
    }

    /// The outer values of rows of a class.
    pub fn outers(&mut self, state: &State, class: &Class) {
        self.outer.clear();
        self.outer_size = 0;
        for &(slot, number) in &class.outers {
            if let Some(value) = state.outers.value(number) {
                self.outer_size += value.len();
                self.outer.push((slot, value.to_vec()));
            }
        }
    }

    /// The value of a field for which the row has no text: `Some(None)` when it is absent, `None` when it is missing.
    fn without_text(&self, class: &Class, slot: usize, span: &Span, lenient: bool) -> Option<Option<&[u8]>> {
        if let Some((_, value)) = self.outer.iter().find(|(s, _)| *s as usize == slot) {
            return Some(Some(value));
        }
        if span.start == RESOLVED {
            return Some(self.texts.get(span.end as usize).map(|t| &t[..]));
        }
        let one = class.fields[slot].card == Card::One;
        if class.text.or(class.content) == Some(slot as u16) {
            return Some(one.then_some(b""));
        }
        if !span.is_absent() {
            return Some(Some(b""));
        }
        if one && !lenient { None } else { Some(None) }
    }
}
