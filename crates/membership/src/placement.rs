//! Which member of a group has a key: rendezvous hashing (highest random weight).
//!
//! A member's score for a key is `XXH64(key, seed = XXH64(name, seed = 0))`; the highest has the key, and of equal scores the name that
//! sorts first. All machines and all versions agree, and nobody needs to be asked. When a member leaves, only its own keys move; when
//! one comes, it takes its share from each of the others.
//!
//! **Invariant.** An answer depends on the key, the names and the weights, and never on their order.

use crate::hash::xxh64;

/// The member that has the key; `None` where there is none. It looks at each member once, and allocates nothing.
///
/// ```
/// let three = ["east", "north", "west"];
/// assert_eq!(kumi_membership::place(b"job.1", three), Some("north"));
/// assert_eq!(kumi_membership::place(b"job.1", ["east", "west"]), Some("west"));
/// ```
pub fn place<'a>(key: &[u8], names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    names.into_iter().map(|n| (score(key, n), n)).reduce(|a, b| if (b.0, a.1) > (a.0, b.1) { b } else { a }).map(|w| w.1)
}

/// The same where a member of weight `w` has `w` times the keys of one of weight 1; those of weight 0 have none. A member's cores are
/// a weight. A change of one weight moves keys from or to that member only.
pub fn place_weighted<'a>(key: &[u8], members: impl IntoIterator<Item = (&'a str, u16)>) -> Option<&'a str> {
    let scored = members.into_iter().filter(|m| m.1 > 0).map(|(name, weight)| {
        // A number above 0 and below 1 of 53 bits. Its logarithm, by a library in software, has the same bits everywhere.
        let u = ((score(key, name) >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
        (f64::from(weight) / -libm::log(u), name)
    });
    scored.reduce(|a, b| if (b.0, a.1) > (a.0, b.1) { b } else { a }).map(|w| w.1)
}

fn score(key: &[u8], name: &str) -> u64 {
    xxh64(key, xxh64(name.as_bytes(), 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 5] = ["east", "north", "south", "west", "fish-ä"];

    fn keys() -> impl Iterator<Item = Vec<u8>> {
        (0..10_000).map(|i| format!("key.{i}").into_bytes())
    }

    /// Answers of other machines and earlier versions: they never change.
    #[test]
    fn answers_are_recorded() {
        let got: Vec<_> = (0..12).map(|i| place(format!("job.{i}").as_bytes(), NAMES).unwrap()).collect();
        assert_eq!(got.join(" "), RECORDED);
        let weights = NAMES.iter().copied().zip([1, 2, 4, 8, 0]);
        let got: Vec<_> = (0..12).map(|i| place_weighted(format!("job.{i}").as_bytes(), weights.clone()).unwrap()).collect();
        assert_eq!(got.join(" "), RECORDED_WEIGHTED);
    }
    const RECORDED: &str = "fish-ä north south west south fish-ä east fish-ä north north north north";
    const RECORDED_WEIGHTED: &str = "west west south west west south west south west north north north";

    #[test]
    fn only_the_keys_of_who_leaves_move() {
        let mut counts = [0; 5];
        for key in keys() {
            let before = place(&key, NAMES).unwrap();
            counts[NAMES.iter().position(|n| *n == before).unwrap()] += 1;
            let after = place(&key, NAMES.into_iter().filter(|n| *n != "west")).unwrap();
            assert!(before == "west" || before == after);
            assert_eq!(place(&key, NAMES.into_iter().rev()), Some(before));
        }
        assert!(counts.iter().all(|c| (1_800..2_200).contains(c)), "{counts:?}");
        assert_eq!(place(b"x", []), None);
    }

    #[test]
    fn weights_are_shares() {
        let weights = [1, 2, 4, 8, 0];
        let members = || NAMES.into_iter().zip(weights);
        let mut counts = [0; 5];
        for key in keys() {
            let before = place_weighted(&key, members()).unwrap();
            counts[NAMES.iter().position(|n| *n == before).unwrap()] += 1;
            let heavier = place_weighted(&key, NAMES.into_iter().zip([1, 2, 5, 8, 0])).unwrap();
            assert!(heavier == before || heavier == "south");
        }
        for (count, weight) in counts.iter().zip(weights) {
            let due = 10_000 * i32::from(weight) / 15;
            assert!((count - due).abs() <= 150, "{counts:?}");
        }
        assert_eq!(place_weighted(b"x", [("a", 0)]), None);
    }
}
