//! Values, object layouts, blocks, barriers, marking and sweeping.
