//! What a node can be told: one table for switches, variables of the environment and the file.
//!
//! **Invariant.** A setting has one name, `hand-over`: its switch is `--hand-over`, its variable KUMI_NODE_HAND_OVER, its key in the file
//! `hand-over`. A switch comes before the variable, and that before the file. Where each came from is known, so that a mistake names its
//! place.

use std::collections::BTreeMap;
use std::fmt;

/// What a setting may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Any text that is not empty.
    Text,
    /// A file: in a configuration file relative to that one's folder.
    File,
    /// An address.
    Address,
    /// Several.
    Addresses,
    /// A whole number from 1 on.
    Count,
    /// A number of seconds.
    Seconds,
    /// It is so, or not.
    Flag,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Rules, of the file only: lines of node, keys and calls with tabs between.
    Rules,
}

/// A setting.
pub struct Setting {
    pub name: &'static str,
    pub variable: &'static str,
    pub kind: Kind,
    /// What a switch without a value lacks.
    pub wants: &'static str,
    /// What holds without it.
    pub default: &'static str,
}

const fn setting(name: &'static str, variable: &'static str, kind: Kind, wants: &'static str, default: &'static str) -> Setting {
    Setting { name, variable, kind, wants, default }
}

/// All of them, in the order in which they are shown.
pub const SETTINGS: &[Setting] = &[
    setting("name", "KUMI_NODE_NAME", Kind::Text, "a name", ""),
    setting("listen", "KUMI_NODE_LISTEN", Kind::Addresses, "an address, such as 127.0.0.1:7000", "127.0.0.1, any port"),
    setting("public", "KUMI_NODE_PUBLIC", Kind::Address, "an address", "the first of listen"),
    setting("join", "KUMI_NODE_JOIN", Kind::Addresses, "the address of a node", "nobody"),
    setting("await", "KUMI_NODE_AWAIT", Kind::Count, "a number of nodes", "nobody is waited for"),
    setting("cert", "KUMI_NODE_CERT", Kind::File, "a PEM file", "none: TCP is not encrypted"),
    setting("key", "KUMI_NODE_KEY", Kind::File, "a PEM file", "none"),
    setting("ca", "KUMI_NODE_CA", Kind::File, "a PEM file", "none"),
    setting("insecure", "KUMI_NODE_INSECURE", Kind::Flag, "", "no"),
    setting("drain", "KUMI_NODE_DRAIN", Kind::Seconds, "a number of seconds", "5"),
    setting("hand-over", "KUMI_NODE_HAND_OVER", Kind::Text, "names of nodes, such as 'node*'", "nobody"),
    setting("web", "KUMI_NODE_WEB", Kind::Address, "an address, such as 127.0.0.1:8080", "no pages"),
    setting("web-token", "KUMI_NODE_WEB_TOKEN", Kind::Text, "a secret", "a new one at each start"),
    setting("log-level", "KUMI_NODE_LOG_LEVEL", Kind::Word(&["info", "warn", "error", "off"]), "a level", "error; info without a program"),
    setting("log-format", "KUMI_NODE_LOG_FORMAT", Kind::Word(&["auto", "text", "json"]), "a format", "auto: text on a terminal, else json"),
    setting("patience", "KUMI_NODE_PATIENCE", Kind::Count, "how many times longer than usual others may take", "1"),
    setting("record", "KUMI_NODE_RECORD", Kind::File, "a folder", "nothing is recorded"),
    setting(
        "gc-schedule",
        "KUMI_NODE_GC_SCHEDULE",
        Kind::Word(kumi_schedule::POLICIES),
        "a schedule of collections",
        "each node for itself",
    ),
    setting("allow", "KUMI_NODE_ALLOW", Kind::Rules, "", "all members may do all"),
];

/// More patience counts as this much.
pub const MOST_PATIENT: u32 = 1000;

/// The setting of this name.
pub fn find(name: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|s| s.name == name)
}

/// The name that is meant, where a name is none.
pub fn meant(name: &str) -> Option<&'static str> {
    let tidy = name.replace('_', "-").to_lowercase();
    let near = |s: &&Setting| distance(s.name, &tidy) <= if s.name.len() < 5 { 1 } else { 2 };
    SETTINGS.iter().filter(near).min_by_key(|s| distance(s.name, &tidy)).map(|s| s.name)
}

/// How many letters to add, drop or change.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut corner = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let cost = corner + usize::from(x != *y);
            corner = row[j + 1];
            row[j + 1] = cost.min(row[j] + 1).min(corner + 1);
        }
    }
    row[b.len()]
}

/// Where a setting was made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Origin {
    Switch(&'static str),
    Variable(&'static str),
    /// A file, and its line.
    Line(String, usize),
    /// A file as a whole.
    File(String),
    /// The words behind the name.
    Arguments,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Switch(name) => write!(f, "--{name}"),
            Origin::Variable(name) => f.write_str(name),
            Origin::Line(file, line) => write!(f, "{file}:{line}"),
            Origin::File(file) => f.write_str(file),
            Origin::Arguments => f.write_str("the command line"),
        }
    }
}

/// What was wrong, and where.
pub struct Mistake {
    pub place: Origin,
    pub text: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.text)
    }
}

/// A value that was given. Several addresses are several.
#[derive(Clone, Debug)]
pub struct Given {
    pub values: Vec<String>,
    pub origin: Origin,
}

/// What a node was told.
#[derive(Default)]
pub struct Settings {
    given: BTreeMap<&'static str, Given>,
    pub mistakes: Vec<Mistake>,
    /// Configuration files that were read.
    pub files: Vec<String>,
    /// The program, and where it stands.
    pub program: Option<Given>,
    /// Settings of a file that were not taken, since they have mistakes.
    refused: BTreeMap<&'static str, Origin>,
}

impl Settings {
    /// Sets it, unless it was set by what comes before.
    pub fn set(&mut self, setting: &'static Setting, value: String, origin: Origin) {
        match self.given.get_mut(setting.name) {
            Some(g) if rank(&g.origin) == rank(&origin) && setting.kind == Kind::Addresses => g.values.push(value),
            Some(g) if rank(&g.origin) < rank(&origin) => {}
            _ => drop(self.given.insert(setting.name, Given { values: vec![value], origin })),
        }
    }
    pub fn wrong(&mut self, place: &Origin, text: impl Into<String>) {
        self.mistakes.push(Mistake { place: place.clone(), text: text.into() });
    }
    /// What stands there for a setting is not taken.
    pub fn refuse(&mut self, name: &'static str, place: &Origin) {
        self.refused.entry(name).or_insert_with(|| place.clone());
    }
    /// Where the mistakes begin of a setting that nothing comes before.
    pub fn refused(&self, name: &str) -> Option<&Origin> {
        let place = self.refused.get(name)?;
        self.get(name).is_none_or(|g| rank(&g.origin) >= rank(place)).then_some(place)
    }
    /// Puts mistakes in the order of the files' lines, behind those that have none.
    pub fn sort_mistakes(&mut self) {
        self.mistakes.sort_by(|a, b| match (&a.place, &b.place) {
            (Origin::Line(f, x), Origin::Line(g, y)) => (f, x).cmp(&(g, y)),
            (a, b) => matches!(a, Origin::Line(..)).cmp(&matches!(b, Origin::Line(..))),
        });
    }
    /// What the environment says.
    pub fn read_environment(&mut self, of: impl Fn(&str) -> Option<String>) {
        for s in SETTINGS.iter().filter(|s| s.name != "allow") {
            let Some(value) = of(s.variable).filter(|v| !v.is_empty()) else { continue };
            let origin = Origin::Variable(s.variable);
            match s.kind {
                Kind::Addresses => value.split(',').filter(|v| !v.is_empty()).for_each(|v| self.set(s, v.into(), origin.clone())),
                _ => self.set(s, value, origin),
            }
        }
    }
    pub fn get(&self, name: &str) -> Option<&Given> {
        self.given.get(name)
    }
    pub fn one(&self, name: &str) -> Option<&str> {
        self.get(name)?.values.first().map(String::as_str)
    }
    /// Is a flag set? What stands in a file may say that it is not.
    pub fn is(&self, name: &str) -> bool {
        self.one(name).is_some_and(|v| v != "false")
    }
    /// What the library is to find in the environment.
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        let value = |s: &Setting| match s.kind {
            Kind::Flag => self.is(s.name).then(|| "1".to_owned()),
            _ => self.get(s.name).map(|g| g.values.join(",")),
        };
        SETTINGS.iter().filter_map(|s| Some((s.variable, value(s)?))).collect()
    }
}

fn rank(o: &Origin) -> u8 {
    match o {
        Origin::Switch(_) | Origin::Arguments => 0,
        Origin::Variable(_) => 1,
        Origin::Line(..) | Origin::File(_) => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_variables_are_one_vocabulary() {
        for s in SETTINGS {
            assert_eq!(s.variable, format!("KUMI_NODE_{}", s.name.replace('-', "_").to_uppercase()));
        }
        assert_eq!(meant("lisen"), Some("listen"));
        assert_eq!(meant("hand_over"), Some("hand-over"));
        assert_eq!(meant("colour"), None);
        assert_eq!(distance("drain", "drains"), 1);
    }

    #[test]
    fn a_switch_comes_before_the_environment_and_that_before_the_file() {
        let listen = find("listen").unwrap();
        let mut s = Settings::default();
        let line = |n| Origin::Line("a.toml".into(), n);
        s.set(listen, "f:1".into(), line(1));
        s.set(listen, "f:2".into(), line(2));
        assert_eq!(s.get("listen").unwrap().values, ["f:1", "f:2"]);
        s.read_environment(|v| (v == "KUMI_NODE_LISTEN").then(|| "e:1,e:2".into()));
        assert_eq!(s.get("listen").unwrap().values, ["e:1", "e:2"]);
        s.set(listen, "s:1".into(), Origin::Switch("listen"));
        s.set(listen, "f:3".into(), line(3));
        assert_eq!(s.variables(), [("KUMI_NODE_LISTEN", "s:1".to_owned())]);
    }
}
