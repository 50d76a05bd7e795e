//! Durable data segments on Redis or Valkey.
//!
//! **Invariant.** The server is the owner: each step is a script of its own, done whole or not at all, and its clock decides on
//! leases. A client holds no state that matters: whatever it was told is in the server's log first, as its settings say, and whatever it was
//! not told is asked for again under the same name, or comes back.
//!
//! - [`resp`]: the protocol.
//! - [`script`]: what the server does.
//! - [`machine`]: what a client asks and is told, without a socket or a clock.
//! - [`serve`]: the connections, and the thread that serves them.
//!
//! ```no_run
//! use kumi_segments::{Call, Engine};
//!
//! let store = kumi_redis::Store::open("redis://127.0.0.1:6379/0", Default::default()).unwrap();
//! store.call(Call::Stats(b"job".to_vec()), None, Box::new(|outcome| println!("{outcome:?}")));
//! ```
#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod address;
pub mod machine;
pub mod names;
pub mod resp;
pub mod script;
pub mod serve;

pub use address::{Address, AddressError};
pub use serve::{Attendant, Certificates, OpenError, Settings, Store};
