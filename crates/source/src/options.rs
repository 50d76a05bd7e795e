//! What to read (`Spec`) and how (`Options`). Every limit has a default that a program can live with and an attacker
//! cannot grow.

use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Where the bytes come from.
#[derive(Debug)]
pub enum Spec {
    /// A file. A named pipe is opened without waiting for its writer.
    Path(PathBuf),
    /// A descriptor: a pipe, a socket, a terminal, an open file (read from where it stands, which does not move).
    Fd {
        /// The descriptor. Its `O_NONBLOCK` is neither needed nor changed: others may share it.
        fd: Descriptor,
        /// What somebody has already read from it; it comes first.
        initial: Vec<u8>,
        /// What errors call it; `(fd 0)` by itself.
        name: Option<String>,
    },
    /// Memory.
    Bytes(Arc<[u8]>),
    /// An `http://` or `https://` address. User and password in it become basic authorisation.
    Url(String),
    /// Whoever holds the source calls [`Source::push`](crate::Source::push) and [`Source::end`](crate::Source::end).
    Pushed,
}

impl Spec {
    /// What a user names: an address if it begins like one, else a path.
    pub fn named(text: &str) -> Spec {
        let begins = |scheme: &str| text.get(..scheme.len()).is_some_and(|t| t.eq_ignore_ascii_case(scheme));
        if begins("http://") || begins("https://") { Spec::Url(text.to_string()) } else { Spec::Path(PathBuf::from(text)) }
    }
}

/// A descriptor to read from.
#[derive(Debug)]
pub enum Descriptor {
    /// Closed with the source.
    Owned(OwnedFd),
    /// Somebody else's, open now. The source reads by a duplicate, so its owner may close it at any time, and what it
    /// refers to stays open until the source has ended.
    Borrowed(RawFd),
}

impl AsRawFd for Descriptor {
    fn as_raw_fd(&self) -> RawFd {
        match self {
            Descriptor::Owned(fd) => fd.as_raw_fd(),
            Descriptor::Borrowed(fd) => *fd,
        }
    }
}

/// Which proxy requests go through.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Proxy {
    /// As `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` say (curl's rules: `HTTP_PROXY` in capitals is not looked at,
    /// because a web server sets it from a request's header).
    #[default]
    Environment,
    /// None.
    Direct,
    /// This one (`http://host:port`) for everything.
    Url(String),
}

/// How to read. `Options::default()` is right for most.
#[derive(Clone, Debug)]
pub struct Options {
    /// To connect to a server, all its addresses together (10 s). Looking up its name takes as long as the system does.
    pub connect_timeout: Duration,
    /// For agreeing on keys and the whole head of a response, and between two arrivals of its body (30 s). Files and descriptors have none.
    pub read_timeout: Duration,
    /// From the first `read` to the end, whatever the source (none).
    pub total_timeout: Option<Duration>,
    /// Redirections followed (10).
    pub redirects: usize,
    /// Follow redirections from `https://` to `http://` (no).
    pub allow_downgrade: bool,
    /// Attempts to go on after a broken connection; progress starts the count again (5).
    pub retries: u32,
    /// Pause before the first such attempt; each further one waits twice as long, at most 5 s (100 ms).
    pub backoff: Duration,
    /// Further request headers; one of the same name replaces a default (`User-Agent`, `Accept`).
    pub headers: Vec<(String, String)>,
    /// Which proxy to use.
    pub proxy: Proxy,
    /// Certificates (DER) trusted besides the system's.
    pub extra_roots: Vec<Vec<u8>>,
    /// Size of a response's head, and of its trailers (64 KB).
    pub head_bytes: usize,
    /// Undo `Content-Encoding`, and gzip and zstd known by their first bytes (yes).
    pub decompress: bool,
    /// Output per byte of compressed input beyond which the input counts as a bomb (1000).
    pub max_ratio: u64,
    /// Output that is never called a bomb (64 MB).
    pub ratio_grace: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            connect_timeout: Duration::from_secs(10),
            read_timeout: Duration::from_secs(30),
            total_timeout: None,
            redirects: 10,
            allow_downgrade: false,
            retries: 5,
            backoff: Duration::from_millis(100),
            headers: Vec::new(),
            proxy: Proxy::Environment,
            extra_roots: Vec::new(),
            head_bytes: 64 << 10,
            decompress: true,
            max_ratio: 1000,
            ratio_grace: 64 << 20,
        }
    }
}
