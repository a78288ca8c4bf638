"""What the code calls is what the model says: random kernels, lowered, against streams of steps."""

import random
import re

import pytest
from ptokit import FREE_C, FREE_V, GM_C, GM_V, MAT, PUSH_C, PUSH_V, TILE_A, TILE_O, TILE_V, VEC, WS, design, read

from aiecc.api import Sink
from aiecc.ir.text import print_module
from aiecc.plugins.tpush.extract import clusters_of
from aiecc.plugins.tpush.model import Agent, Platform
from aiecc.plugins.tpush.passes import LowerPipes
from aiecc.plugins.tpush.steps import Act
from aiecc.plugins.tpush.unroll import streams

OUT_C = f"%x = pto.alloc_tile : {MAT}"
WORDS = {
    Act.WAIT: "wait_flag",
    Act.SET: "set_flag",
    Act.COPY_START: "copy",
    Act.COPY_DONE: "copy_done",
    Act.ALIAS: "alias",
    Act.USE_START: "use",
}


def side(draw: random.Random, kind: str, pushes: int, pops: int, frees: bool) -> tuple[str, ...]:
    """Pushes and pops, shuffled; each popped tile is copied on once or twice, somewhere behind its pop."""
    push, made, where, free = (PUSH_C, MAT, "%x", FREE_C) if kind == "cube" else (PUSH_V, VEC, "%o", FREE_V)
    order = ["push"] * pushes + ["pop"] * pops
    draw.shuffle(order)
    ops: list[str] = []
    later: list[str] = []
    number = 0
    for word in order:
        if word == "push":
            ops.append(push)
            continue
        name = f"%t{number}"
        number += 1
        ops.append(f"{name} = pto.tpop_from_ai{'v' if kind == 'cube' else 'c'} {{split = 0}} -> {made}")
        use = f"pto.tmov ins({name} : {made}) outs({where} : {made})"
        if draw.random() < 0.3 and not frees:
            later.append(use)
        else:
            ops.append(use)
        if frees:
            ops.append(free)
    return (*ops, *later)


def kernels(seed: int, platform: Platform) -> str:
    draw = random.Random(seed)
    there, back = draw.randint(1, 4), draw.randint(1, 4)
    frees = draw.random() < 0.3
    cube = side(draw, "cube", there, back, frees)
    vector = side(draw, "vector", back, there, frees)
    if platform is Platform.A2A3:
        cube = (GM_C.replace("dir_mask = 1", "dir_mask = 3"), TILE_A, OUT_C, *cube)
        vector = (GM_V.replace("dir_mask = 1", "dir_mask = 3"), TILE_V, TILE_O, *vector)
        return design(cube, vector, "a3", (WS, WS))
    room = '{name = "%s", size = 4096, location = #pto.address_space<%s>, auto = true} -> i32'
    both = "{dir_mask = 3, slot_size = 1024} (c2v_consumer_buf = %c2v : i32, v2c_consumer_buf = %v2c : i32)"
    cube = (
        '%c2v = pto.import_reserved_buffer {name = "c2v", peer_func = @vector} -> i32',
        f"%v2c = pto.reserve_buffer {room % ('v2c', 'mat')}",
        f"pto.aic_initialize_pipe {both}",
        *(TILE_A, OUT_C, *cube),
    )
    vector = (
        '%v2c = pto.import_reserved_buffer {name = "v2c", peer_func = @cube} -> i32',
        f"%c2v = pto.reserve_buffer {room % ('c2v', 'vec')}",
        f"pto.aiv_initialize_pipe {both}",
        *(TILE_V, TILE_O, *vector),
    )
    return design(cube, vector, "a5")


@pytest.mark.parametrize("platform", Platform)
@pytest.mark.parametrize("seed", range(25))
def test_calls_are_steps(seed: int, platform: Platform) -> None:
    module = read(kernels(seed, platform))
    (cluster,) = clusters_of(module, Sink())
    run = streams(cluster)
    diag = Sink()
    LowerPipes().apply(module, diag)
    assert not diag.items, diag.items
    cores = print_module(module).split("aie.core(")[1:]
    for agent, text in zip((Agent.CUBE, Agent.AIV0), cores, strict=True):
        calls = re.findall(r"call @pto_(set_flag|wait_flag|copy_done|copy|alias|tmov)", text)
        expected = [WORDS[step.act] for step in run.streams[agent].steps if step.act in WORDS]
        mine = [p for p in cluster.pipes[0].directions if p.consumer is agent.kind]
        first = ["set_flag"] * (4 * len(mine))
        assert calls[: len(first)] == first
        moves = "use" if platform is Platform.A5 else ""  # on A2A3 a tile is the core's own copy
        assert with_uses(calls[len(first) :], moves) == expected, text


def with_uses(calls: list[str], move: str) -> list[str]:
    """The calls, with a word for each copy that `pto.tmov` makes: the protocol's own ones follow a wait."""
    found: list[str] = []
    index = 0
    while index < len(calls):
        if calls[index] == "copy" and (not found or found[-1] != "wait_flag"):
            assert calls[index + 1] == "copy_done"
            found += [move] if move else []
            index += 2
            continue
        found.append(calls[index])
        index += 1
    return found
