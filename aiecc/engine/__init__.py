"""A small ninja without an AIE word in it. Read `spec.py` first, then `graph.py`, then `run.py`.

Declaring stages (`spec`, `options`)
    stage, hookimpl, hookspec, options, option, options_of
Putting a build together
    plugins.Plugins     who stands in line at each stage; entry points, `-p`, blocking
    keys.KeySpace       what stages are keyed by
    scope.Ambient       words of the house that the caller adds to diag, files, store, memo
    store.Store         the folder in which earlier builds left what they made
    run.Engine          makes artifacts; run.Event for progress
What comes of it
    build.Build         products, diagnostics, commands, reads; build.Outcome per task, build.Bug
    record              the build record; `snapshot`: nothing to do, told without importing the rest
    why.explain         why a task ran

Nothing is imported here: `--help` and the fast path take `options` and `snapshot` alone.
"""
