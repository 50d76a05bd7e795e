//! The words of a frame's header, inline: seven of them, right below the base.
//!
//! ```text
//! base[-7]  link: slots back to the caller's base, result register, flags
//! base[-6]  code (ISeq address)          base[-5]  caller's next instruction
//! base[-4]  cref                         base[-3]  block word
//! base[-2]  environment or nil           base[-1]  block frames: the defining frame
//! base[0]   self
//! ```
#![allow(clippy::undocumented_unsafe_blocks, reason = "one sentence holds for both; it stands at the impl")]

use super::frame::Fp;
use kumi_heap::Value;

// SAFETY (all accessors): an Fp is the base of a frame of the current stack; the seven words below it
// are inside the stack.
impl Fp {
    #[inline(always)]
    fn header(self, i: isize) -> u64 {
        unsafe { (*self.0.offset(i)).bits() }
    }
    #[inline(always)]
    fn set_header(self, i: isize, b: u64) {
        unsafe { *self.0.offset(i) = Value::from_bits(b) }
    }
    #[inline(always)]
    pub(super) fn link_word(self) -> u64 {
        self.header(-7)
    }
    #[inline(always)]
    pub(super) fn set_link_word(self, b: u64) {
        self.set_header(-7, b)
    }
    #[inline(always)]
    pub(super) fn code_word(self) -> u64 {
        self.header(-6)
    }
    #[inline(always)]
    pub(super) fn set_code_word(self, b: u64) {
        self.set_header(-6, b)
    }
    #[inline(always)]
    pub(super) fn ret_word(self) -> u64 {
        self.header(-5)
    }
    #[inline(always)]
    pub(super) fn set_ret_word(self, b: u64) {
        self.set_header(-5, b)
    }
    #[inline(always)]
    pub fn cref(self) -> Value {
        Value::from_bits(self.header(-4))
    }
    #[inline(always)]
    pub fn set_cref(self, v: Value) {
        self.set_header(-4, v.bits())
    }
    #[inline(always)]
    pub fn block(self) -> Value {
        Value::from_bits(self.header(-3))
    }
    #[inline(always)]
    pub fn set_block(self, v: Value) {
        self.set_header(-3, v.bits())
    }
    #[inline(always)]
    pub fn env(self) -> Value {
        Value::from_bits(self.header(-2))
    }
    #[inline(always)]
    pub fn set_env(self, v: Value) {
        self.set_header(-2, v.bits())
    }
    #[inline(always)]
    pub fn parent(self) -> Value {
        Value::from_bits(self.header(-1))
    }
    #[inline(always)]
    pub fn set_parent(self, v: Value) {
        self.set_header(-1, v.bits())
    }
}
