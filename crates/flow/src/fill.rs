//! Filling: one go of reading and binding, by whoever has taken the work out of the producer.
//!
//! Invariant: there is one [`Work`] a document, and it is used without any lock. It stops when the batch is as large
//! as the policy says, the source has nothing, [`FILL_MOST`] is over, the document ends or fails, or nobody can
//! reach the document any more.
//!
//! The end of the root element is told only when the bytes behind it are known to be none, or white space and comments, so that
//! a reader of the last list hears of junk and of a body that was cut short. Where nothing announces the input's end
//! (pipes, sockets, what is pushed, a body that ends with its connection), it is told as soon as nothing more is there.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use kumi_source::{Read, Source};
use kumi_xml::{Batch, BindOptions, Binder, Item, Limit, Progress, Root, Schema};

use crate::failure::Failure;
use crate::policy::{FIRST_READ, LOW_WATER_WAIT, NEXT_READ, Pacer, Stop};
use crate::registry::Shared;

/// The longest time that one call parses, whatever the buffer: between two of them other tasks get their turn.
pub const FILL_MOST: Duration = Duration::from_millis(20);

/// The parsing side. Exists once; in the state, or with the one who parses.
pub(crate) struct Work {
    pub source: Source,
    pub binder: Option<Binder>,
    pub bind: BindOptions,
    pub buffer: Vec<u8>,
    /// Serial numbers of the nodes open where the binder stands.
    pub opens: Vec<u64>,
    pub serial: u64,
    /// The socket's low-water mark.
    pub low: usize,
    pub consumed: u64,
    /// The root's end, bound and not told yet.
    ending: Option<Batch>,
    /// It was told.
    told: bool,
    pub schema: Arc<Schema>,
    pub shared: Arc<Shared>,
}

impl Drop for Work {
    fn drop(&mut self) {
        self.source.close();
        self.shared.counters.open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What one filling came to.
pub(crate) struct Filled {
    pub stop: Stop,
    pub wait: Option<kumi_source::Wait>,
    pub end: Option<Result<(), Arc<Failure>>>,
    pub received: u64,
    pub took: Duration,
}

/// What somebody pushed while the source was with the one who parses.
pub(crate) enum Pushed {
    Bytes(Vec<u8>),
    End,
    Fail(String),
}

impl Work {
    pub fn new(source: Source, bind: BindOptions, schema: Arc<Schema>, shared: Arc<Shared>) -> Work {
        Work {
            source,
            binder: None,
            bind,
            buffer: Vec::new(),
            opens: Vec::new(),
            serial: 0,
            low: 1,
            consumed: 0,
            ending: None,
            told: false,
            schema,
            shared,
        }
    }

    /// Gives the source what was pushed meanwhile.
    pub fn take_pushed(&mut self, pushed: &mut Vec<Pushed>) {
        for push in pushed.drain(..) {
            match push {
                Pushed::Bytes(bytes) => self.source.push(&bytes),
                Pushed::End => self.source.end(),
                Pushed::Fail(message) => self.source.fail(message),
            }
        }
    }

    /// Passes over the rest of the node at this depth, if it is the one with this serial number.
    pub fn prune(&mut self, depth: usize, serial: u64) {
        if self.opens.get(depth) == Some(&serial) {
            if let Some(binder) = &mut self.binder {
                binder.prune(depth);
            }
        }
    }

    /// What the document's element is called, once it was bound.
    pub fn root(&self) -> Option<&str> {
        self.binder.as_ref()?.root()
    }

    /// Reads and binds.
    pub fn fill(&mut self, batch: &mut Batch, limit: Limit, closed: &AtomicBool) -> Filled {
        let began = self.shared.now();
        let mut filled = Filled { stop: Stop::Full, wait: None, end: None, received: 0, took: Duration::ZERO };
        if let Err(failure) = self.run(batch, limit, closed, began, &mut filled) {
            filled.stop = Stop::End;
            filled.end = Some(Err(failure));
        }
        self.follow(batch);
        filled.took = self.shared.now().saturating_duration_since(began);
        filled
    }

    fn run(
        &mut self,
        batch: &mut Batch,
        limit: Limit,
        closed: &AtomicBool,
        began: Instant,
        filled: &mut Filled,
    ) -> Result<(), Arc<Failure>> {
        loop {
            if closed.load(Ordering::Acquire) {
                filled.stop = Stop::End;
                return Ok(());
            }
            if let Some(binder) = &mut self.binder {
                // Behind the root nothing more is bound: however much the batch holds, what is there is looked at.
                let limit = if binder.root_ended() { Limit { rows: usize::MAX, bytes: usize::MAX } } else { limit };
                let bound = binder.bind(batch, limit);
                let ended = binder.root_ended();
                if ended {
                    self.withhold(batch);
                }
                match bound.map_err(|error| Arc::new(Failure::document(self.source.name(), error)))? {
                    Progress::Full if ended => continue,
                    Progress::Full => return Ok(()),
                    Progress::End => {
                        self.tell(batch);
                        filled.stop = Stop::End;
                        filled.end = Some(Ok(()));
                        return Ok(());
                    }
                    Progress::NeedInput => {}
                }
            }
            if self.shared.now().saturating_duration_since(began) >= FILL_MOST {
                filled.stop = Stop::Pause;
                return Ok(());
            }
            self.feed(filled)?;
            if filled.wait.is_some() {
                if !self.source.announces_its_end() && self.tell(batch) {
                    filled.wait = None;
                    filled.stop = Stop::Pause;
                    // Who pushes may push more, and then hears of it. Everything else is let go of.
                    if !self.source.is_pushed() {
                        filled.stop = Stop::End;
                        filled.end = Some(Ok(()));
                    }
                    return Ok(());
                }
                filled.stop = Stop::Waits;
                return Ok(());
            }
        }
    }

    /// Takes the root's end out of the batch it was bound into: its last item, or all of a document that is one row.
    fn withhold(&mut self, batch: &mut Batch) {
        if self.told || self.ending.is_some() || matches!(self.schema.root(), Root::Path { .. }) {
            return;
        }
        let ending = match batch.items.last() {
            Some(Item::Close) => {
                batch.items.pop();
                Batch { items: vec![Item::Close], bytes: Vec::new() }
            }
            Some(_) => std::mem::take(batch),
            None => return,
        };
        self.ending = Some(ending);
    }

    /// Puts the root's end behind what the batch holds. Was there one to tell?
    fn tell(&mut self, batch: &mut Batch) -> bool {
        let Some(ending) = self.ending.take() else { return false };
        self.told = true;
        match batch.is_empty() {
            true => *batch = ending,
            // One that is more than a Close was taken with the whole batch, and nothing is bound after it.
            false => batch.items.extend(ending.items),
        }
        true
    }

    /// Reads once and feeds the binder.
    fn feed(&mut self, filled: &mut Filled) -> Result<(), Arc<Failure>> {
        let max = if self.consumed == 0 { FIRST_READ } else { NEXT_READ };
        self.buffer.clear();
        let read = self.source.read(&mut self.buffer, max);
        match read.map_err(|error| Arc::new(Failure::source_at(error, self.binder.as_ref())))? {
            Read::Data(n) => {
                filled.received += n as u64;
                self.make_binder();
                if let Some(binder) = &mut self.binder {
                    binder.feed(&self.buffer).map_err(|error| Arc::new(Failure::document(self.source.name(), error)))?;
                }
            }
            Read::End => {
                self.make_binder();
                if let Some(binder) = &mut self.binder {
                    binder.finish();
                }
            }
            Read::Wait(wait) => filled.wait = Some(wait),
        }
        Ok(())
    }

    /// The binder is made when the first bytes have come: by then the transport has said what encoding they are in.
    fn make_binder(&mut self) {
        if self.binder.is_none() {
            let mut bind = self.bind.clone();
            if bind.xml.encoding.is_none() {
                bind.xml.encoding = self.source.charset().and_then(|name| encoding_rs::Encoding::for_label(name.as_bytes()));
            }
            self.binder = Some(Binder::new(self.schema.clone(), bind));
        }
    }

    /// Counts the nodes that the batch opened and closed.
    fn follow(&mut self, batch: &Batch) {
        for item in &batch.items {
            match item {
                Item::Open { .. } => {
                    self.opens.push(self.serial);
                    self.serial += 1;
                }
                Item::Close => {
                    self.opens.pop();
                }
                _ => {}
            }
        }
        if let Some(binder) = &self.binder {
            self.consumed = binder.consumed();
        }
    }

    /// Lets a slow socket wake its reader once for several packets. The source applies the mark to its waits, and drops
    /// it for the next one when nothing came, so that an idle source wakes nobody.
    pub fn set_low_water(&mut self, pacer: &Pacer) {
        // Powers of two, so that it is rarely set.
        let mark = pacer.low_water().map_or(1, |(bytes, _)| 1 << bytes.max(1).ilog2());
        if mark != self.low {
            self.low = mark;
            self.source.set_low_water(mark);
        }
    }
}

/// Bounds a wait that has a low-water mark by the policy's wait. Waits without one end later than these.
pub(crate) fn patient(low: usize, now: Instant, until: Option<Instant>) -> Option<Instant> {
    let lingers = |until: &Instant| low > 1 && *until <= now + 8 * LOW_WATER_WAIT;
    until.map(|until| if lingers(&until) { until.min(now + LOW_WATER_WAIT) } else { until })
}
