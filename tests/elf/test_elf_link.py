"""Scripts in the hands of the real linker: what lands where, and what is measured of it."""

from __future__ import annotations

from pathlib import Path

import portable
import pytest

from aiecc.elf.data import linked_data, prebuilt_ranges, probe_data
from aiecc.elf.layout import core_layout, probe_layout
from aiecc.elf.program import program_size
from aiecc.elf.read import Image, read
from aiecc.elf.script import linker_script
from aiecc.elf.stack import measure
from aiecc.model.design import BufferFacts, CoreFacts, DeviceFacts, TileFacts
from aiecc.model.ids import CoreId, DeviceId
from aiecc.model.measure import StackSource
from aiecc.model.targets import get

pytestmark = pytest.mark.tools
NPU2 = get("npu2")
CORE = CoreId("main", 0, 2)
BASE = 0x70000

CALLER = "void kernel(int *); extern int ping[]; void core_0_2(void) { kernel(ping); }"


def device(*buffers: BufferFacts, **core: int) -> DeviceFacts:
    tile = TileFacts(0, 2, (*buffers, BufferFacts("ping", 64, 0x1000)))
    return DeviceFacts(DeviceId("main"), "npu2", tiles=(tile,), cores=(CoreFacts(CORE, **core),))  # type: ignore[arg-type]


def link(folder: Path, kernel: str, facts: DeviceFacts, *, probe: bool = False, flags: tuple[str, ...] = ()) -> Image:
    """The core with that kernel, linked by the script its facts give."""
    objects = portable.startup(folder)
    objects.append(portable.compile_text(folder, "core.c", CALLER, *flags))
    kernel_object = portable.compile_text(folder, "kernel.c", kernel, *flags)
    make = probe_layout if probe else core_layout
    script = linker_script(make(facts, CORE, NPU2, link_files=(str(kernel_object),)))
    out = folder / "core.elf"
    portable.lld(script, objects, out, *(("--no-check-sections",) if probe else ()))
    return read(out.read_bytes())


def address(image: Image, name: str) -> int:
    (found,) = {s.value for s in image.symbols if s.name == name and s.defined}
    return found


def test_start_up_comes_first_and_buffers_lie_where_they_were_placed(tmp_path: Path) -> None:
    image = link(tmp_path, "void kernel(int *p) { p[0] = 1; }", device(stack_size=2048))
    assert image.entry == address(image, "__start") == 0
    assert address(image, "ping") == BASE + 0x1000
    assert address(image, "_sp_start_value_DM_stack") == BASE
    assert address(image, "main") == address(image, "core_0_2")


def test_no_section_of_a_debug_build_is_an_orphan(tmp_path: Path) -> None:
    kernel = """
        int common_one[3];
        static const char *const words[] = { "a", "bc" };
        int tiny = 5;
        void kernel(int *p) { p[0] = words[p[1] & 1][0] + common_one[1] + tiny; }
    """
    flags = ("-g", "-fcommon", "-funwind-tables", "-fasynchronous-unwind-tables")
    image = link(tmp_path, kernel, device(), flags=flags)
    assert image.section(".debug_info") is not None
    assert image.section(".eh_frame") is None


def test_small_data_goes_to_the_data_region(tmp_path: Path) -> None:
    kernel = "int tiny = 5; int zero; void kernel(int *p) { p[0] = tiny + zero++; }"
    image = link(tmp_path, kernel, device(), flags=("-msmall-data-limit=8",))
    assert image.section(".sdata") is None
    data, bss = image.section(".data"), image.section(".bss")
    assert data is not None
    assert bss is not None
    assert data.address <= address(image, "tiny") < data.end
    assert bss.address <= address(image, "zero") < bss.end


BANKS = """
    __attribute__((section(".aie.bank1"), aligned(64))) static const volatile int table_b[32] = { 1 };
    __attribute__((section(".aie.bank2.x"), aligned(256))) static const volatile int table_c[8] = { 2 };
    __attribute__((section(".aie.bank3"))) static const volatile int never[4000] = { 3 };
    static volatile int history[100]; static volatile char flags[3] = { 1 };
    void kernel(int *p) { history[p[0] & 63] = table_b[p[1] & 31] + table_c[p[2] & 7] + flags[0]; }
"""


def test_probe_measures_ordinary_and_pinned_data(tmp_path: Path) -> None:
    found = probe_data(link(tmp_path, BANKS, device(), probe=True), 4)
    # `.data` holds three bytes; `.bss` of 400 bytes starts at the next multiple of 4. `never` was collected.
    assert (found.size, found.alignment) == (4 + 400, 4)
    assert found.bank_sizes == (0, 128, 32, 0)
    assert found.bank_alignments == (1, 64, 256, 1)


def test_the_final_link_counts_plain_sums(tmp_path: Path) -> None:
    reserved = [
        BufferFacts("core_data_0_2", 404, 0x800, core_data=True),
        BufferFacts("bank_reserved_0_2_1", 128, 0x4000, mem_bank=1, bank_reserved=True),
        BufferFacts("bank_reserved_0_2_2", 32, 0x8100, mem_bank=2, bank_reserved=True),
    ]
    image = link(tmp_path, BANKS, device(*reserved))
    found = linked_data(image, 4)
    assert (found.size, found.bank_sizes) == (403, (0, 128, 32, 0))
    assert address(image, "table_b") == BASE + 0x4000
    assert address(image, "table_c") == BASE + 0x8100
    assert BASE + 0x800 <= address(image, "history") < BASE + 0x800 + 404
    assert prebuilt_ranges(image, BASE, 0x10000) == (
        (0x800, 3),
        (0x804, 400),
        (0x4000, 128),
        (0x8100, 32),
    )


def test_a_leftover_run_moves_past_bank_sections_that_are_there(tmp_path: Path) -> None:
    wall = BufferFacts("wall", 0x3000, 0x1000)
    image = link(tmp_path, BANKS, device(wall))
    # The run from 0x4000 up is the largest; bank 1 takes its first 128 bytes, bank 2 holds its table behind.
    table_b, table_c = address(image, "table_b"), address(image, "table_c")
    assert table_b == BASE + 0x4000
    data = image.section(".data")
    assert data is not None
    assert data.address == table_c + 32
    plain = "static volatile int history[100] = {1}; void kernel(int *p) { history[p[0] & 63] = 1; }"
    image = link(tmp_path, plain, device(wall))
    data = image.section(".data")
    assert data is not None
    assert data.address == BASE + 0x4000


def test_the_probe_takes_what_no_region_holds(tmp_path: Path) -> None:
    kernel = """
        static volatile int huge[75000] = {1};
        __attribute__((section(".aie.bank1"))) static volatile int pinned[8192] = {1};
        #define R4(x) x x x x
        #define R64(x) R4(R4(R4(x)))
        void kernel(int *p) { volatile int a = p[0]; R64(R64(a = a * 3 + 1;)) huge[a] = pinned[a]; }
    """
    image = link(tmp_path, kernel, device(), probe=True)
    found = probe_data(image, 4)
    assert found.size == 300000
    assert found.bank_sizes[1] == 32768
    assert program_size(image) > 0x4000


def test_alignment_of_what_is_measured(tmp_path: Path) -> None:
    kernel = """
        __attribute__((aligned(256))) static volatile int wide[5];
        static volatile char odd[5] = { 1 };
        void kernel(int *p) { wide[0] = odd[p[0] & 3]; }
    """
    found = probe_data(link(tmp_path, kernel, device(), probe=True), 4)
    # Five bytes, padding to 256, then twenty.
    assert (found.size, found.alignment) == (256 + 20, 256)


# -- stack of the real thing -----------------------------------------------------------------------------


def frames(path: Path) -> dict[str, int]:
    out: dict[str, int] = {}
    for entry in portable.readelf(path, "--stack-sizes")["StackSizes"]:
        out.update(dict.fromkeys(entry["Entry"]["Functions"], entry["Entry"]["Size"]))
    return out


DEFAULT_TOO_SMALL = """
    void kernel(int *out) {
      volatile int window[384];
      for (int i = 0; i < 384; ++i) window[i] = out[i & 255];
      for (int i = 0; i < 256; ++i) out[i] = window[i] + window[i + 128];
    }
"""


def test_the_sum_along_the_chain_is_readelfs(tmp_path: Path) -> None:
    image = link(tmp_path, DEFAULT_TOO_SMALL, device(), flags=("-g",))
    found = measure(image.data, "core.elf", {}, lines=True)
    sizes = frames(tmp_path / "core.elf")
    assert [f.function for f in found.chain] == ["__start", "_main_init", "core_0_2", "kernel"]
    assert found.source is StackSource.MEASURED
    assert found.size == sizes["_main_init"] + sizes["core_0_2"] + sizes["kernel"]
    assert found.size >= 1536
    assert found.chain[-1].where == "kernel.c:2"


def test_real_recursion_and_its_override(tmp_path: Path) -> None:
    kernel = """
        static __attribute__((noinline)) int fold(const int *v, int n) {
          volatile int keep = v[0];
          if (n <= 1) return keep;
          int l = fold(v, n / 2), r = fold(v + n / 2, n - n / 2);
          return keep + l + r;
        }
        void kernel(int *p) { p[0] = fold(p, 256); }
    """
    image = link(tmp_path, kernel, device())
    found = measure(image.data, "core.elf", {})
    assert [f.function for f in found.chain] == ["__start", "_main_init", "core_0_2", "kernel", "fold", "fold"]
    given = measure(image.data, "core.elf", {"kernel": 1024})
    sizes = frames(tmp_path / "core.elf")
    assert (given.source, given.size) == (StackSource.MEASURED, sizes["_main_init"] + sizes["core_0_2"] + 1024)


def test_a_real_alias_is_no_recursion(tmp_path: Path) -> None:
    kernel = """
        __asm__(".section .text.hot_leaf,\\"ax\\",%progbits\\n.globl offset_rows\\n.type offset_rows, %function\\n"
                "offset_rows:\\n.size offset_rows, 0\\n.text\\n");
        __attribute__((noinline, section(".text.hot_leaf")))
        void copy_rows(const int *in, int *out) { for (int i = 0; i < 256; ++i) out[i] = in[i + 256]; }
        void kernel(int *p) { copy_rows(p, p); p[0] += 1; }
    """
    image = link(tmp_path, kernel, device())
    found = measure(image.data, "core.elf", {})
    assert found.source is StackSource.MEASURED
    assert [f.function for f in found.chain] == ["__start", "_main_init", "core_0_2", "kernel", "copy_rows"]
    # The same, with the symbol table in another order.
    weak = tmp_path / "weak.elf"
    portable.llvm("llvm-objcopy", "--weaken-symbol=offset_rows", tmp_path / "core.elf", weak)
    assert measure(weak.read_bytes(), "core.elf", {}) == found


INDIRECT = """
    static void small_step(const int *in, int *out) { out[0] = in[0]; }
    static void large_step(const int *in, int *out) {
      volatile int t[320];
      for (int i = 0; i < 320; ++i) t[i] = in[i & 255];
      out[1] = t[in[1] & 255];
    }
    typedef void (*step_t)(const int *, int *);
    static const step_t volatile table[2] = { small_step, large_step };
    void kernel(int *p) { for (int i = 0; i < 2; ++i) table[i](p, p); }
"""


@pytest.mark.parametrize("optimize", ["-O0", "-O1", "-O2", "-Os"])
def test_real_calls_through_a_table(tmp_path: Path, optimize: str) -> None:
    image = link(tmp_path, INDIRECT, device(), flags=(optimize,))
    found = measure(image.data, "core.elf", {})
    assert found.size >= 1280
    assert (found.chain[-1].function, found.chain[-1].indirect) == ("large_step", True)


def test_calls_survive_relaxation_and_assembly(tmp_path: Path) -> None:
    kernel = """
        __asm__(".text\\n.globl asm_step\\nasm_step:\\n  addi sp, sp, -32\\n  sw ra, 0(sp)\\n  call deep\\n  ret\\n");
        void asm_step(void);
        void deep(void) { volatile int t[64]; for (int i = 0; i < 64; ++i) t[i] = i; }
        void kernel(int *p) { asm_step(); p[0] = 1; }
    """
    image = link(tmp_path, kernel, device(), flags=("-mrelax",))
    found = measure(image.data, "core.elf", {})
    assert (found.source, found.unmeasured) == (StackSource.LOWER_BOUND, ("asm_step",))
    assert [f.function for f in found.chain][-2:] == ["asm_step", "deep"]
    assert found.size >= 256


def test_unmeasured_kernels(tmp_path: Path) -> None:
    image = link(tmp_path, DEFAULT_TOO_SMALL, device(), flags=("-fno-stack-size-section",))
    found = measure(image.data, "core.elf", {})
    assert (found.source, found.unmeasured) == (StackSource.LOWER_BOUND, ("core_0_2", "kernel"))
    assert measure(image.data, "core.elf", {"core_0_2": 1600}).source is StackSource.MEASURED


SAME_SECTION = """
    static __attribute__((noinline)) int leaf(int n) {
      volatile int t[100];
      for (int i = 0; i < n; ++i) t[i] = i;
      return t[n];
    }
    static __attribute__((noinline)) int middle(int n) { return leaf(n + 1) + leaf(n) + 1; }
    void kernel(int *p) { p[0] = middle(p[1]) + 1; p[1] = middle(p[2]) + 3; }
"""


@pytest.mark.parametrize("march", ["rv32imafdc", "rv32imafd"])
@pytest.mark.parametrize("optimize", ["-O0", "-O1", "-O2"])
@pytest.mark.parametrize("sections", ["-fno-function-sections", "-ffunction-sections"])
def test_calls_the_assembler_resolved_are_found(tmp_path: Path, march: str, optimize: str, sections: str) -> None:
    image = link(tmp_path, SAME_SECTION, device(), flags=(f"-march={march}", optimize, sections))
    found = measure(image.data, "core.elf", {})
    sizes = frames(tmp_path / "core.elf")
    chain = ["_main_init", "core_0_2", "kernel", "middle", "leaf"]
    assert [f.function for f in found.chain] == ["__start", *chain]
    assert found.size == sum(sizes[name] for name in chain)
    assert sizes["leaf"] >= 400
    assert not any(f.indirect for f in found.chain)
