//! Writing: `write`, `print`, `puts`, `p` for plain values.
//!
//! Text is put together in one buffer and handed over at once, so that lines of
//! parallel threads do not mix. Anything whose `to_s` is not the runtime's own is
//! left to the prelude, before a single byte is written.

use crate::io::stdio;
use crate::io::{self, Errno, Fd, Io};
use kumi_core_string::encoding;
use kumi_text::encoding::EncIndex;
use kumi_text::transcode;
use kumi_vm::*;
use rustix::fs::{OFlags, fcntl_getfl};
use rustix::io::retry_on_intr;

pub static TABLE: &[NativeDef] = &[
    n("IO", "write", 0, -1, write).guard(Guard::Objects),
    n("IO", "print", 1, -1, print),
    n("IO", "puts", 0, -1, puts),
    n("IO", "<<", 1, 1, append).guard(Guard::Objects),
    n("IO", "flush", 0, 0, flush).guard(Guard::Objects),
    private("Kernel", "puts", 0, -1, kernel_puts).guard(Guard::None),
    private("Kernel", "print", 1, -1, kernel_print).guard(Guard::None),
    private("Kernel", "p", 0, -1, kernel_p).guard(Guard::None),
    n("Kernel.", "puts", 0, -1, kernel_puts).guard(Guard::None),
    n("Kernel.", "print", 1, -1, kernel_print).guard(Guard::None),
    n("Kernel.", "p", 0, -1, kernel_p).guard(Guard::None),
    intrinsic("__io_write", 2, 2, raw_write),
    intrinsic("__io_recode", 2, 2, recode_to),
    intrinsic("__io_syswrite", 2, 2, syswrite),
    intrinsic("__io_pwrite", 3, 3, pwrite),
    intrinsic("__io_try_write", 2, 2, try_write),
    // Bytes of threads that wait to write are on their way, not forgotten in the buffer.
    intrinsic("__io_unflushed", 1, 1, |cx, _, a| {
        let io = io::open(cx, a[0])?;
        Ok(Value::fix(if io.writers.is_empty() { io.wbuf.len() as i64 } else { 0 }))
    }),
    intrinsic("__io_enc_opts", 1, 1, |cx, _, a| Ok(io::raw(cx, a[0])?.enc_opts)),
];

/// Appends `v.to_s` when that is the runtime's own; strings in the encoding of the stream.
fn plain_text(cx: &mut Cx, io: &Io, v: Value, out: &mut Vec<u8>) -> Option<()> {
    if let Some(s) = v.as_str() {
        return string_bytes(io, s, out);
    }
    if !cx.builtin(v, sym::TO_S) {
        return None;
    }
    if v.is_fix() {
        let n = v.fix_val();
        if (0..10).contains(&n) {
            out.push(b'0' + n as u8);
        } else {
            use std::io::Write;
            let _ = write!(out, "{n}");
        }
        return Some(());
    }
    match v {
        Value::NIL => {}
        Value::TRUE => out.extend_from_slice(b"true"),
        Value::FALSE => out.extend_from_slice(b"false"),
        _ => {
            if let Some(s) = v.as_sym() {
                out.extend_from_slice(cx.syms.name(s));
            } else if let Some(f) = v.as_float() {
                kumi_num::float::write_to_s(out, f);
            } else if let Some(b) = v.as_big() {
                out.extend_from_slice(b.n.to_string_radix(10).as_bytes());
            } else {
                return None;
            }
        }
    }
    Some(())
}

/// Bytes of a string as the stream wants them; `None` when they must be converted, which the prelude does.
fn string_bytes(io: &Io, s: Gc<StrObj>, out: &mut Vec<u8>) -> Option<()> {
    if needs_conversion(io, s) {
        let to = io.ext?;
        let from = EncIndex::from_u8(s.enc());
        if !io.enc_opts.is_nil() {
            return None;
        }
        let b = transcode::encode(s.bytes(), from, to, Default::default()).ok()?;
        crlf(io, &b, out);
        return Some(());
    }
    crlf(io, s.bytes(), out);
    Some(())
}
fn crlf(io: &Io, b: &[u8], out: &mut Vec<u8>) {
    if !io.crlf {
        out.extend_from_slice(b);
        return;
    }
    for &c in b {
        if c == b'\n' {
            out.push(b'\r');
        }
        out.push(c);
    }
}
fn needs_conversion(io: &Io, s: Gc<StrObj>) -> bool {
    let Some(to) = io.ext else { return false };
    let from = EncIndex::from_u8(s.enc());
    if from == to || to == EncIndex::BINARY {
        return false;
    }
    !(to.is_ascii_compatible() && from.is_ascii_compatible() && s.bytes().is_ascii())
}

/// Hands bytes to the stream. When there is no room the task parks with its bytes in the buffer, and the
/// native that called goes on here when it runs again.
pub fn put(cx: &mut Cx, io: &mut Io, b: &[u8]) -> Result<(), Exit> {
    if !io.rbuf.is_empty() && io.wfd < 0 {
        io.unread_to_fd();
    }
    let small = !io.sync && io.writers.is_empty() && io.wbuf.len() + b.len() <= io::BUFFER;
    if small && !(io.tty && memchr::memrchr(b'\n', b).is_some()) {
        io.wbuf.extend_from_slice(b);
        return Ok(());
    }
    if io.is_plain() {
        let r = io.put(b);
        return done(cx, io, r);
    }
    let me = (cx.task.id(), kumi_text::hash_bytes(cx.hash_seed, b));
    match io.writers.iter().position(|w| *w == me) {
        Some(i) => {
            io.writers.swap_remove(i);
        }
        None => io.wbuf.extend_from_slice(b),
    }
    flush_io(cx, io).inspect_err(|x| match x {
        Exit::Park => {
            cx.state::<stdio::Stdio>().waited = true;
            io.writers.push(me);
        }
        // What an unbuffered stream could not write is not tried again.
        _ if io.sync => io.wbuf.clear(),
        _ => {}
    })
}
/// Writes out what is buffered; parks when the other end takes no more.
pub fn flush_io(cx: &mut Cx, io: &mut Io) -> Result<(), Exit> {
    if io.is_plain() {
        let r = io.flush();
        return done(cx, io, r);
    }
    let b = std::mem::take(&mut io.wbuf);
    let mut at = 0;
    let r = loop {
        if at == b.len() {
            break Ok(());
        }
        match io.write_now(&b[at..]) {
            Ok(n) => at += n,
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                io.wbuf = b[at..].to_vec();
                return Err(crate::io::fill::wait(cx, io, false, true));
            }
            Err(e) => break Err(e),
        }
    };
    if r.is_err() {
        io.wbuf = b[at..].to_vec();
    }
    done(cx, io, r)
}
/// Writes out what is buffered before something else happens to the stream; parks, but an error is nobody's.
pub fn settle(cx: &mut Cx, io: &mut Io) -> Result<(), Exit> {
    match flush_io(cx, io) {
        Err(x @ (Exit::Park | Exit::Again)) => Err(x),
        Err(_) => {
            cx.pending.call = None;
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}
fn done(cx: &mut Cx, io: &mut Io, r: Result<(), Errno>) -> Result<(), Exit> {
    cx.io_done();
    match r {
        Ok(()) => Ok(()),
        Err(e) => {
            let p = io.path.clone().unwrap_or_default();
            if e == Errno::PIPE && io.fd == 1 {
                // As the system would have done it to a program that did not ask.
                return Err(cx.call_helper("raise_sigpipe", &[]));
            }
            Err(if p.is_empty() { io::fail_plain(cx, e, "") } else { io::fail(cx, e, "io_write", &p) })
        }
    }
}

fn write(cx: &mut Cx, recv: Value, a: &[Value]) -> R {
    if a.is_empty() {
        return Ok(Value::fix(0));
    }
    if a.iter().all(|v| v.as_str().is_some_and(|s| s.bytes().is_empty())) {
        io::open(cx, recv)?;
        return Ok(Value::fix(0));
    }
    let io = io::writer(cx, recv)?;
    if let [v] = a {
        if let Some(s) = v.as_str() {
            if !io.crlf && !needs_conversion(io, s) {
                let n = s.bytes().len();
                put(cx, io, s.bytes())?;
                return Ok(Value::fix(n as i64));
            }
        }
    }
    let mut out = Vec::new();
    for &v in a {
        plain_text(cx, io, v, &mut out).ok_or(Exit::Miss)?;
    }
    put(cx, io, &out)?;
    Ok(Value::fix(out.len() as i64))
}
/// __io_write(io, string): the bytes as they are, but for newlines.
fn raw_write(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let s = cx.arg_str(a, 1)?;
    let io = io::writer(cx, a[0])?;
    if io.crlf {
        let mut out = Vec::new();
        crlf(io, s.bytes(), &mut out);
        put(cx, io, &out)?;
        return Ok(Value::fix(out.len() as i64));
    }
    put(cx, io, s.bytes())?;
    Ok(Value::fix(s.bytes().len() as i64))
}
/// __io_recode(io, string): the encoding a string must be converted to before it is written, or nil.
fn recode_to(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let s = cx.arg_str(a, 1)?;
    let io = io::writer(cx, a[0])?;
    Ok(match io.ext {
        Some(e) if needs_conversion(io, s) => encoding::value(cx, e),
        _ => Value::NIL,
    })
}
fn append(cx: &mut Cx, recv: Value, a: &[Value]) -> R {
    if recv.as_data::<Io>().is_none() || !cx.builtin(recv, sym::WRITE) {
        return Err(Exit::Miss);
    }
    write(cx, recv, a)?;
    Ok(recv)
}
fn flush(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let io = io::open(cx, recv)?;
    flush_io(cx, io)?;
    Ok(recv)
}

fn puts_one(cx: &mut Cx, io: &Io, v: Value, out: &mut Vec<u8>, depth: u32) -> Option<()> {
    if let Some(a) = v.as_array() {
        if depth > kumi_vm::plain::DEPTH {
            return None;
        }
        for i in 0..a.len() {
            puts_one(cx, io, a.get(i)?, out, depth + 1)?;
        }
        return Some(());
    }
    let from = out.len();
    plain_text(cx, io, v, out)?;
    if out.len() == from || out.last() != Some(&b'\n') {
        crlf(io, b"\n", out);
    }
    Some(())
}
fn puts(cx: &mut Cx, recv: Value, a: &[Value]) -> R {
    if recv.as_data::<Io>().is_none() || !cx.builtin(recv, sym::WRITE) {
        return Err(Exit::Miss);
    }
    let io = io::writer(cx, recv)?;
    // A wide encoding needs its own newline.
    if io.ext.is_some_and(|e| !e.is_ascii_compatible()) {
        return Err(Exit::Miss);
    }
    let mut out = Vec::new();
    if a.is_empty() {
        crlf(io, b"\n", &mut out);
    }
    for &v in a {
        puts_one(cx, io, v, &mut out, 0).ok_or(Exit::Miss)?;
    }
    put(cx, io, &out)?;
    Ok(Value::NIL)
}
fn print(cx: &mut Cx, recv: Value, a: &[Value]) -> R {
    if recv.as_data::<Io>().is_none() || !cx.builtin(recv, sym::WRITE) {
        return Err(Exit::Miss);
    }
    let (ofs, ors) = {
        let s = cx.state::<stdio::Stdio>();
        (s.ofs, s.ors)
    };
    if ofs.is_some() && a.len() > 1 && cx.options.warn_deprecated.load(std::sync::atomic::Ordering::Relaxed) {
        // The twin tells that it is there.
        return Err(Exit::Miss);
    }
    let io = io::writer(cx, recv)?;
    let mut out = Vec::new();
    for (i, &v) in a.iter().enumerate() {
        if let (Some(o), true) = (ofs, i > 0) {
            plain_text(cx, io, o, &mut out).ok_or(Exit::Miss)?;
        }
        plain_text(cx, io, v, &mut out).ok_or(Exit::Miss)?;
    }
    if let Some(o) = ors {
        plain_text(cx, io, o, &mut out).ok_or(Exit::Miss)?;
    }
    put(cx, io, &out)?;
    Ok(Value::NIL)
}

/// `$stdout`, when its `mid` is the runtime's own.
fn plain_stdout(cx: &mut Cx, mid: Sym) -> Result<Value, Exit> {
    let v = stdio::stdout(cx);
    if v.as_data::<Io>().is_some() && cx.builtin(v, mid) { Ok(v) } else { Err(Exit::Miss) }
}
// These lock what they write to by themselves: it is no argument.
fn kernel_puts(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let v = plain_stdout(cx, sym::PUTS)?;
    let _l = cx.lock_objects(v, a);
    puts(cx, v, a)
}
fn kernel_print(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let v = plain_stdout(cx, sym::PRINT)?;
    let _l = cx.lock_objects(v, a);
    print(cx, v, a)
}
fn kernel_p(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let v = plain_stdout(cx, sym::WRITE)?;
    let _l = cx.lock_objects(v, a);
    let io = io::writer(cx, v)?;
    let e = encoding::inspect_encoding(cx);
    if !e.is_ascii_compatible() || io.crlf {
        return Err(Exit::Miss);
    }
    let mut out = Vec::new();
    for &x in a {
        cx.plain_inspect(x, &mut out, 0).ok_or(Exit::Miss)?;
        out.push(b'\n');
    }
    // `p` is for looking at things: they are there at once.
    let sync = std::mem::replace(&mut io.sync, true);
    let done = put(cx, io, &out);
    io.sync = sync;
    done?;
    match a {
        [] => Ok(Value::NIL),
        [x] => Ok(*x),
        _ => Ok(cx.array(a)),
    }
}

/// __io_syswrite(io, string): one write(2), past the buffer.
fn syswrite(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let s = cx.arg_str(a, 1)?;
    let io = io::writer(cx, a[0])?;
    io.unread_to_fd();
    let refuses = fcntl_getfl(Fd(io.out_fd())).is_ok_and(|flags| flags.contains(OFlags::NONBLOCK));
    if !io.is_plain() && !refuses {
        // A pipe may be full: the task waits, not the worker.
        let sync = std::mem::replace(&mut io.sync, true);
        let r = put(cx, io, s.bytes());
        io.sync = sync;
        return r.map(|_| Value::fix(s.bytes().len() as i64));
    }
    let _ = io.flush();
    let r = retry_on_intr(|| rustix::io::write(Fd(io.out_fd()), s.bytes()));
    written(cx, io, r)
}
fn written(cx: &mut Cx, io: &Io, r: Result<usize, Errno>) -> R {
    r.map(|n| Value::fix(n as i64)).map_err(|e| io::failed(cx, io, e))
}
/// __io_pwrite(io, string, offset)
fn pwrite(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let s = cx.arg_str(a, 1)?;
    let at = cx.arg_i64(a, 2)?;
    let io = io::writer(cx, a[0])?;
    let r = retry_on_intr(|| rustix::io::pwrite(Fd(io.out_fd()), s.bytes(), at as u64));
    written(cx, io, r)
}
/// __io_try_write(io, string): bytes written without blocking, or nil when that would block.
fn try_write(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let s = cx.arg_str(a, 1)?;
    let io = io::writer(cx, a[0])?;
    io.unread_to_fd();
    if !io.wbuf.is_empty() && !io.is_plain() {
        // Another thread waits to write: not this one.
        match flush_io(cx, io) {
            Err(Exit::Park) => {
                cx.pending.io.clear();
                return Ok(Value::NIL);
            }
            r => r?,
        }
    } else if let Err(e) = io.flush() {
        return Err(io::failed(cx, io, e));
    }
    let fd = io.out_fd();
    let r = if io.socket {
        io.write_now(s.bytes())
    } else {
        io::set_nonblock(fd, true);
        rustix::io::write(Fd(fd), s.bytes())
    };
    match r {
        Err(Errno::INTR) => Err(Exit::Again),
        Err(Errno::AGAIN) => Ok(Value::NIL),
        Err(e) if io.socket => Err(io::fail_plain(cx, e, "")),
        r => written(cx, io, r),
    }
}
