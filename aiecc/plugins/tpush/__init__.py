"""TPUSH/TPOP pipes between a Cube core and its Vector cores. It uses `aiecc.api` and xDSL, nothing else.

Reading order; modules marked (planned) are agreed upon and not there yet:

    model.py      a cluster program without IR: Cluster, Pipe, Tile, Program and its ops
    memories.py   the memories of both platforms as tables
    split.py      which part of a tile a Vector lane has, and where it lies in the slot
    protocol.py   what init, push, pop, use and free are made of: the one page that says the protocol
    steps.py      the words protocol.py speaks: Step, Flag, Access, Stream
    frees.py      where a free stands that nobody wrote: after the last use, in pop order
    unroll.py     a program with loops as streams of steps
    graph.py      the exact check: who pays for which wait; deadlocks, races, flags set twice
    simulate.py   one schedule, step by step: the check's first judge
    explore.py    all schedules of small programs: its second
    cure.py       the smallest change that makes a refused program good
    size.py       rings, workspaces and flags: sizes, offsets, placement by the placement engine
    views.py      pipes.txt and pipes.json

    dialect/      (planned) the dialect `pto` in its public textual form: attrs.py, types.py, ops.py, forms.py; DIALECT
    rules/        (planned) what is verified statically, each rule with its own message at the op's line
    extract.py    (planned) cluster_of(module) -> Cluster: from IR to the model
    passes.py     (planned) passes for aiecc-opt: pto-verify-pipes, pto-check-pipes, pto-lower-pipes
    runtime/      (planned) the run-time ABI (set_flag, wait_flag, copy, alias): the header, the threaded implementation
    build.py      (planned) from a module with pto kernels to an aie.device that the ordinary stages build
    run.py        (planned) the cluster on real arrays, a thread per core, for `aiecc simulate`
    timeline.py   (planned) timeline(streams) -> svg: which core waits on which flag when
"""
