//! Lines and columns, counted only as far as somebody asked or the bytes are about to go.

use crate::error::Position;
use std::cell::Cell;

/// A place that was counted.
#[derive(Clone, Copy, Debug)]
struct Mark {
    offset: u64,
    line: u64,
    column: u64,
}

impl Mark {
    /// The place after `bytes`, which follow this one.
    fn after(self, bytes: &[u8]) -> Mark {
        let mut mark = Mark { offset: self.offset + bytes.len() as u64, ..self };
        let tail = match memchr::memrchr(b'\n', bytes) {
            Some(last) => {
                mark.line += newlines(&bytes[..last]) + 1;
                mark.column = 1;
                &bytes[last + 1..]
            }
            None => bytes,
        };
        mark.column += characters(tail);
        mark
    }
}

fn newlines(bytes: &[u8]) -> u64 {
    bytes.chunks(128).map(|chunk| chunk.iter().map(|&b| (b == b'\n') as u8).sum::<u8>() as u64).sum()
}

fn characters(bytes: &[u8]) -> u64 {
    bytes.chunks(128).map(|chunk| chunk.iter().map(|&b| (b as i8 >= -0x40) as u8).sum::<u8>() as u64).sum()
}

/// Counts from `start`, which never lies behind the first byte still held; `latest` is the place last asked for.
#[derive(Debug)]
pub struct Lines {
    start: Mark,
    latest: Cell<Mark>,
}

impl Lines {
    pub fn new() -> Lines {
        let mark = Mark { offset: 0, line: 1, column: 1 };
        Lines { start: mark, latest: Cell::new(mark) }
    }

    /// The place at `offset` of the document, of which `bytes` are held from `base` on.
    pub fn position(&self, bytes: &[u8], base: u64, offset: u64) -> Position {
        let mark = self.mark(bytes, base, offset);
        self.latest.set(mark);
        Position { line: mark.line, column: mark.column, offset: mark.offset }
    }

    /// Somebody counted already.
    pub fn know(&self, position: Position) {
        self.latest.set(Mark { offset: position.offset, line: position.line, column: position.column });
    }

    /// Everything before `offset` is about to go.
    pub fn forget(&mut self, bytes: &[u8], base: u64, offset: u64) {
        self.start = self.mark(bytes, base, offset);
        if self.latest.get().offset < offset {
            self.latest.set(self.start);
        }
    }

    fn mark(&self, bytes: &[u8], base: u64, offset: u64) -> Mark {
        let latest = self.latest.get();
        let from = if latest.offset <= offset { latest } else { self.start };
        let offset = offset.clamp(from.offset, base + bytes.len() as u64);
        from.after(&bytes[(from.offset - base) as usize..(offset - base) as usize])
    }
}
