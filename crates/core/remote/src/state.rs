//! What the natives of one runtime share.

use crate::host::Host;
use crate::host::round::Rounds;
use crate::talk::message::Message;
use kumi_core_segments::encode::Staying;
use kumi_core_segments::{Node, lease, node};
use kumi_vm::*;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

/// The shortest time between two collections over all nodes.
const ROUND_EVERY: u64 = 2_000_000_000;

/// This node's part, while it is a node.
#[derive(Default)]
pub struct State {
    here: Here,
    made: OnceLock<Made>,
    /// Has what comes heard.
    begins: OnceLock<Begins>,
    /// This process is a child of the one that loaded the library.
    forked: AtomicBool,
}

/// Has a node's part hear what comes.
pub type Begins = fn(&mut Cx, &Node, &Arc<Host>, &'static Made);

/// What the library handed over when it was loaded.
pub struct Made {
    pub staying: Staying,
    /// The class of references.
    pub reference: Gc<ClassObj>,
    /// The module `Kumihimo::Remote`.
    pub module: Value,
    /// Says that nothing is there.
    pub none: Value,
    /// The hidden variable of what objects have left behind: the reference.
    pub to: Sym,
    /// And of those that came: the seal by which others know them.
    pub seal: Sym,
    pub allowed: crate::allow::Allowed,
    /// Where a thread keeps its variables, and its name.
    pub of_threads: [Sym; 5],
    /// Has proxies noticed when they die, though nothing else is collected.
    watch: Arc<dyn OutsideWatch>,
}
// SAFETY: classes and the object that stands for nothing are shared, and live as long as the runtime.
unsafe impl Send for Made {}
// SAFETY: as above.
unsafe impl Sync for Made {}

/// There are proxies: what they hold elsewhere is to be released soon after they died. Rounds want full collections.
struct Watch(Here);
impl OutsideWatch for Watch {
    fn asks(&self) -> Asks {
        match self.0.try_lock() {
            Some(here) => here.as_ref().map_or(Asks::Nothing, |h| h.asks()),
            // Whoever has the lock now has proxies, as a rule.
            None => Asks::WhereCodeRan,
        }
    }
}

/// A proxy was made.
pub fn watch(cx: &mut Cx) {
    if let Some(made) = cx.shared_state::<State>().made.get() {
        cx.watch_outside(&made.watch);
    }
}

/// Forgets proxies that are not alive.
struct Weakly(Here);
impl Payload for Weakly {
    fn weak(&mut self, alive: &dyn Fn(Value) -> bool) {
        if let Some(h) = &*self.0.lock() {
            h.sift(alive);
        }
    }
    fn shares(&self) -> bool {
        true
    }
}

type Here = Arc<Mutex<Option<Arc<Host>>>>;

/// What is shared, once the library is loaded.
pub fn made(cx: &mut Cx) -> Result<&'static Made, Exit> {
    match cx.shared_state::<State>().made.get() {
        Some(m) => Ok(m),
        None => Err(cx.runtime_error("kumihimo/remote is not loaded")),
    }
}

/// This node's part; begins it where the program is a node.
pub fn host(cx: &mut Cx) -> Result<Arc<Host>, Exit> {
    let state = cx.shared_state::<State>();
    if let Some(h) = state.here.lock().as_ref().filter(|h| !h.is_over()) {
        return Ok(h.clone());
    }
    let forked = state.forked.load(Relaxed);
    let node = node(cx)?;
    let made = made(cx)?;
    if forked {
        return Err(crate::fail(cx, "Kumihimo::Segments::NotConnected", kumi_core_segments::FORKED));
    }
    let rounds = match host_seen(cx) {
        Some(h) if h.node().is_some_and(|n| Arc::ptr_eq(&n, &node)) => return Ok(h),
        _ => Rounds::new(cx.outside_bell(), cx.heap.shared()),
    };
    let here = cx.shared_state::<State>().here.clone();
    let mut here = here.lock();
    if let Some(h) = &*here
        && h.node().is_some_and(|n| Arc::ptr_eq(&n, &node))
    {
        return Ok(h.clone());
    }
    let mut secret = [0; 16];
    if getrandom::fill(&mut secret).is_err() {
        drop(here);
        return Err(cx.runtime_error("the system gives no random numbers, by which references are sealed"));
    }
    let (a, b) = secret.split_at(8);
    let word = |b: &[u8]| b.iter().fold(0, |n, x| n << 8 | u64::from(*x));
    // Traces between collections are not made: each step of a round that crosses nodes takes a full collection.
    let (usual, patience) = (kumi_remote::Options::default(), u64::from(cx.options.patience));
    let retry = usual.retry.saturating_mul(patience);
    let round_every = ROUND_EVERY.saturating_mul(patience);
    let options = kumi_remote::Options { lease: lease(cx), retry, round_every, incremental: false, ..usual };
    let host = Host::new(&node, options, [word(a), word(b)], rounds);
    *here = Some(host.clone());
    drop(here);
    // Rounds want full collections, though no proxy is ever made here.
    watch(cx);
    if let Some(begins) = cx.shared_state::<State>().begins.get().copied() {
        begins(cx, &node, &host, made);
    }
    // Those who have called this node before it listened are told that they may say it again.
    if let Some(link) = node.link() {
        for m in link.members().iter() {
            if let Some(peer) = link.peer(m.name()).filter(kumi_link::Peer::is_connected) {
                host.act(|inner, now, after| {
                    inner.connected(now, &peer, after);
                    let p = inner.peer(&peer);
                    after.send(p, &Message::Here);
                });
            }
        }
    }
    Ok(host)
}

/// The same, if it has begun.
pub fn host_seen(cx: &Cx) -> Option<Arc<Host>> {
    cx.state_seen::<State>()?.here.lock().clone()
}

/// `__rem_setup(module, class of references, object)`: the library is being loaded; the object stands for nothing.
fn setup(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let (module, reference) = (cx.arg_class(a, 0)?, cx.arg_class(a, 1)?);
    cx.keep(a[2]);
    let staying = Staying::new(cx, module, reference);
    let here = cx.shared_state::<State>().here.clone();
    let watch: Arc<dyn OutsideWatch> = Arc::new(Watch(here));
    let (to, seal) = (cx.intern("@__to"), cx.intern("@__seal"));
    let made = Made {
        staying,
        reference,
        module: a[0],
        none: a[2],
        to,
        seal,
        of_threads: ["@__vars", "@__name", "@__priority", "@__abort_me", "@__report_me"].map(|n| cx.intern(n)),
        allowed: Default::default(),
        watch,
    };
    let _ = cx.shared_state::<State>().made.set(made);
    let here = cx.shared_state::<State>().here.clone();
    let root = cx.data(cx.k.object, Weakly(here));
    cx.keep(root);
    cx.heap.add_weak(root);
    Ok(Value::NIL)
}

/// `__rem_start()`: this program is a node, and answers calls from now on.
fn start(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    host(cx).map(|_| Value::TRUE)
}

/// Shows the collector what it is to see, and ends with the runtime.
pub fn boot(cx: &mut Cx, begins: Begins) {
    let _ = cx.shared_state::<State>().begins.set(begins);
    cx.boot().apart.push(|cx, stage, m| host_seen(cx).is_some_and(|h| h.show(cx.heap.shared(), stage, m)));
    cx.boot().fork_hooks.push(|cx| {
        // The child is no node: it talks to nobody, and holds nothing.
        if let Some(s) = cx.state_seen::<State>() {
            s.forked.store(true, Relaxed);
            let host = s.here.lock().take();
            host.iter().for_each(|h| h.forked());
            std::mem::forget(host);
        }
    });
}

pub static TABLE: &[NativeDef] = &[crate::leaf("__rem_setup", 3, setup), crate::leaf("__rem_start", 0, start)];
