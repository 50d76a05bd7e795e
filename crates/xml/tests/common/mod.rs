//! Documents to events as text, in pieces of any size.
#![allow(dead_code)]

use kumi_xml::{Error, ErrorKind, Event, Options, Position, Tokenizer};

/// How a document is cut.
#[derive(Clone, Copy, Debug)]
pub enum Pieces {
    Whole,
    Single,
    Random(u64),
    /// Random, and not always drained before the next.
    Lazy(u64),
}

/// xorshift64*
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

/// The events, one line each, and how it ended.
pub type Outcome = (Vec<String>, Result<(), (ErrorKind, Position, String)>);

pub fn show(tokenizer: &mut Tokenizer, events: &mut Vec<String>) -> Result<bool, Error> {
    let line = match tokenizer.next()? {
        None => return Ok(false),
        Some(Event::XmlDecl { version, encoding, standalone }) => format!("xml {version} {encoding:?} {standalone:?}"),
        Some(Event::Doctype { name, public, system }) => format!("doctype {name} {public:?} {system:?}"),
        Some(Event::Start(start)) => {
            let mut line = format!("<{} {{{}}}", start.name().raw(), start.name().namespace().unwrap_or(""));
            for a in start.attributes() {
                line += &format!(" {}{{{}}}={:?}", a.name.raw(), a.name.namespace().unwrap_or(""), a.value);
                if !a.specified {
                    line.push('*');
                }
            }
            line
        }
        Some(Event::End(name)) => format!("</{} {{{}}}", name.raw(), name.namespace().unwrap_or("")),
        Some(Event::Text(text)) => format!("text {text:?}"),
        Some(Event::Comment(text)) => format!("comment {text:?}"),
        Some(Event::Pi { target, data }) => format!("pi {target} {data:?}"),
    };
    let cdata = if line.starts_with("text") && tokenizer.cdata() { " cdata" } else { "" };
    let position = tokenizer.position();
    events.push(format!("{line}{cdata} @{position} {} depth {}", position.offset, tokenizer.depth()));
    Ok(true)
}

pub fn read(document: &[u8], pieces: Pieces, options: &Options) -> Outcome {
    let mut tokenizer = Tokenizer::new(options.clone());
    let mut events = Vec::new();
    let result = (|| {
        let mut random = Random(if let Pieces::Random(seed) | Pieces::Lazy(seed) = pieces { seed | 1 } else { 1 });
        let mut rest = document;
        while !rest.is_empty() {
            let n = match pieces {
                Pieces::Whole => rest.len(),
                Pieces::Single => 1,
                Pieces::Random(_) | Pieces::Lazy(_) => {
                    let most = if random.below(4) == 0 { 200 } else { 12 };
                    random.below(most) + 1
                }
            };
            let (piece, after) = rest.split_at(n.min(rest.len()));
            rest = after;
            tokenizer.feed(piece)?;
            if let Pieces::Lazy(_) = pieces {
                for _ in 0..random.below(4) {
                    show(&mut tokenizer, &mut events)?;
                }
                continue;
            }
            while show(&mut tokenizer, &mut events)? {}
        }
        tokenizer.finish();
        while show(&mut tokenizer, &mut events)? {}
        Ok(())
    })();
    (events, result.map_err(|e: Error| (e.kind, e.position, e.message)))
}

/// Reads it in every way; all must agree. What they agree on.
pub fn read_all_ways(name: &str, document: &[u8], options: &Options) -> Outcome {
    let whole = read(document, Pieces::Whole, options);
    for pieces in [
        Pieces::Single,
        Pieces::Random(document.len() as u64 * 7919 + 17),
        Pieces::Random(0xC0FFEE),
        Pieces::Lazy(0xBEEF + document.len() as u64),
    ] {
        let other = read(document, pieces, options);
        if other != whole {
            let n = other.0.iter().zip(&whole.0).take_while(|(a, b)| a == b).count();
            panic!(
                "{name}: in pieces ({pieces:?}) it reads otherwise:\n  whole {:?} {:?}\n  pieces {:?} {:?}",
                whole.0.get(n),
                whole.1,
                other.0.get(n),
                other.1
            );
        }
    }
    whole
}
