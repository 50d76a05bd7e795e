//! Substitution and scanning without blocks: `sub`, `gsub`, `scan`.
//!
//! Invariant: `$~` is set to the last match that was replaced or found, nil when there was none.

use crate::regexp::matchdata::MatchObj;
use crate::regexp::search::Rest;
use crate::regexp::{self, Finder, Mode, ReObj};
use crate::text::*;
use kumi_regexp::{Regex, Region};
use kumi_text::encoding::CodeRange;
use kumi_vm::*;

/// A pattern: Regexp, or String for its text.
enum Pat {
    Re(Value),
    Text(Str),
}
fn pattern(cx: &mut Cx, v: Value) -> Result<Pat, Exit> {
    if v.as_data::<ReObj>().is_some() {
        regexp::regex(cx, v)?;
        return Ok(Pat::Re(v));
    }
    if let Some(s) = v.as_str() {
        return Ok(Pat::Text(s));
    }
    let t = cx.describe_type(v);
    Err(cx.type_error(&format!("wrong argument type {t} (expected Regexp)")))
}
impl Pat {
    /// What finds one match after the other.
    fn finder(&self, cx: &mut Cx, s: Str) -> Result<Option<Finder>, Exit> {
        match self {
            Pat::Re(v) => Finder::new(cx, *v, s, Rest::Next).map(Some),
            Pat::Text(_) => Ok(None),
        }
    }
    /// As above, when the string was changed while its matches were gone through.
    fn finder_here(&self, cx: &mut Cx, s: Str) -> Result<Option<Finder>, Exit> {
        match self {
            Pat::Re(v) => Finder::here(cx, *v, s, Rest::Next).map(Some),
            Pat::Text(_) => Ok(None),
        }
    }
    /// The next match at or after `from`.
    fn find(&self, cx: &mut Cx, s: Str, from: usize, finder: Option<&mut Finder>, region: &mut Region) -> Result<bool, Exit> {
        match (self, finder) {
            (Pat::Re(_), Some(f)) => f.find(cx, s, from, region),
            (Pat::Re(v), None) => regexp::search(cx, *v, s, Mode::From(from), region),
            (Pat::Text(o), _) => Ok(match crate::string::search::find(cx, s, *o, from)? {
                Some(at) => {
                    region.groups.clear();
                    region.groups.push((at as isize, (at + o.bytes().len()) as isize));
                    true
                }
                None => false,
            }),
        }
    }
    fn value(&self, cx: &mut Cx) -> Value {
        match self {
            Pat::Re(v) => *v,
            Pat::Text(s) => frozen_copy(cx, *s),
        }
    }
}

/// Makes the last match what `$~` is, where that can be seen.
fn remember(cx: &mut Cx, s: Str, pat: &Pat, last: Region) {
    if cx.keeps_last_match() {
        let text = frozen_copy(cx, s);
        let re = pat.value(cx);
        let m = cx.data(cx.k.match_data, MatchObj { text, re, region: last.groups });
        regexp::set_last(cx, m);
    }
}

/// Writes the replacement text for a match, its back references filled in.
fn expand(cx: &mut Cx, out: &mut Vec<u8>, rep: Str, s: Str, region: &Region, re: Option<&Regex>) -> Result<(), Exit> {
    let (r, b) = (rep.bytes(), s.bytes());
    let e = enc(rep);
    let put = |out: &mut Vec<u8>, i: usize| {
        if let Some(x) = region.get(i) {
            out.put_all(&b[x]);
        }
    };
    let mut i = 0;
    while i < r.len() {
        let Some(k) = memchr::memchr(b'\\', &r[i..]) else {
            out.put_all(&r[i..]);
            break;
        };
        let at = i + k;
        out.put_all(&r[i..at]);
        if !e.is_utf8() && !e.is_single_byte() && e.char_head(r, at) != at {
            // A trail byte that looks like a backslash.
            out.put(b'\\');
            i = at + 1;
            continue;
        }
        let Some(&c) = r.get(at + 1) else {
            out.put(b'\\');
            break;
        };
        i = at + 2;
        match c {
            b'0' | b'&' => put(out, 0),
            b'1'..=b'9' => put(out, (c - b'0') as usize),
            b'`' => {
                if let Some(x) = region.get(0) {
                    out.put_all(&b[..x.start]);
                }
            }
            b'\'' => {
                if let Some(x) = region.get(0) {
                    out.put_all(&b[x.end..]);
                }
            }
            b'\\' => out.put(b'\\'),
            b'+' => {
                if let Some(g) = (1..region.groups.len()).rev().find(|g| region.get(*g).is_some()) {
                    put(out, g);
                }
            }
            b'k' if r.get(i) == Some(&b'<') && r[i..].contains(&b'>') => {
                let close = i + r[i..].iter().position(|c| *c == b'>').unwrap_or(0);
                let name = &r[i + 1..close];
                i = close + 1;
                match re.and_then(|re| re.name_to_backref(name, region)) {
                    Some(g) => put(out, g),
                    None if !name.is_empty() && name.iter().all(u8::is_ascii_digit) => {
                        let g = String::from_utf8_lossy(name).parse::<usize>().unwrap_or(usize::MAX);
                        put(out, g);
                    }
                    None => return Err(regexp::undefined_group(cx, name)),
                }
            }
            _ => {
                out.put(b'\\');
                out.put(c);
            }
        }
    }
    Ok(())
}

/// How a match is replaced.
enum With {
    Text(Str),
    /// A plain Hash with String keys and values.
    Map(Gc<HashObj>),
}

/// A `gsub` that paused: of receiver and arguments, its matches, and how far it is.
struct Substituting {
    of: [Value; 3],
    finder: Finder,
    out: Vec<u8>,
    last: Region,
    at: usize,
    from: usize,
    enc: kumi_text::EncIndex,
    checked: bool,
}

/// `sub` (`all` false) and `gsub`: the new string, nil when nothing matched. Natives of the
/// four methods share it; a block, an odd replacement or pattern is for the prelude.
fn substitute(cx: &mut Cx, recv: Value, args: &[Value], all: bool) -> Result<Option<(Vec<u8>, kumi_text::EncIndex, CodeRange)>, Exit> {
    let s = me(cx, recv)?;
    let pat = pattern(cx, args[0])?;
    let with = match args[1].as_hash() {
        Some(h) => With::Map(h),
        None => With::Text(cx.arg_str(args, 1)?),
    };
    let (is_re, pair) = (matches!(pat, Pat::Re(_)), [recv, args[0], args[1]]);
    let (paused, changed) = match if all && is_re { cx.detached::<Substituting>() } else { None } {
        Some(p) if p.of == pair && p.finder.holds(s) => (Some(p), false),
        p => (None, p.is_some()),
    };
    let b = s.bytes();
    let mut region = Region::new();
    let (mut out, mut last, mut at, mut from, mut any) = (Vec::new(), Region::new(), 0, 0, false);
    let mut finder = None;
    let mut e = enc(s);
    let mut has_rest_check = false;
    let plain = match &with {
        With::Text(t) => !t.bytes().contains(&b'\\'),
        With::Map(_) => false,
    };
    let compiled = match &pat {
        Pat::Re(v) => Some(regexp::regex(cx, *v)?),
        Pat::Text(_) => None,
    };
    if let With::Text(t) = &with {
        if enc(*t) != e && !(is_ascii(*t) && e.is_ascii_compatible()) {
            e = match compatible(s, *t) {
                Some(c) => c,
                // It may still go well when the parts that stay are ASCII.
                None => e,
            };
        }
    }
    if let Some(p) = paused {
        (out, last, at, from, any) = (p.out, p.last, p.at, p.from, true);
        (finder, e, has_rest_check) = (Some(p.finder), p.enc, p.checked);
    } else if all {
        finder = if changed { pat.finder_here(cx, s)? } else { pat.finder(cx, s)? };
    }
    let mut pace = Pace::new();
    while from <= b.len() && pat.find(cx, s, from, finder.as_mut(), &mut region)? {
        let Some(m) = region.get(0) else { break };
        if !any {
            any = true;
            out.want(b.len());
        }
        out.put_all(&b[at..m.start]);
        match &with {
            With::Text(t) => {
                if e != enc(*t) && !is_ascii(*t) && !has_rest_check {
                    compat(cx, s, *t)?;
                    has_rest_check = true;
                }
                if plain {
                    out.put_all(t.bytes());
                } else {
                    expand(cx, &mut out, *t, s, &region, compiled.as_deref())?;
                }
            }
            With::Map(h) => {
                let key = piece(cx, s, m.clone());
                let v = match cx.hash_find(*h, key)?.and_then(|i| h.h.at(i)) {
                    Some(entry) => entry.val,
                    None => h.h.missing().value(),
                };
                match v.as_str() {
                    Some(t) => {
                        e = match (e == enc(t), is_ascii(t)) {
                            (true, _) | (_, true) => e,
                            _ => compat(cx, s, t)?,
                        };
                        out.put_all(t.bytes());
                    }
                    None if v.is_nil() => {}
                    None => return Err(Exit::Miss),
                }
            }
        }
        at = m.end;
        std::mem::swap(&mut last, &mut region);
        if !all {
            break;
        }
        if m.is_empty() {
            if m.end >= b.len() {
                break;
            }
            let n = enc(s).char_len(&b[m.end..]).step().max(1);
            out.put_all(&b[m.end..m.end + n]);
            at = m.end + n;
            from = at;
        } else {
            from = m.end;
        }
        if pace.is_over() {
            finder = match finder {
                Some(f) if f.is_ahead() => {
                    let state = Substituting { of: pair, finder: f, out, last, at, from, enc: e, checked: has_rest_check };
                    return Err(cx.pause(Value::NIL, state));
                }
                f => f,
            };
            pace = Pace::new();
        }
    }
    if !any {
        regexp::set_last(cx, Value::NIL);
        return Ok(None);
    }
    out.put_all(&b[at.min(b.len())..]);
    remember(cx, s, &pat, last);
    let r = if s.range() == 1 && out.is_ascii() { CodeRange::SevenBit } else { CodeRange::Unknown };
    Ok(Some((out, e, r)))
}
fn plain(cx: &mut Cx, args: &[Value], all: bool) -> R {
    Ok(match substitute(cx, args[0], &args[1..], all)? {
        Some((b, e, r)) => make_vec(cx, b, e, r),
        None => {
            let s = me(cx, args[0])?;
            copy(cx, s)
        }
    })
}
fn bang(cx: &mut Cx, args: &[Value], all: bool) -> R {
    cx.check_frozen(args[0])?;
    Ok(match substitute(cx, args[0], &args[1..], all)? {
        Some((b, e, r)) => {
            let s = me(cx, args[0])?;
            set(cx, s, &b, e, r);
            args[0]
        }
        None => Value::NIL,
    })
}
/// An own method: with two plain arguments it is done here, else in the prelude.
fn method(cx: &mut Cx, recv: Value, args: &[Value], all: bool, bang_form: bool) -> R {
    let easy = args.len() == 2
        && (args[0].as_str().is_some() || args[0].as_data::<ReObj>().is_some())
        && (args[1].as_str().is_some()
            || args[1].as_hash().is_some_and(|h| matches!(h.h.missing(), Missing::Value(_)) && cx.class_of(args[1]) == cx.k.hash));
    if !easy {
        return Err(Exit::Miss);
    }
    let a = [recv, args[0], args[1]];
    if bang_form { bang(cx, &a, all) } else { plain(cx, &a, all) }
}

/// The method `scan` with a plain pattern.
fn scan_method(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    if args[0].as_str().is_none() && args[0].as_data::<ReObj>().is_none() {
        return Err(Exit::Miss);
    }
    scan(cx, Value::NIL, &[recv, args[0]])
}
/// `scan` without a block: `__str_scan(s, pattern)`.
fn scan(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let s = me(cx, args[0])?;
    let pat = pattern(cx, args[1])?;
    let b = s.bytes();
    let mut region = Region::new();
    let mut out: Vec<Value> = Vec::new();
    let (mut from, mut last, mut made) = (0, Region::new(), None);
    let mut finder = match cx.detached::<Scanning>() {
        Some(p) if p.of == [args[0], args[1]] && p.finder.holds(s) => {
            (from, last, made) = (p.from, p.last, p.out.as_array());
            Some(p.finder)
        }
        Some(_) => pat.finder_here(cx, s)?,
        None => pat.finder(cx, s)?,
    };
    let mut pace = Pace::new();
    while from <= b.len() && pat.find(cx, s, from, finder.as_mut(), &mut region)? {
        let Some(m) = region.get(0) else { break };
        if region.groups.len() <= 1 {
            let v = piece(cx, s, m.clone());
            out.put(v);
        } else {
            let mut row = Vec::with_capacity(region.groups.len() - 1);
            for i in 1..region.groups.len() {
                row.push(match region.get(i) {
                    Some(r) => piece(cx, s, r),
                    None => Value::NIL,
                });
            }
            out.put(cx.array_vec(row));
        }
        from = if m.is_empty() { m.end + if m.end < b.len() { enc(s).char_len(&b[m.end..]).step().max(1) } else { 1 } } else { m.end };
        std::mem::swap(&mut last, &mut region);
        if pace.is_over() {
            cx.look_for_room()?;
            finder = match finder {
                Some(f) if f.is_ahead() => {
                    let all = gather(cx, made, out);
                    return Err(cx.pause(all, Scanning { of: [args[0], args[1]], finder: f, from, last, out: all }));
                }
                f => f,
            };
            pace = Pace::new();
        }
    }
    if out.is_empty() && made.is_none() {
        regexp::set_last(cx, Value::NIL);
    } else {
        remember(cx, s, &pat, last);
    }
    Ok(gather(cx, made, out))
}
/// A `scan` that paused: of a string and a pattern, its matches, how far it is, and the array of what it has.
struct Scanning {
    of: [Value; 2],
    finder: Finder,
    from: usize,
    last: Region,
    out: Value,
}
/// An array of what was made before, if anything was, and `more`.
pub fn gather(cx: &mut Cx, made: Option<Gc<ArrayObj>>, more: Vec<Value>) -> Value {
    match made {
        Some(a) => {
            for v in more {
                cx.push(a, v);
            }
            a.val()
        }
        None => {
            cx.heap.charge(more.len() * 8);
            cx.array_vec(more)
        }
    }
}
/// `__str_find_match(s, pattern, from)`: the MatchData of the next match at or after byte `from`, or nil;
/// `$~` untouched.
fn find_match(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let s = me(cx, args[0])?;
    let pat = pattern(cx, args[1])?;
    let from = args[2].as_fix().unwrap_or(0).max(0) as usize;
    let mut region = Region::new();
    if from > s.bytes().len() || !pat.find(cx, s, from, None, &mut region)? {
        return Ok(Value::NIL);
    }
    let text = frozen_copy(cx, s);
    let re = pat.value(cx);
    Ok(cx.data(cx.k.match_data, MatchObj { text, re, region: region.groups }))
}
/// `__str_expand(replacement, match)`: the replacement's text with back references filled in.
fn expand_m(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let rep = me(cx, args[0])?;
    let Some(m) = args[1].as_data::<MatchObj>() else { return Ok(args[0]) };
    let text = me(cx, m.text)?;
    let re = m.re.as_data::<ReObj>().and_then(|r| r.re.clone());
    let mut out = Vec::new();
    let region = Region { groups: m.region.clone() };
    expand(cx, &mut out, rep, text, &region, re.as_deref())?;
    let e = compat(cx, text, rep)?;
    Ok(cx.str_vec(out, e))
}

pub static TABLE: &[NativeDef] = &[
    n("String", "sub", 1, 2, |c, r, a| method(c, r, a, false, false)),
    n("String", "gsub", 1, 2, |c, r, a| method(c, r, a, true, false)),
    n("String", "sub!", 1, 2, |c, r, a| method(c, r, a, false, true)),
    n("String", "gsub!", 1, 2, |c, r, a| method(c, r, a, true, true)),
    n("String", "scan", 1, 1, scan_method),
    intrinsic("__str_scan", 2, 2, scan),
    intrinsic("__str_find_match", 3, 3, find_match),
    intrinsic("__str_expand", 2, 2, expand_m),
];
