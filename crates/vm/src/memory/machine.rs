//! How much memory the heap may take when `KUMI_HEAP_MAX` does not say: the machine's, or what the control
//! group or `ulimit -v` leaves of it, whichever is least.

use kumi_budget::parse_bytes;
use kumi_sched::{ControlGroup, control_groups};
use std::sync::OnceLock;

/// What the machine gives the process: a limit in bytes, and the bound above it (see `kumi_budget`); `None` when nothing is known. It is
/// looked for once.
pub(crate) fn most() -> Option<(usize, usize)> {
    static MOST: OnceLock<Option<(usize, usize)>> = OnceLock::new();
    *MOST.get_or_init(look)
}
/// The same for a runtime: `asked`, else `KUMI_HEAP_MAX`, else all of it.
pub(crate) fn limit(asked: Option<usize>) -> Option<(usize, usize)> {
    let most = most();
    match asked.or_else(|| std::env::var("KUMI_HEAP_MAX").ok().and_then(|v| parse_bytes(&v))).filter(|&n| n > 0) {
        Some(n) => Some((n, n.saturating_add(n / 2).min(most.map_or(usize::MAX, |m| m.1)))),
        None => most,
    }
}
fn look() -> Option<(usize, usize)> {
    // Whoever goes beyond the group's limit is killed, and not all memory is the heap's: a quarter is left for the rest, and half of
    // that at any time.
    let group = group_limit().map(|n| (n - n / 4, n - n / 8));
    let space = address_space().map(|n| (n, n + n / 2));
    let given = machine().map(|n| (n, n)).into_iter().chain(group).chain(space);
    given.reduce(|(a, b), (c, d)| (a.min(c), b.min(d)))
}

/// Memory of this machine.
fn machine() -> Option<usize> {
    let t = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = t.lines().find(|l| l.starts_with("MemTotal:"))?;
    line.split_whitespace().nth(1)?.parse::<usize>().ok()?.checked_mul(1024)
}

/// The strictest limit on the way from this process's control group to the root, of either version of control groups.
pub(crate) fn group_limit() -> Option<usize> {
    let own = |g: &ControlGroup| parse_limit(&g.read(if g.unified { "memory.max" } else { "memory.limit_in_bytes" })?);
    control_groups("memory").iter().filter_map(own).min()
}

/// A control group's number; nothing for `max`, and for the page-rounded greatest number that stands for no limit.
fn parse_limit(t: &str) -> Option<usize> {
    t.trim().parse::<usize>().ok().filter(|n| (1..isize::MAX as usize / 2).contains(n))
}

/// What `ulimit -v` leaves beside all that is mapped by now, less a half: blocks, buffers that are being replaced
/// and threads' stacks need room too.
fn address_space() -> Option<usize> {
    let all = kumi_budget::address_space_limit()?;
    let mapped = std::fs::read_to_string("/proc/self/statm").ok().and_then(|t| t.split_whitespace().next()?.parse::<usize>().ok());
    // SAFETY: asks for a number.
    let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096);
    let left = all.saturating_sub(mapped.unwrap_or(0).saturating_mul(page));
    Some((left / 2).max(8 << 20))
}

/// Gives back the pages of the program file that starting up has needed: constants (the prelude's index and texts,
/// tables), which makes a program that waits 2.5 MB smaller for 0.7 ms, and code (the parser's, the compiler's), 1.2 MB for
/// some 50 page faults and 0.3 to 0.6 ms. What the program that runs now uses comes again from the system's cache.
/// Where it cannot be done nothing happens.
/// A debug build keeps its code: a debugger's breakpoints are written into it.
pub fn forget_startup() {
    #[cfg(target_os = "linux")]
    {
        /// Called for the main program first; one is enough.
        unsafe extern "C" fn object(info: *mut libc::dl_phdr_info, _: usize, _: *mut libc::c_void) -> libc::c_int {
            let kept = if cfg!(debug_assertions) { libc::PF_W | libc::PF_X } else { libc::PF_W };
            // SAFETY: the loader's own description of a loaded object.
            unsafe {
                let page = libc::sysconf(libc::_SC_PAGESIZE).max(1) as u64;
                let headers = std::slice::from_raw_parts((*info).dlpi_phdr, (*info).dlpi_phnum as usize);
                for h in headers.iter().filter(|h| h.p_type == libc::PT_LOAD && h.p_flags & kept == 0) {
                    let from = ((*info).dlpi_addr + h.p_vaddr).next_multiple_of(page);
                    let to = ((*info).dlpi_addr + h.p_vaddr + h.p_memsz) & !(page - 1);
                    if from < to {
                        // Pages that are never written come back from the file as they were.
                        libc::madvise(from as *mut libc::c_void, (to - from) as usize, libc::MADV_DONTNEED);
                    }
                }
            }
            1
        }
        // SAFETY: the callback touches nothing but what it is given.
        unsafe { libc::dl_iterate_phdr(Some(object), std::ptr::null_mut()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits() {
        assert_eq!((parse_limit("max\n"), parse_limit("1073741824\n")), (None, Some(1 << 30)));
        assert_eq!(parse_limit("9223372036854771712"), None);
        assert!(limit(None).is_none_or(|(n, bound)| n > 0 && bound >= n));
        assert!(limit(Some(1 << 20)).is_some_and(|(n, bound)| n == 1 << 20 && bound >= n));
    }
}
