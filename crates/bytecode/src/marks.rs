//! Where in code something may happen that a trace tells of.

use crate::{ISeq, Op, START_RESCUE};

/// What may happen at an instruction: bits of [`ISeq::marks`].
pub mod mark {
    /// A statement begins, on another line than the one before.
    pub const LINE: u8 = 1;
    /// The body begins: parameters have their values.
    pub const ENTRY: u8 = 2;
    /// A rescue clause begins.
    pub const RESCUE: u8 = 4;
    /// The frame is left.
    pub const LEAVE: u8 = 8;
}

impl ISeq {
    /// What may happen at each instruction word.
    #[inline]
    pub fn marks(&self) -> &[u8] {
        self.marks.get_or_init(|| self.find_marks())
    }
    #[cold]
    fn find_marks(&self) -> Box<[u8]> {
        let mut all = vec![0u8; self.code.len()];
        let mut at = 0;
        while at < self.code.len() {
            let op = self.insn(at).op();
            if op == Op::Ret {
                all[at] |= mark::LEAVE;
            }
            at += 1 + op.cached() as usize;
        }
        let mut set = |pc: u32, bit| {
            if let Some(m) = all.get_mut(pc as usize) {
                *m |= bit;
            }
        };
        set(self.entry, mark::ENTRY);
        for s in &self.starts {
            set(s & !START_RESCUE, if s & START_RESCUE != 0 { mark::RESCUE } else { mark::LINE });
        }
        all.into()
    }
}
