//! Random numbers, random values, and two connections that are joined.
#![allow(dead_code)]

use kumi_wire::value::Kind;
use kumi_wire::{Connection, Hello, Limits, Message, Role, Tree, WireError};
use std::io::IoSlice;

/// xorshift64*
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    pub fn below(&mut self, n: usize) -> usize {
        ((self.next() >> 11) % n.max(1) as u64) as usize
    }

    pub fn bytes(&mut self, n: usize) -> Vec<u8> {
        (0..n).map(|_| (self.next() >> 33) as u8).collect()
    }

    fn text(&mut self) -> String {
        (0..self.below(12)).map(|_| ['a', 'Z', '_', ' ', 'é', '漢', '😀', '"'][self.below(8)]).collect()
    }

    fn magnitude(&mut self) -> Vec<u8> {
        let n = 9 + self.below(40);
        let mut bytes = self.bytes(n);
        bytes[0] |= 1;
        bytes
    }

    fn two(&mut self, depth: usize) -> Box<(Tree, Tree)> {
        Box::new((self.tree(depth), self.tree(depth)))
    }

    /// Any value, `depth` containers deep at most.
    pub fn tree(&mut self, depth: usize) -> Tree {
        const ENCODINGS: [&str; 3] = ["Shift_JIS", "UTF-16LE", "UTF-8"];
        let n = self.below(5);
        match self.below(if depth > 0 { 25 } else { 14 }) {
            0 => Tree::Nil,
            1 => Tree::Bool(self.below(2) == 0),
            2 | 3 => {
                let shift = self.below(64);
                Tree::Int(self.next() as i64 >> shift)
            }
            4 => Tree::UInt(self.next() | 1 << 63),
            5 => Tree::Big(self.below(2) == 0, self.magnitude()),
            6 => Tree::Float([0.0, -0.0, 1.5, f64::INFINITY, f64::MIN_POSITIVE, 1e300][self.below(6)]),
            7 => Tree::Str(self.text()),
            8 => Tree::Bin(self.bytes([0, 1, 31, 255, 256, 70_000][n])),
            9 => Tree::Encoded(ENCODINGS[self.below(3)].into(), self.bytes(n)),
            10 => Tree::Symbol(self.text()),
            11 => Tree::SymbolIn(ENCODINGS[self.below(3)].into(), self.bytes(n)),
            12 => {
                let offset = (n > 0).then(|| self.below(172_799) as i32 - 86_399);
                Tree::Time(self.next() as i64, self.below(1_000_000_000) as u32, offset, (n > 2).then(|| "Europe/Berlin".into()))
            }
            13 => Tree::Ext(100, self.bytes(n)),
            14 | 15 => {
                let n = [0, 1, 2, 15, 16, 17][self.below(6)];
                Tree::Array((0..n).map(|_| self.tree(depth - 1)).collect())
            }
            16 => Tree::Map((0..n).map(|_| (self.tree(depth - 1), self.tree(depth - 1))).collect()),
            17 => Tree::Set((0..n).map(|_| self.tree(depth - 1)).collect()),
            18 => Tree::Range(self.two(depth - 1), n == 0),
            19 => Tree::Rational(self.two(depth - 1)),
            20 => Tree::Complex(self.two(depth - 1)),
            21 => Tree::Default(self.two(depth - 1)),
            22 => Tree::ByIdentity(Box::new(self.tree(depth - 1))),
            23 => Tree::FineTime(self.two(depth - 1)),
            _ => {
                let kinds = [Kind::Struct, Kind::KeywordStruct, Kind::Data, Kind::Record, Kind::Object];
                let members = (0..n).map(|i| (format!("m{i}"), self.tree(depth - 1))).collect();
                Tree::Record(kinds[self.below(5)], format!("C{}", self.below(300)), members)
            }
        }
    }
}

/// Limits with which little is much.
pub fn small() -> Limits {
    Limits { frame_max: 1024, message_max: 16 << 10, streams_max: 8, window: 4096, buffered_max: 8 * 4096 + (20 << 10) }
}

/// What there is to send now, up to `n` bytes.
pub fn sent(from: &mut Connection, n: usize) -> Vec<u8> {
    let mut slices = [IoSlice::new(&[]); 8];
    let filled = from.transmit(&mut slices);
    let mut bytes: Vec<u8> = slices[..filled].iter().flat_map(|s| s.iter()).copied().collect();
    bytes.truncate(n);
    from.advance(bytes.len());
    bytes
}

/// All that one has to say now.
pub fn pass(from: &mut Connection, to: &mut Connection) -> Result<(), WireError> {
    loop {
        let bytes = sent(from, usize::MAX);
        if bytes.is_empty() {
            return Ok(());
        }
        to.receive(&bytes)?;
    }
}

/// Until neither has anything to say.
pub fn settle(a: &mut Connection, b: &mut Connection) -> Result<(), WireError> {
    while a.has_output() || b.has_output() {
        pass(a, b)?;
        pass(b, a)?;
    }
    Ok(())
}

/// Two that have said hello.
pub fn joined(east: Limits, west: Limits) -> (Connection, Connection) {
    let mut a = Connection::new(Role::Caller, Hello::new("east", 1), east).unwrap();
    let mut b = Connection::new(Role::Listener, Hello::new("west", 2), west).unwrap();
    settle(&mut a, &mut b).unwrap();
    assert!(a.peer().is_some() && b.peer().is_some());
    (a, b)
}

pub fn taken(from: &mut Connection) -> Vec<Message> {
    std::iter::from_fn(|| from.next_message()).collect()
}
