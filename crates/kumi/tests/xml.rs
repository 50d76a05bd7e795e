//! `kumi xml` as a user of the shell sees it.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

fn kumi(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kumi")).arg("xml").args(args).stdin(Stdio::null()).output().unwrap()
}
fn out(args: &[&str]) -> String {
    let o = kumi(args);
    assert!(o.status.success(), "{args:?}: {}", String::from_utf8_lossy(&o.stderr));
    assert_eq!(String::from_utf8_lossy(&o.stderr), "", "{args:?}");
    String::from_utf8(o.stdout).unwrap()
}
fn file(name: &str, text: impl AsRef<[u8]>) -> String {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("kumi-xml");
    std::fs::create_dir_all(&dir).unwrap();
    let path = dir.join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_string()
}

const SHOP: &str = "<?xml version='1.0'?>\n<shop xmlns:p='urn:p' city='Kobe'>\n  <item id='1'><name>tea &amp; cup</name><price>3</price></item>\n  \
<item id='2'><name>rice</name><price>12</price><tag>a</tag><tag>b</tag></item>\n  <p:note>see <b>here</b> now</p:note>\n</shop>\n";

#[test]
fn counts_by_path() {
    let f = file("count.xml", SHOP);
    let expected = "1  /shop\n1  /shop/@xmlns:p\n1  /shop/@city\n2  /shop/item\n2  /shop/item/@id\n2  /shop/item/name\n2  /shop/item/price\n\
2  /shop/item/tag\n1  /shop/p:note\n1  /shop/p:note/b\n";
    assert_eq!(out(&[&f]), expected);
    assert_eq!(out(&[&f, "/shop/item"]), "2\n");
    assert_eq!(out(&["--count", &f, "//tag", "-n", "1"]), "1\n");
    assert_eq!(out(&[&f, "/nothing"]), "0\n");
}

#[test]
fn cuts_elements_that_stand_alone() {
    let f = file("cut.xml", SHOP);
    assert_eq!(
        out(&["-x", &f, "/shop/item", "--first=1"]),
        "<item xmlns:p=\"urn:p\" id=\"1\"><name>tea &amp; cup</name><price>3</price></item>\n"
    );
    assert_eq!(out(&["-x", &f, "note"]), "<p:note xmlns:p=\"urn:p\">see <b>here</b> now</p:note>\n");
    let g = file("cut2.xml", "<a><b x='1&#10;2&quot;'/><b><!--c--><?p d?><![CDATA[<&]]></b></a>");
    assert_eq!(out(&["--cut", &g, "b"]), "<b x=\"1&#10;2&quot;\"/>\n<b><!--c--><?p d?>&lt;&amp;</b>\n");
}

#[test]
fn converts_to_json_lines() {
    let f = file("json.xml", SHOP);
    assert_eq!(
        out(&["-j", &f, "item"]),
        "{\"@id\":\"1\",\"name\":\"tea & cup\",\"price\":\"3\"}\n{\"@id\":\"2\",\"name\":\"rice\",\"price\":\"12\",\"tag\":[\"a\",\"b\"]}\n"
    );
    assert_eq!(out(&["-j", &f, "note"]), "{\"#text\":\"see  now\",\"b\":\"here\"}\n");
    assert_eq!(
        out(&["-j", "-f", "@id,name,missing", &f, "item"]),
        "{\"@id\":\"1\",\"name\":\"tea & cup\",\"missing\":null}\n{\"@id\":\"2\",\"name\":\"rice\",\"missing\":null}\n"
    );
    let twice = file("twice.xml", "<s><i><n>a</n><n>b \"c\"</n></i><i><n>d</n></i></s>");
    assert_eq!(out(&["-j", "-f", "n", &twice, "i"]), "{\"n\":[\"a\",\"b \\\"c\\\"\"]}\n{\"n\":\"d\"}\n");
    assert_eq!(out(&["-j", "-f", "note", &f, "/shop"]), "{\"note\":\"see here now\"}\n");
}

#[test]
fn names_a_scheme_that_it_does_not_know() {
    let o = kumi(&["ftp://me:secret@host/orders.xml"]);
    let said = String::from_utf8_lossy(&o.stderr).into_owned();
    assert!(!o.status.success() && said.contains("the scheme ftp:// is not known") && !said.contains("secret"), "{said}");
}

#[test]
fn what_stands_before_an_error_is_printed() {
    let f = file("bad.xml", "<a>\n<b>1</b>\n<b>2</c></a>");
    let o = kumi(&["-j", &f, "b"]);
    assert_eq!(o.status.code(), Some(1));
    assert_eq!(String::from_utf8_lossy(&o.stdout), "\"1\"\n");
    let m = String::from_utf8_lossy(&o.stderr);
    assert!(m.starts_with("kumi xml: ") && m.contains("bad.xml:3:"), "{m}");
    assert_eq!(kumi(&["/no/such/file.xml"]).status.code(), Some(1));
    assert_eq!(kumi(&["--frob"]).status.code(), Some(2));
}

/// What is wrong is told to nobody, and that is no reason to fall over.
#[test]
fn ends_as_usual_when_nobody_reads_its_messages() {
    for (args, status) in [(["/no/such/file.xml"], 1), (["--frob"], 2)] {
        let (from, to) = std::io::pipe().unwrap();
        drop(from);
        let o = Command::new(env!("CARGO_BIN_EXE_kumi")).arg("xml").args(args).stderr(to).output().unwrap();
        assert_eq!(o.status.code(), Some(status));
    }
}

#[test]
fn the_first_so_many_of_all_elements_may_be_counted() {
    let f = file("first.xml", "<a><b x='1'/><b/><c/></a>");
    assert_eq!(out(&["-n", "2", &f]), "1  /a\n1  /a/b\n1  /a/b/@x\n");
    // Nothing behind them is looked at.
    let g = file("first2.xml", "<a><b/><c/></b>");
    assert_eq!(out(&["-n2", &g]), "1  /a\n1  /a/b\n");
}

#[test]
fn reads_standard_input_and_ends_when_nobody_listens() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_kumi"))
        .args(["xml", "--json", "-", "/r/e"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut to = child.stdin.take().unwrap();
    let mut from = child.stdout.take().unwrap();
    let feeder = std::thread::spawn(move || {
        let mut sent = to.write_all(b"<r>").is_ok();
        while sent {
            sent = to.write_all("<e>some text</e>".repeat(1000).as_bytes()).is_ok();
        }
    });
    let mut start = [0; 12];
    from.read_exact(&mut start).unwrap();
    assert_eq!(&start, b"\"some text\"\n");
    drop(from);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    feeder.join().unwrap();
}

#[test]
fn reads_an_address_and_stops_early() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/x.xml", server.local_addr().unwrap());
    let serving = std::thread::spawn(move || {
        let (mut s, _) = server.accept().unwrap();
        let mut head = [0; 2048];
        let _ = s.read(&mut head).unwrap();
        s.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/xml; charset=iso-8859-1\r\nConnection: close\r\n\r\n<r>").unwrap();
        // Until the other side has enough.
        while s.write_all(b"<e>caf\xe9</e>").is_ok() {}
    });
    assert_eq!(out(&["-j", "-n2", &url, "e"]), "\"café\"\n\"café\"\n");
    serving.join().unwrap();
}
