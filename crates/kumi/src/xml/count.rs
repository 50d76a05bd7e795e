//! How many elements there are, by path.

use super::Failure;
use super::path::Path;
use super::progress::grouped;
use super::read::{Document, Next};
use kumi_xml::Event;
use std::collections::HashMap;
use std::io::Write;

/// Different paths that are told apart; a document with more is refused.
const MOST: usize = 100_000;

/// Prints the number of elements that `path` names, counting at most `first`.
pub(crate) fn of(document: &mut Document, path: &Path, first: u64, out: &mut dyn Write) -> Result<(), Failure> {
    let mut open = vec![path.start()];
    let ended = document.each(|event, found| {
        match event {
            Event::Start(s) => {
                let here = path.child(open.last().copied().unwrap_or(path.start()), s.name());
                if path.names(here) {
                    if *found >= first {
                        return Ok(Next::Stop);
                    }
                    *found += 1;
                }
                if !path.goes_on(here) {
                    return Ok(Next::Skip);
                }
                open.push(here);
            }
            Event::End(_) => {
                open.pop();
            }
            _ => {}
        }
        Ok(Next::Event)
    });
    document.quieten();
    // What was counted before something was wrong is told all the same.
    writeln!(out, "{}", document.found)?;
    ended
}

/// A path and what was counted there.
struct Node {
    name: String,
    parent: usize,
    count: u64,
    children: HashMap<String, usize>,
    order: Vec<usize>,
}

/// Prints a table of all paths of elements and attributes, counting at most `first` elements.
pub(crate) fn table(document: &mut Document, first: u64, out: &mut dyn Write) -> Result<(), Failure> {
    let mut nodes = vec![Node { name: String::new(), parent: 0, count: 0, children: HashMap::new(), order: Vec::new() }];
    let mut at = 0;
    let ended = document.each(|event, found| {
        match event {
            Event::Start(_) if *found >= first => return Ok(Next::Stop),
            Event::Start(s) => {
                at = enter(&mut nodes, at, s.name().raw(), "")?;
                *found += 1;
                for a in s.attributes() {
                    enter(&mut nodes, at, a.name.raw(), "@")?;
                }
            }
            Event::End(_) => at = nodes[at].parent,
            _ => {}
        }
        Ok(Next::Event)
    });
    document.quieten();
    let width = nodes.iter().map(|n| grouped(n.count).len()).max().unwrap_or(0);
    let mut path = String::new();
    // Depth first, by hand: documents may be deep.
    let mut todo: Vec<(usize, usize)> = nodes[0].order.iter().rev().map(|&n| (n, 0)).collect();
    while let Some((n, before)) = todo.pop() {
        path.truncate(before);
        path.push('/');
        path.push_str(&nodes[n].name);
        writeln!(out, "{:>width$}  {path}", grouped(nodes[n].count))?;
        todo.extend(nodes[n].order.iter().rev().map(|&c| (c, path.len())));
    }
    ended
}

/// Counts `mark` and `name` below a node, and gives its place.
fn enter(nodes: &mut Vec<Node>, at: usize, name: &str, mark: &str) -> Result<usize, Failure> {
    let known = if mark.is_empty() { nodes[at].children.get(name) } else { nodes[at].children.get(&format!("{mark}{name}")) };
    let n = match known {
        Some(&n) => n,
        None => {
            let n = nodes.len();
            if n > MOST {
                return Err(Failure::Message(format!(
                    "more than {} different paths; count some of them with a PATH",
                    grouped(MOST as u64)
                )));
            }
            let name = format!("{mark}{name}");
            nodes.push(Node { name: name.clone(), parent: at, count: 0, children: HashMap::new(), order: Vec::new() });
            nodes[at].children.insert(name, n);
            nodes[at].order.push(n);
            n
        }
    };
    nodes[n].count += 1;
    Ok(n)
}
