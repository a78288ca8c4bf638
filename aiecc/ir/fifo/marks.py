"""Attributes that objectFifo passes leave for each other on ops that are not theirs."""

BOOKKEEPING = "aie.objectfifo.bookkeeping_slot"
"""On an alloca: it counts objects, and lower-cores itself turns it into SSA values."""

OBJECT = "aie.objectfifo.object_slot"
"""On an alloca: it holds one object of a rotation. It stays in memory until unrolling decides about it."""

UNROLL = "aie.unroll_hint"
"""On a loop, i64: after how many rounds its objects are picked from the same buffers again."""
