"""User reports about objectFifos. Figures are worked out by hand in each test."""

from __future__ import annotations

import re
from pathlib import Path

from aiecc.testing.kit import Ended, Project

CASES = Path(__file__).parent / "cases"


def project(tmp_path: Path, case: str) -> Project:
    made = Project(tmp_path)
    made.copy(next(CASES.glob(f"{case}-*")))
    return made


def refused(ran: Ended) -> str:
    """One error, exit code 1, no traceback; its text and notes."""
    assert ran.code == 1, ran.err
    assert len(ran.errors) == 1, ran.err
    assert "Traceback" not in ran.err
    return ran.err


def lowered(made: Project, *args: str) -> str:
    ran = made.aiecc("design.mlir", "--get=input_with_symbols.mlir", *args)
    assert ran.code == 0, ran.err
    return made.read("input_with_symbols.mlir")


def program(text: str, name: str) -> list[list[str]]:
    """The descriptors of a DMA program, channel by channel: their lines."""
    body = text[text.index(f"aie.{name}(") :]
    body = body[: body.index("\n    }\n")]
    chains = re.split(r"aie\.dma_start\(", body)[1:]
    return [[line.strip() for line in chain.splitlines() if "aie.dma_bd(" in line] for chain in chains]


def test_14_distribute_two_dimensional(tmp_path: Path) -> None:
    made = project(tmp_path, "14")
    text = lowered(made, "--get=after_aie-objectfifo-split.mlir")
    split = made.read("after_aie-objectfifo-split.mlir")
    assert re.search(r"segment @s0 \{offset = 0 : i32, size = 128 : i32\}", split)
    assert re.search(r"segment @s1 \{offset = 128 : i32, size = 128 : i32\}", split)
    assert "@whole_cons_pool" in split and "depth = 2 : i32" in split

    fill, upper, lower = program(text, "memtile_dma")
    assert [re.search(r"offset = (\d+) len = (\d+)", line)[0] for line in fill] == [  # type: ignore[index]
        "offset = 0 len = 128",
        "offset = 128 len = 128",
    ] * 2
    assert all("offset = 0 len = 128" in line for line in upper) and len(upper) == 2
    assert all("offset = 128 len = 128" in line for line in lower) and len(lower) == 2
    inits = re.findall(r"aie\.lock\(%mem_tile_0_1, \d+\) \{init = (\d) : i32", text)
    assert inits == ["2", "0", "2", "0"]


def test_14_offsets_in_rows(tmp_path: Path) -> None:
    said = refused(project(tmp_path, "14").aiecc("design_rows.mlir"))
    assert "offsets count elements, not rows" in said
    assert "'upper' would be 8 elements, no whole number of its objects of 128" in said
    assert "[0, 128] was probably meant" in said
    assert re.search(r"design_rows\.mlir:\d+:5: error", said)


def test_16_transfer_ends_inside_an_object(tmp_path: Path) -> None:
    made = project(tmp_path, "16")
    said = refused(made.aiecc("design.mlir"))
    # 1024 * 4 = 4096 bytes; 300 * 4 = 1200; 4096 = 3 * 1200 + 496.
    assert "moves 4096 bytes through objectFifo @in, whose objects have 1200: 3 objects and 496 bytes" in said
    assert "todo: give it a len of 900 or 1200 elements" in said

    design = made.read("design.mlir")
    for elements, type, length, good in (
        (1024, "i32", 900, True),
        (512, "i64", 450, True),  # 3600 bytes
        (512, "i64", 512, False),
        (4096, "i8", 1200, True),
        (4096, "i8", 1204, False),
    ):
        text = design.replace("memref<1024xi32>", f"memref<{elements}x{type}>").replace("len = 1024", f"len = {length}")
        made.write("other.mlir", text)
        ran = made.aiecc("other.mlir", "--get=input_with_symbols.mlir")
        assert (ran.code == 0) is good, ran.err


def test_16_what_is_known_at_run_time_only_is_not_judged(tmp_path: Path) -> None:
    made = project(tmp_path, "16")
    design = made.read("design.mlir")
    text = design.replace("memref<1024xi32>) {", "memref<1024xi32>, %n: i32) {", 1).replace("len = 1024", "len = %n")
    made.write("other.mlir", text)
    ran = made.aiecc("other.mlir", "--get=input_with_symbols.mlir")
    assert ran.code == 0, ran.err


def test_16_several_transfers_count_together(tmp_path: Path) -> None:
    """Two transfers of one and a half objects each are three objects."""
    made = project(tmp_path, "16")
    design = made.read("design.mlir")
    task = re.search(r"      %t = .*?aiex\.dma_await_task\(%t\)\n", design, re.S)
    assert task
    half = task[0].replace("len = 1024", "len = 450")
    made.write("other.mlir", design.replace(task[0], half + half.replace("%t", "%u")))
    ran = made.aiecc("other.mlir", "--get=input_with_symbols.mlir")
    assert ran.code == 0, ran.err
    made.write("other.mlir", design.replace(task[0], half))
    assert "1 objects and 600 bytes" in refused(made.aiecc("other.mlir"))


def test_18_memtile_descriptors_run_out(tmp_path: Path) -> None:
    made = project(tmp_path, "18")
    said = refused(made.aiecc("design.mlir"))
    assert "of ObjectFifo @deep on tile(0, 1) needs 26 buffer descriptors, but S2MM channel 0 can use 24" in said
    assert "todo: a depth of at most 24 for fifo @deep" in said

    design = made.read("design.mlir")
    made.write("design.mlir", design.replace("26 : i32", "24 : i32").replace("[26, 2]", "[24, 2]"))
    text = lowered(made)
    ids = [
        int(n) for chain in program(text, "memtile_dma") for line in chain for n in re.findall(r"bd_id = (\d+)", line)
    ]
    firsts = [n for i, n in enumerate(ids) if i % 2 == 0]  # bd_id, next_bd_id, bd_id, ..
    assert len(firsts) == len(set(firsts)) == 48
    channels = re.findall(r"aie\.dma_start\((S2MM|MM2S), (\d)", text[text.index("aie.memtile_dma(") :])
    for chain, (_, channel) in zip(program(text, "memtile_dma"), channels, strict=False):
        reach = range(24, 48) if int(channel) % 2 else range(24)
        assert all(int(re.search(r"bd_id = (\d+)", line)[1]) in reach for line in chain)  # type: ignore[index]


def test_24_three_inputs_two_channels(tmp_path: Path) -> None:
    made = project(tmp_path, "24")
    said = refused(made.aiecc("design.mlir"))
    assert "number of input DMA channel exceeded! requires at least 3 S2MM channels, but capacity is 2" in said
    assert "tile(0, 2) has 2 S2MM channels, and 3 are wanted" in said
    for line, name in ((6, "act"), (7, "weights"), (8, "bias")):
        assert re.search(rf"design\.mlir:{line}:5: note: .* for ObjectFifo @{name}\b", said), said
    assert "todo: " in said and "memory tile" in said

    lines = made.read("design.mlir").splitlines(keepends=True)
    lines[5:8] = reversed(lines[5:8])
    made.write("other.mlir", "".join(lines))
    other = refused(made.aiecc("other.mlir"))
    assert other.splitlines()[0].partition(": error: ")[2] == said.splitlines()[0].partition(": error: ")[2]
