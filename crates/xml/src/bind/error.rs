//! What can be wrong with a document that is bound: what the tokeniser finds, and what the schema excludes.

use super::BindLimits;
use crate::error::{Error, ErrorKind, Position};
use std::fmt;

/// What is wrong. The message of a [`BindError`] says it in words.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BindErrorKind {
    /// The document is malformed, wrongly encoded or over one of the tokeniser's limits.
    Xml(ErrorKind),
    /// A field that must be there isn't.
    MissingField {
        /// The name of the class.
        class: Box<str>,
        /// The name of the field.
        field: Box<str>,
    },
    /// A second value of a field that is no list.
    Repeated {
        /// The name of the class.
        class: Box<str>,
        /// The name of the field.
        field: Box<str>,
    },
    /// The root element isn't what the schema says.
    Root {
        /// What the schema says.
        expected: Box<str>,
        /// What the document has.
        found: Box<str>,
    },
    /// A field is larger than [`BindLimits::field`].
    FieldSize,
    /// A row is larger than [`BindLimits::row`].
    RowSize,
    /// Whole elements of a recursive class are nested too deeply.
    Nesting,
}

impl BindErrorKind {
    pub(super) fn message(&self, limits: &BindLimits) -> String {
        match self {
            BindErrorKind::Xml(kind) => format!("{kind:?}"),
            BindErrorKind::MissingField { class, field } => format!("{class} has no '{field}', which it must have"),
            BindErrorKind::Repeated { class, field } => format!("{class} has a second '{field}', which may stand only once"),
            BindErrorKind::Root { expected, found } => format!("the root element is '{found}', not '{expected}'"),
            BindErrorKind::FieldSize => format!("a value is larger than {} bytes, the limit for a field", limits.field),
            BindErrorKind::RowSize => format!("an element is larger than {} bytes, the limit for a row", limits.row),
            BindErrorKind::Nesting => {
                format!("elements are nested in one another more than {} deep, the limit for elements that are bound whole", limits.nesting)
            }
        }
    }
}

/// Why a document was refused, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BindError {
    /// What is wrong.
    pub kind: BindErrorKind,
    /// Where.
    pub position: Position,
    /// The element that it concerns, such as `/table/T[17]/l_quantity`; the elements open at the position for what
    /// the tokeniser finds. A number is the element's ordinal in its list.
    pub path: String,
    /// What is wrong, for a person; without position and path.
    pub message: String,
}

impl BindError {
    pub(crate) fn xml(error: Error, path: String) -> BindError {
        BindError { kind: BindErrorKind::Xml(error.kind), position: error.position, path, message: error.message }
    }
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}", self.message, self.position)?;
        if !self.path.is_empty() {
            write!(f, ", in {}", self.path)?;
        }
        f.write_str(")")
    }
}

impl std::error::Error for BindError {}
