"""Argument lists, word for word. The expected ones are written from the reference of upstream's driver."""

import re
from pathlib import Path

import pytest

from aiecc.base.diag import Refused
from aiecc.model.toolchain import Group, Recipe, Step, Tool, Toolchain, ToolchainSpec, ToolSpec
from aiecc.tools import commands, load
from aiecc.tools.commands import fill

FILES = load.available(load.folders(environ={}))
INCLUDE = str(load.include_folder())


def chain(name: str, *tools: str, root: str = "/r") -> Toolchain:
    """A toolchain whose named tools lie in `/r/bin` (all of them if none is named)."""
    spec = load.load(name, FILES)
    names = tools or tuple(t.name for t in spec.tools)
    return Toolchain(spec, {n: Tool(n, f"/r/bin/{n}", "1", n) for n in names}, root)


def args(invocation: commands.Invocation) -> str:
    return " ".join(invocation.argv)


# -- Peano -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("level", "space", "opt", "llc"),
    [
        (0, None, "--passes=default<O0>", "-O0 --march=aie2p --function-sections -stack-size-section"),
        (1, None, "--passes=default<O1>", "-O1 --march=aie2p --function-sections -stack-size-section"),
        (
            2,
            5,
            "--passes=default<O1>",
            "-O2 --march=aie2p --function-sections -stack-size-section -aie-stack-addrspace=5",
        ),
        (
            3,
            8,
            "-disable-loop-idiom-memset --passes=default<O1>",
            "-O3 --march=aie2p --function-sections -stack-size-section -aie-stack-addrspace=8",
        ),
    ],
)
def test_peano_compiles_ir(level, space, opt, llc):
    made = commands.compile_ir_argvs(
        chain("peano"),
        arch="aie2p",
        opt_level=level,
        input="in.ll",
        output="out.o",
        optimized="opt.ll",
        stack_space=space,
    )
    assert [args(m) for m in made] == [
        f"/r/bin/opt {opt} -inline-threshold=10 -S in.ll -o opt.ll",
        f"/r/bin/llc opt.ll {llc} --filetype=obj -o out.o",
    ]


@pytest.mark.parametrize("arch", ["aie", "aie2", "aie2p"])
def test_peano_links(arch):
    common = {"arch": arch, "opt_level": 2, "objects": ["a.o"], "script": "s.ld", "output": "a.elf"}
    link = commands.link_argv(chain("peano"), **common)
    assert args(link) == (
        f"/r/bin/clang -O2 --target={arch}-none-unknown-elf -fuse-ld=/r/bin/ld.lld a.o -Wl,--threads=1 "
        "-Wl,--gc-sections -Wl,--emit-relocs -Wl,--orphan-handling=error -Wl,-T,s.ld -o a.elf"
    )
    probe = commands.link_argv(chain("peano"), **common, probe=True)
    assert args(probe) == args(link).replace("-Wl,-T,s.ld", "-Wl,--no-check-sections -Wl,-T,s.ld")
    other = commands.link_argv(chain("peano", "clang"), **common)
    assert "-fuse-ld=lld a.o" in args(other)


def test_peano_compiles_kernels():
    common = {"arch": "aie2", "opt_level": 2, "output": "k.o"}
    tools = chain("peano", "clang", "clang++")
    (c,) = commands.compile_source_argvs(tools, **common, input="k.c", depfile="k.d", includes=["inc"], defines=["N=3"])
    assert args(c) == (
        "/r/bin/clang --target=aie2-none-unknown-elf -c -O2 -DNDEBUG -D__AIE_API_AIE_ADF_HPP__ "
        f"-Iinc -I{INCLUDE} -DN=3 -Wno-parentheses -Wno-attributes -Wno-macro-redefined -Wno-empty-body "
        "-fstack-size-section -ffunction-sections -fdata-sections -MD -MF k.d k.c -o k.o"
    )
    warnings = "-Wno-parentheses -Wno-attributes -Wno-macro-redefined -Wno-empty-body"
    head = f"-std=c++20 -O2 -DNDEBUG -D__AIE_API_AIE_ADF_HPP__ -I{INCLUDE} {warnings}"
    (cxx,) = commands.compile_source_argvs(tools, **common, input="k.cc")
    assert args(cxx) == (
        f"/r/bin/clang++ --target=aie2-none-unknown-elf -c {head} "
        "-fstack-size-section -ffunction-sections -fdata-sections k.cc -o k.o"
    )
    (ir,) = commands.compile_source_argvs(tools, **common, input="k.cpp", to_ir=True)
    assert args(ir) == f"/r/bin/clang++ --target=aie2-none-unknown-elf {head} -S -emit-llvm k.cpp -o k.o"
    first, second = commands.compile_source_argvs(tools, **common, input="k.cc", embed_ir=True, depfile="k.d")
    assert args(first) == (
        f"/r/bin/clang++ --target=aie2-none-unknown-elf {head} -S -emit-llvm -MD -MF k.d -MT k.o k.cc -o k.o.ll"
    )
    assert args(second) == (
        "/r/bin/clang --target=aie2-none-unknown-elf -x ir -c -O2 -Xclang -disable-llvm-passes "
        "-Xclang -fembed-bitcode=all -fstack-size-section -ffunction-sections -fdata-sections k.o.ll -o k.o"
    )


def test_peano_merges_with_what_it_has():
    inputs = {"arch": "aie2", "inputs": ["core.ll", "k.ll"], "output": "all.ll"}
    (one,) = commands.merge_ir_argvs(chain("peano"), **inputs)
    assert args(one) == "/r/bin/llvm-link -S core.ll k.ll -o all.ll"
    made = commands.merge_ir_argvs(chain("peano", "clang", "ld.lld"), **inputs)
    target = "--target=aie2-none-unknown-elf"
    assert [args(m) for m in made] == [
        f"/r/bin/clang {target} -x ir -O0 -c -emit-llvm core.ll -o core.ll.bc",
        f"/r/bin/clang {target} -x ir -O0 -c -emit-llvm k.ll -o k.ll.bc",
        "/r/bin/ld.lld -r --lto-emit-llvm --lto-O0 core.ll.bc k.ll.bc -o all.ll.bc",
        f"/r/bin/clang {target} -x ir -O0 -S -emit-llvm all.ll.bc -o all.ll",
    ]


# -- Chess -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arch", ["aie", "aie2", "aie2p"])
def test_chess_through_the_wrapper(arch):
    tools = chain("chess")
    made = commands.compile_ir_argvs(
        tools,
        arch=arch,
        opt_level=2,
        input="compat.ll",
        output="w/objects_k.o",
        optimized="linked.ll",
        stack_space=5,
        workdir="w",
    )
    assert [args(m) for m in made] == [
        f"/r/bin/chess-llvm-link@{arch} compat.ll /r/bin/chess_intrinsic_wrapper@{arch} -S -o linked.ll",
        f"/r/bin/xchesscc_wrapper {arch} +w w -c -d +Wclang,-xir -f linked.ll -o w/objects_k.o",
    ]
    link = commands.link_argv(
        tools,
        arch=arch,
        opt_level=2,
        objects=["a.o"],
        link_files=["k.o", "l.a"],
        script="k.bcf",
        output="w/e.elf",
        workdir="w",
    )
    assert args(link) == f"/r/bin/xchesscc_wrapper {arch} +w w -d -f a.o k.o l.a +l k.bcf -o w/e.elf"


def test_chess_without_the_wrapper():
    tools = chain("chess", "xchesscc", "chess-llvm-link@aie2", "chess_intrinsic_wrapper@aie2", root="/tools")
    link = commands.link_argv(tools, arch="aie2", opt_level=2, objects=["a.o"], script="k.bcf", output="e.elf")
    assert args(link) == (
        "/r/bin/xchesscc --aiearch aie2 -p me -C Release_LLVM -D__AIENGINE__ -D__AIE_API_AIE_ADF_HPP__ "
        "-I /tools/include -P /tools/data/aie_ml/lib +w . -d -f a.o +l k.bcf -o e.elf"
    )


def test_chess_lacks_the_intrinsics():
    tools = chain("chess", "xchesscc", "chess-llvm-link@aie2")
    with pytest.raises(Refused) as caught:
        commands.compile_ir_argvs(tools, arch="aie2", opt_level=2, input="a", output="b", optimized="c")
    (diagnostic,) = caught.value.diagnostics
    assert "tool 'chess_intrinsic_wrapper@aie2' not found" in diagnostic.text
    assert diagnostic.todo == "set MLIR_AIE_INSTALL_DIR to an installation of mlir-aie"


def test_chess_does_not_know_aie2ps():
    with pytest.raises(Refused, match=r"^aiecc: unsupported AIE target for Chess toolchain: aie2ps$"):
        commands.link_argv(chain("chess"), arch="aie2ps", opt_level=2, objects=[], script="s", output="o")


# -- the portable toolchain, MLIR -------------------------------------------------------------------


def test_portable_links_with_start_up_code_and_run_time():
    link = commands.link_argv(
        chain("llvm"),
        arch="aie2",
        opt_level=2,
        objects=["a.o"],
        script="s.ld",
        output="a.elf",
        stack_end=0x70800,
        startup=["crt0.o", "crt1.o"],
        runtime=["memory.o"],
        map="a.map",
        probe=True,
    )
    assert args(link) == (
        "/r/bin/ld.lld -m elf32lriscv crt0.o crt1.o a.o --threads=1 --gc-sections --emit-relocs "
        "--orphan-handling=error --no-check-sections --defsym=_sp_end_value_DM_stack=0x70800 -T s.ld "
        "--start-lib memory.o --end-lib -Map=a.map -o a.elf"
    )


def test_portable_keeps_ir_only_when_asked():
    common = {"arch": "aie2", "opt_level": 3, "input": "a.ll", "output": "a.o", "optimized": "a.opt.ll"}
    (one,) = commands.compile_ir_argvs(chain("llvm"), **common, stack_space=6)
    assert not any("stack-addrspace" in a for a in one.argv)
    assert args(one).endswith("-O3 -c -ffunction-sections -fdata-sections -fstack-size-section a.ll -o a.o")
    ir, obj = commands.compile_ir_argvs(chain("llvm"), **common, keep_ir=True)
    assert args(ir).endswith("-O3 -S -emit-llvm a.ll -o a.opt.ll")
    assert obj == one


def test_what_zig_lacks_comes_with_its_wheel():
    """The wheel's clang is told where its headers are; another clang has its own."""
    plain = chain("llvm")
    variables = (("headers", "/w/include"), ("libc_headers", "/w/musl"), ("libc_arch_headers", "/w/musl32"))
    zig = Tool("clang", "/w/zig", "22", "zig", ("clang",), (*variables, ("cxx_headers", "/w/cxx")))
    wheel = Toolchain(plain.spec, {**plain.tools, "clang": zig})
    common = {"arch": "aie2", "opt_level": 2, "output": "k.o"}
    (c,) = commands.compile_source_argvs(wheel, **common, input="k.c")
    assert c.argv[:2] == ("/w/zig", "clang")
    assert "-nostdinc -isystem /w/include -isystem /w/musl32 -isystem /w/musl" in args(c)
    assert "/w/cxx" not in args(c)
    (cxx,) = commands.compile_source_argvs(wheel, **common, input="k.cc")
    assert "-isystem /w/cxx" in args(cxx)
    assert args(cxx).index("/w/cxx") < args(cxx).index("/w/include")
    (own,) = commands.compile_source_argvs(plain, **common, input="k.cc")
    assert "-nostdlibinc -isystem" in args(own)
    assert "/w/" not in args(own)


def test_mlir():
    opt = commands.mlir_opt_argv(chain("peano"), pipeline="builtin.module(cse)", input="a.mlir", output="b.mlir")
    assert args(opt) == "/r/bin/mlir-opt --split-input-file --pass-pipeline=builtin.module(cse) a.mlir -o b.mlir"
    translate = commands.translate_argv(chain("chess"), input="b.mlir", output="b.ll")
    assert translate.argv == (
        "/r/bin/mlir-translate",
        "--mlir-to-llvmir",
        "--split-input-file",
        "--output-split-marker=// -----",
        "b.mlir",
        "-o",
        "b.ll",
    )
    alone = commands.translate_argv(chain("llvm"), input="b.mlir", output="b.ll", split=False)
    assert args(alone) == "/r/bin/mlir-translate --mlir-to-llvmir b.mlir -o b.ll"


def test_runtime_objects_are_named_as_scripts_look_for_them():
    tools = chain("llvm")
    made = commands.runtime_argvs(tools, arch="aie2")
    startup, runtime = commands.runtime_objects(tools)
    assert [output for _, output, _ in made] == [*startup, *runtime]
    assert startup == ("crt0.o", "crt1.o")
    for source, output, command in made:
        assert Path(source).is_file()
        assert args(command).endswith(f"{source} -o {output}")
        assert {"-ffunction-sections", "-fstack-size-section", "-fno-builtin"} <= set(command.argv)
    assert commands.runtime_argvs(chain("peano"), arch="aie2") == ()


@pytest.mark.parametrize("name", ["k.c", "k.cc", "k.cpp", "k.cxx", "k.C", "dir.o/k.c++"])
def test_sources(name):
    assert commands.is_source(name)


@pytest.mark.parametrize("name", ["k.o", "k.a", "k.ll", "k.bc", "k", "k.c.o", "c"])
def test_no_sources(name):
    assert not commands.is_source(name)


# -- templates ---------------------------------------------------------------------------------------


def template(*arguments: str | Group, **step: str) -> Toolchain:
    spec = ToolchainSpec(
        "t", "", "/f", tools=(ToolSpec("x"),), recipes={"j": (Recipe((Step("x", arguments, **step),)),)}
    )
    return Toolchain(spec, {"x": Tool("x", "/x", "", "", ("pre",))})


@pytest.mark.parametrize(
    ("arguments", "values", "expected"),
    [
        (("{a}b{a}",), {"a": "1"}, ["1b1"]),
        (("{{a}}",), {"a": "1"}, ["{a}"]),
        (("{n}",), {"n": 0}, ["0"]),
        (("{folder}/{arch}",), {}, ["/f/"]),
        ((Group(("-a", "{a}"), when="a"), "z"), {"a": ""}, ["z"]),
        ((Group(("-a",), unless="a"),), {"a": ""}, ["-a"]),
        ((Group(("-a",), when="a b"),), {"a": "1", "b": ""}, []),
        ((Group(("-a",), when="a b"),), {"a": "1", "b": True}, ["-a"]),
        ((Group(("-a",), when="a", unless="b c"),), {"a": "1", "c": "1"}, []),
        ((Group(("-i", "{it}"), each="l"),), {"l": ["p", "q"]}, ["-i", "p", "-i", "q"]),
        ((Group(("-i", "{it}"), each="l"),), {"l": ()}, []),
        ((Group(("-i", "{it}"), each="l"),), {}, []),
        (("a b", "$(x)", "{a}"), {"a": "it's {b}"}, ["a b", "$(x)", "it's {b}"]),
    ],
)
def test_templates(arguments, values, expected):
    (made,) = fill(template(*arguments), "j", "", values)
    assert made.argv == ("/x", "pre", *expected)


def test_a_step_for_each():
    made = fill(template("{it}", each="l"), "j", "", {"l": ["p", "q"]})
    assert [m.argv for m in made] == [("/x", "pre", "p"), ("/x", "pre", "q")]
    assert fill(template("x", when="never"), "j", "", {}) == ()


@pytest.mark.parametrize(("text", "word"), [("{b}", "b"), ("{l}", "l"), ("{it}", "it")])
def test_a_value_the_job_does_not_have(text, word):
    message = f"toolchain 't': '{text}' wants a value '{word}', which job 'j' does not have"
    with pytest.raises(Refused, match=re.escape(message)):
        fill(template(text), "j", "", {"l": ["p"]})


def test_an_architecture_nobody_knows():
    with pytest.raises(Refused, match="aiecc: unsupported AIE target for toolchain 't': aie9"):
        fill(template("x"), "j", "aie9", {})
