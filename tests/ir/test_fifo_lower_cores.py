"""Acquires and releases of cores become locks, and objects that rotate."""

from __future__ import annotations

import re
import time

import pytest
from passkit import FILE, Ran, line_of
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, SymbolRefAttr
from xdsl.dialects.memref import AllocaOp
from xdsl.dialects.scf import ForOp

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie import DeviceOp
from aiecc.ir.dialects.aie.memory import UseLockOp
from aiecc.ir.fifo.marks import BOOKKEEPING, OBJECT, UNROLL
from aiecc.ir.passes.fifo_lower_cores import ObjectFifoLowerCores
from aiecc.ir.spans import span_of
from aiecc.ir.text import parse, print_module
from aiecc.ir.verify import verify

TYPE = "memref<16xi32>"
SECOND = (
    "aie.objectfifo.segment @s1 {{offset = {offset} : i32, size = {size} : i32, "
    "produceLock = @w_free, consumeLock = @w_full}}"
)


def end(name: str, depth: int, role: str = "fills", *, pool: str = "", locks: bool = True, segment: str = "") -> str:
    """A pool on the tile with buffers and locks, and the core's endpoint, both called by a name."""
    lines = [f'%{name}_b{i} = aie.buffer(%tile) {{sym_name = "{name}_b{i}"}} : {TYPE}' for i in range(depth)]
    if locks:
        lines.append(f'%{name}_free = aie.lock(%tile) {{init = {depth} : i32, sym_name = "{name}_free"}}')
        lines.append(f'%{name}_full = aie.lock(%tile) {{init = 0 : i32, sym_name = "{name}_full"}}')
        segment += f", produceLock = @{name}_free, consumeLock = @{name}_full"
    buffers = ", ".join(f"@{name}_b{i}" for i in range(depth))
    lines.append(
        f"aie.objectfifo.pool @{name}_pool(%tile) {{depth = {depth} : i32, buffers = [{buffers}]{pool}}} : {TYPE} {{ "
        f"aie.objectfifo.segment @s0 {{offset = 0 : i32, size = 16 : i32{segment}}} }}"
    )
    lines.append(f"aie.objectfifo.core_endpoint @{name}(%tile) {role} @{name}_pool")
    return "\n    ".join(lines)


def design(ends: str, body: str, device: str = "npu2") -> str:
    return f"""module {{
  aie.device({device}) {{
    func.func private @use({TYPE})
    func.func private @flag() -> i1
    %tile = aie.tile(1, 2)
    {ends}
    %core = aie.core(%tile) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c9 = arith.constant 9 : index
      {body}
      aie.end
    }}
  }}
}}"""


def acquire(name: str, count: int = 1, result: str = "%o") -> str:
    many = f":{count}" if count > 1 else ""
    return f"{result}{many} = aie.objectfifo.acquire @{name} ({count}) : {', '.join([TYPE] * count)}"


def release(name: str, count: int = 1) -> str:
    return f"aie.objectfifo.release @{name} ({count})"


def use(value: str = "%o") -> str:
    return f"func.call @use({value}) : ({TYPE}) -> ()"


def loop(*body: str) -> str:
    return "\n".join(["scf.for %i = %c0 to %c9 step %c1 {", *body, "}"])


def lower(ends: str, *body: str, device: str = "npu2") -> Ran:
    ran = Ran(design(ends, "\n      ".join(body), device), ObjectFifoLowerCores())
    assert ran.said == []
    assert verify(ran.module) == []
    again = print_module(parse(ran.text, FILE))
    assert again == ran.text
    return ran


def code(ran: Ran) -> list[str]:
    """The lines of the core behind its own constants."""
    lines = ran.text.splitlines()
    start = next(i for i, line in enumerate(lines) if "aie.core" in line)
    return [line.strip() for line in lines[start + 1 : lines.index("    }", start)]]


def locks(ran: Ran) -> list[tuple[str, str, int | str]]:
    """What is done with locks, in order: lock, action, the number or else the value's name."""
    found: list[tuple[str, str, int | str]] = []
    for op, line in zip(ran.ops(UseLockOp), ran.lines("aie.use_lock"), strict=True):
        _, lock, action, value, *_ = re.split(r"[(), ]+", line)
        found.append((lock, action, value if op.constant is None else op.constant))
    return found


# --- counting locks ---------------------------------------------------------------------------------------------------


def test_an_acquire_takes_what_is_missing_and_a_release_gives_units() -> None:
    ran = lower(end("w", 1), acquire("w"), use(), release("w"))
    assert code(ran) == [
        "%c0_i32 = arith.constant 0 : i32",
        "%c0 = arith.constant 0 : index",
        "%c1 = arith.constant 1 : index",
        "%c9 = arith.constant 9 : index",
        "%c1_i32 = arith.constant 1 : i32",
        "%c0_i32_0 = arith.constant 0 : i32",
        "%0 = arith.subi %c1_i32, %c0_i32 : i32",
        "%1 = arith.maxsi %0, %c0_i32_0 : i32",
        "aie.use_lock(%w_free, AcquireGreaterEqual, %1)",
        "%2 = arith.addi %c0_i32, %1 : i32",
        "func.call @use(%w_b0) : (memref<16xi32>) -> ()",
        "%c1_i32_1 = arith.constant 1 : i32",
        "aie.use_lock(%w_full, Release, %c1_i32_1)",
        "%c1_i32_2 = arith.constant 1 : i32",
        "%3 = arith.subi %2, %c1_i32_2 : i32",
        "aie.end",
    ]
    assert "objectfifo.acquire" not in ran.text and "core_endpoint" not in ran.text


def test_a_drainer_uses_the_locks_the_other_way_around() -> None:
    ran = lower(end("r", 2, "drains"), acquire("r"), release("r"))
    assert [(lock, action) for lock, action, _ in locks(ran)] == [
        ("%r_full", "AcquireGreaterEqual"),
        ("%r_free", "Release"),
    ]


def test_a_repeated_object_is_many_units_and_counts_once() -> None:
    """Only what goes to a lock is multiplied; the count of held objects is not."""
    ran = lower(end("w", 2, pool=", repeatCount = 3 : i32"), acquire("w", 2), release("w"))
    text = ran.text
    times = re.search(r"(%\S+) = arith.muli (%\S+), (%\S+) : i32", text)
    assert times is not None
    assert f"{times[3]} = arith.constant 3" in text
    assert f"AcquireGreaterEqual, {times[1]})" in text
    assert re.search(rf"arith.addi %c0_i32, {times[2]} : i32", text)
    given = re.search(r"Release, (%\S+)\)", text)
    left = re.search(r"arith.subi %\d+, (%\S+) : i32\n\s*aie.end", text)
    assert given is not None and left is not None
    assert f"{given[1]} = arith.constant 3 : i32" in text
    assert f"{left[1]} = arith.constant 1 : i32" in text


def test_one_lock_for_each_segment_all_with_one_count() -> None:
    more = SECOND.format(offset=8, size=8)
    ends = end("w", 1).replace("size = 16 : i32", "size = 8 : i32").replace("w_full} }", f"w_full}} {more} }}")
    ran = lower(ends.replace("fills @w_pool", "fills @w_pool {segments = [@s0, @s1]}"), acquire("w"), release("w"))
    taken = [value for _, action, value in locks(ran) if action != "Release"]
    given = [value for _, action, value in locks(ran) if action == "Release"]
    assert len(taken) == len(given) == 2
    assert len(set(taken)) == len(set(given)) == 1
    assert len(ran.lines("arith.maxsi")) == 1


def test_without_locks_objects_still_rotate() -> None:
    ran = lower(end("w", 2, pool=", disableSynchronization = true", locks=False), acquire("w"), use(), release("w"))
    assert locks(ran) == []
    assert "arith.subi" not in ran.text
    assert len(ran.lines("memref.store")) == 4


def test_the_count_of_held_objects_goes_around_loops_and_through_branches() -> None:
    flag = "%f = func.call @flag() : () -> i1"
    ran = lower(end("r", 3, "drains"), loop(acquire("r", 2), flag, "scf.if %f {", release("r"), "}"))
    assert len(ran.lines("iter_args(%arg1 = %c0_i32) -> (i32)")) == 1
    assert len(ran.lines("scf.if %")) == 1 and "-> (i32)" in ran.lines("scf.if %")[0]
    # Two at least are held where one is given back: nothing has to keep the count from going below zero.
    assert len(ran.lines("arith.maxsi")) == 1


def test_a_sliding_window_carries_one_number() -> None:
    """Two at a time, one back: d = max(2 - h, 0) is taken, and h + d - 1 goes into the next round."""
    ran = lower(end("r", 3, "drains"), loop(acquire("r", 2), use("%o#0"), use("%o#1"), release("r")))
    body = [line for line in code(ran) if "memref" not in line and "constant" not in line]
    assert body == [
        "%0 = scf.for %arg0 = %c0 to %c9 step %c1 iter_args(%arg1 = %c0_i32) -> (i32) {",
        "%1 = arith.subi %c2_i32, %arg1 : i32",
        "%2 = arith.maxsi %1, %c0_i32_2 : i32",
        "aie.use_lock(%r_full, AcquireGreaterEqual, %2)",
        "%3 = arith.addi %arg1, %2 : i32",
        "aie.use_lock(%r_free, Release, %c1_i32)",
        "%6 = arith.subi %3, %c1_i32_3 : i32",
        "scf.yield %6 : i32",
        "} {aie.unroll_hint = 3 : i64}",
        "aie.end",
    ]


def test_a_release_that_may_be_too_much_leaves_a_count_of_zero() -> None:
    ran = lower(end("r", 2, "drains"), acquire("r"), release("r"), release("r"))
    assert len(ran.lines("arith.maxsi")) == 2


# --- objects ----------------------------------------------------------------------------------------------------------


def test_objects_lie_in_slots_and_rotate() -> None:
    ran = lower(end("w", 3), loop(acquire("w", 2), use("%o#1"), use("%o#0"), release("w", 2)))
    slots = list(ran.ops(AllocaOp))
    assert [OBJECT in op.attributes for op in slots] == [True] * 3
    assert [line for line in code(ran) if line.startswith(("memref.store %w", "%alloca"))] == [
        "%alloca = memref.alloca() {aie.objectfifo.object_slot} : memref<memref<16xi32>>",
        "memref.store %w_b0, %alloca[] : memref<memref<16xi32>>",
        "%alloca_0 = memref.alloca() {aie.objectfifo.object_slot} : memref<memref<16xi32>>",
        "memref.store %w_b1, %alloca_0[] : memref<memref<16xi32>>",
        "%alloca_1 = memref.alloca() {aie.objectfifo.object_slot} : memref<memref<16xi32>>",
        "memref.store %w_b2, %alloca_1[] : memref<memref<16xi32>>",
    ]
    moved = code(ran)[code(ran).index(next(line for line in code(ran) if "Release" in line)) :]
    assert [line.split(" : ")[0] for line in moved if "memref" in line] == [
        "%7 = memref.load %alloca[]",
        "%8 = memref.load %alloca_0[]",
        "%9 = memref.load %alloca_1[]",
        "memref.store %9, %alloca[]",
        "memref.store %7, %alloca_0[]",
        "memref.store %8, %alloca_1[]",
    ]


def test_a_release_of_all_moves_nothing() -> None:
    ran = lower(end("w", 2), acquire("w", 2), use("%o#0"), release("w", 2))
    assert len(ran.lines("memref.store")) == 2


def test_objects_nobody_looks_at_have_no_slots() -> None:
    ran = lower(end("w", 2), acquire("w"), release("w"))
    assert not list(ran.ops(AllocaOp))


def test_a_later_acquire_gives_the_front_objects_again() -> None:
    ran = lower(end("w", 3), acquire("w", 2), acquire("w", 1, "%p"), use("%o#0"), use("%p"))
    loads = ran.lines("memref.load %alloca[]")
    assert len(loads) == 2


def test_a_filler_starts_behind_the_initial_objects() -> None:
    values = ", initValues = [dense<1> : tensor<16xi32>, dense<2> : tensor<16xi32>]"
    ran = lower(end("w", 3, pool=values), acquire("w"), use(), release("w"))
    assert [line.split()[1] for line in ran.lines("memref.store %w")] == ["%w_b2,", "%w_b0,", "%w_b1,"]
    ran = lower(end("r", 3, "drains", pool=values), acquire("r"), use(), release("r"))
    assert [line.split()[1] for line in ran.lines("memref.store %r")] == ["%r_b0,", "%r_b1,", "%r_b2,"]


def test_a_part_of_the_object_is_a_view_of_the_buffer() -> None:
    more = SECOND.format(offset=12, size=4)
    ends = end("w", 2).replace("size = 16 : i32", "size = 12 : i32").replace("w_full} }", f"w_full}} {more} }}")
    view = "memref<4xi32, strided<[1], offset: 12>>"
    ran = lower(
        ends.replace("fills @w_pool", "fills @w_pool {segments = [@s1]}"),
        acquire("w").replace(TYPE, view),
        f"%x = memref.load %o[%c0] : {view}",
        release("w"),
    )
    assert ran.lines("memref.subview") == [
        f"%subview = memref.subview %w_b0[12] [4] [1] : {TYPE} to {view}",
        f"%subview_0 = memref.subview %w_b1[12] [4] [1] : {TYPE} to {view}",
    ]
    assert ran.lines("memref.store %subview,") == [f"memref.store %subview, %alloca[] : memref<{view}>"]


# --- hints ------------------------------------------------------------------------------------------------------------


def hints(ran: Ran) -> list[int | None]:
    found = [op.attributes.get(UNROLL) for op in ran.ops(ForOp)]
    return [h.value.data if isinstance(h, IntegerAttr) else None for h in found]


def test_the_nearest_loop_is_told_when_all_its_objects_come_again() -> None:
    ends = end("a", 2) + "\n    " + end("b", 3, "drains")
    inner = "scf.for %j = %c0 to %c9 step %c1 {"
    flag = "%f = func.call @flag() : () -> i1"
    ran = lower(ends, loop(inner, acquire("a"), flag, "scf.if %f {", release("b"), "}", release("a"), "}"))
    assert hints(ran) == [None, 6]
    ran = lower(ends, loop(acquire("a"), inner, acquire("b", 1, "%p"), release("b"), "}", release("a")))
    assert hints(ran) == [2, 3]


def test_other_loops_get_no_hint() -> None:
    ran = lower(
        end("a", 2),
        "scf.while : () -> () {",
        "%f = func.call @flag() : () -> i1",
        "scf.condition(%f)",
        "} do {",
        acquire("a"),
        release("a"),
        "scf.yield }",
    )
    assert UNROLL not in ran.text


# --- binary locks -----------------------------------------------------------------------------------------------------


def binary(name: str, depth: int, role: str = "fills", pool: str = "") -> str:
    made = [f'%{name}_l{i} = aie.lock(%tile) {{init = 0 : i32, sym_name = "{name}_l{i}"}}' for i in range(depth)]
    named = ", ".join(f"@{name}_l{i}" for i in range(depth))
    return "\n    ".join([*made, end(name, depth, role, pool=f", locks = [{named}]{pool}", locks=False)])


def test_a_single_binary_lock() -> None:
    ran = lower(binary("w", 1), acquire("w"), use(), release("w"), device="xcvc1902")
    assert locks(ran) == [("%w_l0", "Acquire", 0), ("%w_l0", "Release", 1)]
    ran = lower(binary("r", 1, "drains"), acquire("r"), use(), release("r"), device="xcvc1902")
    assert locks(ran) == [("%r_l0", "Acquire", 1), ("%r_l0", "Release", 0)]


def test_binary_locks_are_picked_as_the_core_runs() -> None:
    ran = lower(binary("w", 2), loop(acquire("w"), use(), release("w")), device="xcvc1902")
    assert len(ran.lines("scf.index_switch")) == 2
    assert [line.split()[1] for line in ran.lines("scf.yield %w")] == ["%w_l0", "%w_l1", "%w_l0"] * 2
    # Nothing is held where the loop begins: no lock is taken under a condition.
    assert "scf.if" not in ran.text
    assert len(ran.lines("arith.select")) == 1


def test_a_binary_lock_that_is_held_is_not_taken_again() -> None:
    """Straight line: two, one back, two again; the second time only the third object's lock is taken."""
    window = [acquire("r", 2), release("r"), acquire("r", 2, "%p"), release("r")]
    ran = lower(binary("r", 3, "drains"), *window, device="xcvc1902")
    assert [action for _, action, _ in locks(ran)] == ["Acquire", "Acquire", "Release", "Acquire", "Release"]
    assert "scf.if" not in ran.text


def test_where_it_is_not_known_whether_it_is_held_the_core_looks() -> None:
    ran = lower(binary("r", 3, "drains"), loop(acquire("r", 2), release("r")), device="xcvc1902")
    assert len(ran.lines("scf.if")) == 1
    assert [action for _, action, _ in locks(ran)] == ["Acquire", "Acquire", "Release"]


# --- what stays as it is ----------------------------------------------------------------------------------------------


def test_what_was_lowered_stays() -> None:
    ran = lower(end("w", 2), loop(acquire("w"), use(), release("w")))
    again = Ran(ran.text, ObjectFifoLowerCores())
    assert again.text == ran.text


def test_cores_without_objects_stay() -> None:
    body = loop("%f = func.call @flag() : () -> i1")
    ran = lower(end("w", 2), body)
    assert code(ran) == code(Ran(design(end("w", 2), body)))
    assert "core_endpoint" not in ran.text


def test_fifos_before_splitting_stay() -> None:
    fifo = "aie.objectfifo @f(%tile, {%tile}, 2 : i32) : !aie.objectfifo<memref<16xi32>>"
    taken = f"%p = aie.objectfifo.acquire @f (Produce, 1) : {TYPE}"
    ran = lower(end("w", 2) + "\n    " + fifo, taken, acquire("w"), release("w"))
    assert len(ran.lines("objectfifo.acquire")) == 1


def test_a_second_fifo_in_lowered_code() -> None:
    """Slots of the first are left alone, and a loop's hint covers both."""
    first = lower(end("w", 2), loop(acquire("w"), use(), release("w")))
    text = first.text.replace("%core_1_2 =", end("x", 3).replace("%tile)", "%tile_1_2)") + "\n    %core_1_2 =")
    text = text.replace("func.call @use", acquire("x", 1, "%n") + "\n        func.call @use", 1)
    second = Ran(text, ObjectFifoLowerCores())
    assert second.said == []
    assert hints(second) == [6]
    assert [OBJECT in op.attributes for op in second.ops(AllocaOp)] == [True, True]


def test_new_ops_have_the_place_of_the_access() -> None:
    text = design(end("w", 2), "\n".join([acquire("w"), use(), release("w")]))
    ran = Ran(text, ObjectFifoLowerCores())
    places = {str(op.name): span_of(op) for op in ran.module.walk() if op.name in ("arith.maxsi", "arith.subi")}
    assert places["arith.maxsi"] is not None and places["arith.maxsi"].line == line_of(text, "acquire @w")
    assert places["arith.subi"] is not None and places["arith.subi"].line == line_of(text, "release @w")
    assert all(span_of(op) is not None for op in ran.module.walk() if op.parent_op() is not None)


# --- what is refused --------------------------------------------------------------------------------------------------


def refused(text: str) -> Ran:
    ran = Ran(text, ObjectFifoLowerCores())
    before = print_module(parse(text, FILE))
    assert ran.text == before
    return ran


def test_buffers_that_are_not_all_there() -> None:
    for ends in (end("w", 2).replace(", buffers = [@w_b0, @w_b1]", ""), end("w", 2).replace('"w_b1"', '"other"')):
        text = design(ends, acquire("w"))
        ran = refused(text)
        assert ran.said == ["'aie.objectfifo.pool' op expects every one of its 'depth' buffers to resolve"]
        assert ran.only.where is not None and ran.only.where.line == line_of(text, "objectfifo.pool")


def test_a_lock_that_is_not_there() -> None:
    ran = refused(design(end("w", 2).replace('"w_full"', '"other"'), release("w")))
    assert ran.said == ["'aie.objectfifo.pool' op names lock @w_full, which its device does not have"]


def test_more_objects_than_there_are() -> None:
    """The verifier says it first, in the same words; the pass does for IR that was made by hand."""
    module = parse(design(end("w", 2), acquire("w", 2)), FILE)
    device = next(op for op in module.walk() if isinstance(op, DeviceOp))
    pool = next(op for op in device.block.ops if op.name == "aie.objectfifo.pool")
    pool.properties["depth"] = IntegerAttr(1, 32)
    pool.properties["buffers"] = ArrayAttr([SymbolRefAttr("w_b0")])
    sink = Sink()
    ObjectFifoLowerCores().apply(device, sink)
    assert [d.text for d in sink.items] == ["'aie.objectfifo.acquire' op acquires 2 objects from a pool of 1"]


@pytest.mark.parametrize(("ends", "kind"), [(end("w", 2), "npu2"), (binary("w", 2), "xcvc1902")])
def test_more_is_given_back_than_there_are(ends: str, kind: str) -> None:
    ran = refused(design(ends, acquire("w") + "\n      " + release("w", 3), kind))
    assert ran.said == ["'aie.objectfifo.release' op releases 3 objects of a pool of 2"]


def test_a_binary_release_alone() -> None:
    ran = refused(design(binary("w", 2), release("w"), "xcvc1902"))
    assert ran.said == ["'aie.objectfifo.release' op objectFifo release has no corresponding acquire on this tile"]


def test_a_binary_lock_is_handed_over_once_however_often_its_object_is_sent() -> None:
    """The sender holds it over all copies."""
    body = (acquire("w"), use(), release("w"))
    once = lower(binary("w", 2), *body, device="xcvc1902")
    often = lower(binary("w", 2, pool=", repeatCount = 2 : i32"), *body, device="xcvc1902")
    assert often.lines("use_lock") == once.lines("use_lock")


def test_a_count_below_an_op_that_cannot_carry_it() -> None:
    body = f"scf.parallel (%i) = (%c0) to (%c9) step (%c1) {{\n {acquire('w')}\n {release('w')}\n scf.reduce }}"
    ran = Ran(design(end("w", 2), body), ObjectFifoLowerCores())
    assert ran.said == [
        "'memref.alloca' op objectFifo bookkeeping slot could not be promoted to SSA (mem2reg left it in place); the "
        "objectFifo lowering requires all bookkeeping counters to become loop-carried SSA values"
    ]
    assert BOOKKEEPING in ran.text


def test_every_fault_of_a_device_is_told_once() -> None:
    bad = end("w", 2).replace('"w_b1"', '"other"') + "\n    " + end("x", 2).replace('"x_b1"', '"another"')
    ran = refused(design(bad, "\n".join([acquire("w"), release("w"), acquire("x", 1, "%p"), release("x")])))
    assert len(ran.said) == 2


# --- time -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("many", ["loops", "fifos"])
def test_time_grows_with_the_code(many: str) -> None:
    def seconds(n: int) -> float:
        one = loop(acquire("w"), use(), release("w"))
        if many == "loops":
            text = design(end("w", 2), "\n".join([one] * n))
        else:
            ends = "\n    ".join(end(f"w{i}", 2) for i in range(n))
            text = design(ends, "\n".join(one.replace("@w", f"@w{i}") for i in range(n)))
        module = parse(text, FILE)
        device = next(op for op in module.walk() if isinstance(op, DeviceOp))
        start = time.process_time()
        ObjectFifoLowerCores().apply(device, Sink())
        return time.process_time() - start

    small = min(seconds(50) for _ in range(3))
    assert min(seconds(200) for _ in range(3)) < 12 * small
