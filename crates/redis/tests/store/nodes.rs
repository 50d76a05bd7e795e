//! A cluster whose nodes are servers in folders of their own, which ends with the test.

use crate::server::{Server, port};
use kumi_redis::names::SLOTS;
use std::time::{Duration, Instant};

pub struct Nodes {
    pub all: Vec<Server>,
    pub ports: Vec<u16>,
}

pub fn eventually(what: &str, mut is: impl FnMut() -> bool) {
    let until = Instant::now() + crate::client::HANG;
    while !is() {
        assert!(Instant::now() < until, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

impl Nodes {
    /// Three primaries, each with all of a third of the slots; the last ones are replicas.
    pub fn start(replicas: usize) -> Nodes {
        let ports: Vec<u16> = (0..3 + replicas).map(|_| port()).collect();
        let node = |port: &u16| {
            let port = port.to_string();
            // A node that has no core for a while is not failed.
            let options =
                "--cluster-enabled yes --cluster-node-timeout 3000 --cluster-replica-validity-factor 0 --repl-diskless-sync-delay 0";
            let mut options: Vec<&str> = options.split(' ').collect();
            options.extend(["--port", &port, "--appendonly", "yes", "--appendfsync", "everysec"]);
            Server::start(&options)
        };
        let n = Nodes { all: ports.iter().map(node).collect(), ports };
        for (i, node) in n.all.iter().enumerate() {
            if i < 3 {
                let ends = [i, i + 1].map(|e| (e * usize::from(SLOTS) / 3).to_string());
                let last = (ends[1].parse::<u16>().unwrap() - 1).to_string();
                assert!(node.say(&["CLUSTER", "ADDSLOTSRANGE", &ends[0], &last]).starts_with("+OK"));
            }
            assert!(node.say(&["CLUSTER", "SET-CONFIG-EPOCH", &(i + 1).to_string()]).starts_with("+OK"));
        }
        let knows = format!("cluster_known_nodes:{}", n.ports.len());
        // Redis forgets a meeting that has not ended within the time that a node has, as on a busy machine.
        let mut met = None;
        eventually("all know each other", || {
            if met.is_none_or(|at: Instant| at.elapsed() > Duration::from_secs(2)) {
                met = Some(Instant::now());
                n.all.iter().for_each(|node| drop(node.say(&["CLUSTER", "MEET", "127.0.0.1", &n.ports[0].to_string()])));
            }
            n.all.iter().all(|s| s.say(&["CLUSTER", "INFO"]).contains(&knows))
        });
        for (i, replica) in n.all.iter().enumerate().skip(3) {
            let id = n.id(i % 3);
            eventually("a replica", || replica.say(&["CLUSTER", "REPLICATE", &id]).starts_with("+OK"));
        }
        for replica in n.all.iter().skip(3) {
            eventually("a replica follows", || replica.say(&["INFO", "replication"]).contains("master_link_status:up"));
        }
        let sees = |s: &Server| {
            s.say(&["CLUSTER", "INFO"]).contains("cluster_state:ok") && s.say(&["CLUSTER", "NODES"]).matches("slave").count() == replicas
        };
        eventually("the cluster begins", || n.all.iter().all(sees));
        n
    }
    pub fn address(&self, namespace: &str) -> String {
        format!("redis+cluster://127.0.0.1:{},127.0.0.1:{}?namespace={namespace}", self.ports[1], self.ports[0])
    }
    pub fn id(&self, node: usize) -> String {
        self.all[node].say(&["CLUSTER", "MYID"]).lines().nth(1).unwrap().to_owned()
    }
    /// What a command says at the first node that serves it.
    pub fn say(&self, parts: &[&str]) -> String {
        let all = self.all.iter().map(|s| s.say(parts));
        all.into_iter().find(|r| !r.starts_with("-MOVED")).unwrap()
    }
    /// A replica takes over from its primary, which hands over all that it has. Others vote for that once in a while only.
    pub fn take_over(&self, node: usize) {
        let node = &self.all[node];
        eventually("it follows", || node.say(&["INFO", "replication"]).contains("master_link_status:up"));
        eventually("it takes over", || {
            node.say(&["CLUSTER", "FAILOVER"]);
            let until = Instant::now() + Duration::from_millis(1500);
            while Instant::now() < until && !node.say(&["ROLE"]).contains("master") {
                std::thread::sleep(Duration::from_millis(10));
            }
            node.say(&["ROLE"]).contains("master")
        });
    }
    /// A replica stands in for its primary, which is gone. If the others have not agreed on it for long, it is told to.
    pub fn stands_in(&self, node: usize) {
        let began = Instant::now();
        eventually("it stands in", || {
            if began.elapsed() > Duration::from_secs(10) {
                self.all[node].say(&["CLUSTER", "FAILOVER", "TAKEOVER"]);
            }
            self.all[node].say(&["ROLE"]).contains("master")
        });
    }
    /// Moves a slot, with some pauses in which it is nowhere whole.
    pub fn move_slot(&self, slot: u16, from: usize, to: usize) {
        let (slot, ids) = (slot.to_string(), [self.id(from), self.id(to)]);
        let set = |node: usize, what: &str, id: &str| {
            assert_eq!(self.all[node].say(&["CLUSTER", "SETSLOT", &slot, what, id]), "+OK\r\n");
        };
        set(to, "IMPORTING", &ids[0]);
        set(from, "MIGRATING", &ids[1]);
        loop {
            std::thread::sleep(Duration::from_millis(5));
            let reply = self.all[from].say(&["CLUSTER", "GETKEYSINSLOT", &slot, "3"]);
            let keys: Vec<&str> = reply.lines().skip(1).filter(|l| !l.starts_with('$')).collect();
            if keys.is_empty() {
                break;
            }
            let port = self.ports[to].to_string();
            let moves = [&["MIGRATE", "127.0.0.1", &port, "", "0", "5000", "KEYS"], &keys[..]].concat();
            assert!(self.all[from].say(&moves).starts_with('+'));
        }
        for node in [to, from, 0, 1, 2] {
            set(node, "NODE", &ids[1]);
        }
    }
}
