"""Lines of functions against LLVM's own reader, for every version of DWARF, and quiet about damage."""

from __future__ import annotations

import random
import re
from pathlib import Path

import elfmaker as em
import portable
import pytest

from aiecc.elf.lines import locate
from aiecc.elf.read import Image, SymbolType, read

pytestmark = pytest.mark.tools

SOURCE = """
#include "inc/more.h"

int first(int x) {
  return x + from_header(x);
}


int second(int x) { volatile int t[9]; for (int i = 0; i < 9; ++i) t[i] = x;
  return t[x & 7];
}
"""
SCRIPT = "SECTIONS { .text 0x100 : { *(.text*) } .data : { *(.data*) *(.bss*) } }"


def build(folder: Path, *flags: str) -> Image:
    (folder / "inc").mkdir()
    (folder / "inc" / "more.h").write_text(
        "static __attribute__((noinline)) int from_header(int x) {\n  return x * x + 1;\n}\n"
    )
    kernel = portable.compile_text(folder, "kernel.c", SOURCE, *flags)
    other = portable.compile_text(folder, "other.c", "\n\n\nint third(int x) {\n  return x - 1;\n}\n", *flags)
    (folder / "s.ld").write_text(SCRIPT)
    zig = portable.wheel("ziglang") / "zig"
    out = folder / "core.elf"
    portable.run(zig, "ld.lld", "--emit-relocs", "-e", "first", "-T", folder / "s.ld", kernel, other, "-o", out)
    return read(out.read_bytes())


def functions(image: Image) -> dict[int, str]:
    return {s.value: s.name for s in image.symbols if s.type == SymbolType.FUNC and s.size}


@pytest.mark.parametrize("version", ["-gdwarf-2", "-gdwarf-3", "-gdwarf-4", "-gdwarf-5"])
@pytest.mark.parametrize("more", ["-O2", "-mrelax"])
def test_agrees_with_the_symbolizer(tmp_path: Path, version: str, more: str) -> None:
    image = build(tmp_path, version, more)
    found = locate(image, functions(image))
    assert set(found) == set(functions(image))
    for address, name in functions(image).items():
        said = portable.llvm("llvm-symbolizer", "--obj", tmp_path / "core.elf", hex(address))
        match = re.search(r"([^/\n]+):(\d+):\d+", said)
        assert match is not None
        assert found[address] == f"{match.group(1)}:{match.group(2)}", name
    # A function without a prologue starts with its first statement.
    assert sorted(found.values()) == ["kernel.c:4", "kernel.c:9", "more.h:2", "other.c:5"]


def test_nothing_without_debug_information(tmp_path: Path) -> None:
    image = build(tmp_path)
    assert locate(image, functions(image)) == {}
    assert locate(read(em.core([em.Fn("__start")]).build()), []) == {}


def test_damage_means_no_answer(tmp_path: Path) -> None:
    image = build(tmp_path, "-g")
    section = image.section(".debug_line")
    assert section is not None
    rng = random.Random(5)
    for _ in range(400):
        broken = bytearray(image.data)
        for _ in range(3):
            broken[section.offset + rng.randrange(section.size)] = rng.randrange(256)
        locate(read(bytes(broken)), functions(image))
    for length in range(section.size):
        cut = bytearray(image.data)
        cut[section.offset + length : section.offset + section.size] = bytes(section.size - length)
        locate(read(bytes(cut)), functions(image))
