//! Lines: what `gets` and its kin read, by separator, limit or paragraph.

use crate::io::fill::{fill_text, make_text, text, text_consume};
use crate::io::stdio::Stdio;
use crate::io::{self, Io};
use kumi_text::encoding::{EncIndex, Precise};
use kumi_vm::*;

pub static TABLE: &[NativeDef] = &[n("IO", "gets", 0, -1, gets), intrinsic("__io_gets", 4, 4, line)];

/// The next line as bytes: `sep` empty means paragraphs, `None` the rest of the file.
fn next_line(cx: &mut Cx, io: &mut Io, sep: Option<&[u8]>, limit: Option<usize>, chomp: bool) -> Result<Option<Vec<u8>>, Exit> {
    if limit == Some(0) {
        return Ok(Some(Vec::new()));
    }
    let enc = io.read_enc(cx);
    let paragraph = sep.is_some_and(|s| s.is_empty());
    let newlines = enc.two_newlines();
    let newline = &newlines[..newlines.len() / 2];
    // Characters begin at multiples of this.
    let unit = newline.len();
    if paragraph {
        loop {
            let empty = leading(text(io), newline);
            text_consume(io, empty);
            if text(io).len() >= newline.len() {
                break;
            }
            if !fill_text(cx, io)? {
                if text(io).is_empty() {
                    return Ok(None);
                }
                break;
            }
        }
    }
    let sep: Option<&[u8]> = if paragraph { Some(newlines) } else { sep };
    let mut from = 0;
    loop {
        let t = text(io);
        let found = match sep {
            Some(s) if s.len() == 1 => memchr::memchr(s[0], &t[from..]).map(|p| from + p + 1),
            Some(s) => find_whole(t, s, from, unit).map(|p| p + s.len()),
            None => None,
        };
        let capped = limit.filter(|l| found.is_none_or(|f| f > *l) && t.len() >= *l);
        if let Some(l) = capped {
            // A character that the limit cuts is taken whole.
            let Some(end) = whole_chars(enc, t, l) else {
                if fill_text(cx, io)? {
                    continue;
                }
                let t = Vec::copy(text(io));
                text_consume(io, t.len());
                return Ok(Some(t));
            };
            let mut v = Vec::copy(&t[..end]);
            text_consume(io, end);
            if chomp && sep.is_some_and(|s| v.ends_with(s)) {
                cut_separator(&mut v, sep.unwrap_or(b""));
            }
            return Ok(Some(v));
        }
        if let Some(end) = found {
            let mut v = Vec::copy(&t[..end]);
            if paragraph {
                // Further empty lines belong to the separator.
                let mut k = end;
                loop {
                    let t = text(io);
                    k += leading(&t[k..], newline);
                    if k + newline.len() <= t.len() || !fill_text(cx, io)? {
                        break;
                    }
                }
                text_consume(io, k);
            } else {
                text_consume(io, end);
            }
            if chomp {
                cut_separator(&mut v, sep.unwrap_or(b""));
            }
            return Ok(Some(v));
        }
        from = t.len().saturating_sub(sep.map_or(0, |s| s.len() - 1));
        from -= from % unit;
        if !fill_text(cx, io)? {
            let v = Vec::copy(text(io));
            if v.is_empty() {
                return Ok(None);
            }
            text_consume(io, v.len());
            return Ok(Some(v));
        }
    }
}
/// Bytes of the newlines that `t` begins with.
fn leading(t: &[u8], newline: &[u8]) -> usize {
    t.chunks_exact(newline.len()).take_while(|c| *c == newline).count() * newline.len()
}
/// Where `sep` is in `t`, at `from` or behind it and between two characters of `unit` bytes or more.
fn find_whole(t: &[u8], sep: &[u8], from: usize, unit: usize) -> Option<usize> {
    memchr::memmem::find_iter(&t[from..], sep).map(|p| from + p).find(|p| p % unit == 0)
}
fn cut_separator(v: &mut Vec<u8>, sep: &[u8]) {
    v.truncate(v.len() - sep.len());
    if sep == b"\n" && v.last() == Some(&b'\r') {
        v.pop();
    }
}
/// Where the character that byte `l` is in ends; `None` when it is not all there yet.
fn whole_chars(enc: EncIndex, t: &[u8], l: usize) -> Option<usize> {
    if enc.is_single_byte() {
        return Some(l);
    }
    // Only the neighbourhood of the limit matters in encodings whose characters can be found backwards.
    let mut at = if enc.is_utf8() {
        let mut k = l;
        while k > 0 && l - k < 4 && t.get(k).is_some_and(|c| c & 0xc0 == 0x80) {
            k -= 1;
        }
        if k == l {
            return Some(l);
        }
        k
    } else {
        0
    };
    while at < l {
        match enc.precise_len(&t[at..]) {
            Precise::Found(n) => at += n.max(1),
            Precise::Invalid => at += 1,
            Precise::NeedMore(_) => return None,
        }
    }
    Some(at)
}

fn count_line(cx: &mut Cx, io: &mut Io) {
    io.lineno += 1;
    cx.state::<Stdio>().lineno = io.lineno;
}

/// IO#gets without arguments; with them the prelude sorts them out.
fn gets(cx: &mut Cx, recv: Value, a: &[Value]) -> R {
    if !a.is_empty() {
        return Err(Exit::Miss);
    }
    let rs = cx.state::<Stdio>().rs;
    let sep = rs.and_then(|v| v.as_str());
    let io = io::reader(cx, recv)?;
    let enc = io.read_enc(cx);
    if !enc.is_ascii_compatible() {
        return Err(Exit::Miss);
    }
    let l = next_line(cx, io, sep.as_ref().map(|s| s.bytes()), None, false)?;
    let v = match l {
        Some(b) => {
            count_line(cx, io);
            make_text(cx, io, &b)
        }
        None => Value::NIL,
    };
    cx.set_global("$_", v);
    Ok(v)
}
/// __io_gets(io, separator or nil, limit or nil, chomp)
fn line(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let sep = if a[1].is_nil() { None } else { Some(cx.arg_str(a, 1)?) };
    let limit = if a[2].is_nil() { None } else { usize::try_from(cx.arg_i64(a, 2)?).ok() };
    let io = io::reader(cx, a[0])?;
    // "\n" in a wide encoding is written as that encoding has it.
    let enc = io.read_enc(cx);
    let mut wide = Vec::new();
    let bytes = match &sep {
        Some(s) if !enc.is_ascii_compatible() && s.bytes().is_ascii() => {
            for c in s.bytes() {
                enc.push_code(&mut wide, *c as u32);
            }
            Some(&wide[..])
        }
        Some(s) => Some(s.bytes()),
        None => None,
    };
    let zero = limit == Some(0);
    let Some(b) = next_line(cx, io, bytes, limit, a[3].truthy())? else { return Ok(Value::NIL) };
    if !zero {
        count_line(cx, io);
    }
    Ok(make_text(cx, io, &b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_of_wide_text_stand_between_characters() {
        assert_eq!(leading(b"\n\n\na\n", b"\n"), 3);
        assert_eq!(leading(b"\n\0\n\0a\0", b"\n\0"), 4);
        assert_eq!(find_whole(b"a,b,c", b",", 2, 1), Some(3));
        // Bytes 1 and 2 belong to two characters.
        assert_eq!(find_whole(b"a\n\0b\n\0", b"\n\0", 0, 2), Some(4));
        assert_eq!(find_whole(b"a\n\0b", b"\n\0", 0, 2), None);
    }

    #[test]
    fn a_carriage_return_goes_with_its_newline_only() {
        for (line, separator, want) in [("a\n", "\n", "a"), ("a\r\n", "\n", "a"), ("\n", "\n", ""), ("a\r;", ";", "a\r"), ("a", "", "a")] {
            let mut line = line.as_bytes().to_vec();
            cut_separator(&mut line, separator.as_bytes());
            assert_eq!(line, want.as_bytes());
        }
    }

    #[test]
    fn a_limit_never_cuts_a_character() {
        for (enc, text, limit, want) in [
            (EncIndex::UTF_8, &b"a\xC3\xA9b"[..], 1, Some(1)),
            (EncIndex::UTF_8, b"a\xC3\xA9b", 2, Some(3)),
            (EncIndex::UTF_8, b"a\xC3\xA9b", 3, Some(3)),
            (EncIndex::UTF_8, b"\xE3\x81", 1, None),
            (EncIndex::EUC_JP, b"\xA4\xA2b", 1, Some(2)),
            (EncIndex::ISO_8859_1, b"\xA4\xA2b", 1, Some(1)),
        ] {
            assert_eq!(whole_chars(enc, text, limit), want, "{text:?} at {limit}");
        }
    }
}
