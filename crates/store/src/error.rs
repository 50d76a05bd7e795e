//! What can be wrong with a store, in words for whoever opened it.

use std::fmt;
use std::sync::Arc;

/// A store can't be opened. The message names the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreError(Arc<str>);

impl StoreError {
    pub(crate) fn new(message: impl AsRef<str>) -> StoreError {
        StoreError(message.as_ref().into())
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for StoreError {}
