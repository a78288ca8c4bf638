"""Floor zero: diagnostics, source positions, digests. Knows no AIE. Read `diag.py` first."""
