//! Options of sockets, as bytes.

use crate::{bytes, fail};
use kumi_core_system::io::{self, errno};
use kumi_vm::*;
use std::mem::size_of;

pub static TABLE: &[NativeDef] = &[
    intrinsic("__sock_getopt", 3, 3, getopt),
    intrinsic("__sock_setopt", 4, 4, setopt),
    intrinsic("__sock_error", 1, 1, |cx, _, a| {
        let fd = io::open(cx, a[0])?.fd;
        Ok(Value::fix(int_option(fd, libc::SO_ERROR).unwrap_or_else(|e| e) as i64))
    }),
];

/// An option of level SOL_SOCKET that is an int.
pub fn int_option(fd: i32, option: i32) -> Result<i32, i32> {
    let mut n: i32 = 0;
    let mut len = size_of::<i32>() as libc::socklen_t;
    // SAFETY: n has len bytes.
    let r = unsafe { libc::getsockopt(fd, libc::SOL_SOCKET, option, (&raw mut n).cast(), &mut len) };
    if r < 0 { Err(errno()) } else { Ok(n) }
}

/// __sock_getopt(socket, level, option): its bytes.
fn getopt(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let (level, option) = (cx.arg_c_int(a, 1)?, cx.arg_c_int(a, 2)?);
    let fd = io::open(cx, a[0])?.fd;
    let mut b = [0u8; 256];
    let mut len = b.len() as libc::socklen_t;
    // SAFETY: the buffer has len bytes.
    if unsafe { libc::getsockopt(fd, level, option, b.as_mut_ptr().cast(), &mut len) } < 0 {
        let e = errno();
        return Err(fail(cx, e, "getsockopt(2)"));
    }
    Ok(bytes(cx, &b[..(len as usize).min(b.len())]))
}
/// __sock_setopt(socket, level, option, bytes)
fn setopt(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let (level, option) = (cx.arg_c_int(a, 1)?, cx.arg_c_int(a, 2)?);
    let s = cx.arg_str(a, 3)?;
    let fd = io::open(cx, a[0])?.fd;
    let b = s.bytes();
    // SAFETY: the bytes are readable for their length.
    if unsafe { libc::setsockopt(fd, level, option, b.as_ptr().cast(), b.len() as libc::socklen_t) } < 0 {
        let e = errno();
        return Err(fail(cx, e, "setsockopt(2)"));
    }
    Ok(Value::fix(0))
}
