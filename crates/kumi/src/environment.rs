//! A variable of the environment that the runtime cannot use is named at the start, with what would be accepted.
//!
//! The readers of the variables are elsewhere, some before any text can be shown; they take what is usual for what they
//! cannot read. An empty value counts as none.

use std::path::Path;

/// What a variable may be.
enum Accepts {
    /// A whole number within these bounds.
    Number(u64, u64),
    /// One of these words.
    Words(&'static [&'static str]),
    /// A number of bytes, with K, M or G.
    Bytes,
    Folder,
}

const MOST: u64 = u64::MAX;

/// All variables that can be wrong.
const VARIABLES: &[(&str, Accepts)] = &[
    ("KUMI_WORKERS", Accepts::Number(1, MOST)),
    ("KUMI_SCHED_STRESS", Accepts::Number(0, MOST)),
    ("KUMI_HEAP_MAX", Accepts::Bytes),
    ("KUMI_TLH", Accepts::Words(&["closure", "paper", "off"])),
    ("KUMI_WINDOW", Accepts::Number(8, 256)),
    ("KUMI_YOUNG", Accepts::Number(1, 1024)),
    ("KUMI_TLH_SITES", Accepts::Words(&["none", "static", "history"])),
    ("KUMI_TLH_RATIO", Accepts::Number(2, 64)),
    ("KUMI_GC", Accepts::Words(&["plain", "interruptible", "full"])),
    ("KUMI_GC_THREADS", Accepts::Number(1, MOST)),
    ("KUMI_TLH_STRESS", Accepts::Number(0, MOST)),
    ("KUMI_GC_STRESS", Accepts::Number(0, u32::MAX as u64)),
    ("KUMI_STACK_STRESS", Accepts::Number(0, u32::MAX as u64)),
    ("KUMI_UNASKED", Accepts::Number(0, u32::MAX as u64)),
    ("KUMI_GC_SCHEDULE", Accepts::Words(kumi_schedule::POLICIES)),
    ("KUMI_SEGMENT_LEASE", Accepts::Number(1, 3600)),
    ("KUMI_POOL", Accepts::Number(1, 4096)),
    ("KUMI_PRELUDE", Accepts::Folder),
    ("KUMI_LIB", Accepts::Folder),
    ("RUBY_THREAD_VM_STACK_SIZE", Accepts::Bytes),
    ("RUBY_FIBER_VM_STACK_SIZE", Accepts::Bytes),
    ("RUBY_THREAD_VM_STACK_INITIAL_SIZE", Accepts::Bytes),
];

impl Accepts {
    fn allows(&self, value: &str) -> bool {
        let v = value.trim();
        match self {
            Accepts::Number(least, most) => v.parse::<u64>().is_ok_and(|n| (*least..=*most).contains(&n)),
            Accepts::Words(words) => words.contains(&v),
            Accepts::Bytes => kumi_budget::parse_bytes(v).is_some_and(|n| n > 0),
            Accepts::Folder => Path::new(value).is_dir(),
        }
    }
    /// What is taken for a number that lies outside, as `boot` and the pool do.
    fn nearest(&self, value: &str) -> Option<u64> {
        match self {
            Accepts::Number(least, most) if *most <= 4096 => value.trim().parse().ok().map(|n: u64| n.clamp(*least, *most)),
            _ => None,
        }
    }
    fn text(&self) -> String {
        match self {
            Accepts::Number(least, MOST) => format!("a number, at least {least}"),
            Accepts::Number(least, most) => format!("a number from {least} to {most}"),
            Accepts::Words(words) => words.join(", "),
            Accepts::Bytes => "a number of bytes, such as 512M".into(),
            Accepts::Folder => "a folder that exists".into(),
        }
    }
}

/// A line for each variable whose value cannot be used.
pub fn complaints() -> Vec<String> {
    let wrong = |(name, accepts): &(&str, Accepts)| {
        let value = std::env::var_os(name).filter(|v| !v.is_empty())?;
        let value = value.to_string_lossy();
        (!accepts.allows(&value)).then(|| {
            let instead = accepts.nearest(&value).map_or(String::new(), |n| format!("; {n} is taken"));
            format!("kumi: warning: {name}={value:?} cannot be used; accepted: {}{instead}", accepts.text())
        })
    };
    VARIABLES.iter().filter_map(wrong).collect()
}
