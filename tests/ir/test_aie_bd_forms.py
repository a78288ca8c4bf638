"""`aie.dma_bd`, read and printed: today's clauses, values computed at run time, the older positional form."""

from __future__ import annotations

import pytest
from aiekit import Form, check_form, device, printed, read

from aiecc.ir.dialects.aie import DmaBdOp

B = "%b : memref<128xi32>"


def in_sequence(source: str, expected: str | None = None) -> Form:
    """One descriptor in a task of a run-time sequence whose arguments are a buffer and numbers of three types."""

    def text(tile: str, op: str, names: tuple[str, ...]) -> str:
        buffer, i32, i64, index = names
        head = f"aie.runtime_sequence @run({buffer}: memref<128xi32>, {i32}: i32, {i64}: i64, {index}: index) {{"
        task = "%0" if tile.startswith("%m") and len(tile) > 2 else "%k"
        return f"{head}\n  {task} = aiex.dma_configure_task({tile}, MM2S, 0) {{\n    {op}\n    aie.end\n  }}\n}}"

    return (
        text("%s", source, ("%b", "%n", "%q", "%i")),
        text("%s", expected or source, ("%b", "%n", "%q", "%i"))
        .replace("%k", "%0")
        .replace("(%s,", "(%shim_noc_tile_0_0,")
        .replace("%b", "%arg0")
        .replace("%n", "%arg1")
        .replace("%q", "%arg2")
        .replace("%i", "%arg3"),
    )


FORMS: dict[str, Form] = {
    "bare": in_sequence(f"aie.dma_bd({B})"),
    "offset": in_sequence(f"aie.dma_bd({B} offset=0x8)", f"aie.dma_bd({B} offset = 8)"),
    "len": in_sequence(f"aie.dma_bd({B} len = 64)"),
    "pattern": in_sequence(f"aie.dma_bd({B} offset = 0 len = 64 sizes = [2, 4, 8] strides = [64, 8, 1])"),
    "pad": in_sequence(
        f"aie.dma_bd({B} sizes = [2] strides = [1] pad [<const_pad_after = 2, const_pad_before = 1>])",
        f"aie.dma_bd({B} sizes = [2] strides = [1] pad [<const_pad_before = 1, const_pad_after = 2>])",
    ),
    "run-time scalars": in_sequence(f"aie.dma_bd({B} offset = %n len = %n)"),
    "run-time lists": in_sequence(f"aie.dma_bd({B} sizes = [%q, 4, %q] strides = [64, %q, 1])"),
    "other types": in_sequence(
        f"aie.dma_bd({B} offset = %i : index len = %n : i32 sizes = [%n : i32] strides = [%q : i64])",
        f"aie.dma_bd({B} offset = %i : index len = %n sizes = [%n : i32] strides = [%q])",
    ),
    "run-time id": in_sequence(f"aie.dma_bd({B}) bd_id_val %n : i32 {{a}}"),
    "dictionary": in_sequence(
        f"aie.dma_bd({B}) {{packet = #aie.packet_info<pkt_id = 2>, bd_id = 3 : i32, next_bd_id = 4 : i32, "
        "iteration = #aie.bd_iteration<size = 4, stride = 16, current = 0>, burst_length = 64 : i32, "
        "axcache = 2 : i32, out_of_order_id = 1 : i32, offset_parameter = @p, "
        "offset_state_table_idx = 3 : ui8, length_core_encoded, "
        "length_parameter = @q, length_state_table_idx = 4 : ui8, length_unit = 4 : i32}",
        f"aie.dma_bd({B}) {{axcache = 2 : i32, bd_id = 3 : i32, burst_length = 64 : i32, "
        "iteration = #aie.bd_iteration<size = 4, stride = 16, current = 0>, length_core_encoded, "
        "length_parameter = @q, length_state_table_idx = 4 : ui8, length_unit = 4 : i32, "
        "next_bd_id = 4 : i32, offset_parameter = @p, "
        "offset_state_table_idx = 3 : ui8, out_of_order_id = 1 : i32, packet = #aie.packet_info<pkt_id = 2>}",
    ),
    "default burst": in_sequence(f"aie.dma_bd({B}) {{burst_length = 0 : i32}}", f"aie.dma_bd({B})"),
    # Older texts: commas and places instead of names.
    "older: offset": in_sequence(f"aie.dma_bd({B}, 8)", f"aie.dma_bd({B} offset = 8)"),
    "older: offset and len": in_sequence(f"aie.dma_bd({B}, 0, 64)", f"aie.dma_bd({B} offset = 0 len = 64)"),
    "older: dimensions": in_sequence(
        f"aie.dma_bd({B}, 0, 64, [<size = 2, stride = 32>, <size = 32, stride = 1>])",
        f"aie.dma_bd({B} offset = 0 len = 64 sizes = [2, 32] strides = [32, 1])",
    ),
    "older: padding": in_sequence(
        f"aie.dma_bd({B}, 0, 64, [<size = 2, stride = 32>], [<const_pad_before = 1, const_pad_after = 1>])",
        f"aie.dma_bd({B} offset = 0 len = 64 sizes = [2] strides = [32] pad "
        "[<const_pad_before = 1, const_pad_after = 1>])",
    ),
    "older: pad value": in_sequence(
        f"aie.dma_bd({B}, 0, 64, pad_value = 5)", f"aie.dma_bd({B} offset = 0 len = 64) {{pad_value = 5 : i32}}"
    ),
    "older: keys": in_sequence(
        f"aie.dma_bd({B}) {{len = 8 : i32, offset = 4 : i32, "
        "dimensions = #aie<bd_dim_layout_array[<size = 2, stride = 4>]>}",
        f"aie.dma_bd({B} offset = 4 len = 8 sizes = [2] strides = [4])",
    ),
}


@pytest.mark.parametrize("name", FORMS)
def test_form(name: str) -> None:
    check_form(FORMS[name])


@pytest.mark.parametrize("groups", ["1, 0, 0, 0, 0", "1, 0, 0, 0, 0, 0"])
def test_generic_forms_of_both_ages(groups: str) -> None:
    body = f"""
    aie.runtime_sequence @run(%b: memref<128xi32>) {{
      %k = aiex.dma_configure_task(%s, MM2S, 0) {{
        "aie.dma_bd"(%b) <{{bd_id = 0 : i32, operandSegmentSizes = array<i32: {groups}>, static_len = 32 : i32,
          static_offset = 4 : i32, static_sizes = array<i64: 8, 2>, static_strides = array<i64: 2, 1>}}>
          : (memref<128xi32>) -> ()
        aie.end
      }}
    }}
    """
    assert (
        "aie.dma_bd(%arg0 : memref<128xi32> offset = 4 len = 32 sizes = [8, 2] strides = [2, 1]) {bd_id = 0 : i32}"
        in (printed(body))
    )


def only_bd(op: str, buffer: str = "memref<128xi32>") -> DmaBdOp:
    body = f"""
    aie.runtime_sequence @run(%b: {buffer}, %n: i32, %q: i64) {{
      %k = aiex.dma_configure_task(%s, MM2S, 0) {{
        %five = arith.constant 5 : i32
        %six = arith.constant 6 : i64
        {op}
        aie.end
      }}
    }}
    """
    return next(op for op in read(device(body)).walk() if isinstance(op, DmaBdOp))


def test_constants_of_a_plain_descriptor() -> None:
    bd = only_bd(f"aie.dma_bd({B})")
    assert (bd.offset, bd.len, bd.given_len, bd.sizes, bd.strides) == (0, 128, None, [], [])


def test_constants_through_operands() -> None:
    bd = only_bd(f"aie.dma_bd({B} offset = %five len = %five sizes = [%six, 2] strides = [1, %six])")
    assert (bd.offset, bd.len, bd.given_len, bd.sizes, bd.strides) == (5, 5, 5, [6, 2], [1, 6])


def test_values_computed_at_run_time_are_none() -> None:
    bd = only_bd(f"aie.dma_bd({B} offset = %n len = %n sizes = [%q, 2] strides = [1, %q])")
    assert (bd.offset, bd.len, bd.given_len, bd.sizes, bd.strides) == (None, None, None, None, None)
    assert bd.mixed_sizes[1] == 2 and not isinstance(bd.mixed_sizes[0], int)


def test_length_of_an_unranked_buffer_is_unknown() -> None:
    assert only_bd("aie.dma_bd(%b : memref<*xi32>)", "memref<*xi32>").len is None
