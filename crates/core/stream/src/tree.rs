//! Elements of documents as Ruby objects of their class.
//!
//! A *record* is an element that nobody else can see: its cell holds the packed row and a slot for each field, and one slot
//! more for its [`Origin`]. A [`View`] shows a part of the tree: a row that is kept, or a node whose fields still arrive.
//! Either keeps a field's value once it was made, which is therefore born where it lies. What was removed is marked: in the slot of a record, in the tree
//! for views, so that all views of one element agree.

use crate::binding::Binding;
use crate::decode::{decode, kind};
use crate::doc::{Doc, Origin};
use crate::list::list_value;
use crate::wait::{self, Mode, Op, Waits};
use crate::{about, fail, leaf, payload};
use kumi_flow::{Node, Poll, ReadError, RowHandle, Value as FieldValue};
use kumi_vm::*;
use kumi_xml::{ClassId, Kind as FieldKind, RowView};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::*};

pub static TABLE: &[NativeDef] = &[
    intrinsic("__xtree_accessor", 5, 5, accessor).guard(Guard::Classes),
    leaf("__xtree_fill", 3, fill),
    leaf("__xtree_drop", 2, |cx, _, a| discard(cx, a[0], a[1])),
];

/// Operations of trees, for [`again`], begin here: text and place, then reading and removing fields of each kind.
pub const OPS: i64 = 10;
/// `about::text`.
pub const TEXT: i64 = 10;
/// `about::place`.
pub const PLACE: i64 = 11;
const READ: i64 = 20;
const TAKE: i64 = 40;

/// What a view shows.
pub enum Part {
    /// An element that the tree keeps, or one nested in it: its row lies at `start..end` in that of the handle.
    Row { handle: RowHandle, start: usize, end: usize },
    /// An element that still arrives.
    Node(Arc<Node>),
}

/// A view of a part of a tree.
pub struct View {
    pub part: Part,
    pub class: ClassId,
    pub binding: Arc<Binding>,
    /// Of a row the origin, of a node the document.
    pub home: Value,
    /// Values that were made.
    slots: Box<[AtomicU64]>,
    pub waits: Waits,
}

impl View {
    pub fn row(binding: Arc<Binding>, class: ClassId, origin: Value, handle: RowHandle, start: usize, end: usize) -> View {
        View::of(Part::Row { handle, start, end }, binding, class, origin)
    }
    pub fn node(binding: Arc<Binding>, doc: Value, node: Arc<Node>) -> View {
        let class = node.class();
        View::of(Part::Node(node), binding, class, doc)
    }
    fn of(part: Part, binding: Arc<Binding>, class: ClassId, home: Value) -> View {
        let n = binding.schema.class(class).fields.len();
        let slots = (0..n).map(|_| AtomicU64::new(Value::UNDEF.bits())).collect();
        View { part, class, binding, home, slots, waits: Waits::default() }
    }
    fn slot(&self, i: usize) -> Value {
        self.slots.get(i).map_or(Value::UNDEF, |w| Value::from_bits(w.load(Acquire)))
    }
    fn keep(&self, cx: &mut Cx, me: Value, i: usize, v: Value) -> Value {
        if let Some(w) = self.slots.get(i) {
            cx.heap.before_store(me, v);
            w.store(v.bits(), Release);
        }
        v
    }
    /// Where it comes from.
    pub fn origin(&self) -> Option<&Origin> {
        self.home.as_data::<Doc>().map_or(&self.home, |d| &d.origin).as_data::<Origin>()
    }
    /// What field `i` is called.
    pub fn name(&self, i: usize) -> &str {
        self.binding.field(self.class, i).map_or("this part", |f| &f.name)
    }
}

impl Payload for View {
    fn trace(&self, m: &mut Marker) {
        m.mark(self.home);
        for w in &self.slots {
            m.mark(Value::from_bits(w.load(Relaxed)));
        }
    }
    fn bytes(&self) -> usize {
        160 + self.slots.len() * 8
    }
    fn confined(&self) -> bool {
        true
    }
    fn shares(&self) -> bool {
        true
    }
    fn constant(&self) -> bool {
        // What converters made may be anything.
        self.slots.iter().all(|w| {
            let v = Value::from_bits(w.load(Relaxed));
            match v.kind() {
                None | Some(Kind::Float | Kind::Big | Kind::Pair) => true,
                Some(Kind::Str) => v.frozen(),
                Some(Kind::Data) => v.as_data::<View>().is_some_and(|v| v.constant()),
                _ => false,
            }
        })
    }
}

/// The cell of a view.
pub fn view(cx: &mut Cx, v: View) -> Value {
    let class = v.binding.class(v.class);
    let cell = cx.heap.data(class, v);
    if let Some(h) = cell.header() {
        h.set(flag::FROZEN);
    }
    cell
}

/// An element of its own.
#[inline]
pub fn record(cx: &mut Cx, binding: &Binding, class: ClassId, origin: Value, row: &[u8]) -> Value {
    let of = binding.class(class);
    let Some(of) = of.as_class() else { return Value::NIL };
    let n = binding.schema.class(class).fields.len() as u16;
    let r = cx.heap.record(of, row, n + 1);
    cx.heap.fill_record(r, n as usize, origin);
    r.val()
}

/// Where a record comes from: the cell of its [`Origin`].
pub fn origin_of(r: Gc<RecordObj>) -> Value {
    r.slot(r.fields().wrapping_sub(1))
}

/// Ends the native: the argument is no element.
pub fn not_a_tree(cx: &mut Cx, v: Value) -> Exit {
    let found = cx.describe_type(v);
    cx.type_error(&format!("{found} is no tree of a document"))
}

/// Ends the native: the text is no value of the field's type.
#[cold]
fn refused(cx: &mut Cx, of: Value, i: usize) -> Exit {
    fail::call(cx, "__refused", &[of, Value::fix(i as i64)])
}

/// Ends the native: Ruby makes the value.
fn converted(cx: &mut Cx, of: Value, i: usize, removing: bool) -> Exit {
    let class = cx.real_class(of).val();
    let name = cx.intern(if removing { "__decode_removed" } else { "__decode" });
    cx.call(class, name, &[of, Value::fix(i as i64)])
}

// --- reading fields ---------------------------------------------------------

/// The value of a field of kind `K`: what an accessor does.
fn read<const K: u8>(cx: &mut Cx, of: Value, i: u32) -> R {
    read_in::<K>(cx, of, i as usize, Mode::Wait, false)
}

#[inline(always)]
fn read_in<const K: u8>(cx: &mut Cx, of: Value, i: usize, mode: Mode, removing: bool) -> R {
    if let Some(r) = of.as_record() {
        return record_field::<K>(cx, r, i, removing);
    }
    match of.as_data::<View>() {
        Some(v) => view_field::<K>(cx, of, v, i, mode, removing),
        None => Err(not_a_tree(cx, of)),
    }
}

#[inline(always)]
fn record_field<const K: u8>(cx: &mut Cx, r: Gc<RecordObj>, i: usize, removing: bool) -> R {
    let known = r.slot(i);
    if known == Value::REMOVED {
        let name = origin_of(r)
            .as_data::<Origin>()
            .and_then(|o| o.binding.id(r.val().header().map_or(Value::NIL, |h| h.class())).and_then(|c| o.binding.field(c, i)))
            .map_or(String::new(), |f| f.name.clone());
        return Err(fail::removed(cx, &name));
    }
    if !known.is_undef() {
        return Ok(known);
    }
    if K == kind::OTHER {
        return Err(converted(cx, r.val(), i, removing));
    }
    let row = r.row();
    let Some((start, end)) = RowView::new(row).and_then(|v| v.range(i)) else {
        cx.heap.fill_record(r, i, Value::NIL);
        return Ok(Value::NIL);
    };
    let found = match K {
        kind::CLASS => cx.beside(r.val(), |cx| nested_record(cx, r, i, start, end)),
        _ if kind::is_cell(K) => cx.beside(r.val(), |cx| decode::<K>(cx, row, start, end)),
        _ => decode::<K>(cx, row, start, end),
    };
    match found {
        Some(v) => {
            cx.heap.fill_record(r, i, v);
            Ok(v)
        }
        None if K == kind::DATE => Err(converted(cx, r.val(), i, removing)),
        None => Err(refused(cx, r.val(), i)),
    }
}

fn nested_record(cx: &mut Cx, r: Gc<RecordObj>, i: usize, start: usize, end: usize) -> Option<Value> {
    let at = origin_of(r);
    let origin = at.as_data::<Origin>()?;
    let class = origin.binding.id(cx.real_class(r.val()).val())?;
    let FieldKind::Class(nested) = origin.binding.field(class, i)?.kind else { return None };
    let row = r.row().get(start..end)?;
    Some(record(cx, &origin.binding.clone(), nested, at, row))
}

/// What a node's field holds, copied out: nothing is made while the node is locked, for making may sweep, and what is
/// dropped then takes locks of its own.
pub enum Got {
    Absent,
    Text(Vec<u8>),
    Row(RowHandle),
    Node(Arc<Node>),
    List(kumi_flow::List),
}

fn view_field<const K: u8>(cx: &mut Cx, of: Value, v: &View, i: usize, mode: Mode, removing: bool) -> R {
    match &v.part {
        Part::Row { handle, start, end } => {
            if handle.is_removed(*start as u32, i as u16) {
                return Err(fail::removed(cx, v.name(i)));
            }
            let known = v.slot(i);
            if !known.is_undef() {
                return Ok(known);
            }
            if K == kind::OTHER {
                return Err(converted(cx, of, i, removing));
            }
            let row = handle.bytes().get(*start..*end).unwrap_or(b"");
            let Some((from, to)) = RowView::new(row).and_then(|r| r.range(i)) else { return Ok(v.keep(cx, of, i, Value::NIL)) };
            let found = if K == kind::CLASS {
                let Some(FieldKind::Class(class)) = v.binding.field(v.class, i).map(|f| f.kind) else { return Err(refused(cx, of, i)) };
                let part = View::row(v.binding.clone(), class, v.home, handle.clone(), start + from, start + to);
                Some(cx.beside(of, |cx| view(cx, part)))
            } else if kind::is_cell(K) {
                cx.beside(of, |cx| decode::<K>(cx, row, from, to))
            } else {
                decode::<K>(cx, row, from, to)
            };
            match found {
                Some(x) => Ok(v.keep(cx, of, i, x)),
                None if K == kind::DATE => Err(converted(cx, of, i, removing)),
                None => Err(refused(cx, of, i)),
            }
        }
        Part::Node(node) => {
            v.waits.over(cx);
            if K == kind::LIST {
                return match node.list(i as u16) {
                    Ok(list) => list_field(cx, of, v, i, list),
                    Err(_) => Err(fail::removed(cx, v.name(i))),
                };
            }
            let known = v.slot(i);
            let found = node.field(i as u16, |value| if K == kind::OTHER || !known.is_undef() { Got::Absent } else { copied(value) });
            let got = match found {
                Ok(Poll::Ready(got)) => got,
                Ok(poll) => {
                    return wait::park(
                        cx,
                        &v.waits,
                        node.producer(),
                        v.home,
                        mode,
                        Op { number: if removing { TAKE } else { READ } + K as i64, a: of, b: Value::fix(i as i64) },
                        poll,
                    );
                }
                Err(e) => return Err(unread(cx, v, i, &e)),
            };
            if !known.is_undef() {
                return Ok(known);
            }
            if K == kind::OTHER {
                return Err(converted(cx, of, i, removing));
            }
            made::<K>(cx, of, v, i, got, removing)
        }
    }
}

/// A field as [`Got`] has it.
pub fn copied(value: FieldValue<'_>) -> Got {
    match value {
        FieldValue::Absent => Got::Absent,
        FieldValue::Text(text) => Got::Text(text.to_vec()),
        FieldValue::Row(row) => Got::Row(row.clone()),
        FieldValue::Node(node) => Got::Node(node.clone()),
        FieldValue::List(list) => Got::List(list.clone()),
    }
}

/// Ends the native: the field can't be read.
pub fn unread(cx: &mut Cx, v: &View, i: usize, e: &ReadError) -> Exit {
    match e {
        ReadError::Removed => fail::removed(cx, v.name(i)),
        e => fail::read_error(cx, e),
    }
}

/// A node's field as a value, which its view keeps.
fn made<const K: u8>(cx: &mut Cx, of: Value, v: &View, i: usize, got: Got, removing: bool) -> R {
    let x = match got {
        Got::Absent => Value::NIL,
        Got::Text(text) => match cx.beside(of, |cx| decode::<K>(cx, &text, 0, text.len())) {
            Some(x) => x,
            None if K == kind::DATE => return Err(converted(cx, of, i, removing)),
            None => return Err(refused(cx, of, i)),
        },
        Got::Row(row) => {
            let Some(class) = row.class() else { return Ok(Value::NIL) };
            let origin = payload::<Doc>(cx, &v.home, "a document")?.origin;
            let end = row.bytes().len();
            cx.beside(of, |cx| view(cx, View::row(v.binding.clone(), class, origin, row, 0, end)))
        }
        Got::Node(node) => cx.beside(of, |cx| view(cx, View::node(v.binding.clone(), v.home, node))),
        Got::List(list) => return list_field(cx, of, v, i, list),
    };
    Ok(v.keep(cx, of, i, x))
}

/// A list as Ruby has it: not kept, for it refers to the document.
fn list_field(cx: &mut Cx, of: Value, v: &View, i: usize, list: kumi_flow::List) -> R {
    let core = list_value(cx, list, v.home, v.binding.clone());
    let class = cx.real_class(of).val();
    let name = cx.intern("__list");
    Err(cx.call(class, name, &[core, Value::fix(i as i64), of]))
}

/// `__xtree_fill(tree, slot, value)`: Ruby made the value.
fn fill(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let i = cx.arg_i64(a, 1)?.clamp(0, u16::MAX as i64) as usize;
    if let Some(r) = a[0].as_record() {
        if i + 1 < r.fields() {
            cx.heap.fill_record(r, i, a[2]);
        }
    } else if let Some(v) = a[0].as_data::<View>() {
        v.keep(cx, a[0], i, a[2]);
    }
    Ok(a[2])
}

// --- removing fields --------------------------------------------------------

/// The value of a field, which the tree no longer holds: what `remove_x` does.
fn take<const K: u8>(cx: &mut Cx, of: Value, i: u32) -> R {
    take_in::<K>(cx, of, i as usize, Mode::Wait)
}

fn take_in<const K: u8>(cx: &mut Cx, of: Value, i: usize, mode: Mode) -> R {
    if K == kind::LIST {
        let Some(v) = of.as_data::<View>() else { return Err(not_a_tree(cx, of)) };
        let Part::Node(node) = &v.part else { return Err(not_a_tree(cx, of)) };
        return match node.take_list(i as u16) {
            Ok(list) => list_field(cx, of, v, i, list),
            Err(_) => Err(fail::removed(cx, v.name(i))),
        };
    }
    let v = read_in::<K>(cx, of, i, mode, true)?;
    if !v.is_undef() {
        discard(cx, of, Value::fix(i as i64))?;
    }
    Ok(v)
}

/// `__xtree_drop(tree, slot)`: the field's value is no longer held.
fn discard(cx: &mut Cx, of: Value, slot: Value) -> R {
    let i = cx.arg_i64(&[slot], 0)?.clamp(0, u16::MAX as i64) as usize;
    if let Some(r) = of.as_record() {
        if i + 1 < r.fields() {
            cx.heap.fill_record(r, i, Value::REMOVED);
        }
        return Ok(Value::NIL);
    }
    let Some(v) = of.as_data::<View>() else { return Err(not_a_tree(cx, of)) };
    match &v.part {
        Part::Row { handle, start, .. } => {
            if !handle.remove(*start as u32, i as u16) {
                return Err(fail::removed(cx, v.name(i)));
            }
        }
        Part::Node(node) => {
            if let Err(e) = node.take_field(i as u16, |_| ()) {
                return Err(unread(cx, v, i, &e));
            }
        }
    }
    if let Some(w) = v.slots.get(i) {
        w.store(Value::UNDEF.bits(), Release);
    }
    Ok(Value::NIL)
}

/// `__xtree_accessor(module, name, slot, kind, removing)`: defines a method that reads or removes a field.
fn accessor(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let class = cx.arg_class(a, 0)?;
    let name = cx.arg_name(a, 1)?;
    let slot = cx.arg_i64(a, 2)?.clamp(0, u16::MAX as i64) as u32;
    let of = cx.arg_i64(a, 3)?;
    macro_rules! pick {
        ($($k:ident),*) => {
            match of as u8 {
                $(kind::$k => (read::<{ kind::$k }> as IndexedFn, take::<{ kind::$k }> as IndexedFn),)*
                _ => (read::<{ kind::OTHER }> as IndexedFn, take::<{ kind::OTHER }> as IndexedFn),
            }
        };
    }
    let (get, remove) = pick!(STRING, INTEGER, FLOAT, SYMBOL, BOOLEAN, DECIMAL, DATE, CLASS, LIST);
    if a[4].truthy() {
        cx.define_indexed(class, name, remove, slot, Vis::Public);
    } else {
        cx.define_field(class, name, get, slot, Vis::Public);
    }
    Ok(Value::NIL)
}

/// Runs an operation that may have to be fed.
pub fn again(cx: &mut Cx, number: i64, of: Value, b: Value) -> R {
    let i = b.as_fix().unwrap_or(0).clamp(0, u16::MAX as i64) as usize;
    macro_rules! pick {
        ($of:expr, $($k:ident),*) => {
            match ($of as u8, number >= TAKE) {
                $((kind::$k, true) => take_in::<{ kind::$k }>(cx, of, i, Mode::Try),)*
                $((kind::$k, false) => read_in::<{ kind::$k }>(cx, of, i, Mode::Try, false),)*
                (_, true) => take_in::<{ kind::OTHER }>(cx, of, i, Mode::Try),
                (_, false) => read_in::<{ kind::OTHER }>(cx, of, i, Mode::Try, false),
            }
        };
    }
    match number {
        TEXT => about::text(cx, of, b, Mode::Try),
        PLACE => about::place(cx, of, Mode::Try),
        _ => pick!(number - if number >= TAKE { TAKE } else { READ }, STRING, INTEGER, FLOAT, SYMBOL, BOOLEAN, DECIMAL, DATE, CLASS, LIST),
    }
}
