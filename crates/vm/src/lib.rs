//! Stack, bytecode, compiler, interpreter, methods, caches and exceptions.
