//! Names in a cluster: each slot has a registry of its own.
//!
//! **Invariant.** Slots that have names are found by going through each primary's keys. If slots have moved meanwhile it is done again, so that none
//! escapes between two primaries. A sweep goes through the same, some at a time.

use super::ask::SWEEP;
use super::{How, MS, Machine, Step};
use crate::names::SLOTS;
use crate::resp::command;
use kumi_segments::{Call, Done, Time};
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;

/// Who asks about all names, and what was found for it.
#[derive(Default)]
pub(super) struct Listing {
    /// Primaries whose keys are being gone through.
    scans: BTreeSet<usize>,
    /// Slots that are still to be asked, and how many are being.
    slots: BTreeSet<u16>,
    asking: usize,
    found: BTreeSet<Vec<u8>>,
    /// Which slots were where.
    version: u64,
    rounds: u32,
}

/// What is swept of a primary's.
#[derive(Default)]
pub(super) struct Sweep {
    /// Where going through its keys goes on.
    cursor: Vec<u8>,
    /// Slots, and where in their names it goes on. It goes round: the next one is not below.
    slots: BTreeMap<u16, Vec<u8>>,
    next: u16,
}

impl Sweep {
    fn pop(&mut self) -> Option<(u16, Vec<u8>)> {
        let slot = *self.slots.range(self.next..).next().or_else(|| self.slots.first_key_value())?.0;
        self.next = slot + 1;
        self.slots.remove_entry(&slot)
    }
}

/// So many slots are asked at a time.
const WIDE: usize = 64;
/// So many slots of a primary are swept at a time.
const FEW: usize = 32;
/// Keys that are gone through at a time.
const KEYS: &[u8] = b"1000";
/// It is done so often where slots move all the time.
const ROUNDS: u32 = 5;

impl<T> Machine<T> {
    /// Does a call ask about names in all slots?
    pub(super) fn lists_all(&self, name: u64) -> bool {
        self.cluster.is_some() && self.calls.get(&name).is_some_and(|p| p.how == How::Asked && matches!(p.call, Call::Names { .. }))
    }
    pub(super) fn begin_listing(&mut self, now: Time, name: u64) {
        if let Some(c) = &mut self.cluster {
            c.listings.insert(name, Listing::default());
        }
        self.scan_all(now, name);
    }
    fn scan_all(&mut self, now: Time, name: u64) {
        let lines: Vec<usize> = (0..self.lines.len()).filter(|l| self.lines[*l].at.is_some()).collect();
        let Some((l, version)) = self.cluster.as_mut().and_then(|c| Some((c.listings.get_mut(&name)?, c.version))) else { return };
        (l.version, l.rounds) = (version, l.rounds + 1);
        l.scans.extend(&lines);
        for line in lines {
            let call = Call::Names { prefix: Vec::new(), after: None, most: 0 };
            self.make(now, call, None, None, Vec::new(), How::Scan(line as u16, NonZero::new(name)));
        }
    }
    /// There are nodes now.
    pub(super) fn begin_scans(&mut self, now: Time) {
        let new = self.cluster.iter().flat_map(|c| &c.listings).filter(|(_, l)| l.version == 0).map(|x| *x.0);
        let new: Vec<u64> = new.collect();
        new.into_iter().for_each(|name| self.scan_all(now, name));
    }
    pub(super) fn write_scan(&mut self, line: usize, p: &super::Pending<T>) {
        let Call::Names { after, .. } = &p.call else { return };
        let cursor = after.as_deref().unwrap_or(b"0");
        let pattern = self.options.namespace.registries();
        command(&mut self.lines[line].calls.out, &[b"SCAN", cursor, b"MATCH", pattern.as_bytes(), b"COUNT", KEYS, b"TYPE", b"zset"]);
    }
    /// Some keys of a primary were gone through.
    pub(super) fn scanned(&mut self, now: Time, name: u64, names: Vec<Vec<u8>>, more: Option<Vec<u8>>) {
        let Some(How::Scan(line, _)) = self.calls.get(&name).map(|p| p.how) else { return };
        let (line, of) = (usize::from(line), self.calls.get(&name).and_then(|p| p.how.of()));
        let slots: Vec<u16> = names.iter().filter_map(|n| self.options.namespace.slot_of_registry(n)).collect();
        let Some(c) = &mut self.cluster else { return };
        let Some(of) = of else {
            let s = c.sweeps.entry(line).or_default();
            s.cursor = more.unwrap_or_default();
            for slot in slots {
                s.slots.entry(slot).or_default();
            }
            self.remove(name);
            return;
        };
        if let Some(l) = c.listings.get_mut(&of) {
            l.slots.extend(slots);
        }
        if let (Some(cursor), Some(p)) = (more, self.calls.get_mut(&name)) {
            if let Call::Names { after, .. } = &mut p.call {
                *after = Some(cursor);
            }
            return self.send(now, name);
        }
        self.remove(name);
        self.scan_is_over(now, of, line);
    }
    fn scan_is_over(&mut self, now: Time, of: u64, line: usize) {
        if let Some(l) = self.cluster.as_mut().and_then(|c| c.listings.get_mut(&of)) {
            l.scans.remove(&line);
            self.list_on(now, of);
        }
    }
    /// Some names were found for who asks about all.
    pub(super) fn listed(&mut self, now: Time, of: u64, names: Vec<Vec<u8>>) {
        let most = match self.calls.get(&of).map(|p| &p.call) {
            Some(Call::Names { most, .. }) => *most as usize,
            _ => return,
        };
        let Some(l) = self.cluster.as_mut().and_then(|c| c.listings.get_mut(&of)) else { return };
        l.asking = l.asking.saturating_sub(1);
        l.found.extend(names);
        while l.found.len() > most {
            l.found.pop_last();
        }
        self.list_on(now, of);
    }
    fn list_on(&mut self, now: Time, name: u64) {
        let Some(Call::Names { prefix, after, most }) = self.calls.get(&name).map(|p| p.call.clone()) else { return };
        while let Some(c) = &mut self.cluster {
            let Some(l) = c.listings.get_mut(&name).filter(|l| l.scans.is_empty()) else { return };
            let Some(slot) = (l.asking < WIDE).then(|| l.slots.pop_first()).flatten() else {
                if l.asking > 0 {
                    return;
                }
                if l.version != c.version && l.rounds < ROUNDS {
                    return self.scan_all(now, name);
                }
                let found = std::mem::take(&mut l.found).into_iter().collect();
                return self.end(name, Ok(Done::Names(found)));
            };
            l.asking += 1;
            let call = Call::Names { prefix: prefix.clone(), after: after.clone(), most };
            self.make(now, call, None, None, Vec::new(), How::Part(name, slot));
        }
    }
    /// Who asked about all names has an answer, or wants none.
    pub(super) fn end_listing(&mut self, name: u64) {
        if self.cluster.as_mut().and_then(|c| c.listings.remove(&name)).is_none() {
            return;
        }
        let parts: Vec<u64> = self.calls.range(name..).filter(|(_, p)| p.how.of() == Some(name)).map(|x| *x.0).collect();
        parts.into_iter().for_each(|part| drop(self.remove(part)));
    }
    /// Where a connection ends, going through its keys begins anew.
    pub(super) fn scans_are_cut(&mut self, line: usize) {
        for p in self.calls.values_mut().filter(|p| matches!(p.how, How::Scan(l, _) if usize::from(l) == line)) {
            p.step = Step::Queued;
            if let Call::Names { after, .. } = &mut p.call {
                *after = None;
            }
        }
        if let Some(c) = &mut self.cluster {
            c.sweeps.remove(&line);
        }
    }
    pub(super) fn scan_again(&mut self, now: Time, line: usize) {
        self.scans_of(line).into_iter().for_each(|(name, _)| self.send(now, name));
    }
    /// A primary has nothing any more.
    pub(super) fn forget_scans(&mut self, now: Time, line: usize) {
        for (name, of) in self.scans_of(line) {
            self.remove(name);
            of.into_iter().for_each(|of| self.scan_is_over(now, of, line));
        }
    }
    fn scans_of(&self, line: usize) -> Vec<(u64, Option<u64>)> {
        let its = self.calls.iter().filter_map(|(name, p)| match p.how {
            How::Scan(l, _) if usize::from(l) == line && matches!(p.step, Step::Queued) => Some((*name, p.how.of())),
            _ => None,
        });
        its.collect()
    }

    /// Brings some keys of each primary up to date.
    pub(super) fn sweep_nodes(&mut self, now: Time) {
        let until = Some(now.saturating_add(2000 * MS));
        for line in (0..self.lines.len()).filter(|l| self.lines[*l].is_ready()).collect::<Vec<_>>() {
            let Some(c) = &mut self.cluster else { return };
            let used: Vec<u16> = if c.sweeps.get(&line).is_none_or(|s| s.slots.is_empty()) { c.used(line).collect() } else { Vec::new() };
            let s = c.sweeps.entry(line).or_default();
            for slot in used {
                s.slots.entry(slot).or_default();
            }
            let cursor = Some(s.cursor.clone()).filter(|c| !c.is_empty());
            let some: Vec<(u16, Vec<u8>)> = std::iter::from_fn(|| s.pop()).take(FEW).collect();
            self.make(
                now,
                Call::Names { prefix: Vec::new(), after: cursor, most: 0 },
                None,
                until,
                Vec::new(),
                How::Scan(line as u16, None),
            );
            for (slot, from) in some {
                let call = Call::Names { prefix: Vec::new(), after: Some(from).filter(|f| !f.is_empty()), most: SWEEP };
                self.make(now, call, None, until, Vec::new(), How::Sweep(Some(slot)));
            }
        }
    }
    /// Some names were brought up to date; where it goes on.
    pub(super) fn swept(&mut self, slot: Option<u16>, more: Vec<u8>) {
        let line = self.line_of(slot);
        match (&mut self.cluster, slot, line) {
            (None, ..) => self.sweep_from = more,
            (Some(c), Some(slot), Some(line)) if !more.is_empty() && slot < SLOTS => {
                c.sweeps.entry(line).or_default().slots.insert(slot, more);
            }
            _ => {}
        }
    }
}
