//! The predictors of a document, one for each context in which rows were met, and when to ask them.

use super::batch::{Batch, Limit};
use super::count::{Count, counter};
use super::learn::Learning;
use super::predict::{Context, Predictor, ROOM_FOR_TAGS, Run, Stop};
use super::span::Scratch;
use super::state::State;
use crate::error::Position;
use crate::limits::Limits;
use crate::schema::Schema;
use crate::tokenizer::Lookahead;

/// More contexts than this take each other's place.
const MOST: usize = 32;

/// A row is looked at again after so many pieces of input.
const MOST_CUTS: u32 = 4;

#[derive(Debug)]
pub(super) struct Predictors {
    all: Vec<Predictor>,
    /// The one whose place goes next.
    oldest: usize,
    on: bool,
    /// Something has happened since the last try.
    ready: bool,
    /// Whether tags with attributes may be learnt.
    attributes: bool,
    /// How often the row that is coming was found to be cut.
    cuts: u32,
    /// Rows read so far.
    pub rows: u64,
    scratch: Scratch,
    counter: fn(&[u8]) -> (usize, usize),
}

impl Predictors {
    pub fn new(on: bool, limits: &Limits) -> Predictors {
        let attributes = limits.tag_bytes >= ROOM_FOR_TAGS;
        Predictors {
            all: Vec::new(),
            oldest: 0,
            on,
            ready: false,
            attributes,
            cuts: 0,
            rows: 0,
            scratch: Scratch::default(),
            counter: counter(),
        }
    }

    #[inline]
    pub fn ready(&self) -> bool {
        self.ready
    }

    /// An element has begun or ended: a row may be next.
    #[inline]
    pub fn wake(&mut self) {
        self.ready = self.on;
    }

    pub fn rest(&mut self) {
        self.ready = false;
    }

    /// Whether to wait for the rest of a row that was cut and then look at it from its start again. A row that comes in
    /// many pieces is left to the tokeniser, which looks at nothing twice.
    pub fn waits(&mut self) -> bool {
        self.cuts += 1;
        self.ready = self.cuts <= MOST_CUTS;
        if !self.ready {
            self.cuts = 0;
        }
        self.ready
    }

    /// The one for a context.
    fn find(&mut self, hint: u32, context: &Context) -> usize {
        let hint = hint as usize;
        if self.all.get(hint).is_some_and(|p| p.is_for(context)) {
            return hint;
        }
        if let Some(known) = self.all.iter().position(|p| p.is_for(context)) {
            return known;
        }
        let new = Predictor::new(*context);
        if self.all.len() < MOST {
            self.all.push(new);
            return self.all.len() - 1;
        }
        let place = self.oldest % MOST;
        self.oldest += 1;
        self.all[place] = new;
        place
    }

    pub fn run(
        &mut self,
        context: &Context,
        look: Lookahead<'_>,
        position: Position,
        schema: &Schema,
        state: &mut State,
        out: &mut Batch,
        limit: Limit,
    ) -> (usize, Stop, (u64, u64)) {
        let hint = state.frames.last().map_or(u32::MAX, |f| f.predictor);
        let index = self.find(hint, context);
        if let Some(top) = state.frames.last_mut() {
            top.predictor = index as u32;
        }
        let before = out.items.len();
        let mut count = Count::new(position, look.pos, self.counter);
        let run = Run { look, schema, state, count: &mut count, scratch: &mut self.scratch, out, limit };
        let (read, stop) = self.all[index].run(run);
        self.rows += (out.items.len() - before) as u64;
        if read > 0 {
            self.cuts = 0;
        }
        if let Stop::Unknown(at) = stop {
            if self.all[index].wants_to_learn() {
                state.learning = Learning::look(&look.bytes()[at..], state.frames.len());
            }
        }
        count.advance(look.padded, look.pos + read);
        (read, stop, count.place())
    }

    pub fn learn(&mut self, learning: Learning, context: &Context, schema: &Schema) {
        let index = self.find(u32::MAX, context);
        self.all[index].learn(learning, schema, self.attributes);
    }
}
