//! The serving thread: it connects, does what is due, and reads where nobody attends.

use super::conn::{self, Conn};
use super::{OWN_SOCKET, Shared, State, find, now, tell, tls};
use crate::address::Place;
use crate::machine::{Broken, Side};
use kumi_segments::Time;
use mio::{Events, Poll};
use rustls::ClientConfig;
use socket2::SockAddr;
use std::io::{Error, ErrorKind};
use std::sync::Arc;
use std::time::Duration;

/// A server is to have taken a connection within this.
const DIAL: Time = 3_000_000_000;
/// Between two attempts, at first and at last: a server that loads its data is asked again before long.
const PAUSE: [Time; 2] = [20_000_000, 250_000_000];
/// After what will not be better by itself.
const LONG_PAUSE: Time = 2_000_000_000;

/// What the serving thread alone has.
pub(super) struct Serving {
    shared: Arc<Shared>,
    poll: Poll,
    place: Place,
    tls: Option<Arc<ClientConfig>>,
    login: Option<(String, String)>,
    /// Of each line.
    dials: Vec<Dial>,
    /// When the nodes of a cluster are asked for its map, if nothing else is known.
    map_at: Time,
}

/// Attempts to connect.
struct Dial {
    /// The node that they are for.
    at: Option<(String, u16)>,
    /// The server's host, as its certificate is to have it.
    host: String,
    /// Other addresses of the server that are to be tried, and the one that is.
    ahead: Vec<SockAddr>,
    to: Option<SockAddr>,
    attempt_at: Time,
    /// When the attempt that goes on began.
    since: Time,
    pause: Time,
}

impl Dial {
    fn new(at: Option<(String, u16)>) -> Dial {
        Dial { at, host: String::new(), ahead: Vec::new(), to: None, attempt_at: 0, since: 0, pause: PAUSE[0] }
    }
}

impl Serving {
    pub fn new(shared: Arc<Shared>, poll: Poll, place: Place, tls: Option<Arc<ClientConfig>>, login: Option<(String, String)>) -> Serving {
        Serving { shared, poll, place, tls, login, dials: Vec::new(), map_at: 0 }
    }
    pub fn run(mut self) {
        let mut events = Events::with_capacity(8);
        let shared = self.shared.clone();
        loop {
            let mut s = shared.state.lock();
            let over = s.over;
            if over {
                s.machine.close(now());
                s.watches.close();
                (0..s.links.len()).for_each(|line| s.drop_conns(line));
            } else {
                self.follow(&s);
                (0..s.links.len()).for_each(|line| self.dialled(&mut s, line));
                s.receive();
                s.machine.tick(now());
                for line in 0..s.links.len() {
                    if s.machine.lines() > line && s.machine.is_dead(line, now()) {
                        s.lose(line, Broken::Passing("it does not answer".into()));
                    }
                }
                s.send();
                self.follow(&s);
                for (dial, link) in self.dials.iter_mut().zip(&mut s.links) {
                    if std::mem::take(&mut link.fresh) {
                        dial.pause = PAUSE[0];
                        dial.ahead.clear();
                    }
                    if let Some(why) = link.lost.take() {
                        dial.rest(&why);
                    }
                }
                s.told = false;
            }
            let ended = s.machine.take_ended();
            let rings = s.hand_out();
            drop(s);
            tell(ended);
            rings.iter().for_each(|ring| ring());
            shared.changed.notify_all();
            if over {
                return;
            }
            // Finding the server may take long: nobody waits for it.
            self.find_map();
            (0..self.dials.len()).for_each(|line| self.dial(line));
            let mut s = shared.state.lock();
            let ends = [s.machine.next_deadline(), self.next(&s)];
            s.wakes = if s.over { 0 } else { ends.into_iter().flatten().min().unwrap_or(u64::MAX) };
            let timeout = s.wakes.saturating_sub(now());
            drop(s);
            // A millisecond is the least that the system sleeps for; it would not sleep at all for less.
            let timeout = (timeout < u64::MAX / 4).then(|| Duration::from_nanos(timeout));
            let _ = self.poll.poll(&mut events, timeout);
        }
    }
    /// Has attempts for each link, where it leads now.
    fn follow(&mut self, s: &State) {
        for (line, link) in s.links.iter().enumerate() {
            if line == self.dials.len() {
                self.dials.push(Dial::new(link.at.clone()));
            } else if self.dials[line].at != link.at {
                self.dials[line] = Dial::new(link.at.clone());
            }
        }
    }
    /// When the next attempt is due, or one that goes on has taken too long.
    fn next(&self, s: &State) -> Option<Time> {
        let map = s.machine.is_lost().then_some(self.map_at);
        let dials = self.dials.iter().zip(&s.links).filter_map(|(dial, link)| {
            let begun = link.ends[link.makes()? as usize].conn.is_some();
            if begun { Some(dial.since.saturating_add(DIAL)) } else { self.leads(&link.at).then_some(dial.attempt_at) }
        });
        if s.told { Some(0) } else { dials.chain(map).min() }
    }
    /// Does a link lead anywhere?
    fn leads(&self, at: &Option<(String, u16)>) -> bool {
        at.is_some() || !matches!(self.place, Place::Cluster(_))
    }
    /// Sees whether a connection that was begun is there.
    fn dialled(&mut self, s: &mut State, line: usize) {
        let dial = &self.dials[line];
        let Some((_, conn)) = s.links[line].made() else { return };
        match conn.dialled() {
            Some(Ok(())) => {
                if let Some(config) = &self.tls {
                    match tls::begin(config, &dial.host) {
                        Ok(tls) => conn.secure(tls),
                        Err(why) => return s.lose(line, Broken::Lasting(why)),
                    }
                }
            }
            Some(Err(e)) => return s.lose(line, Broken::Passing(told(&e))),
            None if dial.since.saturating_add(DIAL) <= now() => return s.lose(line, Broken::Passing("it does not answer".into())),
            None => return,
        }
        s.comes_up(line);
    }
    fn failed(&mut self, line: usize, why: &str) {
        let why = Broken::Passing(why.to_owned());
        self.dials[line].rest(&why);
        let mut s = self.shared.state.lock();
        if s.links[line].at == self.dials[line].at {
            s.lose(line, why);
            s.links[line].lost = None;
        }
    }
    /// Where the server of a line is now.
    fn find(&mut self, line: usize) -> Result<Vec<SockAddr>, String> {
        let place = match (&self.place, &self.dials[line].at) {
            (_, Some((host, port))) => Place::Tcp(host.clone(), *port),
            (Place::Sentinel(s), _) => {
                let (host, port) = find::primary(s, self.tls.as_ref())?;
                Place::Tcp(host, port)
            }
            (place, _) => place.clone(),
        };
        if let Place::Tcp(host, _) = &place {
            self.dials[line].host.clone_from(host);
        }
        conn::addresses(&place).map_err(|e| told(&e))
    }
    /// Asks nodes of a cluster which there are, if no line is there to ask on.
    fn find_map(&mut self) {
        let Place::Cluster(seeds) = &self.place else { return };
        let nodes = {
            let s = self.shared.state.lock();
            if s.over || !s.machine.is_lost() || self.map_at > now() {
                return;
            }
            s.machine.nodes().to_vec()
        };
        let all = nodes.iter().chain(seeds.iter().filter(|n| !nodes.contains(n)));
        let found = find::cluster(all, self.tls.as_ref(), self.login.as_ref());
        let mut s = self.shared.state.lock();
        let pause = match found {
            Ok(map) => {
                let mut news = Vec::new();
                s.machine.told_map(now(), &map, &mut news);
                s.hear(None, news);
                PAUSE[1]
            }
            Err(why) => {
                s.machine.no_map(now(), &why);
                let pause = if why.lasts() { LONG_PAUSE } else { PAUSE[1] };
                s.trouble = Some(why);
                // Somebody may wait for that, and calls may have ended by it.
                s.told = true;
                pause
            }
        };
        self.map_at = now().saturating_add(pause);
        let s = s;
        drop(s);
        self.follow_now();
    }
    fn follow_now(&mut self) {
        let shared = self.shared.clone();
        let s = shared.state.lock();
        self.follow(&s);
    }
    /// Makes an attempt for a line, if one is due.
    fn dial(&mut self, line: usize) {
        let shared = self.shared.clone();
        let side = {
            let s = shared.state.lock();
            let (link, dial) = (&s.links[line], &self.dials[line]);
            let Some(side) = link.makes() else { return };
            if link.ends[side as usize].conn.is_some() || s.over || dial.attempt_at > now() || link.at != dial.at || !self.leads(&link.at) {
                return;
            }
            side
        };
        if side == Side::Calls && self.dials[line].ahead.is_empty() {
            match self.find(line) {
                Ok(mut found) => {
                    found.reverse();
                    self.dials[line].ahead = found;
                }
                Err(why) => return self.failed(line, &why),
            }
        }
        let dial = &mut self.dials[line];
        if side == Side::Calls {
            dial.to = dial.ahead.pop();
        }
        let Some(to) = dial.to.clone() else { return self.failed(line, "its name is not known") };
        dial.since = now();
        let dialled = Conn::dial(&to).and_then(|conn| {
            conn.watch(self.poll.registry(), OWN_SOCKET)?;
            Ok(conn)
        });
        match dialled {
            // That it has room is told as soon as it is there.
            Ok(conn) => {
                let mut s = shared.state.lock();
                if s.links[line].at == self.dials[line].at && s.links[line].makes() == Some(side) {
                    s.links[line].ends[side as usize].conn = Some(conn);
                } else {
                    conn.forget(self.poll.registry());
                }
            }
            Err(e) => self.failed(line, &told(&e)),
        }
    }
}

impl Dial {
    /// There is no connection any more, or none yet: when the next attempt is made.
    fn rest(&mut self, why: &Broken) {
        let pause = match why {
            Broken::Lasting(_) => LONG_PAUSE,
            Broken::Passing(_) if !self.ahead.is_empty() => 0,
            Broken::Passing(_) => {
                let pause = self.pause;
                self.pause = (pause * 2).min(PAUSE[1]);
                pause
            }
        };
        self.attempt_at = now().saturating_add(pause);
    }
}

pub(super) fn told(e: &Error) -> String {
    match e.kind() {
        ErrorKind::ConnectionRefused => "no server listens there".into(),
        ErrorKind::NotFound => "there is no such socket: no server listens there".into(),
        ErrorKind::PermissionDenied => "its socket may not be used by this user".into(),
        _ => e.to_string(),
    }
}
