//! Names that a schema asks for, and which field a name in a document belongs to.

use std::collections::HashMap;
use std::fmt;

/// Which elements or attributes are meant, by name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NameTest {
    /// The local name; `None` for any.
    pub local: Option<Box<str>>,
    /// The namespace's name, `""` for none; `None` for any. An attribute without a prefix is preferred to one with,
    /// when only the local name is given.
    pub namespace: Option<Box<str>>,
}

impl NameTest {
    /// This local name in any namespace.
    pub fn local(name: &str) -> NameTest {
        NameTest { local: Some(name.into()), namespace: None }
    }

    /// This local name in this namespace; `""` for no namespace.
    pub fn namespaced(namespace: &str, name: &str) -> NameTest {
        NameTest { local: Some(name.into()), namespace: Some(namespace.into()) }
    }

    /// Any name.
    pub fn any() -> NameTest {
        NameTest { local: None, namespace: None }
    }

    /// Reads `name`, `*`, `{namespace}name` (James Clark's notation; `{}name` is in no namespace) or `prefix:name`
    /// with the namespaces of `prefixes`; `*` may stand for the name everywhere.
    ///
    /// # Errors
    /// The text is none of these, or its prefix is not among `prefixes`.
    pub fn parse(text: &str, prefixes: &[(&str, &str)]) -> Result<NameTest, SchemaError> {
        let bad = |why: &str| SchemaError(format!("'{text}' names no element or attribute: {why}"));
        let (namespace, local) = if let Some(rest) = text.strip_prefix('{') {
            let (uri, local) = rest.split_once('}').ok_or_else(|| bad("no '}' after the namespace"))?;
            (Some(uri.into()), local)
        } else if let Some((prefix, local)) = text.split_once(':') {
            let uri = match prefix {
                "xml" => "http://www.w3.org/XML/1998/namespace",
                _ => prefixes
                    .iter()
                    .find(|(p, _)| *p == prefix)
                    .map(|(_, uri)| *uri)
                    .ok_or_else(|| bad("no namespace is given for its prefix"))?,
            };
            (Some(uri.into()), local)
        } else {
            (None, text)
        };
        if local.is_empty() {
            return Err(bad("it is empty"));
        }
        if local.contains([':', '/', '@', '[', ']', '<', '>', '&', '"', '\'', ' ', '\t', '\n', '\r']) {
            return Err(bad("it holds a character that no name has"));
        }
        Ok(NameTest { local: (local != "*").then(|| local.into()), namespace })
    }

    /// Whether a name with this local part and namespace is meant.
    pub fn matches(&self, local: &str, namespace: Option<&str>) -> bool {
        self.local.as_deref().is_none_or(|l| l == local) && self.namespace.as_deref().is_none_or(|n| n == namespace.unwrap_or(""))
    }

    /// How particular the test is: of two that match, the higher is taken.
    fn precision(&self) -> u8 {
        2 * self.local.is_some() as u8 + self.namespace.is_some() as u8
    }
}

impl fmt::Display for NameTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(namespace) = &self.namespace {
            write!(f, "{{{namespace}}}")?;
        }
        f.write_str(self.local.as_deref().unwrap_or("*"))
    }
}

/// Why a schema was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaError(pub String);

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SchemaError {}

/// The fields of a class by the name of their element or attribute.
#[derive(Clone, Debug, Default)]
pub(crate) struct NameTable {
    /// The most particular first.
    tests: Vec<(NameTest, u16)>,
    /// For large classes: where in `tests` a local name stands first. Tests for any name stand last.
    index: Option<HashMap<Box<str>, u32, rustc_hash::FxBuildHasher>>,
    wildcards: u32,
    /// Whether some test asks for a namespace.
    pub qualified: bool,
}

impl NameTable {
    pub fn new(mut tests: Vec<(NameTest, u16)>) -> NameTable {
        // Stable within a name, so that documents in the order of the schema are found by the hint.
        let large = tests.len() > 12;
        if large {
            tests.sort_by(|(a, _), (b, _)| {
                b.precision().min(2).cmp(&a.precision().min(2)).then(a.local.cmp(&b.local)).then(b.precision().cmp(&a.precision()))
            });
        } else {
            tests.sort_by_key(|(t, _)| std::cmp::Reverse(t.precision()));
        }
        let wildcards = tests.iter().position(|(t, _)| t.local.is_none()).unwrap_or(tests.len()) as u32;
        let index = large.then(|| {
            let mut index = HashMap::default();
            for (i, (test, _)) in tests.iter().enumerate() {
                if let Some(local) = &test.local {
                    index.entry(local.clone()).or_insert(i as u32);
                }
            }
            index
        });
        NameTable { qualified: tests.iter().any(|(t, _)| t.namespace.is_some()), tests, index, wildcards }
    }

    pub fn is_empty(&self) -> bool {
        self.tests.is_empty()
    }

    /// The slot of the field that is meant by this name.
    pub fn find(&self, local: &str, namespace: Option<&str>) -> Option<u16> {
        let tests = &self.tests[..];
        let find = |tests: &[(NameTest, u16)]| tests.iter().find(|(t, _)| t.matches(local, namespace)).map(|(_, slot)| *slot);
        match &self.index {
            None => find(tests),
            Some(index) => {
                let named = index.get(local).and_then(|&first| {
                    let run = &tests[first as usize..];
                    let end = run.iter().position(|(t, _)| t.local.as_deref() != Some(local)).unwrap_or(run.len());
                    find(&run[..end])
                });
                named.or_else(|| find(&tests[self.wildcards as usize..]))
            }
        }
    }
}
