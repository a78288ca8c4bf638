"""The stack requirement on hand-built cores: each rule by itself, then random graphs against brute force."""

from __future__ import annotations

import dataclasses
import random
import struct
from collections.abc import Mapping, Sequence

import elfmaker as em
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aiecc.elf.calls import Spans
from aiecc.elf.read import read
from aiecc.elf.stack import analyse, measure
from aiecc.model.measure import Frame, StackMeasure, StackSource

CODE = em.ALLOC | em.EXEC
DATA = em.ALLOC | em.WRITE
DATA_AT = 0x70000


def of(
    maker: em.Maker, overrides: Mapping[str, int] | None = None, fallback: Mapping[str, int] | None = None
) -> StackMeasure:
    return measure(maker.build(), "core.elf", overrides or {}, fallback)


def names(found: StackMeasure) -> list[str]:
    return [f.function for f in found.chain]


# -- paths --------------------------------------------------------------------------------------------


def test_maximum_over_paths_not_sum() -> None:
    found = of(
        em.core(
            [
                em.Fn("__start", calls=["_main_init"]),
                em.Fn("_main_init", 48, ["core_0_2"]),
                em.Fn("core_0_2", 32, ["first", "second"]),
                em.Fn("first", 4096),
                em.Fn("second", 4112),
            ]
        )
    )
    assert found == StackMeasure(
        StackSource.MEASURED,
        48 + 32 + 4112,
        (Frame("__start", 0), Frame("_main_init", 48), Frame("core_0_2", 32), Frame("second", 4112)),
    )


def test_the_entry_counts_nothing_even_with_a_frame() -> None:
    assert of(em.core([em.Fn("__start", 640, ["a"]), em.Fn("a", 16)])).size == 16


def test_the_entry_without_a_frame_is_not_unmeasured() -> None:
    found = of(em.core([em.Fn("__start", None, ["a"]), em.Fn("a", 16)]))
    assert (found.source, found.size, found.unmeasured) == (StackSource.MEASURED, 16, ())


def test_the_walk_starts_at_the_entry_of_the_header() -> None:
    maker = em.core([em.Fn("unused", 9999), em.Fn("__start", calls=["a"]), em.Fn("a", 64)])
    # Not at its first byte: the owner of the address counts.
    maker.entry = em.at(maker, "__start") + 4
    assert (of(maker).size, names(of(maker))) == (64, ["__start", "a"])


def test_unreachable_functions_count_nothing() -> None:
    found = of(em.core([em.Fn("__start", calls=["a"]), em.Fn("a", 16), em.Fn("dead", None, ["dead"])]))
    assert (found.source, found.size) == (StackSource.MEASURED, 16)


def test_tail_calls_are_edges() -> None:
    found = of(em.core([em.Fn("__start", calls=["a"]), em.Fn("a", 16, tails=["b"]), em.Fn("b", 100)]))
    assert (found.size, names(found)) == (116, ["__start", "a", "b"])


def test_thousands_of_frames_deep() -> None:
    functions = [em.Fn("__start", calls=["f0"])]
    functions += [em.Fn(f"f{i}", 16, [f"f{i + 1}"]) for i in range(4999)]
    found = of(em.core([*functions, em.Fn("f4999", 16)]))
    assert (found.size, len(found.chain)) == (80000, 5001)


# -- recursion ----------------------------------------------------------------------------------------


def test_recursion_is_unbounded_and_names_the_path() -> None:
    maker = em.core(
        [
            em.Fn("__start", calls=["core_0_2"]),
            em.Fn("core_0_2", 16, ["fold_tree"]),
            em.Fn("fold_tree", 16, ["fold"]),
            em.Fn("fold", 48, ["fold"], binding=em.LOCAL),
        ]
    )
    found = of(maker)
    start, core, tree, fold = (em.at(maker, n) for n in ("__start", "core_0_2", "fold_tree", "fold"))
    assert found.source is StackSource.UNBOUNDED
    assert found.problem == (
        f"recursion detected: __start@0x{start:X} -> core_0_2@0x{core:X} -> fold_tree@0x{tree:X} -> fold@0x{fold:X} -> "
        f"fold@0x{fold:X}"
    )
    assert found.size == 0
    assert names(found) == ["__start", "core_0_2", "fold_tree", "fold", "fold"]


def test_addresses_are_upper_case_hex() -> None:
    maker = em.core([em.Fn("__start", calls=["r"], size=0xAC), em.Fn("r", 1, ["r"])])
    assert of(maker).problem == "recursion detected: __start@0x0 -> r@0xAC -> r@0xAC"


def test_mutual_recursion() -> None:
    found = of(
        em.core([em.Fn("__start", calls=["a"]), em.Fn("a", 16, ["b"]), em.Fn("b", 16, ["c"]), em.Fn("c", 16, ["a"])])
    )
    assert names(found) == ["__start", "a", "b", "c", "a"]


def test_every_recursion_is_told() -> None:
    found = of(
        em.core(
            [em.Fn("__start", calls=["a", "b"]), em.Fn("a", 16, ["a"]), em.Fn("b", 16, ["c"]), em.Fn("c", 8, ["b"])]
        )
    )
    assert names(found) == ["__start", "a", "a"]
    assert [[f.function for f in c] for c in found.cycles] == [["__start", "b", "c", "b"]]


def test_an_override_cuts_recursion() -> None:
    maker = em.core([em.Fn("__start", calls=["a"]), em.Fn("a", 32, ["r"]), em.Fn("r", 48, ["r"])])
    found = of(maker, {"r": 1024})
    assert found == StackMeasure(
        StackSource.MEASURED, 1056, (Frame("__start", 0), Frame("a", 32), Frame("r", 1024, given=True))
    )


def test_a_diamond_is_no_recursion() -> None:
    functions = [em.Fn("__start", calls=["a", "b"]), em.Fn("a", 8, ["c"]), em.Fn("b", 24, ["c"]), em.Fn("c", 4)]
    assert of(em.core(functions)).size == 28


def test_a_jump_to_the_own_start_is_a_loop() -> None:
    assert of(em.core([em.Fn("__start", calls=["a"]), em.Fn("a", 16, tails=["a"])])).size == 16


@pytest.mark.parametrize(
    ("kind", "code", "recursive"),
    [
        (em.R_JAL, 0x0000006F, False),  # j 0
        (em.R_JAL, 0x000000EF, True),  # jal ra, 0
        (em.R_BRANCH, 0x00000063, False),  # beq x0, x0, 0
        (em.R_RVC_JUMP, 0x0000A001, False),  # c.j 0
        (em.R_RVC_JUMP, 0x00002001, True),  # c.jal 0
        (em.R_PCREL_LO12_I, 0x00028293, False),  # names the label of its auipc, here the function's first instruction
    ],
)
def test_which_branches_to_the_own_start_are_calls(kind: int, code: int, recursive: bool) -> None:
    maker = em.core([em.Fn("__start", calls=["a"]), em.Fn("a", 16, size=16)])
    text = maker.sections[0]
    at = em.at(maker, "a")
    text.data = text.data[: at + 8] + struct.pack("<I", code) + text.data[at + 12 :]
    text.relocations.append((at + 8, kind, "a", 0))
    assert (of(maker).source is StackSource.UNBOUNDED) == recursive


def test_a_branch_to_an_inner_address_is_no_edge() -> None:
    maker = em.core([em.Fn("__start", calls=["a"]), em.Fn("a", 16, size=32)])
    at = em.at(maker, "a")
    maker.symbols.append(em.Sym(".LBB0_1", at + 8, 0, em.NOTYPE, em.LOCAL))
    text = maker.sections[0]
    text.data = text.data[: at + 16] + em.CALL_CODE + text.data[at + 24 :]
    text.relocations += [(at + 12, em.R_JAL, ".LBB0_1", 0), (at + 16, em.R_CALL_PLT, "a", 8)]
    assert (of(maker).source, of(maker).size) == (StackSource.MEASURED, 16)


# -- aliases, sizes, section symbols --------------------------------------------------------------------


def test_a_zero_size_alias_is_attributed_to_the_sized_function() -> None:
    functions = [em.Fn("__start", calls=["core"]), em.Fn("core", 16, ["add_one"]), em.Fn("add_one", 16, ["copy_rows"])]
    maker = em.core([*functions, em.Fn("copy_rows", 32)])
    alias = em.Sym("a_offset_rows", em.at(maker, "copy_rows"), 0)
    for symbols in ([alias, *maker.symbols], [*maker.symbols, alias]):
        found = of(dataclasses.replace(maker, symbols=symbols))
        assert (found.size, names(found)) == (64, ["__start", "core", "add_one", "copy_rows"])


def test_an_address_word_of_a_zero_size_alias_is_no_call() -> None:
    maker = em.core([em.Fn("__start", calls=["a"]), em.Fn("a", 16, size=16), em.Fn("helper", 16, ["a"])])
    maker.symbols.append(em.Sym("inlined", em.at(maker, "helper"), 0))
    maker.sections[0].relocations.append((em.at(maker, "a") + 4, em.R_32, "inlined", 0))
    assert (of(maker).source, of(maker).size) == (StackSource.MEASURED, 16)


def test_a_call_of_a_zero_size_alias_is_a_call() -> None:
    maker = em.core([em.Fn("__start", calls=["_main_init"]), em.Fn("entry", 16, ["r"]), em.Fn("r", 16, ["r"])])
    # `em.core` knows no alias: the relocation names it, the symbol follows.
    maker.symbols.append(em.Sym("_main_init", em.at(maker, "entry"), 0))
    assert of(maker).problem.startswith("recursion detected: __start@0x0 -> entry@0x")


def test_names_prefer_exported_then_alphabet() -> None:
    maker = em.core([em.Fn("__start", calls=["zz"]), em.Fn("zz", 16)])
    at = em.at(maker, "zz")
    maker.symbols += [em.Sym("local", at, 4, binding=em.LOCAL), em.Sym("weak", at, 4, binding=em.WEAK)]
    assert names(of(maker)) == ["__start", "zz"]
    maker.symbols.append(em.Sym("aa", at, 4))
    assert names(of(maker)) == ["__start", "aa"]


@pytest.mark.parametrize("addend_of_a", [True, False])
def test_section_symbols_respect_the_addend(addend_of_a: bool) -> None:
    maker = em.core([em.Fn("__start", size=16), em.Fn("a", 16), em.Fn("b", 500)])
    maker.symbols.append(em.Sym("", 0, 0, em.SECTION, em.LOCAL))
    maker.symbols.append(em.Sym("text", 0, 0, em.SECTION, em.LOCAL))
    target = em.at(maker, "a" if addend_of_a else "b")
    maker.sections[0].relocations.append((0, em.R_CALL_PLT, "text", target))
    maker.sections[0].data = em.CALL_CODE + maker.sections[0].data[8:]
    found = of(maker)
    assert (found.source, found.size) == (StackSource.MEASURED, 16 if addend_of_a else 500)


def test_same_named_local_functions_stay_apart() -> None:
    maker = em.core(
        [
            em.Fn("__start", calls=["a", "b"]),
            em.Fn("a", 16, ["s1"]),
            em.Fn("b", 16, ["s2"]),
            em.Fn("s1", 100, binding=em.LOCAL),
            em.Fn("s2", 300, binding=em.LOCAL),
        ]
    )
    for symbol in maker.symbols:
        symbol.shown = "step" if symbol.name in ("s1", "s2") else None
    found = of(maker)
    assert (found.size, names(found)) == (316, ["__start", "b", "step"])


def test_a_second_entry_point_counts_for_its_function() -> None:
    maker = em.core([em.Fn("__start", calls=["f"]), em.Fn("f", 16, size=16), em.Fn("outer", 200, size=32)])
    maker.symbols.append(em.Sym("inner", em.at(maker, "outer") + 16, 0))
    at = em.at(maker, "f")
    maker.sections[0].relocations.append((at, em.R_CALL_PLT, "inner", 0))
    text = maker.sections[0]
    text.data = text.data[:at] + em.CALL_CODE + text.data[at + 8 :]
    assert (of(maker).size, names(of(maker))) == (216, ["__start", "f", "outer"])


def test_marks_of_the_linker_point_to_no_function() -> None:
    # Empty constructor tables end where the next function starts.
    maker = em.core([em.Fn("__start", calls=["_main_init"]), em.Fn("_main_init", 16, size=32), em.Fn("unused", 900)])
    for name in ("_main_init", "unused"):
        maker.symbols.append(em.Sym(f"mark_{name}", em.at(maker, name), 0, em.NOTYPE))
        maker.sections[0].relocations.append((em.at(maker, "_main_init") + 8, em.R_HI20, f"mark_{name}", 0))
    assert (of(maker).source, of(maker).size) == (StackSource.MEASURED, 16)


def test_constructors_are_found_between_the_functions() -> None:
    maker = em.core([em.Fn("__start", calls=["_main_init"]), em.Fn("pad", size=16), em.Fn("_main_init", 16, size=32)])
    maker.symbols = [s for s in maker.symbols if s.name != "pad"]
    table = em.at(em.core([em.Fn("__start", calls=["x"]), em.Fn("pad")]), "pad")
    text = maker.sections[0]
    constructor = len(text.data)
    text.data += struct.pack("<I", 0x00008067)
    maker.symbols.append(em.Sym("early", constructor, 4, binding=em.LOCAL))
    maker.symbols.append(em.Sym("_init_array_start", table, 0, em.NOTYPE))
    maker.sections[1].data += struct.pack("<I", constructor) + em.leb(400)
    text.relocations += [
        (table, em.R_32, "early", 0),
        (em.at(maker, "_main_init") + 8, em.R_HI20, "_init_array_start", 0),
    ]
    assert of(maker).chain[-1] == Frame("early", 400, indirect=True)


# -- pointers -------------------------------------------------------------------------------------------


def table_core(order: Sequence[str] = ("small", "large")) -> em.Maker:
    """`dispatch` reads a table that holds two functions."""
    words = em.Sec(".data", bytes(12), flags=DATA, address=DATA_AT, align=4)
    maker = em.core(
        [
            em.Fn("__start", calls=["dispatch"]),
            em.Fn("dispatch", 16, size=16),
            em.Fn("small", 8, binding=em.LOCAL),
            em.Fn("large", 1296, binding=em.LOCAL),
        ],
        data=[words],
        extra=[em.Sym("table", DATA_AT + 4, 8, em.OBJECT, em.LOCAL, ".data")],
    )
    words.relocations += [(DATA_AT + 4 + 4 * i, em.R_32, n, 0) for i, n in enumerate(order)]
    at = em.at(maker, "dispatch")
    maker.sections[0].relocations += [(at, em.R_HI20, "table", 0), (at + 4, em.R_LO12_I, "table", 0)]
    return maker


def test_a_table_fans_out_and_is_marked() -> None:
    found = of(table_core())
    assert found.size == 16 + 1296
    assert found.chain[-1] == Frame("large", 1296, indirect=True)


def test_a_pointer_past_the_end_still_means_its_table() -> None:
    maker = table_core()
    maker.sections[0].relocations[-2:] = [(em.at(maker, "dispatch"), em.R_HI20, "table", 8)]
    assert of(maker).size == 16 + 1296


def test_a_table_without_a_symbol_is_found_by_its_place() -> None:
    maker = table_core()
    maker.symbols = [s for s in maker.symbols if s.name != "table"]
    maker.symbols.append(em.Sym("data", DATA_AT, 0, em.SECTION, em.LOCAL, ".data"))
    maker.sections[0].relocations[-2:] = [(em.at(maker, "dispatch"), em.R_HI20, "data", 4)]
    assert of(maker).size == 16 + 1296


def test_another_object_is_not_the_table() -> None:
    maker = table_core()
    maker.symbols.append(em.Sym("other", DATA_AT, 4, em.OBJECT, em.LOCAL, ".data"))
    maker.sections[0].relocations[-2:] = [(em.at(maker, "dispatch"), em.R_HI20, "other", 0)]
    assert of(maker).size == 16


def test_an_address_taken_in_code_is_an_edge_through_a_pointer() -> None:
    maker = em.core([em.Fn("__start", calls=["a"]), em.Fn("a", 16, size=16), em.Fn("callback", 64)])
    maker.sections[0].relocations.append((em.at(maker, "a"), em.R_HI20, "callback", 0))
    assert of(maker).chain[-1] == Frame("callback", 64, indirect=True)


def test_a_direct_call_beside_a_pointer_is_direct() -> None:
    maker = em.core([em.Fn("__start", calls=["a"]), em.Fn("a", 16, ["callback"], size=32), em.Fn("callback", 64)])
    maker.sections[0].relocations.insert(0, (em.at(maker, "a") + 12, em.R_HI20, "callback", 0))
    assert of(maker).chain[-1] == Frame("callback", 64)
    maker.sections[0].relocations.append(maker.sections[0].relocations.pop(0))
    assert of(maker).chain[-1] == Frame("callback", 64)


def test_of_equal_paths_the_direct_one_is_shown() -> None:
    maker = em.core([em.Fn("__start", calls=["a"]), em.Fn("a", 16, ["z"], size=32), em.Fn("b", 64), em.Fn("z", 64)])
    maker.sections[0].relocations.append((em.at(maker, "a") + 12, em.R_HI20, "b", 0))
    assert names(of(maker)) == ["__start", "a", "z"]


@pytest.mark.parametrize(("kind", "holds"), [(35, True), (39, False)])
def test_relative_tables_hold_what_they_add_not_what_they_subtract(kind: int, holds: bool) -> None:
    maker = table_core()
    maker.sections[2].relocations = [(DATA_AT + 4, kind, "large", 0)]
    assert of(maker).size == (16 + 1296 if holds else 16)


def test_a_table_that_holds_its_reader_is_recursion_through_a_pointer() -> None:
    found = of(table_core(("small", "dispatch")))
    assert found.source is StackSource.UNBOUNDED
    assert found.chain[-1] == Frame("dispatch", 16, indirect=True)


# -- missing and malformed data -----------------------------------------------------------------------------


def test_missing_frames_make_a_lower_bound() -> None:
    found = of(
        em.core([em.Fn("__start", calls=["z", "a"]), em.Fn("z", None, ["leaf"]), em.Fn("a", None), em.Fn("leaf", 64)])
    )
    assert (found.source, found.size, found.unmeasured) == (StackSource.LOWER_BOUND, 64, ("a", "z"))
    assert found.chain == (Frame("__start", 0), Frame("z", None), Frame("leaf", 64))


def test_functions_below_an_override_are_not_asked_for() -> None:
    found = of(em.core([em.Fn("__start", calls=["a"]), em.Fn("a", None, ["b"]), em.Fn("b", None)]), {"a": 0})
    assert found == StackMeasure(StackSource.MEASURED, 0, (Frame("__start", 0), Frame("a", 0, given=True)))


def test_an_override_replaces_even_a_larger_measure() -> None:
    found = of(em.core([em.Fn("__start", calls=["a"]), em.Fn("a", 5000)]), {"a": 100})
    assert (found.source, found.size) == (StackSource.MEASURED, 100)


@pytest.mark.parametrize(("binding", "size"), [(em.GLOBAL, 100), (em.WEAK, 100), (em.LOCAL, 5000)])
def test_only_exported_names_can_be_overridden(binding: int, size: int) -> None:
    assert of(em.core([em.Fn("__start", calls=["a"]), em.Fn("a", 5000, binding=binding)]), {"a": 100}).size == size


def test_an_override_by_a_zero_size_alias() -> None:
    maker = em.core([em.Fn("__start", calls=["a"]), em.Fn("a", 5000)])
    maker.symbols.append(em.Sym("alias", em.at(maker, "a"), 0))
    assert of(maker, {"alias": 64}).size == 64
    assert of(maker, {"alias": 64, "a": 72}).size == of(maker, {"a": 72, "alias": 64}).size == 72


def test_an_override_of_a_second_entry_point_is_none_of_the_function() -> None:
    maker = em.core([em.Fn("__start", calls=["a"]), em.Fn("a", 5000, size=16)])
    maker.symbols.append(em.Sym("inner", em.at(maker, "a") + 8, 0))
    assert of(maker, {"inner": 64}).size == 5000


def test_fallback_frames_only_where_none_is_given() -> None:
    maker = em.core([em.Fn("__start", calls=["x", "y"]), em.Fn("x", 8), em.Fn("y", None)])
    found = of(maker, fallback={"x": 500, "y": 32})
    assert (found.source, found.size) == (StackSource.MEASURED, 32)


def test_the_larger_of_two_entries_counts() -> None:
    maker = em.core([em.Fn("__start", calls=["a"]), em.Fn("a", 16)])
    at = em.at(maker, "a")
    # The first two name inner addresses of the same function; the third one no function at all.
    for address, size in ((at + 2, 48), (at + 1, 32), (0x9999, 999)):
        maker.sections[1].data += struct.pack("<I", address) + em.leb(size)
    assert of(maker).size == 48


@pytest.mark.parametrize(
    "tail",
    [b"\0", b"\0\0\0", b"\0\0\0\0", b"\0\0\0\0\x80", b"\0\0\0\0" + b"\xff" * 9 + b"\x7f"],
    ids=["1", "3", "no size", "open leb", "beyond 63 bits"],
)
def test_malformed_stack_sizes(tail: bytes) -> None:
    maker = em.core([em.Fn("__start", calls=["a"]), em.Fn("a", 16)])
    maker.sections[1].data += tail
    assert of(maker) == StackMeasure(
        StackSource.UNKNOWN, problem="the linked core 'core.elf' carries malformed .stack_sizes data"
    )


def test_a_sum_beyond_63_bits_is_not_believable() -> None:
    half = 1 << 62
    found = of(em.core([em.Fn("__start", calls=["a"]), em.Fn("a", half, ["b"]), em.Fn("b", half)]))
    assert found.source is StackSource.UNKNOWN
    assert found.problem == (
        "stack requirement for 'a' overflows a signed 64-bit byte count; the core's .stack_sizes data is not believable"
    )
    just = of(em.core([em.Fn("__start", calls=["a"]), em.Fn("a", half, ["b"]), em.Fn("b", half - 1)]))
    assert just.size == (1 << 63) - 1


def test_without_relocations_there_is_no_call_graph() -> None:
    found = of(em.core([em.Fn("__start"), em.Fn("a", 16)]))
    assert found.problem == "the linked core 'core.elf' retains no relocations, so its call graph is unavailable"
    assert found.source is StackSource.UNKNOWN


def test_the_relocation_test_comes_before_malformed_data() -> None:
    maker = em.core([em.Fn("__start"), em.Fn("a", 16)])
    maker.sections[1].data += b"\0"
    assert "retains no relocations" in of(maker).problem


def test_an_entry_outside_every_function() -> None:
    maker = em.core([em.Fn("__start", calls=["a"]), em.Fn("a", 16)])
    maker.entry = 0x4000
    assert of(maker).problem == "the linked core 'core.elf' declares no function at its entry point"


def test_unreadable_and_unlinked_files() -> None:
    assert measure(b"junk", "x.elf", {}).problem == "cannot read the linked core 'x.elf'"
    maker = em.core([em.Fn("__start", calls=["a"]), em.Fn("a", 16)])
    assert measure(maker.build()[:300], "x.elf", {}).problem == "cannot read the linked core 'x.elf'"
    maker.type = 1
    assert of(maker).problem == "the linked core 'core.elf' has no entry point"


def test_assembly_without_sizes_is_unmeasured_not_free() -> None:
    maker = em.core([em.Fn("__start", calls=["asm"]), em.Fn("asm", None, ["leaf"]), em.Fn("leaf", 64)])
    asm = next(s for s in maker.symbols if s.name == "asm")
    asm.size = 0
    found = of(maker)
    assert (found.source, found.size, found.unmeasured) == (StackSource.LOWER_BOUND, 64, ("asm",))
    asm.type = em.NOTYPE
    assert of(maker) == found


def test_untyped_assembly_is_found_by_tail_calls_and_not_split_by_its_labels() -> None:
    maker = em.core([em.Fn("__start", calls=["a"]), em.Fn("a", 16, tails=["asm"]), em.Fn("asm", None, size=32)])
    at = em.at(maker, "asm")
    maker.symbols = [s for s in maker.symbols if s.name != "asm"]
    maker.symbols += [em.Sym("asm", at, 0, em.NOTYPE), em.Sym("loop", at + 8, 0, em.NOTYPE, em.LOCAL)]
    text = maker.sections[0]
    text.data = text.data[: at + 16] + struct.pack("<I", 0x0000006F) + text.data[at + 20 :]
    text.relocations.append((at + 16, em.R_JAL, "loop", 0))
    assert (names(of(maker)), of(maker).unmeasured) == (["__start", "a", "asm"], ("asm",))
    # A local routine that is really called is code of its own.
    text.data = text.data[: at + 16] + struct.pack("<I", 0x000000EF) + text.data[at + 20 :]
    assert of(maker).unmeasured == ("asm", "loop")


# -- other machines -----------------------------------------------------------------------------------------


def aie_core(flags: int, kind: int, symbol: str = "helper", size: int = 16) -> em.Maker:
    """`__start` calls `a` (call field), and `a` names `symbol` with a relocation of the given type."""
    text = em.Sec(".text", bytes(64), flags=CODE, relocations=[(0, 1, "a", 0), (20, kind, symbol, 0)])
    frames = b"".join(struct.pack("<I", at) + em.leb(n) for at, n in ((0, 0), (16, 32), (32, 128)))
    return em.Maker(
        machine=em.AIE,
        flags=flags,
        sections=[text, em.Sec(".stack_sizes", frames)],
        symbols=[
            em.Sym("__start", 0, 16),
            em.Sym("a", 16, 16),
            em.Sym("helper", 32, size),
            em.Sym("alias", 32, 0),
            em.Sym(".LBB1_1", 16, 0, em.NOTYPE, em.LOCAL),
        ],
    )


@pytest.mark.parametrize(
    ("flags", "kind", "direct"),
    [(2, 3, True), (2, 44, False), (3, 7, True), (3, 8, False), (1, 5, True), (4, 135, False)],
)
def test_aie_relocations(flags: int, kind: int, direct: bool) -> None:
    found = of(aie_core(flags, kind))
    assert found.size == 32 + 128
    assert found.chain[-1] == Frame("helper", 128, indirect=not direct)


@pytest.mark.parametrize(("flags", "word"), [(1, 72), (2, 50), (3, 62), (4, 135)])
def test_aie_address_word_of_a_zero_size_alias(flags: int, word: int) -> None:
    assert of(aie_core(flags, word, "alias")).size == 32
    assert of(aie_core(flags, word - 1, "alias")).size == 32 + 128


def test_aie_loop_to_the_first_instruction_is_told_from_recursion_by_its_label() -> None:
    assert of(aie_core(2, 1, ".LBB1_1")).size == 32
    assert of(aie_core(2, 1, "a")).source is StackSource.UNBOUNDED


@pytest.mark.parametrize(
    ("flags", "name", "frame"),
    [
        (2, "_main_init", 32),
        (2, "__divsf3", 64),
        (3, "__divsf3", 64),
        (2, "__divdf3", 96),
        (3, "__divdf3", 128),
        (2, "__addsf3", 32),
        (3, "__addsf3", 64),
        (2, "__modsi3", 0),
        (2, "__umodti3", 32),
        (2, "__udivti3", 0),
        (3, "__udivti3", None),
        (3, "__umodti3", None),
        (3, "_main_init", None),
        (0x12, "__divsf3", None),
    ],
)
def test_known_frames_of_peanos_library(flags: int, name: str, frame: int | None) -> None:
    maker = aie_core(flags, 3 if flags & 7 == 2 else 1)
    maker.symbols[2].name = name
    maker.sections[0].relocations[1] = (20, 1, name, 0)
    maker.sections[1].data = maker.sections[1].data[:-6]
    found = of(maker)
    assert found.chain[-1] == Frame(name, frame)
    assert (found.source is StackSource.MEASURED) == (frame is not None)


def x86_core() -> em.Maker:
    """`_start` calls `entry`, which holds the address of `inlined`: a size-0 alias of `helper`, which calls `entry`."""
    text = em.Sec(".text", bytes(64), flags=CODE)
    text.relocations = [(1, 4, "entry", -4), (18, 1, "inlined", 0), (33, 4, "entry", -4)]
    return em.Maker(
        machine=em.X86_64,
        word=8,
        sections=[
            text,
            em.Sec(".stack_sizes", b"".join(struct.pack("<Q", a) + em.leb(n) for a, n in ((16, 8), (32, 8)))),
        ],
        symbols=[em.Sym("_start", 0, 16), em.Sym("entry", 16, 16), em.Sym("helper", 32, 16), em.Sym("inlined", 32, 0)],
    )


def test_x86_pc_relative_calls() -> None:
    maker = x86_core()
    assert (of(maker).source, names(of(maker))) == (StackSource.MEASURED, ["_start", "entry"])
    # The word becomes a PLT32 call: then there is a cycle.
    maker.sections[0].relocations[1] = (18, 4, "inlined", -4)
    assert names(of(maker)) == ["_start", "entry", "helper", "entry"]


# -- random graphs ------------------------------------------------------------------------------------------


@st.composite
def dags(draw: st.DrawFn) -> list[em.Fn]:
    count = draw(st.integers(1, 9))
    functions = [em.Fn("__start", calls=["f0"])]
    for i in range(count):
        callees = draw(st.lists(st.integers(i + 1, count), max_size=3, unique=True)) if i < count else []
        frame = draw(st.one_of(st.none(), st.integers(0, 300)))
        functions.append(em.Fn(f"f{i}", frame, [f"f{c}" for c in callees]))
    return [*functions, em.Fn(f"f{count}", draw(st.integers(0, 300)))]


def paths(functions: Mapping[str, em.Fn], name: str, given: Mapping[str, int]) -> list[int]:
    """The sum of frames along every root-to-leaf path below a function, itself included."""
    if name in given:
        return [given[name]]
    own = 0 if name == "__start" else functions[name].frame or 0
    below = [p for c in functions[name].calls for p in paths(functions, c, given)]
    return [own + p for p in below] or [own]


@settings(max_examples=150, deadline=None)
@given(dags(), st.dictionaries(st.sampled_from([f"f{i}" for i in range(10)]), st.integers(0, 200), max_size=2))
def test_agrees_with_brute_force(functions: list[em.Fn], given_: dict[str, int]) -> None:
    by_name = {f.name: f for f in functions}
    found = of(em.core(functions), given_)
    assert found.size == max(paths(by_name, "__start", given_))
    # The chain is a witness: a path of the graph whose frames add up.
    assert sum(f.size or 0 for f in found.chain) == found.size
    for caller, callee in zip(found.chain, found.chain[1:], strict=False):
        assert callee.function in by_name[caller.function].calls
    reached, pending = set[str](), ["__start"]
    while pending:
        name = pending.pop()
        if name not in reached:
            reached.add(name)
            pending += [] if name in given_ else by_name[name].calls
    missing = {n for n in reached if by_name[n].frame is None and n != "__start" and n not in given_}
    assert found.unmeasured == tuple(sorted(missing))


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_the_order_of_symbols_and_relocations_does_not_matter(data: st.DataObject) -> None:
    pair = st.tuples(st.integers(0, 5), st.integers(0, 5))
    edges, pointers = data.draw(st.lists(pair, max_size=8)), data.draw(st.lists(pair, max_size=4))
    functions = [em.Fn("__start", calls=["f0"])]
    functions += [em.Fn(f"f{i}", 8 * i, [f"f{b}" for a, b in edges if a == i], size=96) for i in range(6)]
    maker = em.core(functions)
    maker.sections[0].relocations += [(em.at(maker, f"f{a}") + 90, em.R_HI20, f"f{b}", 0) for a, b in pointers]
    aliases = [em.Sym(f"alias{i}", em.at(maker, f"f{i}"), data.draw(st.sampled_from((0, 4)))) for i in range(3)]
    maker.symbols += aliases
    first = of(maker)
    rng = random.Random(data.draw(st.integers(0, 999)))
    rng.shuffle(maker.symbols)
    rng.shuffle(maker.sections[0].relocations)
    assert of(maker) == first


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 12)), max_size=8), st.integers(-1, 45))
def test_spans_give_the_innermost_start(ranges: list[tuple[int, int]], address: int) -> None:
    spans = Spans((start, start + size) for start, size in ranges)
    longest = {start: max(n for s, n in ranges if s == start) for start, _ in ranges}
    holding = [s for s, n in longest.items() if s <= address < s + n]
    assert spans.at(address) == max(holding, default=None)
    assert spans.starts_at(address) == (address in longest)


def test_analyse_takes_an_image() -> None:
    image = read(em.core([em.Fn("__start", calls=["a"]), em.Fn("a", 16)]).build())
    assert analyse(image, {}).size == 16
