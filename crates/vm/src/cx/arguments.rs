//! A native's arguments as what it needs.
//!
//! **Invariant.** Reading an argument changes nothing: one that has to be converted by Ruby code ends the native with
//! [`Exit::Convert`], and the native is called again from its start with the converted one.

use crate::Cx;
use crate::doors::*;
use kumi_heap::*;
use kumi_num::BigInt;
use kumi_text::encoding::EncIndex;

/// A Float that no machine integer holds, as C's `%.10g` shows it.
fn short(f: f64) -> String {
    if !f.is_finite() {
        return if f.is_nan() {
            "NaN"
        } else if f > 0.0 {
            "Inf"
        } else {
            "-Inf"
        }
        .into();
    }
    let t = format!("{f:.9e}");
    let (digits, power) = t.split_once('e').unwrap_or((&t, "0"));
    format!("{}e+{power}", digits.trim_end_matches('0').trim_end_matches('.'))
}

impl Cx {
    /// Argument `i` as an i64: fixnums as they are, bignums are a RangeError, others are converted by to_int.
    pub fn arg_i64(&mut self, args: &[Value], i: usize) -> Result<i64, Exit> {
        let v = args[i];
        if v.is_fix() {
            return Ok(v.fix_val());
        }
        if let Some(f) = v.as_float() {
            if f.is_finite() && (-9223372036854775808.0..9223372036854775808.0).contains(&f) {
                return Ok(f as i64);
            }
            return Err(self.range_error(&format!("float {} out of range of integer", short(f))));
        }
        if let Some(b) = v.as_big() {
            return match b.n.to_i64() {
                Some(i) => Ok(i),
                None => Err(self.range_error("bignum too big to convert into 'long'")),
            };
        }
        if v.is_nil() {
            return Err(self.type_error("no implicit conversion from nil to integer"));
        }
        self.no_implicit_unless(v, i, Proto::Int)
    }
    /// Argument `i` as C's int: options, levels, places in a match.
    pub fn arg_c_int(&mut self, args: &[Value], i: usize) -> Result<i32, Exit> {
        let n = self.arg_i64(args, i)?;
        self.c_int(n)
    }
    /// `n` as C's int, or the RangeError that says it is none.
    pub fn c_int(&mut self, n: i64) -> Result<i32, Exit> {
        i32::try_from(n).map_err(|_| {
            let size = if n < 0 { "small" } else { "big" };
            self.range_error(&format!("integer {n} too {size} to convert to 'int'"))
        })
    }
    fn no_implicit_unless<T>(&mut self, v: Value, i: usize, p: Proto) -> Result<T, Exit> {
        // nil, true, false never convert: the message names them as they are.
        if p == Proto::Int && v.is_nil() {
            return Err(self.type_error("no implicit conversion of nil into Integer"));
        }
        Err(Exit::Convert(i as u8, p))
    }
    /// Argument `i` as an Integer value (fixnum or bignum), converted by to_int.
    pub fn arg_int(&mut self, args: &[Value], i: usize) -> Result<Value, Exit> {
        let v = args[i];
        if v.is_fix() || v.as_big().is_some() {
            return Ok(v);
        }
        if let Some(f) = v.as_float() {
            if f.is_finite() {
                if let Some(n) = BigInt::from_f64(f) {
                    return Ok(self.big(n));
                }
            }
        }
        self.no_implicit_unless(v, i, Proto::Int)
    }
    /// Argument `i` as a String, converted by to_str.
    #[inline]
    pub fn arg_str(&mut self, args: &[Value], i: usize) -> Result<Gc<StrObj>, Exit> {
        args[i].as_str().ok_or(Exit::Convert(i as u8, Proto::Str))
    }
    /// Argument `i` as an Array, converted by to_ary.
    #[inline]
    pub fn arg_array(&mut self, args: &[Value], i: usize) -> Result<Gc<ArrayObj>, Exit> {
        args[i].as_array().ok_or(Exit::Convert(i as u8, Proto::Ary))
    }
    /// Argument `i` as a Hash, converted by to_hash.
    pub fn arg_hash(&mut self, args: &[Value], i: usize) -> Result<Gc<HashObj>, Exit> {
        args[i].as_hash().ok_or(Exit::Convert(i as u8, Proto::Hash))
    }
    /// Argument `i` as a path: to_path, then to_str; no NUL inside.
    pub fn arg_path(&mut self, args: &[Value], i: usize) -> Result<Gc<StrObj>, Exit> {
        let s = args[i].as_str().ok_or(Exit::Convert(i as u8, Proto::Path))?;
        if s.bytes().contains(&0) {
            return Err(self.arg_error("string contains null byte"));
        }
        Ok(s)
    }
    /// Argument `i` as a double: Integer, Float, Rational; other Numerics by to_f; strings are a TypeError.
    pub fn arg_f64(&mut self, args: &[Value], i: usize) -> Result<f64, Exit> {
        let v = args[i];
        if v.is_fix() {
            return Ok(v.fix_val() as f64);
        }
        if let Some(f) = v.as_float() {
            return Ok(f);
        }
        if let Some(b) = v.as_big() {
            return Ok(b.n.to_f64());
        }
        Err(Exit::Convert(i as u8, Proto::Float))
    }
    /// Argument `i` as a name: Symbol, String, to_str.
    pub fn arg_name(&mut self, args: &[Value], i: usize) -> Result<Sym, Exit> {
        let v = args[i];
        if let Some(s) = v.as_sym() {
            return Ok(s);
        }
        if let Some(s) = v.as_str() {
            if !s.bytes().is_ascii() && self.enc_of(s).scan(s.bytes()) == kumi_text::encoding::CodeRange::Broken {
                return Err(self.bad_name(s));
            }
            return self.sym_of(s.bytes());
        }
        Err(Exit::Convert(i as u8, Proto::Name))
    }
    /// EncodingError for a string that is broken, so that it names nothing.
    pub fn bad_name(&mut self, s: Gc<StrObj>) -> Exit {
        let e = self.enc_of(s);
        let shown = kumi_text::escape::inspect(s.bytes(), e, EncIndex::UTF_8);
        let m = format!("invalid symbol in encoding {} :{}", e.name(), String::from_utf8_lossy(&shown));
        self.raise_msg(self.k.encoding_error, &m)
    }
    /// Argument `i` as a class or module.
    pub fn arg_class(&mut self, args: &[Value], i: usize) -> Result<Gc<ClassObj>, Exit> {
        match args[i].as_class() {
            Some(c) => Ok(c),
            None => Err(self.type_error("class or module required")),
        }
    }
    /// Encoding of a string cell.
    pub fn enc_of(&self, s: Gc<StrObj>) -> EncIndex {
        EncIndex::from_u8(s.enc())
    }
}
