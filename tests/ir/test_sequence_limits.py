"""What an instruction could not say, or would say of something that is not there: told instead of cut."""

import pytest
from seqkit import ARGS, assigned, blocks, device, operations, start, task, to_npu

from aiecc.npu import txn

CB = "%cb : memref<1024xi32>"
FAR = "%a: memref<?xi32>, " + ", ".join(f"%x{i}: memref<?xi32>" for i in range(5))


def copy(offset: int, sizes: str = "[1, 1, 1, 64]", strides: str = "[0, 0, 0, 1]", type: str = "memref<?xi32>") -> str:
    return (
        f"    aiex.npu.dma_memcpy_nd(%a[0, 0, 0, {offset}]{sizes}{strides}) {{id = 0 : i64, metadata = @in}} : {type}\n"
    )


def numbers(*values: int) -> tuple[str, str]:
    """Constants, and their names in a row."""
    lines = "".join(f"    %n{i} = arith.constant {n} : i32\n" for i, n in enumerate(values))
    return lines, ", ".join(f"%n{i}" for i in range(len(values)))


# --- offsets ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("offset", [0, (1 << 30) - 1])
def test_the_first_four_gibibytes_can_be_said(offset: int) -> None:
    for text in (task("t", bd=f"%a : memref<?xi32> offset = {offset} len = 64"), copy(offset)):
        (patch,) = [op for op in operations(device(text, args=FAR)) if isinstance(op, txn.Patch)]
        assert patch.plus == 4 * offset


@pytest.mark.parametrize("offset", [1 << 30, (1 << 30) + 4, (1 << 31) - 1])
def test_offsets_beyond_are_not_cut(offset: int) -> None:
    for text in (task("t", bd=f"%a : memref<?xi32> offset = {offset} len = 64"), copy(offset)):
        ran = to_npu(device(text, args=FAR))
        assert f"starts {4 * offset} bytes into its host buffer" in ran.only.text
        assert ran.only.where is not None


def test_negative_offsets() -> None:
    bd = "%a : memref<?xi32> offset = -4 len = 64"
    assert "Offset must not be negative." in to_npu(device(task("t", bd=bd), args=FAR)).only.text
    assert "starts -16 bytes into" in to_npu(device(copy(-4), args=FAR)).only.text
    on_tile = task("t", on="%core, MM2S, 0", bd=f"{CB} offset = -4 len = 4")
    assert "Offset must not be negative." in to_npu(device(on_tile)).only.text


# --- the ends of buffers ----------------------------------------------------------------------------------------------


ONE = "%a: memref<64xi32>"


@pytest.mark.parametrize(
    ("pattern", "fits"),
    [
        ("offset = 0 len = 64", True),
        ("offset = 1 len = 64", False),
        ("offset = 0 len = 32 sizes = [4, 8] strides = [16, 1]", True),
        ("offset = 8 len = 32 sizes = [4, 8] strides = [16, 1]", True),
        ("offset = 12 len = 32 sizes = [4, 8] strides = [16, 1]", False),
        # Of the outermost dimension one start runs as many steps as the task has runs.
        ("offset = 0 len = 8 sizes = [4, 1, 1, 8] strides = [32, 0, 0, 1]", True),
    ],
)
def test_a_host_buffer_that_is_left_is_a_warning(pattern: str, fits: bool) -> None:
    ran = to_npu(device(task("t", bd=f"%a : memref<64xi32> {pattern}"), args=ONE))
    assert not ran.sink.failed
    assert [d.level.name for d in ran.sink.items] == [] if fits else ["WARNING"], ran.said


def test_steps_of_the_outermost_dimension_that_are_run_count() -> None:
    bd = "%a : memref<64xi32> offset = 0 len = 8 sizes = [4, 1, 1, 8] strides = [32, 0, 0, 1]"
    for repeat, index in ((1, ""), (2, "index 71"), (3, "index 103")):
        ran = to_npu(device(task("t", bd=bd, attrs=f"repeat_count = {repeat} : i32"), args=ONE))
        assert bool(ran.said) == bool(index)
        assert index in "".join(ran.said)


def test_copies_leave_host_buffers_too() -> None:
    text = copy(0, "[1, 1, 8, 8]", "[0, 0, 16, 1]", "memref<64xi32>")
    assert "for index 119 in memref of length 64" in to_npu(device(text, args=ONE)).only.text
    assert not to_npu(device(copy(0, type="memref<64xi32>"), args=ONE)).said


@pytest.mark.parametrize(
    "pattern", ["offset = 1000 len = 64", "offset = 9 len = 16 sizes = [2, 8] strides = [1020, 1]"]
)
def test_what_follows_a_buffer_of_a_tile_is_something_else(pattern: str) -> None:
    ran = to_npu(device(task("t", on="%core, MM2S, 0", bd=f"{CB} {pattern}")))
    assert ran.sink.failed
    assert "runs past the end" in ran.only.text or "out of bounds" in ran.only.text


def test_a_loop_that_leaves_a_buffer_is_told_once() -> None:
    loop = f"""
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    scf.for %i = %c0 to %c4 step %c1 {{
{task("t", bd="%a : memref<64xi32> offset = 32 len = 64")}
    }}
"""
    assert len(to_npu(device(loop, args=ONE)).said) == 1


# --- what a descriptor says -------------------------------------------------------------------------------------------


def test_the_cache_hint_of_a_descriptor_is_written() -> None:
    bd = "%a : memref<65536xi32> offset = 0 len = 64"
    for more, wanted in (("", 2), ("axcache = 2 : i32", 2), ("axcache = 11 : i32", 11), ("axcache = 0 : i32", 0)):
        ((_, found),) = list(blocks(device(task("t", bd=bd, more=more))))
        assert found[5] >> 24 == wanted
    ran = to_npu(device(task("t", on="%core, MM2S, 0", bd=f"{CB} offset = 0 len = 4", more="axcache = 2 : i32")))
    assert "AxCACHE is only supported in Shim NOC tiles" in ran.only.text


def test_a_word_of_the_scratch_pad_is_added_to_the_address() -> None:
    """Of the descriptor, times the bytes of an element."""
    args = ARGS
    text = task("t", bd="%b : memref<65536xi16> offset = 0 len = 64", more="offset_state_table_idx = 3 : ui8")
    ops = operations(device(text, args=args))
    assert [type(op).__name__ for op in ops] == ["BlockWrite", "Patch", "UpdateReg"]
    assert ops[2] == txn.UpdateReg(index=3, function=0, argument=2, address=0x1D004)


def test_what_nobody_lowers_is_refused() -> None:
    bd = "%a : memref<65536xi32> offset = 0 len = 64"
    ran = to_npu(device(task("t", bd=bd, more="offset_parameter = @p")))
    assert "has an offset_parameter that nothing has lowered" in ran.only.text


@pytest.mark.parametrize(("value", "fits"), [(63, True), (64, False), (-1, False)])
def test_locks_count_to_63(value: int, fits: bool) -> None:
    lines = f"    %v = arith.constant {value} : i32\n    %one = arith.constant 1 : i32\n"
    text = f"""{lines}
    %t = aiex.dma_configure_task(%core, MM2S, 0) {{
      aie.use_lock(%cl0, Acquire, %v)
      aie.dma_bd({CB} offset = 0 len = 64)
      aie.use_lock(%cl1, Release, %one)
      aie.end
    }}
"""
    ran = to_npu(device(text))
    assert bool(ran.said) is not fits
    assert fits or f"Lock value {value} is out of range" in ran.only.text


# --- what an instruction names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("index", "fits"), [(0, True), (1023, True), (1024, False), (-1, False)])
def test_parameters_are_words_of_their_buffer(index: int, fits: bool) -> None:
    lines, name = numbers(7)
    ran = to_npu(device(f"{lines}    aiex.npu.rtp_write(@cb, {index}, {name}) : i32\n"))
    assert ran.sink.failed is not fits
    assert fits or f"names word {index} of buffer 'cb', which holds 1024 words" in ran.only.text


@pytest.mark.parametrize(
    ("address", "place", "said"),
    [
        (0x1F000, "column = 0 : i32, row = 2 : i32", ""),
        (0x21F000, "column = 0 : i32, row = 2 : i32", ""),
        (0x31F000, "column = 0 : i32, row = 2 : i32", "address 0x31f000 is not one of tile (0, 2): 0x21f000 is meant"),
        (0x1F000, "column = 0 : i32, row = 9 : i32", "tile (0, 9) does not exist"),
        (0x1F000, "column = 300 : i32, row = 0 : i32", "tile (300, 0) does not exist"),
        (1023, "buffer = @cb", ""),
        (1024, "buffer = @cb", "names word 1024 of buffer 'cb'"),
    ],
)
def test_registers_are_in_their_tile(address: int, place: str, said: str) -> None:
    lines, names = numbers(address, 7)
    ran = to_npu(device(f"{lines}    aiex.npu.write32({names}) {{{place}}} : i32, i32\n"))
    assert bool(ran.said) == bool(said)
    assert said in "".join(ran.said)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ((0, 0, 2, 0, 1, 1), "direction 2"),
        ((0, 0, -1, 0, 1, 1), "direction -1"),
        ((0, 0, 1, 2, 1, 1), "channel 2 of tile (0, 0)"),
        ((9, 0, 1, 0, 1, 1), "tile (9, 0), which has no DMA"),
        ((6, 0, 1, 0, 4, 1), "tile (8, 0), which has no DMA"),
        ((0, 0, 1, 0, 0, 1), "0 columns"),
    ],
)
def test_waits_are_for_channels_that_are_there(values: tuple[int, ...], said: str) -> None:
    lines, names = numbers(*values)
    text = f"{task('t', token=True)}{start('t')}{lines}    aiex.npu.sync({names}) : {', '.join(['i32'] * 6)}\n"
    assert f"waits for {said}" in assigned(device(text)).only.text
