//! Values as MessagePack.
//!
//! A value is written with [`Writer`] and pulled token by token with [`Reader`]. [`validate`] checks one whole, [`Reader::skip`] passes
//! one over and says where its bytes stand, [`Tree`] is one in memory, for tests and tools.
//!
//! # What stands in the bytes
//! What MessagePack has, it has: nil, booleans, integers of 64 bits, floats, `str` for UTF-8, `bin` for binary strings, arrays, maps.
//! The rest are extension types:
//!
//! | type | what | its bytes |
//! |---|---|---|
//! | 1 | symbol | its name in UTF-8 |
//! | 2 | symbol in another encoding | as type 4 |
//! | 3 | integer beyond 64 bits | 0 or 1 for the sign, then the magnitude, highest byte first, which is not 0 |
//! | 4 | string in another encoding | one byte with the length of the encoding's name, the name, the bytes |
//! | 5 | time | seconds since 1970 (i64), nanoseconds (u32), then 0 for UTC, 1 and an offset in seconds (i32), or 2, an offset and the zone's name |
//! | 6 | an object that stays on its node: which of the references that the message carries, as 4 bytes |
//! | 16 | tag: what the rest of this array is | 1: first and last of a range; 2: of one without its end; 3: elements of a set; 4: numerator and denominator; 5: real and imaginary part; 6: a hash's default value, the hash; 7: a hash or set whose keys are compared by identity; 8: a time, and the part of a nanosecond beyond it |
//! | 17 | tag: the rest of this array are the members of a record | which of the names, as 1, 2 or 4 bytes |
//! | 18 | names of the records, before the value | a count, then for each: kind, class, number of members, their names |
//!
//! A tag is the first element of an array and stands nowhere else. So any MessagePack library reads the bytes, and who passes a
//! value over need not know tags.
//!
//! A record (a struct, a data class, another object) describes itself: the class and the names of its members stand once before the value, however many
//! records follow. A class that is unknown here arrives as a record all the same. Members that are unknown here are passed over by
//! [`Reader::skip`] and go out again unchanged by [`Writer::copy`].
//!
//! **Invariant.** A count is believed only as far as the bytes that remain could hold it, all open counts together. Nothing recurses:
//! depth costs a word each, up to [`Limits::depth`].

mod ext;
mod names;
mod print;
mod reader;
mod scan;
mod tree;
mod writer;

pub use ext::{Big, REFERENCE, Time, Zone};
pub use names::{Kind, Names, Shape};
pub use reader::{Reader, Summary, Token, validate};
pub use tree::Tree;
pub use writer::{Writer, shape};

/// How much of a value is believed.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Containers in one another.
    pub depth: usize,
    /// Bytes of one string, symbol or number.
    pub string: usize,
    /// Values in all, containers included.
    pub items: usize,
    /// Kinds of records named before the value.
    pub shapes: usize,
    /// Names of members, of all kinds of records together.
    pub members: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { depth: 10_000, string: 64 << 20, items: 64 << 20, shapes: 4096, members: 65_536 }
    }
}
