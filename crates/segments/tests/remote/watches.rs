//! Keys that are watched from elsewhere.

use crate::pair::{Pair, Result, SECOND, put};
use kumi_segments::{Call, Done, Failure, NodeOptions, Refusal, Watch, What};

fn watch(number: u64, most: u64) -> Call<u64> {
    Call::Watch(Watch::Begin { watch: number, key: b"k".to_vec(), most })
}
fn events(r: &Result) -> Vec<(What, u64, Option<u64>, u64)> {
    match r {
        Ok(Done::Events(all)) => all.iter().map(|e| (e.what, e.index, e.value, e.missed)).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_key_is_watched_from_elsewhere() {
    let mut p = Pair::new();
    p.call(put(b"k", 1)).unwrap();
    assert_eq!(p.call(watch(7, 3)), Ok(Done::Ok));
    // It waits for what happens next.
    let (token, _) = p.ask(Call::Watch(Watch::Next(7)), None);
    p.carry();
    assert!(!p.out.ended.contains_key(&token));
    p.call(put(b"k", 2)).unwrap();
    p.carry();
    assert_eq!(events(&p.out.ended[&token]), [(What::Put, 2, Some(2), 0)]);
    // Nobody asks: the oldest are missed.
    for n in 3..9 {
        p.call(put(b"k", n)).unwrap();
    }
    let more = p.call(Call::Watch(Watch::Next(7)));
    assert_eq!(events(&more), [(What::Put, 6, Some(6), 3), (What::Put, 7, Some(7), 0), (What::Put, 8, Some(8), 0)]);
    // Its end answers whoever waits.
    let (token, _) = p.ask(Call::Watch(Watch::Next(7)), None);
    p.carry();
    assert_eq!(p.call(Call::Watch(Watch::End(7))), Ok(Done::Ok));
    p.carry();
    assert_eq!(events(&p.out.ended[&token]), []);
    assert_eq!(events(&p.call(Call::Watch(Watch::Next(7)))), []);
    p.pass(SECOND);
    assert_eq!(p.node.open_calls(), 0);
}

#[test]
fn events_that_got_lost_come_again_and_none_is_told_twice() {
    let mut p = Pair::new();
    p.call(watch(1, 10)).unwrap();
    p.call(put(b"k", 1)).unwrap();
    let (token, _) = p.ask(Call::Watch(Watch::Next(1)), None);
    p.there();
    p.back.clear();
    p.call(put(b"k", 2)).unwrap();
    let now = p.local();
    p.client.disconnected();
    p.client.connected(now, &mut p.out);
    p.carry();
    assert_eq!(events(&p.out.ended[&token]), [(What::Put, 1, Some(1), 0)]);
    assert_eq!(events(&p.call(Call::Watch(Watch::Next(1)))), [(What::Put, 2, Some(2), 0)]);
}

#[test]
fn watches_end_with_their_session_and_take_no_more_than_their_bounds() {
    let mut p = Pair::new();
    let most = NodeOptions::default().watches as u64;
    for n in 0..most {
        assert_eq!(p.call(watch(n, u64::MAX)), Ok(Done::Ok));
    }
    let full = Err(Failure::Refused(Refusal::Quota));
    assert_eq!((p.call(watch(most, 1)), p.call(watch(0, 1))), (full.clone(), full.clone()));
    p.call(Call::Watch(Watch::End(0))).unwrap();
    assert_eq!(p.call(watch(0, u64::MAX)), Ok(Done::Ok));
    // Events are kept up to a bound, whatever was asked for, and one answer at a time is.
    for n in 0..30_000 {
        p.node.with(|_: &u64| {}, |m, wake| m.put(p.now, m.find_key(b"k").unwrap(), kumi_segments::New::shared(n), wake)).unwrap();
    }
    let (first, _) = p.ask(Call::Watch(Watch::Next(0)), None);
    let (second, _) = p.ask(Call::Watch(Watch::Next(0)), None);
    p.carry();
    assert_eq!(events(&p.out.ended[&first])[0], (What::Put, 20_001, Some(20_000), 20_000));
    assert_eq!(p.out.ended[&second], full);
    let mut seen = events(&p.out.ended[&first]).len();
    while seen < 10_000 {
        seen += events(&p.call(Call::Watch(Watch::Next(0)))).len();
    }
    assert_eq!(seen, 10_000);
    // Who is gone watches nothing.
    let (token, _) = p.ask(Call::Watch(Watch::Next(0)), None);
    p.carry();
    p.node.gone(p.now, b"client", |_| {}, &mut |_, _| {});
    let mut told = 0;
    let key = p.node.manager().find_key(b"k").unwrap();
    p.node.manager().each_value_under(key, |_| told += 1);
    assert_eq!(told, 30_000, "those that stand there, and none in a watch");
    p.pass(6 * SECOND);
    assert_eq!(p.out.ended[&token], Err(Failure::Unknown));
    assert_eq!(events(&p.call(Call::Watch(Watch::Next(0)))), []);
}
