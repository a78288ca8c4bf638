"""The graph comes from names alone; what does not fit together is told before anything runs."""

from __future__ import annotations

from typing import Any

import pytest
from engine_toy import KEYS, Book, RoomId, Specs, Text, WordId, members

from aiecc.base.diag import Refused
from aiecc.engine.graph import Graph, Ref
from aiecc.engine.keys import KeySpace
from aiecc.engine.spec import Contract, read_contract, stage

WORDS: dict[str, tuple[str, ...]] = dict.fromkeys(("diag", "files", "store", "memo", "calls", "run"), ())
BOOK = Book((("north", ("apple", "pear")), ("south", ("fig",))))


def contracts(*functions: Any) -> list[Contract]:
    return [read_contract(f, frozenset(WORDS)) for f in functions]


def toy(*more: Any) -> Graph:
    found = [f for name, f in vars(Specs).items() if name.startswith("aiecc_")]
    return Graph(contracts(*found, *more), KEYS, ("source",), WORDS)


def members_of(kind: str, within: Any) -> tuple[Any, ...]:
    return members(BOOK, kind, within)


def test_order_comes_from_names_not_from_declaration() -> None:
    found = [f for name, f in vars(Specs).items() if name.startswith("aiecc_")]
    graph = Graph(contracts(*reversed(found)), KEYS, ("source",), WORDS)
    assert [n for n in graph.nodes if n in ("book", "item", "shout")] == ["book", "item", "shout"]
    assert list(toy().nodes) == ["book", "item", "shout", "measure", "poster", "wall"]
    assert [n.rank for n in graph.nodes.values()] == [0, 1, 2, 3, 4, 5]


def test_only_what_is_asked_for_becomes_a_task() -> None:
    graph = toy()
    tasks = graph.expand(["poster"], members_of)
    assert [t.address for t in tasks] == [
        "book",
        "item",
        "north_apple/shout",
        "north_pear/shout",
        "south_fig/shout",
        "north/poster",
        "south/poster",
    ]
    one = graph.expand(["measure"], members_of, lambda kind, key: (kind, key.room) == ("word", "south"))
    assert [t.address for t in one] == ["book", "item", "south_fig/shout", "south_fig/measure"]
    assert graph.expand(["source"], members_of) == []


def test_inputs_and_waits() -> None:
    tasks = {t.address: t for t in toy().expand(["wall"], members_of)}
    poster = tasks["north/poster"]
    assert poster.inputs == ((Ref("shout", WordId("north", "apple")), Ref("shout", WordId("north", "pear"))),)
    assert [w.address for w in poster.waits] == ["north_apple/shout", "north_pear/shout"]
    shout = tasks["north_pear/shout"]
    assert shout.inputs[0] == (Ref("item", WordId("north", "pear")),)
    assert [w.address for w in shout.waits] == ["item"]
    assert len(tasks["wall"].inputs[1]) == 3


def test_a_finer_stage_takes_the_coarser_artifact_of_its_own() -> None:
    @stage(gives="frame")
    def aiecc_frame(word: WordId, room: RoomId, poster: str, source: Text) -> str: ...

    @stage(gives="gallery")
    def aiecc_gallery(room: RoomId, frame: dict[WordId, str]) -> str: ...

    graph = toy(aiecc_frame, aiecc_gallery)
    assert graph.nodes["frame"].kind == "word"
    tasks = {t.address: t for t in graph.expand(["gallery"], members_of)}
    assert tasks["south_fig/frame"].inputs == ((Ref("poster", RoomId("south")),), (Ref("source"),))
    assert [w.address for w in tasks["north/gallery"].waits] == ["north_apple/frame", "north_pear/frame"]


def test_members_within_a_key_that_is_no_ancestor() -> None:
    """Kernels of a core: neither kind lies within the other, so `members` is asked."""
    keys = KeySpace(
        "book",
        {"room": RoomId, "word": WordId},
        {},
        lambda book, kind, within: (WordId("any", "one"),) if within == RoomId("north") else (RoomId("north"),),
    )

    @stage(gives="book")
    def aiecc_parse(source: Text) -> Book: ...

    @stage(gives="shout")
    def aiecc_shout(word: WordId, book: Book) -> str: ...

    @stage(gives="poster")
    def aiecc_poster(room: RoomId, shout: dict[WordId, str]) -> str: ...

    graph = Graph(contracts(aiecc_parse, aiecc_shout, aiecc_poster), keys, ("source",), WORDS)
    tasks = graph.expand(["poster"], lambda kind, within: tuple(keys.members(BOOK, kind, within)))
    assert [t.address for t in tasks] == ["book", "any_one/shout", "north/poster"]


def test_unknown_names_are_refused_with_the_nearest() -> None:
    graph = toy()
    with pytest.raises(Refused, match="there is no artifact 'psoter'; did you mean 'poster'") as caught:
        graph.reach(["wall", "psoter"])
    assert "book, item, measure, poster, shout, source, wall" in caught.value.diagnostics[0].notes[0].text

    @stage(gives="extra")
    def aiecc_extra(shuot: str) -> str: ...

    with pytest.raises(Refused, match="aiecc_extra needs 'shuot', which nobody makes; did you mean 'shout'"):
        toy(aiecc_extra)


def test_contracts_that_do_not_fit_are_refused() -> None:
    @stage(gives="wall")
    def aiecc_again(book: Book) -> str: ...

    @stage(gives="source")
    def aiecc_root(book: Book) -> str: ...

    @stage(gives="one")
    def aiecc_single(room: RoomId, shout: str) -> str: ...

    @stage(gives="one")
    def aiecc_whole(shout: str) -> str: ...

    @stage(gives="one", spread="planet")
    def aiecc_planet(book: Book) -> dict[WordId, str]: ...

    @stage(gives="one", spread="room")
    def aiecc_fine(word: WordId) -> dict[RoomId, str]: ...

    for function, text in (
        (aiecc_again, "makes 'wall', but stage aiecc_wall makes it, too"),
        (aiecc_root, "makes 'source', but the caller gives it"),
        (aiecc_single, r"runs once per room, but 'shout' is made once per word: annotate it dict\[WordId, ...\]"),
        (aiecc_whole, "runs once, but 'shout' is made once per word"),
        (aiecc_planet, "spreads over 'planet', which is no kind of key"),
        (aiecc_fine, "runs once per word and cannot spread over every room"),
    ):
        with pytest.raises(Refused, match=text) as caught:
            toy(function)
        assert caught.value.diagnostics[0].code == "E0902"
        assert f"declared in {__name__}" in caught.value.diagnostics[0].notes[0].text


def test_two_keys_of_which_neither_contains_the_other() -> None:
    keys = KeySpace("book", {"room": RoomId, "word": WordId})

    @stage(gives="one")
    def aiecc_both(room: RoomId, word: WordId) -> str: ...

    with pytest.raises(Refused, match="once per room and once per word, but neither lies within the other"):
        Graph(contracts(aiecc_both), keys, ("source",), WORDS)


def test_a_cycle_is_refused_and_shown() -> None:
    @stage(gives="a")
    def aiecc_a(c: str) -> str: ...

    @stage(gives="b")
    def aiecc_b(a: str) -> str: ...

    @stage(gives="c")
    def aiecc_c(b: str, d: str) -> str: ...

    @stage(gives="d")
    def aiecc_d(source: Text) -> str: ...

    @stage(gives="e")
    def aiecc_e(c: str) -> str: ...

    with pytest.raises(Refused, match="wait for each other: a > b > c > a") as caught:
        toy(aiecc_e, aiecc_a, aiecc_b, aiecc_c, aiecc_d)
    assert "aiecc_e" not in caught.value.diagnostics[0].notes[0].text

    @stage(gives="self_made")
    def aiecc_self(self_made: str) -> str: ...

    with pytest.raises(Refused, match="self_made > self_made"):
        toy(aiecc_self)


def test_keys_cannot_come_from_a_keyed_stage() -> None:
    @stage(gives="book")
    def aiecc_parse(room: RoomId, source: Text) -> Book: ...

    with pytest.raises(Refused, match="runs once per room, but those are known only from its own product"):
        Graph(contracts(aiecc_parse), KEYS, ("source",), WORDS)


def test_what_an_ambient_looks_at_is_made_before() -> None:
    @stage(gives="one")
    def aiecc_one(word: WordId, run: Any) -> str: ...

    graph = Graph(contracts(Specs.aiecc_parse, aiecc_one), KEYS, ("source",), {**WORDS, "run": ("book",)})
    tasks = graph.expand(["one"], members_of)
    assert [t.address for t in tasks] == ["book", "north_apple/one", "north_pear/one", "south_fig/one"]
    assert [w.address for w in tasks[1].waits] == ["book"]
    with pytest.raises(Refused, match="aiecc_one needs 'bok', which nobody makes; did you mean 'book'"):
        Graph(contracts(Specs.aiecc_parse, aiecc_one), KEYS, ("source",), {**WORDS, "run": ("bok",)})


def test_dot() -> None:
    text = toy().dot(["measure"], lambda artifact: f'{artifact}_"{{0}}"')
    assert text == (
        "digraph aiecc {\n"
        "  rankdir=LR;\n"
        '  node [shape=box, fontname="monospace"];\n'
        '  n0 [label="source_\\"{0}\\""];\n'
        '  n1 [label="book_\\"{0}\\""];\n'
        '  n2 [label="item_\\"{0}\\""];\n'
        '  n3 [label="shout_\\"{0}\\""];\n'
        '  n4 [label="measure_\\"{0}\\"", style=filled, fillcolor=lightblue];\n'
        "  n0 -> n1;\n"
        "  n1 -> n2;\n"
        "  n2 -> n3;\n"
        "  n3 -> n4;\n"
        "}\n"
    )


def test_key_space() -> None:
    word = WordId("north", "apple")
    assert KEYS.lift(word, "word", "room") == RoomId("north")
    assert KEYS.lift(word, "word", "word") == word
    assert KEYS.lift(word, "word", None) is None
    assert KEYS.contains("room", "word")
    assert KEYS.contains(None, "word")
    assert not KEYS.contains("word", "room")
    assert not KEYS.contains("word", None)
    assert KEYS.kind_of(RoomId) == "room"
    assert KEYS.kind_of(int) is None
