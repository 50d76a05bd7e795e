//! Strings made from a string: stripping, chopping, case, character sets, padding, and each
//! one's twin with `!`, which changes the receiver and answers nil when nothing changed.
//!
//! Invariant: a [`Change`] of none means the result equals the receiver.

use crate::away::{away, away_both};
use crate::text::*;
use kumi_text::case::{self, CaseOp, CaseOptions};
use kumi_text::encoding::{CodeRange, EncIndex};
use kumi_text::trset::{self, Intersection};
use kumi_vm::*;
use std::ops::Range;

/// What an edit makes of a string.
enum Change {
    None,
    /// A part of it is left.
    Keep(Range<usize>),
    /// New bytes in an encoding.
    New(Vec<u8>, EncIndex, CodeRange),
}
type Edit = fn(&mut Cx, Str, &[Value]) -> Result<Change, Exit>;

/// The plain method: a new String.
fn plain(cx: &mut Cx, recv: Value, args: &[Value], f: Edit) -> R {
    let s = me(cx, recv)?;
    Ok(match f(cx, s, args)? {
        Change::None => copy(cx, s),
        Change::Keep(r) => piece(cx, s, r),
        Change::New(b, e, r) => make_vec(cx, b, e, r),
    })
}
/// The method with `!`.
fn bang(cx: &mut Cx, recv: Value, args: &[Value], f: Edit) -> R {
    let s = me(cx, recv)?;
    cx.check_frozen(recv)?;
    match f(cx, s, args)? {
        Change::None => return Ok(Value::NIL),
        Change::Keep(r) => {
            let known = piece_range(s);
            cx.heap.edit(s).buf.keep(r);
            s.set_range(known as u8);
        }
        Change::New(b, e, r) => set(cx, s, &b, e, r),
    }
    Ok(recv)
}
fn keep(s: Str, r: Range<usize>) -> Change {
    if r == (0..s.bytes().len()) { Change::None } else { Change::Keep(r) }
}

// --- stripping --------------------------------------------------------------------

fn blank(b: u8) -> bool {
    matches!(b, b'\t'..=b'\r' | b' ')
}
fn selectors(cx: &mut Cx, s: Str, args: &[Value]) -> Result<Option<Intersection>, Exit> {
    if args.is_empty() { Ok(None) } else { sets(cx, s, args).map(Some) }
}
/// Bytes to take off the front.
fn left(cx: &mut Cx, s: Str, args: &[Value]) -> Result<usize, Exit> {
    let (b, e) = (s.bytes(), enc(s));
    let sel = selectors(cx, s, args)?;
    if sel.is_none() && (single_byte(s) || e.is_utf8()) {
        let at = b.iter().position(|c| !blank(*c) && *c != 0).unwrap_or(b.len());
        if at < b.len() && b[at] >= 0x80 && e.decode(&b[at..]).is_none() {
            return Err(cx.arg_error(&format!("invalid byte sequence in {}", e.name())));
        }
        return Ok(at);
    }
    let (mut i, mut patience) = (0, cx.patience());
    while i < b.len() {
        patience.step(cx)?;
        let Some((c, n)) = e.decode(&b[i..]) else {
            if sel.is_some() {
                break;
            }
            return Err(cx.arg_error(&format!("invalid byte sequence in {}", e.name())));
        };
        let strip = match &sel {
            Some(x) => x.contains(c),
            None => c == 0 || c < 0x80 && blank(c as u8),
        };
        if !strip {
            break;
        }
        i += n;
    }
    Ok(i)
}
/// Where the text that stays ends; never before `from`.
fn right(cx: &mut Cx, s: Str, args: &[Value], from: usize) -> Result<usize, Exit> {
    let (b, e) = (s.bytes(), enc(s));
    let sel = selectors(cx, s, args)?;
    if sel.is_none() && range(s) == CodeRange::Broken {
        let m = format!("incompatible encoding with this operation: {}", e.name());
        return Err(cx.raise_msg(cx.k.compatibility_error, &m));
    }
    if sel.is_none() && (single_byte(s) || e.is_utf8()) {
        let mut end = b.len();
        while end > from && (blank(b[end - 1]) || b[end - 1] == 0) {
            end -= 1;
        }
        return Ok(end);
    }
    let (mut end, mut patience) = (b.len(), cx.patience());
    while end > from {
        patience.step(cx)?;
        let at = e.prev_char(b, end).unwrap_or(0);
        let Some((c, _)) = e.decode(&b[at..end]) else { break };
        let strip = match &sel {
            Some(x) => x.contains(c),
            None => c == 0 || c < 0x80 && blank(c as u8),
        };
        if !strip || at < from {
            break;
        }
        end = at;
    }
    Ok(end)
}
fn strip(cx: &mut Cx, s: Str, args: &[Value]) -> Result<Change, Exit> {
    let a = left(cx, s, args)?;
    let b = right(cx, s, args, a)?;
    Ok(keep(s, a..b))
}
fn lstrip(cx: &mut Cx, s: Str, args: &[Value]) -> Result<Change, Exit> {
    let a = left(cx, s, args)?;
    Ok(keep(s, a..s.bytes().len()))
}
fn rstrip(cx: &mut Cx, s: Str, args: &[Value]) -> Result<Change, Exit> {
    let b = right(cx, s, args, 0)?;
    Ok(keep(s, 0..b))
}

/// Where the text ends without its line end.
pub fn chomped(s: Str) -> usize {
    let (b, e) = (s.bytes(), enc(s));
    let n = b.len();
    if e.min_len() == 1 {
        return match b {
            [.., b'\r', b'\n'] => n - 2,
            [.., b'\r' | b'\n'] => n - 1,
            _ => n,
        };
    }
    let Some(at) = e.prev_char(b, n) else { return n };
    match e.decode(&b[at..]) {
        Some((0x0a, _)) => match e.prev_char(b, at) {
            Some(p) if e.decode(&b[p..at]).is_some_and(|c| c.0 == 0x0d) => p,
            _ => at,
        },
        Some((0x0d, _)) => at,
        _ => n,
    }
}
fn chomp(cx: &mut Cx, s: Str, args: &[Value]) -> Result<Change, Exit> {
    let n = s.bytes().len();
    let rs = if args.is_empty() { cx.get_global("$/") } else { args[0] };
    if rs.is_nil() && !args.is_empty() {
        return Ok(Change::None);
    }
    let sep = if rs.is_nil() {
        None
    } else if args.is_empty() {
        rs.as_str()
    } else {
        Some(cx.arg_str(args, 0)?)
    };
    let Some(sep) = sep.filter(|x| x.bytes() != b"\n") else { return Ok(keep(s, 0..chomped(s))) };
    if sep.bytes().is_empty() {
        let b = s.bytes();
        let mut end = n;
        while end > 0 && b[end - 1] == b'\n' {
            end -= if end > 1 && b[end - 2] == b'\r' { 2 } else { 1 };
        }
        return Ok(keep(s, 0..end));
    }
    if n == 0 || compatible(s, sep).is_none() {
        compat(cx, s, sep)?;
        return Ok(Change::None);
    }
    Ok(if crate::string::search::ends(s, sep) { keep(s, 0..n - sep.bytes().len()) } else { Change::None })
}
fn chop(_: &mut Cx, s: Str, _: &[Value]) -> Result<Change, Exit> {
    let (b, e) = (s.bytes(), enc(s));
    let n = b.len();
    if n == 0 {
        return Ok(Change::None);
    }
    if e.min_len() == 1 && b.ends_with(b"\r\n") {
        return Ok(Change::Keep(0..n - 2));
    }
    let at = if single_byte(s) {
        n - 1
    } else if e.is_utf8() {
        // Trail bytes go with what leads them, a whole character or not.
        b.iter().rposition(|c| c & 0xC0 != 0x80).unwrap_or(0)
    } else {
        e.prev_char(b, n).unwrap_or(0)
    };
    if e.min_len() > 1 && e.decode(&b[at..]).is_some_and(|c| c.0 == 0x0a) {
        if let Some(p) = e.prev_char(b, at) {
            if e.decode(&b[p..at]).is_some_and(|c| c.0 == 0x0d) {
                return Ok(Change::Keep(0..p));
            }
        }
    }
    Ok(Change::Keep(0..at))
}

// --- case ---------------------------------------------------------------------------

fn recase(cx: &mut Cx, s: Str, args: &[Value], op: CaseOp) -> Result<Change, Exit> {
    // What is no Symbol is no option.
    let names: Vec<Vec<u8>> = args.iter().map(|v| v.as_sym().map_or_else(Vec::new, |y| cx.syms.name(y).to_vec())).collect();
    let refs: Vec<&[u8]> = names.iter().map(|n| n.as_slice()).collect();
    let options = match CaseOptions::parse(&refs, op) {
        Ok(o) => o,
        Err(m) => return Err(cx.arg_error(m)),
    };
    if enc(s).is_dummy() {
        let m = format!("incompatible encoding with this operation: {}", enc(s).name());
        return Err(cx.raise_msg(cx.k.compatibility_error, &m));
    }
    let e = enc(s);
    match away(cx, s, s.bytes().len() as u64 * 5, move |b| case::map(b, e, op, options))? {
        Ok(None) => Ok(Change::None),
        Ok(Some(b)) => {
            let r = if is_ascii(s) && b.is_ascii() { CodeRange::SevenBit } else { CodeRange::Unknown };
            Ok(Change::New(b, enc(s), r))
        }
        Err(_) => Err(cx.arg_error("input string invalid")),
    }
}
fn upcase(cx: &mut Cx, s: Str, args: &[Value]) -> Result<Change, Exit> {
    recase(cx, s, args, CaseOp::Upcase)
}
fn downcase(cx: &mut Cx, s: Str, args: &[Value]) -> Result<Change, Exit> {
    recase(cx, s, args, CaseOp::Downcase)
}
fn capitalize(cx: &mut Cx, s: Str, args: &[Value]) -> Result<Change, Exit> {
    recase(cx, s, args, CaseOp::Capitalize)
}
fn swapcase(cx: &mut Cx, s: Str, args: &[Value]) -> Result<Change, Exit> {
    recase(cx, s, args, CaseOp::Swapcase)
}
fn casecmp_p(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let s = me(cx, recv)?;
    let Some(o) = args[0].as_str() else { return Err(Exit::Miss) };
    if compatible(s, o).is_none() {
        return Ok(Value::NIL);
    }
    let (e, f, n) = (enc(s), enc(o), s.bytes().len().min(o.bytes().len()));
    let same = away_both(cx, s, o, n as u64 * 10, move |s, o| case::casecmp_p(s, e, o, f))?;
    Ok(same.map_or(Value::NIL, Value::bool))
}

// --- character sets -----------------------------------------------------------------

fn sets(cx: &mut Cx, s: Str, args: &[Value]) -> Result<Intersection, Exit> {
    let mut specs: Vec<Str> = Vec::with_capacity(args.len());
    for i in 0..args.len() {
        specs.push(cx.arg_str(args, i)?);
    }
    for x in &specs {
        if range(*x) == CodeRange::Broken {
            return Err(cx.arg_error(&format!("invalid byte sequence in {}", enc(*x).name())));
        }
    }
    let mut pairs: Vec<(&[u8], EncIndex)> = Vec::new();
    for x in &specs {
        let e = compat(cx, s, *x)?;
        pairs.push((x.bytes(), e));
    }
    let x = match Intersection::parse(&pairs) {
        Ok(x) => x,
        Err(m) => return Err(cx.arg_error(&m)),
    };
    if range(s) == CodeRange::Broken && enc(s).max_len() > 1 {
        return Err(cx.arg_error(&format!("invalid byte sequence in {}", enc(s).name())));
    }
    Ok(x)
}
fn set_range_of(s: Str, b: &[u8]) -> CodeRange {
    if s.range() == 1 && b.is_ascii() { CodeRange::SevenBit } else { CodeRange::Unknown }
}
/// What looking up each character in a set takes, in nanoseconds.
fn cost(s: Str) -> u64 {
    s.bytes().len() as u64 * 8
}
fn delete(cx: &mut Cx, s: Str, args: &[Value]) -> Result<Change, Exit> {
    if args.is_empty() {
        return Err(cx.arg_error("wrong number of arguments (given 0, expected 1+)"));
    }
    let x = sets(cx, s, args)?;
    let e = enc(s);
    Ok(away(cx, s, cost(s), move |b| trset::delete(b, e, &x))?.map_or(Change::None, |b| {
        let r = set_range_of(s, &b);
        Change::New(b, enc(s), r)
    }))
}
fn squeeze(cx: &mut Cx, s: Str, args: &[Value]) -> Result<Change, Exit> {
    let x = sets(cx, s, args)?;
    let e = enc(s);
    Ok(away(cx, s, cost(s), move |b| trset::squeeze(b, e, &x))?.map_or(Change::None, |b| {
        let r = set_range_of(s, &b);
        Change::New(b, enc(s), r)
    }))
}
fn count(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let s = me(cx, recv)?;
    if args.is_empty() {
        return Err(cx.arg_error("wrong number of arguments (given 0, expected 1+)"));
    }
    if args.len() == 1 {
        // One ASCII character: count bytes.
        if let Some([c]) = args[0].as_str().as_ref().map(|x| x.bytes()) {
            if *c < 0x80 && enc(s).is_ascii_compatible() && (single_byte(s) || enc(s).is_utf8() && range(s) != CodeRange::Broken) {
                return Ok(Value::fix(memchr::memchr_iter(*c, s.bytes()).count() as i64));
            }
        }
    }
    let x = sets(cx, s, args)?;
    let e = enc(s);
    Ok(Value::fix(away(cx, s, cost(s), move |b| trset::count(b, e, &x))? as i64))
}
fn translate(cx: &mut Cx, s: Str, args: &[Value], squeeze: bool) -> Result<Change, Exit> {
    let from = cx.arg_str(args, 0)?;
    let to = cx.arg_str(args, 1)?;
    if s.bytes().is_empty() {
        return Ok(Change::None);
    }
    let e1 = compat(cx, s, from)?;
    let e2 = compat(cx, s, to)?;
    let e = if e1 == e2 { e1 } else { compat(cx, from, to)? };
    let ns = cost(s) + (from.bytes().len() + to.bytes().len()) as u64 * 50;
    let made = if cx.worth_detaching(ns) {
        let (from, to) = (from.bytes().to_vec(), to.bytes().to_vec());
        away(cx, s, ns, move |b| trset::tr(b, e, &from, &to, squeeze))?
    } else {
        trset::tr(s.bytes(), e, from.bytes(), to.bytes(), squeeze)
    };
    match made {
        Ok(None) => Ok(Change::None),
        Ok(Some(b)) => {
            let r = set_range_of(s, &b);
            Ok(Change::New(b, e, r))
        }
        Err(m) => Err(cx.arg_error(&m)),
    }
}
fn tr(cx: &mut Cx, s: Str, args: &[Value]) -> Result<Change, Exit> {
    translate(cx, s, args, false)
}
fn tr_s(cx: &mut Cx, s: Str, args: &[Value]) -> Result<Change, Exit> {
    translate(cx, s, args, true)
}

// --- the rest -----------------------------------------------------------------------

fn reversed(cx: &mut Cx, s: Str) -> Result<Vec<u8>, Exit> {
    if single_byte(s) {
        return Ok(Vec::gather(s.bytes().iter().rev().copied()));
    }
    let e = enc(s);
    away(cx, s, s.bytes().len() as u64 * 3, move |b| {
        let mut out = Vec::room(b.len());
        out.resize(b.len(), 0);
        let mut at = out.len();
        for c in e.chars(b) {
            at -= c.len();
            out[at..at + c.len()].copy_from_slice(c);
        }
        out
    })
}
fn successor(cx: &mut Cx, s: Str) -> Result<Vec<u8>, Exit> {
    let e = enc(s);
    away(cx, s, s.bytes().len() as u64 * 20, move |b| kumi_text::succ::succ(b, e))
}
fn known(s: Str) -> CodeRange {
    match s.range() {
        1 => CodeRange::SevenBit,
        2 => CodeRange::Valid,
        _ => CodeRange::Unknown,
    }
}
fn reverse(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let s = me(cx, recv)?;
    let b = reversed(cx, s)?;
    Ok(make_vec(cx, b, enc(s), known(s)))
}
fn reverse_bang(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let s = me(cx, recv)?;
    cx.check_frozen(recv)?;
    let b = reversed(cx, s)?;
    set(cx, s, &b, enc(s), known(s));
    Ok(recv)
}
fn succ(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let s = me(cx, recv)?;
    let b = successor(cx, s)?;
    Ok(make_vec(cx, b, enc(s), CodeRange::Unknown))
}
fn succ_bang(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let s = me(cx, recv)?;
    cx.check_frozen(recv)?;
    let b = successor(cx, s)?;
    set(cx, s, &b, enc(s), CodeRange::Unknown);
    Ok(recv)
}
/// Repeats the characters of `pad` to `n` characters.
fn padding(pad: Str, n: usize) -> Vec<u8> {
    if pad.bytes().len() == 1 {
        return vec![pad.bytes()[0]; n];
    }
    let count = enc(pad).chars(pad.bytes()).count().max(1);
    let mut out = pad.bytes().repeat(n / count);
    enc(pad).chars(pad.bytes()).take(n % count).for_each(|c| out.extend_from_slice(c));
    out
}
fn justify(cx: &mut Cx, recv: Value, args: &[Value], side: i8) -> R {
    let s = me(cx, recv)?;
    let width = cx.arg_i64(args, 0)?;
    let space = cx.str_enc(b" ", EncIndex::US_ASCII);
    let pad = match args.len() {
        1 => me(cx, space)?,
        _ => cx.arg_str(args, 1)?,
    };
    let e = compat(cx, s, pad)?;
    if pad.bytes().is_empty() {
        return Err(cx.arg_error("zero width padding"));
    }
    let n = char_count(s) as i64;
    if width <= n {
        return Ok(copy(cx, s));
    }
    let fill = (width - n) as usize;
    match fill.checked_mul(pad.bytes().len()) {
        Some(t) if t < isize::MAX as usize => cx.check_size(t)?,
        _ => return Err(cx.arg_error("argument too big")),
    }
    let l = match side {
        -1 => 0,
        0 => fill / 2,
        _ => fill,
    };
    let mut out = padding(pad, l);
    out.extend_from_slice(s.bytes());
    out.extend(padding(pad, fill - l));
    Ok(make_vec(cx, out, e, CodeRange::Unknown))
}
fn ljust(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    justify(cx, recv, args, -1)
}
fn center(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    justify(cx, recv, args, 0)
}
fn rjust(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    justify(cx, recv, args, 1)
}
/// `__str_normalize(s, form)`: the string in UTF-8 normalised, or ArgumentError.
fn normalize(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let s = me(cx, args[0])?;
    let form = form_of(cx, args[1])?;
    match away(cx, s, s.bytes().len() as u64 * 20, move |b| kumi_text::strsearch::normalize(b, form))? {
        Some(t) => Ok(cx.str(&t)),
        None => Err(cx.arg_error("invalid byte sequence in UTF-8")),
    }
}
fn is_normalized(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let s = me(cx, args[0])?;
    let form = form_of(cx, args[1])?;
    match away(cx, s, s.bytes().len() as u64 * 20, move |b| kumi_text::strsearch::is_normalized(b, form))? {
        Some(t) => Ok(Value::bool(t)),
        None => Err(cx.arg_error("invalid byte sequence in UTF-8")),
    }
}
fn form_of(cx: &mut Cx, v: Value) -> Result<kumi_text::strsearch::Form, Exit> {
    match v.as_sym().and_then(|y| kumi_text::strsearch::Form::find(cx.syms.name(y))) {
        Some(f) => Ok(f),
        // Its name is told by the prelude, which asks first.
        None => Err(cx.arg_error("Invalid normalization form")),
    }
}

pub static TABLE: &[NativeDef] = &[
    n("String", "strip", 0, -1, |c, r, a| plain(c, r, a, strip)),
    n("String", "strip!", 0, -1, |c, r, a| bang(c, r, a, strip)),
    n("String", "lstrip", 0, -1, |c, r, a| plain(c, r, a, lstrip)),
    n("String", "lstrip!", 0, -1, |c, r, a| bang(c, r, a, lstrip)),
    n("String", "rstrip", 0, -1, |c, r, a| plain(c, r, a, rstrip)),
    n("String", "rstrip!", 0, -1, |c, r, a| bang(c, r, a, rstrip)),
    n("String", "chomp", 0, 1, |c, r, a| plain(c, r, a, chomp)),
    n("String", "chomp!", 0, 1, |c, r, a| bang(c, r, a, chomp)),
    n("String", "chop", 0, 0, |c, r, a| plain(c, r, a, chop)),
    n("String", "chop!", 0, 0, |c, r, a| bang(c, r, a, chop)),
    n("String", "upcase", 0, -1, |c, r, a| plain(c, r, a, upcase)),
    n("String", "upcase!", 0, -1, |c, r, a| bang(c, r, a, upcase)),
    n("String", "downcase", 0, -1, |c, r, a| plain(c, r, a, downcase)),
    n("String", "downcase!", 0, -1, |c, r, a| bang(c, r, a, downcase)),
    n("String", "capitalize", 0, -1, |c, r, a| plain(c, r, a, capitalize)),
    n("String", "capitalize!", 0, -1, |c, r, a| bang(c, r, a, capitalize)),
    n("String", "swapcase", 0, -1, |c, r, a| plain(c, r, a, swapcase)),
    n("String", "swapcase!", 0, -1, |c, r, a| bang(c, r, a, swapcase)),
    n("String", "casecmp?", 1, 1, casecmp_p),
    n("String", "delete", 0, -1, |c, r, a| plain(c, r, a, delete)),
    n("String", "delete!", 0, -1, |c, r, a| bang(c, r, a, delete)),
    n("String", "squeeze", 0, -1, |c, r, a| plain(c, r, a, squeeze)),
    n("String", "squeeze!", 0, -1, |c, r, a| bang(c, r, a, squeeze)),
    n("String", "count", 0, -1, count),
    n("String", "tr", 2, 2, |c, r, a| plain(c, r, a, tr)),
    n("String", "tr!", 2, 2, |c, r, a| bang(c, r, a, tr)),
    n("String", "tr_s", 2, 2, |c, r, a| plain(c, r, a, tr_s)),
    n("String", "tr_s!", 2, 2, |c, r, a| bang(c, r, a, tr_s)),
    n("String", "reverse", 0, 0, reverse),
    n("String", "reverse!", 0, 0, reverse_bang),
    n("String", "succ", 0, 0, succ),
    n("String", "next", 0, 0, succ),
    n("String", "succ!", 0, 0, succ_bang),
    n("String", "next!", 0, 0, succ_bang),
    n("String", "ljust", 1, 2, ljust),
    n("String", "rjust", 1, 2, rjust),
    n("String", "center", 1, 2, center),
    intrinsic("__str_normalize", 2, 2, normalize),
    intrinsic("__str_is_normalized", 2, 2, is_normalized),
];
