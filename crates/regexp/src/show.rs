//! Patterns as text: escaping, `to_s`, `inspect`, union, and what the text gives away.
//!
//! Invariant: output in the pattern's encoding; for a valid pattern `to_s` is a pattern
//! that matches the same.

use crate::regex::{Options, Regex};
use kumi_budget::Grow;
use kumi_text::EncIndex;
use kumi_text::encoding::Ctype;

/// `Regexp.escape`.
pub fn escape(text: &[u8], enc: EncIndex) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 8);
    let wide = !enc.is_ascii_compatible();
    for c in enc.chars(text) {
        // In a wide text an operator is a character of several bytes, and so is what quotes it.
        if wide {
            let plain = enc.decode(c).and_then(|(code, _)| u8::try_from(code).ok()).filter(u8::is_ascii);
            let quoted = plain.map(|b| escape(&[b], EncIndex::US_ASCII)).filter(|q| q.len() > 1);
            match quoted {
                Some(q) => q.iter().filter_map(|b| enc.encode(*b as u32)).for_each(|b| out.extend_from_slice(&b)),
                None => out.extend_from_slice(c),
            }
            continue;
        }
        match c {
            [b] => {
                let letter = match b {
                    b'\n' => b'n',
                    b'\t' => b't',
                    b'\r' => b'r',
                    0x0B => b'v',
                    0x0C => b'f',
                    b' ' | b'#' | b'[' | b']' | b'{' | b'}' | b'(' | b')' | b'|' | b'-' | b'*' | b'.' | b'\\' | b'?' | b'+' | b'^'
                    | b'$' => *b,
                    _ => {
                        out.push(*b);
                        continue;
                    }
                };
                out.extend_from_slice(&[b'\\', letter]);
            }
            more => out.extend_from_slice(more),
        }
    }
    out
}

/// The source as it stands between slashes: `/` and unprintable bytes escaped, and what
/// is neither ASCII nor UTF-8 by its code.
pub fn expression(source: &[u8], enc: EncIndex) -> Vec<u8> {
    let mut out = Vec::with_capacity(source.len());
    let mut i = 0;
    while i < source.len() {
        let n = enc.char_len(&source[i..]).step().max(1);
        let c = &source[i..i + n];
        i += n;
        match c {
            b"\\" if i < source.len() => {
                let n = enc.char_len(&source[i..]).step().max(1);
                out.push(b'\\');
                out.extend_from_slice(&source[i..i + n]);
                i += n;
            }
            b"/" => out.extend_from_slice(b"\\/"),
            _ => match enc.decode(c) {
                Some((code, _))
                    if (code < 0x80 || enc.is_utf8()) && (enc.is_ctype(code, Ctype::Print) || enc.is_ctype(code, Ctype::Space)) =>
                {
                    out.extend_from_slice(c)
                }
                Some((code, _)) if code < 0x100 => {
                    for b in c {
                        out.extend_from_slice(format!("\\x{b:02X}").as_bytes());
                    }
                }
                Some((code, _)) => out.extend_from_slice(format!("\\x{{{code:X}}}").as_bytes()),
                None => {
                    for b in c {
                        out.extend_from_slice(format!("\\x{b:02X}").as_bytes());
                    }
                }
            },
        }
    }
    out
}

/// `Regexp#inspect`.
pub fn inspect(source: &[u8], options: Options, enc: EncIndex) -> Vec<u8> {
    let mut out = vec![b'/'];
    out.extend(expression(source, enc));
    out.push(b'/');
    out.extend_from_slice(options.letters().as_bytes());
    if options.has(Options::NOENCODING) {
        out.push(b'n');
    }
    out
}

/// Reads option letters; the bits and the bytes read.
fn letters(text: &[u8]) -> (u32, usize) {
    let mut bits = 0;
    for (i, c) in text.iter().enumerate() {
        bits |= match c {
            b'm' => Options::MULTILINE,
            b'i' => Options::IGNORECASE,
            b'x' => Options::EXTENDED,
            _ => return (bits, i),
        };
    }
    (bits, text.len())
}

/// `Regexp#to_s`: the source in a group that carries its options; a source that is one
/// such group already is unwrapped first.
pub fn to_s(source: &[u8], options: Options, enc: EncIndex) -> Vec<u8> {
    const EMBED: u32 = Options::MULTILINE | Options::IGNORECASE | Options::EXTENDED;
    let mut bits = options.0 & EMBED;
    let mut text = source;
    while text.len() >= 4 && text.starts_with(b"(?") {
        let mut inner_bits = bits;
        let mut rest = &text[2..];
        let (on, n) = letters(rest);
        inner_bits |= on;
        rest = &rest[n..];
        if rest.len() > 1 && rest[0] == b'-' {
            let (off, n) = letters(&rest[1..]);
            inner_bits &= !off;
            rest = &rest[1 + n..];
        }
        match rest {
            [b')', tail @ ..] => {
                bits = inner_bits;
                text = tail;
                continue;
            }
            [b':', inner @ .., b')'] if Regex::new(inner, Options(inner_bits), enc).is_ok() => {
                bits = inner_bits;
                text = inner;
            }
            _ => {
                bits = options.0 & EMBED;
                text = source;
            }
        }
        break;
    }
    let mut out = b"(?".to_vec();
    out.extend_from_slice(Options(bits).letters().as_bytes());
    if bits != EMBED {
        out.push(b'-');
        out.extend_from_slice(Options(!bits & EMBED).letters().as_bytes());
    }
    out.push(b':');
    out.extend(expression(text, enc));
    out.push(b')');
    out
}

/// One alternative of `Regexp.union`.
pub enum Alternative<'a> {
    /// A string: escaped.
    Text(&'a [u8], EncIndex),
    /// A regexp: embedded with its options.
    Regexp(&'a Regex),
}

/// The source of `Regexp.union` for two or more alternatives, or one string. A single
/// regexp is returned unchanged by the caller; none gives `(?!)`.
pub fn union(parts: &[Alternative<'_>]) -> Vec<u8> {
    if parts.is_empty() {
        return b"(?!)".to_vec();
    }
    // Between wide texts stands a wide bar.
    let wide = parts.iter().find_map(|p| match p {
        Alternative::Text(_, enc) => (!enc.is_ascii_compatible()).then_some(*enc),
        Alternative::Regexp(re) => (!re.encoding().is_ascii_compatible()).then_some(re.encoding()),
    });
    let bar = wide.and_then(|enc| enc.encode(b'|' as u32)).unwrap_or_else(|| kumi_text::encoding::CharBuf::new(b"|"));
    let mut out = Vec::new();
    for (i, part) in parts.iter().enumerate() {
        if i > 0 {
            out.extend_from_slice(&bar);
        }
        match part {
            Alternative::Text(text, enc) => out.extend(escape(text, *enc)),
            Alternative::Regexp(re) => out.extend(to_s(re.source(), re.options(), re.encoding())),
        }
    }
    out
}

/// The text a pattern stands for when it has no operator.
pub(crate) fn literal(text: &[u8], options: Options, enc: EncIndex) -> Option<Vec<u8>> {
    if options.has(Options::IGNORECASE) || options.has(Options::EXTENDED) || text.is_empty() {
        return None;
    }
    let mut out = Vec::room(text.len());
    let mut i = 0;
    while i < text.len() {
        let n = enc.char_len(&text[i..]).step().max(1);
        let c = &text[i..i + n];
        i += n;
        match c {
            [b'\\'] => {
                let e = *text.get(i)?;
                i += 1;
                match e {
                    b'n' => out.push(b'\n'),
                    b't' => out.push(b'\t'),
                    b'r' => out.push(b'\r'),
                    b'f' => out.push(0x0C),
                    b'v' => out.push(0x0B),
                    b'a' => out.push(0x07),
                    b'e' => out.push(0x1B),
                    b'x' => {
                        let hex = std::str::from_utf8(text.get(i..i + 2)?).ok()?;
                        out.push(u8::from_str_radix(hex, 16).ok()?);
                        i += 2;
                    }
                    _ if e.is_ascii_punctuation() || e == b' ' => out.push(e),
                    _ => return None,
                }
            }
            [b'.' | b'*' | b'?' | b'+' | b'^' | b'$' | b'|' | b'(' | b')' | b'[' | b']' | b'{' | b'}'] => return None,
            _ => out.extend_from_slice(c),
        }
    }
    Some(out)
}

/// Whether the pattern holds nothing that CRuby's memoization excludes: back-references,
/// subexpression calls, conditionals, absence operators, groups that are kept within look-ahead.
pub(crate) fn linear_time(text: &[u8]) -> bool {
    let mut i = 0;
    let mut in_class = 0usize;
    // For each open group: does it stand in look-ahead, or is it one?
    let mut ahead: Vec<bool> = Vec::new();
    while i < text.len() {
        let rest = &text[i..];
        match rest[0] {
            b'\\' => {
                match rest.get(1) {
                    Some(b'1'..=b'9') if in_class == 0 => return false,
                    Some(b'k' | b'g') if in_class == 0 && matches!(rest.get(2), Some(b'<' | b'\'')) => return false,
                    _ => {}
                }
                i += 1;
            }
            b'[' => in_class += 1,
            b']' => in_class = in_class.saturating_sub(1),
            _ if in_class > 0 => {}
            b'(' if rest.starts_with(b"(?~") || rest.starts_with(b"(?(") => return false,
            b'(' => {
                let within = ahead.last() == Some(&true);
                let kept = match rest {
                    [_, b'?', b'<', next, ..] => !matches!(next, b'=' | b'!'),
                    [_, b'?', b'\'', ..] => true,
                    _ => rest.get(1) != Some(&b'?'),
                };
                if within && kept {
                    return false;
                }
                ahead.push(within || matches!(rest.get(1..3), Some(b"?=" | b"?!")));
            }
            b')' => drop(ahead.pop()),
            _ => {}
        }
        i += 1;
    }
    true
}
