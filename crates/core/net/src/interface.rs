//! The network interfaces of this machine.

use crate::address::from_raw;
use crate::{bytes, fail};
use kumi_core_system::io::errno;
use kumi_vm::*;
use std::ffi::CStr;
use std::mem::size_of;

pub static TABLE: &[NativeDef] = &[intrinsic("__getifaddrs", 0, 0, getifaddrs)];

/// A copy of an address in the list of interfaces, which does not tell lengths.
///
/// # Safety
/// `p` is null or points to a whole address of its family.
unsafe fn address(p: *const libc::sockaddr) -> Option<Vec<u8>> {
    // SAFETY: as promised by the caller.
    let family = unsafe { p.as_ref() }?.sa_family as i32;
    let len = match family {
        libc::AF_INET => size_of::<libc::sockaddr_in>(),
        libc::AF_INET6 => size_of::<libc::sockaddr_in6>(),
        #[cfg(target_os = "linux")]
        libc::AF_PACKET => size_of::<libc::sockaddr_ll>(),
        _ => return None,
    };
    // SAFETY: an address of that family has that many bytes.
    Some(unsafe { from_raw(p, len) })
}

/// __getifaddrs: [name, index, flags, address, netmask, broadcast or destination address] of each; addresses may be nil.
fn getifaddrs(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let mut list: *mut libc::ifaddrs = std::ptr::null_mut();
    // SAFETY: the pointer is writable.
    if unsafe { libc::getifaddrs(&mut list) } != 0 {
        return Err(fail(cx, errno(), "getifaddrs"));
    }
    let mut out = Vec::new();
    let mut at = list;
    while !at.is_null() {
        // SAFETY: getifaddrs gave a list of valid entries that ends with null; names are terminated.
        let e = unsafe { &*at };
        // SAFETY: as above; addresses are null or whole.
        let (name, index, addresses) = unsafe {
            let name = CStr::from_ptr(e.ifa_name);
            (name.to_bytes().to_vec(), libc::if_nametoindex(e.ifa_name), [address(e.ifa_addr), address(e.ifa_netmask), address(e.ifa_ifu)])
        };
        let mut row = vec![cx.str_enc(&name, EncIndex::UTF_8), Value::fix(index as i64), Value::fix(e.ifa_flags as i64)];
        for a in addresses {
            row.push(a.map_or(Value::NIL, |a| bytes(cx, &a)));
        }
        out.push(cx.array_vec(row));
        at = e.ifa_next;
    }
    // SAFETY: the list is getifaddrs' and is not used any more.
    unsafe { libc::freeifaddrs(list) };
    Ok(cx.array_vec(out))
}
