//! How much a producer parses before it hands over: buffer sizes by measured time, and whether an input is fast
//! (it keeps a worker busy) or slow (it would leave one idle).
//!
//! A [`Pacer`] is the state of one producer's policy. It is told when parsing begins and stops, with the time of
//! an injected clock, and knows nothing else; so every decision can be tested without sleeping.
//!
//! Terms. A *filling* is the work from the moment the buffer is empty until the policy's number of rows was
//! produced, in one go or with waits in between. An *idle* time is one in which the source had nothing and no row
//! was in hand, so that the consumer had to park.

pub(crate) mod admission;

use std::time::{Duration, Instant};

/// Which policy a producer follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// A small buffer of fixed size (the paper's DD\[small-buf\], section 2.3).
    Small,
    /// A large buffer of fixed size (the paper's DD\[large-buf\], section 2.3).
    Large,
    /// A buffer of so many rows.
    Rows(u32),
    /// The paper's section 3: every input starts fast; 10 ms of filling when fast, 5 ms when slow; fast ones take
    /// FIFO admission; reclassified both ways.
    Paper,
    /// Ours: first results with the first bytes, buffers that fit a core's cache, idle cores parse ahead.
    #[default]
    Adaptive,
}

/// Whether an input keeps a worker busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speed {
    /// Parsing is what takes the time.
    Fast,
    /// The wire is what takes the time.
    Slow,
}

/// Rows of [`Policy::Small`]. The paper gives no number; ten is what its iterators check at once (section 4.2).
pub const SMALL_ROWS: usize = 10;
/// Rows of [`Policy::Large`]: about the filling time at which the paper's large buffers lose their first results.
pub const LARGE_ROWS: usize = 1000;

/// Filling time of a fast input's buffer (section 3.2).
pub const PAPER_FAST_FILL: Duration = Duration::from_millis(10);
/// Filling time of a slow input's buffer (section 3.2).
pub const PAPER_SLOW_FILL: Duration = Duration::from_millis(5);
/// Rows of the first filling, before anything was measured.
pub const PAPER_FIRST_ROWS: usize = 64;
/// A buffer grows or shrinks by at most this factor at one measurement, so that one odd filling can't ruin it.
pub const PAPER_STEP: usize = 4;
/// Every so many fillings are measured again ("at regular intervals", section 3.2); one, because a clock read per
/// filling costs nothing.
pub const PAPER_REMEASURE: u32 = 1;

/// How long a slow input is watched before it may become fast again.
pub const WATCH: Duration = Duration::from_millis(50);
/// A slow input becomes fast when it was idle for less than one part in so many of [`WATCH`].
pub const IDLE_PARTS: u32 = 10;

/// Rows of the first filling of [`Policy::Adaptive`]; it doubles until the time or the size below is reached.
pub const ADAPTIVE_FIRST_ROWS: usize = 8;
/// Parsing time of a full buffer of [`Policy::Adaptive`]: far below what a person or an operator notices.
pub const ADAPTIVE_FILL: Duration = Duration::from_millis(1);
/// Packed bytes of a full buffer of [`Policy::Adaptive`]: stays in a core's second-level cache beside the input.
pub const ADAPTIVE_BYTES: usize = 256 << 10;
/// Batches that an idle core may prepare while one is being consumed (double buffering).
pub const AHEAD_BATCHES: usize = 2;

/// Packed bytes that no batch of any policy passes, whatever the number of rows.
pub const MAX_BYTES: usize = 16 << 20;
/// Rows that no batch of any policy passes.
pub const MAX_ROWS: usize = 1 << 20;

/// Bytes asked of a source at first and later: small pieces bring the first row sooner.
pub const FIRST_READ: usize = 16 << 10;
/// See [`FIRST_READ`].
pub const NEXT_READ: usize = 64 << 10;

/// A slow socket wakes its reader once for what arrives in this time (SO_RCVLOWAT), not for every packet.
pub const LOW_WATER_TIME: Duration = Duration::from_millis(1);
/// ... but never later than this after the reader parked, so that latency stays bounded.
pub const LOW_WATER_WAIT: Duration = Duration::from_millis(2);
/// Rows after which a socket's wakings are made rarer: the first results come with the first bytes.
pub const LOW_WATER_AFTER: u64 = 1024;
/// A low-water mark below this is not worth a system call.
pub const LOW_WATER_LEAST: usize = 4 << 10;
/// A socket's low-water mark never passes this: receive buffers are larger.
pub const LOW_WATER_MOST: usize = 64 << 10;

/// Why parsing stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The batch is as large as [`Pacer::limit`] said.
    Full,
    /// The source has nothing now; this many rows were in hand (`rows` of [`Pacer::stop`]).
    Waits,
    /// Time is up, or the source has nothing but nobody waits for it.
    Pause,
    /// The document's end, or a failure.
    End,
}

struct Filling {
    since: Instant,
    rows: usize,
    /// Time spent parsing, waits and the consumer's own work left out.
    worked: Duration,
}

struct Watch {
    since: Instant,
    idle: Duration,
    received: u64,
}

/// The policy's state for one producer.
pub struct Pacer {
    policy: Policy,
    speed: Speed,
    /// Rows of a full buffer.
    rows: usize,
    filling: Option<Filling>,
    /// The source had nothing since then, and no row was in hand.
    idle_since: Option<Instant>,
    watch: Option<Watch>,
    total_rows: u64,
    fillings: u32,
    to_slow: u64,
    to_fast: u64,
    /// Bytes a second, measured over the last watch.
    arrival: f64,
    resumed: Option<Instant>,
}

impl Pacer {
    /// The state before anything was read: every input starts fast.
    pub fn new(policy: Policy) -> Pacer {
        let rows = match policy {
            Policy::Small => SMALL_ROWS,
            Policy::Large => LARGE_ROWS,
            Policy::Rows(n) => (n as usize).clamp(1, MAX_ROWS),
            Policy::Paper => PAPER_FIRST_ROWS,
            Policy::Adaptive => ADAPTIVE_FIRST_ROWS,
        };
        Pacer {
            policy,
            speed: Speed::Fast,
            rows,
            filling: None,
            idle_since: None,
            watch: None,
            total_rows: 0,
            fillings: 0,
            to_slow: 0,
            to_fast: 0,
            arrival: 0.0,
            resumed: None,
        }
    }

    /// What the input is taken for now.
    pub fn speed(&self) -> Speed {
        self.speed
    }

    /// Rows of a full buffer now.
    pub fn buffer_rows(&self) -> usize {
        self.rows
    }

    /// How often the input was taken for slow, and for fast again.
    pub fn switches(&self) -> (u64, u64) {
        (self.to_slow, self.to_fast)
    }

    /// Rows and packed bytes that the next batch may have.
    pub fn limit(&self) -> (usize, usize) {
        let done = self.filling.as_ref().map_or(0, |f| f.rows);
        let bytes = if self.policy == Policy::Adaptive { ADAPTIVE_BYTES } else { MAX_BYTES };
        (self.rows.saturating_sub(done).max(1), bytes)
    }

    /// Whether parsing needs one of the admission that fast inputs take.
    pub(crate) fn wants_turn(&self) -> bool {
        self.policy == Policy::Paper && self.speed == Speed::Fast
    }

    /// How many batches an idle core may prepare.
    pub fn ahead(&self) -> usize {
        if self.policy == Policy::Adaptive && self.speed == Speed::Fast && self.rows > 4 * ADAPTIVE_FIRST_ROWS { AHEAD_BATCHES } else { 0 }
    }

    /// The socket's low-water mark and the longest wait for it, when wakings should be made rarer.
    pub fn low_water(&self) -> Option<(usize, Duration)> {
        if self.policy != Policy::Adaptive || self.speed != Speed::Slow || self.total_rows < LOW_WATER_AFTER {
            return None;
        }
        let bytes = (self.arrival * LOW_WATER_TIME.as_secs_f64()) as usize;
        (bytes >= LOW_WATER_LEAST).then(|| (bytes.min(LOW_WATER_MOST), LOW_WATER_WAIT))
    }

    /// Parsing begins or goes on at `now`.
    pub fn start(&mut self, now: Instant) {
        let watch = self.watch.get_or_insert(Watch { since: now, idle: Duration::ZERO, received: 0 });
        if let Some(since) = self.idle_since.take() {
            watch.idle += now.saturating_duration_since(since);
        }
        self.filling.get_or_insert(Filling { since: now, rows: 0, worked: Duration::ZERO });
        self.resumed = Some(now);
    }

    /// Parsing stopped at `now` after `rows` more rows, for which `received` bytes were read.
    pub fn stop(&mut self, now: Instant, rows: usize, received: u64, stop: Stop) {
        self.total_rows = self.total_rows.saturating_add(rows as u64);
        let worked = self.resumed.take().map_or(Duration::ZERO, |since| now.saturating_duration_since(since));
        if let Some(filling) = &mut self.filling {
            filling.rows = filling.rows.saturating_add(rows);
            filling.worked += worked;
        }
        if let Some(watch) = &mut self.watch {
            watch.received = watch.received.saturating_add(received);
        }
        match stop {
            Stop::Waits => {
                if rows == 0 {
                    self.idle_since = Some(now);
                }
                if self.speed == Speed::Fast && (self.policy == Policy::Paper || rows == 0) {
                    self.become_slow(now);
                }
                if self.filling.as_ref().is_some_and(|f| f.rows >= self.rows) {
                    self.filled(now, false);
                }
            }
            Stop::Full => self.filled(now, true),
            Stop::Pause => {}
            Stop::End => self.filling = None,
        }
        self.judge(now);
    }

    fn become_slow(&mut self, now: Instant) {
        self.speed = Speed::Slow;
        self.to_slow += 1;
        self.watch = Some(Watch { since: now, idle: Duration::ZERO, received: 0 });
        if self.policy == Policy::Paper {
            // Half of the time: until the next measurement, half of the rows.
            self.rows = (self.rows / 2).max(1);
        }
    }

    /// A buffer was filled: its size is set by the time that took.
    fn filled(&mut self, now: Instant, full: bool) {
        let Some(filling) = self.filling.take() else { return };
        self.fillings = self.fillings.wrapping_add(1);
        match self.policy {
            Policy::Paper if self.fillings.is_multiple_of(PAPER_REMEASURE) => {
                let target = if self.speed == Speed::Fast { PAPER_FAST_FILL } else { PAPER_SLOW_FILL };
                let took = now.saturating_duration_since(filling.since);
                self.rows = scaled(filling.rows, target, took, self.rows / PAPER_STEP, self.rows * PAPER_STEP);
            }
            Policy::Adaptive if full => {
                self.rows = scaled(filling.rows, ADAPTIVE_FILL, filling.worked, self.rows / 2, self.rows * 2);
            }
            _ => {}
        }
    }

    /// A slow input that left nobody idle for a while is fast again.
    fn judge(&mut self, now: Instant) {
        let Some(watch) = &self.watch else { return };
        let length = now.saturating_duration_since(watch.since);
        if length < WATCH {
            return;
        }
        self.arrival = watch.received as f64 / length.as_secs_f64();
        let idle = watch.idle + self.idle_since.map_or(Duration::ZERO, |since| now.saturating_duration_since(since));
        if self.speed == Speed::Slow && self.idle_since.is_none() && idle * IDLE_PARTS < length {
            self.speed = Speed::Fast;
            self.to_fast += 1;
        }
        self.watch = Some(Watch { since: now, idle: Duration::ZERO, received: 0 });
    }
}

/// So many rows as take `target`, when `rows` took `took`.
fn scaled(rows: usize, target: Duration, took: Duration, least: usize, most: usize) -> usize {
    let took = took.as_nanos().max(1);
    let fit = (rows as u128 * target.as_nanos() / took).min(MAX_ROWS as u128) as usize;
    fit.clamp(least.max(1), most.clamp(1, MAX_ROWS).max(least.max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// Fills buffers of which every row takes `row`, for `times` fillings.
    fn fill(pacer: &mut Pacer, now: &mut Instant, row: Duration, times: usize) {
        for _ in 0..times {
            let (rows, _) = pacer.limit();
            pacer.start(*now);
            *now += row * rows as u32;
            pacer.stop(*now, rows, rows as u64 * 500, Stop::Full);
        }
    }

    /// Rows that arrive one at a time, `gap` apart, each parsed in no time.
    fn trickle(pacer: &mut Pacer, now: &mut Instant, gap: Duration, rows: usize) {
        for _ in 0..rows {
            pacer.start(*now);
            pacer.stop(*now, 0, 0, Stop::Waits);
            *now += gap;
            pacer.start(*now);
            pacer.stop(*now, 1, 500, Stop::Waits);
        }
    }

    #[test]
    fn paper_buffers_take_ten_milliseconds_when_fast() {
        let (mut pacer, mut now) = (Pacer::new(Policy::Paper), Instant::now());
        assert!(pacer.wants_turn());
        fill(&mut pacer, &mut now, Duration::from_micros(20), 8);
        assert_eq!(pacer.buffer_rows(), 500);
        fill(&mut pacer, &mut now, Duration::from_micros(100), 8);
        assert_eq!(pacer.buffer_rows(), 100);
        assert_eq!(pacer.speed(), Speed::Fast);
    }

    #[test]
    fn paper_buffers_take_five_milliseconds_when_slow() {
        let (mut pacer, mut now) = (Pacer::new(Policy::Paper), Instant::now());
        trickle(&mut pacer, &mut now, Duration::from_micros(500), 400);
        assert_eq!(pacer.speed(), Speed::Slow);
        assert!(!pacer.wants_turn());
        assert!((9..=11).contains(&pacer.buffer_rows()), "{}", pacer.buffer_rows());
    }

    #[test]
    fn an_input_is_reclassified_both_ways() {
        for policy in [Policy::Paper, Policy::Adaptive] {
            let (mut pacer, mut now) = (Pacer::new(policy), Instant::now());
            fill(&mut pacer, &mut now, Duration::from_micros(10), 20);
            assert_eq!(pacer.speed(), Speed::Fast);
            trickle(&mut pacer, &mut now, MS, 100);
            assert_eq!(pacer.speed(), Speed::Slow, "{policy:?}");
            assert_eq!(pacer.switches(), (1, 0));
            let until = now + 3 * WATCH;
            while now < until {
                fill(&mut pacer, &mut now, Duration::from_micros(10), 1);
            }
            assert_eq!(pacer.speed(), Speed::Fast, "{policy:?}");
            assert_eq!(pacer.switches(), (1, 1));
            trickle(&mut pacer, &mut now, MS, 1);
            assert_eq!(pacer.switches(), (2, 1));
        }
    }

    #[test]
    fn a_slow_input_that_is_hardly_idle_becomes_fast() {
        let (mut pacer, mut now) = (Pacer::new(Policy::Paper), Instant::now());
        trickle(&mut pacer, &mut now, MS, 10);
        let until = now + 3 * WATCH;
        while now < until {
            fill(&mut pacer, &mut now, Duration::from_micros(100), 20);
            pacer.start(now);
            pacer.stop(now, 0, 0, Stop::Waits);
            now += Duration::from_micros(50);
        }
        assert!(pacer.switches().1 >= 1, "it waits again and again, but hardly");
    }

    #[test]
    fn adaptive_starts_small_and_grows_to_its_time() {
        let (mut pacer, mut now) = (Pacer::new(Policy::Adaptive), Instant::now());
        assert_eq!(pacer.limit().0, ADAPTIVE_FIRST_ROWS);
        assert_eq!(pacer.ahead(), 0);
        fill(&mut pacer, &mut now, Duration::from_micros(1), 1);
        assert_eq!(pacer.limit().0, 2 * ADAPTIVE_FIRST_ROWS);
        fill(&mut pacer, &mut now, Duration::from_micros(1), 20);
        assert_eq!(pacer.limit().0, 1000);
        assert_eq!(pacer.ahead(), AHEAD_BATCHES);
    }

    #[test]
    fn wakings_are_made_rarer_when_slow_and_warm() {
        let (mut pacer, mut now) = (Pacer::new(Policy::Adaptive), Instant::now());
        trickle(&mut pacer, &mut now, Duration::from_micros(50), 100);
        assert_eq!(pacer.low_water(), None);
        trickle(&mut pacer, &mut now, Duration::from_micros(50), 3000);
        let (bytes, wait) = pacer.low_water().expect("ten megabytes a second");
        assert!((9_000..=11_000).contains(&bytes), "{bytes}");
        assert_eq!(wait, LOW_WATER_WAIT);
    }

    #[test]
    fn fixed_buffers_stay() {
        for (policy, rows) in [(Policy::Small, SMALL_ROWS), (Policy::Large, LARGE_ROWS), (Policy::Rows(7), 7)] {
            let (mut pacer, mut now) = (Pacer::new(policy), Instant::now());
            fill(&mut pacer, &mut now, MS, 5);
            trickle(&mut pacer, &mut now, MS, 2);
            assert_eq!(pacer.buffer_rows(), rows);
            assert!(!pacer.wants_turn());
        }
    }

    #[test]
    fn absurd_times_give_bounded_buffers() {
        let (mut pacer, mut now) = (Pacer::new(Policy::Paper), Instant::now());
        fill(&mut pacer, &mut now, Duration::ZERO, 40);
        assert_eq!(pacer.buffer_rows(), MAX_ROWS);
        fill(&mut pacer, &mut now, Duration::from_secs(1), 40);
        assert_eq!(pacer.buffer_rows(), 1);
    }
}
