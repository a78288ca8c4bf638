"""Output and work folders that cannot be written to: one error, and whatever was there stays as it was."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from refusekit import KERNEL, design, files_of, refused, run

from aiecc.testing.kit import Project

pytestmark = pytest.mark.tools


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path / "project")
    made.write("k.c", KERNEL)
    made.write("design.mlir", design())
    return made


@pytest.mark.parametrize("where", ["--output-dir=there", "--output-dir=there/below"])
def test_a_file_where_the_output_folder_should_be(project: Project, where: str) -> None:
    ended = refused(project, "design.mlir", where, files={"there": "precious"}, code=3)
    assert "error: aiecc: cannot write 'there/" in ended.err and "Not a directory  [E0903]" in ended.err


def test_a_file_where_the_work_folder_should_be(project: Project) -> None:
    ended = refused(project, "design.mlir", "--tmpdir=there", files={"there": "precious"}, code=3)
    assert f"cannot write to the build folder '{project.folder / 'there'}': Not a directory" in ended.err
    ended = refused(project, "other.mlir", files={"other.mlir": design(), "other.mlir.prj": "precious"}, code=3)
    assert "todo: make room or give another folder" in ended.err


@pytest.mark.parametrize("room", ["tmp", "blobs", "records", "reads", "snapshots", "last"])
def test_a_work_folder_in_disorder(project: Project, room: str) -> None:
    """A file where the store wants a folder, or the reverse: refused when it matters, else built all the same."""
    work = project.folder / "design.mlir.prj"
    work.mkdir()
    if room == "last":
        (work / room).mkdir()
    else:
        (work / room).write_text("precious")
    ended = project.aiecc("design.mlir")
    assert ended.code == (0 if room in ("snapshots", "last") else 3), ended.err
    assert len(ended.errors) == (1 if ended.code else 0), ended.err
    if ended.code:
        assert "cannot write to the build folder" in ended.err
        assert set(files_of(project.folder)) == {"k.c", "design.mlir"}


def test_a_file_where_a_core_s_folder_should_be(project: Project) -> None:
    ended = refused(project, "design.mlir", files={"elfs_main_core_0_2": "precious"}, code=3)
    assert "cannot write 'elfs_main_core_0_2/elfs_main_core_0_2.elf': Not a directory" in ended.err


def test_a_folder_where_an_output_should_be(project: Project) -> None:
    name = "elfs_main_core_0_2/elfs_main_core_0_2.elf"
    ended = refused(project, "design.mlir", files={f"{name}/inside": "precious"}, code=3)
    assert f"cannot write '{name}': Is a directory" in ended.err


def test_a_device_file_as_output_folder(project: Project) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    assert "cannot write '/dev/full/" in refused(project, "design.mlir", "--output-dir=/dev/full", code=3).err


@pytest.mark.parametrize("problem", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EDQUOT])
def test_a_full_or_read_only_output_folder(project: Project, monkeypatch: pytest.MonkeyPatch, problem: int) -> None:
    """Before it is written an output does not exist; afterwards the old one is still whole."""
    real = Path.write_bytes

    def write(path: Path, data: bytes) -> int:
        if path.is_relative_to(project.folder / "out"):
            real(path, data[: len(data) // 2])
            raise OSError(problem, os.strerror(problem))
        return real(path, data)

    (project.folder / "out").mkdir()
    args = ("design.mlir", f"--output-dir={project.folder / 'out'}")
    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_bytes", write)
        ended = refused(project, *args, code=3)
    assert f"{os.strerror(problem)}  [E0903]" in ended.errors[0]
    assert project.aiecc(*args).code == 0
    project.write("k.c", "void k(int *b) { b[0] = 2; }\n")
    monkeypatch.setattr(Path, "write_bytes", write)
    refused(project, *args, code=3)


@pytest.mark.parametrize("room", ["blobs", "records"])
def test_a_disk_that_fills_while_the_build_runs(project: Project, monkeypatch: pytest.MonkeyPatch, room: str) -> None:
    """Renaming into a room of the store fails; the next build, with room again, is a whole one."""
    real = Path.replace
    left = 5

    def replace(path: Path, target: Path) -> Path:
        nonlocal left
        if Path(target).parent.parent.name == room:
            left -= 1
            if left < 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(path, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", replace)
        ended = refused(project, "design.mlir", code=3)
    assert "cannot write to the build folder" in ended.errors[0] and "No space left on device" in ended.errors[0]
    assert project.aiecc("design.mlir").code == 0
    again = Project(project.folder.parent / "again")
    again.copy(project.folder)
    assert again.aiecc("design.mlir", "--tmpdir=fresh", "--output-dir=fresh.out").code == 0
    name = "elfs_main_core_0_2/elfs_main_core_0_2.elf"
    assert (again.folder / "fresh.out" / name).read_bytes() == project.elf()


@pytest.mark.skipif(os.name != "posix", reason="limits are POSIX")
@pytest.mark.parametrize("limit", [0, 300, 3000])
def test_files_that_cannot_grow(project: Project, limit: int) -> None:
    """The real thing: no file may become longer than so many bytes, neither ours nor a tool's."""
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2); "
        "from aiecc.cli.main import main; main(sys.argv[2:])"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code, str(limit), "design.mlir", "--toolchain=llvm"],
        cwd=project.folder,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 3, ended.stderr
    assert "error: " in ended.stderr and "Traceback" not in ended.stderr
    assert set(files_of(project.folder)) == {"k.c", "design.mlir"}
    assert project.aiecc("design.mlir").code == 0


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder(project: Project) -> None:
    out = project.folder / "out"
    out.mkdir()
    out.chmod(0o555)
    refused(project, "design.mlir", "--output-dir=out", code=3)


def test_inputs_are_not_overwritten(project: Project) -> None:
    """An output with the name of the design, or of a file the design reads, is refused."""
    files = {"input_with_addresses.mlir": design()}
    ended = refused(
        project, "input_with_addresses.mlir", "--get=report.json,input_with_addresses.mlir", files=files, code=3
    )
    assert "error: aiecc: 'input_with_addresses.mlir' is an input of this build and would be overwritten" in ended.err
    assert "todo: give another --output-dir" in ended.err
    (project.folder / "link").mkdir()
    (project.folder / "link" / "input_with_addresses.mlir").symlink_to(project.folder / "input_with_addresses.mlir")
    refused(project, "input_with_addresses.mlir", "--get=input_with_addresses.mlir", "--output-dir=link", code=3)


def test_a_prebuilt_core_in_its_own_place_is_left_alone(project: Project) -> None:
    """The same content is no overwriting: image.mlir builds what design.mlir takes and gives back."""
    assert project.aiecc("design.mlir").code == 0
    elf = project.folder / "elfs_main_core_0_2/elfs_main_core_0_2.elf"
    before = elf.stat().st_mtime_ns
    project.write(
        "prebuilt.mlir",
        f"module {{\n  aie.device(npu2) {{\n    %t = aie.tile(0, 2)\n    %c = aie.core(%t) {{\n      aie.end\n    }} "
        f'{{elf_file = "{elf.relative_to(project.folder).as_posix()}"}}\n  }}\n}}\n',
    )
    assert project.aiecc("prebuilt.mlir").code == 0
    assert elf.stat().st_mtime_ns == before


def test_outputs_that_stay_the_same_are_not_touched(project: Project) -> None:
    assert project.aiecc("design.mlir").code == 0
    elf = project.folder / "elfs_main_core_0_2/elfs_main_core_0_2.elf"
    before = elf.stat().st_mtime_ns, elf.stat().st_ino
    project.write("k.c", KERNEL + "/* a remark */\n")
    assert project.aiecc("design.mlir").code == 0
    assert (elf.stat().st_mtime_ns, elf.stat().st_ino) == before


def test_an_output_that_somebody_changed_is_written_again(project: Project) -> None:
    assert project.aiecc("design.mlir").code == 0
    good = project.elf()
    project.write("elfs_main_core_0_2/elfs_main_core_0_2.elf", b"spoilt")
    assert project.aiecc("design.mlir").code == 0
    assert project.elf() == good
    (project.folder / "elfs_main_core_0_2/elfs_main_core_0_2.elf").unlink()
    assert project.aiecc("design.mlir").code == 0
    assert project.elf() == good


def test_a_failed_build_leaves_the_last_good_output(project: Project) -> None:
    assert project.aiecc("design.mlir").code == 0
    good = project.elf()
    run(project, "design.mlir", files={"k.c": "void k(int *b) { oh }\n"})
    assert project.elf() == good


def test_a_dump_of_a_failed_build_gives_no_cores(project: Project) -> None:
    """What is known is shown in the work folder; a core that a check refused is not handed out."""
    project.write("k.c", "void k(int *b) { volatile int x[600]; x[b[0]] = 1; b[1] = x[b[2]]; }\n")
    ended = refused(project, "design.mlir", "--dump-intermediates")
    assert "stack_size = 1024 is insufficient" in ended.err
    work = project.folder / "design.mlir.prj"
    assert (work / "input_with_addresses.mlir").is_file() and (work / "llvmIR_main_core_0_2.ll").is_file()
    assert not list(project.folder.rglob("elfs_main*"))
