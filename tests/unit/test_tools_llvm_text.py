"""LLVM IR text made fit for older compilers: every rule, nothing beside it, and twice is once."""

import random
import re
import struct
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiecc.tools.llvm_text import for_chess, for_peano, keep_definitions, rename_intrinsics

PEANO = [
    # 1, 2: attributes
    ("attributes #0 = { nocreateundeforpoison nounwind }", "attributes #0 = { nounwind }"),
    ("attributes #0 = { nounwind nocreateundeforpoison }", "attributes #0 = { nounwind }"),
    (
        "attributes #0 = { memory(argmem: readwrite, target_mem: none) nounwind }",
        "attributes #0 = { memory(argmem: readwrite) nounwind }",
    ),
    ("attributes #0 = { memory(read, target_mem0: none) nounwind }", "attributes #0 = { nounwind }"),
    ("declare void @f() memory(target_mem: read) #1", "declare void @f() #1"),
    ("attributes #0 = { memory(argmem: read) }", "attributes #0 = { memory(argmem: read) }"),
    # 3: lifetime markers
    (
        "  call void @llvm.lifetime.start.p0(ptr nonnull %a)",
        "  call void @llvm.lifetime.start.p0(i64 -1, ptr nonnull %a)",
    ),
    ("  tail call void @llvm.lifetime.end.p0(ptr %a)", "  tail call void @llvm.lifetime.end.p0(i64 -1, ptr %a)"),
    (
        "declare void @llvm.lifetime.start.p0(ptr captures(none)) #3",
        "declare void @llvm.lifetime.start.p0(i64 immarg, ptr captures(none)) #3",
    ),
    ("  call void @llvm.lifetime.start.p0(i64 4, ptr %a)", "  call void @llvm.lifetime.start.p0(i64 4, ptr %a)"),
    ("  call void @my.lifetime.start.p0(ptr %a)", "  call void @my.lifetime.start.p0(ptr %a)"),
    # 4: typed infinities
    ("  store half inf, ptr %p", "  store half 0xH7C00, ptr %p"),
    ("  store half -inf, ptr %p", "  store half 0xHFC00, ptr %p"),
    ("  store half nan, ptr %p", "  store half 0xH7E00, ptr %p"),
    ("  store bfloat inf, ptr %p", "  store bfloat 0xR7F80, ptr %p"),
    ("  store bfloat -inf, ptr %p", "  store bfloat 0xRFF80, ptr %p"),
    ("  store bfloat nan, ptr %p", "  store bfloat 0xR7FC0, ptr %p"),
    ("  store float inf, ptr %p", "  store float 0x7FF0000000000000, ptr %p"),
    ("  store float -inf, ptr %p", "  store float 0xFFF0000000000000, ptr %p"),
    ("  store double nan, ptr %p", "  store double 0x7FF8000000000000, ptr %p"),
    ("  store float +inf, ptr %p", "  store float 0x7FF0000000000000, ptr %p"),
    # 5: bare ones
    (
        "  %1 = phi float [ inf, %a ], [ -inf, %b ], [ nan, %c ]",
        "  %1 = phi float [ 0x7FF0000000000000, %a ], [ 0xFFF0000000000000, %b ], [ 0x7FF8000000000000, %c ]",
    ),
    ("  %inf = fadd nnan ninf float %nan, %inf.1", "  %inf = fadd nnan ninf float %nan, %inf.1"),
    ("inf:", "inf:"),
    ("  br label %inf", "  br label %inf"),
    ("  call void @nan(ptr @inf)", "  call void @nan(ptr @inf)"),
    ('!1 = !{!"nan", !"float inf"}', '!1 = !{!"nan", !"float inf"}'),
    ("  ret void ; float inf, align 4", "  ret void ; float inf, align 4"),
    # 6: f0x
    ("  store float f0x3F800000, ptr %p", "  store float 0x3FF0000000000000, ptr %p"),
    ("  store float f0x7F800000, ptr %p", "  store float 0x7FF0000000000000, ptr %p"),
    ("  store float f0xFFC00001, ptr %p", "  store float 0xFFF8000020000000, ptr %p"),
    ("  store float f0x00000001, ptr %p", "  store float 0x36A0000000000000, ptr %p"),
    ("  store float f0x80000000, ptr %p", "  store float 0x8000000000000000, ptr %p"),
    ("  store float f0x3dcccccd, ptr %p", "  store float 0x3FB99999A0000000, ptr %p"),
    ("  store float %f0x3F800000, ptr @f0x3F800000", "  store float %f0x3F800000, ptr @f0x3F800000"),
    ("  call void @af0x3F800000()", "  call void @af0x3F800000()"),
    ("  x f0x3F8000001", "  x f0x3F8000001"),
    # 7: decimals
    ("  store float 1.000000e-01, ptr %p", "  store float 0x3FB99999A0000000, ptr %p"),
    ("  store float -1.000000e-01, ptr %p", "  store float 0xBFB99999A0000000, ptr %p"),
    ("  store float 5.000000e-01, ptr %p", "  store float 5.000000e-01, ptr %p"),
    ("  store float -0.000000e+00, ptr %p", "  store float -0.000000e+00, ptr %p"),
    ("  store double 1.000000e-01, ptr %p", "  store double 1.000000e-01, ptr %p"),
    ("  store half 1.000000e-01, ptr %p", "  store half 0xH2E66, ptr %p"),
    ("  store half 1.500000e+00, ptr %p", "  store half 1.500000e+00, ptr %p"),
    ("  store half 1.000000e+05, ptr %p", "  store half 0xH7C00, ptr %p"),
    ("  store bfloat 1.000000e-01, ptr %p", "  store bfloat 0xR3DCD, ptr %p"),
    ("  store bfloat 1.000000e+00, ptr %p", "  store bfloat 0xR3F80, ptr %p"),
    ("  %1 = fadd bfloat %0, 3.140000e+00", "  %1 = fadd bfloat %0, 0xR4049"),
    (
        "@t = constant [2 x float] [float 1.000000e-01, float 2.000000e+00]",
        "@t = constant [2 x float] [float 0x3FB99999A0000000, float 2.000000e+00]",
    ),
    (
        "  store <2 x half> <half 1.000000e-01, half 1.000000e+00>, ptr %p",
        "  store <2 x half> <half 0xH2E66, half 1.000000e+00>, ptr %p",
    ),
    (
        "  %1 = select i1 %c, double 1.000000e-01, double 2.0, !x !{float 1.000000e-01}",
        "  %1 = select i1 %c, double 1.000000e-01, double 2.0, !x !{float 0x3FB99999A0000000}",
    ),
    ("  %x.1 = fmul float %y.2, %z", "  %x.1 = fmul float %y.2, %z"),
    ("  store i32 10, ptr %p", "  store i32 10, ptr %p"),
    ("  store float 0x3FB99999A0000000, ptr %p", "  store float 0x3FB99999A0000000, ptr %p"),
    ("  store half 0xH2E66, ptr %p", "  store half 0xH2E66, ptr %p"),
    ('source_filename = "float 0.1"', 'source_filename = "float 0.1"'),
    # 8: alignment
    ("  store i32 0, ptr %p, align 4", "  store i32 0, ptr %p"),
    ("@a = global i32 0, align 64, !dbg !1", "@a = global i32 0, !dbg !1"),
    ("  %a = alloca i32, i32 4, align 32", "  %a = alloca i32, i32 4"),
    ("declare void @f(ptr align 4 %p)", "declare void @f(ptr align 4 %p)"),
    (
        '@s = constant [10 x i8] c", align 4 ", section ", align 4", align 1',
        '@s = constant [10 x i8] c", align 4 ", section ", align 4"',
    ),
    # left alone on purpose
    ("  %1 = getelementptr inbounds nuw i8, ptr %p, i32 4", "  %1 = getelementptr inbounds nuw i8, ptr %p, i32 4"),
]


@pytest.mark.parametrize(("before", "after"), PEANO)
def test_peano(before, after):
    assert for_peano(before) == after
    assert for_peano(after) == after


def test_peano_whole_text_line_by_line():
    before, after = ("\n".join(part) + "\n" for part in zip(*PEANO, strict=True))
    assert for_peano(before) == after
    assert for_peano(after) == after


def test_merged_text_keeps_the_kernels_alignment():
    text = "@a = global float 1.000000e-01, align 64\n  store float inf, ptr @a, align 64\n"
    assert for_peano(text, merged=True) == (
        "@a = global float 0x3FB99999A0000000, align 64\n  store float 0x7FF0000000000000, ptr @a, align 64\n"
    )
    assert for_peano(for_peano(text, merged=True), merged=True) == for_peano(text, merged=True)


CHESS = [
    ("attributes #0 = { nounwind memory(none) willreturn }", "attributes #0 = { nounwind readnone willreturn }"),
    ("attributes #0 = { memory(read) }", "attributes #0 = { readonly }"),
    ("attributes #0 = { memory(write) }", "attributes #0 = { writeonly }"),
    ("attributes #0 = { memory(argmem: readwrite) }", "attributes #0 = { argmemonly }"),
    ("attributes #0 = { memory(argmem: read) }", "attributes #0 = { argmemonly readonly }"),
    ("attributes #0 = { memory(argmem: write) }", "attributes #0 = { argmemonly writeonly }"),
    ("attributes #0 = { memory(inaccessiblemem: readwrite) }", "attributes #0 = { inaccessiblememonly }"),
    ("attributes #0 = { memory(inaccessiblemem: read) }", "attributes #0 = { inaccessiblememonly readonly }"),
    (
        "attributes #0 = { memory(argmem: readwrite, inaccessiblemem: readwrite) nounwind }",
        "attributes #0 = { inaccessiblemem_or_argmemonly nounwind }",
    ),
    (
        "attributes #0 = { memory(argmem: read, inaccessiblemem: write) }",
        "attributes #0 = { inaccessiblemem_or_argmemonly }",
    ),
    # What the old words cannot say is not promised.
    ("attributes #0 = { memory(read, argmem: readwrite) nounwind }", "attributes #0 = { nounwind }"),
    ("attributes #0 = { memory(readwrite) nounwind }", "attributes #0 = { nounwind }"),
    ("attributes #0 = { memory(readwrite, argmem: none) nounwind }", "attributes #0 = { nounwind }"),
    ("attributes #0 = { memory(none, errnomem: write) }", "attributes #0 = { writeonly }"),
    ("attributes #0 = { memory(read, argmem: none) }", "attributes #0 = { readonly }"),
    ("attributes #0 = { memory(argmem: odd) nounwind }", "attributes #0 = { argmemonly nounwind }"),
    ("declare void @f(ptr captures(none) %p) memory(none)", "declare void @f(ptr nocapture %p) readnone"),
    ("  %1 = getelementptr inbounds nuw i8, ptr %p, i32 4", "  %1 = getelementptr inbounds i8, ptr %p, i32 4"),
    ("  %1 = getelementptr inbounds i8, ptr %p, i32 4", "  %1 = getelementptr inbounds i8, ptr %p, i32 4"),
    ("attributes #0 = { nocreateundeforpoison nounwind }", "attributes #0 = { nounwind }"),
    ('@s = constant [14 x i8] c"memory(none) \\00"', '@s = constant [14 x i8] c"memory(none) \\00"'),
    ("  call void @memory(ptr %p)", "  call void @memory(ptr %p)"),
    ("  store float inf, ptr %p, align 4", "  store float inf, ptr %p, align 4"),
]


@pytest.mark.parametrize(("before", "after"), CHESS)
def test_chess(before, after):
    assert for_chess(before) == after
    assert for_chess(after) == after


PAIRS = [("llvm.aie2p.", "__aiecc_"), ("llvm.aie2.", "__aiecc_"), ("llvm.aie.", "__aiecc_aie1_")]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("  call void @llvm.aie2.acquire(i32 48, i32 -1)", "  call void @__aiecc_acquire(i32 48, i32 -1)"),
        ("declare <16 x i32> @llvm.aie2p.scd.read.vec(i32)", "declare <16 x i32> @__aiecc_scd_read_vec(i32)"),
        ("  call void @llvm.aie.lock.acquire.reg(i32 1)", "  call void @__aiecc_aie1_lock_acquire_reg(i32 1)"),
        ("  call void @llvm.memset.p0.i32(ptr @llvm.aie2.x)", "  call void @llvm.memset.p0.i32(ptr @__aiecc_x)"),
        ('@s = constant [18 x i8] c"@llvm.aie2.acquire"', '@s = constant [18 x i8] c"@llvm.aie2.acquire"'),
        ("  call void @my.llvm.aie2.acquire()", "  call void @my.llvm.aie2.acquire()"),
        ("  ret void ; @llvm.aie2.acquire", "  ret void ; @llvm.aie2.acquire"),
    ],
)
def test_rename_intrinsics(before, after):
    assert rename_intrinsics(before, PAIRS) == after
    assert rename_intrinsics(after, PAIRS) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("define linkonce_odr void @k(ptr %p) {", "define weak_odr void @k(ptr %p) {"),
        ("define linkonce void @k() {", "define weak void @k() {"),
        ("define linkonce_odr dso_local hidden i32 @k() {", "define weak_odr dso_local hidden i32 @k() {"),
        ("@t = linkonce_odr constant [2 x i32] [i32 1, i32 2]", "@t = weak_odr constant [2 x i32] [i32 1, i32 2]"),
        ("@a = linkonce_odr alias i32, ptr @b", "@a = weak_odr alias i32, ptr @b"),
        ("define internal void @linkonce_odr() {", "define internal void @linkonce_odr() {"),
        ('@s = constant [9 x i8] c" linkonce"', '@s = constant [9 x i8] c" linkonce"'),
    ],
)
def test_keep_definitions(before, after):
    assert keep_definitions(before) == after
    assert keep_definitions(after) == after


# -- rounding, against every number of the format ----------------------------------------------------


def _value(bits: int, kind: str) -> Fraction:
    if kind == "half":
        return Fraction(struct.unpack("<e", bits.to_bytes(2, "little"))[0])
    return Fraction(struct.unpack("<f", (bits << 16).to_bytes(4, "little"))[0])


@pytest.mark.parametrize(("kind", "last", "letter"), [("half", 0x7BFF, "H"), ("bfloat", 0x7F7F, "R")])
def test_sixteen_bits_round_to_nearest_even(kind, last, letter):
    """Points at, between and around neighbouring numbers of the format."""
    rng = random.Random(7)
    for bits in [0, 1, 2, last - 1, *(rng.randrange(last) for _ in range(300))]:
        low, high = _value(bits, kind), _value(bits + 1, kind)
        even = bits if bits % 2 == 0 else bits + 1
        for part, nearest in ((Fraction(1, 4), bits), (Fraction(1, 2), even), (Fraction(3, 4), bits + 1)):
            text = _decimal(low + (high - low) * part)
            assert for_peano(f"  ret {kind} {text}") == f"  ret {kind} 0x{letter}{nearest:04X}"
            assert for_peano(f"  ret {kind} -{text}") == f"  ret {kind} 0x{letter}{nearest | 0x8000:04X}"
        exact = f"  ret {kind} {_decimal(low)}"
        assert for_peano(exact) == (exact if kind == "half" else f"  ret bfloat 0xR{bits:04X}")


def _decimal(value: Fraction) -> str:
    """A dyadic fraction in full."""
    digits = 0
    while value.denominator != 1:
        value *= 10
        digits += 1
    whole = str(value.numerator).rjust(digits + 1, "0")
    return f"{whole[:-digits]}.{whole[-digits:]}" if digits else f"{whole}.0"


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_what_a_float_holds_stays(value):
    text = f"  ret float {_decimal_of(value)}"
    assert for_peano(text) == text


def _decimal_of(value: float) -> str:
    sign = "-" if struct.pack(">d", value)[0] & 0x80 else ""
    return sign + _decimal(abs(Fraction(value)))


@given(st.floats(min_value=1e-37, max_value=1e37))
def test_a_float_is_the_nearest(value):
    text = f"{value:.6e}"
    made = for_peano(f"  ret float {text}")
    exact = Fraction(text)
    found = re.fullmatch(r"  ret float 0x([0-9A-F]{16})", made)
    if found is None:
        assert Fraction(struct.unpack("<f", struct.pack("<f", float(text)))[0]) == exact
        return
    (near,) = struct.unpack("<d", int(found[1], 16).to_bytes(8, "little"))
    (bits,) = struct.unpack("<I", struct.pack("<f", near))
    assert struct.unpack("<f", struct.pack("<f", near))[0] == near
    for neighbour in (bits - 1, bits + 1):
        (other,) = struct.unpack("<f", neighbour.to_bytes(4, "little"))
        assert abs(Fraction(near) - exact) <= abs(Fraction(other) - exact)


@given(st.text(st.characters(codec="ascii")))
def test_any_text_twice_is_once(text):
    once = for_peano(text)
    assert for_peano(once) == once
    assert for_chess(for_chess(text)) == for_chess(text)


@pytest.mark.tools
def test_llvm_reads_the_same_numbers(tmp_path):
    """The fixed constants, assembled by a real compiler, are the bytes they should be."""
    from aiecc.testing.standins import portable
    from aiecc.tools.run import Runner

    text = """
@h = global [4 x half] [half inf, half 1.000000e-01, half -1.500000e+00, half nan]
@b = global [3 x bfloat] [bfloat -inf, bfloat 1.000000e-01, bfloat 3.140000e+00]
@f = global [4 x float] [float f0x3DCCCCCD, float 1.000000e-01, float -inf, float f0x00000001], align 64
@d = global [2 x double] [double nan, double 1.000000e-01]
"""
    (tmp_path / "a.ll").write_text(for_peano(text))
    target = ["--target=riscv32-unknown-elf", "-x", "ir", "-Wno-override-module"]
    clang = portable().tool("clang").argv
    Runner().check([*clang, *target, "-S", "a.ll", "-o", "a.s"], cwd=tmp_path)
    lines = (tmp_path / "a.s").read_text().splitlines()
    found: dict[str, list[int]] = {}
    name = ""
    for line in lines:
        if label := re.match(r"^([hbfd]):", line):
            name = label[1]
        elif name and (word := re.match(r"\s+\.(half|word|quad)\s+(0x[0-9a-f]+|\d+)", line)):
            found.setdefault(name, []).append(int(word[2], 0))
    float_bits = struct.unpack("<I", struct.pack("<f", 0.1))[0]
    assert found["h"] == [0x7C00, *struct.unpack("<2H", struct.pack("<2e", 0.1, -1.5)), 0x7E00]
    assert found["b"] == [0xFF80, 0x3DCD, 0x4049]
    assert found["f"] == [float_bits, float_bits, 0xFF800000, 1]
    assert found["d"] == [0x7FF8 << 48, *struct.unpack("<Q", struct.pack("<d", 0.1))]
