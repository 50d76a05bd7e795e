//! What collections cost in recordings.

use super::parse::{Event, Recording};
use crate::{Setting, Time};

/// Of the collections of recordings: how many there were, and what they cost, by the processor's time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Costs {
    /// Full ones.
    pub full: u64,
    /// Their time.
    pub full_time: Time,
    /// Young ones.
    pub young: u64,
    /// Their time.
    pub young_time: Time,
    /// A full one with nothing that lives.
    pub fixed: f64,
    /// For each KB that lives.
    pub live_kb: f64,
    /// What lived on average, after full ones.
    pub live: f64,
}

impl Costs {
    /// By the line that is nearest to all full collections: time by what lives.
    pub fn of(recordings: &[Recording]) -> Costs {
        let mut c = Costs::default();
        let mut points: Vec<(f64, f64)> = Vec::new();
        for (_, event) in recordings.iter().flat_map(|r| &r.events) {
            match *event {
                Event::Full(took, _, live) => {
                    c.full += 1;
                    c.full_time = c.full_time.saturating_add(took);
                    points.push((live as f64 / 1024.0, took as f64));
                }
                Event::Young(took, ..) => {
                    c.young += 1;
                    c.young_time = c.young_time.saturating_add(took);
                }
                _ => {}
            }
        }
        let n = points.len().max(1) as f64;
        let mean = |f: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(f).sum::<f64>() / n;
        let (x, y) = (mean(&|p| p.0), mean(&|p| p.1));
        let (xx, xy) = (mean(&|p| (p.0 - x) * (p.0 - x)), mean(&|p| (p.0 - x) * (p.1 - y)));
        // All of about one size say nothing of what size does.
        c.live_kb = if xx > (x * 0.05).powi(2) {
            (xy / xx).clamp(0.0, if x > 0.0 { y / x } else { 0.0 })
        } else if x > 0.0 {
            y / x
        } else {
            0.0
        };
        c.fixed = (y - c.live_kb * x).max(0.0);
        c.live = x * 1024.0;
        c
    }
    /// Collections of this setting cost what they did, where there were any.
    pub fn apply(&self, s: &mut Setting) {
        if self.full > 0 {
            (s.collecting.fixed, s.collecting.live_kb) = (self.fixed as Time, self.live_kb as Time);
        }
        if let Some(each) = self.young_time.checked_div(self.young) {
            s.young.fixed = each;
        }
    }
}
