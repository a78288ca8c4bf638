"""Designs with objectFifos through the whole driver: ELFs, the IR after each pass, options, refusals."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from aiecc.model.recipe import FIFO_PASSES
from aiecc.testing.kit import Project

EXAMPLES = Path(__file__).parents[2] / "examples"


def example(tmp_path: Path, name: str) -> Project:
    made = Project(tmp_path)
    made.copy(EXAMPLES / name)
    return made


@pytest.mark.tools
def test_the_sliding_window_is_built(tmp_path: Path) -> None:
    made = example(tmp_path, "sliding_window")
    ran = made.aiecc("design.mlir", "--get=elfs_{0}.elf,measured_stack_sizes.mlir,llvmIR_{0}.ll")
    assert ran.code == 0, ran.err
    assert made.elf()[:4] == b"\x7fELF"
    # For ever is 2^63 - 1 rounds: a loop that counted in words would never run.
    assert "9223372036854775807" in made.read("llvmIR_main_core_0_2.ll")
    # Three rows at a time and one more coming; two results.
    text = made.read("measured_stack_sizes.mlir")
    assert len(re.findall(r'sym_name = "rows_cons_buff_\d"', text)) == 4
    assert len(re.findall(r'sym_name = "blurred_buff_\d"', text)) == 2


def test_the_design_after_each_pass(tmp_path: Path) -> None:
    made = example(tmp_path, "sliding_window")
    names = [f"after_{name}.mlir" for name in FIFO_PASSES]
    ran = made.aiecc("design.mlir", f"--get={','.join(names)},input_with_symbols.mlir")
    assert ran.code == 0, ran.err
    texts = dict(zip(FIFO_PASSES, map(made.read, names), strict=True))
    assert "aie.objectfifo.pool @rows_cons_pool" in texts["aie-objectfifo-split"]
    assert "aie.objectfifo @rows" not in texts["aie-objectfifo-split"]
    assert texts["aie-objectfifo-verify"] == texts["aie-objectfifo-split"]
    assert "aie.lock" not in texts["aie-assign-packet-ids"]
    assert "@rows_cons_prod_lock_0" in texts["aie-objectfifo-allocate"]
    assert "aie.dma_bd" not in texts["aie-objectfifo-allocate"]
    assert "aie.dma_bd" in texts["aie-objectfifo-lower-dmas"]
    assert "aie.objectfifo.acquire" in texts["aie-objectfifo-lower-dmas"]
    assert "aie.objectfifo.acquire" not in texts["aie-objectfifo-lower-cores"]
    assert "aie.objectfifo.pool" in texts["aie-objectfifo-lower-cores"]
    assert "aie.objectfifo.pool" not in texts["aie-objectfifo-erase-pools"]
    assert "aie.unroll_hint" not in texts["aie-objectFifo-unroll"]


def test_views_of_a_design_without_fifos(tmp_path: Path) -> None:
    """Passes that had nothing to do change nothing."""
    made = example(tmp_path, "one_core")
    ran = made.aiecc("design.mlir", "--get=after_aie-objectfifo-split.mlir,after_aie-objectFifo-unroll.mlir")
    assert ran.code == 0, ran.err
    assert made.read("after_aie-objectfifo-split.mlir") == made.read("after_aie-objectFifo-unroll.mlir")


def test_dynamic_and_static_cores(tmp_path: Path) -> None:
    """Dynamic: the loop stays, objects rotate in slots. Static: rounds are written out, objects are named."""
    made = example(tmp_path, "sliding_window")
    texts = {}
    for option in ("--dynamic-objFifos", "--no-dynamic-objFifos", "--dynamic-objFifos=false"):
        ran = made.aiecc("design.mlir", "--get=input_with_symbols.mlir", option)
        assert ran.code == 0, ran.err
        texts[option] = made.read("input_with_symbols.mlir")
    rolled, unrolled, same = texts.values()
    assert unrolled == same
    assert rolled.count("func.call @blur") == 3
    assert unrolled.count("func.call @blur") > 3


def test_packet_switched(tmp_path: Path) -> None:
    made = example(tmp_path, "sliding_window")
    ran = made.aiecc("design.mlir", "--get=input_with_symbols.mlir", "--packet-sw-objFifos")
    assert ran.code == 0, ran.err
    text = made.read("input_with_symbols.mlir")
    assert "aie.flow(" not in text
    assert sorted(re.findall(r"aie\.packet_flow\((\d+)\)", text)) == ["0", "1", "2"]


ONE_ENDED = """
aie.device(npu2) {
  %a = aie.tile(0, 2)
  %b = aie.tile(2, 2)
  aie.objectfifo @f(%a, {%b}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
}
"""


def test_an_end_programmed_by_hand(tmp_path: Path) -> None:
    made = Project(tmp_path)
    made.write("design.mlir", ONE_ENDED)
    ran = made.aiecc("design.mlir", "--get=input_with_symbols.mlir")
    assert ran.code == 1 and "segment 0 has no filler" in ran.err
    assert re.search(r"design\.mlir:5:3: error", ran.err)
    ran = made.aiecc("design.mlir", "--get=input_with_symbols.mlir", "--skip-objectFifo-verify", "--hang-check=off")
    assert ran.code == 0, ran.err


def test_fifos_in_affine_loops(tmp_path: Path) -> None:
    made = Project(tmp_path)
    body = "%o = aie.objectfifo.acquire @f({port}, 1) : memref<16xi32>\naie.objectfifo.release @f({port}, 1)"
    cores = "\n".join(
        f"%{tile}c = aie.core(%{tile}) {{\naffine.for %i = 0 to 8 {{\n{body.replace('{port}', port)}\n}}\naie.end\n}}"
        for tile, port in (("a", "Produce"), ("b", "Consume"))
    )
    made.write("design.mlir", ONE_ENDED.rstrip().removesuffix("}") + cores + "\n}\n")
    ran = made.aiecc("design.mlir", "--get=input_with_symbols.mlir")
    assert ran.code == 0, ran.err
    text = made.read("input_with_symbols.mlir")
    assert "affine" not in text and text.count("scf.for") == 2
    looped = made.read("design.mlir")
    made.write(
        "design.mlir", looped.replace("affine.for %i = 0 to 8", "affine.if affine_set<() : (0 >= 0)>()")
    )  # fmt: skip
    ran = made.aiecc("design.mlir", "--get=input_with_symbols.mlir")
    assert ran.code == 0, ran.err
    assert "affine" not in made.read("input_with_symbols.mlir")


def test_fifos_in_loops_that_no_count_gets_out_of(tmp_path: Path) -> None:
    made = Project(tmp_path)
    core = """%ac = aie.core(%a) {
    scf.forall (%i) in (8) {
      %o = aie.objectfifo.acquire @f(Produce, 1) : memref<16xi32>
      aie.objectfifo.release @f(Produce, 1)
    }
    aie.end
  }"""
    other = core.replace("(%a)", "(%b)").replace("%ac", "%bc").replace("Produce", "Consume")
    made.write("design.mlir", ONE_ENDED.rstrip().removesuffix("}") + core + other + "\n}\n")
    ran = made.aiecc("design.mlir", "--get=input_with_symbols.mlir")
    assert ran.code == 1 and ran.err.count("objectFifo bookkeeping slot could not be promoted to SSA") == 2
    assert ran.err.count("note: no count can be carried into and out of this 'scf.forall'") == 2


HANG = """
aie.device(npu2) {
  %a = aie.tile(0, 2)
  %b = aie.tile(0, 3)
  aie.objectfifo @there(%a, {%b}, 1 : i32) : !aie.objectfifo<memref<16xi32>>
  aie.objectfifo @back(%b, {%a}, 1 : i32) : !aie.objectfifo<memref<16xi32>>
  %ac = aie.core(%a) {
    %x = aie.objectfifo.acquire @back(Consume, 1) : memref<16xi32>
    %y = aie.objectfifo.acquire @there(Produce, 1) : memref<16xi32>
    aie.objectfifo.release @there(Produce, 1)
    aie.objectfifo.release @back(Consume, 1)
    aie.end
  }
  %bc = aie.core(%b) {
    %x = aie.objectfifo.acquire @there(Consume, 1) : memref<16xi32>
    %y = aie.objectfifo.acquire @back(Produce, 1) : memref<16xi32>
    aie.objectfifo.release @back(Produce, 1)
    aie.objectfifo.release @there(Consume, 1)
    aie.end
  }
}
"""


def test_a_design_that_must_get_stuck(tmp_path: Path) -> None:
    made = Project(tmp_path)
    made.write("design.mlir", HANG)
    get = "--get=input_with_symbols.mlir"
    ran = made.aiecc("design.mlir", get)
    assert ran.code == 1 and len(ran.errors) == 1
    assert re.search(r"design\.mlir:8:10: error: this design must get stuck: core \(0, 2\) waits .*@back", ran.err), (
        ran.err
    )
    assert "design.mlir:15:10: note: core (0, 3) waits" in ran.err
    ran = made.aiecc("design.mlir", get, "--hang-check=warn")
    assert ran.code == 0 and "warning: this design must get stuck" in ran.err
    ran = made.aiecc("design.mlir", get, "--hang-check=off")
    assert ran.code == 0 and "stuck" not in ran.err


def test_undecided_is_said_with_v_only(tmp_path: Path) -> None:
    """Whether the object is taken depends on data: nothing is guessed."""
    made = Project(tmp_path)
    text = (
        HANG.replace(
            "    %x = aie.objectfifo.acquire @back(Consume, 1) : memref<16xi32>\n    %y",
            "    %n = aie.buffer(%a) : memref<1xi32>\n    %c0 = arith.constant 0 : index\n"
            "    %v = memref.load %n[%c0] : memref<1xi32>\n    %z = arith.constant 0 : i32\n"
            "    %t = arith.cmpi eq, %v, %z : i32\n    scf.if %t {\n"
            "      %x = aie.objectfifo.acquire @back(Consume, 1) : memref<16xi32>\n    }\n    %y",
        )
        .replace("    %n = aie.buffer(%a) : memref<1xi32>\n", "")
        .replace("  %ac = aie.core", "  %n = aie.buffer(%a) : memref<1xi32>\n  %ac = aie.core")
    )
    made.write("design.mlir", text.replace("    aie.objectfifo.release @back(Consume, 1)\n", ""))
    get = "--get=input_with_symbols.mlir"
    ran = made.aiecc("design.mlir", get)
    assert ran.code == 0 and "decided" not in ran.err, ran.err
    ran = made.aiecc("design.mlir", get, "-v")
    assert ran.code == 0
    assert "remark: whether this design can get stuck is not decided" in ran.err + ran.out


@pytest.mark.tools
def test_the_array_with_fifos(tmp_path: Path) -> None:
    made = example(tmp_path, "array_fifos")
    ran = made.aiecc("design.mlir", "--get=input_with_addresses.mlir")
    assert ran.code == 0, ran.err
    text = made.read("input_with_addresses.mlir")
    # A column: data in and out, coefficients in and to four cores, four sums in and their join out. Data goes from
    # core to core through shared memory.
    assert text.count("aie.flow(") == 8 * (2 + 1 + 4 + 4 + 1)
    assert text.count("aie.core(") == 32


HANGS = Path(__file__).parent / "hangs"
STUCK = sorted(p.stem for p in HANGS.glob("*.mlir") if not p.stem.endswith("_repaired"))


@pytest.mark.parametrize("name", STUCK)
def test_designs_that_hang_are_refused(tmp_path: Path, name: str) -> None:
    """What each waits for is under test beside the check itself; here, that no build gets past it."""
    made = Project(tmp_path)
    made.copy(HANGS)
    ran = made.aiecc(f"{name}.mlir")
    assert ran.code == 1 and len(ran.errors) == 1, ran.err
    assert re.search(rf"{name}\.mlir:\d+:\d+: error: this design must get stuck: core .*\[E1101\]", ran.err), ran.err
    assert not list(made.folder.glob("elfs_*"))


@pytest.mark.tools
@pytest.mark.parametrize("name", STUCK)
def test_their_repaired_twins_are_built(tmp_path: Path, name: str) -> None:
    made = Project(tmp_path)
    made.copy(HANGS)
    ran = made.aiecc(f"{name}_repaired.mlir")
    assert ran.code == 0, ran.err
    assert list(made.folder.glob("elfs_*/*.elf"))


@pytest.mark.parametrize(
    ("ends", "more", "said"),
    [
        (
            "%a, {%b dimensionsFromStream [<size = 4, stride = 8>, <size = 4, stride = 1>]}",
            "",
            "'aie.objectfifo.dma_endpoint' op dimensions entry 0 exceeds selected segment 's0' of size 16",
        ),
        (
            "%a dimensionsToStream [<size = 4, stride = 0>, <size = 4, stride = 1>], {%b}",
            "",
            "'aie.dma_bd' op Invalid step size; must be a positive integer.",
        ),
        (
            "%a dimensionsToStream [<size = 16, stride = 1>], {%b}",
            "padDimensions = #aie<bd_pad_layout_array[<const_pad_before = 1, const_pad_after = 0>]>",
            "'aie.dma_bd' op Padding is only supported by memtile dma bds.",
        ),
        ("%a, {%b}", "repeat_count = 17 : i32", "needs 34 buffer descriptors"),
    ],
)
def test_what_no_dma_can_do_is_refused_at_the_fifo(tmp_path: Path, ends: str, more: str, said: str) -> None:
    """The author's numbers are only known to be impossible once descriptors are made of them."""
    made = Project(tmp_path)
    cores = "\n".join(
        f"  %{tile}c = aie.core(%{tile}) {{\n    %o = aie.objectfifo.acquire @f({port}, 1) : memref<16xi32>\n"
        f"    aie.objectfifo.release @f({port}, 1)\n    aie.end\n  }}"
        for tile, port in (("a", "Produce"), ("b", "Consume"))
    )
    made.write(
        "design.mlir",
        "aie.device(npu2) {\n  %a = aie.tile(0, 2)\n  %b = aie.tile(0, 3)\n"
        f"  aie.objectfifo @f({ends}, 2 : i32) {{{more}}} : !aie.objectfifo<memref<16xi32>>\n{cores}\n}}\n",
    )
    ran = made.aiecc("design.mlir", "--get=input_with_symbols.mlir")
    assert ran.code == 1 and said in ran.err
    assert re.search(r"design\.mlir:4:3: error", ran.err) and ran.err.count("error:") == 1
