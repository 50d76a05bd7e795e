//! What demand costs on top of the binder: rows of a document in memory, bound and summed by an event handler
//! (`Push`), and by cursors in direct mode (one row at a time, and in batches), from a kept list, and with a thread
//! that parses ahead. Nanoseconds a row. `cargo run --release -p kumi-flow --example overhead [rows]`

use std::sync::Arc;
use std::time::Instant;

use kumi_flow::{Entry, Event, Options, Policy, Poll, Push, Registry, Root};
use kumi_source::{Source, Spec};
use kumi_xml::schema::parse_path;
use kumi_xml::{Field, RowView, Schema};

fn schema() -> Arc<Schema> {
    let mut b = Schema::builder();
    let row = b.class("Row");
    for name in ["key", "part", "line", "price", "comment"] {
        b.field(row, Field::new(name));
    }
    b.root_path(parse_path("/table/T", &[]).expect("a path"), row);
    b.build().expect("a schema")
}

fn sum(row: RowView<'_>) -> u64 {
    row.text(0).and_then(|t| t.parse::<u64>().ok()).unwrap_or(0) + row.field(4).map_or(0, |f| f.len() as u64)
}

fn entry(entry: Entry<'_>) -> u64 {
    match entry {
        Entry::Row(row) => sum(row.view()),
        _ => 0,
    }
}

fn timed(name: &str, rows: u64, f: impl Fn() -> u64) {
    let mut best = f64::MAX;
    let mut result = 0;
    for _ in 0..5 {
        let began = Instant::now();
        result = f();
        best = best.min(began.elapsed().as_nanos() as f64 / rows as f64);
    }
    println!("{name:28} {best:7.1} ns a row  (checksum {result})");
}

fn main() {
    let rows: u64 = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(500_000);
    let mut text = String::from("<table>\n");
    for i in 0..rows {
        text.push_str(&format!(
            "<T><key>{i}</key><part>{}</part><line>{}</line><price>{}.17</price><comment>carefully ironic deposits {i}</comment></T>\n",
            i * 7 % 20011,
            i % 7,
            i * 13 % 90001
        ));
    }
    text.push_str("</table>\n");
    let bytes: Arc<[u8]> = text.into_bytes().into();
    println!("{rows} rows, {} bytes each", bytes.len() as u64 / rows);
    let schema = schema();
    timed("event handler", rows, || {
        let mut total = 0;
        let mut push = Push::new(schema.clone(), kumi_xml::Options::default());
        let mut handler = |event: Event<'_>| {
            if let Event::Row { row, .. } = event {
                total += sum(row);
            }
        };
        for piece in bytes.chunks(64 << 10) {
            push.feed(piece, &mut handler).expect("well-formed");
        }
        push.finish(&mut handler).expect("well-formed");
        total
    });
    let pool: kumi_flow::Pool = Arc::new(|job| {
        std::thread::spawn(job);
        true
    });
    for (name, pool, removing, batch, policy) in [
        ("direct, small buffer", None, true, 256, Policy::Small),
        ("direct, batches", None, true, 256, Policy::Adaptive),
        ("direct, one at a time", None, true, 1, Policy::Adaptive),
        ("direct, paper's policy", None, true, 256, Policy::Paper),
        ("kept", None, false, 256, Policy::Adaptive),
        ("direct, parsed ahead", Some(pool), true, 256, Policy::Adaptive),
    ] {
        timed(name, rows, || {
            let registry = Registry::new(pool.clone());
            let source = Source::open(Spec::Bytes(bytes.clone()), kumi_source::Options::default()).expect("memory");
            let document = registry.open(source, schema.clone(), Options { policy, ..Options::default() });
            let Root::List(list) = document.root else { return 0 };
            let mut cursor = list.cursor(removing).expect("nobody has read it");
            let mut total = 0;
            loop {
                let read = if batch == 1 {
                    cursor.next(entry).map(|poll| {
                        poll.map(|got| {
                            got.map_or(0, |n| {
                                total += n;
                                1
                            })
                        })
                    })
                } else {
                    cursor.next_batch(batch, |e| {
                        total += entry(e);
                        true
                    })
                };
                match read.expect("well-formed") {
                    Poll::Ready(0) => return total,
                    Poll::Ready(_) => {}
                    Poll::Wait(..) => std::thread::yield_now(),
                    Poll::Busy(ticket) => {
                        let me = std::thread::current();
                        if let Some(subscription) = cursor.producer().subscribe(ticket, Box::new(move || me.unpark())) {
                            std::thread::park();
                            drop(subscription);
                        }
                    }
                }
            }
        });
    }
}
