//! Nothing is left behind: sources close when nothing of their documents can be reached, and parts are kept exactly
//! as long as somebody can reach them.

mod common;
use common::*;

use std::sync::Arc;
use std::sync::mpsc::channel;

use kumi_flow::{FailureKind, Policy, Poll, ReadError, Registry};

#[test]
fn dropping_a_document_at_any_moment_closes_its_source() {
    for read in 0..5 {
        let (source, mut peer) = socket();
        let (registry, document) = open_rows(source, Policy::Adaptive);
        let mut cursor = list_of(&document).cursor(read % 2 == 0).unwrap();
        send(&mut peer, "<t><r><k>0</k></r><r><k>1</k></r><r><k>2</k></r><r><k>");
        for i in 0..read.min(3) {
            assert_eq!(next(&mut cursor).unwrap(), Some(i.to_string()));
        }
        if read == 4 {
            assert!(matches!(cursor.next(show), Ok(Poll::Wait(..))));
        }
        drop(document);
        assert_eq!(registry.live().open, 1);
        drop(cursor);
        assert!(hangs_up(&mut peer));
        nothing_left(&registry);
    }
}

#[test]
fn leaving_the_only_list_of_a_document_closes_it_though_its_root_is_held() {
    let mut b = kumi_xml::Schema::builder();
    let (root, row) = (b.class("Root"), b.class("Row"));
    b.field(row, kumi_xml::Field::new("k"));
    b.field(root, kumi_xml::Field::new("rows").element("r").class(row).many());
    b.root_document(root);
    let schema = b.build().unwrap();
    let registry = registry();
    let (source, mut peer) = socket();
    let document = open(&registry, source, schema, Policy::Adaptive);
    let root = node_of(&document);
    let mut cursor = root.take_list(0).unwrap().cursor(true).unwrap();
    send(&mut peer, "<x><r><k>0</k></r><r><k>1</k></r>");
    assert_eq!(next(&mut cursor).unwrap().as_deref(), Some("0"));
    drop(cursor);
    assert!(hangs_up(&mut peer));
    assert_eq!(registry.live().open, 0);
    assert!(matches!(root.list(0), Err(ReadError::Removed)));
}

#[test]
fn a_part_that_is_still_to_come_keeps_the_source_open() {
    let (source, mut peer) = socket();
    let (registry, document, info) = open_info(source, Policy::Adaptive);
    let mut cursor = info.take_list(2).unwrap().cursor(true).unwrap();
    send(&mut peer, "<info id='1'><title>T</title><a><k>0</k></a><a><k>1</k></a>");
    assert_eq!(next(&mut cursor).unwrap().as_deref(), Some("0"));
    drop(cursor);
    assert_eq!(registry.live().open, 1);
    send(&mut peer, "<b><k>b</k></b>");
    assert_eq!(next(&mut info.list(3).unwrap().cursor(false).unwrap()).unwrap().as_deref(), Some("b"));
    drop((info, document));
    assert!(hangs_up(&mut peer));
    nothing_left(&registry);
}

#[test]
fn a_removed_list_that_nobody_reads_is_dropped_unread() {
    let (registry, _document, info) = open_info(bytes(&info_document(500)), Policy::Adaptive);
    drop(info.take_list(2).unwrap());
    assert_eq!(field(&info, 4).unwrap().as_deref(), Some("E"));
    assert_eq!(registry.live().cells, 500, "the other list is kept, this one is not");
    drop(info.take_list(3).unwrap());
    assert_eq!(registry.live().cells, 0);
}

#[test]
fn a_cell_is_kept_exactly_while_a_cursor_stands_before_it() {
    let (registry, _document, info) = open_info(bytes(&info_document(100)), Policy::Rows(1));
    let list = info.take_list(2).unwrap();
    let (mut a, mut b) = (list.cursor(false).unwrap(), list.cursor(false).unwrap());
    for i in 1..=60i64 {
        next(&mut a).unwrap();
        assert_eq!(registry.live().cells, i);
    }
    for i in 1..=60i64 {
        next(&mut b).unwrap();
        assert_eq!(registry.live().cells, 60 - i);
    }
    for _ in 0..10 {
        next(&mut b).unwrap();
    }
    assert_eq!(registry.live().cells, 10);
    drop(a);
    assert_eq!(registry.live().cells, 0);
    next(&mut b).unwrap();
    assert_eq!(registry.live().cells, 0, "the only reader now");
    assert_eq!(registry.stats().direct, 1);
}

#[test]
fn a_row_that_is_held_holds_nothing_behind_it() {
    let (registry, document) = open_rows(bytes(&rows_document(1000)), Policy::Adaptive);
    let list = list_of(&document);
    let mut cursor = list.cursor(false).unwrap();
    let held = next_row(&mut cursor);
    all(&mut cursor);
    assert_eq!(registry.live().cells, 1000);
    drop((document, list, cursor));
    assert_eq!(registry.live().cells, 1);
    assert_eq!(held.view().text(0), Some("0"));
    drop(held);
    nothing_left(&registry);
}

#[test]
fn a_list_whose_handles_are_gone_is_let_go_of_as_its_cursors_pass() {
    let (registry, document) = open_rows(bytes(&rows_document(100)), Policy::Adaptive);
    let mut cursor = list_of(&document).cursor(false).unwrap();
    for _ in 0..50 {
        next(&mut cursor).unwrap();
    }
    assert_eq!(registry.live().cells, 50);
    drop(document);
    assert_eq!(registry.live().cells, 0);
    assert_eq!(all(&mut cursor), numbers("", 50..100));
}

#[test]
fn the_rest_of_a_node_that_nobody_holds_is_passed_over() {
    let (registry, document, root) = open_folder(&folders_document(""), Policy::Rows(4));
    let mut folders = root.take_list(1).unwrap().cursor(true).unwrap();
    drop(root);
    let mut count = 0;
    while let Some(folder) = next_node(&mut folders) {
        assert_eq!(field(&folder, 0).unwrap(), Some(format!("f{count}")));
        count += 1;
    }
    assert_eq!(count, 200);
    assert!(registry.stats().rows < 200 * 20, "{} items were bound", registry.stats().rows);
    drop((folders, document));
    nothing_left(&registry);
}

#[test]
fn nodes_of_a_list_that_nobody_reads_are_passed_over() {
    let (registry, _document, root) = open_folder(&folders_document("<tag>last</tag>"), Policy::Rows(4));
    drop(root.take_list(1).unwrap());
    assert_eq!(all(&mut root.list(2).unwrap().cursor(false).unwrap()), ["last"]);
    assert!(registry.stats().rows < 200 * 20, "{} items were bound", registry.stats().rows);
}

#[test]
fn closing_a_document_fails_what_has_not_come() {
    let (source, mut peer) = socket();
    let (_registry, document, info) = open_info(source, Policy::Adaptive);
    send(&mut peer, "<info id='1'><title>T</title><a><k>0</k></a>");
    let mut cursor = info.list(2).unwrap().cursor(false).unwrap();
    assert_eq!(next(&mut cursor).unwrap().as_deref(), Some("0"));
    document.producer.close();
    assert!(hangs_up(&mut peer));
    assert_eq!(field(&info, 1).unwrap().as_deref(), Some("T"));
    assert!(matches!(failure(&mut cursor).kind, FailureKind::Closed));
}

#[test]
fn closing_wakes_those_who_wait() {
    let (source, _peer) = socket();
    let (_registry, document) = open_rows(source, Policy::Adaptive);
    let mut cursor = list_of(&document).cursor(true).unwrap();
    let Ok(Poll::Wait(_, ticket)) = cursor.next(show) else { panic!("nothing was sent") };
    let (sender, receiver) = channel();
    let _subscription = document.producer.subscribe(ticket, Box::new(move || sender.send(()).unwrap()));
    document.producer.close();
    receiver.try_recv().unwrap();
}

#[test]
fn a_thread_that_parses_ahead_stops_when_the_document_is_dropped() {
    let (sender, receiver) = channel::<kumi_flow::Job>();
    let sender = std::sync::Mutex::new(sender);
    let registry = Registry::new(Some(Arc::new(move |job| sender.lock().unwrap().send(job).is_ok())));
    let document = open(&registry, bytes(&rows_document(200_000)), rows_schema(), Policy::Adaptive);
    let mut cursor = list_of(&document).cursor(true).unwrap();
    let mut read = 0;
    while registry.stats().ahead < 3 {
        assert_eq!(next(&mut cursor).unwrap(), Some(read.to_string()));
        read += 1;
        if let Ok(job) = receiver.try_recv() {
            job();
        }
    }
    for _ in 0..1000 {
        assert_eq!(next(&mut cursor).unwrap(), Some(read.to_string()));
        read += 1;
    }
    while receiver.try_recv().is_ok() {}
    drop((cursor, document));
    nothing_left(&registry);
}
