"""`aiecc simulate --arg`: sequences from files to files."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from hostsim import PASS, device, line_of, sequence, task, words

from aiecc.cli.main import main
from aiecc.sim.npy import read_npy, write_npy

ALL = "issue_token = true"
ARGS = "%a: memref<8x8xi32>, %b: memref<16x8xi16>, %c: memref<4xi32>"


def command(*args: object) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["simulate", *map(str, args)])
    return int(ended.value.code or 0)


@pytest.fixture
def design(tmp_path: Path) -> Path:
    copy = task("t", "in", "%a : memref<8x8xi32> offset = 0 len = 64")
    copy += task("u", "out", "%b : memref<16x8xi16> offset = 0 len = 128", ALL) + "\n    aiex.dma_await_task(%u)"
    inside = task("t", "in", "%a : memref<8x8xi32> offset = 0 len = 32")
    inside += task("u", "out", "%a : memref<8x8xi32> offset = 32 len = 32", ALL) + "\n    aiex.dma_await_task(%u)"
    stuck = task("u", "out", "%a : memref<8x8xi32> offset = 0 len = 64", ALL) + "\n    aiex.dma_await_task(%u)"
    more = sequence(ARGS, inside).replace("@run", "@inside") + sequence(ARGS, stuck).replace("@run", "@stuck")
    file = tmp_path / "design.mlir"
    file.write_text(device(PASS + sequence(ARGS, copy) + more))
    write_npy(tmp_path / "in.npy", words(*range(64)), "int32", (8, 8))
    return file


def test_from_file_to_file(design: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, target = tmp_path / "in.npy", tmp_path / "out.npy"
    before = source.read_bytes()
    assert command(design, "--seq", "run", "--arg", f"0={source}", "--arg", f"1={target}") == 0
    said = capsys.readouterr().out
    assert said.startswith("finished after ")
    assert "note: sequence run finished\n" in said
    assert said.endswith(f"argument 1: 256 bytes written to {target}\n")
    assert source.read_bytes() == before
    assert read_npy(target) == words(*range(64))
    assert b"'descr': '<i2', 'fortran_order': False, 'shape': (16, 8)" in target.read_bytes()


def test_the_first_sequence_without_a_name(design: Path, tmp_path: Path) -> None:
    assert command(design, "--arg", f"0={tmp_path / 'in.npy'}", "--arg", f"1={tmp_path / 'out.bin'}") == 0
    assert (tmp_path / "out.bin").read_bytes() == words(*range(64))


def test_what_was_read_is_written_back_where_the_sequence_wrote_it(design: Path, tmp_path: Path) -> None:
    source, other = tmp_path / "in.npy", tmp_path / "other.npy"
    assert command(design, "--seq", "inside", "--arg", f"0={source}", "--arg-out", f"0={other}") == 0
    assert read_npy(source) == words(*range(64))
    assert read_npy(other) == words(*range(32), *range(32))
    assert command(design, "--seq", "inside", "--arg", f"0={source}") == 0
    assert read_npy(source) == words(*range(32), *range(32))
    assert b"'shape': (8, 8)" in source.read_bytes()


def test_a_sequence_that_gets_stuck(design: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(design, "--seq", "stuck") == 1
    said = capsys.readouterr().out
    assert said.startswith("stuck after ")
    assert "missing: sequence stuck has not reached its end\n" in said
    line = line_of(design.read_text(), "dma_await_task", last=True)
    assert f"{design}:{line}:5: sequence stuck waits for a token of S2MM 0 of tile (0, 0)\n" in said


def test_what_has_no_file_is_said(design: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(design, "--arg", f"0={tmp_path / 'in.npy'}") == 0
    assert "argument 1: written, but no --arg 1=FILE says where to\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (["--arg", "0"], "'0' is not N=FILE"),
        (["--arg", "x=in.npy"], "'x=in.npy' is not N=FILE"),
        (["--arg", "3=in.npy"], "sequence run has 3 arguments; there is no number 3"),
        (["--arg", "0=a", "--arg", "0=b"], "argument 0 is given twice"),
        (["--seq", "other"], "No such runtime sequence: other"),
        (["--seq", "run", "--in", "in=in.npy"], "--in and --out do not go with --arg and --seq"),
        (["--arg", "2={tmp}/in.npy"], "argument 2 of sequence run has 16 bytes, not 256"),
    ],
)
def test_what_the_user_gets_wrong_is_said(
    args: list[str], text: str, design: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x.npy").write_bytes(struct.pack("<4i", *range(4)))
    if "--in" in args:
        args = [*args[:-1], f"in={tmp_path / 'in.npy'}"]
    assert command(design, *[a.replace("{tmp}", str(tmp_path)) for a in args]) in (1, 2)
    assert text in capsys.readouterr().err


@pytest.mark.parametrize("name", ["passthrough", "transpose", "columns", "five_buffers", "vector_scale"])
def test_examples(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = Path(__file__).parents[2] / "examples" / name
    inputs = {
        "passthrough": [range(4096)], "transpose": [range(2048)], "columns": [range(1024)],
        "five_buffers": [range(512), range(0, 1024, 2), range(512, 0, -1), [7] * 512],
        "vector_scale": [range(4096), [3]],
    }[name]  # fmt: skip
    args: list[object] = []
    for number, values in enumerate(inputs):
        write_npy(tmp_path / f"{number}.npy", words(*values), "int32")
        args += ["--arg", f"{number}={tmp_path / f'{number}.npy'}"]
    args += ["--arg", f"{len(inputs)}={tmp_path / 'out.npy'}", "--seq", "run"]
    if (folder / "scale.py").exists():
        args += ["--kernels", folder / "scale.py"]
    assert command(folder / "design.mlir", *args) == 0, capsys.readouterr().out
    got = list(struct.unpack(f"<{len(read_npy(tmp_path / 'out.npy')) // 4}i", read_npy(tmp_path / "out.npy")))
    first = list(inputs[0])
    expected = {
        "passthrough": lambda: first,
        "transpose": lambda: [first[32 * row + column] for column in range(32) for row in range(64)],
        "columns": lambda: [v + i // (len(first) // 4) + 1 for i, v in enumerate(first)],
        "five_buffers": lambda: [sum(values) for values in zip(*inputs, strict=True)],
        "vector_scale": lambda: [3 * v for v in first],
    }[name]()
    assert got == expected
