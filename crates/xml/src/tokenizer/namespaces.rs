//! Which prefix stands for which namespace: a stack of declarations, the innermost last, taken back as elements end.
//!
//! `bindings[0]` and `[XMLNS]` are the two that are always there (`xml`, `xmlns`). A namespace is known by the number of the binding that
//! names it; [`NONE`] is no namespace. With many in scope, `index` has the innermost binding of every prefix, so
//! that looking one up doesn't depend on how many an author declares.

use crate::input::chars;
use foldhash::fast::RandomState;
use std::collections::HashMap;

pub const NONE: u32 = u32::MAX;
pub const XMLNS: u32 = 1;

pub const XML_NAME: &str = "http://www.w3.org/XML/1998/namespace";
pub const XMLNS_NAME: &str = "http://www.w3.org/2000/xmlns/";

/// Bytes of the two that are always there.
const ALWAYS: usize = "xml".len() + XML_NAME.len() + "xmlns".len() + XMLNS_NAME.len();

/// Up to how many bindings are searched one by one.
const FEW: usize = 12;

#[derive(Debug)]
struct Binding {
    /// In `text`: where the prefix begins, where the name does, where it ends.
    prefix: usize,
    name: usize,
    end: usize,
    /// What its prefix stood for before: a binding, or `NONE`.
    before: u32,
}

#[derive(Debug)]
pub struct Namespaces {
    bindings: Vec<Binding>,
    text: Vec<u8>,
    /// What names without a prefix stand in.
    pub default: u32,
    index: HashMap<Box<[u8]>, u32, RandomState>,
}

impl Namespaces {
    pub fn new() -> Namespaces {
        let mut namespaces = Namespaces { bindings: Vec::new(), text: Vec::new(), default: NONE, index: HashMap::default() };
        namespaces.declare(b"xml", XML_NAME.as_bytes());
        namespaces.declare(b"xmlns", XMLNS_NAME.as_bytes());
        namespaces
    }

    /// How many are in scope, beyond the two.
    pub fn len(&self) -> usize {
        self.bindings.len() - 2
    }

    /// Bytes of their prefixes and names.
    pub fn bytes(&self) -> usize {
        self.text.len() - ALWAYS
    }

    pub fn declare(&mut self, prefix: &[u8], name: &[u8]) {
        let id = self.bindings.len() as u32;
        let start = self.text.len();
        self.text.extend_from_slice(prefix);
        self.text.extend_from_slice(name);
        let before = if prefix.is_empty() {
            std::mem::replace(&mut self.default, if name.is_empty() { NONE } else { id })
        } else {
            self.find(prefix).unwrap_or(NONE)
        };
        self.bindings.push(Binding { prefix: start, name: start + prefix.len(), end: self.text.len(), before });
        if self.bindings.len() == FEW + 1 {
            for i in 0..self.bindings.len() {
                self.enter(i as u32);
            }
        } else if self.bindings.len() > FEW {
            self.enter(id);
        }
    }

    fn enter(&mut self, id: u32) {
        let prefix = self.prefix(id);
        if !prefix.is_empty() {
            self.index.insert(prefix.into(), id);
        }
    }

    fn prefix(&self, id: u32) -> &[u8] {
        let b = &self.bindings[id as usize];
        &self.text[b.prefix..b.name]
    }

    /// Takes back the last `count` declarations.
    pub fn undo(&mut self, count: u32) {
        for _ in 0..count {
            let Some(binding) = self.bindings.pop() else { return };
            let prefix = &self.text[binding.prefix..binding.name];
            if prefix.is_empty() {
                self.default = binding.before;
            } else if self.bindings.len() >= FEW {
                if binding.before == NONE {
                    self.index.remove(prefix);
                } else if let Some(id) = self.index.get_mut(prefix) {
                    *id = binding.before;
                }
            }
            if self.bindings.len() == FEW {
                self.index.clear();
            }
            self.text.truncate(binding.prefix);
        }
    }

    /// The innermost binding of a prefix.
    pub fn find(&self, prefix: &[u8]) -> Option<u32> {
        if self.bindings.len() > FEW {
            return self.index.get(prefix).copied();
        }
        (0..self.bindings.len() as u32).rev().find(|&id| self.prefix(id) == prefix)
    }

    /// The namespace's name.
    pub fn name(&self, id: u32) -> Option<&str> {
        let b = self.bindings.get(id as usize)?;
        // SAFETY: `text` holds whole prefixes and whole names one after the other, and a binding says where they begin and end.
        Some(unsafe { chars::text(&self.text[b.name..b.end]) })
    }
}
