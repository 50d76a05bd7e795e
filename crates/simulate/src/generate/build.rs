//! What generators have in common.

use super::Shape;
use crate::{Class, Step, Task, Time, Trace};
use kumi_chance::Chance;

/// What a handler computes for an answer.
const ANSWER: Time = 100_000;
/// The length of a small message.
pub const SMALL: u32 = 64;
/// The length of one with data.
pub const DATA: u32 = 1024;

/// A trace that is being made.
pub struct Build {
    pub shape: Shape,
    pub chance: Chance,
    tasks: Vec<Task>,
    messages: u64,
    /// What each node keeps.
    keeps: Vec<u64>,
    /// What it allocates a second.
    allocates: Vec<u64>,
}

impl Build {
    pub fn new(s: Shape) -> Build {
        let shape = Shape { nodes: s.nodes.max(1), computes: s.computes.max(1), grain: s.grain.max(1), ..s };
        let mut chance = Chance::new(shape.seed);
        let mut about = |n: u64, percent: u64| n - n * percent / 100 + chance.below(n * percent / 50 + 1);
        let keeps = (0..shape.nodes).map(|_| about(shape.keeps, 20)).collect();
        let allocates = (0..shape.nodes).map(|_| about(shape.allocates, 10)).collect();
        Build { shape, chance, tasks: Vec::new(), messages: 0, keeps, allocates }
    }
    /// Nodes with four times the rate, and nodes with twice as much that lives.
    pub fn uneven(&mut self) {
        self.allocates.iter_mut().step_by(4).for_each(|a| *a *= 4);
        self.keeps.iter_mut().skip(2).step_by(4).for_each(|k| *k *= 2);
    }
    pub fn done(self) -> Trace {
        Trace { nodes: self.shape.nodes, tasks: self.tasks }
    }
    /// What a node keeps all the time.
    pub fn keep(&self, node: u32) -> Step {
        Step::Keep(self.keeps[node as usize])
    }
    /// About so long, with what is allocated meanwhile.
    pub fn compute(&mut self, steps: &mut Vec<Step>, node: u32, time: Time) {
        let t = time / 2 + self.chance.below(time + 1);
        steps.push(Step::Compute(t.max(1)));
        steps.push(Step::Allocate((self.allocates[node as usize] as u128 * t as u128 / 1_000_000_000) as u64));
    }
    pub fn message(&mut self) -> u64 {
        self.messages += 1;
        self.messages
    }
    pub fn task(&mut self, node: u32, class: Class, steps: Vec<Step>) {
        self.tasks.push(Task { node, class, steps });
    }
    /// Another node than this one, where there is one.
    pub fn other(&mut self, node: u32) -> u32 {
        let n = self.shape.nodes;
        if n == 1 { 0 } else { (node + 1 + self.chance.below(n as u64 - 1) as u32) % n }
    }
    /// Asks a node. The answer is the message that is given.
    pub fn ask(&mut self, steps: &mut Vec<Step>, node: u32, of: u32) -> u64 {
        let (question, answer) = (self.message(), self.message());
        steps.push(Step::Send { message: question, to: of, bytes: SMALL });
        let mut handler = vec![Step::Await(question)];
        self.compute(&mut handler, of, ANSWER);
        handler.push(Step::Send { message: answer, to: node, bytes: DATA });
        self.task(of, Class::Handler, handler);
        answer
    }
    /// A barrier of one task on each node, over a tree of two branches.
    pub fn barrier(&mut self, steps: &mut [Vec<Step>]) {
        let n = steps.len();
        for i in (1..n).rev() {
            let m = self.message();
            let parent = (i - 1) / 2;
            // Children come first, so what awaits them stands before this.
            steps[i].push(Step::Send { message: m, to: parent as u32, bytes: SMALL });
            steps[parent].push(Step::Await(m));
        }
        for i in 1..n {
            let m = self.message();
            steps[(i - 1) / 2].push(Step::Send { message: m, to: i as u32, bytes: SMALL });
            steps[i].push(Step::Await(m));
        }
    }
}
