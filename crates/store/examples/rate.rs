//! Durable puts a second by so many callers, and how often the disk was waited for. To be run with `--release`; it judges nothing.
//!
//!     rate FILE [CALLERS [BYTES]]

use kumi_segments::{Call, Put};
use kumi_store::{Store, store};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

fn main() {
    let mut args = std::env::args().skip(1);
    let path = args.next().expect("a file");
    let callers: u64 = args.next().map_or(64, |n| n.parse().expect("how many callers"));
    let bytes: usize = args.next().map_or(64, |n| n.parse().expect("how many bytes"));
    let store_ = Store::open(path.as_ref()).unwrap();
    let (stop, done) = (AtomicBool::new(false), AtomicU64::new(0));
    let before = store_.stats();
    let started = Instant::now();
    std::thread::scope(|s| {
        for t in 0..callers {
            let (store_, stop, done) = (&store_, &stop, &done);
            s.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let put = Put { store: store(format!("key.{}", t % 8), vec![b'x'; bytes]), wait: false };
                    store_.ask(Call::Put(put)).unwrap();
                    done.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        std::thread::sleep(Duration::from_secs(4));
        stop.store(true, Ordering::Relaxed);
    });
    let long = started.elapsed().as_secs_f64();
    let (done, after) = (done.load(Ordering::Relaxed), store_.stats());
    let syncs = after.syncs - before.syncs;
    println!(
        "{callers} callers, {bytes} bytes: {:.0} puts/s, {syncs} syncs, {:.1} puts a sync, {:.2} ms each, file {} KiB",
        done as f64 / long,
        done as f64 / syncs as f64,
        long * 1000.0 / syncs as f64,
        after.bytes >> 10
    );
}
