"""A toy compiler for the engine's tests: a text of rooms with words, shouted, measured and hung on a wall.

    north: apple pear
    south: fig

`book` knows the rooms and words; `item` is spread over the words; `shout` and `measure` run once per word, `poster`
once per room, `wall` once.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiecc.base.blob import Blob
from aiecc.base.diag import Sink
from aiecc.engine.keys import KeySpace
from aiecc.engine.plugins import Plugins
from aiecc.engine.reads import Files
from aiecc.engine.run import Engine
from aiecc.engine.scope import Ambient, Memo
from aiecc.engine.spec import hookimpl, option, options, stage
from aiecc.engine.store import Store


@dataclass(frozen=True, slots=True, order=True)
class RoomId:
    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True, order=True)
class WordId:
    room: str
    name: str

    def __str__(self) -> str:
        return f"{self.room}_{self.name}"


@dataclass(frozen=True, slots=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True)
class Book:
    rooms: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class Item:
    word: str


@dataclass(frozen=True, slots=True)
class Shout:
    text: str
    file: Blob


@options
class ShoutOptions:
    marks: int = option(1, "--marks", help="exclamation marks")


class Specs:
    @stage(gives="book")
    def aiecc_parse(self, source: Text, calls: Any, diag: Sink) -> Book: ...

    @stage(gives="item", spread="word")
    def aiecc_split(self, book: Book, calls: Any) -> dict[WordId, Item]: ...

    @stage(gives="shout")
    def aiecc_shout(
        self, word: WordId, item: Item, how: ShoutOptions, calls: Any, diag: Sink, files: Files, store: Store, run: Any
    ) -> Shout: ...

    @stage(gives="measure")
    def aiecc_measure(self, word: WordId, shout: Shout, calls: Any, diag: Sink) -> int | None: ...

    @stage(gives="poster")
    def aiecc_poster(self, room: RoomId, shout: dict[WordId, Shout], calls: Any, memo: Memo) -> str: ...

    @stage(gives="wall")
    def aiecc_wall(self, poster: dict[RoomId, str], measure: dict[WordId, int], calls: Any) -> str: ...


class Ours:
    """What the toy does by itself. `dictionary` is a file with `word=replacement` lines that every shout reads."""

    dictionary: Path | None = None

    @hookimpl
    def aiecc_parse(self, source: Text, calls: Any, diag: Sink) -> Book:
        calls("parse")
        rooms: list[tuple[str, tuple[str, ...]]] = []
        for line in source.text.splitlines():
            name, _, words = line.partition("#")[0].partition(":")
            if name.strip():
                rooms.append((name.strip(), tuple(words.split())))
        if not rooms:
            diag.error("an empty text")
        return Book(tuple(rooms))

    @hookimpl
    def aiecc_split(self, book: Book, calls: Any) -> dict[WordId, Item]:
        calls("split")
        return {WordId(room, word): Item(word) for room, words in book.rooms for word in words}

    @hookimpl
    def aiecc_shout(
        self, word: WordId, item: Item, how: ShoutOptions, calls: Any, diag: Sink, files: Files, store: Store, run: Any
    ) -> Shout:
        calls(f"shout {word}")
        text = item.word
        if self.dictionary is not None and files.is_file(self.dictionary):
            entries = dict(line.split("=") for line in files.read_text(self.dictionary).splitlines())
            text = entries.get(text, text)
        if text.startswith("bad"):
            diag.error(f"{word} is a bad word")
        if text.startswith("odd"):
            diag.warning(f"{word} is an odd word")
        if text.startswith("crash"):
            raise ZeroDivisionError(text)
        run(f"shout {text}")
        return Shout(text.upper() + "!" * how.marks, store.put(text.upper(), ".txt"))

    @hookimpl
    def aiecc_measure(self, word: WordId, shout: Shout, calls: Any, diag: Sink) -> int | None:
        calls(f"measure {word}")
        return None if shout.text.startswith("NONE") else len(shout.text)

    @hookimpl
    def aiecc_poster(self, room: RoomId, shout: dict[WordId, Shout], calls: Any, memo: Memo) -> str:
        calls(f"poster {room}")
        return " ".join(s.text for s in shout.values())

    @hookimpl
    def aiecc_wall(self, poster: dict[RoomId, str], measure: dict[WordId, int], calls: Any) -> str:
        calls("wall")
        longest = max(measure.values(), default=0)
        return "\n".join(f"{room}: {text}" for room, text in poster.items()) + f"\nlongest {longest}"


def members(book: Book, kind: str, within: Any) -> tuple[Any, ...]:
    found: list[Any] = []
    for name, words in book.rooms:
        if isinstance(within, RoomId) and within.name != name:
            continue
        if kind == "room":
            found.append(RoomId(name))
        else:
            found.extend(WordId(name, word) for word in words)
    return tuple(found)


KEYS = KeySpace(
    artifact="book",
    kinds={"room": RoomId, "word": WordId},
    parents={"word": ("room", lambda word: RoomId(word.room))},
    members=members,
)


class Toy:
    """An engine over the toy's stages. `calls` lists what really ran, in the order of starts."""

    def __init__(
        self,
        folder: Path,
        *plugins: Any,
        requests: tuple[str, ...] = (),
        specs: tuple[Any, ...] = (),
        before: tuple[Any, ...] = (),
        ours: Any = None,
        ambients: dict[str, Ambient] | None = None,
        **more: Any,
    ) -> None:
        self.calls: list[str] = []
        self.ours = ours or Ours()
        self.plugins = Plugins(requests)
        for page in (*before, Specs):
            self.plugins.add_specs(page)
        named = [(type(plugin).__name__, plugin) for plugin in plugins]
        self.plugins.load([("toy", self.ours)], builtin=named, installed=False)
        for extra in specs:
            self.plugins.add_specs(extra, "test")
        self.plugins.check()
        words = {"calls": Ambient(lambda scope: self.calls.append), "run": Ambient(lambda scope: scope.log)}
        more.setdefault("jobs", 1)
        more.setdefault("keys", KEYS)
        more.setdefault("check_products", True)
        more.setdefault("identity", "toy")
        more.setdefault("roots", ("source",))
        self.engine = Engine(self.plugins, Store(folder), ambients={**words, **(ambients or {})}, **more)

    def build(self, text: str, *requested: str, **more: Any) -> Any:
        self.calls.clear()
        return self.engine.build(requested or ("wall",), {"source": Text(text)}, **more)


TEXT = "north: apple pear\nsouth: fig\n"
WALL = "north: APPLE! PEAR!\nsouth: FIG!\nlongest 6"

if __name__ == "__main__":  # the tests start it, to kill it or to compare what it prints
    target, jobs, text = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    toy = Toy(target, jobs=jobs)
    built = toy.build(text)
    print(built.get("wall"))
    for diagnostic in built.diagnostics:
        print(diagnostic.level.value, diagnostic.text)
    print(*built.commands, sep="\n")
    print(built.digest("wall"), *[o.address for o in built.outcomes])
