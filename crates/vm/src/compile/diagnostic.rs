//! What the parser complains about, as the user sees it.
//!
//! The text of a syntax error is laid out as CRuby 3.4 and later do: a head line,
//! then the offending source lines with a mark and the message below each.

use super::Options;
use ruby_prism::ParseResult;

/// One complaint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Line, from the first line's number on.
    pub line: u32,
    /// Column in bytes, from 0.
    pub column: u32,
    pub text: String,
}

/// The text does not compile.
#[derive(Clone, Debug)]
pub struct SyntaxError {
    pub messages: Vec<Message>,
    /// `SyntaxError#message`.
    pub message: String,
    /// As an uncaught error prints it, `(SyntaxError)` included.
    pub rendered: String,
}

/// A warning of the parser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    pub line: u32,
    pub text: String,
    /// Only shown with `-w`.
    pub verbose: bool,
}

/// Warnings that only `-w` shows.
fn is_verbose(text: &str) -> bool {
    const PARTS: &[&str] = &[
        "assigned but unused",
        "ambiguous",
        "unused",
        "mismatched indentations",
        "statement not reached",
        "interpreted as",
        "possibly useless",
        "... at EOL",
        "shadowing",
        "is reserved",
        "has no effect",
        "literal in condition",
        "`if` at the end of line",
        "end of line without an expression",
    ];
    text != "string literal in condition" && PARTS.iter().any(|p| text.contains(p))
}

pub(super) fn warnings(parsed: &ParseResult<'_>) -> Vec<Warning> {
    parsed
        .warnings()
        .map(|d| {
            let text = String::from_utf8_lossy(d.message()).into_owned();
            Warning { line: d.location().start_line().max(0) as u32, verbose: is_verbose(&text), text }
        })
        .collect()
}

/// Characters of a source line shown at most on either side of a mark.
const WIDTH: usize = 400;

impl SyntaxError {
    /// One message without source.
    pub(super) fn plain(opts: &Options, line: u32, text: &str) -> SyntaxError {
        let message = format!("{}:{line}: {text}", opts.path);
        SyntaxError {
            messages: vec![Message { line, column: 0, text: text.to_string() }],
            rendered: format!("{message} (SyntaxError)"),
            message,
        }
    }

    pub(super) fn from_parse(parsed: &ParseResult<'_>, opts: &Options) -> SyntaxError {
        let offsets = parsed.line_offsets();
        let mut found: Vec<(usize, usize, usize, String)> = parsed
            .errors()
            .map(|d| {
                let l = d.location();
                let start = l.start() as usize;
                let row = offsets.partition_point(|&o| o as usize <= start).saturating_sub(1);
                let column = start - offsets.get(row).map_or(0, |&o| o as usize);
                let width = (l.end() as usize).saturating_sub(start);
                (row, column, width, String::from_utf8_lossy(d.message()).into_owned())
            })
            .collect();
        found.sort_by_key(|e| (e.0, e.1));
        let number = |row: usize| opts.line as i64 + row as i64;
        let messages: Vec<Message> = found
            .iter()
            .map(|e| Message { line: number(e.0).max(0) as u32, column: e.1 as u32, text: e.3.clone() })
            .collect();
        let first = found.first().map_or(opts.line as i64, |e| number(e.0));
        let plural = if found.len() > 1 { "s" } else { "" };
        let head = format!("{}:{first}: syntax error{plural} found", opts.path);
        let body = marked_source(parsed.source(), offsets, &found, opts.line as i64);
        SyntaxError {
            messages,
            message: format!("{head}\n{body}"),
            rendered: format!("{head} (SyntaxError)\n{body}"),
        }
    }
}

/// The source lines around the errors, marked.
fn marked_source(src: &[u8], offsets: &[u32], found: &[(usize, usize, usize, String)], first_line: i64) -> String {
    let rows = offsets.len();
    let line = |row: usize| -> String {
        let from = offsets.get(row).map_or(src.len(), |&o| o as usize).min(src.len());
        let to = offsets.get(row + 1).map_or(src.len(), |&o| o as usize).min(src.len());
        let mut l = &src[from..to.max(from)];
        while let [head @ .., b'\n' | b'\r'] = l {
            l = head;
        }
        String::from_utf8_lossy(&l[..l.len().min(WIDTH)]).into_owned()
    };
    let last = found.iter().map(|e| e.0).max().unwrap_or(0) + 2;
    let (a, b) = (first_line.to_string().len(), (first_line + last as i64).to_string().len());
    let digits = a.max(b);
    let blank = " ".repeat(digits);
    let mut out = String::new();
    let mut shown: Option<usize> = None;
    let mut i = 0;
    while i < found.len() {
        let row = found[i].0;
        // Up to two lines of context before, a gap mark where lines are left out.
        let mut from = row.saturating_sub(2);
        match shown {
            Some(s) if s + 1 >= from => from = s + 1,
            Some(_) => out.push_str(&format!("  {blank} ~~~~~~~~~~\n").replace("   ~", "  ~")),
            None if from > 0 => out.push_str(&format!("  {blank}~~~~~~~~~~\n")),
            None => {}
        }
        for r in from..row {
            out.push_str(&format!("  {:>digits$} | {}\n", first_line + r as i64, line(r)));
        }
        let text = line(row);
        out.push_str(&format!("> {:>digits$} | {text}\n", first_line + row as i64));
        while i < found.len() && found[i].0 == row {
            let (_, column, width, message) = &found[i];
            let column = (*column).min(text.len());
            let pad: String =
                text.bytes().take(column).map(|b| if b == b'\t' { '\t' } else { ' ' }).collect();
            let marks = (*width).clamp(1, (text.len() - column).max(1)) - 1;
            out.push_str(&format!("  {blank} | {pad}^{} {message}\n", "~".repeat(marks)));
            i += 1;
        }
        shown = Some(row);
        // Up to two lines after, unless the next error shows them.
        let next = found.get(i).map_or(usize::MAX, |e| e.0);
        for r in row + 1..=row + 2 {
            let empty_end = r + 1 == rows && line(r).is_empty();
            if r < rows && r < next && !empty_end {
                out.push_str(&format!("  {:>digits$} | {}\n", first_line + r as i64, line(r)));
                shown = Some(r);
            }
        }
    }
    if shown.is_some_and(|s| s + 1 < rows && !line(s + 1).is_empty()) {
        out.push_str(&format!("  {blank}~~~~~~~~~~\n"));
    }
    out
}
