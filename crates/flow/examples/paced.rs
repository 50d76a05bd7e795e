//! What the policies make of a paced wire: rows over a loopback connection at some rates; for every policy the time from a
//! row's last byte being sent to its being read (median, 99 %, worst, and of the first row), the waits, the batches
//! and the processor time of the reader. `cargo run --release -p kumi-flow --example paced [Mbps..]`

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use kumi_flow::{Entry, Options, Policy, Poll, Registry, Root, Wait};
use kumi_source::{Descriptor, Source, Spec};
use kumi_xml::schema::parse_path;
use kumi_xml::{Field, Schema};

const ROW: usize = 500;
const PIECE: usize = 4096;
const SECONDS: f64 = 1.0;

fn processor_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(text.split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0))
}

fn wait(wait: Wait) {
    match wait {
        Wait::Ready { fd, read, write, until } => {
            let events = if read { libc::POLLIN } else { 0 } | if write { libc::POLLOUT } else { 0 };
            let mut poll = libc::pollfd { fd, events, revents: 0 };
            let time = until.map(|u| u.saturating_duration_since(Instant::now()));
            let time = time.map(|t| libc::timespec { tv_sec: t.as_secs() as _, tv_nsec: t.subsec_nanos() as _ });
            let time = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
            // SAFETY: one valid descriptor record, a time that is null or lives through the call.
            unsafe { libc::ppoll(&mut poll, 1, time, std::ptr::null()) };
        }
        Wait::Until(time) => std::thread::sleep(time.saturating_duration_since(Instant::now())),
        Wait::Job(job) => job.run(),
        Wait::Push => {}
    }
}

fn run(policy: Policy, mbps: f64) {
    let rate = mbps * 1e6 / 8.0;
    let rows = (rate * SECONDS / ROW as f64) as usize;
    let mut text = b"<t>".to_vec();
    let mut ends = Vec::with_capacity(rows);
    for i in 0..rows {
        let row = format!("<r><k>{i}</k><v>");
        text.extend_from_slice(row.as_bytes());
        text.resize(text.len() + ROW - row.len() - 8, b'x');
        text.extend_from_slice(b"</v></r>");
        ends.push(text.len());
    }
    text.extend_from_slice(b"</t>");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let ours = TcpStream::connect(listener.local_addr().expect("an address")).expect("a connection");
    let (mut theirs, _) = listener.accept().expect("a connection");
    theirs.set_nodelay(true).expect("a socket");
    let began = Instant::now();
    let due = move |byte: usize| began + Duration::from_secs_f64(byte.div_ceil(PIECE) as f64 * PIECE as f64 / rate);
    let server = std::thread::spawn(move || {
        for (i, piece) in text.chunks(PIECE).enumerate() {
            let at = due((i + 1) * PIECE);
            std::thread::sleep(at.saturating_duration_since(Instant::now()));
            if theirs.write_all(piece).is_err() {
                return;
            }
        }
    });
    let mut b = Schema::builder();
    let row = b.class("Row");
    b.field(row, Field::new("k"));
    b.field(row, Field::new("v"));
    b.root_path(parse_path("/t/r", &[]).expect("a path"), row);
    let registry = Registry::new(None);
    let spec = Spec::Fd { fd: Descriptor::Owned(OwnedFd::from(ours)), initial: Vec::new(), name: None };
    let source = Source::open(spec, kumi_source::Options::default()).expect("a socket");
    let document = registry.open(source, b.build().expect("a schema"), Options { policy, ..Options::default() });
    let producer = document.producer.clone();
    let Root::List(list) = document.root else { return };
    let mut cursor = list.cursor(true).expect("nobody has read it");
    drop(list);
    let (mut late, mut at) = (Vec::with_capacity(rows), 0);
    let busy = processor_time();
    loop {
        let poll = cursor.next_batch(256, |entry| {
            if let Entry::Row(row) = entry {
                std::hint::black_box(row.view().text(0));
                late.push(Instant::now().saturating_duration_since(due(ends[at])));
                at += 1;
            }
            true
        });
        match poll.expect("well-formed") {
            Poll::Ready(0) => break,
            Poll::Ready(_) => {}
            Poll::Wait(what, _) => wait(what),
            Poll::Busy(_) => std::thread::yield_now(),
        }
    }
    let busy = processor_time() - busy;
    let standing = producer.standing();
    let first = late.first().copied().unwrap_or_default();
    late.sort_unstable();
    let us = |d: Duration| d.as_micros();
    println!(
        "{mbps:6} Mbps {policy:9?}: median {:6} us, 99% {:6} us, worst {:6} us, first {:6} us; {:6} waits, {:6} batches, {:5.1} ms of processor, {:?}, buffer {} rows, switches {:?}",
        us(late[late.len() / 2]),
        us(late[late.len() * 99 / 100]),
        us(late[late.len() - 1]),
        us(first),
        standing.measures.waits,
        standing.measures.batches,
        busy.as_secs_f64() * 1e3,
        standing.speed,
        standing.buffer_rows,
        standing.switches,
    );
    drop(cursor);
    let _ = server.join();
}

fn main() {
    let rates: Vec<f64> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    for mbps in if rates.is_empty() { vec![21.0, 68.0, 250.0, 1000.0] } else { rates } {
        for policy in [Policy::Small, Policy::Large, Policy::Paper, Policy::Adaptive] {
            run(policy, mbps);
        }
    }
}
