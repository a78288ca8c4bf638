"""What an instruction could not say, or would say of something that is not there: told instead of cut."""

import pytest
from passkit import Ran, line_of
from seqkit import ARGS, assigned, blocks, device, operations, problems, start, task, to_npu

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.tiles import DeviceOp
from aiecc.ir.passes.dma_to_npu import DmaToNpu
from aiecc.ir.passes.unroll_sequences import UnrollRuntimeSequenceLoops
from aiecc.ir.runtime.transaction import find_sequence, instructions
from aiecc.ir.text import parse
from aiecc.ir.walk import all_in
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


HEADER = "#aie.packet_info<pkt_type = {}, pkt_id = {}>"


@pytest.mark.parametrize(
    ("type", "id", "said"),
    [
        (7, 31, ""),
        (0, 32, "Packet ID exceeds the maximum supported by 5 bits."),
        (8, 0, "Packet Type exceeds the maximum supported by 3 bits."),
    ],
)
@pytest.mark.parametrize("on", ["task", "bd"])
def test_headers_are_told_where_they_are_written(type: int, id: int, said: str, on: str) -> None:
    header = HEADER.format(type, id)
    more = f"packet = {header}" if on == "bd" else ""
    place = "%shim, MM2S, 0" if on == "bd" else f"%shim, MM2S, 0, {header.removeprefix('#aie.packet_info')}"
    text = device(task("t", on=place, more=more))
    ran = to_npu(text)
    if not said:
        assert not ran.said
        return
    name, word = ("aie.dma_bd", "aie.dma_bd") if on == "bd" else ("aiex.dma_configure_task", "dma_configure_task")
    assert ran.only.text == f"'{name}' op {said}"
    assert ran.only.where is not None and ran.only.where.line == line_of(text, word)


@pytest.mark.parametrize(("name", "most"), [("npu1", 256), ("npu2", 512)])
def test_bursts_are_told_where_they_are_written(name: str, most: int) -> None:
    known = "64 128 256" + (" 512" if most == 512 else "")
    for burst in (64, most, 2 * most, 65):
        text = device(task("t", more=f"burst_length = {burst} : i32"), name=name)
        ran = to_npu(text)
        if burst in (64, most):
            assert not ran.said
            continue
        wanted = f"Requested burst length is not supported by the target. Supported burst lengths: {known}"
        assert ran.only.text == f"'aie.dma_bd' op {wanted}"
        assert ran.only.where is not None and ran.only.where.line == line_of(text, "burst_length")


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
        (0x1F002, "column = 0 : i32, row = 2 : i32", "address 0x21f002 is not one of a 32-bit word"),
        (1023, "buffer = @cb", ""),
        (1024, "buffer = @cb", "names word 1024 of buffer 'cb'"),
        (1, "buffer = @cb, column = 1 : i32, row = 2 : i32", "the place of buffer 'cb' counts"),
        (0x1F000, "column = 1 : i32", "names a column and no row"),
        (0x1F000, "row = 1 : i32", "names a row and no column"),
        (0x21F000, "", ""),
        (0x21F001, "", "address 0x21f001 is not one of a 32-bit word"),
        (0xFF000000 - (1 << 32), "", "tile (127, 16), which does not exist"),
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


# --- values of 32 bits ------------------------------------------------------------------------------------------------


WIDE = [
    ("write32", "aiex.npu.write32(%at, %v) : i64, i64"),
    ("maskwrite32", "aiex.npu.maskwrite32(%at, %one, %v) : i64, i64, i64"),
    ("write32", "aiex.npu.rtp_write(@cb, 0, %v) : i64"),
    ("address_patch", "aiex.npu.address_patch(%v : i64) {addr = 118788 : ui32, arg_idx = 0 : i32}"),
]


@pytest.mark.parametrize(("name", "op"), WIDE)
@pytest.mark.parametrize(
    ("value", "fits"), [(-(1 << 31), True), (0xFFFFFFFF, True), (1 << 32, False), (7 << 33, False)]
)
def test_wider_numbers_are_not_cut(name: str, op: str, value: int, fits: bool) -> None:
    lines = "".join(f"%{n} = arith.constant {v} : i64\n" for n, v in (("at", 4096), ("one", 1), ("v", value)))
    ran = Ran(device(lines + op, args="%a: memref<?xi32>"), DmaToNpu())
    assert not ran.said
    sink = Sink()
    found = instructions(ran.device, find_sequence(ran.device), sink)
    if fits:
        assert len(found) == 1 and value & 0xFFFFFFFF in txn.words_of(found[0].op)
    else:
        assert [d.text for d in sink.items] == [f"'aiex.npu.{name}' op value {value} does not fit 32 bits"]


# --- addresses of host buffers put by hand ----------------------------------------------------------------------------


SEVEN = "%a: memref<64xi32>, %n: i32, " + ", ".join(f"%x{i}: memref<?xi32>" for i in range(5))


@pytest.mark.parametrize(
    ("address", "argument", "plus", "said"),
    [
        (0x1D004, 0, 252, ""),
        (0x1D004, 0, 256, "byte 256 of argument 0, which has 256 bytes"),
        (0x1D004, 0, -4, "byte 4294967292 of argument 0, which has 256 bytes"),
        (0x1D004, 1, 0, "argument 1, which is a number"),
        (0x1D004, 6, 1 << 20, ""),
        (0x1D004, 7, 0, "argument 7, and the sequence has 7"),
        (0x0201D1E4, 2, 0, ""),
        (0x1D000, 2, 0, "at 0x1d000, where no shim descriptor has its address"),
        (0x1D204, 2, 0, "at 0x1d204, where no shim descriptor has its address"),
        (0x1A0004, 2, 0, "at 0x1a0004, where no shim descriptor has its address"),
    ],
)
def test_patches_name_buffers_and_descriptors(address: int, argument: int, plus: int, said: str) -> None:
    lines, name = numbers(plus)
    patch = f"aiex.npu.address_patch({name} : i32) {{addr = {address} : ui32, arg_idx = {argument} : i32}}"
    ran = to_npu(device(lines + patch, args=SEVEN))
    assert not ran.sink.failed
    assert bool(ran.said) == bool(said) and said in "".join(ran.said)


@pytest.mark.parametrize(("plus", "fits"), [((1 << 31) - 1, True), (1 << 31, False), (0xFFFFFFFF, False)])
def test_later_arguments_reach_two_gibibytes(plus: int, fits: bool) -> None:
    """Folding needs the last bit: told with the author's number, not with the folded one."""
    line = f"%p = arith.constant {plus} : i64\n"
    patch = "aiex.npu.address_patch(%p : i64) {addr = 118788 : ui32, arg_idx = 5 : i32}"
    ran = Ran(device(line + patch, args=FAR), DmaToNpu())
    sink = Sink()
    instructions(ran.device, find_sequence(ran.device), sink)
    assert [d.text.split(" op ")[1].split(":")[0] for d in sink.items] == (
        [] if fits else [f"starts {plus} bytes into argument 5"]
    )


# --- configurations, preemption, the scratch pad ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("op", "said"),
    [
        ("load_pdi {device_ref = @main, id = 65535 : i32, size = 0 : i32}", ""),
        ("load_pdi {id = 65536 : i32}", "id 65536 is out of range"),
        ("load_pdi {id = -1 : i32}", "id -1 is out of range"),
        ("load_pdi {size = -64 : i32}", "size must not be negative (got -64)."),
        ("load_pdi {device_ref = @nowhere}", "No such device: '@nowhere'"),
        ("load_pdi {device_ref = @main2}", "Not a device: '@main2'"),
        ("preempt {level = 3 : ui8}", ""),
        ("preempt {level = 4 : ui8}", "level 4 is none"),
    ],
)
def test_configurations_and_preemption(op: str, said: str) -> None:
    found = problems(device(f"aiex.npu.{op}").replace("(npu2)", "(npu2) @main") + "func.func private @main2()")
    assert len(found) == bool(said) and said in "".join(found)


def test_registers_in_a_buffer_are_updated_from_the_scratch_pad() -> None:
    text = "aiex.npu.update_from_scratchpad {state_table_idx = 1 : ui8, address = 2 : ui32, buffer = @cb}"
    assert operations(device(text)) == [txn.UpdateReg(1, 1, 0, (2 << 20) + 1024 + 8)]


# --- arguments of unknown size ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("type", "pattern", "paste"),
    [
        ("memref<?xi32>", "", "`len = ` and the number of elements"),
        ("memref<*xi32>", "", "`len = ` and the number of elements"),
        ("memref<?x64xi32>", "", "`len = ` and the number of elements"),
        ("memref<?xi32>", " sizes = [4, 8] strides = [16, 1]", "`len = 32`"),
        ("memref<?xi32>", " sizes = [2, 3, 4, 8] strides = [256, 64, 16, 1]", "`len = 96`"),
    ],
)
def test_without_a_size_the_length_to_paste_is_told(type: str, pattern: str, paste: str) -> None:
    text = device(task("t", bd=f"%a : {type}{pattern}"), args=f"%a: {type}")
    (note,) = to_npu(text).only.notes
    assert paste in note.text
    length = paste.strip("`") if "and" not in paste else "len = 64"
    assert not to_npu(device(task("t", bd=f"%a : {type} {length}{pattern}"), args=f"%a: {type}")).sink.failed


def test_a_known_size_has_no_such_note() -> None:
    for bd, args in (("%a : memref<0xi32>", "%a: memref<0xi32>"), ("%a : memref<?xi32> len = 0", "%a: memref<?xi32>")):
        assert to_npu(device(task("t", bd=bd), args=args)).only.notes == ()


@pytest.mark.parametrize("type", ["memref<64xi32>", "memref<?xi32>"])
def test_a_negative_length_is_told_as_what_it_is(type: str) -> None:
    ran = to_npu(device(task("t", bd=f"%a : {type} len = -4"), args=f"%a: {type}"))
    assert "transfer of 4294967292 elements" in ran.only.text


@pytest.mark.parametrize(
    ("shape", "offsets", "strides", "offset"),
    [
        ("?x64", "2, 0", "64, 1", 128),
        ("?x4x16", "3, 1, 0", "64, 16, 1", 208),
        ("8x64", "2, 0", "64, 1", 128),
        ("?x?", "2, 0", "?, 1", None),
        ("8x?", "2, 0", "?, 1", None),
    ],
)
def test_views_of_unknown_size(shape: str, offsets: str, strides: str, offset: int | None) -> None:
    """How many rows there are does not matter, how long they are does."""
    sizes = "1, " * offsets.count(", ") + "16"
    type = f"memref<{sizes.replace(', ', 'x')}xi32, strided<[{strides}], offset: {'?' if offset is None else offset}>>"
    ones = ", ".join("1" for _ in offsets.split(","))
    view = f"%s = memref.subview %a[{offsets}][{sizes}][{ones}] : memref<{shape}xi32> to {type}\n"
    text = device(view + task("t", bd=f"%s : {type} len = 16"), args=f"%a: memref<{shape}xi32>")
    if offset is None:
        assert "Buffer argument must be" in to_npu(text).only.text
        return
    (patch,) = [op for op in operations(text) if isinstance(op, txn.Patch)]
    assert patch.plus == 4 * offset


@pytest.mark.parametrize(
    ("before", "cast", "plus"),
    [(0, 0, 0), (0, 32, 64), (64, 0, 128), (64, 64, 128), (64, 32, None)],
)
def test_the_offset_of_a_cast_is_not_dropped(before: int, cast: int, plus: int | None) -> None:
    """Of a view, 0 and the view's own offset are both written for the start of the view; else they are not known."""
    of = f"memref<128xi16, strided<[1], offset: {before}>>" if before else "memref<65536xi16>"
    view = f"%s = memref.subview %b[{before}][128][1] : memref<65536xi16> to {of}\n" if before else ""
    type = f"memref<64xi16, strided<[1], offset: {cast}>>"
    line = (
        f"{view}%r = memref.reinterpret_cast {'%s' if before else '%b'} to offset: [{cast}], sizes: [64], "
        f"strides: [1] : {of} to {type}\n"
    )
    text = device(line + task("t", bd=f"%r : {type} offset = 0 len = 64"))
    if plus is None:
        assert "Buffer argument must be" in to_npu(text).only.text
        return
    (patch,) = [op for op in operations(text) if isinstance(op, txn.Patch)]
    assert patch.plus == plus


# --- run-time values --------------------------------------------------------------------------------------------------


def test_a_run_time_value_is_told_once_where_it_would_be_a_word() -> None:
    text = """
    %c0 = arith.constant 0 : index
    %n = memref.dim %x, %c0 : memref<?xi16>
    %l = arith.index_cast %n : index to i32
""" + task("t", bd="%x : memref<?xi16> len = %l")
    ran = to_npu(device(text, args="%x: memref<?xi16>"))
    assert not ran.sink.failed
    sink = Sink()
    instructions(ran.device, find_sequence(ran.device), sink)
    (only,) = sink.items
    assert "runtime-valued blockwrite payload" in only.text


def test_a_check_of_a_run_time_value_alone_is_not_lost() -> None:
    ran = Ran(device("aiex.npu.assert_bd_field(%v) {max = 63 : i32} : i32", args="%v: i32"))
    sink = Sink()
    instructions(ran.device, find_sequence(ran.device), sink)
    (only,) = sink.items
    assert "has no place in a transaction" in only.text


# --- loops ------------------------------------------------------------------------------------------------------------


def loop(rounds: int, body: str, name: str = "i") -> str:
    lines = f"    %{name}0 = arith.constant 0 : index\n    %{name}1 = arith.constant 1 : index\n"
    lines += f"    %{name}n = arith.constant {rounds} : index\n"
    return f"{lines}    scf.for %{name} = %{name}0 to %{name}n step %{name}1 {{\n{body}    }}\n"


WRITE = "      aiex.npu.write32(%n0, %n1) : i32, i32\n"


@pytest.mark.parametrize(
    ("body", "rounds"),
    [
        (loop(1_000_000_000, WRITE), 1_000_000_000),
        (loop(1 << 62, WRITE), 1 << 62),
        # Each of them could be written out, both together could not.
        (loop(2000, loop(1000, WRITE, "j")), 2000),
    ],
    ids=["long", "for ever", "nested"],
)
def test_loops_that_nobody_could_write_out(body: str, rounds: int) -> None:
    lines, _ = numbers(4096, 7)
    module = parse(device(lines + body), "d.mlir")
    sink = Sink()
    UnrollRuntimeSequenceLoops().apply(all_in(module, DeviceOp)[0], sink)
    (found,) = sink.items
    assert found.text.startswith(f"'scf.for' op runs {rounds} times: written out, it would make ")
    assert found.where is not None and found.todo


def test_loops_that_are_written_out() -> None:
    lines, _ = numbers(4096, 7)
    assert operations(device(lines + loop(300, WRITE))) == [txn.Write(4096, 7)] * 300
