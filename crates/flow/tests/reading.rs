//! What readers see: any order, several readers, removal, texts, nesting, failures.

mod common;
use common::*;

use kumi_flow::{FailureKind, Policy, Poll, ReadError, Wait};

const POLICIES: [Policy; 5] = [Policy::Small, Policy::Large, Policy::Rows(1), Policy::Paper, Policy::Adaptive];

#[test]
fn rows_come_in_order_by_every_policy() {
    for policy in POLICIES {
        let (registry, document) = open_rows(bytes(&rows_document(5000)), policy);
        let mut cursor = list_of(&document).cursor(true).unwrap();
        assert_eq!(all(&mut cursor), numbers("", 0..5000), "{policy:?}");
        assert_eq!(next(&mut cursor).unwrap(), None);
        drop((cursor, document));
        nothing_left(&registry);
    }
}

#[test]
fn the_only_reader_of_a_cut_list_gets_rows_that_nobody_keeps() {
    let (registry, document) = open_rows(bytes(&rows_document(3000)), Policy::Adaptive);
    let mut cursor = list_of(&document).cursor(true).unwrap();
    for i in 0..3000 {
        let got = block(|| {
            cursor.next(|entry| match entry {
                kumi_flow::Entry::Row(row) => (row.view().text(0).map(str::to_string), row.handle().is_none()),
                _ => panic!("a row"),
            })
        });
        assert_eq!(got.unwrap(), Some((Some(i.to_string()), true)));
        assert_eq!(registry.live().cells, 0);
    }
    assert_eq!(registry.stats().direct, 3000);
}

#[test]
fn a_list_that_was_got_is_read_again_and_by_several() {
    let (registry, document) = open_rows(bytes(&rows_document(100)), Policy::Adaptive);
    let list = list_of(&document);
    let (mut a, mut b) = (list.cursor(false).unwrap(), list.cursor(false).unwrap());
    for i in 0..50 {
        assert_eq!(next(&mut a).unwrap(), Some(i.to_string()));
    }
    assert_eq!(all(&mut b), numbers("", 0..100));
    assert_eq!(all(&mut a), numbers("", 50..100));
    assert_eq!(all(&mut list.cursor(false).unwrap()), numbers("", 0..100));
    assert_eq!(registry.live().cells, 100);
}

#[test]
fn cursors_of_a_cut_list_are_opened_before_its_first_element_is_passed() {
    let (_registry, _document, info) = open_info(bytes(&info_document(10)), Policy::Adaptive);
    let list = info.take_list(2).unwrap();
    assert!(matches!(info.take_list(2), Err(ReadError::Removed)));
    assert!(matches!(info.list(2), Err(ReadError::Removed)));
    let (mut a, mut b) = (list.cursor(false).unwrap(), list.cursor(false).unwrap());
    assert_eq!(next(&mut a).unwrap().as_deref(), Some("a0"));
    assert!(matches!(list.cursor(false), Err(ReadError::Removed)));
    assert_eq!(all(&mut b), numbers("a", 0..10));
    assert_eq!(all(&mut a), numbers("a", 1..10));
}

#[test]
fn a_removing_cursor_cuts_a_list_that_was_got() {
    let (registry, _document, info) = open_info(bytes(&info_document(10)), Policy::Adaptive);
    let list = info.list(2).unwrap();
    let mut early = list.cursor(false).unwrap();
    assert_eq!(next(&mut early).unwrap().as_deref(), Some("a0"));
    let mut removing = list.cursor(true).unwrap();
    assert!(list.cursor(false).is_ok());
    assert_eq!(next(&mut removing).unwrap().as_deref(), Some("a0"));
    assert!(matches!(list.cursor(false), Err(ReadError::Removed)));
    assert_eq!(all(&mut early), numbers("a", 1..10));
    assert_eq!(all(&mut removing), numbers("a", 1..10));
    assert_eq!(registry.live().cells, 10, "the other list, which came by");
}

#[test]
fn fields_and_lists_are_read_in_any_order() {
    let (_registry, _document, info) = open_info(bytes(&info_document(20)), Policy::Small);
    let mut b = info.list(3).unwrap().cursor(false).unwrap();
    assert_eq!(all(&mut b), numbers("b", 0..20));
    assert_eq!(field(&info, 4).unwrap().as_deref(), Some("E"));
    assert_eq!(field(&info, 1).unwrap().as_deref(), Some("T"));
    let mut a = info.list(2).unwrap().cursor(false).unwrap();
    assert_eq!(all(&mut a), numbers("a", 0..20));
    assert_eq!(field(&info, 0).unwrap().as_deref(), Some("7"));
}

/// Whoever looks for what lies far behind gets a turn for other things now and then.
#[test]
fn a_reader_does_not_parse_for_ever_in_one_call() {
    let parts: [fn(&kumi_flow::Node) -> Result<Poll<()>, ReadError>; 2] =
        [|info| info.field(4, |_| ()), |info| Ok(info.list(3)?.cursor(false)?.next(show)?.map(|_| ()))];
    for policy in POLICIES {
        for part in parts {
            let clock = ticking(std::time::Duration::from_millis(1));
            let registry = kumi_flow::Registry::with_clock(None, clock.clone());
            let document = open(&registry, bytes(&info_document(5000)), info_schema(), policy);
            let info = node_of(&document);
            let mut calls = 0;
            loop {
                let began = clock();
                let poll = part(&info).unwrap();
                let took = clock() - began;
                assert!(took < 5 * kumi_flow::FILL_MOST, "{policy:?}: {took:?} in one call");
                calls += 1;
                if let Poll::Ready(()) = poll {
                    break;
                }
            }
            assert!(calls > 1, "{policy:?}: this document is too small for this test");
        }
    }
}

#[test]
fn what_was_removed_is_gone() {
    let (_registry, _document, info) = open_info(bytes(&info_document(3)), Policy::Small);
    assert_eq!(block(|| info.take_field(1, text)).unwrap().as_deref(), Some("T"));
    assert!(matches!(field(&info, 1), Err(ReadError::Removed)));
    assert!(matches!(block(|| info.take_field(1, text)), Err(ReadError::Removed)));
    assert_eq!(block(|| info.take_field(0, text)).unwrap().as_deref(), Some("7"));
    assert!(matches!(field(&info, 0), Err(ReadError::Removed)));
    assert!(matches!(field(&info, 99), Err(ReadError::Removed)));
}

#[test]
fn kept_rows_remember_what_was_removed() {
    let (_registry, document) = open_rows(bytes(&rows_document(2)), Policy::Small);
    let list = list_of(&document);
    let [one, two] = [(); 2].map(|()| next_row(&mut list.cursor(false).unwrap()));
    assert!(one.same(&two));
    assert!(one.remove(0, 1));
    assert!(two.is_removed(0, 1) && !two.is_removed(0, 0) && !two.remove(0, 1));
}

#[test]
fn folders_nest() {
    let text = "<folder name='a'><tag>x</tag><folder name='b'><folder name='c'/><tag>y</tag></folder><tag>z</tag></folder>";
    let (_registry, _document, a) = open_folder(text, Policy::Small);
    let mut inner = a.list(1).unwrap().cursor(false).unwrap();
    let b = next_node(&mut inner).unwrap();
    let c = next_node(&mut b.list(1).unwrap().cursor(false).unwrap()).unwrap();
    assert_eq!(field(&c, 0).unwrap().as_deref(), Some("c"));
    assert_eq!(field(&b, 0).unwrap().as_deref(), Some("b"));
    assert_eq!(all(&mut b.list(2).unwrap().cursor(false).unwrap()), ["y"]);
    assert_eq!(all(&mut a.list(2).unwrap().cursor(false).unwrap()), ["x", "z"]);
    assert!(next_node(&mut inner).is_none());
    assert!(a.is_closed());
}

#[test]
fn a_deep_tree_is_dropped_in_constant_stack() {
    let depth = 4000;
    let text = "<folder name='n'>".repeat(depth) + &"</folder>".repeat(depth);
    let registry = registry();
    std::thread::Builder::new()
        .stack_size(128 << 10)
        .spawn({
            let registry = registry.clone();
            move || {
                let document = open(&registry, bytes(&text), folder_schema(), Policy::Adaptive);
                let root = node_of(&document);
                assert_eq!(all(&mut root.list(2).unwrap().cursor(false).unwrap()), Vec::<String>::new());
                assert_eq!(registry.live().cells, depth as i64 - 1);
            }
        })
        .unwrap()
        .join()
        .unwrap();
    nothing_left(&registry);
}

#[test]
fn a_failure_comes_after_everything_before_it_and_again() {
    for policy in POLICIES {
        let registry = registry();
        let mut text = rows_document(30);
        text.truncate(text.len() - "</t>".len());
        text.push_str("<r><k>1</k></x>");
        let document = open(&registry, bytes(&text), rows_schema(), policy);
        let list = list_of(&document);
        let mut cursor = list.cursor(false).unwrap();
        for i in 0..30 {
            assert_eq!(next(&mut cursor).unwrap(), Some(i.to_string()), "{policy:?}");
        }
        for _ in 0..2 {
            let failure = failure(&mut cursor);
            assert!(matches!(failure.kind, FailureKind::Document(_)));
            assert_eq!(failure.line, Some(1));
            assert!(failure.to_string().starts_with("(string):1:"), "{failure}");
        }
        assert_eq!(registry.live().open, 0);
        assert_eq!(next(&mut list.cursor(false).unwrap()).unwrap().as_deref(), Some("0"));
    }
}

#[test]
fn a_failure_ends_fields_that_have_not_come() {
    let (_registry, _document, info) = open_info(bytes("<info id='1'><title>T</title><a><k>1</k></a>"), Policy::Small);
    assert!(matches!(field(&info, 4), Err(ReadError::Failed(_))));
    assert_eq!(field(&info, 1).unwrap().as_deref(), Some("T"));
    let mut a = info.list(2).unwrap().cursor(false).unwrap();
    assert_eq!(next(&mut a).unwrap().as_deref(), Some("1"));
    assert!(matches!(next(&mut a), Err(ReadError::Failed(_))));
}

#[test]
fn pushed_bytes_wake_the_reader() {
    let (_registry, document) = open_rows(pushed(), Policy::Adaptive);
    let mut cursor = list_of(&document).cursor(true).unwrap();
    let Ok(Poll::Wait(Wait::Push, ticket)) = cursor.next(show) else { panic!("nothing was pushed") };
    let (sender, receiver) = std::sync::mpsc::channel();
    let subscription = document.producer.subscribe(ticket, Box::new(move || sender.send(()).unwrap()));
    assert!(subscription.is_some());
    assert!(document.producer.push(b"<t><r><k>1</k></r><r><k>2").is_some());
    receiver.recv().unwrap();
    assert!(document.producer.subscribe(ticket, Box::new(|| ())).is_none(), "the ticket is old");
    assert_eq!(next(&mut cursor).unwrap().as_deref(), Some("1"));
    assert!(matches!(cursor.next(show), Ok(Poll::Wait(Wait::Push, _))));
    document.producer.push(b"</k></r></t>");
    document.producer.end();
    assert_eq!(all(&mut cursor), ["2"]);
    assert_eq!(document.producer.push(b"x"), None);
}

#[test]
fn a_pusher_that_fails_fails_the_readers() {
    let (_registry, document) = open_rows(pushed(), Policy::Adaptive);
    let mut cursor = list_of(&document).cursor(true).unwrap();
    document.producer.push(b"<t><r><k>1</k></r>");
    document.producer.fail("the disk burns");
    assert_eq!(next(&mut cursor).unwrap().as_deref(), Some("1"));
    assert_eq!(failure(&mut cursor).message, "the disk burns");
}

#[test]
fn a_reader_that_waits_is_woken_by_another_that_brings_its_rows() {
    let (_registry, document, info) = open_info(pushed(), Policy::Adaptive);
    let mut a = info.list(2).unwrap().cursor(false).unwrap();
    let mut b = info.list(3).unwrap().cursor(false).unwrap();
    assert!(matches!(b.next(show), Ok(Poll::Wait(..))));
    let Ok(Poll::Wait(_, ticket)) = a.next(show) else { panic!("nothing was pushed") };
    let (sender, receiver) = std::sync::mpsc::channel();
    document.producer.push(b"<info id='1'><title>T</title>");
    assert!(matches!(b.next(show), Ok(Poll::Wait(..))));
    assert!(document.producer.subscribe(ticket, Box::new(|| ())).is_none());
    let Ok(Poll::Wait(_, ticket)) = a.next(show) else { panic!("no row was pushed") };
    let again = sender.clone();
    let _first = document.producer.subscribe(ticket, Box::new(move || again.send(()).unwrap())).unwrap();
    document.producer.push(b"<a><k>1</k></a><b><k>2</k></b>");
    receiver.recv().unwrap();
    assert_eq!(next(&mut b).unwrap().as_deref(), Some("2"));
    assert_eq!(next(&mut a).unwrap().as_deref(), Some("1"));
}

#[test]
fn whole_documents_are_nodes_too() {
    let mut b = kumi_xml::Schema::builder();
    let class = b.class("Note");
    b.field(class, kumi_xml::Field::new("to"));
    b.field(class, kumi_xml::Field::new("cc").optional());
    b.root_document(class);
    let registry = registry();
    let document = open(&registry, bytes("<note><to>Tove</to></note>"), b.build().unwrap(), Policy::Adaptive);
    let note = node_of(&document);
    assert_eq!(field(&note, 0).unwrap().as_deref(), Some("Tove"));
    assert_eq!(field(&note, 1).unwrap(), None);
    assert_eq!(note.opened(|row| row.line()), Some(1));
}

#[test]
fn the_push_binding_calls_for_every_row() {
    let mut push = kumi_flow::Push::new(rows_schema(), kumi_xml::Options::default());
    let mut got = Vec::new();
    let text = rows_document(1000);
    for piece in text.as_bytes().chunks(13) {
        push.feed(piece, |event| {
            if let kumi_flow::Event::Row { row, .. } = event {
                got.push(row.text(0).unwrap().to_string())
            }
        })
        .unwrap();
    }
    push.finish(|_| ()).unwrap();
    assert_eq!(got, numbers("", 0..1000));
}
