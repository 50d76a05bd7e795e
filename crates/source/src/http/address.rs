//! An address as requests need it: without fragment, user and password, which go elsewhere or nowhere.

use super::head::excerpt;
use std::net::IpAddr;
use url::{Host, Url};

#[derive(Clone, Debug)]
pub(crate) struct Address {
    url: Url,
    /// The value of `Authorization` that user and password make.
    auth: Option<String>,
}

impl Address {
    /// The message says what is wrong with the address.
    pub fn parse(text: &str) -> Result<Address, String> {
        let url = Url::parse(text).map_err(|e| format!("the address cannot be used: {e}"))?;
        Address::new(url)
    }

    /// Where a `Location` points to, seen from here.
    pub fn join(&self, location: &str) -> Result<Address, String> {
        let bad = |e| format!("the server redirects to '{}', which is no address: {e}", excerpt(shown(location).as_bytes()));
        let url = self.url.join(location).map_err(bad)?;
        Address::new(url)
    }

    fn new(mut url: Url) -> Result<Address, String> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!("addresses of scheme '{}' cannot be read, only http and https", url.scheme()));
        }
        if url.host_str().is_none_or(str::is_empty) {
            return Err("the address names no host".to_string());
        }
        let auth = (!url.username().is_empty() || url.password().is_some()).then(|| basic(url.username(), url.password().unwrap_or("")));
        // These fail only for addresses without a host.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        url.set_fragment(None);
        Ok(Address { url, auth })
    }

    pub fn auth(&self) -> Option<&str> {
        self.auth.as_deref()
    }

    /// For messages: no user, no password.
    pub fn shown(&self) -> &str {
        self.url.as_str()
    }

    pub fn is_tls(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// Without the brackets of an IPv6 address.
    pub fn host(&self) -> String {
        match self.url.host() {
            Some(Host::Domain(d)) => d.to_string(),
            Some(Host::Ipv4(a)) => a.to_string(),
            Some(Host::Ipv6(a)) => a.to_string(),
            None => String::new(),
        }
    }

    pub fn ip(&self) -> Option<IpAddr> {
        match self.url.host()? {
            Host::Domain(_) => None,
            Host::Ipv4(a) => Some(a.into()),
            Host::Ipv6(a) => Some(a.into()),
        }
    }

    pub fn port(&self) -> u16 {
        self.url.port_or_known_default().unwrap_or(80)
    }

    /// `Host:` names the port only where it is not the scheme's own.
    pub fn host_header(&self) -> String {
        let host = self.url.host_str().unwrap_or("");
        match self.url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_string(),
        }
    }

    /// Host and port for `CONNECT`.
    pub fn authority(&self) -> String {
        format!("{}:{}", self.url.host_str().unwrap_or(""), self.port())
    }

    /// Path and query.
    pub fn target(&self) -> String {
        match self.url.query() {
            Some(q) => format!("{}?{q}", self.url.path()),
            None => self.url.path().to_string(),
        }
    }

    /// Whether secrets for one may be told the other.
    pub fn same_origin(&self, other: &Address) -> bool {
        self.url.scheme() == other.url.scheme() && self.url.host() == other.url.host() && self.port() == other.port()
    }
}

/// An address for messages even when it cannot be used: what may be a password is left out.
pub(crate) fn shown(text: &str) -> String {
    if let Ok(a) = Address::parse(text) {
        return a.shown().to_string();
    }
    // Slashes of either kind, as many as there are: what nobody can use may be written in any way.
    let from = text.find(':').map_or(0, |colon| text.len() - text[colon + 1..].trim_start_matches(['/', '\\']).len());
    match text.rfind('@') {
        Some(at) if from <= at => format!("{}{}", &text[..from], &text[at + 1..]),
        _ => text.to_string(),
    }
}

/// Basic authorisation of a user and a password in percent encoding.
pub(crate) fn basic(user: &str, password: &str) -> String {
    let mut plain = decode_percent(user);
    plain.push(b':');
    plain.extend(decode_percent(password));
    format!("Basic {}", base64(&plain))
}

fn decode_percent(text: &str) -> Vec<u8> {
    let b = text.as_bytes();
    let hex = |i: usize| b.get(i).and_then(|c| (*c as char).to_digit(16));
    let mut out = Vec::with_capacity(b.len());
    let mut i = 0;
    while i < b.len() {
        match (b[i], hex(i + 1), hex(i + 2)) {
            (b'%', Some(x), Some(y)) => {
                out.push((x * 16 + y) as u8);
                i += 3;
            }
            (c, ..) => {
                out.push(c);
                i += 1;
            }
        }
    }
    out
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let n = three.iter().fold(0u32, |n, b| n << 8 | u32::from(*b)) << (8 * (3 - three.len()));
        for i in 0..4 {
            out.push(if i <= three.len() { DIGITS[(n >> (18 - 6 * i)) as usize & 63] as char } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts() {
        let a = Address::parse("http://me:p%40ss@Example.org:8080/a b?q=1#f").unwrap();
        assert_eq!(a.shown(), "http://example.org:8080/a%20b?q=1");
        assert_eq!(a.auth(), Some("Basic bWU6cEBzcw=="));
        assert_eq!((a.host_header().as_str(), a.target().as_str()), ("example.org:8080", "/a%20b?q=1"));
        let six = Address::parse("https://[::1]/").unwrap();
        assert_eq!((six.host().as_str(), six.authority().as_str(), six.port()), ("::1", "[::1]:443", 443));
        assert_eq!(a.join("//other/x").unwrap().shown(), "http://other/x");
        assert_eq!(a.join("y?z").unwrap().shown(), "http://example.org:8080/y?z");
        assert!(a.join("ftp://x/").is_err());
        assert!(Address::parse("nonsense").is_err());
    }

    #[test]
    fn base64_of_every_length() {
        assert_eq!(base64(b""), "");
        assert_eq!(base64(b"f"), "Zg==");
        assert_eq!(base64(b"fo"), "Zm8=");
        assert_eq!(base64(b"foo"), "Zm9v");
        assert_eq!(base64(b"foobar"), "Zm9vYmFy");
    }

    #[test]
    fn no_password_is_shown() {
        assert!(!shown("http://u:secret@[bad/").contains("secret"));
        assert!(!shown("http://u:secret@host/").contains("secret"));
        assert!(!shown("http:u:secret@[bad").contains("secret"));
        assert!(!shown("HTTPS:\\\\u:secret@[bad").contains("secret"));
        assert!(!shown("http://u:sec/ret@host").contains("sec"));
        assert_eq!(shown("nonsense"), "nonsense");
    }
}
