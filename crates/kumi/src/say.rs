//! What the command itself writes on its two outputs.
//!
//! **Invariant.** A message that can't be written ends nothing: a full disk, or a reader that has gone, is no fault of the command.

/// Writes to standard output, all of it or as much as it takes.
pub fn out(text: impl std::fmt::Display) {
    write(std::io::stdout().lock(), text);
}

/// The same to standard error, and ends the line.
pub fn err(text: impl std::fmt::Display) {
    write(std::io::stderr().lock(), format_args!("{text}\n"));
}

fn write(mut to: impl std::io::Write, text: impl std::fmt::Display) {
    let _ = to.write_all(text.to_string().as_bytes()).and_then(|()| to.flush());
}
