//! Paths that name elements: `/table/T` from the root, `//T` or `T` anywhere, `*` any name.
//!
//! A name without a prefix means the local name, whatever the namespace; one with a prefix is compared as it stands.

use kumi_xml::Name;

/// A path. Matching is by the names of the open elements, outermost first.
#[derive(Debug, Clone)]
pub(crate) struct Path {
    steps: Vec<Step>,
}

#[derive(Debug, Clone)]
struct Step {
    /// `None`: any.
    name: Option<String>,
    /// Any number of elements may lie before it.
    deep: bool,
}

/// How far an open element got: a bit for each number of steps that its path may have matched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Reached(u64);

impl Path {
    /// Most steps of a path.
    const MOST: usize = 63;

    pub fn parse(text: &str) -> Result<Path, String> {
        let bad = |why: &str| Err(format!("PATH {text:?} {why}"));
        let mut steps = Vec::new();
        let mut rest = text;
        let mut deep = !text.starts_with('/');
        if !deep {
            rest = &rest[1..];
        }
        if rest.is_empty() {
            return bad("names no element");
        }
        loop {
            if let Some(r) = rest.strip_prefix('/') {
                if deep {
                    return bad("has three slashes in a row");
                }
                deep = true;
                rest = r;
            }
            let end = rest.find('/').unwrap_or(rest.len());
            let name = &rest[..end];
            if name.is_empty() {
                return bad("ends in a slash");
            }
            if name.starts_with('@') || name.contains(['[', ']', '(', ')', '|']) {
                return bad("may hold names, / and * only");
            }
            steps.push(Step { name: (name != "*").then(|| name.to_string()), deep });
            if end == rest.len() {
                break;
            }
            rest = &rest[end + 1..];
            deep = false;
            if rest.is_empty() {
                return bad("ends in a slash");
            }
        }
        if steps.len() > Path::MOST {
            return bad("is too long");
        }
        Ok(Path { steps })
    }

    /// What holds before the root element.
    pub fn start(&self) -> Reached {
        Reached(1)
    }
    /// What holds for a child of that name.
    pub fn child(&self, of: Reached, name: Name<'_>) -> Reached {
        let mut to = 0;
        for (i, step) in self.steps.iter().enumerate() {
            if of.0 >> i & 1 == 0 {
                continue;
            }
            if step.deep {
                to |= 1 << i;
            }
            let fits = match &step.name {
                None => true,
                Some(n) if n.contains(':') => n == name.raw(),
                Some(n) => n == name.local(),
            };
            if fits {
                to |= 1 << (i + 1);
            }
        }
        Reached(to)
    }
    /// Is the element that got there named?
    pub fn names(&self, r: Reached) -> bool {
        r.0 >> self.steps.len() & 1 != 0
    }
    /// May an element below it be named?
    pub fn goes_on(&self, r: Reached) -> bool {
        r.0 & ((1 << self.steps.len()) - 1) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kumi_xml::{Event, Options, Tokenizer};

    fn named(path: &str, document: &str) -> Vec<String> {
        let path = Path::parse(path).unwrap();
        let mut t = Tokenizer::new(Options::default());
        t.feed(document.as_bytes()).unwrap();
        t.finish();
        let (mut at, mut open, mut found) = (vec![path.start()], Vec::new(), Vec::new());
        while let Some(e) = t.next().unwrap() {
            match e {
                Event::Start(s) => {
                    let r = path.child(*at.last().unwrap(), s.name());
                    at.push(r);
                    open.push(s.name().raw().to_string());
                    if path.names(r) {
                        found.push(open.join("/"));
                    }
                }
                Event::End(_) => {
                    at.pop();
                    open.pop();
                }
                _ => {}
            }
        }
        found
    }

    #[test]
    fn steps_and_depths() {
        let d = "<a><b><c/><b><c/></b></b><c/><x:c xmlns:x='u'/></a>";
        assert_eq!(named("/a/b", d), ["a/b"]);
        assert_eq!(named("//b", d), ["a/b", "a/b/b"]);
        assert_eq!(named("c", d), ["a/b/c", "a/b/b/c", "a/c", "a/x:c"]);
        assert_eq!(named("/a/*/c", d), ["a/b/c"]);
        assert_eq!(named("/a//c", d), ["a/b/c", "a/b/b/c", "a/c", "a/x:c"]);
        assert_eq!(named("x:c", d), ["a/x:c"]);
        assert_eq!(named("/b", d), Vec::<String>::new());
    }
    #[test]
    fn what_is_no_path() {
        for p in ["", "/", "/a/", "a///b", "a[1]", "/a/@id"] {
            assert!(Path::parse(p).is_err(), "{p}");
        }
    }
}
