//! Faults that tests plant, to show that the tests of power losses find them.

/// What can be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// Every third group does not wait for the disk.
    NoSync,
    /// Callers are answered before their group is written.
    AnswerFirst,
    /// What was taken for good stays in the file until the next group.
    LateTake,
    /// A commit ends its inputs in one transaction, and puts its outputs in another.
    TwoSteps,
}
