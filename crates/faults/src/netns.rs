//! Nodes in network namespaces of their own, joined by a bridge: faults of the kernel's network, where it may be asked for them.

use std::process::{Command, Stdio};

/// Namespaces, which end with this.
pub struct Namespaces(usize);

const BRIDGE: &str = "kumifaults";

fn run(line: &str) -> Result<(), String> {
    let mut words = line.split(' ');
    let out =
        Command::new(words.next().unwrap_or_default()).args(words).stdin(Stdio::null()).output().map_err(|e| format!("{line}: {e}"))?;
    match out.status.success() {
        true => Ok(()),
        false => Err(format!("{line}: {}", String::from_utf8_lossy(&out.stderr).trim())),
    }
}

impl Namespaces {
    pub fn name(i: usize) -> String {
        format!("{BRIDGE}{i}")
    }
    pub fn address(i: usize) -> String {
        format!("10.77.0.{i}")
    }
    /// Makes them; or why that can't be.
    pub fn make(nodes: usize) -> Result<Namespaces, String> {
        let made = Namespaces(nodes);
        made.remove();
        run(&format!("ip link add {BRIDGE} type bridge"))?;
        run(&format!("ip link set {BRIDGE} up"))?;
        for i in 1..=nodes {
            let name = Namespaces::name(i);
            run(&format!("ip netns add {name}"))?;
            run(&format!("ip link add kf{i} type veth peer name eth0 netns {name}"))?;
            run(&format!("ip link set kf{i} master {BRIDGE}"))?;
            run(&format!("ip link set kf{i} up"))?;
            run(&format!("ip -n {name} addr add {}/24 dev eth0", Namespaces::address(i)))?;
            run(&format!("ip -n {name} link set eth0 up"))?;
            run(&format!("ip -n {name} link set lo up"))?;
        }
        Ok(made)
    }
    /// Packets from one to the other vanish, or no longer do.
    pub fn drop(&self, from: usize, to: usize, on: bool) -> Result<(), String> {
        let what = if on { "add" } else { "del" };
        run(&format!("ip -n {} route {what} blackhole {}/32", Namespaces::name(from), Namespaces::address(to)))
    }
    /// The node's link is down, or up.
    pub fn link(&self, node: usize, up: bool) -> Result<(), String> {
        run(&format!("ip link set kf{node} {}", if up { "up" } else { "down" }))
    }
    /// A tenth of the packets that come to a node is dropped, or no longer.
    pub fn lose(&self, node: usize, on: bool) -> Result<(), String> {
        let name = Namespaces::name(node);
        let nft = |rest: &str| run(&format!("ip netns exec {name} nft {rest}"));
        if !on {
            return nft("delete table inet faults");
        }
        nft("add table inet faults")?;
        nft("add chain inet faults in { type filter hook input priority 0 ; }")?;
        nft("add rule inet faults in iif eth0 numgen random mod 10 0 drop")
    }
    /// The node sends and gets a megabit a second, or any number.
    pub fn slow(&self, node: usize, on: bool) -> Result<(), String> {
        match on {
            true => run(&format!("tc -n {} qdisc add dev eth0 root tbf rate 1mbit burst 4kb latency 200ms", Namespaces::name(node))),
            false => run(&format!("tc -n {} qdisc del dev eth0 root", Namespaces::name(node))),
        }
    }
    fn remove(&self) {
        for i in 1..=self.0 {
            let _ = run(&format!("ip link del kf{i}"));
            let _ = run(&format!("ip netns del {}", Namespaces::name(i)));
        }
        let _ = run(&format!("ip link del {BRIDGE}"));
    }
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        self.remove();
    }
}
