//! Every program of a folder prints what stands beside it, in each mode of the runtime.
//!
//! The modes: the collector idle, or at seeded safepoints. Nurseries that retire and objects that are published by chance, with the
//! heap verified at each collection. Each publishing rule. Stacks that move wherever they could grow. Allocations traced. The Ruby
//! twins of natives.

mod common;
use common::{Modes, check_all, seed};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(240);

fn collector(n: u32) -> Modes {
    vec![("KUMI_GC_STRESS", n.to_string())]
}
fn stack(n: u32) -> Modes {
    vec![("KUMI_STACK_STRESS", n.to_string())]
}

#[test]
fn programs_print_what_is_recorded() {
    check_all(&["lang", "system", "stack"], &vec![], Duration::from_secs(60));
}

#[test]
fn the_library_in_a_folder_works_as_the_one_in_the_binary() {
    let lib = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lib/");
    let program = "require 'json'; require 'timeout'; p JSON.parse('[1]'), (Timeout.timeout(0.01) { sleep 9 } rescue $!.class)";
    let out = std::process::Command::new(env!("CARGO_BIN_EXE_kumi")).args(["-e", program]).env("KUMI_LIB", lib).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&out.stdout), "[1]\nTimeout::Error\n", "{}", String::from_utf8_lossy(&out.stderr));
}

#[test]
fn the_library_is_loaded_without_a_word() {
    let lib = concat!(env!("CARGO_MANIFEST_DIR"), "/../../lib");
    let program = format!(
        "Dir.children({lib:?}).each {{ |name| require name.delete_suffix('.rb') if name.end_with?('.rb') }}; require 'kumihimo/xml'"
    );
    for switch in ["-W1", "-w"] {
        let out = std::process::Command::new(env!("CARGO_BIN_EXE_kumi")).args([switch, "-e", &program]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&out.stderr), "", "{switch}");
        assert!(out.status.success());
    }
}

#[test]
fn programs_print_the_same_under_collector_stress() {
    check_all(&["lang", "kernel", "system"], &collector(seed(97)), LIMIT);
}

#[test]
fn the_kernel_suite_holds_with_a_collection_at_every_safepoint() {
    check_all(&["kernel"], &collector(1), LIMIT);
}

#[test]
fn programs_print_the_same_while_stacks_move_at_every_call() {
    check_all(&["lang", "kernel", "system"], &stack(1), LIMIT);
    check_all(&["stack"], &stack(seed(5)), LIMIT);
}

fn nurseries(n: u32) -> Modes {
    vec![("KUMI_TLH_STRESS", n.to_string())]
}

#[test]
fn programs_print_the_same_while_nurseries_retire_and_objects_are_published_by_chance() {
    check_all(&["lang", "kernel", "system", "stack"], &nurseries(seed(7)), LIMIT);
}

#[test]
fn programs_print_the_same_under_every_publishing_rule() {
    let mut paper = nurseries(seed(23));
    paper.push(("KUMI_TLH", "paper".into()));
    check_all(&["lang", "kernel", "system"], &paper, LIMIT);
    check_all(&["lang", "kernel"], &vec![("KUMI_TLH", "off".into())], LIMIT);
}

/// In test builds each charge is asked for the place it comes from (`Heap::charged`), and here it is noted too.
#[test]
fn programs_print_the_same_while_allocations_are_traced() {
    let traced = vec![("RUBYOPT", "--profile=alloc --profile-out=/dev/null".to_string())];
    check_all(&["lang", "kernel", "system", "stack"], &traced, LIMIT);
}

/// Natives with a Ruby twin answer as the twin does: a program cannot tell which of the two ran.
#[test]
fn programs_print_the_same_when_twins_run() {
    check_all(&["lang", "kernel"], &vec![("KUMI_TWIN_STRESS", "1".to_string())], LIMIT);
}
