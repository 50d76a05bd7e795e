//! Values to JSON text: `__json_generate` for trees of core classes, `__json_quote` for strings.
//!
//! An object of any other class makes the whole call answer `false`: then the Ruby
//! generator of lib/json walks the tree and asks the objects.

use kumi_vm::*;

struct Layout {
    indent: Vec<u8>,
    space: Vec<u8>,
    space_before: Vec<u8>,
    object_nl: Vec<u8>,
    array_nl: Vec<u8>,
    max_nesting: usize,
    allow_nan: bool,
    ascii: bool,
    script: bool,
    /// Symbols are written as strings only outside strict mode as well; other objects are refused.
    strict: bool,
}

/// Why the native generator stopped.
enum Stop {
    /// Something only Ruby can write.
    Ruby,
    Raise(Exit),
}

const DEEPEST: usize = 400;

fn error(cx: &mut Cx, class: &str, msg: &str) -> Stop {
    let c = cx.const_path(class).and_then(|v| v.as_class()).unwrap_or(cx.k.standard_error);
    Stop::Raise(cx.raise_msg(c, msg))
}

/// How many bytes at the beginning of `s` stand for themselves, as far as eight at a time tell.
fn plain(s: &[u8]) -> usize {
    const ONES: u64 = u64::MAX / 255;
    const TOPS: u64 = ONES << 7;
    // Has a byte below `n` (no more than 128)? A byte above the first such may be told wrongly: that is looked at again.
    let below = |w: u64, n: u64| w.wrapping_sub(ONES * n) & !w & TOPS;
    let mut i = 0;
    for c in s.chunks_exact(8) {
        let w = u64::from_le_bytes(c.try_into().unwrap_or_default());
        let found = below(w, 0x20) | below(w ^ (ONES * b'"' as u64), 1) | below(w ^ (ONES * b'\\' as u64), 1);
        if found != 0 {
            return i + found.trailing_zeros() as usize / 8;
        }
        i += 8;
    }
    i
}

/// Appends a quoted string; the text must be UTF-8.
fn quote(out: &mut Vec<u8>, s: &[u8], ascii: bool, script: bool) {
    out.want(s.len() + 2);
    out.put(b'"');
    let mut from = 0;
    let mut i = 0;
    while i < s.len() {
        if !(ascii || script) {
            i += plain(&s[i..]);
            if i == s.len() {
                break;
            }
        }
        let c = s[i];
        let plain = c >= 0x20 && c != b'"' && c != b'\\' && (c < 0x80 || !(ascii || script)) && !(script && c == b'/');
        if plain {
            i += 1;
            continue;
        }
        out.put_all(&s[from..i]);
        let mut n = 1;
        match c {
            b'"' => out.put_all(b"\\\""),
            b'\\' => out.put_all(b"\\\\"),
            b'/' => out.put_all(b"\\/"),
            8 => out.put_all(b"\\b"),
            12 => out.put_all(b"\\f"),
            b'\n' => out.put_all(b"\\n"),
            b'\r' => out.put_all(b"\\r"),
            b'\t' => out.put_all(b"\\t"),
            0..=0x1f => out.put_all(format!("\\u{c:04x}").as_bytes()),
            _ => {
                n = if c >= 0xf0 {
                    4
                } else if c >= 0xe0 {
                    3
                } else {
                    2
                };
                let end = (i + n).min(s.len());
                let ch = std::str::from_utf8(&s[i..end]).ok().and_then(|t| t.chars().next());
                match ch {
                    Some(ch) if ascii || ch == '\u{2028}' || ch == '\u{2029}' => {
                        let mut w = [0; 2];
                        for u in ch.encode_utf16(&mut w) {
                            out.put_all(format!("\\u{u:04x}").as_bytes());
                        }
                    }
                    _ => out.put_all(&s[i..end]),
                }
            }
        }
        i += n;
        from = i;
    }
    out.put_all(&s[from.min(s.len())..]);
    out.put(b'"');
}

/// The UTF-8 bytes of a string that needs no conversion.
fn utf8(cx: &mut Cx, s: Gc<StrObj>) -> Result<Text, Stop> {
    let enc = EncIndex::from_u8(s.enc());
    let text = s.text();
    let b = text.bytes();
    if b.is_ascii() && enc.is_ascii_compatible() {
        return Ok(text);
    }
    if enc != EncIndex::UTF_8 && enc != EncIndex::BINARY {
        return Err(Stop::Ruby);
    }
    if std::str::from_utf8(b).is_err() {
        return Err(error(cx, "JSON::GeneratorError", "source sequence is illegal/malformed utf-8"));
    }
    Ok(text)
}

fn newline(out: &mut Vec<u8>, nl: &[u8], l: &Layout, depth: usize) {
    if !nl.is_empty() {
        out.put_all(nl);
        for _ in 0..depth {
            out.put_all(&l.indent);
        }
    }
}

fn write(cx: &mut Cx, v: Value, out: &mut Vec<u8>, l: &Layout, depth: usize) -> Result<(), Stop> {
    match v {
        Value::NIL => out.put_all(b"null"),
        Value::TRUE => out.put_all(b"true"),
        Value::FALSE => out.put_all(b"false"),
        _ if v.is_fix() => out.put_all(v.fix_val().to_string().as_bytes()),
        _ if v.is_sym() => {
            if !l.strict && !cx.builtin(v, sym::TO_S) {
                return Err(Stop::Ruby);
            }
            let Some(s) = v.as_sym() else { return Err(Stop::Ruby) };
            quote(out, cx.syms.name(s), l.ascii, l.script);
        }
        _ => {
            if let Some(f) = v.as_float() {
                if !f.is_finite() && !l.allow_nan {
                    let t = if f.is_nan() {
                        "NaN"
                    } else if f > 0.0 {
                        "Infinity"
                    } else {
                        "-Infinity"
                    };
                    return Err(error(cx, "JSON::GeneratorError", &format!("{t} not allowed in JSON")));
                }
                kumi_num::float::write_to_s(out, f);
                return Ok(());
            }
            let class = cx.class_of(v);
            match v.kind() {
                Some(Kind::Str) if class == cx.k.string => {
                    let Some(s) = v.as_str() else { return Err(Stop::Ruby) };
                    let b = utf8(cx, s)?;
                    quote(out, b.bytes(), l.ascii, l.script);
                }
                Some(Kind::Big) => {
                    let Some(b) = v.as_big() else { return Err(Stop::Ruby) };
                    out.put_all(b.n.to_string_radix(10).as_bytes());
                }
                Some(Kind::Array) if class == cx.k.array => array(cx, v, out, l, depth)?,
                Some(Kind::Hash) if class == cx.k.hash => hash(cx, v, out, l, depth)?,
                _ => return Err(Stop::Ruby),
            }
        }
    }
    Ok(())
}

fn deeper(cx: &mut Cx, l: &Layout, depth: usize) -> Result<usize, Stop> {
    let d = depth + 1;
    if l.max_nesting > 0 && d > l.max_nesting {
        return Err(error(cx, "JSON::NestingError", &format!("nesting of {d} is too deep")));
    }
    if d > DEEPEST { Err(Stop::Ruby) } else { Ok(d) }
}

fn array(cx: &mut Cx, v: Value, out: &mut Vec<u8>, l: &Layout, depth: usize) -> Result<(), Stop> {
    let d = deeper(cx, l, depth)?;
    let Some(a) = v.as_array() else { return Err(Stop::Ruby) };
    if a.is_empty() {
        out.put_all(b"[]");
        return Ok(());
    }
    out.put(b'[');
    for i in 0..a.len() {
        if i > 0 {
            out.put(b',');
        }
        newline(out, &l.array_nl, l, d);
        write(cx, a.get(i).unwrap_or(Value::NIL), out, l, d)?;
    }
    newline(out, &l.array_nl, l, depth);
    out.put(b']');
    Ok(())
}

fn hash(cx: &mut Cx, v: Value, out: &mut Vec<u8>, l: &Layout, depth: usize) -> Result<(), Stop> {
    let d = deeper(cx, l, depth)?;
    let Some(h) = v.as_hash() else { return Err(Stop::Ruby) };
    if h.h.len() == 0 {
        out.put_all(b"{}");
        return Ok(());
    }
    out.put(b'{');
    let mut first = true;
    for i in 0..h.h.slots() {
        let Some(e) = h.h.at(i) else { continue };
        if !first {
            out.put(b',');
        }
        first = false;
        newline(out, &l.object_nl, l, d);
        if let Some(s) = e.key.as_str() {
            if cx.class_of(e.key) != cx.k.string {
                return Err(Stop::Ruby);
            }
            quote(out, utf8(cx, s)?.bytes(), l.ascii, l.script);
        } else if let Some(s) = e.key.as_sym() {
            quote(out, cx.syms.name(s), l.ascii, l.script);
        } else if e.key.is_fix() {
            quote(out, e.key.fix_val().to_string().as_bytes(), l.ascii, l.script);
        } else {
            return Err(Stop::Ruby);
        }
        out.put_all(&l.space_before);
        out.put(b':');
        out.put_all(&l.space);
        write(cx, e.val, out, l, d)?;
    }
    newline(out, &l.object_nl, l, depth);
    out.put(b'}');
    Ok(())
}

/// `__json_generate(obj, indent, space, space_before, object_nl, array_nl, max_nesting, allow_nan, ascii, script, strict, depth)`:
/// the text, or false when Ruby has to write it.
fn generate(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let text = |v: Value| v.as_str().map_or(Vec::new(), |s| s.bytes().to_vec());
    let l = Layout {
        indent: text(args[1]),
        space: text(args[2]),
        space_before: text(args[3]),
        object_nl: text(args[4]),
        array_nl: text(args[5]),
        max_nesting: args[6].as_fix().unwrap_or(0).max(0) as usize,
        allow_nan: args[7].truthy(),
        ascii: args[8].truthy(),
        script: args[9].truthy(),
        strict: args[10].truthy(),
    };
    let depth = args[11].as_fix().unwrap_or(0).max(0) as usize;
    let mut out = Vec::with_capacity(128);
    match write(cx, args[0], &mut out, &l, depth) {
        Ok(()) => {
            cx.check_size(out.len())?;
            Ok(cx.str_vec(out, EncIndex::UTF_8))
        }
        Err(Stop::Ruby) => Ok(Value::FALSE),
        Err(Stop::Raise(e)) => Err(e),
    }
}
/// `__json_quote(str, ascii, script)` for a String in UTF-8.
fn quote_str(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let s = cx.arg_str(args, 0)?;
    match utf8(cx, s) {
        Ok(b) => {
            let mut out = Vec::room(b.bytes().len() + 2);
            quote(&mut out, b.bytes(), args[1].truthy(), args[2].truthy());
            Ok(cx.str_vec(out, EncIndex::UTF_8))
        }
        Err(Stop::Ruby) => Ok(Value::FALSE),
        Err(Stop::Raise(e)) => Err(e),
    }
}

/// The generator as intrinsics.
pub static TABLE: &[NativeDef] = &[intrinsic("__json_generate", 12, 12, generate), intrinsic("__json_quote", 3, 3, quote_str)];

#[cfg(test)]
mod tests {
    use super::*;

    fn quoted(s: &str, ascii: bool, script: bool) -> String {
        let mut out = Vec::new();
        quote(&mut out, s.as_bytes(), ascii, script);
        String::from_utf8(out).unwrap()
    }

    /// Text, as `JSON.generate` writes it, and with `ascii_only`.
    #[test]
    fn text_is_quoted() {
        for (text, want, ascii) in [
            ("", r#""""#, r#""""#),
            ("abc", r#""abc""#, r#""abc""#),
            ("a\"b\\c/", r#""a\"b\\c/""#, r#""a\"b\\c/""#),
            ("\u{8}\u{c}\n\r\t", r#""\b\f\n\r\t""#, r#""\b\f\n\r\t""#),
            ("\0\u{1f}\u{7f}", "\"\\u0000\\u001f\u{7f}\"", "\"\\u0000\\u001f\u{7f}\""),
            ("é", "\"é\"", r#""\u00e9""#),
            ("\u{1f600}", "\"\u{1f600}\"", r#""\ud83d\ude00""#),
            ("12345678\"", r#""12345678\"""#, r#""12345678\"""#),
            ("1234567é\n", "\"1234567é\\n\"", r#""1234567\u00e9\n""#),
        ] {
            assert_eq!((quoted(text, false, false).as_str(), quoted(text, true, false).as_str()), (want, ascii));
        }
        assert_eq!(quoted("</x>\u{2028}é", false, true), "\"<\\/x>\\u2028é\"");
    }

    #[test]
    fn eight_bytes_at_a_time_find_what_must_be_escaped() {
        for special in [b'"', b'\\', 0, 0x1f, b'\n'] {
            for at in 0..24 {
                let mut text = [b'x'; 24];
                text[at] = special;
                assert_eq!(plain(&text), at, "{special} at {at}");
            }
        }
        assert_eq!(plain(&[0x80, 0xFF, 0x20, 0x21, 0x23, 0x5B, 0x5D, 0x7F, 0]), 8);
    }
}
