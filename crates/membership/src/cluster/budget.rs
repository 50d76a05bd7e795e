//! How many packets a sender may send in a second.
//!
//! **Invariant.** The memory is constant, whoever calls itself what. Senders whose names fall together share a bound.

use crate::hash::xxh64;

const SLOTS: usize = 256;
const SECOND: u64 = 1_000_000_000;

pub(super) struct Budget {
    most: u16,
    second: u64,
    spent: Box<[u16; SLOTS]>,
}

/// Whether a packet may come in.
#[derive(Debug, PartialEq)]
pub(super) enum Spent {
    Fine,
    /// It is one too many, the first of this second.
    Over,
    /// It is one too many, and that was said already.
    Silent,
}

impl Budget {
    pub(super) fn new(most: u16) -> Budget {
        Budget { most, second: 0, spent: Box::new([0; SLOTS]) }
    }

    pub(super) fn spend(&mut self, now: u64, from: &str) -> Spent {
        if now / SECOND != self.second {
            self.second = now / SECOND;
            self.spent.fill(0);
        }
        let slot = &mut self.spent[xxh64(from.as_bytes(), 0) as usize % SLOTS];
        if *slot > self.most {
            return Spent::Silent;
        }
        *slot = slot.saturating_add(1);
        if *slot > self.most { Spent::Over } else { Spent::Fine }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_sends_too_much_is_told_once_a_second() {
        let mut b = Budget::new(2);
        let got: Vec<Spent> = (0..5).map(|_| b.spend(5, "a")).collect();
        assert_eq!(got, [Spent::Fine, Spent::Fine, Spent::Over, Spent::Silent, Spent::Silent]);
        assert_eq!((b.spend(5, "b"), b.spend(SECOND, "a")), (Spent::Fine, Spent::Fine));
    }
}
