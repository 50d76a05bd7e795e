//! How code segments are started: which inputs they have, and where their values go.
//!
//! **Invariant.** A class's plan stands once it was started. Neither is kept alive here: a class has its plan, and the plan its
//! class. It is looked up without the manager's lock.

use crate::keys::named;
use crate::leaf;
use crate::state::made;
use crate::wait::kind;
use kumi_segments::Kind;
use kumi_vm::*;
use parking_lot::RwLock;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

pub static TABLE: &[NativeDef] = &[leaf("__seg_plan", 5, plan), leaf("__seg_plan_keys", 1, keys)];

/// How classes start their objects, by their bits.
#[derive(Default)]
pub struct Plans(RwLock<FxHashMap<u64, Value>>);

impl Plans {
    #[inline]
    pub fn of(&self, class: Value) -> Option<Value> {
        self.0.read().get(&class.bits()).copied()
    }
    /// Forgets the plans of classes that are no more.
    pub fn sift(&self, alive: &dyn Fn(Value) -> bool) {
        self.0.write().retain(|_, plan| alive(*plan));
    }
}

/// How the objects of a class are started: inputs, and the instance variables that show their values.
pub struct Plan {
    /// Of a class, which lives as long as its plan does.
    class: Value,
    /// Key, kind, index to look behind.
    pub inputs: SmallVec<[(Value, Kind, Option<u64>); 1]>,
    pub names: SmallVec<[Sym; 2]>,
}
impl Payload for Plan {
    fn trace(&self, m: &mut Marker) {
        m.mark(self.class);
        self.inputs.iter().for_each(|i| m.mark(i.0));
        self.names.iter().for_each(|y| m.mark(Value::sym(*y)));
    }
    fn shares(&self) -> bool {
        true
    }
}

/// `__seg_plan_keys(plan)`: [[key, index to look behind], ..]
fn keys(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let Some(p) = a[0].as_data::<Plan>() else { return Ok(Value::NIL) };
    let mut all = Vec::new();
    for (key, _, after) in &p.inputs {
        let pair = [*key, after.map_or(Value::NIL, |i| cx.uint(i))];
        all.push(cx.array(&pair));
    }
    Ok(cx.array(&all))
}

/// `__seg_plan(names, keys, kinds, afters, class)`: of a class, or of an object alone (nil).
fn plan(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let made = made(cx)?;
    let list = |i: usize| crate::list(a[i]);
    let (names, keys, kinds, afters) = (list(0), list(1), list(2), list(3));
    let mut p = Plan { class: a[4], inputs: SmallVec::new(), names: SmallVec::new() };
    for (i, key) in keys.iter().enumerate() {
        let n = named(cx, made, *key)?;
        let at = |l: &[Value]| l.get(i).copied().unwrap_or(Value::NIL);
        p.inputs.push((n.cell, kind(at(&kinds)), at(&afters).as_fix().and_then(|x| u64::try_from(x).ok())));
        if let Some(y) = at(&names).as_sym() {
            p.names.push(y);
        }
    }
    let mut cells: Vec<Value> = p.inputs.iter().map(|i| i.0).collect();
    cells.push(a[4]);
    let v = cx.data(cx.k.object, p);
    cx.heap.before_store_all(v, &cells);
    if a[4].is_heap() {
        cx.heap.publish(v);
        made.plans.0.write().insert(a[4].bits(), v);
    }
    Ok(v)
}
