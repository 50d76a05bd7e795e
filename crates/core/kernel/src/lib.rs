//! Leaf natives: Object, Kernel, Module, Proc, Exception, Thread, Fiber, GC.
