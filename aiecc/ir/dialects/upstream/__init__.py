"""Upstream dialects: what xDSL lacks of them, and where MLIR reads or prints them differently.

A file per dialect, with `DIALECT` (xDSL's, ops added) and `FORMS` (how our reader and printer treat single ops).
"""
