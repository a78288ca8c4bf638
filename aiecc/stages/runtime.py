"""runtime: start-up code and run-time of the toolchain, as objects."""

from __future__ import annotations

from pathlib import Path

from aiecc.base.blob import Blob
from aiecc.engine.scope import Memo
from aiecc.engine.spec import hookimpl
from aiecc.engine.store import Store
from aiecc.model.build import Runtime
from aiecc.model.ids import DeviceId
from aiecc.model.targets import Target
from aiecc.model.toolchain import Toolchain
from aiecc.tools.workshop import Workshop


@hookimpl
def aiecc_runtime(
    device: DeviceId, tools: Toolchain, target: Target, run: Workshop, store: Store, memo: Memo
) -> Runtime:
    """Once for all devices of an architecture."""
    from aiecc.elf.archive import Member
    from aiecc.elf.inputs import LinkFile, objects
    from aiecc.elf.pack import pack
    from aiecc.tools.commands import runtime_objects

    arch = target.arch.value
    if not tools.spec.source_files:
        return Runtime()
    made = memo.get("runtime", (tools.fingerprint, arch), lambda: _compiled(tools, arch, run), dict[str, Blob])
    # One archive instead of many objects: every core links them, and takes only what it calls.
    startup, library = runtime_objects(tools)
    packed = store.put(pack(Member(name, made[name].bytes()) for name in library), ".a")
    inputs = objects(LinkFile(name, blob.bytes()) for name, blob in made.items())
    symbols = sorted({s.name for o in inputs for s in o.image.symbols if s.defined and s.is_exported})
    return Runtime(tuple((name, made[name]) for name in startup), packed, tuple(symbols))


def _compiled(tools: Toolchain, arch: str, run: Workshop) -> dict[str, Blob]:
    from aiecc.tools.commands import runtime_argvs

    steps = runtime_argvs(tools, arch=arch)
    sources = {source: Path(source) for source, _, _ in steps}
    made = run.job([step for _, _, step in steps], inputs=sources, outputs=[output for _, output, _ in steps])
    return {output: made.blob(output) for _, output, _ in steps}
