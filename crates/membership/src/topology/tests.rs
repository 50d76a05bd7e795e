//! What a user sees of the shapes, and that they agree with each other.

use super::*;
use std::collections::BTreeMap;

fn names(n: usize) -> Vec<Name> {
    (0..n).map(|i| format!("n{i:02}").into()).collect()
}

fn show(t: &Topology, members: &[Name], me: &str) -> String {
    t.links(members, me).iter().map(|l| format!("{}={}", l.label, l.to)).collect::<Vec<_>>().join(" ")
}

#[test]
fn shapes() {
    let five = names(5);
    for (t, me, links) in [
        (Topology::Ring, "n00", "right=n01 left=n04"),
        (Topology::Ring, "n04", "right=n00 left=n03"),
        (Topology::Line, "n00", "right=n01"),
        (Topology::Line, "n04", "left=n03"),
        (Topology::Star(None), "n03", "center=n00"),
        (Topology::Star(Some("n03".into())), "n03", "leaf=n00 leaf=n01 leaf=n02 leaf=n04"),
        (Topology::Star(Some("gone".into())), "n03", "center=n00"),
        (Topology::Tree(2), "n00", "left=n01 right=n02"),
        (Topology::Tree(2), "n01", "parent=n00 left=n03 right=n04"),
        (Topology::Tree(3), "n00", "child.0=n01 child.1=n02 child.2=n03"),
        (Topology::Tree(3), "n01", "parent=n00 child.0=n04"),
        (Topology::Tree(0), "n01", "parent=n00 child.0=n02"),
        (Topology::Mesh, "n02", "peer=n00 peer=n01 peer=n03 peer=n04"),
        (Topology::Mesh, "stranger", ""),
    ] {
        assert_eq!(show(&t, &five, me), links, "{t:?} {me}");
        let mut mixed = five.clone();
        mixed.reverse();
        mixed.push("n02".into());
        assert_eq!(show(&t, &mixed, me), links, "{t:?} {me}, mixed");
    }
    assert_eq!(show(&Topology::Ring, &names(1), "n00"), "right=n00 left=n00");
    assert_eq!(show(&Topology::Ring, &names(2), "n00"), "right=n01 left=n01");
}

#[test]
fn every_link_has_its_counterpart() {
    let back = |label: &str| match label {
        "right" => "left",
        "left" => "right",
        "center" => "leaf",
        "leaf" => "center",
        "peer" => "peer",
        other => panic!("{other}"),
    };
    for n in 1..40 {
        let all = names(n);
        for t in [Topology::Ring, Topology::Line, Topology::Star(None), Topology::Mesh] {
            for me in &all {
                for l in t.links(&all, me).iter() {
                    assert!(t.links(&all, &l.to).all(back(&l.label)).any(|x| x == me), "{t:?} {me} {l:?}");
                }
            }
        }
        for arity in [1, 2, 3, 7] {
            let t = Topology::Tree(arity);
            for me in &all {
                let links = t.links(&all, me);
                assert_eq!(links.get("parent").is_none(), *me == all[0]);
                for l in links.iter().filter(|l| &*l.label != "parent") {
                    assert_eq!(t.links(&all, &l.to).get("parent"), Some(me));
                }
            }
        }
    }
}

#[test]
fn who_leaves_changes_its_neighbours_only() {
    let all = names(6);
    let without: Vec<Name> = all.iter().filter(|n| &***n != "n02").cloned().collect();
    let change = |t: &Topology, me: &str| t.links(&without, me).diff(&t.links(&all, me));
    let c = change(&Topology::Ring, "n01");
    assert_eq!((c.gone.len(), &*c.gone[0].to, &*c.come[0].to, c.come.len()), (1, "n02", "n03", 1));
    assert_eq!(change(&Topology::Ring, "n05"), Change::default());
    let c = change(&Topology::Mesh, "n05");
    assert_eq!((c.gone.len(), c.come.len()), (1, 0));
}

#[test]
fn given_links_are_checked() {
    let map = |links: &[(&str, &[(&str, &str)])]| -> BTreeMap<Name, BTreeMap<Name, Name>> {
        links.iter().map(|(n, to)| ((*n).into(), to.iter().map(|(l, t)| ((*l).into(), (*t).into())).collect())).collect()
    };
    let given = Given::new(map(&[("a", &[("down", "b"), ("up", "c")]), ("b", &[]), ("c", &[("back", "a")])])).unwrap();
    let t = Topology::Given(given);
    let members: Vec<Name> = ["a", "b", "c"].map(Name::from).into();
    assert_eq!(show(&t, &members, "a"), "down=b up=c");
    assert_eq!(show(&t, &members[..2], "a"), "down=b");
    assert_eq!(show(&t, &members, "b"), "");
    for (bad, says) in [
        (map(&[("a", &[("x", "b")])]), "the link x of node a leads to b, which is no node of the topology"),
        (map(&[("a", &[("x", "a")])]), "the link x of node a leads to itself"),
        (map(&[("a", &[("", "b")]), ("b", &[])]), "\"\" is no name of a node or a link: it takes 1 to 64 bytes"),
    ] {
        assert_eq!(Given::new(bad).unwrap_err().to_string(), says);
    }
}
