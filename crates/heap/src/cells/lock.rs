//! The per-object lock: one bit in a cell's header.
//!
//! Invariant: who changes a cell that a second Thread may reach holds its bit;
//! the bit is held for the time of one leaf native or one store, never across a
//! safepoint, a park or a raise. Several cells are locked only by a [`LockSet`],
//! in address order, so that two holders never wait for each other. How the bit is taken and
//! dropped: `latch.rs`.

use crate::Value;
use crate::cells::header::{Kind, flag};
use crate::lockfree::latch::{drop_bit, try_bit};
use crate::lockfree::sync::spin_until;
use std::mem::MaybeUninit;

impl Value {
    /// Takes the lock of a heap cell if it is free. True for immediates.
    #[inline(always)]
    pub fn try_lock(self) -> bool {
        match self.header() {
            Some(h) => try_bit(&h.flags, flag::LOCK),
            None => true,
        }
    }
    /// Takes the lock of a heap cell; waits while another has it. Not reentrant.
    #[inline(always)]
    pub fn lock(self) {
        if !self.try_lock() {
            spin_until(|| self.try_lock());
        }
    }
    /// Drops the lock of a heap cell.
    #[inline(always)]
    pub fn unlock(self) {
        if let Some(h) = self.header() {
            drop_bit(&h.flags, flag::LOCK);
        }
    }
    /// Takes the lock of a heap cell until what this gives is dropped.
    #[inline(always)]
    pub fn locked(self) -> Locked {
        self.lock();
        Locked(self)
    }
    /// Is it a cell that a second thread may reach?
    #[inline(always)]
    pub fn is_shared(self) -> bool {
        self.header().is_some_and(|h| h.has(flag::SHARED))
    }
    /// Can operations on this value change it in steps that others must not see half done?
    #[inline(always)]
    pub fn needs_lock(self) -> bool {
        self.header().is_some_and(|h| {
            h.has(flag::SHARED)
                && match h.kind {
                    Kind::Data => h.x.get() & crate::DataObj::SHARES == 0,
                    Kind::Object | Kind::Str | Kind::Array | Kind::Hash | Kind::Struct => !h.frozen(),
                    _ => false,
                }
        })
    }
}

/// One cell's lock, held until dropped.
pub struct Locked(Value);

impl Drop for Locked {
    #[inline(always)]
    fn drop(&mut self) {
        self.0.unlock();
    }
}

/// Most cells a set locks; what a native gets beyond is read like nested objects.
pub const MOST: usize = 8;

/// The locks of a native's receiver and arguments, dropped together.
pub struct LockSet {
    cells: [MaybeUninit<u64>; MOST],
    n: usize,
}

impl LockSet {
    /// Locks what is mutable among `recv` and `args` (the first eight of them), in address order.
    #[inline]
    pub fn new(recv: Value, args: &[Value]) -> LockSet {
        let mut s = LockSet { cells: [const { MaybeUninit::uninit() }; MOST], n: 0 };
        s.add(recv);
        for &a in args {
            s.add(a);
        }
        for v in s.values() {
            v.lock();
        }
        s
    }
    #[inline]
    fn add(&mut self, v: Value) {
        if self.n == MOST || !v.needs_lock() {
            return;
        }
        let b = v.bits();
        let mut at = self.n;
        // SAFETY: the first `n` are written.
        unsafe {
            while at > 0 && self.cells[at - 1].assume_init() > b {
                at -= 1;
            }
            if at > 0 && self.cells[at - 1].assume_init() == b {
                return;
            }
        }
        self.cells.copy_within(at..self.n, at + 1);
        self.cells[at].write(b);
        self.n += 1;
    }
    /// The locked cells in address order.
    pub fn values(&self) -> impl Iterator<Item = Value> + '_ {
        // SAFETY: the first `n` are written.
        self.cells[..self.n].iter().map(|c| Value::from_bits(unsafe { c.assume_init() }))
    }
}

impl Drop for LockSet {
    #[inline]
    fn drop(&mut self) {
        for v in self.values() {
            v.unlock();
        }
    }
}
