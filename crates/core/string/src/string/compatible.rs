//! Whether what two objects hold can be put into one string, and in which encoding.

use crate::encoding::{EncObj, value};
use crate::text::*;
use kumi_text::encoding::EncIndex;
use kumi_vm::*;

pub static TABLE: &[NativeDef] = &[n("Encoding.", "compatible?", 2, 2, compatible_m), intrinsic("__str_check_compat", 2, 2, check_compat)];

/// What an object says of its encoding: string bytes matter, other objects only have one.
fn side(cx: &mut Cx, v: Value) -> Option<(EncIndex, Option<Str>)> {
    if let Some(s) = v.as_str() {
        return Some((enc(s), Some(s)));
    }
    if let Some(y) = v.as_sym() {
        return Some((crate::names::sym_enc(cx, y), None));
    }
    if let Some(e) = v.as_data::<EncObj>() {
        return Some((e.0, None));
    }
    let re = v.as_data::<crate::regexp::ReObj>().and_then(|r| r.re.clone());
    re.map(|r| (r.encoding(), None))
}
fn compatible_m(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let (Some((a, sa)), Some((b, sb))) = (side(cx, args[0]), side(cx, args[1])) else { return Ok(Value::NIL) };
    let e = match (sa, sb) {
        _ if a == b => Some(a),
        (Some(x), Some(y)) => compatible(x, y),
        (_, Some(y)) if y.bytes().is_empty() => Some(a),
        (Some(x), _) if x.bytes().is_empty() => Some(if a.is_ascii_compatible() && b == EncIndex::US_ASCII { a } else { b }),
        _ if !a.is_ascii_compatible() || !b.is_ascii_compatible() => None,
        // An object without bytes counts as ASCII only when it is US-ASCII.
        (None, _) if sb.is_none() && b == EncIndex::US_ASCII => Some(a),
        (None, None) if a == EncIndex::US_ASCII => Some(b),
        (Some(x), None) => {
            if b == EncIndex::US_ASCII {
                Some(a)
            } else if is_ascii(x) {
                Some(b)
            } else {
                None
            }
        }
        (None, Some(y)) => {
            if is_ascii(y) {
                Some(if args[0].as_data::<crate::regexp::ReObj>().is_some() { b } else { a })
            } else if a == EncIndex::US_ASCII {
                Some(b)
            } else {
                None
            }
        }
        _ => None,
    };
    Ok(match e {
        Some(e) => value(cx, e),
        None => Value::NIL,
    })
}
/// `__str_check_compat(a, b)`: Encoding::CompatibilityError when they don't go together.
fn check_compat(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let (a, b) = (me(cx, args[0])?, me(cx, args[1])?);
    let e = compat(cx, a, b)?;
    Ok(crate::encoding::value(cx, e))
}
