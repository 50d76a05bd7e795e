//! Documents made to cost much: each ends soon, well or with an error that says which limit it passed.

mod support;

use kumi_xml::schema::parse_path;
use kumi_xml::{BindError, BindErrorKind, BindLimits, BindOptions, ErrorKind, Field, FieldPath, Limit, LimitKind, Schema};
use std::sync::Arc;
use support::clock::Clock;
use support::{Random, Run, run};

fn rows(fields: usize) -> Arc<Schema> {
    let mut b = Schema::builder();
    let row = b.class("Row");
    for i in 0..fields {
        b.field(row, Field::new(&format!("f{i}")).optional());
    }
    b.field(row, Field::new("head").at(FieldPath::outer("t/head", &[]).unwrap()).optional());
    b.root_path(parse_path("//r", &[]).unwrap(), row);
    b.build().unwrap()
}

fn bind(schema: &Arc<Schema>, document: &[u8]) -> Run {
    let clock = Clock::start();
    let run = run(schema, BindOptions::default(), document, || 64 << 10, Limit::default());
    println!("{:?} for {} bytes", clock.spent(), document.len());
    assert!(clock.is_within(30), "{:?}", clock.spent());
    run
}

fn limit(error: Option<BindError>) -> Option<LimitKind> {
    match error?.kind {
        BindErrorKind::Xml(ErrorKind::Limit(kind)) => Some(kind),
        _ => None,
    }
}

#[test]
fn depth() {
    let run = bind(&rows(1), "<t>".repeat(1_000_000).as_bytes());
    assert!(run.error.as_ref().unwrap().path.len() < 2000);
    assert_eq!(limit(run.error), Some(LimitKind::Depth));
    assert_eq!(limit(bind(&rows(1), format!("<r>{}", "<f0>".repeat(1_000_000)).as_bytes()).error), Some(LimitKind::Depth));
}

#[test]
fn nodes_within_nodes() {
    let mut b = Schema::builder();
    let a = b.class("A");
    b.field(a, Field::new("id").attribute("id").optional());
    b.field(a, Field::new("text").at(FieldPath::Text).optional());
    b.field(a, Field::new("of").at(FieldPath::outer("a/@id", &[]).unwrap()).optional());
    b.field(a, Field::new("as").element("a").class(a).many());
    b.root_document(a);
    let schema = b.build().unwrap();
    let document = format!("{}{}{}", "<a id='1'>x".repeat(4000), "<a/>".repeat(5000), "</a>".repeat(4000));
    let run = bind(&schema, document.as_bytes());
    assert_eq!(run.error, None);
    assert_eq!(run.lines.len(), 2 * 9000 + 4000);
}

#[test]
fn a_million_small_things() {
    for thing in ["<x/>", "<r/>", "<x>1</x>", "<r><f0/></r>", "<r a='1'/>", "<!---->", "<x xmlns='u'/>", "<g xmlns='u'><r/></g>", "&#65;"] {
        let count = if cfg!(debug_assertions) { 100_000 } else { 1_000_000 };
        let run = bind(&rows(2), format!("<t>{}</t>", thing.repeat(count)).as_bytes());
        assert_eq!(run.error, None);
        assert_eq!(run.lines.len(), if thing.contains("<r") { count } else { 0 });
    }
}

#[test]
fn rows_that_are_never_alike() {
    let mut random = Random(7);
    let mut document = String::from("<t>");
    for _ in 0..20_000 {
        document += "<r>";
        for i in 0..40 {
            if random.below(2) == 0 {
                document += &format!("<f{i} a{}='1'>x</f{i}>", random.below(1000));
            }
        }
        document += "</r>";
    }
    document += "</t>";
    let run = bind(&rows(40), document.as_bytes());
    assert_eq!((run.error, run.lines.len()), (None, 20_000));
}

#[test]
fn large_values() {
    let large = "x".repeat(20 << 20);
    assert_eq!(bind(&rows(1), format!("<t><r><f0>{large}</f0></r></t>").as_bytes()).error.unwrap().kind, BindErrorKind::FieldSize);
    assert_eq!(bind(&rows(1), format!("<t><head>{large}</head><r/></t>").as_bytes()).error.unwrap().kind, BindErrorKind::FieldSize);
    assert_eq!(bind(&rows(1), format!("<t><x>{large}</x><r><y>{large}</y></r></t>").as_bytes()).error, None);
    let some = "x".repeat(10 << 20);
    let fields: String = (0..8).map(|i| format!("<f{i}>{some}</f{i}>")).collect();
    assert_eq!(bind(&rows(8), format!("<t><r>{fields}</r></t>").as_bytes()).error.unwrap().kind, BindErrorKind::RowSize);
}

#[test]
fn attributes_of_one_local_name() {
    let mut b = Schema::builder();
    let row = b.class("Row");
    b.field(row, Field::new("x").attribute("x"));
    b.root_path(parse_path("//r", &[]).unwrap(), row);
    let schema = b.build().unwrap();
    let prefixes: String = (0..5000).map(|i| format!(" xmlns:p{i}='u{i}'")).collect();
    let others: String = (0..5000).map(|i| format!(" p{i}:x=''")).collect();
    let count = if cfg!(debug_assertions) { 100 } else { 400 };
    for row in [format!("<r{others} x='1'/>"), format!("<r x='1'{others}/>")] {
        let run = bind(&schema, format!("<t{prefixes}>{}</t>", row.repeat(count)).as_bytes());
        assert_eq!((run.error, run.lines.len()), (None, count));
    }
    let error = bind(&schema, format!("<t{prefixes}><r{others}/></t>").as_bytes()).error.unwrap();
    assert!(matches!(error.kind, BindErrorKind::Repeated { .. }));
    assert_eq!(error.path, "/t/r/@p1:x");
}

#[test]
fn headers_in_headers() {
    let mut b = Schema::builder();
    let row = b.class("Row");
    b.field(row, Field::new("date").at(FieldPath::outer("feed/header/date", &[]).unwrap()).optional());
    b.root_path(parse_path("//r", &[]).unwrap(), row);
    let schema = b.build().unwrap();
    let count = if cfg!(debug_assertions) { 100_000 } else { 1_000_000 };
    for rows in ["<r/>", "<r><x/></r>", "<x/>"] {
        let (first, last) = ("<feed><header>".repeat(2000), "</header></feed>".repeat(2000));
        let run = bind(&schema, format!("{first}{}{last}", rows.repeat(count)).as_bytes());
        assert_eq!((run.error, run.lines.len()), (None, if rows == "<x/>" { 0 } else { count }));
    }
}

/// What enclosing elements say is held until they end: all of it together is bounded as a row is.
#[test]
fn long_outer_values_in_one_another() {
    let mut b = Schema::builder();
    let row = b.class("Row");
    b.field(row, Field::new("name").at(FieldPath::outer("g/@name", &[]).unwrap()));
    b.field(row, Field::new("date").at(FieldPath::outer("g/head/@date", &[]).unwrap()).optional());
    b.root_path(parse_path("//r", &[]).unwrap(), row);
    let schema = b.build().unwrap();
    let large = "x".repeat(1 << 20);
    for group in [format!("<g name='{large}'>"), format!("<g><head date='{large}'/>")] {
        let run = bind(&schema, group.repeat(100).as_bytes());
        assert_eq!(run.error.unwrap().kind, BindErrorKind::RowSize);
        let closed = format!("<t>{}</t>", format!("{group}</g>").repeat(100));
        assert_eq!(bind(&schema, closed.as_bytes()).error, None);
    }
    let larger = "x".repeat((16 << 20) - 100);
    let limits = BindLimits { field: 1 << 20, ..BindLimits::default() };
    for group in [format!("<g name='{larger}'>"), format!("<g><head date='{larger}'/>")] {
        let options = BindOptions { limits: limits.clone(), ..BindOptions::default() };
        let run = run(&schema, options, group.as_bytes(), || 64 << 10, Limit::default());
        assert_eq!(run.error.unwrap().kind, BindErrorKind::FieldSize);
    }
}
