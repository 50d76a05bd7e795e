//! Encrypted connections: an authority made here, and certificates of several merits.

use super::server::{head_of, ok, path, put};
use super::*;
use rcgen::{BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::sync::Arc;

pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    der: Vec<u8>,
    pem: String,
}

impl Authority {
    pub fn new() -> Authority {
        Authority::named("Kumi Test Authority")
    }

    fn named(name: &str) -> Authority {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().unwrap();
        let own = params.self_signed(&key).unwrap();
        Authority { der: own.der().to_vec(), pem: own.pem(), issuer: Issuer::new(params, key) }
    }

    pub fn der(&self) -> Vec<u8> {
        self.der.clone()
    }

    fn certify(&self, name: &str, until: i32) -> (Vec<u8>, KeyPair) {
        let mut params = CertificateParams::new(vec![name.to_string()]).unwrap();
        params.not_before = rcgen::date_time_ymd(2000, 1, 1);
        params.not_after = rcgen::date_time_ymd(until, 1, 1);
        let key = KeyPair::generate().unwrap();
        (params.signed_by(&key, &self.issuer).unwrap().der().to_vec(), key)
    }
}

type Encrypted = StreamOwned<ServerConnection, TcpStream>;

fn config(certificate: Vec<u8>, key: &KeyPair) -> Arc<ServerConfig> {
    let chain = vec![CertificateDer::from(certificate)];
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    Arc::new(config.with_no_client_auth().with_single_cert(chain, key).unwrap())
}

/// A server by TLS; `before` may speak in plain text first.
fn serve(
    config: Arc<ServerConfig>,
    before: impl Fn(&mut TcpStream) + Send + Sync + 'static,
    answer: impl Fn(usize, &str, Encrypted) + Send + Sync + 'static,
) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (before, answer) = (Arc::new(before), Arc::new(answer));
    std::thread::spawn(move || {
        for (n, stream) in listener.incoming().enumerate() {
            let (config, before, answer) = (config.clone(), before.clone(), answer.clone());
            std::thread::spawn(move || {
                let mut stream = stream.unwrap();
                before(&mut stream);
                let mut tls = StreamOwned::new(ServerConnection::new(config).unwrap(), stream);
                if let Some(head) = head_of(&mut tls) {
                    answer(n, &head, tls);
                }
            });
        }
    });
    port
}

/// A server by TLS whose certificate `a` has signed for `name`.
fn serving(a: &Authority, name: &str, answer: impl Fn(usize, &str, Encrypted) + Send + Sync + 'static) -> u16 {
    let (cert, key) = a.certify(name, 2999);
    serve(config(cert, &key), |_| {}, answer)
}

fn finish(mut c: Encrypted) {
    c.conn.send_close_notify();
    let _ = std::io::Write::flush(&mut c);
}

/// The environment's roots are read once in a process, so this test runs itself in others: there it only prints what it fetches.
#[test]
fn roots_come_from_ssl_cert_file() {
    if let Ok(url) = std::env::var("KUMI_TEST_URL") {
        return match fetch(&url, options()) {
            Ok(body) => println!("fetched {}", String::from_utf8_lossy(&body)),
            Err(e) => println!("failed {e}"),
        };
    }
    let a = Authority::new();
    let port = serving(&a, "127.0.0.1", |_, _, mut c| {
        put(&mut c, &ok("", b"trusted"));
        finish(c);
    });
    let file = std::env::temp_dir().join(format!("kumi-source-{}-root.pem", std::process::id()));
    std::fs::write(&file, &a.pem).unwrap();
    let nothing = file.with_extension("nothing");
    for (roots, result, says) in [(&file, "fetched ", "trusted"), (&nothing, "failed ", "no trusted root certificates")] {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "--nocapture", "tls::roots_come_from_ssl_cert_file"]);
        child.env("KUMI_TEST_URL", format!("https://127.0.0.1:{port}/")).env("SSL_CERT_FILE", roots).env_remove("SSL_CERT_DIR");
        child.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let made = {
            let _alone = no_other_forks();
            child.spawn().unwrap()
        };
        let output = made.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let told = text.split_once(result).is_some_and(|(_, rest)| rest.lines().next().is_some_and(|line| line.contains(says)));
        assert!(output.status.success() && told, "{text}");
    }
    let _ = std::fs::remove_file(file);
}

fn trusting(a: &Authority) -> Options {
    Options { extra_roots: vec![a.der()], ..options() }
}

#[test]
fn documents_come_through() {
    let a = Authority::new();
    let port = serving(&a, "localhost", |_, head, mut c| {
        match path(head) {
            "/close" => put(&mut c, &[b"HTTP/1.1 200 OK\r\n\r\n", &document()[..]].concat()),
            _ => put(&mut c, &ok("", &document())),
        }
        finish(c);
    });
    for at in ["length", "close"] {
        let url = format!("https://localhost:{port}/{at}");
        assert!(fetch(&url, trusting(&a)).unwrap() == document());
        let mut source = Source::open(Spec::Url(url), trusting(&a)).unwrap();
        assert!(all_of(&mut source, 1000).0 == document());
    }
}

#[test]
fn a_body_that_is_cut_off_is_noticed_and_resumed() {
    let a = Authority::new();
    let port = serving(&a, "127.0.0.1", |n, head, mut c| {
        if path(head) == "/open" {
            // Ends with the connection, and nobody says that it was the end.
            return put(&mut c, b"HTTP/1.1 200 OK\r\n\r\npart");
        }
        let doc = document();
        if n % 2 == 0 {
            put(&mut c, &ok("ETag: \"t\"\r\n", &doc)[..50_000]);
        } else {
            let from = super::server::range(head).unwrap();
            put(&mut c, format!("HTTP/1.1 206 x\r\nContent-Range: bytes {from}-{}/{}\r\n\r\n", doc.len() - 1, doc.len()).as_bytes());
            put(&mut c, &doc[from..]);
            finish(c);
        }
    });
    assert!(fetch(&format!("https://127.0.0.1:{port}/"), trusting(&a)).unwrap() == document());
    let e = fetch(&format!("https://127.0.0.1:{port}/open"), trusting(&a)).unwrap_err();
    assert!(matches!(&e, Error::NotResumed { offset: 4, .. }) && e.to_string().contains("cut off"), "{e}");
}

#[test]
fn who_is_not_trusted() {
    let (a, stranger) = (Authority::new(), Authority::named("Somebody Else"));
    for (cert, says) in [
        (a.certify("localhost", 2001), "has expired"),
        (a.certify("example.org", 2999), "for another host"),
        (stranger.certify("localhost", 2999), "nobody who is trusted"),
    ] {
        let port = serve(config(cert.0, &cert.1), |_| {}, |_, _, mut c| put(&mut c, &ok("", b"secret")));
        let e = fetch(&format!("https://localhost:{port}/"), trusting(&a)).unwrap_err();
        assert!(matches!(e, Error::Tls { .. }) && e.to_string().contains(says), "{e}");
    }
}

#[test]
fn plain_text_where_tls_is_expected_and_the_other_way_round() {
    let a = Authority::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for c in listener.incoming() {
            let mut c = c.unwrap();
            // Reading first, so that closing does not reset what was written.
            let _ = std::io::Read::read(&mut c, &mut [0; 4096]);
            put(&mut c, b"HTTP/1.1 400 Bad Request\r\n\r\n");
        }
    });
    let e = fetch(&format!("https://127.0.0.1:{port}/"), trusting(&a)).unwrap_err();
    assert!(matches!(&e, Error::Tls { message, .. } if message.contains("does not speak TLS")), "{e}");
    let port = serving(&a, "127.0.0.1", |_, _, _| {});
    let e = fetch(&format!("http://127.0.0.1:{port}/"), options()).unwrap_err();
    assert!(e.to_string().contains("https://") || matches!(e, Error::Broken { .. }), "{e}");
}

#[test]
fn no_way_back_to_plain_text() {
    let a = Authority::new();
    let plain = super::server::serve(|_, _, mut c| put(&mut c, &ok("", b"plain")));
    let to = plain.url("/x");
    let port = serving(&a, "127.0.0.1", move |_, _, mut c| {
        put(&mut c, format!("HTTP/1.1 301 x\r\nLocation: {to}\r\n\r\n").as_bytes());
        finish(c);
    });
    let url = format!("https://127.0.0.1:{port}/");
    let e = fetch(&url, trusting(&a)).unwrap_err();
    assert!(matches!(e, Error::Redirect { .. }) && e.to_string().contains("not encrypted"), "{e}");
    assert_eq!(fetch(&url, Options { allow_downgrade: true, ..trusting(&a) }).unwrap(), b"plain");
}

#[test]
fn through_a_tunnel() {
    let a = Authority::new();
    let (cert, key) = a.certify("example.invalid", 2999);
    // The proxy is the server at once: it agrees to the tunnel, and then is spoken to as the server.
    let port = serve(
        config(cert, &key),
        |c| {
            let head = head_of(c).unwrap();
            assert!(head.starts_with("CONNECT example.invalid:443 "), "{head}");
            put(c, b"HTTP/1.1 200 Go on\r\n\r\n");
        },
        |_, head, mut c| {
            assert!(head.starts_with("GET /inside HTTP/1.1\r\nHost: example.invalid\r\n"), "{head}");
            put(&mut c, &ok("", b"tunnelled"));
            finish(c);
        },
    );
    let o = Options { proxy: Proxy::Url(format!("127.0.0.1:{port}")), ..trusting(&a) };
    assert_eq!(fetch("https://example.invalid/inside", o).unwrap(), b"tunnelled");
}
