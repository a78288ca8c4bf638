"""A file a stage; each a bridge between rooms."""
