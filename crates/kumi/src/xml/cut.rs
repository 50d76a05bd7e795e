//! Elements cut out of a document, as XML of their own.

use super::Failure;
use super::path::Path;
use super::read::{Document, Next};
use kumi_xml::{Event, Start};
use std::io::Write;

/// Prints the elements that `path` names, each on lines of its own; inside one a further one is part of it.
pub(crate) fn elements(document: &mut Document, path: &Path, first: u64, out: &mut dyn Write) -> Result<(), Failure> {
    let mut open = vec![path.start()];
    // Namespace declarations in scope outside the elements: depth, name, value.
    let mut scope: Vec<(usize, String, String)> = Vec::new();
    // Depth of the element being printed.
    let mut inside: Option<usize> = None;
    // A start tag was printed up to its end, which may be />.
    let mut unclosed = false;
    document.each(|event, found| {
        if inside.is_some() && !matches!(event, Event::End(_)) && std::mem::take(&mut unclosed) {
            out.write_all(b">")?;
        }
        match event {
            Event::Start(s) => {
                let here = path.child(open.last().copied().unwrap_or(path.start()), s.name());
                if inside.is_none() && path.names(here) {
                    if *found >= first {
                        return Ok(Next::Stop);
                    }
                    *found += 1;
                    inside = Some(open.len());
                    tag(s, &scope, out)?;
                    unclosed = true;
                } else if inside.is_some() {
                    tag(s, &[], out)?;
                    unclosed = true;
                } else if !path.goes_on(here) {
                    return Ok(Next::Skip);
                } else {
                    let declared = s.attributes().filter(|a| is_declaration(a.name.raw()));
                    scope.extend(declared.map(|a| (open.len(), a.name.raw().to_string(), a.value.to_string())));
                }
                open.push(here);
            }
            Event::End(name) => {
                open.pop();
                if let Some(depth) = inside {
                    if std::mem::take(&mut unclosed) {
                        out.write_all(b"/>")?;
                    } else {
                        write!(out, "</{}>", name.raw())?;
                    }
                    if depth == open.len() {
                        inside = None;
                        out.write_all(b"\n")?;
                        if *found >= first {
                            return Ok(Next::Stop);
                        }
                    }
                } else {
                    while scope.last().is_some_and(|(d, ..)| *d >= open.len()) {
                        scope.pop();
                    }
                }
            }
            Event::Text(t) if inside.is_some() => escape(t, false, out)?,
            Event::Comment(t) if inside.is_some() => write!(out, "<!--{t}-->")?,
            Event::Pi { target, data } if inside.is_some() => {
                let space = if data.is_empty() { "" } else { " " };
                write!(out, "<?{target}{space}{data}?>")?;
            }
            _ => {}
        }
        Ok(Next::Event)
    })
}

fn is_declaration(name: &str) -> bool {
    name == "xmlns" || name.starts_with("xmlns:")
}

/// A start tag without its end, with the declarations of `scope` that it does not make itself.
fn tag(s: Start<'_>, scope: &[(usize, String, String)], out: &mut dyn Write) -> Result<(), Failure> {
    write!(out, "<{}", s.name().raw())?;
    for (i, (_, name, value)) in scope.iter().enumerate() {
        let again = scope[i + 1..].iter().any(|(_, n, _)| n == name) || s.attribute(name).is_some();
        if !again {
            attribute(name, value, out)?;
        }
    }
    for a in s.attributes().filter(|a| a.specified) {
        attribute(a.name.raw(), a.value, out)?;
    }
    Ok(())
}
fn attribute(name: &str, value: &str, out: &mut dyn Write) -> Result<(), Failure> {
    write!(out, " {name}=\"")?;
    escape(value, true, out)?;
    Ok(out.write_all(b"\"")?)
}

/// Writes text so that a parser reads the same again.
fn escape(t: &str, attribute: bool, out: &mut dyn Write) -> Result<(), Failure> {
    let mut from = 0;
    for (i, b) in t.bytes().enumerate() {
        let with: &[u8] = match b {
            b'&' => b"&amp;",
            b'<' => b"&lt;",
            b'>' => b"&gt;",
            b'\r' => b"&#13;",
            b'"' if attribute => b"&quot;",
            b'\n' if attribute => b"&#10;",
            b'\t' if attribute => b"&#9;",
            _ => continue,
        };
        out.write_all(&t.as_bytes()[from..i])?;
        out.write_all(with)?;
        from = i + 1;
    }
    Ok(out.write_all(&t.as_bytes()[from..])?)
}
