"""What a linked core says, and what the linker is told. pyelftools lives here.

Read `read.py` first (one ELF as plain values), then `calls.py` and `stack.py` (how much stack), `data.py` (sections,
banks, sizes), `layout.py` and `script.py` (what the linker is told). `checks.py`, `banks.py`, `lut.py`, `program.py`
and `link_errors.py` turn it into diagnostics; `rename.py` gives one compiled object to many cores.
"""
