//! Making a runtime: classes first, then natives, then the prelude.

use crate::Cx;
use crate::cx::runtime::Runtime;
use crate::doors::*;
use crate::world::Known;
use crate::world::method::{Body, Method};
use kumi_budget::Account;
use kumi_heap::*;
use std::sync::Arc;

impl Cx {
    /// A runtime with its classes, but without natives and prelude.
    pub fn new(options: crate::Options) -> Box<Cx> {
        let limits = crate::memory::machine::limit(options.heap_max);
        let account = Account::new(limits.map_or(usize::MAX, |l| l.0), limits.map_or(usize::MAX, |l| l.1));
        let _charged = account.charge();
        let rt = Arc::new(Runtime::empty(random_seed(), options, account));
        let mut cx = Cx::worker(rt, Heap::configured(heap_config()), 0);
        cx.register();
        cx.first_task();
        // The classes take the place of pointers that nothing has followed yet.
        let known = Known::boot(&mut cx);
        *cx.boot().k = known;
        cx.boot_singletons();
        let (object, kernel) = (cx.k.object, cx.k.kernel);
        cx.include_module(object, kernel);
        let main = cx.heap.object(object);
        cx.heap.publish(main);
        cx.boot().main_object = main;
        for table in crate::natives::TABLES.iter().chain(crate::tasks::sched::TABLES) {
            cx.natives(table);
        }
        cx.natives(crate::memory::TABLE);
        cx.specials();
        cx.hook_globals();
        // KUMI_GC_STRESS=1: a collection at every safepoint; k: at every k-th.
        if let Some(k) = std::env::var("KUMI_GC_STRESS").ok().and_then(|v| v.trim().parse::<u32>().ok()) {
            cx.gc_stress = if k <= 256 { k } else { 1 + k % 256 };
            cx.heap.poll.store(k > 0, std::sync::atomic::Ordering::Relaxed);
        }
        let how = std::env::var("KUMI_GC").unwrap_or_default();
        if cx.options.interruptible.unwrap_or(how.trim() == "interruptible") {
            cx.heap.shared().set_interruptible(true);
        }
        cx.heap.shared().set_full_only(how.trim() == "full");
        if cx.gc_stress > 0 {
            cx.heap.shared().stress_slices(cx.gc_stress as u64);
        }
        cx.verifies = crate::memory::verify::wished(cx.gc_stress > 0 || std::env::var_os("KUMI_TLH_STRESS").is_some());
        if let Some(n) = cx.options.gc_threads {
            cx.heap.shared().set_gc_threads(n);
        }
        if let Some((max, bound)) = crate::memory::machine::most() {
            kumi_budget::set_limit(max, bound);
            kumi_budget::set_group(crate::memory::machine::group_limit().unwrap_or(0));
        }
        if let Some((max, _)) = limits {
            cx.heap.shared().set_max(max);
            cx.stack_sizes.limit_memory(max);
            cx.boot().stack_sizes.limit_memory(max);
        }
        let top = cx.new_cref(object.val(), Value::NIL, CrefObj::NO_METHOD, CrefObj::PRIVATE).val();
        cx.boot().top_cref = top;
        cx
    }

    /// A place for code: see [`CrefObj`].
    pub(crate) fn new_cref(&mut self, module: Value, parent: Value, method: u32, vis: u16) -> Gc<CrefObj> {
        let mut hdr = Header::new(Value::FALSE, Kind::Cref);
        hdr.aux.put(method);
        hdr.x.put(vis);
        let refinements = parent.cell::<CrefObj>().map_or(Value::NIL, |p| p.refinements);
        self.heap.cref(CrefObj { hdr, module, parent, refinements, definee: Value::NIL })
    }

    /// Registers a native table.
    pub fn natives(&mut self, table: &'static [NativeDef]) {
        for d in table {
            if d.class.is_empty() {
                let i = self.intrinsics.len() as u16;
                self.boot().intrinsics.push((d.name, d.f, d.guard.unwrap_or(Guard::World)));
                self.boot().intrinsic_ids.insert(d.name, i);
                continue;
            }
            let (path, single) = match d.class.strip_suffix('.') {
                Some(p) => (p, true),
                None => (d.class, false),
            };
            let Some(c) = self.own_path(path).and_then(|v| v.as_class()) else {
                debug_assert!(false, "native table names unknown class {path}");
                continue;
            };
            let owner = if single { self.singleton_class(c.val()).unwrap_or(c) } else { c };
            let name = self.intern(d.name);
            self.add_native(owner, name, d);
        }
    }
    fn add_native(&mut self, owner: Gc<ClassObj>, name: Sym, d: &NativeDef) {
        let m = Method {
            native: Some(d.f),
            guard: d.guard.unwrap_or_else(|| Guard::of(d.class)),
            min: d.min,
            max: d.max,
            vis: d.vis,
            builtin: true,
            ..Method::new(owner, name, Body::Native)
        };
        let Some(i) = self.new_method(m) else { return };
        if self.heap.edit(owner).data.methods.insert(name, i).is_none() {
            self.heap.edit(owner).data.method_order.push(name);
        }
    }
}

/// A seed for hashes that input cannot guess.
fn random_seed() -> u64 {
    let mut b = [0; 8];
    kumi_num::random::os_bytes(&mut b);
    u64::from_le_bytes(b)
}

/// How the heap is to work: `KUMI_TLH`, `KUMI_WINDOW` (KB), `KUMI_YOUNG` (MB), `KUMI_TLH_STRESS` (a seed).
fn heap_config() -> HeapConfig {
    let var = |name| std::env::var(name).ok();
    let number = |name| var(name).and_then(|v| v.trim().parse::<u64>().ok());
    let d = HeapConfig::default();
    HeapConfig {
        rule: match var("KUMI_TLH").as_deref().map(str::trim) {
            Some("off") => Rule::Off,
            Some("paper") => Rule::Paper,
            _ => Rule::Closure,
        },
        nursery: number("KUMI_WINDOW").map_or(d.nursery, |kb| (kb.clamp(8, 256) as usize) << 10),
        young: number("KUMI_YOUNG").map_or(d.young, |mb| {
            let fixed = (mb.clamp(1, 1024) as usize) << 20;
            (fixed, fixed)
        }),
        stress: number("KUMI_TLH_STRESS").map_or(0, |seed| seed.wrapping_mul(2).wrapping_add(1)),
    }
}
