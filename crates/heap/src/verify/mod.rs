//! The heap verifier: looks at every cell that is reachable, at a stop, and says which
//! edge breaks a rule.
//!
//! The rules are those of `nursery.rs` and `collect.rs`. For each reference: what a
//! cell outside the nursery refers to is outside, what a shared cell refers to is
//! shared; tables of the runtime hold shared cells only; a private cell lies in the
//! nursery of the one worker whose roots reach it, and no cell that is not shared is
//! reached from two workers; a reference names the start of a cell of this runtime.
//! For each collection: an old cell that refers to a young one is remembered, and
//! after marking what is reachable is marked, what is free is not.
//!
//! It has visited sets of its own and changes nothing, so that a fault is found where
//! it was made, not where it kills. It is for the stress modes.

use crate::cells::header::{Header, Kind, flag};
use crate::cells::layout::DataObj;
use crate::cells::trace::{Marker, Visitor, cell_bytes, trace_cell};
use crate::heap::Heap;
use crate::mark::is_marked;
use crate::nursery::LEAVE;
use crate::space::block::{BLOCK, Block, FIRST, GRANULE, State, WORDS};
use crate::{ClassObj, Value};
use rustc_hash::FxHashMap;
use std::fmt::Write;
use std::mem::offset_of;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// What besides the rules that always hold is to be true.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Moment {
    /// Nothing more: roots may have been told incompletely, tables may not be cleaned yet.
    Anytime,
    /// A young collection could begin now: old cells that refer to young ones are remembered. Between two slices of a full collection:
    /// marked cells that refer to those that are neither marked nor grey are.
    BeforeYoung,
    /// A node collection has just marked: what is reachable is marked.
    Marked,
}

/// What the verifier must know of a Data cell whose payload is changed in ways of its own: a task's stack.
#[derive(Clone, Copy, Default)]
pub struct Look {
    /// Every young collection looks at it, stored into or not.
    pub shown: bool,
    /// What it holds is held by the running thread of this worker, whatever the flags of the cell.
    pub of: Option<usize>,
    /// Its fields are among the roots of that worker's nursery collections.
    pub nursery: bool,
    /// It is a task of one thread: what it holds is in no nursery, but need not be shared.
    pub task: bool,
}

/// Faults that are told in full.
const TOLD: usize = 6;
/// Steps of a path that are told at each of its ends.
const STEPS: usize = 6;
/// Field numbers from here on are side-table variables.
const SIDE: u32 = 1 << 30;

/// A reachable cell, and by what it was first reached.
#[derive(Clone, Copy)]
struct Seen {
    at: u64,
    /// Address of the holder; 0: a root.
    holder: u64,
    field: u32,
    /// 0: the runtime's roots; else one more than the number of a worker.
    from: u32,
}

struct BlockOwner {
    /// Index of the heap.
    heap: u32,
    nursery: bool,
    /// A large cell's block: how that was reached.
    large: u16,
    /// How the cell was reached that starts at a granule. None for a large cell's block.
    cells: Option<Box<[u16; BLOCK / GRANULE]>>,
}

/// No cell starts there.
const NONE: u16 = 0;
/// It was not reached. Above: two more than `Seen::from` when it was first.
const FRESH: u16 = 1;

/// The blocks there are, found by address: a table with free places, since each reference is looked up.
///
/// **Invariant.** There are twice as many places as blocks at least, a power of two; a block stands at the first place from
/// [`Blocks::place`] on that was free.
struct Blocks {
    all: Vec<(u64, BlockOwner)>,
    /// One more than an index into `all`, 0 for none.
    places: Vec<u32>,
}

impl Blocks {
    fn new(all: Vec<(u64, BlockOwner)>) -> Blocks {
        let mut b = Blocks { places: vec![0; (2 * all.len()).next_power_of_two()], all };
        for i in 0..b.all.len() {
            let mut at = b.place(b.all[i].0);
            while b.places[at] != 0 {
                at = b.next(at);
            }
            b.places[at] = i as u32 + 1;
        }
        b
    }
    /// Blocks lie side by side mostly, and so do their places.
    fn place(&self, base: u64) -> usize {
        (base / BLOCK as u64) as usize & (self.places.len() - 1)
    }
    fn next(&self, at: usize) -> usize {
        (at + 1) & (self.places.len() - 1)
    }
    #[inline]
    fn find(&mut self, base: u64) -> Option<&mut BlockOwner> {
        let mut at = self.place(base);
        loop {
            let i = (self.places[at] as usize).checked_sub(1)?;
            if self.all[i].0 == base {
                return Some(&mut self.all[i].1);
            }
            at = self.next(at);
        }
    }
}

struct Verifier<'a> {
    blocks: Blocks,
    /// Each reachable cell once. Only who tells of a fault looks into it.
    seen: Vec<Seen>,
    todo: Vec<u64>,
    moment: Moment,
    /// A full collection that goes in slices is under way.
    cycle: bool,
    /// Between two slices: grey cells, and whether they are marked and are to be traced again.
    grey: FxHashMap<u64, bool>,
    look: &'a dyn Fn(Value) -> Look,
    /// Cells whose fields are roots of a worker, met elsewhere.
    later: Vec<(u32, u64)>,
    /// Cells there are, dead ones included.
    cells: usize,
    faults: Vec<String>,
    more: usize,
}

/// Keeps what it is shown, with its number.
#[derive(Default)]
struct Listing {
    n: u32,
    all: Vec<(u32, Value)>,
}

impl Visitor for Listing {
    fn visit(&mut self, v: Value) {
        if v.is_heap() {
            self.all.push((self.n, v));
        }
        self.n += 1;
    }
}

/// Verifies all heaps of a runtime while the world is stopped. `heaps` are all of them, in the order of the workers.
///
/// `roots` shows what any part of the runtime holds that is not the running thread of a worker: tables, globals,
/// parked tasks. `own(i, ..)` shows what the worker of `heaps[i]` holds: the stack of the thread it runs and of that
/// thread's fibers. `look` is asked of Data cells. The error names each fault with the path from a root.
pub fn verify(
    heaps: &mut [&mut Heap],
    roots: &mut dyn FnMut(&mut Marker),
    own: &mut dyn FnMut(usize, &mut Marker),
    moment: Moment,
    look: &dyn Fn(Value) -> Look,
) -> Result<(), String> {
    let Some(first) = heaps.first() else { return Ok(()) };
    let shared = first.shared().clone();
    let mut w = Verifier {
        blocks: Blocks::new(Vec::new()),
        seen: Vec::new(),
        todo: Vec::new(),
        moment,
        cycle: shared.cycle_is_open(),
        grey: FxHashMap::default(),
        look,
        later: Vec::new(),
        cells: 0,
        faults: Vec::new(),
        more: 0,
    };
    if moment == Moment::BeforeYoung && shared.cycle_is_open() {
        let marks = shared.each_grey(|cell, again| *w.grey.entry(cell).or_default() |= again);
        w.moment = if marks { moment } else { Moment::Anytime };
        for entry in heaps.iter().flat_map(|h| &h.remembered) {
            if let (v, true) = crate::cycle::remembered(*entry) {
                w.grey.entry(v.bits()).or_default();
            }
        }
    }
    let mut all = Vec::new();
    for (i, h) in heaps.iter_mut().enumerate() {
        h.seal_born();
        h.seal();
        for b in h.blocks() {
            // SAFETY: a live block of this heap.
            let nursery = unsafe { (*b).state == State::Nursery };
            all.push((b as u64, w.owner(b, i as u32, nursery)));
        }
    }
    for o in crate::shared::lock(&shared.orphans).iter() {
        for b in o.blocks() {
            all.push((b as u64, w.owner(b, u32::MAX, false)));
        }
    }
    w.blocks = Blocks::new(all);
    w.seen.reserve(w.cells);
    w.walk_roots(0, &shared, |m| roots(m));
    for i in 0..heaps.len() {
        w.walk_roots(i as u32 + 1, &shared, |m| own(i, m));
    }
    // A worker's walk may have come by a task of one that was walked before.
    while let Some(from) = w.later.first().map(|l| l.0) {
        w.walk_roots(from, &shared, |_| ());
    }
    if w.faults.is_empty() {
        return Ok(());
    }
    let mut text = w.faults.join("\n");
    if w.more > 0 {
        let _ = write!(text, "\nand {} more", w.more);
    }
    Err(text)
}

impl Verifier<'_> {
    fn fault(&mut self, text: impl FnOnce(&Self) -> String) {
        if self.faults.len() < TOLD {
            let t = text(self);
            self.faults.push(t);
        } else {
            self.more += 1;
        }
    }

    /// Whose a block is, and where its cells start.
    fn owner(&mut self, b: *mut Block, heap: u32, nursery: bool) -> BlockOwner {
        let base = b as u64;
        let mut place = BlockOwner { heap, nursery, large: FRESH, cells: None };
        // SAFETY: a live block that was sealed: its memory can be read, whatever stands there.
        unsafe {
            if (*b).state == State::Large {
                return place;
            }
            let mut cells = Box::new([NONE; BLOCK / GRANULE]);
            let mut starts = [0u64; WORDS];
            let mut at = (*b).first();
            let mut last = 0;
            while at < base + BLOCK as u64 {
                let Some(n) = size_at(at).filter(|n| at + n <= base + BLOCK as u64) else {
                    let before = if last == 0 { "its head".to_string() } else { format!("{:?}@{last:x}", (*(last as *const Header)).kind) };
                    self.fault(|_| {
                        format!("the block at {base:x} of worker {heap} cannot be walked: no cell and no gap at {at:x}, after {before}")
                    });
                    break;
                };
                if (*(at as *const Header)).kind != Kind::Free {
                    let i = (at - base) as usize / GRANULE;
                    self.cells += 1;
                    cells[i] = FRESH;
                    starts[i / 64] |= 1 << (i % 64);
                }
                (last, at) = (at, at + n);
            }
            let whole = at == base + BLOCK as u64;
            if let Some(g) = (*b).marked_beside(&starts).filter(|_| whole) {
                let mut at = (*b).first();
                while let Some(n) = size_at(at).filter(|n| at + n <= g) {
                    at += n;
                }
                let what = if (*(at as *const Header)).kind == Kind::Free { "free space" } else { "the inside of a cell" };
                self.fault(|_| format!("a mark at {g:x} on {what} that starts at {at:x} (block of worker {heap})"));
            }
            place.cells = Some(cells);
        }
        place
    }

    /// The cell at `at` was reached from there: its heap, whether that is a nursery, and from where it was reached before. An error
    /// says what is there instead.
    fn reach(&mut self, at: u64, from: u32) -> Result<(u32, bool, Option<u32>), &'static str> {
        let base = at & !(BLOCK as u64 - 1);
        let p = self.blocks.find(base).ok_or("no block of this runtime")?;
        let off = (at - base) as usize;
        let slot = match &mut p.cells {
            None if off != FIRST => return Err("the inside of a large cell"),
            // SAFETY: a live block's memory.
            None if unsafe { kind_at(at).is_none_or(|k| k == 0) } => return Err("a large cell that was freed"),
            None => &mut p.large,
            Some(c) if off.is_multiple_of(GRANULE) && c[off / GRANULE] != NONE => &mut c[off / GRANULE],
            Some(_) => return Err("free space or the inside of a cell"),
        };
        let before = slot.checked_sub(FRESH + 1).map(u32::from);
        if before.is_none() {
            *slot = u16::try_from(from).ok().and_then(|f| f.checked_add(FRESH + 1)).expect("fewer than 65,534 workers");
        }
        Ok((p.heap, p.nursery, before))
    }

    fn walk_roots(&mut self, from: u32, shared: &Arc<crate::HeapShared>, show: impl FnOnce(&mut Marker)) {
        let mut l = Listing::default();
        show(&mut Marker::new(&mut l));
        for (i, v) in l.all.drain(..) {
            self.edge(0, i, v, from, Look::default());
        }
        let mine = self.later.extract_if(.., |(w, _)| *w == from).map(|(_, at)| at);
        self.todo.extend(mine);
        while let Some(at) = self.todo.pop() {
            let v = Value::from_bits(at);
            let look = if v.is_kind(Kind::Data) { (self.look)(v) } else { Look::default() };
            if let Some(w) = look.of.map(|w| w as u32 + 1).filter(|w| *w != from) {
                self.later.push((w, at));
                continue;
            }
            l.n = 0;
            trace_cell(v, &mut l);
            if v.header().is_some_and(|h| h.has(flag::IVARS)) {
                l.n = SIDE;
                shared.side_ivars_of(v, &mut l);
            }
            for (i, x) in l.all.drain(..) {
                self.edge(at, i, x, from, look);
            }
        }
    }

    /// Looks at one reference.
    fn edge(&mut self, holder: u64, field: u32, v: Value, from: u32, look: Look) {
        let at = v.bits();
        let (heap, nursery, before) = match self.reach(at, from) {
            Ok(p) => p,
            Err(what) => return self.fault(|w| format!("{} refers to {what}: {at:x}", w.path(holder, field, from))),
        };
        let Some(h) = v.header() else { return };
        let f = h.flags.load(Relaxed);
        let say = |w: &Self, rule: &str| format!("{rule}: {} -> {}", w.path(holder, field, from), describe(v));
        let out = f & flag::OUT != 0;
        let shared = f & flag::SHARED != 0;
        if holder == 0 {
            if from == 0 && !shared {
                self.fault(|w| say(w, "the runtime holds a cell that is not shared"));
            }
        } else {
            if look.of.is_some() && !look.nursery && !out {
                self.fault(|w| say(w, "a task that no nursery collection looks at holds a private cell"));
            }
            // SAFETY: a cell that was looked at before.
            let hf = unsafe { (*(holder as *const Header)).flags.load(Relaxed) };
            let lacks = match look {
                Look { of: Some(_), .. } => 0,
                Look { task: true, .. } => flag::OUT & !f,
                _ => hf & LEAVE & !f,
            };
            if lacks & flag::OUT != 0 {
                self.fault(|w| say(w, "a cell outside the nursery refers to a private one"));
            } else if lacks != 0 {
                self.fault(|w| say(w, "a shared cell refers to a confined one"));
            } else if field >= SIDE && !shared {
                self.fault(|w| say(w, "a side table holds a cell that is not shared"));
            } else if field == 0 && h.kind != Kind::Class {
                self.fault(|w| say(w, "a class that is none"));
            }
            if hf & flag::SHAREABLE != 0 && may_change(Value::from_bits(holder), field, v) {
                self.fault(|w| say(w, "a shareable cell refers to one that may change"));
            }
            // Private cells are young while a cycle marks what lies outside nurseries.
            let young = || !is_marked(v) && (out || !self.cycle) && !self.grey.contains_key(&at);
            if self.moment == Moment::BeforeYoung && young() && self.grey.get(&holder) != Some(&true) {
                let hv = Value::from_bits(holder);
                // SAFETY: a live block.
                let logged = unsafe { (*Block::of(holder)).logged(holder) };
                let logged = logged || hv.cell::<ClassObj>().is_some_and(|c| c.data.is_changed());
                if is_marked(hv) && !logged && !look.shown {
                    self.fault(|w| say(w, "an old cell that is not remembered refers to a young one"));
                }
            }
        }
        if let Some(other_from) = before {
            if !shared && other_from != from {
                let other = self.path_to(at);
                self.fault(|w| format!("{}; and {other}", say(w, "two workers reach a cell that is not shared")));
            }
            return;
        }
        self.seen.push(Seen { at, holder, field, from });
        if shared && !out {
            self.fault(|w| say(w, "a cell is shared, yet in the nursery"));
        } else if !out && from != 0 && (!nursery || heap + 1 != from) {
            let place = if nursery { format!("the nursery of worker {heap}") } else { "no nursery".to_string() };
            self.fault(|w| say(w, &format!("a private cell lies in {place}")));
        }
        if !shared && f & (flag::IVARS | flag::SIDE) != 0 {
            self.fault(|w| say(w, "side tables know a cell that is not shared"));
        }
        if !shared && born_shared(v, h) {
            self.fault(|w| say(w, "a cell of a kind that is born shared is not"));
        }
        if self.moment == Moment::Marked && !is_marked(v) {
            self.fault(|w| say(w, "a reachable cell is not marked"));
        }
        self.todo.push(at);
    }

    /// Says by which way a root reaches the cell at `at`.
    fn path_to(&self, at: u64) -> String {
        match self.seen.iter().find(|s| s.at == at) {
            Some(s) => format!("{} -> {}", self.path(s.holder, s.field, s.from), describe(Value::from_bits(at))),
            None => describe(Value::from_bits(at)),
        }
    }
    /// Says by which way a root reaches field `field` of the cell at `holder`.
    fn path(&self, holder: u64, field: u32, from: u32) -> String {
        let seen: FxHashMap<u64, Seen> = self.seen.iter().map(|s| (s.at, *s)).collect();
        let mut steps = Vec::new();
        let (mut at, mut field, mut from) = (holder, field, from);
        while at != 0 {
            let v = Value::from_bits(at);
            steps.push(format!("{}{}", describe(v), field_name(v, field)));
            let Some(s) = seen.get(&at) else { break };
            (at, field, from) = (s.holder, s.field, s.from);
        }
        steps.push(match from {
            0 => format!("the runtime's root {field}"),
            w => format!("root {field} of worker {}", w - 1),
        });
        steps.reverse();
        if steps.len() > 2 * STEPS {
            let left_out = steps.len() - 2 * STEPS;
            steps.splice(STEPS..STEPS + left_out, [format!("… {left_out} more …")]);
        }
        steps.join(" -> ")
    }
}

/// The kind byte at `at` when it names a kind.
///
/// # Safety
/// Readable memory.
unsafe fn kind_at(at: u64) -> Option<u8> {
    // SAFETY: the caller's promise; any byte is a u8.
    let k = unsafe { *((at as usize + offset_of!(Header, kind)) as *const u8) };
    (k <= Kind::Record as u8).then_some(k)
}

/// Bytes of the cell or gap at `at`; `None` when neither is there.
///
/// # Safety
/// Readable memory.
unsafe fn size_at(at: u64) -> Option<u64> {
    // SAFETY: the caller's promise; the kind byte was looked at before it is read as one.
    let n = unsafe {
        kind_at(at)?;
        cell_bytes(&*(at as *const Header)) as u64
    };
    (n > 0 && n.is_multiple_of(GRANULE as u64)).then_some(n)
}

/// Does an element of a shareable cell lack what it should have? Payloads and a record's decoded fields are their own affair.
fn may_change(holder: Value, field: u32, v: Value) -> bool {
    if field == 0 || !matches!(holder.kind(), Some(Kind::Array | Kind::Hash | Kind::Object | Kind::Struct | Kind::Range)) {
        return false;
    }
    match v.kind() {
        None | Some(Kind::Float | Kind::Big | Kind::Pair | Kind::Class | Kind::Proc) => false,
        Some(_) if v.header().is_some_and(|h| h.has(flag::SHAREABLE)) => false,
        Some(Kind::Object) => !is_ractor(v),
        Some(_) => true,
    }
}

/// Ractors and their ports are shared as they are.
fn is_ractor(v: Value) -> bool {
    let class = v.header().and_then(|h| h.class().cell::<ClassObj>());
    class.is_some_and(|c| c.data.mro.iter().any(|c| matches!(class_name(c.val()).as_deref(), Some("Ractor" | "Ractor::Port"))))
}

/// Is it of a kind whose cells are born shared?
fn born_shared(v: Value, h: &Header) -> bool {
    match h.kind {
        Kind::Class | Kind::Cref => true,
        Kind::Data => v.cell::<DataObj>().is_some_and(|d| !d.payload.confined()),
        _ => false,
    }
}

fn class_name(c: Value) -> Option<String> {
    let c = c.cell::<ClassObj>()?;
    match &c.data.name {
        Some(n) => Some(String::from_utf8_lossy(n).into_owned()),
        None => c
            .data
            .attached
            .cell::<ClassObj>()
            .and_then(|a| a.data.name.as_ref().map(|n| format!("singleton of {}", String::from_utf8_lossy(n)))),
    }
}

/// Kind, class, address and flags of a cell.
fn describe(v: Value) -> String {
    let Some(h) = v.header() else { return format!("{v:?}") };
    let f = h.flags.load(Relaxed);
    let mut s = format!("{:?}", h.kind);
    let name = if h.kind == Kind::Class { class_name(v) } else { class_name(h.class()) };
    if let Some(n) = name {
        let _ = write!(s, " {n}");
    }
    let state = match (f & flag::OUT != 0, f & flag::SHARED != 0) {
        (false, false) => "private",
        (true, false) => "confined",
        (true, true) => "shared",
        (false, true) => "shared without OUT",
    };
    let age = if is_marked(v) { "old" } else { "young" };
    let _ = write!(s, "@{:x} ({state}, {age}, flags {f:02x})", v.bits());
    s
}

/// The name of a field by its number in the order of `trace_cell`.
fn field_name(v: Value, n: u32) -> String {
    if n >= SIDE {
        return format!(" side variable {}", n - SIDE);
    }
    let names: &[&str] = match v.kind() {
        _ if n == 0 => &["class"],
        Some(Kind::Range) => &["", "begin", "end"],
        Some(Kind::Proc) => &["", "self", "env", "cref", "block", "home"],
        Some(Kind::Cref) => &["", "module", "parent", "refinements", "definee"],
        Some(Kind::Unwind) => &["", "value", "target"],
        Some(Kind::Home) => &["", "outer"],
        Some(Kind::Env) => &["", "parent"],
        Some(Kind::Hash) => &["", "default"],
        _ => &[],
    };
    if let Some(n) = names.get(n as usize) {
        return format!(".{n}");
    }
    match v.kind() {
        Some(Kind::Hash) => format!("[{} {}]", if n.is_multiple_of(2) { "key" } else { "value" }, (n - 2) / 2),
        Some(Kind::Env) => format!("[{}]", n - 2),
        Some(Kind::Data | Kind::Class) => format!(" value {}", n - 1),
        _ => format!("[{}]", n - 1),
    }
}

#[cfg(test)]
mod tests;
