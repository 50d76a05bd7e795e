//! The open elements.
//!
//! `entries[..depth]` are open, the innermost last; `entries[depth]` is the one that ended last, still to be
//! reported. The names of the open ones stand in `names`, one after the other up to `end`, each kept with
//! [`WIDE`] bytes of room behind it, so that a short one is copied and compared with loads of a fixed size.

use crate::input::chars::text;
use crate::tokenizer::namespaces::NONE;

/// The longest name that the quick way takes.
pub const WIDE: usize = 32;

/// An open element.
#[derive(Clone, Copy, Debug)]
pub struct Open {
    /// Its name, in `names`.
    name: usize,
    len: u32,
    /// Namespace declarations that end with it.
    pub declared: u32,
    /// Bytes before the local part, and the namespace in the upper half: one field, because a processor can't forward
    /// two stores to one load, which is what the compiler makes of two fields.
    qualified: u64,
}

impl Open {
    pub fn qualify(&mut self, local: u32, namespace: u32) {
        self.qualified = local as u64 | (namespace as u64) << 32;
    }

    pub fn local(&self) -> u32 {
        self.qualified as u32
    }

    pub fn namespace(&self) -> u32 {
        (self.qualified >> 32) as u32
    }
}

#[derive(Debug)]
pub struct Elements {
    entries: Vec<Open>,
    depth: usize,
    names: Vec<u8>,
    end: usize,
}

impl Elements {
    pub fn new() -> Elements {
        let none = Open { name: 0, len: 0, declared: 0, qualified: (NONE as u64) << 32 };
        Elements { entries: vec![none; 64], depth: 0, names: vec![0; 1024], end: 0 }
    }

    #[inline]
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Bytes of all their names.
    pub fn names_len(&self) -> usize {
        self.end
    }

    pub fn innermost(&self) -> Option<&Open> {
        self.entries[..self.depth].last()
    }

    pub fn innermost_mut(&mut self) -> Option<&mut Open> {
        self.entries[..self.depth].last_mut()
    }

    /// The one at that depth, the root's being 0.
    pub fn get(&self, depth: usize) -> Option<&Open> {
        self.entries[..self.depth].get(depth)
    }

    /// The one that ended last.
    #[inline]
    pub fn ended(&self) -> &Open {
        &self.entries[self.depth]
    }

    #[inline]
    pub fn raw(&self, open: &Open) -> &str {
        // SAFETY: names are copied here from start tags, whole, and an `Open` says where one of them stands.
        unsafe { text(&self.names[open.name..open.name + open.len as usize]) }
    }

    /// Opens one. False, and nothing done: there is no room for the quick way.
    #[inline(always)]
    pub fn push_short(&mut self, name: &[u8; WIDE], len: usize, local: u32, namespace: u32) -> bool {
        let (start, depth) = (self.end, self.depth);
        let Some(room) = self.names.get_mut(start..start + WIDE) else { return false };
        // One more entry, for `ended` when this is the innermost.
        if depth + 1 >= self.entries.len() {
            return false;
        }
        room.copy_from_slice(name);
        self.end = start + len;
        let qualified = local as u64 | (namespace as u64) << 32;
        self.entries[depth] = Open { name: start, len: len as u32, declared: 0, qualified };
        self.depth = depth + 1;
        true
    }

    pub fn push(&mut self, name: &[u8], namespace: u32) {
        let start = self.end;
        if self.names.len() < start + name.len() + 2 * WIDE {
            self.names.resize((start + name.len() + 2 * WIDE) * 2, 0);
        }
        if self.depth + 2 >= self.entries.len() {
            let last = self.entries[self.depth];
            self.entries.resize(self.entries.len() * 2, last);
        }
        self.names[start..start + name.len()].copy_from_slice(name);
        self.end = start + name.len();
        let qualified = (namespace as u64) << 32;
        self.entries[self.depth] = Open { name: start, len: name.len() as u32, declared: 0, qualified };
        self.depth += 1;
    }

    /// Ends the innermost one.
    pub fn pop(&mut self) {
        if let Some(open) = self.innermost() {
            self.end = open.name;
            self.depth -= 1;
        }
    }

    /// Ends the innermost one if it isn't the root, declares nothing, and `bytes[at..end]` begin with its name and `>`: the
    /// index after that, or 0.
    #[inline(always)]
    pub fn pop_if(&mut self, bytes: &[u8], at: usize, end: usize) -> usize {
        if self.depth < 2 {
            return 0;
        }
        let Some(open) = self.entries.get(self.depth - 1) else { return 0 };
        let len = open.len as usize;
        let close = at + len;
        if close < end
            && bytes[close] == b'>'
            && open.declared == 0
            && let (Some(a), Some(b)) = (bytes.get(at..), self.names.get(open.name..))
            && same(a, b, len)
        {
            self.end = open.name;
            self.depth -= 1;
            return close + 1;
        }
        0
    }
}

/// Whether the first `len` bytes are the same.
#[inline(always)]
fn same(a: &[u8], b: &[u8], len: usize) -> bool {
    if len > WIDE || len == 0 || a.len() < WIDE || b.len() < WIDE {
        return a.len() >= len && b.len() >= len && a[..len] == b[..len];
    }
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::*;
        // SAFETY: SSE2 is part of x86-64; the loads need no alignment and are of the first `WIDE` (32) bytes, which both slices have.
        let differ = unsafe {
            let eq = |i: usize| {
                let x = _mm_loadu_si128(a.as_ptr().add(i).cast());
                let y = _mm_loadu_si128(b.as_ptr().add(i).cast());
                _mm_movemask_epi8(_mm_cmpeq_epi8(x, y)) as u32
            };
            !(eq(0) | eq(16) << 16)
        };
        // Bits from `len` on don't matter.
        (differ as u64) << (64 - len) == 0
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        a[..len] == b[..len]
    }
}
