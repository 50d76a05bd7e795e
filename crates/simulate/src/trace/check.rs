//! Is a trace sound? And what is replayed of one that is.

use super::{Class, Step, Trace};
use crate::Time;
use foldhash::HashMap;
use std::fmt;

/// No trace has more nodes.
pub const MAX_NODES: u32 = 1 << 16;

/// Why a trace can't be replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invalid {
    /// It has no nodes, or more than [`MAX_NODES`].
    Nodes(u32),
    /// A task is on, or sends to, a node that is not there.
    NoNode(u32),
    /// Two tasks send it, or one does twice.
    SentTwice(u64),
    /// Two tasks wait for it, or one does twice.
    AwaitedTwice(u64),
    /// A task waits for what nobody sends.
    NotSent(u64),
    /// A task waits for what is sent to another node.
    Elsewhere(u64),
    /// It has too many tasks or messages.
    Large,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Invalid::Nodes(n) => write!(f, "a trace of {n} nodes; there can be 1 to {MAX_NODES}"),
            Invalid::NoNode(n) => write!(f, "there is no node {n}; the first is 0"),
            Invalid::SentTwice(m) => write!(f, "message {m} is sent twice"),
            Invalid::AwaitedTwice(m) => write!(f, "message {m} is waited for twice"),
            Invalid::NotSent(m) => write!(f, "message {m} is waited for and never sent"),
            Invalid::Elsewhere(m) => write!(f, "message {m} is waited for on another node than it is sent to"),
            Invalid::Large => write!(f, "the trace has too many tasks or messages"),
        }
    }
}

/// A step as it is replayed: messages by their place in the table.
#[derive(Clone, Copy)]
pub enum Op {
    Compute(Time),
    Allocate(u64),
    Keep(u64),
    Release(u64),
    Send(u32),
    Await(u32),
    At(Time),
    Collect,
    Overhead(Time),
    Sleep(Time),
    Pause(Time),
}

pub struct Job {
    pub node: u32,
    pub class: Class,
    pub ops: Box<[Op]>,
}

#[derive(Clone, Copy)]
pub struct Letter {
    pub to: u32,
    pub bytes: u32,
}

pub struct Program {
    pub nodes: u32,
    pub jobs: Vec<Job>,
    pub letters: Vec<Letter>,
}

impl Program {
    pub fn new(trace: &Trace) -> Result<Program, Invalid> {
        Program::build(trace).map_err(|(_, why)| why)
    }
    /// The same; what can't be replayed with the place of its task.
    pub fn build(trace: &Trace) -> Result<Program, (usize, Invalid)> {
        if trace.nodes == 0 || trace.nodes > MAX_NODES {
            return Err((0, Invalid::Nodes(trace.nodes)));
        }
        if trace.tasks.len() >= u32::MAX as usize {
            return Err((0, Invalid::Large));
        }
        let node = |at: usize, n: u32| if n < trace.nodes { Ok(n) } else { Err((at, Invalid::NoNode(n))) };
        let (mut places, mut letters) = (HashMap::default(), Vec::new());
        for (at, task) in trace.tasks.iter().enumerate() {
            node(at, task.node)?;
            for step in &task.steps {
                if let Step::Send { message, to, bytes } = *step {
                    node(at, to)?;
                    let place = u32::try_from(letters.len()).map_err(|_| (at, Invalid::Large))?;
                    if places.insert(message, place).is_some() {
                        return Err((at, Invalid::SentTwice(message)));
                    }
                    letters.push(Letter { to, bytes });
                }
            }
        }
        let mut awaited = vec![false; letters.len()];
        let mut jobs = Vec::with_capacity(trace.tasks.len());
        for (at, task) in trace.tasks.iter().enumerate() {
            let mut ops = Vec::with_capacity(task.steps.len());
            for step in &task.steps {
                ops.push(match *step {
                    Step::Compute(t) => Op::Compute(t),
                    Step::Allocate(b) => Op::Allocate(b),
                    Step::Keep(b) => Op::Keep(b),
                    Step::Release(b) => Op::Release(b),
                    Step::Send { message, .. } => Op::Send(places[&message]),
                    Step::Await(m) => {
                        let place = *places.get(&m).ok_or((at, Invalid::NotSent(m)))?;
                        if letters[place as usize].to != task.node {
                            return Err((at, Invalid::Elsewhere(m)));
                        }
                        if std::mem::replace(&mut awaited[place as usize], true) {
                            return Err((at, Invalid::AwaitedTwice(m)));
                        }
                        Op::Await(place)
                    }
                    Step::At(t) => Op::At(t),
                    Step::Collect => Op::Collect,
                    Step::Overhead(t) => Op::Overhead(t),
                    Step::Sleep(t) => Op::Sleep(t),
                    Step::Pause(t) => Op::Pause(t),
                });
            }
            jobs.push(Job { node: task.node, class: task.class, ops: ops.into() });
        }
        Ok(Program { nodes: trace.nodes, jobs, letters })
    }
}
