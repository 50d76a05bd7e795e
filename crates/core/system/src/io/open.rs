//! Opening: mode strings, encodings of a stream, descriptors from paths, closing, reopening.

use crate::io::stdio::Stdio;
use crate::io::{self, Errno, Fd, Io};
use kumi_core_string::encoding;
use kumi_text::encoding::EncIndex;
use kumi_vm::*;
use rustix::fs::{FileType, Mode, OFlags, fcntl_getfl};
use rustix::io::retry_on_intr;
use rustix::net::{Shutdown, shutdown};
use rustix::pipe::{PipeFlags, pipe_with};
use std::os::fd::IntoRawFd;

pub static TABLE: &[NativeDef] = &[
    n("IO.", "allocate", 0, 0, |cx, c, _| {
        cx.state::<Stdio>().others = true;
        match c.as_class() {
            Some(c) => Ok(cx.data(c, Io::default())),
            None => Err(Exit::Miss),
        }
    }),
    intrinsic("__io_mode", 1, 1, mode),
    intrinsic("__io_sysopen", 3, 3, sysopen),
    intrinsic("__io_init", 4, 4, init),
    intrinsic("__io_encodings", 3, 3, set_encodings),
    intrinsic("__io_replace_opts", 5, 5, set_replace),
    intrinsic("__io_bom", 1, 1, bom),
    intrinsic("__io_close", 1, 1, close),
    intrinsic("__io_close_half", 2, 2, close_half),
    intrinsic("__io_take_over", 2, 2, take_over),
    intrinsic("__io_reopen_fd", 2, 2, reopen_fd),
    intrinsic("__io_pipe", 2, 2, pipe),
    intrinsic("__io_dup", 2, 2, dup),
    intrinsic("__io_set_pid", 3, 3, set_pid),
    intrinsic("__io_set_path", 2, 2, |cx, _, a| {
        let s = cx.arg_str(a, 1)?;
        let io = io::raw(cx, a[0])?;
        io.path = Some(s.bytes().to_vec());
        io.path_enc = EncIndex::from_u8(s.enc());
        Ok(Value::NIL)
    }),
    intrinsic("__io_pid", 1, 1, |cx, _, a| Ok(io::raw(cx, a[0])?.pid.map_or(Value::NIL, |p| Value::fix(p as i64)))),
    intrinsic("__io_nonblock", 2, 2, |cx, _, a| {
        io::set_nonblock(io::open(cx, a[0])?.fd, a[1].truthy());
        Ok(a[0])
    }),
    intrinsic("__io_fd_flags", 1, 1, fd_flags),
    intrinsic("__io_initialized", 1, 1, |cx, _, a| Ok(Value::bool(io::raw(cx, a[0])?.opened))),
    intrinsic("__fd_close", 1, 1, |cx, _, a| {
        let fd = cx.arg_i64(a, 0)?;
        match i32::try_from(fd).map(|fd| io::let_go(cx, fd)) {
            Ok(Ok(())) => Ok(Value::NIL),
            Ok(Err(e)) => Err(io::fail_plain(cx, e, "")),
            Err(_) => Err(io::fail_plain(cx, Errno::BADF, "")),
        }
    }),
];

/// Bits of the second word that `__io_mode` gives and `__io_init` takes.
pub const BINARY: i64 = 1;
pub const TEXT: i64 = 2;
pub const BOM: i64 = 4;

/// __io_mode(string): [open flags, bits, external name or nil, internal name or nil].
fn mode(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let s = cx.arg_str(a, 0)?;
    let all = s.bytes().to_vec();
    let (m, encs) = match memchr::memchr(b':', &all) {
        Some(p) => (&all[..p], Some(&all[p + 1..])),
        None => (&all[..], None),
    };
    let bad = |cx: &mut Cx| cx.arg_error(&format!("invalid access mode {}", String::from_utf8_lossy(&all)));
    let mut flags = match m.first() {
        Some(b'r') => libc::O_RDONLY,
        Some(b'w') => libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC,
        Some(b'a') => libc::O_WRONLY | libc::O_CREAT | libc::O_APPEND,
        _ => return Err(bad(cx)),
    };
    let mut bits = 0;
    for c in &m[1..] {
        match c {
            b'+' if flags & libc::O_RDWR == 0 => flags = (flags & !libc::O_WRONLY) | libc::O_RDWR,
            b'b' if bits == 0 => bits |= BINARY,
            b't' if bits == 0 => bits |= TEXT,
            b'x' if m[0] == b'w' => flags |= libc::O_EXCL,
            _ => return Err(bad(cx)),
        }
    }
    let (mut ext, mut int) = (Value::NIL, Value::NIL);
    if let Some(e) = encs {
        let (x, i) = match memchr::memchr(b':', e) {
            Some(p) => (&e[..p], Some(&e[p + 1..])),
            None => (e, None),
        };
        let mut x = x;
        if x.len() > 4 && x[..4].eq_ignore_ascii_case(b"bom|") {
            x = &x[4..];
            bits |= BOM;
        }
        ext = cx.str_enc(x, EncIndex::UTF_8);
        if let Some(i) = i {
            int = cx.str_enc(i, EncIndex::UTF_8);
        }
    }
    let flags = Value::fix(flags as i64);
    Ok(cx.array(&[flags, Value::fix(bits), ext, int]))
}

/// Opens a path; the descriptor is closed on exec.
fn open_path(cx: &mut Cx, path: &[u8], flags: i32, perm: u32) -> Result<i32, Exit> {
    match retry_on_intr(|| open_raw(path, flags, perm)) {
        Ok(fd) => {
            cx.state::<Stdio>().shortage = 0;
            Ok(fd)
        }
        Err(e) => {
            retry_after_gc(cx, e)?;
            Err(io::fail(cx, e, "rb_sysopen", path))
        }
    }
}
fn open_raw(path: &[u8], flags: i32, perm: u32) -> Result<i32, Errno> {
    let flags = OFlags::from_bits_retain(flags as u32) | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::from_bits_retain(perm)).map(IntoRawFd::into_raw_fd)
}
/// When descriptors have run out, a collection may close streams that nothing reaches: once per shortage the
/// native runs again after one.
pub fn retry_after_gc(cx: &mut Cx, e: Errno) -> Result<(), Exit> {
    if e != Errno::MFILE && e != Errno::NFILE {
        return Ok(());
    }
    let tries = {
        let mut s = cx.state::<Stdio>();
        s.shortage += 1;
        s.shortage
    };
    match tries {
        1 => {
            cx.heap.request_gc();
            Err(Exit::Again)
        }
        2 => {
            cx.heap.sweep_all();
            Err(Exit::Again)
        }
        _ => {
            cx.state::<Stdio>().shortage = 0;
            Ok(())
        }
    }
}
/// __io_sysopen(path, flags, perm)
fn sysopen(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let p = cx.arg_path(a, 0)?;
    let flags = cx.arg_i64(a, 1)?;
    let perm = cx.arg_i64(a, 2)?;
    let flags = flags as i32;
    if flags & libc::O_ACCMODE == libc::O_RDWR || flags & libc::O_NONBLOCK != 0 || !is_fifo(p.bytes()) {
        let fd = open_path(cx, p.bytes(), flags, perm as u32)?;
        return Ok(Value::fix(fd as i64));
    }
    // Opening a fifo waits for its other end, which may be a thread of this process: so the wait is not in
    // the system call. A reader waits when it reads first; a writer asks again until somebody reads.
    match open_raw(p.bytes(), flags | libc::O_NONBLOCK, 0) {
        Ok(fd) => {
            io::set_nonblock(fd, false);
            Ok(Value::fix(fd as i64))
        }
        Err(Errno::NXIO) => {
            cx.pending.deadline = now_ns() + 2_000_000;
            Err(Exit::Park)
        }
        Err(e) => Err(io::fail(cx, e, "rb_sysopen", p.bytes())),
    }
}
fn is_fifo(path: &[u8]) -> bool {
    use std::os::unix::{ffi::OsStrExt, fs::FileTypeExt};
    std::fs::metadata(std::ffi::OsStr::from_bytes(path)).is_ok_and(|m| m.file_type().is_fifo())
}
fn fd_flags(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let fd = cx.arg_i64(a, 0)?;
    match i32::try_from(fd).map(|fd| fcntl_getfl(Fd(fd))) {
        Ok(Ok(flags)) => Ok(Value::fix(flags.bits() as i64)),
        _ => Err(io::fail_plain(cx, Errno::BADF, "")),
    }
}

/// __io_init(io, fd, flags, bits): the stream takes over a descriptor.
fn init(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let fd = cx.arg_i64(a, 1)? as i32;
    let flags = cx.arg_i64(a, 2)? as i32;
    let bits = cx.arg_i64(a, 3)?;
    let io = io::raw(cx, a[0])?;
    if io.fd >= 0 && !io.standard {
        let _ = io.flush();
        if io.autoclose {
            let _ = io::let_go(cx, io.fd);
        }
    }
    // Assigning would drop, and so close, what is there.
    let mut fresh = Io::default();
    fresh.fd = fd;
    let acc = flags & libc::O_ACCMODE;
    fresh.readable = acc == libc::O_RDONLY || acc == libc::O_RDWR;
    fresh.writable = acc == libc::O_WRONLY || acc == libc::O_RDWR;
    fresh.append = flags & libc::O_APPEND != 0;
    fresh.sync = flags & libc::O_SYNC != 0 && acc != libc::O_RDONLY || fd == 2;
    fresh.tty = io::is_tty(fd);
    fresh.binmode = bits & BINARY != 0;
    fresh.universal = bits & TEXT != 0 && fresh.readable;
    fresh.opened = true;
    fresh.standard = fd <= 2;
    io.fd = -1;
    *io = fresh;
    cx.heap.charge(256);
    Ok(a[0])
}

fn enc_arg(cx: &mut Cx, v: Value) -> Result<Option<EncIndex>, Exit> {
    if v.is_nil() {
        return Ok(None);
    }
    encoding::arg_enc(cx, &[v], 0).map(Some)
}
/// __io_encodings(io, external or nil, internal or nil or false): what the stream converts. `false` for
/// internal means none, whatever the default is.
fn set_encodings(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let ext = enc_arg(cx, a[1])?;
    let explicit = if a[2].truthy() { enc_arg(cx, a[2])? } else { None };
    let default_int = encoding::internal(cx);
    let default_ext = encoding::external(cx);
    let io = io::raw(cx, a[0])?;
    let from = ext.unwrap_or(default_ext);
    let int = match explicit {
        _ if from == EncIndex::BINARY => None,
        Some(i) => Some(i),
        None if a[2] == Value::FALSE => None,
        None => default_int,
    };
    match int {
        Some(i) if i != from => {
            io.ext = Some(from);
            io.int = Some(i);
        }
        // The default is asked again at each read, unless it was named twice.
        _ => {
            io.ext = if ext.is_none() && int.is_none() { None } else { Some(from) };
            io.int = None;
        }
    }
    io.conv = None;
    Ok(a[0])
}
/// __io_replace_opts(io, options Hash or nil, invalid, undef, replacement or nil)
fn set_replace(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let io = io::raw(cx, a[0])?;
    cx.heap.before_store(a[0], a[1]);
    io.enc_opts = a[1];
    io.replace = (a[2].truthy(), a[3].truthy());
    io.replace_with = a[4].as_str().map(|s| s.bytes().to_vec());
    if let Some(h) = a[1].as_hash() {
        let (u, c) = (cx.sym("universal_newline"), cx.sym("crlf_newline"));
        let nl = cx.sym("newline");
        for e in h.h.iter() {
            if e.key == u && e.val.truthy() || e.key == nl && e.val.as_sym().is_some_and(|s| cx.syms.name(s) == b"universal") {
                io.universal = io.readable;
            }
            if e.key == c && e.val.truthy() || e.key == nl && e.val.as_sym().is_some_and(|s| cx.syms.name(s) == b"crlf") {
                io.crlf = io.writable;
            }
        }
    }
    Ok(Value::NIL)
}
/// __io_bom(io): skips a byte order mark and takes its encoding: the Encoding, or nil.
fn bom(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let io = io::reader(cx, a[0])?;
    while io.pending().len() < 4 && crate::io::fill::fill(cx, io)? {}
    let b = io.pending();
    let (n, e) = match b {
        [0xef, 0xbb, 0xbf, ..] => (3, EncIndex::UTF_8),
        [0xff, 0xfe, 0, 0, ..] => (4, EncIndex::UTF_32LE),
        [0, 0, 0xfe, 0xff, ..] => (4, EncIndex::UTF_32BE),
        [0xff, 0xfe, ..] => (2, EncIndex::UTF_16LE),
        [0xfe, 0xff, ..] => (2, EncIndex::UTF_16BE),
        _ => return Ok(Value::NIL),
    };
    io.consume(n);
    io.ext = Some(e);
    if io.int == Some(e) {
        io.int = None;
    }
    Ok(encoding::value(cx, e))
}

/// __io_close(io): true when it was open.
fn close(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let io = io::raw(cx, a[0])?;
    if !io.opened {
        return Err(io::io_error(cx, "uninitialized stream"));
    }
    if io.fd < 0 {
        return Ok(Value::FALSE);
    }
    let autoclose = io.autoclose;
    if io.sync {
        // What is buffered are writes that wait, and are told that the stream was closed.
        io.wbuf.clear();
        io.writers.clear();
    }
    let r = match crate::io::write::flush_io(cx, io) {
        Err(x @ (Exit::Park | Exit::Again)) => return Err(x),
        r => r,
    };
    let failed = cx.pending.call.take();
    let (fd, wfd) = (std::mem::replace(&mut io.fd, -1), std::mem::replace(&mut io.wfd, -1));
    io.wbuf = Vec::new();
    io.forget();
    let mut closed = Ok(());
    if autoclose && (fd > 2 || !io.standard) {
        closed = io::let_go(cx, fd);
    } else {
        cx.closing(fd);
    }
    if wfd >= 0 {
        closed = closed.and(io::let_go(cx, wfd));
    }
    let p = io.label();
    match (r, closed) {
        (Err(x), _) => {
            cx.pending.call = failed;
            Err(x)
        }
        (_, Ok(()) | Err(Errno::INTR)) => Ok(Value::TRUE),
        (_, Err(e)) => Err(io::fail_plain(cx, e, &p)),
    }
}
/// __io_close_half(io, write): closes one direction of a two-way stream: true when the whole is closed now.
fn close_half(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let write = a[1].truthy();
    let io = io::raw(cx, a[0])?;
    if io.fd < 0 {
        return Ok(Value::FALSE);
    }
    if io.wfd >= 0 {
        if write {
            crate::io::write::flush_io(cx, io)?;
            let fd = std::mem::replace(&mut io.wfd, -1);
            io.writable = false;
            let _ = io::let_go(cx, fd);
        } else {
            let wfd = std::mem::replace(&mut io.wfd, -1);
            let fd = std::mem::replace(&mut io.fd, wfd);
            io.readable = false;
            io.forget();
            let _ = io::let_go(cx, fd);
        }
        return Ok(Value::FALSE);
    }
    if write && io.writable && !io.readable || !write && io.readable && !io.writable {
        return Ok(Value::TRUE);
    }
    if write && !io.writable || !write && !io.readable {
        // Already closed in that direction.
        if io.pid.is_some() || is_socket(io.fd) {
            return Ok(Value::FALSE);
        }
        return Err(io::io_error(cx, if write { "closing non-duplex IO for writing" } else { "closing non-duplex IO for reading" }));
    }
    if is_socket(io.fd) {
        crate::io::write::settle(cx, io)?;
        let _ = shutdown(Fd(io.fd), if write { Shutdown::Write } else { Shutdown::Read });
        if write {
            io.writable = false;
        } else {
            io.readable = false;
        }
        return Ok(Value::FALSE);
    }
    Err(io::io_error(cx, if write { "closing non-duplex IO for writing" } else { "closing non-duplex IO for reading" }))
}
fn is_socket(fd: i32) -> bool {
    io::file_type(fd) == Ok(FileType::Socket)
}

/// __io_take_over(io, other): io's descriptor becomes a duplicate of other's (reopen).
fn take_over(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let other = io::open(cx, a[1])?;
    crate::io::write::settle(cx, other)?;
    other.unread_to_fd();
    let io = io::raw(cx, a[0])?;
    if io.fd < 0 && io.opened {
        return Err(io::io_error(cx, "closed stream"));
    }
    if io.fd >= 0 {
        crate::io::write::settle(cx, io)?;
    }
    if io.fd == other.fd {
        return Ok(a[0]);
    }
    let to = if io.fd >= 0 { io.fd } else { -1 };
    cx.closing(to);
    let fd = io::dup_to(other.fd, to).map_err(|e| io::fail_plain(cx, e, ""))?;
    io.fd = fd;
    io.forget();
    io.wbuf.clear();
    io.readable = other.readable;
    io.writable = other.writable;
    io.append = other.append;
    io.lineno = other.lineno;
    io.binmode = other.binmode;
    io.path = other.path.clone();
    io.path_enc = other.path_enc;
    io.tty = io::is_tty(fd);
    io.socket = other.socket;
    io.opened = true;
    let class = cx.real_class(a[1]).val();
    if let Some(h) = a[0].header_mut() {
        if !h.has(flag::SINGLETON) {
            cx.heap.before_store(a[0], class);
            h.set_class(class);
        }
    }
    if io.standard {
        io.sync = fd == 2;
    } else {
        io.sync = other.sync;
    }
    if io.wfd >= 0 {
        let fd = std::mem::replace(&mut io.wfd, -1);
        let _ = io::let_go(cx, fd);
    }
    if other.wfd >= 0 {
        io.wfd = io::dup_to(other.wfd, -1).unwrap_or(-1);
    }
    Ok(a[0])
}
/// __io_reopen_fd(io, fd): puts a fresh descriptor in place of the stream's own and closes the fresh one.
fn reopen_fd(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let fd = cx.arg_i64(a, 1)? as i32;
    let io = io::raw(cx, a[0])?;
    if io.fd < 0 {
        io.fd = fd;
    } else {
        crate::io::write::settle(cx, io)?;
        cx.closing(io.fd);
        let done = io::dup_to(fd, io.fd);
        let _ = io::close(fd);
        done.map_err(|e| io::fail_plain(cx, e, ""))?;
    }
    let flags = fcntl_getfl(Fd(io.fd)).unwrap_or(OFlags::all());
    io.readable = flags & OFlags::ACCMODE != OFlags::WRONLY;
    io.writable = flags & OFlags::ACCMODE != OFlags::RDONLY;
    io.append = flags.contains(OFlags::APPEND);
    io.tty = io::is_tty(io.fd);
    io.socket = is_socket(io.fd);
    io.opened = true;
    io.forget();
    io.lineno = 0;
    Ok(a[0])
}
/// __io_pipe(reader, writer): fills two fresh streams.
fn pipe(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let (r, w) = match pipe_with(PipeFlags::CLOEXEC) {
        Ok(ends) => ends,
        Err(e) => {
            retry_after_gc(cx, e)?;
            return Err(io::fail_plain(cx, e, ""));
        }
    };
    for (i, (v, end)) in a.iter().zip([r, w]).enumerate() {
        let Ok(io) = io::raw(cx, *v) else { continue };
        io.fd = end.into_raw_fd();
        io.readable = i == 0;
        io.writable = i == 1;
        io.sync = i == 1;
        io.opened = true;
    }
    Ok(Value::NIL)
}
/// __io_dup(copy, original)
fn dup(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    if a[0] == a[1] {
        return Ok(a[0]);
    }
    let old = io::open(cx, a[1])?;
    crate::io::write::settle(cx, old)?;
    old.unread_to_fd();
    let fd = io::dup_to(old.fd, -1).map_err(|e| io::fail_plain(cx, e, ""))?;
    let new = io::raw(cx, a[0])?;
    new.fd = fd;
    new.wfd = if old.wfd >= 0 { io::dup_to(old.wfd, -1).unwrap_or(-1) } else { -1 };
    new.readable = old.readable;
    new.writable = old.writable;
    new.append = old.append;
    new.sync = old.sync;
    new.tty = old.tty;
    new.socket = old.socket;
    new.binmode = old.binmode;
    new.universal = old.universal;
    new.crlf = old.crlf;
    new.ext = old.ext;
    new.int = old.int;
    cx.heap.before_store_all(a[0], &[old.enc_opts, old.timeout]);
    new.enc_opts = old.enc_opts;
    new.lineno = old.lineno;
    new.path = old.path.clone();
    new.pid = old.pid;
    new.timeout = old.timeout;
    new.limit = old.limit;
    new.opened = true;
    cx.state::<Stdio>().others = true;
    Ok(a[0])
}
/// __io_set_pid(io, pid, write descriptor or nil): makes it the stream of a child process.
fn set_pid(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let pid = cx.arg_i64(a, 1)?;
    let io = io::raw(cx, a[0])?;
    io.pid = Some(pid as i32);
    io.sync = true;
    if let Some(w) = a[2].as_fix() {
        io.wfd = w as i32;
        io.writable = true;
    }
    Ok(a[0])
}
