//! References that have come with a message.
//!
//! **Invariant.** Each import is counted for the proxy that it is to have, and each object of this node is a root, from their arrival
//! until the value around them is made or given up.

use crate::host::{Host, Inner};
use crate::talk::message::Carried;
use kumi_remote::{Arrived, Error, NodeId, Time};
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
    /// Each import has its proxy now.
    pub fn are_made(mut self) {
        let all = std::mem::take(&mut self.all);
        if let Some(host) = self.host.take() {
            host.look(|inner| {
                for a in all {
                    if let Arrived::Home(bits) = a {
                        inner.home_less(bits);
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
        host.act(|inner, now, _| {
            for a in all {
                match a {
                    Arrived::Home(bits) => inner.home_less(bits),
                    Arrived::Import { import, .. } => inner.proxy_less(now, import),
                    Arrived::Dead(_) => {}
                }
            }
        });
    }
}
