//! Profiles of allocation and of the heap, by Ruby line and by class, as text and as JSON.
//!
//! The heap samples where the loop is while it allocates, and counts the fates of cells born in nurseries by site
//! (`kumi_heap::{sample, site}`); here code addresses become lines. What the runtime's own library allocates counts
//! for the line that called it, with the library method's name beside it.
//!
//! Invariant: a profile is read at a stop, so that no worker counts meanwhile; reading it takes the samples away.

use crate::Cx;
use crate::cx::runtime::lock;
use kumi_bytecode::ISeq;
use kumi_heap::{AllocSiteKey, Birth, Fates, Heap, Strategy, Value, memory_of, show_bytes};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

/// One line of an allocation profile.
#[derive(Clone, Debug, Default)]
struct AllocLine {
    path: String,
    /// 0: not known.
    line: u32,
    method: String,
    /// The library method that allocated on this line's behalf; empty: the line itself.
    via: String,
    /// Cells and buffers: as sampled, and at least what is known of its cells.
    bytes: u64,
    samples: u64,
    /// What became of cells born in nurseries, as far as it is known.
    fates: Fates,
    /// Cells born outside by their site's strategy.
    out: u64,
    /// Instructions of the line by strategy: in nurseries, outside, not decided.
    sites: [u32; 3],
}

impl AllocLine {
    fn objects(&self) -> u64 {
        self.fates.all() + self.out
    }
}

/// An allocation profile: lines, the most bytes first.
#[derive(Clone, Debug, Default)]
pub struct AllocProfile {
    lines: Vec<AllocLine>,
}

/// Live objects of a class.
#[derive(Clone, Debug)]
struct ClassLine {
    class: String,
    objects: u64,
    bytes: u64,
}

/// Live objects that were allocated on a line, estimated from samples.
#[derive(Clone, Debug, Default)]
pub struct LiveLine {
    /// File, as `__FILE__` has it; `(runtime)` where it is not known.
    pub path: String,
    /// 0: not known.
    pub line: u32,
    /// Label of the code, as backtraces have it.
    pub method: String,
    /// The library method that allocated on this line's behalf; empty: the line itself.
    via: String,
    objects: u64,
    bytes: u64,
}

/// What lives, by class and by the line that allocated it, the most bytes first.
#[derive(Clone, Debug, Default)]
pub struct HeapProfile {
    classes: Vec<ClassLine>,
    lines: Vec<LiveLine>,
}

/// A line of a program, as profiles name it: path, line, method, library method that acts for it.
type Place = (String, u32, String, String);

/// Where code lies, for finding it by address.
struct Codes(Vec<(usize, Arc<ISeq>)>);

impl Codes {
    fn new(all: &[Arc<ISeq>]) -> Codes {
        let mut v: Vec<_> = all.iter().map(|q| (q.code.as_ptr() as usize, q.clone())).collect();
        v.sort_unstable_by_key(|c| c.0);
        Codes(v)
    }
    /// The code with the instruction that the loop was in when it had saved `at`, the address behind it, and its line.
    fn find(&self, at: u64) -> Option<(&ISeq, u32)> {
        // Behind the last instruction stands the next code's first.
        let at = (at as usize).checked_sub(8)?;
        let i = self.0.partition_point(|c| c.0 <= at).checked_sub(1)?;
        let (start, q) = &self.0[i];
        let pc = (at - start) / 8;
        (pc < q.code.len()).then(|| (&**q, q.line_at(pc as u32)))
    }
    /// The line of a site.
    fn place(&self, site: AllocSiteKey) -> Place {
        let named = |at: u64| self.find(at).map(|(q, line)| (q.path.to_string(), line, label(q)));
        let (mut place, mut via) = (named(site.at), String::new());
        if site.caller != 0 {
            via = place.map_or_else(String::new, |p| p.2);
            place = named(site.caller);
        }
        let (path, line, method) = place.unwrap_or_else(|| ("(runtime)".into(), 0, String::new()));
        (path, line, method, via)
    }
}

/// `block in foo`, as backtraces have it.
fn label(q: &ISeq) -> String {
    match q.block_depth {
        0 => q.label.to_string(),
        1 => format!("block in {}", q.label),
        n => format!("block ({n} levels) in {}", q.label),
    }
}

impl Cx {
    /// Makes a profile of allocation from now on. Before a second thread is started.
    pub fn start_alloc_profile(&mut self) {
        self.heap.start_profile();
    }
    /// The profile so far.
    pub fn alloc_profile(&mut self) -> AllocProfile {
        let mut sites: HashMap<(u64, u64), AllocLine> = HashMap::new();
        let entry = |k: AllocSiteKey| (k.at, k.caller);
        while self
            .stop_world(|cx| {
                cx.heaps(|h| {
                    for (k, s) in h.take_samples() {
                        let e = sites.entry(entry(k)).or_default();
                        e.bytes += s.bytes;
                        e.samples += s.samples;
                    }
                    let shared = h.shared().clone();
                    h.site_table().flush(shared.book());
                });
            })
            .is_none()
        {}
        for r in self.heap.site_book().report() {
            let e = sites.entry(entry(r.key)).or_default();
            e.bytes = e.bytes.max(r.fates.bytes + r.out_bytes);
            e.fates.add(&r.fates);
            e.out += r.out;
            let strategy = match r.strategy {
                Some(Strategy::Nursery) => 0,
                Some(Strategy::Out) => 1,
                None => 2,
            };
            e.sites[strategy] += 1;
        }
        let codes = Codes::new(&lock(&self.codes));
        let mut by_line: HashMap<Place, AllocLine> = HashMap::new();
        for ((at, caller), s) in sites {
            let (path, line, method, via) = codes.place(AllocSiteKey { at, caller, of: 0 });
            let e = by_line.entry((path.clone(), line, method.clone(), via.clone())).or_insert_with(|| AllocLine {
                path,
                line,
                method,
                via,
                ..AllocLine::default()
            });
            e.bytes += s.bytes;
            e.samples += s.samples;
            e.fates.add(&s.fates);
            e.out += s.out;
            e.sites.iter_mut().zip(s.sites).for_each(|(a, b)| *a += b);
        }
        let mut lines: Vec<AllocLine> = by_line.into_values().filter(|l| l.bytes > 0).collect();
        lines.sort_unstable_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| (&a.path, a.line, &a.via).cmp(&(&b.path, b.line, &b.via))));
        AllocProfile { lines }
    }
    /// What lives now, by class, and by line where an allocation profile was made; call after a full collection.
    pub fn heap_profile(&mut self) -> HeapProfile {
        let mut by: HashMap<u64, (u64, u64)> = HashMap::new();
        self.each_cell(|v| {
            let mut class = v.header().map_or(Value::NIL, |h| h.class());
            while let Some(c) = class.as_class().filter(|c| c.is_singleton()) {
                class = c.data.superclass.map_or(Value::NIL, |s| s.val());
            }
            let e = by.entry(class.bits()).or_default();
            e.0 += 1;
            e.1 += memory_of(v) as u64;
        });
        let mut classes: Vec<ClassLine> = Vec::with_capacity(by.len());
        for (bits, (objects, bytes)) in by {
            let class = Value::from_bits(bits).as_class();
            let class = class.map_or_else(|| "(internal)".into(), |c| self.class_name(c));
            classes.push(ClassLine { class, objects, bytes });
        }
        classes.sort_unstable_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.class.cmp(&b.class)));

        // A sample stands for as many cells of its size as fit into what it counts for.
        let mut sites: HashMap<(u64, u64), (f64, f64)> = HashMap::new();
        let mut see = |v: Value, n: usize, b: &Birth| {
            let e = sites.entry((b.site.at, b.site.caller)).or_default();
            let (memory, weight) = (memory_of(v) as f64, b.weight as f64);
            // What has grown beyond what the sample counts for stands for itself alone.
            let cells = if memory > weight { 1.0 } else { (weight / n.max(1) as f64).max(1.0) };
            e.0 += cells;
            e.1 += cells * memory;
        };
        while self
            .stop_world(|cx| {
                cx.heaps(|h| h.each_birth(&mut see));
                cx.heap.shared().each_birth(&mut see);
            })
            .is_none()
        {}
        let codes = Codes::new(&lock(&self.codes));
        let mut by_line: HashMap<Place, (f64, f64)> = HashMap::new();
        for ((at, caller), (objects, bytes)) in sites {
            let e = by_line.entry(codes.place(AllocSiteKey { at, caller, of: 0 })).or_default();
            e.0 += objects;
            e.1 += bytes;
        }
        // Together the lines have no more than there is.
        let most = classes.iter().fold((0.0, 0.0), |(o, b), c| (o + c.objects as f64, b + c.bytes as f64));
        let sum = by_line.values().fold((0.0, 0.0), |s, e| (s.0 + e.0, s.1 + e.1));
        let share = |most: f64, sum: f64| if sum > most { most / sum } else { 1.0 };
        let (fewer, less) = (share(most.0, sum.0), share(most.1, sum.1));
        for e in by_line.values_mut() {
            *e = (e.0 * fewer, e.1 * less);
        }
        let named = by_line.into_iter().map(|((path, line, method, via), (objects, bytes))| LiveLine {
            path,
            line,
            method,
            via,
            objects: objects.round() as u64,
            bytes: bytes.round() as u64,
        });
        let mut lines: Vec<LiveLine> = named.collect();
        lines.sort_unstable_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| (&a.path, a.line, &a.via).cmp(&(&b.path, b.line, &b.via))));
        HeapProfile { classes, lines }
    }
    /// Calls `f` with the heap of each worker. The world is stopped.
    fn heaps(&mut self, mut f: impl FnMut(&mut Heap)) {
        for w in &self.workers {
            // SAFETY: the world is stopped: no other worker touches its context until this is over.
            f(unsafe { &mut (*w.cx).heap });
        }
    }

    // --- single objects ----------------------------------------------------------

    /// From now on it is known of every object where it was allocated, or no longer; what is known stays so. Not
    /// under a guard.
    pub fn trace_births(&mut self, on: bool) {
        while self.stop_world(|cx| cx.heaps(|h| h.trace_births(on))).is_none() {}
    }
    /// Forgets what [`trace_births`](Self::trace_births) has told.
    pub fn forget_births(&mut self) {
        while self.stop_world(|cx| cx.heaps(|h| h.forget_births())).is_none() {}
    }
    /// The line that allocated an object, and how many node collections there had been; `None` when it is not known.
    pub fn birth_line(&mut self, v: Value) -> Option<(LiveLine, u64)> {
        let birth = loop {
            let found = self.stop_world(|cx| {
                let mut found = None;
                cx.heaps(|h| found = found.or_else(|| h.birth_of(v)));
                found
            });
            if let Some(f) = found {
                break f?;
            }
        };
        let (path, line, method, via) = Codes::new(&lock(&self.codes)).place(birth.site);
        Some((LiveLine { path, line, method, via, ..LiveLine::default() }, birth.generation))
    }
}

/// `n` of `of` in per cent; nothing when there are none.
fn percent(n: u64, of: u64) -> String {
    if of == 0 { "-".into() } else { format!("{:.1}%", n as f64 * 100.0 / of as f64) }
}

/// A text as a JSON string.
fn json(t: &str) -> String {
    let mut s = String::from("\"");
    for c in t.chars() {
        match c {
            '"' | '\\' => s.extend(['\\', c]),
            c if (c as u32) < 0x20 => {
                let _ = write!(s, "\\u{:04x}", c as u32);
            }
            c => s.push(c),
        }
    }
    s.push('"');
    s
}

impl AllocProfile {
    /// A table of the first `top` lines.
    pub fn text(&self, top: usize) -> String {
        let bytes: u64 = self.lines.iter().map(|l| l.bytes).sum();
        let objects: u64 = self.lines.iter().map(AllocLine::objects).sum();
        let mut s = format!(
            "kumi allocation profile: {} at {} lines (bytes are sampled; objects are those whose fate is known: {objects})\n",
            show_bytes(bytes),
            self.lines.len()
        );
        let _ = writeln!(
            s,
            "{:>10} {:>6} {:>10} {:>7} {:>9} {:>7} {:>7}  line",
            "bytes", "share", "objects", "freed", "published", "retired", "shared"
        );
        for l in self.lines.iter().take(top) {
            let all = l.objects();
            let _ = write!(
                s,
                "{:>10} {:>6} {:>10} {:>7} {:>9} {:>7} {:>7}  {}",
                show_bytes(l.bytes),
                percent(l.bytes, bytes),
                if all == 0 { "-".into() } else { all.to_string() },
                percent(l.fates.freed, all),
                percent(l.fates.published, all),
                percent(l.fates.retired, all),
                percent(l.out, all),
                l.path
            );
            end_of_line(&mut s, l.line, &l.method, &l.via);
        }
        s
    }
    /// All lines as one JSON object.
    pub fn json(&self) -> String {
        let mut s = String::from("{\"profile\":\"alloc\",\"lines\":[");
        for (i, l) in self.lines.iter().enumerate() {
            let _ = write!(
                s,
                "{}\n{{\"path\":{},\"line\":{},\"method\":{},\"via\":{},\"bytes\":{},\"samples\":{},\"objects\":{},\"freed\":{},\"published\":{},\"retired\":{},\"shared\":{},\"sites\":{{\"window\":{},\"shared\":{},\"open\":{}}}}}",
                if i > 0 { "," } else { "" },
                json(&l.path),
                l.line,
                json(&l.method),
                json(&l.via),
                l.bytes,
                l.samples,
                l.objects(),
                l.fates.freed,
                l.fates.published,
                l.fates.retired,
                l.out,
                l.sites[0],
                l.sites[1],
                l.sites[2]
            );
        }
        s.push_str("\n]}\n");
        s
    }
}

impl HeapProfile {
    /// A table of the first `top` classes, and one of as many lines.
    pub fn text(&self, top: usize) -> String {
        let bytes: u64 = self.classes.iter().map(|l| l.bytes).sum();
        let objects: u64 = self.classes.iter().map(|l| l.objects).sum();
        let mut s = format!("kumi heap profile: {} in {objects} objects of {} classes\n", show_bytes(bytes), self.classes.len());
        let _ = writeln!(s, "{:>10} {:>6} {:>10}  class", "bytes", "share", "objects");
        for l in self.classes.iter().take(top) {
            let _ = writeln!(s, "{:>10} {:>6} {:>10}  {}", show_bytes(l.bytes), percent(l.bytes, bytes), l.objects, l.class);
        }
        if !self.lines.is_empty() {
            let _ = writeln!(s, "{:>10} {:>6} {:>10}  line (estimated from samples)", "bytes", "share", "objects");
        }
        for l in self.lines.iter().take(top) {
            let _ = write!(s, "{:>10} {:>6} {:>10}  {}", show_bytes(l.bytes), percent(l.bytes, bytes), l.objects, l.path);
            end_of_line(&mut s, l.line, &l.method, &l.via);
        }
        s
    }
    /// All classes and lines as one JSON object.
    pub fn json(&self) -> String {
        let mut s = String::from("{\"profile\":\"heap\",\"classes\":[");
        for (i, l) in self.classes.iter().enumerate() {
            let comma = if i > 0 { "," } else { "" };
            let _ = write!(s, "{comma}\n{{\"class\":{},\"objects\":{},\"bytes\":{}}}", json(&l.class), l.objects, l.bytes);
        }
        s.push_str("\n],\"lines\":[");
        for (i, l) in self.lines.iter().enumerate() {
            let _ = write!(
                s,
                "{}\n{{\"path\":{},\"line\":{},\"method\":{},\"via\":{},\"objects\":{},\"bytes\":{}}}",
                if i > 0 { "," } else { "" },
                json(&l.path),
                l.line,
                json(&l.method),
                json(&l.via),
                l.objects,
                l.bytes
            );
        }
        s.push_str("\n]}\n");
        s
    }
}

/// What stands behind a line's path: its number and method, the library method that allocated for it.
fn end_of_line(s: &mut String, line: u32, method: &str, via: &str) {
    if line > 0 {
        let _ = write!(s, ":{line} in {method}");
    }
    if !via.is_empty() {
        let _ = write!(s, " (by {via})");
    }
    s.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_and_json() {
        let l = AllocLine {
            path: "a \"b\".rb".into(),
            line: 3,
            method: "block in f".into(),
            via: "map".into(),
            bytes: 3 << 20,
            samples: 3,
            fates: Fates { freed: 3, published: 1, ..Fates::default() },
            ..AllocLine::default()
        };
        let p = AllocProfile { lines: vec![l] };
        assert!(p.text(30).lines().nth(2).is_some_and(|l| l.ends_with("a \"b\".rb:3 in block in f (by map)") && l.contains("75.0%")));
        assert!(p.text(0).lines().count() == 2 && p.json().contains("\"path\":\"a \\\"b\\\".rb\",\"line\":3"));
        assert_eq!(AllocProfile::default().json(), "{\"profile\":\"alloc\",\"lines\":[\n]}\n");
    }
}
