"""Toolchain files: what is read, and what every slip is answered."""

import os
from pathlib import Path

import pytest

from aiecc.base.diag import Refused
from aiecc.engine.codec import Codec
from aiecc.model.toolchain import Group, Toolchain, ToolchainSpec
from aiecc.tools import load

GOOD = """
name = "mine"
what = "a toolchain of mine"
include = ["headers"]
uses = ["headers"]
rename = [["llvm.x.", "__x_"]]
middle_level = 1

[capabilities]
probe = true

[root]
option = "--mine"
environment = ["MINE_DIR"]

[words.aie2]
triple = "t2"
[words.aie2p]
triple = "t2p"

[tools.cc]
what = "compiles"
version = ["--version"]
version_match = 'cc (\\S+)'
places = [{ root = "bin/cc" }, { path = ["cc", "gcc"], accept = "mine" }]

[tools.merge]
per_arch = true
places = [{ root = "{triple}/merge" }]

[flags]
common = ["-a", { when = "x", args = ["-x", "{x}"] }]
more = ["{*common}", "-b"]

[[recipe]]
job = "link"
[[recipe.step]]
tool = "cc"
args = [
  "{*more}", { when = "y", args = ["-y", "{*common}", "-z"] }, { each = "inputs", args = ["-i", "{it}"] }, "{output}",
]
"""


def write(folder: Path, text: str = GOOD, name: str = "mine") -> Path:
    (folder / "headers").mkdir(exist_ok=True)
    (folder / "headers" / "a.h").write_text("int a;\n")
    file = folder / f"{name}.toml"
    file.write_text(text)
    return file


def test_a_good_file(tmp_path):
    spec = load.load_file(write(tmp_path))
    assert (spec.name, spec.folder, spec.middle_level) == ("mine", str(tmp_path), 1)
    assert spec.rename == (("llvm.x.", "__x_"),)
    assert spec.capabilities.probe and not spec.capabilities.bcf
    assert spec.supports("aie2") and not spec.supports("aie")
    assert [(t.name, t.optional) for t in spec.tools] == [("cc", False), ("merge@aie2", True), ("merge@aie2p", True)]
    assert spec.spec("merge@aie2p").places[0].root == "t2p/merge"


def test_flags_are_spliced_in_order(tmp_path):
    (step,) = load.load_file(write(tmp_path)).recipes["link"][0].steps
    assert step.args == (
        "-a",
        Group(("-x", "{x}"), when="x"),
        "-b",
        Group(("-y", "-a"), when="y"),
        Group(("-x", "{x}"), when="y x"),
        Group(("-z",), when="y"),
        Group(("-i", "{it}"), each="inputs"),
        "{output}",
    )


def test_identity_is_that_of_content(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first, second = load.load_file(write(tmp_path / "a")), load.load_file(write(tmp_path / "b"))
    assert first.identity == second.identity
    (tmp_path / "b" / "headers" / "a.h").write_text("int b;\n")
    assert load.load_file(tmp_path / "b" / "mine.toml").identity != first.identity
    assert load.load_file(write(tmp_path / "b", GOOD + "# a word\n")).identity != first.identity


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('name = "mine"', "name = ", "Invalid value"),
        ('name = "mine"', 'name = "mine"\nnmae = "x"', "the file has an unknown key 'nmae'"),
        ("probe = true", "prob = true", "capabilities has an unknown key 'prob'"),
        ("probe = true", 'probe = "yes"', "capabilities.probe is true or false"),
        ('tool = "cc"', 'tool = "cd"', "recipe link uses tool 'cd', which [tools] does not have"),
        ('job = "link"', "", "a recipe has no job"),
        ("{*more}", "{*most}", "recipe link: there are no flags 'most'"),
        ('{ root = "bin/cc" }', '{ rot = "bin/cc" }', "a place of tools.cc has an unknown key 'rot'"),
        ('{ root = "bin/cc" }', '{ file = "bin/cc" }', "a place has one of root, wheel, path, environment, beside"),
        ('places = [{ root = "{triple}/merge" }]', "", "tools.merge says no places to look in"),
        ("cc (", "cc ((", "is no regular expression"),
        ('[["llvm.x.", "__x_"]]', '["llvm.x."]', "'rename' must be a list of strings"),
        ('[["llvm.x.", "__x_"]]', '[["llvm.x."]]', "'rename' has pairs"),
        ("middle_level = 1", 'middle_level = "1"', "'middle_level' must be a number"),
        ('triple = "t2"', "triple = 2", "'words.aie2' must be a table of strings"),
        ('each = "inputs", ', "", "a group has when, unless or each"),
        ('{ each = "inputs", args = ["-i", "{it}"] }', "3", "an argument is a string or"),
        ('uses = ["headers"]', 'uses = ["nothing"]', "uses 'nothing', which cannot be read"),
        ('include = ["headers"]', 'include = "headers"', "'include' must be a list of strings"),
        ("[root]", "[borrow]\nother = []\n[root]", "borrows from 'other', which is not there"),
        ("[root]", "[borrow]\nmine = []\n[root]", "borrows from 'mine', which borrows from it"),
    ],
)
def test_slips(tmp_path, old, new, message):
    assert GOOD.count(old) >= 1
    file = write(tmp_path, GOOD.replace(old, new, 1))
    with pytest.raises(Refused) as caught:
        load.load_file(file)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.text.startswith(f"toolchain file '{file}': ")
    assert message in diagnostic.text
    assert diagnostic.code == "E0803"


def test_a_syntax_error_has_a_place(tmp_path):
    file = write(tmp_path, 'name = "mine"\nwhat == 3\n')
    with pytest.raises(Refused) as caught:
        load.load_file(file)
    where = caught.value.diagnostics[0].where
    assert (where.file, where.line) == (str(file), 2)


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"name = '\xc3\x28'"])
def test_no_text(tmp_path, content):
    file = tmp_path / "mine.toml"
    file.write_bytes(content)
    with pytest.raises(Refused, match="is not UTF-8 text"):
        load.load_file(file)


def test_no_file(tmp_path):
    with pytest.raises(Refused, match="cannot be read"):
        load.load_file(tmp_path / "none.toml", {})


def test_the_first_folder_wins_and_the_current_one_is_not_searched(tmp_path, monkeypatch):
    given, listed, here = (tmp_path / n for n in ("given", "listed", "here"))
    for folder in (given, listed, here):
        folder.mkdir()
        (folder / f"{folder.name}.toml").write_text("")
        (folder / "mine.toml").write_text("")
    (here / "stray.toml").write_text("")
    monkeypatch.chdir(here)
    environ = {load.PATH_VARIABLE: os.pathsep.join([str(listed), ""])}
    where = load.folders([str(given)], environ)
    assert where == (given, listed, load.packaged_folder())
    plugin = tmp_path / "brought.toml"
    plugin.write_text("")
    files = load.available(where, [str(plugin)])
    assert files["mine"] == given / "mine.toml"
    assert files["brought"] == plugin
    assert {"llvm", "peano", "chess", "given", "listed"} <= set(files)
    assert "stray" not in files


def test_a_folder_that_does_not_exist(tmp_path):
    with pytest.raises(Refused, match="aiecc: toolchain directory does not exist: "):
        load.available(load.folders([str(tmp_path / "no")]))


def test_unknown_name():
    with pytest.raises(Refused, match=r"aiecc: unknown toolchain 'gcc'; known toolchains are: chess, llvm, peano$"):
        load.load("gcc", load.available(load.folders(environ={})))


@pytest.mark.parametrize("name", ["llvm", "peano", "chess"])
def test_ours(name):
    files = load.available(load.folders(environ={}))
    spec = load.load(name, files)
    assert spec.name == name
    assert spec.supports("aie") and spec.supports("aie2") and spec.supports("aie2p")
    assert all(Path(spec.folder, f).is_file() for f in (*spec.startup, *spec.runtime))
    assert {"mlir_opt", "translate", "compile_ir", "compile_source", "link"} <= set(spec.recipes)
    assert (load.include_folder() / "aie_bank_placement.h").is_file()


def test_a_toolchain_can_be_kept():
    """It is an artifact, so the engine's codec must take it and give it back."""
    codec = Codec(lambda digest, suffix: Path(digest + suffix))
    spec = load.load("chess", load.available(load.folders(environ={})))
    chain = Toolchain(spec, {})
    body, _ = codec.encode(chain, Toolchain)
    again = codec.decode(body, Toolchain)
    assert isinstance(again.spec, ToolchainSpec)
    assert again == chain
    assert again.fingerprint == chain.fingerprint
