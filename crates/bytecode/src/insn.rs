//! The instruction set: one table, one sentence on each instruction.
//!
//! An instruction is one 64-bit word `op:8 | x:8 | a:16 | b:16 | c:16` (from the
//! low end); `bc` is `b` and `c` together as a 32-bit number. Instructions whose
//! row says `cached` are followed by one more word, an inline cache, which the
//! program counter skips.
//!
//! Registers `R[i]` are counted from the frame's base. `R[0]` is `self`,
//! `R[1..]` are parameters, then locals that no block captures, then temporaries
//! and register windows. Captured locals live in a heap environment (`EnvNew`).
//!
//! **Register window.** A call whose receiver register is `R[b]` owns
//! `R[b - HEADER .. b]` (the callee's frame header is built there) and
//! `R[b + 1 ..]` (the arguments). The callee's base is the address of `R[b]`:
//! windows overlap and arguments are not copied. The compiler keeps all of that
//! range above every live temporary.

/// Words of frame header below a frame's base.
pub const HEADER: u16 = 7;

/// `a`, `b` or `c` where no register is meant.
pub const NO_REG: u16 = 0xffff;

macro_rules! opcodes {
    ($($(#[doc = $doc:literal])* $name:ident $cached:literal),* $(,)?) => {
        /// Operation codes.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u8)]
        pub enum Op { $($(#[doc = $doc])* $name),* }
        impl Op {
            /// Every operation, in code order.
            pub const ALL: &'static [Op] = &[$(Op::$name),*];
            /// Name for the disassembler.
            pub fn name(self) -> &'static str { match self { $(Op::$name => stringify!($name)),* } }
            /// What the table says of it: "jump" in all that may go elsewhere in its code, and nowhere else.
            pub fn sentence(self) -> &'static str { match self { $(Op::$name => concat!($($doc),*)),* } }
            /// Whether an inline-cache word follows.
            pub fn cached(self) -> bool { match self { $(Op::$name => $cached != 0),* } }
        }
    };
}

opcodes! {
    /// Does nothing.
    Nop 0,
    /// R[a] = R[b]
    Move 0,
    /// R[a] = nil
    Nil 0,
    /// R[a] = true
    True 0,
    /// R[a] = false
    False 0,
    /// R[a] = undef (argument or local not set)
    Undef 0,
    /// R[a] = the integer bc (signed 32 bits)
    Int 0,
    /// R[a] = lits[bc], a shared immutable value
    Lit 0,
    /// R[a] = a fresh mutable copy of the string lits[bc]
    Str 0,

    /// New heap environment of a slots (all nil), parent = the frame's env word; becomes the frame's env.
    EnvNew 0,
    /// R[a] = slot b of the environment c levels up (0 = the frame's env word)
    EnvGet 0,
    /// slot b of the environment c levels up = R[a]
    EnvSet 0,
    /// R[a] = ivar syms[bc] of self
    IvarGet 1,
    /// ivar syms[bc] of self = R[a]
    IvarSet 1,
    /// R[a] = class variable syms[bc]
    CvarGet 0,
    /// class variable syms[bc] = R[a]
    CvarSet 0,
    /// R[a] = global syms[bc]
    GlobalGet 0,
    /// global syms[bc] = R[a] (x = 1, made by `rewrite.rs`: a value that was born shared, without a barrier)
    GlobalSet 0,
    /// R[a] = constant syms[bc] by lexical scope, then ancestors; const_missing
    ConstGet 1,
    /// R[a] = constant syms[c] of the module R[b] (`B::C`)
    ConstAt 1,
    /// R[a] = constant syms[bc] of Object (`::C`)
    ConstTop 1,
    /// constant syms[c] of R[b] (b = NO_REG: the lexical scope's module) = R[a]
    ConstSet 0,

    /// R[a] = R[b] + R[c]
    Add 1,
    /// R[a] = R[b] - R[c]
    Sub 1,
    /// R[a] = R[b] * R[c]
    Mul 1,
    /// R[a] = R[b] / R[c]
    Div 1,
    /// R[a] = R[b] % R[c]
    Mod 1,
    /// R[a] = R[b] + c (c as signed 16 bits)
    AddI 1,
    /// R[a] = R[b] - c (c as signed 16 bits)
    SubI 1,
    /// R[a] = R[b] < R[c]
    Lt 1,
    /// R[a] = R[b] <= R[c]
    Le 1,
    /// R[a] = R[b] > R[c]
    Gt 1,
    /// R[a] = R[b] >= R[c]
    Ge 1,
    /// R[a] = R[b] == R[c]
    Eq 1,
    /// R[a] = R[b] != R[c]
    Neq 1,
    /// R[a] = R[b] << R[c]
    Shl 1,
    /// R[a] = R[b] >> R[c]
    Shr 1,
    /// R[a] = R[b] & R[c]
    And 1,
    /// R[a] = R[b] | R[c]
    Or 1,
    /// R[a] = R[b] ^ R[c]
    Xor 1,
    /// R[a] = -R[b] (method `-@`)
    Neg 1,
    /// R[a] = !R[b] (method `!`)
    Not 1,
    /// R[a] = R[b][R[c]] (x = 1: R[c] is a shared literal, which a Hash is asked with and others get a copy of)
    Aref 1,
    /// R[a][R[b]] = R[c]; the result of the method is dropped
    Aset 1,

    /// Jump by bc (signed, from the next instruction). Backward jumps poll.
    Jmp 0,
    /// Jump by bc when R[a] is truthy
    JmpIf 0,
    /// Jump by bc when R[a] is nil or false
    JmpUnless 0,
    /// Jump by bc when R[a] is nil
    JmpNil 0,
    /// Jump by bc when R[a] is not undef
    JmpSet 0,
    /// Jump by c (signed 16) when (R[a] < R[b]) == (x != 0)
    JLt 1,
    /// Jump by c when (R[a] <= R[b]) == (x != 0)
    JLe 1,
    /// Jump by c when (R[a] > R[b]) == (x != 0)
    JGt 1,
    /// Jump by c when (R[a] >= R[b]) == (x != 0)
    JGe 1,
    /// Jump by c when (R[a] == R[b]) == (x != 0)
    JEq 1,
    /// Jump by c when (R[a] < b as signed 16) == (x != 0)
    JLtI 1,
    /// Jump by c when (R[a] <= b as signed 16) == (x != 0)
    JLeI 1,
    /// Jump by c when (R[a] > b as signed 16) == (x != 0)
    JGtI 1,
    /// Jump by c when (R[a] >= b as signed 16) == (x != 0)
    JGeI 1,
    /// Jump by c when (R[a] == b as signed 16) == (x != 0)
    JEqI 1,
    /// Jump by c when (R[a] != b as signed 16) == (x != 0)
    JNeI 1,

    /// R[a] = call sites[c] with the window at R[b]
    Send 1,
    /// R[a] = call the next method up (sites[c], window at R[b], the compiler puts self in R[b])
    Super 1,
    /// R[a] = call the frame's block; window at R[b] (R[b] is the block's self and is filled by the loop)
    Yield 0,
    /// R[a] = intrinsic c of the intrinsics table, x arguments from R[b] on (the prelude's, and what the
    /// compiler counts by itself, see `natives/walk.rs`)
    Intrinsic 0,
    /// Return R[a] to the caller (method and lambda `return`, end of body, block `next`)
    Ret 0,
    /// `break` out of a block (also proc and lambda bodies): ends the call the block was given to with R[a]
    Break 0,
    /// `return` inside a block: returns R[a] from the enclosing method or lambda
    RetHome 0,

    /// R[a] = :name after defining method syms[c] with body children[b] in the frame's definee
    DefMethod 0,
    /// define syms[c] with body children[b] on the singleton class of R[a]; R[a] = :name
    DefSingleton 0,
    /// `class`: window at R[b]: R[b] = scope module (undef: lexical scope), R[b+1] = superclass (undef: none);
    /// x = 0 class, 1 module, 2 singleton class of R[b]; c = index into `bodies` (name and child). R[a] = value of the body
    ClassDef 0,
    /// undef the method named by the symbol R[a] in the frame's definee
    UndefMethod 0,
    /// alias method: new name R[a], old name R[b] (symbols)
    AliasMethod 0,
    /// alias global: new syms[b], old syms[c]
    AliasGlobal 0,

    /// R[a] = [R[b], .. c values]
    Array 0,
    /// R[a] << R[b] (R[a] is an Array of ours)
    ArrPush 0,
    /// R[a].concat(R[b]); R[b] came out of Splat
    ArrCat 0,
    /// R[a] = *R[b]: Array as it is (x = 1: a copy), nil as [], else to_a, else [R[b]]
    Splat 0,
    /// R[a] = {R[b] => R[b+1], ..} with c values (2 × pairs)
    Hash 0,
    /// R[a][R[b]] = R[c] (R[a] is a Hash of ours; string keys are copied and frozen)
    HashPut 0,
    /// R[a].update(**R[b]) (R[a] is a Hash of ours; nil adds nothing; to_hash). x = 1: R[a] = R[b] if that is a Hash,
    /// for a call that keeps none; else a fresh R[a] is updated
    HashMerge 0,
    /// R[a] = Range R[b]..R[c] (x = 1: ...)
    Range 0,
    /// R[a] = R[b].to_s for interpolation
    ToS 1,
    /// R[a] = the c strings from R[b] on joined, a UTF-8 one while they are ASCII (x = 1: one of the first's encoding)
    Concat 0,
    /// R[a] = R[b].to_sym (R[b] is a String of ours)
    Intern 0,
    /// R[a] = Regexp of the c string parts from R[b] on; x = option bits (see `lit::RE_*`)
    Regex 0,
    /// R[a] = a Proc of children[b]; x = 1: lambda
    Closure 0,
    /// R[a] = the frame's block as a Proc, or nil
    BlockProc 0,
    /// R[a] = the frame's block as it is: only good as the block argument of the next call
    BlockRaw 0,
    /// R[a] = block_given?; x = 1: is the block a literal one, which the runtime's Proc#call would call?
    BlockGiven 0,

    /// R[a] = R[b] as an Array for multiple assignment (to_ary; else [R[b]])
    ToAry 0,
    /// R[a] = R[b][c] of an Array of ours, nil beyond its end
    ArrAt 0,
    /// R[a] = R[b][c .. -1 - x] as an Array (the splat of a multiple assignment; c before, x after)
    ArrRest 0,
    /// R[a] = element x of the (c & 255) values after the splat, (c >> 8) before it
    ArrPost 0,

    /// R[a] = R[b] === R[c] (case, pattern matching)
    CaseEq 1,
    /// R[a] = whether exception R[b] matches the rescue clause R[c] (TypeError unless class or module; then ===)
    RescueMatch 1,
    /// Raise R[a], an exception, or go on unwinding with what an ensure handler received
    Raise 0,
    /// R[a] = $!
    ErrGet 0,
    /// $! = R[a]
    ErrSet 0,
    /// R[a] = kind x (see `Defined`) tested; b, c as the kind says
    Defined 0,
    /// If once-slot b is set: R[a] = it and jump by c (signed 16)
    OnceGet 0,
    /// once-slot b = R[a]
    OnceSet 0,
    /// R[a] = group bc of the last match ($1 ..)
    NthRef 0,
    /// R[a] = x: 0 $~, 1 $&, 2 $`, 3 $', 4 $+
    BackRef 0,
    /// $~ = R[a]
    MatchSet 0,
    /// An operator instruction (its number in the low 7 bits of x, the jump sense in the top bit) whose
    /// fast path was taken back because a user redefined the operator. Made by the loop, never compiled.
    Generic 1,
    /// An instruction that makes a value (its number in the low 7 bits of x, whether its own x is 1 in the top bit)
    /// whose cells are born outside the nursery. This and the next four are made by `rewrite.rs`, never compiled.
    Out 0,
    /// `Array` in a program's own code, born outside the nursery and still one thread's.
    ArrayOut 0,
    /// The same with a cache word: an operator in its general form, `ToS` or `Super`.
    OutOp 1,
    /// `Send` whose own cells are born outside the nursery.
    SendOut 1,
    /// `Intrinsic`, the same.
    IntrinsicOut 0,
}

/// Numbers of rewritten instructions have seven bits.
const _: () = assert!(Op::ALL.len() <= 128);

/// What `Op::Defined` tests (its `x`); the result is a frozen string or nil.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Defined {
    /// instance variable syms[c]
    Ivar,
    /// global syms[c]
    Global,
    /// class variable syms[c]
    Cvar,
    /// constant syms[c], lexical
    Const,
    /// constant syms[c] of R[b]
    ConstAt,
    /// constant syms[c] of Object
    ConstTop,
    /// method syms[c] of R[b], called from outside
    Method,
    /// method syms[c] of self (private too)
    Fcall,
    /// super
    Super,
    /// a block: yield
    Yield,
    /// group c of the last match
    NthRef,
    /// $~ related value c (as BackRef's x)
    BackRef,
}

/// One instruction word.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct Insn(pub u64);

impl Op {
    /// Is it an operator with a quick form for core classes and a send behind it? The result goes to R[a].
    pub fn is_operator(self) -> bool {
        use Op::*;
        matches!(
            self,
            Add | Sub | Mul | Div | Mod | AddI | SubI | Lt | Le | Gt | Ge | Eq | Neq | Shl | Shr | And | Or | Xor | Neg | Not | Aref
        )
    }
}

impl Insn {
    /// An instruction with three operands of 16 bits.
    #[inline(always)]
    pub const fn new(op: Op, x: u8, a: u16, b: u16, c: u16) -> Insn {
        Insn(op as u64 | (x as u64) << 8 | (a as u64) << 16 | (b as u64) << 32 | (c as u64) << 48)
    }
    /// An instruction whose last two operands are one number of 32 bits.
    #[inline(always)]
    pub const fn wide(op: Op, x: u8, a: u16, bc: i32) -> Insn {
        Insn(op as u64 | (x as u64) << 8 | (a as u64) << 16 | (bc as u32 as u64) << 32)
    }
    /// Its operation. The word is an instruction, not an inline cache.
    #[inline(always)]
    pub fn op(self) -> Op {
        debug_assert!((self.0 as u8 as usize) < Op::ALL.len());
        // SAFETY: instruction words are only made by `new` and `wide`, from an `Op`.
        unsafe { std::mem::transmute(self.0 as u8) }
    }
    /// Operand `x`.
    #[inline(always)]
    pub const fn x(self) -> u8 {
        (self.0 >> 8) as u8
    }
    /// Operand `a`.
    #[inline(always)]
    pub const fn a(self) -> usize {
        (self.0 >> 16) as u16 as usize
    }
    /// Operand `b`, unsigned.
    #[inline(always)]
    pub const fn b(self) -> usize {
        (self.0 >> 32) as u16 as usize
    }
    /// Operand `c`, unsigned.
    #[inline(always)]
    pub const fn c(self) -> usize {
        (self.0 >> 48) as usize
    }
    /// `b` as a signed number.
    #[inline(always)]
    pub const fn sb(self) -> i16 {
        (self.0 >> 32) as i16
    }
    /// `c` as a signed number.
    #[inline(always)]
    pub const fn sc(self) -> i16 {
        (self.0 >> 48) as i16
    }
    /// `b` and `c` as one signed number.
    #[inline(always)]
    pub const fn bc(self) -> i32 {
        (self.0 >> 32) as i32
    }
}
