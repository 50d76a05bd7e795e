//! Values: what is written is read again, and what is wrong is refused where it is wrong.

mod common;

use common::Random;
use kumi_wire::value::{Big, Kind, Limits, Time, Zone, shape};
use kumi_wire::{Reader, Token, Tree, WireError, Writer, validate};

fn limits() -> Limits {
    Limits::default()
}

/// What a check of the whole says of bytes.
fn refused(bytes: &[u8]) -> String {
    validate(bytes, &limits()).unwrap_err().to_string()
}

#[test]
fn trees_come_back_as_they_were() {
    let mut random = Random(17);
    for _ in 0..3000 {
        let tree = random.tree(5);
        let bytes = tree.encode();
        assert_eq!(Tree::decode(&bytes, &limits()).unwrap(), tree, "{tree}");
        assert_eq!(Tree::decode(&bytes, &limits()).unwrap().encode(), bytes);
        let summary = validate(&bytes, &limits()).unwrap();
        assert!(summary.items > 0 && summary.depth <= 5);
        let mut reader = Reader::new(&bytes, &limits()).unwrap();
        let start = reader.at();
        assert_eq!(reader.skip().unwrap(), start..bytes.len());
        assert_eq!(reader.next().unwrap(), None);
    }
}

#[test]
fn every_cut_is_refused() {
    let mut random = Random(3);
    for _ in 0..200 {
        let bytes = random.tree(3).encode();
        for end in 0..bytes.len().min(500) {
            assert!(validate(&bytes[..end], &limits()).is_err(), "{end} of {bytes:?}");
            assert!(Tree::decode(&bytes[..end], &limits()).is_err());
        }
        assert!(refused(&[&bytes[..], &[0xC0]].concat()).starts_with("bytes after the value"));
    }
}

#[test]
fn scalars_have_the_form_that_messagepack_gives_them() {
    let mut out = Vec::new();
    let mut w = Writer::new(&mut out);
    w.array(8);
    w.nil();
    w.bool(true);
    w.int(-1);
    w.int(300);
    w.str("é");
    w.bin(&[0xFF]);
    w.symbol("id");
    w.big(Big { negative: true, magnitude: &[0, 1, 0, 0, 0, 0, 0, 0, 0, 0] });
    w.finish();
    assert_eq!(out, b"\x98\xC0\xC3\xFF\xCD\x01\x2C\xA2\xC3\xA9\xC4\x01\xFF\xD5\x01id\xC7\x0A\x03\x01\x01\0\0\0\0\0\0\0\0");
}

#[test]
fn a_tag_is_no_value() {
    assert!(refused(&[0xD4, 16, 3]).starts_with("a tag where a value was expected"));
    assert!(refused(&[0x92, 0xC0, 0xD4, 16, 3]).starts_with("a tag where a value was expected"));
    assert!(refused(&[0x92, 0xD4, 16, 1, 0xC0]).starts_with("a tag with more or fewer values"));
    assert!(refused(&[0x91, 0xD4, 16, 9]).starts_with("an unknown tag"));
    assert!(refused(&[0x93, 0xD4, 16, 7, 0xC0, 0xC0]).starts_with("a tag with more or fewer values"));
    assert!(refused(&[0x91, 0xD4, 17, 0]).starts_with("a record without names"));
    assert!(refused(&[0xC1]).starts_with("a byte that begins no value, at byte 0"));
}

#[test]
fn counts_are_believed_as_far_as_the_bytes_go() {
    let huge = [0xDD, 0xFF, 0xFF, 0xFF, 0xFF];
    assert!(refused(&huge).starts_with("a count that the bytes can't hold"));
    assert!(refused(&[0xDF, 0xFF, 0xFF, 0xFF, 0xFF, 0]).starts_with("a count that the bytes can't hold"));
    // Each alone could be true, together they can't.
    let mut nested = Vec::new();
    for _ in 0..100 {
        nested.extend([0xDC, 0, 60]);
    }
    nested.extend([0xC0; 60]);
    assert!(refused(&nested).starts_with("a count that the bytes can't hold"));
    assert!(Reader::new(&nested, &limits()).unwrap().skip().is_err());
    // Names: a million of them in three bytes.
    assert!(refused(&[0xC7, 3, 18, 0xC0, 0x84, 0x3D, 0xC0]).starts_with("a number that is too large"));
}

#[test]
fn limits_hold() {
    let deep = [vec![0x91; 20_000], vec![0xC0]].concat();
    assert!(refused(&deep).starts_with("a value that is nested too deep"));
    assert_eq!(validate(&deep, &Limits { depth: 20_000, ..limits() }).unwrap().depth, 20_000);
    assert!(Tree::decode(&deep[10_000..], &Limits { depth: 20_000, ..limits() }).is_err());
    assert!(Reader::new(&deep, &limits()).unwrap().skip().is_ok());
    let long = Tree::Str("x".repeat(100)).encode();
    assert_eq!(validate(&long, &Limits { string: 99, ..limits() }), Err(WireError::TooLong { what: "a string", length: 100, most: 99 }));
    let class = |name: &str| Tree::Record(Kind::Data, name.into(), vec![("a".into(), Tree::Nil), ("b".into(), Tree::Nil)]);
    let named = Tree::Array(vec![class("A"), class("B")]).encode();
    assert!(validate(&named, &Limits { members: 4, shapes: 2, ..limits() }).is_ok());
    assert!(validate(&named, &Limits { members: 3, ..limits() }).is_err());
    assert!(validate(&named, &Limits { shapes: 1, ..limits() }).is_err());
    let many = Tree::Array(vec![Tree::Nil; 100]).encode();
    assert!(validate(&many, &Limits { items: 101, ..limits() }).is_ok());
    assert!(validate(&many, &Limits { items: 100, ..limits() }).is_err());
}

#[test]
fn unknown_members_ride_along() {
    let item =
        |n: i64| Tree::Record(Kind::Data, "Item".into(), vec![("id".into(), Tree::Int(n)), ("tags".into(), Tree::Set(vec![Tree::Int(n)]))]);
    let order = Tree::Record(
        Kind::Struct,
        "Order".into(),
        vec![("items".into(), Tree::Array(vec![item(1), item(2)])), ("total".into(), Tree::Float(2.5)), ("first".into(), item(3))],
    );
    let bytes = order.encode();

    // A program that knows `total` only, and changes it.
    let limits = limits();
    let mut reader = Reader::new(&bytes, &limits).unwrap();
    assert_eq!(reader.next().unwrap(), Some(Token::Record(0)));
    let names = reader.names().clone();
    let known = names.get(0).unwrap();
    assert_eq!((known.kind, known.class, known.members), (Kind::Struct, "Order", &["items", "total", "first"][..]));
    let mut out = Vec::new();
    let mut writer = Writer::new(&mut out);
    // Other names come first, so that numbers differ there.
    writer.array(2);
    writer.record(shape(Kind::Object, "Note", &[]));
    writer.record(known);
    for member in known.members {
        let range = reader.skip().unwrap();
        match *member {
            "total" => writer.float(3.5),
            _ => writer.copy(reader.bytes(range), &names).unwrap(),
        }
    }
    writer.finish();
    let note = Tree::Record(Kind::Object, "Note".into(), vec![]);
    let Tree::Record(kind, class, mut members) = order else { unreachable!() };
    members[1].1 = Tree::Float(3.5);
    assert_eq!(Tree::decode(&out, &limits).unwrap(), Tree::Array(vec![note, Tree::Record(kind, class, members)]));
}

#[test]
fn any_part_can_be_copied_into_another_value() {
    let mut random = Random(29);
    for _ in 0..300 {
        let trees: Vec<Tree> = (0..4).map(|_| random.tree(4)).collect();
        let bytes = Tree::Array(trees.clone()).encode();
        let mut reader = Reader::new(&bytes, &limits()).unwrap();
        assert_eq!(reader.next().unwrap(), Some(Token::Array(4)));
        let parts: Vec<_> = (0..4).map(|_| reader.skip().unwrap()).collect();
        let mut out = Vec::new();
        let mut writer = Writer::new(&mut out);
        writer.array(4);
        for part in parts.into_iter().rev() {
            writer.copy(reader.bytes(part), reader.names()).unwrap();
        }
        writer.finish();
        assert_eq!(out, Tree::Array(trees.into_iter().rev().collect()).encode());
    }
}

#[test]
fn names_stand_once() {
    let record = Tree::Record(Kind::Data, "AClassWithALongName".into(), vec![("member".into(), Tree::Nil)]);
    let one = record.encode().len();
    let many = Tree::Array(vec![record; 1000]).encode();
    assert!(many.len() < one + 1000 * 6, "{}", many.len());
    let classes = (0..1000).map(|i| Tree::Record(Kind::Data, format!("C{}", i * 7 % 11), vec![])).collect();
    let bytes = Tree::Array(classes).encode();
    assert_eq!(Reader::new(&bytes, &limits()).unwrap().names().len(), 11);
}

#[test]
fn times_that_are_none_are_refused() {
    let time = |nanoseconds: u32, offset: i32| {
        let mut out = Vec::new();
        let mut w = Writer::new(&mut out);
        w.time(Time { seconds: -1, nanoseconds, zone: Zone::Named { name: "Asia/Tokyo", offset } });
        w.finish();
        validate(&out, &limits())
    };
    assert!(time(999_999_999, 86_399).is_ok());
    assert!(time(1_000_000_000, 0).is_err());
    assert!(time(0, 86_400).is_err());
    assert!(time(0, i32::MIN).is_err());
}

#[test]
fn a_tree_is_shown_nearly_as_ruby_shows_it() {
    let pair = |a, b| Box::new((a, b));
    let tree = Tree::Map(vec![
        (Tree::Symbol("a b".into()), Tree::Range(pair(Tree::Int(1), Tree::Nil), true)),
        (
            Tree::Str("x\n".into()),
            Tree::Set(vec![Tree::Rational(pair(Tree::Int(1), Tree::Int(2))), Tree::Complex(pair(Tree::Int(0), Tree::Int(1)))]),
        ),
        (
            Tree::Big(true, vec![1, 0]),
            Tree::Record(Kind::Data, "Item".into(), vec![("id".into(), Tree::Int(7)), ("ok?".into(), Tree::Bool(true))]),
        ),
        (Tree::Time(5, 6, Some(-3600), None), Tree::Array(vec![Tree::Bin(vec![255]), Tree::Symbol("ok?".into())])),
    ]);
    let text = r##"{:"a b" => 1...nil, "x\n" => Set[(1/2), (0 + 1i)], -0x0100 => #<data Item id=7, ok?=true>, @5.000000006-3600 => [b"\xff", :ok?]}"##;
    assert_eq!(tree.to_string(), text);
}
