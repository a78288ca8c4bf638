"""Small inputs from user reports, with what a correct tool must do. Figures are worked out by hand in each test."""

import re
from pathlib import Path

import pytest
from elf_facts import symbol_address

from aiecc.testing.kit import Ended, Project

CASES = Path(__file__).parent / "cases"
pytestmark = pytest.mark.tools


def project(tmp_path: Path, case: str, *, kernel: str = "kernel.c") -> Project:
    made = Project(tmp_path)
    made.copy(next(CASES.glob(f"{case}-*")))
    if (made.folder / kernel).exists():
        made.object(kernel, "kernel.o")
    return made


def refused(ran: Ended) -> str:
    """One error, exit code 1, no traceback; its text and notes."""
    assert ran.code == 1, ran.err
    assert len(ran.errors) == 1, ran.err
    assert "Traceback" not in ran.err
    return ran.err


def no_outputs(made: Project) -> bool:
    return not list(made.folder.glob("elfs_*"))


def addresses(made: Project) -> dict[str, int]:
    """Buffer addresses in the placed module."""
    text = made.read("input_with_addresses.mlir")
    found = {}
    for line in text.splitlines():
        if "aie.buffer" in line:
            at = re.search(r"address = (\d+) : i32", line)
            name = re.search(r'sym_name = "([^"]+)"', line)
            assert at and name, line
            found[name[1]] = int(at[1])
    return found


def number(pattern: str, text: str) -> int:
    match = re.search(pattern, text)
    assert match, text
    return int(match[1])


def test_01_default_stack_too_small(tmp_path: Path) -> None:
    made = project(tmp_path, "01")
    said = refused(made.aiecc("design.mlir"))
    need = number(r"uses the device default of 1024 bytes, but it needs (\d+) bytes", said)
    assert need >= 1536
    assert "(0, 2)" in said and f"{need - 1024} short" in said
    chain = [line for line in said.splitlines() if "note:" in line and "bytes" in line]
    assert "smooth_rows" in chain[-1]
    value = number(r"todo: set stack_size = (\d+) : i32", said)
    assert value >= need and value % 64 == 0
    assert no_outputs(made)

    text = made.read("design.mlir").replace("      aie.end\n    }", "      aie.end\n    } {stack_size = 2048 : i32}")
    made.write("fixed.mlir", text)
    ran = made.aiecc("fixed.mlir", "--get=measured_stack_sizes.mlir,input_with_addresses.mlir")
    assert ran.code == 0, ran.err
    assert f"measured_stack_size = {need} : i32" in made.read("measured_stack_sizes.mlir")
    assert min(addresses(made).values()) >= 2048


def test_03_recursion_has_no_bound(tmp_path: Path) -> None:
    made = project(tmp_path, "03")
    said = refused(made.aiecc("design.mlir"))
    assert "cannot determine this core's stack requirement: recursion detected: " in said
    assert re.search(r"fold@0x[0-9A-F]+ -> fold@0x[0-9A-F]+", said)
    assert "stack_size_override" in said and "--no-measure-stack-size" in said
    assert made.aiecc("design.mlir", "--no-measure-stack-size").code == 0


def test_03_an_override_is_taken_at_its_word(tmp_path: Path) -> None:
    made = project(tmp_path, "03")
    ran = made.aiecc("design_override.mlir", "--get=report.json,measured_stack_sizes.mlir")
    assert ran.code == 0, ran.err
    import json

    stack = json.loads(made.read("report.json"))["cores"][0]["stack"]
    chain = stack["chain"]
    assert chain[-1]["function"] == "fold_tree" and chain[-1]["given"] and chain[-1]["size"] == 1024
    assert stack["needed"] == sum(f["size"] for f in chain) >= 1024


def test_04_an_alias_is_no_recursion(tmp_path: Path) -> None:
    made = project(tmp_path, "04")
    ran = made.aiecc("design.mlir", "--get=report.json")
    assert ran.code == 0, ran.err
    assert "recursion" not in ran.err + ran.out
    import json

    names = [f["function"] for f in json.loads(made.read("report.json"))["cores"][0]["stack"]["chain"]]
    assert "offset_rows" not in names


def test_05_a_call_through_a_table_counts(tmp_path: Path) -> None:
    made = project(tmp_path, "05")
    said = refused(made.aiecc("design.mlir"))
    need = number(r"stack_size = 1024 is insufficient: this core needs (\d+) bytes", said)
    assert need >= 1280
    assert re.search(r"large_step: \d+ bytes, reached through a pointer", said)


def test_06_data_that_can_never_fit(tmp_path: Path) -> None:
    made = project(tmp_path, "06")
    said = refused(made.aiecc("design.mlir"))
    # 3 * 16384 + 14336 of buffers and 1024 of stack leave 1024 bytes for the 2048 of .bss.
    assert "(core data sections)" in said or "data sections (data_size)" in said
    assert "2048" in said and "1024" in said
    for name in ("tile_a", "tile_b", "tile_c", "tile_d", "(stack)"):
        assert name in said
    assert "(0, 2)" in said
    assert no_outputs(made)


def test_07_data_that_fits_one_run_only(tmp_path: Path) -> None:
    made = project(tmp_path, "07")
    ran = made.aiecc("design.mlir", "--get=input_with_addresses.mlir,ldScripts_{0}.ld.script,elfs_{0}.elf")
    assert ran.code == 0, ran.err
    at = addresses(made)
    assert (at["fixed_1"], at["fixed_2"], at["fixed_3"]) == (0x4000, 0x8000, 0xC000)
    assert at["movable"] == 0xE800
    script = made.read("ldScripts_main_core_0_2.ld.script")
    region = re.search(r"data \(!RX\) : ORIGIN = 0x([0-9A-F]+), LENGTH = 0x([0-9A-F]+)", script)
    assert region
    origin, length = (int(v, 16) for v in region.groups())
    assert 0x70400 <= origin <= 0x70800 and length >= 0x3800
    assert symbol_address(made.elf(), "bins") == origin


@pytest.mark.parametrize("late", [False, True])
def test_08_a_hole_below_a_fixed_buffer(tmp_path: Path, late: bool) -> None:
    made = project(tmp_path, "08")
    text = made.read("design.mlir")
    if late:
        fixed = re.findall(r"    %p\d = .*\n", text)
        for line in fixed:
            text = text.replace(line, "")
        text = text.replace("\n    %core", "\n" + "".join(fixed) + "\n    %core")
    made.write("design.mlir", text)
    ran = made.aiecc("design.mlir", "--get-input-with-addresses")
    assert ran.code == 0 and not ran.errors, ran.err
    at = addresses(made)
    assert [at[f"rtp_{i}"] for i in (1, 2, 3)] == [0x7C00, 0xBC00, 0xFC00]
    work = sorted(at[f"work_{i}"] for i in (1, 2, 3))
    assert len({a // 16384 for a in work}) == 3
    for a in work:
        assert a >= 0x400 and a % 64 == 0 and a // 16384 == (a + 12288 - 1) // 16384
        for fixed in (0x7C00, 0xBC00, 0xFC00):
            assert a + 12288 <= fixed or fixed + 1024 <= a


def test_10_pinned_addresses_collide(tmp_path: Path) -> None:
    made = project(tmp_path, "10")
    said = refused(made.aiecc("design.mlir"))
    assert "coeffs" in said and "state" in said
    # 0x1000..0x1FFF and 0x1800..0x1BFF share 0x1800..0x1BFF; both lines are named.
    assert re.search(r"0x1800(\.\.|-| to )0x1BFF", said), said
    assert "design.mlir:4:" in said and "design.mlir:5:" in said


def test_10_a_pin_inside_the_stack(tmp_path: Path) -> None:
    made = project(tmp_path, "10")
    said = refused(made.aiecc("design_in_stack.mlir"))
    assert "coeffs" in said and "default" in said and "0x400" in said
    assert re.search(r"0x200(\.\.|-| to )0x2FF", said), said


@pytest.mark.parametrize(("design", "step", "first"), [("design.mlir", 64, 0x440), ("design_npu1.mlir", 32, 0x420)])
def test_11_alignment_is_the_target_s(tmp_path: Path, design: str, step: int, first: int) -> None:
    made = project(tmp_path, "11")
    ran = made.aiecc(design, "--get-input-with-addresses")
    assert ran.code == 0, ran.err
    at = addresses(made)
    assert len(at) >= 4 and min(at.values()) == first
    assert all(a % step == 0 for a in at.values())


def test_13_program_memory(tmp_path: Path) -> None:
    made = project(tmp_path, "13")
    said = refused(made.aiecc("design.mlir"))
    assert "(0, 2)" in said and "16384" in said
    assert "this core's code exceeds the tile's program memory" in said or "exceeds the tile's program memory" in said
    assert re.search(r"largest functions: unrolled \(\d+ bytes, [^)]*kernel\.o\)", said), said
    assert no_outputs(made)


def test_20_a_kernel_object_that_changed(tmp_path: Path) -> None:
    made = project(tmp_path, "20", kernel="kernel_v1.c")
    args = ("design.mlir", "--get=elfs_{0}.elf,report.json")

    def built() -> bytes:
        ran = made.aiecc(*args)
        assert ran.code == 0, ran.err
        return made.elf()

    def data() -> int:
        import json

        return json.loads(made.read("report.json"))["cores"][0]["data"]

    first = built()
    assert data() == 0
    assert built() == first
    made.object("kernel_v2.c", "kernel.o")
    second = built()
    assert second != first and data() >= 4
    (made.folder / "kernel.o").touch()
    assert built() == second
    made.object("kernel_v1.c", "kernel.o")
    assert built() == first
