"""Frozen facts every room shares: ids, targets, designs, measurements, layouts. Read `design.py` first."""
