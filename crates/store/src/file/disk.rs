//! What the file is to the store, and the file itself.

use crate::error::StoreError;
use parking_lot::Mutex;
use std::fmt::Debug;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Bytes that outlive the process. What was written before a [`sync`](Disk::sync) that has returned outlives the machine's power, too;
/// of the rest any part may.
pub trait Disk: Debug + Send + Sync + 'static {
    /// How many bytes there are.
    ///
    /// # Errors
    /// Of the system.
    fn len(&self) -> io::Result<u64>;
    /// Fills `out` from there; all of it must be there.
    ///
    /// # Errors
    /// Of the system, or it is shorter.
    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()>;
    /// Makes it so long; new bytes are zero.
    ///
    /// # Errors
    /// Of the system.
    fn set_len(&self, len: u64) -> io::Result<()>;
    /// Writes all of this there.
    ///
    /// # Errors
    /// Of the system; any part of it may be written then.
    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()>;
    /// Returns when what was written is safe.
    ///
    /// # Errors
    /// Of the system. Nobody knows then what is safe.
    fn sync(&self) -> io::Result<()>;
}

/// A file, locked for this process while it is open.
#[derive(Debug)]
pub struct FileDisk {
    file: File,
    /// Up to here every byte was written once: a file system need not write down where it has put a block before `sync` returns.
    filled: Mutex<u64>,
}

/// So much is filled at a time.
const FILL: u64 = 1 << 20;

impl FileDisk {
    /// Opens the file. One that is not there, or is empty, is made under another name by `make` and then given its own: so it is there
    /// whole or not at all.
    ///
    /// # Errors
    /// It can't be opened or made, or another has it open.
    pub fn open(path: &Path, make: impl Fn(&Arc<FileDisk>) -> Result<(), StoreError>) -> Result<Arc<FileDisk>, StoreError> {
        let cant = |e: io::Error| StoreError::new(format!("{} can't be opened as a store of segments: {e}", path.display()));
        loop {
            match std::fs::metadata(path) {
                Ok(m) if !m.is_file() => {
                    return Err(StoreError::new(format!("{} is no file: a store of segments is one", path.display())));
                }
                Ok(m) if m.len() > 0 => {}
                Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(cant(e)),
                _ => {
                    let mut name = path.as_os_str().to_owned();
                    name.push(".new");
                    let new = Path::new(&name);
                    let disk = FileDisk::lock(new, path, OpenOptions::new().create(true).truncate(false)).map_err(cant)??;
                    if std::fs::metadata(path).is_ok_and(|m| m.len() > 0) {
                        // Another was quicker.
                        continue;
                    }
                    disk.set_len(0).map_err(cant)?;
                    let disk = Arc::new(disk);
                    make(&disk)?;
                    disk.sync().and_then(|()| std::fs::rename(new, path)).map_err(cant)?;
                    // The directory's entry is to outlive the power as well.
                    let dir = path.parent().filter(|d| !d.as_os_str().is_empty()).unwrap_or(Path::new("."));
                    File::open(dir).and_then(|d| d.sync_all()).map_err(cant)?;
                    return Ok(disk);
                }
            }
            let disk = FileDisk::lock(path, path, &mut OpenOptions::new()).map_err(cant)??;
            // What was locked may have been renamed meanwhile.
            let same = |m: std::fs::Metadata| disk.file.metadata().is_ok_and(|o| (o.dev(), o.ino()) == (m.dev(), m.ino()));
            if std::fs::metadata(path).is_ok_and(same) {
                return Ok(Arc::new(disk));
            }
        }
    }
    fn lock(file: &Path, path: &Path, options: &mut OpenOptions) -> io::Result<Result<FileDisk, StoreError>> {
        let file = options.read(true).write(true).open(file)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let path = path.display();
                let msg = format!("{path} is open already, in another process or this one: one at a time has a store of segments open");
                return Ok(Err(StoreError::new(msg)));
            }
            Err(TryLockError::Error(e)) => return Err(e),
        }
        let len = file.metadata()?.len();
        Ok(Ok(FileDisk { file, filled: Mutex::new(len) }))
    }
}

impl Disk for FileDisk {
    fn len(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }
    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(out, offset)
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut filled = self.filled.lock();
        self.file.set_len(len)?;
        *filled = len.min(*filled);
        Ok(())
    }
    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let end = offset + data.len() as u64;
        {
            let mut filled = self.filled.lock();
            let len = if end > *filled { self.len()? } else { 0 };
            while end > *filled {
                let to = (*filled + FILL).min(len.max(end));
                self.file.write_all_at(&vec![0; (to - *filled) as usize], *filled)?;
                *filled = to;
            }
        }
        self.file.write_all_at(data, offset)
    }
    fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}

/// A disk as redb wants it; it counts, and remembers how it failed.
#[derive(Clone, Debug)]
pub struct Backend(pub Arc<Layer>);

#[derive(Debug)]
pub struct Layer {
    disk: Arc<dyn Disk>,
    pub syncs: AtomicU64,
    /// A sync has failed: what the system holds as written may never be.
    pub lost: AtomicBool,
    /// The last thing that went wrong.
    pub failure: Mutex<Option<String>>,
}

impl Backend {
    pub fn new(disk: Arc<dyn Disk>) -> Backend {
        Backend(Arc::new(Layer { disk, syncs: AtomicU64::new(0), lost: AtomicBool::new(false), failure: Mutex::new(None) }))
    }
    pub fn len(&self) -> io::Result<u64> {
        self.0.disk.len()
    }
    fn note<T>(&self, r: io::Result<T>) -> io::Result<T> {
        // What ends too early is damaged, and the system has not failed.
        if let Some(e) = r.as_ref().err().filter(|e| e.kind() != io::ErrorKind::UnexpectedEof) {
            *self.0.failure.lock() = Some(e.to_string());
        }
        r
    }
}

impl redb::StorageBackend for Backend {
    fn len(&self) -> io::Result<u64> {
        self.note(self.0.disk.len())
    }
    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.note(self.0.disk.read(offset, out))
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        self.note(self.0.disk.set_len(len))
    }
    fn sync_data(&self) -> io::Result<()> {
        self.0.syncs.fetch_add(1, Ordering::Relaxed);
        let r = self.note(self.0.disk.sync());
        if r.is_err() {
            self.0.lost.store(true, Ordering::Relaxed);
        }
        r
    }
    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.note(self.0.disk.write(offset, data))
    }
}
