//! Regexp: the cell, searching with it, and its methods.
//!
//! Invariant: every search that Ruby can see sets the last match (`$~`) of the caller's frame,
//! to nil when nothing matched; `match?` sets nothing.

use crate::matchdata::MatchObj;
use crate::text::*;
use kumi_regexp::show::{self, Alternative};
use kumi_regexp::{Limits, Options, Regex, Region, SearchError, Subject};
use kumi_text::encoding::{CodeRange, EncIndex};
use kumi_vm::*;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The payload of a Regexp; `re` is none until `initialize` ran.
#[derive(Default)]
pub struct ReObj {
    pub re: Option<Arc<Regex>>,
    pub timeout: Option<f64>,
}
impl Payload for ReObj {
    fn bytes(&self) -> usize {
        96
    }
}

/// Patterns of literals by source, options and encoding; the global time limit.
#[derive(Default)]
pub struct ReState {
    cache: HashMap<(Box<[u8]>, u32, EncIndex), Arc<Regex>>,
    timeout: Option<f64>,
}
const CACHE_MAX: usize = 2048;

/// Compiles, or finds what was compiled before.
pub fn compile(cx: &mut Cx, src: &[u8], options: u32, enc: EncIndex) -> Result<Arc<Regex>, Exit> {
    let key = (Box::<[u8]>::from(src), options, enc);
    if let Some(r) = cx.state::<ReState>().cache.get(&key) {
        return Ok(r.clone());
    }
    match Regex::new(src, Options(options), enc) {
        Ok(r) => {
            let r = Arc::new(r);
            let st = cx.state::<ReState>();
            if st.cache.len() >= CACHE_MAX {
                st.cache.clear();
            }
            st.cache.insert(key, r.clone());
            Ok(r)
        }
        Err(e) => Err(cx.raise_msg(cx.k.regexp_error, &e.0)),
    }
}

/// The compiled pattern of a Regexp value.
pub fn regex(cx: &mut Cx, v: Value) -> Result<Arc<Regex>, Exit> {
    match v.as_data::<ReObj>() {
        Some(ReObj { re: Some(r), .. }) => Ok(r.clone()),
        Some(_) => Err(cx.type_error("uninitialized Regexp")),
        None => {
            let t = cx.describe_type(v);
            Err(cx.type_error(&format!("wrong argument type {t} (expected Regexp)")))
        }
    }
}

/// Sets `$~` of the caller.
pub fn set_last(cx: &mut Cx, m: Value) {
    cx.set_last_match(m);
}

/// Where a search looks.
#[derive(Clone, Copy, PartialEq)]
pub enum Mode {
    /// From a byte on.
    From(usize),
    /// Backwards from a byte.
    Back(usize),
    /// At that byte only.
    At(usize),
}

/// Searches `s`; nothing but the answer.
pub fn search(cx: &mut Cx, re: Value, s: Str, mode: Mode, region: &mut Region) -> Result<bool, Exit> {
    let r = regex(cx, re)?;
    let own = re.as_data::<ReObj>().and_then(|o| o.timeout);
    search_regex(cx, &r, own, s, mode, region)
}
/// [`search`] for a compiled pattern.
pub fn search_regex(cx: &mut Cx, r: &Regex, own: Option<f64>, s: Str, mode: Mode, region: &mut Region) -> Result<bool, Exit> {
    let cr = range(s);
    if cr == CodeRange::Broken {
        return Err(cx.arg_error(&format!("invalid byte sequence in {}", enc(s).name())));
    }
    let subject = Subject::with_range(s.bytes(), enc(s), cr);
    if r.is_fixed_encoding() || cr != CodeRange::SevenBit {
        if let Err(m) = r.check_encoding(&subject) {
            return Err(cx.raise_msg(cx.k.compatibility_error, &m));
        }
    }
    let limit = own.or(cx.state::<ReState>().timeout);
    let deadline = limit.map(|t| Instant::now() + Duration::from_secs_f64(t.clamp(0.0, 1e9)));
    let limits = Limits { deadline, steps: None };
    let found = match mode {
        Mode::From(i) => r.search(&subject, i, limits, region).map(|f| f.is_some()),
        Mode::Back(i) => match r.match_at(&subject, i, limits, region) {
            // The engine looks before the start it is given, and for some patterns not right before it.
            Ok(false) => match enc(s).prev_char(s.bytes(), i) {
                None => Ok(false),
                Some(p) => match r.match_at(&subject, p, limits, region) {
                    Ok(false) => r.search_back(&subject, i, limits, region).map(|f| f.is_some()),
                    other => other,
                },
            },
            other => other,
        },
        Mode::At(i) => r.match_at(&subject, i, limits, region),
    };
    match found {
        Ok(f) => Ok(f),
        Err(SearchError::Timeout | SearchError::Steps) => Err(cx.raise_msg(cx.k.regexp_timeout_error, "regexp match timeout")),
        Err(SearchError::Engine(m)) => {
            let shown = show::expression(r.source(), r.encoding());
            Err(cx.raise_msg(cx.k.regexp_error, &format!("{m}: /{}/", String::from_utf8_lossy(&shown))))
        }
    }
}

/// A frozen string with the bytes of `s`: what a MatchData keeps.
pub fn frozen_copy(cx: &mut Cx, s: Str) -> Value {
    if s.hdr.frozen() && cx.class_of(s.val()) == cx.k.string {
        return s.val();
    }
    let v = copy(cx, s);
    if let Some(mut h) = v.header_mut() {
        h.flags |= flag::FROZEN;
    }
    v
}
/// A MatchData of `region` in `s`.
pub fn match_value(cx: &mut Cx, re: Value, s: Str, region: Region) -> Value {
    let text = frozen_copy(cx, s);
    cx.data(cx.k.match_data, MatchObj { text, re, region: region.groups })
}
/// Searches and sets `$~`: the MatchData or nil.
pub fn match_set(cx: &mut Cx, re: Value, s: Str, mode: Mode) -> R {
    let mut region = Region::new();
    let m = if search(cx, re, s, mode, &mut region)? { match_value(cx, re, s, region) } else { Value::NIL };
    set_last(cx, m);
    Ok(m)
}
/// Searches and sets `$~` where it can be seen: the bytes of the match.
fn match_bytes(cx: &mut Cx, re: Value, s: Str, mode: Mode) -> Result<Option<Range<usize>>, Exit> {
    let mut region = Region::new();
    let found = search(cx, re, s, mode, &mut region)?;
    let all = if found { region.get(0) } else { None };
    if cx.keeps_last_match() {
        let m = if found { match_value(cx, re, s, region) } else { Value::NIL };
        set_last(cx, m);
    }
    Ok(all)
}
/// Byte offsets of a match value's groups.
pub fn groups(m: Value) -> &'static [(isize, isize)] {
    m.as_data::<MatchObj>().map_or(&[], |m| &m.region)
}

/// Searches from byte `from`: where the match begins.
pub fn match_from(cx: &mut Cx, re: Value, s: Str, from: usize) -> Result<Option<usize>, Exit> {
    Ok(match_bytes(cx, re, s, Mode::From(from))?.map(|r| r.start))
}
/// Searches backwards from byte `from`: where the match begins.
pub fn match_back(cx: &mut Cx, re: Value, s: Str, from: usize) -> Result<Option<usize>, Exit> {
    Ok(match_bytes(cx, re, s, Mode::Back(from))?.map(|r| r.start))
}
/// Matches at the start of `s`.
pub fn match_here(cx: &mut Cx, re: Value, s: Str) -> Result<bool, Exit> {
    Ok(match_bytes(cx, re, s, Mode::At(0))?.is_some())
}
/// The bytes of a match, searched from `from`.
pub fn match_span(cx: &mut Cx, re: Value, s: Str, from: usize, back: bool) -> Result<Option<Range<usize>>, Exit> {
    let mode = if back { Mode::Back(from) } else { Mode::From(from) };
    match_bytes(cx, re, s, mode)
}

/// Number of the group that `which` (Integer, String, Symbol) names in match `m`; `None` beyond the groups.
fn group_no(cx: &mut Cx, re: &Regex, m: &[(isize, isize)], which: Value, argi: u8) -> Result<Option<usize>, Exit> {
    let name = if let Some(y) = which.as_sym() {
        Some(cx.syms.name(y).to_vec())
    } else {
        which.as_str().map(|s| s.bytes().to_vec())
    };
    if let Some(name) = name {
        let region = Region { groups: m.to_vec() };
        return match re.name_to_backref(&name, &region) {
            Some(g) => Ok(Some(g)),
            None => Err(undefined_group(cx, &name)),
        };
    }
    let Some(i) = which.as_fix() else { return Err(Exit::Convert(argi, Proto::Int)) };
    let n = m.len() as i64;
    // Counted from the end, the whole match is not reached.
    let i = if i < 0 && i + n > 0 { i + n } else { i };
    Ok((i >= 0 && i < n).then_some(i as usize))
}
/// IndexError for an unknown group name.
pub fn undefined_group(cx: &mut Cx, name: &[u8]) -> Exit {
    cx.index_error(&format!("undefined group name reference: {}", String::from_utf8_lossy(name)))
}

/// `s[re, which]`
pub fn aref(cx: &mut Cx, s: Str, re: Value, which: Value) -> R {
    Ok(match span_of(cx, s, re, which)? {
        Some(r) => piece(cx, s, r),
        None => Value::NIL,
    })
}
/// Bytes of a group of the first match.
pub fn span_of(cx: &mut Cx, s: Str, re: Value, which: Value) -> Result<Option<Range<usize>>, Exit> {
    if !(which.is_fix() || which.is_sym() || which.as_str().is_some()) {
        return Err(Exit::Convert(1, Proto::Int));
    }
    let m = match_set(cx, re, s, Mode::From(0))?;
    if m.is_nil() {
        return Ok(None);
    }
    let g = groups(m);
    let r = regex(cx, re)?;
    Ok(group_no(cx, &r, g, which, 1)?.and_then(|i| g.get(i)).filter(|g| g.0 >= 0).map(|g| g.0 as usize..g.1 as usize))
}
/// The same for `s[re, which] = x`, which must match.
pub fn span_for_assignment(cx: &mut Cx, s: Str, re: Value, which: Value) -> Result<Range<usize>, Exit> {
    if !(which.is_fix() || which.is_sym() || which.as_str().is_some()) {
        return Err(Exit::Convert(1, Proto::Int));
    }
    let m = match_set(cx, re, s, Mode::From(0))?;
    if m.is_nil() {
        return Err(cx.index_error("regexp not matched"));
    }
    let g = groups(m);
    let r = regex(cx, re)?;
    match group_no(cx, &r, g, which, 1)? {
        Some(i) if g[i].0 >= 0 => Ok(g[i].0 as usize..g[i].1 as usize),
        Some(i) => Err(cx.index_error(&format!("regexp group {i} not matched"))),
        None => {
            let i = which.as_fix().unwrap_or(0);
            Err(cx.index_error(&format!("index {i} out of regexp")))
        }
    }
}

// --- methods ---------------------------------------------------------------------

fn alloc(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let c = recv.as_class().unwrap_or(cx.k.regexp);
    Ok(cx.data(c, ReObj::default()))
}
/// A frozen Regexp from source text and option bits of the compiler (`RE_*`).
pub fn literal(cx: &mut Cx, src: Str, bits: u32) -> R {
    use kumi_vm::iseq::{RE_EUC, RE_FIXED, RE_NONE, RE_SJIS};
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
    if let Some(mut h) = v.header_mut() {
        h.flags |= flag::FROZEN;
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
    o.re = Some(re);
    o.timeout = args[3].as_float();
    Ok(args[0])
}
/// `__regexp_copy(re, other)`
fn regexp_copy(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let other = regex(cx, args[1])?;
    let Some(o) = args[0].as_data::<ReObj>() else { return Err(cx.type_error("wrong argument type (expected Regexp)")) };
    if o.re.is_some() {
        return Err(cx.type_error("already initialized regexp"));
    }
    o.re = Some(other);
    o.timeout = args[1].as_data::<ReObj>().and_then(|x| x.timeout);
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
        let s = crate::symbol::name_str(cx, y);
        return Ok(Text::Str(me(cx, s)?));
    }
    Ok(Text::Str(cx.arg_str(args, i)?))
}
fn match_op(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    match text_arg(cx, args, 0)? {
        Text::Nil => {
            regex(cx, recv)?;
            set_last(cx, Value::NIL);
            Ok(Value::NIL)
        }
        Text::Str(s) => {
            let at = match_from(cx, recv, s, 0)?;
            Ok(at.map_or(Value::NIL, |a| Value::fix(char_index(s, a) as i64)))
        }
    }
}
fn eqq(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let v = args[0];
    let s = if let Some(y) = v.as_sym() {
        let s = crate::symbol::name_str(cx, y);
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
        Text::Nil => {
            regex(cx, recv)?;
            set_last(cx, Value::NIL);
            Ok(Value::NIL)
        }
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
        return Err(cx.type_error("wrong argument type String (expected Regexp)"));
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
    let h = kumi_vm::plain::hash_bytes(cx.hash_seed, r.source()) ^ ((r.options().0 & !Options::NOENCODING) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    Ok(Value::fix((h >> 2) as i64))
}
fn escape(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let s = match args[0].as_sym() {
        Some(y) => {
            let v = crate::symbol::name_str(cx, y);
            me(cx, v)?
        }
        None => cx.arg_str(args, 0)?,
    };
    let out = show::escape(s.bytes(), enc(s));
    let e = if out.is_ascii() && enc(s).is_ascii_compatible() && is_ascii(s) { EncIndex::US_ASCII } else { enc(s) };
    Ok(cx.str_vec(out, e))
}
/// `__regexp_union(array of Strings and Regexps)`
fn union(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let Some(list) = args[0].as_array() else { return Err(cx.type_error("Array expected")) };
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
    for v in list.as_slice() {
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
            let r = regex(cx, *v)?;
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
    let parts: Vec<Alternative<'_>> = list
        .as_slice()
        .iter()
        .zip(&regs)
        .map(|(v, r)| match r {
            Some(r) => Alternative::Regexp(r),
            None => v.as_str().map_or(Alternative::Text(b"", EncIndex::UTF_8), |s| {
                // SAFETY: the cell stays alive and unchanged while this native runs.
                let b: &'static [u8] = unsafe { std::mem::transmute::<&[u8], &'static [u8]>(s.bytes()) };
                Alternative::Text(b, enc(s))
            }),
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
    match cx.state::<ReState>().timeout {
        Some(t) => Ok(cx.float(t)),
        None => Ok(Value::NIL),
    }
}
/// `__regexp_timeout_set(float or nil)`
fn timeout_set(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    cx.state::<ReState>().timeout = args[0].as_float();
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
/// `__re_search(re, str, byte offset)`: the MatchData or nil, `$~` untouched.
fn re_search(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let s = me(cx, args[1])?;
    let from = args[2].as_fix().unwrap_or(0).max(0) as usize;
    let mut region = Region::new();
    if from > s.bytes().len() || !search(cx, args[0], s, Mode::From(from), &mut region)? {
        return Ok(Value::NIL);
    }
    Ok(match_value(cx, args[0], s, region))
}
/// `__re_match_at(re, str, byte offset, anchored)`: end offset of a match that begins there (anchored) or
/// `[begin, end]`-bearing MatchData found from there on; nil. `$~` untouched.
fn re_match_at(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let s = me(cx, args[1])?;
    let from = args[2].as_fix().unwrap_or(0).max(0) as usize;
    let mut region = Region::new();
    if from > s.bytes().len() || !search(cx, args[0], s, Mode::At(from), &mut region)? {
        return Ok(Value::NIL);
    }
    Ok(match_value(cx, args[0], s, region))
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
    intrinsic("__regexp_init", 4, 4, regexp_init),
    intrinsic("__regexp_copy", 2, 2, regexp_copy),
    intrinsic("__regexp_union", 1, 1, union),
    intrinsic("__regexp_linear", 1, 1, linear),
    intrinsic("__regexp_timeout_set", 1, 1, timeout_set),
    intrinsic("__regexp_name_groups", 1, 1, name_groups),
    intrinsic("__re_match", 2, 3, |cx, _, a| match_m(cx, a[0], &a[1..])),
    intrinsic("__re_search", 3, 3, re_search),
    intrinsic("__re_match_at", 3, 3, re_match_at),
    intrinsic("__set_last_match", 1, 1, set_last_match),
    intrinsic("__last_match", 0, 0, last_match),
];
