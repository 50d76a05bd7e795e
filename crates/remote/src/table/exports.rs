//! The export table: objects that other nodes may hold.
//!
//! **Invariant.** An entry is there as long as some peer holds it, or a parcel with it is on its way; never before, never after. A slot's
//! generation rises when its entry goes, so that (slot, generation) is one object's for ever. A slot whose generations are used up is not
//! used again.

use super::{Import, Map, map};
use crate::name::{Error, Life, Ref, seal};
use crate::planted::{Bug, planted};

/// An object that left. With its place in the index and one peer's holding at most 64 bytes.
#[derive(Clone, Debug)]
pub(crate) struct Export {
    /// Where it moved: this node's own import of it.
    pub moved: Option<Import>,
    pub generation: u32,
    /// Peers that hold it or are about to. 0: the slot is free.
    pub holders: u32,
    /// The last turn in which it was marked.
    pub marked: u32,
}

pub(crate) struct Exports {
    slots: Vec<Export>,
    /// What the host knows each slot's object by. They stand apart, for collections read all of them.
    handles: Vec<u64>,
    free: Vec<u32>,
    by_handle: Map<u64, u32>,
    /// Seals that objects brought along from where they came, by slots.
    brought: Map<u32, u64>,
    secret: [u64; 2],
}

impl Exports {
    pub fn new(secret: [u64; 2]) -> Exports {
        Exports { slots: Vec::new(), handles: Vec::new(), free: Vec::new(), by_handle: map(secret[0]), brought: map(secret[0]), secret }
    }
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }
    pub fn slot_of(&self, handle: u64) -> Option<u32> {
        self.by_handle.get(&handle).copied()
    }
    /// The slot of this object, which has an entry from now on. Its holder is counted by the caller.
    pub fn enter(&mut self, handle: u64, turn: u32) -> Result<u32, Error> {
        if let Some(slot) = self.slot_of(handle) {
            return Ok(slot);
        }
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None => {
                let slot = u32::try_from(self.slots.len()).map_err(|_| Error::Quota)?;
                self.slots.push(Export { moved: None, generation: 0, holders: 0, marked: 0 });
                self.handles.push(handle);
                slot
            }
        };
        let e = &mut self.slots[slot as usize];
        (e.moved, e.holders, e.marked) = (None, 0, turn);
        self.handles[slot as usize] = handle;
        self.by_handle.insert(handle, slot);
        Ok(slot)
    }
    /// An object that came from another node keeps the seal by which others know it, so that all references to it are seen to be one's.
    pub fn bring(&mut self, slot: u32, seal: u64) {
        if self.slots[slot as usize].holders == 0 {
            self.brought.insert(slot, seal);
        }
    }
    /// One that is there.
    pub fn at(&mut self, slot: u32) -> Option<&mut Export> {
        self.slots.get_mut(slot as usize).filter(|e| e.holders > 0)
    }
    pub fn hold(&mut self, slot: u32) {
        self.slots[slot as usize].holders += 1;
    }
    /// One holder less. What it moved to, if it was the last one.
    pub fn let_go(&mut self, slot: u32) -> Option<Import> {
        let e = self.at(slot)?;
        e.holders -= 1;
        if e.holders == 0 { self.remove(slot) } else { None }
    }
    /// The entry goes, whoever holds it. What it moved to.
    pub fn remove(&mut self, slot: u32) -> Option<Import> {
        let e = self.slots.get_mut(slot as usize)?;
        e.holders = 0;
        self.brought.remove(&slot);
        let handle = &self.handles[slot as usize];
        if self.by_handle.get(handle) == Some(&slot) {
            self.by_handle.remove(handle);
        }
        if planted(Bug::GenerationKept) || e.generation < u32::MAX {
            e.generation += u32::from(!planted(Bug::GenerationKept));
            self.free.push(slot);
        }
        e.moved.take()
    }
    /// The object is elsewhere from now on; whoever has a reference is told.
    pub fn move_to(&mut self, slot: u32, to: Import) {
        let e = &mut self.slots[slot as usize];
        e.moved = Some(to);
        self.by_handle.remove(&self.handles[slot as usize]);
    }
    pub fn reference(&self, me: Life, slot: u32) -> Ref {
        let generation = self.slots[slot as usize].generation;
        Ref { life: me, slot, generation, seal: self.seal_of(me, slot, generation) }
    }
    /// Of the slot's object, if this is its generation.
    fn seal_of(&self, me: Life, slot: u32, generation: u32) -> u64 {
        let own = || seal(self.secret, u64::from(slot) << 32 | u64::from(generation), me.incarnation);
        self.brought.get(&slot).copied().unwrap_or_else(own)
    }
    /// Is this one that was given out, and still there?
    pub fn check(&mut self, me: Life, slot: u32, generation: u32, seal: u64) -> Result<&mut Export, Error> {
        let e = self.slots.get(slot as usize).ok_or(Error::Forged)?;
        // What an earlier object of this slot may have brought for a seal is forgotten with it.
        if generation >= e.generation && self.seal_of(me, slot, generation) != seal {
            return Err(Error::Forged);
        }
        self.known(slot, generation)
    }
    /// The same where the seal was seen before.
    pub fn known(&mut self, slot: u32, generation: u32) -> Result<&mut Export, Error> {
        match self.slots.get_mut(slot as usize) {
            Some(e) if e.generation == generation && e.holders > 0 => Ok(e),
            Some(e) if generation < e.generation => Err(Error::Collected),
            // A slot that is used up keeps its last generation.
            Some(e) if generation == e.generation && generation == u32::MAX => Err(Error::Collected),
            _ => Err(Error::Forged),
        }
    }
    /// What the host knows this slot's object by.
    pub fn handle(&self, slot: u32) -> u64 {
        self.handles[slot as usize]
    }
    /// What it knows all objects by that are here, and have not moved.
    pub fn handles(&self, to: &mut Vec<u64>) {
        // None is free, and none has moved.
        if self.slots.len() == self.by_handle.len() {
            to.extend_from_slice(&self.handles);
        } else {
            to.extend(self.each().filter(|(_, e)| e.moved.is_none()).map(|(slot, _)| self.handle(slot)));
        }
    }
    pub fn each(&self) -> impl Iterator<Item = (u32, &Export)> {
        self.slots.iter().enumerate().filter(|(_, e)| e.holders > 0).map(|(i, e)| (i as u32, e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::NodeId;

    const ME: Life = Life { node: NodeId(1), incarnation: 5 };

    #[test]
    fn an_entry_is_at_most_64_bytes() {
        let index = size_of::<(u64, u32)>() + 1;
        let holding = size_of::<(u32, u32)>() + 1;
        assert!(size_of::<Export>() + size_of::<u64>() + index + holding <= 64, "{}", size_of::<Export>());
    }

    #[test]
    fn a_slot_is_one_object_s_in_each_generation() {
        let mut t = Exports::new([1, 2]);
        let a = t.enter(10, 0).unwrap();
        t.hold(a);
        assert_eq!(t.enter(10, 0), Ok(a));
        let old = t.reference(ME, a);
        assert!(t.check(ME, a, old.generation, old.seal).is_ok());
        t.let_go(a);
        assert_eq!((t.len(), t.check(ME, a, old.generation, old.seal).err()), (0, Some(Error::Collected)));
        let b = t.enter(11, 0).unwrap();
        t.hold(b);
        assert_eq!(a, b);
        assert_eq!(t.check(ME, a, old.generation, old.seal).err(), Some(Error::Collected));
        // Neither guessed nor another life's.
        let new = t.reference(ME, b);
        assert_eq!(t.check(ME, b, new.generation, new.seal ^ 1).err(), Some(Error::Forged));
        assert_eq!(t.check(ME, b, new.generation + 1, new.seal).err(), Some(Error::Forged));
        let other = Life { incarnation: 6, ..ME };
        assert_eq!(t.check(other, b, new.generation, new.seal).err(), Some(Error::Forged));
    }

    #[test]
    fn what_came_keeps_its_seal_and_the_slot_s_next_object_has_another() {
        let mut t = Exports::new([1, 2]);
        let a = t.enter(10, 0).unwrap();
        t.bring(a, 99);
        t.hold(a);
        // Not while others know it by another one.
        t.bring(a, 98);
        let old = t.reference(ME, a);
        assert_eq!((old.seal, t.check(ME, a, old.generation, 99).is_ok()), (99, true));
        assert_eq!(t.check(ME, a, old.generation, 98).err(), Some(Error::Forged));
        t.let_go(a);
        assert_eq!(t.check(ME, a, old.generation, 99).err(), Some(Error::Collected));
        let b = t.enter(11, 0).unwrap();
        t.hold(b);
        let new = t.reference(ME, b);
        assert_eq!((a, new.seal == 99), (b, false));
        assert_eq!(t.check(ME, b, new.generation, 99).err(), Some(Error::Forged));
        assert_eq!(t.check(ME, b, old.generation, 99).err(), Some(Error::Collected));
    }

    #[test]
    fn a_slot_whose_generations_are_used_up_is_not_used_again() {
        let mut t = Exports::new([1, 2]);
        let a = t.enter(10, 0).unwrap();
        t.slots[0].generation = u32::MAX;
        t.hold(a);
        t.let_go(a);
        assert_eq!(t.known(a, u32::MAX).err(), Some(Error::Collected));
        assert_ne!(t.enter(11, 0), Ok(a));
    }
}
