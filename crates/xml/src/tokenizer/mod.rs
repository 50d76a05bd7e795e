//! The push tokeniser: bytes in, events out.
//!
//! Its state between calls says where it is: `pos` is the first byte of the buffer that no event covers yet, `frames` are
//! the entities being read (the innermost last; their text is read before the buffer goes on), and `scan` says how far an
//! unfinished token was searched for its end, so that no byte is looked at twice however small the pieces.
//!
//! `fast` holds exactly when the next thing is content of an open element of the document itself and nothing is pending:
//! then tags without attributes and text without references are cut out by the masks of the input alone. Everything else
//! goes through `slow` (`content`, `prolog`, `tag`).

pub(crate) mod content;
pub(crate) mod cursor;
pub(crate) mod declarations;
pub(crate) mod doctype;
pub(crate) mod dtd;
pub mod event;
pub(crate) mod feed;
pub(crate) mod finder;
pub(crate) mod lookahead;
pub(crate) mod markup;
pub(crate) mod namespaces;
pub(crate) mod open;
pub(crate) mod prolog;
pub(crate) mod quick;
pub(crate) mod search;
pub(crate) mod tag;

use crate::error::{Error, ErrorKind, LimitKind, Position};
use crate::input::Input;
use crate::input::chars::{self, text};
use crate::limits::Limits;
use crate::tokenizer::cursor::{Bad, Cursor, Trouble};
use crate::tokenizer::dtd::Dtd;
use crate::tokenizer::event::{Attribute, Event, Name, Start};
use crate::tokenizer::feed::Queue;
pub use crate::tokenizer::lookahead::Lookahead;
use crate::tokenizer::namespaces::Namespaces;
use crate::tokenizer::open::{Elements, Open};
use crate::tokenizer::search::Scan;
use std::sync::Arc;

/// How a document is to be read.
#[derive(Clone, Debug)]
pub struct Options {
    /// What the document may cost.
    pub limits: Limits,
    /// Whether prefixes are resolved and the rules of Namespaces in XML 1.0 are checked.
    pub namespaces: bool,
    /// From the transport (`Content-Type`). A byte order mark wins over it, it wins over the declaration (RFC 7303).
    pub encoding: Option<&'static encoding_rs::Encoding>,
}

impl Default for Options {
    fn default() -> Options {
        Options { limits: Limits::default(), namespaces: true, encoding: None }
    }
}

/// The most that `entity_depth` can be: entities in attribute values are expanded by recursion.
const DEEPEST: usize = 500;

/// What `step` found; becomes an [`Event`] with what the tokeniser holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    /// Feed more.
    Wait,
    /// The document is complete.
    Done,
    XmlDecl,
    Doctype,
    Start,
    End,
    /// In the buffer.
    Text(usize, usize),
    /// All of `scratch`.
    Scratch,
    /// In the source now being read.
    Comment(usize, usize),
    Pi(usize, usize, usize, usize),
}

/// Which part of the document comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Its very beginning.
    Start,
    /// Before the root element.
    Prolog,
    /// In the root element.
    Content,
    /// After it.
    Epilog,
}

/// An entity being read.
#[derive(Debug)]
pub(crate) struct Frame {
    pub text: Arc<[u8]>,
    pub at: usize,
    /// Elements that were open when it began.
    pub depth: usize,
    /// Where in the document the reference stands: for all frames that of the outermost.
    pub reference: u64,
}

/// An attribute of the tag last read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attr {
    /// In the source; in `values` when it is a default.
    pub name: (usize, usize),
    pub local: usize,
    pub namespace: u32,
    pub value: (usize, usize),
    /// The value was composed, in `values`.
    pub composed: bool,
    pub specified: bool,
}

/// What the XML declaration or the document type said.
#[derive(Debug, Default)]
pub(crate) struct Head {
    pub version: String,
    pub encoding: Option<String>,
    pub standalone: Option<bool>,
    pub name: String,
    pub public: Option<String>,
    pub system: Option<String>,
}

/// The tokeniser. See the crate's documentation.
#[derive(Debug)]
pub struct Tokenizer {
    pub(crate) input: Input,
    pub(crate) pos: usize,
    pub(crate) fast: bool,
    /// Offset in the document of the event last returned.
    pub(crate) event: u64,
    pub(crate) open: Elements,
    pub(crate) attributes: Vec<Attr>,
    pub(crate) values: Vec<u8>,
    pub(crate) namespaces: Namespaces,
    pub(crate) mode: Mode,
    pub(crate) scan: Scan,
    pub(crate) frames: Vec<Frame>,
    /// Text put together from pieces, and where it began.
    pub(crate) scratch: Vec<u8>,
    pub(crate) scratch_start: u64,
    pub(crate) scratch_sent: bool,
    /// The place of `scratch_start`, should the bytes there have gone.
    pub(crate) pinned: Position,
    /// The start of the text node has been delivered.
    pub(crate) in_text: bool,
    pub(crate) in_cdata: bool,
    pub(crate) cdata: bool,
    /// `<a/>`: its end is due.
    pub(crate) end_due: bool,
    /// Namespace declarations of the element that ended last, still to be taken back.
    pub(crate) undo: u32,
    pub(crate) dtd: Option<Box<Dtd>>,
    pub(crate) head: Box<Head>,
    pub(crate) doctype_seen: bool,
    /// Replacement text expanded so far.
    pub(crate) spent: u64,
    pub(crate) options: Options,
    /// What is being read, for a message should the document end there.
    pub(crate) what: &'static str,
    /// Its longest, and the limit that says so.
    pub(crate) cap: (usize, LimitKind),
    skipping: Option<usize>,
    pub(crate) failed: Option<Box<Error>>,
    pub(crate) queue: Queue,
}

impl Tokenizer {
    /// A tokeniser for one document.
    pub fn new(options: Options) -> Tokenizer {
        let mut options = options;
        options.limits.text_piece = options.limits.text_piece.max(4);
        options.limits.entity_depth = options.limits.entity_depth.min(DEEPEST);
        options.limits.name = options.limits.name.min(1 << 30);
        Tokenizer {
            input: Input::new(options.encoding),
            pos: 0,
            fast: false,
            event: 0,
            open: Elements::new(),
            attributes: Vec::new(),
            values: Vec::new(),
            namespaces: Namespaces::new(),
            mode: Mode::Start,
            scan: Scan::Nothing,
            frames: Vec::new(),
            scratch: Vec::new(),
            scratch_start: 0,
            scratch_sent: false,
            pinned: Position { line: 1, column: 1, offset: 0 },
            in_text: false,
            in_cdata: false,
            cdata: false,
            end_due: false,
            undo: 0,
            dtd: None,
            head: Box::default(),
            doctype_seen: false,
            spent: 0,
            options,
            what: "",
            cap: (usize::MAX, LimitKind::TagBytes),
            skipping: None,
            failed: None,
            queue: Queue::default(),
        }
    }

    /// The next event; `None`: feed more, or, after `finish`, the document is complete and well-formed.
    ///
    /// # Errors
    /// The document is not well-formed, or over a limit. That is final: it is told again by every later call.
    #[inline]
    pub fn next(&mut self) -> Result<Option<Event<'_>>, Error> {
        let token = self.step()?;
        Ok(Some(match token {
            Token::Wait | Token::Done => return Ok(None),
            Token::Start => Event::Start(Start { tokenizer: self }),
            Token::End => Event::End(self.name(self.open.ended())),
            // SAFETY: a token's places are cuts by the rule of `text`; `scratch` is composed by it. So in all arms.
            Token::Text(from, to) => Event::Text(unsafe { text(&self.input.padded()[from..to]) }),
            // SAFETY: as above.
            Token::Scratch => Event::Text(unsafe { text(&self.scratch) }),
            // SAFETY: as above.
            Token::Comment(from, to) => Event::Comment(unsafe { text(&self.source()[from..to]) }),
            Token::Pi(a, b, from, to) => {
                let source = self.source();
                // SAFETY: as above.
                unsafe { Event::Pi { target: text(&source[a..b]), data: text(&source[from..to]) } }
            }
            Token::XmlDecl => {
                Event::XmlDecl { version: &self.head.version, encoding: self.head.encoding.as_deref(), standalone: self.head.standalone }
            }
            Token::Doctype => {
                Event::Doctype { name: &self.head.name, public: self.head.public.as_deref(), system: self.head.system.as_deref() }
            }
        }))
    }

    /// Whether the root element has ended.
    pub fn root_ended(&self) -> bool {
        self.mode == Mode::Epilog
    }

    /// Where the event last returned begins. What came out of an entity is where the reference to it stands. Good until the
    /// next call of `next`.
    pub fn position(&self) -> Position {
        if self.event == self.pinned.offset { self.pinned } else { self.place(self.event) }
    }

    pub(crate) fn place(&self, offset: u64) -> Position {
        self.input.lines.position(self.input.bytes(), self.input.base, offset)
    }

    /// Elements open now. At a start event its element is counted, at its end event no longer.
    #[inline]
    pub fn depth(&self) -> usize {
        self.open.depth()
    }

    /// Whether the text last returned is (a piece of) a CDATA section.
    pub fn cdata(&self) -> bool {
        self.cdata
    }

    /// After a start event: passes over that element with all it holds, its end tag included, checking that it is
    /// well-formed and delivering nothing. False: feed more (or finish) and call again, before anything else.
    ///
    /// # Errors
    /// As [`next`](Tokenizer::next).
    pub fn skip(&mut self) -> Result<bool, Error> {
        let target = *self.skipping.get_or_insert(self.open.depth().saturating_sub(1));
        while self.open.depth() > target {
            if self.step()? == Token::Wait {
                return Ok(false);
            }
        }
        self.skipping = None;
        Ok(true)
    }

    /// See `fast` in the module's description; unlike it, true also when a token at `pos` was found to be unfinished.
    pub(crate) fn is_clean(&self) -> bool {
        self.mode == Mode::Content
            && self.frames.is_empty()
            && (self.scratch.is_empty() || self.scratch_sent)
            && !self.in_text
            && !self.in_cdata
            && !self.end_due
            && self.undo == 0
            && self.failed.is_none()
            && self.dtd.as_ref().is_none_or(|dtd| dtd.attributes.is_empty())
    }

    #[inline]
    pub(crate) fn step(&mut self) -> Result<Token, Error> {
        if self.fast {
            let token = self.quick();
            if token != Token::Wait {
                return Ok(token);
            }
        } else if self.still_waiting() {
            return self.read_on();
        }
        self.slow()
    }

    #[inline(never)]
    fn slow(&mut self) -> Result<Token, Error> {
        match self.full() {
            Ok(Token::Wait) => self.read_on(),
            read => read,
        }
    }

    /// What was taken in ends within a token: takes in more, until the token is whole.
    #[inline(never)]
    fn read_on(&mut self) -> Result<Token, Error> {
        while self.next_piece() {
            if !self.still_waiting() {
                let token = self.full()?;
                if token != Token::Wait {
                    return Ok(token);
                }
            }
        }
        Ok(Token::Wait)
    }

    #[inline]
    fn full(&mut self) -> Result<Token, Error> {
        if let Some(error) = &self.failed {
            return Err((**error).clone());
        }
        self.attributes.clear();
        self.values.clear();
        if self.scratch_sent {
            self.scratch.clear();
            self.scratch_sent = false;
        }
        if self.undo > 0 {
            self.namespaces.undo(std::mem::take(&mut self.undo));
        }
        let token = if self.end_due {
            self.end_due = false;
            self.end_element();
            Ok(Token::End)
        } else {
            match self.mode {
                Mode::Content => self.content(),
                Mode::Start => self.beginning(),
                Mode::Prolog | Mode::Epilog => self.outside(),
            }
        };
        let token = match token {
            Ok(token) => token,
            Err(Trouble::Short) => match self.starved() {
                Ok(token) => token,
                Err(bad) => return Err(self.fail(bad)),
            },
            Err(Trouble::Bad(bad)) => return Err(self.fail(*bad)),
        };
        if token == Token::Wait {
            self.event = self.input.base + self.pos as u64;
            self.fast = false;
        } else {
            self.fast = self.is_clean();
        }
        Ok(token)
    }

    /// The source ended within a token that begins at `pos`.
    fn starved(&mut self) -> Result<Token, Bad> {
        if let Some(frame) = self.frames.last() {
            let message = format!("{} begins in an entity and doesn't end there", self.what);
            return Err(Bad { kind: ErrorKind::EntityBoundary, at: frame.at, message });
        }
        if self.input.end - self.pos > self.cap.0 {
            let message = format!("{} is longer than {} bytes (limit {})", self.what, self.cap.0, self.cap.1.field());
            return Err(Bad { kind: ErrorKind::Limit(self.cap.1), at: self.pos, message });
        }
        let at = self.input.end;
        if let Some(fault) = &self.input.fault {
            return Err(Bad { kind: fault.kind, at, message: fault.message.clone() });
        }
        if !self.input.finished {
            return Ok(Token::Wait);
        }
        let message = match self.open.innermost() {
            Some(open) if self.what.is_empty() => {
                format!("the document ends, but the element <{}> is still open", self.name(open).raw())
            }
            _ => format!("the document ends within {}", self.what),
        };
        Err(Bad { kind: ErrorKind::UnexpectedEnd, at, message })
    }

    #[cold]
    fn fail(&mut self, bad: Bad) -> Error {
        let mut message = bad.message;
        let offset = match self.frames.first() {
            Some(frame) => {
                message.push_str(", in the entity referred to here");
                frame.reference
            }
            None => self.input.base + bad.at as u64,
        };
        let position = self.place(offset);
        let error = Error { kind: bad.kind, position, message };
        self.failed = Some(Box::new(error.clone()));
        self.fast = false;
        error
    }

    /// The bytes now being read: the innermost entity's, or the document's.
    #[inline]
    pub(crate) fn source(&self) -> &[u8] {
        match self.frames.last() {
            Some(frame) => &frame.text,
            None => self.input.bytes(),
        }
    }

    /// Where in the source the next thing begins.
    #[inline]
    pub(crate) fn at(&self) -> usize {
        self.frames.last().map_or(self.pos, |frame| frame.at)
    }

    #[inline]
    pub(crate) fn set_at(&mut self, at: usize) {
        match self.frames.last_mut() {
            Some(frame) => frame.at = at,
            None => self.pos = at,
        }
        self.scan = Scan::Nothing;
    }

    /// Offset in the document of `at`.
    #[inline]
    pub(crate) fn offset(&self, at: usize) -> u64 {
        self.frames.first().map_or(self.input.base + at as u64, |frame| frame.reference)
    }

    /// Reading begins of a token of at most `cap` bytes.
    pub(crate) fn begin(&mut self, what: &'static str, cap: usize, kind: LimitKind) {
        self.what = what;
        self.cap = (cap, kind);
    }

    /// The source from `at` on, cut where the token becomes too long.
    #[inline]
    pub(crate) fn cursor(&self) -> Cursor<'_> {
        let source = self.source();
        let at = self.at();
        let end = source.len().min(at.saturating_add(self.cap.0));
        Cursor::new(&source[..chars::floor_boundary(source, end)], at, self.options.limits.name)
    }

    /// How much may have been expanded before `offset`. Defaults make a large document longer without harm, so that it grows
    /// with the document.
    pub(crate) fn budget(&self, offset: u64) -> u64 {
        (self.options.limits.entity_expansion as u64).saturating_add(offset.saturating_mul(16))
    }

    /// The innermost element ends.
    pub(crate) fn end_element(&mut self) {
        self.open.pop();
        self.undo = self.open.ended().declared;
        if self.open.depth() == 0 {
            self.mode = Mode::Epilog;
        }
    }

    #[inline]
    pub(crate) fn name(&self, open: &Open) -> Name<'_> {
        let (local, namespace) = (open.local(), open.namespace());
        Name { raw: self.open.raw(open), local, namespace, namespaces: &self.namespaces }
    }

    /// Bytes of the document that the events so far cover, as [`Position::offset`] counts them.
    pub fn covered(&self) -> u64 {
        self.input.base + self.pos as u64
    }

    /// The name of the `i`th open element (0: the root) as it stands in the document.
    pub fn open_name(&self, i: usize) -> Option<&str> {
        self.open.get(i).map(|open| self.open.raw(open))
    }

    #[inline]
    pub(crate) fn element_name(&self) -> Name<'_> {
        self.name(self.open.innermost().unwrap_or(self.open.ended()))
    }

    pub(crate) fn attribute_count(&self) -> usize {
        self.attributes.len()
    }

    pub(crate) fn attribute_at(&self, i: usize) -> Attribute<'_> {
        let a = &self.attributes[i];
        let source = self.source();
        // SAFETY: an attribute's places are cuts of its tag, at the ends of its name and between its quotes; `values` is composed of
        // such cuts, of declared defaults and of characters. So both are by the rule of `text`.
        let (raw, value) = unsafe {
            let raw = text(&(if a.specified { source } else { &self.values })[a.name.0..a.name.1]);
            (raw, text(&(if a.composed { &self.values } else { source })[a.value.0..a.value.1]))
        };
        let name = Name { raw, local: a.local as u32, namespace: a.namespace, namespaces: &self.namespaces };
        Attribute { name, value, specified: a.specified }
    }

    /// Replaces the SIMD kernel: for tests.
    #[doc(hidden)]
    pub fn set_scanner(&mut self, scanner: crate::input::scan::Scanner) {
        self.input.set_scanner(scanner);
    }
}
