//! Replies from bytes that come in pieces.

use super::Reply;
use bytes::{Buf, Bytes, BytesMut};
use std::fmt;

/// What a reply may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of a line.
    pub line: usize,
    /// Bytes of a string.
    pub text: usize,
    /// Parts of a reply, all together.
    pub parts: usize,
    /// How deep they nest.
    pub depth: usize,
    /// Bytes of a reply.
    pub bytes: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { line: 64 << 10, text: 80 << 20, parts: 1 << 20, depth: 8, bytes: 512 << 20 }
    }
}

/// No reply of any server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed(pub &'static str);

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// A list whose parts are still to come.
struct Open {
    push: bool,
    left: usize,
    parts: Vec<Reply>,
}

/// See [`super`].
pub struct Decoder {
    limits: Limits,
    bytes: BytesMut,
    open: Vec<Open>,
    /// A string's length, whose bytes are still to come.
    text: Option<usize>,
    /// So much of the bytes was searched for the end of a line.
    searched: usize,
    /// Parts and bytes of this reply.
    parts: usize,
    taken: usize,
}

impl Default for Decoder {
    fn default() -> Decoder {
        Decoder::new(Limits::default())
    }
}

impl Decoder {
    /// One at the start of a connection.
    pub fn new(limits: Limits) -> Decoder {
        Decoder { limits, bytes: BytesMut::new(), open: Vec::new(), text: None, searched: 0, parts: 0, taken: 0 }
    }
    /// More bytes have come.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }
    /// The next whole reply, if it is there.
    ///
    /// # Errors
    /// The server makes no sense: nothing that follows has any.
    pub fn next(&mut self) -> Result<Option<Reply>, Malformed> {
        loop {
            let Some(one) = self.one()? else { return Ok(None) };
            if let Some(whole) = self.close(one) {
                (self.parts, self.taken) = (0, 0);
                return Ok(Some(whole));
            }
        }
    }
    /// A part that is whole belongs to the list that is open, which may be whole by it.
    fn close(&mut self, mut one: Reply) -> Option<Reply> {
        while let Some(o) = self.open.last_mut() {
            o.parts.push(one);
            o.left -= 1;
            if o.left > 0 {
                return None;
            }
            let o = self.open.pop()?;
            one = if o.push { Reply::Push(o.parts) } else { Reply::List(o.parts) };
        }
        Some(one)
    }
    /// The next part that is no list, or an empty list. `None`: it is not there yet.
    fn one(&mut self) -> Result<Option<Reply>, Malformed> {
        loop {
            if let Some(n) = self.text {
                if self.bytes.len() < n + 2 {
                    return Ok(None);
                }
                self.text = None;
                let text = self.bytes.split_to(n).freeze();
                if &self.bytes[..2] != b"\r\n" {
                    return Err(Malformed("a string does not end where it says"));
                }
                self.bytes.advance(2);
                // A small piece does not keep what it was read with.
                return Ok(Some(Reply::Text(if n < 4096 { Bytes::copy_from_slice(&text) } else { text })));
            }
            let Some(line) = self.line()? else { return Ok(None) };
            let Some((kind, rest)) = line.split_first() else { return Err(Malformed("an empty line")) };
            self.parts += 1;
            self.taken += line.len();
            if self.parts > self.limits.parts || self.taken > self.limits.bytes {
                return Err(Malformed("a reply that is too long"));
            }
            let rest_bytes = || Bytes::copy_from_slice(rest);
            let reply = match kind {
                b'+' | b',' | b'(' => Reply::Line(rest_bytes()),
                b'-' => Reply::Error(rest_bytes()),
                b':' => Reply::Number(number(rest)?),
                b'#' => Reply::Number(i64::from(rest == b"t")),
                b'_' => Reply::Null,
                b'$' | b'=' | b'!' if rest == b"-1" => Reply::Null,
                b'*' if rest == b"-1" => Reply::Null,
                b'$' | b'=' => {
                    let n = length(rest, self.limits.text)?;
                    self.taken += n;
                    self.text = Some(n);
                    continue;
                }
                b'*' | b'~' | b'%' | b'>' => {
                    let n = length(rest, self.limits.parts)? * if *kind == b'%' { 2 } else { 1 };
                    if n == 0 {
                        Reply::List(Vec::new())
                    } else if self.open.len() >= self.limits.depth {
                        return Err(Malformed("lists in lists, too deep"));
                    } else {
                        let push = *kind == b'>' && self.open.is_empty();
                        self.open.push(Open { push, left: n, parts: Vec::with_capacity(n.min(64)) });
                        continue;
                    }
                }
                _ => return Err(Malformed("no reply begins so")),
            };
            return Ok(Some(reply));
        }
    }
    fn line(&mut self) -> Result<Option<Bytes>, Malformed> {
        match self.bytes[self.searched..].iter().position(|b| *b == b'\n') {
            Some(at) => {
                let end = self.searched + at;
                self.searched = 0;
                let line = self.bytes.split_to(end + 1).freeze();
                match line.strip_suffix(b"\r\n") {
                    Some(l) => Ok(Some(line.slice(..l.len()))),
                    None => Err(Malformed("a line without its end")),
                }
            }
            None if self.bytes.len() > self.limits.line => Err(Malformed("a line that is too long")),
            None => {
                self.searched = self.bytes.len();
                Ok(None)
            }
        }
    }
}

fn number(digits: &[u8]) -> Result<i64, Malformed> {
    std::str::from_utf8(digits).ok().and_then(|d| d.parse().ok()).ok_or(Malformed("a number that is none"))
}

fn length(digits: &[u8], most: usize) -> Result<usize, Malformed> {
    match usize::try_from(number(digits)?) {
        Ok(n) if n <= most => Ok(n),
        _ => Err(Malformed("a length that is none, or too long")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8], piece: usize) -> Result<Vec<Reply>, Malformed> {
        let mut d = Decoder::new(Limits { line: 100, text: 100, parts: 50, depth: 4, bytes: 1000 });
        let mut found = Vec::new();
        for p in bytes.chunks(piece) {
            d.feed(p);
            while let Some(r) = d.next()? {
                found.push(r);
            }
        }
        Ok(found)
    }

    #[test]
    fn replies_are_the_same_in_pieces_of_any_size() {
        let bytes = b"+OK\r\n-ERR no\r\n:-7\r\n$3\r\na\r\n\r\n$-1\r\n_\r\n*0\r\n*2\r\n*2\r\n:1\r\n$0\r\n\r\n:2\r\n%1\r\n+k\r\n#t\r\n>2\r\n+message\r\n:1\r\n,1.5\r\n";
        let text = |b: &'static [u8]| Reply::Text(Bytes::from_static(b));
        let line = |b: &'static [u8]| Reply::Line(Bytes::from_static(b));
        let expected = vec![
            line(b"OK"),
            Reply::Error(Bytes::from_static(b"ERR no")),
            Reply::Number(-7),
            text(b"a\r\n"),
            Reply::Null,
            Reply::Null,
            Reply::List(vec![]),
            Reply::List(vec![Reply::List(vec![Reply::Number(1), text(b"")]), Reply::Number(2)]),
            Reply::List(vec![line(b"k"), Reply::Number(1)]),
            Reply::Push(vec![line(b"message"), Reply::Number(1)]),
            line(b"1.5"),
        ];
        for piece in 1..bytes.len() {
            assert_eq!(all(bytes, piece).unwrap(), expected, "{piece}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let deep = b"*1\r\n".repeat(100_000);
        let long = [b"+".as_slice(), &[b'a'; 200]].concat();
        let many = b"*49\r\n".repeat(3);
        let wide = [many, b":1\r\n".repeat(60)].concat();
        let bad: [&[u8]; 12] = [
            b"hello\r\n",
            b"\r\n",
            b":x\r\n",
            b"$101\r\n",
            b"$-2\r\n",
            b"*51\r\n",
            b"$2\r\nabc\r\n",
            b":1\n",
            b"*9223372036854775807\r\n",
            &deep,
            &long,
            &wide,
        ];
        for b in bad {
            for piece in [1, 7, b.len()] {
                assert!(all(b, piece).is_err(), "{:?}", String::from_utf8_lossy(&b[..b.len().min(20)]));
            }
        }
    }
}
