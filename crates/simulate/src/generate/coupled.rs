//! Programs whose nodes wait for each other often.

use super::build::{Build, DATA};
use crate::{Class, Step};

/// Questions of a node between two barriers.
const BETWEEN: u64 = 20;
/// Threads of CKY, or one a node where there are more nodes.
const THREADS: u32 = 64;
/// How many steps before it is needed an answer is asked for.
const AHEAD: usize = 4;

/// Also the program with speculative work, of which there is more than can be done.
pub fn barnes_hut(b: &mut Build, speculative: bool) {
    let n = b.shape.nodes;
    let mut steps: Vec<Vec<Step>> = (0..n).map(|i| vec![b.keep(i)]).collect();
    let rounds = b.shape.computes / b.shape.grain / BETWEEN;
    for _ in 0..rounds.max(1) {
        for i in 0..n {
            let mine = &mut steps[i as usize];
            for _ in 0..BETWEEN {
                let of = b.other(i);
                b.compute(mine, i, b.shape.grain);
                let answer = b.ask(mine, i, of);
                mine.push(Step::Await(answer));
            }
        }
        b.barrier(&mut steps);
    }
    for (i, steps) in steps.into_iter().enumerate() {
        b.task(i as u32, Class::Normal, steps);
        if speculative {
            b.task(i as u32, Class::Speculative, vec![Step::Compute(b.shape.computes); 100]);
        }
    }
}

/// A column of the table is a thread's. Its cell needs the neighbour's last, and one of anybody's.
pub fn cky(b: &mut Build) {
    let n = b.shape.nodes;
    let columns = THREADS.max(n) / n * n;
    let rounds = (b.shape.computes / b.shape.grain / (columns / n) as u64).max(1);
    let mut steps: Vec<Vec<Step>> = (0..columns).map(|j| if j < n { vec![b.keep(j)] } else { Vec::new() }).collect();
    let mut last = vec![None; columns as usize];
    for round in 0..rounds {
        let mut sent = Vec::new();
        for j in 0..columns {
            let (node, mine) = (j % n, &mut steps[j as usize]);
            if let Some(m) = last[j as usize] {
                mine.push(Step::Await(m));
            }
            let of = b.other(node);
            let answer = b.ask(mine, node, of);
            mine.push(Step::Await(answer));
            b.compute(mine, node, b.shape.grain);
            let m = b.message();
            if round + 1 < rounds {
                mine.push(Step::Send { message: m, to: (j + 1) % columns % n, bytes: DATA });
                sent.push(Some(m));
            }
        }
        for (j, m) in sent.into_iter().enumerate() {
            last[(j + 1) % columns as usize] = m;
        }
    }
    for (j, steps) in steps.into_iter().enumerate() {
        b.task(j as u32 % n, Class::Normal, steps);
    }
}

pub fn prefetch(b: &mut Build) {
    let n = b.shape.nodes;
    let rounds = (b.shape.computes / b.shape.grain) as usize;
    for i in 0..n {
        let mut steps = vec![b.keep(i)];
        let mut asked = std::collections::VecDeque::new();
        for round in 0..rounds + AHEAD {
            if round < rounds {
                let of = b.other(i);
                asked.push_back(b.ask(&mut steps, i, of));
            }
            if round >= AHEAD {
                let answer = asked.pop_front().unwrap_or_default();
                steps.push(Step::Await(answer));
            }
            if round < rounds {
                b.compute(&mut steps, i, b.shape.grain);
            }
        }
        b.task(i, Class::Normal, steps);
    }
}
