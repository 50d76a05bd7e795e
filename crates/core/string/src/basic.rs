//! Making, comparing, joining and asking strings.

use crate::text::*;
use kumi_text::encoding::{CodeRange, EncIndex};
use kumi_vm::*;
use std::cmp::Ordering;

fn length(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let s = me(cx, recv)?;
    Ok(Value::fix(char_count(s) as i64))
}
fn bytesize(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let s = me(cx, recv)?;
    Ok(Value::fix(s.bytes().len() as i64))
}
fn is_empty(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let s = me(cx, recv)?;
    Ok(Value::bool(s.bytes().is_empty()))
}

/// `a + b` as a new plain string.
pub fn concat_two(cx: &mut Cx, a: Str, b: Str) -> R {
    let e = compat(cx, a, b)?;
    let (x, y) = (a.bytes(), b.bytes());
    cx.check_size(x.len().saturating_add(y.len()))?;
    let r = if a.enc() == b.enc() { range(a).concat(range(b)) } else { CodeRange::Unknown };
    let mut buf = StrBuf::with_capacity(x.len() + y.len());
    buf.extend_from_slice(x);
    buf.extend_from_slice(y);
    let mut s = cx.heap.str_buf(cx.k.string.val(), buf, e.as_u8());
    s.set_range(r as u8);
    Ok(s.val())
}
fn plus(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let a = me(cx, recv)?;
    let b = cx.arg_str(args, 0)?;
    concat_two(cx, a, b)
}

/// Appends string `b` to `s`, whose frozenness was checked.
pub fn append_str(cx: &mut Cx, s: Str, b: Str) -> Result<(), Exit> {
    let e = compat(cx, s, b)?;
    let n = s.bytes().len().saturating_add(b.bytes().len());
    if n > s.buf.capacity() {
        cx.check_size(n)?;
    }
    let r = if s.range() != 0 || s.bytes().is_empty() { range(s).concat(range(b)) } else { CodeRange::Unknown };
    let r = if s.enc() == b.enc() || r == CodeRange::SevenBit {
        r
    } else if is_ascii(s) {
        range(b)
    } else {
        r
    };
    if s == b {
        let copy = b.bytes().to_vec();
        append(cx, s, &copy, r);
    } else {
        append(cx, s, b.bytes(), r);
    }
    let mut s = s;
    if s.enc() != e.as_u8() {
        s.set_enc(e.as_u8());
    }
    Ok(())
}
/// Appends the character with code point `c`.
fn append_code(cx: &mut Cx, s: Str, c: i64) -> Result<(), Exit> {
    let (mut s, mut e) = (s, enc(s));
    if e == EncIndex::US_ASCII && c > 127 {
        if c > 255 {
            return Err(cx.range_error(&format!("{c} out of char range")));
        }
        e = EncIndex::BINARY;
        let code = u32::try_from(c).unwrap_or(0);
        append(cx, s, &[code as u8], CodeRange::Unknown);
        s.set_enc(e.as_u8());
        return Ok(());
    }
    let ch = code_bytes(cx, c, e)?;
    append(cx, s, &ch, CodeRange::Unknown);
    Ok(())
}
/// The bytes of code point `c` in `e`, or CRuby's RangeError.
pub fn code_bytes(cx: &mut Cx, c: i64, e: EncIndex) -> Result<kumi_text::encoding::CharBuf, Exit> {
    if let Ok(code) = u32::try_from(c) {
        if let Some(ch) = e.encode(code) {
            return Ok(ch);
        }
        if e.is_unicode() || !e.is_single_byte() {
            return Err(cx.range_error(&format!("invalid codepoint 0x{code:X} in {}", e.name())));
        }
    }
    Err(cx.range_error(&format!("{c} out of char range")))
}
fn shl(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let s = me(cx, recv)?;
    cx.check_frozen(recv)?;
    if let Some(b) = args[0].as_str() {
        append_str(cx, s, b)?;
        return Ok(recv);
    }
    if let Some(c) = args[0].as_fix() {
        append_code(cx, s, c)?;
        return Ok(recv);
    }
    if args[0].as_big().is_some() {
        return Err(cx.range_error("bignum out of char range"));
    }
    Err(Exit::Convert(0, Proto::Str))
}
fn concat(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let s = me(cx, recv)?;
    cx.check_frozen(recv)?;
    for i in 0..args.len() {
        if args[i].as_big().is_some() {
            return Err(cx.range_error("bignum out of char range"));
        }
        if !args[i].is_fix() {
            cx.arg_str(args, i)?;
        }
    }
    // `s.concat(s, s)` appends what `s` was before.
    let before = args.contains(&recv).then(|| copy(cx, s));
    for a in args {
        let a = if *a == recv { before.unwrap_or(*a) } else { *a };
        match a.as_str() {
            Some(b) => append_str(cx, s, b)?,
            None => append_code(cx, s, a.fix_val())?,
        }
    }
    Ok(recv)
}
fn append_as_bytes(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let s = me(cx, recv)?;
    cx.check_frozen(recv)?;
    let mut out = Vec::new();
    for a in args {
        if let Some(b) = a.as_str() {
            out.extend_from_slice(b.bytes());
        } else if let Some(i) = a.as_fix() {
            out.put(i as u8);
        } else if let Some(b) = a.as_big() {
            out.put(b.n.to_le_bytes().first().copied().unwrap_or(0));
        } else {
            let t = cx.describe_type(*a);
            return Err(cx.type_error(&format!("wrong argument type {t} (expected String or Integer)")));
        }
    }
    let r = if s.range() == 1 && out.is_ascii() { CodeRange::SevenBit } else { CodeRange::Unknown };
    append(cx, s, &out, r);
    Ok(recv)
}
fn prepend(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let s = me(cx, recv)?;
    cx.check_frozen(recv)?;
    for i in 0..args.len() {
        cx.arg_str(args, i)?;
    }
    let whole = cx.str_enc(b"", enc(s));
    let w = me(cx, whole)?;
    for a in args {
        let a = me(cx, *a)?;
        append_str(cx, w, a)?;
    }
    append_str(cx, w, s)?;
    if !args.is_empty() {
        set(cx, s, w.bytes(), enc(w), CodeRange::Unknown);
    }
    Ok(recv)
}
fn times(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let s = me(cx, recv)?;
    let n = cx.arg_i64(args, 0)?;
    if n < 0 {
        return Err(cx.arg_error("negative argument"));
    }
    let total = match s.bytes().len().checked_mul(n as usize).filter(|t| *t < isize::MAX as usize) {
        Some(t) => t,
        None => return Err(cx.arg_error("argument too big")),
    };
    cx.check_size(total)?;
    let r = if n == 0 || total == 0 { CodeRange::Unknown } else { range(s) };
    let r = if r == CodeRange::Broken { CodeRange::Unknown } else { r };
    let out = s.bytes().repeat(n as usize);
    Ok(make_vec(cx, out, enc(s), r))
}

fn eq(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    if recv == args[0] {
        return Ok(Value::TRUE);
    }
    let s = me(cx, recv)?;
    match args[0].as_str() {
        Some(o) => Ok(Value::bool(equal(s, o))),
        None if args[0].is_heap() && (args[0].is_kind(Kind::Object) || cx.has_method(args[0], sym::TO_STR)) => Err(Exit::Miss),
        None => Ok(Value::FALSE),
    }
}
fn eql(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let s = me(cx, recv)?;
    Ok(Value::bool(args[0].as_str().is_some_and(|o| equal(s, o))))
}
fn hash(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let s = me(cx, recv)?;
    Ok(str_hash(cx, s))
}
/// The value of `hash` for a string: what hash tables use for plain ones.
pub fn str_hash(cx: &mut Cx, s: Str) -> Value {
    let h = kumi_text::hash_bytes(cx.hash_seed, s.bytes());
    Value::fix((h as i64) >> 2)
}
/// `<=>` of two strings.
pub fn compare(a: Str, b: Str) -> Ordering {
    match a.bytes().cmp(b.bytes()) {
        Ordering::Equal if !comparable(a, b) => a.enc().cmp(&b.enc()),
        o => o,
    }
}
fn cmp(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let s = me(cx, recv)?;
    match args[0].as_str() {
        Some(o) => Ok(Value::fix(compare(s, o) as i64)),
        None if args[0].is_heap() => Err(Exit::Miss),
        None => Ok(Value::NIL),
    }
}
fn casecmp(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let s = me(cx, recv)?;
    let Some(o) = args[0].as_str() else { return Err(Exit::Miss) };
    if compatible(s, o).is_none() {
        return Ok(Value::NIL);
    }
    let key = |b: &u8| b.to_ascii_lowercase();
    let ord = s.bytes().iter().map(key).cmp(o.bytes().iter().map(key));
    Ok(Value::fix(ord as i64))
}

fn to_s(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let s = me(cx, recv)?;
    if cx.real_class(recv) == cx.k.string {
        return Ok(recv);
    }
    let _l = cx.lock_objects(recv, &[]);
    Ok(copy(cx, s))
}
fn to_sym(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let s = me(cx, recv)?;
    crate::symbol::intern_str(cx, s)
}
fn initialize_copy(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let s = me(cx, recv)?;
    cx.check_frozen(recv)?;
    let o = cx.arg_str(args, 0)?;
    if s == o {
        return Ok(recv);
    }
    set(cx, s, o.bytes(), enc(o), CodeRange::Unknown);
    let mut s = s;
    s.set_range(o.range());
    Ok(recv)
}
/// A copy of the receiver's class without copying singleton or instance variables: the plain case of dup.
fn dup(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let s = me(cx, recv)?;
    if cx.class_of(recv) != cx.k.string || s.hdr.has(flag::IVARS) {
        return Err(Exit::Miss);
    }
    Ok(copy(cx, s))
}
fn uplus(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    if recv.frozen() {
        let s = me(cx, recv)?;
        return Ok(copy(cx, s));
    }
    if let Some(h) = recv.header() {
        h.clear(flag::KEYWORDS);
    }
    Ok(recv)
}
fn uminus(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let s = me(cx, recv)?;
    let plain = cx.class_of(recv) == cx.k.string && !s.hdr.has(flag::IVARS);
    if !plain && recv.frozen() {
        return Ok(recv);
    }
    // One with more than its bytes stays out of the table.
    Ok(if plain { cx.fstring_of(s) } else { cx.fstring(s.bytes(), enc(s)) })
}

fn getbyte(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let s = me(cx, recv)?;
    let i = cx.arg_i64(args, 0)?;
    // One look: it is read without its lock.
    let b = s.bytes();
    let i = if i < 0 { i.saturating_add(b.len() as i64) } else { i };
    Ok(usize::try_from(i).ok().and_then(|i| b.get(i)).map_or(Value::NIL, |c| Value::fix(*c as i64)))
}
fn setbyte(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let mut s = me(cx, recv)?;
    let i = cx.arg_i64(args, 0)?;
    let b = cx.arg_int(args, 1)?;
    cx.check_frozen(recv)?;
    let n = s.bytes().len() as i64;
    let at = if i < 0 { i + n } else { i };
    if at < 0 || at >= n {
        return Err(cx.index_error(&format!("index {i} out of string")));
    }
    let low = match (b.as_fix(), b.as_big()) {
        (Some(x), _) => x as u8,
        (_, Some(x)) => x.n.to_le_bytes().first().copied().unwrap_or(0),
        _ => 0,
    };
    s.buf.set(at as usize, low);
    s.changed();
    Ok(args[1])
}
fn bytes(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let s = me(cx, recv)?;
    let mut v = Vec::room(s.bytes().len());
    let mut patience = cx.patience();
    for part in s.bytes().chunks(1 << 16) {
        patience.steps(cx, 1 << 10)?;
        v.extend(part.iter().map(|b| Value::fix(*b as i64)));
    }
    cx.heap.charge(v.len() * 8);
    Ok(cx.array_vec(v))
}
fn chars(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let s = me(cx, recv)?;
    let (e, r) = (enc(s), range(s));
    let mut out = Vec::room(s.bytes().len().min(1 << 20));
    let mut patience = cx.patience();
    if single_byte(s) {
        for i in 0..s.bytes().len() {
            patience.step(cx)?;
            out.put(make(cx, &s.bytes()[i..i + 1], e, piece_range(s)));
        }
    } else {
        for c in e.chars(s.bytes()) {
            patience.step(cx)?;
            let k = if r == CodeRange::Valid && e.is_utf8() {
                if c[0] < 0x80 { CodeRange::SevenBit } else { CodeRange::Valid }
            } else {
                CodeRange::Unknown
            };
            out.put(make(cx, c, e, k));
        }
    }
    cx.heap.charge(out.len() * 8);
    Ok(cx.array_vec(out))
}
fn codepoints(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let s = me(cx, recv)?;
    let e = enc(s);
    if single_byte(s) && e != EncIndex::US_ASCII {
        return bytes(cx, recv, &[]);
    }
    let (mut out, mut patience) = (Vec::new(), cx.patience());
    let mut i = 0;
    while i < s.bytes().len() {
        patience.step(cx)?;
        match e.decode(&s.bytes()[i..]) {
            Some((c, n)) => {
                out.put(Value::fix(c as i64));
                i += n;
            }
            None => return Err(cx.arg_error(&format!("invalid byte sequence in {}", e.name()))),
        }
    }
    Ok(cx.array_vec(out))
}
fn ord(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let s = me(cx, recv)?;
    if s.bytes().is_empty() {
        return Err(cx.arg_error("empty string"));
    }
    match enc(s).decode(s.bytes()) {
        Some((c, _)) => Ok(Value::fix(c as i64)),
        None => Err(cx.arg_error(&format!("invalid byte sequence in {}", enc(s).name()))),
    }
}
fn chr(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let s = me(cx, recv)?;
    let n = enc(s).char_len(s.bytes()).step();
    Ok(piece(cx, s, 0..n))
}
fn sum(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let s = me(cx, recv)?;
    let bits = if args.is_empty() { 16 } else { cx.arg_c_int(args, 0)? as i64 };
    let total: u64 = s.bytes().iter().map(|b| *b as u64).sum();
    let total = if (1..64).contains(&bits) { total & ((1u64 << bits) - 1) } else { total };
    Ok(cx.uint(total))
}
fn valid_encoding(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let s = me(cx, recv)?;
    Ok(Value::bool(range(s) != CodeRange::Broken))
}
fn ascii_only(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let s = me(cx, recv)?;
    Ok(Value::bool(is_ascii(s)))
}
fn b(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let s = me(cx, recv)?;
    Ok(make(cx, s.bytes(), EncIndex::BINARY, CodeRange::Unknown))
}
fn clear(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let mut s = me(cx, recv)?;
    cx.check_frozen(recv)?;
    s.buf.clear();
    s.buf.shrink_to_fit();
    s.changed();
    Ok(recv)
}
/// `__str_graphemes(s)`: all extended grapheme clusters.
fn graphemes(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let s = me(cx, args[0])?;
    let e = enc(s);
    let mut ranges = Vec::new();
    let mut patience = cx.patience();
    if e.is_unicode() && !e.is_utf8() && range(s) != CodeRange::Broken {
        // By way of UTF-8, character by character.
        let (mut text, mut at, mut ends) = (Vec::new(), 0, Vec::new());
        while let Some((c, n)) = e.decode(&s.bytes()[at..]) {
            patience.step(cx)?;
            EncIndex::UTF_8.push_code(&mut text, c);
            at += n;
            ends.push((text.len(), at));
        }
        let (mut from, mut k) = (0, 0);
        for r in kumi_text::strsearch::graphemes(&text, EncIndex::UTF_8) {
            while k < ends.len() && ends[k].0 < r.end {
                k += 1;
            }
            let to = ends.get(k).map_or(at, |p| p.1);
            ranges.push(from..to);
            from = to;
        }
    } else {
        ranges = crate::away::away(cx, s, s.bytes().len() as u64 * 20, move |b| kumi_text::strsearch::graphemes(b, e))?;
    }
    let mut v = Vec::room(ranges.len());
    for r in ranges {
        patience.step(cx)?;
        v.push(piece(cx, s, r));
    }
    Ok(cx.array_vec(v))
}
/// Bytes of the character at byte `args[1]`.
fn char_step(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let s = me(cx, args[0])?;
    let at = cx.arg_i64(args, 1)?.max(0) as usize;
    if at >= s.bytes().len() {
        return Ok(Value::fix(0));
    }
    Ok(Value::fix(enc(s).char_len(&s.bytes()[at..]).step().max(1) as i64))
}
/// Code point at byte `args[1]`, or ArgumentError.
fn code_at(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let s = me(cx, args[0])?;
    let at = (cx.arg_i64(args, 1)?.max(0) as usize).min(s.bytes().len());
    match enc(s).decode(&s.bytes()[at..]) {
        Some((c, _)) => Ok(Value::fix(c as i64)),
        None => Err(cx.arg_error(&format!("invalid byte sequence in {}", enc(s).name()))),
    }
}
/// `__str_copy(s)`: a plain String of the same bytes.
fn copy_m(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let s = me(cx, args[0])?;
    Ok(copy(cx, s))
}
/// `__str_frozen(s)`: a frozen plain String of the same bytes, `s` itself when it is one.
fn frozen_m(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let s = me(cx, args[0])?;
    Ok(crate::regexp::frozen_copy(cx, s))
}
/// `__str_set(s, other)`: what `replace` does, whatever a user made of that name.
fn set_m(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    initialize_copy(cx, args[0], &args[1..])
}
/// `__str_append_slice(s, from, first, past)`: appends bytes `first...past` of `from`.
fn append_slice(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let (s, from) = (me(cx, args[0])?, me(cx, args[1])?);
    let n = from.bytes().len();
    let past = (args[3].as_fix().unwrap_or(0).max(0) as usize).min(n);
    let first = (args[2].as_fix().unwrap_or(0).max(0) as usize).min(past);
    if first == past {
        return Ok(args[0]);
    }
    if s == from || s.enc() != from.enc() {
        let part = piece(cx, from, first..past);
        let part = me(cx, part)?;
        append_str(cx, s, part)?;
        return Ok(args[0]);
    }
    let known = if from.range() == 1 && (s.range() == 1 || s.bytes().is_empty()) { CodeRange::SevenBit } else { CodeRange::Unknown };
    append(cx, s, &from.bytes()[first..past], known);
    Ok(args[0])
}
/// `__str_check_compat(a, b)`: Encoding::CompatibilityError when they don't go together.
fn check_compat(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let (a, b) = (me(cx, args[0])?, me(cx, args[1])?);
    let e = compat(cx, a, b)?;
    Ok(crate::encoding::value(cx, e))
}
/// `__str_reserve(s, capacity)`
fn reserve(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let mut s = me(cx, args[0])?;
    let n = cx.arg_i64(args, 1)?;
    let have = s.buf.len();
    if n > have as i64 && n > 24 {
        cx.check_size(n as usize)?;
        // A hint: more than this is taken when it is needed.
        s.buf.reserve((n as usize).min(1 << 24) - have.min(1 << 24));
    }
    Ok(args[0])
}
fn crypt(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let s = me(cx, recv)?;
    let salt = cx.arg_str(args, 0)?;
    for x in [s, salt] {
        if !enc(x).is_ascii_compatible() {
            let m = format!("ASCII incompatible encoding: {}", enc(x).name());
            return Err(cx.raise_msg(cx.k.compatibility_error, &m));
        }
    }
    if salt.bytes().len() < 2 {
        return Err(cx.arg_error("salt too short (need >=2 bytes)"));
    }
    if s.bytes().contains(&0) || salt.bytes().contains(&0) {
        return Err(cx.arg_error("string contains null byte"));
    }
    match crate::crypt::des_crypt(s.bytes(), salt.bytes()) {
        Some(out) => Ok(cx.str_enc(&out, EncIndex::BINARY)),
        None => Err(cx.errno_error(libc::EINVAL, "crypt")),
    }
}

pub static TABLE: &[NativeDef] = &[
    n("String", "length", 0, 0, length),
    n("String", "size", 0, 0, length),
    n("String", "bytesize", 0, 0, bytesize).guard(Guard::None),
    n("String", "empty?", 0, 0, is_empty).guard(Guard::None),
    n("String", "+", 1, 1, plus),
    n("String", "<<", 1, 1, shl),
    n("String", "concat", 0, -1, concat),
    n("String", "append_as_bytes", 0, -1, append_as_bytes),
    n("String", "prepend", 0, -1, prepend),
    n("String", "*", 1, 1, times),
    n("String", "==", 1, 1, eq).guard(Guard::None),
    n("String", "eql?", 1, 1, eql).guard(Guard::None),
    n("String", "hash", 0, 0, hash).guard(Guard::None),
    n("String", "<=>", 1, 1, cmp),
    n("String", "casecmp", 1, 1, casecmp),
    n("String", "to_s", 0, 0, to_s).guard(Guard::None),
    n("String", "to_str", 0, 0, to_s).guard(Guard::None),
    n("String", "to_sym", 0, 0, to_sym),
    n("String", "intern", 0, 0, to_sym),
    private("String", "initialize_copy", 1, 1, initialize_copy),
    n("String", "replace", 1, 1, initialize_copy),
    n("String", "dup", 0, 0, dup),
    n("String", "+@", 0, 0, uplus),
    n("String", "-@", 0, 0, uminus),
    n("String", "dedup", 0, 0, uminus),
    n("String", "getbyte", 1, 1, getbyte).guard(Guard::None),
    n("String", "setbyte", 2, 2, setbyte),
    n("String", "bytes", 0, 0, bytes),
    n("String", "chars", 0, 0, chars),
    n("String", "codepoints", 0, 0, codepoints),
    n("String", "ord", 0, 0, ord),
    n("String", "chr", 0, 0, chr),
    n("String", "sum", 0, 1, sum),
    n("String", "valid_encoding?", 0, 0, valid_encoding),
    n("String", "ascii_only?", 0, 0, ascii_only),
    n("String", "b", 0, 0, b),
    n("String", "clear", 0, 0, clear),
    intrinsic("__str_bytes", 1, 1, |cx, _, a| bytes(cx, a[0], &[])),
    n("String", "crypt", 1, 1, crypt),
    intrinsic("__str_chars", 1, 1, |cx, _, a| chars(cx, a[0], &[])),
    intrinsic("__str_codepoints", 1, 1, |cx, _, a| codepoints(cx, a[0], &[])),
    intrinsic("__str_graphemes", 1, 1, graphemes),
    intrinsic("__str_char_step", 2, 2, char_step),
    intrinsic("__str_code_at", 2, 2, code_at),
    intrinsic("__str_reserve", 2, 2, reserve),
    intrinsic("__str_copy", 1, 1, copy_m),
    intrinsic("__str_set", 2, 2, set_m),
    intrinsic("__str_append_slice", 4, 4, append_slice),
    intrinsic("__str_check_compat", 2, 2, check_compat),
    intrinsic("__str_frozen", 1, 1, frozen_m),
];
