//! The end of a document type declaration, found while it comes in.
//!
//! Quotes, comments, instructions and the brackets of the internal subset are told apart, nothing else: what stands in
//! them is checked when the declaration is read.

/// Where the search for the end of the declaration stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum In {
    /// Outside the brackets.
    Head,
    /// Between declarations.
    Subset,
    Declaration,
    Comment,
    Instruction,
}

/// Finds the end of a declaration, byte by byte, resumable anywhere.
#[derive(Clone, Debug)]
pub struct Finder {
    place: In,
    quote: u8,
    /// The bytes before, to know `<!--`, `-->` and `?>`.
    last: [u8; 3],
    /// Bytes since a comment or instruction began.
    since: usize,
}

impl Finder {
    pub fn new() -> Finder {
        Finder { place: In::Head, quote: 0, last: [0; 3], since: 0 }
    }

    /// Looks at the next bytes. The index after the closing `>`, if it is among them.
    pub fn find(&mut self, bytes: &[u8]) -> Option<usize> {
        for (i, &b) in bytes.iter().enumerate() {
            if self.step(b) {
                return Some(i + 1);
            }
            self.last = [self.last[1], self.last[2], b];
            self.since = self.since.saturating_add(1);
        }
        None
    }

    fn step(&mut self, b: u8) -> bool {
        match self.place {
            In::Comment => {
                if b == b'>' && self.since >= 3 && self.last[1..] == *b"--" {
                    self.place = In::Subset;
                }
            }
            In::Instruction => {
                if b == b'>' && self.since >= 2 && self.last[2] == b'?' {
                    self.place = In::Subset;
                }
            }
            _ if self.quote != 0 => {
                if b == self.quote {
                    self.quote = 0;
                }
            }
            In::Head => match b {
                b'"' | b'\'' => self.quote = b,
                b'[' => self.place = In::Subset,
                b'>' => return true,
                _ => {}
            },
            In::Subset => match b {
                b'?' if self.last[2] == b'<' => (self.place, self.since) = (In::Instruction, 0),
                b'!' if self.last[2] == b'<' => self.place = In::Declaration,
                b']' => self.place = In::Head,
                _ => {}
            },
            In::Declaration => match b {
                b'-' if self.last == *b"<!-" => (self.place, self.since) = (In::Comment, 0),
                b'"' | b'\'' => self.quote = b,
                b'>' => self.place = In::Subset,
                _ => {}
            },
        }
        false
    }
}
