//! Calls of the actors: made at a client or at home, answered, left.

use super::*;

impl World {
    /// Makes a call for an actor. `patience`: its deadline.
    pub fn issue(&mut self, p: usize, actor: usize, owner: usize, call: Call<u64>, inputs: Vec<u64>, patience: Option<u64>) -> usize {
        let op = self.book.ops.len();
        let outputs: Vec<u64> = match &call {
            Call::Put(put) => vec![put.store.value],
            Call::Commit { outputs, .. } => outputs.iter().map(|o| o.value).collect(),
            _ => Vec::new(),
        };
        if matches!(call, Call::Commit { .. }) {
            outputs.iter().for_each(|v| self.book.value(*v).output_of = Some(op));
        }
        let local = owner == self.procs[p].name;
        let peeks_state = matches!(&call, Call::Get(a) if a.inputs[0].0 == KEYS[STATE]);
        let updated = if peeks_state { self.book.updated.clone() } else { BTreeMap::new() };
        let c = call.clone();
        self.book.ops.push(Op {
            proc: p,
            actor,
            owner,
            call,
            inputs,
            outputs,
            handle: None,
            left: false,
            ended: None,
            committed: None,
            honest: false,
            updated,
            given: None,
        });
        if self.tell {
            self.say(format!("proc {p} actor {actor} op {op} to {owner}: {c:?} {patience:?}"));
        }
        if local {
            if let Some(result) = self.at_home(p, op, &c) {
                self.ended(op, result);
            } else if let Some(d) = patience {
                self.push(self.now + d, Event::Over(op));
            }
        } else {
            let mut handle = 0;
            self.at_client(p, owner, |client, now, out| handle = client.call(now, c, op as u64, patience.map(|d| now + d), out));
            self.book.ops[op].handle = Some(handle);
        }
        op
    }
    /// Does a call at its own node; nothing: it waits.
    pub(super) fn at_home(&mut self, p: usize, op: usize, call: &Call<u64>) -> Option<Result<Done<u64>, Failure>> {
        let mut result = None;
        let mut claims = Vec::new();
        let (mut wait, mut leases) = (None, BTreeMap::new());
        let mut next_lease = 0;
        if let Some(live) = &mut self.procs[p].live {
            leases = std::mem::take(&mut live.leases);
            next_lease = live.next_lease;
        }
        let refuse = |r| Some(Err(Failure::Refused(r)));
        self.at_node(p, |node, now, wake, send| {
            let mut woken = |w: &u64| wake(w);
            result = node.with(&mut woken, |m, wk| match call {
                Call::Put(put) => {
                    let key = m.key(&put.store.key);
                    let delay = put.store.delay.map(|d| now + d);
                    let new = New { value: put.store.value, owned: false, not_before: delay, ttl: put.store.ttl };
                    if put.store.update {
                        return Some(Ok(Done::Stored(m.update(now, key, new, wk))));
                    }
                    match m.put(now, key, new, wk) {
                        Ok(Stored::At(i)) => Some(Ok(Done::Stored(Some(i)))),
                        Ok(Stored::Later) => Some(Ok(Done::Stored(None))),
                        Err(new) if put.wait => {
                            wait = Some((m.wait_for_room(key, Some(new), kumi_segments::Waiter::Local(op as u64)), false));
                            None
                        }
                        Err(_) => refuse(Refusal::Full),
                    }
                }
                Call::Get(ask) => {
                    let inputs: Vec<Input> =
                        ask.inputs.iter().map(|(k, kind, after)| Input { key: m.key(k), kind: *kind, after: *after }).collect();
                    let hold = ask.lease.map_or(Hold::Never, Hold::For);
                    let waiter = ask.wait.then_some(kumi_segments::Waiter::Local(op as u64));
                    match m.get(now, &inputs, hold, waiter, wk) {
                        Ok(Asked::Here(answers)) => Some(Ok(Done::Segments(segments(answers, &mut leases, &mut next_lease)))),
                        Ok(Asked::Waits(id)) => {
                            wait = Some((id, ask.lease.is_some()));
                            None
                        }
                        Ok(Asked::Nothing) => Some(Ok(Done::Nothing)),
                        Err(s) => refuse(Refusal::Stale { last: s.last }),
                    }
                }
                Call::Commit { leases: ls, outputs } => {
                    let held: Vec<LeaseId> = ls.iter().filter_map(|l| leases.get(l).copied()).collect();
                    let outputs: Vec<Output<u64>> =
                        outputs.iter().map(|o| Output { key: m.key(&o.key), update: false, new: New::shared(o.value) }).collect();
                    match m.commit(now, &held, outputs, wk) {
                        Ok(()) => Some(Ok(Done::Ok)),
                        Err(_) => refuse(Refusal::LeaseOver),
                    }
                }
                Call::GiveBack { lease, .. } => match leases.get(lease).map(|l| m.give_back(now, *l, kumi_segments::Back::Same, wk)) {
                    Some(Ok(())) => Some(Ok(Done::Ok)),
                    _ => refuse(Refusal::LeaseOver),
                },
                _ => refuse(Refusal::Bad),
            });
            if node.has_answers() {
                node.flush(now, send);
            }
            claims.extend(wait.map(|w| (op, w)));
        });
        if let Some(live) = &mut self.procs[p].live {
            live.leases = leases;
            live.next_lease = next_lease;
            live.waits.extend(claims);
        }
        if let (Call::Commit { .. }, Some(Ok(Done::Ok))) = (call, &result) {
            let incarnation = self.procs[p].incarnation;
            self.book.committed(op, self.now, incarnation);
        }
        result
    }
    pub(super) fn claim(&mut self, op: usize) {
        let p = self.book.ops[op].proc;
        let live = self.live(p).0;
        let Some((id, _)) = live.waits.get(&op).copied() else { return };
        let (mut leases, mut next) = (std::mem::take(&mut live.leases), live.next_lease);
        let mut done = None;
        self.at_node(p, |node, _, wake, _| {
            done = node.with(|w: &u64| wake(w), |m, _| m.claim(id)).map(|c| match c {
                Claimed::Answers(a) => Done::Segments(segments(a, &mut leases, &mut next)),
                Claimed::Stored(Stored::At(i)) => Done::Stored(Some(i)),
                Claimed::Stored(Stored::Later) => Done::Stored(None),
            });
        });
        let live = self.live(p).0;
        (live.leases, live.next_lease) = (leases, next);
        if let Some(done) = done {
            live.waits.remove(&op);
            self.ended(op, Ok(done));
        }
    }
    /// Ends a wait at the op's own node. False: it is over, or a put that has found room.
    pub(super) fn unwait(&mut self, op: usize) -> bool {
        let p = self.book.ops[op].proc;
        let Some((id, _)) = self.live(p).0.waits.remove(&op) else { return false };
        let mut stored = None;
        self.at_node(p, |node, now, wake, send| {
            stored = node.with(|w: &u64| wake(w), |m, wk| m.leave(now, id, wk));
            node.flush(now, send);
        });
        match stored {
            Some(Stored::At(i)) => self.ended(op, Ok(Done::Stored(Some(i)))),
            Some(Stored::Later) => self.ended(op, Ok(Done::Stored(None))),
            None => return true,
        }
        false
    }
    /// An actor does not want an answer any more.
    pub(super) fn leave(&mut self, op: usize) {
        let o = &self.book.ops[op];
        if o.ended.is_some() || o.left {
            return;
        }
        let (p, owner, handle, actor) = (o.proc, o.owner, o.handle, o.actor);
        if let Some(handle) = handle {
            self.at_client(p, owner, |c, now, out| c.leave(now, handle, out));
        } else if !self.unwait(op) {
            return;
        }
        self.book.ops[op].left = true;
        for v in self.book.ops[op].outputs.clone() {
            self.book.stored(v, Status::Unknown);
        }
        self.push(self.now + MS, Event::Step(p, actor));
    }
    /// An asker uses what it took, if it is still there and has not gone.
    pub(super) fn use_given(&mut self, op: usize) {
        let o = &mut self.book.ops[op];
        let (Some(result), false, Some(handle)) = (o.given.take(), o.left, o.handle) else { return };
        let (p, owner) = (o.proc, o.owner);
        let mut used = false;
        self.at_client(p, owner, |c, now, out| used = c.used(now, handle, op as u64, out));
        if used {
            self.ended(op, result);
        }
    }
    /// A call has ended.
    pub(super) fn ended(&mut self, op: usize, result: Result<Done<u64>, Failure>) {
        if self.tell {
            self.say(format!("op {op} ends: {result:?}"));
        }
        let o = &self.book.ops[op];
        if o.ended.is_some() || o.left {
            return self.book.wrong(format!("op {op} ends twice, or after it was left: {result:?}"));
        }
        let (p, owner, actor, call, outputs) = (o.proc, o.owner, o.actor, o.call.clone(), o.outputs.clone());
        let committed = o.committed.is_some();
        let renewed = o.honest && o.handle.is_some() && self.plan.lost == 0 && self.book.troubles.is_empty();
        let local = owner == self.procs[p].name;
        let incarnation = match &self.procs[p].live {
            _ if local => self.procs[p].incarnation,
            Some(l) => l.clients[owner].owner(),
            None => 0,
        };
        self.book.ops[op].ended = Some(result.clone());
        let status = match &result {
            Ok(_) => Status::Stored(incarnation),
            Err(Failure::Refused(_) | Failure::TimedOut) => Status::Nothing,
            Err(_) => Status::Unknown,
        };
        match (&call, &result) {
            (Call::Put(_), Ok(Done::Stored(index))) => self.book.acknowledged(op, incarnation, outputs[0], *index),
            (Call::Commit { .. }, Ok(_)) if !committed => self.book.wrong(format!("op {op}: a commit is acknowledged that was not done")),
            (Call::Commit { .. }, Err(Failure::Refused(_) | Failure::TimedOut)) if committed => {
                self.book.wrong(format!("op {op}: a commit was refused that was done"));
            }
            (Call::Commit { .. }, Err(Failure::Refused(r))) if renewed => {
                self.book.wrong(format!("op {op}: a lease that was renewed is over: {r:?}"));
            }
            (Call::Get(ask), Ok(Done::Segments(all))) => {
                if all.len() != ask.inputs.len() {
                    self.book.wrong(format!("op {op}: {} segments for {} inputs", all.len(), ask.inputs.len()));
                }
                for (s, (_, kind, after)) in all.iter().zip(&ask.inputs) {
                    self.book.seen(s.value, incarnation, s.index);
                    let updated = self.book.ops[op].updated.get(&incarnation).copied().unwrap_or(0);
                    if s.index < updated {
                        self.book.wrong(format!("op {op}: index {} was replaced by {updated} before it was asked for", s.index));
                    }
                    if after.is_some_and(|a| s.index <= a) {
                        self.book.wrong(format!("op {op}: index {} is not after {after:?}", s.index));
                    }
                    if *kind == Kind::Take && ask.lease.is_none() {
                        let how = if local { How::Local } else { How::Plain };
                        let by = self.procs[p].name;
                        self.book.taken(s.value, Taken { at: self.now, by, owner, incarnation, how }, Some(s.index));
                    }
                    if *kind == Kind::Peek {
                        self.book.peeked.entry((p, actor, incarnation)).or_default().insert(s.index);
                    }
                }
            }
            (Call::Put(_) | Call::Commit { .. }, _) => outputs.iter().for_each(|v| self.book.stored(*v, status)),
            _ => {}
        }
        if actor != NOBODY {
            let at = self.now + self.think.below(150) * MS;
            self.push(at, Event::Step(p, actor));
        }
    }
}
