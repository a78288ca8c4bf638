"""Cores as functions, buffers as globals, hardware as calls."""

from __future__ import annotations

import pytest
from passkit import Ran, line_of

from aiecc.ir.passes.localize_locks import LocalizeLocks
from aiecc.ir.passes.standard_lowering import StandardLowering


def core(body: str, device: str = "npu2", before: str = "", row: int = 2) -> str:
    return (
        f"aie.device({device}) {{\n  %t = aie.tile(0, {row})\n{before}\n  %core = aie.core(%t) {{\n"
        f"{body}\n    aie.end\n  }}\n}}"
    )


def inside(ran: Ran, name: str = "core_0_2") -> list[str]:
    """The lines of a function's body."""
    lines = ran.text.splitlines()
    start = next(i for i, line in enumerate(lines) if f"@{name}()" in line)
    body: list[str] = []
    for line in lines[start + 1 :]:
        if line == "  }":
            return body
        body.append(line.strip())
    raise AssertionError(ran.text)


ARCHES = [("xcvc1902", "aie"), ("npu1", "aie2"), ("npu2", "aie2p")]


@pytest.mark.parametrize(("device", "arch"), ARCHES)
def test_the_module_names_its_architecture(device: str, arch: str):
    assert f'llvm.target_triple = "{arch}"' in Ran(core("", device), StandardLowering()).text


LOCK = """
    %c2 = arith.constant 2 : i32
    aie.use_lock(%l, {action}, %c2)"""


@pytest.mark.parametrize(
    ("device", "action", "name", "value"),
    [
        ("xcvc1902", "Acquire", "llvm.aie.lock.acquire.reg", 2),
        ("xcvc1902", "Release", "llvm.aie.lock.release.reg", 2),
        ("npu1", "Acquire", "llvm.aie2.acquire", 2),
        # "At least n" is the negative of n.
        ("npu1", "AcquireGreaterEqual", "llvm.aie2.acquire", -2),
        ("npu1", "Release", "llvm.aie2.release", 2),
        ("npu2", "AcquireGreaterEqual", "llvm.aie2p.acquire", -2),
        ("npu2", "Release", "llvm.aie2p.release", 2),
    ],
)
def test_a_lock_is_a_call_with_the_cores_number_and_a_signed_value(device, action, name, value):
    text = core(LOCK.format(action=action), device, "  %l = aie.lock(%t, 5)")
    ran = Ran(text, LocalizeLocks(), StandardLowering())
    body = inside(ran)
    # Row 2 is even: AIE1 sees its own locks in the west (16..), AIE2 in the east (48..).
    number = 21 if device == "xcvc1902" else 53
    assert body[0] == f"%c{number} = arith.constant {number} : index"
    assert f"%0 = arith.index_cast %c{number} : index to i32" in body
    assert f"call @{name}(%0, %c{value}_i32) : (i32, i32) -> ()" in body
    assert f"func.func private @{name}(i32, i32)" in ran.text


def test_locks_that_are_not_localized_yet_are():
    text = core(LOCK.format(action="Release"), "npu2", "  %l = aie.lock(%t, 5)")
    assert inside(Ran(text, StandardLowering())) == inside(Ran(text, LocalizeLocks(), StandardLowering()))


def test_a_value_known_at_run_time_only_is_negated_there():
    body = """
    %c = arith.constant 0 : index
    %v = memref.load %b[%c] : memref<4xi32>
    aie.use_lock(%l, AcquireGreaterEqual, %v)"""
    before = '  %l = aie.lock(%t, 0)\n  %b = aie.buffer(%t) {sym_name = "b"} : memref<4xi32>'
    lines = inside(Ran(core(body, "npu2", before), LocalizeLocks(), StandardLowering()))
    assert "%3 = arith.subi %c0_i32, %1 : i32" in lines
    assert "call @llvm.aie2p.acquire(%2, %3) : (i32, i32) -> ()" in lines


STREAM = """
    %ch = arith.constant 0 : i32
    %v = arith.constant {value}
    aie.put_stream(%ch : i32, %v : {type})
    %g = aie.get_stream(%ch : i32) : {type}"""


@pytest.mark.parametrize(
    ("value", "type", "put", "get"),
    [
        ("7 : i32", "i32", "llvm.aie.put.ms", "llvm.aie.get.ss"),
        ("7 : i128", "i128", "llvm.aie.put.wms", "llvm.aie.get.wss"),
        ("7.0 : f32", "f32", "llvm.aie.put.fms", "llvm.aie.get.fss"),
    ],
)
def test_streams_of_the_first_generation_have_a_channel_and_a_width(value, type, put, get):
    ran = Ran(core(STREAM.format(value=value, type=type), "xcvc1902"), StandardLowering())
    assert [f"call @{put}(%c0_i32, " in line for line in inside(ran)].count(True) == 1
    assert f"func.func private @{put}(i32, {type})" in ran.text
    assert f"func.func private @{get}(i32) -> {type}" in ran.text


def test_later_streams_carry_words_and_a_last_flag():
    lines = inside(Ran(core(STREAM.format(value="7 : i32", type="i32"), "npu1"), StandardLowering()))
    assert "call @llvm.aie2.put.ms(%c7_i32, %c0_i32_0) : (i32, i32) -> ()" in lines
    assert "%0:2 = call @llvm.aie2.get.ss() : () -> (i32, i32)" in lines


def test_a_float_crosses_a_later_stream_as_its_bits():
    lines = inside(Ran(core(STREAM.format(value="7.0 : f32", type="f32"), "npu2"), StandardLowering()))
    assert "%0 = arith.bitcast %cst : f32 to i32" in lines
    assert "%2 = arith.bitcast %1#0 : i32 to f32" in lines


def test_later_streams_are_not_wide():
    text = core(STREAM.format(value="7 : i128", type="i128"), "npu2")
    ran = Ran(text, StandardLowering())
    assert ran.said[0] == "'aie.put_stream' op Could not find the intrinsic function llvm.aie2p.put.wms"
    where = ran.sink.items[0].where
    assert where is not None and where.line == line_of(text, "put_stream")


def test_a_cascade_carries_sixteen_words_whatever_the_vector():
    body = """
    %v = aie.get_cascade() : vector<32xbf16>
    aie.put_cascade(%v : vector<32xbf16>)"""
    lines = inside(Ran(core(body, "npu1"), StandardLowering()))
    assert lines == [
        "%c1_i32 = arith.constant 1 : i32",
        "%0 = call @llvm.aie2.scd.read.vec(%c1_i32) : (i32) -> vector<16xi32>",
        "%1 = vector.bitcast %0 : vector<16xi32> to vector<32xbf16>",
        "%2 = vector.bitcast %1 : vector<32xbf16> to vector<16xi32>",
        "%c1_i32_0 = arith.constant 1 : i32",
        "call @llvm.aie2.mcd.write.vec(%2, %c1_i32_0) : (vector<16xi32>, i32) -> ()",
        "return",
    ]


def test_a_cascade_of_the_first_generation_is_384_bits():
    body = "    %v = aie.get_cascade() : i384\n    aie.put_cascade(%v : i384)"
    lines = inside(Ran(core(body, "xcvc1902"), StandardLowering()))
    assert lines[:2] == [
        "%0 = call @llvm.aie.get.scd() : () -> i384",
        "call @llvm.aie.put.mcd(%0) : (i384) -> ()",
    ]


def test_events_are_two_functions_once_and_one_with_a_number_later():
    body = "    aie.event(0)\n    aie.event(1)"
    assert inside(Ran(core(body, "xcvc1902"), StandardLowering()))[:2] == [
        "call @llvm.aie.event0() : () -> ()",
        "call @llvm.aie.event1() : () -> ()",
    ]
    later = inside(Ran(core(body, "npu2"), StandardLowering()))
    assert later[1] == "call @llvm.aie2p.event(%c0_i32) : (i32) -> ()"
    assert later[3] == "call @llvm.aie2p.event(%c1_i32) : (i32) -> ()"


def test_debug_prints_a_word():
    body = "    %v = arith.constant 7 : i32\n    aie.debug(%v : i32)"
    assert "call @debug_i32(%c7_i32) : (i32) -> ()" in inside(Ran(core(body), StandardLowering()))


TWO = """
aie.device(npu2) {
  %a = aie.tile(0, 2)
  %b = aie.tile(0, 3)
  %x = aie.buffer(%a) {sym_name = "x"} : memref<4xi32> = dense<[1, 2, 3, 4]>
  %y = aie.buffer(%b) {sym_name = "y"} : memref<4xi32> = dense<7>
  func.func private @k(memref<4xi32>)
  %ca = aie.core(%a) {
    func.call @k(%x) : (memref<4xi32>) -> ()
    aie.end
  }
  %cb = aie.core(%b) {
    func.call @k(%x) : (memref<4xi32>) -> ()
    aie.end
  }
}
aie.device(npu2) @second {
  %a = aie.tile(1, 2)
  %ca = aie.core(%a) {
    aie.end
  }
}"""


def test_every_core_becomes_a_function_last_one_first():
    text = Ran(TWO, StandardLowering()).text
    assert text.index("@y") < text.index("@x") < text.index("@k") < text.index("@core_0_3") < text.index("@core_0_2")
    assert "aie." not in text and "core_1_2" not in text


def test_one_core_is_picked_by_its_place():
    text = Ran(TWO, StandardLowering(tilecol=0, tilerow=3)).text
    assert "@core_0_3" in text and "@core_0_2" not in text


def test_initial_values_stay_with_the_owner():
    lines = Ran(TWO, StandardLowering(tilecol=0, tilerow=3)).lines("memref<4xi32>")
    assert any("@y" in line or '"y"' in line for line in lines if "dense<7>" in line)
    assert not any("dense<[1, 2, 3, 4]>" in line for line in lines)


def test_a_device_is_picked_by_its_name():
    text = Ran(TWO, StandardLowering(device="second")).text
    assert "@core_1_2" in text and "@core_0_2" not in text
    assert Ran(TWO, StandardLowering(device="third")).only.text == "'builtin.module' op No such device: third"


def test_a_module_without_a_device_is_refused():
    assert Ran("module {\n}", StandardLowering()).only.text == (
        "'builtin.module' op expected AIE.device operation at toplevel"
    )


def test_a_buffer_is_fetched_where_it_is_used_and_assumed_to_be_aligned():
    lines = inside(Ran(TWO, StandardLowering()))
    assert lines[0] == "%0 = memref.get_global @x : memref<4xi32>"
    assert "memref.assume_alignment %0, 32 : memref<4xi32>" in lines[1]
    assert lines[2] == "call @k(%0) : (memref<4xi32>) -> ()"


def test_a_constant_of_the_device_comes_along():
    text = core("    aie.event(0)\n    aie.debug(%seven : i32)", before="  %seven = arith.constant 7 : i32")
    assert "call @debug_i32(%c7_i32) : (i32) -> ()" in inside(Ran(text, StandardLowering()))


def test_any_other_value_from_outside_is_refused_where_it_is_used():
    text = core("    %v = arith.index_cast %t : index to i32\n    aie.debug(%v : i32)")
    said = Ran(text, StandardLowering()).only
    assert said.text.startswith("'arith.index_cast' op uses the result of an 'aie.tile' from outside the core")
    assert said.where is not None and said.where.line == line_of(text, "index_cast")


def test_locks_in_functions_are_lowered_as_well():
    before = """
  %l = aie.lock(%t, 0)
  func.func private @take(%l0 : index) {
    %c1 = arith.constant 1 : i32
    aie.use_lock(%l0, AcquireGreaterEqual, %c1)
    return
  }"""
    ran = Ran(core("    func.call @take(%l) : (index) -> ()", "npu2", before), LocalizeLocks(), StandardLowering())
    assert "call @take(%c48) : (index) -> ()" in inside(ran)
    assert "call @llvm.aie2p.acquire(%0, %c-1_i32) : (i32, i32) -> ()" in ran.lines("acquire(%0")


FLOAT_SRS = """
    %z = arith.constant 0 : i32
    %f = arith.constant dense<1.0> : vector<16xf32>
    %s = aievec.srs %f, %z : vector<16xf32>, i32, vector<16xbf16>"""
INT_SRS = """
    %y = arith.constant 0 : i32
    %i = arith.constant dense<42> : vector<16xi32>
    %n = aievec.srs %i, %y : vector<16xi32>, i32, vector<16xi8>"""
MATMUL = """
    %a = arith.constant dense<1.0> : vector<4x8x{0}>
    %b = arith.constant dense<1.0> : vector<8x4x{0}>
    %c = arith.constant dense<0.0> : vector<4x4xf32>
    %r = aievec.matmul %a, %b, %c : vector<4x8x{0}>, vector<8x4x{0}> into vector<4x4xf32>"""


@pytest.mark.parametrize(
    ("body", "mode"),
    [
        (FLOAT_SRS, 0),
        (INT_SRS, 9),
        (INT_SRS + FLOAT_SRS, 9),
        (MATMUL.format("bf16"), 12),
        (MATMUL.format("bf16") + INT_SRS, 12),
        (INT_SRS + MATMUL.format("bf16"), 12),
        (MATMUL.format("f32"), None),
        ("", None),
    ],
)
@pytest.mark.parametrize(("device", "arch", "rounding"), [("npu1", "aie2", 6), ("npu2", "aie2p", 1)])
def test_vector_code_sets_saturation_and_the_rounding_it_wants(body, mode, device, arch, rounding):
    ran = Ran(core(body, device), StandardLowering())
    calls = [line for line in inside(ran) if "set.ctrl.reg" in line]
    if mode is None:
        assert not calls
        return
    # Constants print as their values, with a number behind them where one was there already.
    values = [
        [int(name.split("_")[0][2:]) for name in line[line.index("(") + 1 :].split(")")[0].split(", ")]
        for line in calls
    ]
    assert values == [[9, 1], [rounding, mode]]
    assert all(f"@llvm.{arch}.set.ctrl.reg(" in line for line in calls)
    assert inside(ran).index(calls[0]) == 2


@pytest.mark.parametrize(
    ("body", "word", "says"),
    [
        (
            "    %v = arith.constant 1.0 : f32\n    aie.debug(%v : f32)",
            "aie.debug",
            "'aie.debug' op can print an i32 only, got f32",
        ),
        (
            "    %v = arith.constant 1 : i512\n    aie.put_cascade(%v : i512)",
            "put_cascade",
            "'aie.put_cascade' op must carry a vector on AIE2p, got i512",
        ),
        (
            "    %v = aie.get_cascade() : i512",
            "get_cascade",
            "'aie.get_cascade' op must carry a vector on AIE2p, got i512",
        ),
    ],
)
def test_what_no_intrinsic_takes_is_refused(body, word, says):
    text = core(body)
    said = Ran(text, StandardLowering()).only
    assert said.text == says
    assert said.where is not None and said.where.line == line_of(text, word)
