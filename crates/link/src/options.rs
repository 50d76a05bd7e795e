//! What a node is started with.

use crate::channel::PIECE;
use crate::tls::Tls;
use std::sync::Arc;
use std::time::Duration;

/// What a node is started with.
#[derive(Clone, Debug)]
pub struct Options {
    /// The node's name.
    pub name: String,
    /// Which life of that name this is: higher after each start. 0: the time of the start, in nanoseconds.
    pub incarnation: u64,
    /// Where it listens: `host:port`, `tcp://host:port`, `unix:/path`. Port 0: any that is free. None: loopback, any port.
    pub listen: Vec<String>,
    /// Where others reach it, if that is not the first of `listen`.
    pub advertise: Option<String>,
    /// Who is asked to be let in.
    pub join: Vec<String>,
    /// Certificates; `None`: connections over TCP are not encrypted. Unix sockets never are: their file is the user's own.
    pub tls: Option<Tls>,
    /// It may listen without TLS where other machines reach it.
    pub insecure: bool,
    /// How patient the cluster is. `None`: as its addresses ask for, [`Config::local`](kumi_membership::Config::local) while all that this
    /// node has and hears of are within the machine, [`Config::lan`](kumi_membership::Config::lan) from the first other one on.
    pub membership: Option<kumi_membership::Config>,
    /// How many times longer than usual others may take before they count as gone, or a way as of no use: with the defaults of `membership`,
    /// and for all times of `limits`. From 1 on; the same for all nodes. Above 1 nodes share cores, and nobody looks for what comes
    /// without sleeping.
    pub patience: u32,
    /// What else the node says of itself: the address of its web page, its number of cores.
    pub about: (Option<String>, Option<u16>),
    /// Bounds.
    pub limits: Limits,
    /// Messages that go and come are written down there, with a number that travels in their trace context.
    pub recorder: Option<Arc<kumi_record::Recorder>>,
}

impl Options {
    /// A node on loopback, alone.
    pub fn new(name: impl Into<String>) -> Options {
        Options {
            name: name.into(),
            incarnation: 0,
            listen: Vec::new(),
            advertise: None,
            join: Vec::new(),
            tls: None,
            insecure: false,
            membership: None,
            patience: 1,
            about: (None, None),
            limits: Limits::default(),
            recorder: None,
        }
    }
}

/// How much a node bears.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Connections in all.
    pub connections: usize,
    /// Connections that are not past their handshake.
    pub handshakes: usize,
    /// Those of one address.
    pub handshakes_per_source: usize,
    /// A connection is made and past its handshake by then.
    pub handshake: Duration,
    /// After so long without a byte a peer is asked whether it is there, and after three times as long it is given up.
    pub silence: Duration,
    /// Connections that nobody needs are closed where there are more than so many.
    pub idle: usize,
    /// The longest message.
    pub message: usize,
    /// Bytes that may wait for one peer. Who lets more wait is disconnected; for values that their owner holds as well, once a 256th
    /// part of it has not gone within `silence`.
    pub backlog: usize,
    /// The longest time between two attempts to connect.
    pub backoff: Duration,
}

impl Default for Limits {
    /// 4096 connections, 256 of them within their handshake, 64 from one address; 5 s; 5 s; 128 idle ones; 64 MB; 256 MB; 5 s.
    fn default() -> Self {
        Limits {
            connections: 4096,
            handshakes: 256,
            handshakes_per_source: 64,
            handshake: Duration::from_secs(5),
            silence: Duration::from_secs(5),
            idle: 128,
            message: 64 << 20,
            backlog: 256 << 20,
            backoff: Duration::from_secs(5),
        }
    }
}

impl Limits {
    /// The same where everybody takes so many times longer.
    pub(crate) fn patient(mut self, times: u32) -> Limits {
        for time in [&mut self.handshake, &mut self.silence] {
            *time = time.saturating_mul(times);
        }
        self
    }

    /// The longest request: somewhat longer than the longest value.
    pub(crate) fn longest(&self) -> usize {
        self.message.clamp(64 << 10, 1 << 30) + (64 << 10)
    }

    /// Those of a connection's frames.
    pub(crate) fn wire(&self) -> kumi_wire::Limits {
        let message_max = self.longest();
        let usual = kumi_wire::Limits::default();
        let windows = usual.streams_max * usual.window;
        kumi_wire::Limits { frame_max: PIECE, message_max, buffered_max: windows + 2 * message_max + PIECE, ..usual }
    }
}
