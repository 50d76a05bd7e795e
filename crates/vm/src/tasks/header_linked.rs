//! The paper's second layout (feature `linked-frames`): headers live in records outside the copied area,
//! linked in a list that is reused as frames come and go; the stack holds one word, the record's address.
//!
//! The record of a frame's callee is the next of its own, so that entering allocates only when a task is
//! deeper than ever before, and leaving does nothing.

use super::frame::Fp;
use kumi_heap::{Marker, Value};
use std::ptr::null_mut;

/// A frame's header.
#[repr(C)]
pub(crate) struct Record {
    next: *mut Record,
    link: u64,
    code: u64,
    ret: u64,
    cref: Value,
    block: Value,
    env: Value,
    parent: Value,
}

impl Record {
    #[cold]
    #[inline(never)]
    fn make() -> *mut Record {
        let nil = Value::NIL;
        Box::into_raw(Box::new(Record { next: null_mut(), link: 1, code: 1, ret: 1, cref: nil, block: nil, env: nil, parent: nil }))
    }
}

/// The records of one task, the bottom frame's first.
pub(crate) struct Records(*mut Record);

impl Records {
    pub(crate) const fn new() -> Records {
        Records(null_mut())
    }
    fn first(&mut self) -> *mut Record {
        if self.0.is_null() {
            self.0 = Record::make();
        }
        self.0
    }
    /// Frees the records above the first `keep`.
    pub(crate) fn cut(&mut self, keep: usize) {
        let mut at: *mut *mut Record = &mut self.0;
        // SAFETY: the list's records are live and owned by it; those above `keep` belong to no frame.
        unsafe {
            for _ in 0..keep {
                if (*at).is_null() {
                    return;
                }
                at = &mut (**at).next;
            }
            let mut r = std::mem::replace(&mut *at, null_mut());
            while !r.is_null() {
                r = Box::from_raw(r).next;
            }
        }
    }
}
impl Drop for Records {
    fn drop(&mut self) {
        self.cut(0);
    }
}

// SAFETY (all accessors): the word below a frame's base names its record, which lives as long as the stack.
impl Fp {
    #[inline(always)]
    fn record(self) -> *mut Record {
        unsafe { ((*self.0.sub(1)).bits() - 1) as *mut Record }
    }
    #[inline(always)]
    fn set_record(self, r: *mut Record) {
        unsafe { *self.0.sub(1) = Value::from_bits(r as u64 | 1) }
    }
    /// A frame above `caller` begins here; its header is set next.
    #[inline(always)]
    pub(crate) fn begin(self, caller: Fp) {
        let r = caller.record();
        unsafe {
            if (*r).next.is_null() {
                (*r).next = Record::make();
            }
            self.set_record((*r).next);
        }
    }
    /// The first frame of a task.
    pub(crate) fn first(self, records: &mut Records) -> Fp {
        self.set_record(records.first());
        self
    }
    /// Marks the values of the header.
    pub(crate) fn mark_header(self, m: &mut Marker) {
        for v in [self.cref(), self.block(), self.env(), self.parent()] {
            m.mark(v);
        }
    }
    #[inline(always)]
    pub(super) fn link_word(self) -> u64 {
        unsafe { (*self.record()).link }
    }
    #[inline(always)]
    pub(super) fn set_link_word(self, b: u64) {
        unsafe { (*self.record()).link = b }
    }
    #[inline(always)]
    pub(super) fn code_word(self) -> u64 {
        unsafe { (*self.record()).code }
    }
    #[inline(always)]
    pub(super) fn set_code_word(self, b: u64) {
        unsafe { (*self.record()).code = b }
    }
    #[inline(always)]
    pub(super) fn ret_word(self) -> u64 {
        unsafe { (*self.record()).ret }
    }
    #[inline(always)]
    pub(super) fn set_ret_word(self, b: u64) {
        unsafe { (*self.record()).ret = b }
    }
    #[inline(always)]
    pub fn cref(self) -> Value {
        unsafe { (*self.record()).cref }
    }
    #[inline(always)]
    pub fn set_cref(self, v: Value) {
        unsafe {
            // Every new frame sets its cref, and only block frames their parent: nothing stale may stay there.
            (*self.record()).parent = Value::NIL;
            (*self.record()).cref = v
        }
    }
    #[inline(always)]
    pub fn block(self) -> Value {
        unsafe { (*self.record()).block }
    }
    #[inline(always)]
    pub fn set_block(self, v: Value) {
        unsafe { (*self.record()).block = v }
    }
    #[inline(always)]
    pub fn env(self) -> Value {
        unsafe { (*self.record()).env }
    }
    #[inline(always)]
    pub fn set_env(self, v: Value) {
        unsafe { (*self.record()).env = v }
    }
    #[inline(always)]
    pub fn parent(self) -> Value {
        unsafe { (*self.record()).parent }
    }
    #[inline(always)]
    pub fn set_parent(self, v: Value) {
        unsafe { (*self.record()).parent = v }
    }
}
