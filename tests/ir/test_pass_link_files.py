"""Which files a core links."""

from __future__ import annotations

from passkit import Ran, line_of

from aiecc.base.diag import Level
from aiecc.ir.dialects.aie import CoreOp
from aiecc.ir.passes.core_link_files import AssignCoreLinkFiles


def design(functions: str, *cores: str) -> str:
    tiles = "".join(f"  %t{i} = aie.tile(0, {2 + i})\n" for i in range(len(cores)))
    bodies = "".join(f"  %core{i} = aie.core(%t{i}) {{\n{body}\n" for i, body in enumerate(cores))
    return f"aie.device(npu2) {{\n{tiles}{functions}\n{bodies}}}"


def calls(*names: str, tail: str = "") -> str:
    inside = "\n".join(f"    func.call @{name}() : () -> ()" for name in names)
    return f"{inside}\n    aie.end\n  }} {tail}"


def declare(name: str, path: str, mode: str = "") -> str:
    more = f', link_with_mode = "{mode}"' if mode else ""
    return f'  func.func private @{name}() attributes {{link_with = "{path}"{more}}}\n'


def lists(ran: Ran) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    return [(core.link_files, core.link_merge_files) for core in ran.ops(CoreOp)]


def test_files_come_in_the_order_of_first_use_and_once():
    functions = declare("a", "a.o") + declare("b", "b.o") + declare("c", "a.o")
    ran = Ran(design(functions, calls("b", "a", "c", "b")), AssignCoreLinkFiles())
    assert lists(ran) == [(("b.o", "a.o"), ())]
    assert not ran.said


def test_metadata_decides_between_linking_and_merging_never_the_name():
    functions = declare("a", "a.o", "merge") + declare("b", "b.ll")
    ran = Ran(design(functions, calls("a", "b")), AssignCoreLinkFiles())
    assert lists(ran) == [(("b.ll",), ("a.o",))]


def test_calls_in_nested_regions_count():
    body = "    %c = arith.constant true\n    scf.if %c {\n      func.call @a() : () -> ()\n    }\n" + calls()
    assert lists(Ran(design(declare("a", "a.o"), body), AssignCoreLinkFiles())) == [(("a.o",), ())]


def test_a_core_that_calls_nothing_gets_no_list():
    ran = Ran(design("  func.func private @a()\n", calls("a")), AssignCoreLinkFiles())
    assert "link_files" not in ran.text and not ran.said


def test_link_with_on_a_core_moves_to_the_front_of_its_list():
    text = design(declare("a", "a.o"), calls("a", tail='{link_with = "old.o"}'))
    ran = Ran(text, AssignCoreLinkFiles())
    assert lists(ran) == [(("old.o", "a.o"), ())]
    assert 'link_with = "old.o"' not in ran.text
    said = ran.only
    assert said.level is Level.WARNING
    assert said.text == "link_with on aie.core is deprecated; attach link_with to the func.func declaration instead"
    assert said.where is not None and said.where.line == line_of(text, "%core0")


def test_a_second_run_changes_nothing_and_says_nothing_new():
    first = Ran(design(declare("a", "a.o"), calls("a", tail='{link_with = "old.o"}')), AssignCoreLinkFiles())
    second = Ran(first.text, AssignCoreLinkFiles())
    assert second.text == first.text
    assert not second.said


def test_lists_written_by_hand_stay():
    ran = Ran(design(declare("a", "a.o"), calls("a", tail='{link_files = ["all.a"]}')), AssignCoreLinkFiles())
    assert lists(ran) == [(("all.a",), ())]


def test_a_mode_without_a_file_is_refused_at_the_function():
    text = design('  func.func private @a() attributes {link_with_mode = "merge"}\n', calls("a"))
    said = Ran(text, AssignCoreLinkFiles()).only
    assert said.text == (
        "func 'a' has link_with_mode but no link_with; "
        "link_with_mode only describes how the link_with artifact is linked"
    )
    assert said.where is not None and said.where.line == line_of(text, "func.func")


def test_an_unknown_mode_is_refused():
    said = Ran(design(declare("a", "a.o", "inline"), calls("a")), AssignCoreLinkFiles()).only
    assert said.text == "func 'a' has unknown link_with_mode 'inline'; the only supported value is 'merge'"


def test_a_file_merged_by_one_core_and_linked_by_another_is_refused_at_both():
    text = design(declare("a", "k.a", "merge") + declare("b", "k.a"), calls("a"), calls("b"))
    said = Ran(text, AssignCoreLinkFiles()).only
    assert said.text.startswith(
        "artifact 'k.a' is merged into an LLVM module here but object-linked in the same aie.device; an artifact must"
    )
    assert said.where is not None and said.where.line == line_of(text, "%core0")
    note = said.notes[0]
    assert note.text == "artifact 'k.a' is object-linked here"
    assert note.where is not None and note.where.line == line_of(text, "%core1")


def test_a_kernel_nobody_calls_is_warned_of():
    text = design(declare("a", "a.o"), calls())
    said = Ran(text, AssignCoreLinkFiles()).only
    assert said.level is Level.WARNING
    assert said.text == (
        "func 'a' has link_with but is never called from any core; its artifact will not be linked or merged"
    )
    assert said.where is not None and said.where.line == line_of(text, "func.func")


def test_an_indirect_call_is_warned_of():
    body = (
        '    %f = "func.constant"() {value = @a} : () -> (() -> ())\n    "func.call_indirect"(%f) : (() -> ()) -> ()\n'
    )
    text = design("  func.func private @a()\n", body + calls())
    said = Ran(text, AssignCoreLinkFiles()).only
    assert said.level is Level.WARNING
    assert said.text.startswith(
        "indirect call in core body \N{EM DASH} link_with attributes on indirectly-called functions"
    )
    assert said.where is not None and said.where.line == line_of(text, "call_indirect")
