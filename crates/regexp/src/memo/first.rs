//! Which ASCII characters a match may begin with: who tries many patterns at one place, as a lexer does, need not ask the engine
//! for each of them.
//!
//! Invariant: a character that is not in the set begins no match. Whatever is not understood ([`parse`](super::parse)) gives no set.
//! Bytes from 0x80 on may begin anything.

use super::parse::{self, Node};
use crate::engine::{Limits, Program, Walk};
use kumi_text::EncIndex;

/// A set costs that many questions at most; patterns that begin with more kinds of characters have none.
const KINDS: usize = 32;

/// See the module. A pattern that has one matches one character at least.
pub(crate) struct First([u64; 2]);

impl First {
    /// Of the pattern that `text` means to the engine in `enc`, UTF-8 or ASCII or binary; `None`: it may match nothing, or is not understood.
    pub(crate) fn new(text: &[u8], flags: (bool, bool, bool), enc: EncIndex, whole: &Program) -> Option<First> {
        let (i, x, m) = flags;
        let p = parse::parse(text, enc.is_utf8(), !whole.names().is_empty(), i, x, m)?;
        if p.groups as usize != whole.captures() {
            return None;
        }
        let mut kinds = Vec::new();
        if begins(&p.root, &mut kinds)? || kinds.len() > KINDS {
            return None;
        }
        let mut set = [0; 2];
        for k in kinds {
            let program = Program::new(p.atoms.get(k)?, 0, enc).ok()?;
            for b in 0..128u8 {
                let mut out = Vec::new();
                // SAFETY: the byte is a whole character in those encodings.
                if unsafe { program.search(&[b], Walk::At(0), Limits::default(), &mut out) }.ok()?.is_some() {
                    set[b as usize / 64] |= 1 << (b % 64);
                }
            }
        }
        Some(First(set))
    }
    /// May a match begin with this byte?
    #[inline]
    pub(crate) fn may(&self, b: u8) -> bool {
        b >= 128 || self.0[b as usize / 64] >> (b % 64) & 1 != 0
    }
}

/// Adds the kinds of characters that `n` may begin with; may it match nothing?
fn begins(n: &Node, to: &mut Vec<usize>) -> Option<bool> {
    Some(match n {
        Node::Atom(i) => {
            if !to.contains(i) {
                to.push(*i);
            }
            false
        }
        Node::Look(_) => true,
        // Its text is the engine's affair.
        Node::Atomic(..) => return None,
        Node::Cat(l) => {
            for n in l {
                if !begins(n, to)? {
                    return Some(false);
                }
            }
            true
        }
        Node::Alt(l) => {
            let mut empty = false;
            for n in l {
                empty |= begins(n, to)?;
            }
            empty
        }
        Node::Group(_, n) => begins(n, to)?,
        Node::Repeat { of, min, .. } => begins(of, to)? || *min == 0,
    })
}
