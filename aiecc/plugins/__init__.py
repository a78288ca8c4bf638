"""Our own plugins, through the public door."""
