//! Connections: names to addresses, addresses to a socket, a socket with or without TLS. Knows nothing of HTTP.

pub(crate) mod conn;
pub(crate) mod connect;
pub(crate) mod names;
pub(crate) mod tls;
