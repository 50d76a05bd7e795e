//! Message digests: one running computation a cell, for lib/digest.rb.

use digest::DynDigest;
use kumi_vm::*;

struct State {
    d: Box<dyn DynDigest>,
}
impl Payload for State {
    fn bytes(&self) -> usize {
        256
    }
    /// No values in it.
    fn confined(&self) -> bool {
        true
    }
}

fn fresh(name: &str) -> Option<Box<dyn DynDigest>> {
    Some(match name {
        "MD5" => Box::<md5::Md5>::default(),
        "SHA1" => Box::<sha1::Sha1>::default(),
        "SHA256" => Box::<sha2::Sha256>::default(),
        "SHA384" => Box::<sha2::Sha384>::default(),
        "SHA512" => Box::<sha2::Sha512>::default(),
        "RMD160" => Box::<ripemd::Ripemd160>::default(),
        _ => return None,
    })
}
fn state(cx: &mut Cx, v: Value) -> Result<&'static mut State, Exit> {
    match v.as_data::<State>() {
        Some(s) => Ok(s),
        None => Err(cx.type_error("digest state expected")),
    }
}

/// `__digest_new(name)`
fn new(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let name = cx.text(args[0]);
    match fresh(&name) {
        Some(d) => Ok(cx.data(cx.k.object, State { d })),
        None => Err(cx.arg_error(&format!("unknown digest {name}"))),
    }
}
/// Bytes that one call takes, so that nobody waits long for its end.
const PIECE: usize = 64 << 10;

/// `__digest_update(state, bytes, from)`: takes a piece from byte `from` on; where the next one begins, nil at the end.
fn update(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let s = cx.arg_str(args, 1)?;
    let from = args[2].as_fix().unwrap_or(0).max(0) as usize;
    let Some(rest) = s.bytes().get(from..) else { return Ok(Value::NIL) };
    let piece = &rest[..rest.len().min(PIECE)];
    state(cx, args[0])?.d.update(piece);
    Ok(if piece.len() < rest.len() { Value::fix((from + PIECE) as i64) } else { Value::NIL })
}
/// `__digest_value(state)`: the digest so far; the state goes on.
fn value(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let b = state(cx, args[0])?.d.box_clone().finalize();
    Ok(cx.str_enc(&b, EncIndex::BINARY))
}
/// `__digest_copy(state)`
fn copy(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let d = state(cx, args[0])?.d.box_clone();
    Ok(cx.data(cx.k.object, State { d }))
}
fn reset(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    state(cx, args[0])?.d.reset();
    Ok(args[0])
}

/// Intrinsics of digests.
pub static TABLE: &[NativeDef] = &[
    intrinsic("__digest_new", 1, 1, new),
    intrinsic("__digest_update", 3, 3, update),
    intrinsic("__digest_value", 1, 1, value),
    intrinsic("__digest_copy", 1, 1, copy),
    intrinsic("__digest_reset", 1, 1, reset),
];
