//! Process.clock_gettime and clock_getres.

use kumi_vm::*;

/// Clocks by CRuby's constant names.
const CLOCKS: &[(&str, libc::clockid_t)] = &[
    ("CLOCK_REALTIME", libc::CLOCK_REALTIME),
    ("CLOCK_MONOTONIC", libc::CLOCK_MONOTONIC),
    ("CLOCK_PROCESS_CPUTIME_ID", libc::CLOCK_PROCESS_CPUTIME_ID),
    ("CLOCK_THREAD_CPUTIME_ID", libc::CLOCK_THREAD_CPUTIME_ID),
    #[cfg(target_os = "linux")]
    ("CLOCK_MONOTONIC_RAW", libc::CLOCK_MONOTONIC_RAW),
    #[cfg(target_os = "linux")]
    ("CLOCK_REALTIME_COARSE", libc::CLOCK_REALTIME_COARSE),
    #[cfg(target_os = "linux")]
    ("CLOCK_MONOTONIC_COARSE", libc::CLOCK_MONOTONIC_COARSE),
    #[cfg(target_os = "linux")]
    ("CLOCK_BOOTTIME", libc::CLOCK_BOOTTIME),
    #[cfg(target_os = "linux")]
    ("CLOCK_REALTIME_ALARM", libc::CLOCK_REALTIME_ALARM),
    #[cfg(target_os = "linux")]
    ("CLOCK_BOOTTIME_ALARM", libc::CLOCK_BOOTTIME_ALARM),
    #[cfg(target_os = "linux")]
    ("CLOCK_TAI", libc::CLOCK_TAI),
];

/// Names of clocks that CRuby emulates over other calls.
fn emulated(name: &str) -> Option<libc::clockid_t> {
    Some(match name {
        "GETTIMEOFDAY_BASED_CLOCK_REALTIME" | "TIME_BASED_CLOCK_REALTIME" => libc::CLOCK_REALTIME,
        "TIMES_BASED_CLOCK_MONOTONIC" => libc::CLOCK_MONOTONIC,
        "GETRUSAGE_BASED_CLOCK_PROCESS_CPUTIME_ID" | "TIMES_BASED_CLOCK_PROCESS_CPUTIME_ID" | "CLOCK_BASED_CLOCK_PROCESS_CPUTIME_ID" => {
            libc::CLOCK_PROCESS_CPUTIME_ID
        }
        _ => return None,
    })
}
fn clock_arg(cx: &mut Cx, args: &[Value], call: &str) -> Result<libc::clockid_t, Exit> {
    if let Some(s) = args[0].as_sym() {
        let name = cx.sym_name(s);
        return emulated(&name).ok_or_else(|| cx.errno_error(libc::EINVAL, call));
    }
    let id = cx.arg_i64(args, 0)?;
    match libc::clockid_t::try_from(id) {
        Ok(id) => Ok(id),
        Err(_) => Err(cx.errno_error(libc::EINVAL, call)),
    }
}
fn in_unit(cx: &mut Cx, t: libc::timespec, unit: Value) -> R {
    let (s, ns) = (t.tv_sec as i128, t.tv_nsec as i128);
    let total = s * 1_000_000_000 + ns;
    let name = match unit {
        Value::NIL => "float_second".to_string(),
        _ => match unit.as_sym() {
            Some(u) => cx.sym_name(u),
            None => {
                let t = cx.describe_type(unit);
                return Err(cx.arg_error(&format!("unexpected unit: {t}")));
            }
        },
    };
    Ok(match name.as_str() {
        "float_second" => cx.float(s as f64 + ns as f64 / 1e9),
        "float_millisecond" => cx.float(s as f64 * 1e3 + ns as f64 / 1e6),
        "float_microsecond" => cx.float(s as f64 * 1e6 + ns as f64 / 1e3),
        "second" => cx.int128(s),
        "millisecond" => cx.int128(total / 1_000_000),
        "microsecond" => cx.int128(total / 1000),
        "nanosecond" => cx.int128(total),
        other => return Err(cx.arg_error(&format!("unexpected unit: {other}"))),
    })
}
/// What a call tells of a clock; EINVAL where there is none such.
fn ask(
    cx: &mut Cx,
    id: libc::clockid_t,
    name: &str,
    call: unsafe extern "C" fn(libc::clockid_t, *mut libc::timespec) -> i32,
) -> Result<libc::timespec, Exit> {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `call` is `clock_gettime` or `clock_getres`, and `t` a timespec to write.
    if unsafe { call(id, &mut t) } == 0 { Ok(t) } else { Err(cx.errno_error(libc::EINVAL, name)) }
}
fn gettime(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let id = clock_arg(cx, args, "clock_gettime")?;
    let t = ask(cx, id, "clock_gettime", libc::clock_gettime)?;
    in_unit(cx, t, args.get(1).copied().unwrap_or(Value::NIL))
}
fn getres(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let id = clock_arg(cx, args, "clock_getres")?;
    let mut t = ask(cx, id, "clock_getres", libc::clock_getres)?;
    let emulated = args[0].as_sym().map(|s| cx.sym_name(s));
    // Emulated clocks are as coarse as the calls they stand for.
    match emulated.as_deref() {
        Some("TIME_BASED_CLOCK_REALTIME") => t = libc::timespec { tv_sec: 1, tv_nsec: 0 },
        Some("GETTIMEOFDAY_BASED_CLOCK_REALTIME" | "GETRUSAGE_BASED_CLOCK_PROCESS_CPUTIME_ID" | "CLOCK_BASED_CLOCK_PROCESS_CPUTIME_ID") => {
            t = libc::timespec { tv_sec: 0, tv_nsec: 1000 }
        }
        Some(_) => t = libc::timespec { tv_sec: 0, tv_nsec: 10_000_000 },
        None => {}
    }
    if let Some(u) = args.get(1).and_then(|v| v.as_sym()) {
        if cx.sym_name(u) == "hertz" {
            let seconds = t.tv_sec as f64 + t.tv_nsec as f64 / 1e9;
            return Ok(cx.float(1.0 / seconds));
        }
    }
    in_unit(cx, t, args.get(1).copied().unwrap_or(Value::NIL))
}

pub static TABLE: &[NativeDef] = &[n("Process.", "clock_gettime", 1, 2, gettime), n("Process.", "clock_getres", 1, 2, getres)];

/// Process::CLOCK_*
pub fn constants(cx: &mut Cx) {
    let process = cx.k.process;
    for (name, id) in CLOCKS {
        let s = cx.intern(name);
        cx.set_const(process, s, Value::fix(*id as i64));
    }
}
