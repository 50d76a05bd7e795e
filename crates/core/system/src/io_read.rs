//! Reading: filling the buffer, lines, characters, blocks.
//!
//! Bytes come in through [`fill`]. Text that needs conversion (newlines, another
//! internal encoding) goes on into `cbuf`; text operations look at [`text`], which is
//! whichever of the two holds characters. A native that has to wait has consumed
//! nothing yet, so that it can run again from its start.

use crate::io::{self, Io};
use crate::stdio::Stdio;
use kumi_text::encoding::{EncIndex, Precise};
use kumi_text::transcode::{Converter, Newline, Options, Step};
use kumi_vm::*;

pub static TABLE: &[NativeDef] = &[
    n("IO", "gets", 0, -1, gets),
    n("IO", "getbyte", 0, 0, getbyte),
    n("IO", "getc", 0, 0, getc),
    n("IO", "ungetbyte", 1, 1, ungetbyte),
    n("IO", "ungetc", 1, 1, ungetc),
    n("IO", "eof?", 0, 0, eof),
    intrinsic("__io_gets", 4, 4, line),
    intrinsic("__io_read_all", 1, 1, read_all),
    intrinsic("__io_read", 2, 2, read_some),
    intrinsic("__io_readpartial", 3, 3, readpartial),
    intrinsic("__io_sysread", 2, 2, sysread),
    intrinsic("__io_pread", 3, 3, pread),
    intrinsic("__io_pending", 1, 1, |cx, _, a| Ok(Value::fix(io::open(cx, a[0])?.pending().len() as i64))),
];

/// Ends the native until `fd` is ready; it then runs again.
pub fn wait(cx: &mut Cx, fd: i32, read: bool, write: bool) -> Exit {
    if read {
        // What the user should see before answering.
        if let Some(out) = cx.state::<Stdio>().original_stdout.and_then(|v| v.as_data::<Io>()) {
            if out.tty {
                let _ = out.flush();
            }
        }
    }
    cx.park_io(fd, read, write)
}

/// Reads once into the buffer: false at the end of the file.
pub fn fill(cx: &mut Cx, io: &mut Io) -> Result<bool, Exit> {
    fill_most(cx, io, usize::MAX)
}
/// Reads once, at most `most` bytes.
fn fill_most(cx: &mut Cx, io: &mut Io, most: usize) -> Result<bool, Exit> {
    if io.rpos > 0 {
        io.rbuf.drain(..io.rpos);
        io.rpos = 0;
    }
    let at = io.rbuf.len();
    loop {
        if !io.is_plain() && matches!(io::poll_fd(io.fd, true, false, 0), Ok(false)) {
            return Err(wait(cx, io.fd, true, false));
        }
        io.rbuf.reserve((16 << 10).max(at.min(1 << 20)).min(most));
        let room = (io.rbuf.capacity() - at).min(most);
        // SAFETY: `room` bytes behind `at` are allocated; they become part of the vector only when written.
        let n = unsafe { libc::read(io.fd, io.rbuf.as_mut_ptr().add(at).cast(), room) };
        if n >= 0 {
            // SAFETY: the system wrote n bytes there.
            unsafe { io.rbuf.set_len(at + n as usize) };
            return Ok(n > 0);
        }
        match io::errno() {
            libc::EINTR => {
                return Err(Exit::Again);
            }
            libc::EAGAIN => return Err(wait(cx, io.fd, true, false)),
            // The master side of a terminal whose other end is closed.
            libc::EIO if io::is_tty(io.fd) => return Ok(false),
            e => {
                let p = io.path.clone().unwrap_or_default();
                return Err(if p.is_empty() { io::fail_plain(cx, e, "") } else { io::fail(cx, e, "io_fread", &p) });
            }
        }
    }
}

/// The characters at hand.
fn text(io: &Io) -> &[u8] {
    if io.converts() { &io.cbuf[io.cpos..] } else { io.pending() }
}
fn text_consume(io: &mut Io, n: usize) {
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
fn fill_text(cx: &mut Cx, io: &mut Io) -> Result<bool, Exit> {
    if !io.converts() {
        return fill(cx, io);
    }
    loop {
        let end = io.pending().is_empty() && !fill(cx, io)?;
        let had = io.cbuf.len();
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

fn make_text(cx: &mut Cx, io: &Io, b: &[u8]) -> Value {
    let e = io.read_enc(cx);
    cx.heap.charge(b.len());
    cx.str_enc(b, e)
}

/// The next line as bytes: `sep` empty means paragraphs, `None` the rest of the file.
fn next_line(cx: &mut Cx, io: &mut Io, sep: Option<&[u8]>, limit: Option<usize>, chomp: bool) -> Result<Option<Vec<u8>>, Exit> {
    if limit == Some(0) {
        return Ok(Some(Vec::new()));
    }
    let paragraph = sep.is_some_and(|s| s.is_empty());
    if paragraph {
        loop {
            if text(io).is_empty() && !fill_text(cx, io)? {
                return Ok(None);
            }
            let t = text(io);
            let k = t.iter().take_while(|c| **c == b'\n').count();
            let rest = t.len() > k;
            text_consume(io, k);
            if rest {
                break;
            }
        }
    }
    let sep: Option<&[u8]> = if paragraph { Some(b"\n\n") } else { sep };
    let mut from = 0;
    let enc = io.read_enc(cx);
    loop {
        let t = text(io);
        let found = match sep {
            Some(s) if s.len() == 1 => memchr::memchr(s[0], &t[from..]).map(|p| from + p + 1),
            Some(s) => memchr::memmem::find(&t[from..], s).map(|p| from + p + s.len()),
            None => None,
        };
        let capped = limit.filter(|l| found.is_none_or(|f| f > *l) && t.len() >= *l);
        if let Some(l) = capped {
            // A character that the limit cuts is taken whole.
            let Some(end) = whole_chars(enc, t, l) else {
                if fill_text(cx, io)? {
                    continue;
                }
                let t = text(io).to_vec();
                text_consume(io, t.len());
                return Ok(Some(t));
            };
            let mut v = t[..end].to_vec();
            text_consume(io, end);
            if chomp && sep.is_some_and(|s| v.ends_with(s)) {
                cut_separator(&mut v, sep.unwrap_or(b""));
            }
            return Ok(Some(v));
        }
        if let Some(end) = found {
            let mut v = t[..end].to_vec();
            if paragraph {
                // Further empty lines belong to the separator.
                let mut k = end;
                loop {
                    let t = text(io);
                    while t.get(k) == Some(&b'\n') {
                        k += 1;
                    }
                    if k < t.len() || !fill_text(cx, io)? {
                        break;
                    }
                }
                text_consume(io, k);
            } else {
                text_consume(io, end);
            }
            if chomp {
                cut_separator(&mut v, sep.unwrap_or(b""));
            }
            return Ok(Some(v));
        }
        from = t.len().saturating_sub(sep.map_or(0, |s| s.len() - 1));
        if !fill_text(cx, io)? {
            let v = text(io).to_vec();
            if v.is_empty() {
                return Ok(None);
            }
            text_consume(io, v.len());
            return Ok(Some(v));
        }
    }
}
fn cut_separator(v: &mut Vec<u8>, sep: &[u8]) {
    v.truncate(v.len() - sep.len());
    if sep == b"\n" && v.last() == Some(&b'\r') {
        v.pop();
    }
}
/// Where the character that byte `l` is in ends; `None` when it is not all there yet.
fn whole_chars(enc: EncIndex, t: &[u8], l: usize) -> Option<usize> {
    if enc.is_single_byte() {
        return Some(l);
    }
    // Only the neighbourhood of the limit matters in encodings whose characters can be found backwards.
    let mut at = if enc.is_utf8() {
        let mut k = l;
        while k > 0 && l - k < 4 && t.get(k).is_some_and(|c| c & 0xc0 == 0x80) {
            k -= 1;
        }
        if k == l {
            return Some(l);
        }
        k
    } else {
        0
    };
    while at < l {
        match enc.precise_len(&t[at..]) {
            Precise::Found(n) => at += n.max(1),
            Precise::Invalid => at += 1,
            Precise::NeedMore(_) => return None,
        }
    }
    Some(at)
}

fn count_line(cx: &mut Cx, io: &mut Io) {
    io.lineno += 1;
    cx.state::<Stdio>().lineno = io.lineno;
}

/// IO#gets without arguments; with them the prelude sorts them out.
fn gets(cx: &mut Cx, recv: Value, a: &[Value]) -> R {
    if !a.is_empty() {
        return Err(Exit::Miss);
    }
    let rs = cx.state::<Stdio>().rs;
    let sep = rs.and_then(|v| v.as_str());
    let io = io::reader(cx, recv)?;
    let enc = io.read_enc(cx);
    if !enc.is_ascii_compatible() {
        return Err(Exit::Miss);
    }
    let l = next_line(cx, io, sep.as_ref().map(|s| s.bytes()), None, false)?;
    let v = match l {
        Some(b) => {
            count_line(cx, io);
            make_text(cx, io, &b)
        }
        None => Value::NIL,
    };
    cx.set_global("$_", v);
    Ok(v)
}
/// __io_gets(io, separator or nil, limit or nil, chomp)
fn line(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let sep = if a[1].is_nil() { None } else { Some(cx.arg_str(a, 1)?) };
    let limit = if a[2].is_nil() { None } else { usize::try_from(cx.arg_i64(a, 2)?).ok() };
    let io = io::reader(cx, a[0])?;
    // "\n" in a wide encoding is written as that encoding has it.
    let enc = io.read_enc(cx);
    let mut wide = Vec::new();
    let bytes = match &sep {
        Some(s) if !enc.is_ascii_compatible() && s.bytes().is_ascii() => {
            for c in s.bytes() {
                enc.push_code(&mut wide, *c as u32);
            }
            Some(&wide[..])
        }
        Some(s) => Some(s.bytes()),
        None => None,
    };
    let zero = limit == Some(0);
    let Some(b) = next_line(cx, io, bytes, limit, a[3].truthy())? else { return Ok(Value::NIL) };
    if !zero {
        count_line(cx, io);
    }
    Ok(make_text(cx, io, &b))
}

/// __io_read_all(io): the rest as text.
fn read_all(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let io = io::reader(cx, a[0])?;
    // Files tell how much there is.
    if let Some(n) = remaining(io.fd) {
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
fn remaining(fd: i32) -> Option<usize> {
    // SAFETY: touches no memory.
    let at = unsafe { libc::lseek(fd, 0, libc::SEEK_CUR) };
    remaining_from(fd, at)
}
fn remaining_from(fd: i32, at: i64) -> Option<usize> {
    // SAFETY: a zeroed stat is a valid value to write into.
    let mut st: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: st is writable; lseek touches no memory.
    unsafe {
        if libc::fstat(fd, &mut st) != 0 || st.st_mode & libc::S_IFMT != libc::S_IFREG {
            return None;
        }
        usize::try_from(st.st_size.saturating_sub(at)).ok()
    }
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
            set_nonblock(io.fd);
            if matches!(io::poll_fd(io.fd, true, false, 0), Ok(false)) {
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
/// Turns O_NONBLOCK on.
pub fn set_nonblock(fd: i32) {
    // SAFETY: touches no memory.
    unsafe {
        let f = libc::fcntl(fd, libc::F_GETFL);
        if f >= 0 && f & libc::O_NONBLOCK == 0 {
            libc::fcntl(fd, libc::F_SETFL, f | libc::O_NONBLOCK);
        }
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
    loop {
        if matches!(io::poll_fd(io.fd, true, false, 0), Ok(false)) {
            return Err(wait(cx, io.fd, true, false));
        }
        let mut b = vec![0u8; (n as usize).min(16 << 20)];
        // SAFETY: the vector is writable for its length.
        let k = unsafe { libc::read(io.fd, b.as_mut_ptr().cast(), b.len()) };
        if k == 0 {
            return Ok(Value::NIL);
        }
        if k > 0 {
            b.truncate(k as usize);
            cx.heap.charge(b.len());
            return Ok(cx.str_vec(b, EncIndex::BINARY));
        }
        match io::errno() {
            libc::EINTR => {}
            e => {
                let l = io.label();
                return Err(io::fail_plain(cx, e, &l));
            }
        }
    }
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
    let mut b = vec![0u8; (n as usize).min(there)];
    loop {
        // SAFETY: the vector is writable for its length.
        let k = unsafe { libc::pread(io.fd, b.as_mut_ptr().cast(), b.len(), at) };
        if k >= 0 {
            if k == 0 && n > 0 {
                return Ok(Value::NIL);
            }
            b.truncate(k as usize);
            return Ok(cx.str_vec(b, EncIndex::BINARY));
        }
        match io::errno() {
            libc::EINTR => {}
            e => {
                let l = io.label();
                return Err(io::fail_plain(cx, e, &l));
            }
        }
    }
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
