//! Documents made to cost more than they are worth: each is read, or refused at a limit, without the work or memory
//! growing beyond the document. Sizes are what matters here; the seconds are of the test's own work, and a bound so
//! generous that only a quadratic step passes it.

mod support;

use kumi_xml::{Error, ErrorKind, Event, LimitKind, Limits, Options, Tokenizer};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard};
use support::clock::Clock;

/// Counts what is allocated.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: everything is handed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        PEAK.fetch_max(HELD.fetch_add(layout.size(), Relaxed) + layout.size(), Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// One attack at a time, so that each is measured alone.
static TURN: Mutex<()> = Mutex::new(());

fn turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(|e| e.into_inner())
}

#[derive(Debug, Default)]
struct Seen {
    events: usize,
    text: usize,
    longest_value: usize,
    most_attributes: usize,
}

/// Reads parts one after the other, in pieces of 64 KB, and holds what it takes to the bounds.
fn attack<'a>(options: Options, parts: impl IntoIterator<Item = &'a [u8]>) -> (Seen, Result<(), Error>) {
    let clock = Clock::start();
    let before = HELD.load(Relaxed);
    PEAK.store(before, Relaxed);
    let mut tokenizer = Tokenizer::new(options);
    let mut seen = Seen::default();
    let mut pending: Vec<u8> = Vec::new();
    let result = (|| {
        for part in parts {
            pending.extend_from_slice(part);
            if pending.len() >= 64 << 10 {
                for piece in pending.chunks(64 << 10) {
                    tokenizer.feed(piece)?;
                    drain(&mut tokenizer, &mut seen)?;
                }
                pending.clear();
            }
        }
        tokenizer.feed(&pending)?;
        tokenizer.finish();
        drain(&mut tokenizer, &mut seen)
    })();
    let peak = PEAK.load(Relaxed) - before;
    println!("{:?} {} KB {:?} {:?}", clock.spent(), peak >> 10, seen, result.as_ref().err().map(|e| e.kind));
    assert!(clock.is_within(10), "{:?}", clock.spent());
    assert!(peak < 64 << 20, "{} MB", peak >> 20);
    (seen, result)
}

fn drain(tokenizer: &mut Tokenizer, seen: &mut Seen) -> Result<(), Error> {
    while let Some(event) = tokenizer.next()? {
        seen.events += 1;
        match event {
            Event::Text(text) => seen.text += text.len(),
            Event::Start(start) => {
                seen.most_attributes = seen.most_attributes.max(start.attributes().len());
                seen.longest_value = start.attributes().map(|a| a.value.len()).fold(seen.longest_value, usize::max);
            }
            _ => {}
        }
    }
    Ok(())
}

fn limit(result: Result<(), Error>) -> LimitKind {
    match result {
        Err(Error { kind: ErrorKind::Limit(kind), .. }) => kind,
        other => panic!("a limit was expected, not {other:?}"),
    }
}

fn repeated<'a>(first: &'a [u8], part: &'a [u8], count: usize, last: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
    std::iter::once(first).chain(std::iter::repeat_n(part, count)).chain(std::iter::once(last))
}

#[test]
fn a_million_nested_tags() {
    let _turn = turn();
    let nested = || repeated(b"<a>", b"<a>", 999_999, b"").chain(std::iter::repeat_n(&b"</a>"[..], 1_000_000));
    assert_eq!(limit(attack(Options::default(), nested()).1), LimitKind::Depth);
    // A caller who allows it gets it.
    let limits = Limits { depth: usize::MAX, ..Limits::default() };
    let (seen, result) = attack(Options { limits, ..Options::default() }, nested());
    assert_eq!((seen.events, result), (2_000_000, Ok(())));
}

#[test]
fn a_hundred_thousand_attributes() {
    let _turn = turn();
    let mut tag = b"<a".to_vec();
    for i in 0..100_000 {
        tag.extend_from_slice(format!(" a{i}='{i}'").as_bytes());
    }
    tag.extend_from_slice(b"/>");
    assert_eq!(limit(attack(Options::default(), [&tag[..]]).1), LimitKind::Attributes);
    let limits = Limits { attributes: usize::MAX, ..Limits::default() };
    let (seen, result) = attack(Options { limits: limits.clone(), ..Options::default() }, [&tag[..]]);
    assert_eq!((seen.most_attributes, result), (100_000, Ok(())));
    tag.truncate(tag.len() - 2);
    tag.extend_from_slice(b" a0=''/>");
    let (_, result) = attack(Options { limits, ..Options::default() }, [&tag[..]]);
    assert_eq!(result.unwrap_err().kind, ErrorKind::DuplicateAttribute);
}

#[test]
fn a_name_of_20_mb() {
    let _turn = turn();
    let part = [b'n'; 1 << 10];
    for first in [&b"<"[..], b"<a ", b"</", b"<?", b"<!DOCTYPE ", b"<a>&", b"<a></", b"<!DOCTYPE a [<!ENTITY "] {
        let result = attack(Options::default(), repeated(first, &part, 20 << 10, b"/>")).1;
        let kind = result.unwrap_err().kind;
        assert!(matches!(kind, ErrorKind::Limit(_) | ErrorKind::Structure), "{kind:?}");
    }
    // Of characters that are not ASCII.
    let part = "ñ".repeat(512);
    let result = attack(Options::default(), repeated(b"<", part.as_bytes(), 20 << 10, b"/>")).1;
    assert!(matches!(result.unwrap_err().kind, ErrorKind::Limit(_)));
}

#[test]
fn a_text_of_50_mb() {
    let _turn = turn();
    for (first, byte, last) in [("<a>", b't', "</a>"), ("<a><![CDATA[", b']', "]]></a>"), ("<a>", b']', "</a>")] {
        let (seen, result) = attack(Options::default(), repeated(first.as_bytes(), &[byte; 1 << 10], 50 << 10, last.as_bytes()));
        assert_eq!((seen.text, result), (50 << 20, Ok(())));
    }
}

#[test]
fn a_comment_of_50_mb() {
    let _turn = turn();
    let result = attack(Options::default(), repeated(b"<a><!--", &[b'c'; 1 << 10], 50 << 10, b"--></a>")).1;
    assert_eq!(limit(result), LimitKind::MarkupBytes);
}

#[test]
fn blanks_before_the_root() {
    let _turn = turn();
    let (seen, result) = attack(Options::default(), repeated(b"\n", &[b' '; 1 << 10], 50 << 10, b"<a/>"));
    assert_eq!((seen.events, result), (2, Ok(())));
}

fn laughs(body: &str) -> Vec<u8> {
    let mut document = "<!DOCTYPE a [<!ENTITY e0 'ha'>".to_owned();
    for i in 1..10 {
        document += &format!("<!ENTITY e{i} '{}'>", format!("&e{};", i - 1).repeat(10));
    }
    (document + "]>" + body).into_bytes()
}

#[test]
fn a_billion_laughs() {
    let _turn = turn();
    for body in ["<a>&e9;</a>", "<a b='&e9;'/>"] {
        assert_eq!(limit(attack(Options::default(), [&laughs(body)[..]]).1), LimitKind::EntityExpansion);
    }
    let default = String::from_utf8(laughs("<a/>")).unwrap().replace("]>", "<!ATTLIST a b CDATA '&e9;'>]>");
    assert_eq!(limit(attack(Options::default(), [default.as_bytes()]).1), LimitKind::EntityExpansion);
    // Parameter entities, too, and entities that hold nothing.
    let mut document = "<!DOCTYPE a [<!ENTITY % p0 ''>".to_owned();
    for i in 1..10 {
        document += &format!("<!ENTITY % p{i} '{}'>", format!("&#37;p{};", i - 1).repeat(10));
    }
    document += "%p9;]><a/>";
    assert_eq!(limit(attack(Options::default(), [document.as_bytes()]).1), LimitKind::EntityExpansion);
}

#[test]
fn a_long_entity_many_times() {
    let _turn = turn();
    let document = format!("<!DOCTYPE a [<!ENTITY e '{}'>]><a>{}</a>", "x".repeat(100_000), "&e;".repeat(100_000));
    assert_eq!(limit(attack(Options::default(), [document.as_bytes()]).1), LimitKind::EntityExpansion);
    let document = format!("<!DOCTYPE a [<!ATTLIST b c CDATA '{}'>]><a>{}</a>", "x".repeat(100_000), "<b/>".repeat(100_000));
    assert_eq!(limit(attack(Options::default(), [document.as_bytes()]).1), LimitKind::EntityExpansion);
}

#[test]
fn entities_outside_the_document() {
    let _turn = turn();
    for document in [
        "<!DOCTYPE a [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><a>&e;</a>",
        "<!DOCTYPE a [<!ENTITY e PUBLIC 'p' 'http://localhost/'>]><a>&e;</a>",
        "<!DOCTYPE a [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><a b='&e;'/>",
        "<!DOCTYPE a [<!ENTITY % p SYSTEM 'http://localhost/'>%p;]><a>&e;</a>",
        "<!DOCTYPE a SYSTEM 'http://localhost/'><a>&e;</a>",
    ] {
        let (_, result) = attack(Options::default(), [document.as_bytes()]);
        assert_eq!(result.unwrap_err().kind, ErrorKind::ExternalEntity, "{document}");
    }
}

#[test]
fn ends_of_tags_in_a_value() {
    let _turn = turn();
    let part = [b'>'; 1 << 10];
    let (seen, result) = attack(Options::default(), repeated(b"<a b='", &part, 5 << 10, b"'/>"));
    assert_eq!((seen.longest_value, result), (5 << 20, Ok(())));
    // A byte at a time: the value must not be looked through again for every one.
    let mut tokenizer = Tokenizer::new(Options::default());
    let mut document = b"<a b='".to_vec();
    document.resize(5 << 20, b'>');
    document.extend_from_slice(b"'/>");
    let clock = Clock::start();
    let mut seen = Seen::default();
    for byte in document.chunks(1) {
        tokenizer.feed(byte).unwrap();
        drain(&mut tokenizer, &mut seen).unwrap();
    }
    assert_eq!(seen.events, 2);
    assert!(clock.is_within(10), "{:?}", clock.spent());
}

/// No token is looked through again for every byte that comes.
#[test]
fn long_tokens_a_byte_at_a_time() {
    let _turn = turn();
    let half = 1 << 20;
    for (first, part, last) in [
        ("<a>", "t", "</a>"),
        ("<a>", "]", "</a>"),
        ("<a>", "&lt;", "</a>"),
        ("<a><![CDATA[", "]", "]]></a>"),
        ("<a><!--", "- ", "--></a>"),
        ("<a><?p ", "?", "?></a>"),
        ("<a ", " ", "></a>"),
        ("<a></a", " ", ">"),
        ("<!DOCTYPE a [", " ", "]><a/>"),
        ("<!DOCTYPE a [<!--", "x", "-->]><a/>"),
        ("", " ", "<a/>"),
        ("<a/>", " ", ""),
    ] {
        let document = format!("{first}{}{last}", part.repeat(half / part.len() - 100));
        let clock = Clock::start();
        let mut tokenizer = Tokenizer::new(Options::default());
        let mut seen = Seen::default();
        for byte in document.as_bytes().chunks(1) {
            tokenizer.feed(byte).unwrap();
            drain(&mut tokenizer, &mut seen).unwrap();
        }
        tokenizer.finish();
        drain(&mut tokenizer, &mut seen).unwrap_or_else(|e| panic!("{first}: {e}"));
        println!("{first:?} {part:?} {:?}", clock.spent());
        assert!(clock.is_within(5), "{first:?} {part:?}: {:?}", clock.spent());
    }
}

#[test]
fn deep_namespaces() {
    let _turn = turn();
    // Every element declares a prefix, and uses the outermost.
    let mut document = "<p0:a xmlns:p0='u0'>".to_owned();
    for i in 1..4096 {
        document += &format!("<p0:a xmlns:p{i}='u{i}' p0:b='' xmlns='d{i}'>");
    }
    document += &"</p0:a>".repeat(4096);
    let (seen, result) = attack(Options::default(), [document.as_bytes()]);
    assert_eq!((seen.events, result), (8192, Ok(())));
    let mut tag = "<a".to_owned();
    for i in 0..20_000 {
        tag += &format!(" xmlns:p{i}='u'");
    }
    let limits = Limits { attributes: usize::MAX, ..Limits::default() };
    let (_, result) = attack(Options { limits, ..Options::default() }, [(tag + "/>").as_bytes()]);
    assert_eq!(limit(result), LimitKind::Namespaces);
}

#[test]
fn references_of_25_mb() {
    let _turn = turn();
    for reference in [b"&#65;", b"&amp;"] {
        let (seen, result) = attack(Options::default(), repeated(b"<a>", reference, 5 << 20, b"</a>"));
        assert_eq!((seen.text, result), (5 << 20, Ok(())));
    }
    let (_, result) = attack(Options::default(), repeated(b"<a>&#", &[b'0'; 1 << 10], 25 << 10, b"65;</a>"));
    assert_eq!(limit(result), LimitKind::Name);
}

#[test]
fn a_document_type_without_end() {
    let _turn = turn();
    for part in ["<!ELEMENT a ANY>", "<!ENTITY e 'x'>", "(", "%a;", "<!--", "'"] {
        let (_, result) = attack(Options::default(), repeated(b"<!DOCTYPE a [", part.as_bytes(), 4 << 20, b""));
        assert!(result.is_err());
    }
    let mut document = "<!DOCTYPE a [<!ELEMENT a ".to_owned();
    document += &"(".repeat(400_000);
    document += "b";
    document += &")".repeat(400_000);
    document += ">]><a/>";
    assert_eq!(attack(Options::default(), [document.as_bytes()]).1, Ok(()));
}

#[test]
fn entities_as_deep_as_they_go() {
    let _turn = turn();
    let limits = Limits { entity_depth: usize::MAX, ..Limits::default() };
    for (depth, deep) in [(490, false), (600, true)] {
        for (first, reference, body) in [
            ("<!ENTITY e0 'x'>", "&", "]><a b='&e;'/>"),
            ("<!ENTITY e0 'x'>", "&", "]><a>&e;</a>"),
            ("<!ENTITY % e0 ''>", "&#37;", "%e;]><a/>"),
        ] {
            let percent = if reference == "&" { "" } else { "% " };
            let mut document = format!("<!DOCTYPE a [{first}");
            for i in 1..depth {
                document += &format!("<!ENTITY {percent}e{i} '{reference}e{};'>", i - 1);
            }
            document += &body.replace("e;", &format!("e{};", depth - 1));
            let (_, result) = attack(Options { limits: limits.clone(), ..Options::default() }, [document.as_bytes()]);
            assert_eq!(result.is_err(), deep, "{depth} {body} {result:?}");
            assert!(!deep || limit(result) == LimitKind::EntityDepth);
        }
    }
}

/// What the open elements declare is held: it may not be more than a tag can be, however many tags it comes from.
#[test]
fn long_namespaces_in_one_another() {
    let _turn = turn();
    let name = "u".repeat(1 << 20);
    let tags: Vec<String> = (0..200).map(|i| format!("<a xmlns:p{i}='{name}'>")).collect();
    let result = attack(Options::default(), tags.iter().map(|t| t.as_bytes())).1;
    assert_eq!(limit(result), LimitKind::TagBytes);
    // One after the other they are no more than one.
    let tags = tags.iter().flat_map(|t| [t.as_bytes(), b"</a>"]);
    assert_eq!(attack(Options::default(), std::iter::once(&b"<t>"[..]).chain(tags).chain([&b"</t>"[..]])).1, Ok(()));
}
