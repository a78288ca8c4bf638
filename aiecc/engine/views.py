"""Views: named files made from artifacts, one per key, written only when asked for.

    @view("elfs_{0}.elf", folder=True, short="core-elfs")
    def elf_file(core: CoreId, elf: CoreElf) -> Blob:
        '''The linked core.'''

A view's parameters are read as a stage's are: a key, artifacts by name, `dict[CoreId, X]` for all of them. `{0}` in the
name becomes the key. What it returns is the file's content; None writes nothing.
"""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from aiecc.base.blob import Blob
from aiecc.base.diag import refuse
from aiecc.base.nearest import did_you_mean
from aiecc.engine.build import Build
from aiecc.engine.keys import KeySpace
from aiecc.engine.spec import without_none

Content = bytes | str | Blob | None


@dataclass(frozen=True)
class View:
    """One named file per key. `folder`: each lies in a folder of its own, named as the file without its suffix.

    `short`: the word after `--get-`. `also`: artifacts that must be good before anything of the view is
    written, although it does not take them.
    """

    name: str
    render: Callable[..., Content]
    folder: bool = False
    short: str = ""
    also: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        pure = Path(self.name)
        if not pure.name or pure.is_absolute() or ".." in pure.parts:
            refuse(f"view '{self.name}' lies outside the output folder", code="E0902")

    @property
    def about(self) -> str:
        """The first line of what it says about itself."""
        return (inspect.getdoc(self.render) or "").partition("\n")[0]

    @cached_property
    def _hints(self) -> dict[str, Any]:
        hints = typing.get_type_hints(self.render)
        hints.pop("return", None)
        return hints

    def artifacts(self, keys: KeySpace) -> tuple[str, ...]:
        """What must be made for it."""
        return (*(name for name, hint in self._hints.items() if keys.kind_of(hint) is None), *self.also)

    def check(self, keys: KeySpace, kinds: Mapping[str, str | None], roots: Collection[str], plugin: str) -> None:
        """Refuse a view that asks for what nobody makes, in the name of the plugin that brings it."""
        try:
            wanted = self.artifacts(keys)
        except Exception as problem:  # an annotation is somebody's expression: it may raise anything
            refuse(
                f"plugin '{plugin}': view '{self.name}' has an annotation that means nothing: {problem}", code="E0902"
            )
        for name in wanted:
            if name not in kinds and name not in roots:
                close = did_you_mean(name, [*kinds, *roots])
                refuse(f"plugin '{plugin}': view '{self.name}' needs '{name}', which nobody makes{close}", code="E0902")

    def kind(self, keys: KeySpace) -> str | None:
        """The kind of key it is made once per; None for one file."""
        return next((kind for hint in self._hints.values() if (kind := keys.kind_of(hint))), None)

    def file(self, key: Any = None) -> Path:
        """Where it lies below the output folder, whatever the key's own name."""
        text = self.name.replace("{0}", _as_file_name(str(key)), 1)
        name = Path("%2E" * len(text) if text in (".", "..") else text)
        return name.parent / name.name[: len(name.name) - len(name.suffix)] / name.name if self.folder else name

    def contents(
        self, build: Build, keys: KeySpace, kinds: Mapping[str, str | None], members: Iterable[Any]
    ) -> Iterable[tuple[Path, Content]]:
        """The files with their contents. `kinds`: what each artifact is keyed by; `members`: the keys to use."""
        own = self.kind(keys)
        for key in members if own is not None else (None,):
            values: dict[str, Any] = {}
            for name, hint in self._hints.items():
                bare, optional = without_none(hint)
                if keys.kind_of(hint) is not None:
                    values[name] = key
                elif typing.get_origin(bare) is dict and kinds.get(name) is not None:
                    values[name] = build.items(name)
                else:
                    value = build.get(name, keys.lift(key, own, kinds.get(name)))
                    if value is None and not optional:
                        break
                    values[name] = value
            else:
                yield self.file(key), self._content(self.render(**values))

    def _content(self, made: Any) -> Content:
        if made is None or isinstance(made, bytes | str | Blob):
            return made
        raise TypeError(f"view '{self.name}' returns a {type(made).__name__}, not text, bytes or a Blob")


# What some file system or terminal would read as something else than a part of a name; and our own escape sign.
_UNFIT = re.compile(r'[\x00-\x1f\x7f-\x9f\ud800-\udfff/\\:*?"<>|%]')


def _as_file_name(text: str) -> str:
    """A key as part of one file name: names come from designs, and none may lead out of the output folder.

    Different texts stay different.
    """
    return _UNFIT.sub(lambda m: f"%{ord(m[0]):02X}", text)


def view(
    name: str, *, folder: bool = False, short: str = "", also: tuple[str, ...] = ()
) -> Callable[[Callable[..., Content]], View]:
    """Make a view of a function; see the module's text."""
    return lambda render: View(name, render, folder, short, also)


def plain_view(artifact: str, key: type | None) -> View:
    """A view of an artifact that has none of its own: text and files as they are, anything else as JSON.

    `key`: the class it is keyed by; the files are then named `ARTIFACT_{0}`.
    """

    def render(**values: Any) -> Content:
        value = values[artifact]
        return value if isinstance(value, bytes | str | Blob) else _json(value)

    render.__annotations__ = {artifact: Any}
    if key is not None:
        render.__annotations__["key"] = key
    return View(artifact if key is None else artifact + "_{0}", render)


def _json(value: Any) -> bytes:
    import msgspec

    def unknown(thing: Any) -> Any:
        return thing.digest if isinstance(thing, Blob) else str(thing)

    return msgspec.json.format(msgspec.json.encode(_plain(value), enc_hook=unknown), indent=2) + b"\n"


def _plain(value: Any) -> Any:
    """Dicts with keys that JSON does not know get those keys' names."""
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    return value
