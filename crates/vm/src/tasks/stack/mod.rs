//! The memory of one task's stack: a block of slots that moves when it must be larger or may be smaller.
//!
//! **Invariant.** Every slot below the *extent* of the live frames (the highest end of any frame's
//! registers) is a valid [`Value`]; slots above it are never read before they were written, because
//! frames fill their header and registers when they are entered. So new slots need no initial value,
//! and memory that was never used is never touched. Nothing outside the stack holds an address into
//! it across anything that may move it.
//!
//! A stack is empty until its task runs. It doubles when it is full, and gives memory back when it is mostly
//! empty ([`Stack::trim`]). Above its maximum it has a *reserve*, which an overflow opens: the `ensure` clauses
//! and handlers of the frames next to the limit can call something.

mod memory;
mod sizes;
mod stress;

use kumi_heap::Value;
use memory::Kind;
pub use sizes::StackSizes;

/// Slots of the reserve.
const RESERVE: usize = 1024;
/// A running stack below this many slots is not worth shrinking (32 KiB).
const SHRINK_FROM: usize = 4096;
/// How long a running stack must be seen mostly empty before it shrinks, in units of 2^24 ns: half a second.
const SHRINK_AFTER: u32 = 30;
/// Stacks beyond this many slots move only now and then in stress mode, in proportion to what a move costs.
const STRESS_LARGE: usize = 4096;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reserve {
    /// None was ever needed.
    None,
    /// There, and kept for the next overflow.
    Held,
    /// Handlers use it.
    Open,
}

/// What a pass over parked tasks knows of one: who has not run between two passes is trimmed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rest {
    /// Has run since the last pass.
    Fresh,
    /// The last pass saw it.
    Seen,
    Trimmed,
}

/// Slots of one task. All sizes are in slots (words).
pub struct Stack {
    mem: *mut Value,
    cap: u32,
    /// Slots that frames may use without asking: `cap`, less a reserve that is held; 0 in stress mode.
    end: u32,
    /// When it was first seen mostly empty; 0: not now.
    low_since: u32,
    kind: Kind,
    reserve: Reserve,
    rest: Rest,
}

// SAFETY: a stack owns its memory; a task is used by one thread at a time.
unsafe impl Send for Stack {}

impl Default for Stack {
    fn default() -> Self {
        Stack::new()
    }
}

impl Stack {
    /// An empty stack: the first [`Stack::grow`] gives it memory.
    pub const fn new() -> Stack {
        Stack {
            mem: std::ptr::NonNull::dangling().as_ptr(),
            cap: 0,
            end: 0,
            low_since: 0,
            kind: Kind::Small,
            reserve: Reserve::None,
            rest: Rest::Fresh,
        }
    }
    /// First slot. Valid until the stack moves.
    #[inline(always)]
    pub fn start_ptr(&self) -> *mut Value {
        self.mem
    }
    /// One past the last slot that frames may use without asking for growth.
    #[inline(always)]
    pub fn end_ptr(&self) -> *mut Value {
        // SAFETY: end is at most cap.
        unsafe { self.mem.add(self.end as usize) }
    }
    /// Its task runs now; what [`Stack::end_ptr`] gives.
    #[inline]
    pub fn resume(&mut self) -> *mut Value {
        self.rest = Rest::Fresh;
        self.end_ptr()
    }
    /// A pass over parked tasks comes by. Is it time to trim? None: it was done before.
    #[inline]
    pub fn look(&mut self) -> Option<bool> {
        match self.rest {
            Rest::Fresh => {
                self.rest = Rest::Seen;
                Some(false)
            }
            Rest::Seen => {
                self.rest = Rest::Trimmed;
                Some(true)
            }
            Rest::Trimmed => None,
        }
    }
    /// Slots it has room for now.
    pub fn capacity(&self) -> usize {
        self.cap as usize
    }
    /// Bytes it takes.
    pub fn bytes(&self) -> usize {
        self.cap as usize * 8
    }
    /// Bytes it takes that count with its task, not by themselves.
    pub fn bytes_of_task(&self) -> usize {
        if (self.cap as usize) < memory::COUNT_FROM { self.bytes() } else { 0 }
    }
    /// Bytes it takes by itself while it has no pages of its own.
    pub fn small_bytes(&self) -> usize {
        if self.kind == Kind::Small { self.bytes() - self.bytes_of_task() } else { 0 }
    }
    /// The live part of the stack: `extent` slots.
    pub fn slots(&self, extent: usize) -> &[Value] {
        // SAFETY: mem has cap slots; those below the extent of live frames are initialised.
        unsafe { std::slice::from_raw_parts(self.mem, extent.min(self.cap as usize)) }
    }

    /// Makes room for `need` slots in all; the contents stay. False: `max` or the memory of all stacks forbids it.
    pub fn grow(&mut self, need: usize, max: usize, sizes: &StackSizes) -> bool {
        if cfg!(feature = "fixed-stack") {
            return self.fix(need, max);
        }
        if need <= self.usable() {
            self.set_end(sizes);
            return true;
        }
        if need > max {
            return false;
        }
        // Even a small step must fit: a frame's window, whatever the first size is.
        let want = (self.cap as usize * 2).max(sizes.first).max(need.next_multiple_of(8)).min(max);
        let live = self.cap as usize;
        self.move_to(live, want, sizes.budget, sizes) || self.move_to(live, need.next_multiple_of(8), sizes.budget, sizes)
    }
    /// Slots frames may use now.
    fn usable(&self) -> usize {
        self.cap as usize - if self.reserve == Reserve::Held { RESERVE } else { 0 }
    }
    fn set_end(&mut self, sizes: &StackSizes) {
        self.end = if sizes.stress > 0 { 0 } else { self.usable() as u32 };
    }
    /// A block of `cap` slots with the first `live` of the old ones'. Drops the reserve.
    fn move_to(&mut self, live: usize, cap: usize, budget: usize, sizes: &StackSizes) -> bool {
        debug_assert!(live <= self.cap as usize && live <= cap);
        let got = if sizes.stress > 0 && cap > 0 {
            stress::take(cap).map(|m| {
                // SAFETY: a fresh block; `live` is at most either size.
                unsafe { std::ptr::copy_nonoverlapping(self.mem, m, live) };
                self.release();
                (m, Kind::Guarded)
            })
        } else {
            None
        };
        let got = match got {
            Some(g) => Some(g),
            None if self.cap == 0 => memory::take(cap, budget),
            // SAFETY: the block is this stack's; `live` is at most either size.
            None => unsafe { memory::resize(self.mem, self.cap as usize, self.kind, live, cap, budget) },
        };
        let Some((mem, kind)) = got else { return false };
        (self.mem, self.kind, self.cap) = (mem, kind, cap as u32);
        self.reserve = Reserve::None;
        self.low_since = 0;
        self.set_end(sizes);
        true
    }

    /// Stress mode's growth: the stack moves to fresh memory that is just large enough, whether or not it
    /// has room (a large one now and then: `dice` decides). `extent`: that of the live frames.
    pub fn grow_stressed(&mut self, need: usize, extent: usize, max: usize, sizes: &StackSizes, dice: u32) -> bool {
        let fits = need <= self.usable();
        if fits && !dice.is_multiple_of(sizes.stress) {
            return true;
        }
        if self.cap as usize > STRESS_LARGE {
            let odds = self.cap / STRESS_LARGE as u32 * 32;
            if fits && !(dice / sizes.stress).is_multiple_of(odds) {
                return true;
            }
            if !fits {
                return self.grow(need, max, sizes);
            }
            let (live, cap) = (self.cap as usize, self.cap as usize);
            let reserve = self.reserve;
            self.move_to(live, cap, usize::MAX, sizes);
            self.reserve = reserve;
            return true;
        }
        if !fits && need > max {
            return false;
        }
        if self.reserve != Reserve::None {
            return fits || self.grow(need, max, sizes);
        }
        let cap = need.max(extent);
        self.move_to(extent, cap, usize::MAX, sizes) || fits
    }

    /// The limit was reached: handlers may use a little more, once.
    pub fn open_reserve(&mut self, sizes: &StackSizes) {
        match self.reserve {
            Reserve::Open => {}
            Reserve::Held => {
                self.reserve = Reserve::Open;
                self.set_end(sizes);
            }
            Reserve::None => {
                let cap = self.cap as usize;
                if self.move_to(cap, cap + RESERVE, usize::MAX, sizes) {
                    self.reserve = Reserve::Open;
                }
            }
        }
    }
    /// A handler was reached whose frames end at `extent`: when it needs no reserve, the next overflow may open it.
    pub fn close_reserve(&mut self, extent: usize, sizes: &StackSizes) {
        if self.reserve == Reserve::Open && extent + 2 * RESERVE <= self.cap as usize {
            self.reserve = Reserve::Held;
            self.set_end(sizes);
        }
    }

    /// Gives back what lies above `extent`; the stack moves. Bytes that became free.
    pub fn trim(&mut self, extent: usize, sizes: &StackSizes) -> usize {
        if cfg!(feature = "fixed-stack") || self.cap == 0 {
            return 0;
        }
        let (old, cap) = (self.cap as usize, extent.max(8).next_multiple_of(8));
        // A first-size block stays: there is next to nothing to win, and it will be used again.
        if old <= sizes.first || cap + 8 > old || !self.move_to(extent, cap, usize::MAX, sizes) {
            return 0;
        }
        (old - cap) * 8
    }
    /// At a safepoint of the running task: has the stack been mostly empty for a while? `top`: its running frame's end.
    #[inline]
    pub fn should_shrink(&mut self, top: usize, now_ns: impl Fn() -> u64) -> bool {
        if (self.cap as usize) < SHRINK_FROM || cfg!(feature = "fixed-stack") {
            return false;
        }
        if top * 4 > self.cap as usize {
            self.low_since = 0;
            return false;
        }
        let now = (now_ns() >> 24) as u32 | 1;
        if self.low_since == 0 {
            self.low_since = now;
        }
        now.wrapping_sub(self.low_since) >= SHRINK_AFTER
    }
    /// Shrinks the running task's stack to twice what it uses.
    pub fn shrink(&mut self, extent: usize, sizes: &StackSizes) {
        let cap = (extent * 2).max(SHRINK_FROM / 8).next_multiple_of(8);
        self.low_since = 0;
        if cap < self.cap as usize / 2 {
            self.move_to(extent, cap, usize::MAX, sizes);
        }
    }

    /// The fixed build: one mapping of the maximum and a guard page, never moved.
    fn fix(&mut self, need: usize, max: usize) -> bool {
        if self.cap > 0 {
            return need <= self.cap as usize;
        }
        let cap = max.max(need).next_multiple_of(512);
        let Some(p) = stress::take(cap) else { return false };
        (self.mem, self.kind, self.cap, self.end) = (p, Kind::Guarded, cap as u32, cap as u32);
        true
    }
    /// Gives all memory back: the task has ended, or will start anew.
    pub fn release(&mut self) {
        if self.cap > 0 {
            // SAFETY: the block is this stack's, and no more after this.
            unsafe { memory::give(self.mem, self.cap as usize, self.kind) };
        }
        (self.mem, self.cap, self.end) = (std::ptr::NonNull::dangling().as_ptr(), 0, 0);
        (self.kind, self.reserve, self.low_since) = (Kind::Small, Reserve::None, 0);
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        self.release();
    }
}

#[cfg(all(test, not(feature = "fixed-stack")))]
mod tests {
    use super::*;

    fn sizes(stress: u32) -> StackSizes {
        StackSizes { first: 32, thread_max: 1 << 16, fiber_max: 1 << 16, budget: 1 << 30, stress, seed: 1 }
    }
    fn fill(s: &mut Stack, to: usize) {
        for i in 0..to {
            // SAFETY: within the capacity.
            unsafe { *s.start_ptr().add(i) = Value::fix(i as i64) };
        }
    }
    fn check(s: &Stack, to: usize) {
        for (i, v) in s.slots(to).iter().enumerate() {
            assert_eq!(*v, Value::fix(i as i64));
        }
    }

    #[test]
    fn contents_survive_growth_and_trimming() {
        for stress in [0, 1] {
            let z = sizes(stress);
            let mut s = Stack::new();
            assert!(s.grow(20, 1 << 16, &z));
            assert_eq!(s.capacity(), 32);
            fill(&mut s, 20);
            let mut n = 20;
            while n < 60_000 {
                assert!(s.grow(n * 2, 1 << 16, &z) || n * 2 > 1 << 16);
                check(&s, n);
                if n * 2 > 1 << 16 {
                    break;
                }
                n *= 2;
                fill(&mut s, n);
            }
            assert!(s.trim(100, &z) > 100_000);
            assert_eq!(s.capacity(), 104);
            check(&s, 100);
            assert_eq!(s.trim(100, &z), 0);
            assert!(s.grow(5000, 1 << 16, &z));
            check(&s, 100);
            assert!(!s.grow((1 << 16) + 1, 1 << 16, &z));
        }
    }

    #[test]
    fn stress_moves_always_and_fits_exactly() {
        let z = sizes(1);
        let mut s = Stack::new();
        assert!(s.grow(20, 1 << 16, &z));
        fill(&mut s, 20);
        assert_eq!(s.end_ptr(), s.start_ptr());
        for _ in 0..5000 {
            let old = s.start_ptr();
            assert!(s.grow_stressed(40, 20, 1 << 16, &z, 0));
            assert_ne!(old, s.start_ptr());
            assert_eq!(s.capacity(), 40);
            check(&s, 20);
        }
    }

    /// Does a read at that address end a process?
    fn faults(p: *const u64) -> bool {
        // SAFETY: the child does one read and leaves without running anything of this process's.
        unsafe {
            let child = libc::fork();
            if child == 0 {
                libc::signal(libc::SIGSEGV, libc::SIG_DFL);
                libc::signal(libc::SIGBUS, libc::SIG_DFL);
                std::hint::black_box(p.read_volatile());
                libc::_exit(0);
            }
            let mut status = 0;
            libc::waitpid(child, &mut status, 0);
            libc::WIFSIGNALED(status)
        }
    }

    #[test]
    fn stress_makes_the_left_place_and_the_place_behind_the_end_inaccessible() {
        let z = sizes(1);
        let mut s = Stack::new();
        assert!(s.grow(20, 1 << 16, &z));
        fill(&mut s, 20);
        let old = s.start_ptr() as *const u64;
        assert!(!faults(old));
        assert!(s.grow_stressed(24, 20, 1 << 16, &z, 0));
        assert!(faults(old));
        let end = s.start_ptr().wrapping_add(s.capacity()) as *const u64;
        assert!(!faults(end.wrapping_sub(1)));
        assert!(faults(end));
    }

    #[test]
    fn the_reserve_opens_once_and_is_kept() {
        let z = sizes(0);
        let mut s = Stack::new();
        let max = 2048;
        assert!(s.grow(2048, max, &z));
        assert!(!s.grow(2049, max, &z));
        s.open_reserve(&z);
        assert!(s.grow(2048 + RESERVE, max, &z));
        assert!(!s.grow(2049 + RESERVE, max, &z));
        s.close_reserve(2000, &z);
        assert!(s.grow(2049, max, &z), "still open: the handler is near the limit");
        s.close_reserve(100, &z);
        assert!(!s.grow(2049, max, &z));
        s.open_reserve(&z);
        assert!(s.grow(2049, max, &z));
    }

    #[test]
    fn a_budget_refuses_and_nothing_is_lost() {
        let z = StackSizes { budget: 0, ..sizes(0) };
        let mut s = Stack::new();
        assert!(s.grow(4096, 1 << 16, &z));
        fill(&mut s, 4096);
        assert!(!s.grow(9000, 1 << 16, &z));
        check(&s, 4096);
    }
}
