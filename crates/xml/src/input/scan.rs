//! One look at every byte, many at a time: where text stops, where names stop, and whether anything needs care.
//!
//! A mask has one bit a byte, the lowest bit for the first. *Stops* are `<`, `&` and `]`, where text stops being plain;
//! *breaks* are all bytes that are not ASCII letters, digits, `_`, `-` or `.`, where plain names end; *marks* are quotes, `<`,
//! `&`, tab and LF, which matter in an attribute's value. Bits past the last byte are set in all, so that a search for the next
//! one ends there by itself.

/// The masks of some bytes, an entry for every block of 64.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Masks {
    pub stops: Vec<u64>,
    pub breaks: Vec<u64>,
    pub marks: Vec<u64>,
}

impl Masks {
    pub fn new() -> Masks {
        Masks { stops: vec![!0], breaks: vec![!0], marks: vec![!0] }
    }

    pub fn resize(&mut self, blocks: usize) {
        for masks in [&mut self.stops, &mut self.breaks, &mut self.marks] {
            masks.resize(blocks, !0);
        }
    }

    /// Drops the masks of the first blocks, and keeps those of `blocks` after them.
    pub fn compact(&mut self, gone: usize, blocks: usize) {
        for masks in [&mut self.stops, &mut self.breaks, &mut self.marks] {
            masks.copy_within(gone.., 0);
            masks.truncate(blocks);
        }
    }
}

/// What stands in the bytes looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    pub non_ascii: bool,
    /// A control character other than tab, LF and CR.
    pub control: bool,
    pub cr: bool,
}

/// One block looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Block {
    stops: u64,
    breaks: u64,
    marks: u64,
    control: u64,
    non_ascii: u64,
    cr: u64,
}

/// Looks at `bytes[from..len]`, fills the masks of every block from that of `from` to that of `len`, both included.
/// `bytes` must reach to the end of the block of `len`, the masks to their entry for it; bytes at `len` and after it may
/// be anything.
type Kernel = fn(bytes: &[u8], from: usize, len: usize, masks: &mut Masks) -> Flags;

/// The kernel for this processor.
#[derive(Clone, Copy)]
pub struct Scanner(Kernel);

impl std::fmt::Debug for Scanner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Scanner")
    }
}

impl Scanner {
    /// The fastest that this processor has.
    pub fn detect() -> Scanner {
        Scanner::all().pop().map_or(Scanner(scalar), |(_, scanner)| scanner)
    }

    /// All that this processor has, the slowest first.
    pub fn all() -> Vec<(&'static str, Scanner)> {
        #[allow(unused_mut)]
        let mut all = vec![("scalar", Scanner(scalar))];
        #[cfg(target_arch = "x86_64")]
        {
            all.push(("sse2", Scanner(x86::sse2)));
            if is_x86_feature_detected!("avx2") {
                // SAFETY: the processor has AVX2.
                all.push(("avx2", Scanner(|bytes, from, len, masks| unsafe { x86::avx2(bytes, from, len, masks) })));
            }
            if is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("avx512f") {
                // SAFETY: the processor has AVX-512F and BW.
                all.push(("avx512", Scanner(|bytes, from, len, masks| unsafe { x86::avx512(bytes, from, len, masks) })));
            }
        }
        #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
        if std::arch::is_aarch64_feature_detected!("neon") {
            // SAFETY: the processor has NEON.
            all.push(("neon", Scanner(|bytes, from, len, masks| unsafe { arm::neon(bytes, from, len, masks) })));
        }
        all
    }

    /// See [`Kernel`].
    #[inline]
    pub fn scan(self, bytes: &[u8], from: usize, len: usize, masks: &mut Masks) -> Flags {
        (self.0)(bytes, from, len, masks)
    }
}

#[inline(always)]
fn blocks(bytes: &[u8], from: usize, len: usize, masks: &mut Masks, mut block: impl FnMut(&[u8; 64]) -> Block) -> Flags {
    let (first, last) = (from / 64, len / 64);
    let (mut control, mut non_ascii, mut cr) = (0, 0, 0);
    let stops = &mut masks.stops[first..=last];
    let breaks = &mut masks.breaks[first..=last];
    let marks = &mut masks.marks[first..=last];
    let (chunks, _) = bytes[first * 64..(last + 1) * 64].as_chunks::<64>();
    let mut care = !0u64 << (from % 64);
    for (i, chunk) in chunks.iter().enumerate() {
        let mut b = block(chunk);
        if first + i == last {
            let past = !0u64 << (len % 64);
            b.stops |= past;
            b.breaks |= past;
            b.marks |= past;
            care &= !past;
        }
        control |= b.control & care;
        non_ascii |= b.non_ascii & care;
        cr |= b.cr & care;
        stops[i] = b.stops;
        breaks[i] = b.breaks;
        marks[i] = b.marks;
        care = !0;
    }
    Flags { non_ascii: non_ascii != 0, control: control != 0, cr: cr != 0 }
}

fn scalar(bytes: &[u8], from: usize, len: usize, masks: &mut Masks) -> Flags {
    use crate::input::chars::{CLASS, PLAIN_NAME, TEXT_STOP, VALUE_STOP};
    blocks(bytes, from, len, masks, |chunk| {
        let mut out = Block::default();
        for (i, &b) in chunk.iter().enumerate() {
            let class = CLASS[b as usize];
            out.stops |= ((class & TEXT_STOP != 0) as u64) << i;
            out.breaks |= ((class & PLAIN_NAME == 0) as u64) << i;
            out.marks |= ((class & VALUE_STOP != 0 && b != b'\r') as u64) << i;
            out.control |= ((b < 0x20 && !matches!(b, b'\t' | b'\n' | b'\r')) as u64) << i;
            out.non_ascii |= ((b >= 0x80) as u64) << i;
            out.cr |= ((b == b'\r') as u64) << i;
        }
        out
    })
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Block, Flags, Masks, blocks};
    use std::arch::x86_64::*;

    /// A register whose bytes are compared all at once.
    ///
    /// # Safety
    /// Of every function: the processor has what the register needs. `load` reads as many bytes as the register holds.
    trait Register: Copy {
        unsafe fn load(bytes: *const u8) -> Self;
        unsafe fn all(byte: u8) -> Self;
        /// Which bytes are the same: all bits of them.
        unsafe fn same(self, other: Self) -> Self;
        unsafe fn or(self, other: Self) -> Self;
        /// `!self & other`, as processors have it.
        unsafe fn andnot(self, other: Self) -> Self;
        unsafe fn minus(self, other: Self) -> Self;
        /// The lesser bytes, unsigned.
        unsafe fn least(self, other: Self) -> Self;
        /// The highest bit of each byte.
        unsafe fn bits(self) -> u32;
    }

    macro_rules! register {
        ($name:ident, $load:ident, $all:ident, $same:ident, $or:ident, $andnot:ident, $minus:ident, $least:ident, $bits:ident) => {
            impl Register for $name {
                #[inline(always)]
                unsafe fn load(bytes: *const u8) -> Self {
                    // SAFETY: the caller's promises: the processor has the instruction, and the bytes are there. It needs no alignment.
                    unsafe { $load(bytes.cast()) }
                }
                #[inline(always)]
                unsafe fn all(byte: u8) -> Self {
                    // SAFETY: the caller's promise: the processor has the instruction.
                    unsafe { $all(byte as i8) }
                }
                #[inline(always)]
                unsafe fn same(self, other: Self) -> Self {
                    // SAFETY: as for `all`.
                    unsafe { $same(self, other) }
                }
                #[inline(always)]
                unsafe fn or(self, other: Self) -> Self {
                    // SAFETY: as for `all`.
                    unsafe { $or(self, other) }
                }
                #[inline(always)]
                unsafe fn andnot(self, other: Self) -> Self {
                    // SAFETY: as for `all`.
                    unsafe { $andnot(self, other) }
                }
                #[inline(always)]
                unsafe fn minus(self, other: Self) -> Self {
                    // SAFETY: as for `all`.
                    unsafe { $minus(self, other) }
                }
                #[inline(always)]
                unsafe fn least(self, other: Self) -> Self {
                    // SAFETY: as for `all`.
                    unsafe { $least(self, other) }
                }
                #[inline(always)]
                unsafe fn bits(self) -> u32 {
                    // SAFETY: as for `all`.
                    unsafe { $bits(self) as u32 }
                }
            }
        };
    }
    register!(
        __m128i,
        _mm_loadu_si128,
        _mm_set1_epi8,
        _mm_cmpeq_epi8,
        _mm_or_si128,
        _mm_andnot_si128,
        _mm_sub_epi8,
        _mm_min_epu8,
        _mm_movemask_epi8
    );
    register!(
        __m256i,
        _mm256_loadu_si256,
        _mm256_set1_epi8,
        _mm256_cmpeq_epi8,
        _mm256_or_si256,
        _mm256_andnot_si256,
        _mm256_sub_epi8,
        _mm256_min_epu8,
        _mm256_movemask_epi8
    );

    /// Looks at a block, a register of `N` bytes at a time.
    ///
    /// # Safety
    /// The processor has what `R` needs, which is a register of `N` bytes.
    #[inline(always)]
    unsafe fn look<R: Register, const N: usize>(chunk: &[u8; 64]) -> Block {
        let mut out = Block::default();
        for (i, part) in chunk.as_chunks::<N>().0.iter().enumerate() {
            // SAFETY: the caller's promise; `part` has `N` bytes.
            unsafe {
                let v = R::load(part.as_ptr());
                let is = |b: u8| v.same(R::all(b));
                // Unsigned: v - low <= span.
                let within = |v: R, low: u8, span: u8| {
                    let d = v.minus(R::all(low));
                    d.least(R::all(span)).same(d)
                };
                let letter = within(v.or(R::all(0x20)), b'a', 25);
                let name = letter.or(within(v, b'0', 9)).or(within(v, b'-', 1).or(is(b'_')));
                let (less, cr, blank) = (is(b'<'), is(b'\r'), within(v, b'\t', 1));
                let put = |mask: u32| ((mask & (u32::MAX >> (32 - N))) as u64) << (N * i);
                out.stops |= put(less.or(is(b'&')).or(is(b']')).bits());
                out.breaks |= put(!name.bits());
                out.marks |= put(is(b'"').or(within(v, b'&', 1)).or(less).or(blank).bits());
                out.control |= put(blank.or(cr).andnot(within(v, 0, 0x1F)).bits());
                out.non_ascii |= put(v.bits());
                out.cr |= put(cr.bits());
            }
        }
        out
    }

    pub fn sse2(bytes: &[u8], from: usize, len: usize, masks: &mut Masks) -> Flags {
        blocks(bytes, from, len, masks, |chunk| {
            // SAFETY: SSE2 is part of x86-64, and its registers have 16 bytes.
            unsafe { look::<__m128i, 16>(chunk) }
        })
    }

    #[target_feature(enable = "avx2")]
    pub fn avx2(bytes: &[u8], from: usize, len: usize, masks: &mut Masks) -> Flags {
        blocks(bytes, from, len, masks, |chunk| {
            // SAFETY: this function has AVX2, whose registers have 32 bytes.
            unsafe { look::<__m256i, 32>(chunk) }
        })
    }

    #[target_feature(enable = "avx512f,avx512bw")]
    pub fn avx512(bytes: &[u8], from: usize, len: usize, masks: &mut Masks) -> Flags {
        blocks(bytes, from, len, masks, |chunk| {
            // SAFETY: this function has AVX-512F and BW; the load is unaligned and of exactly 64 bytes.
            unsafe {
                let v = _mm512_loadu_si512(chunk.as_ptr().cast());
                macro_rules! eq {
                    ($b:expr) => {
                        _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8($b as i8))
                    };
                }
                macro_rules! within {
                    ($v:expr, $low:expr, $span:expr) => {
                        _mm512_cmple_epu8_mask(_mm512_sub_epi8($v, _mm512_set1_epi8($low as i8)), _mm512_set1_epi8($span))
                    };
                }
                let letter = within!(_mm512_or_si512(v, _mm512_set1_epi8(0x20)), b'a', 25);
                let cr = eq!(b'\r');
                let (less, blank) = (eq!(b'<'), within!(v, b'\t', 1));
                Block {
                    stops: less | eq!(b'&') | eq!(b']'),
                    marks: less | within!(v, b'&', 1) | eq!(b'"') | blank,
                    breaks: !(letter | within!(v, b'0', 9) | within!(v, b'-', 1) | eq!(b'_')),
                    control: within!(v, 0, 0x1F) & !(blank | cr),
                    non_ascii: _mm512_movepi8_mask(v),
                    cr,
                }
            }
        })
    }
}

#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod arm {
    use super::{Block, Flags, Masks, blocks};
    use std::arch::aarch64::*;

    /// One bit a byte of four comparisons' results.
    #[target_feature(enable = "neon")]
    fn bits(v: [uint8x16_t; 4]) -> u64 {
        let weights: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];
        // SAFETY: the load is of exactly the 16 bytes of `weights`.
        let w = unsafe { vld1q_u8(weights.as_ptr()) };
        let a = vpaddq_u8(vandq_u8(v[0], w), vandq_u8(v[1], w));
        let b = vpaddq_u8(vandq_u8(v[2], w), vandq_u8(v[3], w));
        let c = vpaddq_u8(a, b);
        vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(c, c)))
    }

    #[target_feature(enable = "neon")]
    pub fn neon(bytes: &[u8], from: usize, len: usize, masks: &mut Masks) -> Flags {
        blocks(bytes, from, len, masks, |chunk| {
            // SAFETY: this function has NEON; each load is of 16 of the chunk's 64 bytes.
            unsafe {
                let z = vdupq_n_u8(0);
                let (mut stop, mut brk, mut control, mut high, mut crs, mut mark) = ([z; 4], [z; 4], [z; 4], [z; 4], [z; 4], [z; 4]);
                for i in 0..4 {
                    let v = vld1q_u8(chunk.as_ptr().add(16 * i));
                    macro_rules! eq {
                        ($b:expr) => {
                            vceqq_u8(v, vdupq_n_u8($b))
                        };
                    }
                    macro_rules! within {
                        ($v:expr, $low:expr, $span:expr) => {
                            vcleq_u8(vsubq_u8($v, vdupq_n_u8($low)), vdupq_n_u8($span))
                        };
                    }
                    let letter = within!(vorrq_u8(v, vdupq_n_u8(0x20)), b'a', 25);
                    let name = vorrq_u8(vorrq_u8(letter, within!(v, b'0', 9)), vorrq_u8(within!(v, b'-', 1), eq!(b'_')));
                    crs[i] = eq!(b'\r');
                    stop[i] = vorrq_u8(vorrq_u8(eq!(b'<'), eq!(b'&')), eq!(b']'));
                    brk[i] = vmvnq_u8(name);
                    let quotes = vorrq_u8(eq!(b'"'), within!(v, b'&', 1));
                    mark[i] = vorrq_u8(vorrq_u8(quotes, eq!(b'<')), within!(v, b'\t', 1));
                    control[i] = vbicq_u8(within!(v, 0, 0x1F), vorrq_u8(within!(v, b'\t', 1), crs[i]));
                    high[i] = vcgeq_u8(v, vdupq_n_u8(0x80));
                }
                Block {
                    stops: bits(stop),
                    breaks: bits(brk),
                    marks: bits(mark),
                    control: bits(control),
                    non_ascii: bits(high),
                    cr: bits(crs),
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Processors of these kinds all have a kernel of their own, so it is among those compared here and in the other tests.
    #[test]
    #[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little")))]
    fn the_plain_kernel_is_not_alone() {
        assert!(Scanner::all().len() > 1);
    }

    /// Every kernel agrees with the plain one on random bytes, at every start and length within some blocks.
    #[test]
    fn kernels_agree() {
        let mut seed = 0x9E37_79B9_7F4A_7C15u64;
        let mut random = move || {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            seed
        };
        for round in 0..400 {
            let len = (random() % 300) as usize;
            let from = (random() % (len as u64 + 1)) as usize;
            let bytes: Vec<u8> = (0..len / 64 * 64 + 64)
                .map(|_| match round % 4 {
                    0 => random() as u8,
                    1 => b"<&]>az AZ09_-.:/@[`{\t\n\"'\r"[(random() % 25) as usize],
                    2 => b' ' + (random() % 95) as u8,
                    _ if random() % 90 == 0 => random() as u8,
                    _ => b'x',
                })
                .collect();
            let run = |scanner: Scanner| {
                let mut masks = Masks::new();
                masks.resize(len / 64 + 1);
                let flags = scanner.scan(&bytes, from, len, &mut masks);
                (flags, masks)
            };
            let expected = run(Scanner(scalar));
            for (name, scanner) in Scanner::all() {
                assert_eq!(run(scanner), expected, "{name}, {from}..{len}");
            }
        }
    }
}
