//! Who serves: the link's own thread, or one that has nothing else to do and waits for what the link brings.
//!
//! Sockets are watched by one queue of the kernel's. The link's thread sleeps in a second one that holds the first, and does so for
//! nothing while another thread attends ([`attend`](Serving::attend)): an answer then wakes the thread that goes on with it, and no other.
//!
//! **Invariant.** The server is behind one lock; whoever has it serves, and the host is called by nobody else. What is due is the
//! link's thread's affair: it is never planned to sleep much longer than until then, whoever served last. While nobody attends, the
//! link's thread is woken by whatever comes.

use crate::clock::now;
use kumi_segments::Time;
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Registry, Token, Waker};
use parking_lot::Mutex;
use std::os::fd::{AsRawFd, RawFd};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// The link's thread may be so late for what is due, where others served meanwhile.
const LATE: Time = 10_000_000;
/// The longest look for what comes next before the link's thread sleeps. Waking a thread may take as long.
const SPIN: Time = 50_000;
/// Shorter ones are not begun.
const SPIN_LEAST: Time = 3_000;
/// A wait that is not longer may be one that two threads' waking takes: now and then it is tried whether looking is quicker.
const SPIN_TRIED: Time = 200_000;
const TRIES: u32 = 32;
/// What was held back goes after so long at the latest.
const HELD: Time = 1_000_000;
/// So long nobody looks what is due, at most, while messages come.
const LOOKS: Time = 1_000_000;

/// What the link's thread hears of the sockets while others attend: a queue of the kernel's is never urgent.
#[cfg(any(target_os = "linux", target_os = "android"))]
const NOTHING: Interest = Interest::PRIORITY;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const NOTHING: Interest = Interest::READABLE;

const SOCKETS: Token = Token(0);
const OWN: Token = Token(1);

/// What serves.
pub trait Serves: Send {
    /// Serves what has come, and what was told; with `due`, what is due as well. False: there was nothing.
    fn turn(&mut self, due: bool) -> bool;
    /// When the next turn is due; 0: at once. From here on whoever tells something wakes who serves.
    fn next(&mut self) -> Option<Time>;
    /// The end.
    fn finish(&mut self);
    /// Is something held back?
    fn holds(&self) -> bool;
}

/// See the module.
pub struct Serving {
    server: Mutex<Option<Box<dyn Serves>>>,
    /// It is to end.
    pub stopping: AtomicBool,
    /// The queue of the link's thread.
    outer: Registry,
    own: Waker,
    sockets: RawFd,
    /// Somebody has attended since the link's thread last looked.
    attended: AtomicBool,
    /// Somebody attends now.
    attends: AtomicBool,
    /// Until when the link's thread sleeps; 0: it does not. Changed with the server's lock held.
    planned: AtomicU64,
    /// Something was held back since the link's thread last looked.
    held: AtomicBool,
}

impl Serving {
    /// `sockets`: the server's queue, which it keeps until it is dropped.
    pub fn new(sockets: &Poll) -> std::io::Result<(Serving, Poll)> {
        let outer = Poll::new()?;
        let own = Waker::new(outer.registry(), OWN)?;
        let sockets = sockets.as_raw_fd();
        outer.registry().register(&mut SourceFd(&sockets), SOCKETS, Interest::READABLE)?;
        let registry = outer.registry().try_clone()?;
        let (attended, attends) = (AtomicBool::new(false), AtomicBool::new(false));
        let serving = Serving {
            server: Mutex::new(None),
            stopping: AtomicBool::new(false),
            outer: registry,
            own,
            sockets,
            attended,
            attends,
            planned: AtomicU64::new(0),
            held: AtomicBool::new(false),
        };
        Ok((serving, outer))
    }

    /// This is served from now on.
    pub fn give(&self, server: impl Serves + 'static) {
        *self.server.lock() = Some(Box::new(server));
    }

    fn listen(&self, interest: Interest) {
        // The queue is gone when the link has ended: there is nothing to hear then.
        let _ = self.outer.reregister(&mut SourceFd(&self.sockets), SOCKETS, interest);
    }

    /// Something is held back: the link's thread sleeps no longer than that may be. While more comes it plans so by itself, and is not
    /// woken for it.
    pub fn look_soon(&self) {
        self.held.store(true, Ordering::Relaxed);
        if self.planned.load(Ordering::SeqCst) > now() + HELD {
            self.wake_own();
        }
    }

    /// Wakes the link's thread itself.
    pub fn wake_own(&self) {
        let _ = self.own.wake();
    }
}

/// How long the link's thread looks for what comes next before it sleeps: looking pays when that comes soon.
#[derive(Default)]
struct Patience {
    spin: Time,
    in_vain: u32,
}

impl Patience {
    fn is_over(&self) -> bool {
        self.spin < SPIN_LEAST
    }

    /// What a wait taught.
    fn learn(&mut self, waited: Time) {
        if waited < SPIN {
            self.spin = SPIN;
            return;
        }
        self.spin /= 2;
        if self.is_over() && waited < SPIN_TRIED {
            self.in_vain += 1;
            if self.in_vain.is_multiple_of(TRIES) {
                self.spin = SPIN;
            }
        }
    }
}

impl Serving {
    /// The link's thread. `sleeps` hears whether it sleeps from now on between messages. `shares`: this node has no core to itself.
    pub fn run(&self, shares: bool, sleeps: impl Fn(bool), mut outer: Poll) {
        let mut events = Events::with_capacity(8);
        let several = !shares && std::thread::available_parallelism().is_ok_and(|n| n.get() > 1);
        let mut patience = Patience::default();
        let mut looks = true;
        while self.own_turn() {
            let from = now();
            if looks == (!several || patience.is_over()) {
                looks = !looks;
                sleeps(!looks);
            }
            let last = match looks {
                true => self.looks_on(from, patience.spin),
                false => Some(from),
            };
            let Some(last) = last else { continue };
            let Some(limit) = self.plan() else {
                // There is more to carry at once: whoever waits for what came may want this very core.
                std::thread::yield_now();
                continue;
            };
            let waited = outer.poll(&mut events, limit);
            if waited.is_err_and(|e| e.kind() != std::io::ErrorKind::Interrupted) {
                // Nothing is known that would bring this about; but it must not spin.
                std::thread::sleep(Duration::from_millis(10));
            }
            patience.learn(now().saturating_sub(last));
        }
    }

    /// Serves what is there and what is due. False: it was the last time.
    fn own_turn(&self) -> bool {
        let mut slot = self.server.lock();
        let Some(server) = &mut *slot else { return false };
        self.planned.store(0, Ordering::Relaxed);
        if self.stopping.load(Ordering::SeqCst) {
            let server = slot.take();
            drop(slot);
            if let Some(mut server) = server {
                server.finish();
            }
            return false;
        }
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| server.turn(true))) {
            let server = slot.take();
            drop(slot);
            drop(server);
            resume_unwind(panic);
        }
        true
    }

    /// Looks for what comes, and serves it, until nothing has come for so long. When the last came; `None`: it is time to
    /// look what is due.
    fn looks_on(&self, from: Time, spin: Time) -> Option<Time> {
        let (mut last, mut at) = (from, from);
        while at < last + spin && !self.attends.load(Ordering::Relaxed) {
            if at > from + LOOKS {
                return None;
            }
            // Who is to send it may wait for this very core.
            std::thread::yield_now();
            let some = self.serve_some();
            at = now();
            if some {
                last = at;
            }
        }
        Some(last)
    }

    /// How long the link's thread sleeps; `None`: not at all.
    fn plan(&self) -> Option<Option<Duration>> {
        let mut slot = self.server.lock();
        let server = slot.as_mut()?;
        let next = server.next();
        // Those who attend may bring nearer what is due.
        let soon = self.attended.swap(false, Ordering::AcqRel).then(|| now() + LATE);
        let held = self.held.swap(false, Ordering::Relaxed).then(|| now() + HELD);
        let mut until = next.into_iter().chain(soon).chain(held).min();
        self.planned.store(until.unwrap_or(Time::MAX), Ordering::SeqCst);
        // Whoever held something back before that was stored did not wake this thread.
        if held.is_none() && server.holds() {
            until = until.into_iter().chain([now() + HELD]).min();
        }
        match until.map(|t| t.saturating_sub(now())) {
            Some(0) => None,
            limit => Some(limit.map(Duration::from_nanos)),
        }
    }

    /// Serves what is there; false: nothing is.
    pub fn serve_some(&self) -> bool {
        let mut slot = self.server.lock();
        match &mut *slot {
            Some(server) if !self.stopping.load(Ordering::SeqCst) => {
                let panicked = match catch_unwind(AssertUnwindSafe(|| server.turn(false))) {
                    Ok(some) => return some,
                    Err(panic) => panic,
                };
                let server = slot.take();
                drop(slot);
                drop(server);
                drop(panicked);
                self.wake_own();
                false
            }
            _ => false,
        }
    }

    /// The descriptor of the sockets' queue.
    pub fn descriptor(&self) -> RawFd {
        self.sockets
    }

    /// Somebody attends from here on: see [`Link::attend`](crate::Link::attend). False: it has ended, nobody does.
    pub fn attend(&self) -> bool {
        if self.server.lock().is_none() {
            return false;
        }
        self.attended.store(true, Ordering::Release);
        self.attends.store(true, Ordering::Relaxed);
        self.listen(NOTHING);
        true
    }

    /// Who attends is about to sleep. False: something is there already.
    pub fn may_sleep(&self) -> bool {
        let mut slot = self.server.lock();
        let Some(server) = &mut *slot else { return true };
        let next = server.next();
        if next.is_some_and(|t| t.saturating_add(LATE) < self.planned.load(Ordering::Relaxed)) {
            self.wake_own();
        }
        next != Some(0)
    }

    /// Nobody attends any more. False: something is there, and who serves is to be woken.
    pub fn leave(&self) -> bool {
        self.attends.store(false, Ordering::Relaxed);
        self.listen(Interest::READABLE);
        self.may_sleep()
    }
}
