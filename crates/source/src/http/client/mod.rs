//! Fetching one document: a machine whose phases are what is being waited for.
//!
//! Invariant: `got` bytes of the document, as it is on the wire (compressed, without chunks), have been delivered. However often
//! connections break, the next byte delivered is number `got` of the same version, or reading ends with an error that
//! says why not.

mod receive;
mod resume;

use self::resume::Version;
use super::address::Address;
use super::body::Framing;
use super::head::{self, Head};
use super::proxy;
use super::request::{self, Resume};
use super::version::Validator;
use crate::decode::Coding;
use crate::low_water::LowWater;
use crate::net::conn::{Conn, Fault};
use crate::net::connect::{self, Connecting};
use crate::net::names::{self, Preparation, Problem};
use crate::net::tls;
use crate::sys::Got;
use crate::wait::later;
use crate::{Error, Options, Read, Wait};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Taken from a connection at a time where it is not read straight into the reader's buffer.
const STEP: usize = 64 << 10;
/// How long an error page is waited for.
const PAGE_TIME: Duration = Duration::from_secs(2);
/// Interim answers (100 to 199) before the real one.
const MOST_INTERIM: u32 = 20;

pub(crate) struct Http {
    name: String,
    options: Options,
    /// As the user gave it.
    first: Address,
    /// After the redirections of this attempt.
    here: Address,
    redirections: usize,
    /// The proxy of this request.
    via: Option<Address>,
    attempts: u32,
    interim: u32,
    phase: Phase,
    tls: Option<Arc<ClientConfig>>,
    conn: Option<Conn>,
    /// Received and not yet used: from `at` on. The first `seen` bytes were searched for the end of a head.
    inbox: Vec<u8>,
    at: usize,
    seen: usize,
    /// When the present wait has taken too long; begun by the first read that finds nothing.
    idle: Option<Instant>,
    got: u64,
    /// Bytes of this response that were delivered before it: a server without ranges begins anew.
    skip: u64,
    version: Option<Version>,
    low_water: LowWater,
}

enum Phase {
    /// Nothing has been done for this request.
    Start,
    /// Names and certificates.
    Preparing(Preparation),
    Connecting(Connecting),
    /// The proxy's answer to CONNECT.
    Tunnel,
    /// The server's answer.
    Head,
    /// The body of an answer that is an error.
    Page {
        head: Head,
        framing: Framing,
        page: Vec<u8>,
        until: Instant,
    },
    Body(Framing),
    /// The next attempt comes then.
    Pause(Instant),
    Done,
}

enum Fail {
    /// Another attempt may help.
    Broke(Error),
    Fatal(Error),
}

type Step = Result<Option<Read>, Fail>;

impl Http {
    /// Checks address, options and proxy; sends nothing.
    pub fn new(url: &str, name: &str, options: Options) -> Result<Http, Error> {
        let usage = |message| Error::Usage { name: name.to_string(), message };
        let first = Address::parse(url).map_err(usage)?;
        request::check(&options.headers).map_err(usage)?;
        proxy::route(&options.proxy, &first).map_err(usage)?;
        Ok(Http {
            name: name.to_string(),
            options,
            here: first.clone(),
            first,
            redirections: 0,
            via: None,
            attempts: 0,
            interim: 0,
            phase: Phase::Start,
            tls: None,
            conn: None,
            inbox: Vec::new(),
            at: 0,
            seen: 0,
            idle: None,
            got: 0,
            skip: 0,
            version: None,
            low_water: LowWater::new(),
        })
    }

    /// The document's codings in the order in which they are to be undone; known when bytes have come.
    pub fn codings(&self) -> &[Coding] {
        self.version.as_ref().map_or(&[], |v| &v.codings)
    }

    pub fn charset(&self) -> Option<&str> {
        self.version.as_ref()?.charset.as_deref()
    }

    /// Whether the server has said how the body ends, other than by closing the connection.
    pub fn announces_its_end(&self) -> bool {
        !matches!(self.phase, Phase::Body(Framing::Close))
    }

    pub fn total(&self) -> Option<u64> {
        self.version.as_ref()?.total
    }

    pub fn set_low_water(&mut self, bytes: usize) {
        self.low_water.want(bytes);
    }

    /// Appends at most `max` bytes of the document as it is on the wire.
    pub fn fill(&mut self, out: &mut Vec<u8>, max: usize) -> Result<Read, Error> {
        loop {
            match self.advance(out, max.max(1)) {
                Ok(Some(read)) => return Ok(read),
                Ok(None) => {}
                Err(Fail::Broke(e)) => self.broke(e)?,
                Err(Fail::Fatal(e)) => return Err(e),
            }
        }
    }

    /// One step; None: the phase changed. The phase is taken out and put back by whoever stays in it; after a failure it is
    /// `Done`.
    fn advance(&mut self, out: &mut Vec<u8>, max: usize) -> Step {
        match std::mem::replace(&mut self.phase, Phase::Done) {
            Phase::Start => self.start(),
            Phase::Preparing(mut preparation) => match preparation.poll() {
                names::Poll::Done(Ok(prepared)) => {
                    self.tls = prepared.tls.or(self.tls.take());
                    self.connect(prepared.addresses)
                }
                names::Poll::Done(Err(problem)) => Err(self.unprepared(problem)),
                names::Poll::Job(job) => self.stay(Phase::Preparing(preparation), Wait::Job(job)),
                names::Poll::Busy => {
                    let soon = Instant::now() + Duration::from_millis(5);
                    self.stay(Phase::Preparing(preparation), Wait::Until(soon))
                }
            },
            Phase::Connecting(mut connecting) => match connecting.poll() {
                connect::Poll::Connected(socket) => {
                    self.conn = Some(Conn::new(socket));
                    self.low_water.fresh();
                    self.connected()
                }
                connect::Poll::Wait { fd, until } => {
                    let wait = Wait::Ready { fd, read: false, write: true, until: Some(until) };
                    self.stay(Phase::Connecting(connecting), wait)
                }
                connect::Poll::Failed(message) => Err(Fail::Broke(Error::Connect { url: self.name.clone(), message })),
                connect::Poll::TimedOut => Err(Fail::Broke(self.timeout("connecting to the server", self.options.connect_timeout))),
            },
            Phase::Tunnel => match self.head()? {
                Ok(head) if (200..300).contains(&head.code) => self.secure(),
                Ok(head) => {
                    let message = format!("the proxy answered {} {}", head.code, head.reason);
                    Err(Fail::Fatal(Error::Connect { url: self.name.clone(), message }))
                }
                Err(wait) => self.stay(Phase::Tunnel, wait),
            },
            Phase::Head => match self.head()? {
                Ok(head) => self.answered(head),
                Err(wait) => self.stay(Phase::Head, wait),
            },
            Phase::Page { head, framing, page, until } => self.page(head, framing, page, until),
            Phase::Body(framing) => self.body(framing, out, max),
            Phase::Pause(until) if Instant::now() < until => self.stay(Phase::Pause(until), Wait::Until(until)),
            Phase::Pause(_) => {
                self.here = self.first.clone();
                self.redirections = 0;
                self.enter(Phase::Start)
            }
            Phase::Done => Ok(Some(Read::End)),
        }
    }

    fn stay(&mut self, phase: Phase, wait: Wait) -> Step {
        self.phase = phase;
        Ok(Some(Read::Wait(wait)))
    }

    fn enter(&mut self, phase: Phase) -> Step {
        self.phase = phase;
        self.idle = None;
        Ok(None)
    }

    // From the address to the request.

    fn start(&mut self) -> Step {
        self.hang_up();
        let usage = |message| Fail::Fatal(Error::Usage { name: self.name.clone(), message });
        self.via = proxy::route(&self.options.proxy, &self.here).map_err(usage)?;
        let to = self.via.as_ref().unwrap_or(&self.here);
        let roots = (self.here.is_tls() && self.tls.is_none()).then(|| self.options.extra_roots.clone());
        if let (Some(ip), None) = (to.ip(), &roots) {
            let address = SocketAddr::new(ip, to.port());
            return self.connect(vec![address]);
        }
        let preparation = Preparation::new(to.host(), to.port(), roots);
        self.enter(Phase::Preparing(preparation))
    }

    fn unprepared(&self, problem: Problem) -> Fail {
        let url = self.name.clone();
        match problem {
            Problem::NoAddress(message) => {
                let host = self.via.as_ref().unwrap_or(&self.here).host();
                Fail::Broke(Error::Resolve { url, host, message })
            }
            Problem::NoTls(message) => Fail::Fatal(Error::Tls { url, message }),
        }
    }

    fn connect(&mut self, addresses: Vec<SocketAddr>) -> Step {
        let end = later(self.options.connect_timeout);
        self.enter(Phase::Connecting(Connecting::new(addresses, end)))
    }

    fn connected(&mut self) -> Step {
        match &self.via {
            Some(proxy) if self.here.is_tls() => {
                let text = request::connect(&self.here, proxy);
                self.send(&text);
                self.enter(Phase::Tunnel)
            }
            _ if self.here.is_tls() => self.secure(),
            _ => self.request(),
        }
    }

    fn secure(&mut self) -> Step {
        let host = self.here.host();
        let fatal = |message| Fail::Fatal(Error::Tls { url: self.name.clone(), message });
        let server = match self.here.ip() {
            Some(ip) => ServerName::from(ip),
            None => ServerName::try_from(host.clone()).map_err(|e| fatal(format!("'{host}': {e}")))?,
        };
        // What came behind the proxy's answer would be read as plain text.
        if self.at < self.inbox.len() {
            return Err(fatal("the proxy sent more than its answer".to_string()));
        }
        if let (Some(conn), Some(config)) = (&mut self.conn, &self.tls) {
            conn.start_tls(config.clone(), server).map_err(|e| fatal(tls::explain(&host, &e)))?;
        }
        self.request()
    }

    fn request(&mut self) -> Step {
        let resume = match &self.version {
            Some(Version { validator: Some(validator), .. }) if self.got > 0 => Some(Resume { from: self.got, validator }),
            _ => None,
        };
        // Through a tunnel the server is spoken to as if there were no proxy.
        let proxy = self.via.as_ref().filter(|_| !self.here.is_tls());
        let text = request::get(&self.here, &self.first, proxy, &self.options, resume);
        self.send(&text);
        self.skip = 0;
        self.interim = 0;
        self.enter(Phase::Head)
    }

    fn send(&mut self, text: &str) {
        if let Some(conn) = &mut self.conn {
            conn.send(text.as_bytes());
        }
    }

    fn hang_up(&mut self) {
        self.conn = None;
        self.inbox = Vec::new();
        self.at = 0;
        self.seen = 0;
        self.idle = None;
    }

    // From the connection.

    fn fault(&self, fault: Fault) -> Fail {
        let url = self.name.clone();
        match fault {
            Fault::Io(e) => Fail::Broke(Error::Broken { url, message: crate::error::plain(&e) }),
            Fault::CutOff => Fail::Broke(Error::Broken { url, message: "the connection was cut off".to_string() }),
            Fault::Tls(e) => Fail::Fatal(Error::Tls { url, message: tls::explain(&self.here.host(), &e) }),
        }
    }

    fn timeout(&self, what: &'static str, after: Duration) -> Error {
        Error::Timeout { name: self.name.clone(), what, after }
    }

    fn protocol(&self, message: String) -> Fail {
        Fail::Fatal(Error::Protocol { url: self.name.clone(), message })
    }

    /// Reads from the connection into the inbox.
    fn receive(&mut self) -> Result<Got, Fail> {
        if self.at == self.inbox.len() {
            self.inbox.clear();
            self.at = 0;
        }
        let Some(conn) = &mut self.conn else { return Ok(Got::End) };
        match conn.read(&mut self.inbox, STEP) {
            Ok(got) => Ok(got),
            Err(fault) => Err(self.fault(fault)),
        }
    }

    /// Nothing is there: what to wait for, or that it took too long.
    fn wait(&mut self, what: &'static str) -> Result<Wait, Fail> {
        let now = Instant::now();
        let limit = self.options.read_timeout;
        let until = *self.idle.get_or_insert_with(|| later(limit));
        if now >= until {
            return Err(Fail::Broke(self.timeout(what, limit)));
        }
        Ok(match &self.conn {
            Some(conn) => Wait::Ready { fd: conn.fd(), read: true, write: conn.wants_write(), until: Some(until) },
            None => Wait::Until(now),
        })
    }

    /// The next head, when it is there as a whole.
    fn head(&mut self) -> Result<Result<Head, Wait>, Fail> {
        loop {
            if self.at < self.inbox.len() {
                match head::parse(&self.inbox[self.at..], self.seen) {
                    Ok(Some((head, end))) => {
                        self.at += end;
                        self.seen = 0;
                        return Ok(Ok(head));
                    }
                    Ok(None) => self.seen = self.inbox.len() - self.at,
                    Err(message) => return Err(self.protocol(message)),
                }
                if self.seen > self.options.head_bytes {
                    return Err(self.protocol(format!("the head of the answer is larger than {} bytes", self.options.head_bytes)));
                }
            }
            match self.receive()? {
                Got::Bytes(_) => {}
                Got::Nothing => return Ok(Err(self.wait("the server's answer")?)),
                Got::End => {
                    let message = if self.seen == 0 {
                        "the server closed the connection without an answer"
                    } else {
                        "the connection ended in the middle of the answer's head"
                    };
                    return Err(Fail::Broke(Error::Broken { url: self.name.clone(), message: message.to_string() }));
                }
            }
        }
    }

    // From the answer to the body.

    fn answered(&mut self, head: Head) -> Step {
        match head.code {
            100..=199 if head.code != 101 => {
                self.interim += 1;
                if self.interim > MOST_INTERIM {
                    return Err(self.protocol(format!("more than {MOST_INTERIM} interim answers")));
                }
                self.phase = Phase::Head;
                return Ok(None);
            }
            301 | 302 | 303 | 307 | 308 => {
                if let Some(location) = head.get("location") {
                    let location = location.to_string();
                    return self.redirected(&location);
                }
            }
            _ => {}
        }
        if self.got > 0 {
            return self.resumed(&head);
        }
        let framing = Framing::of(&head, self.options.head_bytes).map_err(|m| self.protocol(m))?;
        match head.code {
            206 => Err(self.protocol("the server sends a part of the document that nobody asked for".to_string())),
            200..=299 => {
                let content_encoding = head.list("content-encoding");
                let codings =
                    if self.options.decompress { Coding::list(&content_encoding).map_err(|m| self.protocol(m))? } else { Vec::new() };
                self.version = Some(Version {
                    validator: Validator::of(&head),
                    no_ranges: head.get("accept-ranges").is_some_and(|v| v.trim().eq_ignore_ascii_case("none")),
                    total: match framing {
                        Framing::Length { announced, .. } => Some(announced),
                        _ => None,
                    },
                    content_encoding,
                    codings,
                    charset: head.charset(),
                });
                self.enter(Phase::Body(framing))
            }
            _ => {
                let until = later(PAGE_TIME.min(self.options.read_timeout));
                self.enter(Phase::Page { head, framing, page: Vec::new(), until })
            }
        }
    }

    fn redirected(&mut self, location: &str) -> Step {
        let fatal = |message| Fail::Fatal(Error::Redirect { url: self.name.clone(), message });
        let to = self.here.join(location).map_err(fatal)?;
        if self.here.is_tls() && !to.is_tls() && !self.options.allow_downgrade {
            return Err(fatal(format!("the server redirects from https to {}, which is not encrypted", to.shown())));
        }
        self.redirections += 1;
        if self.redirections > self.options.redirects {
            return Err(fatal(format!("more than {} redirections, the last to {}", self.options.redirects, to.shown())));
        }
        self.here = to;
        self.enter(Phase::Start)
    }
}
