//! References that have come with a message.
//!
//! **Invariant.** Each import is counted for the proxy that it is to have, and each object of this node is a root, from their arrival
//! until the value around them is made or given up.

use crate::host::{Host, Inner, node_id};
use crate::talk::message::Carried;
use kumi_remote::{Arrived, Error, Life, NodeId, Time};
use std::sync::Arc;

/// See the module. Dropped, they are given back; not under the host's lock.
#[derive(Default)]
pub struct Arrivals {
    host: Option<Arc<Host>>,
    all: Vec<Arrived>,
}

impl Arrivals {
    /// What came from that node.
    ///
    /// # Errors
    /// The whole message is of no use.
    pub fn of(host: &Arc<Host>, inner: &mut Inner, now: Time, from: NodeId, carried: &Carried) -> Result<Arrivals, Error> {
        let Some((parcel, refs)) = &carried.parcel else { return Ok(Arrivals::default()) };
        refs.iter().for_each(|r| inner.introduce(host, now, r.life));
        let all = inner.tables().arrive(now, from, *parcel, refs)?;
        inner.arrived(&all);
        Ok(Arrivals::new(host, all))
    }
    /// Those that the tables have down as arrived.
    pub(super) fn new(host: &Arc<Host>, all: Vec<Arrived>) -> Arrivals {
        Arrivals { host: Some(host.clone()), all }
    }
    /// What each of them is here.
    pub fn all(&self) -> &[Arrived] {
        &self.all
    }
    /// Somebody else sees to it that they are given back.
    pub(super) fn keep(mut self) -> Vec<Arrived> {
        self.host = None;
        std::mem::take(&mut self.all)
    }
    /// Each import has its proxy now.
    pub fn are_made(mut self) {
        let all = std::mem::take(&mut self.all);
        if let Some(host) = self.host.take() {
            host.look(|inner| {
                for a in all {
                    match a {
                        Arrived::Home(bits) => inner.home_less(bits),
                        Arrived::Import { import, .. } => inner.rounds.came(import),
                        Arrived::Dead(_) => {}
                    }
                }
            });
        }
    }
}

impl Drop for Arrivals {
    fn drop(&mut self) {
        let Some(host) = self.host.take() else { return };
        let all = std::mem::take(&mut self.all);
        host.act(|inner, now, _| inner.give_up(now, all));
    }
}

impl Inner {
    /// A node whose object is handed over by another one is made known, if it is a member: this node may never have had to do with it.
    fn introduce(&mut self, host: &Host, now: Time, life: Life) {
        let known = self.name_of(life.node).and_then(|n| self.peers.get(n));
        if life.node == self.seen.me().node || known.is_some_and(|p| p.incarnation != 0) {
            return;
        }
        let Some(node) = host.node() else { return };
        let Some(link) = node.link() else { return };
        let members = link.members();
        // One that was taken for gone is a member under a later incarnation than its life's.
        let member = members.iter().find(|m| node_id(m.name()) == life.node && life.incarnation <= m.incarnation());
        let Some(m) = member else { return };
        let Some(known) = link.peer(m.name()) else { return };
        let p = self.peer(&known);
        if p.incarnation == 0 {
            p.incarnation = life.incarnation;
        }
        let life = Life { incarnation: p.incarnation, ..life };
        // Another life of it may be known to the tables, or too many nodes: then what comes is of no use.
        let _ = self.tables().up(now, life);
    }
}
