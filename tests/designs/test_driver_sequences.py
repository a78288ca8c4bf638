"""Runtime sequences through the command line: files, names, what is told, and what cannot be written wrongly."""

import json
import re
from pathlib import Path

import pytest

from aiecc.npu.txn import BlockWrite, Patch, Sync, Write, decode
from aiecc.testing.kit import Project

DEVICE = """module {{
  aie.device(npu2) {{
    %shim = aie.tile(0, 0)
    aie.shim_dma_allocation @in(%shim, MM2S, 0)
    aie.shim_dma_allocation @out(%shim, S2MM, 0)
{sequences}
  }}
}}
"""


def sequence(body: str, name: str = "run") -> str:
    return f"""    aie.runtime_sequence @{name}(%a: memref<4096xi32>, %b: memref<4096xi32>) {{
{body}
    }}
"""


def task(name: str, *, token: bool = False, alloc: str = "in", offset: int = 0) -> str:
    told = " {issue_token = true}" if token else ""
    return f"""      %{name} = aiex.dma_configure_task_for @{alloc} {{
        aie.dma_bd(%a : memref<4096xi32> offset = {offset} len = 64)
        aie.end
      }}{told}
"""


def on(word: str, *names: str) -> str:
    return "".join(f"      aiex.dma_{word}_task(%{name})\n" for name in names)


GOOD = task("t", token=True) + on("start", "t") + on("await", "t")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def design(made: Project, *sequences: str) -> list[str]:
    """Write the design; its lines."""
    text = DEVICE.format(sequences="\n".join(sequences))
    made.write("design.mlir", text)
    return text.splitlines()


def files(made: Project) -> set[str]:
    found = (p.relative_to(made.folder).as_posix() for p in made.folder.rglob("*") if p.is_file())
    return {f for f in found if ".prj/" not in f and f != "design.mlir"}


# --- files ------------------------------------------------------------------------------------------------------------


def test_every_sequence_has_a_file_and_no_compiler_is_needed(project: Project) -> None:
    """A design without cores: a toolchain that does not exist is never looked for."""
    design(project, sequence(GOOD, "one"), sequence(GOOD + task("u", alloc="out"), "two"))
    ran = project.aiecc("--get-npu-insts", "design.mlir", toolchain=None)
    assert ran.code == 0, ran.err
    assert files(project) == {"insts_main_one.bin", "insts_main_two.bin"}
    for name, count in (("one", 1), ("two", 2)):
        program = decode((project.folder / f"insts_main_{name}.bin").read_bytes())
        assert program.stopped is None
        assert sum(isinstance(e.op, BlockWrite) for e in program.entries) == count


def test_one_sequence_by_name(project: Project) -> None:
    design(project, sequence(GOOD, "one"), sequence(GOOD, "two"))
    ran = project.aiecc("--get-npu-insts", "--sequence-name", "two", "design.mlir")
    assert ran.code == 0, ran.err
    assert files(project) == {"insts_main_two.bin"}


def test_a_sequence_that_does_not_exist(project: Project) -> None:
    design(project, sequence(GOOD, "one"))
    ran = project.aiecc("--get-npu-insts", "--sequence-name", "three", "design.mlir")
    assert ran.code != 0
    assert "three" in ran.err and "Traceback" not in ran.err
    assert files(project) == set()


@pytest.mark.parametrize(
    ("flags", "known"),
    [
        (["--sequence-name=three"], "it has one, two, other"),
        (["--sequence-name=other", "--device-name=main"], "it has one, two"),
        (["--sequence-name=two", "--device-name=second"], "it has one, other"),
        (["--sequence-name=one", "--device-name=third"], "it has main, second"),
        (["--sequence-name=two"], ""),
        (["--sequence-name=one", "--device-name=second"], ""),
    ],
)
def test_names_that_there_are_are_told(project: Project, flags: list[str], known: str) -> None:
    """Of the devices that were asked for, each once."""
    first = DEVICE.format(sequences=sequence(GOOD, "one") + sequence(GOOD, "two"))
    other = DEVICE.format(sequences=sequence(GOOD, "one") + sequence(GOOD, "other"))
    both = first.rstrip().removesuffix("}") + other.removeprefix("module {").replace("(npu2)", "(npu2) @second")
    project.write("design.mlir", both)
    ran = project.aiecc("--get-npu-insts", *flags, "design.mlir")
    assert ran.code == (2 if known else 0), ran.err
    assert not known or f"; {known}  [E0901]" in ran.err
    assert len(files(project)) == (0 if known else 1)


def test_another_name_for_the_file(project: Project) -> None:
    design(project, sequence(GOOD, "one"))
    ran = project.aiecc("--get-npu-insts", "--npu-insts-name", "{0}_words.bin", "design.mlir")
    assert ran.code == 0, ran.err
    assert files(project) == {"main_one_words.bin"}


def test_the_same_bytes_again(project: Project) -> None:
    design(project, sequence(GOOD, "one"))
    assert project.aiecc("--get-npu-insts", "design.mlir").code == 0
    once = (project.folder / "insts_main_one.bin").read_bytes()
    assert project.aiecc("--get-npu-insts", "design.mlir").code == 0
    assert (project.folder / "insts_main_one.bin").read_bytes() == once


def test_the_lowered_module(project: Project) -> None:
    design(project, sequence(GOOD, "one"))
    ran = project.aiecc("--get=npu_lowered.mlir", "design.mlir")
    assert ran.code == 0, ran.err
    (name,) = files(project)
    text = project.read(name)
    for word in ("aiex.npu.blockwrite", "aiex.npu.address_patch", "aiex.npu.write32", "aiex.npu.sync"):
        assert text.count(word) == 1, word
    assert "dma_configure_task" not in text and "dma_start_task" not in text


def test_the_location_map_leads_back_to_the_lines(project: Project) -> None:
    lines = design(project, sequence(GOOD, "one"))
    ran = project.aiecc("--get-npu-insts", "--get-locmap", "design.mlir")
    assert ran.code == 0, ran.err
    told = json.loads(project.read("insts_main_one.bin.locmap.json"))
    entries = decode((project.folder / "insts_main_one.bin").read_bytes()).entries
    assert [(o["byte_offset"], o["byte_size"]) for o in told["operations"]] == [(e.offset, e.size) for e in entries]
    assert [o["opcode"] for o in told["operations"]] == ["BLOCKWRITE", "ADDRESS_PATCH", "WRITE32", "TCT"]
    at = [next(i for i, line in enumerate(lines, 1) if word in line) for word in ("configure", "start_task", "await")]
    wanted = [at[0], at[0], at[1], at[2]]
    assert [o["loc"]["line"] for o in told["operations"]] == wanted


# --- what cannot be written -------------------------------------------------------------------------------------------

MISUSE = {
    "a push of what was never configured": (
        "      %t = arith.constant 3 : index\n" + on("start", "t"),
        "aiex.dma_start_task",
        "does not reference a valid configure_task operation.",
    ),
    "freed twice": (
        task("t") + on("start", "t") + on("free", "t", "t"),
        "aiex.dma_free_task",
        "frees buffer descriptor",
    ),
    "awaited after it was freed": (
        task("t", token=True) + on("start", "t") + on("free", "t") + on("await", "t"),
        "aiex.dma_await_task",
        "awaits a task that an earlier aiex.dma_free_task released",
    ),
    "awaited without a token": (
        task("t") + on("start", "t") + on("await", "t"),
        "aiex.dma_await_task",
        "Cannot wait on a BD that is not configured to issue a token.",
    ),
    "awaited before it was started": (
        task("t", token=True) + on("await", "t"),
        "aiex.dma_await_task",
        "awaits a task-completion token on a channel where no outstanding token is guaranteed",
    ),
    "awaited twice": (
        task("t", token=True) + on("start", "t") + on("await", "t", "t"),
        "aiex.dma_await_task",
        "awaits a task-completion token on a channel where no outstanding token is guaranteed",
    ),
    "started after it was freed": (
        task("t") + on("free", "t") + on("start", "t"),
        "aiex.dma_start_task",
        "starts a task whose buffer descriptors an earlier aiex.dma_free_task released",
    ),
    "overwritten in flight": (
        "".join(
            task(f"t{i}", alloc="in" if i % 2 else "out") + on("start", f"t{i}") + on("free", f"t{i}")
            for i in range(17)
        ),
        "aiex.dma_configure_task",
        "reuses buffer descriptor ID 0 while the task that had it may still be running",
    ),
    "more than there are": (
        "".join(task(f"t{i}") for i in range(17)),
        "aiex.dma_configure_task",
        "Too many simultaneously active buffer descriptors on tile (0,0), which supports up to 16.",
    ),
}


@pytest.mark.parametrize("case", MISUSE)
def test_wrong_use_is_one_error_at_the_line(project: Project, case: str) -> None:
    body, op, text = MISUSE[case]
    lines = design(project, sequence(body))
    ran = project.aiecc("--get-npu-insts", "--queue-check=off", "design.mlir")
    assert ran.code == 1
    assert len(ran.errors) == 1, ran.err
    last = max(i for i, line in enumerate(lines, 1) if op in line)
    assert re.match(rf"design\.mlir:{last}:\d+: error: '{op}' op {re.escape(text)}", ran.errors[0])
    assert files(project) == set()


def test_a_use_of_what_is_not_defined(project: Project) -> None:
    design(project, sequence(on("start", "nothing")))
    ran = project.aiecc("--get-npu-insts", "design.mlir")
    assert ran.code == 1
    assert ran.errors == ["design.mlir:7:27: error: use of undeclared SSA value name  [E0002]"]


# --- queues -----------------------------------------------------------------------------------------------------------


def five(token: bool) -> str:
    names = [f"t{i}" for i in range(5)]
    return "".join(task(n, token=token) for n in names) + on("start", *names)


@pytest.mark.parametrize(
    ("check", "token", "code", "waits"),
    [
        ("wait", True, 0, 1),
        ("wait", False, 0, 1),
        ("error", True, 1, 0),
        ("warn", False, 0, 0),
        ("off", False, 0, 0),
    ],
)
def test_a_fifth_push(project: Project, check: str, token: bool, code: int, waits: int) -> None:
    lines = design(project, sequence(five(token)))
    ran = project.aiecc("--get-npu-insts", f"--queue-check={check}", "design.mlir")
    assert ran.code == code, ran.err
    last = max(i for i, line in enumerate(lines, 1) if "dma_start_task" in line)
    if check in ("off", "wait"):
        assert "queue" not in ran.err
    else:
        kind = "warning" if check == "warn" else "error"
        assert re.search(rf"^design\.mlir:{last}:\d+: {kind}: .*queue is only 4 deep, with 4 push", ran.err, re.M)
    if code == 0:
        entries = decode((project.folder / "insts_main_run.bin").read_bytes()).entries
        assert sum(isinstance(e.op, Sync) for e in entries) == waits
        kinds = [type(e.op) for e in entries if isinstance(e.op, Sync | Write)]
        assert kinds == ([Write] * 4 + [Sync, Write] if waits else [Write] * 5)


def test_waiting_is_the_default(project: Project) -> None:
    design(project, sequence(five(True)))
    ran = project.aiecc("--get-npu-insts", "design.mlir")
    assert ran.code == 0, ran.err
    entries = decode((project.folder / "insts_main_run.bin").read_bytes()).entries
    assert sum(isinstance(e.op, Sync) for e in entries) == 1


# --- templates --------------------------------------------------------------------------------------------------------


def test_a_template_with_numbers_in_a_sequence(project: Project) -> None:
    chain = """    aie.bd_chain @rows(%x: memref<4096xi32>, %at: i32, %n: i64) {
      %len = arith.constant 64 : i32
      aie.dma_bd(%x : memref<4096xi32> offset = %at len = %len sizes = [%n, 8] strides = [32, 1])
      aie.end
    }
"""
    body = """      %at = arith.constant 128 : i32
      %n = arith.constant 8 : i64
      %t = aiex.dma_start_bd_chain_for @rows(%b, %at, %n) : (memref<4096xi32>, i32, i64) for @in {issue_token = true}
      aiex.dma_await_task(%t)
"""
    design(project, chain, sequence(body))
    ran = project.aiecc("--get-npu-insts", "design.mlir")
    assert ran.code == 0, ran.err
    entries = decode((project.folder / "insts_main_run.bin").read_bytes()).entries
    block, patch = entries[0].op, entries[1].op
    assert isinstance(block, BlockWrite) and isinstance(patch, Patch)
    assert (block.data[0], block.data[3], block.data[4] & 0x3FFFFFFF) == (64, 8 << 20, 8 << 20 | 31)
    assert (patch.argument, patch.plus) == (1, 512)
