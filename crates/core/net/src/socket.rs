//! Sockets from their making to their connection: socket, bind, listen, connect, accept, shutdown.
//!
//! Every descriptor made here is closed on exec and does not block.

use crate::address::Address;
use crate::option::int_option;
use crate::{bytes, fail};
use kumi_core_system::io::{self, Io, errno};
use kumi_core_system::{monotonic, retry_after_gc};
use kumi_vm::*;

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
            io::close_fd(fd);
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
fn made(cx: &mut Cx, fd: i32, call: &str) -> Result<i32, Exit> {
    if fd >= 0 {
        return Ok(fd);
    }
    let e = errno();
    retry_after_gc(cx, e)?;
    Err(fail(cx, e, call))
}

/// __sock_socket(into, domain, type, protocol)
fn socket(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let (domain, kind, protocol) = (cx.arg_c_int(a, 1)?, cx.arg_c_int(a, 2)?, cx.arg_c_int(a, 3)?);
    // SAFETY: touches no memory.
    let fd = unsafe { libc::socket(domain, kind | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK, protocol) };
    let fd = made(cx, fd, "socket(2)")?;
    adopt(cx, a[0], fd)?;
    Ok(a[0])
}
/// __sock_pair(into, into, domain, type, protocol)
fn pair(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let (domain, kind, protocol) = (cx.arg_c_int(a, 2)?, cx.arg_c_int(a, 3)?, cx.arg_c_int(a, 4)?);
    let mut fds = [-1; 2];
    // SAFETY: two ints to write.
    let r = unsafe { libc::socketpair(domain, kind | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK, protocol, fds.as_mut_ptr()) };
    made(cx, r, "socketpair(2)")?;
    if let Err(e) = adopt(cx, a[0], fds[0]) {
        io::close_fd(fds[1]);
        return Err(e);
    }
    adopt(cx, a[1], fds[1])?;
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
        Err(libc::ENOTSOCK) => Err(fail(cx, libc::EBADF, "not a socket file descriptor")),
        Err(e) => Err(fail(cx, e, "")),
    }
}
/// __sock_bind(socket, address): the error number, 0 for none.
fn bind(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let s = cx.arg_str(a, 1)?;
    let fd = io::open(cx, a[0])?.fd;
    let Some(address) = Address::from_bytes(s.bytes()) else { return Ok(Value::fix(libc::EINVAL as i64)) };
    // SAFETY: the address has len bytes.
    let r = unsafe { libc::bind(fd, address.ptr(), address.len) };
    Ok(Value::fix(if r < 0 { errno() } else { 0 } as i64))
}
fn listen(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let backlog = cx.arg_c_int(a, 1)?;
    let fd = io::open(cx, a[0])?.fd;
    // SAFETY: touches no memory.
    if unsafe { libc::listen(fd, backlog) } < 0 {
        let e = errno();
        return Err(fail(cx, e, "listen(2)"));
    }
    Ok(Value::fix(0))
}
/// __sock_connect(socket, address): starts to connect: the error number, 0 when it is done already.
fn connect(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let s = cx.arg_str(a, 1)?;
    let fd = io::open(cx, a[0])?.fd;
    let Some(address) = Address::from_bytes(s.bytes()) else { return Ok(Value::fix(libc::EINVAL as i64)) };
    // A program may have turned blocking on: not for this call.
    // SAFETY: fcntl touches no memory; the address has len bytes.
    let e = unsafe {
        let flags = libc::fcntl(fd, libc::F_GETFL);
        let blocking = flags >= 0 && flags & libc::O_NONBLOCK == 0;
        if blocking {
            libc::fcntl(fd, libc::F_SETFL, flags | libc::O_NONBLOCK);
        }
        let e = if libc::connect(fd, address.ptr(), address.len) < 0 { errno() } else { 0 };
        if blocking {
            libc::fcntl(fd, libc::F_SETFL, flags);
        }
        e
    };
    // Interrupted, it goes on by itself.
    Ok(Value::fix(if e == libc::EINTR { libc::EINPROGRESS } else { e } as i64))
}
/// __sock_accept(server, into or nil, nonblock): the address of the client, whose socket is `into` now; without `into`
/// [descriptor, address]; false when nobody is there and it must not wait.
fn accept(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let io = io::open(cx, a[0])?;
    let server = io.fd;
    loop {
        // The descriptor may be one that blocks: ask first.
        if matches!(io::poll_fd(server, true, false, 0), Ok(false)) {
            return if a[2].truthy() { Ok(Value::FALSE) } else { Err(kumi_core_system::wait(cx, io, true, false)) };
        }
        let mut from = Address::empty();
        // SAFETY: the address has room for len bytes.
        let fd = unsafe { libc::accept4(server, from.ptr_mut(), &mut from.len, libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK) };
        if fd >= 0 {
            cx.io_done();
            let from = bytes(cx, from.bytes());
            if a[1].is_nil() {
                return Ok(cx.array(&[Value::fix(fd as i64), from]));
            }
            adopt(cx, a[1], fd)?;
            return Ok(from);
        }
        match errno() {
            // Somebody came and went, or another thread was faster: look again.
            libc::EINTR | libc::EAGAIN | libc::ECONNABORTED => {}
            e => {
                retry_after_gc(cx, e)?;
                return Err(fail(cx, e, "accept(2)"));
            }
        }
    }
}
fn shutdown(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let how = cx.arg_c_int(a, 1)?;
    let fd = io::open(cx, a[0])?.fd;
    // SAFETY: touches no memory.
    if unsafe { libc::shutdown(fd, how) } < 0 {
        let e = errno();
        return Err(fail(cx, e, "shutdown(2)"));
    }
    Ok(Value::fix(0))
}
/// __sock_name(socket, peer): the address of this end, or of the other.
fn name(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let fd = io::open(cx, a[0])?.fd;
    let mut n = Address::empty();
    let peer = a[1].truthy();
    // SAFETY: the address has room for len bytes.
    let r = unsafe { if peer { libc::getpeername(fd, n.ptr_mut(), &mut n.len) } else { libc::getsockname(fd, n.ptr_mut(), &mut n.len) } };
    if r < 0 {
        let e = errno();
        return Err(fail(cx, e, if peer { "getpeername(2)" } else { "getsockname(2)" }));
    }
    Ok(bytes(cx, n.bytes()))
}
/// __sock_wait(socket, read, write, deadline in monotonic ns or nil): true when it is ready, false when the time is over.
fn wait(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let fd = io::open(cx, a[0])?.fd;
    let (read, write) = (a[1].truthy(), a[2].truthy());
    let deadline = if a[3].is_nil() { u64::MAX } else { cx.arg_i64(a, 3)?.max(0) as u64 };
    match io::poll_fd(fd, read, write, 0) {
        Ok(false) if monotonic() >= deadline => Ok(Value::FALSE),
        Ok(false) => {
            let x = cx.park_io(fd, read, write);
            cx.pending.deadline = deadline;
            Err(x)
        }
        Err(libc::EINTR) => Err(Exit::Again),
        _ => Ok(Value::TRUE),
    }
}
