//! Lists and their readers.
//!
//! A reader takes what is there under one look at the document, as packed rows outside the Ruby heap, and makes one element of
//! them at a time: a record that is born private to whoever reads, whoever parsed, unless those that this reader made
//! before did not stay so (`Series`).

use crate::binding::{Binding, Ordinal};
use crate::decode::string;
use crate::doc::{Doc, Shared};
use crate::tree::{self, View};
use crate::wait::{self, Mode, Op, Waits};
use crate::{fail, leaf, payload};
use kumi_flow::{Cursor, Entry, List, Node, Poll, Producer, ReadError, RowHandle};
use kumi_vm::*;
use kumi_xml::ClassId;
use parking_lot::Mutex;
use std::sync::Arc;

pub static TABLE: &[NativeDef] = &[
    leaf("__xlist_set_cut", 1, set_cut),
    leaf("__xlist_cut", 1, is_cut),
    leaf("__xlist_size", 1, size),
    leaf("__xlist_same", 2, same),
    leaf("__xlist_identity", 1, identity),
    leaf("__xlist_source", 1, source),
    leaf("__xcursor", 3, cursor),
    leaf("__xcursor_next", 1, |cx, _, a| next(cx, a[0], Mode::Wait)),
    leaf("__xcursor_peek", 1, |cx, _, a| peek(cx, a[0], Mode::Wait)),
    leaf("__xcursor_batch", 2, |cx, _, a| batch(cx, a[0], a[1], Mode::Wait)),
    leaf("__xcursor_place", 2, place),
    leaf("__xcursor_ended", 2, others_ended),
    leaf("__xcursor_close", 1, close),
];

/// Operations of a reader, for [`again`].
const NEXT: i64 = 0;
const PEEK: i64 = 1;
const BATCH: i64 = 2;

/// Elements taken under one look.
const TAKEN: usize = 64;
/// ... and their bytes.
const TAKEN_BYTES: usize = 256 << 10;
/// A batch is in use as a whole. It takes so small a part of a nursery that those of two inputs, and what is made of them, leave
/// most of it to be freed: else the nursery would retire and take them all for long-lived.
const BATCH_SHARE: usize = 10;

/// A list.
pub struct ListData {
    pub list: List,
    pub doc: Value,
    pub binding: Arc<Binding>,
}

impl Payload for ListData {
    fn trace(&self, m: &mut Marker) {
        m.mark(self.doc);
    }
    fn bytes(&self) -> usize {
        256
    }
    fn shares(&self) -> bool {
        true
    }
}

/// A cell for a list.
pub fn list_value(cx: &mut Cx, list: List, doc: Value, binding: Arc<Binding>) -> Value {
    let object = cx.k.object;
    cx.data(object, ListData { list, doc, binding })
}

/// An element that was taken and not yet made.
enum Taken {
    Row { class: ClassId, start: usize, end: usize },
    Kept { class: ClassId, row: RowHandle },
    Text { start: usize, end: usize, place: (u32, u32) },
    Node(Arc<Node>),
}

struct State {
    /// Gone when it was closed or has ended.
    cursor: Option<(Cursor, Ordinal)>,
    /// What it makes.
    series: Series,
    taken: Vec<Taken>,
    at: usize,
    bytes: Vec<u8>,
    /// Elements that arrive in parts are taken one by one: what is not asked for must not be kept.
    most: usize,
}

/// A reader of a list.
pub struct CursorData {
    state: Mutex<State>,
    pub waits: Waits,
    pub producer: Arc<Producer>,
    doc: Value,
    origin: Value,
    binding: Arc<Binding>,
}

impl Payload for CursorData {
    fn trace(&self, m: &mut Marker) {
        m.mark(self.doc);
        m.mark(self.origin);
    }
    fn bytes(&self) -> usize {
        1024
    }
    fn shares(&self) -> bool {
        true
    }
}

impl State {
    /// Takes what is there, if nothing is in hand. Zero: the end.
    #[inline]
    fn fill(&mut self) -> Result<Poll<usize>, ReadError> {
        if self.at < self.taken.len() {
            return Ok(Poll::Ready(self.taken.len() - self.at));
        }
        self.refill()
    }
    fn refill(&mut self) -> Result<Poll<usize>, ReadError> {
        self.taken.clear();
        self.bytes.clear();
        self.at = 0;
        let Some((cursor, _)) = &mut self.cursor else { return Ok(Poll::Ready(0)) };
        let (taken, bytes) = (&mut self.taken, &mut self.bytes);
        let found = cursor.next_batch(self.most, |entry| {
            let start = bytes.len();
            taken.push(match entry {
                Entry::Row(row) => match row.handle() {
                    Some(kept) => Taken::Kept { class: row.class, row: kept },
                    None => {
                        bytes.extend_from_slice(row.bytes());
                        Taken::Row { class: row.class, start, end: bytes.len() }
                    }
                },
                Entry::Text(text, place) => {
                    bytes.extend_from_slice(text);
                    Taken::Text { start, end: bytes.len(), place }
                }
                Entry::Node(node) => Taken::Node(node.clone()),
            });
            bytes.len() < TAKEN_BYTES
        });
        if matches!(found, Ok(Poll::Ready(0))) {
            self.cursor = None;
            self.bytes = Vec::new();
        }
        found
    }
    /// The next element as a value. In its series.
    #[inline]
    fn make(&mut self, cx: &mut Cx, data: &CursorData) -> Option<Value> {
        let at = self.at;
        let taken = self.taken.get(at)?;
        self.at = at + 1;
        Some(match taken {
            Taken::Row { class, start, end } => tree::record(cx, &data.binding, *class, data.origin, &self.bytes[*start..*end]),
            Taken::Text { start, end, .. } => string(cx, &self.bytes[*start..*end]),
            Taken::Kept { class, row } => {
                let end = row.bytes().len();
                tree::view(cx, View::row(data.binding.clone(), *class, data.origin, row.clone(), 0, end))
            }
            Taken::Node(node) => tree::view(cx, View::node(data.binding.clone(), data.doc, node.clone())),
        })
    }
}

impl CursorData {
    /// `None` when a read will not wait; else what to wait for.
    pub fn look(&self) -> Option<Poll<()>> {
        match self.state.lock().fill() {
            Ok(Poll::Ready(_)) | Err(_) => None,
            Ok(poll) => Some(poll.map(|_| ())),
        }
    }
}

fn list<'v>(cx: &mut Cx, v: &'v Value) -> Result<&'v ListData, Exit> {
    payload::<ListData>(cx, v, "a list")
}

/// `__xlist_set_cut(list)`: it lets go of what is passed.
fn set_cut(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    list(cx, &a[0])?.list.cut();
    Ok(Value::NIL)
}
/// `__xlist_cut(list)`
fn is_cut(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    Ok(Value::bool(list(cx, &a[0])?.list.is_cut()))
}
/// `__xlist_size(list)`: the number of elements, once all have arrived; nil before, or when it was cut.
fn size(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let l = &list(cx, &a[0])?.list;
    if l.is_cut() || !l.is_complete() {
        return Ok(Value::NIL);
    }
    let Ok(mut cursor) = l.cursor(false) else { return Ok(Value::NIL) };
    let mut n = 0;
    loop {
        match cursor.next_batch(usize::MAX, |_| true) {
            Ok(Poll::Ready(0)) => return Ok(cx.uint(n)),
            Ok(Poll::Ready(more)) => n += more as u64,
            _ => return Ok(Value::NIL),
        }
    }
}
/// `__xlist_same(list, other)`
fn same(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    Ok(Value::bool(list(cx, &a[0])?.list.same(&list(cx, &a[1])?.list)))
}
/// `__xlist_identity(list)`
fn identity(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let n = list(cx, &a[0])?.list.identity();
    Ok(cx.uint(n as u64))
}
/// `__xlist_source(list)`: what its document is called.
fn source(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let name = list(cx, &a[0])?.list.producer().name().to_string();
    Ok(cx.str(&name))
}

/// Do elements of that class arrive in parts?
fn streams(binding: &Binding, class: Value) -> bool {
    binding.id(class).is_some_and(|c| !binding.schema.class(c).whole)
}

/// `__xcursor(list, removing, class)`: a reader of a list of elements of that class (nil: of texts).
fn cursor(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let l = list(cx, &a[0])?;
    let cursor = match l.list.cursor(a[1].truthy()) {
        Ok(c) => c,
        Err(e) => return Err(fail::read_error(cx, &e)),
    };
    let origin = payload::<Doc>(cx, &l.doc, "a document")?.origin;
    let most = if streams(&l.binding, a[2]) { 1 } else { TAKEN };
    let ordinal = Ordinal::new(l.binding.clone(), l.binding.id(a[2]));
    let series = Series::new(ordinal.series(0));
    let state = State { cursor: Some((cursor, ordinal)), series, taken: Vec::new(), at: 0, bytes: Vec::new(), most };
    let data = CursorData {
        state: Mutex::new(state),
        waits: Waits::default(),
        producer: l.list.producer().clone(),
        doc: l.doc,
        origin,
        binding: l.binding.clone(),
    };
    let object = cx.k.object;
    Ok(cx.data(object, data))
}

/// `__xcursor_next(cursor)`: the next element, a record, or a String of a list of texts; nil at the end.
fn next(cx: &mut Cx, of: Value, mode: Mode) -> R {
    let data = payload::<CursorData>(cx, &of, "a reader")?;
    data.waits.over(cx);
    let mut state = data.state.lock();
    if state.at == state.taken.len() {
        cx.shared_state::<Shared>().account(cx);
    }
    match state.fill() {
        Ok(Poll::Ready(_)) => {
            let state = &mut *state;
            let was = cx.heap.begin_series(&mut state.series);
            let made = state.make(cx, data);
            cx.heap.end_placed(was);
            Ok(made.unwrap_or(Value::NIL))
        }
        Ok(poll) => {
            drop(state);
            wait::park(cx, &data.waits, &data.producer, data.doc, mode, Op { number: NEXT, a: of, b: Value::NIL }, poll)
        }
        Err(e) => {
            drop(state);
            Err(fail::read_error(cx, &e))
        }
    }
}

/// `__xcursor_peek(cursor)`: whether there is a next element.
fn peek(cx: &mut Cx, of: Value, mode: Mode) -> R {
    let data = payload::<CursorData>(cx, &of, "a reader")?;
    data.waits.over(cx);
    let found = data.state.lock().fill();
    match found {
        Ok(Poll::Ready(n)) => Ok(Value::bool(n > 0)),
        Ok(poll) => wait::park(cx, &data.waits, &data.producer, data.doc, mode, Op { number: PEEK, a: of, b: Value::NIL }, poll),
        Err(e) => Err(fail::read_error(cx, &e)),
    }
}

/// `__xcursor_place(cursor, back)`: line and column of the text that was made last, or of the one so many before it in its batch;
/// nil where they are not known.
fn place(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let data = payload::<CursorData>(cx, &a[0], "a reader")?;
    let back = cx.arg_i64(a, 1)?;
    let state = data.state.lock();
    let at = usize::try_from(back).ok().and_then(|back| state.at.checked_sub(1)?.checked_sub(back));
    let found = match at.and_then(|at| state.taken.get(at)) {
        Some(&Taken::Text { place: (line, column), .. }) if line > 0 => Some((line, column)),
        _ => None,
    };
    drop(state);
    Ok(found.map_or(Value::NIL, |(line, column)| cx.array(&[Value::fix(line as i64), Value::fix(column as i64)])))
}

/// `__xcursor_batch(cursor, max)`: elements that are there without waiting; `[]` when none is there now, nil at the end.
fn batch(cx: &mut Cx, of: Value, max: Value, mode: Mode) -> R {
    let data = payload::<CursorData>(cx, &of, "a reader")?;
    let max = cx.arg_i64(&[max], 0)?.clamp(1, 1 << 20) as usize;
    data.waits.over(cx);
    let mut state = data.state.lock();
    if state.at == state.taken.len() {
        cx.shared_state::<Shared>().account(cx);
    }
    match state.fill() {
        Ok(Poll::Ready(0)) => Ok(Value::NIL),
        // What lies in one look, what was asked for, or what fits: more may take long.
        Ok(Poll::Ready(n)) => {
            let state = &mut *state;
            let was = cx.heap.begin_series(&mut state.series);
            let mut made = Vec::with_capacity(n.min(max));
            let mut room = cx.heap.nursery_bytes() / BATCH_SHARE;
            while made.len() < max && room > 0 {
                match state.make(cx, data) {
                    Some(v) => {
                        room = room.saturating_sub(memory_of(v));
                        made.push(v);
                    }
                    None => break,
                }
            }
            // No place of its own: it goes with them.
            let made = cx.array_vec(made);
            cx.heap.end_placed(was);
            Ok(made)
        }
        Ok(poll) => {
            drop(state);
            if matches!(poll, Poll::Wait(kumi_flow::Wait::Push, _)) {
                let op = Op { number: BATCH, a: of, b: Value::fix(max as i64) };
                return wait::park(cx, &data.waits, &data.producer, data.doc, mode, op, poll);
            }
            // Work that has to be done first (a name to be looked up) is begun by whoever waits.
            drop(poll);
            Ok(cx.array(&[]))
        }
        Err(e) => {
            drop(state);
            Err(fail::read_error(cx, &e))
        }
    }
}

/// `__xcursor_ended(cursor, n)`: so many of the inputs read beside this one have ended. What comes now may be of other use.
fn others_ended(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let data = payload::<CursorData>(cx, &a[0], "a reader")?;
    let n = cx.arg_i64(a, 1)?.clamp(0, 1 << 10) as u32;
    let mut state = data.state.lock();
    let number = state.cursor.as_ref().map(|(_, ordinal)| ordinal.series(n));
    if let Some(number) = number {
        state.series.renumber(number);
    }
    Ok(Value::NIL)
}

/// `__xcursor_close(cursor)`: the rest is not wanted.
fn close(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let data = payload::<CursorData>(cx, &a[0], "a reader")?;
    data.waits.over(cx);
    let mut state = data.state.lock();
    state.at = 0;
    let gone = (state.cursor.take(), std::mem::take(&mut state.taken), std::mem::take(&mut state.bytes));
    drop(state);
    drop(gone);
    Ok(Value::NIL)
}

/// Runs an operation that may have to be fed.
pub fn again(cx: &mut Cx, number: i64, a: Value, b: Value) -> R {
    match number {
        NEXT => next(cx, a, Mode::Try),
        PEEK => peek(cx, a, Mode::Try),
        _ => batch(cx, a, b, Mode::Try),
    }
}
