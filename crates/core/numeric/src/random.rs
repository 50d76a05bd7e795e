//! Random: generators, and what Array#shuffle and its kin draw from.
//!
//! Invariant: a generator gives the sequence CRuby gives for the same seed. The
//! default generator lives in the runtime's state, seeded from the system on first use.

use crate::convert::int_value;
use crate::real::*;
use kumi_num::BigInt;
use kumi_num::int::Int;
use kumi_num::random::{self, Mt};
use kumi_vm::*;

/// A generator and the seed it was made from.
#[derive(Clone)]
struct Rng {
    mt: Mt,
    seed: BigInt,
}

impl Rng {
    fn new(seed: BigInt) -> Rng {
        Rng { mt: Mt::new(&seed), seed }
    }
}

/// The payload of a Random; `None` until `initialize` has run.
#[derive(Default)]
struct RandomData(Option<Box<Rng>>);

impl Payload for RandomData {
    fn bytes(&self) -> usize {
        2600
    }
    /// No values in it.
    fn confined(&self) -> bool {
        true
    }
}

/// The default generator.
#[derive(Default)]
struct DefaultRng(Option<Box<Rng>>);

/// A child of a fork draws numbers of its own from the default generator, as in CRuby; other generators go on as they were.
pub fn boot(cx: &mut Cx) {
    cx.boot().fork_hooks.push(|cx| cx.state::<DefaultRng>().0 = None);
}

/// Draws from an object's own generator, or from the default one for anything else.
fn rng<T>(cx: &mut Cx, v: Value, f: impl FnOnce(&mut Rng) -> T) -> T {
    let fresh = || Box::new(Rng::new(random::new_seed()));
    if let Some(d) = cx.heap.edit_data::<RandomData>(v) {
        return f(d.0.get_or_insert_with(fresh));
    }
    f(cx.state::<DefaultRng>().0.get_or_insert_with(fresh))
}
fn as_int(v: Value) -> Int {
    match v.as_fix() {
        Some(i) => Int::Small(i),
        None => (*big(v)).clone().into(),
    }
}
/// A generator's class in the prelude's table of builtin ones?
fn rnd_allocate(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let c = recv.as_class().unwrap_or(cx.k.random);
    Ok(cx.data(c, RandomData::default()))
}
/// `__random_seed(random_or_nil, seed)`: seeds anew; the old seed.
fn x_seed(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let seed = (*big(cx.arg_int(args, 1)?)).clone();
    let old = rng(cx, args[0], |r| std::mem::replace(r, Rng::new(seed))).seed;
    Ok(cx.big(old))
}
/// `__random_get_seed(random_or_nil)`
fn x_get_seed(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let s = rng(cx, args[0], |r| r.seed.clone());
    Ok(cx.big(s))
}
/// `__random_new_seed()`
fn x_new_seed(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    Ok(cx.big(random::new_seed()))
}
/// `__random_int(random_or_nil, n)`: an Integer in `0...n`.
fn x_int(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let n = cx.arg_int(args, 1)?;
    let n = as_int(n);
    match rng(cx, args[0], |r| r.mt.below(&n)) {
        Some(i) => Ok(int_value(cx, i)),
        None => Err(cx.arg_error("invalid argument")),
    }
}
/// `__random_int_range(random_or_nil, first, last, exclusive)`: nil for an empty range.
fn x_int_range(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let (lo, hi) = (cx.arg_int(args, 1)?, cx.arg_int(args, 2)?);
    let (lo, hi) = (as_int(lo), as_int(hi));
    match rng(cx, args[0], |r| r.mt.in_range(&lo, &hi, args[3].truthy())) {
        Some(i) => Ok(int_value(cx, i)),
        None => Ok(Value::NIL),
    }
}
/// `__random_real(random_or_nil)`: a Float in `0.0...1.0`.
fn x_real(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let f = rng(cx, args[0], |r| r.mt.real());
    Ok(cx.float(f))
}
/// `__random_float_range(random_or_nil, first, last, exclusive)`: nil for an empty range.
fn x_float_range(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let (lo, hi) = (cx.arg_f64(args, 1)?, cx.arg_f64(args, 2)?);
    match rng(cx, args[0], |r| r.mt.in_float_range(lo, hi, args[3].truthy())) {
        Some(f) => Ok(cx.float(f)),
        None => Ok(Value::NIL),
    }
}
/// A draw below a plain limit, or in a range of fixnums; everything else is the twin's.
fn draw(cx: &mut Cx, source: Value, limit: Value) -> R {
    if let Some(n @ 1..) = limit.as_fix() {
        let i = rng(cx, source, |r| r.mt.limited(n as u64 - 1));
        return Ok(cx.uint(i));
    }
    if let Some(r) = limit.as_range() {
        if let (Some(lo), Some(hi)) = (r.lo.as_fix(), r.hi.as_fix()) {
            let span = hi - lo - r.exclusive() as i64;
            if span >= 0 {
                let i = rng(cx, source, |r| r.mt.limited(span as u64));
                return Ok(cx.int(lo + i as i64));
            }
        }
    }
    Err(Exit::Miss)
}
fn rnd_rand(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    match args.first() {
        None => x_real(cx, Value::NIL, &[recv]),
        Some(limit) => draw(cx, recv, *limit),
    }
}
/// Kernel#rand and Random.rand.
fn k_rand(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    match args.first() {
        None => x_real(cx, Value::NIL, &[Value::NIL]),
        Some(limit) => draw(cx, Value::NIL, *limit),
    }
}
/// `__random_bytes(random_or_nil, n)`
fn x_bytes(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let n = byte_count(cx, args, 1)?;
    let mut out = vec![0; n];
    rng(cx, args[0], |r| r.mt.fill_bytes(&mut out));
    Ok(cx.str_vec(out, EncIndex::BINARY))
}
fn byte_count(cx: &mut Cx, args: &[Value], i: usize) -> Result<usize, Exit> {
    let n = cx.arg_i64(args, i)?;
    let Ok(n) = usize::try_from(n) else {
        return Err(cx.arg_error("negative string size (or size too big)"));
    };
    cx.check_size(n)?;
    Ok(n)
}
/// `__random_os_bytes(n)`: bytes from the operating system.
fn x_os_bytes(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let n = byte_count(cx, args, 0)?;
    let mut out = vec![0; n];
    if !random::os_bytes(&mut out) {
        return Err(cx.runtime_error("failed to get urandom"));
    }
    Ok(cx.str_vec(out, EncIndex::BINARY))
}
fn rnd_eq(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    if cx.real_class(recv) != cx.real_class(args[0]) {
        return Ok(Value::FALSE);
    }
    if recv == args[0] {
        return Ok(Value::TRUE);
    }
    let a = rng(cx, recv, |r| r.clone());
    let b = rng(cx, args[0], |r| r.clone());
    Ok(Value::bool(a.mt == b.mt && a.seed == b.seed))
}
/// `__random_copy(to, from)`
fn x_copy(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    cx.check_frozen(args[0])?;
    if args[0].as_data::<RandomData>().is_none() || args[1].as_data::<RandomData>().is_none() {
        return Err(cx.type_error("wrong argument type"));
    }
    let from = rng(cx, args[1], |r| r.clone());
    rng(cx, args[0], |r| *r = from);
    Ok(args[0])
}
/// `__random_dump(random)`: `[state, left, seed]`
fn x_dump(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let ((state, left), seed) = rng(cx, args[0], |r| (r.mt.dump(), r.seed.clone()));
    let (state, seed) = (cx.big(state), cx.big(seed));
    Ok(cx.array(&[state, Value::fix(left as i64), seed]))
}
/// `__random_load(random, [state, left, seed])`
fn x_load(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let parts: Vec<Value> = args[1].as_array().map(|a| a.seen().to_vec()).unwrap_or_default();
    let [state, left, seed] = parts[..] else {
        return Err(cx.arg_error("wrong dump data"));
    };
    let left = left.as_fix().and_then(|n| usize::try_from(n).ok());
    if !is_int(state) || !is_int(seed) {
        return Err(cx.arg_error("wrong dump data"));
    }
    match left.and_then(|l| Mt::load(&big(state), l)) {
        Some(mt) => {
            let fresh = Rng { mt, seed: (*big(seed)).clone() };
            rng(cx, args[0], |r| *r = fresh);
            Ok(args[0])
        }
        None => Err(cx.arg_error("wrong value")),
    }
}

pub static TABLE: &[NativeDef] = &[
    n("Random::Base.", "allocate", 0, 0, rnd_allocate),
    n("Random::Base", "==", 1, 1, rnd_eq),
    n("Random::Base", "rand", 0, 1, rnd_rand),
    n("Random.", "rand", 0, 1, k_rand).guard(Guard::None),
    private("Kernel", "rand", 0, 1, k_rand).guard(Guard::None),
    n("Kernel.", "rand", 0, 1, k_rand).guard(Guard::None),
    intrinsic("__random_seed", 2, 2, x_seed),
    intrinsic("__random_get_seed", 1, 1, x_get_seed),
    intrinsic("__random_new_seed", 0, 0, x_new_seed).guard(Guard::None),
    intrinsic("__random_int", 2, 2, x_int),
    intrinsic("__random_int_range", 4, 4, x_int_range),
    intrinsic("__random_real", 1, 1, x_real),
    intrinsic("__random_float_range", 4, 4, x_float_range),
    intrinsic("__random_bytes", 2, 2, x_bytes),
    intrinsic("__random_os_bytes", 1, 1, x_os_bytes).guard(Guard::None),
    intrinsic("__random_copy", 2, 2, x_copy),
    intrinsic("__random_dump", 1, 1, x_dump),
    intrinsic("__random_load", 2, 2, x_load),
];
