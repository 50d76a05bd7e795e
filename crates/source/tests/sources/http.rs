//! Servers that do as they should.

use super::server::*;
use super::*;
use kumi_source::{Read, Wait};

/// All that a reader gives, here one that compresses.
fn drained(mut reader: impl std::io::Read) -> Vec<u8> {
    let mut out = Vec::new();
    reader.read_to_end(&mut out).unwrap();
    out
}

fn gzip(b: &[u8]) -> Vec<u8> {
    drained(flate2::read::GzEncoder::new(b, flate2::Compression::new(6)))
}

fn coded(name: &str, b: &[u8]) -> Vec<u8> {
    match name {
        "gzip" => gzip(b),
        "deflate" => drained(flate2::read::ZlibEncoder::new(b, flate2::Compression::new(6))),
        "raw" => drained(flate2::read::DeflateEncoder::new(b, flate2::Compression::new(6))),
        "br" => {
            let mut out = Vec::new();
            brotli::BrotliCompress(&mut &b[..], &mut out, &Default::default()).unwrap();
            out
        }
        "zstd" => zstd::stream::encode_all(b, 3).unwrap(),
        "br, gzip" => gzip(&coded("br", b)),
        _ => b.to_vec(),
    }
}

#[test]
fn a_document_with_its_length() {
    let s = serve(|_, _, mut c| put(&mut c, &ok("Content-Type: text/xml; charset=ISO-8859-1\r\n", &document())));
    let mut source = Source::open(Spec::Url(s.url("/a?b=c#d")), options()).unwrap();
    let (bytes, end) = all_of(&mut source, 1000);
    end.unwrap();
    assert!(bytes == document());
    assert_eq!(source.charset(), Some("ISO-8859-1"));
    assert_eq!((source.received(), source.total()), (bytes.len() as u64, Some(bytes.len() as u64)));
    assert_eq!(source.name(), s.url("/a?b=c"));
    let request = &s.requests()[0];
    assert!(request.starts_with("GET /a?b=c HTTP/1.1\r\n"), "{request}");
    assert_eq!(header(request, "host"), Some(format!("127.0.0.1:{}", s.port).as_str()));
    assert!(header(request, "user-agent").unwrap().starts_with("kumi/"));
}

#[test]
fn until_the_connection_ends_and_by_http_1_0() {
    let s = serve(|_, _, mut c| put(&mut c, &[b"HTTP/1.0 200 OK\r\n\r\n", &document()[..]].concat()));
    assert!(fetch(&s.url("/"), options()).unwrap() == document());
}

#[test]
fn chunks_in_odd_pieces() {
    let s = serve(|_, _, mut c| {
        let mut text = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
        let (doc, mut at, mut n) = (document(), 0, 1);
        while at < doc.len() {
            let end = doc.len().min(at + n);
            text.extend_from_slice(format!("{:X};x=y\r\n", end - at).as_bytes());
            text.extend_from_slice(&doc[at..end]);
            text.extend_from_slice(b"\r\n");
            at = end;
            n = n * 7 % 5003 + 1;
        }
        text.extend_from_slice(b"0\r\nTrailer: x\r\n\r\n");
        let _ = c.set_nodelay(true);
        for piece in text.chunks(1009) {
            put(&mut c, piece);
        }
    });
    for max in [1, 999, 1 << 20] {
        let mut source = Source::open(Spec::Url(s.url("/")), options()).unwrap();
        let (bytes, end) = all_of(&mut source, max);
        end.unwrap();
        assert!(bytes == document());
    }
}

#[test]
fn every_coding_also_stacked() {
    let s = serve(|_, head, mut c| {
        let name = path(head)[1..].replace("%20", " ");
        let said = if name == "raw" { "deflate" } else { &name };
        put(&mut c, &ok(&format!("Content-Encoding: {said}\r\n"), &coded(&name, &document())));
    });
    for name in ["gzip", "deflate", "raw", "br", "zstd", "br, gzip", "identity"] {
        assert!(fetch(&s.url(&format!("/{name}")), options()).unwrap() == document(), "{name}");
    }
    assert_eq!(header(&s.requests()[0], "accept-encoding"), Some("gzip, deflate, br, zstd"));
}

#[test]
fn a_compressed_file_is_known_by_its_first_bytes() {
    let s = serve(|_, _, mut c| put(&mut c, &ok("Content-Type: application/gzip\r\n", &gzip(&document()))));
    assert!(fetch(&s.url("/x.xml.gz"), options()).unwrap() == document());
    let mut as_it_is = options();
    as_it_is.decompress = false;
    assert!(fetch(&s.url("/x.xml.gz"), as_it_is).unwrap() == gzip(&document()));
}

#[test]
fn damaged_compression_is_an_error() {
    let s = serve(|n, _, mut c| match n {
        0 => put(&mut c, &ok("Content-Encoding: gzip\r\n", &document())),
        1 => put(&mut c, &ok("Content-Encoding: gzip\r\n", &gzip(&document())[..900])),
        _ => put(&mut c, &ok("Content-Encoding: rot13\r\n", b"x")),
    });
    s.fails(&options(), &[("/", "not in gzip format"), ("/", "ends in the middle")], |e| matches!(e, Error::Compression { .. }));
    s.fails(&options(), &[("/", "rot13")], |_| true);
}

#[test]
fn a_bomb_is_an_error() {
    let s = serve(|_, _, mut c| put(&mut c, &ok("", &gzip(&vec![0; 2 << 20]))));
    let mut o = options();
    (o.max_ratio, o.ratio_grace) = (100, 100_000);
    let e = fetch(&s.url("/"), o).unwrap_err();
    assert!(matches!(e, Error::Bomb { .. }), "{e}");
    assert_eq!(fetch(&s.url("/"), options()).unwrap().len(), 2 << 20);
}

#[test]
fn redirections_of_every_kind() {
    let s = serve(|_, head, mut c| {
        let host = header(head, "host").unwrap();
        let (code, to) = match path(head) {
            "/a/b" => (301, "c?d".to_string()),
            "/a/c?d" => (302, "/e".to_string()),
            "/e" => (307, format!("http://{host}/f")),
            "/f" => (308, format!("//{host}/end#x")),
            _ => return put(&mut c, &ok("", b"found")),
        };
        put(&mut c, format!("HTTP/1.1 {code} x\r\nLocation: {to}\r\nContent-Length: 3\r\n\r\nxyz").as_bytes());
    });
    assert_eq!(fetch(&s.url("/a/b"), options()).unwrap(), b"found");
    assert_eq!(s.requests().len(), 5);
}

#[test]
fn redirections_without_end_or_elsewhere() {
    let s = serve(|_, head, mut c| {
        let to = match path(head) {
            "/ftp" => "ftp://x/",
            "/bad" => "http://user:secret@[x/",
            _ => "/loop",
        };
        put(&mut c, format!("HTTP/1.1 302 x\r\nLocation: {to}\r\n\r\n").as_bytes());
    });
    let cases = [("/loop", "more than 10 redirections"), ("/ftp", "'ftp'"), ("/bad", "no address")];
    s.fails(&options(), &cases, |e| matches!(e, Error::Redirect { .. }) && !e.to_string().contains("secret"));
}

#[test]
fn error_pages_raise() {
    let s = serve(|_, head, mut c| match path(head) {
        "/gone" => put(&mut c, b"HTTP/1.1 404 Not Here\r\nContent-Length: 6\r\n\r\nsorry!"),
        "/long" => put(&mut c, &[b"HTTP/1.1 500 Oh\r\n\r\n", &vec![b'x'; 100_000][..]].concat()),
        "/gzip" => {
            let page = gzip(b"packed");
            put(&mut c, format!("HTTP/1.1 503\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n", page.len()).as_bytes());
            put(&mut c, &page);
        }
        _ => put(&mut c, b"HTTP/1.1 304 x\r\n\r\n"),
    });
    match fetch(&s.url("/gone"), options()).unwrap_err() {
        Error::Status { code: 404, reason, url, body } => {
            assert_eq!((reason.as_str(), url, &body[..]), ("Not Here", s.url("/gone"), &b"sorry!"[..]));
        }
        e => panic!("{e}"),
    }
    let e = fetch(&s.url("/gone"), options()).unwrap_err();
    assert_eq!(e.to_string(), format!("{}: the server answered 404 Not Here", s.url("/gone")));
    assert!(matches!(fetch(&s.url("/long"), options()), Err(Error::Status { code: 500, body, .. }) if body.len() == 4096));
    assert!(matches!(fetch(&s.url("/gzip"), options()), Err(Error::Status { code: 503, body, .. }) if body == b"packed"));
    assert_eq!(fetch(&s.url("/same"), options()).unwrap_err().status(), Some(304));
}

#[test]
fn interim_answers_and_slow_heads() {
    let s = serve(|_, _, mut c| {
        let _ = c.set_nodelay(true);
        for b in [b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n", &ok("X: y\r\n", b"body")[..]].concat() {
            put(&mut c, &[b]);
        }
    });
    assert_eq!(fetch(&s.url("/"), options()).unwrap(), b"body");
}

#[test]
fn no_content_is_nothing() {
    let s = serve(|n, _, mut c| match n {
        0 => put(&mut c, b"HTTP/1.1 204 No Content\r\n\r\n"),
        _ => put(&mut c, &ok("Content-Encoding: gzip\r\n", b"")),
    });
    assert_eq!(fetch(&s.url("/"), options()).unwrap(), b"");
    assert_eq!(fetch(&s.url("/"), options()).unwrap(), b"");
}

#[test]
fn secrets_go_where_they_belong() {
    let other = serve(|_, _, mut c| put(&mut c, &ok("", b"there")));
    let to = other.url("/");
    let s = serve(move |_, _, mut c| put(&mut c, format!("HTTP/1.1 302 x\r\nLocation: {to}\r\n\r\n").as_bytes()));
    let mut o = options();
    o.headers = vec![("X-Key".to_string(), "1".to_string()), ("Cookie".to_string(), "c=1".to_string())];
    let url = s.url("/").replace("http://", "http://me:secret@");
    let mut source = Source::open(Spec::Url(url), o).unwrap();
    assert!(!source.name().contains("secret") && !source.name().contains("me"));
    all_of(&mut source, 100).1.unwrap();
    let (a, b) = (s.requests().remove(0), other.requests().remove(0));
    assert_eq!(header(&a, "authorization"), Some("Basic bWU6c2VjcmV0"));
    assert_eq!((header(&a, "cookie"), header(&a, "x-key")), (Some("c=1"), Some("1")));
    assert_eq!((header(&b, "authorization"), header(&b, "cookie"), header(&b, "x-key")), (None, None, Some("1")));
}

#[test]
fn names_are_looked_up_by_a_job() {
    let s = serve(|_, _, mut c| put(&mut c, &ok("", b"by name")));
    let url = format!("http://localhost:{}/", s.port);
    let mut source = Source::open(Spec::Url(url.clone()), options()).unwrap();
    let mut out = Vec::new();
    let Ok(Read::Wait(Wait::Job(job))) = source.read(&mut out, 9) else { panic!("no job") };
    assert!(matches!(source.read(&mut out, 9), Ok(Read::Wait(Wait::Until(_)))));
    std::thread::spawn(move || job.run()).join().unwrap();
    assert_eq!(all_of(&mut source, 9).0, b"by name");
    let e = fetch("http://no-such-host.invalid/", options()).unwrap_err();
    assert!(matches!(&e, Error::Resolve { host, .. } if host == "no-such-host.invalid"), "{e}");
}

#[test]
fn addresses_and_headers_that_cannot_be_used() {
    for (url, says) in [("ftp://x/", "'ftp'"), ("nonsense", "relative URL"), ("http://", "host")] {
        let e = Source::open(Spec::Url(url.to_string()), options()).err().unwrap();
        assert!(matches!(e, Error::Usage { .. }) && e.to_string().contains(says), "{e}");
    }
    let mut o = options();
    o.headers = vec![("X".to_string(), "a\r\nB: c".to_string())];
    assert!(matches!(Source::open(Spec::Url("http://x/".to_string()), o), Err(Error::Usage { .. })));
}
