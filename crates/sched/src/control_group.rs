//! The control groups this process is in, from its own up to the root.
//!
//! **Invariant.** A limit holds for a group and all below it: whoever asks for one takes the strictest of the whole way.

/// A control group, as a directory whose files say its limits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ControlGroup {
    /// Of the unified hierarchy (version 2); else of the controller's own.
    pub unified: bool,
    dir: String,
}

impl ControlGroup {
    /// One of its files. `None` where the group has none of that name: the root mostly, and groups without the controller.
    pub fn read(&self, file: &str) -> Option<String> {
        std::fs::read_to_string(format!("{}/{file}", self.dir)).ok()
    }
}

/// The groups that `controller` ("cpu", "memory") may limit this process by; none where there are no control groups.
pub fn control_groups(controller: &str) -> Vec<ControlGroup> {
    std::fs::read_to_string("/proc/self/cgroup").map_or(Vec::new(), |list| way_up(&list, controller))
}

/// `list`: a line for each hierarchy, "ID:CONTROLLERS:PATH"; the unified one has no controllers.
fn way_up(list: &str, controller: &str) -> Vec<ControlGroup> {
    let mut all = Vec::new();
    for line in list.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let unified = controllers.is_empty();
        if !unified && !controllers.split(',').any(|c| c == controller) {
            continue;
        }
        let root = if unified { "/sys/fs/cgroup".to_string() } else { format!("/sys/fs/cgroup/{controllers}") };
        let mut at = path.trim_end_matches('/');
        loop {
            all.push(ControlGroup { unified, dir: format!("{root}{at}") });
            match at.rfind('/') {
                Some(i) => at = &at[..i],
                None => break,
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_up_ends_at_the_root_of_each_hierarchy() {
        let list = "12:cpu,cpuacct:/a/b\n5:memory:/\n1:name=systemd:/x\n0::/user.slice/s.scope\nnonsense\n";
        let dirs = |controller| way_up(list, controller).into_iter().map(|g| (g.unified, g.dir)).collect::<Vec<_>>();
        let unified = ["/sys/fs/cgroup/user.slice/s.scope", "/sys/fs/cgroup/user.slice", "/sys/fs/cgroup"].map(|d| (true, d.to_string()));
        let own = ["/sys/fs/cgroup/cpu,cpuacct/a/b", "/sys/fs/cgroup/cpu,cpuacct/a", "/sys/fs/cgroup/cpu,cpuacct"];
        assert_eq!(dirs("cpu"), [&own.map(|d| (false, d.to_string()))[..], &unified].concat());
        assert_eq!(dirs("memory"), [&[(false, "/sys/fs/cgroup/memory".to_string())][..], &unified].concat());
        assert_eq!(way_up("", "cpu"), []);
    }
}
