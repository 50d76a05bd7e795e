//! A matcher that remembers where it has failed, for patterns on which the engine would try the same again and again.
//!
//! It backtracks as the engine does, in the same order, so it finds the same match with the same groups; but a choice that was
//! made once at a place is not made there again, so the time is bounded by the length of the text times that of the pattern.
//! Which single characters match, and what looks around and atomic groups say, is asked of the engine.
//!
//! Invariant: what follows from a choice depends on the instruction, the place and `moved` alone: groups are written, never
//! read. `moved` has a bit for each loop around the instruction whose body may match nothing: has this iteration consumed?

pub(crate) mod first;
mod parse;

use crate::engine::{Limits, Program, SearchError, Walk};
use kumi_text::EncIndex;
use kumi_text::encoding::Kind;
use parse::Node;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

enum Inst {
    Atom(usize),
    Look(usize),
    Atomic(usize),
    Save(usize),
    /// First this way, then that; its number among the choices.
    Choose(u32, u32, usize),
    Jump(u32),
    /// An iteration of the loop begins.
    Turn(u8),
    /// It ends: another one, if this one has consumed.
    Again(u8, u32),
    Found,
}

/// Longest program.
const LONGEST: usize = 20_000;
/// Loops in loops whose bodies may match nothing.
const NESTED: u8 = 5;
/// Bits of memory, and places to come back to, that one search may take.
const MEMORY: usize = 1 << 31;
const PLACES: usize = 50_000_000;
/// Steps of one look.
const LOOK_STEPS: u64 = 2_000_000;

/// What matches a character.
struct Atom {
    /// By the byte, of those that are characters by themselves.
    single: [bool; 256],
    program: Program,
}

/// A pattern for one encoding.
pub(crate) struct Memo {
    code: Vec<Inst>,
    atoms: Vec<Atom>,
    looks: Vec<Program>,
    /// Choices, and loops in loops.
    choices: usize,
    nested: u8,
    slots: usize,
    utf8: bool,
    /// Only for ASCII subjects: elsewhere several characters may be one without case.
    folds: bool,
}

/// A place to come back to: an instruction, or beyond [`SLOT`] a group's bound to be put back.
struct Back {
    pc: u32,
    at: u32,
    moved: u8,
}

const SLOT: u32 = 1 << 31;
const NOWHERE: u32 = u32::MAX;

struct Compiler {
    code: Vec<Inst>,
    choices: usize,
    nested: u8,
}

impl Compiler {
    fn at(&self) -> u32 {
        self.code.len() as u32
    }
    fn choose(&mut self) -> usize {
        self.code.push(Inst::Choose(0, 0, self.choices));
        self.choices += 1;
        self.code.len() - 1
    }
    /// The choice at `i`: into what follows it, or to `out`.
    fn set(&mut self, i: usize, out: u32, greedy: bool) {
        if let Inst::Choose(a, b, _) = &mut self.code[i] {
            (*a, *b) = if greedy { (i as u32 + 1, out) } else { (out, i as u32 + 1) };
        }
    }
    /// `level`: loops around whose bodies may match nothing.
    fn emit(&mut self, n: &Node, level: u8) -> Option<()> {
        if self.code.len() > LONGEST {
            return None;
        }
        match n {
            Node::Atom(i) => self.code.push(Inst::Atom(*i)),
            Node::Look(i) => self.code.push(Inst::Look(*i)),
            Node::Atomic(i, _) => self.code.push(Inst::Atomic(*i)),
            Node::Cat(l) => l.iter().try_for_each(|n| self.emit(n, level))?,
            Node::Alt(l) => {
                let mut ends = Vec::new();
                for (i, n) in l.iter().enumerate() {
                    if i + 1 == l.len() {
                        self.emit(n, level)?;
                        break;
                    }
                    let c = self.choose();
                    self.emit(n, level)?;
                    ends.push(self.code.len());
                    self.code.push(Inst::Jump(0));
                    let out = self.at();
                    self.set(c, out, true);
                }
                let end = self.at();
                for e in ends {
                    self.code[e] = Inst::Jump(end);
                }
            }
            Node::Group(g, n) => {
                self.code.push(Inst::Save(*g as usize * 2));
                self.emit(n, level)?;
                self.code.push(Inst::Save(*g as usize * 2 + 1));
            }
            Node::Repeat { of, min, max, greedy } => {
                for _ in 0..*min {
                    self.emit(of, level)?;
                }
                match max {
                    None => {
                        let start = self.at();
                        let c = self.choose();
                        if of.nullable() {
                            if level >= NESTED {
                                return None;
                            }
                            self.nested = self.nested.max(level + 1);
                            self.code.push(Inst::Turn(level));
                            self.emit(of, level + 1)?;
                            self.code.push(Inst::Again(level, start));
                        } else {
                            self.emit(of, level)?;
                            self.code.push(Inst::Jump(start));
                        }
                        let out = self.at();
                        self.set(c, out, *greedy);
                    }
                    Some(max) => {
                        let mut all = Vec::new();
                        for _ in *min..*max {
                            all.push(self.choose());
                            self.emit(of, level)?;
                        }
                        let out = self.at();
                        for c in all {
                            self.set(c, out, *greedy);
                        }
                    }
                }
            }
        }
        Some(())
    }
}

impl Memo {
    /// The matcher for what `text` means to the engine; `None` where it would not be certain to give the same answers.
    pub(crate) fn new(text: &[u8], flags: (bool, bool, bool), enc: EncIndex, whole: &Program) -> Option<Memo> {
        let utf8 = match enc.kind() {
            Kind::Utf8 => true,
            Kind::Binary | Kind::Ascii | Kind::Single => false,
            _ => return None,
        };
        let (i, x, m) = flags;
        let p = parse::parse(text, utf8, !whole.names().is_empty(), i, x, m)?;
        if p.groups as usize != whole.captures() {
            return None;
        }
        let mut c = Compiler { code: Vec::new(), choices: 0, nested: 0 };
        c.emit(&p.root, 0)?;
        c.code.push(Inst::Found);
        let ask = |t: &Vec<u8>| Program::new(t, 0, enc).ok();
        let looks = p.looks.iter().map(ask).collect::<Option<Vec<_>>>()?;
        let mut atoms = Vec::with_capacity(p.atoms.len());
        for t in &p.atoms {
            let program = ask(t)?;
            let mut single = [false; 256];
            for b in 0..if utf8 { 128 } else { 256 } {
                let mut out = Vec::new();
                // SAFETY: the byte is a whole character: below 128 in UTF-8, any one in the other encodings that come here.
                let found = unsafe { program.search(&[b as u8], Walk::At(0), Limits::default(), &mut out) }.ok()?;
                single[b] = found.is_some() && out.first() == Some(&(0, 1));
                if found.is_some() && !single[b] {
                    return None;
                }
            }
            atoms.push(Atom { single, program });
        }
        let slots = (p.groups as usize + 1) * 2;
        Some(Memo { code: c.code, atoms, looks, choices: c.choices, nested: c.nested, slots, utf8, folds: p.folds })
    }

    /// Searches as the engine would; `None`: not in this text.
    ///
    /// # Safety
    /// As [`Program::search`], in the encoding that the matcher was made for.
    pub(crate) unsafe fn search(
        &self,
        subject: &[u8],
        walk: Walk,
        limits: Limits<'_>,
        out: &mut Vec<(isize, isize)>,
    ) -> Option<Result<Option<usize>, SearchError>> {
        let (first, last) = match walk {
            Walk::Forward(a, b) => (a, b.max(a)),
            Walk::Backward(a) => (0, a),
            Walk::At(a) => (a, a),
        };
        let len = subject.len();
        if matches!(walk, Walk::Forward(a, b) if a < b && b < len) {
            // There the engine's matches end where the places do.
            return None;
        }
        let bits = self.choices.checked_shl(self.nested as u32)?.checked_mul(len - first.min(len) + 1)?;
        if self.folds && !subject.is_ascii() || last > len || len >= i32::MAX as usize || bits > MEMORY {
            return None;
        }
        let mut run = Run {
            memo: self,
            subject,
            base: first,
            width: len - first + 1,
            tried: vec![0; bits / 64 + 1],
            back: Vec::new(),
            slots: vec![NOWHERE; self.slots],
            scratch: Vec::new(),
            limits,
            steps: 0,
        };
        Some(run.walk(walk, last, out))
    }
}

struct Run<'a> {
    memo: &'a Memo,
    subject: &'a [u8],
    /// The first place that is tried, and how many there are from there to the end.
    base: usize,
    width: usize,
    /// Choices that were made: by number, `moved` and place.
    tried: Vec<u64>,
    back: Vec<Back>,
    slots: Vec<u32>,
    scratch: Vec<(isize, isize)>,
    limits: Limits<'a>,
    steps: u32,
}

impl Run<'_> {
    fn walk(&mut self, walk: Walk, last: usize, out: &mut Vec<(isize, isize)>) -> Result<Option<usize>, SearchError> {
        let len = self.subject.len();
        let mut at = walk.start();
        loop {
            if self.matches(at)? {
                out.clear();
                let bound = |s: u32| if s == NOWHERE { -1 } else { s as isize };
                out.extend(self.slots.chunks(2).map(|s| if s[1] == NOWHERE { (-1, -1) } else { (bound(s[0]), bound(s[1])) }));
                return Ok(Some(at));
            }
            match walk {
                Walk::At(_) => return Ok(None),
                Walk::Forward(..) => {
                    at += self.char_len(at);
                    if at > len || at >= last && last < len {
                        return Ok(None);
                    }
                }
                Walk::Backward(_) => {
                    if at == 0 {
                        return Ok(None);
                    }
                    at -= 1;
                    while self.memo.utf8 && at > 0 && self.subject[at] & 0xC0 == 0x80 {
                        at -= 1;
                    }
                }
            }
        }
    }
    fn char_len(&self, at: usize) -> usize {
        match self.subject.get(at) {
            Some(0xC0..) if self.memo.utf8 => EncIndex::UTF_8.char_len(&self.subject[at..]).step().max(1),
            _ => 1,
        }
    }
    /// Is it time to give up?
    #[cold]
    fn look_around(&self) -> Result<(), SearchError> {
        if self.limits.stop.is_some_and(|s| s.load(Relaxed)) || self.back.len() > PLACES {
            return Err(SearchError::Steps);
        }
        match self.limits.deadline {
            Some(d) if Instant::now() >= d => Err(SearchError::Timeout),
            _ => Ok(()),
        }
    }
    /// What the engine says at a place: where the match ends.
    fn ask(&mut self, p: &Program, at: usize) -> Result<Option<usize>, SearchError> {
        let limits = Limits { steps: Some(LOOK_STEPS), deadline: None, ..self.limits };
        // SAFETY: the promise of `Memo::search`, who alone makes a `Run`; in UTF-8 and encodings of single bytes any place is a start.
        let found = unsafe { p.search(self.subject, Walk::At(at), limits, &mut self.scratch)? };
        Ok(found.and_then(|_| usize::try_from(self.scratch.first()?.1).ok()))
    }
    fn matches(&mut self, start: usize) -> Result<bool, SearchError> {
        let memo = self.memo;
        self.back.push(Back { pc: 0, at: start as u32, moved: 0 });
        while let Some(b) = self.back.pop() {
            if b.pc >= SLOT {
                self.slots[(b.pc - SLOT) as usize] = b.at;
                continue;
            }
            let (mut pc, mut at, mut moved) = (b.pc, b.at as usize, b.moved);
            loop {
                self.steps = self.steps.wrapping_add(1);
                if self.steps.is_multiple_of(1 << 14) {
                    self.look_around()?;
                }
                let mut next = pc + 1;
                match &memo.code[pc as usize] {
                    Inst::Atom(i) => {
                        let Some(&c) = self.subject.get(at) else { break };
                        let a = &memo.atoms[*i];
                        let end = if c < 0x80 || !memo.utf8 {
                            if a.single[c as usize] { at + 1 } else { break }
                        } else {
                            match self.ask(&a.program, at)? {
                                Some(end) => end,
                                None => break,
                            }
                        };
                        at = end;
                        moved = u8::MAX;
                    }
                    Inst::Look(i) => {
                        if self.ask(&memo.looks[*i], at)?.is_none() {
                            break;
                        }
                    }
                    Inst::Atomic(i) => {
                        let Some(end) = self.ask(&memo.looks[*i], at)? else { break };
                        if end != at {
                            moved = u8::MAX;
                        }
                        at = end;
                    }
                    Inst::Save(s) => {
                        self.back.push(Back { pc: SLOT + *s as u32, at: self.slots[*s], moved: 0 });
                        self.slots[*s] = at as u32;
                    }
                    Inst::Choose(a, b, n) => {
                        let which = (*n << memo.nested) | (moved as usize & ((1 << memo.nested) - 1));
                        let bit = which * self.width + (at - self.base);
                        let word = &mut self.tried[bit / 64];
                        if *word >> (bit % 64) & 1 != 0 {
                            break;
                        }
                        *word |= 1 << (bit % 64);
                        self.back.push(Back { pc: *b, at: at as u32, moved });
                        next = *a;
                    }
                    Inst::Jump(to) => next = *to,
                    Inst::Turn(l) => moved &= !(1 << l),
                    Inst::Again(l, to) => {
                        if moved >> l & 1 != 0 {
                            next = *to;
                        }
                    }
                    Inst::Found => {
                        (self.slots[0], self.slots[1]) = (start as u32, at as u32);
                        self.back.clear();
                        return Ok(true);
                    }
                }
                pc = next;
            }
        }
        Ok(false)
    }
}
