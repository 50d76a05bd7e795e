//! Open documents and what all of them have in common.

use crate::binding::Binding;
use crate::leaf;
use crate::list::{CursorData, ListData};
use crate::tree::{Part, View};
use kumi_flow::{Producer, Registry};
use kumi_vm::*;
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering::*};
use std::sync::{Arc, OnceLock};

pub static TABLE: &[NativeDef] = &[
    leaf("__xml_setup", 1, setup),
    leaf("__xstat", 0, stat),
    leaf("__xdoc_stat", 1, doc_stat),
    leaf("__xdoc_close", 1, close),
    leaf("__xfeed", 2, feed),
];

/// The runtime's: the module Kumihimo::XML, and where documents are opened.
#[derive(Default)]
pub struct Shared {
    module: AtomicU64,
    registry: OnceLock<Registry>,
    watch: OnceLock<Arc<dyn OutsideWatch>>,
    /// Bytes of kept elements that the heap has been told of.
    told: AtomicI64,
    schemas: AtomicU32,
}

/// Documents are at rest while the process forks.
pub fn around_fork(cx: &Cx, at: Fork) {
    let Some(registry) = cx.state_seen::<Shared>().and_then(|s| s.registry.get()) else { return };
    match at {
        Fork::Before => registry.before_fork(),
        Fork::InParent => registry.after_fork(),
        Fork::InChild => registry.in_child(),
    }
}

/// While sources are open the collector looks for parts that nobody reaches, also when the program only waits.
struct Watch(Registry);

impl OutsideWatch for Watch {
    fn asks(&self) -> Asks {
        if self.0.live().open > 0 { Asks::WhereCodeRan } else { Asks::Nothing }
    }
}

impl Shared {
    /// Kumihimo::XML.
    pub fn module(&self) -> Value {
        match self.module.load(Acquire) {
            0 => Value::NIL,
            b => Value::from_bits(b),
        }
    }
    /// Of the next schema.
    pub fn number(&self) -> u32 {
        self.schemas.fetch_add(1, Relaxed)
    }
    /// Where documents are opened.
    pub fn registry(&self, cx: &mut Cx) -> &Registry {
        self.registry.get_or_init(|| {
            let spawner = cx.spawner();
            Registry::new(Some(Arc::new(move |job| spawner.spawn_on_idle(job))))
        })
    }
    /// Kept elements lie outside the heap; what more of them there are counts as allocated.
    pub fn account(&self, cx: &mut Cx) {
        const STEP: i64 = 64 << 10;
        let Some(registry) = self.registry.get() else { return };
        let now = registry.stats().cell_bytes;
        let told = self.told.load(Relaxed);
        if now - told >= STEP {
            self.told.store(now, Relaxed);
            cx.heap.charge((now - told) as usize);
        } else if now < told {
            self.told.store(now, Relaxed);
        }
    }
    /// A document was opened.
    pub fn watch(&self, cx: &mut Cx) {
        let registry = self.registry(cx).clone();
        let watch = self.watch.get_or_init(|| Arc::new(Watch(registry)));
        cx.watch_outside(watch);
    }
}

/// Where elements come from, for messages and their fields: keeps no document open.
pub struct Origin {
    pub binding: Arc<Binding>,
    /// The cell of the schema, which keeps its classes.
    pub holder: Value,
    /// What the source is called.
    pub name: Arc<str>,
    /// What the document's element is called, once it was read.
    pub root: Arc<OnceLock<Box<str>>>,
}

impl Origin {
    /// Where elements of a class stand.
    pub fn way(&self, id: kumi_xml::ClassId) -> String {
        self.binding.way(id, self.root.get().map(|name| &**name))
    }
}

impl Payload for Origin {
    fn trace(&self, m: &mut Marker) {
        m.mark(self.holder);
    }
    fn bytes(&self) -> usize {
        128
    }
    fn shares(&self) -> bool {
        true
    }
    fn constant(&self) -> bool {
        true
    }
}

/// A cell for an origin.
pub fn origin(cx: &mut Cx, binding: Arc<Binding>, holder: Value, name: &str, root: Arc<OnceLock<Box<str>>>) -> Value {
    let object = cx.k.object;
    let cell = cx.data(object, Origin { binding, holder, name: name.into(), root });
    if let Some(h) = cell.header() {
        h.set(flag::FROZEN);
    }
    cell
}

/// A document's producer. Keeps no part of the document.
pub struct Doc {
    pub producer: Arc<Producer>,
    pub origin: Value,
    /// Ruby's feed of a source that is pushed, or the IO that owns the descriptor; nil.
    keep: Value,
    pushed: bool,
}

impl Doc {
    pub fn new(producer: Arc<Producer>, origin: Value, keep: Value, pushed: bool) -> Doc {
        Doc { producer, origin, keep, pushed }
    }
    /// Who pushes; nil.
    pub fn feed(&self) -> Value {
        if self.pushed { self.keep } else { Value::NIL }
    }
}

impl Payload for Doc {
    fn trace(&self, m: &mut Marker) {
        m.mark(self.origin);
        m.mark(self.keep);
    }
    fn bytes(&self) -> usize {
        256
    }
    fn shares(&self) -> bool {
        true
    }
}

/// `__xml_setup(module)`
fn setup(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    cx.keep(a[0]);
    cx.shared_state::<Shared>().module.store(a[0].bits(), Release);
    Ok(Value::NIL)
}

/// `__xstat`: counts as a Hash.
fn stat(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let s = cx.shared_state::<Shared>().registry(cx).stats();
    let rows = [
        ("documents", s.documents as u64),
        ("open", s.open as u64),
        ("opened", s.opened),
        ("rows", s.rows),
        ("direct", s.direct),
        ("batches", s.batches),
        ("ahead", s.ahead),
        ("fill_ns", s.fill_ns),
        ("bytes", s.bytes),
        ("to_slow", s.to_slow),
        ("to_fast", s.to_fast),
        ("waits", s.waits),
        ("kept", s.cells.max(0) as u64),
        ("kept_bytes", s.cell_bytes.max(0) as u64),
    ];
    let pairs: Vec<Value> = rows.iter().flat_map(|(name, n)| [cx.sym(name), cx.uint(*n)]).collect();
    Ok(cx.array_vec(pairs))
}

/// The producer of whatever is read.
fn producer(v: Value) -> Option<Arc<Producer>> {
    if let Some(l) = v.as_data::<ListData>() {
        return Some(l.list.producer().clone());
    }
    if let Some(c) = v.as_data::<CursorData>() {
        return Some(c.producer.clone());
    }
    if let Some(d) = v.as_data::<Doc>() {
        return Some(d.producer.clone());
    }
    match &v.as_data::<View>()?.part {
        Part::Node(n) => Some(n.producer().clone()),
        Part::Row { .. } => None,
    }
}

/// `__xdoc_stat(part)`: how its document stands, as names and values.
fn doc_stat(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let Some(p) = producer(a[0]) else { return Ok(Value::NIL) };
    let s = p.standing();
    let m = s.measures;
    let rows = [
        ("rows", Some(m.rows)),
        ("batches", Some(m.batches)),
        ("ahead", Some(m.ahead)),
        ("fill_ns", Some(m.fill_ns)),
        ("bytes", Some(m.bytes)),
        ("received", Some(m.received)),
        ("total", m.total),
        ("waits", Some(m.waits)),
        ("waiting", Some(s.waiting as u64)),
        ("buffer_rows", Some(s.buffer_rows as u64)),
        ("to_slow", Some(s.switches.0)),
        ("to_fast", Some(s.switches.1)),
    ];
    let mut pairs = vec![cx.sym("open"), Value::bool(s.open)];
    let speed = cx.sym(if s.speed == kumi_flow::Speed::Fast { "fast" } else { "slow" });
    pairs.extend([cx.sym("speed"), speed]);
    for (name, n) in rows {
        pairs.push(cx.sym(name));
        pairs.push(n.map_or(Value::NIL, |n| cx.uint(n)));
    }
    Ok(cx.array_vec(pairs))
}

/// `__xdoc_close(part)`: no more of the document is wanted.
fn close(_: &mut Cx, _: Value, a: &[Value]) -> R {
    if let Some(p) = producer(a[0]) {
        p.close();
    }
    Ok(Value::NIL)
}

/// `__xfeed(document, bytes)`: pushes bytes; nil: that was all.
fn feed(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let Some(p) = producer(a[0]) else { return Ok(Value::NIL) };
    if a[1].is_nil() {
        p.end();
    } else {
        let bytes = cx.arg_str(a, 1)?;
        p.push(bytes.bytes());
    }
    Ok(Value::NIL)
}
