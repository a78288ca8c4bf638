"""Building: what runs, what is known already, what is said, and what happens when something goes wrong."""

from __future__ import annotations

import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest
from engine_toy import TEXT, WALL, Book, Item, Ours, RoomId, Shout, ShoutOptions, Specs, Text, Toy, WordId
from hypothesis import given, settings
from hypothesis import strategies as st

from aiecc.base.blob import Blob
from aiecc.base.diag import Level, Refused, Sink, refuse
from aiecc.engine.build import State
from aiecc.engine.reads import Files
from aiecc.engine.run import Event
from aiecc.engine.scope import Ambient, Memo
from aiecc.engine.spec import hookimpl, stage
from aiecc.engine.store import Store

NORTH, SOUTH = RoomId("north"), RoomId("south")
APPLE, PEAR, FIG = WordId("north", "apple"), WordId("north", "pear"), WordId("south", "fig")
EVERYTHING = [
    "parse",
    "split",
    *(f"shout {w}" for w in (APPLE, PEAR, FIG)),
    *(f"measure {w}" for w in (APPLE, PEAR, FIG)),
    "poster north",
    "poster south",
    "wall",
]


def reasons(build: Any) -> dict[str, str]:
    return {o.address: o.reason for o in build.outcomes if o.state is State.RAN}


# What runs, and what does not


def test_a_first_build_runs_everything_once_and_a_second_nothing(tmp_path: Path) -> None:
    toy = Toy(tmp_path)
    first = toy.build(TEXT)
    assert first.ok
    assert first.get("wall") == WALL
    assert toy.calls == EVERYTHING
    assert set(reasons(first).values()) == {"first build"}
    again = Toy(tmp_path)
    second = again.build(TEXT)
    assert again.calls == []
    assert second.get("wall") == WALL
    assert {o.state for o in second.outcomes} == {State.HIT}
    assert second.get("shout", APPLE) == first.get("shout", APPLE)
    assert second.items("shout") == first.items("shout")
    assert list(second.items("shout")) == [APPLE, PEAR, FIG]
    assert second.digest("wall") == first.digest("wall")


def test_a_change_goes_only_where_it_matters(tmp_path: Path) -> None:
    toy = Toy(tmp_path)
    toy.build(TEXT)
    build = toy.build(TEXT.replace("fig", "date"))
    date = WordId("south", "date")
    assert toy.calls == ["parse", "split", f"shout {date}", f"measure {date}", "poster south", "wall"]
    assert reasons(build)["book"] == "source changed"
    assert reasons(build)["south_date/shout"] == "first build"
    assert build.get("wall").splitlines()[1] == "south: DATE!"


def test_an_equal_product_stops_the_wave(tmp_path: Path) -> None:
    toy = Toy(tmp_path)
    toy.build(TEXT)
    build = toy.build("# a comment\n" + TEXT)
    assert toy.calls == ["parse"]
    assert build.get("wall") == WALL


def test_members_come_in_their_order_and_the_order_counts(tmp_path: Path) -> None:
    toy = Toy(tmp_path)
    toy.build("north: apple pear\n")
    assert toy.build("north: pear apple\n").get("poster", NORTH) == "PEAR! APPLE!"
    assert toy.calls == ["parse", "split", "poster north", "wall"]


def test_switching_back_finds_the_old_products(tmp_path: Path) -> None:
    toy = Toy(tmp_path)
    first = toy.build(TEXT)
    toy.build(TEXT.replace("fig", "date"))
    again = toy.build(TEXT)
    assert toy.calls == []
    assert again.digest("wall") == first.digest("wall")


def test_only_what_is_asked_for_is_made(tmp_path: Path) -> None:
    toy = Toy(tmp_path)
    build = toy.build(TEXT, "measure", only=lambda kind, key: key == FIG)
    assert toy.calls == ["parse", "split", f"shout {FIG}", f"measure {FIG}"]
    assert build.items("measure") == {FIG: 4}
    assert build.get("wall") is None
    assert toy.build(TEXT, "book").get("book") == Book((("north", ("apple", "pear")), ("south", ("fig",))))
    assert toy.build(TEXT, "source").get("source") == Text(TEXT)


def test_options_count_for_the_stages_that_take_them(tmp_path: Path) -> None:
    Toy(tmp_path).build(TEXT)
    toy = Toy(tmp_path, options=(ShoutOptions(marks=2),))
    build = toy.build(TEXT)
    assert build.get("poster", SOUTH) == "FIG!!"
    assert "parse" not in toy.calls
    assert "split" not in toy.calls
    assert reasons(build)["south_fig/shout"] == "options ShoutOptions changed (marks: 1 -> 2)"
    assert Toy(tmp_path, options=(ShoutOptions(marks=1),)).build(TEXT).get("wall") == WALL


def test_keys_that_print_alike_are_told_apart(tmp_path: Path) -> None:
    class More:
        @stage(gives="thing", spread="word")
        def aiecc_thing(self, book: Book) -> dict[WordId, int]: ...

        @stage(gives="own")
        def aiecc_own(self, word: WordId, thing: int) -> str: ...

        @stage(gives="all")
        def aiecc_all(self, thing: dict[WordId, int]) -> str: ...

    class Plugin:
        @hookimpl
        def aiecc_thing(self, book: Book) -> dict[WordId, int]:
            return {WordId(room, word): 1 for room, words in book.rooms for word in words}

        @hookimpl
        def aiecc_own(self, word: WordId) -> str:
            return f"{word.room}|{word.name}"

        @hookimpl
        def aiecc_all(self, thing: dict[WordId, int]) -> str:
            return " ".join(f"{word.room}|{word.name}" for word in thing)

    toy = Toy(tmp_path, Plugin(), specs=(More,))
    for text, expected in (("a_b: c", "a_b|c"), ("a: b_c", "a|b_c")):
        build = toy.build(text, "own", "all")
        assert list(build.items("own").values()) == [expected]
        assert build.get("all") == expected


def test_outcomes_follow_the_order_of_stages_whatever_was_made_first(tmp_path: Path) -> None:
    class More:
        @stage(gives="second")
        def aiecc_second(self, source: Text) -> int: ...

        @stage(gives="third")
        def aiecc_third(self, second: int, poster: dict[RoomId, str]) -> int: ...

    class Plugin:
        @hookimpl
        def aiecc_second(self) -> int:
            return 2

        @hookimpl
        def aiecc_third(self) -> int:
            return 3

    build = Toy(tmp_path, Plugin(), before=(More,)).build("north: a", "third")
    assert [o.address for o in build.outcomes] == ["second", "book", "item", "north_a/shout", "north/poster", "third"]


def test_unknown_artifacts_and_missing_roots(tmp_path: Path) -> None:
    toy = Toy(tmp_path)
    with pytest.raises(Refused, match="did you mean 'wall'"):
        toy.build(TEXT, "wal")
    with pytest.raises(ValueError, match="no value for source"):
        toy.engine.build(["wall"])


def test_a_design_without_keys_is_built(tmp_path: Path) -> None:
    build = Toy(tmp_path).build("north:\n")
    assert build.get("wall") == "north: \nlongest 0"


def test_volatile_stages_run_each_time_and_still_stop_the_wave(tmp_path: Path) -> None:
    class More:
        @stage(gives="weather", volatile=True)
        def aiecc_weather(self, calls: Any) -> str: ...

        @stage(gives="news")
        def aiecc_news(self, weather: str, calls: Any) -> str: ...

    class Weather:
        now = "rain"

        @hookimpl
        def aiecc_weather(self, calls: Any) -> str:
            calls("weather")
            return self.now

        @hookimpl
        def aiecc_news(self, weather: str, calls: Any) -> str:
            calls("news")
            return f"it is {weather}"

    plugin = Weather()
    toy = Toy(tmp_path, plugin, specs=(More,))
    toy.build(TEXT, "news")
    assert toy.calls == ["weather", "news"]
    build = toy.build(TEXT, "news")
    assert toy.calls == ["weather"]
    assert reasons(build) == {"weather": "it runs in every build"}
    plugin.now = "sun"
    assert toy.build(TEXT, "news").get("news") == "it is sun"


# Files


def test_files_read_are_discovered_and_compared_by_content(tmp_path: Path) -> None:
    ours = Ours()
    ours.dictionary = tmp_path / "words.txt"
    toy = Toy(tmp_path / "s", ours=ours)
    toy.build(TEXT)
    toy.build(TEXT)
    assert toy.calls == []
    ours.dictionary.write_text("fig=kiwi")
    build = toy.build(TEXT)
    assert build.get("poster", SOUTH) == "KIWI!"
    assert f"shout {APPLE}" in toy.calls
    assert "poster north" not in toy.calls  # apple and pear came out the same
    assert reasons(build)["south_fig/shout"] == f"{ours.dictionary} appeared"
    assert (str(ours.dictionary), "kind", "f") in build.reads
    ours.dictionary.write_text("fig=kiwi")  # a new time stamp, the same content
    toy.build(TEXT)
    assert toy.calls == []
    ours.dictionary.write_text("fig=plum")
    assert reasons(toy.build(TEXT))["south_fig/shout"] == f"{ours.dictionary} changed"
    ours.dictionary.unlink()
    toy.build(TEXT)
    assert toy.calls == []


def test_a_file_changed_during_the_build_is_not_believed_later(tmp_path: Path) -> None:
    kernel = tmp_path / "kernel.c"
    kernel.write_text("one")

    class Tool:
        @hookimpl
        def aiecc_shout(self, word: WordId, files: Files, store: Store, calls: Any) -> Shout:
            calls(f"tool {word}")
            text = kernel.read_text()
            if text == "one":
                kernel.write_text("two")  # the user saves it while the tool runs
            files.used(kernel)
            return Shout(text, store.put(text))

    toy = Toy(tmp_path / "s", Tool())
    first = toy.build("south: fig", "shout")
    assert first.unsteady
    assert first.get("shout", FIG).text == "one"
    second = toy.build("south: fig", "shout")
    assert toy.calls == [f"tool {FIG}"]
    assert not second.unsteady
    assert second.get("shout", FIG).text == "two"
    toy.build("south: fig", "shout")
    assert toy.calls == []


# What is said


def test_diagnostics_and_commands_are_replayed_in_order(tmp_path: Path) -> None:
    text = "north: oddb odda\nsouth: oddc\n"
    first = Toy(tmp_path).build(text)
    said = [d.text for d in first.diagnostics]
    assert said == [f"{w} is an odd word" for w in ("north_oddb", "north_odda", "south_oddc")]
    assert first.commands == ("shout oddb", "shout odda", "shout oddc")
    toy = Toy(tmp_path)
    second = toy.build(text)
    assert toy.calls == []
    assert second.diagnostics == first.diagnostics
    assert second.commands == first.commands
    assert all(d.level is Level.WARNING for d in second.diagnostics)


def test_order_of_finish_does_not_matter(tmp_path: Path) -> None:
    class Slow:
        @hookimpl(wrapper=True)
        def aiecc_shout(self, word: WordId) -> Any:
            result = yield
            time.sleep(0.05 if word.name == "odd1" else 0.0)
            return result

    text = "north: odd1 odd2 odd3 odd4\n"
    many = Toy(tmp_path / "a", Slow(), jobs=4).build(text)
    one = Toy(tmp_path / "b", Slow(), jobs=1).build(text)
    assert [d.text for d in many.diagnostics] == [d.text for d in one.diagnostics]
    assert many.commands == one.commands
    assert [o.address for o in many.outcomes] == [o.address for o in one.outcomes]
    assert many.digest("wall") == one.digest("wall")


def test_events_tell_the_progress(tmp_path: Path) -> None:
    events: list[Event] = []
    Toy(tmp_path, on_event=events.append).build(TEXT)
    assert [e.address for e in events if e.kind == "start"] == [e.address for e in events if e.kind == "ran"]
    last = events[-1]
    assert (last.kind, last.address, last.stage, last.done, last.total, last.running) == (
        "ran",
        "wall",
        "wall",
        11,
        11,
        (),
    )
    assert last.seconds > 0
    assert [e for e in events if e.kind == "start"][-1].running == ("wall",)
    events.clear()
    Toy(tmp_path, on_event=events.append).build(TEXT)
    assert {e.kind for e in events} == {"hit"}
    assert [e.done for e in events] == list(range(1, 12))


# What goes wrong


def test_a_failure_stops_its_takers_and_nobody_else(tmp_path: Path) -> None:
    toy = Toy(tmp_path)
    build = toy.build("north: bad1 apple bad2\nsouth: fig\n")
    assert not build.ok
    assert [d.text for d in build.diagnostics] == ["north_bad1 is a bad word", "north_bad2 is a bad word"]
    states = {o.address: o.state for o in build.outcomes}
    assert states["north_bad1/shout"] is State.FAILED
    assert states["north_bad1/measure"] is State.BLOCKED
    assert states["north_apple/measure"] is State.RAN
    assert states["north/poster"] is State.BLOCKED
    assert states["south/poster"] is State.RAN
    assert states["wall"] is State.BLOCKED
    assert build.get("poster", SOUTH) == "FIG!"
    again = toy.build("north: bad1 apple bad2\nsouth: fig\n")
    assert toy.calls == ["shout north_bad1", "shout north_bad2"]  # failures are not kept
    assert again.diagnostics == build.diagnostics
    failed = next(o for o in again.outcomes if o.address == "north_bad1/shout")
    assert failed.reason == "it failed last time"


def test_a_refusal_is_a_failure_and_keeps_what_was_said_before(tmp_path: Path) -> None:
    class Strict:
        @hookimpl
        def aiecc_measure(self, word: WordId, diag: Sink) -> int:
            diag.warning(f"look at {word}")
            if word == APPLE:
                refuse("no apples", todo="eat pears")
            if word == PEAR:
                raise Refused
            return 1

    build = Toy(tmp_path, Strict()).build(TEXT, "measure")
    assert [d.text for d in build.diagnostics] == [
        "look at north_apple",
        "no apples",
        "look at north_pear",
        "stage measure refused without saying why",
        "look at south_fig",
    ]
    assert build.items("measure") == {FIG: 1}


def test_the_value_of_a_failed_check_can_still_be_shown(tmp_path: Path) -> None:
    class Check:
        @hookimpl
        def aiecc_measure(self, word: WordId, diag: Sink) -> int:
            diag.error("too long")
            return 99

    build = Toy(tmp_path, Check()).build("south: fig", "wall")
    assert build.get("measure", FIG) == 99
    assert build.get("wall") is None
    assert not build.ok
    assert [d.text for d in build.diagnostics] == ["too long"]


def test_when_the_keys_cannot_be_known_the_build_ends_there(tmp_path: Path) -> None:
    build = Toy(tmp_path).build("")
    assert not build.ok
    assert [(o.address, o.state) for o in build.outcomes] == [("book", State.FAILED)]
    assert [d.text for d in build.diagnostics] == ["an empty text"]


def test_a_bug_is_a_value_that_names_the_plugin(tmp_path: Path) -> None:
    build = Toy(tmp_path).build("north: crash\nsouth: fig\n")
    (bug,) = build.bugs
    assert (bug.address, bug.stage, bug.plugin, bug.line) == ("north_crash/shout", "aiecc_shout", "toy", ("toy",))
    assert bug.text == "ZeroDivisionError: crash"
    assert "engine_toy.py" in bug.traceback
    assert "task.py" not in bug.traceback
    assert not build.ok
    assert "wall" not in {o.address for o in build.outcomes if o.state is State.RAN}


def test_a_bug_of_a_wrapper_is_told_from_one_of_what_it_wraps(tmp_path: Path) -> None:
    class Wrapper:
        @hookimpl(wrapper=True)
        def aiecc_shout(self, word: WordId) -> Any:
            result = yield
            if word == FIG:
                raise KeyError("fig")
            return result

    build = Toy(tmp_path, Wrapper(), jobs=1).build("south: fig\n")
    assert [bug.plugin for bug in build.bugs] == ["Wrapper"]
    assert build.bugs[0].line == ("Wrapper", "toy")
    build = Toy(tmp_path, Wrapper(), jobs=1).build("south: crash\n")
    assert [bug.plugin for bug in build.bugs] == ["toy"]


def test_after_a_bug_nothing_new_is_started_but_what_runs_may_end(tmp_path: Path) -> None:
    gate = threading.Event()

    class Mixed:
        @hookimpl
        def aiecc_shout(self, word: WordId, store: Store) -> Shout:
            if word.name == "a":
                gate.wait(10)
                time.sleep(0.1)
            elif word.name == "b":
                gate.set()
                raise SystemExit(3)
            return Shout(word.name, store.put(word.name))

    build = Toy(tmp_path, Mixed(), jobs=2).build("north: a b c d\n", "shout")
    states = {o.address: o.state for o in build.outcomes}
    assert states["north_a/shout"] is State.RAN
    assert states["north_b/shout"] is State.BUG
    assert states["north_c/shout"] is State.STOPPED
    assert build.bugs[0].text == "SystemExit: 3"


@pytest.mark.parametrize("value", ["text", 3, [Item("x")], {"a": Item("x")}])
def test_a_product_of_the_wrong_type_is_a_bug_of_the_plugin(tmp_path: Path, value: Any) -> None:
    class Wrong:
        @hookimpl
        def aiecc_split(self) -> Any:
            return value

    build = Toy(tmp_path, Wrong()).build(TEXT)
    (bug,) = build.bugs
    assert bug.stage == "aiecc_split"
    assert "the product of stage split is not what its contract says" in bug.text


def test_a_product_that_does_not_survive_is_found_by_the_check(tmp_path: Path) -> None:
    class Wrong:
        @hookimpl
        def aiecc_parse(self) -> Any:
            return Book([("north", ("a",))])  # type: ignore[arg-type]

    bug = Toy(tmp_path, Wrong()).build(TEXT).bugs[0]
    assert "a list stands where tuple is expected" in bug.text


def test_a_blob_from_elsewhere_is_a_bug(tmp_path: Path) -> None:
    class Wrong:
        @hookimpl
        def aiecc_shout(self) -> Any:
            return Shout("x", Blob("0" * 40, 1, Path("nowhere")))

    assert "was not made with store.put" in Toy(tmp_path, Wrong()).build(TEXT).bugs[0].text


# Nobody makes it


def test_declining_to_the_next_in_line(tmp_path: Path) -> None:
    class Picky:
        @hookimpl
        def aiecc_shout(self, word: WordId, store: Store) -> Shout | None:
            return Shout("mine", store.put("mine")) if word == FIG else None

    build = Toy(tmp_path, Picky()).build(TEXT)
    assert build.get("poster", NORTH) == "APPLE! PEAR!"
    assert build.get("poster", SOUTH) == "mine"


def test_an_optional_product_may_be_absent_and_its_takers_with_it(tmp_path: Path) -> None:
    class More:
        @stage(gives="square")
        def aiecc_square(self, word: WordId, measure: int, calls: Any) -> int: ...

        @stage(gives="half")
        def aiecc_half(self, word: WordId, square: int | None, calls: Any) -> int: ...

        @stage(gives="table")
        def aiecc_table(
            self, measure: dict[WordId, int | None], square: dict[WordId, int], half: dict[WordId, int]
        ) -> str: ...

    class Plugin:
        @hookimpl
        def aiecc_square(self, word: WordId, measure: int, calls: Any) -> int:
            calls(f"square {word}")
            return measure * measure

        @hookimpl
        def aiecc_half(self, word: WordId, square: int | None) -> int:
            return -1 if square is None else square // 2

        @hookimpl
        def aiecc_table(self, measure: Any, square: Any, half: Any) -> str:
            return f"{list(measure.values())} {list(square.values())} {list(half.values())}"

    toy = Toy(tmp_path, Plugin(), specs=(More,))
    build = toy.build("north: none apple", "table", "wall")
    assert build.ok
    assert build.get("table") == "[None, 6] [36] [-1, 18]"
    assert build.get("wall").endswith("longest 6")
    states = {o.address: (o.state, o.reason) for o in build.outcomes}
    assert states["north_none/square"] == (State.ABSENT, "there is no north_none/measure")
    assert "square north_none" not in toy.calls
    assert build.diagnostics == ()
    assert Toy(tmp_path, Plugin(), specs=(More,)).build("north: none apple", "table").get("table") == build.get("table")


def test_a_product_that_must_be_and_is_not(tmp_path: Path) -> None:
    class Lazy(Ours):
        @hookimpl
        def aiecc_poster(self, room: RoomId) -> Any:
            return None

    build = Toy(tmp_path, ours=Lazy()).build(TEXT)
    assert not build.ok
    first = build.diagnostics[0]
    assert first.text == "nobody makes north/poster: every plugin declined the stage poster"
    assert first.code == "E0902"
    assert first.notes[0].text == "asked, in this order: toy"


def test_a_stage_that_nobody_implements(tmp_path: Path) -> None:
    class More:
        @stage(gives="ghost")
        def aiecc_ghost(self, book: Book) -> str: ...

    build = Toy(tmp_path, specs=(More,)).build(TEXT, "ghost")
    assert build.diagnostics[0].notes[0].text == "asked, in this order: nobody"


def test_an_element_left_out_of_a_spread_product_is_absent(tmp_path: Path) -> None:
    class Some:
        @hookimpl
        def aiecc_split(self, book: Book) -> dict[WordId, Item]:
            return {APPLE: Item("apple"), FIG: Item("fig")}

    build = Toy(tmp_path, Some()).build(TEXT, "measure", "item")
    assert build.ok
    assert build.items("measure") == {APPLE: 6, FIG: 4}
    assert next(o for o in build.outcomes if o.address == "north_pear/shout").state is State.ABSENT
    assert build.get("item") == {APPLE: Item("apple"), FIG: Item("fig")}


def test_a_spread_stage_may_fail_for_some_keys_only(tmp_path: Path) -> None:
    class More:
        @stage(gives="lower", spread="word")
        def aiecc_lower(self, item: dict[WordId, Item], diag: Sink) -> dict[WordId, str]: ...

        @stage(gives="upper")
        def aiecc_upper(self, word: WordId, lower: str) -> str: ...

        @stage(gives="both")
        def aiecc_both(self, room: RoomId, lower: dict[WordId, str]) -> str: ...

        @stage(gives="all")
        def aiecc_all(self, upper: dict[WordId, str]) -> str: ...

    class Some:
        @hookimpl
        def aiecc_lower(self, item: dict[WordId, Item], diag: Sink) -> dict[WordId, str]:
            diag.error("no pears")
            return {word: i.word for word, i in item.items() if i.word != "pear"}

        @hookimpl
        def aiecc_upper(self, lower: str) -> str:
            return lower.upper()

        @hookimpl
        def aiecc_both(self, lower: dict[WordId, str]) -> str:
            return " ".join(lower.values())

        @hookimpl
        def aiecc_all(self, upper: dict[WordId, str]) -> str:
            return ""

    build = Toy(tmp_path, Some(), specs=(More,)).build(TEXT, "upper", "both", "all")
    states = {o.address: o.state for o in build.outcomes}
    assert not build.ok
    assert states["lower"] is State.FAILED
    assert states["north_apple/upper"] is states["south/both"] is State.RAN
    assert states["north_pear/upper"] is states["north/both"] is states["all"] is State.BLOCKED
    assert build.items("upper") == {APPLE: "APPLE", FIG: "FIG"}
    assert [d.text for d in build.diagnostics] == ["no pears"]


# Ambients


def test_an_ambient_counts_by_its_digest(tmp_path: Path) -> None:
    class More:
        @stage(gives="greeting")
        def aiecc_greet(self, room: RoomId, tongue: Any, calls: Any) -> str: ...

    class Plugin:
        @hookimpl
        def aiecc_greet(self, room: RoomId, tongue: Any, calls: Any) -> str:
            calls(f"greet {room}")
            return f"{tongue} {room}"

    spoken = {"north": "hei", "south": "ciao"}

    def make(scope: Any) -> str:
        assert scope.get("book").rooms
        return spoken[scope.key.name]

    def toy() -> Toy:
        tongue = Ambient(make, lambda key, get: f"{spoken[key.name]} {len(get('book').rooms)}", ("book",))
        return Toy(tmp_path, Plugin(), specs=(More,), ambients={"tongue": tongue})

    assert toy().build(TEXT, "greeting").items("greeting") == {NORTH: "hei north", SOUTH: "ciao south"}
    spoken["south"] = "ola"
    second = toy()
    build = second.build(TEXT, "greeting")
    assert second.calls == ["greet south"]
    assert build.get("greeting", SOUTH) == "ola south"
    assert reasons(build) == {"south/greeting": "tongue changed"}
    assert [o.address for o in build.outcomes] == ["book", "north/greeting", "south/greeting"]


@pytest.mark.parametrize("refused", [True, False])
def test_an_ambient_that_cannot_be_had(tmp_path: Path, refused: bool) -> None:
    def find(key: Any, get: Any) -> str:
        if refused:
            refuse("there is no compiler", code="E0801")
        raise LookupError("oops")

    toy = Toy(tmp_path, ambients={"run": Ambient(lambda scope: None, find)})
    build = toy.build(TEXT)
    assert not build.ok
    if refused:
        assert [d.text for d in build.diagnostics] == ["there is no compiler"]
        assert next(o for o in build.outcomes if o.address == "north_pear/shout").state is State.FAILED
    else:
        assert [bug.text for bug in build.bugs] == ["LookupError: oops"]
        assert not [c for c in toy.calls if c.startswith("shout")]


# Work shared between tasks


class Shared:
    """Shouts every distinct word once, whichever room it is in."""

    fail = ""

    def __init__(self, helper: Path | None = None) -> None:
        self.made: list[str] = []
        self.helper = helper

    @hookimpl
    def aiecc_shout(
        self, word: WordId, item: Item, memo: Memo, diag: Sink, files: Files, store: Store, run: Any, calls: Any
    ) -> Shout:
        def make() -> Shout:
            time.sleep(0.01)
            self.made.append(item.word)
            run(f"compile {item.word}")
            diag.warning(f"{item.word} is loud")
            text = files.read_text(self.helper) if self.helper else "?"
            if item.word == self.fail:
                refuse(f"{item.word} does not compile")
            return Shout(item.word.upper() + text, store.put(item.word))

        calls(f"shout {word}")
        run(f"prepare {word}")
        return memo.get("shout", (item.word,), make, Shout)


class SharedSpecs:
    """As the toy's, with the memo at hand."""

    @stage(gives="shout")
    def aiecc_shout(
        self,
        word: WordId,
        item: Item,
        how: ShoutOptions,
        memo: Memo,
        calls: Any,
        diag: Sink,
        files: Files,
        store: Store,
        run: Any,
    ) -> Shout: ...


def shared(folder: Path, plugin: Shared, monkeypatch: pytest.MonkeyPatch, **more: Any) -> Toy:
    monkeypatch.setattr(Specs, "aiecc_shout", SharedSpecs.aiecc_shout)
    return Toy(folder, ours=_Mixed(plugin), **more)


class _Mixed(Ours):
    def __init__(self, plugin: Shared) -> None:
        self._plugin = plugin

    @hookimpl
    def aiecc_shout(  # type: ignore[override]
        self, word: WordId, item: Item, memo: Memo, diag: Sink, files: Files, store: Store, run: Any, calls: Any
    ) -> Shout:
        return self._plugin.aiecc_shout(word, item, memo, diag, files, store, run, calls)


SAME = "north: fig apple fig2\nsouth: fig apple\n"


@pytest.mark.parametrize("jobs", [1, 4])
def test_shared_work_is_done_once_and_counts_for_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int
) -> None:
    plugin = Shared()
    build = shared(tmp_path, plugin, monkeypatch, jobs=jobs).build(SAME, "shout")
    assert build.ok
    assert sorted(plugin.made) == ["apple", "fig", "fig2"]
    by = {o.address: o for o in build.outcomes}
    for address in ("north_fig/shout", "south_fig/shout"):
        assert [d.text for d in by[address].diagnostics] == ["fig is loud"]
        assert by[address].commands == (f"prepare {address.partition('/')[0]}", "compile fig")
    assert [d.text for d in build.diagnostics] == ["fig is loud", "apple is loud", "fig2 is loud"]
    assert build.commands == (
        "prepare north_fig",
        "compile fig",
        "prepare north_apple",
        "compile apple",
        "prepare north_fig2",
        "compile fig2",
        "prepare south_fig",
        "prepare south_apple",
    )
    assert build.items("shout")[FIG].text == "FIG?"


def test_shared_work_is_kept_for_tasks_that_are_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shared(tmp_path, Shared(), monkeypatch).build("north: fig\n", "shout")
    plugin = Shared()
    toy = shared(tmp_path, plugin, monkeypatch)
    build = toy.build("north: fig\nsouth: fig\n", "shout")
    assert toy.calls == ["parse", "split", "shout south_fig"]
    assert plugin.made == []
    assert [d.text for d in build.diagnostics] == ["fig is loud"]
    assert build.commands == ("prepare north_fig", "compile fig", "prepare south_fig")


def test_shared_work_depends_on_options_and_on_what_it_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    helper = tmp_path / "helper"
    helper.write_text("1")
    plugin = Shared(helper)
    shared(tmp_path / "s", plugin, monkeypatch).build(SAME, "shout")
    plugin.made.clear()
    shared(tmp_path / "s", plugin, monkeypatch, options=(ShoutOptions(5),)).build(SAME, "shout")
    assert len(plugin.made) == 3
    plugin.made.clear()
    helper.write_text("2")
    toy = shared(tmp_path / "s", plugin, monkeypatch)
    build = toy.build(SAME, "shout")
    assert len(plugin.made) == 3
    assert len(toy.calls) == 5  # the helper counts for those who only shared the work, too
    assert {s.text for s in build.items("shout").values()} == {"FIG2", "APPLE2", "FIG22"}


@pytest.mark.parametrize("jobs", [1, 4])
def test_a_failure_of_shared_work_is_everybodys_and_said_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int
) -> None:
    plugin = Shared()
    plugin.fail = "fig"
    build = shared(tmp_path, plugin, monkeypatch, jobs=jobs).build(SAME, "shout")
    assert plugin.made.count("fig") == 1
    failed = [o.address for o in build.outcomes if o.state is State.FAILED]
    assert failed == ["north_fig/shout", "south_fig/shout"]
    assert [d.text for d in build.diagnostics if d.is_error] == ["fig does not compile"]
    plugin.fail = ""
    assert shared(tmp_path, plugin, monkeypatch).build(SAME, "shout").ok


# Damage


def test_any_damage_to_the_store_costs_a_rebuild_and_nothing_else(tmp_path: Path) -> None:
    good = Toy(tmp_path).build(TEXT)
    for path in sorted(p for p in tmp_path.rglob("*") if p.is_file()):
        whole = path.read_bytes()
        for junk in (b"", whole[: len(whole) // 2], b"\0" * len(whole), whole + b"x"):
            path.write_bytes(junk)
            build = Toy(tmp_path).build(TEXT)
            assert build.ok
            assert build.digest("wall") == good.digest("wall")
            assert build.get("shout", FIG).file.bytes() == b"FIG"
            assert build.commands == good.commands
        path.write_bytes(whole)


def test_a_record_that_is_whole_but_makes_no_sense(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep = Store.keep
    junk = {"diagnostics": b"\x93\x01\x02\x03"}
    monkeypatch.setattr(
        Store, "keep", lambda self, key, record: keep(self, key, msgspec.structs.replace(record, **junk))
    )
    plugin = Shared()
    good = shared(tmp_path, plugin, monkeypatch).build(SAME, "shout")
    monkeypatch.setattr(Store, "keep", keep)
    again = shared(tmp_path, plugin, monkeypatch)
    build = again.build(SAME, "shout")
    assert len(again.calls) == 7
    assert len(plugin.made) == 6
    assert build.ok
    assert (build.diagnostics, build.commands) == (good.diagnostics, good.commands)


LETTERS = st.sampled_from(["a", "b", "oddc", "badd", "none"])
ROOMS = st.dictionaries(st.sampled_from(["r", "s", "t"]), st.lists(LETTERS, max_size=4, unique=True), min_size=1)
DICTIONARIES = st.none() | st.dictionaries(LETTERS, LETTERS, max_size=3)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(ROOMS, DICTIONARIES, st.integers(1, 2)), min_size=2, max_size=6))
def test_whatever_was_built_before_the_result_is_that_of_a_clean_build(steps: Any) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ours = Ours()
        ours.dictionary = folder / "words"
        for number, (rooms, dictionary, marks) in enumerate(steps):
            if dictionary is None:
                ours.dictionary.unlink(missing_ok=True)
            else:
                ours.dictionary.write_text("".join(f"{a}={b}\n" for a, b in dictionary.items()))
            text = "".join(f"{room}: {' '.join(words)}\n" for room, words in rooms.items())
            more = {"ours": ours, "options": (ShoutOptions(marks),), "jobs": 1 + number % 3}
            warm = Toy(folder / "store", **more).build(text, "wall", "measure")
            clean = Toy(folder / f"clean{number}", **more).build(text, "wall", "measure")
            assert warm.get("wall") == clean.get("wall")
            assert warm.items("measure") == clean.items("measure")
            assert (warm.ok, warm.diagnostics, warm.commands) == (clean.ok, clean.diagnostics, clean.commands)
            assert warm.reads == clean.reads
            assert [o.digest for o in warm.outcomes] == [o.digest for o in clean.outcomes]


def test_a_lost_record_is_explained(tmp_path: Path) -> None:
    Toy(tmp_path).build(TEXT)
    for path in (tmp_path / "records").rglob("*"):
        if path.is_file() and b"LONGEST" in path.read_bytes().upper():
            path.unlink()
    assert reasons(Toy(tmp_path).build(TEXT)) == {"wall": "what the last build kept of it is gone or damaged"}


def test_a_lost_blob_is_explained(tmp_path: Path) -> None:
    Toy(tmp_path).build(TEXT)
    next(p for p in (tmp_path / "blobs").rglob("*.txt") if p.read_bytes() == b"FIG").unlink()
    toy = Toy(tmp_path)
    build = toy.build(TEXT)
    assert toy.calls == [f"shout {FIG}"]
    assert reasons(build) == {"south_fig/shout": "a file that it uses is gone or damaged in the store"}


# Speed


def test_a_thousand_known_tasks_take_no_time(tmp_path: Path) -> None:
    text = "\n".join(f"r{i}: " + " ".join(f"w{j}" for j in range(16)) for i in range(30))
    assert len(Toy(tmp_path, check_products=False).build(text).outcomes) == 993
    toy = Toy(tmp_path, check_products=False)
    toy.build(text)
    assert toy.calls == []


def test_a_chain_of_a_thousand_stages(tmp_path: Path) -> None:
    specs = type("Chain", (), {})
    impls = type("Links", (), {})
    before = "book"
    for i in range(1000):
        scope: dict[str, Any] = {"Book": Book}
        hint = "Book" if i == 0 else "int"
        exec(f"def aiecc_link{i}({before}: {hint}) -> int: return {i}", scope)  # a stage by any name
        setattr(impls, f"aiecc_link{i}", staticmethod(hookimpl(scope[f"aiecc_link{i}"])))
        exec(f"def aiecc_link{i}({before}: {hint}) -> int: ...", scope)
        setattr(specs, f"aiecc_link{i}", staticmethod(stage(gives=f"link{i}")(scope[f"aiecc_link{i}"])))
        before = f"link{i}"
    toy = Toy(tmp_path, impls(), specs=(specs,))
    assert toy.build(TEXT, "link999").get("link999") == 999
    assert len(toy.build(TEXT, "link999").outcomes) == 1001
