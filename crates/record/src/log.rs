//! The file.

use crate::here::Actor;
use crate::{Allocated, LONGEST};
use std::collections::HashMap;
use std::fs::File;
use std::io::Write;

/// So much is written at once.
pub const PIECE: usize = 64 << 10;

/// A wait that is on.
#[derive(Clone, Copy, Debug)]
pub struct Wait {
    /// Its thread's first task.
    pub root: u64,
    pub number: u64,
    /// When it began, by the clock.
    pub since: u64,
    /// Others may end it.
    pub for_others: bool,
}

/// What is not written yet, and what the next lines depend on.
#[derive(Debug)]
pub struct Log {
    file: Option<File>,
    written: u64,
    pub text: String,
    /// Whose line is not ended.
    pub writes: Option<Actor>,
    /// Who did something last.
    pub last: Option<Actor>,
    /// Waits that are on, by task.
    pub waits: HashMap<u64, Wait>,
    pub allocated: Allocated,
    pub began: u64,
    pub processor: u64,
    pub idle: u64,
}

impl Log {
    pub fn new(file: File) -> Log {
        Log {
            file: Some(file),
            written: 0,
            text: String::new(),
            writes: None,
            last: None,
            waits: HashMap::new(),
            allocated: Allocated::default(),
            began: 0,
            processor: 0,
            idle: 0,
        }
    }
    /// A line of nobody's.
    pub fn line(&mut self, line: std::fmt::Arguments) {
        use std::fmt::Write;
        if self.writes.take().is_some() {
            self.text.push('\n');
        }
        let _ = self.text.write_fmt(line);
        self.text.push('\n');
    }
    /// Writes what is there. A file that can't be written gets nothing any more.
    pub fn flush(&mut self) {
        if let Some(file) = &mut self.file
            && file.write_all(self.text.as_bytes()).is_err()
        {
            self.file = None;
        }
        self.written += self.text.len() as u64;
        self.text.clear();
    }
    /// The same, and ends the recording where it gets too long.
    pub fn flush_some(&mut self) {
        if self.file.is_some() && self.written + self.text.len() as u64 > LONGEST {
            self.line(format_args!("cut"));
            self.flush();
            self.file = None;
        }
        self.flush();
    }
}
