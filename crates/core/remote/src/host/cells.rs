//! The cells of proxies that are handed out, one after another, for walks over all of them.
//!
//! **Invariant.** Whatever stands as [`Held::proxy`](super::Held) of an import stands here, once. Those up to `old` were here at the last
//! collection: young ones find none of them dead.

use super::Inner;
use kumi_remote::Import;
use kumi_vm::*;

/// See the module.
#[derive(Default)]
pub struct Cells {
    all: Vec<Value>,
    /// What each of them is a proxy of.
    of: Vec<Import>,
    old: usize,
}

/// Of more than twice as many a part is counted.
const COUNTED: usize = 4096;

impl Cells {
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
    /// The imports of those that are marked.
    pub fn marked(&self, marked: &dyn Fn(Value) -> bool) -> Vec<Import> {
        self.all.iter().zip(&self.of).filter(|(v, _)| marked(**v)).map(|(_, i)| *i).collect()
    }
    /// How many are marked, about; of equal lists the same ones are looked at.
    pub fn count(&self, marked: &dyn Fn(Value) -> bool) -> usize {
        let step = (self.all.len() / COUNTED).max(1);
        self.all.iter().step_by(step).filter(|v| marked(**v)).count() * step
    }
}

impl Inner {
    /// This cell is the proxy of an import that is held, if there is none yet; which it is.
    pub fn hand_out(&mut self, import: Import, v: Value) -> Value {
        let Some(held) = self.proxies.get_mut(&import) else { return v };
        *held.proxy.get_or_insert_with(|| {
            self.cells.all.push(v);
            self.cells.of.push(import);
            v
        })
    }
    /// Proxies that a collection, a full one or not, found dead are not handed out again.
    pub fn sift(&mut self, full: bool, alive: &dyn Fn(Value) -> bool) {
        let from = if full { 0 } else { self.cells.old };
        let Cells { all, of, .. } = &mut self.cells;
        // Nearly all of them live, as a rule.
        let first = from + marked_before(&all[from..]);
        let mut kept = first;
        for at in first..all.len() {
            let (v, import) = (all[at], of[at]);
            if alive(v) {
                (all[kept], of[kept]) = (v, import);
                kept += 1;
            } else if let Some(held) = self.proxies.get_mut(&import).filter(|h| h.proxy == Some(v)) {
                held.proxy = None;
            }
        }
        all.truncate(kept);
        of.truncate(kept);
        self.cells.old = kept;
    }
}
