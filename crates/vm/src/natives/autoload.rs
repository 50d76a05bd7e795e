//! Constants that a file is going to define.
//!
//! **Invariant.** Such a constant's value is undef until its file has run; `loading` names the one thread that runs it, and
//! only that thread sees the value before it is done. A thread that is
//! not there any more, since the process forked, counts as none.

use crate::Cx;
use crate::doors::*;
use kumi_heap::*;

/// `__set_autoload(module, name, path)`, `__autoload_path(module, name)`
fn set_autoload(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let c = cx.arg_class(a, 0)?;
    let n = cx.arg_name(a, 1)?;
    let p = cx.arg_str(a, 2)?;
    let path: Box<[u8]> = p.bytes().into();
    cx.set_autoload(c, n, path);
    Ok(Value::NIL)
}

impl Cx {
    /// Lets a module's constant stand for what the file `path` is going to define. One that has a value keeps it.
    pub fn set_autoload(&mut self, owner: Gc<ClassObj>, name: Sym, path: Box<[u8]>) {
        if owner.data.consts.get(&name).is_some_and(|k| !k.value.is_undef()) {
            return;
        }
        self.set_const(owner, name, Value::UNDEF);
        if let Some(k) = self.heap.edit(owner).data.consts.get_mut(&name) {
            k.autoload = Some(path);
        }
    }
}

fn autoload_path(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let c = cx.arg_class(a, 0)?;
    let n = cx.arg_name(a, 1)?;
    let p = c.data.consts.get(&n).filter(|k| k.value.is_undef()).and_then(|k| k.autoload.clone());
    Ok(match p {
        Some(p) => cx.str_enc(&p, crate::EncIndex::UTF_8),
        None => Value::NIL,
    })
}

/// `__autoload_begin(module, name)`: this thread loads the constant's file: true; false when another one does it;
/// nil when this one is at it already, or there is nothing to load.
fn autoload_begin(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let c = cx.arg_class(a, 0)?;
    let n = cx.arg_name(a, 1)?;
    let me = cx.task.root();
    let by = c.data.consts.get(&n).map_or(0, |k| k.loading);
    let gone = by != 0 && !cx.task_lives(by);
    Ok(match cx.heap.edit(c).data.consts.get_mut(&n) {
        // Who began was a thread of the process that this one was forked from.
        Some(k) if gone && k.autoload.is_some() => {
            k.loading = me;
            Value::TRUE
        }
        Some(k) if k.autoload.is_none() || k.loading == me => Value::NIL,
        Some(k) if k.loading != 0 => Value::FALSE,
        Some(k) => {
            k.loading = me;
            Value::TRUE
        }
        None => Value::NIL,
    })
}

/// `__autoload_take(module, name)`: this thread loads the constant's file, whoever began.
fn autoload_take(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let c = cx.arg_class(a, 0)?;
    let n = cx.arg_name(a, 1)?;
    let me = cx.task.root();
    if let Some(k) = cx.heap.edit(c).data.consts.get_mut(&n).filter(|k| k.loading != 0) {
        k.loading = me;
        cx.const_changed(n);
    }
    Ok(Value::NIL)
}

/// `__autoload_end(module, name)`: what was loaded is for all to see.
fn autoload_end(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let c = cx.arg_class(a, 0)?;
    let n = cx.arg_name(a, 1)?;
    if let Some(k) = cx.heap.edit(c).data.consts.get_mut(&n) {
        k.loading = 0;
        if !k.value.is_undef() {
            k.autoload = None;
        }
        cx.const_changed(n);
    }
    Ok(Value::NIL)
}

fn drop_autoload(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let c = cx.arg_class(a, 0)?;
    let n = cx.arg_name(a, 1)?;
    if c.data.consts.get(&n).is_some_and(|k| k.value.is_undef() && k.loading == 0) {
        cx.heap.edit(c).data.consts.remove(&n);
        cx.heap.edit(c).data.const_order.retain(|s| *s != n);
        cx.const_changed(n);
    }
    Ok(Value::NIL)
}

pub(super) static TABLE: &[NativeDef] = &[
    intrinsic("__set_autoload", 3, 3, set_autoload).guard(Guard::Classes),
    intrinsic("__autoload_path", 2, 2, autoload_path).guard(Guard::Classes),
    intrinsic("__autoload_begin", 2, 2, autoload_begin).guard(Guard::Classes),
    intrinsic("__autoload_end", 2, 2, autoload_end).guard(Guard::Classes),
    intrinsic("__autoload_take", 2, 2, autoload_take).guard(Guard::Classes),
    intrinsic("__drop_autoload", 2, 2, drop_autoload).guard(Guard::Classes),
];
