"""Which toolchain is taken, what is said about it, and the doctor's table."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from aiecc.base.diag import Level, Refused
from aiecc.tools import doctor, load
from aiecc.tools.choose import NO_AIETOOLS, chess_flags, choose
from aiecc.tools.find import Surroundings
from aiecc.tools.versions import Versions

pytestmark = pytest.mark.skipif(os.name != "posix", reason="programs are scripts with a first line")

FILES = load.available(load.folders(environ={}))
LLC = "LLVM version 21\n  Registered Targets:\n    aie2 - AI Engine"


def program(path: Path, says: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{says}'\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def peano(tmp_path):
    folder = tmp_path / "peano"
    for name in ("opt", "llc", "clang", "clang++", "ld.lld"):
        program(folder / "bin" / name, LLC)
    return folder


@pytest.fixture
def aietools(tmp_path):
    program(tmp_path / "aietools" / "bin" / "xchesscc", "Version 2024")
    return tmp_path / "aietools"


@pytest.fixture
def pick(tmp_path):
    def picked(path: str = "", given: dict[str, str] | None = None, env: dict[str, str] | None = None, **options):
        around = Surroundings(given or {}, {"PATH": path, **(env or {})}, tmp_path / "prefix")
        return choose(FILES, around, versions=Versions(folder=tmp_path / "cache"), **options)

    return picked


@pytest.mark.parametrize(
    ("xchesscc", "xbridge", "expected"),
    [
        (None, None, (False, False)),
        (True, None, (True, True)),
        (None, True, (True, True)),
        (True, False, (True, False)),
        (False, True, (False, True)),
        (False, None, (False, False)),
        (None, False, (False, False)),
        (False, False, (False, False)),
        (True, True, (True, True)),
    ],
)
def test_each_chess_flag_implies_the_other(xchesscc, xbridge, expected):
    assert chess_flags(xchesscc, xbridge) == expected


def test_no_silent_fall_back(pick):
    chain, said = pick()
    assert chain.name == "llvm"
    (warning,) = said
    assert warning.level is Level.WARNING
    assert warning.text == (
        "no Peano was found, so cores are built with the portable toolchain 'llvm': "
        "stack, data and code sizes are those of 32-bit RISC-V code, not Peano's"
    )
    assert "\n" not in warning.text
    assert "--toolchain=llvm" in warning.todo


def test_asked_for_by_name_nothing_is_said(pick):
    chain, said = pick(name="llvm")
    assert (chain.name, said) == ("llvm", ())


def test_peano_by_option_variable_and_path(pick, peano):
    for found in (
        pick(given={"--peano": str(peano)}),
        pick(env={"PEANO_INSTALL_DIR": str(peano)}),
        pick(path=str(peano / "bin")),
    ):
        chain, said = found
        assert (chain.name, chain.root, said) == ("peano", str(peano), ())


def test_a_host_llvm_is_no_peano(pick, tmp_path):
    program(tmp_path / "host" / "llc", "LLVM version 19\n    x86-64 - 64-bit X86")
    chain, _ = pick(path=str(tmp_path / "host"))
    assert chain.name == "llvm"


@pytest.mark.parametrize("option", ["--peano", "--aietools"])
def test_folders_that_do_not_exist(pick, tmp_path, option):
    gone = str(tmp_path / "gone")
    with pytest.raises(Refused) as caught:
        pick(given={option: gone})
    assert caught.value.diagnostics[0].text == f"aiecc: {option} directory does not exist: {gone}"
    assert pick(given={option: ""})[0].name == "llvm"  # an empty value means "discover"


def test_chess(pick, aietools):
    for options in ({"xchesscc": True}, {"xbridge": True}, {"name": "chess"}):
        chain, said = pick(given={"--aietools": str(aietools)}, **options)
        assert (chain.name, chain.root, said) == ("chess", str(aietools), ())
        assert chain.capabilities.bcf and not chain.capabilities.probe


def test_chess_from_path(pick, aietools):
    assert pick(path=str(aietools / "bin"), xchesscc=True)[0].root == str(aietools)


def test_no_aietools(pick):
    for options in ({"xchesscc": True}, {"xbridge": True, "xchesscc": False}, {"name": "chess"}):
        with pytest.raises(Refused) as caught:
            pick(**options)
        (diagnostic,) = caught.value.diagnostics
        assert diagnostic.text == NO_AIETOOLS
        assert diagnostic.text == "aiecc: --xchesscc/--xbridge require aietools; set --aietools or put xchesscc on PATH"
        assert diagnostic.code == "E0801"


def test_mixed(pick, aietools, peano):
    given = {"--aietools": str(aietools), "--peano": str(peano)}
    compiling, said = pick(given=given, xchesscc=True, xbridge=False)
    assert (compiling.name, said) == ("chess+peano", ())
    assert compiling.spec.recipes["link"][0].tools == ("clang",)
    assert "xchesscc_wrapper" in compiling.spec.recipes["compile_ir"][0].tools
    assert (compiling.capabilities.probe, compiling.capabilities.bcf) == (False, False)
    assert (compiling.capabilities.stack_sizes, compiling.capabilities.relocations) == (False, True)
    linking, _ = pick(given=given, xchesscc=False, xbridge=True)
    assert linking.name == "peano+chess"
    assert linking.spec.recipes["compile_ir"][0].tools == ("opt", "llc")
    assert linking.spec.recipes["link"][0].tools == ("xchesscc_wrapper",)
    assert (linking.capabilities.probe, linking.capabilities.bcf) == (False, True)
    assert not linking.capabilities.stack_banks
    assert linking.spec.words["aie2"]["aiearch"] == compiling.spec.words["aie2"]["aiearch"] == "aie2"
    assert len({compiling.fingerprint, linking.fingerprint}) == 2


def test_mixed_with_the_portable_one_says_so(pick, aietools):
    chain, said = pick(given={"--aietools": str(aietools)}, xchesscc=False, xbridge=True)
    assert chain.name == "llvm+chess"
    assert [d.code for d in said] == ["W0804"]


def test_contradiction(pick):
    with pytest.raises(Refused, match="--toolchain=peano and --xchesscc/--xbridge are mutually exclusive"):
        pick(name="peano", xchesscc=True)


def test_unknown_name(pick):
    with pytest.raises(Refused, match="unknown toolchain 'gcc'"):
        pick(name="gcc")


# -- the doctor --------------------------------------------------------------------------------------


def test_doctor(tmp_path, peano):
    broken = tmp_path / "broken.toml"
    broken.write_text("name = ")
    (peano / "bin" / "clang++").unlink()
    around = Surroundings({"--peano": str(peano)}, {"PATH": ""}, tmp_path / "prefix")
    rows = {r.name: r for r in doctor.doctor({**FILES, "broken": broken}, around, Versions(folder=tmp_path / "c"))}
    assert set(rows) == {"llvm", "peano", "chess", "broken"}
    assert rows["broken"].problem.startswith(f"toolchain file '{broken}': ")
    assert not rows["peano"].complete and rows["peano"].root == str(peano)
    tools = {t.name: t for t in rows["peano"].tools}
    assert tools["llc"].version == "21"
    assert tools["clang++"].path == ""
    assert tools["clang++"].searched == (str(peano / "bin" / "clang++"),)
    assert "llvm-aie" in tools["clang++"].get
    assert not rows["chess"].complete
    assert "$AIETOOLS_ROOT (not set)" in rows["chess"].searched
    text = doctor.report(tuple(rows.values()))
    assert "peano: incomplete - Peano" in text
    assert "  llc 21: " in text
    assert "  clang++: MISSING - compiles C++ kernels\n    looked in " in text
    assert "  to get it: install Vitis, then set AIETOOLS_ROOT" in text
    assert "broken: not usable" in text
    assert f"  problem: toolchain file '{broken}'" in text


def test_doctor_of_a_folder_that_does_not_exist(tmp_path):
    around = Surroundings({"--peano": str(tmp_path / "gone")}, {"PATH": ""}, tmp_path / "prefix")
    rows = {r.name: r for r in doctor.doctor(FILES, around, Versions(folder=tmp_path / "c"))}
    assert rows["peano"].problem == f"aiecc: --peano directory does not exist: {tmp_path / 'gone'}"


def test_doctor_warns_of_a_reader_older_than_its_writer(pick):
    chain, _ = pick(name="llvm")
    if chain.missing:
        pytest.skip("the portable toolchain is not installed")
    assert doctor._remarks(chain) == ()
    old = replace(chain, tools={**chain.tools, "clang": replace(chain.tools["clang"], version="19.1.0")})
    assert "may write IR that clang 19.1.0 cannot read" in doctor._remarks(old)[0]


@pytest.mark.tools
def test_the_portable_toolchain_is_complete_here(tmp_path):
    rows = {r.name: r for r in doctor.doctor(FILES, versions=Versions(folder=tmp_path / "c"))}
    assert rows["llvm"].complete
    assert all(t.version for t in rows["llvm"].tools if t.path)
