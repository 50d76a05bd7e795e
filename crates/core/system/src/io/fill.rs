//! Filling: bytes from the system into the buffer, and on into text.
//!
//! Bytes come in through [`fill`]. Text that needs conversion (newlines, another
//! internal encoding) goes on into `cbuf`; text operations look at [`text`], which is
//! whichever of the two holds characters. A native that has to wait has consumed
//! nothing yet, so that it can run again from its start.

use crate::io::stdio::Stdio;
use crate::io::{self, Errno, Fd, Io};
use kumi_text::encoding::EncIndex;
use kumi_text::transcode::{Converter, Newline, Options, Step};
use kumi_vm::*;
use rustix::net::{RecvFlags, recv};

/// Ends the native until the stream is ready; it then runs again. A stream with a timeout raises IO::TimeoutError
/// when it was not ready for so long.
pub fn wait(cx: &mut Cx, io: &Io, read: bool, write: bool) -> Exit {
    if read {
        // What the user should see before answering.
        let out = cx.state::<Stdio>().original_stdout;
        if let Some(v) = out.filter(|v| v.as_data::<Io>().is_some() && v.try_lock()) {
            if let Some(out) = super::stream(v).filter(|o| o.tty) {
                let _ = out.flush();
            }
            v.unlock();
        }
    }
    let fd = if write { io.out_fd() } else { io.fd };
    cx.park_io_within(fd, read, write, io.limit.unwrap_or(u64::MAX)).unwrap_or_else(|| cx.call_helper("io_timeout", &[]))
}

/// Reads once into the buffer: false at the end of the file.
pub fn fill(cx: &mut Cx, io: &mut Io) -> Result<bool, Exit> {
    fill_most(cx, io, usize::MAX)
}
/// Reads once, at most `most` bytes.
pub fn fill_most(cx: &mut Cx, io: &mut Io, most: usize) -> Result<bool, Exit> {
    if io.rpos > 0 {
        io.rbuf.drain(..io.rpos);
        io.rpos = 0;
    }
    let at = io.rbuf.len();
    if !io.socket && !io.is_plain() && io::is_ready(io.fd, true, false) == Ok(false) {
        return Err(wait(cx, io, true, false));
    }
    io.rbuf.want((16 << 10).max(at.min(1 << 20)).min(most));
    let room = (io.rbuf.capacity() - at).min(most);
    let to = &mut io.rbuf.spare_capacity_mut()[..room];
    let r = match io.socket {
        true => recv(Fd(io.fd), to, RecvFlags::DONTWAIT).map(|r| r.0.0.len()),
        false => rustix::io::read(Fd(io.fd), to).map(|r| r.0.len()),
    };
    match r {
        Ok(n) => {
            // SAFETY: the system wrote n bytes there.
            unsafe { io.rbuf.set_len(at + n) };
            cx.io_done();
            Ok(n > 0)
        }
        Err(Errno::INTR) => Err(Exit::Again),
        Err(Errno::AGAIN) => Err(wait(cx, io, true, false)),
        // The master side of a terminal whose other end is closed.
        Err(Errno::IO) if io::is_tty(io.fd) => Ok(false),
        Err(e) => {
            let p = io.path.clone().unwrap_or_default();
            Err(if p.is_empty() { io::fail_plain(cx, e, "") } else { io::fail(cx, e, "io_fread", &p) })
        }
    }
}

/// The characters at hand.
pub fn text(io: &Io) -> &[u8] {
    if io.converts() { &io.cbuf[io.cpos..] } else { io.pending() }
}
pub fn text_consume(io: &mut Io, n: usize) {
    if io.converts() {
        io.cpos += n;
        if io.cpos >= io.cbuf.len() {
            io.cbuf.clear();
            io.cpos = 0;
        }
    } else {
        io.consume(n);
    }
}
/// More characters: false at the end.
pub fn fill_text(cx: &mut Cx, io: &mut Io) -> Result<bool, Exit> {
    if !io.converts() {
        return fill(cx, io);
    }
    loop {
        let end = io.pending().is_empty() && !fill(cx, io)?;
        let had = io.cbuf.len();
        // A byte becomes four at most, as far as anybody knows; what needs more has room to grow here again.
        io.cbuf.want(io.pending().len().saturating_mul(if io.int.is_some() { 4 } else { 1 }) + 1);
        let src = io.take(io.pending().len());
        convert(cx, io, &src, end)?;
        if io.cbuf.len() > had {
            return Ok(true);
        }
        if end {
            return Ok(false);
        }
    }
}
fn convert(cx: &mut Cx, io: &mut Io, src: &[u8], end: bool) -> Result<(), Exit> {
    let Some(to) = io.int else {
        // Newlines only.
        for &c in src {
            if io.pending_cr {
                io.pending_cr = false;
                if c == b'\n' {
                    io.cbuf.push(b'\n');
                    continue;
                }
                io.cbuf.push(b'\n');
            }
            if c == b'\r' {
                io.pending_cr = true;
            } else {
                io.cbuf.push(c);
            }
        }
        if end && io.pending_cr {
            io.pending_cr = false;
            io.cbuf.push(b'\n');
        }
        return Ok(());
    };
    let from = io.ext.unwrap_or_else(|| kumi_core_string::encoding::external(cx));
    if io.conv.is_none() {
        let opts = Options {
            newline: if io.universal { Newline::Universal } else { Newline::Keep },
            invalid_replace: io.replace.0,
            undef_replace: io.replace.1,
            replacement: io.replace_with.clone().map(|b| (b, EncIndex::UTF_8)),
            ..Options::default()
        };
        match Converter::new(from, to, opts) {
            Ok(c) => io.conv = Some(Box::new(c)),
            Err(_) => {
                let msg = format!("code converter not found ({} to {})", from.name(), to.name());
                return Err(cx.raise_msg(cx.k.converter_not_found_error, &msg));
            }
        }
    }
    let mut pos = 0;
    let Some(mut conv) = io.conv.take() else { return Ok(()) };
    let step = conv.step(src, &mut pos, &mut io.cbuf, None, !end);
    if end {
        io.conv = None;
    } else {
        io.conv = Some(conv);
    }
    if let Step::Problem(p) = step {
        io.unread(&src[pos..]);
        let class = if p.class_name().starts_with("Und") { cx.k.undefined_conversion_error } else { cx.k.invalid_byte_sequence_error };
        return Err(cx.raise_msg(class, &p.message));
    }
    Ok(())
}

pub fn make_text(cx: &mut Cx, io: &Io, b: &[u8]) -> Value {
    let e = io.read_enc(cx);
    cx.heap.charge(b.len());
    cx.str_enc(b, e)
}
