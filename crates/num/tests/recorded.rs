//! Answers recorded from CRuby (3.1, or the newer behaviour where Ruby 4.0 differs).

use kumi_num::float::{self, Rounding};
use kumi_num::format::{self, Spec};
use kumi_num::int::{self, Int};
use kumi_num::parse::{self, Component};
use kumi_num::random::Mt;
use kumi_num::{BigInt, TooLarge, math, round};

fn big(s: &str) -> BigInt {
    BigInt::from_str_radix(s.as_bytes(), 10).expect("integer")
}

#[test]
fn division_floors() {
    for (a, b, q, m, r) in [
        ("-7", "2", "-4", "1", "-1"),
        ("7", "-2", "-4", "-1", "1"),
        ("-100000000000000000000", "7", "-14285714285714285715", "5", "-2"),
        ("100000000000000000000", "-30000000000000000000", "-4", "-20000000000000000000", "10000000000000000000"),
    ] {
        let (a, b) = (big(a), big(b));
        assert_eq!(a.div_mod(&b), Some((big(q), big(m))));
        assert_eq!(a.modulo(&b), Some(big(m)));
        assert_eq!(a.div_rem(&b).map(|x| x.1), Some(big(r)));
    }
    assert_eq!(BigInt::ONE.div_mod(&BigInt::ZERO), None);
    assert_eq!(int::div_mod(-7, 2), Some((-4, 1)));
    assert_eq!((int::div_floor(i64::MIN, -1), int::modulo(i64::MIN, -1)), (None, Some(0)));
}

#[test]
fn negative_bits_reach_up_for_ever() {
    let n = big("-340282366920938463463374607431768211456");
    assert_eq!(n.bit_length(), 128);
    assert_eq!(n.shr(127), BigInt::from_i64(-2));
    assert_eq!(n.shr(u64::MAX), BigInt::from_i64(-1));
    assert!(n.bit(128) && n.bit(u64::MAX) && !n.bit(127));
    assert_eq!(n.and(&BigInt::from_i64(-1)), n);
    assert_eq!(n.not(), big("340282366920938463463374607431768211455"));
    assert_eq!(BigInt::from_i64(-129).to_le_bytes(), [0x7f, 0xff]);
    assert_eq!(BigInt::from_i64(-128).to_le_bytes(), [0x80]);
    assert_eq!(BigInt::from_i64(128).to_le_bytes(), [0x80, 0]);
    assert_eq!(BigInt::from_le_bytes(&[0x7f, 0xff], true), BigInt::from_i64(-129));
}

#[test]
fn absurd_sizes_are_refused() {
    assert_eq!(BigInt::ONE.shl(u64::MAX), Err(TooLarge));
    assert_eq!(BigInt::from_i64(3).pow(u64::MAX), Err(TooLarge));
    assert_eq!(BigInt::from_i64(-1).pow(u64::MAX), Ok(BigInt::from_i64(-1)));
    let wide = Spec { width: format::MAX_WIDTH + 1, ..Spec::default() };
    assert_eq!(format::integer(&wide, b'd', &Int::Small(1)), Err(TooLarge));
    assert_eq!(parse::rational(b"1e1000000000000", false), Err(TooLarge));
    assert_eq!(int::round_to_power(&BigInt::from_i64(5), u64::MAX, Rounding::HalfUp), Ok(BigInt::ZERO));
    assert_eq!(int::round_to_power(&BigInt::from_i64(5), u64::MAX, Rounding::Ceil), Err(TooLarge));
}

#[test]
fn floats_meet_integers_exactly() {
    assert_eq!(big("9007199254740993").to_f64(), 9007199254740992.0);
    assert_eq!(big("9007199254740995").to_f64(), 9007199254740996.0);
    assert_eq!(BigInt::ONE.shl(1024).unwrap().to_f64(), f64::INFINITY);
    assert_eq!(big("9007199254740993").cmp_f64(9007199254740992.0), Some(std::cmp::Ordering::Greater));
    assert_eq!(int::cmp_f64(i64::MAX, 9223372036854775808.0), Some(std::cmp::Ordering::Less));
    assert_eq!(int::cmp_f64(-3, -3.5), Some(std::cmp::Ordering::Greater));
    assert_eq!(BigInt::from_f64(-1e20), Some(big("-100000000000000000000")));
    assert_eq!(BigInt::from_f64(f64::NAN), None);
    assert_eq!(big("123456789012345678901234567890").fdiv(&BigInt::from_i64(7)), 1.763668414462081e28);
}

#[test]
fn float_to_s() {
    for (x, s) in [
        (1e20, "1.0e+20"),
        (1e-5, "1.0e-05"),
        (0.0001, "0.0001"),
        (100.0, "100.0"),
        (1e15, "1.0e+15"),
        (999999999999999.0, "999999999999999.0"),
        (1234567890123456.0, "1.234567890123456e+15"),
        (4042117350000391.5, "4042117350000391.5"),
        (-0.0, "-0.0"),
        (5e-324, "5.0e-324"),
        (f64::MAX, "1.7976931348623157e+308"),
        (f64::NEG_INFINITY, "-Infinity"),
        (f64::NAN, "NaN"),
        (0.1 + 0.2, "0.30000000000000004"),
    ] {
        assert_eq!(float::to_s(x), s);
    }
}

#[test]
fn rounding_to_digits() {
    use Rounding::*;
    for (x, n, mode, want) in [
        (5.015, 2, HalfUp, 5.02),
        (2.5, 0, HalfEven, 2.0),
        (2.675, 2, HalfDown, 2.67),
        (-2.5, 0, HalfUp, -3.0),
        (0.49999999999999994, 0, HalfUp, 0.0),
        (291.4, 1, Floor, 291.4),
        (-1.234, 2, Floor, -1.24),
        (5.123812, 4, Ceil, 5.1239),
        (-5.7, 0, Truncate, -5.0),
        (1e-20, 5, Ceil, 1e-5),
        (1e300, 400, HalfUp, 1e300),
    ] {
        assert_eq!(round::to_places(x, n, mode), want, "{x} {n} {mode:?}");
    }
    assert_eq!(round::to_power(12345.678, 2, HalfUp), Some(Ok(BigInt::from_i64(12300))));
    assert_eq!(round::to_power(25.0, 1, HalfEven), Some(Ok(BigInt::from_i64(20))));
    assert_eq!(round::to_power(f64::NAN, 0, HalfUp), None);
    assert_eq!(int::round_to_power(&BigInt::from_i64(-15), 1, HalfUp), Ok(BigInt::from_i64(-20)));
}

#[test]
fn fractions() {
    let f = |n, d| Some((BigInt::from_i64(n), BigInt::from_i64(d)));
    assert_eq!(float::to_rational(0.75), f(3, 4));
    assert_eq!(float::rationalize(0.3), f(3, 10));
    assert_eq!(float::rationalize(-3.15), f(-63, 20));
    assert_eq!(float::rationalize(1e22), Some((big("10000000000000000000000"), BigInt::ONE)));
    let (a, b, d) = (BigInt::from_i64(313), BigInt::from_i64(315), BigInt::from_i64(100));
    assert_eq!(Some(float::simplest_between((&a, &d), (&b, &d))), f(22, 7));
}

#[test]
fn integers_from_text() {
    let small = |n| Some(Int::Small(n));
    for (s, base, lenient, strict) in [
        ("0x1A", 16, 26, small(26)),
        ("0x1A", 0, 26, small(26)),
        ("0b11", 16, 2833, small(2833)),
        ("017", 0, 15, small(15)),
        ("09", 0, 0, None),
        (" -1_000 ", 10, -1000, small(-1000)),
        ("1__2", 10, 1, None),
        ("1_", 10, 1, None),
        ("_1", 10, 0, None),
        ("0x_1", 16, 0, None),
        ("- 1", 10, 0, None),
        ("zz", 36, 1295, small(1295)),
        ("12abc", 10, 12, None),
        ("", 10, 0, None),
        ("0x", 0, 0, None),
    ] {
        assert_eq!(parse::integer(s.as_bytes(), base, false), small(lenient), "{s}");
        assert_eq!(parse::integer(s.as_bytes(), base, true), strict, "{s}");
    }
    let n = parse::integer(b"-9223372036854775809", 10, true);
    assert_eq!(n, Some(Int::Big(big("-9223372036854775809"))));
    assert_eq!(parse::integer(b"-9223372036854775808", 10, true), small(i64::MIN));
}

#[test]
fn floats_from_text() {
    for (s, lenient, strict) in [
        ("1.", 1.0, Some(1.0)),
        ("1.E-1", 0.1, Some(0.1)),
        (".5", 0.5, Some(0.5)),
        ("1e", 1.0, None),
        ("1_0.5_0", 10.5, Some(10.5)),
        ("1._5", 1.0, None),
        ("1__0", 1.0, None),
        ("0x1.8p1", 0.0, Some(3.0)),
        ("0x1_0a", 0.0, Some(266.0)),
        ("0x1p", 0.0, None),
        (" 1.5 ", 1.5, Some(1.5)),
        ("1e400", f64::INFINITY, Some(f64::INFINITY)),
        ("Infinity", 0.0, None),
        ("1.5.6", 1.5, None),
    ] {
        assert_eq!(parse::float(s.as_bytes(), false), Some(lenient), "{s}");
        assert_eq!(parse::float(s.as_bytes(), true), strict, "{s}");
    }
}

#[test]
fn fractions_and_complex_from_text() {
    let r = |n, d| Ok(Some((BigInt::from_i64(n), BigInt::from_i64(d))));
    assert_eq!(parse::rational(b" -1.5/2 ", true), r(-3, 4));
    assert_eq!(parse::rational(b"1e2/3e1", false), r(10, 3));
    assert_eq!(parse::rational(b"1/ 3", false), r(1, 1));
    assert_eq!(parse::rational(b"1/3x", true), Ok(None));
    assert_eq!(parse::rational(b"1/0", true), r(1, 0));
    let c = |s: &str| parse::complex(s.as_bytes(), false).unwrap().map(|c| (c.first, c.second, c.polar));
    let i = |n| Component::Int(Int::Small(n));
    assert_eq!(c("1+2i"), Some((i(1), Some(i(2)), false)));
    assert_eq!(c("-i"), Some((i(0), Some(i(-1)), false)));
    assert_eq!(c("1@-2"), Some((i(1), Some(i(-2)), true)));
    assert_eq!(c("1.5e3-2.5e-1i"), Some((Component::Float(1500.0), Some(Component::Float(-0.25)), false)));
    assert_eq!(c("1 + 2i"), Some((i(1), None, false)));
    let l = parse::literal(b"1.5ri").unwrap().unwrap();
    assert_eq!((l.value, l.imaginary), (Component::Rational(BigInt::from_i64(3), BigInt::from_i64(2)), true));
}

/// Reads a directive the way the caller of this crate would.
fn directive(dir: &str) -> (Spec, u8) {
    let (flags, rest) = dir.split_at(dir.find(|c| !" +-0#".contains(c)).unwrap());
    let (number, conv) = rest.split_at(rest.len() - 1);
    let (width, precision) = match number.split_once('.') {
        Some((w, p)) => (w, Some(p.parse().unwrap_or(0))),
        None => (number, None),
    };
    let has = |c| flags.contains(c);
    let width = width.parse().unwrap_or(0);
    let spec = Spec { minus: has('-'), plus: has('+'), space: has(' '), zero: has('0'), alt: has('#'), width, precision };
    (spec, conv.as_bytes()[0])
}

#[test]
fn formatted() {
    for (dir, n, want) in [
        ("05d", -42, "-0042"),
        ("+x", -255, "-ff"),
        ("x", -255, "..f01"),
        ("#x", -255, "0x..f01"),
        ("08x", -255, "..ffff01"),
        (".10x", -123, "..ffffff85"),
        ("#o", -123, "..7605"),
        ("b", -5, "..1011"),
        ("#X", 255, "0XFF"),
        ("05.3d", 42, "  042"),
        (".0d", 0, ""),
    ] {
        let (s, c) = directive(dir);
        assert_eq!(format::integer(&s, c, &Int::Small(n)).unwrap(), want, "{dir}");
    }
    for (dir, x, want) in [
        ("f", 0.5, "0.500000"),
        (".0f", 2.5, "2"),
        ("08.2f", -1.005, "-0001.00"),
        ("e", 12345.678, "1.234568e+04"),
        ("g", 1e10, "1e+10"),
        ("#g", 1.0, "1.00000"),
        ("G", 1e-10, "1E-10"),
        ("a", 1.5, "0x1.8p+0"),
        (".0a", 1.5, "0x1p+1"),
        ("a", 5e-324, "0x1p-1074"),
        ("020a", -1.5, "-0x000000000001.8p+0"),
        ("08f", f64::INFINITY, "     Inf"),
        ("+f", f64::NAN, "+NaN"),
        (".30f", 0.1, "0.100000000000000005551115123126"),
    ] {
        let (s, c) = directive(dir);
        assert_eq!(format::float(&s, c, x).unwrap(), want, "{dir}");
    }
    let (s, _) = directive("+.20f");
    let third = format::ratio(&s, &BigInt::ONE, &BigInt::from_i64(3)).unwrap();
    assert_eq!(third, "+0.33333333333333333333");
}

#[test]
fn random_sequences() {
    let mut r = Mt::new(&BigInt::from_i64(42));
    assert_eq!(r.below(&Int::Small(100)), Some(Int::Small(51)));
    let mut r = Mt::new(&BigInt::from_i64(42));
    assert_eq!(r.real(), 0.3745401188473625);
    // The guard word is not part of the key, the third one is.
    assert_eq!(Mt::new(&BigInt::from_i64((1 << 32) + 5)).real(), 0.22199317108973948);
    assert_eq!(Mt::new(&BigInt::from_i64((1 << 33) + 5)).real(), 0.7416304072852293);
    let mut r = Mt::new(&BigInt::from_i64(1));
    assert_eq!(r.in_range(&Int::Small(5), &Int::Small(4), false), None);
    assert_eq!(r.below(&Int::Small(0)), None);
}

#[test]
fn special_functions() {
    assert_eq!(math::gamma(5.0), Some(24.0));
    assert_eq!(math::gamma(23.0), Some(1.1240007277776077e21));
    assert_eq!(math::gamma(-1.0), None);
    assert_eq!(math::lgamma(-0.5).map(|x| x.1), Some(-1));
    assert_eq!(math::lgamma(f64::NEG_INFINITY), None);
    assert_eq!(math::cbrt(27.0), 3.0);
    assert_eq!(math::erf(0.0) + math::erfc(0.0), 1.0);
}

/// Whatever comes in, something comes out.
#[test]
fn noise_never_panics() {
    let mut r = Mt::new(&BigInt::from_i64(7));
    let alphabet = b"0019_.eExXpPbo+-/@iIr af\0\xff\n\t";
    for _ in 0..20_000 {
        let len = r.limited(14) as usize;
        let text: Vec<u8> = (0..len).map(|_| alphabet[r.limited(alphabet.len() as u64 - 1) as usize]).collect();
        let base = r.limited(100) as i64 - 50;
        for strict in [false, true] {
            let n = parse::integer(&text, base, strict);
            let x = parse::float(&text, strict);
            assert!(strict || (n.is_some() && x.is_some()), "{text:?}");
            let _ = (parse::rational(&text, strict), parse::complex(&text, strict), parse::literal(&text));
            let bits = (r.next_u32() as u64) << 32 | r.next_u32() as u64;
            let x = x.unwrap_or(f64::from_bits(bits));
            let flag = |i: u32| bits >> i & 1 == 1;
            let spec = Spec {
                minus: flag(0),
                plus: flag(1),
                space: flag(2),
                zero: flag(3),
                alt: flag(4),
                width: r.limited(30) as usize,
                precision: flag(5).then(|| r.limited(2000) as usize),
            };
            let conv = b"dxXobBfeEgGaA"[r.limited(12) as usize];
            let n = n.unwrap_or(Int::Small(bits as i64));
            assert!(format::integer(&spec, conv, &n).is_ok_and(|s| s.len() >= spec.width));
            assert!(format::float(&spec, conv, x).is_ok_and(|s| s.len() >= spec.width));
            let places = r.limited(800) as i64 - 400;
            let y = f64::from_bits(bits);
            for mode in [Rounding::Floor, Rounding::Ceil, Rounding::Truncate, Rounding::HalfUp, Rounding::HalfEven, Rounding::HalfDown] {
                let _ = (round::to_places(y, places, mode), round::to_power(y, places.unsigned_abs(), mode));
            }
            // The shortest digits read back as the same float.
            if y.is_finite() {
                assert_eq!(float::to_s(y).parse::<f64>().ok(), Some(y));
                assert_eq!(parse::float(float::to_s(y).as_bytes(), true), Some(y));
            }
            let _ = (float::div_mod(y, x), float::modulo(y, x), float::ldexp(y, base), float::frexp(y));
            let _ = (math::gamma(y), math::lgamma(y), math::erf(y), math::cbrt(y));
        }
    }
}
