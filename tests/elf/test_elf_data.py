"""Static data and program memory on hand-built images; bank placement in the specified words."""

from __future__ import annotations

import elfmaker as em
import pytest

from aiecc.base.diag import Level
from aiecc.base.spans import Span
from aiecc.elf.banks import Memory, Request, check_banks, placed, requests
from aiecc.elf.data import DataClass, classify, linked_data, prebuilt_ranges, probe_data
from aiecc.elf.inputs import InputObject, LinkFile, Part, defining, functions, objects, variables
from aiecc.elf.program import check_program, program_size
from aiecc.elf.read import Image, read
from aiecc.model.ids import CoreId
from aiecc.model.measure import DataMeasure

DATA, CODE = em.ALLOC | em.WRITE, em.ALLOC | em.EXEC
BASE = 0x70000
MEMORY = Memory(BASE, 0x10000, 4)
CORE = CoreId("main", 0, 2)
WHERE = Span("design.mlir", 9, 3)


@pytest.mark.parametrize(
    ("name", "banks"),
    [
        (".aie.bank0", (0,)),
        (".aie.bank3.table", (3,)),
        (".aie.bank2.rel.ro", (2,)),
        (".data.DM_bankB", (1,)),
        ("foo.DM_bankAC.4", (0, 2)),
        (".data", ()),
        (".data.rel.ro", ()),
        (".rodata.str1.1", ()),
        (".bss.history", ()),
        (".sdata", ()),
        (".aie.bank4", None),
        (".aie.bank01", None),
        (".aie.bank", None),
        (".text", None),
        (".debug_str", None),
        ("DM_stack", None),
    ],
)
def test_classification(name: str, banks: tuple[int, ...] | None) -> None:
    assert classify(name) == (None if banks is None else DataClass(banks))


def test_only_one_bank_pins() -> None:
    assert DataClass((2,)).pinned == 2
    assert DataClass((0, 2)).pinned is None
    assert DataClass().pinned is None


def section(name: str, address: int, size: int, align: int = 1, flags: int = DATA) -> em.Sec:
    return em.Sec(name, type=em.NOBITS, flags=flags, address=BASE + address, size=size, align=align)


def image(*sections: em.Sec, symbols: list[em.Sym] | None = None) -> Image:
    return read(em.Maker(sections=list(sections), symbols=symbols or []).build())


SECTIONS = (
    # In the file's order, not in that of addresses.
    section(".bss", 0x1040, 100, 64),
    section(".data", 0x1000, 3, 4),
    section(".rodata.DM_bankAB", 0x1010, 40, 8),
    section(".aie.bank1", 0x4000, 10, 2),
    section(".aie.bank1.b", 0x4020, 7, 32),
    section(".data.DM_bankD", 0xC000, 5, 4),
    section(".rodata.empty", 0x1100, 0, 4096),
    section(".data.not_loaded", 0, 999, flags=0),
    section(".text", 0x0, 77, 16, CODE),
)


def test_probe_packs_in_address_order() -> None:
    # 3, up to 8, +40 = 48, up to 64, +100.
    assert probe_data(image(*SECTIONS), 4) == DataMeasure(
        164, 64, bank_sizes=(0, 32 + 7, 0, 5), bank_alignments=(1, 32, 1, 4)
    )


def test_the_final_link_sums_plainly() -> None:
    assert linked_data(image(*SECTIONS), 4) == DataMeasure(
        143, 64, bank_sizes=(0, 17, 0, 5), bank_alignments=(1, 32, 1, 4)
    )


def test_no_data_at_all() -> None:
    assert probe_data(image(section(".text", 0, 8, 4, CODE)), 4) == DataMeasure(0, 1, (0,) * 4, (1,) * 4)


def test_prebuilt_ranges_are_those_inside_the_own_memory() -> None:
    inside = [section(".data", 0x4000, 2048), section(".aie.bank2", 0xBC00, 0x400), section(".bss", 0xFFFC, 4)]
    outside = [section(".data.n", 0xFFFE, 4), section(".bss.w", -0x10000, 64), section(".text", 0x100, 64, 4, CODE)]
    assert prebuilt_ranges(image(*outside, *inside), BASE, 0x10000) == ((0x4000, 2048), (0xBC00, 0x400), (0xFFFC, 4))


# -- banks ------------------------------------------------------------------------------------------------


def kernel(*tables: tuple[str, str], name: str = "kernel.o") -> InputObject:
    """An object with one 64-byte variable per (symbol, section)."""
    sections = list(dict.fromkeys(s for _, s in tables))
    maker = em.Maker(
        type=1,
        sections=[em.Sec(s, bytes(64), flags=DATA) for s in sections],
        symbols=[em.Sym(n, 0, 64, em.OBJECT, em.GLOBAL, s) for n, s in tables],
    )
    return InputObject(name, read(maker.build()))


def linked(*symbols: tuple[str, int, int]) -> Image:
    """A linked image with (name, tile-relative address, size) variables."""
    found = [em.Sym(n, BASE + a, s, em.OBJECT, em.GLOBAL, ".data") for n, a, s in symbols]
    return image(section(".data", 0, 0x10000), symbols=found)


def check(linked_image: Image, *objects_: InputObject) -> list[str]:
    found = check_banks(CORE, WHERE, linked_image, objects_, MEMORY)
    assert all((d.level, d.where, d.code) == (Level.ERROR, WHERE, "E0501") for d in found)
    return [d.text for d in found]


def test_a_table_in_its_bank_passes() -> None:
    objects_ = kernel(("a", ".aie.bank0"), ("b", ".aie.bank1"), ("free", ".data"))
    assert check(linked(("a", 0x3FC0, 64), ("b", 0x4000, 64), ("free", 0, 4)), objects_) == []


def test_a_table_in_another_bank() -> None:
    assert check(linked(("table_ab", 0x8010, 64)), kernel(("table_ab", ".aie.bank0"))) == [
        "core (0, 2): 'table_ab' is placed for memory bank A (.aie.bank0), but the linker put it at 0x8010, which is "
        "bank C. A parallel access that relies on this table being in bank A reads the wrong bank"
    ]


def test_a_table_across_a_boundary() -> None:
    assert check(linked(("t", 0x3FE0, 64)), kernel(("t", ".aie.bank0"))) == [
        "core (0, 2): 't' is placed for memory bank A (.aie.bank0), but the linker put it at 0x3FE0, which is bank A, "
        "and its 64-byte extent crosses that bank's boundary. A parallel access that relies on this table being in "
        "bank A reads the wrong bank"
    ]


def test_a_request_for_either_of_two_banks() -> None:
    objects_ = kernel(("t", ".data.DM_bankBD"))
    assert check(linked(("t", 0x4000, 64)), objects_) == check(linked(("t", 0xC000, 64)), objects_) == []
    assert check(linked(("t", 0x1234, 64)), objects_) == [
        "core (0, 2): 't' is placed for memory bank B or D (.data.DM_bankBD), but the linker put it at 0x1234, which "
        "is bank A. A parallel access that relies on this table being in bank B or D reads the wrong bank"
    ]


def test_a_table_without_a_size_is_only_asked_for_its_bank() -> None:
    assert check(linked(("t", 0x3FFF, 0)), kernel(("t", ".aie.bank0"))) == []
    assert len(check(linked(("t", 0x4000, 0)), kernel(("t", ".aie.bank0")))) == 1


def test_every_violation_is_reported() -> None:
    objects_ = kernel(("a", ".aie.bank0"), ("b", ".aie.bank1"))
    assert len(check(linked(("a", 0x4000, 64), ("b", 0, 64)), objects_)) == 2


def test_unclear_symbols_are_skipped() -> None:
    # Twice in the inputs, pinned or not; twice in the image at two addresses; absent; outside the own memory.
    twice = [kernel(("a", ".aie.bank0")), kernel(("a", ".data"), name="other.o")]
    assert requests(twice) == requests(twice[::-1]) == []
    assert requests([kernel(("a", ".aie.bank0")), kernel(("a", ".aie.bank0"), name="other.o")]) == []
    assert check(linked(("a", 0x8000, 64)), *twice) == []
    assert check(linked(("a", 0x8000, 64), ("a", 0, 64)), kernel(("a", ".aie.bank0"))) == []
    assert check(linked(), kernel(("a", ".aie.bank0"))) == []
    assert check(linked(("a", 0x10000, 64)), kernel(("a", ".aie.bank0"))) == []
    assert placed(linked(("a", 4, 8), ("a", 4, 12)), MEMORY) == {"a": (4, 12)}


def test_functions_are_no_requests() -> None:
    maker = em.Maker(
        type=1,
        sections=[em.Sec(".aie.bank0", bytes(8), flags=DATA)],
        symbols=[em.Sym("f", 0, 8, em.FUNC, section=".aie.bank0"), em.Sym("t", 0, 8, em.OBJECT, section=".aie.bank0")],
    )
    assert requests([InputObject("k.o", read(maker.build()))]) == [Request("t", ".aie.bank0", (0,))]


# -- program memory, parts ----------------------------------------------------------------------------------


def test_program_size_is_that_of_executable_sections() -> None:
    sections = [section(".text", 0, 100, 4, CODE), section(".text.b", 0x80, 28, 4, CODE), section(".data", 0, 999)]
    assert program_size(image(*sections, section(".debug", 0, 50, flags=em.EXEC))) == 128


PARTS = [Part("unrolled", 60000, "kernel.o"), Part("core_0_2", 64)]


def test_program_memory_levels() -> None:
    assert check_program(CORE, WHERE, 14745, 16384) is None
    near = check_program(CORE, WHERE, 14746, 16384, PARTS)
    assert near is not None
    assert near.level is Level.REMARK
    assert near.text == "core (0, 2): its code takes 14746 of 16384 bytes of program memory (90 %)"
    assert near.notes[0].text == "largest functions: unrolled (60000 bytes, kernel.o), core_0_2 (64 bytes)"
    assert check_program(CORE, WHERE, 899, 1000) is None
    assert check_program(CORE, WHERE, 900, 1000) is not None
    full = check_program(CORE, WHERE, 16384, 16384)
    assert full is not None
    assert not full.is_error
    over = check_program(CORE, WHERE, 16385, 16384, PARTS)
    assert over is not None
    assert (over.is_error, over.code) == (True, "E0602")
    assert over.text == (
        "core (0, 2): this core's code exceeds the tile's program memory: 16385 bytes, 16384 available, 1 too many"
    )


def test_parts_come_largest_first_with_their_objects() -> None:
    first = em.Maker(
        type=1,
        sections=[em.Sec(".text", bytes(99), flags=CODE), em.Sec(".bss", flags=DATA, type=em.NOBITS, size=4096)],
        symbols=[
            em.Sym("big", 0, 90),
            em.Sym("alias", 0, 90, binding=em.LOCAL),
            em.Sym("history", 0, 2048, em.OBJECT, em.LOCAL, ".bss"),
            em.Sym("gone", 2048, 64, em.OBJECT, em.LOCAL, ".bss"),
        ],
    )
    second = em.Maker(
        type=1,
        sections=[em.Sec(".text", bytes(99), flags=CODE), em.Sec(".aie.bank1", bytes(64), flags=DATA)],
        symbols=[
            em.Sym("small", 0, 9),
            em.Sym("table", 0, 64, em.OBJECT, section=".aie.bank1"),
            em.Sym("ext", section=""),
        ],
    )
    inputs = objects([LinkFile("kernel.o", first.build()), LinkFile("other.o", second.build())])
    assert functions(inputs) == [Part("big", 90, "kernel.o"), Part("small", 9, "other.o")]
    assert variables(inputs) == [Part("history", 2048, "kernel.o"), Part("gone", 64, "kernel.o")]
    assert variables(inputs, bank=1) == [Part("table", 64, "other.o")]
    assert variables(inputs, bank=2) == []
    assert defining(inputs, ["small", "big", "none"]) == [("kernel.o", ["big"]), ("other.o", ["small"])]
    # Of a linked image only what the link kept counts, and the objects say where it came from.
    kept = image(
        section(".bss", 0, 4096),
        section(".text", 0, 99, flags=CODE),
        symbols=[em.Sym("history", BASE, 2048, em.OBJECT, em.LOCAL, ".bss"), em.Sym("core_0_2", 0, 12)],
    )
    assert variables(kept, inputs) == [Part("history", 2048, "kernel.o")]
    assert functions(kept, inputs) == [Part("core_0_2", 12)]


def test_a_name_in_two_objects_is_told_as_both() -> None:
    one = em.Maker(
        type=1,
        sections=[em.Sec(".text", bytes(99), flags=CODE)],
        symbols=[em.Sym("step", 0, 9, binding=em.LOCAL)],
    ).build()
    inputs = objects([LinkFile("a.o", one), LinkFile("b.o", one)])
    kept = image(section(".text", 0, 99, flags=CODE), symbols=[em.Sym("step", 0, 9, binding=em.LOCAL)])
    assert functions(kept, inputs) == [Part("step", 9, "a.o or b.o")]
