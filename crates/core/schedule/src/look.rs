//! What is shown of a node's schedule: `GC.stat(:schedule)`, the log, the node's page.

use crate::part::{Inner, Part, kind_name, mode_name};
use crate::start::part;
use crate::timeline::{self, WIDTH};
use kumi_schedule::{Decision, Interval, Kind, Mode, Observed, Time};
use kumi_vm::*;
use std::fmt;

/// What has happened since this node takes part.
#[derive(Default)]
pub struct Counts {
    /// Messages that were sent, to one or to all, and orders to collect among them.
    pub sent: u64,
    pub orders: u64,
    /// Messages of members, orders among them; messages of others, and bytes that were none.
    pub heard: u64,
    pub orders_heard: u64,
    /// Collections that others ordered and that were done.
    pub ordered: u64,
    pub strangers: u64,
    pub nonsense: u64,
    /// What was decided about full collections.
    pub collected: u64,
    pub grown: u64,
    pub put_off: u64,
    /// Until the last collection.
    pub idle_periods: u64,
    pub idle: Time,
    pub speculative: Time,
}

/// Something for who looks on.
pub struct Event {
    pub at: Time,
    pub what: What,
}

/// What happened.
pub enum What {
    Collected { kind: Kind, took: Time, cause: &'static str },
    Decided { kind: Kind, decision: Decision, cause: &'static str, mode: Mode, largest: u64, seen: Observed },
    InForce { kind: Kind, mode: Mode },
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            What::Collected { kind, took, cause } => {
                write!(f, "{} cause={cause} took={:.3}ms", kind_name(*kind), *took as f64 / 1e6)
            }
            What::InForce { kind, mode } => write!(f, "{} mode={}", kind_name(*kind), mode_name(*mode)),
            What::Decided { kind, decision, cause, mode, largest, seen } => {
                let i = seen.interval(*kind);
                write!(f, "{} decision=", kind_name(*kind))?;
                match decision {
                    Decision::Grow(to) => write!(f, "grow to={}", show_bytes(*to))?,
                    Decision::Collect => f.write_str("collect")?,
                    Decision::Nothing => f.write_str("later")?,
                    Decision::Full => f.write_str("none")?,
                }
                write!(f, " cause={cause} mode={} heap={}", mode_name(*mode), show_bytes(seen.heap.size))?;
                write!(f, " grown={} largest={}", show_bytes(seen.heap.allocated), show_bytes(*largest))?;
                write!(f, " since={:.3}s collection={:.3}ms", i.length as f64 / 1e9, i.collection as f64 / 1e6)?;
                write!(f, " idle_periods={} utilisation={:.2} useful={:.2}", i.idle_periods, i.utilisation(), i.useful())
            }
        }
    }
}

fn put(cx: &mut Cx, h: Value, key: &'static str, v: Value) {
    let key = cx.sym(key);
    if let Some(h) = h.as_hash() {
        cx.hash_put_plain(h, key, v);
    }
}

/// What is known of one kind of collection.
struct Seen {
    mode: Mode,
    interval: Interval,
}

struct Shown {
    policy: &'static str,
    coordinator: Option<String>,
    members: usize,
    size: u64,
    largest: u64,
    kinds: [Seen; 2],
    numbers: Vec<(&'static str, u64)>,
}

fn shown(part: &Part, heap: &HeapShared) -> Shown {
    part.look(|inner: &mut Inner, now| {
        let seen = inner.observed(heap, now);
        let kind = |k| Seen { mode: inner.seat.mode(now, &inner.members, k), interval: *seen.interval(k) };
        let (c, since) = (&inner.counts, seen.interval(Kind::Young));
        Shown {
            policy: inner.seat.policy().name(),
            coordinator: inner.members.coordinator().and_then(|c| inner.name_of(c)).map(str::to_owned),
            members: inner.members.len(),
            size: seen.heap.size,
            largest: inner.seat.largest(),
            kinds: [kind(Kind::Young), kind(Kind::Full)],
            numbers: vec![
                ("collected", c.collected),
                ("grown", c.grown),
                ("put_off", c.put_off),
                ("orders_sent", c.orders),
                ("orders_heard", c.orders_heard),
                ("ordered", c.ordered),
                ("messages_sent", c.sent),
                ("messages_heard", c.heard),
                ("messages_refused", c.nonsense + c.strangers),
                ("idle_periods", c.idle_periods + since.idle_periods),
                ("idle_ns", c.idle + since.idle),
                ("speculative_ns", c.speculative + since.speculative),
            ],
        }
    })
}

/// `__gc_schedule()`: what there is to see, as a Hash; nil: this program takes no part.
fn schedule(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let Some(part) = part(cx) else { return Ok(Value::NIL) };
    let s = shown(&part, cx.heap.shared());
    let h = cx.hash();
    let policy = cx.sym(s.policy);
    put(cx, h, "policy", policy);
    let coordinator = s.coordinator.map_or(Value::NIL, |c| cx.str(&c));
    put(cx, h, "coordinator", coordinator);
    for (key, n) in [("members", s.members as u64), ("heap", s.size), ("largest_heap", s.largest)].into_iter().chain(s.numbers) {
        let n = cx.uint(n);
        put(cx, h, key, n);
    }
    for (kind, seen) in [Kind::Young, Kind::Full].into_iter().zip(s.kinds) {
        let of = cx.hash();
        let mode = cx.sym(mode_name(seen.mode));
        put(cx, of, "mode", mode);
        let i = seen.interval;
        for (key, n) in [("since_ns", i.length), ("collection_ns", i.collection), ("idle_periods", i.idle_periods)] {
            let n = cx.uint(n);
            put(cx, of, key, n);
        }
        for (key, part) in [("utilisation", i.utilisation()), ("useful", i.useful())] {
            let part = cx.float(part);
            put(cx, of, key, part);
        }
        put(cx, h, kind_name(kind), of);
    }
    Ok(h)
}
/// `__gc_schedule_events()`: the last things that happened, the oldest first: [nanoseconds ago, what, kind, text, how long]; nil: no part.
fn events(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let Some(part) = part(cx) else { return Ok(Value::NIL) };
    let all: Vec<_> = part.look(|inner, now| {
        let one = |e: &crate::look::Event| {
            let (what, kind, took) = match &e.what {
                What::Collected { kind, took, .. } => ("collected", *kind, *took),
                What::Decided { kind, .. } => ("decided", *kind, 0),
                What::InForce { kind, .. } => ("in_force", *kind, 0),
            };
            (now.saturating_sub(e.at), what, kind, e.what.to_string(), took)
        };
        inner.events.iter().map(one).collect()
    });
    let mut out = Vec::with_capacity(all.len());
    for (ago, what, kind, text, took) in all {
        let row = [cx.uint(ago), cx.sym(what), cx.sym(kind_name(kind)), cx.str(&text), cx.uint(took)];
        out.push(cx.array(&row));
    }
    Ok(cx.array_vec(out))
}
/// `__gc_schedule_timeline()`: the last minute, the oldest part first: [length of a part, [[number of parts ago, idle, idle periods,
/// speculative, in young collections, in full ones, messages sent, heard], ..]], times in nanoseconds; nil: no part.
fn timeline(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let Some(part) = part(cx) else { return Ok(Value::NIL) };
    let messages = part.messages();
    let rows: Vec<_> = part.look(|inner, now| {
        let newest = now / WIDTH;
        let row = |p: &timeline::Part| {
            let [young, full] = p.collecting;
            [newest.saturating_sub(p.number), p.idle, p.periods, p.speculative, young, full, p.sent, p.heard]
        };
        inner.timeline.parts(now, messages).map(row).collect()
    });
    let mut out = Vec::with_capacity(rows.len());
    for row in rows {
        let row = row.map(|n| cx.uint(n));
        out.push(cx.array(&row));
    }
    let pair = [cx.uint(WIDTH), cx.array_vec(out)];
    Ok(cx.array(&pair))
}
/// `__gc_avoid(name of a node)`: does it collect about now, so that requests had better go elsewhere?
fn avoid(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let name = String::from_utf8_lossy(cx.arg_str(a, 0)?.bytes()).into_owned();
    Ok(Value::bool(part(cx).is_some_and(|p| p.avoids(&name))))
}

pub static TABLE: &[NativeDef] = &[
    crate::leaf("__gc_schedule", 0, schedule),
    crate::leaf("__gc_schedule_events", 0, events),
    crate::leaf("__gc_schedule_timeline", 0, timeline),
    crate::leaf("__gc_avoid", 1, avoid),
];
