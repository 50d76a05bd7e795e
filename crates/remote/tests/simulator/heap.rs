//! Objects of all nodes, with the truth that no node knows: which object is which.

use kumi_remote::Import;
use std::collections::BTreeMap;

pub type Gid = u32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    Local(Gid),
    /// A proxy, by its number.
    Far(u32),
}

#[derive(Debug, Default)]
pub struct Object {
    /// The proc whose it is.
    pub home: usize,
    /// Its place there, which another has after it.
    pub cell: u32,
    pub fields: Vec<Edge>,
    pub exported: bool,
    pub freed: bool,
    /// The proxy of what it became elsewhere.
    pub moved: Option<u32>,
}

#[derive(Debug)]
pub struct Proxy {
    pub at: usize,
    pub owner: usize,
    pub gid: Gid,
    pub import: Import,
    pub version: u32,
    pub born: u64,
    /// One of the two, the owner or the one that has it, has lost the other: it is of no use, or will be.
    pub void: bool,
    /// Its owner does not know of it, and nobody who lent it holds it for it any more: it may be refused.
    pub adrift: bool,
    pub gone: bool,
    /// Whose leases protect it until its owner knows: procs, and their proxies of it.
    pub lenders: Vec<(usize, u32)>,
    pub moved: Option<u32>,
}

/// A node's memory.
#[derive(Default)]
pub struct Heap {
    pub cells: Vec<Option<Gid>>,
    free: Vec<u32>,
    /// The weak table.
    pub proxies: BTreeMap<Import, u32>,
    pub main: Gid,
    /// What the program is busy with: few references, each to what nothing else leads to.
    pub desk: Gid,
    /// Calls that wait for their answers: proxies, until when.
    pub calls: Vec<(u32, u64)>,
    /// The second bitmap. Cells are used again without it being cleared.
    pub second: Vec<bool>,
}

impl Heap {
    pub fn place(&mut self, gid: Gid) -> u32 {
        match self.free.pop() {
            Some(cell) => {
                self.cells[cell as usize] = Some(gid);
                cell
            }
            None => {
                self.cells.push(Some(gid));
                self.cells.len() as u32 - 1
            }
        }
    }
    pub fn free(&mut self, cell: u32) {
        self.cells[cell as usize] = None;
        self.free.push(cell);
    }
    pub fn at(&self, handle: u64) -> Option<Gid> {
        self.cells.get(handle as usize - 1).copied().flatten()
    }
}

/// Which were met, by the number of the search.
#[derive(Default)]
pub struct Seen {
    pub objects: Vec<u32>,
    pub proxies: Vec<u32>,
    now: u32,
}

impl Seen {
    pub fn begin(&mut self, objects: usize, proxies: usize) -> u32 {
        self.objects.resize(objects.max(self.objects.len()), 0);
        self.proxies.resize(proxies.max(self.proxies.len()), 0);
        self.now += 1;
        self.now
    }
    pub fn object(&mut self, g: Gid) -> bool {
        std::mem::replace(&mut self.objects[g as usize], self.now) != self.now
    }
    pub fn proxy(&mut self, p: u32) -> bool {
        std::mem::replace(&mut self.proxies[p as usize], self.now) != self.now
    }
    pub fn has_object(&self, g: Gid) -> bool {
        self.objects[g as usize] == self.now
    }
    pub fn has_proxy(&self, p: u32) -> bool {
        self.proxies[p as usize] == self.now
    }
}
