//! The faults.

use crate::cluster::{Cluster, STORE, now};
use crate::proxy::Rule;
use kumi_chance::Chance;
use rustix::process::Signal;
use std::thread::sleep;
use std::time::Duration;

/// What is done to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fault {
    Kill,
    Stop,
    Cut,
    CutPair,
    OneWay,
    Break,
    LostReplies,
    Delay,
    Slow,
    Flap,
    Leave,
    /// These are of a store.
    StoreKill,
    StoreStop,
    StoreCut,
    /// These are of network namespaces.
    Blackhole,
    BlackholeOneWay,
    LinkDown,
    Loss,
    Megabit,
}

use Fault::*;

/// Those of processes and the proxy.
pub const PLAIN: [Fault; 11] = [Kill, Stop, Cut, CutPair, OneWay, Break, LostReplies, Delay, Slow, Flap, Leave];
/// Those of a file, and of a Redis.
pub const OF_FILE: [Fault; 4] = [Kill, Stop, Flap, Leave];
pub const OF_REDIS: [Fault; 13] = [Kill, Stop, Cut, OneWay, Break, LostReplies, Delay, Slow, Flap, Leave, StoreKill, StoreStop, StoreCut];
/// Those of the kernel's network.
pub const NETWORK: [Fault; 5] = [Blackhole, BlackholeOneWay, LinkDown, Loss, Megabit];

impl Fault {
    pub fn name(self) -> &'static str {
        self.told().0
    }
    /// What it is.
    pub fn what(self) -> &'static str {
        self.told().1
    }
    fn told(self) -> (&'static str, &'static str) {
        match self {
            Kill => ("kill", "a node is killed (-9) and starts again under its name"),
            Stop => ("stop", "a node stands still past its leases (SIGSTOP, SIGCONT)"),
            Cut => ("cut", "a node is cut off from all others, both ways"),
            CutPair => ("cut-pair", "two nodes are cut off from each other, not from the others"),
            OneWay => ("one-way", "what a node sends does not arrive; what it is sent does"),
            Break => ("break", "a node's connections end, again and again"),
            LostReplies => ("lost-replies", "connections end with the reply on its way, after the call was done"),
            Delay => ("delay", "up to 300 ms more each way, so that connections overtake each other"),
            Slow => ("slow", "a node has 20 kB a second each way"),
            Flap => ("flap", "a node is killed and comes again, three times"),
            Leave => ("leave", "a node ends by itself and starts again"),
            StoreKill => ("store-kill", "the store is killed (-9) and starts again from its log"),
            StoreStop => ("store-stop", "the store stands still past the leases"),
            StoreCut => ("store-cut", "the store is cut off from all"),
            Blackhole => ("blackhole", "two nodes have no route to each other"),
            BlackholeOneWay => ("blackhole-one-way", "a node has no route to another, which has one back"),
            LinkDown => ("link-down", "a node's network interface is down"),
            Loss => ("loss", "a tenth of the packets to a node is lost"),
            Megabit => ("megabit", "a node sends a megabit a second"),
        }
    }
    pub fn named(name: &str) -> Option<Fault> {
        PLAIN.into_iter().chain(OF_REDIS).chain(NETWORK).find(|f| f.name() == name)
    }
    pub fn is_network(self) -> bool {
        NETWORK.contains(&self)
    }

    /// Makes it, and makes it good again.
    pub fn make(self, c: &mut Cluster, chance: &mut Chance) -> Result<(), String> {
        let n = c.nodes.len() as u64;
        let i = chance.below(n) as usize;
        let j = (i + 1 + chance.below(n.max(2) - 1) as usize) % n as usize;
        let (node, other) = (c.names[i].clone(), c.names[j].clone());
        let lease = c.setting.lease * 1000;
        // Past the lease, and past what the members bear; or not so long.
        let long = chance.between(lease / 2, lease * 3);
        let start = now();
        let mut names = c.names.clone();
        if c.server.is_some() {
            names = vec![STORE.to_owned()];
        }
        match self {
            Kill => {
                let since = c.kill(i);
                pause(chance.between(0, 2000));
                return c.restart(i, since, "killed");
            }
            Flap => {
                for _ in 0..3 {
                    let since = c.kill(i);
                    pause(chance.between(0, 300));
                    c.restart(i, since, "killed again")?;
                    pause(chance.between(0, 500));
                }
                return Ok(());
            }
            Leave => {
                let since = c.leave(i)?;
                pause(chance.between(0, 1500));
                return c.restart(i, since, "left");
            }
            Stop => {
                c.signal(i, Signal::STOP);
                pause(lease + long / 2);
                c.signal(i, Signal::CONT);
            }
            Cut => {
                c.network.set_around(&node, &names, Rule { hold: true, ..Rule::default() });
                pause(long);
                c.network.heal();
            }
            CutPair => {
                c.network.set(&node, &other, Rule { hold: true, ..Rule::default() });
                c.network.set(&other, &node, Rule { hold: true, ..Rule::default() });
                pause(long);
                c.network.heal();
            }
            OneWay => {
                for to in names.iter().filter(|x| **x != node) {
                    c.network.set(&node, to, Rule { hold: true, ..Rule::default() });
                }
                pause(long);
                c.network.heal();
            }
            StoreKill | StoreStop | StoreCut => {
                let Some(server) = &mut c.server else { return Err(format!("{} needs a store: --engine redis", self.name())) };
                match self {
                    StoreKill => {
                        server.kill();
                        pause(chance.between(0, 1500));
                        server.launch()?;
                    }
                    StoreStop => {
                        server.signal(Signal::STOP);
                        pause(lease + long / 2);
                        server.signal(Signal::CONT);
                    }
                    _ => {
                        c.network.set_around(STORE, &c.names, Rule { hold: true, ..Rule::default() });
                        pause(long);
                        c.network.heal();
                    }
                }
                c.mark("fault", STORE, start, now(), self.name());
                return Ok(());
            }
            Break => {
                for _ in 0..chance.between(3, 8) {
                    c.network.close(&node);
                    pause(chance.between(20, 400));
                }
            }
            LostReplies => {
                c.network.set_around(&node, &names, Rule { cut: 30, ..Rule::default() });
                pause(1000 + long);
                c.network.heal();
            }
            Delay => {
                for from in &c.names {
                    c.network.set_around(from, &names, Rule { delay: 300, ..Rule::default() });
                }
                pause(1000 + long);
                c.network.heal();
            }
            Slow => {
                c.network.set_around(&node, &names, Rule { rate: 20_000, ..Rule::default() });
                pause(1000 + long);
                c.network.heal();
            }
            _ => {
                let Some(net) = &c.namespaces else { return Err(format!("{} needs network namespaces", self.name())) };
                let (a, b) = (i + 1, j + 1);
                let on = |on: bool| match self {
                    Blackhole => net.drop(a, b, on).and_then(|()| net.drop(b, a, on)),
                    BlackholeOneWay => net.drop(a, b, on),
                    LinkDown => net.link(a, !on),
                    Loss => net.lose(a, on),
                    _ => net.slow(a, on),
                };
                on(true)?;
                pause(1000 + long);
                on(false)?;
            }
        }
        let scope = if self == Delay { "" } else { &node };
        c.mark("fault", scope, start, now(), self.name());
        Ok(())
    }
}

pub fn pause(milliseconds: u64) {
    sleep(Duration::from_millis(milliseconds));
}
