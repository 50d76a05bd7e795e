//! Conversion between encodings by way of Unicode, in steps that stop at every problem.
//!
//! Invariant: a [`Converter`] has taken every source byte it reports as consumed, either
//! into the output or into `pending` (the start of a character, or bytes to be read
//! again); no byte is lost between calls.

mod codec;
mod legacy;
mod scrub;

pub use scrub::{next_bad, scrub};

use crate::encoding::EncIndex;
use codec::{Codec, Decoded, codec};
use kumi_budget::Grow;

/// What newlines become.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Newline {
    /// As they are.
    #[default]
    Keep,
    /// CR and CRLF become LF.
    Universal,
    /// LF becomes CRLF.
    Crlf,
    /// LF becomes CR.
    Cr,
    /// CRLF becomes LF, like `Universal` (option `lf_newline`).
    Lf,
}

/// Escaping for XML.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Xml {
    /// None.
    #[default]
    No,
    /// `& < >` and undefined characters become references.
    Text,
    /// Also `"`, and the whole is put in quotes.
    Attr,
}

/// The options of `String#encode`.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Replace invalid bytes.
    pub invalid_replace: bool,
    /// Replace characters that the destination lacks.
    pub undef_replace: bool,
    /// What to replace with, and its encoding; U+FFFD or `?` if not given.
    pub replacement: Option<(Vec<u8>, EncIndex)>,
    /// Newline conversion.
    pub newline: Newline,
    /// XML escaping.
    pub xml: Xml,
}

/// What went wrong at a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProblemKind {
    /// Bytes that form no character.
    Invalid,
    /// The source ends inside a character.
    Incomplete,
    /// A character that the destination lacks.
    Undefined,
}

/// A problem, with what `Encoding::Converter#primitive_errinfo` tells of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// What went wrong.
    pub kind: ProblemKind,
    /// The encoding the bytes are in: the source, or UTF-8 for the second half of the way.
    pub source: EncIndex,
    /// Where this half of the way leads.
    pub destination: EncIndex,
    /// The bytes at fault.
    pub bytes: Vec<u8>,
    /// Bytes after them that were looked at and will be read again.
    pub readagain: Vec<u8>,
    /// The message of the exception.
    pub message: String,
}

impl Problem {
    /// Name of the exception class inside `Encoding`.
    pub fn class_name(&self) -> &'static str {
        match self.kind {
            ProblemKind::Undefined => "UndefinedConversionError",
            _ => "InvalidByteSequenceError",
        }
    }

    /// The character at fault, if it is one of Unicode.
    pub fn char(&self) -> Option<char> {
        (self.kind == ProblemKind::Undefined && self.source == EncIndex::UTF_8)
            .then(|| std::str::from_utf8(&self.bytes).ok()?.chars().next())
            .flatten()
    }
}

/// Why a step ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// Everything is converted and the output is closed.
    Finished,
    /// The source is used up and more may come.
    SourceEmpty,
    /// The output reached its limit.
    DestinationFull,
    /// Stopped after a problem; the next step goes on behind it.
    Problem(Problem),
}

/// No way leads from one encoding to the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NotFound;

/// A conversion under way.
#[derive(Clone, Debug)]
pub struct Converter {
    source: EncIndex,
    destination: EncIndex,
    decoder: Option<Codec>,
    encoder: Option<Codec>,
    options: Options,
    replacement: Vec<u8>,
    pending: Vec<u8>,
    after_cr: bool,
    opened: bool,
    closed: bool,
}

/// The encodings passed through, ends included; `None` if no way leads there.
pub fn convpath(source: EncIndex, destination: EncIndex) -> Option<Vec<EncIndex>> {
    use EncIndex as E;
    if source == destination {
        return None;
    }
    codec(source)?;
    codec(destination)?;
    if destination == E::UTF8_MAC && source != E::UTF_8 {
        return None;
    }
    if matches!((source, destination), (E::EUC_JP, E::SHIFT_JIS) | (E::SHIFT_JIS, E::EUC_JP)) {
        return Some(vec![source, destination]);
    }
    let inward: &[EncIndex] = match source {
        E::ISO_2022_JP => &[E::ISO_2022_JP, E::STATELESS_ISO_2022_JP, E::EUC_JP],
        E::CP50220 | E::CP50221 => &[source, E::CP51932],
        _ => &[source],
    };
    let outward: &[EncIndex] = match destination {
        E::ISO_2022_JP => &[E::EUC_JP, E::STATELESS_ISO_2022_JP, E::ISO_2022_JP],
        E::CP50220 | E::CP50221 => &[E::CP51932, destination],
        _ => &[destination],
    };
    let mut path = inward.to_vec();
    if !path.contains(&E::UTF_8) && !outward.contains(&E::UTF_8) {
        path.push(E::UTF_8);
    }
    path.extend(outward.iter().filter(|e| **e != source));
    Some(path)
}

/// CRuby's converters for these go by another spelling of the name, which shows in the
/// message's form.
fn spelled_otherwise(enc: EncIndex) -> bool {
    let name = enc.name();
    (name.starts_with("Windows-") && enc != EncIndex::WINDOWS_31J) || name.starts_with("mac")
}

/// Bytes as `String#dump` shows them, in quotes.
fn dumped(bytes: &[u8]) -> String {
    let mut out = String::from("\"");
    for &b in bytes {
        match b {
            b'"' | b'\\' => {
                out.push('\\');
                out.push(b as char);
            }
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            0x1B => out.push_str("\\e"),
            0x20..=0x7E => out.push(b as char),
            _ => out.push_str(&format!("\\x{b:02X}")),
        }
    }
    out.push('"');
    out
}

impl Converter {
    /// A converter; between equal encodings it only decorates (newlines, XML).
    ///
    /// # Errors
    /// [`NotFound`] if no way leads from `source` to `destination`.
    pub fn new(source: EncIndex, destination: EncIndex, options: Options) -> Result<Converter, NotFound> {
        let (decoder, encoder) = if source == destination {
            (None, None)
        } else {
            convpath(source, destination).ok_or(NotFound)?;
            (codec(source), codec(destination))
        };
        let mut converter = Converter {
            source,
            destination,
            decoder,
            encoder,
            options,
            replacement: Vec::new(),
            pending: Vec::new(),
            after_cr: false,
            opened: false,
            closed: false,
        };
        converter.replacement = match converter.options.replacement.take() {
            None if destination.is_unicode() => "\u{FFFD}".as_bytes().to_vec(),
            None => b"?".to_vec(),
            Some((bytes, enc)) => encode(&bytes, enc, EncIndex::UTF_8, Options::default()).unwrap_or(bytes),
        };
        Ok(converter)
    }

    /// Where it converts from.
    pub fn source(&self) -> EncIndex {
        self.source
    }

    /// Where it converts to.
    pub fn destination(&self) -> EncIndex {
        self.destination
    }

    /// The replacement, in UTF-8.
    pub fn replacement(&self) -> &[u8] {
        &self.replacement
    }

    /// Sets the replacement, given in UTF-8.
    pub fn set_replacement(&mut self, utf8: Vec<u8>) {
        self.replacement = utf8;
    }

    /// Takes back up to `max` bytes that were to be read again.
    pub fn putback(&mut self, max: usize) -> Vec<u8> {
        let keep = self.pending.len().saturating_sub(max);
        self.pending.split_off(keep)
    }

    /// Converts `src` from `*pos` on, appending to `out`, until the source or the space
    /// for `limit` new bytes is used up or something can't be converted. `partial` says that
    /// more source may follow this one.
    pub fn step(&mut self, src: &[u8], pos: &mut usize, out: &mut Vec<u8>, limit: Option<usize>, partial: bool) -> Step {
        let full = limit.map_or(usize::MAX, |l| out.len().saturating_add(l));
        if !self.opened {
            self.opened = true;
            if self.options.xml == Xml::Attr {
                self.put('"', out);
            }
        }
        loop {
            if self.pending.is_empty() && self.is_plain() {
                let rest = src.get(*pos..).unwrap_or(&[]);
                let room = full.saturating_sub(out.len());
                let n = rest.iter().take(room).take_while(|b| b.is_ascii()).count();
                out.put_all(&rest[..n]);
                *pos += n;
            }
            let rest = src.get(*pos..).unwrap_or(&[]);
            if rest.is_empty() && self.pending.is_empty() {
                return self.end(out, partial);
            }
            let decoded = if self.pending.is_empty() {
                self.read(rest)
            } else {
                let mut window = self.pending.clone();
                window.extend_from_slice(&rest[..rest.len().min(16)]);
                self.read(&window)
            };
            out.want(64);
            let mark = out.len();
            let before = (self.encoder, self.after_cr);
            let used = match decoded {
                Decoded::Char(c, n) => {
                    let fits = self.decorate(c, out);
                    if out.len() > full {
                        // Nothing of it was taken: put all back.
                        out.truncate(mark);
                        (self.encoder, self.after_cr) = before;
                        // The character is read, but not written yet.
                        let bytes = self.take(n, src, pos);
                        self.pending.splice(0..0, bytes);
                        return Step::DestinationFull;
                    }
                    if !fits {
                        let mut buf = [0; 4];
                        let bytes = c.encode_utf8(&mut buf).as_bytes().to_vec();
                        self.take(n, src, pos);
                        return Step::Problem(self.undefined(EncIndex::UTF_8, self.destination, bytes));
                    }
                    n
                }
                Decoded::Skip(n) => n,
                Decoded::Undefined(n) => {
                    let bytes = self.take(n, src, pos);
                    if self.options.undef_replace {
                        self.put_replacement(out);
                        continue;
                    }
                    return Step::Problem(self.undefined(self.source, EncIndex::UTF_8, bytes));
                }
                Decoded::Invalid(n, again) => {
                    let bytes = self.take(n, src, pos);
                    if self.options.invalid_replace {
                        self.put_replacement(out);
                        continue;
                    }
                    let readagain = self.take(again, src, pos);
                    self.pending.splice(0..0, readagain.iter().copied());
                    let mut message = dumped(&bytes);
                    if !readagain.is_empty() {
                        message.push_str(&format!(" followed by {}", dumped(&readagain)));
                    }
                    message.push_str(&format!(" on {}", self.source.name()));
                    return Step::Problem(self.problem(ProblemKind::Invalid, bytes, readagain, message));
                }
                Decoded::Incomplete => {
                    self.pending.extend_from_slice(rest);
                    *pos = src.len();
                    if partial {
                        return Step::SourceEmpty;
                    }
                    let bytes = std::mem::take(&mut self.pending);
                    if self.options.invalid_replace {
                        self.put_replacement(out);
                        continue;
                    }
                    let message = format!("incomplete {} on {}", dumped(&bytes), self.source.name());
                    return Step::Problem(self.problem(ProblemKind::Incomplete, bytes, vec![], message));
                }
            };
            self.take(used, src, pos);
        }
    }

    /// Appends UTF-8 text as the destination writes it (`Converter#insert_output`, and
    /// what a fallback returned); false if it has a character that the destination lacks.
    pub fn insert(&mut self, utf8: &[u8], out: &mut Vec<u8>) -> bool {
        let mark = out.len();
        for c in String::from_utf8_lossy(utf8).chars() {
            if !self.put(c, out) {
                out.truncate(mark);
                return false;
            }
        }
        true
    }

    fn is_plain(&self) -> bool {
        let plain = |codec: Option<Codec>, enc: EncIndex| match codec {
            None => enc.is_ascii_compatible(),
            Some(codec) => codec.is_plain(enc),
        };
        self.options.newline == Newline::Keep
            && self.options.xml == Xml::No
            && plain(self.decoder, self.source)
            && plain(self.encoder, self.destination)
    }

    fn read(&mut self, window: &[u8]) -> Decoded {
        match &mut self.decoder {
            Some(codec) => codec.decode(self.source, window),
            // Only decorating: bytes that aren't ASCII pass one by one as U+0080..U+00FF,
            // which `put` turns back.
            None => Decoded::Char(window[0] as char, 1),
        }
    }

    /// Removes `n` bytes from what is pending, then from the source.
    fn take(&mut self, n: usize, src: &[u8], pos: &mut usize) -> Vec<u8> {
        let from_pending = n.min(self.pending.len());
        let mut bytes: Vec<u8> = self.pending.drain(..from_pending).collect();
        let end = (*pos + (n - from_pending)).min(src.len());
        bytes.extend_from_slice(&src[*pos..end]);
        *pos = end;
        bytes
    }

    fn put(&mut self, c: char, out: &mut Vec<u8>) -> bool {
        match &mut self.encoder {
            Some(codec) => codec.encode(self.destination, c, out),
            None => {
                out.push(c as u32 as u8);
                true
            }
        }
    }

    fn put_replacement(&mut self, out: &mut Vec<u8>) {
        let text = self.replacement.clone();
        if !self.insert(&text, out) {
            self.put('?', out);
        }
    }

    fn put_text(&mut self, text: &str, out: &mut Vec<u8>) -> bool {
        text.chars().all(|c| self.put(c, out))
    }

    /// Newlines, XML, then the destination. False for an undefined character.
    fn decorate(&mut self, c: char, out: &mut Vec<u8>) -> bool {
        match self.options.newline {
            Newline::Universal | Newline::Lf => {
                let was_cr = std::mem::replace(&mut self.after_cr, c == '\r');
                match (c, was_cr) {
                    ('\n', true) => true,
                    ('\r' | '\n', _) => self.escape('\n', out),
                    _ => self.escape(c, out),
                }
            }
            Newline::Crlf if c == '\n' => self.put_text("\r\n", out),
            Newline::Cr if c == '\n' => self.escape('\r', out),
            _ => self.escape(c, out),
        }
    }

    fn escape(&mut self, c: char, out: &mut Vec<u8>) -> bool {
        if self.options.xml != Xml::No {
            let entity = match c {
                '&' => "&amp;",
                '<' => "&lt;",
                '>' => "&gt;",
                '"' if self.options.xml == Xml::Attr => "&quot;",
                _ => "",
            };
            if !entity.is_empty() {
                return self.put_text(entity, out);
            }
        }
        let mark = out.len();
        if self.put(c, out) {
            return true;
        }
        out.truncate(mark);
        if self.options.xml != Xml::No {
            return self.put_text(&format!("&#x{:X};", c as u32), out);
        }
        if self.options.undef_replace {
            self.put_replacement(out);
            return true;
        }
        false
    }

    fn end(&mut self, out: &mut Vec<u8>, partial: bool) -> Step {
        if partial {
            return Step::SourceEmpty;
        }
        if !self.closed {
            self.closed = true;
            if self.options.xml == Xml::Attr {
                self.put('"', out);
            }
            if let Some(codec) = &mut self.encoder {
                codec.finish(out);
            }
        }
        Step::Finished
    }

    fn problem(&self, kind: ProblemKind, bytes: Vec<u8>, readagain: Vec<u8>, message: String) -> Problem {
        let destination = convpath(self.source, self.destination).and_then(|p| p.get(1).copied()).unwrap_or(EncIndex::UTF_8);
        Problem { kind, source: self.source, destination, bytes, readagain, message }
    }

    fn undefined(&self, source: EncIndex, destination: EncIndex, bytes: Vec<u8>) -> Problem {
        let shown = match std::str::from_utf8(&bytes) {
            Ok(s) if source == EncIndex::UTF_8 => format!("U+{:04X}", s.chars().next().map_or(0, |c| c as u32)),
            _ => dumped(&bytes),
        };
        let path = convpath(self.source, self.destination).unwrap_or_default();
        // The end of the leg on which it failed.
        let leg_end = path.iter().position(|e| *e == source).and_then(|i| path.get(i + 1).copied()).unwrap_or(destination);
        let message = if source == self.source
            && leg_end == self.destination
            && !spelled_otherwise(self.source)
            && !spelled_otherwise(self.destination)
        {
            format!("{shown} from {} to {}", source.name(), leg_end.name())
        } else {
            let way: Vec<&str> = path.iter().map(|e| e.name()).collect();
            let leg = if spelled_otherwise(leg_end) { leg_end.name().to_ascii_uppercase() } else { leg_end.name().into() };
            format!("{shown} to {leg} in conversion from {}", way.join(" to "))
        };
        Problem { kind: ProblemKind::Undefined, source, destination: leg_end, bytes, readagain: vec![], message }
    }
}

/// Why [`encode`] has no result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EncodeError {
    /// "code converter not found (A to B)"
    NotFound,
    /// The first problem.
    Problem(Problem),
}

/// Valid text between UTF-8, UTF-16, UTF-32 and ISO-8859-1: what needs no tables. `None` for
/// anything else, and where something is wrong with the text.
fn unicode(src: &[u8], source: EncIndex, destination: EncIndex) -> Option<Vec<u8>> {
    use EncIndex as E;
    if source == destination {
        return None;
    }
    let text: std::borrow::Cow<'_, str> = match source {
        E::UTF_8 => simdutf8::basic::from_utf8(src).ok()?.into(),
        E::ISO_8859_1 => {
            kumi_budget::ask(src.len() * 2);
            src.iter().map(|b| *b as char).collect::<String>().into()
        }
        E::UTF_16LE | E::UTF_16BE if src.len().is_multiple_of(2) => {
            let unit = |p: &[u8]| if source == E::UTF_16LE { u16::from_le_bytes([p[0], p[1]]) } else { u16::from_be_bytes([p[0], p[1]]) };
            kumi_budget::ask(src.len() * 3 / 2);
            let chars: Result<String, _> = char::decode_utf16(src.chunks_exact(2).map(unit)).collect();
            chars.ok()?.into()
        }
        _ => return None,
    };
    match destination {
        E::UTF_8 => Some(text.into_owned().into_bytes()),
        E::UTF_16LE => Some(joined(text.len() * 2, text.encode_utf16().map(u16::to_le_bytes))),
        E::UTF_16BE => Some(joined(text.len() * 2, text.encode_utf16().map(u16::to_be_bytes))),
        E::UTF_32LE => Some(joined(text.len() * 4, text.chars().map(|c| (c as u32).to_le_bytes()))),
        E::UTF_32BE => Some(joined(text.len() * 4, text.chars().map(|c| (c as u32).to_be_bytes()))),
        E::ISO_8859_1 => text.chars().map(|c| u8::try_from(c as u32).ok()).collect(),
        _ => None,
    }
}

/// The units' bytes, at most `most` of them.
fn joined<const N: usize>(most: usize, units: impl Iterator<Item = [u8; N]>) -> Vec<u8> {
    let mut out = Vec::room(most);
    units.for_each(|u| out.extend_from_slice(&u));
    out
}

/// Converts a whole string (`String#encode` without a fallback).
///
/// # Errors
/// No way leads from one encoding to the other; or the first bytes that are malformed, or that `destination` lacks, where
/// `options` do not replace them.
pub fn encode(src: &[u8], source: EncIndex, destination: EncIndex, options: Options) -> Result<Vec<u8>, EncodeError> {
    if options.newline == Newline::Keep && options.xml == Xml::No {
        if let Some(out) = unicode(src, source, destination) {
            return Ok(out);
        }
    }
    let mut converter = Converter::new(source, destination, options).map_err(|NotFound| EncodeError::NotFound)?;
    let mut out = Vec::room(src.len() + src.len() / 4);
    let mut pos = 0;
    match converter.step(src, &mut pos, &mut out, None, false) {
        Step::Problem(problem) => Err(EncodeError::Problem(problem)),
        _ => Ok(out),
    }
}
