//! Messages: send, recv, sendmsg, recvmsg, with control messages (passed descriptors, packet information).
//!
//! Calls never block in the system (MSG_DONTWAIT); a socket that is not ready parks the
//! task, unless the caller asked not to wait: then the answer is false.

use crate::address::{Address, arg_address_opt};
use crate::option::int_option;
use crate::{bytes, fail};
use kumi_core_system::io::{self, Io, errno};
use kumi_core_system::wait;
use kumi_vm::*;
use std::mem::{size_of, zeroed};

pub static TABLE: &[NativeDef] = &[
    intrinsic("__sock_send", 5, 5, send),
    intrinsic("__sock_recv", 4, 4, recv),
    intrinsic("__sock_sendmsg", 6, 6, sendmsg),
    intrinsic("__sock_recvmsg", 6, 6, recvmsg),
];

/// Most bytes received at once, whatever was asked for.
const MOST: usize = 16 << 20;
/// First guess at the length of a message of unknown length.
const GUESS: usize = 4096;
/// Room for control messages: more than the most descriptors that can be passed at once (253).
const CONTROL: usize = 4096;

/// What follows from a call that failed with EAGAIN.
fn not_ready(cx: &mut Cx, io: &Io, read: bool, nonblock: Value) -> R {
    if nonblock.truthy() { Ok(Value::FALSE) } else { Err(wait(cx, io, read, !read)) }
}
/// Has the stream no message boundaries, so that nothing received means its end?
fn ends_with_nothing(fd: i32) -> bool {
    int_option(fd, libc::SO_TYPE) != Ok(libc::SOCK_DGRAM)
}
fn unbuffered(cx: &mut Cx, io: &Io, call: &str) -> Result<(), Exit> {
    if io.pending().is_empty() { Ok(()) } else { Err(io::io_error(cx, &format!("{call} for buffered IO"))) }
}

/// __sock_send(socket, data, flags, address or nil, nonblock): bytes sent.
fn send(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let data = cx.arg_str(a, 1)?;
    let flags = cx.arg_c_int(a, 2)? | libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
    let to = arg_address_opt(cx, a, 3)?;
    let io = io::open(cx, a[0])?;
    let fd = io.fd;
    loop {
        let b = data.bytes();
        // SAFETY: data and address are readable for their lengths.
        let n = unsafe {
            match &to {
                Some(to) => libc::sendto(fd, b.as_ptr().cast(), b.len(), flags, to.ptr(), to.len),
                None => libc::send(fd, b.as_ptr().cast(), b.len(), flags),
            }
        };
        if n >= 0 {
            cx.io_done();
            return Ok(Value::fix(n as i64));
        }
        match errno() {
            libc::EINTR => {}
            libc::EAGAIN => return not_ready(cx, io, false, a[4]),
            e => return Err(fail(cx, e, if to.is_some() { "sendto(2)" } else { "send(2)" })),
        }
    }
}

/// __sock_recv(socket, length, flags, nonblock): [data, address or nil]; nil at the end of a stream.
fn recv(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let len = cx.arg_i64(a, 1)?;
    let flags = cx.arg_c_int(a, 2)? | libc::MSG_DONTWAIT;
    let Ok(len) = usize::try_from(len) else {
        return Err(cx.arg_error("negative string size (or size too big)"));
    };
    cx.check_size(len)?;
    let io = io::open(cx, a[0])?;
    unbuffered(cx, io, "recv")?;
    let fd = io.fd;
    let mut b = vec![0u8; len.min(MOST)];
    loop {
        let mut from = Address::empty();
        // SAFETY: buffer and address are writable for their lengths.
        let n = unsafe { libc::recvfrom(fd, b.as_mut_ptr().cast(), b.len(), flags, from.ptr_mut(), &mut from.len) };
        if n >= 0 {
            cx.io_done();
            if n == 0 && len > 0 && ends_with_nothing(fd) {
                return Ok(Value::NIL);
            }
            b.truncate(n as usize);
            cx.heap.charge(b.len());
            let data = cx.str_vec(b, EncIndex::BINARY);
            let from = from_value(cx, &from);
            return Ok(cx.array(&[data, from]));
        }
        match errno() {
            libc::EINTR => {}
            libc::EAGAIN => return not_ready(cx, io, true, a[3]),
            e => return Err(fail(cx, e, "recvfrom(2)")),
        }
    }
}
/// The sender of a message: nil when the system did not name one.
fn from_value(cx: &mut Cx, from: &Address) -> Value {
    if from.len == 0 { Value::NIL } else { bytes(cx, from.bytes()) }
}

/// Bytes of control messages, aligned as their headers must be.
struct Control(Vec<u64>);

const HEADER: usize = size_of::<libc::cmsghdr>();
const fn aligned(n: usize) -> usize {
    n.next_multiple_of(size_of::<usize>())
}

impl Control {
    fn room(n: usize) -> Control {
        Control(vec![0; n.div_ceil(8)])
    }
    fn bytes(&self) -> &[u8] {
        // SAFETY: any u64 is eight bytes.
        unsafe { std::slice::from_raw_parts(self.0.as_ptr().cast(), self.0.len() * 8) }
    }
    fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: any eight bytes are a u64.
        unsafe { std::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), self.0.len() * 8) }
    }
    /// Of messages (level, type, data).
    fn pack(messages: &[(i32, i32, Vec<u8>)]) -> (Control, usize) {
        let len = messages.iter().map(|m| aligned(aligned(HEADER) + m.2.len())).sum();
        let mut c = Control::room(len);
        let mut at = 0;
        for (level, kind, data) in messages {
            // SAFETY: all zeros is a valid header.
            let mut h: libc::cmsghdr = unsafe { zeroed() };
            let whole = aligned(HEADER) + data.len();
            h.cmsg_len = whole as _;
            h.cmsg_level = *level;
            h.cmsg_type = *kind;
            let b = &mut c.bytes_mut()[at..];
            // SAFETY: a header is plain numbers: its bytes may be copied.
            let head = unsafe { std::slice::from_raw_parts((&raw const h).cast::<u8>(), HEADER) };
            b[..HEADER].copy_from_slice(head);
            b[aligned(HEADER)..whole].copy_from_slice(data);
            at += aligned(whole);
        }
        (c, len)
    }
    /// The messages in the first `len` bytes.
    fn unpack(&self, len: usize) -> Vec<(i32, i32, &[u8])> {
        let all = &self.bytes()[..len.min(self.0.len() * 8)];
        let mut out = Vec::new();
        let mut at = 0;
        while let Some(b) = all.get(at..).filter(|b| b.len() >= aligned(HEADER)) {
            // SAFETY: HEADER bytes are there, and any bytes are a header.
            let h: libc::cmsghdr = unsafe { std::ptr::read_unaligned(b.as_ptr().cast()) };
            #[allow(clippy::unnecessary_cast)]
            let whole = h.cmsg_len as usize;
            if whole < aligned(HEADER) {
                break;
            }
            // A message that was cut off has what is there.
            out.push((h.cmsg_level, h.cmsg_type, &b[aligned(HEADER)..whole.min(b.len())]));
            let Some(next) = at.checked_add(whole).and_then(|n| n.checked_next_multiple_of(size_of::<usize>())) else { break };
            at = next;
        }
        out
    }
}

/// __sock_sendmsg(socket, data, flags, address or nil, [level, type, data, ...], nonblock): bytes sent.
fn sendmsg(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let data = cx.arg_str(a, 1)?;
    let flags = cx.arg_c_int(a, 2)? | libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
    let mut to = arg_address_opt(cx, a, 3)?;
    let list = cx.arg_array(a, 4)?.seen().to_vec();
    let mut messages = Vec::new();
    for m in list.chunks_exact(3) {
        messages.push((cx.arg_c_int(m, 0)?, cx.arg_c_int(m, 1)?, cx.arg_str(m, 2)?.bytes().to_vec()));
    }
    let io = io::open(cx, a[0])?;
    let fd = io.fd;
    let (mut control, control_len) = Control::pack(&messages);
    let mut iov = libc::iovec { iov_base: data.bytes().as_ptr().cast_mut().cast(), iov_len: data.bytes().len() };
    // SAFETY: all zeros is a valid msghdr: null pointers and no lengths.
    let mut h: libc::msghdr = unsafe { zeroed() };
    if let Some(to) = &mut to {
        h.msg_name = to.ptr_mut().cast();
        h.msg_namelen = to.len;
    }
    h.msg_iov = &mut iov;
    h.msg_iovlen = 1;
    if control_len > 0 {
        h.msg_control = control.bytes_mut().as_mut_ptr().cast();
        h.msg_controllen = control_len as _;
    }
    loop {
        // SAFETY: everything the header points to is alive and has the lengths it tells; sendmsg only reads.
        let n = unsafe { libc::sendmsg(fd, &h, flags) };
        if n >= 0 {
            cx.io_done();
            return Ok(Value::fix(n as i64));
        }
        match errno() {
            libc::EINTR => {}
            libc::EAGAIN => return not_ready(cx, io, false, a[5]),
            e => return Err(fail(cx, e, "sendmsg(2)")),
        }
    }
}

/// One recvmsg: bytes received, length of the control messages, flags.
fn receive(
    fd: i32,
    b: &mut [u8],
    from: &mut Address,
    control: Option<&mut Control>,
    control_len: usize,
    flags: i32,
) -> Result<(usize, usize, i32), i32> {
    let mut iov = libc::iovec { iov_base: b.as_mut_ptr().cast(), iov_len: b.len() };
    // SAFETY: all zeros is a valid msghdr.
    let mut h: libc::msghdr = unsafe { zeroed() };
    *from = Address::empty();
    h.msg_name = from.ptr_mut().cast();
    h.msg_namelen = from.len;
    h.msg_iov = &mut iov;
    h.msg_iovlen = 1;
    if let Some(c) = control {
        h.msg_controllen = control_len.min(c.0.len() * 8) as _;
        h.msg_control = c.bytes_mut().as_mut_ptr().cast();
    }
    // SAFETY: everything the header points to is alive, writable, and has the lengths it tells.
    let n = unsafe { libc::recvmsg(fd, &mut h, flags | libc::MSG_DONTWAIT | libc::MSG_CMSG_CLOEXEC) };
    if n < 0 {
        return Err(errno());
    }
    from.len = h.msg_namelen.min(Address::ROOM as libc::socklen_t);
    #[allow(clippy::unnecessary_cast)]
    Ok((n as usize, h.msg_controllen as usize, h.msg_flags))
}

/// __sock_recvmsg(socket, length or nil, flags, control length or nil, keep descriptors, nonblock):
/// [data, address or nil, flags, [level, type, data, ...]]; nil at the end of a stream. Passed descriptors that
/// are not to be kept are closed.
fn recvmsg(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let flags = cx.arg_c_int(a, 2)?;
    let mut len = GUESS;
    if !a[1].is_nil() {
        let n = cx.arg_i64(a, 1)?;
        let Ok(n) = usize::try_from(n) else {
            return Err(cx.arg_error("negative string size (or size too big)"));
        };
        cx.check_size(n)?;
        len = n.min(MOST);
    }
    let control_len = if a[3].is_nil() { CONTROL as i64 } else { cx.arg_i64(a, 3)? };
    let control_len = usize::try_from(control_len).unwrap_or(0).min(MOST);
    let io = io::open(cx, a[0])?;
    unbuffered(cx, io, "recvmsg")?;
    let fd = io.fd;
    let mut from = Address::empty();
    let mut b = vec![0u8; len];
    let failed = |cx: &mut Cx, e: i32| match e {
        libc::EINTR => Err(Exit::Again),
        libc::EAGAIN => not_ready(cx, io, true, a[5]),
        e => Err(fail(cx, e, "recvmsg(2)")),
    };
    if a[1].is_nil() {
        // Looking first tells how much there is; without room for control messages no descriptor is made.
        loop {
            match receive(fd, &mut b, &mut from, None, 0, flags | libc::MSG_PEEK) {
                Ok((n, _, f)) if (n == b.len() || f & libc::MSG_TRUNC != 0) && b.len() < MOST => {
                    let more = b.len() * 2;
                    b.resize(more, 0);
                }
                Ok(_) => break,
                Err(e) => return failed(cx, e),
            }
        }
    }
    let mut control = Control::room(control_len);
    let (n, control_len, got_flags) = match receive(fd, &mut b, &mut from, Some(&mut control), control_len, flags) {
        Ok(r) => r,
        Err(e) => return failed(cx, e),
    };
    cx.io_done();
    let mut messages = Vec::new();
    for (level, kind, data) in control.unpack(control_len) {
        if level == libc::SOL_SOCKET && kind == libc::SCM_RIGHTS && !a[4].truthy() {
            for fd in data.chunks_exact(4) {
                io::close_fd(i32::from_ne_bytes([fd[0], fd[1], fd[2], fd[3]]));
            }
        }
        messages.push(Value::fix(level as i64));
        messages.push(Value::fix(kind as i64));
        messages.push(bytes(cx, data));
    }
    if n == 0 && messages.is_empty() && len > 0 && ends_with_nothing(fd) {
        return Ok(Value::NIL);
    }
    b.truncate(n);
    cx.heap.charge(b.len());
    let data = cx.str_vec(b, EncIndex::BINARY);
    let from = from_value(cx, &from);
    let messages = cx.array_vec(messages);
    Ok(cx.array(&[data, from, Value::fix((got_flags & !libc::MSG_CMSG_CLOEXEC) as i64), messages]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_messages_come_back() {
        let (c, len) = Control::pack(&[(1, 2, vec![1, 2, 3, 4]), (3, 4, vec![]), (5, 6, vec![9; 12])]);
        assert_eq!(c.unpack(len), [(1, 2, &[1, 2, 3, 4][..]), (3, 4, &[][..]), (5, 6, &[9; 12][..])]);
    }
    #[test]
    fn broken_control_messages_end() {
        let mut c = Control::room(64);
        assert!(c.unpack(64).is_empty());
        assert!(c.unpack(1000).is_empty());
        c.bytes_mut()[..8].copy_from_slice(&u64::MAX.to_ne_bytes());
        assert_eq!(c.unpack(64).len(), 1);
        assert!(c.unpack(7).is_empty());
    }
}
