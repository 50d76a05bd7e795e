//! Templates of `pack` and `unpack`, and the encodings of single values.
//!
//! Invariant: parsing checks everything that doesn't depend on a value; encoders append,
//! decoders read from a slice and say how much they used. Values stay with the caller.

mod leaf;

pub use leaf::*;

/// How many times a directive applies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Count {
    /// No count written: one, or the directive's own default.
    None,
    /// A number.
    Times(usize),
    /// `*`
    All,
}

impl Count {
    /// The number, with what no count and `*` mean.
    pub fn or(self, none: usize, all: usize) -> usize {
        match self {
            Count::None => none,
            Count::Times(n) => n,
            Count::All => all,
        }
    }
}

/// What a directive stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// `a A Z`: bytes, padded with the byte given; unpack strips accordingly.
    Bytes(u8),
    /// `b B`: bits, least (`b`) or most (`B`) significant first.
    Bits {
        /// Most significant bit first.
        msb: bool,
    },
    /// `h H`: hex digits, low or high nibble first.
    Hex {
        /// High nibble first.
        high: bool,
    },
    /// A fixed-width integer.
    Int {
        /// Bytes: 1, 2, 4 or 8.
        size: u8,
        /// Sign extension when unpacking.
        signed: bool,
        /// Byte order.
        big: bool,
    },
    /// `U`: a UTF-8 character.
    Utf8,
    /// `w`: BER-compressed integer.
    Ber,
    /// A float.
    Float {
        /// 8 bytes, else 4.
        double: bool,
        /// Byte order.
        big: bool,
    },
    /// `m`: base64.
    Base64,
    /// `M`: quoted-printable.
    QuotedPrintable,
    /// `u`: uuencode.
    Uu,
    /// `x`: a null byte, or skip.
    Null,
    /// `X`: back up.
    Back,
    /// `@`: go to an offset.
    At,
    /// `^`: unpack gives the offset (Ruby 4.0).
    Offset,
    /// `p P`: pointers.
    Pointer {
        /// `P`: to a structure of the given length.
        structure: bool,
    },
}

/// One directive of a template.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Directive {
    /// The letter.
    pub letter: u8,
    /// What it stands for.
    pub kind: Kind,
    /// Its count.
    pub count: Count,
}

/// Why a template is wrong: the exception's class and message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TemplateError {
    /// `ArgumentError`
    Argument(String),
    /// `RangeError`
    Range(String),
}

const NATIVE_TYPES: &str = "sSiIlLqQjJ";

fn unknown(c: u8, template: &[u8], pack: bool) -> TemplateError {
    let mode = if pack { "pack" } else { "unpack" };
    let shown = if c.is_ascii_graphic() || c == b' ' { (c as char).to_string() } else { format!("\\x{c:02x}") };
    kumi_budget::ask(6 * template.len());
    TemplateError::Argument(format!("unknown {mode} directive '{shown}' in '{}'", String::from_utf8_lossy(template)))
}

/// Parses a template; `pack` for `Array#pack`, else for `String#unpack`.
///
/// # Errors
/// CRuby's exception.
pub fn parse(template: &[u8], pack: bool) -> Result<Vec<Directive>, TemplateError> {
    let mut out = Vec::new();
    let mut i = 0;
    while i < template.len() {
        let letter = template[i];
        i += 1;
        if letter.is_ascii_whitespace() || letter == 0x0B {
            continue;
        }
        if letter == b'#' {
            i += memchr::memchr(b'\n', &template[i..]).map_or(template.len() - i, |p| p + 1);
            continue;
        }
        let (mut native, mut order) = (false, None);
        while let Some(&m) = template.get(i) {
            match m {
                b'_' | b'!' => {
                    if !NATIVE_TYPES.as_bytes().contains(&letter) {
                        return Err(TemplateError::Argument(format!("'{}' allowed only after types {NATIVE_TYPES}", m as char)));
                    }
                    native = true;
                }
                b'<' | b'>' => {
                    if !NATIVE_TYPES.as_bytes().contains(&letter) {
                        return Err(TemplateError::Argument(format!("'{}' allowed only after types {NATIVE_TYPES}", m as char)));
                    }
                    if order.is_some_and(|o| o != m) {
                        return Err(TemplateError::Range("Can't use both '<' and '>'".into()));
                    }
                    order = Some(m);
                }
                _ => break,
            }
            i += 1;
        }
        let count = match template.get(i) {
            Some(b'*') => {
                i += 1;
                Count::All
            }
            Some(b'0'..=b'9') => {
                let mut n = 0usize;
                while let Some(d @ b'0'..=b'9') = template.get(i) {
                    n = n
                        .checked_mul(10)
                        .and_then(|n| n.checked_add((d - b'0') as usize))
                        .filter(|n| *n <= isize::MAX as usize)
                        .ok_or_else(|| TemplateError::Range("pack length too big".into()))?;
                    i += 1;
                }
                Count::Times(n)
            }
            _ => Count::None,
        };
        let big = match order {
            Some(o) => o == b'>',
            None => cfg!(target_endian = "big"),
        };
        let int = |size, signed| Kind::Int { size, signed, big };
        let kind = match letter {
            b'a' | b'Z' => Kind::Bytes(0),
            b'A' => Kind::Bytes(b' '),
            b'b' | b'B' => Kind::Bits { msb: letter == b'B' },
            b'h' | b'H' => Kind::Hex { high: letter == b'H' },
            b'c' | b'C' => int(1, letter == b'c'),
            b's' | b'S' => int(2, letter == b's'),
            b'i' | b'I' => int(4, letter == b'i'),
            b'l' | b'L' => int(if native { size_of::<std::os::raw::c_long>() as u8 } else { 4 }, letter == b'l'),
            b'q' | b'Q' => int(8, letter == b'q'),
            b'j' | b'J' => int(size_of::<isize>() as u8, letter == b'j'),
            b'n' => Kind::Int { size: 2, signed: false, big: true },
            b'N' => Kind::Int { size: 4, signed: false, big: true },
            b'v' => Kind::Int { size: 2, signed: false, big: false },
            b'V' => Kind::Int { size: 4, signed: false, big: false },
            b'U' => Kind::Utf8,
            b'w' => Kind::Ber,
            b'd' | b'D' | b'f' | b'F' => Kind::Float { double: letter.eq_ignore_ascii_case(&b'd'), big: cfg!(target_endian = "big") },
            b'e' | b'E' => Kind::Float { double: letter == b'E', big: false },
            b'g' | b'G' => Kind::Float { double: letter == b'G', big: true },
            b'm' => Kind::Base64,
            b'M' => Kind::QuotedPrintable,
            b'u' => Kind::Uu,
            b'x' => Kind::Null,
            b'X' => Kind::Back,
            b'@' => Kind::At,
            b'^' if !pack => Kind::Offset,
            b'p' | b'P' => Kind::Pointer { structure: letter == b'P' },
            b'%' => return Err(TemplateError::Argument("% is not supported".into())),
            _ => return Err(unknown(letter, template, pack)),
        };
        out.push(Directive { letter, kind, count });
    }
    Ok(out)
}
