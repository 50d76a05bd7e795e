//! JSON text to values, in two steps: `__json_read` makes a tape of a text, with the worker
//! detached if it is long; `__json_build` makes values of a tape, a piece at a time.
//!
//! Invariant: between two pieces, all values made so far are reached from the caller's array
//! `work`: the document at 0, the keys' strings and symbols in the array at 1, then what is open,
//! outermost first, each object followed by the key that waits for its value. Keys are
//! shared: the same key text gives the same frozen String within one document.

use crate::json::tape::{Fault, Item, Options, Tape};
use kumi_vm::*;

/// A tape and how far it was built.
struct Reading {
    t: Tape,
    /// The next item.
    at: usize,
    /// What is open: is it an object, and how many values are to come.
    open: Vec<(bool, u32)>,
}
impl Payload for Reading {
    fn bytes(&self) -> usize {
        self.t.size()
    }
    /// It holds no value.
    fn confined(&self) -> bool {
        true
    }
}

/// What a detached worker read.
struct Read(Result<Tape, Fault>);

fn fault(cx: &mut Cx, f: Fault) -> Exit {
    let c = cx.const_path(f.class).and_then(|v| v.as_class()).unwrap_or(cx.k.standard_error);
    let e = cx.make_exc(c, &f.message);
    if f.line > 0 {
        let (l, k) = (cx.intern("@line"), cx.intern("@column"));
        cx.ivar_set(e, l, Value::fix(f.line as i64));
        cx.ivar_set(e, k, Value::fix(f.column as i64));
    }
    cx.raise(e)
}

/// `__json_read(text, symbolize, allow_nan, max_nesting, freeze, trailing_comma, control_chars)`
fn read(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let s = cx.arg_str(args, 0)?;
    let o = Options {
        symbols: args[1].truthy(),
        allow_nan: args[2].truthy(),
        max_nesting: args[3].as_fix().unwrap_or(0).max(0) as usize,
        freeze: args[4].truthy(),
        trailing_comma: args[5].truthy(),
        control_chars: args[6].truthy(),
    };
    let read = if cx.worth_detaching(s.bytes().len() as u64 * 6) {
        match cx.detached::<Read>() {
            // The text may have changed since, as it may the moment after.
            Some(r) => r.0,
            None => {
                let v = args[0];
                return Err(cx.detach(s.bytes().len() as u64 * 6, v, move |_| {
                    let text = v.as_str().map_or(Vec::new(), |s| Vec::copy(s.bytes()));
                    Read(Tape::read(text, o))
                }));
            }
        }
    } else {
        Tape::read(Vec::copy(s.bytes()), o)
    };
    match read {
        Ok(t) => Ok(cx.data(cx.k.object, Reading { t, at: 0, open: Vec::new() })),
        Err(f) => Err(fault(cx, f)),
    }
}

fn frozen(v: Value) -> Value {
    if let Some(h) = v.header() {
        h.set(flag::FROZEN);
    }
    v
}

/// The value of key `k`, made when first needed.
fn key(cx: &mut Cx, t: &Tape, keys: Gc<ArrayObj>, k: u32) -> R {
    if t.options.symbols {
        return cx.sym_of(t.key(k)).map(Value::sym);
    }
    if let Some(v) = keys.get(k as usize).filter(|v| !v.is_nil()) {
        return Ok(v);
    }
    let v = frozen(cx.str_enc(t.key(k), EncIndex::UTF_8));
    // Keys are numbered in the order in which they come.
    if keys.len() == k as usize {
        cx.push(keys, v);
    }
    Ok(v)
}

/// `__json_build(reading, work)`: builds a piece; is the document there?
fn build(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let wrong = |cx: &mut Cx| Err(cx.type_error("reading expected"));
    // SAFETY: the reader is the caller's alone, and this native's one reference to it.
    let Some(r) = (unsafe { args[0].payload_mut::<Reading>() }) else { return wrong(cx) };
    let Some(mut work) = args[1].as_array().map(Held::new) else { return wrong(cx) };
    let Some(keys) = work.get(1).and_then(|v| v.as_array()) else { return wrong(cx) };
    let freeze = r.t.options.freeze;
    let mut pace = Pace::new();
    while let Some(&item) = r.t.items.get(r.at) {
        if pace.is_over() {
            return Ok(Value::FALSE);
        }
        r.at += 1;
        let mut v = match item {
            Item::Nil => Value::NIL,
            Item::Bool(b) => Value::bool(b),
            Item::Int(n) => cx.int(n),
            Item::Float(f) => cx.float(f),
            Item::Big(i) => match r.t.bigs.get(i as usize) {
                Some(n) => cx.big(n.clone()),
                None => Value::NIL,
            },
            Item::Text(p) => {
                let v = cx.str_enc(r.t.bytes(p), EncIndex::UTF_8);
                if freeze { frozen(v) } else { v }
            }
            Item::Key(k) => {
                let k = key(cx, &r.t, keys, k)?;
                cx.push(work.gc(), k);
                continue;
            }
            Item::Array(n) | Item::Object(n) => {
                let object = matches!(item, Item::Object(_));
                let v = if object { cx.hash() } else { cx.array(&[]) };
                if let Some(mut a) = v.as_array().filter(|_| n > 3).map(Held::new) {
                    a.vec().reserve(n as usize);
                }
                if n > 0 {
                    cx.push(work.gc(), v);
                    r.open.push((object, n));
                    continue;
                }
                if freeze { frozen(v) } else { v }
            }
        };
        // The value is complete: into what is open around it.
        loop {
            let Some(open) = r.open.last_mut() else {
                cx.heap.before_store(work.val(), v);
                work.set(0, v);
                return Ok(Value::TRUE);
            };
            open.1 -= 1;
            let (object, done) = (open.0, open.1 == 0);
            let k = if object { work.pop() } else { None };
            let Some(around) = work.seen().last() else { return wrong(cx) };
            if let (Some(h), Some(k)) = (around.as_hash(), k) {
                cx.hash_put(h, k, v)?;
            } else if let Some(a) = around.as_array() {
                cx.push(a, v);
            }
            if !done {
                break;
            }
            r.open.pop();
            work.pop();
            v = if freeze { frozen(around) } else { around };
        }
    }
    wrong(cx)
}

/// The parser as intrinsics.
pub static TABLE: &[NativeDef] = &[intrinsic("__json_read", 7, 7, read), intrinsic("__json_build", 2, 2, build)];
