"""Values survive being kept, whatever they are made of; equal values give equal bytes."""

from __future__ import annotations

import enum
import random
import threading
from collections import namedtuple
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple, NewType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aiecc.base.blob import Blob
from aiecc.base.diag import Diagnostic, Level, Note
from aiecc.base.spans import Span
from aiecc.engine.codec import Codec, Unstorable

CODEC = Codec(lambda digest, suffix: Path("/store") / f"{digest}{suffix}")


class Colour(enum.Enum):
    RED = "red"
    BLUE = (1, 2)


@dataclass(frozen=True, slots=True)
class Leaf:
    name: str
    size: int


@dataclass(frozen=True)
class Other:
    weight: float = 0.0


@dataclass(frozen=True, slots=True)
class Tree:
    """Contains itself."""

    leaf: Leaf
    kids: tuple[Tree, ...] = ()
    mark: Tree | None = None


@dataclass(frozen=True, kw_only=True)
class Named:
    one: int
    two: str = "x"
    rest: int = field(init=False, default=5)


class Pair(NamedTuple):
    left: int
    right: str


Count = NewType("Count", int)


@dataclass(frozen=True)
class Empty:
    pass


def again(value: Any, hint: Any) -> Any:
    return CODEC.decode(CODEC.encode(value, hint)[0], hint)


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        (None, type(None)),
        (3, int),
        (-(2**70), int),
        (2**64, int),
        (1.5, float),
        ("ünï", str),
        ("odd \udcff name", str),
        (b"\x00\xff", bytes),
        (Path("a/b"), Path),
        (Path("a/b"), type(Path("a/b"))),
        (Colour.RED, Colour),
        (Leaf("a", 1), Leaf),
        (Empty(), Empty),
        (Named(one=1, two="z"), Named),
        (Pair(1, "r"), Pair),
        (Count(4), Count),
        ((1, "a", None), tuple[int, str, None]),
        ((), tuple[int, ...]),
        ((), tuple[()]),
        ([Leaf("a", 1)], list[Leaf]),
        (frozenset({Leaf("a", 1), Leaf("b", 2)}), frozenset[Leaf]),
        ({3, 1, 2}, set[int]),
        ({Leaf("a", 1): Other(2.0)}, dict[Leaf, Other]),
        ({}, dict[str, int]),
        (Tree(Leaf("r", 0), (Tree(Leaf("k", 1)),), Tree(Leaf("m", 2))), Tree),
        ((Leaf("a", 1), Other(3.0), 4, "s", None), tuple[Leaf | Other | int | str | None, ...]),
        ("on", Literal["on", "off"]),
        (("off", 3), tuple[Literal["on", "off"] | int, ...]),
        ({"a": [1, (2, b"x")], 3: Path("p")}, Any),
        (
            (Diagnostic(Level.ERROR, "t", Span("f", 1, 2), "E0001", (Note("n"), Note("m", Span("g", 3, 4))), "do"),),
            tuple[Diagnostic, ...],
        ),
    ],
)
def test_round_trip(value: Any, hint: Any) -> None:
    found = again(value, hint)
    assert found == value
    assert type(found) is type(value)


def test_an_integer_in_a_float_field_is_told_the_same_from_the_first_day() -> None:
    assert type(again(Other(2), Other).weight) is float  # type: ignore[arg-type]
    assert CODEC.encode(Other(2), Other) == CODEC.encode(Other(2.0), Other)


def test_a_blob_is_its_content_and_not_its_folder() -> None:
    blob = Blob("d" * 40, 3, Path("/elsewhere/xyz.o"))
    data, blobs = CODEC.encode((blob,), tuple[Blob, ...])
    assert blobs == (blob,)
    assert b"elsewhere" not in data
    (found,) = CODEC.decode(data, tuple[Blob, ...])
    assert found.path == Path("/store") / ("d" * 40 + ".o")
    assert (found.digest, found.size) == (blob.digest, 3)


def test_dict_order_is_part_of_the_value_and_set_order_is_not() -> None:
    one, two = {"a": 1, "b": 2}, {"b": 2, "a": 1}
    assert CODEC.encode(one, dict[str, int])[0] != CODEC.encode(two, dict[str, int])[0]
    assert list(again(two, dict[str, int])) == ["b", "a"]
    words = [f"w{i}" for i in range(50)]
    other = random.Random(1).sample(words, 50)
    assert CODEC.encode(set(words), set[str])[0] == CODEC.encode(set(other), set[str])[0]


@pytest.mark.parametrize(
    ("value", "hint", "text"),
    [
        (Leaf("a", 1), Other, "a Leaf stands where Other is expected"),
        ([1], tuple[int, ...], "a list stands where tuple is expected"),
        ((1,), tuple[int, int], "a tuple stands where"),
        ({}, list[int], "a dict stands where list"),
        ("x", Path, "a str stands where Path"),
        ("red", Colour, "a str stands where Colour"),
        (object(), Any, "a object stands where"),
        (3.0, Leaf | Other, "a float stands where"),
        (Leaf(object(), 1), Leaf, "object"),
        (threading.Lock(), threading.Lock, "cannot be kept"),
    ],
)
def test_what_does_not_fit_is_told(value: Any, hint: Any, text: str) -> None:
    with pytest.raises(Unstorable, match=text):
        CODEC.encode(value, hint)


def test_a_type_that_cannot_be_kept_is_refused_again_and_again() -> None:
    @dataclass(frozen=True)
    class Bad:
        lock: threading.Event

    Bad.__annotations__["lock"] = threading.Event
    for _ in range(2):
        with pytest.raises(Unstorable, match="Event cannot be kept"):
            CODEC.encode(Bad(threading.Event()), Bad)


@pytest.mark.parametrize("data", [b"", b"\xc1", b"\x93\x01\x02", b"junk and more"])
def test_garbage_is_an_ordinary_error(data: bytes) -> None:
    with pytest.raises((ValueError, TypeError)):
        CODEC.decode(data, Leaf)


LEAVES = st.builds(Leaf, st.text(), st.integers())
TREES = st.recursive(
    st.builds(Tree, LEAVES),
    lambda kids: st.builds(Tree, LEAVES, st.lists(kids, max_size=3).map(tuple), st.none() | kids),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(LEAVES, TREES | st.none(), max_size=4))
def test_any_nesting_survives(value: dict[Leaf, Tree | None]) -> None:
    data = CODEC.encode(value, dict[Leaf, Tree | None])[0]
    found = CODEC.decode(data, dict[Leaf, Tree | None])
    assert found == value
    assert list(found) == list(value)
    assert CODEC.encode(found, dict[Leaf, Tree | None])[0] == data


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.binary() | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.lists(inner, max_size=3).map(tuple),
    max_leaves=10,
)


@settings(max_examples=60, deadline=None)
@given(PLAIN)
def test_plain_data_survives(value: Any) -> None:
    assert again(value, Any) == value


def test_many_threads_may_meet_a_new_type_at_once() -> None:
    codec = Codec(lambda digest, suffix: Path(digest))
    tree = Tree(Leaf("r", 0), tuple(Tree(Leaf("k", i)) for i in range(20)))
    problems: list[BaseException] = []
    gate = threading.Barrier(8)

    def work() -> None:
        try:
            gate.wait()
            assert codec.decode(codec.encode(tree, Tree)[0], Tree) == tree
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []


def test_named_tuples_without_annotations() -> None:
    loose = namedtuple("loose", ["a", "b"])
    assert again(loose(1, "x"), loose) == (1, "x")
