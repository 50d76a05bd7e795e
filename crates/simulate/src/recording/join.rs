//! Recordings of all nodes as one trace.

use super::parse::{Actor, Event, Recording};
use crate::Time;
use crate::trace::{Class, MAX_NODES, Step, Task, Trace};
use foldhash::{HashMap, HashSet};

/// Long computing is cut into pieces of about so long, each with its part of what was allocated meanwhile.
const PIECE: Time = 1_000_000;
/// And into pieces that allocate so much.
const PIECE_BYTES: u64 = 64 << 10;
/// But no more of one event's.
const MOST_PIECES: u64 = 4096;

/// What is made of a recording's collections and bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum As {
    /// Collections come when they came, and take what they took. Nothing is allocated.
    Recorded,
    /// Collections are the schedule's affair. What nurseries have freed was never allocated, and young collections take no time.
    Allocated,
    /// The same without nurseries: all that was allocated waits for a collection.
    WithoutNurseries,
}

/// A trace of recordings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joined {
    /// See there.
    pub trace: Trace,
    /// Names of its nodes, in order.
    pub names: Vec<String>,
    /// Messages that came, and whose sending is not recorded.
    pub lost: u64,
    /// The longest that a node's program took by the clock, from when the first one began.
    pub wall: Time,
}

/// Something that is waited for at most once.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Cause {
    /// Of a node, so numbered.
    Message(u32, u64),
    /// On a node: a wait, a thread's birth and end, a mark.
    Wait(u32, u64, u64),
    Birth(u32, u64),
    End(u32, u64),
    Mark(u32, u64),
}

/// What a cause is in the trace.
#[derive(Default)]
struct Letter {
    /// Its number, from 1.
    number: u64,
    /// To this node.
    to: u32,
    awaited: bool,
}

/// Nodes of one run overlap, each with another one. If there is a time between two at which nobody ran: who ended before it, who began after it.
/// Of one that was cut nobody knows when it ended.
fn of_two_runs<'a>(all: &[&'a Recording]) -> Option<(&'a str, &'a str)> {
    let mut all = all.to_vec();
    all.sort_by_key(|r| r.begin);
    let end = |r: &Recording| if r.cut { u64::MAX } else { r.begin.saturating_add(r.wall) };
    let mut last = *all.first()?;
    for r in all {
        if r.begin > end(last) {
            return Some((&last.node, &r.node));
        }
        last = if end(r) > end(last) { r } else { last };
    }
    None
}

/// Joins recordings of nodes. Their order does not count.
///
/// # Errors
/// Two are of one node, or of different runs; or there are none, or too many.
pub fn join(recordings: &[Recording], how: As) -> Result<Joined, String> {
    let mut all: Vec<&Recording> = recordings.iter().collect();
    all.sort_by_key(|r| natural(&r.node));
    if all.is_empty() || all.len() > MAX_NODES as usize {
        return Err(format!("{} recordings; there can be 1 to {MAX_NODES}", all.len()));
    }
    if let Some(two) = all.windows(2).find(|w| w[0].node == w[1].node) {
        return Err(format!("two recordings of node {}", two[0].node));
    }
    if let Some((one, other)) = of_two_runs(&all) {
        return Err(format!(
            "node {other} began when node {one} and those beside it had ended: they are of different runs; a folder holds one"
        ));
    }
    let places: HashMap<&str, u32> = all.iter().enumerate().map(|(i, r)| (r.node.as_str(), i as u32)).collect();
    let first = all.iter().map(|r| r.begin).min().unwrap_or(0);
    let mut letters = HashMap::default();
    for (node, r) in all.iter().enumerate() {
        find_causes(node as u32, r, &places, &mut letters);
    }
    let mut lost = 0;
    let mut tasks = Vec::new();
    for (node, r) in all.iter().enumerate() {
        let begin = r.begin.saturating_sub(first);
        let mut of =
            Of { node: node as u32, how, letters: &mut letters, lost: 0, tasks: Vec::new(), places: HashMap::default(), main: None };
        of.all(r, &places, begin);
        of.trim();
        lost += of.lost;
        tasks.append(&mut of.tasks);
    }
    let wall = all.iter().map(|r| (r.begin - first).saturating_add(r.wall)).max().unwrap_or(0);
    let names = all.iter().map(|r| r.node.clone()).collect();
    Ok(Joined { trace: Trace { nodes: all.len() as u32, tasks }, names, lost, wall })
}

/// `node2` comes before `node10`.
fn natural(name: &str) -> (String, u64, String) {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    (stem.to_owned(), name[stem.len()..].parse().unwrap_or(0), name.to_owned())
}

/// Each cause has a number, once.
fn find_causes(node: u32, r: &Recording, places: &HashMap<&str, u32>, letters: &mut HashMap<Cause, Letter>) {
    for (_, event) in &r.events {
        let (cause, to) = match *event {
            Event::Sends { number, to, .. } => match places.get(r.names[to as usize].as_str()) {
                Some(&to) => (Cause::Message(node, number), to),
                None => continue,
            },
            Event::Rings(task, number) => (Cause::Wait(node, task, number), node),
            Event::Born(task) => (Cause::Birth(node, task), node),
            Event::Over(task) => (Cause::End(node, task), node),
            Event::Marks(mark) => (Cause::Mark(node, mark), node),
            _ => continue,
        };
        let number = letters.len() as u64 + 1;
        letters.entry(cause).or_insert(Letter { number, to, awaited: false });
    }
}

/// Waits for others that ended by the clock, and after which the same task waits for others again: it looks whether something is so, once
/// in a while, and how often it has to depends on how long that takes. It is the wait at the end that counts.
fn waits_again(r: &Recording) -> HashSet<usize> {
    let (mut last, mut all) = (HashMap::default(), HashSet::default());
    for (i, (actor, event)) in r.events.iter().enumerate() {
        if matches!(event, Event::InVain(_) | Event::Waited(..)) {
            all.extend(last.remove(actor));
        }
        if let Event::InVain(_) = event {
            last.insert(*actor, i);
        }
    }
    all
}

/// What was used and allocated in one event, and is told with the next.
#[derive(Clone, Copy, Default)]
struct Used {
    computes: Time,
    allocates: u64,
}

struct Of<'a> {
    node: u32,
    how: As,
    letters: &'a mut HashMap<Cause, Letter>,
    lost: u64,
    tasks: Vec<Task>,
    places: HashMap<Actor, usize>,
    /// The task of the program itself, which comes first.
    main: Option<usize>,
}

impl Of<'_> {
    fn all(&mut self, r: &Recording, places: &HashMap<&str, u32>, begin: Time) {
        let lives = Lives::of(r, self.how);
        let waits_again = waits_again(r);
        let mut at = 0;
        let mut sent = HashSet::default();
        let mut used = Used::default();
        let mut kept = Kept::default();
        for (i, &(actor, event)) in r.events.iter().enumerate() {
            let task = self.task(actor, begin);
            // Time and bytes of one event stand one after another.
            match event {
                Event::Computes(t) => used.computes += t,
                Event::Allocates(b) => used.allocates = used.allocates.saturating_add(b),
                Event::Frees(b) if self.how != As::WithoutNurseries => used.allocates = used.allocates.saturating_sub(b),
                _ => {}
            }
            let goes_on = r.events.get(i + 1).is_some_and(|n| n.0 == actor && matches!(n.1, Event::Allocates(_) | Event::Frees(_)));
            if matches!(event, Event::Computes(_) | Event::Allocates(_) | Event::Frees(_)) {
                if !goes_on {
                    self.spend(task, std::mem::take(&mut used), lives.get(at), &mut kept);
                }
                continue;
            }
            match event {
                Event::Overhead(t) => self.push(task, Step::Overhead(t)),
                Event::Sends { number, to, bytes } => {
                    let cause = Cause::Message(self.node, number);
                    if let Some(l) = self.letters.get(&cause).filter(|_| sent.insert(cause)) {
                        self.push(task, Step::Send { message: l.number, to: l.to, bytes });
                    } else {
                        let _ = to;
                    }
                }
                Event::Rings(t, n) => self.tell(task, Cause::Wait(self.node, t, n), &mut sent),
                Event::Born(t) => self.tell(task, Cause::Birth(self.node, t), &mut sent),
                Event::Over(t) => self.tell(task, Cause::End(self.node, t), &mut sent),
                Event::Joins(t) => self.wait(task, Cause::End(self.node, t)),
                Event::Marks(m) => self.tell(task, Cause::Mark(self.node, m), &mut sent),
                Event::Receives { from, number } => match places.get(r.names[from as usize].as_str()) {
                    Some(&from) => self.wait(task, Cause::Message(from, number)),
                    None => self.lost += 1,
                },
                Event::Waited(t, n) => self.wait(task, Cause::Wait(self.node, t, n)),
                Event::Needs(m) => self.wait(task, Cause::Mark(self.node, m)),
                Event::InVain(_) if waits_again.contains(&i) => {}
                Event::InVain(t) | Event::Slept(t) | Event::Outside(t) => self.push(task, Step::Sleep(t)),
                Event::Full(took, ..) => {
                    if self.how == As::Recorded {
                        self.push(task, Step::Pause(took));
                    }
                    kept = Kept::default();
                    if at == 0 && self.how != As::Recorded {
                        self.push(task, Step::Keep(lives.first));
                    }
                    at += 1;
                }
                Event::Young(took, ..) if self.how == As::Recorded => self.push(task, Step::Pause(took)),
                _ => {}
            }
        }
    }
    /// The program is over when its main tasks are. A sleep of another thread, after which it told nobody anything, keeps
    /// nobody.
    fn trim(&mut self) {
        for (place, task) in self.tasks.iter_mut().enumerate().filter(|(_, t)| t.class == Class::Normal) {
            if self.main == Some(place) {
                continue;
            }
            let told = task.steps.iter().rposition(|s| matches!(s, Step::Send { .. })).map_or(0, |i| i + 1);
            let waits = task.steps[told..].iter().position(|s| matches!(s, Step::Sleep(_)));
            task.steps.truncate(told + waits.unwrap_or(task.steps.len() - told));
        }
    }
    fn task(&mut self, actor: Actor, begin: Time) -> usize {
        if let Some(&t) = self.places.get(&actor) {
            return t;
        }
        let first = self.main.is_none() && matches!(actor, Actor::Task(_));
        let class = if matches!(actor, Actor::Handler(_)) { Class::Handler } else { Class::Normal };
        self.tasks.push(Task { node: self.node, class, steps: Vec::new() });
        let place = self.tasks.len() - 1;
        self.places.insert(actor, place);
        if first {
            self.main = Some(place);
        }
        if let Actor::Task(n) = actor {
            let cause = Cause::Birth(self.node, n);
            if self.letters.contains_key(&cause) {
                self.wait(place, cause);
            } else if first && begin > 0 {
                self.push(place, Step::Sleep(begin));
            }
        }
        place
    }
    fn push(&mut self, task: usize, step: Step) {
        self.tasks[task].steps.push(step);
    }
    fn tell(&mut self, task: usize, cause: Cause, sent: &mut HashSet<Cause>) {
        if let Some(l) = self.letters.get(&cause).filter(|_| sent.insert(cause)) {
            let step = Step::Send { message: l.number, to: self.node, bytes: 0 };
            self.push(task, step);
        }
    }
    fn wait(&mut self, task: usize, cause: Cause) {
        match self.letters.get_mut(&cause) {
            Some(l) if l.to == self.node => {
                if !std::mem::replace(&mut l.awaited, true) {
                    let number = l.number;
                    self.push(task, Step::Await(number));
                }
            }
            _ => self.lost += matches!(cause, Cause::Message(..)) as u64,
        }
    }
    /// Time, and what was allocated in it.
    fn spend(&mut self, task: usize, used: Used, life: Option<&Life>, kept: &mut Kept) {
        let bytes = if self.how == As::Recorded { 0 } else { used.allocates };
        let pieces = used.computes.div_ceil(PIECE).max(bytes.div_ceil(PIECE_BYTES)).clamp(1, MOST_PIECES);
        for i in 1..=pieces {
            let part = |n: u64| (n as u128 * i as u128 / pieces as u128 - n as u128 * (i as u128 - 1) / pieces as u128) as u64;
            if part(used.computes) > 0 {
                self.push(task, Step::Compute(part(used.computes)));
            }
            let bytes = part(bytes);
            if bytes == 0 {
                continue;
            }
            let (keeps, releases) = life.map_or((0, 0), |l| kept.next(l, bytes));
            if releases > 0 {
                self.push(task, Step::Release(releases));
            }
            if keeps > 0 {
                self.push(task, Step::Keep(keeps));
            }
            if bytes > keeps {
                self.push(task, Step::Allocate(bytes - keeps));
            }
        }
    }
}

/// What came to live, or ceased to, from one full collection to the next, and what was allocated meanwhile.
struct Life {
    more: u64,
    less: u64,
    allocates: u64,
}

struct Lives {
    /// What lives after the first.
    first: u64,
    /// From the beginning to the first one, and so on.
    all: Vec<Life>,
}

impl Lives {
    fn of(r: &Recording, how: As) -> Lives {
        let (mut all, mut allocates, mut freed, mut last) = (Vec::new(), 0u64, 0u64, None);
        for (_, event) in &r.events {
            match *event {
                Event::Allocates(b) => allocates = allocates.saturating_add(b),
                Event::Frees(b) if how != As::WithoutNurseries => freed = freed.saturating_add(b),
                Event::Full(_, _, live) => {
                    let before: u64 = last.unwrap_or(live);
                    let allocates = std::mem::take(&mut allocates).saturating_sub(std::mem::take(&mut freed));
                    all.push(Life { more: live.saturating_sub(before).min(allocates), less: before.saturating_sub(live), allocates });
                    last.get_or_insert(live);
                    last = Some(live);
                }
                _ => {}
            }
        }
        let first = r.events.iter().find_map(|e| if let Event::Full(_, _, live) = e.1 { Some(live) } else { None }).unwrap_or(0);
        Lives { first, all }
    }
    fn get(&self, at: usize) -> Option<&Life> {
        self.all.get(at)
    }
}

/// How far an interval has come.
#[derive(Default)]
struct Kept {
    allocated: u64,
    kept: u64,
    released: u64,
}

impl Kept {
    /// Of the next so many bytes: how many are kept, and how many are let go of meanwhile.
    fn next(&mut self, life: &Life, bytes: u64) -> (u64, u64) {
        self.allocated = self.allocated.saturating_add(bytes).min(life.allocates);
        let due = |all: u64| (all as u128 * self.allocated as u128 / life.allocates.max(1) as u128) as u64;
        let keeps = due(life.more).saturating_sub(self.kept).min(bytes);
        let releases = due(life.less).saturating_sub(self.released);
        self.kept += keeps;
        self.released += releases;
        (keeps, releases)
    }
}
