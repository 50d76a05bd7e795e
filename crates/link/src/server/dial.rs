//! Calling other nodes.
//!
//! **Invariant.** An address is called once at a time, and after a failure not before its wait is over, whoever asks. Each failure doubles the
//! wait, up to a bound, which is low in the first seconds: who was there a moment ago comes back as soon as it can be reached. A part of the
//! wait is chance, so that those who lost a node together do not come back together.

use super::accept::is_loopback;
use super::line::Phase;
use super::{MS, Server};
use crate::address::Address;
use crate::channel::{Channel, Left, Peer, Writer, kind};
use crate::error::{SendError, Why, code};
use crate::link::Command;
use kumi_segments::Time;
use kumi_wire::{Reason, Role};
use socket2::{Domain, SockAddr, Socket, Type};
use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Addresses that are called or waited for.
const MOST: usize = 4096;
/// Names that are looked up at once: each takes a thread.
const LOOKUPS: usize = 8;
/// Gossip that waits for a connection, and how long it is of use.
const PACKETS: usize = 4;
const FRESH: Time = 1000 * MS;
/// What the system may hold of large messages within the machine: it hands packets on in one line, that of small messages too. More
/// makes nothing quicker.
const LOCAL: usize = 64 << 10;
/// The wait after a first failure.
const FIRST: Time = 50 * MS;
/// So long after the first of several failures no wait is longer than that.
const EARLY: Time = 10_000 * MS;
const EARLY_MOST: Time = 500 * MS;
/// So long an attempt in those seconds may go without an answer.
const IMPATIENT: Time = 500 * MS;
/// Failures are remembered so long.
const REMEMBERED: Time = 60_000 * MS;

/// Failures of one address in a row.
#[derive(Clone, Copy, Default)]
pub struct Failures {
    count: u32,
    /// When the first of them was.
    since: Time,
}

impl Failures {
    /// One more: how long to wait after it. `chance`: any number; `most`: the longest wait.
    fn add(&mut self, at: Time, chance: u64, most: Time) -> Time {
        if self.count == 0 {
            self.since = at;
        }
        let early = at.saturating_sub(self.since) < EARLY;
        let most = if early { most.min(EARLY_MOST) } else { most };
        let long = (FIRST << self.count.min(20)).clamp(2, most.max(2));
        self.count = self.count.saturating_add(1);
        long / 2 + chance % (long / 2)
    }

    /// How long the next attempt may go without an answer. The system repeats it after one second, after two, after four: while the way to a
    /// node that was there a moment ago may come back at any time, a new attempt is sooner. Each second one is patient, for the way may be long.
    fn patience(&self, at: Time) -> Time {
        match (self.count, at.saturating_sub(self.since) < EARLY) {
            (0, _) => IMPATIENT,
            (n, true) if n % 2 == 0 => IMPATIENT,
            (_, true) => 3 * IMPATIENT,
            (_, false) => Time::MAX,
        }
    }
}

#[derive(Default)]
pub struct Dials(HashMap<Arc<str>, Dial>);

struct Dial {
    failures: Failures,
    state: State,
    /// Addresses that were not tried yet.
    others: Vec<SocketAddr>,
    packets: VecDeque<(Time, Vec<u8>)>,
    /// Somebody wants to talk to it: it is called again.
    wanted: Option<Peer>,
}

enum State {
    Waits(Time),
    Runs,
}

impl Dials {
    /// When [`Server::dial_due`] has something to do.
    pub fn next(&self) -> Option<Time> {
        self.0.values().filter_map(Dial::next).min()
    }

    /// How long a call of this address may go without an answer.
    pub fn patience(&self, at: Time, address: &str) -> Time {
        self.0.get(address).map_or(Time::MAX, |d| d.failures.patience(at))
    }
}

impl Dial {
    fn next(&self) -> Option<Time> {
        match self.state {
            State::Waits(until) if self.wanted.is_some() => Some(until),
            State::Waits(until) => Some(until + REMEMBERED),
            State::Runs => None,
        }
    }
}

impl Server {
    /// A connection to a member is wanted.
    pub(super) fn connect(&mut self, at: Time, peer: &Peer) {
        if peer.is_connected() {
            return;
        }
        let address = self.shared.members.lock().iter().find(|m| m.name() == peer.name()).map(|m| m.address().clone());
        if let Some(address) = address {
            self.dial(at, &address, Some(peer.clone()), None);
        }
    }

    /// Calls an address, unless that runs or has to wait.
    pub(super) fn dial(&mut self, at: Time, address: &Arc<str>, wanted: Option<Peer>, packet: Option<Vec<u8>>) {
        let known = self.dials.0.contains_key(address);
        if !known && self.dials.0.len() >= MOST || **address == **self.membership.me().address() {
            return;
        }
        let new =
            || Dial { failures: Failures::default(), state: State::Waits(at), others: Vec::new(), packets: VecDeque::new(), wanted: None };
        let dial = self.dials.0.entry(address.clone()).or_insert_with(new);
        if wanted.is_some() {
            dial.wanted = wanted;
        }
        match dial.state {
            State::Waits(until) if until > at => return,
            _ => {}
        }
        if let Some(packet) = packet {
            if dial.packets.len() == PACKETS {
                dial.packets.pop_front();
            }
            dial.packets.push_back((at, packet));
        }
        if let State::Waits(_) = dial.state {
            dial.state = State::Runs;
            self.begin(at, address);
        }
    }

    fn begin(&mut self, at: Time, address: &Arc<str>) {
        let parsed = match Address::parse(address) {
            Ok(Address::Unix(path)) => {
                let made = SockAddr::unix(&path).and_then(|a| self.call(at, &a, address));
                return made.unwrap_or_else(|e| self.gave_up(at, address, &Why::socket(&e)));
            }
            Ok(tcp) => tcp,
            Err(e) => return self.gave_up(at, address, &Why::Socket(io::ErrorKind::InvalidInput, e.to_string())),
        };
        if let Some(found) = parsed.literal() {
            return self.found(at, address.clone(), Ok(found));
        }
        if self.shared.lookups.fetch_add(1, Ordering::Relaxed) >= LOOKUPS {
            self.shared.lookups.fetch_sub(1, Ordering::Relaxed);
            return self.gave_up(at, address, &Why::Socket(io::ErrorKind::WouldBlock, "too many names are being looked up".to_owned()));
        }
        let (shared, name) = (self.shared.clone(), address.clone());
        let look = move || {
            let found = parsed.resolve();
            shared.lookups.fetch_sub(1, Ordering::Relaxed);
            shared.command(Command::Found(name, found));
        };
        if let Err(e) = std::thread::Builder::new().name("kumi-link lookup".to_owned()).spawn(look) {
            self.shared.lookups.fetch_sub(1, Ordering::Relaxed);
            self.gave_up(at, address, &Why::socket(&e));
        }
    }

    /// A name stands for these addresses.
    pub(super) fn found(&mut self, at: Time, address: Arc<str>, found: io::Result<Vec<SocketAddr>>) {
        let Some(dial) = self.dials.0.get_mut(&address) else { return };
        match found {
            Ok(mut found) if !found.is_empty() => {
                found.truncate(8);
                found.reverse();
                dial.others = found;
                self.next_address(at, &address, &Why::Closed);
            }
            Ok(_) => self.gave_up(at, &address, &Why::Socket(io::ErrorKind::NotFound, "the name has no address".to_owned())),
            Err(e) => self.gave_up(at, &address, &Why::socket(&e)),
        }
    }

    /// Tries the next address of a name; `why` the one before was none.
    fn next_address(&mut self, at: Time, address: &Arc<str>, why: &Why) {
        let mut why = why.clone();
        while let Some(to) = self.dials.0.get_mut(address).and_then(|d| d.others.pop()) {
            match self.call(at, &to.into(), address) {
                Ok(()) => return,
                Err(e) => why = Why::socket(&e),
            }
        }
        self.gave_up(at, address, &why);
    }

    fn call(&mut self, at: Time, to: &SockAddr, address: &Arc<str>) -> io::Result<()> {
        self.call_for(at, to, Some(address.clone()), None)
    }

    fn call_for(&mut self, at: Time, to: &SockAddr, dialed: Option<Arc<str>>, second_of: Option<Peer>) -> io::Result<()> {
        if self.lines.len() >= self.shared.limits.connections {
            return Err(io::Error::other("there are as many connections as may be"));
        }
        let socket = Socket::new(to.domain(), Type::STREAM, None)?;
        socket.set_nonblocking(true)?;
        let unix = to.domain() == Domain::UNIX;
        if !unix {
            socket.set_tcp_nodelay(true)?;
        }
        if second_of.is_some() && to.as_socket().is_some_and(|a| is_loopback(&a)) {
            socket.set_send_buffer_size(LOCAL)?;
        }
        match socket.connect(to) {
            Ok(()) => {}
            Err(e) if e.raw_os_error() == Some(libc::EINPROGRESS) => {}
            Err(e) => return Err(e),
        }
        let refused = || io::Error::other("the connection could not be taken into service");
        let made = self.open(at, socket, Role::Caller, unix, Phase::Connecting, None, dialed, second_of);
        made.map(drop).ok_or_else(refused)
    }

    /// A second connection to this peer is wanted: it goes where the first one leads, or where the peer says that it is.
    pub(super) fn connect_second(&mut self, at: Time, peer: &Peer) {
        let line = self.lines.values().find(|l| l.phase == Phase::Open && l.peer.as_ref() == Some(peer));
        let to = line.and_then(|l| match (&l.dialed, &l.address) {
            (Some(_), _) => l.channel.peer_addr().ok(),
            (None, Some(address)) => match Address::parse(address).ok()? {
                Address::Unix(path) => SockAddr::unix(path).ok(),
                // A name would have to be looked up.
                tcp => tcp.literal()?.first().map(|a| (*a).into()),
            },
            (None, None) => None,
        });
        if to.is_none_or(|to| self.call_for(at, &to, None, Some(peer.clone())).is_err()) {
            self.settle_second(peer, None);
        }
    }

    /// The second connection is there, or there is none: what waits for it goes.
    pub(super) fn settle_second(&mut self, peer: &Peer, channel: Option<Arc<Channel>>) {
        let way = channel.clone().or_else(|| peer.channel());
        let most = self.shared.limits.backlog;
        let waited = peer.set_bulk(channel, |w| {
            let Some(way) = &way else { return };
            match way.send_payload(w, Writer::Server, &self.shared.registry, most) {
                Ok(Left::Nothing | Left::Hold) => {}
                Ok(Left::Tell) | Err(SendError::Slow) => self.shared.tell(way),
                // Its sender was told that it will arrive or the connection end.
                Err(e) => {
                    way.fail(Why::Here(Reason { code: kumi_wire::code::LIMIT, text: e.to_string() }));
                    self.shared.tell(way);
                }
            }
        });
        if waited && way.is_some_and(|way| !way.when_drained(most)) {
            self.host.drained(peer);
        }
    }

    /// The socket is connected: the handshake begins.
    pub(super) fn made(&mut self, at: Time, token: usize) {
        let Some(line) = self.lines.get_mut(&token) else { return };
        line.phase = Phase::Shaking;
        line.heard = at;
        let channel = line.channel.clone();
        self.write(at, &channel);
    }

    /// A connection to that address was not made, or did not get past its handshake.
    pub(super) fn dial_failed(&mut self, at: Time, address: &Arc<str>, why: &Why) {
        let more = self.dials.0.get(address).is_some_and(|d| !d.others.is_empty());
        match why {
            Why::Socket(..) if more => self.next_address(at, address, why),
            Why::Here(reason) if more && reason.code == code::SILENT => self.next_address(at, address, why),
            _ => self.wait(at, address),
        }
    }

    /// As that, where there is no connection to speak of.
    fn gave_up(&mut self, at: Time, address: &Arc<str>, why: &Why) {
        self.wait(at, address);
        self.host.refused(address, why);
    }

    fn wait(&mut self, at: Time, address: &Arc<str>) {
        let most = self.shared.limits.backoff.as_nanos() as Time;
        let chance = self.random.next();
        let Some(dial) = self.dials.0.get_mut(address) else { return };
        dial.state = State::Waits(at + dial.failures.add(at, chance, most));
        dial.packets.clear();
        dial.others.clear();
    }

    /// It got past it, but ended soon: that counts as a failure, so that who is sent away does not come again at once.
    pub(super) fn ended_soon(&mut self, at: Time, address: &Arc<str>, failures: Failures) {
        if self.dials.0.len() < MOST {
            let new = || Dial { failures, state: State::Runs, others: Vec::new(), packets: VecDeque::new(), wanted: None };
            self.dials.0.entry(address.clone()).or_insert_with(new);
            self.wait(at, address);
        }
    }

    /// It got past it: what waited for it goes.
    pub(super) fn dial_done(&mut self, at: Time, token: usize, address: &Arc<str>) {
        self.routes.insert(address.clone(), token);
        let Some(dial) = self.dials.0.remove(address) else { return };
        if let Some(line) = self.lines.get_mut(&token) {
            line.failures = dial.failures;
        }
        let fresh = self.shared.patient(FRESH);
        for (since, packet) in dial.packets {
            if at.saturating_sub(since) < fresh {
                self.say(token, kind::GOSSIP, &packet);
            }
        }
    }

    /// Calls again who is wanted, and forgets old failures.
    pub(super) fn dial_due(&mut self, at: Time) {
        let due: Vec<Arc<str>> = self.dials.0.iter().filter(|(_, d)| d.next().is_some_and(|n| n <= at)).map(|d| d.0.clone()).collect();
        for address in due {
            let Some(dial) = self.dials.0.get_mut(&address) else { continue };
            let Some(peer) = dial.wanted.take() else {
                self.dials.0.remove(&address);
                continue;
            };
            // It may be connected otherwise by now, or be gone.
            if peer.is_wanted() && !peer.is_connected() && !self.shared.serving.stopping.load(Ordering::Relaxed) {
                self.connect(at, &peer);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: Time = 5_000 * MS;

    #[test]
    fn who_was_there_a_moment_ago_is_called_again_soon() {
        for chance in [0, 1, 12_345_678_901, u64::MAX] {
            let mut failures = Failures::default();
            let mut at = 77_000 * MS;
            let first = at;
            while at < first + EARLY {
                let wait = failures.add(at, chance, MOST);
                assert!((FIRST / 2..=EARLY_MOST).contains(&wait), "{wait} ns after {} failures", failures.count);
                at += wait;
            }
        }
    }

    #[test]
    fn who_is_away_for_long_is_called_ever_less_up_to_the_bound() {
        let mut failures = Failures::default();
        failures.add(0, 0, MOST);
        let later: Vec<Time> = (0..9).map(|_| failures.add(EARLY, 0, MOST)).collect();
        assert!(later.is_sorted());
        assert_eq!(*later.last().unwrap(), MOST / 2);
        assert!((0..100).all(|_| failures.add(EARLY, u64::MAX, MOST) <= MOST));
    }

    #[test]
    fn a_call_of_who_was_there_a_moment_ago_goes_again_soon_and_in_the_end_is_patient() {
        let mut failures = Failures::default();
        let mut at = 77_000 * MS;
        let first = at;
        let mut calls = Vec::new();
        while at < first + EARLY {
            let patience = failures.patience(at);
            calls.push(patience / MS);
            at += patience;
            at += failures.add(at, 0, MOST);
        }
        assert!(calls.iter().all(|c| *c <= 1500) && calls.contains(&500) && calls.contains(&1500), "{calls:?}");
        assert_eq!(failures.patience(at + EARLY), Time::MAX);
    }

    #[test]
    fn a_bound_below_that_of_the_first_seconds_holds() {
        let mut failures = Failures::default();
        assert!((0..100).all(|i| failures.add(i, u64::MAX, 20 * MS) <= 20 * MS));
        assert!((0..100).all(|i| failures.add(i, 1, 0) <= 2));
    }
}
