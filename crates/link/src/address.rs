//! Where a node listens: `tcp://host:port`, `host:port`, `unix:/path`, or a path from the root.

use crate::error::LinkError;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::path::PathBuf;

/// An address that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A host, by name or number, and a port.
    Tcp(String, u16),
    /// A Unix socket.
    Unix(PathBuf),
}

impl Address {
    /// Reads one.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Address, LinkError> {
        let wrong = |why| Err(LinkError::Address(text.to_owned(), why));
        if let Some(path) = text.strip_prefix("unix:").or(text.starts_with('/').then_some(text)) {
            let path = path.strip_prefix("//").map_or(path, |p| if p.starts_with('/') { p } else { path });
            return match path.is_empty() || path.contains('\0') {
                true => wrong("a Unix socket's path is missing"),
                false => Ok(Address::Unix(std::path::absolute(path).map_err(|e| LinkError::Listen(text.to_owned(), e))?)),
            };
        }
        let rest = text.strip_prefix("tcp://").unwrap_or(text);
        let Some((host, port)) = rest.rsplit_once(':') else { return wrong("an address is host:port, tcp://host:port or unix:/path") };
        let Ok(port) = port.parse() else { return wrong("a port is a number up to 65535") };
        let host = host.strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(host);
        if host.is_empty() || host.contains(['/', '[', ']', ' ']) {
            return wrong("a host is a name or a number; an IPv6 address stands in brackets");
        }
        if host.contains(':') && host.parse::<Ipv6Addr>().is_err() {
            return wrong("an IPv6 address that is none");
        }
        Ok(Address::Tcp(host.to_owned(), port))
    }

    /// Whether it is a Unix socket or on loopback, as far as can be told without looking a name up: then only this machine has it.
    pub fn is_local(&self) -> bool {
        match (self, self.literal()) {
            (Address::Unix(_), _) => true,
            (Address::Tcp(..), found) => found.is_some_and(|f| f.iter().all(|a| a.ip().to_canonical().is_loopback())),
        }
    }

    /// What it stands for, where nobody need be asked.
    pub(crate) fn literal(&self) -> Option<Vec<SocketAddr>> {
        let Address::Tcp(host, port) = self else { return None };
        if host.eq_ignore_ascii_case("localhost") {
            return Some(vec![(Ipv4Addr::LOCALHOST, *port).into(), (Ipv6Addr::LOCALHOST, *port).into()]);
        }
        host.parse::<IpAddr>().ok().map(|ip| vec![(ip, *port).into()])
    }

    /// What it stands for. It may take long.
    pub(crate) fn resolve(&self) -> std::io::Result<Vec<SocketAddr>> {
        match (self, self.literal()) {
            (_, Some(found)) => Ok(found),
            (Address::Tcp(host, port), None) => Ok((host.as_str(), *port).to_socket_addrs()?.collect()),
            (Address::Unix(_), None) => Ok(Vec::new()),
        }
    }
}

impl fmt::Display for Address {
    /// As `kumi-membership` has addresses.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Tcp(host, port) if host.contains(':') => write!(f, "[{host}]:{port}"),
            Address::Tcp(host, port) => write!(f, "{host}:{port}"),
            Address::Unix(path) => write!(f, "{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_shown() {
        for (text, shown) in [
            ("tcp://127.0.0.1:7001", "127.0.0.1:7001"),
            ("localhost:0", "localhost:0"),
            ("[::1]:80", "[::1]:80"),
            ("tcp://[fe80::1]:80", "[fe80::1]:80"),
            ("unix:/run/k.sock", "/run/k.sock"),
            ("unix:///run/k.sock", "/run/k.sock"),
            ("/run/k umi.sock", "/run/k umi.sock"),
        ] {
            assert_eq!(Address::parse(text).unwrap().to_string(), shown, "{text}");
        }
        for (text, local) in [
            ("127.3.0.1:1", true),
            ("localhost:1", true),
            ("[::1]:1", true),
            ("[::ffff:127.0.0.1]:1", true),
            ("/run/k.sock", true),
            ("0.0.0.0:1", false),
            ("[::]:1", false),
            ("10.0.0.1:1", false),
            ("east.example:1", false),
        ] {
            assert_eq!(Address::parse(text).unwrap().is_local(), local, "{text}");
        }
        for bad in ["", "host", "host:", ":80", "host:70000", "[::1:80", "a b:1", "unix:", "::1:zz", "http://x:1"] {
            assert!(Address::parse(bad).is_err(), "{bad}");
        }
    }
}
