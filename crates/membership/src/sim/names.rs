//! Two nodes with one name, and one node's lives.

use super::*;
use crate::Member;

#[test]
fn the_later_of_two_with_one_name_is_refused() {
    for (seed, loss) in (0..30).flat_map(|s| [(s, 0), (s, 100)]) {
        let mut w = cluster(4, seed, Config::local());
        w.network.loss = loss;
        let by = w.below(4) as usize;
        // Also by the very node whose name it has.
        let twin = w.start("n02", "10.9.9.9:1", 0, &[address(by).into()]);
        w.run(w.now + 3 * SECOND, |_| false);
        let holder = w.nodes[2].membership.me().clone();
        assert_eq!(ended(&w, twin), Some(&End::Conflict), "seed {seed}, by {by}");
        assert!(w.nodes[twin].told.iter().any(|t| t.1 == Action::Conflict { name: "n02".into(), holder: holder.clone() }));
        assert!(!w.nodes[twin].membership.has_joined());
        for i in 0..4 {
            let noise =
                w.nodes[i].told.iter().filter(|t| !matches!(t.1, Action::Suspect(_) | Action::Refuted(_) | Action::Rejected { .. }));
            assert_eq!(noise.count(), 3, "nobody else noticed: {:?}", w.nodes[i].told);
        }
    }
}

#[test]
fn a_message_says_what_to_do() {
    let holder = Member::new("east", "10.0.0.1:7", 1).unwrap();
    let a = Action::Conflict { name: "east".into(), holder };
    assert_eq!(a.to_string(), "another node named east is in the cluster, at 10.0.0.1:7: choose another name");
}

#[test]
fn a_dead_nodes_name_is_free_again_at_another_address() {
    for seed in 0..20 {
        let mut w = cluster(4, seed, Config::local());
        w.crash(2);
        w.start("n02", "10.9.9.9:1", 0, &[address(0).into()]);
        agree(&mut w, NOTICE).unwrap();
    }
}

#[test]
fn a_restart_replaces_the_earlier_life_at_once() {
    let mut w = cluster(4, 1, Config::local());
    w.crash(2);
    let at = address(2);
    w.start("n02", &at, 0, &[address(0).into()]);
    let took = agree(&mut w, NOTICE).unwrap();
    assert!(took < 500 * MS, "{took}");
    assert_eq!(downs(&w, "n02").iter().filter(|d| d.1 == Why::Replaced).count(), 3);
}

#[test]
fn a_clock_that_went_back_between_two_starts_does_no_harm() {
    for (seed, at) in [(1, address(2)), (2, "10.9.9.9:1".into())] {
        let mut w = cluster(4, seed, Config::local());
        let before = w.nodes[2].membership.me().clone();
        w.crash(2);
        let new = w.start("n02", &at, -900 * SECOND as i64, &[address(0).into()]);
        assert!(w.nodes[new].membership.me().incarnation() < before.incarnation());
        agree(&mut w, NOTICE).unwrap();
        assert!(w.nodes[new].membership.me().incarnation() > before.incarnation());
    }
}

#[test]
fn of_two_let_in_by_two_halves_one_stays() {
    for seed in 0..20 {
        let mut w = cluster(6, seed, Config::local());
        w.nodes.iter_mut().for_each(|n| n.touched = true);
        // n02 is cut off with n01; the others let a second n02 in.
        w.nodes[1].side = 1;
        w.nodes[2].side = 1;
        w.run(w.now + 4 * SECOND, |_| false);
        let second = w.start("n02", "10.9.9.9:1", 0, &[address(0).into()]);
        w.nodes[second].touched = true;
        w.run(w.now + 2 * SECOND, |_| false);
        assert_eq!(holders(&w, "n02").len(), 2);
        w.nodes.iter_mut().for_each(|n| n.side = 0);
        agree(&mut w, AGREE).unwrap();
        assert_eq!(holders(&w, "n02"), [second], "seed {seed}: the later life wins");
        assert_eq!(ended(&w, 2), Some(&End::Conflict));
        steady(&mut w).unwrap();
    }
}
