"""Pure placement: no I/O, no clock. Read `problem.py` first."""
