"""The programs of the stand-in Peano: what each one must be given, and who does its work.

The argument lists are written down here by hand, apart from `toolchains/peano.toml`, so that a slip in one of the
two is found by the other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from aiecc.testing.standin_base import Arguments, WrongArguments, run, with_level
from aiecc.tools.llvm_text import rename_intrinsics

TRIPLE = r"--target=(aie|aie2|aie2p|aie2ps)-none-unknown-elf"
VERSION = """clang version 21.0.0 (stand-in for Peano)
LLD 21.0.0
  LLVM version 21.0.0

  Registered Targets:
    aie   - AI Engine
    aie2  - AI Engine 2
    aie2p - AI Engine 2p
"""
_WARNINGS = ("-Wno-parentheses", "-Wno-attributes", "-Wno-macro-redefined", "-Wno-empty-body")


def main(tool: str, folder: str, args: Sequence[str]) -> int:
    """Entry point of the scripts `make_peano` writes."""
    return run(tool, folder, args, _HANDLERS[tool], VERSION)


def opt(args: Arguments, config: dict[str, Any]) -> list[str]:
    """`[-disable-loop-idiom-memset] --passes=default<On> -inline-threshold=10 -S IN -o OUT`."""
    memset = args.maybe("-disable-loop-idiom-memset")
    level = args.match(r"--passes=default<O([01])>", "--passes=default<O0> or <O1>")[1]
    args.word("-inline-threshold=10")
    args.word("-S")
    source = args.file(".ll")
    output = args.output(".ll")
    args.end()
    # llc sees the level that was asked for, so it judges what was done here.
    Path(f"{output}.opt.json").write_text(json.dumps({"level": level, "memset": memset}))
    flags = ["-x", "ir", "-Wno-override-module", f"-O{level}", "-S", "-emit-llvm"]
    return [*config["clang"], *flags, _portable(source, f"{output}.standin.ll"), "-o", output]


def llc(args: Arguments, config: dict[str, Any]) -> list[str]:
    """`IN -On --march=A --function-sections -stack-size-section [-aie-stack-addrspace=5..8] --filetype=obj -o OBJ`."""
    source = args.file(".ll")
    level = int(args.match(r"-O([0-3])", "-O0 to -O3")[1])
    args.match(r"--march=(aie|aie2|aie2p|aie2ps)", "--march=<arch>")
    args.word("--function-sections")
    args.word("-stack-size-section")
    if args.peek().startswith("-aie-stack-addrspace"):
        args.match(r"-aie-stack-addrspace=[5-8]", "-aie-stack-addrspace=5 to 8")
    args.word("--filetype=obj")
    output = args.output(".o")
    args.end()
    try:
        done = json.loads(Path(f"{source}.opt.json").read_text())
    except OSError:
        raise WrongArguments(f"{source} was not written by opt") from None
    if int(done["level"]) != min(level, 1):
        raise WrongArguments(f"opt ran at -O{done['level']} for -O{level}")
    if done["memset"] != (level >= 3):
        raise WrongArguments(f"opt ran {'with' if done['memset'] else 'without'} -disable-loop-idiom-memset")
    ready = _portable(source, f"{output}.standin.ll", config["rename"])
    sections = ["-c", "-ffunction-sections", "-fdata-sections", "-fstack-size-section"]
    return [*config["clang"], "-x", "ir", "-Wno-override-module", f"-O{level}", *sections, ready, "-o", output]


def clang(args: Arguments, config: dict[str, Any]) -> list[str]:
    """The C compiler and the link driver."""
    if re.fullmatch(r"-O\d", args.peek()):
        return _link(args, config)
    return _compile(args, config, cxx=False)


def clangxx(args: Arguments, config: dict[str, Any]) -> list[str]:
    return _compile(args, config, cxx=True)


def lld(args: Arguments, config: dict[str, Any]) -> list[str]:
    """`-r --lto-emit-llvm --lto-O0 BITCODE... -o OUT`: all that is asked of it directly."""
    args.word("-r")
    args.word("--lto-emit-llvm")
    args.word("--lto-O0")
    inputs = [args.file(".bc")]
    while args.peek() != "-o":
        inputs.append(args.file(".bc"))
    output = args.output(".bc")
    args.end()
    return [*config["lld"], "-m", "elf32lriscv", "-r", "--lto-emit-llvm", "--lto-O0", *inputs, "-o", output]


def _link(args: Arguments, config: dict[str, Any]) -> list[str]:
    """`-On --target=T -fuse-ld=LLD OBJ <the -Wl options> [probe] -Wl,-T,SCRIPT -o ELF`."""
    args.match(r"-O[0-3]", "-O0 to -O3")
    args.match(TRIPLE, "--target=<arch>-none-unknown-elf")
    linker = args.match(r"-fuse-ld=(.+)", "-fuse-ld=<path of ld.lld>")[1]
    if linker != "lld" and not (Path(linker).is_absolute() and Path(linker).is_file()):
        raise WrongArguments(f"there is no linker {linker}")
    objects = [args.file(".o")]
    for word in ("--threads=1", "--gc-sections", "--emit-relocs", "--orphan-handling=error"):
        args.word(f"-Wl,{word}")
    probe = args.maybe("-Wl,--no-check-sections")
    link_map = ""
    if args.peek().startswith("-Wl,-Map"):
        link_map = args.match(r"-Wl,-Map,(.+)", "-Wl,-Map,FILE")[1]
    script = args.match(r"-Wl,-T,(.+)", "-Wl,-T,SCRIPT")[1]
    output = args.output(".elf")
    args.end()
    if not Path(script).is_file():
        raise WrongArguments(f"there is no script {script}")
    words = {"@SCRIPT@": [script], "@OUT@": [output], "@OBJECTS@": objects}
    end = f"--defsym=_sp_end_value_DM_stack=0x{stack_end(Path(script).read_text()):X}"
    made: list[str] = []
    for arg in config["link"]:
        if arg.startswith("--defsym="):
            arg = end
        made.extend(words.get(arg, [arg]))
    made[made.index("-o") : made.index("-o")] = [*(["--no-check-sections"] if probe else [])]
    return made + ([f"-Map={link_map}"] if link_map else [])


def _compile(args: Arguments, config: dict[str, Any], *, cxx: bool) -> list[str]:
    """A kernel, as IRON and the makefiles compile one; IR to and from bitcode."""
    args.match(TRIPLE, "--target=<arch>-none-unknown-elf")
    if args.maybe("-x"):
        return _ir(args, config)
    objects = args.maybe("-c")
    if cxx:
        args.word("-std=c++20")
    level = args.match(r"-O([0-3])", "-O0 to -O3")[1]
    args.word("-DNDEBUG")
    args.word("-D__AIE_API_AIE_ADF_HPP__")
    includes, defines = [], []
    while args.peek().startswith("-I"):
        includes += ["-I", args.match(r"-I(.+)", "-IDIR")[1]]
    while args.peek().startswith("-D"):
        defines.append(args.match(r"-D.+", "-DNAME")[0])
    for warning in _WARNINGS:
        args.word(warning)
    if not objects:
        args.word("-S")
        args.word("-emit-llvm")
        kind = ["-S", "-emit-llvm"]
    else:
        for flag in ("-fstack-size-section", "-ffunction-sections", "-fdata-sections"):
            args.word(flag)
        kind = []
    deps: list[str] = []
    if args.maybe("-MD"):
        args.word("-MF")
        deps = ["-MD", "-MF", args.left.pop(0)]
    if "-S" in kind and args.maybe("-MT"):
        deps += ["-MT", args.left.pop(0)]
    source = args.file(*((".cc", ".cpp", ".cxx", ".C", ".c++") if cxx else (".c",)))
    output = args.output(".ll" if "-S" in kind else ".o")
    args.end()
    return _kernel(config, level, source, output, [*includes, *defines, *kind, *deps])


def _kernel(config: dict[str, Any], level: str, source: str, output: str, more: list[str]) -> list[str]:
    command = with_level(config["c" if source.endswith(".c") else "cc"], level)
    made: list[str] = []
    for arg in command:
        if arg.startswith("@IN@"):
            made += [*more, source]
        elif arg == "-c" and "-S" in more:
            continue
        elif arg == "@INCLUDES@":
            made.append(str(Path(config["folder"], "lib")))
        else:
            made.append(output if arg == "@OUT@" else arg)
    return made


def _ir(args: Arguments, config: dict[str, Any]) -> list[str]:
    """`-x ir -O0 -S|-c -emit-llvm IN -o OUT`, or an object with the IR inside."""
    args.word("ir")
    if args.peek() == "-c":
        return _embed(args, config)
    args.word("-O0")
    kind = args.word("-S", "-c")
    args.word("-emit-llvm")
    source = args.file()
    output = args.output()
    args.end()
    if not Path(source).read_bytes().startswith((b"BC\xc0\xde", b"\xde\xc0\x17\x0b")):
        source = _portable(source, f"{output}.standin.ll")
    return [*config["clang"], "-x", "ir", "-Wno-override-module", "-O0", kind, "-emit-llvm", source, "-o", output]


def _embed(args: Arguments, config: dict[str, Any]) -> list[str]:
    """`-c -On -Xclang -disable-llvm-passes -Xclang -fembed-bitcode=all <sections> IN -o OUT`."""
    args.word("-c")
    level = args.match(r"-O([0-3])", "-O0 to -O3")[1]
    flags = ["-Xclang", "-disable-llvm-passes", "-Xclang", "-fembed-bitcode=all"]
    flags += ["-fstack-size-section", "-ffunction-sections", "-fdata-sections"]
    for flag in flags:
        args.word(flag)
    source = args.file(".ll")
    output = args.output(".o")
    args.end()
    return [*config["clang"], "-x", "ir", "-Wno-override-module", f"-O{level}", "-c", *flags, source, "-o", output]


def _portable(source: str, copy: str, rename: Sequence[Sequence[str]] = ()) -> str:
    """A copy of AI Engine IR without the triple and layout another back end would stumble over."""
    text = Path(source).read_text()
    text = re.sub(r"(?m)^target (datalayout|triple) = .*\n", "", text)
    Path(copy).write_text(rename_intrinsics(text, [(old, new) for old, new in rename]))
    return copy


def stack_end(script: str) -> int:
    """Where the stack reservation of a linker script ends."""
    found = re.search(r"\. = (0x[0-9A-Fa-f]+);\s*_sp_start_value_DM_stack = \.;\s*\. \+= (0x[0-9A-Fa-f]+);", script)
    if found is None:
        raise WrongArguments("the script reserves no stack")
    return int(found[1], 16) + int(found[2], 16)


_HANDLERS = {"opt": opt, "llc": llc, "clang": clang, "clang++": clangxx, "ld.lld": lld}
