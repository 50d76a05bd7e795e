//! Servers on threads, that answer as a test wants. They live until the test's process ends.

use super::fetch;
use kumi_source::{Error, Options};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

pub struct Server {
    pub port: u16,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// The heads of all requests so far.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    /// Fetches each path: that fails in this way, with an error that says so.
    pub fn fails(&self, options: &Options, paths: &[(&str, &str)], way: impl Fn(&Error) -> bool) {
        for (path, says) in paths {
            let e = fetch(&self.url(path), options.clone()).unwrap_err();
            assert!(way(&e) && e.to_string().contains(says), "{path}: {e}");
        }
    }
}

/// Calls `answer` for each connection with its number, the request's head and the stream, which it closes by dropping it.
pub fn serve(answer: impl Fn(usize, &str, TcpStream) + Send + Sync + 'static) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let requests = Arc::new(Mutex::new(Vec::new()));
    let (answer, noted) = (Arc::new(answer), requests.clone());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let (answer, noted) = (answer.clone(), noted.clone());
            std::thread::spawn(move || {
                let Some(head) = head_of(&mut stream) else { return };
                let number = {
                    let mut all = noted.lock().unwrap();
                    all.push(head.clone());
                    all.len() - 1
                };
                answer(number, &head, stream);
            });
        }
    });
    Server { port, requests }
}

pub fn head_of(stream: &mut impl Read) -> Option<String> {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte).ok()? == 0 {
            return None;
        }
        head.push(byte[0]);
    }
    String::from_utf8(head).ok()
}

/// The path of a request.
pub fn path(head: &str) -> &str {
    head.split(' ').nth(1).unwrap_or("")
}

/// The value of a header of a request.
pub fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().find_map(|l| l.split_once(": ").filter(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v))
}

/// Where a range request begins.
pub fn range(head: &str) -> Option<usize> {
    header(head, "range")?.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok()
}

pub fn ok(fields: &str, body: &[u8]) -> Vec<u8> {
    let mut all = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n{fields}\r\n", body.len()).into_bytes();
    all.extend_from_slice(body);
    all
}

/// Drops the connection with a reset.
pub fn reset(stream: TcpStream) {
    // What is still on its way may arrive first.
    std::thread::sleep(std::time::Duration::from_millis(50));
    let _ = socket2::SockRef::from(&stream).set_linger(Some(std::time::Duration::ZERO));
}

/// Writes, whether or not somebody still listens.
pub fn put(stream: &mut impl Write, bytes: &[u8]) {
    let _ = stream.write_all(bytes);
    let _ = stream.flush();
}
