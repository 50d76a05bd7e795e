//! Options of sockets, as bytes.

use crate::{bytes, fail};
use kumi_core_system::io::{self, Errno};
use kumi_vm::*;

pub static TABLE: &[NativeDef] = &[
    intrinsic("__sock_getopt", 3, 3, getopt),
    intrinsic("__sock_setopt", 4, 4, setopt),
    intrinsic("__sock_error", 1, 1, |cx, _, a| {
        let fd = io::open(cx, a[0])?.fd;
        Ok(Value::fix(int_option(fd, libc::SO_ERROR).unwrap_or_else(|e| e.raw_os_error()) as i64))
    }),
];

/// Reads an option: how many bytes it has.
fn read(fd: i32, level: i32, option: i32, to: &mut [u8]) -> Result<usize, Errno> {
    let mut len = to.len() as libc::socklen_t;
    // SAFETY: `to` has len bytes.
    io::result(unsafe { libc::getsockopt(fd, level, option, to.as_mut_ptr().cast(), &mut len) })?;
    Ok(to.len().min(len as usize))
}
/// An option of level SOL_SOCKET that is an int.
pub fn int_option(fd: i32, option: i32) -> Result<i32, Errno> {
    let mut n = [0; 4];
    read(fd, libc::SOL_SOCKET, option, &mut n).map(|_| i32::from_ne_bytes(n))
}

/// __sock_getopt(socket, level, option): its bytes.
fn getopt(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let (level, option) = (cx.arg_c_int(a, 1)?, cx.arg_c_int(a, 2)?);
    let fd = io::open(cx, a[0])?.fd;
    let mut b = [0u8; 256];
    let n = read(fd, level, option, &mut b).map_err(|e| fail(cx, e, "getsockopt(2)"))?;
    Ok(bytes(cx, &b[..n]))
}
/// __sock_setopt(socket, level, option, bytes)
fn setopt(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let (level, option) = (cx.arg_c_int(a, 1)?, cx.arg_c_int(a, 2)?);
    let s = cx.arg_str(a, 3)?;
    let fd = io::open(cx, a[0])?.fd;
    let b = s.bytes();
    // SAFETY: the bytes are readable for their length.
    let r = io::result(unsafe { libc::setsockopt(fd, level, option, b.as_ptr().cast(), b.len() as libc::socklen_t) });
    r.map(|_| Value::fix(0)).map_err(|e| fail(cx, e, "setsockopt(2)"))
}
