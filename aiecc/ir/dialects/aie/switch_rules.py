"""What makes a stream switch or a shim multiplexer wrong."""

from __future__ import annotations

from xdsl.ir import Operation

from aiecc.ir.dialects.aie.flows import Port
from aiecc.ir.dialects.aie.switch import (
    AMSelOp,
    ConnectOp,
    MasterSetOp,
    PacketRuleOp,
    PacketRulesOp,
    ShimMuxOp,
    SwitchboxOp,
)
from aiecc.ir.dialects.aie.tile_rules import SHIM, verify_tile_kind
from aiecc.ir.dialects.aie.tiles import EndOp, TileOp, placed, target_of
from aiecc.ir.errors import VerifyError
from aiecc.model.targets import Bundle, PortSide

ILLEGAL = "illegal stream switch connection"
FOREIGN = "cannot be contained in a Switchbox op"
ONE_ARBITER = "a master port can only be tied to one arbiter"


class _Switch:
    """The checks of one switch, and the ports it has used so far."""

    def __init__(self, tile: TileOp) -> None:
        self.tile = tile
        self.target = target_of(tile)
        self.sources: set[Port] = set()
        self.dests: dict[Port, None] = {}

    def check_bound(self, op: Operation, what: str, port: Port, side: PortSide) -> None:
        if port.channel < 0:
            raise VerifyError(f"{what} index cannot be less than zero", op)
        bound = self.target.ports(self.tile.col, self.tile.row, Bundle(port.bundle.word), side)
        if port.channel < bound:
            return
        name = port.bundle.word
        if bound > 0:
            raise VerifyError(f"index {port.channel} for {what} bundle {name} must be less than {bound}", op)
        raise VerifyError(f"{what} bundle {name} not supported; index: {port.channel}, bound: {bound}", op)

    def is_legal(self, source: Port, dest: Port) -> bool:
        return self.target.legal_connection(
            self.tile.col,
            self.tile.row,
            Bundle(source.bundle.word),
            source.channel,
            Bundle(dest.bundle.word),
            dest.channel,
        )

    def connect(self, op: ConnectOp) -> None:
        source, dest = op.source_port, op.dest_port
        self.sources.add(source)
        if dest in self.dests:
            known = ", ".join(_show(p) for p in self.dests)
            raise VerifyError(
                f"; connecting {_show(source)} to {_show(dest)} on TileID({self.tile.col}, {self.tile.row}) targets "
                f"same dst as another connect op; existing destinations: {known}",
                op,
            )
        self.dests[dest] = None
        self.check_bound(op, "source", source, PortSide.IN)
        self.check_bound(op, "dest", dest, PortSide.OUT)
        if not self.is_legal(source, dest):
            raise VerifyError(ILLEGAL, op)

    def master(self, op: MasterSetOp) -> None:
        dest = op.dest_port
        if dest in self.dests:
            raise VerifyError(
                f"targets same destination {dest.bundle.word}: {dest.channel} as another connect or masterset "
                "operation",
                op,
            )
        self.dests[dest] = None
        self.check_bound(op, "dest", dest, PortSide.OUT)

    def rules(self, op: PacketRulesOp) -> None:
        source = op.source_port
        if source in self.sources:
            raise VerifyError(
                f"packet switched source {source.bundle.word}{source.channel} cannot match another connect or "
                "masterset operation",
                op,
            )
        self.sources.add(source)

    def amsel(self, op: AMSelOp) -> None:
        users = [use.operation for use in op.result.uses]
        masters = [u for u in users if isinstance(u, MasterSetOp)]
        slaves = [u.parent_op() for u in users if isinstance(u, PacketRuleOp)]
        for master in masters:
            for slave in slaves:
                if isinstance(slave, PacketRulesOp) and not self.is_legal(slave.source_port, master.dest_port):
                    raise VerifyError(ILLEGAL, op)


def _show(port: Port) -> str:
    return f"({port.bundle.word}: {port.channel})"


def verify_switchbox(op: SwitchboxOp) -> None:
    block = op.body.blocks.first
    if block is None:
        raise op.error("should have non-empty body")
    tile = placed(op.tile)
    switch = _Switch(tile) if tile is not None else None
    for inner in block.ops:
        if not isinstance(inner, ConnectOp | MasterSetOp | PacketRulesOp | AMSelOp | EndOp):
            raise VerifyError(FOREIGN, inner)
        if switch is None:
            continue
        if isinstance(inner, ConnectOp):
            switch.connect(inner)
        elif isinstance(inner, MasterSetOp):
            switch.master(inner)
        elif isinstance(inner, PacketRulesOp):
            switch.rules(inner)
        elif isinstance(inner, AMSelOp):
            switch.amsel(inner)


def verify_shim_mux(op: ShimMuxOp) -> None:
    verify_tile_kind(op, op.tile, SHIM)
    block = op.body.blocks.first
    if block is None:
        raise op.error("should have non-empty body")
    dests: set[Port] = set()
    for inner in block.ops:
        if isinstance(inner, ConnectOp):
            dest = inner.dest_port
            if dest in dests:
                raise VerifyError(
                    f"targets same destination {dest.bundle.word}: {dest.channel} as another connect operation", inner
                )
            dests.add(dest)
        elif not isinstance(inner, EndOp):
            raise VerifyError(FOREIGN, inner)


def verify_masterset(op: MasterSetOp) -> None:
    arbiters: set[int] = set()
    for value in op.amsels:
        owner = value.owner
        if not isinstance(owner, AMSelOp):
            raise op.error("amsel operand must be produced by an 'aie.amsel' op")
        arbiters.add(owner.arbiter)
        if len(arbiters) > 1:
            raise op.error(ONE_ARBITER)
