//! The methods of Regexp, and those of String that only ask a pattern.
//!
//! Invariant: as in [`crate::regexp`]; `match?` leaves `$~` alone.

use crate::away::away;
use crate::regexp::matchdata::MatchObj;
use crate::regexp::*;
use crate::text::*;
use kumi_regexp::show::{self, Alternative};
use kumi_regexp::{Options, Regex, Region};
use kumi_text::encoding::{CodeRange, EncIndex};
use kumi_vm::*;
use std::sync::Arc;

fn alloc(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let c = recv.as_class().unwrap_or(cx.k.regexp);
    Ok(cx.data(c, ReObj::default()))
}
/// A frozen Regexp from source text and option bits of the compiler (`RE_*`).
pub fn literal(cx: &mut Cx, src: Str, bits: u32) -> R {
    use kumi_bytecode::{RE_EUC, RE_FIXED, RE_NONE, RE_SJIS};
    let e = if bits & RE_EUC as u32 != 0 {
        EncIndex::EUC_JP
    } else if bits & RE_SJIS as u32 != 0 {
        EncIndex::WINDOWS_31J
    } else if bits & RE_NONE as u32 != 0 {
        EncIndex::BINARY
    } else if bits & RE_FIXED as u32 != 0 {
        EncIndex::UTF_8
    } else if enc(src) == EncIndex::US_ASCII && !src.bytes().is_ascii() {
        // The parser looks for non-ASCII text in fewer places.
        EncIndex::UTF_8
    } else {
        enc(src)
    };
    let mut opts = bits & 0x37;
    if bits & (RE_EUC | RE_SJIS) as u32 != 0 {
        opts |= Options::FIXEDENCODING;
    }
    let re = compile(cx, src.bytes(), opts, e)?;
    let v = cx.data(cx.k.regexp, ReObj { re: Some(re), timeout: None });
    if let Some(h) = v.header() {
        h.set(flag::FROZEN);
    }
    Ok(v)
}
/// `__regexp_new(source, bits)`
fn regexp_new(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let src = me(cx, args[0])?;
    let bits = args[1].as_fix().unwrap_or(0) as u32;
    literal(cx, src, bits)
}
/// `__regexp_init(re, source, bits, timeout)`
fn regexp_init(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let src = me(cx, args[1])?;
    let Some(o) = args[0].as_data::<ReObj>() else { return Err(cx.type_error("wrong argument type (expected Regexp)")) };
    cx.check_frozen(args[0])?;
    if o.re.is_some() {
        return Err(cx.type_error("already initialized regexp"));
    }
    let bits = args[2].as_fix().unwrap_or(0) as u32;
    let e = if bits & Options::NOENCODING != 0 { EncIndex::BINARY } else { enc(src) };
    if range(src) == CodeRange::Broken && bits & Options::NOENCODING == 0 {
        let shown = show::expression(src.bytes(), e);
        let m = format!("invalid multibyte character: /{}/", String::from_utf8_lossy(&shown));
        return Err(cx.raise_msg(cx.k.regexp_error, &m));
    }
    let re = compile(cx, src.bytes(), bits & 0x37, e)?;
    begin(cx, args[0], re, args[3].as_float());
    Ok(args[0])
}
/// A Regexp that was only allocated gets what it matches.
fn begin(cx: &mut Cx, v: Value, re: Arc<Regex>, timeout: Option<f64>) {
    if let Some(o) = cx.heap.edit_data::<ReObj>(v) {
        (o.re, o.timeout) = (Some(re), timeout);
    }
}
/// `__regexp_copy(re, other)`
fn regexp_copy(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let other = regex(cx, args[1])?;
    let Some(o) = args[0].as_data::<ReObj>() else { return Err(cx.type_error("wrong argument type (expected Regexp)")) };
    if o.re.is_some() {
        return Err(cx.type_error("already initialized regexp"));
    }
    begin(cx, args[0], other, args[1].as_data::<ReObj>().and_then(|x| x.timeout));
    Ok(args[0])
}

/// A string argument of a match: String, Symbol, nil.
enum Text {
    Nil,
    Str(Str),
}
fn text_arg(cx: &mut Cx, args: &[Value], i: usize) -> Result<Text, Exit> {
    let v = args[i];
    if v.is_nil() {
        return Ok(Text::Nil);
    }
    if let Some(y) = v.as_sym() {
        let s = crate::names::name_str(cx, y);
        return Ok(Text::Str(me(cx, s)?));
    }
    Ok(Text::Str(cx.arg_str(args, i)?))
}
fn no_match(cx: &mut Cx, recv: Value) -> R {
    regex(cx, recv)?;
    set_last(cx, Value::NIL);
    Ok(Value::NIL)
}
fn match_op(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    match text_arg(cx, args, 0)? {
        Text::Nil => no_match(cx, recv),
        Text::Str(s) => {
            let at = match_from(cx, recv, s, 0)?;
            Ok(at.map_or(Value::NIL, |a| Value::fix(char_index(s, a) as i64)))
        }
    }
}
fn eqq(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let v = args[0];
    let s = if let Some(y) = v.as_sym() {
        let s = crate::names::name_str(cx, y);
        me(cx, s)?
    } else if let Some(s) = v.as_str() {
        s
    } else if v.is_heap() && cx.has_method(v, sym::TO_STR) {
        return Err(Exit::Miss);
    } else {
        set_last(cx, Value::NIL);
        return Ok(Value::FALSE);
    };
    Ok(Value::bool(match_from(cx, recv, s, 0)?.is_some()))
}
fn start_arg(cx: &mut Cx, s: Str, args: &[Value]) -> Result<Option<usize>, Exit> {
    if args.len() < 2 {
        return Ok(Some(0));
    }
    let i = cx.arg_i64(args, 1)?;
    let i = if i < 0 { i + char_count(s) as i64 } else { i };
    Ok(if i < 0 { None } else { byte_offset(s, i as usize) })
}
/// `match` without a block.
fn match_m(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    match text_arg(cx, args, 0)? {
        Text::Nil => no_match(cx, recv),
        Text::Str(s) => match start_arg(cx, s, args)? {
            Some(from) => match_set(cx, recv, s, Mode::From(from)),
            None => {
                set_last(cx, Value::NIL);
                Ok(Value::NIL)
            }
        },
    }
}
fn match_p(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    match text_arg(cx, args, 0)? {
        Text::Nil => {
            regex(cx, recv)?;
            Ok(Value::FALSE)
        }
        Text::Str(s) => match start_arg(cx, s, args)? {
            Some(from) => {
                let mut region = Region::new();
                Ok(Value::bool(search(cx, recv, s, Mode::From(from), &mut region)?))
            }
            None => Ok(Value::FALSE),
        },
    }
}
fn str_match(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let s = me(cx, recv)?;
    // A user's own `match` of the pattern is called by the prelude.
    let plain = args[0].as_data::<ReObj>().is_some() && cx.class_of(args[0]) == cx.k.regexp;
    let name = cx.intern("match");
    if !plain || !cx.builtin(args[0], name) {
        return Err(Exit::Miss);
    }
    match start_arg(cx, s, args)? {
        Some(from) => match_set(cx, args[0], s, Mode::From(from)),
        None => {
            set_last(cx, Value::NIL);
            Ok(Value::NIL)
        }
    }
}
fn str_match_p(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let s = me(cx, recv)?;
    if args[0].as_data::<ReObj>().is_none() {
        return Err(Exit::Miss);
    }
    let Some(from) = start_arg(cx, s, args)? else { return Ok(Value::FALSE) };
    let mut region = Region::new();
    Ok(Value::bool(search(cx, args[0], s, Mode::From(from), &mut region)?))
}
fn str_match_op(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let s = me(cx, recv)?;
    if args[0].as_data::<ReObj>().is_some() {
        let at = match_from(cx, args[0], s, 0)?;
        return Ok(at.map_or(Value::NIL, |a| Value::fix(char_index(s, a) as i64)));
    }
    if args[0].as_str().is_some() {
        return Err(cx.type_error("type mismatch: String given"));
    }
    Err(cx.call(args[0], sym::MATCH, &[recv]))
}
fn source(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let r = regex(cx, recv)?;
    let src = r.source().to_vec();
    let e = r.encoding();
    Ok(cx.str_vec(src, e))
}
fn options(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(Value::fix(regex(cx, recv)?.options().0 as i64))
}
fn to_s(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let r = regex(cx, recv)?;
    let t = show::to_s(r.source(), r.options(), r.encoding());
    Ok(cx.str_vec(t, r.encoding()))
}
fn inspect(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    if let Some(ReObj { re: None, .. }) = recv.as_data::<ReObj>() {
        let t = cx.any_to_s(recv);
        return Ok(cx.str(&t));
    }
    let r = regex(cx, recv)?;
    let t = show::inspect(r.source(), r.options(), r.encoding());
    let e = if r.encoding() == EncIndex::US_ASCII { EncIndex::UTF_8 } else { r.encoding() };
    Ok(cx.str_vec(t, e))
}
fn encoding(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let e = match recv.as_data::<ReObj>() {
        Some(ReObj { re: None, .. }) => EncIndex::BINARY,
        _ => regex(cx, recv)?.encoding(),
    };
    Ok(crate::encoding::value(cx, e))
}
fn fixed_encoding(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(Value::bool(regex(cx, recv)?.is_fixed_encoding()))
}
fn casefold(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(Value::bool(regex(cx, recv)?.options().has(Options::IGNORECASE)))
}
fn names(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let r = regex(cx, recv)?;
    let e = name_encoding(&r);
    let v: Vec<Value> = r.names().iter().map(|(n, _)| cx.str_enc(n, e)).collect();
    Ok(cx.array_vec(v))
}
/// Encoding of group names.
pub fn name_encoding(r: &Regex) -> EncIndex {
    if r.encoding() == EncIndex::US_ASCII { EncIndex::UTF_8 } else { r.encoding() }
}
/// Names with their group numbers: [[name, [1, 2]], ...]
fn name_groups(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let r = regex(cx, args[0])?;
    let e = name_encoding(&r);
    let mut out = Vec::new();
    for (n, g) in r.names() {
        let g: Vec<Value> = g.iter().map(|i| Value::fix(*i as i64)).collect();
        let g = cx.array_vec(g);
        let n = cx.str_enc(n, e);
        out.push(cx.array(&[n, g]));
    }
    Ok(cx.array_vec(out))
}
fn eq(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    if recv == args[0] {
        return Ok(Value::TRUE);
    }
    if args[0].as_data::<ReObj>().is_none() {
        return Ok(Value::FALSE);
    }
    let (a, b) = (regex(cx, recv)?, regex(cx, args[0])?);
    Ok(Value::bool(same(&a, &b)))
}
/// Same text, options and encoding; whether `/n` was written does not count.
pub fn same(a: &Regex, b: &Regex) -> bool {
    let bits = |r: &Regex| r.options().0 & !Options::NOENCODING;
    a.source() == b.source() && bits(a) == bits(b) && a.encoding() == b.encoding()
}
fn hash(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let r = regex(cx, recv)?;
    let h = kumi_text::hash_bytes(cx.hash_seed, r.source())
        ^ ((r.options().0 & !Options::NOENCODING) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    Ok(Value::fix((h >> 2) as i64))
}
fn escape(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let s = match args[0].as_sym() {
        Some(y) => {
            let v = crate::names::name_str(cx, y);
            me(cx, v)?
        }
        None => cx.arg_str(args, 0)?,
    };
    let coding = enc(s);
    let out = away(cx, s, s.bytes().len() as u64 * 20, move |b| show::escape(b, coding))?;
    let e = if out.is_ascii() && enc(s).is_ascii_compatible() && is_ascii(s) { EncIndex::US_ASCII } else { enc(s) };
    Ok(cx.str_vec(out, e))
}
/// `__regexp_union(array of Strings and Regexps)`
fn union(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let Some(list) = args[0].as_array() else { return Err(cx.type_error("Array expected")) };
    let list = list.seen();
    if list.is_empty() {
        let v = cx.str_enc(b"(?!)", EncIndex::US_ASCII);
        let v = me(cx, v)?;
        return literal(cx, v, 0);
    }
    if list.len() == 1 {
        if let Some(v) = list.get(0).filter(|v| v.as_data::<ReObj>().is_some()) {
            return Ok(v);
        }
        if let Some(s) = list.get(0).and_then(|v| v.as_str()) {
            let out = show::escape(s.bytes(), enc(s));
            let re = compile(cx, &out, 0, enc(s))?;
            return Ok(cx.data(cx.k.regexp, ReObj { re: Some(re), timeout: None }));
        }
    }
    // Encodings: fixed ones must agree; an ASCII-incompatible one goes with nothing else.
    let mut fixed: Option<EncIndex> = None;
    let mut odd: Option<EncIndex> = None;
    let (mut some_ascii, mut binary) = (false, false);
    let mut regs: Vec<Option<Arc<Regex>>> = Vec::new();
    let list = list.to_vec();
    for &v in &list {
        if let Some(s) = v.as_str() {
            regs.push(None);
            if !enc(s).is_ascii_compatible() {
                if odd.or(fixed).is_some_and(|o| o != enc(s)) {
                    return Err(incompat(cx, odd.or(fixed), enc(s)));
                }
                odd = Some(enc(s));
            } else if is_ascii(s) {
                some_ascii = true;
            } else {
                if odd.or(fixed).is_some_and(|f| f != enc(s)) {
                    return Err(incompat(cx, odd.or(fixed), enc(s)));
                }
                fixed = Some(enc(s));
            }
        } else {
            let r = regex(cx, v)?;
            if r.is_fixed_encoding() {
                if odd.or(fixed).is_some_and(|f| f != r.encoding()) {
                    return Err(incompat(cx, odd.or(fixed), r.encoding()));
                }
                fixed = Some(r.encoding());
            } else {
                some_ascii = true;
                binary |= r.encoding() == EncIndex::BINARY;
            }
            regs.push(Some(r));
        }
    }
    if let Some(o) = odd {
        if some_ascii {
            return Err(cx.arg_error(&format!("ASCII incompatible encoding: {}", o.name())));
        }
    }
    let texts: Vec<Option<Str>> = list.iter().map(|v| v.as_str()).collect();
    let parts: Vec<Alternative<'_>> = texts
        .iter()
        .zip(&regs)
        .map(|(s, r)| match (r, s) {
            (Some(r), _) => Alternative::Regexp(r),
            (None, Some(s)) => Alternative::Text(s.bytes(), enc(*s)),
            (None, None) => Alternative::Text(b"", EncIndex::UTF_8),
        })
        .collect();
    let src = show::union(&parts);
    let e = odd.or(fixed).unwrap_or(if binary { EncIndex::BINARY } else { EncIndex::US_ASCII });
    let re = compile(cx, &src, 0, e)?;
    Ok(cx.data(cx.k.regexp, ReObj { re: Some(re), timeout: None }))
}
fn incompat(cx: &mut Cx, a: Option<EncIndex>, b: EncIndex) -> Exit {
    let a = a.unwrap_or(EncIndex::US_ASCII);
    cx.arg_error(&format!("incompatible encodings: {} and {}", enc_shown(a), enc_shown(b)))
}
fn linear(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    Ok(Value::bool(regex(cx, args[0])?.is_linear_time()))
}
fn timeout_of(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    regex(cx, recv)?;
    match recv.as_data::<ReObj>().and_then(|o| o.timeout) {
        Some(t) => Ok(cx.float(t)),
        None => Ok(Value::NIL),
    }
}
fn timeout_get(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    match cx.shared_state::<ReState>().timeout() {
        Some(t) => Ok(cx.float(t)),
        None => Ok(Value::NIL),
    }
}
/// `__regexp_timeout_set(float or nil)`
fn timeout_set(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    cx.shared_state::<ReState>().set_timeout(args[0].as_float());
    Ok(args[0])
}
fn set_last_match(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    if !args[0].is_nil() && args[0].as_data::<MatchObj>().is_none() {
        let t = cx.describe_type(args[0]);
        return Err(cx.type_error(&format!("wrong argument type {t} (expected MatchData)")));
    }
    set_last(cx, args[0]);
    Ok(args[0])
}
fn last_match(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    Ok(cx.last_match())
}

/// `__regexp_complaints(source, options)`: what is said with `-w` of such a pattern.
fn complaints(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let source = cx.arg_str(args, 0)?;
    let extended = args[1].as_fix().is_some_and(|o| o as u8 & kumi_bytecode::RE_X != 0);
    let said = kumi_regexp::complaints::complaints(source.bytes(), extended);
    let said: Vec<Value> = said.iter().map(|s| cx.str(s)).collect();
    Ok(cx.array_vec(said))
}

pub static TABLE: &[NativeDef] = &[
    n("Regexp.", "allocate", 0, 0, alloc),
    n("Regexp.", "escape", 1, 1, escape),
    n("Regexp.", "quote", 1, 1, escape),
    n("Regexp.", "timeout", 0, 0, timeout_get),
    n("Regexp", "=~", 1, 1, match_op),
    n("Regexp", "===", 1, 1, eqq),
    n("Regexp", "match", 1, 2, match_m),
    n("Regexp", "match?", 1, 2, match_p),
    n("Regexp", "source", 0, 0, source),
    n("Regexp", "options", 0, 0, options),
    n("Regexp", "to_s", 0, 0, to_s),
    n("Regexp", "inspect", 0, 0, inspect),
    n("Regexp", "encoding", 0, 0, encoding),
    n("Regexp", "fixed_encoding?", 0, 0, fixed_encoding),
    n("Regexp", "casefold?", 0, 0, casefold),
    n("Regexp", "names", 0, 0, names),
    n("Regexp", "==", 1, 1, eq),
    n("Regexp", "eql?", 1, 1, eq),
    n("Regexp", "hash", 0, 0, hash),
    n("Regexp", "timeout", 0, 0, timeout_of),
    n("String", "match", 1, 2, str_match),
    n("String", "match?", 1, 2, str_match_p),
    n("String", "=~", 1, 1, str_match_op),
    intrinsic("__regexp_new", 2, 2, regexp_new),
    intrinsic("__regexp_init", 4, 4, regexp_init).guard(Guard::World),
    intrinsic("__regexp_copy", 2, 2, regexp_copy).guard(Guard::World),
    intrinsic("__regexp_union", 1, 1, union),
    intrinsic("__regexp_linear", 1, 1, linear).guard(Guard::None),
    intrinsic("__regexp_complaints", 2, 2, complaints).guard(Guard::None),
    intrinsic("__regexp_timeout_set", 1, 1, timeout_set).guard(Guard::None),
    intrinsic("__regexp_name_groups", 1, 1, name_groups),
    intrinsic("__re_match", 2, 3, |cx, _, a| match_m(cx, a[0], &a[1..])),
    intrinsic("__set_last_match", 1, 1, set_last_match).guard(Guard::None),
    intrinsic("__last_match", 0, 0, last_match).guard(Guard::None),
];
