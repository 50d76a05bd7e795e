//! Sockets from their making to their connection: socket, bind, listen, connect, accept, shutdown.
//!
//! Every descriptor made here is closed on exec and does not block.

use crate::address;
use crate::option::int_option;
use crate::{bytes, fail};
use kumi_core_system::io::{self, Errno, Fd, Io};
use kumi_core_system::retry_after_gc;
use kumi_vm::*;
use rustix::net::{self, AddressFamily, Protocol, Shutdown, SocketFlags, SocketType};
use std::num::NonZeroU32;
use std::os::fd::IntoRawFd;

pub static TABLE: &[NativeDef] = &[
    intrinsic("__sock_socket", 4, 4, socket),
    intrinsic("__sock_pair", 5, 5, pair),
    intrinsic("__sock_adopt", 2, 2, adopt_fd),
    intrinsic("__sock_bind", 2, 2, bind),
    intrinsic("__sock_listen", 2, 2, listen),
    intrinsic("__sock_connect", 2, 2, connect),
    intrinsic("__sock_accept", 3, 3, accept),
    intrinsic("__sock_shutdown", 2, 2, shutdown),
    intrinsic("__sock_name", 2, 2, name),
    intrinsic("__sock_wait", 4, 4, wait),
    intrinsic("__sock_type", 1, 1, |cx, _, a| {
        let fd = io::open(cx, a[0])?.fd;
        match int_option(fd, libc::SO_TYPE) {
            Ok(n) => Ok(Value::fix(n as i64)),
            Err(e) => Err(fail(cx, e, "getsockopt(SO_TYPE)")),
        }
    }),
];

/// Makes `v` the stream of the socket `fd`.
fn adopt(cx: &mut Cx, v: Value, fd: i32) -> Result<(), Exit> {
    let io = match io::raw(cx, v) {
        Ok(io) => io,
        Err(e) => {
            let _ = io::close(fd);
            return Err(e);
        }
    };
    let mut fresh = Io::default();
    fresh.fd = fd;
    fresh.readable = true;
    fresh.writable = true;
    fresh.sync = true;
    fresh.binmode = true;
    fresh.ext = Some(EncIndex::BINARY);
    fresh.opened = true;
    fresh.plain = Some(false);
    fresh.socket = true;
    if io.fd >= 0 && io.autoclose {
        cx.closing(io.fd);
    }
    // What was there is dropped, and so closed.
    *io = fresh;
    cx.heap.charge(256);
    Ok(())
}
/// The result of a call that makes a descriptor.
fn made<T>(cx: &mut Cx, r: Result<T, Errno>, call: &str) -> Result<T, Exit> {
    r.or_else(|e| {
        retry_after_gc(cx, e)?;
        Err(fail(cx, e, call))
    })
}
/// What sockets are made with: closed on exec, and not blocking.
const FLAGS: SocketFlags = SocketFlags::CLOEXEC.union(SocketFlags::NONBLOCK);

/// Domain, type and protocol, from argument `i` on. A domain that is no number of a family is none that the system has.
fn kind(cx: &mut Cx, a: &[Value], i: usize) -> Result<(AddressFamily, SocketType, Option<Protocol>), Exit> {
    let (domain, kind, protocol) = (cx.arg_c_int(a, i)?, cx.arg_c_int(a, i + 1)?, cx.arg_c_int(a, i + 2)?);
    let family = AddressFamily::from_raw(u16::try_from(domain).unwrap_or(u16::MAX));
    Ok((family, SocketType::from_raw(kind as u32), NonZeroU32::new(protocol as u32).map(Protocol::from_raw)))
}

/// __sock_socket(into, domain, type, protocol)
fn socket(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let (domain, kind, protocol) = kind(cx, a, 1)?;
    let fd = made(cx, net::socket_with(domain, kind, FLAGS, protocol), "socket(2)")?;
    adopt(cx, a[0], fd.into_raw_fd())?;
    Ok(a[0])
}
/// __sock_pair(into, into, domain, type, protocol)
fn pair(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let (domain, kind, protocol) = kind(cx, a, 2)?;
    let (one, other) = made(cx, net::socketpair(domain, kind, FLAGS, protocol), "socketpair(2)")?;
    adopt(cx, a[0], one.into_raw_fd())?;
    adopt(cx, a[1], other.into_raw_fd())?;
    Ok(Value::NIL)
}
/// __sock_adopt(into, fd): takes over a descriptor that somebody else made.
fn adopt_fd(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let fd = cx.arg_c_int(a, 1)?;
    match int_option(fd, libc::SO_TYPE) {
        Ok(_) => {
            adopt(cx, a[0], fd)?;
            Ok(a[0])
        }
        Err(Errno::NOTSOCK) => Err(fail(cx, Errno::BADF, "not a socket file descriptor")),
        Err(e) => Err(fail(cx, e, "")),
    }
}
/// An error as its number, 0 for none.
fn number(r: Result<(), Errno>) -> R {
    Ok(Value::fix(r.map_or_else(|e| e.raw_os_error(), |()| 0) as i64))
}
/// __sock_bind(socket, address): the error number, 0 for none.
fn bind(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let s = cx.arg_str(a, 1)?;
    let fd = io::open(cx, a[0])?.fd;
    number(address::of(s.bytes()).ok_or(Errno::INVAL).and_then(|to| net::bind(Fd(fd), &to)))
}
fn listen(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let backlog = cx.arg_c_int(a, 1)?;
    let fd = io::open(cx, a[0])?.fd;
    net::listen(Fd(fd), backlog).map(|()| Value::fix(0)).map_err(|e| fail(cx, e, "listen(2)"))
}
/// __sock_connect(socket, address): starts to connect: the error number, 0 when it is done already.
fn connect(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let s = cx.arg_str(a, 1)?;
    let fd = io::open(cx, a[0])?.fd;
    let Some(to) = address::of(s.bytes()) else { return number(Err(Errno::INVAL)) };
    // A program may have turned blocking on: not for this call.
    let blocking = io::set_nonblock(fd, true);
    let r = net::connect(Fd(fd), &to);
    if blocking {
        io::set_nonblock(fd, false);
    }
    // Interrupted, it goes on by itself.
    number(r.map_err(|e| if e == Errno::INTR { Errno::INPROGRESS } else { e }))
}
/// __sock_accept(server, into or nil, nonblock): the address of the client, whose socket is `into` now; without `into`
/// [descriptor, address]; false when nobody is there and it must not wait.
fn accept(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let io = io::open(cx, a[0])?;
    let server = io.fd;
    loop {
        // The descriptor may be one that blocks: ask first.
        if io::is_ready(server, true, false) == Ok(false) {
            return if a[2].truthy() { Ok(Value::FALSE) } else { Err(kumi_core_system::wait(cx, io, true, false)) };
        }
        match net::acceptfrom_with(Fd(server), FLAGS) {
            Ok((fd, from)) => {
                cx.io_done();
                let from = bytes(cx, from.as_ref().map_or(&[], address::bytes_of));
                if a[1].is_nil() {
                    return Ok(cx.array(&[Value::fix(fd.into_raw_fd() as i64), from]));
                }
                adopt(cx, a[1], fd.into_raw_fd())?;
                return Ok(from);
            }
            // Somebody came and went, or another thread was faster: look again.
            Err(Errno::INTR | Errno::AGAIN | Errno::CONNABORTED) => {}
            Err(e) => {
                retry_after_gc(cx, e)?;
                return Err(fail(cx, e, "accept(2)"));
            }
        }
    }
}
fn shutdown(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let how = match cx.arg_c_int(a, 1)? {
        libc::SHUT_RD => Ok(Shutdown::Read),
        libc::SHUT_WR => Ok(Shutdown::Write),
        libc::SHUT_RDWR => Ok(Shutdown::Both),
        _ => Err(Errno::INVAL),
    };
    let fd = io::open(cx, a[0])?.fd;
    how.and_then(|how| net::shutdown(Fd(fd), how)).map(|()| Value::fix(0)).map_err(|e| fail(cx, e, "shutdown(2)"))
}
/// __sock_name(socket, peer): the address of this end, or of the other.
fn name(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let fd = io::open(cx, a[0])?.fd;
    let n = match a[1].truthy() {
        true => net::getpeername(Fd(fd)).map_err(|e| fail(cx, e, "getpeername(2)"))?,
        false => Some(net::getsockname(Fd(fd)).map_err(|e| fail(cx, e, "getsockname(2)"))?),
    };
    Ok(bytes(cx, n.as_ref().map_or(&[], address::bytes_of)))
}
/// __sock_wait(socket, read, write, deadline in monotonic ns or nil): true when it is ready, false when the time is over.
fn wait(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let fd = io::open(cx, a[0])?.fd;
    let (read, write) = (a[1].truthy(), a[2].truthy());
    let deadline = if a[3].is_nil() { u64::MAX } else { cx.arg_i64(a, 3)?.max(0) as u64 };
    match io::is_ready(fd, read, write) {
        Ok(false) if now_ns() >= deadline => Ok(Value::FALSE),
        Ok(false) => {
            let x = cx.park_io(fd, read, write);
            cx.pending.deadline = deadline;
            Err(x)
        }
        Err(Errno::INTR) => Err(Exit::Again),
        _ => Ok(Value::TRUE),
    }
}
