"""Pure placement of one tile's memory: no I/O, no clock, no xDSL. Read `solve.py` first, then `problem.py`.

`solve` searches, `judge` (written apart) checks every answer, `refuse` says why not, `map` shows the tile.
"""
