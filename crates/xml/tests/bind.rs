//! What a schema makes of documents.

mod support;

use kumi_xml::schema::parse_path;
use kumi_xml::{Batch, BindErrorKind, BindLimits, BindOptions, Binder, Field, FieldPath, Limit, NameTest, Options, Progress, Schema};
use std::sync::Arc;
use support::{bad, everyway, good, render, run, whole};

fn rows(path: &str, fields: &[Field]) -> Arc<Schema> {
    let mut b = Schema::builder();
    let class = b.class("Row");
    for field in fields {
        b.field(class, field.clone());
    }
    b.root_path(parse_path(path, &[]).unwrap(), class);
    b.build().unwrap()
}

fn houses() -> Arc<Schema> {
    let mut b = Schema::builder();
    let (info, house, room) = (b.class("Info"), b.class("House"), b.class("Room"));
    b.field(info, Field::new("title").optional());
    b.field(info, Field::new("houses").element("house").class(house).many());
    b.field(house, Field::new("id").attribute("id"));
    b.field(house, Field::new("price"));
    b.field(house, Field::new("addr").optional());
    b.field(house, Field::new("rooms").element("room").class(room).many());
    b.field(house, Field::new("tags").element("tag").many());
    b.field(room, Field::new("area"));
    b.field(room, Field::new("name").attribute("name").optional());
    b.root_document(info);
    b.build().unwrap()
}

#[test]
fn rows_of_a_path_are_packed_rows() {
    let schema = rows("/table/T", &[Field::new("a"), Field::new("b").optional()]);
    let lines =
        good(&schema, "<table>\n <x><T><a>no</a></T></x>\n <T><a>1</a><b>two</b></T>\n <T><b/><a>3</a></T><T><a></a></T>\n</table>");
    assert_eq!(lines, ["Row#1@3:2 a=1 b=two", "Row#2@4:2 a=3 b=", "Row#3@4:21 a="]);
}

#[test]
fn a_streaming_class_is_delivered_in_parts() {
    let lines = good(
        &houses(),
        "<info><title>All</title>\
         <house id='1'><price>10</price><room name='k'><area>5</area></room><tag>x</tag><room><area>6</area></room><tag>y</tag></house>\
         <junk><house id='9'/></junk><house id='2'><addr>A &amp; B</addr><price>20</price></house></info>",
    );
    assert_eq!(
        lines,
        [
            "(Info#1@1:1",
            "  title: All",
            "  houses: (House#1@1:25 id=1",
            "    price: 10",
            "    rooms: Room#1@1:56 area=5 name=k",
            "    tags: x",
            "    rooms: Room#2@1:104 area=6",
            "    tags: y",
            "  )",
            "  houses: (House#2@1:179 id=2",
            "    addr: A & B",
            "    price: 20",
            "  )",
            ")"
        ]
    );
}

#[test]
fn the_text_of_a_field_is_all_text_in_its_element() {
    let schema = rows("//p", &[Field::new("t").element("s")]);
    let lines = good(&schema, "<d><p><s>a<b>b<i>c</i></b><!-- no --><![CDATA[<d>]]>&#101;&lt;<?no no?></s><u>not</u></p></d>");
    assert_eq!(lines, ["Row#1@1:4 t=abc<d>e<"]);
}

#[test]
fn own_text_and_content() {
    let schema =
        rows("//p", &[Field::new("own").at(FieldPath::Text), Field::new("all").at(FieldPath::Content), Field::new("b").optional()]);
    let lines = good(&schema, "<d><p>x<b>y</b>z<i>w</i></p><p/><p>only</p></d>");
    assert_eq!(lines, ["Row#1@1:4 own=xz all=xyzw b=y", "Row#2@1:29 own= all=", "Row#3@1:33 own=only all=only"]);
    let schema = rows("//p", &[Field::new("c").attribute("c"), Field::new("own").at(FieldPath::Text).optional()]);
    let lines = good(&schema, "<d><p c='1'>x</p><p c='2'/><p c='3'></p><p c='4'>y</p></d>");
    assert_eq!(lines, ["Row#1@1:4 c=1 own=x", "Row#2@1:18 c=2", "Row#3@1:28 c=3", "Row#4@1:41 c=4 own=y"]);
}

#[test]
fn the_text_of_a_streaming_element_comes_at_its_end() {
    let mut b = Schema::builder();
    let p = b.class("P");
    b.field(p, Field::new("own").at(FieldPath::Text));
    b.field(p, Field::new("all").at(FieldPath::Content).optional());
    b.field(p, Field::new("links").element("a").many());
    b.root_document(p);
    let lines = good(&b.build().unwrap(), "<p>x<a>1</a>y<a>2</a></p>");
    assert_eq!(lines, ["(P#1@1:1", "  links: 1", "  links: 2", "  own: xy", "  all: x1y2", ")"]);
}

#[test]
fn nested_whole_classes_are_nested_rows() {
    let mut b = Schema::builder();
    let (row, addr, geo) = (b.class("Row"), b.class("Addr"), b.class("Geo"));
    b.field(row, Field::new("id").attribute("id"));
    b.field(row, Field::new("addr").class(addr));
    b.field(row, Field::new("last"));
    b.field(addr, Field::new("street"));
    b.field(addr, Field::new("geo").class(geo).optional());
    b.field(addr, Field::new("city"));
    b.field(geo, Field::new("lat"));
    b.root_path(parse_path("/r/row", &[]).unwrap(), row);
    let schema = b.build().unwrap();
    let document = "<r><row id='1'><last>L</last><addr><city>C</city><geo><lat>7</lat></geo><street>S</street></addr></row>\
                    <row id='2'><addr><street>S</street><city>C</city></addr><last>M</last></row></r>";
    let lines = good(&schema, document);
    assert_eq!(
        lines,
        [
            "Row#1@1:4 id=1 addr=[Addr#1@1:30 street=S geo=[Geo#1@1:50 lat=7] city=C] last=L",
            "Row#2@1:104 id=2 addr=[Addr#1@1:116 street=S city=C] last=M"
        ]
    );
    assert_eq!(
        bad(&schema, "<r><row id='1'><addr><street/></addr><last/></row></r>"),
        "Addr has no 'city', which it must have (line 1, column 31, in /r/row[1]/addr/city)"
    );
}

#[test]
fn classes_may_contain_themselves() {
    let mut b = Schema::builder();
    let part = b.class("Part");
    b.field(part, Field::new("name").attribute("name"));
    b.field(part, Field::new("parts").element("part").class(part).many());
    b.root_document(part);
    let schema = b.build().unwrap();
    let lines = good(&schema, "<part name='a'><part name='b'><part name='c'/></part><part name='d'/></part>");
    assert_eq!(
        lines,
        [
            "(Part#1@1:1 name=a",
            "  parts: (Part#1@1:16 name=b",
            "    parts: (Part#1@1:31 name=c",
            "    )",
            "  )",
            "  parts: (Part#2@1:54 name=d",
            "  )",
            ")"
        ]
    );
    assert_eq!(
        bad(&schema, "<part name='a'><part name='b'/><part name='c'><part/></part></part>"),
        "Part has no 'name', which it must have (line 1, column 47, in /part/part[2]/part[1]/@name)"
    );
}

#[test]
fn whole_recursion_is_bounded() {
    let mut b = Schema::builder();
    let a = b.class("A");
    b.field(a, Field::new("v").optional());
    b.field(a, Field::new("a").class(a).optional());
    b.root_path(parse_path("/r/a", &[]).unwrap(), a);
    let schema = b.build().unwrap();
    let nested = |n: usize| format!("<r>{}{}</r>", "<a><v>x</v>".repeat(n), "</a>".repeat(n));
    assert_eq!(good(&schema, &nested(3)), ["Row".replace("Row", "A#1@1:4 v=x a=[A#1@1:15 v=x a=[A#1@1:26 v=x]]")]);
    assert_eq!(everyway(&schema, nested(64).as_bytes()).error, None);
    assert_eq!(everyway(&schema, nested(65).as_bytes()).error.unwrap().kind, BindErrorKind::Nesting);
}

#[test]
fn paths() {
    let field = [Field::new("v").attribute("v")];
    let document = "<a><b><t v='1'/><c><t v='2'/></c></b><t v='3'><t v='in'/></t><d><b><t v='4'/></b></d></a>";
    let all = |path: &str| -> String {
        let schema = rows(path, &field);
        good(&schema, document).iter().map(|l| l.rsplit('=').next().unwrap().to_string()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(all("//t"), "1 2 3 4");
    assert_eq!(all("t"), "1 2 3 4");
    assert_eq!(all("/a/t"), "3");
    assert_eq!(all("/a/*/t"), "1 in");
    assert_eq!(all("/a//b/t"), "1 4");
    assert_eq!(all("//b//t"), "1 2 4");
    assert_eq!(all("/*/*/*/t"), "2 4");
    assert_eq!(all("/t"), "");
}

#[test]
fn namespaces() {
    let mut b = Schema::builder();
    let row = b.class("Row");
    b.field(row, Field::new("x").at(FieldPath::Element(NameTest::namespaced("urn:x", "v"))).optional());
    b.field(row, Field::new("none").at(FieldPath::Element(NameTest::namespaced("", "v"))).optional());
    b.field(row, Field::new("other").element("v").optional());
    b.field(row, Field::new("id").attribute("id").optional());
    b.field(row, Field::new("lang").at(FieldPath::Attribute(NameTest::parse("xml:lang", &[]).unwrap())).optional());
    b.root_path(parse_path("//p:row", &[("p", "urn:r")]).unwrap(), row);
    let schema = b.build().unwrap();
    let document = "<d xmlns:q='urn:r' xmlns:x='urn:x' xmlns:y='urn:y'>\
        <row/><q:row id='1' x:id='no'><x:v>a</x:v><v>b</v><y:v>c</y:v></q:row>\
        <q:row x:id='2' xml:lang='de'><v xmlns='urn:x'>d</v></q:row>\
        <g xmlns:x='urn:y'><q:row id='3'><x:v>e</x:v></q:row><q:row id='4'><x:v>f</x:v></q:row></g>\
        <q:row id='5'><x:v>g</x:v></q:row></d>";
    let lines: Vec<String> = good(&schema, document).iter().map(|l| l.split_once(' ').unwrap().1.to_string()).collect();
    assert_eq!(lines, ["x=a none=b other=c id=1", "x=d id=2 lang=de", "other=e id=3", "other=f id=4", "x=g id=5"]);
}

#[test]
fn wildcards_take_what_nothing_else_takes() {
    let mut b = Schema::builder();
    let d = b.class("D");
    b.field(d, Field::new("rest").at(FieldPath::Element(NameTest::any())).many());
    b.field(d, Field::new("a"));
    b.root_document(d);
    assert_eq!(good(&b.build().unwrap(), "<d><x>1</x><a>2</a><y>3</y></d>"), ["(D#1@1:1", "  rest: 1", "  a: 2", "  rest: 3", ")"]);
}

#[test]
fn outer_values_are_those_of_the_nearest_enclosing_element() {
    let outer = |path| FieldPath::outer(path, &[]).unwrap();
    let schema = rows(
        "//t",
        &[
            Field::new("v"),
            Field::new("region").at(outer("region/@name")).optional(),
            Field::new("date").at(outer("feed/header/date")).optional(),
            Field::new("unit").at(outer("region/unit")).optional(),
            Field::new("cur").at(outer("feed/header/cur/@code")).optional(),
        ],
    );
    let document = "<feed><header><date>d<b>1</b></date><cur code='EUR'/></header><t><v>0</v></t>\
        <region name='n'><t><v>1</v></t><unit>kg</unit><t><v>2</v></t><region name='i'><t><v>3</v></t></region><t><v>4</v></t></region>\
        <header><date>d2</date></header><region><t><v>5</v></t><t><v>6</v></t></region></feed>";
    let lines: Vec<String> = good(&schema, document).iter().map(|l| l.split_once(' ').unwrap().1.to_string()).collect();
    assert_eq!(
        lines,
        [
            "v=0 date=d1 cur=EUR",
            "v=1 region=n date=d1 cur=EUR",
            "v=2 region=n date=d1 unit=kg cur=EUR",
            "v=3 region=i date=d1 cur=EUR",
            "v=4 region=n date=d1 unit=kg cur=EUR",
            "v=5 date=d2 cur=EUR",
            "v=6 date=d2 cur=EUR",
        ]
    );
    let strict = rows("//t", &[Field::new("region").at(outer("region/@name"))]);
    assert_eq!(
        bad(&strict, "<d><region><t/></region></d>"),
        "Row has no 'region', which it must have (line 1, column 12, in /d/region/t[1])"
    );
}

#[test]
fn outer_values_reach_into_open_nodes() {
    let mut b = Schema::builder();
    let (order, item) = (b.class("Order"), b.class("Item"));
    b.field(order, Field::new("items").element("item").class(item).many());
    b.field(item, Field::new("of").at(FieldPath::outer("order/@id", &[]).unwrap()));
    b.field(item, Field::new("n"));
    b.root_path(parse_path("/orders/order", &[]).unwrap(), order);
    let lines = good(
        &b.build().unwrap(),
        "<orders><order id='a'><item><n>1</n></item><item><n>2</n></item></order><order id='b'><item><n>3</n></item></order></orders>",
    );
    assert_eq!(
        lines,
        [
            "(Order#1@1:9",
            "  items: Item#1@1:23 of=a n=1",
            "  items: Item#2@1:44 of=a n=2",
            ")",
            "(Order#2@1:73",
            "  items: Item#1@1:87 of=b n=3",
            ")"
        ]
    );
}

#[test]
fn a_missing_field_names_the_place() {
    let schema = rows("/table/T", &[Field::new("l_quantity"), Field::new("l_tax")]);
    let run = everyway(&schema, b"<table>\n<T><l_quantity>1</l_quantity><l_tax/></T>\n<T><l_tax>2</l_tax></T></table>");
    let error = run.error.unwrap();
    assert_eq!(run.lines, ["Row#1@2:1 l_quantity=1 l_tax="]);
    assert_eq!(error.kind, BindErrorKind::MissingField { class: "Row".into(), field: "l_quantity".into() });
    assert_eq!(error.path, "/table/T[2]/l_quantity");
    assert_eq!((error.position.line, error.position.column), (3, 20));
}

#[test]
fn lenient_binders_leave_missing_fields_absent() {
    let schema = rows("/t/r", &[Field::new("a"), Field::new("b").attribute("b")]);
    let options = BindOptions { lenient: true, ..BindOptions::default() };
    let run = run(&schema, options, b"<t><r/><r b='1'/><r><a>2</a></r></t>", || 5, Limit::default());
    assert_eq!(run.error, None);
    assert_eq!(run.lines, ["Row#1@1:4", "Row#2@1:8 b=1", "Row#3@1:18 a=2"]);
}

#[test]
fn a_repeated_field_is_an_error() {
    let schema = rows("/t/r", &[Field::new("a"), Field::new("b").optional()]);
    assert_eq!(
        bad(&schema, "<t><r><a>1</a></r><r><a>1</a><b>2</b></r><r><a>1</a><b>2</b><b>3</b></r></t>"),
        "Row has a second 'b', which may stand only once (line 1, column 61, in /t/r[3]/b)"
    );
    assert_eq!(
        bad(&houses(), "<info><title/><house id='1'><price/></house><title/></info>"),
        "Info has a second 'title', which may stand only once (line 1, column 45, in /info/title)"
    );
}

#[test]
fn malformed_documents_name_the_path_too() {
    let schema = rows("/t/r", &[Field::new("a")]);
    for (document, path, line, column) in [
        ("<t><r><a>1</a></r><r><a>x</b></r></t>", "/t/r[2]/a", 1, 26),
        ("<t><r><a>1</a></r>\n<skipped><deep>&no;</deep></skipped></t>", "/t/skipped/deep", 2, 16),
        ("<t><r><a>1</a></r><r><a>x", "/t/r[2]/a", 1, 26),
    ] {
        let run = everyway(&schema, document.as_bytes());
        assert_eq!(run.lines, ["Row#1@1:4 a=1"]);
        let error = run.error.unwrap();
        assert!(matches!(error.kind, BindErrorKind::Xml(_)));
        assert_eq!((error.path.as_str(), error.position.line, error.position.column), (path, line, column), "{error}");
    }
}

#[test]
fn the_root_must_be_what_the_schema_says() {
    let mut b = Schema::builder();
    let d = b.class("D");
    b.field(d, Field::new("a").optional());
    b.element(d, NameTest::local("doc"));
    b.root_document(d);
    let schema = b.build().unwrap();
    assert_eq!(good(&schema, "<doc><a>1</a></doc>"), ["D#1@1:1 a=1"]);
    assert_eq!(bad(&schema, "<html/>"), "the root element is 'html', not 'doc' (line 1, column 1, in /html)");
}

#[test]
fn values_and_rows_are_bounded() {
    let schema = rows("/t/r", &[Field::new("a"), Field::new("b").attribute("b").optional(), Field::new("c").optional()]);
    let limits = BindLimits { field: 100, row: 150, ..BindLimits::default() };
    let kind = |document: String| {
        let mut kinds = Vec::new();
        for predict in [true, false] {
            let options = BindOptions { limits: limits.clone(), predict, ..BindOptions::default() };
            let run = run(&schema, options, document.as_bytes(), || 50, Limit::default());
            kinds.push((run.lines.len(), run.error.map(|e| (e.kind, e.path))));
        }
        assert_eq!(kinds[0], kinds[1]);
        kinds.remove(0)
    };
    let (ok, long) = ("x".repeat(100), "x".repeat(101));
    let row = |a: &str| format!("<r><a>{a}</a></r>");
    assert_eq!(kind(format!("<t>{}{}</t>", row(&ok), row(&ok))), (2, None));
    assert_eq!(kind(format!("<t>{}{}</t>", row("1"), row(&long))), (1, Some((BindErrorKind::FieldSize, "/t/r[2]/a".into()))));
    assert_eq!(kind(format!("<t><r b='{long}'><a/></r></t>")), (0, Some((BindErrorKind::FieldSize, "/t/r/@b".into()))));
    assert_eq!(kind(format!("<t><r><a>{ok}</a><c>{ok}</c></r></t>")).1.unwrap().0, BindErrorKind::RowSize);
}

#[test]
fn pruned_nodes_are_passed_over() {
    let schema = houses();
    let document =
        "<info><house id='1'><price>1</price><room><area>5</area></room></house><house id='2'><price>2</price><tag>t</tag></house></info>";
    let mut binder = Binder::new(schema.clone(), Options::default());
    let (mut batch, mut open, mut lines) = (Batch::new(), Vec::new(), Vec::new());
    binder.feed(document.as_bytes()).unwrap();
    binder.finish();
    // The document and its first house are open.
    assert_eq!(binder.bind(&mut batch, Limit { rows: 2, bytes: 1 << 20 }), Ok(Progress::Full));
    binder.prune(1);
    binder.prune(7);
    assert_eq!(binder.bind(&mut batch, Limit::default()), Ok(Progress::End));
    render(&schema, &batch, &mut open, &mut lines);
    assert_eq!(
        lines,
        ["(Info#1@1:1", "  houses: (House#1@1:7 id=1", "  )", "  houses: (House#2@1:72 id=2", "    price: 2", "    tags: t", "  )", ")"]
    );
    let mut binder = Binder::new(schema.clone(), Options::default());
    binder.feed(document.as_bytes()).unwrap();
    binder.finish();
    batch.clear();
    assert_eq!(binder.bind(&mut batch, Limit { rows: 2, bytes: 1 << 20 }), Ok(Progress::Full));
    binder.prune(0);
    assert_eq!(binder.bind(&mut batch, Limit::default()), Ok(Progress::End));
    assert_eq!(batch.items.len(), 4);
}

#[test]
fn a_row_is_there_as_soon_as_its_bytes_are() {
    let schema = rows("/t/r", &[Field::new("a")]);
    let mut binder = Binder::new(schema, Options::default());
    let mut batch = Batch::new();
    binder.feed(b"<t>").unwrap();
    for n in 1..100 {
        for byte in b"<r><a>1</a></r>" {
            assert_eq!(batch.items.len(), n - 1);
            binder.feed(&[*byte]).unwrap();
            assert_eq!(binder.bind(&mut batch, Limit::default()), Ok(Progress::NeedInput));
        }
        assert_eq!(batch.items.len(), n);
    }
}

#[test]
fn many_pieces_of_a_large_document_take_linear_time() {
    let schema = rows("/t/r", &[Field::new("a").attribute("a"), Field::new("b").optional()]);
    let mut document = format!("<t>{}", "<r a='1'><b>2</b></r>".repeat(3));
    document += &format!("<r a='{}'><b>{}</b></r></t>", "x".repeat(300_000), "y".repeat(300_000));
    let clock = support::clock::Clock::start();
    let run = run(&schema, BindOptions::default(), document.as_bytes(), || 1, Limit::default());
    assert_eq!((run.error, run.lines.len()), (None, 4));
    assert!(clock.is_within(20), "{:?}", clock.spent());
}

#[test]
fn the_empty_list() {
    assert_eq!(whole(&rows("/t/r", &[]), "<t/>").lines, [""; 0]);
    assert_eq!(good(&rows("/t/r", &[]), "<t><r/><r>x</r><r><a/></r></t>").len(), 3);
}

#[test]
fn classes_with_many_fields_find_them_by_name() {
    let mut b = Schema::builder();
    let d = b.class("D");
    for i in 0..30 {
        b.field(d, Field::new(&format!("f{i}")).optional());
    }
    b.field(d, Field::new("special").at(FieldPath::Element(NameTest::namespaced("urn:x", "f7"))).optional());
    b.field(d, Field::new("foreign").at(FieldPath::Element(NameTest::parse("{urn:x}*", &[]).unwrap())).many());
    b.field(d, Field::new("rest").at(FieldPath::Element(NameTest::any())).many());
    b.root_document(d);
    let document = "<d xmlns:x='urn:x'><f29>a</f29><f7>b</f7><x:f7>c</x:f7><x:g>d</x:g><h>e</h><x:f8>f</x:f8><f0>g</f0></d>";
    let expected = ["(D#1@1:1", "  f29: a", "  f7: b", "  special: c", "  foreign: d", "  rest: e", "  f8: f", "  f0: g", ")"];
    assert_eq!(good(&b.build().unwrap(), document), expected);
}

#[test]
fn the_root_s_name_is_known_with_its_start_tag() {
    let mut b = Schema::builder();
    let (any, named) = (b.class("Any"), b.class("Row"));
    b.field(any, Field::new("rows").element("row").class(named).many());
    b.root_document(any);
    let mut binder = Binder::new(b.build().unwrap(), BindOptions::default());
    let mut batch = Batch::new();
    binder.feed(b"<!-- <no> --><p:root xmlns:p='u'").unwrap();
    binder.bind(&mut batch, Limit::default()).unwrap();
    assert_eq!(binder.root(), None);
    binder.feed(b"><row/></p:root>").unwrap();
    binder.finish();
    assert_eq!(binder.bind(&mut batch, Limit::default()), Ok(Progress::End));
    assert_eq!(binder.root(), Some("p:root"));
}
