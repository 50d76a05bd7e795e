//! Elements as JSON lines.
//!
//! An element without attributes and elements is its text. Any other is an object: attributes as `"@name"`, elements by
//! name (an array when there are several of a name), text beside them as `"#text"`. With a list of fields an object
//! has exactly those keys, and each value is a string or null, so that every line has the same form.

use super::Failure;
use super::path::Path;
use super::progress::size;
use super::read::{Document, Next};
use kumi_xml::{Event, Start};
use std::collections::HashMap;
use std::io::Write;

/// Most bytes of one element's JSON.
const MOST: usize = 64 << 20;
/// Elements of one parent that are searched one by one for their name; more get a table.
const FEW: usize = 16;

/// An element that is being read.
#[derive(Default)]
struct Part {
    name: String,
    attributes: Vec<(String, String)>,
    text: String,
    /// Names in order of appearance, with the JSON of each.
    children: Vec<(String, Vec<String>)>,
    index: HashMap<String, usize>,
}

impl Part {
    fn new(s: Start<'_>) -> Part {
        let plain = |n: &str| n != "xmlns" && !n.starts_with("xmlns:");
        Part {
            name: s.name().raw().to_string(),
            attributes: s.attributes().filter(|a| plain(a.name.raw())).map(|a| (a.name.raw().to_string(), a.value.to_string())).collect(),
            ..Part::default()
        }
    }
    fn add(&mut self, name: String, json: String) {
        let known = if self.children.len() <= FEW {
            self.children.iter().position(|(n, _)| *n == name)
        } else {
            if self.index.is_empty() {
                self.index = self.children.iter().enumerate().map(|(i, (n, _))| (n.clone(), i)).collect();
            }
            self.index.get(&name).copied()
        };
        match known {
            Some(i) => self.children[i].1.push(json),
            None => {
                if !self.index.is_empty() {
                    self.index.insert(name.clone(), self.children.len());
                }
                self.children.push((name, vec![json]));
            }
        }
    }
    fn json(&self) -> String {
        let mut out = String::new();
        if self.attributes.is_empty() && self.children.is_empty() {
            quote(&self.text, &mut out);
            return out;
        }
        let key = |out: &mut String, k: &str| {
            out.push(if out.is_empty() { '{' } else { ',' });
            quote(k, out);
            out.push(':');
        };
        for (n, v) in &self.attributes {
            key(&mut out, &format!("@{n}"));
            quote(v, &mut out);
        }
        if !self.text.trim_matches(['\t', '\n', '\r', ' ']).is_empty() {
            key(&mut out, "#text");
            quote(&self.text, &mut out);
        }
        for (n, all) in &self.children {
            key(&mut out, n);
            match &all[..] {
                [one] => out.push_str(one),
                _ => {
                    out.push('[');
                    out.push_str(&all.join(","));
                    out.push(']');
                }
            }
        }
        out.push('}');
        out
    }
}

/// Prints the elements that `path` names; inside one a further one is part of it.
pub(crate) fn elements(
    document: &mut Document,
    path: &Path,
    first: u64,
    fields: Option<&[String]>,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let mut open = vec![path.start()];
    let mut parts: Vec<Part> = Vec::new();
    let mut bytes = 0;
    document.each(|event, found| {
        match event {
            Event::Start(s) => {
                let here = path.child(open.last().copied().unwrap_or(path.start()), s.name());
                if !parts.is_empty() {
                    let part = Part::new(s);
                    bytes += part.attributes.iter().map(|(n, v)| n.len() + v.len() + 8).sum::<usize>() + part.name.len() + 8;
                    parts.push(part);
                } else if path.names(here) {
                    if *found >= first {
                        return Ok(Next::Stop);
                    }
                    *found += 1;
                    parts.push(Part::new(s));
                } else if !path.goes_on(here) {
                    return Ok(Next::Skip);
                }
                open.push(here);
            }
            Event::End(_) => {
                open.pop();
                if let Some(part) = parts.pop() {
                    let field = parts.len() == 1;
                    match (parts.last_mut(), fields) {
                        (Some(outer), None) => outer.add(part.name.clone(), part.json()),
                        (Some(outer), Some(_)) if field => outer.add(part.name, part.text),
                        // A field is a whole text: what stands in elements inside belongs to it.
                        (Some(outer), Some(_)) => outer.text.push_str(&part.text),
                        (None, None) => {
                            out.write_all(part.json().as_bytes())?;
                            out.write_all(b"\n")?;
                        }
                        (None, Some(fields)) => out.write_all(row(&part, fields).as_bytes())?,
                    }
                    if parts.is_empty() {
                        bytes = 0;
                        if *found >= first {
                            return Ok(Next::Stop);
                        }
                    }
                }
            }
            Event::Text(t) => {
                if let Some(part) = parts.last_mut() {
                    part.text.push_str(t);
                    bytes += t.len();
                }
            }
            _ => {}
        }
        if bytes > MOST {
            return Err(Failure::Message(format!("an element of more than {}; name smaller ones with PATH", size(MOST as u64))));
        }
        Ok(Next::Event)
    })
}

/// A line with exactly these fields: `@name` an attribute, `.` the element's own text, else the child of that name; an array of
/// them where there are several.
fn row(part: &Part, fields: &[String]) -> String {
    let mut out = String::from("{");
    for (i, f) in fields.iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        quote(f, &mut out);
        out.push(':');
        let local = |n: &str| n == f || n.split_once(':').is_some_and(|(_, l)| l == f);
        let values: Vec<&String> = match f.strip_prefix('@') {
            Some(a) => part.attributes.iter().filter(|(n, _)| n == a).map(|(_, v)| v).collect(),
            None if f == "." => vec![&part.text],
            None => part.children.iter().filter(|(n, _)| local(n)).flat_map(|(_, all)| all).collect(),
        };
        match values[..] {
            [] => out.push_str("null"),
            [v] => quote(v, &mut out),
            _ => {
                for (i, v) in values.iter().enumerate() {
                    out.push(if i == 0 { '[' } else { ',' });
                    quote(v, &mut out);
                }
                out.push(']');
            }
        }
    }
    out.push_str("}\n");
    out
}

/// A JSON string.
fn quote(s: &str, out: &mut String) {
    out.push('"');
    for c in s.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if (c as u32) < 0x20 => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
}
