//! What a stream is asked about and told: position, modes, flags, names.

use crate::io::{self, Errno, Fd, Io};
use kumi_core_string::encoding;
use kumi_text::encoding::EncIndex;
use kumi_vm::*;
use rustix::fs::{Advice, SeekFrom, fadvise, fcntl_getfl, fdatasync, fsync};
use rustix::io::{FdFlags, fcntl_dupfd_cloexec, fcntl_getfd, fcntl_setfd};
use std::num::NonZeroU64;
use std::os::fd::{AsFd, BorrowedFd};

pub static TABLE: &[NativeDef] = &[
    n("IO", "fileno", 0, 0, fileno),
    n("IO", "closed?", 0, 0, |cx, r, _| {
        let io = io::raw(cx, r)?;
        if !io.opened {
            return Err(io::io_error(cx, "uninitialized stream"));
        }
        Ok(Value::bool(io.fd < 0))
    }),
    n("IO", "tty?", 0, 0, |cx, r, _| Ok(Value::bool(io::is_tty(io::open(cx, r)?.fd)))),
    n("IO", "sync", 0, 0, |cx, r, _| Ok(Value::bool(io::open(cx, r)?.sync))),
    n("IO", "sync=", 1, 1, set_sync),
    n("IO", "lineno", 0, 0, |cx, r, _| Ok(Value::fix(io::reader(cx, r)?.lineno))),
    n("IO", "lineno=", 1, 1, set_lineno),
    n("IO", "pos", 0, 0, pos),
    n("IO", "pid", 0, 0, |cx, r, _| Ok(io::open(cx, r)?.pid.map_or(Value::NIL, |p| Value::fix(p as i64)))),
    n("IO", "binmode", 0, 0, binmode),
    n("IO", "binmode?", 0, 0, |cx, r, _| Ok(Value::bool(io::open(cx, r)?.binmode))),
    n("IO", "autoclose?", 0, 0, |cx, r, _| Ok(Value::bool(io::open(cx, r)?.autoclose))),
    n("IO", "autoclose=", 1, 1, |cx, r, a| {
        io::open(cx, r)?.autoclose = a[0].truthy();
        Ok(a[0])
    }),
    n("IO", "close_on_exec?", 0, 0, |cx, r, _| {
        // What is not open is closed.
        Ok(Value::bool(fcntl_getfd(Fd(io::open(cx, r)?.fd)).map_or(true, |flags| flags.contains(FdFlags::CLOEXEC))))
    }),
    n("IO", "close_on_exec=", 1, 1, |cx, r, a| {
        let io = io::open(cx, r)?;
        for fd in [io.fd, io.wfd] {
            if fd >= 0 {
                let _ = fcntl_setfd(Fd(fd), if a[0].truthy() { FdFlags::CLOEXEC } else { FdFlags::empty() });
            }
        }
        Ok(a[0])
    }),
    n("IO", "external_encoding", 0, 0, external),
    n("IO", "internal_encoding", 0, 0, internal),
    n("IO", "to_io", 0, 0, |_, r, _| Ok(r)),
    n("IO", "path", 0, 0, path),
    n("IO", "timeout", 0, 0, |cx, r, _| Ok(io::raw(cx, r)?.timeout)),
    n("IO", "fsync", 0, 0, |cx, r, _| sync(cx, r, false)),
    n("IO", "fdatasync", 0, 0, |cx, r, _| sync(cx, r, true)),
    // __io_set_timeout(io, seconds or nil, nanoseconds)
    intrinsic("__io_set_timeout", 3, 3, |cx, _, a| {
        let io = io::raw(cx, a[0])?;
        cx.heap.before_store(a[0], a[1]);
        io.timeout = a[1];
        io.limit = if a[1].is_nil() { None } else { Some(a[2].as_fix().map_or(u64::MAX, |n| n.max(0) as u64)) };
        Ok(a[1])
    }),
    intrinsic("__io_seek", 3, 3, seek),
    intrinsic("__io_sysseek", 3, 3, sysseek),
    intrinsic("__io_fcntl", 3, 3, fcntl),
    intrinsic("__io_ioctl", 3, 3, ioctl),
    intrinsic("__io_label", 1, 1, label),
    intrinsic("__io_check_readable", 1, 1, |cx, _, a| io::reader(cx, a[0]).map(|_| Value::NIL)),
    intrinsic("__io_check_writable", 1, 1, |cx, _, a| io::writer(cx, a[0]).map(|_| Value::NIL)),
    intrinsic("__io_check_open", 1, 1, |cx, _, a| io::open(cx, a[0]).map(|_| Value::NIL)),
    intrinsic("__io_readable", 1, 1, |cx, _, a| Ok(Value::bool(io::open(cx, a[0])?.readable))),
    // __io_flags(io): the system's status flags of its descriptor, nil when it has none.
    intrinsic("__io_flags", 1, 1, |cx, _, a| {
        Ok(fcntl_getfl(Fd(io::raw(cx, a[0])?.fd)).map_or(Value::NIL, |flags| Value::fix(flags.bits() as i64)))
    }),
    intrinsic("__fadvise", 4, 4, advise),
];

fn fileno(cx: &mut Cx, r: Value, _: &[Value]) -> R {
    Ok(Value::fix(io::open(cx, r)?.fd as i64))
}
fn set_sync(cx: &mut Cx, r: Value, a: &[Value]) -> R {
    let io = io::open(cx, r)?;
    io.sync = a[0].truthy();
    if io.sync {
        crate::io::write::flush_io(cx, io)?;
    }
    Ok(a[0])
}
fn set_lineno(cx: &mut Cx, r: Value, a: &[Value]) -> R {
    let io = io::reader(cx, r)?;
    if a[0].is_nil() {
        return Err(cx.type_error("no implicit conversion of nil into Integer"));
    }
    io.lineno = cx.arg_c_int(a, 0)? as i64;
    Ok(a[0])
}
fn pos(cx: &mut Cx, r: Value, _: &[Value]) -> R {
    let io = io::open(cx, r)?;
    if !io.is_plain() {
        crate::io::write::settle(cx, io)?;
    }
    if let Err(e) = io.flush() {
        return Err(io::failed(cx, io, e));
    }
    let at = lseek(io, 0, libc::SEEK_CUR).map_err(|e| not_moved(cx, io, e))?;
    Ok(Value::fix((at - io.pending().len() as i64).max(0)))
}
/// Moves the descriptor: its new place.
fn lseek(io: &Io, offset: i64, whence: i32) -> Result<i64, Errno> {
    let to = match whence {
        libc::SEEK_SET => SeekFrom::Start(offset as u64),
        libc::SEEK_CUR => SeekFrom::Current(offset),
        libc::SEEK_END => SeekFrom::End(offset),
        libc::SEEK_DATA => SeekFrom::Data(offset as u64),
        libc::SEEK_HOLE => SeekFrom::Hole(offset as u64),
        _ => return Err(Errno::INVAL),
    };
    rustix::fs::seek(Fd(io.fd), to).map(|at| at as i64)
}
fn not_moved(cx: &mut Cx, io: &Io, e: Errno) -> Exit {
    if io.path.is_some() { io::failed(cx, io, e) } else { io::fail_plain(cx, e, "") }
}
/// __io_seek(io, offset, whence number)
fn seek(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let off = cx.arg_i64(a, 1)?;
    let whence = cx.arg_i64(a, 2)? as i32;
    let io = io::open(cx, a[0])?;
    if !io.is_plain() {
        crate::io::write::settle(cx, io)?;
    }
    if let Err(e) = io.flush() {
        return Err(io::failed(cx, io, e));
    }
    let off = if whence == libc::SEEK_CUR { off.wrapping_sub(io.pending().len() as i64) } else { off };
    let at = lseek(io, off, whence).map_err(|e| not_moved(cx, io, e))?;
    io.forget();
    Ok(Value::fix(at))
}
fn sysseek(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let off = cx.arg_i64(a, 1)?;
    let whence = cx.arg_i64(a, 2)? as i32;
    let io = io::open(cx, a[0])?;
    if !io.pending().is_empty() && io.readable {
        return Err(io::io_error(cx, "sysseek for buffered IO"));
    }
    if !io.wbuf.is_empty() {
        let _ = io.flush();
    }
    lseek(io, off, whence).map(Value::fix).map_err(|e| io::failed(cx, io, e))
}
fn binmode(cx: &mut Cx, r: Value, _: &[Value]) -> R {
    let io = io::open(cx, r)?;
    io.binmode = true;
    io.universal = false;
    io.crlf = false;
    io.ext = Some(EncIndex::BINARY);
    io.int = None;
    io.conv = None;
    if io.cpos < io.cbuf.len() {
        let b = io.cbuf.split_off(io.cpos);
        io.cbuf.clear();
        io.cpos = 0;
        io.unread(&b);
    }
    Ok(r)
}
fn external(cx: &mut Cx, r: Value, _: &[Value]) -> R {
    let io = io::raw(cx, r)?;
    match io.ext {
        Some(e) => Ok(encoding::value(cx, e)),
        None if io.writable => Ok(Value::NIL),
        None => {
            let e = encoding::external(cx);
            Ok(encoding::value(cx, e))
        }
    }
}
fn internal(cx: &mut Cx, r: Value, _: &[Value]) -> R {
    match io::raw(cx, r)?.int {
        Some(e) => Ok(encoding::value(cx, e)),
        None => Ok(Value::NIL),
    }
}
fn path(cx: &mut Cx, r: Value, _: &[Value]) -> R {
    let io = io::raw(cx, r)?;
    if !io.opened {
        return Err(io::io_error(cx, "uninitialized stream"));
    }
    match io.path.clone() {
        Some(p) => Ok(cx.str_enc(&p, io.path_enc)),
        None => Ok(Value::NIL),
    }
}
/// __io_label(io): what stands in inspect: "fd 5", "path", "path (closed)", nil before it is opened.
fn label(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let io = io::raw(cx, a[0])?;
    if !io.opened {
        return Ok(Value::NIL);
    }
    let s = match (&io.path, io.fd) {
        (Some(p), -1) => format!("{} (closed)", String::from_utf8_lossy(p)),
        (Some(p), _) => String::from_utf8_lossy(p).into_owned(),
        (None, -1) => "(closed)".into(),
        (None, fd) => format!("fd {fd}"),
    };
    Ok(cx.str(&s))
}
fn sync(cx: &mut Cx, r: Value, data: bool) -> R {
    let io = io::open(cx, r)?;
    if let Err(e) = io.flush() {
        return Err(io::failed(cx, io, e));
    }
    let call = move |fd: BorrowedFd| if data { fdatasync(fd) } else { fsync(fd) };
    let fd = Fd(io.out_fd());
    let r = match fcntl_dupfd_cloexec(fd, 3).ok().filter(|_| cx.others_alive() || cx.job_ready()) {
        // The disk may take its time.
        Some(own) => cx.offload(move || call(own.as_fd()))?,
        None => call(fd.as_fd()),
    };
    r.map(|()| Value::fix(0)).map_err(|e| io::failed(cx, io, e))
}
/// __io_fcntl(io, command, integer)
fn fcntl(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let (c, x) = (cx.arg_i64(a, 1)?, cx.arg_i64(a, 2)?);
    let io = io::open(cx, a[0])?;
    // SAFETY: only integers are passed; commands that take pointers get an address the kernel checks.
    let r = unsafe { libc::fcntl(io.fd, c as i32, x) };
    io::result(r).map(|r| Value::fix(r as i64)).map_err(|e| io::failed(cx, io, e))
}
/// __io_ioctl(io, request, integer or string buffer)
fn ioctl(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let req = cx.arg_i64(a, 1)?;
    let io = io::open(cx, a[0])?;
    // The kernel may write more than the string has: a copy with slack takes it.
    let text = a[2].as_str();
    let mut b = text.map_or(Vec::new(), |s| s.bytes().to_vec());
    let n = b.len();
    b.resize(n.max(4096), 0);
    let x = if text.is_some() { b.as_mut_ptr().expose_provenance() as i64 } else { cx.arg_i64(a, 2)? };
    // SAFETY: an integer, or a buffer that is writable and larger than any standard request's argument.
    let r = io::result(unsafe { libc::ioctl(io.fd, req as libc::c_ulong, x) }).map_err(|e| io::failed(cx, io, e))?;
    if let Some(s) = text {
        cx.heap.edit(s).buf.assign(&b[..n]);
        s.changed();
    }
    Ok(Value::fix(r as i64))
}
/// __fadvise(io, offset, length, advice number)
fn advise(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let (o, l, w) = (cx.arg_i64(a, 1)?, cx.arg_i64(a, 2)?, cx.arg_i64(a, 3)?);
    let io = io::open(cx, a[0])?;
    let advices = [Advice::Normal, Advice::Random, Advice::Sequential, Advice::WillNeed, Advice::DontNeed, Advice::NoReuse];
    if let Some(advice) = usize::try_from(w).ok().and_then(|w| advices.get(w)) {
        let _ = fadvise(Fd(io.fd), o as u64, NonZeroU64::new(l as u64), *advice);
    }
    Ok(Value::NIL)
}
