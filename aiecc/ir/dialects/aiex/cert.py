"""Jobs of the array's own micro-controllers, an alternative to the NPU's command processor."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute, Operation
from xdsl.irdl import prop_def, region_def, traits_def

from aiecc.ir.dialects.base import DialectOp, name_field, op_definition
from aiecc.ir.dialects.constraints import BOOL, BOOLEAN, I32, STRING, SYMBOL, Described, int_attr, number
from aiecc.ir.dialects.syntax import DICT, Body, Int, Ref, Sym, syntax
from aiecc.ir.dialects.traits import OneBlock, OpenEnded, Symbol

I16 = IntegerType(16)
_NUMBER: Described[Attribute] = Described("32-bit signless integer attribute", lambda a: number(a) is not None)


@op_definition
class CertUcDmaChainOp(DialectOp):
    """Transfers of a micro-controller's own DMA."""

    name = "aiex.cert.uc_dma_chain"
    sym_name = prop_def(STRING)
    body = region_def()
    traits = traits_def(Symbol(), OneBlock(), OpenEnded())
    SYNTAX = syntax(Sym(), Body(one_block=True), DICT)

    symbol = name_field()


@op_definition
class CertUcDmaBdOp(DialectOp):
    """One transfer: data, where to, how many words, whether another follows."""

    name = "aiex.cert.uc_dma_bd"
    remote_address = prop_def(_NUMBER)
    local_address_attr = prop_def(SYMBOL, prop_name="local_address")
    length = prop_def(_NUMBER)
    next_bd = prop_def(BOOLEAN)
    SYNTAX = syntax(
        Ref("local_address"), ",", Int("remote_address"), ",", Int("length"), ",", Int("next_bd", BOOL), DICT
    )

    local_address = name_field("local_address")


@op_definition
class CertJobOp(DialectOp):
    """A list of steps."""

    name = "aiex.cert.job"
    job_id = prop_def(_NUMBER)
    body = region_def()
    traits = traits_def(OneBlock(), OpenEnded())
    SYNTAX = syntax("(", Int("job_id"), ")", Body(one_block=True), DICT)


@op_definition
class CertAttachToGroupOp(DialectOp):
    """Jobs of one group of controllers."""

    name = "aiex.cert.attach_to_group"
    group_id = prop_def(_NUMBER)
    body = region_def()
    traits = traits_def(OneBlock(), OpenEnded())
    SYNTAX = syntax("(", Int("group_id"), ")", Body(one_block=True), DICT)


@op_definition
class CertWrite32Op(DialectOp):
    """Write a register."""

    name = "aiex.cert.write32"
    address = prop_def(_NUMBER)
    value = prop_def(_NUMBER)
    SYNTAX = syntax("(", Int("address"), ",", Int("value"), ")", DICT)


@op_definition
class CertMaskWrite32Op(DialectOp):
    """Write some bits of a register. The value stands before the mask."""

    name = "aiex.cert.maskwrite32"
    address = prop_def(_NUMBER)
    value = prop_def(_NUMBER)
    mask = prop_def(_NUMBER)
    SYNTAX = syntax("(", Int("address"), ",", Int("value"), ",", Int("mask"), ")", DICT)


@op_definition
class CertApplyOffset57Op(DialectOp):
    """Add a host buffer's address to descriptors."""

    name = "aiex.cert.apply_offset_57"
    symbol_attr = prop_def(SYMBOL, prop_name="symbol")
    num_entries = prop_def(int_attr(16))
    offset = prop_def(int_attr(16))
    SYNTAX = syntax("(", Ref("symbol"), ",", Int("num_entries", I16), ",", Int("offset", I16), ")", DICT)


@op_definition
class CertUcDmaWriteDesSyncOp(DialectOp):
    """Run a chain and wait for it."""

    name = "aiex.cert.uc_dma_write_des_sync"
    symbol_attr = prop_def(SYMBOL, prop_name="symbol")
    SYNTAX = syntax("(", Ref("symbol"), ")", DICT)

    symbol = name_field("symbol")


@op_definition
class CertWaitTctsOp(DialectOp):
    """Wait for completion tokens."""

    name = "aiex.cert.wait_tcts"
    tile_id = prop_def(_NUMBER)
    channel_id = prop_def(_NUMBER)
    target_tcts = prop_def(_NUMBER)
    SYNTAX = syntax("(", Int("tile_id", I32), ",", Int("channel_id"), ",", Int("target_tcts"), ")", DICT)


@op_definition
class CertLocalBarrierOp(DialectOp):
    """Meet the other jobs of a controller."""

    name = "aiex.cert.local_barrier"
    local_barrier_id = prop_def(_NUMBER)
    num_participants = prop_def(_NUMBER)
    SYNTAX = syntax("(", Int("local_barrier_id"), ",", Int("num_participants"), ")", DICT)


@op_definition
class CertRemoteBarrierOp(DialectOp):
    """Meet other controllers."""

    name = "aiex.cert.remote_barrier"
    remote_barrier_id = prop_def(_NUMBER)
    party_mask = prop_def(_NUMBER)
    SYNTAX = syntax("(", Int("remote_barrier_id"), ",", Int("party_mask"), ")", DICT)


@op_definition
class CertNopOp(DialectOp):
    """Nothing."""

    name = "aiex.cert.nop"
    SYNTAX = syntax(DICT)


OPS: list[type[Operation]] = [
    CertUcDmaChainOp, CertUcDmaBdOp, CertJobOp, CertAttachToGroupOp, CertWrite32Op, CertMaskWrite32Op,
    CertApplyOffset57Op, CertUcDmaWriteDesSyncOp, CertWaitTctsOp, CertLocalBarrierOp, CertRemoteBarrierOp, CertNopOp,
]  # fmt: skip
