"""Every text of a refusal: the first line in mlir-aie's words, ours in the notes."""

from __future__ import annotations

import random

import pytest
from placement_help import aie1, at, buf, data, memtile, npu1, npu2, prebaked, refused, reserved, texts

from aiecc.base.codes import CODES
from aiecc.base.diag import Level
from aiecc.model.memory import Extent, Kind, StackExtent, TileLayout, TileProblem
from aiecc.place.map import bank_table, memory_map
from aiecc.place.pins import space_conflicts
from aiecc.place.solve import solve

OP = "'aie.buffer' op "
NO_ROOM = "could not be placed: {} needs {} bytes and this tile has no room left for it"


def pair(bank: int, other: int) -> str:
    return f"no contiguous aligned space remains within allowed banks {bank} and {other}"


PINS: dict[str, tuple[TileProblem, str, str]] = {
    "core data off its alignment": (
        npu2(Extent("core_data_0_2", Kind.CORE_DATA, 64, 1088, alignment=256, aligned=False)),
        "data reservation address must be aligned to 256 bytes to satisfy its measured section alignment",
        "E0402",
    ),
    "reservation off its alignment": (
        npu2(reserved(0, 4096, 4096, 1024, aligned=False)),
        "data reservation address must be aligned to 4096 bytes to satisfy its measured section alignment",
        "E0402",
    ),
    "off the bus, AIE2": (
        npu1(buf("b", 64, 1028)),
        "address attribute value must be aligned to 256 bits when the aligned attribute is set",
        "E0402",
    ),
    "off the bus, AIE1": (
        aie1(buf("b", 64, 1032)),
        "address attribute value must be aligned to 128 bits when the aligned attribute is set",
        "E0402",
    ),
    "off the bus, memory tile": (
        memtile(buf("b", 64, 1030)),
        "address attribute value must be aligned to 32 bits when the aligned attribute is set",
        "E0402",
    ),
    "beyond memory": (npu1(buf("b", 64, 65536)), "address attribute does not fall within any bank range", "E0402"),
    "before memory": (npu1(buf("b", 64, -64)), "address attribute does not fall within any bank range", "E0402"),
    "past the end": (
        npu1(buf("b", 2048, 65024)),
        "address attribute would place the buffer past the end of the tile's memory",
        "E0402",
    ),
    "pinned into an excluded bank": (
        npu2(buf("b", 64, 16384, space=10)),
        "address attribute places the buffer in bank 1, which is excluded by its memory space",
        "E0403",
    ),
    "its last byte in an excluded bank": (
        npu2(buf("b", 64, 16352, space=10)),
        "address attribute places the buffer in bank 1, which is excluded by its memory space",
        "E0403",
    ),
    "a single space, last byte": (
        npu2(buf("b", 64, 16352, space=5)),
        "address attribute places the buffer in bank 1, which is excluded by its memory space",
        "E0403",
    ),
    "a single space, first byte": (
        npu2(buf("b", 64, 32768, space=6)),
        "address attribute places the buffer in bank 2, which is excluded by its memory space",
        "E0403",
    ),
    "address against bank": (
        npu1(buf("b", 4096, 4096, bank=2)),
        "address attribute lies in bank 0, but mem_bank requests bank 2",
        "E0403",
    ),
    "on another pin": (
        npu1(buf("a", 4096, 0), buf("b", 4096, 1024), stack=None),
        "would override allocated address",
        "E0402",
    ),
    "on the stack": (npu1(buf("b", 64, 512)), "would override allocated address", "E0402"),
    "no such bank": (
        npu1(buf("a", 4096, bank=2), buf("b", 4096, bank=4)),
        "mem_bank attribute value is out of range",
        "E0403",
    ),
    "a negative bank": (npu1(buf("b", 4096, bank=-1)), "mem_bank attribute value is out of range", "E0403"),
    "a space without its bank": (
        TileProblem(0, 2, 8192, 2, 32, 32, 32, (buf("b", 64, space=8),)),
        "memory space requests a bank that does not exist",
        "E0403",
    ),
    "space against bank": (
        npu2(buf("b", 64, bank=2, space=6)),
        "has address space for bank 1 but is pinned to bank 2. These constraints disagree",
        "E0403",
    ),
    "pair against bank": (
        npu2(buf("b", 64, bank=1, space=10)),
        "has address space for bank 0 or 2 but is pinned to bank 1. These constraints disagree",
        "E0403",
    ),
    "too long for its bank": (
        npu1(buf("b", 32768, bank=0)),
        'buffer "b" requires 32768 bytes, which cannot fit in bank 0 (16384 bytes total)',
        "E0403",
    ),
    "too long for its bank, AIE1": (
        aie1(buf("a", 16384, bank=1), stack=None),
        'buffer "a" requires 16384 bytes, which cannot fit in bank 1 (8192 bytes total)',
        "E0403",
    ),
    "a table too long for its bank": (
        npu2(reserved(1, 32768)),
        "this core's static data pinned to bank 1 requires 32768 bytes, which cannot fit in bank 1 (16384 bytes total)",
        "E0503",
    ),
    "its bank is taken": (
        npu1(buf("a", 16384, bank=1), buf("b", 4096, 16416, aligned=False)),
        'buffer "a" requires 16384 bytes in bank 1, but only 12288 of 16384 bytes are free there',
        "E0403",
    ),
    "a pair too long": (
        npu2(buf("b", 32768, space=10)),
        f'buffer "b" requires 32768 bytes, but {pair(0, 2)}',
        "E0403",
    ),
    "a pair that is full": (
        npu2(buf("p", 16384, 0), buf("q", 16384, 32768), buf("b", 64, space=10), stack=None),
        f'buffer "b" requires 64 bytes, but {pair(0, 2)}',
        "E0403",
    ),
    "a pair narrowed to a full bank": (
        npu2(buf("q", 16384, 32768), buf("b", 64, bank=2, space=10)),
        'buffer "b" requires 64 bytes in bank 2, but only 0 of 16384 bytes are free there',
        "E0403",
    ),
}


@pytest.mark.parametrize("name", PINS)
def test_one_error_in_known_words(name: str) -> None:
    problem, text, code = PINS[name]
    refusal = refused(problem)
    assert texts(refusal) == [OP + text]
    assert refusal.diagnostics[0].code == code
    assert code in CODES
    assert refusal.proven


def test_the_error_is_at_the_buffer() -> None:
    refusal = refused(npu1(buf("a", 64, 4096, line=7), buf("b", 64, 4112, aligned=False, line=8)))
    assert refusal.diagnostics[0].where == at(8)
    assert refusal.diagnostics[0].notes[1].where == at(7)


def test_all_space_conflicts_at_once() -> None:
    problem = npu2(buf("a", 64, bank=2, space=6), buf("ok", 64, bank=1, space=6), buf("c", 64, bank=3, space=9))
    assert len(space_conflicts(problem)) == 2
    assert len(refused(problem).diagnostics) == 2


def test_lower_pins_are_checked_first() -> None:
    refusal = refused(npu2(buf("late", 64, 65536), buf("early", 64, 1030), buf("bank", 64, bank=9)))
    assert len(refusal.diagnostics) == 1
    assert "256 bits" in refusal.diagnostics[0].text


NOWHERE: dict[str, tuple[TileProblem, str]] = {
    "data too long": (
        npu2(buf("mid", 8192, bank=1), data(45000)),
        NO_ROOM.format("this core's data sections (data_size)", 45000),
    ),
    "no free run": (
        npu2(buf("a", 64512, aligned=False), data(1)),
        NO_ROOM.format("this core's data sections (data_size)", 1),
    ),
    "padding": (
        npu2(
            buf("req", 128, bank=1),
            *(buf(f"f{i}", size) for i, size in enumerate((13952, 11744, 10688, 12352, 11648, 4000))),
        ),
        NO_ROOM.format('buffer "f5"', 4000),
    ),
    "three after data": (
        npu2(data(60000), buf("a", 4096), buf("b", 4096), buf("c", 4096)),
        NO_ROOM.format('buffer "b"', 4096),
    ),
    "longer than memory, AIE1": (
        aie1(buf("a", 16), buf("b", 32768), buf("c", 32)),
        NO_ROOM.format('buffer "b"', 32768),
    ),
    "longer than a memory tile": (memtile(buf("a", 528000)), NO_ROOM.format('buffer "a"', 528000)),
    "exhausted": (
        npu1(
            *(buf(f"_anonymous{i}", size) for i, size in enumerate((24576, 24576, 6144, 6144, 4096, 4096))),
            stack=None,
        ),
        NO_ROOM.format('buffer "_anonymous5"', 4096),
    ),
    "the third of four": (
        aie1(
            buf("a", 4096),
            buf("b", 8192),
            buf("c", 8192),
            buf("d", 4096),
            buf("e", 4096),
            buf("f", 512),
            *(buf(f"act_3_4_buff_{i}", 2048) for i in range(4)),
            stack=None,
        ),
        NO_ROOM.format('buffer "act_3_4_buff_2"', 2048),
    ),
    "buffers beside long data": (
        npu2(buf("big0", 16384), buf("big1", 16384), buf("f0", 64), buf("f1", 64), data(40000)),
        NO_ROOM.format('buffer "big1"', 16384),
    ),
}


@pytest.mark.parametrize("name", NOWHERE)
def test_no_room(name: str) -> None:
    problem, text = NOWHERE[name]
    refusal = refused(problem)
    assert texts(refusal) == ["Not all requested buffers fit in the available memory.\n", OP + text]
    warning, error = refusal.diagnostics
    assert (warning.level, warning.where, warning.code) == (Level.WARNING, at(3), "")
    assert error.level is Level.ERROR
    assert refusal.proven
    assert error.notes[0].text.startswith("proven: ")
    assert not any("budget" in note.text for note in error.notes)
    assert warning.notes[0].text.startswith("Current configuration of buffers in bank(s) : MemoryMap:\n\t")
    assert "req" not in error.text


def test_what_can_never_fit_is_added_up() -> None:
    tiles = [buf(f"tile_{name}", 16384, line=4) for name in "abc"]
    refusal = refused(npu2(*tiles, buf("tile_d", 14336), data(2048)))
    error = refusal.diagnostics[-1]
    assert error.text == OP + NO_ROOM.format("this core's data sections (data_size)", 2048)
    assert error.where == at(90)
    assert [note.text for note in error.notes] == [
        "proven: this tile can never hold all of it: stack 1024 + 4 buffers 63488 + core data 2048 = 66560 bytes, "
        "memory 65536 bytes, short by 1024 bytes",
        "the arrangement shown leaves 1024 bytes free in all, the largest run 1024 bytes, short by 1024 bytes",
        "by size: tile_a 16384, tile_b 16384, tile_c 16384, tile_d 14336, (core data sections) 2048",
    ]
    assert "by 1024 bytes" in error.todo
    assert "lower stack_size" in error.todo


def test_padding_is_counted_in_slots() -> None:
    sizes = (13952, 11744, 10688, 12352, 11648, 4000)
    refusal = refused(npu2(buf("req", 128, bank=1), *(buf(f"f{i}", s) for i, s in enumerate(sizes))))
    # In 64-byte slots: 2 + 218 + 184 + 167 + 193 + 182 + 63 = 1009, and 64512 / 64 = 1008 are free.
    assert refusal.diagnostics[-1].notes[0].text == (
        "proven: no layout exists: extents aligned to 64 bytes need 1009 64-byte slots, and only 1008 are free"
    )


def test_an_undecided_tile_says_so() -> None:
    extents = [buf(f"s{i}", 2576) for i in range(7)] + [buf(f"m{i}", 6720) for i in range(6)] + [buf("l", 4320)]
    refusal = solve(npu2(*extents), budget=50, nodes=10)
    assert not refusal.proven
    assert refusal.deepest is not None
    assert refusal.diagnostics[-1].notes[0].text == (
        "the search hit its 50-placement budget with arrangements still untried, "
        "so a layout may exist that it did not reach"
    )
    assert "mem_bank" in refusal.diagnostics[-1].todo


def test_an_undecided_bank_demand_gets_the_general_text() -> None:
    problem = npu2(buf("a", 512, bank=0), buf("b", 768, bank=2), buf("c", 21696))
    refusal = solve(problem, budget=1, nodes=1)
    assert texts(refusal)[-1] == OP + NO_ROOM.format('buffer "a"', 512)


def test_two_pins_collide() -> None:
    refusal = refused(
        npu2(buf("coeffs", 4096, 0x1000, line=4), buf("state", 1024, 0x1800, line=5), buf("scratch", 1024, line=6))
    )
    (error,) = refusal.diagnostics
    assert (error.text, error.where) == (OP + "would override allocated address", at(5))
    assert [(note.text, note.where) for note in error.notes] == [
        ('buffer "state" is at 0x1800..0x1BFF (1024 bytes)', at(5)),
        ('buffer "coeffs" is at 0x1000..0x1FFF (4096 bytes); both claim 0x1800..0x1BFF (1024 bytes)', at(4)),
        ('the lowest legal address for buffer "state" is 0x400 (1024)', None),
    ]


@pytest.mark.parametrize("declared", [False, True])
def test_a_pin_in_the_stack(declared: bool) -> None:
    stack = StackExtent(1024, declared=declared, where=at(9))
    (error,) = refused(npu2(buf("coeffs", 256, 0x200, line=4), stack=stack)).diagnostics
    default = "" if declared else ", the default size: stack_size is absent"
    assert (error.text, error.where) == (OP + "would override allocated address", at(4))
    assert [(note.text, note.where) for note in error.notes] == [
        ('buffer "coeffs" is at 0x200..0x2FF (256 bytes)', at(4)),
        (f"the stack is at 0x0..0x3FF (1024 bytes){default}; both claim 0x200..0x2FF (256 bytes)", at(9)),
        ('the lowest legal address for buffer "coeffs" is 0x400 (1024)', None),
    ]
    assert error.todo.startswith("set address = 1024")


def test_the_lowest_legal_address_keeps_bank_and_alignment() -> None:
    (error,) = refused(npu2(buf("p", 32, 16384), buf("b", 64, 16384, bank=1))).diagnostics
    assert "0x4020 (16416)" in error.notes[-1].text
    (error,) = refused(npu2(buf("p", 16384, 16384), buf("b", 64, 16384, bank=1))).diagnostics
    assert "lowest" not in error.notes[-1].text


def test_a_collision_with_prebuilt_data_names_it() -> None:
    (error,) = refused(npu2(buf("rtp", 64, 16416, line=4), prebaked(16384, 2048))).diagnostics
    assert error.where == at(4)
    assert (
        '"prebaked_0_2_16384" (data of the prebuilt elf_file) is at 0x4000..0x47FF (2048 bytes)' in error.notes[1].text
    )
    (error,) = refused(npu2(buf("rtp", 64, 16384), prebaked(16416, 2048))).diagnostics
    assert "prebaked_0_2_16416" in error.notes[0].text
    assert "rtp" in error.notes[1].text


def test_bank_errors_say_what_lies_there() -> None:
    (error,) = refused(npu1(buf("a", 16384, bank=0), buf("b", 4096, 8192, line=8))).diagnostics
    assert [(note.text, note.where) for note in error.notes] == [
        ("the stack is at 0x0..0x3FF (1024 bytes)", at(90)),
        ('buffer "b" is at 0x2000..0x2FFF (4096 bytes)', at(8)),
    ]


def test_a_fragmented_bank_names_its_longest_run() -> None:
    (error,) = refused(npu1(buf("a", 8000, bank=1), buf("b", 4096, 22528, line=8))).diagnostics
    assert error.text == OP + 'buffer "a" requires 8000 bytes in bank 1, but only 12288 of 16384 bytes are free there'
    assert error.notes[0].text == "the largest free run in bank 1 is 6144 bytes"


def test_no_room_for_the_stack() -> None:
    (error,) = refused(
        npu2(buf("full", 16384, 16384, line=4), stack=StackExtent(1024, bank=1, where=at(9)))
    ).diagnostics
    assert error.text == (
        "'aie.core' op requires a 1024-byte stack in bank 1, but no contiguous aligned space remains "
        "after address-pinned buffers"
    )
    assert error.where == at(9)
    assert [note.where for note in error.notes] == [at(4)]


def test_a_stack_may_move_before_a_tile_is_refused() -> None:
    """The rule keeps the longer hole whole and puts the stack into the short one, which a buffer needs."""
    pins = [buf("p", 16384, 0), buf("q", 3072, 17408), buf("r", 42048, 23488)]
    problem = npu2(*pins, buf("a", 1024), buf("b", 2048), stack=StackExtent(960, bank=1))
    layout = solve(problem)
    assert isinstance(layout, TileLayout)
    assert layout.solver == "exact"
    assert layout.addresses["a"] == 16384
    assert {layout.stack_address, layout.addresses["b"]} in ({20480, 21440}, {20480, 22528})
    # Without the two buffers the rule's choice stands.
    alone = solve(npu2(*pins, stack=StackExtent(960, bank=1)))
    assert isinstance(alone, TileLayout)
    assert alone.stack_address == 16384


EDGES = [-(2**31), -1, 0, 1, 3, 4, 8, 31, 32, 64, 1024, 16384, 65535, 65536, 2**31 - 1, 2**40]


@pytest.mark.parametrize("seed", range(40))
def test_nonsense_gets_an_answer(seed: int) -> None:
    """Negative, huge and contradictory demands: a legal layout or a worded refusal, never an exception."""
    rng = random.Random(seed)

    def maybe() -> int | None:
        return rng.choice(EDGES) if rng.random() < 0.3 else None

    for _ in range(20):
        extents = tuple(
            Extent(
                f"e{i}",
                rng.choice(list(Kind)),
                max(0, rng.choice(EDGES)),
                maybe(),
                maybe(),
                rng.choice([None, (0,), (1, 2), (7, 8), ()]),
                rng.choice([1, 3, 64]),
                rng.random() < 0.8,
            )
            for i in range(rng.randint(0, 6))
        )
        stack = rng.choice([None, StackExtent(max(1, rng.choice(EDGES)), maybe(), rng.choice([None, 0, 9]))])
        shim = TileProblem(0, 0, 0, 0, 4, 4, 4, extents, stack)
        problem = rng.choice([npu2(*extents, stack=stack), aie1(*extents, stack=stack), memtile(*extents), shim])
        answer = solve(problem, budget=300)
        layout = answer if isinstance(answer, TileLayout) else answer.deepest
        assert isinstance(answer, TileLayout) or any(d.is_error for d in answer.diagnostics)
        if layout is not None:
            assert memory_map(problem, layout).count("\tbank : ") == problem.banks
            assert bank_table(problem, layout).count("\n") == problem.banks + 2
