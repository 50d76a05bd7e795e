//! Memory outside the heap for `IO::Buffer`: bytes from the allocator, or pages of a file.
//!
//! **Invariant.** A region never moves, never changes its length and lives as long as any cell names it; what changes size is
//! another region. Its bytes may be changed by any thread, and by other processes where a file is mapped, so they are read
//! and written as atomic bytes only, and never lent as a slice.

use crate::io;
use kumi_vm::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

enum Bytes {
    Owned(Box<[AtomicU8]>),
    /// Start and length of pages made by `mmap`, which this value alone unmaps.
    Mapped(*mut libc::c_void, usize),
}

// SAFETY: the pages belong to the process, and are touched as atomic bytes only.
unsafe impl Send for Bytes {}
// SAFETY: as above.
unsafe impl Sync for Bytes {}

impl Drop for Bytes {
    fn drop(&mut self) {
        if let Bytes::Mapped(p, n) = self {
            // SAFETY: the pages are this value's, and nobody can reach it any more.
            unsafe { libc::munmap(*p, *n) };
        }
    }
}

impl Bytes {
    fn all(&self) -> &[AtomicU8] {
        match self {
            Bytes::Owned(b) => b,
            // SAFETY: the pages are mapped for as long as `self` is, readable, and atomics have no alignment here.
            Bytes::Mapped(p, n) => unsafe { std::slice::from_raw_parts(p.cast::<AtomicU8>(), *n) },
        }
    }
}

struct Region {
    bytes: Arc<Bytes>,
}
impl Payload for Region {
    fn bytes(&self) -> usize {
        match &*self.bytes {
            Bytes::Owned(b) => b.len(),
            Bytes::Mapped(..) => 64,
        }
    }
    fn confined(&self) -> bool {
        true
    }
    fn shares(&self) -> bool {
        true
    }
}

/// Bytes `at .. at + n` of a region.
fn span<'v>(cx: &mut Cx, args: &'v [Value], at: usize, n: usize) -> Result<(&'v Region, usize, usize), Exit> {
    let Some(r) = args[0].as_data::<Region>() else { return Err(cx.type_error("memory region expected")) };
    let (at, n) = (cx.arg_i64(args, at)?, cx.arg_i64(args, n)?);
    let len = r.bytes.all().len();
    match (usize::try_from(at), usize::try_from(n)) {
        (Ok(a), Ok(k)) if a <= len && k <= len - a => Ok((r, a, k)),
        _ => Err(cx.arg_error("Specified offset+length is bigger than the buffer size!")),
    }
}

fn region(cx: &mut Cx, bytes: Bytes) -> Value {
    let object = cx.k.object;
    cx.data(object, Region { bytes: Arc::new(bytes) })
}

/// `__region_new(size, mapped)`: zeroed; nil when there is no memory for it.
fn new(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let Ok(n) = usize::try_from(cx.arg_i64(args, 0)?) else { return Ok(Value::NIL) };
    if args[1].truthy() {
        return Ok(
            map_pages(cx, n, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0).unwrap_or(Value::NIL)
        );
    }
    let mut v: Vec<AtomicU8> = Vec::new();
    if v.try_reserve_exact(n).is_err() {
        return Ok(Value::NIL);
    }
    v.resize_with(n, || AtomicU8::new(0));
    Ok(region(cx, Bytes::Owned(v.into_boxed_slice())))
}

fn map_pages(cx: &mut Cx, n: usize, prot: i32, flags: i32, fd: i32, offset: i64) -> Option<Value> {
    // SAFETY: a new mapping at a place the system chooses touches no memory that exists.
    let p = unsafe { libc::mmap(std::ptr::null_mut(), n, prot, flags, fd, offset) };
    (p != libc::MAP_FAILED).then(|| region(cx, Bytes::Mapped(p, n)))
}

/// `__region_map(file, size, offset, readonly, private)`
fn map(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let (fd, n, offset) = (io::open(cx, args[0])?.fd, cx.arg_i64(args, 1)?.max(0) as usize, cx.arg_i64(args, 2)?);
    let (readonly, private) = (args[3].truthy(), args[4].truthy());
    let prot = if readonly { libc::PROT_READ } else { libc::PROT_READ | libc::PROT_WRITE };
    let flags = if private { libc::MAP_PRIVATE } else { libc::MAP_SHARED };
    match map_pages(cx, n, prot, flags, fd, offset) {
        Some(v) => Ok(v),
        None => {
            let e = std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EINVAL);
            Err(cx.errno_error(e, "io_buffer_map_file:mmap"))
        }
    }
}

/// `__region_get(region, offset, size)`: a copy, in binary.
fn get(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let (r, at, n) = span(cx, args, 1, 2)?;
    let copy: Vec<u8> = r.bytes.all()[at..at + n].iter().map(|b| b.load(Relaxed)).collect();
    Ok(cx.str_enc(&copy, EncIndex::BINARY))
}

/// `__region_set(region, offset, size, string)`: the first `size` bytes of the string.
fn set(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let (r, at, n) = span(cx, args, 1, 2)?;
    let s = cx.arg_str(args, 3)?;
    for (to, from) in r.bytes.all()[at..at + n].iter().zip(s.bytes()) {
        to.store(*from, Relaxed);
    }
    Ok(Value::NIL)
}

/// `__region_clear(region, offset, size, byte)`
fn clear(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let (r, at, n) = span(cx, args, 1, 2)?;
    let byte = cx.arg_i64(args, 3)? as u8;
    for b in &r.bytes.all()[at..at + n] {
        b.store(byte, Relaxed);
    }
    Ok(Value::NIL)
}

/// `__region_address(region)`
fn address(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let Some(r) = args[0].as_data::<Region>() else { return Err(cx.type_error("memory region expected")) };
    Ok(Value::fix(r.bytes.all().as_ptr() as usize as i64))
}

/// `__bytes_mask(string, mask, operation)`: the mask repeated over the string; 0 and, 1 or, 2 exclusive or, 3 not.
fn mask(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let (s, m) = (cx.arg_str(args, 0)?, cx.arg_str(args, 1)?);
    let op = cx.arg_i64(args, 2)?;
    let (s, m) = (s.bytes(), m.bytes());
    if m.is_empty() && op != 3 {
        return Err(cx.arg_error("Zero-length mask given!"));
    }
    let mask = m.iter().copied().cycle();
    let out: Vec<u8> = match op {
        0 => s.iter().zip(mask).map(|(a, b)| a & b).collect(),
        1 => s.iter().zip(mask).map(|(a, b)| a | b).collect(),
        2 => s.iter().zip(mask).map(|(a, b)| a ^ b).collect(),
        _ => s.iter().map(|a| !a).collect(),
    };
    Ok(cx.str_enc(&out, EncIndex::BINARY))
}

/// `__bytes_ones(string)`: how many bits are set.
fn ones(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let s = cx.arg_str(args, 0)?;
    Ok(Value::fix(s.bytes().iter().map(|b| b.count_ones() as i64).sum()))
}

/// What prelude/io_buffer.rb stands on.
pub static TABLE: &[NativeDef] = &[
    intrinsic("__region_new", 2, 2, new),
    intrinsic("__region_map", 5, 5, map),
    intrinsic("__region_get", 3, 3, get),
    intrinsic("__region_set", 4, 4, set),
    intrinsic("__region_clear", 4, 4, clear),
    intrinsic("__region_address", 1, 1, address),
    intrinsic("__bytes_mask", 3, 3, mask),
    intrinsic("__bytes_ones", 1, 1, ones),
];
