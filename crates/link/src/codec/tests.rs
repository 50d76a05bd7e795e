use super::owner::WHATS;
use super::*;
use kumi_segments::{
    Ask, Back, Body, Call, Done, Event, FromClient, FromOwner, KeyStats, Kind, Put, Refusal, RemoteSegment, Reply, Stored, Watch,
};

fn bytes(out: &mut Out) -> Bytes {
    let mut whole = Vec::new();
    let mut wire = kumi_wire::Connection::new(kumi_wire::Role::Caller, kumi_wire::Hello::new("a", 1), Default::default()).unwrap();
    let mut peer = kumi_wire::Connection::new(kumi_wire::Role::Listener, kumi_wire::Hello::new("b", 1), Default::default()).unwrap();
    let pass = |from: &mut kumi_wire::Connection, to: &mut kumi_wire::Connection| {
        loop {
            let mut slices = [std::io::IoSlice::new(&[]); 8];
            let n = from.transmit(&mut slices);
            let bytes: Vec<u8> = slices[..n].iter().flat_map(|s| s.iter()).copied().collect();
            if bytes.is_empty() {
                return;
            }
            to.receive(&bytes).unwrap();
            from.advance(bytes.len());
        }
    };
    pass(&mut wire, &mut peer);
    pass(&mut peer, &mut wire);
    let len = out.len();
    wire.send(1, 1, kumi_wire::Lane::Bulk, out.payload()).unwrap();
    for _ in 0..4 {
        pass(&mut wire, &mut peer);
        pass(&mut peer, &mut wire);
    }
    whole.extend_from_slice(&peer.next_message().unwrap().payload);
    assert_eq!(whole.len(), len);
    whole.into()
}

fn values() -> Vec<Bytes> {
    [0, 1, CUT - 1, CUT, KEEP, 300_000].iter().map(|n| Bytes::from(vec![*n as u8; *n])).collect()
}

fn client_messages() -> Vec<FromClient<Bytes>> {
    let store = |key: &str, value: Bytes| Store { key: key.into(), update: false, value, owned: true, delay: Some(7), ttl: None };
    let mut calls = vec![
        Call::Get(Ask {
            inputs: vec![(b"a".to_vec(), Kind::Take, None), (vec![0, 255], Kind::Peek, Some(u64::MAX))],
            lease: Some(0),
            wait: true,
        }),
        Call::Get(Ask { inputs: Vec::new(), lease: None, wait: false }),
        Call::Commit { leases: vec![1, u64::MAX], outputs: values().into_iter().map(|v| store("k", v)).collect() },
        Call::GiveBack { lease: 3, left: Back::Same },
        Call::GiveBack { lease: 3, left: Back::Unseen },
        Call::GiveBack { lease: 3, left: Back::Changed(Bytes::from_static(b"left")) },
        Call::Extend { leases: vec![9], long: u64::MAX },
        Call::Leave(77),
        Call::Names { prefix: b"n".to_vec(), after: None, most: u32::MAX },
        Call::Names { prefix: Vec::new(), after: Some(Vec::new()), most: 0 },
        Call::Stats(b"key".to_vec()),
        Call::Limit(b"key".to_vec(), 12),
        Call::Watch(Watch::Begin { watch: u64::MAX, key: b"key".to_vec(), most: 1000 }),
        Call::Watch(Watch::Next(1)),
        Call::Watch(Watch::End(0)),
    ];
    calls.extend(values().into_iter().map(|v| Call::Put(Put { store: store("put", v), wait: true })));
    let mut bodies: Vec<Body<Bytes>> = calls.into_iter().enumerate().map(|(n, c)| Body::Call(n as u64, c)).collect();
    bodies.push(Body::Receipts);
    bodies.push(Body::Sync { number: 4, upto: u64::MAX, outstanding: (0..1000).collect() });
    bodies.into_iter().map(|body| FromClient { incarnation: 5, owner: u64::MAX, session: 6, got: vec![1, 2, 300], body }).collect()
}

fn owner_messages() -> Vec<FromOwner<Bytes>> {
    let segment = |(n, value): (usize, Bytes)| RemoteSegment {
        index: 1 << n,
        value,
        owned: n % 2 == 0,
        changed: n % 3 == 0,
        deliveries: u32::MAX,
        lease: (n % 2 == 0).then_some(u64::MAX - 3),
    };
    let stats = KeyStats { segments: 1, delayed: 2, leased: 3, waiting: 4, waiting_puts: 5, last_index: 6, limit: 7.try_into().ok() };
    let mut results = vec![
        Ok(Done::Stored(None)),
        Ok(Done::Stored(Some(u64::MAX))),
        Ok(Done::Segments(values().into_iter().enumerate().map(segment).collect())),
        Ok(Done::Nothing),
        Ok(Done::Ok),
        Ok(Done::Left(None)),
        Ok(Done::Left(Some(Stored::Later))),
        Ok(Done::Left(Some(Stored::At(9)))),
        Ok(Done::Names((0..2000u32).map(|n| n.to_string().into_bytes()).collect())),
        Ok(Done::Stats(stats)),
        Ok(Done::Stats(KeyStats::default())),
        Ok(Done::Events(Vec::new())),
        Ok(Done::Events(
            WHATS
                .into_iter()
                .zip(values())
                .map(|(what, v)| Event { what, index: 9, value: (!v.is_empty()).then_some(v), missed: 70 })
                .collect(),
        )),
    ];
    results.extend([Refusal::Full, Refusal::LeaseOver, Refusal::Stale { last: 8 }, Refusal::Quota, Refusal::Bad].map(Err));
    results.extend([Refusal::Leaving, Refusal::Moved, Refusal::NotAllowed].map(Err));
    let mut bodies: Vec<Reply<Bytes>> = results.into_iter().map(|r| Reply::Answer(3, r)).collect();
    bodies.push(Reply::Fenced);
    bodies.push(Reply::Welcome { sync: None, session: 0 });
    bodies.push(Reply::Welcome { sync: Some(1), session: u64::MAX });
    bodies.into_iter().map(|body| FromOwner { incarnation: 1, client: 2, sent: 3, body }).collect()
}

#[test]
fn messages_come_as_they_went() {
    let mut out = Out::default();
    for m in client_messages() {
        out.clear();
        encode_client(&m, &mut out);
        assert_eq!(decode_client(&bytes(&mut out)).unwrap(), m);
    }
    for m in owner_messages() {
        out.clear();
        encode_owner(&m, &mut out);
        assert_eq!(decode_owner(&bytes(&mut out)).unwrap(), m);
    }
}

#[test]
fn a_put_of_64_bytes_takes_little_more() {
    let store = Store { key: b"jobs".to_vec(), update: false, value: vec![7; 64].into(), owned: false, delay: None, ttl: None };
    let body = Body::Call(1000, Call::Put(Put { store, wait: false }));
    let mut out = Out::default();
    out.clear();
    encode_client(&FromClient { incarnation: 1 << 60, owner: 1 << 60, session: 1, got: vec![999], body }, &mut out);
    assert_eq!(out.len(), 64 + 32);
}

#[test]
fn hostile_bytes_are_refused() {
    let mut seed = 0x2545_F491_4F6C_DD1D_u64;
    let mut next = move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    let mut out = Out::default();
    let mut recorded = Vec::new();
    for m in client_messages() {
        out.clear();
        encode_client(&m, &mut out);
        recorded.push(bytes(&mut out));
    }
    for m in owner_messages() {
        out.clear();
        encode_owner(&m, &mut out);
        recorded.push(bytes(&mut out));
    }
    let both = |b: Bytes| {
        let _ = decode_client(&b);
        let _ = decode_owner(&b);
    };
    for b in recorded.iter().filter(|b| b.len() < 20_000) {
        for cut in 0..b.len().min(400) {
            both(b.slice(..cut));
        }
        for _ in 0..300 {
            let mut bytes = b.to_vec();
            for _ in 0..1 + next() % 4 {
                let at = next() as usize % bytes.len().min(128);
                bytes[at] = next() as u8;
            }
            both(bytes.into());
        }
    }
    for _ in 0..20_000 {
        let n = next() as usize % 60;
        let mut b: Vec<u8> = (0..n).map(|_| next() as u8).collect();
        if let Some(first) = b.first_mut() {
            *first = VERSION;
        }
        both(b.into());
    }
    // A count that is not believed.
    let mut huge = vec![VERSION];
    huge.extend([0; 17]);
    huge.extend([0xFF, 0xFF, 0x0F]);
    assert!(decode_client(&huge.into()).is_err());
    assert!(decode_client(&Bytes::from_static(&[9])).is_err());
}

#[test]
fn a_short_value_does_not_keep_its_buffer() {
    let buffer = Bytes::from(vec![1u8; 40_000]);
    let store = |n: usize| Store { key: b"k".to_vec(), update: false, value: buffer.slice(..n), owned: false, delay: None, ttl: None };
    for n in [64, 20_000] {
        let mut out = Out::default();
        out.clear();
        let body = Body::Call(1, Call::Put(Put { store: store(n), wait: false }));
        encode_client(&FromClient { incarnation: 1, owner: 1, session: 1, got: Vec::new(), body }, &mut out);
        let payload = bytes(&mut out);
        let Body::Call(_, Call::Put(put)) = decode_client(&payload).unwrap().body else { panic!() };
        let within = payload.as_ptr_range().contains(&put.store.value.as_ptr());
        assert_eq!(within, n == 20_000);
    }
}

#[test]
fn the_hosts_own_messages_come_as_they_went() {
    for n in [0, 1, 100, CUT - 1, CUT, KEEP + 1, 300_000] {
        let sent = Bytes::from(vec![7; n]);
        let mut out = Out::default();
        out.clear();
        out.other(&sent);
        assert_eq!(out.len(), n + 1);
        assert_eq!(decode_other(&bytes(&mut out)), Ok(sent));
    }
    assert!(decode_other(&Bytes::new()).is_err());
    assert!(decode_other(&Bytes::from_static(&[2, 1])).is_err());
}
