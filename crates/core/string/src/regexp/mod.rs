//! Regexp: the cell, and matching with it. The search itself: `regexp_search`.
//!
//! Invariant: every search that Ruby can see sets the last match (`$~`) of the caller's frame,
//! to nil when nothing matched; `match?` sets nothing.

pub mod matchdata;
pub(crate) mod methods;
pub(crate) mod search;
pub(crate) mod strscan;

use crate::regexp::matchdata::MatchObj;
use crate::text::*;
use kumi_regexp::{Options, Regex, Region};
use kumi_text::encoding::EncIndex;
use kumi_vm::*;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, RwLock};

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
    /// `initialize` sets the pattern once, by one store; searching changes nothing.
    fn shares(&self) -> bool {
        true
    }
}

/// Patterns of literals by source, options and encoding; the global time limit.
#[derive(Default)]
pub struct ReState {
    cache: RwLock<HashMap<(Box<[u8]>, u32, EncIndex), Arc<Regex>>>,
    /// Bits of the seconds; 0: no limit.
    timeout: AtomicU64,
}
impl ReState {
    pub fn timeout(&self) -> Option<f64> {
        match self.timeout.load(Relaxed) {
            0 => None,
            b => Some(f64::from_bits(b)),
        }
    }
    pub fn set_timeout(&self, t: Option<f64>) {
        self.timeout.store(t.map_or(0, f64::to_bits), Relaxed);
    }
}
const CACHE_MAX: usize = 2048;

/// Compiling a byte of a pattern takes about that long, in nanoseconds.
const NS_PER_BYTE: u64 = 60;

/// Compiles, or finds what was compiled before: what a native does before it changes anything, and once.
pub fn compile(cx: &mut Cx, src: &[u8], options: u32, enc: EncIndex) -> Result<Arc<Regex>, Exit> {
    let key = (Vec::copy(src).into_boxed_slice(), options, enc);
    let st = cx.shared_state::<ReState>();
    if let Some(r) = st.cache.read().unwrap_or_else(|e| e.into_inner()).get(&key) {
        return Ok(r.clone());
    }
    let made = cx.detach_on_bytes(src, src.len() as u64 * NS_PER_BYTE, move |src| Regex::new(src, Options(options), enc).map(Arc::new))?;
    match made {
        Ok(r) => {
            let st = cx.shared_state::<ReState>();
            let mut cache = st.cache.write().unwrap_or_else(|e| e.into_inner());
            if cache.len() >= CACHE_MAX {
                cache.clear();
            }
            cache.insert(key, r.clone());
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

pub use crate::regexp::search::{Finder, Mode, search, search_here};

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
    remember(cx, re, s, found, region)
}
/// Sets `$~` where it can be seen: the bytes of the match.
fn remember(cx: &mut Cx, re: Value, s: Str, found: bool, region: Region) -> Result<Option<Range<usize>>, Exit> {
    let all = if found { region.get(0) } else { None };
    if cx.keeps_last_match() {
        let m = if found { match_value(cx, re, s, region) } else { Value::NIL };
        set_last(cx, m);
    }
    Ok(all)
}
/// Byte offsets of a match value's groups.
pub fn groups(m: &Value) -> &[(isize, isize)] {
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
/// Matches at the start of `s`; `only`: the native asks no other pattern.
pub fn match_start(cx: &mut Cx, re: Value, s: Str, only: bool) -> Result<bool, Exit> {
    if only {
        return Ok(match_bytes(cx, re, s, Mode::At(0))?.is_some());
    }
    let mut region = Region::new();
    let found = search_here(cx, re, s, Mode::At(0), &mut region)?;
    Ok(remember(cx, re, s, found, region)?.is_some())
}
/// The bytes of a match, searched from `from`.
pub fn match_span(cx: &mut Cx, re: Value, s: Str, from: usize, back: bool) -> Result<Option<Range<usize>>, Exit> {
    let mode = if back { Mode::Back(from) } else { Mode::From(from) };
    match_bytes(cx, re, s, mode)
}

/// Number of the group that `which` (Integer, String, Symbol) names in match `m`; `None` beyond the groups.
fn group_no(cx: &mut Cx, re: &Regex, m: &[(isize, isize)], which: Value, argi: u8) -> Result<Option<usize>, Exit> {
    let name = if let Some(y) = which.as_sym() { Some(cx.syms.name(y).to_vec()) } else { which.as_str().map(|s| s.bytes().to_vec()) };
    if let Some(name) = name {
        let region = Region { groups: m.to_vec() };
        return match re.name_to_backref(&name, &region) {
            Some(g) => Ok(Some(g)),
            None => Err(undefined_group(cx, &name)),
        };
    }
    let i = match cx.arg_c_int(&[which], 0) {
        Err(Exit::Convert(_, proto)) => return Err(Exit::Convert(argi, proto)),
        i => i? as i64,
    };
    let n = m.len() as i64;
    // Counted from the end, the whole match is not reached.
    let i = if i < 0 && i + n > 0 { i + n } else { i };
    Ok((i >= 0 && i < n).then_some(i as usize))
}
/// IndexError for an unknown group name.
pub fn undefined_group(cx: &mut Cx, name: &[u8]) -> Exit {
    let mut m = String::from("undefined group name reference: ");
    for part in name.utf8_chunks() {
        m.push_str(part.valid());
        part.invalid().iter().for_each(|b| m.push_str(&format!("\\x{b:02X}")));
    }
    cx.index_error(&m)
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
    let g = groups(&m);
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
    let g = groups(&m);
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
