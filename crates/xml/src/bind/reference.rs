//! Text with references in rows that are predicted: characters by number and the five predefined entities, which can't
//! mean anything else whatever the document declares. Everything else is left to the tokeniser.

use super::block::value_end;
use crate::input::chars::is_char;
use crate::tokenizer::Lookahead;

/// The longest reference understood here.
const LONGEST: usize = 12;

/// Appends the text (or the value, for a quote other than 0) that begins at `from` to `out`. Where it ends.
pub(super) fn resolve(look: &Lookahead<'_>, mut from: usize, quote: u8, out: &mut Vec<u8>) -> Option<usize> {
    let bytes = &look.padded[..look.end];
    loop {
        let to = if quote == 0 { crate::input::next(look.stops, from).min(look.end) } else { value_end(bytes, from, quote) };
        out.extend_from_slice(bytes.get(from..to)?);
        match *bytes.get(to)? {
            b'<' if quote == 0 => return Some(to),
            b']' if quote == 0 && bytes.get(to..to + 3)? != b"]]>" => {
                out.push(b']');
                from = to + 1;
            }
            b'&' => {
                let rest = &bytes[to + 1..];
                let end = rest.iter().take(LONGEST).position(|&b| b == b';')?;
                let mut buffer = [0; 4];
                out.extend_from_slice(character(&rest[..end])?.encode_utf8(&mut buffer).as_bytes());
                from = to + end + 2;
            }
            other if other == quote => return Some(to),
            _ => return None,
        }
    }
}

fn character(name: &[u8]) -> Option<char> {
    Some(match name {
        b"lt" => '<',
        b"gt" => '>',
        b"amp" => '&',
        b"apos" => '\'',
        b"quot" => '"',
        [b'#', b'x', digits @ ..] => number(digits, 16)?,
        [b'#', digits @ ..] => number(digits, 10)?,
        _ => return None,
    })
}

fn number(digits: &[u8], base: u32) -> Option<char> {
    let mut value = 0u32;
    for &digit in digits {
        value = value.checked_mul(base)?.checked_add((digit as char).to_digit(base)?)?;
    }
    char::from_u32(value).filter(|c| !digits.is_empty() && is_char(*c as u32))
}
