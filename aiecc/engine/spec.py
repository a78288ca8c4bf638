"""What a stage is: a hook specification whose signature is the contract.

    @stage(gives="probe")
    def aiecc_probe(core: CoreId, compiled: CoreObject, linker: LinkOptions, diag: Sink) -> CoreElf | None:
        '''Link one core against roomy regions, only in order to measure it.'''

Read a parameter as follows, first rule that fits:

* a *word of the house* (`diag`, `files`, `store`, `memo`, and those the caller registers as ambients);
* annotated with a *key class*: the stage runs once per such key;
* annotated with an `@options` class: the options of the build, part of the cache key;
* else its name is the artifact it needs. `x: X` takes the artifact of the same key or of a coarser one (the
  device's for a core); `x: dict[CoreId, X]` takes all members within the stage's own key, all of the design when it
  has none; `x: X | None` also accepts that nobody made it.

`gives` names the artifact made. A return annotation `X | None` says that there may be none for some key: then
those who need it are left out silently. Without `| None` it is an error when nobody makes it.

The names in annotations are looked up late, when a build first needs them (`read_contract`).
"""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import pluggy

from aiecc.base.diag import refuse
from aiecc.engine.options import OptionSpec, is_options, option, options, options_of

__all__ = [
    "PROJECT",
    "Contract",
    "OptionSpec",
    "Param",
    "hookimpl",
    "hookspec",
    "is_options",
    "is_stage",
    "option",
    "options",
    "options_of",
    "read_contract",
    "stage",
]

PROJECT = "aiecc"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)

_MARK = "__aiecc_stage__"
F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class _StageMark:
    gives: str
    volatile: bool
    spread: str | None
    version: int


def stage(*, gives: str, volatile: bool = False, spread: str | None = None, version: int = 1) -> Callable[[F], F]:
    """Mark a hook specification as a stage.

    `gives`: the artifact it makes, a snake_case noun. `volatile`: it looks at the world beyond its parameters, so it
    runs in every build (an equal product still stops the wave). `spread`: it runs once for all keys of that kind and
    returns a dict of them; whoever needs the artifact per key sees, and depends on, one element only. It may report
    errors for some keys and leave those out: the others go on.
    `version`: raise it when the meaning of the product changes without any code change of an implementation.
    """
    if not gives.isidentifier():
        raise ValueError(f"an artifact is named like a variable, not {gives!r}")

    def mark(function: F) -> F:
        setattr(function, _MARK, _StageMark(gives, volatile, spread, version))
        return hookspec(firstresult=True)(function)

    return mark


def is_stage(function: object) -> bool:
    """True for a specification made by `@stage`."""
    return isinstance(getattr(function, _MARK, None), _StageMark)


@dataclass(frozen=True, slots=True)
class Param:
    """One parameter of a stage. `type` is the annotation without `| None`, None for a word of the house."""

    name: str
    type: Any = None
    optional: bool = False
    member: type | None = None
    """The class of the dict's keys, when annotated `dict[K, X]`."""
    member_optional: bool = False
    """The dict's values are annotated `X | None`: members that nobody made stay in, as None."""


@dataclass(frozen=True, slots=True)
class Contract:
    """A stage as read off its specification. `hook` is its name, `type` what it returns without `| None`."""

    hook: str
    gives: str
    params: tuple[Param, ...]
    type: Any
    optional: bool
    spread: str | None = None
    volatile: bool = False
    version: int = 1
    doc: str = ""
    where: str = ""
    """The module, or the plugin, that declares it."""

    @property
    def label(self) -> str:
        """The stage's one word: `probe` for `aiecc_probe`."""
        return self.hook.removeprefix(f"{PROJECT}_")


def read_contract(
    function: Callable[..., Any], ambients: frozenset[str], names: Mapping[str, Any] | None = None
) -> Contract:
    """The contract of a `@stage` function; raises `Refused` when an annotation is missing or means nothing.

    `ambients` are the words of the house, whose annotations are never looked at. `names` helps to resolve annotations
    that the declaring module imports for type checkers only.
    """
    bare: Any = inspect.unwrap(getattr(function, "__func__", function))
    mark: _StageMark = getattr(function, _MARK, None) or getattr(bare, _MARK)
    hook: str = bare.__name__
    notes: dict[str, Any] = dict(bare.__annotations__)
    params: list[Param] = []
    for parameter in inspect.signature(bare).parameters.values():
        if parameter.name == "self" and not params and "." in bare.__qualname__:
            continue
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            refuse(f"stage {hook}: a stage takes named parameters only, not *{parameter.name}", code="E0902")
        if parameter.name in ambients:
            params.append(Param(parameter.name))
            continue
        params.append(_param(hook, parameter.name, _resolve(hook, parameter.name, notes, bare, names)))
    result, optional = without_none(_resolve(hook, "return", notes, bare, names))
    return Contract(
        hook,
        mark.gives,
        tuple(params),
        result,
        optional,
        mark.spread,
        mark.volatile,
        mark.version,
        inspect.getdoc(bare) or "",
        bare.__module__,
    )


def _param(hook: str, name: str, hint: Any) -> Param:
    bare, optional = without_none(hint)
    if typing.get_origin(bare) is dict:
        key, value = typing.get_args(bare)
        if isinstance(key, type):
            return Param(name, bare, optional, key, without_none(value)[1])
    return Param(name, bare, optional)


def _resolve(hook: str, name: str, notes: Mapping[str, Any], function: Any, names: Mapping[str, Any] | None) -> Any:
    """One annotation as a type."""
    what = "what it returns" if name == "return" else f"parameter '{name}'"
    if name not in notes:
        refuse(f"stage {hook}: {what} has no annotation", code="E0902")
    note = notes[name]
    if isinstance(note, str) and isinstance(found := function.__globals__.get(note), type):
        return found  # the common case, and 20 times faster than asking `typing`
    stub = types.SimpleNamespace(__annotations__={name: note})
    scope = {**(names or {}), **function.__globals__}
    try:
        return typing.get_type_hints(stub, scope)[name]
    except Exception as problem:  # an annotation is somebody's expression: it may raise anything
        refuse(f"stage {hook}: the annotation of {what} means nothing: {problem}", code="E0902")


def without_none(hint: Any) -> tuple[Any, bool]:
    """`X | None` parted into X and True; any other type and False."""
    if hint is None or hint is type(None):
        return type(None), True
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        rest = tuple(a for a in typing.get_args(hint) if a is not type(None))
        if len(rest) < len(typing.get_args(hint)):
            return (rest[0] if len(rest) == 1 else typing.Union[rest]), True  # noqa: UP007 - built at run time
    return hint, False
