"""What LLVM's own tools say of an ELF: the oracle of these tests."""

import importlib.util
import subprocess
import tempfile
from pathlib import Path


def llvm_tool(name: str) -> str:
    spec = importlib.util.find_spec("llvm")
    assert spec is not None and spec.submodule_search_locations
    return str(Path(next(iter(spec.submodule_search_locations))) / "bin" / name)


def output(name: str, *options: str, data: bytes) -> str:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "core.elf"
        file.write_bytes(data)
        return subprocess.run([llvm_tool(name), *options, str(file)], capture_output=True, text=True, check=True).stdout


def symbol_address(data: bytes, symbol: str) -> int:
    for line in output("llvm-nm", data=data).splitlines():
        words = line.split()
        if words[-1] == symbol and len(words) == 3:
            return int(words[0], 16)
    raise AssertionError(f"no symbol {symbol}")
