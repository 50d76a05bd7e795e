//! Connections: what is sent arrives, however the bytes are cut; who breaks the rules is told so.

mod common;

use common::{Random, joined, pass, sent, settle, small, taken};
use kumi_wire::frame::negotiate;
use kumi_wire::{Bytes, Connection, Ended, Hello, Lane, Limits, Payload, Role, SendError, Trace, WireError, code};

fn trace() -> Trace {
    Trace::parse("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "vendor=x").unwrap()
}

/// A session of one side: hello, messages of all kinds, goodbye. And what comes out of it, as text.
fn session() -> (Vec<u8>, Vec<String>) {
    let (mut a, mut b) = (
        Connection::new(Role::Caller, Hello::new("east", 1), small()).unwrap(),
        Connection::new(Role::Listener, Hello::new("west", 2), small()).unwrap(),
    );
    let mut bytes = Vec::new();
    let mut messages = Vec::new();
    let mut exchange = |a: &mut Connection, b: &mut Connection| {
        while a.has_output() || b.has_output() {
            let part = sent(a, usize::MAX);
            b.receive(&part).unwrap();
            bytes.extend(part);
            messages.extend(taken(b).iter().map(|m| format!("{m:?}")));
            pass(b, a).unwrap();
        }
    };
    exchange(&mut a, &mut b);
    a.send_copy(1, 10, Lane::Control, b"").unwrap();
    a.send_copy(1, 11, Lane::Small, &[1; 1024]).unwrap();
    a.send(7, 12, Lane::Bulk, vec![2; 10_000]).unwrap();
    a.send_traced(8, 13, Lane::Bulk, vec![3; 5000], &trace()).unwrap();
    a.send_traced(2, 14, Lane::Small, vec![4; 5], &trace()).unwrap();
    exchange(&mut a, &mut b);
    a.goodbye(code::DONE, "enough");
    exchange(&mut a, &mut b);
    (bytes, messages)
}

#[test]
fn the_cut_of_the_bytes_never_shows() {
    let (bytes, expected) = session();
    assert_eq!(expected.len(), 5);
    let mut random = Random(11);
    for round in 0..200 {
        let mut b = Connection::new(Role::Listener, Hello::new("west", 2), small()).unwrap();
        let (mut at, mut messages) = (0, Vec::new());
        while at < bytes.len() {
            let n = if round == 0 { 1 } else { 1 + random.below([2, 12, 100, 3000][round % 4]) };
            let end = bytes.len().min(at + n);
            b.receive(&bytes[at..end]).unwrap();
            messages.extend(taken(&mut b).iter().map(|m| format!("{m:?}")));
            sent(&mut b, usize::MAX);
            at = end;
        }
        assert_eq!(messages, expected);
        assert!(matches!(b.ended(), Some(Ended::There(r)) if r.code == code::DONE && r.text == "enough"));
        assert_eq!((b.buffered(), b.streams()), (0, (0, 0)));
    }
}

#[test]
fn random_traffic_arrives_in_order_on_each_stream() {
    for seed in 1..60 {
        let mut random = Random(seed);
        let (mut a, mut b) = joined(small(), small());
        let mut expected: Vec<Vec<Vec<u8>>> = vec![Vec::new(); 12];
        let mut arrived = expected.clone();
        let mut pipes = [Vec::new(), Vec::new()];
        for step in 0..600 {
            let lane = Lane::ALL[random.below(3)];
            let stream = random.below(4);
            let n = if lane == Lane::Bulk { random.below(16 << 10) } else { random.below(900) };
            if step < 400 {
                let bytes = random.bytes(n);
                let done = match random.below(3) {
                    0 => a.send_copy(stream as u32, 1, lane, &bytes),
                    1 => a.send(stream as u32, 1, lane, Payload::pieces(bytes.chunks(300).map(Bytes::copy_from_slice))),
                    _ => a.send_traced(stream as u32, 1, lane, bytes.clone(), &trace()),
                };
                match done {
                    Ok(()) => expected[lane as usize * 4 + stream].push(bytes),
                    Err(SendError::Full | SendError::TooManyStreams) => {}
                    Err(e) => panic!("{e}"),
                }
                if random.below(20) == 0 {
                    b.pause(stream as u32, lane);
                }
            } else {
                Lane::ALL.iter().for_each(|&lane| b.resume(stream as u32, lane));
            }
            assert!(a.queued() <= 2 * small().buffered_max && b.buffered() <= small().buffered_max + 4096);
            for i in 0..2 {
                let (from, to) = if i == 0 { (&mut a, &mut b) } else { (&mut b, &mut a) };
                let room = 1 + random.below(3000);
                pipes[i].extend(sent(from, room));
                let n = random.below(pipes[i].len() + 1);
                to.receive(&pipes[i][..n]).unwrap();
                pipes[i].drain(..n);
            }
            if random.below(4) == 0 {
                for m in taken(&mut b) {
                    arrived[m.lane as usize * 4 + m.stream as usize].push(m.payload.to_vec());
                }
            }
        }
        b.receive(&pipes[0]).unwrap();
        a.receive(&pipes[1]).unwrap();
        while a.has_output() || b.has_output() {
            for m in taken(&mut b) {
                arrived[m.lane as usize * 4 + m.stream as usize].push(m.payload.to_vec());
            }
            settle(&mut a, &mut b).unwrap();
        }
        for m in taken(&mut b) {
            arrived[m.lane as usize * 4 + m.stream as usize].push(m.payload.to_vec());
        }
        assert!(arrived == expected, "seed {seed}");
        settle(&mut a, &mut b).unwrap();
        assert_eq!((a.queued(), b.buffered()), (0, 0), "seed {seed}");
    }
}

#[test]
fn both_sides_forget_streams_that_rest() {
    let (mut a, mut b) = joined(small(), small());
    for stream in 0..10_000 {
        if a.send_copy(stream, 1, Lane::Small, b"one and no more").is_err() {
            settle(&mut a, &mut b).unwrap();
            taken(&mut b);
            settle(&mut a, &mut b).unwrap();
            a.send_copy(stream, 1, Lane::Small, b"one and no more").unwrap();
        }
        assert!(a.streams().0 <= 8 && b.streams().1 <= 8);
    }
    settle(&mut a, &mut b).unwrap();
    taken(&mut b);
    settle(&mut a, &mut b).unwrap();
    // One after another need no other help.
    for stream in 0..10_000 {
        a.send_copy(stream, 1, Lane::Small, b"one and no more").unwrap();
        settle(&mut a, &mut b).unwrap();
        assert_eq!(taken(&mut b).len(), 1);
        settle(&mut a, &mut b).unwrap();
    }
}

#[test]
fn versions() {
    for (ours, theirs, spoken) in [
        ((1, 1), (1, 1), Some(1)),
        ((1, 2), (1, 1), Some(1)),
        ((1, 2), (2, 3), Some(2)),
        ((2, 3), (3, 4), Some(3)),
        ((3, 4), (1, 2), None),
        ((1, 1), (2, 3), None),
        ((1, 9), (4, 5), Some(5)),
    ] {
        assert_eq!(negotiate(ours, theirs), spoken);
        assert_eq!(negotiate(theirs, ours), spoken);
        let hello = |name: &str, versions| Hello { versions, features: 0b110, ..Hello::new(name, 3) };
        let mut a = Connection::new(Role::Caller, hello("east", ours), small()).unwrap();
        let mut b = Connection::new(Role::Listener, Hello { features: 0b011, ..hello("west", theirs) }, small()).unwrap();
        let first = pass(&mut a, &mut b);
        if let Some(version) = spoken {
            pass(&mut b, &mut a).unwrap();
            for side in [&a, &b] {
                let peer = side.peer().unwrap();
                assert_eq!((peer.version, peer.features, peer.hello.incarnation), (version, 0b010, 3));
            }
            continue;
        }
        // Each finds out for itself, and says so to the other.
        assert_eq!(first, Err(WireError::NoCommonVersion { ours: theirs, theirs: ours }));
        let mut answer = Vec::new();
        while b.has_output() {
            answer.extend(sent(&mut b, usize::MAX));
        }
        assert!(b.is_over());
        assert_eq!(a.receive(&answer), Err(WireError::NoCommonVersion { ours, theirs }));
        assert!(answer.ends_with(b"update the older node first"), "{}", answer.escape_ascii());
        assert!(a.peer().is_none() && a.send_copy(1, 1, Lane::Small, b"").is_err());
    }
}

#[test]
fn what_is_no_node_hears_nothing() {
    let mut b = Connection::new(Role::Listener, Hello::new("west", 2), small()).unwrap();
    let e = b.receive(b"GET / HTTP/1.1\r\n").unwrap_err();
    assert_eq!(e.to_string(), "the peer is no Kumihimo node: it began with \"GET / HT\"; is this the right port, and TLS on both sides?");
    assert!(b.is_over());
    assert_eq!(b.receive(b"x"), Err(WireError::Ended));
    // A line's end that was changed on the way.
    let mut b = Connection::new(Role::Listener, Hello::new("west", 2), small()).unwrap();
    assert!(matches!(b.receive(b"\xCBkumi\n\0"), Err(WireError::NotANode { got }) if got == b"\xCBkumi\n\0"));
}

/// What a listener that has read `bytes` after a peer's hello says of them, and what it tells the peer.
fn broken(bytes: &[u8]) -> String {
    let (mut a, mut b) = joined(small(), small());
    let e = b.receive(bytes).unwrap_err();
    let mut answer = Vec::new();
    while b.has_output() {
        answer.extend(sent(&mut b, usize::MAX));
    }
    a.receive(&answer).unwrap();
    assert_eq!(a.ended(), Some(&Ended::There(e.reason())));
    assert!(b.is_over() && a.is_over());
    e.to_string()
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let head = [(payload.len() as u32).to_be_bytes().as_slice(), &[kind, flags], &stream.to_be_bytes()].concat();
    [&head[..], payload].concat()
}

const FIRST: u8 = 4;
const LAST: u8 = 8;
const TRACE: u8 = 16;
const OWN: u8 = 128;

#[test]
fn who_breaks_the_rules_is_told() {
    let first = |total: u32, n: usize| frame(1, 2 | FIRST, 5, &[&total.to_be_bytes()[..], &vec![0; n]].concat());
    let cases: &[(Vec<u8>, &str)] = &[
        (vec![0xFF; 10], "a frame of 4294967295 bytes, where 4096 are allowed"),
        (frame(1, FIRST | LAST, 1, &[0; 1025]), "a frame of 1025 bytes, where 1024 are allowed"),
        (frame(1, 3 | FIRST | LAST, 1, b""), "flags that mean nothing (a frame of kind 1 on stream 1)"),
        (frame(1, 32 | FIRST | LAST, 1, b""), "flags that mean nothing (a frame of kind 1 on stream 1)"),
        (frame(9, OWN, 0, b""), "a frame of an unknown kind (a frame of kind 9 on stream 0)"),
        (frame(1, OWN, 0, b""), "a second hello (a frame of kind 1 on stream 0)"),
        (frame(2, OWN | FIRST, 0, b""), "flags that mean nothing (a frame of kind 2 on stream 0)"),
        (frame(2, OWN, 0, b"12345678"), "a grant that is cut off (a frame of kind 2 on stream 0)"),
        (frame(2, OWN, 0, b"\x03\0\0\0\x01\0\0\0\x01"), "a grant to an unknown lane (a frame of kind 2 on stream 0)"),
        (frame(2, OWN, 0, b"\x01\0\0\0\x01\0\0\0\x01"), "more was granted to stream 1 than was sent on it"),
        (frame(3, OWN, 0, b"1"), "a goodbye without a code (a frame of kind 3 on stream 0)"),
        (frame(1, 2 | LAST, 1, b"x"), "a piece of a message that never began (a frame of kind 1 on stream 1)"),
        (frame(1, 1 | FIRST, 1, b"\0\0\0\x09x"), "a message in pieces on a lane that takes whole ones (a frame of kind 1 on stream 1)"),
        (frame(1, 2 | FIRST, 1, b"\0\0\0"), "a first piece without the message's length (a frame of kind 1 on stream 1)"),
        (first(16 << 20, 10), "a message of 16777216 bytes, where 16384 are allowed"),
        (first(10, 10), "a first piece that does not fit its message (a frame of kind 1 on stream 5)"),
        (first(10, 0), "a first piece that does not fit its message (a frame of kind 1 on stream 5)"),
        ([first(100, 10), first(100, 10)].concat(), "a message within another one (a frame of kind 1 on stream 5)"),
        ([first(100, 10), frame(1, 2 | FIRST | LAST, 5, b"")].concat(), "a message within another one (a frame of kind 1 on stream 5)"),
        ([first(100, 10), frame(1, 2, 5, b"")].concat(), "a piece that does not fit its message (a frame of kind 1 on stream 5)"),
        ([first(100, 10), frame(1, 2, 5, &[0; 90])].concat(), "a piece that does not fit its message (a frame of kind 1 on stream 5)"),
        (
            [first(100, 10), frame(1, 2 | LAST, 5, &[0; 89])].concat(),
            "a piece that does not fit its message (a frame of kind 1 on stream 5)",
        ),
        ([first(100, 10), frame(2, 2 | LAST, 5, &[0; 90])].concat(), "a piece that is of another message (a frame of kind 2 on stream 5)"),
        (frame(1, 1 | FIRST | LAST | TRACE, 1, &[0; 26]), "a trace context that is none (a frame of kind 1 on stream 1)"),
        (frame(1, 1 | FIRST | LAST, 1, &[0; 1000]).repeat(5), "more was sent on stream 1 than its window allows"),
        (frame(1, 1 | FIRST | LAST, 1, b"").repeat(65), "more was sent on stream 1 than its window allows"),
        ((0..9).flat_map(|stream| frame(1, 1 | FIRST | LAST, stream, b"")).collect(), "more than 8 streams in use at once"),
    ];
    for (bytes, expected) in cases {
        assert_eq!(broken(bytes), *expected);
    }
}

#[test]
fn more_than_was_sent_can_not_be_granted() {
    let (mut a, mut b) = joined(small(), small());
    a.send_copy(1, 1, Lane::Small, b"not taken yet").unwrap();
    pass(&mut a, &mut b).unwrap();
    let grant = |bytes: u32| frame(2, OWN, 0, &[&[1, 0, 0, 0, 1][..], &bytes.to_be_bytes()].concat());
    a.receive(&grant(10)).unwrap();
    assert_eq!(a.receive(&grant(u32::MAX)), Err(WireError::GrantOverrun { stream: 1 }));
}

#[test]
fn a_hello_that_can_not_be_is_refused() {
    let mut a = Connection::new(Role::Caller, Hello::new("east", 1), small()).unwrap();
    let good = sent(&mut a, usize::MAX);
    let read = |bytes: &[u8]| Connection::new(Role::Listener, Hello::new("west", 2), small()).unwrap().receive(bytes);
    read(&good).unwrap();
    // Whatever one byte is changed to, nothing worse than an error comes of it; another version may append fields.
    for at in 0..good.len() {
        for byte in [0, 1, 0x7F, 0x80, 0xFF] {
            let mut bytes = good.clone();
            bytes[at] = byte;
            let _ = read(&bytes);
        }
    }
    let mut longer = good.clone();
    longer[11] += 3;
    longer.extend(b"new");
    read(&longer).unwrap();
    let before = read(&[&good[..8], &frame(1, FIRST | LAST, 1, b"x")].concat());
    assert_eq!(before.unwrap_err().to_string(), "a frame before the peer's hello (a frame of kind 1 on stream 1)");
    let huge = read(&[&good[..8], &[0, 1, 0, 0, 1, OWN, 0, 0, 0, 0]].concat());
    assert_eq!(huge.unwrap_err().to_string(), "a frame of 65536 bytes, where 4096 are allowed");
    for name in ["", &"x".repeat(256)] {
        assert!(matches!(Connection::new(Role::Caller, Hello::new(name, 1), small()), Err(WireError::BadSetup(_))));
    }
    assert!(Connection::new(Role::Caller, Hello::new("x", 1), Limits { window: 2000, ..small() }).is_err());
    assert!(Connection::new(Role::Caller, Hello::new("x", 1), Limits { buffered_max: 40_000, ..small() }).is_err());
}

#[test]
fn trace_context_has_the_form_of_the_specification() {
    let text = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    assert_eq!(trace().traceparent(), text);
    assert_eq!(Trace::parse(&format!("01{}-new", &text[2..]), "").unwrap().traceparent(), text);
    for wrong in [
        "",
        &text[..54],
        &format!("{text}-x"),
        &format!("ff{}", &text[2..]),
        &text.to_uppercase(),
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00-4bf92f3577b34da6a3ce929d0e0e473é-00f067aa0ba902b-01",
    ] {
        assert_eq!(Trace::parse(wrong, ""), None, "{wrong}");
    }
    assert_eq!(&*Trace::parse(text, &"x".repeat(513)).unwrap().state, "");
}

#[test]
fn the_end_is_the_end() {
    let (mut a, mut b) = joined(small(), small());
    a.send_copy(1, 1, Lane::Small, b"decided on, so it goes").unwrap();
    a.goodbye(code::OWN + 7, format!("x{}", "é".repeat(600)));
    assert_eq!(a.send_copy(1, 1, Lane::Small, b"x"), Err(SendError::Ended));
    let mut bytes = Vec::new();
    while a.has_output() {
        bytes.extend(sent(&mut a, usize::MAX));
    }
    b.receive(&bytes).unwrap();
    assert_eq!(&*b.next_message().unwrap().payload, b"decided on, so it goes");
    assert_eq!(b.send_copy(1, 1, Lane::Small, b"x"), Err(SendError::Ended));
    let Some(Ended::There(reason)) = b.ended() else { panic!() };
    assert_eq!((reason.code, &reason.text), (1031, &format!("x{}", "é".repeat(511))));
    assert!(a.is_over() && b.is_over());
}
