//! Requests through proxies, in plain text and through a tunnel.

use super::server::*;
use super::*;
use kumi_source::Proxy;

fn by(server: &Server) -> Options {
    Options { proxy: Proxy::Url(format!("http://who:what@127.0.0.1:{}", server.port)), ..options() }
}

#[test]
fn plain_requests_name_the_whole_address() {
    let s = serve(|_, _, mut c| put(&mut c, &ok("", b"by proxy")));
    assert_eq!(fetch("http://example.invalid/a?b", by(&s)).unwrap(), b"by proxy");
    let request = &s.requests()[0];
    assert!(request.starts_with("GET http://example.invalid/a?b HTTP/1.1\r\n"), "{request}");
    assert_eq!(header(request, "host"), Some("example.invalid"));
    assert_eq!(header(request, "proxy-authorization"), Some("Basic d2hvOndoYXQ="));
}

#[test]
fn a_tunnel_that_is_refused() {
    let s = serve(|_, _, mut c| put(&mut c, b"HTTP/1.1 407 Who are you\r\n\r\n"));
    let mut o = by(&s);
    o.extra_roots = vec![super::tls::Authority::new().der()];
    let e = fetch("https://example.invalid/", o).unwrap_err();
    assert!(matches!(&e, Error::Connect { message, .. } if message == "the proxy answered 407 Who are you"), "{e}");
    assert!(s.requests()[0].starts_with("CONNECT example.invalid:443 HTTP/1.1\r\nHost: example.invalid:443\r\n"));
}
