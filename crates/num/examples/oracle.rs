//! Checks answers recorded from CRuby: see `oracle.rb` beside this file.

use std::io::BufRead;

use kumi_num::float::{self, Rounding};
use kumi_num::format::{self, Spec};
use kumi_num::int::{self, Int};
use kumi_num::parse::{self, Component};
use kumi_num::random::Mt;
use kumi_num::{BigInt, round};

fn big(s: &str) -> BigInt {
    BigInt::from_str_radix(s.as_bytes(), 10).expect("integer")
}

fn flt(s: &str) -> f64 {
    f64::from_bits(u64::from_str_radix(s, 16).expect("float"))
}

fn bits(x: f64) -> String {
    if x.is_nan() { "nan".into() } else { format!("{:016x}", x.to_bits()) }
}

fn text(s: &str) -> Vec<u8> {
    (0..s.len() / 2).map(|i| u8::from_str_radix(&s[2 * i..2 * i + 2], 16).expect("hex")).collect()
}

fn hex(s: &[u8]) -> String {
    s.iter().map(|b| format!("{b:02x}")).collect()
}

fn mode(s: &str) -> Rounding {
    match s {
        "floor" => Rounding::Floor,
        "ceil" => Rounding::Ceil,
        "trunc" => Rounding::Truncate,
        "even" => Rounding::HalfEven,
        "down" => Rounding::HalfDown,
        _ => Rounding::HalfUp,
    }
}

fn spec(dir: &[u8]) -> (Spec, u8) {
    let mut s = Spec::default();
    let mut i = 1;
    loop {
        match dir[i] {
            b' ' => s.space = true,
            b'+' => s.plus = true,
            b'-' => s.minus = true,
            b'0' => s.zero = true,
            b'#' => s.alt = true,
            _ => break,
        }
        i += 1;
    }
    while dir[i].is_ascii_digit() {
        s.width = s.width * 10 + (dir[i] - b'0') as usize;
        i += 1;
    }
    if dir[i] == b'.' {
        i += 1;
        let mut p = 0;
        while dir[i].is_ascii_digit() {
            p = p * 10 + (dir[i] - b'0') as usize;
            i += 1;
        }
        s.precision = Some(p);
    }
    (s, dir[i])
}

fn opt(n: Option<Int>) -> String {
    n.map_or("nil".into(), |n| n.to_big().to_string())
}

fn ratio((n, d): (BigInt, BigInt)) -> String {
    if d.is_zero() { "zero".into() } else { format!("{n}/{d}") }
}

fn comp(c: &Component) -> String {
    match c {
        Component::Int(n) => n.to_big().to_string(),
        Component::Float(x) => bits(*x),
        Component::Rational(n, d) => ratio((n.clone(), d.clone())),
    }
}

fn complex(s: &[u8], strict: bool) -> String {
    match parse::complex(s, strict) {
        Ok(Some(c)) => {
            let im = c.second.as_ref().map_or("0".into(), comp);
            format!("{} {im}", comp(&c.first))
        }
        _ => "nil".into(),
    }
}

fn answer(op: &str, a: &[&str]) -> String {
    match op {
        "add" => big(a[0]).add(&big(a[1])).to_string(),
        "sub" => big(a[0]).sub(&big(a[1])).to_string(),
        "mul" => big(a[0]).mul(&big(a[1])).to_string(),
        "and" => big(a[0]).and(&big(a[1])).to_string(),
        "or" => big(a[0]).or(&big(a[1])).to_string(),
        "xor" => big(a[0]).xor(&big(a[1])).to_string(),
        "gcd" => big(a[0]).gcd(&big(a[1])).to_string(),
        "lcm" => big(a[0]).lcm(&big(a[1])).to_string(),
        "div" => big(a[0]).div_floor(&big(a[1])).unwrap().to_string(),
        "mod" => big(a[0]).modulo(&big(a[1])).unwrap().to_string(),
        "rem" => big(a[0]).div_rem(&big(a[1])).unwrap().1.to_string(),
        "fdiv" => match (big(a[0]).to_i64(), big(a[1]).to_i64()) {
            (Some(x), Some(y)) => bits(int::fdiv(x, y)),
            _ => bits(big(a[0]).fdiv(&big(a[1]))),
        },
        "modpow" => big(a[0]).modpow(&big(a[1]), &big(a[2])).unwrap().to_string(),
        "shl" => big(a[0]).shl(a[1].parse().unwrap()).unwrap().to_string(),
        "shr" => big(a[0]).shr(a[1].parse().unwrap()).to_string(),
        "bit" => (big(a[0]).bit(a[1].parse().unwrap()) as i32).to_string(),
        "bitlen" => big(a[0]).bit_length().to_string(),
        "isqrt" => big(a[0]).isqrt().unwrap().to_string(),
        "tof" => bits(big(a[0]).to_f64()),
        "radix" => {
            let n = big(a[0]);
            let s = n.to_string_radix(a[1].parse().unwrap());
            assert_eq!(BigInt::from_str_radix(s.as_bytes(), a[1].parse().unwrap()), Some(n.clone()));
            assert_eq!(BigInt::from_le_bytes(&n.to_le_bytes(), true), n);
            hex(s.as_bytes())
        }
        "digits" => {
            let d = big(a[0]).digits(&big(a[1])).unwrap();
            d.iter().map(|d| d.to_string()).collect::<Vec<_>>().join(",")
        }
        "cmpf" => (big(a[0]).cmp_f64(flt(a[1])).unwrap() as i32).to_string(),
        "iround" => int::round_to_power(&big(a[0]), a[1].parse().unwrap(), mode(a[2])).unwrap().to_string(),
        "fs" => hex(float::to_s(flt(a[0])).as_bytes()),
        "fromf" => BigInt::from_f64(flt(a[0])).unwrap().to_string(),
        "tor" => ratio(float::to_rational(flt(a[0])).unwrap()),
        "ration" => ratio(float::rationalize(flt(a[0])).unwrap()),
        "fround" => {
            let (x, n): (f64, i64) = (flt(a[0]), a[1].parse().unwrap());
            if n > 0 {
                bits(round::to_places(x, n, mode(a[2])))
            } else {
                round::to_power(x, n.unsigned_abs(), mode(a[2])).unwrap().unwrap().to_string()
            }
        }
        "fmod" => bits(float::modulo(flt(a[0]), flt(a[1]))),
        "fdivmod" => {
            let (q, m) = float::div_mod(flt(a[0]), flt(a[1])).unwrap();
            format!("{}\t{}", BigInt::from_f64(q).unwrap(), bits(m))
        }
        "next" => bits(float::next_float(flt(a[0]))),
        "prev" => bits(float::prev_float(flt(a[0]))),
        "ldexp" => bits(float::ldexp(flt(a[0]), a[1].parse().unwrap())),
        "fmti" => {
            let (s, c) = spec(&text(a[0]));
            hex(format::integer(&s, c, &big(a[1]).into()).unwrap().as_bytes())
        }
        "fmtf" => {
            let (s, c) = spec(&text(a[0]));
            hex(format::float(&s, c, flt(a[1])).unwrap().as_bytes())
        }
        "fmtr" => {
            let (s, _) = spec(&text(a[0]));
            hex(format::ratio(&s, &big(a[1]), &big(a[2])).unwrap().as_bytes())
        }
        "toi" => opt(parse::integer(&text(a[0]), a[1].parse().unwrap(), false)),
        "integer" => opt(parse::integer(&text(a[0]), a[1].parse().unwrap(), true)),
        "tofl" => bits(parse::float(&text(a[0]), false).unwrap()),
        "float" => parse::float(&text(a[0]), true).map_or("nil".into(), bits),
        "tor_s" => ratio(parse::rational(&text(a[0]), false).unwrap().unwrap()),
        "rational" => parse::rational(&text(a[0]), true).unwrap().map_or("nil".into(), ratio),
        "toc" => complex(&text(a[0]), false),
        "complex" => complex(&text(a[0]), true),
        "rand" => {
            let mut r = Mt::new(&big(a[0]));
            let (lim, x, y) = (big(a[1]), flt(a[2]), flt(a[3]));
            let mut out = vec![bits(r.real())];
            out.push(opt(r.below(&lim.clone().into())));
            out.push(opt(r.below(&Int::Small(100))));
            out.push(bits(r.in_float_range(x, y, false).unwrap()));
            out.push(bits(r.in_float_range(x, y, true).unwrap()));
            out.push(opt(r.in_range(&lim.neg().into(), &lim.into(), false)));
            let n: usize = a[10].split(':').next().unwrap().parse().unwrap();
            let mut b = vec![0; n];
            r.fill_bytes(&mut b);
            out.push(format!("{n}:{}", hex(&b)));
            let (state, left) = r.dump();
            out.push(bits(Mt::load(&state, left).unwrap().real()));
            out.join("\t")
        }
        _ => panic!("unknown operation {op}"),
    }
}

fn main() {
    let (mut count, mut wrong) = (0, std::collections::BTreeMap::<String, usize>::new());
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("input");
        let fields: Vec<&str> = line.split('\t').collect();
        let op = fields[0];
        let answers = match op {
            "rand" => 8,
            "fdivmod" => 2,
            _ => 1,
        };
        let (args, want) = fields[1..].split_at(fields.len() - 1 - answers);
        let mut want = want.join("\t");
        if matches!(op, "fmod" | "tof") && flt(&want).is_nan() {
            want = "nan".into();
        }
        let args = if op == "rand" { &fields[1..] } else { args };
        let got = answer(op, args);
        count += 1;
        if got != want {
            let n = wrong.entry(op.to_string()).or_default();
            *n += 1;
            if *n <= 6 {
                let show = |s: &str| String::from_utf8_lossy(&text(s)).into_owned();
                match op {
                    "toi" | "integer" | "tofl" | "float" | "tor_s" | "rational" | "toc" | "complex" => {
                        println!("{op} {:?} {:?}: want {want} got {got}", show(args[0]), &args[1..])
                    }
                    "fmti" | "fmtf" | "fmtr" => {
                        let v = if op == "fmtf" { format!("{:?}", flt(args[1])) } else { args[1..].join("/") };
                        println!("{op} {:?} {v}: want {:?} got {:?}", show(args[0]), show(&want), show(&got))
                    }
                    "fround" => println!("{op} {:?} {:?}: want {want} got {got}", flt(args[0]), &args[1..]),
                    _ => println!("{op} {args:?}: want {want} got {got}"),
                }
            }
        }
    }
    println!("{count} answers, wrong: {wrong:?}");
}
