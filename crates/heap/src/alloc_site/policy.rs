//! How sites are decided on: which optimizations are on, at what ratio a site goes out, and how long what is
//! decided lasts.
//!
//! Invariant: a runtime has one policy from its start to its end; its book and all its tables have copies of it.

/// Which of the two optimizations are on (`KUMI_TLH_SITES`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AllocSiteMode {
    /// None of them.
    None,
    /// Only what the compiler is certain of.
    Static,
    /// That, and what the history of each site tells.
    History,
}

/// How sites are decided on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AllocSitePolicy {
    /// Which optimizations are on.
    pub mode: AllocSiteMode,
    /// A site goes out when one in so many of its cells fails (`KUMI_TLH_RATIO`, 2 to 64; the paper has 4 to 16).
    pub ratio: u64,
    /// The rule that a store into any field marks what is stored (`KUMI_TLH=paper`): then the compiler is
    /// certain of more.
    pub fields: bool,
    /// `KUMI_TLH_STRESS`: instructions are rewritten by chance, and decisions come soon. 0: off.
    pub stress: u64,
    /// Fates known before a site is decided on.
    pub(super) enough: u32,
    /// Ticks of the book (nursery collections) until a site that went out gets its first new trial.
    pub(super) first_trial: u64,
}

impl Default for AllocSitePolicy {
    fn default() -> Self {
        AllocSitePolicy { mode: AllocSiteMode::History, ratio: 4, fields: false, stress: 0, enough: ENOUGH, first_trial: FIRST_TRIAL }
    }
}

impl AllocSitePolicy {
    /// As the environment says.
    pub(crate) fn from_env() -> AllocSitePolicy {
        let mode = match std::env::var("KUMI_TLH_SITES").as_deref().map(str::trim) {
            Ok("none") => AllocSiteMode::None,
            Ok("static") => AllocSiteMode::Static,
            _ => AllocSiteMode::History,
        };
        let rule = std::env::var("KUMI_TLH").unwrap_or_default();
        let mode = if rule.trim() == "off" { AllocSiteMode::None } else { mode };
        // Under stress sites move often.
        let seed = std::env::var("KUMI_TLH_STRESS").ok().map_or(0, |v| v.trim().parse::<u64>().unwrap_or(1).max(1));
        let stress = seed != 0;
        let ratio = std::env::var("KUMI_TLH_RATIO").ok().and_then(|v| v.trim().parse::<u64>().ok());
        let usual = AllocSitePolicy::default();
        AllocSitePolicy {
            mode,
            ratio: ratio.unwrap_or(usual.ratio).clamp(2, 64),
            fields: rule.trim() == "paper",
            stress: seed,
            enough: if stress { 4 } else { ENOUGH },
            first_trial: if stress { 8 } else { FIRST_TRIAL },
        }
    }
}

/// Fates known before a site is decided on.
const ENOUGH: u32 = 128;
/// ... in a new trial of a site that had gone out.
pub(super) const ENOUGH_IN_TRIAL: u32 = 32;
/// Ticks of the book (nursery collections) until a site that went out gets its first new trial.
pub(super) const FIRST_TRIAL: u64 = 1024;
