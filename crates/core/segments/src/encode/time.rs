//! Moments, with what `Marshal` keeps of their zone: the offset, and the zone's name where it has one.

use kumi_core_numeric::real;
use kumi_core_system::time::{TimeData, Zone as Clock, time_of};
use kumi_vm::*;
use kumi_wire::value::{Time, Zone};

/// Where a time is shown.
pub enum Place {
    Utc,
    Offset(i32),
    Named(i32, String),
}

/// What of a Time goes into the bytes.
pub struct Parts {
    seconds: i64,
    nanoseconds: u32,
    place: Place,
    /// The part of a nanosecond beyond it; 0 for none.
    pub beyond: Value,
}

impl Parts {
    /// As the wire has it, without what is beyond nanoseconds.
    pub fn time(&self) -> Time<'_> {
        let zone = match &self.place {
            Place::Utc => Zone::Utc,
            Place::Offset(offset) => Zone::Offset(*offset),
            Place::Named(offset, name) => Zone::Named { name, offset: *offset },
        };
        Time { seconds: self.seconds, nanoseconds: self.nanoseconds, zone }
    }
}

/// The parts of a Time; or why it can't travel.
pub fn parts(cx: &Cx, v: Value) -> Result<Parts, &'static str> {
    let Some(t) = time_of(&v).filter(|t| !t.unset) else { return Err("it was never initialized") };
    let Ok(seconds) = i64::try_from(t.secs) else { return Err("it lies more than 292 billion years away") };
    let place = match &t.zone {
        Clock::Utc => Place::Utc,
        Clock::Fixed(offset) => Place::Offset(*offset),
        Clock::Local(_) => match t.local() {
            Some(zone) => Place::Named(zone.offset, zone.name.clone()),
            None => Place::Offset(t.offset()),
        },
        Clock::Object(offset, zone) if zone.is_kind(Kind::Str) => Place::Named(*offset, cx.text(*zone)),
        Clock::Object(offset, _) => Place::Offset(*offset),
        Clock::Exact(..) => return Err("its offset is no whole number of seconds"),
    };
    Ok(Parts { seconds, nanoseconds: t.nsec, place, beyond: t.beyond })
}

/// A Time.
pub fn make(cx: &mut Cx, time: Time) -> Value {
    let zone = match time.zone {
        Zone::Utc => Clock::Utc,
        Zone::Offset(offset) => Clock::Fixed(offset),
        Zone::Named { name, offset } => {
            let name = cx.str(name);
            freeze(name);
            Clock::Object(offset, name)
        }
    };
    let data = TimeData { secs: time.seconds.into(), nsec: time.nanoseconds, beyond: Value::fix(0), zone, unset: false };
    cx.data(cx.k.time, data)
}

/// A Time that is as much later as `beyond`, a Rational below 1. `None` where it is none.
pub fn finer(cx: &mut Cx, v: Value, beyond: Value) -> Option<Value> {
    real::as_rat(cx, beyond)?;
    let between = |cx: &mut Cx, a, b| real::cmp(cx, a, b).flatten().is_some_and(std::cmp::Ordering::is_lt);
    if !between(cx, Value::fix(0), beyond) || !between(cx, beyond, Value::fix(1)) {
        return None;
    }
    let mut data = time_of(&v)?.clone();
    data.beyond = beyond;
    Some(cx.data(cx.k.time, data))
}

/// Nobody changes it from here on.
pub fn freeze(v: Value) {
    if let Some(h) = v.header() {
        h.set(flag::FROZEN);
    }
}
