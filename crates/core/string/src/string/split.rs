//! Cutting a string into pieces: `split` and lines.

use crate::away::Text;
use crate::regexp::search::Rest;
use crate::regexp::{Finder, ReObj};
use crate::string::sub::gather;
use crate::text::*;
use kumi_regexp::Region;
use kumi_text::encoding::CodeRange;
use kumi_vm::*;
use std::ops::Range;

fn ascii_space(b: u8) -> bool {
    matches!(b, b'\t'..=b'\r' | b' ')
}
/// Fields between blanks.
fn awk(s: Str, limit: i64, out: &mut Vec<Range<usize>>) {
    let b = s.bytes();
    let e = enc(s);
    let plain = single_byte(s) || e.is_utf8();
    let mut i = 0;
    let step = |i: usize| if plain { 1 } else { e.char_len(&b[i..]).step().max(1) };
    let space = |i: usize| if plain { ascii_space(b[i]) } else { e.decode(&b[i..]).is_some_and(|c| c.0 < 0x80 && ascii_space(c.0 as u8)) };
    loop {
        while i < b.len() && space(i) {
            i += step(i);
        }
        if i >= b.len() {
            if limit != 0 && !b.is_empty() {
                out.put(b.len()..b.len());
            }
            return;
        }
        if limit > 0 && out.len() as i64 + 1 >= limit {
            out.put(i..b.len());
            return;
        }
        let from = i;
        while i < b.len() && !space(i) {
            i += step(i);
        }
        out.put(from..i);
        if i >= b.len() {
            return;
        }
    }
}
/// The method `split` with plain arguments.
fn split_method(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let pat = args.first().copied().unwrap_or(Value::NIL);
    let plain = if pat.is_nil() { cx.get_global("$;").is_nil() } else { pat.as_str().is_some() || pat.as_data::<ReObj>().is_some() };
    let limit = args.get(1).copied().unwrap_or(Value::fix(0));
    if !plain || !limit.is_fix() {
        return Err(Exit::Miss);
    }
    split(cx, Value::NIL, &[recv, pat, limit])
}
/// The method `lines` without arguments.
fn lines_method(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let sep = cx.get_global("$/");
    if sep.as_str().is_none() {
        return Err(Exit::Miss);
    }
    lines(cx, Value::NIL, &[recv, sep, Value::FALSE])
}
/// `__str_split(s, pattern, limit)`: pattern nil (blanks), String or Regexp.
fn split(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let s = me(cx, args[0])?;
    let limit = cx.arg_c_int(args, 2)? as i64;
    match cx.detached::<Splitting>() {
        Some(p) if p.of == [args[0], args[1]] && p.text == Text::of(s) => return pieces(cx, s, args[1], p.ranges, p.at, p.out.as_array()),
        _ => {}
    }
    let b = s.bytes();
    if limit == 1 {
        if b.is_empty() {
            return Ok(cx.array(&[]));
        }
        let c = copy(cx, s);
        return Ok(cx.array(&[c]));
    }
    let mut out: Vec<Range<usize>> = Vec::new();
    let full = |out: &Vec<Range<usize>>| limit > 0 && out.len() as i64 + 1 >= limit;
    let pat = args[1];
    if range(s) == CodeRange::Broken && pat.as_data::<ReObj>().is_none() {
        return Err(cx.arg_error(&format!("invalid byte sequence in {}", enc(s).name())));
    }
    if pat.is_nil() || pat.as_str().is_some_and(|p| p.bytes() == b" ") {
        awk(s, limit, &mut out);
    } else if let Some(p) = pat.as_str() {
        compat(cx, s, p)?;
        let needle = p.bytes();
        if range(p) == CodeRange::Broken {
            return Err(cx.arg_error(&format!("invalid byte sequence in {}", enc(p).name())));
        }
        if needle.is_empty() {
            let mut at = 0;
            while at < b.len() && !full(&out) {
                let n = if single_byte(s) { 1 } else { enc(s).char_len(&b[at..]).step().max(1) };
                out.put(at..at + n);
                at += n;
            }
            if at < b.len() || limit != 0 && !b.is_empty() {
                out.put(at..b.len());
            }
        } else {
            let mut at = 0;
            while !full(&out) {
                let Some(i) = crate::string::search::find_bytes(s, needle, at, false) else { break };
                out.put(at..i);
                at = i + needle.len();
            }
            if !b.is_empty() {
                out.put(at..b.len());
            }
        }
    } else if pat.as_data::<ReObj>().is_some() {
        let (mut at, mut from, mut last_null, mut fields) = (0, 0, false, 1i64);
        let mut region = Region::new();
        let char_at = |i: usize| if single_byte(s) { 1 } else { enc(s).char_len(&b[i..]).step().max(1) };
        let mut finder = Finder::new(cx, pat, s, Rest::Split)?;
        while !b.is_empty() && from <= b.len() && finder.find(cx, s, from, &mut region)? {
            let Some(m) = region.get(0) else { break };
            if m.is_empty() && m.start == from {
                if !last_null {
                    // An empty match where the field begins: a field has at least one character.
                    from += if from == b.len() { 1 } else { char_at(from) };
                    last_null = true;
                    continue;
                }
                out.put(at..(at + if at < b.len() { char_at(at) } else { 0 }).min(b.len()));
                at = from;
            } else {
                out.put(at..m.start);
                at = m.end;
                from = m.end;
            }
            last_null = false;
            push_groups(&region, &mut out);
            fields += 1;
            if limit > 0 && limit <= fields {
                break;
            }
        }
        if !b.is_empty() && (limit != 0 || b.len() > at) {
            out.put(at.min(b.len())..b.len());
        }
    } else {
        let t = cx.describe_type(pat);
        return Err(cx.type_error(&format!("wrong argument type {t} (expected Regexp)")));
    }
    if limit == 0 {
        while out.last().is_some_and(|r| r.is_empty()) {
            out.pop();
        }
    }
    pieces(cx, s, pat, out, 0, None)
}
/// A `split` that paused: of a string and a pattern, where to cut, how far it is, and the array of what it has.
struct Splitting {
    of: [Value; 2],
    text: Text,
    ranges: Vec<Range<usize>>,
    at: usize,
    out: Value,
}
/// So many pieces are born in the nursery, which nothing collects while they are made.
const IN_NURSERY: usize = 512;

/// The pieces of `s` from that at `at` on, behind those that are made.
fn pieces(cx: &mut Cx, s: Str, pat: Value, ranges: Vec<Range<usize>>, at: usize, made: Option<Gc<ArrayObj>>) -> R {
    let long = cx.worth_detaching(ranges.len() as u64 * 40);
    let mut pace = Pace::new();
    let mut out = Vec::room(if long { 0 } else { ranges.len() });
    for at in at..ranges.len() {
        if pace.is_over() {
            cx.look_for_room()?;
            if long {
                let out = gather(cx, made, out);
                return Err(cx.pause(out, Splitting { of: [s.val(), pat], text: Text::of(s), ranges, at, out }));
            }
            pace = Pace::new();
        }
        let r = ranges[at].clone();
        out.put(if at < IN_NURSERY { piece(cx, s, r) } else { piece_out(cx, s, r) });
    }
    Ok(gather(cx, made, out))
}
fn push_groups(region: &Region, out: &mut Vec<Range<usize>>) {
    for i in 1..region.groups.len() {
        if let Some(r) = region.get(i) {
            out.put(r);
        }
    }
}

/// Byte ranges of the lines of `s`; `sep` empty: paragraphs.
pub fn line_ranges(s: Str, sep: &[u8]) -> Vec<Range<usize>> {
    let b = s.bytes();
    let mut out = Vec::new();
    let mut at = 0;
    if sep.is_empty() {
        // A paragraph ends with two newlines; further ones belong to none.
        let two = enc(s).two_newlines();
        let one = &two[..two.len() / 2];
        let newline = |i: usize| match &b[i..] {
            [b'\r', b'\n', ..] if one.len() == 1 => 2,
            rest if rest.starts_with(one) => one.len(),
            _ => 0,
        };
        while at < b.len() {
            let mut from = at;
            let mut end = b.len();
            while let Some(i) = memchr::memmem::find(&b[from..], one).map(|i| from + i) {
                if i % one.len() > 0 {
                    from = i + 1;
                    continue;
                }
                from = i + one.len();
                let second = newline(from);
                if second > 0 {
                    end = from + second;
                    break;
                }
            }
            out.put(at..end);
            at = end;
            while at < b.len() && newline(at) > 0 {
                at += newline(at);
            }
        }
        return out;
    }
    while at < b.len() {
        let end = crate::string::search::find_bytes(s, sep, at, false).map_or(b.len(), |i| i + sep.len());
        out.put(at..end);
        at = end;
    }
    out
}
/// `__str_lines(s, separator, chomp)`
fn lines(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let s = me(cx, args[0])?;
    if args[1].is_nil() {
        let c = copy(cx, s);
        return Ok(cx.array(&[c]));
    }
    let sep = me(cx, args[1])?;
    let chomp = args[2].truthy();
    let e = enc(s);
    // The default separator in wide encodings is their newline.
    let newline;
    let text: &[u8] = if sep.bytes() == b"\n" && !e.is_ascii_compatible() {
        newline = crate::encoding::transcode::ascii_in(cx, b"\n", e)?;
        &newline
    } else {
        compat(cx, s, sep)?;
        sep.bytes()
    };
    let b = s.bytes();
    let default = sep.bytes() == b"\n";
    let mut out = Vec::new();
    for r in line_ranges(s, text) {
        let mut end = r.end;
        if chomp {
            let line = &b[r.clone()];
            if text.is_empty() {
                let two = e.two_newlines();
                let one = &two[..two.len() / 2];
                while b[r.start..end].ends_with(one) {
                    end -= if one.len() == 1 && b[r.start..end].ends_with(b"\r\n") { 2 } else { one.len() };
                }
            } else if line.ends_with(text) {
                end -= text.len();
                if default && e.min_len() == 1 && end > r.start && b[end - 1] == b'\r' {
                    end -= 1;
                }
            } else if default && e.min_len() == 1 && line.last() == Some(&b'\r') {
                end -= 1;
            }
        }
        out.put(piece(cx, s, r.start..end));
    }
    Ok(cx.array_vec(out))
}

pub static TABLE: &[NativeDef] = &[
    n("String", "split", 0, 2, split_method),
    n("String", "lines", 0, 2, |cx, r, a| if a.is_empty() { lines_method(cx, r, a) } else { Err(Exit::Miss) }),
    intrinsic("__str_split", 3, 3, split),
    intrinsic("__str_lines", 3, 3, lines),
];
