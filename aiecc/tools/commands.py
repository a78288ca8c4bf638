"""Argument lists: a toolchain's templates filled with the values of one job. Pure; nothing is run here.

Each function returns the commands of a job in order. File names are written as given: name files relative to the
folder the commands will run in, so that a list does not depend on where that is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from aiecc.base.diag import refuse
from aiecc.model.toolchain import Group, Step, Toolchain

Value = str | int | bool | Sequence[str]

SPLIT_MARKER = "// -----"
"""What parts several modules in one file, both for MLIR and, as written by `translate_argv`, for LLVM IR."""

CXX_SUFFIXES = frozenset({".cc", ".cpp", ".cxx", ".c++", ".C"})
SOURCE_SUFFIXES = CXX_SUFFIXES | {".c"}


@dataclass(frozen=True, slots=True)
class Invocation:
    """One command to run: the tool's name in its toolchain file, and the whole argument list."""

    tool: str
    argv: tuple[str, ...]


def is_source(path: str) -> bool:
    """Whether a link file is a C or C++ source."""
    return Path(path).suffix in SOURCE_SUFFIXES


def mlir_opt_argv(tools: Toolchain, *, pipeline: str, input: str, output: str, split: bool = True) -> Invocation:
    """Run a pass pipeline, `builtin.module(...)`; with `split`, on every module of a file of several."""
    return _one(tools, "mlir_opt", "", {"pipeline": pipeline, "input": input, "output": output, "split": split})


def translate_argv(tools: Toolchain, *, input: str, output: str, split: bool = True) -> Invocation:
    """Write LLVM IR; with `split`, that of several modules, parted by `SPLIT_MARKER`."""
    values: dict[str, Value] = {"input": input, "output": output, "split": split, "split_marker": SPLIT_MARKER}
    return _one(tools, "translate", "", values)


def compile_ir_argvs(
    tools: Toolchain,
    *,
    arch: str,
    opt_level: int,
    input: str,
    output: str,
    optimized: str,
    stack_space: int | None = None,
    keep_ir: bool = False,
    workdir: str = ".",
) -> tuple[Invocation, ...]:
    """Compile a core's IR. `optimized`: where the IR after the middle end goes, if the toolchain writes it or
    `keep_ir` asks for it. `stack_space`: the address space of the stack's bank (5 + bank), None when it spans banks.
    """
    values: dict[str, Value] = {"input": input, "output": output, "optimized": optimized, "workdir": workdir}
    values["keep_ir"] = keep_ir
    if stack_space is not None and tools.capabilities.stack_banks:
        values["stack_space"] = stack_space
    return fill(tools, "compile_ir", arch, {**values, **_levels(tools, opt_level)})


def compile_source_argvs(
    tools: Toolchain,
    *,
    arch: str,
    opt_level: int,
    input: str,
    output: str,
    depfile: str = "",
    includes: Iterable[str] = (),
    defines: Iterable[str] = (),
    embed_ir: bool = False,
    to_ir: bool = False,
    workdir: str = ".",
) -> tuple[Invocation, ...]:
    """Compile a C or C++ kernel, told apart by its suffix. The folder of `aie_bank_placement.h` is always searched.

    `depfile`: where a make-style list of the headers goes (toolchains that cannot write one leave it out).
    `embed_ir`: keep the IR inside the object. `to_ir`: write IR instead of an object.
    """
    folders = [*includes, *map(str, tools.include_folders)]
    values: dict[str, Value] = {
        "input": input,
        "output": output,
        "depfile": depfile,
        "includes": folders,
        "defines": tuple(defines),
        "embed_ir": embed_ir and not to_ir,
        "to_ir": to_ir,
        "workdir": workdir,
        "cxx": Path(input).suffix in CXX_SUFFIXES,
    }
    job = "source_to_ir" if to_ir else "compile_source"
    return fill(tools, job, arch, {**values, **_levels(tools, opt_level)})


def runtime_argvs(tools: Toolchain, *, arch: str) -> tuple[tuple[str, str, Invocation], ...]:
    """(source, object, command) for every file of start-up code and run-time; empty for toolchains without any.

    The object is named after the source: linker scripts look for `crt0.o`.
    """
    made: list[tuple[str, str, Invocation]] = []
    for source in tools.spec.source_files:
        output = f"{source.stem}.o"
        made.append(
            (str(source), output, _one(tools, "compile_runtime", arch, {"input": str(source), "output": output}))
        )
    return tuple(made)


def runtime_objects(tools: Toolchain) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(start-up objects, run-time objects) as `link_argv` wants them, named as `runtime_argvs` names them."""
    return tuple(f"{Path(f).stem}.o" for f in tools.spec.startup), tuple(
        f"{Path(f).stem}.o" for f in tools.spec.runtime
    )


def disassemble_argvs(tools: Toolchain, *, arch: str, input: str, output: str) -> tuple[Invocation, ...]:
    """Bitcode (or IR text) as IR text."""
    return fill(tools, "disassemble", arch, {"input": input, "output": output})


def merge_ir_argvs(tools: Toolchain, *, arch: str, inputs: Sequence[str], output: str) -> tuple[Invocation, ...]:
    """Link modules of IR text into one: the core's first, then the kernels'.

    Definitions in the kernels must not be `linkonce` (see `llvm_text.keep_definitions`). Files named
    `INPUT.bc` and `OUTPUT.bc` may appear on the way.
    """
    return fill(tools, "merge_ir", arch, {"inputs": tuple(inputs), "output": output})


def link_argv(
    tools: Toolchain,
    *,
    arch: str,
    opt_level: int,
    objects: Sequence[str],
    script: str,
    output: str,
    stack_end: int = 0,
    startup: Sequence[str] = (),
    runtime: Sequence[str] = (),
    link_files: Sequence[str] = (),
    probe: bool = False,
    map: str = "",
    workdir: str = ".",
) -> Invocation:
    """Link a core. `script`: the linker script, or the BCF. `link_files` only counts for a BCF link: elsewhere the
    script names them. `stack_end`: the absolute address where the stack reservation ends.
    """
    values: dict[str, Value] = {
        "objects": tuple(objects),
        "startup": tuple(startup),
        "runtime": tuple(runtime),
        "link_files": tuple(link_files),
        "script": script,
        "output": output,
        "stack_end": f"0x{stack_end:X}",
        "probe": probe,
        "map": map,
        "workdir": workdir,
    }
    return _one(tools, "link", arch, {**values, **_levels(tools, opt_level)})


# -- templates -------------------------------------------------------------------------------------


def fill(tools: Toolchain, job: str, arch: str, values: Mapping[str, Value]) -> tuple[Invocation, ...]:
    """The commands of a job with these values.

    Raises `Refused` for an architecture the toolchain does not know, a missing tool, or a template that wants a
    value the job does not have.
    """
    words: Mapping[str, str] = {}
    if arch:
        if not tools.spec.supports(arch):
            name = "Chess toolchain" if "chess" in tools.name else f"toolchain '{tools.name}'"
            refuse(f"aiecc: unsupported AIE target for {name}: {arch}", code="E0801")
        words = tools.spec.words[arch]
    recipe = tools.recipe(job, arch)
    base: dict[str, Value] = {**words, "arch": arch, "folder": tools.spec.folder, "root": tools.root, **values}
    made: list[Invocation] = []
    for step in recipe.steps:
        if _wanted(step, _Scope(tools, step.tool, arch, base, job)):
            for item in _items(step, base):
                scope = _Scope(tools, step.tool, arch, {**base, **item}, job)
                made.append(Invocation(step.tool, scope.argv(step)))
    return tuple(made)


def _one(tools: Toolchain, job: str, arch: str, values: Mapping[str, Value]) -> Invocation:
    made = fill(tools, job, arch, values)
    if len(made) != 1:
        refuse(f"toolchain '{tools.name}': job '{job}' must be one command, not {len(made)}", code="E0803")
    return made[0]


def _levels(tools: Toolchain, level: int) -> dict[str, Value]:
    return {"opt_level": str(level), "middle_level": str(min(level, tools.spec.middle_level)), "opt3": level >= 3}


def _items(part: Step | Group, values: Mapping[str, Value]) -> list[dict[str, str]]:
    if not part.each:
        return [{}]
    items = values.get(part.each, ())
    return [{"it": i} for i in ([items] if isinstance(items, str) else items if isinstance(items, Sequence) else ())]


def _wanted(part: Step | Group, scope: _Scope) -> bool:
    return all(scope.has(w) for w in part.when.split()) and not any(scope.has(w) for w in part.unless.split())


class _Scope:
    """The values one command sees: those of the job, and the variables of the place its tool was found in."""

    def __init__(self, tools: Toolchain, name: str, arch: str, values: Mapping[str, Value], job: str) -> None:
        found = tools.find(name, arch)
        self.tools, self.arch, self.job = tools, arch, job
        self.head = found.argv if found else ()
        self.values: dict[str, Value] = {**values, **dict(found.vars if found else ())}

    def has(self, word: str) -> bool:
        return self._tool(word) is not None if word.startswith("tool:") else bool(self.values.get(word))

    def argv(self, step: Step) -> tuple[str, ...]:
        made = list(self.head)
        for arg in step.args:
            if isinstance(arg, str):
                made.append(self.text(arg, self.values))
            elif _wanted(arg, self):
                for item in _items(arg, self.values):
                    made.extend(self.text(a, {**self.values, **item}) for a in arg.args)
        return tuple(made)

    def text(self, template: str, values: Mapping[str, Value]) -> str:
        def replaced(match: re.Match[str]) -> str:
            word = match[1]
            if word is None:
                return match[0][0]
            if word.startswith("tool:"):
                return self._tool(word) or self._lacks(template, word)
            value = values.get(word)
            return str(value) if isinstance(value, str | int) else self._lacks(template, word)

        return re.sub(r"\{\{|\}\}|\{([A-Za-z_][\w.:+-]*)\}", replaced, template)

    def _tool(self, word: str) -> str | None:
        found = self.tools.find(word.removeprefix("tool:"), self.arch)
        return found.path if found else None

    def _lacks(self, template: str, word: str) -> NoReturn:
        name = word.removeprefix("tool:")
        if name != word:
            here = any(t.name == name for t in self.tools.spec.tools)
            self.tools.tool(name if here else f"{name}@{self.arch}")
        refuse(
            f"toolchain '{self.tools.name}': '{template}' wants a value '{word}', which job '{self.job}' does not have",
            code="E0803",
        )
