//! Outer values: what enclosing elements say beside the rows.
//!
//! Every entered element that some class's outer field names opens a [`Scope`], which follows the field's path
//! through the children as they come and keeps the last value found. A row takes its value from the innermost scope
//! of the field.

use super::error::BindErrorKind;
use crate::schema::{Outer, Schema};
use crate::tokenizer::event::Start;
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

#[derive(Debug)]
struct Scope {
    outer: u32,
    /// Depth of the element that opened it.
    depth: u32,
    /// How many steps of the path are open now.
    progress: u32,
    value: Option<Vec<u8>>,
    /// Text of the last step's element, while it is open.
    capture: Option<Vec<u8>>,
}

/// Work for one tag is in proportion to the paths that may go on there, however many elements are open. Everything
/// held together is bounded as a row is.
#[derive(Debug, Default)]
pub(super) struct Outers {
    /// By depth, the outermost first.
    scopes: Vec<Scope>,
    /// Those of each outer field, as indices into `scopes`.
    of_field: Vec<Vec<u32>>,
    /// Those with a step open at a depth, by that depth; the ones that have gone on from there stand deeper as well.
    going: Vec<Vec<u32>>,
    /// Those that collect text, outermost first.
    capturing: Vec<u32>,
    /// Bytes of all values and captures.
    held: usize,
}

/// The most that one value may have, and all that is held.
#[derive(Clone, Copy)]
pub(super) struct Most {
    pub value: usize,
    pub all: usize,
}

impl Outers {
    /// The scopes whose path has come down to the element at `depth`.
    fn come_to(&self, depth: u32) -> impl Iterator<Item = usize> {
        let own = self.scopes.iter().rev().take_while(|s| s.depth == depth).count();
        let own = self.scopes.len() - own..self.scopes.len();
        let going = self.going.get(depth as usize).map_or(&[][..], |going| going).iter().map(|&i| i as usize);
        let going = going.filter(move |&i| self.scopes[i].depth + self.scopes[i].progress == depth);
        own.filter(|&i| self.scopes[i].progress == 0).chain(going)
    }

    /// A start tag at `depth`: whether some path goes through it.
    pub fn follow(&mut self, schema: &Schema, start: &Start<'_>, depth: u32, most: Most) -> Result<bool, BindErrorKind> {
        let name = start.name();
        let next = |&i: &usize| {
            let scope = &self.scopes[i];
            let step = schema.outers[scope.outer as usize].children.get(scope.progress as usize);
            step.is_some_and(|step| step.matches(name.local(), name.namespace()))
        };
        let followed: Vec<usize> = self.come_to(depth - 1).filter(next).collect();
        for &i in &followed {
            let scope = &mut self.scopes[i];
            let outer = &schema.outers[scope.outer as usize];
            scope.progress += 1;
            let deepest = depth as usize;
            if self.going.len() <= deepest {
                self.going.resize(deepest + 1, Vec::new());
            }
            self.going[deepest].push(i as u32);
            if scope.progress as usize == outer.children.len() {
                match &outer.attribute {
                    Some(_) => {
                        if let Some(value) = attribute(outer, start, most)? {
                            self.held += value.len();
                            self.held -= scope.value.replace(value).map_or(0, |old| old.len());
                            within(self.held, most)?;
                        }
                    }
                    None => {
                        scope.capture = Some(Vec::new());
                        self.capturing.push(i as u32);
                    }
                }
            }
        }
        Ok(!followed.is_empty())
    }

    /// An element that rows may be in was entered.
    pub fn enter(&mut self, schema: &Schema, start: &Start<'_>, depth: u32, most: Most) -> Result<(), BindErrorKind> {
        let name = start.name();
        self.of_field.resize(schema.outers.len(), Vec::new());
        for (number, outer) in schema.outers.iter().enumerate() {
            if outer.element.matches(name.local(), name.namespace()) {
                let value = if outer.children.is_empty() { attribute(outer, start, most)? } else { None };
                self.held += value.as_ref().map_or(0, Vec::len);
                within(self.held, most)?;
                self.of_field[number].push(self.scopes.len() as u32);
                self.scopes.push(Scope { outer: number as u32, depth, progress: 0, value, capture: None });
            }
        }
        Ok(())
    }

    /// Which paths may go on in a child of the element at `depth`, as a number that tells them apart.
    pub fn open_at(&self, depth: u32) -> u64 {
        let mut hash = FxHasher::default();
        for i in self.come_to(depth) {
            (self.scopes[i].outer, self.scopes[i].progress).hash(&mut hash);
        }
        hash.finish()
    }

    pub fn wants_text(&self) -> bool {
        !self.capturing.is_empty()
    }

    /// Text in the innermost element.
    pub fn text(&mut self, text: &[u8], most: Most) -> Result<(), BindErrorKind> {
        for &i in &self.capturing {
            let Some(capture) = &mut self.scopes[i as usize].capture else { continue };
            if capture.len() + text.len() > most.value {
                return Err(BindErrorKind::FieldSize);
            }
            self.held += text.len();
            within(self.held, most)?;
            capture.extend_from_slice(text);
        }
        Ok(())
    }

    /// The end tag of an entered element at `depth`.
    pub fn leave(&mut self, depth: u32) {
        while let Some(scope) = self.scopes.pop_if(|s| s.depth == depth) {
            self.held -= scope.value.map_or(0, |v| v.len());
            self.of_field[scope.outer as usize].pop();
        }
        let Some(left) = self.going.get_mut(depth as usize) else { return };
        for i in left.drain(..) {
            let scope = &mut self.scopes[i as usize];
            scope.progress -= 1;
            if let Some(text) = scope.capture.take() {
                self.held -= scope.value.replace(text).map_or(0, |old| old.len());
                // What is captured deeper has ended.
                self.capturing.pop();
            }
        }
    }

    /// The value for an element that was not entered yet.
    pub fn value(&self, outer: u32) -> Option<&[u8]> {
        let scope = *self.of_field.get(outer as usize)?.last()?;
        self.scopes[scope as usize].value.as_deref()
    }
}

/// All that is held is within bounds.
fn within(held: usize, most: Most) -> Result<(), BindErrorKind> {
    if held > most.all { Err(BindErrorKind::RowSize) } else { Ok(()) }
}

/// The value that a tag says.
fn attribute(outer: &Outer, start: &Start<'_>, most: Most) -> Result<Option<Vec<u8>>, BindErrorKind> {
    let Some(test) = &outer.attribute else { return Ok(None) };
    let mut matching = start.attributes().filter(|a| test.matches(a.name.local(), a.name.namespace()));
    let Some(first) = matching.next() else { return Ok(None) };
    // Without a namespace given, the one without a prefix is meant.
    let meant = if first.name.prefix().is_some() { matching.find(|a| a.name.prefix().is_none()).unwrap_or(first) } else { first };
    match meant.value.len() > most.value {
        true => Err(BindErrorKind::FieldSize),
        false => Ok(Some(meant.value.as_bytes().to_vec())),
    }
}
