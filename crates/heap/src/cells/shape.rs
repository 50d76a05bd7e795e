//! Shapes: the order in which an object's instance variables were first set.
//!
//! A shape is a node of a tree; the edge from its parent is a name, its depth the
//! slot index. Objects with equal shapes keep equal names in equal slots, which is
//! what inline caches compare. An id keeps its meaning while an object has it or a
//! shape below it; a full collection that marked shapes frees the others
//! ([`Shapes::sweep`]), and then whoever has cached anything of the tree forgets it
//! ([`Shapes::forget`], inline caches too). What a worker does not know takes the tree's lock.

use crate::{Bits, Sym};
use rustc_hash::FxHashMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Index of a shape; fits the header's `aux`.
pub type ShapeId = u32;
/// The shape without variables.
pub const ROOT_SHAPE: ShapeId = 0;
/// [`Shape::count`] of a free row.
const FREE: u32 = u32::MAX;
/// Below that many shapes nobody looks for dead ones.
const LEAST: usize = 1024;
/// Names that a worker remembers to have looked for.
const MOST_FOUND: usize = 1 << 16;

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
    free: Vec<ShapeId>,
    /// With so many shapes it is time to look for dead ones.
    most: usize,
}

impl Default for Tree {
    fn default() -> Self {
        let root = Shape { parent: 0, name: Sym(0), count: 0 };
        Tree { shapes: vec![root], next: FxHashMap::default(), free: Vec::new(), most: LEAST }
    }
}

impl Tree {
    fn total(&self) -> usize {
        self.shapes.len() - self.free.len()
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
    /// This worker made a shape when it was time to look for dead ones.
    due: bool,
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
        self.counts.get(s as usize).copied().filter(|n| *n != FREE)
    }
    /// Number of variables.
    pub fn count(&mut self, s: ShapeId) -> u32 {
        match self.counts.get(s as usize) {
            Some(&n) if n != FREE => n,
            _ => self.copy_counts(s),
        }
    }
    #[cold]
    fn copy_counts(&mut self, s: ShapeId) -> u32 {
        let mut counts = std::mem::take(&mut self.counts);
        {
            let tree = self.read();
            let known = counts.len();
            counts.extend(tree.shapes.iter().skip(known).map(|s| s.count));
            // It may have been free when it was copied.
            if let (Some(to), Some(from)) = (counts.get_mut(s as usize), tree.shapes.get(s as usize)) {
                *to = from.count;
            }
        }
        self.counts = counts;
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
        if self.found.len() >= MOST_FOUND {
            self.found.clear();
        }
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
            let shape = Shape { parent: s, name, count: tree.shapes[s as usize].count + 1 };
            match tree.free.pop() {
                Some(id) => {
                    tree.shapes[id as usize] = shape;
                    id
                }
                None => {
                    tree.shapes.push(shape);
                    (tree.shapes.len() - 1) as ShapeId
                }
            }
        });
        let due = tree.total() >= tree.most;
        drop(guard);
        self.due |= due;
        self.next.insert((s, name), id);
        id
    }
    /// Should a full collection look for dead shapes? Answers once.
    #[inline]
    pub fn take_due(&mut self) -> bool {
        self.due && std::mem::take(&mut self.due)
    }
    /// Where a full collection marks the shapes of objects; `None`: there are too few to look for dead ones, which may be
    /// `forced`. The world is stopped.
    pub fn marks(&self, forced: bool) -> Option<Bits> {
        let tree = self.read();
        (forced || tree.total() >= tree.most).then(|| Bits::new(tree.shapes.len()))
    }
    /// Frees the shapes that no object has, nor a shape below them: true when there were any. Then every worker forgets
    /// what it knows of the tree. The world is stopped.
    pub fn sweep(&self, marks: &Bits) -> bool {
        let mut guard = self.write();
        let Tree { shapes, next, free, most } = &mut *guard;
        marks.set(ROOT_SHAPE);
        for s in 0..shapes.len() as ShapeId {
            let mut at = s;
            // What lies above a kept one was kept with it.
            while marks.get(at) == Some(true) && marks.set(shapes[at as usize].parent) {
                at = shapes[at as usize].parent;
            }
        }
        let before = free.len();
        for (i, s) in shapes.iter_mut().enumerate() {
            if marks.get(i as ShapeId) != Some(true) && s.count != FREE {
                *s = Shape { parent: ROOT_SHAPE, name: Sym(0), count: FREE };
                free.push(i as ShapeId);
            }
        }
        next.retain(|_, id| marks.get(*id) == Some(true));
        *most = (2 * (shapes.len() - free.len())).max(LEAST);
        free.len() != before
    }
    /// Forgets what was copied of the tree.
    pub fn forget(&mut self) {
        *self = self.sibling();
    }
    /// Shapes there are.
    pub fn total(&self) -> usize {
        self.read().total()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dead_shapes_are_used_again_and_the_others_keep_their_meaning() {
        let mut t = Shapes::default();
        let mut other = t.sibling();
        let a = t.add(ROOT_SHAPE, Sym(1));
        let ab = t.add(a, Sym(2));
        let mut dead = Vec::new();
        for i in 0..LEAST as u32 {
            dead.push(t.add(a, Sym(100 + i)));
        }
        assert!(t.take_due() && !t.take_due());
        other.count(ab);
        let m = t.marks(false).unwrap();
        m.set(ab);
        assert!(t.sweep(&m));
        t.forget();
        other.forget();
        assert!(t.marks(false).is_none());
        assert_eq!((t.total(), other.names(ab)), (3, vec![Sym(1), Sym(2)]));
        // A view that copied counts while a row was free learns of its new use.
        assert_eq!(other.count(ab), 2);
        let new = t.add(ab, Sym(7));
        assert!(dead.contains(&new));
        assert_eq!(
            (other.count(new), other.slot(new, Sym(7)), other.slot(new, Sym(2)), other.slot(new, Sym(100))),
            (3, Some(2), Some(1), None)
        );
        assert_eq!(other.add(ab, Sym(7)), new);
    }
}
