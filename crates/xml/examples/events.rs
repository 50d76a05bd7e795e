//! All events of a file: their number, and a checksum over names and text, to be held beside other parsers.
//!
//! `events FILE [PIECE-BYTES [ROUNDS [count]]]`; rounds are timed one by one, the file being in memory. With `count` there is no
//! checksum: the tokeniser alone.

use kumi_xml::{Event, Options, Tokenizer};
use std::time::Instant;

/// Cheap, and sees every byte count and the ends of every name and text.
fn mix(sum: u64, text: &str) -> u64 {
    let bytes = text.as_bytes();
    let ends = bytes.first().map_or(0, |&first| first as u64 + (bytes[bytes.len() - 1] as u64) * 31);
    sum.wrapping_mul(31).wrapping_add(bytes.len() as u64).wrapping_add(ends)
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let Some(path) = arguments.next() else {
        eprintln!("usage: events FILE [PIECE-BYTES [ROUNDS]]");
        std::process::exit(2);
    };
    let mut number = |otherwise: usize| arguments.next().and_then(|n| n.parse().ok()).unwrap_or(otherwise).max(1);
    let (piece, rounds) = (number(64 << 10), number(5));
    let count = arguments.next().is_some_and(|word| word == "count");
    let document = std::fs::read(&path).unwrap_or_else(|e| {
        eprintln!("{path}: {e}");
        std::process::exit(1);
    });
    for _ in 0..rounds {
        let start = Instant::now();
        match read(&document, piece, count) {
            Ok((events, sum)) => {
                let seconds = start.elapsed().as_secs_f64();
                println!(
                    "{events} events, checksum {sum:016x}, {:.1} ms, {:.0} MB/s",
                    seconds * 1e3,
                    document.len() as f64 / seconds / 1e6
                );
            }
            Err(error) => {
                eprintln!("{path}: {error}");
                std::process::exit(1);
            }
        }
    }
}

fn read(document: &[u8], piece: usize, count: bool) -> Result<(u64, u64), kumi_xml::Error> {
    let mut tokenizer = Tokenizer::new(Options::default());
    let (mut events, mut sum) = (0u64, 0u64);
    for part in document.chunks(piece) {
        tokenizer.feed(part)?;
        drain(&mut tokenizer, &mut events, &mut sum, count)?;
    }
    tokenizer.finish();
    drain(&mut tokenizer, &mut events, &mut sum, count)?;
    Ok((events, sum))
}

fn drain(tokenizer: &mut Tokenizer, events: &mut u64, sum: &mut u64, count: bool) -> Result<(), kumi_xml::Error> {
    while let Some(event) = tokenizer.next()? {
        *events += 1;
        if count {
            continue;
        }
        match event {
            Event::Start(start) => {
                *sum = mix(*sum, start.name().raw());
                for attribute in start.attributes() {
                    *sum = mix(mix(*sum, attribute.name.raw()), attribute.value);
                }
            }
            Event::End(name) => *sum = mix(*sum, name.raw()),
            Event::Text(text) => *sum = mix(*sum, text),
            _ => {}
        }
    }
    Ok(())
}
