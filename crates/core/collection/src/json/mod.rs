//! JSON: a tape of the text's values, objects made of it, and texts written of objects.

pub(crate) mod parse;
pub(crate) mod tape;
pub(crate) mod write;
