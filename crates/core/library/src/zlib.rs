//! Deflate streams and checksums for lib/zlib.rb.
//!
//! A stream takes bytes and gives what it can; it keeps no input beyond a call
//! except what the format needs. A call takes or gives a piece, so that nobody waits
//! long for its end; lib/zlib.rb goes on with the next.

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
/// Bytes to compress in a call.
const DEFLATED: usize = 16 << 10;
/// Bytes to decompress in a call, or a little more.
const INFLATED: usize = 128 << 10;
/// Bytes to sum up in a call.
const SUMMED: usize = 256 << 10;

/// The bytes of argument `i` from that of argument `k` on.
fn rest(cx: &mut Cx, args: &[Value], i: usize, k: usize) -> Result<&'static [u8], Exit> {
    let s = cx.arg_str(args, i)?;
    let from = args[k].as_fix().unwrap_or(0).max(0) as usize;
    let b = s.bytes().get(from..).unwrap_or(&[]);
    // SAFETY: the caller's argument holds the string while the native runs, and what replaces its buffer keeps the old one.
    Ok(unsafe { std::slice::from_raw_parts(b.as_ptr(), b.len()) })
}

/// `__deflate_run(state, bytes, flush, from)`: flush 0 none, 2 sync, 3 full, 4 finish, for the last piece. `[output, from]`: where
/// the next piece begins, nil at the end.
fn deflate_run(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let all = rest(cx, args, 1, 3)?;
    let last = all.len() <= DEFLATED;
    let piece = &all[..all.len().min(DEFLATED)];
    let Some(d) = cx.heap.edit_data::<Deflater>(args[0]) else { return Err(cx.type_error("deflate state expected")) };
    let flush = match args[2].as_fix().filter(|_| last) {
        Some(2) => FlushCompress::Sync,
        Some(3) => FlushCompress::Full,
        Some(4) => FlushCompress::Finish,
        _ => FlushCompress::None,
    };
    let mut out: Vec<u8> = Vec::room(piece.len() / 2 + 64);
    let mut input = piece;
    while !d.done {
        if out.len() == out.capacity() {
            out.want(out.capacity().max(1024));
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
    let out = cx.str_vec(out, EncIndex::BINARY);
    let from = args[3].as_fix().unwrap_or(0);
    let next = if last { Value::NIL } else { Value::fix(from + DEFLATED as i64) };
    Ok(cx.array(&[out, next]))
}
/// `__inflate_new(zlib_header)`
fn inflate_new(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    Ok(cx.data(cx.k.object, Inflater { z: Decompress::new(args[0].truthy()), done: false }))
}
/// `__inflate_run(state, bytes, from)`: `[output, bytes used, finished?, is there more to come?]`.
fn inflate_run(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let all = rest(cx, args, 1, 2)?;
    let Some(d) = cx.heap.edit_data::<Inflater>(args[0]) else { return Err(cx.type_error("inflate state expected")) };
    let mut out: Vec<u8> = Vec::with_capacity((all.len() * 3 + 64).min(INFLATED));
    let mut input = all;
    while !d.done && out.len() < INFLATED {
        if out.len() == out.capacity() {
            out.want(out.capacity().max(1024));
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
    let used = all.len() - input.len();
    let (more, done) = (out.len() >= INFLATED, d.done);
    let o = cx.str_vec(out, EncIndex::BINARY);
    Ok(cx.array(&[o, Value::fix(used as i64), Value::bool(done), Value::bool(more)]))
}
/// `__crc32(bytes, start, from)`: `[sum, from]` after a piece: where the next one begins, nil at the end.
fn crc32(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    summed(cx, args, |b, start| {
        let mut h = crc32fast::Hasher::new_with_initial(start);
        h.update(b);
        h.finalize()
    })
}
/// `__adler32(bytes, start, from)`: likewise.
fn adler32(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    summed(cx, args, |bytes, start| {
        let (mut a, mut b) = (start & 0xffff, start >> 16 & 0xffff);
        for chunk in bytes.chunks(5000) {
            for &x in chunk {
                a += x as u32;
                b += a;
            }
            a %= 65521;
            b %= 65521;
        }
        b << 16 | a
    })
}
fn summed(cx: &mut Cx, args: &[Value], sum: impl Fn(&[u8], u32) -> u32) -> R {
    let all = rest(cx, args, 0, 2)?;
    let piece = &all[..all.len().min(SUMMED)];
    let sum = sum(piece, args[1].as_fix().unwrap_or(0) as u32);
    let from = args[2].as_fix().unwrap_or(0);
    let next = if piece.len() < all.len() { Value::fix(from + SUMMED as i64) } else { Value::NIL };
    Ok(cx.array(&[Value::fix(sum as i64), next]))
}

/// Intrinsics of zlib.
pub static TABLE: &[NativeDef] = &[
    intrinsic("__deflate_new", 2, 2, deflate_new),
    intrinsic("__deflate_run", 4, 4, deflate_run),
    intrinsic("__inflate_new", 1, 1, inflate_new),
    intrinsic("__inflate_run", 3, 3, inflate_run),
    intrinsic("__crc32", 3, 3, crc32),
    intrinsic("__adler32", 3, 3, adler32),
];
