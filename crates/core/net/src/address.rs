//! Socket addresses: `struct sockaddr` in Strings, made and taken apart.
//!
//! What a program gives is a copy with its length, whatever it is; the system looks whether it is an address.

use crate::{bytes, fail, name};
use kumi_core_system::io::Errno;
use kumi_vm::*;
use rustix::net::SocketAddrAny;
use rustix::net::addr::SocketAddrStorage;
use std::mem::{offset_of, size_of};

pub static TABLE: &[NativeDef] = &[intrinsic("__sockaddr_un", 1, 1, pack_un), intrinsic("__sockaddr_parts", 1, 1, parts)];

/// Bytes of the longest address.
pub const ROOM: usize = size_of::<SocketAddrStorage>();

/// A copy of `b`; `None` when no family is in it, or when it is longer than any address.
pub fn of(b: &[u8]) -> Option<SocketAddrAny> {
    let fits = b.len() >= size_of::<libc::sa_family_t>() && b.len() <= ROOM;
    // SAFETY: that many bytes are there. They are given to the system only, which takes any, and to what looks at lengths first.
    fits.then(|| unsafe { SocketAddrAny::read(b.as_ptr().cast(), b.len() as u32) })
}
pub fn bytes_of(a: &SocketAddrAny) -> &[u8] {
    // SAFETY: so many bytes of it are initialised.
    unsafe { std::slice::from_raw_parts(a.as_ptr().cast(), a.addr_len() as usize) }
}
/// A copy of what the C library points to.
///
/// # Safety
/// `p` points to an address of `len` bytes.
pub unsafe fn from_raw(p: *const libc::sockaddr, len: usize) -> Vec<u8> {
    // SAFETY: as promised by the caller.
    unsafe { std::slice::from_raw_parts(p.cast::<u8>(), len) }.to_vec()
}

/// An address argument: a String. What cannot be an address is EINVAL, as from the system.
pub fn arg_address(cx: &mut Cx, a: &[Value], i: usize) -> Result<SocketAddrAny, Exit> {
    let s = cx.arg_str(a, i)?;
    of(s.bytes()).ok_or_else(|| fail(cx, Errno::INVAL, "sockaddr"))
}
/// An address argument, or nothing for nil.
pub fn arg_address_opt(cx: &mut Cx, a: &[Value], i: usize) -> Result<Option<SocketAddrAny>, Exit> {
    if a[i].is_nil() { Ok(None) } else { arg_address(cx, a, i).map(Some) }
}

const PATH_AT: usize = offset_of!(libc::sockaddr_un, sun_path);

/// __sockaddr_un(path): a whole `struct sockaddr_un`, but for names of the abstract space only as much as there is.
fn pack_un(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let path = cx.arg_str(a, 0)?.bytes().to_vec();
    let room = size_of::<libc::sockaddr_un>() - PATH_AT;
    if path.len() > room {
        return Err(cx.arg_error(&format!("too long unix socket path ({} bytes given but {room} bytes max)", path.len())));
    }
    let mut out = vec![0u8; size_of::<libc::sockaddr_un>()];
    let family = (libc::AF_UNIX as libc::sa_family_t).to_ne_bytes();
    let at = offset_of!(libc::sockaddr_un, sun_family);
    out[at..at + family.len()].copy_from_slice(&family);
    out[PATH_AT..PATH_AT + path.len()].copy_from_slice(&path);
    if path.first() == Some(&0) {
        out.truncate(PATH_AT + path.len());
    }
    Ok(bytes(cx, &out))
}

/// __sockaddr_parts(address): [family, ip, port] of IPv4 and IPv6, [family, path] of UNIX, [family] of others;
/// [nil] when it is too short to have a family.
fn parts(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let s = cx.arg_str(a, 0)?;
    let Some(addr) = of(s.bytes()) else {
        return Ok(cx.array(&[Value::NIL]));
    };
    let family = addr.address_family().as_raw() as i32;
    let mut out = vec![Value::fix(family as i64)];
    let b = s.bytes();
    match family {
        libc::AF_INET | libc::AF_INET6 => {
            let need = if family == libc::AF_INET { size_of::<libc::sockaddr_in>() } else { size_of::<libc::sockaddr_in6>() };
            if b.len() >= need {
                if let Ok((host, _)) = name::of_address(&addr, libc::NI_NUMERICHOST | libc::NI_NUMERICSERV) {
                    out.push(cx.str_enc(&host, EncIndex::US_ASCII));
                    // The port is at the same place in both.
                    let at = offset_of!(libc::sockaddr_in, sin_port);
                    out.push(Value::fix(u16::from_be_bytes([b[at], b[at + 1]]) as i64));
                }
            }
        }
        libc::AF_UNIX => {
            let path = b.get(PATH_AT..).unwrap_or(&[]);
            // Names of the abstract space begin with a NUL and are as long as they are; paths end at the first,
            // and a path is never empty: all zeros is a socket without a name.
            let end = match path.first() {
                Some(0) => path.iter().rposition(|&c| c != 0).map_or(0, |_| path.len()),
                _ => path.iter().position(|&c| c == 0).unwrap_or(path.len()),
            };
            out.push(cx.str_enc(&path[..end], EncIndex::UTF_8));
        }
        _ => {}
    }
    Ok(cx.array_vec(out))
}

/// The ip address and port of `host` and `port` without any lookup, for the benefit of tests of this floor.
#[cfg(test)]
pub fn inet(ip: [u8; 4], port: u16) -> Vec<u8> {
    let mut b = (libc::AF_INET as libc::sa_family_t).to_ne_bytes().to_vec();
    b.extend(port.to_be_bytes());
    b.extend(ip);
    b.extend([0; 8]);
    b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_never_read_beyond_its_end() {
        assert!(of(&[]).is_none());
        assert!(of(&[2]).is_none());
        assert!(of(&[0; 200]).is_none());
        let a = of(&[2, 0]).expect("a family alone");
        assert_eq!((a.address_family().as_raw() as i32, bytes_of(&a)), (libc::AF_INET, &[2, 0][..]));
        assert!(name::of_address(&a, libc::NI_NUMERICHOST).is_err());
    }
    #[test]
    fn a_whole_address_has_a_name() {
        let a = of(&inet([127, 0, 0, 1], 80)).expect("sixteen bytes");
        let (host, port) = name::of_address(&a, libc::NI_NUMERICHOST | libc::NI_NUMERICSERV).expect("numbers");
        assert_eq!((host.as_slice(), port.as_slice()), (&b"127.0.0.1"[..], &b"80"[..]));
    }
}
