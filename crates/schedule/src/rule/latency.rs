//! Section 3.3: would collecting independently slow the program down, and did it?

use super::Thresholds;
use crate::Time;

/// Where the counter of section 3.3 stands: -1, 0 or 1.
///
/// *Ours*: it stands at 1 whenever synchronised collections begin, and plays no part while they are independent; a verdict that does not
/// favour independence raises it by one. So two verdicts one after another end synchronised collections, and each that speaks against
/// it takes one of them back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter(i8);

/// Where it begins while collections are synchronised.
pub const COUNTER: Counter = Counter(1);

/// *Ours*: a notice counts for so many of its node's intervals. A node that is still idle has sent another by then.
pub const NOTICE_LIVES: u64 = 2;

/// *Ours*: a verdict for independence is *clear* where it holds with this part of the paper's threshold for `D` as well.
pub const CLEARLY: f64 = 1.0 / 3.0;

/// *Ours*: for how many collections of each node independence holds where verdicts were not clear. After these, collections are in step until verdicts
/// favour independence again (3.3: synchronise where nothing is known, and go over to independence by and by). While collections are independent the paper
/// looks at utilisation only, which tells of nothing less than a loss by half. After a clear verdict independence holds until that speaks against it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hold(f64);

impl Hold {
    /// Nothing is known: until an eighth of the nodes have collected. So AI begins.
    pub const START: Hold = Hold(0.125);
    /// Until half of the nodes have collected.
    const UNCLEAR: Hold = Hold(0.5);
    const CLEAR: Hold = Hold(f64::INFINITY);

    /// Independence begins, after such a verdict.
    pub fn after(clear: bool) -> Hold {
        if clear { Hold::CLEAR } else { Hold::UNCLEAR }
    }
    /// Is it over after so many collections in a cluster of `nodes`?
    pub fn is_over(self, collections: u64, nodes: usize) -> bool {
        collections as f64 >= self.0 * nodes as f64
    }
}

impl Counter {
    /// A verdict. True: collections are to be independent.
    pub fn verdict(&mut self, independent: bool) -> bool {
        self.0 = if independent { self.0 - 1 } else { self.0 + 1 }.clamp(-1, 1);
        self.0 == -1
    }
    /// Its value.
    pub fn get(self) -> i8 {
        self.0
    }
}

/// `p = G/(L+G)`: how likely a message meets a node that collects, where a collection takes `g` and `l` passes between two.
pub fn hit(g: Time, l: Time) -> f64 {
    let (g, l) = (g as f64, l as f64);
    if g == 0.0 { 0.0 } else { g / (l + g) }
}

/// `D = n p G / 2(L+G)`: by how much of its length an interval with `n` idle periods would have been prolonged.
pub fn degradation(n: u64, g: Time, l: Time) -> f64 {
    let p = hit(g, l);
    n as f64 * p * p / 2.0
}

/// *Ours*: `p` where a node has not seen a collection yet.
const FIRST_HIT: f64 = 0.1;

/// *Ours*: `D` after `n` idle periods where nobody knows yet what a collection takes: a tenth of the time.
pub fn expected(n: u64) -> f64 {
    n as f64 * FIRST_HIT * FIRST_HIT / 2.0
}

/// What a node tells of the interval before a collection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    /// `D`. *Ours*: `None` where the node has not seen a collection yet, and counts as harmed (3.3: synchronise where nothing is known).
    pub degradation: Option<f64>,
    /// The part of the interval that was not idle.
    pub utilisation: f64,
}

/// Is independence favoured? The two conditions of section 3.3, for a cluster of `nodes`. *Ours*: who has not reported counts as harmed.
pub fn favours_independent<'a>(reports: impl Iterator<Item = &'a Report>, nodes: usize, t: &Thresholds) -> bool {
    let (mut told, mut harmed, mut idle) = (0usize, 0usize, 0usize);
    for r in reports {
        told += 1;
        harmed += r.degradation.is_none_or(|d| d > t.harmed) as usize;
        idle += (r.utilisation < t.idle) as usize;
    }
    harmed += nodes.saturating_sub(told);
    (harmed as f64) < t.harmed_share * nodes as f64 && (idle as f64) < t.idle_share * nodes as f64
}

/// Is it favoured clearly ([`CLEARLY`])?
pub fn clearly_favours<'a>(reports: impl Iterator<Item = &'a Report>, nodes: usize, t: &Thresholds) -> bool {
    favours_independent(reports, nodes, &Thresholds { harmed: t.harmed * CLEARLY, ..*t })
}

/// Do so many notices end independent collections in a cluster of `nodes`?
pub fn alarmed(notices: usize, nodes: usize, t: &Thresholds) -> bool {
    notices as f64 > t.notice_share * nodes as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formula() {
        // p = 1/4; 100 periods of which a quarter meets a collection and waits half of it: 100 / 4 * 0.5 s, of 4 s.
        assert_eq!(hit(1, 3), 0.25);
        assert_eq!(degradation(100, 1, 3), 100.0 * 0.25 * 1.0 / (2.0 * 4.0));
        assert_eq!(degradation(5, 0, 0), 0.0);
        assert_eq!(degradation(0, 7, 1), 0.0);
        // As where a collection takes a ninth of the time between two.
        assert!((expected(20) - degradation(20, 1, 9)).abs() < 1e-12 && expected(0) == 0.0);
    }
    #[test]
    fn both_conditions_are_strict() {
        let t = Thresholds::default();
        let ask = |harmed: usize, idle: usize| {
            let reports: Vec<Report> = (0..16)
                .map(|i| Report { degradation: Some(if i < harmed { 0.31 } else { 0.3 }), utilisation: if i < idle { 0.49 } else { 0.5 } })
                .collect();
            favours_independent(reports.iter(), 16, &t)
        };
        assert!(ask(0, 0) && ask(1, 7) && !ask(2, 0) && !ask(0, 8));
        let some = [Report { degradation: Some(0.0), utilisation: 1.0 }; 14];
        assert!(!favours_independent(some.iter(), 16, &t), "two that say nothing are an eighth");
        assert!(favours_independent(some.iter(), 15, &t));
        let unknown = [Report { degradation: None, utilisation: 1.0 }];
        assert!(!favours_independent(unknown.iter(), 1, &t));
        assert!(!alarmed(1, 16, &t) && alarmed(2, 16, &t) && alarmed(1, 15, &t) && !alarmed(0, 0, &t));
    }
    #[test]
    fn only_a_clear_verdict_holds_for_good() {
        let t = Thresholds::default();
        let reports = |d| vec![Report { degradation: Some(d), utilisation: 1.0 }; 8];
        assert!(clearly_favours(reports(0.09).iter(), 8, &t) && !clearly_favours(reports(0.11).iter(), 8, &t));
        assert!(!Hold::START.is_over(0, 8) && Hold::START.is_over(1, 8) && Hold::START.is_over(1, 2));
        assert!(!Hold::after(false).is_over(3, 8) && Hold::after(false).is_over(4, 8));
        assert!(!Hold::after(true).is_over(u64::MAX, 8));
    }
    #[test]
    fn the_counter_saturates() {
        let mut c = COUNTER;
        assert!(!c.verdict(true) && !c.verdict(false) && !c.verdict(false) && !c.verdict(true) && c.verdict(true) && c.verdict(true));
        assert_eq!((c.get(), c.verdict(false), c.get()), (-1, false, 0));
    }
}
