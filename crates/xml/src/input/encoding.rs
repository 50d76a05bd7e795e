//! Which encoding a document is in, and its bytes as UTF-8.
//!
//! In this order: a byte order mark, what the transport said, the XML declaration, UTF-8. Labels are those of the Encoding
//! Standard (as `encoding_rs` reads them) but for ISO-8859-1 and US-ASCII, which are taken at their word rather than as
//! windows-1252. Malformed bytes are errors, never replaced.

use crate::error::ErrorKind;
use crate::input::Fault;
use encoding_rs::{Decoder, DecoderResult, Encoding};

/// How long a declaration may be before its end is no longer waited for.
const DECLARATION: usize = 1024;

/// Bytes held until the encoding is known.
#[derive(Debug)]
pub struct Sniff {
    held: Vec<u8>,
    transport: Option<&'static Encoding>,
}

/// How bytes become UTF-8.
pub enum Decoding {
    Sniffing(Sniff),
    /// They are, and get validated.
    Utf8,
    Ascii,
    Latin1,
    /// UTF-16 found by its mark or its zero bytes.
    Utf16(Decoder),
    Other(Decoder),
}

impl std::fmt::Debug for Decoding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Decoding::Sniffing(_) => "Sniffing",
            Decoding::Utf8 => "Utf8",
            Decoding::Ascii => "Ascii",
            Decoding::Latin1 => "Latin1",
            Decoding::Utf16(_) => "Utf16",
            Decoding::Other(_) => "Other",
        })
    }
}

/// What one step of decoding did.
pub struct Step {
    pub read: usize,
    pub written: usize,
    pub fault: Option<Fault>,
    /// Nothing is left to do with these bytes.
    pub done: bool,
}

impl Decoding {
    pub fn step(&mut self, bytes: &[u8], out: &mut [u8], last: bool) -> Step {
        match self {
            Decoding::Sniffing(_) | Decoding::Utf8 => {
                let n = bytes.len().min(out.len());
                out[..n].copy_from_slice(&bytes[..n]);
                Step { read: n, written: n, fault: None, done: n == bytes.len() }
            }
            Decoding::Ascii => {
                let n = bytes.len().min(out.len());
                let good = bytes[..n].iter().position(|b| !b.is_ascii()).unwrap_or(n);
                out[..good].copy_from_slice(&bytes[..good]);
                let fault = (good < n).then(|| Fault {
                    kind: ErrorKind::Encoding,
                    message: format!("the byte 0x{:02X} is no character in US-ASCII", bytes[good]),
                });
                Step { read: n, written: good, fault, done: n == bytes.len() }
            }
            Decoding::Latin1 => {
                let n = bytes.len().min(out.len() / 2);
                let written = encoding_rs::mem::convert_latin1_to_utf8(&bytes[..n], out);
                Step { read: n, written, fault: None, done: n == bytes.len() }
            }
            Decoding::Utf16(decoder) | Decoding::Other(decoder) => {
                let (result, read, written) = decoder.decode_to_utf8_without_replacement(bytes, out, last);
                let fault = matches!(result, DecoderResult::Malformed(..)).then(|| Fault {
                    kind: ErrorKind::Encoding,
                    message: format!("bytes that are no character in {}", decoder.encoding().name()),
                });
                Step { read, written, fault, done: result == DecoderResult::InputEmpty }
            }
        }
    }

    /// What the declaration says must be what the document is in. `Some` is the message of the error.
    pub fn conflict(&self, label: &str, mark: bool, transport: bool) -> Option<String> {
        let upper = label.to_ascii_uppercase();
        let utf16 = upper.starts_with("UTF-16") || upper == "ISO-10646-UCS-2" || upper == "UCS-2" || upper == "UTF16";
        match self {
            Decoding::Utf16(decoder) => {
                let wrong_order = upper.starts_with("UTF-16") && upper.len() > 6 && upper != decoder.encoding().name();
                (!utf16 || wrong_order)
                    .then(|| format!("the declaration says encoding \"{label}\", but the document is in {}", decoder.encoding().name()))
            }
            _ if transport => None,
            _ if utf16 => Some(format!("the declaration says encoding \"{label}\", but the document is not in UTF-16")),
            Decoding::Utf8 if mark && Encoding::for_label(label.as_bytes()) != Some(encoding_rs::UTF_8) => {
                Some(format!("the declaration says encoding \"{label}\", but the document begins with the mark of UTF-8"))
            }
            _ => None,
        }
    }
}

impl Sniff {
    pub fn new(transport: Option<&'static Encoding>) -> Sniff {
        Sniff { held: Vec::new(), transport }
    }

    /// Takes as many of the bytes as deciding may need, and says how many; `true`: there are enough.
    pub fn feed(&mut self, bytes: &[u8]) -> (usize, bool) {
        let taken = bytes.len().min(DECLARATION - self.held.len());
        self.held.extend_from_slice(&bytes[..taken]);
        let held = &self.held[..];
        if held.len() < 4 {
            return (taken, false);
        }
        if self.transport.is_some() || !held.starts_with(b"<?xm") {
            return (taken, true);
        }
        (taken, held.len() == DECLARATION || memchr::memchr(b'>', held).is_some())
    }

    pub fn held(&self) -> &[u8] {
        &self.held
    }

    /// The decoding, and how many bytes of a mark to pass over.
    pub fn decide(&self) -> Result<(Decoding, usize), Fault> {
        let held = &self.held[..];
        let refuse = |name: &str| Fault { kind: ErrorKind::Encoding, message: format!("the encoding {name} is not supported") };
        let wide = |encoding: &'static Encoding| Decoding::Utf16(encoding.new_decoder_without_bom_handling());
        match held {
            [0xFF, 0xFE, 0, 0, ..] | [0, 0, 0xFE, 0xFF, ..] | [0x3C, 0, 0, 0, ..] | [0, 0, 0, 0x3C, ..] => {
                return Err(refuse("UTF-32"));
            }
            [0xEF, 0xBB, 0xBF, ..] => return Ok((Decoding::Utf8, 3)),
            [0xFE, 0xFF, ..] => return Ok((wide(encoding_rs::UTF_16BE), 2)),
            [0xFF, 0xFE, ..] => return Ok((wide(encoding_rs::UTF_16LE), 2)),
            _ => {}
        }
        if let Some(encoding) = self.transport {
            return Ok((
                if encoding == encoding_rs::UTF_8 { Decoding::Utf8 } else { Decoding::Other(encoding.new_decoder_without_bom_handling()) },
                0,
            ));
        }
        match held {
            [0x3C, 0, 0x3F, 0, ..] => return Ok((wide(encoding_rs::UTF_16LE), 0)),
            [0, 0x3C, 0, 0x3F, ..] => return Ok((wide(encoding_rs::UTF_16BE), 0)),
            [0x4C, 0x6F, 0xA7, 0x94, ..] => return Err(refuse("EBCDIC")),
            _ => {}
        }
        let Some(label) = declared(held) else { return Ok((Decoding::Utf8, 0)) };
        let upper = label.to_ascii_uppercase();
        let decoding = match upper.as_slice() {
            b"ISO-8859-1" | b"ISO_8859-1" | b"ISO8859-1" | b"LATIN1" | b"L1" | b"ISO-LATIN-1" => Decoding::Latin1,
            b"US-ASCII" | b"ASCII" | b"ANSI_X3.4-1968" | b"ISO646-US" => Decoding::Ascii,
            _ => match Encoding::for_label(&upper) {
                Some(encoding) if encoding == encoding_rs::UTF_8 => Decoding::Utf8,
                // A contradiction: told when the declaration is read.
                Some(encoding) if encoding == encoding_rs::UTF_16LE || encoding == encoding_rs::UTF_16BE => Decoding::Utf8,
                Some(encoding) if encoding != encoding_rs::REPLACEMENT => Decoding::Other(encoding.new_decoder_without_bom_handling()),
                _ if upper == b"ISO-10646-UCS-2" => Decoding::Utf8,
                _ => return Err(refuse(&format!("\"{}\"", String::from_utf8_lossy(label)))),
            },
        };
        Ok((decoding, 0))
    }
}

/// The encoding that an XML declaration names, as far as one can be made out; its syntax is checked later.
fn declared(held: &[u8]) -> Option<&[u8]> {
    let rest = held.strip_prefix(b"<?xml").filter(|rest| rest.first().is_some_and(u8::is_ascii_whitespace))?;
    let end = memchr::memchr(b'>', &rest[..rest.len().min(DECLARATION)])?;
    let rest = &rest[..end];
    let at = memchr::memmem::find(rest, b"encoding")?;
    if !rest[at.checked_sub(1)?].is_ascii_whitespace() {
        return None;
    }
    let rest = rest[at + 8..].trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let quote = *rest.first().filter(|q| matches!(q, b'"' | b'\''))?;
    let close = memchr::memchr(quote, &rest[1..])?;
    Some(&rest[1..close + 1])
}
