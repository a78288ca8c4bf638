"""The order and the words of verification; dominance against brute force."""

from __future__ import annotations

import random

import pytest
from textkit import chunks, said
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation
from xdsl.irdl import IRDLOperation

from aiecc.base.diag import Level, Note
from aiecc.base.spans import Span
from aiecc.ir.dominance import Dominance
from aiecc.ir.errors import VerifyError
from aiecc.ir.text import parse, print_module
from aiecc.ir.verify import diagnostic, verify

TWO_WRONG = """\
func.func @f(%a: i64) {
  func.call @nope() : () -> ()
  return
}
func.func @g(%a: i64) -> i32 {
  %x = arith.addf %a, %a : i64
  %y = arith.negf %a : i64
  return %a : i64
}
func.func @f() { return }
"""


def texts(text: str, *, first_only: bool = False) -> list[tuple[int, str]]:
    return [(d.where.line if d.where else 0, d.text) for d in verify(parse(text, "v.mlir"), first_only=first_only)]


def test_everything_wrong_is_gathered():
    assert texts(TWO_WRONG) == [
        (6, "'arith.addf' op operand #0 must be floating-point-like, but got 'i64'"),
        (7, "'arith.negf' op operand #0 must be floating-point-like, but got 'i64'"),
        (8, "type of return operand 0 ('i64') doesn't match function result type ('i32') in function @g"),
    ]


def test_first_only_stops_at_the_first_of_each_isolated_op():
    text = TWO_WRONG.replace("  func.call @nope() : () -> ()\n", "  %z = arith.addf %a, %a : i64\n")
    assert [line for line, _ in texts(text, first_only=True)] == [2, 6]


def test_what_an_op_asks_of_its_body_comes_last():
    assert texts("func.func @f() { return }\nfunc.func @f() { return }") == [(2, "redefinition of symbol named 'f'")]
    assert texts("func.func @f() {\n  func.call @nope() : () -> ()\n  return\n}") == [
        (2, "'func.call' op 'nope' does not reference a valid function")
    ]


def test_notes_have_their_own_places():
    (found,) = said("func.func @f() { return }\nfunc.func @f() { return }")
    assert found.level is Level.ERROR
    assert found.code == "E0101"
    assert found.notes == (Note("see existing symbol definition here", Span("<stdin>", 1, 1)),)


def test_an_op_that_fails_is_not_looked_into():
    text = """\
aie.device(npu2) {
  %t = aie.tile(0, 2)
  aie.core(%t) {
    %c = arith.constant 1 : i64
    %x = arith.addf %c, %c : i64
    aie.end
  } {stack_size = -4 : i32}
}
"""
    assert [line for line, _ in texts(text)] == [3]


def test_verify_errors_say_where_and_what():
    module = parse("func.func private @a()\nfunc.func private @b()", "v.mlir")
    one, other = module.body.block.ops
    full = diagnostic(VerifyError("is bad", other, [("because", one), ("anyhow", None)]), one)
    assert full.text == "'func.func' op is bad"
    assert full.where == Span("v.mlir", 2, 1)
    assert full.notes == (Note("because", Span("v.mlir", 1, 1)), Note("anyhow", None))
    bare = diagnostic(VerifyError("is bad", bare=True), one)
    assert (bare.text, bare.where) == ("is bad", Span("v.mlir", 1, 1))


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("func.func @f() {\n  %x = arith.constant 1 : i32\n}", 2, "block with no terminator, has %0 = "),
        ("func.func @f(%a: i32) {\n}", 1, "empty block: expect at least a terminator"),
        ("func.func @f() {\n  return\n  return\n}", 2, "'func.return' op must be the last operation in the parent"),
        ("func.func @f(%c: i1) {\n cf.br ^a\n^a:\n cf.br ^b\n^b:\n}", 1, "empty block: expect at least a terminator"),
    ],
)
def test_blocks(text: str, line: int, words: str):
    found = texts(text)
    assert len(found) == 1
    assert found[0][0] == line
    assert found[0][1].startswith(words)


def test_no_order_at_the_top_of_a_module():
    assert texts("%b = arith.addi %a, %a : i32\n%a = arith.constant 1 : i32") == []


def test_values_of_an_op_do_not_dominate_its_own_region():
    branches = "{ scf.yield %x : i32 } else { scf.yield %x : i32 }"
    text = f"func.func @f(%c: i1) {{\n  %x = scf.if %c -> (i32) {branches}\n  return\n}}"
    (found,) = said(text)
    assert found.text == "operand #0 does not dominate this use"
    assert found.notes[0].text == "operand defined here (op in a parent region)"


def test_isolation():
    (found,) = said("func.func @f() -> i32 {\n  return %x : i32\n}\n%x = arith.constant 1 : i32")
    assert found.text == "'func.return' op using value defined outside the region"
    assert found.notes == (Note("required by region isolation constraints", Span("<stdin>", 1, 1)),)


def test_ops_nobody_knows_have_their_names():
    module = parse('%x = "t.make"() : () -> i32\nfunc.func @f() {\n  "t.use"(%x) : (i32) -> ()\n  return\n}', "<stdin>")
    assert [one.text for one in verify(module)] == ["'t.use' op using value defined outside the region"]


@pytest.mark.parametrize(
    "name", ["arith", "memref", "scf", "func", "affine", "vector", "math", "index", "dense", "llvm"]
)
def test_upstream_ops_that_are_right_are_found_right(name: str):
    for part in chunks(name):
        assert verify(parse(part, "u.mlir")) == []


@pytest.mark.parametrize(
    "name",
    ["scf.for", "scf.if", "scf.forall", "func.func", "func.call", "memref.load", "memref.subview", "memref.alloc",
     "affine.for", "arith.extsi", "arith.constant", "index.add", "vector.contract", "vector.mask", "builtin.module"],
)  # fmt: skip
def test_ops_without_their_parts_are_refused_or_printed_generically(name: str):
    text = f'func.func @f() {{\n  "{name}"() : () -> ()\n  return\n}}'
    errors = texts(text)
    assert [line for line, _ in errors] in ([], [2])
    assert f'"{name}"()' in print_module(parse(text, "v.mlir"))


# --- dominance --------------------------------------------------------------------------------------------------------


def _random_cfg(seed: int) -> ModuleOp:
    r = random.Random(seed)
    count = r.randrange(1, 8)
    lines = ["func.func @f(%c: i1) {"]
    for i in range(count):
        lines.append(f"^b{i}:" if i else "")
        lines.append(f"  %v{i} = arith.constant {i} : i32")
        pick = [r.randrange(1, count) for _ in range(2)] if count > 1 else []
        kind = r.randrange(4) if pick else 3
        if kind == 3:
            lines.append("  return")
        elif kind == 2:
            lines.append(f"  cf.br ^b{pick[0]}")
        else:
            lines.append(f"  cf.cond_br %c, ^b{pick[0]}, ^b{pick[1]}")
    return parse("\n".join([*lines, "}"]), "cfg")


def _reaches(start: Block, goal: Block, without: Block | None) -> bool:
    """Whether there is a way from one block to another that does not enter `without`."""
    seen: set[Block] = set()
    pending = [start]
    while pending:
        block = pending.pop()
        if block in seen or block is without:
            continue
        if block is goal:
            return True
        seen.add(block)
        last = block.last_op
        pending.extend(last.successors if last is not None else ())
    return False


@pytest.mark.parametrize("seed", range(60))
def test_dominance_is_what_all_ways_say(seed: int):
    module = _random_cfg(seed)
    function: Operation = next(iter(module.body.block.ops))
    info = Dominance(module)
    blocks = list(function.regions[0].blocks)
    entry = blocks[0]
    for use in blocks:
        reachable = _reaches(entry, use, None)
        assert info.reachable(use) is reachable
        if not reachable:
            continue
        for home in blocks:
            value = next(iter(home.ops)).results[0]
            last = use.last_op
            assert last is not None
            wanted = home is use or not _reaches(entry, use, home)
            assert info.dominates(value, last) is wanted
        first = use.first_op
        assert first is not None
        assert not info.dominates(first.results[0], first)


@pytest.mark.parametrize("name", ["arith", "memref", "scf", "func", "affine", "vector", "math"])
def test_the_accessors_of_xdsl_find_the_parts(name: str):
    seen = 0
    for part in chunks(name):
        for op in parse(part, "a.mlir").walk():
            if isinstance(op, IRDLOperation):
                definition = op.get_irdl_definition()
                groups = [definition.operands, definition.results, definition.regions, definition.successors]
                operands = 0
                for names in groups:
                    for accessor, _ in names:
                        found = getattr(op, accessor)
                        if names is definition.operands:
                            operands += 0 if found is None else len(found) if isinstance(found, tuple) else 1
                assert operands == len(op.operands)
                seen += 1
    assert seen > 10
