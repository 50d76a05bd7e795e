//! What a reader gets that finds nothing: what to wait for, and how to be told earlier.
//!
//! Nothing here blocks. A reader that gets [`Poll::Wait`] or [`Poll::Busy`] waits as its runtime does, and *also*
//! subscribes with the ticket it got ([`Producer::subscribe`]): another reader of the same document may bring what
//! it waits for.

use std::os::fd::RawFd;
use std::sync::Arc;
use std::time::Instant;

use crate::producer::Producer;

/// Called once, on any thread, when the document has made progress. Must be short and must not read the document.
pub type Waker = Box<dyn FnOnce() + Send>;

/// The state of a document in which a reader found nothing. A subscription with a ticket of an older state is
/// refused, so that no wakening is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket(pub(crate) u64);

/// What a read came to.
#[derive(Debug)]
pub enum Poll<T> {
    /// Here it is.
    Ready(T),
    /// The source has nothing now: read again when this happened or a subscription calls.
    Wait(Wait, Ticket),
    /// Somebody else is parsing: read again when a subscription calls.
    Busy(Ticket),
}

impl<T> Poll<T> {
    /// The same with another value.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Poll<U> {
        match self {
            Poll::Ready(value) => Poll::Ready(f(value)),
            Poll::Wait(wait, ticket) => Poll::Wait(wait, ticket),
            Poll::Busy(ticket) => Poll::Busy(ticket),
        }
    }
}

/// What to wait for.
#[derive(Debug)]
pub enum Wait {
    /// The descriptor to be ready for any of these, or the time to come, whichever is first. The descriptor belongs to
    /// the source.
    Ready {
        /// The descriptor.
        fd: RawFd,
        /// That reading it would not block.
        read: bool,
        /// That writing to it would not block.
        write: bool,
        /// The time, if there is a limit.
        until: Option<Instant>,
    },
    /// Blocking work: run it on a thread that may block, then read again.
    Job(BlockingJob),
    /// The time to come; a time that has passed means: let others run, then go on.
    Until(Instant),
    /// Somebody to push bytes ([`Producer::push`]), which calls subscriptions.
    Push,
}

/// Blocking work of a source. While one is out, other readers find the document busy; running or dropping it ends
/// that.
pub struct BlockingJob {
    job: Option<kumi_source::Job>,
    producer: Arc<Producer>,
}

impl BlockingJob {
    pub(crate) fn new(job: kumi_source::Job, producer: Arc<Producer>) -> BlockingJob {
        BlockingJob { job: Some(job), producer }
    }

    /// Does the work; blocks for as long as it takes.
    pub fn run(mut self) {
        if let Some(job) = self.job.take() {
            job.run();
        }
    }
}

impl Drop for BlockingJob {
    fn drop(&mut self) {
        let _inside = self.producer.shared.gate.enter();
        self.producer.job_done();
    }
}

impl std::fmt::Debug for BlockingJob {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("BlockingJob")
    }
}

/// A registered waker; dropping it takes the waker back.
pub struct Subscription {
    pub(crate) producer: Arc<Producer>,
    pub(crate) id: u64,
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.producer.unsubscribe(self.id);
    }
}
