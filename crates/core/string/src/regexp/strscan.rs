//! Matching for lib/strscan: a search in the rest of a string, as if it began there.

use crate::away::Text;
use crate::regexp::{ReObj, ReState, regex};
use crate::text::*;
use kumi_regexp::{Limits, Regex, Region, SearchError, Subject};
use kumi_text::encoding::CodeRange;
use kumi_vm::*;
use std::time::{Duration, Instant};

/// What a scan that was done aside was asked.
#[derive(PartialEq)]
struct Asked {
    of: [Value; 4],
    text: Text,
}

/// What it gave.
struct Scanned(Asked, Result<bool, SearchError>, Region);

fn limits_of(seconds: Option<f64>) -> Limits<'static> {
    let deadline = seconds.map(|t| Instant::now() + Duration::from_secs_f64(t.clamp(0.0, 1e9)));
    Limits { deadline, ..Limits::default() }
}

fn find(r: &Regex, subject: &Subject<'_>, at: usize, anchored: bool, limits: Limits<'_>) -> (Result<bool, SearchError>, Region) {
    let mut region = Region::new();
    let found = if anchored {
        r.match_at(subject, at, limits, &mut region)
    } else {
        r.search(subject, at, limits, &mut region).map(|f| f.is_some())
    };
    (found, region)
}

/// `__scan(re, str, pos, anchored, fixed)`: byte offsets `[from, to, ...]` of the groups relative
/// to `pos` (-1 for groups that took no part), or nil. With `fixed` the string's start stays the
/// start for anchors. `anchored`: only at `pos`; without groups the length alone, and false where `re` is no Regexp.
fn scan(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let (anchored, fixed) = (args[3].truthy(), args[4].truthy());
    if anchored && args[0].as_data::<ReObj>().is_none() {
        return Ok(Value::FALSE);
    }
    let r = regex(cx, args[0])?;
    let s = cx.arg_str(args, 1)?;
    let pos = args[2].as_fix().unwrap_or(0).max(0) as usize;
    if pos > s.bytes().len() {
        return Ok(Value::NIL);
    }
    let cr = range(s);
    if cr == CodeRange::Broken {
        return Err(cx.arg_error(&format!("invalid byte sequence in {}", enc(s).name())));
    }
    // Of the rest the same is said, as CRuby does: to look at all of it for each scan would take the square of the text's length.
    let (bytes, at) = if fixed { (s.bytes(), pos) } else { (&s.bytes()[pos..], 0) };
    let subject = Subject::with_range(bytes, enc(s), cr);
    if r.is_fixed_encoding() || cr != CodeRange::SevenBit {
        if let Err(m) = r.check_encoding(&subject) {
            return Err(cx.raise_msg(cx.k.compatibility_error, &m));
        }
    }
    let own = args[0].as_data::<ReObj>().and_then(|o| o.timeout);
    let own = own.or(cx.shared_state::<ReState>().timeout());
    let limits = limits_of(own);
    let first = Limits { steps: Some(100_000), ..Limits::default() };
    let (mut found, mut region) = find(&r, &subject, at, anchored, first);
    if found == Err(SearchError::Steps) {
        let call = Asked { of: [args[0], args[2], args[3], args[4]], text: Text::of(s) };
        (found, region) = match cx.detached::<Scanned>() {
            Some(x) if x.0 == call => (x.1, x.2),
            Some(_) => find(&r, &subject, at, anchored, limits),
            None => {
                let (e, text) = (enc(s), call.text.clone());
                let keep = cx.array(&[s.val(), args[0]]);
                return Err(cx.detach(VERY_LONG, keep, move |stop| {
                    let limits = Limits { stop: Some(stop), ..limits_of(own) };
                    let (found, region) = text.with(|b| {
                        let bytes = if fixed { b } else { b.get(pos..).unwrap_or_default() };
                        find(&r, &Subject::with_range(bytes, e, cr), at, anchored, limits)
                    });
                    Scanned(call, found, region)
                }));
            }
        };
    }
    match found {
        Ok(true) => {
            if let (true, [whole]) = (anchored, &region.groups[..]) {
                return Ok(Value::fix(whole.1 as i64 - at as i64));
            }
            let base = at as i64;
            let mut v = Vec::with_capacity(region.groups.len() * 2);
            for g in &region.groups {
                let (a, b) = if g.0 < 0 { (-1, -1) } else { (g.0 as i64 - base, g.1 as i64 - base) };
                v.push(Value::fix(a));
                v.push(Value::fix(b));
            }
            Ok(cx.array_vec(v))
        }
        Ok(false) => Ok(Value::NIL),
        Err(SearchError::Timeout | SearchError::Steps) => Err(cx.raise_msg(cx.k.regexp_timeout_error, "regexp match timeout")),
        Err(SearchError::Engine(m)) => Err(cx.raise_msg(cx.k.regexp_error, &m)),
    }
}

/// `__bytes_at?(str, pos, other)`: do the bytes of `other` stand at `pos`?
fn bytes_at(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let (s, t) = (cx.arg_str(args, 0)?, cx.arg_str(args, 2)?);
    let pos = args[1].as_fix().unwrap_or(0).max(0) as usize;
    Ok(Value::bool(s.bytes().get(pos..).is_some_and(|r| r.starts_with(t.bytes()))))
}
/// `__bytes_find(str, pos, other)`: where the bytes of `other` next stand from `pos` on, or nil.
fn bytes_find(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let (s, t) = (cx.arg_str(args, 0)?, cx.arg_str(args, 2)?);
    let pos = args[1].as_fix().unwrap_or(0).max(0) as usize;
    let Some(rest) = s.bytes().get(pos..) else { return Ok(Value::NIL) };
    let at = memchr::memmem::find(rest, t.bytes());
    Ok(at.map_or(Value::NIL, |i| Value::fix((i + pos) as i64)))
}

/// Intrinsics of strscan and stringio.
pub static TABLE: &[NativeDef] =
    &[intrinsic("__scan", 5, 5, scan), intrinsic("__bytes_at?", 3, 3, bytes_at), intrinsic("__bytes_find", 3, 3, bytes_find)];
