//! A vector that never moves: rows are read by any worker without a lock, and appended under one.
//!
//! **Invariant.** Rows below `len` are written before `len` says so (Release), and their addresses stay good while
//! the vector lives. The memory is reserved address space that the system backs page by page as rows come. A row
//! that nobody reads may be written anew by its table's owner (`tables`, `symbols`).

use std::ops::{Deref, Index};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// See the module.
pub struct StableVec<T> {
    base: *mut T,
    rows: usize,
    len: AtomicUsize,
    grow: Mutex<()>,
}

// SAFETY: rows are published by `len` with Release and never change afterwards through this type.
unsafe impl<T: Send + Sync> Sync for StableVec<T> {}
// SAFETY: as above; the base pointer is owned.
unsafe impl<T: Send> Send for StableVec<T> {}

impl<T> StableVec<T> {
    /// Room for `rows` rows of address space: halved until the system grants it, and a 32nd at most of what
    /// `ulimit -v` allows.
    pub fn new(rows: usize) -> StableVec<T> {
        let most = kumi_budget::address_space_limit().map_or(usize::MAX, |n| n / 32);
        let mut rows = rows.max(1024);
        while rows > 1024 && rows.saturating_mul(std::mem::size_of::<T>()) > most {
            rows /= 2;
        }
        loop {
            let bytes = rows * std::mem::size_of::<T>();
            // SAFETY: a fresh private mapping.
            let p = unsafe {
                libc::mmap(
                    std::ptr::null_mut(),
                    bytes,
                    libc::PROT_READ | libc::PROT_WRITE,
                    libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                    -1,
                    0,
                )
            };
            if p != libc::MAP_FAILED {
                return StableVec { base: p as *mut T, rows, len: AtomicUsize::new(0), grow: Mutex::new(()) };
            }
            if rows <= 1024 {
                kumi_budget::last_words();
            }
            rows /= 2;
        }
    }
    /// Rows there is room for.
    pub fn most(&self) -> usize {
        self.rows
    }
    /// Appends a row; its index. `None`: there is no room for it.
    pub fn push(&self, v: T) -> Option<usize> {
        let _g = self.grow.lock().unwrap_or_else(|e| e.into_inner());
        let i = self.len.load(Ordering::Relaxed);
        if i >= self.rows {
            return None;
        }
        // SAFETY: row `i` lies in the mapping and is not yet visible.
        unsafe { self.base.add(i).write(v) };
        self.len.store(i + 1, Ordering::Release);
        Some(i)
    }
    /// Appends rows until there are `n`, or no room is left.
    pub(crate) fn grow_to(&self, n: usize, mut make: impl FnMut() -> T) {
        while self.len() < n && self.push(make()).is_some() {}
    }
    /// Drops all rows but the first `n`.
    pub fn truncate(&mut self, n: usize) {
        while self.len() > n {
            let i = self.len() - 1;
            self.len.store(i, Ordering::Release);
            // SAFETY: the row was written, and nobody else has the vector.
            unsafe { std::ptr::drop_in_place(self.base.add(i)) };
        }
    }
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len.load(Ordering::Acquire)
    }
    /// First row, for indexed reads of rows known to exist.
    #[inline(always)]
    pub fn as_ptr(&self) -> *const T {
        self.base
    }
    /// A row for writing.
    ///
    /// # Safety
    /// Nobody else reads or writes that row meanwhile (boot, or the class lock with readers kept away).
    #[allow(clippy::mut_from_ref)]
    pub(crate) unsafe fn row_mut(&self, i: usize) -> &mut T {
        assert!(i < self.len());
        // SAFETY: in range; exclusive by the caller's promise.
        unsafe { &mut *self.base.add(i) }
    }
}

impl<T> Deref for StableVec<T> {
    type Target = [T];
    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: rows below len are written and stay where they are.
        unsafe { std::slice::from_raw_parts(self.base, self.len()) }
    }
}
impl<T> Index<usize> for StableVec<T> {
    type Output = T;
    #[inline(always)]
    fn index(&self, i: usize) -> &T {
        &(**self)[i]
    }
}
impl<'a, T> IntoIterator for &'a StableVec<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T> Drop for StableVec<T> {
    fn drop(&mut self) {
        let n = self.len();
        // SAFETY: rows below len are initialised; the mapping was made by `new`.
        unsafe {
            std::ptr::drop_in_place(std::ptr::slice_from_raw_parts_mut(self.base, n));
            libc::munmap(self.base as *mut libc::c_void, self.rows * std::mem::size_of::<T>());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stay_where_they_are() {
        let v = StableVec::new(100_000);
        v.push("a".to_string());
        let p: *const String = &v[0];
        for i in 0..50_000 {
            v.push(i.to_string());
        }
        assert_eq!(p, &v[0] as *const String);
        assert_eq!(v.len(), 50_001);
        assert_eq!(v[50_000], "49999");
    }
}
