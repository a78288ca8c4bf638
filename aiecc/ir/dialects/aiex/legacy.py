"""Tokens, token copies, and broadcasts of circuits and packets: the dialect's oldest part."""

from __future__ import annotations

from xdsl.ir import Operation
from xdsl.irdl import operand_def, prop_def, region_def, traits_def

from aiecc.ir.dialects.aie.enums import LockAction, WireBundle
from aiecc.ir.dialects.aie.flows import CHANNEL, PORT
from aiecc.ir.dialects.aie.tiles import end_op
from aiecc.ir.dialects.aiex.parts import Group, GroupTypes
from aiecc.ir.dialects.base import DialectOp, int_field, name_field, op_definition, string_field, word_field
from aiecc.ir.dialects.constraints import I8, INDEX_TYPE, MEMREF, STRING, SYMBOL, int_attr
from aiecc.ir.dialects.syntax import DICT, Body, Int, Ref, Use, Word, syntax
from aiecc.ir.dialects.traits import OneBlock, Symbol


@op_definition
class TokenOp(DialectOp):
    """A counter that orders actions."""

    name = "aiex.token"
    value_attr = prop_def(int_attr(32), prop_name="value")
    sym_name = prop_def(STRING)
    traits = traits_def(Symbol())
    SYNTAX = syntax("(", Int("value"), ")", DICT)

    value = int_field("value")
    symbol = string_field("sym_name")


@op_definition
class UseTokenOp(DialectOp):
    """Wait for a token's value, or set it."""

    name = "aiex.useToken"
    token_attr = prop_def(SYMBOL, prop_name="tokenName")
    action_attr = prop_def(int_attr(32, 0, 2), prop_name="action")
    value_attr = prop_def(int_attr(32), prop_name="value")
    SYNTAX = syntax(Ref("tokenName"), "(", Word("action", LockAction), ",", Int("value"), ")", DICT)

    token = name_field("tokenName")
    action = word_field("action", LockAction)
    value = int_field("value")


@op_definition
class MemcpyOp(DialectOp):
    """Move a buffer from one tile to another, between two values of a token."""

    name = "aiex.memcpy"
    src_tile = operand_def(INDEX_TYPE)
    src_buf = operand_def(MEMREF)
    dst_tile = operand_def(INDEX_TYPE)
    dst_buf = operand_def(MEMREF)
    token_attr = prop_def(SYMBOL, prop_name="tokenName")
    acquire_attr = prop_def(int_attr(32), prop_name="acquireTokenValue")
    release_attr = prop_def(int_attr(32), prop_name="releaseTokenValue")
    src_offset_attr = prop_def(int_attr(32), prop_name="srcOffset")
    src_len_attr = prop_def(int_attr(32), prop_name="srcLen")
    dst_offset_attr = prop_def(int_attr(32), prop_name="dstOffset")
    dst_len_attr = prop_def(int_attr(32), prop_name="dstLen")
    SYNTAX = syntax(
        Ref("tokenName"), "(", Int("acquireTokenValue"), ",", Int("releaseTokenValue"), ")",
        "(", Use("src_tile"), ":", "<", Group("src_buf"), ",", Int("srcOffset"), ",", Int("srcLen"), ">", ",",
        Use("dst_tile"), ":", "<", Group("dst_buf"), ",", Int("dstOffset"), ",", Int("dstLen"), ">", ")", DICT,
        ":", "(", GroupTypes("src_buf", "dst_buf"), ")",
    )  # fmt: skip


_PORT = syntax("(", Use("tile"), ",", Word("bundle", WireBundle), ":", Int("channel"), ")")
_DEST = syntax("<", Use("tile"), ",", Word("bundle", WireBundle), ":", Int("channel"), ">", DICT)


class _OnPort(DialectOp):
    """An op about one port of a tile."""

    bundle = word_field("bundle", WireBundle)
    channel = int_field("channel")


@op_definition
class MulticastOp(_OnPort):
    """A circuit from one port to several."""

    name = "aiex.multicast"
    tile = operand_def(INDEX_TYPE)
    bundle_attr = prop_def(PORT, prop_name="bundle")
    channel_attr = prop_def(CHANNEL, prop_name="channel")
    ports = region_def()
    traits = traits_def(OneBlock())
    SYNTAX = syntax(*_PORT, Body("ports", end_op), DICT)


@op_definition
class MultiDestOp(_OnPort):
    """One of a multicast's destinations."""

    name = "aiex.multi_dest"
    tile = operand_def(INDEX_TYPE)
    bundle_attr = prop_def(PORT, prop_name="bundle")
    channel_attr = prop_def(CHANNEL, prop_name="channel")
    PARENTS = ("aiex.multicast",)
    SYNTAX = _DEST


@op_definition
class BroadcastPacketOp(_OnPort):
    """Packets from one port to several, by id."""

    name = "aiex.broadcast_packet"
    tile = operand_def(INDEX_TYPE)
    bundle_attr = prop_def(PORT, prop_name="bundle")
    channel_attr = prop_def(CHANNEL, prop_name="channel")
    ports = region_def()
    traits = traits_def(OneBlock())
    SYNTAX = syntax(*_PORT, Body("ports", end_op), DICT)


@op_definition
class BpIdOp(DialectOp):
    """The destinations of one id."""

    name = "aiex.bp_id"
    id_attr = prop_def(int_attr(8), prop_name="ID")
    ports = region_def()
    traits = traits_def(OneBlock())
    PARENTS = ("aiex.broadcast_packet",)
    SYNTAX = syntax("(", Int("ID", I8), ")", Body("ports", end_op), DICT)

    id = int_field("ID")


@op_definition
class BpDestOp(_OnPort):
    """One destination."""

    name = "aiex.bp_dest"
    tile = operand_def(INDEX_TYPE)
    bundle_attr = prop_def(PORT, prop_name="bundle")
    channel_attr = prop_def(CHANNEL, prop_name="channel")
    PARENTS = ("aiex.bp_id",)
    SYNTAX = _DEST


OPS: list[type[Operation]] = [
    TokenOp, UseTokenOp, MemcpyOp, MulticastOp, MultiDestOp, BroadcastPacketOp, BpIdOp, BpDestOp,
]  # fmt: skip
