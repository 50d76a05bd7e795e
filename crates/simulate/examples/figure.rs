//! The paper's figure 2 as a table, simulated: `cargo run --release -p kumi-simulate --example figure -- NODES SEEDS GRAIN_MS [PATTERN]...`
//!
//! For each pattern and policy: the time, relative to the best of the paper's two fixed strategies, as mean and largest over the seeds; and
//! where it goes.

use kumi_schedule::Policy;
use kumi_simulate::generate::{Pattern, Shape};
use kumi_simulate::{Options, Outcome, Setting, replay};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize, or: u64| args.get(i).and_then(|a| a.parse().ok()).unwrap_or(or);
    let (nodes, seeds, grain) = (number(0, 64) as u32, number(1, 1).max(1), number(2, 20) * 1_000_000);
    let named: Vec<Pattern> = args.iter().skip(3).filter_map(|a| Pattern::named(a)).collect();
    for pattern in Pattern::all().filter(|p| named.is_empty() || named.contains(p)) {
        let policies: Vec<Policy> = Policy::all().collect();
        let mut ratios = vec![Vec::new(); policies.len()];
        let mut last: Vec<Outcome> = Vec::new();
        for seed in 0..seeds {
            let trace = pattern.trace(&Shape { grain, ..Shape::ap1000(nodes, seed) });
            last = policies.iter().map(|p| replay(&trace, &Setting::ap1000(), &Options::new(*p)).unwrap()).collect();
            let fixed = last.iter().filter(|o| matches!(o.policy, Policy::Independent | Policy::Synchronised));
            let best = fixed.map(|o| o.end).min().unwrap_or(1) as f64;
            last.iter().zip(&mut ratios).for_each(|(o, r)| r.push(o.end as f64 / best));
        }
        for (out, r) in last.iter().zip(&ratios) {
            let (t, all) = (out.total(), out.end as f64 * nodes as f64 / 100.0);
            let parts = [t.active, t.speculative, t.idle, t.collecting, t.overhead].map(|p| p as f64 / all);
            println!(
                "{:12}{nodes:5} {:22}{:7.3} (at most {:6.3}) active {:5.1} speculative {:5.1} idle {:5.1} collecting {:5.1} overhead {:4.1} %, {:5.1} collections, {:4.1} MB a node",
                pattern.name(),
                out.policy.name(),
                r.iter().sum::<f64>() / r.len() as f64,
                r.iter().fold(0.0, |a: f64, b| a.max(*b)),
                parts[0],
                parts[1],
                parts[2],
                parts[3],
                parts[4],
                t.collections as f64 / nodes as f64,
                t.peak as f64 / nodes as f64 / 1e6
            );
        }
    }
}
