//! Work between the threads of one marking, and the moment when there is none left.
//!
//! Every member keeps its own work. Who has none is *hungry*; who has plenty looks at `wanted` now and then and gives
//! a packet away. Invariant: packets change hands under the lock, and only a member that is not hungry has work of
//! its own or gives any. So when all members are hungry and no packet is left, nothing will ever come: the marking is
//! over, and is said to be under the same lock. Threads may join at any time until then.

use super::sync::{AtomicUsize, Condvar, Mutex, Ordering::Relaxed, SPINS, kept, lock, spin, wait};

struct State<W> {
    packets: Vec<W>,
    members: usize,
    hungry: usize,
    asleep: usize,
    over: bool,
}

/// See the module.
pub(crate) struct Share<W> {
    state: Mutex<State<W>>,
    changed: Condvar,
    /// Hungry members for whom no packet lies ready. A hint.
    wanted: AtomicUsize,
    /// Is there anything to be seen under the lock: a packet, or the end? A hint.
    news: AtomicUsize,
}

impl<W> Share<W> {
    pub fn new() -> Share<W> {
        let state = State { packets: Vec::new(), members: 0, hungry: 0, asleep: 0, over: false };
        Share { state: Mutex::new(state), changed: Condvar::new(), wanted: AtomicUsize::new(0), news: AtomicUsize::new(0) }
    }
    fn tell(&self, s: &State<W>) {
        self.wanted.store(s.hungry.saturating_sub(s.packets.len()), Relaxed);
        self.news.store(s.packets.len() + s.over as usize, Relaxed);
    }
    /// The caller takes part from now on, and counts as one that has work. False: it is over.
    pub fn join(&self) -> bool {
        let mut s = lock(&self.state);
        if !s.over {
            s.members += 1;
        }
        !s.over
    }
    /// Would somebody be glad of a packet?
    #[inline]
    pub fn wanted(&self) -> bool {
        self.wanted.load(Relaxed) != 0
    }
    /// Gives work away. The caller is a member and not hungry.
    pub fn give(&self, packet: W) {
        let mut s = lock(&self.state);
        s.packets.push(packet);
        self.tell(&s);
        if s.asleep > 0 {
            drop(s);
            self.changed.notify_one();
        }
    }
    /// The caller has no work left: what another gave, or `None` when all have none: it is over, for every member.
    pub fn take(&self) -> Option<W> {
        let mut s = lock(&self.state);
        s.hungry += 1;
        let mut spun = false;
        loop {
            if let Some(p) = s.packets.pop() {
                s.hungry -= 1;
                self.tell(&s);
                return Some(p);
            }
            if (s.hungry == s.members || !kept("it is over when all are hungry")) && !s.over {
                s.over = true;
                self.tell(&s);
                if kept("the end is told") {
                    self.changed.notify_all();
                }
            }
            if s.over {
                return None;
            }
            self.tell(&s);
            if !spun {
                spun = true;
                drop(s);
                for _ in 0..SPINS {
                    if self.news.load(Relaxed) != 0 {
                        break;
                    }
                    spin();
                }
                s = lock(&self.state);
                continue;
            }
            s.asleep += 1;
            s = wait(&self.changed, s);
            s.asleep -= 1;
            spun = false;
        }
    }
}
