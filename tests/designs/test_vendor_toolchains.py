"""Whole builds with Peano and Chess: stand-ins check every argument list and let the portable tools work."""

from pathlib import Path

import pytest
from elf_facts import symbol_address

from aiecc.testing.kit import Ended, Project
from aiecc.testing.standins import Standin, make_aietools, make_peano

EXAMPLES = Path(__file__).parents[2] / "examples"
pytestmark = pytest.mark.tools


@pytest.fixture
def one_core(tmp_path: Path) -> Project:
    made = Project(tmp_path / "project")
    made.copy(EXAMPLES / "one_core")
    return made


def good(ran: Ended, *vendors: Standin) -> None:
    assert ran.code == 0, ran.err
    for vendor in vendors:
        assert vendor.log and not vendor.problems, vendor.problems


@pytest.mark.parametrize("level", ["0", "1", "2", "3"])
def test_peano(one_core: Project, tmp_path: Path, level: str) -> None:
    peano = make_peano(tmp_path / "peano")
    ran = one_core.aiecc("design.mlir", f"--peano={peano.folder}", f"-O{level}", toolchain=None)
    good(ran, peano)
    assert "portable" not in ran.err
    called = [call["tool"] for call in peano.log if "--version" not in call["args"]]
    # The kernel; the core through opt and llc; the probe and the real link.
    assert sorted(called) == sorted(["clang", "opt", "llc", "clang", "clang"])


def test_peano_measures_and_places(one_core: Project, tmp_path: Path) -> None:
    peano = make_peano(tmp_path / "peano")
    one_core.copy(EXAMPLES / "banked_tables")
    ran = one_core.aiecc(
        "design.mlir", f"--peano={peano.folder}", "--get=elfs_{0}.elf,input_with_addresses.mlir", toolchain=None
    )
    good(ran, peano)
    assert "measured_bank_sizes = array<i32: 2048, 4096, 0, 0>" in one_core.read("input_with_addresses.mlir")
    elf = one_core.elf()
    assert 0x70000 <= symbol_address(elf, "slope") < 0x74000 <= symbol_address(elf, "offset") < 0x78000


def test_chess_compiles_and_links(one_core: Project, tmp_path: Path) -> None:
    chess = make_aietools(tmp_path / "aietools")
    ran = one_core.aiecc(
        "design.mlir", f"--aietools={chess.folder}", "--xchesscc", "--get=elfs_{0}.elf,{0}.bcf,linkwith_{0}.txt",
        toolchain=None,
    )  # fmt: skip
    good(ran, chess)
    assert "retains no relocations, so its call graph is unavailable" in ran.err
    assert "stack_size is not being validated for this core" in ran.err
    bcf = one_core.read("main_core_0_2.bcf")
    assert "_stack DM_stack 0x70000 0x800 // stack for core" in bcf and "_resolve _main core_0_2" in bcf
    assert one_core.read("linkwith_main_core_0_2.txt").strip().endswith("smooth.c")


@pytest.mark.parametrize(
    ("flags", "compiles", "links"),
    [(("--xchesscc", "--xbridge=false"), "chess", "peano"), (("--xchesscc=false", "--xbridge"), "peano", "chess")],
)
def test_half_chess(one_core: Project, tmp_path: Path, flags: tuple[str, ...], compiles: str, links: str) -> None:
    peano, chess = make_peano(tmp_path / "peano"), make_aietools(tmp_path / "aietools")
    ran = one_core.aiecc("design.mlir", f"--peano={peano.folder}", f"--aietools={chess.folder}", *flags, toolchain=None)
    good(ran, peano, chess)
    linker, compiler = (peano, chess) if links == "peano" else (chess, peano)
    assert any("-o" in c["args"] and "core.elf" in c["args"] for c in linker.log)
    assert any("core.o" in c["args"] for c in compiler.log)


def test_chess_refuses_merged_kernels(one_core: Project, tmp_path: Path) -> None:
    chess = make_aietools(tmp_path / "aietools")
    text = one_core.read("design.mlir").replace('"smooth.c"', '"smooth.c", link_with_mode = "merge"')
    one_core.write("design.mlir", text)
    ran = one_core.aiecc("design.mlir", f"--aietools={chess.folder}", "--xchesscc", toolchain=None)
    assert ran.code == 1
    assert (
        'aiecc: --xchesscc cannot consume merge-mode link artifacts (link_with_mode = "merge"): the Chess front-end '
        "cannot llvm-link them into the core. Offending link_with entries:" in ran.err
    )
    assert "smooth.c" in ran.err


@pytest.mark.parametrize("chess", [True, False])
def test_a_stack_outside_bank_a(one_core: Project, tmp_path: Path, chess: bool) -> None:
    """With Chess never; with Peano only without separately compiled files, as merged IR."""
    text = one_core.read("design.mlir").replace(
        "stack_size = 2048 : i32", "stack_bank = 1 : i32, stack_size = 2048 : i32"
    )
    one_core.write("design.mlir", text)
    vendor = make_aietools(tmp_path / "v") if chess else make_peano(tmp_path / "v")
    flags = (f"--aietools={vendor.folder}", "--xchesscc") if chess else (f"--peano={vendor.folder}",)
    ran = one_core.aiecc("design.mlir", *flags, toolchain=None)
    assert ran.code == 1
    assert "a stack outside memory bank A requires Peano compilation with no separately compiled link_files" in ran.err
    if not chess:
        one_core.write("design.mlir", text.replace('"smooth.c"', '"smooth.c", link_with_mode = "merge"'))
        ran = one_core.aiecc("design.mlir", *flags, "--get=input_with_addresses.mlir,elfs_{0}.elf", toolchain=None)
        good(ran, vendor)
        assert "stack_address = 16384 : i32, stack_bank = 1 : i32" in one_core.read("input_with_addresses.mlir")
        assert any("-aie-stack-addrspace=6" in c["args"] for c in vendor.log if c["tool"] == "llc")


def test_missing_folders(one_core: Project, tmp_path: Path) -> None:
    for option in ("--peano", "--aietools"):
        ran = one_core.aiecc("design.mlir", f"{option}={tmp_path / 'nowhere'}", toolchain=None)
        assert ran.code == 2
        assert f"aiecc: {option} directory does not exist: {tmp_path / 'nowhere'}" in ran.err
    ran = one_core.aiecc("design.mlir", "--xchesscc", toolchain=None)
    assert ran.code == 3
    assert "aiecc: --xchesscc/--xbridge require aietools; set --aietools or put xchesscc on PATH" in ran.err


def test_no_silent_fall_back(one_core: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PEANO_INSTALL_DIR", raising=False)
    ran = one_core.aiecc("design.mlir", toolchain=None)
    assert ran.code == 0
    told = [line for line in ran.err.splitlines() if "no Peano was found" in line]
    assert len(told) == 1 and "not Peano's" in told[0]
    assert "no Peano was found" not in one_core.aiecc("design.mlir").err


def test_a_toolchain_folder_beside_the_design(one_core: Project) -> None:
    """Tools run elsewhere, so what a toolchain's file names must not be relative to the folder of the build."""
    from aiecc.tools.load import packaged_folder

    for path in packaged_folder().rglob("*"):
        if path.is_file():
            one_core.write(f"chains/{path.relative_to(packaged_folder())}", path.read_bytes())
    one_core.write("chains/own.toml", one_core.read("chains/llvm.toml").replace('name = "llvm"', 'name = "own"', 1))
    ran = one_core.aiecc("design.mlir", "--toolchain-dir=chains", "--toolchain=own", toolchain=None)
    assert ran.code == 0, ran.err
    ours = one_core.elf()
    assert one_core.aiecc("design.mlir").code == 0
    assert one_core.elf() == ours
