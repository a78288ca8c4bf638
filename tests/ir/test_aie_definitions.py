"""Generic forms that break an op's definition: counts, kinds and bounds, in MLIR's words."""

from __future__ import annotations

import pytest
from aiekit import Said, complaint, complaints

from aiecc.ir.dialects.aie import OPS
from aiecc.ir.dialects.aiex import OPS as MORE_OPS
from aiecc.ir.dialects.base import DialectOp

BAD = [
    (
        '%x = "aie.tile"() <{col = 0 : i32}> : () -> index',
        "'aie.tile' op requires attribute 'row'",
    ),
    (
        '%x = "aie.tile"() <{col = 0 : i64, row = 0 : i32}> : () -> index',
        "'aie.tile' op attribute 'col' failed to satisfy constraint: 32-bit signless integer attribute whose minimum "
        "value is 0",
    ),
    (
        '%x = "aie.tile"() <{col = "a", row = 0 : i32}> : () -> index',
        "'aie.tile' op attribute 'col' failed to satisfy constraint: 32-bit signless integer attribute whose minimum "
        "value is 0",
    ),
    (
        '%x = "aie.tile"() <{col = 0 : i32, row = 2 : i32}> : () -> i32',
        "'aie.tile' op result #0 must be index, but got 'i32'",
    ),
    ('"aie.tile"() <{col = 0 : i32, row = 2 : i32}> : () -> ()', "'aie.tile' op requires one result"),
    (
        '%x = "aie.tile"(%t) <{col = 0 : i32, row = 2 : i32}> : (index) -> index',
        "'aie.tile' op expected 0 operands, but found 1",
    ),
    ('%x = "aie.lock"() : () -> index', "'aie.lock' op expected 1 operand, but found 0"),
    (
        '%z = arith.constant 0 : i32\n%x = "aie.lock"(%z) : (i32) -> index',
        "'aie.lock' op operand #0 must be index, but got 'i32'",
    ),
    ('"aie.end"() ({\n}) : () -> ()', "'aie.end' op requires zero regions"),
    ('%x = "aie.core"(%t) : (index) -> index', "'aie.core' op requires one region"),
    (
        '%b = "aie.buffer"(%t) <{initial_value = 5 : i32}> : (index) -> memref<4xi32>',
        "'aie.buffer' op attribute 'initial_value' failed to satisfy constraint: constant vector/tensor attribute",
    ),
    (
        '%b = "aie.buffer"(%t) <{core_data = true}> : (index) -> memref<4xi32>',
        "'aie.buffer' op attribute 'core_data' failed to satisfy constraint: unit attribute",
    ),
    (
        '%b = "aie.buffer"(%t) : (index) -> i32',
        "'aie.buffer' op result #0 must be memref of any type values, but got 'i32'",
    ),
    (
        '%b = "aie.buffer"(%t) <{sym_name = @x}> : (index) -> memref<4xi32>',
        "'aie.buffer' op attribute 'sym_name' failed to satisfy constraint: string attribute",
    ),
    (
        '%b = "aie.buffer"(%t) <{aligned = 1 : i32}> : (index) -> memref<4xi32>',
        "'aie.buffer' op attribute 'aligned' failed to satisfy constraint: bool attribute",
    ),
    (
        '"aie.flow"(%t, %s) <{source_bundle = 12 : i32, source_channel = 0 : i32, dest_bundle = 1 : i32, '
        "dest_channel = 0 : i32}> : (index, index) -> ()",
        "'aie.flow' op attribute 'source_bundle' failed to satisfy constraint: 32-bit signless integer attribute whose "
        "minimum value is 0 whose maximum value is 11",
    ),
    (
        '"aie.flow"(%t) <{source_bundle = 1 : i32, source_channel = 0 : i32, dest_bundle = 1 : i32, '
        "dest_channel = 0 : i32}> : (index) -> ()",
        "'aie.flow' op expected 2 or more operands, but found 1",
    ),
    (
        '%b = aie.external_buffer : memref<4xi32>\n"aie.dma_bd"(%b) : (memref<4xi32>) -> ()',
        "'aie.dma_bd' op requires attribute 'operandSegmentSizes'",
    ),
    (
        '%b = aie.external_buffer : memref<4xi32>\n"aie.dma_bd"(%b) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : '
        "(memref<4xi32>) -> ()",
        "'aie.dma_bd' op 'operandSegmentSizes' attribute for specifying operand segments must have 6 elements, "
        "but got 3",
    ),
    (
        '%b = aie.external_buffer : memref<4xi32>\n"aie.dma_bd"(%b) <{operandSegmentSizes = array<i32: 1, 1, 0, '
        "0, 0, 0>}>"
        " : (memref<4xi32>) -> ()",
        "'aie.dma_bd' op operand count (1) does not match with the total size (2) specified in attribute "
        "'operandSegmentSizes'",
    ),
    (
        '%b = aie.external_buffer : memref<4xi32>\n"aie.dma_bd"(%b, %b) <{operandSegmentSizes = '
        "array<i32: 2, 0, 0, 0, 0, 0>}> : (memref<4xi32>, memref<4xi32>) -> ()",
        "'aie.dma_bd' op operand group starting at #0 ('buffer') requires one element, found 2",
    ),
    (
        '%b = aie.external_buffer : memref<4xi32>\n"aie.dma_bd"(%b, %b) <{operandSegmentSizes = '
        "array<i32: 1, 1, 0, 0, 0, 0>}> : (memref<4xi32>, memref<4xi32>) -> ()",
        "'aie.dma_bd' op operand #1 must be signless integer or index, but got 'memref<4xi32>'",
    ),
    (
        '%x = "aie.switchbox"(%t) ({\n"aie.end"() : () -> ()\n^a:\n"aie.end"() : () -> ()\n}) : (index) -> index',
        "'aie.switchbox' op expects region #0 to have 0 or 1 blocks",
    ),
    (
        '"aie.objectfifo.pool"(%t) <{sym_name = "p", depth = 1 : i32, elemType = memref<4xi32>}> ({\n}) : '
        "(index) -> ()",
        "'aie.objectfifo.pool' op Operations with a 'SymbolTable' must have exactly one block",
    ),
    (
        '"aie.objectfifo.link"() <{fifoIns = ["a"], fifoOuts = [@b], src_offsets = [], dst_offsets = []}> : () -> ()',
        "'aie.objectfifo.link' op attribute 'fifoIns' failed to satisfy constraint: flat symbol ref array attribute",
    ),
    (
        "%c = aie.core(%t) {\naie.end\n} {measured_bank_sizes = array<i64: 1>}",
        "'aie.core' op attribute 'measured_bank_sizes' failed to satisfy constraint: i32 dense array attribute",
    ),
    (
        "%c = aie.core(%t) {\naie.end\n} {link_files = [1 : i32]}",
        "'aie.core' op attribute 'link_files' failed to satisfy constraint: string array attribute",
    ),
    (
        '"aie.shim_dma_allocation"(%s) <{channel_dir = 0 : i32, channel_index = 0 : i64, sym_name = @a}> : '
        "(index) -> ()",
        "'aie.shim_dma_allocation' op attribute 'sym_name' failed to satisfy constraint: string attribute",
    ),
    (
        '"aie.shim_dma_allocation"(%s) <{channel_dir = 0 : i32, channel_index = 0 : i64}> : (index) -> ()',
        "'aie.shim_dma_allocation' op requires attribute 'sym_name'",
    ),
    (
        '"aie.next_bd"() : () -> ()',
        "'aie.next_bd' op requires one successor",
    ),
]


@pytest.mark.parametrize(("body", "expected"), BAD)
def test_bad_definition(body: str, expected: str) -> None:
    assert complaint(body).text == expected


def test_required_attributes_come_before_their_kinds() -> None:
    assert complaint('%x = "aie.tile"() <{col = -1 : i32}> : () -> index') == Said(
        1, "'aie.tile' op requires attribute 'row'"
    )


def test_a_device_of_an_unknown_number() -> None:
    body = '"aie.device"() <{device = 99 : i32, sym_name = "x"}> ({\n"aie.end"() : () -> ()\n}) : () -> ()'
    assert complaints(body)[0].text == (
        "'aie.device' op attribute 'device' failed to satisfy constraint: 32-bit signless integer attribute "
        "whose minimum "
        "value is 1 whose maximum value is 16"
    )


def test_unknown_attributes_are_carried_along() -> None:
    assert complaints('%x = aie.tile(1, 1) {"polyaie.leaf", allocation_scheme = "basic-sequential"}') == []


def test_every_op_says_what_it_is_for() -> None:
    for op in [*OPS, *MORE_OPS]:
        assert op.__doc__ and op.__doc__.strip(), op.name
        assert issubclass(op, DialectOp)
        if "Older" not in op.__name__ and not op.__name__.startswith("_"):
            assert op.SYNTAX, op.name


def test_names_of_ops_are_unique() -> None:
    names = [op.name for op in [*OPS, *MORE_OPS]]
    assert len(names) == len(set(names))
