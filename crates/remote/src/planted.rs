//! Faults that tests plant, to show that the simulator finds them.

kumi_chance::bugs! {
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
