//! Brotli (RFC 7932), with windows of at most 16 MB.

use super::{Damage, with_room};
use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};

pub(crate) struct Brotli {
    state: BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>,
    begun: bool,
    done: bool,
}

impl Brotli {
    pub fn new() -> Brotli {
        let alloc = StandardAlloc::default;
        Brotli { state: BrotliState::new_strict(alloc(), alloc(), alloc()), begun: false, done: false }
    }

    pub fn step(&mut self, input: &[u8], out: &mut Vec<u8>, max: usize) -> Result<usize, Damage> {
        if self.done {
            return if input.is_empty() { Ok(0) } else { Err(Damage("brotli", "more data follows the end of the stream".to_string())) };
        }
        if input.is_empty() && !self.begun {
            return Ok(0);
        }
        self.begun = true;
        let mut used = 0;
        with_room(out, max, input.len(), |room| {
            let (mut left, mut free, mut made, mut total) = (input.len(), room.len(), 0, 0);
            match BrotliDecompressStream(&mut left, &mut used, input, &mut free, &mut made, room, &mut total, &mut self.state) {
                BrotliResult::ResultFailure => return Err(Damage("brotli", "the data is damaged".to_string())),
                BrotliResult::ResultSuccess => self.done = true,
                BrotliResult::NeedsMoreInput | BrotliResult::NeedsMoreOutput => {}
            }
            Ok(made)
        })?;
        Ok(used)
    }

    pub fn finish(&self) -> Result<(), Damage> {
        if self.done || !self.begun {
            return Ok(());
        }
        Err(Damage("brotli", "the data ends in the middle of the stream".to_string()))
    }
}
