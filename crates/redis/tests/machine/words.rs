//! What servers say.

use bytes::Bytes;
use kumi_redis::resp::Reply;

/// A reply in the server's words.
pub fn say(reply: &Reply, out: &mut Vec<u8>) {
    let mut row = |mark: char, parts: &[Reply]| {
        out.extend(format!("{mark}{}\r\n", parts.len()).bytes());
        parts.iter().for_each(|p| say(p, out));
    };
    match reply {
        Reply::List(l) => row('*', l),
        Reply::Push(l) => row('>', l),
        Reply::Line(b) => out.extend([b"+", &b[..], b"\r\n"].concat()),
        Reply::Error(b) => out.extend([b"-", &b[..], b"\r\n"].concat()),
        Reply::Number(n) => out.extend(format!(":{n}\r\n").bytes()),
        Reply::Null => out.extend(b"_\r\n"),
        Reply::Text(b) => {
            out.extend(format!("${}\r\n", b.len()).bytes());
            out.extend([&b[..], b"\r\n"].concat());
        }
    }
}
pub fn text(t: impl AsRef<[u8]>) -> Reply {
    Reply::Text(Bytes::copy_from_slice(t.as_ref()))
}
