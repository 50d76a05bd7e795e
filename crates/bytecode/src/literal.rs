//! Literals as the compiler hands them over: of no heap yet.

use kumi_heap::Sym;
use kumi_num::BigInt;
use kumi_text::encoding::EncIndex;

/// A literal, independent of any heap. The loop turns it into a value once.
#[derive(Clone, Debug, PartialEq)]
pub enum Lit {
    /// An Integer of one word.
    Int(i64),
    /// Any larger Integer.
    Big(BigInt),
    /// A Float.
    Float(f64),
    /// Numerator and denominator, as they were written.
    Rational(BigInt, BigInt),
    /// The imaginary part.
    Imaginary(Box<Lit>),
    /// A String, copied each time its instruction runs.
    Str(Box<[u8]>, EncIndex),
    /// The same string object each time (`# frozen_string_literal: true`, hash keys, `defined?`).
    FrozenStr(Box<[u8]>, EncIndex),
    /// A Symbol.
    Sym(Sym),
    /// Source, options (`RE_*`).
    Regex(Box<[u8]>, u8, EncIndex),
    /// Both ends literal: begin, end (nil allowed), exclusive.
    Range(Box<Lit>, Box<Lit>, bool),
    /// `nil`
    Nil,
    /// `true`
    True,
    /// `false`
    False,
}

impl Lit {
    /// Shows the symbols in it, those at the ends of ranges too.
    pub fn each_sym(&self, f: &mut dyn FnMut(&Sym)) {
        if let Lit::Sym(s) = self {
            f(s);
        } else if let Lit::Range(a, b, _) = self {
            a.each_sym(f);
            b.each_sym(f);
        }
    }
}

/// Regexp option bits: CRuby's numbers for the first three.
/// `/i`: letters match in either case.
pub const RE_I: u8 = 1;
/// `/x`: spaces and comments in the pattern count for nothing.
pub const RE_X: u8 = 2;
/// `/m`: a dot matches a newline too.
pub const RE_M: u8 = 4;
/// `/e`, `/s`, `/u`: fixed encoding.
pub const RE_FIXED: u8 = 16;
/// `/n`
pub const RE_NONE: u8 = 32;
/// `/e` and `/s` (with RE_FIXED); neither: UTF-8.
pub const RE_EUC: u8 = 64;
/// See [`RE_EUC`].
pub const RE_SJIS: u8 = 128;
