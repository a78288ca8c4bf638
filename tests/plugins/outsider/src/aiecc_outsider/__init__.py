"""Five plugins, each on its own: wrap a stage, replace one, add one, check cores, bring a toolchain."""
