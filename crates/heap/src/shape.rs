//! Shapes: the order in which an object's instance variables were first set.
//!
//! A shape is a node of a tree; the edge from its parent is a name, its depth the
//! slot index. Objects with equal shapes keep equal names in equal slots, which is
//! what inline caches compare. Append-only: an id never changes its meaning.

use crate::Sym;
use rustc_hash::FxHashMap;

/// Index of a shape; fits the header's `aux`.
pub type ShapeId = u32;
/// The shape without variables.
pub const ROOT_SHAPE: ShapeId = 0;

struct Shape {
    parent: ShapeId,
    name: Sym,
    /// Variables an object of this shape has.
    count: u32,
}

/// The shape tree of one runtime.
pub struct Shapes {
    shapes: Vec<Shape>,
    next: FxHashMap<(ShapeId, Sym), ShapeId>,
    found: FxHashMap<(ShapeId, Sym), Option<u32>>,
}

impl Default for Shapes {
    fn default() -> Self {
        Shapes { shapes: vec![Shape { parent: 0, name: Sym(0), count: 0 }], next: FxHashMap::default(), found: FxHashMap::default() }
    }
}

impl Shapes {
    /// Number of variables.
    pub fn count(&self, s: ShapeId) -> u32 {
        self.shapes[s as usize].count
    }
    /// Slot of `name`.
    pub fn slot(&mut self, s: ShapeId, name: Sym) -> Option<u32> {
        if let Some(&r) = self.found.get(&(s, name)) {
            return r;
        }
        let mut at = s;
        let mut r = None;
        while at != ROOT_SHAPE {
            let n = &self.shapes[at as usize];
            if n.name == name {
                r = Some(n.count - 1);
                break;
            }
            at = n.parent;
        }
        self.found.insert((s, name), r);
        r
    }
    /// The shape after `name` is added to `s`; its slot is `count(s)`.
    pub fn add(&mut self, s: ShapeId, name: Sym) -> ShapeId {
        if let Some(&n) = self.next.get(&(s, name)) {
            return n;
        }
        let id = self.shapes.len() as ShapeId;
        let count = self.count(s) + 1;
        self.shapes.push(Shape { parent: s, name, count });
        self.next.insert((s, name), id);
        id
    }
    /// Names in slot order.
    pub fn names(&self, s: ShapeId) -> Vec<Sym> {
        let mut v = Vec::with_capacity(self.count(s) as usize);
        let mut at = s;
        while at != ROOT_SHAPE {
            v.push(self.shapes[at as usize].name);
            at = self.shapes[at as usize].parent;
        }
        v.reverse();
        v
    }
}
