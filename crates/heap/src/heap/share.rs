//! The walk that freezes a graph of objects and publishes it, so that all may have it: `Ractor.make_shareable` and the segments.
//!
//! **Invariant.** What a cell with [`flag::SHAREABLE`] reaches can never change: each cell that Ruby code can read there is
//! frozen. A walk gives a cell its flags when it first meets it, which is how it knows it again, and keeps what they were; one that
//! is dropped before its end gives them back, and has changed nothing. Nobody else sees the flags meanwhile: a walk comes to no
//! safepoint, and either nobody else reaches the cell, or nobody else runs ([`Sharing::new`]). What others reach is not touched; the
//! walk says so ([`Met::Contended`]) and is made again at a stop.
//!
//! What the classes of objects say is its owner's knowledge. So it stops at each class that it meets, is told
//! ([`Sharing::tell`]), and goes on where it was. It follows references by a list of its own: depth costs no native stack.

use super::Heap;
use crate::cells::header::{Header, Kind, flag};
use crate::cells::layout::*;
use crate::cells::trace::{cell_bytes, outside, outside_bytes, prefetch};
use crate::nursery::LEAVE;
use crate::{ClassObj, Gc, HashObj, RecordObj, Value};
use kumi_budget::Grow;
use std::sync::atomic::Ordering::*;

/// How the objects of a class are shared.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Way(u8);

impl Way {
    /// By freezing the cell, and sharing what it refers to.
    pub const PLAIN: Way = Way(0);
    /// They have a `freeze` of their own, which the owner of the walk calls.
    pub const OWN: Way = Way(1);
    /// They are not.
    pub const REFUSED: Way = Way(2);
    /// As they are: threads use them together (Ractors, ports).
    pub const AS_IS: Way = Way(4);
    /// As [`PLAIN`](Self::PLAIN), where it is data that nothing in its payload changes.
    pub const DATA: Way = Way(8);
    /// Data of this class is never seen by itself: it belongs to the object that has it in a variable.
    pub const HIDDEN: Way = Way(16);
    fn is(self, o: Way) -> bool {
        self.0 & o.0 != 0
    }
}

/// Why a walk stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Met {
    /// It has seen all: [`Sharing::finish`].
    End,
    /// How is the class of this object shared? Then [`Sharing::tell`].
    Class(Value),
    /// Others reach this frozen cell. If it is shareable it has to get the flag; if not, the cell is contended.
    Frozen(Value),
    /// Others reach a cell that is to be frozen: the walk is made anew while they do not run.
    Contended,
    /// This cannot be shared. The way to it is [`Sharing::path`].
    Refused(Value),
    /// Many steps were made: a moment to look whether somebody waits.
    Breath,
}

/// What became of a reference.
enum Enter {
    Passed,
    Into,
    /// The same of a cell that has variables beside it.
    IntoBoth,
    Met(Met),
}

/// A cell whose references are walked along, and which of them is next.
#[derive(Clone, Copy)]
struct Place {
    cell: Value,
    at: usize,
}

/// From here on `at` counts the variables that stand beside a cell.
const SIDE: usize = 1 << 62;
/// The way in: not along what a cell refers to, but to the cell itself.
const ROOT: usize = usize::MAX;
const WAYS: usize = 16;
/// So many elements ahead it is seen to that cells are in the cache.
const AHEAD: usize = 24;

/// A walk that goes on.
pub struct Sharing {
    stack: Vec<Place>,
    /// Cells that were given flags; the flags they had are in the upper eight bits.
    done: Vec<u64>,
    own: Vec<Value>,
    /// Published at the end.
    later: Vec<Value>,
    /// Singleton classes of what is frozen.
    singletons: Vec<Gc<ClassObj>>,
    ways: [(u64, Way); WAYS],
    /// Classes of which there is nothing else to know, at the same places.
    plain: [u64; WAYS],
    alone: bool,
    /// A cell with one of these flags is no common one.
    rare: u8,
    steps: usize,
    cells: u64,
    bytes: usize,
    outside: usize,
}

/// A fresh cell's frozen state and publication, in one.
const ALL: u8 = flag::FROZEN | flag::SHAREABLE | LEAVE;
/// Kinds of which most cells are.
const COMMON: u32 =
    1 << Kind::Str as u32 | 1 << Kind::Array as u32 | 1 << Kind::Hash as u32 | 1 << Kind::Object as u32 | 1 << Kind::Struct as u32;
const PASSED: u8 = flag::SHAREABLE | LEAVE;
const FLAGS: u32 = 56;

impl Sharing {
    /// Steps between two breaths.
    pub const BREATH: usize = 8192;
    /// The walk from `root`. `alone`: no other worker runs until it is finished or dropped, one worker runs alone or the world
    /// is stopped.
    pub fn new(root: Value, alone: bool) -> Sharing {
        Sharing {
            stack: vec![Place { cell: root, at: ROOT }],
            done: Vec::new(),
            own: Vec::new(),
            later: Vec::new(),
            singletons: Vec::new(),
            ways: [(0, Way::PLAIN); WAYS],
            plain: [0; WAYS],
            alone,
            rare: flag::SHAREABLE | flag::SINGLETON | flag::IVARS | if alone { 0 } else { flag::SHARED },
            steps: 0,
            cells: 0,
            bytes: 0,
            outside: 0,
        }
    }
    /// How objects of `v`'s class are shared.
    pub fn tell(&mut self, v: Value, way: Way) {
        if let Some(h) = v.header() {
            let (class, at) = (h.class().bits(), slot(h.class()));
            self.ways[at] = (class, way);
            self.plain[at] = if way == Way::PLAIN { class } else { 0 };
        }
    }
    /// Goes on until there is something to say.
    pub fn run(&mut self, heap: &mut Heap) -> Met {
        let met = loop {
            let Some(&Place { cell, at }) = self.stack.last() else { break Met::End };
            if let Some(met) = self.step(heap, cell, at) {
                break met;
            }
        };
        match met {
            Met::Refused(part) => Met::Refused(self.blame(part)),
            met => met,
        }
    }
    /// Walks along one place, from `at` on, as far as its end or the first cell to be entered.
    #[inline(always)]
    fn step(&mut self, heap: &mut Heap, cell: Value, at: usize) -> Option<Met> {
        if at >= SIDE {
            return self.step_beside(heap, cell, at);
        }
        // SAFETY: the kind byte names the layout.
        unsafe {
            match cell.kind() {
                Some(Kind::Array) => {
                    let a = cell.cell_unchecked::<crate::ArrayObj>();
                    let all = a.seen();
                    self.along(at, all.len(), |i| all.get(i).unwrap_or(Value::NIL))
                }
                Some(Kind::Hash) => {
                    let h = &cell.cell_unchecked::<HashObj>().h;
                    self.along(at, 1 + 2 * h.slots(), |i| match (i, h.at(i.saturating_sub(1) / 2)) {
                        (0, _) => h.missing().either(),
                        (_, None) => Value::NIL,
                        (i, Some(e)) => [e.val, e.key][i & 1],
                    })
                }
                Some(Kind::Object) => {
                    let o = cell.cell_unchecked::<ObjectObj>();
                    let n = heap.shapes.count(o.shape());
                    self.along(at, n as usize, |i| o.slot(i as u32))
                }
                Some(Kind::Struct) => {
                    let all = cell.cell_unchecked::<StructObj>();
                    let all = all.slots();
                    self.along(at, all.len(), |i| all.get(i).unwrap_or(Value::NIL))
                }
                Some(Kind::Record) => {
                    let r = cell.cell_unchecked::<RecordObj>();
                    self.along(at, r.fields(), |i| r.slot(i))
                }
                Some(Kind::Range) => {
                    let r = cell.cell_unchecked::<RangeObj>();
                    self.along(at, 2, |i| if i == 0 { r.lo } else { r.hi })
                }
                Some(Kind::Pair) => {
                    let r = cell.cell_unchecked::<PairObj>();
                    self.along(at, 2, |i| if i == 0 { r.a } else { r.b })
                }
                _ => self.along(at, 0, |_| Value::NIL),
            }
        }
    }
    /// The root, or variables beside a cell.
    #[cold]
    #[inline(never)]
    fn step_beside(&mut self, heap: &mut Heap, cell: Value, at: usize) -> Option<Met> {
        if at == ROOT {
            return match self.enter(cell) {
                Enter::Passed => {
                    self.stack.clear();
                    None
                }
                Enter::Into | Enter::IntoBoth => {
                    self.stack.clear();
                    self.stack.put(Place { cell, at: 0 });
                    self.push_beside(cell);
                    None
                }
                Enter::Met(met) => Some(met),
            };
        }
        let all = heap.side_ivars(cell);
        self.along(at, SIDE + all.len(), |i| all[i - SIDE].1)
    }
    #[inline(always)]
    fn along(&mut self, at: usize, end: usize, get: impl Fn(usize) -> Value) -> Option<Met> {
        let stop = end.min(at + Self::BREATH);
        for i in at..stop {
            if i + AHEAD < stop {
                // What comes soon is brought into the cache: the cell first, then what lies outside of it.
                prefetch(get(i + AHEAD).bits() as *const u8);
                if let Some(h) = get(i + AHEAD / 2).header()
                    && !h.has(self.rare)
                {
                    // SAFETY: the header of a live cell that nobody else changes.
                    prefetch(unsafe { outside(h) });
                }
            }
            let v = get(i);
            match self.enter(v) {
                Enter::Passed => {}
                Enter::Into => {
                    self.set_at(i);
                    self.stack.put(Place { cell: v, at: 0 });
                    return self.stepped(i - at + 1);
                }
                Enter::IntoBoth => {
                    self.set_at(i);
                    self.stack.put(Place { cell: v, at: 0 });
                    self.push_beside(v);
                    return self.stepped(i - at + 1);
                }
                Enter::Met(met) => {
                    self.set_at(i);
                    return Some(met);
                }
            }
        }
        if stop < end {
            self.set_at(stop);
            return self.stepped(Self::BREATH);
        }
        self.pop();
        self.stepped(stop - at)
    }
    #[inline(always)]
    fn stepped(&mut self, n: usize) -> Option<Met> {
        self.steps += n;
        if self.steps < Self::BREATH {
            return None;
        }
        self.steps = 0;
        Some(Met::Breath)
    }
    #[inline(always)]
    fn set_at(&mut self, i: usize) {
        if let Some(p) = self.stack.last_mut() {
            p.at = i;
        }
    }
    #[cold]
    fn push_beside(&mut self, cell: Value) {
        if cell.header().is_some_and(|h| h.has(flag::IVARS)) {
            self.stack.put(Place { cell, at: SIDE });
        }
    }
    #[inline(always)]
    fn pop(&mut self) {
        let Some(Place { at, .. }) = self.stack.pop() else { return };
        if let Some(p) = self.stack.last_mut()
            && at < SIDE
        {
            p.at += 1;
        }
    }
    /// Looks at one reference.
    #[inline(always)]
    fn enter(&mut self, v: Value) -> Enter {
        let Some(h) = v.header() else { return Enter::Passed };
        let f = h.flags.load(Relaxed);
        if f & PASSED == PASSED {
            return Enter::Passed;
        }
        // The commonest ones, of classes that are known.
        let class = h.class();
        if f & self.rare == 0 && COMMON >> h.kind as u32 & 1 != 0 && self.plain[slot(class)] == class.bits() {
            self.mark(v, h, f, ALL);
            return if h.kind == Kind::Str { Enter::Passed } else { Enter::Into };
        }
        self.enter_slow(v, h, f)
    }
    #[inline(never)]
    fn enter_slow(&mut self, v: Value, h: &Header, f: u8) -> Enter {
        if f & flag::SHAREABLE != 0 {
            self.later.put(v);
            return Enter::Passed;
        }
        let others = !self.alone && f & flag::SHARED != 0;
        match h.kind {
            Kind::Class => return Enter::Passed,
            Kind::Float | Kind::Big => {
                if !others {
                    self.mark(v, h, f, ALL);
                }
                return Enter::Passed;
            }
            Kind::Pair if others => return Enter::Passed,
            Kind::Pair => {
                self.mark(v, h, f, ALL);
                return Enter::Into;
            }
            Kind::Proc => {
                let shareable = v.as_proc().is_some_and(|p| p.hdr.x.get() & (ProcObj::SHAREABLE | ProcObj::FROM_SYMBOL) != 0);
                let list = if shareable { &mut self.later } else { &mut self.own };
                list.put(v);
                return Enter::Passed;
            }
            Kind::Str | Kind::Array | Kind::Hash | Kind::Object | Kind::Struct | Kind::Range | Kind::Record | Kind::Data => {}
            _ => return Enter::Met(Met::Refused(v)),
        }
        let class = h.class();
        let (known, way) = self.ways[slot(class)];
        if known != class.bits() {
            return Enter::Met(Met::Class(v));
        }
        if way.is(Way::AS_IS) {
            self.later.put(v);
            return Enter::Passed;
        }
        let data = v.cell::<DataObj>();
        if way.is(Way::REFUSED) || data.is_some_and(|d| !way.is(Way::DATA) && !d.payload.constant()) {
            return Enter::Met(Met::Refused(v));
        }
        if others {
            return match h.kind {
                _ if f & flag::FROZEN == 0 => Enter::Met(Met::Contended),
                // It is so already, whatever becomes of the walk.
                Kind::Str | Kind::Data if f & flag::IVARS == 0 => {
                    h.set(flag::SHAREABLE);
                    Enter::Passed
                }
                _ => Enter::Met(Met::Frozen(v)),
            };
        }
        if way.is(Way::OWN) && f & flag::FROZEN == 0 {
            self.own.put(v);
        }
        if f & flag::SINGLETON != 0
            && let Some(s) = class.as_class()
            && s.is_singleton()
            && s.data.attached == v
        {
            self.singletons.put(s);
        }
        if data.is_some() {
            // What it holds is published with it.
            self.later.put(v);
            self.mark(v, h, f, flag::FROZEN | flag::SHAREABLE);
        } else {
            self.mark(v, h, f, ALL);
        }
        if f & flag::IVARS == 0 { Enter::Into } else { Enter::IntoBoth }
    }
    #[inline(always)]
    fn mark(&mut self, v: Value, h: &Header, f: u8, need: u8) {
        self.done.put(v.bits() | (f as u64) << FLAGS);
        // Nobody else changes its flags now.
        h.flags.store(f | need, Release);
        if f & flag::OUT == 0 && need & flag::OUT != 0 {
            self.cells += 1;
            self.bytes += cell_bytes(h);
            self.outside += outside_bytes(v);
        }
    }
    /// What is named for a part that is refused: of hidden data the object that has it.
    fn blame(&mut self, part: Value) -> Value {
        let hidden = part.is_kind(Kind::Data) && part.header().is_some_and(|h| self.ways[slot(h.class())].1.is(Way::HIDDEN));
        match self.stack.last() {
            Some(&Place { cell, at }) if hidden && (at >= SIDE || cell.is_kind(Kind::Object)) && at != ROOT => {
                self.pop_owner();
                cell
            }
            _ => part,
        }
    }
    fn pop_owner(&mut self) {
        let Some(Place { cell, at }) = self.stack.pop() else { return };
        if at >= SIDE && self.stack.last().is_some_and(|p| p.cell == cell) {
            self.stack.pop();
        }
    }
    /// The way to where the walk stopped: each cell and the number of the reference that leads on. From [`beside`](Self::beside) on it counts
    /// variables beside the cell; of a Hash 0 is the default, odd numbers are keys and even ones values.
    pub fn path(&self) -> Vec<(Value, usize)> {
        let mut path: Vec<(Value, usize)> = Vec::new();
        for p in self.stack.iter().filter(|p| p.at != ROOT) {
            if path.last().is_some_and(|l| l.0 == p.cell && p.at >= SIDE) {
                path.pop();
            }
            path.push((p.cell, p.at));
        }
        path
    }
    /// The number of the variable beside a cell that a step of a path names, if it names one.
    pub fn beside(at: usize) -> Option<usize> {
        at.checked_sub(SIDE)
    }
    /// What has to be made shareable by other means first: Procs, and objects with a `freeze` of their own that are not frozen.
    pub fn own(&self) -> &[Value] {
        &self.own
    }
    /// All is walked, and nothing is left to be made shareable by other means: so it stays.
    pub fn finish(mut self, heap: &mut Heap) {
        self.done = Vec::new();
        heap.left(self.cells, self.bytes, self.outside);
        for s in std::mem::take(&mut self.singletons) {
            s.hdr.set(flag::FROZEN);
        }
        for v in std::mem::take(&mut self.later) {
            heap.publish(v);
        }
    }
}

impl Drop for Sharing {
    fn drop(&mut self) {
        for d in &self.done {
            if let Some(h) = Value::from_bits(d & ((1 << FLAGS) - 1)).header() {
                h.flags.store((d >> FLAGS) as u8, Release);
            }
        }
    }
}

#[inline(always)]
fn slot(class: Value) -> usize {
    (class.bits() >> 5) as usize % WAYS
}
