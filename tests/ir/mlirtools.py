"""The MLIR and LLVM tools of the extras, for tests that ask them for their opinion."""

from __future__ import annotations

import importlib.util
import subprocess
from pathlib import Path

from aiecc.ir.outline import PIPELINE


def tool(wheel: str, name: str) -> str:
    """A program of an installed wheel (`mlir`, `llvm` or `ziglang`)."""
    spec = importlib.util.find_spec(wheel)
    assert spec is not None and spec.submodule_search_locations, f"the wheel of {wheel} is not installed"
    return str(Path(next(iter(spec.submodule_search_locations)), name if wheel == "ziglang" else f"bin/{name}"))


def outcome(wheel: str, name: str, *args: str, text: str = "") -> subprocess.CompletedProcess[str]:
    """What a tool did with an input, however it ended."""
    return subprocess.run([tool(wheel, name), *args], input=text, capture_output=True, text=True, check=False)


def run(wheel: str, name: str, *args: str, text: str = "") -> str:
    """What a tool prints for an input; its errors are the test's."""
    done = outcome(wheel, name, *args, text=text)
    assert done.returncode == 0, done.stderr
    return done.stdout


def to_llvm(text: str) -> str:
    """LLVM IR of an outlined core."""
    lowered = run("mlir", "mlir-opt", f"--pass-pipeline={PIPELINE}", text=text)
    return run("mlir", "mlir-translate", "--mlir-to-llvmir", text=lowered)


def compiled(text: str) -> str:
    """Assembly of LLVM IR for the portable target."""
    machine = ("--no-default-config", "--target=riscv32-unknown-elf", "-march=rv32imafdc", "-mabi=ilp32d")
    return run("ziglang", "zig", "clang", *machine, "-Wno-override-module", "-x", "ir", "-S", "-", "-o", "-", text=text)


def refused(text: str) -> str:
    """What mlir-opt says of a program it does not accept."""
    done = outcome("mlir", "mlir-opt", f"--pass-pipeline={PIPELINE}", text=text)
    assert done.returncode != 0
    return done.stderr
