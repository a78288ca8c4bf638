"""Stream switches, as set: connections, arbiters, masters, packet rules."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.irdl import operand_def, opt_prop_def, prop_def, region_def, result_def, traits_def, var_operand_def

from aiecc.ir.dialects.aie.cores import OnTile
from aiecc.ir.dialects.aie.enums import CascadeDir, WireBundle
from aiecc.ir.dialects.aie.flows import CHANNEL, PORT, Port, port_props
from aiecc.ir.dialects.aie.tiles import EndOp, TileLike, end_op, tile_like
from aiecc.ir.dialects.base import DialectOp, int_field, op_definition, word_field
from aiecc.ir.dialects.constraints import BOOLEAN, I8, I32, INDEX, INDEX_TYPE, int_attr
from aiecc.ir.dialects.syntax import DICT, Body, Int, Use, Uses, Word, syntax
from aiecc.ir.dialects.traits import OneBlock


@op_definition
class SwitchboxOp(OnTile):
    """One tile's stream switch."""

    name = "aie.switchbox"
    tile = operand_def(INDEX_TYPE)
    body = region_def()
    result = result_def(INDEX_TYPE)
    traits = traits_def(OneBlock())
    SYNTAX = syntax("(", Use("tile"), ")", Body(terminator=end_op), DICT)

    def __init__(self, tile: SSAValue, ops: Sequence[Operation] = ()) -> None:
        super().__init__(operands=[tile], result_types=[INDEX], regions=[Region(Block([*ops, EndOp()]))])

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aie.switch_rules import verify_switchbox

        verify_switchbox(self)


@op_definition
class ShimMuxOp(OnTile):
    """What stands between a shim's switch and its DMA, the NOC and the programmable logic."""

    name = "aie.shim_mux"
    tile = operand_def(INDEX_TYPE)
    body = region_def()
    result = result_def(INDEX_TYPE)
    traits = traits_def(OneBlock())
    SYNTAX = syntax("(", Use("tile"), ")", Body(terminator=end_op), DICT)

    def __init__(self, tile: SSAValue, ops: Sequence[Operation] = ()) -> None:
        super().__init__(operands=[tile], result_types=[INDEX], regions=[Region(Block([*ops, EndOp()]))])

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aie.switch_rules import verify_shim_mux

        verify_shim_mux(self)


@op_definition
class ConnectOp(DialectOp):
    """A circuit inside one switch."""

    name = "aie.connect"
    source_bundle_attr = prop_def(PORT, prop_name="source_bundle")
    source_channel_attr = prop_def(CHANNEL, prop_name="source_channel")
    dest_bundle_attr = prop_def(PORT, prop_name="dest_bundle")
    dest_channel_attr = prop_def(CHANNEL, prop_name="dest_channel")
    PARENTS = ("aie.switchbox", "aie.shim_mux")
    SYNTAX = syntax(
        "<", Word("source_bundle", WireBundle), ":", Int("source_channel"), ",",
        Word("dest_bundle", WireBundle), ":", Int("dest_channel"), ">", DICT,
    )  # fmt: skip

    source_bundle = word_field("source_bundle", WireBundle)
    source_channel = int_field("source_channel")
    dest_bundle = word_field("dest_bundle", WireBundle)
    dest_channel = int_field("dest_channel")

    def __init__(self, source: Port, dest: Port) -> None:
        super().__init__(properties={**port_props("source_", source), **port_props("dest_", dest)})

    @property
    def source_port(self) -> Port:
        return Port(self.source_bundle, self.source_channel)

    @property
    def dest_port(self) -> Port:
        return Port(self.dest_bundle, self.dest_channel)


@op_definition
class AMSelOp(DialectOp):
    """One of an arbiter's selections of masters."""

    name = "aie.amsel"
    arbiter_attr = prop_def(int_attr(8, 0, 5), prop_name="arbiterID")
    msel_attr = prop_def(int_attr(8, 0, 3), prop_name="msel")
    result = result_def(INDEX_TYPE)
    PARENTS = ("aie.switchbox",)
    SYNTAX = syntax("<", Int("arbiterID", I8), ">", "(", Int("msel", I8), ")", DICT)

    arbiter = int_field("arbiterID")
    msel = int_field("msel")

    def __init__(self, arbiter: int, msel: int) -> None:
        super().__init__(
            result_types=[INDEX], properties={"arbiterID": IntegerAttr(arbiter, I8), "msel": IntegerAttr(msel, I8)}
        )


@op_definition
class MasterSetOp(DialectOp):
    """A master port and the arbiter selections that drive it."""

    name = "aie.masterset"
    amsels = var_operand_def(INDEX_TYPE)
    dest_bundle_attr = prop_def(PORT, prop_name="dest_bundle")
    dest_channel_attr = prop_def(CHANNEL, prop_name="dest_channel")
    keep_pkt_header_attr = opt_prop_def(BOOLEAN, prop_name="keep_pkt_header")
    result = result_def(INDEX_TYPE)
    PARENTS = ("aie.switchbox",)
    SYNTAX = syntax("(", Word("dest_bundle", WireBundle), ":", Int("dest_channel"), ",", Uses("amsels"), ")", DICT)

    dest_bundle = word_field("dest_bundle", WireBundle)
    dest_channel = int_field("dest_channel")

    def __init__(self, dest: Port, amsels: Sequence[SSAValue], keep_pkt_header: bool | None = None) -> None:
        super().__init__(
            operands=[amsels],
            result_types=[INDEX],
            properties={
                **port_props("dest_", dest),
                "keep_pkt_header": None if keep_pkt_header is None else IntegerAttr(int(keep_pkt_header), 1),
            },
        )

    @property
    def dest_port(self) -> Port:
        return Port(self.dest_bundle, self.dest_channel)

    @property
    def keep_pkt_header(self) -> bool:
        """Whether packets keep their header: as written; unwritten, unless they leave the array's streams here."""
        if self.keep_pkt_header_attr is not None:
            return bool_of(self.keep_pkt_header_attr)
        if self.dest_bundle is WireBundle.DMA:
            return False
        box = self.parent_op()
        coord = box.coord if isinstance(box, OnTile) else None
        return not (self.dest_bundle is WireBundle.SOUTH and coord is not None and coord[1] == 0)

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aie.switch_rules import verify_masterset

        verify_masterset(self)


def bool_of(attr: object) -> bool:
    return isinstance(attr, IntegerAttr) and bool(attr.value.data)


@op_definition
class PacketRulesOp(DialectOp):
    """How one slave port sorts its packets."""

    name = "aie.packet_rules"
    source_bundle_attr = prop_def(PORT, prop_name="source_bundle")
    source_channel_attr = prop_def(CHANNEL, prop_name="source_channel")
    rules = region_def()
    traits = traits_def(OneBlock())
    PARENTS = ("aie.switchbox",)
    SYNTAX = syntax(
        "(", Word("source_bundle", WireBundle), ":", Int("source_channel"), ")", Body("rules", end_op), DICT
    )

    source_bundle = word_field("source_bundle", WireBundle)
    source_channel = int_field("source_channel")

    def __init__(self, source: Port, ops: Sequence[Operation] = ()) -> None:
        super().__init__(properties=port_props("source_", source), regions=[Region(Block([*ops, EndOp()]))])

    @property
    def source_port(self) -> Port:
        return Port(self.source_bundle, self.source_channel)

    def verify_op(self) -> None:
        if not self.rules.blocks:
            raise self.error("should have non-empty body")


@op_definition
class PacketRuleOp(DialectOp):
    """Packets whose id, under a mask, has a value go to one arbiter selection."""

    name = "aie.rule"
    amsel = operand_def(INDEX_TYPE)
    mask_attr = prop_def(int_attr(8), prop_name="mask")
    value_attr = prop_def(int_attr(8), prop_name="value")
    PARENTS = ("aie.packet_rules",)
    SYNTAX = syntax("(", Int("mask", I8), ",", Int("value", I8), ",", Use("amsel"), ")", DICT)

    mask = int_field("mask")
    value = int_field("value")

    def __init__(self, mask: int, value: int, amsel: SSAValue) -> None:
        super().__init__(operands=[amsel], properties={"mask": IntegerAttr(mask, I8), "value": IntegerAttr(value, I8)})


@op_definition
class ConfigureCascadeOp(DialectOp):
    """From and to which side a core's cascade ports are switched."""

    name = "aie.configure_cascade"
    tile = operand_def(INDEX_TYPE)
    input_attr = prop_def(int_attr(32, 3, 6), prop_name="inputDir")
    output_attr = prop_def(int_attr(32, 3, 6), prop_name="outputDir")
    PARENTS = ("aie.device",)
    SYNTAX = syntax("(", Use("tile"), ",", Word("inputDir", CascadeDir), ",", Word("outputDir", CascadeDir), ")", DICT)

    input_dir = word_field("inputDir", CascadeDir)
    output_dir = word_field("outputDir", CascadeDir)

    def __init__(self, tile: SSAValue, input_dir: CascadeDir, output_dir: CascadeDir) -> None:
        super().__init__(
            operands=[tile],
            properties={
                "inputDir": IntegerAttr(int(input_dir), I32),
                "outputDir": IntegerAttr(int(output_dir), I32),
            },
        )

    @property
    def tile_op(self) -> TileLike | None:
        return tile_like(self.tile)

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aie.flow_rules import verify_configure_cascade

        verify_configure_cascade(self)
