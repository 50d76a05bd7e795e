//! Shapes: the order in which an object's instance variables were first set.
//!
//! A shape is a node of a tree; the edge from its parent is a name, its depth the
//! slot index. Objects with equal shapes keep equal names in equal slots, which is
//! what inline caches compare. Append-only: an id never changes its meaning, so
//! that what a worker has cached of the tree stays true for ever; only what it
//! does not know yet takes the tree's lock.

use crate::Sym;
use rustc_hash::FxHashMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

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
struct Tree {
    shapes: Vec<Shape>,
    next: FxHashMap<(ShapeId, Sym), ShapeId>,
}

impl Default for Tree {
    fn default() -> Self {
        Tree { shapes: vec![Shape { parent: 0, name: Sym(0), count: 0 }], next: FxHashMap::default() }
    }
}

/// One worker's view of the tree.
#[derive(Default)]
pub struct Shapes {
    tree: Arc<RwLock<Tree>>,
    found: FxHashMap<(ShapeId, Sym), Option<u32>>,
    next: FxHashMap<(ShapeId, Sym), ShapeId>,
    /// Counts by id, as far as they were copied.
    counts: Vec<u32>,
}

impl Shapes {
    /// Another worker's view of the same tree.
    pub fn sibling(&self) -> Shapes {
        Shapes { tree: self.tree.clone(), ..Default::default() }
    }
    fn read(&self) -> RwLockReadGuard<'_, Tree> {
        self.tree.read().unwrap_or_else(PoisonError::into_inner)
    }
    fn write(&self) -> RwLockWriteGuard<'_, Tree> {
        self.tree.write().unwrap_or_else(PoisonError::into_inner)
    }
    /// Number of variables, if this worker has asked for a shape's since there is this one.
    #[inline(always)]
    pub fn known_count(&self, s: ShapeId) -> Option<u32> {
        self.counts.get(s as usize).copied()
    }
    /// Number of variables.
    pub fn count(&mut self, s: ShapeId) -> u32 {
        if let Some(&n) = self.counts.get(s as usize) {
            return n;
        }
        let known = self.counts.len();
        let tree = self.tree.read().unwrap_or_else(PoisonError::into_inner);
        self.counts.extend(tree.shapes.iter().skip(known).map(|s| s.count));
        self.counts.get(s as usize).copied().unwrap_or(0)
    }
    /// Slot of `name`.
    pub fn slot(&mut self, s: ShapeId, name: Sym) -> Option<u32> {
        if let Some(&r) = self.found.get(&(s, name)) {
            return r;
        }
        let mut at = s;
        let mut r = None;
        let tree = self.read();
        while at != ROOT_SHAPE {
            let n = &tree.shapes[at as usize];
            if n.name == name {
                r = Some(n.count - 1);
                break;
            }
            at = n.parent;
        }
        drop(tree);
        self.found.insert((s, name), r);
        r
    }
    /// The shape after `name` is added to `s`; its slot is `count(s)`.
    pub fn add(&mut self, s: ShapeId, name: Sym) -> ShapeId {
        if let Some(&n) = self.next.get(&(s, name)) {
            return n;
        }
        let mut guard = self.write();
        let tree = &mut *guard;
        let id = *tree.next.entry((s, name)).or_insert_with(|| {
            let count = tree.shapes[s as usize].count + 1;
            tree.shapes.push(Shape { parent: s, name, count });
            (tree.shapes.len() - 1) as ShapeId
        });
        drop(guard);
        self.next.insert((s, name), id);
        id
    }
    /// Shapes there are.
    pub fn total(&self) -> usize {
        self.read().shapes.len()
    }
    /// Forgets what was looked for: names that are none any more may be among it.
    pub fn forget_found(&mut self) {
        self.found = FxHashMap::default();
    }
    /// Calls `f` with the name of each edge.
    pub fn each_name(&self, mut f: impl FnMut(Sym)) {
        self.read().shapes.iter().for_each(|s| f(s.name));
    }
    /// Names in slot order.
    pub fn names(&self, s: ShapeId) -> Vec<Sym> {
        let tree = self.read();
        let mut v = Vec::new();
        let mut at = s;
        while at != ROOT_SHAPE {
            let n = &tree.shapes[at as usize];
            v.push(n.name);
            at = n.parent;
        }
        v.reverse();
        v
    }
}
