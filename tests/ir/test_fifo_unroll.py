"""Unrolling cores whose objectFifos are lowered: written here by hand, as the pass before leaves them."""

from __future__ import annotations

import re

import pytest
from passkit import Ran, line_of

from aiecc.base.diag import Level
from aiecc.ir.dialects.aie import CoreOp, UseLockOp
from aiecc.ir.passes.fifo_unroll import ObjectFifoUnroll
from aiecc.ir.spans import span_of
from aiecc.ir.verify import verify

OBJECT = "memref<8xi16>"


def slots(depth: int, prefix: str = "o") -> str:
    """The slots of a pool's objects, each with the buffer it starts with."""
    return "\n".join(
        f"%{prefix}{k} = memref.alloca() {{aie.objectfifo.object_slot}} : memref<{OBJECT}>\n"
        f"memref.store %{prefix}b{k}, %{prefix}{k}[] : memref<{OBJECT}>"
        for k in range(depth)
    )


def acquire(count: int, held: str, after: str, number: int, prefix: str = "o") -> str:
    """Take what is missing of `count` objects; `%x<number>_<k>` are the objects, `after` is what is held then."""
    n = f"{prefix}{number}"
    loads = "".join(f"%x{n}_{k} = memref.load %{prefix}{k}[] : memref<{OBJECT}>\n" for k in range(count))
    return f"""
        %wanted{n} = arith.constant {count} : i32
        %none{n} = arith.constant 0 : i32
        %missing{n} = arith.subi %wanted{n}, {held} : i32
        %more{n} = arith.maxsi %missing{n}, %none{n} : i32
        aie.use_lock(%{prefix}full, AcquireGreaterEqual, %more{n})
        {after} = arith.addi {held}, %more{n} : i32
        {loads}"""


def release(count: int, depth: int, held: str, after: str, number: int, prefix: str = "o") -> str:
    """Give the front objects back and rotate the slots."""
    n = f"{prefix}r{number}"
    loads = "".join(f"%l{n}_{k} = memref.load %{prefix}{k}[] : memref<{OBJECT}>\n" for k in range(depth))
    stores = "".join(
        f"memref.store %l{n}_{(k + count) % depth}, %{prefix}{k}[] : memref<{OBJECT}>\n" for k in range(depth)
    )
    return f"""
        %given{n} = arith.constant {count} : i32
        aie.use_lock(%{prefix}free, Release, %given{n})
        {after} = arith.subi {held}, %given{n} : i32
        {loads if count % depth else ""}{stores if count % depth else ""}"""


def use(*objects: str) -> str:
    """A call that gets objects; the functions differ by how many."""
    types = ", ".join([OBJECT] * len(objects))
    return f"func.call @use{len(objects)}({', '.join(objects)}) : ({types}) -> ()\n"


def pool(depth: int, prefix: str = "o") -> str:
    buffers = "".join(
        f'%{prefix}b{k} = aie.buffer(%tile) {{sym_name = "{prefix}b{k}"}} : {OBJECT}\n' for k in range(depth)
    )
    return f"""{buffers}
        %{prefix}full = aie.lock(%tile) {{init = 0 : i32, sym_name = "{prefix}full"}}
        %{prefix}free = aie.lock(%tile) {{init = {depth} : i32, sym_name = "{prefix}free"}}"""


def design(body: str, pools: str, attributes: str = "", device: str = "npu2") -> str:
    numbers = "\n".join(f"%c{n} = arith.constant {n} : index" for n in (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10))
    return f"""
module {{
  aie.device({device}) {{
    %tile = aie.tile(1, 3)
    {pools}
    func.func private @use1({OBJECT}) -> ()
    func.func private @use2({OBJECT}, {OBJECT}) -> ()
    func.func private @step(index) -> ()
    %core = aie.core(%tile) {{
      {body.partition("//numbers")[0]}
      {numbers}
      %h0 = arith.constant 0 : i32
      {body.partition("//numbers")[2]}
      aie.end
    }} {attributes}
  }}
}}"""


def shown(ran: Ran) -> list[str]:
    """The core's lines, constants in place of their names, without types and blanks."""
    assert not ran.said, ran.said
    for device in ran.devices:
        assert not verify(device)
    text = ran.text.partition("aie.core")[2].partition("aie.end")[0]
    lines = [line.strip() for line in text.splitlines()[1:] if line.strip()]
    constants = [line.split(" = arith.constant ") for line in lines if " = arith.constant " in line]
    numbers = {name: number.partition(" :")[0] for name, number in constants}
    plain: list[str] = []
    for line in lines:
        if " = arith.constant " in line:
            continue
        line = re.sub(r"%[\w-]+", lambda m: numbers.get(m[0], m[0]), line)
        line = re.sub(r"( :|->) [^{]*?(?=( \{)?$)", "", line)
        plain.append(line.replace("AcquireGreaterEqual", "AGE").replace("Release", "REL").replace("func.call ", ""))
    return plain


def take(n: int) -> str:
    return f"aie.use_lock(%ofull, AGE, {n})"


def give(n: int) -> str:
    return f"aie.use_lock(%ofree, REL, {n})"


def loop(body: str, low: int, high: int, step: int = 1, held: str = "%h0", hint: int = 1, result: str = "%h") -> str:
    return f"""
      {result} = scf.for %i = %c{low} to %c{high} step %c{step} iter_args(%hi = {held}) -> (i32) {{
        {body}
      }} {{aie.unroll_hint = {hint} : i64}}"""


def one_by_one(depth: int, high: int, low: int = 0, step: int = 1) -> str:
    """Take one, give it back, in a loop."""
    body = acquire(1, "%hi", "%ha", 0) + "func.call @step(%i) : (index) -> ()\n" + use("%xo0_0")
    body += release(1, depth, "%ha", "%hr", 0) + "scf.yield %hr : i32"
    return slots(depth) + "//numbers" + loop(body, low, high, step, hint=depth)


def window(depth: int, high: int, after: str = "") -> str:
    """Take two, give one back, in a loop."""
    body = acquire(2, "%hi", "%ha", 0) + use("%xo0_0", "%xo0_1") + release(1, depth, "%ha", "%hr", 0)
    return slots(depth) + "//numbers" + loop(body + "scf.yield %hr : i32", 0, high, hint=depth) + after


ONE = [take(1), "@use1(%ob0)", give(1)]


def test_a_loop_that_is_a_multiple_of_the_depth() -> None:
    """Example 16.1, producer's side: ten rounds over two buffers."""
    ran = Ran(design(one_by_one(2, 10), pool(2)), ObjectFifoUnroll())
    assert shown(ran) == [
        "scf.for %arg0 = 0 to 10 step 2 {",
        take(1), "@step(%arg0)", "@use1(%ob0)", give(1),
        "%0 = arith.addi %arg0, 1",
        take(1), "@step(%0)", "@use1(%ob1)", give(1),
        "}",
    ]  # fmt: skip


def test_a_window_is_peeled() -> None:
    """Example 16.1, consumer's side: nine rounds over three buffers, two held, one given back."""
    text = design(window(3, 9, release(1, 3, "%h", "%left", 1)), pool(3))
    pairs = ["@use2(%ob0, %ob1)", "@use2(%ob1, %ob2)", "@use2(%ob2, %ob0)"]
    assert shown(Ran(text, ObjectFifoUnroll())) == [
        take(2), pairs[0], give(1), take(1), pairs[1], give(1), take(1), pairs[2], give(1),
        "scf.for %arg0 = 3 to 9 step 3 {",
        *[line for pair in pairs for line in (take(1), pair, give(1))],
        "}",
        give(1),
    ]  # fmt: skip


def test_the_same_cores_lowered_dynamically() -> None:
    """Both loops stay; objects stay in slots, and only a count that changes is carried."""
    first = shown(Ran(design(one_by_one(2, 10), pool(2)), ObjectFifoUnroll(default_dynamic=True)))
    assert first == [
        "%alloca = memref.alloca()", "memref.store %ob0, %alloca[]",
        "%alloca_0 = memref.alloca()", "memref.store %ob1, %alloca_0[]",
        "scf.for %arg0 = 0 to 10 step 1 {",
        take(1), "%0 = memref.load %alloca[]", "@step(%arg0)", "@use1(%0)", give(1),
        "%1 = memref.load %alloca[]", "%2 = memref.load %alloca_0[]",
        "memref.store %2, %alloca[]", "memref.store %1, %alloca_0[]",
        "}",
    ]  # fmt: skip
    second = shown(Ran(design(window(3, 9), pool(3)), ObjectFifoUnroll(default_dynamic=True)))
    assert second[6:14] == [
        "%0 = scf.for %arg0 = 0 to 9 step 1 iter_args(%arg1 = 0)  {",
        "%1 = arith.subi 2, %arg1", "%2 = arith.maxsi %1, 0", "aie.use_lock(%ofull, AGE, %2)",
        "%3 = arith.addi %arg1, %2", "%4 = memref.load %alloca[]", "%5 = memref.load %alloca_0[]", "@use2(%4, %5)",
    ]  # fmt: skip
    assert second[-2:] == ["scf.yield %6", "}"]


@pytest.mark.parametrize(
    ("low", "high", "step", "depth", "rolled", "rest"),
    [
        (0, 10, 1, 4, "0 to 8 step 4", [8, 9]),
        (1, 10, 2, 2, "1 to 9 step 4", [9]),
        (0, 9, 1, 3, "0 to 9 step 3", []),
        (2, 9, 3, 4, None, [2, 5, 8]),
        (0, 4, 1, 4, None, [0, 1, 2, 3]),
        (5, 5, 1, 4, None, []),
    ],
)
def test_rounds_in_the_loop_and_behind_it(
    low: int, high: int, step: int, depth: int, rolled: str | None, rest: list[int]
) -> None:
    lines = shown(Ran(design(one_by_one(depth, high, low, step), pool(depth)), ObjectFifoUnroll()))
    assert [line for line in lines if line.startswith("scf.for")] == (
        [f"scf.for %arg0 = {rolled} {{"] if rolled else []
    )
    behind = lines[lines.index("}") + 1 :] if rolled else lines
    # The rotation goes on where the loop left it: at its start.
    assert behind == [
        line for k, at in enumerate(rest) for line in (take(1), f"@step({at})", f"@use1(%ob{k % depth})", give(1))
    ]


def test_objects_that_every_round_starts_rotated_stay_in_memory() -> None:
    """Three rounds over two buffers, four times: each time the other buffer is first."""
    inner = acquire(1, "%hi2", "%ha", 0) + use("%xo0_0") + release(1, 2, "%ha", "%hr", 0) + "scf.yield %hr : i32"
    body = f"""
      %hj = scf.for %j = %c0 to %c3 step %c1 iter_args(%hi2 = %hi) -> (i32) {{
        {inner}
      }} {{aie.unroll_hint = 2 : i64}}
      scf.yield %hj : i32"""
    outer = f"""
      %h = scf.for %i = %c0 to %c4 step %c1 iter_args(%hi = %h0) -> (i32) {{
        {body}
      }}"""
    ran = Ran(design(slots(2) + "//numbers" + outer, pool(2)), ObjectFifoUnroll())
    lines = shown(ran)
    assert "%alloca = memref.alloca()" in lines
    assert "aie.objectfifo" not in ran.text
    assert "aie.unroll_hint" not in ran.text
    # Two rounds in the inner loop, which runs once then, and one behind it.
    assert sum(line.startswith("@use1") for line in lines) == 3
    assert [line for line in lines if line.startswith("scf.for")] == ["scf.for %arg0 = 0 to 4 step 1 {"]
    assert {line for line in lines if "use_lock" in line} == {take(1), give(1)}


def test_inner_loops_first_then_their_copies() -> None:
    """Three rounds over two buffers, and the outer loop unrolled by two as well: all is known."""
    inner = acquire(1, "%hi2", "%ha", 0) + use("%xo0_0") + release(1, 2, "%ha", "%hr", 0) + "scf.yield %hr : i32"
    body = f"""
      %hj = scf.for %j = %c0 to %c7 step %c1 iter_args(%hi2 = %hi) -> (i32) {{
        {inner}
      }} {{aie.unroll_hint = 2 : i64}}
      scf.yield %hj : i32"""
    lines = shown(Ran(design(slots(2) + "//numbers" + loop(body, 0, 8, hint=2), pool(2)), ObjectFifoUnroll()))
    uses = [line for line in lines if line.startswith(("@use1", "scf.for", "}"))]
    a, b = "@use1(%ob0)", "@use1(%ob1)"
    assert uses == [
        "scf.for %arg0 = 0 to 8 step 2 {",
        "scf.for %arg1 = 0 to 6 step 2 {", a, b, "}", a,
        "scf.for %arg1 = 0 to 6 step 2 {", b, a, "}", b,
        "}",
    ]  # fmt: skip


def test_a_loop_without_a_hint_stays() -> None:
    body = "func.call @step(%i) : (index) -> ()\nscf.yield %hi : i32"
    text = slots(2) + "//numbers" + acquire(1, "%h0", "%h1", 0) + loop(body, 0, 8, held="%h1", hint=1)
    lines = shown(Ran(design(text + use("%xo0_0"), pool(2)), ObjectFifoUnroll()))
    assert lines == [take(1), "scf.for %arg0 = 0 to 8 step 1 {", "@step(%arg0)", "}", "@use1(%ob0)"]


def test_bounds_known_at_run_time() -> None:
    """Whole chunks in the loop, what is left over in a second one that stays; objects stay in memory then."""
    body = acquire(1, "%hi", "%ha", 0) + use("%xo0_0") + release(1, 2, "%ha", "%hr", 0) + "scf.yield %hr : i32"
    text = design(
        slots(2) + "//numbers" + "%n = memref.load %size[] : memref<index>\n"
        f"%h = scf.for %i = %c0 to %n step %c1 iter_args(%hi = %h0) -> (i32) {{ {body} }}"
        " {aie.unroll_hint = 2 : i64}",
        pool(2) + '\n%size = aie.buffer(%tile) {sym_name = "size"} : memref<index>',
    )
    lines = shown(Ran(text, ObjectFifoUnroll()))
    loops = [line for line in lines if line.startswith("scf.for")]
    assert len(loops) == 2
    assert loops[0].endswith("step 2 {") and loops[1].endswith("step 1 {")
    assert sum(line.startswith("@use1") for line in lines) == 3
    assert "%alloca = memref.alloca()" in lines


# --- peeling ----------------------------------------------------------------------------------------------------------


def conditional_release() -> str:
    """What is held depends on the data: it never becomes constant."""
    body = (
        "%v = memref.load %data[%i] : memref<16xi32>\n%yes = arith.cmpi eq, %v, %h0 : i32\n"
        + acquire(2, "%hi", "%ha", 0)
        + use("%xo0_0", "%xo0_1")
        + f"""%hb = scf.if %yes -> (i32) {{
          {release(1, 3, "%ha", "%hr", 0)}
          scf.yield %hr : i32
        }} else {{
          scf.yield %ha : i32
        }}
        scf.yield %hb : i32"""
    )
    return design(
        slots(3) + "//numbers" + loop(body, 0, 9, hint=3),
        pool(3) + '\n%data = aie.buffer(%tile) {sym_name = "data"} : memref<16xi32>',
    )


def test_a_peel_that_does_not_help_is_taken_back() -> None:
    peeled = Ran(conditional_release(), ObjectFifoUnroll())
    never = Ran(conditional_release(), ObjectFifoUnroll(peel_first_iteration="false"))
    assert peeled.text == never.text
    assert sum("arith.maxsi" in line for line in shown(peeled)) == 3
    assert "scf.for %arg0 = 0 to 9 step 3" in " ".join(shown(peeled))


def test_peeling_can_be_asked_for_and_forbidden() -> None:
    text = design(window(3, 9), pool(3))
    auto, yes, no = (Ran(text, ObjectFifoUnroll(peel_first_iteration=word)) for word in ("auto", "true", "false"))
    assert auto.text == yes.text
    assert any("arith.maxsi" in line for line in shown(no))
    assert not any("arith.maxsi" in line for line in shown(yes))
    # Lowered dynamically nothing is peeled, unless one asks for it.
    rolled = Ran(text, ObjectFifoUnroll(default_dynamic=True))
    asked = Ran(text, ObjectFifoUnroll(default_dynamic=True, peel_first_iteration="true"))
    assert any("arith.maxsi" in line for line in shown(rolled))
    assert "scf.for %arg0 = 1 to 9 step 1 {" in shown(asked)
    assert [line for line in shown(asked) if "ofull" in line] == [take(2), take(1)]


def test_a_loop_that_enters_as_it_goes_on_needs_no_peel() -> None:
    body = acquire(2, "%hi", "%ha", 1) + use("%xo1_0", "%xo1_1") + release(1, 3, "%ha", "%hr", 1)
    text = (
        slots(3)
        + "//numbers"
        + acquire(1, "%h0", "%h1", 0)
        + loop(body + "scf.yield %hr : i32", 0, 9, held="%h1", hint=3)
    )
    lines = shown(Ran(design(text, pool(3)), ObjectFifoUnroll(default_dynamic=True)))
    assert [line for line in lines if "use_lock" in line] == [take(1), take(1), give(1)]
    assert "scf.for %arg0 = 0 to 9 step 1 {" in lines


# --- straight line ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dynamic", [False, True])
def test_straight_line_code_knows_its_objects(dynamic: bool) -> None:
    """Absolute counts: 2, 1, 3, 1, then three given back."""
    text = slots(4) + "//numbers" + acquire(2, "%h0", "%h1", 0) + use("%xo0_0", "%xo0_1")
    text += acquire(1, "%h1", "%h2", 1) + use("%xo1_0") + acquire(3, "%h2", "%h3", 2) + use("%xo2_1", "%xo2_2")
    text += release(3, 4, "%h3", "%h4", 3) + acquire(1, "%h4", "%h5", 4) + use("%xo4_0")
    lines = shown(Ran(design(text, pool(4)), ObjectFifoUnroll(default_dynamic=dynamic)))
    assert lines == [
        take(2), "@use2(%ob0, %ob1)", "@use1(%ob0)", take(1), "@use2(%ob1, %ob2)", give(3), take(1), "@use1(%ob3)",
    ]  # fmt: skip


def test_objects_nobody_uses_leave_no_trace() -> None:
    text = slots(3) + "//numbers" + acquire(2, "%h0", "%h1", 0) + release(2, 3, "%h1", "%h2", 0)
    assert shown(Ran(design(text, pool(3)), ObjectFifoUnroll())) == [take(2), give(2)]


def test_a_branch_that_is_known() -> None:
    text = slots(3) + "//numbers" + acquire(1, "%h0", "%h1", 0)
    text += f"""%t = arith.cmpi eq, %c1, %c1 : index
      %h2 = scf.if %t -> (i32) {{ {release(1, 3, "%h1", "%hr", 0)}
        scf.yield %hr : i32 }} else {{ scf.yield %h1 : i32 }}
      """
    text += acquire(1, "%h2", "%h3", 1) + use("%xo1_0")
    assert shown(Ran(design(text, pool(3)), ObjectFifoUnroll())) == [take(1), give(1), take(1), "@use1(%ob1)"]


def test_a_branch_that_is_not_known_keeps_objects_in_memory() -> None:
    text = slots(3) + "//numbers" + acquire(1, "%h0", "%h1", 0)
    text += f"""%v = memref.load %data[%c0] : memref<16xi32>
      %t = arith.cmpi eq, %v, %h0 : i32
      %h2 = scf.if %t -> (i32) {{ {release(1, 3, "%h1", "%hr", 0)}
        scf.yield %hr : i32 }} else {{ scf.yield %h1 : i32 }}
      """
    text += acquire(1, "%h2", "%h3", 1) + use("%xo1_0")
    pools = pool(3) + '\n%data = aie.buffer(%tile) {sym_name = "data"} : memref<16xi32>'
    lines = shown(Ran(design(text, pools), ObjectFifoUnroll()))
    assert "%alloca_1 = memref.alloca()" in lines
    assert not any(OBJECT in line for line in lines if "scf.if" in line or "select" in line)


def test_blocks_that_branch() -> None:
    """Code in blocks keeps what it is; where every way leads to one buffer, that is it."""
    text = slots(2) + "//numbers" + acquire(1, "%h0", "%h1", 0) + "cf.br ^next\n^next:\n" + use("%xo0_0")
    text += release(1, 2, "%h1", "%h2", 0) + acquire(1, "%h2", "%h3", 1) + use("%xo1_0")
    lines = shown(Ran(design(text, pool(2)), ObjectFifoUnroll()))
    assert lines == [take(1), "@use1(%ob0)", give(1), take(1), "@use1(%ob1)"]


# --- binary locks -----------------------------------------------------------------------------------------------------


def test_what_a_block_holds_is_not_taken_again() -> None:
    """The first generation: the whole window is asked for each time."""
    window = [("l0", "Acquire"), ("l1", "Acquire"), ("l0", "Release"), ("l1", "Acquire"), ("l2", "Acquire"),
              ("l1", "Release"), ("l1", "Acquire")]  # fmt: skip
    body = "//numbers%one = arith.constant 1 : i32\n" + "\n".join(
        f"aie.use_lock(%{lock}, {what}, %one)" for lock, what in window
    )
    locks = "\n".join(f'%l{k} = aie.lock(%tile) {{init = 0 : i32, sym_name = "l{k}"}}' for k in range(3))
    ran = Ran(design(body, locks, device="xcvc1902"), ObjectFifoUnroll())
    assert shown(ran) == [
        f"aie.use_lock(%{lock}, {what.replace('Release', 'REL')}, 1)" for i, (lock, what) in enumerate(window) if i != 3
    ]


def test_a_block_starts_with_nothing_and_loses_what_is_given_back_inside() -> None:
    body = """//numbers
      %one = arith.constant 1 : i32
      %n = memref.load %size[] : memref<index>
      aie.use_lock(%l0, Acquire, %one)
      scf.for %i = %c0 to %n step %c1 {
        aie.use_lock(%l1, Acquire, %one)
        aie.use_lock(%l0, Release, %one)
      }
      aie.use_lock(%l0, Acquire, %one)
      aie.use_lock(%l0, Acquire, %one)
      """
    pools = """%l0 = aie.lock(%tile) {init = 0 : i32, sym_name = "l0"}
      %l1 = aie.lock(%tile) {init = 0 : i32, sym_name = "l1"}
      %size = aie.buffer(%tile) {sym_name = "size"} : memref<index>"""
    lines = shown(Ran(design(body, pools, device="xcvc1902"), ObjectFifoUnroll()))
    assert [line for line in lines if "use_lock" in line] == [
        "aie.use_lock(%l0, Acquire, 1)", "aie.use_lock(%l1, Acquire, 1)", "aie.use_lock(%l0, REL, 1)",
        "aie.use_lock(%l0, Acquire, 1)",
    ]  # fmt: skip


# --- which cores ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("attributes", "default", "rolled"),
    [
        ("", False, False),
        ("", True, True),
        ("{dynamic_objfifo_lowering = true}", False, True),
        ("{dynamic_objfifo_lowering = false}", True, False),
    ],
)
def test_a_core_says_how_it_is_lowered(attributes: str, default: bool, rolled: bool) -> None:
    ran = Ran(design(one_by_one(2, 10), pool(2), attributes), ObjectFifoUnroll(default_dynamic=default))
    assert ("scf.for %arg0 = 0 to 10 step 1 {" in shown(ran)) == rolled
    assert "aie.unroll_hint" not in ran.text


def test_an_unknown_word_for_peeling() -> None:
    ran = Ran(design(one_by_one(2, 10), pool(2)), ObjectFifoUnroll(peel_first_iteration="maybe"))
    assert ran.said == [
        '\'aie.device\' op invalid peel-first-iteration value \'maybe\'; expected "true", "false" or "auto"'
    ]


def test_a_core_without_fifos_keeps_its_code() -> None:
    body = """//numbers
      scf.for %i = %c0 to %c1 step %c1 {
        func.call @step(%i) : (index) -> ()
      }"""
    ran = Ran(design(body, ""), ObjectFifoUnroll())
    assert "scf.for %arg0 = 0 to 1 step 1 {" in shown(ran)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("text", [one_by_one(2, 9), window(3, 8), window(4, 9)])
def test_twice_is_once(text: str, dynamic: bool) -> None:
    once = Ran(design(text, pool(4)), ObjectFifoUnroll(default_dynamic=dynamic))
    again = Ran(once.text, ObjectFifoUnroll(default_dynamic=dynamic))
    assert again.text == once.text
    taken_back = Ran(conditional_release(), ObjectFifoUnroll(default_dynamic=dynamic))
    assert Ran(taken_back.text, ObjectFifoUnroll(default_dynamic=dynamic)).text == taken_back.text


def test_a_loop_that_would_grow_beyond_reason_stays() -> None:
    body = acquire(1, "%hi", "%ha", 0) + use("%xo0_0") + release(1, 2, "%ha", "%hr", 0) + "scf.yield %hr : i32"
    big = loop(body, 0, 10, hint=100_000).replace("to %c10", "to %big")
    text = design(slots(2) + "//numbers%big = arith.constant 4294967295 : index\n" + big, pool(2))
    ran = Ran(text, ObjectFifoUnroll())
    assert ran.only.level is Level.WARNING
    assert ran.only.text.startswith("objectFifo loop stays rolled: its ")
    assert ran.only.where is not None and ran.only.where.line == line_of(text, "scf.for")
    assert ran.text.count("@use1(") == 2


def test_copies_stand_where_the_user_wrote_them() -> None:
    text = design(one_by_one(2, 10), pool(2))
    ran = Ran(text, ObjectFifoUnroll())
    core = next(ran.ops(CoreOp))
    takes = [op for op in core.walk() if isinstance(op, UseLockOp) and op.is_acquire]
    assert len(takes) == 2
    for op in core.walk():
        assert span_of(op) is not None, op
    assert {span.line for op in takes if (span := span_of(op))} == {line_of(text, "aie.use_lock(%ofull")}


def test_blocks_without_slots_are_folded_as_well() -> None:
    text = (
        "//numbers"
        + acquire(0, "%h0", "%h1", 0)
        + "cf.br ^next\n^next:\n"
        + acquire(1, "%h1", "%h2", 1).partition("%xo1_0")[0]
    )
    assert shown(Ran(design(text, pool(2)), ObjectFifoUnroll())) == [take(1)]


def test_a_loop_that_counts_without_a_sign() -> None:
    """What is left over is found without a sign too, where the bounds come at run time."""
    body = acquire(1, "%hi", "%ha", 0) + release(1, 2, "%ha", "%hr", 0) + "scf.yield %hr : i32"
    text = design(
        slots(2) + "//numbers" + "%n = memref.load %size[] : memref<index>\n"
        f"%h = scf.for unsigned %i = %c1 to %n step %c2 iter_args(%hi = %h0) -> (i32) {{ {body} }}"
        " {aie.unroll_hint = 2 : i64}",
        pool(2) + '\n%size = aie.buffer(%tile) {sym_name = "size"} : memref<index>',
    )
    lines = shown(Ran(text, ObjectFifoUnroll()))
    loops = [line for line in lines if line.startswith("scf.for")]
    assert [line.split(" = ")[0] for line in loops] == ["scf.for unsigned %arg0"] * 2
    assert any("arith.maxui" in line for line in lines) and any("arith.divui" in line for line in lines)
