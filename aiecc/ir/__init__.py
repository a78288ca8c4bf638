"""xDSL lives here: reading, printing, dialects, passes. Read `text.py` first."""
