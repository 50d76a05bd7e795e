//! How much memory the process may have, how much it has, and the doors at which more of it is refused.
//!
//! **Invariant.** Pieces of less than [`LARGE`] bytes are never refused: they come out of the system's memory or, where it has none
//! left, out of a *reserve*; when a part of that was used up, the next safepoint collects and raises. A larger one is refused
//! when it would lead beyond the *bound*, or when the system has none: the process's allocator answers with null, and who cannot
//! live with that unwinds to the loop ([`refuse`]), as a panic does, so that guards let go of locks. The loop raises
//! NoMemoryError. Only a thread that catches it is refused anything ([`Catcher`]), and not while something must be
//! done whole ([`Whole`]). When nothing is left at all the process says so and ends with status 1 ([`last_words`]); it never aborts.
//!
//! The *limit* is for what lives, and a collection judges by it. The bound lies above it: what leads beyond the limit may be
//! garbage in the way, which a native that runs cannot collect.
//!
//! Growing costs nothing for this: small growth is told to nobody, and a large piece costs more than to be counted.
//! Memory is the process's, and its limits are what the machine gives. Each runtime has an [`Account`] with a limit of its own beside them: "in use",
//! "limit" and "bound" are those of the account that the calling thread is charged to, the process's where there is none. Every function may
//! be called from any thread.
//!
//! ```
//! use kumi_budget::{Catcher, NoRoom, ask, set_limit};
//!
//! set_limit(64 << 20, 80 << 20);
//! let refused = std::panic::catch_unwind(|| {
//!     let _catcher = Catcher::new();
//!     ask(1 << 30);
//! });
//! assert!(refused.is_err_and(|payload| payload.is::<NoRoom>()));
//! ```

#![deny(missing_docs)]

mod account;
mod group;
mod grow;
mod reserve;
mod unasked;

pub use account::{Account, Charged};
pub use group::{resident, set_group, watch};
pub use grow::Grow;
pub use reserve::{has_little, hold, is_pressed, is_tight, make_way, release, restore, share_arena, take_pressed};
pub use unasked::taken;

use account::{PROCESS, current};
use group::is_crowded;
use reserve::system_has;

use std::any::Any;
use std::cell::Cell;
use std::sync::atomic::Ordering::Relaxed;

/// From how many bytes on a piece of memory is counted, and may be refused.
pub const LARGE: usize = 64 << 10;

/// See [`is_beyond`].
const MIDDLING: usize = 4 << 20;

/// What a refusal unwinds with: the payload of the panic.
pub struct NoRoom;

thread_local! {
    /// Places around this one that catch a refusal; none while it must not unwind.
    static CATCHERS: Cell<usize> = const { Cell::new(0) };
    static WHOLE: Cell<usize> = const { Cell::new(0) };
    /// The allocator has refused something to this thread at some time.
    static REFUSED: Cell<bool> = const { Cell::new(false) };
    /// Who calls it looks for null.
    static ASKING: Cell<bool> = const { Cell::new(false) };
}

/// Sets the process's limit (what may live) and bound (what there may be at all), in bytes. A bound below the limit counts as the limit.
pub fn set_limit(limit: usize, bound: usize) {
    PROCESS.limit.store(limit, Relaxed);
    PROCESS.bound.store(bound.max(limit), Relaxed);
}
fn signed(bytes: usize) -> isize {
    isize::try_from(bytes).unwrap_or(isize::MAX)
}
/// A large piece of memory came (and went) from the allocator. For the process's allocator.
#[inline]
pub fn came(bytes: usize) {
    account::pieces(signed(bytes));
}
/// See [`came`].
#[inline]
pub fn went(bytes: usize) {
    account::pieces(-signed(bytes));
}
/// A block of cells came, of so many bytes.
pub fn block_came(bytes: usize) {
    account::blocks(signed(bytes));
}
/// A block of cells went, of so many bytes.
pub fn block_went(bytes: usize) {
    account::blocks(-signed(bytes));
}
/// A stack's pages grew from so many bytes to so many.
pub fn stack_resized(from: usize, to: usize) {
    account::stacks(signed(to) - signed(from));
}
/// A stack whose memory is the allocator's grew from so many bytes to so many. Those of a task that has hardly begun need not be told.
pub fn small_stack_resized(from: usize, to: usize) {
    if from != to {
        account::small_stacks(signed(to) - signed(from));
    }
}
/// Bytes in stacks that have pages of their own.
pub fn in_stacks() -> usize {
    current().in_stacks()
}
/// Bytes in all stacks that were told of.
pub fn in_all_stacks() -> usize {
    current().in_all_stacks()
}
/// A collection found so many bytes alive: what is counted nowhere else is the rest.
pub fn lives(bytes: usize) {
    current().lives(bytes);
}
/// Bytes in use: what is counted, stacks, and what the last collection saw beside it.
pub fn used() -> usize {
    current().used()
}
/// Is there room for `bytes` more below the limit, and below the process's bound?
pub fn fits(bytes: usize) -> bool {
    unasked::asked(bytes);
    let a = current();
    bytes < LARGE
        || a.used().saturating_add(bytes) <= a.limit.load(Relaxed) && is_within(bytes, &PROCESS) && system_has(bytes) && group::has(bytes)
}
/// Is less than half of the limit in use, by libraries too?
pub fn is_half_free() -> bool {
    let a = current();
    a.used() < a.limit.load(Relaxed) / 2 && group::resident() < PROCESS.limit.load(Relaxed) / 2
}
fn is_within(bytes: usize, a: &Account) -> bool {
    a.used().saturating_add(bytes) <= a.bound.load(Relaxed)
}
/// Do `bytes` more stay below the bounds?
fn is_bounded(bytes: usize) -> bool {
    is_within(bytes, current()) && is_within(bytes, &PROCESS)
}
/// Is more taken than may be, by what is refused nowhere (cells, small pieces)? Who makes many of them looks at times.
pub fn is_over() -> bool {
    is_pressed() || !is_bounded(0) || is_crowded()
}
/// May this thread be refused memory just now?
fn is_caught() -> bool {
    CATCHERS.get() > 0 && WHOLE.get() == 0 && !std::thread::panicking()
}
/// Goes on if there is room for `bytes` more, and unwinds otherwise. Goes on in any case where no [`Catcher`] lives.
#[inline]
pub fn ask(bytes: usize) {
    if bytes >= LARGE {
        ask_large(bytes);
    }
}
/// Do `bytes` more stay below the bound, and does the system have them?
#[inline]
pub fn is_there(bytes: usize) -> bool {
    unasked::asked(bytes);
    bytes < LARGE || is_bounded(bytes) && system_has(bytes) && group::has(bytes)
}
#[cold]
fn ask_large(bytes: usize) {
    unasked::asked(bytes);
    if is_caught() && !is_there(bytes) {
        refuse();
    }
}
/// There is no room: unwinds to the loop, which raises NoMemoryError. Where nobody would catch it the process ends.
#[cold]
#[inline(never)]
pub fn refuse() -> ! {
    if !is_caught() {
        last_words();
    }
    std::panic::resume_unwind(Box::new(NoRoom))
}

/// While it lives this thread catches refusals: [`refuse`] unwinds to the `catch_unwind` around it. Drop it on the thread that made it.
pub struct Catcher(());

impl Catcher {
    /// Begins to catch.
    pub fn new() -> Catcher {
        CATCHERS.set(CATCHERS.get() + 1);
        Catcher(())
    }
}
impl Default for Catcher {
    fn default() -> Self {
        Catcher::new()
    }
}
impl Drop for Catcher {
    fn drop(&mut self) {
        CATCHERS.set(CATCHERS.get().saturating_sub(1));
    }
}

/// While it lives this thread is refused nothing: what is under way must not be left half done. Drop it on the thread that made it.
pub struct Whole(());

impl Whole {
    /// Begins what must be done whole.
    pub fn new() -> Whole {
        WHOLE.set(WHOLE.get() + 1);
        Whole(())
    }
}
impl Default for Whole {
    fn default() -> Self {
        Whole::new()
    }
}
impl Drop for Whole {
    fn drop(&mut self) {
        WHOLE.set(WHOLE.get().saturating_sub(1));
    }
}

/// Runs `f`, which takes null for an answer of the allocator's. Small pieces come out of the reserve all the same.
pub fn asking<T>(f: impl FnOnce() -> T) -> T {
    /// Ends it, whatever way `f` ends.
    struct Back(bool);
    impl Drop for Back {
        fn drop(&mut self) {
            ASKING.set(self.0);
        }
    }
    let _back = Back(ASKING.replace(true));
    f()
}
/// Is a large piece beyond the bound? Then the process's allocator does not even try. What the runtime itself takes for its
/// tables is seldom above 4 MB, and gets some more.
pub fn is_beyond(bytes: usize) -> bool {
    let more = if bytes < MIDDLING { MIDDLING + current().bound.load(Relaxed) / 16 } else { 0 };
    !is_bounded(bytes.saturating_sub(more)) && may_refuse()
}
/// May the allocator answer with null to a large request? It notes that it does.
pub fn may_refuse() -> bool {
    let may = ASKING.get();
    if may {
        REFUSED.set(true);
    }
    may
}
/// Is that the panic of a library that got null from the allocator? The big Integers' says nothing else.
pub fn is_refusal(what: &(dyn Any + Send)) -> bool {
    let said = what.downcast_ref::<&str>().copied().or_else(|| what.downcast_ref::<String>().map(String::as_str));
    what.is::<NoRoom>() || REFUSED.get() && said == Some("out of memory") || said == Some("try to allocate too much memory")
}

/// The same panic, for another thread: [`is_refusal`] asks about its own.
pub fn told(what: Box<dyn Any + Send>) -> Box<dyn Any + Send> {
    if is_refusal(&*what) { Box::new(NoRoom) } else { what }
}

/// Nothing is left, and nobody can be told by an exception.
#[cold]
pub fn last_words() -> ! {
    let text = b"kumi: failed to allocate memory (NoMemoryError)\n";
    // SAFETY: `write` reads the `len` bytes of `text`; `_exit` runs nothing of the process any more.
    unsafe {
        libc::write(2, text.as_ptr().cast(), text.len());
        libc::_exit(1)
    }
}

/// What `ulimit -v` says, in bytes. May be called before anything else in the process.
pub fn address_space_limit() -> Option<usize> {
    let mut r = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: `r` is a live `rlimit`, and the call writes no more than one.
    if unsafe { libc::getrlimit(libc::RLIMIT_AS, &mut r) } != 0 || r.rlim_cur == libc::RLIM_INFINITY {
        return None;
    }
    usize::try_from(r.rlim_cur).ok()
}

/// A size with an optional K, M or G.
pub fn parse_bytes(v: &str) -> Option<usize> {
    let v = v.trim();
    let (digits, unit) = match v.chars().last()?.to_ascii_uppercase() {
        'K' => (&v[..v.len() - 1], 1 << 10),
        'M' => (&v[..v.len() - 1], 1 << 20),
        'G' => (&v[..v.len() - 1], 1 << 30),
        _ => (v, 1),
    };
    digits.parse::<usize>().ok()?.checked_mul(unit)
}

/// A test holds it that tells the process of a group, or asks whether there is one.
#[cfg(test)]
static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read() {
        assert_eq!((parse_bytes("64M"), parse_bytes(" 1g "), parse_bytes("12")), (Some(64 << 20), Some(1 << 30), Some(12)));
        assert_eq!(
            (parse_bytes("x"), parse_bytes(""), parse_bytes("99999999999999999999G"), parse_bytes("8\u{e9}")),
            (None, None, None, None)
        );
    }
    #[test]
    fn a_refusal_unwinds_to_its_catcher() {
        // Without a bound nothing is refused, however much is asked for.
        set_limit(usize::MAX - 1, usize::MAX - 1);
        let caught = std::panic::catch_unwind(|| {
            let _c = Catcher::new();
            ask(LARGE - 1);
            ask(usize::MAX);
        });
        assert!(caught.is_err_and(|e| e.is::<NoRoom>()));
        assert_eq!(CATCHERS.get(), 0);
    }
    #[test]
    fn the_allocator_may_refuse_those_who_look() {
        assert!(!may_refuse());
        assert!(asking(may_refuse));
        assert!(!may_refuse());
    }
}
