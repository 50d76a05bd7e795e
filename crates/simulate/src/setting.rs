//! The cluster that a program is replayed on.

use crate::Time;

/// What a collection costs: it stops its node for `fixed`, and so long for what lives and for what the heap is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collecting {
    /// Whatever lives.
    pub fixed: Time,
    /// For each KB that lives: marking.
    pub live_kb: Time,
    /// For each KB of the heap: sweeping, where it is not put off to allocation.
    pub heap_kb: Time,
    /// Marking in slices: how long one is.
    pub slice: Time,
    /// A slice that fills idle time ends so long after something has come that can run.
    pub yields: Time,
    /// So many times as much the program has between two, where it has anything to do.
    pub between: Time,
    /// So many hundredths of the time that a collection takes that stops its node.
    pub sliced: u64,
}

/// Collections of what was born since the last, as today's heap has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Young {
    /// So many bytes are born between two at least; twice as many at most, where so much lives. 0: there are full collections only, by the
    /// paper's rule for the heap's size.
    pub space: u64,
    /// One takes so long, whatever lives.
    pub fixed: Time,
    /// For each KB that was born and lives.
    pub live_kb: Time,
}

impl Young {
    /// There are none.
    pub const NONE: Young = Young { space: 0, fixed: 0, live_kb: 0 };
}

/// A cluster. All nodes have one worker, and are alike but for what the trace has them do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// A message is so long on its way, one way, without what nodes do for it.
    pub latency: Time,
    /// Bytes a second that a node sends.
    pub bandwidth: u64,
    /// What the sender's worker does for a message.
    pub send: Time,
    /// What the receiver's worker does.
    pub receive: Time,
    /// What it costs a worker to go to another task.
    pub switch: Time,
    /// A task that comes while another one computes waits for the next of the clock's ticks, which come so often. 0: until that one waits
    /// or ends.
    pub tick: Time,
    /// What a message about collections costs its sender's worker and each receiver's. Links have threads of their own in Kumihimo; the
    /// paper's machine has a network for broadcasts.
    pub control: Time,
    /// Nodes share so many cores, as processes of one machine do. 0: each has one of its own.
    pub cores: u32,
    /// How often a core that others wait for goes to another one.
    pub share: Time,
    /// A heap's size at the beginning.
    pub heap: u64,
    /// It may not grow beyond this.
    pub limit: u64,
    /// How long a collection takes.
    pub collecting: Collecting,
    /// Young collections.
    pub young: Young,
    /// A replay that takes longer, in the cluster's time, is given up.
    pub longest: Time,
}

const US: Time = 1000;
const MS: Time = 1000 * US;

impl Setting {
    /// The paper's machine (4.1): 16 MB a node, a round trip of 40 µs, 25 MB/s. *Ours*, since the paper does not have them: 5 µs of the
    /// 20 µs one way are the sender's and 5 the receiver's, a switch takes 100 of its 50 MHz processor's cycles, marking takes 6 cycles
    /// a byte (8 MB/s).
    pub fn ap1000() -> Setting {
        Setting {
            latency: 10 * US,
            bandwidth: 25_000_000,
            send: 5 * US,
            receive: 5 * US,
            switch: 2 * US,
            tick: 0,
            control: US,
            cores: 0,
            share: 4 * MS,
            heap: 3 << 20,
            limit: 16 << 20,
            collecting: Collecting { fixed: MS, live_kb: 120 * US, heap_kb: 0, slice: MS, yields: 50 * US, between: 10, sliced: 120 },
            young: Young::NONE,
            longest: 3_600_000 * MS,
        }
    }
    /// Processes on one machine of today's, as Kumihimo's links are: 27 µs a round trip, marking 1 GB/s.
    pub fn local() -> Setting {
        Setting {
            latency: 8_500,
            bandwidth: 2_000_000_000,
            send: 2_500,
            receive: 2_500,
            switch: 200,
            tick: 2 * MS,
            control: 500,
            cores: 0,
            share: 4 * MS,
            heap: 64 << 20,
            limit: 4 << 30,
            collecting: Collecting { fixed: 500 * US, live_kb: US, heap_kb: 0, slice: MS / 4, yields: 10 * US, between: 10, sliced: 120 },
            young: Young::NONE,
            longest: 3_600_000 * MS,
        }
    }
    /// A cluster of today's that replays a recording: what messages and switches cost the processor is in that, so only what the system and
    /// waking take is added. *Measured*: see `bench/schedules`.
    pub fn recorded() -> Setting {
        Setting { latency: 20 * US, send: 0, receive: 0, switch: 0, ..Setting::local() }
    }
    /// The same cluster, where collections take no time. What a program takes there is the bound that no schedule of collections gets below.
    pub fn without_collections(&self) -> Setting {
        let collecting = Collecting { fixed: 0, live_kb: 0, heap_kb: 0, ..self.collecting };
        Setting { collecting, young: Young { fixed: 0, live_kb: 0, ..self.young }, ..*self }
    }
    /// How long marking takes in slices, all of them.
    pub fn marking(&self, live: u64, size: u64) -> Time {
        (self.collection(live, size) as u128 * self.collecting.sliced.max(1) as u128 / 100).clamp(1, Time::MAX as u128) as Time
    }
    /// How long a young collection takes where so many bytes of those that were born live.
    pub fn young_collection(&self, live: u64) -> Time {
        let marking = (live as u128 * self.young.live_kb as u128 / 1024).min(Time::MAX as u128) as Time;
        self.young.fixed.saturating_add(marking).max(1)
    }
    /// How long a collection takes.
    pub fn collection(&self, live: u64, size: u64) -> Time {
        let c = &self.collecting;
        let of = |bytes: u64, cost: Time| (bytes as u128 * cost as u128 / 1024).min(Time::MAX as u128) as Time;
        c.fixed.saturating_add(of(live, c.live_kb)).saturating_add(of(size, c.heap_kb)).max(1)
    }
    /// How long so many bytes take to leave a node.
    pub fn transfer(&self, bytes: u64) -> Time {
        (bytes as u128 * 1_000_000_000 / self.bandwidth.max(1) as u128).min(Time::MAX as u128) as Time
    }
}
