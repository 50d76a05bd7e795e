//! The runtime's manager, and what the natives know beside it.
//!
//! **Invariant.** Everything behind [`Shared`]'s lock refers to published cells only. See the crate's for who marks what.

use crate::cell::Cell;
use crate::keys::Anchor;
use crate::plan::Plans;
use crate::runs::{Run, Runs};
use kumi_segments::{Both, FromOwner, KeyId, Manager, Node, NodeOptions, Time, Waiter};
use kumi_vm::*;
use parking_lot::{Mutex, MutexGuard};
use slotmap::SecondaryMap;
use smallvec::SmallVec;
use std::collections::HashSet;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::sync::{Arc, OnceLock};

/// Who waits on this node.
#[derive(Clone)]
pub enum Local {
    /// A task.
    Task(Arc<Bell>),
    /// Tasks that look at one watch.
    Watch(Arc<Bells>),
    /// A code segment: its run's number.
    Code(u32),
}

/// Whom to wake. Set by whoever is about to park, under the manager's lock.
#[derive(Default)]
pub struct Bell(Mutex<Option<Waker>>);

impl Bell {
    pub fn set(&self, w: Waker) {
        *self.0.lock() = Some(w);
    }
    pub fn take(&self) -> Option<Waker> {
        self.0.lock().take()
    }
}

/// The same for several at a time: all are woken, for nobody knows which of them takes what has come.
#[derive(Default)]
pub struct Bells(Mutex<Vec<Waker>>);

impl Bells {
    pub fn add(&self, w: Waker) {
        let mut all = self.0.lock();
        all.retain(|w| !w.is_spent());
        all.push(w);
    }
    pub fn take(&self) -> Vec<Waker> {
        std::mem::take(&mut *self.0.lock())
    }
}

pub type Keeper = Manager<Cell, Waiter<Local>>;
pub type Waking<'a, 'b> = Both<'a, &'b mut dyn FnMut(&Local)>;

/// See the module.
pub struct Inner {
    pub node: Node<Cell, Local>,
    /// The cell of each key, by which its values are marked.
    pub anchors: SecondaryMap<KeyId, Anchor>,
    /// Names of keys that others ask for.
    pub exports: HashSet<Box<[u8]>>,
    pub runs: Runs,
    pub clock: crate::clock::Clock,
    /// A put with a time has waited for room: it may enter at any call from then on.
    pub timed: bool,
    /// Other nodes' calls of this one, where it is among others.
    pub clients: Option<Arc<dyn Clients>>,
}

/// The other nodes, to whom answers go (`remote`).
pub trait Clients: Send + Sync {
    /// An answer for this client; under the manager's lock. What it holds of Ruby's is seen by the collector from then on.
    fn add(&self, replies: &mut Replies, client: &[u8], m: FromOwner<Cell>);
    /// Sends answers, from any thread. It does not wait.
    fn send_answers(&self, replies: Replies);
    /// Sees to what has to be encoded first, from any thread.
    fn encode(&self);
    /// The same from a native, which can encode every value.
    fn encode_by(&self, cx: &mut Cx);
    /// What stands under this key is to be encoded.
    fn encode_key(&self, name: &[u8]);
    /// Values on their way.
    fn each_value(&self, f: &mut dyn FnMut(Value));
    /// The runtime ends: no cell is read from now on.
    fn runtime_ends(&self);
    /// This is a fork's child: it is no node.
    fn forked(&self);
}

/// Answers to be sent once the manager's lock is let go: those whose values are all encoded. The others wait with the clients.
#[derive(Default)]
#[must_use]
pub struct Replies(pub Vec<(Box<[u8]>, FromOwner<Cell>)>);

/// Looks at a lock that is given back so often before the thread sleeps: some microseconds, which is what it is held for. Neither is the core
/// given away meanwhile.
const LOOKS: u32 = 100;

/// Locks what is held for a few microseconds at most.
#[inline]
pub fn lock_soon<T>(m: &Mutex<T>) -> MutexGuard<'_, T> {
    m.try_lock().unwrap_or_else(|| look_and_lock(m))
}
#[cold]
fn look_and_lock<T>(m: &Mutex<T>) -> MutexGuard<'_, T> {
    for _ in 0..LOOKS {
        std::hint::spin_loop();
        if let Some(locked) = (!m.is_locked()).then(|| m.try_lock()).flatten() {
            return locked;
        }
    }
    m.lock()
}
/// The manager behind its lock. Cells that take part in marking hold it.
pub struct Shared(Mutex<Inner>);
// SAFETY: it refers to published cells only, which are kept alive as the crate says.
unsafe impl Send for Shared {}
// SAFETY: as above; everything is behind the lock.
unsafe impl Sync for Shared {}

/// Where runs take so long, in nanoseconds, a sleeping worker is called for one that is ready: the call takes a twentieth of it.
const LONG: u64 = 200_000;

/// Who is to be woken once the lock is let go.
///
/// **Invariant.** Answers are sent before anybody here is woken, but for those whose values have to be encoded first: what he does then reaches a client
/// later than its answer.
#[derive(Default)]
#[must_use]
pub struct Woken {
    wakers: SmallVec<[Waker; 2]>,
    /// Answers to clients.
    away: Option<Box<Away>>,
    /// Runs that are over, to be given back then.
    gone: Vec<Box<Run>>,
    /// A runner is among them.
    runner: bool,
}

struct Away {
    clients: Arc<dyn Clients>,
    replies: Replies,
}

impl Woken {
    /// Wakes them, from a native.
    #[inline]
    pub fn wake(mut self, cx: &mut Cx) {
        self.answer();
        for w in self.wakers {
            if !w.is_spent() {
                cx.wake(w.ticket());
            }
        }
        if self.runner && made(cx).is_ok_and(|made| made.usual.load(Relaxed) >= LONG) {
            // Otherwise an idle worker looks after a while whether something is left to it.
            cx.call_another();
        }
        if let Some(away) = self.away {
            away.clients.encode_by(cx);
        }
    }
    /// Wakes them, from anywhere.
    pub fn wake_outside(mut self) {
        self.answer();
        self.wakers.iter().for_each(Waker::wake);
        if let Some(away) = self.away {
            away.clients.encode();
        }
    }
    #[inline]
    fn answer(&mut self) {
        if let Some(away) = &mut self.away {
            away.clients.send_answers(std::mem::take(&mut away.replies));
        }
    }
    /// This run is over.
    pub fn drop_later(&mut self, run: Box<Run>) {
        self.gone.push(run);
    }
    #[inline]
    pub fn add(&mut self, w: Option<Waker>) {
        if let Some(w) = w {
            self.wakers.push(w);
        }
    }
    /// A runner, for what is ready.
    #[inline]
    pub fn add_runner(&mut self, w: Option<Waker>) {
        self.runner |= w.is_some();
        self.add(w);
    }
    #[inline]
    pub fn join(&mut self, other: Woken) {
        if other.wakers.is_empty() && other.away.is_none() && other.gone.is_empty() {
            return;
        }
        self.wakers.extend(other.wakers);
        self.runner |= other.runner;
        self.gone.extend(other.gone);
        match (&mut self.away, other.away) {
            (Some(a), Some(b)) => a.replies.0.extend(b.replies.0),
            (a @ None, b) => *a = b,
            (Some(_), None) => {}
        }
    }
}

impl Shared {
    #[inline]
    pub fn lock(&self) -> MutexGuard<'_, Inner> {
        lock_soon(&self.0)
    }
}

impl Inner {
    /// The time, where anything here depends on it.
    #[inline]
    pub fn now(&self) -> Time {
        // What is given to others is under a lease, which counts from now.
        if self.timed || self.clients.is_some() || self.node.manager().next_deadline().is_some() { crate::clock::now() } else { 0 }
    }
    /// Changes the manager. Code segments that are complete become ready; tasks are woken by what comes back.
    #[inline]
    pub fn act<T>(&mut self, f: impl FnOnce(&mut Keeper, &mut Waking) -> T) -> (T, Woken) {
        let mut woken = Woken::default();
        let (node, runs) = (&mut self.node, &mut self.runs);
        let mut ring = |w: &Local| match w {
            Local::Task(bell) => woken.add(bell.take()),
            Local::Watch(bells) => woken.wakers.extend(bells.take()),
            Local::Code(run) => woken.add_runner(runs.is_ready(*run)),
        };
        let done = node.with(&mut ring as &mut dyn FnMut(&Local), f);
        self.finish(&mut woken);
        (done, woken)
    }
    /// Does what is due, however late the clock's task is: what has ended counts no more.
    pub fn catch_up(&mut self) -> Woken {
        let now = self.now();
        self.act(|m, w| m.tick(now, w)).1
    }
    /// The same with all of the node, for what comes from clients: `f` gets who wakes the node's own waiters.
    pub fn act_remote(&mut self, f: impl FnOnce(&mut Node<Cell, Local>, &mut dyn FnMut(&Local))) -> Woken {
        let mut woken = Woken::default();
        let (node, runs) = (&mut self.node, &mut self.runs);
        f(node, &mut |w| match w {
            Local::Task(bell) => woken.add(bell.take()),
            Local::Watch(bells) => woken.wakers.extend(bells.take()),
            Local::Code(run) => woken.add_runner(runs.is_ready(*run)),
        });
        self.finish(&mut woken);
        woken
    }
    #[inline]
    fn finish(&mut self, woken: &mut Woken) {
        if let Some(at) = self.node.manager().next_deadline() {
            woken.add(self.clock.earlier(at));
        }
        if self.node.has_answers() {
            self.answer_clients(woken);
        }
    }
    #[cold]
    fn answer_clients(&mut self, woken: &mut Woken) {
        let mut replies = Replies::default();
        let clients = self.clients.clone();
        self.node.flush(crate::clock::now(), &mut |to, m| {
            if let Some(c) = &clients {
                c.add(&mut replies, to, m);
            }
        });
        if let Some(clients) = clients {
            woken.join(Woken { away: Some(Box::new(Away { clients, replies })), ..Woken::default() });
        }
    }
    /// Others ask for this key: what is put there from now on is encoded at once.
    /// False: it is so already.
    pub fn export(&mut self, name: &[u8]) -> bool {
        // Names from outside are bounded as keys are.
        if self.exports.contains(name) || self.exports.len() >= NodeOptions::default().keys {
            return false;
        }
        self.exports.insert(name.into());
        if let Some(a) = self.node.manager().find_key(name).and_then(|k| self.anchors.get(k)) {
            a.export();
        }
        true
    }
}

/// What the natives of one runtime share.
#[derive(Default)]
pub struct State {
    made: OnceLock<Made>,
}

/// What the library handed over when it was loaded.
pub struct Made {
    pub shared: Arc<Shared>,
    pub plans: Arc<Plans>,
    pub key_class: Gc<ClassObj>,
    /// The object that marks the keys' cells.
    pub root: Value,
    /// Puts may be traced: not all are a native's.
    pub traces: AtomicBool,
    /// Which worker started the last code segment that was complete then, plus one; 0: a runner has seen that.
    pub starter: AtomicUsize,
    /// The runs that were dealt last were brief.
    pub brief: AtomicBool,
    /// What a run took on average, in nanoseconds, as far as it was seen; the last ones count most.
    pub usual: AtomicU64,
    /// Says that nothing is there.
    pub none: Value,
    /// Stands at the end of a key that was closed.
    pub end: Value,
    end_class: Value,
    end_bytes: Vec<u8>,
}

impl Made {
    /// Is it the end of a key? Another node's is encoded.
    #[inline]
    pub fn is_end(&self, cell: &crate::cell::Cell) -> bool {
        match cell.value() {
            Some(v) => v.header().is_some_and(|h| h.class() == self.end_class),
            None => cell.bytes().is_some_and(|b| **b == *self.end_bytes),
        }
    }
}
// SAFETY: the cells are kept alive for the runtime's life, and classes are shared.
unsafe impl Send for Made {}
// SAFETY: as above.
unsafe impl Sync for Made {}

/// Marks the cells of keys; forgets plans of classes that are no more.
pub struct Root(Arc<Shared>, Arc<Plans>);
impl Payload for Root {
    fn trace(&self, m: &mut Marker) {
        for v in self.0.lock().anchors.values() {
            m.mark(v.cell);
        }
    }
    fn weak(&mut self, alive: &dyn Fn(Value) -> bool) {
        self.1.sift(alive);
    }
    fn shares(&self) -> bool {
        true
    }
}

/// What is shared, once the library is loaded.
#[inline]
pub fn made(cx: &mut Cx) -> Result<&'static Made, Exit> {
    match cx.shared_state::<State>().made.get() {
        Some(m) => Ok(m),
        None => Err(cx.runtime_error("kumihimo/segments is not loaded")),
    }
}

/// A second, in nanoseconds.
const SECOND: Time = 1_000_000_000;

/// How long leases between nodes last: `KUMI_SEGMENT_LEASE`, else ten seconds, times the node's patience; an hour at most. All nodes are to
/// agree.
pub fn lease(cx: &Cx) -> Time {
    let said = std::env::var("KUMI_SEGMENT_LEASE").ok().and_then(|v| v.trim().parse::<u64>().ok());
    said.unwrap_or(10).max(1).saturating_mul(cx.options.patience.into()).min(3600) * SECOND
}

/// `__seg_lease()`: the same, in seconds.
fn lease_seconds(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    Ok(Value::fix((lease(cx) / SECOND) as i64))
}

/// `__seg_patience()`: how many times longer than usual other nodes may take.
fn patience(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    Ok(Value::fix(cx.options.patience.into()))
}

/// `__seg_setup(class of keys, object, end)`: the library is being loaded; the object stands for nothing, the other at the end of a key.
fn setup(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let key_class = cx.arg_class(a, 0)?;
    let seed = cx.hash_seed;
    let incarnation = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(1, |d| d.as_nanos() as u64).max(1);
    let usual = NodeOptions::default();
    let options = NodeOptions { lease: lease(cx), session: usual.session.saturating_mul(cx.options.patience.into()), ..usual };
    let mut node = Node::new(seed, incarnation, options);
    node.weigh(|c: &Cell| size_of::<Cell>() + c.bytes().map_or(0, |b| b.len()));
    let inner = Inner {
        node,
        anchors: SecondaryMap::new(),
        exports: HashSet::new(),
        clients: None,
        runs: Runs::default(),
        clock: Default::default(),
        timed: false,
    };
    let shared = Arc::new(Shared(Mutex::new(inner)));
    let plans: Arc<Plans> = Arc::default();
    let root = cx.data(cx.k.object, Root(shared.clone(), plans.clone()));
    cx.keep(root);
    cx.heap.add_weak(root);
    cx.keep(a[1]);
    cx.keep(a[2]);
    let end_bytes = crate::encode::encode(cx, a[2])?;
    let end_class = a[2].header().map_or(Value::NIL, |h| h.class());
    let made = Made {
        shared,
        plans,
        key_class,
        root,
        traces: AtomicBool::new(false),
        starter: AtomicUsize::new(0),
        brief: AtomicBool::new(false),
        usual: AtomicU64::new(0),
        none: a[1],
        end: a[2],
        end_class,
        end_bytes,
    };
    let _ = cx.shared_state::<State>().made.set(made);
    crate::quick::front(cx);
    Ok(Value::NIL)
}

/// Marks what no key's cell marks, and begins anew in a fork's child.
pub fn boot(cx: &mut Cx) {
    cx.boot().tracers.push(|cx, m| {
        if let Some(made) = cx.state_seen::<State>().and_then(|s| s.made.get()) {
            let inner = made.shared.lock();
            inner.node.manager().each_loose_value(|v| v.mark(|v| m.mark(v)));
            if inner.clients.is_some() {
                // Others' calls go on during the marking, and move what stands under a key before the key's cell shows it.
                inner.node.manager().each_standing_value(|v| v.mark(|v| m.mark(v)));
            }
            inner.node.each_answer(|v| v.mark(|v| m.mark(v)));
            inner.runs.each_value(|v| m.mark(v));
            if let Some(c) = &inner.clients {
                c.each_value(&mut |v| m.mark(v));
            }
        }
    });
    cx.boot().end_hooks.push(|cx| {
        let clients = cx.state_seen::<State>().and_then(|s| s.made.get()).and_then(|made| made.shared.lock().clients.clone());
        if let Some(c) = clients {
            c.runtime_ends();
        }
    });
    cx.boot().fork_hooks.push(|cx| {
        if let Some(made) = cx.state_seen::<State>().and_then(|s| s.made.get()) {
            let mut inner = made.shared.lock();
            inner.runs.forked();
            // Nor is it a node: others talk to its parent.
            if let Some(c) = inner.clients.take() {
                c.forked();
            }
            let now = inner.now();
            // Nobody of the child waits, or holds anything.
            drop(inner.act(|m, w| m.abandon(now, w)).1);
            // Nor is there a clock's task.
            inner.clock = Default::default();
        }
    });
}

pub static TABLE: &[NativeDef] =
    &[crate::leaf("__seg_setup", 3, setup), crate::leaf("__seg_lease", 0, lease_seconds), crate::leaf("__seg_patience", 0, patience)];
