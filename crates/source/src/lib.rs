//! Bytes from files, descriptors, memory and the network, compressed or not, read without ever blocking.
//!
//! Everything that the Kumihimo runtime streams comes through this: XML from a pipe, a compressed file or a server, and `http://`
//! addresses on the command line. A program with an event loop of its own, or with none, may use it alone.
//!
//! A [`Source`] is asked by [`Source::read`] and gives bytes, the end, or what to wait for: a descriptor, a time, a piece of
//! blocking work for another thread. Whoever calls decides how to wait, so that a source fits an event loop, a scheduler of
//! tasks or a plain thread ([`Source::read_blocking`]). No thread is started and nothing is global.
//!
//! ```
//! use kumi_source::{Descriptor, Options, Source, Spec};
//! use std::io::Write;
//!
//! // What comes through a pipe; compressed here, which its first bytes tell.
//! let (reader, writer) = std::io::pipe()?;
//! let mut gzip = flate2::write::GzEncoder::new(writer, flate2::Compression::fast());
//! gzip.write_all(b"<houses>...</houses>")?;
//! drop(gzip.finish()?);
//! let from = Spec::Fd { fd: Descriptor::Owned(reader.into()), initial: Vec::new(), name: Some("houses".to_string()) };
//! let mut source = Source::open(from, Options::default())?;
//! let mut bytes = Vec::new();
//! while source.read_blocking(&mut bytes, 64 << 10)? > 0 {}
//! assert_eq!(bytes, b"<houses>...</houses>");
//!
//! // An error says which source and what; bytes that came before it were delivered.
//! let error = Source::open(Spec::named("/no/such/file.xml"), Options::default()).err();
//! assert_eq!(error.map(|e| e.to_string()).as_deref(), Some("/no/such/file.xml: No such file or directory"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! In an event loop:
//!
//! ```no_run
//! # use kumi_source::{Error, Options, Read, Source, Spec, Wait};
//! # fn when_ready(_: i32, _: bool, _: bool, _: Option<std::time::Instant>) {}
//! # fn at(_: std::time::Instant) {}
//! let mut source = Source::open(Spec::Url("https://example.org/houses.xml".to_string()), Options::default())?;
//! let mut bytes = Vec::new();
//! loop {
//!     match source.read(&mut bytes, 256 << 10)? {
//!         Read::Data(_) => { /* bytes were appended; take them and clear */ bytes.clear() }
//!         Read::End => break,
//!         Read::Wait(Wait::Ready { fd, read, write, until }) => when_ready(fd, read, write, until),
//!         Read::Wait(Wait::Until(time)) => at(time),
//!         Read::Wait(Wait::Job(job)) => { std::thread::spawn(|| job.run()).join().ok(); }
//!         Read::Wait(Wait::Push) => unreachable!("only Spec::Pushed waits so"),
//!     }
//! }
//! # Ok::<(), Error>(())
//! ```
//!
//! # What is where
//! `source` puts an input and a chain of decoders together. `input` reads what is on this machine, `http` fetches documents,
//! over the connections of `net`. `decode` undoes compression. `options` says what can be asked for and `error` what can go
//! wrong; `sys` and `low_water` hold the system calls.
//!
//! # What a reader may rely on
//! - Everything that came before an error is delivered before it; an error or the end is said again by every later call.
//! - After either, after [`Source::close`] and after drop no descriptor is held; a borrowed one is left as it was.
//! - A document from a server is one version of it as a whole, however many connections it took.
//! - Memory does not depend on the document: some 64 KB for each coding, and what the coding itself needs (zstd at most 128 MB).

#![deny(missing_docs)]

mod decode;
mod error;
mod http;
mod input;
mod low_water;
mod net;
mod options;
mod source;
mod sys;
mod wait;

pub use error::Error;
pub use options::{Descriptor, Options, Proxy, Spec};
pub use source::Source;
pub use wait::{Job, Read, Wait};
