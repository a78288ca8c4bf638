"""Views of artifacts for people and machines: a file a format. Read `summary.py` first."""
