//! What is foreseen.

use crate::Time;
use kumi_schedule::Message;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

#[derive(Clone, Copy)]
pub enum What {
    /// A worker has done what it began, unless its turn has changed.
    Free { node: u32, turn: u32 },
    /// A message of the program's arrives.
    Arrives(u32),
    /// A task's time has come.
    Wake(u32),
    /// A tick of a node's clock, at which another task has its turn.
    Turn(u32),
    /// A tick at which cores go to others.
    Share,
    /// A node's schedule needs to look at the clock.
    Tick(u32),
    /// Something said about collections arrives.
    Said { from: u32, to: u32, message: Message },
    /// The members notice that this fault has begun, or has ended.
    Noticed { fault: u32, over: bool },
    /// A fault ends.
    Over(u32),
}

impl What {
    /// Is it of the program? Without any such, nothing will happen to it any more.
    fn program(&self) -> bool {
        matches!(self, What::Free { .. } | What::Arrives(_) | What::Wake(_) | What::Turn(_) | What::Share)
    }
}

struct Event(Time, u64, What);

impl PartialEq for Event {
    fn eq(&self, other: &Event) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Event {}
impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Event) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Event {
    /// The soonest is the greatest.
    fn cmp(&self, other: &Event) -> Ordering {
        (other.0, other.1).cmp(&(self.0, self.1))
    }
}

#[derive(Default)]
pub struct Queue {
    heap: BinaryHeap<Event>,
    number: u64,
    program: usize,
}

impl Queue {
    pub fn push(&mut self, at: Time, what: What) {
        self.program += what.program() as usize;
        self.heap.push(Event(at, self.number, what));
        self.number += 1;
    }
    pub fn pop(&mut self) -> Option<(Time, What)> {
        let Event(at, _, what) = self.heap.pop()?;
        self.program -= what.program() as usize;
        Some((at, what))
    }
    /// How many are foreseen.
    pub fn len(&self) -> usize {
        self.heap.len()
    }
    /// Does nothing of the program's come any more?
    pub fn stands(&self) -> bool {
        self.program == 0
    }
}
