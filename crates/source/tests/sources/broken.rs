//! Servers that stall, break off, lie and change their minds.

use super::server::*;
use super::*;
use kumi_source::{Read, Wait};
use std::sync::mpsc;
use std::time::Instant;

fn impatient() -> Options {
    Options { read_timeout: Duration::from_secs(2), connect_timeout: Duration::from_secs(5), ..options() }
}

/// Keeps the connection open and silent for longer than any test takes.
fn stall(c: std::net::TcpStream) {
    std::thread::sleep(Duration::from_secs(60));
    drop(c);
}

#[test]
fn silence_is_a_timeout() {
    let s = serve(|_, head, mut c| {
        match path(head) {
            "/silent" => {}
            "/head" => put(&mut c, b"HTTP/1.1 200 OK\r\nContent-"),
            _ => put(&mut c, &ok("", &document())[..1000]),
        }
        stall(c)
    });
    let cases = [("/silent", "answer"), ("/head", "answer"), ("/body", "more of the document")];
    s.fails(&impatient(), &cases, |e| e.is_timeout() && e.to_string().contains("longer than 2 s"));
}

/// Begins its answer so and goes on with a byte now and then.
fn trickle(begin: &'static [u8]) -> Server {
    serve(move |_, _, mut c| {
        put(&mut c, begin);
        for _ in 0..600 {
            put(&mut c, b"x");
            std::thread::sleep(Duration::from_millis(20));
        }
    })
}

#[test]
fn a_head_that_trickles_for_ever_is_a_timeout() {
    let s = trickle(b"HTTP/1.1 200 OK\r\nX: ");
    assert!(fetch(&s.url("/"), impatient()).unwrap_err().is_timeout());
}

#[test]
fn the_whole_may_have_a_limit() {
    let s = trickle(b"HTTP/1.1 200 OK\r\n\r\n");
    let o = Options { total_timeout: Some(Duration::from_millis(300)), ..options() };
    assert!(matches!(fetch(&s.url("/"), o), Err(Error::Timeout { what: "reading all of it", .. })));
}

#[test]
fn heads_have_a_size() {
    let s = serve(|_, _, mut c| {
        put(&mut c, b"HTTP/1.1 200 OK\r\n");
        for i in 0..100_000 {
            if std::io::Write::write_all(&mut c, format!("X-{i}: y\r\n").as_bytes()).is_err() {
                return;
            }
        }
    });
    let e = fetch(&s.url("/"), options()).unwrap_err();
    assert!(matches!(&e, Error::Protocol { message, .. } if message.contains("larger than 65536")), "{e}");
}

#[test]
fn what_is_not_http() {
    let s = serve(|_, head, mut c| match path(head) {
        "/html" => put(&mut c, b"<html>hello</html>"),
        "/code" => put(&mut c, b"HTTP/1.1 abc\r\n\r\n"),
        "/size" => put(&mut c, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzzz\r\n"),
        "/long" => put(&mut c, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabcd\r\n0\r\n\r\n"),
        "/two" => put(&mut c, b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
        "/part" => put(&mut c, b"HTTP/1.1 206 OK\r\nContent-Length: 1\r\n\r\na"),
        _ => put(&mut c, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"),
    });
    let cases = [
        ("/html", "<html>"),
        ("/code", "not HTTP"),
        ("/size", "does not begin with its size"),
        ("/long", "longer than it was said"),
        ("/two", "two different lengths"),
        ("/part", "nobody asked for"),
        ("/te", "transfer coding"),
    ];
    s.fails(&options(), &cases, |e| matches!(e, Error::Protocol { .. }));
}

#[test]
fn lengths_that_are_wrong() {
    let s = serve(|_, head, mut c| match path(head) {
        "/more" => put(&mut c, b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef"),
        _ => put(&mut c, b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabcdef"),
    });
    let mut source = Source::open(Spec::Url(s.url("/more")), options()).unwrap();
    let (bytes, end) = all_of(&mut source, 100);
    assert_eq!(bytes, b"abc");
    assert!(matches!(end, Err(Error::Length { announced: 3, .. })), "{end:?}");
    let mut source = Source::open(Spec::Url(s.url("/fewer")), options()).unwrap();
    let (bytes, end) = all_of(&mut source, 100);
    assert_eq!(bytes, b"abcdef");
    let e = end.unwrap_err();
    assert!(matches!(&e, Error::NotResumed { offset: 6, cause, .. } if matches!(**cause, Error::Length { announced: 9, .. })), "{e}");
    assert!(e.to_string().contains("3 bytes before the announced end") && e.to_string().contains("ETag"), "{e}");
}

/// Sends a document whose first connections break; `fields` go into every answer.
fn fragile(body: Vec<u8>, fields: &'static str, breaks: usize) -> Server {
    serve(move |n, head, mut c| {
        let from = range(head).unwrap_or(0);
        let rest = &body[from..];
        let code = if from > 0 { "206 Partial" } else { "200 OK" };
        let of = format!("Content-Range: bytes {from}-{}/{}\r\n", body.len() - 1, body.len());
        // An answer to If-Range need not repeat it.
        let fields = if n % 2 == 0 { fields } else { fields.trim_start_matches("Content-Encoding: zstd\r\n") };
        put(&mut c, format!("HTTP/1.1 {code}\r\nContent-Length: {}\r\n{of}{fields}\r\n", rest.len()).as_bytes());
        if n < breaks {
            put(&mut c, &rest[..rest.len() / 3]);
            if n % 2 == 0 { reset(c) } else { drop(c) }
        } else {
            put(&mut c, rest);
        }
    })
}

#[test]
fn a_broken_connection_is_resumed() {
    for fields in ["ETag: \"v1\"\r\n", "Last-Modified: Sun, 22 Nov 2026 04:00:00 GMT\r\nDate: Sun, 22 Nov 2026 05:00:00 GMT\r\n"] {
        // More breaks than attempts: each brings progress.
        let s = fragile(document(), fields, 8);
        let mut source = Source::open(Spec::Url(s.url("/")), options()).unwrap();
        let (bytes, end) = all_of(&mut source, 10_000);
        end.unwrap();
        assert!(bytes == document());
        assert_eq!(source.received(), bytes.len() as u64);
        let requests = s.requests();
        assert_eq!(requests.len(), 9);
        assert!(range(&requests[0]).is_none() && range(&requests[8]).is_some());
        let said = header(&requests[8], "if-range").unwrap();
        assert!(fields.contains(said), "{said}");
    }
}

#[test]
fn also_under_compression() {
    let packed = zstd::stream::encode_all(&document()[..], 3).unwrap();
    let s = fragile(packed, "Content-Encoding: zstd\r\nETag: \"z\"\r\n", 4);
    assert!(fetch(&s.url("/"), options()).unwrap() == document());
}

#[test]
fn without_ranges_the_beginning_is_passed_over() {
    let s = serve(|n, _, mut c| {
        let all = ok("ETag: \"same\"\r\n", &document());
        if n < 2 {
            put(&mut c, &all[..100_000 + n]);
            reset(c);
        } else {
            put(&mut c, &all);
        }
    });
    assert!(fetch(&s.url("/"), options()).unwrap() == document());
    assert_eq!(s.requests().len(), 3);
}

#[test]
fn another_version_is_an_error() {
    let s = serve(|n, head, mut c| {
        let all = ok(&format!("ETag: \"v{n}\"\r\n"), &document());
        match (path(head), n % 2) {
            (_, 0) => {
                put(&mut c, &all[..100_000]);
                reset(c);
            }
            ("/whole", _) => put(&mut c, &all),
            _ => {
                let from = range(head).unwrap();
                let rest = &document()[from..];
                let (last, of) = (document().len() - 1, document().len());
                let fields = format!("ETag: \"v{n}\"\r\nContent-Range: bytes {from}-{last}/{of}\r\nContent-Length: {}\r\n", rest.len());
                put(&mut c, format!("HTTP/1.1 206 x\r\n{fields}\r\n").as_bytes());
                put(&mut c, rest);
            }
        }
    });
    let cases = [("/whole", "changed meanwhile"), ("/part", "changed meanwhile")];
    s.fails(&options(), &cases, |e| matches!(e, Error::Changed { .. }));
}

#[test]
fn why_it_could_not_be_resumed() {
    let s = serve(|_, head, mut c| {
        let fields = match path(head) {
            "/weak" => "ETag: W/\"a\"\r\n",
            "/refused" => "ETag: \"a\"\r\nAccept-Ranges: none\r\n",
            "/always" => "ETag: \"a\"\r\n",
            _ => "",
        };
        if range(head).is_none() {
            put(&mut c, &ok(fields, &document())[..1000]);
            reset(c);
        }
    });
    let cases = [("/none", "ETag"), ("/weak", "ETag"), ("/refused", "no parts"), ("/always", "5 attempts failed")];
    s.fails(&options(), &cases, |e| matches!(e, Error::NotResumed { .. }));
    assert_eq!(s.requests().len(), 3 + 6);
    let e = fetch(&s.url("/always"), Options { retries: 0, ..options() }).unwrap_err();
    assert!(e.to_string().contains("no further attempts"), "{e}");
}

#[test]
fn a_stall_is_resumed_too() {
    let s = serve(|n, head, mut c| {
        let all = document();
        match range(head) {
            None => {
                put(&mut c, &ok("ETag: \"a\"\r\n", &all)[..5000]);
                stall(c);
            }
            Some(from) => {
                let fields = format!("Content-Range: bytes {from}-{}/{}\r\nContent-Length: {}", all.len() - 1, all.len(), all.len() - from);
                put(&mut c, format!("HTTP/1.1 206 x\r\n{fields}\r\n\r\n").as_bytes());
                put(&mut c, &all[from..]);
                assert_eq!(n, 1);
            }
        }
    });
    assert!(fetch(&s.url("/"), impatient()).unwrap() == document());
}

#[test]
fn ranges_that_are_wrong() {
    let s = serve(|n, head, mut c| {
        if n % 2 == 0 {
            put(&mut c, &ok("ETag: \"a\"\r\n", &document())[..5000]);
            return reset(c);
        }
        let from = range(head).unwrap();
        let of = document().len();
        let text = match path(head) {
            "/other" => format!("206 x\r\nContent-Range: bytes 0-{}/{of}\r\n", of - 1),
            "/silent" => "206 x\r\nContent-Length: 3\r\n".to_string(),
            "/total" => format!("206 x\r\nContent-Range: bytes {from}-{}/{}\r\n", of, of + 1),
            _ => "416 x\r\nContent-Range: bytes */6000\r\n".to_string(),
        };
        put(&mut c, format!("HTTP/1.1 {text}\r\n").as_bytes());
    });
    let cases = [
        ("/other", "from byte 0 on where it was asked"),
        ("/silent", "does not say which"),
        ("/total", "changed meanwhile"),
        ("/unsatisfiable", "now says that there are 6000"),
    ];
    s.fails(&options(), &cases, |_| true);
}

#[test]
fn a_server_that_breaks_off_at_once_is_asked_again() {
    let s = serve(|n, _, mut c| if n == 0 { reset(c) } else { put(&mut c, &ok("", b"second")) });
    assert_eq!(fetch(&s.url("/"), options()).unwrap(), b"second");
    let s = serve(|_, _, c| drop(c));
    let e = fetch(&s.url("/"), options()).unwrap_err();
    assert!(matches!(&e, Error::Broken { .. }), "{e}");
    assert_eq!(s.requests().len(), 3);
}

#[test]
fn nobody_listens() {
    let port = {
        let l = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        l.local_addr().unwrap().port()
    };
    let e = fetch(&format!("http://127.0.0.1:{port}/"), options()).unwrap_err();
    assert!(matches!(&e, Error::Connect { message, .. } if message.contains("refused")), "{e}");
}

#[test]
fn closing_ends_the_connection() {
    let (sender, ended) = mpsc::channel();
    let s = serve(move |_, _, mut c| {
        put(&mut c, &ok("", &document())[..1000]);
        // Comes back when the other side has gone.
        let gone = std::io::Read::read(&mut c, &mut [0]);
        let _ = sender.send(matches!(gone, Ok(0) | Err(_)));
    });
    for by_drop in [false, true] {
        let mut source = Source::open(Spec::Url(s.url("/")), options()).unwrap();
        assert!(source.read_blocking(&mut Vec::new(), 10).unwrap() > 0);
        if by_drop {
            drop(source);
        } else {
            source.close();
            source.close();
            assert!(matches!(source.read(&mut Vec::new(), 1), Err(Error::Closed { .. })));
        }
        assert!(ended.recv_timeout(Duration::from_secs(20)).unwrap());
    }
}

#[test]
fn reading_never_waits() {
    let s = serve(|_, _, mut c| {
        put(&mut c, b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc");
        stall(c)
    });
    let mut source = Source::open(Spec::Url(s.url("/")), options()).unwrap();
    let mut out = Vec::new();
    while out.len() < 3 {
        source.read_blocking(&mut out, 100).unwrap();
    }
    for _ in 0..100 {
        match source.read(&mut out, 100).unwrap() {
            Read::Wait(Wait::Ready { read: true, until: Some(t), .. }) => assert!(t > Instant::now()),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn whatever_comes_reading_ends() {
    let s = serve(|n, head, mut c| {
        let mut seed = n as u64 * 2 + 1;
        let mut next = move || {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            seed as usize
        };
        let body = &document()[..2000];
        let mut text = match n % 3 {
            0 => ok("ETag: \"a\"\r\n", body),
            1 => [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nETag: \"a\"\r\n\r\n7d0\r\n", body, b"\r\n0\r\nX: y\r\n\r\n"].concat(),
            _ => ok("Content-Encoding: zstd\r\nETag: \"a\"\r\n", &zstd::stream::encode_all(body, 3).unwrap()),
        };
        if let Some(from) = range(head) {
            text = format!("HTTP/1.1 206 x\r\nContent-Range: bytes {from}-1999/2000\r\nETag: \"a\"\r\n\r\n").into_bytes();
            text.extend_from_slice(&body[from.min(body.len())..]);
        }
        for _ in 0..next() % 4 {
            let at = next() % text.len();
            match next() % 3 {
                0 => text[at] = next() as u8,
                1 => text.truncate(at.max(1)),
                _ => text.insert(at, next() as u8),
            }
        }
        let cut = next() % 500 + 1;
        for piece in text.chunks(cut) {
            put(&mut c, piece);
        }
    });
    let o = Options { retries: 2, ..impatient() };
    let mut good = 0;
    for _ in 0..400 {
        good += usize::from(fetch(&s.url("/"), o.clone()).is_ok());
    }
    assert!(good > 0);
}
