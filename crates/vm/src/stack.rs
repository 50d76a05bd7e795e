//! The memory of one task's stack: a block of slots that moves when it must be larger or may be smaller.
//!
//! **Invariant.** Every slot below the top of the running frame is a valid [`Value`]; slots above it
//! are never read before they were written: frames fill their header and registers when they
//! are entered. So new slots need no initial value, and memory that was never used is never touched.
//! Nothing outside the stack holds an address into it across anything that may move it.

use kumi_heap::Value;
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};

/// Stack slots a thread's task may have at most by default (8 MiB).
pub const DEFAULT_MAX: usize = 1 << 20;
const FIRST: usize = 64;

/// Slots of one task. Sizes are in slots (words).
pub struct Stack {
    mem: *mut Value,
    cap: u32,
    max: u32,
}

impl Stack {
    pub fn new(first: usize, max: usize) -> Stack {
        let cap = first.max(FIRST).min(u32::MAX as usize);
        Stack { mem: take(cap), cap: cap as u32, max: max.clamp(cap, u32::MAX as usize) as u32 }
    }
    /// First slot. Valid until the stack moves.
    #[inline(always)]
    pub fn start_ptr(&self) -> *mut Value {
        self.mem
    }
    /// One past the last slot.
    #[inline(always)]
    pub fn end_ptr(&self) -> *mut Value {
        // SAFETY: mem has cap slots.
        unsafe { self.mem.add(self.cap as usize) }
    }
    /// Makes room for `slots` slots in all, keeping the contents. False when the maximum forbids it.
    pub fn grow(&mut self, slots: usize) -> bool {
        if slots > self.max as usize {
            return false;
        }
        let cap = (self.cap as usize * 2).max(slots.next_power_of_two()).min(self.max as usize);
        self.move_to(cap);
        true
    }
    fn move_to(&mut self, cap: usize) {
        let new = take(cap);
        // SAFETY: both areas have at least that many slots and do not overlap.
        unsafe { std::ptr::copy_nonoverlapping(self.mem, new, cap.min(self.cap as usize)) };
        give(self.mem, self.cap as usize);
        self.mem = new;
        self.cap = cap as u32;
    }
    /// Slots it has room for now.
    pub fn capacity(&self) -> usize {
        self.cap as usize
    }
    /// The live part of the stack: `top` slots.
    pub fn slots(&self, top: usize) -> &[Value] {
        // SAFETY: mem has cap slots; those below the top of a live frame are initialised.
        unsafe { std::slice::from_raw_parts(self.mem, top.min(self.cap as usize)) }
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        give(self.mem, self.cap as usize)
    }
}

fn layout(cap: usize) -> Layout {
    match Layout::array::<Value>(cap) {
        Ok(l) => l,
        Err(_) => unreachable!("sizes are clamped to 32 bits"),
    }
}
fn take(cap: usize) -> *mut Value {
    let l = layout(cap);
    // SAFETY: the size is not zero.
    let p = unsafe { alloc(l) };
    if p.is_null() {
        handle_alloc_error(l);
    }
    let p = p as *mut Value;
    // SAFETY: just allocated.
    unsafe { std::slice::from_raw_parts_mut(p as *mut u64, cap).fill(Value::NIL.bits()) };
    p
}
fn give(mem: *mut Value, cap: usize) {
    // SAFETY: allocated by `take` with that size.
    unsafe { dealloc(mem as *mut u8, layout(cap)) }
}
