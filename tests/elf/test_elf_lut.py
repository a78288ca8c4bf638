"""Table pairs out of LLVM IR, and each outcome of the strict check in its specified words."""

from __future__ import annotations

import random
from pathlib import Path

import elfmaker as em
import portable
import pytest

from aiecc.base.spans import Span
from aiecc.elf.banks import Memory
from aiecc.elf.inputs import LinkFile
from aiecc.elf.lut import (
    IrInput,
    Pair,
    Side,
    check_luts,
    embedded_bitcode,
    object_ir,
    pairs,
    prebuilt_refusal,
    split_bitcode,
)
from aiecc.elf.lut_ir import parse
from aiecc.elf.read import Image, read
from aiecc.model.ids import CoreId

BASE = 0x70000
MEMORY = Memory(BASE, 0x10000, 4)
CORE = CoreId("main", 0, 2)
WHERE = Span("design.mlir", 9, 3)

GLOBALS = """
%struct.both = type { i8, [64 x i16], <{ i8, i32 }> }
@ab = internal constant [128 x i32] zeroinitializer, section ".aie.bank0", align 64
@cd = internal unnamed_addr constant [128 x i32] zeroinitializer, section ".aie.bank1", align 64
@both = external local_unnamed_addr global %struct.both, align 4
@"odd \\22name" = external global [16 x i32]
@unknown = external global %opaque
"""

BODY = """
define dso_local <8 x i32> @lookup(<16 x i32> %idx, ptr noundef readonly captures(none) %p, ptr %q, i32 %n) #0 {
entry:
  PRELUDE
  %sel = call <16 x i32> @llvm.aie2.vsel32(<16 x i32> FIRST, <16 x i32> SECOND, i32 43690)
  %addr = add nsw <16 x i32> %sel, %idx
  %r = tail call noundef <8 x i32> @llvm.aie2.load.4x32.lo(<16 x i32> noundef %addr) #3, !dbg !12
  ret <8 x i32> %r
}
"""

AB, CD, UNKNOWN = Side("symbol", "ab"), Side("symbol", "cd"), Side("unresolved")
SPLAT_AB = "splat (i32 ptrtoint (ptr @ab to i32))"
SPLAT_CD = "splat (i32 ptrtoint (ptr @cd to i32))"


def broadcast(scalar: str, name: str) -> str:
    """Lines that copy a scalar into every lane of `%name`."""
    return (
        f"%{name}.i = insertelement <16 x i32> poison, i32 {scalar}, i64 0\n"
        f"%{name} = shufflevector <16 x i32> %{name}.i, <16 x i32> poison, <16 x i32> zeroinitializer\n"
    )


def body(prelude: str = "", first: str = SPLAT_AB, second: str = SPLAT_CD) -> str:
    return GLOBALS + BODY.replace("PRELUDE", prelude).replace("FIRST", first).replace("SECOND", second)


def sides(text: str) -> list[tuple[Side, Side]]:
    return [(p.first, p.second) for p in pairs(parse(text))]


def side_of(prelude: str, value: str) -> Side:
    ((first, second),) = sides(body(prelude, value))
    assert second == CD
    return first


# -- one side ------------------------------------------------------------------------------------------------


def test_constant_splats() -> None:
    assert sides(body()) == [(AB, CD)]
    lanes = ", ".join(["i32 ptrtoint (ptr @ab to i32)"] * 16)
    assert sides(body(first=f"<{lanes}>")) == [(AB, CD)]


def test_broadcast_of_a_cast_pointer() -> None:
    chain = "%c = addrspacecast ptr addrspace(6) %g to ptr\n%i = ptrtoint ptr %c to i20\n%z = zext nneg i20 %i to i32\n"
    get = "%g = getelementptr inbounds nuw i8, ptr addrspace(6) @ab, i20 64\n"
    assert side_of(get + chain + broadcast("%z", "v"), "%v") == AB


def test_broadcast_intrinsic() -> None:
    call = "%v = call <16 x i32> @llvm.aie2p.vbroadcast32.I512(i32 ptrtoint (ptr @ab to i32))\n"
    assert side_of(call, "%v") == AB


def test_typed_pointers_and_nested_constants() -> None:
    nested = "i32 ptrtoint (i32* getelementptr inbounds ([128 x i32], [128 x i32]* @ab, i64 0, i64 127) to i32)"
    assert sides(body(first=f"splat ({nested})")) == [(AB, CD)]


def test_quoted_names() -> None:
    odd = 'splat (i32 ptrtoint (ptr @"odd \\22name" to i32))'
    assert sides(body(first=odd)) == [(Side("symbol", 'odd "name'), CD)]


@pytest.mark.parametrize(
    ("pointer", "index", "inside"),
    [
        ("i8", "i32 0", True),
        ("i8", "i32 511", True),
        ("i8", "i32 512", False),
        ("i8", "i32 -1", False),
        ("[128 x i32]", "i32 0, i32 127", True),
        ("[128 x i32]", "i32 1, i32 0", False),
        ("[128 x i32]", "i32 0, i32 %n", False),
    ],
)
def test_offsets_stay_inside_the_object(pointer: str, index: str, inside: bool) -> None:
    lines = f"%g = getelementptr inbounds {pointer}, ptr @ab, {index}\n%i = ptrtoint ptr %g to i32\n"
    assert side_of(lines + broadcast("%i", "v"), "%v") == (AB if inside else UNKNOWN)


def test_offsets_into_structures() -> None:
    # i8, padding to 2, 64 halves, then a packed structure of i8 and i32: 2 + 128 + 1 = 131 is the last field's start.
    lines = "%g = getelementptr inbounds %struct.both, ptr @both, i32 0, i32 2, i32 1\n%i = ptrtoint ptr %g to i32\n"
    assert side_of(lines + broadcast("%i", "v"), "%v") == Side("symbol", "both")
    beyond = "%h = getelementptr inbounds i8, ptr @both, i32 136\n%i = ptrtoint ptr %h to i32\n"
    assert side_of(beyond + broadcast("%i", "v"), "%v") == UNKNOWN


def test_two_offsets_add_up() -> None:
    lines = (
        "%g = getelementptr inbounds i8, ptr @ab, i32 500\n%h = getelementptr inbounds i8, ptr %g, i32 {}\n"
        "%i = ptrtoint ptr %h to i32\n"
    )
    assert side_of(lines.format(11) + broadcast("%i", "v"), "%v") == AB
    assert side_of(lines.format(12) + broadcast("%i", "v"), "%v") == UNKNOWN


@pytest.mark.parametrize(
    ("lines", "side"),
    [
        ("%i = ptrtoint ptr %p to i32\n", Side("parameter", "1")),
        ("%g = getelementptr inbounds i8, ptr %q, i32 4\n%i = ptrtoint ptr %g to i32\n", Side("parameter", "2")),
        ("%a = alloca [64 x i32], align 64\n%i = ptrtoint ptr %a to i32\n", Side("stack")),
        ("%g = getelementptr i8, ptr @ab, i32 4\n%i = ptrtoint ptr %g to i32\n", UNKNOWN),  # not in bounds
        ("%l = load ptr, ptr @ab\n%i = ptrtoint ptr %l to i32\n", UNKNOWN),
        ("%s = select i1 true, ptr @ab, ptr @cd\n%i = ptrtoint ptr %s to i32\n", UNKNOWN),
        ("%i = phi i32 [ 1, %a ], [ 2, %b ]\n", UNKNOWN),
        ("%i = ptrtoint ptr @unknown to i32\n", UNKNOWN),  # its size is not known here
        ("%i = add i32 %n, 4\n", UNKNOWN),  # an integer opposite a pointer
    ],
)
def test_what_a_side_can_be(lines: str, side: Side) -> None:
    assert side_of(lines + broadcast("%i", "v"), "%v") == side


def test_a_walk_of_more_than_sixteen_steps_is_given_up() -> None:
    def steps(count: int) -> str:
        lines = "%b0 = bitcast ptr @ab to ptr\n"
        lines += "".join(f"%b{i} = bitcast ptr %b{i - 1} to ptr\n" for i in range(1, count))
        return lines + f"%i = ptrtoint ptr %b{count - 1} to i32\n" + broadcast("%i", "v")

    # Shuffle, conversion and the symbol itself are steps too.
    assert side_of(steps(13), "%v") == AB
    assert side_of(steps(14), "%v") == UNKNOWN


def test_only_lane_zero_at_zero_is_a_broadcast() -> None:
    lanes = "<16 x i32> <i32 1, " + "i32 0, " * 14 + "i32 0>"
    one = (
        "%w.i = insertelement <16 x i32> poison, i32 ptrtoint (ptr @ab to i32), i64 {}\n%w = shufflevector <16 x i32> "
    )
    tail = "%w.i, <16 x i32> poison, {}\n"
    assert side_of(one.format(1) + tail.format("<16 x i32> zeroinitializer"), "%w") == UNKNOWN
    assert side_of(one.format(0) + tail.format(lanes), "%w") == UNKNOWN
    assert side_of(one.format(0) + tail.format("<16 x i32> zeroinitializer"), "%w") == AB


# -- from the gather to the selection -------------------------------------------------------------------------

CALLS = f"""
define void @f(<16 x i32> %idx, <16 x i32> %other) {{
  %sel = call <16 x i32> @llvm.aie2p.vsel32(<16 x i32> {SPLAT_AB}, <16 x i32> {SPLAT_CD}, i32 1)
  WALK
  %r = call <8 x i32> @llvm.aie2p.load.4x64.hi(<8 x i32> %x)
  ret void
}}
"""


@pytest.mark.parametrize(
    ("walk", "known"),
    [
        ("%x = bitcast <16 x i32> %sel to <8 x i64>", True),
        ("%x = add <16 x i32> %idx, %sel", True),
        ("%x = call <8 x i32> @llvm.aie2p.ext.I256.I512(<16 x i32> %sel, i32 0)", True),
        ("%x = shufflevector <16 x i32> %sel, <16 x i32> poison, <8 x i32> <i32 0, i32 1>", True),
        ("%x = shufflevector <16 x i32> undef, <16 x i32> %sel, <8 x i32> <i32 16, i32 17>", True),
        ("%x = shufflevector <16 x i32> %sel, <16 x i32> %other, <2 x i32> <i32 0, i32 15>", True),
        ("%x = shufflevector <16 x i32> %other, <16 x i32> %sel, <2 x i32> <i32 16, i32 poison>", True),
        ("%x = shufflevector <16 x i32> %sel, <16 x i32> %other, <2 x i32> <i32 0, i32 16>", False),
        ("%x = phi <16 x i32> [ %sel, %a ], [ %other, %b ]", False),
        ("%x = select i1 %c, <16 x i32> %sel, <16 x i32> %other", False),
        ("%x = mul <16 x i32> %sel, %other", False),
        ("%x = call <16 x i32> @unknown(<16 x i32> %sel)", False),
    ],
)
def test_the_walk_back(walk: str, known: bool) -> None:
    expected = (AB, CD) if known else (UNKNOWN, UNKNOWN)
    assert sides(GLOBALS + CALLS.replace("WALK", walk)) == [expected]


@pytest.mark.parametrize("name", ["aie2.load.4x16.lo", "aie2.load.4x32.hi", "aie2p.load.4x64.lo"])
def test_which_calls_gather(name: str) -> None:
    text = f"define void @f(<16 x i32> %x) {{\n  call <8 x i32> @llvm.{name}(<16 x i32> %x)\n  ret void\n}}\n"
    assert pairs(parse(text)) == [Pair("f", UNKNOWN, UNKNOWN)]


@pytest.mark.parametrize("name", ["aie2.load.4x8.lo", "aie2.load.4x32", "aie2ps.load.4x32.lo", "x86.load.4x32.lo"])
def test_which_calls_do_not(name: str) -> None:
    text = f"define void @f(<16 x i32> %x) {{\n  call <8 x i32> @llvm.{name}(<16 x i32> %x)\n  ret void\n}}\n"
    assert pairs(parse(text)) == []


def test_a_selection_without_pointers_is_ignored() -> None:
    inner = (
        "%plain = call <16 x i32> @llvm.aie2.vsel32(<16 x i32> %idx, <16 x i32> splat (i32 4), i32 3)\n"
        "  %idx2 = add <16 x i32> %plain, %idx\n"
    )
    text = body(inner).replace("%sel, %idx", "%sel, %idx2")
    assert sides(text) == [(AB, CD)]
    only = text.replace("%sel, %idx2", "%plain, %idx2")
    assert sides(only) == [(UNKNOWN, UNKNOWN)]


def test_two_unresolved_pointers_are_not_ignored_beside_a_known_pair() -> None:
    lines = (
        "%l = load ptr, ptr @ab\n%i = ptrtoint ptr %l to i20\n%z = zext i20 %i to i32\n"
        + broadcast("%z", "v")
        + "%blind = call <16 x i32> @llvm.aie2.vsel32(<16 x i32> %v, <16 x i32> %v, i32 3)\n"
        + "%idx2 = add <16 x i32> %blind, %idx\n"
    )
    text = body(lines).replace("%sel, %idx", "%sel, %idx2")
    assert sorted(sides(text), key=str) == sorted([(AB, CD), (UNKNOWN, UNKNOWN)], key=str)


def test_the_halves_of_one_gather_are_one_pair() -> None:
    second = "%r2 = call <8 x i32> @llvm.aie2.load.4x32.hi(<16 x i32> %addr)\n  ret"
    assert len(pairs(parse(body().replace("ret", second)))) == 1


def test_removed_functions_are_left_out() -> None:
    assert pairs(parse(body()), frozenset({"lookup"})) == []


def test_implicit_parameter_numbers() -> None:
    text = GLOBALS + (
        "define void @f(<16 x i32>, ptr noundef) {\n"
        "  %i = ptrtoint ptr %1 to i32\n"
        "  %v.i = insertelement <16 x i32> undef, i32 %i, i32 0\n"
        "  %v = shufflevector <16 x i32> %v.i, <16 x i32> undef, <16 x i32> zeroinitializer\n"
        f"  %s = call <16 x i32> @llvm.aie2.vsel32(<16 x i32> %v, <16 x i32> {SPLAT_CD}, i32 1)\n"
        "  call void @llvm.aie2.load.4x16.lo(<16 x i32> %s)\n"
        "  ret void\n}\n"
    )
    assert sides(text) == [(Side("parameter", "1"), CD)]


def test_garbage_never_raises() -> None:
    broken = body().replace("zeroinitializer", "{{{").replace("i32 ptrtoint (ptr @ab", "i32 ptrtoint ((((")
    assert all(isinstance(p, Pair) for p in pairs(parse(broken)))
    assert pairs(parse("define\n@x =\n%y = type\n\0\x80 define @ ( }")) == []


def test_damaged_ir_never_raises() -> None:
    lines = "%g = getelementptr inbounds %struct.both, ptr @both, i32 0, i32 2, i32 1\n%i = ptrtoint ptr %g to i32\n"
    text = body(lines + broadcast("%i", "v"), "%v")
    rng = random.Random(1)
    for _ in range(400):
        broken = list(text)
        for _ in range(rng.choice((1, 3, 10, 40))):
            at = rng.randrange(len(broken))
            broken[at] = rng.choice(("", chr(rng.randrange(32, 127)), broken[at] * 2 + rng.choice('<>(){}[],@%"')))
        assert all(isinstance(p, Pair) for p in pairs(parse("".join(broken))))


# -- the check ------------------------------------------------------------------------------------------------


def linked(*symbols: tuple[str, int, int]) -> Image:
    sections = [em.Sec(".data", flags=em.ALLOC, type=em.NOBITS, address=BASE, size=0x10000)]
    found = [em.Sym(n, BASE + a, s, em.OBJECT, em.LOCAL, ".data") for n, a, s in symbols]
    return read(em.Maker(sections=sections, symbols=found).build())


APART = linked(("ab", 0, 512), ("cd", 0x4000, 512))


def texts(image: Image, *inputs: IrInput, buffers: dict[str, tuple[int, int]] | None = None) -> list[str]:
    found = check_luts(CORE, WHERE, inputs, image, MEMORY, buffers or {})
    assert all((d.is_error, d.where, d.code) == (True, WHERE, "E0502") for d in found)
    return [d.text for d in found]


def kernel(text: str, *, own: bool = False, removed: frozenset[str] = frozenset()) -> IrInput:
    return IrInput("kernel.o", (text,), removed, own)


UNVERIFIED = (
    "have placement that cannot be verified. Use static tables pinned to different banks, or merge the kernel IR so "
    "table bindings can be optimized into the core"
)


def test_tables_apart_pass() -> None:
    assert texts(APART, kernel(body())) == []
    assert texts(linked(), kernel("define void @f() {\n  ret void\n}\n")) == []


def test_tables_in_one_bank() -> None:
    assert texts(linked(("ab", 0x4000, 512), ("cd", 0x7E00, 512)), kernel(body())) == [
        "core (0, 2): the aie::lut tables in 'lookup' ('ab' and 'cd') are both in memory bank B. The gather reads them "
        "at once, so they must be in different banks"
    ]


@pytest.mark.parametrize(
    "image",
    [
        linked(("ab", 0, 512)),  # the other one is not in the ELF
        linked(("ab", 0, 512), ("cd", 0x3F00, 512)),  # across a boundary
        linked(("ab", 0, 512), ("cd", 0x4000, 0)),  # no size
        linked(("ab", 0, 512), ("cd", 0x4000, 512), ("cd", 0x8000, 512)),  # two addresses
        linked(("ab", 0, 512), ("cd", 0x10000, 512)),  # another tile's memory
    ],
    ids=["absent", "spans", "unsized", "ambiguous", "elsewhere"],
)
def test_unknown_places_fail(image: Image) -> None:
    assert texts(image, kernel(body())) == [
        f"core (0, 2): the aie::lut tables in 'lookup' ('ab' and 'cd') {UNVERIFIED}"
    ]


def test_stack_tables_fail() -> None:
    lines = "%a = alloca [64 x i32], align 64\n%i = ptrtoint ptr %a to i32\n" + broadcast("%i", "v")
    assert texts(APART, kernel(body(lines, "%v"))) == [
        "core (0, 2): the aie::lut tables in 'lookup' (a stack local and 'cd') are on the stack, so their bank "
        "separation cannot be verified. Use static tables pinned to different banks"
    ]


def test_parameters_and_unresolved_pointers_fail() -> None:
    lines = "%i = ptrtoint ptr %p to i32\n" + broadcast("%i", "v")
    load = "%l = load ptr, ptr @ab\n%j = ptrtoint ptr %l to i32\n" + broadcast("%j", "w")
    assert texts(APART, kernel(body(lines + load, "%v", "%w"))) == [
        f"core (0, 2): the aie::lut tables in 'lookup' (parameter 1 and an unresolved pointer) {UNVERIFIED}"
    ]


def test_buffers_bind_names_in_the_cores_own_code_only() -> None:
    buffers = {"cd": (0x8000, 512), "ab": (0xC000, 512)}
    assert texts(linked(), kernel(body(), own=True), buffers=buffers) == []
    assert len(texts(linked(), kernel(body()), buffers=buffers)) == 1
    # A buffer of that name hides a symbol of the ELF.
    assert len(texts(APART, kernel(body(), own=True), buffers={"cd": (0x100, 512)})) == 1


def test_inputs_without_ir_fail() -> None:
    assert texts(APART, IrInput("lib/math.o", ())) == [
        "core (0, 2): 'lib/math.o' carries no readable LLVM IR, so its aie::lut tables cannot be checked. Rebuild "
        'object-linked kernels with embedded LLVM IR, or use link_with_mode = "merge", or drop --check-lut-banks'
    ]


def test_prebuilt_cores_are_refused() -> None:
    found = prebuilt_refusal("core.elf", WHERE)
    assert found.text == (
        "aiecc: --check-lut-banks cannot verify a prebuilt core elf_file without its compiler IR: core.elf"
    )
    assert found.where == WHERE


# -- IR out of files --------------------------------------------------------------------------------------------


def block(number: int, words: int) -> bytes:
    """A top-level bitcode block: two bits of abbreviation id 1, a block id, and so many words of content."""
    return (1 | number << 2).to_bytes(4, "little") + words.to_bytes(4, "little") + bytes(4 * words)


def test_concatenated_bitcode_is_taken_apart() -> None:
    magic = b"BC\xc0\xde"
    # The first module's content holds the magic's bytes: a search would cut it there.
    one = magic + block(13, 1) + block(8, 2)[:-4] + magic + block(23, 0)
    two = magic + block(8, 1)
    assert split_bitcode(one + two) == [one, two]
    assert split_bitcode(one + two + bytes(4)) == [one, two]
    assert split_bitcode(b"\0") == []
    assert split_bitcode(magic + block(8, 99)[:20]) == []


def with_ir(*contents: bytes) -> bytes:
    sections = [em.Sec(".text", bytes(8), flags=em.ALLOC | em.EXEC)]
    sections += [em.Sec(".llvmbc", c) for c in contents]
    symbols = [em.Sym("lookup", 0, 4), em.Sym("gone", 4, 4), em.Sym("inlined", section="")]
    return em.Maker(type=1, sections=sections, symbols=symbols).build()


MODULE = b"BC\xc0\xde" + block(8, 1)


def test_ir_of_link_files() -> None:
    kept = read(em.core([em.Fn("lookup")]).build())

    def disassemble(module: bytes) -> str | None:
        return "text" if module == MODULE else None

    assert object_ir(LinkFile("k.o", with_ir(MODULE)), kept, disassemble) == IrInput(
        "k.o", ("text",), frozenset({"gone"})
    )
    twice = object_ir(LinkFile("k.o", with_ir(MODULE, MODULE + MODULE)), kept, disassemble)
    assert twice.texts == ("text",) * 3
    # One module nobody can read hides gathers nobody has seen.
    other = MODULE[:-1] + b"\1"
    assert object_ir(LinkFile("k.o", with_ir(MODULE, other)), kept, disassemble).texts == ()
    for data in (with_ir(), with_ir(b"\0"), with_ir(MODULE)[:150], b"!<arch>\n", b""):
        assert object_ir(LinkFile("k.o", data), kept, disassemble).texts == ()
    assert object_ir(LinkFile("k.bc", MODULE), kept, disassemble).texts == ("text",)
    assert object_ir(LinkFile("k.ll", b"define"), kept, disassemble).texts == ("define",)


@pytest.mark.tools
def test_real_embedded_bitcode(tmp_path: Path) -> None:
    source = """
        extern char other[]; static const int ab[4] = {1}; static const int cd[4] = {2};
        int kernel(int x) { return ab[x & 3] + cd[x & 3] + other[0]; }
    """
    first = portable.compile_text(tmp_path, "a.c", source, "-Xclang", "-fembed-bitcode=all")
    second = portable.compile_text(tmp_path, "b.c", "int more(int x) { return x; }", "-Xclang", "-fembed-bitcode=all")
    merged = tmp_path / "ab.o"
    portable.run(portable.wheel("ziglang") / "zig", "ld.lld", "-r", first, second, "-o", merged)

    def disassemble(module: bytes) -> str | None:
        path = tmp_path / "m.bc"
        path.write_bytes(module)
        return portable.llvm("llvm-dis", path, "-o", "-")

    modules = embedded_bitcode(read(merged.read_bytes()))
    assert len(modules) == 2
    parsed = [parse(disassemble(m) or "") for m in modules]
    assert [[f.name for f in m.functions] for m in parsed] == [["kernel"], ["more"]]
    assert (parsed[0].globals["ab"], parsed[0].globals["other"]) == (16, 0)


@pytest.mark.tools
@pytest.mark.parametrize("passes", ["default<O0>", "default<O2>", "instcombine"])
def test_pairs_survive_llvm(tmp_path: Path, passes: str) -> None:
    chain = "%g = getelementptr inbounds i8, ptr @ab, i32 64\n%i = ptrtoint ptr %g to i32\n" + broadcast("%i", "v")
    text = body(chain, "%v").replace("#0 ", "").replace(" #3, !dbg !12", "").replace("%opaque", "i8")
    source = tmp_path / "k.ll"
    source.write_text(
        text + "declare <16 x i32> @llvm.aie2.vsel32(<16 x i32>, <16 x i32>, i32)\n"
        "declare <8 x i32> @llvm.aie2.load.4x32.lo(<16 x i32>)\n"
    )
    out = portable.llvm("opt", f"--passes={passes}", "-S", source, "-o", "-")
    assert sides(out) == [(AB, CD)]
