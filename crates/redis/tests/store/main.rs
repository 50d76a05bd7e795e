//! The store with a real server: `redis-server` or `valkey-server`, each in a folder of its own, on a Unix socket, with
//! `appendfsync always`. Where neither is installed the tests count as ignored.

mod client;
mod cluster;
mod faults;
mod model;
mod nodes;
mod refusals;
mod server;

use libtest_mimic::{Arguments, Trial};

fn main() {
    let arguments = Arguments::from_args();
    let missing = server::program().is_none();
    if missing {
        eprintln!("NOT RUN: there is no redis-server and no valkey-server here (apt-get install redis-server)");
    }
    let all = [model::ALL, faults::ALL, refusals::ALL, cluster::ALL].concat();
    let trials = all.into_iter().map(|(name, f)| {
        Trial::test(name, move || {
            f();
            Ok(())
        })
        .with_ignored_flag(missing)
    });
    let conclusion = libtest_mimic::run(&arguments, trials.collect());
    cluster::end();
    conclusion.exit();
}
