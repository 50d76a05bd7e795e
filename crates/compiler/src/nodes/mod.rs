//! What each kind of syntax node becomes. All of them add methods to the compiler; `expr` is where a node's kind is looked at.

pub(crate) mod assign;
pub(crate) mod bodies;
pub(crate) mod call;
pub(crate) mod case;
pub(crate) mod cond;
pub(crate) mod control;
pub(crate) mod defined;
pub(crate) mod expr;
pub(crate) mod literal;
pub(crate) mod looks;
pub(crate) mod opassign;
pub(crate) mod pattern;
