"""Models that execute designs.

`array.simulate` runs a lowered design: start there. `schedule` picks who runs next, `locks`, `memory` and `streams` are
what actors wait for and work on, `programs` and `dma` are the DMA channels, `core` and `emit` turn core bodies into
Python, `outcome` is what a run says in the end. `ends` is the host's side, `order` tells accesses that nothing keeps
apart, `pools` how full pools got.

`hang.hang_check` finds designs that must get stuck without running them: start there for `hang_core`, `hang_net`,
`hang_run` and `hang_why`. `fifo` is what a design with objectFifos means before it is lowered.
"""
