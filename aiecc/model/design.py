"""What a design says, without its IR: devices, tiles, buffers, cores, kernels.

`aiecc.ir.facts.survey` reads these off a module; everything below the IR works on them.
Sizes and addresses are bytes; addresses are relative to the tile's own memory.
"""

from __future__ import annotations

from dataclasses import dataclass

from aiecc.base.spans import Span
from aiecc.model.ids import CoreId, DeviceId, KernelId, SequenceId


@dataclass(frozen=True, slots=True)
class BufferFacts:
    """An `aie.buffer`. `banks` is what its memory space allows (None: every bank)."""

    name: str
    size: int
    address: int | None = None
    mem_bank: int | None = None
    aligned: bool = True
    core_data: bool = False
    bank_reserved: bool = False
    banks: tuple[int, ...] | None = None
    initialized: bool = False
    where: Span | None = None


@dataclass(frozen=True, slots=True)
class TileFacts:
    """An `aie.tile` with its buffers in program order."""

    col: int
    row: int
    buffers: tuple[BufferFacts, ...] = ()
    where: Span | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """The `measured_*` attributes of a core; None where absent."""

    stack_size: int | None = None
    data_size: int | None = None
    data_alignment: int | None = None
    bank_sizes: tuple[int, ...] | None = None
    bank_alignments: tuple[int, ...] | None = None
    data_ranges: tuple[tuple[int, int], ...] | None = None


@dataclass(frozen=True, slots=True)
class CoreFacts:
    """An `aie.core`: what its author declared. `link_files` and `merge_files` are in first-use order."""

    id: CoreId
    where: Span | None = None
    stack_size: int | None = None
    stack_bank: int | None = None
    stack_address: int | None = None
    data_size: int | None = None
    elf_file: str | None = None
    link_files: tuple[str, ...] = ()
    merge_files: tuple[str, ...] = ()
    measured: Measured = Measured()

    @property
    def kernels(self) -> tuple[KernelId, ...]:
        return tuple(KernelId(self.id.device, f) for f in self.link_files) + tuple(
            KernelId(self.id.device, f, merge=True) for f in self.merge_files
        )


@dataclass(frozen=True, slots=True)
class FunctionFacts:
    """A `func.func` of a device: declaration of a kernel, or a helper."""

    name: str
    where: Span | None = None
    link_with: str | None = None
    merge: bool = False
    stack_size_override: int | None = None


@dataclass(frozen=True, slots=True)
class DeviceFacts:
    """An `aie.device`; `target` is the device word (`npu2`), a key of `aiecc.model.targets`."""

    id: DeviceId
    target: str
    where: Span | None = None
    tiles: tuple[TileFacts, ...] = ()
    cores: tuple[CoreFacts, ...] = ()
    functions: tuple[FunctionFacts, ...] = ()
    sequences: tuple[SequenceId, ...] = ()

    def tile(self, col: int, row: int) -> TileFacts | None:
        return next((t for t in self.tiles if (t.col, t.row) == (col, row)), None)

    def core(self, core: CoreId) -> CoreFacts:
        return next(c for c in self.cores if c.id == core)

    @property
    def overrides(self) -> dict[str, int]:
        """Declared stack requirement of a kernel's whole call subtree, by function name."""
        return {f.name: f.stack_size_override for f in self.functions if f.stack_size_override is not None}


@dataclass(frozen=True, slots=True)
class Design:
    """All devices of a module, in program order."""

    devices: tuple[DeviceFacts, ...] = ()

    def device(self, name: str) -> DeviceFacts:
        return next(d for d in self.devices if d.id.name == name)

    def core(self, core: CoreId) -> CoreFacts:
        return self.device(core.device).core(core)
