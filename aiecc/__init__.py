"""aiecc: from an AIE design to measured, placed, linked and checked cores. Read `hooks.py` first."""

__version__ = "0.1.0"
