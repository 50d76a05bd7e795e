//! What a message costs between two nodes of one process: round trips, pipelined puts, large values. No figure here is a test.
//!
//! `cargo run --release -p kumi-link --example link_speed [seconds [trips]]`; with the second, round trips only.

use bytes::Bytes;
use kumi_link::{Host, Link, Options, Peer, Tls, Why};
use kumi_segments::*;
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender as Tx, channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

/// The number of the large puts beside which small ones are timed.
const LARGE: u64 = 1 << 40;

/// Answers every put, and keeps nothing.
#[derive(Default)]
struct Owner(OnceLock<Link>);

impl Host for Owner {
    fn started(&self, link: &Link) {
        let _ = self.0.set(link.clone());
    }
    fn from_client(&self, peer: &Peer, m: FromClient<Bytes>) {
        let Body::Call(number, _) = m.body else { return };
        let body = Reply::Answer(number, Ok(Done::Stored(Some(number))));
        let _ = self.0.get().unwrap().send(peer, FromOwner { incarnation: 1, client: m.incarnation, sent: kumi_link::now(), body });
    }
    fn from_owner(&self, _: &Peer, _: FromOwner<Bytes>) {}
    fn connected(&self, _: &Peer) {}
    fn disconnected(&self, _: &Peer, _: &Why) {}
}

/// Counts answers, or sends the next put when one comes, or tells another thread.
#[derive(Default)]
struct Asker {
    link: OnceLock<Link>,
    up: AtomicBool,
    answers: AtomicU64,
    plays: AtomicBool,
    began: Mutex<Option<Instant>>,
    times: Mutex<Vec<u64>>,
    tells: Mutex<Option<Tx<()>>>,
}

fn put(number: u64, value: &Bytes) -> FromClient<Bytes> {
    let store = Store { key: b"n".to_vec(), update: false, value: value.clone(), owned: false, delay: None, ttl: None };
    let body = Body::Call(number, Call::Put(Put { store, wait: false }));
    FromClient { incarnation: 1 << 60, owner: 1 << 60, session: 1, got: vec![number], body }
}

fn small() -> Bytes {
    static VALUE: [u8; 64] = [7; 64];
    Bytes::from_static(&VALUE)
}

impl Host for Asker {
    fn started(&self, link: &Link) {
        let _ = self.link.set(link.clone());
    }
    fn from_client(&self, _: &Peer, _: FromClient<Bytes>) {}
    fn from_owner(&self, peer: &Peer, m: FromOwner<Bytes>) {
        if matches!(m.body, Reply::Answer(LARGE, _)) {
            return;
        }
        let n = self.answers.fetch_add(1, Ordering::Release);
        if self.plays.load(Ordering::Relaxed) {
            let now = Instant::now();
            if let Some(began) = self.began.lock().unwrap().replace(now) {
                self.times.lock().unwrap().push((now - began).as_nanos() as u64);
            }
            let _ = self.link.get().unwrap().send(peer, put(n, &small()));
        } else if let Some(tx) = &*self.tells.lock().unwrap() {
            let _ = tx.send(());
        }
    }
    fn connected(&self, _: &Peer) {
        self.up.store(true, Ordering::Release);
    }
    fn disconnected(&self, _: &Peer, why: &Why) {
        eprintln!("{why}");
    }
}

fn show(what: &str, mut times: Vec<u64>) {
    times.sort_unstable();
    if times.is_empty() {
        return println!("{what:<44} nothing came");
    }
    let at = |p: f64| times[((times.len() - 1) as f64 * p) as usize] as f64 / 1000.0;
    println!("{what:<44} p50 {:6.1} us   p99 {:7.1} us   {} round trips", at(0.5), at(0.99), times.len());
}

/// A message with its length, sent back by a thread that waits for readiness, to one that does.
fn raw_echo(long: Duration) {
    use mio::{Events, Interest, Poll, Token};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let a = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (b, _) = listener.accept().unwrap();
    let done = Arc::new(AtomicBool::new(false));
    let run = |socket: std::net::TcpStream, first: bool, done: Arc<AtomicBool>| {
        socket.set_nodelay(true).unwrap();
        socket.set_nonblocking(true).unwrap();
        let mut socket = socket2::Socket::from(socket);
        let mut poll = Poll::new().unwrap();
        let fd = socket.as_raw_fd();
        poll.registry().register(&mut mio::unix::SourceFd(&fd), Token(0), Interest::READABLE).unwrap();
        let (mut events, mut times, mut began) = (Events::with_capacity(8), Vec::new(), Instant::now());
        let mut message = [0u8; 68];
        message[..4].copy_from_slice(&64u32.to_be_bytes());
        if first {
            socket.write_all(&message).unwrap();
        }
        let mut buffer = vec![0; 128 << 10];
        while !done.load(Ordering::Relaxed) {
            poll.poll(&mut events, Some(Duration::from_millis(50))).unwrap();
            let Ok(n @ 1..) = socket.read(&mut buffer) else { continue };
            assert_eq!(n, 68);
            let now = Instant::now();
            times.push((now - began).as_nanos() as u64);
            began = now;
            let _ = socket.write_all(&buffer[..n]);
        }
        times
    };
    let (d, e) = (done.clone(), done.clone());
    let first = std::thread::spawn(move || run(a, true, d));
    let second = std::thread::spawn(move || run(b, false, e));
    std::thread::sleep(long);
    done.store(true, Ordering::Relaxed);
    show("raw framed echo, an epoll thread on each side", first.join().unwrap());
    second.join().unwrap();
}

struct Pair {
    east: Link,
    west: Link,
    asker: Arc<Asker>,
    peer: Peer,
}

/// Certificates of one authority for both.
fn certificates() -> [Option<Tls>; 2] {
    let key = rcgen::KeyPair::generate().unwrap();
    let mut params = rcgen::CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let ca = params.self_signed(&key).unwrap().pem();
    let issuer = rcgen::Issuer::new(params, key);
    ["east", "west"].map(|name| {
        let key = rcgen::KeyPair::generate().unwrap();
        let cert = rcgen::CertificateParams::new(vec![name.to_owned()]).unwrap().signed_by(&key, &issuer).unwrap();
        Some(Tls::from_pem(cert.pem().as_bytes(), key.serialize_pem().as_bytes(), ca.as_bytes()).unwrap())
    })
}

fn pair(listen: [String; 2], [t, u]: [Option<Tls>; 2]) -> Pair {
    let (owner, asker) = (Arc::new(Owner::default()), Arc::new(Asker::default()));
    let [l, m] = listen;
    let east = Link::start(Options { listen: vec![l], tls: t, ..Options::new("east") }, owner).unwrap();
    let join = vec![east.listening()[0].clone()];
    let west = Link::start(Options { listen: vec![m], join, tls: u, ..Options::new("west") }, asker.clone()).unwrap();
    while west.members().len() < 2 || !asker.up.load(Ordering::Acquire) {
        std::thread::sleep(Duration::from_millis(1));
    }
    let peer = west.peer("east").unwrap();
    Pair { east, west, asker, peer }
}

fn measure(what: &str, p: &Pair, long: Duration) {
    // The next put is sent by whoever gets the answer.
    p.asker.plays.store(true, Ordering::Relaxed);
    p.west.send(&p.peer, put(0, &small())).unwrap();
    std::thread::sleep(long);
    p.asker.plays.store(false, Ordering::Relaxed);
    std::thread::sleep(Duration::from_millis(20));
    show(&format!("{what}: put of 64 B, from the host"), std::mem::take(&mut p.asker.times.lock().unwrap()));
    if std::env::args().nth(2).is_some() {
        return;
    }

    // A thread of the program asks and waits.
    let (tx, rx) = channel();
    *p.asker.tells.lock().unwrap() = Some(tx);
    let (until, mut times) = (Instant::now() + long, Vec::new());
    while Instant::now() < until {
        let began = Instant::now();
        p.west.send(&p.peer, put(0, &small())).unwrap();
        rx.recv().unwrap();
        times.push(began.elapsed().as_nanos() as u64);
    }
    *p.asker.tells.lock().unwrap() = None;
    show(&format!("{what}: put of 64 B, from a thread"), times);

    for (size, window) in [(64, 2000), (1024, 1000), (64 << 10, 64), (1 << 20, 16)] {
        let value = Bytes::from(vec![7; size]);
        let before = p.asker.answers.load(Ordering::Acquire);
        let (began, until, mut sent) = (Instant::now(), Instant::now() + long, 0u64);
        while Instant::now() < until {
            while sent - (p.asker.answers.load(Ordering::Acquire) - before) >= window {
                std::thread::sleep(Duration::from_micros(50));
            }
            for _ in 0..window.min(64) / 8 {
                p.west.send(&p.peer, put(sent, &value)).unwrap();
                sent += 1;
            }
        }
        while p.asker.answers.load(Ordering::Acquire) - before < sent {
            std::thread::sleep(Duration::from_micros(50));
        }
        let seconds = began.elapsed().as_secs_f64();
        println!(
            "{:<44} {:10.0} a second, {:6.3} GB/s",
            format!("{what}: pipelined puts of {size} B"),
            sent as f64 / seconds,
            sent as f64 * size as f64 / seconds / 1e9
        );
    }

    // A small one beside large ones.
    let value = Bytes::from(vec![7; 64 << 20]);
    let stop = Arc::new(AtomicBool::new(false));
    let times = std::thread::scope(|scope| {
        let (s, v) = (stop.clone(), &value);
        let large = Arc::new(AtomicUsize::new(0));
        scope.spawn(move || {
            while !s.load(Ordering::Relaxed) {
                if p.peer.backlog() < 64 << 20 {
                    p.west.send(&p.peer, put(LARGE, v)).unwrap();
                    large.fetch_add(1, Ordering::Relaxed);
                }
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        p.asker.plays.store(true, Ordering::Relaxed);
        p.west.send(&p.peer, put(0, &small())).unwrap();
        std::thread::sleep(long);
        p.asker.plays.store(false, Ordering::Relaxed);
        stop.store(true, Ordering::Relaxed);
        std::mem::take(&mut *p.asker.times.lock().unwrap())
    });
    while p.peer.backlog() > 0 {
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(100));
    show(&format!("{what}: 64 B beside 64 MB"), times);
}

fn main() {
    let seconds: f64 = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(1.0);
    let long = Duration::from_secs_f64(seconds);
    raw_echo(long);
    let tcp = || "127.0.0.1:0".to_owned();
    let p = pair([tcp(), tcp()], [None, None]);
    measure("TCP", &p, long);
    raw_echo(long);
    p.west.stop();
    p.east.stop();
    let p = pair([tcp(), tcp()], certificates());
    measure("TLS", &p, long);
    p.west.stop();
    p.east.stop();
    let dir = std::env::temp_dir().join(format!("kumi-link-speed-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let unix = |n: &str| format!("unix:{}", dir.join(n).display());
    let p = pair([unix("east"), unix("west")], [None, None]);
    measure("Unix", &p, long);
    p.west.stop();
    p.east.stop();
    let _ = std::fs::remove_dir_all(&dir);
}
