//! From the bytes that came to the text to read: decoded, validated, line ends normalised, and looked at once.
//!
//! `buffer[..end]` is well-formed UTF-8 of allowed characters without CR, and `stops` and `breaks` are its
//! masks ([`scan`](crate::scan)). A character whose last bytes haven't come waits behind `end`. What is wrong with the bytes
//! after `end` is kept as `fault` and told when the reader gets there, so that the pieces in which they came don't
//! show.

use crate::encoding::{Decoding, Sniff};
use crate::error::ErrorKind;
use crate::lines::Lines;
use crate::scan::Scanner;

/// Bytes that the buffer has after the last block, so that a fixed number of them can be loaded from any place.
pub const PADDING: usize = 64;

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
    stops: Vec<u64>,
    breaks: Vec<u64>,
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
            buffer: vec![0; 64 + PADDING],
            end: 0,
            carried: 0,
            stops: vec![!0],
            breaks: vec![!0],
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
        next(&self.stops, from)
    }

    /// The first break at or after `from`, or `end`.
    #[inline]
    pub fn name_break(&self, from: usize) -> usize {
        next(&self.breaks, from)
    }

    pub fn stops(&self) -> &[u64] {
        &self.stops
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
        self.stops.copy_within(gone / 64.., 0);
        self.breaks.copy_within(gone / 64.., 0);
        self.end -= gone;
        self.base += gone as u64;
        let words = self.end / 64 + 1;
        self.stops.truncate(words);
        self.breaks.truncate(words);
        gone
    }

    pub fn feed(&mut self, bytes: &[u8]) {
        if self.fault.is_some() || self.finished {
            return;
        }
        let mut decoding = std::mem::replace(&mut self.decoding, Decoding::Utf8);
        if let Decoding::Sniffing(sniff) = &mut decoding {
            let (taken, enough) = sniff.feed(bytes);
            if !enough {
                self.decoding = decoding;
                return;
            }
            let held = sniff.take();
            match sniff.decide() {
                Ok((chosen, skip)) => {
                    decoding = chosen;
                    self.marked = skip == 3;
                    self.decode(&mut decoding, &held[skip..], false);
                    if self.fault.is_none() {
                        self.decode(&mut decoding, &bytes[taken..], false);
                    }
                }
                Err(fault) => self.fault = Some(fault),
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
            let held = sniff.take();
            match sniff.decide() {
                Ok((chosen, skip)) => {
                    decoding = chosen;
                    self.marked = skip == 3;
                    self.decode(&mut decoding, &held[skip..], true);
                }
                Err(fault) => self.fault = Some(fault),
            }
        } else {
            self.decode(&mut decoding, &[], true);
        }
        self.decoding = decoding;
        self.finished = true;
        if self.carried > 0 && self.fault.is_none() {
            self.fault = Some(Fault { kind: ErrorKind::Encoding, message: "the document ends within a UTF-8 character".into() });
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
        if bytes.len() < 16 && self.append_plain(bytes) {
            self.fault = fault;
            return;
        }
        let old = self.end;
        let raw = self.end + self.carried;
        let mut len = raw + bytes.len();
        self.reserve(len);
        self.buffer[raw..len].copy_from_slice(bytes);
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

    /// The quick way for a few bytes that need no care. False: nothing was done.
    fn append_plain(&mut self, bytes: &[u8]) -> bool {
        use crate::chars::{CLASS, PLAIN_NAME, TEXT_STOP};
        let plain = |&b: &u8| (0x20..0x80).contains(&b) || matches!(b, b'\t' | b'\n');
        if self.carried > 0 || self.after_cr || !bytes.iter().all(plain) {
            return false;
        }
        self.reserve(self.end + bytes.len());
        for &b in bytes {
            let (word, bit) = (self.end / 64, 1u64 << (self.end % 64));
            self.buffer[self.end] = b;
            let class = CLASS[b as usize];
            if class & TEXT_STOP == 0 {
                self.stops[word] &= !bit;
            }
            if class & PLAIN_NAME != 0 {
                self.breaks[word] &= !bit;
            }
            self.end += 1;
            if self.end % 64 == 0 {
                self.stops.push(!0);
                self.breaks.push(!0);
            }
        }
        true
    }

    /// Room for `len` bytes, their last block and the padding.
    fn reserve(&mut self, len: usize) {
        let need = (len / 64 + 1) * 64 + PADDING;
        if self.buffer.len() < need {
            self.buffer.resize(need.max(self.buffer.len() * 3 / 2), 0);
        }
    }

    fn mask(&mut self, from: usize, len: usize) -> crate::scan::Flags {
        self.stops.resize(len / 64 + 1, !0);
        self.breaks.resize(len / 64 + 1, !0);
        self.scanner.scan(&self.buffer, from, len, &mut self.stops, &mut self.breaks)
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

#[inline]
pub fn next(masks: &[u64], from: usize) -> usize {
    let mut word = from / 64;
    // A caller may have stood at the end and looked at what lies behind it.
    let Some(mask) = masks.get(word) else { return from };
    let here = mask >> (from % 64);
    if here != 0 {
        return from + here.trailing_zeros() as usize;
    }
    loop {
        word += 1;
        // The last word always has bits past the end.
        match masks.get(word) {
            Some(0) => {}
            Some(mask) => return word * 64 + mask.trailing_zeros() as usize,
            None => return word * 64,
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
