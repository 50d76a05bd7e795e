//! Records: cells that hold a packed row and decode its fields when they are first asked for.
//!
//! A cell is header, one slot for each field, and the row's bytes, which the heap does not look into. A slot is
//! [`Value::UNDEF`] until its field is decoded, then the field's value, or [`Value::REMOVED`].
//!
//! Invariant: the bytes never change, a slot only from pending to a value and to removed. A record is frozen from its
//! birth; that its slots are filled is seen by no Ruby code. Two threads may decode one field of a shared record at
//! once: a slot is one word, stored after its value was published to those who reach the record, so either value wins.

use crate::cells::header::MAX_CELL;
use crate::cells::header::{Gc, Header, Kind, Layout, flag};
use crate::heap::Heap;
use crate::{ClassObj, Value};
use std::mem::size_of;
use std::sync::atomic::{AtomicU64, Ordering::*};

/// A record: `hdr.x` fields, `hdr.aux` bytes of packed row behind their slots.
#[repr(C)]
pub struct RecordObj {
    /// What every cell begins with.
    pub hdr: Header,
    slots: [AtomicU64; 0],
}

// SAFETY: repr(C), header first, the only layout of the kind.
unsafe impl Layout for RecordObj {
    const KIND: Kind = Kind::Record;
}

impl RecordObj {
    /// Most bytes of a row.
    pub const MAX_ROW: usize = i32::MAX as usize;

    /// How many fields.
    #[inline(always)]
    pub fn fields(&self) -> usize {
        self.hdr.x.get() as usize
    }
    /// The packed row.
    #[inline]
    pub fn row(&self) -> &[u8] {
        // SAFETY: the cell was allocated with `hdr.x` slots and `hdr.aux` bytes behind them, all written.
        unsafe { std::slice::from_raw_parts(self.slots.as_ptr().add(self.hdr.x.get() as usize) as *const u8, self.hdr.aux.get() as usize) }
    }
    /// Field `i`: `UNDEF` while it is pending, `REMOVED`, or its value. Pending, too, when there is no such field.
    #[inline(always)]
    pub fn slot(&self, i: usize) -> Value {
        match self.word(i) {
            Some(w) => Value::from_bits(w.load(Acquire)),
            None => Value::UNDEF,
        }
    }
    #[inline(always)]
    fn word(&self, i: usize) -> Option<&AtomicU64> {
        // SAFETY: as in `row`.
        (i < self.hdr.x.get() as usize).then(|| unsafe { &*self.slots.as_ptr().add(i) })
    }
    /// All slots as they are, for visitors.
    pub(crate) fn slots(&self) -> &[Value] {
        // SAFETY: as in `row`; a Value is a word, and visitors run while no one decodes or read each word once.
        unsafe { std::slice::from_raw_parts(self.slots.as_ptr() as *const Value, self.hdr.x.get() as usize) }
    }
    pub(crate) fn size(h: &Header) -> usize {
        size_of::<RecordObj>() + h.x.get() as usize * 8 + h.aux.get() as usize
    }
}

impl Value {
    /// The cell of a record.
    #[inline(always)]
    pub fn as_record(self) -> Option<Gc<RecordObj>> {
        self.cell()
    }
}

impl Heap {
    /// A record of `n` fields, all pending, with a copy of a packed row, which may lie in another record.
    ///
    /// # Panics
    /// When the row is longer than [`RecordObj::MAX_ROW`], which no packed row is.
    #[inline]
    pub fn record(&mut self, class: Gc<ClassObj>, row: &[u8], n: u16) -> Gc<RecordObj> {
        assert!(row.len() <= RecordObj::MAX_ROW, "a packed row is shorter than 2 GB");
        let mut hdr = Header::with(class.val(), Kind::Record, flag::FROZEN);
        hdr.x.put(n);
        hdr.aux.put(row.len() as u32);
        let bytes = RecordObj::size(&hdr);
        let p = self.raw(bytes, self.place);
        // SAFETY: a fresh cell of that size: header, slots, bytes.
        unsafe {
            *hdr.flags.get_mut() |= self.birth;
            (p as *mut Header).write(hdr);
            let slots = p.add(size_of::<RecordObj>()) as *mut Value;
            for i in 0..n as usize {
                slots.add(i).write(Value::UNDEF);
            }
            std::ptr::copy_nonoverlapping(row.as_ptr(), slots.add(n as usize) as *mut u8, row.len());
        }
        if self.attend || bytes > MAX_CELL {
            self.slots_born(p, bytes);
        }
        Gc::from_ptr(p as *mut RecordObj)
    }
    /// Field `i` of `r` is decoded, or removed: its slot becomes `v`. Without a lock, whoever reaches the record.
    #[inline]
    pub fn fill_record(&mut self, r: Gc<RecordObj>, i: usize, v: Value) {
        self.before_store(r.val(), v);
        let Some(w) = r.word(i) else { return };
        if v != Value::REMOVED && r.hdr.has(flag::SHARED) {
            // Another thread may have removed the field meanwhile, and so it stays.
            let _ = w.compare_exchange(Value::UNDEF.bits(), v.bits(), Release, Relaxed);
        } else {
            w.store(v.bits(), Release);
        }
    }
    /// A record like `r`, decoded as far as that is, of the class `class`.
    pub fn copy_record(&mut self, class: Gc<ClassObj>, r: Gc<RecordObj>) -> Gc<RecordObj> {
        let new = self.record(class, r.row(), r.hdr.x.get());
        for i in 0..r.fields() {
            let v = r.slot(i);
            if !v.is_undef() {
                self.fill_record(new, i, v);
            }
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ClassData, HeapConfig, Instance, Look, Moment, Role, Rule, verify};

    fn class(h: &mut Heap) -> Gc<ClassObj> {
        h.class(Value::FALSE, Role::Class, ClassData::new(None, Instance::None))
    }

    #[test]
    fn rows_stay_as_they_are_and_fields_are_kept_by_their_record() {
        for rule in [Rule::Off, Rule::Paper, Rule::Closure] {
            let mut h = Heap::configured(HeapConfig { rule, ..HeapConfig::default() });
            let c = class(&mut h);
            for len in [0, 1, 7, 8, 100, MAX_CELL, 70_000] {
                let row: Vec<u8> = (0..len).map(|i| (i * 7) as u8).collect();
                let r = h.record(c, &row, 3);
                h.seal_born();
                assert!(r.val().frozen() && r.fields() == 3 && r.slot(0).is_undef() && r.slot(9).is_undef());
                let s = h.str(Value::FALSE, b"a text that does not fit in its cell", 1).val();
                h.fill_record(r, 1, s);
                h.fill_record(r, 2, Value::REMOVED);
                h.fill_record(r, 3, Value::NIL);
                h.collect_nursery(|m| m.mark(r.val()));
                h.collect(&mut |m| {
                    m.mark(r.val());
                    m.mark(c.val());
                });
                // A young value in an old record.
                let young = h.str(Value::FALSE, b"another text that does not fit in it", 1).val();
                h.fill_record(r, 0, young);
                h.shared().request_gc();
                Heap::collect_all(&mut [&mut h], &mut |_, m| {
                    m.mark(r.val());
                    m.mark(c.val());
                });
                assert_eq!(r.row(), row);
                assert_eq!(r.slot(0).as_str().unwrap().bytes(), b"another text that does not fit in it");
                assert_eq!(r.slot(1).as_str().unwrap().bytes(), b"a text that does not fit in its cell");
                assert!(r.slot(2) == Value::REMOVED);
                let copy = h.copy_record(c, r);
                assert!(copy.row() == row && copy.slot(1) == r.slot(1) && copy.slot(2) == Value::REMOVED);
                h.collect(&mut |m| m.mark(c.val()));
                assert_eq!(h.stat().live_cells, 1);
            }
        }
    }

    #[test]
    fn records_are_walked_and_verified() {
        let mut h = Heap::new();
        let c = class(&mut h);
        let mut kept = Vec::new();
        for i in 0..2000usize {
            let r = h.record(c, &vec![i as u8; i % 61], (i % 5) as u16);
            let s = h.str(Value::FALSE, b"text", 1).val();
            h.fill_record(r, 0, s);
            if i % 3 == 0 {
                kept.push(r.val());
            }
            if h.wants_nursery() {
                h.collect_nursery(|m| m.mark_all(&kept));
            }
        }
        h.publish(c.val());
        let found = verify(&mut [&mut h], &mut |_| {}, &mut |_, m| m.mark_all(&kept), Moment::Anytime, &|_| Look::default());
        assert_eq!(found, Ok(()));
        h.collect(&mut |m| {
            m.mark_all(&kept);
            m.mark(c.val());
        });
        let mut n = 0;
        h.each_cell(|v| n += v.as_record().is_some() as usize);
        assert_eq!(n, kept.len());
    }

    #[test]
    fn what_one_thread_removed_no_other_fills() {
        let mut h = Heap::new();
        let c = class(&mut h);
        let r = h.record(c, b"row", 2);
        h.publish(r.val());
        // One has begun to decode when the other removes.
        h.fill_record(r, 0, Value::REMOVED);
        h.fill_record(r, 0, Value::TRUE);
        h.fill_record(r, 1, Value::TRUE);
        h.fill_record(r, 1, Value::FALSE);
        assert!(r.slot(0) == Value::REMOVED && r.slot(1) == Value::TRUE);
        h.fill_record(r, 1, Value::REMOVED);
        assert!(r.slot(1) == Value::REMOVED);
    }

    #[test]
    fn two_threads_decode_one_field() {
        let mut h = Heap::new();
        let c = class(&mut h);
        let records: Vec<_> = (0..500).map(|_| h.record(c, b"row", 1)).collect();
        for r in &records {
            h.publish(r.val());
        }
        let bits: Vec<u64> = records.iter().map(|r| r.val().bits()).collect();
        let mut other = h.sibling();
        let decode = |h: &mut Heap| {
            h.set_parallel(true);
            for b in &bits {
                let Some(r) = Value::from_bits(*b).as_record() else { continue };
                if r.slot(0).is_undef() {
                    let s = h.str(Value::FALSE, b"a text that does not fit in its cell", 1).val();
                    h.fill_record(r, 0, s);
                }
                let s = r.slot(0);
                assert!(s.header().is_some_and(|h| h.has(flag::SHARED)));
                assert_eq!(s.as_str().unwrap().bytes(), b"a text that does not fit in its cell");
            }
            h.set_parallel(false);
        };
        std::thread::scope(|s| {
            s.spawn(|| decode(&mut other));
            decode(&mut h);
        });
    }
}
