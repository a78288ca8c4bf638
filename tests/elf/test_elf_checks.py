"""Every text about stack and data, at the core, with the chain and the value that then passes."""

from __future__ import annotations

import elfmaker as em
import pytest

from aiecc.base.diag import Diagnostic, Level, render
from aiecc.base.spans import Span
from aiecc.elf.checks import check_data, check_overrides, check_stack, measured_stack_size
from aiecc.elf.inputs import InputObject, Part
from aiecc.elf.read import read
from aiecc.elf.stack import measure
from aiecc.model.design import CoreFacts, DeviceFacts, FunctionFacts
from aiecc.model.ids import CoreId, DeviceId
from aiecc.model.measure import Frame, StackMeasure, StackSource

WHERE = Span("design.mlir", 41, 3)
DECLARATION = "external_func()/func.func declaration (Kernel(...)/ExternalFunction(...) in IRON)"


def core(**facts: int) -> CoreFacts:
    return CoreFacts(CoreId("main", 0, 2), WHERE, **facts)  # type: ignore[arg-type]


CHAIN = (
    Frame("__start", 0),
    Frame("_main_init", 48),
    Frame("core_0_2", 32),
    Frame("filter_rows", 1552, where="kernel.c:12"),
)
NEEDS_1632 = StackMeasure(StackSource.MEASURED, 1632, CHAIN)


def one(found: list[Diagnostic]) -> Diagnostic:
    (only,) = found
    return only


def notes(found: Diagnostic) -> list[str]:
    return [n.text for n in found.notes]


# -- stack ------------------------------------------------------------------------------------------------


def test_a_declared_stack_that_is_too_small() -> None:
    found = one(check_stack(core(stack_size=1024), NEEDS_1632, default=1024, alignment=32))
    assert (found.level, found.where, found.code) == (Level.ERROR, WHERE, "E0201")
    assert found.text == (
        "'aie.core' op stack_size = 1024 is insufficient: this core needs 1632 bytes; increase stack_size to 1632 "
        "(Worker(stack_size=...) in IRON), or pass --no-measure-stack-size to skip this check"
    )
    assert notes(found) == [
        "core (0, 2): 1024 bytes reserved (declared), 1632 needed, 608 short",
        "deepest path: __start: 0 bytes",
        "  > _main_init: 48 bytes",
        "  > core_0_2: 32 bytes",
        "  > filter_rows: 1552 bytes  kernel.c:12",
    ]
    assert found.todo == "set stack_size = 1632 : i32 on this aie.core"


def test_an_absent_stack_size_names_the_device_default() -> None:
    found = one(check_stack(core(), NEEDS_1632, default=1024))
    assert found.code == "E0202"
    assert found.text.startswith(
        "'aie.core' op stack_size is absent, so this core uses the device default of 1024 bytes, but it needs 1632 "
        "bytes"
    )
    assert "set stack_size = 1632 (Worker(stack_size=1632) in IRON)" in found.text
    assert notes(found)[0] == "core (0, 2): 1024 bytes reserved (the device default), 1632 needed, 608 short"


def test_an_assumed_stack_size_is_called_assumed() -> None:
    for facts in (core(), core(stack_size=1200)):
        found = one(check_stack(facts, NEEDS_1632, default=1200, assumed=True))
        assert found.text.startswith(
            "'aie.core' op assumed stack_size = 1200 is insufficient: this core needs 1632 bytes; increase stack_size "
            "to"
        )
        assert "(assumed by --default-stack-size)" in notes(found)[0]


def test_the_value_to_set_is_rounded_to_the_stack_alignment_and_passes() -> None:
    for alignment, value in ((32, 1632), (64, 1664)):
        found = one(check_stack(core(), NEEDS_1632, default=1024, alignment=alignment))
        assert found.todo.startswith(f"set stack_size = {value} : i32 on this aie.core")
        assert check_stack(core(stack_size=value), NEEDS_1632, default=1024) == []
    assert found.todo.endswith(" (1632 rounded up to the stack alignment of 64)")
    # The exact need passes too, as the text says; a byte less does not.
    assert check_stack(core(stack_size=1632), NEEDS_1632, default=1024) == []
    assert len(check_stack(core(stack_size=1631), NEEDS_1632, default=1024)) == 1


def test_given_and_indirect_frames_say_so() -> None:
    chain = (
        Frame("__start", 0),
        Frame("dispatch", 16),
        Frame("large_step", 1296, indirect=True),
        Frame("fold_tree", 1024, given=True),
    )
    found = one(check_stack(core(stack_size=64), StackMeasure(StackSource.MEASURED, 2336, chain), default=1024))
    assert notes(found)[3:] == [
        "  > large_step: 1296 bytes, reached through a pointer",
        "  > fold_tree: 1024 bytes given by stack_size_override for it and all it calls",
    ]


def recursion(*path: str) -> StackMeasure:
    frames = tuple(Frame(n, 16) for n in path)
    return StackMeasure(StackSource.UNBOUNDED, chain=frames, problem="recursion detected: INNER")


def test_recursion_is_an_error_with_both_ways_out() -> None:
    found = one(
        check_stack(
            core(stack_size=2048),
            recursion("__start", "core_0_2", "fold_tree", "fold", "fold"),
            default=1024,
            kernels={"fold_tree", "other"},
        )
    )
    assert (found.level, found.code) == (Level.ERROR, "E0203")
    assert found.text == (
        "'aie.core' op cannot determine this core's stack requirement: recursion detected: INNER; set "
        f"stack_size_override on the affected kernel's {DECLARATION}, or pass --no-measure-stack-size to skip this "
        f"check entirely"
    )
    assert notes(found) == ["core (0, 2): fold -> fold has no bound"]
    assert found.todo == "set stack_size_override on func.func @fold_tree, to what its deepest recursion needs"


def test_further_recursions_and_pointers_are_notes() -> None:
    found = StackMeasure(
        StackSource.UNBOUNDED,
        chain=(Frame("__start", 0), Frame("a", 1), Frame("b", 1, indirect=True), Frame("a", 1)),
        problem="recursion detected: x",
        cycles=((Frame("__start", 0), Frame("c", 1), Frame("c", 1)),),
    )
    said = one(check_stack(core(), found, default=1024))
    assert notes(said) == [
        "core (0, 2): a -> b -> a has no bound",
        "also recursive: c -> c",
        "a reaches b through a pointer",
    ]
    assert "the func.func that leads there" in said.todo


def test_other_failures_only_warn() -> None:
    found = one(
        check_stack(
            core(stack_size=1), StackMeasure(StackSource.UNKNOWN, problem="the linked core 'x' ..."), default=1024
        )
    )
    assert (found.level, found.code) == (Level.WARNING, "W0203")
    assert found.text == (
        "cannot determine this core's stack requirement: the linked core 'x' ...; stack_size is not being validated "
        f"for this core. Set stack_size_override on the affected kernel's {DECLARATION} to enable it"
    )


def test_a_requirement_beyond_the_attribute_only_warns() -> None:
    found = one(check_stack(core(), StackMeasure(StackSource.MEASURED, 1 << 31, CHAIN), default=1024))
    assert found.text == (
        "stack requirement computed as 2147483648 bytes, which does not fit in the attribute's i32; stack_size is not "
        "being validated for this core"
    )
    assert found.level is Level.WARNING
    assert check_stack(core(), StackMeasure(StackSource.MEASURED, (1 << 31) - 1, CHAIN), default=1024)[0].is_error


def test_missing_frames_warn_and_the_lower_bound_still_counts() -> None:
    unsized = InputObject("kernel.o", read(em.Maker(
        type=1,
        sections=[em.Sec(".text", bytes(8), flags=em.ALLOC | em.EXEC)],
        symbols=[em.Sym("beta", 0, 4), em.Sym("alpha", 4, 4)],
    ).build()))  # fmt: skip
    found = StackMeasure(StackSource.LOWER_BOUND, 1632, CHAIN, ("alpha", "beta"))
    warning, error = check_stack(core(), found, default=1024, objects=[unsized])
    assert (warning.level, warning.code) == (Level.WARNING, "W0204")
    assert warning.text == (
        "no stack size information for 2 function(s) this core reaches, so its requirement is at least 1632 bytes and "
        "may be higher; compile the affected source with -fstack-size-section, or set stack_size_override on the "
        f"kernel's {DECLARATION}: alpha, beta"
    )
    assert notes(warning)[1] == "kernel.o has no frame data for beta, alpha"
    assert error.code == "E0202"
    assert notes(error)[0] == "core (0, 2): 1024 bytes reserved (the device default), at least 1632 needed, 608 short"
    assert len(check_stack(core(stack_size=1632), found, default=1024)) == 1
    assert measured_stack_size(found) is None


def test_what_is_written_back() -> None:
    assert measured_stack_size(NEEDS_1632) == 1632
    assert measured_stack_size(StackMeasure(StackSource.MEASURED, 1 << 31)) is None
    assert measured_stack_size(recursion("a", "a")) is None
    assert measured_stack_size(StackMeasure(StackSource.UNKNOWN)) is None


def test_it_prints_as_the_house_prints() -> None:
    found = one(check_stack(core(stack_size=1024), NEEDS_1632, default=1024))
    lines = render(found).splitlines()
    assert lines[0].startswith(
        "design.mlir:41:3: error: 'aie.core' op stack_size = 1024 is insufficient: this core needs"
    )
    assert lines[0].endswith("[E0201]")
    assert lines[-1] == "  todo: set stack_size = 1632 : i32 on this aie.core"


def test_negative_overrides() -> None:
    device = DeviceFacts(
        DeviceId("main"),
        "npu2",
        functions=(
            FunctionFacts("good", stack_size_override=0),
            FunctionFacts("bad", Span("d.mlir", 7, 5), stack_size_override=-4),
        ),
    )
    found = one(check_overrides(device))
    assert found.text == "'func.func' op stack_size_override must be >= 0, got -4"
    assert found.where == Span("d.mlir", 7, 5)


def test_the_whole_way_from_bytes_to_text() -> None:
    maker = em.core([em.Fn("__start", calls=["core_0_2"]), em.Fn("core_0_2", 16, ["k"]), em.Fn("k", 2000)])
    found = measure(maker.build(), "core.elf", {})
    said = one(check_stack(core(), found, default=1024, alignment=64))
    assert "it needs 2016 bytes" in said.text
    assert check_stack(core(stack_size=2048), found, default=1024) == []


# -- data ---------------------------------------------------------------------------------------------------


def test_a_data_size_below_the_linked_sections() -> None:
    found = check_data(core(data_size=1024), 2048, [Part("history", 2048, "kernel.o")])
    assert found is not None
    assert (found.level, found.code, found.where) == (Level.ERROR, "E0301", WHERE)
    assert found.text == (
        "'aie.core' op data_size 1024 is smaller than the 2048 bytes this core's linked sections occupy"
    )
    assert notes(found) == [
        "core (0, 2): 1024 bytes short",
        "largest variables: history (2048 bytes, kernel.o)",
    ]
    assert found.todo.startswith("set data_size = 2048 : i32 on this aie.core")


@pytest.mark.parametrize(("declared", "linked"), [(2048, 2048), (0, 0), (4096, 1)])
def test_a_data_size_that_covers_them(declared: int, linked: int) -> None:
    assert check_data(core(data_size=declared), linked) is None


def test_a_core_without_data_size_never_fails() -> None:
    assert check_data(core(), 1 << 20) is None
    assert check_data(core(data_size=0), 1) is not None
