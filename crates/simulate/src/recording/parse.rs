//! A node's file.

use crate::Time;
use crate::trace::Wrong;
use std::collections::HashMap;

/// No recording has more events: some gigabytes.
const MOST_EVENTS: usize = 1 << 26;
/// The longest name of a node.
const LONGEST_NAME: usize = 255;

/// Something that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The processor was used: by the program, for messages and switches.
    Computes(Time),
    Overhead(Time),
    /// Bytes were allocated; nurseries have freed some.
    Allocates(u64),
    Frees(u64),
    /// A message of this number went to a node, one of [`Recording::names`].
    Sends {
        number: u64,
        to: u32,
        bytes: u32,
    },
    /// One came.
    Receives {
        from: u32,
        number: u64,
    },
    /// A wait was ended; went on after it: task, number.
    Rings(u64, u64),
    Waited(u64, u64),
    /// It waited for the clock; for others, in vain; for something outside.
    Slept(Time),
    InVain(Time),
    Outside(Time),
    /// It made a thread.
    Born(u64),
    /// It ended; needed what one that has ended has done.
    Over(u64),
    Joins(u64),
    /// It did what another one needs; needed that.
    Marks(u64),
    Needs(u64),
    /// A collection: how long, bytes before, bytes that live.
    Full(Time, u64, u64),
    Young(Time, u64, u64),
}

/// Who did something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Actor {
    Task(u64),
    Handler(u64),
}

/// What one node wrote down.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// Its name.
    pub node: String,
    /// When the program began, in nanoseconds since 1970.
    pub begin: u64,
    /// How long it took by the clock.
    pub wall: Time,
    /// What processors gave to the process meanwhile, the link's thread included.
    pub processor: Time,
    /// How long the worker had nothing to run.
    pub idle: Time,
    /// The file ends too early: the recording was too long, or the node was killed.
    pub cut: bool,
    /// Other nodes.
    pub(super) names: Vec<String>,
    /// What happened, in order.
    pub(super) events: Vec<(Actor, Event)>,
}

impl Recording {
    /// Reads a file's text. Memory is bounded by the text's length.
    ///
    /// # Errors
    /// What can't be read, and its line.
    pub fn parse(text: &str) -> Result<Recording, Wrong> {
        let mut lines = text.lines().enumerate().map(|(i, l)| (i + 1, l)).filter(|(_, l)| !l.is_empty());
        let wrong = |line, what| Wrong { line, what };
        match lines.next() {
            Some((_, l)) if l == kumi_record::HEAD => {}
            Some((line, l)) if l.starts_with("kumi-recording ") => {
                return Err(wrong(line, "a recording of another version; this one reads 1"));
            }
            other => return Err(wrong(other.map_or(1, |o| o.0), "the first line of a recording is `kumi-recording 1`")),
        }
        let (line, node) = lines.next().ok_or(wrong(2, "the node's name is missing"))?;
        let node = node.strip_prefix("node ").filter(|n| is_name(n)).ok_or(wrong(line, "the second line is `node` and its name"))?;
        let mut r = Recording { node: node.to_owned(), cut: true, ..Recording::default() };
        let mut names = HashMap::new();
        let mut begun = false;
        for (line, l) in lines {
            let (first, rest) = l.split_once(' ').unwrap_or((l, ""));
            let numbers = || rest.split(' ').map(number).collect::<Option<Vec<u64>>>();
            match first {
                "begin" if !begun => {
                    begun = true;
                    r.begin = number(rest).ok_or(wrong(line, "`begin` needs a time"))?;
                }
                "end" => {
                    let Some([wall, processor, idle]) = numbers().and_then(|n| <[u64; 3]>::try_from(n).ok()) else {
                        return Err(wrong(line, "`end` needs three times"));
                    };
                    (r.wall, r.processor, r.idle, r.cut) = (wall, processor, idle, false);
                }
                "cut" => r.cut = true,
                _ => {
                    let actor = actor(first).filter(|_| begun).ok_or(wrong(line, "a line begins with a task, t1, or a handler, h1"))?;
                    for word in rest.split(' ').filter(|w| !w.is_empty()) {
                        let event = event(word, &mut names, &mut r.names);
                        let Some(event) = event else {
                            // What a killed node wrote last may be half a word.
                            if r.cut && !text.ends_with('\n') && line == text.split('\n').count() {
                                return Ok(r);
                            }
                            return Err(wrong(line, "a step that can't be read"));
                        };
                        r.events.push((actor, event));
                    }
                    if r.events.len() > MOST_EVENTS {
                        return Err(wrong(line, "more than 67,108,864 steps"));
                    }
                }
            }
        }
        Ok(r)
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= LONGEST_NAME && !name.contains(['/', ' ']) && !name.contains(char::is_control)
}

fn number(word: &str) -> Option<u64> {
    if word.is_empty() || !word.bytes().all(|b| b.is_ascii_digit()) { None } else { word.parse().ok() }
}

fn actor(word: &str) -> Option<Actor> {
    let n = number(word.get(1..)?)?;
    match word.as_bytes()[0] {
        b't' => Some(Actor::Task(n)),
        b'h' => Some(Actor::Handler(n)),
        _ => None,
    }
}

fn event(word: &str, known: &mut HashMap<String, u32>, names: &mut Vec<String>) -> Option<Event> {
    let rest = word.get(1..)?;
    let mut named = |name: &str| {
        if let Some(n) = known.get(name) {
            return Some(*n);
        }
        let n = u32::try_from(names.len()).ok().filter(|_| is_name(name))?;
        names.push(name.to_owned());
        known.insert(name.to_owned(), n);
        Some(n)
    };
    let pair = || rest.split_once('.').and_then(|(a, b)| Some((number(a)?, number(b)?)));
    let collection = || {
        let mut parts = rest.split('/').map(number);
        let three = (parts.next()??, parts.next()??, parts.next()??);
        parts.next().is_none().then_some(three)
    };
    Some(match word.as_bytes()[0] {
        b'c' => Event::Computes(number(rest)?),
        b'o' => Event::Overhead(number(rest)?),
        b'a' => Event::Allocates(number(rest)?),
        b'n' => Event::Frees(number(rest)?),
        b's' => {
            let (n, to) = rest.split_once('>')?;
            let (to, bytes) = to.rsplit_once(':')?;
            Event::Sends { number: number(n)?, to: named(to)?, bytes: number(bytes)?.min(u32::MAX as u64) as u32 }
        }
        b'w' => match rest.rsplit_once('/') {
            Some((from, n)) => Event::Receives { from: named(from)?, number: number(n)? },
            None => pair().map(|(a, b)| Event::Waited(a, b))?,
        },
        b'v' => pair().map(|(a, b)| Event::Rings(a, b))?,
        b'z' => Event::Slept(number(rest)?),
        b'y' => Event::InVain(number(rest)?),
        b'x' => Event::Outside(number(rest)?),
        b'b' => Event::Born(number(rest)?),
        b'd' => Event::Over(number(rest)?),
        b'j' => Event::Joins(number(rest)?),
        b'm' => Event::Marks(number(rest)?),
        b'q' => Event::Needs(number(rest)?),
        b'F' => collection().map(|(t, b, l)| Event::Full(t, b, l))?,
        b'Y' => collection().map(|(t, b, l)| Event::Young(t, b, l))?,
        _ => return None,
    })
}
