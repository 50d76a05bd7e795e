//! What two nodes say to each other about calls, and what each remembers of it. Nothing of Ruby, no socket, no clock.

pub mod book;
#[cfg(test)]
mod fuzz;
pub mod message;
