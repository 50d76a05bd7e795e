//! What keeps segments without being a node: a store.

use super::client::Failure;
use super::message::{Call, Done};
use crate::manager::Time;

/// Why a call of an engine was not done, or nobody knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// As of a node.
    Failure(Failure),
    /// It is not there, or was closed: nothing was done. In words.
    NotConnected(Box<str>),
    /// It was lost during the call, which may have been done or not. In words.
    Lost(Box<str>),
    /// It refuses the call, or can't do it: nothing was done. In words.
    Store(Box<str>),
}

impl From<Failure> for Trouble {
    fn from(f: Failure) -> Trouble {
        Trouble::Failure(f)
    }
}

/// What a call of an engine comes to.
pub type Outcome<V> = Result<Done<V>, Trouble>;

/// Hears what a call has come to. It is called once, on any thread, and takes no lock of the engine's.
pub type End<V> = Box<dyn FnOnce(Outcome<V>) + Send>;

/// A store of segments, used from any thread. The calls, and what they mean, are those of a node's manager; see
/// [`Client`](super::Client).
///
/// An engine renews the leases that it gives, at a third of their length, until they are ended or given back, or it is closed.
pub trait Engine<V>: Send + Sync {
    /// How it is called in messages: a file's name, an address without passwords.
    fn name(&self) -> &str;
    /// Begins a call, which ends after `within` nanoseconds at the latest; then it has not been done and will not be. Gives the
    /// call's number. `end` may be called before this returns.
    fn call(&self, call: Call<V>, within: Option<Time>, end: End<V>) -> u64;
    /// Nobody wants the answer of a call any more. If it has not ended it will change nothing, as far as that can be had; if it has,
    /// what it took without a lease comes back. Does not wait.
    fn leave(&self, number: u64);
    /// The answer of a call that took something without a lease was used. Does not wait.
    fn used(&self, number: u64) {
        let _ = number;
    }
    /// Why one step can't end leases under the keys `held` and have outputs under these: the commit would end with
    /// [`Trouble::Store`]. Does not wait.
    fn apart(&self, held: &[Vec<u8>], outputs: &[Vec<u8>]) -> Option<Box<str>> {
        let _ = (held, outputs);
        None
    }
    /// It serves no more: open calls end with [`Trouble::NotConnected`]. Waits until what was answered is safe.
    fn close(&self);
}
