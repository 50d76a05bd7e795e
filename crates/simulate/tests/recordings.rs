//! Recordings of nodes as one trace: what waits for what, and what is wrong with a file.

use kumi_chance::Chance;
use kumi_schedule::Policy;
use kumi_simulate::recording::{As, Costs, Joined, Recording, join};
use kumi_simulate::{Options, Setting, replay};

/// Two nodes. The first asks, with a message that a handler of the second hands to a thread that waits; the thread answers.
const EAST: &str = "kumi-recording 1\nnode east\nbegin 1000\n\
t1 c500 F2000/3000/1000 c1000000 a8192 n4096 s1>west:64\n\
h0 wwest/1 o300 v1.5\n\
t1 w1.5 o200 c4000 a4096 Y700/9000/3000 F3000/9000/3000\n\
end 9000000 1500000 600000\n";
const WEST: &str = "kumi-recording 1\nnode west\nbegin 3000\n\
t7 c100 b8\n\
t8 o50 c700\n\
h0 weast/1 o250 m1 v8.3\n\
t8 w8.3 q1 o100 c2000000 s1>east:4096 v7.9\n\
t7 y400000000 c5 w7.9 y77 c10\n\
t8 z500000000 c1\n\
end 8000000 2200000 1000000\n";

fn read(text: &str) -> Recording {
    Recording::parse(text).unwrap()
}
fn joined(how: As) -> Joined {
    join(&[read(WEST), read(EAST)], how).unwrap()
}

#[test]
fn causes_are_kept() {
    let j = joined(As::Allocated);
    assert_eq!((j.names.clone(), j.lost, j.wall), (vec!["east".to_owned(), "west".to_owned()], 0, 9_000_000));
    let text = j.trace.text();
    // East's: 3000 bytes are kept after 8192 were allocated of which nurseries freed 4096, and 4096 more.
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[..2], ["kumi-trace 1", "nodes 2"], "{text}");
    assert_eq!(lines[2], "task 0 c500 k1000 c1000000 k1000 a3096 s1>1:64 w2 o200 c4000 k1000 a3096", "{text}");
    assert_eq!(lines[3], "handler 0 w6 o300 s2>0:0", "{text}");
    // West's main thread begins 2 us later, and makes the other one.
    assert_eq!(lines[4], "task 1 z2000 c100 s3>1:0 c5 w7 z77 c10", "{text}");
    // Its last sleep keeps nobody.
    assert_eq!(lines[5], "task 1 w3 o50 c700 w5 w4 o100 c1000000 c1000000 s6>0:4096 s7>1:0", "{text}");
    assert_eq!(lines[6], "handler 1 w1 o250 s4>1:0 s5>1:0", "{text}");
    let out = replay(&j.trace, &Setting { control: 0, ..Setting::recorded() }, &Options::new(Policy::Independent)).unwrap();
    // 1 ms, there, 2 ms, back, and what is between.
    assert!((3_040_000..3_070_000).contains(&out.end), "{}", out.text());
    assert_eq!((out.nodes[0].overhead, out.nodes[1].overhead), (500, 400));
}

#[test]
fn recordings_of_two_runs_are_not_joined() {
    let later = |at: u64| read(&WEST.replace("begin 3000", &format!("begin {at}")));
    // East runs from 1000 to 9001000.
    assert!(join(&[read(EAST), later(9_001_000)], As::Allocated).is_ok());
    let why = join(&[later(9_001_001), read(EAST)], As::Allocated).unwrap_err();
    assert_eq!(why, "node west began when node east and those beside it had ended: they are of different runs; a folder holds one");
    // Nobody knows how long that one ran.
    let killed = read(&EAST.replace("end 9000000 1500000 600000\n", ""));
    assert!(join(&[killed, later(9_001_001)], As::Allocated).is_ok());
}

#[test]
fn collections_are_those_that_there_were_or_the_schedules() {
    let plenty = Setting { heap: 1 << 50, limit: 1 << 50, ..Setting::recorded() };
    let out = replay(&joined(As::Recorded).trace, &plenty, &Options::new(Policy::Synchronised)).unwrap();
    assert_eq!((out.nodes[0].collecting, out.nodes[0].collections, out.nodes[1].collections), (5700, 3, 0));
    let all = joined(As::WithoutNurseries).trace.text();
    assert!(all.contains("c1000000 k") && all.contains(" a") && !all.contains(" p"), "{all}");
    let allocated = |text: &str| text.split([' ', '\n']).filter_map(|w| w.strip_prefix(['a', 'k'])?.parse::<u64>().ok()).sum::<u64>();
    assert_eq!((allocated(&all), allocated(&joined(As::Allocated).trace.text())), (1000 + 12288, 1000 + 8192));
    let c = Costs::of(&[read(EAST), read(WEST)]);
    assert_eq!((c.full, c.full_time, c.young, c.young_time, c.live), (2, 5000, 1, 700, 2000.0));
    // 2000 ns at 1000 bytes, 3000 at 3000.
    let mut s = Setting::recorded();
    c.apply(&mut s);
    assert_eq!((s.collecting.fixed, s.collecting.live_kb), (1500, 512));
}

#[test]
fn what_is_not_recorded_is_not_waited_for() {
    let alone = join(&[read(WEST)], As::Allocated).unwrap();
    assert_eq!((alone.lost, alone.trace.nodes), (1, 1));
    assert!(replay(&alone.trace, &Setting::recorded(), &Options::new(Policy::Independent)).is_ok());
    // A node that was killed: its last word is half a one.
    let killed = read(&EAST[..EAST.find("c4000").unwrap() + 1]);
    assert!(killed.cut && killed.wall == 0 && !read(EAST).cut);
    assert!(join(&[read(WEST), killed], As::Allocated).is_ok());
    assert!(join(&[read(WEST), read(WEST)], As::Allocated).unwrap_err().contains("two recordings of node west"));
    assert!(join(&[], As::Allocated).is_err());
    // Nodes come in the order of their numbers.
    let named = |n: u32| read(&WEST.replace("node west", &format!("node node{n}")));
    assert_eq!(join(&[named(10), named(2)], As::Allocated).unwrap().names, ["node2", "node10"]);
}

#[test]
fn texts_that_are_no_recordings() {
    let says = |text: &str, line, part: &str| {
        let wrong = Recording::parse(text).unwrap_err();
        assert!(wrong.line == line && wrong.what.contains(part), "{text:?}: {wrong}");
    };
    says("", 1, "first line");
    says("kumi-recording 2\n", 1, "version");
    says("kumi-recording 1\n", 2, "missing");
    says("kumi-recording 1\nnode a/b\n", 2, "second line");
    says("kumi-recording 1\nnode a\nt1 c5\n", 3, "a line begins");
    says("kumi-recording 1\nnode a\nbegin x\n", 3, "a time");
    says("kumi-recording 1\nnode a\nbegin 1\nend 1 2\n", 4, "three times");
    for step in ["c", "c-1", "x", "s1", "s1>", "s1>a", "s1>a:x", "w1", "w1.x", "wa/", "v1", "F1/2", "F1/2/3/4", "é", "k1"] {
        says(&format!("kumi-recording 1\nnode a\nbegin 1\nt1 {step}\nt1 c1\n"), 4, "can't be read");
    }
}

/// Anything that is read is joined and replayed, or refused; nothing panics, and no heap or time is beyond what it may be.
#[test]
fn recordings_of_all_kinds() {
    let mut c = Chance::new(3);
    let mut replayed = 0;
    for _ in 0..4000 {
        let texts = [EAST, WEST].map(|whole| {
            let mut bytes = whole.as_bytes().to_vec();
            for _ in 0..c.below(4) {
                if c.percent(50) {
                    let at = c.below(bytes.len() as u64) as usize;
                    bytes[at] = c.pick(b"0123456789 \nconasvwzyxbdjmqFYth./>:");
                } else {
                    c.spoil(&mut bytes);
                }
            }
            String::from_utf8_lossy(&bytes).into_owned()
        });
        let all: Vec<Recording> = texts.iter().filter_map(|t| Recording::parse(t).ok()).collect();
        let how = c.pick(&[As::Recorded, As::Allocated, As::WithoutNurseries]);
        let Ok(j) = join(&all, how) else { continue };
        let mut setting = Setting { longest: 10_000_000_000, ..Setting::recorded() };
        Costs::of(&all).apply(&mut setting);
        replayed += replay(&j.trace, &setting, &Options::new(Policy::Synchronised)).is_ok() as u32;
    }
    assert!(replayed > 500, "{replayed}");
}
