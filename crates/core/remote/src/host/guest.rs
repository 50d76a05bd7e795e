//! What comes from other nodes. No cell is made or read here.

use crate::host::arrivals::Arrivals;
use crate::host::pending::{Ended, Outcome};
use crate::host::{After, Host, Incoming, Inner, RunName};
use crate::talk::book::{Asked, Came};
use crate::talk::message::{Call, Carried, How, Message, Target};
use kumi_link::Peer;
use kumi_remote::Time;
use std::sync::Arc;

/// Bytes of a peer's calls that nobody has begun.
const WAITING: usize = 256 << 20;

impl Inner {
    /// A message of its own.
    pub fn message(&mut self, host: &Arc<Host>, now: Time, peer: &Peer, m: Message, after: &mut After) {
        let name = peer.name().clone();
        self.hears(now, peer, after);
        match m {
            Message::Tables(packet) => {
                let node = self.peer(peer).node;
                // One that is none changes nothing.
                let _ = self.tables().packet(now, node, &packet);
            }
            Message::Call(number, call) => {
                let incarnation = peer.incarnation();
                let run = RunName { peer: name, incarnation, number };
                self.called(host, now, Incoming { run, call, since: now, mark: kumi_record::mark() }, after);
            }
            Message::Answer(number, how, carried) => self.answered(host, now, &name, number, how, &carried, after),
            Message::Cancel(number) => {
                let Some(p) = self.peers.get_mut(&name) else { return };
                if let Some(serial) = p.runs.call_off(number) {
                    self.interrupts.push_back(serial);
                    after.wake(self.interrupter.take());
                }
            }
            Message::InDoubt(numbers) => {
                let Some(p) = self.peers.get(&name) else { return };
                for n in numbers {
                    match p.runs.asked(n) {
                        None => {}
                        Some(Asked::Never) => after.send(p, &Message::Never(n)),
                        Some(Asked::Answer(how, carried)) => after.send(p, &Message::Answer(n, how, carried)),
                        Some(Asked::Perhaps(how)) => after.send(p, &Message::Answer(n, how, Carried::default())),
                    }
                }
            }
            Message::Never(number) => {
                let Some(p) = self.peers.get_mut(&name) else { return };
                if p.calls.never(number) {
                    self.go_on(&name, after);
                }
            }
            Message::Here => self.resume(&name, after),
            Message::Over(number) => self.is_over(now, &name, number),
            Message::Moved(old, carried) => self.is_told(host, now, &name, &old, &carried, after),
        }
    }
    /// Answers below are not needed any more.
    fn is_over(&mut self, now: Time, name: &str, over: u64) {
        let Some(p) = self.peers.get_mut(name) else { return };
        let node = p.node;
        for (_, carried) in p.runs.over(over) {
            if let Some((parcel, _)) = carried.parcel {
                self.tables().done(now, node, parcel);
            }
        }
    }
    fn called(&mut self, host: &Arc<Host>, now: Time, incoming: Incoming, after: &mut After) {
        let (name, number) = (incoming.run.peer.clone(), incoming.run.number);
        self.is_over(now, &name, incoming.call.over);
        let Some(p) = self.peers.get_mut(&name) else { return };
        let bytes = incoming.call.len();
        if p.waiting + bytes > WAITING {
            let text = format!("node {} has as much of this node's calls as one may have", host.name);
            return after.send(p, &Message::Answer(number, How::Refused, Carried::plain(text.into_bytes())));
        }
        match p.runs.came(number) {
            Came::New => {}
            Came::Nothing => return,
            Came::Answer(how, carried) => return after.send(p, &Message::Answer(number, how, carried)),
            Came::Perhaps(_) if incoming.call.again && p.runs.again(number) => {}
            Came::Perhaps(how) => return after.send(p, &Message::Answer(number, how, Carried::default())),
            Came::TooMany => {
                let text = format!("node {} has as many calls of this node under way as one may have", host.name);
                return after.send(p, &Message::Answer(number, How::Refused, Carried::plain(text.into_bytes())));
            }
        }
        p.waiting += bytes;
        if let Target::Block(of) = incoming.call.target {
            // The thread that waits for the call runs its block.
            let Some(waiter) = p.calls.get(of).map(|o| o.who.call.clone()).filter(|c| c.block().is_some()) else {
                return self.has_no_block(now, &incoming, after);
            };
            if !waiter.is_future() {
                return waiter.called_back(incoming, after);
            }
        }
        self.servers.queue.push_back(incoming);
        after.wake(self.servers.call_one());
    }
    /// A call of a block that nobody has begun: the call that the block was given to is over.
    pub fn has_no_block(&mut self, now: Time, incoming: &Incoming, after: &mut After) {
        let why = "the call that the block was given to is over";
        self.never_begins(now, &incoming.run, incoming.call.len(), (How::NoObject, why), after);
    }
    /// A call that waited, and took so many bytes meanwhile, is answered without being begun.
    pub fn never_begins(&mut self, now: Time, run: &RunName, bytes: usize, (how, why): (How, &str), after: &mut After) {
        let Some(p) = self.peers.get_mut(&run.peer).filter(|p| p.incarnation == run.incarnation) else { return };
        p.waiting -= bytes;
        self.answer(now, run, how, Carried::plain(why.as_bytes().to_vec()), after);
    }
    /// A call is done.
    pub fn answer(&mut self, now: Time, run: &RunName, how: How, carried: Carried, after: &mut After) {
        self.moves.call_over(after);
        let Some(p) = self.peers.get_mut(&run.peer).filter(|p| p.incarnation == run.incarnation) else { return };
        let node = p.node;
        if !p.runs.ends(run.number, how, &carried) {
            if let Some((parcel, _)) = carried.parcel {
                self.tables().done(now, node, parcel);
            }
            return;
        }
        let gone = p.runs.shed();
        self.send_answer(run, how, carried, after);
        for (_, carried) in gone {
            if let Some((parcel, _)) = carried.parcel {
                self.tables().done(now, node, parcel);
            }
        }
    }
    fn answered(&mut self, host: &Arc<Host>, now: Time, name: &Arc<str>, number: u64, how: How, carried: &Carried, after: &mut After) {
        let Some(p) = self.peers.get_mut(name) else { return };
        if matches!(how, How::Done | How::Unknown) {
            // Whether it may be done again is known where it was done. References in its arguments have been handed over.
            let message = p.calls.get(number).filter(|o| o.who.parcel.is_none()).map(|o| o.message.clone());
            if let Some(bytes) = message.filter(|_| p.calls.doubted(number)) {
                p.calls.say_again(number, Call::said_again(&bytes));
                return self.go_on(name, after);
            }
        }
        let (node, symbols) = (p.node, p.symbols.clone());
        let arrivals = Arrivals::of(host, self, now, node, carried);
        let Some(waiter) = self.end_call(now, name, number) else {
            // Nobody waits for it; what it brings is given back at once.
            if let Ok(arrivals) = arrivals {
                after.drop(arrivals);
            }
            return;
        };
        let ended = match (how, arrivals) {
            (How::Done, _) => Ended::Lost(Outcome::Done, format!("node {name} has done it, and what it answered was lost")),
            (How::Unknown, _) => Ended::Lost(Outcome::PerhapsDone, format!("the connection to node {name} was lost")),
            (how, Ok(arrivals)) => Ended::Answer(how, carried.value.clone(), arrivals, symbols),
            (_, Err(why)) => Ended::Lost(Outcome::Done, format!("what node {name} answered can't be taken: {why}")),
        };
        after.end(waiter.call, ended);
        if let Some(p) = self.peers.get_mut(name)
            && let Some(over) = p.calls.says_over()
        {
            after.send(p, &Message::Over(over));
        }
    }
}
