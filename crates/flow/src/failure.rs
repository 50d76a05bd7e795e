//! Why a document ends early: what its readers get after everything before it was delivered, every time they ask.

use std::fmt;
use std::sync::Arc;

use kumi_xml::{BindError, BindErrorKind, Binder};

/// What kind of failure it is.
#[derive(Clone, Debug)]
pub enum FailureKind {
    /// The document is malformed, too large for a limit, or not what the schema says.
    Document(BindErrorKind),
    /// The bytes could not be had.
    Source(kumi_source::Error),
    /// The document was closed by the program.
    Closed,
}

/// A failure. One is shared by all readers of the document.
#[derive(Clone, Debug)]
pub struct Failure {
    /// What kind it is.
    pub kind: FailureKind,
    /// The source, as users know it.
    pub source: String,
    /// From 1; `None` when the failure has no place in the document.
    pub line: Option<u64>,
    /// From 1, in characters.
    pub column: Option<u64>,
    /// The element concerned, such as `/table/T[17]/l_quantity`; may be empty.
    pub path: String,
    /// What is wrong, without the rest.
    pub message: String,
}

impl Failure {
    /// What a binder refuses.
    pub fn document(source: &str, error: BindError) -> Failure {
        Failure {
            kind: FailureKind::Document(error.kind),
            source: source.to_string(),
            line: Some(error.position.line),
            column: Some(error.position.column),
            path: error.path,
            message: error.message,
        }
    }

    /// What a source fails with.
    pub fn source(error: kumi_source::Error) -> Failure {
        let (source, message) = (error.name().to_string(), error.message());
        Failure { kind: FailureKind::Source(error), source, line: None, column: None, path: String::new(), message }
    }

    /// As above, of a document that had come as far as `binder` says.
    pub(crate) fn source_at(error: kumi_source::Error, binder: Option<&Binder>) -> Failure {
        let failure = Failure::source(error);
        let Some((position, path)) = binder.map(Binder::place) else { return failure };
        Failure { line: Some(position.line), column: Some(position.column), path, ..failure }
    }

    pub(crate) fn closed(source: &str) -> Failure {
        let message = "the document was closed".to_string();
        Failure { kind: FailureKind::Closed, source: source.to_string(), line: None, column: None, path: String::new(), message }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.source)?;
        if let (Some(line), Some(column)) = (self.line, self.column) {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.message)?;
        if !self.path.is_empty() {
            write!(f, " (in {})", self.path)?;
        }
        Ok(())
    }
}

impl std::error::Error for Failure {}

/// Why a part of a tree can't be read.
#[derive(Clone, Debug)]
pub enum ReadError {
    /// It was removed from the tree before.
    Removed,
    /// The document failed before it came.
    Failed(Arc<Failure>),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Removed => f.write_str("this part was removed from the tree"),
            ReadError::Failed(failure) => failure.fmt(f),
        }
    }
}

impl std::error::Error for ReadError {}
