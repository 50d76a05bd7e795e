//! Documents and blocking reads for the tests.
#![allow(dead_code)]

use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kumi_flow::{Cursor, Document, Entry, Failure, List, Node, Options, Policy, Poll, ReadError, Registry, Root, RowHandle, Value, Wait};
use kumi_source::{Descriptor, Source, Spec};
use kumi_xml::schema::parse_path;
use kumi_xml::{Field, Schema};

pub fn bytes(text: &str) -> Source {
    Source::open(Spec::Bytes(text.as_bytes().into()), kumi_source::Options::default()).unwrap()
}

pub fn pushed() -> Source {
    Source::open(Spec::Pushed, kumi_source::Options::default()).unwrap()
}

/// A source on one end of a socket pair, and the other end.
pub fn socket() -> (Source, UnixStream) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let spec = Spec::Fd { fd: Descriptor::Owned(OwnedFd::from(ours)), initial: Vec::new(), name: None };
    (Source::open(spec, kumi_source::Options::default()).unwrap(), theirs)
}

/// Whether the peer of a socket sees its end.
pub fn hangs_up(peer: &mut UnixStream) -> bool {
    let until = Instant::now() + Duration::from_secs(60);
    peer.set_nonblocking(true).unwrap();
    while Instant::now() < until {
        match std::io::Read::read(peer, &mut [0; 16]) {
            Ok(0) => return true,
            _ => std::thread::sleep(Duration::from_millis(1)),
        }
    }
    false
}

/// Rows of two texts at `/t/r`.
pub fn rows_schema() -> Arc<Schema> {
    let mut b = Schema::builder();
    let row = b.class("Row");
    b.field(row, Field::new("k"));
    b.field(row, Field::new("v").optional());
    b.root_path(parse_path("/t/r", &[]).unwrap(), row);
    b.build().unwrap()
}

pub fn rows_document(count: usize) -> String {
    let mut text = String::from("<t>");
    for i in 0..count {
        text.push_str(&format!("<r><k>{i}</k><v>value {i}</v></r>"));
    }
    text.push_str("</t>");
    text
}

/// `<info id=".."><title/> <a><k/></a>* <b><k/></b>* <end/></info>`; slots: 0 id, 1 title, 2 as, 3 bs, 4 end.
pub fn info_schema() -> Arc<Schema> {
    let mut b = Schema::builder();
    let info = b.class("Info");
    let row = b.class("Row");
    b.field(row, Field::new("k"));
    b.field(info, Field::new("id").attribute("id"));
    b.field(info, Field::new("title"));
    b.field(info, Field::new("as").element("a").class(row).many());
    b.field(info, Field::new("bs").element("b").class(row).many());
    b.field(info, Field::new("end").optional());
    b.root_document(info);
    b.build().unwrap()
}

pub fn info_document(count: usize) -> String {
    let mut text = String::from("<info id='7'><title>T</title>");
    for i in 0..count {
        text.push_str(&format!("<a><k>a{i}</k></a>"));
    }
    for i in 0..count {
        text.push_str(&format!("<b><k>b{i}</k></b>"));
    }
    text.push_str("<end>E</end></info>");
    text
}

/// Folders in folders: slots: 0 name (attribute), 1 folders, 2 tags (texts).
pub fn folder_schema() -> Arc<Schema> {
    let mut b = Schema::builder();
    let folder = b.class("Folder");
    b.field(folder, Field::new("name").attribute("name"));
    b.field(folder, Field::new("folders").element("folder").class(folder).many());
    b.field(folder, Field::new("tags").element("tag").many());
    b.root_document(folder);
    b.build().unwrap()
}

/// A folder of 200 folders of 50 tags each, and `end` behind them.
pub fn folders_document(end: &str) -> String {
    let tags: String = (0..50).map(|i| format!("<tag>{i}</tag>")).collect();
    let folders: String = (0..200).map(|i| format!("<folder name='f{i}'>{tags}</folder>")).collect();
    format!("<folder name='root'>{folders}{end}</folder>")
}

pub fn registry() -> Registry {
    Registry::new(None)
}

/// A clock that goes on by `step` whenever it is looked at.
pub fn ticking(step: Duration) -> kumi_flow::Clock {
    let (start, looks) = (Instant::now(), std::sync::atomic::AtomicU32::new(0));
    Arc::new(move || start + step * looks.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
}

pub fn open(registry: &Registry, source: Source, schema: Arc<Schema>, policy: Policy) -> Document {
    registry.open(source, schema, Options { policy, ..Options::default() })
}

/// A document of rows of a registry of its own.
pub fn open_rows(source: Source, policy: Policy) -> (Registry, Document) {
    let registry = registry();
    let document = open(&registry, source, rows_schema(), policy);
    (registry, document)
}

/// An info with its document.
pub fn open_info(source: Source, policy: Policy) -> (Registry, Document, Arc<Node>) {
    open_node(source, info_schema(), policy)
}

/// The outermost of folders with its document.
pub fn open_folder(text: &str, policy: Policy) -> (Registry, Document, Arc<Node>) {
    open_node(bytes(text), folder_schema(), policy)
}

fn open_node(source: Source, schema: Arc<Schema>, policy: Policy) -> (Registry, Document, Arc<Node>) {
    let registry = registry();
    let document = open(&registry, source, schema, policy);
    let node = node_of(&document);
    (registry, document, node)
}

pub fn list_of(document: &Document) -> List {
    match &document.root {
        Root::List(list) => list.clone(),
        Root::Node(_) => panic!("a node"),
    }
}

pub fn node_of(document: &Document) -> Arc<Node> {
    match &document.root {
        Root::Node(node) => node.clone(),
        Root::List(_) => panic!("a list"),
    }
}

/// Waits as a plain thread would, until the read is ready.
pub fn block<T>(mut read: impl FnMut() -> Result<Poll<T>, ReadError>) -> Result<T, ReadError> {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        assert!(Instant::now() < until, "a read never became ready");
        match read()? {
            Poll::Ready(value) => return Ok(value),
            Poll::Wait(Wait::Job(job), _) => job.run(),
            Poll::Wait(..) | Poll::Busy(_) => std::thread::sleep(Duration::from_micros(100)),
        }
    }
}

/// What an element shows: the first field of a row, a text, `#` for a node.
pub fn show(entry: Entry<'_>) -> String {
    match entry {
        Entry::Row(row) => row.view().text(0).unwrap_or("-").to_string(),
        Entry::Text(text, _) => String::from_utf8_lossy(text).into_owned(),
        Entry::Node(_) => "#".to_string(),
    }
}

pub fn next(cursor: &mut Cursor) -> Result<Option<String>, ReadError> {
    block(|| cursor.next(show))
}

/// The failure that reading on comes to.
pub fn failure(cursor: &mut Cursor) -> Arc<Failure> {
    match next(cursor) {
        Err(ReadError::Failed(failure)) => failure,
        other => panic!("no failure: {other:?}"),
    }
}

/// The next row, held.
pub fn next_row(cursor: &mut Cursor) -> RowHandle {
    block(|| {
        cursor.next(|entry| match entry {
            Entry::Row(row) => row.handle().unwrap(),
            _ => panic!("no row"),
        })
    })
    .unwrap()
    .unwrap()
}

pub fn next_node(cursor: &mut Cursor) -> Option<Arc<Node>> {
    block(|| {
        cursor.next(|entry| match entry {
            Entry::Node(node) => node.clone(),
            _ => panic!("a row"),
        })
    })
    .unwrap()
}

pub fn all(cursor: &mut Cursor) -> Vec<String> {
    let mut got = Vec::new();
    while block(|| {
        cursor.next_batch(7, |entry| {
            got.push(show(entry));
            true
        })
    })
    .unwrap()
        > 0
    {}
    got
}

pub fn text(value: Value<'_>) -> Option<String> {
    match value {
        Value::Text(text) => Some(String::from_utf8_lossy(text).into_owned()),
        Value::Absent => None,
        _ => panic!("no text"),
    }
}

pub fn field(node: &Node, slot: u16) -> Result<Option<String>, ReadError> {
    block(|| node.field(slot, text))
}

pub fn numbers(prefix: &str, range: std::ops::Range<usize>) -> Vec<String> {
    range.map(|i| format!("{prefix}{i}")).collect()
}

/// Nothing of any document is left.
pub fn nothing_left(registry: &Registry) {
    assert_eq!(registry.live(), kumi_flow::Live::default());
}

pub fn send(peer: &mut UnixStream, text: &str) {
    peer.write_all(text.as_bytes()).unwrap();
}
