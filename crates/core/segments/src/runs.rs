//! The code segments of a node and their runners.
//!
//! **Invariant.** A run waits, is ready, or is in a runner's hand until it is over. What it took stands under open leases until it
//! commits or is given up; its outputs are kept here until then. Before a runner gets runs there is a spare one, idle or coming;
//! while any run is ready, or due in a hand, a runner is coming, or one of the idle comes in a moment by itself. So a run that blocks holds up nobody: the one that comes takes
//! half of what is due behind it.

use crate::cell::Cell;
use crate::hand::{self, Due, Hand};
use crate::state::{Inner, Woken};
use kumi_segments::{Answer, Claimed, LeaseId, Output, RequestId};
use kumi_vm::*;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::sync::Arc;

/// How many idle runners are kept.
const IDLE: usize = 8;
/// How many runs a runner gets at once, at most.
const MOST: usize = 32;

/// See the module.
#[derive(Default)]
pub struct Runs {
    runs: Vec<Option<Box<Run>>>,
    free: Vec<u32>,
    /// The runs of objects, which are their bits: cells do not move.
    by_object: FxHashMap<u64, u32>,
    ready: VecDeque<u32>,
    runners: FxHashMap<u64, Seat>,
    /// The number that was given out last.
    last: u64,
    idle: Vec<(Waker, u64)>,
    /// Runners that may have runs due.
    laden: Vec<u64>,
    /// Runners that were started or woken and have not come for a run yet.
    coming: usize,
    /// Runs in hands.
    busy: usize,
    /// Tasks that wait until nothing is ready or running.
    settling: Vec<Waker>,
    /// The node is about to go: none begins any more.
    stopped: bool,
}

/// A runner, as others know it.
struct Seat {
    hand: hand::Shared,
    role: Role,
    /// Is it among the laden?
    laden: bool,
}

/// What a runner does, as far as others know.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// It is counted as coming.
    Coming,
    /// It runs something, or has come and looks for it.
    Runs,
    /// It is among the idle.
    Idle,
}

/// One code segment.
pub struct Run {
    /// The object.
    object: Value,
    /// The plan by which it was started.
    pub plan: Value,
    pub request: Option<RequestId>,
    pub inputs: SmallVec<[Got; 1]>,
    pub outputs: Vec<(Value, Output<Cell>)>,
    stage: Stage,
    /// Tasks that wait for its end.
    joiners: Vec<Waker>,
}

/// How far a run is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// It waits for inputs, or is ready.
    Waits,
    /// This runner has it in hand, where more is said.
    Handed(u64),
    /// This runner is at it, and it is no quiet one.
    Runs(u64),
    /// What it did is about to appear, or what it took to come back. Until then nobody takes it for ended.
    Ends,
}

/// What a run was given.
pub struct Got {
    pub index: u64,
    pub value: Cell,
    pub lease: Option<LeaseId>,
    pub owned: bool,
    pub changed: bool,
    pub deliveries: u32,
}

/// What a run was given that is given up.
pub struct Given {
    pub run: u32,
    pub plan: Value,
    pub inputs: SmallVec<[Got; 1]>,
}

/// Leases, in the order of inputs.
pub fn leases(inputs: &[Got]) -> SmallVec<[LeaseId; 2]> {
    inputs.iter().filter_map(|g| g.lease).collect()
}

/// What cancelling comes to.
pub struct Cancelled {
    pub request: Option<RequestId>,
    /// What it had taken, in the order of its inputs.
    pub leases: SmallVec<[LeaseId; 2]>,
}

impl Run {
    pub fn new(object: Value, plan: Value) -> Run {
        let (inputs, outputs, joiners) = (SmallVec::new(), Vec::new(), Vec::new());
        Run { object, plan, request: None, inputs, outputs, stage: Stage::Waits, joiners }
    }
    #[inline]
    pub fn given(&mut self, answers: impl Iterator<Item = Answer<Cell>>) {
        for a in answers {
            let s = a.segment;
            let (owned, changed) = (s.owned, s.changed);
            self.inputs.push(Got { index: s.index, value: s.value, lease: a.lease, owned, changed, deliveries: s.deliveries });
        }
    }
    /// What it was given is to come back.
    fn take(&mut self, run: u32) -> Given {
        self.stage = Stage::Ends;
        Given { run, plan: self.plan, inputs: std::mem::take(&mut self.inputs) }
    }
    #[inline]
    fn due(&self, run: u32) -> Due {
        let mut due = Due {
            run,
            object: self.object,
            plan: self.plan,
            values: SmallVec::new(),
            encoded: false,
            traced: None,
            refused: false,
            quiet: self.joiners.is_empty(),
            behind: 0,
        };
        for g in &self.inputs {
            if due.traced.is_none() && g.lease.is_some() {
                due.traced = g.value.trace().cloned();
            }
            due.encoded |= g.value.value().is_none();
            // What is owned and was not taken is not shown: the run is refused.
            let hidden = g.owned && g.lease.is_none();
            due.refused |= hidden;
            due.quiet &= g.lease.is_none();
            due.values.push(if hidden { Value::NIL } else { g.value.value().unwrap_or(Value::NIL) });
        }
        due
    }
}

// --- runs ----------------------------------------------------------------------------------

impl Runs {
    /// A run that has begun to wait.
    pub fn add(&mut self, run: Box<Run>) -> u32 {
        let object = run.object.bits();
        let i = match self.free.pop() {
            Some(i) => {
                if let Some(slot) = self.runs.get_mut(i as usize) {
                    *slot = Some(run);
                }
                i
            }
            None => {
                self.runs.push(Some(run));
                (self.runs.len() - 1) as u32
            }
        };
        self.by_object.insert(object, i);
        i
    }
    #[inline]
    fn get(&mut self, run: u32) -> Option<&mut Run> {
        self.runs.get_mut(run as usize)?.as_deref_mut()
    }
    /// The run of an object, which may be over already.
    #[inline]
    fn of(&mut self, object: Value) -> Option<(u32, &mut Run)> {
        let i = *self.by_object.get(&object.bits())?;
        Some((i, self.get(i)?))
    }
    fn hand(&self, runner: u64) -> Option<hand::Shared> {
        self.runners.get(&runner).map(|s| s.hand.clone())
    }
    /// By which request it waits for its inputs.
    pub fn waits_by(&mut self, run: u32, request: RequestId) {
        if let Some(r) = self.get(run) {
            r.request = Some(request);
        }
    }
    /// The run of this number is complete: whom to wake.
    pub fn is_ready(&mut self, run: u32) -> Option<Waker> {
        self.get(run)?;
        if self.stopped {
            return None;
        }
        self.ready.push_back(run);
        self.call_one()
    }
    /// Does the object's run wait, or run?
    #[inline]
    pub fn lives(&mut self, object: Value, woken: &mut Woken) -> bool {
        self.by_object.contains_key(&object.bits()) && !self.is_over(object, woken)
    }
    fn is_over(&mut self, object: Value, woken: &mut Woken) -> bool {
        let Some((run, r)) = self.of(object) else { return true };
        let Stage::Handed(runner) = r.stage else { return false };
        let Some(hand) = self.hand(runner) else { return false };
        let mut hand = hand.lock();
        let over = hand.over.contains(&run);
        if over {
            self.note(&mut hand, woken);
        }
        over
    }
    /// `waker` is called when the object's run is over. False: it is.
    pub fn wait_for(&mut self, object: Value, waker: Waker, woken: &mut Woken) -> bool {
        let Some((run, r)) = self.of(object) else { return false };
        if let Stage::Handed(runner) = r.stage {
            if let Some(hand) = self.hand(runner) {
                let mut hand = hand.lock();
                if !hand.wait_for(run) {
                    self.note(&mut hand, woken);
                    return false;
                }
            }
        }
        if let Some(r) = self.get(run) {
            r.joiners.retain(|w| !w.is_spent());
            r.joiners.push(waker);
        }
        self.call_for_ready(woken);
        true
    }
    /// The object's run, if a runner is at it: it is no quiet one from now on.
    pub fn running(&mut self, object: Value) -> Option<&mut Run> {
        let (run, r) = self.of(object)?;
        match r.stage {
            Stage::Runs(_) => {}
            Stage::Handed(runner) => {
                if !self.hand(runner)?.lock().speak(run) {
                    return None;
                }
                self.get(run)?.stage = Stage::Runs(runner);
            }
            Stage::Waits | Stage::Ends => return None,
        }
        self.get(run)
    }
    /// The run has ended, and [`over`](Self::over) follows.
    #[inline]
    pub fn end(&mut self, run: u32) -> Option<&mut Run> {
        let r = self.get(run)?;
        r.stage = Stage::Ends;
        Some(r)
    }
    /// Takes what a running object was given out of its runner's hands; [`over`](Self::over) follows, with what becomes of it.
    pub fn give_up(&mut self, object: Value) -> Option<Given> {
        self.running(object)?;
        let (run, r) = self.of(object)?;
        let Stage::Runs(runner) = r.stage else { return None };
        let given = r.take(run);
        if let Some(hand) = self.hand(runner) {
            hand.lock().current = None;
        }
        Some(given)
    }
    /// The run is over: what it did is there.
    pub fn over(&mut self, run: u32, woken: &mut Woken) {
        self.drop_run(run, woken);
        self.wake_settling(woken);
    }
    /// Those that are over in this hand.
    fn note(&mut self, hand: &mut Hand, woken: &mut Woken) {
        if hand.over.is_empty() {
            return;
        }
        for run in hand.over.drain(..) {
            self.drop_run(run, woken);
        }
        self.wake_settling(woken);
    }
    fn drop_run(&mut self, run: u32, woken: &mut Woken) {
        self.busy = self.busy.saturating_sub(1);
        if let Some(mut r) = self.remove(run) {
            r.joiners.drain(..).for_each(|w| woken.add(Some(w)));
            woken.drop_later(r);
        }
    }
    fn remove(&mut self, run: u32) -> Option<Box<Run>> {
        let r = self.runs.get_mut(run as usize)?.take()?;
        self.free.push(run);
        self.by_object.remove(&r.object.bits());
        Some(r)
    }
    /// The object's run is no more, if it has not begun.
    pub fn cancel(&mut self, object: Value, woken: &mut Woken) -> Option<Cancelled> {
        let (run, r) = self.of(object)?;
        match r.stage {
            Stage::Waits => self.ready.retain(|x| *x != run),
            Stage::Handed(runner) => {
                if !self.hand(runner)?.lock().drop_due(run) {
                    return None;
                }
                self.busy = self.busy.saturating_sub(1);
            }
            Stage::Runs(_) | Stage::Ends => return None,
        }
        let r = self.remove(run)?;
        r.joiners.into_iter().for_each(|w| woken.add(Some(w)));
        Some(Cancelled { request: r.request, leases: leases(&r.inputs) })
    }
    /// None begins any more: by which requests they wait, and what they have taken, which is to come back, the last first.
    pub fn stop(&mut self, woken: &mut Woken) -> (Vec<RequestId>, Vec<LeaseId>) {
        self.stopped = true;
        self.note_all(woken);
        self.ready.clear();
        let hands: Vec<hand::Shared> = self.runners.values().map(|s| s.hand.clone()).collect();
        for hand in hands {
            for due in hand.lock().due.drain(..) {
                self.busy = self.busy.saturating_sub(1);
                if let Some(r) = self.get(due.run) {
                    r.stage = Stage::Waits;
                }
            }
        }
        let (mut requests, mut leases) = (Vec::new(), Vec::new());
        for r in self.runs.iter_mut().flatten().filter(|r| r.stage == Stage::Waits) {
            requests.extend(r.request.take());
            leases.extend(r.inputs.drain(..).filter_map(|g| g.lease));
        }
        (requests, leases)
    }
    /// How many are ready.
    #[inline]
    pub fn ready(&self) -> usize {
        self.ready.len()
    }
    #[inline]
    pub fn is_stopped(&self) -> bool {
        self.stopped
    }
    /// `waker` is called when nothing is ready or running. False: nothing is.
    pub fn wait_to_settle(&mut self, waker: Waker, woken: &mut Woken) -> bool {
        self.note_all(woken);
        if self.is_settled() {
            return false;
        }
        self.settling.retain(|w| !w.is_spent());
        self.settling.push(waker);
        self.call_for_ready(woken);
        true
    }
    fn note_all(&mut self, woken: &mut Woken) {
        let hands: Vec<hand::Shared> = self.runners.values().map(|s| s.hand.clone()).collect();
        for hand in hands {
            self.note(&mut hand.lock(), woken);
        }
    }
    fn is_settled(&self) -> bool {
        self.busy == 0 && self.ready.is_empty()
    }
    pub fn wake_settling(&mut self, woken: &mut Woken) {
        if self.is_settled() {
            self.settling.drain(..).for_each(|w| woken.add(Some(w)));
        }
    }
    /// Waiting, ready, running, idle runners.
    pub fn counts(&mut self, woken: &mut Woken) -> [usize; 4] {
        self.note_all(woken);
        let due: usize = self.runners.values().map(|s| s.hand.lock().due.len()).sum();
        let all = self.runs.len() - self.free.len();
        [all.saturating_sub(self.ready.len() + self.busy), self.ready.len() + due, self.busy.saturating_sub(due), self.idle.len()]
    }
    /// Everything is a root: runs are few, or they wait.
    pub fn each_value(&self, mut f: impl FnMut(Value)) {
        for r in self.runs.iter().flatten() {
            f(r.object);
            f(r.plan);
            r.inputs.iter().for_each(|g| g.value.mark(&mut f));
            r.outputs.iter().for_each(|(key, o)| {
                f(*key);
                o.new.value.mark(&mut f);
            });
        }
    }
    /// The child of a fork has none of its parent's threads: what it runs is its own affair.
    pub fn forked(&mut self) {
        self.runners.values().for_each(|s| *s.hand.lock() = Hand::default());
        *self = Runs { last: self.last, ..Runs::default() };
    }
}

// --- runners -------------------------------------------------------------------------------

impl Runs {
    /// A runner that has just been started, and is coming.
    pub fn seat(&mut self) -> (u64, hand::Shared) {
        self.last += 1;
        let hand: hand::Shared = Arc::new(Mutex::new(Hand::default()));
        self.runners.insert(self.last, Seat { hand: hand.clone(), role: Role::Coming, laden: false });
        (self.last, hand)
    }
    /// Another runner is about to be started: it counts as coming.
    pub fn expect(&mut self) {
        self.coming += 1;
    }
    /// One that was to be started could not be.
    pub fn give_up_hope(&mut self) {
        self.coming = self.coming.saturating_sub(1);
    }
    /// Is there a runner, so that what becomes ready is seen to?
    pub fn is_served(&self) -> bool {
        self.has_spare() || self.busy > 0
    }
    /// Would there be another runner if the one that asks had something to do?
    pub fn has_spare(&self) -> bool {
        self.coming > 0 || !self.idle.is_empty()
    }
    /// Wakes a runner, unless one is on its way.
    fn call_one(&mut self) -> Option<Waker> {
        while self.coming == 0 {
            let (w, number) = self.idle.pop()?;
            let woken = !w.is_spent();
            if let Some(s) = self.runners.get_mut(&number) {
                s.role = if woken { Role::Coming } else { Role::Runs };
            }
            if woken {
                self.coming += 1;
                return Some(w);
            }
        }
        None
    }
    /// Who started what is ready waits now, and a runner may have left it to that task.
    fn call_for_ready(&mut self, woken: &mut Woken) {
        if !self.ready.is_empty() {
            woken.add_runner(self.call_one());
        }
    }
    /// The runner has come for a run: what it has behind it is noted.
    pub fn come(&mut self, number: u64, woken: &mut Woken) {
        let Some(s) = self.runners.get_mut(&number) else { return };
        let hand = s.hand.clone();
        match std::mem::replace(&mut s.role, Role::Runs) {
            Role::Coming => self.coming = self.coming.saturating_sub(1),
            // Something else has ended its wait.
            Role::Idle => self.idle.retain(|w| w.1 != number),
            Role::Runs => {}
        }
        self.note(&mut hand.lock(), woken);
    }
    /// Is any run ready, or due with a runner that is at another one?
    pub fn has_work(&mut self) -> bool {
        !self.ready.is_empty() || self.laden_one().is_some()
    }
    /// A hand with runs that are due.
    fn laden_one(&mut self) -> Option<hand::Shared> {
        while let Some(number) = self.laden.last() {
            let s = self.runners.get_mut(number);
            if let Some(s) = s {
                if !s.hand.lock().due.is_empty() {
                    return Some(s.hand.clone());
                }
                s.laden = false;
            }
            self.laden.pop();
        }
        None
    }
    /// The runner has nothing to do: it is among the idle, or (false) is not needed any more.
    pub fn idle(&mut self, number: u64, waker: Waker) -> bool {
        if self.idle.len() >= IDLE {
            self.runners.remove(&number);
            return false;
        }
        if let Some(s) = self.runners.get_mut(&number) {
            s.role = Role::Idle;
        }
        self.idle.push((waker, number));
        true
    }
    /// The runner has ended; what was due comes to others. True: another one is to be started. With what the run was given
    /// that was cut short.
    pub fn leave(&mut self, number: u64, woken: &mut Woken) -> (bool, Option<Given>) {
        self.come(number, woken);
        let mut cut = None;
        if let Some(s) = self.runners.remove(&number) {
            let mut hand = s.hand.lock();
            let due: Vec<u32> = hand.due.drain(..).map(|d| d.run).collect();
            // It was killed before that one had begun; or was told its inputs, but not more.
            let current = hand.current.take().map(|c| c.run);
            drop(hand);
            for run in current.into_iter().chain(due).rev() {
                match self.get(run) {
                    Some(r) if r.stage == Stage::Handed(number) => r.stage = Stage::Waits,
                    Some(r) if r.stage == Stage::Runs(number) => {
                        cut = Some(r.take(run));
                        continue;
                    }
                    _ => continue,
                }
                self.busy = self.busy.saturating_sub(1);
                if !self.stopped {
                    self.ready.push_front(run);
                }
            }
        }
        let work = self.has_work();
        if work {
            woken.add_runner(self.call_one());
        }
        let needed = !self.has_spare() && (work || self.busy > 0);
        (needed, cut)
    }
}

impl Inner {
    /// Hands runs to the runner that has come: half of those that are ready, else half of what another one has due. The first
    /// of them begins.
    pub fn deal(&mut self, number: u64, woken: &mut Woken) -> Option<Due> {
        let mine = self.runs.hand(number)?;
        let ready = self.runs.ready.len();
        let stolen = match ready {
            0 => self.steal(number),
            _ => VecDeque::new(),
        };
        let mut mine = mine.lock();
        match ready {
            0 => mine.due = stolen,
            _ => {
                for _ in 0..ready.div_ceil(2).min(MOST) {
                    if let Some(d) = self.hand_one(number, woken) {
                        mine.due.push_back(d);
                    }
                }
            }
        }
        let mut first = mine.begin();
        if let Some(f) = &mut first {
            f.behind = mine.due.len();
        }
        let laden = !mine.due.is_empty();
        drop(mine);
        if let Some(s) = self.runs.runners.get_mut(&number).filter(|s| laden && !s.laden) {
            s.laden = true;
            self.runs.laden.push(number);
        }
        if self.runs.has_work() {
            woken.add_runner(self.runs.call_one());
        }
        first
    }
    /// Half of what another runner has due. This one has nothing in hand.
    fn steal(&mut self, number: u64) -> VecDeque<Due> {
        let stolen = self.runs.laden_one().map_or_else(VecDeque::new, |other| other.lock().split());
        for d in &stolen {
            if let Some(r) = self.runs.get(d.run) {
                r.stage = Stage::Handed(number);
            }
        }
        stolen
    }
    /// The next run that is ready, in this runner's hand from now on.
    #[inline]
    fn hand_one(&mut self, number: u64, woken: &mut Woken) -> Option<Due> {
        let run = self.runs.ready.pop_front()?;
        let r = self.runs.get(run)?;
        r.stage = Stage::Handed(number);
        let claimed = match r.request.take() {
            Some(id) => {
                let (claimed, w) = self.act(|m, _| m.claim(id));
                woken.join(w);
                claimed
            }
            None => None,
        };
        self.runs.busy += 1;
        let r = self.runs.get(run)?;
        if let Some(Claimed::Answers(answers)) = claimed {
            r.given(answers.into_iter());
        }
        Some(r.due(run))
    }
}
