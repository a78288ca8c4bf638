"""Models that execute designs.

`array.simulate` runs a lowered design: start there. `schedule` picks who runs next, `locks`, `memory` and `streams` are
what actors wait for and work on, `programs` and `dma` are the DMA channels, `core` and `emit` turn core bodies into
Python, `outcome` is what a run says in the end.
"""
