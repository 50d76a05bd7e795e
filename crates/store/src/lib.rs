//! Data segments that outlive their process: a manager whose changes go to a file before anybody is answered.
//!
//! **Invariant.** What was answered is in the file. The file is always that of some moment between two groups of calls; the
//! manager in memory is that moment's, or one group ahead of it, and then nobody has been answered yet. The manager is the very state
//! machine of [`kumi_segments`], so calls mean here what they mean there.
//!
//! - [`Store`]: the calls. A thread of its own drains all that have come, does them, writes what they have changed in one transaction
//!   with one wait for the disk, and only then answers.
//! - [`Disk`]: what the file is to the store, so that tests can cut the power.
//!
//! ```
//! use kumi_segments::{Call, Done, Put};
//! use kumi_store::{Store, store};
//! # let dir = std::env::temp_dir().join(format!("kumi-store-doc-{}", std::process::id()));
//! # std::fs::create_dir_all(&dir).unwrap();
//! let path = dir.join("jobs.db");
//! let jobs = Store::open(&path).unwrap();
//! jobs.ask(Call::Put(Put { store: store("mail", "to=ann"), wait: false })).unwrap();
//! drop(jobs);
//!
//! let jobs = Store::open(&path).unwrap();
//! let Ok(Done::Stats(mail)) = jobs.ask(Call::Stats(b"mail".to_vec())) else { panic!() };
//! assert_eq!((mail.segments, mail.last_index), (1, 1));
//! # drop(jobs);
//! # std::fs::remove_dir_all(&dir).unwrap();
//! ```
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod error;
mod file;
mod handle;
mod planted;
mod serve;
mod server;
mod watch;

pub use error::StoreError;
pub use file::disk::{Disk, FileDisk};
pub use handle::{Store, StoreStats, store};
#[doc(hidden)]
pub use planted::Bug;
pub use watch::Watch;
