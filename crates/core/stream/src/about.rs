//! What can be asked of an element besides its values: the text of a field, whether it has arrived, where the element stands and
//! comes from, whether another is the same, and its dump (lib/kumihimo/xml/build.rb asks).
//!
//! Only the text and the place wait for a document. Nothing here makes a field's value or changes the tree.

use crate::binding::Binding;
use crate::decode::string;
use crate::doc::{self, Doc, Origin, Shared};
use crate::tree::{self, Got, PLACE, Part, TEXT, View, copied, not_a_tree, origin_of, unread};
use crate::wait::{self, Mode, Op};
use crate::{fail, leaf};
use kumi_flow::{Poll, Root};
use kumi_vm::*;
use kumi_xml::{Batch, ByteRange, ClassId, Item, Kind as FieldKind, RowRef, RowView};
use std::sync::Arc;

pub static TABLE: &[NativeDef] = &[
    leaf("__xtree_text", 2, |cx, _, a| text(cx, a[0], a[1], Mode::Wait)),
    leaf("__xtree_peek", 2, peek),
    leaf("__xtree_where", 1, |cx, _, a| place(cx, a[0], Mode::Wait)),
    leaf("__xtree_source", 1, source),
    leaf("__xtree_whole", 1, whole),
    leaf("__xtree_same", 2, same),
    leaf("__xtree_identity", 1, identity),
    leaf("__xtree_pack", 1, pack),
    leaf("__xtree_unpack", 3, unpack),
    leaf("__xtree_start", 1, start_row),
    leaf("__xtree_revive", 2, revive),
];

fn row_text(cx: &mut Cx, row: &[u8], i: usize) -> Value {
    match RowView::new(row).and_then(|r| r.field(i)) {
        Some(text) => string(cx, text),
        None => Value::NIL,
    }
}

/// `__xtree_text(tree, slot)`: a field as it stands in the document; nil when it doesn't. Waits.
pub fn text(cx: &mut Cx, of: Value, slot: Value, mode: Mode) -> R {
    let i = cx.arg_i64(&[slot], 0)?.clamp(0, u16::MAX as i64) as usize;
    if let Some(r) = of.as_record() {
        return Ok(row_text(cx, r.row(), i));
    }
    let Some(v) = of.as_data::<View>() else { return Err(not_a_tree(cx, of)) };
    match &v.part {
        Part::Row { handle, start, end } => Ok(row_text(cx, handle.bytes().get(*start..*end).unwrap_or(b""), i)),
        Part::Node(node) => {
            v.waits.over(cx);
            match node.field(i as u16, copied) {
                Ok(Poll::Ready(Got::Text(text))) => Ok(string(cx, &text)),
                Ok(Poll::Ready(_)) => Ok(Value::NIL),
                Ok(poll) => wait::park(cx, &v.waits, node.producer(), v.home, mode, Op { number: TEXT, a: of, b: slot }, poll),
                Err(e) => Err(unread(cx, v, i, &e)),
            }
        }
    }
}

/// `__xtree_peek(tree, slot)`: `:ready`, `:pending`, `:removed` or `:list`, without reading on.
fn peek(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let i = cx.arg_i64(a, 1)?.clamp(0, u16::MAX as i64) as usize;
    let word = if let Some(r) = a[0].as_record() {
        if r.slot(i) == Value::REMOVED { "removed" } else { "ready" }
    } else {
        let Some(v) = a[0].as_data::<View>() else { return Err(not_a_tree(cx, a[0])) };
        match &v.part {
            Part::Row { handle, start, .. } if handle.is_removed(*start as u32, i as u16) => "removed",
            Part::Row { .. } => "ready",
            Part::Node(node) => match node.arrival(i as u16) {
                kumi_flow::Arrival::Pending => "pending",
                kumi_flow::Arrival::Removed => "removed",
                kumi_flow::Arrival::Arrived if v.binding.field(v.class, i).is_some_and(|f| f.card == kumi_xml::Card::Many) => "list",
                kumi_flow::Arrival::Arrived => "ready",
            },
        }
    };
    Ok(cx.sym(word))
}

/// `__xtree_where(tree)`: `[line, column, ordinal, way]`; what isn't known is nil. Waits for the start tag.
pub fn place(cx: &mut Cx, of: Value, mode: Mode) -> R {
    let told = |row: &[u8]| RowView::new(row).map(|r| (r.line(), r.column(), r.ordinal()));
    let (at, way) = if let Some(r) = of.as_record() {
        let class = cx.real_class(of).val();
        let way = origin_of(r).as_data::<Origin>().and_then(|o| Some(o.way(o.binding.id(class)?)));
        (told(r.row()), way.unwrap_or_default())
    } else {
        let Some(v) = of.as_data::<View>() else { return Err(not_a_tree(cx, of)) };
        // After the start tag: before it the document's element has no name.
        let way = || v.origin().map_or(String::new(), |o| o.way(v.class));
        match &v.part {
            Part::Row { handle, start, end } => (told(handle.bytes().get(*start..*end).unwrap_or(b"")), way()),
            Part::Node(node) => {
                v.waits.over(cx);
                match node.start(|row| (row.line(), row.column(), row.ordinal())) {
                    Ok(Poll::Ready(at)) => (Some(at), way()),
                    Ok(poll) => {
                        return wait::park(cx, &v.waits, node.producer(), v.home, mode, Op { number: PLACE, a: of, b: Value::NIL }, poll);
                    }
                    Err(e) => return Err(fail::read_error(cx, &e)),
                }
            }
        }
    };
    let n = |n: u32| Value::fix(n as i64);
    let (line, column, ordinal) = at.map_or((Value::NIL, Value::NIL, Value::NIL), |(l, c, o)| (n(l), n(c), n(o)));
    let way = if way.is_empty() { Value::NIL } else { cx.str(&way) };
    Ok(cx.array(&[line, column, ordinal, way]))
}

/// `__xtree_source(tree)`: what its document is called.
fn source(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let name = if let Some(r) = a[0].as_record() {
        origin_of(r).as_data::<Origin>().map(|o| o.name.clone())
    } else {
        let Some(v) = a[0].as_data::<View>() else { return Err(not_a_tree(cx, a[0])) };
        v.origin().map(|o| o.name.clone())
    };
    Ok(name.map_or(Value::NIL, |n| cx.str(&n)))
}

/// `__xtree_whole(tree)`: is all of it there, without lists?
fn whole(_: &mut Cx, _: Value, a: &[Value]) -> R {
    Ok(Value::bool(a[0].as_record().is_some() || a[0].as_data::<View>().is_some_and(|v| matches!(v.part, Part::Row { .. }))))
}

/// `__xtree_same(tree, other)`: are both the same element of the same document?
fn same(_: &mut Cx, _: Value, a: &[Value]) -> R {
    let (Some(x), Some(y)) = (a[0].as_data::<View>(), a[1].as_data::<View>()) else { return Ok(Value::bool(a[0] == a[1])) };
    Ok(Value::bool(match (&x.part, &y.part) {
        (Part::Node(x), Part::Node(y)) => Arc::ptr_eq(x, y),
        (Part::Row { handle: x, start: s, .. }, Part::Row { handle: y, start: t, .. }) => x.same(y) && s == t,
        _ => false,
    }))
}

/// `__xtree_identity(tree)`: a number that is its element's as long as somebody refers to it.
fn identity(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let n = match a[0].as_data::<View>().map(|v| &v.part) {
        Some(Part::Node(n)) => Arc::as_ptr(n).addr(),
        Some(Part::Row { handle, start, .. }) => handle.identity() + start,
        None => a[0].bits() as usize,
    };
    Ok(cx.uint(n as u64))
}

/// `__xtree_pack(tree)`: its packed row.
fn pack(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let row = match a[0].as_record() {
        Some(r) => r.row().to_vec(),
        None => match a[0].as_data::<View>().map(|v| &v.part) {
            Some(Part::Row { handle, start, end }) => handle.bytes().get(*start..*end).unwrap_or(b"").to_vec(),
            _ => return Err(not_a_tree(cx, a[0])),
        },
    };
    Ok(cx.str_enc(&row, EncIndex::BINARY))
}

/// `__xtree_start(tree)`: what the start tag of an element with lists said, as a packed row.
fn start_row(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let Some(v) = a[0].as_data::<View>() else { return Err(not_a_tree(cx, a[0])) };
    let Part::Node(node) = &v.part else { return Err(not_a_tree(cx, a[0])) };
    match node.opened(|row| row.bytes().to_vec()) {
        Some(row) => Ok(cx.str_enc(&row, EncIndex::BINARY)),
        None => Err(cx.type_error("the element has not arrived")),
    }
}

/// `__xtree_revive(schema, items)`: an element with lists of its own, of items as lib/kumihimo/xml/parts.rb writes them: a number for
/// the kind (0 an open element, 1 a whole one, 2 a text, 3 the end of an open one), the slot, the bytes, one after the other.
fn revive(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let binding = crate::binding::binding(cx, a[0])?;
    let items: Vec<Value> = cx.arg_array(a, 1)?.seen().to_vec();
    let Some(batch) = batch_of(&binding, &items) else { return Err(cx.type_error("no dump of a tree")) };
    let shared = cx.shared_state::<Shared>();
    let document = shared.registry(cx).revive(binding.schema.clone(), batch);
    let object = cx.k.object;
    let origin = doc::origin(cx, binding.clone(), a[0], "a dump", document.producer.root().clone());
    let doc = cx.data(object, Doc::new(document.producer.clone(), origin, Value::NIL, false));
    match document.root {
        Root::Node(node) => Ok(tree::view(cx, View::node(binding, doc, node))),
        Root::List(_) => Err(cx.type_error("no dump of a tree")),
    }
}

/// The items as a binder would deliver them; nothing where they are not what the schema says.
fn batch_of(binding: &Binding, items: &[Value]) -> Option<Batch> {
    let schema = &binding.schema;
    let mut batch = Batch::new();
    let mut open: Vec<ClassId> = Vec::new();
    let mut done = false;
    for item in items.chunks(3) {
        let [kind, slot, bytes] = item else { return None };
        let slot = u16::try_from(slot.as_fix()?).ok()?;
        if done {
            return None;
        }
        if kind.as_fix()? == 3 {
            open.pop()?;
            done = open.is_empty();
            batch.items.push(Item::Close);
            continue;
        }
        let field = match open.last() {
            Some(class) => Some(schema.class(*class).fields.get(slot as usize)?.kind),
            None => None,
        };
        let text = bytes.as_str()?;
        let text = text.bytes();
        if kind.as_fix()? == 2 && matches!(field, Some(FieldKind::Text)) && std::str::from_utf8(text).is_ok() {
            u32::try_from(batch.bytes.len() + text.len() + 8).ok()?;
            let text = batch.append_text((0, 0), text);
            batch.items.push(Item::Field { slot, text });
            continue;
        }
        let range = ByteRange { start: u32::try_from(batch.bytes.len()).ok()?, len: u32::try_from(text.len()).ok()? };
        let row = RowRef { start: range.start, len: range.len };
        let item = match (kind.as_fix()?, field) {
            (kind @ (0 | 1), field) => {
                let class = match field {
                    Some(FieldKind::Class(class)) => class,
                    None if kind == 0 => schema.root().class(),
                    _ => return None,
                };
                let view = RowView::new(text)?;
                if schema.class(class).whole != (kind == 1) || !fits(binding, class, view, 0) {
                    return None;
                }
                if kind == 0 {
                    open.push(class);
                    Item::Open { class, slot, row }
                } else {
                    Item::Row { class, slot, row }
                }
            }
            _ => return None,
        };
        batch.bytes.extend_from_slice(text);
        batch.items.push(item);
    }
    done.then_some(batch)
}

/// `__xtree_unpack(schema, class, row)`: an element of its own.
fn unpack(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let binding = crate::binding::binding(cx, a[0])?;
    let row = cx.arg_str(a, 2)?.bytes().to_vec();
    let n = binding.id(a[1]).map(|c| (c, binding.schema.class(c)));
    match (n, RowView::new(&row)) {
        (Some((id, class)), Some(view)) if class.whole && fits(&binding, id, view, 0) && row.len() <= RecordObj::MAX_ROW => {
            let origin = doc::origin(cx, binding.clone(), a[0], "a dump", Arc::default());
            Ok(tree::record(cx, &binding, id, origin, &row))
        }
        _ => Err(cx.type_error("no dump of a tree")),
    }
}

/// Is this a row of that class, text being text?
fn fits(binding: &Binding, class: ClassId, row: RowView<'_>, depth: usize) -> bool {
    let fields = &binding.schema.class(class).fields;
    row.fields() == fields.len()
        && depth < 64
        && fields.iter().enumerate().all(|(i, f)| match (row.field(i), f.kind) {
            (None, _) => true,
            (Some(text), FieldKind::Text) => std::str::from_utf8(text).is_ok(),
            (Some(bytes), FieldKind::Class(nested)) => RowView::new(bytes).is_some_and(|r| fits(binding, nested, r, depth + 1)),
        })
}
