//! Hostile programs end in Ruby exceptions: every program in tests/bad_input prints what is
//! recorded beside it. Never a signal, never an internal error.

#[allow(dead_code)]
mod common;
use common::{Job, check, programs};
use std::time::Duration;

#[test]
fn hostile_programs_end_in_exceptions() {
    let modes = vec![("KUMI_HEAP_MAX", "512M".to_string())];
    let jobs: Vec<Job> = programs("bad_input").into_iter().map(|program| Job { program, modes: modes.clone() }).collect();
    check(&jobs, Duration::from_secs(240));
}
