"""pyelftools and LIEF live here: what a linked core says, and what the linker is told. Read `read.py` first."""
