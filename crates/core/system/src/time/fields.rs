//! Time: the fields its zone's clocks show, and text.

use crate::time::*;
use kumi_core_numeric::real;
use kumi_text::civil;
use kumi_text::strftime::{Fields, FormatError, strftime};
use kumi_vm::*;

/// Clock fields of a moment.
struct Clock {
    year: i64,
    month: u32,
    day: u32,
    hour: u32,
    min: u32,
    sec: u32,
    days: i128,
    nsec: u32,
    beyond: Value,
}

fn clock(cx: &mut Cx, t: &TimeData) -> Result<Clock, Exit> {
    let (local, nsec, beyond) = t.clock(cx)?;
    let (days, rest) = (local.div_euclid(86_400), local.rem_euclid(86_400) as u32);
    let (year, month, day) = civil::civil_from_days(days);
    Ok(Clock { year, month, day, hour: rest / 3600, min: rest / 60 % 60, sec: rest % 60, days, nsec, beyond })
}

macro_rules! fields {
    ($($name:ident $c:ident $e:expr),* $(,)?) => { $(
        fn $name(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
            let t = receiver(cx, &recv)?;
            let $c = clock(cx, t)?;
            Ok(cx.int($e as i64))
        }
    )* };
}
fields! {
    t_year c c.year, t_month c c.month, t_day c c.day, t_hour c c.hour, t_min c c.min, t_sec c c.sec,
    t_wday c civil::wday(c.days), t_yday c civil::yday(c.year, c.month, c.day),
}
macro_rules! weekdays {
    ($($name:ident $day:literal),*) => { $(
        fn $name(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
            let t = receiver(cx, &recv)?;
            let c = clock(cx, t)?;
            Ok(Value::bool(civil::wday(c.days) == $day))
        }
    )* };
}
weekdays!(t_sunday 0, t_monday 1, t_tuesday 2, t_wednesday 3, t_thursday 4, t_friday 5, t_saturday 6);

fn t_nsec(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(Value::fix(receiver(cx, &recv)?.nsec as i64))
}
fn t_usec(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(Value::fix(receiver(cx, &recv)?.nsec as i64 / 1000))
}
fn t_subsec(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let t = receiver(cx, &recv)?.clone();
    subsec(cx, &t)
}
fn t_to_i(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let s = receiver(cx, &recv)?.secs;
    Ok(cx.int128(s))
}
fn t_to_r(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let t = receiver(cx, &recv)?.clone();
    let e = exact(cx, &t)?;
    Ok(if real::is_int(e) { real::rat_raw(cx, e, Value::fix(1)) } else { e })
}
fn t_to_f(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let t = receiver(cx, &recv)?.clone();
    let e = exact(cx, &t)?;
    let f = real::num(cx, e).f64().unwrap_or(0.0);
    Ok(cx.float(f))
}
fn t_utc_offset(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let t = receiver(cx, &recv)?;
    let whole = Value::fix(t.offset() as i64);
    match t.zone {
        Zone::Exact(_, part) => Ok(real::add(cx, whole, part)?.unwrap_or(whole)),
        _ => Ok(whole),
    }
}
fn t_utc_p(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(Value::bool(matches!(receiver(cx, &recv)?.zone, Zone::Utc)))
}
fn t_dst_p(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let t = receiver(cx, &recv)?;
    if matches!(t.zone, Zone::Object(..)) {
        return Err(Exit::Miss);
    }
    Ok(Value::bool(t.local().is_some_and(|z| z.is_dst)))
}
fn t_zone(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let t = receiver(cx, &recv)?;
    match &t.zone {
        Zone::Utc => Ok(cx.str_ascii("UTC")),
        Zone::Fixed(_) | Zone::Exact(..) => Ok(Value::NIL),
        Zone::Object(_, v) => Ok(*v),
        Zone::Local(_) => {
            let name = t.local().map(|z| z.name.clone()).unwrap_or_default();
            Ok(if name.is_ascii() { cx.str_ascii(&name) } else { cx.str(&name) })
        }
    }
}
fn set_zone(cx: &mut Cx, v: Value, zone: Zone) {
    if let Some(t) = cx.heap.edit_data::<TimeData>(v) {
        t.zone = zone;
    }
}
fn t_localtime(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    if !args.is_empty() {
        return Err(Exit::Miss);
    }
    if !matches!(receiver(cx, &recv)?.zone, Zone::Local(_)) {
        cx.check_frozen(recv)?;
        set_zone(cx, recv, Zone::Local(Default::default()));
    }
    // Looked up now: the environment may name another zone later.
    receiver(cx, &recv)?.offset();
    Ok(recv)
}
fn t_gmtime(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    if !matches!(receiver(cx, &recv)?.zone, Zone::Utc) {
        cx.check_frozen(recv)?;
        set_zone(cx, recv, Zone::Utc);
    }
    Ok(recv)
}
fn t_getgm(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let mut t = receiver(cx, &recv)?.clone();
    t.zone = Zone::Utc;
    let c = cx.real_class(recv);
    Ok(cx.data(c, t))
}

/// Decimal digits of the part below a nanosecond, enough for any format that asks.
fn beyond_digits(cx: &mut Cx, beyond: Value) -> Vec<u8> {
    let Some(p) = real::as_rat(cx, beyond) else { return Vec::new() };
    let (mut n, d) = ((*real::big(p.a)).clone(), (*real::big(p.b)).clone());
    let mut out = Vec::new();
    while !n.is_zero() && out.len() < 100 {
        let Some((q, r)) = n.mul_i64(10).div_mod(&d) else { break };
        out.push(b'0' + q.to_i64().unwrap_or(0) as u8);
        n = r;
    }
    out
}
fn format(cx: &mut Cx, recv: Value, fmt: &[u8], zone: &[u8]) -> Result<Vec<u8>, Exit> {
    let t = receiver(cx, &recv)?;
    let c = clock(cx, t)?;
    let beyond = beyond_digits(cx, c.beyond);
    // Text shows whole seconds of an offset, the nearest.
    let up = match t.zone {
        Zone::Exact(_, part) => real::num(cx, part).f64().is_some_and(|f| f >= 0.5),
        _ => false,
    };
    let f = Fields {
        year: c.year,
        month: c.month,
        day: c.day,
        hour: c.hour,
        min: c.min,
        sec: c.sec,
        nsec: c.nsec,
        beyond: &beyond,
        offset: t.offset() + up as i32,
        zone,
        epoch: t.secs,
        date: false,
    };
    match strftime(fmt, &f) {
        Ok(out) => Ok(out),
        Err(FormatError::Invalid(f)) => Err(cx.arg_error(&format!("invalid format: {}", String::from_utf8_lossy(&f)))),
        Err(FormatError::Range(f)) => {
            let f = String::from_utf8_lossy(&f).into_owned();
            Err(cx.errno_error(libc::ERANGE, &f))
        }
    }
}
fn zone_name(t: &TimeData) -> Option<String> {
    match t.zone {
        Zone::Utc => Some("UTC".into()),
        Zone::Fixed(_) | Zone::Exact(..) => Some(String::new()),
        Zone::Object(..) => None,
        Zone::Local(_) => t.local().map(|z| z.name.clone()),
    }
}
fn t_strftime(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let fmt = cx.arg_str(args, 0)?;
    let enc = cx.enc_of(fmt);
    if !enc.is_ascii_compatible() {
        return Err(cx.arg_error("format should have ASCII compatible encoding"));
    }
    let t = receiver(cx, &recv)?;
    let Some(zone) = zone_name(t) else { return Err(Exit::Miss) };
    let out = format(cx, recv, fmt.bytes(), zone.as_bytes())?;
    Ok(cx.str_vec(out, enc))
}
/// `__time_strftime(time, format, zone_name)`
fn x_strftime(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let fmt = cx.arg_str(args, 1)?;
    let zone = cx.arg_str(args, 2)?.bytes().to_vec();
    let enc = cx.enc_of(fmt);
    let out = format(cx, args[0], fmt.bytes(), &zone)?;
    Ok(cx.str_vec(out, enc))
}
fn is_utc(cx: &mut Cx, recv: Value) -> Result<bool, Exit> {
    Ok(matches!(receiver(cx, &recv)?.zone, Zone::Utc))
}
fn t_to_s(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let fmt: &[u8] = if is_utc(cx, recv)? { b"%Y-%m-%d %H:%M:%S UTC" } else { b"%Y-%m-%d %H:%M:%S %z" };
    let out = format(cx, recv, fmt, b"")?;
    Ok(cx.str_vec(out, EncIndex::US_ASCII))
}
fn t_inspect(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let mut out = format(cx, recv, b"%Y-%m-%d %H:%M:%S", b"")?;
    let t = receiver(cx, &recv)?;
    let c = clock(cx, t)?;
    let t = TimeData { nsec: c.nsec, beyond: c.beyond, ..t.clone() };
    if t.beyond != Value::fix(0) {
        let sub = subsec(cx, &t)?;
        if let Some(p) = real::as_rat(cx, sub) {
            out.extend_from_slice(format!(" {}/{}", *real::big(p.a), *real::big(p.b)).as_bytes());
        }
    } else if t.nsec != 0 {
        out.extend_from_slice(format!(".{:09}", t.nsec).trim_end_matches('0').as_bytes());
    }
    let tail: &[u8] = if is_utc(cx, recv)? { b" UTC" } else { b" %z" };
    let tail = format(cx, recv, tail, b"")?;
    out.extend_from_slice(&tail);
    // Unlike `%z`, with an offset's seconds.
    let seconds = receiver(cx, &recv)?.offset() % 60;
    if seconds != 0 {
        out.extend_from_slice(format!("{:02}", seconds.abs()).as_bytes());
    }
    Ok(cx.str_vec(out, EncIndex::US_ASCII))
}
fn t_ctime(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let out = format(cx, recv, b"%a %b %e %H:%M:%S %Y", b"")?;
    Ok(cx.str_vec(out, EncIndex::US_ASCII))
}
fn t_xmlschema(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let digits = if args.is_empty() { 0 } else { cx.arg_i64(args, 0)? };
    let mut fmt = String::from("%Y-%m-%dT%H:%M:%S");
    if digits > 0 {
        fmt.push_str(&format!(".%{digits}N"));
    }
    fmt.push_str(if is_utc(cx, recv)? { "Z" } else { "%:z" });
    let out = format(cx, recv, fmt.as_bytes(), b"")?;
    Ok(cx.str_vec(out, EncIndex::US_ASCII))
}

pub static TABLE: &[NativeDef] = &[
    n("Time", "year", 0, 0, t_year),
    n("Time", "month", 0, 0, t_month),
    n("Time", "day", 0, 0, t_day),
    n("Time", "hour", 0, 0, t_hour),
    n("Time", "min", 0, 0, t_min),
    n("Time", "sec", 0, 0, t_sec),
    n("Time", "wday", 0, 0, t_wday),
    n("Time", "yday", 0, 0, t_yday),
    n("Time", "sunday?", 0, 0, t_sunday),
    n("Time", "monday?", 0, 0, t_monday),
    n("Time", "tuesday?", 0, 0, t_tuesday),
    n("Time", "wednesday?", 0, 0, t_wednesday),
    n("Time", "thursday?", 0, 0, t_thursday),
    n("Time", "friday?", 0, 0, t_friday),
    n("Time", "saturday?", 0, 0, t_saturday),
    n("Time", "nsec", 0, 0, t_nsec),
    n("Time", "usec", 0, 0, t_usec),
    n("Time", "subsec", 0, 0, t_subsec),
    n("Time", "to_i", 0, 0, t_to_i),
    n("Time", "to_f", 0, 0, t_to_f),
    n("Time", "to_r", 0, 0, t_to_r),
    n("Time", "utc_offset", 0, 0, t_utc_offset),
    n("Time", "utc?", 0, 0, t_utc_p),
    n("Time", "dst?", 0, 0, t_dst_p),
    n("Time", "zone", 0, 0, t_zone),
    n("Time", "localtime", 0, 1, t_localtime),
    n("Time", "gmtime", 0, 0, t_gmtime),
    n("Time", "getgm", 0, 0, t_getgm),
    n("Time", "strftime", 1, 1, t_strftime),
    n("Time", "to_s", 0, 0, t_to_s),
    n("Time", "inspect", 0, 0, t_inspect),
    n("Time", "asctime", 0, 0, t_ctime),
    n("Time", "xmlschema", 0, 1, t_xmlschema),
    intrinsic("__time_strftime", 3, 3, x_strftime),
];
