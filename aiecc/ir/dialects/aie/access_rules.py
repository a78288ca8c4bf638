"""What makes a core's acquire or release of objects wrong."""

from __future__ import annotations

from xdsl.ir import Attribute, Operation

from aiecc.ir.dialects.aie.access import FifoAccess, ObjectFifoAcquireOp, ObjectFifoReleaseOp, ObjectFifoSubviewAccessOp
from aiecc.ir.dialects.aie.attrs import ObjectFifoSubviewType, ObjectFifoType
from aiecc.ir.dialects.aie.cores import CoreOp
from aiecc.ir.dialects.aie.enums import Port
from aiecc.ir.dialects.aie.fifo import ObjectFifoOp
from aiecc.ir.dialects.aie.fifo_rules import find_fifo, is_stream
from aiecc.ir.dialects.aie.named import find_named
from aiecc.ir.dialects.aie.pools import CoreEndpointOp, ObjectFifoPoolOp
from aiecc.ir.dialects.aie.segments import seen_type
from aiecc.ir.dialects.aie.tiles import tile_like
from aiecc.ir.dialects.base import show
from aiecc.ir.errors import VerifyError

OUTSIDE = "must be called from inside a CoreOp"


def core_of(op: Operation) -> CoreOp | None:
    """The core whose program an op is part of."""
    at = op.parent_op()
    while at is not None and not isinstance(at, CoreOp):
        at = at.parent_op()
    return at


def _endpoint(op: FifoAccess) -> CoreEndpointOp | None:
    return find_named(op, op.fifo_name, CoreEndpointOp)


def _same_place(a: object, b: object) -> bool:
    return a is b or (a is not None and a == b)


def _verify_access(op: FifoAccess, verb: str) -> ObjectFifoOp | CoreEndpointOp:
    """What an access is of, once it is clear that this core may make it."""
    core = core_of(op)
    if core is None:
        raise op.error(OUTSIDE)
    fifo = find_fifo(op, op.fifo_name)
    if fifo is None:
        endpoint = _endpoint(op)
        if endpoint is None:
            raise op.error("cannot retrieve associated object FIFO", bare=True)
        if op.port is not None:
            raise op.error("port is implied by the endpoint's role")
        if not _on(core, endpoint.tile):
            raise VerifyError("objectFifo endpoint accessed by core running on another tile", core)
        return endpoint
    port = op.port
    if port is None:
        raise op.error("port is required when accessing an objectFifo")
    if port is Port.PRODUCE:
        if not _on(core, fifo.producer):
            raise VerifyError("producer port of objectFifo accessed by core running on non-producer tile", core)
        if is_stream(fifo.prod_port_attr):
            raise op.error(f"cannot {verb} objectfifo stream port")
        return fifo
    at = [i for i, consumer in enumerate(fifo.consumers) if _on(core, consumer)]
    if not at:
        raise VerifyError("consumer port of objectFifo accessed by core running on non-consumer tile", core)
    ports = fifo.cons_ports_attr
    if ports is not None and at[0] < len(ports.data) and is_stream(ports.data[at[0]]):
        raise op.error(f"cannot {verb} objectfifo stream port")
    return fifo


def _on(core: CoreOp, tile: object) -> bool:
    if core.tile is tile:
        return True
    here = core.tile_op
    there = tile_like(tile) if tile is not None else None  # pyright: ignore[reportArgumentType]
    return here is not None and there is not None and _same_place(here.coord, there.coord)


def _capacity(op: FifoAccess, owner: ObjectFifoOp | CoreEndpointOp) -> int | None:
    """How many objects there are to get; None when that is not known."""
    if isinstance(owner, CoreEndpointOp):
        pool = _pool(owner)
        return pool.depth if pool is not None else None
    depths = owner.depths
    if op.port is Port.PRODUCE or not depths:
        return depths[0] if depths else None
    core = core_of(op)
    at = [i for i, consumer in enumerate(owner.consumers) if core is not None and _on(core, consumer)]
    return depths[1 + at[0]] if at and 1 + at[0] < len(depths) else None


def _pool(endpoint: CoreEndpointOp) -> ObjectFifoPoolOp | None:
    return find_named(endpoint, endpoint.pool, ObjectFifoPoolOp)


def verify_acquire(op: ObjectFifoAcquireOp) -> None:
    owner = _verify_access(op, "acquire from")
    if op.size < 1:
        raise op.error("must acquire at least one object")
    capacity = _capacity(op, owner)
    if capacity is not None and op.size > capacity:
        what = "a pool of" if isinstance(owner, CoreEndpointOp) else "an objectFifo that holds"
        raise op.error(f"acquires {op.size} objects from {what} {capacity}")
    accepted = _object_types(op, owner)
    for result in op.results:
        got = result.type.element_type if isinstance(result.type, ObjectFifoSubviewType) else result.type
        if accepted and got not in accepted:
            wanted = accepted[0]
            if isinstance(result.type, ObjectFifoSubviewType):
                raise op.error("ObjectFifo element and ObjectFifoSubview element must match.")
            raise op.error(f"acquired object type '{show(got)}' does not match the objectFifo's '{show(wanted)}'")


def _object_types(op: ObjectFifoAcquireOp, owner: ObjectFifoOp | CoreEndpointOp) -> list[Attribute]:
    """The types an object may be named with; empty when that is not known."""
    if isinstance(owner, CoreEndpointOp):
        pool = _pool(owner)
        seen = seen_type(pool, owner.segments) if pool is not None else None
        return [] if seen is None else [seen]
    other = owner.consumer_elem_type_attr
    if other is not None and not isinstance(other, ObjectFifoType):
        raise op.error("ObjectFifo consumer element type must be an !aie.objectfifo<memref<...>> type")
    return [owner.elem_type, owner.consumer_elem_type]


def verify_release(op: ObjectFifoReleaseOp) -> None:
    _verify_access(op, "release from")


def verify_subview(op: ObjectFifoSubviewAccessOp) -> None:
    if core_of(op) is None:
        raise op.error(OUTSIDE)
    owner = op.subview.owner
    if not isinstance(owner, ObjectFifoAcquireOp):
        raise op.error(
            "subview operand must be the direct result of an aie.objectfifo.acquire; flowing the subview through "
            "scf.yield / iter_args / region results is not supported"
        )
    if op.index >= owner.size:
        raise op.error("accessed farther than number of acquired elements (index out of bounds).")
