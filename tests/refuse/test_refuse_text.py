"""Inputs that are no design, and designs that say what no device has."""

import os
import random
import re
from pathlib import Path

import pytest
from refusekit import KERNEL, design, files_of, refused, run

from aiecc.testing.kit import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path / "project")
    made.write("k.c", KERNEL)
    return made


def error(project: Project, text: str | bytes, *args: str, code: int = 1) -> str:
    return refused(project, "design.mlir", *args, files={"design.mlir": text}, code=code).errors[0]


def test_no_file(project: Project) -> None:
    ended = refused(project, "nowhere.mlir")
    assert "aiecc: could not open input file 'nowhere.mlir'  [E0001]" in ended.err
    assert "note: No such file or directory" in ended.err


def test_a_folder(project: Project) -> None:
    (project.folder / "design.mlir").mkdir()
    ended = refused(project, "design.mlir")
    assert "could not open input file 'design.mlir'" in ended.err and "note: it is a directory" in ended.err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes are POSIX")
def test_a_name_longer_than_file_systems_allow(project: Project) -> None:
    ended = refused(project, "x" * 5000)
    assert "could not open input file" in ended.err and "File name too long" in ended.err


@pytest.mark.parametrize("text", ["", " \n\t\n"])
def test_empty(project: Project, text: str) -> None:
    assert "aiecc: input file 'design.mlir' is empty; expected MLIR containing an aie.device" in error(project, text)


def test_nothing_to_build(project: Project) -> None:
    assert "input file 'design.mlir' contains no aie.device" in error(project, "module {\n}\n")
    assert "input file 'design.mlir' contains no aie.device" in error(project, "// nothing yet\n")


def test_binary(project: Project) -> None:
    assert "is not MLIR text: byte 0 is not UTF-8  [E0001]" in error(project, b"\x93NUMPY" * 9)
    assert "is not MLIR text: byte 7 is a NUL  [E0001]" in error(project, b"\x7fELF\x01\x01\x01" + bytes(40))
    assert "is not MLIR text" in error(project, bytes(random.Random(5).randrange(256) for _ in range(4096)))


def test_bytes_that_happen_to_be_text(project: Project) -> None:
    assert error(project, "\x01\x02\x1b[31m\x07" * 20).startswith("design.mlir:1:1: error: ")


def test_control_characters_do_not_reach_the_terminal(project: Project) -> None:
    ended = refused(project, "\x1b]0;gone\x07.mlir")
    assert "\x1b" not in ended.err and "\\x1b]0;gone\\x07.mlir" in ended.err


def test_truncated_anywhere(project: Project) -> None:
    """A design that ends too early is refused inside the text that is left, for every place it may end."""
    text = design()
    whole = text.rindex("}")
    for cut in range(len("module {"), whole, 37):
        project.write("design.mlir", text[:cut])
        left = text[:cut]
        ended = project.aiecc("design.mlir")
        assert ended.code == 1 and len(ended.errors) == 1, (cut, ended.err)
        at = ended.errors[0].split(":")
        assert at[0] == "design.mlir" and 1 <= int(at[1]) <= left.count("\n") + 1, ended.err
        assert files_of(project.folder).keys() == {"design.mlir", "k.c"}


def test_truncated_says_so(project: Project) -> None:
    text = design()
    ended = refused(project, "design.mlir", files={"design.mlir": text[: text.index("func.call")]})
    assert ended.errors[0].startswith("design.mlir:6:")
    assert "note: the text ends here" in ended.err


@pytest.mark.parametrize(
    ("good", "bad", "at"),
    [
        ("aie.end", "aie..end", "8:7: error: custom op 'aie..end' is unknown"),
        ("func.call", "func.cal", "7:7: error: custom op 'func.cal' is unknown"),
        ("(%buf)", "(%bug)", "7:20: error: use of undeclared SSA value name"),
        ("aie.tile(0, 2)", "aie.tile(0 2)", "3:23: error: expected ','"),
        ("stack_size = 1024 : i32", "stack_size = : i32", "9:20: error: expected attribute value"),
        ("memref<16xi32>\n", "memref<16xi32\n", "4:64: error: expected ',' or '>' in memref type"),
    ],
)
def test_syntax_in_the_middle(project: Project, good: str, bad: str, at: str) -> None:
    """Where mlir-opt says it of the same slip in an op it knows: behind the last good token."""
    assert good in design()
    assert error(project, design().replace(good, bad, 1)).startswith(f"design.mlir:{at}")


def test_unknown_device(project: Project) -> None:
    said = error(project, design(device="npu9"))
    assert said.startswith("design.mlir:2:14: error: ") and "npu1_3col" in said and "npu2" in said


@pytest.mark.parametrize(
    ("at", "text"),
    [
        ("8, 2", "column index (8) must be less than the number of columns in the device (8)"),
        ("0, 6", "row index (6) must be less than the number of rows in the device (6)"),
        ("-1, 2", "attribute 'col' failed to satisfy constraint"),
        ("2147483647, 2", "column index (2147483647) must be less"),
    ],
)
def test_off_the_array(project: Project, at: str, text: str) -> None:
    said = error(project, design(at=at))
    assert said.startswith("design.mlir:3:13: error: 'aie.tile' op ") and text in said


@pytest.mark.parametrize("at", ["0, 0", "0, 1"])
def test_a_core_where_none_is(project: Project, at: str) -> None:
    ended = run(project, "design.mlir", files={"design.mlir": design(at=at)})
    assert ended.code == 1
    assert "design.mlir:6:13: error: 'aie.core' op failed to verify that op exists in a core tile" in ended.err


@pytest.mark.parametrize(
    ("n", "where", "text"),
    [
        ("-4", "4:58", "expected non-function type"),
        ("?", "4:51", "type should be static shaped memref"),
        ("99999999999999999999999", "4:58", "invalid dimension"),
        ("9223372036854775808", "4:58", "invalid dimension"),
    ],
)
def test_sizes_that_are_none(project: Project, n: str, where: str, text: str) -> None:
    said = error(project, design(n=n))
    assert said.startswith(f"design.mlir:{where}: error: ") and text in said


@pytest.mark.tools
@pytest.mark.parametrize(("n", "size"), [("1000000", 4000000), ("4611686018427387904", 1 << 64)])
def test_sizes_that_no_tile_has(project: Project, n: str, size: int) -> None:
    said = error(project, design(n=n))
    assert said.startswith("design.mlir:4:12: error: 'aie.buffer' op could not be placed: ")
    assert f'buffer "buf" needs {size} bytes and this tile has no room left for it' in said


@pytest.mark.parametrize(
    ("stack", "text"),
    [
        ("0", "minimum value is 1"),
        ("-1", "minimum value is 1"),
        ("4294967295", "minimum value is 1"),
        ("65536", "stack_size 65536 leaves no local memory for this tile's buffers (65536 bytes total)"),
        ("2147483647", "leaves no local memory"),
    ],
)
def test_stacks_that_no_core_has(project: Project, stack: str, text: str) -> None:
    said = error(project, design(stack=stack))
    assert said.startswith("design.mlir:6:13: error: 'aie.core' op ") and text in said


def test_deep_nesting_is_refused_not_crashed_on(project: Project) -> None:
    body = "scf.if %c {\n" * 3000 + "}\n" * 3000
    text = design().replace("      func.call", f"      %c = arith.constant true\n{body}      func.call", 1)
    assert "nested too deeply" in error(project, text)


def test_a_negative_override(project: Project) -> None:
    text = design().replace('link_with = "k.c"', 'link_with = "k.c", stack_size_override = -8 : i32')
    assert error(project, text).startswith("design.mlir:5:5: error: ")
    assert "stack_size_override must be >= 0, got -8" in error(project, text)


@pytest.mark.parametrize("used_before", [True, False])
def test_a_block_defined_twice(project: Project, used_before: bool) -> None:
    first = "cf.br ^a" if used_before else "return"
    text = f"func.func @f() {{\n  {first}\n^a:\n  return\n^a:\n  return\n}}\n"
    assert error(project, text) == "design.mlir:5:1: error: redefinition of block '^a'  [E0002]"


def test_words_changed_at_random(project: Project) -> None:
    """Never a traceback, never silence: a design is built, or refused in words at a place in its text."""
    text = (Path(__file__).parents[2] / "examples" / "one_core" / "design.mlir").read_text()
    words = sorted(set(re.findall(r'[%@^\w."]+|\S', text)))
    words += ["-1", "99999999999", '"', "\\", "memref<4xi8>", "aie.device(npu1)", "dense<0>", "mem_bank = 9 : i32"]
    moves = random.Random(3)
    codes = set[int]()
    for _ in range(120):
        parts = re.findall(r'\s+|[%@^\w."]+|\S', text)
        for _ in range(moves.choice((1, 1, 1, 2, 6))):
            at = moves.randrange(len(parts))
            parts[at] = moves.choice(("", f" {moves.choice(words)} ", parts[at] + f" {moves.choice(words)} "))
        project.write("design.mlir", "".join(parts))
        ended = project.aiecc("design.mlir", "--get=input_with_symbols.mlir", "--output-dir=out")
        assert ended.code in (0, 1), ended.err
        assert (ended.code == 1) == bool(ended.errors) and "Traceback" not in ended.err
        assert all(re.match(r"(design\.mlir:\d+:\d+: )?error: ", e) for e in ended.errors)
        codes.add(ended.code)
    assert codes == {0, 1}
