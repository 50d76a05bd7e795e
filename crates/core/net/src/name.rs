//! Names of hosts and services: getaddrinfo, getnameinfo and their kin.
//!
//! Numbers are taken apart at once. Anything else may ask the network, and so runs
//! on the blocking pool.

use crate::address::{self, arg_address};
use crate::{arg_bytes, bytes, fail};
use kumi_core_system::io::{Errno, errno};
use kumi_vm::*;
use rustix::net::SocketAddrAny;
use std::ffi::{CStr, CString};
use std::ptr::{null, null_mut};
use std::sync::Mutex;

pub static TABLE: &[NativeDef] = &[
    intrinsic("__getaddrinfo", 6, 6, getaddrinfo),
    intrinsic("__getnameinfo", 2, 2, getnameinfo),
    intrinsic("__gai_strerror", 1, 1, gai_strerror),
    intrinsic("__gethostname", 0, 0, gethostname),
    intrinsic("__servbyname", 2, 2, servbyname),
    intrinsic("__servbyport", 2, 2, servbyport),
];

/// Why a lookup failed: the resolver's code, and errno when the code is EAI_SYSTEM.
type Failure = (i32, Errno);

fn failure(code: i32) -> Failure {
    (code, errno())
}

/// What is looked for.
#[derive(Clone)]
struct Wanted {
    host: Option<CString>,
    service: Option<CString>,
    family: i32,
    socktype: i32,
    protocol: i32,
    flags: i32,
}

/// One address found.
struct Found {
    family: i32,
    socktype: i32,
    protocol: i32,
    address: Vec<u8>,
    canonical: Option<Vec<u8>>,
}

/// Longest list of addresses taken from a resolver.
const MOST: usize = 4096;

impl Wanted {
    fn look_up(&self) -> Result<Vec<Found>, Failure> {
        let hints = libc::addrinfo {
            ai_family: self.family,
            ai_socktype: self.socktype,
            ai_protocol: self.protocol,
            ai_flags: self.flags,
            ai_addrlen: 0,
            ai_addr: null_mut(),
            ai_canonname: null_mut(),
            ai_next: null_mut(),
        };
        let c = |s: &Option<CString>| s.as_ref().map_or(null(), |s| s.as_ptr());
        let mut list: *mut libc::addrinfo = null_mut();
        // SAFETY: strings are terminated or null, hints and list are alive during the call.
        let code = unsafe { libc::getaddrinfo(c(&self.host), c(&self.service), &hints, &mut list) };
        if code != 0 {
            return Err(failure(code));
        }
        let mut out = Vec::new();
        let mut at = list;
        while !at.is_null() && out.len() < MOST {
            // SAFETY: getaddrinfo gave a list of valid entries that ends with null.
            let e = unsafe { &*at };
            // SAFETY: ai_addr has ai_addrlen bytes; the canonical name is null or terminated.
            let (address, canonical) = unsafe {
                let a = (!e.ai_addr.is_null()).then(|| address::from_raw(e.ai_addr, e.ai_addrlen as usize));
                (a, (!e.ai_canonname.is_null()).then(|| CStr::from_ptr(e.ai_canonname).to_bytes().to_vec()))
            };
            if let Some(address) = address {
                let (family, socktype, protocol) = (e.ai_family, e.ai_socktype, e.ai_protocol);
                out.push(Found { family, socktype, protocol, address, canonical });
            }
            at = e.ai_next;
        }
        // SAFETY: the list is getaddrinfo's and is not used any more.
        unsafe { libc::freeaddrinfo(list) };
        Ok(out)
    }
}

/// A name for the resolver: no NUL inside.
fn c_name(cx: &mut Cx, b: Option<Vec<u8>>) -> Result<Option<CString>, Exit> {
    b.map(CString::new).transpose().map_err(|_| cx.arg_error("string contains null byte"))
}

/// __getaddrinfo(host or nil, service or nil, family, socktype, protocol, flags): an array of
/// [family, socktype, protocol, address, canonical name or nil], or the resolver's error code.
fn getaddrinfo(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let (host, service) = (arg_bytes(cx, a, 0)?, arg_bytes(cx, a, 1)?);
    let wanted = Wanted {
        host: c_name(cx, host)?,
        service: c_name(cx, service)?,
        family: cx.arg_c_int(a, 2)?,
        socktype: cx.arg_c_int(a, 3)?,
        protocol: cx.arg_c_int(a, 4)?,
        flags: cx.arg_c_int(a, 5)?,
    };
    let numeric = Wanted { flags: wanted.flags | libc::AI_NUMERICHOST, ..wanted.clone() };
    let found = match numeric.look_up() {
        Err((libc::EAI_NONAME, _)) if wanted.flags & libc::AI_NUMERICHOST == 0 && wanted.host.is_some() => {
            cx.offload(move || wanted.look_up())?
        }
        r => r,
    };
    match found {
        Ok(list) => {
            let mut out = Vec::with_capacity(list.len());
            for f in list {
                let address = bytes(cx, &f.address);
                let canonical = f.canonical.map_or(Value::NIL, |c| cx.str_enc(&c, EncIndex::UTF_8));
                let n = |i: i32| Value::fix(i as i64);
                out.push(cx.array(&[n(f.family), n(f.socktype), n(f.protocol), address, canonical]));
            }
            Ok(cx.array_vec(out))
        }
        Err((libc::EAI_SYSTEM, errno)) => Err(fail(cx, errno, "getaddrinfo(3)")),
        Err((code, _)) => Ok(Value::fix(code as i64)),
    }
}

/// Names of host and service of an address.
pub fn of_address(a: &SocketAddrAny, flags: i32) -> Result<(Vec<u8>, Vec<u8>), Failure> {
    const HOST: usize = 1025;
    const SERVICE: usize = 64;
    let mut host = [0 as libc::c_char; HOST];
    let mut service = [0 as libc::c_char; SERVICE];
    // SAFETY: the address has `len` bytes, the buffers the lengths given.
    let code = unsafe {
        libc::getnameinfo(a.as_ptr().cast(), a.addr_len(), host.as_mut_ptr(), HOST as _, service.as_mut_ptr(), SERVICE as _, flags)
    };
    if code != 0 {
        return Err(failure(code));
    }
    let text = |b: &[libc::c_char]| b.iter().take_while(|&&c| c != 0).map(|&c| c as u8).collect();
    Ok((text(&host), text(&service)))
}
/// __getnameinfo(address, flags): [host, service], or the resolver's error code.
fn getnameinfo(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let address = arg_address(cx, a, 0)?;
    let flags = cx.arg_c_int(a, 1)?;
    let found =
        if flags & libc::NI_NUMERICHOST != 0 { of_address(&address, flags) } else { cx.offload(move || of_address(&address, flags))? };
    match found {
        Ok((host, service)) => {
            let host = cx.str_enc(&host, EncIndex::UTF_8);
            let service = cx.str_enc(&service, EncIndex::UTF_8);
            Ok(cx.array(&[host, service]))
        }
        Err((libc::EAI_SYSTEM, errno)) => Err(fail(cx, errno, "getnameinfo")),
        Err((code, _)) => Ok(Value::fix(code as i64)),
    }
}
/// __gai_strerror(code): the resolver's text for one of its error codes.
fn gai_strerror(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let code = cx.arg_c_int(a, 0)?;
    // SAFETY: gives a terminated text that lives for ever, whatever the code.
    let text = unsafe { CStr::from_ptr(libc::gai_strerror(code)) };
    Ok(cx.str(&text.to_string_lossy()))
}
fn gethostname(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    Ok(cx.str_enc(rustix::system::uname().nodename().to_bytes(), EncIndex::UTF_8))
}

/// The C library has one answer at a time for services.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// __servbyname(service, protocol): its port, or nil.
fn servbyname(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let (name, protocol) = (arg_bytes(cx, a, 0)?, arg_bytes(cx, a, 1)?);
    let (Some(name), Some(protocol)) = (c_name(cx, name)?, c_name(cx, protocol)?) else { return Ok(Value::NIL) };
    let _held = ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
    // SAFETY: terminated strings; the answer is null or valid until the next call, which the lock holds off.
    let port = unsafe { libc::getservbyname(name.as_ptr(), protocol.as_ptr()).as_ref() }.map(|s| u16::from_be(s.s_port as u16));
    Ok(port.map_or(Value::NIL, |p| Value::fix(p as i64)))
}
/// __servbyport(port, protocol): its service, or nil.
fn servbyport(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let port = (cx.arg_i64(a, 0)? as u16).to_be();
    let protocol = arg_bytes(cx, a, 1)?;
    let Some(protocol) = c_name(cx, protocol)? else { return Ok(Value::NIL) };
    let name = {
        let _held = ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
        // SAFETY: as in `servbyname`; the name of a service is terminated.
        unsafe { libc::getservbyport(port as i32, protocol.as_ptr()).as_ref().map(|s| CStr::from_ptr(s.s_name).to_bytes().to_vec()) }
    };
    Ok(name.map_or(Value::NIL, |n| cx.str_enc(&n, EncIndex::UTF_8)))
}
