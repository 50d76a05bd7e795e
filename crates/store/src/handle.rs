//! The store as its callers have it.

use crate::error::StoreError;
use crate::file::base::{Base, now};
use crate::file::disk::{Disk, FileDisk};
use crate::file::value::Value;
use crate::planted::Bug;
use crate::server::Server;
use crate::watch::{News, Watch};
use bytes::Bytes;
use kumi_segments::{Call, Engine, Outcome, Time, Trouble};
use parking_lot::{Condvar, Mutex};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;

/// Hears of a call's end, on the store's own thread.
pub type End = kumi_segments::End<Bytes>;

/// A file of data segments, open. Any thread may call it.
pub struct Store {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// What a store has done since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoreStats {
    /// Groups of calls that were written.
    pub groups: u64,
    /// Calls.
    pub calls: u64,
    /// How often it has waited for the disk.
    pub syncs: u64,
    /// The file's length.
    pub bytes: u64,
}

/// What callers and the store's thread share.
pub struct Shared {
    name: String,
    /// A forked child has not this thread.
    process: u32,
    next: AtomicU64,
    inbox: Mutex<Inbox>,
    pub arrived: Condvar,
    pub stats: Mutex<StoreStats>,
}

#[derive(Default)]
pub struct Inbox {
    pub messages: Vec<Message>,
    /// How many of them are calls.
    pub calls: usize,
    /// The store's thread waits for messages, or for so many calls.
    pub asleep: bool,
    pub enough: usize,
    /// Why no more are taken.
    over: Option<Trouble>,
}

pub enum Message {
    Call {
        number: u64,
        call: Call<Value>,
        until: Option<Time>,
        end: End,
    },
    /// The answer is in its caller's hands.
    Got(u64),
    /// The caller wants no answer, or does not want the one that it was given.
    Leave(u64),
    Watch {
        number: u64,
        key: Vec<u8>,
        news: Arc<News>,
    },
    Unwatch(u64),
    Close,
}

impl Shared {
    fn send(&self, m: Message) -> Result<(), Box<(Message, Trouble)>> {
        if std::process::id() != self.process {
            return Err(Box::new((m, Trouble::NotConnected("a forked child has not the store that its parent has opened".into()))));
        }
        let mut inbox = self.inbox.lock();
        if let Some(why) = &inbox.over {
            return Err(Box::new((m, why.clone())));
        }
        inbox.calls += usize::from(matches!(m, Message::Call { .. }));
        let urgent = matches!(m, Message::Close);
        inbox.messages.push(m);
        if inbox.asleep && (urgent || inbox.calls >= inbox.enough || inbox.enough <= 1) {
            inbox.asleep = false;
            drop(inbox);
            self.arrived.notify_one();
        }
        Ok(())
    }
    pub fn unwatch(&self, number: u64) {
        let _ = self.send(Message::Unwatch(number));
    }
    pub fn inbox(&self) -> parking_lot::MutexGuard<'_, Inbox> {
        self.inbox.lock()
    }
    /// No more messages are taken; those that were not looked at.
    pub fn end(&self, why: Trouble) -> Vec<Message> {
        let mut inbox = self.inbox.lock();
        inbox.over = Some(why);
        std::mem::take(&mut inbox.messages)
    }
}

impl Store {
    /// Opens a file, or makes it.
    ///
    /// # Errors
    /// The file can't be opened, is open already, is damaged or something else.
    pub fn open(path: &Path) -> Result<Store, StoreError> {
        let name = path.display().to_string();
        let make = |disk: &Arc<FileDisk>| {
            let (mut base, _) = Base::open(disk.clone(), None).map_err(|e| StoreError::new(format!("{name}: {e}")))?;
            base.close();
            Ok(())
        };
        Store::open_on(FileDisk::open(path, make)?, &name)
    }
    /// Opens a store on any disk; `name` is what messages call it.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_on(disk: Arc<dyn Disk>, name: &str) -> Result<Store, StoreError> {
        Store::open_planted(disk, name, None)
    }
    /// With a fault that a test plants.
    #[doc(hidden)]
    pub fn open_planted(disk: Arc<dyn Disk>, name: &str, planted: Option<Bug>) -> Result<Store, StoreError> {
        let (base, machine) = Base::open(disk, planted).map_err(|e| StoreError::new(format!("{name}: {e}")))?;
        let shared = Arc::new(Shared {
            name: name.into(),
            process: std::process::id(),
            next: AtomicU64::new(1),
            inbox: Mutex::default(),
            arrived: Condvar::new(),
            stats: Mutex::default(),
        });
        let engine = Server::new(base, machine, shared.clone());
        let thread = std::thread::Builder::new().name("segments' store".into()).spawn(move || engine.run());
        let thread = thread.map_err(|e| StoreError::new(format!("{name}: no thread can be started for it: {e}")))?;
        Ok(Store { shared, thread: Mutex::new(Some(thread)) })
    }
    /// Makes a call and waits for its end. What it takes is the caller's.
    ///
    /// # Errors
    /// As [`Trouble`] says.
    pub fn ask(&self, call: Call<Bytes>) -> Outcome<Bytes> {
        let (to, from) = std::sync::mpsc::sync_channel(1);
        let number = self.call(call, None, Box::new(move |r| drop(to.send(r))));
        let end = from.recv().unwrap_or_else(|_| Err(Trouble::Lost("its thread has ended".into())));
        self.used(number);
        end
    }
    /// Watches a key. `ring` is called on the store's own thread when there are events, and at the end.
    pub fn watch(&self, key: Vec<u8>, most: usize, ring: impl Fn() + Send + Sync + 'static) -> Watch {
        let number = self.shared.next.fetch_add(1, Ordering::Relaxed);
        let news = Arc::new(News::new(most.max(1), Box::new(ring)));
        if self.shared.send(Message::Watch { number, key, news: news.clone() }).is_err() {
            news.end();
        }
        Watch { number, news, store: Arc::downgrade(&self.shared) }
    }
    /// What it has done.
    pub fn stats(&self) -> StoreStats {
        *self.shared.stats.lock()
    }
}

impl Engine<Bytes> for Store {
    fn name(&self) -> &str {
        &self.shared.name
    }
    fn call(&self, call: Call<Bytes>, within: Option<Time>, end: End) -> u64 {
        let number = self.shared.next.fetch_add(1, Ordering::Relaxed);
        let until = within.map(|l| now().saturating_add(l));
        let Ok(call) = call.try_map(&mut |b| Ok::<_, ()>(Value::new(b))) else { return number };
        if let Err(back) = self.shared.send(Message::Call { number, call, until, end }) {
            if let (Message::Call { end, .. }, why) = *back {
                end(Err(why));
            }
        }
        number
    }
    fn leave(&self, number: u64) {
        let _ = self.shared.send(Message::Leave(number));
    }
    fn used(&self, number: u64) {
        let _ = self.shared.send(Message::Got(number));
    }
    fn close(&self) {
        let _ = self.shared.send(Message::Close);
        let thread = self.thread.lock().take();
        // A forked child has no such thread; an end of a call that drops the store is on it.
        if let Some(t) = thread.filter(|t| std::process::id() == self.shared.process && t.thread().id() != std::thread::current().id()) {
            let _ = t.join();
        }
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.close();
    }
}

/// A segment to be put: shared, at once, for as long as nobody takes it.
pub fn store(key: impl Into<Vec<u8>>, value: impl Into<Bytes>) -> kumi_segments::Store<Bytes> {
    kumi_segments::Store { key: key.into(), update: false, value: value.into(), owned: false, delay: None, ttl: None }
}
