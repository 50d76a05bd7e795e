//! `Source`: an input, and what undoes its compression. After an error or the end every read says the same again.

use crate::input::{BytesInput, FdInput, PushedInput};
use crate::{Error, Options, Read, Spec, Wait, sys};
use std::time::{Duration, Instant};

/// Bytes that come when they come. All methods return at once; a source may move between threads.
pub struct Source {
    name: String,
    input: Input,
    received: u64,
    end: Option<Result<(), Error>>,
    #[allow(dead_code)]
    options: Options,
}

enum Input {
    Fd(FdInput),
    Bytes(BytesInput),
    Pushed(PushedInput),
    Closed,
}

impl Source {
    /// Opens a file, looks at an address. Nothing is sent or waited for before the first `read`.
    pub fn open(spec: Spec, options: Options) -> Result<Source, Error> {
        let (name, input) = match spec {
            Spec::Path(path) => {
                let name = path.display().to_string();
                let input = Input::Fd(FdInput::open(&path, &name)?);
                (name, input)
            }
            Spec::Fd { fd, initial, name } => {
                use std::os::fd::AsRawFd;
                let name = name.unwrap_or_else(|| format!("(fd {})", fd.as_raw_fd()));
                let input = Input::Fd(FdInput::new(fd, initial, &name)?);
                (name, input)
            }
            Spec::Bytes(bytes) => ("(string)".to_string(), Input::Bytes(BytesInput::new(bytes))),
            Spec::Pushed => ("(stream)".to_string(), Input::Pushed(PushedInput::default())),
            Spec::Url(url) => {
                return Err(Error::Usage { name: url, message: "addresses cannot be read yet".to_string() });
            }
        };
        Ok(Source { name, input, received: 0, end: None, options })
    }

    /// Appends at most `max` bytes to `out`, decompressed.
    ///
    /// # Errors
    /// Come after everything before them was delivered, and again with every further call.
    pub fn read(&mut self, out: &mut Vec<u8>, max: usize) -> Result<Read, Error> {
        match &self.end {
            Some(Ok(())) => return Ok(Read::End),
            Some(Err(e)) => return Err(e.clone()),
            None => {}
        }
        let got = match &mut self.input {
            Input::Fd(i) => i.fill(out, max, &self.name),
            Input::Bytes(i) => Ok(i.fill(out, max)),
            Input::Pushed(i) => i.fill(out, max, &self.name),
            Input::Closed => Err(Error::Closed { name: self.name.clone() }),
        };
        match &got {
            Ok(Read::Data(n)) => self.received += *n as u64,
            Ok(Read::End) => self.end = Some(Ok(())),
            Ok(Read::Wait(_)) => {}
            Err(e) => self.end = Some(Err(e.clone())),
        }
        got
    }

    /// Reads like [`read`](Source::read), and waits as long as it takes: for tests and commands. `Ok(0)` is the end.
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

    /// As users know it: a path, an address without its password, `(string)`, `(fd 0)`, `(stream)`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Gives it another name (`"response of …"`).
    pub fn set_name(&mut self, name: impl Into<String>) {
        self.name = name.into();
    }

    /// The character set that the transport announced (`Content-Type: …; charset=`), once bytes have come.
    pub fn charset(&self) -> Option<&str> {
        None
    }

    /// Bytes received so far, compressed as they came; heads not counted.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// Bytes that will have been received at the end, where that is known.
    pub fn total(&self) -> Option<u64> {
        match &self.input {
            Input::Fd(i) => i.total(),
            Input::Bytes(i) => Some(i.total()),
            _ => None,
        }
    }

    /// Asks to be woken once for so many bytes instead of for each packet (sockets; a hint). Never more than are still to
    /// come, where that is known.
    pub fn set_low_water(&mut self, bytes: usize) {
        if let Input::Fd(i) = &self.input {
            if let Some(fd) = i.socket() {
                sys::set_low_water(fd, bytes);
            }
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
        self.input = Input::Closed;
        if self.end.is_none() {
            self.end = Some(Err(Error::Closed { name: self.name.clone() }));
        }
    }
}
