//! Leaf natives: String, Symbol, Regexp, MatchData, Encoding.
