//! What is known of calls between this node and another, in both directions. Nothing of Ruby, no socket, no clock.
//!
//! **Invariant.** A call has a number, which its caller gives once; whoever is called does it once. A call that was sent and had no
//! answer when its connection ended is *in doubt*. On the next connection its caller asks: what never came is sent again, what runs is
//! waited for, what was done is answered again as long as the answer is kept. Answers are kept until the caller's calls of lower
//! numbers are over, and up to a measure; beyond, it is known that a call was done, and beyond that no more than that it may have been.

use crate::talk::message::{Carried, How};
use kumi_wire::Bytes;
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of answers that are kept for one peer.
const KEPT_BYTES: usize = 4 << 20;
/// Answers of which it is known that they were given.
const KEPT: usize = 1 << 17;
/// Calls of one peer that run or wait at a time.
pub const RUNNING: usize = 1 << 17;
/// Calls that were called off before they came.
const CALLED_OFF: usize = 1 << 12;

/// On which way a message of so many bytes goes: the small ones', the large ones'.
pub fn lane(bytes: usize) -> usize {
    usize::from(bytes > kumi_link::SMALL)
}

/// This node's calls of a peer.
pub struct Calls<T> {
    next: u64,
    open: BTreeMap<u64, Open<T>>,
    /// Those of them that are to be sent: small ones, large ones.
    unsent: [BTreeSet<u64>; 2],
    /// The last number that the peer heard to be over, and the answers that came since.
    said: u64,
    answers: u32,
}

/// One that has no answer.
pub struct Open<T> {
    /// Who waits for it.
    pub who: T,
    /// To be said again.
    pub message: Bytes,
    /// It was sent, on some connection.
    pub sent: bool,
    /// It was asked for after a connection had ended.
    doubt: bool,
}

impl<T> Default for Calls<T> {
    fn default() -> Calls<T> {
        Calls { next: 1, open: BTreeMap::new(), unsent: Default::default(), said: 1, answers: 0 }
    }
}

impl<T> Calls<T> {
    /// The number of the next call, and that below which all are over.
    pub fn next(&self) -> (u64, u64) {
        (self.next, self.over())
    }
    fn over(&self) -> u64 {
        self.open.keys().next().copied().unwrap_or(self.next)
    }
    /// A call begins. `sent`: it is about to be.
    pub fn begin(&mut self, who: T, message: Bytes, sent: bool) -> u64 {
        let number = self.next;
        self.next += 1;
        let over = self.over();
        self.said = self.said.max(over);
        self.open.insert(number, Open { who, message, sent: true, doubt: false });
        if !sent {
            self.not_sent(number);
        }
        number
    }
    pub fn get(&self, number: u64) -> Option<&Open<T>> {
        self.open.get(&number)
    }
    pub fn len(&self) -> usize {
        self.open.len()
    }
    /// It was not sent after all.
    pub fn not_sent(&mut self, number: u64) {
        if let Some(o) = self.open.get_mut(&number) {
            o.sent = false;
            self.unsent[lane(o.message.len())].insert(number);
        }
    }
    /// The next one that is to be sent on this lane: it is about to be.
    pub fn next_unsent(&mut self, lane: usize) -> Option<(u64, Bytes)> {
        let number = self.unsent[lane].pop_first()?;
        let o = self.open.get_mut(&number)?;
        o.sent = true;
        Some((number, o.message.clone()))
    }
    /// It is over.
    pub fn end(&mut self, number: u64) -> Option<Open<T>> {
        self.answers += 1;
        let open = self.open.remove(&number)?;
        if !open.sent {
            self.unsent[lane(open.message.len())].remove(&number);
        }
        Some(open)
    }
    /// What the peer should hear is over, where it has not heard so by calls for long.
    pub fn says_over(&mut self) -> Option<u64> {
        if self.answers < 256 {
            return None;
        }
        self.answers = 0;
        let over = self.over();
        (std::mem::replace(&mut self.said, over) < over).then_some(over)
    }
    /// A connection is there: of which it is to be asked.
    pub fn connected(&mut self) -> Vec<u64> {
        let sent = self.open.iter_mut().filter(|(_, o)| o.sent);
        sent.map(|(n, o)| (*n, o.doubt = true).0).collect()
    }
    /// The peer never had this one. Whether it is to be sent again.
    pub fn never(&mut self, number: u64) -> bool {
        let doubted = self.doubted(number);
        if doubted {
            self.not_sent(number);
        }
        doubted
    }
    /// It is to be sent again, as this.
    pub fn say_again(&mut self, number: u64, message: Bytes) {
        if let Some(o) = self.open.get_mut(&number) {
            o.message = message;
            self.not_sent(number);
        }
    }
    /// Was it asked for after a connection had ended? Once.
    pub fn doubted(&mut self, number: u64) -> bool {
        self.open.get_mut(&number).is_some_and(|o| std::mem::take(&mut o.doubt))
    }
    /// All are over.
    pub fn end_all(&mut self) -> Vec<(u64, Open<T>)> {
        self.unsent = Default::default();
        std::mem::take(&mut self.open).into_iter().collect()
    }
}

/// A peer's calls of this node.
pub struct Runs {
    /// Those below are over.
    over: u64,
    running: BTreeMap<u64, State>,
    /// `None`: it was done, and its answer is not kept.
    kept: BTreeMap<u64, Option<Kept>>,
    /// Those of them whose bytes are kept, and how many bytes that is.
    whole: BTreeSet<u64>,
    bytes: usize,
    /// Answers in whose place others stand.
    replaced: Vec<Kept>,
    /// Of lower numbers nothing is known.
    forgotten: u64,
    called_off: BTreeSet<u64>,
}

/// An answer.
pub type Kept = (How, Carried);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    Waits,
    /// As the run of this serial.
    Runs(u64),
    CalledOff,
}

/// What to do with a call that came.
pub enum Came {
    /// It is new.
    New,
    /// Nothing: it runs, is over, or was called off.
    Nothing,
    /// It was answered before: so.
    Answer(How, Carried),
    /// It was done or may have been; whether it is done again is the method's affair.
    Perhaps(How),
    /// The peer has too many.
    TooMany,
}

impl Default for Runs {
    fn default() -> Runs {
        Runs {
            over: 1,
            running: BTreeMap::new(),
            kept: BTreeMap::new(),
            whole: BTreeSet::new(),
            bytes: 0,
            replaced: Vec::new(),
            forgotten: 1,
            called_off: BTreeSet::new(),
        }
    }
}

impl Runs {
    /// All of the peer's calls below are over. Answers that are not needed any more: those with references are to be called off.
    pub fn over(&mut self, over: u64) -> Vec<Kept> {
        if over <= self.over {
            return Vec::new();
        }
        self.over = over;
        self.called_off = self.called_off.split_off(&over);
        self.whole = self.whole.split_off(&over);
        let rest = self.kept.split_off(&over);
        let gone = std::mem::replace(&mut self.kept, rest);
        let gone: Vec<Kept> = gone.into_values().flatten().collect();
        self.bytes -= gone.iter().map(weight).sum::<usize>();
        gone
    }
    /// How many run or wait.
    pub fn len(&self) -> usize {
        self.running.len()
    }
    /// A call has come.
    pub fn came(&mut self, number: u64) -> Came {
        if number < self.over || self.running.contains_key(&number) {
            return Came::Nothing;
        }
        if self.called_off.remove(&number) {
            return Came::Nothing;
        }
        match self.kept.get(&number) {
            Some(Some((how, carried))) if *how != How::Done => return Came::Answer(*how, carried.clone()),
            Some(_) => return Came::Perhaps(How::Done),
            None if number < self.forgotten => return Came::Perhaps(How::Unknown),
            None => {}
        }
        if self.running.len() >= RUNNING {
            return Came::TooMany;
        }
        self.running.insert(number, State::Waits);
        Came::New
    }
    /// One whose answer is gone is done again. False: the peer has too many.
    pub fn again(&mut self, number: u64) -> bool {
        let room = self.running.len() < RUNNING;
        if room {
            self.running.insert(number, State::Waits);
        }
        room
    }
    /// Does nobody do it yet, and is it wanted?
    pub fn waits(&self, number: u64) -> bool {
        self.running.get(&number) == Some(&State::Waits)
    }
    /// Somebody does it, as the run of this serial. False: it was called off.
    pub fn begins(&mut self, number: u64, serial: u64) -> bool {
        match self.running.get_mut(&number) {
            Some(s @ State::Waits) => {
                *s = State::Runs(serial);
                true
            }
            _ => {
                self.running.remove(&number);
                false
            }
        }
    }
    /// It is done; this is the answer. False: nobody wants it.
    pub fn ends(&mut self, number: u64, how: How, carried: &Carried) -> bool {
        let wanted = self.running.remove(&number).is_some_and(|s| s != State::CalledOff);
        if number >= self.over && wanted {
            let kept = (how, carried.clone());
            self.bytes += weight(&kept);
            self.whole.insert(number);
            if let Some(before) = self.kept.insert(number, Some(kept)).flatten() {
                self.bytes -= weight(&before);
                self.replaced.push(before);
            }
        }
        wanted
    }
    /// Forgets answers that are too many. Those with references that are forgotten wholly.
    pub fn shed(&mut self) -> Vec<Kept> {
        let mut gone = std::mem::take(&mut self.replaced);
        while self.bytes > KEPT_BYTES {
            let Some(kept) = self.whole.pop_first().and_then(|n| self.kept.get_mut(&n)) else { break };
            let Some(whole) = kept.take() else { continue };
            self.bytes -= weight(&whole);
            // It may be on its way: what it refers to is protected until its caller's calls are over.
            *kept = whole.1.parcel.map(|(parcel, _)| (How::Done, Carried { parcel: Some((parcel, Vec::new())), value: Bytes::new() }));
        }
        while self.kept.len() > KEPT {
            let Some((n, kept)) = self.kept.pop_first() else { break };
            self.forgotten = self.forgotten.max(n.saturating_add(1));
            self.whole.remove(&n);
            if let Some(kept) = kept {
                self.bytes -= weight(&kept);
                gone.push(kept);
            }
        }
        gone
    }
    /// It is not wanted any more. The run in which somebody does it.
    pub fn call_off(&mut self, number: u64) -> Option<u64> {
        match self.running.get_mut(&number) {
            Some(s) => match std::mem::replace(s, State::CalledOff) {
                State::Runs(serial) => Some(serial),
                _ => None,
            },
            None => {
                // It may come later: large calls go another way than small messages.
                if number >= self.over && !self.kept.contains_key(&number) && self.called_off.len() < CALLED_OFF {
                    self.called_off.insert(number);
                }
                None
            }
        }
    }
    /// Is it done though nobody wants it?
    pub fn is_called_off(&self, number: u64) -> bool {
        self.running.get(&number) == Some(&State::CalledOff)
    }
    /// Nobody wants any of them any more. The serials of those that somebody does.
    pub fn call_off_all(&mut self) -> Vec<u64> {
        let off = self.running.values_mut().map(|s| std::mem::replace(s, State::CalledOff));
        off.filter_map(|s| if let State::Runs(serial) = s { Some(serial) } else { None }).collect()
    }
    /// Does somebody do it, who may still want its caller's block?
    pub fn is_under_way(&self, number: u64) -> bool {
        matches!(self.running.get(&number), Some(State::Runs(_)))
    }
    /// How many run or wait, how many were called off before they came, and bytes of answers.
    #[cfg(test)]
    pub fn held(&self) -> (usize, usize, usize) {
        (self.running.len(), self.called_off.len(), self.bytes)
    }
    /// Is anything of its answer kept?
    #[cfg(test)]
    pub fn keeps(&self, number: u64) -> bool {
        self.kept.get(&number).is_some_and(Option::is_some)
    }
    /// What to answer to a peer that asks for a call. `None`: it runs.
    pub fn asked(&self, number: u64) -> Option<Asked> {
        if self.running.contains_key(&number) {
            return None;
        }
        Some(match self.kept.get(&number) {
            Some(Some((how, carried))) if *how != How::Done => Asked::Answer(*how, carried.clone()),
            Some(_) => Asked::Perhaps(How::Done),
            None if number < self.forgotten || number < self.over => Asked::Perhaps(How::Unknown),
            None => Asked::Never,
        })
    }
}

/// See [`Runs::asked`].
pub enum Asked {
    Never,
    Answer(How, Carried),
    Perhaps(How),
}

/// What an answer counts for whose bytes are kept.
fn weight((how, carried): &Kept) -> usize {
    if *how == How::Done { 0 } else { 128 + carried.len() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(n: usize) -> Carried {
        Carried::plain(vec![0; n])
    }

    #[test]
    fn a_call_is_done_once_whatever_is_said_again() {
        let mut runs = Runs::default();
        assert!(matches!(runs.came(1), Came::New));
        assert!(matches!(runs.came(1), Came::Nothing));
        assert!(runs.asked(1).is_none());
        assert!(runs.begins(1, 1));
        assert!(runs.ends(1, How::Value, &value(3)));
        assert!(matches!(runs.came(1), Came::Answer(How::Value, _)));
        assert!(matches!(runs.asked(1), Some(Asked::Answer(..))));
        assert!(matches!(runs.asked(2), Some(Asked::Never)));
        assert_eq!(runs.over(2).len(), 1);
        assert!(matches!(runs.came(1), Came::Nothing));
        assert_eq!(runs.bytes, 0);
    }

    #[test]
    fn what_is_not_kept_is_known_to_be_done_and_then_perhaps() {
        let mut runs = Runs::default();
        for n in 1..=3 {
            runs.came(n);
            runs.begins(n, n);
            runs.ends(n, How::Value, &value(KEPT_BYTES / 2));
            runs.shed();
        }
        assert!(matches!(runs.asked(1), Some(Asked::Perhaps(How::Done))));
        assert!(matches!(runs.asked(3), Some(Asked::Answer(..))));
        for n in 4..=KEPT as u64 + 4 {
            runs.came(n);
            runs.begins(n, n);
            runs.ends(n, How::Value, &value(0));
            runs.shed();
        }
        assert!(matches!(runs.asked(1), Some(Asked::Perhaps(How::Unknown))));
        assert!(matches!(runs.came(1), Came::Perhaps(How::Unknown)));
        assert!(runs.bytes <= KEPT_BYTES && runs.kept.len() <= KEPT);
    }

    #[test]
    fn a_call_may_be_called_off_before_it_comes() {
        let mut runs = Runs::default();
        assert_eq!(runs.call_off(5), None);
        assert!(matches!(runs.came(5), Came::Nothing));
        runs.came(6);
        assert_eq!(runs.call_off(6), None);
        assert!(!runs.begins(6, 1));
        runs.came(7);
        runs.begins(7, 20);
        assert_eq!(runs.call_off(7), Some(20));
        assert!(!runs.ends(7, How::Value, &value(1)));
        assert!(runs.running.is_empty());
    }

    #[test]
    fn a_lost_call_is_asked_for_and_said_again_once() {
        let mut calls: Calls<u8> = Calls::default();
        let a = calls.begin(1, Bytes::from_static(b"a"), true);
        let b = calls.begin(2, Bytes::from_static(b"b"), false);
        assert_eq!(calls.connected(), vec![a]);
        assert_eq!(calls.next_unsent(0).map(|u| u.0), Some(b));
        assert!(calls.never(a));
        assert!(!calls.never(a), "a second word of it changes nothing");
        assert!(!calls.never(b));
        assert_eq!(calls.next_unsent(0).map(|u| u.0), Some(a));
        assert!(calls.next_unsent(0).is_none() && calls.next_unsent(1).is_none());
        assert_eq!(calls.end(a).map(|o| o.who), Some(1));
        assert_eq!(calls.next(), (3, b));
    }

    #[test]
    fn references_of_answers_that_are_not_kept_stay_until_the_calls_are_over() {
        let mut fields = kumi_wire::Decoder::new(&[1, 2, 3, 4, 9, 2, 0]);
        let parcel = kumi_remote::Parcel::read(&mut fields).unwrap();
        let mut runs = Runs::default();
        for n in 1..=4 {
            runs.came(n);
            runs.begins(n, n);
            runs.ends(n, How::Value, &Carried { parcel: Some((parcel, Vec::new())), ..value(KEPT_BYTES / 2) });
            assert!(runs.shed().is_empty());
        }
        assert!(matches!(runs.asked(1), Some(Asked::Perhaps(How::Done))));
        assert!(matches!(runs.asked(4), Some(Asked::Answer(..))));
        assert_eq!(runs.over(5).len(), 4);
        assert_eq!(runs.bytes, 0);
    }
}
