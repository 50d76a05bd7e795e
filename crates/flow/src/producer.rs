//! Producers: a source, a binder and the batches between them and the readers.
//!
//! Invariant: whoever parses has taken `work` (source and binder) out of the state and holds no lock meanwhile;
//! everybody else finds the document busy. Batches are routed in the order in which they were filled, by readers
//! that look for something, under the state's lock. So a reader parses only when no batch is at hand, a pool thread
//! may parse the next one while this one is read, and nobody ever blocks on a parse.
//!
//! Handles (nodes, lists, cursors) hold a [`Token`], which holds the producer; the producer refers to them weakly.
//! When the last token goes the source is closed at once, also when a pool thread is parsing (it notices the flag).
//! Drops may happen under any lock, and admission are offered under another document's, so neither waits for the state: they
//! leave a mark (`poked`), and whoever has the lock looks at it after letting go.

mod drive;

pub(crate) use drive::{Step, Stint};

use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering, fence};
use std::sync::{Arc, OnceLock, Weak};

use kumi_source::Source;
use kumi_xml::{Batch, BindOptions, Item, Schema};
use parking_lot::{Mutex, MutexGuard};

use crate::failure::Failure;
use crate::fill::{Pushed, Work};
use crate::list::List;
use crate::policy::{Pacer, Policy, Speed};
use crate::registry::{Registry, Shared};
use crate::route::{Context, Need, Router};
use crate::tree::{Document, Node, Root};
use crate::wait::{Subscription, Ticket, Waker};

/// Batches of a document that wait for reuse.
const SPARE: usize = 3;
/// A spare batch larger than this is freed instead.
const SPARE_BYTES: usize = 1 << 20;

/// How a document is opened.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// How it is read and bound. An encoding that the transport announces is put in when none is given.
    pub bind: BindOptions,
    /// How far and when it is parsed.
    pub policy: Policy,
}

/// Held by everything through which a part of the document can be reached.
pub(crate) struct Token {
    pub producer: Arc<Producer>,
}

impl Drop for Token {
    fn drop(&mut self) {
        self.producer.shared.counters.documents.fetch_sub(1, Ordering::Relaxed);
        self.producer.closed.store(true, Ordering::Release);
        self.producer.poke();
    }
}

/// A filled batch, and where its readers are.
pub(crate) struct FilledBatch {
    pub batch: Batch,
    pub at: usize,
}

impl FilledBatch {
    pub fn peek(&self) -> Option<Item> {
        self.batch.items.get(self.at).copied()
    }
}

pub(crate) struct State {
    work: Option<Box<Work>>,
    busy: bool,
    /// Blocking work of the source was given out in this process's generation; 0: none is out.
    job: u32,
    queue: VecDeque<FilledBatch>,
    spare: Vec<Batch>,
    router: Router,
    context: Context,
    /// What comes behind the queue.
    end: Option<Result<(), Arc<Failure>>>,
    /// The end was routed.
    over: bool,
    pacer: Pacer,
    prune: Option<(usize, u64)>,
    pushed: Vec<Pushed>,
    generation: u64,
    wakers: Vec<(u64, Waker)>,
    next_waker: u64,
    /// Somebody found the document busy and may have subscribed.
    busy_seen: bool,
    /// Subscribers are to be called after the lock is let go.
    wake: bool,
    /// A pool thread is to be asked after the lock is let go.
    spawn: bool,
    /// The source had nothing for the one who parsed ahead: it is a reader's turn.
    stalled: bool,
    measures: Measures,
}

/// What one producer has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measures {
    /// Items that were bound: elements of lists, and fields of nodes.
    pub rows: u64,
    /// Batches filled.
    pub batches: u64,
    /// Of those, ahead of the demand.
    pub ahead: u64,
    /// Elements of lists that were handed over without being kept.
    pub direct: u64,
    /// Time spent in filling, in nanoseconds.
    pub fill_ns: u64,
    /// Bytes of the document bound so far.
    pub bytes: u64,
    /// Bytes received, as they came over the wire.
    pub received: u64,
    /// Bytes that will have been received at the end, where that is known.
    pub total: Option<u64>,
    /// Times the source had nothing.
    pub waits: u64,
}

/// How a producer stands: its measures and what its policy thinks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// What it has done.
    pub measures: Measures,
    /// What its input is taken for.
    pub speed: Speed,
    /// Rows of a full buffer.
    pub buffer_rows: usize,
    /// How often the input was taken for slow, and for fast again.
    pub switches: (u64, u64),
    /// Subscriptions that no progress has called yet.
    pub waiting: usize,
    /// Whether its source is still open.
    pub open: bool,
}

impl State {
    /// Something changed that a waiting reader may have waited for.
    pub fn change(&mut self) {
        self.generation += 1;
        self.busy_seen = false;
        self.wake = true;
    }

    /// Rows went straight from the batch to their only reader.
    pub fn handed(&mut self, rows: usize) {
        self.measures.direct += rows as u64;
        self.context.shared.counters.direct.fetch_add(rows as u64, Ordering::Relaxed);
    }

    pub fn generation(&self) -> u64 {
        self.generation
    }

    fn job_is_out(&self) -> bool {
        self.job == self.context.shared.gate.generation()
    }

    fn ticket(&self) -> Ticket {
        Ticket(self.generation)
    }

    /// The batch that is read now, which has something left, and what is needed to route it.
    pub fn front(&mut self) -> Option<(&mut FilledBatch, &mut Router, &Context)> {
        while self.queue.front().is_some_and(|ready| ready.at >= ready.batch.items.len()) {
            if let Some(mut ready) = self.queue.pop_front() {
                ready.batch.clear();
                if self.spare.len() < SPARE && ready.batch.bytes.capacity() <= SPARE_BYTES {
                    self.spare.push(ready.batch);
                }
            }
            self.look_ahead();
        }
        let State { queue, router, context, .. } = self;
        queue.front_mut().map(|ready| (ready, router, &*context))
    }

    /// Routes one item; false when no batch is at hand.
    fn route(&mut self) -> bool {
        let Some((ready, router, context)) = self.front() else { return false };
        if let Some(item) = ready.peek() {
            ready.at += 1;
            router.step(item, &ready.batch, context);
        }
        true
    }

    fn look_ahead(&mut self) {
        self.spawn |= !self.busy && !self.stalled && self.work.is_some() && self.queue.len() < self.pacer.ahead();
    }

    /// Nothing of the document can be reached any more, or it was closed: frees everything.
    #[must_use]
    fn shut(&mut self, end: Result<(), Arc<Failure>>) -> (Option<Box<Work>>, VecDeque<FilledBatch>, Vec<Batch>) {
        self.end.get_or_insert(end);
        self.over = true;
        self.change();
        (self.work.take(), std::mem::take(&mut self.queue), std::mem::take(&mut self.spare))
    }
}

/// Parses a document on demand. Thread-safe; keeps nothing of the document reachable.
pub struct Producer {
    pub(crate) shared: Arc<Shared>,
    schema: Arc<Schema>,
    name: String,
    root: Arc<OnceLock<Box<str>>>,
    me: Weak<Producer>,
    /// Nobody can reach the document: whoever parses stops.
    closed: AtomicBool,
    poked: AtomicBool,
    /// A turn was offered, of which those who wait are to be told.
    offered: AtomicBool,
    /// A pool thread of this process's generation was asked to parse ahead; 0: none was.
    scheduled: AtomicU32,
    state: Mutex<State>,
}

/// The state's lock. Letting go calls subscribers, asks the pool and does what drops left to do.
pub(crate) struct Locked<'a> {
    producer: &'a Producer,
    guard: Option<MutexGuard<'a, State>>,
}

impl Deref for Locked<'_> {
    type Target = State;
    fn deref(&self) -> &State {
        self.guard.as_ref().expect("held until dropped")
    }
}

impl DerefMut for Locked<'_> {
    fn deref_mut(&mut self) -> &mut State {
        self.guard.as_mut().expect("held until dropped")
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        let (mut wakers, mut spawn) = (Vec::new(), false);
        if let Some(mut state) = self.guard.take() {
            if std::mem::take(&mut state.wake) {
                wakers = std::mem::take(&mut state.wakers);
            }
            spawn = std::mem::take(&mut state.spawn);
            if state.router.went_astray() {
                self.producer.poked.store(true, Ordering::Relaxed);
            }
        }
        for (_, waker) in wakers {
            waker();
        }
        if spawn {
            self.producer.spawn();
        }
        self.producer.settle();
    }
}

impl Registry {
    /// Opens a document of `schema` that `source` brings. Nothing is read yet.
    pub fn open(&self, source: Source, schema: Arc<Schema>, options: Options) -> Document {
        let shared = self.shared.clone();
        shared.counters.opened.fetch_add(1, Ordering::Relaxed);
        shared.counters.open.fetch_add(1, Ordering::Relaxed);
        shared.counters.documents.fetch_add(1, Ordering::Relaxed);
        let name = source.name().to_string();
        let total = source.total();
        let work = Work::new(source, options.bind, schema.clone(), shared.clone());
        let class = schema.root().class();
        let by_path = matches!(schema.root(), kumi_xml::Root::Path { .. });
        let context = Context { schema: schema.clone(), meter: shared.meter.clone(), shared: shared.clone() };
        // The router is made before the root exists, and replaced below.
        let producer = Arc::new_cyclic(|me| Producer {
            shared,
            schema,
            name,
            root: Arc::default(),
            me: me.clone(),
            closed: AtomicBool::new(false),
            poked: AtomicBool::new(false),
            offered: AtomicBool::new(false),
            scheduled: AtomicU32::new(0),
            state: Mutex::new(State {
                work: Some(Box::new(work)),
                busy: false,
                job: 0,
                queue: VecDeque::new(),
                spare: Vec::new(),
                router: Router::nothing(),
                context,
                end: None,
                over: false,
                pacer: Pacer::new(options.policy),
                prune: None,
                pushed: Vec::new(),
                generation: 0,
                wakers: Vec::new(),
                next_waker: 0,
                busy_seen: false,
                wake: false,
                spawn: false,
                stalled: false,
                measures: Measures { total, ..Measures::default() },
            }),
        });
        let token = Arc::new(Token { producer: producer.clone() });
        let (root, router) = if by_path {
            let list = List::new(token, false);
            let router = Router::list(&list);
            (Root::List(list), router)
        } else {
            let node = Node::pending(&token, class);
            let router = Router::node(&node);
            (Root::Node(node), router)
        };
        producer.lock().router = router;
        Document { root, producer }
    }
}

impl Registry {
    /// A document whose items are all there already, as they were bound once: it has no source.
    pub fn revive(&self, schema: Arc<Schema>, batch: Batch) -> Document {
        let empty = Source::open(kumi_source::Spec::Bytes(Vec::new().into()), kumi_source::Options::default());
        let source = empty.expect("bytes need nothing that could be missing");
        let document = self.open(source, schema, Options::default());
        self.shared.counters.opened.fetch_sub(1, Ordering::Relaxed);
        let work = {
            let mut state = document.producer.lock();
            state.queue.push_back(FilledBatch { batch, at: 0 });
            state.end = Some(Ok(()));
            state.work.take()
        };
        drop(work);
        document
    }
}

impl Producer {
    /// What is wanted of the document.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// The source, as users know it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the document's element is called, known before anything of it is handed out; nothing for the rows of a path. To
    /// keep it keeps nothing of the document.
    pub fn root(&self) -> &Arc<OnceLock<Box<str>>> {
        &self.root
    }

    /// How it stands.
    pub fn standing(&self) -> Standing {
        let state = self.lock();
        Standing {
            measures: state.measures,
            speed: state.pacer.speed(),
            buffer_rows: state.pacer.buffer_rows(),
            switches: state.pacer.switches(),
            waiting: state.wakers.len(),
            open: state.end.is_none(),
        }
    }

    /// Registers a waker for the next change after the state of `ticket`. `None`: it has changed already; read again.
    pub fn subscribe(self: &Arc<Self>, ticket: Ticket, waker: Waker) -> Option<Subscription> {
        let mut state = self.lock();
        if state.ticket() != ticket {
            return None;
        }
        let id = state.next_waker;
        state.next_waker += 1;
        state.wakers.push((id, waker));
        Some(Subscription { producer: self.clone(), id })
    }

    pub(crate) fn unsubscribe(&self, id: u64) {
        let waker = {
            let mut state = self.lock();
            let at = state.wakers.iter().position(|(other, _)| *other == id);
            at.map(|at| state.wakers.swap_remove(at))
        };
        drop(waker);
    }

    /// Closes the source now. What has been handed out stays; everything else fails with
    /// [`FailureKind::Closed`](crate::FailureKind::Closed).
    pub fn close(&self) {
        self.closed.store(true, Ordering::Release);
        let failure = Arc::new(Failure::closed(&self.name));
        let garbage = self.lock().shut(Err(failure));
        drop(garbage);
    }

    /// Gives bytes to a source that is pushed. Wakes readers. Gives the number of bytes not yet parsed, so that
    /// whoever pushes may pause when there are many; `None` when nobody reads them any more.
    pub fn push(&self, bytes: &[u8]) -> Option<usize> {
        self.pushes(Pushed::Bytes(bytes.to_vec()))
    }

    /// No more bytes are pushed.
    pub fn end(&self) {
        self.pushes(Pushed::End);
    }

    /// No more bytes are pushed, because of this. Readers get it after what was pushed before.
    pub fn fail(&self, message: impl Into<String>) {
        self.pushes(Pushed::Fail(message.into()));
    }

    fn pushes(&self, push: Pushed) -> Option<usize> {
        let mut state = self.lock();
        if state.end.is_some() {
            return None;
        }
        state.pushed.push(push);
        state.stalled = false;
        state.change();
        let later: usize = state.pushed.iter().map(|push| if let Pushed::Bytes(bytes) = push { bytes.len() } else { 0 }).sum();
        let waiting = match &mut *state {
            State { work: Some(work), pushed, .. } => {
                work.take_pushed(pushed);
                work.source.waiting()
            }
            _ => later,
        };
        Some(waiting)
    }

    pub(crate) fn lock(&self) -> Locked<'_> {
        Locked { producer: self, guard: Some(self.state.lock()) }
    }

    /// Something was let go of: find out, now or when the lock is free, what is still needed.
    pub(crate) fn poke(&self) {
        self.poked.store(true, Ordering::Release);
        self.settle();
    }

    fn settle(&self) {
        // The one who pokes writes the mark and then tries the lock; the one who has the lock lets go of it and then
        // reads the mark. With a fence between the two in both, one of them sees the other.
        fence(Ordering::SeqCst);
        while self.poked.load(Ordering::Acquire) {
            let Some(mut state) = self.state.try_lock() else { return };
            // With what was left before the mark that is taken here.
            self.poked.swap(false, Ordering::Acquire);
            if self.offered.swap(false, Ordering::Relaxed) {
                state.change();
            }
            let garbage = self.tidy(&mut state);
            let wakers = if std::mem::take(&mut state.wake) { std::mem::take(&mut state.wakers) } else { Vec::new() };
            drop(state);
            drop(garbage);
            for (_, waker) in wakers {
                waker();
            }
            fence(Ordering::SeqCst);
        }
    }

    /// Frees what nobody can reach.
    fn tidy(&self, state: &mut State) -> Option<(Option<Box<Work>>, VecDeque<FilledBatch>, Vec<Batch>)> {
        if state.over {
            let left = state.work.is_some() || !state.queue.is_empty();
            return left.then(|| state.shut(Ok(())));
        }
        if self.closed.load(Ordering::Acquire) {
            return Some(state.shut(Ok(())));
        }
        match state.router.need() {
            Need::All => None,
            Need::Outside { depth, serial } => {
                state.prune = Some((depth, serial));
                None
            }
            Need::Nothing => {
                self.closed.store(true, Ordering::Release);
                Some(state.shut(Ok(())))
            }
        }
    }

    pub(crate) fn job_done(&self) {
        let mut state = self.lock();
        state.job = 0;
        state.change();
    }
}

impl std::fmt::Debug for Producer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Producer({})", self.name)
    }
}
