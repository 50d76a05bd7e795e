//! References in values of segments: at the node that puts one, the one where it stands, the one that takes it.
//!
//! **Invariant.** What they stand for is held from before the value's bytes leave or are kept until the last of their cells is gone: an import is
//! counted as a proxy is, an object of this node is a root. A parcel is made for each message that carries them. It is settled by the
//! receiver, or called off when the connection that carried it is over: then the message is said again, with another one.

use super::arrivals::Arrivals;
use super::{After, Host, Inner};
use crate::talk::message::{Carried, Packed};
use kumi_link::Peer;
use kumi_remote::{Arrived, Error, Item, Parcel, Time};
use kumi_wire::Bytes;
use std::sync::Arc;

/// See the module.
pub struct Held {
    host: Arc<Host>,
    all: Vec<One>,
}

/// One reference.
#[derive(Clone, Copy)]
struct One {
    what: Arrived,
    /// Of an object of this node that others know by this seal.
    seal: Option<u64>,
}

/// Bytes that a packed reference has at most, and what is packed besides.
const EACH: usize = 48;
const BESIDES: usize = 128;

/// What a packed reference is for another node.
enum For {
    Item(Item),
    Dead(Error),
}

impl Held {
    /// Of a value of this node, that is about to be encoded. Objects are published.
    pub fn of(host: &Arc<Host>, items: &[Item]) -> Held {
        let all = host.look(|inner| items.iter().map(|i| inner.keep(i)).collect());
        Held { host: host.clone(), all }
    }
    /// Why one of them is of no use by now, if one is.
    pub fn useless(host: &Arc<Host>, items: &[Item]) -> Option<Error> {
        host.look(|inner| {
            items.iter().find_map(|i| match i {
                Item::Import(i) if inner.home_of(*i).is_none() => inner.seen.target(*i).err(),
                _ => None,
            })
        })
    }
    /// What came from another node. `None`: it is nothing of the kind.
    pub fn unpack(host: &Arc<Host>, inner: &mut Inner, now: Time, peer: &Peer, packed: &Bytes) -> Option<Held> {
        let Packed { mut dead, carried } = Packed::decode(packed).ok()?;
        let refs = carried.parcel.as_ref().map_or(&[][..], |p| &p.1);
        let node = inner.peer(peer).node;
        let mut came: Vec<One> = match Arrivals::of(host, inner, now, node, &carried) {
            Ok(arrivals) => {
                let seal = |a: &Arrived, r: &kumi_remote::Ref| matches!(a, Arrived::Home(_)).then_some(r.seal);
                arrivals.keep().into_iter().zip(refs).map(|(what, r)| One { what, seal: seal(&what, r) }).collect()
            }
            Err(why) => refs.iter().map(|_| One { what: Arrived::Dead(why), seal: None }).collect(),
        };
        dead.sort_unstable_by_key(|(place, _)| *place);
        for (place, why) in dead {
            if place > came.len() {
                break;
            }
            came.insert(place, One { what: Arrived::Dead(why), seal: None });
        }
        Some(Held { host: host.clone(), all: came })
    }
}

impl Held {
    /// Is it known that this node takes references?
    pub fn may_go(&self, to: &str) -> bool {
        self.host.look(|inner| inner.peers.get(to).is_some_and(|p| inner.seen.met(p.node).is_some()))
    }
    /// For a message to that node.
    pub fn pack(&self, to: &str) -> Vec<u8> {
        self.host.act(|inner, now, _| inner.pack(now, to, &self.all)).encode()
    }
    /// Bytes that it has at most when it is packed.
    pub fn most(&self) -> usize {
        BESIDES + EACH * self.all.len()
    }
    /// Whose they are.
    pub fn host(&self) -> &Arc<Host> {
        &self.host
    }
    /// What they are here. Of each import one more proxy is to be made.
    pub fn each(&self) -> impl Iterator<Item = Arrived> {
        self.all.iter().map(|one| match one.what {
            Arrived::Import { import, .. } => match self.host.look(|inner| inner.home_or_count(import)) {
                Some(bits) => Arrived::Home(bits),
                None => one.what,
            },
            what => what,
        })
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.host.leave_behind(std::mem::take(&mut self.all).into_iter().map(|one| one.what));
    }
}

impl Host {
    /// What a value held that is gone, whatever lock its last owner has: it is given back by whoever serves the connections.
    fn leave_behind(&self, all: impl Iterator<Item = Arrived>) {
        let first = {
            let mut behind = self.behind.lock();
            let first = behind.is_empty();
            behind.extend(all);
            first && !behind.is_empty()
        };
        if first
            && let Some(node) = self.node()
            && let Some(link) = node.link()
        {
            link.nudge();
        }
    }
    /// Is something to be given back?
    pub fn has_left(&self) -> bool {
        !self.behind.lock().is_empty()
    }
    /// Gives it back.
    pub fn give_back_left(&self) {
        let all = std::mem::take(&mut *self.behind.lock());
        if !all.is_empty() {
            self.act(|inner, now, _| inner.give_up(now, all));
        }
    }
}

impl Inner {
    /// An object, or somebody else's, in a value that is about to be encoded.
    fn keep(&mut self, item: &Item) -> One {
        let mut home = |bits, seal| {
            *self.homes.entry(bits).or_default() += 1;
            One { what: Arrived::Home(bits), seal }
        };
        match *item {
            Item::Own(bits) => home(bits, None),
            Item::Came { handle, seal } => home(handle, Some(seal)),
            Item::Import(import) => {
                let held = self.proxies.entry(import).or_default();
                held.count += 1;
                let version = held.version;
                self.rounds.comes(import);
                One { what: Arrived::Import { import, version }, seal: None }
            }
        }
    }
    /// The object of this node that it is by now; else one more proxy of it is to be made.
    fn home_or_count(&mut self, import: kumi_remote::Import) -> Option<u64> {
        let home = self.home_of(import);
        if home.is_none() {
            self.proxies.entry(import).or_default().count += 1;
        }
        home
    }
    fn pack(&mut self, now: Time, to: &str, all: &[One]) -> Packed {
        let node = self.peers.get(to).map(|p| p.node);
        let each: Vec<For> = all.iter().map(|one| self.pack_one(one)).collect();
        let mut items: Vec<Item> = each.iter().filter_map(|f| if let For::Item(i) = f { Some(*i) } else { None }).collect();
        self.items(&mut items);
        let sent = match node {
            _ if items.is_empty() => Ok(None),
            Some(node) => self.tables().send(now, node, &items).map(Some),
            None => Err(Error::Unknown),
        };
        let dead = each.iter().enumerate().filter_map(|(place, f)| match (f, &sent) {
            (For::Dead(why), _) | (_, Err(why)) => Some((place, *why)),
            _ => None,
        });
        let packed = Packed { dead: dead.collect(), carried: Carried { parcel: sent.ok().flatten(), value: Bytes::new() } };
        if let Some((parcel, _)) = packed.carried.parcel {
            self.is_afloat(to, parcel);
        }
        packed
    }
    fn pack_one(&self, one: &One) -> For {
        match one.what {
            Arrived::Home(handle) => For::Item(match one.seal {
                Some(seal) => Item::Came { handle, seal },
                None => Item::Own(handle),
            }),
            Arrived::Import { import, .. } => match (self.home_of(import), self.seen.target(import)) {
                (Some(bits), _) => For::Item(Item::Own(bits)),
                (None, Ok(_)) => For::Item(Item::Import(import)),
                (None, Err(why)) => For::Dead(why),
            },
            Arrived::Dead(why) => For::Dead(why),
        }
    }
    /// A parcel leaves with a message that is said again on the next connection.
    fn is_afloat(&mut self, to: &str, parcel: Parcel) {
        let Some(p) = self.peers.get_mut(to) else { return };
        p.afloat.push(parcel);
        if p.afloat.len() >= 2 * p.afloat_least.max(32) {
            let (seen, node) = (&self.seen, p.node);
            p.afloat.retain(|parcel| seen.is_under_way(node, parcel));
            p.afloat_least = p.afloat.len();
        }
    }
    /// A connection is over: what it carried has come, or will not come.
    pub(super) fn sink(&mut self, now: Time, name: &str) {
        let Some(p) = self.peers.get_mut(name) else { return };
        let (node, afloat) = (p.node, std::mem::take(&mut p.afloat));
        for parcel in afloat {
            self.tables().done(now, node, parcel);
        }
    }
    /// What was kept is of no use any more.
    pub(super) fn give_up(&mut self, now: Time, all: impl IntoIterator<Item = Arrived>) {
        for a in all {
            match a {
                Arrived::Home(bits) => self.home_less(bits),
                Arrived::Import { import, .. } => {
                    self.rounds.came(import);
                    self.proxy_less(now, import);
                }
                Arrived::Dead(_) => {}
            }
        }
    }
    /// Something comes from a node: is it of the life that this one knows?
    pub fn hears(&mut self, now: Time, peer: &Peer, after: &mut After) {
        if self.peers.get(peer.name()).is_none_or(|p| p.incarnation != peer.incarnation()) {
            self.connected(now, peer, after);
        }
    }
}
