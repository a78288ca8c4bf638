"""The real tools for the tests of this room: clang and lld of the portable toolchain, LLVM's readers as the oracle."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

CLANG_FLAGS = """
    --no-default-config --target=riscv32-unknown-elf -march=rv32imafdc -mabi=ilp32d -mcmodel=medlow -fno-pic
    -mno-relax -msmall-data-limit=0 -ffreestanding -nostdlibinc -c -ffunction-sections -fdata-sections
    -fstack-size-section
"""
LINK_FLAGS = "--threads=1 --gc-sections --emit-relocs --orphan-handling=error"


def wheel(name: str) -> Path:
    """The folder of an installed package."""
    module = pytest.importorskip(name)
    return Path(next(iter(module.__path__)))


def run(*command: str | Path, cwd: Path | None = None, ok: bool = True) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([str(c) for c in command], cwd=cwd, capture_output=True, text=True, check=False)
    assert not ok or done.returncode == 0, done.stderr
    return done


def clang(source: Path, *flags: str, out: Path | None = None, optimize: str = "-O2") -> Path:
    """Compile one C or assembly file for the portable target."""
    zig = wheel("ziglang")
    target = out or source.with_suffix(".o")
    run(
        zig / "zig",
        "clang",
        *CLANG_FLAGS.split(),
        "-isystem",
        zig / "lib/include",
        optimize,
        *flags,
        source,
        "-o",
        target,
    )
    return target


def lld(
    script: str, objects: Sequence[Path], out: Path, *flags: str, ok: bool = True
) -> subprocess.CompletedProcess[str]:
    """Link with a script, in the output's folder."""
    text = out.with_suffix(".ld")
    text.write_text(script)
    return run(
        wheel("ziglang") / "zig",
        "ld.lld",
        *LINK_FLAGS.split(),
        *flags,
        "-T",
        text,
        *objects,
        "-o",
        out,
        cwd=out.parent,
        ok=ok,
    )


def llvm(tool: str, *arguments: str | Path, ok: bool = True) -> str:
    return run(wheel("llvm") / "bin" / tool, *arguments, ok=ok).stdout


def readelf(path: Path, *what: str) -> dict[str, Any]:
    """llvm-readelf's own reading, as JSON."""
    return json.loads(llvm("llvm-readelf", "--elf-output-style=JSON", *what, path))[0]


CRT0 = """
.section .text.__start,"ax",@progbits
.globl __start
.type __start,@function
__start:
  lui sp, %hi(_sp_start_value_DM_stack)
  addi sp, sp, %lo(_sp_start_value_DM_stack)
  call _main_init
1: j 1b
.size __start, .-__start
"""

CRT1 = """
extern int main(void);
void _main_init(void) { volatile int kept[3]; kept[0] = main(); kept[1] = kept[0]; }
"""


def startup(folder: Path) -> list[Path]:
    """Start-up objects: `__start` (crt0) calls `_main_init` (crt1), which calls `main`."""
    crt0, crt1 = folder / "crt0.S", folder / "crt1.c"
    crt0.write_text(CRT0)
    crt1.write_text(CRT1)
    return [clang(crt0), clang(crt1)]


def compile_text(folder: Path, name: str, text: str, *flags: str, optimize: str = "-O2") -> Path:
    source = folder / name
    source.write_text(text)
    return clang(source, *flags, optimize=optimize)
