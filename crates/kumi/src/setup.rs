//! A runtime put together: natives, prelude, library, constants that name the version.

use kumi_vm::{Cx, Options};

/// What the runtime says it is.
pub struct Identity;

impl Identity {
    /// The language.
    pub const RUBY_VERSION: &str = "4.0.0";
    pub const RELEASE_DATE: &str = "2025-12-25";
    pub const PATCHLEVEL: i64 = 0;
    pub const REVISION: &str = env!("CARGO_PKG_VERSION");
    pub const ENGINE: &str = "kumi";
    pub const ENGINE_VERSION: &str = env!("CARGO_PKG_VERSION");
    pub const COPYRIGHT: &str = "kumi - Copyright (C) the Kumihimo authors";

    /// `x86_64-linux`
    pub fn platform() -> String {
        let os = match std::env::consts::OS {
            "macos" => "darwin",
            o => o,
        };
        format!("{}-{os}", std::env::consts::ARCH)
    }
    /// What this build's stacks are, where that is not the default.
    const LAYOUT: &str = match cfg!(feature = "fixed-stack") {
        false => "",
        true => "\nfixed-stack: stacks never grow; only for measuring, overflow crashes",
    };
    pub fn description() -> String {
        format!(
            "kumi {} ({}) like ruby {} [{}]{}",
            Self::ENGINE_VERSION,
            Self::RELEASE_DATE,
            Self::RUBY_VERSION,
            Self::platform(),
            Self::LAYOUT
        )
    }
}

/// Freed memory goes back to the system when the runtime says so. The allocator would do it by itself within an allocation:
/// up to 25 ms in which that worker passes no safepoint.
fn give_back_by_hand(cx: &mut Cx) {
    /// `mi_option_purge_delay` of mimalloc 2 and 3, in milliseconds.
    const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;
    /// A day; it is multiplied by ten at most, and must not be more than 32 bits hold.
    const DAY: i32 = 86_400_000;
    // SAFETY: sets a number in a table; any time is right for it.
    unsafe { libmimalloc_sys::mi_option_set(PURGE_DELAY, DAY as _) };
    // SAFETY: the allocator may be told so at any time, on any thread.
    cx.give_back_with(|| unsafe { libmimalloc_sys::mi_collect(true) }, Some(crate::allocator::freed_in_large));
}

/// A runtime with all built-in classes, before any program text.
///
/// # Errors
/// The prelude does not load: a message for the person who edits it. Or signals are asked for, which another runtime has.
pub fn assemble(options: Options) -> Result<Box<Cx>, String> {
    let dir = crate::run::library_dir();
    let library = if dir == kumi_vm::library::LIB_DIR { String::new() } else { dir };
    let signals = options.signals;
    let mut cx = Cx::new(Options { library, ..options });
    give_back_by_hand(&mut cx);
    kumi_core_kernel::register(&mut cx);
    kumi_core_concurrency::register(&mut cx);
    kumi_core_numeric::register(&mut cx);
    kumi_core_string::register(&mut cx);
    kumi_core_collection::register(&mut cx);
    kumi_core_system::register(&mut cx);
    if signals && !cx.has_signals() {
        return Err("another runtime of this process has its signals".into());
    }
    kumi_core_library::register(&mut cx);
    kumi_core_net::register(&mut cx);
    kumi_core_stream::register(&mut cx);
    kumi_core_segments::register(&mut cx);
    kumi_core_remote::register(&mut cx);
    kumi_core_schedule::register(&mut cx);
    cx.natives(crate::repl::TABLE);
    name_version(&mut cx);
    let (object, name, binding) = (cx.k.object, cx.intern("TOPLEVEL_BINDING"), cx.toplevel_binding());
    cx.set_const(object, name, binding);
    cx.embed_library(crate::LIBRARY);
    cx.embed_prelude(crate::PRELUDE);
    // What has registered is not needed beside what loads.
    kumi_vm::memory_limits::forget_startup();
    cx.load_prelude().map_err(|e| format!("the prelude does not load: {e}"))?;
    kumi_core_kernel::share_module_functions(&mut cx);
    Ok(cx)
}

fn name_version(cx: &mut Cx) {
    let object = cx.k.object;
    for (name, text) in [
        ("RUBY_VERSION", Identity::RUBY_VERSION.to_string()),
        ("RUBY_RELEASE_DATE", Identity::RELEASE_DATE.to_string()),
        ("RUBY_PLATFORM", Identity::platform()),
        ("RUBY_REVISION", Identity::REVISION.to_string()),
        ("RUBY_ENGINE", Identity::ENGINE.to_string()),
        ("RUBY_ENGINE_VERSION", Identity::ENGINE_VERSION.to_string()),
        ("RUBY_COPYRIGHT", Identity::COPYRIGHT.to_string()),
        ("RUBY_DESCRIPTION", Identity::description()),
    ] {
        let v = cx.str_ascii(&text);
        if let Some(h) = v.header() {
            h.set(kumi_heap::flag::FROZEN);
        }
        let s = cx.intern(name);
        cx.set_const(object, s, v);
    }
    let s = cx.intern("RUBY_PATCHLEVEL");
    cx.set_const(object, s, kumi_heap::Value::fix(Identity::PATCHLEVEL));
    // Ruby::VERSION and its like name the same objects.
    let ruby = cx.define_module(object, "Ruby");
    for name in ["VERSION", "RELEASE_DATE", "PLATFORM", "PATCHLEVEL", "REVISION", "ENGINE", "ENGINE_VERSION", "COPYRIGHT", "DESCRIPTION"] {
        let to = cx.intern(name);
        let Ok(from) = cx.sym_of(format!("RUBY_{name}").as_bytes()) else { continue };
        if let Some(v) = object.data.consts.get(&from).map(|k| k.value) {
            cx.set_const(ruby, to, v);
        }
    }
}
