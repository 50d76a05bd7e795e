//! How many workers this machine is worth: its cores, or what the control group grants.

use crate::control_group::{ControlGroup, control_groups};

/// `KUMI_WORKERS`, else the cores this process may run on or its quota of them rounded up, whichever is less; at least 1.
pub fn default_workers() -> usize {
    if let Some(n) = std::env::var("KUMI_WORKERS").ok().and_then(|s| s.trim().parse::<usize>().ok()).filter(|&n| n > 0) {
        return n.min(1024);
    }
    cores().min(quota().unwrap_or(usize::MAX)).clamp(1, 1024)
}

#[cfg(target_os = "linux")]
fn cores() -> usize {
    // The standard library's count has the quota in it already, rounded down.
    // SAFETY: zeroes are a value of `cpu_set_t`; the call writes at most the size that it is given.
    let n = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        match libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set) {
            0 => libc::CPU_COUNT(&set),
            _ => 0,
        }
    };
    if n > 0 { n as usize } else { std::thread::available_parallelism().map_or(1, |n| n.get()) }
}

#[cfg(not(target_os = "linux"))]
fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}

/// The strictest quota on the way from this process's group to the root.
fn quota() -> Option<usize> {
    let own = |g: &ControlGroup| {
        if g.unified {
            return parse_max(&g.read("cpu.max")?);
        }
        parse_max(&format!("{} {}", g.read("cpu.cfs_quota_us")?, g.read("cpu.cfs_period_us")?))
    };
    control_groups("cpu").iter().filter_map(own).min()
}

/// "QUOTA PERIOD" in cores, rounded up; nothing for "max" or -1.
fn parse_max(s: &str) -> Option<usize> {
    let mut words = s.split_whitespace();
    let quota: u64 = words.next()?.parse().ok()?;
    let period: u64 = words.next()?.parse().ok()?;
    (quota > 0 && period > 0).then(|| quota.div_ceil(period) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotas_are_rounded_up() {
        assert_eq!(parse_max("150000 100000\n"), Some(2));
        assert_eq!(parse_max("1000 100000"), Some(1));
        assert_eq!(parse_max("max 100000"), None);
        assert_eq!(parse_max("-1 100000"), None);
        assert_eq!(parse_max("5 0"), None);
        assert_eq!(parse_max(""), None);
        assert!(default_workers() >= 1);
    }
}
