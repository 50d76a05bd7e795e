//! Searching with a pattern: one match, or all of them one after the other.
//!
//! While other workers run, a search through long text, or one that is not over soon,
//! is done with the worker detached. It reads the subject's bytes where they are: the
//! buffer is kept, and the engine stays inside it whatever others write there. The
//! answer counts if nobody did; else the search runs where it is asked for. So
//! callers see one search in one state of the string, under the guard of their native.
//!
//! Invariant: whoever searches has changed nothing so far, since the native may be
//! called again; one that searches more than once uses a [`Finder`] or [`search_here`].

use crate::away::Text;
use crate::regexp::{ReObj, ReState, regex};
use crate::text::*;
use kumi_regexp::{Limits, Regex, Region, SearchError, Subject, show};
use kumi_text::encoding::{CodeRange, EncIndex};
use kumi_vm::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

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

/// What searches one after the other have in common.
#[derive(Clone)]
struct Search {
    r: Arc<Regex>,
    /// Seconds after which to give up.
    limit: Option<f64>,
    enc: EncIndex,
    range: CodeRange,
}

type Answer = Result<bool, SearchError>;

impl Search {
    /// Looks whether the pattern may be searched for in `s`.
    fn new(cx: &mut Cx, re: Value, s: Str) -> Result<Search, Exit> {
        let r = regex(cx, re)?;
        let range = range(s);
        if range == CodeRange::Broken {
            return Err(cx.arg_error(&format!("invalid byte sequence in {}", enc(s).name())));
        }
        if r.is_fixed_encoding() || range != CodeRange::SevenBit {
            let subject = Subject::with_range(s.bytes(), enc(s), range);
            if let Err(m) = r.check_encoding(&subject) {
                return Err(cx.raise_msg(cx.k.compatibility_error, &m));
            }
        }
        let own = re.as_data::<ReObj>().and_then(|o| o.timeout);
        let limit = own.or(cx.shared_state::<ReState>().timeout());
        Ok(Search { r, limit, enc: enc(s), range })
    }
    fn subject<'a>(&self, bytes: &'a [u8]) -> Subject<'a> {
        Subject::with_range(bytes, self.enc, self.range)
    }
    /// The search, however long it takes, or until nobody wants to know.
    fn run(&self, bytes: &[u8], mode: Mode, region: &mut Region, stop: Option<&AtomicBool>) -> Answer {
        let deadline = self.limit.map(|t| Instant::now() + Duration::from_secs_f64(t.clamp(0.0, 1e9)));
        self.run_within(bytes, mode, region, Limits { deadline, stop, ..Limits::default() })
    }
    /// The same, given up when it takes some milliseconds, for who is alone; in long text each step may run through all of it.
    fn run_soon(&self, bytes: &[u8], mode: Mode, region: &mut Region) -> Option<Answer> {
        let steps = (4_000_000_000 / (bytes.len() as u64 + 1)).clamp(1000, 200_000);
        match self.run_within(bytes, mode, region, Limits { steps: Some(steps), ..Limits::default() }) {
            Err(SearchError::Steps) => None,
            a => Some(a),
        }
    }
    /// A first try that is not long, for who is alone or among others.
    fn try_here(&self, cx: &Cx, bytes: &[u8], mode: Mode, region: &mut Region) -> Option<Answer> {
        if !cx.are_others_waiting() {
            return self.run_soon(bytes, mode, region);
        }
        match mode {
            // In long text the next match may be near all the same.
            Mode::From(i) if bytes.len().saturating_sub(i) > FAR => {
                Some(self.r.search_near(&self.subject(bytes), i, FAR, region)?.map(|_| true))
            }
            _ => self.run_briefly(bytes, mode, region),
        }
    }
    fn run_within(&self, bytes: &[u8], mode: Mode, region: &mut Region, limits: Limits<'_>) -> Answer {
        let (r, subject) = (&self.r, &self.subject(bytes));
        match mode {
            Mode::From(i) => r.search(subject, i, limits, region).map(|f| f.is_some()),
            // The engine looks before the start it is given, and for some patterns not right before it.
            Mode::Back(i) => match r.match_at(subject, i, limits, region) {
                Ok(false) => match self.enc.prev_char(bytes, i) {
                    None => Ok(false),
                    Some(p) => match r.match_at(subject, p, limits, region) {
                        Ok(false) => r.search_back(subject, i, limits, region).map(|f| f.is_some()),
                        other => other,
                    },
                },
                other => other,
            },
            Mode::At(i) => r.match_at(subject, i, limits, region),
        }
    }
    /// The same, given up when it takes some tenths of a millisecond.
    fn run_briefly(&self, bytes: &[u8], mode: Mode, region: &mut Region) -> Option<Answer> {
        let (r, subject) = (&self.r, &self.subject(bytes));
        match mode {
            Mode::From(i) => r.search_briefly(subject, i, region).map(|a| a.map(|f| f.is_some())),
            Mode::Back(i) => match r.match_briefly(subject, i, region)? {
                Ok(false) => match self.enc.prev_char(bytes, i) {
                    None => Some(Ok(false)),
                    Some(p) => match r.match_briefly(subject, p, region)? {
                        Ok(false) => r.search_back_briefly(subject, i, region).map(|a| a.map(|f| f.is_some())),
                        other => Some(other),
                    },
                },
                other => Some(other),
            },
            Mode::At(i) => r.match_briefly(subject, i, region),
        }
    }
    fn answer(&self, cx: &mut Cx, a: Answer) -> Result<bool, Exit> {
        match a {
            Ok(f) => Ok(f),
            Err(SearchError::Timeout | SearchError::Steps) => Err(cx.raise_msg(cx.k.regexp_timeout_error, "regexp match timeout")),
            Err(SearchError::Engine(m)) => {
                let shown = show::expression(self.r.source(), self.r.encoding());
                Err(cx.raise_msg(cx.k.regexp_error, &format!("{m}: /{}/", String::from_utf8_lossy(&shown))))
            }
        }
    }
}

/// What lies farther away than so many bytes is not searched for where it is asked for.
const FAR: usize = 64 << 10;

/// What a detached search found.
struct Found {
    search: Search,
    text: Text,
    mode: Mode,
    answer: Answer,
    region: Region,
}

/// Searches `s` where it is asked for, however long it takes; nothing but the answer.
pub fn search_here(cx: &mut Cx, re: Value, s: Str, mode: Mode, region: &mut Region) -> Result<bool, Exit> {
    let search = Search::new(cx, re, s)?;
    let a = search.run(s.bytes(), mode, region, None);
    search.answer(cx, a)
}
/// Searches `s`, for a native's only search; nothing but the answer.
pub fn search(cx: &mut Cx, re: Value, s: Str, mode: Mode, region: &mut Region) -> Result<bool, Exit> {
    let search = Search::new(cx, re, s)?;
    if let Some(f) = cx.detached::<Found>() {
        let same = Arc::ptr_eq(&f.search.r, &search.r) && f.mode == mode && f.search.enc == search.enc && f.text == Text::of(s);
        let a = if same {
            *region = f.region;
            f.answer
        } else {
            search.run(s.bytes(), mode, region, None)
        };
        return search.answer(cx, a);
    }
    match search.try_here(cx, s.bytes(), mode, region) {
        Some(a) => search.answer(cx, a),
        None => {
            let text = Text::of(s);
            Err(cx.detach(VERY_LONG, text.cell, move |stop| {
                let mut region = Region::new();
                let answer = text.with(|b| search.run(b, mode, &mut region, Some(stop)));
                Found { search, text, mode, answer, region }
            }))
        }
    }
}

/// All matches that a detached search found: each with the byte from which it was searched.
struct Ahead {
    search: Search,
    text: Text,
    rest: Rest,
    /// Searches in order: from where, and what came out.
    list: Vec<(usize, Answer)>,
    /// The groups of those that found something, one after the other.
    groups: Vec<(isize, isize)>,
}

/// How a search goes on behind a match.
#[derive(Clone, Copy, PartialEq)]
pub enum Rest {
    /// Behind its last byte; behind an empty match, one character further.
    Next,
    /// As `split` does: an empty match where the search began sends it one character on, one elsewhere does not.
    Split,
}

impl Rest {
    fn after(self, from: usize, m: &std::ops::Range<usize>, e: EncIndex, single: bool, b: &[u8]) -> usize {
        let step = |i: usize| match b.get(i..) {
            None | Some([]) => 1,
            Some(_) if single => 1,
            Some(rest) => e.char_len(rest).step().max(1),
        };
        match self {
            Rest::Next if m.is_empty() => m.end + step(m.end),
            Rest::Split if m.is_empty() && m.start == from => from + step(from),
            _ => m.end,
        }
    }
}

/// Subjects of as many bytes are searched through at once when others run.
const AHEAD: usize = 16 << 10;

/// Searches of one native for one match after the other.
pub struct Finder {
    search: Search,
    ahead: Option<Ahead>,
    /// The next search of `ahead`, and its first group.
    next: (usize, usize),
    /// Searches may still be given away.
    gives: bool,
    rest: Rest,
}

impl Finder {
    /// For searches in `s`, which is looked at from its start.
    pub fn new(cx: &mut Cx, re: Value, s: Str, rest: Rest) -> Result<Finder, Exit> {
        let search = Search::new(cx, re, s)?;
        let mut f = Finder { search, ahead: None, next: (0, 0), gives: true, rest };
        if let Some(a) = cx.detached::<Ahead>() {
            f.gives = false;
            let same = Arc::ptr_eq(&a.search.r, &f.search.r) && a.rest == rest && a.search.enc == f.search.enc && a.text == Text::of(s);
            f.ahead = same.then_some(a);
        } else if s.bytes().len() >= AHEAD && cx.are_others_waiting() {
            return Err(f.give(cx, s));
        }
        Ok(f)
    }
    /// For searches that are made where they are asked for, however long they take.
    pub fn here(cx: &mut Cx, re: Value, s: Str, rest: Rest) -> Result<Finder, Exit> {
        Ok(Finder { search: Search::new(cx, re, s)?, ahead: None, next: (0, 0), gives: false, rest })
    }
    /// Were all matches found, in the text that `s` still has?
    pub fn holds(&self, s: Str) -> bool {
        self.ahead.as_ref().is_some_and(|a| a.text == Text::of(s))
    }
    /// Were all matches found?
    pub fn is_ahead(&self) -> bool {
        self.ahead.is_some()
    }
    /// The next match at or after byte `from`.
    pub fn find(&mut self, cx: &mut Cx, s: Str, from: usize, region: &mut Region) -> Result<bool, Exit> {
        if let Some(a) = self.ahead.as_ref().filter(|a| a.list.get(self.next.0).is_some_and(|x| x.0 == from)) {
            let answer = a.list[self.next.0].1.clone();
            self.next.0 += 1;
            if answer == Ok(true) {
                let n = self.search.r.captures_len() + 1;
                region.groups.clear();
                region.groups.extend_from_slice(&a.groups[self.next.1..self.next.1 + n]);
                self.next.1 += n;
            }
            return self.search.answer(cx, answer);
        }
        let mode = Mode::From(from);
        if self.gives {
            return match self.search.try_here(cx, s.bytes(), mode, region) {
                Some(a) => self.search.answer(cx, a),
                None => Err(self.give(cx, s)),
            };
        }
        let a = self.search.run(s.bytes(), mode, region, None);
        self.search.answer(cx, a)
    }
    /// All searches in `s`, while the worker is detached.
    fn give(&self, cx: &mut Cx, s: Str) -> Exit {
        let (search, rest, text) = (self.search.clone(), self.rest, Text::of(s));
        cx.detach(VERY_LONG, text.cell, move |stop| {
            let n = search.r.captures_len() + 1;
            let single = search.enc.is_single_byte() || search.range == CodeRange::SevenBit;
            let (mut list, mut groups) = (Vec::new(), Vec::new());
            text.with(|b| {
                let mut region = Region::new();
                let mut from = 0;
                while from <= b.len() {
                    let answer = search.run(b, Mode::From(from), &mut region, Some(stop));
                    let found = answer == Ok(true);
                    list.push((from, answer));
                    let Some(m) = region.get(0).filter(|_| found && !stop.load(Relaxed)) else { break };
                    region.groups.resize(n, (-1, -1));
                    groups.extend_from_slice(&region.groups);
                    let next = rest.after(from, &m, search.enc, single, b);
                    if next < from || next == from && !m.is_empty() {
                        break;
                    }
                    from = next;
                }
            });
            Ahead { search, text, rest, list, groups }
        })
    }
}
