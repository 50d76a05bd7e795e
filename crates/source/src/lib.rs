//! Bytes from files, descriptors, memory and the network, compressed or not, read without ever blocking.
//!
//! A [`Source`] is asked by [`Source::read`] and gives bytes, the end, or what to wait for: a descriptor, a time, a piece of
//! blocking work for another thread. Whoever calls decides how to wait, so that a source fits an event loop, a scheduler of
//! tasks or a plain thread ([`Source::read_blocking`]).
//!
//! ```
//! use kumi_source::{Options, Source, Spec};
//!
//! let mut source = Source::open(Spec::Bytes((*b"<a/>").into()), Options::default())?;
//! let mut bytes = Vec::new();
//! while source.read_blocking(&mut bytes, 64 << 10)? > 0 {}
//! assert_eq!(bytes, b"<a/>");
//! # Ok::<(), kumi_source::Error>(())
//! ```

mod decode;
mod error;
mod http;
mod input;
mod net;
mod options;
mod source;
mod sys;
mod wait;

pub use error::Error;
pub use options::{Descriptor, Options, Proxy, Spec};
pub use source::Source;
pub use wait::{Job, Read, Wait};
