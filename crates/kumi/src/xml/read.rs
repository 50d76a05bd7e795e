//! A document that is read from its source, event by event.

use super::Failure;
use super::progress::Progress;
use kumi_source::{Descriptor, Options as SourceOptions, Source, Spec};
use kumi_xml::{Event, Options, Tokenizer};

/// How much is read at once.
const PIECE: usize = 256 << 10;

/// What to do after an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Next {
    Event,
    /// After a start tag: nothing inside that element is wanted.
    Skip,
    /// Nothing more is wanted.
    Stop,
}

/// See the module.
pub(crate) struct Document {
    source: Source,
    tokenizer: Option<Tokenizer>,
    encoding: Option<&'static encoding_rs::Encoding>,
    bytes: Vec<u8>,
    progress: Progress,
    /// Elements found so far, for the progress line.
    pub found: u64,
}

impl Document {
    pub fn open(file: &str, encoding: Option<&str>, quiet: bool) -> Result<Document, Failure> {
        let encoding = match encoding {
            None => None,
            Some(name) => match encoding_rs::Encoding::for_label(name.as_bytes()) {
                Some(e) => Some(e),
                None => return Err(Failure::Message(format!("{name}: unknown encoding"))),
            },
        };
        let spec = if file == "-" {
            Spec::Fd { fd: Descriptor::Borrowed(0), initial: Vec::new(), name: Some("(standard input)".into()) }
        } else {
            Spec::named(file)
        };
        let source = Source::open(spec, SourceOptions::default()).map_err(|e| Failure::Message(e.to_string()))?;
        Ok(Document { source, tokenizer: None, encoding, bytes: Vec::new(), progress: Progress::new(quiet), found: 0 })
    }

    /// Gives the tokeniser more; the first bytes make it.
    fn feed(&mut self) -> Result<(), Failure> {
        self.bytes.clear();
        let n = self.source.read_blocking(&mut self.bytes, PIECE).map_err(|e| Failure::Message(e.to_string()))?;
        let announced = || self.source.charset().and_then(|c| encoding_rs::Encoding::for_label(c.as_bytes()));
        let encoding = self.encoding.or_else(announced);
        let name = self.source.name();
        self.progress.tell(name, self.source.received(), self.source.total(), self.found);
        let t = self.tokenizer.get_or_insert_with(|| Tokenizer::new(Options { encoding, ..Options::default() }));
        if n == 0 {
            t.finish();
            return Ok(());
        }
        t.feed(&self.bytes).map_err(|e| wrong(name, &e))
    }

    /// Shows `f` every event until the end of the document or until it has enough.
    ///
    /// # Errors
    /// What is wrong with the source or the document, after everything before it was shown.
    pub fn each(&mut self, mut f: impl FnMut(Event<'_>, &mut u64) -> Result<Next, Failure>) -> Result<(), Failure> {
        self.feed()?;
        let mut ended = self.bytes.is_empty();
        loop {
            let Some(t) = &mut self.tokenizer else { return Ok(()) };
            let next = match t.next() {
                Ok(Some(e)) => f(e, &mut self.found)?,
                Ok(None) if ended => return Ok(()),
                Ok(None) => {
                    self.feed()?;
                    ended = self.bytes.is_empty();
                    continue;
                }
                Err(e) => return Err(wrong(self.source.name(), &e)),
            };
            match next {
                Next::Event => {}
                Next::Stop => return Ok(()),
                Next::Skip => loop {
                    let Some(t) = &mut self.tokenizer else { return Ok(()) };
                    if t.skip().map_err(|e| wrong(self.source.name(), &e))? {
                        break;
                    }
                    self.feed()?;
                    ended = self.bytes.is_empty();
                },
            }
        }
    }
    /// Makes way for output on the terminal.
    pub fn quieten(&mut self) {
        self.progress.clear();
    }
}

/// `orders.xml:17:4: what is wrong`.
fn wrong(name: &str, e: &kumi_xml::Error) -> Failure {
    Failure::Message(format!("{name}:{}:{}: {}", e.position.line, e.position.column, e.message))
}
