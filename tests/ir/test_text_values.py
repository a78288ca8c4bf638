"""Modules as values: out of the IR and back, with positions, without reading twice."""

from __future__ import annotations

import threading

import pytest

from aiecc.base.diag import Refused
from aiecc.base.spans import Span
from aiecc.ir import text as door
from aiecc.ir.spans import span_of, spans_of
from aiecc.ir.text import dump, load, parse, print_module, thaw
from aiecc.model.artifact import Module

TEXT = "module {\n  func.func @f(%a: i32) -> i32 {\n    %x = arith.addi %a, %a : i32\n    return %x : i32\n  }\n}\n"


def test_dump_then_load_gives_the_same_ir():
    op = parse(TEXT, "user.mlir")
    module = dump(op)
    assert module.text == print_module(op) + "\n"
    assert load(module) is op


def test_load_puts_positions_back():
    module = dump(parse(TEXT, "user.mlir"))
    door._loaded.clear()
    again = load(module)
    assert spans_of(again) == module.spans
    assert span_of(list(again.walk())[2]) == Span("user.mlir", 3, 10)
    assert load(Module(module.text, module.spans)) is again


def test_the_users_own_text_has_its_own_positions():
    module = Module(TEXT, file="user.mlir")
    assert spans_of(load(module))[2] == Span("user.mlir", 3, 10)


def test_other_positions_are_another_module():
    module = dump(parse(TEXT, "user.mlir"))
    other = Module(module.text, ())
    assert load(other) is not load(module)
    assert {span.file for span in spans_of(load(other)) if span} == {"<module>"}


def test_what_is_thawed_may_be_changed():
    module = dump(parse(TEXT, "user.mlir"))
    mine = thaw(module)
    next(iter(mine.body.block.ops)).attributes.clear()
    mine.body.block.erase_op(mine.body.block.first_op)  # type: ignore[arg-type]
    assert print_module(load(module)) + "\n" == module.text
    assert spans_of(thaw(module)) == module.spans


def test_few_modules_are_kept():
    for i in range(100):
        load(Module(f"func.func private @f{i}()"))
    assert len(door._loaded) <= door._KEEP


def test_a_module_that_is_no_mlir_is_refused():
    with pytest.raises(Refused):
        load(Module("module {"))


def test_threads_share_and_do_not_hurt_each_other():
    texts = [TEXT.replace("@f", f"@f{i}") for i in range(8)]
    wanted = [print_module(parse(text, "x")) for text in texts]
    wrong: list[object] = []

    def work(seed: int) -> None:
        try:
            for i in range(40):
                text = texts[(i * seed) % len(texts)]
                ir = thaw(Module(text))
                assert print_module(ir) == wanted[texts.index(text)]
                assert load(dump(ir)) is not None
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in (1, 3, 5, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
