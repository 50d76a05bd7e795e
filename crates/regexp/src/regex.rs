//! [`Regex`]: a pattern with Ruby's rules for options and encodings.
//!
//! Invariant: `primary` is compiled for the pattern's own encoding (UTF-8 serves ASCII
//! patterns); a search in a subject of another encoding compiles that variant once and
//! keeps it. All variants have the same groups.

use crate::adapt::adapt;
use crate::engine::{self, Limits, Program, SearchError, Walk};
use crate::memo::Memo;
use crate::memo::first::First;
use crate::source::{Unescaped, unescape};
use kumi_budget::Grow;
use kumi_text::EncIndex;
use kumi_text::encoding::CodeRange;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, OnceLock, RwLock};

/// Option bits, with Ruby's values.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub struct Options(pub u32);

impl Options {
    /// `Regexp::IGNORECASE`
    pub const IGNORECASE: u32 = 1;
    /// `Regexp::EXTENDED`
    pub const EXTENDED: u32 = 2;
    /// `Regexp::MULTILINE`
    pub const MULTILINE: u32 = 4;
    /// `Regexp::FIXEDENCODING`
    pub const FIXEDENCODING: u32 = 16;
    /// `Regexp::NOENCODING`
    pub const NOENCODING: u32 = 32;

    /// Whether all bits of `bit` are set.
    pub fn has(self, bit: u32) -> bool {
        self.0 & bit == bit
    }

    /// `"mix"` in CRuby's order, those set.
    pub fn letters(self) -> String {
        [('m', Self::MULTILINE), ('i', Self::IGNORECASE), ('x', Self::EXTENDED)]
            .iter()
            .filter(|(_, bit)| self.has(*bit))
            .map(|(c, _)| *c)
            .collect()
    }
}

/// Why a pattern is not a regular expression: the message of `RegexpError`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegexError(pub String);

impl std::fmt::Display for RegexError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for RegexError {}

/// Backtracking steps of the engine after which it is worth remembering them: some milliseconds, and ten times what a
/// plain search through the text takes.
const SOON: u64 = 200_000;
const SOON_PER_BYTE: u64 = 20;
/// Matches at one place after which it is worth finding out what they begin with: that takes about as long as so many of them.
const OFTEN: u32 = 500;
/// A search through so many bytes is worth one of those.
const BYTES: usize = 64;
/// Places at which a near match is tried.
const PLACES: usize = 16;

/// Group offsets of a match, reusable: pair 0 is the whole match, (-1, -1) a group that
/// took no part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Region {
    /// Start and end of every group.
    pub groups: Vec<(isize, isize)>,
}

impl Region {
    /// No match yet.
    pub fn new() -> Region {
        Region::default()
    }

    /// The bytes of group `i`, if it took part.
    pub fn get(&self, i: usize) -> Option<std::ops::Range<usize>> {
        let &(a, b) = self.groups.get(i)?;
        Some(usize::try_from(a).ok()?..usize::try_from(b).ok()?)
    }
}

/// The text to search: bytes, their encoding and what is known of them. A broken string is
/// searched as bytes.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The bytes.
    pub bytes: &'a [u8],
    /// Their encoding.
    pub enc: EncIndex,
    /// Their code range, if known.
    pub range: CodeRange,
}

impl<'a> Subject<'a> {
    /// A subject whose code range is found out when needed.
    pub fn new(bytes: &'a [u8], enc: EncIndex) -> Subject<'a> {
        Subject { bytes, enc, range: CodeRange::Unknown }
    }

    /// A subject whose code range is known.
    pub fn with_range(bytes: &'a [u8], enc: EncIndex, range: CodeRange) -> Subject<'a> {
        Subject { bytes, enc, range }
    }

    /// The encoding to search it in, as far as what is said of it is true.
    fn search_encoding(&self) -> EncIndex {
        let range = match self.range {
            CodeRange::Unknown => self.enc.scan(self.bytes),
            known => known,
        };
        match range {
            CodeRange::SevenBit => EncIndex::UTF_8,
            CodeRange::Broken => EncIndex::BINARY,
            _ => self.enc,
        }
    }
}

/// A compiled regular expression. Any number of threads may search with it at once.
pub struct Regex {
    source: Vec<u8>,
    engine_text: Vec<u8>,
    options: Options,
    encoding: EncIndex,
    primary_enc: EncIndex,
    primary: Program,
    others: RwLock<Vec<(EncIndex, Arc<Program>)>>,
    /// Matchers that remember, for the encodings in which one was wanted; `None`: it cannot be had.
    memos: RwLock<Vec<(EncIndex, Option<Arc<Memo>>)>>,
    /// How often it was matched at one place, about, or how far it was searched for; and what a match begins with, where that was worth finding out.
    tried: AtomicU32,
    first: OnceLock<Option<First>>,
    names: Vec<(Vec<u8>, Vec<u32>)>,
    captures: usize,
    literal: Option<Vec<u8>>,
    linear: bool,
}

impl std::fmt::Debug for Regex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "/{}/{}", String::from_utf8_lossy(&self.source), self.options.letters())
    }
}

fn engine_options(options: Options) -> u32 {
    let mut out = 0;
    for (bit, theirs) in
        [(Options::IGNORECASE, engine::IGNORECASE), (Options::EXTENDED, engine::EXTENDED), (Options::MULTILINE, engine::MULTILINE)]
    {
        if options.has(bit) {
            out |= theirs;
        }
    }
    out
}

/// CRuby's wording where its engine says it differently.
fn ruby_wording(message: String, code: i32) -> String {
    match code {
        -224 => "invalid conditional pattern".into(),
        -104 => "too short escape sequence".into(),
        -16 | -406 => "too complex pattern".into(),
        _ => message,
    }
}

impl Regex {
    /// Compiles `pattern`, whose text is in `enc`. Searches in subjects of another
    /// encoding work where Ruby allows them.
    ///
    /// # Errors
    /// The message of `RegexpError`, source included.
    pub fn new(pattern: &[u8], options: Options, enc: EncIndex) -> Result<Regex, RegexError> {
        let fail = |message: &str| {
            let shown = crate::show::expression(pattern, enc);
            RegexError(format!("{message}: /{}/{}", String::from_utf8_lossy(&shown), options.letters()))
        };
        if enc.is_dummy() {
            return Err(fail("can't make regexp with dummy encoding"));
        }
        // No byte of a wide text is an escape: the engine reads its characters.
        let wide = !enc.is_ascii_compatible();
        let text = if !wide {
            unescape(pattern, enc).map_err(&fail)?
        } else if enc.scan(pattern) == CodeRange::Broken {
            return Err(fail("invalid multibyte character"));
        } else {
            Unescaped { bytes: pattern.to_vec(), fixed: Some(enc) }
        };
        let mut options = options;
        let mut encoding = enc;
        match text.fixed {
            Some(fixed) => {
                if (fixed != enc && options.has(Options::FIXEDENCODING)) || (fixed != EncIndex::BINARY && options.has(Options::NOENCODING))
                {
                    return Err(fail("incompatible character encoding"));
                }
                if fixed != EncIndex::BINARY {
                    options.0 |= Options::FIXEDENCODING;
                    encoding = fixed;
                }
            }
            None if !options.has(Options::FIXEDENCODING) => encoding = EncIndex::US_ASCII,
            None => {}
        }
        let primary_enc = if encoding == EncIndex::US_ASCII { EncIndex::UTF_8 } else { encoding };
        let engine_text = match wide {
            true => text.bytes.clone(),
            false => {
                adapt(&text.bytes, primary_enc, options.has(Options::EXTENDED), options.has(Options::IGNORECASE)).map_err(|m| fail(&m))?
            }
        };
        let primary = Program::new(&engine_text, engine_options(options), primary_enc)
            .map_err(|(code, message)| fail(&ruby_wording(message, code)))?;
        let literal = if wide { None } else { crate::show::literal(&text.bytes, options, primary_enc) };
        let linear = !wide && crate::show::linear_time(&text.bytes);
        Ok(Regex {
            source: Vec::copy(pattern),
            names: primary.names(),
            captures: primary.captures(),
            engine_text,
            options,
            encoding,
            primary_enc,
            primary,
            literal,
            linear,
            others: RwLock::new(Vec::new()),
            memos: RwLock::new(Vec::new()),
            tried: AtomicU32::new(0),
            first: OnceLock::new(),
        })
    }

    /// The text it was made of.
    pub fn source(&self) -> &[u8] {
        &self.source
    }

    /// Options, with FIXEDENCODING added where the text binds it to an encoding.
    pub fn options(&self) -> Options {
        self.options
    }

    /// `Regexp#encoding`.
    pub fn encoding(&self) -> EncIndex {
        self.encoding
    }

    /// `Regexp#fixed_encoding?`.
    pub fn is_fixed_encoding(&self) -> bool {
        self.options.has(Options::FIXEDENCODING)
    }

    /// Groups, without group 0.
    pub fn captures_len(&self) -> usize {
        self.captures
    }

    /// Names in order of appearance, each with its group numbers.
    pub fn names(&self) -> &[(Vec<u8>, Vec<u32>)] {
        &self.names
    }

    /// Group numbers of a name.
    pub fn name_to_groups(&self, name: &[u8]) -> Option<&[u32]> {
        self.names.iter().find(|(n, _)| n == name).map(|(_, g)| g.as_slice())
    }

    /// The group that a name means in this match: the last of that name which took part,
    /// else the last.
    pub fn name_to_backref(&self, name: &[u8], region: &Region) -> Option<usize> {
        let groups = self.name_to_groups(name)?;
        groups.iter().rev().copied().find(|&g| region.get(g as usize).is_some()).or(groups.last().copied()).map(|g| g as usize)
    }

    /// The bytes that the whole pattern stands for, if it is plain text without options:
    /// callers may use a substring search instead of the engine.
    pub fn literal(&self) -> Option<&[u8]> {
        self.literal.as_deref()
    }

    /// `Regexp.linear_time?`, told from the pattern text.
    pub fn is_linear_time(&self) -> bool {
        self.linear
    }

    /// Whether a subject may be searched: `Err` is the message of
    /// `Encoding::CompatibilityError`. A broken subject is for the caller to refuse.
    ///
    /// # Errors
    /// The message, without a class's name.
    pub fn check_encoding(&self, subject: &Subject<'_>) -> Result<(), String> {
        let ascii = match subject.range {
            CodeRange::Unknown => subject.enc.is_ascii_only(subject.bytes),
            known => known == CodeRange::SevenBit,
        };
        let incompatible = if !subject.enc.is_ascii_compatible() || !self.encoding.is_ascii_compatible() {
            self.encoding != subject.enc
        } else if self.is_fixed_encoding() {
            self.encoding != subject.enc && !ascii
        } else {
            false
        };
        if incompatible {
            return Err(format!("incompatible encoding regexp match ({} regexp with {} string)", shown(self.encoding), shown(subject.enc)));
        }
        Ok(())
    }

    /// Runs `run` with the program for the subject's encoding. That is one in which [`engine::is_within`] says yes to a search from
    /// `start` on, whatever the caller says of the subject.
    fn with_program<T>(
        &self,
        subject: &Subject<'_>,
        start: usize,
        run: impl FnOnce(&Program, EncIndex) -> Result<T, SearchError>,
    ) -> Result<T, SearchError> {
        let mut enc = subject.search_encoding();
        if enc == EncIndex::US_ASCII || (enc.is_utf8() && self.primary_enc.is_utf8()) {
            enc = self.primary_enc;
        }
        // Text bound to an encoding can't be read in another one; a subject of plain
        // ASCII is valid in it. That is looked at last: it reads the whole subject, and a scan searches many times.
        if enc != self.primary_enc && (self.is_fixed_encoding() || enc == EncIndex::UTF_8) && subject.bytes.is_ascii() {
            enc = self.primary_enc;
        }
        if !engine::is_within(subject.bytes, start, enc) {
            enc = EncIndex::BINARY;
        }
        if enc == self.primary_enc {
            return run(&self.primary, enc);
        }
        let known = self.others.read().unwrap_or_else(|e| e.into_inner()).iter().find(|(e, _)| *e == enc).map(|(_, p)| Arc::clone(p));
        let program = match known {
            Some(p) => p,
            None => {
                let made = Program::new(&self.engine_text, engine_options(self.options), enc)
                    .map_err(|(_, message)| SearchError::Engine(message))?;
                let made = Arc::new(made);
                self.others.write().unwrap_or_else(|e| e.into_inner()).push((enc, Arc::clone(&made)));
                made
            }
        };
        run(&program, enc)
    }

    /// The matcher that remembers, in an encoding for which `program` was made.
    fn memo(&self, program: &Program, enc: EncIndex) -> Option<Arc<Memo>> {
        if let Some(known) = self.memos.read().unwrap_or_else(|e| e.into_inner()).iter().find(|(e, _)| *e == enc) {
            return known.1.clone();
        }
        if !enc.is_ascii_compatible() {
            return None;
        }
        let o = self.options;
        let flags = (o.has(Options::IGNORECASE), o.has(Options::EXTENDED), o.has(Options::MULTILINE));
        let made = Memo::new(&self.engine_text, flags, enc, program).map(Arc::new);
        self.memos.write().unwrap_or_else(|e| e.into_inner()).push((enc, made.clone()));
        made
    }

    /// A search by the engine, and when that comes back to the same places too often, by the matcher that remembers them.
    fn find(&self, subject: &Subject<'_>, walk: Walk, limits: Limits<'_>, region: &mut Region) -> Result<Option<usize>, SearchError> {
        let (bytes, groups) = (subject.bytes, &mut region.groups);
        self.with_program(subject, walk.start(), |p, enc| {
            // SAFETY: `with_program` chose the program and its encoding for this subject and this start, here and below.
            let engine = |limits, groups: &mut Vec<_>| unsafe { p.search(bytes, walk, limits, groups) };
            let soon = SOON + bytes.len() as u64 * SOON_PER_BYTE;
            if !self.linear || limits.steps.is_some_and(|n| n <= soon) {
                return engine(limits, groups);
            }
            match engine(Limits { steps: Some(soon), ..limits }, groups) {
                Err(SearchError::Steps) => {}
                other => return other,
            }
            // SAFETY: the matcher was made for that encoding.
            let found = self.memo(p, enc).and_then(|m| unsafe { m.search(bytes, walk, limits, groups) });
            found.unwrap_or_else(|| engine(limits, groups))
        })
    }

    /// The engine's answer, and that of the matcher that remembers, if there is one: for comparing them, in UTF-8 or an encoding of
    /// single bytes.
    #[doc(hidden)]
    #[allow(clippy::type_complexity)]
    pub fn both(&self, subject: &Subject<'_>, start: usize, back: bool) -> Option<[Result<Option<Vec<(isize, isize)>>, SearchError>; 2]> {
        let walk = if back { Walk::Backward(start) } else { Walk::Forward(start, subject.bytes.len()) };
        let (mut both, bytes) = (None, subject.bytes);
        self.with_program(subject, start, |p, enc| {
            let (mut a, mut b) = (Vec::new(), Vec::new());
            let limits = Limits { steps: Some(1_000_000), ..Limits::default() };
            // Backwards the engine does not look beyond where it starts.
            let theirs = match walk {
                Walk::Backward(start) => (0..=start)
                    .rev()
                    .filter(|&i| !enc.is_utf8() || i == bytes.len() || bytes[i] & 0xC0 != 0x80)
                    // SAFETY: as in `find`; only UTF-8 and encodings of single bytes are compared, where any place is a start.
                    .map(|i| unsafe { p.search(bytes, Walk::At(i), limits, &mut a) })
                    .find(|r| *r != Ok(None))
                    .unwrap_or(Ok(None)),
                // SAFETY: as in `find`.
                walk => unsafe { p.search(bytes, walk, limits, &mut a) },
            };
            // SAFETY: as in `find`.
            if let Some(ours) = self.memo(p, enc).and_then(|m| unsafe { m.search(bytes, walk, Limits::default(), &mut b) }) {
                both = Some([theirs.map(|f| f.map(|_| a)), ours.map(|f| f.map(|_| b))]);
            }
            Ok(())
        })
        .ok()?;
        both
    }

    /// Searches from byte `start` to the end; on a match fills `region` and returns the
    /// position, a byte offset. `start` beyond the end finds nothing.
    ///
    /// # Errors
    /// When a bound of `limits` was reached, or the engine has no memory or no room on its stack left. Where nothing was asked for
    /// a search gives up after 200 million steps back ([`SearchError::Steps`]).
    pub fn search(
        &self,
        subject: &Subject<'_>,
        start: usize,
        limits: Limits<'_>,
        region: &mut Region,
    ) -> Result<Option<usize>, SearchError> {
        let end = subject.bytes.len();
        self.search_range(subject, start, end, limits, region)
    }

    /// Searches for matches that lie in `start..range_end`: none goes on behind it.
    ///
    /// # Errors
    /// As [`search`](Self::search).
    pub fn search_range(
        &self,
        subject: &Subject<'_>,
        start: usize,
        range_end: usize,
        limits: Limits<'_>,
        region: &mut Region,
    ) -> Result<Option<usize>, SearchError> {
        if start > range_end || range_end > subject.bytes.len() {
            return Ok(None);
        }
        let rest = &subject.bytes[start..range_end];
        let mut start = start;
        if let Some(first) = self.first(subject, (rest.len() / BYTES) as u32) {
            // What stands before it begins no match; at the end of the text nothing does.
            match first.next(rest, subject.range == CodeRange::SevenBit) {
                Some(n) => start += n,
                None => return Ok(None),
            }
        }
        self.find(subject, Walk::Forward(start, range_end), limits, region)
    }

    /// Searches backwards: the last match that begins at or before byte `start`.
    ///
    /// # Errors
    /// As [`search`](Self::search).
    pub fn search_back(
        &self,
        subject: &Subject<'_>,
        start: usize,
        limits: Limits<'_>,
        region: &mut Region,
    ) -> Result<Option<usize>, SearchError> {
        let start = start.min(subject.bytes.len());
        self.find(subject, Walk::Backward(start), limits, region)
    }

    /// Matches at byte `at` only.
    ///
    /// # Errors
    /// As [`search`](Self::search).
    pub fn match_at(&self, subject: &Subject<'_>, at: usize, limits: Limits<'_>, region: &mut Region) -> Result<bool, SearchError> {
        if let Some(first) = self.first(subject, 1)
            && !subject.bytes.get(at).is_some_and(|b| first.may(*b))
        {
            return Ok(false);
        }
        Ok(self.find(subject, Walk::At(at), limits, region)?.is_some())
    }

    /// What its matches begin with in this subject, where that is known. `worth`: how much it would help, in matches at one place.
    #[inline]
    fn first(&self, subject: &Subject<'_>, worth: u32) -> Option<&First> {
        let first = match self.first.get() {
            Some(first) => first,
            None if worth == 0 => return None,
            None => {
                // Counted by several threads at once it takes a few more.
                let n = self.tried.load(Relaxed).saturating_add(worth);
                self.tried.store(n, Relaxed);
                if n <= OFTEN {
                    return None;
                }
                let o = self.options;
                let flags = (o.has(Options::IGNORECASE), o.has(Options::EXTENDED), o.has(Options::MULTILINE));
                let find = || First::new(&self.engine_text, flags, self.primary_enc, &self.primary);
                self.first.get_or_init(|| if self.primary_enc.is_utf8() { find() } else { None })
            }
        };
        // In another encoding the pattern may be none; broken text is searched as bytes.
        let own = match subject.range {
            CodeRange::SevenBit => true,
            CodeRange::Broken => false,
            _ => matches!(subject.enc, EncIndex::UTF_8 | EncIndex::US_ASCII),
        };
        first.as_ref().filter(|_| own)
    }

    /// A search that gives up when it seems to take long: `None`. In text of up to some 100 KB it has done at most some tenths of
    /// a millisecond of work, but for patterns that run through the text again and again without coming back.
    pub fn search_briefly(&self, subject: &Subject<'_>, start: usize, region: &mut Region) -> Option<Result<Option<usize>, SearchError>> {
        let rest = subject.bytes.len().saturating_sub(start);
        brief(self.search(subject, start, Limits::brief(rest), region))
    }

    /// The same of a match that begins within the next `near` bytes. `None` also where it is not known what matches begin with, where
    /// too many places look like that, and where there is no match so near.
    pub fn search_near(&self, subject: &Subject<'_>, start: usize, near: usize, region: &mut Region) -> Option<Result<usize, SearchError>> {
        let bytes = subject.bytes;
        let end = start.saturating_add(near).min(bytes.len());
        // Where the search began is asked for.
        if self.engine_text.windows(2).any(|w| w == b"\\G") {
            return None;
        }
        let mut at = start;
        for _ in 0..PLACES {
            let rest = bytes.get(at..end)?;
            at += self.first(subject, (rest.len() / BYTES) as u32)?.next(rest, subject.range == CodeRange::SevenBit)?;
            match self.match_briefly(subject, at, region)? {
                Ok(true) => return Some(Ok(at)),
                Ok(false) => at += subject.enc.char_len(bytes.get(at..)?).step().max(1),
                Err(e) => return Some(Err(e)),
            }
        }
        None
    }

    /// A match at one place, likewise.
    pub fn match_briefly(&self, subject: &Subject<'_>, at: usize, region: &mut Region) -> Option<Result<bool, SearchError>> {
        let rest = subject.bytes.len().saturating_sub(at);
        brief(self.match_at(subject, at, Limits::brief(rest.min(8192)), region))
    }

    /// The last match that begins at or before `start`, likewise.
    pub fn search_back_briefly(
        &self,
        subject: &Subject<'_>,
        start: usize,
        region: &mut Region,
    ) -> Option<Result<Option<usize>, SearchError>> {
        brief(self.search_back(subject, start, Limits::brief(start), region))
    }
}

impl Limits<'_> {
    /// Bounds of a search of no more than some 100 microseconds in a text of so many bytes: each step may run through all of it.
    fn brief(bytes: usize) -> Limits<'static> {
        Limits { steps: Some((200_000 / (bytes as u64 + 1)).clamp(32, 4000)), depth: 20_000, ..Limits::default() }
    }
}

/// No answer where the bounds were too narrow.
fn brief<T>(r: Result<T, SearchError>) -> Option<Result<T, SearchError>> {
    match r {
        Err(SearchError::Steps) => None,
        r => Some(r),
    }
}

/// An encoding's name in messages.
fn shown(enc: EncIndex) -> &'static str {
    if enc == EncIndex::BINARY { "BINARY (ASCII-8BIT)" } else { enc.name() }
}
