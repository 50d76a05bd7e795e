//! The collector's log and the profiles that the command line asks for.

use crate::options::{GcLog, Profile, Settings};
use kumi_vm::{Cx, Level};
use std::fs::File;
use std::io::Write;

/// Begins what is asked for, before the program.
///
/// # Errors
/// A file that cannot be written, as a message.
pub fn begin(cx: &mut Cx, s: &Settings) -> Result<(), String> {
    let variable = || std::env::var("KUMI_GC_LOG").ok().filter(|t| !t.is_empty()).map(|t| (t, "KUMI_GC_LOG"));
    let wanted = s.gc_log.clone().map(|t| (t, "--gc-log")).or_else(variable);
    if let Some((log, said_by)) = wanted.and_then(|(t, by)| Some((GcLog::parse(&t)?, by))) {
        let file = match &log.file {
            Some(f) => Some(File::options().append(true).create(true).open(f).map_err(|e| format!("{f}: {e} ({said_by})"))?),
            None => None,
        };
        let level = if log.nurseries { Level::All } else { Level::Nodes };
        cx.heap.shared().stats.log.open(level, file);
    }
    // Told now, not when the program has run for an hour.
    if let Some(f) = &s.profile_out {
        if s.profile.is_none() {
            return Err("--profile-out goes with --profile=alloc or --profile=heap".into());
        }
        File::create(f).map_err(|e| format!("{f}: {e} (--profile-out)"))?;
    }
    if s.profile.is_some() {
        cx.start_alloc_profile();
    }
    Ok(())
}

/// Shows what was asked for, after the program.
pub fn end(cx: &mut Cx, s: &Settings) {
    let json = s.profile_out.as_ref().is_some_and(|f| f.ends_with(".json"));
    let text = match s.profile {
        None => None,
        Some(Profile::Alloc) => {
            let p = cx.alloc_profile();
            Some(if json { p.json() } else { p.text(s.profile_top) })
        }
        Some(Profile::Heap) => {
            // Only what still lives: a collection that fails is no reason to show nothing.
            let _ = cx.eval_system(b"GC.start", "<internal:command>", 1);
            let p = cx.heap_profile();
            Some(if json { p.json() } else { p.text(s.profile_top) })
        }
    };
    cx.heap.shared().stats.log.flush();
    match (text, &s.profile_out) {
        (Some(t), Some(f)) => {
            if let Err(e) = std::fs::write(f, t) {
                crate::say::err(format_args!("kumi: {f}: {e} (--profile-out)"));
            }
        }
        (Some(t), None) => drop(std::io::stderr().lock().write_all(t.as_bytes())),
        (None, _) => {}
    }
}
