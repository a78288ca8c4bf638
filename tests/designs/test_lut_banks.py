"""`--check-lut-banks` end to end: kernels as LLVM IR, merged and compiled, gathers traced to linked tables."""

from pathlib import Path

import pytest

from aiecc.testing.kit import Project

pytestmark = pytest.mark.tools

DESIGN = """module {{
  aie.device(npu2) {{
    %tile = aie.tile(0, 2)
    %out = aie.buffer(%tile) {{sym_name = "out"}} : memref<8xi32>
    func.func private @gather(memref<8xi32>) attributes {{{link}}}
    %core = aie.core(%tile) {{
      func.call @gather(%out) : (memref<8xi32>) -> ()
      aie.end
    }}
  }}
}}
"""
MERGED = 'link_with = "gather.ll", link_with_mode = "merge"'

KERNEL = """
@ab = internal constant [16 x i32] [{numbers}], section ".aie.bank{first}", align 64
@cd = internal constant [16 x i32] [{numbers}], section ".aie.bank{second}", align 64

declare <16 x i32> @llvm.aie2p.vsel32(<16 x i32>, <16 x i32>, i32)
declare <8 x i32> @llvm.aie2p.load.4x32.lo(<16 x i32>)

define void @gather(ptr %out) {{
  %a0 = insertelement <16 x i32> poison, i32 ptrtoint (ptr @ab to i32), i64 0
  %a = shufflevector <16 x i32> %a0, <16 x i32> poison, <16 x i32> zeroinitializer
  %b0 = insertelement <16 x i32> poison, i32 ptrtoint (ptr @cd to i32), i64 0
  %b = shufflevector <16 x i32> %b0, <16 x i32> poison, <16 x i32> zeroinitializer
  %s = call <16 x i32> @llvm.aie2p.vsel32(<16 x i32> %a, <16 x i32> %b, i32 43690)
  %r = call <8 x i32> @llvm.aie2p.load.4x32.lo(<16 x i32> %s)
  store <8 x i32> %r, ptr %out
  ret void
}}
"""

# The device has these as instructions; here they only have to link.
INTRINSICS = """typedef int v16 __attribute__((vector_size(64)));
typedef int v8 __attribute__((vector_size(32)));
v16 __aiecc_vsel32(v16 a, v16 b, int mask) { return mask ? a : b; }
v8 __aiecc_load_4x32_lo(v16 at) { v8 r = {*(int *)at[0], *(int *)at[1], *(int *)at[2], *(int *)at[3]}; return r; }
"""


def project(tmp_path: Path, first: int, second: int) -> Project:
    made = Project(tmp_path)
    numbers = ", ".join(f"i32 {n}" for n in range(16))
    made.write("gather.ll", KERNEL.format(numbers=numbers, first=first, second=second))
    made.write("intrinsics.c", INTRINSICS)
    design = DESIGN.format(link=MERGED)
    helper = '    func.func private @__aiecc_vsel32() attributes {link_with = "intrinsics.c"}\n'
    design = design.replace("    %core", helper + "    %core")
    design = design.replace("      aie.end", "      func.call @__aiecc_vsel32() : () -> ()\n      aie.end")
    made.write("design.mlir", design)
    return made


def test_tables_apart_pass(tmp_path: Path) -> None:
    ran = project(tmp_path, 0, 1).aiecc("design.mlir", "--check-lut-banks")
    assert ran.code == 0, ran.err


def test_tables_in_one_bank(tmp_path: Path) -> None:
    made = project(tmp_path, 1, 1)
    assert made.aiecc("design.mlir").code == 0  # the check is opt-in
    ran = made.aiecc("design.mlir", "--check-lut-banks", "--output-dir=checked")
    assert ran.code == 1
    assert (
        "design.mlir:7:13: error: core (0, 2): the aie::lut tables in 'gather' ('ab' and 'cd') are both in memory bank "
        "B. The gather reads them at once, so they must be in different banks" in ran.err
    )
    assert not list(tmp_path.glob("checked/elfs_*"))


def test_an_object_without_ir_is_no_proof(tmp_path: Path) -> None:
    made = project(tmp_path, 0, 1)
    made.object("intrinsics.c", "intrinsics.o")
    made.write("design.mlir", made.read("design.mlir").replace("intrinsics.c", "intrinsics.o"))
    ran = made.aiecc("design.mlir", "--check-lut-banks")
    assert ran.code == 1
    assert (
        "core (0, 2): 'intrinsics.o' carries no readable LLVM IR, so its aie::lut tables cannot be checked. Rebuild "
        'object-linked kernels with embedded LLVM IR, or use link_with_mode = "merge", or drop --check-lut-banks'
        in ran.err
    )


def test_a_prebuilt_core_cannot_be_checked(tmp_path: Path) -> None:
    made = project(tmp_path, 0, 1)
    assert made.aiecc("design.mlir").code == 0
    made.write(
        "prebuilt.mlir",
        """module {
  aie.device(npu2) {
    %tile = aie.tile(0, 2)
    %core = aie.core(%tile) {
      aie.end
    } {elf_file = "elfs_main_core_0_2/elfs_main_core_0_2.elf"}
  }
}
""",
    )
    assert made.aiecc("prebuilt.mlir", "--output-dir=again").code == 0
    ran = made.aiecc("prebuilt.mlir", "--check-lut-banks", "--output-dir=again")
    assert ran.code == 1
    assert "--check-lut-banks cannot verify a prebuilt core elf_file without its compiler IR: elfs_main" in ran.err


def test_chess_ir_cannot_be_checked(tmp_path: Path) -> None:
    ran = project(tmp_path, 0, 1).aiecc("design.mlir", "--check-lut-banks", "--xchesscc", toolchain=None)
    assert ran.code == 2
    assert "aiecc: --check-lut-banks requires Peano compilation and linking; it cannot verify Chess LLVM IR" in ran.err
