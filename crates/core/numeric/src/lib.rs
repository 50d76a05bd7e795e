//! Leaf natives of the numeric classes.
//!
//! One file a concept. Every file has a `TABLE` of leaf natives; their twins and all
//! methods with blocks are Ruby, in `prelude/`.
//!
//! - `real`: Integer, Float and Rational as one family, and arithmetic between them
//! - `integer`, `int_convert`, `float`, `rational`, `complex`: the classes' methods
//! - `convert`: reading numbers from text (`Integer()` and its kin)
//! - `math`, `random`
//! - `long`, `ratio`: what may take long
#![deny(missing_docs)]

mod complex;
mod convert;
mod float;
mod int_convert;
mod integer;
mod long;
mod math;
mod random;
mod ratio;
mod rational;
pub mod real;

use kumi_vm::Cx;

/// Registers this floor's natives.
pub fn register(cx: &mut Cx) {
    math::constants(cx);
    float::constants(cx);
    complex::constants(cx);
    cx.natives(integer::TABLE);
    cx.natives(int_convert::TABLE);
    cx.natives(float::TABLE);
    cx.natives(rational::TABLE);
    cx.natives(complex::TABLE);
    cx.natives(convert::TABLE);
    cx.natives(math::TABLE);
    cx.natives(random::TABLE);
    random::boot(cx);
}
