//! Nodes in one process, over loopback: segments between them, and connections that end.

mod common;

use bytes::Bytes;
use common::*;
use kumi_link::Options;
use kumi_segments::*;
use std::time::Duration;

#[test]
fn a_segment_is_put_on_another_node_and_taken_from_it() {
    let _dog = watchdog(300);
    let east = Node1::named("east", &[]);
    let west = Node1::named("west", &[&east]);
    west.members(2);
    east.members(2);
    west.put("east", "n", "one");
    west.put("east", "n", vec![2; 100_000]);
    assert_eq!(west.take("east", "n"), "one");
    assert_eq!(west.take("east", "n"), vec![2; 100_000]);
    // The owner is a client of its client.
    east.put("west", "back", "there");
    assert_eq!(east.take("west", "back"), "there");
    // Who waits is answered when it comes.
    let waits = west.ask("east", get("later", Kind::Take, None, true), None);
    assert!(waits.recv_timeout(Duration::from_millis(50)).is_err());
    west.put("east", "later", "now");
    let Ok(Done::Segments(got)) = waits.recv_timeout(HANG).unwrap() else { panic!() };
    assert_eq!(got[0].value, "now");
    // A wait that ends.
    let over = west.ask("east", get("never", Kind::Take, None, true), Some(Duration::from_millis(50)));
    assert_eq!(over.recv_timeout(HANG).unwrap(), Err(Failure::TimedOut));
}

/// Another thread serves the connections, now and then: what it leaves, the link's own does. Nothing is lost, whoever serves.
#[cfg(target_os = "linux")]
#[test]
fn another_thread_serves_now_and_then() {
    use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
    let _dog = watchdog(300);
    let east = Node1::named("east", &[]);
    let west = Node1::named("west", &[&east]);
    west.members(2);
    east.members(2);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let attends = scope.spawn(|| {
            let link = &west.link;
            let poll = mio::Poll::new().unwrap();
            let descriptor = link.descriptor().unwrap();
            let mut poll = poll;
            let (interest, token) = (mio::Interest::READABLE, mio::Token(0));
            poll.registry().register(&mut mio::unix::SourceFd(&descriptor), token, interest).unwrap();
            let mut events = mio::Events::with_capacity(1);
            let mut served = 0;
            for turn in 0.. {
                if stop.load(SeqCst) {
                    break;
                }
                assert!(link.attend());
                for _ in 0..turn % 5 {
                    served += usize::from(link.serve());
                    if link.may_sleep() {
                        poll.poll(&mut events, Some(Duration::from_millis(turn % 3))).unwrap();
                    }
                }
                link.leave();
                if turn % 4 == 0 {
                    std::thread::sleep(Duration::from_micros(100 * (turn % 9)));
                }
            }
            served
        });
        for i in 0..1000u32 {
            west.put("east", "n", i.to_string());
            if i % 10 == 0 {
                east.put("west", "back", i.to_string());
                assert_eq!(west.take("east", "n"), (i / 10).to_string());
            }
        }
        stop.store(true, SeqCst);
        assert!(attends.join().unwrap() > 0);
    });
    assert_eq!(east.take("west", "back"), "0");
    // The end is the link's own thread's, also while another attends.
    assert!(west.link.attend());
    west.link.stop();
    assert!(!west.link.serve() && west.link.may_sleep());
    west.link.leave();
    assert!(!west.link.attend());
}

#[test]
fn leases_are_committed_and_lapse() {
    let _dog = watchdog(300);
    let east = Node1::named("east", &[]);
    let west = Node1::named("west", &[&east]);
    let south = Node1::named("south", &[&east]);
    west.members(3);
    south.members(3);
    west.put("east", "job", "a");
    let Ok(Done::Segments(got)) = west.call("east", get("job", Kind::Take, Some(SECOND / 2), true)) else { panic!() };
    let lease = got[0].lease.unwrap();
    let store = Store { key: b"done".to_vec(), update: false, value: "A".into(), owned: false, delay: None, ttl: None };
    assert_eq!(west.call("east", Call::Commit { leases: vec![lease], outputs: vec![store.clone()] }), Ok(Done::Ok));
    assert_eq!(south.take("east", "done"), "A");
    // A holder that is gone: what it held comes back.
    west.put("east", "job", "b");
    let Ok(Done::Segments(_)) = west.call("east", get("job", Kind::Take, Some(SECOND / 2), true)) else { panic!() };
    drop(west);
    assert_eq!(south.take("east", "job"), "b");
}

#[test]
fn five_nodes_find_each_other_and_pass_a_segment_round() {
    let _dog = watchdog(300);
    let mut nodes = vec![Node1::named("n0", &[])];
    for i in 1..5 {
        let node = Node1::named(&format!("n{i}"), &[&nodes[i / 2]]);
        nodes.push(node);
    }
    nodes.iter().for_each(|n| n.members(5));
    nodes[0].put("n1", "ring", "x");
    for round in 0..3 {
        for i in 1..6 {
            let (here, next) = (format!("n{}", i % 5), format!("n{}", (i + 1) % 5));
            let someone = &nodes[(i + 2) % 5];
            if **someone.link.node().name() == *here || **someone.link.node().name() == *next {
                continue;
            }
            let value = someone.take(&here, "ring");
            someone.put(&next, "ring", value);
        }
        let _ = round;
    }
    // One leaves, and says so.
    let gone = nodes.pop().unwrap();
    drop(gone);
    nodes[0].host.expect("down n4 Left");
    nodes.iter().for_each(|n| n.members(4));
}

#[test]
fn a_node_that_stood_still_for_long_is_reached_again_by_another_connection() {
    let _dog = watchdog(300);
    let east = Node1::named("east", &[]);
    let west = Node1::named("west", &[&east]);
    west.members(2);
    east.members(2);
    west.put("east", "n", "one");
    let still = east.host.still.lock().unwrap();
    let waits = west.ask("east", put("n", "two"), None);
    west.host.expect("down east Failed");
    drop(still);
    west.host.expect("disconnected east");
    west.host.expect("connected east");
    assert!(waits.recv_timeout(HANG).unwrap().is_ok());
    west.members(2);
    east.members(2);
    east.put("west", "n", "back");
}

#[test]
fn nothing_acknowledged_is_lost_when_connections_are_killed() {
    let _dog = watchdog(300);
    // Each is reached by a wire that is cut again and again.
    let ports = [held(), held()];
    let at = |i: usize| format!("127.0.0.1:{}", ports[i].1);
    let cutters = [cutter::Cutter::before(&at(0)), cutter::Cutter::before(&at(1))];
    let options = |i: usize, name: &str| Options {
        listen: vec![at(i)],
        advertise: Some(cutters[i].address.clone()),
        join: vec![cutters[1 - i].address.clone()],
        ..Options::new(name)
    };
    let (east, west) = (Node1::start(options(0, "east")), Node1::start(options(1, "west")));
    west.members(2);
    east.members(2);
    let mut put = 0;
    let mut cuts = 0;
    while cuts < 10 || put % 60 != 0 {
        let asks: Vec<_> = (0..20).map(|i| west.ask("east", common::put("n", Bytes::from(format!("{}", put + i))), Some(HANG))).collect();
        if cuts < 10 && put % 60 == 0 {
            cutters.iter().for_each(cutter::Cutter::cut);
            cuts += 1;
        }
        for a in asks {
            let done = a.recv_timeout(HANG).expect("an answer");
            assert!(matches!(done, Ok(Done::Stored(Some(_)))), "{done:?}");
        }
        put += 20;
    }
    let mut all: Vec<u64> = (0..put).map(|_| std::str::from_utf8(&west.take("east", "n")).unwrap().parse().unwrap()).collect();
    all.sort_unstable();
    assert!(all.iter().copied().eq(0..put), "each once");
    assert_eq!(west.call("east", get("n", Kind::Take, None, false)), Ok(Done::Nothing));
}

#[test]
fn a_large_value_does_not_keep_small_ones_waiting() {
    let _dog = watchdog(300);
    let east = Node1::named("east", &[]);
    let west = Node1::named("west", &[&east]);
    west.members(2);
    let large = Bytes::from(vec![9; 64 << 20]);
    // The way of large values is there.
    west.put("east", "warm", vec![9; 1 << 20]);
    // East stands still with the first of them while the others are sent, the large one before the small ones.
    let still = east.host.still.lock().unwrap();
    let first = west.ask("east", put("first", "f"), None);
    let asked = west.ask("east", put("k", large.clone()), None);
    let small: Vec<_> = (0..3).map(|_| west.ask("east", put("k", "s"), None)).collect();
    drop(still);
    let index = |done| match done {
        Ok(Done::Stored(Some(i))) => i,
        other => panic!("{other:?}"),
    };
    assert_eq!(index(first.recv_timeout(HANG).expect("an answer")), 1);
    let small: Vec<u64> = small.iter().map(|a| index(a.recv_timeout(HANG).expect("an answer"))).collect();
    let last = index(asked.recv_timeout(HANG).expect("an answer"));
    assert!(small.iter().all(|i| *i < last), "{small:?} and {last}");
    small.iter().for_each(|_| assert_eq!(west.take("east", "k"), "s"));
    assert_eq!(west.take("east", "k"), large);
}

#[test]
fn what_is_held_back_goes_soon_and_in_its_order() {
    let _dog = watchdog(300);
    let east = Node1::named("east", &[]);
    let west = Node1::named("west", &[&east]);
    west.members(2);
    west.put("east", "n", "0");
    west.host.among.store(true, std::sync::atomic::Ordering::Relaxed);
    // Nobody sends anything after the last of them, nor says that none follows.
    for some in (1..40).chain([2; 40]).chain([1000]) {
        let asks: Vec<_> = (0..some).map(|i| west.ask("east", put("n", format!("{i}")), None)).collect();
        let index = |done| match done {
            Ok(Done::Stored(Some(i))) => i,
            other => panic!("{other:?}"),
        };
        let all: Vec<u64> = asks.iter().map(|a| index(a.recv_timeout(HANG).expect("an answer"))).collect();
        assert!(all.windows(2).all(|w| w[0] + 1 == w[1]), "{all:?}");
    }
    let asked = west.ask("east", put("n", "x"), None);
    west.link.let_go();
    asked.recv_timeout(HANG).expect("an answer").unwrap();
}

/// Of all sizes. The way of large values is not there when the first of them go.
#[test]
fn large_messages_in_order_arrive_so() {
    let _dog = watchdog(300);
    let east = Node1::named("east", &[]);
    let west = Node1::named("west", &[&east]);
    west.members(2);
    for among in [false, true] {
        west.host.among.store(among, std::sync::atomic::Ordering::Relaxed);
        west.host.in_order.store(true, std::sync::atomic::Ordering::Relaxed);
        let size = |i: u32| [4 << 20, 30 << 10, 10, 300 << 10, 17 << 10][i as usize % 5];
        let value = |i: u32| Bytes::from([&i.to_be_bytes()[..], &vec![7; size(i)]].concat());
        let asks: Vec<_> = (0..60).map(|i| west.ask("east", put("n", value(i)), None)).collect();
        for a in asks {
            a.recv_timeout(HANG).expect("an answer").unwrap();
        }
        west.host.among.store(false, std::sync::atomic::Ordering::Relaxed);
        west.host.in_order.store(false, std::sync::atomic::Ordering::Relaxed);
        let all: Vec<u32> = (0..60).map(|_| u32::from_be_bytes(west.take("east", "n")[..4].try_into().unwrap())).collect();
        assert!(all.iter().copied().eq(0..60), "{all:?}");
    }
}

#[test]
fn two_that_call_each_other_at_once_keep_one_connection() {
    let _dog = watchdog(300);
    for round in 0..10 {
        // Both have the other's address from the start.
        let ports = [held(), held()];
        let at = |i: usize| format!("127.0.0.1:{}", ports[i].1);
        let options = |i: usize, name: &str| Options { listen: vec![at(i)], join: vec![at(1 - i)], ..Options::new(name) };
        let (a, b) = (Node1::start(options(0, "a")), Node1::start(options(1, "b")));
        a.members(2);
        b.members(2);
        let (x, y) = (a.ask("b", put("k", "1"), None), b.ask("a", put("k", "2"), None));
        assert!(x.recv_timeout(HANG).unwrap().is_ok(), "round {round}");
        assert!(y.recv_timeout(HANG).unwrap().is_ok());
    }
}

#[test]
fn a_later_life_replaces_an_earlier_one_which_is_refused() {
    let _dog = watchdog(300);
    let east = Node1::named("east", &[]);
    let join = vec![east.address()];
    let first = Node1::start(Options { incarnation: 1000, join: join.clone(), ..Options::new("west") });
    first.members(2);
    first.put("east", "n", "1");
    drop(first);
    east.host.expect("down west Left");
    let second = Node1::start(Options { incarnation: 2000, join: join.clone(), ..Options::new("west") });
    second.members(2);
    second.put("east", "n", "2");
    assert_eq!(east.link.peer("west").unwrap().incarnation(), 2000);
    drop(second);
    east.host.expect("down west");
    let again = Node1::start(Options { incarnation: 1500, join, ..Options::new("west") });
    let said = again.host.expect("later life");
    assert!(said.contains("2000, not 1500"), "{said}");
}

#[test]
fn a_second_node_of_one_name_hears_of_it_and_takes_nothing() {
    let _dog = watchdog(300);
    let east = Node1::named("east", &[]);
    let west = Node1::named("west", &[&east]);
    west.members(2);
    west.put("east", "n", "1");
    let other = Node1::named("west", &[&east]);
    other.host.expect("conflict west");
    // The first goes on as before.
    west.put("east", "n", "2");
    assert_eq!(west.take("east", "n"), "1");
    assert_eq!(east.link.members().len(), 2);
}

#[test]
fn who_is_sent_away_does_not_come_again_at_once() {
    let _dog = watchdog(300);
    let east = Node1::named("east", &[]);
    let join = vec![east.address()];
    let first = Node1::start(Options { incarnation: 2000, join: join.clone(), ..Options::new("west") });
    first.members(2);
    drop(first);
    east.host.expect("down west");
    let late = Node1::start(Options { incarnation: 1000, join, ..Options::new("west") });
    late.host.expect("later life");
    std::thread::sleep(Duration::from_secs(2));
    let tries = east.host.events.lock().unwrap().iter().filter(|e| e.starts_with("refused west")).count();
    assert!((1..30).contains(&tries), "{tries} attempts in two seconds");
}

#[test]
fn a_connection_for_large_messages_that_breaks_loses_nothing() {
    let _dog = watchdog(300);
    let (_held, port) = held();
    let at = format!("127.0.0.1:{port}");
    let cutter = cutter::Cutter::before(&at);
    let east = Node1::start(Options { listen: vec![at], advertise: Some(cutter.address.clone()), ..Options::new("east") });
    // The lower name calls: all its connections go through the cutter.
    let west = Node1::start(Options { join: vec![cutter.address.clone()], ..Options::new("a-west") });
    west.members(2);
    let value = |i: u32| Bytes::from([&i.to_be_bytes()[..], &vec![7; 1 << 20]].concat());
    for round in 0..8 {
        let asks: Vec<_> = (0..8).map(|i| west.ask("east", put("big", value(round * 8 + i)), None)).collect();
        std::thread::sleep(Duration::from_millis(5));
        cutter.cut_one();
        for a in asks {
            let done = a.recv_timeout(HANG).expect("an answer");
            assert!(matches!(done, Ok(Done::Stored(Some(_)))), "{done:?}");
        }
    }
    let mut all: Vec<u32> = (0..64).map(|_| u32::from_be_bytes(west.take("east", "big")[..4].try_into().unwrap())).collect();
    all.sort_unstable();
    assert!(all.into_iter().eq(0..64), "each once");
    west.host.expect("disconnected east");
    drop(east);
}

#[test]
fn unix_sockets_serve_and_stale_ones_are_replaced() {
    let _dog = watchdog(300);
    let dir = std::env::temp_dir().join(format!("kumi-link-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let path = |n: &str| format!("unix:{}", dir.join(n).display());
    let options = |name: &str| Options { listen: vec![path(name)], ..Options::new(name) };
    // Left behind by a node that was killed.
    drop(std::os::unix::net::UnixListener::bind(dir.join("east")).unwrap());
    let east = Node1::start(options("east"));
    let west = Node1::start(Options { join: vec![path("east")], ..options("west") });
    west.members(2);
    west.put("east", "n", vec![1; 300_000]);
    assert_eq!(west.take("east", "n").len(), 300_000);
    let said = Node1::try_start(options("east")).err().unwrap().to_string();
    assert!(said.contains("another node does"), "{said}");
    std::fs::write(dir.join("file"), "mine").unwrap();
    let said = Node1::try_start(options("file")).err().unwrap().to_string();
    assert!(said.contains("no socket"), "{said}");
    drop((east, west));
    assert!(!dir.join("east").exists());
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn names_are_looked_up_and_ipv6_serves() {
    let _dog = watchdog(300);
    let east = Node1::start(Options { listen: vec!["[::1]:0".into()], ..Options::new("east") });
    assert!(east.address().starts_with("[::1]:"));
    let west = Node1::named("west", &[&east]);
    west.members(2);
    let port = west.address().rsplit_once(':').unwrap().1.to_owned();
    let south = Node1::start(Options { join: vec![format!("tcp://localhost:{port}")], ..Options::new("south") });
    south.members(3);
    south.put("east", "n", "x");
}

#[test]
fn without_tls_a_node_listens_on_loopback_only() {
    let said = Node1::try_start(Options { listen: vec!["0.0.0.0:0".into()], ..Options::new("east") }).err().unwrap().to_string();
    assert!(said.contains("--insecure"), "{said}");
    let told = Options { listen: vec!["0.0.0.0:0".into()], insecure: true, ..Options::new("east") };
    let said = Node1::try_start(told.clone()).err().unwrap().to_string();
    assert!(said.contains("advertise"), "{said}");
    drop(Node1::start(Options { advertise: Some("127.0.0.1:7000".into()), ..told }));
}

mod cutter {
    //! A proxy whose connections can be cut.
    use std::io::{Read, Write};
    use std::net::{Shutdown, TcpListener, TcpStream};
    use std::sync::{Arc, Mutex};

    pub struct Cutter {
        pub address: String,
        streams: Arc<Mutex<Vec<TcpStream>>>,
    }

    impl Cutter {
        pub fn before(address: &str) -> Cutter {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let to = address.to_owned();
            let streams: Arc<Mutex<Vec<TcpStream>>> = Arc::default();
            let (mine, here) = (streams.clone(), listener.local_addr().unwrap().to_string());
            std::thread::spawn(move || {
                for a in listener.incoming().flatten() {
                    let Ok(b) = TcpStream::connect(&to) else { continue };
                    mine.lock().unwrap().extend([a.try_clone().unwrap(), b.try_clone().unwrap()]);
                    for (mut from, mut to) in [(a.try_clone().unwrap(), b.try_clone().unwrap()), (b, a)] {
                        std::thread::spawn(move || {
                            let mut buffer = [0; 4096];
                            while let Ok(n @ 1..) = from.read(&mut buffer) {
                                if to.write_all(&buffer[..n]).is_err() {
                                    break;
                                }
                            }
                            let _ = to.shutdown(Shutdown::Both);
                        });
                    }
                }
            });
            Cutter { address: here, streams }
        }

        /// The connection that was made last.
        pub fn cut_one(&self) {
            if let Some(s) = self.streams.lock().unwrap().pop() {
                let _ = s.shutdown(Shutdown::Both);
            }
        }

        pub fn cut(&self) {
            for s in self.streams.lock().unwrap().drain(..) {
                let _ = s.shutdown(Shutdown::Both);
            }
        }
    }
}

#[test]
fn what_was_said_before_the_stop_arrives() {
    let _dog = watchdog(300);
    let east = Node1::named("east", &[]);
    let west = Node1::named("west", &[&east]);
    west.members(2);
    west.put("east", "k", "the first");
    // More than the connection has room for while east stands still.
    let still = east.host.still.lock().unwrap();
    let asked: Vec<_> = (0..100).map(|_| west.ask("east", put("k", vec![7; 15 << 10]), None)).collect();
    drop(still);
    west.link.stop();
    drop(asked);
    east.host.expect("disconnected west");
    let node = east.host.node.lock().unwrap();
    let key = node.manager().find_key(b"k").unwrap();
    assert_eq!(node.manager().len(key), 101);
}

/// The way of large messages is not there when the first of them are sent, and full when they have been.
#[test]
fn who_waits_for_room_hears_of_it() {
    let _dog = watchdog(300);
    let east = Node1::named("east", &[]);
    let west = Node1::named("west", &[&east]);
    west.members(2);
    let peer = west.link.peer("east").unwrap();
    let full = |large| west.link.when_drained(&peer, large);
    for large in [false, true] {
        assert!(!full(large), "nothing waits yet");
        let message = Bytes::from(vec![17; if large { 4 << 20 } else { 10 << 10 }]);
        let still = east.host.still.lock().unwrap();
        let first = west.ask("east", put("first", "f"), None);
        let mut bytes = 0;
        while !full(large) || bytes < 64 << 20 {
            west.link.send(&peer, message.clone()).unwrap();
            bytes += message.len();
            assert!(bytes < 200 << 20, "{bytes} bytes wait, and there is room");
        }
        drop(still);
        west.host.expect("drained east");
        assert!(first.recv_timeout(HANG).unwrap().is_ok());
        assert!(!full(large), "it said so");
    }
}
