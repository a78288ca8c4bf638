"""Finding programs: every kind of place, what was looked at, versions and their memory."""

import json
import os
import sys
from pathlib import Path

import pytest

from aiecc.base.diag import Refused, render
from aiecc.tools import find, load, versions
from aiecc.tools.find import Surroundings, explore, resolve
from aiecc.tools.versions import Versions, version_in

pytestmark = pytest.mark.skipif(os.name != "posix", reason="programs are scripts with a first line")

FILE = """
name = "mine"
what = "Mine"
get = "pip install mine"

[root]
option = "--mine"
environment = ["MINE_DIR", "MINE_OLD_DIR"]
beside = "mine"
wheels = ["aiecc_test_wheel"]
anchor = "minecc"
accept = "Mine"

[words.aie2]
triple = "t"

[tools.cc]
what = "compiles"
version = ["--version"]
version_match = 'version (\\S+)'
places = [{ root = "bin/cc", vars = { headers = "include", none = "nowhere" } }]

[tools.link]
optional = true
version = ["--version"]
places = [{ path = ["link-2", "link"], accept = "Mine" }, { environment = "LINK_HOME", file = "x/link" }]

[tools.words]
program = false
optional = true
get = "set WORDS"
places = [{ environment = "WORDS", file = "words.txt" }, { beside = "share", file = "words.txt" }]

[[recipe]]
job = "compile_ir"
[[recipe.step]]
tool = "link"
args = []
[[recipe]]
job = "compile_ir"
[[recipe.step]]
tool = "cc"
args = []
"""


def program(path: Path, says: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho x >> '{path}.runs'\necho '{says}'\n")
    path.chmod(0o755)
    return path


def runs(path: Path) -> int:
    record = Path(f"{path}.runs")
    return len(record.read_text().split()) if record.exists() else 0


@pytest.fixture
def spec(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(FILE)
    return load.load_file(file)


@pytest.fixture
def memory(tmp_path):
    return Versions(folder=tmp_path / "cache")


def around(tmp_path: Path, *, given: str = "", path: str = "", **environ: str) -> Surroundings:
    return Surroundings({"--mine": given}, {"PATH": path, **environ}, tmp_path / "prefix")


def test_nothing_there(tmp_path, spec, memory):
    chain = resolve(spec, around(tmp_path), memory)
    assert (chain.root, chain.tools, [t.name for t in chain.missing]) == ("", {}, ["cc"])
    with pytest.raises(Refused) as caught:
        chain.tool("cc")
    text = render(caught.value.diagnostics[0])
    assert text.startswith("error: aiecc: ShellCommand: tool 'cc' not found in search paths or PATH  [E0801]\n")
    assert "note: looked in $MINE_DIR (not set)\n" in text
    assert "note: looked in PATH (minecc)\n" in text
    assert text.endswith("todo: pip install mine")
    with pytest.raises(Refused) as caught:
        chain.tool("words")
    assert caught.value.diagnostics[0].todo == "set WORDS"


def test_the_option(tmp_path, spec, memory):
    program(tmp_path / "root" / "bin" / "cc", "Mine version 3.1 (x)")
    (tmp_path / "root" / "include").mkdir()
    chain = resolve(spec, around(tmp_path, given=str(tmp_path / "root")), memory)
    tool = chain.tool("cc")
    assert chain.root == str(tmp_path / "root")
    assert (tool.path, tool.version) == (str(tmp_path / "root" / "bin" / "cc"), "3.1")
    assert tool.vars == (("headers", str(tmp_path / "root" / "include")),)


def test_an_option_is_final(tmp_path, spec, memory):
    """No silent fall-through: neither to another place nor past a folder that is not there."""
    program(tmp_path / "other" / "bin" / "cc", "Mine version 1")
    (tmp_path / "empty").mkdir()
    chain = resolve(spec, around(tmp_path, given=str(tmp_path / "empty"), MINE_DIR=str(tmp_path / "other")), memory)
    assert chain.missing
    gone = tmp_path / "gone"
    with pytest.raises(Refused) as caught:
        resolve(spec, around(tmp_path, given=str(gone), MINE_DIR=str(tmp_path / "other")), memory)
    assert caught.value.diagnostics[0].text == f"aiecc: --mine directory does not exist: {gone}"


def test_order_of_roots(tmp_path, spec, memory, monkeypatch):
    """Variables, the wheel, aiecc's prefix, its parent, PATH: each is found once those before it are gone."""
    site = tmp_path / "site"
    places = {
        "MINE_DIR": tmp_path / "first",
        "MINE_OLD_DIR": tmp_path / "second",
        "wheel": site / "aiecc_test_wheel",
        "prefix": tmp_path / "prefix" / "mine",
        "parent": tmp_path / "mine",
        "path": tmp_path / "path",
    }
    for name, root in places.items():
        program(root / "bin" / "cc", f"Mine version {name}")
        program(root / "bin" / "minecc", "Mine")
    monkeypatch.syspath_prepend(str(site))
    environ = {n: str(places[n]) for n in ("MINE_DIR", "MINE_OLD_DIR")}
    found = []
    for name in places:
        surroundings = around(tmp_path, path=str(places["path"] / "bin"), **environ)
        found.append(resolve(spec, surroundings, memory).tool("cc").version)
        if name in environ:
            del environ[name]
        else:
            places[name].rename(tmp_path / f"was {name}")
            sys.path_importer_cache.clear()
    assert found == list(places)
    assert "aiecc_test_wheel" not in sys.modules


def test_a_folder_of_that_name_is_not_enough(tmp_path, spec, memory):
    """A project may well have a folder called `mine` beside its environment."""
    (tmp_path / "mine" / "bin").mkdir(parents=True)
    program(tmp_path / "real" / "bin" / "minecc", "Mine")
    chain = resolve(spec, around(tmp_path, path=str(tmp_path / "real" / "bin")), memory)
    assert chain.root == str(tmp_path / "real")


def test_a_variable_that_names_no_folder_is_told(tmp_path, spec, memory):
    chain = resolve(spec, around(tmp_path, MINE_DIR=str(tmp_path / "gone")), memory)
    looked = [(s.where, s.problem) for s in chain.searched if not s.tool]
    assert ("$MINE_DIR", f"{tmp_path / 'gone'} is no folder") in looked


def test_the_anchor_must_be_the_real_one(tmp_path, spec, memory):
    impostor = program(tmp_path / "host" / "bin" / "minecc", "gcc 12")
    program(tmp_path / "real" / "bin" / "minecc", "Mine")
    program(tmp_path / "real" / "bin" / "cc", "version 2")
    path = os.pathsep.join(str(tmp_path / d / "bin") for d in ("host", "real"))
    findings = explore(spec, around(tmp_path, path=path), memory)
    assert findings.toolchain.root == str(tmp_path / "real")
    assert any(s.problem == f"{impostor} is not Mine" for s in findings.searched)


def test_unwrapped_folder_lies_four_deep(tmp_path, spec, memory):
    program(tmp_path / "tools" / "bin" / "unwrapped" / "lnx64.o" / "minecc", "Mine")
    path = str(tmp_path / "tools" / "bin" / "unwrapped" / "lnx64.o")
    assert resolve(spec, around(tmp_path, path=path), memory).root == str(tmp_path / "tools")


def test_names_on_path(tmp_path, spec, memory):
    program(tmp_path / "a" / "link", "Mine link")
    wrong = program(tmp_path / "a" / "link-2", "GNU link")
    path = str(tmp_path / "a")
    findings = explore(spec, around(tmp_path, path=path), memory)
    assert findings.toolchain.tool("link").path == str(tmp_path / "a" / "link")
    assert any(s.problem == f"{wrong} says it is 'GNU link'" for s in findings.searched)


def test_the_current_folder_and_relative_entries_are_not_searched(tmp_path, spec, memory, monkeypatch):
    program(tmp_path / "link", "Mine link")
    program(tmp_path / "sub" / "link", "Mine link")
    monkeypatch.chdir(tmp_path)
    for path in ("", ".", "sub", f".{os.pathsep}sub{os.pathsep}"):
        assert "link" not in resolve(spec, around(tmp_path, path=path), memory).tools


def test_what_is_no_program_is_passed_over(tmp_path, spec, memory):
    (tmp_path / "a" / "link").mkdir(parents=True)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "link").write_text("not executable")
    path = os.pathsep.join([str(tmp_path / "a"), str(tmp_path / "b"), str(tmp_path / "none")])
    assert "link" not in resolve(spec, around(tmp_path, path=path), memory).tools


def test_files_by_variable_and_beside(tmp_path, spec, memory):
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / "words.txt").write_text("")
    chain = resolve(spec, around(tmp_path, WORDS=str(tmp_path / "w")), memory)
    assert chain.tool("words").path == str(tmp_path / "w" / "words.txt")
    (tmp_path / "share").mkdir()
    (tmp_path / "share" / "words.txt").write_text("")
    assert resolve(spec, around(tmp_path), memory).tool("words").path == str(tmp_path / "share" / "words.txt")


def test_the_first_recipe_that_can_be_done(tmp_path, spec, memory):
    program(tmp_path / "root" / "bin" / "cc", "Mine")
    chain = resolve(spec, around(tmp_path, given=str(tmp_path / "root")), memory)
    assert chain.recipe("compile_ir").tools == ("cc",)
    program(tmp_path / "a" / "link", "Mine")
    chain = resolve(spec, around(tmp_path, given=str(tmp_path / "root"), path=str(tmp_path / "a")), memory)
    assert chain.recipe("compile_ir").tools == ("link",)
    assert chain.can("compile_ir") and not chain.can("link")
    with pytest.raises(Refused, match="toolchain 'mine' cannot do 'link'"):
        chain.recipe("link")
    with pytest.raises(Refused, match="tool 'cc' not found"):
        resolve(spec, around(tmp_path), memory).recipe("compile_ir")


# -- versions ----------------------------------------------------------------------------------------


def test_a_warm_start_runs_nothing(tmp_path, spec):
    cc = program(tmp_path / "root" / "bin" / "cc", "version 5")
    surroundings = around(tmp_path, given=str(tmp_path / "root"))
    first = resolve(spec, surroundings, Versions(folder=tmp_path / "cache"))
    assert runs(cc) == 1
    second = resolve(spec, surroundings, Versions(folder=tmp_path / "cache"))
    assert runs(cc) == 1
    assert first == second
    assert first.fingerprint == second.fingerprint


def test_a_changed_program_is_asked_again(tmp_path, spec):
    cc = program(tmp_path / "root" / "bin" / "cc", "version 5")
    surroundings = around(tmp_path, given=str(tmp_path / "root"))
    first = resolve(spec, surroundings, Versions(folder=tmp_path / "cache"))
    program(cc, "version 6")
    os.utime(cc, ns=(1, 1))
    second = resolve(spec, surroundings, Versions(folder=tmp_path / "cache"))
    assert (second.tool("cc").version, runs(cc)) == ("6", 2)
    assert first.fingerprint != second.fingerprint


def test_a_link_is_followed(tmp_path, spec):
    cc = program(tmp_path / "store" / "cc-1", "version 1")
    (tmp_path / "root" / "bin").mkdir(parents=True)
    (tmp_path / "root" / "bin" / "cc").symlink_to(cc)
    tool = resolve(spec, around(tmp_path, given=str(tmp_path / "root")), Versions(folder=tmp_path / "c")).tool("cc")
    assert tool.path == str(tmp_path / "root" / "bin" / "cc")
    assert str(cc) in tool.identity


@pytest.mark.parametrize("content", [b"", b"\xff\xff", b"[]", b'{"a": 1}', b"{"])
def test_a_torn_memory_is_no_problem(tmp_path, spec, content):
    program(tmp_path / "root" / "bin" / "cc", "version 5")
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "versions.json").write_bytes(content)
    chain = resolve(spec, around(tmp_path, given=str(tmp_path / "root")), Versions(folder=tmp_path / "cache"))
    assert chain.tool("cc").version == "5"
    kept = json.loads((tmp_path / "cache" / "versions.json").read_text())
    assert list(kept.values()) == ["version 5\n"]
    assert [p.name for p in (tmp_path / "cache").iterdir()] == ["versions.json"]


def test_a_folder_that_cannot_be_written_to(tmp_path, spec):
    program(tmp_path / "root" / "bin" / "cc", "version 5")
    blocked = tmp_path / "file"
    blocked.write_text("")
    chain = resolve(spec, around(tmp_path, given=str(tmp_path / "root")), Versions(folder=blocked / "cache"))
    assert chain.tool("cc").version == "5"


def test_a_program_that_cannot_run_has_no_version(tmp_path, spec, memory):
    file = tmp_path / "root" / "bin" / "cc"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"\x7fELF garbage")
    file.chmod(0o755)
    assert resolve(spec, around(tmp_path, given=str(tmp_path / "root")), memory).tool("cc").version == ""


@pytest.mark.parametrize(
    ("said", "pattern", "version"),
    [
        ("clang version 22.1.8\nTarget: x", r"clang version (\S+)", "22.1.8"),
        ("LLD 22.1.8 (compatible)", r"LLD (\S+)", "22.1.8"),
        ("v7", "", "v7"),
        ("tool\nmore", r"version (\S+)", "tool"),
        ("", r"version (\S+)", ""),
        ("x 12 y", r"\d+", "12"),
    ],
)
def test_version_in(said, pattern, version):
    assert version_in(said, pattern) == version


def test_cache_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("AIECC_CACHE_DIR", str(tmp_path))
    assert versions.cache_folder() == tmp_path
    monkeypatch.delenv("AIECC_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    if sys.platform == "linux":
        assert versions.cache_folder() == tmp_path / "xdg" / "aiecc"


def test_no_package_is_imported():
    before = set(sys.modules)
    assert find._wheel_folders("ziglang")
    assert find._wheel_folders("no_such_package_of_ours") == []
    assert {m for m in set(sys.modules) - before if "zig" in m} == set()
