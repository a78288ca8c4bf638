"""The artifacts of a build, in the order they are made. All frozen; files are blobs."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass

from aiecc.base.spans import Span
from aiecc.model.artifact import Blob, Module
from aiecc.model.design import CoreFacts, Design
from aiecc.model.ids import CoreId, DeviceId, KernelId, SequenceId
from aiecc.model.measure import DataMeasure, StackMeasure
from aiecc.model.memory import TileLayout, TileProblem

Key = DeviceId | CoreId | KernelId | SequenceId


@dataclass(frozen=True, slots=True)
class Lowered:
    """A design at the level cores are compiled from: buffers named, link files assigned, no addresses.

    `assumed`: cores whose `stack_size` nobody wrote; `--default-stack-size` did. `recipe`: the passes that made it.
    """

    module: Module
    design: Design
    assumed: tuple[CoreId, ...] = ()
    recipe: tuple[str, ...] = ()

    def asked_at(self, kernel: KernelId) -> Span | None:
        """The user's line that names a link file: the function's, else that of the first core that links it."""
        device = self.design.device(kernel.device)
        named = (f.where for f in device.functions if f.link_with == kernel.path)
        linking = (c.where for c in device.cores if kernel in c.kernels)
        return next((w for w in (*named, *linking) if w is not None), None)

    def members(self, kind: str, within: Key | None = None) -> Sequence[Key]:
        """The devices, cores, kernels or sequences of the design, in program order.

        Within a core: only the kernels this core links.
        """
        found: list[Key] = []
        for device in self.design.devices:
            if isinstance(within, DeviceId) and device.id != within:
                continue
            if kind == "device":
                found.append(device.id)
            elif kind == "sequence":
                found.extend(device.sequences)
            elif kind == "core":
                found.extend(core.id for core in device.cores)
            elif kind == "kernel":
                for core in device.cores:
                    if isinstance(within, CoreId) and core.id != within:
                        continue
                    found.extend(k for k in core.kernels if k not in found)
        return found


@dataclass(frozen=True, slots=True)
class LlvmIr:
    """LLVM IR of one core, core-specific names replaced by canonical ones; `names` puts them back."""

    text: str
    names: tuple[tuple[str, str], ...] = ()


class LinkKind(enum.Enum):
    OBJECT = "object"
    ARCHIVE = "archive"
    BITCODE = "bitcode"
    IR = "IR"


@dataclass(frozen=True, slots=True)
class LinkInput:
    """A file for the linker, or to merge into the core's IR.

    `path` is the user's file as found; `blob` its content, or what was compiled from it. `name` is what the file is
    called where cores are linked. A thin archive is made a whole one, since its members lie elsewhere.
    """

    kernel: KernelId
    kind: LinkKind
    path: str
    name: str
    blob: Blob


@dataclass(frozen=True, slots=True)
class CoreObject:
    """The core's own code as an object. `optimized`: its IR after the middle end, where kept."""

    blob: Blob
    optimized: Blob | None = None


@dataclass(frozen=True, slots=True)
class Runtime:
    """What a toolchain links into every core: start-up objects by name, in link order, and an archive of the rest.

    Empty where the compiler driver brings its own.
    """

    startup: tuple[tuple[str, Blob], ...] = ()
    library: Blob | None = None
    symbols: tuple[str, ...] = ()
    """What all of these define, sorted: names that nothing else may have."""


@dataclass(frozen=True, slots=True)
class CoreElf:
    """A linked core. `link_map` tells which input each section came from."""

    blob: Blob
    link_map: Blob | None = None


@dataclass(frozen=True, slots=True)
class Placement:
    """Every extent of every tile has an address. `module` and `design` carry them."""

    module: Module
    design: Design
    tiles: tuple[tuple[DeviceId, TileProblem, TileLayout], ...] = ()


@dataclass(frozen=True, slots=True)
class LinkScript:
    """What the linker is told: a linker script, or a BCF with the files beside it."""

    text: str
    bcf: bool = False
    data_size: int = 0
    """Bytes granted to the data region, for the hint when it overflows."""
    stack_end: int = 0
    """The absolute address where the stack reservation ends."""


@dataclass(frozen=True, slots=True)
class CoreReport:
    """What one core needs and has. Bytes. `core` is what its author declared."""

    core: CoreFacts
    stack_reserved: int
    stack: StackMeasure | None = None
    data: DataMeasure | None = None
    program: int = 0
    program_limit: int = 0
    prebuilt: bool = False


@dataclass(frozen=True, slots=True)
class Instructions:
    """One runtime sequence as the NPU executes it: a transaction, and which of its bytes come from which line."""

    data: bytes
    locations: str
