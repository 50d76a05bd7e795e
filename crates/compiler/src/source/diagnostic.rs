//! What the parser complains about, as the user sees it.
//!
//! The text of a syntax error is laid out as CRuby 3.4 and later do: a head line,
//! then the offending source lines with a mark and the message below each.

use crate::{Options, source::prism};
use ruby_prism::ParseResult;

/// One complaint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Line, from the first line's number on.
    pub line: u32,
    /// Column in bytes, from 0.
    pub column: u32,
    /// What is wrong, without place or source.
    pub text: String,
}

/// The text does not compile.
#[derive(Clone, Debug)]
pub struct SyntaxError {
    /// All complaints, by line and column.
    pub messages: Vec<Message>,
    /// `SyntaxError#message`.
    pub message: String,
    /// As an uncaught error prints it, `(SyntaxError)` included.
    pub rendered: String,
}

/// A warning of the parser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Line, from the first line's number on.
    pub line: u32,
    /// What is said, without place.
    pub text: String,
    /// Only shown with `-w`.
    pub verbose: bool,
}

/// `return value` between the statements of a file.
fn ignored_values(parsed: &ParseResult<'_>, lines: &mut Vec<Warning>) {
    let root = parsed.node();
    let Some(program) = root.as_program_node() else { return };
    for n in program.statements().body().iter() {
        if let Some(r) = n.as_return_node()
            && r.arguments().is_some()
        {
            let line = r.location().start_line().max(0) as u32;
            lines.push(Warning { line, text: "argument of top-level return is ignored".into(), verbose: false });
        }
    }
}

pub(crate) fn warnings(parsed: &ParseResult<'_>, file: bool) -> Vec<Warning> {
    let verbose = prism::verbose_warnings(parsed);
    let mut lines: Vec<Warning> = parsed
        .warnings()
        .enumerate()
        .map(|(i, d)| Warning {
            line: d.location().start_line().max(0) as u32,
            text: String::from_utf8_lossy(d.message()).into_owned(),
            verbose: verbose.get(i).copied().unwrap_or(true),
        })
        .collect();
    if file {
        ignored_values(parsed, &mut lines);
    }
    lines
}

impl SyntaxError {
    /// One message without source.
    pub(crate) fn plain(opts: &Options, line: u32, text: &str) -> SyntaxError {
        let message = format!("{}:{line}: {text}", opts.path);
        SyntaxError {
            messages: vec![Message { line, column: 0, text: text.to_string() }],
            rendered: format!("{message} (SyntaxError)"),
            message,
        }
    }

    pub(crate) fn from_parse(parsed: &ParseResult<'_>, opts: &Options) -> SyntaxError {
        let mut messages: Vec<Message> = parsed
            .errors()
            .map(|d| {
                let l = d.location();
                let text = String::from_utf8_lossy(d.message()).into_owned();
                Message { line: l.start_line().max(0) as u32, column: l.start_column(), text }
            })
            .collect();
        messages.sort_by_key(|m| (m.line, m.column));
        let first = messages.first().map_or(opts.line, |m| m.line);
        let message = marked(parsed, &messages).unwrap_or_else(|| {
            let plural = if messages.len() > 1 { "s" } else { "" };
            let mut text = format!("{}:{first}: syntax error{plural} found", opts.path);
            for m in messages.iter().take(20) {
                text.push_str(&format!("\n{}:{}: {}", opts.path, m.line, m.text));
            }
            text
        });
        let head = message.find('\n').unwrap_or(message.len());
        let rendered = format!("{} (SyntaxError){}", &message[..head], &message[head..]);
        SyntaxError { messages, message, rendered }
    }
}

/// The marked source, unless lines are so long and errors so many that it would take for ever.
fn marked(parsed: &ParseResult<'_>, messages: &[Message]) -> Option<String> {
    let longest = parsed.line_offsets().windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0);
    let last = parsed.line_offsets().last().map_or(0, |&o| parsed.source().len() as u32 - o);
    if messages.len() as u64 * longest.max(last) as u64 > 200_000 || std::str::from_utf8(parsed.source()).is_err() {
        return None;
    }
    prism::marked_errors(parsed)
}
