//! Outer values: what enclosing elements say beside the rows.
//!
//! Every entered element that some class's outer field names opens a [`Scope`], which follows the field's path
//! through the children as they come and keeps the last value found. A row takes its value from the innermost scope
//! of the field.

use crate::event::Start;
use crate::schema::{Outer, Schema};
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

/// Work for one tag is in proportion to the paths that may go on there, however many elements are open.
#[derive(Debug, Default)]
pub(super) struct Outers {
    /// By depth, the outermost first.
    scopes: Vec<Scope>,
    /// Those of each outer field, as indices into `scopes`.
    of_field: Vec<Vec<u32>>,
    /// Those some of whose steps are open.
    going: Vec<u32>,
    capturing: u32,
    /// Bytes of all values and captures.
    held: usize,
}

impl Outers {
    /// The scopes whose path has come down to the element at `depth`.
    fn come_to(&self, depth: u32) -> impl Iterator<Item = usize> {
        let own = self.scopes.iter().rev().take_while(|s| s.depth == depth).count();
        let own = self.scopes.len() - own..self.scopes.len();
        let going = self.going.iter().map(|&i| i as usize).filter(move |&i| self.scopes[i].depth + self.scopes[i].progress == depth);
        own.filter(|&i| self.scopes[i].progress == 0).chain(going)
    }

    /// A start tag at `depth`: whether some path goes through it.
    pub fn follow(&mut self, schema: &Schema, start: &Start<'_>, depth: u32) -> bool {
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
            if scope.progress == 1 {
                self.going.push(i as u32);
            }
            if scope.progress as usize == outer.children.len() {
                match &outer.attribute {
                    Some(_) => {
                        if let Some(value) = attribute(outer, start) {
                            self.held += value.len();
                            self.held -= scope.value.replace(value).map_or(0, |old| old.len());
                        }
                    }
                    None => {
                        scope.capture = Some(Vec::new());
                        self.capturing += 1;
                    }
                }
            }
        }
        !followed.is_empty()
    }

    /// An element that rows may be in was entered.
    pub fn enter(&mut self, schema: &Schema, start: &Start<'_>, depth: u32) {
        let name = start.name();
        self.of_field.resize(schema.outers.len(), Vec::new());
        for (number, outer) in schema.outers.iter().enumerate() {
            if outer.element.matches(name.local(), name.namespace()) {
                let value = if outer.children.is_empty() { attribute(outer, start) } else { None };
                self.held += value.as_ref().map_or(0, Vec::len);
                self.of_field[number].push(self.scopes.len() as u32);
                self.scopes.push(Scope { outer: number as u32, depth, progress: 0, value, capture: None });
            }
        }
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
        self.capturing > 0
    }

    /// False when a value is larger than `limit`, or all together are larger than `all`.
    pub fn text(&mut self, text: &[u8], limit: usize, all: usize) -> bool {
        for &i in &self.going {
            let Some(capture) = &mut self.scopes[i as usize].capture else { continue };
            self.held += text.len();
            if capture.len() + text.len() > limit || self.held > all {
                return false;
            }
            capture.extend_from_slice(text);
        }
        true
    }

    /// The end tag of an entered element at `depth`.
    pub fn leave(&mut self, depth: u32) {
        while let Some(scope) = self.scopes.pop_if(|s| s.depth == depth) {
            self.held -= scope.value.map_or(0, |v| v.len());
            self.of_field[scope.outer as usize].pop();
        }
        let (scopes, held, capturing) = (&mut self.scopes, &mut self.held, &mut self.capturing);
        self.going.retain(|&i| {
            let scope = &mut scopes[i as usize];
            if scope.depth + scope.progress == depth {
                scope.progress -= 1;
                if let Some(text) = scope.capture.take() {
                    *held -= scope.value.replace(text).map_or(0, |old| old.len());
                    *capturing -= 1;
                }
            }
            scope.progress > 0
        });
    }

    /// The value for an element that was not entered yet.
    pub fn value(&self, outer: u32) -> Option<&[u8]> {
        let scope = *self.of_field.get(outer as usize)?.last()?;
        self.scopes[scope as usize].value.as_deref()
    }
}

fn attribute(outer: &Outer, start: &Start<'_>) -> Option<Vec<u8>> {
    let test = outer.attribute.as_ref()?;
    let mut matching = start.attributes().filter(|a| test.matches(a.name.local(), a.name.namespace()));
    let first = matching.next()?;
    // Without a namespace given, the one without a prefix is meant.
    let meant = if first.name.prefix().is_some() { matching.find(|a| a.name.prefix().is_none()).unwrap_or(first) } else { first };
    Some(meant.value.as_bytes().to_vec())
}
