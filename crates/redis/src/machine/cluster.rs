//! A cluster: which line leads to which slot, and calls that can't go there now.
//!
//! **Invariant.** All that a call touches is in one slot, and so is its row in the client's table. A slot that moves takes along what
//! is known of the calls done there: a call whose reply was lost is asked for where its slot is now, and done once. Calls of one slot are under way on
//! one line at a time. A call that was refused because its slot is elsewhere, is being moved, or is served by nobody, *holds* its slot: it is tried
//! again by itself, and the others of the slot follow, in their order, when it was served. A node may refuse for a moment only: a put names
//! the one before it (`wait.rs`), and is refused where that was.
//!
//! A slot that is being moved is not served. Each script names a key that is never there (`Namespace::guard`), and a server that hands a slot on
//! refuses commands of which it lacks a key. So no script fails in its midst because a key has gone before it.

use super::line::{Line, Tag, broken_by, no_cluster, refuses};
use super::listing::{Listing, Sweep};
use super::{Broken, How, MS, Machine, News, Pending, Step};
use crate::names::SLOTS;
use crate::resp::{Reply, command};
use bytes::Bytes;
use kumi_segments::{Call, OUTPUTS, Time};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::Write;

/// Which primaries have which slots, as a node told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterMap {
    /// The first slot, the last, and whose they are.
    slots: Vec<(u16, u16, (String, u16))>,
    /// All nodes that were named.
    nodes: Vec<(String, u16)>,
}

/// The most nodes that are known.
const NODES: usize = 4096;

impl ClusterMap {
    /// What a node has said to `CLUSTER SLOTS`. `host`: where it was asked, as it need not know its own name.
    ///
    /// # Errors
    /// It belongs to no cluster, or knows of no primary. In words.
    pub fn read(reply: &Reply, host: &str) -> Result<ClusterMap, Broken> {
        if let Reply::Error(e) = reply {
            let none = e.ends_with(b"cluster support disabled");
            return Err(if none { no_cluster() } else { broken_by(e).unwrap_or_else(|| refuses(e)) });
        }
        let (mut slots, mut nodes) = (Vec::new(), BTreeSet::new());
        for range in reply.list() {
            let [Reply::Number(first), Reply::Number(last), all @ ..] = range.list() else { continue };
            let Some((first, last)) = u16::try_from(*first).ok().zip(u16::try_from(*last).ok()) else { continue };
            let all: Vec<(String, u16)> = all.iter().filter_map(|n| read_node(n, host)).take(64).collect();
            if let Some(primary) = all.first().filter(|_| first <= last && last < SLOTS && nodes.len() < NODES) {
                slots.push((first, last, primary.clone()));
                nodes.extend(all);
            }
        }
        if slots.is_empty() {
            return Err(Broken::Passing("no node of the cluster has any slots".into()));
        }
        Ok(ClusterMap { slots, nodes: nodes.into_iter().collect() })
    }
    /// All its nodes.
    pub fn nodes(&self) -> &[(String, u16)] {
        &self.nodes
    }
}

/// Host and port. A node that is not sure of its name has none, or `?`.
fn read_node(node: &Reply, asked: &str) -> Option<(String, u16)> {
    let [host, Reply::Number(port), ..] = node.list() else { return None };
    let host = host.bytes().map_or(&b""[..], |b| b);
    let host = if host.is_empty() || host == b"?" { asked } else { std::str::from_utf8(host).ok()? };
    let port = u16::try_from(*port).ok().filter(|p| *p != 0)?;
    (host.len() < 256 && !host.contains('\0')).then(|| (host.to_owned(), port))
}

/// Of a slot that no line leads to.
const NOWHERE: u16 = u16::MAX;
/// A held slot is tried again after so long, at first and at last.
const PAUSE: [Time; 2] = [20 * MS, 250 * MS];
/// How often a node is asked for the map: while something is wrong, and else.
const ASK: [Time; 2] = [100 * MS, 2000 * MS];
/// Who was asked for it and does not say is not waited for longer.
const ANSWER: Time = 500 * MS;
/// How often it is looked at who waits too long.
const CHECK: Time = 50 * MS;

#[derive(Default)]
struct Slot {
    /// So many calls are under way, on this line.
    flying: usize,
    line: usize,
    hold: Option<Hold>,
    /// When the client's table there was kept last.
    kept: Option<Time>,
}

impl Slot {
    /// A call more is under way on this line.
    fn takes_off(&mut self, line: usize) {
        self.line = line;
        self.flying += 1;
    }
}

/// Calls that wait for their slot.
struct Hold {
    since: Time,
    queued: BTreeSet<u64>,
    /// When it is tried, and how long it is waited after the next failure.
    at: Time,
    pause: Time,
    /// The call that tries.
    probing: Option<u64>,
    why: Box<str>,
}

/// See the module.
pub(super) struct Cluster {
    /// The line of each slot.
    owner: Vec<u16>,
    slots: HashMap<u16, Slot>,
    /// Slots that are held; those that are to be tried at a time.
    held: BTreeSet<u16>,
    timers: BTreeSet<(Time, u16)>,
    nodes: Vec<(String, u16)>,
    /// Rises when slots move.
    pub version: u64,
    /// When the map is asked for next, and of whom; when it was last.
    ask_at: Time,
    ask: Option<usize>,
    asked_at: Time,
    /// Its answer is awaited.
    asked: bool,
    turn: usize,
    check_at: Time,
    trouble: Option<Box<str>>,
    /// That it serves was told.
    told: bool,
    worries: BTreeMap<String, BTreeSet<String>>,
    pub listings: BTreeMap<u64, Listing>,
    pub sweeps: HashMap<usize, Sweep>,
}

impl Cluster {
    pub fn new(now: Time) -> Cluster {
        Cluster {
            owner: vec![NOWHERE; usize::from(SLOTS)],
            slots: HashMap::new(),
            held: BTreeSet::new(),
            timers: BTreeSet::new(),
            nodes: Vec::new(),
            version: 0,
            ask_at: now,
            ask: None,
            asked_at: 0,
            asked: false,
            turn: 0,
            check_at: now,
            trouble: None,
            told: false,
            worries: BTreeMap::new(),
            listings: BTreeMap::new(),
            sweeps: HashMap::new(),
        }
    }
    pub fn line_of(&self, slot: u16) -> Option<usize> {
        self.owner.get(usize::from(slot)).filter(|l| **l != NOWHERE).map(|l| usize::from(*l))
    }
    /// Slots whose names this client may have used.
    pub fn used(&self, line: usize) -> impl Iterator<Item = u16> {
        self.slots.keys().copied().filter(move |s| self.line_of(*s) == Some(line))
    }
    fn ask_soon(&mut self) {
        self.ask_at = self.ask_at.min(self.asked_at.saturating_add(ASK[0]));
    }
    /// A slot is held from now on, if it was not.
    fn hold(&mut self, now: Time, slot: u16, why: &str) -> &mut Hold {
        let s = self.slots.entry(slot).or_default();
        if s.hold.is_none() {
            self.held.insert(slot);
            self.timers.insert((now, slot));
        }
        let new = || Hold { since: now, queued: BTreeSet::new(), at: now, pause: PAUSE[0], probing: None, why: why.into() };
        s.hold.get_or_insert_with(new)
    }
    /// It is tried at this time.
    fn try_at(&mut self, slot: u16, at: Time) {
        if let Some(h) = self.slots.get_mut(&slot).and_then(|s| s.hold.as_mut()) {
            self.timers.remove(&(h.at, slot));
            h.at = at;
            self.timers.insert((at, slot));
        }
    }
    fn release(&mut self, slot: u16) -> BTreeSet<u64> {
        let Some(h) = self.slots.get_mut(&slot).and_then(|s| s.hold.take()) else { return BTreeSet::new() };
        self.held.remove(&slot);
        self.timers.remove(&(h.at, slot));
        h.queued
    }
    fn hold_of(&self, p_slot: Option<u16>) -> Option<&Hold> {
        self.slots.get(&p_slot?)?.hold.as_ref()
    }
}

/// Does the error say that nothing was done, for the slot is not served here, or not now?
fn is_elsewhere(error: &[u8]) -> bool {
    let code = error.split(|b| *b == b' ').next().unwrap_or_default();
    matches!(code, b"MOVED" | b"ASK" | b"TRYAGAIN" | b"CLUSTERDOWN")
}

impl<T> Machine<T> {
    pub(super) fn is_elsewhere(&self, error: &[u8]) -> bool {
        self.cluster.is_some() && is_elsewhere(error)
    }
    /// The node that a line of a cluster leads to; `None`: none any more.
    pub fn node(&self, line: usize) -> Option<&(String, u16)> {
        self.lines.get(line)?.at.as_ref()
    }
    /// Nodes that may be asked for the map, where no line is there to ask on.
    pub fn nodes(&self) -> &[(String, u16)] {
        self.cluster.as_ref().map_or(&[], |c| &c.nodes)
    }
    /// Is the map to be asked for otherwise than on lines?
    pub fn is_lost(&self) -> bool {
        self.cluster.is_some() && !self.serves()
    }
    pub(super) fn line_of(&self, slot: Option<u16>) -> Option<usize> {
        match &self.cluster {
            None => Some(0),
            Some(c) => c.line_of(slot?),
        }
    }
    pub(super) fn line_of_key(&self, key: &[u8]) -> Option<usize> {
        match &self.cluster {
            None => Some(0),
            Some(c) => c.line_of(self.options.namespace.slot(key)),
        }
    }
    pub(super) fn table_kept(&mut self, slot: Option<u16>) -> &mut Option<Time> {
        match (&mut self.cluster, slot) {
            (Some(c), Some(s)) => &mut c.slots.entry(s).or_default().kept,
            _ => &mut self.table_kept,
        }
    }
    /// The slot of what a call is about.
    pub(super) fn slot_of(&self, call: &Call<Bytes>, held: &[(Bytes, String)], how: How) -> Option<u16> {
        self.cluster.as_ref()?;
        let key: &[u8] = match (call, how) {
            (_, How::Part(_, slot) | How::Sweep(Some(slot))) => return Some(slot),
            (Call::Put(p), _) => &p.store.key,
            (Call::Get(ask), _) => &ask.inputs.first()?.0,
            (Call::Commit { outputs, .. }, _) if held.is_empty() => &outputs.first()?.key,
            (Call::Commit { .. } | Call::GiveBack { .. } | Call::Extend { .. }, _) => &held.first()?.0,
            (Call::Stats(key) | Call::Limit(key, _), _) => key,
            _ => return None,
        };
        Some(self.options.namespace.slot(key))
    }
    /// Why what a call is about can't be done in one step.
    pub(super) fn call_apart(&self, call: &Call<Bytes>) -> Option<Box<str>> {
        let leased = |leases: &[u64]| leases.iter().filter_map(|l| Some(&self.leases.get(l)?.key[..])).collect::<Vec<_>>();
        match call {
            Call::Get(ask) if ask.inputs.len() > 1 => self.across_slots(ask.inputs.iter().map(|i| &i.0[..])),
            Call::Extend { leases, .. } => self.across_slots(leased(leases)),
            Call::Commit { leases, outputs } => self.apart(leased(leases), outputs.iter().map(|o| &o.key[..]).collect()),
            _ => None,
        }
    }
    /// Why one step can't end leases under the keys `held` and have outputs under these.
    pub fn apart(&self, held: Vec<&[u8]>, outputs: Vec<&[u8]>) -> Option<Box<str>> {
        if outputs.len() > OUTPUTS {
            return Some(format!("a run's outputs are {OUTPUTS} at most: put them in several runs").into());
        }
        self.across_slots(held.into_iter().chain(outputs))
    }
    /// They are in several.
    fn across_slots<'a>(&self, keys: impl IntoIterator<Item = &'a [u8]>) -> Option<Box<str>> {
        self.cluster.as_ref()?;
        // One key of each slot.
        let mut slots = HashSet::new();
        let apart: Vec<&[u8]> = keys.into_iter().filter(|k| slots.insert(self.options.namespace.slot(k))).collect();
        if apart.len() < 2 {
            return None;
        }
        let mut why = String::from("the keys ");
        for (n, key) in apart.iter().take(8).enumerate() {
            let between = [", ", " and "][usize::from(n + 1 == apart.len())];
            let _ = write!(why, "{}{:?}", if n > 0 { between } else { "" }, String::from_utf8_lossy(key));
        }
        let name = |n: usize| String::from_utf8_lossy(apart[n]).into_owned();
        let _ = write!(
            why,
            "{} are in different slots of the cluster: one step has keys with a common {{tag}}, like {:?} and {:?}",
            if apart.len() > 8 { " .." } else { "" },
            format!("{{tag}}{}", name(0)),
            format!("{{tag}}{}", name(1)),
        );
        Some(why.into())
    }
    pub(super) fn trouble_of(&self, p: &Pending<T>) -> Option<Box<str>> {
        let Some(c) = &self.cluster else { return self.lines[0].trouble.clone() };
        let line = self.line_of(p.slot).and_then(|l| self.lines[l].trouble.clone());
        line.or_else(|| c.hold_of(p.slot).map(|h| h.why.clone()).filter(|w| !w.is_empty())).or_else(|| c.trouble.clone())
    }

    /// The line on which a call goes now. `None`: it waits for one.
    pub(super) fn way(&mut self, now: Time, name: u64) -> Option<usize> {
        if self.cluster.is_none() {
            return self.lines[0].is_ready().then_some(0);
        }
        let p = self.calls.get(&name)?;
        let (how, slot) = (p.how, p.slot);
        if let How::Scan(line, _) = how {
            let line = usize::from(line);
            return self.lines.get(line).is_some_and(|l| l.is_ready()).then_some(line);
        }
        let slot = slot?;
        let ready = self.line_of(Some(slot)).filter(|l| self.lines[*l].is_ready());
        let s = self.cluster.as_mut()?.slots.entry(slot).or_default();
        if let Some(line) = ready.filter(|l| s.hold.is_none() && (s.flying == 0 || s.line == *l)) {
            s.takes_off(line);
            return Some(line);
        }
        self.park(now, name, slot, "");
        None
    }
    /// A call waits for its slot.
    fn park(&mut self, now: Time, name: u64, slot: u16, why: &str) {
        let (Some(p), Some(c)) = (self.calls.get_mut(&name), &mut self.cluster) else { return };
        match &mut p.step {
            Step::Confirms(_, _, sent) => *sent = false,
            step => *step = Step::Queued,
        }
        c.hold(now, slot, why).queued.insert(name);
        c.ask_soon();
    }
    /// The first call that waits for its slot tries, if it is time.
    fn probe(&mut self, now: Time, slot: u16) {
        let ready = self.line_of(Some(slot)).filter(|l| self.lines[*l].is_ready());
        while let (Some(line), Some(c)) = (ready, &mut self.cluster) {
            let Some(s) = c.slots.get_mut(&slot) else { return };
            let Some(h) = s.hold.as_mut().filter(|h| s.flying == 0 && h.probing.is_none() && h.at <= now) else { return };
            let Some(name) = h.queued.pop_first() else {
                c.release(slot);
                return;
            };
            h.probing = Some(name);
            s.takes_off(line);
            if self.goes_again(now, name) {
                return self.send_on(line, now, name);
            }
            if let Some(s) = self.cluster.as_mut().and_then(|c| c.slots.get_mut(&slot)) {
                s.flying = 0;
                s.hold.iter_mut().for_each(|h| h.probing = None);
            }
        }
    }
    /// A call was answered: its slot is served.
    pub(super) fn slot_answered(&mut self, now: Time, name: u64, slot: Option<u16>) {
        let (Some(c), Some(slot)) = (&mut self.cluster, slot) else { return };
        let Some(s) = c.slots.get_mut(&slot) else { return };
        s.flying = s.flying.saturating_sub(1);
        let (none, probed) = (s.flying == 0, s.hold.as_ref().is_some_and(|h| h.probing == Some(name)));
        if probed {
            for name in c.release(slot) {
                self.send_again(now, name);
            }
        } else if none {
            self.probe(now, slot);
        }
    }
    /// A call was not done, for its slot is elsewhere, or is not served now.
    pub(super) fn not_done(&mut self, line: usize, now: Time, name: u64, slot: Option<u16>, error: &[u8]) {
        let Some(c) = &mut self.cluster else { return };
        c.ask_soon();
        if error.starts_with(b"MOVED") {
            (c.ask, c.ask_at) = (Some(line), now);
        }
        let Some(slot) = slot else { return };
        let why = String::from_utf8_lossy(error);
        let h = c.hold(now, slot, &why);
        let mut pause = PAUSE[0];
        if h.probing == Some(name) {
            (pause, h.pause, h.probing) = (h.pause, (h.pause * 2).min(PAUSE[1]), None);
        }
        h.why = why.into();
        c.try_at(slot, now.saturating_add(pause));
        if let Some(s) = c.slots.get_mut(&slot) {
            s.flying = s.flying.saturating_sub(1);
        }
        let Some(p) = self.calls.get_mut(&name) else { return };
        if !p.again {
            p.first_sent = None;
        }
        let vain = matches!((&p.step, &p.call, p.how), (Step::Sent, Call::Get(_) | Call::Stats(_), How::Asked)) && p.token.is_none();
        let vain = vain && p.first_sent.is_none();
        if vain || matches!(p.how, How::Sweep(_) | How::Watch) {
            self.remove(name);
        } else {
            self.park(now, name, slot, "");
        }
    }
    /// A call is over.
    pub(super) fn leaves_slot(&mut self, name: u64, p: &Pending<T>) {
        let Some(c) = &mut self.cluster else { return };
        if let Some(h) = p.slot.and_then(|s| c.slots.get_mut(&s)).and_then(|s| s.hold.as_mut()) {
            h.queued.remove(&name);
        }
        self.end_listing(name);
    }

    /// The connection of a line is gone, with these calls' answers.
    pub(super) fn line_is_lost(&mut self, now: Time, line: usize, parked: &[u64]) {
        let Some(c) = &mut self.cluster else { return };
        for s in c.slots.values_mut().filter(|s| s.line == line) {
            s.flying = 0;
            if let Some(h) = &mut s.hold {
                h.probing = None;
            }
        }
        c.asked = false;
        c.ask_soon();
        for name in parked {
            if let Some(slot) = self.calls.get(name).and_then(|p| p.slot) {
                self.park(now, *name, slot, "");
            }
        }
        self.scans_are_cut(line);
        // What goes to other lines by now.
        let held: Vec<u16> = self.cluster.as_ref().map_or(Vec::new(), |c| c.held.iter().copied().collect());
        held.into_iter().for_each(|slot| self.probe(now, slot));
    }
    pub(super) fn node_is_ready(&mut self, line: usize, now: Time, news: &mut Vec<News>) {
        let l = &mut self.lines[line];
        let at = l.at.as_ref().map_or(String::new(), |(host, port)| crate::address::Place::Tcp(host.clone(), *port).to_string());
        let Some(c) = &mut self.cluster else { return };
        for w in std::mem::take(&mut l.worries) {
            c.worries.entry(w).or_default().insert(at.clone());
        }
        for s in c.slots.values_mut().filter(|s| s.line == line) {
            s.kept = None;
        }
        self.try_held(now, |owner| owner == line);
        self.scan_again(now, line);
        self.is_whole(news);
    }
    /// Held slots of some lines are tried now.
    fn try_held(&mut self, now: Time, of: impl Fn(usize) -> bool) {
        let Some(c) = &mut self.cluster else { return };
        let held: Vec<u16> = c.held.iter().copied().filter(|s| c.line_of(*s).is_some_and(&of)).collect();
        for slot in held {
            if let Some(c) = &mut self.cluster {
                c.try_at(slot, now);
            }
            self.probe(now, slot);
        }
    }
    /// Tells once that all slots are served.
    fn is_whole(&mut self, news: &mut Vec<News>) {
        let Some(c) = &mut self.cluster else { return };
        let ready = |l: &u16| self.lines.get(usize::from(*l)).is_some_and(|l| l.is_ready());
        if c.told || !c.owner.iter().all(ready) {
            return;
        }
        c.told = true;
        c.trouble = None;
        let nodes = self.lines.iter().filter(|l| l.at.is_some()).count();
        let told = std::mem::take(&mut c.worries).into_iter().map(|(what, of)| match of.len() {
            n if n == nodes => what,
            _ => format!("{what} (at {})", of.into_iter().collect::<Vec<_>>().join(", ")),
        });
        let told: Vec<String> = told.collect();
        news.push(News::Ready((!told.is_empty()).then(|| told.join("; "))));
    }

    pub(super) fn slots_told(&mut self, line: usize, now: Time, reply: &Reply, news: &mut Vec<News>) {
        let host = self.node(line).map_or(String::new(), |n| n.0.clone());
        if let Some(c) = &mut self.cluster {
            c.asked = false;
        }
        if let Ok(map) = ClusterMap::read(reply, &host) {
            self.told_map(now, &map, news);
        }
    }
    /// Nobody could be asked for the map, and why.
    pub fn no_map(&mut self, now: Time, why: &Broken) {
        let Some(c) = &mut self.cluster else { return };
        c.trouble = Some(why.text().into());
        if let Broken::Lasting(_) = why {
            self.give_up_all(now, None);
        }
    }
    /// A node has told who has which slots. What nobody has stays with whom it was.
    pub fn told_map(&mut self, now: Time, map: &ClusterMap, news: &mut Vec<News>) {
        let Some(mut owner) = self.cluster.as_ref().map(|c| c.owner.clone()) else { return };
        for (first, last, node) in &map.slots {
            let line = self.line_to(now, node);
            owner[usize::from(*first)..=usize::from(*last)].fill(line);
        }
        let Some(c) = &mut self.cluster else { return };
        let moved: BTreeSet<u16> = (0..SLOTS).filter(|s| owner[usize::from(*s)] != c.owner[usize::from(*s)]).collect();
        c.nodes.clone_from(&map.nodes);
        if moved.is_empty() {
            return;
        }
        c.version += 1;
        c.owner = owner;
        for slot in &moved {
            if let Some(s) = c.slots.get_mut(slot) {
                s.kept = None;
            }
        }
        // They are heard of on other lines from now on.
        let cut = [self.unhear(&moved), self.unwatch_moved(&moved)].concat();
        for (line, channel) in cut.into_iter().filter(|c| self.lines[c.0].is_ready()).collect::<Vec<_>>() {
            self.write_unsubscribe(line, now, &[channel]);
        }
        let owners: HashSet<u16> = self.cluster.iter().flat_map(|c| c.owner.iter().copied()).collect();
        for line in 0..self.lines.len() {
            if self.lines[line].at.is_some() && !owners.contains(&(line as u16)) {
                self.disconnected(line, now, &Broken::Passing("it has no slots of the cluster any more".into()));
                self.lines[line] = Line::to(None, now);
                self.forget_scans(now, line);
            }
        }
        let to: BTreeSet<usize> = moved.iter().filter_map(|s| self.line_of(Some(*s))).filter(|l| self.lines[*l].is_ready()).collect();
        self.try_held(now, |owner| to.contains(&owner));
        for line in to {
            self.look_again(line, now);
            self.watch_again(line, now);
        }
        self.begin_scans(now);
        self.is_whole(news);
    }
    /// The line to a node: a new one, if there is none.
    fn line_to(&mut self, now: Time, node: &(String, u16)) -> u16 {
        let found = self.lines.iter().position(|l| l.at.as_ref() == Some(node));
        let line = found.or_else(|| self.lines.iter().position(|l| l.at.is_none())).unwrap_or_else(|| {
            self.lines.push(Line::to(None, now));
            self.lines.len() - 1
        });
        if found.is_none() {
            self.lines[line] = Line::to(Some(node.clone()), now);
        }
        line as u16
    }

    pub(super) fn next_of_cluster(&self) -> Option<Time> {
        let c = self.cluster.as_ref()?;
        let ask = self.serves().then_some(if c.asked { c.ask_at.max(c.asked_at + ANSWER) } else { c.ask_at });
        let check = self.has_trouble().then_some(c.check_at).filter(|_| !self.calls.is_empty());
        c.timers.first().map(|t| t.0).into_iter().chain(ask).chain(check).min()
    }
    fn has_trouble(&self) -> bool {
        let held = self.cluster.as_ref().is_some_and(|c| !c.held.is_empty());
        held || self.lines.is_empty() || self.lines.iter().any(|l| l.at.is_some() && !l.is_ready())
    }
    pub(super) fn tick_cluster(&mut self, now: Time) {
        while let Some((_, slot)) = self.cluster.as_mut().and_then(|c| c.timers.first().copied().filter(|t| t.0 <= now)) {
            if let Some(c) = &mut self.cluster {
                c.timers.pop_first();
            }
            self.probe(now, slot);
        }
        let trouble = self.has_trouble();
        if let Some(c) = self.cluster.as_mut().filter(|c| trouble && c.check_at <= now) {
            c.check_at = now.saturating_add(CHECK);
            self.lose_patience(now, Self::away_since);
        }
        let Some(c) = &mut self.cluster else { return };
        if c.ask_at > now || c.asked && c.asked_at + ANSWER > now {
            return;
        }
        // One after another: one of them may be cut off, and know of nothing.
        let ready = |l: &usize| self.lines.get(*l).is_some_and(|l| l.is_ready());
        c.turn = (c.turn + 1) % self.lines.len().max(1);
        let next = c.turn;
        let Some(line) = c.ask.take().filter(ready).or_else(|| (next..self.lines.len()).chain(0..next).find(ready)) else { return };
        (c.asked, c.asked_at, c.ask_at) = (true, now, now.saturating_add(ASK[usize::from(!trouble)]));
        command(&mut self.lines[line].calls.out, &[b"CLUSTER", b"SLOTS"]);
        self.lines[line].expect(now, Tag::Slots);
    }
    /// Since when a call's server is away.
    fn away_since(&self, p: &Pending<T>) -> Option<Time> {
        let c = self.cluster.as_ref()?;
        let down = |l: usize| self.lines.get(l)?.down;
        match (&p.step, p.how) {
            (_, How::Scan(line, _)) => down(usize::from(line)),
            (Step::Waits(_), _) => down(self.line_of(p.slot)?),
            // A list of all names: of who is none yet.
            (_, How::Asked) if p.slot.is_none() => self.lines.is_empty().then_some(p.began),
            _ => c.hold_of(p.slot).map(|h| h.since),
        }
    }
}
