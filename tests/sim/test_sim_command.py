"""`aiecc simulate` and the .npy files it reads and writes."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from aiecc.base.diag import Refused
from aiecc.cli.main import main
from aiecc.sim.npy import TYPES, read_npy, write_npy

ONE_CORE = Path(__file__).parents[2] / "examples" / "one_core" / "design.mlir"
MODEL = "def smooth(source, target):\n    target.assign([v + 1 for v in source.tolist()])\n"


def command(*args: object) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["simulate", *map(str, args)])
    return int(ended.value.code or 0)


def array(values: list[int], header: str = "{'descr': '<i4', 'fortran_order': False, 'shape': (%d,), }") -> bytes:
    """A .npy file by the format's description: magic, version, header length, header, elements."""
    text = (header % len(values) if "%d" in header else header).encode()
    text += b" " * (-(10 + len(text) + 1) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + struct.pack(f"<{len(values)}i", *values)


def test_one_core_from_file_to_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "in.npy").write_bytes(array(list(range(512))))
    (tmp_path / "model.py").write_text(MODEL)
    status = command(
        ONE_CORE, "--in", f"in={tmp_path / 'in.npy'}", "--out", "out=2048", "--out", f"out={tmp_path / 'out.npy'}",
        "--kernels", tmp_path / "model.py", "--seed", 5,
    )  # fmt: skip
    assert status == 0, capsys.readouterr()
    assert (tmp_path / "out.npy").read_bytes() == array([v + 1 for v in range(512)])
    assert "finished after" in capsys.readouterr().out


def test_a_run_that_gets_stuck_says_who_waits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "in.bin").write_bytes(bytes(1024))
    (tmp_path / "model.py").write_text(MODEL)
    args = ["--in", f"0:0={tmp_path / 'in.bin'}", "--out", "out=2048", "--kernels", tmp_path / "model.py"]
    assert command(ONE_CORE, *args) == 1
    said = capsys.readouterr().out
    assert said.startswith("stuck after ")
    assert "missing: out got 1024 of 2048 bytes" in said
    assert f"{ONE_CORE}:36:9: core (0, 2) waits for lock in_full to reach 1 (it is 0)" in said


@pytest.mark.parametrize(
    ("args", "text"),
    [
        ([], "wants one design"),
        (["nowhere.mlir"], "nowhere.mlir cannot be read"),
        ([ONE_CORE, "--in", "in"], "'in' is not NAME=FILE"),
        ([ONE_CORE, "--in", "in=nowhere.npy"], "nowhere.npy cannot be read"),
        ([ONE_CORE, "--dtype", "int3"], "--dtype int3 is not one of int8"),
        ([ONE_CORE, "--kernels", "nowhere.py"], "nowhere.py cannot be used: FileNotFoundError"),
        ([ONE_CORE], "calls @smooth, whose code is not in the design"),
        ([ONE_CORE, "--seed=-1"], "non-negative"),
    ],
)
def test_what_the_user_gets_wrong_is_said(args: list[object], text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(*args) in (1, 2)
    assert text in capsys.readouterr().err


@pytest.mark.parametrize("type", TYPES)
def test_arrays_come_back_as_they_went(type: str, tmp_path: Path) -> None:
    file = tmp_path / "a.npy"
    write_npy(file, bytes(range(48)), type)
    whole = file.read_bytes()
    assert read_npy(file) == bytes(range(48))
    assert (len(whole) - 48) % 64 == 0
    assert f"'shape': ({48 // int(TYPES[type][2:])},)".encode() in whole


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no array at all",
        array([1, 2], "{'descr': '>i4', 'fortran_order': False, 'shape': (%d,), }"),
        array([1, 2], "{'descr': '<i4', 'fortran_order': True, 'shape': (2, 1), }"),
        array([1, 2], "{'descr': '|O', 'fortran_order': False, 'shape': (%d,), }"),
        array([1, 2], "{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (%d,), }"),
        array([1, 2], "{'shape': (2,)}"),
        array([1, 2], "import os"),
    ],
)
def test_arrays_that_are_none_are_refused(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "a.npy"
    file.write_bytes(content)
    with pytest.raises(Refused):
        read_npy(file)


FIFOS = """
aie.device(npu2) {
  %s = aie.tile(0, 0)
  %m = aie.tile(0, 1)
  %c = aie.tile(0, 2)
  aie.objectfifo @in(%s, {%m}, 2 : i32) : !aie.objectfifo<memref<32xi32>>
  aie.objectfifo @rows(%m, {%c}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
  aie.objectfifo.link [@in] -> [@rows] ([] [])
  aie.objectfifo @out(%c, {%s}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
  %core = aie.core(%c) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %many = arith.constant 2147483647 : index
    %ten = arith.constant 10 : i32
    scf.for %i = %c0 to %many step %c1 {
      %a = aie.objectfifo.acquire @rows(Consume, 1) : memref<16xi32>
      %b = aie.objectfifo.acquire @out(Produce, 1) : memref<16xi32>
      scf.for %j = %c0 to %c16 step %c1 {
        %v = memref.load %a[%j] : memref<16xi32>
        %w = arith.addi %v, %ten : i32
        memref.store %w, %b[%j] : memref<16xi32>
      }
      aie.objectfifo.release @rows(Consume, 1)
      aie.objectfifo.release @out(Produce, 1)
    }
    aie.end
  }
}
"""


@pytest.mark.parametrize("suffix", ["", "_shim_alloc"])
def test_fifos_are_lowered_first_and_their_names_are_ends(
    suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "design.mlir").write_text(FIFOS)
    (tmp_path / "in.npy").write_bytes(array(list(range(96))))
    status = command(
        tmp_path / "design.mlir", "--in", f"in{suffix}={tmp_path / 'in.npy'}",
        "--out", f"out{suffix}=384", "--out", f"out{suffix}={tmp_path / 'out.npy'}", "--seed", 3,
    )  # fmt: skip
    said = capsys.readouterr()
    assert status == 0, said
    assert (tmp_path / "out.npy").read_bytes() == array([v + 10 for v in range(96)])
    assert "pool out: " in said.out


def test_fifos_that_cannot_be_lowered_are_told_as_ever(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # Without the link nobody takes what comes in, and nothing is there for the core.
    (tmp_path / "design.mlir").write_text(FIFOS.replace("aie.objectfifo.link [@in] -> [@rows] ([] [])", ""))
    assert command(tmp_path / "design.mlir") == 1
    said = capsys.readouterr().err
    assert f"{tmp_path / 'design.mlir'}:6:3: error: 'aie.objectfifo.pool' op segment 0 has no drainer" in said
    assert f"{tmp_path / 'design.mlir'}:7:3: error: 'aie.objectfifo.pool' op segment 0 has no filler" in said


def test_a_core_that_runs_for_ever_is_done_when_the_input_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It waits for more, which is all it can do; one that counts its rounds and misses some is stuck."""
    (tmp_path / "in.npy").write_bytes(array(list(range(96))))
    ends = ["--in", f"in={tmp_path / 'in.npy'}", "--out", f"out={tmp_path / 'out.npy'}"]
    (tmp_path / "design.mlir").write_text(FIFOS)
    assert command(tmp_path / "design.mlir", *ends) == 0
    assert (tmp_path / "out.npy").read_bytes() == array([v + 10 for v in range(96)])
    (tmp_path / "design.mlir").write_text(FIFOS.replace("constant 2147483647 ", "constant 7 "))
    capsys.readouterr()
    assert command(tmp_path / "design.mlir", *ends) == 1
    assert "stuck after" in capsys.readouterr().out


ACROSS = """
module {
  aie.device(npu2) {
    %0 = aie.tile(0, 0)
    %1 = aie.tile(0, 1)
    aie.objectfifo @in(%0, {%1}, 2 : i32) : !aie.objectfifo<memref<8xELEMENT>>
    aie.objectfifo @out(%1, {%0}, 2 : i32) : !aie.objectfifo<memref<8xELEMENT>>
    aie.objectfifo.link [@in] -> [@out] ([] [])
    aie.runtime_sequence @copy(%a: memref<2x4xELEMENT>, %b: memref<2x4xELEMENT>) {
      %t = aiex.dma_configure_task_for @in {
        aie.dma_bd(%a : memref<2x4xELEMENT>, 0, 8)
        aie.end
      }
      %u = aiex.dma_configure_task_for @out {
        aie.dma_bd(%b : memref<2x4xELEMENT>, 0, 8)
        aie.end
      } {issue_token = true}
      aiex.dma_start_task(%t)
      aiex.dma_start_task(%u)
      aiex.dma_await_task(%u)
    }
  }
}
"""


@pytest.mark.parametrize(
    ("element", "type"),
    [("i8", "int8"), ("ui16", "uint16"), ("bf16", "uint16"), ("f32", "float32"), ("i64", "int64")],
)
def test_outputs_have_the_elements_of_the_design(element: str, type: str, tmp_path: Path) -> None:
    (tmp_path / "a.mlir").write_text(ACROSS.replace("ELEMENT", element))
    sent = np.arange(8, dtype=type).reshape(2, 4)
    np.save(tmp_path / "in.npy", sent)
    size = f"out={sent.nbytes}"
    out = tmp_path / "out.npy"
    given = ("--in", f"in={tmp_path / 'in.npy'}", "--out", size, "--out", f"out={out}")
    assert command(tmp_path / "a.mlir", *given) == 0
    assert np.load(out).dtype == sent.dtype and (np.load(out) == sent.ravel()).all()
    assert command(tmp_path / "a.mlir", *given, "--dtype", "uint8") == 0
    assert np.load(out).dtype == np.uint8
    host = ("--arg", f"0={tmp_path / 'in.npy'}", "--arg", f"1={out}")
    out.unlink()
    assert command(tmp_path / "a.mlir", *host) == 0
    assert np.load(out).dtype == sent.dtype and (np.load(out) == sent).all()
    out.unlink()
    assert command(tmp_path / "a.mlir", *host, "--dtype", "uint8") == 0
    assert np.load(out).tobytes() == sent.tobytes() and np.load(out).dtype == np.uint8


def test_what_lowering_warns_of_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.mlir"
    file.write_text("""aie.device(npu2) {
  %a = aie.tile(0, 2)
  %b = aie.tile(0, 3)
  aie.objectfifo @f(%a, {%b}, 2 : i32) {iter_count = 2 : i32} : !aie.objectfifo<memref<4xi32>>
  %ac = aie.core(%a) {
    %o = aie.objectfifo.acquire @f (Produce, 1) : memref<4xi32>
    aie.objectfifo.release @f (Produce, 1)
    aie.end
  }
  %bc = aie.core(%b) {
    %o = aie.objectfifo.acquire @f (Consume, 1) : memref<4xi32>
    aie.objectfifo.release @f (Consume, 1)
    aie.end
  }
}
""")
    assert command(file) == 0
    said = capsys.readouterr()
    assert said.out.startswith("finished")
    assert f"{file}:4:3: warning: `iter_count` has no effect" in said.err
