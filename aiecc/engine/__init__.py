"""A small ninja without an AIE word in it. Read `spec.py` first."""
