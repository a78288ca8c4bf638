"""Options as frozen dataclasses: a field is an option, its metadata is the command line.

    @options
    class StackOptions:
        measure: bool = option(True, "--no-measure-stack-size", help="skip the stack measurement")
        default: int = option(0, "--default-stack-size", metavar="BYTES", help="stack of cores that declare none")

A stage that takes a parameter annotated `StackOptions` gets the instance of the build, and the instance
is part of the stage's cache key. Every field needs a default: `StackOptions()` is the default build.
Standard library only, so that `--help` does not pay for the engine.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar, dataclass_transform

_MARK = "__aiecc_options__"
_META = "aiecc.option"

C = TypeVar("C", bound=type)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class OptionSpec:
    """One option as a command line wants to know it.

    `field` is the dataclass field, `flags` its spellings with dashes. `kind` turns one word into a value; a
    plain switch has kind `bool`. `many`: the option may be repeated and the field is a tuple.
    """

    field: str
    flags: tuple[str, ...]
    default: Any
    help: str
    kind: Callable[[str], Any]
    many: bool
    choices: tuple[str, ...] | None
    metavar: str | None
    hidden: bool

    @property
    def switch(self) -> bool:
        """True for an option that takes no value."""
        return self.kind is bool

    @property
    def inverted(self) -> bool:
        """True for a switch that is on by default and is spelled only as `--no-...`: giving it sets False."""
        return self.switch and bool(self.default) and all(f.startswith("--no-") for f in self.flags)


def option(
    default: T,
    *flags: str,
    help: str = "",
    choices: Iterable[str] | None = None,
    kind: Callable[[str], Any] | None = None,
    metavar: str | None = None,
    hidden: bool = False,
) -> T:
    """A dataclass field that is a command-line option.

    Without `flags` the option is spelled as the field: `stack_size` is `--stack-size`. `kind` turns a word into a
    value (raising ValueError with a readable text) and is taken from the annotation when not given; `hidden`
    keeps the option out of `--help`.
    """
    for flag in flags:
        if not flag.startswith("-"):
            raise ValueError(f"an option is spelled with a dash, not {flag!r}")
    meta = {
        "flags": flags,
        "help": help,
        "choices": None if choices is None else tuple(choices),
        "kind": kind,
        "metavar": metavar,
        "hidden": hidden,
    }
    made: Any = dataclasses.field(default=default, metadata={_META: meta})
    return made


@dataclass_transform(frozen_default=True, field_specifiers=(option, dataclasses.field))
def options(cls: C) -> C:
    """Make a class of options: a frozen dataclass, every field with a default."""
    if "__dataclass_fields__" not in vars(cls):
        dataclass(frozen=True)(cls)
    setattr(cls, _MARK, True)
    for field in dataclasses.fields(cls):
        if field.init and field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise TypeError(f"option {cls.__name__}.{field.name} has no default")
    return cls


def is_options(annotation: object) -> bool:
    """True for a class made by `@options`."""
    return isinstance(annotation, type) and vars(annotation).get(_MARK) is True


def options_of(cls: type) -> list[OptionSpec]:
    """The options of a class in the order of its fields; fields without `option(...)` are not on the command line."""
    if not is_options(cls):
        raise TypeError(f"{cls.__name__} is not an @options class")
    hints: dict[str, Any] | None = None
    found: list[OptionSpec] = []
    for field in dataclasses.fields(cls):
        meta = field.metadata.get(_META)
        if meta is None:
            continue
        many = isinstance(field.default, tuple)
        kind = meta["kind"]
        if kind is None and isinstance(field.default, bool | int | float | str):
            kind = type(field.default)
        if kind is None:
            hints = typing.get_type_hints(cls) if hints is None else hints
            kind = _word_kind(hints[field.name])
        flags = meta["flags"] or (f"--{field.name.replace('_', '-')}",)
        found.append(
            OptionSpec(
                field.name,
                flags,
                field.default,
                meta["help"],
                kind,
                many,
                meta["choices"],
                meta["metavar"],
                meta["hidden"],
            )
        )
    return found


def _word_kind(hint: Any) -> Callable[[str], Any]:
    """What turns a word into a value of the annotated type: the first class in `X | None` or `tuple[X, ...]`."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType, tuple):
        for part in typing.get_args(hint):
            if part is not type(None) and part is not Ellipsis:
                return _word_kind(part)
    return hint if isinstance(hint, type) else str
