//! Leaf natives: Array, Hash, Range, Struct, Enumerator, Marshal.
