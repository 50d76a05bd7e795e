//! Large Strings, which are values by themselves: copied beside the workers, while the task that wants them waits.
//!
//! **Invariant.** What is read is a frozen String, which its native's call holds, or bytes. A native gives such work away before it has
//! changed anything, and is called again.

use kumi_vm::*;
use kumi_wire::{Bytes, Writer};

/// Shorter ones are copied where they are, within a millisecond or so.
const LARGE: usize = 4 << 20;
/// So much is copied, in some five microseconds, before others may have the core.
const PIECE: usize = 16 << 10;
/// Of MessagePack: a String in UTF-8, and a binary one, with 32 bits of length.
const STR: u8 = 0xdb;
const BIN: u8 = 0xc6;
/// With that length.
const HEAD: usize = 5;

/// Is it a String of which [`large_argument`] gives the bytes, if anything?
pub fn is_copied_aside(v: Value) -> bool {
    v.as_str().is_some_and(|s| s.bytes().len() >= LARGE)
}

/// The bytes of the running native's argument, if it is a large String.
///
/// # Errors
/// The native is called again when the bytes are there.
pub fn large_argument(cx: &mut Cx, v: Value) -> Result<Option<Vec<u8>>, Exit> {
    let plain = |s: &StrObj| s.hdr.class() == cx.k.string.val() && s.hdr.has(flag::FROZEN) && !s.hdr.has(flag::IVARS);
    match v.as_str().filter(|s| is_copied_aside(v) && plain(s)) {
        Some(s) => cx.detach_on_cells([v], VERY_LONG, move || written(&s)).map(Some),
        None => Ok(None),
    }
}

fn written(s: &StrObj) -> Vec<u8> {
    let (text, encoding) = (s.bytes(), EncIndex::from_u8(s.enc()));
    let kind = match encoding {
        EncIndex::BINARY => BIN,
        EncIndex::UTF_8 => STR,
        _ => 0,
    };
    let mut bytes = Vec::new();
    if let (1.., Ok(length)) = (kind, u32::try_from(text.len())) {
        bytes.want(HEAD + text.len());
        bytes.push(kind);
        bytes.extend_from_slice(&length.to_be_bytes());
        if in_pieces(text, kind == STR, |piece| bytes.extend_from_slice(piece)).is_some() {
            return bytes;
        }
        bytes.clear();
    }
    let mut out = Writer::new(&mut bytes);
    super::write::text(&mut out, s);
    out.finish();
    bytes
}

/// Hands out all of it, and gives the core away in between. Is it all ASCII? Where it is to be UTF-8, `None`: it is not.
fn in_pieces(text: &[u8], utf8: bool, mut take: impl FnMut(&[u8])) -> Option<bool> {
    let (mut rest, mut ascii) = (text, true);
    while !rest.is_empty() {
        let mut piece = &rest[..rest.len().min(PIECE)];
        if utf8 {
            ascii &= piece.is_ascii();
            match simdutf8::compat::from_utf8(piece) {
                Ok(_) => {}
                // A character lies across its end.
                Err(e) if e.error_len().is_none() && piece.len() < rest.len() => piece = &piece[..e.valid_up_to()],
                Err(_) => return None,
            }
        }
        take(piece);
        rest = &rest[piece.len()..];
        std::thread::yield_now();
    }
    Some(ascii)
}

/// A String made of bytes.
pub struct Large {
    of: Bytes,
    /// The rest is not known of bytes that are no String.
    made: Option<(StrBuf, EncIndex, u8)>,
}

impl Large {
    /// Are these the bytes of a large String? They may be less, as [`new`](Self::new) finds out.
    pub fn is_one(bytes: &Bytes) -> bool {
        bytes.len() >= LARGE && matches!(bytes[0], STR | BIN)
    }
    /// From any thread.
    pub fn new(of: Bytes) -> Large {
        let made = Self::read(&of);
        Large { of, made }
    }
    fn read(bytes: &[u8]) -> Option<(StrBuf, EncIndex, u8)> {
        let (head, text) = bytes.split_first_chunk::<HEAD>()?;
        let [kind, length @ ..] = *head;
        if u32::from_be_bytes(length) as usize != text.len() {
            return None;
        }
        let mut buffer = StrBuf::with_capacity(text.len());
        let ascii = in_pieces(text, kind == STR, |piece| buffer.extend_from_slice(piece))?;
        match kind {
            STR => Some((buffer, EncIndex::UTF_8, if ascii { 1 } else { 2 })),
            BIN => Some((buffer, EncIndex::BINARY, 0)),
            _ => None,
        }
    }
    /// The value, frozen or not, if these are the bytes.
    pub fn take(&mut self, cx: &mut Cx, bytes: &Bytes, freeze: bool) -> Option<Value> {
        if bytes.as_ptr() != self.of.as_ptr() || bytes.len() != self.of.len() {
            return None;
        }
        let (buffer, encoding, range) = self.made.take()?;
        let s = cx.heap.str_buf(cx.k.string.val(), buffer, encoding.as_u8());
        s.set_range(range);
        if freeze {
            super::time::freeze(s.val());
        }
        Some(s.val())
    }
    /// The bytes are of no use any more: that much memory is given back elsewhere.
    pub fn forget(self, cx: &mut Cx) {
        cx.spawn_job(move || drop(self));
    }
}
