//! Whose turn it is on a worker where threads that compute and threads that hand work to and fro meet: the latter need not
//! wait for the former's turns each time, and neither keeps the other from running.

use std::process::Command;

/// Standard output of a program on one worker; it must end well.
fn on_one_worker(program: &str) -> Vec<u64> {
    let mut c = Command::new(env!("CARGO_BIN_EXE_kumi"));
    c.args(["-W0", "-e", program]).env_remove("RUBYOPT").env_remove("KUMI_SCHED_STRESS").env("KUMI_WORKERS", "1");
    let out = c.output().unwrap();
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(out.status.success(), "{:?}\n{text}\n{}", out.status, String::from_utf8_lossy(&out.stderr));
    text.split_whitespace().map(|w| w.parse().unwrap()).collect()
}

/// `$turns` counts how often a thread that computes got the worker.
const BURNERS: &str = "
$last, $turns, $done = nil, 0, false
def burners(n) = n.times.map { |i| Thread.new { until $done do ($last = i; $turns += 1) if $last != i end } }
";

#[test]
fn a_pair_that_starts_and_ends_beside_burners_waits_for_few_of_their_turns() {
    // A turn goes by the wall clock: where the system gives the processor to others there are more of them. So the first round counts in
    // which it hardly did, or else the best of ten.
    let n = on_one_worker(&format!(
        "{BURNERS}
def now(clock) = Process.clock_gettime(clock)
all = burners(2)
Thread.pass until $turns >= 4
least = nil
10.times do
  before, wall, own = $turns, now(Process::CLOCK_MONOTONIC), now(Process::CLOCK_PROCESS_CPUTIME_ID)
  40.times do
    there, back = Queue.new, Queue.new
    echo = Thread.new {{ 5.times {{ back << there.pop }} }}
    ask = Thread.new {{ 5.times {{ |i| $last = :pair; there << i; back.pop }} }}
    [echo, ask].each(&:join)
  end
  turns = $turns - before
  calm = now(Process::CLOCK_PROCESS_CPUTIME_ID) - own > 0.95 * (now(Process::CLOCK_MONOTONIC) - wall)
  least = calm ? turns : [least, turns].compact.min
  break if calm
end
puts least
$done = true
all.each(&:join)"
    ));
    // Each pair takes a small part of a turn. Behind the burners it waited for four of theirs.
    assert!(n[0] < 40, "{} turns of burners while 40 pairs began and ended", n[0]);
}

#[test]
fn a_pair_and_burners_both_go_on_for_ever() {
    let n = on_one_worker(&format!(
        "{BURNERS}
there, back = Queue.new, Queue.new
trips = 0
Thread.new {{ loop {{ back << there.pop }} }}
Thread.new {{ loop {{ $last = :pair; there << 1; back.pop; trips += 1 }} }}
burners(2)
seen = 0
6.times do
  t, b = trips, $turns
  Thread.pass until trips > t && $turns >= b + 2
  seen += 1
end
puts seen
$stdout.flush
exit!(0)"
    ));
    assert_eq!(n, [6]);
}
