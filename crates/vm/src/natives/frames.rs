//! What prelude code asks of the frames it was called from: backtraces, and the place of the nearest user frame.
//!
//! **Invariant.** Frames are looked at while the native runs and never kept.

use crate::doors::NO_METHOD;
use crate::doors::*;
use crate::interp::Backtrace;
use crate::{Cx, sym};
use kumi_heap::*;

/// `__caller(skip, max or nil)`: frames of user code as [path, line, label, base_label], innermost first.
fn caller(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let entries = cx.capture_trace(NO_METHOD);
    let skip = a[0].as_fix().unwrap_or(0).max(0) as usize;
    let max = a[1].as_fix().map_or(usize::MAX, |n| n.max(0) as usize);
    cx.location_rows(&entries, skip, max)
}

/// `__exc_frames(exception)`: the rows of its captured backtrace, or nil.
fn exc_frames(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let t = cx.ivar_get(a[0], sym::IV_LOCATIONS);
    match t.as_data::<Backtrace>() {
        Some(b) => {
            let e = b.entries.clone();
            cx.location_rows(&e, 0, usize::MAX)
        }
        None => Ok(Value::NIL),
    }
}

/// `__frame_method()`: [name, called name] of the method the nearest user frame runs, or nil.
fn frame_method(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let Some(f) = cx.user_frame() else { return Ok(Value::NIL) };
    match cx.current_method(f) {
        Some(m) => {
            let (n, c) = (cx.methods[m as usize].name, cx.methods[m as usize].called);
            Ok(cx.array(&[Value::sym(n), Value::sym(c)]))
        }
        None => Ok(Value::NIL),
    }
}

/// `__called`: the name by which the method of the prelude that asks was called: its own, or an alias.
fn called(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let name = cx.current_method(cx.fp()).map(|m| cx.methods[m as usize].called);
    Ok(name.map_or(Value::NIL, Value::sym))
}

/// `__frame_block_given()`: has the nearest user frame a block?
fn frame_block_given(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    Ok(Value::bool(cx.user_frame().is_some_and(|f| !f.block().is_nil())))
}

/// `__frame_self()`, `__frame_nesting()`: self and lexical modules of the nearest user frame.
fn frame_self(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    Ok(cx.user_frame().map_or(cx.main_object, |f| f.r(0)))
}

fn frame_nesting(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let Some(f) = cx.user_frame() else { return Ok(cx.array(&[])) };
    let v: Vec<Value> = cx.lexical_modules(f.cref()).into_iter().map(|c| c.val()).collect();
    Ok(cx.array(&v))
}

/// `__frame_const(name)`: a constant as the nearest user frame sees it; undef when there is none.
fn frame_const(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let n = cx.arg_name(a, 0)?;
    let Some(f) = cx.user_frame() else { return Ok(Value::UNDEF) };
    Ok(cx.lookup_const(f.cref(), n).map_or(Value::UNDEF, |(_, k)| k.value))
}

/// `__frame_path()`: file of the nearest user frame; `__frame_line()`.
fn frame_path(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    match cx.user_frame() {
        Some(f) => Ok(cx.str(&f.iseq().path)),
        None => Ok(Value::NIL),
    }
}

/// `__frame_real_path()`: where that file really was when it was loaded; nil for text that came from no file.
fn frame_real_path(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let real = cx.user_frame().and_then(|f| f.iseq().real_path.as_ref());
    Ok(real.map_or(Value::NIL, |p| cx.str(p)))
}

fn frame_line(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let Some(f) = cx.user_frame() else { return Ok(Value::NIL) };
    let pc = cx.user_pc(f);
    Ok(Value::fix(f.iseq().line_at(pc) as i64))
}

/// `__using(pairs)`: activates [refined class, module] pairs in the nearest user frame's place.
fn frame_use_refinements(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let Some(f) = cx.user_frame() else { return Ok(Value::NIL) };
    let Some(c) = f.cref().cell::<CrefObj>() else { return Ok(Value::NIL) };
    let mut all: Vec<Value> = a[0].as_array().map_or(Vec::new(), |l| l.seen().to_vec());
    if let Some(old) = c.refinements.as_array() {
        all.extend(old.seen());
    }
    let v = cx.array(&all);
    cx.heap.before_store(f.cref(), v);
    cx.heap.edit(c).refinements = v;
    // Cached constants and calls were made without them.
    cx.touch(cx.k.basic_object);
    Ok(Value::NIL)
}

/// `__used_refinements()`
fn used_refinements(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    Ok(cx.user_frame().and_then(|f| f.cref().cell::<CrefObj>()).map_or(Value::NIL, |c| c.refinements))
}

/// `__set_visibility(n, module_func)`: default visibility of the nearest user frame (0 public, 1 private, 2 protected).
fn set_visibility(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let v = match a[0].as_fix() {
        Some(1) => Vis::Private,
        Some(2) => Vis::Protected,
        _ => Vis::Public,
    };
    cx.set_default_visibility(v, a[1].truthy());
    Ok(Value::NIL)
}

/// `__default_visibility(module)`: 0 public, 1 private, 2 protected, 3 module_function, as in force where user
/// code runs in that module's body; public elsewhere.
fn default_visibility(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    if !user_definee(cx, a[0]) {
        return Ok(Value::fix(0));
    }
    let (v, f) = cx.default_visibility();
    Ok(Value::fix(if f { 3 } else { v as i64 }))
}

fn user_definee(cx: &mut Cx, m: Value) -> bool {
    cx.user_frame().is_some_and(|f| cx.definee(f).is_ok_and(|c| c.val() == m))
}

/// `__frame_defines(module)`: does `def` in the nearest user frame go there?
fn frame_defines(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    Ok(Value::bool(user_definee(cx, a[0])))
}

impl Cx {
    /// An Array of [path, line, label, base label] for `max` entries of a backtrace after the first `skip`.
    pub fn location_rows(&mut self, entries: &[crate::interp::TraceEntry], skip: usize, max: usize) -> R {
        let mut rows = Vec::new();
        for e in entries.iter().skip(skip).take(max) {
            let (path, line, label, base) = self.describe_entry(*e);
            let (p, l, b) = (self.str(&path), self.str(&label), self.str(&base));
            rows.push(self.array(&[p, Value::fix(line as i64), l, b]));
        }
        Ok(self.array(&rows))
    }
}

pub(super) static TABLE: &[NativeDef] = &[
    intrinsic("__caller", 2, 2, caller).guard(Guard::None),
    intrinsic("__exc_frames", 1, 1, exc_frames).guard(Guard::None),
    intrinsic("__frame_method", 0, 0, frame_method).guard(Guard::None),
    intrinsic("__called", 0, 0, called).guard(Guard::None),
    intrinsic("__frame_block_given", 0, 0, frame_block_given).guard(Guard::None),
    intrinsic("__frame_self", 0, 0, frame_self).guard(Guard::None),
    intrinsic("__frame_nesting", 0, 0, frame_nesting).guard(Guard::None),
    intrinsic("__frame_const", 1, 1, frame_const).guard(Guard::None),
    intrinsic("__frame_path", 0, 0, frame_path).guard(Guard::None),
    intrinsic("__frame_real_path", 0, 0, frame_real_path).guard(Guard::None),
    intrinsic("__frame_line", 0, 0, frame_line).guard(Guard::None),
    intrinsic("__using", 1, 1, frame_use_refinements).guard(Guard::Classes),
    intrinsic("__used_refinements", 0, 0, used_refinements).guard(Guard::None),
    intrinsic("__set_visibility", 2, 2, set_visibility).guard(Guard::Classes),
    intrinsic("__default_visibility", 1, 1, default_visibility).guard(Guard::None),
    intrinsic("__frame_defines", 1, 1, frame_defines).guard(Guard::None),
];
