//! A node's configuration file: TOML, its keys the names of [`SETTINGS`](super::settings::SETTINGS), rules as tables.
//!
//! **Invariant.** All mistakes are found, each with its line and what would be right. What is wrong is not used.

use super::settings::{Given, Kind, Origin, Setting, Settings, find, meant};
use kumi_segments::Act;
use std::io::Read;
use std::ops::Range;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// More is no configuration.
const MOST: u64 = 1 << 20;

/// Not more than may be one, of a pipe or a device either.
fn text_of(path: &str) -> std::io::Result<String> {
    let mut text = String::new();
    std::fs::File::open(path)?.take(MOST + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MOST {
        return Err(std::io::Error::other("it is longer than 1 MiB"));
    }
    Ok(text)
}

/// Reads a file into the settings.
pub fn read(path: &str, settings: &mut Settings) {
    let text = match text_of(path) {
        Ok(t) => t,
        Err(e) => return settings.wrong(&Origin::File(path.to_owned()), format!("the configuration can't be read: {e}")),
    };
    settings.files.push(path.to_owned());
    Reader { path, text: &text, settings }.all();
}

struct Reader<'a> {
    path: &'a str,
    text: &'a str,
    settings: &'a mut Settings,
}

impl Reader<'_> {
    fn at(&self, span: &Range<usize>) -> Origin {
        let before = self.text.as_bytes().iter().take(span.start);
        Origin::Line(self.path.to_owned(), 1 + before.filter(|b| **b == b'\n').count())
    }
    fn wrong(&mut self, span: &Range<usize>, text: impl Into<String>) {
        let place = self.at(span);
        self.settings.wrong(&place, text);
    }
    /// The same of a setting, or a part of one.
    fn refuse(&mut self, name: &'static str, span: &Range<usize>, text: impl Into<String>) {
        let place = self.at(span);
        self.settings.refuse(name, &place);
        self.settings.wrong(&place, text);
    }
    fn all(&mut self) {
        let (table, errors) = DeTable::parse_recoverable(self.text);
        for e in errors {
            self.wrong(&e.span().unwrap_or(0..0), format!("no TOML: {}", e.message()));
        }
        for (key, value) in table.get_ref().iter() {
            self.entry(key, value);
        }
    }
    fn entry(&mut self, key: &Spanned<std::borrow::Cow<str>>, value: &Spanned<DeValue>) {
        let name = key.get_ref().as_ref();
        if name == "program" {
            return self.program(value);
        }
        let Some(setting) = find(name) else {
            let said = match meant(name) {
                Some(m) => format!("{name:?} is no setting: did you mean {m:?}?"),
                None => format!("{name:?} is no setting; kumi node --help names them all"),
            };
            return self.wrong(&key.span(), said);
        };
        match setting.kind {
            Kind::Rules => self.rules(value),
            Kind::Addresses => match value.get_ref() {
                DeValue::Array(all) => all.iter().for_each(|v| self.value(setting, v)),
                _ => self.value(setting, value),
            },
            _ => self.value(setting, value),
        }
    }
    fn value(&mut self, setting: &'static Setting, value: &Spanned<DeValue>) {
        let text = match (setting.kind, value.get_ref()) {
            (Kind::Count, DeValue::Integer(n)) if n.radix() == 10 => n.as_str().to_owned(),
            (Kind::Seconds, DeValue::Integer(n)) if n.radix() == 10 => n.as_str().to_owned(),
            (Kind::Seconds, DeValue::Float(n)) => n.as_str().to_owned(),
            (Kind::Flag, DeValue::Boolean(b)) => b.to_string(),
            (Kind::File, DeValue::String(s)) => {
                let folder = Path::new(self.path).parent().unwrap_or(Path::new(""));
                folder.join(s.as_ref()).to_string_lossy().into_owned()
            }
            (Kind::Text | Kind::Address | Kind::Addresses | Kind::Word(_), DeValue::String(s)) => s.as_ref().to_owned(),
            (kind, _) => {
                let right = match kind {
                    Kind::Count => "a whole number, such as 3",
                    Kind::Seconds => "a number of seconds, such as 5 or 0.5",
                    Kind::Flag => "true or false",
                    Kind::Addresses => "an address or a list of them, such as [\"10.0.0.1:7000\"]",
                    _ => "a text in quotes",
                };
                return self.refuse(setting.name, &value.span(), format!("{} is {right}", setting.name));
            }
        };
        let origin = self.at(&value.span());
        self.settings.set(setting, text, origin);
    }
    fn program(&mut self, value: &Spanned<DeValue>) {
        match self.texts(value) {
            Some(values) if !values.is_empty() => self.settings.program = Some(Given { values, origin: self.at(&value.span()) }),
            _ => self.refuse("program", &value.span(), "program is a file, or a list of it and its arguments: [\"work.rb\", \"fast\"]"),
        }
    }
    /// A text, or a list of texts.
    fn texts(&self, value: &Spanned<DeValue>) -> Option<Vec<String>> {
        let text = |v: &DeValue| v.as_str().map(str::to_owned);
        match value.get_ref() {
            DeValue::Array(all) => all.iter().map(|v| text(v.get_ref())).collect(),
            one => Some(vec![text(one)?]),
        }
    }
    fn rules(&mut self, value: &Spanned<DeValue>) {
        let Some(all) = value.get_ref().as_array().filter(|all| all.iter().all(|v| v.get_ref().is_table())) else {
            return self.refuse("allow", &value.span(), "a rule is a table of its own: [[allow]], then node, keys and calls");
        };
        for rule in all.iter() {
            if let DeValue::Table(t) = rule.get_ref() {
                self.rule(t, &rule.span());
            }
        }
    }
    fn rule(&mut self, table: &DeTable, span: &Range<usize>) {
        let (mut node, mut keys, mut calls) = (None, None, None);
        for (key, value) in table.iter() {
            let place = match key.get_ref().as_ref() {
                "node" => &mut node,
                "keys" => &mut keys,
                "calls" => &mut calls,
                other => {
                    self.refuse("allow", &key.span(), format!("{other:?} is no part of a rule, which has node, keys and calls"));
                    continue;
                }
            };
            match self.texts(value).filter(|t| t.iter().all(|t| !t.is_empty() && !t.contains(char::is_control))) {
                Some(t) if !t.is_empty() => *place = Some((t, value.span())),
                _ => self.refuse("allow", &value.span(), format!("{} is a text, or a list of texts", key.get_ref())),
            }
        }
        let (Some((nodes, _)), Some((keys, _)), Some((calls, at))) = (node, keys, calls) else {
            return self.refuse(
                "allow",
                span,
                "a rule says node, keys and calls: node = \"west*\", keys = \"job.*\", calls = [\"put\", \"take\"]",
            );
        };
        let acts = Act::ALL.map(|a| a.0);
        if let Some(c) = calls.iter().find(|c| *c != "*" && !acts.contains(&c.as_str())) {
            return self.refuse("allow", &at, format!("{c:?} is no call: they are {}, and * for all", acts.join(", ")));
        }
        let calls: Vec<&str> = if calls.iter().any(|c| c == "*") { acts.to_vec() } else { calls.iter().map(String::as_str).collect() };
        let origin = self.at(span);
        let mut lines = self.settings.one("allow").map_or(String::new(), str::to_owned);
        for node in &nodes {
            for key in &keys {
                lines.push_str(&format!("{node}\t{key}\t{}\n", calls.join(",")));
            }
        }
        if let Some(allow) = find("allow") {
            self.settings.set(allow, lines, origin);
        }
    }
}
