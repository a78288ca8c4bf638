"""Descriptor chains of fifos as templates: channels that do the same on other buffers and locks share one.

What differs between channels becomes the template's arguments: buffers and locks, each once, in the order of use.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from aiecc.ir.dialects.aie.dma import NextBdOp
from aiecc.ir.dialects.aie.runtime import BdChainOp
from aiecc.ir.dialects.aie.tiles import DeviceOp, EndOp
from aiecc.ir.fifo.chains import Chain, LockUse, Transfer
from aiecc.ir.fifo.view import fresh_name, names_in, put_before
from aiecc.ir.spans import copy_span

Writer = Callable[[Transfer], Iterable[Operation]]
"""The ops of one descriptor, without its terminator."""


@dataclass
class Templates:
    """The templates of a device so far. `write`: how a descriptor is written."""

    device: DeviceOp
    write: Writer
    made: dict[Hashable, BdChainOp] = field(default_factory=dict[Hashable, BdChainOp])
    taken: set[str] = field(default_factory=set[str])

    def __post_init__(self) -> None:
        self.taken = names_in(self.device)

    def use(self, chain: Chain, at: Operation) -> tuple[str, list[SSAValue]]:
        """The template of a chain, made if there is none yet, and what it is started with. `at`: whose it is."""
        arguments = list(dict.fromkeys(_values(chain)))
        shape = _shape(chain, arguments)
        found = self.made.get(shape)
        if found is None:
            found = self.made[shape] = self._make(chain, arguments, at)
        return found.symbol, arguments

    def _make(self, chain: Chain, arguments: list[SSAValue], at: Operation) -> BdChainOp:
        types: list[Attribute] = [value.type for value in arguments]
        # A chain that goes round cannot go back to its entry: that one only leads in.
        blocks = [Block() for _ in chain.transfers]
        last = Block([EndOp()]) if chain.bounded else blocks[0]
        region = Region(blocks)
        if chain.bounded:
            region.add_block(last)
        else:
            region.insert_block_before(Block([NextBdOp.create(successors=[blocks[0]])]), blocks[0])
        entry = region.blocks[0]
        put = {value: entry.insert_arg(type, i) for i, (value, type) in enumerate(zip(arguments, types, strict=True))}
        for block, following, transfer in zip(blocks, [*blocks[1:], last], chain.transfers, strict=True):
            block.add_ops([*self.write(_over(transfer, put)), NextBdOp.create(successors=[following])])
        made = BdChainOp(fresh_name("chain", self.taken), region)
        copy_span(at, made, *made.walk())
        stop = self.device.block.last_op
        assert stop is not None
        put_before(stop, made)
        return made


def _values(chain: Chain) -> Iterator[SSAValue]:
    for transfer in chain.transfers:
        yield transfer.buffer
        yield from (use.lock for use in (transfer.acquire, transfer.release) if use is not None)


def _over(transfer: Transfer, put: Mapping[SSAValue, SSAValue]) -> Transfer:
    """A transfer with other buffers and locks."""

    def lock(use: LockUse | None) -> LockUse | None:
        return None if use is None else replace(use, lock=put[use.lock])

    buffer, acquire, release = put[transfer.buffer], lock(transfer.acquire), lock(transfer.release)
    return replace(transfer, buffer=buffer, acquire=acquire, release=release)


def _shape(chain: Chain, arguments: list[SSAValue]) -> Hashable:
    """All about a chain but which buffers and locks it is started with, and how often it runs."""
    index = {value: i for i, value in enumerate(arguments)}

    def lock(use: LockUse | None) -> Hashable:
        return None if use is None else (index[use.lock], use.amount)

    transfers = tuple(
        (
            index[t.buffer],
            t.offset,
            t.length,
            t.dims,
            t.pads,
            lock(t.acquire),
            lock(t.release),
            t.iteration,
            t.packet,
        )
        for t in chain.transfers
    )
    return chain.bounded, tuple(value.type for value in arguments), transfers
