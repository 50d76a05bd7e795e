//! Files, descriptors, memory, and what is pushed.

use super::*;
use kumi_source::{Descriptor, Read, Wait};
use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

/// A folder of this test's own, gone with it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("kumi-source-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn pipe() -> (OwnedFd, std::fs::File) {
    let (r, w) = std::io::pipe().unwrap();
    (r.into(), std::fs::File::from(OwnedFd::from(w)))
}

fn source_of(fd: Descriptor, initial: &[u8]) -> Source {
    Source::open(Spec::Fd { fd, initial: initial.to_vec(), name: None }, options()).unwrap()
}

#[test]
fn files_plain_and_compressed() {
    let folder = Folder::new("files");
    let doc = document();
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(6));
    gz.write_all(&doc).unwrap();
    let mut br = Vec::new();
    brotli::BrotliCompress(&mut &doc[..], &mut br, &Default::default()).unwrap();
    let zst = zstd::stream::encode_all(&doc[..], 3).unwrap();
    for (name, bytes) in [("a.xml", doc.clone()), ("a.gz", gz.finish().unwrap()), ("a.zst", zst), ("a.br", br)] {
        let path = folder.file(name, &bytes);
        for max in [1 << 20, 1000] {
            let mut s = Source::open(Spec::Path(path.clone()), options()).unwrap();
            assert_eq!((s.name(), s.total()), (path.to_str().unwrap(), Some(bytes.len() as u64)));
            let (got, end) = all_of(&mut s, max);
            end.unwrap();
            assert!(got == doc, "{name}");
            assert_eq!((s.received(), s.total()), (bytes.len() as u64, Some(bytes.len() as u64)));
        }
    }
}

#[test]
fn files_that_cannot_be_read() {
    let folder = Folder::new("missing");
    for (path, kind) in [(folder.0.join("nothing"), std::io::ErrorKind::NotFound), (folder.0.clone(), std::io::ErrorKind::IsADirectory)] {
        match Source::open(Spec::Path(path.clone()), options()).err().unwrap() {
            Error::Io { name, kind: k, message } => {
                assert_eq!((name.as_str(), k), (path.to_str().unwrap(), kind));
                assert!(!message.contains("os error"), "{message}");
            }
            e => panic!("{e}"),
        }
    }
    let e = Source::open(Spec::Fd { fd: Descriptor::Borrowed(99_999), initial: Vec::new(), name: None }, options()).err().unwrap();
    assert_eq!(e.to_string(), "(fd 99999): Bad file descriptor");
}

#[test]
fn pipes_bring_what_is_there() {
    let _whole = no_other_forks();
    let (r, mut w) = pipe();
    let fd = r.as_raw_fd();
    let mut s = source_of(Descriptor::Owned(r), b"<ini");
    assert_eq!(s.name(), format!("(fd {fd})"));
    let mut out = Vec::new();
    assert!(matches!(s.read(&mut out, 100), Ok(Read::Data(4))));
    match s.read(&mut out, 100) {
        Ok(Read::Wait(Wait::Ready { fd: f, read: true, write: false, until: None })) => assert_eq!(f, fd),
        other => panic!("{other:?}"),
    }
    w.write_all(b"tial>").unwrap();
    assert!(matches!(s.read(&mut out, 2), Ok(Read::Data(2))));
    assert!(matches!(s.read(&mut out, 100), Ok(Read::Data(3))));
    assert!(matches!(s.read(&mut out, 100), Ok(Read::Wait(_))));
    drop(w);
    assert!(matches!(s.read(&mut out, 100), Ok(Read::End)));
    assert!(matches!(s.read(&mut out, 100), Ok(Read::End)));
    assert_eq!(out, b"<initial>");
}

#[test]
fn a_borrowed_descriptor_stays_open_and_as_it_was() {
    let (r, w) = pipe();
    let mut s = source_of(Descriptor::Borrowed(r.as_raw_fd()), b"");
    let mut out = Vec::new();
    assert!(matches!(s.read(&mut out, 9), Ok(Read::Wait(_))));
    s.close();
    drop(w);
    // A blocking read that meets the end: the descriptor is open, and still a blocking one.
    let mut file = std::fs::File::from(r);
    assert_eq!(std::io::Read::read(&mut file, &mut [0; 9]).unwrap(), 0);
}

#[test]
fn the_owner_of_a_borrowed_descriptor_may_close_it() {
    let (r, mut w) = pipe();
    let mut s = source_of(Descriptor::Borrowed(r.as_raw_fd()), b"");
    w.write_all(b"ours").unwrap();
    drop(r);
    // Other descriptors take the number; what comes through them is nobody's business.
    let others: Vec<_> = (0..8).map(|_| pipe()).collect();
    for (_, w) in &others {
        (&*w).write_all(b"theirs").unwrap();
    }
    drop(w);
    let (got, end) = all_of(&mut s, 100);
    end.unwrap();
    assert_eq!(got, b"ours");
}

/// Of two that share one open file, as after a fork, each reads all of it.
#[test]
fn files_are_read_from_where_they_stood() {
    use std::io::{Read as _, Seek};
    let folder = Folder::new("position");
    let mut file = std::fs::File::open(folder.file("a", b"skipped<a/>")).unwrap();
    file.seek(std::io::SeekFrom::Start(7)).unwrap();
    let mut s = source_of(Descriptor::Borrowed(file.as_raw_fd()), b"");
    let mut other = source_of(Descriptor::Borrowed(file.as_raw_fd()), b"");
    assert_eq!(s.total(), Some(4));
    let mut out = Vec::new();
    s.read_blocking(&mut out, 2).unwrap();
    assert_eq!(all_of(&mut other, 3).0, b"<a/>");
    let mut rest = String::new();
    file.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "<a/>");
    out.extend(all_of(&mut s, 3).0);
    assert_eq!(out, b"<a/>");
}

#[test]
fn an_owned_descriptor_is_closed_at_the_end() {
    let _whole = no_other_forks();
    let (r, mut w) = pipe();
    let mut s = source_of(Descriptor::Owned(r), b"");
    s.close();
    assert_eq!(w.write(b"x").unwrap_err().kind(), std::io::ErrorKind::BrokenPipe);
}

#[test]
fn sockets_too() {
    let (a, mut b) = UnixStream::pair().unwrap();
    let mut s = source_of(Descriptor::Owned(a.into()), b"");
    s.set_low_water(100_000);
    let mut out = Vec::new();
    // A wait with a mark is short, and asking again doesn't make it another; the next one has none.
    let Ok(Read::Wait(Wait::Ready { until: Some(first), .. })) = s.read(&mut out, 100) else { panic!("no mark") };
    while std::time::Instant::now() < first {
        if let Ok(Read::Wait(Wait::Ready { until: Some(until), .. })) = s.read(&mut out, 100) {
            assert_eq!(until, first);
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    assert!(matches!(s.read(&mut out, 100), Ok(Read::Wait(Wait::Ready { until: None, .. }))));
    b.write_all(b"some").unwrap();
    assert!(matches!(s.read(&mut out, 100), Ok(Read::Data(4))));
    let writer = std::thread::spawn(move || b.write_all(&document()).unwrap());
    let (rest, end) = all_of(&mut s, 1 << 20);
    end.unwrap();
    writer.join().unwrap();
    assert!(rest == document());
}

#[test]
fn a_named_pipe_does_not_wait_for_its_writer() {
    let folder = Folder::new("fifo");
    let path = folder.0.join("p");
    let c = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
    // SAFETY: a C string that lives during the call.
    assert_eq!(unsafe { libc::mkfifo(c.as_ptr(), 0o600) }, 0);
    let mut s = Source::open(Spec::Path(path.clone()), options()).unwrap();
    let mut out = Vec::new();
    assert!(matches!(s.read(&mut out, 9), Ok(Read::Wait(_))));
    let writer = std::thread::spawn(move || std::fs::write(path, b"came").unwrap());
    let (got, end) = all_of(&mut s, 9);
    end.unwrap();
    writer.join().unwrap();
    assert_eq!(got, b"came");
}

#[test]
fn compressed_bytes_through_a_pipe_one_by_one() {
    let (r, mut w) = pipe();
    let packed = zstd::stream::encode_all(&b"hello hello hello"[..], 3).unwrap();
    let mut s = source_of(Descriptor::Owned(r), &packed[..1]);
    let mut out = Vec::new();
    for b in &packed[1..] {
        loop {
            match s.read(&mut out, 100).unwrap() {
                Read::Data(_) => {}
                Read::Wait(_) => break,
                Read::End => panic!("ended"),
            }
        }
        w.write_all(&[*b]).unwrap();
    }
    drop(w);
    all_of(&mut s, 100).1.unwrap();
    assert_eq!(s.received(), packed.len() as u64);
}

#[test]
fn a_short_beginning_of_something_compressed_is_plain() {
    for text in [&b""[..], b"\x1f", b"\x1f\x8b", b"(", b"P", b"(\xb5/"] {
        let mut s = Source::open(Spec::Bytes(text.into()), options()).unwrap();
        let (got, end) = all_of(&mut s, 10);
        end.unwrap();
        assert_eq!(got, text);
    }
}

#[test]
fn what_users_name() {
    assert!(matches!(Spec::named("HTTPS://a/b"), Spec::Url(_)));
    assert!(matches!(Spec::named("http:/a"), Spec::Path(_)));
    assert!(matches!(Spec::named("é.xml"), Spec::Path(_)));
}

#[test]
fn memory() {
    let mut s = Source::open(Spec::Bytes(document().into()), options()).unwrap();
    assert_eq!((s.name(), s.total()), ("(string)", Some(document().len() as u64)));
    assert!(all_of(&mut s, 777).0 == document());
}

#[test]
fn pushed() {
    let mut s = Source::open(Spec::Pushed, options()).unwrap();
    let mut out = Vec::new();
    assert!(matches!(s.read(&mut out, 9), Ok(Read::Wait(Wait::Push))));
    s.push(b"abc");
    s.push(b"def");
    assert_eq!(s.waiting(), 6);
    while out.len() < 6 {
        s.read_blocking(&mut out, 4).unwrap();
    }
    assert_eq!(out, b"abcdef");
    assert!(matches!(s.read(&mut out, 9), Ok(Read::Wait(Wait::Push))));
    s.push(b"g");
    s.end();
    s.push(b"ignored");
    assert!(matches!(s.read(&mut out, 9), Ok(Read::Data(1))));
    assert!(matches!(s.read(&mut out, 9), Ok(Read::End)));

    let mut s = Source::open(Spec::Pushed, options()).unwrap();
    s.push(b"x");
    s.fail("the generator raised");
    let (got, end) = all_of(&mut s, 9);
    assert_eq!(got, b"x");
    assert_eq!(end.unwrap_err().to_string(), "(stream): the generator raised");
}

/// A reader may look as often as it likes before more has come.
#[test]
fn looking_too_early_does_no_harm() {
    let doc = document();
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(6));
    gz.write_all(&doc).unwrap();
    for bytes in [doc.clone(), gz.finish().unwrap(), zstd::stream::encode_all(&doc[..], 3).unwrap()] {
        let mut s = Source::open(Spec::Pushed, options()).unwrap();
        let mut out = Vec::new();
        for piece in bytes.chunks(bytes.len() / 3 + 1) {
            s.push(piece);
            for _ in 0..100 {
                while let Read::Data(_) = s.read(&mut out, 1 << 16).unwrap() {}
            }
        }
        s.end();
        while s.read_blocking(&mut out, 1 << 16).unwrap() > 0 {}
        assert!(out == doc);
    }
}

#[test]
fn sources_may_move_between_threads() {
    fn sends<T: Send>() {}
    sends::<Source>();
    sends::<Error>();
    sends::<kumi_source::Job>();
}
