//! The serving thread: it connects, does what is due, and reads where nobody attends.

use super::conn::{self, Conn};
use super::{OWN_SOCKET, Shared, State, now, sentinel, tell, tls};
use crate::address::Place;
use crate::machine::Broken;
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
    /// The server's host, as its certificate is to have it.
    host: String,
    /// Other addresses of the server that are to be tried.
    ahead: Vec<SockAddr>,
    attempt_at: Time,
    /// When the attempt that goes on began.
    since: Time,
    pause: Time,
}

impl Serving {
    pub fn new(shared: Arc<Shared>, poll: Poll, place: Place, tls: Option<Arc<ClientConfig>>) -> Serving {
        Serving { shared, poll, place, tls, host: String::new(), ahead: Vec::new(), attempt_at: 0, since: 0, pause: PAUSE[0] }
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
                s.drop_conn();
            } else {
                self.dialled(&mut s);
                s.receive();
                s.machine.tick(now());
                if s.machine.is_dead(now()) {
                    s.lose(Broken::Passing("it does not answer".into()));
                }
                s.send();
                if std::mem::take(&mut s.fresh) {
                    self.pause = PAUSE[0];
                    self.ahead.clear();
                }
                if let Some(why) = s.lost.take() {
                    self.rest(&why);
                }
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
            self.dial();
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
    /// When the next attempt is due, or the one that goes on has taken too long.
    fn next(&self, s: &State) -> Option<Time> {
        match (&s.conn, s.up) {
            _ if s.lost.is_some() => Some(0),
            (_, true) => None,
            (Some(_), false) => Some(self.since.saturating_add(DIAL)),
            (None, false) => Some(self.attempt_at),
        }
    }
    /// Sees whether a connection that was begun is there.
    fn dialled(&mut self, s: &mut State) {
        let Some(conn) = s.conn.as_mut().filter(|_| !s.up) else { return };
        match conn.dialled() {
            Some(Ok(())) => {
                if let Some(config) = &self.tls {
                    match tls::begin(config, &self.host) {
                        Ok(tls) => conn.secure(tls),
                        Err(why) => return s.lose(Broken::Lasting(why)),
                    }
                }
            }
            Some(Err(e)) => return s.lose(Broken::Passing(told(&e))),
            None if self.since.saturating_add(DIAL) <= now() => return s.lose(Broken::Passing("it does not answer".into())),
            None => return,
        }
        s.is_up();
    }
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
    fn failed(&mut self, why: &str) {
        let why = Broken::Passing(why.to_owned());
        self.rest(&why);
        let shared = self.shared.clone();
        let mut s = shared.state.lock();
        s.lose(why);
        s.lost = None;
    }
    /// Where the server is now.
    fn find(&mut self) -> Result<Vec<SockAddr>, String> {
        let place = match &self.place {
            Place::Sentinel(s) => {
                let (host, port) = sentinel::primary(s, self.tls.as_ref())?;
                Place::Tcp(host, port)
            }
            place => place.clone(),
        };
        if let Place::Tcp(host, _) = &place {
            self.host.clone_from(host);
        }
        conn::addresses(&place).map_err(|e| told(&e))
    }
    /// Makes an attempt, if one is due.
    fn dial(&mut self) {
        let shared = self.shared.clone();
        {
            let s = shared.state.lock();
            if s.conn.is_some() || s.over || self.attempt_at > now() {
                return;
            }
        }
        if self.ahead.is_empty() {
            match self.find() {
                Ok(mut found) => {
                    found.reverse();
                    self.ahead = found;
                }
                Err(why) => return self.failed(&why),
            }
        }
        let Some(to) = self.ahead.pop() else { return self.failed("its name is not known") };
        self.since = now();
        let dialled = Conn::dial(&to).and_then(|conn| {
            conn.watch(self.poll.registry(), OWN_SOCKET)?;
            Ok(conn)
        });
        match dialled {
            // That it has room is told as soon as it is there.
            Ok(conn) => shared.state.lock().conn = Some(conn),
            Err(e) => self.failed(&told(&e)),
        }
    }
}

fn told(e: &Error) -> String {
    match e.kind() {
        ErrorKind::ConnectionRefused => "no server listens there".into(),
        ErrorKind::NotFound => "there is no such socket: no server listens there".into(),
        ErrorKind::PermissionDenied => "its socket may not be used by this user".into(),
        _ => e.to_string(),
    }
}
