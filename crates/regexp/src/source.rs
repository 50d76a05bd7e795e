//! From pattern text to engine text: escapes that stand for bytes become those bytes, and
//! the encoding that the pattern insists on becomes known.
//!
//! Invariant: the output holds no `\u`, and `\x`, octal, control and meta escapes only for
//! ASCII, so that the engine never sees half a character.

use kumi_budget::Grow;
use kumi_text::EncIndex;
use kumi_text::encoding::Precise;

/// What the text of a pattern says.
#[derive(Debug, Clone)]
pub(crate) struct Unescaped {
    /// Engine text.
    pub(crate) bytes: Vec<u8>,
    /// The encoding that non-ASCII content or a property binds the pattern to.
    pub(crate) fixed: Option<EncIndex>,
}

struct Reader<'a> {
    s: &'a [u8],
    i: usize,
    enc: EncIndex,
    out: Vec<u8>,
    fixed: Option<EncIndex>,
    has_property: bool,
}

type Outcome<T> = Result<T, &'static str>;

/// Reads `pattern` in encoding `enc`.
///
/// # Errors
/// CRuby's message, without the `: /source/` that follows it.
pub(crate) fn unescape(pattern: &[u8], enc: EncIndex) -> Outcome<Unescaped> {
    let mut r = Reader { s: pattern, i: 0, enc, out: Vec::room(pattern.len()), fixed: None, has_property: false };
    while let Some(&b) = r.s.get(r.i) {
        if b >= 0x80 {
            r.raw_char()?;
        } else if b == b'\\' {
            r.escape()?;
        } else {
            r.out.push(b);
            r.i += 1;
        }
    }
    let fixed = r.fixed.or(r.has_property.then_some(enc));
    Ok(Unescaped { bytes: r.out, fixed })
}

impl Reader<'_> {
    fn bind(&mut self, enc: EncIndex, message: &'static str) -> Outcome<()> {
        match self.fixed {
            None => self.fixed = Some(enc),
            Some(e) if e == enc => {}
            Some(_) => return Err(message),
        }
        Ok(())
    }

    fn raw_char(&mut self) -> Outcome<()> {
        match self.enc.precise_len(&self.s[self.i..]) {
            Precise::Found(n) => {
                self.out.extend_from_slice(&self.s[self.i..self.i + n]);
                self.i += n;
                self.bind(self.enc, "non ASCII character in UTF-8 regexp")
            }
            _ => Err("invalid multibyte character"),
        }
    }

    fn escape(&mut self) -> Outcome<()> {
        let Some(&c) = self.s.get(self.i + 1) else { return Err("too short escape sequence") };
        match c {
            0x80.. => {
                self.out.push(b'\\');
                self.i += 1;
                self.raw_char()
            }
            b'1'..=b'7' if self.octal(self.i + 1).0 <= 0o177 => self.as_is(c),
            b'0'..=b'7' | b'x' | b'c' | b'C' | b'M' => self.byte_escape(),
            b'u' => {
                self.i += 2;
                self.unicode_escape()
            }
            b'p' | b'P' => {
                if self.fixed.is_none() {
                    self.has_property = true;
                }
                self.as_is(c)
            }
            _ => self.as_is(c),
        }
    }

    fn as_is(&mut self, c: u8) -> Outcome<()> {
        self.out.extend_from_slice(&[b'\\', c]);
        self.i += 2;
        Ok(())
    }

    /// Up to three octal digits: value and how many.
    fn octal(&self, at: usize) -> (u32, usize) {
        let digits = self.s[at..].iter().take(3).take_while(|b| (b'0'..=b'7').contains(b));
        digits.fold((0, 0), |(v, n), b| (v * 8 + (b - b'0') as u32, n + 1))
    }

    fn byte_escape(&mut self) -> Outcome<()> {
        let start = self.i;
        let mut bytes = vec![self.one_byte()?];
        if self.enc == EncIndex::US_ASCII {
            self.out.extend_from_slice(&self.s[start..self.i]);
            return Ok(());
        }
        while bytes.len() < self.enc.max_len() && matches!(self.enc.precise_len(&bytes), Precise::NeedMore(_)) {
            if self.i >= self.s.len() {
                break;
            }
            bytes.push(self.one_byte()?);
        }
        match self.enc.precise_len(&bytes) {
            Precise::Invalid => return Err("invalid multibyte escape"),
            Precise::NeedMore(_) => return Err("too short escaped multibyte character"),
            Precise::Found(_) => {}
        }
        if bytes.len() > 1 || bytes[0] >= 0x80 {
            self.out.extend_from_slice(&bytes);
            self.bind(self.enc, "escaped non ASCII character in UTF-8 regexp")
        } else {
            self.out.extend_from_slice(format!("\\x{:02X}", bytes[0]).as_bytes());
            Ok(())
        }
    }

    /// One byte written as an escape, `self.i` at the backslash.
    fn one_byte(&mut self) -> Outcome<u8> {
        let (mut meta, mut control) = (false, false);
        let code: u8 = loop {
            if self.i >= self.s.len() || self.s[self.i] != b'\\' {
                return Err("too short escaped multibyte character");
            }
            let Some(&c) = self.s.get(self.i + 1) else { return Err("too short escape sequence") };
            self.i += 2;
            match c {
                b'\\' => break b'\\',
                b'n' => break b'\n',
                b't' => break b'\t',
                b'r' => break b'\r',
                b'f' => break 0x0C,
                b'v' => break 0x0B,
                b'a' => break 0x07,
                b'e' => break 0x1B,
                b'0'..=b'7' => {
                    let (value, n) = self.octal(self.i - 1);
                    self.i += n - 1;
                    break value as u8;
                }
                b'x' => {
                    let (value, n) = self.hex(2);
                    if n == 0 {
                        return Err("invalid hex escape");
                    }
                    self.i += n;
                    break value as u8;
                }
                b'M' => {
                    if meta {
                        return Err("duplicate meta escape");
                    }
                    meta = true;
                    match (self.s.get(self.i), self.s.get(self.i + 1)) {
                        (Some(b'-'), Some(&next)) if next < 0x80 => {
                            self.i += 1;
                            if next == b'\\' {
                                continue;
                            }
                            self.i += 1;
                            break next;
                        }
                        _ => return Err("too short meta escape"),
                    }
                }
                b'c' | b'C' => {
                    if c == b'C' {
                        if self.s.get(self.i) != Some(&b'-') {
                            return Err("too short control escape");
                        }
                        self.i += 1;
                    }
                    if control {
                        return Err("duplicate ctrl escape");
                    }
                    control = true;
                    match self.s.get(self.i) {
                        Some(b'\\') => continue,
                        Some(&next) if next < 0x80 => {
                            self.i += 1;
                            break if next == b'?' { 0x7F } else { next };
                        }
                        _ => return Err("too short control escape"),
                    }
                }
                _ => return Err("unexpected escape sequence"),
            }
        };
        let code = if control && code != 0x7F { code & 0x1F } else { code };
        Ok(if meta { code | 0x80 } else { code })
    }

    /// Up to `max` hex digits at `self.i`: value and how many.
    fn hex(&self, max: usize) -> (u32, usize) {
        let rest = self.s.get(self.i..).unwrap_or(&[]);
        let digits = rest.iter().take(max).map_while(|&b| (b as char).to_digit(16));
        digits.fold((0, 0), |(v, n), d| (v * 16 + d, n + 1))
    }

    fn unicode_escape(&mut self) -> Outcome<()> {
        if self.i >= self.s.len() {
            return Err("too short escape sequence");
        }
        if self.s[self.i] != b'{' {
            let (value, n) = self.hex(4);
            if n != 4 {
                return Err("invalid Unicode escape");
            }
            self.i += 4;
            return self.push_unicode(value);
        }
        self.i += 1;
        let mut any = false;
        loop {
            while self.s.get(self.i).is_some_and(u8::is_ascii_whitespace) {
                self.i += 1;
            }
            let (value, n) = self.hex(7);
            if n == 0 {
                break;
            }
            if n > 6 {
                return Err("invalid Unicode range");
            }
            self.i += n;
            self.push_unicode(value)?;
            any = true;
            if !self.s.get(self.i).is_some_and(u8::is_ascii_whitespace) {
                break;
            }
        }
        if !any || self.s.get(self.i) != Some(&b'}') {
            return Err("invalid Unicode list");
        }
        self.i += 1;
        Ok(())
    }

    fn push_unicode(&mut self, code: u32) -> Outcome<()> {
        let Some(c) = char::from_u32(code) else { return Err("invalid Unicode range") };
        if c.is_ascii() {
            self.out.extend_from_slice(format!("\\x{code:02X}").as_bytes());
            return Ok(());
        }
        self.out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        self.bind(EncIndex::UTF_8, "UTF-8 character in non UTF-8 regexp")
    }
}
