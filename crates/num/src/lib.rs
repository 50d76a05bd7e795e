//! Numbers without Ruby: big integers, decimal conversion of floats, parsing and formatting.
