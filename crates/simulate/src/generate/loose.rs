//! Programs whose nodes wait for each other rarely.

use super::build::{Build, DATA, SMALL};
use crate::{Class, Step, Time};

/// Futures of RNA that are ready at any time, on each node.
const READY: usize = 64;
/// A future computes for so many grains.
const FUTURE: Time = 4;
/// Exchanges of GA.
const EXCHANGES: Time = 3;
/// A node of the service is busy for so many hundredths of the time.
const BUSY: Time = 50;
/// A request asks so many others.
const ASKS: usize = 3;

pub fn rna(b: &mut Build) {
    let n = b.shape.nodes as usize;
    let each = b.shape.grain * FUTURE;
    let all = (b.shape.computes / each).max(1) as usize;
    // Which message begins a node's next future, in the order in which they come.
    let mut begins: Vec<std::collections::VecDeque<u64>> = vec![Default::default(); n];
    for k in 0..all {
        // Who begins whose: a turn of the ring, so that all nodes have as much to do.
        let turn = if n == 1 { 0 } else { 1 + b.chance.below(n as u64 - 1) as usize };
        let mut sent = Vec::new();
        for i in 0..n {
            let mut steps = Vec::new();
            if k == 0 {
                steps.push(b.keep(i as u32));
            }
            if k >= READY {
                steps.extend(begins[i].pop_front().map(Step::Await));
            }
            b.compute(&mut steps, i as u32, each);
            if k + READY < all {
                let message = b.message();
                let to = (i + turn) % n;
                steps.push(Step::Send { message, to: to as u32, bytes: DATA });
                sent.push((to, message));
            }
            b.task(i as u32, Class::Normal, steps);
        }
        for (to, message) in sent {
            begins[to].push_back(message);
        }
    }
}

pub fn ga(b: &mut Build) {
    let n = b.shape.nodes;
    let mut steps: Vec<Vec<Step>> = (0..n).map(|i| vec![b.keep(i)]).collect();
    let each = b.shape.grain * FUTURE;
    for _ in 0..EXCHANGES {
        for i in 0..n {
            for _ in 0..(b.shape.computes / EXCHANGES / each).max(1) {
                b.compute(&mut steps[i as usize], i, each);
            }
        }
        for i in 0..n {
            let m = b.message();
            steps[i as usize].push(Step::Send { message: m, to: (i + 1) % n, bytes: 64 * DATA });
            steps[((i + 1) % n) as usize].push(Step::Await(m));
        }
        b.barrier(&mut steps);
    }
    for (i, steps) in steps.into_iter().enumerate() {
        b.task(i as u32, Class::Normal, steps);
    }
}

pub fn service(b: &mut Build) {
    let n = b.shape.nodes;
    for i in 0..n {
        let steps = vec![b.keep(i)];
        b.task(i, Class::Normal, steps);
        let mut at = 0;
        while at < b.shape.computes * 100 / BUSY {
            at += b.chance.below(2 * b.shape.grain * 100 / BUSY + 1);
            let mut steps = vec![Step::At(at)];
            b.compute(&mut steps, i, b.shape.grain / 2);
            let answers: Vec<u64> = (0..ASKS)
                .map(|_| {
                    let of = b.other(i);
                    b.ask(&mut steps, i, of)
                })
                .collect();
            steps.extend(answers.into_iter().map(Step::Await));
            b.compute(&mut steps, i, b.shape.grain / 2);
            let done = b.message();
            steps.push(Step::Send { message: done, to: i, bytes: SMALL });
            b.task(i, Class::Normal, steps);
        }
    }
}
