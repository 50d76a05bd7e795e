//! The machine without a server: what is said to it is the test's.

mod hostile;
mod order;
mod words;
