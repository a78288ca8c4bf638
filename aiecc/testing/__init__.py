"""Kit for authors of plugins and for our own tests."""
