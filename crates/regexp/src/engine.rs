//! The door to the C library: compile, search, names.
//!
//! Invariant: a [`Program`] is never changed after it was compiled, so that any number of
//! threads search with it at once; subjects reach the engine only when no character in
//! their last bytes reaches beyond the end ([`is_within`]), because the engine steps by
//! lead bytes.

use kumi_text::EncIndex;
use kumi_text::encoding::Kind;
use onig_sys as onig;
use std::os::raw::{c_int, c_void};
use std::ptr;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Instant;

/// Bounds of one search.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits<'a> {
    /// When to give up (`Regexp.timeout`).
    pub deadline: Option<Instant>,
    /// Backtracking steps after which to give up; for chunked work.
    pub steps: Option<u64>,
    /// Places to come back to that are remembered at once, after which to give up (0: the engine's own bound).
    pub depth: u32,
    /// Set by others: nobody wants the answer any more. It is looked at now and then, and gives [`SearchError::Steps`].
    pub stop: Option<&'a AtomicBool>,
}

/// Backtracking steps after which any search gives up, when nothing else was asked for.
pub(crate) const RETRY_LIMIT: std::ffi::c_ulong = 200_000_000;

/// Why a search has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SearchError {
    /// The deadline passed ("regexp match timeout").
    Timeout,
    /// The steps are used up.
    Steps,
    /// The engine's message.
    Engine(String),
}

impl std::fmt::Display for SearchError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SearchError::Timeout => f.write_str("regexp match timeout"),
            SearchError::Steps => f.write_str("regexp match step limit over"),
            SearchError::Engine(m) => f.write_str(m),
        }
    }
}

impl std::error::Error for SearchError {}

/// The engine's option bits that Ruby uses.
pub(crate) const IGNORECASE: u32 = 1;
pub(crate) const EXTENDED: u32 = 2;
pub(crate) const MULTILINE: u32 = 4;

const MISMATCH: c_int = -1;
const RETRY_IN_MATCH: c_int = -17;
const RETRY_IN_SEARCH: c_int = -18;
const STACK_LIMIT: c_int = -15;

/// `\o{...}`, `\x{...}` are not Ruby's.
const OP_ESC_BRACES: u32 = 1 << 30 | 1 << 31;
/// Look-behind of unbounded length is not Ruby's either.
const VARIABLE_LEN_LOOK_BEHIND: u32 = 1 << 11;

static mut SYNTAX: std::mem::MaybeUninit<onig::OnigSyntaxType> = std::mem::MaybeUninit::uninit();
static INIT: Once = Once::new();

fn encodings() -> [onig::OnigEncoding; 30] {
    {
        [
            &raw mut onig::OnigEncodingASCII,
            &raw mut onig::OnigEncodingUTF8,
            &raw mut onig::OnigEncodingEUC_JP,
            &raw mut onig::OnigEncodingSJIS,
            &raw mut onig::OnigEncodingEUC_KR,
            &raw mut onig::OnigEncodingEUC_TW,
            &raw mut onig::OnigEncodingBIG5,
            &raw mut onig::OnigEncodingGB18030,
            &raw mut onig::OnigEncodingISO_8859_1,
            &raw mut onig::OnigEncodingISO_8859_2,
            &raw mut onig::OnigEncodingISO_8859_3,
            &raw mut onig::OnigEncodingISO_8859_4,
            &raw mut onig::OnigEncodingISO_8859_5,
            &raw mut onig::OnigEncodingISO_8859_6,
            &raw mut onig::OnigEncodingISO_8859_7,
            &raw mut onig::OnigEncodingISO_8859_8,
            &raw mut onig::OnigEncodingISO_8859_9,
            &raw mut onig::OnigEncodingISO_8859_10,
            &raw mut onig::OnigEncodingISO_8859_11,
            &raw mut onig::OnigEncodingISO_8859_13,
            &raw mut onig::OnigEncodingISO_8859_14,
            &raw mut onig::OnigEncodingISO_8859_15,
            &raw mut onig::OnigEncodingISO_8859_16,
            &raw mut onig::OnigEncodingKOI8_R,
            &raw mut onig::OnigEncodingCP1251,
            &raw mut onig::OnigEncodingUTF16_BE,
            &raw mut onig::OnigEncodingUTF16_LE,
            &raw mut onig::OnigEncodingUTF32_BE,
            &raw mut onig::OnigEncodingUTF32_LE,
            &raw mut onig::OnigEncodingEUC_CN,
        ]
    }
}

fn init() {
    INIT.call_once(|| {
        let mut list = encodings();
        // SAFETY: `Once` lets nobody else into the library or at SYNTAX meanwhile; `list` outlives the calls, which copy it.
        unsafe {
            onig::onig_initialize(list.as_mut_ptr(), list.len() as c_int);
            // Far above what a sane match needs, some seconds of an exponential one.
            onig::onig_set_retry_limit_in_match(RETRY_LIMIT);
            onig::onig_set_retry_limit_in_search(RETRY_LIMIT);
            onig::onig_set_parse_depth_limit(1000);
            // Calls of groups within each other; beyond its 20 the engine would find nothing, without a word. Its memory and steps bound them.
            onig::onig_set_subexp_call_max_nest_level(c_int::MAX);
            let mut syntax = onig::OnigSyntaxRuby;
            syntax.op &= !OP_ESC_BRACES;
            syntax.behavior &= !VARIABLE_LEN_LOOK_BEHIND;
            (&raw mut SYNTAX).write(std::mem::MaybeUninit::new(syntax));
        }
    });
}

/// The engine's encoding for a row of ours. Single-byte and rare multibyte encodings that
/// the engine lacks are searched as bytes.
fn engine_encoding(enc: EncIndex) -> onig::OnigEncoding {
    use EncIndex as E;
    let all = encodings();
    let i = match enc {
        E::ISO_8859_1 | E::WINDOWS_1252 => 8,
        E::ISO_8859_2 => 9,
        E::ISO_8859_3 => 10,
        E::ISO_8859_4 => 11,
        E::ISO_8859_5 => 12,
        E::ISO_8859_6 => 13,
        E::ISO_8859_7 => 14,
        E::ISO_8859_8 => 15,
        E::ISO_8859_9 => 16,
        E::ISO_8859_10 => 17,
        E::ISO_8859_11 => 18,
        E::ISO_8859_13 => 19,
        E::ISO_8859_14 => 20,
        E::ISO_8859_15 => 21,
        E::ISO_8859_16 => 22,
        E::KOI8_R => 23,
        E::WINDOWS_1251 => 24,
        _ => match enc.kind() {
            Kind::Utf8 => 1,
            Kind::EucJp => 2,
            Kind::Sjis => 3,
            Kind::EucKr => 4,
            Kind::EucTw => 5,
            Kind::Big5 => 6,
            Kind::Gb18030 | Kind::Gbk => 7,
            Kind::Utf16Be => 25,
            Kind::Utf16Le => 26,
            Kind::Utf32Be => 27,
            Kind::Utf32Le => 28,
            _ => 0,
        },
    };
    all[i]
}

/// A compiled pattern for one encoding.
pub(crate) struct Program {
    raw: onig::OnigRegex,
}

// SAFETY: the library's pattern buffer is only read by search, match and the queries used
// here; match state lives in the caller's region and on the library's own match stack.
unsafe impl Send for Program {}
// SAFETY: as for `Send`: nothing that a shared `Program` is asked writes to it.
unsafe impl Sync for Program {}

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: `raw` came from `onig_new`, belongs to this value alone, and is freed here only.
        unsafe { onig::onig_free(self.raw) }
    }
}

/// Where a search begins and how far it may go.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Walk {
    /// Starts at `.0`, tries positions below `.1` (all up to the end if it is the end).
    Forward(usize, usize),
    /// Starts at the byte, tries positions down to 0.
    Backward(usize),
    /// Only at the byte.
    At(usize),
}

impl Walk {
    /// The byte where it begins.
    pub(crate) fn start(self) -> usize {
        match self {
            Walk::Forward(a, _) | Walk::Backward(a) | Walk::At(a) => a,
        }
    }
}

/// The library's message. `info`: as the call that failed left it, while the text that it points into is alive.
fn message(code: c_int, info: Option<&mut onig::OnigErrorInfo>) -> String {
    let mut buf = [0u8; 256];
    // SAFETY: the buffer is larger than ONIG_MAX_ERROR_MESSAGE_LEN (90); only `Program::new` gives an `info`, which it made
    // without a parameter (null) or `onig_new` filled with a part of the pattern, alive in both.
    let n = unsafe {
        match info {
            None => onig::onig_error_code_to_str(buf.as_mut_ptr(), code),
            Some(info) => onig::onig_error_code_to_str(buf.as_mut_ptr(), code, std::ptr::from_mut(info)),
        }
    };
    let n = usize::try_from(n).unwrap_or(0).min(buf.len());
    String::from_utf8_lossy(&buf[..n]).into_owned()
}

impl Program {
    /// Compiles engine text.
    pub(crate) fn new(text: &[u8], options: u32, enc: EncIndex) -> Result<Program, (c_int, String)> {
        init();
        kumi_budget::make_way();
        let mut raw: onig::OnigRegex = ptr::null_mut();
        let mut info = onig::OnigErrorInfo { enc: ptr::null_mut(), par: ptr::null_mut(), par_end: ptr::null_mut() };
        let range = text.as_ptr_range();
        // SAFETY: pointers span `text`; the library copies what it keeps. SYNTAX was
        // written by `init` and is only read from then on.
        let code = unsafe {
            onig::onig_new(
                &mut raw,
                range.start,
                range.end,
                options,
                engine_encoding(enc),
                (&raw mut SYNTAX).cast::<onig::OnigSyntaxType>(),
                &mut info,
            )
        };
        if code != 0 {
            return Err((code, message(code, Some(&mut info))));
        }
        Ok(Program { raw })
    }

    /// Number of groups, without group 0.
    pub(crate) fn captures(&self) -> usize {
        // SAFETY: `raw` came from `onig_new` and lives as long as `self`.
        usize::try_from(unsafe { onig::onig_number_of_captures(self.raw) }).unwrap_or(0)
    }

    /// Names in order of appearance with their group numbers.
    pub(crate) fn names(&self) -> Vec<(Vec<u8>, Vec<u32>)> {
        /// # Safety
        /// To be called by `onig_foreach_name` only, with a vector of names as `arg`.
        unsafe extern "C" fn each(
            name: *const u8,
            name_end: *const u8,
            n: c_int,
            groups: *mut c_int,
            _reg: onig::OnigRegex,
            arg: *mut c_void,
        ) -> c_int {
            // SAFETY: the library passes the bounds of the name, `n` group numbers, and
            // the vector that `names` gave it.
            unsafe {
                let out = &mut *arg.cast::<Vec<(Vec<u8>, Vec<u32>)>>();
                let len = usize::try_from(name_end.offset_from(name)).unwrap_or(0);
                let name = std::slice::from_raw_parts(name, len).to_vec();
                let count = usize::try_from(n).unwrap_or(0);
                let groups = std::slice::from_raw_parts(groups, count);
                out.push((name, groups.iter().map(|&g| g as u32).collect()));
            }
            0
        }
        let mut out: Vec<(Vec<u8>, Vec<u32>)> = Vec::new();
        // SAFETY: `raw` lives as long as `self`; `out` has the type that `each` takes it for, and nobody else has it during the call.
        unsafe {
            onig::onig_foreach_name(self.raw, Some(each), (&raw mut out).cast());
        }
        out.sort_unstable_by_key(|(_, groups)| groups.first().copied().unwrap_or(0));
        out
    }

    /// Searches; fills `out` with group offsets (-1 for none) and returns the position.
    ///
    /// # Safety
    /// [`is_within`] says yes to the subject, the place where `walk` begins and the encoding that the program was made for.
    pub(crate) unsafe fn search(
        &self,
        subject: &[u8],
        walk: Walk,
        limits: Limits<'_>,
        out: &mut Vec<(isize, isize)>,
    ) -> Result<Option<usize>, SearchError> {
        if subject.len() >= i32::MAX as usize {
            return Err(SearchError::Engine("string too long for regexp match".into()));
        }
        let bounds = match walk {
            Walk::Forward(a, b) => a.max(b),
            Walk::Backward(a) | Walk::At(a) => a,
        };
        if bounds > subject.len() {
            return Ok(None);
        }
        let region = RegionGuard::take();
        let code = if limits.deadline.is_none() && limits.steps.is_none() && limits.stop.is_none() {
            // SAFETY: the caller's promise; the bounds were looked at above.
            unsafe { self.run(subject, walk, &region, None) }
        } else {
            // SAFETY: likewise.
            unsafe { self.run_bounded(subject, walk, &region, limits)? }
        };
        match code {
            MISMATCH => Ok(None),
            RETRY_IN_MATCH | RETRY_IN_SEARCH => Err(SearchError::Steps),
            STACK_LIMIT if limits.depth > 0 => Err(SearchError::Steps),
            n if n < 0 => Err(SearchError::Engine(message(n, None))),
            n => {
                region.copy_to(out);
                Ok(Some(match walk {
                    Walk::At(at) => at,
                    _ => n as usize,
                }))
            }
        }
    }

    /// The engine counts backtracking but looks at nothing else: it gets a growing
    /// number of steps until the deadline, which repeats at most an eighth of the work.
    ///
    /// # Safety
    /// As [`run`](Self::run).
    unsafe fn run_bounded(&self, subject: &[u8], walk: Walk, region: &RegionGuard, limits: Limits<'_>) -> Result<c_int, SearchError> {
        let total = limits.steps.unwrap_or(if limits.deadline.is_some() { u64::MAX } else { RETRY_LIMIT });
        let watched = limits.deadline.is_some() || limits.stop.is_some();
        let mut chunk: u64 = if watched { 100_000.min(total) } else { total };
        let param = Param::take()?;
        loop {
            // SAFETY: `param` owns its block, which `take` has initialised.
            unsafe {
                onig::onig_set_match_stack_limit_size_of_match_param(param.0, limits.depth);
                onig::onig_set_retry_limit_in_search_of_match_param(param.0, chunk as _);
                onig::onig_set_retry_limit_in_match_of_match_param(param.0, chunk as _);
            }
            let began = limits.deadline.map(|_| Instant::now());
            // SAFETY: the caller's promise.
            let code = unsafe { self.run(subject, walk, region, Some(&param)) };
            if code != RETRY_IN_SEARCH && code != RETRY_IN_MATCH {
                return Ok(code);
            }
            let mut factor = 8;
            if let (Some(deadline), Some(began)) = (limits.deadline, began) {
                let now = Instant::now();
                let left = deadline.saturating_duration_since(now);
                if left.is_zero() {
                    return Err(SearchError::Timeout);
                }
                // Aim at the time left, at most eight times more than last time.
                let spent = now.duration_since(began).as_nanos().max(1);
                factor = (left.as_nanos() / spent).clamp(1, 8) as u64;
            }
            if chunk >= total || limits.stop.is_some_and(|s| s.load(Relaxed)) {
                return Err(SearchError::Steps);
            }
            chunk = chunk.saturating_mul(factor).max(chunk + chunk / 4).min(total);
        }
    }

    /// # Safety
    /// As [`search`](Self::search); and no offset of `walk` is beyond the subject's end.
    unsafe fn run(&self, subject: &[u8], walk: Walk, region: &RegionGuard, param: Option<&Param>) -> c_int {
        let base = subject.as_ptr();
        let param = param.map_or(ptr::null_mut(), |p| p.0);
        // SAFETY: by the caller's promise all addresses are of the subject or its end, and no character leads beyond it; region and
        // parameter block are owned by guards that are borrowed here and cannot leave this thread.
        unsafe {
            let end = base.add(subject.len());
            match walk {
                Walk::At(at) if param.is_null() => {
                    let n = onig::onig_match(self.raw, base, end, base.add(at), region.raw, 0);
                    if n >= 0 { at as c_int } else { n }
                }
                Walk::At(at) => {
                    let n = onig::onig_match_with_param(self.raw, base, end, base.add(at), region.raw, 0, param);
                    if n >= 0 { at as c_int } else { n }
                }
                Walk::Forward(..) | Walk::Backward(_) => {
                    let (start, range) = match walk {
                        Walk::Forward(a, b) => (a, b),
                        Walk::Backward(a) | Walk::At(a) => (a, 0),
                    };
                    if param.is_null() {
                        onig::onig_search(self.raw, base, end, base.add(start), base.add(range), region.raw, 0)
                    } else {
                        onig::onig_search_with_param(self.raw, base, end, base.add(start), base.add(range), region.raw, 0, param)
                    }
                }
            }
        }
    }
}

/// The library's bounds of a search, kept per thread between searches.
struct Param(*mut onig::OnigMatchParam);

struct SpareParam(std::cell::Cell<*mut onig::OnigMatchParam>);

impl Drop for SpareParam {
    fn drop(&mut self) {
        let raw = self.0.get();
        if !raw.is_null() {
            // SAFETY: `Param::drop` put it here and forgot it, and the thread's storage goes: this is the last pointer.
            unsafe { onig::onig_free_match_param(raw) }
        }
    }
}

thread_local! {
    static SPARE_PARAM: SpareParam = const { SpareParam(std::cell::Cell::new(ptr::null_mut())) };
}

impl Param {
    fn take() -> Result<Param, SearchError> {
        let spare = SPARE_PARAM.try_with(|s| s.0.replace(ptr::null_mut())).unwrap_or(ptr::null_mut());
        if !spare.is_null() {
            return Ok(Param(spare));
        }
        // SAFETY: the block is fresh, no null, and initialised before anybody gets it.
        unsafe {
            let p = onig::onig_new_match_param();
            if p.is_null() {
                return Err(SearchError::Engine("failed to allocate memory".into()));
            }
            onig::onig_initialize_match_param(p);
            Ok(Param(p))
        }
    }
}

impl Drop for Param {
    fn drop(&mut self) {
        let old = SPARE_PARAM.try_with(|s| s.0.replace(self.0)).unwrap_or(self.0);
        if !old.is_null() {
            // SAFETY: `old` was in the spare place or, where there is none any more, is this guard's own: the last pointer to it.
            unsafe { onig::onig_free_match_param(old) }
        }
    }
}

/// The library's region, kept per thread between searches.
struct RegionGuard {
    raw: *mut onig::OnigRegion,
}

struct SpareRegion(std::cell::Cell<*mut onig::OnigRegion>);

impl Drop for SpareRegion {
    fn drop(&mut self) {
        let raw = self.0.get();
        if !raw.is_null() {
            // SAFETY: `RegionGuard::drop` put it here and forgot it, and the thread's storage goes: this is the last pointer.
            unsafe { onig::onig_region_free(raw, 1) }
        }
    }
}

thread_local! {
    static SPARE: SpareRegion = const { SpareRegion(std::cell::Cell::new(ptr::null_mut())) };
}

impl RegionGuard {
    fn take() -> RegionGuard {
        let raw = SPARE.try_with(|s| s.0.replace(ptr::null_mut())).unwrap_or(ptr::null_mut());
        if !raw.is_null() {
            return RegionGuard { raw };
        }
        // SAFETY: the call takes nothing. A null region is legal for every later call.
        RegionGuard { raw: unsafe { onig::onig_region_new() } }
    }

    fn copy_to(&self, out: &mut Vec<(isize, isize)>) {
        out.clear();
        if self.raw.is_null() {
            return;
        }
        // SAFETY: the region is this guard's; the library keeps `num_regs` initialised entries in `beg` and `end`.
        unsafe {
            let region = &*self.raw;
            for i in 0..usize::try_from(region.num_regs).unwrap_or(0) {
                out.push((*region.beg.add(i) as isize, *region.end.add(i) as isize));
            }
        }
    }
}

impl Drop for RegionGuard {
    fn drop(&mut self) {
        let old = SPARE.try_with(|s| s.0.replace(self.raw)).unwrap_or(self.raw);
        if !old.is_null() {
            // SAFETY: `old` was in the spare place or, where there is none any more, is this guard's own: the last pointer to it.
            unsafe { onig::onig_region_free(old, 1) }
        }
    }
}

/// Whether the engine, which steps by lead bytes, stays within `subject` when it reads it in `enc` from byte `start` on: no
/// character among the last bytes claims bytes beyond the end. Constant time for UTF-8, a full check for other
/// multibyte encodings, where what is no lead byte may look like one.
pub(crate) fn is_within(subject: &[u8], start: usize, enc: EncIndex) -> bool {
    match enc.kind() {
        Kind::Binary | Kind::Ascii | Kind::Single => true,
        Kind::Utf8 => {
            let n = subject.len();
            (1..=5.min(n)).all(|back| {
                let need = match subject[n - back] {
                    0..=0xBF => 1,
                    0xC0..=0xDF => 2,
                    0xE0..=0xEF => 3,
                    0xF0..=0xF7 => 4,
                    0xF8..=0xFB => 5,
                    _ => 6,
                };
                need <= back
            })
        }
        _ => enc.is_valid(subject) && (start == 0 || subject.get(start..).is_none_or(|rest| enc.is_valid(rest))),
    }
}
