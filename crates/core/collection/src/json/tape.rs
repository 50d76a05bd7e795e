//! JSON text to a tape: everything that can be told without making a value.
//!
//! One pass over bytes with a list of open containers, so that nesting costs heap, not
//! native stack. Strings are checked for UTF-8 by the caller.
//!
//! Invariant: the items of a tape are a document in the order of its text: a container
//! comes before what it holds and says how many elements or pairs that is; each pair is
//! a key and a value. It touches no Ruby value, so that it may be read while the worker
//! is detached.

use kumi_num::BigInt;
use kumi_vm::Grow;
use rustc_hash::FxHashMap;

/// What is accepted besides the standard, and what is made of it.
#[derive(Clone, Copy, PartialEq)]
pub struct Options {
    pub symbols: bool,
    pub allow_nan: bool,
    pub max_nesting: usize,
    pub freeze: bool,
    pub trailing_comma: bool,
    pub control_chars: bool,
}

/// Bytes of the text, or of what its escapes stand for.
#[derive(Clone, Copy)]
pub struct Piece {
    from: usize,
    len: u32,
    escaped: bool,
}

/// See the module.
#[derive(Clone, Copy)]
pub enum Item {
    Nil,
    Bool(bool),
    Int(i64),
    Float(f64),
    /// Number of a large Integer.
    Big(u32),
    Text(Piece),
    /// Number of a key.
    Key(u32),
    Array(u32),
    Object(u32),
}

/// Why a text is none.
pub struct Fault {
    pub class: &'static str,
    pub message: String,
    /// 0: told nowhere.
    pub line: usize,
    pub column: usize,
}

/// A document.
pub struct Tape {
    text: Vec<u8>,
    unescaped: Vec<u8>,
    pub items: Vec<Item>,
    pub bigs: Vec<BigInt>,
    keys: Vec<Piece>,
    pub options: Options,
}

/// Keys that are longer are not shared.
const SHARED_KEY: usize = 55;

impl Tape {
    /// Reads a text.
    ///
    /// # Errors
    /// What is wrong with it, as `JSON::ParserError` tells it.
    pub fn read(text: Vec<u8>, options: Options) -> Result<Tape, Fault> {
        let items = Vec::room(text.len() / 12 + 4);
        let mut r = Reader {
            t: Tape { text: Vec::new(), unescaped: Vec::new(), items, bigs: Vec::new(), keys: Vec::new(), options },
            s: &text,
            i: 0,
            o: options,
            known: FxHashMap::default(),
        };
        r.document()?;
        let mut t = r.t;
        t.text = text;
        Ok(t)
    }
    pub fn bytes(&self, p: Piece) -> &[u8] {
        let all = if p.escaped { &self.unescaped } else { &self.text };
        all.get(p.from..p.from + p.len as usize).unwrap_or(&[])
    }
    pub fn key(&self, k: u32) -> &[u8] {
        self.keys.get(k as usize).map_or(&[], |p| self.bytes(*p))
    }
    /// Bytes it takes.
    pub fn size(&self) -> usize {
        self.text.len() + self.unescaped.len() + self.items.len() * size_of::<Item>() + self.keys.len() * size_of::<Piece>()
    }
}

/// An open container: its item, and how much it holds so far.
struct Open {
    item: usize,
    object: bool,
    n: u32,
}

struct Reader<'a> {
    t: Tape,
    s: &'a [u8],
    i: usize,
    o: Options,
    known: FxHashMap<Box<[u8]>, u32>,
}

type Res<T> = Result<T, Fault>;

impl Reader<'_> {
    fn error(&self, what: &str, at: usize) -> Fault {
        let at = at.min(self.s.len());
        let before = &self.s[..at];
        let line = before.iter().filter(|b| **b == b'\n').count() + 1;
        let column = at - before.iter().rposition(|b| *b == b'\n').map_or(0, |p| p + 1) + 1;
        Fault { class: "JSON::ParserError", message: format!("{what} at line {line} column {column}"), line, column }
    }
    fn snippet(&self, at: usize) -> String {
        let rest = &self.s[at.min(self.s.len())..];
        let mut end = rest.len().min(32);
        while end > 0 && end < rest.len() && rest[end] & 0xc0 == 0x80 {
            end -= 1;
        }
        format!("'{}'", String::from_utf8_lossy(&rest[..end]))
    }
    fn unexpected(&self) -> Fault {
        if self.i >= self.s.len() {
            return self.error("unexpected end of input", self.i);
        }
        self.error(&format!("unexpected character: {}", self.snippet(self.i)), self.i)
    }
    /// Skips white space and comments.
    fn space(&mut self) -> Res<()> {
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
                                return Err(self.error("unexpected end of input, expected closing '*/'", from));
                            }
                        },
                        _ => return Err(self.unexpected()),
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
    fn piece(&self, from: usize, to: usize, escaped: bool) -> Res<Piece> {
        match u32::try_from(to - from) {
            Ok(len) => Ok(Piece { from, len, escaped }),
            Err(_) => Err(self.error("string is too long", self.i)),
        }
    }

    fn number(&mut self) -> Res<Item> {
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
                    return Err(self.error(&format!("unexpected token {}", self.snippet(from)), from));
                }
                self.i = i + 8;
                return Ok(Item::Float(f64::NEG_INFINITY));
            }
        }
        let int_from = i;
        i = digits(i);
        let bad = |p: &Self, end: usize| p.error(&format!("invalid number: '{}'", String::from_utf8_lossy(&p.s[from..end])), from);
        if i == int_from || (s[int_from] == b'0' && i > int_from + 1) {
            return Err(bad(self, i));
        }
        let mut float = false;
        if s.get(i) == Some(&b'.') {
            let k = digits(i + 1);
            if k == i + 1 {
                return Err(bad(self, k));
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
                return Err(bad(self, e));
            }
            float = true;
            i = e;
        }
        self.i = i;
        let text = std::str::from_utf8(&s[from..i]).unwrap_or("0");
        if float {
            return Ok(Item::Float(text.parse::<f64>().unwrap_or(f64::NAN)));
        }
        if let Ok(n) = text.parse::<i64>() {
            return Ok(Item::Int(n));
        }
        let (neg, d) = match text.strip_prefix('-') {
            Some(d) => (true, d),
            None => (false, text),
        };
        match BigInt::from_str_radix(d.as_bytes(), 10) {
            Some(n) => {
                self.t.bigs.put(if neg { n.neg() } else { n });
                Ok(Item::Big(self.t.bigs.len() as u32 - 1))
            }
            None => Err(bad(self, i)),
        }
    }

    /// A string literal; `self.i` is behind the opening quote.
    fn text(&mut self) -> Res<Piece> {
        let from = self.i;
        let mut i = from;
        loop {
            match self.s.get(i) {
                None => return Err(self.error("unexpected end of input, expected closing \"", i)),
                Some(b'"') => {
                    self.i = i + 1;
                    return self.piece(from, i, false);
                }
                Some(b'\\') => break,
                Some(c) if *c < 0x20 && !self.o.control_chars => {
                    self.i = i;
                    return Err(self.error(&format!("invalid ASCII control character in string: {}", self.snippet(i)), i));
                }
                Some(_) => i += 1,
            }
        }
        let start = self.t.unescaped.len();
        self.t.unescaped.put_all(&self.s[from..i]);
        loop {
            match self.s.get(i) {
                None => return Err(self.error("unexpected end of input, expected closing \"", i)),
                Some(b'"') => {
                    self.i = i + 1;
                    return self.piece(start, self.t.unescaped.len(), true);
                }
                Some(b'\\') => {
                    let Some(&c) = self.s.get(i + 1) else {
                        return Err(self.error("unexpected end of input, expected closing \"", i));
                    };
                    i += 2;
                    let out = &mut self.t.unescaped;
                    match c {
                        b'b' => out.put(8),
                        b'f' => out.put(12),
                        b'n' => out.put(b'\n'),
                        b'r' => out.put(b'\r'),
                        b't' => out.put(b'\t'),
                        b'u' => {
                            let Some(mut u) = hex4(self.s, i) else {
                                let t = format!("incomplete unicode character escape sequence at {}", self.snippet(i - 2));
                                return Err(self.error(&t, i - 2));
                            };
                            i += 4;
                            if (0xd800..0xdc00).contains(&u) && self.s[i..].starts_with(b"\\u") {
                                if let Some(low) = hex4(self.s, i + 2).filter(|l| (0xdc00..0xe000).contains(l)) {
                                    u = 0x10000 + ((u - 0xd800) << 10) + (low - 0xdc00);
                                    i += 6;
                                }
                            }
                            push_utf8(out, u);
                        }
                        // As CRuby's parser: an unknown escape is the character itself.
                        _ => out.put(c),
                    }
                }
                Some(c) if *c < 0x20 && !self.o.control_chars => {
                    return Err(self.error(&format!("invalid ASCII control character in string: {}", self.snippet(i)), i));
                }
                Some(&c) => {
                    self.t.unescaped.put(c);
                    i += 1;
                }
            }
        }
    }
    /// A key and its colon.
    fn member(&mut self) -> Res<()> {
        if self.s.get(self.i) != Some(&b'"') {
            if self.i >= self.s.len() {
                return Err(self.unexpected());
            }
            return Err(self.error(&format!("expected object key, got {}", self.snippet(self.i)), self.i));
        }
        self.i += 1;
        let p = self.text()?;
        let bytes = if p.escaped { &self.t.unescaped } else { self.s };
        let bytes = &bytes[p.from..p.from + p.len as usize];
        let fresh = self.t.keys.len() as u32;
        let k = match self.known.get(bytes) {
            Some(k) => *k,
            None => {
                if bytes.len() <= SHARED_KEY {
                    self.known.insert(bytes.into(), fresh);
                }
                self.t.keys.put(p);
                fresh
            }
        };
        self.t.items.put(Item::Key(k));
        self.space()?;
        if self.s.get(self.i) != Some(&b':') {
            return Err(self.error("expected ':' after object key", self.i));
        }
        self.i += 1;
        Ok(())
    }

    fn document(&mut self) -> Res<()> {
        let mut stack: Vec<Open> = Vec::new();
        'value: loop {
            self.space()?;
            let Some(&c) = self.s.get(self.i) else { return Err(self.unexpected()) };
            match c {
                b'"' => {
                    self.i += 1;
                    let p = self.text()?;
                    self.t.items.put(Item::Text(p));
                }
                b'-' | b'0'..=b'9' => {
                    let n = self.number()?;
                    self.t.items.put(n);
                }
                b'[' | b'{' => {
                    if self.o.max_nesting > 0 && stack.len() >= self.o.max_nesting {
                        let message = format!("nesting of {} is too deep", stack.len() + 1);
                        return Err(Fault { class: "JSON::NestingError", message, line: 0, column: 0 });
                    }
                    let object = c == b'{';
                    self.i += 1;
                    self.space()?;
                    let item = self.t.items.len();
                    self.t.items.put(if object { Item::Object(0) } else { Item::Array(0) });
                    if self.s.get(self.i) == Some(if object { &b'}' } else { &b']' }) {
                        self.i += 1;
                    } else {
                        if object {
                            self.member()?;
                        }
                        stack.put(Open { item, object, n: 0 });
                        continue 'value;
                    }
                }
                b't' if self.word(b"true") => self.t.items.put(Item::Bool(true)),
                b'f' if self.word(b"false") => self.t.items.put(Item::Bool(false)),
                b'n' if self.word(b"null") => self.t.items.put(Item::Nil),
                b'N' | b'I' if self.s[self.i..].starts_with(b"NaN") || self.s[self.i..].starts_with(b"Infinity") => {
                    if !self.o.allow_nan {
                        return Err(self.error(&format!("unexpected token {}", self.snippet(self.i)), self.i));
                    }
                    let nan = self.word(b"NaN") || !self.word(b"Infinity");
                    self.t.items.put(Item::Float(if nan { f64::NAN } else { f64::INFINITY }));
                }
                _ => return Err(self.unexpected()),
            }
            // The value is complete: it belongs to what is open around it.
            loop {
                self.space()?;
                let next = self.s.get(self.i).copied();
                let Some(open) = stack.last_mut() else {
                    if self.i < self.s.len() {
                        return Err(self.unexpected());
                    }
                    return Ok(());
                };
                open.n = open.n.saturating_add(1);
                let (object, close) = (open.object, if open.object { b'}' } else { b']' });
                match next {
                    Some(b',') => {
                        self.i += 1;
                        if object || self.o.trailing_comma {
                            self.space()?;
                        }
                        if !(self.o.trailing_comma && self.s.get(self.i) == Some(&close)) {
                            if object {
                                self.member()?;
                            }
                            continue 'value;
                        }
                        self.i += 1;
                    }
                    Some(c) if c == close => self.i += 1,
                    _ => {
                        let what = if object { "expected ',' or '}' after object value" } else { "expected ',' or ']' after array value" };
                        return Err(self.error(what, self.i));
                    }
                }
                if let Some(o) = stack.pop() {
                    self.t.items[o.item] = if o.object { Item::Object(o.n) } else { Item::Array(o.n) };
                }
            }
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The tape as text: a letter and what it says, for each item.
    fn shown(text: &str, options: Options) -> Option<String> {
        let tape = Tape::read(text.into(), options).ok()?;
        let item = |i: &Item| match *i {
            Item::Nil => "nil".to_string(),
            Item::Bool(b) => b.to_string(),
            Item::Int(n) => format!("i{n}"),
            Item::Float(f) => format!("f{f}"),
            Item::Big(n) => format!("b{}", tape.bigs[n as usize]),
            Item::Text(p) => format!("t{}", String::from_utf8_lossy(tape.bytes(p))),
            Item::Key(k) => format!("k{}", String::from_utf8_lossy(tape.key(k))),
            Item::Array(n) => format!("a{n}"),
            Item::Object(n) => format!("o{n}"),
        };
        Some(tape.items.iter().map(item).collect::<Vec<_>>().join(" "))
    }

    const STRICT: Options =
        Options { symbols: false, allow_nan: false, max_nesting: 3, freeze: false, trailing_comma: false, control_chars: false };

    #[test]
    fn documents_are_read() {
        for (text, want) in [
            ("[1,2.5,-3e2]", "a3 i1 f2.5 f-300"),
            (" {\"a\" : [true,false,null], \"b\":{}} ", "o2 ka a3 true false nil kb o0"),
            ("{\"a\":1,\"a\":2}", "o2 ka i1 ka i2"),
            ("\"\\u00e9\\ud83d\\ude00\\n\\/\"", "té\u{1f600}\n/"),
            ("12345678901234567890", "b12345678901234567890"),
            ("-9223372036854775808", "i-9223372036854775808"),
            ("[]", "a0"),
            ("-0", "i0"),
            ("1.0", "f1"),
            ("[[[]]]", "a1 a1 a0"),
        ] {
            assert_eq!(shown(text, STRICT).as_deref(), Some(want), "{text}");
        }
    }

    #[test]
    fn what_is_no_json_is_refused() {
        let bad = [
            "",
            "[",
            "[1,]",
            "{\"a\":1,}",
            "[1 2]",
            "01",
            "1.",
            "-",
            "nul",
            "\"a\nb\"",
            "{\"a\"}",
            "{1:2}",
            "NaN",
            "1 2",
            "\"\\u12\"",
            "'a'",
        ];
        for text in bad {
            assert_eq!(shown(text, STRICT), None, "{text}");
        }
        assert_eq!(shown("[[[[]]]]", STRICT), None);
    }

    #[test]
    fn some_of_it_is_allowed_on_request() {
        assert_eq!(shown("[1,]", Options { trailing_comma: true, ..STRICT }).as_deref(), Some("a1 i1"));
        assert_eq!(shown("\"a\nb\"", Options { control_chars: true, ..STRICT }).as_deref(), Some("ta\nb"));
        assert_eq!(shown("[NaN,-Infinity]", Options { allow_nan: true, ..STRICT }).as_deref(), Some("a2 fNaN f-inf"));
        assert_eq!(shown("[[[[]]]]", Options { max_nesting: 0, ..STRICT }).as_deref(), Some("a1 a1 a1 a0"));
    }

    #[test]
    fn a_fault_says_where() {
        let fault = Tape::read(b"[1,\n 2 x]".to_vec(), STRICT).err().unwrap();
        assert_eq!((fault.class, fault.line, fault.column), ("JSON::ParserError", 2, 4));
    }
}
