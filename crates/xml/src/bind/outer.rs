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

#[derive(Debug, Default)]
pub(super) struct Outers {
    scopes: Vec<Scope>,
    capturing: u32,
    /// Bytes of all values and captures.
    held: usize,
}

impl Outers {
    /// A start tag at `depth`: whether some path goes through it.
    pub fn follow(&mut self, schema: &Schema, start: &Start<'_>, depth: u32) -> bool {
        let mut followed = false;
        for scope in &mut self.scopes {
            let outer = &schema.outers[scope.outer as usize];
            if scope.depth + scope.progress + 1 != depth || scope.progress as usize >= outer.children.len() {
                continue;
            }
            let name = start.name();
            if !outer.children[scope.progress as usize].matches(name.local(), name.namespace()) {
                continue;
            }
            followed = true;
            scope.progress += 1;
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
        followed
    }

    /// An element that rows may be in was entered.
    pub fn enter(&mut self, schema: &Schema, start: &Start<'_>, depth: u32) {
        let name = start.name();
        for (number, outer) in schema.outers.iter().enumerate() {
            if outer.element.matches(name.local(), name.namespace()) {
                let value = if outer.children.is_empty() { attribute(outer, start) } else { None };
                self.held += value.as_ref().map_or(0, Vec::len);
                self.scopes.push(Scope { outer: number as u32, depth, progress: 0, value, capture: None });
            }
        }
    }

    /// Which paths may go on in a child of the element at `depth`, as a number that tells them apart.
    pub fn open_at(&self, depth: u32) -> u64 {
        let mut hash = FxHasher::default();
        for scope in self.scopes.iter().filter(|s| s.depth + s.progress == depth) {
            (scope.outer, scope.progress).hash(&mut hash);
        }
        hash.finish()
    }

    pub fn wants_text(&self) -> bool {
        self.capturing > 0
    }

    /// False when a value is larger than `limit`, or all together are larger than `all`.
    pub fn text(&mut self, text: &[u8], limit: usize, all: usize) -> bool {
        for capture in self.scopes.iter_mut().filter_map(|s| s.capture.as_mut()) {
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
        }
        for scope in &mut self.scopes {
            if scope.progress > 0 && scope.depth + scope.progress == depth {
                scope.progress -= 1;
                if let Some(text) = scope.capture.take() {
                    self.held -= scope.value.replace(text).map_or(0, |old| old.len());
                    self.capturing -= 1;
                }
            }
        }
    }

    /// The value for an element at `depth`.
    pub fn value(&self, outer: u32, depth: u32) -> Option<&[u8]> {
        self.scopes.iter().rev().find(|s| s.outer == outer && s.depth < depth)?.value.as_deref()
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
