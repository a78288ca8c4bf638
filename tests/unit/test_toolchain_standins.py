"""The stand-ins for Peano and aietools: strict about every argument list, and able to carry a whole build."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from aiecc.testing import standin_chess, standin_peano
from aiecc.testing.standin_base import WRONG, Arguments, WrongArguments
from aiecc.testing.standin_chess import Bcf
from aiecc.testing.standins import make_aietools, make_peano
from aiecc.tools import commands, load
from aiecc.tools.find import Surroundings, resolve
from aiecc.tools.llvm_text import for_chess, for_peano
from aiecc.tools.run import Runner
from aiecc.tools.versions import Versions

pytestmark = [
    pytest.mark.tools,
    pytest.mark.skipif(os.name != "posix", reason="the stand-ins are scripts with a first line"),
]

RUNNER = Runner()
EXAMPLES = Path(__file__).parents[2] / "examples"
FILES = load.available(load.folders(environ={}))

CORE = """
@buf = external global [64 x i32], align 64
declare void @kernel(ptr captures(none))
declare void @llvm.aie2.acquire(i32, i32)
define void @core_0_2() #0 {
  call void @llvm.aie2.acquire(i32 48, i32 -1)
  %p = getelementptr inbounds nuw i8, ptr @buf, i32 4
  store float 1.000000e-01, ptr %p, align 4
  call void @kernel(ptr @buf)
  ret void
}
attributes #0 = { nocreateundeforpoison nounwind }
"""
SCRIPT = """
MEMORY
{
   program (RX) : ORIGIN = 0, LENGTH = 0x4000
   data (!RX) : ORIGIN = 0x70400, LENGTH = 0x3C00
}
ENTRY(__start)
SECTIONS
{
  .text : { *crt0.o(.text*) *(.text*) } > program
  .data : { *(.data*) *(.rodata*) } > data
  .comment : { *(.comment) }
  .symtab : { *(.symtab) }
  .shstrtab : { *(.shstrtab) }
  .strtab : { *(.strtab) }
  .stack_sizes : { *(.stack_sizes) }
  .riscv.attributes : { *(.riscv.attributes) }
  /DISCARD/ : { *(.llvmbc) *(.llvmcmd) *(.eh_frame) }
. = 0x70000;
_sp_start_value_DM_stack = .;
. += 0x400; /* stack */
. = 0x78000;
buf = .;
. += 0x100;
  .bss : { *(.bss*) } > data
}
INPUT(k.o)
PROVIDE(main = core_0_2);
"""
BCF = """_entry_point _main_init
_symbol core_0_2 _after _main_init
_symbol _main_init 0
_reserved DMb 0x00000 0x40000 // Don't put data in code memory
_stack DM_stack 0x70000 0x400 // stack for core

// mapping neighbors tile memory
_reserved DMb 0x40000 0x10000  // No tile with memory exists to the south.
_reserved DMb 0x50000 0x10000  // No tile with memory exists to the west.
// north -------------------------------------------------
_reserved DMb 0x60000 0x10000  // Don't allocate variables in north neighbor

// east -------------------------------------------------
_symbol buf 0x78000 256
_extern buf
_reserved DMb 0x78000 256

// end mapping neighbors tile memory

_reserved DMb 0x80000 0x80000 // And everything else the core can't see
_include _file k.o
_resolve _main core_0_2
"""


@pytest.fixture(scope="module")
def peano(tmp_path_factory):
    return make_peano(tmp_path_factory.mktemp("peano"))


@pytest.fixture(scope="module")
def aietools(tmp_path_factory):
    return make_aietools(tmp_path_factory.mktemp("aietools"))


def found(name: str, option: str, folder: Path, cache: Path):
    return resolve(load.load(name, FILES), Surroundings({option: str(folder)}), Versions(folder=cache))


def run(steps, folder: Path, code: int = 0):
    for step in steps:
        ran = RUNNER.run(step.argv, cwd=folder, tool=step.tool)
        assert ran.returncode == code, ran.output


# -- the real argument lists pass, and yield real files ---------------------------------------------------


@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_peano_accepts_our_lists(peano, tmp_path, level):
    tools = found("peano", "--peano", peano.folder, tmp_path / "cache")
    assert tools.missing == ()
    (tmp_path / "core.ll").write_text(for_peano(CORE))
    (tmp_path / "k.cc").write_text('extern "C" void kernel(float *p) { p[1] += 1; }\n')
    (tmp_path / "s.ld").write_text(SCRIPT)
    common = {"arch": "aie2", "opt_level": level}
    run(
        commands.compile_ir_argvs(
            tools, **common, input="core.ll", output="core.o", optimized="opt.ll", stack_space=5 if level else None
        ),
        tmp_path,
    )
    assert "@llvm.aie2.acquire" in (tmp_path / "opt.ll").read_text()  # checks read the intrinsics' own names
    run(
        commands.compile_source_argvs(
            tools,
            **common,
            input="k.cc",
            output="k.o",
            depfile="k.d",
            includes=["."],
            defines=["N=1"],
            embed_ir=level > 1,
        ),
        tmp_path,
    )
    assert "k.cc" in (tmp_path / "k.d").read_text()
    for probe, elf in ((True, "probe.elf"), (False, "core.elf")):
        link = commands.link_argv(tools, **common, objects=["core.o"], script="s.ld", output=elf, probe=probe)
        run([link], tmp_path)
        assert (tmp_path / elf).read_bytes().startswith(b"\x7fELF")
    assert peano.problems == []


def test_peano_merges(peano, tmp_path):
    tools = found("peano", "--peano", peano.folder, tmp_path / "cache")
    (tmp_path / "core.ll").write_text(for_peano(CORE))
    (tmp_path / "k.c").write_text("void kernel(float *p) { p[1] += 1; }\n")
    run(
        commands.compile_source_argvs(tools, arch="aie2", opt_level=2, input="k.c", output="k.ll", to_ir=True), tmp_path
    )
    run(commands.merge_ir_argvs(tools, arch="aie2", inputs=["core.ll", "k.ll"], output="all.ll"), tmp_path)
    assert re.search(r"define .*@kernel", (tmp_path / "all.ll").read_text())
    run(commands.disassemble_argvs(tools, arch="aie2", input="all.ll.bc", output="again.ll"), tmp_path)
    assert re.search(r"define .*@core_0_2", (tmp_path / "again.ll").read_text())
    assert peano.problems == []


@pytest.mark.parametrize("wrapped", [True, False])
def test_chess_accepts_our_lists(aietools, tmp_path, wrapped):
    tools = found("chess", "--aietools", aietools.folder, tmp_path / "cache")
    assert tools.missing == ()
    if not wrapped:
        tools = type(tools)(
            tools.spec, {n: t for n, t in tools.tools.items() if n != "xchesscc_wrapper"}, tools.root, tools.searched
        )
    (tmp_path / "core.ll").write_text(for_chess(CORE.replace("1.000000e-01", "1.000000e+00")))
    (tmp_path / "k.c").write_text(
        '#include "aie_bank_placement.h"\nstatic const int t[4] AIE_BANK_C = {1};\nstatic int z[4] AIE_BANK_C;\n'
        "void kernel(int *p) { p[0] = t[p[0] & 3] + z[p[1] & 3]++; }\n"
    )
    (tmp_path / "k.bcf").write_text(BCF)
    common = {"arch": "aie2", "opt_level": 2}
    run(commands.compile_ir_argvs(tools, **common, input="core.ll", output="core.o", optimized="linked.ll"), tmp_path)
    run(commands.compile_source_argvs(tools, **common, input="k.c", output="k.o", includes=["."]), tmp_path)
    link = commands.link_argv(
        tools, **common, objects=["core.o"], link_files=["k.o"], script="k.bcf", output="core.elf"
    )
    run([link], tmp_path)
    elf = (tmp_path / "core.elf").read_bytes()
    assert b".data.DM_bankC" in elf
    assert b".stack_sizes" not in elf and b".rela" not in elf
    assert aietools.problems == []


# -- everything else is refused -----------------------------------------------------------------------

OPT = "--passes=default<O1> -inline-threshold=10 -S core.ll -o opt.ll"
LLC = "opt.ll -O2 --march=aie2 --function-sections -stack-size-section -aie-stack-addrspace=5 --filetype=obj -o core.o"
LINK = (
    "-O2 --target=aie2-none-unknown-elf -fuse-ld=LLD core.o -Wl,--threads=1 -Wl,--gc-sections -Wl,--emit-relocs "
    "-Wl,--orphan-handling=error -Wl,--no-check-sections -Wl,-T,s.ld -o core.elf"
)
KERNEL = (
    "--target=aie2-none-unknown-elf -c -std=c++20 -O2 -DNDEBUG -D__AIE_API_AIE_ADF_HPP__ -I. -Wno-parentheses "
    "-Wno-attributes -Wno-macro-redefined -Wno-empty-body -fstack-size-section -ffunction-sections -fdata-sections "
    "-MD -MF k.d k.cc -o k.o"
)
WRAPPER = "aie2 +w . -c -d +Wclang,-xir -f linked.ll -o core.o"
CHESS_LINK = "aie2 +w . -d -f core.o k.o +l k.bcf -o core.elf"
CHESS_IR = "core.ll WRAPPER -S -o linked.ll"


def mutations(line: str) -> list[tuple[str, list[str]]]:
    """The list with each argument left out, doubled, changed, and each neighbouring pair swapped."""
    words = line.split()
    made: list[tuple[str, list[str]]] = []
    optional = {"-aie-stack-addrspace=5", "-Wl,--no-check-sections", "-I.", "-MD"}
    for i, word in enumerate(words):
        if word not in optional:
            made.append((f"without {word}", words[:i] + words[i + 1 :]))
        if word != "-I.":
            made.append((f"{word} twice", words[: i + 1] + words[i:]))
        made.append((f"{word} changed", [*words[:i], f"{word}x", *words[i + 1 :]]))
        if i + 1 < len(words):
            made.append((f"{word} swapped", [*words[:i], words[i + 1], word, *words[i + 2 :]]))
    made.append(("more", [*words, "-v"]))
    made.append(("nothing", []))
    return made


HARMLESS = {  # what the grammar leaves open: names of outputs, folders and macros
    "-o changed": False,
    "-I. changed": True,
    "k.d changed": True,
    "-DNDEBUG twice": False,
    "-D__AIE_API_AIE_ADF_HPP__ twice": True,
    "-D__AIE_API_AIE_ADF_HPP__ changed": False,
}


def judge(tool: str, folder: Path, where: Path, words: list[str]) -> str:
    """What the stand-in says of a list, without running the real tool behind it."""

    from aiecc.testing.standin_base import WrongArguments

    handlers = {**standin_peano._HANDLERS, **standin_chess._HANDLERS}
    config = {**json.loads((folder / "standin.json").read_text()), "folder": str(folder)}
    before = Path.cwd()
    os.chdir(where)
    try:
        handlers[tool](Arguments(words), config)
    except WrongArguments as wrong:
        return str(wrong)
    finally:
        os.chdir(before)
    return ""


@pytest.mark.parametrize(
    ("tool", "line"),
    [
        ("opt", OPT),
        ("llc", LLC),
        ("clang", LINK),
        ("clang++", KERNEL),
        ("xchesscc_wrapper", WRAPPER),
        ("xchesscc_wrapper", CHESS_LINK),
        ("chess-llvm-link", CHESS_IR),
    ],
)
def test_any_deviation_is_refused(peano, aietools, tmp_path, tool, line):
    chess = "chess" in tool
    folder = (aietools if chess else peano).folder
    wrapper = aietools.folder / "aie_runtime_lib" / "AIE2" / "chess_intrinsic_wrapper.ll"
    line = line.replace("LLD", str(peano.folder / "bin" / "ld.lld")).replace("WRAPPER", str(wrapper))
    for name, content in {
        "core.ll": for_chess(for_peano(CORE)),
        "opt.ll": "",
        "opt.ll.opt.json": '{"level": "1", "memset": false}',
        "linked.ll": "",
        "core.o": "",
        "k.o": "",
        "k.cc": "",
        "s.ld": SCRIPT,
        "k.bcf": BCF,
    }.items():
        (tmp_path / name).write_text(content)
    assert judge(tool, folder, tmp_path, line.split()) == ""
    accepted = [what for what, words in mutations(line) if not judge(tool, folder, tmp_path, words)]
    assert [what for what in accepted if not HARMLESS.get(what)] == []


def test_a_refusal_is_exit_code_nine_and_logged(tmp_path):
    peano = make_peano(tmp_path / "p")
    (tmp_path / "a.ll").write_text("")
    ran = RUNNER.run([str(peano.folder / "bin" / "opt"), "-S", "a.ll", "-o", "b.ll"], cwd=tmp_path)
    assert ran.returncode == WRONG
    assert "stand-in opt: expected --passes=default<O0> or <O1>, found '-S'" in ran.output
    assert peano.problems == ["opt: expected --passes=default<O0> or <O1>, found '-S'"]
    assert peano.log[0]["args"] == ["-S", "a.ll", "-o", "b.ll"]


@pytest.mark.parametrize(
    ("opt", "llc", "problem"),
    [
        ("--passes=default<O0>", "-O2", "opt ran at -O0 for -O2"),
        ("--passes=default<O1>", "-O0", "opt ran at -O1 for -O0"),
        ("--passes=default<O1>", "-O3", "opt ran without -disable-loop-idiom-memset"),
        ("-disable-loop-idiom-memset --passes=default<O1>", "-O2", "opt ran with -disable-loop-idiom-memset"),
        ("--passes=default<O1>", "-O2", ""),
        ("-disable-loop-idiom-memset --passes=default<O1>", "-O3", ""),
    ],
)
def test_both_steps_must_agree_on_the_level(peano, tmp_path, opt, llc, problem):
    (tmp_path / "core.ll").write_text(for_peano(CORE))
    words = f"{opt} -inline-threshold=10 -S core.ll -o opt.ll".split()
    assert judge("opt", peano.folder, tmp_path, words) == ""
    (tmp_path / "opt.ll").write_text("")
    found_problem = judge("llc", peano.folder, tmp_path, LLC.replace("-O2", llc).split())
    assert found_problem == problem


@pytest.mark.parametrize(
    "word", ["captures(none)", "nocreateundeforpoison", "memory(none)", "getelementptr inbounds nuw"]
)
def test_chess_reads_old_ir_only(aietools, tmp_path, word):
    (tmp_path / "core.ll").write_text(f"{word}\n")
    wrapper = aietools.folder / "aie_runtime_lib" / "AIE2" / "chess_intrinsic_wrapper.ll"
    said = judge("chess-llvm-link", aietools.folder, tmp_path, ["core.ll", str(wrapper), "-S", "-o", "out.ll"])
    assert "which Chess cannot read" in said


def test_a_bcf_that_forgets_a_kernel(aietools, tmp_path):
    for name in ("core.o", "k.o", "l.o"):
        (tmp_path / name).write_text("")
    (tmp_path / "k.bcf").write_text(BCF)
    words = CHESS_LINK.replace("k.o", "k.o l.o").split()
    assert "the BCF includes ['k.o'], the command line has ['k.o', 'l.o']" in judge(
        "xchesscc_wrapper", aietools.folder, tmp_path, words
    )


@pytest.mark.parametrize("left_out", ["_stack DM_stack 0x70000 0x400", "_resolve _main core_0_2"])
def test_a_bcf_without_what_it_needs(left_out):
    with pytest.raises(WrongArguments, match="the BCF has no "):
        Bcf(BCF.replace(left_out, ""))


def test_programs_can_be_left_out(tmp_path):
    peano = make_peano(tmp_path / "p", leave_out=["llc"])
    tools = found("peano", "--peano", peano.folder, tmp_path / "cache")
    assert [t.name for t in tools.missing] == ["llc"]
    chess = make_aietools(tmp_path / "a", leave_out=["xchesscc_wrapper"])
    tools = found("chess", "--aietools", chess.folder, tmp_path / "cache")
    assert tools.recipe("link", "aie2").tools == ("xchesscc",)


# -- whole builds ----------------------------------------------------------------------------------------


def aiecc(folder: Path, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
    code = "from aiecc.cli.main import main; import sys; sys.exit(main())"
    return subprocess.run(
        [sys.executable, "-c", code, *args],
        cwd=folder,
        env={**os.environ, "NO_COLOR": "1", **env},
        capture_output=True,
        text=True,
        check=False,
    )


def tools_of(standin) -> list[str]:
    return [call["tool"] for call in standin.log]


@pytest.mark.parametrize(
    ("flags", "peano_tools", "chess_tools"),
    [
        (("--peano", "P"), {"opt", "llc", "clang"}, set()),
        (("--peano", "P", "-O3"), {"opt", "llc", "clang"}, set()),
        (("--aietools", "A", "--xchesscc"), set(), {"chess-llvm-link", "xchesscc_wrapper"}),
        (
            ("--aietools", "A", "--peano", "P", "--xchesscc", "--xbridge=false"),
            {"clang"},
            {"chess-llvm-link", "xchesscc_wrapper"},
        ),
        (
            ("--aietools", "A", "--peano", "P", "--xchesscc=false", "--xbridge"),
            {"opt", "llc", "clang"},
            {"xchesscc_wrapper"},
        ),
    ],
)
def test_a_whole_build(tmp_path, flags, peano_tools, chess_tools):
    peano, chess = make_peano(tmp_path / "P"), make_aietools(tmp_path / "A")
    words = [{"P": str(peano.folder), "A": str(chess.folder)}.get(f, f) for f in flags]
    done = aiecc(tmp_path, str(EXAMPLES / "banked_tables" / "design.mlir"), "--output-dir", "out", *words)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (peano.problems, chess.problems) == ([], [])
    assert (set(tools_of(peano)), set(tools_of(chess))) == (peano_tools, chess_tools)
    elfs = sorted((tmp_path / "out").rglob("*.elf"))
    assert len(elfs) == 4
    probes = [c for c in peano.log if "-Wl,--no-check-sections" in c["args"]]
    assert bool(probes) == (flags[0] == "--peano")  # either Chess flag turns the probe off
