//! What clients may do: by their names and the names of keys.
//!
//! **Invariant.** Where there is any rule, a call is done only if for each of its keys a rule allows it. A client's name is the one that
//! its connection has proven.

use super::message::{Call, Watch};
use crate::manager::Kind;

/// What a call does to a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// `put`, and outputs of a commit that are no updates.
    Put = 1,
    /// `update`.
    Update = 2,
    /// `take`.
    Take = 4,
    /// `peek`, and `watch`.
    Peek = 8,
    /// `size`, `stat`, `keys`.
    Stat = 16,
    /// `limit`.
    Limit = 32,
}

impl Act {
    /// All of them, by name.
    pub const ALL: [(&str, Act); 6] =
        [("put", Act::Put), ("update", Act::Update), ("take", Act::Take), ("peek", Act::Peek), ("stat", Act::Stat), ("limit", Act::Limit)];
}

/// Whose calls of which keys are done. A pattern is a name in which `*` stands for any characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// A pattern of nodes' names.
    pub node: String,
    /// A pattern of keys.
    pub keys: String,
    /// What is allowed.
    pub acts: Vec<Act>,
}

/// The rules of a node; none: all may do all.
#[derive(Clone, Debug, Default)]
pub struct Rules(Vec<Rule>);

impl Rules {
    /// These rules.
    pub fn new(rules: Vec<Rule>) -> Rules {
        Rules(rules)
    }
    /// May everybody do everything?
    pub fn is_open(&self) -> bool {
        self.0.is_empty()
    }
    /// May this client do so?
    pub fn allow(&self, client: &[u8], key: &[u8], act: Act) -> bool {
        let fits = |r: &Rule| r.acts.contains(&act) && matches(r.node.as_bytes(), client) && matches(r.keys.as_bytes(), key);
        self.is_open() || self.0.iter().any(fits)
    }
    /// What comes back of one's own is always taken.
    pub(super) fn allow_call<V>(&self, client: &[u8], call: &Call<V>) -> bool {
        let store = |s: &super::message::Store<V>| self.allow(client, &s.key, if s.update { Act::Update } else { Act::Put });
        match call {
            _ if self.is_open() => true,
            Call::Put(p) => store(&p.store),
            Call::Get(ask) => ask.inputs.iter().all(|(key, kind, _)| {
                let act = if *kind == Kind::Take { Act::Take } else { Act::Peek };
                self.allow(client, key, act)
            }),
            Call::Commit { outputs, .. } => outputs.iter().all(store),
            Call::Stats(key) => self.allow(client, key, Act::Stat),
            Call::Limit(key, _) => self.allow(client, key, Act::Limit),
            Call::Watch(Watch::Begin { key, .. }) => self.allow(client, key, Act::Peek),
            // Names that it may not see are left out.
            Call::Names { .. } | Call::GiveBack { .. } | Call::Extend { .. } | Call::Leave(_) | Call::Watch(_) => true,
        }
    }
}

/// Does a text fit a pattern, in which `*` stands for any characters?
pub fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    // Where the last `*` stood, and how far it reaches.
    let mut star = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(c) if *c == text[t] => {
                p += 1;
                t += 1;
            }
            _ => match &mut star {
                Some((at, reach)) => {
                    *reach += 1;
                    (p, t) = (*at + 1, *reach);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, text, fits) in [
            ("west", "west", true),
            ("west", "west2", false),
            ("west*", "west", true),
            ("west*", "west2", true),
            ("*", "", true),
            ("", "", true),
            ("", "a", false),
            ("*a*b", "xaxbxab", true),
            ("*a*b", "xaxbxabc", false),
            ("a**", "a", true),
        ] {
            assert_eq!(matches(pattern.as_bytes(), text.as_bytes()), fits, "{pattern} {text}");
        }
        // Many stars take no longer than their number times the text.
        assert!(!matches("*a".repeat(100).as_bytes(), "a".repeat(99).as_bytes()));
    }

    #[test]
    fn without_rules_all_is_allowed_and_with_some_only_what_one_says() {
        assert!(Rules::default().allow(b"east", b"job", Act::Take));
        let rules = Rules::new(vec![Rule { node: "west*".into(), keys: "job.*".into(), acts: vec![Act::Put, Act::Take] }]);
        assert!(rules.allow(b"west1", b"job.mail", Act::Put));
        assert!(!rules.allow(b"west1", b"job.mail", Act::Peek));
        assert!(!rules.allow(b"west1", b"jobs", Act::Put));
        assert!(!rules.allow(b"east", b"job.mail", Act::Put));
    }
}
