"""What every test of bad input asks: one clear error at the right place, the right exit code, nothing else touched."""

import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from aiecc.testing.kit import Ended, Project

TOOLCHAINS = Path(__file__).parents[2] / "toolchains"

# Line 4 names the buffer, line 5 the kernel, line 6 the core.
_DESIGN = """module {{
  aie.device({device}) {{
    %tile = aie.tile({at})
    %buf = aie.buffer(%tile) {{sym_name = "{name}"}} : memref<{n}xi32>
    func.func private @k(memref<{n}xi32>) attributes {{link_with = "{kernel}"{mode}}}
    %core = aie.core(%tile) {{
      func.call @k(%buf) : (memref<{n}xi32>) -> ()
      aie.end
    }} {{stack_size = {stack} : i32}}
  }}
}}
"""
KERNEL = "void k(int *b) { b[0] = 1; }\n"

PREBUILT = """module {
  aie.device(npu2) {
    %tile = aie.tile(0, 2)
    %core = aie.core(%tile) {
      aie.end
    } {elf_file = "core.elf"}
  }
}
"""


def design(
    *,
    device: str = "npu2",
    at: str = "0, 2",
    name: str = "buf",
    n: str = "16",
    kernel: str = "k.c",
    merge: bool = False,
    stack: str = "1024",
) -> str:
    """A small good design, with one thing in it that need not be."""
    mode = ', link_with_mode = "merge"' if merge else ""
    return _DESIGN.format(device=device, at=at, name=name, n=n, kernel=kernel, mode=mode, stack=stack)


def files_of(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, build folders left out."""
    paths = [p for p in folder.rglob("*") if p.is_file() and not any(x.endswith(".prj") for x in p.parts)]
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in paths}


def run(
    project: Project, *args: str, files: Mapping[str, str | bytes] | None = None, toolchain: str | None = "llvm"
) -> Ended:
    """Run aiecc on a project; whatever was there before must be there afterwards, unchanged, and nothing beside it."""
    for name, content in (files or {}).items():
        project.write(name, content)
    before = files_of(project.folder.parent)
    ended = project.aiecc(*args, toolchain=toolchain)
    after = files_of(project.folder.parent)
    assert {name: after.get(name) for name in before} == before
    assert "Traceback" not in ended.err + ended.out
    if ended.code:
        assert after.keys() == before.keys(), "a refused build left files behind"
    return ended


def refused(
    project: Project,
    *args: str,
    files: Mapping[str, str | bytes] | None = None,
    code: int = 1,
    toolchain: str | None = "llvm",
) -> Ended:
    """As `run`, and exactly one error is told."""
    ended = run(project, *args, files=files, toolchain=toolchain)
    assert ended.code == code, (ended.code, ended.err)
    assert len(ended.errors) == 1, ended.err
    assert re.search(r"  \[E\d{4}\]$", ended.errors[0]), "an error has a code"
    return ended


def broken_toolchain(folder: Path, scripts: Mapping[str, str], version: str = "clang version 22.0") -> tuple[str, ...]:
    """The portable toolchain with some of its programs replaced by scripts; options that choose it.

    A script is what `sh` runs when it is not asked for a version.
    """
    chains = folder / "chains"
    if not chains.exists():
        shutil.copytree(TOOLCHAINS, chains)
        text = (chains / "llvm.toml").read_text().replace('name = "llvm"', 'name = "broken"', 1)
        at = text.index("environment = [")
        text = text[:at] + 'environment = ["AIECC_TEST_BROKEN"]' + text[text.index("\n", at) :]
        (chains / "broken.toml").write_text(text)
    tools = folder / "tools"
    shutil.rmtree(tools, ignore_errors=True)
    (tools / "bin").mkdir(parents=True)
    for name, script in scripts.items():
        program = tools / "bin" / name
        said = {"ld.lld": "LLD 22.0", "clang": version}.get(name, "LLVM version 22.0")
        program.write_text(f'#!/bin/sh\ncase " $* " in *" --version "*) echo "{said}"; exit 0;; esac\n{script}\n')
        program.chmod(0o755)
    return (f"--toolchain-dir={chains}", "--toolchain=broken")
