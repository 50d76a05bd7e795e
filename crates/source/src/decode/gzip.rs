//! gzip (RFC 1952): members one after another, each a header, deflated data, a checksum and a length. Zeroes behind the
//! last member are padding.

use super::Damage;
use super::inflate::Inflate;

pub(crate) struct Gzip {
    state: State,
    /// Bytes of the part of fixed size that is being collected.
    held: Vec<u8>,
    flags: u8,
    inflate: Inflate,
    sum: crc32fast::Hasher,
    length: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before the first byte of all.
    Start,
    Header,
    ExtraLength,
    Extra(u16),
    /// Up to a zero byte.
    FileName,
    Comment,
    HeaderSum,
    Data,
    Trailer,
    /// A member has ended; another one, padding or nothing follows.
    Between,
}

const HAS_SUM: u8 = 2;
const HAS_EXTRA: u8 = 4;
const HAS_NAME: u8 = 8;
const HAS_COMMENT: u8 = 16;

fn damage<T>(message: &str) -> Result<T, Damage> {
    Err(Damage("gzip", message.to_string()))
}

impl Gzip {
    pub fn new() -> Gzip {
        Gzip { state: State::Start, held: Vec::new(), flags: 0, inflate: Inflate::raw(), sum: crc32fast::Hasher::new(), length: 0 }
    }

    pub fn step(&mut self, input: &[u8], out: &mut Vec<u8>, max: usize) -> Result<usize, Damage> {
        let mut at = 0;
        loop {
            match self.state {
                State::Data => {
                    let len = out.len();
                    at += match self.inflate.step(&input[at..], out, max) {
                        Ok(n) => n,
                        Err(Damage(_, message)) => return Err(Damage("gzip", message)),
                    };
                    self.sum.update(&out[len..]);
                    self.length = self.length.wrapping_add((out.len() - len) as u32);
                    if !self.inflate.is_done() {
                        return Ok(at);
                    }
                    self.state = State::Trailer;
                    if out.len() > len {
                        return Ok(at);
                    }
                }
                _ => {
                    let Some(&byte) = input.get(at) else { return Ok(at) };
                    at += 1;
                    self.outside(byte)?;
                }
            }
        }
    }

    /// One byte that is not deflated data.
    fn outside(&mut self, byte: u8) -> Result<(), Damage> {
        match self.state {
            State::Between if byte == 0 => {}
            State::Start | State::Between | State::Header => {
                if self.held.is_empty() && byte != 0x1f || self.held.len() == 1 && byte != 0x8b {
                    return damage(if self.state == State::Start || self.state == State::Header && self.length == 0 {
                        "the data is not in gzip format"
                    } else {
                        "something else follows the compressed data"
                    });
                }
                self.state = State::Header;
                self.held.push(byte);
                if self.held.len() == 10 {
                    if self.held[2] != 8 {
                        return damage("the compression method is not deflate");
                    }
                    self.flags = self.held[3];
                    self.held.clear();
                    self.after(State::Header);
                }
            }
            State::ExtraLength => {
                self.held.push(byte);
                if let [a, b] = self.held[..] {
                    self.held.clear();
                    match u16::from_le_bytes([a, b]) {
                        0 => self.after(State::ExtraLength),
                        n => self.state = State::Extra(n),
                    }
                }
            }
            State::Extra(1) => self.after(State::ExtraLength),
            State::Extra(n) => self.state = State::Extra(n - 1),
            State::FileName | State::Comment => {
                if byte == 0 {
                    self.after(self.state);
                }
            }
            State::HeaderSum => {
                self.held.push(byte);
                if self.held.len() == 2 {
                    self.held.clear();
                    self.after(State::HeaderSum);
                }
            }
            State::Trailer => {
                self.held.push(byte);
                if let [a, b, c, d, e, f, g, h] = self.held[..] {
                    self.held.clear();
                    if u32::from_le_bytes([a, b, c, d]) != self.sum.clone().finalize() {
                        return damage("the checksum does not match");
                    }
                    if u32::from_le_bytes([e, f, g, h]) != self.length {
                        return damage("the length does not match");
                    }
                    // Not 0, so that the next header knows that it is not the first.
                    self.length = 1;
                    self.state = State::Between;
                }
            }
            State::Data => {}
        }
        Ok(())
    }

    /// The next part of the header after `part`, as the flags say.
    fn after(&mut self, part: State) {
        let order = [
            (State::Header, 0),
            (State::ExtraLength, HAS_EXTRA),
            (State::FileName, HAS_NAME),
            (State::Comment, HAS_COMMENT),
            (State::HeaderSum, HAS_SUM),
        ];
        let here = order.iter().position(|(s, _)| *s == part).unwrap_or(order.len() - 1);
        if let Some((next, _)) = order[here + 1..].iter().find(|(_, flag)| self.flags & flag != 0) {
            self.state = *next;
            return;
        }
        self.state = State::Data;
        self.inflate.reset();
        self.sum.reset();
        self.length = 0;
    }

    pub fn finish(&self) -> Result<(), Damage> {
        match self.state {
            State::Start | State::Between => Ok(()),
            _ => damage("the data ends in the middle of the stream"),
        }
    }
}
