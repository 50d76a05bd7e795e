//! The text form of a trace, version 1: [`Trace`] says what it is.

use super::{Class, Invalid, MAX_NODES, Program, Step, Task, Trace};
use std::fmt::{self, Write};

/// The first line.
const HEAD: &str = "kumi-trace 1";
/// No trace has more tasks and steps together: some gigabytes.
const MOST_STEPS: usize = 1 << 26;

/// What is wrong with a text, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub what: &'static str,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)
    }
}

impl std::error::Error for Wrong {}

const NAMES: [(&str, Class); 3] = [("handler", Class::Handler), ("task", Class::Normal), ("spec", Class::Speculative)];

/// What is said, with the numbers of its lines.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(i, l)| (i + 1, l)).filter(|(_, l)| !l.is_empty() && !l.starts_with('#'))
}

impl Trace {
    /// Can it be replayed?
    ///
    /// # Errors
    /// The place of the first task of which something can't, and why.
    pub fn check(&self) -> Result<(), (usize, Invalid)> {
        Program::build(self).map(drop)
    }
    /// The line of a text, from 1, that has the task at this place of the trace that was read from it.
    pub fn line_of(text: &str, task: usize) -> usize {
        lines(text).nth(2 + task).map_or(1, |(line, _)| line)
    }
    /// Reads the text form. Memory is bounded by the text's length; whether it can be replayed is seen when it is.
    pub fn parse(text: &str) -> Result<Trace, Wrong> {
        let mut lines = lines(text);
        let wrong = |line, what| Wrong { line, what };
        match lines.next() {
            Some((_, HEAD)) => {}
            Some((line, l)) if l.starts_with("kumi-trace ") => return Err(wrong(line, "a trace of another version; this one reads 1")),
            other => return Err(wrong(other.map_or(1, |o| o.0), "the first line of a trace is `kumi-trace 1`")),
        }
        let (line, nodes) = lines.next().ok_or(wrong(2, "the number of nodes is missing"))?;
        let nodes = nodes.strip_prefix("nodes ").and_then(number).filter(|n| (1..=MAX_NODES as u64).contains(n));
        let nodes = nodes.ok_or(wrong(line, "the second line is `nodes` and their number, 1 to 65536"))? as u32;
        let (mut tasks, mut all) = (Vec::new(), 0);
        for (line, l) in lines {
            let mut words = l.split(' ');
            let class = words
                .next()
                .and_then(|w| NAMES.iter().find(|n| n.0 == w))
                .ok_or(wrong(line, "a line begins with task, handler or spec"))?
                .1;
            let node = words.next().and_then(number).ok_or(wrong(line, "a task needs the number of its node"))?;
            if node >= nodes as u64 {
                return Err(wrong(line, "no such node: they are counted from 0 on, and the second line says how many there are"));
            }
            let mut steps = words.map(|w| step(w).ok_or(wrong(line, "a step that can't be read"))).collect::<Result<Vec<_>, _>>()?;
            steps.shrink_to_fit();
            all += 1 + steps.len();
            if all > MOST_STEPS {
                return Err(wrong(line, "more than 67,108,864 tasks and steps"));
            }
            tasks.push(Task { node: node as u32, class, steps });
        }
        Ok(Trace { nodes, tasks })
    }
    /// Its text form, which [`Trace::parse`] reads.
    pub fn text(&self) -> String {
        let mut out = format!("{HEAD}\nnodes {}\n", self.nodes);
        for task in &self.tasks {
            let name = NAMES.iter().find(|n| n.1 == task.class).map_or("", |n| n.0);
            let _ = write!(out, "{name} {}", task.node);
            for step in &task.steps {
                let _ = match step {
                    Step::Compute(n) => write!(out, " c{n}"),
                    Step::Allocate(n) => write!(out, " a{n}"),
                    Step::Keep(n) => write!(out, " k{n}"),
                    Step::Release(n) => write!(out, " r{n}"),
                    Step::Send { message, to, bytes } => write!(out, " s{message}>{to}:{bytes}"),
                    Step::Await(n) => write!(out, " w{n}"),
                    Step::At(n) => write!(out, " t{n}"),
                    Step::Collect => write!(out, " g"),
                    Step::Overhead(n) => write!(out, " o{n}"),
                    Step::Sleep(n) => write!(out, " z{n}"),
                    Step::Pause(n) => write!(out, " p{n}"),
                };
            }
            out.push('\n');
        }
        out
    }
}

/// Digits only, and no more than fit.
fn number(word: &str) -> Option<u64> {
    if word.is_empty() || !word.bytes().all(|b| b.is_ascii_digit()) { None } else { word.parse().ok() }
}

fn step(word: &str) -> Option<Step> {
    let (&letter, _) = word.as_bytes().split_first()?;
    let rest = word.get(1..)?;
    Some(match letter {
        b'c' => Step::Compute(number(rest)?),
        b'a' => Step::Allocate(number(rest)?),
        b'k' => Step::Keep(number(rest)?),
        b'r' => Step::Release(number(rest)?),
        b'w' => Step::Await(number(rest)?),
        b't' => Step::At(number(rest)?),
        b'o' => Step::Overhead(number(rest)?),
        b'z' => Step::Sleep(number(rest)?),
        b'p' => Step::Pause(number(rest)?),
        b'g' if rest.is_empty() => Step::Collect,
        b's' => {
            let (message, rest) = rest.split_once('>')?;
            let (to, bytes) = rest.split_once(':')?;
            let small = |w| number(w).and_then(|n| u32::try_from(n).ok());
            Step::Send { message: number(message)?, to: small(to)?, bytes: small(bytes)? }
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        let text = "kumi-trace 1\nnodes 2\ntask 0 k9 s1>1:64 w2 c500000 t77 g r9 o8 z7 p6\nhandler 1 w1 a4096 s2>0:4294967295\nspec 0\n";
        let trace = Trace::parse(text).unwrap();
        assert_eq!((trace.tasks.len(), trace.tasks[2].class), (3, Class::Speculative));
        assert_eq!(trace.text(), text);
        let other = Trace::parse(&format!("\n# a remark\n{text}\n")).unwrap();
        assert_eq!(other, trace);
        assert_eq!(Trace::parse(&text.replace('\n', "\r\n")).unwrap(), trace);
    }
    #[test]
    fn texts_that_are_no_traces() {
        let says = |text: &str, line, part: &str| {
            let wrong = Trace::parse(text).unwrap_err();
            assert!(wrong.line == line && wrong.what.contains(part), "{text:?}: {wrong}");
        };
        says("", 1, "first line");
        says("kumi-trace 2\n", 1, "version");
        says("kumi-trace 1", 2, "missing");
        for n in ["0", "65537", "-1", "+1", "x", "", "99999999999999999999"] {
            says(&format!("kumi-trace 1\nnodes {n}\n"), 2, "second line");
        }
        says("kumi-trace 1\nnodes 2\nwork 0\n", 3, "begins");
        says("kumi-trace 1\nnodes 2\n\n# x\ntask 2\n", 5, "node");
        for s in ["", "c", "c-1", "c1.5", "x1", "é", "s1", "s1>1", "s1>1:x", "s>1:1", "s1>4294967296:1", "g1", "c18446744073709551616"] {
            says(&format!("kumi-trace 1\nnodes 2\ntask 0 {s}\n"), 3, "step");
        }
    }
}
