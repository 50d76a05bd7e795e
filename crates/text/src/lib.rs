//! Text without Ruby: encodings, case mapping, transcoding, strftime, pack.
