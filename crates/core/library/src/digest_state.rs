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
fn state(cx: &mut Cx, v: Value) -> Result<&mut State, Exit> {
    if v.as_data::<State>().is_none() {
        return Err(cx.type_error("digest state expected"));
    }
    cx.heap.edit_data(v).ok_or(Exit::Miss)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_of_abc() {
        for (name, want) in [
            ("MD5", "900150983cd24fb0d6963f7d28e17f72"),
            ("SHA1", "a9993e364706816aba3e25717850c26c9cd0d89d"),
            ("SHA256", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            ("SHA384", "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7"),
            (
                "SHA512",
                "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
            ),
            ("RMD160", "8eb208f7e05d987a9b044a8e98c6b087f15a0bfc"),
        ] {
            let mut d = fresh(name).unwrap();
            d.update(b"abc");
            let hex: String = d.finalize().iter().map(|b| format!("{b:02x}")).collect();
            assert_eq!(hex, want, "{name}");
        }
        assert!(fresh("MD4").is_none());
    }
}
