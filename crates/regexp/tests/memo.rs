//! The matcher that remembers gives the engine's answers: for patterns and texts made at random, and soon where the
//! engine alone would take for ever. `KUMI_TEST_SEED`, `KUMI_FUZZ_ROUNDS`: others, and more.

use kumi_regexp::{Limits, Options, Regex, Region, Subject};
use kumi_text::EncIndex;

struct Rand(u64);

impl Rand {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % n
    }
    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }
}

const ATOMS: [&str; 21] = [
    "a",
    "b",
    "c",
    ".",
    "[ab]",
    "[^a]",
    "\\w",
    "\\s",
    "\\n",
    "é",
    "[é-ü]",
    "\\p{L}",
    "\\d",
    "ab",
    "\\S",
    "[[:alpha:]b]",
    "x",
    "[a-c&&[^b]]",
    "[[:b]c]",
    "\\.",
    "A",
];
const LOOKS: [&str; 8] = ["^", "$", "\\A", "\\z", "\\Z", "\\b", "\\B", "(?=b)"];
const MARKS: [&str; 14] = ["", "", "", "*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{0,2}?", "{2,}", "{,1}"];
const TEXTS: [&str; 12] = ["a", "b", "c", "ab", " ", "\n", "é", "ü", "1", "A", "x", "."];

fn pattern(r: &mut Rand, depth: usize, out: &mut String) {
    for _ in 0..1 + r.below(3) {
        match r.below(if depth == 0 { 6 } else { 10 }) {
            0..=4 => {
                out.push_str(r.one(&ATOMS));
                out.push_str(r.one(&MARKS));
            }
            5 => out.push_str(r.one(&LOOKS)),
            n => {
                out.push_str(["(", "(", "(?:", "(?i:", "(?m:", "(?>", "(?!"][if n == 9 { r.below(7) } else { r.below(3) }]);
                for i in 0..1 + r.below(3) {
                    if i > 0 {
                        out.push('|');
                    }
                    if r.below(6) > 0 {
                        pattern(r, depth - 1, out);
                    }
                }
                out.push(')');
                out.push_str(r.one(&MARKS));
            }
        }
    }
}

#[test]
fn it_gives_the_engines_answers() {
    let number = |name: &str, default: u64| std::env::var(name).ok().and_then(|s| s.parse().ok()).unwrap_or(default);
    let seed = number("KUMI_TEST_SEED", 1);
    let mut r = Rand(seed);
    let (mut compared, mut differ) = (0, Vec::new());
    for _ in 0..number("KUMI_FUZZ_ROUNDS", 6000) {
        let mut text = String::new();
        pattern(&mut r, 3, &mut text);
        let options = Options([0, 0, 0, Options::IGNORECASE, Options::MULTILINE, Options::EXTENDED][r.below(6)]);
        let Ok(re) = Regex::new(text.as_bytes(), options, EncIndex::UTF_8) else { continue };
        for _ in 0..4 {
            let s: String = (0..r.below(9)).map(|_| r.one(&TEXTS)).collect();
            let mut start = r.below(s.len() + 1);
            while !s.is_char_boundary(start) {
                start -= 1;
            }
            let back = r.below(4) == 0;
            let bytes = s.as_bytes();
            let enc = if r.below(5) == 0 { EncIndex::BINARY } else { EncIndex::UTF_8 };
            if let Some([theirs, ours]) = re.both(&Subject::new(bytes, enc), start, back) {
                if theirs.is_err() {
                    continue;
                }
                compared += 1;
                if theirs != ours {
                    differ.push(format!("/{text}/{options:?} {s:?} {enc:?} from {start} back {back}: {theirs:?} {ours:?}"));
                }
            }
        }
    }
    assert!(compared > 1000, "{compared}");
    differ.sort_by_key(|d| d.len());
    assert!(differ.is_empty(), "seed {seed}: {} of {compared}\n{}", differ.len(), differ[..differ.len().min(12)].join("\n"));
}

#[test]
fn what_goes_back_and_forth_ends() {
    let n = 30_000;
    for (p, s, at) in [
        ("^(a*)*$", format!("{}x", "a".repeat(25)), None),
        ("^(a*)*$", format!("{}x", "a".repeat(n)), None),
        ("(a|b|ab)*(?=c)", "ab".repeat(n), None),
        ("^(([a-z])+.)+[A-Z]([a-z])+$", "a".repeat(n), None),
        ("(x+x+)+y", "x".repeat(2000), None),
        ("(.*)*\\d", "é ".repeat(n), None),
        ("(?i)^(?:(a|aa)+)$", format!("{}!", "aA".repeat(n)), None),
        ("(a?){40}a{40}b|z", format!("{}z", "a".repeat(40)), Some(40)),
        ("\\A(?:[\\w.]+)*@(\\w+)\\z", format!("{}@{}", "a.b".repeat(n), "host".repeat(1000)), Some(0)),
        ("(a|a?)+$(?<!b)", format!("{}c", "a".repeat(n)), Some(n + 1)),
    ] {
        let re = Regex::new(p.as_bytes(), Options(0), EncIndex::UTF_8);
        let Ok(re) = re else { panic!("{p}: {re:?}") };
        let found = re.search(&Subject::new(s.as_bytes(), EncIndex::UTF_8), 0, Limits::default(), &mut Region::new());
        assert_eq!(found, Ok(at), "{p}");
    }
}

/// After many matches at one place the engine is not asked where the first byte says no: the answers stay what they were.
#[test]
fn what_begins_no_match_is_told_by_its_first_byte() {
    let number = |name: &str, default: u64| std::env::var(name).ok().and_then(|s| s.parse().ok()).unwrap_or(default);
    let seed = number("KUMI_TEST_SEED", 1);
    let mut r = Rand(seed);
    let mut patterns: Vec<(String, Options)> =
        include_str!("matches.tsv").lines().filter_map(|l| l.split('\t').next()).map(|p| (p.to_owned(), Options(0))).collect();
    for _ in 0..number("KUMI_FUZZ_ROUNDS", 1000) {
        let mut text = String::new();
        pattern(&mut r, 2, &mut text);
        patterns.push((text, Options([0, Options::IGNORECASE, Options::MULTILINE, Options::EXTENDED][r.below(4)])));
    }
    // Under `i` a character of a bracket may stand for several, none of which is in it.
    for p in ["[\\W_]+", "[\\H]", "[\\Hq]+", "[\\Wa]x?", "[^\\w\\s]|[\\W]", "[ab]+", "\\W", "f+", "ss", "s[st]"] {
        patterns.push((p.to_owned(), Options(Options::IGNORECASE)));
        patterns.push((format!("(?i)(?:{p})"), Options(0)));
    }
    let alone = ["", "a", "é", "\n", "K", "k", "\u{212a}", "ß", "ſ", "off", "h\u{331}", "ﬀ", "st", "ss"].map(str::to_owned);
    let (mut no, mut yes) = (0, 0);
    for (text, options) in patterns {
        let make = || Regex::new(text.as_bytes(), options, EncIndex::UTF_8).ok();
        let (Some(fresh), Some(warm)) = (make(), make()) else { continue };
        let limits = Limits { steps: Some(100_000), ..Limits::default() };
        for _ in 0..600 {
            let _ = warm.match_at(&Subject::new(b"~", EncIndex::UTF_8), 0, limits, &mut Region::new());
        }
        let made = (0..6).map(|_| (0..r.below(7)).map(|_| r.one(&TEXTS)).collect::<String>());
        for s in alone.iter().cloned().chain(made) {
            for enc in [EncIndex::UTF_8, EncIndex::BINARY] {
                for at in 0..=s.len() + 1 {
                    let subject = Subject::new(s.as_bytes(), enc);
                    let (mut a, mut b) = (Region::new(), Region::new());
                    let want = fresh.match_at(&subject, at, limits, &mut a);
                    assert_eq!(warm.match_at(&subject, at, limits, &mut b), want, "/{text}/{options:?} {s:?} {enc:?} at {at}, seed {seed}");
                    if want == Ok(true) {
                        assert_eq!(a, b, "/{text}/ {s:?} at {at}");
                    }
                    // A search from there on, and one to a bound.
                    let whole = fresh.search(&subject, at, limits, &mut a);
                    assert_eq!(
                        warm.search(&subject, at, limits, &mut b),
                        whole,
                        "/{text}/{options:?} {s:?} {enc:?} from {at}, seed {seed}"
                    );
                    if matches!(whole, Ok(Some(_))) {
                        assert_eq!(a, b, "/{text}/ {s:?} from {at}");
                    }
                    if at < s.len() && s.is_char_boundary(at + 1) {
                        let part = fresh.search_range(&subject, at, at + 1, limits, &mut a);
                        assert_eq!(warm.search_range(&subject, at, at + 1, limits, &mut b), part, "/{text}/ {s:?} in {at}, seed {seed}");
                    }
                    *(if want == Ok(true) { &mut yes } else { &mut no }) += 1;
                }
            }
        }
    }
    assert!(no > 10_000 && yes > 5_000, "{no} {yes}");
}
