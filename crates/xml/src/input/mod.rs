//! From the bytes that came to the text to read: decoded, validated, line ends normalised, and looked at once.
//!
//! `buffer[..end]` is well-formed UTF-8 of allowed characters without CR, and `masks` are its
//! masks ([`scan`](crate::input::scan)). A character whose last bytes haven't come waits behind `end`. What is wrong with the bytes
//! after `end` is kept as `fault` and told when the reader gets there, so that the pieces in which they came don't
//! show.

pub(crate) mod chars;
pub(crate) mod encoding;
pub(crate) mod lines;
#[doc(hidden)]
pub mod scan;

use crate::error::ErrorKind;
use crate::input::encoding::{Decoding, Sniff};
use crate::input::lines::Lines;
use crate::input::scan::{Masks, Scanner};

/// Bytes that the buffer has after the last block, so that a fixed number of them can be loaded from any place.
pub const PADDING: usize = 64;

/// Room behind them for small pieces.
const FEW: usize = 512;

/// Why the text ends where it does.
#[derive(Clone, Debug)]
pub struct Fault {
    pub kind: ErrorKind,
    pub message: String,
}

#[derive(Debug)]
pub struct Input {
    buffer: Vec<u8>,
    pub end: usize,
    /// Bytes of an incomplete character behind `end`.
    carried: usize,
    masks: Masks,
    /// Offset in the document of `buffer[0]`.
    pub base: u64,
    pub lines: Lines,
    pub decoding: Decoding,
    after_cr: bool,
    pub fault: Option<Fault>,
    /// No more bytes come.
    pub finished: bool,
    scanner: Scanner,
    /// A mark of UTF-8 began the document.
    pub marked: bool,
    /// The transport said the encoding.
    pub transport: bool,
}

impl Input {
    pub fn new(encoding: Option<&'static encoding_rs::Encoding>) -> Input {
        Input {
            buffer: vec![0; 4096 + PADDING],
            end: 0,
            carried: 0,
            masks: Masks::new(),
            base: 0,
            lines: Lines::new(),
            decoding: Decoding::Sniffing(Sniff::new(encoding)),
            after_cr: false,
            fault: None,
            finished: false,
            scanner: Scanner::detect(),
            marked: false,
            transport: encoding.is_some(),
        }
    }

    /// Replaces the kernel: for tests.
    pub fn set_scanner(&mut self, scanner: Scanner) {
        self.scanner = scanner;
    }

    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.buffer[..self.end]
    }

    /// The buffer with its padding; what lies behind `end` means nothing.
    #[inline]
    pub fn padded(&self) -> &[u8] {
        &self.buffer
    }

    /// The first stop at or after `from`, or `end`.
    #[inline]
    pub fn stop(&self, from: usize) -> usize {
        next(&self.masks.stops, from)
    }

    /// The first break at or after `from`, or `end`.
    #[inline]
    pub fn name_break(&self, from: usize) -> usize {
        next(&self.masks.breaks, from)
    }

    /// The first mark at or after `from`, or `end`.
    #[inline]
    pub fn mark(&self, from: usize) -> usize {
        next(&self.masks.marks, from)
    }

    pub fn stops(&self) -> &[u64] {
        &self.masks.stops
    }

    /// No byte that hasn't come yet could change what is at `end`.
    pub fn is_last(&self) -> bool {
        self.finished || self.fault.is_some()
    }

    /// Drops bytes before `keep` if that is worth while. How many went.
    pub fn compact(&mut self, keep: usize) -> usize {
        let gone = keep & !63;
        let held = self.end + self.carried - gone;
        if gone == 0 || gone < held {
            return 0;
        }
        self.lines.forget(&self.buffer[..self.end], self.base, self.base + gone as u64);
        self.buffer.copy_within(gone..gone + held, 0);
        self.end -= gone;
        self.base += gone as u64;
        self.masks.compact(gone / 64, self.end / 64 + 1);
        gone
    }

    pub fn feed(&mut self, bytes: &[u8]) {
        if self.fault.is_some() || self.finished {
            return;
        }
        if let Decoding::Utf8 = self.decoding {
            return self.append(bytes, None);
        }
        let mut decoding = std::mem::replace(&mut self.decoding, Decoding::Utf8);
        if let Decoding::Sniffing(sniff) = &mut decoding {
            let (taken, enough) = sniff.feed(bytes);
            if !enough {
                self.decoding = decoding;
                return;
            }
            decoding = self.decided(sniff, false);
            if self.fault.is_none() {
                self.decode(&mut decoding, &bytes[taken..], false);
            }
        } else {
            self.decode(&mut decoding, bytes, false);
        }
        self.decoding = decoding;
    }

    pub fn finish(&mut self) {
        if self.finished || self.fault.is_some() {
            self.finished = true;
            return;
        }
        let mut decoding = std::mem::replace(&mut self.decoding, Decoding::Utf8);
        if let Decoding::Sniffing(sniff) = &mut decoding {
            decoding = self.decided(sniff, true);
        } else {
            self.decode(&mut decoding, &[], true);
        }
        self.decoding = decoding;
        self.finished = true;
        if self.carried > 0 && self.fault.is_none() {
            self.fault = Some(Fault { kind: ErrorKind::Encoding, message: "the document ends within a UTF-8 character".into() });
        }
    }

    /// Enough has come to know the encoding: what was held for that is decoded. An encoding that is refused is a fault, after
    /// which nothing is decoded.
    fn decided(&mut self, sniff: &Sniff, last: bool) -> Decoding {
        match sniff.decide() {
            Ok((mut decoding, skip)) => {
                self.marked = skip == 3;
                self.decode(&mut decoding, &sniff.held()[skip..], last);
                decoding
            }
            Err(fault) => {
                self.fault = Some(fault);
                Decoding::Utf8
            }
        }
    }

    fn decode(&mut self, decoding: &mut Decoding, bytes: &[u8], last: bool) {
        if let Decoding::Utf8 = decoding {
            self.append(bytes, None);
            return;
        }
        let mut rest = bytes;
        let mut out = [0u8; 8192];
        loop {
            let step = decoding.step(rest, &mut out, last);
            rest = &rest[step.read..];
            self.append(&out[..step.written], step.fault);
            if step.done || self.fault.is_some() {
                return;
            }
        }
    }

    /// Takes UTF-8 that may end within a character, then the fault that stopped its decoding, if any.
    fn append(&mut self, bytes: &[u8], fault: Option<Fault>) {
        let old = self.end;
        let raw = self.end + self.carried;
        let mut len = raw + bytes.len();
        self.buffer.truncate(raw);
        self.buffer.extend_from_slice(bytes);
        self.buffer.resize((len / 64 + 1) * 64 + PADDING + FEW, 0);
        let mut flags = self.mask(old, len);
        if flags.cr || self.after_cr {
            len = self.normalise_lines(raw, len);
            flags = self.mask(old, len);
        }
        let mut end = len;
        let mut found = fault;
        self.carried = 0;
        if flags.non_ascii {
            if let Err(e) = simdutf8::compat::from_utf8(&self.buffer[old..len]) {
                end = old + e.valid_up_to();
                match e.error_len() {
                    None if found.is_none() => self.carried = len - end,
                    _ => {
                        found = Some(Fault {
                            kind: ErrorKind::Encoding,
                            message: format!("the byte 0x{:02X} begins no character in UTF-8", self.buffer[end]),
                        })
                    }
                }
            }
            if let Some(i) = noncharacter(&self.buffer[old..end]) {
                end = old + i;
                self.carried = 0;
                let c = if self.buffer[end + 2] == 0xBE { 0xFFFE } else { 0xFFFF };
                found = Some(forbidden(c));
            }
        }
        if flags.control {
            let bad = |&b: &u8| b < 0x20 && !matches!(b, b'\t' | b'\n');
            if let Some(i) = self.buffer[old..end].iter().position(bad) {
                end = old + i;
                self.carried = 0;
                found = Some(forbidden(self.buffer[end] as u32));
            }
        }
        if end != len {
            self.mask(old, end);
        }
        self.end = end;
        self.fault = found;
    }

    /// The quick way for a few bytes that need no care and no room. False: nothing was done.
    #[inline]
    pub fn feed_few(&mut self, bytes: &[u8]) -> bool {
        use crate::input::chars::{CLASS, PLAIN_NAME, TEXT_STOP, VALUE_STOP};
        let plain = |&b: &u8| (0x20..0x80).contains(&b) || matches!(b, b'\t' | b'\n');
        let care = self.carried > 0 || self.after_cr || self.fault.is_some() || self.finished || !matches!(self.decoding, Decoding::Utf8);
        if care || self.buffer.len() < self.end + bytes.len() + 64 + PADDING || !bytes.iter().all(plain) {
            return false;
        }
        for &b in bytes {
            let bit = 1u64 << (self.end % 64);
            self.buffer[self.end] = b;
            let class = CLASS[b as usize];
            // Past the end all bits are set, so only what is none of these is written.
            let block = self.end / 64;
            self.masks.stops[block] &= !(bit * (class & TEXT_STOP == 0) as u64);
            self.masks.breaks[block] &= !(bit * (class & PLAIN_NAME != 0) as u64);
            self.masks.marks[block] &= !(bit * (class & VALUE_STOP == 0) as u64);
            self.end += 1;
            if self.end.is_multiple_of(64) {
                self.masks.resize(self.end / 64 + 1);
            }
        }
        true
    }

    fn mask(&mut self, from: usize, len: usize) -> crate::input::scan::Flags {
        self.masks.resize(len / 64 + 1);
        self.scanner.scan(&self.buffer, from, len, &mut self.masks)
    }

    /// CR LF and CR become LF in `buffer[from..len]`. The new length.
    fn normalise_lines(&mut self, from: usize, len: usize) -> usize {
        let (mut read, mut write) = (from, from);
        if self.after_cr && read < len {
            self.after_cr = false;
            if self.buffer[read] == b'\n' {
                read += 1;
            }
        }
        while let Some(i) = memchr::memchr(b'\r', &self.buffer[read..len]) {
            self.buffer.copy_within(read..read + i, write);
            write += i;
            read += i + 1;
            self.buffer[write] = b'\n';
            write += 1;
            if read == len {
                self.after_cr = true;
            } else if self.buffer[read] == b'\n' {
                read += 1;
            }
        }
        self.buffer.copy_within(read..len, write);
        write + (len - read)
    }
}

/// The first bit at or after `from`; the last mask always has bits past the end. Behind the masks that is `from` itself.
#[inline(always)]
pub fn next(masks: &[u64], from: usize) -> usize {
    let mut block = from / 64;
    let Some(mask) = masks.get(block) else { return from };
    let here = mask >> (from % 64);
    if here != 0 {
        return from + here.trailing_zeros() as usize;
    }
    loop {
        block += 1;
        match masks.get(block) {
            Some(0) => {}
            Some(mask) => return block * 64 + mask.trailing_zeros() as usize,
            None => return block * 64,
        }
    }
}

fn forbidden(c: u32) -> Fault {
    Fault { kind: ErrorKind::Character, message: format!("the character U+{c:04X} is not allowed in XML") }
}

/// U+FFFE or U+FFFF.
fn noncharacter(bytes: &[u8]) -> Option<usize> {
    let mut from = 0;
    while let Some(i) = memchr::memmem::find(&bytes[from..], b"\xEF\xBF") {
        from += i;
        if matches!(bytes.get(from + 2), Some(0xBE | 0xBF)) {
            return Some(from);
        }
        from += 2;
    }
    None
}
