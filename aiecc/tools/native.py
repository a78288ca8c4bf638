"""MLIR functions and C sources as a library of this machine, for models that run a design instead of building it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from aiecc.base.blob import Blob
from aiecc.model.toolchain import Tool, Toolchain
from aiecc.tools.commands import Invocation, mlir_opt_argv, translate_argv
from aiecc.tools.workshop import Workshop

PIPELINE = (
    "builtin.module(convert-scf-to-cf,canonicalize,cse,expand-strided-metadata,lower-affine,arith-expand,"
    "convert-math-to-llvm,convert-math-to-libm,finalize-memref-to-llvm,"
    "convert-func-to-llvm{use-bare-ptr-memref-call-conv=true},convert-arith-to-llvm,convert-cf-to-llvm,"
    "convert-index-to-llvm,reconcile-unrealized-casts,canonicalize,cse)"
)

LIBRARY = "native.so"


def native_library(
    text: str,
    sources: Sequence[Path],
    tools: Toolchain,
    run: Workshop,
    *,
    flags: Sequence[str] = (),
    files: Mapping[str, str] | None = None,
) -> Blob:
    """The functions of an MLIR module (`func`, `arith`, `scf`, `memref`) and C sources in one shared library.

    Wants a toolchain whose clang compiles for this machine, as the portable one's does. `flags`: more arguments of the
    C compiler. `files`: texts to compile along, by name. Raises `ToolFailure`, or `Refused` when a tool is not there.
    """
    clang = tools.tool("clang")
    more = dict(files or {})
    compile_ir = ("-c", "-O2", "-fPIC", "-x", "ir", "-Wno-override-module", "code.ll", "-o", "code.o")
    link = ("-O2", "-shared", "-fPIC", "-pthread", *flags, "code.o", *map(str, sources), *more, "-o", LIBRARY)
    steps = [
        mlir_opt_argv(tools, pipeline=PIPELINE, input="in.mlir", output="llvm.mlir", split=False),
        translate_argv(tools, input="llvm.mlir", output="code.ll", split=False),
        Invocation("clang", (*clang.argv, *compile_ir)),
        Invocation("cc", (*_cc(clang), *link)),
    ]
    made = run.job(
        steps, inputs={"in.mlir": text, **more, **{str(source): source for source in sources}}, outputs=[LIBRARY]
    )
    return made.blob(LIBRARY)


def _cc(clang: Tool) -> tuple[str, ...]:
    """The driver that knows this machine's C library: of the wheel's zig it is another word."""
    return (clang.path, "cc") if clang.prefix == ("clang",) else clang.argv
