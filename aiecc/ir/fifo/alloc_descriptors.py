"""Whether the buffer descriptors of a tile suffice for the chains that its channels are to run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from aiecc.ir.dialects.aie.pools import DmaEndpointOp
from aiecc.ir.fifo.alloc_channels import Channels, Want
from aiecc.ir.fifo.alloc_facts import Facts, Fault, Place, direction_word
from aiecc.ir.fifo.alloc_programs import Programs, chain_length, descriptors
from aiecc.ir.fifo.view import tile_text
from aiecc.ir.passes.report import OpNote

Bank = tuple[Place, int]
"""Descriptors that the same channels can use: the tile and the first of them."""


def overfull(facts: Facts, programs: Programs, channels: Channels) -> Iterator[Fault]:
    """One fault for each tile whose channels need more descriptors at once than they can use.

    Chains that the runtime writes and frees do not count: whether those fit is decided where they are numbered.
    """
    banks: dict[Bank, list[Want]] = {}
    fixed: dict[Bank, list[OpNote]] = {}
    held: dict[Bank, int] = {}
    for place, op in programs.fixed:
        if op.index is None or (bank := _bank(facts, place, op.index)) is None:
            continue
        count = chain_length(op)
        held[bank] = held.get(bank, 0) + count
        fixed.setdefault(bank, []).append((f"{op.name} on {op.direction.word} channel {op.index} needs {count}", op))
    for want in channels.wants:
        if want.channel is not None and want.static and (bank := _bank(facts, want.place, want.channel)) is not None:
            banks.setdefault(bank, []).append(want)
    told: set[Place] = set()
    for bank, wants in banks.items():
        dma = facts.dma(bank[0])
        fifos = [want for want in wants if isinstance(want.first, DmaEndpointOp)]
        total = sum(want.static for want in wants) + held.get(bank, 0)
        if dma is None or not fifos or total <= dma.bds_per_channel or bank[0] in told:
            continue
        told.add(bank[0])
        notes = [note for want in wants for note in _notes(want)] + fixed.get(bank, [])
        yield _fault(facts, max(fifos, key=lambda want: want.static), wants, total, dma.bds_per_channel, notes)


def _bank(facts: Facts, place: Place, channel: int) -> Bank | None:
    dma = facts.dma(place)
    return None if dma is None or not 0 <= channel < dma.channels else (place, dma.bd_ids(channel).start)


def _notes(want: Want) -> Iterator[OpNote]:
    for end in want.ends:
        fifo = f" for ObjectFifo @{end.fifo_name}" if end.fifo_name else ""
        word = f"{direction_word(want.sends)} channel {want.channel}"
        yield f"DMA endpoint @{end.symbol}{fifo} on {word} needs {want.static}", end


def _fault(facts: Facts, want: Want, wants: Sequence[Want], total: int, size: int, notes: Sequence[OpNote]) -> Fault:
    end = want.first
    assert isinstance(end, DmaEndpointOp)
    fifo = f"of ObjectFifo @{end.fifo_name} " if end.fifo_name else ""
    channel = f"{direction_word(want.sends)} channel {want.channel}"
    text = f"{fifo}on {tile_text(end.tile_op)} needs {want.static} buffer descriptors, but {channel} "
    if want.static > size:
        text += f"can use {size}"
    else:
        text += f"shares {size} with channels that need {total - want.static} more"
    depth = _depth(facts, end, wants, size - total)
    what = f"fifo @{end.fifo_name}" if end.fifo_name else f"pool @{end.pool}"
    todo = f"a depth of at most {depth} for {what}" if depth and len(want.ends) == 1 else ""
    return Fault(end, text, tuple(notes), todo)


def _depth(facts: Facts, end: DmaEndpointOp, wants: Sequence[Want], missing: int) -> int:
    """The largest depth of an end's pool with which everything fits; 0 when the pool alone does not decide."""
    mine = [
        other for want in wants for other in want.ends if isinstance(other, DmaEndpointOp) and other.pool == end.pool
    ]
    now = sum(descriptors(facts.view, other) for other in mine)
    for depth in range(facts.view.pool_of(end).depth - 1, 0, -1):
        if sum(descriptors(facts.view, other, depth) for other in mine) <= now + missing:
            return depth
    return 0
