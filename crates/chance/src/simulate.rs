//! Looks for a run that fails, makes it small, and tells it.
//!
//! `KUMI_SEED` names one run to look at, `KUMI_EVENTS` how many of its last events are told; `KUMI_SHRINK=0` leaves it as large as it is.

use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What a run is to be. All of it follows from a seed, and from what mix of faults it is of.
pub trait Plan: Clone + Debug {
    /// Its seed and its mix.
    fn name(&self) -> String;
    /// Does it, and keeps its last events, so many.
    fn run(&self, keep: usize) -> Told;
    /// The same but for the fault of this number. `None`: it has no more faults.
    fn without(&self, fault: usize) -> Option<Self>;
    /// The same with less of something else: always as many, tried in this order, again and again.
    fn milder(&self) -> Vec<Self>;
}

/// What became of a run.
pub struct Told {
    /// Of all events: equal runs have equal ones.
    pub trace: u64,
    /// What is not as it should be.
    pub wrong: Option<String>,
    /// The last events.
    pub last: Vec<String>,
}

/// A number of the environment.
pub fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// The first so many seeds, or the one that is asked for.
pub fn seeds(so_many: u64) -> std::ops::Range<u64> {
    number("KUMI_SEED").map_or(0..so_many, |s| s..s + 1)
}

/// What is wrong with it, if anything is.
pub fn wrong<P: Plan>(plan: &P) -> Option<String> {
    catch_unwind(AssertUnwindSafe(|| plan.run(0).wrong)).unwrap_or_else(|_| Some("panic".into()))
}

/// Panics where one of the first so many seeds fails, or the one that is asked for, and tells it as small as it gets.
pub fn check<P: Plan>(so_many: u64, plan: impl Fn(u64) -> P) {
    let failed = seeds(so_many).map(plan).find_map(|p| wrong(&p).map(|w| (p, w)));
    if let Some((plan, what)) = failed {
        panic!("{}", report(plan, &what));
    }
}

fn report<P: Plan>(plan: P, what: &str) -> String {
    let name = plan.name();
    eprintln!("{name}: {what}");
    let plan = if number("KUMI_SHRINK") == Some(0) { plan } else { shrink(plan) };
    let told = plan.run(number("KUMI_EVENTS").unwrap_or(200) as usize);
    format!("{name}: {what}\nwith {plan:#?}: {:?}\n{}", told.wrong, told.last.join("\n"))
}

/// The same with fewer faults and less of all, as long as it fails.
fn shrink<P: Plan>(mut plan: P) -> P {
    let mut at = 0;
    while let Some(fewer) = plan.without(at) {
        if wrong(&fewer).is_some() { plan = fewer } else { at += 1 }
    }
    for _ in 0..8 {
        let milder = plan.milder().len();
        for i in 0..milder {
            if let Some(less) = plan.milder().into_iter().nth(i)
                && wrong(&less).is_some()
            {
                plan = less;
            }
        }
    }
    plan
}

/// Those of the bugs that none of these plans shows. `plant` is the crate's own.
pub fn hidden<B: Copy + Debug, P: Plan>(bugs: &[B], plant: fn(Option<B>), plans: impl Fn() -> Box<dyn Iterator<Item = P>>) -> Vec<B> {
    let mut hidden = Vec::new();
    for bug in bugs {
        plant(Some(*bug));
        let found = plans().find_map(|p| wrong(&p).map(|w| (p, w)));
        plant(None);
        match found {
            Some((plan, what)) => println!("{bug:?}: {}: {what}", plan.name()),
            None => hidden.push(*bug),
        }
    }
    hidden
}

#[cfg(test)]
mod tests {
    use super::{Plan, Told, check, hidden, wrong};

    /// Fails where it has fault 3, and is large enough.
    #[derive(Clone, Debug)]
    struct Small {
        faults: Vec<u64>,
        size: u64,
    }
    impl Plan for Small {
        fn name(&self) -> String {
            format!("size {}", self.size)
        }
        fn run(&self, _: usize) -> Told {
            assert_ne!(self.size, 99);
            let bad = self.faults.contains(&3) && self.size > 10 || planted(Bug::All);
            Told { trace: 0, wrong: bad.then(|| "bad".into()), last: vec!["it ends".into()] }
        }
        fn without(&self, fault: usize) -> Option<Self> {
            let mut p = self.clone();
            (fault < p.faults.len()).then(|| p.faults.remove(fault))?;
            Some(p)
        }
        fn milder(&self) -> Vec<Self> {
            vec![Small { size: self.size / 2, ..self.clone() }]
        }
    }
    crate::bugs! {
        /// Nothing is right.
        All,
        /// Nothing asks for it.
        Nothing,
    }
    fn plan(seed: u64) -> Small {
        Small { faults: (0..seed).collect(), size: seed * 8 }
    }

    #[test]
    fn what_fails_is_told_as_small_as_it_gets() {
        check(4, plan);
        let told = std::panic::catch_unwind(|| check(9, plan)).unwrap_err();
        let told = told.downcast_ref::<String>().unwrap();
        assert!(told.starts_with("size 32: bad\n") && told.ends_with("it ends"), "{told}");
        assert!(told.contains("size: 16,") && told.replace(char::is_whitespace, "").contains("faults:[3,]"), "{told}");
    }
    #[test]
    fn a_panic_is_wrong() {
        assert_eq!(wrong(&Small { faults: Vec::new(), size: 99 }).as_deref(), Some("panic"));
    }
    #[test]
    #[cfg(debug_assertions)]
    fn what_no_run_shows_is_hidden() {
        assert_eq!(hidden(&[Bug::All, Bug::Nothing], plant, || Box::new((0..4).map(plan))), [Bug::Nothing]);
    }
}
