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
//! elements first and store span or word with Release. A buffer that is
//! replaced goes through [`crate::lockfree::deferred`].
//!
//! *Words* (values) are atomic slots: a reader gets a [`Seen`], which loads each
//! element on its own. In parallel mode elements that stay are never moved inside a
//! buffer, and whoever moves or removes some first waits for the stores that were
//! begun without the lock ([`RaceVec::store_unlocked`], `gate.rs`).
//! *Bytes* are read as a slice, which is sound because in parallel mode a byte that
//! was ever published is never written again: a change of what is there, an end that
//! comes nearer too, installs a new buffer, and appending goes on behind it.
//!
//! `tests/loom_racevec.rs` runs all of this in every interleaving.
//!
//! Here is the storage: made, read, published, replaced and given back. The operations that change it: `racevec/change.rs`.

mod change;
pub(crate) mod fetch;
mod order;
mod seen;
pub(crate) mod spread;
#[cfg(all(test, not(loom)))]
mod tests;
mod traits;

pub use seen::{Iter as SeenIter, Seen};

use super::sync::{AtomicPtr, AtomicU64, Ordering::Relaxed};
use super::{deferred, halves};
use kumi_budget::{ask, asking, refuse};
use order::{LOOK, PUBLISH};
use std::alloc::{Layout, alloc, realloc};
use std::cell::UnsafeCell;
use std::mem::{MaybeUninit, size_of};
use std::ptr;

/// Elements of a [`RaceVec`].
///
/// # Safety
/// Plain words or bytes without padding; all zeroes is a valid one. When `WORDS`, 8 bytes that `load` and `store` treat
/// as an atomic.
pub unsafe trait Plain: Copy {
    /// May a slot be stored into while others read it?
    const WORDS: bool;
    /// Reads a slot.
    ///
    /// # Safety
    /// A live slot; unless `WORDS`, one that nobody writes.
    unsafe fn load(p: *const Self) -> Self;
    /// Writes a slot.
    ///
    /// # Safety
    /// A live slot; unless `WORDS`, one that nobody else reads or writes.
    unsafe fn store(p: *mut Self, v: Self);
    /// Writes `n` slots that nobody reads yet.
    ///
    /// # Safety
    /// Room for them, apart from where they come from.
    #[inline(always)]
    unsafe fn lay(to: *mut Self, from: *const Self, n: usize) {
        // SAFETY: the caller's promise.
        unsafe { ptr::copy_nonoverlapping(from, to, n) }
    }
}

// SAFETY: bytes.
unsafe impl Plain for u8 {
    const WORDS: bool = false;
    #[inline(always)]
    unsafe fn load(p: *const u8) -> u8 {
        // SAFETY: the caller's promise.
        unsafe { p.read() }
    }
    #[inline(always)]
    unsafe fn store(p: *mut u8, v: u8) {
        // SAFETY: the caller's promise.
        unsafe { p.write(v) }
    }
}
// SAFETY: words.
unsafe impl Plain for u64 {
    const WORDS: bool = true;
    #[inline(always)]
    unsafe fn load(p: *const u64) -> u64 {
        // SAFETY: a live, aligned slot.
        unsafe { std::sync::atomic::AtomicU64::from_ptr(p as *mut u64) }.load(LOOK)
    }
    #[inline(always)]
    unsafe fn store(p: *mut u64, v: u64) {
        // SAFETY: a live, aligned slot.
        unsafe { std::sync::atomic::AtomicU64::from_ptr(p) }.store(v, PUBLISH)
    }
}

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

/// A vector that nobody else has seen, on whatever thread.
pub struct Unseen<T: Plain, const N: usize>(RaceVec<T, N>);

impl<T: Plain, const N: usize> Unseen<T, N> {
    /// Its elements, to be changed.
    pub fn slice(&mut self) -> &mut [T] {
        let (p, n) = self.0.parts();
        // SAFETY: the elements of a vector that is ours alone.
        unsafe { std::slice::from_raw_parts_mut(p, n) }
    }
    /// The vector.
    pub fn done(self) -> RaceVec<T, N> {
        self.0
    }
}

impl<T: Plain, const N: usize> RaceVec<T, N> {
    /// One element more, in a span.
    const ONE: u64 = if T::WORDS { 1 << START_BITS } else { 1 };

    #[inline(always)]
    fn pack(start: usize, len: usize) -> u64 {
        if T::WORDS { (len as u64) << START_BITS | start as u64 } else { len as u64 }
    }
    #[inline(always)]
    fn unpack(s: u64) -> (usize, usize) {
        if T::WORDS { ((s & MAX_START as u64) as usize, (s >> START_BITS) as usize) } else { (0, s as usize) }
    }

    /// An empty vector without a buffer.
    #[inline(always)]
    pub fn new() -> Self {
        RaceVec { word: AtomicPtr::new(inline_word(0)), inline: UnsafeCell::new([const { MaybeUninit::zeroed() }; N]) }
    }
    /// An empty vector with room for `n` elements. Unwinds where that much memory is refused.
    pub fn with_capacity(n: usize) -> Self {
        let mut v = Self::new();
        if n > N {
            v.word = AtomicPtr::new(Self::make(n));
        }
        v
    }
    /// A vector of copies of `s`.
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
                if T::WORDS {
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
                // Whole and empty, should the buffer be refused.
                (&raw mut (*to).word).write(AtomicPtr::new(inline_word(0)));
                Self::make_from(0, 0, &[s])
            };
            (&raw mut (*to).word).write(AtomicPtr::new(word));
        }
    }
    /// The same for elements that others may be storing into.
    ///
    /// # Safety
    /// As for `write`.
    #[inline]
    pub(crate) unsafe fn write_seen(to: *mut Self, s: Seen<'_, T>) {
        // SAFETY: the caller's promise; inline room and capacity cover the elements.
        unsafe {
            let inline = &raw mut (*to).inline as *mut T;
            inline.write_bytes(0, N);
            let word = if s.len() <= N {
                s.copy_to(inline);
                inline_word(s.len())
            } else {
                (&raw mut (*to).word).write(AtomicPtr::new(inline_word(0)));
                let p = Self::make(s.len());
                s.copy_to(Self::data(p));
                (*p).span.store(Self::pack(0, s.len()), Relaxed);
                p
            };
            (&raw mut (*to).word).write(AtomicPtr::new(word));
        }
    }
    /// A vector of elements that others may be storing into.
    pub(crate) fn from_seen(s: Seen<'_, T>) -> Self {
        let mut v = MaybeUninit::<Self>::uninit();
        // SAFETY: room for a vector that nobody reads yet, which is whole afterwards.
        unsafe {
            Self::write_seen(v.as_mut_ptr(), s);
            v.assume_init()
        }
    }
    /// Copies of elements that others may be storing into, to be changed before anybody sees them.
    pub fn unseen(s: Seen<'_, T>) -> Unseen<T, N> {
        Unseen(Self::from_seen(s))
    }
    /// As [`from_slice`](Self::from_slice): the buffer of a Vec cannot be taken over.
    pub(crate) fn from_vec(s: Vec<T>) -> Self {
        Self::from_slice(&s)
    }
    /// `n` times `v`.
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
            // No machine has that much.
            None => refuse(),
        }
    }
    /// A large piece, or null.
    #[cold]
    #[inline(never)]
    fn ask_for(l: Layout) -> *mut u8 {
        if let Some(p) = deferred::reuse(l) {
            return p;
        }
        // What is kept for such as this is in nobody's way.
        if deferred::has_spares() && !kumi_budget::is_there(l.size()) {
            deferred::free_spares();
        }
        ask(l.size());
        // SAFETY: the size is not zero.
        asking(|| unsafe { alloc(l) })
    }
    /// An empty buffer.
    fn make(cap: usize) -> *mut Head {
        let l = Self::layout(cap);
        // SAFETY: the size is not zero.
        let p = if l.size() < kumi_budget::LARGE { unsafe { alloc(l) } } else { Self::ask_for(l) } as *mut Head;
        if p.is_null() {
            refuse();
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
            unsafe { T::lay(Self::data(p).add(at), s.as_ptr(), s.len()) };
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
        let w = self.word.load(LOOK);
        if Self::is_inline(w) {
            (self.inline.get() as *mut T, w.addr() >> 1)
        } else {
            // SAFETY: an even word is the address of a buffer that lives at least until the next stop.
            let (start, len) = Self::unpack(unsafe { (*w).span.load(LOOK) });
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
    fn release_len(&mut self, len: usize) {
        let w = self.word.load(Relaxed);
        if Self::is_inline(w) {
            self.word.store(inline_word(len), PUBLISH);
        } else {
            // SAFETY: as in `parts`.
            let span = unsafe { &(*w).span };
            let (start, _) = Self::unpack(span.load(Relaxed));
            span.store(Self::pack(if len == 0 { 0 } else { start }, len), PUBLISH);
        }
    }
    /// Publishes a buffer (or an inline word) and retires the one before.
    fn release(&mut self, w: *mut Head) {
        let old = self.word.load(Relaxed);
        self.word.store(w, PUBLISH);
        if !Self::is_inline(old) {
            self.tell_moves(old);
            // SAFETY: made by `make` with this layout; the word names it no more.
            unsafe { deferred::free_later(old as *mut u8, Self::layout((*old).cap)) };
        }
    }
    /// Elements are about to move inside the storage that `w` names, or it goes.
    #[inline]
    fn tell_moves(&self, w: *mut Head) {
        if T::WORDS && !Self::is_inline(w) {
            // SAFETY: as in `parts`.
            halves::moved(w.addr(), unsafe { (*w).cap });
        }
    }
    /// The buffer outside the cell, at a stop: where that is, where its first slot is, and which slots hold elements.
    pub(crate) fn slots(&self) -> Option<(usize, *const T, std::ops::Range<usize>)> {
        let w = self.word.load(Relaxed);
        // SAFETY: as in `parts`.
        let (start, len) = if Self::is_inline(w) { return None } else { Self::unpack(unsafe { (*w).span.load(Relaxed) }) };
        Some((w.addr(), Self::data(w), start..start + len))
    }
    /// The elements, for the only writer: where others may store without the lock, after [`Self::settle`].
    #[inline(always)]
    fn own(&self) -> &[T] {
        let (p, n) = self.parts();
        // SAFETY: the module's invariant: `n` stored elements at `p`; nobody stores by the contract above.
        unsafe { std::slice::from_raw_parts(p, n) }
    }
    /// Waits for the stores that were begun without the lock. New ones see that it is taken.
    #[inline(always)]
    pub(crate) fn settle(&self) {
        if T::WORDS && deferred::parallel() {
            deferred::settle(self.place());
        }
    }
    /// What a gate calls this vector.
    #[inline(always)]
    fn place(&self) -> usize {
        (&raw const *self).addr()
    }
    /// Room for `more` elements behind the last.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, more: usize) {
        self.settle();
        let w = self.word.load(Relaxed);
        let (p, len) = self.parts();
        let need = len.saturating_add(more);
        if Self::is_inline(w) {
            let cap = need.max(N * 2).max(4);
            let b = Self::make_from(cap, 0, &[self.own()]);
            return self.release(b);
        }
        // SAFETY: as in `parts`.
        let cap = unsafe { (*w).cap };
        let want = need.max(if len > cap / 2 { cap.saturating_mul(2) } else { cap });
        if deferred::parallel() {
            let b = Self::make_from(want, 0, &[self.own()]);
            return self.release(b);
        }
        // Alone: the elements may move.
        self.tell_moves(w);
        // SAFETY: both ranges lie in the buffer; its layout is the one it was made with.
        unsafe {
            ptr::copy(p, Self::data(w), len);
            (*w).span.store(Self::pack(0, len), Relaxed);
            if want > cap {
                let l = Self::layout(want);
                ask(l.size());
                let b = asking(|| realloc(w as *mut u8, Self::layout(cap), l.size())) as *mut Head;
                if b.is_null() {
                    refuse();
                }
                (*b).cap = want;
                self.word.store(b, PUBLISH);
            }
        }
    }

    // --- looking ----------------------------------------------------------------

    /// One look at the elements.
    #[inline(always)]
    pub fn seen(&self) -> Seen<'_, T> {
        let (p, n) = self.parts();
        // SAFETY: the module's invariant: `n` stored elements at `p`, which live until the next stop.
        unsafe { Seen::new(p, n) }
    }
    /// Number of elements now. Others may change it.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.parts().1
    }
    /// Has it no element now?
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The elements, when nobody stores into them.
    ///
    /// # Safety
    /// At a stop, or of a vector that no other thread can reach.
    #[inline(always)]
    pub(crate) unsafe fn unraced(&self) -> &[T] {
        self.own()
    }
    /// Elements the buffer has room for.
    pub fn capacity(&self) -> usize {
        let w = self.word.load(LOOK);
        // SAFETY: as in `parts`.
        if Self::is_inline(w) { N } else { unsafe { (*w).cap } }
    }
    /// Is there a buffer outside the cell?
    #[inline(always)]
    pub(crate) fn spilled(&self) -> bool {
        !Self::is_inline(self.word.load(Relaxed))
    }
    /// A copy of the elements at one look.
    pub fn to_vec(&self) -> Vec<T> {
        self.seen().to_vec()
    }

    /// Takes the elements away, buffer and all. Who has looked still sees them where they are, who looks now sees none. So what takes
    /// them over is known to others wherever this vector is: its changes wait for those readers, too.
    ///
    /// The caller holds the lock, has waited for stores without it ([`Self::settle`]), and never writes inline bytes here again.
    pub(crate) fn steal(&mut self) -> Self {
        let w = self.word.load(Relaxed);
        let stolen = if Self::is_inline(w) {
            Self::from_slice(self.own())
        } else {
            RaceVec { word: AtomicPtr::new(w), inline: UnsafeCell::new([const { MaybeUninit::zeroed() }; N]) }
        };
        self.word.store(inline_word(0), PUBLISH);
        stolen
    }

    // --- giving back ------------------------------------------------------------

    /// Gives the buffer back at once, whatever the mode.
    ///
    /// # Safety
    /// Nobody can reach this vector any more.
    pub(crate) unsafe fn dispose(&mut self) {
        let w = std::mem::replace(&mut self.word, AtomicPtr::new(inline_word(0))).load(Relaxed);
        if !Self::is_inline(w) {
            // SAFETY: made by `make`; no reader by the caller's promise.
            unsafe { deferred::free_now(w as *mut u8, Self::layout((*w).cap)) };
        }
    }
}

impl<const N: usize> RaceVec<u8, N> {
    /// One look at the bytes, which stay as they are until the next safepoint.
    #[inline(always)]
    pub fn as_slice(&self) -> &[u8] {
        self.own()
    }
}

impl<T: Plain, const N: usize> Drop for RaceVec<T, N> {
    #[inline]
    fn drop(&mut self) {
        if self.spilled() {
            self.release(inline_word(0));
        }
    }
}
