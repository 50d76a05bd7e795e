//! Deflate streams and checksums for lib/zlib.rb.
//!
//! A stream takes bytes and gives what it can; it keeps no input beyond a call
//! except what the format needs. Output of one call is limited by the heap limit.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use kumi_vm::*;

struct Deflater {
    z: Compress,
    done: bool,
}
struct Inflater {
    z: Decompress,
    done: bool,
}
impl Payload for Deflater {
    fn bytes(&self) -> usize {
        300_000
    }
    /// No values in it.
    fn confined(&self) -> bool {
        true
    }
}
impl Payload for Inflater {
    fn bytes(&self) -> usize {
        50_000
    }
    /// No values in it.
    fn confined(&self) -> bool {
        true
    }
}

fn zlib_error(cx: &mut Cx, class: &str, msg: &str) -> Exit {
    let c = cx.const_path(class).and_then(|v| v.as_class()).unwrap_or(cx.k.standard_error);
    cx.raise_msg(c, msg)
}

/// `__deflate_new(level, zlib_header)`
fn deflate_new(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let level = args[0].as_fix().unwrap_or(-1);
    let c = if (0..=9).contains(&level) { Compression::new(level as u32) } else { Compression::default() };
    let z = Compress::new(c, args[1].truthy());
    Ok(cx.data(cx.k.object, Deflater { z, done: false }))
}
/// `__deflate_run(state, bytes, flush)`: flush 0 none, 2 sync, 3 full, 4 finish.
fn deflate_run(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let s = cx.arg_str(args, 1)?;
    let Some(d) = args[0].as_data::<Deflater>() else { return Err(cx.type_error("deflate state expected")) };
    let flush = match args[2].as_fix() {
        Some(2) => FlushCompress::Sync,
        Some(3) => FlushCompress::Full,
        Some(4) => FlushCompress::Finish,
        _ => FlushCompress::None,
    };
    let mut out: Vec<u8> = Vec::with_capacity(s.bytes().len() / 2 + 64);
    let mut input = s.bytes();
    while !d.done {
        if out.len() == out.capacity() {
            cx.check_size(out.capacity() * 2)?;
            out.reserve(out.capacity().max(1024));
        }
        let (before_in, before_out) = (d.z.total_in(), out.len());
        let status = d.z.compress_vec(input, &mut out, flush);
        let used = (d.z.total_in() - before_in) as usize;
        input = &input[used.min(input.len())..];
        match status {
            Ok(Status::StreamEnd) => d.done = true,
            Ok(_) if out.len() < out.capacity() && input.is_empty() && !matches!(flush, FlushCompress::Finish) => break,
            Ok(_) if used == 0 && out.len() == before_out && out.len() < out.capacity() => break,
            Ok(_) => {}
            Err(_) => return Err(zlib_error(cx, "Zlib::StreamError", "stream error")),
        }
    }
    Ok(cx.str_vec(out, EncIndex::BINARY))
}
/// `__inflate_new(zlib_header)`
fn inflate_new(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    Ok(cx.data(cx.k.object, Inflater { z: Decompress::new(args[0].truthy()), done: false }))
}
/// `__inflate_run(state, bytes)`: `[output, bytes used, finished?]`.
fn inflate_run(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let s = cx.arg_str(args, 1)?;
    let Some(d) = args[0].as_data::<Inflater>() else { return Err(cx.type_error("inflate state expected")) };
    let mut out: Vec<u8> = Vec::with_capacity(s.bytes().len() * 3 + 64);
    let mut input = s.bytes();
    while !d.done {
        if out.len() == out.capacity() {
            cx.check_size(out.capacity() * 2)?;
            out.reserve(out.capacity().max(1024));
        }
        let (before_in, before_out) = (d.z.total_in(), out.len());
        let status = d.z.decompress_vec(input, &mut out, FlushDecompress::None);
        let used = (d.z.total_in() - before_in) as usize;
        input = &input[used.min(input.len())..];
        match status {
            Ok(Status::StreamEnd) => d.done = true,
            Ok(_) if used == 0 && out.len() == before_out && out.len() < out.capacity() => break,
            Ok(_) => {}
            Err(e) if e.needs_dictionary().is_some() => return Err(zlib_error(cx, "Zlib::NeedDict", "need dictionary")),
            Err(_) if d.z.total_in() < 3 && d.z.total_out() == 0 => {
                return Err(zlib_error(cx, "Zlib::DataError", "incorrect header check"));
            }
            Err(_) => return Err(zlib_error(cx, "Zlib::DataError", "invalid data")),
        }
    }
    let used = s.bytes().len() - input.len();
    let o = cx.str_vec(out, EncIndex::BINARY);
    Ok(cx.array(&[o, Value::fix(used as i64), Value::bool(d.done)]))
}
/// `__crc32(bytes, start)`
fn crc32(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let s = cx.arg_str(args, 0)?;
    let mut h = crc32fast::Hasher::new_with_initial(args[1].as_fix().unwrap_or(0) as u32);
    h.update(s.bytes());
    Ok(Value::fix(h.finalize() as i64))
}
/// `__adler32(bytes, start)`
fn adler32(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let s = cx.arg_str(args, 0)?;
    let start = args[1].as_fix().unwrap_or(1) as u32;
    let (mut a, mut b) = (start & 0xffff, start >> 16 & 0xffff);
    for chunk in s.bytes().chunks(5000) {
        for &x in chunk {
            a += x as u32;
            b += a;
        }
        a %= 65521;
        b %= 65521;
    }
    Ok(Value::fix((b << 16 | a) as i64))
}

/// Intrinsics of zlib.
pub static TABLE: &[NativeDef] = &[
    intrinsic("__deflate_new", 2, 2, deflate_new),
    intrinsic("__deflate_run", 3, 3, deflate_run),
    intrinsic("__inflate_new", 1, 1, inflate_new),
    intrinsic("__inflate_run", 2, 2, inflate_run),
    intrinsic("__crc32", 2, 2, crc32),
    intrinsic("__adler32", 2, 2, adler32),
];
