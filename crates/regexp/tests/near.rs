//! A search for matches that are near finds what a search finds, or says nothing.

use kumi_regexp::{Limits, Options, Regex, Region, Subject};
use kumi_text::EncIndex;

#[test]
fn what_is_near_is_what_a_search_finds() {
    let text = "ab1é ".repeat(40) + "zz9" + &"é".repeat(60);
    let s = Subject::new(text.as_bytes(), EncIndex::UTF_8);
    let mut answers = 0;
    for pattern in ["\\d", "é", "9é", "z+", "\\b.", "(?<=z)9", "$", "x|é\\z", "(a)(b)|(z)", "a|\\Gb", "b1(?!z)", "1é +a"] {
        let r = Regex::new(pattern.as_bytes(), Options(0), EncIndex::UTF_8).unwrap();
        let (mut a, mut b) = (Region::new(), Region::new());
        // It is found out what a pattern's matches begin with once it was used for a while.
        (0..10_000).for_each(|_| drop(r.match_at(&s, 0, Limits::default(), &mut a)));
        for start in (0..=text.len()).filter(|i| text.is_char_boundary(*i)) {
            let far = r.search(&s, start, Limits::default(), &mut a).unwrap();
            for near in [1, 2, 7, 100, 1000] {
                if let Some(found) = r.search_near(&s, start, near, &mut b) {
                    assert_eq!((far, &a.groups), (Some(found.unwrap()), &b.groups), "{pattern} {start} {near}");
                    answers += 1;
                }
            }
        }
    }
    // Most matches are near.
    assert!(answers > 5000, "{answers}");
}
