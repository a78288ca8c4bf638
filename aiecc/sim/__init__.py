"""Models that execute designs."""
