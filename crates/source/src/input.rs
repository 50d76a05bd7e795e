//! Inputs that are on this machine: files and descriptors, memory, what is pushed. An input appends wire bytes and never
//! blocks; it knows nothing of compression.

use crate::low_water::LowWater;
use crate::sys::{self, Got, Kind};
use crate::{Descriptor, Error, Read, Wait};
use std::collections::VecDeque;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;

/// Most bytes one system call reads from a file.
const FILE_STEP: usize = 256 << 10;

/// A file or any other descriptor.
pub(crate) struct FdInput {
    fd: OwnedFd,
    /// A duplicate: what it refers to is somebody else's as well.
    borrowed: bool,
    kind: Kind,
    /// What somebody had read from it before, and how much of that has been delivered.
    initial: Vec<u8>,
    delivered: usize,
    total: Option<u64>,
    low_water: LowWater,
}

impl FdInput {
    pub fn open(path: &Path, name: &str) -> Result<FdInput, Error> {
        // Without O_NONBLOCK opening a named pipe waits for its writer. For files it says nothing.
        let file = std::fs::OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
            .open(path)
            .map_err(|e| Error::io(name, e))?;
        FdInput::new(Descriptor::Owned(OwnedFd::from(file)), Vec::new(), name)
    }

    pub fn new(fd: Descriptor, initial: Vec<u8>, name: &str) -> Result<FdInput, Error> {
        // The number of somebody else's may mean another file at any moment.
        let (fd, borrowed) = match fd {
            Descriptor::Owned(fd) => (fd, false),
            Descriptor::Borrowed(fd) => (sys::duplicate(fd).map_err(|e| Error::io(name, e))?, true),
        };
        let raw = fd.as_raw_fd();
        let kind = sys::kind(raw).map_err(|e| Error::io(name, e))?;
        let mut total = None;
        match kind {
            Kind::Directory => {
                let e = std::io::Error::from_raw_os_error(libc::EISDIR);
                return Err(Error::io(name, e));
            }
            Kind::File { left, .. } => {
                // Files of /proc say 0 and hold more.
                total = (left > 0).then_some(left.saturating_add(initial.len() as u64));
                sys::sequential(raw);
            }
            _ => {}
        }
        Ok(FdInput { fd, borrowed, kind, initial, delivered: 0, total, low_water: LowWater::new() })
    }

    pub fn total(&self) -> Option<u64> {
        self.total
    }

    pub fn is_file(&self) -> bool {
        matches!(self.kind, Kind::File { .. })
    }

    pub fn set_low_water(&mut self, bytes: usize) {
        self.low_water.want(bytes);
    }

    pub fn fill(&mut self, out: &mut Vec<u8>, max: usize, name: &str) -> Result<Read, Error> {
        if self.delivered < self.initial.len() {
            let n = max.min(self.initial.len() - self.delivered);
            out.extend_from_slice(&self.initial[self.delivered..self.delivered + n]);
            self.delivered += n;
            if self.delivered == self.initial.len() {
                self.initial = Vec::new();
                self.delivered = 0;
            }
            return Ok(Read::Data(n));
        }
        let fd = self.fd.as_raw_fd();
        let got = match &mut self.kind {
            // A forked child, or who holds the same open file, reads it for itself.
            Kind::File { at, .. } => {
                let got = sys::read_at(fd, *at, out, max.min(FILE_STEP));
                if let Ok(Got::Bytes(n)) = got {
                    *at += n as u64;
                }
                got
            }
            Kind::Socket => sys::recv(fd, out, max.min(FILE_STEP)),
            // The descriptor may be shared with others who rely on its blocking, so it is asked first.
            _ => match sys::readable(fd) {
                Ok(true) => sys::read(fd, out, max.min(FILE_STEP)),
                Ok(false) => Ok(Got::Nothing),
                Err(e) => Err(e),
            },
        };
        match got {
            Ok(Got::Bytes(n)) => {
                self.low_water.came();
                Ok(Read::Data(n))
            }
            Ok(Got::End) => Ok(Read::End),
            Ok(Got::Nothing) => {
                let until = if self.kind == Kind::Socket { self.low_water.wait(fd, None) } else { None };
                Ok(Read::Wait(Wait::Ready { fd, read: true, write: false, until }))
            }
            // The other side of a pseudo-terminal has gone.
            Err(e) if e.raw_os_error() == Some(libc::EIO) && self.kind == Kind::Other && sys::is_terminal(fd) => Ok(Read::End),
            Err(e) => Err(Error::io(name, e)),
        }
    }
}

impl Drop for FdInput {
    fn drop(&mut self) {
        if self.borrowed {
            self.low_water.put_back(self.fd.as_raw_fd());
        }
    }
}

/// Bytes in memory.
pub(crate) struct BytesInput {
    bytes: Arc<[u8]>,
    at: usize,
}

impl BytesInput {
    pub fn new(bytes: Arc<[u8]>) -> BytesInput {
        BytesInput { bytes, at: 0 }
    }

    pub fn total(&self) -> u64 {
        self.bytes.len() as u64
    }

    pub fn fill(&mut self, out: &mut Vec<u8>, max: usize) -> Read {
        let n = max.min(self.bytes.len() - self.at);
        out.extend_from_slice(&self.bytes[self.at..self.at + n]);
        self.at += n;
        if n == 0 { Read::End } else { Read::Data(n) }
    }
}

/// Bytes that somebody else brings.
#[derive(Default)]
pub(crate) struct PushedInput {
    queue: VecDeque<u8>,
    state: Pushing,
}

#[derive(Default)]
enum Pushing {
    #[default]
    Open,
    Ended,
    Failed(String),
}

impl PushedInput {
    pub fn push(&mut self, bytes: &[u8]) {
        if matches!(self.state, Pushing::Open) {
            self.queue.extend(bytes);
        }
    }

    pub fn end(&mut self) {
        if matches!(self.state, Pushing::Open) {
            self.state = Pushing::Ended;
        }
    }

    pub fn fail(&mut self, message: String) {
        if matches!(self.state, Pushing::Open) {
            self.state = Pushing::Failed(message);
        }
    }

    pub fn waiting(&self) -> usize {
        self.queue.len()
    }

    pub fn fill(&mut self, out: &mut Vec<u8>, max: usize, name: &str) -> Result<Read, Error> {
        let (front, _) = self.queue.as_slices();
        if !front.is_empty() {
            let n = front.len().min(max);
            out.extend_from_slice(&front[..n]);
            self.queue.drain(..n);
            return Ok(Read::Data(n));
        }
        match &self.state {
            Pushing::Open => Ok(Read::Wait(Wait::Push)),
            Pushing::Ended => Ok(Read::End),
            Pushing::Failed(m) => Err(Error::Pushed { name: name.to_string(), message: m.clone() }),
        }
    }
}
