"""What pipes do not see: layouts that must agree, and tensors in global memory that both cores touch."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Block, Operation, SSAValue

from aiecc.api import Note, Sink, span_of
from aiecc.plugins.tpush.dialect.attrs import TileBufType
from aiecc.plugins.tpush.dialect.pipe_ops import PopOp, PushOp
from aiecc.plugins.tpush.dialect.tile_ops import ComputeOp
from aiecc.plugins.tpush.dialect.view_ops import AddPtrOp, MakeTensorViewOp, PartitionViewOp
from aiecc.plugins.tpush.kernels import Kernel, Pair, arguments_of
from aiecc.plugins.tpush.model import Direction, Kind
from aiecc.plugins.tpush.rules.common import tell

_WARNING = "W1201"


def check_layouts(pair: Pair, diag: Sink) -> None:
    """On A5, Vector to Cube, a tile lies in L1 as it lay in UB; all other ways lay it out anew."""
    pushed = [op for op in pair.vector.transfers if isinstance(op, PushOp)]
    for pop in pair.cube.transfers:
        if not isinstance(pop, PopOp) or pop.DIRECTION is not Direction.V2C:
            continue
        wanted = _layout(pop.taken)
        same = [op for op in pushed if op.number == pop.number]
        if same and all(_layout(op.source) != wanted for op in same):
            theirs = _layout(same[0].source)
            text = f"this tile is popped as {wanted}, but pushed as {theirs}; nothing lays it out anew on the way"
            todo = f"pto.tmov it into a tile of {wanted} before the push"
            tell(diag, pop, text, [("it is pushed here", same[0])], todo)
            return


def _layout(value: SSAValue) -> str:
    assert isinstance(value.type, TileBufType)
    return value.type.layout


# ------------------------------------------------------------------------------------------------ global memory


def check_traffic(pair: Pair, diag: Sink) -> None:
    """A tensor that one core writes and the other reads: a push behind the store and a pop before the load order them.

    A warning: which parts of a tensor are touched when is not looked into.
    """
    names = arguments_of(pair)
    for writer, reader in (pair.kernels, pair.kernels[::-1]):
        stores = dict(_touched(writer, names, True))
        for text, load in _touched(reader, names, False):
            store = stores.get(text)
            if store is None or _ordered(store, load, writer.kind):
                continue
            direction = "Cube to Vector" if writer.kind is Kind.CUBE else "Vector to Cube"
            words = f"'{writer.name}' writes this tensor ({text}), and nothing says that it has done so by now"
            todo = f"push a tile {direction} behind the store, and pop it before this load"
            note = Note("it is written here", span_of(store))
            diag.warning(words, span_of(load), code=_WARNING, notes=[note], todo=todo)
            break


def _touched(kernel: Kernel, names: dict[SSAValue, str], written: bool) -> Iterator[tuple[str, Operation]]:
    """Arguments in global memory that ops of a kernel read or write, by their texts; unknown ones are left out."""
    for op in kernel.function.walk():
        if isinstance(op, ComputeOp):
            for value in op.written if written else op.read:
                root = _root(value)
                text = names.get(root, "")
                if text and " of @" not in text:
                    yield text, op


def _root(value: SSAValue) -> SSAValue:
    while isinstance(value.owner, AddPtrOp | MakeTensorViewOp | PartitionViewOp):
        value = value.owner.operands[0]
    return value


def _ordered(store: Operation, load: Operation, writer: Kind) -> bool:
    """Whether a push of the writer's comes behind the store and a pop before the load, each where it always does."""
    pushed = any(isinstance(op, PushOp) and op.KIND is writer for op in _behind(store))
    popped = any(isinstance(op, PopOp) and op.KIND is not writer for op in _before(load))
    return pushed and popped


def _behind(op: Operation) -> Iterator[Operation]:
    at: Operation | None = op
    while at is not None and isinstance(at.parent, Block):
        following = at.next_op
        while following is not None:
            yield following
            following = following.next_op
        at = at.parent_op()


def _before(op: Operation) -> Iterator[Operation]:
    at: Operation | None = op
    while at is not None and isinstance(at.parent, Block):
        earlier = at.prev_op
        while earlier is not None:
            yield earlier
            earlier = earlier.prev_op
        at = at.parent_op()
