//! HTTP/1.1 (RFC 9112) as far as fetching one document goes.

mod address;
mod body;
mod client;
mod head;
mod proxy;
mod request;
mod version;

pub(crate) use address::shown;
pub(crate) use client::Http;
