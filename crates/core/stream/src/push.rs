//! Pushed documents: the binder alone, without demand. What a program pushes is bound at once and its elements come out.

use crate::binding::{self, Binding};
use crate::doc;
use crate::{fail, leaf, open, payload, tree};
use kumi_flow::Failure;
use kumi_vm::*;
use kumi_xml::{Batch, BindError, Binder, Item, Limit, Progress};
use parking_lot::Mutex;
use std::sync::{Arc, OnceLock};

pub static TABLE: &[NativeDef] = &[leaf("__xpush", 2, push), leaf("__xpush_feed", 2, feed), leaf("__xpush_next", 1, next)];

struct State {
    binder: Binder,
    batch: Batch,
    at: usize,
    /// Told after what came before it.
    failed: Option<BindError>,
    /// The binder wants more input.
    dry: bool,
    /// The origin's: what the document's element is called.
    root: Arc<OnceLock<Box<str>>>,
}

/// A pushed document.
struct Push {
    state: Mutex<State>,
    binding: Arc<Binding>,
    origin: Value,
}

impl Payload for Push {
    fn trace(&self, m: &mut Marker) {
        m.mark(self.origin);
    }
    fn bytes(&self) -> usize {
        64 << 10
    }
    fn shares(&self) -> bool {
        true
    }
}

const NAME: &str = "(pushed)";

/// `__xpush(schema, options)`
fn push(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let binding = binding::binding(cx, a[0])?;
    let root = binding.schema.class(binding.schema.root().class());
    if !root.whole {
        let why = format!("{} has lists: elements that are pushed come whole", root.name);
        return Err(cx.arg_error(&why));
    }
    let settings = open::settings(cx, a[1])?;
    let binder = Binder::new(binding.schema.clone(), settings.bind);
    let object = cx.k.object;
    let root = Arc::default();
    let origin = doc::origin(cx, binding.clone(), a[0], NAME, Arc::clone(&root));
    let state = State { binder, batch: Batch::new(), at: 0, failed: None, dry: true, root };
    Ok(cx.data(object, Push { state: Mutex::new(state), binding, origin }))
}

/// `__xpush_feed(push, bytes)`; nil: that was all.
fn feed(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let p = payload::<Push>(cx, &a[0], "a pushed document")?;
    if a[1].is_nil() {
        let mut state = p.state.lock();
        state.binder.finish();
        state.dry = false;
        return Ok(Value::NIL);
    }
    let bytes = cx.arg_str(a, 1)?;
    let mut state = p.state.lock();
    state.dry = false;
    if let Err(e) = state.binder.feed(bytes.bytes()) {
        state.failed.get_or_insert(e);
    }
    Ok(Value::NIL)
}

/// `__xpush_next(push)`: the next element; nil when more must be pushed, and at the end.
fn next(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let p = payload::<Push>(cx, &a[0], "a pushed document")?;
    let mut state = p.state.lock();
    let s = &mut *state;
    loop {
        while let Some(item) = s.batch.items.get(s.at) {
            s.at += 1;
            if let Item::Row { class, row, .. } = *item {
                return Ok(tree::record(cx, &p.binding, class, p.origin, s.batch.row_bytes(row)));
            }
        }
        s.batch.clear();
        s.at = 0;
        if let Some(e) = &s.failed {
            let e = Failure::document(NAME, e.clone());
            drop(state);
            return Err(fail::failure(cx, &e));
        }
        if s.dry {
            return Ok(Value::NIL);
        }
        match s.binder.bind(&mut s.batch, Limit { rows: 256, bytes: 256 << 10 }) {
            Ok(Progress::Full) => {}
            Ok(Progress::NeedInput | Progress::End) => s.dry = true,
            Err(e) => s.failed = Some(e),
        }
        if let Some(root) = s.binder.root().filter(|_| s.root.get().is_none()) {
            s.root.get_or_init(|| root.into());
        }
    }
}
