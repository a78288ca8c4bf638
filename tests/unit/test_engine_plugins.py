"""Plugins: found, loaded, blocked, wrapped around each other; and a clean word for each that cannot be used."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from engine_toy import KEYS, TEXT, Book, Ours, RoomId, Specs, Text, Toy, WordId

from aiecc.base.diag import Refused
from aiecc.engine.entrypoints import entry_points
from aiecc.engine.plugins import Plugins
from aiecc.engine.reads import content_digest
from aiecc.engine.run import Engine
from aiecc.engine.scope import Ambient
from aiecc.engine.spec import hookimpl, stage
from aiecc.engine.store import Store

LOUD = """
from aiecc.engine.spec import hookimpl

__version__ = "1.2"

@hookimpl(wrapper=True)
def aiecc_poster(room):
    result = yield
    return f"*{result}*"
"""


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def install(site: Path, dist: str, version: str, points: str, **modules: str) -> None:
    """What an installer leaves behind."""
    write(site / f"{dist}-{version}.dist-info/entry_points.txt", points)
    write(site / f"{dist}-{version}.dist-info/METADATA", f"Name: {dist}\nVersion: {version}\n")
    for name, text in modules.items():
        write(site / f"{name}.py", text)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder for installed distributions, the only one there is."""
    folder = tmp_path / "site"
    folder.mkdir()
    others = [p for p in sys.path if not p.endswith("site-packages")]
    before = set(sys.modules)
    monkeypatch.setattr(sys, "path", [str(folder), *others])
    yield folder
    for name in set(sys.modules) - before:
        if name.startswith(("loud", "broken", "plug", "aiecc_plugin_")):
            del sys.modules[name]


def load(*requests: str, strict: bool = True, specs: Any = Specs) -> Plugins:
    plugins = Plugins(requests)
    plugins.add_specs(specs)
    plugins.load([("toy", Ours())], version="0.1", strict=strict)
    plugins.check()
    return plugins


def statuses(plugins: Plugins) -> dict[str, str]:
    return {row.name: row.status for row in plugins.rows()}


def wall(plugins: Plugins, folder: Path) -> tuple[str, list[str]]:
    calls: list[str] = []
    words = {"calls": Ambient(lambda scope: calls.append), "run": Ambient(lambda scope: scope.log)}
    engine = Engine(plugins, Store(folder), KEYS, ambients=words, roots=("source",), jobs=1)
    build = engine.build(["wall"], {"source": Text(TEXT)})
    assert build.ok, build.diagnostics or build.bugs
    return build.get("wall"), calls


# Where plugins come from


def test_an_installed_plugin_is_found_loaded_and_shown(site: Path, tmp_path: Path) -> None:
    install(site, "loud_lib", "2.0.1", "[console_scripts]\nx = y:z\n[aiecc]\nloud = loudlib\n", loudlib=LOUD)
    plugins = load()
    rows = {row.name: row for row in plugins.rows()}
    assert (rows["loud"].version, rows["loud"].origin) == ("2.0.1", "loud-lib (entry point)")
    assert (rows["loud"].status, rows["loud"].hooks) == ("loaded", ("aiecc_poster",))
    assert (rows["toy"].version, rows["toy"].origin) == ("0.1", "aiecc")
    assert [(s.plugin, s.role) for s in plugins.line("aiecc_poster")] == [
        ("loud", "wrapper"),
        ("toy", "implementation"),
    ]
    assert wall(plugins, tmp_path / "s")[0].startswith("north: *APPLE! PEAR!*")


def test_a_blocked_plugin_is_not_even_imported(site: Path) -> None:
    install(site, "loud", "1", "[aiecc]\nloud = loudboom\n", loudboom="raise SystemExit('imported')")
    plugins = load("no:loud", "no:unheard")
    assert statuses(plugins) == {"loud": "blocked", "toy": "loaded", "unheard": "blocked"}
    assert "loudboom" not in sys.modules
    assert plugins.is_blocked("loud")


def test_ours_can_be_blocked_too(site: Path) -> None:
    plugins = load("no:toy")
    assert statuses(plugins) == {"toy": "blocked"}
    assert plugins.line("aiecc_poster") == ()


def test_a_module_and_a_file_can_be_asked_for(site: Path, tmp_path: Path) -> None:
    write(site / "loudmod.py", LOUD)
    file = write(tmp_path / "my plugins" / "hush.py", LOUD.replace("*{", "({").replace("}*", "})"))
    plugins = load("loudmod", str(file))
    rows = {row.name: row for row in plugins.rows()}
    assert (rows["loudmod"].version, rows["loudmod"].origin) == ("1.2", "-p loudmod")
    assert rows["hush"].origin == str(file)
    assert wall(plugins, tmp_path / "s")[0].startswith("north: (*APPLE! PEAR!*)")
    assert statuses(load("loudmod", "loudmod"))["loudmod"] == "loaded"


def test_an_installed_plugin_asked_for_by_name_is_loaded_once(site: Path) -> None:
    install(site, "loud", "1", "[aiecc]\nloud = loudmod2\n", loudmod2=LOUD)
    assert statuses(load("loud"))["loud"] == "loaded"
    assert [s.plugin for s in load("loudmod2").line("aiecc_poster")] == ["loud", "toy"]


def test_an_entry_point_may_name_an_object(site: Path) -> None:
    text = (
        "from aiecc.engine.spec import hookimpl\nclass P:\n  @hookimpl\n  def aiecc_poster(self): pass\nthing = P()\n"
    )
    install(site, "plug", "1", "[ aiecc ]\nplug = plugobj : thing\n", plugobj=text)
    assert [s.plugin for s in load().line("aiecc_poster")] == ["plug", "toy"]


def test_nothing_in_the_current_folder_runs_unasked(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    write(here / "evil.egg-info/entry_points.txt", "[aiecc]\nevil = evilmod\n")
    write(here / "evilmod.py", "raise SystemExit('ran')")
    monkeypatch.chdir(here)
    monkeypatch.setattr(sys, "path", ["", str(here), *sys.path])
    assert statuses(load()) == {"toy": "loaded"}


def test_of_a_distribution_found_twice_the_first_counts(tmp_path: Path) -> None:
    for folder, version in (("a", "1"), ("b", "2")):
        install(tmp_path / folder, "My_Dist", version, f"[aiecc]\nx = m{version}\n# y = z\n[other]\nq = r\n")
    path = [str(tmp_path / "a"), str(tmp_path / "missing"), str(tmp_path / "b")]
    assert entry_points("aiecc", path) == [("x", "m1", "my-dist", "1")]


def test_one_plugin_is_found_in_a_large_environment(tmp_path: Path) -> None:
    for i in range(400):
        install(tmp_path, f"dist{i}", "1", "[console_scripts]\na = b:c\n")
    install(tmp_path, "zz", "1", "[aiecc]\nzz = zz [extra]\n")
    assert entry_points("aiecc", [str(tmp_path)]) == [("zz", "zz", "zz", "1")]


# Who is asked


def test_who_is_asked_first() -> None:
    class First:
        @hookimpl
        def aiecc_poster(self, room: RoomId) -> str | None:
            return "first" if room.name == "north" else None

    class Last:
        @hookimpl(trylast=True)
        def aiecc_poster(self) -> str:
            return "last"

    plugins = Plugins()
    plugins.add_specs(Specs)
    plugins.load([("toy", Ours())], builtin=[("last", Last()), ("first", First())], installed=False)
    line = plugins.line("aiecc_poster")
    assert [(s.plugin, s.role) for s in line] == [
        ("first", "implementation"),
        ("last", "fallback"),
        ("toy", "fallback"),  # ours come last, even after one that wants to
    ]
    assert line[0].function.endswith("First.aiecc_poster")
    assert plugins.hook.aiecc_poster(room=RoomId("north"), shout={}, calls=None, memo=None) == "first"
    assert plugins.hook.aiecc_poster(room=RoomId("south"), shout={}, calls=None, memo=None) == "last"


def test_ours_cannot_push_in_front() -> None:
    class Pushy(Ours):
        @hookimpl(tryfirst=True)
        def aiecc_poster(self) -> str:  # type: ignore[override]
            return "ours"

    class Theirs:
        @hookimpl
        def aiecc_poster(self) -> str:
            return "theirs"

    plugins = Plugins()
    plugins.add_specs(Specs)
    plugins.load([("toy", Pushy())], builtin=[("theirs", Theirs())], installed=False)
    assert plugins.hook.aiecc_poster(room=None, shout={}, calls=None, memo=None) == "theirs"


def test_a_wrapper_counts_for_the_cache_and_so_does_its_leaving(site: Path, tmp_path: Path) -> None:
    file = write(tmp_path / "loudfile.py", LOUD)
    plain, _ = wall(load(), tmp_path / "s")
    loud, calls = wall(load(str(file)), tmp_path / "s")
    assert calls == ["poster north", "poster south", "wall"]
    assert loud != plain
    assert wall(load(), tmp_path / "s") == (plain, [])
    assert wall(load(str(file)), tmp_path / "s") == (loud, [])


def test_a_changed_plugin_is_a_reason(tmp_path: Path) -> None:
    def build(text: str, folder: str) -> Any:
        file = write(tmp_path / folder / "louder.py", text)
        toy = Toy(tmp_path / "s", requests=(str(file),))
        return toy.build(TEXT)

    Toy(tmp_path / "s").build(TEXT)

    def why(built: Any) -> str:
        return next(o.reason for o in built.outcomes if o.address == "north/poster")

    assert why(build(LOUD, "a")) == "plugin louder (wrapper) is new"
    assert why(build(LOUD + "# edited\n", "b")) == "plugin louder (wrapper) changed"
    assert why(build(LOUD + "# edited\n", "c")) == ""  # the same content elsewhere

    class Quiet:
        @hookimpl(wrapper=True)
        def aiecc_poster(self) -> Any:
            return (yield)

    assert why(Toy(tmp_path / "s", Quiet()).build(TEXT)) == (
        "plugin Quiet (wrapper) is new, plugin louder (wrapper) is gone"
    )


def test_a_plugin_that_replaces_ours(tmp_path: Path) -> None:
    class Square:
        @hookimpl
        def aiecc_measure(self, word: WordId) -> int:
            return 100

    toy = Toy(tmp_path, Square())
    assert toy.build(TEXT).get("wall").endswith("longest 100")
    assert not [c for c in toy.calls if c.startswith("measure")]


def test_a_plugin_that_adds_a_stage(site: Path, tmp_path: Path) -> None:
    text = (
        "from aiecc.engine.spec import hookimpl, stage\n"
        "from engine_toy import Book\n"
        "class Specs:\n"
        "    @stage(gives='index')\n"
        "    def aiecc_index(self, book: Book, wall: str) -> str: 'List the rooms.'\n"
        "@hookimpl\n"
        "def aiecc_index(book, wall): return ' '.join(name for name, _ in book.rooms)\n"
    )
    plugins = Plugins([str(write(tmp_path / "plugindex.py", text))])
    plugins.add_specs(Specs)
    plugins.load([("toy", Ours())])
    with pytest.raises(Refused, match="plugin 'plugindex' implements the hook aiecc_index, which does not exist"):
        plugins.check()
    module = next(m for n, m in sys.modules.items() if n.startswith("aiecc_plugin_plugindex"))
    plugins.add_specs(module.Specs, by="plugindex")
    plugins.check()
    words = {"calls": Ambient(lambda scope: str), "run": Ambient(lambda scope: scope.log)}
    engine = Engine(plugins, Store(tmp_path / "s"), KEYS, ambients=words, roots=("source",))
    assert engine.build(["index"], {"source": Text(TEXT)}).get("index") == "north south"
    assert list(engine.graph.nodes)[-1] == "index"
    with pytest.raises(Refused, match="plugin 'other' declares the hook aiecc_index, which exists already"):
        plugins.add_specs(module.Specs, by="other")
    with pytest.raises(Refused, match="plugin 'other' adds stages from int, but there is none"):
        plugins.add_specs(int, by="other")


# What cannot be used


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("import nowhere_to_be_found\n", "ModuleNotFoundError: No module named 'nowhere_to_be_found'"),
        ("def f(:\n", "SyntaxError: invalid syntax"),
        ("1 / 0\n", "ZeroDivisionError: division by zero"),
        ("raise SystemExit(3)\n", "SystemExit: 3"),
    ],
)
def test_a_plugin_that_does_not_import_is_refused_with_the_way_out(
    site: Path, tmp_path: Path, text: str, words: str
) -> None:
    install(site, "broken", "3", "[aiecc]\nbroken = brokenmod\n", brokenmod=text)
    with pytest.raises(Refused) as caught:
        load()
    (problem,) = caught.value.diagnostics
    assert problem.code == "E0902"
    assert problem.text.startswith(f"plugin 'broken' cannot be loaded: {words}")
    assert problem.todo == "repair or update it, or leave it out with -p no:broken"
    assert [n.text for n in problem.notes] == [
        "it comes from broken (entry point)",
        f"at {site / 'brokenmod.py'}:1",
    ]
    assert statuses(load("no:broken"))["broken"] == "blocked"
    plugins = load(strict=False)
    assert statuses(plugins) == {"broken": "failed", "toy": "loaded"}
    assert words in plugins.rows()[0].why


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("brokenmissing", "No module named 'brokenmissing'"),
        ("brokenempty:thing", "has no attribute 'thing'"),
        ("", "Empty module name"),
    ],
)
def test_an_entry_point_that_leads_nowhere(site: Path, value: str, words: str) -> None:
    install(site, "broken", "3", f"[aiecc]\nbroken = {value}\n", brokenempty="")
    with pytest.raises(Refused, match="plugin 'broken' cannot be loaded") as caught:
        load()
    assert words in caught.value.diagnostics[0].text


def test_requests_that_lead_nowhere(site: Path, tmp_path: Path) -> None:
    with pytest.raises(Refused, match="plugin 'nosuch' cannot be loaded: FileNotFoundError: there is no file"):
        load(str(tmp_path / "nosuch.py"))
    with pytest.raises(Refused, match="plugin 'no_such_module' cannot be loaded"):
        load("no_such_module")
    broken = write(tmp_path / "broken1.py", "x = (\n")
    with pytest.raises(Refused) as caught:
        load(str(broken))
    assert caught.value.diagnostics[0].notes[-1].text == f"at {broken}:1"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "@hookimpl\ndef aiecc_postr(): pass\n",
            "the hook aiecc_postr, which does not exist; did you mean 'aiecc_poster'?",
        ),
        (
            "@hookimpl(specname='aiecc_wal')\ndef hang(): pass\n",
            "the hook aiecc_wal, which does not exist; did you mean",
        ),
        ("def aiecc_poster(): pass\n", "plugin 'plug': aiecc_poster is not marked as a hook implementation"),
        (
            "@hookimpl\ndef aiecc_poster(rooom): pass\n",
            "aiecc_poster takes 'rooom', which that hook does not offer; did you mean 'room'?",
        ),
        ("@hookimpl(wrapper=True)\ndef aiecc_poster(): return 1\n", "function is not a generator function"),
    ],
)
def test_a_plugin_with_wrong_hooks(site: Path, tmp_path: Path, text: str, words: str) -> None:
    file = write(tmp_path / "plug.py", "from aiecc.engine.spec import hookimpl\n" + text)
    with pytest.raises(Refused) as caught:
        load(str(file))
    (problem,) = caught.value.diagnostics
    assert problem.code == "E0902"
    assert words in problem.text
    assert "plug" in problem.text


def test_what_only_looks_like_a_hook_is_left_alone(site: Path, tmp_path: Path) -> None:
    text = (
        "from engine_toy import Specs\n"
        "from aiecc.engine.spec import hookimpl\n"
        "aiecc_level = 3\n"
        "class aiecc_class: pass\n"
        "aiecc_wall = Specs.aiecc_wall\n"
        "@hookimpl(optionalhook=True)\n"
        "def aiecc_of_another_version(): pass\n"
        "@hookimpl(specname='aiecc_poster')\n"
        "def paint(room): return None\n"
    )
    plugins = load(str(write(tmp_path / "plugodd.py", text)))
    assert plugins.rows()[0].hooks == ("aiecc_of_another_version", "aiecc_poster")


def test_two_plugins_of_one_name(site: Path) -> None:
    install(site, "one", "1", "[aiecc]\nplug = plugone\n", plugone=LOUD)
    install(site, "two", "1", "[aiecc]\nplug = plugtwo\n", plugtwo=LOUD)
    with pytest.raises(Refused, match=r"two plugins are named 'plug': one \(entry point\) and two \(entry point\)"):
        load()


def test_a_plugin_class_is_named_by_its_sources(tmp_path: Path) -> None:
    """Two standers of one source differ by function; the same one twice does not."""

    class A:
        @hookimpl
        def aiecc_poster(self) -> str:
            return "a"

    class B:
        @hookimpl
        def aiecc_poster(self) -> str:
            return "b"

    def digest_of(plugin: Any) -> str:
        plugins = Plugins()
        plugins.add_specs(Specs)
        plugins.load([], builtin=[("p", plugin)], installed=False)
        return plugins.line("aiecc_poster")[0].digest

    assert digest_of(A()) != digest_of(B())
    assert digest_of(A()) == digest_of(A())


def test_the_sources_of_plugins_can_be_watched(site: Path, tmp_path: Path) -> None:
    write(site / "plugpack/__init__.py", "")
    write(site / "plugpack/helper.py", "X = 1\n")
    write(site / "plugpack/__pycache__/x.pyc", "")
    write(site / "plugpack/hooks.py", LOUD)
    file = write(tmp_path / "plugfile.py", LOUD)
    plugins = load("plugpack.hooks", str(file))
    reads = {read.path: read.state for read in plugins.reads()}
    assert set(reads) >= {str(site / "plugpack" / name) for name in ("__init__.py", "helper.py", "hooks.py")} | {
        str(file)
    }
    assert not [path for path in reads if path.endswith(".pyc") or "/aiecc/" in path]
    assert reads[str(file)] == content_digest(LOUD.encode())


def test_specifications_keep_the_order_of_their_page() -> None:
    class Page:
        @stage(gives="zebra")
        def aiecc_z(self, source: Text) -> Book: ...

        @stage(gives="ant")
        def aiecc_a(self, source: Text) -> Book: ...

    plugins = Plugins()
    plugins.add_specs(Page)
    assert [c.gives for c in plugins.stages(())] == ["zebra", "ant"]
    assert plugins.hooks() == ("aiecc_z", "aiecc_a")
