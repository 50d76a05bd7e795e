//! Comments and processing instructions, in content and in a document type alike.

use crate::error::ErrorKind;
use crate::input::chars::is_space;
use crate::tokenizer::cursor::{Cursor, Read, Trouble, bad};

type Span = (usize, usize);

/// After `<!--`: passes over the rest of a comment.
pub fn comment(c: &mut Cursor<'_>) -> Read<()> {
    let from = c.at;
    let rest = &c.bytes[from.min(c.bytes.len())..];
    let i = memchr::memmem::find(rest, b"--").ok_or(Trouble::Short)?;
    match rest.get(i + 2) {
        None => Err(Trouble::Short),
        Some(b'>') => {
            c.at = from + i + 3;
            Ok(())
        }
        Some(_) => bad(ErrorKind::Syntax, from + i, "'--' can't stand in a comment"),
    }
}

/// After `<?`: the target, and where the data begins and ends.
pub fn instruction(c: &mut Cursor<'_>, namespaces: bool) -> Read<(Span, Span)> {
    let start = c.name("an instruction's target")?;
    let target = (start, c.at);
    let name = &c.bytes[start..c.at];
    if name.eq_ignore_ascii_case(b"xml") {
        let message = "an XML declaration can only stand at the very beginning of the document";
        return bad(ErrorKind::Declaration, start, if name == b"xml" { message } else { "the target \"xml\" is reserved" });
    }
    if namespaces && memchr::memchr(b':', name).is_some() {
        return bad(ErrorKind::Namespace, start, "the target of an instruction can't hold a colon");
    }
    if !is_space(c.peek()?) {
        if !c.word(b"?>")? {
            return bad(ErrorKind::Syntax, c.at, format!("white space or '?>' expected after the target, not {}", c.shown()));
        }
        return Ok((target, (c.at - 2, c.at - 2)));
    }
    c.space()?;
    let from = c.at;
    let len = memchr::memmem::find(&c.bytes[from..], b"?>").ok_or(Trouble::Short)?;
    c.at = from + len + 2;
    Ok((target, (from, from + len)))
}
