//! Time: a moment, and the zone whose clocks show it.
//!
//! Invariant: the moment is `secs` since 1970 (floored), `nsec` below a second and
//! `beyond`, a Rational below one nanosecond (or 0), so that every Rational is kept
//! exactly. The zone only matters for the fields; they are computed when asked for.

pub(crate) mod clock;
pub(crate) mod fields;

use kumi_core_numeric::real::{self, Num, num};
use kumi_num::{BigInt, float as nf};
use kumi_text::civil;
use kumi_text::timezone::{self, LocalZone};
use kumi_vm::*;
use std::cmp::Ordering;
use std::sync::OnceLock;

/// Whose clocks show the moment.
#[derive(Clone)]
pub enum Zone {
    /// The machine's; looked up when the fields are first asked for.
    Local(OnceLock<LocalZone>),
    Utc,
    /// Seconds east of UTC.
    Fixed(i32),
    /// The same with a part of a second: a Rational between 0 and 1.
    Exact(i32, Value),
    /// A timezone object, which gave that offset for this moment.
    Object(i32, Value),
}

/// The payload of a Time.
#[derive(Clone)]
pub struct TimeData {
    pub secs: i128,
    pub nsec: u32,
    /// Part below a nanosecond, in nanoseconds: a Rational, or 0.
    pub beyond: Value,
    pub zone: Zone,
    /// `allocate` made it and nothing has set it yet.
    pub unset: bool,
}

impl Payload for TimeData {
    fn trace(&self, m: &mut Marker) {
        m.mark(self.beyond);
        if let Zone::Object(_, v) | Zone::Exact(_, v) = self.zone {
            m.mark(v);
        }
    }
    fn bytes(&self) -> usize {
        80
    }
    /// Values come in by `set` only.
    fn confined(&self) -> bool {
        true
    }
}

impl TimeData {
    /// Whole seconds east of UTC at this moment.
    pub fn offset(&self) -> i32 {
        match &self.zone {
            Zone::Local(z) => z.get_or_init(|| timezone::local_zone(self.secs)).offset,
            Zone::Utc => 0,
            Zone::Fixed(o) | Zone::Exact(o, _) | Zone::Object(o, _) => *o,
        }
    }
    /// The moment as the zone's clocks show it: seconds, nanoseconds and the rest.
    pub fn clock(&self, cx: &mut Cx) -> Result<(i128, u32, Value), Exit> {
        let here = (self.secs + self.offset() as i128, self.nsec, self.beyond);
        if let Zone::Exact(_, part) = self.zone {
            if let Some(part) = split(cx, part)? {
                return sum(cx, here, part);
            }
        }
        Ok(here)
    }
    /// The local zone, when it is one.
    pub fn local(&self) -> Option<&LocalZone> {
        match &self.zone {
            Zone::Local(z) => Some(z.get_or_init(|| timezone::local_zone(self.secs))),
            _ => None,
        }
    }
}

/// The payload of a Time argument.
pub fn time_of(v: &Value) -> Option<&TimeData> {
    v.as_data::<TimeData>()
}
/// The payload of the receiver; TypeError before `initialize`.
pub fn receiver<'v>(cx: &mut Cx, v: &'v Value) -> Result<&'v TimeData, Exit> {
    time_of(v).filter(|t| !t.unset).ok_or_else(|| cx.type_error("uninitialized Time"))
}

// --- exact numbers -------------------------------------------------------------

const BILLION: i64 = 1_000_000_000;

/// Seconds whose year fits 64 bits.
fn within(cx: &mut Cx, secs: Option<i128>) -> Result<i128, Exit> {
    match secs {
        Some(s) if s.unsigned_abs() < 1 << 87 => Ok(s),
        _ => Err(cx.range_error("time out of range")),
    }
}
/// A number of seconds as whole seconds, nanoseconds and the rest; `None` for no built-in real.
pub fn split(cx: &mut Cx, v: Value) -> Result<Option<(i128, u32, Value)>, Exit> {
    let (n, d) = match num(cx, v) {
        Num::Fix(i) => return Ok(Some((i as i128, 0, Value::fix(0)))),
        Num::Big(b) => {
            let secs = within(cx, b.n.to_i128())?;
            return Ok(Some((secs, 0, Value::fix(0))));
        }
        Num::Flo(f) => match nf::to_rational(f) {
            Some(p) => p,
            None => return Err(cx.raise_msg(cx.k.float_domain_error, &nf::to_s(f))),
        },
        Num::Rat(p) => ((*real::big(p.a)).clone(), (*real::big(p.b)).clone()),
        Num::Other => return Ok(None),
    };
    let Some((whole, rest)) = n.div_mod(&d) else { return Err(real::zero_div(cx)) };
    let secs = within(cx, whole.to_i128())?;
    let Some((nanos, rest)) = rest.mul_i64(BILLION).div_mod(&d) else { return Err(real::zero_div(cx)) };
    let nsec = nanos.to_i64().unwrap_or(0) as u32;
    if rest.is_zero() {
        return Ok(Some((secs, nsec, Value::fix(0))));
    }
    let (a, b) = (cx.big(rest), cx.big(d));
    Ok(Some((secs, nsec, real::rat_new(cx, a, b)?)))
}
fn sum(cx: &mut Cx, a: (i128, u32, Value), b: (i128, u32, Value)) -> Result<(i128, u32, Value), Exit> {
    let mut secs = a.0.saturating_add(b.0);
    let mut nsec = a.1 + b.1;
    let mut beyond = Value::fix(0);
    if a.2 != beyond || b.2 != beyond {
        beyond = real::add(cx, a.2, b.2)?.unwrap_or(beyond);
        if real::cmp(cx, beyond, Value::fix(1)).flatten().is_some_and(Ordering::is_ge) {
            nsec += 1;
            beyond = real::sub(cx, beyond, Value::fix(1))?.unwrap_or(beyond);
        }
        if real::eq(cx, beyond, Value::fix(0)) == Some(true) {
            beyond = Value::fix(0);
        }
    }
    if nsec >= BILLION as u32 {
        secs = secs.saturating_add(1);
        nsec -= BILLION as u32;
    }
    Ok((secs, nsec, beyond))
}
/// Seconds of the moment as an exact number: an Integer or a Rational.
pub fn exact(cx: &mut Cx, t: &TimeData) -> R {
    let sub = subsec(cx, t)?;
    let secs = cx.int128(t.secs);
    Ok(real::add(cx, secs, sub)?.unwrap_or(secs))
}
/// The part below a second, exactly: 0 or a Rational.
pub fn subsec(cx: &mut Cx, t: &TimeData) -> R {
    if t.nsec == 0 && t.beyond == Value::fix(0) {
        return Ok(Value::fix(0));
    }
    let nanos = real::add(cx, Value::fix(t.nsec as i64), t.beyond)?.unwrap_or(Value::fix(0));
    Ok(real::quo(cx, nanos, Value::fix(BILLION))?.unwrap_or(nanos))
}
/// Order of two moments.
pub fn order(cx: &mut Cx, a: &TimeData, b: &TimeData) -> Ordering {
    (a.secs, a.nsec).cmp(&(b.secs, b.nsec)).then_with(|| real::cmp(cx, a.beyond, b.beyond).flatten().unwrap_or(Ordering::Equal))
}

// --- making ------------------------------------------------------------------------

fn t_allocate(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let class = recv.as_class().unwrap_or(cx.k.time);
    Ok(cx.data(class, TimeData { secs: 0, nsec: 0, beyond: Value::fix(0), zone: Zone::Local(OnceLock::new()), unset: true }))
}
/// The zone of prelude arguments: nil local, true UTC, an Integer offset, or `[offset, object]`.
fn zone_arg(cx: &mut Cx, v: Value) -> Result<Zone, Exit> {
    Ok(match v {
        Value::NIL => Zone::Local(OnceLock::new()),
        Value::TRUE => Zone::Utc,
        _ => {
            if let Some(a) = v.as_array() {
                let o = a.get(0).and_then(|o| o.as_fix()).unwrap_or(i64::MAX);
                if !(-86_399..86_400).contains(&o) {
                    return Err(cx.arg_error("utc_offset out of range"));
                }
                return Ok(Zone::Object(o as i32, a.get(1).unwrap_or(Value::NIL)));
            }
            if real::as_rat(cx, v).is_some() {
                let o = split(cx, v)?.map_or(i128::MAX, |s| s.0);
                if !(-86_400..86_400).contains(&o) {
                    return Err(cx.arg_error("utc_offset out of range"));
                }
                let part = real::sub(cx, v, Value::fix(o as i64))?.unwrap_or(v);
                return Ok(Zone::Exact(o as i32, part));
            }
            match v.as_fix() {
                Some(o) if o.abs() < 86_400 => Zone::Fixed(o as i32),
                _ => return Err(cx.arg_error("utc_offset out of range")),
            }
        }
    })
}
fn set(cx: &mut Cx, v: Value, data: TimeData) -> R {
    cx.heap.before_store(v, data.beyond);
    if let Zone::Object(_, o) | Zone::Exact(_, o) = data.zone {
        cx.heap.before_store(v, o);
    }
    match cx.heap.edit_data::<TimeData>(v) {
        Some(t) => {
            *t = data;
            Ok(v)
        }
        None => Err(cx.type_error("wrong argument type (expected time)")),
    }
}
/// `__time_now()`: `[seconds, nanoseconds]`.
fn x_now(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let d = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let s = cx.uint(d.as_secs());
    Ok(cx.array(&[s, Value::fix(d.subsec_nanos() as i64)]))
}
/// `__time_set_now(time, zone)`
fn x_set_now(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let d = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let zone = zone_arg(cx, args[1])?;
    set(cx, args[0], TimeData { secs: d.as_secs() as i128, nsec: d.subsec_nanos(), beyond: Value::fix(0), zone, unset: false })
}
/// `__time_set(time, seconds, more_seconds, zone)`: both numbers exact.
fn x_set(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let (Some(a), Some(b)) = (split(cx, args[1])?, split(cx, args[2])?) else {
        return Err(cx.type_error("can't convert into an exact number"));
    };
    let (secs, nsec, beyond) = sum(cx, a, b)?;
    let zone = zone_arg(cx, args[3])?;
    set(cx, args[0], TimeData { secs, nsec, beyond, zone, unset: false })
}
/// `__time_civil(time, year, month, day, hour, minute, second, zone, dst)`: fields as the zone's clocks show them.
fn x_civil(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let mut f = [0i64; 5];
    for (i, f) in f.iter_mut().enumerate() {
        *f = cx.arg_i64(args, i + 1)?;
    }
    let [year, month, day, hour, min] = f;
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || !(0..=24).contains(&hour) || !(0..=59).contains(&min) {
        return Err(cx.arg_error("argument out of range"));
    }
    let Some(sec) = split(cx, args[6])? else { return Err(cx.arg_error("argument out of range")) };
    let days = civil::days_from_civil(year, month as u32, day as u32);
    let clock = days * 86_400 + hour as i128 * 3600 + min as i128 * 60 + sec.0;
    let zone = zone_arg(cx, args[7])?;
    let dst = match args[8] {
        Value::TRUE => Some(true),
        Value::FALSE => Some(false),
        _ => None,
    };
    let secs = match &zone {
        Zone::Local(_) => timezone::local_to_epoch(clock, dst),
        Zone::Utc => clock,
        Zone::Fixed(o) | Zone::Exact(o, _) | Zone::Object(o, _) => clock - *o as i128,
    };
    let mut at = (secs, sec.1, sec.2);
    if let Zone::Exact(_, part) = zone {
        let minus = real::neg(cx, part).unwrap_or(part);
        if let Some(minus) = split(cx, minus)? {
            at = sum(cx, at, minus)?;
        }
    }
    let t = TimeData { secs: at.0, nsec: at.1, beyond: at.2, zone, unset: false };
    // Looked up now: the environment may name another zone later.
    t.offset();
    set(cx, args[0], t)
}
/// `__time_zone(time, zone)`: the same moment under other clocks.
fn x_zone(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let mut t = receiver(cx, &args[0])?.clone();
    t.zone = zone_arg(cx, args[1])?;
    set(cx, args[0], t)
}
/// `__time_copy(to, from)`
fn x_copy(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let t = receiver(cx, &args[1])?.clone();
    set(cx, args[0], t)
}
/// `__time_offset_text(str)`: the offset a String names, true for UTC, nil for none; raises when out of range.
fn x_offset_text(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let s = cx.arg_str(args, 0)?;
    match timezone::parse_offset(s.bytes()) {
        Ok((_, true)) => Ok(Value::TRUE),
        Ok((o, false)) => Ok(Value::fix(o as i64)),
        Err(timezone::OffsetError::Format) => Ok(Value::NIL),
        Err(timezone::OffsetError::Range) => Err(cx.arg_error("utc_offset out of range")),
    }
}
/// `__time_zone_of(time)`: what `zone_arg` reads.
fn x_zone_of(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let t = receiver(cx, &args[0])?;
    Ok(match t.zone {
        Zone::Local(_) => Value::NIL,
        Zone::Utc => Value::TRUE,
        Zone::Fixed(o) => Value::fix(o as i64),
        Zone::Exact(o, part) => real::add(cx, Value::fix(o as i64), part)?.unwrap_or(part),
        Zone::Object(o, z) => cx.array(&[Value::fix(o as i64), z]),
    })
}

// --- arithmetic and order -------------------------------------------------------------

fn moved(cx: &mut Cx, recv: Value, by: (i128, u32, Value)) -> R {
    let t = receiver(cx, &recv)?.clone();
    let (secs, nsec, beyond) = sum(cx, (t.secs, t.nsec, t.beyond), by)?;
    let zone = match t.zone {
        Zone::Local(_) => Zone::Local(OnceLock::new()),
        // Another moment may have another offset: the twin asks the object.
        Zone::Object(..) => return Err(Exit::Miss),
        z => z,
    };
    Ok(cx.data(cx.k.time, TimeData { secs, nsec, beyond, zone, unset: false }))
}
fn t_add(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    match split(cx, args[0])? {
        Some(by) => moved(cx, recv, by),
        None if time_of(&args[0]).is_some() => Err(cx.type_error("time + time?")),
        None => Err(Exit::Miss),
    }
}
fn t_sub(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    if let Some(o) = time_of(&args[0]) {
        let t = receiver(cx, &recv)?;
        if t.beyond == Value::fix(0) && o.beyond == Value::fix(0) {
            let nanos = t.secs.saturating_sub(o.secs).saturating_mul(BILLION as i128) + t.nsec as i128 - o.nsec as i128;
            let f = BigInt::from_i128(nanos).fdiv(&BigInt::from_i64(BILLION));
            return Ok(cx.float(f));
        }
        let (t, o) = (t.clone(), o.clone());
        let (a, b) = (exact(cx, &t)?, exact(cx, &o)?);
        let d = real::sub(cx, a, b)?.unwrap_or(Value::fix(0));
        let f = num(cx, d).f64().unwrap_or(0.0);
        return Ok(cx.float(f));
    }
    let Some(minus) = real::neg(cx, args[0]) else { return Err(Exit::Miss) };
    match split(cx, minus)? {
        Some(by) => moved(cx, recv, by),
        None => Err(Exit::Miss),
    }
}
fn t_cmp(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let Some(o) = time_of(&args[0]) else { return Err(Exit::Miss) };
    let t = receiver(cx, &recv)?.clone();
    let o = o.clone();
    Ok(Value::fix(order(cx, &t, &o) as i64))
}
macro_rules! relation {
    ($($name:ident $f:ident),*) => { $(
        fn $name(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
            let Some(o) = time_of(&args[0]) else { return Err(Exit::Miss) };
            if !cx.builtin(recv, sym::CMP) {
                return Err(Exit::Miss);
            }
            let t = receiver(cx, &recv)?.clone();
            let o = o.clone();
            Ok(Value::bool(order(cx, &t, &o).$f()))
        }
    )* };
}
relation!(t_lt is_lt, t_le is_le, t_gt is_gt, t_ge is_ge, t_eq is_eq);

fn t_eql(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let Some(o) = time_of(&args[0]) else { return Ok(Value::FALSE) };
    let t = receiver(cx, &recv)?.clone();
    let o = o.clone();
    Ok(Value::bool(order(cx, &t, &o).is_eq()))
}
fn t_hash(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let t = receiver(cx, &recv)?.clone();
    let mut h = cx.hash_start(7, 3);
    for part in [t.secs as u64, (t.secs >> 64) as u64, t.nsec as u64] {
        h = cx.hash_step(h, part);
    }
    if let Some(x) = cx.plain_hash(t.beyond) {
        h = cx.hash_step(h, x);
    }
    Ok(cx.hash_end(h))
}

pub static TABLE: &[NativeDef] = &[
    n("Time.", "allocate", 0, 0, t_allocate),
    n("Time", "+", 1, 1, t_add),
    n("Time", "-", 1, 1, t_sub),
    n("Time", "<=>", 1, 1, t_cmp),
    n("Time", "==", 1, 1, t_eq),
    n("Time", "<", 1, 1, t_lt),
    n("Time", "<=", 1, 1, t_le),
    n("Time", ">", 1, 1, t_gt),
    n("Time", ">=", 1, 1, t_ge),
    n("Time", "eql?", 1, 1, t_eql),
    n("Time", "hash", 0, 0, t_hash),
    intrinsic("__time_now", 0, 0, x_now).guard(Guard::None),
    intrinsic("__time_set_now", 2, 2, x_set_now),
    intrinsic("__time_set", 4, 4, x_set),
    intrinsic("__time_civil", 9, 9, x_civil),
    intrinsic("__time_zone", 2, 2, x_zone),
    intrinsic("__time_copy", 2, 2, x_copy),
    intrinsic("__time_offset_text", 1, 1, x_offset_text),
    intrinsic("__time_zone_of", 1, 1, x_zone_of),
];
