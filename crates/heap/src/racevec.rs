//! The buffer of strings, arrays and objects: a vector that other threads may read
//! while its owner changes it.
//!
//! Invariant: one atomic word names the storage. Odd: the elements are in the
//! cell itself and the word holds their number; even: it is the address of a
//! buffer whose head holds capacity and *span* (length, and for 8-byte elements
//! how far `shift` has moved the start). A span never reaches beyond the capacity
//! of the buffer it stands in, and every slot below a published span holds an
//! element that was stored. So a reader without the object's lock loads the word
//! (Acquire), then the span (Acquire), and has valid memory with old or new
//! elements in it. Writers hold the object's lock, or run alone; they write
//! elements first and publish span or word with Release. A buffer that is
//! replaced goes through [`crate::retire`]. In parallel mode elements that stay
//! are never moved inside a buffer: such changes install a new one.

use crate::{Value, retire};
use std::alloc::{Layout, alloc, handle_alloc_error, realloc};
use std::cell::UnsafeCell;
use std::mem::{MaybeUninit, size_of};
use std::ops::{Bound, Deref, DerefMut, RangeBounds};
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering::*};

/// Elements of a [`RaceVec`].
///
/// # Safety
/// Plain words or bytes without padding, stored by one machine store; all zeroes is a valid one.
pub unsafe trait Plain: Copy {}
// SAFETY: bytes.
unsafe impl Plain for u8 {}
// SAFETY: words.
unsafe impl Plain for u64 {}
// SAFETY: one word; zero is `false`.
unsafe impl Plain for Value {}

#[repr(C)]
struct Head {
    /// Elements there is room for.
    cap: usize,
    /// See `pack`.
    span: AtomicU64,
}

const HEAD: usize = size_of::<Head>();
const START_BITS: u32 = 24;
const MAX_START: usize = (1 << START_BITS) - 1;

/// A vector of plain elements, `N` of them inline.
#[repr(C)]
pub struct RaceVec<T: Plain, const N: usize> {
    word: AtomicPtr<Head>,
    inline: UnsafeCell<[MaybeUninit<T>; N]>,
}

// SAFETY: it owns its elements; readers and writers keep the module's protocol.
unsafe impl<T: Plain + Send, const N: usize> Send for RaceVec<T, N> {}

impl<T: Plain, const N: usize> Default for RaceVec<T, N> {
    #[inline(always)]
    fn default() -> Self {
        Self::new()
    }
}

#[inline(always)]
fn inline_word(len: usize) -> *mut Head {
    ptr::without_provenance_mut(len << 1 | 1)
}

/// Copies up to 32 bytes without a call: two pieces that may overlap each other.
///
/// # Safety
/// `n` bytes at both places, which are apart.
#[inline(always)]
unsafe fn copy_short(from: *const u8, to: *mut u8, n: usize) {
    #[inline(always)]
    unsafe fn ends<W: Copy>(from: *const u8, to: *mut u8, n: usize) {
        // SAFETY: at least one W lies in `n` bytes.
        unsafe {
            let last = n - size_of::<W>();
            let (a, b) = ((from as *const W).read_unaligned(), (from.add(last) as *const W).read_unaligned());
            (to as *mut W).write_unaligned(a);
            (to.add(last) as *mut W).write_unaligned(b);
        }
    }
    // SAFETY: the caller's promise; each arm's word fits `n`.
    unsafe {
        match n {
            16..=32 => ends::<u128>(from, to, n),
            8..=15 => ends::<u64>(from, to, n),
            4..=7 => ends::<u32>(from, to, n),
            2..=3 => ends::<u16>(from, to, n),
            1 => *to = *from,
            _ => ptr::copy_nonoverlapping(from, to, n),
        }
    }
}

impl<T: Plain, const N: usize> RaceVec<T, N> {
    /// Can the start move without moving elements?
    const SHIFTS: bool = size_of::<T>() == 8;

    /// One element more, in a span.
    const ONE: u64 = if Self::SHIFTS { 1 << START_BITS } else { 1 };

    #[inline(always)]
    fn pack(start: usize, len: usize) -> u64 {
        if Self::SHIFTS { (len as u64) << START_BITS | start as u64 } else { len as u64 }
    }
    #[inline(always)]
    fn unpack(s: u64) -> (usize, usize) {
        if Self::SHIFTS { ((s & MAX_START as u64) as usize, (s >> START_BITS) as usize) } else { (0, s as usize) }
    }

    #[inline(always)]
    pub fn new() -> Self {
        RaceVec { word: AtomicPtr::new(inline_word(0)), inline: UnsafeCell::new([const { MaybeUninit::zeroed() }; N]) }
    }
    pub fn with_capacity(n: usize) -> Self {
        let mut v = Self::new();
        if n > N {
            *v.word.get_mut() = Self::make(n);
        }
        v
    }
    #[inline]
    pub fn from_slice(s: &[T]) -> Self {
        let mut v = MaybeUninit::uninit();
        // SAFETY: room for a vector, which is then made.
        unsafe {
            Self::write(v.as_mut_ptr(), s);
            v.assume_init()
        }
    }
    /// Makes a vector of the elements of `s` where `to` points.
    ///
    /// # Safety
    /// Room for a vector that nobody reads yet.
    #[inline(always)]
    pub(crate) unsafe fn write(to: *mut Self, s: &[T]) {
        // SAFETY: the caller's promise; the inline room holds N elements.
        unsafe {
            let inline = &raw mut (*to).inline as *mut T;
            let word = if s.len() <= N {
                if Self::SHIFTS {
                    // Few words: no call of memcpy.
                    for i in 0..N {
                        inline.add(i).write(if i < s.len() { *s.as_ptr().add(i) } else { std::mem::zeroed() });
                    }
                } else {
                    inline.write_bytes(0, N);
                    copy_short(s.as_ptr() as *const u8, inline as *mut u8, size_of_val(s));
                }
                inline_word(s.len())
            } else {
                inline.write_bytes(0, N);
                Self::make_slice(s)
            };
            (&raw mut (*to).word).write(AtomicPtr::new(word));
        }
    }
    /// A buffer of just these elements.
    fn make_slice(s: &[T]) -> *mut Head {
        let p = Self::make(s.len());
        // SAFETY: the capacity covers them.
        unsafe {
            ptr::copy_nonoverlapping(s.as_ptr(), Self::data(p), s.len());
            (*p).span.store(Self::pack(0, s.len()), Relaxed);
        }
        p
    }
    pub fn from_vec(s: Vec<T>) -> Self {
        Self::from_slice(&s)
    }
    pub fn from_elem(v: T, n: usize) -> Self {
        let mut r = Self::new();
        r.resize(n, v);
        r
    }

    // --- buffers --------------------------------------------------------------

    /// Behind bytes there is room for the rest of a character that is cut off: who reads text while others write it
    /// (`kumi-regexp` does) may look that far.
    fn layout(cap: usize) -> Layout {
        let more = if size_of::<T>() == 1 { HEAD + 8 } else { HEAD };
        let bytes = cap.checked_mul(size_of::<T>()).and_then(|b| b.checked_add(more));
        match bytes.and_then(|b| Layout::from_size_align(b, align_of::<Head>()).ok()) {
            Some(l) => l,
            // No machine has that much: the same end as when the allocator refuses.
            None => handle_alloc_error(Layout::new::<Head>()),
        }
    }
    /// An empty buffer.
    fn make(cap: usize) -> *mut Head {
        let l = Self::layout(cap);
        // SAFETY: the size is not zero.
        let p = unsafe { alloc(l) } as *mut Head;
        if p.is_null() {
            handle_alloc_error(l);
        }
        // SAFETY: fresh memory of at least a Head's size.
        unsafe { p.write(Head { cap, span: AtomicU64::new(0) }) };
        p
    }
    /// A buffer with `front` unused places and then the given parts.
    fn make_from(cap: usize, front: usize, parts: &[&[T]]) -> *mut Head {
        let n: usize = parts.iter().map(|p| p.len()).sum();
        let p = Self::make(cap.max(n.saturating_add(front)));
        let mut at = front;
        for s in parts {
            // SAFETY: the capacity covers the front and all parts.
            unsafe { ptr::copy_nonoverlapping(s.as_ptr(), Self::data(p).add(at), s.len()) };
            at += s.len();
        }
        // SAFETY: just made.
        unsafe { (*p).span.store(Self::pack(front, n), Relaxed) };
        p
    }
    #[inline(always)]
    fn data(p: *mut Head) -> *mut T {
        (p as *mut u8).wrapping_add(HEAD) as *mut T
    }
    #[inline(always)]
    fn is_inline(w: *mut Head) -> bool {
        w.addr() & 1 != 0
    }
    /// First element and number of elements.
    #[inline(always)]
    fn parts(&self) -> (*mut T, usize) {
        let w = self.word.load(Acquire);
        if Self::is_inline(w) {
            (self.inline.get() as *mut T, w.addr() >> 1)
        } else {
            // SAFETY: an even word is the address of a buffer that lives at least until the next stop.
            let (start, len) = Self::unpack(unsafe { (*w).span.load(Acquire) });
            (Self::data(w).wrapping_add(start), len)
        }
    }
    /// Elements there is room for behind the first.
    #[inline(always)]
    fn room(&self) -> usize {
        let w = self.word.load(Relaxed);
        if Self::is_inline(w) {
            N
        } else {
            // SAFETY: as in `parts`.
            unsafe { (*w).cap - Self::unpack((*w).span.load(Relaxed)).0 }
        }
    }
    /// Publishes a length: the elements below it are written.
    #[inline(always)]
    fn publish_len(&mut self, len: usize) {
        let w = self.word.load(Relaxed);
        if Self::is_inline(w) {
            self.word.store(inline_word(len), Release);
        } else {
            // SAFETY: as in `parts`.
            let span = unsafe { &(*w).span };
            let (start, _) = Self::unpack(span.load(Relaxed));
            span.store(Self::pack(if len == 0 { 0 } else { start }, len), Release);
        }
    }
    /// Publishes a buffer (or an inline word) and retires the one before.
    fn publish(&mut self, w: *mut Head) {
        let old = self.word.load(Relaxed);
        self.word.store(w, Release);
        if !Self::is_inline(old) {
            // SAFETY: made by `make` with this layout; the word names it no more.
            unsafe { retire::free_later(old as *mut u8, Self::layout((*old).cap)) };
        }
    }
    /// Room for `more` elements behind the last.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, more: usize) {
        let w = self.word.load(Relaxed);
        let (p, len) = self.parts();
        let need = len.saturating_add(more);
        if Self::is_inline(w) {
            let cap = need.max(N * 2).max(4);
            // SAFETY: `len` elements at `p`.
            let b = Self::make_from(cap, 0, &[unsafe { std::slice::from_raw_parts(p, len) }]);
            return self.publish(b);
        }
        // SAFETY: as in `parts`.
        let cap = unsafe { (*w).cap };
        let want = need.max(if len > cap / 2 { cap.saturating_mul(2) } else { cap });
        if retire::parallel() {
            // SAFETY: `len` elements at `p`.
            let b = Self::make_from(want, 0, &[unsafe { std::slice::from_raw_parts(p, len) }]);
            return self.publish(b);
        }
        // Alone: the elements may move.
        // SAFETY: both ranges lie in the buffer; its layout is the one it was made with.
        unsafe {
            ptr::copy(p, Self::data(w), len);
            (*w).span.store(Self::pack(0, len), Relaxed);
            if want > cap {
                let l = Self::layout(want);
                let b = realloc(w as *mut u8, Self::layout(cap), l.size()) as *mut Head;
                if b.is_null() {
                    handle_alloc_error(l);
                }
                (*b).cap = want;
                self.word.store(b, Release);
            }
        }
    }

    // --- looking ----------------------------------------------------------------

    #[inline(always)]
    pub fn as_slice(&self) -> &[T] {
        let (p, n) = self.parts();
        // SAFETY: the module's invariant: `n` stored elements at `p`.
        unsafe { std::slice::from_raw_parts(p, n) }
    }
    /// The elements for writing in place: single stores, seen by racing readers one by one.
    #[inline(always)]
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        let (p, n) = self.parts();
        // SAFETY: as in `as_slice`; the caller is the only writer.
        unsafe { std::slice::from_raw_parts_mut(p, n) }
    }
    /// Elements the buffer has room for.
    pub fn capacity(&self) -> usize {
        let w = self.word.load(Acquire);
        // SAFETY: as in `parts`.
        if Self::is_inline(w) { N } else { unsafe { (*w).cap } }
    }
    /// Is there a buffer outside the cell?
    #[inline(always)]
    pub fn spilled(&self) -> bool {
        !Self::is_inline(self.word.load(Relaxed))
    }
    pub fn into_vec(self) -> Vec<T> {
        self.to_vec()
    }

    // --- changing ----------------------------------------------------------------

    #[inline(always)]
    pub fn push(&mut self, v: T) {
        let w = self.word.load(Relaxed);
        // SAFETY: as in `parts`; the place behind the last element is in the storage.
        unsafe {
            if Self::is_inline(w) {
                let len = w.addr() >> 1;
                if len < N {
                    (self.inline.get() as *mut T).add(len).write(v);
                    return self.word.store(inline_word(len + 1), Release);
                }
            } else {
                let s = (*w).span.load(Relaxed);
                let (start, len) = Self::unpack(s);
                if start + len < (*w).cap {
                    Self::data(w).add(start + len).write(v);
                    return (*w).span.store(s + Self::ONE, Release);
                }
            }
        }
        self.push_slow(v);
    }
    #[cold]
    #[inline(never)]
    fn push_slow(&mut self, v: T) {
        self.grow(1);
        let (p, len) = self.parts();
        // SAFETY: `grow` made room.
        unsafe { p.add(len).write(v) };
        self.publish_len(len + 1);
    }
    #[inline(always)]
    pub fn pop(&mut self) -> Option<T> {
        let w = self.word.load(Relaxed);
        // SAFETY: as in `parts`.
        unsafe {
            if Self::is_inline(w) {
                let last = (w.addr() >> 1).checked_sub(1)?;
                let v = (self.inline.get() as *const T).add(last).read();
                self.word.store(inline_word(last), Release);
                Some(v)
            } else {
                let s = (*w).span.load(Relaxed);
                let (start, len) = Self::unpack(s);
                let last = len.checked_sub(1)?;
                let v = Self::data(w).add(start + last).read();
                (*w).span.store(s - Self::ONE, Release);
                Some(v)
            }
        }
    }
    #[inline]
    pub fn reserve(&mut self, more: usize) {
        if self.room() - self.len() < more {
            self.grow(more);
        }
    }
    #[inline]
    pub fn extend_from_slice(&mut self, s: &[T]) {
        if self.room() - self.len() < s.len() {
            // A piece of this very vector would be freed under our feet.
            if self.owns(s) {
                let s = s.to_vec();
                return self.extend_from_slice(&s);
            }
            self.grow(s.len());
        }
        let (p, len) = self.parts();
        // SAFETY: room was made; the place behind the last element is no part of `s`.
        unsafe { ptr::copy_nonoverlapping(s.as_ptr(), p.add(len), s.len()) };
        self.publish_len(len + s.len());
    }
    /// Does `s` lie in this vector's storage?
    fn owns(&self, s: &[T]) -> bool {
        let (p, _) = self.parts();
        s.as_ptr() >= p && s.as_ptr() < p.wrapping_add(self.room())
    }
    pub fn resize(&mut self, n: usize, v: T) {
        let len = self.len();
        if n <= len {
            return self.truncate(n);
        }
        self.reserve(n - len);
        let (p, _) = self.parts();
        for i in len..n {
            // SAFETY: room was made.
            unsafe { p.add(i).write(v) };
        }
        self.publish_len(n);
    }
    #[inline]
    pub fn truncate(&mut self, n: usize) {
        if n < self.len() {
            self.publish_len(n);
        }
    }
    #[inline]
    pub fn clear(&mut self) {
        self.publish_len(0);
    }
    /// Gives back what is not needed.
    pub fn shrink_to_fit(&mut self) {
        if self.spilled() && self.len() < self.capacity() {
            let w = self.fitting(&[self.as_slice()]);
            self.publish(w);
        }
    }
    /// A word for exactly these elements: inline ones are written into the cell when it does not use its inline room now.
    fn fitting(&self, parts: &[&[T]]) -> *mut Head {
        let n: usize = parts.iter().map(|p| p.len()).sum();
        if n > N || !self.spilled() {
            return Self::make_from(n.max(1), 0, parts);
        }
        let mut at = 0;
        for s in parts {
            // SAFETY: N elements of room, and the parts are in a buffer or elsewhere, not there.
            unsafe { ptr::copy((*s).as_ptr(), (self.inline.get() as *mut T).add(at), s.len()) };
            at += s.len();
        }
        inline_word(n)
    }
    /// All elements replaced at once: a racing reader sees the old ones or the new ones.
    pub fn assign(&mut self, s: &[T]) {
        if retire::parallel() && !self.is_empty() {
            let w = Self::make_from(s.len().max(1), 0, &[s]);
            self.publish(w);
        } else if self.owns(s) {
            let s = s.to_vec();
            self.assign(&s);
        } else {
            self.clear();
            self.extend_from_slice(s);
        }
    }
    /// Takes over another vector's elements, as `assign` does.
    pub fn replace(&mut self, mut other: Self) {
        let w = *other.word.get_mut();
        if Self::is_inline(w) {
            self.assign(&other);
        } else {
            *other.word.get_mut() = inline_word(0);
            self.publish(w);
        }
    }
    /// Replaces `n` elements from `at` on by `with`.
    ///
    /// # Panics
    /// When the range is outside.
    pub fn splice(&mut self, at: usize, n: usize, with: &[T]) {
        let len = self.len();
        assert!(at <= len && n <= len - at, "splice out of range");
        if n == 0 && with.is_empty() {
            return;
        }
        if self.owns(with) {
            let with = with.to_vec();
            return self.splice(at, n, &with);
        }
        if at + n == len && (n == 0 || with.is_empty()) {
            self.truncate(at);
            return self.extend_from_slice(with);
        }
        if n == with.len() && (Self::SHIFTS || !retire::parallel()) {
            return self.as_mut_slice()[at..at + n].copy_from_slice(with);
        }
        if at == 0 && with.is_empty() && Self::SHIFTS && self.advance(n) {
            return;
        }
        let now = len - n + with.len();
        if retire::parallel() {
            let s = self.as_slice();
            let cap = if now > len { now + now / 2 } else { now };
            let w = Self::make_from(cap, 0, &[&s[..at], with, &s[at + n..]]);
            return self.publish(w);
        }
        if with.len() > n {
            self.reserve(with.len() - n);
        }
        let (p, _) = self.parts();
        // SAFETY: room for `now` elements was made; nobody else reads.
        unsafe {
            ptr::copy(p.add(at + n), p.add(at + with.len()), len - at - n);
            ptr::copy_nonoverlapping(with.as_ptr(), p.add(at), with.len());
        }
        self.publish_len(now);
    }
    /// Drops the first `n` elements by moving the start; false when that can't be done.
    fn advance(&mut self, n: usize) -> bool {
        let w = self.word.load(Relaxed);
        if Self::is_inline(w) {
            return false;
        }
        // SAFETY: as in `parts`.
        let span = unsafe { &(*w).span };
        let (start, len) = Self::unpack(span.load(Relaxed));
        if n == len {
            span.store(0, Release);
            return true;
        }
        if start + n > MAX_START {
            return false;
        }
        span.store(Self::pack(start + n, len - n), Release);
        if start + n > 32 && start + n > len - n {
            self.close_front();
        }
        true
    }
    /// Takes back the room in front of the first element.
    #[cold]
    fn close_front(&mut self) {
        let (p, len) = self.parts();
        let w = self.word.load(Relaxed);
        if retire::parallel() {
            // SAFETY: `len` elements at `p`.
            let b = Self::make_from(len + len / 2, 0, &[unsafe { std::slice::from_raw_parts(p, len) }]);
            self.publish(b);
        } else {
            // SAFETY: both ranges lie in the buffer; nobody else reads.
            unsafe {
                ptr::copy(p, Self::data(w), len);
                (*w).span.store(Self::pack(0, len), Release);
            }
        }
    }
    /// Takes the first element.
    pub fn shift(&mut self) -> Option<T> {
        let v = *self.first()?;
        if !(Self::SHIFTS && self.advance(1)) {
            let n = self.len();
            if self.spilled() && retire::parallel() {
                self.splice(0, 1, &[]);
            } else {
                self.as_mut_slice().copy_within(1.., 0);
                self.publish_len(n - 1);
            }
        }
        Some(v)
    }
    /// Adds elements in front. Room is left there, so that repeated calls cost amortised constant time.
    pub fn unshift(&mut self, vs: &[T]) {
        if !Self::SHIFTS || vs.is_empty() || self.is_empty() {
            return self.splice(0, 0, vs);
        }
        let w = self.word.load(Relaxed);
        let (p, len) = self.parts();
        if Self::is_inline(w) {
            if len + vs.len() <= N && !retire::parallel() {
                return self.splice(0, 0, vs);
            }
        } else {
            // SAFETY: as in `parts`.
            let span = unsafe { &(*w).span };
            let (start, _) = Self::unpack(span.load(Relaxed));
            if start >= vs.len() {
                // SAFETY: there are `start` unused places before `p`.
                unsafe { ptr::copy_nonoverlapping(vs.as_ptr(), p.sub(vs.len()), vs.len()) };
                span.store(Self::pack(start - vs.len(), len + vs.len()), Release);
                return;
            }
        }
        let front = if len < 16 { 0 } else { (len / 2).min(MAX_START) };
        // SAFETY: `len` elements at `p`.
        let old = unsafe { std::slice::from_raw_parts(p, len) };
        let b = Self::make_from(front + vs.len() + len + 4, front, &[vs, old]);
        self.publish(b);
    }
    /// # Panics
    /// When `i` is beyond the end.
    pub fn insert(&mut self, i: usize, v: T) {
        self.splice(i, 0, &[v]);
    }
    /// # Panics
    /// When `i` is beyond the end.
    pub fn insert_from_slice(&mut self, i: usize, s: &[T]) {
        self.splice(i, 0, s);
    }
    /// # Panics
    /// When there is no element `i`.
    pub fn remove(&mut self, i: usize) -> T {
        let v = self[i];
        self.splice(i, 1, &[]);
        v
    }
    /// Removes a range.
    ///
    /// # Panics
    /// When the range is outside.
    pub fn drain(&mut self, r: impl RangeBounds<usize>) {
        let from = match r.start_bound() {
            Bound::Included(&a) => a,
            Bound::Excluded(&a) => a + 1,
            Bound::Unbounded => 0,
        };
        let to = match r.end_bound() {
            Bound::Included(&a) => a + 1,
            Bound::Excluded(&a) => a,
            Bound::Unbounded => self.len(),
        };
        assert!(from <= to, "drain out of range");
        self.splice(from, to - from, &[]);
    }
    /// Keeps what `f` says.
    pub fn retain(&mut self, mut f: impl FnMut(&T) -> bool) {
        let Some(at) = self.iter().position(|v| !f(v)) else { return };
        let keep: Vec<T> = self[at + 1..].iter().copied().filter(|v| f(v)).collect();
        let n = self.len() - at;
        self.splice(at, n, &keep);
    }
    /// Gives the buffer back at once, whatever the mode.
    ///
    /// # Safety
    /// Nobody can reach this vector any more.
    pub(crate) unsafe fn dispose(&mut self) {
        let w = std::mem::replace(self.word.get_mut(), inline_word(0));
        if !Self::is_inline(w) {
            // SAFETY: made by `make`; no reader by the caller's promise.
            unsafe { std::alloc::dealloc(w as *mut u8, Self::layout((*w).cap)) };
        }
    }
}

impl<T: Plain, const N: usize> Drop for RaceVec<T, N> {
    #[inline]
    fn drop(&mut self) {
        if self.spilled() {
            self.publish(inline_word(0));
        }
    }
}

impl<T: Plain, const N: usize> Deref for RaceVec<T, N> {
    type Target = [T];
    #[inline(always)]
    fn deref(&self) -> &[T] {
        self.as_slice()
    }
}
impl<T: Plain, const N: usize> DerefMut for RaceVec<T, N> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        self.as_mut_slice()
    }
}
impl<T: Plain, const N: usize> Clone for RaceVec<T, N> {
    fn clone(&self) -> Self {
        Self::from_slice(self)
    }
}
impl<T: Plain, const N: usize> From<&[T]> for RaceVec<T, N> {
    fn from(s: &[T]) -> Self {
        Self::from_slice(s)
    }
}
impl<T: Plain, const N: usize> From<Vec<T>> for RaceVec<T, N> {
    fn from(s: Vec<T>) -> Self {
        Self::from_vec(s)
    }
}
impl<T: Plain, const N: usize> Extend<T> for RaceVec<T, N> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, it: I) {
        let it = it.into_iter();
        self.reserve(it.size_hint().0.min(1 << 20));
        for v in it {
            self.push(v);
        }
    }
}
impl<T: Plain, const N: usize> FromIterator<T> for RaceVec<T, N> {
    fn from_iter<I: IntoIterator<Item = T>>(it: I) -> Self {
        let mut v = Self::new();
        v.extend(it);
        v
    }
}
impl<'a, T: Plain, const N: usize> IntoIterator for &'a RaceVec<T, N> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
impl<T: Plain + std::fmt::Debug, const N: usize> std::fmt::Debug for RaceVec<T, N> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.as_slice().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs the same random changes on a Vec and a RaceVec.
    fn compare(seed: u64) {
        let mut r = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut next = move |n: usize| {
            r ^= r << 13;
            r ^= r >> 7;
            r ^= r << 17;
            (r % n.max(1) as u64) as usize
        };
        let mut v: Vec<u64> = Vec::new();
        let mut w: RaceVec<u64, 3> = RaceVec::new();
        for step in 0..400u64 {
            let n = v.len();
            match next(14) {
                0..=3 => {
                    v.push(step);
                    w.push(step);
                }
                4 => assert_eq!(v.pop(), w.pop()),
                5 | 6 => assert_eq!(if n == 0 { None } else { Some(v.remove(0)) }, w.shift()),
                7 => {
                    let more = [step, step + 1, step + 2];
                    v.splice(0..0, more);
                    w.unshift(&more);
                }
                8 => {
                    let (at, k) = (next(n + 1), next(5));
                    let k = k.min(n - at);
                    let more = vec![step; next(5)];
                    v.splice(at..at + k, more.iter().copied());
                    w.splice(at, k, &more);
                }
                9 => {
                    let more = vec![step; next(9)];
                    v.extend_from_slice(&more);
                    w.extend_from_slice(&more);
                }
                10 => {
                    v.retain(|x| x % 3 != 0);
                    w.retain(|x| x % 3 != 0);
                }
                11 => w.shrink_to_fit(),
                12 => {
                    let k = next(n + 6);
                    v.resize(k, 7);
                    w.resize(k, 7);
                }
                _ => {
                    let s = v[..n / 2].to_vec();
                    v = s.clone();
                    w.assign(&s);
                }
            }
            assert_eq!(v, w.as_slice(), "seed {seed} step {step}");
        }
        assert_eq!(w.clone().into_vec(), v);
    }

    #[test]
    fn behaves_like_a_vec_alone_and_in_parallel_mode() {
        for seed in 1..60 {
            compare(seed);
        }
        let list = retire::Retired::default();
        // SAFETY: unbound before `list` goes.
        unsafe { retire::bind(Some(&list)) };
        for seed in 1..60 {
            compare(seed);
        }
        assert!(list.bytes() > 0);
        // SAFETY: as above; nobody else reads.
        unsafe {
            retire::bind(None);
            list.free_all();
        }
    }

    #[test]
    fn sizes_and_self_extension() {
        assert_eq!(size_of::<RaceVec<u8, 24>>(), 32);
        assert_eq!(size_of::<RaceVec<Value, 3>>(), 32);
        assert_eq!(size_of::<RaceVec<Value, 0>>(), 8);
        let mut v: RaceVec<u8, 24> = RaceVec::from_slice(b"0123456789012345678901234567890");
        // SAFETY: the slice is alive during the call; `extend_from_slice` copies it first.
        let s = unsafe { std::slice::from_raw_parts(v.as_ptr(), v.len()) };
        v.extend_from_slice(s);
        assert_eq!(v.len(), 62);
        assert_eq!(v[..31], v[31..]);
    }
}
