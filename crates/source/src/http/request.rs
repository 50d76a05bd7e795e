//! The text of requests.

use super::address::Address;
use super::version::Validator;
use crate::Options;
use std::fmt::Write;

/// What goes on after a broken connection: from this byte, if it is still this version.
pub(crate) struct Resume<'a> {
    pub from: u64,
    pub validator: &'a Validator,
}

/// Headers that only the server they were meant for may see.
const SECRET: [&str; 3] = ["authorization", "cookie", "proxy-authorization"];
/// Headers that are this crate's own business.
const OWN: [&str; 7] = ["host", "connection", "content-length", "transfer-encoding", "range", "if-range", "te"];

/// What is wrong with a header of the options, if something is.
pub(crate) fn check(headers: &[(String, String)]) -> Result<(), String> {
    for (name, value) in headers {
        let token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
        if name.is_empty() || !name.bytes().all(token) {
            return Err(format!("'{}' is no name of a header", name.escape_debug()));
        }
        if value.bytes().any(|b| b < b' ' && b != b'\t' || b == 0x7f) {
            return Err(format!("the value of header '{name}' holds a control character"));
        }
        if OWN.contains(&name.to_ascii_lowercase().as_str()) {
            return Err(format!("header '{name}' cannot be set"));
        }
    }
    Ok(())
}

/// A GET for `to`; `first` is where the secrets are meant for, `proxy` who is asked in the server's place.
pub(crate) fn get(to: &Address, first: &Address, proxy: Option<&Address>, o: &Options, resume: Option<Resume<'_>>) -> String {
    let same = to.same_origin(first);
    let mut fields: Vec<(&str, String)> = vec![
        ("Host", to.host_header()),
        ("User-Agent", concat!("kumi/", env!("CARGO_PKG_VERSION")).to_string()),
        ("Accept", "*/*".to_string()),
        ("Accept-Encoding", if o.decompress { "gzip, deflate, br, zstd" } else { "identity" }.to_string()),
        ("Connection", "close".to_string()),
    ];
    if let Some(auth) = to.auth().or(if same { first.auth() } else { None }) {
        fields.push(("Authorization", auth.to_string()));
    }
    if let Some(auth) = proxy.and_then(Address::auth) {
        fields.push(("Proxy-Authorization", auth.to_string()));
    }
    if let Some(r) = resume {
        fields.push(("Range", format!("bytes={}-", r.from)));
        fields.push(("If-Range", r.validator.text().to_string()));
    }
    let own: Vec<_> = o.headers.iter().filter(|(n, _)| same || !SECRET.contains(&n.to_ascii_lowercase().as_str())).collect();
    fields.retain(|(default, _)| !own.iter().any(|(n, _)| n.eq_ignore_ascii_case(default)));
    fields.extend(own.iter().map(|(n, v)| (n.as_str(), v.clone())));
    let target = if proxy.is_some() { to.shown().to_string() } else { to.target() };
    let mut text = format!("GET {target} HTTP/1.1\r\n");
    for (name, value) in &fields {
        // Writing to a String does not fail.
        let _ = write!(text, "{name}: {value}\r\n");
    }
    text.push_str("\r\n");
    text
}

/// Asks a proxy for a tunnel.
pub(crate) fn connect(to: &Address, proxy: &Address) -> String {
    let to = to.authority();
    let auth = proxy.auth().map(|a| format!("Proxy-Authorization: {a}\r\n")).unwrap_or_default();
    format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\nUser-Agent: kumi/{}\r\n{auth}\r\n", env!("CARGO_PKG_VERSION"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_stay_with_their_server() {
        let first = Address::parse("http://u:p@a/x").unwrap();
        let headers = vec![("Cookie".into(), "c".into()), ("User-Agent".into(), "me".into()), ("X-Y".into(), "z".into())];
        let o = Options { headers, ..Options::default() };
        let here = get(&first, &first, None, &o, None);
        assert!(here.starts_with("GET /x HTTP/1.1\r\nHost: a\r\n"), "{here}");
        assert!(here.contains("Authorization: Basic dTpw\r\n") && here.contains("Cookie: c\r\n"));
        assert!(here.contains("User-Agent: me\r\n") && !here.contains("kumi/"));
        let there = get(&Address::parse("http://b/x").unwrap(), &first, None, &o, None);
        assert!(!there.contains("Authorization") && !there.contains("Cookie") && there.contains("X-Y: z"));
        let back = get(&Address::parse("http://a/y").unwrap(), &first, None, &o, None);
        assert!(back.contains("Authorization: Basic dTpw\r\n"));
    }

    #[test]
    fn bad_headers() {
        let bad = |n: &str, v: &str| check(&[(n.to_string(), v.to_string())]).is_err();
        assert!(bad("a b", "c") && bad("a", "b\r\nc: d") && bad("Host", "x") && bad("", ""));
        assert!(!bad("X-Y", "some text"));
    }
}
