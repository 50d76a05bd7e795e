//! Histories as they are written, and as they come out of broken files.

use kumi_history::{History, Options, Outcome, Reader, Rule, What, check};

#[test]
fn lines_tell_of_an_operation_as_it_goes_on() {
    let text = "\n{\"process\":\"a/1\",\"op\":1,\"call\":\"take\",\"key\":\"b/q\",\"start\":5}\n\
        {\"process\":\"a/1\",\"op\":1,\"value\":\"x\\n\\u0041\",\"held\":9,\"note\":true}\n\
        {\"mark\":\"killed\",\"scope\":\"a\",\"start\":12,\"text\":\"by us\"}\n\
        {\"process\":\"a/1\",\"op\":2,\"call\":\"put\",\"key\":\"b/q\",\"value\":17,\"start\":1,\"end\":3,\"outcome\":\"ok\",\"index\":1}\n\
        {\"process\":\"a/1\",\"op\":1,\"end\":20,\"outc";
    let h = History::read(text.as_bytes()).unwrap();
    assert_eq!(
        h.ops.iter().map(|o| (o.number, o.start, o.end, o.outcome)).collect::<Vec<_>>(),
        [(2, 1, Some(3), Outcome::Ok), (1, 5, None, Outcome::Unknown)]
    );
    assert_eq!(h.ops[1].value.map(|v| h.name(v)), Some("x\nA"));
    assert_eq!((h.marks[0].what, h.marks[0].end, h.name(h.marks[0].text)), (What::Killed, 12, "by us"));
    assert!(check(&h, &Options::default()).wrong.iter().all(|w| w.rule == Rule::Invented));
}

#[test]
fn what_is_no_history_is_refused_with_its_line() {
    for (text, line) in [
        ("{}\n", 1),
        ("\n[1]\n", 2),
        ("{\"process\":\"a\",\"op\":1}\n", 1),
        ("{\"process\":\"a\",\"op\":1,\"call\":\"steal\"}\n", 1),
        ("{\"process\":\"a\",\"op\":99999999999999999999999}\n", 1),
        ("{\"mark\":\"lost\"}\n", 1),
        ("{\"mark\":\"lost\",\"start\":2,\"end\":1}\n", 1),
        ("\n{\"process\":\"a\",\"op\":1,\"call\":\"put\",\"key\":\"k\",\"start\":2,\"end\":1}\n", 2),
        ("{\"a\":\"\\q\"}\n", 1),
    ] {
        let e = History::read(text.as_bytes()).unwrap_err();
        assert_eq!(e.line, line, "{text}: {e}");
    }
    let long = format!("{{\"process\":\"{}\"}}\n", "x".repeat(1 << 17));
    assert!(History::read(long.as_bytes()).is_err());
}

#[test]
fn no_bytes_make_it_panic() {
    let text = "{\"process\":\"a/1\",\"op\":1,\"call\":\"take\",\"key\":\"b/q\",\"value\":3,\"start\":5,\"held\":6,\"end\":7,\"outcome\":\"ok\",\"index\":2}\n\
        {\"mark\":\"fault\",\"scope\":\"a\",\"start\":1,\"end\":3}\n";
    let mut seed = 7u64;
    for _ in 0..20_000 {
        let mut bytes = text.repeat(2).into_bytes();
        for _ in 0..4 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let at = (seed >> 33) as usize % bytes.len().max(1);
            if bytes.is_empty() {
                break;
            }
            match seed >> 13 & 3 {
                0 => bytes[at] = (seed >> 20) as u8,
                1 => drop(bytes.remove(at)),
                2 => bytes.insert(at, b"0918\"{}:,"[(seed >> 24) as usize % 9]),
                _ => bytes.truncate(at + 1),
            }
        }
        if let Ok(h) = History::read(&*bytes) {
            let report = check(&h, &Options { states: 1000, ..Options::default() });
            assert!(!format!("{report}").is_empty());
        }
    }
}

#[test]
fn a_history_may_be_spread_over_files() {
    let mut reader = Reader::default();
    reader.read(&b"{\"process\":\"a/1\",\"op\":1,\"call\":\"put\",\"key\":\"b/q\",\"value\":1,\"start\":1,\"end\":2,\"outcome\":\"ok\"}\n{\"pro"[..]).unwrap();
    reader
        .read(
            &b"{\"process\":\"b/1\",\"op\":1,\"call\":\"take\",\"key\":\"b/q\",\"value\":1,\"start\":1,\"end\":4,\"outcome\":\"ok\"}\n"[..],
        )
        .unwrap();
    let h = reader.finish().unwrap();
    assert_eq!(h.ops.len(), 2);
    assert!(check(&h, &Options::default()).wrong.is_empty());
}

/// Probes of one node at another, each of `long` milliseconds.
fn probes(at: impl Iterator<Item = u64>, long: u64) -> String {
    at.enumerate()
        .map(|(n, t)| {
            let (start, end) = (t * 1_000_000, (t + long) * 1_000_000);
            format!("{{\"process\":\"a/p\",\"op\":{n},\"call\":\"update\",\"key\":\"b/s\",\"value\":{n},\"start\":{start},\"end\":{end},\"outcome\":\"ok\"}}\n")
        })
        .collect()
}

#[test]
fn after_a_fault_calls_are_to_succeed_in_time() {
    let fault = "{\"mark\":\"fault\",\"scope\":\"b\",\"start\":1000000000,\"end\":2000000000,\"text\":\"stood still\"}\n";
    for (resumes, right) in [(2500, true), (3900, true), (4200, false)] {
        let text = probes((0..10).map(|i| i * 100), 5) + fault + &probes((0..60).map(|i| resumes + i * 100), 5).replace("a/p", "a/q");
        let report = check(&History::read(text.as_bytes()).unwrap(), &Options::default());
        let wrong: Vec<_> = report.wrong.iter().map(|w| w.rule).filter(|r| *r != Rule::Distinct).collect();
        assert_eq!(wrong, if right { vec![] } else { vec![Rule::Recovery] }, "{resumes}: {report}");
        assert_eq!(report.figures.recoveries[0].1, (resumes + 5 - 2000) * 1_000_000);
    }
}

/// A put whose answer was lost may be done after the one who asked has given up.
#[test]
fn what_ended_unknown_may_have_been_done_later() {
    let line = |who: &str, call: &str, value: u64, more: &str| {
        format!("{{\"process\":\"{who}\",\"op\":1,\"call\":\"{call}\",\"key\":\"b/out\",\"value\":{value},{more}}}\n")
    };
    let text = line("a/p", "put", 1, "\"commit\":1,\"start\":1000,\"outcome\":\"unknown\",\"end\":2000")
        + &line("a/q", "put", 2, "\"start\":3000,\"outcome\":\"ok\",\"end\":4000")
        + &line("a/r", "take", 2, "\"start\":5000,\"outcome\":\"ok\",\"index\":1,\"end\":6000")
        + &line("a/s", "take", 1, "\"start\":7000,\"outcome\":\"ok\",\"index\":2,\"end\":8000");
    let report = check(&History::read(text.as_bytes()).unwrap(), &Options::default());
    assert!(report.wrong.is_empty(), "{report}");
}
