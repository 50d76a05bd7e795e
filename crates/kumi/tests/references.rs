//! References to objects in segments of other nodes: held wherever the segment is, and by nobody once it is gone.

#[path = "common/nodes.rs"]
mod harness;
#[path = "common/relay.rs"]
mod relay;

use harness::*;
use relay::{cut_often, relayed};

/// What puppets know that have objects, or call them.
const OBJECTS: &str = r#"R = Kumihimo::Remote; class Box; include R; attr_accessor :get; def initialize(v = nil) = @get = v; def put(v) = @get = v; end; class Cart; include R::Movable; attr_accessor :get; def initialize(v) = @get = v; end; def exports = (GC.start; ObjectSpace.exports.size); 1"#;

/// The first of them owns the keys, and has never heard of references. They wait long for each other; leases are about as long as usual.
fn owner_and<const N: usize>(p: &Puppets, names: [&str; N]) -> [Running; N] {
    owner_and_others(p.of_changed(names, |_, c| {
        c.env("KUMI_SEGMENT_LEASE", "2");
    }))
}
fn owner_and_others<const N: usize>(mut all: [Running; N]) -> [Running; N] {
    for node in &mut all[1..] {
        node.is(OBJECTS, "1");
    }
    all
}

#[test]
fn a_reference_in_a_segment_is_held_by_the_segment_alone() {
    let p = Puppets::patient();
    let [mut owner, mut east, mut west] = owner_and(&p, ["owner", "east", "west"]);
    east.is("S['owner'].put('k', { one: Box.new(1), list: [Box.new(2), 'x'] })", "1");
    // It is loaded where it stands, by itself.
    owner.becomes("GC.start; GC.stat(:cluster)[:imports]", "2");
    for node in [&mut owner, &mut east] {
        node.is("3.times { GC.start; Array.new(50_000) { |i| [i] } }; 1", "1");
    }
    east.is("exports", "2");
    // A look leaves it there, and gives the same.
    west.is("$a = S['owner'].peek('k'); [$a[:one].get, $a[:list][0].get, $a[:one].node]", "[1, 2, \"east\"]");
    west.is("$b = S['owner'].take('k'); [$b[:one].equal?($a[:one]), $b[:one] == $a[:one]]", "[true, true]");
    owner.becomes("GC.start; GC.stat(:cluster)[:imports]", "0");
    west.is("$b[:one].put(5); $a = nil; GC.start; $b[:one].get", "5");
    west.is("$b = nil; 1", "1");
    west.becomes("GC.start; GC.stat(:cluster)[:imports]", "0");
    east.becomes("exports", "0");
}

#[test]
fn what_comes_home_is_the_object() {
    let p = Puppets::patient();
    let [mut owner, mut east, mut west] = owner_and(&p, ["owner", "east", "west"]);
    east.is("$box = Box.new(1); S['owner'].put('k', [$box, $box]); S['owner'].peek('k').map { |b| b.equal?($box) }", "[true, true]");
    east.is("S['west'].put('k', $box); 1", "1");
    west.is("$b = S.local.take('k'); S['owner'].put('back', { b: $b, own: Box.new(3) }); [$b.get, R.reference?($b)]", "[1, true]");
    east.is("$back = S['owner'].take('back'); [$back[:b].equal?($box), $back[:own].get]", "[true, 3]");
    // Where it stands among its own objects.
    owner.is(OBJECTS, "1");
    owner.is("$own = Box.new(9); S.local.put('own', [$own], move: true)", "1");
    west.is("$own = S['owner'].take('own')[0]; [$own.get, $own.node]", "[9, \"owner\"]");
    west.is("S['owner'].put('own', $own); 1", "1");
    owner.is("S.local.take('own').equal?($own)", "true");
}

#[test]
fn segments_that_end_let_go_of_what_they_held() {
    let p = Puppets::patient();
    let [mut owner, mut east, mut west] = owner_and(&p, ["owner", "east", "west"]);
    east.is("S['owner'].put('late', Box.new(2), not_before: 0.5)", "nil");
    east.is("S['owner'].put('up', Box.new(3)); S['owner'].update('up', Box.new(4)); 1", "1");
    east.becomes("exports", "2");
    east.is("S['owner'].put('ttl', Box.new(1), ttl: 5); exports", "3");
    west.is("S['owner'].take('late').get", "2");
    west.is("S['owner'].take('up').get", "4");
    west.is("GC.start; 1", "1");
    east.becomes("exports", "0");
    owner.is("S.local.keys", "[]");
    // Refused: the queue is full.
    owner.is("S.local.limit('full', 1); S.local.put('full', 1)", "1");
    east.is("S['owner'].put?('full', Box.new(5))", "false");
    east.is("(S['owner'].put('full', Box.new(5), timeout: 0.1) rescue $!.class)", "Kumihimo::Segments::TimeoutError");
    east.becomes("exports", "0");
    // A put that waits holds what it brings.
    east.is("$put = Thread.new { S['owner'].put('full', Box.new(6)) }; 1", "1");
    owner.becomes("S.local.stat('full')[:waiting_puts]", "1");
    east.is("GC.start; exports", "1");
    west.is("[S['owner'].take('full'), S['owner'].take('full').get]", "[1, 6]");
    east.is("$put.value", "2");
    west.is("GC.start; 1", "1");
    east.becomes("exports", "0");
}

#[test]
fn code_segments_and_watches_have_references() {
    let p = Puppets::patient();
    let [_owner, mut east, mut west] = owner_and(&p, ["owner", "east", "west"]);
    west.is(
        "class Work < Kumihimo::CodeSegment; input :job, take: 'job', from: 'owner'; def run = put('done', { job: job, by: Box.new(job.get + 1) }, on: 'owner'); end; $run = Work.start; 1",
        "1",
    );
    east.is("$box = Box.new(1); S['owner'].put('job', $box); 1", "1");
    east.is("$done = S['owner'].take('done'); [$done[:job].equal?($box), $done[:by].get, $done[:by].node]", "[true, 2, \"west\"]");
    // Who gives back what it took under a lease loses nothing.
    west.is(
        "class Fails < Kumihimo::CodeSegment; input :bad, take: 'bad', from: 'owner'; def run = raise(bad.get); end; Fails.start; 1",
        "1",
    );
    east.is("S['owner'].put('bad', Box.new('it failed')); 1", "1");
    east.is("sleep 0.3; S['owner'].take('bad').get", "\"it failed\"");
}

#[test]
fn no_store_keeps_references() {
    let p = Puppets::patient();
    let [_owner, mut east] = owner_and(&p, ["owner", "east"]);
    let path = p.0.at("store.redb");
    east.is(&format!("$store = S.open({path:?}); $store.put('k', 1)"), "1");
    east.is(
        "$store.put('k', [Box.new(1)]) rescue [$!.class, $!.message[/keeps no references to objects/]]",
        "[Kumihimo::Segments::NotTransferable, \"keeps no references to objects\"]",
    );
    east.is("exports", "0");
}

#[test]
fn a_reference_whose_object_is_lost_says_so_and_the_rest_of_the_value_is_there() {
    let p = Puppets::patient();
    let [_owner, mut east, mut west] = owner_and(&p, ["owner", "east", "west"]);
    east.is("S['owner'].put('k', { box: Box.new(1), n: 5 })", "1");
    west.is("S['owner'].peek('k')[:box].get", "1");
    east.signal(9);
    east.status();
    west.becomes("S['owner'].peek('k')[:n]", "5");
    west.becomes("S['owner'].peek('k')[:box].get rescue $!.class", "Kumihimo::NodeLostError");
    west.is("S['owner'].take('k')[:n]", "5");
}

#[test]
fn what_a_lost_owner_held_is_released() {
    let p = Puppets::patient();
    let [mut owner, mut east] = owner_and(&p, ["owner", "east"]);
    east.is("S['owner'].put('k', Box.new(1)); exports", "1");
    owner.signal(9);
    owner.status();
    east.becomes("exports", "0");
}

#[test]
fn an_object_may_move_while_a_segment_holds_it() {
    let p = Puppets::patient();
    let [_owner, mut east, mut west] = owner_and(&p, ["owner", "east", "west"]);
    east.is("$cart = Cart.new(1); S['owner'].put('k', [$cart]); $cart.move_to('west'); $cart.node", "\"west\"");
    west.is("$cart = S['owner'].peek('k')[0]; [$cart.get, Cart === $cart]", "[1, true]");
    east.is("S['owner'].take('k')[0] == $cart", "true");
    // To where the segment stands, and away from there.
    east.is("S['west'].put('w', [$cart]); $cart = $cart.move_to('east'); [Cart === $cart, $cart.get]", "[true, 1]");
    west.is("$w = S.local.take('w')[0]; [R.reference?($w), $w.get, $w == $cart]", "[true, 1, true]");
}

#[test]
fn a_cycle_through_a_segment_goes_once_the_segment_has_gone() {
    let p = Puppets::new();
    // Rounds are as far apart as nodes are patient: these are so only a little.
    let [_owner, mut east, mut west] = owner_and_others(p.of_changed(["owner", "east", "west"], |_, c| {
        c.args(["--patience", "2"]).env("KUMI_SEGMENT_LEASE", "5");
    }));
    east.is("$a = Box.new; S['west'].put('a', $a); 1", "1");
    west.is("$b = Box.new(S.local.take('a')); $b.get.put($b); S['owner'].put('k', $b); $b = nil; 1", "1");
    east.is("$a = nil; 3.times { GC.start; sleep 0.1 }; exports", "1");
    // Rounds come and go, and both are there.
    east.is("sleep 5; exports", "1");
    east.is("$a = S['owner'].take('k').get; $a.get.get.equal?($a)", "true");
    east.is("$a = nil; GC.start; 1", "1");
    for node in [&mut east, &mut west] {
        node.becomes("exports", "0");
    }
}

#[test]
fn connections_that_break_lose_no_reference() {
    // On a machine that has no time for it a node is believed to have gone: then nothing was seen, and it is tried again.
    assert!((0..3).any(|_| puts_over_connections_that_break()), "the other node was given up each time");
}
fn puts_over_connections_that_break() -> bool {
    let ([mut east, mut west], relays) = relayed(["east", "west"], OBJECTS);
    // Each number is put by its object, and taken once; what is taken is called.
    east.is("$put = Thread.new { 300.times { |i| S['west'].put('k', [i, Box.new(i)]) } }; 1", "1");
    east.is("$got = Thread.new { Array.new(300) { i, box = S['west'].take('back'); [i, box.get] } }; 1", "1");
    west.is("$put = Thread.new { 300.times { |i| S['east'].put('k', [i, Box.new(i)]) } }; 1", "1");
    west.is("$mid = Thread.new { 300.times { v = S.local.take('k'); S.local.put('back', v, move: true) } }; 1", "1");
    east.is("$own = Thread.new { Array.new(300) { i, box = S.local.take('k'); [i, box.get] } }; 1", "1");
    cut_often(&relays, 10);
    // Who puts is asked before who takes, who would wait for ever for what a lost node has not put.
    let whole = |thread: &str| format!("{thread}.value.sort == Array.new(300) {{ |i| [i, i] }} || {thread}.value.first(5)");
    let all = gives(&mut east, "$put.value", "300")
        && gives(&mut west, "$put.value", "300")
        && gives(&mut west, "$mid.value", "300")
        && gives(&mut east, &whole("$got"), "true")
        && gives(&mut east, &whole("$own"), "true");
    if !all {
        return false;
    }
    for node in [&mut east, &mut west] {
        node.is("$put = $got = $own = $mid = nil; GC.start; 1", "1");
    }
    for node in [&mut east, &mut west] {
        node.becomes("exports", "0");
    }
    true
}
/// What a thread has come to. `false`: it was told that the other node is gone.
fn gives(node: &mut Running, code: &str, want: &str) -> bool {
    let said = node.ask(code);
    let gone = ["Kumihimo::NodeLostError", "NodeLost: ", "NotConnected: there is no node"].iter().any(|error| said.starts_with(*error));
    if !gone {
        assert_eq!(said, want, "{code}; standard error: {}", node.errors());
    }
    !gone
}
