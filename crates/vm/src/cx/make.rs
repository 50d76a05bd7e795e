//! Names and values that natives make.
//!
//! **Invariant.** A value made here is the caller's alone until it is stored somewhere; whoever stores it passes the barrier
//! (`push` and `keep` do).

use crate::Cx;
use kumi_heap::*;
use kumi_num::BigInt;
use kumi_text::encoding::EncIndex;

impl Cx {
    /// The symbol of a name in the runtime's own text: it never dies. For names that come in, see [`Cx::sym_of`].
    pub fn intern(&mut self, s: &'static str) -> Sym {
        self.syms.intern(s.as_bytes())
    }
    /// As [`Cx::intern`].
    pub fn sym(&mut self, s: &'static str) -> Value {
        Value::sym(self.intern(s))
    }
    /// The text of a symbol; bytes that are no UTF-8 become U+FFFD.
    pub fn sym_name(&self, s: Sym) -> String {
        let name = self.syms.name(s);
        // It is copied into a message as a rule.
        kumi_budget::ask(6 * name.len());
        String::from_utf8_lossy(name).into_owned()
    }
    /// A UTF-8 string.
    pub fn str(&mut self, s: &str) -> Value {
        self.heap.str(self.k.string.val(), s.as_bytes(), EncIndex::UTF_8.as_u8()).val()
    }
    /// A string of bytes in an encoding.
    pub fn str_enc(&mut self, b: &[u8], enc: EncIndex) -> Value {
        self.heap.str(self.k.string.val(), b, enc.as_u8()).val()
    }
    /// A string that takes over a vector.
    pub fn str_vec(&mut self, b: Vec<u8>, enc: EncIndex) -> Value {
        self.heap.str(self.k.string.val(), &b, enc.as_u8()).val()
    }
    /// A US-ASCII string (what Integer#to_s and the like give).
    pub fn str_ascii(&mut self, s: &str) -> Value {
        self.heap.str(self.k.string.val(), s.as_bytes(), EncIndex::US_ASCII.as_u8()).val()
    }
    /// An Array of copies of `v`.
    pub fn array(&mut self, v: &[Value]) -> Value {
        self.heap.array(self.k.array.val(), v).val()
    }
    /// An Array of elements that others may be storing into.
    pub fn array_seen(&mut self, v: Seen<'_, Value>) -> Value {
        self.heap.array_seen(self.k.array.val(), v).val()
    }
    /// As [`Cx::array`]: the elements are copied.
    pub fn array_vec(&mut self, v: Vec<Value>) -> Value {
        self.heap.array(self.k.array.val(), &v).val()
    }
    /// An empty Hash.
    pub fn hash(&mut self) -> Value {
        self.heap.hash(self.k.hash.val(), HashData::default()).val()
    }
    /// A Range. That its ends can be compared is the caller's affair.
    pub fn range(&mut self, lo: Value, hi: Value, exclusive: bool) -> Value {
        self.heap.range(self.k.range.val(), lo, hi, exclusive)
    }
    /// A Float.
    #[inline(always)]
    pub fn float(&mut self, f: f64) -> Value {
        match Value::try_flo(f) {
            Some(v) => v,
            None => self.heap.float(self.k.float.val(), f),
        }
    }
    /// An Integer.
    #[inline(always)]
    pub fn int(&mut self, i: i64) -> Value {
        match Value::try_fix(i) {
            Some(v) => v,
            None => self.heap.big(self.k.integer.val(), BigInt::from_i64(i)),
        }
    }
    /// As [`Cx::int`].
    pub fn uint(&mut self, i: u64) -> Value {
        if i <= FIXNUM_MAX as u64 { Value::fix(i as i64) } else { self.heap.big(self.k.integer.val(), BigInt::from_u64(i)) }
    }
    /// As [`Cx::int`].
    pub fn int128(&mut self, i: i128) -> Value {
        if i >= FIXNUM_MIN as i128 && i <= FIXNUM_MAX as i128 {
            Value::fix(i as i64)
        } else {
            self.heap.big(self.k.integer.val(), BigInt::from_i128(i))
        }
    }
    /// As [`Cx::int`].
    pub fn big(&mut self, n: BigInt) -> Value {
        self.heap.big(self.k.integer.val(), n)
    }
    /// An object of `class` with a Rust payload.
    pub fn data<T: Payload>(&mut self, class: Gc<ClassObj>, payload: T) -> Value {
        self.heap.data(class.val(), payload)
    }
    /// Keeps a value alive for the runtime's life.
    pub fn keep(&mut self, v: Value) {
        self.heap.publish(v);
        self.rt.keep(v);
    }
    /// Adds to an array, with the barrier.
    #[inline]
    pub fn push(&mut self, a: Gc<ArrayObj>, v: Value) {
        self.heap.before_store(a.val(), v);
        self.heap.edit(a).push(v);
        self.heap.charge(8);
    }
}
