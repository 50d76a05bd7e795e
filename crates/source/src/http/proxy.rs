//! Which proxy a request goes through, by curl's rules for the environment.

use super::address::{self, Address};
use crate::Proxy;
use std::net::IpAddr;

/// The proxy for `to`; None: straight to the server.
pub(crate) fn route(proxy: &Proxy, to: &Address) -> Result<Option<Address>, String> {
    let text = match proxy {
        Proxy::Direct => return Ok(None),
        Proxy::Url(url) => url.clone(),
        Proxy::Environment => match of_environment(to, |name| std::env::var(name).ok()) {
            Some(url) => url,
            None => return Ok(None),
        },
    };
    let full = if text.contains("://") { text } else { format!("http://{text}") };
    let proxy = Address::parse(&full).map_err(|m| format!("proxy {}: {m}", address::shown(&full)))?;
    if proxy.is_tls() {
        return Err(format!("proxy {}: connections to a proxy by TLS are not supported", proxy.shown()));
    }
    Ok(Some(proxy))
}

fn of_environment(to: &Address, get: impl Fn(&str) -> Option<String>) -> Option<String> {
    let var = |names: &[&str]| names.iter().find_map(|n| get(n).filter(|v| !v.is_empty()));
    let own = if to.is_tls() { var(&["https_proxy", "HTTPS_PROXY"]) } else { var(&["http_proxy"]) };
    let url = own.or_else(|| var(&["all_proxy", "ALL_PROXY"]))?;
    let excepted = var(&["no_proxy", "NO_PROXY"]).is_some_and(|list| excepted(&list, to));
    (!excepted).then_some(url)
}

/// Whether `no_proxy` names the host: a domain with all below it, an address, a range of addresses (`10.0.0.0/8`), each with
/// or without a port, or `*`.
fn excepted(list: &str, to: &Address) -> bool {
    let host = to.host().to_ascii_lowercase();
    list.split([',', ' ']).map(str::trim).filter(|e| !e.is_empty()).any(|entry| {
        if entry == "*" {
            return true;
        }
        let (entry, port) = match entry.rsplit_once(':') {
            Some((e, p)) if !e.contains(':') || e.ends_with(']') => match p.parse::<u16>() {
                Ok(port) => (e, Some(port)),
                Err(_) => (entry, None),
            },
            _ => (entry, None),
        };
        if port.is_some_and(|p| p != to.port()) {
            return false;
        }
        let entry = entry.trim_start_matches('[').trim_end_matches(']').trim_start_matches('.').to_ascii_lowercase();
        if let Some(ip) = to.ip() {
            return match entry.split_once('/') {
                Some((net, bits)) => in_range(ip, net, bits),
                None => entry.parse::<IpAddr>() == Ok(ip),
            };
        }
        !entry.is_empty() && (host == entry || host.strip_suffix(&entry).is_some_and(|rest| rest.ends_with('.')))
    })
}

fn in_range(ip: IpAddr, net: &str, bits: &str) -> bool {
    let (Ok(net), Ok(bits)) = (net.parse::<IpAddr>(), bits.parse::<u32>()) else { return false };
    let (a, b, width) = match (ip, net) {
        (IpAddr::V4(a), IpAddr::V4(b)) => (u128::from(a.to_bits()), u128::from(b.to_bits()), 32),
        (IpAddr::V6(a), IpAddr::V6(b)) => (a.to_bits(), b.to_bits(), 128),
        _ => return false,
    };
    bits <= width && (a ^ b).checked_shr(width - bits).unwrap_or(0) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exceptions() {
        let to = |s: &str| Address::parse(s).unwrap();
        for (list, url, yes) in [
            ("*", "http://a.b/", true),
            ("example.org", "http://example.org/", true),
            (".example.org", "http://www.example.org/", true),
            ("example.org", "http://notexample.org/", false),
            ("a, example.org:8080", "http://example.org:8080/", true),
            ("example.org:8080", "http://example.org/", false),
            ("10.0.0.0/8", "http://10.1.2.3/", true),
            ("10.0.0.0/8", "http://11.1.2.3/", false),
            ("::1", "http://[::1]:5/", true),
            ("0.0.0.0/0", "http://1.2.3.4/", true),
            ("", "http://a/", false),
        ] {
            assert_eq!(excepted(list, &to(url)), yes, "{list} {url}");
        }
    }

    #[test]
    fn the_environment() {
        let (plain, tls) = (Address::parse("http://a.org/").unwrap(), Address::parse("https://a.org/").unwrap());
        let of =
            |to: &Address, vars: &[(&str, &str)]| of_environment(to, |n| vars.iter().find(|(k, _)| *k == n).map(|(_, v)| v.to_string()));
        assert_eq!(of(&plain, &[("http_proxy", "p")]).as_deref(), Some("p"));
        assert_eq!(of(&plain, &[("HTTP_PROXY", "p"), ("https_proxy", "q")]), None);
        assert_eq!(of(&tls, &[("http_proxy", "p"), ("HTTPS_PROXY", "q")]).as_deref(), Some("q"));
        assert_eq!(of(&tls, &[("http_proxy", "p"), ("all_proxy", "r")]).as_deref(), Some("r"));
        assert_eq!(of(&plain, &[("http_proxy", "p"), ("NO_PROXY", "a.org")]), None);
        assert_eq!(of(&plain, &[("http_proxy", "")]), None);
    }

    #[test]
    fn a_named_proxy() {
        let to = Address::parse("http://a/").unwrap();
        let p = route(&Proxy::Url("u:p@proxy:3128".to_string()), &to).unwrap().unwrap();
        assert_eq!((p.shown(), p.auth()), ("http://proxy:3128/", Some("Basic dTpw")));
        assert!(route(&Proxy::Url("socks5://x".to_string()), &to).is_err());
        assert!(route(&Proxy::Direct, &to).unwrap().is_none());
    }
}
