//! The push tokeniser: bytes in, events out.

use crate::error::{Error, Position};
use crate::event::{Attribute, Event, Name};
use crate::limits::Limits;

/// How a document is to be read.
#[derive(Clone, Debug)]
pub struct Options {
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

/// The tokeniser. See the crate's documentation.
#[derive(Debug)]
pub struct Tokenizer {
    options: Options,
    buffer: Vec<u8>,
    finished: bool,
}

impl Tokenizer {
    pub fn new(options: Options) -> Tokenizer {
        Tokenizer { options, buffer: Vec::new(), finished: false }
    }

    /// Takes the next bytes of the document, cut anywhere. What is wrong with them is told by `next` when it gets there.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.buffer.extend_from_slice(bytes);
        Ok(())
    }

    /// No more bytes come.
    pub fn finish(&mut self) {
        self.finished = true;
    }

    /// The next event; `None`: feed more, or, after `finish`, the document is complete and well-formed.
    pub fn next(&mut self) -> Result<Option<Event<'_>>, Error> {
        let _ = &self.options;
        Ok(None)
    }

    /// Where the event last returned begins.
    pub fn position(&self) -> Position {
        Position { line: 1, column: 1, offset: 0 }
    }

    /// Elements open now. At a start event its element is counted, at its end event no longer.
    pub fn depth(&self) -> usize {
        0
    }

    /// Whether the text last returned is (a piece of) a CDATA section.
    pub fn cdata(&self) -> bool {
        false
    }

    /// After a start event: passes over that element with all it holds, its end tag included, checking that it is
    /// well-formed and delivering nothing. False: feed more and call again.
    pub fn skip(&mut self) -> Result<bool, Error> {
        Ok(true)
    }

    /// What comes next, for a caller who guesses it: bytes from the current position that are allowed characters
    /// in UTF-8, with line ends normalised. Empty when they would not be content of an open element of the document
    /// itself, or when an event is half read (a text node not at its beginning).
    pub fn lookahead(&self) -> Lookahead<'_> {
        Lookahead { bytes: &[] }
    }

    /// The caller found the first `n` bytes of the lookahead to be balanced content (whole elements, comments, text
    /// that ends at the next `<`) and checked that they are well-formed: the next event is the one after them.
    pub fn accept(&mut self, _n: usize) {}

    /// Where the lookahead begins, and the next event.
    pub fn lookahead_position(&self) -> Position {
        self.position()
    }

    /// The name of the `i`th open element (0: the root) as it stands in the document.
    pub fn open_name(&self, _i: usize) -> Option<&str> {
        None
    }

    pub(crate) fn element_name(&self) -> Name<'_> {
        Name { raw: "", local: 0, namespace: None }
    }

    pub(crate) fn attribute_count(&self) -> usize {
        0
    }

    pub(crate) fn attribute_at(&self, _i: usize) -> Attribute<'_> {
        Attribute { name: self.element_name(), value: "", specified: true }
    }
}

/// What [`Tokenizer::lookahead`] shows.
#[derive(Clone, Copy, Debug)]
pub struct Lookahead<'a> {
    bytes: &'a [u8],
}

impl<'a> Lookahead<'a> {
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The index of the first `<`, `&` or `]` at or after `from`, or the length: faster than searching, because the
    /// tokeniser has looked for them already.
    pub fn stop(&self, from: usize) -> usize {
        self.bytes[from..].iter().position(|b| matches!(b, b'<' | b'&' | b']')).map_or(self.bytes.len(), |i| i + from)
    }
}
