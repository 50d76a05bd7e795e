//! Faults that tests plant, to show that the simulator finds them. Nothing is planted but where a thread asks for it in a debug or
//! test build; elsewhere the question is a constant.

/// What can be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// What is lent is not held until the borrower has it.
    NoPin,
    /// A borrower says that it has a parcel before the owner knows of it.
    SettledBeforeGranted,
    /// An operation that comes again is done again.
    NoDeduplication,
    /// What was not acknowledged is not sent again.
    NoRetry,
    /// A slot's next object has the generation of the last.
    GenerationKept,
    /// A dead node's holdings stay for ever.
    NoLease,
    /// A lease is a third as long as was said.
    LeaseTooShort,
    /// Parcels of a session that is over are taken.
    OldParcel,
    /// A parcel that was given up is taken.
    NoFence,
    /// The end of a proxy that was replaced counts.
    OldProxy,
    /// A release gets lost.
    ReleaseLost,
    /// What is sent while a round goes on is not marked.
    SentUnmarked,
    /// An object that is called while a round goes on is not marked.
    CalledUnmarked,
    /// What is on its way when a round begins is not marked.
    PinsUnmarked,
    /// A round ends without the last full collections.
    NoVerify,
    /// A round ends with the first wave that finds marks in balance.
    OneWave,
    /// Marks on their way are not counted.
    MarksUncounted,
    /// A round ends though nodes hold references that take no part in it.
    StrangersIgnored,
    /// A round ends though something became reachable during the last full collection.
    VersionIgnored,
    /// A caller is not told where an object went.
    MoveUntold,
}

#[cfg(debug_assertions)]
mod on {
    use super::Bug;
    use std::cell::Cell;

    thread_local!(static PLANTED: Cell<Option<Bug>> = const { Cell::new(None) });

    /// From now on this thread's machines have this fault.
    pub fn plant(b: Option<Bug>) {
        PLANTED.set(b);
    }
    pub(crate) fn planted(b: Bug) -> bool {
        PLANTED.get() == Some(b)
    }
}

#[cfg(not(debug_assertions))]
mod on {
    use super::Bug;

    /// Nothing is planted in a release build.
    pub fn plant(_: Option<Bug>) {}
    pub(crate) const fn planted(_: Bug) -> bool {
        false
    }
}

pub use on::plant;
pub(crate) use on::planted;
