//! What nodes whose objects are used from others tell (tests/faults/remote.rb), and whether it may be.

use std::collections::BTreeMap;

/// Something that was done to a node, or happened to it: whom (nobody: all), from when, until when.
pub struct Done {
    pub whom: String,
    pub start: u64,
    pub end: u64,
    /// Its memory is gone.
    pub killed: bool,
}

/// What nodes say on lines of their own.
#[derive(Default)]
pub struct Told {
    events: Vec<String>,
    figures: Vec<String>,
}

impl Told {
    /// Is it such a line?
    pub fn take(&mut self, line: &str) -> bool {
        let to = match line.split(' ').next() {
            Some("event") => &mut self.events,
            Some("figures") => &mut self.figures,
            _ => return false,
        };
        if to.len() < 10_000 {
            to.push(line.to_owned());
        }
        true
    }
    /// Sums, but of `gone` the greatest.
    pub fn figures(&self) -> BTreeMap<String, u64> {
        let mut all = BTreeMap::new();
        for line in &self.figures {
            let words: Vec<&str> = line.split(' ').skip(1).collect();
            for pair in words.chunks_exact(2) {
                let n = pair[1].parse().unwrap_or(0);
                let to: &mut u64 = all.entry(pair[0].to_owned()).or_default();
                *to = if pair[0] == "gone" { n.max(*to) } else { *to + n };
            }
        }
        all
    }
    /// Nodes that stood still for a moment, as they saw it themselves.
    pub fn stalls(&self) -> Vec<Done> {
        let row = |e: &Event| Done { whom: e.holder.to_owned(), start: e.since, end: e.at, killed: false };
        self.events().filter(|e| e.what == "stalled").map(|e| row(&e)).collect()
    }
    /// References that were of no use though neither their holder, nor their owner, nor who had handed them over was kept from saying that it
    /// lives for a lease, and none was killed.
    pub fn wrong(&self, done: &[Done], lease: u64) -> Vec<String> {
        let may = |e: &Event| {
            done.iter().any(|d| {
                let long = d.killed || d.end - d.start >= lease / 2 || e.what == "lost";
                let meets = d.start <= e.at && d.end + 2 * lease >= e.since.saturating_sub(lease);
                long && meets && (d.whom.is_empty() || [e.holder, e.owner, e.lender].contains(&&*d.whom))
            })
        };
        self.events().filter(|e| e.what != "stalled" && !may(e)).map(|e| e.line.to_owned()).collect()
    }
    fn events(&self) -> impl Iterator<Item = Event<'_>> {
        self.events.iter().filter_map(|line| {
            let mut w = line.split(' ').skip(1);
            let (what, holder, owner, lender) = (w.next()?, w.next()?, w.next()?, w.next()?);
            Some(Event { line, what, holder, owner, lender, since: w.next()?.parse().ok()?, at: w.next()?.parse().ok()? })
        })
    }
}

struct Event<'a> {
    line: &'a str,
    what: &'a str,
    holder: &'a str,
    owner: &'a str,
    lender: &'a str,
    /// When it came to have the reference, and when it was of no use.
    since: u64,
    at: u64,
}

#[cfg(test)]
mod tests {
    use super::{Done, Told};

    #[test]
    fn what_a_fault_explains_is_not_wrong() {
        let mut told = Told::default();
        assert!(told.take("event no-object node1 node2 node3 1000 5000 node2/0/7: it is gone"));
        assert!(told.take("figures calls 3 gone 40") && told.take("figures calls 4 gone 20") && !told.take("ready"));
        let done = |whom: &str, start, end| Done { whom: whom.into(), start, end, killed: false };
        assert_eq!(told.wrong(&[], 100).len(), 1);
        for whom in ["node1", "node2", "node3", ""] {
            assert_eq!(told.wrong(&[done(whom, 2000, 2100)], 100).len(), 0);
            // It was shorter than half a lease, later, or before.
            assert_eq!(told.wrong(&[done(whom, 2000, 2010)], 100).len(), 1);
            assert_eq!(told.wrong(&[done(whom, 6000, 6100)], 100).len(), 1);
            assert_eq!(told.wrong(&[done(whom, 100, 600)], 100).len(), 1);
            assert_eq!(told.wrong(&[Done { killed: true, ..done(whom, 2000, 2001) }], 100).len(), 0);
        }
        assert_eq!(told.wrong(&[done("node4", 2000, 2100)], 100).len(), 1);
        assert_eq!((told.figures()["calls"], told.figures()["gone"]), (7, 40));
    }
}
