//! Reading in the serving thread's stead, by who waits for what comes.
//!
//! **Invariant.** While nobody attends, whatever comes wakes the serving thread. What is due is its affair always.

use super::conn::Conn;
use super::{Link, SOCKETS, Shared, State, Store, tell};
use mio::Interest;
use mio::unix::SourceFd;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;
use std::time::Duration;

/// What the serving thread hears of the socket while another attends: a queue of the kernel's is never urgent.
#[cfg(any(target_os = "linux", target_os = "android"))]
const NOTHING: Interest = Interest::PRIORITY;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const NOTHING: Interest = Interest::READABLE;

/// Serves a store's connection for a thread that has nothing else to do: one at a time may.
pub struct Attendant(Arc<Shared>);

impl Store {
    /// For who waits for this store's answers. `None`: this system can't have it.
    pub fn attendant(&self) -> Option<Attendant> {
        cfg!(any(target_os = "linux", target_os = "android")).then(|| Attendant(self.shared.clone()))
    }
}

impl Attendant {
    /// Can be read when there is something to serve.
    pub fn descriptor(&self) -> RawFd {
        self.0.sockets.lock().0.as_raw_fd()
    }
    fn listen(&self, s: &State, interest: Interest) {
        let fd = self.descriptor();
        // It fails where the store is gone: there is nothing to hear then.
        let _ = s.own.reregister(&mut SourceFd(&fd), SOCKETS, interest);
    }
    /// Somebody attends from here on. False: there is nothing to serve, and nobody does.
    pub fn attend(&self) -> bool {
        if self.0.is_child() {
            return false;
        }
        let s = self.0.state.lock();
        let serves = s.is_up() && !s.over;
        if serves {
            self.listen(&s, NOTHING);
        }
        serves
    }
    /// Serves what has come. False: nothing has.
    pub fn serve(&self) -> bool {
        let mut s = self.0.state.lock();
        if s.links.iter().flat_map(Link::conns).any(Conn::waits_for_room) {
            // Room that is told of is told of again and again until it is heard.
            let (poll, events) = &mut *self.0.sockets.lock();
            let _ = poll.poll(events, Some(Duration::ZERO));
            s.send();
        }
        let some = s.receive();
        if some || s.told {
            self.0.mind(&mut s);
            self.0.changed.notify_all();
        }
        let ended = s.machine.take_ended();
        let rings = s.hand_out();
        drop(s);
        tell(ended);
        rings.iter().for_each(|ring| ring());
        some
    }
    /// Nobody attends any more.
    pub fn leave(&self) {
        self.listen(&self.0.state.lock(), Interest::READABLE);
    }
}
