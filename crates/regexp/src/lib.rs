//! Regular expressions without Ruby: Oniguruma with Ruby's syntax, bounded.
