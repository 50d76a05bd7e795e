//! What this node knows of the others: a copy of SWIM's list, by name, with what SWIM has no use for.
//!
//! **Invariant.** After each event the copy is SWIM's list, and every difference has been told as an action.

use crate::action::{Action, Why};
use crate::member::{Member, Name};
use crate::packet::{LEFT, News};
use foca::{Header, State};
use std::collections::{BTreeMap, VecDeque};

/// A challenge to the holder of a name that another node wants.
#[derive(Debug, Clone, Copy)]
pub(super) struct Challenge {
    /// The number of the ping.
    pub(super) number: u8,
    pub(super) at: u64,
    pub(super) answered: bool,
}

/// Another member.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) member: Member,
    /// SWIM's incarnation.
    pub(super) incarnation: u16,
    pub(super) state: State,
    /// When it went down, in own time.
    pub(super) down_at: u64,
    /// When it was last asked whether it is really down.
    pub(super) asked_at: Option<u64>,
    pub(super) challenge: Option<Challenge>,
}

impl Known {
    pub(super) fn is_up(&self) -> bool {
        self.state != State::Down
    }

    /// Whether nothing is new in what a packet says of its sender.
    pub(super) fn is_just(&self, header: &Header<Member>) -> bool {
        self.state == State::Alive && self.incarnation == header.src_incarnation && self.member == header.src
    }

    pub(super) fn has_left(&self) -> bool {
        !self.is_up() && self.incarnation == LEFT
    }
}

#[derive(Default)]
pub(super) struct Table {
    known: BTreeMap<Name, Known>,
    up: usize,
}

impl Table {
    pub(super) fn get(&self, name: &str) -> Option<&Known> {
        self.known.get(name)
    }

    pub(super) fn get_mut(&mut self, name: &str) -> Option<&mut Known> {
        self.known.get_mut(name)
    }

    /// All, by name.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Known> {
        self.known.values()
    }

    /// This node's life is another: answers to the one before do not come.
    pub(super) fn drop_challenges(&mut self) {
        self.known.values_mut().for_each(|k| k.challenge = None);
    }

    pub(super) fn up(&self) -> usize {
        self.up
    }

    pub(super) fn down(&self) -> usize {
        self.known.len() - self.up
    }

    pub(super) fn remove(&mut self, name: &str) {
        if let Some(k) = self.known.remove(name) {
            self.up -= usize::from(k.is_up());
        }
    }

    /// Whoever has been down for longest.
    pub(super) fn oldest_down(&self) -> Option<&Known> {
        self.known.values().filter(|k| !k.is_up()).min_by_key(|k| k.down_at)
    }

    /// SWIM knows this now.
    pub(super) fn take_over(&mut self, news: &News, now: u64, out: &mut VecDeque<Action>) {
        let (member, state, incarnation) = (news.id(), news.state(), news.incarnation());
        let is_up = state != State::Down;
        let before = self.known.get_mut(member.name());
        let was_up = before.as_ref().is_some_and(|k| k.is_up());
        let same = before.as_ref().is_some_and(|k| k.member == *member);
        if let Some(k) = before {
            if same && k.state == state {
                // The common case. A refutation of a suspicion that was not heard of here changes a number only.
                k.incarnation = incarnation;
                return;
            }
            if was_up && !same {
                out.push_back(Action::Down(k.member.clone(), Why::Replaced));
            }
        }
        if same && was_up && !is_up {
            out.push_back(Action::Down(member.clone(), if incarnation == LEFT { Why::Left } else { Why::Failed }));
        }
        if is_up && !(was_up && same) {
            out.push_back(Action::Up(member.clone()));
        }
        match state {
            State::Suspect => out.push_back(Action::Suspect(member.clone())),
            State::Alive if was_up && same => out.push_back(Action::Refuted(member.clone())),
            _ => {}
        }
        self.up = self.up + usize::from(is_up) - usize::from(was_up);
        let known = Known { member: member.clone(), incarnation, state, down_at: now, asked_at: None, challenge: None };
        let old = self.known.insert(member.name().clone(), known);
        if let Some(old) = old.filter(|_| same && is_up) {
            self.known.get_mut(member.name()).expect("just put").challenge = old.challenge;
        }
    }
}
