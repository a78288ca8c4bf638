"""Names from a design become symbols, file names and words of command lines: whatever they say, nothing escapes."""

import shutil
import sys
from pathlib import Path

import pytest
from refusekit import KERNEL, design, files_of, refused, run

from aiecc.testing.kit import Project

sys.path.insert(0, str(Path(__file__).parents[1] / "designs"))
from elf_facts import output

pytestmark = pytest.mark.tools

# As MLIR writes them in a string, and what they are. Each is a legal name; none is a plain one.
ODD = {
    "a b": "a b",
    "$(touch gone)": "$(touch gone)",
    "`touch gone`": "`touch gone`",
    "../up": "../up",
    "/elsewhere/up": "/elsewhere/up",
    "it's": "it's",
    "grün": "grün",
    "\\E4\\B8\\AD": "中",
    "-Wl,--help": "-Wl,--help",
    "a;b": "a;b",
    "a=b": "a=b",
    "a*": "a*",
    "0x10": "0x10",
    ".text": ".text",
    "%n": "%n",
    "a\\\\b": "a\\b",
    "{0}": "{0}",
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The work folder of a plain design: what does not depend on names is found there, and need not be made again."""
    made = Project(tmp_path_factory.mktemp("built") / "project")
    assert run(made, "design.mlir", files={"k.c": KERNEL, "design.mlir": design()}).code == 0
    return made.folder / "design.mlir.prj"


@pytest.fixture
def project(tmp_path: Path, built: Path) -> Project:
    made = Project(tmp_path / "project")
    made.write("k.c", KERNEL)
    shutil.copytree(built, made.folder / "design.mlir.prj")
    return made


@pytest.mark.parametrize("name", ODD)
def test_odd_buffer_names_are_symbols_like_others(project: Project, name: str) -> None:
    """The stack takes 0 to 0x3FF; the only buffer lies behind it or in another bank, and the kernel is given that."""
    project.write("design.mlir", design(name=name))
    ended = run(project, "design.mlir", "--get=elfs_{0}.elf,report.json")
    assert ended.code == 0, ended.err
    import json

    tile = json.loads(project.read("report.json"))["tiles"][0]
    at = next(e["address"] for e in tile["extents"] if e["name"] == ODD[name])
    symbols = output("llvm-nm", data=project.elf()).splitlines()
    assert f"{0x70000 + at:08x}" in [line.split(" ")[0] for line in symbols if line.endswith(f" {ODD[name]}")]
    assert "gone" not in [p.name for p in project.folder.iterdir()]


@pytest.mark.parametrize("name", ["a\\22b", "a\\0Ab", "a\\00b", "a\\09b", ""])
def test_names_no_linker_script_can_say(project: Project, name: str) -> None:
    said = refused(project, "design.mlir", files={"design.mlir": design(name=name)}).errors[0]
    assert said.startswith("design.mlir:4:12: error: 'aie.buffer' op the name of buffer ")
    assert "cannot be written in a linker script  [E0601]" in said


@pytest.mark.parametrize("name", ["main", "core_0_2", "__start", "_main_init", "_sp_end_value_DM_stack", "memset"])
def test_names_that_linked_cores_have_already(project: Project, name: str) -> None:
    """The linker would let the script's symbol win: calls of it would jump into data."""
    said = refused(project, "design.mlir", files={"design.mlir": design(name=name)}).errors[0]
    assert said.startswith(f"design.mlir:4:12: error: 'aie.buffer' op a buffer cannot be named '{name}': ")


def test_a_buffer_named_as_a_kernel_s_variable(project: Project) -> None:
    project.write("k.c", "int table[4] = {1, 2, 3, 4};\nvoid k(int *b) { b[0] = table[b[1] & 3]; }\n")
    said = refused(project, "design.mlir", files={"design.mlir": design(name="table")}).errors[0]
    assert said.startswith("design.mlir:4:12: error: 'aie.buffer' op a buffer cannot be named 'table': k.c defines ")
    project.write("k.c", project.read("k.c").replace("int table", "static int table", 1))
    assert run(project, "design.mlir").code == 0


def test_a_kernel_that_defines_main(project: Project) -> None:
    project.write("k.c", KERNEL + "int main(void) { return 0; }\n")
    said = refused(project, "design.mlir", files={"design.mlir": design()}).errors[0]
    assert said.startswith("design.mlir:6:13: error: core (0, 2) never runs: k.c defines 'main', ")


@pytest.mark.parametrize(
    "name", ["a b.c", 'a"b.c', "$(touch gone).c", "a\nb.c", "grün.c", "-o.c", "@k.c", "a;b.c", "core.c"]
)
def test_odd_kernel_names(project: Project, name: str) -> None:
    written = name.replace('"', "\\22").replace("\n", "\\0A")
    ended = run(project, "design.mlir", files={name: KERNEL, "design.mlir": design(kernel=written)})
    assert ended.code == 0, ended.err
    assert sorted(p.name for p in project.folder.iterdir()) == sorted(
        [name, "k.c", "design.mlir", "design.mlir.prj", "elfs_main_core_0_2"]
    )


@pytest.mark.parametrize("name", ["runtime.a", "crt0.o", "core.o", "script.ld", "core.elf"])
def test_kernels_named_as_files_of_the_link(project: Project, name: str) -> None:
    project.object("k.c", "plain.o")
    content = (project.folder / "plain.o").read_bytes()
    plain = run(project, "design.mlir", files={"design.mlir": design(kernel="plain.o")})
    assert plain.code == 0, plain.err
    expected = project.elf()
    ended = run(project, "odd.mlir", "--output-dir=odd", files={name: content, "odd.mlir": design(kernel=name)})
    assert ended.code == 0, ended.err
    made = (project.folder / "odd/elfs_main_core_0_2/elfs_main_core_0_2.elf").read_bytes()
    assert any(line.split() == ["00000000", "T", "__start"] for line in output("llvm-nm", data=made).splitlines())
    assert made == expected or name == "crt0.o"  # which comes first in .text then, behind the real one


@pytest.mark.parametrize("path", ["../k.c", "sub/../k.c", "./k.c"])
def test_kernels_in_other_folders_are_found_but_nothing_is_written_there(project: Project, path: str) -> None:
    (project.folder / "sub").mkdir()
    project.write("../k.c", KERNEL)
    assert run(project, "design.mlir", files={"design.mlir": design(kernel=path)}).code == 0
    assert sorted(p.name for p in project.folder.parent.iterdir()) == ["k.c", "project"]


@pytest.mark.parametrize("name", ["", ".", "..", "sub", "nowhere.c", "a\\00b.c"])
def test_kernels_that_are_no_files(project: Project, name: str) -> None:
    (project.folder / "sub").mkdir()
    ended = refused(project, "design.mlir", files={"design.mlir": design(kernel=name)})
    assert ended.errors[0].startswith("design.mlir:5:5: error: aiecc: link file '")
    assert "not found  [E0702]" in ended.errors[0] and "note: looked for " in ended.err and "\0" not in ended.err


DEVICES = {
    "a b": "a b",
    "a\\22b": "a%22b",
    "$(touch gone)": "$(touch gone)",
    "../up": "..%2Fup",
    "../../../../../../elsewhere/up": "..%2F..%2F..%2F..%2F..%2F..%2Felsewhere%2Fup",
    "/elsewhere/up": "%2Felsewhere%2Fup",
    "a\\0Ab": "a%0Ab",
    "a\\00b": "a%00b",
    "a\\\\b": "a%5Cb",
    "grün": "grün",
    "..": "..",
    "a%2Fb": "a%252Fb",
    "{0}": "{0}",
}


@pytest.mark.parametrize("name", DEVICES)
def test_device_names_stay_one_part_of_a_path(project: Project, name: str) -> None:
    text = design().replace("aie.device(npu2)", f'aie.device(npu2) @"{name}"')
    ended = run(project, "design.mlir", "--get=elfs_{0}.elf,memory_map_{0}.txt", "--output-dir=out",
                files={"design.mlir": text})  # fmt: skip
    assert ended.code == 0, ended.err
    plain = DEVICES[name]
    assert set(files_of(project.folder / "out")) == {
        f"elfs_{plain}_core_0_2/elfs_{plain}_core_0_2.elf",
        f"memory_map_{plain}.txt",
    }
    assert [p.name for p in project.folder.parent.iterdir()] == ["project"]
    assert sorted(p.name for p in project.folder.iterdir()) == ["design.mlir", "design.mlir.prj", "k.c", "out"]
    assert not any(p.name in ("gone", "up") for p in project.folder.rglob("*"))


def test_dumps_stay_in_the_work_folder(project: Project) -> None:
    text = design().replace("aie.device(npu2)", 'aie.device(npu2) @"../../../up"')
    ended = run(project, "design.mlir", "--dump-intermediates", "--output-dir=out", files={"design.mlir": text})
    assert ended.code == 0, ended.err
    assert [p.name for p in project.folder.parent.iterdir()] == ["project"]
    assert (project.folder / "design.mlir.prj" / "llvmIR_..%2F..%2F..%2Fup_core_0_2.ll").is_file()


def test_a_device_name_longer_than_a_file_name(project: Project) -> None:
    text = design().replace("aie.device(npu2)", f"aie.device(npu2) @{'n' * 300}")
    said = refused(project, "design.mlir", files={"design.mlir": text}, code=3).errors[0]
    assert "aiecc: cannot write '" in said and "File name too long  [E0903]" in said
