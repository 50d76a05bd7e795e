//! Natives that need the loop itself: sending, evaluating, procs, frames, catch and throw.
//!
//! **Invariant.** They are leaves like all others: what they want called stands in `pending` when they return. Those that
//! look at frames see the nearest one of the user's code, past the prelude method that called them.

mod autoload;
mod binding;
mod catch;
mod frames;
mod globals;
mod procs;
mod special;
mod values;
mod walk;

use crate::doors::NativeDef;

pub(crate) static TABLES: &[&[NativeDef]] = &[
    autoload::TABLE,
    binding::TABLE,
    catch::TABLE,
    frames::TABLE,
    globals::TABLE,
    procs::TABLE,
    values::TABLE,
    walk::TABLE,
    crate::interp::events::TABLE,
];
