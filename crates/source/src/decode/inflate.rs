//! Deflate, bare or in zlib's wrapping.

use super::{Damage, with_room};
use flate2::{Decompress, FlushDecompress, Status};

pub(crate) struct Inflate {
    state: Decompress,
    name: &'static str,
    done: bool,
}

impl Inflate {
    pub fn zlib() -> Inflate {
        Inflate { state: Decompress::new(true), name: "zlib", done: false }
    }

    pub fn raw() -> Inflate {
        Inflate { state: Decompress::new(false), name: "deflate", done: false }
    }

    /// Whether the stream's last block has been read.
    pub fn is_done(&self) -> bool {
        self.done
    }

    /// Begins another stream.
    pub fn reset(&mut self) {
        self.state.reset(self.name == "zlib");
        self.done = false;
    }

    pub fn step(&mut self, input: &[u8], out: &mut Vec<u8>, max: usize) -> Result<usize, Damage> {
        if self.done {
            return if input.is_empty() { Ok(0) } else { Err(Damage(self.name, "more data follows the end of the stream".to_string())) };
        }
        let (from_in, from_out) = (self.state.total_in(), self.state.total_out());
        with_room(out, max, input.len(), |room| match self.state.decompress(input, room, FlushDecompress::None) {
            Ok(status) => {
                self.done = status == Status::StreamEnd;
                Ok((self.state.total_out() - from_out) as usize)
            }
            Err(_) => Err(Damage(self.name, "the data is damaged".to_string())),
        })?;
        Ok((self.state.total_in() - from_in) as usize)
    }

    pub fn finish(&self) -> Result<(), Damage> {
        if self.done { Ok(()) } else { Err(Damage(self.name, "the data ends in the middle of the stream".to_string())) }
    }
}
