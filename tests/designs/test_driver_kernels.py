"""Every kind of link file, end to end: objects, archives, bitcode, merged IR, sources, prebuilt cores."""

import re
import subprocess
from pathlib import Path

import pytest
from elf_facts import llvm_tool, output, symbol_address

from aiecc.testing.kit import Project

EXAMPLES = Path(__file__).parents[2] / "examples"
pytestmark = pytest.mark.tools

KERNEL = """static int calls[4] = {1, 2, 3, 4};
int scale_by(int x);
void kernel(int *out) { out[0] = scale_by(calls[out[1] & 3]); calls[0] += 1; }
"""
HELPER = "int factor = 7; int scale_by(int x) { return x * factor; }\n"
UNUSED = "int never_called(int x) { static int table[999]; return table[x & 511]++; }\n"
DESIGN = """module {{
  aie.device(npu2) {{
    %tile = aie.tile(0, 2)
    %out = aie.buffer(%tile) {{sym_name = "out"}} : memref<16xi32>
    func.func private @kernel(memref<16xi32>) attributes {{{first}}}
    func.func private @scale_by(i32) -> i32 attributes {{{second}}}
    %core = aie.core(%tile) {{
      %c1 = arith.constant 1 : i32
      %c0 = arith.constant 0 : index
      func.call @kernel(%out) : (memref<16xi32>) -> ()
      %r = func.call @scale_by(%c1) : (i32) -> i32
      memref.store %r, %out[%c0] : memref<16xi32>
      aie.end
    }}
  }}
}}
"""


def design(first: str, second: str) -> str:
    return DESIGN.format(first=first, second=second)


@pytest.fixture
def made(tmp_path: Path) -> Project:
    project = Project(tmp_path)
    project.write("kernel.c", KERNEL)
    project.write("helper.c", HELPER)
    project.write("unused.c", UNUSED)
    return project


def symbols(elf: bytes) -> set[str]:
    return {line.split()[-1] for line in output("llvm-nm", data=elf).splitlines()}


def archive(project: Project, name: str, *members: str, thin: bool = False) -> None:
    flags = ["--thin"] if thin else []
    subprocess.run([llvm_tool("llvm-ar"), "rcs", *flags, name, *members], cwd=project.folder, check=True)


def ir(project: Project, source: str, name: str) -> None:
    """A kernel as LLVM IR, or as bitcode, by its suffix: as a user's makefile makes it."""
    options = ("-S", "-emit-llvm") if name.endswith(".ll") else ("-emit-llvm",)
    project.object(source, name, *options)


@pytest.mark.parametrize("kind", ["objects", "sources", "archive", "thin archive", "bitcode", "two names of one file"])
def test_linked(made: Project, kind: str) -> None:
    for name in ("kernel", "helper", "unused"):
        made.object(f"{name}.c")
    first, second = 'link_with = "kernel.o"', 'link_with = "helper.o"'
    if kind == "sources":
        first, second = 'link_with = "kernel.c"', 'link_with = "helper.c"'
    elif kind.endswith("archive"):
        archive(made, "lib.a", "helper.o", "unused.o", thin=kind.startswith("thin"))
        second = 'link_with = "lib.a"'
    elif kind == "bitcode":
        ir(made, "helper.c", "helper.bc")
        second = 'link_with = "helper.bc"'
    elif kind.startswith("two"):
        made.write("sub/kernel.o", (made.folder / "helper.o").read_bytes())
        second = 'link_with = "sub/kernel.o"'
    made.write("design.mlir", design(first, second))
    ran = made.aiecc("design.mlir")
    assert ran.code == 0, ran.err
    found = symbols(made.elf())
    assert {"kernel", "core_0_2", "__start", "_main_init", "out"} <= found
    assert "never_called" not in found
    assert 0x70000 <= symbol_address(made.elf(), "calls") < 0x80000


def test_a_member_of_a_thin_archive_changed(made: Project) -> None:
    for name in ("kernel", "helper"):
        made.object(f"{name}.c")
    archive(made, "lib.a", "helper.o", thin=True)
    made.write("design.mlir", design('link_with = "kernel.o"', 'link_with = "lib.a"'))
    assert made.aiecc("design.mlir").code == 0
    before = made.elf()
    made.write("helper.c", HELPER.replace("7", "9"))
    made.object("helper.c")
    assert made.aiecc("design.mlir").code == 0
    assert made.elf() != before


@pytest.mark.parametrize("file", ["helper.c", "helper.ll", "helper.bc"])
def test_merged(made: Project, file: str) -> None:
    """The kernel becomes part of the core's own code: it is inlined, and nothing is left to link."""
    if file != "helper.c":
        ir(made, "helper.c", file)
    merge = f'link_with = "{file}", link_with_mode = "merge"'
    made.write("design.mlir", design('link_with = "kernel.c"', merge))
    ran = made.aiecc("design.mlir", "--get=elfs_{0}.elf,ldScripts_{0}.ld.script,objects_{0}.o")
    assert ran.code == 0, ran.err
    assert re.findall(r"INPUT\((.*)\)", made.read("ldScripts_main_core_0_2.ld.script")) == ["kernel.c.o"]
    own = symbols((made.folder / "objects_main_core_0_2" / "objects_main_core_0_2.o").read_bytes())
    assert {"scale_by", "factor", "core_0_2"} <= own


def test_text_that_the_linker_would_misread(made: Project) -> None:
    ir(made, "helper.c", "helper.ll")
    made.write("design.mlir", design('link_with = "kernel.c"', 'link_with = "helper.ll"'))
    ran = made.aiecc("design.mlir")
    assert ran.code == 1
    assert (
        "aiecc: link file 'helper.ll' on core (0, 2) is textual LLVM IR, which ld.lld cannot link (it reads "
        'unrecognized inputs as linker scripts and fails with "malformed number"). Add link_with_mode = "merge" to '
        "the kernel declaration so aiecc llvm-links it into the core, or assemble it to bitcode (.bc) or an "
        "object (.o)." in ran.err
    )


def test_a_missing_kernel_says_where_it_was_looked_for(made: Project) -> None:
    made.write("design.mlir", design('link_with = "kernel.c"', 'link_with = "gone.o"'))
    ran = made.aiecc("design.mlir")
    assert ran.code == 1
    assert "design.mlir:6:5: error: aiecc: link file 'gone.o' not found" in ran.err
    assert ran.err.count("note: looked for ") == 2 and str(made.folder / "gone.o") in ran.err


def test_a_kernel_beside_the_design(made: Project) -> None:
    made.write("deep/design.mlir", design('link_with = "kernel.c"', 'link_with = "helper.c"'))
    for name in ("kernel.c", "helper.c"):
        (made.folder / name).rename(made.folder / "deep" / name)
    assert made.aiecc("deep/design.mlir").code == 0


def test_an_undefined_symbol_names_who_wants_it(made: Project) -> None:
    made.write("design.mlir", design('link_with = "kernel.c"', 'link_with = "kernel.c"'))
    ran = made.aiecc("design.mlir")
    assert ran.code == 1 and len(ran.errors) == 1
    assert "scale_by" in ran.err and "kernel.c" in ran.err


def test_equal_cores_share_one_compile(tmp_path: Path) -> None:
    made = Project(tmp_path)
    lines = ["module {", "  aie.device(npu2) {"]
    for row in (2, 3, 4, 5):
        lines += [
            f"    %tile_{row} = aie.tile(0, {row})",
            f'    %own_{row} = aie.buffer(%tile_{row}) {{sym_name = "own_{row}"}} : memref<64xi32>',
            f"    %core_{row} = aie.core(%tile_{row}) {{",
            "      %c0 = arith.constant 0 : index",
            "      %c5 = arith.constant 5 : i32",
            f"      memref.store %c5, %own_{row}[%c0] : memref<64xi32>",
            "      aie.end",
            "    }",
        ]
    made.write("design.mlir", "\n".join([*lines, "  }", "}"]))
    ran = made.aiecc("design.mlir", "-v")
    assert ran.code == 0, ran.err
    compiles = [line for line in ran.out.splitlines() if "exec:" in line and "-o core.o" in line]
    assert len(compiles) == 1
    for row in (2, 3, 4, 5):
        found = symbols(made.elf(f"main_core_0_{row}"))
        assert {f"core_0_{row}", f"own_{row}"} <= found
        assert not {f"core_0_{other}" for other in (2, 3, 4, 5) if other != row} & found


def test_a_prebuilt_core_is_kept_clear_of(tmp_path: Path) -> None:
    made = Project(tmp_path)
    made.copy(EXAMPLES / "prebuilt")
    assert made.aiecc("image.mlir").code == 0
    image = made.elf("main_core_0_3")
    ran = made.aiecc("design.mlir", "--get=input_with_addresses.mlir,elfs_{0}.elf", "--output-dir=o")
    assert ran.code == 0, ran.err
    assert (tmp_path / "o" / "elfs_main_core_0_3" / "elfs_main_core_0_3.elf").read_bytes() == image
    text = made.read("o/input_with_addresses.mlir")
    staging = re.search(r'address = (\d+) : i32, mem_bank = \d+ : i32, sym_name = "staging"', text)
    assert staging
    at = int(staging[1])
    held = [(0, 1024)]
    for line in output("llvm-readelf", "-SW", data=image).splitlines():
        match = re.match(r"\s*\[ *\d+\] \.(?:data|bss|rodata)\S* +\w+ +([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+)", line)
        if match and int(match[2], 16):
            held.append((int(match[1], 16) - 0x70000, int(match[2], 16)))
    assert len(held) >= 3
    for start, size in [*held, (0x4000, 1024), (0x8000, 1024)]:
        assert at + 12288 <= start or start + size <= at, (at, start, size)


def test_bank_example(tmp_path: Path) -> None:
    """Measured banks in the dump, buffers around them, the tables where llvm-nm says they should be."""
    made = Project(tmp_path)
    made.copy(EXAMPLES / "banked_tables")
    ran = made.aiecc("design.mlir", "--get=elfs_{0}.elf,input_with_addresses.mlir,ldScripts_{0}.ld.script")
    assert ran.code == 0, ran.err
    text = made.read("input_with_addresses.mlir")
    # 512 and 1024 words.
    assert text.count("measured_bank_sizes = array<i32: 2048, 4096, 0, 0>") == 4
    for row in (2, 3, 4, 5):
        script = made.read(f"ldScripts_main_core_0_{row}.ld.script")
        region = re.compile(r"bank(\d) \(!RX\) : ORIGIN = 0x([0-9A-F]+), LENGTH = 0x([0-9A-F]+)")
        regions = {int(b): (int(start, 16), int(size, 16)) for b, start, size in region.findall(script)}
        elf = made.elf(f"main_core_0_{row}")
        for symbol, bank, size in (("slope", 0, 2048), ("offset", 1, 4096)):
            at = symbol_address(elf, symbol)
            assert regions[bank] == (at, size)
            assert 0x70000 + bank * 0x4000 <= at and at + size <= 0x70000 + (bank + 1) * 0x4000


@pytest.mark.parametrize(
    ("flag", "gone"), [("--no-measure-data-size", "measured_data"), ("--no-measure-stack-size", "measured_stack_size")]
)
def test_escape_hatches(tmp_path: Path, flag: str, gone: str) -> None:
    made = Project(tmp_path)
    made.write("kernel.c", KERNEL + HELPER)
    made.write("design.mlir", design('link_with = "kernel.c"', 'link_with = "kernel.c"'))
    with_it = made.aiecc("design.mlir", "--get=measured_data_sizes.mlir", "--output-dir=a")
    assert with_it.code == 0 and gone in made.read("a/measured_data_sizes.mlir")
    without = made.aiecc("design.mlir", "--get=measured_data_sizes.mlir", "--output-dir=b", flag)
    assert without.code == 0 and gone not in made.read("b/measured_data_sizes.mlir")
    if gone == "measured_data":
        assert "core_data" in made.read("a/measured_data_sizes.mlir")
        assert "core_data" not in made.read("b/measured_data_sizes.mlir")


def test_an_assumed_stack_is_called_so(tmp_path: Path) -> None:
    made = Project(tmp_path)
    made.copy(EXAMPLES / "one_core")
    made.write("design.mlir", made.read("design.mlir").replace(" {stack_size = 2048 : i32}", ""))
    ran = made.aiecc("design.mlir", "--default-stack-size=512")
    assert ran.code == 1 and "assumed" in ran.err and "512" in ran.err and "1120" in ran.err
    assert made.aiecc("design.mlir", "--default-stack-size=4096").code == 0


def test_data_size_below_what_is_linked(tmp_path: Path) -> None:
    made = Project(tmp_path)
    made.write("kernel.c", KERNEL + HELPER)
    text = design('link_with = "kernel.c"', 'link_with = "kernel.c"')
    # Five words of .data: the table of four, and the factor.
    made.write("design.mlir", text.replace("aie.end\n    }", "aie.end\n    } {data_size = 16 : i32}"))
    ran = made.aiecc("design.mlir")
    assert ran.code == 1
    assert "data_size 16 is smaller than the 20 bytes this core's linked sections occupy" in ran.err
    made.write("design.mlir", text.replace("aie.end\n    }", "aie.end\n    } {data_size = 20 : i32}"))
    assert made.aiecc("design.mlir").code == 0


def test_a_kernel_with_debug_sections(tmp_path: Path) -> None:
    made = Project(tmp_path)
    made.copy(EXAMPLES / "one_core")
    made.object("smooth.c", "smooth.o", "-g")
    made.write("design.mlir", made.read("design.mlir").replace("smooth.c", "smooth.o").replace("= 2048", "= 1024"))
    ran = made.aiecc("design.mlir")
    assert ran.code == 1
    line = (
        made.read("smooth.c").splitlines().index("void smooth(const int32_t *restrict in, int32_t *restrict out) {") + 1
    )
    assert re.search(rf"> smooth: \d+ bytes  smooth\.c:{line}$", ran.err, re.M), ran.err
