//! What can be wrong with a document, and where.
//!
//! An error is a function of the document alone: the same bytes cut into other pieces give the
//! same kind at the same position, after the same events.

use std::fmt;

/// A place in the document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// From 1; CR LF, CR and LF each end one line.
    pub line: u64,
    /// From 1, in characters.
    pub column: u64,
    /// From 0, in bytes of the document as UTF-8 with line ends normalised to LF, without a byte order mark:
    /// for a UTF-8 file without CR or mark, the offset in the file.
    pub offset: u64,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// Which limit was reached: one for every field of [`Limits`](crate::Limits) that refuses documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LimitKind {
    /// See [`Limits::depth`](crate::Limits::depth).
    Depth,
    /// See [`Limits::name`](crate::Limits::name).
    Name,
    /// See [`Limits::attributes`](crate::Limits::attributes).
    Attributes,
    /// See [`Limits::tag_bytes`](crate::Limits::tag_bytes).
    TagBytes,
    /// See [`Limits::markup_bytes`](crate::Limits::markup_bytes).
    MarkupBytes,
    /// See [`Limits::doctype_bytes`](crate::Limits::doctype_bytes).
    DoctypeBytes,
    /// See [`Limits::declarations`](crate::Limits::declarations).
    Entities,
    /// See [`Limits::entity_expansion`](crate::Limits::entity_expansion).
    EntityExpansion,
    /// See [`Limits::entity_depth`](crate::Limits::entity_depth).
    EntityDepth,
    /// See [`Limits::namespaces`](crate::Limits::namespaces).
    Namespaces,
}

impl LimitKind {
    /// What the limit is called.
    pub(crate) fn field(self) -> &'static str {
        match self {
            LimitKind::Depth => "depth",
            LimitKind::Name => "name",
            LimitKind::Attributes => "attributes",
            LimitKind::TagBytes => "tag_bytes",
            LimitKind::MarkupBytes => "markup_bytes",
            LimitKind::DoctypeBytes => "doctype_bytes",
            LimitKind::Entities => "declarations",
            LimitKind::EntityExpansion => "entity_expansion",
            LimitKind::EntityDepth => "entity_depth",
            LimitKind::Namespaces => "namespaces",
        }
    }
}

/// What is wrong. The message of an [`Error`] says it in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The input ended before the document did.
    UnexpectedEnd,
    /// A character that XML forbids.
    Character,
    /// Not a name where one must stand.
    Name,
    /// Something else was expected here.
    Syntax,
    /// An end tag that isn't that of the innermost open element.
    MismatchedTag,
    /// An attribute that stands twice in one tag.
    DuplicateAttribute,
    /// `<` in an attribute's value, or a value without quotes.
    AttributeValue,
    /// `&` that begins no reference, or a reference to a forbidden character.
    Reference,
    /// A reference to an entity that the document does not declare.
    UndeclaredEntity,
    /// An entity that contains itself.
    RecursiveEntity,
    /// A reference to something outside the document, which is never read.
    ExternalEntity,
    /// An element, comment or other markup that begins in one entity and ends in another.
    EntityBoundary,
    /// The XML declaration.
    Declaration,
    /// The document type declaration or what stands in it.
    Doctype,
    /// A rule of Namespaces in XML 1.0.
    Namespace,
    /// No root element, two of them, or text outside it.
    Structure,
    /// Bytes that are no text in the document's encoding, or an encoding that is unknown or contradicted.
    Encoding,
    /// Well-formed perhaps, but larger than [`Limits`](crate::Limits) allow.
    Limit(LimitKind),
}

/// Why a document was refused, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// What is wrong.
    pub kind: ErrorKind,
    /// Where.
    pub position: Position,
    /// What is wrong, for a person; without the position.
    pub message: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.position)
    }
}

impl std::error::Error for Error {}
