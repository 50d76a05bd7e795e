//! Functions of Math that std lacks. `None` is Ruby's `Math::DomainError`.

/// `gamma(n + 1) = n!` for n below 23, all of them exact floats.
const FACTORIALS: [f64; 23] = [
    1.0,
    1.0,
    2.0,
    6.0,
    24.0,
    120.0,
    720.0,
    5040.0,
    40320.0,
    362_880.0,
    3_628_800.0,
    39_916_800.0,
    479_001_600.0,
    6_227_020_800.0,
    87_178_291_200.0,
    1_307_674_368_000.0,
    20_922_789_888_000.0,
    355_687_428_096_000.0,
    6_402_373_705_728_000.0,
    121_645_100_408_832_000.0,
    2_432_902_008_176_640_000.0,
    51_090_942_171_709_440_000.0,
    1_124_000_727_777_607_680_000.0,
];

/// `Math.gamma`; correctly rounded for positive integers.
pub fn gamma(x: f64) -> Option<f64> {
    if x == 0.0 {
        return Some(f64::INFINITY.copysign(x));
    }
    if x == x.floor() {
        if x < 0.0 {
            return None;
        }
        if (1.0..=23.0).contains(&x) {
            return Some(FACTORIALS[x as usize - 1]);
        }
        if (24.0..=171.0).contains(&x) {
            // The nearest double, which the approximation misses by some units in the last place.
            let product = (2..x as i64).fold(crate::BigInt::from(1i64), |n, i| n.mul_i64(i));
            return Some(product.to_f64());
        }
    }
    Some(libm::tgamma(x))
}

/// `Math.lgamma`: the logarithm of the magnitude of gamma, and its sign.
pub fn lgamma(x: f64) -> Option<(f64, i32)> {
    if x.is_infinite() {
        return if x < 0.0 { None } else { Some((x, 1)) };
    }
    if x == 0.0 {
        return Some((f64::INFINITY, if x.is_sign_negative() { -1 } else { 1 }));
    }
    let (v, sign) = libm::lgamma_r(x);
    Some((v, if sign < 0 { -1 } else { 1 }))
}

/// `Math.erf`.
pub fn erf(x: f64) -> f64 {
    libm::erf(x)
}

/// `Math.erfc`.
pub fn erfc(x: f64) -> f64 {
    libm::erfc(x)
}

/// `Math.cbrt`, with the one Newton step that CRuby adds.
pub fn cbrt(x: f64) -> f64 {
    let r = x.cbrt();
    if !r.is_finite() || r == 0.0 { r } else { (2.0 * r + (x / r / r)) / 3.0 }
}
