//! Leaf natives: IO, File, Dir, Process, Signal, Time.
