//! `kumi xml`: counts, cuts and converts XML from the shell, while it arrives.
//!
//! The document is never held: an element is counted, printed or converted when it has been read, and
//! reading stops with `--first`. No Ruby runs here.

mod convert;
mod count;
mod cut;
mod path;
mod progress;
mod read;

use path::Path;
use std::io::{self, BufWriter, IsTerminal, Write};

const HELP: &str = "\
Usage: kumi xml [options] FILE [PATH]

Reads an XML document while it arrives, whatever its size. FILE is a file, an http:// or https:// address, or - for
standard input; gzip, zstd and brotli are undone. PATH names elements: /table/T from the root, //T or T anywhere,
* any name.

  -c, --count       how many elements PATH names; without PATH a table of all paths (what happens without an option)
  -x, --cut         print the elements that PATH names, each on a line of its own
  -j, --json        print them as JSON lines: attributes as \"@name\", text beside elements as \"#text\", repeated
                    elements as an array
  -f, --fields LIST with --json: these children and @attributes only, always all of them: strings, arrays of strings\n                    where a child is repeated, or null
  -n, --first N     stop after N elements
      --encoding E  the document's encoding, when neither it nor the server says it right
  -q, --quiet       no progress line
  -h, --help        this page

Examples:
  kumi xml orders.xml
  kumi xml --count orders.xml.gz /table/T
  kumi xml --json -f O_ORDERKEY,O_TOTALPRICE https://example.org/orders.xml /table/T | head
";

/// What to do with the elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    Count,
    Cut,
    Json,
}

/// What is asked for: with the elements of a path, or of all.
#[derive(Debug)]
enum Task {
    Table,
    Count(Path),
    Cut(Path),
    Json(Path, Option<Vec<String>>),
}

/// The command line.
#[derive(Debug)]
struct Command {
    task: Task,
    first: u64,
    encoding: Option<String>,
    quiet: bool,
    file: String,
}

/// Why it ended early.
pub(crate) enum Failure {
    /// To be told, with exit status 1.
    Message(String),
    /// Whoever reads our output has gone.
    Pipe,
}

impl From<io::Error> for Failure {
    fn from(e: io::Error) -> Failure {
        if e.kind() == io::ErrorKind::BrokenPipe { Failure::Pipe } else { Failure::Message(format!("cannot write: {e}")) }
    }
}

/// Runs the command with what stands behind `xml`; the exit status.
pub fn main(args: &[String]) -> i32 {
    let command = match parse(args) {
        Ok(Some(c)) => c,
        Ok(None) => {
            let _ = io::stdout().write_all(HELP.as_bytes());
            return 0;
        }
        Err(m) => {
            say(&format!("{m} (kumi xml --help tells more)"));
            return 2;
        }
    };
    let stdout = io::stdout();
    let lively = stdout.is_terminal();
    let mut out = BufWriter::with_capacity(if lively { 1 << 10 } else { 64 << 10 }, stdout.lock());
    let ended = run(&command, lively, &mut out).and_then(|()| Ok(out.flush()?));
    match ended {
        Ok(()) | Err(Failure::Pipe) => 0,
        Err(Failure::Message(m)) => {
            let _ = out.flush();
            say(&m);
            1
        }
    }
}

/// A line on standard error, where somebody reads that.
fn say(message: &str) {
    let _ = writeln!(io::stderr(), "kumi xml: {message}");
}

/// `lively`: the output goes to a terminal.
fn run(command: &Command, lively: bool, out: &mut dyn Write) -> Result<(), Failure> {
    // Elements that are printed one by one show how far it is, and would be printed into the line.
    let quiet = command.quiet || lively && matches!(command.task, Task::Cut(_) | Task::Json(..));
    let mut document = read::Document::open(&command.file, command.encoding.as_deref(), quiet)?;
    match &command.task {
        Task::Table => count::table(&mut document, command.first, out),
        Task::Count(path) => count::of(&mut document, path, command.first, out),
        Task::Cut(path) => cut::elements(&mut document, path, command.first, out),
        Task::Json(path, fields) => convert::elements(&mut document, path, command.first, fields.as_deref(), out),
    }
}

/// One switch each: `-jqn3` is `-j -q -n 3`.
fn apart(args: &[String]) -> Vec<String> {
    let mut out = Vec::new();
    let mut args = args.iter();
    for arg in args.by_ref() {
        if arg == "--" {
            out.push(arg.clone());
            break;
        }
        match arg.strip_prefix('-').filter(|letters| letters.len() > 1 && !letters.starts_with('-')) {
            None => out.push(arg.clone()),
            Some(letters) => {
                for (i, letter) in letters.char_indices() {
                    out.push(format!("-{letter}"));
                    let behind = &letters[i + letter.len_utf8()..];
                    if matches!(letter, 'n' | 'f') && !behind.is_empty() {
                        out.push(behind.to_string());
                        break;
                    }
                }
            }
        }
    }
    out.extend(args.cloned());
    out
}

/// `None`: help was asked for.
fn parse(args: &[String]) -> Result<Option<Command>, String> {
    let mut mode = None;
    let (mut fields, mut first, mut encoding, mut quiet) = (None, u64::MAX, None, false);
    let mut plain: Vec<&str> = Vec::new();
    let args = apart(args);
    let mut rest = args.iter();
    let mut only_files = false;
    while let Some(arg) = rest.next() {
        if only_files || arg == "-" || !arg.starts_with('-') {
            plain.push(arg);
            continue;
        }
        let (name, glued) = match arg.split_once('=') {
            Some((n, v)) if n.starts_with("--") => (n, Some(v.to_string())),
            _ => (arg.as_str(), None),
        };
        let mut value = |what: &str| match glued.clone().or_else(|| rest.next().cloned()) {
            Some(v) if !v.is_empty() => Ok(v),
            _ => Err(format!("{name} needs {what}")),
        };
        let mut choose = |m: Mode| match mode {
            Some(other) if other != m => Err("choose one of --count, --cut and --json".to_string()),
            _ => {
                mode = Some(m);
                Ok(())
            }
        };
        match name {
            "-h" | "--help" => return Ok(None),
            "-c" | "--count" => choose(Mode::Count)?,
            "-x" | "--cut" => choose(Mode::Cut)?,
            "-j" | "--json" => choose(Mode::Json)?,
            "-q" | "--quiet" => quiet = true,
            "-f" | "--fields" => {
                let list = value("a list of names, such as id,@lang")?;
                fields = Some(list.split(',').map(|f| f.trim().to_string()).filter(|f| !f.is_empty()).collect());
            }
            "-n" | "--first" => {
                let n = value("a number")?;
                first = n.replace('_', "").parse().map_err(|_| format!("{name} needs a number, not {n:?}"))?;
            }
            "--encoding" => encoding = Some(value("the name of an encoding")?),
            "--" => only_files = true,
            _ => return Err(format!("unknown option {arg}")),
        }
    }
    let (file, path) = match plain[..] {
        [] => return Err("which FILE?".into()),
        [file] => (file, None),
        [file, path] => (file, Some(Path::parse(path)?)),
        _ => return Err(format!("one FILE and one PATH, please; {:?} is left over", plain[2])),
    };
    if fields.is_some() && mode != Some(Mode::Json) {
        return Err("--fields goes with --json".into());
    }
    let task = match (mode.unwrap_or(Mode::Count), path) {
        (Mode::Count, None) => Task::Table,
        (Mode::Count, Some(path)) => Task::Count(path),
        (Mode::Cut, Some(path)) => Task::Cut(path),
        (Mode::Json, Some(path)) => Task::Json(path, fields),
        (_, None) => return Err("PATH is missing: it names the elements, such as /table/T".into()),
    };
    Ok(Some(Command { task, first, encoding, quiet, file: file.to_string() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(s: &str) -> Vec<String> {
        s.split(' ').map(str::to_string).collect()
    }

    #[test]
    fn options_stand_anywhere_and_may_be_glued() {
        for line in ["-j a.xml --first=3 /t/r -fa,@b", "-jqn3 a.xml /t/r -f a,@b", "-qjfa,@b -n 3 -- a.xml /t/r"] {
            let c = parse(&words(line)).unwrap().unwrap();
            assert_eq!((c.first, c.file.as_str()), (3, "a.xml"), "{line}");
            assert!(matches!(c.task, Task::Json(_, Some(fields)) if fields == ["a", "@b"]), "{line}");
        }
    }
    #[test]
    fn what_does_not_fit_is_said() {
        for (line, says) in [
            ("", "which FILE"),
            ("-x -j a.xml /t", "choose one"),
            ("-n many a.xml", "needs a number"),
            ("a.xml /t b", "left over"),
            ("--frob a.xml", "unknown option --frob"),
            ("-qz a.xml", "unknown option -z"),
            ("-x a.xml", "PATH is missing"),
            ("-f a a.xml /t", "goes with --json"),
            ("a.xml /t//", "PATH"),
        ] {
            let args = if line.is_empty() { vec![] } else { words(line) };
            let m = parse(&args).unwrap_err();
            assert!(m.contains(says), "{line}: {m}");
        }
    }
}
