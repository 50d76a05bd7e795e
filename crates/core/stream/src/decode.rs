//! Text of a document as Ruby values, by the rules of XML Schema (crate kumi-xml, `value`).

use crate::leaf;
use kumi_num::int::Int;
use kumi_num::parse;
use kumi_vm::*;
use kumi_xml::value::{self, Date, Decimal, Integer};
use std::sync::OnceLock;

pub static TABLE: &[NativeDef] = &[leaf("__xdecode", 2, x_decode), leaf("__xml_date", 1, know_dates)];

/// What a field holds, as lib/kumihimo/xml/types.rb numbers it.
pub mod kind {
    pub const STRING: u8 = 0;
    pub const INTEGER: u8 = 1;
    pub const FLOAT: u8 = 2;
    pub const SYMBOL: u8 = 3;
    pub const BOOLEAN: u8 = 4;
    pub const DECIMAL: u8 = 5;
    pub const CLASS: u8 = 6;
    pub const LIST: u8 = 7;
    /// Made by Ruby code.
    pub const OTHER: u8 = 8;
    /// A Date; by Ruby code when it lies before the calendar's reform.
    pub const DATE: u8 = 9;
    pub const DATETIME: u8 = 10;

    /// Are values of that kind cells, mostly?
    pub const fn is_cell(kind: u8) -> bool {
        matches!(kind, STRING | DECIMAL | CLASS | DATE)
    }
}

/// A frozen UTF-8 String.
#[inline]
pub fn string(cx: &mut Cx, text: &[u8]) -> Value {
    let s = cx.str_enc(text, EncIndex::UTF_8);
    if let Some(h) = s.header() {
        h.set(flag::FROZEN);
    }
    s
}

/// `bytes[start..end]` as a value of kind `K`; `None` when it is none. The bytes before `start` are looked at, not used.
#[inline(always)]
pub fn decode<const K: u8>(cx: &mut Cx, bytes: &[u8], start: usize, end: usize) -> Option<Value> {
    let text = bytes.get(start..end).unwrap_or(b"");
    match K {
        kind::STRING => Some(string(cx, text)),
        kind::INTEGER => match value::integer_within(bytes, start, end).ok()? {
            Integer::Small(n) => Some(cx.int(n)),
            Integer::Big { .. } => big(cx, value::trim(text)),
        },
        kind::FLOAT => value::float(text).ok().map(|f| cx.float(f)),
        kind::SYMBOL => std::str::from_utf8(text).ok().and_then(|s| cx.sym_of(s.as_bytes()).ok()).map(Value::sym),
        kind::BOOLEAN => value::boolean(text).ok().map(Value::bool),
        kind::DECIMAL => decimal(cx, bytes, start, end),
        kind::DATE => value::date(text).ok().and_then(|d| new_date(cx, d)),
        _ => None,
    }
}

/// A Date as lib/date/core.rb makes it (`__set_parts`).
fn new_date(cx: &mut Cx, d: Date) -> Option<Value> {
    if d.year < 1583 {
        return None;
    }
    let dates = cx.shared_state::<Dates>();
    let (class, names) = dates.known.get()?;
    let class = Value::from_bits(*class).as_class()?;
    let civil = cx.array(&[Value::fix(d.year as i64), Value::fix(d.month as i64), Value::fix(d.day as i64)]);
    let date = cx.heap.object(class);
    let (zero, italy) = (Value::fix(0), Value::fix(2_299_161));
    for (name, v) in names.iter().zip([Value::fix(d.days() + EPOCH), zero, zero, italy, civil]) {
        cx.ivar_set(date, *name, v);
    }
    for v in [civil, date] {
        if let Some(h) = v.header() {
            h.set(flag::FROZEN);
        }
    }
    Some(date)
}

/// The class Date, once a class of trees has a field of it, and the names of its instance variables.
#[derive(Default)]
struct Dates {
    known: OnceLock<(u64, [Sym; 5])>,
}

/// `__xml_date(Date)`
fn know_dates(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    cx.keep(a[0]);
    let names = ["@__jd", "@__part", "@__offset", "@__start", "@__civil"].map(|n| cx.intern(n));
    cx.shared_state::<Dates>().known.get_or_init(|| (a[0].bits(), names));
    Ok(Value::NIL)
}

#[cold]
fn big(cx: &mut Cx, digits: &[u8]) -> Option<Value> {
    let digits = digits.strip_prefix(b"+").unwrap_or(digits);
    match parse::integer(digits, 10, true)? {
        Int::Small(n) => Some(cx.int(n)),
        Int::Big(n) => Some(cx.big(n)),
    }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

fn decimal(cx: &mut Cx, bytes: &[u8], start: usize, end: usize) -> Option<Value> {
    let (n, d) = match value::decimal_within(bytes, start, end).ok()? {
        Decimal::Small { mantissa, scale } if scale < 18 => {
            let below = 10u64.pow(scale);
            let by = gcd(mantissa.unsigned_abs(), below).max(1);
            (cx.int(mantissa / by as i64), cx.int((below / by) as i64))
        }
        _ => {
            let text = value::trim(bytes.get(start..end)?);
            let text = text.strip_prefix(b"+").unwrap_or(text);
            // Ruby's grammar wants digits on both sides of the point.
            let (sign, rest) = text.strip_prefix(b"-").map_or((&b""[..], text), |rest| (&b"-"[..], rest));
            let lead: &[u8] = if rest.first() == Some(&b'.') { b"0" } else { b"" };
            let tail: &[u8] = if rest.last() == Some(&b'.') { b"0" } else { b"" };
            let (n, d) = parse::rational(&[sign, lead, rest, tail].concat(), true).ok()??;
            (cx.big(n), cx.big(d))
        }
    };
    let class = cx.k.rational.val();
    Some(cx.heap.pair(class, n, d))
}

/// Julian day number of 1970-01-01.
const EPOCH: i64 = 2_440_588;

/// `__xdecode(kind, text)`: the value, or undef when it is none. Dates come as Julian day numbers, before the calendar's reform as
/// `[year, month, day]`, times as `[year, month, day, hour, minute, second, nanoseconds, minutes east of UTC or nil]`.
fn x_decode(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let of = cx.arg_i64(a, 0)?;
    let text = cx.arg_str(a, 1)?.bytes().to_vec();
    let all = text.len();
    let found = match of as u8 {
        kind::DATE => value::date(&text).ok().map(|d| date(cx, d)),
        kind::DATETIME => value::date_time(&text).ok().map(|t| {
            let zone = t.date.zone.map_or(Value::NIL, |z| Value::fix(z as i64));
            let part = |n: i64| Value::fix(n);
            let parts = [
                part(t.date.year as i64),
                part(t.date.month as i64),
                part(t.date.day as i64),
                part(t.hour as i64),
                part(t.minute as i64),
                part(t.second as i64),
                part(t.nanos as i64),
                zone,
            ];
            cx.array(&parts)
        }),
        kind::STRING => decode::<{ kind::STRING }>(cx, &text, 0, all),
        kind::INTEGER => decode::<{ kind::INTEGER }>(cx, &text, 0, all),
        kind::FLOAT => decode::<{ kind::FLOAT }>(cx, &text, 0, all),
        kind::SYMBOL => decode::<{ kind::SYMBOL }>(cx, &text, 0, all),
        kind::BOOLEAN => decode::<{ kind::BOOLEAN }>(cx, &text, 0, all),
        kind::DECIMAL => decode::<{ kind::DECIMAL }>(cx, &text, 0, all),
        _ => None,
    };
    Ok(found.unwrap_or(Value::UNDEF))
}

fn date(cx: &mut Cx, d: Date) -> Value {
    if d.year < 1583 {
        return cx.array(&[Value::fix(d.year as i64), Value::fix(d.month as i64), Value::fix(d.day as i64)]);
    }
    Value::fix(d.days() + EPOCH)
}
