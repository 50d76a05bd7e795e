//! `kumi irb`: Ruby line by line.
//!
//! While Prism complains that the text stops in the middle of something,
//! the editor asks for another line. Evaluating and showing is
//! Ruby (`KumiSys.irb_*` in the prelude).

use crate::options::{Program, Settings};
use crate::run;
use crate::setup::assemble;
use kumi_core_system::OnInterrupt;
use kumi_heap::Value;
use kumi_vm::{Cx, NativeDef, intrinsic};
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{CompletionType, Config, Context, Editor, Helper};
use std::borrow::Cow;
use std::cell::RefCell;
use std::io::IsTerminal;
use std::mem::ManuallyDrop;
use std::path::PathBuf;
use std::rc::Rc;

const KEYWORDS: &[&str] = &[
    "BEGIN",
    "END",
    "__FILE__",
    "__LINE__",
    "__method__",
    "alias",
    "and",
    "begin",
    "break",
    "case",
    "class",
    "def",
    "defined?",
    "do",
    "else",
    "elsif",
    "end",
    "ensure",
    "false",
    "for",
    "if",
    "in",
    "module",
    "next",
    "nil",
    "not",
    "or",
    "redo",
    "rescue",
    "retry",
    "return",
    "self",
    "super",
    "then",
    "true",
    "undef",
    "unless",
    "until",
    "when",
    "while",
    "yield",
];

/// `__irb_open(text)`: what [`incomplete`] says, for `Binding#irb`.
pub static TABLE: &[NativeDef] = &[intrinsic("__irb_open", 1, 1, |cx, _, a| {
    let text = String::from_utf8_lossy(cx.arg_str(a, 0)?.bytes()).into_owned();
    Ok(Value::bool(incomplete(&text)))
})];

/// Does the text stop in the middle of something?
pub fn incomplete(src: &str) -> bool {
    let parsed = ruby_prism::parse(src.as_bytes());
    let mut open = false;
    for e in parsed.errors() {
        let m = String::from_utf8_lossy(e.message()).into_owned();
        if m.contains("ignoring it") {
            return false;
        }
        open |= m.contains("end-of-input") || m.contains("unterminated") || m.contains("to close") || m.contains("terminator");
    }
    open
}

struct Irb {
    cx: Rc<RefCell<ManuallyDrop<Box<Cx>>>>,
    colour: bool,
}

impl Validator for Irb {
    fn validate(&self, ctx: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(if incomplete(ctx.input()) { ValidationResult::Incomplete } else { ValidationResult::Valid(None) })
    }
}

impl Completer for Irb {
    type Candidate = String;
    fn complete(&self, line: &str, pos: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        let head = &line[..pos];
        let start = head
            .rfind(|c: char| !(c.is_alphanumeric() || "_?!@$.:".contains(c)))
            .map_or(0, |p| p + head[p..].chars().next().map_or(1, char::len_utf8));
        let word = &head[start..];
        if word.is_empty() {
            return Ok((pos, Vec::new()));
        }
        let mut found: Vec<String> = KEYWORDS.iter().filter(|k| k.starts_with(word)).map(|k| k.to_string()).collect();
        if let Ok(mut cx) = self.cx.try_borrow_mut() {
            let arg = cx.str(word);
            if let Ok(v) = cx.call_helper_top("irb_complete", &[arg]) {
                if let Some(a) = v.as_array() {
                    found.extend(a.seen().iter().map(|v| cx.text(v)));
                }
            }
        }
        found.sort();
        found.dedup();
        Ok((start, found))
    }
}

impl Hinter for Irb {
    type Hint = String;
}

impl Highlighter for Irb {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        if self.colour { Cow::Owned(colours(line)) } else { Cow::Borrowed(line) }
    }
    fn highlight_char(&self, _: &str, _: usize, _: CmdKind) -> bool {
        self.colour
    }
}

impl Helper for Irb {}

/// Keywords, constants, strings, symbols, numbers and comments in colour. A light scan: it need not be exact.
pub fn colours(line: &str) -> String {
    let mut out = String::with_capacity(line.len() * 2);
    let b: Vec<char> = line.chars().collect();
    let mut i = 0;
    let paint = |out: &mut String, code: &str, text: &[char]| {
        out.push_str("\x1b[");
        out.push_str(code);
        out.push('m');
        out.extend(text);
        out.push_str("\x1b[0m");
    };
    while let Some(&c) = b.get(i) {
        let start = i;
        if c == '#' {
            paint(&mut out, "2", &b[i..]);
            break;
        } else if c == '"' || c == '\'' || c == '`' {
            i += 1;
            while i < b.len() && b[i] != c {
                i += if b[i] == '\\' { 2 } else { 1 };
            }
            i = (i + 1).min(b.len());
            paint(&mut out, "32", &b[start..i]);
        } else if c.is_ascii_digit() {
            while i < b.len() && (b[i].is_ascii_alphanumeric() || b[i] == '_') {
                i += 1;
            }
            paint(&mut out, "34", &b[start..i]);
        } else if c == ':' && b.get(i + 1).is_some_and(|n| n.is_alphabetic() || *n == '_') && (i == 0 || b[i - 1] != ':') {
            i += 1;
            while i < b.len() && (b[i].is_alphanumeric() || b[i] == '_') {
                i += 1;
            }
            paint(&mut out, "33", &b[start..i]);
        } else if c.is_alphabetic() || c == '_' {
            while i < b.len() && (b[i].is_alphanumeric() || "_?!".contains(b[i])) {
                i += 1;
            }
            let word: String = b[start..i].iter().collect();
            if KEYWORDS.contains(&word.as_str()) {
                paint(&mut out, "35", &b[start..i]);
            } else if c.is_uppercase() {
                paint(&mut out, "36", &b[start..i]);
            } else {
                out.push_str(&word);
            }
        } else {
            out.push(c);
            i += 1;
        }
    }
    out
}

fn history_file() -> Option<PathBuf> {
    std::env::var_os("HOME").map(|h| PathBuf::from(h).join(".kumi_history"))
}

/// The loop; the exit status.
pub fn run(s: Settings) -> i32 {
    // As in `run.rs`.
    let mut cx = match assemble(kumi_vm::Options { signals: true, verbose: s.verbose.into(), ..Default::default() }).map(ManuallyDrop::new)
    {
        Ok(cx) => cx,
        Err(m) => {
            crate::say::err(format_args!("kumi: the runtime does not start: {m}"));
            return 70;
        }
    };
    if let Err(m) = crate::watch::begin(&mut cx, &s) {
        crate::say::err(format_args!("kumi: {m}"));
        return 1;
    }
    run::set_up(&mut cx, &s, "irb");
    for r in &s.requires {
        if cx.eval_system(format!("require {}", run::quote(r)).as_bytes(), "<internal:command>", 1).is_err() {
            run::by_switch(&mut cx);
            return run::finish(&mut cx, &s, Some(kumi_vm::Exit::Raise));
        }
    }
    let text = match &s.program {
        Program::Repl(Some(path)) => match std::fs::read(path) {
            Ok(text) => Some(String::from_utf8_lossy(&text).into_owned()),
            Err(e) => {
                crate::say::err(format_args!("kumi: cannot read {path}: {e}"));
                return 1;
            }
        },
        _ => None,
    };
    let mut lines = text.as_ref().map(|t| t.lines());
    let terminal = lines.is_none() && std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    if terminal {
        crate::say::out(format_args!("{} - type exit to leave\n", crate::Identity::description()));
    }
    // The editor takes Ctrl-C to itself; while a program runs it is the program's.
    let mut ours = OnInterrupt::now();
    let cx = Rc::new(RefCell::new(cx));
    let config = Config::builder().completion_type(CompletionType::List).auto_add_history(true).build();
    let Ok(mut ed) = Editor::<Irb, DefaultHistory>::with_config(config) else { return 1 };
    ed.set_helper(Some(Irb { cx: cx.clone(), colour: terminal && std::env::var_os("NO_COLOR").is_none() }));
    let history = if terminal { history_file() } else { None };
    if let Some(h) = &history {
        let _ = ed.load_history(h);
    }
    let mut line = 1;
    let mut kept = String::new();
    let status = loop {
        let prompt = if !terminal {
            String::new()
        } else if kept.is_empty() {
            format!("kumi:{line:03}> ")
        } else {
            format!("kumi:{line:03}* ")
        };
        let read = match &mut lines {
            Some(lines) => lines.next().map(str::to_string).ok_or(ReadlineError::Eof),
            None => ed.readline(&prompt),
        };
        match read {
            Ok(text) => {
                kept.push_str(&text);
                kept.push('\n');
                // Without a terminal lines come one by one.
                if incomplete(&kept) {
                    continue;
                }
                let text = std::mem::take(&mut kept);
                if let Some(status) = evaluate(&mut cx.borrow_mut(), &s, &mut ours, &text, line) {
                    break status;
                }
                line += text.lines().count() as i64;
            }
            Err(ReadlineError::Interrupted) => kept.clear(),
            Err(ReadlineError::Eof) => {
                if !kept.trim().is_empty() {
                    if let Some(status) = evaluate(&mut cx.borrow_mut(), &s, &mut ours, &kept, line) {
                        break status;
                    }
                }
                break run::finish(&mut cx.borrow_mut(), &s, None);
            }
            Err(e) => {
                crate::say::err(format_args!("kumi: {e}"));
                break 1;
            }
        }
    };
    if let Some(h) = &history {
        let _ = ed.save_history(h);
    }
    status
}

/// Runs one input and shows its value; the exit status when it ended the session.
fn evaluate(cx: &mut Cx, s: &Settings, ours: &mut OnInterrupt, text: &str, line: i64) -> Option<i32> {
    if text.trim().is_empty() {
        return None;
    }
    let src = cx.str(text);
    let editors = ours.swap();
    // A Ctrl-C of the moment between two inputs is meant for what is over.
    while cx.call_helper_top("irb_settle", &[]).is_err() {
        if run::signal_of(cx) != Some(i64::from(libc::SIGINT)) {
            return Some(run::finish(cx, s, Some(kumi_vm::Exit::Raise)));
        }
    }
    match cx.call_helper_top("irb_eval", &[src, Value::fix(line)]) {
        // One that came while the value or the exception of another was shown.
        Err(_) if run::signal_of(cx) == Some(i64::from(libc::SIGINT)) => {
            crate::say::err(format_args!("Interrupt"));
            *ours = editors.swap();
            None
        }
        Ok(_) => {
            *ours = editors.swap();
            None
        }
        Err(e) => Some(run::finish(cx, s, Some(e))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_texts_ask_for_more() {
        for t in ["def a", "[1,", "foo do |x|", "if x", "\"abc", "class A\n  def b", "{a: 1,", "x = <<~A\n hi"] {
            assert!(incomplete(t), "{t}");
        }
        for t in ["1 + 1", "def a; end", "end", "1 +* 2 )", "x = <<~A\n hi\nA", ""] {
            assert!(!incomplete(t), "{t}");
        }
    }

    #[test]
    fn colours_keep_the_text() {
        let c = colours("def foo(x) = \"a#{x}\" # done");
        let plain: String =
            c.split('\x1b').enumerate().map(|(i, p)| if i == 0 { p } else { p.split_once('m').map_or("", |x| x.1) }).collect();
        assert_eq!(plain, "def foo(x) = \"a#{x}\" # done");
    }
}
