"""The cores of whole designs, each pass on its own output, and one objectFifo more in what is lowered already."""

from __future__ import annotations

from collections import Counter

import fifo_examples as designs
import fifo_text as write
import pytest
from fifokit import Lowered
from passkit import Ran

from aiecc.ir.dialects.aie.cores import CoreOp
from aiecc.ir.dialects.aie.enums import LockAction
from aiecc.ir.dialects.aie.memory import UseLockOp
from aiecc.ir.passes.fifo_transform import ObjectFifoStatefulTransform
from aiecc.ir.pipeline import make_pass
from aiecc.ir.verify import verify

# --- cores ------------------------------------------------------------------------------------------------------------


def constants(got: Lowered, col: int, row: int) -> list[tuple[str, str | None, int | None]]:
    """A core's lock uses in text order: (action, lock, constant value)."""
    core = next(op for op in got.ops(CoreOp) if op.coord == (col, row))
    names = {LockAction.RELEASE: "REL", LockAction.ACQUIRE: "ACQ", LockAction.ACQUIRE_GREATER_EQUAL: "AGE"}
    return [
        (names[op.action], op.lock_op.symbol if op.lock_op else None, op.constant)
        for op in core.walk()
        if isinstance(op, UseLockOp)
    ]


def unrolled(text: str, *, dynamic: bool) -> Lowered:
    got = Lowered(text)
    make_pass("aie-objectFifo-unroll", f"default-dynamic={str(dynamic).lower()}").apply(got.device, got.sink)
    assert got.said == [] and not verify(got.module)
    return got


def test_a_static_core_knows_its_objects() -> None:
    """The window's first three rounds are peeled, as only the first takes two objects; then all takes one."""
    got = unrolled(designs.SLIDING_WINDOW, dynamic=False)
    assert "object_slot" not in got.text
    take, give = "s_cons_cons_lock_0", "s_cons_prod_lock_0"
    step = [("AGE", take, 1), ("REL", give, 1)]
    assert constants(got, 2, 4) == [("AGE", take, 2), ("REL", give, 1), *step, *step, *step * 3, ("REL", give, 1)]
    produce = [("AGE", "s_prod_lock_0", 1), ("REL", "s_cons_lock_0", 1)]
    assert constants(got, 0, 2) == produce * 2


def test_a_dynamic_core_counts_what_it_holds() -> None:
    got = unrolled(designs.SLIDING_WINDOW, dynamic=True)
    assert constants(got, 2, 4) == [
        ("AGE", "s_cons_cons_lock_0", None),
        ("REL", "s_cons_prod_lock_0", 1),
        ("REL", "s_cons_prod_lock_0", 1),
    ]
    assert constants(got, 0, 2) == [("AGE", "s_prod_lock_0", 1), ("REL", "s_cons_lock_0", 1)]


def test_a_window_on_binary_locks_takes_only_what_is_new() -> None:
    got = unrolled(designs.binary_window(), dynamic=False)
    assert constants(got, 3, 3) == [
        ("ACQ", "of_cons_lock_0", 1),
        ("ACQ", "of_cons_lock_1", 1),
        ("REL", "of_cons_lock_0", 0),
        ("ACQ", "of_cons_lock_2", 1),
        ("REL", "of_cons_lock_1", 0),
        ("REL", "of_cons_lock_2", 0),
    ]


def test_a_release_under_a_condition_is_counted_at_run_time() -> None:
    got = unrolled(designs.CONDITIONAL_RELEASE, dynamic=True)
    assert constants(got, 0, 2) == [("AGE", "f_cons_cons_lock_0", None), ("REL", "f_cons_prod_lock_0", 1)]
    core = next(op for op in got.ops(CoreOp))
    release = next(op for op in core.walk() if isinstance(op, UseLockOp) and not op.is_acquire)
    parent = release.parent_op()
    assert parent is not None and parent.name == "scf.if"


# --- again, and with more ---------------------------------------------------------------------------------------------

DESIGNS = {
    name.lower(): text
    for name, text in vars(designs).items()
    if name.isupper() and isinstance(text, str) and text.startswith("aie.device(npu2)")
} | {
    "shared": designs.shared((2, 3), (1, 3)),
    "padded_link": designs.padded_link(7),
    "weights": designs.weights(),
    "turns": designs.turns(),
    "broadcast": designs.broadcast((0, 4)),
}

FRESH = "\n".join(
    [
        write.tiles((5, 3), (7, 5)),
        write.fifo("fresh", "%t53", "%t75", 2, "memref<4xi32>"),
        write.producer("%t53", "fresh", 4, 3),
        write.consumer("%t75", "fresh", 4, 3),
    ]
)


@pytest.mark.parametrize("name", DESIGNS)
def test_every_pass_leaves_its_own_work_alone(name: str) -> None:
    ran = Ran(DESIGNS[name])
    for step, options in ObjectFifoStatefulTransform().steps():
        one = make_pass(step, options)
        one.apply(ran.device, ran.sink)
        assert ran.said == [] and not verify(ran.module)
        once = ran.text
        one.apply(ran.device, ran.sink)
        assert ran.said == [] and ran.text == once, step


@pytest.mark.parametrize("name", DESIGNS)
def test_a_fifo_more_changes_nothing_of_what_is_lowered(name: str) -> None:
    """Lowered, read again from its text with one more objectFifo, lowered again: the rest stands line by line."""
    before = Lowered(DESIGNS[name]).text.rstrip()
    assert before.endswith("}\n}")
    after = Lowered(before.removesuffix("}\n}").rstrip() + "\n" + FRESH + "\n}\n}")
    old, new = before.splitlines(), after.text.splitlines()
    rest = Counter(new)
    rest.subtract(Counter(old))
    assert min(rest.values()) >= 0, [line for line, count in rest.items() if count < 0]
    alone = Lowered(write.device(FRESH))
    for what in ("buffers", "locks", "programs"):
        was, now = getattr(Lowered(DESIGNS[name]), what), getattr(after, what)
        assert now == {**was, **getattr(alone, what)}
    assert sorted(after.flows) == sorted([*Lowered(DESIGNS[name]).flows, *alone.flows])
