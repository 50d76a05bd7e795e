//! What is to be seen of references and calls: counts, and who holds how many of whose.

use crate::leaf;
use crate::state::{host, host_seen};
use kumi_vm::*;

/// `__rem_exports()`: [[object, [names of nodes]], ..] of all that others hold.
fn exports(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let host = host(cx)?;
    let all: Vec<(u64, Vec<String>)> = host.look(|inner| {
        let handles: Vec<u64> = inner.seen.exports().map(|x| x.0).collect();
        let name = |l: kumi_remote::Life| inner.name_of(l.node).map_or(String::new(), |n| n.to_string());
        handles.into_iter().map(|h| (h, inner.seen.holders(h).into_iter().map(name).collect())).collect()
    });
    let mut rows = Vec::new();
    for (bits, names) in all {
        let names: Vec<Value> = names.iter().map(|n| cx.str(n)).collect();
        let row = [Value::from_bits(bits), cx.array_vec(names)];
        rows.push(cx.array(&row));
    }
    Ok(cx.array_vec(rows))
}

/// `__rem_stat()`: exports, imports, parcels, operations that wait, packets, bytes, released, swept, rounds, peers lost,
/// rounds that ended, full collections in rounds, marks, imports that only exports reach.
fn stat(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let host = host(cx)?;
    let (s, collections) = host.look(|inner| (inner.seen.stats(), inner.rounds.collections));
    let n = |n: usize| Value::fix(n as i64);
    let u = |n: u64| Value::fix(n.min(i64::MAX as u64 / 4) as i64);
    let row = [
        n(s.exports),
        n(s.imports),
        n(s.parcels),
        n(s.waiting),
        u(s.packets),
        u(s.bytes),
        u(s.released),
        u(s.swept),
        u(s.rounds),
        u(s.lost),
        u(s.rounds_ended),
        u(collections),
        u(s.marks),
        n(s.suspects),
    ];
    Ok(cx.array(&row))
}

/// `__rem_between()`: of each node that answers calls, by their names: [name, objects of this node that it holds, objects of it that this
/// node holds, calls of it that wait for an answer, calls of this node that it has under way]. nil: this node takes no part.
fn between(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let Some(host) = host_seen(cx) else { return Ok(Value::NIL) };
    let mut all: Vec<(Box<str>, [usize; 4])> = host.look(|inner| {
        let row = |(name, p): (&std::sync::Arc<str>, &crate::host::Peer)| {
            let (holds, held) = inner.seen.between(p.node)?;
            Some((Box::from(&**name), [holds, held, p.calls.len(), p.runs.len()]))
        };
        inner.peers.iter().filter_map(row).collect()
    });
    all.sort_unstable();
    let mut rows = Vec::new();
    for (name, counts) in all {
        let mut row = vec![cx.str(&name)];
        row.extend(counts.map(|n| Value::fix(n as i64)));
        rows.push(cx.array_vec(row));
    }
    Ok(cx.array_vec(rows))
}

pub static TABLE: &[NativeDef] = &[leaf("__rem_exports", 0, exports), leaf("__rem_stat", 0, stat), leaf("__rem_between", 0, between)];
