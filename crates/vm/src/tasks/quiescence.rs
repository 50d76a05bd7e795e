//! Long work of natives on arrays that they hold, beside which grace periods end.
//!
//! A worker keeps the large buffers that it has replaced until the others have been at a safepoint (`Stop::begin_grace`). A native passes none,
//! and two lists of 100,000 elements are merged in 0.3 ms. But it has the locks of the arrays that it works on: what it looks at, nobody
//! replaces. So it need not be waited for, and what the other one has replaced is at hand for that one's next buffer while it still lies in its cache.
//!
//! **Invariant.** From the beginning of such work to its end the worker looks at large buffers of cells alone that the native
//! has locked, or that no other thread can reach. A frozen array that others reach is locked by nobody who reads it, and may have been frozen while its buffer was being replaced: who works on one is waited for.

use crate::Cx;
use kumi_heap::Held;

/// Fewer elements are worked through before anybody could miss the worker.
const LONG: usize = 8 << 10;

impl Cx {
    /// `f` of arrays that the native holds, its receiver and arguments, which looks at or moves `n` elements. Of the heap it looks at the elements of
    /// these and at what nobody else can reach; not into cells that are elements, which others may change. A look that the caller has at an array it must
    /// not use after that.
    #[inline]
    pub fn on_long<T, const N: usize>(&mut self, n: usize, of: [Held; N], f: impl FnOnce(&mut Cx, [Held; N]) -> T) -> T {
        let is_ours = |a: &Held| !a.val().frozen() || !a.val().is_shared();
        if n >= LONG && self.is_parallel() && of.iter().all(is_ours) { self.quiescent(|cx| f(cx, of)) } else { f(self, of) }
    }
    #[inline(never)]
    fn quiescent<T>(&mut self, f: impl FnOnce(&mut Cx) -> T) -> T {
        self.with_stop(|stop, o| stop.begin_quiescence(o));
        /// Ends it, whatever way `f` ends.
        struct End<'a>(&'a mut Cx);
        impl Drop for End<'_> {
            fn drop(&mut self) {
                self.0.with_stop(|stop, o| stop.end_quiescence(o));
            }
        }
        let end = End(self);
        let done = f(&mut *end.0);
        drop(end);
        if self.heap.has_replaced() && self.heap.keeps_replaced() {
            self.tend_replaced();
        }
        done
    }
}
