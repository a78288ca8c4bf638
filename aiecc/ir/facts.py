"""From IR to facts: what a module says, as the frozen values the rest of the house works on.

`survey` reads a whole module. It looks at the ops that stand in a device and at the DMA programs, which may hold
buffers of their own, but never into cores, so its cost does not grow with the code they run.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import IntegerAttr, MemRefType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation

from aiecc.ir.dialects.aie.cores import CoreOp, DmaProgram
from aiecc.ir.dialects.aie.memory import BufferOp
from aiecc.ir.dialects.aie.tiles import DeviceOp, TileOp
from aiecc.ir.dialects.base import text_of
from aiecc.ir.dialects.constraints import number
from aiecc.ir.spans import span_of
from aiecc.model.design import BufferFacts, CoreFacts, Design, DeviceFacts, FunctionFacts, Measured, TileFacts
from aiecc.model.ids import CoreId, DeviceId, SequenceId
from aiecc.model.targets import Tile, memory_space_banks

DEFAULT_SEQUENCE = "sequence"


def survey(module: Operation) -> Design:
    """Everything a module's devices declare, in program order. `module` may be one device as well."""
    return Design(tuple(survey_device(device) for device in devices(module)))


def devices(module: Operation) -> Iterator[DeviceOp]:
    """The devices of a module, in program order."""
    if isinstance(module, DeviceOp):
        yield module
    elif isinstance(module, ModuleOp):
        for op in module.body.block.ops:
            if isinstance(op, DeviceOp):
                yield op


def survey_device(device: DeviceOp) -> DeviceFacts:
    """What one device declares. Tiles and cores without a place are left out."""
    name = device.symbol
    buffers: dict[Tile, list[BufferFacts]] = {}
    tiles: dict[Tile, TileOp] = {}
    cores: list[CoreFacts] = []
    functions: list[FunctionFacts] = []
    sequences: list[SequenceId] = []
    for op in device.block.ops:
        if isinstance(op, BufferOp):
            _collect(op, buffers)
        elif isinstance(op, TileOp):
            tiles.setdefault(op.coord, op)
        elif isinstance(op, CoreOp):
            if op.coord is not None:
                cores.append(core_facts(name, op))
        elif isinstance(op, DmaProgram):
            for inner in op.walk():
                if isinstance(inner, BufferOp):
                    _collect(inner, buffers)
        elif isinstance(op, FuncOp):
            functions.append(_function(op))
        elif op.name == "aie.runtime_sequence":
            sequences.append(SequenceId(name, text_of(op.properties.get("sym_name")) or DEFAULT_SEQUENCE))
    return DeviceFacts(
        id=DeviceId(name),
        target=device.device.word,
        where=span_of(device),
        tiles=tuple(TileFacts(*at, tuple(buffers.get(at, ())), span_of(op)) for at, op in tiles.items()),
        cores=tuple(cores),
        functions=tuple(functions),
        sequences=tuple(sequences),
    )


def buffers_of(device: DeviceOp) -> Iterator[BufferOp]:
    """The buffers of a device in the order of a pre-order walk; those inside cores left out."""
    for op in device.block.ops:
        if isinstance(op, BufferOp):
            yield op
        elif isinstance(op, DmaProgram):
            yield from (inner for inner in op.walk() if isinstance(inner, BufferOp))


def buffers_by_tile(device: DeviceOp) -> dict[Tile, list[BufferOp]]:
    """The buffers of every placed tile, in the order of a pre-order walk; those inside cores left out."""
    found: dict[Tile, list[BufferOp]] = {}
    for buffer in buffers_of(device):
        tile = buffer.tile_op
        if tile is not None and tile.coord is not None:
            found.setdefault(tile.coord, []).append(buffer)
    return found


def _collect(buffer: BufferOp, into: dict[Tile, list[BufferFacts]]) -> None:
    tile = buffer.tile_op
    if tile is not None and tile.coord is not None:
        into.setdefault(tile.coord, []).append(buffer_facts(buffer))


def buffer_facts(buffer: BufferOp) -> BufferFacts:
    return BufferFacts(
        name=buffer.symbol or "",
        size=buffer.size_bytes,
        address=buffer.address,
        mem_bank=buffer.mem_bank,
        aligned=buffer.aligned,
        core_data=buffer.core_data,
        bank_reserved=buffer.bank_reserved,
        banks=memory_space_banks(memory_space(buffer.result.type)),
        initialized=buffer.initial_value is not None,
        where=span_of(buffer),
    )


def memory_space(type: Attribute) -> int | None:
    """The numeric memory space of a memref; None for the default one."""
    space = type.memory_space if isinstance(type, MemRefType) else None
    return number(space) if isinstance(space, IntegerAttr) else None


def core_facts(device: str, core: CoreOp) -> CoreFacts:
    """What an `aie.core` declares. A deprecated `link_with` counts where no list has replaced it."""
    assert core.coord is not None
    files = core.link_files
    if core.link_with is not None and "link_files" not in core.properties:
        files = (core.link_with,)
    return CoreFacts(
        id=CoreId(device, *core.coord),
        where=span_of(core),
        stack_size=core.stack_size,
        stack_bank=core.stack_bank,
        stack_address=core.stack_address,
        data_size=core.data_size,
        elf_file=core.elf_file,
        link_files=files,
        merge_files=core.link_merge_files,
        measured=measured(core),
    )


def measured(core: CoreOp) -> Measured:
    """The `measured_*` attributes of a core."""
    ranges = core.measured_data_ranges
    return Measured(
        stack_size=core.measured_stack_size,
        data_size=core.measured_data_size,
        data_alignment=core.measured_data_alignment,
        bank_sizes=_present(core, "measured_bank_sizes", core.measured_bank_sizes),
        bank_alignments=_present(core, "measured_bank_alignments", core.measured_bank_alignments),
        data_ranges=tuple(zip(ranges[::2], ranges[1::2], strict=False))
        if "measured_data_ranges" in core.properties
        else None,
    )


def _present(core: CoreOp, name: str, values: tuple[int, ...]) -> tuple[int, ...] | None:
    return values if name in core.properties else None


def _function(function: FuncOp) -> FunctionFacts:
    return FunctionFacts(
        name=function.sym_name.data,
        where=span_of(function),
        link_with=text_of(function.attributes.get("link_with")),
        merge=text_of(function.attributes.get("link_with_mode")) == "merge",
        stack_size_override=number(function.attributes.get("stack_size_override")),
    )
