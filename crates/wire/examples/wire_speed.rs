//! What frames and values cost, in memory: best of several rounds. No figure here is a test.
//!
//! `cargo run --release -p kumi-wire --example wire_speed`

use kumi_wire::{Bytes, Connection, Hello, Lane, Limits, Payload, Reader, Role, Token, Writer, validate};
use std::hint::black_box;
use std::io::IoSlice;
use std::time::Instant;

/// The most bytes that a socket takes or gives at once.
const SOCKET: usize = 256 << 10;

/// What two sockets do: bytes are copied once into a buffer, and read from there.
fn pass(from: &mut Connection, to: &mut Connection, socket: &mut Vec<u8>) {
    while from.has_output() {
        socket.clear();
        while socket.len() < SOCKET {
            let mut slices = [IoSlice::new(&[]); 32];
            let n = from.transmit(&mut slices);
            let before = socket.len();
            for slice in &slices[..n] {
                socket.extend_from_slice(slice);
            }
            let went = socket.len() - before;
            if went == 0 {
                break;
            }
            from.advance(went);
        }
        to.receive(socket).unwrap();
    }
}

fn joined() -> (Connection, Connection, Vec<u8>) {
    let mut a = Connection::new(Role::Caller, Hello::new("east", 1), Limits::default()).unwrap();
    let mut b = Connection::new(Role::Listener, Hello::new("west", 1), Limits::default()).unwrap();
    let mut socket = Vec::new();
    pass(&mut a, &mut b, &mut socket);
    pass(&mut b, &mut a, &mut socket);
    (a, b, socket)
}

/// Nanoseconds of each of `n`, best of seven rounds.
fn best(what: &str, n: usize, bytes: usize, mut round: impl FnMut()) {
    let best = (0..7)
        .map(|_| {
            let begin = Instant::now();
            round();
            begin.elapsed().as_secs_f64()
        })
        .fold(f64::MAX, f64::min);
    let each = best / n as f64 * 1e9;
    println!("{what:<52} {each:>12.1} ns {:>8.2} GB/s", (n * bytes) as f64 / best / 1e9);
}

fn main() {
    for (size, batch) in [(64, 500), (64, 50), (64, 1), (1024, 100)] {
        let (mut a, mut b, mut socket) = joined();
        let message = vec![7; size];
        let n = 200_000;
        best(&format!("messages of {size} bytes, {batch} at once, and grants"), n, size, || {
            for _ in 0..n / batch {
                for _ in 0..batch {
                    a.send_copy(1, 1, Lane::Small, &message).unwrap();
                }
                pass(&mut a, &mut b, &mut socket);
                while let Some(m) = b.next_message() {
                    black_box(&m.payload);
                }
                pass(&mut b, &mut a, &mut socket);
            }
        });
    }
    for size in [64 << 10, 1 << 20, 16 << 20] {
        let (mut a, mut b, mut socket) = joined();
        let message = Bytes::from(vec![7; size]);
        let n = (1 << 30) / size;
        best(&format!("messages of {} KB, 8 MB at once", size >> 10), n, size, || {
            let mut taken = 0;
            let mut left = n;
            while taken < n {
                while left > 0 && a.queued() < 8 << 20 && a.send(1, 1, Lane::Bulk, Payload::from(message.clone())).is_ok() {
                    left -= 1;
                }
                pass(&mut a, &mut b, &mut socket);
                while let Some(m) = b.next_message() {
                    assert_eq!(black_box(m.payload).len(), size);
                    taken += 1;
                }
                pass(&mut b, &mut a, &mut socket);
            }
        });
    }
    let mut small = Vec::new();
    best("a hash of 3 pairs, written", 1_000_000, 0, || {
        for i in 0..1_000_000 {
            small.clear();
            let mut out = Writer::new(&mut small);
            out.map(3);
            for key in ["id", "name", "price"] {
                out.symbol(key);
                out.int(i);
            }
            out.finish();
        }
    });
    let limits = Default::default();
    best("a hash of 3 pairs, read", 1_000_000, 0, || {
        for _ in 0..1_000_000 {
            let mut reader = Reader::new(&small, &limits).unwrap();
            while let Some(token) = reader.next().unwrap() {
                black_box(token);
            }
        }
    });
    let mut large = Vec::new();
    let mut out = Writer::new(&mut large);
    out.array(1_000_000);
    (0..1_000_000).for_each(|i| out.int(i));
    out.finish();
    best("an array of a million integers, checked", 1_000_000, large.len() / 1_000_000, || {
        black_box(validate(&large, &limits).unwrap());
    });
    best("the same, passed over", 1_000_000, large.len() / 1_000_000, || {
        black_box(Reader::new(&large, &limits).unwrap().skip().unwrap());
    });
    best("the same, summed by tokens", 1_000_000, large.len() / 1_000_000, || {
        let mut reader = Reader::new(&large, &limits).unwrap();
        let mut sum = 0;
        while let Some(token) = reader.next().unwrap() {
            if let Token::Int(n) = token {
                sum += n;
            }
        }
        black_box(sum);
    });
}
