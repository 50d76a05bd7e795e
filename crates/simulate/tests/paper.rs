//! What the paper found, and what it says fails, shown with patterns of its programs on its machine. Simulated: what is shown is shown of
//! the policies, not of the programs.

use kumi_schedule::{Mode, Policy};
use kumi_simulate::generate::{Pattern, Shape};
use kumi_simulate::{Options, Outcome, Setting, replay};

const FI: Policy = Policy::Independent;
const FS: Policy = Policy::Synchronised;
const AS: Policy = Policy::Adaptive(Mode::Synchronised);
const AI: Policy = Policy::Adaptive(Mode::Independent);

const S: u64 = 1_000_000_000;

fn run<const N: usize>(pattern: Pattern, nodes: u32, policies: [Policy; N]) -> [Outcome; N] {
    run_for(12 * S, pattern, nodes, policies)
}
fn run_for<const N: usize>(computes: u64, pattern: Pattern, nodes: u32, policies: [Policy; N]) -> [Outcome; N] {
    let grain = if nodes < 64 { 10_000_000 } else { 20_000_000 };
    let trace = pattern.trace(&Shape { grain, computes, ..Shape::ap1000(nodes, 1) });
    policies.map(|policy| replay(&trace, &Setting::ap1000(), &Options::new(policy)).unwrap())
}
fn ratio(a: &Outcome, b: &Outcome) -> f64 {
    a.end as f64 / b.end as f64
}

#[test]
fn cky_suffers_where_nodes_are_many_and_only_idle_time_grows() {
    let [fi, fs, a, i] = run(Pattern::Cky, 256, [FI, FS, AS, AI]);
    assert!(ratio(&fi, &fs) > 2.0, "{}", ratio(&fi, &fs));
    let (t, u) = (fi.total(), fs.total());
    assert!(t.collecting <= u.collecting && t.active == u.active);
    assert!(fi.end * 256 - fs.end * 256 < (t.idle - u.idle) * 11 / 10);
    assert!(ratio(&a, &fs) < 1.02 && ratio(&i, &fs) < 1.05, "{} {}", ratio(&a, &fs), ratio(&i, &fs));
    let [fi, fs] = run(Pattern::Cky, 2, [FI, FS]);
    assert!(ratio(&fi, &fs) < 1.05);
}

#[test]
fn bh_suffers_at_every_size() {
    for (nodes, least) in [(2, 1.1), (8, 1.5), (64, 1.5)] {
        let [fi, fs, a, i] = run(Pattern::BarnesHut, nodes, [FI, FS, AS, AI]);
        assert!(ratio(&fi, &fs) > least, "{nodes}: {}", ratio(&fi, &fs));
        assert!(ratio(&a, &fs) < 1.02 && ratio(&i, &fs) < 1.05, "{nodes}: {} {}", ratio(&a, &fs), ratio(&i, &fs));
    }
}

#[test]
fn rna_and_ga_hardly_notice() {
    for pattern in [Pattern::Rna, Pattern::Ga] {
        for nodes in [2, 16, 256] {
            let [fi, fs, a, i] = run(pattern, nodes, [FI, FS, AS, AI]);
            let better = if fi.end < fs.end { &fi } else { &fs };
            assert!((0.9..1.1).contains(&ratio(&fi, &fs)), "{pattern:?} {nodes}: {}", ratio(&fi, &fs));
            assert!(
                ratio(&a, better) < 1.05 && ratio(&i, better) < 1.05,
                "{pattern:?} {nodes}: {} {}",
                ratio(&a, better),
                ratio(&i, better)
            );
        }
    }
}

#[test]
fn the_papers_adaptive_strategies_fail_where_it_says_and_ours_holds() {
    for pattern in [Pattern::Prefetch, Pattern::Speculative] {
        for nodes in [8, 64] {
            for seconds in [12, 48] {
                let [fs, a, i, ours] = run_for(seconds * S, pattern, nodes, [FS, AS, AI, Policy::Measured]);
                let case = format!("{pattern:?} {nodes}, {seconds} s: {} {} {}", ratio(&a, &fs), ratio(&i, &fs), ratio(&ours, &fs));
                assert!(ratio(&a, &fs) > 1.1 && ratio(&i, &fs) > 1.1, "{case}");
                // Trials of 64 nodes cost what is not made up for in so long a time (docs/decisions/0040).
                let most = if nodes == 64 && seconds == 48 { 1.08 } else { 1.03 };
                assert!(ratio(&ours, &fs) < most, "{case}");
            }
        }
    }
    let [fs, ours] = run(Pattern::BarnesHut, 64, [FS, Policy::Measured]);
    assert!(ratio(&ours, &fs) < 1.02);
    let [fi, ours, combined] = run(Pattern::Rna, 64, [FI, Policy::Measured, Policy::Combined]);
    assert!(ratio(&ours, &fi) < 1.03 && ratio(&combined, &fi) < 1.03);
}

#[test]
fn nodes_that_are_not_alike_pay_for_each_other_in_step() {
    let [fi, fs, forecast, ours] = run(Pattern::Uneven, 64, [FI, FS, Policy::Forecast, Policy::Measured]);
    assert!(ratio(&fs, &fi) > 1.1 && ratio(&forecast, &fi) < 1.03 && ratio(&ours, &fi) < 1.03);
    assert!(forecast.total().collections * 3 < fs.total().collections * 2);
}

#[test]
fn marking_between_messages_uses_idle_time_and_costs_a_quarter_of_the_heap() {
    for pattern in [Pattern::BarnesHut, Pattern::Cky] {
        let all = run(pattern, 64, [FI, FS, AS, AI, Policy::Interruptible, Policy::Combined]);
        let best = all[..4].iter().min_by_key(|o| o.end).unwrap();
        let (t, u) = (all[4].total(), best.total());
        assert!(ratio(&all[4], best) < 0.95 && t.idle * 4 < u.idle * 3, "{pattern:?}: {} {t:?} {u:?}", ratio(&all[4], best));
        let c = all[5].total();
        assert!(t.peak.max(c.peak) as f64 <= u.peak as f64 * 1.3);
        assert!(ratio(&all[5], best) < 0.97 && c.idle * 4 < u.idle * 3, "{pattern:?}: {} {c:?}", ratio(&all[5], best));
    }
}

#[test]
fn combined_is_as_good_as_the_best_of_four_where_nodes_hardly_wait_and_where_the_papers_strategies_fail() {
    for pattern in [Pattern::Rna, Pattern::Ga, Pattern::Prefetch, Pattern::Speculative, Pattern::Uneven] {
        for (nodes, seconds) in [(2, 12), (8, 12), (8, 48), (64, 12)] {
            let all = run_for(seconds * S, pattern, nodes, [FI, FS, AS, AI, Policy::Combined]);
            let best = all[..4].iter().min_by_key(|o| o.end).unwrap();
            assert!(ratio(&all[4], best) < 1.02, "{pattern:?} {nodes}, {seconds} s: {}", ratio(&all[4], best));
        }
    }
}
