//! How a program begins to take part.

use crate::part::Part;
use kumi_schedule::{Mode, Policy};
use kumi_vm::*;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// What the natives of one runtime share: the part, and whether full collections went in slices before.
#[derive(Default)]
pub struct State(Mutex<Option<Arc<Part>>>, AtomicBool);

/// This node's part, if it has one.
pub fn part(cx: &mut Cx) -> Option<Arc<Part>> {
    cx.shared_state::<State>().0.lock().clone().filter(|p| !p.is_over())
}

/// `__gc_schedule_start(name of a policy, strict)`: this program is a node, and collects by that from now on. false: no policy is called
/// so, which is an error where that is to be strict.
fn start(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let name = String::from_utf8_lossy(cx.arg_str(a, 0)?.bytes()).into_owned();
    let Some(policy) = Policy::named(&name) else {
        if !a[1].truthy() {
            return Ok(Value::FALSE);
        }
        let names = kumi_schedule::POLICIES.join(", ");
        return Err(cx.arg_error(&format!("no schedule of collections is called {name:?}; there are {names}")));
    };
    let node = kumi_core_segments::node(cx)?;
    if part(cx).is_some_and(|p| p.node().is_some_and(|n| Arc::ptr_eq(&n, &node))) {
        return Err(cx.runtime_error("this node has a schedule of collections already"));
    }
    let heap = cx.heap.shared().clone();
    cx.shared_state::<State>().1.store(heap.is_interruptible(), Relaxed);
    heap.set_interruptible(heap.is_interruptible() || policy.slices(Mode::Synchronised));
    let part = Part::new(&node, cx.collector(), policy);
    *cx.shared_state::<State>().0.lock() = Some(part.clone());
    cx.set_schedule(Some(part));
    Ok(Value::TRUE)
}
/// `__gc_schedule_stop()`: it does so no more.
fn stop(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let part = cx.shared_state::<State>().0.lock().take();
    if let Some(part) = part {
        part.end();
        cx.set_schedule(None);
        let before = cx.shared_state::<State>().1.load(Relaxed);
        cx.heap.shared().set_interruptible(before);
    }
    Ok(Value::NIL)
}
/// `__gc_awaits(on)`: the program waits for other nodes, in whatever threads, or does so no more.
fn awaits(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    cx.awaits_nodes(a[0].truthy());
    Ok(Value::NIL)
}

/// A fork's child is no node.
pub fn boot(cx: &mut Cx) {
    cx.boot().fork_hooks.push(|cx| {
        if let Some(s) = cx.state_seen::<State>() {
            // Its locks may be held by threads that are not there.
            std::mem::forget(s.0.lock().take());
        }
    });
}

pub static TABLE: &[NativeDef] =
    &[crate::leaf("__gc_schedule_start", 2, start), crate::leaf("__gc_schedule_stop", 0, stop), crate::leaf("__gc_awaits", 1, awaits)];
