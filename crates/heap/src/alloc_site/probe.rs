//! Where the loop is: the heap asks it for the site of the running instruction.
//!
//! Invariant: the heap knows nothing of frames or bytecode. It has a function of the loop's and what to call it with, which
//! are sound to use for as long as it has them ([`AllocSiteProbe::new`]).

use super::AllocSiteKey;

/// Whose call tells apart what library code allocates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CalledBy {
    /// Whatever called the prelude.
    Anyone,
    /// What called into the runtime's own files, those of its standard library included.
    User,
    /// Nobody: it is only asked whether the loop could be found.
    Nobody,
}

/// Tells the heap where the loop is: a function of the loop's and what it is called with.
#[derive(Clone, Copy)]
pub struct AllocSiteProbe {
    at: unsafe fn(*const (), CalledBy) -> AllocSiteKey,
    with: *const (),
}

impl Default for AllocSiteProbe {
    fn default() -> Self {
        AllocSiteProbe { at: nowhere, with: std::ptr::null() }
    }
}

/// # Safety
/// None: it looks at nothing.
unsafe fn nowhere(_: *const (), _: CalledBy) -> AllocSiteKey {
    AllocSiteKey::default()
}

impl AllocSiteProbe {
    /// # Safety
    /// `at(with, _)` must be sound to call whenever the heap that gets this probe allocates, for as long as it has it.
    pub unsafe fn new(at: unsafe fn(*const (), CalledBy) -> AllocSiteKey, with: *const ()) -> AllocSiteProbe {
        AllocSiteProbe { at, with }
    }
    /// The site of the running instruction.
    #[inline]
    pub(crate) fn key(&self) -> AllocSiteKey {
        // SAFETY: promised when the probe was made.
        unsafe { (self.at)(self.with, CalledBy::Anyone) }
    }
    /// Whatever may charge the heap says first where it is, though the heap asks seldom: test builds ask each time.
    #[inline(always)]
    pub(crate) fn check(&self) {
        if cfg!(debug_assertions) {
            // SAFETY: promised when the probe was made.
            unsafe { (self.at)(self.with, CalledBy::Nobody) };
        }
    }
    /// The same, told apart by the call of the user's own code: asked seldom, for the way there may be longer.
    pub(crate) fn users_key(&self) -> AllocSiteKey {
        // SAFETY: as above.
        unsafe { (self.at)(self.with, CalledBy::User) }
    }
}
