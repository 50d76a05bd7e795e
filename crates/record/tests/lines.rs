//! What stands in a recording.

use kumi_record::{Allocated, By, Collected, Recorder, mark, needs};
use std::sync::Arc;

fn bytes(bytes: u64, freed: u64) -> Allocated {
    Allocated { bytes, freed }
}

/// The lines, with all processor times taken out.
fn lines(text: &str) -> Vec<String> {
    let plain = |w: &&str| !w.starts_with(['c', 'o']) || w.contains(|c: char| c.is_ascii_alphabetic() && c != 'c' && c != 'o');
    text.lines().map(|l| l.split(' ').filter(plain).collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn steps_stand_in_lines_of_their_actors() {
    let folder = std::env::temp_dir().join(format!("kumi-record-{}", std::process::id()));
    for name in ["", "a/b", "..", "a b"] {
        assert!(Recorder::create(&folder, name).is_err(), "{name:?}");
    }
    let r = Arc::new(Recorder::create(&folder, "east").unwrap());
    // Nothing is written down before the program begins.
    assert_eq!((r.sends("west", 9), mark()), (0, 0));
    r.begin(1, bytes(100, 0));
    r.collection(bytes(100, 0));
    r.collected(Collected::Full, 500, 400, bytes(100, 0));
    r.born(2);
    assert_eq!(r.sends("west", 64), 1);
    r.waits(1, 1, 7, true);
    r.leaves(bytes(300, 50));
    r.takes_up(2, bytes(300, 50));
    // A message ends the wait: its handling stands between.
    let marked = r.receives("west", 5, || {
        r.rings(1, 7);
        mark()
    });
    r.ends_by(By::Bell);
    r.ended(1, 7);
    r.ends_by(By::Actor);
    r.over(2);
    r.leaves(bytes(310, 50));
    r.takes_up(1, bytes(310, 50));
    needs(marked);
    r.joins(2);
    needs(0);
    r.ends_by(By::Time);
    for (number, for_others) in [(8, true), (9, false)] {
        r.waits(1, 1, number, for_others);
        r.ended(1, number);
    }
    // One that is over ends nothing; another number is another wait.
    r.ended(1, 9);
    r.ends_by(By::Actor);
    r.end(bytes(400, 60));
    // Nor is anything afterwards.
    assert_eq!((r.sends("west", 9), mark()), (0, 0));
    let text = std::fs::read_to_string(r.path()).unwrap();
    let lines = lines(&text);
    assert_eq!(lines[..2], ["kumi-recording 1", "node east"]);
    assert!(lines[2].starts_with("begin ") && lines.last().unwrap().split(' ').count() == 4, "{text}");
    let steps: Vec<String> = lines[3..lines.len() - 1].iter().map(|l| without_times(l)).collect();
    assert_eq!(
        steps,
        ["t1 F 500/400 b2 s1>west:64 a200 n50", "t2", "h0 wwest/5 v1.7 m1", "t1 w1.7", "t2 d2 a10", "t1 q1 j2 y z a90 n10"],
        "{text}"
    );
    std::fs::remove_dir_all(folder).unwrap();
}

/// `F12/500/400` is `F 500/400`, `z123` is `z`.
fn without_times(line: &str) -> String {
    let word = |w: &str| match w.as_bytes().first() {
        Some(b'F') => format!("F {}", w.split_once('/').map_or("", |p| p.1)),
        Some(b'z' | b'y') => w[..1].to_owned(),
        _ => w.to_owned(),
    };
    line.split(' ').map(word).collect::<Vec<_>>().join(" ")
}
