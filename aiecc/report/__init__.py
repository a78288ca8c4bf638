"""Views of artifacts: a file a format."""
