"""Gerofi, Takagi and Ishikawa (S2): an allocator that knows which memory blocks are near, on a Xeon Phi."""
