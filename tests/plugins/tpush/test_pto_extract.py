"""From IR to the model: loops, branches, tiles handed on, values that are known, and who runs with whom."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ptokit import (
    CUBE,
    CUBE_GM,
    FREE_V,
    GM_C,
    GM_V,
    INIT_V,
    POP_V,
    PUSH_C,
    TILE_A,
    TILE_O,
    USE_V,
    VEC,
    VECTOR,
    VECTOR_GM,
    WS,
    clusters,
    design,
    read,
    verified,
)
from xdsl.ir import BlockArgument

from aiecc.api import Sink
from aiecc.plugins.tpush.analyse import analyse
from aiecc.plugins.tpush.extract import clusters_of
from aiecc.plugins.tpush.model import Branch, Carry, Free, Init, Loop, Op, Pop, Program, Push, Space, Use
from aiecc.plugins.tpush.values import Values

BOUNDS = ("%c0 = arith.constant 0 : index", "%c1 = arith.constant 1 : index")
NEXT = POP_V.replace("%p", "%r")


def shape(program: Program) -> list[str]:
    return shapes(program.ops)


def shapes(ops: tuple[Op, ...]) -> list[str]:
    """A program in few words."""
    found: list[str] = []
    for op in ops:
        if isinstance(op, Loop):
            found.append(f"{op.trips} x [{' '.join(shapes(op.body))}]")
        elif isinstance(op, Branch):
            found.append(f"if {op.condition} [{' '.join(shapes(op.then))}] else [{' '.join(shapes(op.orelse))}]")
        else:
            found.append(type(op).__name__.lower())
    return found


def cube(*ops: str, args: str = "") -> Program:
    """The Cube's program of a module that is read as it is, whatever the rules say of it."""
    text = design((GM_C, TILE_A, *ops), VECTOR_GM, "", (WS + args, WS))
    diag = Sink()
    (cluster,) = clusters_of(read(text), diag)
    assert diag.items == []
    return cluster.cube


def vector(*ops: str) -> Program:
    diag = Sink()
    (cluster,) = clusters_of(read(design(CUBE, (VECTOR[0], INIT_V, TILE_O, *ops))), diag)
    assert diag.items == []
    return cluster.vector


def loop(trips: str, *body: str) -> tuple[str, ...]:
    return (*BOUNDS, f"scf.for %i = %c0 to {trips} step %c1 {{", *body, "}")


def constant(number: int, name: str = "%n") -> str:
    return f"{name} = arith.constant {number} : index"


# ------------------------------------------------------------------------------------------- loops and branches


@pytest.mark.parametrize(
    ("lower", "upper", "step", "trips"),
    [(0, 4, 1, 4), (1, 10, 3, 3), (1, 11, 3, 4), (5, 5, 1, 0), (7, 2, 1, 0), (-4, 4, 2, 4)],
)
def test_constant_trip_counts(lower: int, upper: int, step: int, trips: int) -> None:
    numbers = (constant(lower, "%l"), constant(upper, "%u"), constant(step, "%s"))
    program = cube(*numbers, "scf.for %i = %l to %u step %s {", PUSH_C, "}")
    assert shape(program) == ["init"] + [f"{trips} x [push]"] * bool(trips)


def test_trip_counts_that_only_the_run_knows() -> None:
    assert shape(cube(*loop("%n", PUSH_C), args=", %n: index")) == ["init", "argument 1 of @cube x [push]"]
    twice = ("%two = arith.constant 2 : index", "%m = arith.muli %n, %two : index")
    assert shape(cube(*twice, *loop("%m", PUSH_C), args=", %n: index"))[1] == "(2 * argument 1 of @cube) x [push]"
    ends = "scf.for %i = %n to %m step %n {"
    assert shape(cube(*twice, ends, PUSH_C, "}", args=", %n: index"))[1] == (
        "((2 * argument 1 of @cube) - argument 1 of @cube) / argument 1 of @cube x [push]"
    )


def test_branches_whose_way_is_known_are_taken() -> None:
    ops = ("%t = arith.constant true", "scf.if %t {", PUSH_C, "} else {", PUSH_C, PUSH_C, "}")
    assert shape(cube(*ops)) == ["init", "push"]
    assert shape(cube(ops[0].replace("true", "false"), *ops[1:])) == ["init", "push", "push"]


def test_branches_whose_way_is_not_known_stay() -> None:
    assert shape(cube("scf.if %t {", PUSH_C, "}", args=", %t: i1")) == ["init", "if argument 1 of @cube [push] else []"]


def test_a_branch_without_pipes_is_nothing() -> None:
    assert shape(cube("scf.if %t {", "%x = arith.constant 1 : i32", "}", PUSH_C, args=", %t: i1")) == ["init", "push"]


def test_a_loop_without_pipes_is_nothing() -> None:
    assert shape(cube(constant(9), *loop("%n", "%x = arith.constant 1 : i32"), PUSH_C)) == ["init", "push"]


def test_a_counter_that_decides_is_counted() -> None:
    even = ("%r = arith.remui %i, %two : index", "%e = arith.cmpi eq, %r, %c0 : index", "scf.if %e {", PUSH_C, "}")
    ops = (constant(2, "%two"), constant(5), *loop("%n", *even))
    assert shape(cube(*ops)) == ["init", "push", "push", "push"]


def test_a_counter_that_bounds_an_inner_loop_is_counted() -> None:
    inner = ("scf.for %j = %c0 to %i step %c1 {", PUSH_C, "}")
    assert shape(cube(constant(4), *loop("%n", *inner))) == ["init", "1 x [push]", "2 x [push]", "3 x [push]"]


def test_a_counter_that_decides_too_often_is_refused() -> None:
    even = ("%e = arith.cmpi eq, %i, %c1 : index", "scf.if %e {", PUSH_C, "}")
    text = design((GM_C, TILE_A, constant(100_000), *loop("%n", *even)), VECTOR_GM, "", (WS, WS))
    (found,) = verified(text)
    assert found.text.startswith("the counter of this loop decides what happens on pipes, and 100000 iterations are")
    assert found.where is not None and found.where.line == 8


def test_nested_loops_stay_nested() -> None:
    inner = ("scf.for %j = %c0 to %m step %c1 {", PUSH_C, "}", PUSH_C)
    assert shape(cube(constant(4), constant(3, "%m"), *loop("%n", *inner))) == ["init", "4 x [3 x [push] push]"]


def test_a_step_that_leads_nowhere_is_refused() -> None:
    text = design((GM_C, TILE_A, *BOUNDS, "scf.for %i = %c1 to %c1 step %c0 {", PUSH_C, "}"), VECTOR_GM, "", (WS, WS))
    assert [d.text for d in verified(text)] == ["this loop has a step of 0"]


def test_blocks_that_jump_are_refused() -> None:
    text = design((GM_C, TILE_A, PUSH_C, "cf.br ^next", "^next:"), VECTOR_GM, "", (WS, WS))
    assert [d.text for d in verified(text)] == ["'cube' jumps between blocks, so its pipes cannot be followed"]


# ------------------------------------------------------------------------------------------------ popped tiles


def test_every_reader_is_a_use() -> None:
    ops = vector(POP_V, USE_V, f"pto.tprint ins(%o : {VEC})", f"func.call @k(%p) : ({VEC}) -> ()", FREE_V).ops
    pop = next(op for op in ops if isinstance(op, Pop))
    assert [op.values for op in ops if isinstance(op, Use)] == [(pop.value,), (pop.value,)]
    assert [op.site.op for op in ops if isinstance(op, Use)] == ["pto.tneg", "func.call"]


def test_another_name_is_the_same_tile() -> None:
    wide = "!pto.tile_buf<vec, 8x32xf32>"
    ops = vector(POP_V, f"%w = pto.treshape %p : {VEC} -> {wide}", f"pto.tprint ins(%w : {wide})", FREE_V).ops
    pop = next(op for op in ops if isinstance(op, Pop))
    assert [(op.values, op.site.op) for op in ops if isinstance(op, Use)] == [((pop.value,), "pto.tprint")]


def test_a_tile_written_in_place_is_used() -> None:
    ops = vector(POP_V, f"pto.tneg ins(%o : {VEC}) outs(%p : {VEC})", FREE_V).ops
    assert sum(isinstance(op, Use) for op in ops) == 1


def test_a_tile_pushed_on_is_used_by_the_push() -> None:
    text = f"pto.tpush_to_aic(%p : {VEC}) {{split = 0}}"
    push = next(op for op in vector(POP_V, text, FREE_V).ops if isinstance(op, Push))
    assert len(push.uses) == 1
    assert push.tile.space is Space.VEC


def test_a_tile_handed_from_one_iteration_to_the_next() -> None:
    body = f"%last = scf.for %i = %c0 to %n step %c1 iter_args(%h = %p) -> ({VEC}) {{"
    ops = (POP_V, *BOUNDS, constant(6), body, NEXT, USE_V.replace("%p", "%h"), FREE_V, f"scf.yield %r : {VEC}", "}")
    program = vector(*ops, USE_V.replace("%p", "%last"), FREE_V)
    assert shape(program) == ["init", "pop", "6 x [pop use free]", "use", "free"]
    first = next(op for op in program.ops if isinstance(op, Pop))
    made = next(op for op in program.ops if isinstance(op, Loop))
    inner = next(op for op in made.body if isinstance(op, Pop))
    use = next(op for op in made.body if isinstance(op, Use))
    behind = program.ops[-2]
    (carry,) = made.carried
    assert isinstance(behind, Use)
    assert carry == Carry(use.values[0], first.value, inner.value, behind.values[0])


def test_a_tile_that_is_handed_on_but_was_never_popped_is_none() -> None:
    body = f"%last = scf.for %i = %c0 to %n step %c1 iter_args(%h = %o) -> ({VEC}) {{"
    ops = (*BOUNDS, constant(6), body, POP_V, FREE_V, f"scf.yield %h : {VEC}", "}", USE_V.replace("%p", "%last"))
    program = vector(*ops)
    assert shape(program) == ["init", "6 x [pop free]"]
    assert next(op for op in program.ops if isinstance(op, Loop)).carried == ()


def test_a_tile_that_leaves_a_branch_is_refused_on_a5() -> None:
    branch = (f"%t = scf.if %x -> ({VEC}) {{", f"scf.yield %p : {VEC}", "} else {", f"scf.yield %o : {VEC}", "}")
    ops = (POP_V, *branch, USE_V.replace("%p", "%t"), FREE_V)
    text = design(CUBE, (VECTOR[0], INIT_V, TILE_O, *ops), "", ("%x: i1", "%x: i1"))
    assert [d.text for d in verified(text)] == ["a popped tile leaves this scf.if, so nobody knows which slot it is"]
    through = design(CUBE_GM, (GM_V, TILE_O, *ops), "", (WS + ", %x: i1",) * 2)
    assert verified(through) == []


def test_what_of_a_tile_is_data() -> None:
    type = "!pto.tile_buf<vec, 16x16xf32, valid=?x?>"
    pop = f"%p = pto.tpop_from_aic(%a, %b) {{split = 0}} -> {type}"
    known = next(op for op in vector(constant(3, "%a"), constant(16, "%b"), pop, FREE_V).ops if isinstance(op, Pop))
    assert (known.tile.valid_rows, known.tile.valid_cols, known.tile.size) == (3, None, 3 * 16 * 4)
    replay = pop.replace("(%a, %b)", "").replace("?x?", "0x0")
    empty = next(op for op in vector(replay, FREE_V).ops if isinstance(op, Pop))
    assert (empty.tile.valid_rows, empty.tile.valid_cols, empty.tile.size) == (0, 0, 0)


# ------------------------------------------------------------------------------------------------------- values


def number(*ops: str) -> int | None:
    """The number of %r in a function with an i32 argument %x."""
    text = "\n".join(["func.func @f(%x: i32, %y: i1) {", *ops, "func.return", "}"])
    module = read(text)
    last = [op for op in module.walk() if op.results][-1]
    return Values(lambda argument: f"argument {argument.index}").number(last.results[0])


@settings(max_examples=60, deadline=None)
@given(
    a=st.integers(-40, 40), b=st.integers(-40, 40), which=st.sampled_from(["addi", "subi", "muli", "divsi", "remsi"])
)
def test_arithmetic_as_the_machine_does_it(a: int, b: int, which: str) -> None:
    found = number(
        f"%a = arith.constant {a} : i32", f"%b = arith.constant {b} : i32", f"%r = arith.{which} %a, %b : i32"
    )
    if which in ("divsi", "remsi") and b == 0:
        assert found is None
        return
    quotient = 0 if b == 0 else int(a / b)
    assert found == {"addi": a + b, "subi": a - b, "muli": a * b, "divsi": quotient, "remsi": a - quotient * b}[which]


@settings(max_examples=60, deadline=None)
@given(a=st.integers(-3, 3), b=st.integers(-3, 3), code=st.integers(0, 9))
def test_comparisons(a: int, b: int, code: int) -> None:
    names = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
    u, v = a % 2**32, b % 2**32
    wanted = (a == b, a != b, a < b, a <= b, a > b, a >= b, u < v, u <= v, u > v, u >= v)[code]
    ops = (f"%a = arith.constant {a} : i32", f"%b = arith.constant {b} : i32")
    assert number(*ops, f"%r = arith.cmpi {names[code]}, %a, %b : i32") == int(wanted)


@pytest.mark.parametrize(
    ("ops", "wanted"),
    [
        (("%a = arith.constant 127 : i8", "%r = arith.addi %a, %a : i8"), -2),
        (("%a = arith.constant 200 : i32", "%r = arith.trunci %a : i32 to i8"), -56),
        (("%a = arith.constant -1 : i8", "%r = arith.extui %a : i8 to i32"), 255),
        (("%a = arith.constant -1 : i8", "%r = arith.extsi %a : i8 to i32"), -1),
        (("%a = arith.constant true", "%r = arith.extui %a : i1 to i32"), 1),
        (("%a = arith.constant 0 : i32", "%r = arith.muli %x, %a : i32"), 0),
        (("%r = arith.addi %x, %x : i32",), None),
        (("%a = arith.constant true", "%b = arith.constant 3 : i32", "%r = arith.select %a, %b, %x : i32"), 3),
        (("%b = arith.constant 3 : i32", "%r = arith.select %y, %b, %x : i32"), None),
        (("%a = arith.constant 7 : index", "%r = arith.index_cast %a : index to i32"), 7),
        (("%r = pto.get_subblock_num",), 2),
        (("%r = pto.get_block_idx",), None),
    ],
)
def test_known_numbers(ops: tuple[str, ...], wanted: int | None) -> None:
    assert number(*ops) == wanted


def test_equal_values_have_equal_texts() -> None:
    text = """
func.func @f(%x: i32, %y: i32) {
  %a = arith.addi %x, %y : i32
  %b = arith.addi %y, %x : i32
  %c = arith.cmpi sgt, %x, %y : i32
  %d = arith.cmpi slt, %y, %x : i32
  %e = arith.subi %x, %y : i32
  %f = arith.subi %y, %x : i32
  %g = arith.extsi %a : i32 to i64
  func.return
}
"""
    values = Values(lambda argument: f"argument {argument.index}")
    ops = [op for op in read(text).walk() if op.results]
    a, b, c, d, e, f, g = (values.text(op.results[0]) for op in ops)
    assert a == b == g == "(argument 0 + argument 1)"
    assert c == d == "argument 1 < argument 0"
    assert e != f
    assert values.asked == {"argument 0", "argument 1"}


@pytest.mark.parametrize("known", [True, False])
def test_long_chains_and_texts_that_double(known: bool) -> None:
    start = "%v0 = arith.constant 1 : i64" if known else "%v0 = arith.extsi %x : i32 to i64"
    chain = [f"%v{i + 1} = arith.addi %v{i}, %v{i} : i64" for i in range(5000)]
    text = "\n".join(["func.func @f(%x: i32) {", start, *chain, "func.return", "}"])
    last = [op for op in read(text).walk() if op.results][-1]
    values = Values(lambda argument: f"argument {argument.index}")
    assert values.number(last.results[0]) == (0 if known else None)  # 2 ** 5000 in 64 bits
    assert len(values.text(last.results[0])) < 500


def test_numbers_of_counters_come_and_go() -> None:
    text = "func.func @f(%x: i32) {\n  %r = arith.addi %x, %x : i32\n  func.return\n}\n"
    op = next(op for op in read(text).walk() if op.results)
    values = Values(lambda argument: "x")
    argument = op.operands[0]
    assert isinstance(argument, BlockArgument)
    assert (values.number(op.results[0]), values.text(op.results[0])) == (None, "(x + x)")
    values.bind(argument, 4)
    assert (values.number(op.results[0]), values.text(op.results[0])) == (8, "8")
    values.bind(argument, None)
    assert values.number(op.results[0]) is None


# --------------------------------------------------------------------------------------------- who runs with whom

ENTRY = """\
  func.func @both(%w: !pto.ptr<f32>, %k: index) attributes {pto.entry} {
    func.call @cube(%w, %k) : (!pto.ptr<f32>, index) -> ()
    func.call @vector(%k, %w) : (index, !pto.ptr<f32>) -> ()
    return
  }
}
"""


def test_arguments_are_equal_that_one_caller_hands_over() -> None:
    text = design(
        (GM_C, TILE_A, *loop("%n", PUSH_C)),
        (GM_V, *loop("%n", POP_V, FREE_V)),
        "",
        (WS + ", %n: index", "%n: index, " + WS),
    )
    assert [d.text[:30] for d in verified(text)] == ["'cube' pushes argument 1 of @c"]
    called = text.removesuffix("}\n") + ENTRY
    (cluster,) = clusters(called)
    assert shape(cluster.cube)[1] == "argument 1 of the caller x [push]"
    assert shape(cluster.vector)[1] == "argument 1 of the caller x [pop free]"


def test_arguments_are_equal_that_have_one_name() -> None:
    text = design(
        (GM_C, TILE_A, *loop("%n", PUSH_C)),
        (GM_V, *loop("%m", POP_V, FREE_V)),
        "",
        (WS + ', %n: index {pto.name = "tiles"}', '%m: index {pto.name = "tiles"}, ' + WS),
    )
    (cluster,) = clusters(text)
    assert shape(cluster.cube)[1] == "tiles x [push]"


def test_each_import_makes_a_pair() -> None:
    two = design(CUBE, VECTOR).removesuffix("}\n") + design(CUBE, VECTOR).partition("\n")[2]
    parts = two.split("  func.func @")
    second = "  func.func @".join(parts[3:]).replace("cube(", "cube2(").replace("vector(", "vector2(")
    second = second.replace("@vector}", "@vector2}").replace("@cube}", "@cube2}")
    text = "  func.func @".join(parts[:3]) + "  func.func @" + second
    assert [(c.cube.name, c.vector.name) for c in clusters(text)] == [("cube", "vector"), ("cube2", "vector2")]


def test_one_cube_with_two_vector_kernels_is_refused() -> None:
    third = design(CUBE, VECTOR).split("  func.func @")[2].replace("vector(", "other(")
    text = design((*CUBE, CUBE[0].replace("@vector", "@other").replace("%c2v", "%d")), VECTOR)
    text = text.removesuffix("}\n") + "  func.func @" + third
    (found,) = verified(text)
    assert found.text == "'cube' shares pipes with 'vector', 'other'; a cluster has one kernel of a kind"


def test_the_order_of_ops_is_kept() -> None:
    (cluster,) = clusters(design((*CUBE, PUSH_C), (*VECTOR, NEXT, FREE_V)))
    assert [type(op) for op in cluster.vector.ops] == [Init, Pop, Use, Free, Pop, Free]
    diag = Sink()
    assert analyse(cluster, diag)


def test_a_module_without_kernels_has_no_clusters() -> None:
    assert clusters("func.func @f() {\n  return\n}\n") == []


def test_lanes_that_do_different_things_are_two_programs() -> None:
    half = "!pto.tile_buf<vec, 8x16xf32>"
    lane = ("%lane = pto.get_subblock_idx", "%zero = arith.constant 0 : i64", "%t = arith.cmpi eq, %lane, %zero : i64")
    pop = f"%p = pto.tpop_from_aic {{split = 1}} -> {half}"
    work = ("scf.if %t {", f"pto.tprint ins(%p : {half})", "}")
    free = "pto.tfree_from_aic {split = 1}"
    text = design((*CUBE[:3], PUSH_C.replace("= 0", "= 1")), (*VECTOR[:2], *lane, pop, *work, free))
    (cluster,) = clusters(text)
    assert cluster.lanes == 2
    assert cluster.vector1 is not None
    assert (shape(cluster.vector), shape(cluster.vector1)) == (
        ["init", "pop", "use", "free"],
        ["init", "pop", "free"],
    )
