"""From words to options: click does the reading, the `@options` classes say what there is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aiecc.base.diag import refuse
from aiecc.cli.args import normalize, selectors
from aiecc.engine.options import OptionSpec, options_of


@dataclass(frozen=True)
class Parsed:
    """A command line understood: positional words, words after `--`, and an instance of every options class."""

    words: tuple[str, ...]
    rest: tuple[str, ...]
    options: dict[type, Any]


def parse_command(
    name: str,
    args: Sequence[str],
    classes: Sequence[type],
    *,
    positional: bool = True,
    short: Mapping[str, str] | None = None,
) -> Parsed:
    """Read a command line into instances of `classes`. `short`: what `--get-NAME` selects. Raises `Refused` (E0901)."""
    import click

    specs = [(cls, spec) for cls in classes for spec in options_of(cls)]
    flags = {flag: spec for _, spec in specs for flag in _flags(spec)}
    longs = {f for f in flags if f.startswith("--")} | {"--help"}
    switches = {f for f, spec in flags.items() if spec.switch}
    shorts = {f for f in flags if not f.startswith("--")} | {"-h"}
    chosen = selectors(args, short, longs) if short is not None else list(args)
    words = normalize(chosen, longs, switches | {"--help"}, shorts)
    main, rest = _parted(words)
    params: list[click.Parameter] = [_click_option(i, spec) for i, (_, spec) in enumerate(specs)]
    params.append(click.Argument(["words"], nargs=-1, type=click.UNPROCESSED))
    command = click.Command(name, params=params, add_help_option=False)
    try:
        context = command.make_context(name, [*main])
    except click.ClickException as problem:
        refuse(f"{name}: {problem.format_message()}", code="E0901", todo=f"see '{name} --help'")
    found: dict[type, dict[str, Any]] = {cls: {} for cls in classes}
    for i, (cls, spec) in enumerate(specs):
        value = context.params[f"p{i}"]
        source = context.get_parameter_source(f"p{i}")
        if source is not None and source.name == "COMMANDLINE":
            found[cls][spec.field] = tuple(value) if spec.many else value
    given = tuple(context.params["words"])
    if given and not positional:
        refuse(f"{name}: unexpected '{given[0]}'", code="E0901", todo=f"see '{name} --help'")
    return Parsed(given, tuple(rest), {cls: cls(**values) for cls, values in found.items()})


def _parted(words: Sequence[str]) -> tuple[list[str], list[str]]:
    if "--" not in words:
        return list(words), []
    at = list(words).index("--")
    return list(words[:at]), list(words[at + 1 :])


def spellings(cls: type) -> list[str]:
    """All flags of an options class."""
    return [flag for spec in options_of(cls) for flag in _flags(spec)]


def _flags(spec: OptionSpec) -> list[str]:
    """Every spelling, the opposite of a switch included."""
    flags = list(spec.flags)
    if spec.switch:
        flags += [_opposite(f) for f in flags if f.startswith("--")]
    return list(dict.fromkeys(flags))


def _opposite(flag: str) -> str:
    return "--" + flag.removeprefix("--no-") if flag.startswith("--no-") else "--no-" + flag.removeprefix("--")


def _click_option(index: int, spec: OptionSpec) -> Any:
    import click

    names = list(spec.flags)
    if spec.switch:
        on = [f for f in names if not f.startswith("--no-")] or [_opposite(f) for f in names]
        off = [_opposite(f) for f in on if f.startswith("--")]
        return click.Option([f"p{index}", "/".join((on[0], off[0]))] if len(on) == 1 else [f"p{index}", *_pairs(on)])
    kind = spec.kind

    class Kind(click.ParamType[Any]):
        name = spec.metavar or "value"

        def convert(self, value: Any, param: Any, ctx: Any) -> Any:
            if spec.choices is not None and value not in spec.choices:
                self.fail(f"'{value}' is not one of {', '.join(spec.choices)}", param, ctx)
            try:
                return kind(value)
            except ValueError as problem:
                text = str(problem)
                self.fail(f"'{value}' is not a number" if text.startswith("invalid literal") else text, param, ctx)

    return click.Option([f"p{index}", *names], type=Kind(), multiple=spec.many)


def _pairs(on: Sequence[str]) -> list[str]:
    """Several spellings of one switch, each long one with its opposite."""
    return [f"{f}/{_opposite(f)}" if f.startswith("--") else f for f in on]
