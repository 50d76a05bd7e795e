//! Whose memory it is: each runtime has an account with limits of its own, and the process has one for all.
//!
//! **Invariant.** What comes and goes on a thread is counted by the account that the thread is charged to ([`Account::charge`]), and by the
//! process's in any case. A piece may go on another thread than it came on, so an account's counts may drift, below zero too; each
//! collection of its runtime sets right what it shows as in use. The process's counts are exact.

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering::Relaxed};

/// Counts of memory, in bytes, and their limits.
#[derive(Debug)]
pub struct Account {
    /// In large pieces.
    pieces: AtomicIsize,
    /// In blocks of cells.
    blocks: AtomicIsize,
    /// In stacks that have pages of their own.
    stacks: AtomicIsize,
    /// In smaller stacks.
    small_stacks: AtomicIsize,
    /// What else lives, as the last collection saw it.
    rest: AtomicIsize,
    pub(crate) limit: AtomicUsize,
    pub(crate) bound: AtomicUsize,
}

/// The process's.
pub(crate) static PROCESS: Account = Account::empty(usize::MAX, usize::MAX);

thread_local! {
    /// Null: the process's alone. Else kept by a [`Charged`].
    static CURRENT: Cell<*const Account> = const { Cell::new(std::ptr::null()) };
}

/// The account that the calling thread is charged to, beside the process's.
#[inline]
fn own<'a>() -> Option<&'a Account> {
    // SAFETY: a `Charged` of this thread keeps it, and no caller keeps the reference beyond its own call.
    unsafe { CURRENT.get().as_ref() }
}
/// The account whose limits are the calling thread's.
#[inline]
pub(crate) fn current<'a>() -> &'a Account {
    own().unwrap_or(&PROCESS)
}
/// Has the calling thread's account and the process's count something.
#[inline]
fn both(of: impl Fn(&Account) -> &AtomicIsize, bytes: isize) {
    of(&PROCESS).fetch_add(bytes, Relaxed);
    if let Some(a) = own() {
        of(a).fetch_add(bytes, Relaxed);
    }
}
pub(crate) fn pieces(bytes: isize) {
    both(|a| &a.pieces, bytes);
}
pub(crate) fn blocks(bytes: isize) {
    both(|a| &a.blocks, bytes);
}
pub(crate) fn stacks(bytes: isize) {
    both(|a| &a.stacks, bytes);
}
pub(crate) fn small_stacks(bytes: isize) {
    both(|a| &a.small_stacks, bytes);
}

impl Account {
    const fn empty(limit: usize, bound: usize) -> Account {
        Account {
            pieces: AtomicIsize::new(0),
            blocks: AtomicIsize::new(0),
            stacks: AtomicIsize::new(0),
            small_stacks: AtomicIsize::new(0),
            rest: AtomicIsize::new(0),
            limit: AtomicUsize::new(limit),
            bound: AtomicUsize::new(bound),
        }
    }
    /// An account of which `limit` bytes may live, and `bound` be there at all. A bound below the limit counts as the limit.
    pub fn new(limit: usize, bound: usize) -> Arc<Account> {
        Arc::new(Account::empty(limit, bound.max(limit)))
    }
    /// What comes and goes on the calling thread is this account's, whose limits the thread has, until the guard is dropped.
    pub fn charge(self: &Arc<Account>) -> Charged {
        Charged { before: CURRENT.replace(Arc::as_ptr(self)), _account: self.clone(), _here: PhantomData }
    }
    fn counted(&self) -> isize {
        self.pieces.load(Relaxed).saturating_add(self.blocks.load(Relaxed))
    }
    /// Bytes in use: what is counted, stacks, and what the last collection saw beside it.
    pub fn used(&self) -> usize {
        self.counted().saturating_add(self.rest.load(Relaxed)).max(0).unsigned_abs().saturating_add(self.in_all_stacks())
    }
    /// Bytes in stacks that have pages of their own.
    pub(crate) fn in_stacks(&self) -> usize {
        self.stacks.load(Relaxed).max(0).unsigned_abs()
    }
    /// Bytes in all stacks that are counted.
    pub(crate) fn in_all_stacks(&self) -> usize {
        self.stacks.load(Relaxed).saturating_add(self.small_stacks.load(Relaxed)).max(0).unsigned_abs()
    }
    /// A collection found so many bytes alive.
    pub(crate) fn lives(&self, bytes: usize) {
        let (counted, bytes) = (self.counted(), isize::try_from(bytes).unwrap_or(isize::MAX));
        // What is counted may be more than the heap holds, but not less than nothing.
        let rest = bytes.saturating_sub(counted).max(0);
        let before = self.rest.swap(rest, Relaxed);
        if !std::ptr::eq(self, &PROCESS) {
            PROCESS.rest.fetch_add(rest - before, Relaxed);
        }
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        PROCESS.rest.fetch_sub(*self.rest.get_mut(), Relaxed);
    }
}

/// The thread is charged to an account until this is dropped, on the thread that made it. Nested ones end in reverse.
#[derive(Debug)]
pub struct Charged {
    before: *const Account,
    _account: Arc<Account>,
    _here: PhantomData<*const ()>,
}

impl Drop for Charged {
    fn drop(&mut self) {
        CURRENT.set(self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_its_accounts() {
        let (small, large) = (Account::new(1 << 20, 0), Account::new(1 << 30, 1 << 30));
        let takes = |a: &Arc<Account>, bytes: usize| {
            let _charged = a.charge();
            crate::came(bytes);
            let more = crate::fits(crate::LARGE);
            (crate::used(), more)
        };
        assert_eq!(takes(&small, 1 << 20), (1 << 20, false));
        assert_eq!(takes(&large, 1 << 22), (1 << 22, true));
        std::thread::scope(|s| s.spawn(|| assert_eq!(takes(&large, 0), (1 << 22, true))).join().unwrap());
        {
            let _outer = small.charge();
            let _inner = large.charge();
            crate::went(1 << 22);
        }
        assert_eq!((small.used(), large.used()), (1 << 20, 0));
        // Gone where nobody is charged: the next collection knows what lives.
        crate::went(1 << 20);
        large.pieces.fetch_sub(1 << 20, Relaxed);
        large.lives(5 << 20);
        assert_eq!(large.used(), 5 << 20);
        large.pieces.fetch_add(1 << 20, Relaxed);
    }
}
