//! Plain keys, for the collection classes: the rules are in `kumi_vm::hash_key`.

use kumi_vm::{Cx, Value};

/// Hash of a value when no user code has to run for it.
pub fn plain_hash(cx: &mut Cx, v: Value) -> Option<u64> {
    cx.plain_hash(v)
}
/// `a.eql?(b)` when no user code has to run for it.
pub fn plain_eql(cx: &mut Cx, a: Value, b: Value) -> Option<bool> {
    cx.plain_eql(a, b)
}
