//! The end: everything has healed, and the book is checked.

use super::*;

impl World {
    /// Everything has healed: whoever waits gets what it waits for.
    pub(super) fn drain(&mut self) {
        for p in self.newest.clone() {
            let name = self.procs[p].name;
            for key in 0..KEYS.len() {
                self.at_node(p, |node, now, wake, send| {
                    node.with(
                        |w: &u64| wake(w),
                        |m, wk| {
                            let key = m.key(KEYS[key]);
                            m.set_limit(now, key, None, wk);
                        },
                    );
                    node.flush(now, send);
                });
                for _ in 0..if key == STATE { 0 } else { 12 } {
                    let value = self.book.new_value(key, false, None);
                    let store =
                        kumi_segments::Store { key: KEYS[key].to_vec(), update: false, value, owned: false, delay: None, ttl: None };
                    self.issue(p, NOBODY, name, Call::Put(Put { store, wait: false }), Vec::new(), None);
                }
            }
            let value = self.book.new_value(STATE, true, None);
            let store = kumi_segments::Store { key: KEYS[STATE].to_vec(), update: true, value, owned: false, delay: None, ttl: None };
            self.issue(p, NOBODY, name, Call::Put(Put { store, wait: false }), Vec::new(), None);
        }
    }
    pub(super) fn check_end(&mut self) {
        // Nobody comes to the manager of a node that another of its name has replaced.
        let alone = |o: &Op| o.handle.is_none() && !self.newest.contains(&o.proc);
        let open = self.book.ops.iter().position(|o| o.ended.is_none() && !o.left && !alone(o));
        if let Some(op) = open {
            let what = format!(
                "op {op} of proc {} to {} never ends: {:?}",
                self.book.ops[op].proc, self.book.ops[op].owner, self.book.ops[op].call
            );
            return self.book.wrong(what);
        }
        for p in self.newest.clone() {
            let Proc { live: Some(live), name, incarnation, .. } = &self.procs[p] else { continue };
            let m = live.node.manager();
            let calls: usize = live.clients.iter().map(|c| c.open_calls() + c.leases()).sum();
            let left = [calls, live.node.open_calls(), m.requests(), m.leases(), m.next_deadline().iter().count()];
            if left != [0; 5] {
                return self.book.wrong(format!("at node {name} is left (clients, calls, requests, leases, timers): {left:?}"));
            }
            if live.node.sessions() >= self.plan.nodes {
                return self.book.wrong(format!("node {name} has {} sessions", live.node.sessions()));
            }
            let mut there = std::collections::BTreeSet::new();
            let mut logged = 0;
            let mut twice = None;
            for (i, name) in KEYS.iter().enumerate() {
                let Some(key) = m.find_key(name) else { continue };
                m.each_value_under(key, |v| {
                    if !there.insert(*v) {
                        twice = Some(*v);
                    }
                    logged += u64::from(i == LOG);
                });
            }
            if let Some(v) = twice {
                return self.book.wrong(format!("value {v} is there twice at the end"));
            }
            for (i, v) in self.book.values.iter().enumerate() {
                let value = i as u64 + 1;
                let is_there = there.contains(&value);
                let gone = v.taken.iter().any(|t| t.incarnation == *incarnation);
                if is_there && (v.status == Status::Nothing || v.taken.iter().any(|t| matches!(t.how, How::Local | How::Commit))) {
                    return self.book.wrong(format!("value {value} is there still: {:?} {:?}", v.status, v.taken));
                }
                let put = v.output_of.and_then(|op| self.book.ops[op].committed) == Some(*incarnation);
                if (put || v.status == Status::Stored(*incarnation)) && !is_there && !gone && !v.mortal {
                    return self.book.wrong(format!("value {value} under {} is lost at node {name}", v.key));
                }
            }
            // Whoever looks behind the last index at every turn misses none.
            for ((q, a, inc), seen) in &self.book.peeked {
                let peeks_log = self.procs[*q].live.as_ref().and_then(|l| l.actors.get(*a)).is_some_and(|a| a.peeks_at_log());
                if inc == incarnation && peeks_log {
                    let (first, last) = (*seen.first().unwrap_or(&0), *seen.last().unwrap_or(&0));
                    if last + 1 - first != seen.len() as u64 {
                        return self.book.wrong(format!("proc {q} actor {a} has seen {seen:?} of the log of node {name}"));
                    }
                }
            }
        }
    }
}
