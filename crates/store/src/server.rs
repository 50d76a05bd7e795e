//! The store's thread: groups of calls, written together.
//!
//! **Invariant.** A group is done on the manager, then written, then answered. If it can't be written, the manager is made anew from
//! the file, and whoever waited or held something before the group does so again: the group was never there, but for its
//! calls, which fail. So no answer tells of what is not in the file.

use crate::file::base::{Base, Machine, NotWritten, Waiter, large, now};
use crate::file::ledger::Ledger;
use crate::file::value::{Large, Value};
use crate::handle::{End, Message, Shared};
use crate::planted::Bug;
use crate::watch::News;
use bytes::Bytes;
use kumi_segments::{Back, Call, Done, Event, Failure, LeaseId, Outcome, Place, RequestId, Segment, Time, Trouble, WatchId};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// See the module.
pub struct Server {
    base: Base,
    pub machine: Machine,
    shared: Arc<Shared>,
    pub calls: BTreeMap<u64, Open>,
    /// What callers hold on purpose, by the number that they know.
    pub leases: HashMap<u64, Held>,
    pub next_lease: u64,
    deadlines: BTreeSet<(Time, u64)>,
    watches: BTreeMap<u64, Watching>,
    /// Who was answered by the last change.
    pub woken: Vec<Waiter>,
    pub group: Group,
    /// It could not be written: until then nothing is tried.
    rest: Option<(Time, Trouble)>,
    /// What comes back when the disk is there again.
    back: Vec<(u64, Back<Value>)>,
    left: Vec<u64>,
    /// How long the last write took, and how many calls it was for.
    last: (Duration, usize),
    over: Option<Trouble>,
}

/// A call that is not done with.
pub enum Open {
    /// It waits.
    Waits(Pending, RequestId),
    /// It is answered, and nobody has said that the answer came.
    Given(Given),
}

/// What an answer has taken.
#[derive(Default)]
pub struct Given {
    /// For good: gone from the file, and kept here until the answer has come.
    pub taken: Vec<LeaseId>,
    /// To be held.
    pub held: Vec<u64>,
}

/// A call, as it may be made again.
pub struct Pending {
    pub call: Call<Value>,
    pub until: Option<Time>,
    pub end: End,
}

/// A lease that a caller knows.
#[derive(Clone)]
pub struct Held {
    pub id: LeaseId,
    /// The call that took it: one whose lease is ended has come to its caller.
    pub call: u64,
    key: Arc<[u8]>,
    place: Place,
}

struct Watching {
    id: WatchId,
    key: Vec<u8>,
    news: Arc<News>,
}

/// What a group has to say, and what it takes to forget it.
#[derive(Default)]
pub struct Group {
    calls: usize,
    pub replies: Vec<Reply>,
    /// Calls that began to wait.
    pub waiting: HashSet<u64>,
    /// Watches with news.
    pub told: BTreeSet<u64>,
    pub new_leases: Vec<u64>,
    pub ended: Vec<(u64, Held)>,
    /// What was given back.
    pub back: Vec<(u64, Back<Value>)>,
    /// Answers that their callers did not want.
    pub left: Vec<(u64, Given)>,
}

/// An answer that waits for its group to be written.
pub struct Reply {
    pub number: u64,
    pub end: End,
    pub result: Result<Done<Value>, Trouble>,
    /// The same with bytes.
    pub ready: Option<Outcome<Bytes>>,
    pub given: Given,
    pub otherwise: Otherwise,
}

/// What becomes of an answered call if its group can't be written.
pub enum Otherwise {
    /// It fails.
    Fails,
    /// It is made again: it waited before, or changes nothing.
    Again(Call<Value>, Option<Time>),
    /// It is answered all the same.
    Stays,
}

impl Reply {
    /// Its large values.
    fn values(&self) -> impl Iterator<Item = &Arc<Large>> {
        let segments = match &self.result {
            Ok(Done::Segments(l)) => &l[..],
            _ => &[],
        };
        segments.iter().filter_map(|s| large(&s.value))
    }
}

/// What watches are told.
type Told = Vec<(Arc<News>, Vec<Event<Bytes>>)>;

/// The longest that a group waits for others to come along.
const LINGER: Duration = Duration::from_micros(500);

/// The longest that it sleeps while something is to be done at a time, in nanoseconds.
const LOOK: u64 = 10_000_000_000;

impl Server {
    pub fn new(base: Base, machine: Machine, shared: Arc<Shared>) -> Server {
        Server {
            base,
            machine,
            shared,
            calls: BTreeMap::new(),
            leases: HashMap::new(),
            next_lease: 0,
            deadlines: BTreeSet::new(),
            watches: BTreeMap::new(),
            woken: Vec::new(),
            group: Group::default(),
            rest: None,
            back: Vec::new(),
            left: Vec::new(),
            last: (Duration::ZERO, 0),
            over: None,
        }
    }
    /// Serves until the store is closed.
    pub fn run(mut self) {
        let worked = catch_unwind(AssertUnwindSafe(|| self.work()));
        let why = match worked {
            Ok(()) => self.over.take().unwrap_or_else(|| Trouble::NotConnected("it was closed".into())),
            Err(_) => Trouble::Lost("it has failed, please report this".into()),
        };
        self.end(why);
    }
    fn work(&mut self) {
        self.count();
        while self.over.is_none() {
            let messages = self.gather();
            let mut closing = false;
            for m in messages {
                match m {
                    Message::Close => closing = true,
                    m => self.act(m),
                }
            }
            self.tick();
            self.finish();
            if closing {
                return;
            }
        }
    }
    /// Waits for something to do.
    fn gather(&mut self) -> Vec<Message> {
        let first = self.deadlines.first().map(|d| d.0);
        let timers = self.machine.next_deadline();
        let due = match &self.rest {
            Some((until, _)) => first.into_iter().chain([*until]).min(),
            None => first.into_iter().chain(timers).min(),
        };
        // A machine that sleeps meanwhile is found out.
        let due = due.map(|at| Instant::now() + Duration::from_nanos(at.saturating_sub(now()).min(LOOK)));
        let mut inbox = self.shared.inbox();
        while inbox.messages.is_empty() && due.is_none_or(|d| d > Instant::now()) {
            (inbox.asleep, inbox.enough) = (true, 1);
            match due {
                Some(d) => drop(self.shared.arrived.wait_until(&mut inbox, d)),
                None => self.shared.arrived.wait(&mut inbox),
            }
        }
        // Those who were answered last come again: one write does for all that come soon.
        let (took, calls) = self.last;
        if calls > 1 && inbox.calls > 0 {
            let until = Instant::now() + (took / 4).min(LINGER);
            while inbox.calls < calls {
                (inbox.asleep, inbox.enough) = (true, calls);
                if self.shared.arrived.wait_until(&mut inbox, until).timed_out() {
                    break;
                }
            }
        }
        inbox.asleep = false;
        inbox.calls = 0;
        std::mem::take(&mut inbox.messages)
    }
    /// The manager's time. While nothing can be written it stands still, so that nothing is due.
    pub fn time(&self) -> Time {
        if self.rest.is_some() { 0 } else { now() }
    }
    fn act(&mut self, m: Message) {
        match m {
            Message::Call { number, call, until, end } => {
                self.group.calls += 1;
                let refusal = self.rest.as_ref().filter(|_| changes(&call)).map(|r| r.1.clone());
                match refusal {
                    Some(why) => end(Err(why)),
                    None => self.perform(number, Pending { call, until, end }),
                }
                self.answer_woken();
            }
            Message::Got(number) => {
                if let Some(Open::Given(g)) = self.calls.remove(&number) {
                    let (now, woken) = (self.time(), &mut self.woken);
                    // The file knows it already.
                    let _ = self.machine.commit(now, &g.taken, [], &mut |w: &Waiter| woken.push(*w));
                }
                self.answer_woken();
            }
            Message::Leave(number) if self.rest.is_some() && matches!(self.calls.get(&number), Some(Open::Given(_))) => {
                self.left.push(number);
            }
            Message::Leave(number) => {
                self.leave(number);
                self.answer_woken();
            }
            Message::Watch { number, key, news } => {
                let k = self.machine.key(&key);
                if let Some(id) = self.machine.watch(k, news.most) {
                    let _ = self.machine.next_event(id, Some(Waiter::Watch(number)));
                    self.watches.insert(number, Watching { id, key, news });
                }
            }
            Message::Unwatch(number) => {
                if let Some(w) = self.watches.remove(&number) {
                    self.machine.unwatch(w.id);
                }
            }
            Message::Close => {}
        }
    }
    /// Does what is due.
    fn tick(&mut self) {
        let at = now();
        if self.rest.as_ref().is_some_and(|r| r.0 <= at) {
            self.rest = None;
            for (lease, left) in std::mem::take(&mut self.back) {
                let _ = self.give_back(lease, left);
            }
            for number in std::mem::take(&mut self.left) {
                self.leave(number);
            }
        }
        while let Some((_, number)) = self.deadlines.first().copied().filter(|d| d.0 <= at) {
            self.deadlines.pop_first();
            if let Some(Open::Waits(p, request)) = self.calls.remove(&number) {
                let (now, woken) = (self.time(), &mut self.woken);
                self.machine.leave(now, request, &mut |w: &Waiter| woken.push(*w));
                (p.end)(Err(Trouble::Failure(Failure::TimedOut)));
            }
        }
        let (now, woken) = (self.time(), &mut self.woken);
        self.machine.tick(now, &mut |w: &Waiter| woken.push(*w));
        self.answer_woken();
    }
    /// A call waits from now on.
    pub fn wait(&mut self, number: u64, p: Pending, request: RequestId) {
        if let Some(until) = p.until {
            self.deadlines.insert((until, number));
        }
        self.calls.insert(number, Open::Waits(p, request));
        self.group.waiting.insert(number);
    }
    /// A lease that its holder is told of.
    pub fn hold(&mut self, call: u64, id: LeaseId) -> u64 {
        self.next_lease += 1;
        let name = self.machine.key_of(id).and_then(|k| self.machine.name(k)).cloned();
        if let (Some(key), Some(place)) = (name, self.machine.place_of(id)) {
            self.leases.insert(self.next_lease, Held { id, call, key, place });
            self.group.new_leases.push(self.next_lease);
        }
        self.next_lease
    }

    /// Writes the group, and answers.
    fn finish(&mut self) {
        self.fetch();
        let events = self.events();
        let _ = self.base.fetch(events.iter().flat_map(|(_, l)| l).filter_map(|e| large(e.value.as_ref()?)));
        let started = Instant::now();
        let early = self.base.planted == Some(Bug::AnswerFirst);
        let mut ready = self.prepare(events);
        if early {
            self.answer(std::mem::take(&mut ready));
        }
        let written = match self.machine.journal().is_empty() {
            true => Ok(()),
            false => self.base.write(&mut self.machine).map(|()| {
                self.last = (started.elapsed(), self.group.calls);
            }),
        };
        self.count();
        match written {
            Ok(()) if early => {}
            Ok(()) => self.answer(ready),
            Err(NotWritten::Undone(why, before)) => {
                // The longer it takes to find out, the rarer it is tried.
                let pause = started.elapsed().clamp(Duration::from_millis(100), Duration::from_secs(5));
                self.rest = Some((now().saturating_add(pause.as_nanos() as u64), why.clone()));
                self.undo(*before, &why);
            }
            Err(NotWritten::Lost(why)) => self.over = Some(why),
        }
        self.group.calls = 0;
    }
    fn count(&self) {
        let mut s = self.shared.stats.lock();
        s.groups = self.base.group();
        s.calls += self.group.calls as u64;
        s.syncs = self.base.syncs();
        s.bytes = self.base.bytes();
    }
    /// Reads values of answers that are not in memory. An answer whose value can't be read is none, and what it took comes back.
    fn fetch(&mut self) {
        loop {
            let values = self.group.replies.iter().flat_map(Reply::values);
            let Err(why) = self.base.fetch(values) else { return };
            let mut back = Vec::new();
            for r in self.group.replies.iter_mut().filter(|r| r.values().any(|l| l.held().is_none())) {
                r.result = Err(why.clone());
                back.push(std::mem::take(&mut r.given));
            }
            if back.is_empty() {
                return;
            }
            back.iter().for_each(|g| self.take_back(g));
            // Others may have it now.
            self.answer_woken();
        }
    }
    /// What watches are told of the group.
    fn events(&mut self) -> Vec<(Arc<News>, Vec<Event<Value>>)> {
        let mut all = Vec::new();
        for number in &std::mem::take(&mut self.group.told) {
            let Some(w) = self.watches.get(number) else { continue };
            let mut events = Vec::new();
            while let Some(e) = self.machine.next_event(w.id, Some(Waiter::Watch(*number))) {
                events.push(e);
            }
            if !events.is_empty() {
                all.push((w.news.clone(), events));
            }
        }
        all
    }
    /// Bytes of everything that will be told, before they are let go of by the write. The values that were used.
    fn prepare(&mut self, events: Vec<(Arc<News>, Vec<Event<Value>>)>) -> (Told, Vec<Arc<Large>>) {
        let mut used: Vec<Arc<Large>> = self.group.replies.iter().flat_map(Reply::values).cloned().collect();
        used.extend(events.iter().flat_map(|(_, l)| l).filter_map(|e| large(e.value.as_ref()?)).cloned());
        for r in self.group.replies.iter_mut().filter(|r| r.ready.is_none()) {
            let result = std::mem::replace(&mut r.result, Ok(Done::Nothing));
            r.ready = Some(result.and_then(|done| done.try_map(&mut bytes).map_err(|()| missing())));
        }
        let told = events.into_iter().map(|(n, l)| (n, l.into_iter().map(event).collect())).collect();
        (told, used)
    }
    fn answer(&mut self, (told, used): (Told, Vec<Arc<Large>>)) {
        let group = std::mem::take(&mut self.group);
        self.group.calls = group.calls;
        let mut ends = Vec::with_capacity(group.replies.len());
        for Reply { number, end, ready, given, .. } in group.replies {
            ends.push((end, ready.unwrap_or(Ok(Done::Nothing))));
            if !given.taken.is_empty() || !given.held.is_empty() {
                for l in &given.taken {
                    // It is nowhere else, until it is known to have come.
                    self.machine.leased(*l).and_then(|s| large(&s.0.value)).into_iter().for_each(|l| l.removed());
                }
                self.calls.insert(number, Open::Given(given));
            }
        }
        used.iter().for_each(|l| l.release());
        for (news, events) in told {
            news.add(events);
        }
        for (end, result) in ends {
            end(result);
        }
    }
    /// The group was not written: everything is as before, on the manager that was made anew.
    fn undo(&mut self, before: Machine, why: &Trouble) {
        let old = std::mem::replace(&mut self.machine, before);
        let group = std::mem::take(&mut self.group);
        let time = self.time();
        self.woken.clear();
        for n in group.new_leases {
            self.leases.remove(&n);
        }
        self.leases.extend(group.ended);
        let machine = &mut self.machine;
        self.leases.retain(|_, held| {
            let key = machine.key(&held.key);
            machine.lease_again(time, key, held.place).map(|id| held.id = id).is_some()
        });
        // Answers on their way have taken what is in the file no more.
        self.left.extend(group.left.iter().map(|l| l.0));
        self.calls.extend(group.left.into_iter().map(|(n, g)| (n, Open::Given(g))));
        for open in self.calls.values_mut() {
            let Open::Given(g) = open else { continue };
            g.taken = g.taken.iter().filter_map(|l| take_over(machine, &old, *l)).collect();
        }
        let mut failed = Vec::new();
        for number in group.waiting {
            if let Some(Open::Waits(p, _)) = self.calls.remove(&number) {
                failed.push(p.end);
            }
        }
        let mut again = std::mem::take(&mut self.calls);
        self.calls = again.extract_if(.., |_, o| matches!(o, Open::Given(_))).collect();
        let mut again: BTreeMap<u64, Pending> =
            again.into_iter().filter_map(|(n, o)| if let Open::Waits(p, _) = o { Some((n, p)) } else { None }).collect();
        for r in group.replies {
            match r.otherwise {
                Otherwise::Again(call, until) => drop(again.insert(r.number, Pending { call, until, end: r.end })),
                Otherwise::Stays => self.group.replies.push(Reply { given: Given::default(), ..r }),
                Otherwise::Fails => failed.push(r.end),
            }
        }
        self.back.extend(group.back);
        for w in self.watches.iter_mut() {
            let k = self.machine.key(&w.1.key);
            if let Some(id) = self.machine.watch(k, w.1.news.most) {
                let _ = self.machine.next_event(id, Some(Waiter::Watch(*w.0)));
                w.1.id = id;
            }
        }
        for (number, p) in again {
            self.perform(number, p);
        }
        self.group.waiting.clear();
        self.answer_woken();
        for end in failed {
            end(Err(why.clone()));
        }
        // What was made again changes nothing, and can be answered. The file has everything.
        self.fetch();
        *self.machine.journal() = Ledger::default();
        let ready = self.prepare(Vec::new());
        self.answer(ready);
    }
    /// Nobody is served any more.
    fn end(&mut self, why: Trouble) {
        let messages = self.shared.end(after(&why));
        self.base.close();
        for r in std::mem::take(&mut self.group.replies) {
            (r.end)(Err(why.clone()));
        }
        for open in std::mem::take(&mut self.calls).into_values() {
            // It has changed nothing.
            if let Open::Waits(p, _) = open {
                (p.end)(Err(after(&why)));
            }
        }
        for m in messages {
            match m {
                Message::Call { end, .. } => end(Err(after(&why))),
                Message::Watch { news, .. } => news.end(),
                _ => {}
            }
        }
        for w in std::mem::take(&mut self.watches).into_values() {
            w.news.end();
        }
    }
}

/// What those are told who come later.
fn after(why: &Trouble) -> Trouble {
    match why {
        Trouble::Lost(why) => Trouble::NotConnected(format!("{why}. It is to be opened anew").into()),
        why => why.clone(),
    }
}

/// What was taken and is on its way to its taker, in another manager.
fn take_over(to: &mut Machine, from: &Machine, lease: LeaseId) -> Option<LeaseId> {
    let (segment, ends): (&Segment<Value>, Option<Time>) = from.leased(lease)?;
    let key = to.key(from.name(from.key_of(lease)?)?);
    let place = from.place_of(lease)?;
    if !to.restore(key, place, segment.clone(), ends) {
        return None;
    }
    let id = to.lease_again(0, key, place)?;
    to.count_as_gone(id);
    Some(id)
}

/// Does it change anything, or may it?
fn changes(call: &Call<Value>) -> bool {
    match call {
        Call::Get(ask) => ask.inputs.iter().any(|i| i.1 == kumi_segments::Kind::Take),
        Call::Names { .. } | Call::Stats(_) | Call::Extend { .. } | Call::GiveBack { .. } | Call::Leave(_) | Call::Watch(_) => false,
        Call::Put(_) | Call::Commit { .. } | Call::Limit(..) => true,
    }
}

fn bytes(v: Value) -> Result<Bytes, ()> {
    match v {
        Value::Small(b) => Ok(b),
        Value::Large(l) => l.held().ok_or(()),
    }
}
fn missing() -> Trouble {
    Trouble::Store("a value can't be read".into())
}
fn event(e: Event<Value>) -> Event<Bytes> {
    let Event { what, index, value, missed } = e;
    Event { what, index, value: value.and_then(|v| bytes(v).ok()), missed }
}

impl Server {
    /// Is nothing to be changed now?
    pub fn rests(&self) -> bool {
        self.rest.is_some()
    }
    pub fn give_back_later(&mut self, lease: u64, left: Back<Value>) {
        self.back.push((lease, left));
    }
}
