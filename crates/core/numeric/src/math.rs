//! Math: functions of doubles, with DomainError where the result would not be real.

use crate::real::*;
use kumi_num::{float as nf, math};
use kumi_vm::*;

/// `Math::DomainError` in the words of CRuby.
pub fn domain_error(cx: &mut Cx, name: &str) -> Exit {
    let c = cx.const_path("Math::DomainError").and_then(|v| v.as_class()).unwrap_or(cx.k.argument_error);
    cx.raise_msg(c, &format!("Numerical argument is out of domain - {name}"))
}
/// Argument `i` as a double; what is no built-in real is converted by the loop.
fn arg(cx: &mut Cx, args: &[Value], i: usize) -> Result<f64, Exit> {
    match num(cx, args[i]).f64() {
        Some(x) => Ok(x),
        None => cx.arg_f64(args, i),
    }
}

macro_rules! plain {
    ($($name:ident $x:ident $e:expr),* $(,)?) => { $(
        fn $name(cx: &mut Cx, _: Value, args: &[Value]) -> R {
            let $x = arg(cx, args, 0)?;
            Ok(cx.float($e))
        }
    )* };
}
macro_rules! limited {
    ($($name:ident $text:literal $x:ident $ok:expr => $e:expr),* $(,)?) => { $(
        fn $name(cx: &mut Cx, _: Value, args: &[Value]) -> R {
            let $x = arg(cx, args, 0)?;
            if !($ok || $x.is_nan()) {
                return Err(domain_error(cx, $text));
            }
            Ok(cx.float($e))
        }
    )* };
}
plain! {
    m_sin x x.sin(), m_cos x x.cos(), m_tan x x.tan(), m_atan x x.atan(),
    m_sinh x x.sinh(), m_cosh x x.cosh(), m_tanh x x.tanh(), m_asinh x asinh(x),
    m_exp x x.exp(), m_expm1 x x.exp_m1(), m_cbrt x math::cbrt(x), m_erf x math::erf(x), m_erfc x math::erfc(x),
}
limited! {
    m_asin "asin" x (-1.0..=1.0).contains(&x) => x.asin(),
    m_acos "acos" x (-1.0..=1.0).contains(&x) => x.acos(),
    m_acosh "acosh" x x >= 1.0 => acosh(x),
    m_sqrt "sqrt" x x >= 0.0 => if x == 0.0 { 0.0 } else { x.sqrt() },
    m_log1p "log1p" x x >= -1.0 => x.ln_1p(),
}
unsafe extern "C" {
    #[link_name = "asinh"]
    fn c_asinh(x: f64) -> f64;
    #[link_name = "acosh"]
    fn c_acosh(x: f64) -> f64;
    #[link_name = "atanh"]
    fn c_atanh(x: f64) -> f64;
}
fn asinh(x: f64) -> f64 {
    // SAFETY: a pure function of the C library.
    unsafe { c_asinh(x) }
}
fn acosh(x: f64) -> f64 {
    // SAFETY: a pure function of the C library.
    unsafe { c_acosh(x) }
}
fn m_atanh(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let x = arg(cx, args, 0)?;
    if x < -1.0 || x > 1.0 {
        return Err(domain_error(cx, "atanh"));
    }
    let r = if x.abs() == 1.0 {
        f64::INFINITY.copysign(x)
    } else {
        // SAFETY: a pure function of the C library.
        unsafe { c_atanh(x) }
    };
    Ok(cx.float(r))
}
fn m_atan2(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let (y, x) = (arg(cx, args, 0)?, arg(cx, args, 1)?);
    Ok(cx.float(y.atan2(x)))
}
fn m_hypot(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let (x, y) = (arg(cx, args, 0)?, arg(cx, args, 1)?);
    Ok(cx.float(x.hypot(y)))
}
/// A double and the power of two that was taken out of a large Integer.
fn log_arg(cx: &mut Cx, args: &[Value], i: usize, name: &str) -> Result<(f64, f64), Exit> {
    if let Some(b) = args[i].as_big() {
        let bits = b.n.bit_length();
        if !b.n.is_negative() && bits > 1000 {
            let cut = bits - 64;
            return Ok((b.n.shr(cut).to_f64(), cut as f64));
        }
    }
    let x = arg(cx, args, i)?;
    if x < 0.0 {
        return Err(domain_error(cx, name));
    }
    Ok((if x == 0.0 { 0.0 } else { x }, 0.0))
}
fn m_log(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let (x, bits) = log_arg(cx, args, 0, "log")?;
    if args.len() == 1 {
        return Ok(cx.float(x.ln() + bits * std::f64::consts::LN_2));
    }
    let (b, bbits) = log_arg(cx, args, 1, "log")?;
    if b == 0.0 {
        return Ok(cx.float(-0.0));
    }
    if x == 0.0 {
        let r = if b > 1.0 { f64::NEG_INFINITY } else { f64::INFINITY };
        return Ok(cx.float(r));
    }
    if b == 2.0 && bits == 0.0 {
        return Ok(cx.float(x.log2()));
    }
    if b == 10.0 && bits == 0.0 {
        return Ok(cx.float(x.log10()));
    }
    let ln2 = std::f64::consts::LN_2;
    Ok(cx.float((x.ln() + bits * ln2) / (b.ln() + bbits * ln2)))
}
fn m_log2(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let (x, bits) = log_arg(cx, args, 0, "log2")?;
    Ok(cx.float(x.log2() + bits))
}
fn m_log10(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let (x, bits) = log_arg(cx, args, 0, "log10")?;
    Ok(cx.float(x.log10() + bits * std::f64::consts::LOG10_2))
}
fn m_gamma(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let x = arg(cx, args, 0)?;
    match math::gamma(x) {
        Some(r) => Ok(cx.float(r)),
        None => Err(domain_error(cx, "gamma")),
    }
}
fn m_lgamma(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let x = arg(cx, args, 0)?;
    match math::lgamma(x) {
        Some((r, s)) => {
            let r = cx.float(r);
            Ok(cx.array(&[r, Value::fix(s as i64)]))
        }
        None => Err(domain_error(cx, "lgamma")),
    }
}
fn m_frexp(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let x = arg(cx, args, 0)?;
    let (m, e) = nf::frexp(x);
    let m = cx.float(m);
    Ok(cx.array(&[m, Value::fix(e as i64)]))
}
fn m_ldexp(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let x = arg(cx, args, 0)?;
    let e = cx.arg_c_int(args, 1)? as i64;
    Ok(cx.float(nf::ldexp(x, e)))
}

macro_rules! module_functions {
    ($($name:literal $min:literal $max:literal $f:ident),* $(,)?) => {
        pub static TABLE: &[NativeDef] = &[
            $(n("Math.", $name, $min, $max, $f), private("Math", $name, $min, $max, $f),)*
        ];
    };
}
module_functions! {
    "sin" 1 1 m_sin, "cos" 1 1 m_cos, "tan" 1 1 m_tan, "asin" 1 1 m_asin, "acos" 1 1 m_acos, "atan" 1 1 m_atan,
    "atan2" 2 2 m_atan2, "sinh" 1 1 m_sinh, "cosh" 1 1 m_cosh, "tanh" 1 1 m_tanh, "asinh" 1 1 m_asinh,
    "acosh" 1 1 m_acosh, "atanh" 1 1 m_atanh, "exp" 1 1 m_exp, "expm1" 1 1 m_expm1, "log" 1 2 m_log, "log2" 1 1 m_log2,
    "log10" 1 1 m_log10, "log1p" 1 1 m_log1p, "sqrt" 1 1 m_sqrt, "cbrt" 1 1 m_cbrt, "hypot" 2 2 m_hypot,
    "erf" 1 1 m_erf, "erfc" 1 1 m_erfc, "gamma" 1 1 m_gamma, "lgamma" 1 1 m_lgamma, "frexp" 1 1 m_frexp,
    "ldexp" 2 2 m_ldexp,
}

/// Math's constants.
pub fn constants(cx: &mut Cx) {
    let math = cx.k.math;
    for (name, x) in [("PI", std::f64::consts::PI), ("E", std::f64::consts::E)] {
        let (s, v) = (cx.intern(name), cx.float(x));
        cx.set_const(math, s, v);
    }
    let sup = cx.k.argument_error;
    cx.define_class(math, "DomainError", sup);
}
