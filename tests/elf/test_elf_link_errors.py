"""What lld says, and what we make of it: its texts by hand, then by the real linker."""

from __future__ import annotations

from pathlib import Path

import elfmaker as em
import portable
import pytest

from aiecc.base.diag import Diagnostic, Level
from aiecc.base.spans import Span
from aiecc.elf.inputs import InputObject, LinkFile, objects
from aiecc.elf.layout import core_layout
from aiecc.elf.link_errors import LinkContext, explain, messages
from aiecc.elf.read import Image, read
from aiecc.elf.script import linker_script
from aiecc.model.design import BufferFacts, CoreFacts, DeviceFacts, TileFacts
from aiecc.model.ids import CoreId, DeviceId
from aiecc.model.targets import get

CORE = CoreId("main", 0, 2)
WHERE = Span("design.mlir", 9, 3)
DATA, CODE = em.ALLOC | em.WRITE, em.ALLOC | em.EXEC

KERNEL = em.Maker(
    type=1,
    sections=[
        em.Sec(".text", bytes(64), flags=CODE),
        em.Sec(".bss", flags=DATA, type=em.NOBITS, size=4096),
        em.Sec(".aie.bank1", flags=DATA, size=8192, type=em.NOBITS),
    ],
    symbols=[
        em.Sym("unrolled", 0, 60),
        em.Sym("_Z5scalePii", 60, 4),
        em.Sym("history", 0, 2048, em.OBJECT, em.LOCAL, ".bss"),
        em.Sym("table", 0, 8192, em.OBJECT, em.LOCAL, ".aie.bank1"),
    ],
).build()


def context(*, data_size: int = 1024, linked: Image | None = None) -> LinkContext:
    return LinkContext(
        CORE,
        WHERE,
        data_size=data_size,
        program_size=16384,
        objects=[InputObject("kernel.o", read(KERNEL))],
        linked=linked,
        files=("core.o", "kernel.o"),
    )


def one(stderr: str, **more: Image | int) -> Diagnostic:
    (found,) = explain(stderr, context(**more))  # type: ignore[arg-type]
    assert (found.level, found.where) == (Level.ERROR, WHERE)
    return found


def notes(found: Diagnostic) -> list[str]:
    return [n.text for n in found.notes]


CALLER = "void kernel(void); void core_0_2(void) { kernel(); }"


# -- regions ------------------------------------------------------------------------------------------------


def test_data_that_does_not_fit() -> None:
    found = one("ld.lld: error: section '.bss' will not fit in region 'data': overflowed by 1024 bytes\n")
    assert found.code == "E0302"
    assert found.text == (
        "section '.bss' will not fit in region 'data': overflowed by 1024 bytes\n"
        "aiecc: core main_core_0_2 needs space for up to 2048 bytes of static data (constant arrays such as lookup "
        "tables and strings). That does not fit in the space left after buffer allocation, but it may fit if you "
        "reserve it explicitly. Set data_size on the core: aie.core(%tile) { ... } { data_size = 2048 : i32 }, or "
        "Worker(..., data_size=2048) in IRON."
    )
    assert notes(found) == [
        "core (0, 2): the data region has 1024 bytes, 1024 bytes short",
        "largest variables: history (2048 bytes, kernel.o)",
    ]
    assert found.todo.startswith("set data_size = 2048 : i32 on this aie.core")


def test_the_last_of_several_overflows_counts_all() -> None:
    found = one(
        "ld.lld: error: section '.data' will not fit in region 'data': overflowed by 100 bytes\n"
        "ld.lld: error: section '.bss' will not fit in region 'data': overflowed by 612 bytes\n"
    )
    assert found.text.startswith(
        "section '.data' will not fit in region 'data': overflowed by 100 bytes\n"
        "section '.bss' will not fit in region 'data': overflowed by 612 bytes\n"
        "aiecc: core main_core_0_2 needs space for up to 1636 bytes"
    )


def test_every_region_is_reported() -> None:
    found = explain(
        "ld.lld: error: section '.text' will not fit in region 'program': overflowed by 32874 bytes\n"
        "ld.lld: error: section '.aie.bank1' will not fit in region 'bank1': overflowed by 18976 bytes\n"
        "ld.lld: error: section '.aie.bank2' will not fit in region 'bank2': overflowed by 4 bytes\n"
        "ld.lld: error: section '.bss' will not fit in region 'data': overflowed by 18128 bytes\n"
        "ld.lld: error: section .bss virtual address range overlaps with .aie.bank1\n"
        ">>> .bss range is [0x70CB0, 0x75ACF]\n"
        ">>> .aie.bank1 range is [0x74000, 0x78E1F]\n"
        "\n"
        "ld.lld: error: section .bss load address range overlaps with .aie.bank1\n"
        "clang: error: linker command failed with exit code 1 (use -v to see invocation)\n",
        context(),
    )
    assert [d.code for d in found] == ["E0602", "E0503", "E0503", "E0302"]


def test_a_bank_that_is_too_small() -> None:
    found = one("ld.lld: error: section '.aie.bank1' will not fit in region 'bank1': overflowed by 16 bytes")
    assert found.text == (
        "section '.aie.bank1' will not fit in region 'bank1': overflowed by 16 bytes\n"
        "aiecc: core main_core_0_2: a static pinned to bank1 does not fit there, by 16 bytes. Placement reserves what "
        "a core's objects measure, so either that measurement was unavailable for this core, or something outside it "
        "grew afterwards."
    )
    assert notes(found) == ["largest variables pinned to bank 1: table (8192 bytes, kernel.o)"]


def test_an_overflow_without_a_number() -> None:
    found = one("ld.lld: error: section '.aie.bank1' will not fit in region 'bank1'")
    assert "a static pinned to bank1 does not fit there. Placement reserves" in found.text


def test_code_that_does_not_fit() -> None:
    found = one("ld.lld: error: section '.text' will not fit in region 'program': overflowed by 32874 bytes")
    assert found.code == "E0602"
    assert found.text == (
        "section '.text' will not fit in region 'program': overflowed by 32874 bytes\n"
        "aiecc: core main_core_0_2: its code exceeds the tile's program memory. That region covers all of the program "
        "memory, so only the code itself can shrink. Split the work across more cores, remove unused kernels from "
        "link_files, or build the core at a lower optimization level."
    )
    assert notes(found) == [
        "core (0, 2): this core's code exceeds the tile's program memory: 49258 bytes, 16384 available, 32874 too many",
        "largest functions: unrolled (60 bytes, kernel.o), _Z5scalePii (4 bytes, kernel.o)",
    ]


def test_a_probe_tells_what_is_really_linked() -> None:
    probe = em.Maker(
        sections=[em.Sec(".text", bytes(64), flags=CODE)],
        symbols=[em.Sym("unrolled", 0, 60), em.Sym("core_0_2", 60, 4)],
    )
    found = one(
        "ld.lld: error: section '.text' will not fit in region 'program': overflowed by 4 bytes",
        linked=read(probe.build()),
    )
    assert notes(found)[1] == "largest functions: unrolled (60 bytes, kernel.o), core_0_2 (4 bytes)"


# -- the rest -----------------------------------------------------------------------------------------------


def test_an_undefined_symbol() -> None:
    found = one(
        "ld.lld: error: undefined symbol: scale_rows\n"
        ">>> referenced by core.c:5 (src/core.c:5)\n"
        ">>>               core.o:(core_0_2)\n"
        ">>> referenced by core.c:5 (src/core.c:5)\n"
        ">>>               core.o:(core_0_2)\n"
    )
    assert (found.text, found.code) == ("undefined symbol: scale_rows", "E0601")
    assert notes(found) == [
        "core (0, 2): wanted by core.c:5 (src/core.c:5)",
        "core (0, 2): wanted by core.o:(core_0_2)",
        "searched: core.o, kernel.o",
    ]
    assert found.todo == "name the file that defines it: link_with on func.func @scale_rows"


def test_an_undefined_symbol_that_lacks_c_linkage() -> None:
    found = one("ld.lld: error: undefined symbol: scale\n>>> referenced by core.o:(core_0_2)\n")
    assert notes(found)[-1] == "kernel.o defines _Z5scalePii, which is scale under its C++ name"
    assert found.todo == 'declare scale extern "C" in its source'


def test_a_duplicate_symbol_names_both() -> None:
    found = one(
        "ld.lld: error: duplicate symbol: dispatch\n>>> defined at k.c:15\n>>>            k.o:(dispatch)\n"
        ">>> defined at dup.c:1\n>>>            dup.o:(.text.dispatch+0x0)\n"
    )
    assert found.text == "duplicate symbol: dispatch"
    assert "core (0, 2): k.o:(dispatch)" in notes(found)
    assert "core (0, 2): dup.o:(.text.dispatch+0x0)" in notes(found)


@pytest.mark.parametrize(
    ("line", "text", "code"),
    [
        (
            "x86.o is incompatible with crt0.o",
            "link file 'x86.o' cannot be used: it is incompatible with crt0.o",
            "E0702",
        ),
        (
            "cannot open k.o: No such file or directory",
            "link file 'k.o' cannot be used: No such file or directory",
            "E0702",
        ),
        ("s.ld:100: unable to find nofile.o", "link file 'nofile.o' cannot be used: it cannot be found", "E0702"),
        (
            "cut.o: section header table goes past the end of the file: e_shoff = 0x1df0",
            "link file 'cut.o' cannot be used: section header table goes past the end of the file: e_shoff = 0x1df0",
            "E0702",
        ),
        ("a.ll:1: unknown directive: define", "link file 'a.ll' cannot be used: unknown directive: define", "E0702"),
        (
            "orph.o:(strange) is being placed in 'strange'",
            "section 'strange' of orph.o has no place in this core's memory",
            "E0601",
        ),
        ("something new", "the link of core (0, 2) failed: something new", "E0601"),
    ],
)
def test_other_errors(line: str, text: str, code: str) -> None:
    found = one(f"/opt/bin/ld.lld: error: {line}\n>>> detail\n")
    assert (found.text, found.code) == (text, code)


def test_output_that_is_no_message() -> None:
    assert one("Segmentation fault\n").text == "the link of core (0, 2) failed: Segmentation fault"
    assert one("").text == "the link of core (0, 2) failed: no message"
    # Only consequences: then they are all there is to say.
    alone = "ld.lld: error: section .bss virtual address range overlaps with .data\n>>> .bss range is [0x0, 0x4]\n"
    assert "overlaps with" in one(alone).text


def test_warnings_are_no_errors() -> None:
    found = messages("ld.lld: warning: odd\n>>> of it\nld.lld: error: bad\n>>> in it\nplain\n")
    assert [(m.text, m.details) for m in found] == [("bad", ("in it",))]


# -- the real linker ------------------------------------------------------------------------------------------


def fails(folder: Path, kernel: str) -> list[Diagnostic]:
    """Explain the failed link of a core whose data region and bank 1 hold 256 bytes each."""
    tile = TileFacts(
        0,
        2,
        (
            BufferFacts("core_data_0_2", 256, 0x400, core_data=True),
            BufferFacts("bank_reserved_0_2_1", 256, 0x4000, mem_bank=1, bank_reserved=True),
        ),
    )
    facts = DeviceFacts(DeviceId("main"), "npu2", tiles=(tile,), cores=(CoreFacts(CORE),))
    files = [*portable.startup(folder), portable.compile_text(folder, "core.c", CALLER)]
    files.append(portable.compile_text(folder, "kernel.c", kernel))
    layout = core_layout(facts, CORE, get("npu2"), link_files=())
    done = portable.lld(linker_script(layout), files, folder / "core.elf", ok=False)
    assert done.returncode != 0
    inputs = objects(LinkFile(f.name, f.read_bytes()) for f in files)
    return explain(done.stderr, LinkContext(CORE, WHERE, layout.data.size, layout.program_size, inputs))


@pytest.mark.tools
def test_real_overflows_in_one_run(tmp_path: Path) -> None:
    kernel = """
        static volatile int history[512], start[100] = {1};
        __attribute__((section(".aie.bank1"))) static volatile int pinned[100] = {1};
        #define R4(x) x x x x
        #define R64(x) R4(R4(R4(x)))
        void kernel(void) { volatile int a = 1; R64(R64(a = a * 3 + 1;)) history[a] = start[a] + pinned[a]; }
    """
    program, bank, data = fails(tmp_path, kernel)
    assert (program.code, bank.code, data.code) == ("E0602", "E0503", "E0302")
    assert "largest functions: kernel (" in notes(program)[1]
    assert "a static pinned to bank1 does not fit there, by 144 bytes." in bank.text
    assert notes(bank) == ["largest variables pinned to bank 1: pinned (400 bytes, kernel.o)"]
    # 400 bytes of .data, then 2048 of .bss.
    assert "needs space for up to 2448 bytes of static data" in data.text
    assert "section '.bss' will not fit in region 'data': overflowed by 2192 bytes" in data.text
    assert notes(data)[1] == "largest variables: history (2048 bytes, kernel.o), start (400 bytes, kernel.o)"


@pytest.mark.tools
def test_real_symbol_errors(tmp_path: Path) -> None:
    (undefined,) = fails(tmp_path, "int missing(void); void kernel(void) { missing(); }")
    assert undefined.text == "undefined symbol: missing"
    assert any("kernel.o:(kernel)" in n for n in notes(undefined))
    (duplicate,) = fails(tmp_path, "void kernel(void) { } void _main_init(void) { }")
    assert duplicate.text == "duplicate symbol: _main_init"
    assert any("crt1.o" in n for n in notes(duplicate))
    assert any("kernel.o" in n for n in notes(duplicate))


@pytest.mark.tools
def test_a_real_orphan(tmp_path: Path) -> None:
    (found,) = fails(tmp_path, '__attribute__((section("strange"))) volatile int q = 4; void kernel(void) { q = 3; }')
    assert found.text.startswith("section 'strange' of ")
    assert "kernel.o has no place" in found.text


@pytest.mark.tools
def test_real_static_constructors_are_refused(tmp_path: Path) -> None:
    # Volatile, or the compiler runs it itself.
    early = "volatile int q; __attribute__((constructor)) static void early(void) { q = 3; }"
    kernel = early + " void kernel(void) { q++; }"
    (found,) = fails(tmp_path, kernel)
    assert found.text.endswith("kernel.o has static constructors (.init_array), and nothing runs them on a core")
    assert found.code == "E0601"
