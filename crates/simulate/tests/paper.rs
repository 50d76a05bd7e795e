//! What the paper found, and what it says fails, shown with patterns of its programs on its machine.

use kumi_schedule::{Mode, Policy};
use kumi_simulate::generate::{Pattern, Shape};
use kumi_simulate::{Options, Setting, replay};

fn shape(nodes: u32) -> Shape {
    Shape { grain: if nodes < 64 { 10_000_000 } else { 20_000_000 }, ..Shape::ap1000(nodes, 1) }
}

#[test]
#[ignore = "prints a table"]
fn table() {
    for pattern in Pattern::all() {
        for nodes in [8, 64, 256] {
            let trace = pattern.trace(&shape(nodes));
            for policy in Policy::all() {
                let start = std::time::Instant::now();
                let out = replay(&trace, &Setting::ap1000(), &Options::new(policy)).unwrap();
                let t = out.total();
                let all = out.end as f64 * nodes as f64 / 100.0;
                let pc = |t: u64| t as f64 / all;
                println!(
                    "{:12}{nodes:4} {:22} {:7.2} s  active {:5.1} spec {:5.1} idle {:5.1} gc {:5.1} over {:4.1} %  gcs/node {:5.1} orders {:3} switches {:3} heap {:4.1}  p99.9 {:6.1} ms  [{:.1} s]",
                    pattern.name(), policy.name(), out.end as f64 / 1e9, pc(t.active), pc(t.speculative), pc(t.idle), pc(t.collecting), pc(t.overhead),
                    t.collections as f64 / nodes as f64, out.orders, out.switches.iter().filter(|s| s.1 == 0).count(), t.heap as f64 / nodes as f64 / 1e6,
                    out.percentile(999) as f64 / 1e6, start.elapsed().as_secs_f64()
                );
            }
        }
    }
    let _ = Mode::Independent;
}
