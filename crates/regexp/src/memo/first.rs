//! Which ASCII characters a match may begin with: who tries many patterns at one place, as a lexer does, need not ask the engine
//! for each of them, and a search begins at the first of them.
//!
//! Invariant: a character that is not in the set begins no match. Whatever is not understood ([`parse`](super::parse)) gives no set.
//! Bytes from 0x80 on may begin anything, unless all that a match begins with is written as single ASCII characters.

use super::parse::{self, Node};
use crate::engine::{Limits, Program, Walk};
use kumi_text::EncIndex;

/// A set costs that many questions at most; patterns that begin with more kinds of characters have none.
const KINDS: usize = 32;

/// See the module. A pattern that has one matches one character at least.
pub(crate) struct First {
    ascii: [u64; 2],
    high: bool,
    /// All of them, where they are no more than three.
    few: Option<([u8; 3], usize)>,
}

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
        let (mut set, mut high) = ([0; 2], false);
        for k in kinds {
            let text = p.atoms.get(k)?;
            if folding_class(text) {
                return None;
            }
            if let Some(b) = letter(text) {
                set[b as usize / 64] |= 1 << (b % 64);
                continue;
            }
            high = true;
            let program = Program::new(text, 0, enc).ok()?;
            for b in 0..128u8 {
                let mut out = Vec::new();
                // SAFETY: the byte is a whole character in those encodings.
                if unsafe { program.search(&[b], Walk::At(0), Limits::default(), &mut out) }.ok()?.is_some() {
                    set[b as usize / 64] |= 1 << (b % 64);
                }
            }
        }
        let mut first = First { ascii: set, high, few: None };
        let (mut few, mut n) = ([0; 3], 0);
        for b in (0..128).filter(|b| first.may(*b)) {
            if n < 3 {
                few[n] = b;
            }
            n += 1;
        }
        first.few = (n <= 3).then_some((few, n));
        Some(first)
    }
    /// May a match begin with this byte?
    #[inline]
    pub(crate) fn may(&self, b: u8) -> bool {
        if b >= 128 { self.high } else { self.ascii[b as usize / 64] >> (b % 64) & 1 != 0 }
    }
    /// The first byte that a match may begin with. `ascii`: all bytes are below 0x80.
    pub(crate) fn next(&self, bytes: &[u8], ascii: bool) -> Option<usize> {
        match self.few {
            Some((_, 0)) if ascii || !self.high => None,
            Some(([a, ..], 1)) if ascii || !self.high => memchr::memchr(a, bytes),
            Some(([a, b, _], 2)) if ascii || !self.high => memchr::memchr2(a, b, bytes),
            Some(([a, b, c], 3)) if ascii || !self.high => memchr::memchr3(a, b, c, bytes),
            _ => bytes.iter().position(|b| self.may(*b)),
        }
    }
}

/// The ASCII character that an atom's text stands for, where that is plain to see (`Flags::wrap`).
fn letter(text: &[u8]) -> Option<u8> {
    match *text.strip_prefix(b"(?-imx:")?.strip_suffix(b")")? {
        [c] if c.is_ascii_alphanumeric() || b" ,;:<>&=%\"'/_-".contains(&c) => Some(c),
        [b'\\', c] if b"./*+?()[]{}|^$-\\\"&".contains(&c) => Some(c),
        _ => None,
    }
}

/// A bracket without case, in which one character may stand for several that are not in it (`[\W]`, by way of a ligature).
fn folding_class(text: &[u8]) -> bool {
    let colon = text.iter().position(|b| *b == b':').unwrap_or(0);
    let on = text[..colon].split(|b| *b == b'-').next().unwrap_or_default();
    on.contains(&b'i') && text.get(colon + 1) == Some(&b'[')
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
