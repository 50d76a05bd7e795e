//! A process that forks while pool threads parse ahead: parent and child go on reading what was open, each for itself.

mod common;
use common::*;

use std::sync::Arc;
use std::time::{Duration, Instant};

use kumi_flow::{Policy, Registry};
use kumi_source::{Source, Spec};

/// Waits for a child: how it ended, unless well. One that does not end is killed.
fn ended_badly(child: libc::pid_t) -> Option<String> {
    let until = Instant::now() + Duration::from_secs(30);
    let mut status = 0;
    loop {
        // SAFETY: `status` is writable; the child is this test's.
        match unsafe { libc::waitpid(child, &mut status, libc::WNOHANG) } {
            0 if Instant::now() < until => std::thread::sleep(Duration::from_millis(1)),
            0 => {
                // SAFETY: the child has not been waited for, so the number is still its own.
                unsafe { libc::kill(child, libc::SIGKILL) };
                return Some("it did not end".into());
            }
            _ if libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0 => return None,
            _ if libc::WIFSIGNALED(status) => return Some(format!("signal {}", libc::WTERMSIG(status))),
            _ => return Some(format!("wait status {status}")),
        }
    }
}

#[test]
fn documents_are_at_rest_while_the_process_forks() {
    const ROWS: usize = 30_000;
    let path = std::env::temp_dir().join(format!("kumi-flow-{}-forks.xml", std::process::id()));
    std::fs::write(&path, rows_document(ROWS)).unwrap();
    let registry = Registry::new(Some(Arc::new(|job| {
        std::thread::spawn(job);
        true
    })));
    for round in 0..20 {
        let source = Source::open(Spec::Path(path.clone()), kumi_source::Options::default()).unwrap();
        let document = open(&registry, source, rows_schema(), Policy::Adaptive);
        let mut cursor = list_of(&document).cursor(true).unwrap();
        drop(document);
        let read = 500 + round * 311;
        for i in 0..read {
            assert_eq!(next(&mut cursor).unwrap(), Some(i.to_string()));
        }
        // SAFETY: the child reads its document and ends, without returning to the test's other threads' affairs.
        registry.before_fork();
        // SAFETY: as above.
        let child = unsafe { libc::fork() };
        if child == 0 {
            registry.in_child()
        } else {
            registry.after_fork()
        }
        let rest = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| all(&mut cursor) == numbers("", read..ROWS)));
        let right = matches!(rest, Ok(true));
        if child == 0 {
            // SAFETY: ends the child at once.
            unsafe { libc::_exit(i32::from(!right)) };
        }
        assert!(right, "round {round}: the parent");
        assert_eq!(ended_badly(child), None, "round {round}: the child");
    }
    std::fs::remove_file(&path).unwrap();
}
