//! From the engine's text to a tree of what the memoising matcher knows.
//!
//! Invariant: whatever is not certainly read as the engine reads it gives `None`, and the pattern stays the engine's. What matches
//! one character (*atoms*) and what looks without consuming (*looks*) is not understood here: it is cut out, with the
//! options that hold there, for the engine to answer.

use crate::adapt::posix_bracket;
use std::collections::HashMap;

/// Deepest nesting of groups.
const DEEPEST: usize = 100;
/// A count in braces beyond which the pattern stays the engine's.
const MOST: u32 = 1000;

/// See the module.
#[derive(Clone, Debug)]
pub(super) enum Node {
    /// One character of a kind.
    Atom(usize),
    /// An assertion.
    Look(usize),
    /// `(?>...)` without groups in it; and whether it may match nothing.
    Atomic(usize, bool),
    Cat(Vec<Node>),
    Alt(Vec<Node>),
    Group(u32, Box<Node>),
    Repeat {
        of: Box<Node>,
        min: u32,
        max: Option<u32>,
        greedy: bool,
    },
}

impl Node {
    /// May it match without consuming?
    pub(super) fn nullable(&self) -> bool {
        match self {
            Node::Atom(_) => false,
            Node::Look(_) => true,
            Node::Atomic(_, n) => *n,
            Node::Cat(l) => l.iter().all(Node::nullable),
            Node::Alt(l) => l.iter().any(Node::nullable),
            Node::Group(_, n) => n.nullable(),
            Node::Repeat { of, min, .. } => *min == 0 || of.nullable(),
        }
    }
}

/// What was read.
pub(super) struct Parsed {
    pub root: Node,
    /// Texts for the engine.
    pub atoms: Vec<Vec<u8>>,
    pub looks: Vec<Vec<u8>>,
    /// Number of groups.
    pub groups: u32,
    /// Case does not count somewhere.
    pub folds: bool,
}

#[derive(Clone, Copy, PartialEq)]
struct Flags {
    i: bool,
    m: bool,
    x: bool,
}

impl Flags {
    /// `text` as it is read under these options.
    fn wrap(self, text: &[u8]) -> Vec<u8> {
        let letters = [(self.i, b'i'), (self.m, b'm'), (self.x, b'x')];
        let mut out = b"(?".to_vec();
        out.extend(letters.iter().filter(|l| l.0).map(|l| l.1));
        if letters.iter().any(|l| !l.0) {
            out.push(b'-');
            out.extend(letters.iter().filter(|l| !l.0).map(|l| l.1));
        }
        out.push(b':');
        out.extend_from_slice(text);
        // A comment would swallow the parenthesis.
        out.extend_from_slice(if self.x { b"\n)" } else { b")" });
        out
    }
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
    utf8: bool,
    named: bool,
    groups: u32,
    atoms: Vec<Vec<u8>>,
    looks: Vec<Vec<u8>>,
    known: HashMap<Vec<u8>, usize>,
    folds: bool,
}

/// Reads `text`; `named`: it has named groups, so that plain parentheses do not capture.
pub(super) fn parse(text: &[u8], utf8: bool, named: bool, ignorecase: bool, extended: bool, multiline: bool) -> Option<Parsed> {
    let mut p = Parser { text, at: 0, utf8, named, groups: 0, atoms: Vec::new(), looks: Vec::new(), known: HashMap::new(), folds: false };
    let root = p.alternatives(Flags { i: ignorecase, m: multiline, x: extended }, 0)?;
    (p.at == text.len()).then_some(Parsed { root, atoms: p.atoms, looks: p.looks, groups: p.groups, folds: p.folds })
}

impl Parser<'_> {
    fn rest(&self) -> &[u8] {
        &self.text[self.at..]
    }
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }
    fn alternatives(&mut self, f: Flags, depth: usize) -> Option<Node> {
        if depth > DEEPEST {
            return None;
        }
        let mut list = vec![self.sequence(f, depth)?];
        while self.peek() == Some(b'|') {
            self.at += 1;
            list.push(self.sequence(f, depth)?);
        }
        Some(if list.len() == 1 { list.pop()? } else { Node::Alt(list) })
    }
    /// Comments, and blanks that do not count.
    fn skip(&mut self, f: Flags) -> Option<()> {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\n' | b'\r' | b'\x0C') if f.x => self.at += 1,
                Some(b'#') if f.x => self.at += memchr::memchr(b'\n', self.rest()).unwrap_or(self.rest().len()),
                Some(b'(') if self.rest().starts_with(b"(?#") => {
                    let end = memchr::memchr(b')', self.rest())?;
                    if self.rest()[..end].contains(&b'\\') {
                        return None;
                    }
                    self.at += end + 1;
                }
                _ => return Some(()),
            }
        }
    }
    fn sequence(&mut self, f: Flags, depth: usize) -> Option<Node> {
        let mut list = Vec::new();
        loop {
            self.skip(f)?;
            match self.peek() {
                None | Some(b'|' | b')') => return Some(Node::Cat(list)),
                _ => {}
            }
            let one = self.item(f, depth)?;
            self.skip(f)?;
            list.push(self.repeated(one, f)?);
        }
    }
    /// `one` with the quantifier that follows.
    fn repeated(&mut self, one: Node, f: Flags) -> Option<Node> {
        let (min, max) = match self.peek() {
            Some(b'?') => (0, Some(1)),
            Some(b'*') => (0, None),
            Some(b'+') => (1, None),
            Some(b'{') => {
                let rest = &self.text[self.at..];
                let end = memchr::memchr(b'}', rest)?;
                let inner = std::str::from_utf8(&rest[1..end]).ok()?;
                let (low, high) = match inner.split_once(',') {
                    Some(("", "")) => return None,
                    Some((low, high)) => (if low.is_empty() { "0" } else { low }, high),
                    None => (inner, inner),
                };
                let count = |s: &str| s.bytes().all(|b| b.is_ascii_digit()).then(|| s.parse::<u32>().ok())?;
                let low = count(low)?;
                let high = if high.is_empty() { None } else { Some(count(high)?) };
                if low > MOST || high.is_some_and(|h| h > MOST || h < low) || inner.is_empty() {
                    return None;
                }
                self.at += end;
                // What a mark behind it means differs among dialects.
                if matches!(self.text.get(self.at + 1), Some(b'?')) && !inner.contains(',') {
                    return None;
                }
                (low, high)
            }
            _ => return Some(one),
        };
        self.at += 1;
        let greedy = self.peek() != Some(b'?');
        if !greedy {
            self.at += 1;
        }
        self.skip(f)?;
        // The engine makes one of two.
        if matches!(self.peek(), Some(b'?' | b'*' | b'+' | b'{')) || is_repeat(&one) || matches!(one, Node::Look(_)) {
            return None;
        }
        // Of a counted body that may match nothing the engine skips iterations.
        if one.nullable() && !matches!((min, max), (0 | 1, None) | (0, Some(1))) {
            return None;
        }
        Some(Node::Repeat { of: Box::new(one), min, max, greedy })
    }
    fn atom(&mut self, len: usize, f: Flags) -> Option<Node> {
        let text = &self.text[self.at..self.at + len];
        if f.i && (!text.is_ascii() || memchr::memmem::find(text, b"[:").is_some() || memchr::memmem::find(text, b"\\p").is_some()) {
            // One character may stand for several.
            return None;
        }
        self.folds |= f.i;
        let text = f.wrap(text);
        self.at += len;
        let (atoms, n) = (&mut self.atoms, self.known.len());
        let i = *self.known.entry(text.clone()).or_insert_with(|| {
            atoms.push(text);
            n
        });
        Some(Node::Atom(i))
    }
    fn look(&mut self, from: usize, f: Flags) -> usize {
        let text = f.wrap(&self.text[from..self.at]);
        self.looks.push(text);
        self.looks.len() - 1
    }
    fn item(&mut self, f: Flags, depth: usize) -> Option<Node> {
        let rest = self.rest();
        match rest[0] {
            b'(' => self.group(f, depth),
            b'[' => {
                let n = class_len(rest)?;
                self.atom(n, f)
            }
            b'^' | b'$' => {
                self.at += 1;
                Some(Node::Look(self.look(self.at - 1, f)))
            }
            b'*' | b'+' | b'?' | b'{' => None,
            b'\\' => {
                let n = match *rest.get(1)? {
                    b'd' | b'D' | b'w' | b'W' | b's' | b'S' | b'h' | b'H' | b'n' | b't' | b'r' | b'f' | b'v' | b'a' | b'e' => 2,
                    b'p' | b'P' if rest.get(2) == Some(&b'{') && !f.i => memchr::memchr(b'}', rest)? + 1,
                    b'b' | b'B' | b'A' | b'z' | b'Z' => {
                        self.at += 2;
                        return Some(Node::Look(self.look(self.at - 2, f)));
                    }
                    b'x' => {
                        let digits = rest[2..].iter().take(2).take_while(|b| b.is_ascii_hexdigit()).count();
                        if digits == 2 && rest[2] >= b'8' {
                            return None;
                        }
                        if digits == 0 {
                            return None;
                        }
                        2 + digits
                    }
                    c if c.is_ascii_punctuation() || c == b' ' => 2,
                    _ => return None,
                };
                self.atom(n, f)
            }
            c if c < 0x80 || !self.utf8 => self.atom(1, f),
            c => {
                let n = match c {
                    0xC2..=0xDF => 2,
                    0xE0..=0xEF => 3,
                    0xF0..=0xF4 => 4,
                    _ => return None,
                };
                if rest.len() < n { None } else { self.atom(n, f) }
            }
        }
    }
    /// A parenthesis and what is in it.
    fn group(&mut self, f: Flags, depth: usize) -> Option<Node> {
        let from = self.at;
        let rest = self.rest();
        let close = |p: &mut Self, f: Flags| -> Option<Node> {
            let n = p.alternatives(f, depth + 1)?;
            (p.peek() == Some(b')')).then(|| p.at += 1)?;
            Some(n)
        };
        if !rest.starts_with(b"(?") {
            self.at += 1;
            if self.named {
                return close(self, f);
            }
            self.groups += 1;
            let number = self.groups;
            return Some(Node::Group(number, Box::new(close(self, f)?)));
        }
        let look = [&b"(?="[..], b"(?!", b"(?<=", b"(?<!", b"(?>"].into_iter().find(|p| rest.starts_with(p));
        if let Some(p) = look {
            let groups = self.groups;
            let (atoms, looks, known) = (self.atoms.len(), self.looks.len(), self.known.clone());
            self.at += p.len();
            let inner = close(self, f)?;
            if self.groups != groups {
                return None;
            }
            self.atoms.truncate(atoms);
            self.looks.truncate(looks);
            self.known = known;
            let i = self.look(from, f);
            return Some(if p == b"(?>" { Node::Atomic(i, inner.nullable()) } else { Node::Look(i) });
        }
        if rest.starts_with(b"(?:") {
            self.at += 3;
            return close(self, f);
        }
        if rest.starts_with(b"(?<") || rest.starts_with(b"(?'") {
            let end = if rest[2] == b'<' { b'>' } else { b'\'' };
            self.at += 3 + memchr::memchr(end, &rest[3..])? + 1;
            self.groups += 1;
            let number = self.groups;
            return Some(Node::Group(number, Box::new(close(self, f)?)));
        }
        // Options for what is in it; without a colon they hold for what follows in the group around, alternatives included.
        let colon = rest.iter().position(|b| !matches!(b, b'(' | b'?' | b'-' | b'i' | b'm' | b'x'))?;
        let mut g = f;
        let mut on = true;
        for b in &rest[2..colon] {
            match b {
                b'-' => on = false,
                b'i' => g.i = on,
                b'm' => g.m = on,
                b'x' => g.x = on,
                _ => return None,
            }
        }
        let end = rest[colon];
        self.at += colon + 1;
        match end {
            b':' => close(self, g),
            b')' => self.alternatives(g, depth + 1),
            _ => None,
        }
    }
}

/// Is it nothing but a repetition, which the engine would join with one around it?
fn is_repeat(n: &Node) -> bool {
    match n {
        Node::Repeat { .. } => true,
        Node::Cat(l) => matches!(&l[..], [one] if is_repeat(one)),
        _ => false,
    }
}

/// Length of the bracket that `rest` begins with.
fn class_len(rest: &[u8]) -> Option<usize> {
    let first = if rest.get(1) == Some(&b'^') { 2 } else { 1 };
    if rest.get(first) == Some(&b']') {
        return None;
    }
    let (mut i, mut depth) = (0, 0usize);
    while i < rest.len() {
        match rest[i] {
            b'\\' => i += 1,
            b'[' => {
                if let Some(n) = posix_bracket(&rest[i..]).filter(|_| depth > 0) {
                    i += n;
                    continue;
                }
                depth += 1;
                let next = if rest.get(i + 1) == Some(&b'^') { i + 2 } else { i + 1 };
                if rest.get(next) == Some(&b']') {
                    return None;
                }
            }
            b']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(i + 1);
                }
            }
            _ => {}
        }
        i += 1;
    }
    None
}
