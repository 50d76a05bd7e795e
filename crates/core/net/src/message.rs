//! Messages: send, recv, sendmsg, recvmsg, with control messages (passed descriptors, packet information).
//!
//! Calls never block in the system (MSG_DONTWAIT); a socket that is not ready parks the
//! task, unless the caller asked not to wait: then the answer is false.

use crate::address::{ROOM, arg_address_opt, bytes_of};
use crate::option::int_option;
use crate::{bytes, fail};
use kumi_core_system::io::{self, Errno, Fd, Io, errno};
use kumi_core_system::wait;
use kumi_vm::*;
use rustix::io::retry_on_intr;
use rustix::net::{self, RecvFlags, SendFlags};
use std::mem::{offset_of, size_of};
use std::ptr::null_mut;

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
    let flags = SendFlags::from_bits_retain(cx.arg_c_int(a, 2)? as u32) | SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
    let to = arg_address_opt(cx, a, 3)?;
    let io = io::open(cx, a[0])?;
    let r = retry_on_intr(|| match &to {
        Some(to) => net::sendto(Fd(io.fd), data.bytes(), flags, to),
        None => net::send(Fd(io.fd), data.bytes(), flags),
    });
    sent(cx, io, r, a[4], if to.is_some() { "sendto(2)" } else { "send(2)" })
}
/// What follows from a call that sends.
fn sent(cx: &mut Cx, io: &Io, r: Result<usize, Errno>, nonblock: Value, call: &str) -> R {
    match r {
        Ok(n) => {
            cx.io_done();
            Ok(Value::fix(n as i64))
        }
        Err(Errno::AGAIN) => not_ready(cx, io, false, nonblock),
        Err(e) => Err(fail(cx, e, call)),
    }
}

/// __sock_recv(socket, length, flags, nonblock): [data, address or nil]; nil at the end of a stream.
fn recv(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let len = cx.arg_i64(a, 1)?;
    let flags = RecvFlags::from_bits_retain(cx.arg_c_int(a, 2)? as u32) | RecvFlags::DONTWAIT;
    let Ok(len) = usize::try_from(len) else {
        return Err(cx.arg_error("negative string size (or size too big)"));
    };
    cx.check_size(len)?;
    let io = io::open(cx, a[0])?;
    unbuffered(cx, io, "recv")?;
    let mut b = vec![0u8; len.min(MOST)];
    match retry_on_intr(|| net::recvfrom(Fd(io.fd), &mut b[..], flags)) {
        Ok((_, n, from)) => {
            cx.io_done();
            if n == 0 && len > 0 && ends_with_nothing(io.fd) {
                return Ok(Value::NIL);
            }
            b.truncate(n);
            cx.heap.charge(b.len());
            let data = cx.str_vec(b, EncIndex::BINARY);
            // The sender, when the system names one.
            let from = from.map_or(Value::NIL, |from| bytes(cx, bytes_of(&from)));
            Ok(cx.array(&[data, from]))
        }
        Err(Errno::AGAIN) => not_ready(cx, io, true, a[3]),
        Err(e) => Err(fail(cx, e, "recvfrom(2)")),
    }
}

const HEADER: usize = size_of::<libc::cmsghdr>();
const LEVEL: usize = offset_of!(libc::cmsghdr, cmsg_level);
const TYPE: usize = offset_of!(libc::cmsghdr, cmsg_type);
const fn aligned(n: usize) -> usize {
    n.next_multiple_of(size_of::<usize>())
}

/// Control messages (level, type, data) as the system has them: each with a header, `struct cmsghdr`.
fn pack(messages: &[(i32, i32, Vec<u8>)]) -> Vec<u8> {
    let mut out = Vec::new();
    for (level, kind, data) in messages {
        let at = out.len();
        out.resize(at + aligned(HEADER), 0);
        out[at..at + size_of::<usize>()].copy_from_slice(&(aligned(HEADER) + data.len()).to_ne_bytes());
        out[at + LEVEL..at + LEVEL + 4].copy_from_slice(&level.to_ne_bytes());
        out[at + TYPE..at + TYPE + 4].copy_from_slice(&kind.to_ne_bytes());
        out.extend_from_slice(data);
        out.resize(aligned(out.len()), 0);
    }
    out
}
/// The control messages in these bytes.
fn unpack(mut rest: &[u8]) -> Vec<(i32, i32, &[u8])> {
    let mut out = Vec::new();
    while rest.len() >= aligned(HEADER) {
        let int = |at: usize| i32::from_ne_bytes([rest[at], rest[at + 1], rest[at + 2], rest[at + 3]]);
        let whole = rest.first_chunk().map_or(0, |len| usize::from_ne_bytes(*len));
        if whole < aligned(HEADER) {
            break;
        }
        // A message that was cut off has what is there.
        out.push((int(LEVEL), int(TYPE), &rest[aligned(HEADER)..whole.min(rest.len())]));
        let Some(next) = whole.checked_next_multiple_of(size_of::<usize>()).and_then(|n| rest.get(n..)) else { break };
        rest = next;
    }
    out
}
/// What names an address, a buffer and control messages for the system.
fn header(address: (*mut u8, usize), iov: &mut libc::iovec, control: (*mut u8, usize)) -> libc::msghdr {
    // SAFETY: all zeros is a valid msghdr: null pointers and no lengths.
    let mut h: libc::msghdr = unsafe { std::mem::zeroed() };
    h.msg_name = address.0.cast();
    h.msg_namelen = address.1 as _;
    h.msg_iov = iov;
    h.msg_iovlen = 1;
    h.msg_control = control.0.cast();
    h.msg_controllen = control.1 as _;
    h
}

/// __sock_sendmsg(socket, data, flags, address or nil, [level, type, data, ...], nonblock): bytes sent.
fn sendmsg(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let data = cx.arg_str(a, 1)?;
    let flags = cx.arg_c_int(a, 2)? | libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
    let to = arg_address_opt(cx, a, 3)?;
    let list = cx.arg_array(a, 4)?.seen().to_vec();
    let mut messages = Vec::new();
    for m in list.chunks_exact(3) {
        messages.push((cx.arg_c_int(m, 0)?, cx.arg_c_int(m, 1)?, cx.arg_str(m, 2)?.bytes().to_vec()));
    }
    let io = io::open(cx, a[0])?;
    let control = pack(&messages);
    let mut iov = libc::iovec { iov_base: data.bytes().as_ptr().cast_mut().cast(), iov_len: data.bytes().len() };
    let part = |b: &[u8]| if b.is_empty() { (null_mut(), 0) } else { (b.as_ptr().cast_mut(), b.len()) };
    let h = header(part(to.as_ref().map_or(&[], bytes_of)), &mut iov, part(&control));
    // SAFETY: everything the header points to is alive and has the lengths it tells; sendmsg only reads.
    let r = retry_on_intr(|| usize::try_from(unsafe { libc::sendmsg(io.fd, &h, flags) }).map_err(|_| errno()));
    sent(cx, io, r, a[5], "sendmsg(2)")
}

/// What one recvmsg gave: how many bytes, the sender's address, control messages, flags.
type Received<'a> = (usize, Vec<u8>, &'a [u8], i32);

fn receive<'a>(fd: i32, b: &mut [u8], control: &'a mut [u8], flags: i32) -> Result<Received<'a>, Errno> {
    let mut from = vec![0; ROOM];
    let mut iov = libc::iovec { iov_base: b.as_mut_ptr().cast(), iov_len: b.len() };
    let mut h = header((from.as_mut_ptr(), ROOM), &mut iov, (control.as_mut_ptr(), control.len()));
    // SAFETY: everything the header points to is alive, writable, and has the lengths it tells.
    let n = unsafe { libc::recvmsg(fd, &mut h, flags | libc::MSG_DONTWAIT | libc::MSG_CMSG_CLOEXEC) };
    from.truncate(h.msg_namelen as usize);
    #[allow(clippy::unnecessary_cast)]
    let used = control.len().min(h.msg_controllen as usize);
    usize::try_from(n).map(|n| (n, from, &control[..used], h.msg_flags)).map_err(|_| errno())
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
    let mut b = vec![0u8; len];
    let failed = |cx: &mut Cx, e: Errno| match e {
        Errno::INTR => Err(Exit::Again),
        Errno::AGAIN => not_ready(cx, io, true, a[5]),
        e => Err(fail(cx, e, "recvmsg(2)")),
    };
    if a[1].is_nil() {
        // Looking first tells how much there is; without room for control messages no descriptor is made.
        loop {
            match receive(fd, &mut b, &mut [], flags | libc::MSG_PEEK) {
                Ok((n, _, _, f)) if (n == b.len() || f & libc::MSG_TRUNC != 0) && b.len() < MOST => {
                    let more = b.len() * 2;
                    b.resize(more, 0);
                }
                Ok(_) => break,
                Err(e) => return failed(cx, e),
            }
        }
    }
    let mut control = vec![0; control_len];
    let (n, from, control, got_flags) = match receive(fd, &mut b, &mut control, flags) {
        Ok(r) => r,
        Err(e) => return failed(cx, e),
    };
    cx.io_done();
    let mut messages = Vec::new();
    for (level, kind, data) in unpack(control) {
        if level == libc::SOL_SOCKET && kind == libc::SCM_RIGHTS && !a[4].truthy() {
            for fd in data.chunks_exact(4) {
                let _ = io::close(i32::from_ne_bytes([fd[0], fd[1], fd[2], fd[3]]));
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
    let from = if from.is_empty() { Value::NIL } else { bytes(cx, &from) };
    let messages = cx.array_vec(messages);
    Ok(cx.array(&[data, from, Value::fix((got_flags & !libc::MSG_CMSG_CLOEXEC) as i64), messages]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_messages_come_back() {
        let b = pack(&[(1, 2, vec![1, 2, 3, 4]), (3, 4, vec![]), (5, 6, vec![9; 12])]);
        assert_eq!(unpack(&b), [(1, 2, &[1, 2, 3, 4][..]), (3, 4, &[][..]), (5, 6, &[9; 12][..])]);
    }
    #[test]
    fn broken_control_messages_end() {
        let mut b = [0; 64];
        assert!(unpack(&b).is_empty());
        b[..8].copy_from_slice(&u64::MAX.to_ne_bytes());
        assert_eq!(unpack(&b).len(), 1);
        assert!(unpack(&b[..7]).is_empty());
    }
}
