//! Character classes by code point, as the encoding sees it.
//!
//! Invariant: a non-Unicode multibyte encoding classifies only ASCII; single-byte ones go
//! by way of their Unicode mapping.

use super::EncIndex;
use unicode_properties::{GeneralCategory as Gc, UnicodeGeneralCategory};

/// The classes that string methods ask for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ctype {
    /// Letters.
    Alpha,
    /// Upper-case letters.
    Upper,
    /// Lower-case letters.
    Lower,
    /// Decimal digits.
    Digit,
    /// Letters and digits.
    Alnum,
    /// White space.
    Space,
    /// Shown as itself by `inspect`.
    Print,
    /// Control characters.
    Cntrl,
    /// Punctuation.
    Punct,
    /// Letters, digits, marks, connectors.
    Word,
}

/// Whether `inspect` shows this Unicode character as itself.
pub fn is_unicode_printable(c: char) -> bool {
    if c < '\x7F' {
        return c >= ' ';
    }
    if c == '\u{85}' {
        return true;
    }
    !matches!(c.general_category(), Gc::Control | Gc::Unassigned | Gc::Surrogate | Gc::LineSeparator | Gc::ParagraphSeparator)
}

fn unicode_is(c: char, class: Ctype) -> bool {
    match class {
        Ctype::Alpha => c.is_alphabetic(),
        Ctype::Upper => c.is_uppercase(),
        Ctype::Lower => c.is_lowercase(),
        Ctype::Digit => c.general_category() == Gc::DecimalNumber,
        Ctype::Alnum => c.is_alphabetic() || c.general_category() == Gc::DecimalNumber,
        Ctype::Space => c.is_whitespace(),
        Ctype::Print => is_unicode_printable(c),
        Ctype::Cntrl => c.is_control(),
        Ctype::Punct => {
            matches!(
                c.general_category(),
                Gc::ConnectorPunctuation
                    | Gc::DashPunctuation
                    | Gc::OpenPunctuation
                    | Gc::ClosePunctuation
                    | Gc::InitialPunctuation
                    | Gc::FinalPunctuation
                    | Gc::OtherPunctuation
            ) || (c.is_ascii() && c.is_ascii_punctuation())
        }
        Ctype::Word => {
            c.is_alphabetic()
                || matches!(
                    c.general_category(),
                    Gc::DecimalNumber | Gc::ConnectorPunctuation | Gc::NonspacingMark | Gc::SpacingMark | Gc::EnclosingMark
                )
        }
    }
}

impl EncIndex {
    /// Whether code point `code` (as [`EncIndex::decode`] gives it) is in `class`.
    pub fn is_ctype(self, code: u32, class: Ctype) -> bool {
        if code < 0x80 {
            return unicode_is(code as u8 as char, class);
        }
        if self.is_unicode() {
            return char::from_u32(code).is_some_and(|c| unicode_is(c, class));
        }
        match super::single::to_unicode(self, code) {
            Some(c) => unicode_is(c, class),
            // Double-byte characters are graphic; what else they are is not asked.
            None if code > 0xFF => matches!(class, Ctype::Print | Ctype::Word | Ctype::Alpha | Ctype::Alnum),
            None => false,
        }
    }
}
