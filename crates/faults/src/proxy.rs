//! What stands in front of each node: whoever calls a node calls its proxy, which hands on what comes, or does what a bad network would do.
//!
//! **Invariant.** Within a connection bytes keep their order, and none is left out: what is not handed on is held back, or the connection ends.

use kumi_chance::Chance;
use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{sleep, spawn};
use std::time::Duration;

/// What becomes of bytes on their way from one node to another.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rule {
    /// They are held back.
    pub hold: bool,
    /// They wait up to so many milliseconds, each piece by chance: pieces of other connections overtake them.
    pub delay: u64,
    /// So many bytes a second; 0: any number.
    pub rate: u64,
    /// In so many cases of a thousand the connection ends instead.
    pub cut: u64,
}

/// All proxies.
#[derive(Clone, Default)]
pub struct Network(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    rules: HashMap<(String, String), Rule>,
    /// Where nodes listen themselves.
    nodes: HashMap<String, SocketAddr>,
    /// Open connections: caller, node, both ends.
    open: Vec<(String, String, TcpStream, TcpStream)>,
    seed: u64,
    over: bool,
}

/// Bytes before a caller's name, as crate wire has it: magic, a frame's head, versions, incarnation, features, four limits.
const NAME_AT: usize = 8 + 10 + 4 + 8 + 8 + 16;
const TURN: Duration = Duration::from_millis(5);

impl Network {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(|e| e.into_inner())
    }
    pub fn new(seed: u64) -> Network {
        let network = Network::default();
        network.inner().seed = seed;
        network
    }
    /// Begins to hand on to a node, and gives the address of its proxy. `caller`: who calls there; else callers say so themselves, as nodes do.
    pub fn serve(&self, node: &str, caller: Option<&str>) -> std::io::Result<SocketAddr> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let (network, node, who) = (self.clone(), node.to_owned(), caller.map(str::to_owned));
        listener.set_nonblocking(true)?;
        spawn(move || {
            while !network.inner().over {
                match listener.accept() {
                    Ok((caller, _)) => {
                        let (network, node, who) = (network.clone(), node.clone(), who.clone());
                        spawn(move || network.connect(caller, &node, who));
                    }
                    Err(_) => sleep(TURN),
                }
            }
        });
        Ok(address)
    }
    /// Where a node listens itself.
    pub fn place(&self, node: &str, address: SocketAddr) {
        self.inner().nodes.insert(node.to_owned(), address);
    }
    /// What becomes of bytes from one node to another, from now on.
    pub fn set(&self, from: &str, to: &str, rule: Rule) {
        self.inner().rules.insert((from.to_owned(), to.to_owned()), rule);
    }
    /// The same for both directions between a node and each other one.
    pub fn set_around(&self, node: &str, others: &[String], rule: Rule) {
        for other in others.iter().filter(|o| *o != node) {
            self.set(node, other, rule);
            self.set(other, node, rule);
        }
    }
    /// All is well again.
    pub fn heal(&self) {
        self.inner().rules.clear();
    }
    /// Ends all connections of a node.
    pub fn close(&self, node: &str) {
        self.inner().open.retain(|(from, to, a, b)| {
            let ends = from == node || to == node;
            if ends {
                let _ = (a.shutdown(Shutdown::Both), b.shutdown(Shutdown::Both));
            }
            !ends
        });
    }
    /// No more is handed on.
    pub fn end(&self) {
        self.inner().over = true;
        for (_, _, a, b) in self.inner().open.drain(..) {
            let _ = (a.shutdown(Shutdown::Both), b.shutdown(Shutdown::Both));
        }
    }

    fn rule(&self, from: &str, to: &str) -> Rule {
        self.inner().rules.get(&(from.to_owned(), to.to_owned())).copied().unwrap_or_default()
    }
    /// Waits while bytes from one to the other are held. False: it is all over.
    fn wait(&self, from: &str, to: &str) -> bool {
        while self.rule(from, to).hold {
            if self.inner().over {
                return false;
            }
            sleep(TURN);
        }
        !self.inner().over
    }
    fn connect(&self, mut caller: TcpStream, to: &str, who: Option<String>) {
        let _ = (caller.set_nonblocking(false), caller.set_nodelay(true));
        let mut first = Vec::new();
        let Some(from) = who.or_else(|| said_name(&mut caller, &mut first)) else { return };
        if !self.wait(&from, to) {
            return;
        }
        let Some(address) = self.inner().nodes.get(to).copied() else { return };
        let Ok(mut node) = TcpStream::connect(address) else { return };
        let _ = node.set_nodelay(true);
        if node.write_all(&first).is_err() {
            return;
        }
        let (Ok(a), Ok(b)) = (caller.try_clone(), node.try_clone()) else { return };
        let (Ok(c), Ok(d)) = (caller.try_clone(), node.try_clone()) else { return };
        let seed = {
            let mut inner = self.inner();
            inner.open.push((from.clone(), to.to_owned(), c, d));
            inner.seed += 1;
            inner.seed
        };
        let (network, back) = (self.clone(), (to.to_owned(), from.clone()));
        spawn(move || network.pump(a, b, &back.0, &back.1, Chance::new(seed * 2), true));
        self.pump(caller, node, &from, to, Chance::new(seed * 2 + 1), false);
    }
    /// Hands on what comes, until either end has ended.
    fn pump(&self, caller: TcpStream, node: TcpStream, from: &str, to: &str, mut chance: Chance, backwards: bool) {
        let (mut reads, mut writes) = if backwards { (node, caller) } else { (caller, node) };
        let mut buffer = [0; 16 << 10];
        while let Ok(n @ 1..) = reads.read(&mut buffer) {
            let rule = self.rule(from, to);
            if rule.cut > 0 && chance.below(1000) < rule.cut {
                break;
            }
            if rule.delay > 0 {
                sleep(Duration::from_micros(chance.below(rule.delay * 1000)));
            }
            if let Some(long) = (n as u64 * 1_000_000).checked_div(rule.rate) {
                sleep(Duration::from_micros(long));
            }
            if !self.wait(from, to) || writes.write_all(&buffer[..n]).is_err() {
                break;
            }
        }
        let _ = (reads.shutdown(Shutdown::Both), writes.shutdown(Shutdown::Both));
    }
}

/// A node that calls says its name at once. What was read until then is kept.
fn said_name(caller: &mut TcpStream, first: &mut Vec<u8>) -> Option<String> {
    let mut buffer = [0; 4096];
    loop {
        match caller.read(&mut buffer) {
            Ok(0) | Err(_) => return None,
            Ok(n) => first.extend_from_slice(&buffer[..n]),
        }
        let long = first.get(NAME_AT).map(|n| usize::from(*n));
        if let Some(name) = long.and_then(|n| first.get(NAME_AT + 1..NAME_AT + 1 + n)) {
            return Some(String::from_utf8_lossy(name).into_owned());
        }
    }
}
