//! Keyed queues of data segments: a node's manager, its remote clients and their owner (`papers/004`, sections 2 and 5).
//!
//! Everything here is a state machine: events in, actions out, time as an argument. There is no socket, no thread, no clock and
//! nothing of Ruby, so a whole cluster runs in one process under a seeded simulator (`tests/simulator`).
//!
//! - [`Manager`]: a queue under each key, and who waits. On one node nothing else is needed.
//! - [`Node`]: a manager and the remote clients that it serves: each request is done once, however often it comes.
//! - [`Client`]: the proxy of another node's manager: it repeats what was not answered, renews leases, gives up in time.
//!
//! ```
//! use kumi_segments::{Answer, Asked, Hold, Input, Kind, Manager, New};
//!
//! let mut manager: Manager<&str, &str> = Manager::new(0);
//! let mut woken = Vec::new();
//! let key = manager.key(b"greetings");
//! let input = Input { key, kind: Kind::Take, after: None };
//!
//! // Nothing is there: the request waits.
//! let Ok(Asked::Waits(request)) = manager.get(0, &[input], Hold::Never, Some("reader"), &mut |_: &&str| {}) else { panic!() };
//! // A put answers it.
//! manager.put(1, key, New::shared("hello"), &mut |waiter: &&str| woken.push(waiter.to_string())).unwrap();
//! assert_eq!(woken, ["reader"]);
//! let Some(kumi_segments::Claimed::Answers(answers)) = manager.claim(request) else { panic!() };
//! assert_eq!(answers[0].segment.value, "hello");
//! assert_eq!(answers[0].segment.index, 1);
//! ```
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod manager;
mod planted;
mod remote;

pub use manager::*;
#[doc(hidden)]
pub use planted::{Bug, plant};
pub use remote::*;
