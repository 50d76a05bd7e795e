//! Changing a vector: what a Vec can do, while others may read it.
//!
//! Invariant: who calls these is the only writer; `push` and what only appends may meet stores into single slots
//! ([`RaceVec::store_unlocked`]), who calls anything else has waited for these (`settle`). New elements are written before the
//! span or the word that covers them is published; where values are replaced in place, a racing reader sees each as it was or as it is. Elements of a
//! buffer move in parallel mode only into a new one, and bytes change there only so.

use super::super::sync::{AtomicPtr, Ordering::Relaxed};
use super::order::PUBLISH;
use super::spread::Spread;
use super::{Head, MAX_START, Plain, RaceVec, Seen, deferred, fetch, inline_word};
use std::hint::select_unpredictable;
use std::mem::MaybeUninit;
use std::ops::{Bound, Range, RangeBounds};
use std::ptr;

/// Elements that are copied, told and stored at a time.
const PIECE: usize = 128;

impl<T: Plain, const N: usize> RaceVec<T, N> {
    /// Appends an element, in amortised constant time.
    #[inline(always)]
    pub fn push(&mut self, v: T) {
        if !self.push_if_room(v) {
            self.push_slow(v);
        }
    }
    /// The same where it needs no memory; false otherwise.
    #[inline(always)]
    pub(crate) fn push_if_room(&mut self, v: T) -> bool {
        let w = self.word.load(Relaxed);
        // SAFETY: as in `parts`; the place behind the last element is in the storage.
        unsafe {
            if Self::is_inline(w) {
                let len = w.addr() >> 1;
                if len < N {
                    T::store((self.inline.get() as *mut T).add(len), v);
                    self.word.store(inline_word(len + 1), PUBLISH);
                    return true;
                }
            } else {
                let s = (*w).span.load(Relaxed);
                let (start, len) = Self::unpack(s);
                if start + len < (*w).cap {
                    T::store(Self::data(w).add(start + len), v);
                    (*w).span.store(s + Self::ONE, PUBLISH);
                    return true;
                }
            }
        }
        false
    }
    /// The same where there is no room.
    #[cold]
    #[inline(never)]
    fn push_slow(&mut self, v: T) {
        self.grow(1);
        let (p, len) = self.parts();
        // SAFETY: `grow` made room.
        unsafe { T::store(p.add(len), v) };
        self.release_len(len + 1);
    }
    /// Removes the last element.
    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Option<T> {
        let last = self.len().checked_sub(1)?;
        let v = self.seen().get(last)?;
        let w = self.word.load(Relaxed);
        if Self::is_inline(w) {
            if T::WORDS || !deferred::parallel() {
                self.word.store(inline_word(last), PUBLISH);
                return Some(v);
            }
        } else if T::WORDS {
            // SAFETY: as in `parts`.
            unsafe { (*w).span.store((*w).span.load(Relaxed) - Self::ONE, PUBLISH) };
            return Some(v);
        }
        self.truncate(last);
        Some(v)
    }
    /// Makes room for `more` elements behind the last.
    #[inline]
    pub fn reserve(&mut self, more: usize) {
        if self.room() - self.len() < more {
            self.grow(more);
        }
    }
    /// Appends copies of `s`, which may lie in this vector.
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
        unsafe { Self::put(p.add(len), s) };
        self.release_len(len + s.len());
    }
    /// Appends elements that others may be storing into. `tell` gets each before anybody can see it here.
    pub fn extend_seen(&mut self, s: Seen<'_, T>, mut tell: impl FnMut(&[T])) {
        if self.room() - self.len() < s.len() {
            if self.is_place(s.place()) {
                let s = s.to_vec();
                tell(&s);
                return self.extend_from_slice(&s);
            }
            self.grow(s.len());
        }
        let (p, len) = self.parts();
        // One look at each element: what is told is what is stored. Who has looked when the vector was longer looks at these slots.
        let mut piece = [const { MaybeUninit::<T>::uninit() }; PIECE];
        let far = fetch::is_far(s.len());
        for at in (0..s.len()).step_by(PIECE) {
            let s = s.part(at..at + PIECE);
            // SAFETY: no more than a piece, all of which is written then; room was made behind the last element, which is no part of `s`.
            unsafe {
                for line in (0..if far { PIECE } else { 0 }).step_by(8) {
                    fetch::reads_up(s.place().wrapping_add(line));
                    fetch::writes_up(p.wrapping_add(len + at + line));
                }
                s.copy_to(piece.as_mut_ptr().cast());
                let piece = piece[..s.len()].assume_init_ref();
                tell(piece);
                Self::put(p.add(len + at), piece);
            }
        }
        self.release_len(len + s.len());
    }
    /// Writes elements where racing readers may look.
    ///
    /// # Safety
    /// Room for them; bytes that were never published.
    #[inline]
    unsafe fn put(to: *mut T, s: &[T]) {
        // SAFETY: the caller's promise.
        unsafe {
            if T::WORDS && deferred::parallel() {
                s.iter().enumerate().for_each(|(i, v)| T::store(to.add(i), *v));
            } else {
                T::lay(to, s.as_ptr(), s.len());
            }
        }
    }
    /// Does `s` lie in this vector's storage?
    fn owns(&self, s: &[T]) -> bool {
        self.is_place(s.as_ptr())
    }
    fn is_place(&self, at: *const T) -> bool {
        let (p, _) = self.parts();
        at >= p && at < p.wrapping_add(self.room())
    }
    /// Cuts it to `n` elements, or appends `v` up to that number.
    pub fn resize(&mut self, n: usize, v: T) {
        let len = self.len();
        if n <= len {
            return self.truncate(n);
        }
        self.reserve(n - len);
        let (p, _) = self.parts();
        for i in len..n {
            // SAFETY: room was made.
            unsafe { T::store(p.add(i), v) };
        }
        self.release_len(n);
    }
    /// Cuts it to its first `n` elements, if there are more.
    #[inline]
    pub fn truncate(&mut self, n: usize) {
        if n >= self.len() {
            return;
        }
        if !T::WORDS && deferred::parallel() {
            // What is cut off may not be written over.
            let w = Self::make_from(n.max(1), 0, &[&self.own()[..n]]);
            return self.release(w);
        }
        self.release_len(n);
    }
    /// Removes all elements.
    #[inline]
    pub fn clear(&mut self) {
        self.truncate(0);
    }
    /// Only the elements of a range stay.
    ///
    /// # Panics
    /// When the range is outside.
    pub fn keep(&mut self, r: Range<usize>) {
        if !T::WORDS && deferred::parallel() {
            let w = Self::make_from(r.len().max(1), 0, &[&self.own()[r]]);
            return self.release(w);
        }
        self.truncate(r.end);
        self.drain(..r.start);
    }
    /// Gives back what is not needed.
    pub fn shrink_to_fit(&mut self) {
        if self.spilled() && self.len() < self.capacity() {
            let w = self.fitting(&[self.own()]);
            self.release(w);
        }
    }
    /// A word for exactly these elements: inline ones are written into the cell when it does not use its inline room now, and nobody
    /// may still be reading there.
    fn fitting(&self, parts: &[&[T]]) -> *mut Head {
        let n: usize = parts.iter().map(|p| p.len()).sum();
        if n > N || !self.spilled() || (!T::WORDS && deferred::parallel()) {
            return Self::make_from(n.max(1), 0, parts);
        }
        let mut at = 0;
        for s in parts {
            // SAFETY: N elements of room, and the parts are in a buffer or elsewhere, not there.
            unsafe { Self::put((self.inline.get() as *mut T).add(at), s) };
            at += s.len();
        }
        inline_word(n)
    }
    /// All elements replaced at once: a racing reader sees the old ones or the new ones.
    pub fn assign(&mut self, s: &[T]) {
        if deferred::parallel() && !self.is_empty() {
            let w = Self::make_from(s.len().max(1), 0, &[s]);
            self.release(w);
        } else if self.owns(s) {
            let s = s.to_vec();
            self.assign(&s);
        } else {
            self.clear();
            self.extend_from_slice(s);
        }
    }
    /// The same for elements that others may be storing into. `tell` gets each before anybody can see it here.
    pub fn assign_seen(&mut self, s: Seen<'_, T>, tell: impl FnMut(&[T])) {
        let mut tell = tell;
        if self.is_place(s.place()) {
            let s = s.to_vec();
            tell(&s);
            self.assign(&s);
        } else if deferred::parallel() && !self.is_empty() {
            // As alone, where the buffer stays: what has had room for more often needs it again.
            let w = Self::make(s.len().max(1).max(self.capacity().min(s.len() * 2)));
            // SAFETY: a new buffer with room for them, which nobody sees until it is published.
            unsafe {
                s.copy_to(Self::data(w));
                (*w).span.store(Self::pack(0, s.len()), Relaxed);
                tell(std::slice::from_raw_parts(Self::data(w), s.len()));
            }
            self.release(w);
        } else {
            self.clear();
            self.extend_seen(s, tell);
        }
    }
    /// Changes elements where they stand, by `f`, which may move them: in parallel mode those of a copy, which then takes
    /// the place of the buffer.
    pub(crate) fn edit<R>(&mut self, f: impl FnOnce(&mut [T]) -> R) -> R {
        if deferred::parallel() && !self.is_empty() {
            let w = Self::make_from(0, 0, &[self.own()]);
            // SAFETY: as many elements, in a buffer that is ours alone until it is published.
            let r = f(unsafe { std::slice::from_raw_parts_mut(Self::data(w), self.len()) });
            self.release(w);
            return r;
        }
        self.tell_moves(self.word.load(Relaxed));
        let (p, n) = self.parts();
        // SAFETY: the elements; nobody else reads or writes them.
        f(unsafe { std::slice::from_raw_parts_mut(p, n) })
    }
    /// Merges the elements before `mid` with those from there on, both being in the order of their keys: into a new buffer, whatever the
    /// mode.
    ///
    /// # Panics
    /// When `mid` is beyond the end.
    pub(crate) fn merge<K: Ord>(&mut self, mid: usize, key: impl Fn(T) -> K) {
        let (a, b) = self.own().split_at(mid);
        let n = a.len() + b.len();
        let w = Self::make(n.max(1));
        // SAFETY: a new buffer with room for `n` elements, which nobody sees until it is published; all of them are written before.
        unsafe {
            merge_into(a, b, std::slice::from_raw_parts_mut(Self::data(w).cast(), n), key);
            (*w).span.store(Self::pack(0, n), Relaxed);
        }
        self.release(w);
    }
    /// Sorts the elements by their keys if `have` says that they have such, and these lie evenly enough: into a new buffer, whatever the mode.
    /// False, and nothing has changed, otherwise, and where there is no room for that buffer.
    pub(crate) fn spread(&mut self, have: impl FnOnce(&[T]) -> bool, key: impl Fn(T) -> i64) -> bool {
        let all = self.own();
        let Some(s) = have(all).then(|| Spread::of(all, &key)).flatten() else { return false };
        if !kumi_budget::is_there(size_of_val(all)) {
            return false;
        }
        let w = Self::make(all.len());
        // SAFETY: a new buffer with room for all elements, which nobody sees until it is published; all of them are written before.
        unsafe {
            s.write(all, std::slice::from_raw_parts_mut(Self::data(w).cast(), all.len()), key);
            (*w).span.store(Self::pack(0, all.len()), Relaxed);
        }
        self.release(w);
        true
    }
    /// Stores into one slot. False: there is no such element.
    ///
    /// The caller holds the lock, or runs alone.
    #[inline(always)]
    pub fn set(&mut self, i: usize, v: T) -> bool {
        if T::WORDS {
            let (p, n) = self.parts();
            if i < n {
                // SAFETY: an element.
                unsafe { T::store(p.add(i), v) };
            }
            return i < n;
        }
        i < self.len() && {
            self.edit(|s| s[i] = v);
            true
        }
    }
    /// Stores into `n` slots from `at` on, as many as there are.
    pub fn fill(&mut self, at: usize, n: usize, v: T) {
        let end = at.saturating_add(n).min(self.len());
        for i in at..end {
            self.set(i, v);
        }
    }
    /// Stores into one slot without the lock, while others run. `None`: whoever holds the lock must be waited for.
    ///
    /// `locked` says whether somebody holds it, by an Acquire load.
    #[inline(always)]
    pub(crate) fn store_unlocked(&self, i: usize, v: T, locked: impl FnOnce() -> bool) -> Option<bool> {
        if !T::WORDS {
            return None;
        }
        deferred::unlocked(self.place(), locked, || {
            let (p, n) = self.parts();
            if i < n {
                // SAFETY: an element; who would move or remove it waits for us.
                unsafe { T::store(p.add(i), v) };
            }
            i < n
        })
    }
    /// Takes over another vector's elements, as `assign` does.
    pub fn replace(&mut self, mut other: Self) {
        let w = other.word.load(Relaxed);
        if Self::is_inline(w) {
            self.assign(other.own());
        } else {
            other.word = AtomicPtr::new(inline_word(0));
            self.release(w);
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
        if n == with.len() && (T::WORDS || !deferred::parallel()) {
            self.tell_moves(self.word.load(Relaxed));
            // SAFETY: that many elements; bytes only alone.
            return unsafe { Self::put(self.parts().0.add(at), with) };
        }
        if at == 0 && with.is_empty() && T::WORDS && self.advance(n) {
            return;
        }
        let now = len - n + with.len();
        if deferred::parallel() {
            let s = self.own();
            let cap = if now > len { now + now / 2 } else { now };
            let w = Self::make_from(cap, 0, &[&s[..at], with, &s[at + n..]]);
            return self.release(w);
        }
        if with.len() > n {
            self.reserve(with.len() - n);
        }
        self.tell_moves(self.word.load(Relaxed));
        let (p, _) = self.parts();
        // SAFETY: room for `now` elements was made; nobody else reads.
        unsafe {
            ptr::copy(p.add(at + n), p.add(at + with.len()), len - at - n);
            ptr::copy_nonoverlapping(with.as_ptr(), p.add(at), with.len());
        }
        self.release_len(now);
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
            span.store(0, PUBLISH);
            return true;
        }
        if start + n > MAX_START {
            return false;
        }
        span.store(Self::pack(start + n, len - n), PUBLISH);
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
        if deferred::parallel() {
            let b = Self::make_from(len + len / 2, 0, &[self.own()]);
            self.release(b);
        } else {
            self.tell_moves(w);
            // SAFETY: both ranges lie in the buffer; nobody else reads.
            unsafe {
                ptr::copy(p, Self::data(w), len);
                (*w).span.store(Self::pack(0, len), PUBLISH);
            }
        }
    }
    /// Takes the first element.
    pub(crate) fn shift(&mut self) -> Option<T> {
        let v = self.seen().first()?;
        if T::WORDS && self.advance(1) {
            return Some(v);
        }
        if deferred::parallel() {
            self.splice(0, 1, &[]);
        } else {
            let n = self.len();
            self.edit(|s| s.copy_within(1.., 0));
            self.release_len(n - 1);
        }
        Some(v)
    }
    /// Adds elements in front. Room is left there, so that repeated calls cost amortised constant time.
    pub(crate) fn unshift(&mut self, vs: &[T]) {
        if !T::WORDS || vs.is_empty() || self.is_empty() {
            return self.splice(0, 0, vs);
        }
        let w = self.word.load(Relaxed);
        let (p, len) = self.parts();
        if Self::is_inline(w) {
            if len + vs.len() <= N && !deferred::parallel() {
                return self.splice(0, 0, vs);
            }
        } else {
            // SAFETY: as in `parts`.
            let span = unsafe { &(*w).span };
            let (start, _) = Self::unpack(span.load(Relaxed));
            if start >= vs.len() {
                // SAFETY: there are `start` unused places before `p`.
                unsafe { Self::put(p.sub(vs.len()), vs) };
                span.store(Self::pack(start - vs.len(), len + vs.len()), PUBLISH);
                return;
            }
        }
        let front = if len < 16 { 0 } else { (len / 2).min(MAX_START) };
        let b = Self::make_from(front + vs.len() + len + 4, front, &[vs, self.own()]);
        self.release(b);
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
        let v = self.own()[i];
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
        let Some(at) = self.own().iter().position(|v| !f(v)) else { return };
        let keep: Vec<T> = self.own()[at + 1..].iter().copied().filter(|v| f(v)).collect();
        let n = self.len() - at;
        self.splice(at, n, &keep);
    }
}

/// Writes the elements of `a` and `b`, which are in the order of their keys, in that order: every place of `to`, whatever the order is.
fn merge_into<T: Copy, K: Ord>(a: &[T], b: &[T], to: &mut [MaybeUninit<T>], key: impl Fn(T) -> K) {
    let half = a.len();
    if b.len() != half {
        let (mut i, mut j) = (0, 0);
        for slot in to {
            let right = i == half || j < b.len() && key(b[j]) < key(a[i]);
            slot.write(if right { b[j] } else { a[i] });
            j += right as usize;
            i += !right as usize;
        }
        return;
    }
    // From both ends: two chains of steps that do not wait for each other, and neither comes to an end of `a` or `b` before its half is
    // full.
    let far = fetch::is_far(half);
    let (low, high) = to.split_at_mut(half);
    let (mut i, mut j, mut x, mut y) = (0, 0, half, half);
    for (n, (up, down)) in low.iter_mut().zip(high.iter_mut().rev()).enumerate() {
        if n & 7 == 0 && far {
            fetch::writes_up(up);
            fetch::writes_down(down);
            fetch::reads_up(&a[i]);
            fetch::reads_up(&b[j]);
            fetch::reads_down(&a[x - 1]);
            fetch::reads_down(&b[y - 1]);
        }
        let (l, r) = (a[i], b[j]);
        let right = key(r) < key(l);
        up.write(select_unpredictable(right, r, l));
        j += right as usize;
        i += !right as usize;
        let (l, r) = (a[x - 1], b[y - 1]);
        let left = key(r) < key(l);
        down.write(select_unpredictable(left, l, r));
        x -= left as usize;
        y -= !left as usize;
    }
}
