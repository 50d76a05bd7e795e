//! The cell of an Array, and who may change it.
//!
//! Invariant: elements are looked at through [`ArrayObj::seen`], once for each use, and without a lock. They are changed in
//! three ways. A *store* into a slot takes no lock (`set_unlocked`, through the worker's gate) or is made under it (`set`).
//! *Appending* goes on under the lock beside such stores. Every other change moves or removes elements: it is made through
//! [`Held`], which the lock's holder gets after the stores that were begun without the lock, so that from then on the
//! elements are nobody else's: what `Held` shows is what it changes.

use crate::cells::header::{Gc, Header, Kind, Layout, flag};
use crate::{RaceVec, Seen, Value};
use std::ops::Deref;
use std::sync::atomic::Ordering::*;

/// The buffer of an array.
pub type ArrayBuf = RaceVec<Value, 3>;

/// An array.
#[repr(C)]
pub struct ArrayObj {
    /// What every cell begins with.
    pub hdr: Header,
    buf: ArrayBuf,
}

// SAFETY: repr(C), header first, one layout a kind.
unsafe impl Layout for ArrayObj {
    const KIND: Kind = Kind::Array;
}

impl ArrayObj {
    /// In `hdr.x`: it was made to hold the values of a rest parameter which is only passed on.
    pub(crate) const LIST: u16 = 1;
    pub(crate) const BUFFER: usize = std::mem::offset_of!(ArrayObj, buf);
    pub(crate) fn new(class: Value, buf: ArrayBuf) -> ArrayObj {
        ArrayObj { hdr: Header::new(class, Kind::Array), buf }
    }
    /// Makes an array with flags and `hdr.x` where `to` points.
    ///
    /// # Safety
    /// A fresh cell.
    #[inline(always)]
    pub(crate) unsafe fn write(to: *mut ArrayObj, class: Value, elems: &[Value], flags: u8, x: u16) {
        let mut hdr = Header::with(class, Kind::Array, flags);
        hdr.x.put(x);
        // SAFETY: the caller's promise.
        unsafe {
            (&raw mut (*to).hdr).write(hdr);
            RaceVec::write(&raw mut (*to).buf, elems);
        }
    }
    /// As `write`, of elements that others may be storing into.
    ///
    /// # Safety
    /// A fresh cell.
    #[inline]
    pub(crate) unsafe fn write_seen(to: *mut ArrayObj, class: Value, elems: Seen<'_, Value>) {
        // SAFETY: the caller's promise.
        unsafe {
            (&raw mut (*to).hdr).write(Header::new(class, Kind::Array));
            RaceVec::write_seen(&raw mut (*to).buf, elems);
        }
    }
    /// One look at the elements: what it saw stays there until the next safepoint.
    #[inline(always)]
    pub fn seen(&self) -> Seen<'_, Value> {
        self.buf.seen()
    }
    /// # Safety
    /// Nobody stores meanwhile: at a stop, or a private cell.
    #[inline(always)]
    pub(crate) unsafe fn unraced(&self) -> &[Value] {
        // SAFETY: the caller's promise.
        unsafe { self.buf.unraced() }
    }
    /// Its buffer, at a stop: where that is, where its first slot is, and which slots hold elements.
    pub(crate) fn slots(&self) -> Option<(usize, *const Value, std::ops::Range<usize>)> {
        self.buf.slots()
    }
    /// Number of elements now. Others may change it: who goes on to look at elements takes [`seen`](Self::seen) once.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.buf.len()
    }
    /// Has it no element now?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Was it made to hold several values of a rest parameter? Such a parameter may hold any other Array as its one value.
    #[inline(always)]
    pub fn is_list(&self) -> bool {
        self.hdr.x.get() == Self::LIST
    }
    /// Element `i` at a look of its own.
    #[inline(always)]
    pub fn get(&self, i: usize) -> Option<Value> {
        self.seen().get(i)
    }
    pub(crate) fn capacity(&self) -> usize {
        if self.buf.spilled() { self.buf.capacity() } else { 0 }
    }
    /// Stores into one slot, when there is such an element. The caller runs the barrier, and has the lock where others
    /// may be.
    #[inline(always)]
    pub fn set(&mut self, i: usize, v: Value) -> bool {
        self.buf.set(i, v)
    }
    /// The same beside others without the lock; `None`: it must be taken, or the array was frozen meanwhile.
    #[inline(always)]
    pub fn set_unlocked(&self, i: usize, v: Value) -> Option<bool> {
        self.buf.store_unlocked(i, v, || self.hdr.flags.load(Acquire) & (flag::LOCK | flag::FROZEN) != 0)
    }
    /// Appends. The caller runs the barrier, and has the lock where others may be.
    #[inline(always)]
    pub fn push(&mut self, v: Value) {
        self.buf.push(v)
    }
    /// The same where it needs no memory; false otherwise.
    #[inline(always)]
    pub fn push_if_room(&mut self, v: Value) -> bool {
        self.buf.push_if_room(v)
    }
    /// Gives the buffer back.
    ///
    /// # Safety
    /// Nobody can reach the cell any more.
    pub(crate) unsafe fn dispose(&mut self) {
        // SAFETY: the caller's promise.
        unsafe { self.buf.dispose() }
    }
}

/// An array whose elements only we change: its lock is held, or nobody else can reach it.
#[derive(Clone, Copy)]
pub struct Held(Gc<ArrayObj>);

impl Held {
    /// Waits for the stores that were begun without the lock. The caller has it, if others may reach the array.
    #[inline(always)]
    pub fn new(a: Gc<ArrayObj>) -> Held {
        a.buf.settle();
        Held(a)
    }
    /// The cell.
    #[inline(always)]
    pub fn gc(self) -> Gc<ArrayObj> {
        self.0
    }
    /// The cell as a value.
    #[inline(always)]
    pub fn val(self) -> Value {
        self.0.val()
    }
    /// As [`ArrayObj::set`].
    #[inline(always)]
    pub fn set(&mut self, i: usize, v: Value) -> bool {
        self.whole().set(i, v)
    }
    /// Removes the last element.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<Value> {
        self.whole().buf.pop()
    }
    /// Removes the first element, in amortised constant time.
    pub fn shift(&mut self) -> Option<Value> {
        self.whole().buf.shift()
    }
    /// Adds values at the front. Room is left there, so that repeated calls cost amortised constant time.
    pub fn unshift(&mut self, vs: &[Value]) {
        self.whole().buf.unshift(vs)
    }
    /// Changes the elements where they stand, moving them about too: others see them as they were, or as they have become.
    pub fn edit<R>(&mut self, f: impl FnOnce(&mut [Value]) -> R) -> R {
        self.whole().buf.edit(f)
    }
    /// Merges the elements before `mid` with those from there on, both being in the order of their keys.
    ///
    /// # Panics
    /// When `mid` is beyond the end.
    pub fn merge<K: Ord>(&mut self, mid: usize, key: impl Fn(Value) -> K) {
        self.whole().buf.merge(mid, key)
    }
    /// Sorts the elements by integer keys, if `have` says that they have such and these lie about evenly between the least and the greatest:
    /// others see them as they were, or in order. False, and nothing has changed: a general sort is as quick.
    pub fn spread(&mut self, have: impl FnOnce(&[Value]) -> bool, key: impl Fn(Value) -> i64) -> bool {
        self.whole().buf.spread(have, key)
    }
    /// The buffer, for other changes.
    #[inline(always)]
    pub fn vec(&mut self) -> &mut ArrayBuf {
        &mut self.whole().buf
    }
    /// Takes the elements away with their buffer: see [`RaceVec::steal`].
    pub(crate) fn steal(&mut self) -> ArrayBuf {
        self.whole().buf.steal()
    }
    #[inline(always)]
    fn whole(&mut self) -> &mut ArrayObj {
        // SAFETY: the lock is held, or nobody else reaches the array (`new`); the reference ends before the next one is made.
        unsafe { self.0.alone() }
    }
}

impl Deref for Held {
    type Target = ArrayObj;
    #[inline(always)]
    fn deref(&self) -> &ArrayObj {
        &self.0
    }
}
