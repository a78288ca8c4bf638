"""`aiecc-translate`: formats, and what it says when it cannot give one."""

from __future__ import annotations

import io
import sys

import pytest

from aiecc.base.codes import Exit
from aiecc.cli.translate import run

PLACED = """
aie.device(npu2) {
  %t = aie.tile(1, 3)
  %n = aie.tile(1, 4)
  %w = aie.tile(0, 3)
  %m = aie.tile(1, 1)
  %a = aie.buffer(%t) {address = 1024 : i32, sym_name = "a"} : memref<16xi32>
  %b = aie.buffer(%n) {address = 32 : i32, sym_name = "b"} : memref<4xi16>
  %c = aie.buffer(%w) {address = 0 : i32, sym_name = "c"} : memref<3xi8>
  %d = aie.buffer(%m) {address = 0 : i32, sym_name = "d"} : memref<3xi8>
  %core = aie.core(%t) {
    aie.end
  } {link_files = ["k.o"], stack_size = 1024 : i32}
}
"""


@pytest.fixture
def design(tmp_path):
    def write(text: str) -> str:
        path = tmp_path / "design.mlir"
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


def printed(capsys, *args: str) -> str:
    assert run(args) == Exit.OK, capsys.readouterr().err
    return capsys.readouterr().out


def refused(capsys, *args: str) -> tuple[int, str]:
    code = run(args)
    said = capsys.readouterr()
    assert said.out == ""
    return code, said.err


def test_the_map_lists_what_each_core_sees_south_west_north_east(capsys, design):
    # The windows of AIE2 begin at 0x40000 (south), 0x50000 (west), 0x60000 (north) and 0x70000 (east, its own).
    assert printed(capsys, "--aie-generate-mmap", design(PLACED)) == (
        "// Tile(0, 3)\n"
        "// Memory map: name base_address num_bytes\n"
        "_symbol c 0x70000 3\n"
        "// Tile(1, 1)\n"
        "// Memory map: name base_address num_bytes\n"
        "// Tile(1, 3)\n"
        "// Memory map: name base_address num_bytes\n"
        "_symbol c 0x50000 3\n"
        "_symbol b 0x60020 8\n"
        "_symbol a 0x70400 64\n"
        "// Tile(1, 4)\n"
        "// Memory map: name base_address num_bytes\n"
        "_symbol a 0x40400 64\n"
        "_symbol b 0x70020 8\n"
    )


@pytest.mark.parametrize(
    ("device", "word"),
    [("xcvc1902", "AIE"), ("npu1_2col", "AIE2"), ("npu2", "AIE2p"), ("npu2_4col", "AIE2p"), ("xcve2302", "AIE2")],
)
def test_the_architecture_is_one_word(capsys, design, device: str, word: str):
    text = f"aie.device({device}) {{\n}}"
    assert printed(capsys, "-aie-generate-target-arch", design(text)) == word + "\n"


def test_a_module_without_a_device_is_of_the_first_generation(capsys, design):
    assert printed(capsys, "--aie-generate-target-arch", design("%t = aie.tile(0, 1)")) == "AIE\n"


def test_a_linker_script_holds_the_cores_memory(capsys, design):
    text = printed(capsys, "--aie-generate-ldscript", "--tilecol=1", "--tilerow=3", design(PLACED))
    assert "\n. = 0x70400;\na = .;\n. += 0x40;\n" in text
    assert "\n_sp_start_value_DM_stack = .;\n" in text
    # The largest run the stack and the buffer leave.
    assert "0x70440" in text
    assert text.endswith("INPUT(k.o)\nPROVIDE(main = core_1_3);\n")


def test_a_bcf_holds_it_too(capsys, design):
    text = printed(capsys, "--aie-generate-bcf", "-tilecol", "1", "-tilerow=3", design(PLACED))
    assert "_symbol a 0x70400 64\n_extern a\n_reserved DMb 0x70400 64\n" in text
    assert text.endswith("_include _file k.o\n_resolve _main core_1_3\n")


def test_a_device_is_picked_by_name(capsys, design):
    text = PLACED + PLACED.replace("(npu2)", "(npu1) @other")
    path = design(text)
    assert printed(capsys, "--aie-generate-target-arch", "--aie-device-name=other", path) == "AIE2\n"
    assert printed(capsys, "--aie-generate-target-arch", path) == "AIE2p\n"


def test_input_may_come_from_standard_input(capsys, monkeypatch):
    class Stdin:
        buffer = io.BytesIO(PLACED.encode())

    for args in (["-"], []):
        Stdin.buffer.seek(0)
        monkeypatch.setattr(sys, "stdin", Stdin)
        assert printed(capsys, "--aie-generate-target-arch", *args) == "AIE2p\n"


def test_output_may_go_to_a_file(capsys, design, tmp_path):
    out = tmp_path / "arch.txt"
    assert printed(capsys, "--aie-generate-target-arch", design(PLACED), "-o", str(out)) == ""
    assert out.read_text(encoding="utf-8") == "AIE2p\n"


def test_nameless_buffers_get_the_names_the_allocator_gives_them(capsys, design):
    text = PLACED.replace(', sym_name = "a"', "")
    assert "_symbol _anonymous0 0x70400 64" in printed(capsys, "--aie-generate-mmap", design(text))


LD = ("--aie-generate-ldscript", "--tilecol=1", "--tilerow=3")


@pytest.mark.parametrize(
    ("change", "args", "code", "says"),
    [
        ("", (*LD, "--aie-device-name=nope"), Exit.USAGE, "error: No such device: nope"),
        ("@other", LD, Exit.USAGE, "error: No 'main' device in module"),
        ("", ("--aie-generate-ldscript", "--tilecol=4", "--tilerow=4"), Exit.USAGE, "no tile (4, 4) in device main"),
        ("", ("--aie-generate-bcf", "--tilecol=1", "--tilerow=1"), Exit.USAGE, "tile (1, 1) is not a core tile"),
        ("", (), Exit.USAGE, "choose one of the --aie-generate-* options"),
        ("", ("--aie-generate-mmap", "--aie-generate-bcf"), Exit.USAGE, "choose one of the --aie-generate-* options"),
        ("", ("--aie-generate-nothing",), Exit.USAGE, "Unknown command line argument '--aie-generate-nothing'"),
        ("", (*LD, "--tilecol=x"), Exit.USAGE, "'x' is not a valid integer"),
        ("syntax", LD, Exit.REFUSED, "design.mlir:2:11: error:"),
        ("off", LD, Exit.REFUSED, "design.mlir:3:8: error: 'aie.tile' op column index (99) must be less than"),
        ("unplaced", LD, Exit.REFUSED, "error: 'aie.buffer' op buffer 'a' has no address"),
        ("bank", LD, Exit.REFUSED, "stack_bank has no assigned stack_address; run --aie-assign-buffer-addresses"),
    ],
)
def test_what_cannot_be_given_is_said_in_one_message(capsys, design, change, args, code, says):
    text = {
        "@other": PLACED.replace("(npu2)", "(npu2) @other"),
        "syntax": PLACED.replace("aie.device(npu2)", "aie.device npu2"),
        "off": PLACED.replace("aie.tile(1, 3)", "aie.tile(99, 3)"),
        "unplaced": PLACED.replace("address = 1024 : i32, ", ""),
        "bank": PLACED.replace("stack_size", "stack_bank = 1 : i32, stack_size"),
    }.get(change, PLACED)
    got, said = refused(capsys, *args, design(text))
    assert got == code
    assert says in said and said.count("error:") == 1


def test_files_that_are_no_text_are_refused(capsys, tmp_path):
    missing = str(tmp_path / "none.mlir")
    code, said = refused(capsys, "--aie-generate-mmap", missing)
    assert code == Exit.REFUSED and f"could not open input file '{missing}'" in said
    (tmp_path / "b.mlir").write_bytes(b"\xff\xfe\x00\x81")
    code, said = refused(capsys, "--aie-generate-mmap", str(tmp_path / "b.mlir"))
    assert code == Exit.REFUSED and "is not a text file" in said
    assert refused(capsys, "--aie-generate-mmap", str(tmp_path))[0] == Exit.REFUSED


def test_output_that_cannot_be_written_is_said(capsys, design, tmp_path):
    code, said = refused(capsys, "--aie-generate-target-arch", design(PLACED), "-o", str(tmp_path / "no" / "x"))
    assert code == Exit.REFUSED and "could not write" in said


def test_help_names_every_format(capsys):
    text = printed(capsys, "--help")
    for name in ("ldscript", "bcf", "mmap", "target-arch"):
        assert f"--aie-generate-{name}" in text
