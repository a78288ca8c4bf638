"""The worked examples from text files: what is refused, what the clusters are, which flags and addresses come out."""

import pytest
from ptokit import clusters, parts, verified

from aiecc.api import Sink
from aiecc.plugins.tpush.analyse import analyse
from aiecc.plugins.tpush.model import Agent, Cluster, Direction, Free, Loop, Platform, Pop, Push, Split
from aiecc.plugins.tpush.steps import Act, Step
from aiecc.plugins.tpush.unroll import streams

C2V, V2C = Direction.C2V, Direction.V2C


def only(name: str, part: int = 0) -> Cluster:
    (cluster,) = clusters(parts(name)[part])
    return cluster


def steps(cluster: Cluster, agent: Agent) -> list[Step]:
    return next(stream.steps for stream in streams(cluster).streams if stream.agent is agent)


def said(step: Step) -> str:
    """As the examples write it: `W f3`, `S r3`; a copy by address and bytes; `use`, `alias`."""
    if step.flag is not None:
        return f"{step.act.name[0]} {step.role[0]}{step.flag.number}"
    return {Act.COPY_DONE: "m!"}.get(step.act) or " ".join(
        (step.act.value, *(f"{a.space.value} 0x{a.address:x} {a.size}" for a in step.accesses))
    )


def line(found: list[Step]) -> str:
    return "; ".join(map(said, found))


def refused(text: str) -> list[str]:
    return [d.text for d in verified(text) if d.is_error]


def verdict(text: str) -> list[str]:
    """Codes of what the exact check says."""
    diag = Sink()
    for cluster in clusters(text):
        analyse(cluster, diag)
    return [d.code for d in diag.items]


def test_w1_flags_and_addresses() -> None:
    cluster = only("w01")
    assert (cluster.platform, cluster.lanes) == (Platform.A2A3, 1)
    (pipe,) = cluster.pipes
    assert (pipe.dir_mask, pipe.slot_size, pipe.slot_num, pipe.c2v_base, pipe.v2c_base) == (1, 1024, 8, 0x100000, None)
    cube, vector = steps(cluster, Agent.CUBE), steps(cluster, Agent.AIV0)
    for k in range(9):
        tag, address = k % 8, 0x100000 + k % 8 * 1024
        assert line(cube[4 * k : 4 * k + 4]) == f"W f{tag}; copy start gm 0x{address:x} 1024; m!; S r{tag}"
        assert line(vector[4 * k : 4 * k + 4]) == f"W r{tag}; copy start gm 0x{address:x} 1024; m!; S f{tag}"
    assert len(cube) == len(vector) == 36
    assert {(flag.lane, flag.from_cube, flag.number) for flag in streams(cluster).preset} == {
        (0, False, n) for n in range(8)
    }


def test_w2_both_rings_and_all_sixteen_flags() -> None:
    cluster = only("w02")
    (pipe,) = cluster.pipes
    assert (pipe.slot_num, pipe.c2v_base, pipe.v2c_base) == (4, 0x200000, 0x200800)
    for tag in range(4):
        at = 8 * tag
        assert line(steps(cluster, Agent.CUBE)[at : at + 8]) == (
            f"W f{tag}; copy start gm 0x{0x200000 + tag * 512:x} 512; m!; S r{tag}; "
            f"W r{4 + tag}; copy start gm 0x{0x200800 + tag * 512:x} 512; m!; S f{4 + tag}"
        )
        assert line(steps(cluster, Agent.AIV0)[at : at + 8]) == (
            f"W r{tag}; copy start gm 0x{0x200000 + tag * 512:x} 512; m!; S f{tag}; "
            f"W f{4 + tag}; copy start gm 0x{0x200800 + tag * 512:x} 512; m!; S r{4 + tag}"
        )
    preset = {(flag.from_cube, flag.number) for flag in streams(cluster).preset}
    assert preset == {(False, n) for n in range(4)} | {(True, n) for n in range(4, 8)}


def test_w2_one_direction_starts_at_the_workspace() -> None:
    (pipe,) = only("w02", 1).pipes
    assert (pipe.slot_num, pipe.c2v_base, pipe.v2c_base) == (8, None, 0x200000)


@pytest.mark.parametrize("part", [0, 1], ids=["frees written", "frees by themselves"])
def test_w3_rings_on_chip_freed_after_use(part: int) -> None:
    cluster = only("w03", part)
    assert cluster.platform is Platform.A5
    (pipe,) = cluster.pipes
    assert (pipe.c2v_base, pipe.v2c_base, pipe.c2v_ring, pipe.v2c_ring) == (0x1000, 0x2000, "c2v", "v2c")
    assert [(r.name, r.size, r.base, r.function) for r in cluster.reserves] == [
        ("v2c", 2048, 0x2000, "cube"),
        ("c2v", 2048, 0x1000, "vector"),
    ]
    vector = steps(cluster, Agent.AIV0)
    for tag in range(4):
        ring, other = 0x1000 + tag * 512, 0x2000 + tag * 512
        assert line(vector[9 * tag : 9 * tag + 9]) == (
            f"W r{tag}; alias vec 0x{ring:x} 512; use start vec 0x{ring:x} 512; use done vec 0x{ring:x} 512; S f{tag}; "
            f"W f{4 + tag}; copy start mat 0x{other:x} 512; m!; S r{4 + tag}"
        )


@pytest.mark.parametrize(
    ("part", "split", "rows"),
    [
        (0, Split.UP_DOWN, [(0, 8, 512, 512), (4096, 8, 512, 512)]),
        (1, Split.LEFT_RIGHT, [(0, 16, 256, 512), (256, 16, 256, 512)]),
        (2, Split.UP_DOWN_ODD, [(0, 9, 512, 512), (4608, 8, 512, 512)]),
        (3, Split.LEFT_RIGHT_ODD, [(0, 16, 36, 68), (36, 16, 32, 68)]),
    ],
)
def test_w4_parts_of_the_lanes(part: int, split: Split, rows: list[tuple[int, int, int, int]]) -> None:
    cluster = only("w04", part)
    assert cluster.lanes == 2
    assert cluster.vector1 is None
    (pipe,) = cluster.pipes
    for lane, wanted in enumerate(rows):
        copies = [s for s in steps(cluster, Agent(1 + lane)) if s.act is Act.COPY_START]
        assert {step.split for step in copies} == {split}
        for tag, step in enumerate(copies):
            (access,) = step.accesses
            offset = access.address - 0x100000 - tag * pipe.slot_size
            assert (offset, access.rows, access.row_bytes, access.stride) == wanted


def test_w4_tag_three_of_lane_one() -> None:
    """Ring + 3 * 8192 + 4096 in global memory; on A5 the lane's own ring, without the lane's offset."""
    copies = [s for s in steps(only("w04", 0), Agent.AIV1) if s.act is Act.COPY_START]
    assert copies[3].accesses[0].address == 0x100000 + 28672
    aliases = [s for s in steps(only("w04", 4), Agent.AIV1) if s.act is Act.ALIAS]
    assert (aliases[3].accesses[0].address, aliases[3].accesses[0].owner) == (24576, Agent.AIV1)


def test_w5_tiles_of_two_sizes_are_a_slot_apart() -> None:
    cluster = only("w05")
    copies = [s.accesses[0] for s in steps(cluster, Agent.CUBE) if s.act is Act.COPY_START]
    assert [(a.address, a.size) for a in copies] == [(0, 1024), (1024, 512), (0, 1024)]
    assert refused(parts("w05")[0].replace("slot_size = 1024", "slot_size = 512")) != []


def test_w6_deadlocks_in_two_directions() -> None:
    found = {text.split("\n")[0]: verdict(text) for text in parts("w06")}
    assert len(found) == 6
    assert all((codes == ["E1202"]) == title.endswith("never ends") for title, codes in found.items())
    assert sum(map(bool, found.values())) == 2


def test_w7_the_slot_freed_inside_pop_is_refused() -> None:
    text = parts("w07")[0]
    (diagnostic,) = verified(text)
    assert diagnostic.text == "this reads a tile whose slot was freed before: it may hold the next tile by now"
    assert [note.text for note in diagnostic.notes] == ["it was popped here", "and freed here"]


def test_w8_holding_and_freeing() -> None:
    good, many, newest = parts("w08")
    assert refused(good) == []
    assert verdict(good) == []
    assert refused(many) == ["all 2 slots of pipe 0 Cube to Vector are held: this pop never ends"]
    assert refused(newest) == ["this reads a tile whose slot was freed before: it may hold the next tile by now"]


def test_w9_both_lanes_in_every_handshake() -> None:
    to_vector, to_cube, alone = parts("w09")
    cube = steps(clusters(to_vector)[0], Agent.CUBE)
    assert [(s.act, s.flag.lane, s.flag.number) for s in cube[:6] if s.flag is not None] == [
        (Act.WAIT, 0, 0),
        (Act.WAIT, 1, 0),
        (Act.SET, 0, 0),
        (Act.SET, 1, 0),
    ]
    cluster = clusters(to_cube)[0]
    first, second = (
        next(s.accesses[0] for s in steps(cluster, agent) if s.act is Act.COPY_START)
        for agent in (Agent.AIV0, Agent.AIV1)
    )
    assert (first.address, second.address, first.size, second.size) == (0, 512, 512, 512)
    assert verdict(to_vector) == verdict(to_cube) == []
    assert refused(alone) == ["lane 1 does not run this, but split tiles have a part on each lane"]


@pytest.mark.parametrize(("part", "pushed", "popped"), [(0, 5, 4), (1, 4, 5), (2, 8, 4), (3, 9, 4)])
def test_w10_unequal_counts(part: int, pushed: int, popped: int) -> None:
    (diagnostic,) = verified(parts("w10")[part])
    assert diagnostic.text == (
        f"'cube' pushes {pushed} tiles Cube to Vector through pipe 0, but 'vector' pops {popped} tiles"
    )
    more = abs(pushed - popped)
    tiles = f"{more} tile{'s' * (more > 1)} more in"
    assert diagnostic.todo == (f"pop {tiles} 'vector'" if pushed > popped else f"push {tiles} 'cube'")


def test_w11_a_second_pipe_in_global_memory() -> None:
    good, on_a_ring, no_flags = parts("w11")
    first, second = clusters(good)[0].pipes
    assert (first.c2v_base, first.v2c_base, second.c2v_base) == (0, 1024, 2048)
    assert (first.flag_base, second.flag_base) == (0, 4)
    (overlap,) = verified(on_a_ring)
    assert overlap.text == "pipe 1 [1024, 5120) overlaps pipe 0 [0, 2048) in its workspace"
    assert overlap.todo == "start it at byte 2048: pto.addptr with 512 elements"
    (flags,) = verified(no_flags)
    assert flags.text == "pipe 1 needs 8 flags of each wire; there are 8, and 8 are taken"


def test_w12_control_flow() -> None:
    assert [("good" if not refused(text) else "bad") for text in parts("w12")] == [
        text.split("\n")[0].rpartition(" ")[2] for text in parts("w12")
    ]
    conditions, trips = refused(parts("w12")[2]), refused(parts("w12")[4])
    assert conditions == [
        "'cube' pushes 1 tile if argument 0 Cube to Vector through pipe 0, but 'vector' pops 1 tile if argument 1"
    ]
    assert trips == [
        "'cube' pushes 2 * argument 0 tiles Cube to Vector through pipe 0, but 'vector' pops argument 0 tiles"
    ]


def test_w12_a_counter_that_decides_is_followed() -> None:
    cluster = only("w12", 5)
    assert sum(isinstance(op, Push) for op in cluster.cube.walk()) == 3
    (loop,) = (op for op in cluster.vector.walk() if isinstance(op, Loop))
    assert loop.trips == 3
    assert [type(op) for op in loop.body] == [Pop, Free]
