//! Bytes from who means no good: no panic, and memory stays within limits.
//!
//! `KUMI_FUZZ_SECONDS=3600 KUMI_TEST_SEED=7 cargo test -p kumi-wire --test hostile` goes on for an hour from seed 7 on.

mod common;

use common::{Random, joined, sent, small, taken};
use kumi_chance::held::{Counting, peak};
use kumi_wire::value::Limits as ValueLimits;
use kumi_wire::{Connection, Decoder, Hello, Lane, Reader, Role, Tree, Writer, validate};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Rounds with seeds of their own: as many, or for as long as the environment says.
fn rounds(n: u64, mut round: impl FnMut(&mut Random)) {
    let number = |name: &str| std::env::var(name).ok().map(|v| v.parse::<u64>().expect(name));
    let first = number("KUMI_TEST_SEED").unwrap_or(1);
    let end = number("KUMI_FUZZ_SECONDS").map(|s| std::time::Instant::now() + std::time::Duration::from_secs(s));
    for seed in first.. {
        let over = end.map_or(seed - first >= n, |end| std::time::Instant::now() >= end);
        if over {
            break;
        }
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| round(&mut random)));
        if let Err(e) = caught {
            eprintln!("KUMI_TEST_SEED={seed} shows it");
            std::panic::resume_unwind(e);
        }
    }
}

fn damage(random: &mut Random, bytes: &[u8]) -> Vec<u8> {
    let mut out = bytes.to_vec();
    for _ in 0..1 + random.below(3) {
        let at = random.below(out.len() + 1);
        let end = (at + random.below(20)).min(out.len());
        match random.below(7) {
            0 => out.truncate(at),
            1 | 2 if at < out.len() => out[at] ^= 1 << random.below(8),
            3 if at < out.len() => out[at] = [0, 1, 0x7F, 0x80, 0xC7, 0xDD, 0xDF, 0xFF][random.below(8)],
            4 => {
                out.drain(at..end);
            }
            5 => {
                let part = out[at..end].to_vec();
                out.splice(at..at, part);
            }
            _ => {
                let n = random.below(9);
                let part = random.bytes(n);
                out.splice(at..at, part);
            }
        }
    }
    out
}

/// Everything that is done with a value from outside.
fn read_all_ways(bytes: &[u8]) {
    let limits = ValueLimits { depth: 100, string: 1 << 16, items: 1 << 16, shapes: 50, members: 500 };
    let (checked, most) = peak(|| validate(bytes, &limits));
    // A word for each open container, names, and what the error says.
    assert!(most <= 100 * 8 * 4 + 50 * 64 + 500 * 32 + 1024, "{most} for {} bytes", bytes.len());
    let (tree, most) = peak(|| Tree::decode(bytes, &limits));
    assert!(most <= 20_000 + 300 * bytes.len(), "{most} for {} bytes", bytes.len());
    assert_eq!(tree.is_ok(), checked.is_ok(), "{bytes:?}");
    if let Ok(tree) = tree {
        let shown = tree.to_string();
        assert!(!shown.is_empty());
        let again = Tree::decode(&tree.encode(), &limits).unwrap();
        assert_eq!(again.encode(), tree.encode());
    }
    if let Ok(mut reader) = Reader::new(bytes, &limits) {
        let mut out = Vec::new();
        let mut writer = Writer::new(&mut out);
        if let Ok(range) = reader.skip() {
            let copied = writer.copy(reader.bytes(range), reader.names());
            if checked.is_ok() {
                copied.unwrap();
                writer.finish();
                assert_eq!(validate(&out, &limits), checked);
            }
        }
    }
    let mut fields = Decoder::new(bytes);
    while !fields.is_empty() {
        let before = fields.clone();
        let _ = (before.clone().key().is_ok(), before.clone().signed().is_ok(), before.clone().maybe().is_ok());
        if fields.bytes(1 << 16).is_err() && fields.number().is_err() && fields.byte().is_err() {
            break;
        }
    }
}

#[test]
fn damaged_values() {
    rounds(2500, |random| {
        let bytes = random.tree(4).encode();
        for _ in 0..10 {
            let damaged = damage(random, &bytes);
            read_all_ways(&damaged);
        }
        let n = random.below(200);
        let noise = random.bytes(n);
        read_all_ways(&noise);
    });
}

/// A caller's side of a session, with traffic of all kinds.
fn session(random: &mut Random) -> Vec<u8> {
    let mut a = Connection::new(Role::Caller, Hello::new("east", 1), small()).unwrap();
    let mut b = Connection::new(Role::Listener, Hello::new("west", 2), small()).unwrap();
    let mut bytes = Vec::new();
    for _ in 0..6 {
        for _ in 0..random.below(6) {
            let lane = Lane::ALL[random.below(3)];
            let n = if lane == Lane::Bulk { random.below(9000) } else { random.below(300) };
            let _ = a.send(random.below(5) as u32, random.below(4) as u8, lane, random.bytes(n));
            let _ = b.send(random.below(5) as u32, random.below(4) as u8, lane, random.bytes(n));
        }
        while a.has_output() || b.has_output() {
            let part = sent(&mut a, usize::MAX);
            b.receive(&part).unwrap();
            bytes.extend(part);
            taken(&mut b);
            let part = sent(&mut b, usize::MAX);
            a.receive(&part).unwrap();
            taken(&mut a);
        }
    }
    if random.below(2) == 0 {
        a.goodbye(0, "done");
        bytes.extend(sent(&mut a, usize::MAX));
    }
    bytes
}

/// What a connection with these limits may hold.
fn most() -> usize {
    let limits = small();
    // Payloads both ways, twice where a deque or a buffer has grown; buffers that messages are slices of.
    4 * limits.buffered_max + 18 * (64 << 10) + 2 * limits.streams_max * 1024
}

#[test]
fn damaged_sessions() {
    rounds(1500, |random| {
        let whole = session(random);
        let bytes = if random.below(8) == 0 { whole } else { damage(random, &whole) };
        let (step, takes, answers, pauses) = (1 + random.below(5000), random.below(3), random.below(3), random.below(2) == 0);
        let ((), held) = peak(|| {
            let mut b = Connection::new(Role::Listener, Hello::new("west", 2), small()).unwrap();
            if pauses {
                b.pause(1, Lane::Small);
                b.pause(2, Lane::Bulk);
            }
            let mut ended = false;
            for part in bytes.chunks(step) {
                let result = b.receive(part);
                assert!(!ended || result.is_err());
                ended |= result.is_err() || b.ended().is_some();
                for _ in 0..takes * 5 {
                    b.next_message();
                }
                let _ = b.send_copy(random.below(20) as u32, 1, Lane::Small, b"an answer");
                if answers > 0 {
                    sent(&mut b, usize::MAX);
                }
                assert!(b.buffered() <= small().buffered_max + 2 * small().frame_max + (64 << 10));
            }
            while b.has_output() {
                sent(&mut b, 1000);
            }
            b.resume(1, Lane::Small);
            b.resume(2, Lane::Bulk);
            taken(&mut b);
        });
        assert!(held <= most(), "{held} of {}", most());
    });
}

/// A peer that keeps to the form of frames, and to nothing else: it reads nothing, and sends whatever might cost the most.
#[test]
fn a_peer_that_only_sends() {
    rounds(300, |random| {
        let kind = random.below(7);
        let ((), held) = peak(|| {
            let (_, mut b) = joined(small(), small());
            let mut stream = 0u32;
            for _ in 0..3000 {
                stream = stream.wrapping_add(1);
                let (flags, own, payload): (u8, u8, Vec<u8>) = match kind {
                    // Streams without end; empty messages; long ones that never end.
                    0 | 5 => (1 | 4 | 8, 1, vec![0; 10]),
                    1 => (1 | 4 | 8, 1, vec![]),
                    2 => (2 | 4, 1, [&16_000u32.to_be_bytes()[..], &[0; 10]].concat()),
                    3 => (128, 2, [&[1][..], &stream.to_be_bytes(), &[0, 0, 0, 1]].concat()),
                    4 => (2 | 4 | 8, 1, vec![0; random.below(1024)]),
                    _ => ([4, 8, 12, 20, 128][random.below(5)] | random.below(3) as u8, random.below(4) as u8, vec![1; random.below(1024)]),
                };
                let stream = if kind == 3 || random.below(9) == 0 { 0 } else { stream };
                let head = [(payload.len() as u32).to_be_bytes().as_slice(), &[own, flags], &stream.to_be_bytes()].concat();
                if b.receive(&[head, payload].concat()).is_err() {
                    break;
                }
                if kind == 5 || random.below(2) == 0 {
                    b.next_message();
                }
                // Written to a socket that takes nothing.
                b.transmit(&mut [std::io::IoSlice::new(&[])]);
                assert!(b.queued() <= 16 << 10, "{}", b.queued());
            }
        });
        assert!(held <= most(), "{held} of {}", most());
    });
}

/// Messages of two pieces that are through before memory is set aside for them, while others wait for it.
#[test]
fn who_waits_for_memory_is_in_line_once() {
    let piece = |flags: u8, stream: u8, bytes: &[u8]| [&[0, 0, 0, bytes.len() as u8, 1, flags, 0, 0, 0, stream][..], bytes].concat();
    let first = |stream, total: u32| piece(2 | 4, stream, &[&total.to_be_bytes()[..], &[0; 10]].concat());
    let (_, mut b) = joined(small(), small());
    b.receive(&[first(1, 16_000), first(2, 16_000)].concat()).unwrap();
    let ((), held) = peak(|| {
        for _ in 0..20_000 {
            b.receive(&[first(3, 20), piece(2 | 8, 3, &[0; 10])].concat()).unwrap();
            assert_eq!(taken(&mut b).len(), 1);
            sent(&mut b, usize::MAX);
        }
    });
    assert!(held < 128 << 10, "{held}");
}

/// One short message in each buffer, among pieces of long ones, and nobody takes any.
#[test]
fn short_messages_do_not_hold_long_buffers() {
    const LONG: usize = 1 << 20;
    let limits = kumi_wire::Limits::default();
    let (mut a, mut b) = joined(limits.clone(), limits);
    let ((), held) = peak(|| {
        for _ in 0..40 {
            a.send(1, 1, Lane::Bulk, vec![0; LONG]).unwrap();
            while a.has_output() || b.has_output() {
                let _ = a.send_copy(1, 1, Lane::Small, b"short");
                let mut bytes = sent(&mut a, usize::MAX);
                // Cut so that each short message is gathered with half a piece after it.
                bytes.extend(sent(&mut a, 30_000));
                b.receive(&bytes).unwrap();
                let back = sent(&mut b, usize::MAX);
                a.receive(&back).unwrap();
            }
        }
    });
    assert!(held < 40 * LONG + (6 << 20), "{held}");
    assert!(taken(&mut b).len() > 500);
}
