//! A node's side of the store: calls in, commands out; replies in, ends of calls out. Time is an argument.
//!
//! **Invariant.** Every call ends once. What changes the store is named by (client, row, number) in the client's table there, so
//! that a call whose reply was lost is asked for again and done once. A row belongs to one call at a time, and its numbers rise: what an
//! old connection still brings is late, and is refused. What ends leases needs no row: they end once. A take is asked for under a lease whose
//! name is the client's and of that asking alone, and its value is handed out when the store has confirmed the end of that lease. So what never
//! arrives comes back, and what was handed out does not.
//!
//! Who waits costs no connection and no thread. It has looked since the store said that this client hears what comes under its key; and whatever
//! comes makes it look again (`wait`).
//!
//! One server is reached by one line, of two connections (`line`). In a cluster there is a line to each primary, and a call goes where its slot is (`cluster`).

mod answer;
mod ask;
mod cluster;
mod copies;
mod lease;
mod line;
mod listing;
mod tidy;
mod wait;
mod watch;
mod window;

pub use cluster::ClusterMap;
pub use line::{Broken, News, Side};
pub use watch::Happened;

use crate::names::Namespace;
use bytes::Bytes;
use kumi_segments::{Back, Call, Done, Failure, INPUTS, Outcome, Refusal, RemoteSegment, Time, Trouble};
use lease::Held;
use line::Line;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::num::NonZero;
use wait::Key;

/// Nanoseconds of a millisecond.
pub(crate) const MS: Time = 1_000_000;

/// The longest name of a key, in bytes.
pub const KEY_BYTES: usize = 1024;

/// How a client behaves.
#[derive(Clone, Debug)]
pub struct Options {
    /// What its keys begin with.
    pub namespace: Namespace,
    /// Who it is: no other client ever is called so.
    pub client: String,
    /// Its name in the server's list of clients.
    pub name: String,
    /// User and password.
    pub login: Option<(String, String)>,
    /// The number of the database.
    pub database: u32,
    /// Its store is a cluster.
    pub cluster: bool,
    /// So many replicas are to have what is acknowledged, and within so many milliseconds; 0: it is not asked.
    pub replicas: u32,
    /// See `replicas`.
    pub copied_within: u64,
    /// How long what a plain take is given stands under a lease until it is confirmed.
    pub lease: Time,
    /// A store that was away for so long is given up: calls end.
    pub patience: Time,
    /// So many calls may be open at a time.
    pub calls: usize,
}

impl Options {
    /// The defaults, for a client that is called so.
    pub fn new(namespace: Namespace, client: String) -> Options {
        Options {
            namespace,
            name: format!("kumi-{client}"),
            client,
            login: None,
            database: 0,
            cluster: false,
            replicas: 0,
            copied_within: 1000,
            lease: 10_000 * MS,
            patience: 30_000 * MS,
            calls: 1 << 16,
        }
    }
}

/// What a call has come to.
pub type Ended = Outcome<Bytes>;

/// Since this long nobody knows whether a call without a reply was done: the client's table may have forgotten it.
const FORGOTTEN: Time = 20 * 60_000 * MS;
/// The client's table is kept so long after its last use, in milliseconds.
const KEEP: u64 = 3_600_000;

struct Pending<T> {
    call: Call<Bytes>,
    /// `None`: nobody wants the answer.
    token: Option<T>,
    began: Time,
    deadline: Option<Time>,
    step: Step,
    /// Its row in the client's table, from when it first needs one.
    row: Option<u32>,
    /// What is being done has this number.
    number: u64,
    /// It was sent before, on a connection that was lost.
    again: bool,
    /// What it has come to, where it is awaited that replicas have it.
    done: Option<Box<Done<Bytes>>>,
    /// Of a plain take: how often what it was given came later than its lease lasted. The next one lasts twice as long.
    late: u32,
    /// Of a get: its numbers when it was, and was not answered.
    earlier: Vec<u64>,
    first_sent: Option<Time>,
    /// What it is about is in this slot of a cluster.
    slot: Option<u16>,
    /// The line that it was sent on, and how many commands that had written then.
    line: Option<u16>,
    sent_at: u64,
    /// It tries because of something that came under this key, in that round.
    poked: Option<Bytes>,
    round: u64,
    /// Its time is over, and it is found out whether it was done.
    grace: bool,
    /// The leases that it is about: keys, and their names there.
    held: Vec<(Bytes, String)>,
    /// Names that were found so far.
    names: Vec<Vec<u8>>,
    how: How,
}

impl<T> Pending<T> {
    /// Are segments asked for by its next step?
    fn asks(&self) -> bool {
        matches!(self.call, Call::Get(_)) && !matches!(self.step, Step::Confirms(..))
    }
}

/// What the library itself does with a call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    /// As it says.
    Asked,
    /// A segment comes back that nobody has seen.
    Unseen,
    /// The same, after its lease was ended.
    Entry,
    /// Keys are brought up to date, in a cluster those in one slot.
    Sweep(Option<u16>),
    /// Names in one slot of a cluster, for who asks about all of them.
    Part(u64, u16),
    /// A node of a cluster is asked which slots have names, in steps: for a sweep, or for who asks about all names.
    Scan(u16, Option<NonZero<u64>>),
    /// The same for one that is watched.
    Watch,
}

impl How {
    /// Who asked about all names, if it is for that.
    fn of(self) -> Option<u64> {
        match self {
            How::Part(of, _) => Some(of),
            How::Scan(_, of) => of.map(NonZero::get),
            _ => None,
        }
    }
}

enum Step {
    /// To be sent.
    Queued,
    /// Its reply is awaited.
    Sent,
    /// Something is missing under this key.
    Waits(Bytes),
    /// What it has taken; the end of the leases is to be confirmed under this number. Was that sent?
    Confirms(Vec<Entry>, u64, bool),
}

/// What a get has brought, as it stood in the store.
#[derive(Clone)]
struct Entry {
    whole: Bytes,
    index: u64,
    deliveries: u32,
    flags: u8,
}

/// Before the value: place, index, end, deliveries, flags.
const HEAD: usize = 29;

impl Entry {
    fn read(whole: &Bytes) -> Option<Entry> {
        let word = |at: usize| whole.get(at..at + 8)?.try_into().ok().map(u64::from_be_bytes);
        let deliveries = whole.get(24..28)?.try_into().ok().map(u32::from_be_bytes)?;
        Some(Entry { index: word(8)?, deliveries, flags: *whole.get(28)?, whole: whole.clone() })
    }
    fn segment(&self, lease: Option<u64>) -> RemoteSegment<Bytes> {
        RemoteSegment {
            index: self.index,
            value: self.whole.slice(HEAD..),
            owned: self.flags & 1 != 0,
            changed: self.flags & 2 != 0,
            deliveries: self.deliveries,
            lease,
        }
    }
}

/// See the module. `T`: what names a call to whoever made it.
pub struct Machine<T> {
    options: Options,
    /// To the server; or to each primary of a cluster.
    lines: Vec<Line>,
    cluster: Option<Box<cluster::Cluster>>,
    calls: BTreeMap<u64, Pending<T>>,
    last_call: u64,
    last_number: u64,
    deadlines: BTreeSet<(Time, u64)>,
    /// What plain takes were given that was not used yet.
    given: HashMap<u64, Vec<(Bytes, Bytes)>>,
    /// Rows that are free, and how many there are.
    rows: BTreeSet<u32>,
    row_count: u32,
    keys: HashMap<Bytes, Key>,
    /// Puts under way that are done in their order, by keys.
    puts: HashMap<Bytes, BTreeSet<u64>>,
    /// Keys by their channels.
    channels: HashMap<Bytes, Bytes>,
    /// Keys under which something is due.
    dues: BTreeSet<(Time, Bytes)>,
    /// Since when keys' lines are idle.
    idle: BTreeSet<(Time, Bytes)>,
    watched: HashMap<Bytes, watch::Watched>,
    watch_channels: HashMap<Bytes, Bytes>,
    happened: Vec<(Bytes, Happened)>,
    /// Rounds of looking again.
    rounds: u64,
    leases: HashMap<u64, Held>,
    last_lease: u64,
    tidy: tidy::Tidy,
    renewals: BTreeSet<(Time, u64)>,
    table_kept: Option<Time>,
    sweep_at: Time,
    sweep_from: Vec<u8>,
    ended: Vec<(T, Ended)>,
}

impl<T> Machine<T> {
    /// One without a connection.
    pub fn new(now: Time, options: Options) -> Machine<T> {
        let lines = if options.cluster { Vec::new() } else { vec![Line::to(None, now)] };
        Machine {
            lines,
            cluster: options.cluster.then(|| Box::new(cluster::Cluster::new(now))),
            options,
            calls: BTreeMap::new(),
            last_call: 0,
            last_number: 0,
            deadlines: BTreeSet::new(),
            given: HashMap::new(),
            rows: BTreeSet::new(),
            row_count: 0,
            keys: HashMap::new(),
            puts: HashMap::new(),
            channels: HashMap::new(),
            dues: BTreeSet::new(),
            idle: BTreeSet::new(),
            watched: HashMap::new(),
            watch_channels: HashMap::new(),
            happened: Vec::new(),
            rounds: 0,
            leases: HashMap::new(),
            last_lease: 0,
            tidy: tidy::Tidy::default(),
            renewals: BTreeSet::new(),
            table_kept: None,
            sweep_at: 0,
            sweep_from: Vec::new(),
            ended: Vec::new(),
        }
    }
    /// How many lines there are. They are named by numbers, from 0 on.
    pub fn lines(&self) -> usize {
        self.lines.len()
    }
    /// Bytes for the server of a line.
    pub fn output(&mut self, line: usize, side: Side) -> &mut Vec<u8> {
        self.lines[line].output(side)
    }
    /// Calls that have ended since this was asked last.
    pub fn take_ended(&mut self) -> Vec<(T, Ended)> {
        std::mem::take(&mut self.ended)
    }
    /// Calls that have no answer yet.
    pub fn open_calls(&self) -> usize {
        self.calls.len()
    }

    /// Makes a call. `deadline`: when it ends without an answer. The result names it for [`leave`](Self::leave).
    pub fn call(&mut self, now: Time, call: Call<Bytes>, token: T, deadline: Option<Time>) -> u64 {
        let refused = if self.calls.len() >= self.options.calls { Some(Refusal::Quota) } else { self.check(&call) };
        if let Some(r) = refused {
            self.ended.push((token, Err(Failure::Refused(r).into())));
            return 0;
        }
        if let Some(why) = self.call_apart(&call) {
            self.ended.push((token, Err(Trouble::Store(why))));
            return 0;
        }
        match &call {
            Call::Commit { leases, outputs } if leases.is_empty() && outputs.is_empty() => {
                self.ended.push((token, Ok(Done::Ok)));
                return 0;
            }
            Call::Extend { leases, .. } if leases.is_empty() => {
                self.ended.push((token, Ok(Done::Ok)));
                return 0;
            }
            // Who ends a lease renews it no more.
            Call::Commit { leases, .. } => leases.iter().for_each(|l| self.stop_renewing(*l)),
            Call::GiveBack { lease, .. } => self.stop_renewing(*lease),
            _ => {}
        }
        let held = self.names_of_leases(&call);
        self.make(now, call, Some(token), deadline, held, How::Asked)
    }
    fn check(&self, call: &Call<Bytes>) -> Option<Refusal> {
        let key = |k: &[u8]| k.len() <= KEY_BYTES;
        let parts = |n: usize| (1..=INPUTS).contains(&n);
        let good = match call {
            Call::Put(p) => key(&p.store.key),
            Call::Get(ask) => parts(ask.inputs.len()) && ask.inputs.iter().all(|i| key(&i.0)),
            Call::Commit { leases, outputs } => leases.len() <= INPUTS && outputs.iter().all(|o| key(&o.key)),
            Call::GiveBack { .. } => true,
            Call::Extend { leases, .. } => leases.len() <= INPUTS,
            Call::Names { prefix, .. } => key(prefix),
            Call::Stats(k) | Call::Limit(k, _) => key(k),
            Call::Leave(_) | Call::Watch(_) => false,
        };
        if !good {
            return Some(Refusal::Bad);
        }
        let known = |leases: &[u64]| leases.iter().all(|l| self.leases.contains_key(l));
        let known = match call {
            Call::Commit { leases, .. } | Call::Extend { leases, .. } => known(leases),
            Call::GiveBack { lease, .. } => known(&[*lease]),
            _ => true,
        };
        (!known).then_some(Refusal::LeaseOver)
    }
    fn make(
        &mut self,
        now: Time,
        call: Call<Bytes>,
        token: Option<T>,
        deadline: Option<Time>,
        held: Vec<(Bytes, String)>,
        how: How,
    ) -> u64 {
        self.last_call += 1;
        let name = self.last_call;
        self.deadlines.extend(deadline.map(|d| (d, name)));
        let step = Step::Queued;
        let slot = self.slot_of(&call, &held, how);
        let p = Pending {
            call,
            token,
            began: now,
            deadline,
            step,
            row: None,
            number: 0,
            again: false,
            done: None,
            late: 0,
            earlier: Vec::new(),
            first_sent: None,
            slot,
            line: None,
            sent_at: 0,
            poked: None,
            round: 0,
            grace: false,
            held,
            names: Vec::new(),
            how,
        };
        self.calls.insert(name, p);
        self.stands_in_order(name);
        if self.lists_all(name) {
            self.begin_listing(now, name);
        } else if !self.joins_line(name) {
            self.send(now, name);
        }
        name
    }
    fn next_number(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }

    /// The call ends; what it holds is free.
    fn end(&mut self, name: u64, result: Ended) {
        let Some(p) = self.remove(name) else { return };
        match (p.token, p.how, result) {
            (Some(t), _, result) => self.ended.push((t, result)),
            // Without this part there is no whole.
            (None, How::Part(..) | How::Scan(..), Err(e)) => {
                if let Some(of) = p.how.of() {
                    self.end(of, Err(e));
                }
            }
            _ => {}
        }
    }
    fn remove(&mut self, name: u64) -> Option<Pending<T>> {
        let p = self.calls.remove(&name)?;
        if let Some(d) = p.deadline {
            self.deadlines.remove(&(d, name));
        }
        self.rows.extend(p.row);
        self.leaves_order(name, &p.call);
        self.leaves_slot(name, &p);
        self.looks_no_more(name, &p);
        match &p.call {
            Call::Commit { leases, .. } => leases.iter().for_each(|l| self.forget_lease(*l)),
            Call::GiveBack { lease, .. } => self.forget_lease(*lease),
            _ => {}
        }
        Some(p)
    }
    /// What a plain take was given is used.
    pub fn used(&mut self, name: u64) {
        self.given.remove(&name);
    }
    /// The asker does not want the answer any more; its token is not heard of again. What was taken for it comes back, also after it
    /// was given.
    pub fn leave(&mut self, now: Time, name: u64) {
        for (key, whole) in self.given.remove(&name).unwrap_or_default() {
            self.stand_again(now, key, whole);
        }
        let Some(p) = self.calls.get_mut(&name) else { return };
        p.token = None;
        if let Some(d) = p.deadline.take() {
            self.deadlines.remove(&(d, name));
        }
        self.unwanted(now, name);
    }
    /// Gives back what is held, and tells calls that they will have no answer. Those that give something back go on.
    pub fn close(&mut self, now: Time) {
        let all: Vec<u64> = self.calls.keys().copied().collect();
        for name in all {
            if let Some(t) = self.calls.get_mut(&name).and_then(|p| p.token.take()) {
                self.ended.push((t, Err(Trouble::NotConnected("it was closed".into()))));
                self.unwanted(now, name);
            }
        }
        let given: Vec<u64> = self.given.keys().copied().collect();
        given.into_iter().for_each(|name| self.leave(now, name));
        let held: Vec<u64> = self.renewals.iter().map(|x| x.1).collect();
        for lease in held {
            let call = Call::GiveBack { lease, left: Back::Same };
            let held = self.names_of_leases(&call);
            self.stop_renewing(lease);
            self.make(now, call, None, None, held, How::Asked);
        }
    }
    /// Nobody wants its answer: it ends at once unless the store may have done it.
    fn unwanted(&mut self, now: Time, name: u64) {
        let Some(p) = self.calls.get(&name) else { return };
        match &p.step {
            Step::Waits(key) => {
                let key = key.clone();
                self.stops_waiting(now, &key, name);
                self.remove(name);
            }
            Step::Queued if p.first_sent.is_none() => {
                self.remove(name);
            }
            _ => {}
        }
    }

    /// When [`tick`](Self::tick) has something to do next.
    pub fn next_deadline(&self) -> Option<Time> {
        let sets = [&self.deadlines, &self.renewals].into_iter().filter_map(|s| s.first().map(|x| x.0));
        let keys = [&self.dues, &self.idle].into_iter().filter_map(|s| s.first().map(|x| x.0));
        let patience = if self.cluster.is_some() { self.next_of_cluster() } else { self.patience_over() };
        let ready = self.serves();
        let sweep = ready.then_some(self.sweep_at);
        let look = self.next_look().into_iter().chain(self.tidy.due()).filter(|_| ready);
        let lines = self.lines.iter().filter_map(Line::next_deadline);
        sets.chain(keys).chain(look).chain(patience).chain(sweep).chain(lines).min()
    }
    /// Is there a line that serves?
    fn serves(&self) -> bool {
        self.lines.iter().any(Line::is_ready)
    }
    /// When the oldest call has waited long enough for a connection to the one server.
    fn patience_over(&self) -> Option<Time> {
        let down = self.lines.first()?.down?;
        let oldest = self.calls.values().find(|p| p.how != How::Entry)?.began;
        Some(down.max(oldest).saturating_add(self.options.patience))
    }
    /// Does what is due: calls end whose time is over, leases are renewed, who waits looks again where something was due.
    pub fn tick(&mut self, now: Time) {
        while let Some((_, name)) = self.deadlines.first().copied().filter(|(at, _)| *at <= now) {
            self.deadlines.pop_first();
            self.time_over(now, name);
        }
        self.renew_due(now);
        while let Some((_, key)) = self.dues.first().filter(|(at, _)| *at <= now).cloned() {
            self.dues.pop_first();
            if let Some(k) = self.keys.get_mut(&key) {
                k.due = None;
            }
            self.something_due(now, &key);
        }
        self.close_idle(now);
        self.look_at_watched(now);
        if self.tidy.due().is_some_and(|at| at <= now) {
            self.tidy_up(now);
        }
        if self.cluster.is_some() {
            self.tick_cluster(now);
        } else if let Some(down) = self.lines[0].down {
            self.lose_patience(now, |_, _| Some(down));
        }
        if self.serves() && self.sweep_at <= now {
            self.sweep(now);
        }
        self.lines.iter_mut().for_each(|l| l.tick(now));
    }
    /// Calls end whose server was away for too long. `down`: since when it is, for a call.
    fn lose_patience(&mut self, now: Time, down: impl Fn(&Self, &Pending<T>) -> Option<Time>) {
        let long = self.options.patience;
        let over = |p: &Pending<T>| down(self, p).is_some_and(|d| d.max(p.began).saturating_add(long) <= now);
        // What was taken for good and nobody had is not given up: it would be lost.
        let tired: Vec<u64> = self.calls.iter().filter(|(_, p)| p.how != How::Entry && over(p)).map(|x| *x.0).collect();
        for name in tired {
            self.give_up(now, name);
        }
    }
    /// The store does not come back.
    fn give_up(&mut self, now: Time, name: u64) {
        let Some(p) = self.calls.get(&name) else { return };
        let why = self.trouble_of(p).unwrap_or_else(|| "there is no connection".into());
        let unsure = match &p.step {
            Step::Waits(key) => {
                let key = key.clone();
                self.stops_waiting(now, &key, name);
                false
            }
            Step::Confirms(..) => true,
            Step::Queued | Step::Sent => p.first_sent.is_some() && may_change(&p.call),
        };
        self.end(name, Err(if unsure { Trouble::Lost(why) } else { Trouble::NotConnected(why) }));
    }
    /// The server of this line, or any, will not do what this client asks: it has no sense to go on.
    fn give_up_all(&mut self, now: Time, line: Option<usize>) {
        let its = |p: &Pending<T>| p.how != How::Entry && (line.is_none() || p.slot.is_none() || self.line_of(p.slot) == line);
        let all: Vec<u64> = self.calls.iter().filter(|(_, p)| its(p)).map(|x| *x.0).collect();
        all.into_iter().for_each(|name| self.give_up(now, name));
    }
    /// A call's deadline, which is no longer in the set, has come.
    fn time_over(&mut self, now: Time, name: u64) {
        let Some(p) = self.calls.get_mut(&name) else { return };
        p.deadline = None;
        let unsure = p.first_sent.is_some() && !matches!(p.step, Step::Waits(_)) && may_change(&p.call);
        if unsure && !p.grace {
            // Its reply will say soon whether it was done.
            p.grace = true;
            let at = now.saturating_add(1000 * MS);
            p.deadline = Some(at);
            self.deadlines.insert((at, name));
            return;
        }
        let why = if unsure { Trouble::Lost("its answer did not come in time".into()) } else { Failure::TimedOut.into() };
        if let Some(t) = p.token.take() {
            self.ended.push((t, Err(why)));
        }
        self.unwanted(now, name);
    }
}

/// Does it change anything in the store that is not undone by itself? What a get has taken is.
fn may_change(call: &Call<Bytes>) -> bool {
    matches!(call, Call::Put(_) | Call::Commit { .. } | Call::GiveBack { .. } | Call::Limit(..))
}
