//! Where a body ends: by its length, by chunks, or with the connection (RFC 9112, section 6.3).

use super::head::{Head, excerpt};

/// Longest line of a chunk's size with its extensions.
const SIZE_LINE: usize = 4096;

pub(crate) enum Framing {
    Length { left: u64, announced: u64 },
    Chunked(Chunked),
    Close,
}

impl Framing {
    pub fn of(head: &Head, head_bytes: usize) -> Result<Framing, String> {
        if matches!(head.code, 204 | 205 | 304) {
            return Ok(Framing::Length { left: 0, announced: 0 });
        }
        let transfer = head.list("transfer-encoding").to_ascii_lowercase();
        let codings: Vec<&str> = transfer.split(',').map(str::trim).filter(|c| !c.is_empty() && *c != "identity").collect();
        match codings[..] {
            [] => {}
            ["chunked"] => return Ok(Framing::Chunked(Chunked::new(head_bytes))),
            _ => return Err(format!("transfer coding '{}' is not known", excerpt(transfer.as_bytes()))),
        }
        Ok(match head.length()? {
            Some(n) => Framing::Length { left: n, announced: n },
            None => Framing::Close,
        })
    }

    /// How many bytes may be waited for at once without waiting for what never comes, where that is known.
    pub fn at_most(&self) -> Option<u64> {
        match self {
            Framing::Length { left, .. } => Some(*left),
            Framing::Chunked(c) => Some(if let Part::Data(left) = c.part { left } else { 1 }),
            Framing::Close => None,
        }
    }
}

pub(crate) struct Chunked {
    part: Part,
    /// Bytes of the current line, or of all trailers.
    line: usize,
    most_trailers: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// The digits so far, and how many.
    Size(u64, u8),
    /// Behind the digits, up to the line's end.
    Extension(u64),
    Data(u64),
    /// The line's end behind a chunk.
    DataEnd,
    /// Trailers; whether the current line is empty so far.
    Trailers(bool),
    Done,
}

impl Chunked {
    pub fn new(most_trailers: usize) -> Chunked {
        Chunked { part: Part::Size(0, 0), line: 0, most_trailers }
    }

    pub fn is_done(&self) -> bool {
        self.part == Part::Done
    }

    /// Takes bytes of `input` (how many is returned) and appends at most `max` to `out`.
    pub fn step(&mut self, input: &[u8], out: &mut Vec<u8>, max: usize) -> Result<usize, String> {
        let (mut at, mut room) = (0, max);
        while at < input.len() {
            if let Part::Data(left) = self.part {
                let n = room.min(input.len() - at).min(usize::try_from(left).unwrap_or(usize::MAX));
                if n == 0 {
                    break;
                }
                out.extend_from_slice(&input[at..at + n]);
                at += n;
                room -= n;
                self.part = if left == n as u64 { Part::DataEnd } else { Part::Data(left - n as u64) };
                continue;
            }
            if self.part == Part::Done {
                break;
            }
            self.outside(input[at]).map_err(|m| format!("{m} at '{}'", excerpt(&input[at..])))?;
            at += 1;
        }
        Ok(at)
    }

    /// One byte that is not data.
    fn outside(&mut self, byte: u8) -> Result<(), String> {
        self.line += 1;
        match self.part {
            Part::Size(n, digits) => match (byte as char).to_digit(16) {
                Some(d) if digits < 16 => self.part = Part::Size(n << 4 | u64::from(d), digits + 1),
                Some(_) => return Err("the size of a chunk is too large".to_string()),
                None if digits == 0 => return Err("a chunk does not begin with its size".to_string()),
                None if byte == b'\n' => self.sized(n),
                None if matches!(byte, b';' | b' ' | b'\t' | b'\r') => self.part = Part::Extension(n),
                None => return Err("the size of a chunk is no number".to_string()),
            },
            Part::Extension(_) if self.line > SIZE_LINE => return Err("the line of a chunk's size is too long".to_string()),
            Part::Extension(n) => {
                if byte == b'\n' {
                    self.sized(n);
                }
            }
            Part::DataEnd => match byte {
                b'\r' if self.line == 1 => {}
                b'\n' => {
                    self.line = 0;
                    self.part = Part::Size(0, 0);
                }
                _ => return Err("a chunk is longer than it was said to be".to_string()),
            },
            Part::Trailers(_) if self.line > self.most_trailers => return Err("the trailers are too long".to_string()),
            Part::Trailers(empty) => match byte {
                b'\n' if empty => self.part = Part::Done,
                b'\n' => self.part = Part::Trailers(true),
                b'\r' => {}
                _ => self.part = Part::Trailers(false),
            },
            Part::Data(_) | Part::Done => {}
        }
        Ok(())
    }

    fn sized(&mut self, n: u64) {
        self.line = 0;
        self.part = if n == 0 { Part::Trailers(true) } else { Part::Data(n) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(text: &[u8], cut: usize, max: usize) -> Result<(Vec<u8>, bool, usize), String> {
        let (mut c, mut out, mut taken) = (Chunked::new(100), Vec::new(), 0);
        for part in text.chunks(cut) {
            let mut at = 0;
            while at < part.len() && !c.is_done() {
                at += c.step(&part[at..], &mut out, max)?;
            }
            taken += at;
        }
        Ok((out, c.is_done(), taken))
    }

    #[test]
    fn in_every_cut() {
        let text = b"5\r\nhello\r\n1;x=\"y\"\r\n \r\n00005 \nworld\n0\r\nA: b\r\n\r\nrest";
        for cut in 1..text.len() {
            for max in [1, 3, 100] {
                assert_eq!(run(text, cut, max).unwrap(), (b"hello world".to_vec(), true, text.len() - 4), "{cut} {max}");
            }
        }
        assert!(!run(b"5\r\nhel", 1, 9).unwrap().1);
    }

    #[test]
    fn rubbish() {
        for bad in ["x\r\n", "\r\n", "5\r\nhelloo\r\n", "11111111111111111\r\n", "5x\r\n"] {
            assert!(run(bad.as_bytes(), 1, 9).is_err(), "{bad}");
        }
        assert!(run(&[b"1;".to_vec(), vec![b'a'; 5000]].concat(), 100, 9).is_err());
        assert!(run(&[b"0\r\n".to_vec(), vec![b'a'; 500]].concat(), 100, 9).is_err());
    }
}
