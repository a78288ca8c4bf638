"""What kernels do with tiles beside moving them: what would work on the wrong bytes is refused at its line, and popped
tiles last as long as they are read."""

from array import array
from collections.abc import Callable
from pathlib import Path

import pytest
from pipes_kit import Built, Text, floats, tile

from aiecc.api import Diagnostic, Module, Sink
from aiecc.plugins.tpush.build import build_devices

TILES = 6
VEC, ACC, PART = tile("vec", 16, 16), tile("acc", 16, 16), "!pto.partition_tensor_view<16x16xf32>"
ADD = f"pto.tadd ins(%p, %p : {VEC}, {VEC}) outs(%r : {VEC})"
LOAD = f"pto.tload ins(%from : {PART}) outs(%a : {ACC})"
POP = f"%p = pto.tpop_from_aic {{split = 0}} -> {VEC}"
LOOP = "scf.for %i = %c0 to %c6 step %c1 {"


def changed(*changes: tuple[str, str], arch: str = "a5", slots: int = 8) -> str:
    """A kernel pair that doubles tiles, with words replaced. A word that is not there is a mistake of the test."""
    text = Text(arch, 1, TILES, 16, 16, slots=slots).c2v()
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


def refusal(text: str) -> Diagnostic:
    diag = Sink()
    assert build_devices(Module(text, file="a.mlir"), diag) is None
    assert len(diag.items) >= 1
    return diag.items[0]


def told(text: str, at: str, says: str) -> Diagnostic:
    """The refusal of a text: what it says, and that it stands at a line with these words."""
    found = refusal(text)
    assert says in found.text, found.text
    assert found.where is not None and at in text.splitlines()[found.where.line - 1], found
    assert found.code == "E1205"
    return found


def with_tile(type: str, op: str) -> str:
    """One more tile, %z, and an op in place of the sum."""
    return changed(
        (f"%r = pto.alloc_tile : {VEC}", f"%r = pto.alloc_tile : {VEC}\n%z = pto.alloc_tile : {type}"), (ADD, op)
    )


def view(sizes: str, dims: str) -> str:
    """The Cube's load takes another part."""
    part = f"!pto.partition_tensor_view<{dims}xf32>"
    cube, vector = changed().split(LOAD)
    head, _, tail = cube.rpartition("sizes = [%c16, %c16]")
    return f"{head}sizes = {sizes}{tail.replace(PART, part)}{LOAD.replace(PART, part)}{vector}"


@pytest.mark.parametrize(
    ("rows", "cols"), ((32, 8), (8, 32), (8, 16), (16, 8)), ids=("tall", "wide", "fewer rows", "fewer columns")
)
def test_tiles_of_other_shapes(rows: int, cols: int) -> None:
    """Whatever the order of their extents: a tile that is taller but narrower is read beyond its rows."""
    other = tile("vec", rows, cols)
    op = f"pto.tadd ins(%p, %z : {VEC}, {other}) outs(%r : {VEC})"
    told(with_tile(other, op), op, f"writes a tile of 16x16, but reads one of {rows}x{cols}")
    move = f"pto.tmov ins(%p : {VEC}) outs(%z : {other})"
    told(with_tile(other, move), move, f"copies between {rows}x{cols} and 16x16")


@pytest.mark.parametrize(
    ("sizes", "dims", "says"),
    (
        ("[%c1, %c16]", "1x16", "'pto.tload' op copies between 1x16 and 16x16"),
        ("[%c1, %c16]", "16x16", "'pto.partition_view' op has a size of 1 in dimension 0, but its type says 16"),
        ("[%c16, %c1]", "?x?", "'pto.tload' op copies between 16x1 and 16x16"),
        ("[%c16]", "16x16", "'pto.partition_view' op has 2 offsets, 1 sizes, and a result of 2 dimensions"),
    ),
)
def test_parts_of_tensors_that_are_no_such_tile(sizes: str, dims: str, says: str) -> None:
    told(view(sizes, dims), says.split("'")[1], says)


def test_a_size_that_only_the_run_knows_is_that_of_the_tile() -> None:
    text = changed(
        ("%ws: !pto.ptr<f32>", "%ws: !pto.ptr<f32>, %n: index"), ("sizes = [%c16, %c16]", "sizes = [%n, %c16]")
    )
    diag = Sink()
    assert build_devices(Module(text.replace(PART, PART.replace("16x16", "?x16")), file="a.mlir"), diag), diag.items


@pytest.mark.parametrize(
    ("stride", "says"), (("%c16", "a distance of 16"), ("%far", "a distance that only the run knows"))
)
def test_columns_that_lie_apart(stride: str, says: str) -> None:
    """A transposed view, say: copies move whole rows."""
    text = changed(
        ("strides = [%c16, %c1]", f"strides = [%c1, {stride}]"),
        ("%ws: !pto.ptr<f32>", "%ws: !pto.ptr<f32>, %far: index"),
    )
    found = told(text, "pto.tload", f"copies rows whose elements have {says}")
    assert found.todo == "make the last stride of the view the constant 1"


def test_views_of_more_dimensions() -> None:
    """Those of PTO have five; all but the last two must be 1 for a copy."""

    def of(first: str, number: str) -> str:
        return changed(
            ("shape = [", f"shape = [{first}, "),
            ("strides = [", "strides = [%c1, "),
            ("offsets = [", "offsets = [%c0, "),
            ("sizes = [", f"sizes = [{first}, "),
            ("tensor_view<?x?xf32>", "tensor_view<?x?x?xf32>"),
            ("partition_tensor_view<16x16xf32>", f"partition_tensor_view<{number}x16x16xf32>"),
        )

    diag = Sink()
    assert build_devices(Module(of("%c1", "1"), file="a.mlir"), diag), diag.items
    told(of("%c6", "6"), "pto.tload", "copies a view with more than rows and columns")


def test_a_part_beyond_its_tensor() -> None:
    text = changed(
        ("offsets = [%from_row, %c0]", "offsets = [%c1, %c0]"), ("shape = [%c96, %c16]", "shape = [%c16, %c16]")
    )
    told(text, "pto.partition_view %in_all", "takes [1, 17) in dimension 0 of a tensor with 16 there")


@pytest.mark.parametrize(
    ("make", "at", "says"),
    (
        (
            lambda: with_tile(VEC, f"pto.tmatmul ins(%p, %p : {VEC}, {VEC}) outs(%r : {VEC})"),
            "pto.tmatmul",
            "runs on the Cube only",
        ),
        (
            lambda: changed((LOAD, f"{LOAD}\npto.tneg ins(%a : {ACC}) outs(%a : {ACC})")),
            "pto.tneg",
            "runs on a Vector core only",
        ),
        (
            lambda: changed((LOAD, f"{LOAD}\npto.tmatmul ins(%a, %a : {ACC}, {ACC}) outs(%a : {ACC})")),
            "pto.tmatmul",
            "takes a tile of L0A here, not of L0C",
        ),
        (
            lambda: changed(("%a = pto.alloc_tile", f"%z = pto.alloc_tile : {VEC}\n%a = pto.alloc_tile")),
            "%z = pto.alloc_tile",
            "wants a tile in UB, which this core does not have",
        ),
    ),
)  # fmt: skip
def test_the_right_core_and_memory(make: Callable[[], str], at: str, says: str) -> None:
    told(make(), at, says)


@pytest.mark.parametrize(
    ("op", "says", "todo"),
    (
        (
            f"func.call @mine(%p) : ({VEC}) -> ()",
            "calls @mine: functions of your own are not built",
            "write what it does",
        ),
        (f"pto.texp ins(%p : {VEC}) outs(%r : {VEC})", "has no code here", "the run-time knows tadd, "),
        (f"pto.tadds ins(%p, %c1 : {VEC}, index) outs(%r : {VEC})", "takes a number of f32", ""),
        (f"pto.tload ins(%in : !pto.ptr<f32>) outs(%r : {VEC})", "neither a tile nor a view", "take it from pto.make"),
        ("%none = memref.alloca() : memref<4xi32>", "has no code here", "kernels with pipes are made of ops of"),
    ),
)
def test_ops_that_have_no_code_say_what_has(op: str, says: str, todo: str) -> None:
    found = told(changed((ADD, f"{op}\n{ADD}")), op, says)
    assert found.todo.startswith(todo)


@pytest.mark.parametrize("element", ("f16", "i8"))
def test_elements_without_code(element: str) -> None:
    text = Text("a5", 1, TILES, 16, 16, element=element).c2v()
    found = told(text, "pto.tadd", "has no code for these elements")
    assert found.todo == "the run-time computes on f32 and i32"


# --- how long popped tiles last on A2A3 ---------------------------------------------------------------------------


def carried(back: int, slots: int, alias: bool) -> str:
    """Every tile is added to the one `back` iterations before it, which the loop has handed on."""
    names = [f"%old{n}" for n in range(back)]
    first = ", ".join(f"{name} = %z" for name in names)
    types = ", ".join([VEC] * back)
    popped = "%q" if alias else "%p"
    op = f"pto.tadd ins(%p, {names[-1]} : {VEC}, {VEC}) outs(%r : {VEC})"
    text = changed(
        (f"%r = pto.alloc_tile : {VEC}", f"%r = pto.alloc_tile : {VEC}\n%z = pto.alloc_tile : {VEC}"),
        (ADD, (f"%q = pto.treshape %p : {VEC} -> {VEC}\n" if alias else "") + op),
        arch="a2a3",
        slots=slots,
    )
    cube, vector = text.split("func.func @vector")
    vector = vector.replace(LOOP, f"%kept:{back} = scf.for %i = %c0 to %c6 step %c1 iter_args({first}) -> ({types}) {{")
    head, _, tail = vector.rpartition("}\nreturn")
    return f"{cube}func.func @vector{head}scf.yield {', '.join([popped, *names[:-1]])} : {types}\n}}\nreturn{tail}"


@pytest.mark.tools
@pytest.mark.parametrize(("back", "slots", "alias"), ((1, 1, False), (1, 8, True), (2, 2, False), (3, 1, True)))
def test_a_tile_that_is_handed_on_is_not_overwritten(tmp_path: Path, back: int, slots: int, alias: bool) -> None:
    """Neither where it has another name, nor where it is handed on for more iterations than the ring has slots."""
    data = [float(n % 1009) for n in range(TILES * 256)]
    ended = Built(carried(back, slots, alias), tmp_path).run(
        array("f", data).tobytes(), bytes(4 * len(data)), bytes(1 << 14)
    )
    assert ended.finished, ended.text
    apart = back * 256
    assert floats(ended.arrays[1]) == [x + (data[n - apart] if n >= apart else 0.0) for n, x in enumerate(data)]


def test_one_of_several_tiles_that_is_handed_on_is_refused() -> None:
    """The best one so far, say: no number of landing places would do."""
    ways = f"scf.yield %p : {VEC}\n}} else {{\nscf.yield %old0 : {VEC}\n}}\nscf.yield %best"
    text = carried(1, 8, False).replace("scf.yield %p", f"%best = scf.if %better -> ({VEC}) {{\n{ways}")
    found = refusal(text.replace("%ws: !pto.ptr<f32>", "%ws: !pto.ptr<f32>, %better: i1"))
    assert found.text == "this loop hands on one of several popped tiles, so their frees cannot be followed"
    assert found.todo.startswith("pto.tmov the one into a tile of your own")


def test_a_tile_handed_on_by_a_loop_around_its_own_is_refused() -> None:
    text = carried(1, 8, False)
    head = f"%p = scf.for %j = %c0 to %c1 step %c1 iter_args(%x = %old0) -> ({VEC}) {{"
    inner = f"{head}\n{POP.replace('%p', '%n')}\nscf.yield %n : {VEC}\n}}"
    told(text.replace(POP, inner), "pto.tpop_from_aic", "is handed on by a loop around its own")
