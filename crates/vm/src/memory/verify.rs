//! The heap verifier over a runtime: whose roots are whose, and what is said when a rule is broken.
//!
//! It runs in the stress modes (`KUMI_GC_STRESS`, `KUMI_TLH_STRESS`) after nursery and node collections, and before
//! some of the latter: after each of them while the heap is small, less often where a look takes long, so that it takes a
//! steady part of the time. `KUMI_VERIFY=0` leaves it out there; `KUMI_VERIFY=1` puts it in anywhere.
//!
//! The tasks of the thread that a worker runs are that worker's roots; everything else is the runtime's.

use crate::Cx;
use crate::cx::runtime::Runtime;
use crate::memory::apart::Stage;
use crate::memory::roots::show_pending;
use crate::tasks::task::TaskPtr;
use crate::tasks::task::TaskRef;
use crate::tasks::task::recent;
use kumi_heap::{Heap, Look, Marker, Moment, Value, Visitor, verify};
use std::fmt::Write;

/// Counts what it is shown.
struct Count(usize);

impl Visitor for Count {
    fn visit(&mut self, _: Value) {
        self.0 += 1;
    }
}

/// Does this process verify its heap?
pub(crate) fn wished(stress: bool) -> bool {
    match std::env::var("KUMI_VERIFY") {
        Ok(v) => v.trim() != "0" && !v.trim().is_empty(),
        Err(_) => stress,
    }
}

impl Cx {
    /// Verifies all heaps; ends the process when a rule is broken. The world is stopped.
    pub(crate) fn verify_heap(&mut self, moment: Moment, when: &str) {
        let rt = self.runtime();
        // SAFETY: the world is stopped: no other worker touches its context until this is over.
        let mut heaps: Vec<&mut Heap> = rt.workers.iter().map(|w| unsafe { &mut (*w.cx).heap }).collect();
        // Numbers of the threads that run, by worker.
        // SAFETY: as above.
        let running: Vec<(TaskPtr, TaskPtr)> = rt.workers.iter().map(|w| unsafe { ((*w.cx).task, (*w.cx).root) }).collect();
        let look = |v: Value| {
            let Some((t, _)) = v.as_data::<TaskRef>().and_then(|r| r.own.as_ref()) else { return Look::default() };
            let of = running.iter().position(|(task, root)| task.id != 0 && root.id == t.root());
            let runs = running.iter().any(|(task, _)| task == t);
            Look {
                shown: runs || t.recent & recent::TOUCHED != 0 || Runtime::is_kept(*t, false),
                of,
                nursery: runs || t.recent & recent::LISTED != 0,
                task: true,
            }
        };
        let runs_its_thread = |t: &TaskPtr| running.iter().any(|(task, root)| task.id != 0 && root.id == t.root());
        let mut roots = |m: &mut Marker| rt.shared_roots(&runs_its_thread, &mut |_, show| show(m));
        let mut own = |i: usize, m: &mut Marker| {
            let (task, root) = running[i];
            // SAFETY: as above.
            let cx = unsafe { &*rt.workers[i].cx };
            show_pending(&cx.pending, &cx.switch_to, m);
            if task.id == 0 {
                return;
            }
            task.trace(m);
            rt.tasks.each(|t| {
                if t.root() == root.id && t != task && (Runtime::is_kept(t, false) || t.recent & recent::LISTED != 0) {
                    t.trace(m);
                }
            });
        };
        if let Err(text) = verify(&mut heaps, &mut roots, &mut own, moment, &look) {
            let mut tables = String::new();
            let mut at = 0;
            rt.shared_roots(&runs_its_thread, &mut |name, show| {
                let mut n = Count(0);
                show(&mut Marker::new(&mut n));
                if n.0 > 0 {
                    let _ = write!(tables, " {name} {at}..{};", at + n.0);
                    at += n.0;
                }
            });
            eprintln!("kumi: the heap is broken {when} (worker {}):\n{text}\nthe runtime's roots are:{tables}", self.worker);
            std::process::exit(70);
        }
    }
}

impl Runtime {
    /// The roots that belong to no running thread.
    fn shared_roots(&self, runs_its_thread: &dyn Fn(&TaskPtr) -> bool, f: &mut dyn FnMut(&str, &mut dyn FnMut(&mut Marker))) {
        self.table_roots(f);
        f("objects held outside", &mut |m| {
            self.mark_apart(Stage::All, m);
        });
        self.tasks.each(|t| {
            if Runtime::is_kept(t, false) && !runs_its_thread(&t) {
                f(&format!("task {}", t.id), &mut |m| t.trace(m));
            }
        });
    }
}
