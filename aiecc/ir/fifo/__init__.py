"""What the objectFifo passes have in common: facts about pools, endpoints and routes, and the plans made from them.

The passes themselves stand in `aiecc/ir/passes/fifo_*.py`, one file each; what several of them ask, or what is too
long for a pass's own file, stands here.
"""
