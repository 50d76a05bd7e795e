//! Outcomes as a table, and for machines.

use kumi_schedule::{Mode, Policy};
use kumi_simulate::{Outcome, Parts, Setting};
use std::fmt::Write;

/// The paper's abbreviation beside the name.
pub fn label(policy: Policy) -> String {
    let short = match policy {
        Policy::Independent => " (FI)",
        Policy::Synchronised => " (FS)",
        Policy::Adaptive(Mode::Synchronised) => " (AS)",
        Policy::Adaptive(Mode::Independent) => " (AI)",
        _ => "",
    };
    format!("{}{short}", policy.name())
}

fn time(ns: u64) -> String {
    match ns {
        0..10_000 => format!("{ns} ns"),
        10_000..10_000_000 => format!("{} us", ns / 1000),
        _ => format!("{} ms", ns / 1_000_000),
    }
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / (1 << 20) as f64)
}

/// A line for each policy: how long it took, and where all nodes' time went.
pub fn table(name: &str, about: &str, s: &Setting, outcomes: &[Outcome], bound: Option<&Outcome>, as_recorded: bool) -> String {
    let mut out = String::new();
    let (nodes, messages) = outcomes.first().map_or((0, 0), |o| (o.nodes.len(), o.messages));
    let trip = 2 * (s.latency + s.send + s.receive);
    let _ = writeln!(out, "simulated: {name}; {nodes} nodes, {messages} messages");
    out.push_str(about);
    let label = |policy| if as_recorded { "as recorded".to_owned() } else { label(policy) };
    let collections = match as_recorded {
        true => "collections as they were".to_owned(),
        false => format!(
            "heaps from {} to {}, a collection of {} and {} for each MB that lives",
            megabytes(s.heap),
            megabytes(s.limit),
            time(s.collecting.fixed),
            time(s.collecting.live_kb.saturating_mul(1024))
        ),
    };
    let _ = writeln!(out, "a round trip of {}, {}/s, {collections}\n", time(trip), megabytes(s.bandwidth));
    let best = outcomes.iter().map(|o| o.end).min().unwrap_or(0).max(1);
    let speculates = outcomes.iter().any(|o| o.total().speculative > 0);
    let some_young = outcomes.iter().any(|o| o.total().young > 0);
    let young = |text: String| if some_young { format!("{text:>7}") } else { String::new() };
    let guess = |text: &str| if speculates { format!("{text:>10}") } else { String::new() };
    let _ = writeln!(
        out,
        "{:27}{:>10}{:>7}{:>9}{}{:>9}{:>9}{:>9}{:>7}{}{:>8}{:>8}{:>8}",
        "policy",
        "seconds",
        "ratio",
        "active",
        guess("guessing"),
        "idle",
        "collect",
        "overhead",
        "full",
        young("young".into()),
        "L ms",
        "G ms",
        "MB"
    );
    let named = outcomes.iter().map(|o| (label(o.policy), o)).chain(bound.map(|o| ("without collections".to_owned(), o)));
    for (name, o) in named {
        let t = o.total();
        let all = (o.end as f64 * nodes as f64).max(1.0);
        let part = |ns: u64| format!("{:.1} %", ns as f64 / all * 100.0);
        let each = |n: u64| n as f64 / nodes.max(1) as f64;
        let interval = |ns: f64| match t.collections + t.young {
            0 => "-".to_owned(),
            all => format!("{:.1}", ns / all as f64 / 1e6),
        };
        let _ = writeln!(
            out,
            "{:27}{:>10.4}{:>7.3}{:>9}{}{:>9}{:>9}{:>9}{:>7.1}{}{:>8}{:>8}{:>8}",
            name,
            o.end as f64 / 1e9,
            o.end as f64 / best as f64,
            part(t.active),
            guess(&part(t.speculative)),
            part(t.idle),
            part(t.collecting),
            part(t.overhead),
            each(t.collections),
            young(format!("{:.1}", each(t.young))),
            interval(all - t.collecting as f64),
            interval(t.collecting as f64),
            if as_recorded { "-".to_owned() } else { format!("{:.1}", each(t.peak) / (1 << 20) as f64) }
        );
    }
    if outcomes.iter().any(|o| !o.latencies.is_empty()) {
        let _ = writeln!(out, "\n{:27}{:>10}{:>12}{:>12}{:>12}", "policy", "requests", "p50 ms", "p99 ms", "p99.9 ms");
        for o in outcomes {
            let at = |thousandths| o.percentile(thousandths) as f64 / 1e6;
            let _ = writeln!(out, "{:27}{:>10}{:>12.3}{:>12.3}{:>12.3}", label(o.policy), o.latencies.len(), at(500), at(990), at(999));
        }
    }
    out.push_str(
        "\nShares are of all nodes' time. full, young: collections of a node; L: time between two, G: of one; MB: its largest heap.\n",
    );
    out
}

fn parts(p: &Parts) -> String {
    format!(
        "{{\"active\": {}, \"speculative\": {}, \"idle\": {}, \"collection\": {}, \"overhead\": {}, \"collections\": {}, \"young\": {}, \"ordered\": {}, \"idle_periods\": {}, \"peak\": {}}}",
        p.active, p.speculative, p.idle, p.collecting, p.overhead, p.collections, p.young, p.ordered, p.idle_periods, p.peak
    )
}

/// All that outcomes have, times in nanoseconds.
pub fn json(name: &str, s: &Setting, outcomes: &[Outcome], bound: Option<&Outcome>) -> String {
    let c = &s.collecting;
    let mut out = format!(
        "{{\"simulated\": true, \"trace\": {}, \"setting\": {{\"latency\": {}, \"send\": {}, \"receive\": {}, \"switch\": {}, \"bandwidth\": {}, \"heap\": {}, \"memory\": {}, \"pause\": {}, \"pause_mb\": {}}},{}\n \"policies\": [",
        quoted(name),
        s.latency,
        s.send,
        s.receive,
        s.switch,
        s.bandwidth,
        s.heap,
        s.limit,
        c.fixed,
        c.live_kb.saturating_mul(1024),
        bound.map_or(String::new(), |o| format!(" \"without_collections\": {},", o.end))
    );
    for (i, o) in outcomes.iter().enumerate() {
        let nodes: Vec<String> = o.nodes.iter().map(parts).collect();
        let _ = write!(
            out,
            "{}\n  {{\"policy\": {}, \"end\": {}, \"orders\": {}, \"messages\": {}, \"control\": {}, \"requests\": {}, \"p50\": {}, \"p99\": {}, \"p999\": {}, \"switches\": {},\n   \"all\": {},\n   \"nodes\": [{}]}}",
            if i > 0 { "," } else { "" },
            quoted(o.policy.name()),
            o.end,
            o.orders,
            o.messages,
            o.control,
            o.latencies.len(),
            o.percentile(500),
            o.percentile(990),
            o.percentile(999),
            o.switches.len(),
            parts(&o.total()),
            nodes.join(",\n    ")
        );
    }
    out.push_str("]}\n");
    out
}

/// A text in JSON.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
