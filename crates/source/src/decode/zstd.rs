//! Zstandard (RFC 8878): frames one after another, with windows of at most 128 MB.

use super::{Damage, with_room};
use zstd::stream::raw::{DParameter, Decoder, InBuffer, Operation, OutBuffer};

/// See [`Zstd::idle`].
const MOST_IDLE: u8 = 4;

pub(crate) struct Zstd {
    /// None: the library had no memory for it.
    decoder: Option<Decoder<'static>>,
    /// Whether a frame has begun and not ended.
    inside: bool,
    /// Calls in a row that neither took nor gave anything. The library takes 16 of them for damage, but a reader may
    /// look as often as it likes; after a few it holds nothing back that would come without input.
    idle: u8,
}

impl Zstd {
    pub fn new() -> Zstd {
        let decoder = Decoder::new().ok().map(|mut d| {
            // The library's own default, said so that it stays.
            let _ = d.set_parameter(DParameter::WindowLogMax(27));
            d
        });
        Zstd { decoder, inside: false, idle: 0 }
    }

    pub fn step(&mut self, input: &[u8], out: &mut Vec<u8>, max: usize) -> Result<usize, Damage> {
        if input.is_empty() && (!self.inside || self.idle >= MOST_IDLE) {
            return Ok(0);
        }
        let Some(decoder) = &mut self.decoder else { return Err(Damage("zstd", "no memory".to_string())) };
        let mut used = 0;
        with_room(out, max, input.len(), |room| {
            let mut from = InBuffer::around(input);
            let mut to = OutBuffer::around(room);
            match decoder.run(&mut from, &mut to) {
                Ok(hint) => {
                    used = from.pos();
                    self.inside = hint != 0;
                    self.idle = if used > 0 || to.pos() > 0 { 0 } else { self.idle.saturating_add(1) };
                    Ok(to.pos())
                }
                Err(e) => Err(Damage("zstd", e.to_string())),
            }
        })?;
        Ok(used)
    }

    pub fn finish(&self) -> Result<(), Damage> {
        if self.inside { Err(Damage("zstd", "the data ends in the middle of the stream".to_string())) } else { Ok(()) }
    }
}
