//! Single-byte encodings: what bytes 0x80 to 0xFF mean in Unicode. The figures stand in single.txt.
//!
//! Invariant: a page has 128 entries, entry `i` for byte `0x80 + i`; 0 stands for a byte
//! without a mapping.

use super::{EncIndex, TABLE};
use std::collections::HashMap;
use std::sync::OnceLock;

/// The Unicode character of byte `code` in a single-byte encoding with a table.
pub(crate) fn to_unicode(enc: EncIndex, code: u32) -> Option<char> {
    if code < 0x80 {
        return char::from_u32(code);
    }
    let i = usize::try_from(code).ok()?.checked_sub(0x80)?;
    if enc == EncIndex::ISO_8859_1 {
        return (i < 128).then(|| char::from_u32(code)).flatten();
    }
    match table(enc)?.get(i) {
        None | Some(0) => None,
        Some(&u) => char::from_u32(u as u32),
    }
}

/// The byte of a Unicode character above U+007F in a single-byte encoding.
pub(crate) fn from_unicode(enc: EncIndex, c: char) -> Option<u8> {
    static REVERSE: OnceLock<Vec<OnceLock<HashMap<u16, u8>>>> = OnceLock::new();
    if (c as u32) < 0x80 {
        return Some(c as u8);
    }
    if enc == EncIndex::ISO_8859_1 {
        return u8::try_from(c as u32).ok();
    }
    let table = table(enc)?;
    let reverse = REVERSE.get_or_init(|| EncIndex::all().map(|_| OnceLock::new()).collect());
    let map = reverse
        .get(enc.index())?
        .get_or_init(|| table.iter().enumerate().filter(|&(_, &u)| u != 0).map(|(i, &u)| (u, 0x80 + i as u8)).collect());
    map.get(&u16::try_from(c as u32).ok()?).copied()
}

/// Whether the encoding converts to and from Unicode here.
pub(crate) fn has_table(enc: EncIndex) -> bool {
    enc == EncIndex::ISO_8859_1 || table(enc).is_some()
}

fn table(enc: EncIndex) -> Option<&'static [u16; 128]> {
    CHARTS.pages.get(usize::from(CHARTS.of[enc.index()]))
}

const PAGES: usize = 49;

struct Charts {
    /// By row of the table of encodings: which page is its own; [`PAGES`] for none.
    of: [u8; TABLE.len()],
    pages: [[u16; 128]; PAGES],
}

/// single.txt, read when this is compiled: what is wrong in it does not compile.
static CHARTS: Charts = read(include_bytes!("single.txt"));

const fn read(text: &[u8]) -> Charts {
    let mut charts = Charts { of: [PAGES as u8; TABLE.len()], pages: [[0; 128]; PAGES] };
    let (mut i, mut page, mut at) = (0, PAGES, 128);
    while i < text.len() {
        let from = i;
        let end = if text[i] == b'#' { b'\n' } else { b' ' };
        while i < text.len() && text[i] > end {
            i += 1;
        }
        match text.split_at(i).0.split_at(from).1 {
            [] | [b'#', ..] => {}
            [b'=', name @ ..] => {
                if at != 0 {
                    assert!(at == 128, "a page of another length");
                    page = (page + 1) % (PAGES + 1);
                    at = 0;
                }
                charts.of[row(name)] = page as u8;
            }
            [b'-', count @ ..] => at += if count.is_empty() { 1 } else { number(count, 10).0 },
            word => {
                let (first, len) = number(word, 16);
                let last = if len < word.len() { number(word.split_at(len + 1).1, 16).0 } else { first };
                let mut c = first;
                while c <= last {
                    charts.pages[page][at] = c as u16;
                    at += 1;
                    c += 1;
                }
            }
        }
        i += 1;
    }
    assert!(at == 128 && page == PAGES - 1, "another number of pages");
    charts
}

/// The number that a word begins with, and its length.
const fn number(word: &[u8], radix: u32) -> (usize, usize) {
    let (mut n, mut i) = (0, 0);
    while i < word.len() && word[i] != b'-' {
        match (word[i] as char).to_digit(radix) {
            Some(d) => n = n * radix as usize + d as usize,
            None => panic!("no number"),
        }
        i += 1;
    }
    (n, i)
}

/// The row of the encoding of that name.
const fn row(name: &[u8]) -> usize {
    let mut row = 0;
    while !same(TABLE[row].name.as_bytes(), name) {
        row += 1;
    }
    row
}

const fn same(a: &[u8], b: &[u8]) -> bool {
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}
