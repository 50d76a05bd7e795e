//! The connections as a worker serves them that has nothing else to do: a node's, and each store's.

use super::Remote;
use kumi_link::Link;
use kumi_redis::{Attendant, Store};
use kumi_vm::Service;
use std::sync::Arc;

struct Connections(Link);

impl Service for Connections {
    fn descriptor(&self) -> i32 {
        self.0.descriptor().unwrap_or(-1)
    }
    fn attend(&self) -> bool {
        self.0.attend()
    }
    fn let_go(&self) {
        self.0.let_go();
    }
    fn serve(&self) -> bool {
        self.0.serve()
    }
    fn may_sleep(&self) -> bool {
        self.0.may_sleep()
    }
    fn leave(&self) {
        self.0.leave();
    }
}

/// A node's, where the system lets others than the link's thread serve them.
pub fn of(remote: &Remote) -> Option<Arc<dyn Service>> {
    let link = remote.link()?;
    link.descriptor().map(|_| Arc::new(Connections(link.clone())) as Arc<dyn Service>)
}

struct OfStore(Attendant);

impl Service for OfStore {
    fn descriptor(&self) -> i32 {
        self.0.descriptor()
    }
    fn attend(&self) -> bool {
        self.0.attend()
    }
    fn serve(&self) -> bool {
        self.0.serve()
    }
    fn may_sleep(&self) -> bool {
        true
    }
    fn leave(&self) {
        self.0.leave();
    }
}

/// A store's, where the system lets others than its own thread serve it.
pub fn of_store(store: &Store) -> Option<Arc<dyn Service>> {
    store.attendant().map(|a| Arc::new(OfStore(a)) as Arc<dyn Service>)
}
