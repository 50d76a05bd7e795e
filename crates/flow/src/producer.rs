//! Producers: a source, a binder and the batches between them and the readers.
//!
//! Invariant: whoever parses has taken `work` (source and binder) out of the state and holds no lock meanwhile;
//! everybody else finds the document busy. Batches are routed in the order in which they were filled, by readers
//! that look for something, under the state's lock. So a reader parses only when no batch is at hand, a pool thread
//! may parse the next one while this one is read, and nobody ever blocks on a parse.
//!
//! Handles (nodes, lists, cursors) hold a [`Token`], which holds the producer; the producer refers to them weakly.
//! When the last token goes the source is closed at once, also when a pool thread is parsing (it notices the flag).
//! Drops may happen under any lock, so they never wait for the state: they leave a mark (`poked`), and whoever has
//! the lock looks at it after letting go.

use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use kumi_source::{Read, Source};
use kumi_xml::{Batch, BindOptions, Binder, Item, Limit, Progress, Schema};
use parking_lot::{Mutex, MutexGuard};

use crate::failure::Failure;
use crate::list::List;
use crate::policy::{AHEAD_BATCHES, LOW_WATER_PATIENCE, Pacer, Policy, Speed, Stop};
use crate::registry::{Registry, Shared};
use crate::route::{Context, Need, Router};
use crate::tree::{Document, Node, Root};
use crate::turns::Candidate;
use crate::wait::{BlockingJob, Poll, Subscription, Ticket, Wait, Waker};

/// The longest time that one call parses, whatever the buffer: between two of them other tasks get their turn.
pub const FILL_MOST: Duration = Duration::from_millis(20);
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

/// The parsing side. Exists once; in the state, or with the one who parses.
struct Work {
    source: Source,
    binder: Option<Binder>,
    bind: BindOptions,
    buffer: Vec<u8>,
    /// Serial numbers of the nodes open where the binder stands.
    opens: Vec<u64>,
    serial: u64,
    /// The socket's low-water mark.
    low: usize,
    consumed: u64,
    shared: Arc<Shared>,
}

impl Drop for Work {
    fn drop(&mut self) {
        self.source.close();
        self.shared.counters.open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What one filling came to.
struct Filled {
    stop: Stop,
    wait: Option<kumi_source::Wait>,
    end: Option<Result<(), Arc<Failure>>>,
    received: u64,
    took: Duration,
}

/// A filled batch, and where its readers are.
pub(crate) struct Ready {
    pub batch: Batch,
    pub at: usize,
}

impl Ready {
    pub fn peek(&self) -> Option<Item> {
        self.batch.items.get(self.at).copied()
    }
}

/// What somebody pushed while the source was with the one who parses.
enum Push {
    Bytes(Vec<u8>),
    End,
    Fail(String),
}

pub(crate) struct State {
    work: Option<Box<Work>>,
    busy: bool,
    /// Blocking work of the source is out.
    job: bool,
    queue: VecDeque<Ready>,
    spare: Vec<Batch>,
    router: Router,
    context: Context,
    /// What comes behind the queue.
    end: Option<Result<(), Arc<Failure>>>,
    /// The end was routed.
    over: bool,
    pacer: Pacer,
    prune: Option<(usize, u64)>,
    pushed: Vec<Push>,
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

    fn ticket(&self) -> Ticket {
        Ticket(self.generation)
    }

    /// The batch that is read now, which has something left, and what is needed to route it.
    pub fn front(&mut self) -> Option<(&mut Ready, &mut Router, &Context)> {
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
    fn shut(&mut self, end: Result<(), Arc<Failure>>) -> (Option<Box<Work>>, VecDeque<Ready>, Vec<Batch>) {
        self.end.get_or_insert(end);
        self.over = true;
        self.change();
        (self.work.take(), std::mem::take(&mut self.queue), std::mem::take(&mut self.spare))
    }
}

/// What asking for progress came to.
pub(crate) enum Step {
    Progress,
    Wait(Wait, Ticket),
    Busy(Ticket),
    /// Nothing more comes; for what is still missing, this is why.
    Over(Arc<Failure>),
}

/// Parses a document on demand. Thread-safe; keeps nothing of the document reachable.
pub struct Producer {
    pub(crate) shared: Arc<Shared>,
    schema: Arc<Schema>,
    name: String,
    me: Weak<Producer>,
    /// Nobody can reach the document: whoever parses stops.
    closed: AtomicBool,
    poked: AtomicBool,
    /// A pool thread was asked to parse ahead.
    scheduled: AtomicBool,
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
        let work = Work {
            source,
            binder: None,
            bind: options.bind,
            buffer: Vec::new(),
            opens: Vec::new(),
            serial: 0,
            low: 1,
            consumed: 0,
            shared: shared.clone(),
        };
        let class = schema.root().class();
        let by_path = matches!(schema.root(), kumi_xml::Root::Path { .. });
        let context = Context { schema: schema.clone(), meter: shared.meter.clone(), shared: shared.clone() };
        // The router is made before the root exists, and replaced below.
        let producer = Arc::new_cyclic(|me| Producer {
            shared,
            schema,
            name,
            me: me.clone(),
            closed: AtomicBool::new(false),
            poked: AtomicBool::new(false),
            scheduled: AtomicBool::new(false),
            state: Mutex::new(State {
                work: Some(Box::new(work)),
                busy: false,
                job: false,
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

impl Producer {
    /// What is wanted of the document.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// The source, as users know it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How it stands.
    pub fn standing(&self) -> Standing {
        let state = self.lock();
        Standing {
            measures: state.measures,
            speed: state.pacer.speed(),
            buffer_rows: state.pacer.buffer_rows(),
            switches: state.pacer.switches(),
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
        self.pushes(Push::Bytes(bytes.to_vec()))
    }

    /// No more bytes are pushed.
    pub fn end(&self) {
        self.pushes(Push::End);
    }

    /// No more bytes are pushed, because of this. Readers get it after what was pushed before.
    pub fn fail(&self, message: impl Into<String>) {
        self.pushes(Push::Fail(message.into()));
    }

    fn pushes(&self, push: Push) -> Option<usize> {
        let mut state = self.lock();
        if state.end.is_some() {
            return None;
        }
        state.pushed.push(push);
        state.stalled = false;
        state.change();
        let later: usize = state.pushed.iter().map(|push| if let Push::Bytes(bytes) = push { bytes.len() } else { 0 }).sum();
        let waiting = match &mut *state {
            State { work: Some(work), pushed, .. } => {
                pushes_into(&mut work.source, pushed);
                work.source.waiting()
            }
            _ => later,
        };
        Some(waiting)
    }

    /// Parses until the policy's buffer is full or the source has nothing, without routing: for callers that want
    /// to prefetch. Does nothing when enough is at hand. Says what to wait for when nothing could be done.
    pub fn prefetch(&self) -> Poll<()> {
        let seen = {
            let state = self.lock();
            if state.queue.len() >= AHEAD_BATCHES {
                return Poll::Ready(());
            }
            state.generation
        };
        match self.advance(seen) {
            Step::Progress | Step::Over(_) => Poll::Ready(()),
            Step::Wait(wait, ticket) => Poll::Wait(wait, ticket),
            Step::Busy(ticket) => Poll::Busy(ticket),
        }
    }

    /// Fills batches ahead of the demand until the policy's number of them is ready or the source has nothing. To be
    /// run by a pool thread; a registry's pool does so by itself.
    pub fn ahead(self: &Arc<Self>) {
        loop {
            let mut state = self.lock();
            let wanted = state.end.is_none() && !state.busy && !state.job && state.queue.len() < state.pacer.ahead();
            let Some((work, batch, limit)) = wanted.then(|| self.begin(&mut state)).flatten() else {
                self.scheduled.store(false, Ordering::Release);
                return;
            };
            drop(state);
            let (work, batch, filled) = self.fill(work, batch, limit);
            let full = matches!(filled.stop, Stop::Full);
            if !full {
                self.scheduled.store(false, Ordering::Release);
            }
            self.finish(work, batch, filled, true);
            if !full {
                return;
            }
        }
    }

    fn spawn(&self) {
        let (Some(pool), Some(me)) = (&self.shared.pool, self.me.upgrade()) else { return };
        if self.scheduled.swap(true, Ordering::AcqRel) {
            return;
        }
        if !pool(Box::new(move || me.ahead())) {
            self.scheduled.store(false, Ordering::Release);
        }
    }

    pub(crate) fn lock(&self) -> Locked<'_> {
        Locked { producer: self, guard: Some(self.state.lock()) }
    }

    /// Something was let go of: find out, now or when the lock is free, what is still needed.
    pub(crate) fn poke(&self) {
        self.poked.store(true, Ordering::Relaxed);
        self.settle();
    }

    fn settle(&self) {
        // The one who pokes writes the mark and then tries the lock; the one who has the lock lets go of it and then
        // reads the mark. With a fence between the two in both, one of them sees the other.
        fence(Ordering::SeqCst);
        while self.poked.load(Ordering::Relaxed) {
            let Some(mut state) = self.state.try_lock() else { return };
            self.poked.store(false, Ordering::Relaxed);
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
    fn tidy(&self, state: &mut State) -> Option<(Option<Box<Work>>, VecDeque<Ready>, Vec<Batch>)> {
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
        state.job = false;
        state.change();
    }

    /// Routes what is at hand until `enough`, else parses.
    pub(crate) fn bring(&self, enough: impl Fn() -> bool) -> Step {
        let mut state = self.lock();
        let mut routed = false;
        loop {
            if enough() {
                if routed {
                    state.change();
                }
                return Step::Progress;
            }
            if !state.route() {
                break;
            }
            routed = true;
        }
        if routed {
            // Others may have waited for what went by.
            state.change();
        }
        let seen = state.generation;
        drop(state);
        self.advance(seen)
    }

    /// Parses, when nothing has changed since a reader found nothing.
    pub(crate) fn advance(&self, seen: u64) -> Step {
        let mut state = self.lock();
        if state.generation != seen {
            return Step::Progress;
        }
        if let Some(end) = state.end.clone() {
            if !state.queue.is_empty() {
                return Step::Progress;
            }
            if !state.over {
                state.over = true;
                if end.is_ok() {
                    state.router.finish();
                }
                state.change();
            }
            return Step::Over(end.err().unwrap_or_else(|| Arc::new(Failure::closed(&self.name))));
        }
        if state.busy || state.job {
            state.busy_seen = true;
            return Step::Busy(state.ticket());
        }
        let turn = state.pacer.wants_turn();
        if turn {
            let me: Weak<dyn Candidate> = self.me.clone();
            if let Some(until) = self.shared.turns.ask(self.key(), me, self.shared.now()) {
                return Step::Wait(Wait::Until(until), state.ticket());
            }
        }
        let Some((work, batch, limit)) = self.begin(&mut state) else {
            state.busy_seen = true;
            return Step::Busy(state.ticket());
        };
        drop(state);
        let (work, batch, filled) = self.fill(work, batch, limit);
        if turn {
            self.shared.turns.end(self.key(), self.shared.now());
        }
        self.finish(work, batch, filled, false)
    }

    fn key(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// Takes the work out.
    fn begin(&self, state: &mut State) -> Option<(Box<Work>, Batch, Limit)> {
        let mut work = state.work.take()?;
        state.busy = true;
        pushes_into(&mut work.source, &mut state.pushed);
        let (rows, bytes) = state.pacer.limit();
        if let Some((depth, serial)) = state.prune.take() {
            if work.opens.get(depth) == Some(&serial) {
                if let Some(binder) = &mut work.binder {
                    binder.prune(depth);
                }
            }
        }
        state.pacer.start(self.shared.now());
        Some((work, state.spare.pop().unwrap_or_default(), Limit { rows, bytes }))
    }

    /// Reads and binds, without any lock.
    fn fill(&self, mut work: Box<Work>, mut batch: Batch, limit: Limit) -> (Box<Work>, Batch, Filled) {
        let began = self.shared.now();
        let first = work.serial == 0 && work.consumed == 0;
        let mut filled = Filled { stop: Stop::Full, wait: None, end: None, received: 0, took: Duration::ZERO };
        loop {
            if self.closed.load(Ordering::Acquire) {
                filled.stop = Stop::End;
                break;
            }
            if let Some(binder) = &mut work.binder {
                match binder.bind(&mut batch, limit) {
                    Ok(Progress::Full) => break,
                    Ok(Progress::End) => {
                        filled.stop = Stop::End;
                        filled.end = Some(Ok(()));
                        break;
                    }
                    Ok(Progress::NeedInput) => {}
                    Err(error) => {
                        filled.stop = Stop::End;
                        filled.end = Some(Err(Arc::new(Failure::document(work.source.name(), error))));
                        break;
                    }
                }
            }
            let now = self.shared.now();
            if now.saturating_duration_since(began) >= FILL_MOST {
                filled.stop = Stop::Pause;
                break;
            }
            if let Err(error) = self.feed(&mut work, &mut filled, if first && batch.is_empty() { FIRST } else { NEXT }) {
                filled.stop = Stop::End;
                filled.end = Some(Err(Arc::new(error)));
                break;
            }
            if filled.wait.is_some() {
                filled.stop = Stop::Waits;
                break;
            }
        }
        follow(&mut work, &batch);
        filled.took = self.shared.now().saturating_duration_since(began);
        (work, batch, filled)
    }

    /// Reads once and feeds the binder.
    fn feed(&self, work: &mut Work, filled: &mut Filled, max: usize) -> Result<(), Failure> {
        work.buffer.clear();
        match work.source.read(&mut work.buffer, max).map_err(Failure::source)? {
            Read::Data(n) => {
                filled.received += n as u64;
                let binder = self.binder(work);
                let (binder, buffer) = (binder.0, binder.1);
                binder.feed(buffer).map_err(|e| Failure::document(&self.name, e))?;
            }
            Read::End => self.binder(work).0.finish(),
            Read::Wait(wait) => filled.wait = Some(wait),
        }
        Ok(())
    }

    /// The binder, made when the first bytes have come: by then the transport has said what encoding they are in.
    fn binder<'a>(&self, work: &'a mut Work) -> (&'a mut Binder, &'a [u8]) {
        let Work { binder, bind, source, buffer, .. } = work;
        let binder = binder.get_or_insert_with(|| {
            let mut bind = bind.clone();
            if bind.xml.encoding.is_none() {
                bind.xml.encoding = source.charset().and_then(|name| encoding_rs::Encoding::for_label(name.as_bytes()));
            }
            Binder::new(self.schema.clone(), bind)
        });
        (binder, buffer)
    }

    /// Puts the work back and queues what it brought.
    fn finish(&self, mut work: Box<Work>, batch: Batch, filled: Filled, ahead: bool) -> Step {
        let now = self.shared.now();
        self.shared.advanced(now);
        let rows = batch.items.iter().filter(|item| !matches!(item, Item::Close)).count();
        let counters = &self.shared.counters;
        counters.rows.fetch_add(rows as u64, Ordering::Relaxed);
        counters.batches.fetch_add(1, Ordering::Relaxed);
        counters.fill_ns.fetch_add(filled.took.as_nanos() as u64, Ordering::Relaxed);
        counters.bytes.fetch_add(filled.received, Ordering::Relaxed);
        if ahead {
            counters.ahead.fetch_add(1, Ordering::Relaxed);
        }
        if filled.wait.is_some() {
            counters.waits.fetch_add(1, Ordering::Relaxed);
        }
        let mut state = self.lock();
        let before = state.pacer.switches();
        // One who parsed ahead and found nothing left nobody idle: a batch is being read.
        let hand = if ahead && matches!(filled.stop, Stop::Waits) { Stop::Pause } else { filled.stop };
        state.pacer.stop(now, rows, filled.received, hand);
        let after = state.pacer.switches();
        counters.to_slow.fetch_add(after.0 - before.0, Ordering::Relaxed);
        counters.to_fast.fetch_add(after.1 - before.1, Ordering::Relaxed);
        let m = &mut state.measures;
        m.rows += rows as u64;
        m.batches += 1;
        m.ahead += ahead as u64;
        m.fill_ns += filled.took.as_nanos() as u64;
        m.bytes = work.consumed;
        m.received = work.source.received();
        m.total = work.source.total();
        m.waits += filled.wait.is_some() as u64;
        state.busy = false;
        state.stalled = filled.wait.is_some();
        let got = !batch.is_empty() || filled.end.is_some();
        let mut garbage = None;
        let wait = if state.over {
            // Closed meanwhile.
            garbage = Some((work, batch));
            None
        } else {
            if !batch.is_empty() {
                state.queue.push_back(Ready { batch, at: 0 });
            } else if state.spare.len() < SPARE {
                state.spare.push(batch);
            }
            match filled.end {
                Some(end) => {
                    state.end = Some(end);
                    garbage = Some((work, Batch::default()));
                    None
                }
                None => {
                    set_low_water(&mut work, &state.pacer);
                    let wait = filled.wait.filter(|_| !got && !ahead).map(|wait| match wait {
                        kumi_source::Wait::Ready { fd, read, write, until } => {
                            kumi_source::Wait::Ready { fd, read, write, until: patient(work.low, now, until) }
                        }
                        other => other,
                    });
                    state.work = Some(work);
                    wait
                }
            }
        };
        if got || state.over || state.busy_seen || ahead {
            state.change();
        }
        if !ahead {
            state.look_ahead();
        }
        let step = match wait {
            Some(kumi_source::Wait::Job(job)) => match self.me.upgrade() {
                Some(me) => {
                    state.job = true;
                    Step::Wait(Wait::Job(BlockingJob::new(job, me)), state.ticket())
                }
                None => Step::Progress,
            },
            Some(kumi_source::Wait::Ready { fd, read, write, until }) => Step::Wait(Wait::Ready { fd, read, write, until }, state.ticket()),
            Some(kumi_source::Wait::Until(until)) => Step::Wait(Wait::Until(until), state.ticket()),
            // Pushed meanwhile: read again.
            Some(kumi_source::Wait::Push) if !state.pushed.is_empty() => Step::Progress,
            Some(kumi_source::Wait::Push) => Step::Wait(Wait::Push, state.ticket()),
            None if matches!(filled.stop, Stop::Pause) && !got => Step::Wait(Wait::Until(now), state.ticket()),
            None => Step::Progress,
        };
        drop(state);
        drop(garbage);
        step
    }

}

/// Lets a slow socket wake its reader once for several packets. The source applies the mark to its waits, and drops
/// it for the next one when nothing came, so that an idle source wakes nobody.
fn set_low_water(work: &mut Work, pacer: &Pacer) {
    // Powers of two, so that it is rarely set.
    let mark = pacer.low_water().map_or(1, |(bytes, _)| 1 << bytes.max(1).ilog2());
    if mark != work.low {
        work.low = mark;
        work.source.set_low_water(mark);
    }
}

/// Bounds a wait that has a low-water mark by the policy's patience. Waits without one end later than these.
fn patient(low: usize, now: Instant, until: Option<Instant>) -> Option<Instant> {
    let lingers = |until: &Instant| low > 1 && *until <= now + 8 * LOW_WATER_PATIENCE;
    until.map(|until| if lingers(&until) { until.min(now + LOW_WATER_PATIENCE) } else { until })
}

/// Bytes asked of a source at once, before the first row and later.
const FIRST: usize = crate::policy::FIRST_READ;
const NEXT: usize = crate::policy::NEXT_READ;

fn pushes_into(source: &mut Source, pushed: &mut Vec<Push>) {
    for push in pushed.drain(..) {
        match push {
            Push::Bytes(bytes) => source.push(&bytes),
            Push::End => source.end(),
            Push::Fail(message) => source.fail(message),
        }
    }
}

/// Counts the nodes that the batch opened and closed.
fn follow(work: &mut Work, batch: &Batch) {
    for item in &batch.items {
        match item {
            Item::Open { .. } => {
                work.opens.push(work.serial);
                work.serial += 1;
            }
            Item::Close => {
                work.opens.pop();
            }
            _ => {}
        }
    }
    if let Some(binder) = &work.binder {
        work.consumed = binder.consumed();
    }
}

impl Candidate for Producer {
    fn offered(&self) {
        self.lock().change();
    }
}

impl std::fmt::Debug for Producer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Producer({})", self.name)
    }
}
