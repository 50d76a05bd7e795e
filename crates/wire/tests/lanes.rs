//! Who goes first, who waits for whom, and who stops.

mod common;

use common::{joined, pass, sent, settle, small, taken};
use kumi_wire::{Connection, Lane, Limits, Payload, SendError};
use std::sync::Arc;

const MB: usize = 1 << 20;

#[test]
fn a_small_message_waits_for_one_piece_at_most() {
    let (mut a, mut b) = joined(Limits::default(), Limits::default());
    a.send(1, 1, Lane::Bulk, vec![7; 64 * MB]).unwrap();
    let (mut through, mut small, mut whole) = (0, 0, 0);
    while whole == 0 {
        // In the middle of a piece, as a socket that is full leaves it.
        let bytes = sent(&mut a, 50_001);
        through += bytes.len();
        b.receive(&bytes).unwrap();
        pass(&mut b, &mut a).unwrap();
        whole += taken(&mut b).iter().filter(|m| m.lane == Lane::Bulk).count();
        if through % 7 == 0 && through < 63 * MB {
            a.send_copy(1, 2, Lane::Small, &[1; 64]).unwrap();
            let before = through;
            while !taken(&mut b).iter().any(|m| m.lane == Lane::Small) {
                let bytes = sent(&mut a, 1000);
                through += bytes.len();
                b.receive(&bytes).unwrap();
                pass(&mut b, &mut a).unwrap();
            }
            assert!(through - before <= (64 << 10) + 1000 + 74 + 10, "{} bytes went before it", through - before);
            small += 1;
        }
    }
    assert!(small > 20);
    settle(&mut a, &mut b).unwrap();
    // What is owed to the small one is given back with more.
    assert_eq!((a.queued(), b.buffered(), a.streams(), b.streams()), (0, 0, (1, 0), (0, 1)));
}

/// The lanes and streams of messages in the order in which they arrive.
fn order(a: &mut Connection, b: &mut Connection) -> Vec<(Lane, u32)> {
    let mut order = Vec::new();
    while a.has_output() || b.has_output() {
        pass(a, b).unwrap();
        order.extend(taken(b).iter().map(|m| (m.lane, m.stream)));
        pass(b, a).unwrap();
    }
    order
}

#[test]
fn control_goes_before_small_and_small_before_bulk() {
    let (mut a, mut b) = joined(small(), small());
    a.send(1, 1, Lane::Bulk, vec![0; 2000]).unwrap();
    a.send(1, 1, Lane::Small, vec![0; 1000]).unwrap();
    a.send(1, 1, Lane::Control, vec![0; 1000]).unwrap();
    a.send_copy(2, 1, Lane::Small, &[0; 10]).unwrap();
    a.send_copy(2, 1, Lane::Control, &[0; 10]).unwrap();
    let expected = [(Lane::Control, 1), (Lane::Control, 2), (Lane::Small, 1), (Lane::Small, 2), (Lane::Bulk, 1)];
    assert_eq!(order(&mut a, &mut b), expected);
}

#[test]
fn bulk_goes_round_its_streams() {
    let (mut a, mut b) = joined(Limits::default(), Limits::default());
    for stream in 1..=4 {
        a.send(stream, 1, Lane::Bulk, vec![0; 10 * MB]).unwrap();
    }
    a.send(9, 1, Lane::Bulk, vec![0; MB]).unwrap();
    // The shortest one is through when the others have had their turns as well.
    assert_eq!(order(&mut a, &mut b), [9, 1, 2, 3, 4].map(|s| (Lane::Bulk, s)));
}

#[test]
fn bulk_does_not_starve() {
    let (mut a, mut b) = joined(Limits::default(), Limits::default());
    a.send(1, 1, Lane::Bulk, vec![0; MB]).unwrap();
    let mut bytes = 0;
    let done = loop {
        for _ in 0..1000 {
            let _ = a.send_copy(1, 1, Lane::Small, &[0; 100]);
        }
        let part = sent(&mut a, usize::MAX);
        bytes += part.len();
        b.receive(&part).unwrap();
        let bulk = taken(&mut b).iter().any(|m| m.lane == Lane::Bulk);
        pass(&mut b, &mut a).unwrap();
        if bulk {
            break bytes;
        }
    };
    assert!(done < 20 * MB, "{done}");
}

#[test]
fn a_stream_that_nobody_reads_stops_alone() {
    let (mut a, mut b) = joined(small(), small());
    b.pause(1, Lane::Small);
    b.pause(1, Lane::Bulk);
    let (mut stuck, mut passed) = (0, 0);
    for _ in 0..1000 {
        stuck += usize::from(a.send_copy(1, 1, Lane::Small, &[0; 500]).is_ok());
        a.send_copy(2, 1, Lane::Small, &[0; 500]).unwrap();
        let _ = a.send(1, 1, Lane::Bulk, vec![0; 8000]);
        // Each alone, for the pool holds one of them beside the one that is stuck.
        let _ = a.send(2, 1, Lane::Bulk, vec![0; 8000]);
        settle(&mut a, &mut b).unwrap();
        let messages = taken(&mut b);
        assert!(messages.iter().all(|m| m.stream == 2));
        passed += messages.len();
        settle(&mut a, &mut b).unwrap();
        assert!(b.buffered() <= 3 * small().window && a.queued() <= small().buffered_max);
    }
    // What is held there and here.
    assert!(stuck > 0 && stuck <= 2 * small().window / 564, "{stuck}");
    assert!(passed >= 1900, "{passed}");
    b.resume(1, Lane::Small);
    b.resume(1, Lane::Bulk);
    let mut late = 0;
    for _ in 0..100 {
        settle(&mut a, &mut b).unwrap();
        late += taken(&mut b).iter().filter(|m| m.stream == 1 && m.lane == Lane::Small).count();
    }
    assert_eq!(late, stuck);
    assert_eq!((a.queued(), b.buffered()), (0, 0));
}

#[test]
fn a_receiver_that_takes_nothing_stops_the_sender() {
    let (mut a, mut b) = joined(small(), small());
    let mut sizes = [500, 16_000].into_iter().cycle();
    let mut refused = 0;
    for stream in (0..8).cycle().take(10_000) {
        let n = sizes.next().unwrap();
        let lane = if n == 500 { Lane::Small } else { Lane::Bulk };
        match a.send(stream, 1, lane, vec![0; n]) {
            Ok(()) => {}
            Err(SendError::Full | SendError::TooManyStreams) => refused += 1,
            Err(e) => panic!("{e}"),
        }
        settle(&mut a, &mut b).unwrap();
        assert!(b.buffered() <= small().buffered_max && a.queued() <= small().buffered_max);
    }
    assert!(refused > 9000);
    // Who is told of room, tries, and is refused, is told again once there is some.
    a.take_room();
    assert!(a.send(0, 1, Lane::Bulk, vec![0; 16_000]).is_err() && !a.take_room());
    let mut n = 0;
    while !taken(&mut b).is_empty() {
        n += 1;
        settle(&mut a, &mut b).unwrap();
    }
    assert!(n > 1 && a.take_room() && !a.take_room());
    assert_eq!((a.queued(), b.buffered()), (0, 0));
}

#[test]
fn long_messages_wait_for_memory_in_turn() {
    // The pool holds one of them at a time.
    let (mut a, mut b) = joined(Limits { buffered_max: 1 << 20, ..small() }, small());
    for stream in 0..4 {
        a.send(stream, 1, Lane::Bulk, vec![stream as u8; 16_000]).unwrap();
    }
    let mut done = Vec::new();
    for _ in 0..20 {
        settle(&mut a, &mut b).unwrap();
        // The pool, and four windows.
        assert!(b.buffered() <= (20 << 10) + 4 * small().window);
        done.extend(b.next_message().map(|m| (m.stream, m.payload.len())));
    }
    assert_eq!(done, (0..4).map(|s| (s, 16_000)).collect::<Vec<_>>());
}

#[test]
fn a_paused_stream_does_not_stand_in_line_for_memory() {
    let (mut a, mut b) = joined(Limits { buffered_max: 1 << 20, ..small() }, small());
    for stream in 1..=3 {
        a.send(stream, 1, Lane::Bulk, vec![0; 16_000]).unwrap();
    }
    settle(&mut a, &mut b).unwrap();
    // 1 is there, 2 and 3 wait.
    b.pause(2, Lane::Bulk);
    let mut next = || {
        let next = b.next_message().map(|m| m.stream);
        settle(&mut a, &mut b).unwrap();
        next
    };
    assert_eq!([next(), next(), next()], [Some(1), Some(3), None]);
    b.resume(2, Lane::Bulk);
    settle(&mut a, &mut b).unwrap();
    assert_eq!(b.next_message().map(|m| m.stream), Some(2));
}

#[test]
fn long_messages_that_wait_share_the_senders_pool() {
    let (mut a, _) = joined(small(), small());
    for stream in 0..8 {
        a.send(stream, 1, Lane::Bulk, vec![0; 500]).unwrap();
    }
    let taken = (0..8).filter(|&stream| a.send(stream, 1, Lane::Bulk, vec![0; 16_000]).is_ok()).count();
    assert_eq!(taken, 1);
}

#[test]
fn what_is_refused_says_why() {
    let (mut a, _) = joined(small(), Limits { message_max: 8000, ..small() });
    assert_eq!(a.send(1, 1, Lane::Small, vec![0; 1025]), Err(SendError::TooLong { most: 1024 }));
    assert_eq!(a.send(1, 1, Lane::Bulk, vec![0; 8001]), Err(SendError::TooLong { most: 8000 }));
    a.send(1, 1, Lane::Bulk, vec![0; 8000]).unwrap();
    let mut fresh = Connection::new(kumi_wire::Role::Caller, kumi_wire::Hello::new("x", 1), small()).unwrap();
    assert_eq!(fresh.send(1, 1, Lane::Small, vec![]), Err(SendError::NotReady));
}

#[test]
fn pieces_go_out_from_where_they_are() {
    let (mut a, mut b) = joined(Limits::default(), Limits::default());
    let shared: Arc<[u8]> = vec![5; 200_000].into();
    a.send(1, 1, Lane::Bulk, Payload::shared(shared.clone())).unwrap();
    let mut slices = [std::io::IoSlice::new(&[]); 8];
    let n = a.transmit(&mut slices);
    let inside = shared.as_ptr_range();
    assert!(slices[..n].iter().any(|s| s.len() > 60_000 && inside.contains(&s.as_ptr())));
    settle(&mut a, &mut b).unwrap();
    assert_eq!(b.next_message().unwrap().payload, shared[..]);
    assert_eq!(Arc::strong_count(&shared), 1);
}
