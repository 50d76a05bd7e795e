//! What can go wrong, told for the person who asked for the bytes. Each error names its source as the user knows it;
//! passwords never appear. Errors can be cloned: several readers of one document get the same.

use std::fmt;
use std::io;
use std::time::Duration;

/// Why no more bytes come. What was delivered before stands.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Error {
    /// The system refused: no such file, a directory, no permission, a broken disk.
    Io {
        /// The source's name, as [`Error::name`] gives it.
        name: String,
        /// The system's kind of error.
        kind: io::ErrorKind,
        /// What went wrong, in words, without the name.
        message: String,
    },
    /// The address, a header or another option cannot be used.
    Usage {
        /// The source's name, as [`Error::name`] gives it.
        name: String,
        /// What went wrong, in words, without the name.
        message: String,
    },
    /// The server's name has no address.
    Resolve {
        /// The address, without a password.
        url: String,
        /// The host that has none.
        host: String,
        /// What went wrong, in words, without the name.
        message: String,
    },
    /// No connection to any address of the server.
    Connect {
        /// The address, without a password.
        url: String,
        /// What went wrong, in words, without the name.
        message: String,
    },
    /// The connection broke off (reset, ended too early, as `message` says).
    Broken {
        /// The address, without a password.
        url: String,
        /// What went wrong, in words, without the name.
        message: String,
    },
    /// The certificate is not to be trusted, or the two sides cannot agree.
    Tls {
        /// The address, without a password.
        url: String,
        /// What went wrong, in words, without the name.
        message: String,
    },
    /// Nothing came for too long; `what` says what was waited for.
    Timeout {
        /// The source's name, as [`Error::name`] gives it.
        name: String,
        /// What was waited for.
        what: &'static str,
        /// The limit that was reached.
        after: Duration,
    },
    /// The server answered with an error page: `body` holds its first bytes, decompressed.
    Status {
        /// The status code.
        code: u16,
        /// The words beside it; there may be none.
        reason: String,
        /// The address, without a password.
        url: String,
        /// The first bytes of the page.
        body: Vec<u8>,
    },
    /// What came is not HTTP/1.1, or contradicts itself.
    Protocol {
        /// The address, without a password.
        url: String,
        /// What went wrong, in words, without the name.
        message: String,
    },
    /// A redirection that cannot or may not be followed, or one too many.
    Redirect {
        /// The address, without a password.
        url: String,
        /// What went wrong, in words, without the name.
        message: String,
    },
    /// More or fewer bytes than the server had announced.
    Length {
        /// The address, without a password.
        url: String,
        /// The bytes that the server had announced.
        announced: u64,
        /// What went wrong, in words, without the name.
        message: String,
    },
    /// The document on the server became another one while it was read.
    Changed {
        /// The address, without a password.
        url: String,
        /// Bytes of the document that came before.
        offset: u64,
    },
    /// The connection broke after `offset` bytes and reading could not go on; `why` says why, `cause` what broke it.
    NotResumed {
        /// The address, without a password.
        url: String,
        /// Bytes of the document that came before.
        offset: u64,
        /// Why reading could not go on.
        why: String,
        /// What broke the connection.
        cause: Box<Error>,
    },
    /// Compressed bytes that are damaged, cut off, or not what they were said to be.
    Compression {
        /// The source's name, as [`Error::name`] gives it.
        name: String,
        /// The name of the coding, as HTTP has it.
        coding: &'static str,
        /// What went wrong, in words, without the name.
        message: String,
    },
    /// Compressed bytes that grow beyond [`Options::max_ratio`](crate::Options::max_ratio).
    Bomb {
        /// The source's name, as [`Error::name`] gives it.
        name: String,
        /// Compressed bytes so far.
        input: u64,
        /// The bytes that they made so far.
        output: u64,
    },
    /// Whoever pushed the bytes failed.
    Pushed {
        /// The source's name, as [`Error::name`] gives it.
        name: String,
        /// What went wrong, in words, without the name.
        message: String,
    },
    /// The source was closed.
    Closed {
        /// The source's name, as [`Error::name`] gives it.
        name: String,
    },
}

impl Error {
    pub(crate) fn io(name: &str, e: io::Error) -> Error {
        Error::Io { name: name.to_string(), kind: e.kind(), message: plain(&e) }
    }

    /// The status code of an error page, also when it came while reading should go on.
    pub fn status(&self) -> Option<u16> {
        match self {
            Error::Status { code, .. } => Some(*code),
            Error::NotResumed { cause, .. } => cause.status(),
            _ => None,
        }
    }

    /// Whether a time limit ended it, also when reading could not go on after it.
    pub fn is_timeout(&self) -> bool {
        match self {
            Error::Timeout { .. } => true,
            Error::NotResumed { cause, .. } => cause.is_timeout(),
            _ => false,
        }
    }

    /// The source's name: path, address without password, or what stands for it.
    pub fn name(&self) -> &str {
        match self {
            Error::Io { name, .. }
            | Error::Usage { name, .. }
            | Error::Timeout { name, .. }
            | Error::Compression { name, .. }
            | Error::Bomb { name, .. }
            | Error::Pushed { name, .. }
            | Error::Closed { name } => name,
            Error::Resolve { url, .. }
            | Error::Connect { url, .. }
            | Error::Broken { url, .. }
            | Error::Tls { url, .. }
            | Error::Status { url, .. }
            | Error::Protocol { url, .. }
            | Error::Redirect { url, .. }
            | Error::Length { url, .. }
            | Error::Changed { url, .. }
            | Error::NotResumed { url, .. } => url,
        }
    }

    /// What went wrong, without the source's name.
    pub fn message(&self) -> String {
        match self {
            Error::Io { message, .. } | Error::Usage { message, .. } | Error::Connect { message, .. } => message.clone(),
            Error::Broken { message, .. } | Error::Tls { message, .. } | Error::Protocol { message, .. } => message.clone(),
            Error::Redirect { message, .. } | Error::Length { message, .. } | Error::Pushed { message, .. } => message.clone(),
            Error::Resolve { host, message, .. } => format!("no address for host '{host}': {message}"),
            Error::Timeout { what, after, .. } => format!("{what} took longer than {}", Seconds(*after)),
            Error::Status { code, reason, .. } if reason.is_empty() => format!("the server answered {code}"),
            Error::Status { code, reason, .. } => format!("the server answered {code} {reason}"),
            Error::Changed { offset, .. } => {
                format!("the document changed meanwhile, so that reading cannot go on at byte {offset}")
            }
            Error::NotResumed { offset, why, cause, .. } => {
                format!("{} (after {offset} bytes; not resumed: {why})", cause.message())
            }
            Error::Compression { coding, message, .. } => format!("{coding}: {message}"),
            Error::Bomb { input, output, .. } => {
                format!("{input} compressed bytes make more than {output}; raise max_ratio if that is right")
            }
            Error::Closed { .. } => "the source is closed".to_string(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name(), self.message())
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::NotResumed { cause, .. } => Some(&**cause),
            _ => None,
        }
    }
}

/// A system error without the number that Rust appends.
pub(crate) fn plain(e: &io::Error) -> String {
    let s = e.to_string();
    match s.find(" (os error ") {
        Some(at) => s[..at].to_string(),
        None => s,
    }
}

struct Seconds(Duration);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = self.0.as_secs_f64();
        if s >= 1.0 { write!(f, "{} s", (s * 10.0).round() / 10.0) } else { write!(f, "{} ms", (s * 1000.0).round()) }
    }
}
