//! Global variables that the loop itself keeps: `$!`, `$~` and its parts, and those that are read-only.

use crate::Cx;
use crate::doors::*;
use kumi_heap::*;

/// `__errinfo()`: `$!`; `__set_errinfo(e)`.
fn errinfo(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    Ok(cx.task.err)
}

fn set_errinfo(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    cx.task.err = a[0];
    Ok(a[0])
}

fn global_names(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let v: Vec<Value> = cx.global_names().into_iter().map(Value::sym).collect();
    Ok(cx.array(&v))
}

/// `__global_trace(name, on)`
fn global_trace(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let name = cx.arg_name(a, 0)?;
    let i = cx.global_index(name)?;
    cx.globals[i].set_traced(a[1].truthy());
    Ok(Value::NIL)
}

/// `__global_known(name)`: has anybody named it?
fn global_known(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let name = cx.arg_name(a, 0)?;
    Ok(Value::bool(cx.global_defined(name)))
}

fn last_match_hook(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    Ok(cx.last_match())
}

fn set_last_match_hook(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    cx.match_set(a[1])
}

fn read_only(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let Some(s) = a[0].as_sym() else { return Ok(Value::NIL) };
    let n = cx.sym_name(s);
    if cx.in_system() {
        cx.set_global_of(s, a[1]);
        return Ok(a[1]);
    }
    Err(cx.name_error(&format!("{n} is a read-only variable"), Value::NIL, s))
}

fn match_part(cx: &mut Cx, x: u8) -> R {
    cx.back_ref(x)
}

impl Cx {
    /// `$~ = v`
    pub(crate) fn match_set(&mut self, v: Value) -> R {
        let c = self.real_class(v);
        if !v.is_nil() && c != self.k.match_data {
            let n = self.class_name(c);
            return Err(self.type_error(&format!("wrong argument type {n} (expected MatchData)")));
        }
        self.set_last_match(v);
        Ok(v)
    }
    /// Globals the loop itself keeps.
    pub(crate) fn hook_globals(&mut self) {
        self.hook_global("$!", Some(errinfo), Some(read_only));
        self.hook_global("$&", Some(|cx, _, _| match_part(cx, 1)), Some(read_only));
        self.hook_global("$`", Some(|cx, _, _| match_part(cx, 2)), Some(read_only));
        self.hook_global("$'", Some(|cx, _, _| match_part(cx, 3)), Some(read_only));
        self.hook_global("$+", Some(|cx, _, _| match_part(cx, 4)), Some(read_only));
        for name in ["$:", "$\"", "$-I", "$LOAD_PATH", "$LOADED_FEATURES", "$<", "$-a", "$-l", "$-p"] {
            self.hook_global(name, None, Some(read_only));
        }
        self.hook_global("$~", Some(last_match_hook), Some(set_last_match_hook));
    }
}

pub(super) static TABLE: &[NativeDef] = &[
    intrinsic("__errinfo", 0, 0, errinfo).guard(Guard::None),
    intrinsic("__set_errinfo", 1, 1, set_errinfo).guard(Guard::None),
    intrinsic("__global_trace", 2, 2, global_trace).guard(Guard::None),
    intrinsic("__global_known", 1, 1, global_known).guard(Guard::None),
    intrinsic("__global_names", 0, 0, global_names).guard(Guard::None),
];
