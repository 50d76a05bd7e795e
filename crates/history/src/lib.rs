//! What happened to data segments while faults were made, and whether it may have happened.
//!
//! A history is written by those who put, take, update and peek, and by who makes the faults ([`Reader`] says how). It is
//! checked from outside: nothing is known of the queues but what was answered. [`check`] looks whether
//!
//! - no acknowledged put is lost, where its engine lives or is durable;
//! - nothing is there that was never put, or whose put or commit was refused;
//! - no segment has two committed takers;
//! - the order under a key is kept, also of segments that came back, and indexes grow with it;
//! - nothing is said to be empty while a segment stands there;
//! - `peek` and `update` are linearizable under each key;
//! - every waiter ends, none waits long for what stands there, and after a fault calls succeed again within a lease and a second.
//!
//! ```
//! let text = r#"
//! {"process":"a/1","op":1,"call":"put","key":"n/q","value":1,"start":10,"end":20,"outcome":"ok"}
//! {"process":"b/1","op":1,"call":"take","key":"n/q","value":1,"start":15,"end":30,"outcome":"ok"}
//! {"process":"b/1","op":2,"call":"take","key":"n/q","value":1,"start":40,"end":50,"outcome":"ok"}
//! "#;
//! let history = kumi_history::History::read(text.as_bytes()).unwrap();
//! let report = kumi_history::check(&history, &Default::default());
//! assert_eq!(report.wrong.len(), 1);
//! println!("{}", report.wrong[0]); // twice: value 1 under n/q was taken for good by two: ...
//! ```
//!
//! **Invariant.** An outcome that nobody knows stays open: what was asked for may have been done at any time after its start, or never.
//! A history is found wrong only if no order of what was done explains it. Every line of a history may be nonsense: it is refused, never a panic.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod check;
mod history;
mod json;
mod read;
mod report;
mod search;

pub use check::{Options, check};
pub use history::{Call, History, Mark, Name, Op, Outcome, Time, What};
pub use read::{BadLine, Reader};
pub use report::{Figures, Report, Rule, Wrong};
pub use search::{Answer, linearizable};
