//! JSON text to values: `__json_parse`.
//!
//! One pass over bytes with a stack of open containers, so that nesting costs heap,
//! not native stack. Strings are checked for UTF-8 by the caller. Keys are shared: the
//! same key text gives the same frozen String within one document.

use kumi_vm::*;
use rustc_hash::FxHashMap;

struct Options {
    symbols: bool,
    allow_nan: bool,
    max_nesting: usize,
    freeze: bool,
    trailing_comma: bool,
    control_chars: bool,
}

/// What is open around the current position.
enum Open {
    Array(Vec<Value>),
    /// The hash and the key that waits for its value.
    Object(Gc<HashObj>, Value),
}

struct Parser<'a> {
    s: &'a [u8],
    i: usize,
    o: Options,
    keys: FxHashMap<Vec<u8>, Value>,
}

fn fail(cx: &mut Cx, class: &str, msg: &str, line: usize, column: usize) -> Exit {
    let c = cx.const_path(class).and_then(|v| v.as_class()).unwrap_or(cx.k.standard_error);
    let e = cx.make_exc(c, msg);
    if line > 0 {
        let (l, k) = (cx.intern("@line"), cx.intern("@column"));
        cx.ivar_set(e, l, Value::fix(line as i64));
        cx.ivar_set(e, k, Value::fix(column as i64));
    }
    cx.raise(e)
}

impl Parser<'_> {
    fn error(&self, cx: &mut Cx, what: &str, at: usize) -> Exit {
        let at = at.min(self.s.len());
        let before = &self.s[..at];
        let line = before.iter().filter(|b| **b == b'\n').count() + 1;
        let column = at - before.iter().rposition(|b| *b == b'\n').map_or(0, |p| p + 1) + 1;
        fail(cx, "JSON::ParserError", &format!("{what} at line {line} column {column}"), line, column)
    }
    fn snippet(&self, at: usize) -> String {
        let rest = &self.s[at.min(self.s.len())..];
        let mut end = rest.len().min(32);
        while end > 0 && end < rest.len() && rest[end] & 0xc0 == 0x80 {
            end -= 1;
        }
        format!("'{}'", String::from_utf8_lossy(&rest[..end]))
    }
    fn unexpected(&self, cx: &mut Cx) -> Exit {
        if self.i >= self.s.len() {
            return self.error(cx, "unexpected end of input", self.i);
        }
        let t = format!("unexpected character: {}", self.snippet(self.i));
        self.error(cx, &t, self.i)
    }
    /// Skips white space and comments.
    fn space(&mut self, cx: &mut Cx) -> Result<(), Exit> {
        while let Some(&c) = self.s.get(self.i) {
            match c {
                b' ' | b'\t' | b'\n' | b'\r' => self.i += 1,
                b'/' => {
                    let from = self.i;
                    match self.s.get(self.i + 1) {
                        Some(b'/') => {
                            while self.s.get(self.i).is_some_and(|c| *c != b'\n') {
                                self.i += 1;
                            }
                        }
                        Some(b'*') => match self.s[self.i + 2..].windows(2).position(|w| w == b"*/") {
                            Some(p) => self.i += p + 4,
                            None => {
                                return Err(self.error(cx, "unexpected end of input, expected closing '*/'", from));
                            }
                        },
                        _ => return Err(self.unexpected(cx)),
                    }
                }
                _ => break,
            }
        }
        Ok(())
    }
    fn word(&mut self, w: &[u8]) -> bool {
        if self.s[self.i..].starts_with(w) {
            self.i += w.len();
            return true;
        }
        false
    }

    fn number(&mut self, cx: &mut Cx) -> R {
        let from = self.i;
        let s = self.s;
        let digits = |mut i: usize| {
            while s.get(i).is_some_and(u8::is_ascii_digit) {
                i += 1;
            }
            i
        };
        let mut i = from;
        if s[i] == b'-' {
            i += 1;
            if s[i..].starts_with(b"Infinity") {
                if !self.o.allow_nan {
                    let t = format!("unexpected token {}", self.snippet(from));
                    return Err(self.error(cx, &t, from));
                }
                self.i = i + 8;
                return Ok(cx.float(f64::NEG_INFINITY));
            }
        }
        let int_from = i;
        i = digits(i);
        let bad = |p: &Self, cx: &mut Cx, end: usize| {
            let t = format!("invalid number: '{}'", String::from_utf8_lossy(&p.s[from..end]));
            p.error(cx, &t, from)
        };
        if i == int_from || (s[int_from] == b'0' && i > int_from + 1) {
            return Err(bad(self, cx, i));
        }
        let mut float = false;
        if s.get(i) == Some(&b'.') {
            let k = digits(i + 1);
            if k == i + 1 {
                return Err(bad(self, cx, k));
            }
            float = true;
            i = k;
        }
        if matches!(s.get(i), Some(b'e' | b'E')) {
            let mut k = i + 1;
            if matches!(s.get(k), Some(b'+' | b'-')) {
                k += 1;
            }
            let e = digits(k);
            if e == k {
                return Err(bad(self, cx, e));
            }
            float = true;
            i = e;
        }
        self.i = i;
        let text = std::str::from_utf8(&s[from..i]).unwrap_or("0");
        if float {
            return Ok(cx.float(text.parse::<f64>().unwrap_or(f64::NAN)));
        }
        if let Ok(n) = text.parse::<i64>() {
            return Ok(cx.int(n));
        }
        let (neg, d) = match text.strip_prefix('-') {
            Some(d) => (true, d),
            None => (false, text),
        };
        match kumi_num::BigInt::from_str_radix(d.as_bytes(), 10) {
            Some(n) => Ok(cx.big(if neg { n.neg() } else { n })),
            None => Err(bad(self, cx, i)),
        }
    }

    /// The bytes of a string literal; `self.i` is behind the opening quote.
    fn text(&mut self, cx: &mut Cx) -> Result<std::borrow::Cow<'static, [u8]>, Exit> {
        let from = self.i;
        let mut i = from;
        loop {
            match self.s.get(i) {
                None => return Err(self.error(cx, "unexpected end of input, expected closing \"", i)),
                Some(b'"') => {
                    self.i = i + 1;
                    return Ok(std::borrow::Cow::Owned(self.s[from..i].to_vec()));
                }
                Some(b'\\') => break,
                Some(c) if *c < 0x20 && !self.o.control_chars => {
                    self.i = i;
                    let t = format!("invalid ASCII control character in string: {}", self.snippet(i));
                    return Err(self.error(cx, &t, i));
                }
                Some(_) => i += 1,
            }
        }
        let mut out = self.s[from..i].to_vec();
        loop {
            match self.s.get(i) {
                None => return Err(self.error(cx, "unexpected end of input, expected closing \"", i)),
                Some(b'"') => {
                    self.i = i + 1;
                    return Ok(std::borrow::Cow::Owned(out));
                }
                Some(b'\\') => {
                    let Some(&c) = self.s.get(i + 1) else {
                        return Err(self.error(cx, "unexpected end of input, expected closing \"", i));
                    };
                    i += 2;
                    match c {
                        b'b' => out.push(8),
                        b'f' => out.push(12),
                        b'n' => out.push(b'\n'),
                        b'r' => out.push(b'\r'),
                        b't' => out.push(b'\t'),
                        b'"' | b'\\' | b'/' => out.push(c),
                        b'u' => {
                            let Some(mut u) = hex4(self.s, i) else {
                                let t = format!("incomplete unicode character escape sequence at {}", self.snippet(i - 2));
                                return Err(self.error(cx, &t, i - 2));
                            };
                            i += 4;
                            if (0xd800..0xdc00).contains(&u) && self.s[i..].starts_with(b"\\u") {
                                if let Some(low) = hex4(self.s, i + 2).filter(|l| (0xdc00..0xe000).contains(l)) {
                                    u = 0x10000 + ((u - 0xd800) << 10) + (low - 0xdc00);
                                    i += 6;
                                }
                            }
                            push_utf8(&mut out, u);
                        }
                        _ => {
                            // As CRuby's parser: an unknown escape is the character itself.
                            out.push(c);
                        }
                    }
                }
                Some(c) if *c < 0x20 && !self.o.control_chars => {
                    let t = format!("invalid ASCII control character in string: {}", self.snippet(i));
                    return Err(self.error(cx, &t, i));
                }
                Some(&c) => {
                    out.push(c);
                    i += 1;
                }
            }
        }
    }
    fn key(&mut self, cx: &mut Cx) -> R {
        let b = self.text(cx)?;
        if self.o.symbols {
            return Ok(Value::sym(cx.syms.intern(&b)));
        }
        if b.len() <= 55 {
            if let Some(&v) = self.keys.get(&*b) {
                return Ok(v);
            }
        }
        let v = frozen(cx.str_enc(&b, EncIndex::UTF_8));
        if b.len() <= 55 {
            self.keys.insert(b.into_owned(), v);
        }
        Ok(v)
    }
    /// A key and its colon.
    fn member(&mut self, cx: &mut Cx) -> R {
        if self.s.get(self.i) != Some(&b'"') {
            if self.i >= self.s.len() {
                return Err(self.unexpected(cx));
            }
            let t = format!("expected object key, got {}", self.snippet(self.i));
            return Err(self.error(cx, &t, self.i));
        }
        self.i += 1;
        let k = self.key(cx)?;
        self.space(cx)?;
        if self.s.get(self.i) != Some(&b':') {
            return Err(self.error(cx, "expected ':' after object key", self.i));
        }
        self.i += 1;
        Ok(k)
    }

    fn document(&mut self, cx: &mut Cx) -> R {
        let mut stack: Vec<Open> = Vec::new();
        'value: loop {
            self.space(cx)?;
            let Some(&c) = self.s.get(self.i) else { return Err(self.unexpected(cx)) };
            let mut v = match c {
                b'"' => {
                    self.i += 1;
                    let b = self.text(cx)?;
                    let v = cx.str_vec(b.into_owned(), EncIndex::UTF_8);
                    if self.o.freeze { frozen(v) } else { v }
                }
                b'-' | b'0'..=b'9' => self.number(cx)?,
                b'[' | b'{' => {
                    if self.o.max_nesting > 0 && stack.len() >= self.o.max_nesting {
                        let t = format!("nesting of {} is too deep", stack.len() + 1);
                        return Err(fail(cx, "JSON::NestingError", &t, 0, 0));
                    }
                    self.i += 1;
                    self.space(cx)?;
                    if c == b'[' {
                        if self.s.get(self.i) == Some(&b']') {
                            self.i += 1;
                            let v = cx.array(&[]);
                            if self.o.freeze { frozen(v) } else { v }
                        } else {
                            stack.push(Open::Array(Vec::new()));
                            continue 'value;
                        }
                    } else {
                        let h = cx.hash();
                        if self.s.get(self.i) == Some(&b'}') {
                            self.i += 1;
                            if self.o.freeze { frozen(h) } else { h }
                        } else {
                            let k = self.member(cx)?;
                            if let Some(h) = h.as_hash() {
                                stack.push(Open::Object(h, k));
                            }
                            continue 'value;
                        }
                    }
                }
                b't' if self.word(b"true") => Value::TRUE,
                b'f' if self.word(b"false") => Value::FALSE,
                b'n' if self.word(b"null") => Value::NIL,
                b'N' | b'I' if self.s[self.i..].starts_with(b"NaN") || self.s[self.i..].starts_with(b"Infinity") => {
                    if !self.o.allow_nan {
                        let t = format!("unexpected token {}", self.snippet(self.i));
                        return Err(self.error(cx, &t, self.i));
                    }
                    if self.word(b"NaN") {
                        cx.float(f64::NAN)
                    } else {
                        self.word(b"Infinity");
                        cx.float(f64::INFINITY)
                    }
                }
                _ => return Err(self.unexpected(cx)),
            };
            // The value is complete: hand it to what is open around it.
            loop {
                self.space(cx)?;
                let next = self.s.get(self.i).copied();
                match stack.last_mut() {
                    None => {
                        if self.i < self.s.len() {
                            return Err(self.unexpected(cx));
                        }
                        return Ok(v);
                    }
                    Some(Open::Array(a)) => {
                        a.push(v);
                        match next {
                            Some(b',') => {
                                self.i += 1;
                                if self.o.trailing_comma {
                                    self.space(cx)?;
                                }
                                if !(self.o.trailing_comma && self.s.get(self.i) == Some(&b']')) {
                                    continue 'value;
                                }
                                self.i += 1;
                            }
                            Some(b']') => self.i += 1,
                            _ => return Err(self.error(cx, "expected ',' or ']' after array value", self.i)),
                        }
                        let Some(Open::Array(a)) = stack.pop() else { continue };
                        v = cx.array_vec(a);
                        if self.o.freeze {
                            v = frozen(v);
                        }
                    }
                    Some(Open::Object(h, k)) => {
                        let (h, key) = (*h, *k);
                        cx.hash_put(h, key, v)?;
                        match next {
                            Some(b',') => {
                                self.i += 1;
                                self.space(cx)?;
                                if !(self.o.trailing_comma && self.s.get(self.i) == Some(&b'}')) {
                                    let k = self.member(cx)?;
                                    if let Some(Open::Object(_, slot)) = stack.last_mut() {
                                        *slot = k;
                                    }
                                    continue 'value;
                                }
                                self.i += 1;
                            }
                            Some(b'}') => self.i += 1,
                            _ => return Err(self.error(cx, "expected ',' or '}' after object value", self.i)),
                        }
                        stack.pop();
                        v = h.val();
                        if self.o.freeze {
                            v = frozen(v);
                        }
                    }
                }
            }
        }
    }
}

fn frozen(v: Value) -> Value {
    if let Some(h) = v.header() {
        h.set(flag::FROZEN);
    }
    v
}
fn hex4(s: &[u8], i: usize) -> Option<u32> {
    let t = s.get(i..i + 4)?;
    t.iter().try_fold(0, |n, c| Some(n * 16 + (*c as char).to_digit(16)?))
}
/// UTF-8 of a code point; a lone surrogate too, as three bytes.
fn push_utf8(out: &mut Vec<u8>, u: u32) {
    match char::from_u32(u) {
        Some(c) => {
            let mut b = [0; 4];
            out.extend_from_slice(c.encode_utf8(&mut b).as_bytes());
        }
        None => out.extend_from_slice(&[0xe0 | (u >> 12) as u8, 0x80 | (u >> 6 & 63) as u8, 0x80 | (u & 63) as u8]),
    }
}

/// `__json_parse(text, symbolize, allow_nan, max_nesting, freeze, trailing_comma, control_chars)`
fn parse(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let s = cx.arg_str(args, 0)?;
    let text = s.bytes().to_vec();
    let o = Options {
        symbols: args[1].truthy(),
        allow_nan: args[2].truthy(),
        max_nesting: args[3].as_fix().unwrap_or(0).max(0) as usize,
        freeze: args[4].truthy(),
        trailing_comma: args[5].truthy(),
        control_chars: args[6].truthy(),
    };
    let mut p = Parser { s: &text, i: 0, o, keys: FxHashMap::default() };
    p.document(cx)
}

/// The parser as an intrinsic.
pub static TABLE: &[NativeDef] = &[intrinsic("__json_parse", 7, 7, parse)];
