//! String's methods, by what they do.

pub(crate) mod build;
pub(crate) mod chars;
pub(crate) mod compare;
pub(crate) mod compatible;
pub(crate) mod convert;
pub(crate) mod copy;
pub(crate) mod crypt;
pub(crate) mod edit;
pub(crate) mod escape;
pub(crate) mod format;
pub(crate) mod pack;
pub(crate) mod search;
pub(crate) mod slice;
pub(crate) mod split;
pub(crate) mod sub;
