//! How many workers this machine is worth: its cores, or what the control group grants.

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
    // SAFETY: an all-zero set is valid; the call writes one of the given size.
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
    let groups = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    let mut best: Option<usize> = None;
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let v2 = controllers.is_empty();
        if !v2 && !controllers.split(',').any(|c| c == "cpu") {
            continue;
        }
        let root = if v2 { "/sys/fs/cgroup".to_string() } else { format!("/sys/fs/cgroup/{controllers}") };
        let mut at = path.trim_end_matches('/');
        loop {
            let read = |name: &str| std::fs::read_to_string(format!("{root}{at}/{name}")).ok();
            let here = if v2 {
                read("cpu.max").and_then(|s| parse_max(&s))
            } else {
                read("cpu.cfs_quota_us").zip(read("cpu.cfs_period_us")).and_then(|(q, p)| parse_max(&format!("{q} {p}")))
            };
            best = best.into_iter().chain(here).min();
            match at.rfind('/') {
                Some(i) => at = &at[..i],
                None => break,
            }
        }
    }
    best
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
