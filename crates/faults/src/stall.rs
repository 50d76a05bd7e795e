//! Times in which the machine did not do its part: it ran nobody, or its disk kept nothing.

use crate::cluster::now;
use std::fs::File;
use std::io::{Seek, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{sleep, spawn};
use std::time::Duration;

/// How often the clock is looked at, and a byte is given to the disk.
const TURN: Duration = Duration::from_millis(5);
const DISK_TURN: Duration = Duration::from_millis(50);
/// Nanoseconds that are too many for either.
const LATE: u64 = 100_000_000;
const DISK_LATE: u64 = 250_000_000;

/// One of them: nanoseconds from and to, and what did not go on.
pub type Stall = (u64, u64, &'static str);

/// They are watched for until this is dropped.
#[derive(Default)]
pub struct Stalls(Arc<Mutex<Seen>>);

#[derive(Default)]
struct Seen {
    over: bool,
    stalls: Vec<Stall>,
}

fn lock(seen: &Mutex<Seen>) -> MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(|e| e.into_inner())
}

impl Stalls {
    /// `folder`: where a disk is to be watched, too.
    pub fn watch(folder: Option<&Path>) -> std::io::Result<Stalls> {
        let stalls = Stalls::default();
        let seen = stalls.0.clone();
        spawn(move || {
            let mut last = now();
            while !lock(&seen).over {
                sleep(TURN);
                let (before, at) = (last, now());
                if at - before > LATE {
                    lock(&seen).stalls.push((before, at, "the machine"));
                }
                last = at;
            }
        });
        if let Some(folder) = folder {
            let mut file = File::create(folder.join("disk"))?;
            let seen = stalls.0.clone();
            spawn(move || {
                while !lock(&seen).over {
                    let before = now();
                    // A full disk is no stall, and is told of by others.
                    let _ = file.rewind().and_then(|()| file.write_all(b"x")).and_then(|()| file.sync_all());
                    let at = now();
                    if at - before > DISK_LATE {
                        lock(&seen).stalls.push((before, at, "the disk"));
                    }
                    sleep(DISK_TURN);
                }
            });
        }
        Ok(stalls)
    }
    /// Those that were seen since this was asked before.
    pub fn take(&self) -> Vec<Stall> {
        std::mem::take(&mut lock(&self.0).stalls)
    }
}

impl Drop for Stalls {
    fn drop(&mut self) {
        lock(&self.0).over = true;
    }
}
