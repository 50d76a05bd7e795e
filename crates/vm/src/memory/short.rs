//! What is done where memory is short: a collection that looks everywhere, and if it finds too little, NoMemoryError.
//!
//! **Invariant.** A native that was refused room before it changed anything is called again after such a collection; it gets
//! NoMemoryError only when that did not help, so the last collection's view decides nothing. The safepoint that follows the
//! native says that it has ended: whoever asks then begins anew.

use crate::Cx;
use crate::doors::Exit;
use kumi_heap::{Cause, Heap, Value};
use std::sync::atomic::Ordering::Relaxed;

/// Collections that one native may ask for: what it makes before it asks is garbage when it is called again.
const MOST: u8 = 4;

impl Cx {
    /// [`check_size`](Self::check_size) of much.
    #[inline(never)]
    pub(crate) fn check_large(&mut self, bytes: usize) -> Result<(), Exit> {
        if self.heap.can_allocate(bytes) { Ok(()) } else { self.make_room(bytes) }
    }
    /// A native finds no room for what it is about to make.
    #[cold]
    #[inline(never)]
    pub(crate) fn make_room(&mut self, bytes: usize) -> Result<(), Exit> {
        let nothing_came = kumi_budget::used() <= self.room_used.saturating_add(kumi_budget::LARGE);
        let in_vain = self.room_asked > 0 && (self.room_asked >= MOST || nothing_came);
        if in_vain || self.heap.shared().disabled() || bytes >= self.heap.shared().max() {
            return Err(self.no_memory("failed to allocate memory"));
        }
        Err(self.want_room())
    }
    /// A native that makes many cells, and has changed nothing, has gone beyond the bound: it is called again once.
    #[cold]
    pub(crate) fn out_of_room(&mut self) -> Exit {
        if self.room_asked > 0 || self.heap.shared().disabled() {
            return self.no_memory("failed to allocate memory");
        }
        self.want_room()
    }
    /// For a native that makes many cells and has changed nothing yet, at times.
    ///
    /// # Errors
    /// More is taken than may be: the native returns this.
    pub fn look_for_room(&mut self) -> Result<(), Exit> {
        if kumi_budget::is_over() { Err(self.out_of_room()) } else { Ok(()) }
    }
    /// For a native that is about to make a task, and has changed nothing yet.
    ///
    /// # Errors
    /// There is no memory for more tasks: the native returns this.
    pub fn look_for_task_room(&mut self) -> Result<(), Exit> {
        if self.is_without_task_room() { Err(self.out_of_room()) } else { Ok(()) }
    }
    /// Would that fail?
    #[inline]
    pub(crate) fn is_without_task_room(&self) -> bool {
        self.heap.shared().is_full() || kumi_budget::is_over()
    }
    fn want_room(&mut self) -> Exit {
        self.room_wanted = true;
        self.room_asked += 1;
        self.detach(0, Value::NIL, |_| ())
    }
    /// A native that was refused room waits for its next call.
    #[inline]
    pub(crate) fn answer_room(&mut self) {
        if std::mem::take(&mut self.room_wanted) {
            self.collect_hard();
            // The next safepoint sees that the native has ended.
            self.heap.poll.store(true, Relaxed);
        }
    }
    /// Between two bytecodes, or two runs of a native: frees all that nothing reaches, buffers too, and gives it back to the system.
    #[cold]
    pub(crate) fn collect_hard(&mut self) {
        // Whoever says when to collect is not to put it off.
        self.heap.shared().stats.because(Cause::Limit);
        self.heap.shared().request_full();
        self.collect_garbage();
        self.stop_world(|cx| {
            // SAFETY: the world is stopped: no other worker touches its context until this is over.
            let mut heaps: Vec<&mut Heap> = cx.workers.iter().map(|w| unsafe { &mut (*w.cx).heap }).collect();
            heaps.iter_mut().for_each(|h| h.sweep_all());
        });
        self.give_back_here();
        if kumi_budget::restore() {
            kumi_budget::take_pressed();
        }
        self.room_used = kumi_budget::used();
    }
    /// At a safepoint, after a collection: is there too little memory to go on with?
    #[inline]
    pub(crate) fn is_short(&mut self) -> bool {
        self.heap.over_limit() | (kumi_budget::is_tight() && self.was_tight())
    }
    /// A part of the reserve is gone, or libraries have taken what the system had.
    #[cold]
    fn was_tight(&mut self) -> bool {
        kumi_budget::take_pressed();
        self.collect_hard();
        // The allocator may keep addresses that it has freed: then little lives, and there is room in them.
        (!kumi_budget::restore() || kumi_budget::has_little()) && !kumi_budget::is_half_free()
    }
}
