"""Finding and running programs; the only room that starts processes. Read `find.py` first."""
