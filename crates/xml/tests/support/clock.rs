//! How long a test has worked itself. What others do with the processors meanwhile does not count.

use std::time::{Duration, Instant};

/// How many times as long everything may take: an emulator says so.
pub fn slowness() -> u64 {
    std::env::var("KUMI_TEST_SLOW").ok().and_then(|n| n.parse().ok()).unwrap_or(1)
}

/// Runs from when it was made, on the thread that made it.
pub struct Clock {
    since: Instant,
    worked: Option<Duration>,
}

impl Clock {
    pub fn start() -> Clock {
        Clock { since: Instant::now(), worked: worked() }
    }

    /// Processor time of this thread since then. Where the system does not tell it: the time.
    pub fn spent(&self) -> Duration {
        match (self.worked, worked()) {
            (Some(before), Some(after)) if after > Duration::ZERO => after.saturating_sub(before),
            _ => self.since.elapsed(),
        }
    }

    /// Is less spent than so many seconds, or as many times that as everything may take?
    pub fn is_within(&self, seconds: u64) -> bool {
        self.spent() < Duration::from_secs(seconds * slowness())
    }
}

/// Processor time of this thread, some milliseconds late.
fn worked() -> Option<Duration> {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    told.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}
