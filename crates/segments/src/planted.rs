//! Faults that tests plant, to show that the simulator finds them.

kumi_chance::bugs! {
    /// A call that comes again is done again.
    NoDeduplication,
    /// An answer is forgotten as soon as it was sent.
    AnswerForgotten,
    /// What was taken for a client that never heard of it does not come back.
    NoLease,
    /// A commit is done though one of its leases is over.
    NoFence,
    /// Outputs are put although the commit was refused.
    OutputsAnyway,
    /// A client of an earlier incarnation is served.
    NoIncarnation,
    /// A request that its client left goes on waiting.
    LeaveIgnored,
    /// A client does not repeat what was not answered.
    NoRetry,
    /// A segment that comes back goes to the end of its queue.
    PlaceLost,
    /// A put wakes nobody.
    LostWake,
    /// A lease is a hundred times as long as was said.
    LeaseTooLong,
    /// A client counts an answer as received before it has it.
    EarlyReceipt,
    /// A client counts what its asker took as received before the asker uses it.
    ReceiptBeforeUse,
    /// A client uses a segment that was so long on its way that another may have it.
    LateAnswerUsed,
    /// A message of a client's earlier session is taken for one of the running session.
    AnySession,
    /// An owner that starts again numbers its leases as before.
    LeaseNumbersAgain,
    /// A take whose lease was over is done again under its number, so that a receipt may be for the wrong one.
    OneNumberTwoTakes,
    /// A client confirms once, and does not care whether that got lost.
    ReceiptOnce,
    /// A client does not renew what it holds.
    NoRenewal,
    /// What a client waits for goes on when its session ends.
    SessionNeverEnds,
    /// A put that waits for room does not hear that there is some.
    RoomUnnoticed,
    /// A lease is a nanosecond too long.
    LeaseByOne,
    /// Who looks behind an index does not see the next one.
    AfterByOne,
    /// A commit puts its first output only.
    OutputsLost,
    /// A queue takes one segment more than its limit.
    LimitByOne,
    /// The youngest taker is answered first.
    YoungestFirst,
    /// An update keeps the head's index.
    UpdateKeepsIndex,
    /// A segment that comes back has no time to end any more.
    EndForgotten,
    /// Whoever watches a key does not hear of a segment that ended under a lease.
    NewsUntold,
}
