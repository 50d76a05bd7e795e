//! The scheduler as its workers see it. Limits of time are there against hanging only.

use super::*;
use std::io::{Write, pipe};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::thread;

const SECOND: u64 = 1_000_000_000;

fn sched(workers: usize, seed: Option<u64>) -> Arc<Sched> {
    Sched::new(Config { workers, seed })
}

/// Waits as worker 0 until an event comes.
fn events(s: &Sched) -> Vec<Event> {
    let mut out = Vec::new();
    let give_up = now_ns() + 60 * SECOND;
    loop {
        s.poll_events(now_ns(), &mut out);
        if !out.is_empty() {
            return out;
        }
        assert!(now_ns() < give_up, "no event came");
        s.wait(0);
    }
}

/// Runs `workers` threads; each task that is popped goes to `run`, until all of `total` were.
fn work(s: &Arc<Sched>, total: usize, run: impl Fn(usize, TaskId) + Sync) {
    let done = AtomicUsize::new(0);
    thread::scope(|scope| {
        for w in 0..s.workers() {
            let (s, run, done) = (s.clone(), &run, &done);
            scope.spawn(move || {
                while done.load(SeqCst) < total {
                    let Some(t) = s.pop(w) else {
                        s.wait(w);
                        continue;
                    };
                    run(w, t);
                    if done.fetch_add(1, SeqCst) + 1 == total {
                        (0..s.workers()).for_each(|w| s.wake_worker(w));
                    }
                }
            });
        }
    });
}

fn no_task_is_lost_or_doubled(workers: usize, seed: Option<u64>) {
    let s = sched(workers, seed);
    const ROOTS: usize = 200;
    const FAN: usize = 50;
    let seen: Vec<AtomicUsize> = (0..ROOTS * (FAN + 1)).map(|_| AtomicUsize::new(0)).collect();
    for t in 0..ROOTS {
        s.push(t % workers, t as u64, false);
    }
    work(&s, seen.len(), |w, t| {
        seen[t as usize].fetch_add(1, SeqCst);
        if (t as usize) < ROOTS {
            for i in 0..FAN {
                let child = (ROOTS + t as usize * FAN + i) as u64;
                match i % 5 {
                    0 => {
                        let other = (w + i) % workers;
                        s.push(other, child, true);
                        s.wake_worker(other);
                    }
                    1 => s.push_front(w, child, false),
                    _ => s.push(w, child, false),
                }
                s.nudge(w);
            }
        }
    });
    assert!(seen.iter().all(|n| n.load(SeqCst) == 1));
    assert_eq!(s.ready(), 0);
}

#[test]
fn every_task_is_popped_exactly_once() {
    for workers in [1, 2, 3, 8] {
        no_task_is_lost_or_doubled(workers, None);
    }
}

#[test]
fn every_task_is_popped_exactly_once_in_random_order() {
    let first: u64 = std::env::var("KUMI_SCHED_STRESS").ok().and_then(|s| s.parse().ok()).unwrap_or(1);
    for seed in first..first + 8 {
        eprintln!("replay: KUMI_SCHED_STRESS={seed} cargo test -p kumi-sched random_order");
        no_task_is_lost_or_doubled(1 + seed as usize % 4, Some(seed));
    }
}

#[test]
fn pinned_tasks_stay() {
    let s = sched(3, Some(3));
    (0..3000).for_each(|t| s.push(t as usize % 3, t, true));
    work(&s, 3000, |w, t| assert_eq!(t as usize % 3, w));
}

/// A push and a nudge from outside always end a wait, whatever the waiting worker is about to do.
#[test]
fn wakes_are_not_lost() {
    for workers in [1, 2, 4] {
        let s = sched(workers, None);
        let taken = AtomicUsize::new(0);
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            for w in 0..workers {
                let (s, taken, stop) = (&s, &taken, &stop);
                scope.spawn(move || {
                    while !stop.load(SeqCst) {
                        match s.pop(w) {
                            Some(_) => drop(taken.fetch_add(1, SeqCst)),
                            None => s.wait(w),
                        }
                    }
                });
            }
            for i in 0..2000 {
                s.push(i % workers, i as u64, false);
                s.nudge(usize::MAX);
                let give_up = now_ns() + 60 * SECOND;
                while taken.load(SeqCst) <= i {
                    thread::yield_now();
                    if now_ns() > give_up {
                        stop.store(true, SeqCst);
                        (0..workers).for_each(|w| s.wake_worker(w));
                        panic!("push {i} was not seen");
                    }
                }
            }
            stop.store(true, SeqCst);
            (0..workers).for_each(|w| s.wake_worker(w));
        });
    }
}

/// A worker that was woken and found nothing is woken again, where no other could search for it.
#[test]
fn a_nudge_in_vain_does_not_cost_the_next_one() {
    let s = sched(1, None);
    let (woken, taken, stop) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicBool::new(false));
    let patiently = |what: &str, f: &dyn Fn() -> bool| {
        let give_up = now_ns() + 60 * SECOND;
        while !f() {
            thread::yield_now();
            if now_ns() > give_up {
                stop.store(true, SeqCst);
                s.wake_worker(0);
                panic!("{what}");
            }
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(SeqCst) {
                match s.pop(0) {
                    Some(_) => taken.fetch_add(1, SeqCst),
                    None => {
                        s.wait(0);
                        woken.fetch_add(1, SeqCst)
                    }
                };
            }
        });
        for i in 0..200 {
            let before = woken.load(SeqCst);
            patiently("it did not lie down", &|| !s.idle.all_up());
            s.nudge(usize::MAX);
            patiently("it did not wake", &|| woken.load(SeqCst) > before);
            patiently("it did not lie down again", &|| !s.idle.all_up());
            s.push(0, i as u64, false);
            s.nudge(usize::MAX);
            patiently("a push was not seen", &|| taken.load(SeqCst) > i);
        }
        stop.store(true, SeqCst);
        s.wake_worker(0);
    });
}

/// A worker that pushes and then stays busy: others take the task, however they rest at that moment.
#[test]
fn a_busy_workers_tasks_are_taken() {
    for workers in [2, 3] {
        let s = sched(workers, None);
        let (taken, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
        thread::scope(|scope| {
            for w in 1..workers {
                let (s, taken, stop) = (&s, &taken, &stop);
                scope.spawn(move || {
                    while !stop.load(SeqCst) {
                        match s.pop(w) {
                            Some(_) => drop(taken.fetch_add(1, SeqCst)),
                            None => s.wait(w),
                        }
                    }
                });
            }
            let mut late = false;
            for i in 0..1000 {
                if i % 10 == 0 {
                    // Tasks that come and go at once are what naps are for.
                    (0..200).for_each(|_| {
                        s.push(0, 0, true);
                        s.nudge(0);
                        s.pop(0);
                    });
                }
                s.push(0, i as u64, false);
                s.nudge(0);
                let give_up = now_ns() + 60 * SECOND;
                while taken.load(SeqCst) <= i && !late {
                    thread::yield_now();
                    late = now_ns() > give_up;
                }
            }
            stop.store(true, SeqCst);
            (0..workers).for_each(|w| s.wake_worker(w));
            assert!(!late);
        });
    }
}

#[test]
fn a_wait_ends_with_a_timer_a_descriptor_a_job_and_a_signal() {
    let s = sched(2, None);
    s.timer(now_ns() + 2_000_000, 1, 10);
    assert!(matches!(events(&s)[..], [Event::Timer(1, 10)]));

    let (r, mut w) = pipe().unwrap();
    s.watch(s.note(r.as_raw_fd(), true, false), 2, 20).unwrap();
    assert_eq!((s.watching(), s.waiters(r.as_raw_fd())), (1, vec![(2, 20)]));
    let writer = thread::spawn(move || w.write_all(b"x").unwrap());
    assert!(matches!(events(&s)[..], [Event::Io { task: 2, seq: 20, readable: true, writable: false, .. }]));
    writer.join().unwrap();
    assert_eq!(s.watching(), 0);

    s.submit(3, 30, Box::new(|| Box::new("done")));
    match events(&s).pop() {
        Some(Event::Job(3, 30, r)) => assert_eq!(r.downcast_ref::<&str>(), Some(&"done")),
        _ => panic!("the job's event was expected"),
    }
    while s.jobs_running() > 0 {
        thread::yield_now();
    }

    let fd = s.signal_fd();
    let one = 1u64.to_ne_bytes();
    // SAFETY: writes 8 bytes that live here.
    assert_eq!(unsafe { libc::write(fd, one.as_ptr().cast(), 8) }, 8);
    s.wait(0);
}

#[test]
fn a_regular_file_is_ready_at_once_and_a_bad_descriptor_an_error() {
    let s = sched(1, None);
    let file = std::fs::File::open(std::env::current_exe().unwrap()).unwrap();
    s.watch(s.note(file.as_raw_fd(), true, false), 7, 1).unwrap();
    assert!(matches!(events(&s)[..], [Event::Io { task: 7, seq: 1, readable: true, writable: false, .. }]));
    assert!(s.watch(s.note(-1, true, false), 7, 2).is_err());
}

#[test]
fn ten_thousand_timers_come_in_order() {
    let s = sched(1, None);
    let start = now_ns();
    for i in 0..10_000u64 {
        s.timer(start + i * 7919 % 10_007 * 1000, i * 7919 % 10_007, 0);
    }
    let mut seen = Vec::new();
    while seen.len() < 10_000 {
        seen.extend(events(&s).into_iter().map(|e| match e {
            Event::Timer(t, _) => t,
            _ => panic!("only timers were set"),
        }));
    }
    assert!(seen.is_sorted() && s.next_deadline().is_none());
}

/// An earlier timer, set while another worker sleeps until a later one, shortens that sleep.
#[test]
fn a_sleeping_worker_hears_of_an_earlier_timer() {
    let s = sched(2, None);
    s.timer(now_ns() + 1000 * SECOND, 1, 1);
    thread::scope(|scope| {
        let sleeper = scope.spawn(|| matches!(events(&s)[..], [Event::Timer(2, 1)]));
        while s.idle_workers() == 0 {
            thread::yield_now();
        }
        s.timer(now_ns() + 1_000_000, 2, 1);
        assert!(sleeper.join().unwrap());
    });
}

#[test]
fn a_wait_ends_when_its_time_is_over_or_something_comes() {
    let s = sched(2, None);
    let from = now_ns();
    assert!(!s.wait_at_most(1, 1_000_000));
    assert!(now_ns() - from >= 1_000_000);
    s.wake_worker(1);
    assert!(s.wait_at_most(1, u64::MAX));
    s.push(1, 7, false);
    assert!(s.wait_at_most(1, 1000 * SECOND));
    s.pop(1);
    thread::scope(|scope| {
        let sleeper = scope.spawn(|| s.wait_at_most(1, 1000 * SECOND));
        while s.idle_workers() == 0 {
            thread::yield_now();
        }
        s.wake_worker(1);
        assert!(sleeper.join().unwrap());
    });
}

/// Between a worker's call and the other one's waking both are in their waits or about to be: the program is at work.
#[test]
fn who_is_woken_begins() {
    let s = sched(2, None);
    assert!(s.nothing_begins());
    s.wake_worker(1);
    assert!(!s.nothing_begins(), "it has not seen it");
    s.wait(1);
    assert!(s.nothing_begins());
    s.push(0, 1, true);
    assert!(!s.nothing_begins());
    s.pop(0);
    assert!(s.nothing_begins());
}

#[test]
fn stuck_means_that_nothing_can_come() {
    let s = sched(2, None);
    assert!(!s.stuck(0), "the other worker is not waiting");
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(SeqCst) {
                s.wait(1);
            }
        });
        while !s.stuck(0) {
            thread::yield_now();
        }
        s.push(0, 1, true);
        assert!(!s.stuck(0));
        s.pop(0);
        s.timer(u64::MAX - 1, 1, 1);
        assert!(!s.stuck(0));
        s.compact_timers(|_, _| false);
        let (r, _w) = pipe().unwrap();
        s.watch(s.note(r.as_raw_fd(), true, false), 1, 1).unwrap();
        assert!(!s.stuck(0));
        assert_eq!(s.closing(r.as_raw_fd()), [(1, 1)]);
        while !s.stuck(0) {
            thread::yield_now();
        }
        stop.store(true, SeqCst);
        s.wake_worker(1);
    });
}

/// Only the poller's role matters here: whoever has it leaves, and the other must take it over.
#[test]
fn the_role_in_the_kernels_queue_is_handed_on() {
    for _ in 0..200 {
        let s = sched(3, None);
        let got = AtomicUsize::new(0);
        let (r, mut w) = pipe().unwrap();
        s.watch(s.note(r.as_raw_fd(), true, false), 1, 1).unwrap();
        thread::scope(|scope| {
            for me in 0..3 {
                let (s, got) = (&s, &got);
                scope.spawn(move || {
                    let mut out = Vec::new();
                    while got.load(SeqCst) == 0 {
                        s.poll_events(now_ns(), &mut out);
                        if out.is_empty() {
                            s.wait(me);
                        } else {
                            got.fetch_add(1, SeqCst);
                            (0..3).for_each(|w| s.wake_worker(w));
                        }
                    }
                });
            }
            s.wake_worker(0);
            s.wake_worker(1);
            s.nudge(usize::MAX);
            w.write_all(b"x").unwrap();
        });
        assert_eq!(got.load(SeqCst), 1);
    }
}

#[test]
fn the_child_of_a_fork_gets_a_scheduler_of_its_own() {
    let s = sched(2, None);
    s.submit(1, 1, Box::new(|| Box::new(())));
    s.push(0, 1, false);
    s.timer(1, 1, 1);
    // SAFETY: the child uses only what is made for it, and leaves without running anything of the harness.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        let works = std::panic::catch_unwind(move || {
            let child = s.after_fork_child();
            drop(s);
            child.timer(now_ns() + 1_000_000, 5, 1);
            let fresh = (child.workers(), child.ready(), child.jobs_running()) == (2, 0, 0);
            fresh && matches!(events(&child)[..], [Event::Timer(5, 1)])
        });
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(i32::from(!works.unwrap_or(false))) };
    }
    assert!(pid > 0);
    let mut status = -1;
    // SAFETY: waits for our own child and writes one integer.
    assert_eq!(unsafe { libc::waitpid(pid, &mut status, 0) }, pid);
    assert_eq!(status, 0);
    // The parent's is as it was.
    assert!(s.pop(0) == Some(1) && !events(&s).is_empty());
}

#[test]
fn an_idle_worker_uses_no_processor() {
    let s = sched(1, None);
    let (r, _w) = pipe().unwrap();
    s.watch(s.note(r.as_raw_fd(), true, false), 1, 1).unwrap();
    let from = now_ns();
    s.timer(from + 200_000_000, 1, 1);
    let mut waits = 0;
    while !s.events_pending(now_ns()) {
        s.wait(0);
        waits += 1;
    }
    assert!(waits < 5, "woken {waits} times for nothing");
}

#[test]
fn jobs_of_nobody_run_and_wakes_from_outside_arrive() {
    let s = sched(1, None);
    let (tx, rx) = std::sync::mpsc::channel();
    assert!(s.spawn(Box::new(move || tx.send(()).unwrap())));
    rx.recv().unwrap();
    assert!(s.spawn(Box::new(|| panic!("nobody's"))));
    let mut out = Vec::new();
    while s.jobs_running() > 0 || out.len() < 2 {
        s.poll_events(now_ns(), &mut out);
        std::thread::yield_now();
    }
    assert!(out.iter().all(|e| matches!(e, Event::Job(0, 0, _))) && s.spawned() == 0);
    out.clear();
    let other = s.clone();
    std::thread::spawn(move || other.wake_task(7, 8));
    while out.is_empty() {
        s.wait(0);
        s.poll_events(now_ns(), &mut out);
    }
    assert!(matches!(out[0], Event::Wake(7, 8)));
    // None of these ends before all were asked for.
    let gate = Arc::new(std::sync::RwLock::new(()));
    let closed = gate.write().unwrap();
    let more = (0..10_000)
        .filter(|_| {
            let gate = gate.clone();
            s.spawn(Box::new(move || drop(gate.read().unwrap())))
        })
        .count();
    assert!(more > 0 && more < 10_000, "{more}");
    drop(closed);
}

/// A pipe whose bytes are numbers of tasks, which are woken when they are served; a thread of its own serves while nobody attends.
struct Bytes {
    out: std::io::PipeReader,
    sched: std::sync::Weak<Sched>,
    attended: AtomicBool,
    serves: AtomicUsize,
}

impl Bytes {
    fn is_there(&self) -> bool {
        let mut p = libc::pollfd { fd: self.out.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one entry, which lives here.
        unsafe { libc::poll(&mut p, 1, 0) == 1 }
    }
}

impl Service for Bytes {
    fn descriptor(&self) -> i32 {
        self.out.as_raw_fd()
    }
    fn attend(&self) -> bool {
        assert!(!self.attended.swap(true, SeqCst), "one at a time");
        true
    }
    fn serve(&self) -> bool {
        use std::io::Read;
        if !self.is_there() {
            return false;
        }
        let mut byte = [0];
        (&self.out).read_exact(&mut byte).unwrap();
        self.serves.fetch_add(1, SeqCst);
        self.sched.upgrade().unwrap().wake_task(byte[0].into(), 1);
        true
    }
    fn may_sleep(&self) -> bool {
        true
    }
    fn leave(&self) {
        assert!(self.attended.swap(false, SeqCst));
    }
}

/// What comes for a worker that attends is served by it and seen by it, whether it looks or sleeps, whoever has the poller's role, and
/// whoever else wakes it; of one service as of several.
#[test]
fn a_worker_serves_what_its_task_waits_for() {
    for workers in [1, 2, 3] {
        let s = sched(workers, None);
        let served: Vec<_> = (0..1 + workers % 2)
            .map(|_| {
                let (out, inside) = pipe().unwrap();
                let (attended, serves) = (AtomicBool::new(false), AtomicUsize::new(0));
                let bytes = Arc::new(Bytes { out, sched: Arc::downgrade(&s), attended, serves });
                s.add_service(bytes.clone()).unwrap();
                (bytes, inside)
            })
            .collect();
        let stop = AtomicBool::new(false);
        let (tx, rx) = std::sync::mpsc::channel();
        thread::scope(|scope| {
            for w in 0..workers {
                let (s, stop, tx) = (&s, &stop, tx.clone());
                scope.spawn(move || {
                    let mut out = Vec::new();
                    while !stop.load(SeqCst) {
                        s.poll_events(now_ns(), &mut out);
                        for e in out.drain(..) {
                            match e {
                                Event::Wake(t, 1) => tx.send(t).unwrap(),
                                _ => {}
                            }
                        }
                        s.expect_service(w);
                        s.wait(w);
                    }
                });
            }
            for i in 0..2000u64 {
                let mut inside = &served[i as usize / 3 % served.len()].1;
                inside.write_all(&[(i % 200) as u8 + 1]).unwrap();
                match i % 7 {
                    0 => s.wake_task(250, 2),
                    1 => s.wake_worker(i as usize % workers),
                    2 => s.timer(now_ns() + 20_000, 9, 9),
                    3 => thread::sleep(std::time::Duration::from_micros(i % 300)),
                    _ => {}
                }
                assert_eq!(rx.recv_timeout(std::time::Duration::from_secs(60)).ok(), Some(i % 200 + 1), "{workers} workers, {i}");
            }
            for (bytes, _) in &served {
                let service: Arc<dyn Service> = bytes.clone();
                s.remove_service(&service);
            }
            stop.store(true, SeqCst);
            (0..workers).for_each(|w| s.wake_worker(w));
        });
        assert_eq!(served.iter().map(|(b, _)| b.serves.load(SeqCst)).sum::<usize>(), 2000);
        assert!(served.iter().all(|(b, _)| !b.attended.load(SeqCst)));
    }
}
