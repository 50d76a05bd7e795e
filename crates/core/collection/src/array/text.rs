//! Array: joined to text, inspected, summed up.

use crate::array::me;
use kumi_vm::*;

/// Text under construction, with the encoding CRuby would give it.
struct Joined {
    out: Vec<u8>,
    enc: EncIndex,
    /// All bytes so far are ASCII.
    ascii: bool,
}

impl Joined {
    fn add(&mut self, b: &[u8], enc: EncIndex) -> Option<()> {
        if enc != self.enc {
            let b_ascii = b.is_ascii();
            // A new encoding takes over only what is ASCII so far; mixtures are left to Ruby.
            if !enc.is_ascii_compatible() || !self.enc.is_ascii_compatible() {
                return None;
            }
            if !b_ascii {
                if !self.ascii {
                    return None;
                }
                self.enc = enc;
            }
        }
        self.ascii &= b.is_ascii();
        self.out.put_all(b);
        Some(())
    }
    fn value(&mut self, cx: &mut Cx, v: Value, sep: Option<Gc<StrObj>>, depth: u32) -> Option<()> {
        cx.walk()?;
        match v {
            _ if v.is_fix() => self.add(v.fix_val().to_string().as_bytes(), EncIndex::US_ASCII),
            _ if v.is_nil() => self.add(b"", EncIndex::US_ASCII),
            _ if v.is_sym() => {
                let name = cx.syms.name(v.as_sym()?).to_vec();
                let enc = if name.is_ascii() { EncIndex::US_ASCII } else { EncIndex::UTF_8 };
                self.add(&name, enc)
            }
            _ => match v.kind() {
                Some(Kind::Str) => {
                    let s = v.as_str()?;
                    self.add(s.bytes(), EncIndex::from_u8(s.enc()))
                }
                Some(Kind::Array) if depth < 50 && cx.builtin(v, sym::TO_ARY) => {
                    let a = v.as_array()?;
                    for i in 0..a.len() {
                        if i > 0 {
                            if let Some(s) = sep {
                                self.add(s.bytes(), EncIndex::from_u8(s.enc()))?;
                            }
                        }
                        self.value(cx, a.get(i)?, sep, depth + 1)?;
                    }
                    Some(())
                }
                Some(Kind::Big) => self.add(v.as_big()?.n.to_string_radix(10).as_bytes(), EncIndex::US_ASCII),
                None | Some(Kind::Float) => {
                    let f = v.as_float()?;
                    self.add(kumi_num::float::to_s(f).as_bytes(), EncIndex::US_ASCII)
                }
                _ => None,
            },
        }
    }
}

fn join(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let all = me(cx, recv)?;
    let all = all.seen();
    let sep = match args.first() {
        Some(v) if !v.is_nil() && all.is_empty() => None,
        None | Some(&Value::NIL) => match cx.get_global("$,") {
            Value::NIL => None,
            // The twin warns.
            _ => return Err(Exit::Miss),
        },
        Some(_) => Some(cx.arg_str(args, 0)?),
    };
    if !cx.builtin(Value::fix(0), sym::TO_S) || !cx.builtin(Value::NIL, sym::TO_S) {
        return Err(Exit::Miss);
    }
    let enc = all.first().and_then(|v| v.as_str()).map_or(EncIndex::US_ASCII, |s| EncIndex::from_u8(s.enc()));
    let mut j = Joined { out: Vec::room(all.len() * 8), enc, ascii: true };
    for (i, v) in all.iter().enumerate() {
        if i > 0 {
            if let Some(s) = sep {
                j.add(s.bytes(), EncIndex::from_u8(s.enc())).ok_or(Exit::Miss)?;
            }
        }
        if j.value(cx, v, sep, 0).is_none() {
            return Err(Exit::Miss);
        }
    }
    cx.heap.charge(j.out.len());
    Ok(cx.str_vec(j.out, j.enc))
}

fn inspect(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let a = me(cx, recv)?;
    let a = a.seen();
    if a.is_empty() {
        return Ok(cx.str_ascii("[]"));
    }
    let mut out = vec![b'['];
    for (i, v) in a.iter().enumerate() {
        if i > 0 {
            out.put_all(b", ");
        }
        if cx.walk().and_then(|()| cx.plain_inspect(v, &mut out, 1)).is_none() {
            return Err(Exit::Miss);
        }
    }
    out.put(b']');
    Ok(cx.str_vec(out, EncIndex::UTF_8))
}

/// `__sum_step(acc, v)`: the sum of two small Integers; else an Array of both, or `acc` with `v` at its end when it is one already.
fn i_sum_step(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    if args[0].is_fix() && args[1].is_fix() {
        return Ok(cx.int(args[0].fix_val() + args[1].fix_val()));
    }
    match args[0].as_array() {
        Some(_) => crate::array::i_push(cx, Value::NIL, args),
        None => Ok(cx.array(args)),
    }
}

/// `__ary_sum(a, init)`: the sum of plain numbers (floats with Kahan-Babuška compensation), or undef. Without `init` (undef) the first
/// element takes its place.
fn i_sum(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let a = me(cx, args[0])?;
    let plus = |cx: &mut Cx, v: Value| cx.builtin(v, sym::PLUS);
    let one = cx.float(1.0);
    if !plus(cx, Value::fix(0)) || !plus(cx, one) {
        return Ok(Value::UNDEF);
    }
    let mut int: i128 = 0;
    let mut vs = a.seen().iter();
    let init = if args[1].is_undef() { vs.next().unwrap_or(Value::fix(0)) } else { args[1] };
    if init.is_fix() {
        int = init.fix_val() as i128;
    } else if init.as_float().is_none() {
        return Ok(Value::UNDEF);
    }
    let mut head = None;
    if init.is_fix() {
        head = loop {
            match vs.next() {
                None => return Ok(cx.int128(int)),
                Some(v) if v.is_fix() => int += v.fix_val() as i128,
                Some(v) if v.as_float().is_some() => break Some(v),
                Some(_) => return Ok(Value::UNDEF),
            }
        };
    }
    let mut f = init.as_float().unwrap_or(int as f64);
    let mut c = 0.0;
    for v in head.into_iter().chain(vs) {
        let x = match (v.as_float(), v.as_fix()) {
            (Some(x), _) => x,
            (None, Some(n)) => n as f64,
            _ => match v.as_big() {
                Some(b) => b.n.to_f64(),
                None => return Ok(Value::UNDEF),
            },
        };
        // Compensation is for finite numbers: infinities and NaN go by their own rules.
        if f.is_nan() {
            continue;
        }
        if x.is_nan() {
            f = x;
            continue;
        }
        if x.is_infinite() {
            f = if f.is_infinite() && x != f { f64::NAN } else { x };
            continue;
        }
        if f.is_infinite() {
            continue;
        }
        let t = f + x;
        if f.abs() >= x.abs() {
            c += (f - t) + x;
        } else {
            c += (x - t) + f;
        }
        f = t;
    }
    Ok(cx.float(f + c))
}

/// Natives and intrinsics.
pub static TABLE: &[NativeDef] = &[
    n("Array", "join", 0, 1, join),
    n("Array", "inspect", 0, 0, inspect),
    intrinsic("__ary_sum", 2, 2, i_sum),
    intrinsic("__sum_step", 2, 2, i_sum_step),
];
