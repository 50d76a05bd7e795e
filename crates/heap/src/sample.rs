//! A sampling profile of allocation: where the loop is when another few kilobytes have been allocated.
//!
//! Invariant: nothing of it is on an allocation's fast path. While a profile is made a worker takes small
//! pieces of random length (8 KB on average) from the budget in place of large ones, and each time one is used up
//! the whole of it counts for the running site: cells and the buffers that hang on them alike. A site's
//! bytes are therefore right on average, and to about `1 / sqrt(samples)` of their value.

use crate::Heap;
use crate::site::SiteKey;
use rustc_hash::FxHashMap;

/// Shortest piece, and by how much at most a piece is longer: odd, so that no loop's period fits.
const SHORT: u64 = 4099;
const SPREAD: u64 = 8191;

/// What was sampled at a site.
#[derive(Clone, Copy, Default, Debug)]
pub struct Sampled {
    pub bytes: u64,
    pub samples: u64,
}

/// One worker's samples.
#[derive(Default)]
pub(crate) struct Sampler {
    sites: FxHashMap<SiteKey, Sampled>,
    dice: u64,
}

impl Sampler {
    /// Length of the next piece.
    pub(crate) fn piece(&mut self) -> isize {
        self.dice = self.dice.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (SHORT + (self.dice >> 33) % SPREAD) as isize
    }
}

impl Heap {
    /// Makes a profile of allocation from now on: samples, and the fates of all cells that are born in windows.
    /// Heaps made from this one by [`sibling`](Heap::sibling) do the same.
    pub fn start_profile(&mut self) {
        if self.sampler.is_none() {
            self.sampler = Some(Box::default());
            let long = (self.budget - SHORT as isize).max(0);
            self.budget -= long;
            self.piece -= long;
        }
        self.site_table().set_profile(true);
    }
    /// So many bytes were allocated since the last sample.
    #[cold]
    pub(crate) fn sample(&mut self, bytes: u64) {
        let key = self.running_site();
        if let Some(s) = &mut self.sampler {
            let e = s.sites.entry(key).or_default();
            e.bytes += bytes;
            e.samples += 1;
        }
    }
    /// The samples so far, at a stop.
    pub fn take_samples(&mut self) -> Vec<(SiteKey, Sampled)> {
        self.sampler.as_mut().map_or_else(Vec::new, |s| s.sites.drain().collect())
    }
}
