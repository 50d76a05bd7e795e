//! Bytes of version 1, as they were recorded when it was the newest: today's code reads them, and writes the same when it speaks version 1.
//!
//! `recorded/v1` is never made anew, except while version 1 has not left this tree: `KUMI_RECORD=1 cargo test -p kumi-wire --test recorded`.

mod common;

use common::{sent, small, taken};
use kumi_wire::value::{Kind, Limits as ValueLimits};
use kumi_wire::{Bytes, Connection, Ended, Hello, Lane, Message, Payload, Role, Trace, Tree, validate};
use std::path::PathBuf;

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/recorded/v1").join(name)
}

/// The text that was recorded; what it would be today, where it is recorded anew.
fn recorded(name: &str, today: &str) -> String {
    if std::env::var_os("KUMI_RECORD").is_some() {
        std::fs::create_dir_all(file(name).parent().unwrap()).unwrap();
        std::fs::write(file(name), today).unwrap();
    }
    std::fs::read_to_string(file(name)).unwrap()
}

fn hex(bytes: &[u8]) -> String {
    let lines: Vec<String> = bytes.chunks(64).map(|line| line.iter().map(|b| format!("{b:02x}")).collect()).collect();
    lines.join("\n") + "\n"
}

fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

fn values() -> Vec<Tree> {
    let pair = |a, b| Box::new((a, b));
    let item = |id, name: &str| {
        Tree::Record(Kind::Data, "Shop::Item".into(), vec![("id".into(), Tree::Int(id)), ("name".into(), Tree::Str(name.into()))])
    };
    vec![
        Tree::Nil,
        Tree::Bool(true),
        Tree::Bool(false),
        Tree::Array([0, 127, 128, 255, 256, 65_535, 65_536, u32::MAX.into(), 1 << 32, i64::MAX].map(Tree::Int).into()),
        Tree::Array([-1, -32, -33, -128, -129, -32_768, -32_769, -(1 << 31), -(1 << 31) - 1, i64::MIN].map(Tree::Int).into()),
        Tree::UInt(u64::MAX),
        Tree::Big(false, vec![1, 0, 0, 0, 0, 0, 0, 0, 0]),
        Tree::Big(true, [0x7F; 20].into()),
        Tree::Array([0.0, -0.0, 1.5, f64::INFINITY, f64::MIN_POSITIVE].map(Tree::Float).into()),
        Tree::Array(["", "a", "größer", &"x".repeat(32)].map(|s| Tree::Str(s.into())).into()),
        Tree::Bin(vec![0, 255]),
        Tree::Encoded("Shift_JIS".into(), vec![0x83, 0x8B]),
        Tree::Encoded("UTF-8".into(), vec![0xFF]),
        Tree::Symbol("id".into()),
        Tree::Symbol("größe?".into()),
        Tree::SymbolIn("Shift_JIS".into(), vec![0x83, 0x8B]),
        Tree::Time(1_790_000_000, 123_456_789, None, None),
        Tree::Time(-1, 0, Some(-34_200), None),
        Tree::Time(0, 999_999_999, Some(3600), Some("Europe/Berlin".into())),
        Tree::Map(vec![(Tree::Symbol("a".into()), Tree::Int(1)), (Tree::Str("b".into()), Tree::Map(vec![]))]),
        Tree::Set(vec![Tree::Int(1), Tree::Set(vec![])]),
        Tree::Range(pair(Tree::Int(1), Tree::Nil), false),
        Tree::Range(pair(Tree::Str("a".into()), Tree::Str("f".into())), true),
        Tree::Rational(pair(Tree::Int(-1), Tree::Int(3))),
        Tree::Complex(pair(Tree::Int(0), Tree::Float(1.5))),
        Tree::Default(pair(Tree::Int(0), Tree::Map(vec![]))),
        Tree::ByIdentity(Box::new(Tree::Set(vec![Tree::Str("a".into()), Tree::Str("a".into())]))),
        Tree::FineTime(pair(Tree::Time(0, 1, None, None), Tree::Rational(pair(Tree::Int(1), Tree::Int(3))))),
        item(1, "apple"),
        Tree::Array(vec![
            item(1, "apple"),
            Tree::Record(Kind::Struct, "Pair".into(), vec![("left".into(), item(2, "pear")), ("right".into(), Tree::Nil)]),
            Tree::Record(Kind::KeywordStruct, "Pair".into(), vec![("left".into(), Tree::Nil), ("right".into(), Tree::Nil)]),
            Tree::Record(Kind::Record, String::new(), vec![("row".into(), Tree::Int(1))]),
            Tree::Record(Kind::Object, "Empty".into(), vec![]),
            item(3, "plum"),
        ]),
        // 300 shapes: numbers of two bytes.
        Tree::Array((0..300).map(|i| Tree::Record(Kind::Object, format!("C{i}"), vec![])).collect()),
        Tree::Ext(100, vec![1, 2, 3]),
    ]
}

#[test]
fn values_of_version_1() {
    let today: String =
        values().iter().map(|tree| format!("{tree}\n  {}", hex(&tree.encode()).trim_end().replace('\n', "\n  ") + "\n")).collect();
    assert_eq!(recorded("values.txt", &today), today);
    // And read from the file alone.
    let text = recorded("values.txt", &today);
    let mut read = Vec::new();
    for block in text.split_inclusive('\n').fold(Vec::<(String, String)>::new(), |mut all, line| {
        match all.last_mut() {
            Some((_, bytes)) if line.starts_with("  ") => bytes.push_str(line),
            _ => all.push((line.trim_end().to_owned(), String::new())),
        }
        all
    }) {
        let bytes = unhex(&block.1);
        validate(&bytes, &ValueLimits::default()).unwrap();
        let tree = Tree::decode(&bytes, &ValueLimits::default()).unwrap();
        assert_eq!(tree.to_string(), block.0);
        read.push(tree);
    }
    assert_eq!(read, values());
}

fn side(role: Role) -> Connection {
    let name = if role == Role::Caller { "east" } else { "west" };
    let hello = Hello { features: 0b101, versions: (1, 1), ..Hello::new(name, 1_790_000_000) };
    Connection::new(role, hello, small()).unwrap()
}

fn say(side: &mut Connection, role: Role, step: usize) {
    let trace = Trace::parse("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "vendor=x").unwrap();
    match (role, step) {
        (Role::Caller, 0) => {
            side.send_copy(1, 10, Lane::Control, b"").unwrap();
            side.send_copy(u32::MAX, 255, Lane::Small, b"small").unwrap();
            side.send_traced(2, 12, Lane::Small, &b"traced"[..], &trace).unwrap();
        }
        (Role::Listener, 0) => {
            side.send(3, 13, Lane::Bulk, Payload::pieces([Bytes::from_static(b"in "), Bytes::from_static(b"pieces")])).unwrap();
        }
        (Role::Caller, 1) => {
            side.send(4, 14, Lane::Bulk, vec![4; 2500]).unwrap();
            side.send_traced(5, 15, Lane::Bulk, vec![5; 1100], &trace).unwrap();
        }
        // More than a window's half, which is given back.
        (Role::Listener, 2) => (0..3).for_each(|_| side.send(6, 16, Lane::Small, vec![6; 900]).unwrap()),
        _ => {}
    }
}

/// What each of the two writes in a session that shows everything once, and the messages of both.
fn session() -> ([Vec<u8>; 2], [Vec<Message>; 2]) {
    let mut sides = [side(Role::Caller), side(Role::Listener)];
    let (mut bytes, mut messages) = <([Vec<u8>; 2], [Vec<Message>; 2])>::default();
    let mut settle = |sides: &mut [Connection; 2]| {
        while sides.iter().any(Connection::has_output) {
            for from in 0..2 {
                let part = sent(&mut sides[from], usize::MAX);
                if !part.is_empty() {
                    sides[1 - from].receive(&part).unwrap();
                }
                bytes[from].extend(part);
                messages[1 - from].extend(taken(&mut sides[1 - from]));
            }
        }
    };
    settle(&mut sides);
    for step in 0..3 {
        sides.iter_mut().zip([Role::Caller, Role::Listener]).for_each(|(side, role)| say(side, role, step));
        settle(&mut sides);
    }
    sides[1].goodbye(1024, "Schluß");
    settle(&mut sides);
    (bytes, messages)
}

#[test]
fn a_session_of_version_1() {
    let (bytes, messages) = session();
    for (side, name) in ["caller.hex", "listener.hex"].into_iter().enumerate() {
        assert_eq!(recorded(name, &hex(&bytes[side])), hex(&bytes[side]), "{name}");
    }
    // What one side wrote then is read by the other one of today.
    for (role, name, messages) in [(Role::Listener, "caller.hex", &messages[1]), (Role::Caller, "listener.hex", &messages[0])] {
        let bytes = unhex(&std::fs::read_to_string(file(name)).unwrap());
        let mut reader = side(role);
        let hello = 18 + usize::from(bytes[11]);
        reader.receive(&bytes[..hello]).unwrap();
        let peer = reader.peer().unwrap();
        let name_there = if role == Role::Caller { "west" } else { "east" };
        assert_eq!((&*peer.hello.name, peer.hello.incarnation, peer.features, peer.version), (name_there, 1_790_000_000, 0b101, 1));
        // What the grants among those bytes are for.
        (0..3).for_each(|step| say(&mut reader, role, step));
        while !sent(&mut reader, usize::MAX).is_empty() {}
        for part in bytes[hello..].chunks(500) {
            reader.receive(part).unwrap();
            sent(&mut reader, usize::MAX);
        }
        if role == Role::Caller {
            assert!(matches!(reader.ended(), Some(Ended::There(r)) if r.code == 1024 && r.text == "Schluß"));
        }
        let read = taken(&mut reader);
        assert_eq!(&read, messages, "{name}");
    }
}
