//! The stream: a descriptor with its buffers and modes, and the system calls on it.
//!
//! Invariants: A descriptor is read, used and given up under the lock of its cell, and nobody keeps its number beyond: what
//! waits has noted it under the lock ([`Cx::watch_of`]), what works off the workers has a copy ([`own_fd`]). Whoever gives
//! it up says so first ([`let_go`]). So no call meets a number that was given anew. `fd` is -1 exactly when the stream is closed or not yet opened. Bytes in
//! `rbuf[rpos..]` were read but not consumed; `wbuf` was written but not flushed. The
//! two are never both filled on one descriptor: switching direction flushes `wbuf` and
//! seeks back over `rbuf`. A stream that is dropped flushes and closes what it owns.

pub(crate) mod fd;
pub(crate) mod fill;
pub(crate) mod lines;
pub(crate) mod open;
pub(crate) mod read;
pub(crate) mod select;
pub(crate) mod state;
pub mod stdio;
pub(crate) mod write;

use kumi_core_string::encoding;
use kumi_text::encoding::EncIndex;
use kumi_vm::*;
use rustix::fs::{FileType, SeekFrom, fstat, seek};
use rustix::io::fcntl_dupfd_cloexec;
use rustix::net::{SendFlags, send};
use std::os::fd::OwnedFd;

pub use fd::*;
pub use rustix::io::Errno;

/// Bytes buffered before a write happens, and read at once.
pub const BUFFER: usize = 64 << 10;

/// What an IO object holds.
pub struct Io {
    /// The descriptor, -1 when closed.
    pub fd: i32,
    /// Descriptor for writing when that is another one (two-way pipes), else -1.
    pub wfd: i32,
    pub readable: bool,
    pub writable: bool,
    pub append: bool,
    pub sync: bool,
    /// Flush at newlines.
    pub tty: bool,
    pub binmode: bool,
    /// Read "\r\n" as "\n".
    pub universal: bool,
    /// Write "\n" as "\r\n".
    pub crlf: bool,
    pub ext: Option<EncIndex>,
    pub int: Option<EncIndex>,
    /// How characters that do not convert are treated: a Hash of String#encode options, or nil.
    pub enc_opts: Value,
    /// Of these options, for reading: replace invalid and undefined characters, and by what.
    pub replace: (bool, bool),
    pub replace_with: Option<Vec<u8>>,
    /// The conversion of what is read, while it is under way.
    pub conv: Option<Box<kumi_text::transcode::Converter>>,
    pub rbuf: Vec<u8>,
    pub rpos: usize,
    /// Text converted to the internal encoding and not consumed yet.
    pub cbuf: Vec<u8>,
    pub cpos: usize,
    /// A "\r" was read last while converting newlines.
    pub pending_cr: bool,
    pub wbuf: Vec<u8>,
    pub lineno: i64,
    pub path: Option<Vec<u8>>,
    pub path_enc: EncIndex,
    /// The child behind a pipe.
    pub pid: Option<i32>,
    pub autoclose: bool,
    pub timeout: Value,
    /// The same in nanoseconds: how long one wait may take.
    pub limit: Option<u64>,
    pub opened: bool,
    /// Whether `fd` is a plain file, whose calls never wait; `None`: not asked yet.
    pub plain: Option<bool>,
    /// Both directions are independent, and no position is shared with others.
    pub socket: bool,
    /// Writes that wait for room: task, and what tells one of its writes from another. Their bytes are in `wbuf`.
    pub writers: Vec<(u64, u64)>,
    /// One of the three standard streams: never closed by the collector.
    pub standard: bool,
}

impl Default for Io {
    fn default() -> Self {
        Io {
            fd: -1,
            wfd: -1,
            readable: false,
            writable: false,
            append: false,
            sync: false,
            tty: false,
            binmode: false,
            universal: false,
            crlf: false,
            ext: None,
            int: None,
            enc_opts: Value::NIL,
            replace: (false, false),
            replace_with: None,
            conv: None,
            rbuf: Vec::new(),
            rpos: 0,
            cbuf: Vec::new(),
            cpos: 0,
            pending_cr: false,
            wbuf: Vec::new(),
            lineno: 0,
            path: None,
            path_enc: EncIndex::UTF_8,
            pid: None,
            autoclose: true,
            timeout: Value::NIL,
            limit: None,
            opened: false,
            plain: None,
            socket: false,
            writers: Vec::new(),
            standard: false,
        }
    }
}

impl Payload for Io {
    fn trace(&self, m: &mut Marker) {
        m.mark(self.enc_opts);
        m.mark(self.timeout);
    }
    fn bytes(&self) -> usize {
        256 + self.rbuf.capacity() + self.wbuf.capacity()
    }
}

impl Drop for Io {
    fn drop(&mut self) {
        if self.fd < 0 || self.standard {
            return;
        }
        self.flush_now();
        if self.autoclose {
            let _ = close(self.fd);
            if self.wfd >= 0 {
                let _ = close(self.wfd);
            }
        }
    }
}

/// Closes the descriptor of a stream others may wait for: they run again, and find out. Under the stream's lock.
pub fn let_go(cx: &mut Cx, fd: i32) -> Result<(), Errno> {
    cx.closing(fd);
    close(fd)
}

impl Io {
    /// The descriptor that writes go to.
    pub fn out_fd(&self) -> i32 {
        if self.wfd >= 0 { self.wfd } else { self.fd }
    }
    /// Is it a plain file (or directory), which never makes one wait?
    pub fn is_plain(&mut self) -> bool {
        if let Some(p) = self.plain {
            return p;
        }
        let p = matches!(file_type(self.out_fd()), Ok(FileType::RegularFile | FileType::Directory | FileType::BlockDevice));
        self.plain = Some(p);
        p
    }
    /// Name in error messages.
    pub fn label(&self) -> String {
        match &self.path {
            Some(p) => String::from_utf8_lossy(p).into_owned(),
            None => format!("fd {}", self.fd),
        }
    }
    /// Bytes read and not consumed.
    pub fn pending(&self) -> &[u8] {
        &self.rbuf[self.rpos.min(self.rbuf.len())..]
    }
    /// Takes `n` of the pending bytes.
    pub fn take(&mut self, n: usize) -> Vec<u8> {
        let v = Vec::copy(&self.pending()[..n]);
        self.consume(n);
        v
    }
    pub fn consume(&mut self, n: usize) {
        self.rpos += n;
        if self.rpos >= self.rbuf.len() {
            self.rpos = 0;
            self.rbuf.clear();
        }
    }
    /// Puts bytes in front of what is pending.
    pub fn unread(&mut self, b: &[u8]) {
        if self.rpos >= b.len() {
            self.rpos -= b.len();
            self.rbuf[self.rpos..self.rpos + b.len()].copy_from_slice(b);
        } else {
            let mut v = b.to_vec();
            v.extend_from_slice(self.pending());
            self.rbuf = v;
            self.rpos = 0;
        }
    }
    /// Forgets what was read ahead, moving the descriptor back so that the next system call sees it.
    pub fn unread_to_fd(&mut self) {
        if self.socket {
            return;
        }
        let n = self.pending().len();
        // Pipes answer ESPIPE, which is fine.
        if n > 0 && seek(Fd(self.fd), SeekFrom::Current(-(n as i64))).is_ok() {
            self.rbuf.clear();
            self.rpos = 0;
        }
        self.cbuf.clear();
        self.cpos = 0;
    }
    /// Drops everything read ahead.
    pub fn forget(&mut self) {
        self.rbuf.clear();
        self.rpos = 0;
        self.cbuf.clear();
        self.cpos = 0;
        self.pending_cr = false;
        self.conv = None;
        self.plain = None;
    }

    /// Writes everything buffered; what could not be written stays.
    pub fn flush(&mut self) -> Result<(), Errno> {
        if self.wbuf.is_empty() {
            return Ok(());
        }
        let b = std::mem::take(&mut self.wbuf);
        let mut at = 0;
        let r = write_all(self.out_fd(), &b, &mut at);
        if r.is_err() {
            self.wbuf = b[at..].to_vec();
        } else {
            // Keep the allocation for the next round.
            self.wbuf = b;
            self.wbuf.clear();
        }
        r
    }
    /// Writes out what the other end takes at once; what it does not stays.
    pub fn flush_now(&mut self) {
        if self.is_plain() {
            let _ = self.flush();
            return;
        }
        let mut at = 0;
        while at < self.wbuf.len() {
            match self.write_now(&self.wbuf[at..]) {
                Ok(n) => at += n,
                Err(Errno::INTR) => {}
                Err(_) => break,
            }
        }
        self.wbuf.drain(..at);
    }
    /// Writes as much as the other end takes at once: EAGAIN when that is nothing.
    pub fn write_now(&self, b: &[u8]) -> Result<usize, Errno> {
        let fd = self.out_fd();
        if self.socket {
            return send(Fd(fd), b, SendFlags::DONTWAIT | SendFlags::NOSIGNAL);
        }
        // A pipe that says it takes something takes so much.
        if is_ready(fd, false, true)? { rustix::io::write(Fd(fd), &b[..b.len().min(4096)]) } else { Err(Errno::AGAIN) }
    }
    /// Writes through the buffer, waiting in place.
    pub fn put(&mut self, b: &[u8]) -> Result<(), Errno> {
        if self.sync {
            self.flush()?;
            return write_all(self.out_fd(), b, &mut 0);
        }
        if self.wbuf.len() + b.len() > BUFFER {
            self.flush()?;
            if b.len() > BUFFER {
                return write_all(self.out_fd(), b, &mut 0);
            }
        }
        self.wbuf.extend_from_slice(b);
        if self.tty && memchr::memrchr(b'\n', b).is_some() {
            self.flush()?;
        }
        Ok(())
    }
    /// Encoding of what is read as text.
    pub fn read_enc(&self, cx: &mut Cx) -> EncIndex {
        if let Some(i) = self.int {
            return i;
        }
        match self.ext {
            Some(e) => e,
            None if self.binmode => EncIndex::BINARY,
            None => encoding::external(cx),
        }
    }
    /// Does reading text change bytes?
    pub fn converts(&self) -> bool {
        self.universal || self.int.is_some()
    }
}

/// `write(2)` until all is written; `at` counts. A descriptor that would block is waited for.
fn write_all(fd: i32, b: &[u8], at: &mut usize) -> Result<(), Errno> {
    while *at < b.len() {
        match rustix::io::write(Fd(fd), &b[*at..]) {
            Ok(n) => *at += n,
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                let _ = poll_fd(fd, false, true, None);
            }
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

/// What kind of file a descriptor is.
pub fn file_type(fd: i32) -> Result<FileType, Errno> {
    fstat(Fd(fd)).map(|s| FileType::from_raw_mode(s.st_mode))
}
/// A descriptor of one's own of a stream that is no argument of the running native, which holds no objects. For work off the
/// workers: the stream may be closed meanwhile.
pub fn own_fd(cx: &mut Cx, v: Value) -> Result<OwnedFd, Exit> {
    let _l = cx.lock_objects(v, &[]);
    let fd = open(cx, v)?.fd;
    fcntl_dupfd_cloexec(Fd(fd), 3).map_err(|e| fail_plain(cx, e, ""))
}
/// The stream of a value. Its cell's lock is held around each native of the class; whoever is at another's takes that first.
pub fn stream(v: Value) -> Option<&'static mut Io> {
    // SAFETY: as said above; the reference ends with the native, or before a second one is made.
    unsafe { v.payload_mut::<Io>() }
}
/// The stream of a value; TypeError for other values, IOError before `initialize`.
pub fn raw(cx: &mut Cx, v: Value) -> Result<&'static mut Io, Exit> {
    match stream(v) {
        Some(io) => Ok(io),
        None => {
            let t = cx.describe_type(v);
            Err(cx.type_error(&format!("wrong argument type {t} (expected File)")))
        }
    }
}
/// The open stream of a value; IOError when it is closed.
pub fn open(cx: &mut Cx, v: Value) -> Result<&'static mut Io, Exit> {
    let io = raw(cx, v)?;
    if io.fd < 0 {
        let waited = cx.io_waited();
        let why = match io.opened {
            true if waited => "stream closed in another thread",
            true => "closed stream",
            false => "uninitialized stream",
        };
        return Err(io_error(cx, why));
    }
    Ok(io)
}
/// The stream, open for reading.
pub fn reader(cx: &mut Cx, v: Value) -> Result<&'static mut Io, Exit> {
    let io = open(cx, v)?;
    if !io.readable {
        return Err(io_error(cx, "not opened for reading"));
    }
    // Somebody who waits to write to a socket, or to the pipe to a process, does not keep others from reading: the peer may wait for just that.
    let two_ways = io.socket || io.wfd >= 0;
    if !io.wbuf.is_empty() && (!two_ways || io.writers.is_empty()) {
        crate::io::write::flush_io(cx, io)?;
    }
    Ok(io)
}
/// The stream, open for writing.
pub fn writer(cx: &mut Cx, v: Value) -> Result<&'static mut Io, Exit> {
    let io = open(cx, v)?;
    if !io.writable {
        return Err(io_error(cx, "not opened for writing"));
    }
    Ok(io)
}
pub fn io_error(cx: &mut Cx, msg: &str) -> Exit {
    cx.raise_msg(cx.k.io_error, msg)
}
/// SystemCallError with CRuby's "@ function - path" detail.
pub fn fail(cx: &mut Cx, e: Errno, func: &str, path: &[u8]) -> Exit {
    cx.io_done();
    let f = cx.str(func);
    let enc = if std::str::from_utf8(path).is_ok() { EncIndex::UTF_8 } else { EncIndex::BINARY };
    let p = cx.str_enc(path, enc);
    cx.call_helper("raise_errno_at", &[Value::fix(e.raw_os_error() as i64), p, f])
}
/// SystemCallError with a plain detail.
pub fn fail_plain(cx: &mut Cx, e: Errno, detail: &str) -> Exit {
    cx.io_done();
    if detail.is_empty() {
        return cx.call_helper("raise_errno", &[Value::fix(e.raw_os_error() as i64)]);
    }
    cx.errno_error(e.raw_os_error(), detail)
}
/// SystemCallError that names the stream.
pub fn failed(cx: &mut Cx, io: &Io, e: Errno) -> Exit {
    fail_plain(cx, e, &io.label())
}
