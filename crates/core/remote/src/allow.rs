//! Which methods others may call.
//!
//! **Invariant.** A method is called for another node only if all of this holds. It is public. Its code is the program's: bytecode, an
//! accessor, a member of a Struct, a block of `define_method`. It stands in a class of the object below Object, or in a module that names
//! it by `remote_methods`. A class that names methods gives those alone. So nothing of Kernel, no `send`, `instance_eval` or reflection is
//! reached, under no alias either.

use crate::leaf;
use kumi_vm::method::Body;
use kumi_vm::*;
use parking_lot::Mutex;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// What was found of methods, by the serial of the class and the name. A serial is one class's until its methods change.
#[derive(Default)]
pub struct Allowed(Mutex<FxHashMap<(u64, u32), bool>>);

/// Verdicts that are kept.
const KEPT: usize = 1 << 12;

/// Called by the language, not by a program.
const HOOKS: [&[u8]; 8] = [
    b"method_missing",
    b"respond_to_missing?",
    b"initialize",
    b"initialize_copy",
    b"initialize_dup",
    b"initialize_clone",
    b"marshal_dump",
    b"marshal_load",
];

/// The hidden variables of a class or module: names that others may call, and those that may be done twice.
const METHODS: &str = "@__remote_methods";
const IDEMPOTENT: &str = "@__remote_idempotent";

/// May others call this method of an object?
pub fn may_call(cx: &mut Cx, allowed: &Allowed, object: Value, name: Sym) -> bool {
    let Some(class) = object.header().and_then(|h| h.class().as_class()) else { return false };
    // Read before the search: what changes meanwhile has another serial.
    let key = (class.serial.get().into(), name.0);
    if let Some(known) = allowed.0.lock().get(&key) {
        return *known;
    }
    let found = judge(cx, class, name);
    let mut all = allowed.0.lock();
    if all.len() >= KEPT {
        all.clear();
    }
    all.insert(key, found);
    found
}

fn judge(cx: &mut Cx, class: Gc<ClassObj>, name: Sym) -> bool {
    if HOOKS.contains(&cx.syms.name(name)) {
        return false;
    }
    let first = cx.find_method(class, name);
    if first == NO_METHOD || cx.method(first).vis != Vis::Public {
        return false;
    }
    let mut at = first;
    while at != NO_METHOD && matches!(cx.method(at).body, Body::Zsuper) {
        at = cx.next_method(class, at, name);
    }
    if at == NO_METHOD {
        return false;
    }
    let m = cx.method(at);
    let written =
        matches!(m.body, Body::Code(_) | Body::AttrGet(_) | Body::AttrSet(_) | Body::MemberGet(_) | Body::MemberSet(_) | Body::Proc(_));
    if !written || m.builtin || m.native.is_some() {
        return false;
    }
    let owner = m.owner;
    if owner.role == Role::Module {
        return owner != cx.k.kernel && above(class).any(|c| names(cx, c, METHODS).is_some_and(|n| n.contains(&name)));
    }
    if owner == cx.k.object || owner == cx.k.basic_object {
        return false;
    }
    names(cx, owner, METHODS).is_none_or(|n| n.contains(&name))
}

/// Whether it does no harm to do this method twice.
pub fn is_idempotent(cx: &mut Cx, object: Value, name: Sym) -> bool {
    let Some(class) = object.header().and_then(|h| h.class().as_class()) else { return false };
    above(class).any(|c| names(cx, c, IDEMPOTENT).is_some_and(|n| n.contains(&name)))
}

fn above(class: Gc<ClassObj>) -> impl Iterator<Item = Gc<ClassObj>> {
    let mro: Arc<[Gc<ClassObj>]> = class.data.mro.iter().copied().collect();
    (0..mro.len()).map(move |i| mro[i])
}

fn names(cx: &mut Cx, class: Gc<ClassObj>, of: &'static str) -> Option<FxHashSet<Sym>> {
    let of = cx.intern(of);
    let list = cx.ivar_get(class.val(), of).as_array()?;
    Some(list.seen().iter().filter_map(|v| v.as_sym()).collect())
}

/// `__rem_names(class or module, names, idempotent)`: adds names.
fn add(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let class = cx.arg_class(a, 0)?;
    let of = if a[2].truthy() { IDEMPOTENT } else { METHODS };
    let mut all: Vec<Value> = names(cx, class, of).into_iter().flatten().map(Value::sym).collect();
    all.extend(a[1].as_array().map_or(Vec::new(), |l| l.seen().to_vec()));
    let all = cx.array_vec(all);
    let of = cx.intern(of);
    cx.ivar_set(class.val(), of, all);
    let allowed = &crate::state::made(cx)?.allowed;
    allowed.0.lock().clear();
    Ok(Value::NIL)
}

/// `__rem_export(object)`: it stays where it is from now on.
fn export(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    // What is no more than its value may stand in other places as well.
    let plain = matches!(a[0].kind(), None | Some(Kind::Str | Kind::Float | Kind::Big | Kind::Pair | Kind::Range));
    if plain || a[0].as_sym().is_some() {
        let what = cx.describe_type(a[0]);
        return Err(cx.type_error(&format!("{what} is no object that could stay on its node")));
    }
    let mark = cx.intern(kumi_core_segments::encode::STAYS);
    cx.heap.publish(a[0]);
    cx.ivar_set(a[0], mark, Value::TRUE);
    Ok(a[0])
}

pub static TABLE: &[NativeDef] = &[leaf("__rem_names", 3, add), leaf("__rem_export", 1, export)];
