//! A Ruby value in one 64-bit word, with CRuby's tags.
//!
//! ```text
//! ...xxxx xxx1   fixnum, 63 bits signed
//! ...xxxx xx10   flonum (a rotated double)
//! ...0000 1100   static symbol (id in the upper 32 bits, low byte 0x0c)
//! 0x00 false   0x04 nil   0x14 true   0x24 undef   0x34 removed
//! ...xxxx x000   pointer to a heap cell (16-byte aligned)
//! ```
//! Invariant: a word that is none of the immediates is the address of a live
//! cell whose first 16 bytes are a [`Header`](crate::Header).

use crate::cells::header::{Header, Kind};
use crate::lockfree::racevec::Plain;
use std::marker::PhantomData;

/// One Ruby value. `Copy`, and `!Send`: a value that leaves its worker goes
/// through publication first (RUNTIME section 2).
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct Value(u64, PhantomData<*const ()>);

/// An interned name. Ids are dense; that of a name that died is used again (see [`crate::Rows`]).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[repr(transparent)]
pub struct Sym(pub u32);

/// Largest integer that fits a tagged word.
pub const FIXNUM_MAX: i64 = (1 << 62) - 1;
/// Smallest integer that fits a tagged word.
pub const FIXNUM_MIN: i64 = -(1 << 62);

impl Value {
    /// `false`
    pub const FALSE: Value = Value(0x00, PhantomData);
    /// `nil`
    pub const NIL: Value = Value(0x04, PhantomData);
    /// `true`
    pub const TRUE: Value = Value(0x14, PhantomData);
    /// No value: an argument not given, a constant not set. Never seen by Ruby code.
    pub const UNDEF: Value = Value(0x24, PhantomData);
    /// A record's field that was removed. Never seen by Ruby code.
    pub const REMOVED: Value = Value(0x34, PhantomData);

    /// The value of a word that [`bits`](Self::bits) gave. A word that looks like a pointer must be a live cell's address.
    #[inline(always)]
    pub const fn from_bits(b: u64) -> Value {
        Value(b, PhantomData)
    }
    /// The same of many words.
    pub const fn all_from_bits(all: &[u64]) -> &[Value] {
        // SAFETY: a value is its word.
        unsafe { std::slice::from_raw_parts(all.as_ptr() as *const Value, all.len()) }
    }
    /// The word, tags included.
    #[inline(always)]
    pub const fn bits(self) -> u64 {
        self.0
    }
    /// The fixnum `i`. The caller has checked the range (debug builds assert it).
    #[inline(always)]
    pub const fn fix(i: i64) -> Value {
        debug_assert!(i >= FIXNUM_MIN && i <= FIXNUM_MAX);
        Value(((i as u64) << 1) | 1, PhantomData)
    }
    /// `i` as a fixnum when it fits.
    #[inline(always)]
    pub fn try_fix(i: i64) -> Option<Value> {
        (FIXNUM_MIN..=FIXNUM_MAX).contains(&i).then(|| Value::fix(i))
    }
    /// `true` or `false`.
    #[inline(always)]
    pub const fn bool(b: bool) -> Value {
        if b { Value::TRUE } else { Value::FALSE }
    }
    /// The Symbol of an interned name.
    #[inline(always)]
    pub const fn sym(s: Sym) -> Value {
        Value(((s.0 as u64) << 32) | 0x0c, PhantomData)
    }
    /// `f` as a flonum; `None` when its exponent needs a heap cell.
    #[inline(always)]
    pub fn try_flo(f: f64) -> Option<Value> {
        let bits = f.to_bits();
        let top = ((bits >> 60) & 7) as u32;
        if top == 3 || top == 4 {
            // 3 is 0b011 and 4 is 0b100: the two middle binades around 1.0.
            if bits != 0x3000_0000_0000_0000 {
                return Some(Value((bits.rotate_left(3) & !3) | 2, PhantomData));
            }
        } else if bits == 0 {
            return Some(Value(0x8000_0000_0000_0002, PhantomData));
        }
        None
    }

    /// Is it an Integer in the word itself?
    #[inline(always)]
    pub const fn is_fix(self) -> bool {
        self.0 & 1 == 1
    }
    /// Is it a Float in the word itself?
    #[inline(always)]
    pub const fn is_flo(self) -> bool {
        self.0 & 3 == 2
    }
    /// Is it a Symbol?
    #[inline(always)]
    pub const fn is_sym(self) -> bool {
        self.0 & 0xff == 0x0c
    }
    /// Is it `nil`?
    #[inline(always)]
    pub const fn is_nil(self) -> bool {
        self.0 == 0x04
    }
    /// Is it [`Value::UNDEF`]?
    #[inline(always)]
    pub const fn is_undef(self) -> bool {
        self.0 == 0x24
    }
    /// Neither `nil` nor `false`.
    #[inline(always)]
    pub const fn truthy(self) -> bool {
        self.0 & !0x04 != 0
    }
    /// A pointer to a heap cell.
    #[inline(always)]
    pub const fn is_heap(self) -> bool {
        self.0 & 7 == 0 && self.0 != 0
    }
    /// The integer of a fixnum (meaningless for other values).
    #[inline(always)]
    pub const fn fix_val(self) -> i64 {
        (self.0 as i64) >> 1
    }
    /// The integer of a fixnum.
    #[inline(always)]
    pub fn as_fix(self) -> Option<i64> {
        self.is_fix().then(|| self.fix_val())
    }
    /// The double of a flonum (meaningless for other values).
    #[inline(always)]
    pub fn flo_val(self) -> f64 {
        if self.0 == 0x8000_0000_0000_0002 {
            return 0.0;
        }
        let b63 = self.0 >> 63;
        f64::from_bits((2u64.wrapping_sub(b63) | (self.0 & !3)).rotate_right(3))
    }
    /// The name of a Symbol.
    #[inline(always)]
    pub fn as_sym(self) -> Option<Sym> {
        if self.is_sym() { Some(Sym((self.0 >> 32) as u32)) } else { None }
    }
    /// The header of a heap cell.
    #[inline(always)]
    pub fn header(self) -> Option<&'static Header> {
        if self.is_heap() {
            // SAFETY: a word that is no immediate is the address of a live cell (module invariant).
            Some(unsafe { &*(self.0 as *const Header) })
        } else {
            None
        }
    }
    /// The kind of a heap cell, `None` for immediates.
    #[inline(always)]
    pub fn kind(self) -> Option<Kind> {
        self.header().map(|h| h.kind)
    }
    /// Is it a cell of that kind?
    #[inline(always)]
    pub fn is_kind(self, k: Kind) -> bool {
        self.kind() == Some(k)
    }
}

impl Default for Value {
    fn default() -> Self {
        Value::NIL
    }
}

impl std::fmt::Debug for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Value::NIL => f.write_str("nil"),
            Value::TRUE => f.write_str("true"),
            Value::FALSE => f.write_str("false"),
            Value::UNDEF => f.write_str("undef"),
            Value::REMOVED => f.write_str("removed"),
            v if v.is_fix() => write!(f, "{}", v.fix_val()),
            v if v.is_flo() => write!(f, "{:?}", v.flo_val()),
            v if v.is_sym() => write!(f, "sym#{}", v.0 >> 32),
            v => write!(f, "{:?}@{:x}", v.kind(), v.0),
        }
    }
}

// SAFETY: one word; zero is `false`.
unsafe impl Plain for Value {
    const WORDS: bool = true;
    #[inline(always)]
    unsafe fn load(p: *const Value) -> Value {
        // SAFETY: the caller's promise; a Value is transparent over its word.
        Value::from_bits(unsafe { u64::load(p as *const u64) })
    }
    #[inline(always)]
    unsafe fn store(p: *mut Value, v: Value) {
        // SAFETY: as above.
        unsafe { u64::store(p as *mut u64, v.bits()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flonums_round_trip_or_refuse() {
        for f in [0.0, 1.0, -1.0, 0.1, 1e10, -1e-10, 1e77, 1.7e-77, std::f64::consts::PI] {
            if let Some(v) = Value::try_flo(f) {
                assert!(v.is_flo() && v.flo_val().to_bits() == f.to_bits(), "{f}");
            }
        }
        assert!(Value::try_flo(1e300).is_none());
        assert!(Value::try_flo(-0.0).is_none());
        assert!(Value::try_flo(f64::NAN).is_none());
        assert!(Value::try_flo(1.0).is_some());
    }

    #[test]
    fn tags_do_not_overlap() {
        assert!(Value::fix(-3).is_fix() && Value::fix(-3).fix_val() == -3);
        assert!(!Value::NIL.is_heap() && !Value::FALSE.is_heap() && !Value::TRUE.is_heap());
        assert!(!Value::REMOVED.is_heap() && !Value::REMOVED.is_sym() && !Value::REMOVED.is_flo());
        assert!(!Value::UNDEF.is_heap() && !Value::sym(Sym(7)).is_heap());
        assert!(!Value::NIL.truthy() && !Value::FALSE.truthy() && Value::fix(0).truthy());
        assert_eq!(Value::sym(Sym(9)).as_sym(), Some(Sym(9)));
    }
}
