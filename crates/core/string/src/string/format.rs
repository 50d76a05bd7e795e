//! `format`: the directives of a format string, one after the other.
//!
//! Invariant: nothing here calls Ruby. Where a directive needs what only Ruby can give (`to_s`,
//! `inspect`, `Integer()`, a hash's default), it is noted as a *need*, and the whole is done
//! again when the prelude has met all needs: `[slot, kind, value, ...]`.

use crate::text::*;
use kumi_num::BigInt;
use kumi_num::format::{self, Spec};
use kumi_num::int::Int;
use kumi_text::encoding::{CodeRange, EncIndex};
use kumi_vm::*;

/// How directives name their arguments; they must not be mixed.
#[derive(Clone, Copy, PartialEq)]
enum Naming {
    None,
    /// One after the other: the number of the last.
    Unnumbered(usize),
    Numbered,
    Named,
}

struct Run<'a> {
    fmt: &'a [u8],
    at: usize,
    args: &'a [Value],
    /// What the prelude converted, by slot.
    met: &'a [Value],
    naming: Naming,
    /// Directives so far; each has four slots: hash entry, value, width, precision.
    directive: usize,
    needs: Vec<Value>,
    out: Vec<u8>,
    enc: EncIndex,
    range: CodeRange,
}

/// Kinds of needs, as the prelude knows them.
const TO_S: i64 = 0;
const INSPECT: i64 = 1;
const INTEGER: i64 = 2;
const FLOAT: i64 = 3;
const KEY: i64 = 4;
const CHARACTER: i64 = 5;
const TO_INT: i64 = 6;
/// What takes long is text that the prelude makes, one number after the other: `[integer, radix]` of digits, `[number, places]` of decimals.
const DIGITS: i64 = 7;
const DECIMALS: i64 = 8;
/// Numbers of more bits are such.
const LONG_BITS: u64 = 64 * 1024;

/// One directive being read.
#[derive(Default)]
struct Directive {
    spec: Spec,
    has_width: bool,
    has_precision: bool,
    flags: bool,
    value: Option<Value>,
    /// The value is not known yet (a need).
    waiting: bool,
    name: Option<Vec<u8>>,
}

impl Run<'_> {
    fn fail<T>(&self, cx: &mut Cx, m: &str) -> Result<T, Exit> {
        Err(cx.arg_error(m))
    }
    /// A value the prelude was asked for, or the question.
    fn need(&mut self, second: bool, kind: i64, v: Value) -> Option<Value> {
        let slot = self.directive * 4 + second as usize;
        if let Some(x) = self.met.get(slot).copied().filter(|x| !x.is_nil()) {
            return Some(x);
        }
        self.needs.extend([Value::fix(slot as i64), Value::fix(kind), v]);
        None
    }
    fn next_arg(&mut self, cx: &mut Cx) -> R {
        let k = match self.naming {
            Naming::None => 1,
            Naming::Unnumbered(k) => k + 1,
            Naming::Numbered => {
                let k = 1;
                return self.fail(cx, &format!("unnumbered({k}) mixed with numbered"));
            }
            Naming::Named => return self.fail(cx, "unnumbered(1) mixed with named"),
        };
        self.naming = Naming::Unnumbered(k);
        match self.args.get(k - 1) {
            Some(v) => Ok(*v),
            None => self.fail(cx, "too few arguments"),
        }
    }
    fn nth_arg(&mut self, cx: &mut Cx, k: usize) -> R {
        match self.naming {
            Naming::Unnumbered(p) => return self.fail(cx, &format!("numbered({k}) after unnumbered({p})")),
            Naming::Named => return self.fail(cx, &format!("numbered({k}) after named")),
            _ => {}
        }
        if k == 0 {
            return self.fail(cx, "invalid index - 0$");
        }
        self.naming = Naming::Numbered;
        match self.args.get(k - 1) {
            Some(v) => Ok(*v),
            None => self.fail(cx, "too few arguments"),
        }
    }
    /// `<name>` or `{name}` from the bracket on.
    fn named(&mut self, cx: &mut Cx, d: &mut Directive) -> Result<(), Exit> {
        let open = self.fmt[self.at];
        let close = if open == b'<' { b'>' } else { b'}' };
        let Some(len) = memchr::memchr(close, &self.fmt[self.at..]) else {
            return self.fail(cx, "malformed name - unmatched parenthesis");
        };
        let shown = self.fmt[self.at..self.at + len + 1].to_vec();
        let name = shown[1..len].to_vec();
        let text = String::from_utf8_lossy(&shown).into_owned();
        if let Some(old) = &d.name {
            let m = format!("named{text} after <{}>", String::from_utf8_lossy(old));
            return self.fail(cx, &m);
        }
        match self.naming {
            Naming::Unnumbered(k) => return self.fail(cx, &format!("named{text} after unnumbered({k})")),
            Naming::Numbered => return self.fail(cx, &format!("named{text} after numbered")),
            _ => self.naming = Naming::Named,
        }
        self.at += len;
        let hash = match self.args {
            [h] => h.as_hash(),
            _ => None,
        };
        let Some(h) = hash else { return self.fail(cx, "one hash required") };
        let key = Value::sym(cx.sym_of(&name)?);
        d.name = Some(name);
        let found = cx.hash_find(h, key)?.and_then(|i| h.h.at(i));
        match found {
            Some(e) => d.value = Some(e.val),
            None => {
                let slot = self.directive * 4;
                match self.met.get(slot).and_then(|v| v.as_array()) {
                    Some(a) => d.value = a.get(0),
                    None => {
                        let t = cx.str(&text);
                        let pair = cx.array(&[h.val(), key, t]);
                        self.need(false, KEY, pair);
                        d.waiting = true;
                    }
                }
            }
        }
        Ok(())
    }
    fn number(&mut self, cx: &mut Cx, what: &str) -> Result<usize, Exit> {
        let mut n: usize = 0;
        while let Some(c @ b'0'..=b'9') = self.fmt.get(self.at) {
            n = n * 10 + (c - b'0') as usize;
            if n > i32::MAX as usize {
                return self.fail(cx, &format!("{what} too big"));
            }
            self.at += 1;
        }
        if self.at >= self.fmt.len() {
            return self.fail(cx, "malformed format string - %*[0-9]");
        }
        Ok(n)
    }
    /// The argument of a `*`, from the star on.
    fn star(&mut self, cx: &mut Cx, precision: bool) -> Result<i64, Exit> {
        self.at += 1;
        let mark = self.at;
        let mut k = 0usize;
        while let Some(c @ b'0'..=b'9') = self.fmt.get(self.at) {
            k = k.saturating_mul(10).saturating_add((c - b'0') as usize);
            self.at += 1;
        }
        let v = if self.at > mark && self.fmt.get(self.at) == Some(&b'$') {
            self.at += 1;
            self.nth_arg(cx, k)?
        } else {
            self.at = mark;
            self.next_arg(cx)?
        };
        let one = [v];
        match cx.arg_i64(&one, 0) {
            Ok(i) => Ok(i),
            Err(Exit::Convert(..)) => {
                let slot = self.directive * 4 + 2 + precision as usize;
                match self.met.get(slot).and_then(|x| x.as_fix()) {
                    Some(i) => Ok(i),
                    None => {
                        self.needs.extend([Value::fix(slot as i64), Value::fix(TO_INT), v]);
                        Ok(0)
                    }
                }
            }
            Err(e) => Err(e),
        }
    }
    fn value(&mut self, cx: &mut Cx, d: &Directive) -> R {
        match d.value {
            Some(v) => Ok(v),
            None => self.next_arg(cx),
        }
    }
    /// Pads to the width in characters.
    fn put_text(&mut self, cx: &mut Cx, d: &Directive, s: Str) -> Result<(), Exit> {
        let e = enc(s);
        if e != self.enc {
            let ascii = self.range == CodeRange::SevenBit;
            let whole = EncIndex::compatible(self.enc, &self.out, ascii && self.out.is_ascii(), e, s.bytes(), is_ascii(s));
            // The format string counts, not only what was written so far.
            let fmt_ascii = self.fmt.is_ascii() && self.enc.is_ascii_compatible();
            match whole {
                Some(x) if fmt_ascii || x == self.enc => self.enc = x,
                _ => return Err(incompatible(cx, self.enc, e)),
            }
        }
        if !is_ascii(s) {
            self.range = CodeRange::Unknown;
        }
        let mut b = s.bytes();
        let mut n = char_count(s);
        if let Some(p) = d.spec.precision {
            if p < n {
                let r = char_span(s, 0, p as i64).unwrap_or(0..0);
                b = &b[r];
                n = p;
            }
        }
        self.pad(cx, d, b, n)
    }
    fn pad(&mut self, cx: &mut Cx, d: &Directive, b: &[u8], chars: usize) -> Result<(), Exit> {
        let fill = d.spec.width.saturating_sub(chars);
        cx.check_size(fill)?;
        if !d.spec.minus {
            self.out.resize(self.out.len() + fill, b' ');
        }
        self.out.put_all(b);
        if d.spec.minus {
            self.out.resize(self.out.len() + fill, b' ');
        }
        Ok(())
    }

    fn run(&mut self, cx: &mut Cx) -> Result<(), Exit> {
        while self.at < self.fmt.len() {
            let n = memchr::memchr(b'%', &self.fmt[self.at..]).unwrap_or(self.fmt.len() - self.at);
            self.out.put_all(&self.fmt[self.at..self.at + n]);
            self.at += n;
            if self.at >= self.fmt.len() {
                break;
            }
            self.at += 1;
            self.directive(cx)?;
            self.directive += 1;
        }
        Ok(())
    }
    fn directive(&mut self, cx: &mut Cx) -> Result<(), Exit> {
        let mut d = Directive::default();
        loop {
            let Some(&c) = self.fmt.get(self.at) else {
                if d.value.is_some() || d.flags {
                    let t = if d.flags { "% " } else { "%*[0-9]$" };
                    return self.fail(cx, &format!("malformed format string - {t}"));
                }
                return self.fail(cx, "incomplete format specifier; use %% (double %) instead");
            };
            match c {
                b'\n' | 0 => {
                    let t = if c == 0 { "\\0".to_string() } else { "\n".into() };
                    return self.fail(cx, &format!("malformed format string - %{t}"));
                }
                b' ' | b'#' | b'+' | b'-' | b'0' => {
                    if d.has_width {
                        return self.fail(cx, "flag after width");
                    }
                    if d.has_precision {
                        return self.fail(cx, "flag after precision");
                    }
                    match c {
                        b' ' => d.spec.space = true,
                        b'#' => d.spec.alt = true,
                        b'+' => d.spec.plus = true,
                        b'-' => d.spec.minus = true,
                        _ => d.spec.zero = true,
                    }
                    d.flags = true;
                    self.at += 1;
                }
                b'1'..=b'9' => {
                    let n = self.number(cx, "width")?;
                    if self.fmt.get(self.at) == Some(&b'$') {
                        if d.value.is_some() || d.waiting {
                            return self.fail(cx, &format!("value given twice - {n}$"));
                        }
                        d.value = Some(self.nth_arg(cx, n)?);
                        self.at += 1;
                        continue;
                    }
                    self.check_width(cx, &d)?;
                    d.has_width = true;
                    d.spec.width = n;
                }
                b'<' | b'{' => {
                    self.named(cx, &mut d)?;
                    self.at += 1;
                    if c == b'{' {
                        return self.string(cx, &d, false);
                    }
                    if self.at >= self.fmt.len() {
                        // `%<a>` and nothing behind it.
                        self.out.put(b'%');
                        return Ok(());
                    }
                }
                b'*' => {
                    self.check_width(cx, &d)?;
                    let w = self.star(cx, false)?;
                    if w < 0 {
                        d.spec.minus = true;
                    }
                    if w.unsigned_abs() > i32::MAX as u64 {
                        return self.fail(cx, "width too big");
                    }
                    d.spec.width = w.unsigned_abs() as usize;
                    d.has_width = true;
                }
                b'.' => {
                    if d.has_precision {
                        return self.fail(cx, "precision given twice");
                    }
                    d.has_precision = true;
                    self.at += 1;
                    if self.fmt.get(self.at) == Some(&b'*') {
                        let p = self.star(cx, true)?;
                        if p >= 0 {
                            if p > i32::MAX as i64 {
                                return self.fail(cx, "precision too big");
                            }
                            d.spec.precision = Some(p as usize);
                        }
                        continue;
                    }
                    d.spec.precision = Some(self.number(cx, "precision")?);
                }
                b'%' => {
                    if d.flags || d.has_width || d.has_precision || d.value.is_some() {
                        return self.fail(cx, "invalid format character - %");
                    }
                    self.at += 1;
                    self.out.put(b'%');
                    return Ok(());
                }
                b's' | b'p' => {
                    self.at += 1;
                    return self.string(cx, &d, c == b'p');
                }
                b'c' => {
                    self.at += 1;
                    return self.character(cx, &mut d);
                }
                b'd' | b'i' | b'u' | b'o' | b'x' | b'X' | b'b' | b'B' => {
                    self.at += 1;
                    return self.integer(cx, &d, c);
                }
                b'f' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
                    self.at += 1;
                    return self.float(cx, &d, c);
                }
                _ => {
                    let n = self.enc.char_len(&self.fmt[self.at..]).step().max(1);
                    let t = String::from_utf8_lossy(&self.fmt[self.at..self.at + n]).into_owned();
                    return self.fail(cx, &format!("malformed format string - %{t}"));
                }
            }
        }
    }
    fn string(&mut self, cx: &mut Cx, d: &Directive, inspect: bool) -> Result<(), Exit> {
        if d.waiting {
            return Ok(());
        }
        let v = self.value(cx, d)?;
        let s = if inspect {
            match self.need(true, INSPECT, v) {
                Some(x) => x,
                None => return Ok(()),
            }
        } else if v.as_str().is_some() {
            v
        } else if let Some(y) = v.as_sym() {
            crate::names::name_str(cx, y)
        } else if let Some(i) = v.as_fix().filter(|_| cx.builtin(v, sym::TO_S)) {
            cx.str_ascii(&i.to_string())
        } else {
            match self.need(true, TO_S, v) {
                Some(x) => x,
                None => return Ok(()),
            }
        };
        let s = me(cx, s)?;
        self.put_text(cx, d, s)
    }
    fn character(&mut self, cx: &mut Cx, d: &mut Directive) -> Result<(), Exit> {
        if d.waiting {
            return Ok(());
        }
        let v = self.value(cx, d)?;
        d.spec.precision = None;
        if let Some(s) = v.as_str() {
            let c = match char_span(s, 0, 1) {
                Some(r) if !r.is_empty() => piece(cx, s, r),
                _ => cx.str_enc(b"", enc(s)),
            };
            let c = me(cx, c)?;
            return self.put_text(cx, d, c);
        }
        if v.is_nil() {
            return Err(cx.type_error("no implicit conversion of nil into Integer"));
        }
        let one = [v];
        let c = match cx.arg_i64(&one, 0) {
            Ok(i) => i,
            Err(Exit::Convert(..)) => match self.need(true, CHARACTER, v) {
                Some(x) => match x.as_fix() {
                    Some(i) => i,
                    None => {
                        let s = me(cx, x)?;
                        return self.put_text(cx, d, s);
                    }
                },
                None => return Ok(()),
            },
            Err(e) => return Err(e),
        };
        let c = cx.c_int(c)?;
        let ch = match u32::try_from(c).ok().and_then(|c| self.enc.encode(c)) {
            Some(ch) => ch,
            None if (-128..0).contains(&c) => kumi_text::encoding::CharBuf::new(&[c as u8]),
            None => {
                if self.enc == EncIndex::US_ASCII && (128..256).contains(&c) {
                    self.enc = EncIndex::BINARY;
                    kumi_text::encoding::CharBuf::new(&[c as u8])
                } else {
                    return Err(match crate::text::code_bytes(cx, c as i64, self.enc) {
                        Err(e) => e,
                        Ok(_) => cx.arg_error("%c requires a character"),
                    });
                }
            }
        };
        self.range = CodeRange::Unknown;
        self.pad(cx, d, &ch, 1)
    }
    fn check_width(&mut self, cx: &mut Cx, d: &Directive) -> Result<(), Exit> {
        match (d.has_width, d.has_precision) {
            (true, _) => self.fail(cx, "width given twice"),
            (_, true) => self.fail(cx, "width after precision"),
            _ => Ok(()),
        }
    }
    fn integer(&mut self, cx: &mut Cx, d: &Directive, c: u8) -> Result<(), Exit> {
        if d.waiting {
            return Ok(());
        }
        let mut v = self.value(cx, d)?;
        if let Some(f) = v.as_float() {
            if !f.is_finite() {
                let t = if f.is_nan() {
                    "NaN"
                } else if f > 0.0 {
                    "Infinity"
                } else {
                    "-Infinity"
                };
                return Err(cx.raise_msg(cx.k.float_domain_error, t));
            }
            v = match BigInt::from_f64(f) {
                Some(n) => match n.to_i64() {
                    Some(i) => cx.int(i),
                    None => cx.big(n),
                },
                None => Value::fix(0),
            };
        }
        // The digits of a huge one come after it.
        let digits = self.met.get(self.directive * 4 + 1).and_then(|x| x.as_array());
        if let Some(x) = digits {
            let (Some(sign), Some(t)) = (x.get(0), x.get(1).and_then(|t| t.as_str())) else { return Err(cx.type_error("String expected")) };
            let t = String::from_utf8_lossy(t.bytes()).into_owned();
            cx.check_size(d.spec.width.max(d.spec.precision.unwrap_or(0)))?;
            match format::integer_of_digits(&d.spec, c, sign.truthy(), t) {
                Ok(t) => self.out.put_all(t.as_bytes()),
                Err(_) => return self.fail(cx, "width too big"),
            }
            return Ok(());
        }
        if !v.is_fix() && v.as_big().is_none() {
            match self.need(true, INTEGER, v) {
                Some(x) => v = x,
                None => return Ok(()),
            }
        }
        if let Some(b) = v.as_big().filter(|b| b.n.magnitude_bits() > LONG_BITS) {
            let complement = format::shows_complement(&d.spec, c, b.n.is_negative());
            let wanted = cx.array(&[v, Value::fix(format::radix(c) as i64), Value::bool(complement)]);
            let slot = self.directive * 4 + 1;
            self.needs.extend([Value::fix(slot as i64), Value::fix(DIGITS), wanted]);
            return Ok(());
        }
        let n = match (v.as_fix(), v.as_big()) {
            (Some(i), _) => Int::Small(i),
            (_, Some(b)) => Int::Big(b.n.clone()),
            _ => return Err(cx.type_error("Integer expected")),
        };
        cx.check_size(d.spec.width.max(d.spec.precision.unwrap_or(0)))?;
        match format::integer(&d.spec, c, &n) {
            Ok(t) => self.out.put_all(t.as_bytes()),
            Err(_) => return self.fail(cx, "width too big"),
        }
        Ok(())
    }
    fn float(&mut self, cx: &mut Cx, d: &Directive, c: u8) -> Result<(), Exit> {
        if d.waiting {
            return Ok(());
        }
        let mut v = self.value(cx, d)?;
        cx.check_size(d.spec.width.max(d.spec.precision.unwrap_or(0)))?;
        if c == b'f' {
            let parts = if v.is_fix() || v.as_big().is_some() {
                Some((v, Value::fix(1)))
            } else {
                v.cell::<PairObj>().filter(|_| cx.real_class(v) == cx.k.rational).map(|p| (p.a, p.b))
            };
            if let Some((n, over)) = parts {
                let size = |v: Value| v.as_big().map_or(0, |b| b.n.magnitude_bits());
                let places = d.spec.precision.unwrap_or(6);
                if size(n).max(size(over)).max(places as u64 * 3) > LONG_BITS {
                    let wanted = cx.array(&[v, Value::fix(places as i64)]);
                    let Some(t) = self.need(true, DECIMALS, wanted) else { return Ok(()) };
                    let Some(t) = t.as_str() else { return Err(cx.type_error("String expected")) };
                    let negative = n.as_fix().map_or_else(|| n.as_big().is_some_and(|b| b.n.is_negative()), |i| i < 0);
                    match format::ratio_of_digits(&d.spec, negative, String::from_utf8_lossy(t.bytes()).into_owned()) {
                        Ok(t) => self.out.put_all(t.as_bytes()),
                        Err(_) => return self.fail(cx, "precision too big"),
                    }
                    return Ok(());
                }
                let big = |v: Value| v.as_big().map_or_else(|| BigInt::from_i64(v.as_fix().unwrap_or(0)), |b| b.n.clone());
                match format::ratio(&d.spec, &big(n), &big(over)) {
                    Ok(t) => self.out.put_all(t.as_bytes()),
                    Err(_) => return self.fail(cx, "precision too big"),
                }
                return Ok(());
            }
        }
        let f = match (v.as_fix(), v.as_big(), v.as_float()) {
            (Some(i), _, _) => i as f64,
            (_, Some(b), _) => b.n.to_f64(),
            (_, _, Some(f)) => f,
            _ => {
                match self.need(true, FLOAT, v) {
                    Some(x) => v = x,
                    None => return Ok(()),
                }
                v.as_float().unwrap_or(0.0)
            }
        };
        match format::float(&d.spec, c, f) {
            Ok(t) => self.out.put_all(t.as_bytes()),
            Err(_) => return self.fail(cx, "precision too big"),
        }
        Ok(())
    }
}

/// The formatted string, or an Array of needs.
fn run(cx: &mut Cx, fmt: Str, args: &[Value], met: &[Value]) -> R {
    if !enc(fmt).is_ascii_compatible() {
        let m = format!("ASCII incompatible encoding: {}", enc(fmt).name());
        return Err(cx.raise_msg(cx.k.compatibility_error, &m));
    }
    let text = Vec::copy(fmt.bytes());
    let mut r = Run {
        fmt: &text,
        at: 0,
        args,
        met,
        naming: Naming::None,
        directive: 0,
        needs: Vec::new(),
        out: Vec::room(text.len() + 16),
        enc: enc(fmt),
        range: range(fmt),
    };
    r.run(cx)?;
    let (out, e, needs, naming) = (r.out, r.enc, r.needs, r.naming);
    let known = if r.range == CodeRange::SevenBit && out.is_ascii() { CodeRange::SevenBit } else { CodeRange::Unknown };
    if !needs.is_empty() {
        return Ok(cx.array_vec(needs));
    }
    let used = match naming {
        Naming::None => 0,
        Naming::Unnumbered(k) => k,
        _ => args.len(),
    };
    let text = make_vec(cx, out, e, known);
    // The prelude warns of arguments that no directive took.
    let only_keywords = args.len() == 1 && args[0].as_hash().is_some();
    Ok(if used < args.len() && !only_keywords { cx.array(&[text]) } else { text })
}
/// `format(fmt, *args)`: when nothing has to be asked of Ruby.
fn sprintf(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let Some((first, rest)) = args.split_first() else { return Err(cx.arg_error("too few arguments")) };
    let Some(fmt) = first.as_str() else { return Err(Exit::Miss) };
    let v = run(cx, fmt, rest, &[])?;
    if v.as_array().is_some() { Err(Exit::Miss) } else { Ok(v) }
}
/// `fmt % arg`
fn percent(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let fmt = me(cx, recv)?;
    let v = match args[0].as_array() {
        Some(a) => {
            let list = a.seen().to_vec();
            run(cx, fmt, &list, &[])?
        }
        None if args[0].is_heap() && args[0].as_str().is_none() && args[0].as_hash().is_none() && args[0].as_float().is_none() => {
            return Err(Exit::Miss);
        }
        None => run(cx, fmt, args, &[])?,
    };
    if v.as_array().is_some() { Err(Exit::Miss) } else { Ok(v) }
}
/// `__format(fmt, args array, met array)`: String, or an Array of needs `[slot, kind, value, ...]`; kinds:
/// 0 to_s, 1 inspect, 2 Integer(), 3 Float(), 4 hash entry (`[hash, key, shown]`), 5 a character, 6 to_int, 7 digits, 8 decimals. An
/// Array of one String: done, but there were more arguments.
fn format_m(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let fmt = me(cx, args[0])?;
    let (Some(list), Some(met)) = (args[1].as_array(), args[2].as_array()) else { return Err(cx.type_error("Array expected")) };
    let (list, met) = (list.seen().to_vec(), met.seen().to_vec());
    run(cx, fmt, &list, &met)
}

pub static TABLE: &[NativeDef] = &[
    private("Kernel", "format", 0, -1, sprintf),
    private("Kernel", "sprintf", 0, -1, sprintf),
    n("Kernel.", "format", 0, -1, sprintf),
    n("Kernel.", "sprintf", 0, -1, sprintf),
    n("String", "%", 1, 1, percent),
    intrinsic("__format", 3, 3, format_m),
];
