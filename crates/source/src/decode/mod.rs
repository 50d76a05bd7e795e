//! Undoing compression: a chain of decoders from the wire to the reader, each with a buffer of input before it.
//!
//! Invariant: a decoder is run only with room for output, takes what it can of its input and gives at most what was asked
//! for; what it holds back comes with the next call, also when no input follows. So the work of one pull is bounded, and
//! how the input was cut changes nothing.

mod brotli;
mod gzip;
mod inflate;
mod zstd;

use self::brotli::Brotli;
use self::gzip::Gzip;
use self::inflate::Inflate;
use self::zstd::Zstd;
use crate::Error;

/// What one decoder makes for the next at a time.
const BETWEEN: usize = 64 << 10;
/// Codings a response may stack.
const MOST_STAGES: usize = 4;
/// Runs of inner decoders in one pull, after which the reader gets a turn.
const MOST_WORK: usize = 64;

/// Damage: which coding, and what is wrong.
pub(crate) struct Damage(pub &'static str, pub String);

/// A compression as files and `Content-Encoding` name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

impl Coding {
    /// The codings of a `Content-Encoding`, in the order in which they are to be undone; an unknown one is returned as `Err`.
    pub fn list(header: &str) -> Result<Vec<Coding>, String> {
        let mut all = Vec::new();
        for word in header.split(',').map(str::trim).filter(|w| !w.is_empty()) {
            all.push(match word.to_ascii_lowercase().as_str() {
                "identity" => continue,
                "gzip" | "x-gzip" => Coding::Gzip,
                "deflate" => Coding::Deflate,
                "br" => Coding::Brotli,
                "zstd" => Coding::Zstd,
                _ => return Err(format!("content coding '{word}' is not known")),
            });
            if all.len() > MOST_STAGES {
                return Err(format!("more than {MOST_STAGES} content codings"));
            }
        }
        all.reverse();
        Ok(all)
    }
}

enum Decoder {
    /// Holds the first bytes until they tell gzip or zstd from anything else.
    Sniff(Vec<u8>),
    /// Holds two bytes until they tell zlib from raw deflate: servers send either as `deflate`.
    SniffDeflate(Vec<u8>),
    /// First `held` from `at` on through the decoder, then its own input.
    Held {
        held: Vec<u8>,
        at: usize,
        then: Box<Decoder>,
    },
    Plain,
    Gzip(Box<Gzip>),
    Inflate(Box<Inflate>),
    Brotli(Box<Brotli>),
    Zstd(Box<Zstd>),
}

impl Decoder {
    fn of(coding: Coding) -> Decoder {
        match coding {
            Coding::Gzip => Decoder::Gzip(Box::new(Gzip::new())),
            Coding::Deflate => Decoder::SniffDeflate(Vec::new()),
            Coding::Brotli => Decoder::Brotli(Box::new(Brotli::new())),
            Coding::Zstd => Decoder::Zstd(Box::new(Zstd::new())),
        }
    }

    /// Takes bytes of `input` (how many is returned) and appends at most `max` to `out`.
    fn step(&mut self, input: &[u8], out: &mut Vec<u8>, max: usize) -> Result<usize, Damage> {
        match self {
            Decoder::Sniff(_) | Decoder::SniffDeflate(_) => {
                if self.settle(input, false) {
                    return Ok(0);
                }
                if let Decoder::Sniff(held) | Decoder::SniffDeflate(held) = self {
                    held.extend_from_slice(input);
                }
                Ok(input.len())
            }
            Decoder::Held { held, at, then } => {
                let n = then.step(&held[*at..], out, max)?;
                *at += n;
                if *at == held.len() {
                    let then = std::mem::replace(&mut **then, Decoder::Plain);
                    *self = then;
                }
                Ok(0)
            }
            Decoder::Plain => {
                let n = input.len().min(max);
                out.extend_from_slice(&input[..n]);
                Ok(n)
            }
            Decoder::Gzip(d) => d.step(input, out, max),
            Decoder::Inflate(d) => d.step(input, out, max),
            Decoder::Brotli(d) => d.step(input, out, max),
            Decoder::Zstd(d) => d.step(input, out, max),
        }
    }

    /// Holds first bytes, or has more to give than its input shows.
    fn is_unsettled(&self) -> bool {
        self.is_sniffing() || matches!(self, Decoder::Held { .. })
    }

    fn is_sniffing(&self) -> bool {
        matches!(self, Decoder::Sniff(_) | Decoder::SniffDeflate(_))
    }

    /// What the first bytes turn out to be, as soon as they tell; at the end of the input they always do.
    fn decide(&self, first: &[u8], ended: bool) -> Option<Decoder> {
        match self {
            Decoder::Sniff(_) => {
                // gzip with deflate inside; a zstd frame, or a skippable one, which may come first.
                let gzip: [&[u8]; 3] = [&[0x1f], &[0x8b], &[8]];
                let zstd: [&[u8]; 4] = [&[0x28], &[0xb5], &[0x2f], &[0xfd]];
                let skip: [&[u8]; 4] = [
                    &[0x50, 0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0x59, 0x5a, 0x5b, 0x5c, 0x5d, 0x5e, 0x5f],
                    &[0x2a],
                    &[0x4d],
                    &[0x18],
                ];
                let fits = |magic: &[&[u8]]| first.iter().zip(magic).all(|(b, any)| any.contains(b));
                if fits(&gzip) && first.len() >= gzip.len() {
                    return Some(Decoder::of(Coding::Gzip));
                }
                if (fits(&zstd) || fits(&skip)) && first.len() >= zstd.len() {
                    return Some(Decoder::of(Coding::Zstd));
                }
                (ended || !(fits(&gzip) || fits(&zstd) || fits(&skip))).then_some(Decoder::Plain)
            }
            Decoder::SniffDeflate(_) => match first[..] {
                [] | [_] if !ended => None,
                [] => Some(Decoder::Plain),
                [a, b, ..] if a & 15 == 8 && u16::from_be_bytes([a, b]) % 31 == 0 => Some(Decoder::Inflate(Box::new(Inflate::zlib()))),
                [0x1f, 0x8b, ..] => Some(Decoder::of(Coding::Gzip)),
                _ => Some(Decoder::Inflate(Box::new(Inflate::raw()))),
            },
            _ => None,
        }
    }

    /// Becomes what the first bytes say, held or still in the input, if they do; false: nothing changed.
    fn settle(&mut self, input: &[u8], ended: bool) -> bool {
        let (Decoder::Sniff(held) | Decoder::SniffDeflate(held)) = self else { return false };
        let held = std::mem::take(held);
        let first: Vec<u8> = held.iter().chain(input).take(4).copied().collect();
        let Some(then) = self.decide(&first, ended) else {
            if let Decoder::Sniff(empty) | Decoder::SniffDeflate(empty) = self {
                *empty = held;
            }
            return false;
        };
        *self = if held.is_empty() { then } else { Decoder::Held { held, at: 0, then: Box::new(then) } };
        true
    }

    /// The input is over: whether that is where it may be.
    fn finish(&self) -> Result<(), Damage> {
        match self {
            Decoder::Sniff(_) | Decoder::SniffDeflate(_) | Decoder::Held { .. } | Decoder::Plain => Ok(()),
            Decoder::Gzip(d) => d.finish(),
            Decoder::Inflate(d) => d.finish(),
            Decoder::Brotli(d) => d.finish(),
            Decoder::Zstd(d) => d.finish(),
        }
    }
}

struct Stage {
    decoder: Decoder,
    input: Vec<u8>,
    at: usize,
    /// Nothing is appended to `input` any more.
    ended: bool,
    produced: u64,
}

/// What a pull came to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Pull {
    Data,
    /// The wire must bring more (or end).
    Hungry,
    End,
    /// Much work without result: pull again, after others had a turn.
    Later,
}

/// The decoders of one source.
pub(crate) struct Chain {
    stages: Vec<Stage>,
    fed: u64,
    max_ratio: u64,
    grace: u64,
}

impl Chain {
    /// The codings in the order in which they are undone; none: the first bytes tell.
    pub fn new(codings: &[Coding], max_ratio: u64, grace: u64) -> Chain {
        let mut decoders: Vec<Decoder> = codings.iter().map(|c| Decoder::of(*c)).collect();
        if decoders.is_empty() {
            decoders.push(Decoder::Sniff(Vec::new()));
        }
        let stages = decoders.into_iter().map(|decoder| Stage { decoder, input: Vec::new(), at: 0, ended: false, produced: 0 }).collect();
        Chain { stages, fed: 0, max_ratio, grace }
    }

    /// Lets `fill` append wire bytes.
    pub fn feed<T>(&mut self, fill: impl FnOnce(&mut Vec<u8>) -> T) -> T {
        let first = &mut self.stages[0];
        if first.at == first.input.len() {
            first.input.clear();
            first.at = 0;
        }
        let before = first.input.len();
        let r = fill(&mut first.input);
        self.fed += (first.input.len() - before) as u64;
        r
    }

    /// The wire has ended.
    pub fn end(&mut self) {
        self.stages[0].ended = true;
    }

    /// Nothing is compressed and nothing is held: the wire may be read directly.
    pub fn is_transparent(&self) -> bool {
        matches!(&self.stages[..], [Stage { decoder: Decoder::Plain, input, at, .. }] if *at == input.len())
    }

    /// Appends at most `max` bytes to `out`.
    pub fn pull(&mut self, out: &mut Vec<u8>, max: usize, name: &str) -> Result<Pull, Error> {
        let mut work = MOST_WORK;
        let allowed = self.grace.max(self.fed.saturating_mul(self.max_ratio));
        match pull(&mut self.stages, out, max.max(1), &mut work, allowed) {
            Ok(p) => Ok(p),
            Err(Stop::Damage(Damage(coding, message))) => Err(Error::Compression { name: name.to_string(), coding, message }),
            Err(Stop::Bomb(output)) => Err(Error::Bomb { name: name.to_string(), input: self.fed, output }),
        }
    }
}

enum Stop {
    Damage(Damage),
    Bomb(u64),
}

fn pull(stages: &mut [Stage], out: &mut Vec<u8>, max: usize, work: &mut usize, allowed: u64) -> Result<Pull, Stop> {
    let Some((last, before)) = stages.split_last_mut() else { return Ok(Pull::End) };
    loop {
        let len = out.len();
        let unsettled = last.decoder.is_unsettled();
        let used = last.decoder.step(&last.input[last.at..], out, max).map_err(Stop::Damage)?;
        last.at += used;
        if out.len() > len {
            last.produced += (out.len() - len) as u64;
            if last.produced > allowed && !matches!(last.decoder, Decoder::Plain) {
                return Err(Stop::Bomb(last.produced));
            }
            return Ok(Pull::Data);
        }
        if unsettled && !last.decoder.is_sniffing() {
            continue;
        }
        if last.at < last.input.len() {
            if used == 0 {
                return Err(Stop::Damage(Damage("compression", "the data does not go on".to_string())));
            }
            continue;
        }
        if last.ended {
            if last.decoder.settle(&[], true) {
                continue;
            }
            last.decoder.finish().map_err(Stop::Damage)?;
            return Ok(Pull::End);
        }
        if before.is_empty() {
            return Ok(Pull::Hungry);
        }
        if *work == 0 {
            return Ok(Pull::Later);
        }
        *work -= 1;
        last.input.clear();
        last.at = 0;
        match pull(before, &mut last.input, BETWEEN, work, allowed)? {
            Pull::Data => {}
            Pull::End => last.ended = true,
            other => return Ok(other),
        }
    }
}

/// Appends up to `max` zeroes, lets `fill` overwrite a front part of them, whose length it returns, and drops the rest.
fn with_room<E>(out: &mut Vec<u8>, max: usize, input: usize, fill: impl FnOnce(&mut [u8]) -> Result<usize, E>) -> Result<(), E> {
    let len = out.len();
    // In proportion to the input, for most zeroes would be written for nothing; what has no room comes with the next call.
    let room = max.min(input.saturating_mul(8).clamp(4 << 10, 128 << 10));
    out.resize(len + room, 0);
    match fill(&mut out[len..]) {
        Ok(n) => {
            out.truncate(len + n.min(room));
            Ok(())
        }
        Err(e) => {
            out.truncate(len);
            Err(e)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn run(codings: &[Coding], bytes: &[u8], cut: usize, max: usize) -> Result<Vec<u8>, Error> {
        let mut chain = Chain::new(codings, 1000, 64 << 20);
        let mut out = Vec::new();
        let mut parts = bytes.chunks(cut);
        loop {
            let len = out.len();
            match chain.pull(&mut out, max, "x")? {
                Pull::Data => assert!(out.len() > len && out.len() - len <= max),
                Pull::Hungry => match parts.next() {
                    Some(p) => chain.feed(|v| v.extend_from_slice(p)),
                    None => chain.end(),
                },
                Pull::End => return Ok(out),
                Pull::Later => {}
            }
        }
    }

    fn gzip(b: &[u8]) -> Vec<u8> {
        let mut e = flate2::GzBuilder::new().filename("a").comment("c").extra(vec![1; 300]).write(Vec::new(), flate2::Compression::new(6));
        e.write_all(b).unwrap();
        e.finish().unwrap()
    }

    fn zlib(b: &[u8]) -> Vec<u8> {
        let mut e = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::new(6));
        e.write_all(b).unwrap();
        e.finish().unwrap()
    }

    fn raw(b: &[u8]) -> Vec<u8> {
        let mut e = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::new(6));
        e.write_all(b).unwrap();
        e.finish().unwrap()
    }

    fn brotli(b: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        ::brotli::BrotliCompress(&mut &b[..], &mut out, &Default::default()).unwrap();
        out
    }

    fn text() -> Vec<u8> {
        (0..20_000u32).flat_map(|i| format!("<row><n>{}</n></row>\n", i.wrapping_mul(2654435761) % 9973).into_bytes()).collect()
    }

    #[test]
    fn every_coding_in_every_cut() {
        let t = text();
        let two = [gzip(&t[..100_000]), gzip(&t[100_000..])].concat();
        let padded = [gzip(&t), vec![0; 100]].concat();
        let z = ::zstd::stream::encode_all(&t[..], 3).unwrap();
        let skippable = [&[0x52, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3][..], &z].concat();
        let cases: Vec<(Vec<Coding>, Vec<u8>)> = vec![
            (vec![], t.clone()),
            (vec![], gzip(&t)),
            (vec![], two),
            (vec![], padded),
            (vec![], z.clone()),
            (vec![], skippable),
            (vec![], [z.clone(), z[..0].to_vec()].concat()),
            (vec![Coding::Gzip], gzip(&t)),
            (vec![Coding::Deflate], zlib(&t)),
            (vec![Coding::Deflate], raw(&t)),
            (vec![Coding::Deflate], gzip(&t)),
            (vec![Coding::Brotli], brotli(&t)),
            (vec![Coding::Zstd], z.clone()),
            (vec![Coding::Gzip, Coding::Brotli], gzip(&brotli(&t))),
            (vec![Coding::Zstd, Coding::Deflate, Coding::Gzip], ::zstd::stream::encode_all(&zlib(&gzip(&t))[..], 1).unwrap()),
        ];
        for (i, (codings, bytes)) in cases.iter().enumerate() {
            for (cut, max) in [(1 << 20, 1 << 20), (1, 1000), (7, 13), (4096, 1)] {
                let got = run(codings, bytes, cut, max).unwrap_or_else(|e| panic!("case {i} cut {cut}: {e}"));
                assert!(got == t, "case {i} cut {cut} max {max}");
            }
        }
    }

    #[test]
    fn nothing_is_nothing() {
        for c in [vec![], vec![Coding::Gzip], vec![Coding::Deflate], vec![Coding::Brotli], vec![Coding::Zstd]] {
            assert_eq!(run(&c, b"", 1, 10).unwrap(), b"");
        }
    }

    #[test]
    fn damage_is_told() {
        let t = text();
        let mut bad_sum = gzip(&t);
        let n = bad_sum.len();
        bad_sum[n - 6] ^= 1;
        let g = gzip(&t);
        let cases: Vec<(Vec<Coding>, Vec<u8>)> = vec![
            (vec![], bad_sum),
            (vec![], g[..g.len() - 3].to_vec()),
            (vec![], g[..g.len() / 2].to_vec()),
            (vec![], [&g[..], b"rubbish"].concat()),
            (vec![Coding::Gzip], t.clone()),
            (vec![Coding::Deflate], zlib(&t)[..500].to_vec()),
            (vec![Coding::Brotli], brotli(&t)[..500].to_vec()),
            (vec![Coding::Zstd], t.clone()),
            (vec![], ::zstd::stream::encode_all(&t[..], 3).unwrap()[..500].to_vec()),
        ];
        for (i, (codings, bytes)) in cases.iter().enumerate() {
            for cut in [1 << 20, 1] {
                match run(codings, bytes, cut, 1 << 16) {
                    Err(Error::Compression { message, .. }) => assert!(!message.is_empty()),
                    other => panic!("case {i}: {:?}", other.map(|v| v.len())),
                }
            }
        }
    }

    #[test]
    fn bombs_are_stopped() {
        let zeroes = vec![0u8; 1 << 20];
        let once = gzip(&zeroes);
        let mut chain = Chain::new(&[], 100, 1000);
        chain.feed(|v| v.extend_from_slice(&once));
        let mut out = Vec::new();
        let e = loop {
            match chain.pull(&mut out, 1 << 16, "x") {
                Ok(Pull::Data) => {}
                Err(e) => break e,
                Ok(p) => panic!("{p:?}"),
            }
        };
        assert!(matches!(e, Error::Bomb { .. }), "{e}");
    }

    #[test]
    fn lists_of_codings() {
        assert_eq!(Coding::list("gzip, br").unwrap(), [Coding::Brotli, Coding::Gzip]);
        assert_eq!(Coding::list("identity").unwrap(), []);
        assert!(Coding::list("rot13").is_err());
        assert!(Coding::list("br,br,br,br,br").is_err());
    }
}
