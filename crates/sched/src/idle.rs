//! Idle workers: who searches, who sleeps where, and how they are woken without a lost wake and without a herd.
//!
//! A worker is *awake*, *parked* on its seat's condition, or *polling*: asleep in the kernel's readiness queue. At most
//! one worker has the poller's role. One may be *attending*: as if parked, in another queue of the kernel's (`attend.rs`). Whoever
//! leaves a token with one that polls or attends must ring for it. A *token* on the seat says why a worker is woken; it stays until the worker sees it.
//!
//! **The handshake.** A pusher puts its entry under the queue's lock, then reads `sleeping`, `searching` and `dozing`.
//! A worker first counts itself among the sleeping (or uncounts itself from the searching or dozing), then looks at
//! every queue under its lock, and only then sleeps. Whoever takes the queue's lock second sees what the other did, so
//! either the worker finds the entry or the pusher finds the sleeper. No fence is needed; `tests/loom.rs` checks it.
//!
//! **Searching.** While a worker searches, pushers wake no other. A woken worker is counted as searching by its waker;
//! whoever stops searching because it found something passes the search on if more is left (`stop_search`). Whoever lies
//! down stops searching before its look at the queues.
//!
//! **Dozing.** After a search in vain while others still push, one worker naps (50 µs, then up to 1 ms, [`Naps`]) instead of
//! sleeping, and pushers spare the system call unless a queue is crowded.
//!
//! **The role.** The poller stores 0, then looks for parked workers under `parked`; a worker parks under `parked`, then looks
//! whether there is a poller. So no one stays parked beside an empty role if anything can come there.
//!
//! Locks: a seat's `state`, and `parked`; never both, innermost.

use crate::queue::{CROWD, Queues};
use crate::sync::{AtomicBool, AtomicU64, AtomicUsize, Condvar, Mutex, Ordering::*, kept, lock, wait_on};

/// Why a worker is woken; a later one outranks those before it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Token {
    /// Nobody woke it.
    None,
    /// The poller has left: take its role, tell nobody.
    Role,
    /// Look at everything.
    Look,
    /// Look, counted as searching by the waker.
    Search,
}

/// Where a worker is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rest {
    Awake,
    Parked,
    Polling,
    /// As if parked, but in the queue of what it serves (`attend`), with a bell of its own.
    Attending,
}

struct State {
    token: Token,
    place: Rest,
}

#[repr(align(128))]
struct Seat {
    state: Mutex<State>,
    woken: Condvar,
    /// A token was left while it was awake. A hint, so that one who spins need not take the lock.
    marked: AtomicBool,
    /// Counted in `searching`. Only the worker itself reads and writes it.
    searches: AtomicBool,
    /// It has got a task since it last waited. Likewise its own.
    worked: AtomicBool,
    /// It may take young entries once. Likewise its own.
    greedy: AtomicBool,
    /// Its last task waits for what is served (`attend`). Likewise its own.
    expects: AtomicBool,
    /// Waits for that which were short, since it was last tried whether spinning pays. Likewise its own.
    untried: AtomicUsize,
    /// How long it spins, for spinning pays only when waits are short. Likewise its own.
    spin_ns: AtomicU64,
}

/// The longest spin before sleep.
pub const SPIN_NS: u64 = 50_000;
/// Shorter spins are not begun.
const SPIN_LEAST_NS: u64 = 3_000;
/// Waits for what is served between two tries.
const SPIN_TRIES: usize = 32;

/// The shortest and the longest nap of a worker that found nothing while others still push.
const NAP_NS: (u64, u64) = (50_000, 1_000_000);

/// How long a worker naps, which it does in a row until it finds something.
pub struct Naps {
    next_ns: u64,
    /// The last one was for an entry that had just come.
    again: bool,
}

impl Naps {
    pub fn new() -> Naps {
        Naps { next_ns: NAP_NS.0, again: false }
    }
    /// The next nap. Each is twice as long, but after an entry that had come by the end of the last: that is looked at again soon, for if
    /// it stays it is work.
    pub fn next(&mut self, young: bool) -> u64 {
        self.again = young && !self.again;
        if self.again {
            return NAP_NS.0;
        }
        let nap = self.next_ns;
        self.next_ns = (nap * 2).min(NAP_NS.1);
        nap
    }
}

/// All seats.
pub struct Idle {
    seats: Box<[Seat]>,
    /// Who is parked, the last on top: its caches are the warmest.
    parked: Mutex<Vec<usize>>,
    /// Workers that have lain down.
    sleeping: AtomicUsize,
    /// Workers (or their wakers) that look for work at this moment.
    searching: AtomicUsize,
    /// The worker that naps, plus one.
    dozing: AtomicUsize,
    /// The worker with the poller's role, plus one.
    poller: AtomicUsize,
    /// Somebody had work to share while one searched or napped.
    stirred: AtomicBool,
}

impl Idle {
    pub fn new(workers: usize) -> Idle {
        let seat = |_| Seat {
            state: Mutex::new(State { token: Token::None, place: Rest::Awake }),
            woken: Condvar::new(),
            marked: AtomicBool::new(false),
            searches: AtomicBool::new(false),
            worked: AtomicBool::new(false),
            greedy: AtomicBool::new(false),
            expects: AtomicBool::new(false),
            untried: AtomicUsize::new(0),
            spin_ns: AtomicU64::new(SPIN_NS),
        };
        Idle {
            seats: (0..workers.max(1)).map(seat).collect(),
            parked: Mutex::new(Vec::new()),
            sleeping: AtomicUsize::new(0),
            searching: AtomicUsize::new(0),
            dozing: AtomicUsize::new(0),
            poller: AtomicUsize::new(0),
            stirred: AtomicBool::new(false),
        }
    }

    // What a worker says of itself.

    /// Whether it was woken while it was awake; takes the token. May miss one that is just left: `lie_down` does not.
    pub fn take_token(&self, w: usize) -> bool {
        let seat = &self.seats[w];
        if !seat.marked.load(Relaxed) {
            return false;
        }
        seat.marked.store(false, Relaxed);
        let token = std::mem::replace(&mut lock(&seat.state).token, Token::None);
        self.keep(w, token);
        matches!(token, Token::Look | Token::Search)
    }

    /// It got a task. True: it was counted as searching, and the caller must end that.
    pub fn found(&self, w: usize) -> bool {
        let s = &self.seats[w];
        if !s.worked.load(Relaxed) {
            s.worked.store(true, Relaxed);
        }
        s.searches.load(Relaxed)
    }

    /// Whether it may take young entries, this once.
    pub fn take_greed(&self, w: usize) -> bool {
        let g = &self.seats[w].greedy;
        g.load(Relaxed) && g.swap(false, Relaxed)
    }

    /// It may.
    pub fn be_greedy(&self, w: usize) {
        self.seats[w].greedy.store(true, Relaxed);
    }

    /// Its task waits for what is served.
    pub fn expect(&self, w: usize) {
        self.seats[w].expects.store(true, Relaxed);
    }

    /// Whether a task of its does, since it was last asked.
    pub fn take_expectation(&self, w: usize) -> bool {
        let e = &self.seats[w].expects;
        e.load(Relaxed) && e.swap(false, Relaxed)
    }

    /// How long to spin before lying down; 0: not at all. Otherwise counts the worker as searching, unless one is.
    pub fn begin_search(&self, w: usize) -> u64 {
        let s = &self.seats[w];
        let worked = s.worked.swap(false, Relaxed);
        if s.searches.load(Relaxed) {
            return SPIN_NS;
        }
        let spin = s.spin_ns.load(Relaxed);
        if !worked || spin < SPIN_LEAST_NS {
            return 0;
        }
        if self.searching.compare_exchange(0, 1, AcqRel, Relaxed).is_ok() {
            s.searches.store(true, Relaxed);
        }
        spin
    }

    /// It is no longer searching. True: nobody is.
    pub fn end_search(&self, w: usize) -> bool {
        let s = &self.seats[w].searches;
        s.load(Relaxed) && {
            s.store(false, Relaxed);
            self.searching.fetch_sub(1, AcqRel) == 1
        }
    }

    /// What a wait taught: spinning paid, or would have, or not.
    pub fn learn(&self, w: usize, short: bool) {
        let spin = &self.seats[w].spin_ns;
        spin.store(if short { SPIN_NS } else { spin.load(Relaxed) / 2 }, Relaxed);
    }

    /// The same of a wait for what is served: it takes longer than a spin where both sides sleep, and may be shorter where they don't,
    /// which is tried now and then.
    pub fn learn_of_service(&self, w: usize, waited_ns: u64) {
        self.learn(w, waited_ns < SPIN_NS);
        let seat = &self.seats[w];
        if waited_ns < 4 * SPIN_NS && seat.spin_ns.load(Relaxed) < SPIN_LEAST_NS {
            let untried = seat.untried.load(Relaxed) + 1;
            seat.untried.store(untried % SPIN_TRIES, Relaxed);
            if untried == SPIN_TRIES {
                self.learn(w, true);
            }
        }
    }

    /// Asks for the poller's role.
    pub fn try_poller(&self, w: usize) -> bool {
        self.poller.compare_exchange(0, w + 1, AcqRel, Acquire).is_ok()
    }

    /// Gives the role up; `hand_on_role` must follow if anything can come.
    pub fn leave_poller(&self) {
        self.poller.store(0, Release);
    }

    /// Whether a worker has the role.
    pub fn has_poller(&self) -> bool {
        self.poller.load(Acquire) != 0
    }

    /// Lies down, and searches no more; a look at the queues must follow. Or sees its token and doesn't.
    pub fn lie_down(&self, w: usize, place: Rest) -> Result<(), Token> {
        // A nudge relies on whoever is counted as searching, so nobody may sleep and be counted.
        if kept("who lies down searches no more") {
            self.end_search(w);
        }
        {
            let mut s = lock(&self.seats[w].state);
            if s.token != Token::None {
                let token = std::mem::replace(&mut s.token, Token::None);
                drop(s);
                self.keep(w, token);
                return Err(token);
            }
            s.place = place;
        }
        if place != Rest::Polling {
            lock(&self.parked).push(w);
        }
        if kept("who lies down is counted") {
            self.sleeping.fetch_add(1, AcqRel);
        }
        Ok(())
    }

    /// Sleeps on its seat until it is woken, at most for `limit_ns`. True: it has a token.
    pub fn park(&self, w: usize, limit_ns: u64) -> bool {
        let seat = &self.seats[w];
        let mut s = lock(&seat.state);
        while s.token == Token::None {
            let in_time;
            (s, in_time) = wait_on(&seat.woken, s, limit_ns);
            if !in_time {
                break;
            }
        }
        s.token != Token::None
    }

    /// Gets up and takes the token.
    pub fn get_up(&self, w: usize) -> Token {
        let (token, was) = {
            let mut s = lock(&self.seats[w].state);
            (std::mem::replace(&mut s.token, Token::None), std::mem::replace(&mut s.place, Rest::Awake))
        };
        if was != Rest::Polling {
            lock(&self.parked).retain(|&x| x != w);
        }
        if kept("who lies down is counted") {
            self.sleeping.fetch_sub(1, AcqRel);
        }
        self.keep(w, token);
        token
    }

    /// A token with a search in it makes the worker a searcher.
    fn keep(&self, w: usize, token: Token) {
        if token == Token::Search {
            self.seats[w].searches.store(true, Relaxed);
        }
    }

    /// Becomes the one that naps, if there is none.
    pub fn doze(&self, w: usize) -> bool {
        self.dozing.compare_exchange(0, w + 1, AcqRel, Relaxed).is_ok()
    }

    /// It naps no more; a look at the queues must follow. True: it did nap.
    pub fn end_doze(&self, w: usize) -> bool {
        self.dozing.load(Relaxed) == w + 1 && self.dozing.compare_exchange(w + 1, 0, AcqRel, Relaxed).is_ok()
    }

    /// Whether one naps.
    pub fn is_dozing(&self) -> bool {
        self.dozing.load(Acquire) != 0
    }

    /// Notes that somebody had work to share.
    pub fn stir(&self) {
        if !self.stirred.load(Relaxed) {
            self.stirred.store(true, Relaxed);
        }
    }

    /// Whether somebody had since the last question.
    pub fn was_stirred(&self) -> bool {
        self.stirred.load(Relaxed) && self.stirred.swap(false, Relaxed)
    }

    // What others do to a worker.

    /// Leaves a token and wakes the worker if it is parked; one that polls or attends must be rung by the caller. Says where it was.
    /// `Search` and `Role` are only left with a sleeper that has no token yet (else: `Awake`).
    pub fn wake(&self, w: usize, token: Token) -> Rest {
        let Some(seat) = self.seats.get(w) else { return Rest::Awake };
        let mut s = lock(&seat.state);
        if token != Token::Look && (s.place == Rest::Awake || s.token != Token::None) {
            return Rest::Awake;
        }
        let place = s.place;
        if place != Rest::Awake || kept("a token waits for who is awake") {
            s.token = s.token.max(token);
        }
        if place == Rest::Awake {
            seat.marked.store(true, Relaxed);
        }
        drop(s);
        if place == Rest::Parked {
            seat.woken.notify_one();
        }
        place
    }

    /// Whether a worker has been woken and hasn't seen it yet.
    pub fn any_token(&self) -> bool {
        self.seats.iter().any(|s| lock(&s.state).token != Token::None)
    }

    /// Takes the name of a parked worker; nobody else will get it until it parks again.
    pub fn pick_parked(&self) -> Option<usize> {
        lock(&self.parked).pop()
    }

    /// Whether anybody is parked.
    pub fn any_parked(&self) -> bool {
        !lock(&self.parked).is_empty()
    }

    /// The poller, if it sleeps and nobody has woken it.
    pub fn sleeping_poller(&self) -> Option<usize> {
        let w = self.poller.load(Acquire).checked_sub(1)?;
        let s = lock(&self.seats.get(w)?.state);
        (s.place == Rest::Polling && s.token == Token::None).then_some(w)
    }

    /// Wakes one sleeper for a search: parked ones first, for waking the poller moves its role too. `ring` wakes one in its place.
    pub fn wake_searcher(&self, ring: impl Fn(Rest)) -> bool {
        self.searching.fetch_add(1, AcqRel);
        while let Some(w) = self.pick_parked().or_else(|| self.sleeping_poller()) {
            match self.wake(w, Token::Search) {
                Rest::Awake => {}
                place => {
                    ring(place);
                    return true;
                }
            }
        }
        self.searching.fetch_sub(1, AcqRel);
        false
    }

    /// Whether `wake_searcher` would find somebody.
    pub fn any_available(&self) -> bool {
        self.any_parked() || self.sleeping_poller().is_some()
    }

    // Both together.

    /// Worker `from` has work to share: wakes a sleeper unless one searches or naps.
    pub fn nudge(&self, from: usize, queues: &Queues, ring: impl Fn(Rest)) {
        if self.sleeping.load(Relaxed) == 0 {
            return;
        }
        if self.searching.load(Acquire) > 0 {
            self.stir();
            return;
        }
        if self.is_dozing() && from < self.seats.len() && queues.open(from) < CROWD {
            self.stir();
            return;
        }
        self.wake_for_search(queues, ring);
    }

    /// Wakes a sleeper for a search, if there is one. Others' nudges do nothing while a search is on, so whoever ends one
    /// must look on their behalf.
    pub fn wake_for_search(&self, queues: &Queues, ring: impl Fn(Rest)) {
        while !self.wake_searcher(&ring) {
            if self.searching.load(Acquire) > 0 || !self.any_available() || !queues.any_open() {
                return;
            }
        }
    }

    /// Ends a worker's search that found something, and passes it on if there is more.
    pub fn stop_search(&self, w: usize, queues: &Queues, ring: impl Fn(Rest)) {
        if self.end_search(w) && kept("a search is passed on") && queues.any_open() && self.sleeping.load(Relaxed) > 0 {
            // A lone young entry is probably its owner's next: a napping worker will see whether it stays.
            if queues.stressed() || !self.is_dozing() {
                self.wake_for_search(queues, ring);
            }
        }
    }

    /// A sleeping worker ends its nap for some reason and leaves: pushers relied on it.
    pub fn stop_doze(&self, w: usize, queues: &Queues, ring: impl Fn(Rest)) {
        if self.end_doze(w) && kept("a nap is passed on") && queues.any_open() && self.any_available() {
            self.wake_for_search(queues, ring);
        }
    }

    /// Has a parked worker take the poller's role over.
    pub fn hand_on_role(&self, ring: impl Fn(Rest)) {
        while kept("the role is handed on")
            && let Some(w) = self.pick_parked()
        {
            let place = self.wake(w, Token::Role);
            if place != Rest::Awake {
                ring(place);
                break;
            }
        }
    }

    /// Whether nobody sleeps. A hint.
    pub fn all_up(&self) -> bool {
        self.sleeping.load(Relaxed) == 0
    }

    /// Whether one searches.
    pub fn is_searched(&self) -> bool {
        self.searching.load(Acquire) > 0
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn naps_grow_but_an_entry_that_has_just_come_is_looked_at_again_soon() {
        let mut naps = Naps::new();
        let all: Vec<u64> = (0..6).map(|_| naps.next(false) / 1000).collect();
        assert_eq!(all, [50, 100, 200, 400, 800, 1000]);
        // One entry comes; two tasks hand another to and fro.
        assert_eq!(naps.next(true) / 1000, 50);
        assert_eq!([naps.next(true) / 1000, naps.next(true) / 1000, naps.next(true) / 1000], [1000, 50, 1000]);
    }

    #[test]
    fn a_wake_before_the_sleep_is_not_lost() {
        let idle = Idle::new(2);
        assert_eq!(idle.wake(0, Token::Look), Rest::Awake);
        assert_eq!(idle.lie_down(0, Rest::Parked), Err(Token::Look));
        assert_eq!(idle.lie_down(0, Rest::Parked), Ok(()));
        assert_eq!(idle.wake(0, Token::Look), Rest::Parked);
        assert!(idle.park(0, u64::MAX));
        assert_eq!(idle.get_up(0), Token::Look);
        assert_eq!((idle.sleeping.load(Relaxed), idle.any_parked()), (0, false));
    }

    #[test]
    fn one_searcher_at_a_time_and_the_poller_last() {
        let idle = Idle::new(3);
        assert!(idle.try_poller(0) && !idle.try_poller(1));
        idle.lie_down(0, Rest::Polling).unwrap();
        idle.lie_down(1, Rest::Parked).unwrap();
        assert!(idle.wake_searcher(|place| assert_eq!(place, Rest::Parked)));
        assert_eq!(idle.get_up(1), Token::Search);
        assert_eq!(idle.searching.load(Relaxed), 1);
        assert!(idle.found(1) && idle.end_search(1));
        let rung = std::cell::Cell::new(0);
        assert!(idle.wake_searcher(|_| rung.set(rung.get() + 1)));
        assert!(!idle.wake_searcher(|_| rung.set(rung.get() + 1)), "it is woken already");
        assert_eq!((rung.get(), idle.get_up(0)), (1, Token::Search));
        idle.leave_poller();
        assert!(idle.end_search(0) && !idle.any_available());
    }

    #[test]
    fn spinning_is_given_up_when_it_does_not_pay() {
        let idle = Idle::new(1);
        let mut spins = 0;
        for _ in 0..10 {
            idle.found(0);
            if idle.begin_search(0) > 0 {
                spins += 1;
                idle.end_search(0);
            }
            idle.learn(0, false);
        }
        assert!(spins < 6);
        idle.learn(0, true);
        idle.found(0);
        assert_eq!(idle.begin_search(0), SPIN_NS);
    }

    #[test]
    fn a_nap_ends_in_time() {
        let idle = Idle::new(1);
        idle.lie_down(0, Rest::Parked).unwrap();
        assert!(idle.doze(0) && !idle.doze(0));
        assert!(!idle.park(0, 1000));
        idle.end_doze(0);
        assert_eq!(idle.get_up(0), Token::None);
    }
}
