"""The programs of the stand-in aietools: what each one must be given, and who does its work.

Like Chess, they leave neither frame sizes nor relocations in what they make, place data by a BCF, and name sections of
bank-bound data after the bank. The argument lists are written down by hand, apart from `toolchains/chess.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from aiecc.testing.standin_base import Arguments, WrongArguments, run, with_level
from aiecc.tools.llvm_text import rename_intrinsics

VERSION = "xchesscc (stand-in) Version V-2024.06"
_ARCHES = {"aie": ("versal_prod", "versal_prod"), "aie2": ("aie2", "aie_ml"), "aie2p": ("aie2p", "aie2p")}
_WINDOWS = {0x8000: (0x20000, 0x28000, 0x30000, 0x38000), 0x10000: (0x40000, 0x50000, 0x60000, 0x70000)}
_SOURCES = (".c", ".cc", ".cpp", ".cxx", ".C", ".c++")

# What Chess knows by itself: its own macro, and storage in a bank as a section named after it.
_PRELUDE = """#define __chess__ 1
#define STANDIN_TEXT_(x) #x
#define STANDIN_TEXT(x) STANDIN_TEXT_(x)
#define chess_storage(where) __attribute__((section(".data." #where "." STANDIN_TEXT(__COUNTER__))))
"""


def main(tool: str, folder: str, args: Sequence[str]) -> int:
    """Entry point of the scripts `make_aietools` writes."""
    return run(tool, folder, args, _HANDLERS[tool], VERSION)


def llvm_link(args: Arguments, config: dict[str, Any]) -> list[str] | None:
    """`IN WRAPPER -S -o OUT`: the wrapper maps the intrinsics."""
    source = args.file(".ll")
    if Path(args.peek()).name != "chess_intrinsic_wrapper.ll":
        args.fail("chess_intrinsic_wrapper.ll")
    args.file(".ll")
    args.word("-S")
    output = args.output(".ll")
    args.end()
    text = Path(source).read_text()
    for word in ("captures(", "nocreateundeforpoison", "inbounds nuw", "memory("):
        if word in text:
            raise WrongArguments(f"{source} says '{word}', which Chess cannot read")
    text = re.sub(r"(?m)^target (datalayout|triple) = .*\n", "", text)
    # Our own tools are newer than Chess: back to words they know.
    text = re.sub(r"\bnocapture\b", "captures(none)", text)
    text = re.sub(r"\b(readnone|argmemonly|inaccessiblememonly|inaccessiblemem_or_argmemonly)\b ?", "", text)
    text = re.sub(r"(?m)^(attributes .*?)\b(readonly|writeonly)\b ?", r"\1", text)
    Path(output).write_text(rename_intrinsics(text, [(old, new) for old, new in config["rename"]]))
    return None


def wrapper(args: Arguments, config: dict[str, Any]) -> list[str]:
    """`ARCH +w DIR ...`."""
    args.word(*_ARCHES)
    return _chess(args, config)


def direct(args: Arguments, config: dict[str, Any]) -> list[str]:
    """What the wrapper runs."""
    root = config["folder"]
    args.word("--aiearch")
    aiearch = args.word(*(a for a, _ in _ARCHES.values()))
    for word in ("-p", "me", "-C", "Release_LLVM", "-D__AIENGINE__", "-D__AIE_API_AIE_ADF_HPP__", "-I"):
        args.word(word)
    args.word(f"{root}/include")
    args.word("-P")
    args.word(f"{root}/data/{next(d for a, d in _ARCHES.values() if a == aiearch)}/lib")
    return _chess(args, config)


def _chess(args: Arguments, config: dict[str, Any]) -> list[str]:
    args.word("+w")
    if not Path(args.peek()).is_dir():
        args.fail("a work folder")
    args.left.pop(0)
    return _compile(args, config) if args.maybe("-c") else _link(args, config)


def _compile(args: Arguments, config: dict[str, Any]) -> list[str]:
    """`-c -d +Wclang,-xir -f IN.ll -o OBJ`, or `-c -d -I... -D... -f KERNEL -o OBJ`."""
    args.word("-d")
    if args.maybe("+Wclang,-xir"):
        args.word("-f")
        source = args.file(".ll")
        output = args.output(".o")
        args.end()
        sections = ["-c", "-ffunction-sections", "-fdata-sections"]
        return [*config["clang"], "-x", "ir", "-Wno-override-module", "-O2", *sections, source, "-o", output]
    more: list[str] = ["-include", _prelude(config)]
    while args.maybe("-I"):
        more += ["-I", args.left.pop(0)]
    while args.peek().startswith("-D"):
        more.append(args.left.pop(0))
    args.word("-f")
    source = args.file(*_SOURCES)
    output = args.output(".o")
    args.end()
    made: list[str] = []
    for arg in with_level(config["c" if source.endswith(".c") else "cc"], "2"):
        if arg == "-fstack-size-section":
            continue
        if arg.startswith("@IN@"):
            made += [*more, source]
        else:
            made.append({"@OUT@": output, "@INCLUDES@": f"{config['folder']}/include"}.get(arg, arg))
    return made


def _prelude(config: dict[str, Any]) -> str:
    file = Path(config["folder"], "include", "standin_chess.h")
    if not file.exists():
        aside = file.with_name(f"{file.name}.{id(config)}")
        aside.write_text(_PRELUDE)
        aside.replace(file)
    return str(file)


def _link(args: Arguments, config: dict[str, Any]) -> list[str]:
    """`-d -f OBJ FILES... +l BCF -o ELF`."""
    args.word("-d")
    args.word("-f")
    objects = [args.file(".o")]
    while args.peek() != "+l":
        objects.append(args.file())
    args.word("+l")
    bcf = Path(args.file(".bcf"))
    output = args.output(".elf")
    args.end()
    layout = Bcf(bcf.read_text())
    listed = [Path(f).name for f in layout.includes]
    if listed != [Path(f).name for f in objects[1:]]:
        raise WrongArguments(f"the BCF includes {listed}, the command line has {objects[1:]}")
    script = f"{output}.standin.ld"
    Path(script).write_text(layout.script([Path(o).read_bytes() for o in objects]))
    words = {"@SCRIPT@": [script], "@OUT@": [output], "@OBJECTS@": objects}
    made: list[str] = []
    for arg in config["link"]:
        if arg == "--emit-relocs":
            continue
        if arg.startswith("--defsym="):
            arg = f"--defsym=_sp_end_value_DM_stack=0x{layout.stack[0] + layout.stack[1]:X}"
        made.extend(words.get(arg, [arg]))
    return made


class Bcf:
    """The lines of a BCF that say where things go."""

    def __init__(self, text: str) -> None:
        self.stack = (0, 0)
        self.symbols: dict[str, int] = {}
        self.overlays: dict[str, tuple[int, int]] = {}
        self.taken: list[tuple[int, int]] = []
        self.includes: list[str] = []
        self.main = ""
        for line in text.splitlines():
            self._line(line)
        for needed, found in (("_stack", self.stack[1]), ("_resolve _main", self.main)):
            if not found:
                raise WrongArguments(f"the BCF has no {needed}")

    def _line(self, line: str) -> None:
        code, _, comment = line.partition("//")
        words = code.split()
        match words:
            case ["_reserved", "DMb", start, size]:
                self.taken.append((int(start, 0), int(size, 0)))
            case ["_stack", "DM_stack", start, size]:
                self.stack = int(start, 0), int(size, 0)
                self.taken.append(self.stack)
            case ["_symbol", name, address, _] if address.startswith("0x"):
                self.symbols[name] = int(address, 0)
            case ["_overlay", name, address]:
                self.overlays[name] = int(address, 0), int(comment.split()[0])
                self.taken.append(self.overlays[name])
            case ["_include", "_file", *name]:
                self.includes.append(" ".join(name))
            case ["_resolve", "_main", name]:
                self.main = name
            case ["_entry_point" | "_extern" | "_symbol", *_] | []:
                pass
            case _:
                raise WrongArguments(f"the BCF has a line '{line}'")

    def script(self, objects: Sequence[bytes]) -> str:
        """The same as a linker script for the portable linker."""
        memory, base = next(
            (m, b) for m, bases in _WINDOWS.items() for b in bases if b <= self.stack[0] < b + m and self._partly(b, m)
        )
        bank = memory // 4
        # Peano's kernels name banks by number.
        pinned = [i for i in range(4) if any(_names_bank(o, i) for o in objects)]
        runs = [self._run(base + i * bank, bank) for i in range(4)]
        rest = [*self.taken, *((base + i * bank, bank) for i in pinned)]
        data = self._run(base, memory, rest)
        banks = "".join(f"  bank{i} : ORIGIN = {runs[i][0]:#x}, LENGTH = {runs[i][1]:#x}\n" for i in pinned)
        bank_sections = "".join(
            f"  .data.DM_bank{'ABCD'[i]} : {{ *(*DM_bank{'ABCD'[i]}* .aie.bank{i}*) }} > bank{i}\n" for i in pinned
        )
        symbols = "".join(f"{name} = {address:#x};\n" for name, address in self.symbols.items())
        regions = f"  program : ORIGIN = 0, LENGTH = 0x4000\n  data : ORIGIN = {data[0]:#x}, LENGTH = {data[1]:#x}\n"
        # The core's own object has these with their initial values.
        for name, (address, size) in self.overlays.items():
            regions += f"  of_{name} : ORIGIN = {address:#x}, LENGTH = {size:#x}\n"
            bank_sections += f"  .data.{name} : {{ *(.data.{name} .rodata.{name}) }} > of_{name}\n"
        sections = (
            "  .text : { *crt0.o(.text*) *(.text*) } > program\n"
            + bank_sections
            + "  .data : { *(.data*) *(.rodata*) } > data\n  .bss : { *(.bss*) } > data\n"
            "  .comment : { *(.comment) }\n  .symtab : { *(.symtab) }\n  .shstrtab : { *(.shstrtab) }\n"
            "  .strtab : { *(.strtab) }\n  .riscv.attributes : { *(.riscv.attributes) }\n"
            "  /DISCARD/ : { *(.stack_sizes) *(.debug_*) *(.llvmbc) *(.llvmcmd) *(.eh_frame*) }\n"
        )
        return (
            f"MEMORY\n{{\n{regions}{banks}}}\nENTRY(__start)\nSECTIONS\n{{\n{sections}}}\n"
            f"{symbols}PROVIDE(main = {self.main});\n"
        )

    def _partly(self, base: int, size: int) -> bool:
        """Whether a window is the core's own: the BCF does not reserve all of it."""
        return (base, size) not in self.taken

    def _run(self, start: int, size: int, taken: Sequence[tuple[int, int]] | None = None) -> tuple[int, int]:
        """The largest free run of a stretch, 64-byte aligned."""
        cursor, best = start, (start, 0)
        edges = sorted(self.taken if taken is None else taken)
        for at, length in [*edges, (start + size, 0)]:
            end = min(max(at, start), start + size)
            cursor = -(-cursor // 64) * 64
            if end - cursor > best[1]:
                best = cursor, end - cursor
            cursor = max(cursor, min(at + length, start + size))
        return best


def _names_bank(content: bytes, bank: int) -> bool:
    return f"DM_bank{'ABCD'[bank]}".encode() in content or f".aie.bank{bank}".encode() in content


_HANDLERS = {"xchesscc": direct, "xchesscc_wrapper": wrapper, "chess-llvm-link": llvm_link}
