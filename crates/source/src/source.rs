//! `Source`: an input, and what undoes its compression. After an error or the end the input is gone, its descriptor closed,
//! and every read says the same again.

use crate::decode::{Chain, Coding, Pull};
use crate::http::{self, Http};
use crate::input::{BytesInput, FdInput, PushedInput};
use crate::wait::later;
use crate::{Error, Options, Read, Spec, Wait, sys};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

/// Compressed bytes taken at a time.
const STEP: usize = 64 << 10;
/// Such pieces without result in one read, after which others get a turn.
const MOST_STEPS: usize = 64;

/// Bytes that come when they come. All methods return at once; a source may move between threads.
pub struct Source {
    name: String,
    input: Input,
    decoding: Decoding,
    received: u64,
    total: Option<u64>,
    charset: Option<String>,
    options: Options,
    /// When the whole has taken too long; set by the first read.
    until: Option<Instant>,
    end: Option<Result<(), Error>>,
}

enum Input {
    Fd(FdInput),
    Bytes(BytesInput),
    Pushed(PushedInput),
    Http(Box<Http>),
    Closed,
}

enum Decoding {
    /// Before the first bytes, which tell.
    Undecided {
        by_name: Option<Coding>,
    },
    Chain(Chain),
    /// As it comes.
    Direct,
}

impl Input {
    /// Appends at most `max` bytes as they are on the wire.
    fn fill(&mut self, out: &mut Vec<u8>, max: usize, name: &str) -> Result<Read, Error> {
        match self {
            Input::Fd(i) => i.fill(out, max, name),
            Input::Bytes(i) => Ok(i.fill(out, max)),
            Input::Pushed(i) => i.fill(out, max, name),
            Input::Http(i) => i.fill(out, max),
            Input::Closed => Err(Error::Closed { name: name.to_string() }),
        }
    }
}

/// What is wrong with the path of a file that cannot be opened and begins like an address.
fn unknown_scheme(path: &str) -> Option<Error> {
    let (scheme, _) = path.split_once("://")?;
    let letters = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    if !scheme.starts_with(|c: char| c.is_ascii_alphabetic()) || !scheme.chars().all(letters) {
        return None;
    }
    let message = format!("the scheme {scheme}:// is not known: give a http:// or https:// address, or a path");
    Some(Error::Usage { name: http::shown(path), message })
}

impl Source {
    /// Opens a file, looks at an address and the options. Nothing is sent or waited for before the first `read`.
    ///
    /// # Errors
    /// A file that cannot be opened or is a directory, a descriptor that is none, an address, header or proxy that cannot be
    /// used.
    pub fn open(spec: Spec, options: Options) -> Result<Source, Error> {
        let mut by_name = None;
        let (name, input) = match spec {
            Spec::Path(path) => {
                let name = path.display().to_string();
                let input = Input::Fd(FdInput::open(&path, &name).map_err(|e| unknown_scheme(&name).unwrap_or(e))?);
                // Brotli has no magic number.
                by_name = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("br")).then_some(Coding::Brotli);
                (name, input)
            }
            Spec::Fd { fd, initial, name } => {
                let name = name.unwrap_or_else(|| format!("(fd {})", fd.as_raw_fd()));
                let input = Input::Fd(FdInput::new(fd, initial, &name)?);
                (name, input)
            }
            Spec::Bytes(bytes) => ("(string)".to_string(), Input::Bytes(BytesInput::new(bytes))),
            Spec::Pushed => ("(stream)".to_string(), Input::Pushed(PushedInput::default())),
            Spec::Url(url) => {
                let name = http::shown(&url);
                let http = Http::new(&url, &name, options.clone())?;
                (name, Input::Http(Box::new(http)))
            }
        };
        let decoding = if options.decompress { Decoding::Undecided { by_name } } else { Decoding::Direct };
        let mut source = Source { name, input, decoding, received: 0, total: None, charset: None, options, until: None, end: None };
        source.learn();
        Ok(source)
    }

    /// Appends at most `max` bytes to `out`, decompressed, and works no longer than that takes.
    ///
    /// # Errors
    /// They come after everything before them was delivered, and again with every further call.
    pub fn read(&mut self, out: &mut Vec<u8>, max: usize) -> Result<Read, Error> {
        match &self.end {
            Some(Ok(())) => return Ok(Read::End),
            Some(Err(e)) => return Err(e.clone()),
            None => {}
        }
        let mut got = self.in_time();
        if got.is_ok() {
            got = self.produce(out, max.max(1)).map(|read| self.hurry(read));
        }
        match &got {
            Ok(Read::End) => self.over(Ok(())),
            Ok(_) => {}
            Err(e) => self.over(Err(e.clone())),
        }
        got
    }

    fn over(&mut self, end: Result<(), Error>) {
        self.learn();
        self.end = Some(end);
        self.input = Input::Closed;
        self.decoding = Decoding::Direct;
    }

    /// Whether the whole may still go on; the value means nothing.
    fn in_time(&mut self) -> Result<Read, Error> {
        if let Some(limit) = self.options.total_timeout {
            let now = Instant::now();
            if now >= *self.until.get_or_insert_with(|| later(limit)) {
                return Err(Error::Timeout { name: self.name.clone(), what: "reading all of it", after: limit });
            }
        }
        Ok(Read::End)
    }

    /// No wait goes beyond the whole's limit.
    fn hurry(&self, read: Read) -> Read {
        let Some(limit) = self.until else { return read };
        match read {
            Read::Wait(Wait::Ready { fd, read, write, until }) => {
                let until = Some(until.map_or(limit, |u| u.min(limit)));
                Read::Wait(Wait::Ready { fd, read, write, until })
            }
            Read::Wait(Wait::Until(t)) => Read::Wait(Wait::Until(t.min(limit))),
            other => other,
        }
    }

    fn produce(&mut self, out: &mut Vec<u8>, max: usize) -> Result<Read, Error> {
        for _ in 0..MOST_STEPS {
            match &mut self.decoding {
                Decoding::Direct => {
                    let read = self.input.fill(out, max, &self.name)?;
                    self.count(&read);
                    return Ok(read);
                }
                Decoding::Undecided { by_name } => {
                    let by_name = *by_name;
                    let mut first = Vec::new();
                    let read = self.input.fill(&mut first, STEP, &self.name)?;
                    if matches!(read, Read::Wait(_)) {
                        return Ok(read);
                    }
                    self.count(&read);
                    let codings = match &self.input {
                        Input::Http(http) => http.codings().to_vec(),
                        _ => by_name.into_iter().collect(),
                    };
                    let mut chain = Chain::new(&codings, self.options.max_ratio, self.options.ratio_grace);
                    chain.feed(|v| *v = first);
                    if matches!(read, Read::End) {
                        chain.end();
                    }
                    self.decoding = Decoding::Chain(chain);
                }
                Decoding::Chain(chain) => {
                    let len = out.len();
                    match chain.pull(out, max, &self.name)? {
                        Pull::Data => return Ok(Read::Data(out.len() - len)),
                        Pull::End => return Ok(Read::End),
                        Pull::Later => break,
                        Pull::Hungry if chain.is_transparent() => self.decoding = Decoding::Direct,
                        Pull::Hungry => {
                            let read = chain.feed(|v| self.input.fill(v, STEP, &self.name))?;
                            match read {
                                Read::Wait(_) => return Ok(read),
                                Read::End => chain.end(),
                                Read::Data(_) => {}
                            }
                            self.count(&read);
                        }
                    }
                }
            }
        }
        Ok(Read::Wait(Wait::Until(Instant::now())))
    }

    fn count(&mut self, read: &Read) {
        if let Read::Data(n) = read {
            if self.received == 0 {
                self.learn();
            }
            self.received += *n as u64;
        }
    }

    /// Notes what the input knows by now.
    fn learn(&mut self) {
        match &self.input {
            Input::Fd(i) => self.total = i.total(),
            Input::Bytes(i) => self.total = Some(i.total()),
            Input::Http(i) => {
                self.total = i.total();
                self.charset = i.charset().map(str::to_string);
            }
            Input::Pushed(_) | Input::Closed => {}
        }
    }

    /// Reads like [`read`](Source::read), and waits as long as it takes: for tests and commands. `Ok(0)` is the end.
    ///
    /// # Errors
    /// As `read`; and on a [`Spec::Pushed`] with nothing in it, because nobody can push while it is waited for.
    pub fn read_blocking(&mut self, out: &mut Vec<u8>, max: usize) -> Result<usize, Error> {
        loop {
            match self.read(out, max)? {
                Read::Data(n) => return Ok(n),
                Read::End => return Ok(0),
                Read::Wait(Wait::Job(job)) => job.run(),
                Read::Wait(Wait::Until(t)) => std::thread::sleep(t.saturating_duration_since(Instant::now())),
                Read::Wait(Wait::Ready { fd, read, write, until }) => {
                    let time = until.map(|t| t.saturating_duration_since(Instant::now()).max(Duration::from_millis(1)));
                    sys::wait_ready(fd, read, write, time).map_err(|e| Error::io(&self.name, e))?;
                }
                Read::Wait(Wait::Push) => {
                    let message = "nothing was pushed, and nobody can while it is waited for".to_string();
                    return Err(Error::Usage { name: self.name.clone(), message });
                }
            }
        }
    }

    /// As users know it: a path, an address without user and password, `(string)`, `(fd 0)`, `(stream)`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Gives it another name.
    pub fn set_name(&mut self, name: impl Into<String>) {
        self.name = name.into();
    }

    /// The character set that the transport announced (`Content-Type: …; charset=`), once bytes have come.
    pub fn charset(&self) -> Option<&str> {
        self.charset.as_deref()
    }

    /// Bytes received so far, compressed as they came; heads and framing not counted.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// Bytes that will have been received at the end, where that is known.
    pub fn total(&self) -> Option<u64> {
        self.total
    }

    /// Whether the end is announced, so that it comes without somebody closing a connection or a pipe: files, texts, bodies of
    /// known length or in chunks.
    pub fn announces_its_end(&self) -> bool {
        match &self.input {
            Input::Fd(i) => i.is_file(),
            Input::Bytes(_) | Input::Closed => true,
            Input::Pushed(_) => false,
            Input::Http(i) => i.announces_its_end(),
        }
    }

    /// Whether bytes come from [`push`](Source::push).
    pub fn is_pushed(&self) -> bool {
        matches!(self.input, Input::Pushed(_))
    }

    /// Asks to be woken once for so many bytes instead of for each packet (sockets without TLS; a hint). What has come is
    /// not kept back for longer than 5 ms by that.
    pub fn set_low_water(&mut self, bytes: usize) {
        match &mut self.input {
            Input::Fd(i) => i.set_low_water(bytes),
            Input::Http(i) => i.set_low_water(bytes),
            _ => {}
        }
    }

    /// Appends to a [`Spec::Pushed`]; ignored after its end and by other sources.
    pub fn push(&mut self, bytes: &[u8]) {
        if let Input::Pushed(i) = &mut self.input {
            i.push(bytes);
        }
    }

    /// No more is pushed.
    pub fn end(&mut self) {
        if let Input::Pushed(i) = &mut self.input {
            i.end();
        }
    }

    /// No more is pushed, because of this; readers get it after what was pushed before.
    pub fn fail(&mut self, message: impl Into<String>) {
        if let Input::Pushed(i) = &mut self.input {
            i.fail(message.into());
        }
    }

    /// Bytes pushed and not yet read: whoever pushes may pause when there are many.
    pub fn waiting(&self) -> usize {
        match &self.input {
            Input::Pushed(i) => i.waiting(),
            _ => 0,
        }
    }

    /// Lets go of the file or connection at once. Reading afterwards is an error; closing again does nothing.
    pub fn close(&mut self) {
        if self.end.is_none() {
            self.over(Err(Error::Closed { name: self.name.clone() }));
        }
    }
}
