//! It behaves like a Vec, alone and in parallel mode.

use super::*;

/// Runs the same random changes on a Vec and a RaceVec.
fn compare(seed: u64) {
    let mut r = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = move |n: usize| {
        r ^= r << 13;
        r ^= r >> 7;
        r ^= r << 17;
        (r % n.max(1) as u64) as usize
    };
    let mut v: Vec<u64> = Vec::new();
    let mut w: RaceVec<u64, 3> = RaceVec::new();
    for step in 0..400u64 {
        let n = v.len();
        match next(14) {
            0..=3 => {
                v.push(step);
                w.push(step);
            }
            4 => assert_eq!(v.pop(), w.pop()),
            5 | 6 => assert_eq!(if n == 0 { None } else { Some(v.remove(0)) }, w.shift()),
            7 => {
                let more = [step, step + 1, step + 2];
                v.splice(0..0, more);
                w.unshift(&more);
            }
            8 => {
                let (at, k) = (next(n + 1), next(5));
                let k = k.min(n - at);
                let more = vec![step; next(5)];
                v.splice(at..at + k, more.iter().copied());
                w.splice(at, k, &more);
            }
            9 => {
                let more = vec![step; next(9)];
                v.extend_from_slice(&more);
                if step % 2 == 0 {
                    w.extend_from_slice(&more);
                } else {
                    let other: RaceVec<u64, 3> = more.iter().copied().collect();
                    let mut told = Vec::new();
                    w.extend_seen(other.seen(), |vs| told.extend_from_slice(vs));
                    assert_eq!(told, more);
                }
            }
            10 => {
                v.retain(|x| x % 3 != 0);
                w.retain(|x| x % 3 != 0);
            }
            11 => w.shrink_to_fit(),
            12 => {
                let k = next(n + 6);
                v.resize(k, 7);
                w.resize(k, 7);
            }
            _ => {
                let s = v[..n / 2].to_vec();
                v = s.clone();
                if step % 2 == 0 {
                    w.assign(&s);
                } else {
                    let other: RaceVec<u64, 3> = s.iter().copied().collect();
                    let mut told = Vec::new();
                    w.assign_seen(other.seen(), |vs| told.extend_from_slice(vs));
                    assert_eq!(told, s);
                }
            }
        }
        assert_eq!(v, w.to_vec(), "seed {seed} step {step}");
    }
    assert_eq!(w.clone().to_vec(), v);
}

#[test]
fn behaves_like_a_vec_alone_and_in_parallel_mode() {
    for seed in 1..60 {
        compare(seed);
    }
    let list = deferred::Deferred::default();
    // SAFETY: unbound before `list` goes.
    unsafe { deferred::bind(Some(&list)) };
    for seed in 1..60 {
        compare(seed);
    }
    assert!(list.bytes() > 0);
    // SAFETY: as above; nobody else reads.
    unsafe {
        deferred::bind(None);
        list.free_all();
    }
}

#[test]
fn what_is_seen_is_appended_whole_and_takes_the_place_of_the_elements() {
    let numbers: RaceVec<u64, 3> = (0..1000).collect();
    let mut v: RaceVec<u64, 3> = (0..5).collect();
    let mut told = Vec::new();
    v.extend_seen(numbers.seen(), |vs| told.extend_from_slice(vs));
    assert!(v.seen().from(5).same(numbers.seen()) && numbers.to_vec() == told);
    v.assign_seen(numbers.seen().from(900), |_| ());
    assert!(v.to_vec() == told[900..]);
    // Its own elements move while they are appended.
    for _ in 0..4 {
        let w: RaceVec<u64, 3> = RaceVec::clone(&v);
        // SAFETY: as in `sizes_and_self_extension`.
        let own = unsafe { Seen::new(v.seen().place(), v.len()) };
        v.extend_seen(own, |_| ());
        assert!(v.seen().from(w.len()).same(w.seen()) && v.seen().part(0..w.len()).same(w.seen()));
    }
    // SAFETY: as above.
    let part = unsafe { Seen::new(v.seen().place().wrapping_add(7), 20) };
    let was = part.to_vec();
    v.assign_seen(part, |_| ());
    assert_eq!(v.to_vec(), was);
    let w: RaceVec<u64, 3> = {
        let copied: RaceVec<u64, 3> = RaceVec::from_slice(&was);
        let mut unseen = RaceVec::unseen(copied.seen());
        unseen.slice().reverse();
        unseen.done()
    };
    assert!(w.seen().iter().rev().eq(was));
}

#[test]
fn two_runs_are_merged_and_equals_keep_their_order() {
    for (n, mid) in [(0, 0), (1, 0), (1, 1), (2, 1), (8, 4), (9, 4), (9, 9), (100, 50), (101, 3)] {
        let mut r = n as u64 + 1;
        let mut next = |i: u64| {
            r = r.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (r >> 60) << 8 | i
        };
        let mut v: Vec<u64> = (0..n as u64).map(&mut next).collect();
        let key = |x: u64| x >> 8;
        v[..mid].sort_by_key(|x| key(*x));
        v[mid..].sort_by_key(|x| key(*x));
        let mut w: RaceVec<u64, 3> = v.iter().copied().collect();
        w.merge(mid, key);
        v.sort_by_key(|x| key(*x));
        assert_eq!(w.to_vec(), v, "{n} {mid}");
    }
}

#[test]
fn sizes_and_self_extension() {
    assert_eq!(size_of::<RaceVec<u8, 24>>(), 32);
    assert_eq!(size_of::<RaceVec<u64, 3>>(), 32);
    assert_eq!(size_of::<RaceVec<u64, 0>>(), 8);
    let mut v: RaceVec<u8, 24> = RaceVec::from_slice(b"0123456789012345678901234567890");
    // SAFETY: the slice is alive during the call; `extend_from_slice` copies it first.
    let s = unsafe { std::slice::from_raw_parts(v.as_ptr(), v.len()) };
    v.extend_from_slice(s);
    assert_eq!(v.len(), 62);
    assert_eq!(v[..31], v[31..]);
}

/// Whatever is done to a vector of bytes in parallel mode, a look at it stays as it was.
#[test]
fn bytes_that_were_published_stay() {
    let list = deferred::Deferred::default();
    // SAFETY: unbound before `list` goes.
    unsafe { deferred::bind(Some(&list)) };
    let changes: [fn(&mut RaceVec<u8, 24>); 14] = [
        |v| v.push(b'x'),
        |v| assert!(v.pop().is_some()),
        |v| assert!(v.shift().is_some()),
        |v| v.unshift(b"yz"),
        |v| v.splice(0, 1, b"q"),
        |v| v.splice(1, 1, b"long enough to leave the cell"),
        |v| v.truncate(1),
        |v| v.clear(),
        |v| v.extend_from_slice(b"more"),
        |v| v.assign(b"else"),
        |v| v.keep(1..v.len().max(1)),
        |v| v.edit(|s| s.reverse()),
        |v| v.fill(0, 2, b'#'),
        |v| v.shrink_to_fit(),
    ];
    for n in [1, 5, 24, 25, 60] {
        for (i, one) in changes.iter().enumerate() {
            for (j, two) in changes.iter().enumerate() {
                let mut v: RaceVec<u8, 24> = (0..n).map(|k| b'A' + k).collect();
                let mut seen: Vec<(*const [u8], Vec<u8>)> = Vec::new();
                for change in [one, two, one] {
                    seen.push((&raw const *v.as_slice(), v.as_slice().to_vec()));
                    if v.len() > 1 {
                        change(&mut v);
                    }
                }
                for (look, was) in seen {
                    // SAFETY: nothing is freed while the list is bound.
                    assert_eq!(unsafe { &*look }, was, "{n} bytes, changes {i} and {j}");
                }
            }
        }
    }
    // SAFETY: as above; nobody else reads.
    unsafe {
        deferred::bind(None);
        list.free_all();
    }
}
