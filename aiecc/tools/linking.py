"""Linking a core: start-up code, its own object, its kernels, a script."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from aiecc.base.blob import Blob
from aiecc.model.build import LinkInput, Runtime
from aiecc.model.toolchain import Toolchain
from aiecc.tools.commands import link_argv
from aiecc.tools.workshop import Workshop

_LIBRARY = "runtime.a"
T = TypeVar("T")


class Sharing(Protocol):
    """What is wanted of the engine's memo: work done once for equal keys."""

    def get(self, name: str, key_parts: tuple[str, ...], make: Callable[[], T], type: Any) -> T: ...


# Names of the link's other files. Start-up objects are named by the toolchain: theirs begin with crt.
_OURS = frozenset(("core.o", "core.elf", "script.ld", "script.bcf", "crt0.o", "crt1.o", _LIBRARY))


def linked_names(files: Sequence[LinkInput]) -> tuple[str, ...]:
    """What each file is called in the folder of the link: its own name, numbered where two are the same."""
    names: list[str] = []
    for file in files:
        name, number = file.name, 0
        while name in names or name in _OURS:
            number += 1
            name = f"{number}_{file.name}"
        names.append(name)
    return tuple(names)


def link(
    object: Blob,
    files: Sequence[LinkInput],
    script: str,
    stack_end: int,
    *,
    tools: Toolchain,
    arch: str,
    opt_level: int,
    runtime: Runtime,
    run: Workshop,
    memo: Sharing,
    probe: bool = False,
) -> Blob:
    """The linked core. Raises `ToolFailure` with the linker's words.

    What goes in is known by content, so a link that was done before is not done again, whatever else in the design
    has changed. `script` names the files as `linked_names` does; `stack_end` is where the stack reservation ends.
    """
    library = {} if runtime.library is None else {_LIBRARY: runtime.library}
    names = linked_names(files)
    bcf = tools.capabilities.bcf
    name = "script.bcf" if bcf else "script.ld"
    step = link_argv(
        tools,
        arch=arch,
        opt_level=opt_level,
        objects=("core.o",),
        script=name,
        output="core.elf",
        stack_end=stack_end,
        startup=tuple(name for name, _ in runtime.startup),
        runtime=tuple(library),
        link_files=names if bcf else (),
        probe=probe,
    )
    inputs: dict[str, Blob | str] = {**dict(runtime.startup), **library, "core.o": object, name: script}
    inputs.update((n, f.blob) for n, f in zip(names, files, strict=True))

    def linked() -> Blob:
        made = run.job([step], inputs=inputs, outputs=("core.elf",))
        if not made.blob("core.elf").bytes().startswith(b"\x7fELF"):
            raise made.failure("what it made is no ELF")
        return made.blob("core.elf")

    contents = (f"{n}={c if isinstance(c, str) else c.digest}" for n, c in inputs.items())
    return memo.get("link", (tools.fingerprint, *step.argv, *contents), linked, Blob)
