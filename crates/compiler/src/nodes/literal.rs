//! Literals: numbers, strings, symbols, regular expressions, arrays, hashes, ranges.
//!
//! Long literals are built in chunks, so that their length never needs as many registers.

use crate::Compiler;
use crate::emit::Dst;
use kumi_bytecode::{Lit, Op, RE_EUC, RE_FIXED, RE_I, RE_M, RE_NONE, RE_SJIS, RE_X};
use kumi_num::BigInt;
use kumi_text::EncIndex;
use ruby_prism::*;

/// Elements evaluated at once.
const CHUNK: usize = 100;

/// A piece of an interpolated literal.
enum Part<'pr> {
    Text(Vec<u8>, EncIndex),
    Code(Node<'pr>),
}

/// An integer as a machine word, where it fits.
fn small(negative: bool, digits: &[u32]) -> Option<i64> {
    let mut v: u128 = 0;
    for (i, &d) in digits.iter().enumerate() {
        if d != 0 && i >= 2 {
            return None;
        }
        if i < 2 {
            v |= (d as u128) << (32 * i);
        }
    }
    let v = if negative { -(v as i128) } else { v as i128 };
    i64::try_from(v).ok()
}

macro_rules! regex_flags {
    ($n:expr) => {{
        let n = $n;
        let mut bits = 0;
        if n.is_ignore_case() {
            bits |= RE_I;
        }
        if n.is_extended() {
            bits |= RE_X;
        }
        if n.is_multi_line() {
            bits |= RE_M;
        }
        if n.is_utf_8() {
            bits |= RE_FIXED;
        }
        if n.is_euc_jp() {
            bits |= RE_FIXED | RE_EUC;
        }
        if n.is_windows_31j() {
            bits |= RE_FIXED | RE_SJIS;
        }
        if n.is_ascii_8bit() {
            bits |= RE_NONE;
        }
        let enc = if n.is_euc_jp() {
            Some(EncIndex::EUC_JP)
        } else if n.is_windows_31j() {
            Some(EncIndex::WINDOWS_31J)
        } else if n.is_utf_8() || n.is_forced_utf8_encoding() {
            Some(EncIndex::UTF_8)
        } else if n.is_forced_binary_encoding() {
            Some(EncIndex::BINARY)
        } else if n.is_forced_us_ascii_encoding() {
            Some(EncIndex::US_ASCII)
        } else {
            None
        };
        (bits, enc)
    }};
}

impl<'e, 'pr> Compiler<'e, 'pr> {
    // ---- numbers

    pub fn integer(&mut self, n: &IntegerNode<'pr>) -> Lit {
        let v = n.value();
        let (negative, digits) = v.to_u32_digits();
        if let Some(i) = small(negative, digits) {
            return Lit::Int(i);
        }
        Lit::Big(BigInt::from_u32s(negative, digits))
    }

    pub fn rational(&mut self, n: &RationalNode<'pr>) -> Lit {
        let (num, den) = (n.numerator(), n.denominator());
        let (a, ad) = num.to_u32_digits();
        let (b, bd) = den.to_u32_digits();
        Lit::Rational(BigInt::from_u32s(a, ad), BigInt::from_u32s(b, bd))
    }

    pub fn imaginary(&mut self, n: &ImaginaryNode<'pr>) -> Lit {
        let inner = n.numeric();
        let part = match self.static_number(&inner) {
            Some(l) => l,
            None => match inner.as_rational_node() {
                Some(r) => self.rational(&r),
                None => Lit::Int(0),
            },
        };
        Lit::Imaginary(Box::new(part))
    }

    fn static_number(&mut self, n: &Node<'pr>) -> Option<Lit> {
        if let Some(i) = n.as_integer_node() {
            return Some(self.integer(&i));
        }
        n.as_float_node().map(|f| Lit::Float(f.value()))
    }

    // ---- strings

    pub fn string_encoding(&self, n: &StringNode<'pr>) -> EncIndex {
        if n.is_forced_utf8_encoding() {
            EncIndex::UTF_8
        } else if n.is_forced_binary_encoding() {
            EncIndex::BINARY
        } else {
            self.enc
        }
    }

    pub fn string_node(&mut self, n: &StringNode<'pr>, dst: u16) {
        let enc = self.string_encoding(n);
        let bytes = n.unescaped().into();
        self.load_lit(dst, if n.is_frozen() { Lit::FrozenStr(bytes, enc) } else { Lit::Str(bytes, enc) });
    }

    /// Flattens adjacent and nested literals; neighbouring text is joined.
    fn parts(&mut self, list: NodeList<'pr>) -> Vec<Part<'pr>> {
        let mut out = Vec::new();
        self.flatten(list, &mut out);
        out
    }

    fn flatten(&mut self, list: NodeList<'pr>, out: &mut Vec<Part<'pr>>) {
        if !self.enter() {
            return;
        }
        for n in list.iter() {
            if let Some(s) = n.as_string_node() {
                let enc = self.string_encoding(&s);
                match out.last_mut() {
                    Some(Part::Text(t, e)) => {
                        // An ASCII-only piece does not decide the encoding.
                        if *e != enc && t.is_ascii() {
                            *e = enc;
                        }
                        t.extend_from_slice(s.unescaped());
                    }
                    _ => out.push(Part::Text(s.unescaped().to_vec(), enc)),
                }
            } else if let Some(i) = n.as_interpolated_string_node() {
                self.flatten(i.parts(), out);
            } else {
                out.push(Part::Code(n));
            }
        }
        self.leave();
    }

    /// The text of an interpolated literal that turned out to have no code in it.
    fn static_text(parts: &[Part<'pr>]) -> Option<(Vec<u8>, Option<EncIndex>)> {
        match parts {
            [] => Some((Vec::new(), None)),
            [Part::Text(t, e)] => Some((t.clone(), Some(*e))),
            _ => None,
        }
    }

    /// Evaluates parts as strings into consecutive registers: first register and count. Where they are too many, a `Concat` with
    /// `x` joins the first of them already.
    fn part_registers(&mut self, parts: &[Part<'pr>], x: u8) -> (u16, u16) {
        if parts.len() <= CHUNK {
            let first = self.mark() as u16;
            for p in parts {
                let t = self.temp();
                self.part(p, t);
            }
            return (first, parts.len() as u16);
        }
        let acc = self.temp();
        let mut started = false;
        for chunk in parts.chunks(CHUNK) {
            let mark = self.mark();
            let first = if started {
                let t = self.temp();
                self.mov(t, acc);
                t
            } else {
                self.mark() as u16
            };
            for p in chunk {
                let t = self.temp();
                self.part(p, t);
            }
            let count = chunk.len() as u16 + started as u16;
            self.emit(Op::Concat, started as u8 | x, acc, first, count);
            started = true;
            self.release(mark);
        }
        (acc, 1)
    }

    fn part(&mut self, p: &Part<'pr>, t: u16) {
        match p {
            Part::Text(b, e) => self.load_lit(t, Lit::FrozenStr(b.clone().into(), *e)),
            Part::Code(n) => {
                self.at(n.location().start());
                match n.as_embedded_statements_node() {
                    Some(s) => self.stmts(s.statements(), Dst::Reg(t)),
                    None => self.value(n, t),
                }
                self.emit(Op::ToS, 0, t, t, 0);
            }
        }
    }

    pub fn interpolated_string(&mut self, n: &InterpolatedStringNode<'pr>, dst: u16) {
        let parts = self.parts(n.parts());
        if let Some((text, enc)) = Self::static_text(&parts) {
            let enc = enc.unwrap_or(self.enc);
            let l = if n.is_frozen() { Lit::FrozenStr(text.into(), enc) } else { Lit::Str(text.into(), enc) };
            return self.load_lit(dst, l);
        }
        self.concat(parts, dst);
    }

    /// A string of the text's encoding, whatever that of its parts is, while these are ASCII. In the library it has that of the
    /// first part: there it stands for text that CRuby's C code makes.
    fn concat(&mut self, mut parts: Vec<Part<'pr>>, dst: u16) {
        let mark = self.mark();
        let own = self.opts.system || self.opts.library;
        if !own && self.enc != EncIndex::UTF_8 {
            parts.insert(0, Part::Text(Vec::new(), self.enc));
        }
        let as_first = own || self.enc != EncIndex::UTF_8;
        let (first, count) = self.part_registers(&parts, as_first as u8);
        self.emit(Op::Concat, (as_first || parts.len() > CHUNK) as u8, dst, first, count);
        self.release(mark);
    }

    pub fn interpolated_symbol(&mut self, n: &InterpolatedSymbolNode<'pr>, dst: u16) {
        let parts = self.parts(n.parts());
        if let Some((text, _)) = Self::static_text(&parts) {
            return self.load_sym(dst, &text);
        }
        let t = self.temp();
        self.concat(parts, t);
        self.emit(Op::Intern, 0, dst, t, 0);
    }

    pub fn xstring_node(&mut self, n: &XStringNode<'pr>, dst: u16) {
        let t = self.temp();
        self.load_lit(t, Lit::FrozenStr(n.unescaped().into(), self.enc));
        self.send_self(dst, b"`", &[t]);
    }

    pub fn interpolated_xstring(&mut self, n: &InterpolatedXStringNode<'pr>, dst: u16) {
        let parts = self.parts(n.parts());
        let t = self.temp();
        self.concat(parts, t);
        self.at(n.location().start());
        self.send_self(dst, b"`", &[t]);
    }

    // ---- regular expressions

    fn regex_lit(&mut self, source: &[u8], bits: u8, enc: Option<EncIndex>) -> Lit {
        let enc = enc.unwrap_or(self.enc);
        // In a file it is found when the literal is reached: one bad literal must not cost the others.
        if self.opts.kind == kumi_bytecode::Kind::Eval
            && let Some(message) = self.env.regex_error(source, bits, enc)
        {
            self.fail(&message);
        }
        let line = self.cur.cur_line;
        let said = self.env.regex_complaints(source, bits).into_iter();
        self.complaints.extend(said.map(|text| crate::Warning { line, text, verbose: true }));
        Lit::Regex(source.into(), bits, enc)
    }

    pub fn regex_node(&mut self, n: &RegularExpressionNode<'pr>, dst: u16) {
        let (bits, enc) = regex_flags!(n);
        let l = self.regex_lit(n.unescaped(), bits, enc);
        self.load_lit(dst, l);
    }

    pub fn interpolated_regex(&mut self, n: &InterpolatedRegularExpressionNode<'pr>, dst: u16) {
        let (bits, enc) = regex_flags!(n);
        self.regex_parts(n.parts(), bits, enc, n.is_once(), n.location().start(), dst);
    }

    fn regex_parts(&mut self, list: NodeList<'pr>, bits: u8, enc: Option<EncIndex>, once: bool, offset: u32, dst: u16) {
        let parts = self.parts(list);
        if let Some((text, e)) = Self::static_text(&parts) {
            let l = self.regex_lit(&text, bits, enc.or(e));
            return self.load_lit(dst, l);
        }
        let done = self.label();
        let slot = if once { Some(self.once_slot()) } else { None };
        if let Some(s) = slot {
            // Set: on to the jump behind the next one.
            let make = self.label();
            self.emit(Op::OnceGet, 0, dst, s, 1);
            self.jump(make);
            self.jump(done);
            self.bind(make);
        }
        let mark = self.mark();
        let (first, count) = self.part_registers(&parts, 1);
        self.at(offset);
        self.emit(Op::Regex, bits, dst, first, count);
        self.release(mark);
        if let Some(s) = slot {
            self.emit(Op::OnceSet, 0, dst, s, 0);
        }
        self.bind(done);
    }

    /// `if /re/`: against the last line read.
    pub fn match_last_line(&mut self, n: &MatchLastLineNode<'pr>, dst: u16) {
        let (bits, enc) = regex_flags!(n);
        let (re, line) = (self.temp(), self.temp());
        let l = self.regex_lit(n.unescaped(), bits, enc);
        self.load_lit(re, l);
        self.global_get(b"$_", line);
        self.send_simple(dst, re, b"=~", &[line]);
    }

    pub fn interpolated_match_last_line(&mut self, n: &InterpolatedMatchLastLineNode<'pr>, dst: u16) {
        let (bits, enc) = regex_flags!(n);
        let (re, line) = (self.temp(), self.temp());
        self.regex_parts(n.parts(), bits, enc, n.is_once(), n.location().start(), re);
        self.global_get(b"$_", line);
        self.send_simple(dst, re, b"=~", &[line]);
    }

    // ---- collections

    /// R[dst] = an Array of the elements, splats included. Without `copy` a lone splat may be the very Array given.
    pub fn array(&mut self, list: &[Node<'pr>], dst: u16, copy: bool) {
        let mut started = false;
        let mut i = 0;
        while i < list.len() {
            let mark = self.mark();
            if let Some(s) = list[i].as_splat_node() {
                let t = if started { self.temp() } else { dst };
                match s.expression() {
                    Some(e) => self.value(&e, t),
                    None => self.load_anonymous(b"*", t),
                }
                if started {
                    self.emit(Op::Splat, 0, t, t, 0);
                    self.emit(Op::ArrCat, 0, dst, t, 0);
                } else {
                    self.emit(Op::Splat, (copy || list.len() > 1) as u8, dst, t, 0);
                }
                i += 1;
            } else {
                let run = list[i..].iter().take(CHUNK).take_while(|n| !matches!(n, Node::SplatNode { .. })).count();
                let first = self.mark() as u16;
                for n in &list[i..i + run] {
                    let t = self.temp();
                    self.value(n, t);
                }
                match (started, run) {
                    (false, _) => self.emit(Op::Array, 0, dst, first, run as u16),
                    (true, 1) => self.emit(Op::ArrPush, 0, dst, first, 0),
                    (true, _) => {
                        self.emit(Op::Array, 0, first, first, run as u16);
                        self.emit(Op::ArrCat, 0, dst, first, 0);
                    }
                }
                i += run;
            }
            started = true;
            self.release(mark);
        }
        if !started {
            self.emit(Op::Array, 0, dst, dst, 0);
        }
    }

    /// R[dst] = a Hash of the elements.
    pub fn hash(&mut self, list: &[Node<'pr>], dst: u16) {
        let mut started = false;
        let mut i = 0;
        while i < list.len() {
            let mark = self.mark();
            if let Some(s) = list[i].as_assoc_splat_node() {
                if !started {
                    self.emit(Op::Hash, 0, dst, dst, 0);
                }
                let t = self.temp();
                match s.value() {
                    Some(v) => self.value(&v, t),
                    None => self.load_anonymous(b"**", t),
                }
                self.emit(Op::HashMerge, 0, dst, t, 0);
                i += 1;
            } else {
                let limit = if started { 1 } else { CHUNK / 2 };
                let run = list[i..].iter().take(limit).take_while(|n| !matches!(n, Node::AssocSplatNode { .. })).count();
                let first = self.mark() as u16;
                for n in &list[i..i + run] {
                    let (k, v) = (self.temp(), self.temp());
                    if let Some(a) = n.as_assoc_node() {
                        self.hash_key(&a.key(), k);
                        self.value(&a.value(), v);
                    }
                }
                if started {
                    self.emit(Op::HashPut, 0, dst, first, first + 1);
                } else {
                    self.emit(Op::Hash, 0, dst, first, run as u16 * 2);
                }
                i += run;
            }
            started = true;
            self.release(mark);
        }
        if !started {
            self.emit(Op::Hash, 0, dst, dst, 0);
        }
    }

    fn hash_key(&mut self, n: &Node<'pr>, dst: u16) {
        match n.as_string_node() {
            Some(s) => {
                let l = self.frozen_string(&s);
                self.load_lit(dst, l);
            }
            None => self.value(n, dst),
        }
    }

    pub fn range_node(&mut self, n: &RangeNode<'pr>, dst: u16) {
        let exclusive = n.is_exclude_end();
        let (l, r) = (n.left(), n.right());
        let end = |c: &mut Self, n: &Option<Node<'pr>>| match n {
            None => Some(Lit::Nil),
            Some(Node::NilNode { .. }) => Some(Lit::Nil),
            Some(n) => match c.static_number(n) {
                Some(l @ Lit::Int(_)) => Some(l),
                _ => None,
            },
        };
        if let (Some(a), Some(b)) = (end(self, &l), end(self, &r)) {
            return self.load_lit(dst, Lit::Range(Box::new(a), Box::new(b), exclusive));
        }
        let a = match &l {
            Some(n) => match &r {
                Some(r) => self.operand_before(n, &[r]),
                None => self.operand(n),
            },
            None => {
                let t = self.temp();
                self.nil(t);
                t
            }
        };
        // Both ends stand next to each other only by chance: the instruction takes any two registers.
        let b = match &r {
            Some(n) => self.operand(n),
            None => {
                let t = self.temp();
                self.nil(t);
                t
            }
        };
        self.emit(Op::Range, exclusive as u8, dst, a, b);
    }
}
