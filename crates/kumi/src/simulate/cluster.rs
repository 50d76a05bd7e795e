//! The cluster that a program is replayed on: what switches and a file say of it.
//!
//! **Invariant.** A switch without its dashes is a name of the file, and both mean the same. A switch comes before the file. Mistakes of a
//! file are told with their line.

use kumi_simulate::{Setting, Time};
use toml::de::{DeTable, DeValue};

/// Names, in the order in which they count: what comes later may depend on what stands before.
const NAMES: [&str; 18] = [
    "setting",
    "round-trip",
    "send",
    "receive",
    "switch",
    "tick",
    "cores",
    "share",
    "bandwidth",
    "memory",
    "heap",
    "pause",
    "pause-mb",
    "ratio",
    "young",
    "young-pause",
    "young-pause-mb",
    "longest",
];
/// A longer file is no setting.
const LONGEST_FILE: u64 = 1 << 16;

/// No machine has more.
const MOST_CORES: u32 = 65536;

/// Is this the name of something that can be set?
pub fn is_name(name: &str) -> bool {
    NAMES.contains(&name)
}

/// What was said.
#[derive(Default)]
pub struct Cluster(Vec<(&'static str, String)>);

impl Cluster {
    /// A switch.
    ///
    /// # Errors
    /// It can't have this value.
    pub fn set(&mut self, name: &str, value: String) -> Result<(), String> {
        let known = NAMES.iter().find(|n| **n == name).ok_or_else(|| format!("{name:?} is no setting"))?;
        if *known != "setting" {
            apply(&mut Setting::ap1000(), known, &value).map_err(|m| format!("--{name} {m}"))?;
        }
        self.0.retain(|s| s.0 != name);
        self.0.push((known, value));
        Ok(())
    }
    /// All of it; `otherwise`: where no setting is named.
    ///
    /// # Errors
    /// The file can't be read, or says what can't be.
    pub fn setting(&self, otherwise: Setting) -> Result<Setting, String> {
        let said = |name: &str| self.0.iter().find(|s| s.0 == name).map(|s| s.1.as_str());
        let mut setting = match said("setting") {
            None => otherwise,
            Some(name) => match base(name) {
                Some(s) => s,
                None => file(name)?,
            },
        };
        for name in &NAMES[1..] {
            if let Some(value) = said(name) {
                apply(&mut setting, name, value).map_err(|m| format!("--{name} {m}"))?;
            }
        }
        // Who says only how far heaps may grow has them begin no larger.
        if said("memory").is_some() && said("heap").is_none() {
            setting.heap = setting.heap.min(setting.limit);
        }
        fits(&setting).map_err(|m| format!("--heap {m}"))?;
        Ok(setting)
    }
}

fn base(name: &str) -> Option<Setting> {
    match name {
        "ap1000" => Some(Setting::ap1000()),
        "local" => Some(Setting::local()),
        "recorded" => Some(Setting::recorded()),
        _ => None,
    }
}

fn file(path: &str) -> Result<Setting, String> {
    let read = std::fs::metadata(path)
        .and_then(|m| if m.len() > LONGEST_FILE { Err(std::io::Error::other("it is too long")) } else { std::fs::read_to_string(path) });
    let text = read.map_err(|e| format!("--setting is ap1000, local or a TOML file: {path}: {e}"))?;
    let at = |place: usize| format!("{path}:{}", 1 + text.as_bytes().iter().take(place).filter(|b| **b == b'\n').count());
    let table = DeTable::parse(&text).map_err(|e| format!("{}: no TOML: {}", at(e.span().map_or(0, |s| s.start)), e.message()))?;
    let mut said = Vec::new();
    for (key, value) in table.get_ref() {
        let name = NAMES.iter().position(|n| *n == key.get_ref().as_ref());
        let name = name.ok_or_else(|| format!("{}: {:?} is none of {}", at(key.span().start), key.get_ref(), NAMES.join(", ")))?;
        let value_text = match value.get_ref() {
            DeValue::String(s) => s.as_ref().to_owned(),
            DeValue::Integer(n) if n.radix() == 10 => n.as_str().to_owned(),
            DeValue::Float(n) => n.as_str().to_owned(),
            _ => return Err(format!("{}: {} is a number, or a text such as \"40us\"", at(value.span().start), NAMES[name])),
        };
        said.push((name, value_text, value.span().start));
    }
    // By their places in the list, not in the file.
    said.sort();
    let mut setting = Setting::ap1000();
    for (name, value, place) in said {
        match NAMES[name] {
            "setting" => setting = base(&value).ok_or_else(|| format!("{}: setting is ap1000 or local", at(place)))?,
            name => apply(&mut setting, name, &value).map_err(|m| format!("{}: {name} {m}", at(place)))?,
        }
    }
    fits(&setting).map_err(|m| format!("{path}: heap {m}"))?;
    Ok(setting)
}

/// A heap begins no larger than it may grow.
fn fits(s: &Setting) -> Result<(), String> {
    if s.heap <= s.limit { Ok(()) } else { Err(format!("is {} bytes, more than the {} bytes of memory that a node has", s.heap, s.limit)) }
}

fn apply(s: &mut Setting, name: &str, value: &str) -> Result<(), String> {
    let time = || time(value).ok_or(format!("is a time, such as 40us, 1.5ms or 2s, not {value:?}"));
    let bytes = || bytes(value).filter(|n| *n > 0).ok_or(format!("is a number of bytes, such as 512K or 25M, not {value:?}"));
    match name {
        // As the paper's machine shares it between the network and both nodes.
        "round-trip" => {
            let way = time()? / 2;
            // A recording has what nodes do.
            let part = if s.send == 0 && s.receive == 0 { 0 } else { way / 4 };
            (s.send, s.receive) = (part, part);
            s.latency = way - s.send - s.receive;
        }
        "send" => s.send = time()?,
        "receive" => s.receive = time()?,
        "switch" => s.switch = time()?,
        "tick" => s.tick = time()?,
        "cores" => {
            s.cores = value.parse().ok().filter(|n| *n <= MOST_CORES).ok_or(format!("is a number up to {MOST_CORES}, not {value:?}"))?;
        }
        "share" => s.share = time()?.max(1),
        "bandwidth" => s.bandwidth = bytes()?,
        "memory" => s.limit = bytes()?,
        "heap" => s.heap = bytes()?,
        "pause" => s.collecting.fixed = time()?,
        "pause-mb" => s.collecting.live_kb = time()? / 1024,
        "ratio" => {
            let ratio: f64 =
                value.parse().ok().filter(|r| (0.0..=1e9).contains(r)).ok_or(format!("is a number from 0 to 10^9, not {value:?}"))?;
            let trip = 2 * (s.latency + s.send + s.receive);
            s.collecting.live_kb = ((trip as f64 * ratio / 1024.0).round() as Time).min(Time::MAX / 4);
            s.collecting.fixed = 0;
        }
        "young" => s.young.space = bytes()?,
        "young-pause" => s.young.fixed = time()?,
        "young-pause-mb" => s.young.live_kb = time()? / 1024,
        "longest" => s.longest = time()?,
        _ => return Err("is no setting".into()),
    }
    Ok(())
}

/// The most that a time may be: a year.
const MOST: f64 = 3.2e16;

pub fn time(text: &str) -> Option<Time> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "ns" => 1.0,
        "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return None,
    };
    let plain = digits.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let ns = digits.parse::<f64>().ok().filter(|_| plain)? * unit;
    (ns <= MOST).then(|| ns.round() as Time)
}

fn bytes(text: &str) -> Option<u64> {
    kumi_budget::parse_bytes(text).map(|n| n as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_bytes() {
        assert_eq!((time("40us"), time("1.5ms"), time("2s"), time("7ns")), (Some(40_000), Some(1_500_000), Some(2_000_000_000), Some(7)));
        for t in ["", "1", "us", "-1us", "1e9s", "1 us", "infs", "1min", "99999999999s", "é", "1é"] {
            assert_eq!(time(t), None, "{t:?}");
        }
        assert_eq!((bytes("25M"), bytes("x")), (Some(25 << 20), None));
    }
    #[test]
    fn what_is_set() {
        let mut c = Cluster::default();
        c.set("ratio", "1024".into()).unwrap();
        c.set("round-trip", "80us".into()).unwrap();
        let s = c.setting(Setting::ap1000()).unwrap();
        assert_eq!((s.latency, s.send, s.receive, s.collecting.live_kb, s.collecting.fixed), (20_000, 10_000, 10_000, 80_000, 0));
        assert_eq!(s.collection(1 << 20, 0), 1024 * 80_000);
        assert!(c.set("memory", "0".into()).is_err() && c.set("ratio", "NaN".into()).is_err() && c.set("colour", "1".into()).is_err());
    }
}
