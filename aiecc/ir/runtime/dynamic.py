"""Descriptors and pushes that are computed while the sequence runs.

The formulas are those of the static encoder (`aiecc/ir/dialects/aiex/steps.py`), so constants and values of the same
size give the same words. What a constant would be refused for, a value is guarded against: `assert_bd_field` and
`assert_bd_divisible` stop the host before a field is cut.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import gcd

from xdsl.dialects.arith import AndIOp, OrIOp
from xdsl.ir import Attribute, Operation, SSAValue

from aiecc.ir.dialects.aie.attrs import PacketInfo
from aiecc.ir.dialects.aie.bd import DmaBdOp
from aiecc.ir.dialects.aie.enums import Direction
from aiecc.ir.dialects.aie.memory import element_bits
from aiecc.ir.dialects.aie.tiles import target_of
from aiecc.ir.dialects.aiex.npu import NpuPushQueueOp, NpuWrite32Op
from aiecc.ir.dialects.aiex.steps import DIMENSIONS, GRANULE
from aiecc.ir.dialects.aiex.tasks import DmaBdPoolPopOp
from aiecc.ir.dialects.aiex.transfer_rules import is_one_run, mixed_lists, verify_runtime_steps
from aiecc.ir.dialects.aiex.transfers import NpuDmaMemcpyNdOp
from aiecc.ir.dialects.constraints import number
from aiecc.ir.errors import VerifyError
from aiecc.ir.runtime.arith import Arith, Value
from aiecc.ir.runtime.descriptor import NO_SOURCE, Place, fields_of, verify_understood
from aiecc.ir.runtime.sources import HostBuffer, source_of
from aiecc.ir.runtime.tasks import tells
from aiecc.model.targets import Target, Tile, TileKind
from aiecc.model.targets.tables import Dma
from aiecc.npu.bd import AXCACHE, QUEUE, SHIM, burst_code
from aiecc.npu.bits import Unfit

SHIM_ONLY = (
    "runtime-valued BD size/stride/len/bd_id is only supported on shim NOC tiles; use compile-time constants on other "
    "tiles."
)
NO_PADS = "zero padding is not supported with runtime sizes/strides/len."
NO_LENGTH = "runtime-valued BD requires an explicit transfer length; provide a `len` for this buffer descriptor."
UNALIGNED = "Offset must be aligned to 4 byte boundary."
SPACING = 0x20
"""Bytes from one descriptor's registers to the next one's."""
_MOST = (1 << 31) - 1


# --- tasks ------------------------------------------------------------------------------------------------------------


def write_at_run_time(bd: DmaBdOp, at: Place, next_id: Value | None = None) -> None:
    """Write one descriptor of a task in front of the task, and patch its address.

    `next_id`: what follows it. Raises VerifyError for what a shim's descriptor cannot do.
    """
    if at.kind is not TileKind.SHIM_NOC:
        raise VerifyError(SHIM_ONLY, bd)
    source = source_of(bd.buffer)
    if bd.pad_dimensions is not None:
        raise VerifyError(NO_PADS, bd)
    verify_understood(bd)
    put = Arith(at.task)
    id = _id_of(put, bd, at)
    bits = element_bits(bd.buffer.type)
    offset = put.narrow(bd.offset_operand) if bd.offset_operand is not None else bd.offset or 0
    words = _words_of(put, bd, at, bits, next_id)
    if not isinstance(source, HostBuffer):
        raise VerifyError(NO_SOURCE, bd)
    if isinstance(offset, int) and offset * bits % GRANULE:
        raise VerifyError(UNALIGNED, bd)
    put.divisible(offset, _divisor(bits))
    plus = put.add(put.mul(offset, bits // 8), source.offset)
    _write(put, at.target, at.tile, id, words, source.index, plus, (bd.offset_state_table_idx, bits // 8))


def _id_of(put: Arith, bd: DmaBdOp, at: Place) -> Value:
    given = at.task.bd_id if at.task.bd_id is not None else bd.bd_id_val
    if given is None:
        if bd.bd_id is None:
            raise VerifyError("Cannot lower buffer descriptor without assigned ID.", bd)
        return bd.bd_id
    id = put.narrow(given)
    if isinstance(id, SSAValue) and not isinstance(id.owner, DmaBdPoolPopOp):
        put.within(id, at.dma.bds - 1)
    return id


def _words_of(put: Arith, bd: DmaBdOp, at: Place, bits: int, next_id: Value | None) -> list[Value]:
    follower = next_id if isinstance(next_id, int) else None
    if all(v is not None for v in (bd.sizes, bd.strides, bd.offset, bd.len)):
        # Only the descriptor's number is computed: everything is checked as if it was not.
        fields = fields_of(bd, at, follower)
        fields["buffer_offset"] = 0
        values: dict[str, Value] = {}
    else:
        fields, values = _fields(put, bd, at, bits, follower)
    if isinstance(next_id, SSAValue):
        fields["use_next_bd"] = 1
        values["next_bd"] = next_id
    return _pack(put, bd, at.target, fields, values)


def _fields(
    put: Arith, bd: DmaBdOp, at: Place, bits: int, next_id: int | None
) -> tuple[dict[str, int], dict[str, Value]]:
    """The fields that are known, and those that are computed."""
    if bd.len_operand is None and bd.static_len is None:
        raise VerifyError(NO_LENGTH, bd)
    length = put.narrow(bd.len_operand) if bd.len_operand is not None else bd.len or 0
    values: dict[str, Value] = {"buffer_length": _length(put, bd, length, bits)}
    sizes, strides = bd.mixed_sizes, bd.mixed_strides
    if sizes:
        missing = DIMENSIONS - len(sizes)
        full = [1] * missing + sizes, [0] * missing + strides
        verify_runtime_steps(bd, *full, bits, at.dma)
        found, _ = _encode(put, bd, *full, bits, at.dma)
        values |= found
    fields = _plain(bd.packet or at.task.packet) | {
        "burst_length": bd.burst_length,
        "out_of_order_id": bd.out_of_order_id or 0,
    }
    if bd.axcache is not None:
        fields["axcache"] = bd.axcache
    if next_id is not None:
        fields |= {"next_bd": next_id, "use_next_bd": 1}
    return fields, values


def _length(put: Arith, bd: Operation, length: Value, bits: int) -> Value:
    """Elements as words."""
    divisor = _divisor(bits)
    if isinstance(length, int):
        length &= 0xFFFFFFFF
        if length * bits % GRANULE:
            raise VerifyError(f"Transfer size of {length * bits // 8} bytes is not a whole number of 4-byte words.", bd)
        return length * bits // GRANULE
    put.divisible(length, divisor)
    if bits >= 8:
        # Bytes are counted in 32 bits.
        put.within(length, min(_MOST, ((1 << 32) - 1) // (bits // 8)))
        return put.divide(put.mul(length, bits // 8), GRANULE // 8)
    return put.divide(put.mul(length, bits), GRANULE)


def _divisor(bits: int) -> int:
    """How many elements make whole words."""
    return GRANULE // gcd(bits, GRANULE)


def _plain(packet: PacketInfo | None) -> dict[str, int]:
    fields = {"valid_bd": 1}
    if packet is not None:
        fields |= {"enable_packet": 1, "packet_id": packet.pkt_id or 0, "packet_type": packet.pkt_type}
    return fields


# --- patterns ---------------------------------------------------------------------------------------------------------


def _encode(
    put: Arith, op: Operation, sizes: Sequence[Value], strides: Sequence[Value], bits: int, dma: Dma
) -> tuple[dict[str, Value], tuple[Value, ...]]:
    """The size and stride fields of a pattern, and its register sizes, iteration included.

    Lists are outermost first and four long; guards are put for what is computed.
    """
    s = [put.narrow(v) for v in reversed(sizes)]
    t = [put.narrow(v) for v in reversed(strides)]
    one_run = is_one_run(s, t)
    divisor = _divisor(bits)
    put.divisible(s[0], divisor)
    for i in range(DIMENSIONS):
        if not (isinstance(s[i], int) and s[i] == 1):
            put.divisible(t[i], divisor, unit=i == 0)

    def words(value: Value) -> Value:
        return put.divide(put.mul(value, bits // 8), GRANULE // 8) if bits != GRANULE else value

    registers = (words(s[0]), s[1], s[2], put.choose("sgt", s[3], 1, put.minus_one(s[3]), 0))
    fields: dict[str, Value] = {}
    if not one_run:
        for i in (0, 1):
            _held(put, op, registers[i], dma.max_wrap, f"Size {i} exceeds the [0:{dma.max_wrap}] range.")
            fields[f"d{i}_size"] = registers[i]
        _inner_stride(put, op, s[0], t[0], bits, dma)
        inner = words(t[0])
        fields["d0_stride"] = put.choose("uge", inner, 1, put.minus_one(inner), 0)
        for i in (1, 2):
            fields[f"d{i}_stride"] = put.choose("sgt", s[i], 1, put.minus_one(words(t[i])), 0)
        for i in range(3):
            text = f"Stride {i} exceeds the [1:{dma.max_step}] range."
            _held(put, op, fields[f"d{i}_stride"], dma.max_step - 1, text)
    put.within(registers[3], dma.max_iteration - 1)
    step = put.choose("ne", t[3], 0, put.minus_one(words(t[3])), 0)
    fields["iteration_stride"] = put.choose("sgt", s[3], 1, step, 0)
    text = f"Stride 3 exceeds the [1:{dma.max_step}] range."
    _held(put, op, fields["iteration_stride"], dma.max_step - 1, text)
    # Without a step it is the queue that repeats.
    fields["iteration_size"] = put.choose("sgt", t[3], 0, registers[3], 0)
    return fields, registers


def _inner_stride(put: Arith, op: Operation, size: Value, stride: Value, bits: int, dma: Dma) -> None:
    """Elements that are not one word each follow one another: registers step from word to word."""
    width = bits // 8
    text = "Stride 0 must be a positive integer."
    if bits < GRANULE:
        text = f"Stride 0 must be 1: elements of {width} bytes share a word, and only whole words are moved."
    elif bits > GRANULE:
        text = f"Stride 0 must be 1: an element of {width} bytes is {bits // GRANULE} words in a row."
    most = dma.max_step - 1 if bits == GRANULE else 0
    _held(put, op, put.choose("sgt", size, 1, put.minus_one(stride), 0), most, text)


def _held(put: Arith, op: Operation, value: Value, most: int, text: str) -> None:
    """A field's value fits: told now for a number, by the host for what is computed."""
    if isinstance(value, int) and not 0 <= value <= most:
        raise VerifyError(text, op)
    put.within(value, most)


# --- words ------------------------------------------------------------------------------------------------------------


def _pack(
    put: Arith, op: Operation, target: Target, fields: Mapping[str, int], values: Mapping[str, Value]
) -> list[Value]:
    """The words of a shim's descriptor from fields that are known and others that are computed."""
    code = burst_code(target, fields.get("burst_length", 0))
    if code is None:
        raise VerifyError("Requested burst length is not supported by the target.", op)
    outside = ("column", "row", "bd_id", "burst_length", "d2_size")
    known = {name: value for name, value in fields.items() if name not in outside}
    known |= {name: value for name, value in values.items() if isinstance(value, int)}
    try:
        words: list[Value] = list(SHIM.pack({"axcache": AXCACHE} | known | {"burst_code": code}))
    except Unfit as problem:
        raise VerifyError(f"cannot be written: {problem}", op) from None
    for name, value in values.items():
        if isinstance(value, SSAValue):
            field = SHIM.by_name[name]
            words[field.word] = put.combine(put.shift(value, field.low), words[field.word])
    return words


def _write(
    put: Arith,
    target: Target,
    tile: Tile,
    id: Value,
    words: Sequence[Value],
    argument: int,
    plus: Value,
    shift: tuple[Attribute | None, int],
) -> None:
    """Write a descriptor's words, then the address into them. `shift`: the word of the scratch pad that is added to it,
    if any, and what it is multiplied by."""
    dma = target.dma(TileKind.SHIM_NOC)
    base = target.bd_address(*tile, id if isinstance(id, int) else 0)
    if base is None or dma is None:
        raise VerifyError("BD ID exceeds the maximum ID.", put.op)
    address: Value = base if isinstance(id, int) else put.add(base, put.mul(id, SPACING))
    put.write_words(address, words)
    put.patch_at(put.add(address, dma.bd_address_offset), base + dma.bd_address_offset, argument, plus)
    if shift[0] is not None and not isinstance(id, int):
        raise VerifyError("has an address from the scratch pad and a descriptor that is known at run time only", put.op)
    put.shift_address(base + dma.bd_address_offset, *shift)


# --- transfers --------------------------------------------------------------------------------------------------------


def memcpy_at_run_time(
    op: NpuDmaMemcpyNdOp,
    tile: Tile,
    direction: Direction,
    channel: int,
    source: HostBuffer,
    packet: PacketInfo | None = None,
) -> None:
    """A transfer whose offsets, sizes or strides are computed becomes a descriptor, a patch and a push.

    `packet`: the header of what is sent. Raises VerifyError for what a shim's descriptor cannot do.
    """
    target = target_of(op)
    dma = target.dma(TileKind.SHIM_NOC)
    if target.tile_kind(*tile) is not TileKind.SHIM_NOC or dma is None:
        raise VerifyError("runtime sizes/strides are only supported for shim NOC tile DMAs.", op)
    if op.is_padded:
        raise VerifyError("zero padding is not supported with runtime sizes/strides.", op)
    offsets, sizes, strides = mixed_lists(op)
    bits = element_bits(op.memref.type)
    verify_runtime_steps(op, sizes, strides, bits, dma)
    put = Arith(op)
    values, s = _encode(put, op, sizes, strides, bits, dma)
    values["buffer_length"] = put.mul(put.mul(s[0], s[1]), s[2])
    fields = _plain(packet) | {"burst_length": number(op.burst_length) or 0}
    words = _pack(put, op, target, fields, values)
    start: Value = 0
    for offset, stride in zip(offsets, strides, strict=True):
        start = put.add(start, put.mul(put.narrow(offset), put.narrow(stride)))
    if isinstance(start, int) and start * bits % GRANULE:
        raise VerifyError("Offset must be 4-byte-aligned.", op)
    put.divisible(start, _divisor(bits))
    plus = put.add(put.mul(start, bits // 8), source.offset)
    _write(put, target, tile, op.id, words, source.index, plus, (op.offset_state_table_idx, bits // 8))
    put.push(tile, direction, channel, op.id, s[3], tells(op, direction))
    op.detach()
    op.erase()


def push_at_run_time(op: NpuPushQueueOp, queue_address: int) -> None:
    """A push of a descriptor or with a repeat count that is computed: the queue's word is put together."""
    target = target_of(op)
    kind = target.tile_kind(op.column, op.row)
    dma = target.dma(kind) if kind is not None else None
    if dma is None:
        raise VerifyError(f"tile ({op.column}, {op.row}) has no DMA", op)
    put = Arith(op)
    bd, repeat = put.narrow(op.bd_id), put.narrow(op.repeat_count)
    if isinstance(bd, SSAValue) and not isinstance(bd.owner, DmaBdPoolPopOp):
        put.within(bd, dma.bds - 1)
    put.within(repeat, dma.repeat_max)
    field = QUEUE.by_name
    if isinstance(bd, SSAValue):
        bd = put.put(AndIOp(bd, put.number(0x3F if kind is TileKind.MEM else 0xF))).results[0]
    token = int(op.issue_token) << field["issue_token"].low
    word = put.put(OrIOp(put.number(token), put.number(bd))).results[0]
    shifted = put.number(put.shift(repeat, field["repeat"].low))
    word = put.put(OrIOp(word, shifted)).results[0]
    put.put(NpuWrite32Op.create(operands=[put.number(queue_address), word]))
    op.detach()
    op.erase()
