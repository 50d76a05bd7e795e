//! Failures of documents as exceptions of lib/kumihimo/xml/errors.rb: the module raises them, told here what to say.

use crate::doc::Shared;
use kumi_flow::{Failure, FailureKind, ReadError};
use kumi_vm::*;
use kumi_xml::{BindErrorKind, ErrorKind};

fn optional(cx: &mut Cx, text: &str) -> Value {
    if text.is_empty() { Value::NIL } else { cx.str(text) }
}

/// Raises why a part can't be read.
pub fn read_error(cx: &mut Cx, e: &ReadError) -> Exit {
    match e {
        ReadError::Removed => removed(cx, ""),
        ReadError::Failed(f) => failure(cx, f),
    }
}

/// Raises RemovedError.
pub fn removed(cx: &mut Cx, what: &str) -> Exit {
    let what = optional(cx, what);
    call(cx, "__removed", &[what])
}

/// Raises a failure.
pub fn failure(cx: &mut Cx, f: &Failure) -> Exit {
    let (mut status, mut reason, mut body) = (Value::NIL, Value::NIL, Value::NIL);
    let kind = match &f.kind {
        FailureKind::Document(
            BindErrorKind::Xml(ErrorKind::Limit(_)) | BindErrorKind::FieldSize | BindErrorKind::RowSize | BindErrorKind::Nesting,
        ) => "limit",
        FailureKind::Document(BindErrorKind::MissingField { .. }) => "missing",
        FailureKind::Document(_) => "parse",
        FailureKind::Source(kumi_source::Error::Status { code, reason: words, body: page, .. }) => {
            (status, reason, body) = (Value::fix(*code as i64), cx.str(words), cx.str_enc(page, EncIndex::UTF_8));
            "http"
        }
        _ => "source",
    };
    let (kind, message, source, path) = (cx.sym(kind), cx.str(&f.message), cx.str(&f.source), optional(cx, &f.path));
    let number = |cx: &mut Cx, n: Option<u64>| n.map_or(Value::NIL, |n| cx.uint(n));
    let (line, column) = (number(cx, f.line), number(cx, f.column));
    call(cx, "__failed", &[kind, message, source, line, column, path, status, reason, body])
}

/// Raises why a source can't be opened.
pub fn source(cx: &mut Cx, e: kumi_source::Error) -> Exit {
    failure(cx, &Failure::source(e))
}

/// Ends the native by a private method of Kumihimo::XML.
pub fn call(cx: &mut Cx, name: &'static str, args: &[Value]) -> Exit {
    let module = cx.shared_state::<Shared>().module();
    let name = cx.intern(name);
    cx.call(module, name, args)
}
