//! Reading blocks, bytes and characters.

use crate::io::fill::{fill, fill_most, fill_text, make_text, text, text_consume, wait};
use crate::io::{self, Errno, Fd, Io};
use kumi_text::encoding::{EncIndex, Precise};
use kumi_vm::*;
use rustix::buffer::{SpareCapacity, spare_capacity};
use rustix::fs::{FileType, fstat, tell};
use rustix::io::fcntl_dupfd_cloexec;

pub static TABLE: &[NativeDef] = &[
    n("IO", "getbyte", 0, 0, getbyte),
    n("IO", "getc", 0, 0, getc),
    n("IO", "ungetbyte", 1, 1, ungetbyte),
    n("IO", "ungetc", 1, 1, ungetc),
    n("IO", "eof?", 0, 0, eof),
    intrinsic("__io_read_all", 1, 1, read_all),
    intrinsic("__io_read", 2, 2, read_some),
    intrinsic("__io_readpartial", 3, 3, readpartial),
    intrinsic("__io_sysread", 2, 2, sysread),
    intrinsic("__io_pread", 3, 3, pread),
    intrinsic("__io_pending", 1, 1, |cx, _, a| Ok(Value::fix(io::open(cx, a[0])?.pending().len() as i64))),
];

/// __io_read_all(io): the rest as text.
fn read_all(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let io = io::reader(cx, a[0])?;
    // Files tell how much there is.
    let left = remaining(io.fd);
    if let Some(b) = read_apart(cx, io, left.unwrap_or(0))? {
        io.rbuf.extend_from_slice(&b);
    } else if let Some(n) = left {
        cx.check_size(n)?;
        if io.rbuf.try_reserve_exact(n + 1).is_err() {
            return Err(cx.no_memory("failed to allocate memory"));
        }
    }
    while fill_text(cx, io)? {}
    if io.converts() {
        let b = std::mem::take(&mut io.cbuf).split_off(io.cpos);
        io.cpos = 0;
        return Ok(make_text(cx, io, &b));
    }
    let mut b = std::mem::take(&mut io.rbuf);
    if io.rpos > 0 {
        b.drain(..io.rpos);
        io.rpos = 0;
    }
    let e = io.read_enc(cx);
    cx.heap.charge(b.len());
    Ok(cx.str_vec(b, e))
}
/// From how many bytes on a file is read off the workers.
const LARGE: usize = 1 << 20;

/// What is left of a large file, read on the pool while other threads run; `None` when it is to be read here.
fn read_apart(cx: &mut Cx, io: &Io, left: usize) -> Result<Option<Vec<u8>>, Exit> {
    if !cx.job_ready() && (left < LARGE || io.socket || !cx.others_alive()) {
        return Ok(None);
    }
    cx.check_size(left)?;
    let Ok(own) = fcntl_dupfd_cloexec(Fd(io.fd), 3) else { return Ok(None) };
    // Errors and whatever was added meanwhile are met by the reading that follows.
    cx.offload(move || {
        use std::io::Read;
        let mut b = Vec::new();
        let _ = std::fs::File::from(own).take(left as u64).read_to_end(&mut b);
        b
    })
    .map(Some)
}
fn remaining(fd: i32) -> Option<usize> {
    remaining_from(fd, tell(Fd(fd)).map_or(-1, |at| at as i64))
}
fn remaining_from(fd: i32, at: i64) -> Option<usize> {
    let st = fstat(Fd(fd)).ok().filter(|st| FileType::from_raw_mode(st.st_mode) == FileType::RegularFile)?;
    usize::try_from(st.st_size.saturating_sub(at)).ok()
}
fn byte_oriented(cx: &mut Cx, io: &Io) -> Result<(), Exit> {
    if io.cpos < io.cbuf.len() {
        return Err(io::io_error(cx, "byte oriented operation for character buffered IO"));
    }
    Ok(())
}
/// __io_read(io, n): n bytes or what is left; nil at the end.
fn read_some(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let n = cx.arg_i64(a, 1)?;
    if n < 0 {
        return Err(cx.arg_error(&format!("negative length {n} given")));
    }
    let io = io::reader(cx, a[0])?;
    byte_oriented(cx, io)?;
    if n == 0 {
        return Ok(cx.str_enc(b"", EncIndex::BINARY));
    }
    // No more than was asked for is taken from the system, so that others who share the descriptor find the rest.
    while io.pending().len() < n as usize {
        let missing = n as usize - io.pending().len();
        if !fill_most(cx, io, missing)? {
            break;
        }
    }
    let k = io.pending().len().min(n as usize);
    if k == 0 {
        return Ok(Value::NIL);
    }
    let b = io.take(k);
    cx.heap.charge(k);
    Ok(cx.str_vec(b, EncIndex::BINARY))
}
/// __io_readpartial(io, n, nonblock): at most n bytes; nil at the end, false when it would block.
fn readpartial(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let n = cx.arg_i64(a, 1)?;
    if n < 0 {
        return Err(cx.arg_error(&format!("negative length {n} given")));
    }
    let io = io::reader(cx, a[0])?;
    byte_oriented(cx, io)?;
    if n == 0 {
        return Ok(cx.str_enc(b"", EncIndex::BINARY));
    }
    if io.pending().is_empty() {
        if a[2].truthy() {
            if !io.socket {
                io::set_nonblock(io.fd, true);
            }
            if io::is_ready(io.fd, true, false) == Ok(false) {
                return Ok(Value::FALSE);
            }
        }
        if !fill_most(cx, io, n as usize)? {
            return Ok(Value::NIL);
        }
    }
    let k = io.pending().len().min(n as usize);
    let b = io.take(k);
    cx.heap.charge(k);
    Ok(cx.str_vec(b, EncIndex::BINARY))
}
/// Bytes of one call that reads at most `room`: nil when there are none.
fn read_once(cx: &mut Cx, io: &Io, room: usize, call: impl FnOnce(SpareCapacity<u8>) -> Result<usize, Errno>) -> R {
    let mut b = Vec::room(room);
    match call(spare_capacity(&mut b)) {
        Ok(0) if room > 0 => Ok(Value::NIL),
        Ok(n) => {
            cx.heap.charge(n);
            Ok(cx.str_vec(b, EncIndex::BINARY))
        }
        Err(Errno::INTR) => Err(Exit::Again),
        Err(e) => Err(io::failed(cx, io, e)),
    }
}
/// __io_sysread(io, n): one read(2); nil at the end.
fn sysread(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let n = cx.arg_i64(a, 1)?;
    if n < 0 {
        return Err(cx.arg_error(&format!("negative length {n} given")));
    }
    let io = io::reader(cx, a[0])?;
    if !io.pending().is_empty() {
        return Err(io::io_error(cx, "sysread for buffered IO"));
    }
    if n == 0 {
        return Ok(cx.str_enc(b"", EncIndex::BINARY));
    }
    cx.check_size(n as usize)?;
    if io::is_ready(io.fd, true, false) == Ok(false) {
        return Err(wait(cx, io, true, false));
    }
    cx.io_done();
    read_once(cx, io, (n as usize).min(16 << 20), |b| rustix::io::read(Fd(io.fd), b))
}
/// __io_pread(io, n, offset): nil at the end.
fn pread(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let n = cx.arg_i64(a, 1)?;
    let at = cx.arg_i64(a, 2)?;
    if n < 0 {
        return Err(cx.arg_error("negative string size (or size too big)"));
    }
    let io = io::reader(cx, a[0])?;
    cx.check_size(n as usize)?;
    // No more room than there can be bytes.
    let there = remaining_from(io.fd, at).unwrap_or(1 << 20).max(1 << 16);
    read_once(cx, io, (n as usize).min(there), |b| rustix::io::pread(Fd(io.fd), b, at as u64))
}
fn getbyte(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let io = io::reader(cx, recv)?;
    byte_oriented(cx, io)?;
    if io.pending().is_empty() && !fill(cx, io)? {
        return Ok(Value::NIL);
    }
    let c = io.pending()[0];
    io.consume(1);
    Ok(Value::fix(c as i64))
}
fn getc(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let io = io::reader(cx, recv)?;
    let enc = io.read_enc(cx);
    if text(io).is_empty() && !fill_text(cx, io)? {
        return Ok(Value::NIL);
    }
    let n = loop {
        match enc.precise_len(text(io)) {
            Precise::Found(n) => break n.max(1),
            Precise::Invalid => break 1,
            Precise::NeedMore(_) => {
                if !fill_text(cx, io)? {
                    break enc.char_len(text(io)).step().max(1);
                }
            }
        }
    };
    let b = text(io)[..n.min(text(io).len())].to_vec();
    text_consume(io, b.len());
    Ok(cx.str_enc(&b, enc))
}
fn ungetbyte(cx: &mut Cx, recv: Value, a: &[Value]) -> R {
    let io = io::reader(cx, recv)?;
    byte_oriented(cx, io)?;
    if a[0].is_nil() {
        return Ok(Value::NIL);
    }
    if a[0].is_fix() {
        io.unread(&[a[0].fix_val() as u8]);
        return Ok(Value::NIL);
    }
    if let Some(b) = a[0].as_big() {
        let low = b.n.to_string_radix(16);
        let last = low.len().saturating_sub(2);
        let mut v = u8::from_str_radix(&low[last..], 16).unwrap_or(0);
        if b.n.is_negative() {
            v = v.wrapping_neg();
        }
        io.unread(&[v]);
        return Ok(Value::NIL);
    }
    let s = cx.arg_str(a, 0)?;
    let b = s.bytes().to_vec();
    io.unread(&b);
    Ok(Value::NIL)
}
fn ungetc(cx: &mut Cx, recv: Value, a: &[Value]) -> R {
    let io = io::reader(cx, recv)?;
    let b = if a[0].is_fix() {
        let e = io.read_enc(cx);
        let mut v = Vec::new();
        let code = u32::try_from(a[0].fix_val()).ok();
        if !code.is_some_and(|c| e.push_code(&mut v, c)) {
            let n = a[0].fix_val();
            return Err(cx.range_error(&format!("{n} out of char range")));
        }
        v
    } else {
        cx.arg_str(a, 0)?.bytes().to_vec()
    };
    if io.converts() {
        let mut v = b;
        v.extend_from_slice(&io.cbuf[io.cpos..]);
        io.cbuf = v;
        io.cpos = 0;
    } else {
        io.unread(&b);
    }
    Ok(Value::NIL)
}
fn eof(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let io = io::reader(cx, recv)?;
    if !text(io).is_empty() || !io.pending().is_empty() {
        return Ok(Value::FALSE);
    }
    Ok(Value::bool(!fill(cx, io)?))
}
