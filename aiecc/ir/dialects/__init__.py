"""One file per dialect. Read `aie/__init__.py` first."""
