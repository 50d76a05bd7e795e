use super::*;
use kumi_chance::Chance;

fn op(c: &mut Chance) -> Op {
    let number = |c: &mut Chance| c.next() >> c.below(64);
    let round = RoundId { number: c.below(5), leader: c.next() };
    let (slot, generation) = (c.next() as u32 >> c.below(32), c.next() as u32 >> c.below(32));
    match c.below(15) {
        0 => Op::Claim { slot, generation, seal: c.next() },
        1 => Op::Granted,
        2 => Op::Refused(c.pick(&ERRORS)),
        3 => Op::Release { slot, generation },
        4 => Op::Settled(number(c)),
        5 => Op::Fenced(number(c)),
        6 => Op::Revoke(number(c)),
        7 => Op::Mark { round, slot, generation },
        8 => {
            let members = (0..c.below(9)).map(|_| Life { node: NodeId(c.next()), incarnation: number(c) }).collect();
            Op::Begin { round, members }
        }
        9 => Op::Probe { round, wave: number(c) },
        10 => {
            let report = Report { void: c.percent(50), verified: c.percent(50), version: number(c), sent: number(c), received: number(c) };
            Op::Report { round, wave: number(c), report }
        }
        11 => Op::Verify { round },
        12 => Op::Sweep { round },
        13 => Op::Want,
        _ => Op::Complain(c.pick(&ERRORS)),
    }
}

fn packet(c: &mut Chance) -> Packet {
    Packet {
        incarnation: 1 + c.below(9),
        epoch: 1 + c.below(9),
        to_incarnation: c.next(),
        to_epoch: c.below(9),
        ask: c.percent(50),
        over: c.below(9),
        number: c.below(1 << 40),
        ack: 1 + c.below(1 << 40),
        settled: c.next(),
        seq: 1 + c.below(1 << 40),
        ops: (0..c.below(40)).map(|_| op(c)).collect(),
    }
}

#[test]
fn packets_travel() {
    let mut c = Chance::new(1);
    for _ in 0..2000 {
        let p = packet(&mut c);
        let bytes = p.encode();
        assert!(bytes.len() <= 100 + p.ops.iter().map(|o| o.size() + 24).sum::<usize>());
        assert_eq!(Packet::decode(&bytes), Ok(p));
    }
}

#[test]
fn other_versions_and_long_packets_are_refused() {
    let mut bytes = packet(&mut Chance::new(2)).encode();
    bytes[0] = VERSION + 1;
    assert!(Packet::decode(&bytes).is_err());
    assert!(Packet::decode(&vec![VERSION; MAX_PACKET + 1]).is_err());
    assert!(Packet::decode(&[]).is_err());
}

/// What is read is what is written: a packet has one encoding for each order of its operations, or it is refused.
#[test]
fn changed_and_random_bytes_are_a_packet_or_refused() {
    let mut c = Chance::new(3);
    let mut read = 0;
    for i in 0..60_000u64 {
        let mut bytes = packet(&mut c).encode();
        if i % 3 == 0 {
            bytes = (0..c.below(80)).map(|_| c.next() as u8).collect();
            bytes.insert(0, VERSION);
        } else {
            for _ in 0..c.between(1, 4) {
                c.spoil(&mut bytes);
            }
        }
        if let Ok(p) = Packet::decode(&bytes) {
            assert!(p.ops.len() <= MAX_OPS);
            assert_eq!(Packet::decode(&p.encode()).as_ref(), Ok(&p));
            read += 1;
        }
    }
    assert!(read > 1000);
}

/// A run of operations without bytes of their own is bounded all the same.
#[test]
fn a_count_is_not_believed() {
    let mut bytes = Packet { ops: Vec::new(), ..packet(&mut Chance::new(4)) }.encode();
    Encoder::new(&mut bytes).byte(14).number(MAX_OPS as u64 + 1);
    assert!(Packet::decode(&bytes).is_err());
}
